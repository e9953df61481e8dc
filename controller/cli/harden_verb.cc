// `harden HOST`: makes a machine quiet outside of a run, shows what would be done, or puts everything back.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>

#include "controller/cli/kept_host.h"
#include "controller/cli/verbs.h"
#include "controller/harden/profile.h"
#include "controller/remote/agent_client.h"
#include "controller/remote/harden_client.h"
#include "lib/files.h"
#include "lib/text.h"

namespace benchctl {
namespace {

struct Arguments {
  KeptHostArguments kept;  // its host is the verb's, whatever machine that is
  std::string profile = "quiet";
  bool undo = false, show = false, verify = false, yes = false, all = false, json = false;

  std::string verb() const { return undo ? "undo" : show ? "show" : verify ? "verify" : "apply"; }
};

// A machine that can be hardened: the way to it and the agent on it.
struct Target {
  std::unique_ptr<Transport> transport;
  std::string agent;
  std::string journal;
  bool kept = false;  // it lives on after us
};

Result<Target> connect_to_this_computer(Context& context, Parts& parts, const Arguments& arguments) {
  if (!arguments.show && geteuid() != 0)
    return Error{ErrorKind::kUsage, "hardening this computer needs root; `benchctl harden local --show` does not"};
  Endpoint here;
  here.kind = Endpoint::Kind::kLocal;
  Target target;
  BENCHCTL_TRY(target.transport,
               parts.connector().connect({here, {}, "", Deadline::in(*context.clock, std::chrono::seconds(30))}));
  char* agent = realpath(context.agent.c_str(), nullptr);
  if (agent == nullptr) return errno_error("the agent " + context.agent);
  target.agent = agent;
  std::free(agent);
  target.journal = harden_journal(here);
  target.kept = true;
  return target;
}

// One of the store's own machines, with its run's key and the host key that was pinned.
Result<Target> connect_to_machine(Context& context, Parts& parts, const MachineRow& machine) {
  if (!machine.endpoint)
    return Error{ErrorKind::kUsage, machine.lease.name + " has no address yet: it is still being made"};
  const Endpoint& endpoint = *machine.endpoint;
  ConnectRequest request{endpoint, {}, machine.host_key, Deadline::in(*context.clock, std::chrono::seconds(60))};
  if (endpoint.kind == Endpoint::Kind::kSsh) {
    BENCHCTL_TRY(request.identity, parts.kept_run_identity(machine.lease.run));
  }
  Target target;
  BENCHCTL_TRY(target.transport, parts.connector().connect(request));
  AgentClient agent(*target.transport, *context.clock, endpoint.work_dir);
  BENCHCTL_CHECK(agent.install_agent(context.agent, Deadline::in(*context.clock, std::chrono::minutes(5))));
  target.agent = agent.agent_path();
  target.journal = harden_journal(endpoint);
  return target;
}

Result<Target> connect_to(Context& context, Parts& parts, const Arguments& arguments) {
  if (arguments.kept.host == "local") return connect_to_this_computer(context, parts, arguments);
  BENCHCTL_TRY(Store * store, parts.store());
  BENCHCTL_TRY(auto machines, store->live_machines());
  std::vector<std::string> names = {"local"};
  for (const MachineRow& machine : machines) {
    if (machine.lease.name == arguments.kept.host) return connect_to_machine(context, parts, machine);
    names.push_back(machine.lease.name);
  }
  return Error{ErrorKind::kUsage, "no machine \"" + sanitize(arguments.kept.host, 60) +
                                      "\"; there are: " + join(names, ", ") + "; one that is kept is user@host"};
}

// "user@host", "host:22", "10.0.0.7", "fd00::7": neither this computer nor the name of a machine that we made.
bool names_kept_host(const std::string& host) {
  return host.find_first_of("@.:") != std::string::npos;
}

Result<HardenReport> harden_once(Context& context, const Arguments& arguments, const HardenProfile& profile,
                                 Transport& transport, const std::string& agent, const std::string& journal) {
  return harden(transport, agent, arguments.verb(), profile, journal,
                Deadline::in(*context.clock, harden_time(profile)));
}

// The journal stays on the machine, beside no run's folder: an undo may come any time later.
Result<HardenReport> harden_kept_host(Context& context, Parts& parts, const Arguments& arguments,
                                      const HardenProfile& profile) {
  Endpoint lasting;
  lasting.kind = Endpoint::Kind::kLocal;
  HardenReport report;
  auto done = on_kept_host(
      context, parts, arguments.kept, "harden", [&](AgentClient& agent, Transport& transport) -> Result<int> {
        BENCHCTL_TRY(report,
                     harden_once(context, arguments, profile, transport, agent.agent_path(), harden_journal(lasting)));
        return 0;
      });
  if (!done) return done.error();
  return report;
}

Status ask_first(const Arguments& arguments) {
  if (arguments.yes || arguments.show || arguments.verify) return {};
  if (isatty(0) != 1)
    return Error{ErrorKind::kUsage, "this changes a machine that is kept; say --yes (it can be undone by --undo)"};
  std::cerr << (arguments.undo ? "Put back what hardening changed on " : "Stop and mask services and timers on ")
            << sanitize(arguments.kept.host, 60) << "? [y/N] ";
  std::string answer;
  std::getline(std::cin, answer);
  if (answer == "y" || answer == "yes") return {};
  return Error{ErrorKind::kUsage, "nothing was changed"};
}

void print_table(const HardenReport& report, bool all) {
  std::vector<std::vector<std::string>> lines = {{"knob", "target", "requested", "found", "now", "status", ""}};
  std::map<std::string, int> counts;
  for (const HardenRow& row : report.rows) {
    ++counts[row.status];
    if (row.status == "absent" && !all) continue;
    std::vector<std::string> line;
    for (const std::string* cell :
         {&row.knob, &row.target, &row.requested, &row.found, &row.read_back, &row.status, &row.reason})
      line.push_back(sanitize(*cell, 200));
    lines.push_back(std::move(line));
  }
  std::vector<size_t> widths(lines[0].size(), 0);
  for (const auto& line : lines)
    for (size_t i = 0; i + 1 < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  for (const auto& line : lines) {
    std::string text;
    for (size_t i = 0; i < line.size(); ++i)
      text += line[i] + std::string(widths[i] - std::min(widths[i], line[i].size()) + 2, ' ');
    std::cout << text.substr(0, text.find_last_not_of(' ') + 1) << "\n";
  }
  std::string summary;
  for (const auto& [status, count] : counts)
    summary += (summary.empty() ? "" : ", ") + std::to_string(count) + " " + sanitize(status, 20);
  std::cout << "\n" << summary << (counts["absent"] > 0 && !all ? " (--all lists those too)" : "") << "\n";
  if (report.proof.ok) {
    std::cout << (report.verb == "undo" ? "everything is as it was found"
                                        : "quiet: no timer has a next run, no crontab would be run")
              << "\n";
    return;
  }
  for (const std::string& problem : report.proof.problems) std::cout << "problem: " << sanitize(problem, 500) << "\n";
}

Result<int> run_harden(Context& context, Parts& parts, const Arguments& arguments) {
  if (arguments.undo + arguments.show + arguments.verify > 1)
    return Error{ErrorKind::kUsage, "only one of --undo, --show and --verify"};
  BENCHCTL_TRY(HardenProfile profile, load_harden_profile(context.source_root, arguments.profile));
  bool kept_host = names_kept_host(arguments.kept.host);
  HardenReport report;
  if (kept_host) {
    BENCHCTL_CHECK(ask_first(arguments));
    BENCHCTL_TRY(report, harden_kept_host(context, parts, arguments, profile));
  } else {
    BENCHCTL_TRY(Target target, connect_to(context, parts, arguments));
    if (target.kept) BENCHCTL_CHECK(ask_first(arguments));
    BENCHCTL_TRY(report, harden_once(context, arguments, profile, *target.transport, target.agent, target.journal));
  }
  if (arguments.json) {
    std::cout << to_json(report).dump() << "\n";
  } else {
    print_table(report, arguments.all);
  }
  if (report.proof.ok || arguments.show) return 0;
  return exit_code(arguments.undo ? ErrorKind::kInternal : ErrorKind::kRejected);
}

}  // namespace

Verb harden_verb(Context& context, Parts& parts) {
  auto a = std::make_shared<Arguments>();
  return {"harden", "make a machine quiet, or put everything back as it was", "benchctl harden local --show",
          [a](Options& options) {
            options.positional(
                "HOST", a->kept.host, true,
                "local, the name of a machine from `machine list`, or [user@]host[:port] of one that is kept");
            a->kept.declare_options(options);
            options.flag("--undo", a->undo, "put back what was found");
            options.flag("--show", a->show, "only show what is and what would be changed");
            options.flag("--verify", a->verify, "read everything back and repeat the proof; changes nothing");
            options.text("--profile", a->profile, "what to switch off (default: quiet)");
            options.flag("--yes,-y", a->yes, "do not ask, also where the machine is kept");
            options.flag("--all", a->all, "list the units that the machine does not have, too");
            options.flag("--json", a->json, "the report as JSON");
          },
          [a, &context, &parts] { return run_harden(context, parts, *a); }};
}

}  // namespace benchctl

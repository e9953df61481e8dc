// `machine list | ssh | keep`.
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <iostream>

#include "controller/cli/process.h"
#include "controller/cli/verbs.h"
#include "lib/argv.h"
#include "lib/files.h"
#include "lib/text.h"
#include "provisioning/cloud_init/ssh_identity.h"
#include "provisioning/command.h"

namespace benchctl {
namespace {

Result<MachineRow> find_machine(Store& store, const std::string& word) {
  BENCHCTL_TRY(auto machines, store.live_machines());
  std::vector<std::string> names;
  for (const MachineRow& machine : machines) {
    if (machine.lease.name == word) return machine;
    names.push_back(machine.lease.name);
  }
  return Error{ErrorKind::kUsage, "no machine \"" + sanitize(word, 60) + "\"; " +
                                      (names.empty() ? "there are none" : "there are: " + join(names, ", "))};
}

Result<int> list(Context& context, Parts& parts, bool json) {
  BENCHCTL_TRY(Store * store, parts.store());
  BENCHCTL_TRY(auto machines, store->live_machines());
  Json all = Json::array();
  for (const MachineRow& machine : machines) {
    Json one = Json::object();
    one.set("machine", machine.lease.name);
    one.set("run", machine.lease.run);
    one.set("provider", machine.spec.provider);
    one.set("state", name_of(machine.state));
    one.set("expires", format_utc(machine.lease.expires_unix * 1000));
    one.set("kept_until", machine.keep_until_ms > 0 ? Json(format_utc(machine.keep_until_ms)) : Json());
    one.set("expired", machine.lease.expires_unix * 1000 < context.clock->unix_ms() &&
                           machine.keep_until_ms < context.clock->unix_ms());
    all.push(std::move(one));
  }
  if (json) {
    std::cout << all.dump() << "\n";
  } else if (machines.empty()) {
    std::cout << "no machines\n";
  } else {
    for (const Json& one : all.as_array())
      std::cout << one["machine"].as_string() << "  " << one["provider"].as_string() << "  " << one["state"].as_string()
                << "  run " << one["run"].as_string()
                << (one["kept_until"].is_string() ? "  kept until " + one["kept_until"].as_string() : "")
                << (one["expired"].as_bool() ? "  EXPIRED: benchctl reap" : "") << "\n";
  }
  return 0;
}

// The store keeps the fingerprint; ssh wants a known_hosts line. This command, which ssh runs with the key that it was
// shown, answers with one when the fingerprint fits. Asking for the key beforehand (ssh-keyscan) would be a connection
// that never authenticates: OpenSSH 9.8 and newer punish them, and after some fifteen lock this computer out.
std::string known_hosts_command(const std::string& pin) {
  return "/bin/sh -c 'if [ \"$1\" = \"$2\" ]; then echo \"$3 $4 $5\"; fi' sh " + pin + " %f %H %t %K";
}

// Replaces this process by ssh with the pinned key.
Result<int> enter(Parts& parts, const std::string& name, const std::vector<std::string>& command) {
  BENCHCTL_TRY(Store * store, parts.store());
  BENCHCTL_TRY(MachineRow machine, find_machine(*store, name));
  if (!machine.endpoint || machine.endpoint->kind != Endpoint::Kind::kSsh)
    return Error{ErrorKind::kUsage, name + " is not reached by ssh"};
  const std::string& pin = machine.host_key.empty() ? machine.endpoint->host_key : machine.host_key;
  if (!machine.endpoint->netns.empty()) {
    UniqueFd ns(open(machine.endpoint->netns.c_str(), O_RDONLY | O_CLOEXEC));
    if (!ns || setns(ns.get(), CLONE_NEWNET) != 0) return errno_error("enter " + machine.endpoint->netns);
  }
  const std::string& own_key = machine.endpoint->key_file;
  std::vector<std::string> argv = {"ssh",
                                   "-F",
                                   "none",
                                   "-i",
                                   own_key.empty() ? parts.keys_dir(machine.lease.run) + "/client" : own_key,
                                   "-o",
                                   "IdentitiesOnly=yes",
                                   "-o",
                                   "KnownHostsCommand=" + known_hosts_command(pin),
                                   "-o",
                                   "UserKnownHostsFile=none",
                                   "-o",
                                   "GlobalKnownHostsFile=none",
                                   "-o",
                                   "StrictHostKeyChecking=yes",
                                   "-o",
                                   "HostKeyAlias=" + name,
                                   "-p",
                                   std::to_string(machine.endpoint->port),
                                   machine.endpoint->user + "@" + machine.endpoint->host};
  if (!command.empty()) argv.push_back(shell_quote(command));
  std::vector<std::string> environment = terminal_environment();
  execvpe("ssh", pointers(argv).data(), pointers(environment).data());
  return errno_error("ssh", ErrorKind::kInternal);
}

Result<int> keep(Context& context, Parts& parts, const std::string& name, const std::string& span) {
  auto milliseconds = parse_duration_ms(span);
  if (!milliseconds) return Error{ErrorKind::kUsage, "\"" + sanitize(span, 60) + "\" is no time span; write 30m or 2h"};
  if (*milliseconds <= 0 || *milliseconds > kLongestKeepMs)
    return Error{ErrorKind::kUsage,
                 "a machine is kept for more than 0 and at most 7 days, not \"" + sanitize(span, 60) + "\""};
  BENCHCTL_TRY(Store * store, parts.store());
  BENCHCTL_TRY(MachineRow machine, find_machine(*store, name));
  int64_t until = context.clock->unix_ms() + *milliseconds;
  BENCHCTL_CHECK(store->set_keep(machine.id, until));
  std::cout << name << " is kept until " << format_utc(until) << "\n";
  return 0;
}

}  // namespace

std::vector<Verb> machine_verbs(Context& context, Parts& parts) {
  auto json = std::make_shared<bool>(false);
  auto name = std::make_shared<std::string>(), span = std::make_shared<std::string>("30m");
  auto command = std::make_shared<std::vector<std::string>>();
  return {{"machine list", "list the machines that exist", "benchctl machine list --json",
           [json](Options& options) { options.flag("--json", *json, "as JSON"); },
           [json, &context, &parts] { return list(context, parts, *json); }},
          {"machine ssh", "open a shell on a machine, or run a command there",
           "benchctl machine ssh bc-0123456789ab -- uptime",
           [name, command](Options& options) {
             options.positional("MACHINE", *name, true, "its name, from `machine list`");
             options.positionals("COMMAND", *command, false, "command and its arguments");
           },
           [name, command, &parts] { return enter(parts, *name, *command); }},
          {"machine keep", "keep a machine beyond its run", "benchctl machine keep bc-0123456789ab 30m",
           [name, span](Options& options) {
             options.positional("MACHINE", *name, true, "its name, from `machine list`");
             options.positional("TIME", *span, false, "how long from now: 30m, 2h");
           },
           [name, span, &context, &parts] { return keep(context, parts, *name, *span); }}};
}

}  // namespace benchctl

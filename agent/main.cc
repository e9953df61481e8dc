// benchagent: one static binary that runs trials on a machine. The verbs are those of the controller's agent client.
#include <signal.h>

#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/exec/build.h"
#include "agent/exec/commands.h"
#include "agent/exec/runner.h"
#include "agent/quiet/commands.h"
#include "lib/files.h"
#include "lib/text.h"

namespace benchctl {
namespace {

constexpr const char* kHelp =
    "usage: benchagent VERB [options]\n"
    "  version                             versions of this agent and of its formats, as JSON\n"
    "  facts [--workdir W]                 facts of this machine, as JSON\n"
    "  unpack --sha256 HEX DEST            stdin: a pack; DEST appears whole or not at all\n"
    "  build --dir W --sources HEX --arch A --isa I --timeout SECONDS\n"
    "                                      runs the recipe of a bundle of sources; what came of it, as JSON\n"
    "  job --dir D                         stdin: the job of a run\n"
    "  run --dir D                         runs it, or continues it; in the foreground\n"
    "  append --dir D                      stdin: one more round\n"
    "  events --dir D [--from N] [--follow SECONDS]\n"
    "  pull --dir D --unit U               stdout: the pack of a sealed unit\n"
    "  stop --dir D                        ends the running trial, seals, ends the run\n"
    "  state --dir D                       what the runner is doing, as JSON\n"
    "  harden show|apply|verify|undo --journal FILE\n"
    "                                      stdin: a profile (not for undo); stdout: what came of it, as JSON\n"
    "example: benchagent events --dir /var/lib/benchctl/runs/r1 --from 1 --follow 60\n";

// Options by name, and what is no option.
struct Arguments {
  std::map<std::string, std::string> options;
  std::vector<std::string> words;

  const std::string& text(const std::string& name) const {
    static const std::string kNone;
    auto found = options.find(name);
    return found == options.end() ? kNone : found->second;
  }
};

struct Verb {
  std::vector<std::string> required, optional;
  size_t words = 0;
};

const std::map<std::string, Verb> kVerbs = {
    {"version", {}},
    {"facts", {{}, {"--workdir"}}},
    {"unpack", {{"--sha256"}, {}, 1}},
    {"build", {{"--dir", "--sources", "--arch", "--isa", "--timeout"}, {}}},
    {"job", {{"--dir"}, {}}},
    {"run", {{"--dir"}, {}}},
    {"append", {{"--dir"}, {}}},
    {"events", {{"--dir"}, {"--from", "--follow"}}},
    {"pull", {{"--dir", "--unit"}, {}}},
    {"stop", {{"--dir"}, {}}},
    {"state", {{"--dir"}, {}}},
    {"harden", {{"--journal"}, {}, 1}},
};

Error usage(const std::string& what) {
  return Error{ErrorKind::kUsage, what + "; see benchagent --help"};
}

Result<Arguments> parse(const Verb& verb, const std::vector<std::string>& given) {
  Arguments arguments;
  std::vector<std::string> known = verb.required;
  known.insert(known.end(), verb.optional.begin(), verb.optional.end());
  for (size_t i = 0; i < given.size(); ++i) {
    if (!given[i].starts_with("--")) {
      arguments.words.push_back(given[i]);
      continue;
    }
    bool is_known = false;
    for (const std::string& name : known) is_known = is_known || name == given[i];
    if (!is_known) return usage("unknown option " + sanitize(given[i], 100));
    if (i + 1 == given.size()) return usage(given[i] + " needs a value");
    if (!arguments.options.emplace(given[i], given[i + 1]).second) return usage(given[i] + " is given twice");
    ++i;
  }
  for (const std::string& name : verb.required)
    if (arguments.text(name).empty()) return usage("missing " + name);
  if (arguments.words.size() != verb.words)
    return usage("expected " + std::to_string(verb.words) + " plain argument(s), got " +
                 std::to_string(arguments.words.size()));
  return arguments;
}

Result<int64_t> number(const Arguments& arguments, const std::string& name, int64_t otherwise) {
  if (arguments.text(name).empty()) return otherwise;
  auto value = parse_int(arguments.text(name));
  if (!value || *value < 0) return usage(name + " wants a whole number of 0 or more");
  return *value;
}

Status build(const Arguments& arguments) {
  BENCHCTL_TRY(int64_t seconds, number(arguments, "--timeout", 0));
  SystemClock clock;
  BENCHCTL_TRY(MachineBuild made, build_here({arguments.text("--dir"), arguments.text("--sources"),
                                              arguments.text("--arch"), arguments.text("--isa"), seconds * 1000},
                                             clock));
  return write_all(1, to_json(made).dump() + "\n");
}

// The exit code, or the error that gives it.
Result<int> dispatch(const std::string& name, const Arguments& arguments) {
  const std::string& dir = arguments.text("--dir");
  auto done = [](const Status& status) { return status ? Result<int>(0) : Result<int>(status.error()); };
  if (name == "version") return done(print_version());
  if (name == "facts") return done(print_facts(arguments.text("--workdir")));
  if (name == "unpack") return done(unpack(arguments.text("--sha256"), arguments.words[0]));
  if (name == "build") return done(build(arguments));
  if (name == "job") return done(accept_job(dir));
  if (name == "append") return done(accept_round(dir));
  if (name == "pull") return done(pull(dir, arguments.text("--unit")));
  if (name == "stop") return done(stop(dir));
  if (name == "state") return done(print_state(dir));
  if (name == "harden") return done(harden_command(arguments.words[0], arguments.text("--journal")));
  if (name == "events") {
    BENCHCTL_TRY(int64_t from, number(arguments, "--from", 1));
    BENCHCTL_TRY(int64_t follow, number(arguments, "--follow", 0));
    return done(print_events(dir, from, follow));
  }
  SystemClock clock;
  return run_job(dir, clock);
}

Result<int> run_verb(const std::vector<std::string>& words) {
  if (words.empty()) return usage("no verb given");
  if (words[0] == "--help" || words[0] == "help") {
    std::fputs(kHelp, stdout);
    return 0;
  }
  auto verb = kVerbs.find(words[0]);
  if (verb == kVerbs.end()) {
    std::vector<std::string> names;
    for (const auto& [name, unused] : kVerbs) names.push_back(name);
    auto meant = did_you_mean(words[0], names);
    return usage("unknown verb \"" + sanitize(words[0], 100) + "\"" + (meant ? ", did you mean " + *meant + "?" : ""));
  }
  BENCHCTL_TRY(Arguments arguments, parse(verb->second, {words.begin() + 1, words.end()}));
  return dispatch(words[0], arguments);
}

}  // namespace
}  // namespace benchctl

int main(int argc, char** argv) {
  signal(SIGPIPE, SIG_IGN);
  auto code = benchctl::run_verb({argv + 1, argv + argc});
  if (code) return *code;
  std::fprintf(stderr, "benchagent: %s\n", code.error().message.c_str());
  return benchctl::exit_code(code.error().kind);
}

// `try -- ./mybench`: the user's own program on this computer, in seconds, and the plan that would do the same.
#include <unistd.h>

#include <iostream>

#include "controller/cli/run_pipeline.h"
#include "controller/cli/verbs.h"
#include "controller/plan/plan_reader.h"
#include "lib/text.h"

namespace benchctl {
namespace {

struct Arguments {
  int64_t runs = 7;
  std::string format = "wall";
  std::vector<std::string> command;
};

// A TOML basic string. Control characters cannot come from a command line's words but by intent; they are escaped too.
std::string quoted(const std::string& word) {
  std::string text = "\"";
  for (unsigned char c : word) {
    char escape[8];
    std::snprintf(escape, sizeof escape, "\\u%04X", c);
    if (c < 0x20 || c == 0x7F)
      text += escape;
    else if (c == '"' || c == '\\')
      text += std::string("\\") + static_cast<char>(c);
    else
      text += static_cast<char>(c);
  }
  return text + "\"";
}

std::string plan_for(const Arguments& arguments) {
  std::string words;
  for (const std::string& word : arguments.command) words += (words.empty() ? "" : ", ") + quoted(word);
  return "schema = 1\nname   = \"try\"\n\n[fleet.here]\nprovider = \"local\"\n\n[schedule]\nruns          = " +
         std::to_string(arguments.runs) + "\nwarmup_rounds = 1\n\n[[suite]]\nname    = \"mine\"\ncommand = [" + words +
         "]\nformat  = " + quoted(arguments.format) + "\n";
}

Result<int> run_try(Context& context, Parts& parts, const Arguments& arguments) {
  char here[4096];
  if (getcwd(here, sizeof here) == nullptr) return errno_error("working directory");
  const std::string& program = arguments.command.front();
  if (auto below = check_beneath(here, program); !below)
    return Error{ErrorKind::kUsage, "try runs a program below this folder, and ships it like a plan does (" +
                                        below.error().message +
                                        "); for anything else write a script here that runs it"};
  BENCHCTL_TRY(auto workloads, parts.workloads());
  PlanSource source;
  source.file = "try";
  source.text = plan_for(arguments);
  source.root = here;
  source.host = host_shape();
  RunRequest request;
  BENCHCTL_TRY(request.plan, read_plan(source, workloads, {}));
  BENCHCTL_CHECK(parts.check_policy(request.plan, false));  // with BENCHCTL_UNTRUSTED: refused, it runs here
  request.runs_dir = parts.runs_dir();
  auto code = carry_out(context, parts, request);
  std::cerr << "\nThe same as a plan (save it here, then: benchctl run --plan FILE --trust-plan SHA256, which benchctl "
               "plan show FILE prints):\n\n"
            << source.text;
  return code;
}

}  // namespace

Verb try_verb(Context& context, Parts& parts) {
  auto arguments = std::make_shared<Arguments>();
  return {"try", "run a program of your own on this computer a few times, and print the equivalent plan",
          "benchctl try --runs 10 -- ./mybench --size 1000",
          [arguments](Options& options) {
            options.integer("--runs", arguments->runs, 1, 1000, "scored runs, after one warm-up");
            options.text("--format", arguments->format,
                         "what it prints: wall (anything; its run time counts), generic, sequential, concurrent");
            options.positionals("COMMAND", arguments->command, true, "the program and its arguments");
          },
          [arguments, &context, &parts] { return run_try(context, parts, *arguments); }};
}

}  // namespace benchctl

// `logs TRIAL`: everything one trial left: its record, what it printed, each attempt.
#include <algorithm>
#include <iostream>

#include "controller/cli/verbs.h"
#include "lib/files.h"
#include "lib/text.h"

namespace benchctl {
namespace {

constexpr int64_t kShownBytes = 64 << 10;

void print_stream(const std::string& path, const std::string& title) {
  auto text = read_file(path, int64_t{1} << 30);
  std::cout << "--- " << title << " (" << path << ")\n";
  if (!text) {
    std::cout << "(" << text.error().message << ")\n";
    return;
  }
  std::string_view shown = std::string_view(*text).substr(0, kShownBytes);
  for (std::string_view line : split(shown, '\n')) std::cout << sanitize(line, 4000) << "\n";
  if (text->size() > shown.size()) std::cout << "… " << text->size() - shown.size() << " more bytes in the file\n";
}

Result<int> logs(Parts& parts, const std::string& run_word, const std::string& trial_word) {
  auto number = parse_int(trial_word);
  if (!number)
    return Error{ErrorKind::kUsage,
                 "a trial is a number, as in trials/000042: not \"" + sanitize(trial_word, 60) + "\""};
  BENCHCTL_TRY(Store * store, parts.store());
  BENCHCTL_TRY(RunRow run, find_run(*store, run_word));
  BENCHCTL_TRY(auto trials, store->trials(run.id));
  bool found = false;
  for (const TrialRow& trial : trials) {
    if (trial.number != *number) continue;
    found = true;
    std::string folder = run.folder + "/" + trial.folder;
    std::cout << "trial " << trial.number << " attempt " << trial.attempt << ": " << trial.suite << " " << trial.point
              << " " << trial.arm << (trial.aa_copy ? " (A/A copy)" : "") << ", round " << trial.round << ", "
              << trial.verdict << (trial.reason.empty() ? "" : ": " + trial.reason) << ", "
              << format_seconds(trial.seconds) << "\n";
    print_stream(folder + "/stdout", "standard output");
    print_stream(folder + "/stderr", "standard error");
    print_stream(folder + "/trial.json", "record");
  }
  if (!found)
    return Error{ErrorKind::kUsage, "run " + run.id + " has no trial " + std::to_string(*number) + " at home"};
  return 0;
}

}  // namespace

Verb logs_verb(Context&, Parts& parts) {
  auto run = std::make_shared<std::string>(), trial = std::make_shared<std::string>();
  return {"logs", "print what a trial wrote, and its record", "benchctl logs 1",
          [run, trial](Options& options) {
            options.positional("TRIAL", *trial, true, "the trial's number");
            options.text("--run", *run, "run id or a unique beginning; default: the latest");
          },
          [run, trial, &parts] { return logs(parts, *run, *trial); }};
}

}  // namespace benchctl

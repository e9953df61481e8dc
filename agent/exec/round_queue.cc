#include "agent/exec/round_queue.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "lib/lock_wait.h"
#include "lib/text.h"

namespace benchctl {
namespace {

constexpr int64_t kMaxRoundBytes = 16 << 20;
constexpr int kMaxRounds = 9999;
constexpr const char* kClosed = "rounds.closed";

// The lock is held for milliseconds only, so a holder is waited for.
Result<FileLock> append_lock(const RunFolder& folder) {
  SystemClock clock;
  return wait_for_lock(folder.file("append.lock"), "pid " + std::to_string(getpid()), clock,
                       Deadline::in(clock, std::chrono::seconds(5)), {}, std::chrono::milliseconds(50));
}

Result<RoundSpec> parse_round(std::string_view text) {
  BENCHCTL_TRY(Json json, Json::parse(text, {.bytes = kMaxRoundBytes, .depth = 16, .values = 1'000'000}));
  BENCHCTL_TRY(RoundSpec round, round_from_json(json));
  BENCHCTL_CHECK(check_round(round));
  return round;
}

Result<std::vector<std::string>> round_files(const RunFolder& folder) {
  if (!exists(folder.file("rounds"))) return std::vector<std::string>();
  BENCHCTL_TRY(auto names, list_dir(folder.file("rounds")));
  std::erase_if(names, [](const std::string& name) {
    return name.size() != 9 || !name.ends_with(".json") || !parse_int(name.substr(0, 4));
  });
  return names;
}

}  // namespace

Result<std::vector<QueuedRound>> read_queue(const RunFolder& folder, const Job& job) {
  std::vector<QueuedRound> queue;
  std::map<std::string, int> uses;
  auto add = [&](const std::string& file, RoundSpec spec) {
    std::string unit = unit_name(spec.round);
    int use = ++uses[unit];
    queue.push_back({use == 1 ? unit : unit + "-r" + std::to_string(use), file, std::move(spec)});
  };
  for (const RoundSpec& round : job.rounds) add("", round);
  BENCHCTL_TRY(auto names, round_files(folder));
  for (const std::string& name : names) {
    BENCHCTL_TRY(std::string text, read_file(folder.file("rounds/" + name), kMaxRoundBytes));
    auto round = parse_round(text);
    if (!round) return round.error().in("rounds/" + name);
    add("rounds/" + name, std::move(*round));
  }
  return queue;
}

Status append_round(const RunFolder& folder, const std::string& json) {
  auto round = parse_round(json);
  if (!round) return Error{ErrorKind::kUsage, round.error().message};
  BENCHCTL_CHECK(make_dirs(folder.file("rounds")));
  BENCHCTL_TRY(FileLock lock, append_lock(folder));
  if (exists(folder.file(kClosed)))
    return Error{ErrorKind::kUsage, folder.path() + ": the run takes no more rounds; it has ended or is ending"};
  BENCHCTL_TRY(auto names, round_files(folder));
  int64_t next = 1;
  for (const std::string& name : names) {
    auto text = read_file(folder.file("rounds/" + name), kMaxRoundBytes);
    if (text && *text == json) return {};
    next = std::max(next, *parse_int(name.substr(0, 4)) + 1);
  }
  if (next > kMaxRounds) return Error{ErrorKind::kUsage, "more than 9999 appended rounds"};
  char name[32];
  std::snprintf(name, sizeof name, "rounds/%04d.json", static_cast<int>(next));
  return write_atomic(folder.file(name), json);
}

Result<bool> close_queue(const RunFolder& folder, const Job& job, size_t known) {
  BENCHCTL_TRY(FileLock lock, append_lock(folder));
  BENCHCTL_TRY(auto queue, read_queue(folder, job));
  if (queue.size() > known) return false;
  BENCHCTL_CHECK(write_atomic(folder.file(kClosed), ""));
  return true;
}

bool measures(const RoundSpec& round) {
  return std::any_of(round.trials.begin(), round.trials.end(),
                     [](const TrialSpec& trial) { return trial.format != "trace" && trial.format != "info"; });
}

int attempt_shift(const RunFolder& folder, const RoundSpec& round) {
  int shift = 0;
  auto taken = [&](const TrialSpec& trial) { return folder.has_trial(trial.trial, trial.attempt + shift); };
  while (shift < 99 && std::any_of(round.trials.begin(), round.trials.end(), taken)) ++shift;
  return shift;
}

}  // namespace benchctl

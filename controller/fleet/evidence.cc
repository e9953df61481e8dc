#include "controller/fleet/evidence.h"

#include <algorithm>

#include "controller/workloads/template.h"
#include "lib/sha256.h"
#include "lib/text.h"

namespace benchctl {
namespace {

constexpr int64_t kEvidenceTimeoutMs = 60'000;
constexpr int64_t kEvidenceBytes = 4 << 20;

RoundSpec evidence_round(const Expansion& expansion, const RunInput& input, int round, const std::string& format,
                         int64_t& number) {
  RoundSpec spec;
  spec.round = round;
  for (const Suite& suite : input.plan.suites) {
    auto workload = std::find_if(input.workloads.begin(), input.workloads.end(),
                                 [&](const Workload& one) { return one.name == suite.workload; });
    if (workload == input.workloads.end()) continue;  // a program of the user's own
    const std::vector<std::string>& words = format == "trace" ? workload->trace : workload->info;
    if (words.empty()) continue;
    for (const std::string& name : suite.arms) {
      const ArmDecl* arm = workload->arm(name);
      // The first scored trial of that arm lends its point and bundle: evidence belongs to the suite as a whole.
      const TrialSpec* like = first_trial(expansion, suite.name, name);
      if (arm == nullptr || like == nullptr) continue;
      TrialSpec trial = *like;
      trial.trial = number++;
      trial.attempt = 1;
      trial.round = round;
      trial.position = 0;
      trial.aa_copy = false;
      trial.format = format;
      trial.timeout_ms = kEvidenceTimeoutMs;
      std::vector<std::string> argv = arm->argv;
      // What a trace shows depends on the suite's shape, of which the workload's words name the parameters.
      for (const std::string& word : words) argv.push_back(fill_template(word, like->params));
      trial.phases = {{"run", argv}};
      spec.trials.push_back(std::move(trial));
    }
  }
  return spec;
}

}  // namespace

const TrialSpec* first_trial(const Expansion& expansion, const std::string& suite, const std::string& arm) {
  for (const RoundSpec& round : expansion.rounds)
    for (const TrialSpec& trial : round.trials)
      if (trial.suite == suite && trial.arm == arm) return &trial;
  return nullptr;
}

std::vector<RoundSpec> evidence_rounds(const Expansion& expansion, const RunInput& input, int64_t first_number) {
  std::vector<RoundSpec> rounds;
  int64_t number = first_number;
  for (auto [round, format] : {std::pair(kTraceRound, "trace"), std::pair(kInfoRound, "info")}) {
    RoundSpec spec = evidence_round(expansion, input, round, format, number);
    if (!spec.trials.empty()) rounds.push_back(std::move(spec));
  }
  return rounds;
}

void Evidence::take(const std::string& run, const std::string& folder, const RoundSpec& round) {
  if (round.round != kTraceRound && round.round != kInfoRound) return;
  for (const TrialSpec& trial : round.trials) {
    auto text = newest_output(folder, trial.trial, kEvidenceBytes);
    if (!text || text->empty()) continue;  // the trial failed: its verdict says why
    TraceRow& row = rows_[trial.suite + "/" + trial.arm];
    row.run = run;
    row.suite = trial.suite;
    row.arm = trial.arm;
    if (round.round == kTraceRound) {
      row.sha256 = sha256_hex(*text);
    } else if (auto info = Json::parse(*text, {.bytes = 256 << 10, .depth = 16, .values = 10'000})) {
      row.info = info->dump();
    }
  }
}

Result<std::string> newest_output(const std::string& folder, int64_t trial, int64_t limit) {
  char place[64];
  std::snprintf(place, sizeof place, "/trials/%06d", static_cast<int>(trial));
  BENCHCTL_TRY(auto attempts, list_dir(folder + place));
  int64_t newest = 0;
  for (const std::string& name : attempts)
    if (name.starts_with('a')) newest = std::max(newest, parse_int(std::string_view(name).substr(1)).value_or(0));
  return read_file(folder + place + "/a" + std::to_string(newest) + "/stdout", limit);
}

Status Evidence::save(Store& store) {
  for (const auto& entry : rows_) {
    const TraceRow& row = entry.second;
    BENCHCTL_TRY(auto known, store.traces(row.run));
    auto same = std::find_if(known.begin(), known.end(),
                             [&](const TraceRow& one) { return one.suite == row.suite && one.arm == row.arm; });
    // What a runner says about itself may differ from machine to machine (the first one stands); what it does may not.
    if (same == known.end()) BENCHCTL_CHECK(store.save_trace(row));
    if (same != known.end() && same->sha256 != row.sha256)
      return Error{ErrorKind::kWorkload,
                   "the trace of " + row.suite + ", " + row.arm + " is another one than on the run's first machine"};
  }
  rows_.clear();
  return {};
}

}  // namespace benchctl

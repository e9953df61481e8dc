#include "controller/fleet/machine_job.h"

#include <algorithm>
#include <map>

#include "controller/fleet/arm_choice.h"
#include "controller/fleet/evidence.h"
#include "controller/fleet/missing.h"
#include "controller/plan/expand.h"
#include "lib/files.h"

namespace benchctl {
namespace {

// Trial numbers are unique in a run: each machine has a range of its own, with the evidence at its end.
constexpr int64_t kTrialsPerMachine = 10'000;
constexpr int64_t kEvidenceTrials = 500;
// Our own file: 10,000 trials with their arguments.
constexpr Json::Caps kJobCaps{.bytes = 256 << 20, .depth = 32, .values = 20'000'000};

std::string job_path(const std::string& run_folder, const std::string& machine) {
  return run_folder + "/jobs/" + machine + ".json";
}

// Point hashes by suite and label; the points themselves go to the store.
Result<std::map<std::string, std::string>> save_points(const Plan& plan, const Expansion& expansion, Store& store) {
  std::map<std::string, std::string> hash_of;
  for (const Point& point : expansion.points) {
    const Suite& suite = plan.suites[point.suite];
    hash_of[suite.name + "\n" + point.label] = point.hash;
    Json params = Json::object();
    for (const auto& [key, value] : point.params) params.set(key, value);
    BENCHCTL_CHECK(
        store.save_point({point.hash, suite.name, suite.workload, suite.mode, point.label, suite.baseline, params}));
  }
  return hash_of;
}

// Repeats are of scored points of rounds; so is the plan's share of them.
int64_t repeats_allowed(const std::vector<RoundSpec>& rounds, double share) {
  int64_t point_rounds = 0;
  for (const RoundSpec& round : rounds) {
    if (round.round <= 0) continue;
    std::map<std::string, bool> points;
    for (const TrialSpec& trial : round.trials) points[trial.suite + "\n" + trial.point] = true;
    point_rounds += static_cast<int64_t>(points.size());
  }
  return static_cast<int64_t>(share * static_cast<double>(point_rounds) + 1e-9);
}

}  // namespace

Result<MachineJob> make_job(const RunInput& input, Store& store, const Facts& facts, int index_in_run,
                            const std::vector<TrialRow>& done) {
  MachineShape shape;
  shape.cpus = static_cast<int>(std::max<int64_t>(1, facts.get("cpu", "cpus_usable").as_int(1)));
  shape.arch = facts.text("cpu", "architecture");
  shape.index = index_in_run;
  shape.first_trial = int64_t{index_in_run} * kTrialsPerMachine + 1;
  BENCHCTL_TRY(ArmChoice choice, choose_arms(input, facts));
  BENCHCTL_TRY(Expansion expansion, expand(choice.plan, choice.workloads, shape));
  std::map<std::string, std::string> sha256_of_key;
  for (const auto& [key, bundle] : input.bundles) sha256_of_key[key] = bundle.sha256;
  BENCHCTL_CHECK(set_bundles(expansion, sha256_of_key));
  BENCHCTL_TRY(auto hash_of, save_points(choice.plan, expansion, store));

  MachineJob made;
  made.left_out = std::move(choice.left_out);
  made.job.run = input.id;
  made.job.seed = input.plan.schedule.seed;
  // All rounds are in the job: with nothing to do the agent has nothing to wait for.
  made.job.linger_ms = 0;
  std::vector<RoundSpec> rounds =
      evidence_rounds(expansion, input, shape.first_trial + kTrialsPerMachine - kEvidenceTrials);
  for (RoundSpec& round : expansion.rounds) rounds.push_back(std::move(round));
  made.job.rounds = rounds_to_run(rounds, done);
  made.job.max_repeats = repeats_allowed(made.job.rounds, input.plan.noise.max_repeats);
  for (const RoundSpec& round : made.job.rounds)
    for (const TrialSpec& trial : round.trials)
      made.expected.push_back({trial, hash_of.at(trial.suite + "\n" + trial.point)});
  return made;
}

Status save_job(const std::string& run_folder, const std::string& machine, const MachineJob& job) {
  Json points = Json::array();  // one a trial, in their order
  for (const ExpectedTrial& trial : job.expected) points.push(trial.point_hash);
  Json document = Json::object();
  document.set("job", to_json(job.job));
  document.set("points", std::move(points));
  BENCHCTL_CHECK(make_dirs(run_folder + "/jobs"));
  return write_atomic(job_path(run_folder, machine), document.dump() + "\n");
}

Result<MachineJob> load_job(const std::string& run_folder, const std::string& machine) {
  std::string path = job_path(run_folder, machine);
  if (!exists(path)) return MachineJob{};
  BENCHCTL_TRY(std::string text, read_file(path, kJobCaps.bytes));
  auto document = Json::parse(text, kJobCaps);
  if (!document) return document.error().in(path);
  auto job = job_from_json((*document)["job"]);
  if (!job) return job.error().in(path);
  MachineJob loaded{std::move(*job), {}, {}};
  std::vector<std::string> points = (*document)["points"].as_strings();
  for (const RoundSpec& round : loaded.job.rounds) {
    for (const TrialSpec& trial : round.trials) {
      if (loaded.expected.size() >= points.size())
        return Error{ErrorKind::kInternal, path + ": trials without their points"};
      loaded.expected.push_back({trial, points[loaded.expected.size()]});
    }
  }
  return loaded;
}

}  // namespace benchctl

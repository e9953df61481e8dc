#include "tests/simulation/schedule.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <tuple>

#include "controller/fleet/execute.h"
#include "controller/fleet/lease_book.h"
#include "controller/fleet/machine_builds.h"
#include "controller/fleet/machine_job.h"
#include "controller/plan/expand.h"
#include "controller/store/sqlite.h"
#include "lib/files.h"
#include "lib/pack.h"
#include "lib/sha256.h"
#include "lib/text.h"
#include "tests/simulation/sim_network.h"

namespace benchctl::simulation {
namespace {

constexpr const char* kRun = "sim";
constexpr int kMostLives = 8;

// Ends the controller where it stands, as SIGKILL does: nothing of it goes on, only what it wrote stays.
struct Killed {};

class KillerFailpoints final : public Failpoints {
 public:
  KillerFailpoints(Faults& faults, bool& immortal) : faults_(faults), immortal_(immortal) {}
  Status reach(const std::string& where) override {
    faults_.tell("at " + where);
    if (!immortal_ && faults_.happens("controller killed")) throw Killed{};
    return {};
  }

 private:
  Faults& faults_;
  bool& immortal_;
};

class TellingProgress final : public Progress {
 public:
  explicit TellingProgress(Faults& faults, Clock& clock) : faults_(faults), clock_(clock) {}
  void say(const std::string& who, const std::string& text) override {
    if (faults_.verbose()) faults_.tell(format_utc(clock_.unix_ms()) + " " + who + ": " + text);
  }
  void now(const std::string&, const std::string&) override {}

 private:
  Faults& faults_;
  Clock& clock_;
};

Workload workload() {
  Workload workload;
  workload.name = "sim";
  workload.version = "1";
  workload.baseline = "a";
  workload.modes = {ModeDecl{"once", "generic", "", {}, {}, 1}};
  workload.arms = {{"a", "", {"a"}, "sim_a", {}}, {"b", "", {"b"}, "sim_b", {}}};
  for (const ArmDecl& arm : workload.arms) {
    BuildDecl build;
    build.name = arm.build;
    build.targets = {{"x86_64", "x86-64"}};
    build.on_machine = {{"x86_64", "x86-64"}, {"x86_64", "x86-64-v3"}};  // the CPU lacks what the second needs
    workload.builds.push_back(build);
  }
  return workload;
}

// The bytes of a new store: making its tables anew for each schedule would be a third of the time.
Result<std::string> new_store(const std::string& folder) {
  static std::string bytes;
  if (bytes.empty()) {
    std::string path = folder + "/new.sqlite3";
    FakeClock clock;
    BENCHCTL_TRY(auto store, open_store({path}, clock));
    store.reset();  // the last one to close it empties its log into it
    BENCHCTL_TRY(bytes, read_file(path));
  }
  return bytes;
}

class Schedule {
 public:
  Schedule(uint64_t seed, std::string folder, std::string mutant, bool verbose)
      : folder_(std::move(folder)),
        mutant_(std::move(mutant)),
        faults_(seed, verbose),
        provider_(clock_, faults_, mutant_) {}

  ScheduleResult play() {
    ScheduleResult result;
    if (auto begun = set_up(); !begun) {
      result.broken = "setting up: " + begun.error().message;
      return result;
    }
    for (int life = 0; life < kMostLives && live(life, life == kMostLives - 1); ++life) {
    }
    check_end();
    result.broken = broken_;
    result.counts = faults_.counts();
    for (const auto& [what, count] : ends_) result.counts[what] += count;
    return result;
  }

 private:
  void violated(const std::string& what) {
    faults_.tell("BROKEN: " + what);
    if (broken_.empty()) broken_ = what;
  }

  Status set_up() {
    Dice& dice = faults_.dice();
    input_.id = kRun;
    input_.folder = folder_ + "/run";
    input_.workloads = {workload()};
    Plan& plan = input_.plan;
    plan.name = "simulated";
    Fleet fleet;
    fleet.spec.provider = "fake";
    fleet.spec.fleet = "small";
    fleet.spec.arch = "x86_64";
    fleet.count = dice.below(4) == 0 ? 2 : 1;
    fleet.require.cpu_flags = {"avx2"};
    fleet.require.rerolls = static_cast<int>(dice.below(4));
    fleet.require.spread = dice.below(4) == 0;
    plan.fleets["small"] = fleet;
    plan.limits.ttl_ms = (1 + dice.below(3)) * 3'600'000;
    plan.limits.max_parallel = 1;  // one thread: the order of everything is the seed's
    max_cost_ = 0.01 * static_cast<double>(1 + dice.below(20));
    if (mutant_ != "budget") plan.limits.max_cost = max_cost_;
    plan.schedule.runs = 1 + static_cast<int>(dice.below(2));
    plan.schedule.warmup_rounds = static_cast<int>(dice.below(2));
    plan.noise.max_repeats = 0.5;
    if (dice.below(2) == 0) {
      input_.harden.emplace();
      input_.harden->name = "simulated";
    }
    Suite suite;
    suite.name = suite.workload = "sim";
    suite.mode = "once";
    suite.arms = {"a", "b"};
    suite.baseline = "a";
    suite.format = "generic";
    suite.on_machine = dice.below(3) == 0;
    suite.skip_unbuilt = dice.below(2) == 0;
    plan.suites = {suite};

    BENCHCTL_TRY(std::string store, new_store(folder_));
    BENCHCTL_CHECK(write_atomic(folder_ + "/store.sqlite3", store));
    for (const std::string arm : {"a", "b"}) {
      std::string bundle = folder_ + "/bundle-" + arm;
      BENCHCTL_CHECK(make_dirs(bundle));
      BENCHCTL_CHECK(write_atomic(bundle + "/" + arm, "program", 0755));
      BENCHCTL_TRY(auto entries, scan_tree(bundle, {}));
      Json manifest = Json::object({{"workload", "sim"}, {"build", "sim_" + arm}, {"arch", "x86_64"}});
      if (suite.on_machine) manifest.set("on_machine", std::vector<std::string>{"x86-64", "x86-64-v3"});
      input_.bundles[*bundle_key(input_.workloads[0], "sim_" + arm, suite, "x86_64")] = {
          sha256_hex(format_manifest(entries)), bundle, manifest};
    }
    input_.agent_binary = folder_ + "/agent";
    return write_atomic(input_.agent_binary, "agent", 0755);
  }

  SshIdentity new_identity() {
    std::string blob;  // digits are base64, too
    for (int i = 0; i < 4; ++i) blob += std::to_string(faults_.dice().next());
    return {"private", "ssh-ed25519 " + blob.substr(0, 52) + " sim"};
  }

  // One controller, from its start to its end or to its kill. True when another one is to go on.
  bool live(int life, bool last) {
    bool immortal = last;
    KillerFailpoints failpoints(faults_, immortal);
    TellingProgress progress(faults_, clock_);
    StopRequest stop;
    SimConnector connector(provider_, clock_, faults_, [&] { stop.request(); });
    faults_.tell("--- controller " + std::to_string(life + 1));
    try {
      auto store = open_store({folder_ + "/store.sqlite3", &failpoints}, clock_);
      if (!store) return violated("the store cannot be opened: " + store.error().message), false;
      if (!begun_) {
        RunRow row;
        row.id = kRun;
        row.plan_name = input_.plan.name;
        row.plan_sha256 = std::string(64, 'a');
        row.folder = input_.folder;
        row.created_ms = clock_.unix_ms();
        if (auto begun = (*store)->begin_run(row); !begun) return violated(begun.error().message), false;
        begun_ = true;
      }
      input_.resume = life > 0 && mutant_ != "resume";
      input_.identity = {"private", "ssh-ed25519 c2ltdWxhdGVkIGtleQ== sim"};
      RunWorld world{**store,
                     [&](const std::string&) { return &provider_; },
                     [&] { return Result<SshIdentity>(new_identity()); },
                     [&] { return "n" + std::to_string(++nonces_); },
                     [](Deadline) {
                       return Result<FileLock>(Error{ErrorKind::kInternal, "no turns here"});
                     },
                     connector,
                     clock_,
                     failpoints,
                     progress,
                     stop};
      Nanos begin = clock_.now();
      RunOutcomeReport report = execute(input_, world);
      exit_code_ = report.exit_code();
      reason_ = mutant_ == "exit" ? "" : report.reason();
      check_time(begin);
      bool kept_open = exit_code_ == 7;
      (void)(*store)->finish_run(kRun, kept_open ? RunOutcome::kInterrupted : RunOutcome::kGood, *exit_code_, reason_);
    } catch (const Killed&) {
      exit_code_.reset();
      ++ends_["= ended by a kill"];
      time_passes();
      return faults_.dice().below(10) != 0;
    }
    ++ends_["= exit " + std::to_string(*exit_code_)];
    faults_.tell("exit " + std::to_string(*exit_code_) + ": " + reason_);
    check_exit();
    if (*exit_code_ == 8) return false;
    time_passes();
    // A complete run is resumed now and then, too: it must stay what it was.
    return faults_.dice().below(10) < (exit_code_ == 7 ? 7 : 2);
  }

  // Between two controllers, often nothing and sometimes hours. Machines go on, and the watchdog removes what expires.
  void time_passes() {
    if (faults_.dice().below(2) == 0) return;
    int64_t steps = faults_.dice().below(24);
    ++ends_["= hours between two controllers"];
    for (int64_t i = 0; i < steps; ++i) {
      clock_.sleep(std::chrono::minutes(10));
      if (provider_.existing() == 0) continue;
      bool immortal = true;
      KillerFailpoints failpoints(faults_, immortal);
      auto store = open_store({folder_ + "/store.sqlite3", &failpoints}, clock_);
      if (!store) return violated("the watchdog cannot open the store");
      std::set<std::string> standing;
      for (const auto& [name, machine] : provider_.machines())
        if (provider_.find(name) != nullptr) standing.insert(name);
      (void)reap_with(**store, "");
      for (const std::string& name : standing)
        if (provider_.find(name) == nullptr) expired_.insert(name);
    }
  }

  Result<std::vector<Reaped>> reap_with(Store& store, const std::string& run) {
    StoreBook book(
        store, [](const std::string&) { return Result<bool>(false); }, [](const std::string&) { return false; });
    ReapOptions options;
    BENCHCTL_TRY(options.owner, store.owner());
    options.run = run;
    options.now_unix = clock_.unix_ms() / 1000;
    return reap({{"fake", &provider_}}, book, options, clock_);
  }

  void check_time(Nanos begin) {
    // Each slot has the plan's time for each of its machines, and each machine bounded times around it.
    int64_t machines = input_.plan.fleets["small"].count * (2 + input_.plan.fleets["small"].require.rerolls);
    Nanos bound = machines * (std::chrono::milliseconds(input_.plan.limits.ttl_ms) + std::chrono::hours(1));
    if (clock_.now() - begin > bound) violated("a controller took longer than all its deadlines");
  }

  void check_exit() {
    static constexpr int kDocumented[] = {0, 1, 4, 5, 6, 7, 8};
    if (std::find(std::begin(kDocumented), std::end(kDocumented), *exit_code_) == std::end(kDocumented))
      violated("exit code " + std::to_string(*exit_code_));
    if (*exit_code_ == 1 && !lies()) violated("exit 1, an internal error, without a lie of the agent: " + reason_);
    if (*exit_code_ != 8 && provider_.existing() != 0)
      violated("a machine stands after exit " + std::to_string(*exit_code_));
    if (*exit_code_ != 0 && reason_.empty()) violated("a failure without a reason");
  }

  bool lies() const {
    for (const char* fault : {"event torn", "event of a stranger", "manifest lies"})
      if (faults_.possible(fault)) return true;
    return false;
  }

  void check_end() {
    if (provider_.most_at_once() > 1) violated("two machines of one slot at one time");
    bool immortal = true;
    KillerFailpoints failpoints(faults_, immortal);
    faults_.be_calm();
    auto store = open_store({folder_ + "/store.sqlite3", &failpoints}, clock_);
    if (!store) return violated("the store cannot be opened at the end: " + store.error().message);
    check_results(**store);
    // Whatever happened: reap finds and removes the rest.
    clock_.sleep(std::chrono::minutes(3));  // longer than any list lags
    auto reaped = reap_with(**store, kRun);
    if (!reaped) violated("reap: " + reaped.error().message);
    if (provider_.existing() != 0) violated("a machine is leaked: not even reap finds it");
    if (exit_code_ && provider_.cost() > max_cost_ + 1e-9 && exit_code_ != 8)
      violated("the cost cap was passed: " + std::to_string(provider_.cost()));
  }

  // Every value in the store is what a machine printed for that very attempt, and none is missing.
  void check_results(Store& store) {
    auto trials = store.trials(kRun);
    auto machines = store.machines(kRun);
    if (!trials || !machines) return violated("the trials cannot be read");
    std::map<int64_t, const MachineRow*> machine_of;
    for (const MachineRow& machine : *machines) machine_of[machine.id] = &machine;
    std::set<std::pair<std::string, std::pair<int64_t, int>>> seen;
    for (const TrialRow& trial : *trials) {
      const std::string& name = machine_of.at(trial.machine)->lease.name;
      auto sim = provider_.machines().find(name);
      if (sim == provider_.machines().end()) return violated("a trial of a machine that never was");
      auto truth = sim->second->attempts().find({trial.number, trial.attempt});
      if (truth == sim->second->attempts().end()) return violated("a trial in the store that never ran");
      std::string expected = truth->second.torn ? "malformed" : truth->second.verdict;
      if (trial.verdict != expected) violated("a trial's verdict is " + trial.verdict + " instead of " + expected);
      if (!seen.insert({name, {trial.number, trial.attempt}}).second) violated("a trial twice");
    }
    check_values();
    check_nothing_lost(store, *machines);
    if (exit_code_ == 0) check_good(*trials);
    if (exit_code_ == 0) check_complete(store, *trials, *machines);
  }

  // A run that calls itself good has no trial whose newest attempt is not.
  void check_good(const std::vector<TrialRow>& trials) {
    std::map<std::tuple<int64_t, int>, const TrialRow*> newest;
    for (const TrialRow& trial : trials) {
      if (trial.round <= 0) continue;
      const TrialRow*& known = newest[{trial.number, trial.round}];
      if (known == nullptr || known->attempt < trial.attempt) known = &trial;
    }
    for (const auto& [key, trial] : newest)
      if (trial->verdict != "ok") violated("exit 0, and a trial is " + trial->verdict);
  }

  void check_values() {
    auto database = sqlite::Database::open(folder_ + "/store.sqlite3");
    if (!database) return violated("the samples cannot be read");
    auto rows = database->query("SELECT number, attempt, value FROM v_samples JOIN v_trials USING (trial_id)");
    if (!rows) return violated("the samples cannot be read");
    while (true) {
      auto row = rows->step();
      if (!row) return violated("the samples cannot be read");
      if (!*row) return;
      if (rows->real(2) != SimMachine::value_of(rows->integer(0), rows->small(1)))
        return violated("a value in the store is not what the machine measured");
    }
  }

  // Where only controllers die or are asked to stop, each sealed round comes home in the end.
  void check_nothing_lost(Store& store, const std::vector<MachineRow>& machines) {
    if (!exit_code_ || exit_code_ == 8) return;
    for (const char* fault :
         {"link cut before a command", "link cut after a command", "link cut inside an answer", "command hangs",
          "connecting fails", "machine reboots", "machine dies", "wrong host key", "agent does not stop",
          "agent falls silent", "event torn", "event of a stranger", "manifest lies", "agent killed", "state fails"})
      if (faults_.possible(fault)) return;
    for (const MachineRow& machine : machines) {
      auto sim = provider_.machines().find(machine.lease.name);
      // Nobody came before it expired: what it had is gone with it.
      if (sim == provider_.machines().end() || expired_.count(machine.lease.name) != 0) continue;
      auto units = store.units(machine.id);
      if (!units) return violated("the units cannot be read");
      for (const std::string& unit : sim->second->sealed())
        if (std::find(units->begin(), units->end(), unit) == units->end())
          violated(unit + " of " + machine.lease.name + " was sealed and never came home");
    }
  }

  void check_complete(Store& store, const std::vector<TrialRow>& trials, const std::vector<MachineRow>& machines) {
    for (int slot = 0; slot < input_.plan.fleets["small"].count; ++slot) {
      std::vector<TrialRow> of_slot;
      std::optional<Facts> facts;
      MachineBuilds builds;
      for (const MachineRow& machine : machines) {
        if (machine.lease.slot != slot) continue;
        auto stored = store.facts(machine.id);
        if (stored && !stored->before.empty())
          if (auto parsed = parse_facts(stored->before)) facts = *parsed;
        // One that was given up before it built anything has none.
        if (auto made = load_builds(input_.folder, machine.lease.name); made && !made->bundles.empty()) builds = *made;
        for (const TrialRow& trial : trials)
          if (trial.machine == machine.id) of_slot.push_back(trial);
      }
      if (!facts) return violated("exit 0, and a slot never had a machine");
      auto missing = make_job(seen_by(input_, builds), store, *facts, slot, of_slot);
      if (!missing || !missing->job.rounds.empty()) violated("exit 0, and rounds are missing");
    }
  }

  std::string folder_;
  std::string mutant_;
  FakeClock clock_;
  Faults faults_;
  SimProvider provider_;
  RunInput input_;
  double max_cost_ = 0;
  bool begun_ = false;
  int nonces_ = 0;
  std::optional<int> exit_code_;  // of the last controller; absent: it was killed
  std::string reason_;
  std::string broken_;
  Counts ends_;
  std::set<std::string> expired_;  // machines that the watchdog removed
};

}  // namespace

ScheduleResult run_schedule(uint64_t seed, const std::string& folder, const std::string& mutant, bool verbose) {
  return Schedule(seed, folder, mutant, verbose).play();
}

}  // namespace benchctl::simulation

// A machine with its agent, in memory: what benchagent answers to each of its commands, on the schedule's clock. Kept
// honest by the tests of the real agent: both sides of every exchange go through the real wire types and packs.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lib/clock.h"
#include "lib/pack.h"
#include "lib/wire/event.h"
#include "lib/wire/job.h"
#include "provisioning/transport.h"
#include "tests/simulation/dice.h"

namespace benchctl::simulation {

class SimMachine {
 public:
  // `mutant`: "value" prints another value than the one of the attempt, "build" has not what it says it has built.
  SimMachine(std::string name, std::string host_key_line, Clock& clock, Faults& faults, const std::string& mutant);

  // One command; `dropped` says that the link it came by is gone since (reboot, death).
  Result<CommandResult> run(const std::vector<std::string>& argv, const RunOptions& options,
                            const std::function<bool()>& dropped);

  bool reachable();                     // now
  int boots() const { return boots_; }  // a link of an earlier boot is dead
  std::string host_key_pin() const;

  // The truth, for the checks: what was sealed, by unit, and the value that each attempt of a trial printed.
  struct Attempt {
    std::string verdict;
    bool torn = false;
  };
  const std::map<std::pair<int64_t, int>, Attempt>& attempts() const { return attempts_; }
  const std::set<std::string>& sealed() const { return sealed_names_; }
  static double value_of(int64_t trial, int attempt) { return static_cast<double>(trial * 100 + attempt); }

 private:
  struct Unit {
    std::vector<PackEntry> entries;
    std::string bytes;
  };
  enum class At { kRound, kTrial, kTrialEnd, kSeal };

  CommandResult rotate_host_key();
  CommandResult probe(const std::vector<std::string>& words);
  CommandResult upload(const std::vector<std::string>& words, const RunOptions& options);
  CommandResult start(const std::vector<std::string>& words, const RunOptions& options);
  CommandResult facts();
  CommandResult build(const std::vector<std::string>& argv);
  CommandResult state();
  CommandResult harden(const std::string& verb);
  Result<CommandResult> events(const std::vector<std::string>& argv, const RunOptions& options,
                               const std::function<bool()>& dropped);
  Result<CommandResult> pull(const std::string& unit, const RunOptions& options);

  void advance();
  void step();
  void begin_round();
  void finish_trial();
  void seal_round(bool complete);
  void finish(int exit, const std::string& reason);
  void emit(const std::string& kind, Json fields);
  void end_runner();

  std::string name_;
  Clock& clock_;
  Faults& faults_;
  std::string host_key_line_;
  std::set<std::string> agents_, bundles_;
  std::set<std::string> sources_;  // of the bundles: what was built from, which no trial can run
  int boots_ = 1;
  Nanos back_at_{0};
  bool dead_ = false;
  bool prints_wrong_, loses_builds_;
  bool quiet_, stays_quiet_;
  std::string model_;
  bool avx2_ = true;
  bool has_compiler_ = true;

  std::optional<Job> job_;
  std::string job_text_;
  bool running_ = false, done_ = false, silent_ = false, stop_asked_ = false, ignores_stop_ = false, cut_short_ = false;
  Nanos next_at_{0};
  At at_ = At::kRound;
  size_t round_ = 0, trial_ = 0;
  std::map<size_t, int> begun_;  // times that a round was begun
  int repeat_ = 0;               // of the current round, for steal
  int64_t repeats_ = 0;
  bool stolen_ = false;
  std::vector<Event> events_;
  std::map<std::string, Unit> units_;
  Unit current_;
  std::map<std::pair<int64_t, int>, Attempt> attempts_;
  std::set<std::string> sealed_names_;
};

}  // namespace benchctl::simulation

#include "agent/exec/runner.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

#include "agent/exec/ack_wait.h"
#include "agent/exec/append_file.h"
#include "agent/exec/cpu_list.h"
#include "agent/exec/event_log.h"
#include "agent/exec/facts_file.h"
#include "agent/exec/folder_watch.h"
#include "agent/exec/quiet.h"
#include "agent/exec/quiet_gate.h"
#include "agent/exec/repeat_rule.h"
#include "agent/exec/round_probe.h"
#include "agent/exec/round_queue.h"
#include "agent/exec/run_folder.h"
#include "agent/exec/seal.h"
#include "agent/exec/steal_csv.h"
#include "agent/exec/trial_events.h"
#include "agent/exec/trial_runner.h"
#include "agent/facts/cpu_text.h"
#include "lib/lock_wait.h"
#include "lib/sha256.h"
#include "lib/text.h"

namespace benchctl {
namespace {

std::string boot_id() {
  auto text = read_pseudo_file("/proc/sys/kernel/random/boot_id", 4096);
  return text ? std::string(trim(*text)) : "";
}

// A short look at the state by another command must not make a start fail.
Result<FileLock> lock_run(const RunFolder& folder) {
  SystemClock clock;
  auto lock = wait_for_lock(folder.file("run.lock"), "pid " + std::to_string(getpid()), clock,
                            Deadline::in(clock, std::chrono::seconds(1)), {}, std::chrono::milliseconds(50));
  if (!lock) return lock.error().in(folder.path());
  return lock;
}

class Runner {
 public:
  Runner(RunFolder folder, Job job, RunHistory history, StopSignal stop, Clock& clock)
      : folder_(std::move(folder)),
        job_(std::move(job)),
        history_(std::move(history)),
        stop_(std::move(stop)),
        clock_(clock),
        ballast_(folder_),
        sampler_(clock),
        probe_(clock, cgroups_) {}

  Result<int> run() {
    BENCHCTL_CHECK(open_files());
    BENCHCTL_CHECK(prepare_process());
    BENCHCTL_CHECK(announce());
    BENCHCTL_CHECK(check_quiet(proof_moment(history_.boot_id, boot_id())));
    while (end_.empty()) {
      if (terminated()) return leave();
      BENCHCTL_TRY(auto queue, read_queue(folder_, job_));
      BENCHCTL_CHECK(announce_appended(queue));
      auto next = std::find_if(queue.begin(), queue.end(),
                               [&](const QueuedRound& round) { return history_.sealed_units.count(round.unit) == 0; });
      if (next != queue.end()) {
        if (stopping()) {
          end(7, "stopped before all rounds were run");
        } else {
          BENCHCTL_CHECK(run_round(*next));
        }
      } else {
        BENCHCTL_CHECK(linger(queue.size()));
      }
    }
    return finish();
  }

 private:
  Status open_files() {
    if (auto reserved = ballast_.reserve(); !reserved) {
      if (!is_no_space(reserved.error())) return reserved;
      full_ = true;
    }
    BENCHCTL_TRY(EventLog log, EventLog::open(folder_, clock_, history_.last_event));
    events_.emplace(std::move(log));
    BENCHCTL_TRY(AppendFile steal, AppendFile::open(folder_, "steal.csv", kStealCsvHeader));
    steal_csv_.emplace(std::move(steal));
    BENCHCTL_TRY(AppendFile system, AppendFile::open(folder_, "system.csv", kSystemCsvHeader));
    system_csv_.emplace(std::move(system));
    for (const char* name : {"acks", "rounds"}) BENCHCTL_CHECK(make_dirs(folder_.file(name)));
    return {};
  }

  Status prepare_process() {
    signal(SIGPIPE, SIG_IGN);
    bool adopts = prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0;  // user-mode emulators refuse it
    bool root = geteuid() == 0;
    if (root) {
      UniqueFd fd(open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
      oom_protected_ = fd && write_all(fd.get(), "-1000");  // refused in some containers
    }
    BENCHCTL_TRY(std::vector<int> allowed, allowed_cpus());
    cpus_ = allowed;
    if (!job_.cpus.empty()) {
      cpus_ = parse_cpu_list(job_.cpus).value_or(std::vector<int>());
      if (cpus_.empty() || !std::includes(allowed.begin(), allowed.end(), cpus_.begin(), cpus_.end()))
        return Error{ErrorKind::kUsage, "job: cpus \"" + sanitize(job_.cpus, 100) +
                                            "\" are not all usable; this machine offers " + format_cpu_list(allowed)};
    }
    std::vector<int> others;
    std::set_difference(allowed.begin(), allowed.end(), cpus_.begin(), cpus_.end(), std::back_inserter(others));
    if (!others.empty() && set_affinity(others) != 0) return errno_error("sched_setaffinity");

    cgroups_ = CgroupHost::detect();
    group_prefix_ = "benchctl-" + sha256_hex(folder_.path()).substr(0, 8) + "-";
    clear_leftovers(folder_, cgroups_, group_prefix_);
    weaker_ = root ? users_obstacle(folder_, job_) : "not root";
    own_users_ = root && weaker_.empty();
    if (!adopts) weaker_ += std::string(weaker_.empty() ? "" : "; ") + "orphans are not adopted";
    return {};
  }

  // Events are never lost to a full disk: the ballast goes first.
  Status say(const std::string& kind, Json fields) {
    Status said = events_->append(kind, fields);
    if (said || !is_no_space(said.error())) return said;
    ballast_.release();
    full_ = true;
    return events_->append(kind, std::move(fields));
  }

  Status announce() {
    Json fields = Json::object();
    fields.set("version", BENCHCTL_VERSION);
    auto hash = sha256_file("/proc/self/exe");
    fields.set("sha256", hash ? Json(*hash) : Json());
    fields.set("pid", static_cast<int64_t>(getpid()));
    fields.set("boot_id", boot_id());
    fields.set("oom_protected", oom_protected_);
    BENCHCTL_CHECK(say("agent_started", std::move(fields)));
    if (!exists(folder_.file("facts.before.json"))) BENCHCTL_CHECK(take_facts("facts.before.json"));
    return {};
  }

  Status take_facts(const std::string& name) {
    Status written = write_facts(folder_, name, clock_);
    if (!written && !is_no_space(written.error())) return written;
    if (!written) full_ = true;
    Json fields = Json::object();
    fields.set("file", name);
    return written ? say("facts_taken", std::move(fields)) : Status();
  }

  // A machine that is not as quiet as it was made gives no numbers; what was measured before it was found out stands.
  Status check_quiet(const std::string& when) {
    if (job_.harden.as_object().empty()) return {};
    QuietProof proof = prove_quiet(job_.harden, clock_);
    Json fields = to_json(proof);
    fields.set("when", when);
    BENCHCTL_CHECK(say("quiet_proof", std::move(fields)));
    if (proof.ok) return {};
    std::string more = proof.problems.size() > 1 ? " and " + std::to_string(proof.problems.size() - 1) + " more" : "";
    const std::string what = "the machine is not quiet (" + when + "): " + proof.problems[0] + more;
    if (when == "end" && exit_ == 0) end_.clear();
    end(5, what);
    return {};
  }

  Status announce_appended(const std::vector<QueuedRound>& queue) {
    for (const QueuedRound& round : queue) {
      if (round.file.empty() || !history_.appended.insert(round.file).second) continue;
      Json fields = Json::object();
      fields.set("round", round.spec.round);
      fields.set("trials", static_cast<int64_t>(round.spec.trials.size()));
      fields.set("unit", round.unit);
      fields.set("file", round.file);
      BENCHCTL_CHECK(say("round_appended", std::move(fields)));
    }
    return {};
  }

  bool stopping() {
    if (!stop_.requested() && !exists(folder_.file("stop"))) return false;
    stop_.request();
    return true;
  }

  // Ended by somebody who did not ask the run to stop: the machine is going down. Finished rounds stand, the one under
  // way is void, and the next runner goes on with it.
  bool terminated() { return stop_.requested() && !exists(folder_.file("stop")); }

  Result<int> leave() {
    ballast_.release();
    BENCHCTL_CHECK(say("agent_terminated", Json::object()));
    return 7;
  }

  Status note_stop() {
    if (!stop_.requested() || terminated() || std::exchange(stop_said_, true)) return {};
    return say("stop_requested", Json::object());
  }

  void end(int code, std::string reason) {
    if (!end_.empty()) return;
    exit_ = code;
    end_ = std::move(reason);
  }

  Status run_round(const QueuedRound& round) {
    int shift = attempt_shift(folder_, round.spec);
    if (measures(round.spec)) BENCHCTL_CHECK(look_before(round.spec.round));
    if (stopping()) return {};
    Json fields = Json::object();
    fields.set("round", round.spec.round);
    fields.set("trials", static_cast<int64_t>(round.spec.trials.size()));
    fields.set("unit", round.unit);
    BENCHCTL_CHECK(say("round_started", std::move(fields)));
    RoundPass pass(round.spec, shift);
    while (pass.next() != nullptr) {
      if (terminated()) return {};
      if (stopping()) end(7, "stopped before all rounds were run");
      if (end_.empty()) BENCHCTL_CHECK(look_for_space());
      if (!end_.empty()) break;
      BENCHCTL_TRY(TrialRecord record, run_one(*pass.next(), round.unit));
      auto over = pass.finished(record, job_.repeat_steal_percent);
      if (over && end_.empty() && !stopping()) BENCHCTL_CHECK(answer(pass, round.spec.round, *over));
    }
    if (terminated()) return {};
    return seal(round, pass.next() == nullptr && end_.empty());
  }

  Status look_before(int round) {
    BENCHCTL_TRY(auto busy, wait_until_quiet(cpus_, {job_.max_other_busy, job_.quiet_wait_ms}, clock_, stop_,
                                             [&](double share, bool gave_up) {
                                               Json fields = Json::object();
                                               fields.set("busy", std::round(share * 1000) / 1000);
                                               fields.set("gave_up", gave_up);
                                               return say("waiting_quiet", std::move(fields));
                                             }));
    if (job_.probe_ms <= 0 || stopping()) return {};
    BENCHCTL_TRY(Json fields, probe_.take(cpus_, job_.probe_ms, round, busy));
    return say("round_probe", std::move(fields));
  }

  // The event comes first: an agent that dies in the repeat has made it all the same.
  Status answer(RoundPass& pass, int round, const PointOver& over) {
    RepeatAnswer answer = may_repeat(job_, history_.repeats, over.attempt);
    if (answer == RepeatAnswer::kRepeat) {
      BENCHCTL_CHECK(say("point_repeated", point_repeated_fields(round, over)));
      ++history_.repeats.made;
      pass.repeat(over);
    } else if (answer == RepeatAnswer::kStandsAndSay) {
      Json fields = Json::object();
      fields.set("limit", job_.max_repeats);
      BENCHCTL_CHECK(say("repeats_used_up", std::move(fields)));
      history_.repeats.said_used_up = true;
    }
    return {};
  }

  // One trial must not pay for the dirty pages of its predecessor, and must not begin on a disk that will not hold it.
  Status look_for_space() {
    if (syncfs(folder_.fd()) != 0) return errno_error("syncfs " + folder_.path());
    BENCHCTL_TRY(int64_t free, free_bytes(folder_.work()));
    return free < job_.min_free_bytes || full_ ? disk_full() : Status();
  }

  Status disk_full() {
    auto free = free_bytes(folder_.work());
    ballast_.release();
    full_ = true;
    Json fields = Json::object();
    fields.set("free", free ? *free : 0);
    fields.set("needed", job_.min_free_bytes);
    end(6, "disk full on " + folder_.work() + ": " + format_bytes(free ? *free : 0) + " free, " +
               format_bytes(job_.min_free_bytes) + " needed before a trial");
    return say("disk_full", std::move(fields));
  }

  Result<TrialRecord> run_one(const TrialSpec& spec, const std::string& unit) {
    BENCHCTL_CHECK(say("trial_started", trial_started_fields(spec)));
    history_.trials[unit].emplace_back(spec.trial, spec.attempt);

    TrialHost host{job_, folder_, cgroups_, clock_, stop_, sampler_, cpus_, own_users_, weaker_, group_prefix_};
    auto ran = run_trial(host, spec);
    if (!ran && !is_no_space(ran.error())) return ran.error();
    TrialRecord record;
    if (ran) {
      record = std::move(*ran);
    } else {
      record.spec = spec;
      record.verdict = "no_space";
      record.reason = "the work directory was full: " + ran.error().message;
      record.started_unix_ms = clock_.unix_ms();
      BENCHCTL_CHECK(disk_full());
      BENCHCTL_CHECK(write_record(folder_, record));
    }
    BENCHCTL_CHECK(note_stop());
    std::string row = steal_row(record), samples = sampler_.take();
    BENCHCTL_CHECK(append_rows(*steal_csv_, row));
    BENCHCTL_CHECK(append_rows(*system_csv_, samples));

    BENCHCTL_CHECK(say("trial_finished", trial_finished_fields(record)));
    if (record.verdict == "survivors") end(5, "trial " + std::to_string(spec.trial) + ": " + record.reason);
    if (record.verdict == "stopped" && !terminated()) end(7, "stopped before all rounds were run");
    if (record.verdict == "no_space" && ran) BENCHCTL_CHECK(look_for_space());
    return record;
  }

  Status append_rows(AppendFile& file, const std::string& rows) {
    if (rows.empty()) return {};
    Status written = file.append(rows, false);
    if (written || !is_no_space(written.error())) return written;
    BENCHCTL_CHECK(disk_full());
    return file.append(rows, false);
  }

  Status seal(const QueuedRound& round, bool complete) {
    const auto& trials = history_.trials[round.unit];
    auto sealed = seal_round(folder_, round.unit, trials);
    if (!sealed && is_no_space(sealed.error())) {
      BENCHCTL_CHECK(disk_full());
      sealed = seal_round(folder_, round.unit, trials);
    }
    if (!sealed) return sealed.error();
    Json fields = Json::object();
    fields.set("round", round.spec.round);
    sealed->describe(fields);
    fields.set("complete", complete);
    BENCHCTL_CHECK(say("round_sealed", std::move(fields)));
    history_.sealed_units.insert(round.unit);
    if (end_.empty()) wait_for_ack(folder_, round.unit, job_.ack_wait_ms, clock_, stop_, [this] { return stopping(); });
    return {};
  }

  // Nothing to do: waits for an appended round, a stop, or the end of the linger time.
  Status linger(size_t known) {
    BENCHCTL_TRY(FolderWatch watch, FolderWatch::on(folder_.file("rounds")));
    Deadline deadline = Deadline::in(clock_, std::chrono::milliseconds(job_.linger_ms));
    while (true) {
      BENCHCTL_TRY(auto queue, read_queue(folder_, job_));
      if (queue.size() > known || terminated()) return {};
      if (stopping() || deadline.passed(clock_)) {
        BENCHCTL_TRY(bool closed, close_queue(folder_, job_, known));
        if (closed) end(0, "done");
        return {};
      }
      int64_t left_ms = std::chrono::ceil<std::chrono::milliseconds>(deadline.left(clock_)).count();
      if (sleep_or_stop(stop_, watch.fd(), left_ms)) watch.drain();
    }
  }

  Result<int> finish() {
    if (exit_ != 5) BENCHCTL_CHECK(check_quiet("end"));
    if (exit_ != 0) BENCHCTL_CHECK(close_queue(folder_, job_, SIZE_MAX));
    BENCHCTL_CHECK(note_stop());
    ballast_.release();
    BENCHCTL_CHECK(take_facts("facts.after.json"));
    BENCHCTL_TRY(SealedUnit sealed, seal_final(folder_));
    Json fields = Json::object();
    fields.set("exit", exit_);
    fields.set("reason", exit_ == 0 ? "" : end_);
    sealed.describe(fields);
    BENCHCTL_CHECK(say("run_done", std::move(fields)));
    BENCHCTL_CHECK(write_atomic(folder_.file("run.done"), std::to_string(exit_) + "\n"));
    return exit_;
  }

  RunFolder folder_;
  Job job_;
  RunHistory history_;
  StopSignal stop_;
  Clock& clock_;
  Ballast ballast_;
  Sampler sampler_;
  std::optional<EventLog> events_;
  std::optional<AppendFile> steal_csv_, system_csv_;
  CgroupHost cgroups_;
  RoundProbe probe_;
  std::vector<int> cpus_;
  bool own_users_ = false, oom_protected_ = false;
  std::string weaker_, group_prefix_;
  bool full_ = false;
  bool stop_said_ = false;
  int exit_ = 0;
  std::string end_;  // why the run ends; empty while it goes on
};

}  // namespace

Result<int> run_job(const std::string& dir, Clock& clock) {
  BENCHCTL_TRY(RunFolder folder, RunFolder::open(dir));
  BENCHCTL_TRY(FileLock lock, lock_run(folder));
  BENCHCTL_TRY(RunHistory history, read_history(folder));
  if (history.done) {
    if (!exists(folder.file("run.done")))
      BENCHCTL_CHECK(write_atomic(folder.file("run.done"), std::to_string(history.exit) + "\n"));
    return history.exit;
  }
  BENCHCTL_TRY(Job job, read_job(folder));
  BENCHCTL_TRY(StopSignal stop, StopSignal::install());
  return Runner(std::move(folder), std::move(job), std::move(history), std::move(stop), clock).run();
}

}  // namespace benchctl

#include "agent/exec/trial_runner.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <numeric>
#include <optional>

#include "agent/exec/leftovers.h"
#include "agent/exec/phase.h"
#include "agent/exec/process_tree.h"
#include "agent/exec/take_over.h"
#include "agent/exec/verdict.h"
#include "agent/facts/cpu_text.h"
#include "lib/text.h"

namespace benchctl {
namespace {

constexpr int64_t kNothingFree = 1 << 20;

class Trial {
 public:
  Trial(TrialHost& host, const TrialSpec& spec)
      : host_(host),
        uid_(host.own_users ? free_uid(spec.trial + spec.attempt * int64_t{101}) : -1),
        scratch_name_(host.folder.scratch_name(spec.trial, spec.attempt)),
        scratch_(host.folder.scratch_root() + "/" + scratch_name_) {
    record_.spec = spec;
    record_.verdict = "ok";
    record_.uid = uid_ >= 0 ? uid_ : static_cast<int>(geteuid());
    record_.cpus = format_cpu_list(host.cpus);
  }

  Result<TrialRecord> run() {
    BENCHCTL_TRY(trial_fd_, host_.folder.make_trial_folder(record_.spec.trial, record_.spec.attempt));
    std::string group = host_.group_prefix + scratch_name_;
    BENCHCTL_CHECK(remember(group));
    Status status = make_scratch();
    if (status) {
      CgroupLimits limits{host_.job.memory_bytes, host_.job.max_pids};
      cgroup_.emplace(host_.cgroups, group, limits);
      record_.containment = containment();
      status = run_phases();
      if (status) status = take_over();
      if (uid_ >= 0 && status) look_for_leftovers();
      cgroup_.reset();
    }
    scratch_fd_.reset();
    if (auto removed = remove_tree(scratch_); !removed)
      std::fprintf(stderr, "benchagent: %s\n", removed.error().message.c_str());
    if (!status) return status.error();
    BENCHCTL_CHECK(write_record(host_.folder, record_));
    return record_;
  }

 private:
  // For clear_leftovers of a later agent; needs no fsync, since a reboot ends what it names.
  Status remember(const std::string& group) {
    Json json = Json::object();
    json.set("uid", uid_);
    json.set("cgroup", group);
    unlinkat(host_.folder.fd(), "current.json", 0);
    BENCHCTL_TRY(UniqueFd fd, create_file_at(host_.folder.fd(), "current.json"));
    return write_all(fd.get(), json.dump() + "\n");
  }

  Status make_scratch() {
    if (mkdir(host_.folder.scratch_root().c_str(), 0711) != 0 && errno != EEXIST)
      return errno_error("mkdir " + host_.folder.scratch_root());
    BENCHCTL_CHECK(remove_tree(scratch_));
    if (mkdir(scratch_.c_str(), 0700) != 0) return errno_error("mkdir " + scratch_);
    scratch_fd_.reset(open(scratch_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!scratch_fd_) return errno_error("open " + scratch_);
    if (mkdirat(scratch_fd_.get(), "out", 0700) != 0) return errno_error("mkdir " + scratch_ + "/out");
    if (uid_ < 0) return {};
    uid_t uid = static_cast<uid_t>(uid_);
    if (fchownat(scratch_fd_.get(), "out", uid, uid, AT_SYMLINK_NOFOLLOW) != 0 ||
        fchown(scratch_fd_.get(), uid, uid) != 0)
      return errno_error("chown " + scratch_);
    return {};
  }

  std::string containment() const {
    std::string text = cgroup_->description();
    if (text.empty()) text = "process tree only";
    if (uid_ >= 0) text += " + uid " + std::to_string(uid_);
    if (host_.job.memory_bytes > 0 && !cgroup_->limits_memory()) text += ", memory not limited";
    if (!host_.weaker.empty()) text += " (" + host_.weaker + ")";
    return text;
  }

  std::vector<std::string> environment() const {
    std::map<std::string, std::string> variables = {
        {"PATH", kProgramsPath}, {"HOME", scratch_}, {"LANG", "C"}, {"LC_ALL", "C"}, {"TZ", "UTC"}};
    for (const auto& [name, value] : record_.spec.env) variables[name] = value;
    uint64_t seed = (host_.job.seed ^ static_cast<uint64_t>(record_.spec.trial)) & INT64_MAX;
    variables["BENCHCTL_SEED"] = std::to_string(seed);
    variables["BENCHCTL_SCRATCH"] = scratch_;
    variables["BENCHCTL_OUT"] = scratch_ + "/out";
    variables["BENCHCTL_CPUS"] = record_.cpus;
    std::vector<std::string> list;
    for (const auto& [name, value] : variables) list.push_back(name + "=" + value);
    return list;
  }

  Status run_phases() {
    record_.started_unix_ms = host_.clock.unix_ms();
    host_.sampler.begin(record_.spec.trial, record_.spec.attempt);
    for (const Phase& phase : record_.spec.phases) {
      // After a failure only the cleaning up is left to do; after a stop or with survivors not even that.
      bool hopeless = record_.verdict == "stopped" || record_.verdict == "survivors" || record_.verdict == "missing";
      if (record_.verdict != "ok" && (phase.name != "cleanup" || hopeless)) continue;
      BENCHCTL_CHECK(run_phase_of(phase));
    }
    return {};
  }

  Status run_phase_of(const Phase& phase) {
    bool timed = phase.name == "run";
    std::string prefix = timed ? "" : phase.name + ".";
    PhaseRequest request;
    request.spawn.argv = phase.argv;
    if (!phase.argv[0].starts_with('/'))
      request.spawn.argv[0] = host_.job.bundles_dir + "/" + record_.spec.bundle + "/" + phase.argv[0];
    request.spawn.environment = environment();
    request.spawn.folder = scratch_;
    request.spawn.uid = uid_;
    request.spawn.cpus = host_.cpus;
    request.spawn.max_processes = host_.job.max_pids;
    for (const UniqueFd& fd : cgroup_->join_fds()) request.spawn.join_fds.push_back(fd.get());
    request.timeout_ms = record_.spec.timeout_ms;
    request.output_cap = host_.job.stdout_cap;
    BENCHCTL_TRY(request.out_file, create_file_at(trial_fd_.get(), prefix + "stdout"));
    BENCHCTL_TRY(request.err_file, create_file_at(trial_fd_.get(), prefix + "stderr"));

    int64_t oom_before = cgroup_->oom_kills();
    std::optional<Meter> meter;
    if (timed) {
      meter.emplace(host_.cpus, host_.cgroups);
      record_.started_unix_ms = host_.clock.unix_ms();
    }
    PhaseWatch watch{host_.clock, host_.stop, *cgroup_, host_.sampler, meter ? &*meter : nullptr};
    BENCHCTL_TRY(PhaseOutcome outcome, run_phase(std::move(request), watch));

    VerdictContext context;
    context.timeout_ms = record_.spec.timeout_ms;
    context.output_cap = host_.job.stdout_cap;
    context.oom_kills = cgroup_->oom_kills() - oom_before;
    context.memory_bytes = host_.job.memory_bytes;
    auto free = free_bytes(host_.folder.work());
    context.disk_was_full = free && *free < kNothingFree;
    Verdict verdict = judge(outcome, context);
    if (record_.verdict == "ok") {
      record_.verdict = verdict.verdict;
      record_.reason = verdict.reason;
      record_.exit_code = verdict.exit_code;
      record_.signal = verdict.signal;
      record_.phase = phase.name;
    }
    record_.ended_descendants += outcome.ended_descendants;
    if (timed) {
      note_run(outcome);
    } else {
      if (outcome.stdout_bytes == 0) unlinkat(trial_fd_.get(), (prefix + "stdout").c_str(), 0);
      if (outcome.stderr_bytes == 0) unlinkat(trial_fd_.get(), (prefix + "stderr").c_str(), 0);
    }
    return {};
  }

  void note_run(const PhaseOutcome& outcome) {
    auto nanos = [](const timeval& t) { return int64_t{t.tv_sec} * 1'000'000'000 + int64_t{t.tv_usec} * 1000; };
    record_.wall_ns = outcome.wall_ns;
    record_.user_ns = nanos(outcome.usage.ru_utime);
    record_.system_ns = nanos(outcome.usage.ru_stime);
    record_.max_rss_bytes = int64_t{outcome.usage.ru_maxrss} * 1024;
    record_.minor_faults = outcome.usage.ru_minflt;
    record_.major_faults = outcome.usage.ru_majflt;
    record_.voluntary_switches = outcome.usage.ru_nvcsw;
    record_.involuntary_switches = outcome.usage.ru_nivcsw;
    record_.read_bytes = outcome.io.read_bytes;
    record_.written_bytes = outcome.io.written_bytes;
    record_.cpu_total_jiffies = outcome.measured.steal.total_jiffies;
    record_.steal_jiffies = outcome.measured.steal.steal_jiffies;
    record_.steal_percent = outcome.measured.steal.percent;
    record_.steal_note = outcome.measured.steal.note;
    record_.psi_cpu_some = outcome.measured.psi_cpu_some;
    record_.psi_io_some = outcome.measured.psi_io_some;
    record_.throttled = outcome.measured.throttled;
    record_.agent_cpu_ns = outcome.measured.agent_cpu_ns;
    record_.agent_wakeups = outcome.wakeups;
    record_.stdout_bytes = outcome.stdout_bytes;
    record_.stderr_bytes = outcome.stderr_bytes;
  }

  Status take_over() {
    BENCHCTL_TRY(TakenOver taken, take_over_out(scratch_fd_.get(), "out", trial_fd_.get(), record_.uid));
    if (taken.refused.empty()) return {};
    BENCHCTL_TRY(UniqueFd fd, create_file_at(trial_fd_.get(), "out.refused"));
    return write_all(fd.get(), join(taken.refused, "\n") + "\n");
  }

  void look_for_leftovers() {
    std::vector<std::string> found = find_leftovers(uid_);
    if (found.empty()) return;
    record_.reason = "left behind: " + join(found, ", ") +
                     (record_.verdict == "ok" ? "" : "; before that " + record_.verdict + ": " + record_.reason);
    record_.verdict = "survivors";
  }

  TrialHost& host_;
  int uid_;
  std::string scratch_name_, scratch_;
  UniqueFd trial_fd_, scratch_fd_;
  std::optional<TrialCgroup> cgroup_;
  TrialRecord record_;
};

}  // namespace

Result<TrialRecord> run_trial(TrialHost& host, const TrialSpec& spec) {
  return Trial(host, spec).run();
}

Status write_record(const RunFolder& folder, const TrialRecord& record) {
  std::string path = trial_path(record.spec.trial, record.spec.attempt);
  if (!folder.has_trial(record.spec.trial, record.spec.attempt))
    BENCHCTL_CHECK(folder.make_trial_folder(record.spec.trial, record.spec.attempt));
  UniqueFd fd(openat(folder.fd(), path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) return errno_error("open " + path);
  unlinkat(fd.get(), "trial.json", 0);
  BENCHCTL_TRY(UniqueFd file, create_file_at(fd.get(), "trial.json"));
  if (auto written = write_all(file.get(), to_json(record).dump_pretty()); !written)
    return written.error().in(path + "/trial.json");
  return {};
}

namespace {

// Processes that still carry the scratch folder of a trial of this run in their environment: all that can be known of
// them where there is neither a cgroup nor a uid of their own.
void kill_by_environment(const RunFolder& folder) {
  std::string mark = "BENCHCTL_SCRATCH=" + folder.scratch_root() + "/" + folder.id() + ".t";
  for (const ProcessInfo& info : list_processes()) {
    if (info.pid == getpid() || !info.alive()) continue;
    auto environment = read_pseudo_file("/proc/" + std::to_string(info.pid) + "/environ", 4 << 20);
    if (environment && environment->find(mark) != std::string::npos) kill(info.pid, SIGKILL);
  }
}

}  // namespace

void clear_leftovers(const RunFolder& folder, const CgroupHost& cgroups, const std::string& group_prefix) {
  cgroups.remove_leftovers(group_prefix);
  kill_by_environment(folder);
  if (auto text = read_file(folder.file("current.json"), 4096)) {
    auto json = Json::parse(*text);
    int64_t uid = json ? (*json)["uid"].as_int(-1) : -1;
    if (geteuid() == 0 && uid >= kFirstUid && uid <= kLastUid) kill_user(static_cast<int>(uid));
    unlinkat(folder.fd(), "current.json", 0);
  }
  auto names = list_dir(folder.scratch_root());
  if (!names) return;
  for (const std::string& name : *names)
    if (name.starts_with(folder.id() + ".t"))
      if (auto removed = remove_tree(folder.scratch_root() + "/" + name); !removed)
        std::fprintf(stderr, "benchagent: %s\n", removed.error().message.c_str());
}

// In steps that reach every uid of the range and that keep the next turn's place free.
int free_uid(int64_t turn) {
  constexpr int64_t kCount = kLastUid - kFirstUid + 1, kStep = 151;
  static_assert(std::gcd(kCount, kStep) == 1);
  std::vector<ProcessInfo> all = list_processes();
  int64_t offset = turn % kCount;
  for (int64_t i = 0; i < kCount; ++i) {
    int uid = kFirstUid + static_cast<int>((offset + i * kStep) % kCount);
    bool used = false;
    for (const ProcessInfo& info : all) used = used || info.has_uid(uid);
    if (!used) return uid;
  }
  return kFirstUid + static_cast<int>(offset);
}

std::string closed_to_users(const std::vector<std::string>& folders) {
  for (const std::string& target : folders) {
    if (!exists(target)) continue;
    pid_t child = fork();
    if (child == 0) {
      if (setgid(kFirstUid) != 0 || setuid(kFirstUid) != 0) _exit(2);
      _exit(access(target.c_str(), X_OK) == 0 ? 0 : 1);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) return "fork failed";
    if (WIFEXITED(status) && WEXITSTATUS(status) == 2) return "no user of its own: uid not usable here";
    if (status != 0) return "no user of its own: " + target + " is closed to other users";
  }
  return "";
}

std::string users_obstacle(const RunFolder& folder, const Job& job) {
  // Our own folders are opened for passing through; folders above them are not ours to change.
  chmod(folder.work().c_str(), 0711);
  if (mkdir(folder.scratch_root().c_str(), 0711) != 0 && errno != EEXIST) return "no scratch folder";
  chmod(folder.scratch_root().c_str(), 0711);
  return closed_to_users({folder.scratch_root(), job.bundles_dir});
}

}  // namespace benchctl

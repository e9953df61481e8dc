#include "agent/exec/spawn.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "agent/exec/cpu_list.h"
#include "lib/argv.h"
#include "lib/pipe.h"

namespace benchctl {
namespace {

enum class Step : int { kSession, kCgroup, kAffinity, kLimits, kFolder, kUser, kPrivileges, kDescriptors, kExec };
constexpr const char* kStepNames[] = {"setsid",          "enter the cgroup",         "set the CPU affinity",
                                      "set limits",      "enter the scratch folder", "change to the trial's user",
                                      "drop privileges", "arrange descriptors",      "exec"};

struct Failure {
  int step;
  int error;
};

constexpr int64_t kOpenFiles = 65536;

bool set_limit(__rlimit_resource resource, rlim_t wanted) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0) return false;
  if (limit.rlim_max != RLIM_INFINITY && wanted > limit.rlim_max) wanted = limit.rlim_max;
  limit.rlim_cur = limit.rlim_max = wanted;
  return setrlimit(resource, &limit) == 0;
}

// Everything from here to exec runs in the child of a fork: system calls only, no allocation, no locks.
struct ChildPlan {
  const SpawnOptions& options;
  char* const* argv;
  char* const* environment;
  int null_fd, out_fd, err_fd, failure_fd;
};

[[noreturn]] void fail(const ChildPlan& plan, Step step) {
  Failure failure{static_cast<int>(step), errno};
  ssize_t ignored = write(plan.failure_fd, &failure, sizeof failure);
  (void)ignored;
  _exit(127);
}

void reset_signals() {
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) sigaction(signal, &standard, nullptr);  // refused for KILL and STOP
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

// The agent is protected from the out-of-memory killer; its trials must not inherit that.
void reset_oom_score() {
  int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  ssize_t ignored = write(fd, "0", 1);
  (void)ignored;
  close(fd);
}

void close_other_descriptors(int keep) {
  // `keep` (the failure pipe) and everything above goes at exec; what lies between 3 and it goes now.
  if (syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC) == 0) return;
  for (int fd = 3; fd < 4096; ++fd)
    if (fd != keep) close(fd);
  fcntl(keep, F_SETFD, FD_CLOEXEC);
}

[[noreturn]] void run_child(const ChildPlan& plan) {
  const SpawnOptions& options = plan.options;
  reset_signals();
  if (setsid() < 0) fail(plan, Step::kSession);
  for (int fd : options.join_fds)
    if (write(fd, "0", 1) != 1) fail(plan, Step::kCgroup);
  if (!options.cpus.empty()) {
    errno = set_affinity(options.cpus);
    if (errno != 0) fail(plan, Step::kAffinity);
  }
  reset_oom_score();
  if (!set_limit(RLIMIT_CORE, 0) || !set_limit(RLIMIT_NOFILE, kOpenFiles)) fail(plan, Step::kLimits);
  umask(022);
  // Before the user changes: folders above the scratch folder need not be open to it.
  if (chdir(options.folder.c_str()) != 0) fail(plan, Step::kFolder);
  if (dup2(plan.null_fd, 0) < 0 || dup2(plan.out_fd, 1) < 0 || dup2(plan.err_fd, 2) < 0) fail(plan, Step::kDescriptors);
  close_other_descriptors(plan.failure_fd);
  if (options.uid >= 0) {
    uid_t uid = static_cast<uid_t>(options.uid);
    if (options.max_processes > 0 && !set_limit(RLIMIT_NPROC, static_cast<rlim_t>(options.max_processes)))
      fail(plan, Step::kLimits);
    // Raw system calls: glibc's wrappers synchronise threads, which a forked child has none of.
    if (syscall(SYS_setgroups, 0, nullptr) != 0 || syscall(SYS_setresgid, uid, uid, uid) != 0 ||
        syscall(SYS_setresuid, uid, uid, uid) != 0)
      fail(plan, Step::kUser);
  }
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) fail(plan, Step::kPrivileges);
  // An agent that is killed takes its trial along; changing the user would have cleared this.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  execve(plan.argv[0], plan.argv, plan.environment);
  fail(plan, Step::kExec);
}

}  // namespace

Result<Spawned> spawn(const SpawnOptions& options) {
  BENCHCTL_TRY(Pipe out, make_pipe());
  BENCHCTL_TRY(Pipe err, make_pipe());
  BENCHCTL_TRY(Pipe failure, make_pipe());
  UniqueFd null(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!null) return errno_error("open /dev/null");
  std::vector<char*> argv = pointers(options.argv), environment = pointers(options.environment);
  ChildPlan plan{options,         argv.data(),     environment.data(), null.get(),
                 out.write.get(), err.write.get(), failure.write.get()};
  pid_t pid = fork();
  if (pid < 0) return errno_error("fork");
  if (pid == 0) run_child(plan);

  failure.write.reset();
  Failure report{};
  ssize_t count;
  do {
    count = read(failure.read.get(), &report, sizeof report);
  } while (count < 0 && errno == EINTR);
  if (count == sizeof report) {
    waitpid(pid, nullptr, 0);
    errno = report.error;
    if (report.step == static_cast<int>(Step::kExec)) return errno_error(options.argv[0], ErrorKind::kWorkload);
    return errno_error(std::string("starting a trial: ") + kStepNames[report.step]);
  }
  Spawned child;
  child.pid = pid;
  child.pidfd.reset(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (!child.pidfd) {
    Error error = errno_error("pidfd_open");
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    return error;
  }
  child.out = std::move(out.read);
  child.err = std::move(err.read);
  fcntl(child.out.get(), F_SETFL, O_NONBLOCK);
  fcntl(child.err.get(), F_SETFL, O_NONBLOCK);
  return child;
}

}  // namespace benchctl

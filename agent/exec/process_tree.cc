#include "agent/exec/process_tree.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "agent/exec/processes.h"
#include "lib/clock.h"
#include "lib/text.h"

namespace benchctl {

void kill_user(int uid) {
  pid_t child = fork();
  if (child == 0) {
    uid_t id = static_cast<uid_t>(uid);
    if (syscall(SYS_setresuid, id, id, id) == 0) kill(-1, SIGKILL);
    _exit(0);
  }
  if (child > 0) waitpid(child, nullptr, 0);
}

std::set<pid_t> ProcessTree::alive() const {
  std::set<pid_t> found, members;
  for (pid_t pid : cgroup_.members()) members.insert(pid);
  std::vector<ProcessInfo> all = list_processes();
  for (const ProcessInfo& info : descendants(all, getpid())) members.insert(info.pid);
  for (const ProcessInfo& info : all)
    if (info.alive() && (members.count(info.pid) != 0 || (uid_ >= 0 && info.has_uid(uid_)))) found.insert(info.pid);
  return found;
}

int ProcessTree::kill_once() {
  std::set<pid_t> pids = alive();
  if (pids.empty()) return 0;
  cgroup_.kill();
  if (uid_ >= 0) kill_user(uid_);
  for (pid_t pid : pids) {
    kill(pid, SIGKILL);
    if (pid != main_) ended_.insert(pid);
  }
  return static_cast<int>(pids.size());
}

void ProcessTree::end_all(int64_t limit_ms) {
  SystemClock clock;
  Deadline deadline = Deadline::in(clock, std::chrono::milliseconds(limit_ms));
  for (int64_t pause_ms = 1; kill_once() > 0 && !deadline.passed(clock);
       pause_ms = std::min<int64_t>(pause_ms * 2, 50)) {
    clock.sleep(std::chrono::milliseconds(pause_ms));
    reap_orphans();
  }
  reap_orphans();
}

void ProcessTree::reap_orphans() const {
  for (int i = 0; i < 100'000; ++i) {
    siginfo_t info{};
    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0 || info.si_pid == main_) return;
    waitpid(info.si_pid, nullptr, WNOHANG);
  }
}

std::vector<std::string> ProcessTree::survivors() const {
  std::vector<std::string> names;
  for (pid_t pid : alive()) {
    auto name = read_pseudo_file("/proc/" + std::to_string(pid) + "/comm", 4096);
    names.push_back(std::to_string(pid) + " (" + (name ? sanitize(trim(*name), 40) : "?") + ")");
  }
  return names;
}

}  // namespace benchctl

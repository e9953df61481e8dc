#include "provisioning/providers/local.h"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "lib/files.h"
#include "lib/text.h"
#include "provisioning/command.h"

namespace benchctl {
namespace {

constexpr std::chrono::seconds kPoliteTime{3};  // for the agent to seal what it has
constexpr std::chrono::seconds kDestroyTime{20};
constexpr std::chrono::minutes kPutBackTime{5};

bool belongs(int pid, const std::string& folder) {
  const std::string process = "/proc/" + std::to_string(pid);
  char program[4096];
  ssize_t length = readlink((process + "/exe").c_str(), program, sizeof program);
  if (length > 0 && std::string_view(program, static_cast<size_t>(length)).substr(0, folder.size() + 1) == folder + "/")
    return true;
  auto environment = read_pseudo_file(process + "/environ", 1 << 20);
  if (!environment) return false;
  for (std::string_view entry : split(*environment, '\0'))
    for (const char* name : {"BENCHCTL_SCRATCH=", "BENCHCTL_OUT="})
      if (entry.rfind(name + folder + "/", 0) == 0) return true;
  return false;
}

// Through a descriptor of the process, looked at again after it was opened: a number that was given to somebody else
// meanwhile is left alone.
void send_signal(int pid, const std::string& folder, int number) {
  UniqueFd process(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (process && belongs(pid, folder)) syscall(SYS_pidfd_send_signal, process.get(), number, nullptr, 0);
}

Machine describe(const MachineTag& tag, const std::string& folder) {
  Machine machine{"local", tag.name(), tag.name(), tag.nonce, tag.run, tag.owner, tag.expires_unix, Endpoint{}};
  machine.endpoint->kind = Endpoint::Kind::kLocal;
  machine.endpoint->host = "localhost";
  machine.endpoint->port = 0;
  machine.endpoint->user = "";
  machine.endpoint->work_dir = folder;
  return machine;
}

// What a run's hardening changed on this computer goes back before the journal that says how does.
Status put_back(const std::string& folder, Clock& clock) {
  const std::string journal = folder + "/harden.journal";
  if (!exists(journal)) return {};
  BENCHCTL_TRY(auto names, list_dir(folder));
  for (const std::string& name : names) {
    if (!name.starts_with("agent-")) continue;
    CommandSpec undo;
    undo.argv = {folder + "/" + name, "harden", "undo", "--journal", journal};
    undo.deadline = Deadline::in(clock, kPutBackTime);
    BENCHCTL_CHECK(run_checked(undo, clock));
    if (!exists(journal)) return {};
  }
  return Error{ErrorKind::kLeaked,
               "what hardening changed on this computer could not be put back; " + journal + " says what was found"};
}

}  // namespace

std::vector<int> processes_of(const std::string& folder) {
  std::vector<int> found;
  auto names = list_dir("/proc");
  if (!names) return found;
  for (const auto& name : *names) {
    auto pid = parse_int(name);
    if (pid && *pid != getpid() && belongs(static_cast<int>(*pid), folder)) found.push_back(static_cast<int>(*pid));
  }
  return found;
}

Capabilities LocalProvider::capabilities() const {
  Capabilities can;
  can.root = geteuid() == 0;
  return can;
}

Status LocalProvider::check(const MachineSpec& spec) {
  utsname host{};
  uname(&host);
  if (!spec.arch.empty() && spec.arch != host.machine)
    return Error{ErrorKind::kUsage, "arch " + sanitize(spec.arch, 40) + ": provider local is this computer, which is " +
                                        std::string(host.machine)};
  if (!spec.options.empty())
    return Error{ErrorKind::kUsage, "option " + sanitize(spec.options.begin()->first, 60) +
                                        ": provider local takes this computer as it is and has no options"};
  return make_dirs(base_);
}

Result<std::vector<MachineTag>> LocalProvider::tags() const {
  std::vector<MachineTag> found;
  if (!exists(base_)) return found;
  BENCHCTL_TRY(auto names, list_dir(base_));
  for (const auto& name : names)
    if (auto tag = MachineTag::parse(name)) found.push_back(*tag);
  return found;
}

Result<Machine> LocalProvider::create(const MachineSpec&, const Lease& lease, const Bootstrap&) {
  BENCHCTL_TRY(MachineTag tag, MachineTag::of(lease));
  BENCHCTL_CHECK(make_dirs(base_));
  const std::string folder = base_ + "/" + tag.text();
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    return errno_error("mkdir " + folder, ErrorKind::kProvisioning);
  return describe(tag, folder);
}

Result<MachineState> LocalProvider::state(Machine& machine) {
  BENCHCTL_TRY(auto known, tags());
  for (const auto& tag : known) {
    if (tag.nonce != machine.nonce) continue;
    machine.endpoint = describe(tag, base_ + "/" + tag.text()).endpoint;
    return MachineState::kRunning;
  }
  return MachineState::kGone;
}

Status LocalProvider::destroy(const Machine& machine) {
  BENCHCTL_TRY(auto known, tags());
  for (const auto& tag : known) {
    if (tag.nonce != machine.nonce) continue;
    const std::string folder = base_ + "/" + tag.text();
    Deadline polite = Deadline::in(clock_, kPoliteTime), deadline = Deadline::in(clock_, kDestroyTime);
    for (bool first = true;; first = false) {
      auto running = processes_of(folder);
      if (running.empty()) break;
      if (deadline.passed(clock_)) {
        std::vector<std::string> left;
        for (int pid : running) left.push_back(std::to_string(pid));
        return Error{ErrorKind::kLeaked,
                     "machine " + tag.name() + ": processes " + join(left, " ") + " cannot be ended"};
      }
      bool late = polite.passed(clock_);
      if (first || late)
        for (int pid : running) send_signal(pid, folder, late ? SIGKILL : SIGTERM);
      clock_.sleep(std::chrono::milliseconds(20));
    }
    BENCHCTL_CHECK(put_back(folder, clock_));
    BENCHCTL_CHECK(remove_tree(folder));
  }
  return {};
}

Result<std::vector<Machine>> LocalProvider::list(const std::string& owner) {
  BENCHCTL_TRY(auto known, tags());
  std::vector<Machine> machines;
  for (const auto& tag : known)
    if (owner.empty() || tag.owner == owner) machines.push_back(describe(tag, base_ + "/" + tag.text()));
  return machines;
}

}  // namespace benchctl

#include "controller/cli/context.h"

#include <pwd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "lib/files.h"
#include "lib/text.h"

namespace benchctl {
namespace {

// Less than this and a run would end on a full disk: its log, the store's rows and the rounds that come home.
constexpr int64_t kMinFreeBytes = 64 << 20;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::string own_path() {
  char path[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  return length > 0 ? std::string(path, static_cast<size_t>(length)) : "";
}

// Where HOME is not set (cron, a service): the operator's policy holds there, too.
std::string home_of_user() {
  const passwd* us = getpwuid(geteuid());
  return us != nullptr && us->pw_dir != nullptr ? us->pw_dir : "";
}

std::string parent(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

int terminal_width() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40) return size.ws_col;
  return 100;
}

}  // namespace

Result<Context> read_context() {
  Context context;
  std::string user_home = variable("HOME");
  std::string binaries = parent(own_path());
  context.agent = binaries + "/benchagent";
  context.source_root = variable("BENCHCTL_ROOT");
  // <root>/build*/bin/benchctl
  if (context.source_root.empty()) context.source_root = parent(parent(binaries));
  if (!exists(context.source_root + "/workloads/CONTRACT.md"))
    return Error{ErrorKind::kUsage,
                 context.source_root + " holds no workloads/: set BENCHCTL_ROOT to the folder that has them"};
  context.user_home = user_home;
  context.home = variable("BENCHCTL_HOME");
  if (context.home.empty()) {
    std::string state = variable("XDG_STATE_HOME");
    if (state.empty() && user_home.empty())
      return Error{ErrorKind::kUsage,
                   "neither HOME nor BENCHCTL_HOME is set: say where results belong by BENCHCTL_HOME"};
    if (state.empty()) state = user_home + "/.local/state";
    context.home = state + "/benchctl";
  }
  context.local_dir = geteuid() == 0 ? "/var/lib/benchctl/local" : context.home + "/local";
  context.cache = variable("BENCHCTL_CACHE");
  if (context.cache.empty()) {
    std::string cache = variable("XDG_CACHE_HOME");
    if (cache.empty()) cache = geteuid() == 0 ? "/var/cache" : user_home.empty() ? context.home : user_home + "/.cache";
    context.cache = cache + "/benchctl";
  }
  for (std::string* path : {&context.home, &context.cache})
    if (path->front() != '/')
      return Error{ErrorKind::kUsage, *path + ": BENCHCTL_HOME and BENCHCTL_CACHE must be absolute paths"};
  context.python = variable("BENCHCTL_PYTHON");
  if (context.python.empty()) context.python = context.source_root + "/analysis/.venv/bin/python";
  context.policy = variable("BENCHCTL_POLICY");
  context.policy_named = !context.policy.empty();
  if (!context.policy_named) {
    std::string config = variable("XDG_CONFIG_HOME");
    if (config.empty()) config = (user_home.empty() ? home_of_user() : user_home) + "/.config";
    context.policy = config + "/benchctl/policy.toml";
  }
  // From another folder it would be another policy, or none.
  if (context.policy.front() != '/')
    return Error{ErrorKind::kUsage, context.policy + ": BENCHCTL_POLICY and XDG_CONFIG_HOME must be absolute paths"};
  std::string untrusted = variable("BENCHCTL_UNTRUSTED");
  context.untrusted = !untrusted.empty() && untrusted != "0";
  std::string min_free = variable("BENCHCTL_MIN_FREE");
  auto bytes = min_free.empty() ? std::optional(kMinFreeBytes) : parse_bytes(min_free);
  if (!bytes)
    return Error{ErrorKind::kUsage,
                 "BENCHCTL_MIN_FREE must be a size such as 64MiB, not \"" + sanitize(min_free, 60) + "\""};
  context.min_free_bytes = *bytes;
  context.terminal_errors = isatty(STDERR_FILENO) == 1;
  context.terminal_output = isatty(STDOUT_FILENO) == 1;
  context.colour = context.terminal_output && variable("NO_COLOR").empty();
  context.width = terminal_width();
  context.clock = std::make_unique<SystemClock>();
  std::string failpoint = variable("BENCHCTL_FAILPOINT");
  if (failpoint.empty()) {
    context.failpoints = std::make_unique<NoFailpoints>();
  } else {
    context.failpoints = std::make_unique<KillAt>(failpoint);
  }
  return context;
}

Status check_cache(const Context& context) {
  auto refused = [&](const std::string& why) {
    return Error{ErrorKind::kUsage, "cache folder " + sanitize(context.cache, 400) + ": " + why +
                                        "; set BENCHCTL_CACHE to a folder where you may write"};
  };
  // Traversed by the users that machines and trials run as.
  if (auto made = make_dirs(context.cache, 0755); !made) return refused(made.error().message);
  if (access(context.cache.c_str(), R_OK | W_OK | X_OK) != 0) return refused(std::strerror(errno));
  return {};
}

}  // namespace benchctl

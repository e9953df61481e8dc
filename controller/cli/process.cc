#include "controller/cli/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <set>

#include "lib/files.h"

extern char** environ;

namespace benchctl {

const std::vector<std::string>& credential_variables() {
  static const std::vector<std::string> kNames{
      "DIGITALOCEAN_TOKEN",    "DIGITALOCEAN_ACCESS_TOKEN", "HCLOUD_TOKEN",  "AWS_ACCESS_KEY_ID",
      "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN",         "VULTR_API_KEY", "LINODE_TOKEN"};
  return kNames;
}

bool keeps_variable(std::string_view name) {
  static const std::set<std::string_view> kKept{
      "HOME", "PATH", "TMPDIR", "USER", "LOGNAME", "SHELL", "TERM", "COLORTERM", "COLUMNS", "LINES", "NO_COLOR", "LANG",
      "TZ",
      // where our files are, and what sudo says of who called us
      "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "SUDO_UID", "SUDO_GID", "SUDO_USER",
      // package clients of builds (provisioning/command.h)
      "http_proxy", "https_proxy", "no_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY",
      "PIP_INDEX_URL", "NPM_CONFIG_REGISTRY", "GOPROXY"};
  // The dynamic linker's and the sanitisers' have done their work before main, but a second benchctl needs them again.
  return kKept.count(name) != 0 || name.starts_with("BENCHCTL_") || name.starts_with("LC_") ||
         name == "LD_LIBRARY_PATH" || name.ends_with("SAN_OPTIONS");
}

Result<Secrets> protect_process() {
  // A closed standard stream would be the next file that is opened: a store that error messages are written into.
  for (int fd = 0; fd <= 2; ++fd)
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd) return errno_error("open /dev/null");
  umask(077);
  rlimit none{0, 0};
  if (setrlimit(RLIMIT_CORE, &none) != 0) return errno_error("forbid core dumps");
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return errno_error("close this process's memory to others");
  return scrub_environment(keeps_variable, credential_variables());
}

int finish_output(int code) {
  std::cout.flush();
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good()) return code;
  const int reason = errno;
  pollfd output{STDOUT_FILENO, POLLOUT, 0};
  if (reason == EPIPE || (poll(&output, 1, 0) > 0 && (output.revents & POLLERR) != 0)) return code;
  std::cerr << "benchctl: standard output could not be written"
            << (reason != 0 ? std::string(": ") + std::strerror(reason) : "") << "\n";
  return code == 0 ? exit_code(ErrorKind::kInternal) : code;
}

std::vector<std::string> environment_with(const Secrets& secrets) {
  std::vector<std::string> entries;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) entries.emplace_back(*entry);
  for (const auto& [name, secret] : secrets) entries.push_back(name + "=" + std::string(secret.reveal()));
  return entries;
}

std::vector<std::string> terminal_environment() {
  std::vector<std::string> entries;
  for (const char* name : {"PATH", "HOME", "USER", "LOGNAME", "TERM", "COLORTERM", "LANG", "LC_ALL", "LC_CTYPE", "TZ"})
    if (const char* value = std::getenv(name)) entries.push_back(std::string(name) + "=" + value);
  return entries;
}

}  // namespace benchctl

#include "agent/quiet/world.h"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>

#include "lib/files.h"
#include "lib/text.h"

namespace benchctl {

std::optional<std::string> QuietWorld::text(const std::string& absolute) const {
  auto content = read_pseudo_file(path(absolute), 64 << 10);
  if (!content) return std::nullopt;
  return std::string(trim(*content));
}

std::vector<std::string> QuietWorld::list(const std::string& absolute) const {
  auto names = list_dir(path(absolute));
  return names ? *names : std::vector<std::string>();
}

Status QuietWorld::write(const std::string& absolute, std::string_view value) const {
  // No O_CREAT: what is not there is not offered. O_TRUNC is for a root that is a plain folder.
  UniqueFd fd(open(path(absolute).c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
  ssize_t count = fd ? ::write(fd.get(), value.data(), value.size()) : -1;
  if (count == static_cast<ssize_t>(value.size())) return {};
  bool refused = errno == EROFS || errno == EACCES || errno == EPERM || errno == EINVAL || errno == ENODEV ||
                 errno == EOPNOTSUPP || errno == ENOENT;
  return errno_error("write " + absolute, refused ? ErrorKind::kRejected : ErrorKind::kInternal);
}

std::string host_knobs_obstacle(const QuietWorld& world) {
  // systemd-nspawn, docker, podman and lxc say what they are; private users tell themselves.
  if (auto kind = world.text("/run/systemd/container"); kind && !kind->empty())
    return "this is a container (" + sanitize(*kind, 40) + "): the knob is its host's";
  if (exists(world.path("/.dockerenv")) || exists(world.path("/run/.containerenv")))
    return "this is a container: the knob is its host's";
  if (auto map = world.text("/proc/self/uid_map"); map && !map->empty()) {
    std::vector<std::string> words;
    for (std::string_view word : split(*map, ' '))
      if (!trim(word).empty()) words.emplace_back(trim(word));
    if (words != std::vector<std::string>{"0", "0", "4294967295"})
      return "this machine has private users: the knob is its host's";
  }
  struct statvfs mount {};
  if (statvfs(world.path("/proc/sys").c_str(), &mount) == 0 && (mount.f_flag & ST_RDONLY) != 0)
    return "/proc/sys is read-only here";
  return "";
}

}  // namespace benchctl

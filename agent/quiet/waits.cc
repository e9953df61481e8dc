#include "agent/quiet/waits.h"

#include <fcntl.h>

#include <algorithm>
#include <functional>

#include "lib/files.h"
#include "lib/json.h"
#include "lib/text.h"

namespace benchctl {
namespace {

constexpr Nanos kStep = std::chrono::milliseconds(500);

// What holds us up, in words; empty: nothing does. kRejected: it never will be good.
using Obstacle = std::function<Result<std::string>()>;

HardenRow wait_for(const QuietWorld& world, const std::string& target, const std::string& requested, int64_t bound_ms,
                   const Obstacle& obstacle) {
  HardenRow row{"wait", target, requested, "", "", "already", ""};
  const Deadline deadline = Deadline::in(world.clock, std::chrono::milliseconds(bound_ms));
  auto held = obstacle();
  row.found = !held || held->empty() ? requested : *held;
  while (held && !held->empty() && !deadline.passed(world.clock)) {
    row.status = "applied";
    world.clock.sleep(std::min(kStep, std::max(deadline.left(world.clock), Nanos(1))));
    held = obstacle();
  }
  row.read_back = held && held->empty() ? requested : held ? *held : "";
  if (held && held->empty()) return row;
  row.status = "failed";
  row.reason = held ? "still so after " + format_seconds(static_cast<double>(bound_ms) / 1000) : held.error().message;
  return row;
}

// The documents that cloud-init keeps in /run: result.json is its very last act, and asking `cloud-init status` would
// cost a Python start a look.
Result<std::string> cloud_init_obstacle(const QuietWorld& world, const std::string& marker) {
  auto result = world.text("/run/cloud-init/result.json");
  if (!result) {
    auto status = world.text("/run/cloud-init/status.json");
    auto json = Json::parse(status.value_or(""), {.bytes = 64 << 10, .depth = 16, .values = 5000});
    std::string stage = json ? (*json)["v1"]["stage"].as_string() : "";
    return "running" + (stage.empty() ? "" : " (" + sanitize(stage, 60) + ")");
  }
  if (!marker.empty() && !exists(world.path(marker))) return "done, but without " + marker;
  auto json = Json::parse(*result, {.bytes = 64 << 10, .depth = 16, .values = 5000});
  if (!json) return Error{ErrorKind::kRejected, "/run/cloud-init/result.json is no JSON"};
  const Json& errors = (*json)["v1"]["errors"];
  // With the marker it has done what was asked of it, whatever else went wrong.
  if (!errors.as_array().empty() && marker.empty())
    return Error{ErrorKind::kRejected, "cloud-init ended with errors: " + sanitize(errors.dump(), 600)};
  return std::string();
}

HardenRow wait_for_cloud_init(const QuietWorld& world, const HardenProfile& profile) {
  HardenRow row{"wait", "cloud-init", "done", "", "", "absent", ""};
  bool off = exists(world.path("/etc/cloud/cloud-init.disabled")) || exists(world.path("/run/cloud-init/disabled"));
  bool seen = exists(world.path("/run/cloud-init/status.json")) || exists(world.path("/run/cloud-init/enabled"));
  if (!exists(world.path("/usr/bin/cloud-init")) && !seen) {
    row.reason = "not installed";
  } else if (!seen || (off && !exists(world.path("/run/cloud-init/status.json")))) {
    row.reason = "installed, but disabled";
  } else {
    return wait_for(world, "cloud-init", "done", profile.cloud_init_wait_ms,
                    [&] { return cloud_init_obstacle(world, profile.cloud_init_marker); });
  }
  return row;
}

// The process that holds a POSIX lock on the whole file, by F_GETLK.
std::string lock_holder(const QuietWorld& world, const std::string& path) {
  UniqueFd fd(open(world.path(path).c_str(), O_RDONLY | O_CLOEXEC));
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (!fd || fcntl(fd.get(), F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return "";
  const std::string pid = std::to_string(lock.l_pid);
  std::string command = world.text("/proc/" + pid + "/cmdline").value_or("");
  std::replace(command.begin(), command.end(), '\0', ' ');
  return path + " is held by process " + pid + " (" + sanitize(trim(command), 120) + ")";
}

HardenRow wait_for_dpkg(const QuietWorld& world, const HardenProfile& profile) {
  static constexpr const char* kLocks[] = {"/var/lib/dpkg/lock-frontend", "/var/lib/dpkg/lock",
                                           "/var/lib/apt/lists/lock"};
  if (!exists(world.path("/var/lib/dpkg")))
    return {"wait", "dpkg lock", "free", "", "", "absent", "this system has no dpkg"};
  return wait_for(world, "dpkg lock", "free", profile.dpkg_wait_ms, [&]() -> Result<std::string> {
    for (const char* path : kLocks)
      if (std::string holder = lock_holder(world, path); !holder.empty()) return holder;
    return std::string();
  });
}

}  // namespace

std::vector<HardenRow> wait_before(const QuietWorld& world, const HardenProfile& profile) {
  std::vector<HardenRow> rows;
  if (profile.cloud_init_wait_ms > 0) rows.push_back(wait_for_cloud_init(world, profile));
  if (profile.dpkg_wait_ms > 0) rows.push_back(wait_for_dpkg(world, profile));
  return rows;
}

}  // namespace benchctl

#include <sys/statvfs.h>
#include <climits>
#include <cstdlib>

#include "agent/facts/cpu_text.h"
#include "agent/facts/fsync_probe.h"
#include "agent/facts/system_text.h"
#include "agent/facts/world.h"
#include "lib/files.h"
#include "lib/text.h"

namespace benchctl {
namespace {

constexpr int kProbeWrites = 200;
constexpr Nanos kProbeLimit = std::chrono::seconds(20);

// lsblk's tree cut to what describes a disk; at most 64 devices.
std::optional<Json> block_devices(const World& world, std::string& why) {
  auto printed = world.tools.run({"lsblk", "-J", "-b", "-o", "NAME,TYPE,SIZE,ROTA,SCHED,MODEL"});
  auto json = printed ? Json::parse(*printed, {.bytes = 4 << 20, .depth = 32, .values = 100'000}) : printed.error();
  if (!json) {
    why = "lsblk: " + sanitize(json.error().message, 200);
    return std::nullopt;
  }
  Json devices = Json::array();
  for (const Json& one : (*json)["blockdevices"].as_array()) {
    if (devices.as_array().size() >= 64) break;
    Json kept = Json::object();
    for (const char* key : {"name", "type", "size", "rota", "sched", "model"})
      kept.set(key, one[key].is_array() || one[key].is_object() ? Json() : one[key]);
    devices.push(std::move(kept));
  }
  return devices;
}

void set_queue(FactGroup& group, const World& world, const Mount& mount) {
  // A partition has no queue of its own: its disk, one folder up, has.
  std::string device = "/sys/dev/block/" + mount.device;
  std::string queue = device + (world.line(device + "/partition") ? "/../queue/" : "/queue/");
  std::string why =
      mount.device.starts_with("0:") ? mount.filesystem + " has no block device of its own" : "no " + queue;
  auto scheduler = world.line(queue + "scheduler");
  auto chosen = scheduler ? parse_bracketed(*scheduler) : std::nullopt;
  group.set("scheduler", chosen ? chosen : scheduler, why);
  auto rotational = world.number(queue + "rotational");
  group.set("rotational", rotational ? std::optional(*rotational != 0) : std::nullopt, why);
  group.set("write_cache", world.line(queue + "write_cache"), why);
  group.set("loop_file", world.line(device + "/loop/backing_file"), "not a loop device");
}

void set_space(FactGroup& group, const std::string& workdir) {
  struct statvfs st {};
  if (statvfs(workdir.c_str(), &st) != 0) {
    for (const char* key : {"size_bytes", "free_bytes"}) group.none(key, errno_error("statvfs " + workdir).message);
    return;
  }
  group.set("size_bytes", static_cast<int64_t>(st.f_blocks) * static_cast<int64_t>(st.f_frsize));
  group.set("free_bytes", static_cast<int64_t>(st.f_bavail) * static_cast<int64_t>(st.f_frsize));
}

void set_fsync(FactGroup& group, const World& world, const std::string& workdir, const std::string& why_not) {
  auto probed = why_not.empty() ? probe_fsync(workdir, kProbeWrites, kProbeLimit, world.clock)
                                : Result<FsyncLatency>(Error{ErrorKind::kInternal, why_not});
  if (!probed) {
    for (const char* key : {"fsync_writes", "fsync_p50_us", "fsync_p99_us", "fsync_max_us"})
      group.none(key, probed.error().message);
    return;
  }
  group.set("fsync_writes", probed->writes);
  group.set("fsync_p50_us", static_cast<double>(probed->p50_ns) / 1000);
  group.set("fsync_p99_us", static_cast<double>(probed->p99_ns) / 1000);
  group.set("fsync_max_us", static_cast<double>(probed->max_ns) / 1000);
}

}  // namespace

Json disk_facts(const World& world, const std::string& workdir, bool probe) {
  FactGroup group;
  std::string why;
  auto devices = block_devices(world, why);
  group.set("devices", devices, why);

  char resolved[PATH_MAX];
  std::string path = workdir;
  if (world.live() && !workdir.empty() && realpath(workdir.c_str(), resolved) != nullptr) path = resolved;
  auto text = world.read("/proc/self/mountinfo");
  auto mount = text && !path.empty() ? mount_of(parse_mountinfo(*text), path) : std::nullopt;
  if (mount) {
    group.set("filesystem", mount->filesystem);
    group.set("mount_point", mount->point);
    group.set("mount_options", mount->options.substr(0, 4096));
    group.set("source", mount->source);
    group.set("device", mount->device);
    set_queue(group, world, *mount);
  } else {
    std::string reason = path.empty() ? "no work directory was named" : "/proc/self/mountinfo has no mount for it";
    for (const char* key : {"filesystem", "mount_point", "mount_options", "source", "device", "scheduler", "rotational",
                            "write_cache", "loop_file"})
      group.none(key, reason);
  }
  std::string why_not = workdir.empty() ? "no work directory was named"
                        : !world.live() ? "a captured tree has no disk"
                        : !probe        ? "not asked for"
                                        : "";
  if (workdir.empty() || !world.live()) {
    for (const char* key : {"size_bytes", "free_bytes"}) group.none(key, why_not);
  } else {
    set_space(group, workdir);
  }
  set_fsync(group, world, workdir, why_not);
  return std::move(group).take();
}

}  // namespace benchctl

#include "provisioning/providers/loop_devices.h"

#include <fcntl.h>
#include <linux/loop.h>
#include <sys/ioctl.h>

#include "lib/files.h"
#include "lib/text.h"

namespace benchctl {

std::vector<std::string> loop_devices_of(const std::string& path) {
  std::vector<std::string> found;
  auto names = list_dir("/sys/block");
  if (!names) return found;
  for (const auto& name : *names) {
    if (name.rfind("loop", 0) != 0) continue;
    auto backing = read_pseudo_file("/sys/block/" + name + "/loop/backing_file");
    if (backing && (trim(*backing) == path || trim(*backing) == path + " (deleted)")) found.push_back("/dev/" + name);
  }
  return found;
}

Status detach_loop_devices(const std::string& path, Clock& clock, Deadline deadline) {
  for (int turn = 0;; ++turn) {
    auto devices = loop_devices_of(path);
    if (devices.empty()) return {};
    if (deadline.passed(clock))
      return Error{ErrorKind::kLeaked,
                   "loop device " + join(devices, " ") + " still holds " + path + "; losetup -d " + devices[0]};
    // They clear themselves with the mount; a second is patience enough.
    if (turn > 100)
      for (const auto& device : devices) {
        UniqueFd fd(open(device.c_str(), O_RDONLY | O_CLOEXEC));
        if (fd) ioctl(fd.get(), LOOP_CLR_FD, 0);
      }
    clock.sleep(std::chrono::milliseconds(10));
  }
}

}  // namespace benchctl

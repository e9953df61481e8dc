#include "controller/plan/plan_source.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include <cstdlib>
#include <vector>

#include "lib/files.h"
#include "lib/text.h"

namespace benchctl {
namespace {

constexpr int64_t kPlanBytes = 1 << 20;

std::string folder_of(const std::string& path) {
  size_t slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

// The file's real folder, then upwards.
std::string root_of(const std::string& file) {
  char* real = realpath(file.c_str(), nullptr);
  if (real == nullptr) return "";
  std::string folder = folder_of(real);
  free(real);
  for (std::string parent = folder; !parent.empty(); parent = parent == "/" ? "" : folder_of(parent))
    if (exists(parent + "/.git")) return parent;
  return folder;
}

}  // namespace

MachineShape host_shape() {
  MachineShape shape;
  // The kernel refuses a set that is smaller than its own, which glibc's fixed one is on hosts of more than 1,024 CPUs.
  std::vector<cpu_set_t> set(64);
  if (sched_getaffinity(0, set.size() * sizeof set[0], set.data()) == 0)
    shape.cpus = CPU_COUNT_S(set.size() * sizeof set[0], set.data());
  struct utsname name {};
  if (uname(&name) == 0) shape.arch = name.machine;
  return shape;
}

Result<PlanSource> load_plan_source(const std::string& file) {
  PlanSource source;
  source.file = sanitize(file, 200);
  BENCHCTL_TRY(source.text, read_file(file, kPlanBytes));
  source.root = root_of(file);
  if (source.root.empty()) return errno_error("find the folder of " + source.file, ErrorKind::kUsage);
  source.host = host_shape();
  return source;
}

std::string without_dot(const std::string& relative) {
  return relative.starts_with("./") ? relative.substr(2) : relative;
}

Status check_beneath(const std::string& root, const std::string& relative) {
  std::string path = without_dot(relative);
  if (!safe_relative_path(path))
    return Error{ErrorKind::kUsage, "must be a path below the plan's root, without .. and not absolute, not " +
                                        ("\"" + sanitize(relative, 80) + "\"")};
  BENCHCTL_TRY(UniqueFd folder, open_dir(root));
  auto opened = open_beneath(folder.get(), path, O_RDONLY);
  if (!opened)
    return Error{ErrorKind::kUsage, "cannot be read below " + sanitize(root, 200) + ": " + opened.error().message};
  struct stat st {};
  if (fstat(opened->get(), &st) != 0) return errno_error("stat " + path, ErrorKind::kUsage);
  if (!S_ISREG(st.st_mode)) return Error{ErrorKind::kUsage, "\"" + sanitize(path, 80) + "\" is a folder, not a file"};
  return {};
}

}  // namespace benchctl

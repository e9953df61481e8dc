#include "agent/exec/cpu_list.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>

#include "lib/files.h"

namespace benchctl {
namespace {

constexpr int kMaxCpus = 65536;  // what parse_cpu_list accepts
constexpr int kWordBits = sizeof(unsigned long) * CHAR_BIT;
using Mask = unsigned long[kMaxCpus / kWordBits];

}  // namespace

// The raw system call: glibc's fixed cpu_set_t ends at 1,024 CPUs.
Result<std::vector<int>> allowed_cpus() {
  Mask mask{};
  long bytes = syscall(SYS_sched_getaffinity, 0, sizeof mask, mask);
  if (bytes < 0) return errno_error("sched_getaffinity");
  std::vector<int> cpus;
  for (int cpu = 0; cpu < static_cast<int>(bytes) * CHAR_BIT; ++cpu)
    if ((mask[cpu / kWordBits] >> (cpu % kWordBits) & 1) != 0) cpus.push_back(cpu);
  return cpus;
}

int set_affinity(const std::vector<int>& cpus) {
  Mask mask{};
  for (int cpu : cpus) mask[cpu / kWordBits] |= 1UL << (cpu % kWordBits);
  return syscall(SYS_sched_setaffinity, 0, sizeof mask, mask) == 0 ? 0 : errno;
}

}  // namespace benchctl

// The fleet options of provider nspawn, parsed and bounded.
#pragma once

#include <cstdint>

#include "lib/result.h"
#include "provisioning/provider.h"
#include "provisioning/providers/cgroups.h"

namespace benchctl {

struct NspawnShape {
  CgroupLimits limits;
  int64_t disk_bytes = int64_t{2} << 30;  // sparse: costs what is written
  int64_t root_bytes = int64_t{1} << 30;  // memory

  // kUsage, naming the option, for what is unknown or makes no sense on this computer.
  static Result<NspawnShape> parse(const MachineSpec& spec);
};

}  // namespace benchctl

// Any bytes as what an agent says of a build: refused, or a record that survives being written and contradicts itself
// nowhere.
#include <cstdint>
#include <cstdlib>

#include "lib/wire/machine_build.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace benchctl;
  auto build = parse_machine_build({reinterpret_cast<const char*>(data), size});
  if (!build) return 0;
  if (build->ok != build->why.empty() || (build->ok && build->sha256.size() != 64)) std::abort();
  const std::string written = to_json(*build).dump();
  auto again = parse_machine_build(written);
  if (!again || to_json(*again).dump() != written) std::abort();
  return 0;
}

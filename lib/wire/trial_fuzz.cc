// Any bytes as trial.json or as a job: refused, or a record that survives being written.
#include <cstdint>
#include <cstdlib>

#include "lib/wire/job.h"
#include "lib/wire/trial.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace benchctl;
  auto json =
      Json::parse({reinterpret_cast<const char*>(data), size}, {.bytes = 1 << 20, .depth = 16, .values = 10'000});
  if (!json) return 0;
  if (auto record = trial_from_json(*json)) {
    std::string text = to_json(*record).dump();
    auto again = trial_from_json(*Json::parse(text));
    if (!again || to_json(*again).dump() != text) std::abort();
    if (record->verdict.empty() || record->spec.trial < 1 || record->spec.phases.empty()) std::abort();
  }
  if (auto job = job_from_json(*json)) {
    std::string text = to_json(*job).dump();
    auto again = job_from_json(*Json::parse(text));
    if (!again || to_json(*again).dump() != text) std::abort();
  }
  return 0;
}

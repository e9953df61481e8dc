// Any bytes as a report of hardening or as a profile: refused, or a record that survives being written.
#include <cstdint>
#include <cstdlib>

#include "lib/wire/harden.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace benchctl;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  if (auto report = parse_harden_report(text)) {
    std::string written = to_json(*report).dump();
    auto again = parse_harden_report(written);
    if (!again || to_json(*again).dump() != written) std::abort();
    if (report->proof.ok != report->proof.problems.empty()) std::abort();
  }
  auto json = Json::parse(text, {.bytes = 1 << 20, .depth = 16, .values = 10'000});
  if (!json) return 0;
  if (auto profile = harden_profile_from_json(*json)) {
    std::string written = to_json(*profile).dump();
    auto again = harden_profile_from_json(*Json::parse(written));
    if (!again || to_json(*again).dump() != written) std::abort();
    for (const HardenKnob& knob : profile->knobs)
      if (!check_knob(knob)) std::abort();
  }
  return 0;
}

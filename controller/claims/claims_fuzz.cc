// Any bytes as a file of claims: never a crash, always either claims that can be told to the analysis, or a message.
#include <cstdint>
#include <cstdlib>

#include "controller/claims/claim_json.h"
#include "controller/claims/claim_reader.h"
#include "controller/plan/plan_fixture.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace benchctl;
  auto file = parse_claims({reinterpret_cast<const char*>(data), size}, "c.toml", fixture::workloads());
  if (!file) {
    if (file.error().kind != ErrorKind::kUsage || file.error().message.empty()) std::abort();
    return 0;
  }
  Json json = Json::array();
  add_to(json, *file);
  if (json.as_array().empty() || !Json::parse(json.dump())) std::abort();
  return 0;
}

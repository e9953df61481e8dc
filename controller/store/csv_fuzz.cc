// Whatever is printed: no crash, no sample from a text with a mistake, and every sample well-formed and within the
// text.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "controller/store/result_csv.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  benchctl::CsvCaps caps;
  caps.rows = 1000;
  for (const char* format : {"sequential", "concurrent", "generic"}) {
    auto samples = benchctl::parse_result_csv(format, text, "stdout", caps);
    if (!samples.ok()) {
      require(samples.error().message.starts_with("stdout:"));
      require(samples.error().message.find('\n') == std::string::npos);
      continue;
    }
    require(!samples->empty() && text.back() == '\n');
    for (const benchctl::ResultSample& sample : *samples) {
      require(!sample.case_name.empty() && sample.case_name.size() <= caps.field_bytes);
      require(sample.case_name.data() >= text.data() && sample.case_name.data() < text.data() + text.size());
      require(!sample.value || std::isfinite(*sample.value));
      require(sample.iteration >= 0);
      require(sample.case_name.find_first_of(",\n\r\"") == std::string_view::npos);
    }
  }
  (void)benchctl::check_histogram_csv(text, "h", caps).ok();
  return 0;
}

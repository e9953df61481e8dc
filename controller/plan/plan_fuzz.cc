// Any bytes as a plan: never a crash, always either a plan that survives being written out, or a message.
// The text after a line "#set" is taken as --set words, one a line.
#include <cstdint>
#include <cstdlib>

#include "controller/plan/expand.h"
#include "controller/plan/plan_fixture.h"
#include "controller/plan/plan_text.h"
#include "lib/text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace benchctl;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> sets;
  if (size_t mark = text.find("\n#set\n"); mark != std::string_view::npos) {
    for (std::string_view word : split(text.substr(mark + 6), '\n'))
      if (!word.empty() && sets.size() < 8) sets.emplace_back(word);
    text = text.substr(0, mark);
  }
  auto plan = fixture::read(std::string(text), sets);
  if (!plan) {
    if (plan.error().kind != ErrorKind::kUsage || plan.error().message.empty()) std::abort();
    return 0;
  }
  const MachineShape host{2, "x86_64", 0, 1};
  std::string resolved = resolved_toml(*plan);
  auto again = fixture::read(resolved);
  if (!again || resolved_toml(*again) != resolved) std::abort();
  // Expansion is bounded by the reader's caps; small ones are gone through.
  if (plan->schedule.runs <= 10 && plan_show_json(*plan, fixture::workloads(), host)["trials"].as_int() < 1000 &&
      !expand(*plan, fixture::workloads(), host))
    std::abort();
  return 0;
}

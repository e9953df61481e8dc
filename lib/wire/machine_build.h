// What came of a recipe that the agent ran on its machine: JSON on the wire.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lib/json.h"
#include "lib/result.h"

namespace benchctl {

// What a recipe's script ends with when something that it needs is not on the machine; its last lines then say what.
inline constexpr int kToolsMissing = 69;

struct MachineBuild {
  bool ok = false;
  bool tools_missing = false;  // and therefore not ok
  bool again = false;          // made by an earlier call
  std::string why;             // not ok: one sentence
  std::string sha256;          // ok: of the bundle, which lies beside the others
  std::string toolchains;      // ok: NAME KEY=VALUE lines, what the tools say of themselves
  std::string log;             // the end of what the recipe printed
};

inline constexpr size_t kBuildLogBytes = 256 << 10;
inline constexpr size_t kBuildToolsBytes = 16 << 10;

Json to_json(const MachineBuild& build);
// With the caps of an answer from a machine. Strict in its shape; the texts are still foreign.
Result<MachineBuild> parse_machine_build(std::string_view text);

}  // namespace benchctl

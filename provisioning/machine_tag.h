// What a machine on this computer is called. Everything that reaping needs stands in the name itself, of its folder and
// of its cgroups, so that no file has to be whole for a machine to be found and destroyed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "provisioning/provider.h"

namespace benchctl {

struct MachineTag {
  std::string nonce;
  std::string owner;
  std::string run;
  int64_t expires_unix = 0;

  // "bc-<nonce>.<owner>.<expires>.<run>"; at most 160 bytes.
  std::string text() const;
  // The machine's name: "bc-<nonce>".
  std::string name() const { return "bc-" + nonce; }
  // nullopt for whatever text() could not have made: such a thing is not ours.
  static std::optional<MachineTag> parse(std::string_view text);
  // kUsage when a field could not be told from the name again.
  static Result<MachineTag> of(const Lease& lease);
};

}  // namespace benchctl

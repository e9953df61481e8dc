#include "provisioning/machine_tag.h"

#include "lib/text.h"

namespace benchctl {

std::string MachineTag::text() const {
  return name() + "." + owner + "." + std::to_string(expires_unix) + "." + run;
}

std::optional<MachineTag> MachineTag::parse(std::string_view text) {
  auto parts = split(text, '.');
  if (parts.size() != 4 || parts[0].substr(0, 3) != "bc-") return std::nullopt;
  auto expires = parse_int(parts[2]);
  MachineTag tag{std::string(parts[0].substr(3)), std::string(parts[1]), std::string(parts[3]), expires.value_or(-1)};
  if (!valid_id(tag.nonce) || !valid_id(tag.owner) || !valid_id(tag.run) || tag.expires_unix < 0) return std::nullopt;
  return tag;
}

Result<MachineTag> MachineTag::of(const Lease& lease) {
  MachineTag tag{lease.nonce, lease.owner, lease.run, lease.expires_unix};
  if (!parse(tag.text()))
    return Error{ErrorKind::kUsage, "lease " + sanitize(tag.text(), 200) + ": nonce, owner and run must be [a-z0-9-]"};
  return tag;
}

}  // namespace benchctl

// One-use keys: a host key that a machine is born with, a client key for one run.
#pragma once

#include <string>

#include "lib/clock.h"
#include "lib/result.h"
#include "provisioning/transport.h"

namespace benchctl {

// A new ed25519 pair by ssh-keygen. The private key touches the disk only in a private folder that is removed at once.
Result<SshIdentity> make_ssh_identity(Clock& clock);

// "SHA256:…" of a public key line, as ssh-keygen -l and ConnectRequest::host_key write it; kUsage when it is no such
// line.
Result<std::string> host_key_fingerprint(const std::string& public_key);

}  // namespace benchctl

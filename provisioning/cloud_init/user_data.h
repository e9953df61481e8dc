// What a new machine is told at its birth. Pure.
#pragma once

#include <string>

#include "provisioning/provider.h"
#include "provisioning/transport.h"

namespace benchctl {

// Root logs in with the client key and nothing else; the machine shows `host`'s key, so that the first connection can
// be pinned; the marker file is made last. Other host keys, of the image or of cloud-init, are deleted.
// The host key is for one use only: whatever runs on the machine may be able to read user-data.
Bootstrap user_data(const SshIdentity& host, const SshIdentity& client);

}  // namespace benchctl

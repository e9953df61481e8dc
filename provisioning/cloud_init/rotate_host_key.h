// Ends the life of user-data: the host key that came in it is replaced by one made on the machine, and every copy of
// user-data there is deleted.
#pragma once

#include <string>

#include "lib/clock.h"
#include "lib/result.h"
#include "provisioning/transport.h"

namespace benchctl {

// Over the pinned first connection: waits (within the deadline) until cloud-init has ended and `marker` is there, makes
// the new key, deletes the copies, keeps cloud-init from running at a reboot, lets sshd take the key up. Gives the new
// pin ("SHA256:…"); the old one is refused from then on, existing connections live. kProvisioning with cloud-init's own
// words when it reports errors.
Result<std::string> rotate_host_key(Transport& transport, Clock& clock, Deadline deadline,
                                    const std::string& marker = "/run/benchctl/ready");

}  // namespace benchctl

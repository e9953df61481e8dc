// A machine is born with a one-use host key from its user-data, which every process on it may be able to read. Over the
// first, pinned connection that key is replaced by one that was never anywhere else.
#pragma once

#include <string>
#include <vector>

#include "lib/result.h"
#include "provisioning/transport.h"

namespace benchctl {

// Where things lie on the machine; the defaults are Debian's and Ubuntu's.
struct HostKeyPlaces {
  std::string host_key = "/etc/ssh/ssh_host_ed25519_key";
  std::string cloud_data = "/var/lib/cloud";      // cloud-init's copies of user-data, the seed among them
  std::string cloud_runtime = "/run/cloud-init";  // and what it made of it
  std::string cloud_init_off = "/etc/cloud/cloud-init.disabled";
  // Makes sshd take the new key up and returns when it has. Empty: systemd's ssh.service or sshd.service; where only
  // ssh.socket is active, each connection starts an sshd that reads the key anew.
  std::vector<std::string> restart;
};

// "SHA256:…" of a public key line ("ssh-ed25519 AAAA… comment"), as ssh-keygen -l prints it.
Result<std::string> host_key_pin(const std::string& public_key_line);

// Makes the new key on the machine, deletes every copy of user-data and whatever still holds the old private key below
// cloud_data and cloud_runtime (a copy that stays is an error that names it), turns cloud-init off so that no reboot
// brings the old key back, and restarts sshd. One channel. Returns the new pin: the caller connects again with it; new
// connections with the old pin are refused. Call it when cloud-init has finished, as root.
Result<std::string> rotate_host_key(Transport& transport, Deadline deadline, const HostKeyPlaces& places = {});

}  // namespace benchctl

// A machine that exists already and is kept: where it is and how to log in, as a plan or the command line names it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lib/result.h"

namespace benchctl {

// In place of a host key: take the one that the machine shows at first, record it, and refuse any other ever after.
inline constexpr std::string_view kAcceptFirst = "accept-first";

struct SshHost {
  std::string host;  // an address, v4 or v6 without brackets, or a DNS name
  int port = 22;
  std::string user;
  std::string key_file;  // of the operator, on this computer; absolute, or "~/…"
  std::string host_key;  // "SHA256:…" or kAcceptFirst
  std::string become;    // "sudo" or empty
};

// An IPv4 or IPv6 address (a zone as in fe80::1%eth0 is allowed), or a DNS name.
bool valid_ssh_host(std::string_view host);
bool valid_ssh_user(std::string_view user);
// "SHA256:" and 43 characters of base64, as ssh-keygen -l prints it.
bool valid_host_key(std::string_view key);

// "10.0.0.7:22", "[fd00::7]:22"
std::string host_and_port(std::string_view host, int port);
// "[user@]host[:port]", an IPv6 address with a port in brackets. kUsage when it is no such word; what it does not name
// keeps its default.
Result<SshHost> parse_ssh_host(std::string_view word);

// An OpenSSH or PEM private key from a file of the operator: a regular file of this user that nobody else can read.
// kUsage otherwise, also when it is protected by a passphrase (we ask none, and use no ssh-agent).
Result<std::string> read_private_key(const std::string& path);

}  // namespace benchctl

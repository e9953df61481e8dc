#include "provisioning/cloud_init/ssh_keys.h"

#include <cstdint>
#include <cstdlib>
#include <optional>

#include "lib/files.h"
#include "lib/sha256.h"
#include "lib/text.h"
#include "provisioning/command.h"

namespace benchctl {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::optional<std::string> base64_decode(std::string_view text) {
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (char c : text) {
    size_t value = kAlphabet.find(c);
    if (value == std::string_view::npos) return std::nullopt;
    bits = bits << 6 | static_cast<uint32_t>(value);
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes += static_cast<char>(bits >> count & 0xFF);
    }
  }
  return bytes;
}

// Without padding, as OpenSSH prints fingerprints.
std::string base64_encode(std::string_view bytes) {
  std::string text;
  uint32_t bits = 0;
  int count = 0;
  for (unsigned char byte : bytes) {
    bits = bits << 8 | byte;
    for (count += 8; count >= 6; count -= 6) text += kAlphabet[bits >> (count - 6) & 63];
  }
  if (count > 0) text += kAlphabet[bits << (6 - count) & 63];
  return text;
}

}  // namespace

Result<SshIdentity> make_ssh_identity(Clock& clock) {
  const char* tmpdir = std::getenv("TMPDIR");
  // Memory where there is some: the key then never reaches a disk.
  std::string pattern = std::string(exists("/dev/shm")  ? "/dev/shm"
                                    : tmpdir != nullptr ? tmpdir
                                                        : "/tmp") +
                        "/bc-key-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) return errno_error("mkdtemp " + pattern);
  struct Folder {
    std::string path;
    ~Folder() { (void)remove_tree(path); }
  } folder{pattern};
  CommandSpec spec;
  spec.argv = {"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "benchctl", "-f", folder.path + "/key"};
  spec.deadline = Deadline::in(clock, std::chrono::seconds(30));
  BENCHCTL_CHECK(run_checked(spec, clock));
  SshIdentity identity;
  BENCHCTL_TRY(identity.private_key, read_file(folder.path + "/key", 16384));
  BENCHCTL_TRY(identity.public_key, read_file(folder.path + "/key.pub", 16384));
  identity.public_key = std::string(trim(identity.public_key));
  return identity;
}

Result<std::string> host_key_fingerprint(const std::string& public_key) {
  auto words = split(trim(public_key), ' ');
  auto blob = words.size() >= 2 ? base64_decode(words[1]) : std::nullopt;
  if (!blob || blob->size() < 16)
    return Error{ErrorKind::kUsage, "\"" + sanitize(public_key, 80) + "\" is no public key line"};
  std::string hex = sha256_hex(*blob), digest;
  for (size_t at = 0; at + 1 < hex.size(); at += 2)
    digest += static_cast<char>(std::strtol(hex.substr(at, 2).c_str(), nullptr, 16));
  return "SHA256:" + base64_encode(digest);
}

}  // namespace benchctl

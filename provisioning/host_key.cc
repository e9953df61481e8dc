#include "provisioning/host_key.h"

#include <cstdint>
#include <optional>

#include "lib/sha256.h"
#include "lib/text.h"

namespace benchctl {
namespace {

constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::optional<std::string> decode_base64(std::string_view text) {
  while (text.ends_with('=')) text.remove_suffix(1);
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (char c : text) {
    size_t value = kBase64.find(c);
    if (value == std::string_view::npos) return std::nullopt;
    bits = bits << 6 | static_cast<uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xff);
  }
  return bytes;
}

// Without padding, as OpenSSH writes fingerprints.
std::string encode_base64(std::string_view bytes) {
  std::string text;
  uint32_t bits = 0;
  int count = 0;
  for (unsigned char byte : bytes) {
    bits = bits << 8 | byte;
    count += 8;
    for (; count >= 6; count -= 6) text += kBase64[bits >> (count - 6) & 63];
  }
  if (count > 0) text += kBase64[bits << (6 - count) & 63];
  return text;
}

// $1 host key, $2 cloud data, $3 cloud runtime, $4 cloud-init.disabled, then the restart command if there is one.
// One line, for the sake of login shells that are not sh. The old key's third line is bytes of its private half: it is
// what is looked for afterwards. /run keeps cloud-init's status files, which hold no secrets.
constexpr const char* kRotateScript =
    "set -eu; umask 077; key=$1 data=$2 run=$3 off=$4; shift 4; "
    "secret=$(sed -n 3p \"$key\"); "
    "rm -f \"$key.new\" \"$key.new.pub\"; ssh-keygen -q -t ed25519 -N '' -C '' -f \"$key.new\"; "
    "chmod 644 \"$key.new.pub\"; mv -f \"$key.new.pub\" \"$key.pub\"; mv -f \"$key.new\" \"$key\"; "
    "rm -rf \"$data\"/instances/*/user-data* \"$data\"/instances/*/vendor-data* \"$data\"/instances/*/cloud-config.txt "
    "\"$data\"/instances/*/obj.pkl \"$data\"/instances/*/scripts \"$data\"/instance/user-data* \"$data\"/seed/* "
    "\"$run\"/instance-data*.json \"$run\"/combined-cloud-config.json; "
    "mkdir -p \"${off%/*}\"; : >\"$off\"; chmod 644 \"$off\"; "
    "for place in \"$data\" \"$run\"; do [ -d \"$place\" ] || continue; "
    "left=$(grep -rlF -e \"$secret\" \"$place\" || true); "
    "[ -z \"$left\" ] || { echo \"the old host key is still in $left\" >&2; exit 74; }; done; "
    "cat \"$key.pub\"; "
    "if [ $# -gt 0 ]; then \"$@\" >/dev/null </dev/null; exit; fi; "
    "for unit in ssh.service sshd.service; do "
    "if systemctl -q is-active \"$unit\"; then systemctl restart \"$unit\"; exit; fi; done; "
    "systemctl -q is-active ssh.socket || systemctl -q is-active sshd.socket || "
    "{ echo 'neither ssh.service nor ssh.socket is active' >&2; exit 75; }";

}  // namespace

Result<std::string> host_key_pin(const std::string& public_key_line) {
  auto words = split(trim(public_key_line), ' ');
  std::optional<std::string> blob;
  if (words.size() >= 2 && words[0] == "ssh-ed25519") blob = decode_base64(words[1]);
  // string "ssh-ed25519" (4 + 11 bytes) and string key (4 + 32 bytes), RFC 8709
  if (!blob || blob->size() != 51)
    return Error{ErrorKind::kProvisioning, "not an ed25519 public key: " + sanitize(public_key_line, 200)};
  std::string digest, hex = sha256_hex(*blob);
  for (size_t i = 0; i < hex.size(); i += 2) digest += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return "SHA256:" + encode_base64(digest);
}

Result<std::string> rotate_host_key(Transport& transport, Deadline deadline, const HostKeyPlaces& places) {
  std::vector<std::string> argv = {
      "sh", "-c", kRotateScript, "sh", places.host_key, places.cloud_data, places.cloud_runtime, places.cloud_init_off};
  argv.insert(argv.end(), places.restart.begin(), places.restart.end());
  BENCHCTL_TRY(CommandResult result, transport.run(argv, {.deadline = deadline, .output_cap = 4096}));
  if (!result.ok())
    return Error{ErrorKind::kProvisioning,
                 "replace the machine's host key: " +
                     (result.signal.empty() ? "exit " + std::to_string(result.exit_code) : "signal " + result.signal) +
                     ": " + sanitize(trim(result.errors), 500)};
  return host_key_pin(result.output);
}

}  // namespace benchctl

#include "provisioning/ssh_host.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "lib/files.h"
#include "lib/text.h"

namespace benchctl {
namespace {

constexpr int64_t kKeyBytes = 64 << 10;
// What the base64 of every unprotected OpenSSH key begins with: the magic word and the cipher "none".
constexpr std::string_view kOpenSshUnprotected = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmU";

bool is_alnum(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool all_of(std::string_view text, std::string_view also) {
  return std::all_of(text.begin(), text.end(),
                     [&](char c) { return is_alnum(c) || also.find(c) != std::string_view::npos; });
}

bool is_address(int family, const std::string& text) {
  unsigned char bytes[16];
  return inet_pton(family, text.c_str(), bytes) == 1;
}

bool passphrase_protected(const std::string& key) {
  if (key.find("ENCRYPTED") != std::string::npos) return true;  // PEM and PKCS#8
  size_t at = key.find("BEGIN OPENSSH PRIVATE KEY");
  if (at == std::string::npos) return false;
  std::string body;
  for (char c : key.substr(std::min(key.find('\n', at), key.size())))
    if (is_alnum(c)) body += c;
  return !std::string_view(body).starts_with(kOpenSshUnprotected);
}

}  // namespace

bool valid_ssh_host(std::string_view host) {
  if (host.empty() || host.size() > 253) return false;
  if (host.find(':') != std::string_view::npos) {
    size_t zone = host.find('%');
    if (zone != std::string_view::npos && (zone + 1 == host.size() || !all_of(host.substr(zone + 1), ".-_")))
      return false;
    return is_address(AF_INET6, std::string(host.substr(0, zone)));
  }
  auto labels = split(host, '.');
  // Whatever ends in a number is meant as an address.
  if (parse_int(labels.back())) return is_address(AF_INET, std::string(host));
  return std::all_of(labels.begin(), labels.end(), [](std::string_view label) {
    return !label.empty() && label.size() <= 63 && label.front() != '-' && label.back() != '-' && all_of(label, "-_");
  });
}

bool valid_ssh_user(std::string_view user) {
  return !user.empty() && user.size() <= 64 && user.front() != '-' && all_of(user, "_.-");
}

bool valid_host_key(std::string_view key) {
  constexpr std::string_view kStart = "SHA256:";
  return key.starts_with(kStart) && key.size() == kStart.size() + 43 && all_of(key.substr(kStart.size()), "+/");
}

std::string host_and_port(std::string_view host, int port) {
  bool v6 = host.find(':') != std::string_view::npos;
  return (v6 ? "[" : "") + std::string(host) + (v6 ? "]:" : ":") + std::to_string(port);
}

Result<SshHost> parse_ssh_host(std::string_view word) {
  auto bad = [&](const std::string& why) {
    return Error{ErrorKind::kUsage, "\"" + sanitize(word, 120) + "\" is no [user@]host[:port]: " + why};
  };
  SshHost result;
  std::string_view rest = word;
  if (size_t at = rest.rfind('@'); at != std::string_view::npos) {
    result.user = rest.substr(0, at);
    rest.remove_prefix(at + 1);
    if (!valid_ssh_user(result.user)) return bad("the user");
  }
  std::string_view port;
  if (rest.starts_with("[")) {
    size_t end = rest.find(']');
    if (end == std::string_view::npos) return bad("the bracket is not closed");
    result.host = rest.substr(1, end - 1);
    port = rest.substr(end + 1);
    if (result.host.find(':') == std::string::npos || (!port.empty() && port.front() != ':')) return bad("the address");
  } else {
    size_t colon = rest.find(':');
    bool v6 = colon != std::string_view::npos && rest.find(':', colon + 1) != std::string_view::npos;
    result.host = v6 ? rest : rest.substr(0, colon);
    if (!v6 && colon != std::string_view::npos) port = rest.substr(colon);
  }
  if (!valid_ssh_host(result.host)) return bad("the host must be an address or a DNS name");
  if (!port.empty()) {
    auto number = parse_int(port.substr(1));
    if (!number || *number < 1 || *number > 65535) return bad("the port must be from 1 to 65535");
    result.port = static_cast<int>(*number);
  }
  return result;
}

Result<std::string> read_private_key(const std::string& path) {
  const std::string what = "key file " + sanitize(path, 300);
  auto bad = [&](const std::string& why) { return Error{ErrorKind::kUsage, what + ": " + why}; };
  // Looked at and read through one descriptor; never waits for the writer of a pipe.
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return bad(std::strerror(errno));
  struct stat st {};
  if (fstat(fd.get(), &st) != 0) return bad(std::strerror(errno));
  if (!S_ISREG(st.st_mode)) return bad("not a regular file");
  if (st.st_uid != geteuid()) return bad("belongs to another user (uid " + std::to_string(st.st_uid) + ")");
  if ((st.st_mode & 077) != 0) return bad("others can read it: chmod 600 " + shell_quote(path));
  if (st.st_size > kKeyBytes) return bad("too long for a private key");
  std::string key(static_cast<size_t>(kKeyBytes) + 1, '\0');
  size_t length = 0;
  while (length < key.size()) {
    ssize_t count = read(fd.get(), key.data() + length, key.size() - length);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return bad(std::strerror(errno));
    if (count == 0) break;
    length += static_cast<size_t>(count);
  }
  key.resize(length);
  if (key.find("PRIVATE KEY-----") == std::string::npos)
    return bad("no private key in OpenSSH or PEM form (the public half is the one that ends in .pub)");
  if (passphrase_protected(key))
    return bad(
        "is protected by a passphrase, which cannot be asked for here, and ssh-agent is not used; make a key of its "
        "own for this: ssh-keygen -t ed25519 -N '' -f ~/.ssh/id_benchctl");
  return key;
}

}  // namespace benchctl

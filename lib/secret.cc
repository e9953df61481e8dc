#include "lib/secret.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "lib/files.h"
#include "lib/text.h"

extern char** environ;

namespace benchctl {
namespace {

constexpr size_t kSecretBytes = 16 << 10;  // a token is far shorter, a key pair of a cloud too

}  // namespace

Secret::Secret(std::string_view value) : bytes_(std::make_unique<char[]>(value.size())), size_(value.size()) {
  std::copy(value.begin(), value.end(), bytes_.get());
}

Secret::Secret(Secret&& other) noexcept : bytes_(std::move(other.bytes_)), size_(other.size_) {
  other.size_ = 0;
}

Secret& Secret::operator=(Secret&& other) noexcept {
  if (this == &other) return *this;
  wipe();
  bytes_ = std::move(other.bytes_);
  size_ = other.size_;
  other.size_ = 0;
  return *this;
}

Secret::~Secret() {
  wipe();
}

void Secret::wipe() {
  if (bytes_) explicit_bzero(bytes_.get(), size_);
}

Secrets scrub_environment(bool (*keep)(std::string_view name), const std::vector<std::string>& taken) {
  Secrets secrets;
  char** kept = environ;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    std::string_view text = *entry;
    std::string_view name = text.substr(0, text.find('='));
    if (keep(name)) {
      *kept++ = *entry;
      continue;
    }
    // The first of two entries of one name counts, as it does for getenv.
    if (std::find(taken.begin(), taken.end(), name) != taken.end() && name.size() + 1 < text.size())
      secrets.try_emplace(std::string(name), text.substr(name.size() + 1));
    explicit_bzero(*entry, text.size());
  }
  if (kept != nullptr) *kept = nullptr;
  return secrets;
}

Result<Secret> read_secret_file(const std::string& path) {
  std::string shown = sanitize(path, 400);
  auto refused = [&](const std::string& why) { return Error{ErrorKind::kUsage, shown + ": " + why}; };
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd) return errno_error("open " + shown, ErrorKind::kUsage);
  struct stat st {};
  if (fstat(fd.get(), &st) != 0) return errno_error("stat " + shown);
  if (!S_ISREG(st.st_mode)) return refused("not a regular file");
  if (st.st_uid != geteuid() && st.st_uid != 0) return refused("it belongs to another user");
  if ((st.st_mode & 077) != 0) return refused("others can read it: chmod 600 " + shell_quote(shown));
  std::vector<char> bytes(kSecretBytes + 1);
  size_t have = 0;
  for (ssize_t count; have < bytes.size(); have += static_cast<size_t>(count)) {
    count = read(fd.get(), bytes.data() + have, bytes.size() - have);
    if (count < 0) return errno_error("read " + shown);
    if (count == 0) break;
  }
  Secret secret(trim({bytes.data(), std::min(have, kSecretBytes)}));
  explicit_bzero(bytes.data(), bytes.size());
  if (have > kSecretBytes) return refused("larger than the limit of " + format_bytes(kSecretBytes));
  std::string_view value = secret.reveal();
  if (value.empty()) return refused("it is empty");
  if (std::any_of(value.begin(), value.end(), [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == 0x7F; }))
    return refused("it holds more than one word: a secret is one line without spaces");
  return secret;
}

}  // namespace benchctl

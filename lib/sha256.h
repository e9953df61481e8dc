// SHA-256 (FIPS 180-4). Our own because the static agent must not carry a crypto library; checked against the
// standard's vectors and against sha256sum.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "lib/result.h"

namespace benchctl {

class Sha256 {
 public:
  void update(std::string_view bytes);
  std::string hex();  // ends the computation; 64 lower-case digits

 private:
  void block(const unsigned char* data);
  std::array<uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, 64> buffer_{};
  uint64_t length_ = 0;
};

std::string sha256_hex(std::string_view bytes);
Result<std::string> sha256_file(const std::string& path);
bool valid_sha256(std::string_view hex);

}  // namespace benchctl

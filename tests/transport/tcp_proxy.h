// A TCP relay on loopback whose link can be made to stop without a word, or be cut.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include "lib/files.h"

namespace benchctl::testing {

class TcpProxy {
 public:
  explicit TcpProxy(int target_port);
  ~TcpProxy();
  TcpProxy(const TcpProxy&) = delete;
  TcpProxy& operator=(const TcpProxy&) = delete;
  int port() const { return port_; }

  // After so many bytes in both directions together: nothing is forwarded any more (stall), or both sides are reset.
  void stall_after(int64_t bytes) { stall_after_ = bytes; }
  void cut_after(int64_t bytes) { cut_after_ = bytes; }
  int64_t forwarded() const { return forwarded_; }

 private:
  void loop();
  int target_port_, port_;
  UniqueFd listener_, stop_;
  std::atomic<int64_t> stall_after_ = INT64_MAX, cut_after_ = INT64_MAX, forwarded_ = 0;
  std::thread thread_;
};

}  // namespace benchctl::testing

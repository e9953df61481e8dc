// What hardening sees of a machine and may do to it: files below a root, tools, time.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/facts/tool.h"
#include "lib/clock.h"
#include "lib/result.h"

namespace benchctl {

class Commands {
 public:
  virtual ~Commands() = default;
  // run_tool() of agent/facts/tool.h.
  virtual Result<ToolEnd> run(const std::vector<std::string>& argv, Nanos time, bool errors_too) = 0;
};

class SystemCommands final : public Commands {
 public:
  explicit SystemCommands(Clock& clock) : clock_(clock) {}
  Result<ToolEnd> run(const std::vector<std::string>& argv, Nanos time, bool errors_too) override {
    return run_tool(argv, {.time = time, .output_bytes = 8 << 20}, errors_too, clock_);
  }

 private:
  Clock& clock_;
};

struct QuietWorld {
  std::string root;  // without trailing slash: "" is the running system
  Commands& commands;
  Clock& clock;

  std::string path(const std::string& absolute) const { return root + absolute; }
  // The first 64 KiB, trimmed; nothing when it cannot be read.
  std::optional<std::string> text(const std::string& absolute) const;
  std::vector<std::string> list(const std::string& absolute) const;  // names; empty when absent
  // One write(2) to a file of /proc or /sys. kRejected when the kernel refuses it (read-only, not permitted, not
  // supported, invalid there).
  Status write(const std::string& absolute, std::string_view value) const;
};

// Why knobs of the kernel and the CPU are not this machine's to turn: it is a container, has private users, or
// /proc/sys is read-only. Empty: they are. What a container would change there, it would change for its host.
std::string host_knobs_obstacle(const QuietWorld& world);

}  // namespace benchctl

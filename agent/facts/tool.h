// Runs small system tools, bounded: no shell, a fixed environment (LC_ALL=C), a limit on time and on output.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "lib/clock.h"
#include "lib/result.h"

namespace benchctl {

struct ToolLimits {
  Nanos time = std::chrono::seconds(5);
  int64_t output_bytes = 4 << 20;
};

struct ToolEnd {
  int exit_code = 0;
  std::string output;
};

// Runs one tool to its end. argv[0] is looked for in the system's folders only, never in $PATH. It gets a process group
// of its own, which is killed as a whole when a limit is passed: that is an error, as is a tool that is not installed
// or dies of a signal. stdin is /dev/null, and so is stderr unless `errors_too` puts it into the output.
Result<ToolEnd> run_tool(const std::vector<std::string>& argv, const ToolLimits& limits, bool errors_too, Clock& clock);

class Tools {
 public:
  virtual ~Tools() = default;
  // What the tool printed on stdout, whatever its exit code when it printed something; an error names the reason in a
  // few words ("not installed", "exit 1", "no answer within 5 s").
  virtual Result<std::string> run(const std::vector<std::string>& argv) = 0;
};

class SystemTools final : public Tools {
 public:
  using Limits = ToolLimits;
  explicit SystemTools(Clock& clock) : SystemTools(clock, Limits{}) {}
  SystemTools(Clock& clock, Limits limits) : clock_(clock), limits_(limits) {}
  Result<std::string> run(const std::vector<std::string>& argv) override;

 private:
  Clock& clock_;
  Limits limits_;
};

// Has no tool at all: for captured trees.
class NoTools final : public Tools {
 public:
  Result<std::string> run(const std::vector<std::string>&) override {
    return Error{ErrorKind::kInternal, "tools are not run here"};
  }
};

}  // namespace benchctl

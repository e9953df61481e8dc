// Programs of this computer, run to their end within a deadline. Every call of another program by the controller goes
// through here; the agent's trials do not (agent/exec).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/clock.h"
#include "lib/result.h"
#include "provisioning/transport.h"

namespace benchctl {

struct CommandSpec {
  std::vector<std::string> argv;  // argv[0] without a slash is searched in the child's PATH
  std::string cwd;                // empty: ours
  // The whole environment as KEY=VALUE. Empty: default_environment().
  std::vector<std::string> env;
  std::string input;                                // standard input, then end of file
  Deadline deadline;                                // must be set
  std::function<void(std::string_view)> on_output;  // pieces of both streams as they come, in the caller's thread;
                                                    // standard output is then not collected
  int64_t output_cap = 8 << 20;                     // more standard output is an error, and the command is ended
  int64_t error_cap = 256 << 10;                    // what standard error holds beyond is dropped
  std::function<bool()> stop;                       // asked once a second; true ends the command, kInterrupted
  // Nothing of the command's process group outlives it, nor us, however we end: for compilers, which would go on
  // writing where the next build writes.
  bool whole_group = false;
};

// PATH, HOME, LANG=C.UTF-8, TMPDIR and the package clients' proxy settings: nothing else of ours (tokens above all)
// reaches another program.
std::vector<std::string> default_environment();

// Where `program` would be found with that PATH; nullopt when nowhere.
std::optional<std::string> find_program(const std::string& program, const std::string& path);
std::optional<std::string> find_program(const std::string& program);  // with the default environment's PATH

// Runs the command in a session of its own. An Error (kInternal, naming the program) when it is missing, cannot be
// started or outlives the deadline: its whole process group is then killed and reaped. A background child that keeps
// the pipes open does not hold us up. The command dies with the calling thread. Safe from any thread; leaves no zombie
// and no descriptor behind.
Result<CommandResult> run_command(const CommandSpec& spec, Clock& clock);

// The same, and any end but exit code 0 is an Error that quotes the last line of standard error. Gives standard output.
Result<std::string> run_checked(const CommandSpec& spec, Clock& clock);

}  // namespace benchctl

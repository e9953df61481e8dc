// One command on a session: its channel from open to close. Internal to this folder.
#pragma once

#include <memory>
#include <string>

#include "lib/clock.h"
#include "lib/result.h"
#include "provisioning/ssh/session.h"
#include "provisioning/transport.h"

namespace benchctl {

struct ChannelNotes {
  int64_t sent = 0;  // bytes of the command's own input and output
  int64_t received = 0;
  Nanos start_time{0};        // from asking until the command began: what the login shell took
  std::string shell_printed;  // what start-up files printed before it
};

// The command line that any login shell (sh, csh, fish …) turns into exactly these words, run as root through sudo when
// `become` says so. It first prints `marker` on a line of its own: what start-up files print comes before it and is
// dropped.
std::string remote_command_line(const std::vector<std::string>& argv, const std::string& marker,
                                const std::string& become);

// Runs `argv` to its end. The caller has set a watchdog on the session that fires after the deadline. Error messages do
// not name the machine yet.
Result<CommandResult> run_channel(Session& session, Clock& clock, const std::vector<std::string>& argv,
                                  const std::string& become, const RunOptions& options, ChannelNotes& notes);

}  // namespace benchctl

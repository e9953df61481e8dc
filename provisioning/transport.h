// Commands on a machine, with their input and output as streams. Everything else (files, the agent) is built on run():
// one channel a call, counted.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lib/clock.h"
#include "lib/result.h"
#include "provisioning/provider.h"

namespace benchctl {

// Gives the next piece of standard input, empty at its end.
using ByteSource = std::function<Result<std::string>()>;

struct RunOptions {
  Deadline deadline;
  ByteSource input;                                   // none: standard input is empty
  std::function<Status(std::string_view)> on_output;  // none: collected into CommandResult::output, at most output_cap
  int64_t output_cap = 8 << 20;                       // more is an error, and the command is ended
  int64_t error_cap = 256 << 10;  // standard error is always collected; what is over the cap is dropped
};

// A command that ended by itself. One that could not be started, whose end was not seen or that outlived the deadline
// is an Error of kind kProvisioning instead: "no exit status" is never a success.
struct CommandResult {
  int exit_code = 0;
  std::string signal;  // "KILL" when ended by a signal; exit_code is then meaningless
  std::string output;
  std::string errors;
  bool ok() const { return signal.empty() && exit_code == 0; }
};

struct TransportCounts {
  int64_t connects = 0;
  int64_t channels = 0;
  int64_t bytes_sent = 0;
  int64_t bytes_received = 0;
};

// In the message of an Error of run(): the machine has not begun to run the command, so nothing of it was done.
inline constexpr std::string_view kNotStarted = "not started: ";

class Transport {
 public:
  virtual ~Transport() = default;
  // argv is quoted for the remote shell here and nowhere else.
  virtual Result<CommandResult> run(const std::vector<std::string>& argv, const RunOptions& options) = 0;
  virtual TransportCounts counts() const = 0;
  // What a user should know of this connection although it works: a login shell that is slow or prints, packets that
  // had to be made smaller. Known after the first command; empty when there is nothing.
  virtual std::string remark() const { return ""; }
  // Ends every operation under way, from any thread; later calls fail.
  virtual void interrupt() = 0;
};

// Keys as texts, never as paths on a command line.
struct SshIdentity {
  std::string private_key;  // OpenSSH PEM
  std::string public_key;   // "ssh-ed25519 AAAA… comment"
};

struct ConnectRequest {
  Endpoint endpoint;
  SshIdentity identity;  // not looked at when the endpoint names a key file
  // "SHA256:…" that the server must show before we authenticate; empty: the endpoint's.
  std::string host_key;
  // Connecting is retried until then: a machine boots, a link is down. A wrong host key ends it at once; so does a
  // client key that is refused by a machine that is kept (the endpoint names a key file), since it does not boot.
  Deadline deadline;
};

class Connector {
 public:
  virtual ~Connector() = default;
  virtual Result<std::unique_ptr<Transport>> connect(const ConnectRequest& request) = 0;
};

}  // namespace benchctl

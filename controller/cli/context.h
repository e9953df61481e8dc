// The world as the command line sees it: read once, here and in context.cc; nothing below cli reads the environment.
#pragma once

#include <memory>
#include <string>

#include "lib/clock.h"
#include "lib/failpoint.h"
#include "lib/result.h"
#include "lib/secret.h"

namespace benchctl {

struct Context {
  std::string source_root;       // holds workloads/, analysis/, plans/
  std::string agent;             // the static agent's binary
  std::string user_home;         // of the user who runs us: what ~ means in a key file's path
  std::string home;              // BENCHCTL_HOME: store, keys, runs; default $XDG_STATE_HOME/benchctl
  std::string cache;             // BENCHCTL_CACHE: images, builds; default /var/cache/benchctl for root
  std::string local_dir;         // folders of `local` machines; for root where the trials' own users can reach them
  std::string python;            // BENCHCTL_PYTHON, else the analysis environment's
  std::string policy;            // BENCHCTL_POLICY, else $XDG_CONFIG_HOME/benchctl/policy.toml
  bool policy_named = false;     // by BENCHCTL_POLICY: then it must exist
  bool untrusted = false;        // BENCHCTL_UNTRUSTED: every plan is as with --untrusted
  int64_t min_free_bytes = 0;    // BENCHCTL_MIN_FREE: a run does not begin with less on its disks
  bool terminal_errors = false;  // standard error is a terminal: live line, colour
  bool terminal_output = false;
  bool colour = false;  // never with NO_COLOR
  int width = 80;
  std::unique_ptr<Clock> clock;
  std::unique_ptr<Failpoints> failpoints;  // BENCHCTL_FAILPOINT
  Secrets credentials;                     // of providers, by variable name; no longer in the environment
};

Result<Context> read_context();

// The cache is made where it is absent; kUsage, naming BENCHCTL_CACHE, where nothing can be put there.
Status check_cache(const Context& context);

}  // namespace benchctl

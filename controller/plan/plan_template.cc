#include "controller/plan/plan_text.h"

namespace benchctl {

std::string plan_template() {
  return R"(# A benchctl plan: what to run, where, how often, in which order. docs/plan.md explains every key.
#   benchctl plan check FILE     mistakes and doubts, without effects
#   benchctl plan show FILE      machines, trials, expected time
#   benchctl run --plan FILE
schema = 1
name = "my-plan"              # of its runs: a-z, 0-9 and -

[fleet.small]                 # machines of one shape; more [fleet.NAME] may follow
provider = "nspawn"           # nspawn: disposable Debian machines on this computer (root) | local: this computer, no root
count = 1
cpus = 2                      # a count, or a list such as "0-1"
memory = "1GiB"
disk = "2GiB"
image = "trixie"              # trixie | bookworm

[harden]
profile = "quiet"             # services and timers off, proved before and after; "none": the machine as it is

[limits]
ttl = "1h"                    # must hold 1.5 times the expected time
trial_timeout = "5m"

[schedule]
order = "latin"               # latin | abba | fixed
seed = 42
warmup_rounds = 1             # discarded by the plan, never by outcome
runs = 7                      # scored rounds; fewer than 6 give no verdict

[[suite]]
workload = "request_shape"    # see: benchctl workloads list
mode = "sequential"
arms = ["c_sqlite", "rust_rusqlite"]
baseline = "c_sqlite"         # what the others are compared with
build = "prebuilt"            # "on-machine": the machine compiles them itself (docs/plan.md)
[suite.params]
items = 10000

[[suite]]
workload = "request_shape"
mode = "concurrent"
arms = ["c_sqlite", "rust_rusqlite"]
[suite.params]
workload = ["read", "write"]  # a list: each value is a point
workers = "auto"              # powers of two up to the CPU count, then twice as many as CPUs; or a list, such as [1, 2, 4]
duration = "2s"
warmup = "0.5s"

# A program of your own, below this file's project folder; it prints CSV (docs/plan.md):
# [[suite]]
# name = "mine"
# command = ["./bench", "--size", "{size}"]
# format = "generic"
# [suite.params]
# size = [100, 1000]
)";
}

}  // namespace benchctl

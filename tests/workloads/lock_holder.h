// Another process that takes the write lock of a runner's database, x.db in its folder.
#pragma once

#include <string>

#include "tests/workloads/runners.h"

namespace benchctl::testing_workloads {

// When it takes the lock: as soon as the tables are there (before the clock starts, or soon after), or when updates
// have reached the database. It lets go after `hold_s`; with 0 when the database is removed.
enum class LockFrom { kSeeded, kUpdated };

// Runs the command with `words` and --db x.db beside the holder, which must get its lock and is there first: a busy
// computer may take seconds to start it.
inline CommandResult run_beside_holder(const Words& command, const Words& words, LockFrom from, double hold_s,
                                       const std::string& folder, const std::string& out) {
  write_file(folder + "/hold.py", R"(import os, sqlite3, sys, time
query, hold = sys.argv[1], float(sys.argv[2])
end = time.monotonic() + 120
def ready():
    try:
        return sqlite3.connect('file:x.db?mode=ro', uri=True).execute(query).fetchone()[0]
    except sqlite3.Error:
        return 0
open('holder.ready', 'w').close()
while not ready():
    if time.monotonic() > end: sys.exit('the runner never came so far')
    time.sleep(0.002)
db = sqlite3.connect('x.db', isolation_level=None, timeout=20)
db.execute('BEGIN IMMEDIATE')
held = time.monotonic()
while time.monotonic() < (held + hold if hold else end) and os.path.exists('x.db'): time.sleep(0.005)
db.execute('ROLLBACK')
)");
  const std::string query =
      from == LockFrom::kSeeded ? "SELECT count(*) FROM config_issue" : "SELECT sum(revision) FROM item";
  const Words both = {
      "sh",
      "-c",
      "q=$1 h=$2; shift 2; python3 hold.py \"$q\" \"$h\" & for i in $(seq 6000); do [ -e holder.ready ] && break; "
      "sleep 0.01; done; \"$@\" --db x.db; rc=$?; wait $! || exit 99; exit $rc",
      "sh",
      query,
      std::to_string(hold_s)};
  return run_in(folder, both + command + words, {"BENCHCTL_OUT=" + out});
}

}  // namespace benchctl::testing_workloads

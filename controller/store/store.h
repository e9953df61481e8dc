// The store: what was asked, which machines exist, which steps were announced and done, and every sample that came
// home. Nothing is ever deleted. Every mutator is one transaction that is on the disk (synchronous=FULL) when it
// returns, so a caller writes the intent, then acts. SQLite stands behind it; the interface is small so that another
// engine can.
//
// Threads: every method may be called from any thread; calls are serialised inside. Processes: any number may read and
// write single rows; whoever *executes* a run holds lock() for as long.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "controller/store/rows.h"
#include "lib/clock.h"
#include "lib/failpoint.h"
#include "lib/files.h"
#include "lib/pack.h"
#include "lib/result.h"
#include "lib/wire/job.h"

namespace benchctl {

// A trial as the plan wants it: what a trial.json must say to be believed.
struct ExpectedTrial {
  TrialSpec spec;
  std::string point_hash;  // saved before with save_point()
};

// One pulled unit: a folder below the run's folder that holds trials/NNNNNN/aK/… and perhaps other files.
struct UnitSource {
  std::string name;                     // "round-0003", "round-w001", "final"
  std::string folder;                   // absolute, below run.folder
  std::vector<PackEntry> entries;       // of the verified manifest; empty: the folder is hashed here
  std::vector<ExpectedTrial> expected;  // of this unit, or of the whole run
};

// What an import did. Everything that was not taken is named; it stays on the disk as evidence.
struct UnitResult {
  struct Note {
    int64_t trial = 0;
    int attempt = 0;
    std::string reason;  // sanitised, names file and line: "trials/000042/a1/stdout:3: …"
  };
  int trials_new = 0;   // now in the store, malformed ones included
  int trials_same = 0;  // were there before with the same evidence
  int64_t samples_new = 0;
  std::vector<Note> malformed;  // ingested with verdict `malformed`, without samples
  std::vector<Note> refused;  // not ingested: no such trial in the plan, another content than before, a bad trial.json
};

struct RebuildResult {
  std::string run;
  int units = 0;
  UnitResult trials;
};

class Store {
 public:
  virtual ~Store() = default;

  virtual const std::string& path() const = 0;
  // Who we are to the providers: a UUID made with the store.
  virtual Result<std::string> owner() = 0;

  // Held while a run is executed. A second taker gets kInterrupted: "store PATH is held by run R, pid P on HOST, since
  // T".
  virtual Result<FileLock> lock(const std::string& run) = 0;

  // -- run. `finished_ms`, `exit_code` of a new one are absent; the folder is created (0700) when absent.
  virtual Status begin_run(const RunRow& run) = 0;
  virtual Status finish_run(const std::string& run, RunOutcome outcome, int exit_code, const std::string& reason) = 0;
  virtual Status reopen_run(const std::string& run) = 0;  // running again, without an exit code
  virtual Result<RunRow> run(const std::string& id) = 0;  // kUsage when there is none, with the nearest id
  virtual Result<std::vector<RunRow>> runs() = 0;         // newest first
  virtual Result<std::optional<RunRow>> latest_run() = 0;

  // -- machine. Lease and machine (state intent) in one transaction, before anything is created; gives the machine's
  // id. The same lease again gives the same id.
  virtual Result<int64_t> add_lease(const Lease& lease, const MachineSpec& spec, bool isolated) = 0;
  virtual Status machine_created(int64_t machine, const std::string& provider_id,
                                 const std::optional<Endpoint>& endpoint) = 0;  // state exists
  virtual Status set_host_key(int64_t machine, const std::string& pin) = 0;
  virtual Status set_agent_dir(int64_t machine, const std::string& folder) = 0;  // the run's folder on the machine
  virtual Status set_isolated(int64_t machine, bool isolated) = 0;               // known only once it is reached
  virtual Status set_agent(int64_t machine, const std::string& sha256) = 0;
  virtual Status set_hardening(int64_t machine, const std::string& json) = 0;  // the whole document
  virtual Status add_probe(int64_t machine, const ProbeRow& probe) = 0;        // the same event again is nothing
  // An empty reason keeps the one that stands there (why it was rejected outlives that it is gone).
  virtual Status machine_state(int64_t machine, MachineRowState state, const std::string& reason = "") = 0;
  // JSON documents as the agent gave them; an empty one keeps what stands there, so do empty keys.
  virtual Status machine_facts(int64_t machine, const MachineFacts& facts) = 0;
  virtual Status set_keep(int64_t machine, int64_t until_ms) = 0;  // 0: not kept
  virtual Result<MachineRow> machine(int64_t id) = 0;
  virtual Result<std::vector<MachineRow>> machines(const std::string& run) = 0;  // in order of creation
  virtual Result<std::vector<MachineRow>> live_machines() = 0;  // of all runs: neither gone nor released
  virtual Result<MachineFacts> facts(int64_t machine) = 0;

  // -- steps: intent before the effect, done after it. seq counts from 1 a machine.
  virtual Result<int64_t> step_intent(int64_t machine, const std::string& name) = 0;
  virtual Status step_done(int64_t machine, int64_t seq, bool ok, const std::string& detail, int64_t channels) = 0;
  virtual Result<std::vector<StepRow>> steps(int64_t machine) = 0;

  // -- what trials refer to. The same row again is nothing; another under the same key is refused.
  virtual Status save_point(const PointRow& point) = 0;
  virtual Status save_bundle(const BundleRow& bundle) = 0;
  virtual Status save_trace(const TraceRow& trace) = 0;
  virtual Result<std::vector<TraceRow>> traces(const std::string& run) = 0;

  // Arms that the machine does not run; the same again is nothing.
  virtual Status leave_out(int64_t machine, const std::vector<LeftOutRow>& rows) = 0;

  // -- results. One transaction a unit; a unit imported before is nothing. Bad trials never stop the good ones: see
  // UnitResult. An error means that nothing of the unit was taken (disk full, a file differs from the manifest).
  virtual Result<UnitResult> import_unit(int64_t machine, const UnitSource& unit) = 0;
  virtual Result<std::vector<std::string>> units(int64_t machine) = 0;       // names, in order of import
  virtual Result<std::vector<TrialRow>> trials(const std::string& run) = 0;  // by machine, round, number, attempt
  virtual Result<std::vector<VerdictCount>> verdicts(const std::string& run) = 0;

  // Takes a run back from its folder (records/ and the raw units), usually into a fresh store after damage; a store
  // without runs also takes over the owner. Idempotent. A trial whose files differ from the manifest of their time is
  // refused and named, the others come in.
  virtual Result<RebuildResult> rebuild_run(const std::string& run_folder) = 0;
};

struct StoreOptions {
  std::string path;                  // the file; its folder is created (0700) when absent
  Failpoints* failpoints = nullptr;  // reached at "import:begin", "import:trial", "import:commit", "import:committed"
};

// Opens or creates. Refused: a store of a newer benchctl (kUsage, both versions named), a damaged one (kInternal, says
// how to rebuild). An older one is copied, then migrated; not while a run holds the lock.
Result<std::unique_ptr<Store>> open_store(const StoreOptions& options, Clock& clock);

}  // namespace benchctl

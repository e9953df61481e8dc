// The Store on SQLite. Private to this folder: everyone else calls open_store().
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "controller/store/migrations.h"
#include "controller/store/sqlite.h"
#include "controller/store/store.h"

namespace benchctl {

class SqliteStore final : public Store {
 public:
  // `migrations`: store_migrations(), or a longer list in tests of the next version.
  static Result<std::unique_ptr<SqliteStore>> open(const StoreOptions& options, Clock& clock,
                                                   const std::vector<Migration>& migrations);

  const std::string& path() const override { return database_.path(); }
  Result<std::string> owner() override;
  Result<FileLock> lock(const std::string& run) override;

  Status begin_run(const RunRow& run) override;
  Status reopen_run(const std::string& run) override;
  Status finish_run(const std::string& run, RunOutcome outcome, int exit_code, const std::string& reason) override;
  Result<RunRow> run(const std::string& id) override;
  Result<std::vector<RunRow>> runs() override;
  Result<std::optional<RunRow>> latest_run() override;

  Result<int64_t> add_lease(const Lease& lease, const MachineSpec& spec, bool isolated) override;
  Status machine_created(int64_t machine, const std::string& provider_id,
                         const std::optional<Endpoint>& endpoint) override;
  Status set_host_key(int64_t machine, const std::string& pin) override;
  Status set_agent_dir(int64_t machine, const std::string& folder) override;
  Status set_isolated(int64_t machine, bool isolated) override;
  Status set_agent(int64_t machine, const std::string& sha256) override;
  Status set_hardening(int64_t machine, const std::string& json) override;
  Status add_probe(int64_t machine, const ProbeRow& probe) override;
  Status machine_state(int64_t machine, MachineRowState state, const std::string& reason) override;
  Status machine_facts(int64_t machine, const MachineFacts& facts) override;
  Status set_keep(int64_t machine, int64_t until_ms) override;
  Result<MachineRow> machine(int64_t id) override;
  Result<std::vector<MachineRow>> machines(const std::string& run) override;
  Result<std::vector<MachineRow>> live_machines() override;
  Result<MachineFacts> facts(int64_t machine) override;

  Result<int64_t> step_intent(int64_t machine, const std::string& name) override;
  Status step_done(int64_t machine, int64_t seq, bool ok, const std::string& detail, int64_t channels) override;
  Result<std::vector<StepRow>> steps(int64_t machine) override;

  Status save_point(const PointRow& point) override;
  Status save_bundle(const BundleRow& bundle) override;
  Status leave_out(int64_t machine, const std::vector<LeftOutRow>& rows) override;
  Status save_trace(const TraceRow& trace) override;
  Result<std::vector<TraceRow>> traces(const std::string& run) override;

  Result<UnitResult> import_unit(int64_t machine, const UnitSource& unit) override;
  Result<std::vector<std::string>> units(int64_t machine) override;
  Result<std::vector<TrialRow>> trials(const std::string& run) override;
  Result<std::vector<VerdictCount>> verdicts(const std::string& run) override;
  Result<RebuildResult> rebuild_run(const std::string& run_folder) override;

 private:
  SqliteStore(sqlite::Database database, Clock& clock, Failpoints* failpoints)
      : database_(std::move(database)), clock_(clock), failpoints_(failpoints) {}

  // One transaction: `work`, then commit.
  Status mutate(const std::function<Status()>& work);
  // The same for one UPDATE of a machine's row, and its record; kUsage when there is no such machine.
  template <typename... Values>
  Status update_machine(int64_t machine, const char* sql, const Values&... values);
  Result<std::vector<RunRow>> select_runs(sqlite::Statement select);
  Result<std::vector<MachineRow>> select_machines(const char* where, const std::optional<std::string>& value);
  Result<UnitResult> import_rows(int64_t machine, const UnitSource& unit);
  Status rebuild_machine(const std::string& run_folder, const std::string& record_file, RebuildResult& result);

  std::mutex mutex_;
  sqlite::Database database_;
  Clock& clock_;
  Failpoints* failpoints_;
};

}  // namespace benchctl

// Machines, their leases and their steps.
#include "controller/store/records.h"
#include "controller/store/sqlite_store.h"
#include "lib/text.h"

namespace benchctl {
namespace {

Error no_machine(int64_t machine) {
  return Error{ErrorKind::kUsage, "store: no machine " + std::to_string(machine)};
}

MachineRowState state_of(const std::string& name) {
  for (MachineRowState state : {MachineRowState::kExists, MachineRowState::kReleasing, MachineRowState::kGone,
                                MachineRowState::kReleased, MachineRowState::kRejected})
    if (name == name_of(state)) return state;
  return MachineRowState::kIntent;
}

Result<MachineRow> machine_row(const sqlite::Statement& row) {
  MachineRow machine;
  machine.id = row.integer(0);
  machine.lease.nonce = row.text(1);
  machine.lease.run = row.text(2);
  machine.lease.owner = row.text(3);
  machine.lease.fleet = row.text(4);
  machine.lease.slot = row.small(5);
  machine.lease.name = row.text(6);
  machine.created_ms = row.integer(7);
  machine.lease.expires_unix = row.integer(8) / 1000;
  BENCHCTL_TRY(Json spec, Json::parse(row.text(9)));
  BENCHCTL_TRY(machine.spec, machine_spec_from_json(spec));
  machine.provider_id = row.text(10);
  if (std::string text = row.text(11); !text.empty()) {
    BENCHCTL_TRY(Json endpoint, Json::parse(text));
    BENCHCTL_TRY(machine.endpoint, endpoint_from_json(endpoint));
  }
  machine.state = state_of(row.text(12));
  machine.isolated = row.integer(13) != 0;
  machine.host_key = row.text(14);
  machine.agent_dir = row.text(15);
  machine.keep_until_ms = row.integer(16);
  machine.fingerprint = row.text(17);
  machine.hardware = row.text(18);
  machine.reason = row.text(19);
  machine.agent_sha256 = row.text(20);
  machine.hardening = row.text(21);
  return machine;
}

}  // namespace

template <typename... Values>
Status SqliteStore::update_machine(int64_t machine, const char* sql, const Values&... values) {
  return mutate([&]() -> Status {
    BENCHCTL_CHECK(database_.run(sql, values..., machine));
    if (database_.changes() != 1) return no_machine(machine);
    return write_machine_record(database_, machine);
  });
}

Result<int64_t> SqliteStore::add_lease(const Lease& lease, const MachineSpec& spec, bool isolated) {
  if (!valid_id(lease.nonce)) return Error{ErrorKind::kInternal, "a lease whose nonce is not [a-z0-9-]{1,64}"};
  int64_t id = 0;
  auto added = mutate([&]() -> Status {
    BENCHCTL_TRY(auto known, database_.query("SELECT m.id, m.run FROM machine m WHERE m.lease = ?", lease.nonce));
    BENCHCTL_TRY(bool row, known.step());
    if (row && known.text(1) != lease.run)
      return Error{ErrorKind::kInternal, "lease " + lease.nonce + " belongs to run " + known.text(1)};
    if (row) {
      id = known.integer(0);
      return {};
    }
    BENCHCTL_CHECK(
        database_.run("INSERT INTO lease (nonce, run, provider, fleet, slot, name, spec, created_ms, expires_ms) "
                      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                      lease.nonce, lease.run, spec.provider, lease.fleet, lease.slot, lease.name, to_json(spec).dump(),
                      clock_.unix_ms(), lease.expires_unix * 1000));
    BENCHCTL_CHECK(database_.run(
        "INSERT INTO machine (lease, run, name, provider, state, isolated) VALUES (?, ?, ?, ?, 'intent', ?)",
        lease.nonce, lease.run, lease.name, spec.provider, isolated));
    id = database_.last_id();
    return write_machine_record(database_, id);
  });
  if (!added) return added.error();
  return id;
}

Status SqliteStore::machine_created(int64_t machine, const std::string& provider_id,
                                    const std::optional<Endpoint>& endpoint) {
  return update_machine(machine, "UPDATE machine SET provider_id = ?, endpoint = ?, state = 'exists' WHERE id = ?",
                        provider_id, endpoint ? to_json(*endpoint).dump() : std::string());
}

Status SqliteStore::set_host_key(int64_t machine, const std::string& pin) {
  return update_machine(machine, "UPDATE machine SET host_key = ? WHERE id = ?", pin);
}

Status SqliteStore::set_agent_dir(int64_t machine, const std::string& folder) {
  return update_machine(machine, "UPDATE machine SET agent_dir = ? WHERE id = ?", folder);
}

Status SqliteStore::set_isolated(int64_t machine, bool isolated) {
  return update_machine(machine, "UPDATE machine SET isolated = ? WHERE id = ?", isolated);
}

Status SqliteStore::set_agent(int64_t machine, const std::string& sha256) {
  return update_machine(machine, "UPDATE machine SET agent_sha256 = ? WHERE id = ?", sha256);
}

Status SqliteStore::set_hardening(int64_t machine, const std::string& json) {
  if (auto parsed = Json::parse(json); !parsed)
    return parsed.error().in("hardening of machine " + std::to_string(machine));
  return update_machine(machine, "UPDATE machine SET hardening = ? WHERE id = ?", json);
}

Status SqliteStore::add_probe(int64_t machine, const ProbeRow& probe) {
  return mutate([&]() -> Status {
    return database_.run(
        "INSERT OR IGNORE INTO probe (machine, event, round, taken_ms, busy, spin_p50_ns, spin_p99_ns, spin_max_ns, "
        "steal_jiffies, psi_cpu_some) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        machine, probe.event, probe.round, probe.taken_ms, probe.busy, probe.spin_p50_ns, probe.spin_p99_ns,
        probe.spin_max_ns, probe.steal_jiffies, probe.psi_cpu_some);
  });
}

Status SqliteStore::machine_state(int64_t machine, MachineRowState state, const std::string& reason) {
  return update_machine(machine, "UPDATE machine SET state = ?1, reason = iif(?2 = '', reason, ?2) WHERE id = ?3",
                        name_of(state), reason);
}

Status SqliteStore::machine_facts(int64_t machine, const MachineFacts& facts) {
  for (const std::string* document : {&facts.before, &facts.after, &facts.hardened}) {
    if (document->empty()) continue;
    if (auto json = Json::parse(*document); !json)
      return json.error().in("facts of machine " + std::to_string(machine));
  }
  return update_machine(machine,
                        "UPDATE machine SET facts_before = iif(?1 = '', facts_before, ?1), facts_after = iif(?2 = '', "
                        "facts_after, ?2), fingerprint = iif(?3 = '', fingerprint, ?3), hardware = iif(?4 = '', "
                        "hardware, ?4), facts_hardened = iif(?5 = '', facts_hardened, ?5) WHERE id = ?6",
                        facts.before, facts.after, facts.fingerprint, facts.hardware, facts.hardened);
}

Status SqliteStore::set_keep(int64_t machine, int64_t until_ms) {
  return update_machine(machine, "UPDATE machine SET keep_until_ms = ? WHERE id = ?", until_ms);
}

Result<std::vector<MachineRow>> SqliteStore::select_machines(const char* where,
                                                             const std::optional<std::string>& value) {
  std::lock_guard guard(mutex_);
  BENCHCTL_TRY(
      auto select,
      database_.prepare(
          std::string("SELECT m.id, m.lease, m.run, (SELECT uuid FROM owner), l.fleet, l.slot, "
                      "l.name, l.created_ms, l.expires_ms, l.spec, m.provider_id, m.endpoint, "
                      "m.state, m.isolated, m.host_key, m.agent_dir, m.keep_until_ms, "
                      "m.fingerprint, m.hardware, m.reason, m.agent_sha256, m.hardening FROM machine m JOIN lease l ON "
                      "l.nonce = m.lease WHERE ") +
          where + " ORDER BY m.id"));
  if (value) select.bind(1, *value);
  std::vector<MachineRow> rows;
  while (true) {
    BENCHCTL_TRY(bool row, select.step());
    if (!row) return rows;
    BENCHCTL_TRY(MachineRow machine, machine_row(select));
    rows.push_back(std::move(machine));
  }
}

Result<MachineRow> SqliteStore::machine(int64_t id) {
  BENCHCTL_TRY(auto rows, select_machines("m.id = CAST(? AS INTEGER)", std::to_string(id)));
  if (rows.empty()) return no_machine(id);
  return rows.front();
}

Result<std::vector<MachineRow>> SqliteStore::machines(const std::string& run) {
  return select_machines("m.run = ?", run);
}

Result<std::vector<MachineRow>> SqliteStore::live_machines() {
  return select_machines("m.state NOT IN ('gone', 'released')", std::nullopt);
}

Result<MachineFacts> SqliteStore::facts(int64_t machine) {
  std::lock_guard guard(mutex_);
  BENCHCTL_TRY(auto select,
               database_.query(
                   "SELECT facts_before, facts_after, fingerprint, hardware, facts_hardened FROM machine WHERE id = ?",
                   machine));
  BENCHCTL_TRY(bool row, select.step());
  if (!row) return no_machine(machine);
  return MachineFacts{select.text(0), select.text(1), select.text(2), select.text(3), select.text(4)};
}

Result<int64_t> SqliteStore::step_intent(int64_t machine, const std::string& name) {
  int64_t seq = 0;
  auto announced = mutate([&]() -> Status {
    BENCHCTL_TRY(auto next, database_.query("SELECT coalesce(max(seq), 0) + 1 FROM step WHERE machine = ?", machine));
    BENCHCTL_CHECK(next.step());
    seq = next.integer(0);
    return database_.run("INSERT INTO step (machine, seq, name, intent_ms) VALUES (?, ?, ?, ?)", machine, seq, name,
                         clock_.unix_ms());
  });
  if (!announced) return announced.error();
  return seq;
}

Status SqliteStore::step_done(int64_t machine, int64_t seq, bool ok, const std::string& detail, int64_t channels) {
  return mutate([&]() -> Status {
    BENCHCTL_CHECK(database_.run(
        "UPDATE step SET done_ms = ?, outcome = ?, detail = ?, channels = ? WHERE machine = ? AND seq = ?",
        clock_.unix_ms(), ok ? "ok" : "failed", detail, channels, machine, seq));
    if (database_.changes() != 1)
      return Error{ErrorKind::kInternal,
                   "store: machine " + std::to_string(machine) + " has no step " + std::to_string(seq)};
    return {};
  });
}

Result<std::vector<StepRow>> SqliteStore::steps(int64_t machine) {
  std::lock_guard guard(mutex_);
  BENCHCTL_TRY(
      auto select,
      database_.query("SELECT seq, name, intent_ms, done_ms, outcome, detail, channels FROM step WHERE machine "
                      "= ? ORDER BY seq",
                      machine));
  std::vector<StepRow> rows;
  while (true) {
    BENCHCTL_TRY(bool row, select.step());
    if (!row) return rows;
    rows.push_back({select.integer(0), select.text(1), select.integer(2), select.maybe_integer(3),
                    select.text(4) == "ok", select.text(5), select.integer(6)});
  }
}

}  // namespace benchctl

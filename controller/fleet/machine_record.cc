#include "controller/fleet/machine_record.h"

#include <algorithm>
#include <cmath>

namespace benchctl {
namespace {

// Far more than the agents of a run with restarts give; what comes after is in the events.
constexpr size_t kMaxProofs = 100;

Result<Json> hardening_of(Store& store, int64_t machine) {
  BENCHCTL_TRY(MachineRow row, store.machine(machine));
  if (row.hardening.empty()) return Json::object();
  return Json::parse(row.hardening);
}

std::optional<int64_t> count(const Json& value) {
  int64_t number = value.as_int(-1);
  return number >= 0 ? std::optional<int64_t>(number) : std::nullopt;
}

std::optional<double> share(const Json& value) {
  double number = value.as_double(-1);
  return std::isfinite(number) && number >= 0 ? std::optional<double>(number) : std::nullopt;
}

}  // namespace

ProbeRow probe_row(const Event& event) {
  const Json& fields = event.fields;
  ProbeRow row;
  row.event = event.number;
  row.round = static_cast<int>(std::clamp<int64_t>(fields["round"].as_int(), -1000, 100'000));
  row.taken_ms = event.unix_ms;
  row.busy = share(fields["busy"]);
  row.spin_p50_ns = count(fields["spin_p50_ns"]);
  row.spin_p99_ns = count(fields["spin_p99_ns"]);
  row.spin_max_ns = count(fields["spin_max_ns"]);
  row.steal_jiffies = count(fields["steal_jiffies"]);
  row.psi_cpu_some = share(fields["psi_cpu_some"]);
  return row;
}

Status set_hardening_member(Store& store, int64_t machine, const std::string& key, Json value) {
  BENCHCTL_TRY(Json document, hardening_of(store, machine));
  document.set(key, std::move(value));
  return store.set_hardening(machine, document.dump());
}

Status add_proof(Store& store, int64_t machine, Json proof) {
  BENCHCTL_TRY(Json document, hardening_of(store, machine));
  Json proofs = Json::array();
  for (const Json& one : document["proofs"].as_array()) {
    if (one.dump() == proof.dump()) return {};
    proofs.push(one);
  }
  if (proofs.as_array().size() >= kMaxProofs) return {};
  proofs.push(std::move(proof));
  document.set("proofs", std::move(proofs));
  return store.set_hardening(machine, document.dump());
}

Result<int64_t> lived_ms(Store& store, const MachineRow& machine, int64_t now_ms) {
  int64_t end = now_ms;
  if (machine.has_left()) {
    BENCHCTL_TRY(auto steps, store.steps(machine.id));
    if (!steps.empty()) end = steps.back().done_ms.value_or(now_ms);
  }
  return std::max<int64_t>(0, end - machine.created_ms);
}

}  // namespace benchctl

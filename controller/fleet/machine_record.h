// What the agent's events add to a machine's rows in the store; their values are hostile and bounded here.
#pragma once

#include <cstdint>
#include <string>

#include "controller/store/store.h"
#include "lib/wire/event.h"

namespace benchctl {

// Of a round_probe event; what is no number, or none that can be, is absent.
ProbeRow probe_row(const Event& event);

// Adds one member, or one proof, to the machine's hardening document: {"profile", "applied", "proofs": [], "undone"}.
// The same proof again is nothing.
Status set_hardening_member(Store& store, int64_t machine, const std::string& key, Json value);
Status add_proof(Store& store, int64_t machine, Json proof);

// How long the machine was paid for: from its lease to the end of its last step, or to `now_ms` while it stands.
Result<int64_t> lived_ms(Store& store, const MachineRow& machine, int64_t now_ms);

}  // namespace benchctl

// A machine made quiet and put back, as two steps of its slot: what was asked, found and read back goes into its row.
#pragma once

#include <string>

#include "controller/remote/agent_client.h"
#include "controller/store/store.h"
#include "lib/wire/harden.h"

namespace benchctl {

struct QuietStep {
  Store& store;
  Clock& clock;
  int64_t machine;  // in the store
  Transport& transport;
  std::string agent_path;  // on the machine
  std::string journal;     // there, too
};

// Applies the profile and proves that nothing starts by itself. kRejected when the machine cannot be proved quiet.
Status make_quiet(const QuietStep& step, const HardenProfile& profile);
// Gives back exactly what was found. kProvisioning names what could not be.
Status put_back(const QuietStep& step, const HardenProfile& profile);

}  // namespace benchctl

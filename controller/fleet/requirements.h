// Is this machine what the plan asked for? Decided on its facts, before anything of the workloads is shipped.
#pragma once

#include <string>

#include "controller/plan/plan.h"
#include "lib/result.h"
#include "lib/wire/facts.h"

namespace benchctl {

// kRejected, with every requirement that is not met and what was found instead. `isolated`: it shares its cores neither
// with us nor with a sibling, as far as its provider and its kernel tell.
Status meets(const Require& require, const Facts& facts, bool isolated);

// One line for people: "AMD EPYC 7B13, 2 CPUs, 7.8 GiB, systemd-nspawn, Debian GNU/Linux 13, Linux 6.12.0".
std::string describe(const Facts& facts);

}  // namespace benchctl

// A recipe and all that it is run over as a bundle, for a machine that compiles it itself: no network, nothing of this
// computer's compiler. On the machine `benchagent build` runs its build.sh.
//
//   build.sh                 probes the machine's tools, then runs the recipe's own steps
//   on_machine.sh            its functions (workloads/toolchains/on_machine.sh)
//   bundle.json              with `on_machine`, the ISAs that it may be built for, the lowest first, in place of `isa`
//   WORKLOAD/…               the recipe's sources
//   toolchains/NAME/…        probes of the tools that the machine must have
//   made/NAME/…              sources that a toolchain has fetched and made here, with what it says of them
#pragma once

#include <string>

#include "controller/workloads/build.h"

namespace benchctl {

// kUsage: the recipe is not one for machines of that architecture, or a toolchain that fetches sources is missing.
// kWorkload: such a toolchain failed. The sources are fetched once; nothing is compiled for the machine here.
Result<Bundle> bundle_sources(const Workload& workload, const BuildDecl& build, const std::string& arch,
                              Toolchains& toolchains, BuildContext& context);

// Whether bundle_sources() has, or can have, what it needs; without fetching anything. `toolchains` only looks.
Outlook look_at_sources(const Workload& workload, const BuildDecl& build, const std::string& arch,
                        Toolchains& toolchains);

// The ISA to build for on a machine: `wanted` where the recipe knows it, else the last that the CPU has. Or why there
// is none.
struct IsaChoice {
  std::string isa;
  std::string why;  // "x86-64-v4 needs avx512f, which it lacks"
};
IsaChoice choose_isa(const Json& manifest, const std::string& wanted, const std::vector<std::string>& cpu_flags);

}  // namespace benchctl

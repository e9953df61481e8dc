// Proof on this computer that the arms of a workload do the same: equal traces, equal check columns.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "controller/workloads/build.h"
#include "controller/workloads/build_context.h"
#include "controller/workloads/workload.h"
#include "lib/result.h"

namespace benchctl {

// One arm's standard output of its bundle's program with `words` added, in a fresh folder that is removed afterwards. A
// bundle of another architecture runs under qemu-user. kWorkload, with the last line of its standard error, when it
// fails; kRejected when it says that it cannot run here (exit code 75).
Result<std::string> run_arm(const Workload& workload, const ArmDecl& arm, const Bundle& bundle,
                            const std::vector<std::string>& words, BuildContext& context);

// Case, without a first part that is the arm's name, -> check, of the CSV that `format` names (generic: the checks of
// all its rows). kWorkload where it is malformed.
Result<std::map<std::string, std::string>> checks_of(const std::string& csv, const std::string& format,
                                                     const std::string& arm);

// What each arm printed of itself.
struct ArmEvidence {
  std::string arm;
  std::string trace;                          // empty when the workload has none
  std::map<std::string, std::string> checks;  // by case
};

// Good when all are equal; else kWorkload, naming the arms that differ from the baseline and the first difference of
// each.
Status compare_evidence(const std::string& baseline, const std::vector<ArmEvidence>& evidence);

}  // namespace benchctl

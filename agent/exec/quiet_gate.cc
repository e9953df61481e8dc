#include "agent/exec/quiet_gate.h"

#include "agent/quiet/harden.h"

namespace benchctl {
namespace {

constexpr size_t kMostProblems = 50;

}  // namespace

std::string proof_moment(const std::string& last_boot_id, const std::string& boot_id) {
  return last_boot_id.empty() || last_boot_id == boot_id ? "start" : "boot";
}

QuietProof prove_quiet(const Json& harden, Clock& clock) {
  auto profile = harden_profile_from_json(harden);
  if (!profile) return {false, {profile.error().message}};
  if (harden["journal"].as_string().empty()) return {false, {"the job does not say where the journal lies"}};
  SystemCommands commands(clock);
  QuietWorld world{"", commands, clock};
  auto report = Hardening(world, harden["journal"].as_string()).verify(*profile);
  if (!report) return {false, {report.error().message}};
  // An event is one line of bounded length.
  if (std::vector<std::string>& problems = report->proof.problems; problems.size() > kMostProblems) {
    const size_t more = problems.size() - kMostProblems;
    problems.resize(kMostProblems);
    problems.push_back("and " + std::to_string(more) + " more");
  }
  return report->proof;
}

}  // namespace benchctl

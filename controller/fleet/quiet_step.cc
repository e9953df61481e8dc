#include "controller/fleet/quiet_step.h"

#include "controller/fleet/machine_record.h"
#include "controller/remote/harden_client.h"
#include "lib/text.h"

namespace benchctl {
namespace {

constexpr size_t kCellBytes = 400;
constexpr size_t kShownProblems = 5;

// Its texts come from the machine.
HardenReport cleaned(HardenReport report) {
  for (HardenRow& row : report.rows)
    for (std::string* cell :
         {&row.knob, &row.target, &row.requested, &row.found, &row.read_back, &row.status, &row.reason})
      *cell = sanitize(*cell, kCellBytes);
  for (std::string& problem : report.proof.problems) problem = sanitize(problem, kCellBytes);
  return report;
}

std::string first_problems(const QuietProof& proof) {
  std::vector<std::string> shown = proof.problems;
  if (shown.size() > kShownProblems) {
    shown.resize(kShownProblems);
    shown.push_back("and " + std::to_string(proof.problems.size() - kShownProblems) + " more");
  }
  return join(shown, "; ");
}

Result<HardenReport> carry(const QuietStep& step, const std::string& verb, const HardenProfile& profile) {
  BENCHCTL_TRY(HardenReport report, harden(step.transport, step.agent_path, verb, profile, step.journal,
                                           Deadline::in(step.clock, harden_time(profile))));
  return cleaned(std::move(report));
}

}  // namespace

Status make_quiet(const QuietStep& step, const HardenProfile& profile) {
  BENCHCTL_TRY(HardenReport report, carry(step, "apply", profile));
  BENCHCTL_CHECK(set_hardening_member(step.store, step.machine, "profile", profile.name));
  BENCHCTL_CHECK(set_hardening_member(step.store, step.machine, "applied", to_json(report)));
  if (report.proof.ok) return {};
  return Error{ErrorKind::kRejected, "the machine cannot be made quiet: " + first_problems(report.proof)};
}

Status put_back(const QuietStep& step, const HardenProfile& profile) {
  BENCHCTL_TRY(HardenReport report, carry(step, "undo", profile));
  BENCHCTL_CHECK(set_hardening_member(step.store, step.machine, "undone", to_json(report)));
  if (report.proof.ok) return {};
  return Error{ErrorKind::kProvisioning, "not everything could be put back: " + first_problems(report.proof)};
}

}  // namespace benchctl

#include "controller/remote/harden_client.h"

#include "lib/text.h"

namespace benchctl {

std::string harden_journal(const Endpoint& endpoint) {
  return (endpoint.work_dir.empty() ? "/var/lib/benchctl" : endpoint.work_dir) + "/harden.journal";
}

Result<HardenReport> harden(Transport& transport, const std::string& agent_path, const std::string& verb,
                            const HardenProfile& profile, const std::string& journal, Deadline deadline) {
  std::vector<std::string> argv = {agent_path, "harden", verb, "--journal", journal};
  RunOptions options;
  options.deadline = deadline;
  if (verb != "undo")
    options.input = [text = to_json(profile).dump()]() mutable -> Result<std::string> {
      return std::exchange(text, std::string());
    };
  BENCHCTL_TRY(CommandResult result, transport.run(argv, options));
  if (!result.ok()) {
    std::string end = result.signal.empty() ? "exit " + std::to_string(result.exit_code) : "signal " + result.signal;
    std::string said = sanitize(trim(result.errors), 500);
    return Error{ErrorKind::kInternal, "harden " + verb + ": " + end + (said.empty() ? "" : ": " + said)};
  }
  auto report = parse_harden_report(result.output);
  if (!report) return report.error().in("harden " + verb);
  if (report->verb != verb)
    return Error{ErrorKind::kInternal, "harden " + verb + ": the agent answers with a report of " + report->verb};
  return report;
}

Nanos harden_time(const HardenProfile& profile) {
  return std::chrono::milliseconds(profile.cloud_init_wait_ms + profile.dpkg_wait_ms) + std::chrono::minutes(10);
}

}  // namespace benchctl

#include "controller/remote/agent_client.h"

#include <algorithm>

#include "controller/remote/event_stream.h"
#include "controller/remote/pack_source.h"
#include "controller/remote/unit_receiver.h"
#include "lib/files.h"
#include "lib/sha256.h"
#include "lib/text.h"
#include "lib/wire/trial.h"

namespace benchctl {
namespace {

constexpr int64_t kAgentBytes = 64 << 20;
constexpr Nanos kFollowSlack = std::chrono::seconds(30);  // beyond a slice's own length, for a slow link
constexpr Nanos kBuildSlack = std::chrono::minutes(1);
constexpr Nanos kFollowPause = std::chrono::seconds(1);

// The scripts are one line each and take what varies as arguments, so that nothing is ever glued into them.
// $1 work folder, $2 agent, $3 sha256. Prints the bundles that are there, `--`, and the agent's version when it is.
constexpr const char* kProbeScript =
    "umask 022; mkdir -p \"$1\" || exit 73; ls -1 \"$1/bundles\" 2>/dev/null; echo --; "
    "[ \"$(sha256sum 2>/dev/null <\"$2\" | cut -c1-64)\" = \"$3\" ] || exit 0; exec \"$2\" version";
// $1 agent, $2 sha256; the agent's bytes on standard input.
constexpr const char* kUploadScript =
    "umask 022; t=\"$1.tmp-$$\"; trap 'rm -f \"$t\"' EXIT; cat >\"$t\" || exit 73; "
    "[ \"$(sha256sum <\"$t\" | cut -c1-64)\" = \"$2\" ] || { echo the upload arrived damaged or cut >&2; exit 74; }; "
    "chmod 755 \"$t\" && mv -f \"$t\" \"$1\" || exit 73; exec \"$1\" version";
// $1 agent, $2 run folder; the job on standard input. The log is appended to: a repeated start must not empty it.
constexpr const char* kStartScript =
    "\"$1\" job --dir \"$2\" || exit $?; nohup setsid \"$1\" run --dir \"$2\" </dev/null >>\"$2/agent.log\" 2>&1 &";

std::vector<std::string> script(const char* text, std::vector<std::string> arguments) {
  std::vector<std::string> argv = {"sh", "-c", text, "sh"};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return argv;
}

ByteSource text_source(std::string text) {
  return [text = std::move(text)]() mutable -> Result<std::string> { return std::exchange(text, std::string()); };
}

Error failed(const CommandResult& result, const std::string& what) {
  std::string end = result.signal.empty() ? "exit " + std::to_string(result.exit_code) : "signal " + result.signal;
  std::string said = sanitize(trim(result.errors), 500);
  bool not_there = result.exit_code == 126 || result.exit_code == 127;
  // Somebody ended it there (an administrator, the kernel for want of memory): as with a cut link, it may be asked
  // again.
  return Error{!result.signal.empty() ? ErrorKind::kProvisioning
               : not_there            ? ErrorKind::kRejected
                                      : ErrorKind::kInternal,
               what + ": " + end + (said.empty() ? "" : ": " + said)};
}

// Does the agent run there, and does it speak as we do?
Status check_version(std::string_view said, const CommandResult& result, const std::string& path) {
  auto version = Json::parse(said, {.bytes = 4096, .depth = 4, .values = 50});
  if (!result.ok() || !version)
    return Error{ErrorKind::kRejected,
                 path + " cannot be executed there (a noexec mount, another architecture?): " +
                     sanitize(trim(result.errors.empty() ? said : std::string_view(result.errors)), 300)};
  const std::pair<const char*, int> ours[] = {
      {"job", kJobVersion}, {"event", kEventVersion}, {"facts", kFactsVersion}, {"trial", kTrialVersion}};
  for (auto [format, number] : ours)
    if ((*version)[format].as_int(-1) != number)
      return Error{ErrorKind::kInternal, "the agent does not speak version " + std::to_string(number) + " of the " +
                                             format + " format as this benchctl does; it says " + sanitize(said, 200)};
  return {};
}

Status check_run(const std::string& run) {
  if (valid_id(run)) return {};
  return Error{ErrorKind::kInternal, "not a run id: " + sanitize(run, 100)};
}

}  // namespace

AgentClient::AgentClient(Transport& transport, Clock& clock, std::string work_dir)
    : transport_(transport), clock_(clock), work_dir_(std::move(work_dir)) {}

std::string AgentClient::agent_path() const {
  return agent_sha256_.empty() ? "" : work_dir_ + "/agent-" + agent_sha256_;
}

Result<std::string> AgentClient::call(const std::vector<std::string>& argv, RunOptions options,
                                      const std::string& what) {
  if (agent_sha256_.empty()) return Error{ErrorKind::kInternal, what + ": no agent has been installed"};
  BENCHCTL_TRY(CommandResult result, transport_.run(argv, options));
  if (!result.ok()) return failed(result, what);
  return std::move(result.output);
}

Result<Installed> AgentClient::install_agent(const std::string& binary, Deadline deadline) {
  BENCHCTL_TRY(std::string bytes, read_file(binary, kAgentBytes));
  const std::string sha256 = sha256_hex(bytes), path = work_dir_ + "/agent-" + sha256;
  BENCHCTL_TRY(CommandResult probe, transport_.run(script(kProbeScript, {work_dir_, path, sha256}),
                                                   {.deadline = deadline, .output_cap = 1 << 20}));
  size_t end = probe.output.starts_with("--\n") ? 0 : probe.output.find("\n--\n");
  if (end == std::string::npos) return failed(probe, "prepare " + work_dir_ + " on the machine");
  if (end > 0) ++end;
  bundles_.emplace();
  for (std::string_view name : split(std::string_view(probe.output).substr(0, end), '\n'))
    if (valid_sha256(name)) bundles_->emplace(name);
  std::string version = probe.output.substr(end + 3);
  Installed installed{sha256};
  // Silent and content: it is not there. Anything else is the agent there, or the reason why it does not start.
  if (probe.ok() && version.empty()) {
    installed.uploaded = true;
    installed.bytes = static_cast<int64_t>(bytes.size());
    RunOptions options;
    options.deadline = deadline;
    options.input = text_source(std::move(bytes));
    BENCHCTL_TRY(probe, transport_.run(script(kUploadScript, {path, sha256}), options));
    if (probe.exit_code == 73 || probe.exit_code == 74) return failed(probe, "send the agent to " + path);
    version = probe.output;
  }
  BENCHCTL_CHECK(check_version(version, probe, path));
  agent_sha256_ = sha256;
  return installed;
}

Status AgentClient::learn_bundles(Deadline deadline) {
  if (bundles_) return {};
  // No such folder is no bundle: ls then says so and fails.
  BENCHCTL_TRY(CommandResult listed,
               transport_.run({"ls", "-1", bundles_dir()}, {.deadline = deadline, .output_cap = 1 << 20}));
  bundles_.emplace();
  for (std::string_view name : split(listed.output, '\n'))
    if (valid_sha256(name)) bundles_->emplace(name);
  return {};
}

Result<Installed> AgentClient::install_bundle(const std::string& folder, Deadline deadline) {
  BENCHCTL_TRY(auto entries, scan_tree(folder, {}));
  Installed installed{sha256_hex(format_manifest(entries))};
  BENCHCTL_CHECK(learn_bundles(deadline));
  if (bundles_->count(installed.sha256) != 0) return installed;
  installed.uploaded = true;
  RunOptions options;
  options.deadline = deadline;
  options.input = [source = pack_source(folder, std::move(entries)), &installed]() -> Result<std::string> {
    auto piece = source();
    if (piece) installed.bytes += static_cast<int64_t>(piece->size());
    return piece;
  };
  BENCHCTL_CHECK(call({agent_path(), "unpack", "--sha256", installed.sha256, bundles_dir() + "/" + installed.sha256},
                      options, "send the bundle " + folder));
  bundles_->insert(installed.sha256);
  return installed;
}

Result<MachineBuild> AgentClient::build(const std::string& sources, const std::string& arch, const std::string& isa,
                                        Nanos timeout) {
  const std::string seconds = std::to_string(std::chrono::ceil<std::chrono::seconds>(timeout).count());
  RunOptions options;
  // It may wait as long for an earlier call before its own time begins.
  options.deadline = Deadline::in(clock_, 2 * timeout + kBuildSlack);
  const std::string what = "build " + sources.substr(0, 12) + " for " + isa;
  BENCHCTL_TRY(std::string text, call({agent_path(), "build", "--dir", work_dir_, "--sources", sources, "--arch", arch,
                                       "--isa", isa, "--timeout", seconds},
                                      options, what));
  auto made = parse_machine_build(text);
  if (!made) return made.error().in(what);
  if (made->ok && bundles_) bundles_->insert(made->sha256);
  return made;
}

Result<Facts> AgentClient::facts(Deadline deadline) {
  BENCHCTL_TRY(std::string text, call({agent_path(), "facts", "--workdir", work_dir_}, {.deadline = deadline},
                                      "take the machine's facts"));
  return parse_facts(text);
}

Status AgentClient::start(const Job& job, Deadline deadline) {
  BENCHCTL_CHECK(check_run(job.run));
  RunOptions options;
  options.deadline = deadline;
  options.input = text_source(to_json(job).dump());
  BENCHCTL_CHECK(call(script(kStartScript, {agent_path(), run_dir(job.run)}), options, "start run " + job.run));
  return {};
}

Result<bool> AgentClient::follow(const std::string& run, int64_t from,
                                 const std::function<Status(const Event&)>& on_event, Deadline deadline) {
  BENCHCTL_CHECK(check_run(run));
  EventStream stream(std::max<int64_t>(from, 1), on_event);
  while (!deadline.passed(clock_)) {
    const int64_t before = stream.next();
    const Nanos started = clock_.now();
    int64_t left = std::chrono::ceil<std::chrono::seconds>(deadline.left(clock_)).count();
    int64_t slice = std::min(left, kFollowSliceSeconds);
    RunOptions options;
    options.deadline = Deadline::in(clock_, std::chrono::seconds(slice) + kFollowSlack);
    options.on_output = [&](std::string_view bytes) { return stream.feed(bytes); };
    BENCHCTL_CHECK(call({agent_path(), "events", "--dir", run_dir(run), "--from", std::to_string(before), "--follow",
                         std::to_string(slice)},
                        options, "follow run " + run));
    BENCHCTL_CHECK(stream.end_of_output());
    if (stream.done()) return true;
    if (stream.next() > before) continue;
    // Silence: is anybody still at work, or was run_done among the events that the caller has seen already?
    BENCHCTL_TRY(AgentState now, state(run, Deadline::in(clock_, kFollowSlack)));
    if (now.done && now.last_event < stream.next()) return true;
    // Nobody is: the caller may start it again, and has no use for waiting.
    if (!now.running && !now.done && now.last_event < stream.next()) return false;
    // An agent that does not wait must not keep us busy.
    if (clock_.now() - started < kFollowPause) clock_.sleep(kFollowPause);
  }
  return false;
}

Status AgentClient::pull_unit(const std::string& run, const std::string& unit, const std::string& dest,
                              const std::string& manifest_sha256, const PackCaps& caps, Deadline deadline) {
  BENCHCTL_CHECK(check_run(run));
  if (!valid_id(unit) || !valid_sha256(manifest_sha256))
    return Error{ErrorKind::kInternal, "pull: not a unit and the sha256 of a manifest: " + sanitize(unit, 100) + " " +
                                           sanitize(manifest_sha256, 100)};
  const std::string what = "pull " + unit + " of run " + run;
  if (exists(dest)) {
    BENCHCTL_TRY(auto present, scan_tree(dest, {}));
    if (sha256_hex(format_manifest(present)) == manifest_sha256) return {};
    return Error{ErrorKind::kInternal, what + ": " + dest + " exists and holds something else"};
  }
  UnitReceiver receiver(dest, manifest_sha256, caps);
  BENCHCTL_CHECK(receiver.begin());
  RunOptions options;
  options.deadline = deadline;
  options.on_output = [&](std::string_view bytes) -> Status {
    auto fed = receiver.feed(bytes);
    return fed ? fed : fed.error().in(what);
  };
  BENCHCTL_TRY(CommandResult result,
               transport_.run({agent_path(), "pull", "--dir", run_dir(run), "--unit", unit}, options));
  // The hashes decide, whatever the agent says of itself afterwards.
  auto finished = receiver.finish();
  if (finished) return {};
  if (!result.ok()) return failed(result, what);
  return finished.error().in(what);
}

Status AgentClient::append_round(const std::string& run, const RoundSpec& round, Deadline deadline) {
  BENCHCTL_CHECK(check_run(run));
  RunOptions options;
  options.deadline = deadline;
  options.input = text_source(to_json(round).dump());
  BENCHCTL_CHECK(call({agent_path(), "append", "--dir", run_dir(run)}, options,
                      "append round " + std::to_string(round.round) + " to run " + run));
  return {};
}

Status AgentClient::stop(const std::string& run, Deadline deadline) {
  BENCHCTL_CHECK(check_run(run));
  BENCHCTL_CHECK(call({agent_path(), "stop", "--dir", run_dir(run)}, {.deadline = deadline}, "stop run " + run));
  return {};
}

Result<AgentState> AgentClient::state(const std::string& run, Deadline deadline) {
  BENCHCTL_CHECK(check_run(run));
  BENCHCTL_TRY(std::string text,
               call({agent_path(), "state", "--dir", run_dir(run)}, {.deadline = deadline, .output_cap = 64 << 10},
                    "ask for the state of run " + run));
  auto json = Json::parse(text, {.bytes = 64 << 10, .depth = 4, .values = 50});
  if (!json) return json.error().in("state of run " + run);
  return AgentState{(*json)["running"].as_bool(), (*json)["pid"].as_int(), (*json)["last_event"].as_int(),
                    (*json)["done"].as_bool()};
}

}  // namespace benchctl

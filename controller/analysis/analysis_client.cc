#include "controller/analysis/analysis_client.h"

#include <filesystem>

#include "lib/files.h"
#include "lib/text.h"
#include "provisioning/command.h"

namespace benchctl {
namespace {

Error broken(const AnalysisEnv& env, const std::string& what) {
  return Error{ErrorKind::kInternal, "analysis: " + what + "; repair it by: " + env.repair};
}

std::string last_line(std::string_view text) {
  text = trim(text);
  if (size_t end = text.rfind('\n'); end != std::string_view::npos) text.remove_prefix(end + 1);
  return sanitize(text, 300);
}

CommandSpec command_for(const Json& request, const AnalysisEnv& env, Deadline deadline) {
  CommandSpec spec;
  // -P and -s: neither the folder we stand in nor the user's own packages may slip a module in.
  spec.argv = {env.python, "-P", "-s", "-m", "benchctl_analysis"};
  spec.env = default_environment();
  if (!env.package_dir.empty()) spec.env.push_back("PYTHONPATH=" + env.package_dir);
  spec.env.push_back("PYTHONDONTWRITEBYTECODE=1");  // root must not leave its files in a user's source tree
  spec.env.push_back("PYTHONUTF8=1");
  spec.env.push_back("OPENBLAS_NUM_THREADS=1");  // its thread pool costs more than our small tables
  spec.input = request.dump() + "\n";
  spec.deadline = deadline;
  return spec;
}

}  // namespace

AnalysisEnv analysis_env(const std::string& source_root, const std::string& python) {
  AnalysisEnv env;
  std::string folder = source_root + "/analysis";
  env.python = python.empty() ? folder + "/.venv/bin/python" : python;
  env.repair = shell_quote(source_root + "/setup/install");
  // A Python named by the user may belong to another source tree: <folder>/.venv/bin/python.
  std::string beside = std::filesystem::path(env.python).parent_path().parent_path().parent_path().string();
  for (const std::string& candidate : {folder, beside})
    if (env.package_dir.empty() && exists(candidate + "/benchctl_analysis/__main__.py")) env.package_dir = candidate;
  return env;
}

Result<Json> analyse(Json request, const AnalysisEnv& env, Clock& clock, Deadline deadline) {
  if (!exists(env.python)) return broken(env, env.python + " does not exist");
  request.set("protocol", kAnalysisProtocol);
  auto ran = run_command(command_for(request, env, deadline), clock);
  if (!ran) return ran.error().in("analysis");
  if (!ran->signal.empty()) return broken(env, "ended by SIG" + ran->signal);
  if (ran->exit_code != 0)
    return broken(env, "exit code " + std::to_string(ran->exit_code) + ": " + last_line(ran->errors));
  auto answer = Json::parse(ran->output);
  if (!answer) return broken(env, "its answer is no JSON: " + answer.error().message);
  const Json& protocol = (*answer)["protocol"];
  if (protocol.as_int(-1) != kAnalysisProtocol)
    return broken(env, "it speaks protocol " + sanitize(protocol.dump(), 40) + ", this benchctl speaks " +
                           std::to_string(kAnalysisProtocol));
  if (!(*answer)["ok"].as_bool())
    return Error{ErrorKind::kInternal, "analysis: " + sanitize((*answer)["error"].as_string(), 1000)};
  return answer;
}

}  // namespace benchctl

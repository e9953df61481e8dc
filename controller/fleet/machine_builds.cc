#include "controller/fleet/machine_builds.h"

#include <algorithm>

#include "lib/files.h"
#include "lib/sha256.h"

namespace benchctl {
namespace {

std::string builds_path(const std::string& run_folder, const std::string& machine) {
  return run_folder + "/builds/" + machine + ".json";
}

Json texts(const std::map<std::string, std::string>& map) {
  Json json = Json::object();
  for (const auto& [key, text] : map) json.set(key, text);
  return json;
}

std::map<std::string, std::string> texts_of(const Json& json) {
  std::map<std::string, std::string> map;
  for (const auto& [key, text] : json.as_object()) map[key] = text.as_string();
  return map;
}

}  // namespace

bool builds_on_machines(const Plan& plan) {
  return std::any_of(plan.suites.begin(), plan.suites.end(), [](const Suite& suite) { return suite.on_machine; });
}

Status save_builds(const std::string& run_folder, const std::string& machine, const MachineBuilds& builds) {
  Json bundles = Json::object();
  for (const auto& [key, bundle] : builds.bundles)
    bundles.set(key, Json::object({{"sha256", bundle.sha256}, {"manifest", bundle.manifest}}));
  Json document = Json::object();
  document.set("bundles", std::move(bundles));
  document.set("unbuilt", texts(builds.unbuilt));
  document.set("unfit", texts(builds.unfit));
  BENCHCTL_CHECK(make_dirs(run_folder + "/builds"));
  return write_atomic(builds_path(run_folder, machine), document.dump_pretty() + "\n");
}

Result<MachineBuilds> load_builds(const std::string& run_folder, const std::string& machine) {
  MachineBuilds builds;
  const std::string path = builds_path(run_folder, machine);
  if (!exists(path)) return builds;
  BENCHCTL_TRY(std::string text, read_file(path));
  auto document = Json::parse(text);
  if (!document) return document.error().in(path);
  for (const auto& [key, bundle] : (*document)["bundles"].as_object()) {
    if (!valid_sha256(bundle["sha256"].as_string()))
      return Error{ErrorKind::kInternal, path + ": a bundle without its hash"};
    builds.bundles[key] = {bundle["sha256"].as_string(), "", bundle["manifest"]};
  }
  builds.unbuilt = texts_of((*document)["unbuilt"]);
  builds.unfit = texts_of((*document)["unfit"]);
  return builds;
}

RunInput seen_by(const RunInput& input, const MachineBuilds& builds) {
  RunInput seen = input;
  std::erase_if(seen.bundles, [](const auto& bundle) { return !bundle.second.manifest["on_machine"].is_null(); });
  for (const auto& [key, bundle] : builds.bundles) seen.bundles[key] = bundle;
  for (const auto& [key, why] : builds.unbuilt) seen.unbuilt[key] = why;
  seen.unfit = builds.unfit;
  return seen;
}

}  // namespace benchctl

#include "controller/cli/run_inputs.h"

#include "lib/files.h"
#include "lib/sha256.h"

namespace benchctl {
namespace {

constexpr int kInputsVersion = 2;

std::string inputs_path(const std::string& run_folder) {
  return run_folder + "/inputs.json";
}

// Of the declarations that the plan uses; what they build is in the bundles' own hashes.
Result<Json> declarations(const RunInput& input) {
  Json hashes = Json::object();
  for (const Suite& suite : input.plan.suites) {
    for (const Workload& workload : input.workloads) {
      if (workload.name != suite.workload) continue;
      BENCHCTL_TRY(std::string hash, sha256_file(workload.folder + "/workload.toml"));
      hashes.set(workload.name, hash);
    }
  }
  return hashes;
}

}  // namespace

Status save_inputs(Context& context, RunInput& input) {
  BENCHCTL_TRY(std::string bytes, read_file(input.agent_binary));
  std::string copy = context.cache + "/agents/benchagent-" + sha256_hex(bytes);
  if (!exists(copy)) {
    BENCHCTL_CHECK(make_dirs(context.cache + "/agents"));
    BENCHCTL_CHECK(write_atomic(copy, bytes, 0755));
  }
  input.agent_binary = copy;
  Json document = Json::object();
  document.set("version", kInputsVersion);
  document.set("root", input.plan.root);
  document.set("agent", copy);
  document.set("keep_ms", input.keep_ms);
  if (input.harden) document.set("harden", to_json(*input.harden));
  Json bundles = Json::array();
  for (const auto& [key, bundle] : input.bundles)
    bundles.push(Json::object(
        {{"key", key}, {"sha256", bundle.sha256}, {"folder", bundle.folder}, {"manifest", bundle.manifest}}));
  document.set("bundles", std::move(bundles));
  Json unbuilt = Json::object();
  for (const auto& [key, why] : input.unbuilt) unbuilt.set(key, why);
  document.set("unbuilt", std::move(unbuilt));
  BENCHCTL_TRY(Json hashes, declarations(input));
  document.set("workloads", std::move(hashes));
  return write_atomic(inputs_path(input.folder), document.dump_pretty() + "\n");
}

Status load_inputs(const std::string& run_folder, RunInput& input) {
  std::string path = inputs_path(run_folder);
  BENCHCTL_TRY(std::string text, read_file(path));
  auto document = Json::parse(text);
  if (!document) return document.error().in(path);
  if ((*document)["version"].as_int() != kInputsVersion)
    return Error{ErrorKind::kUsage, path + ": of another version of benchctl; resume the run with that one"};
  input.plan.root = (*document)["root"].as_string();
  input.agent_binary = (*document)["agent"].as_string();
  input.keep_ms = (*document)["keep_ms"].as_int();
  if (!exists(input.agent_binary))
    return Error{ErrorKind::kUsage, "the agent of the run is not in the cache any more (" + input.agent_binary +
                                        "): it cannot go on with the same one; its finished rounds stand"};
  if ((*document)["harden"].is_object()) {
    auto profile = harden_profile_from_json((*document)["harden"]);
    if (!profile) return profile.error().in(path);
    input.harden = *profile;
  }
  for (const Json& bundle : (*document)["bundles"].as_array())
    input.bundles[bundle["key"].as_string()] = {bundle["sha256"].as_string(), bundle["folder"].as_string(),
                                                bundle["manifest"]};
  for (const auto& [key, why] : (*document)["unbuilt"].as_object()) input.unbuilt[key] = why.as_string();
  for (const auto& [key, bundle] : input.bundles)
    if (!exists(bundle.folder))
      return Error{ErrorKind::kUsage, "the programs of " + key + " are not in the cache any more (" + bundle.folder +
                                          "): the run cannot go on with the same ones; its finished rounds stand"};
  BENCHCTL_TRY(Json now, declarations(input));
  if (now.dump() != (*document)["workloads"].dump())
    return Error{
        ErrorKind::kUsage,
        "the workloads changed since the run began: it cannot go on as the same run; its finished rounds stand"};
  return {};
}

}  // namespace benchctl

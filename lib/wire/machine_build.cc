#include "lib/wire/machine_build.h"

#include "lib/sha256.h"

namespace benchctl {
namespace {

constexpr size_t kWhyBytes = 4096;
// A byte of a text may take six in JSON.
constexpr int64_t kAnswerBytes = 6 * static_cast<int64_t>(kBuildLogBytes + kBuildToolsBytes + kWhyBytes) + 1024;

Error bad(const std::string& what) {
  return Error{ErrorKind::kInternal, "build: " + what};
}

Result<std::string> text_of(const Json& json, std::string_view key, size_t most) {
  const Json& value = json[key];
  if (!value.is_string()) return bad("\"" + std::string(key) + "\" is no text");
  if (value.as_string().size() > most) return bad("\"" + std::string(key) + "\" is too long");
  return value.as_string();
}

}  // namespace

Json to_json(const MachineBuild& build) {
  Json json = Json::object();
  json.set("ok", build.ok);
  json.set("tools_missing", build.tools_missing);
  json.set("again", build.again);
  json.set("why", build.why);
  json.set("sha256", build.sha256);
  json.set("toolchains", build.toolchains);
  json.set("log", build.log);
  return json;
}

Result<MachineBuild> parse_machine_build(std::string_view text) {
  auto json = Json::parse(text, {.bytes = kAnswerBytes, .depth = 4, .values = 50});
  if (!json) return json.error().in("build");
  MachineBuild build;
  for (auto [key, flag] :
       {std::pair{"ok", &build.ok}, {"tools_missing", &build.tools_missing}, {"again", &build.again}}) {
    if (!(*json)[key].is_bool()) return bad("\"" + std::string(key) + "\" is neither true nor false");
    *flag = (*json)[key].as_bool();
  }
  BENCHCTL_TRY(build.why, text_of(*json, "why", kWhyBytes));
  BENCHCTL_TRY(build.sha256, text_of(*json, "sha256", 64));
  BENCHCTL_TRY(build.toolchains, text_of(*json, "toolchains", kBuildToolsBytes));
  BENCHCTL_TRY(build.log, text_of(*json, "log", kBuildLogBytes));
  if (build.ok && !valid_sha256(build.sha256)) return bad("it is said to be good, and names no bundle");
  if (build.ok && (build.tools_missing || !build.why.empty())) return bad("it is said to be good and to have failed");
  if (!build.ok && build.why.empty()) return bad("it failed, and why is not said");
  return build;
}

}  // namespace benchctl

#include "controller/workloads/toolchain.h"

#include <algorithm>

#include "controller/toml/table_reader.h"
#include "controller/workloads/recipe.h"
#include "controller/workloads/sources.h"
#include "lib/files.h"
#include "lib/sha256.h"
#include "lib/text.h"
#include "provisioning/command.h"

namespace benchctl {
namespace {

constexpr int kDepth = 8;
constexpr int64_t kTextBytes = 64 << 10;

// KEY=VALUE lines.
Result<std::vector<std::string>> parse_environment(std::string_view text, const std::string& from) {
  std::vector<std::string> env;
  for (std::string_view line : split(text, '\n')) {
    if (line.empty()) continue;
    size_t equals = line.find('=');
    bool good = equals != std::string_view::npos && equals > 0 && sanitize(line, 4096) == line &&
                std::all_of(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(equals),
                            [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; });
    if (!good) return Error{ErrorKind::kUsage, from + " printed a line that is no KEY=VALUE: " + sanitize(line, 200)};
    env.emplace_back(line);
  }
  return env;
}

std::string upper(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c == '-' ? '_' : c;
  });
  return name;
}

}  // namespace

std::string result_variable(const std::string& toolchain) {
  return upper(toolchain) + "_DIR";
}

std::vector<std::string> environment_of(const BuildContext& context, const std::vector<Toolchain>& toolchains,
                                        const BuildTarget& target) {
  std::vector<std::string> env = context.env.empty() ? default_environment() : context.env;
  for (const Toolchain& toolchain : toolchains) env.insert(env.end(), toolchain.env.begin(), toolchain.env.end());
  env.push_back("BENCHCTL_ARCH=" + target.arch);
  env.push_back("BENCHCTL_ISA=" + target.isa);
  return env;
}

Result<ToolchainDecl> Toolchains::read(const std::string& name) const {
  const std::string folder = context_.root + "/toolchains/" + name, file = folder + "/toolchain.toml";
  if (!exists(file))
    return Error{ErrorKind::kUsage,
                 "there is no toolchain \"" + sanitize(name, 80) + "\": " + file + " does not exist"};
  BENCHCTL_TRY(std::string text, read_file(file, kTextBytes));
  BENCHCTL_TRY(toml::Node document, toml::parse(text, file));
  Findings findings(file, {});
  TableReader table(document, name, findings);
  ToolchainDecl declared;
  table.text("help", declared.help);
  if (table.has("needs")) table.texts("needs", declared.needs, 16);
  if (table.has("sources")) table.texts("sources", declared.sources, 64);
  if (table.has("probe")) table.words("probe", declared.probe, 64);
  if (table.has("build")) table.words("build", declared.build, 64);
  if (table.has("portable")) table.texts("portable", declared.portable, 64);
  for (const std::string& one : declared.portable)
    if (!safe_relative_path(one))
      table.wrong("portable", "must name files of its result, not \"" + sanitize(one, 80) + "\"");
  if (table.has("portable") && !table.has("build")) table.wrong("portable", "needs a build");
  table.boolean("any_target", declared.any_target);
  if (!table.has("probe") && !table.has("build")) table.missing("probe", "or build, a command");
  table.refuse_unknown();
  if (!findings.ok()) return findings.as_error();
  return declared;
}

Result<std::vector<std::string>> Toolchains::probe(const std::string& name, const ToolchainDecl& declared,
                                                   const std::vector<std::string>& env) const {
  CommandSpec spec;
  spec.argv = declared.probe;
  spec.cwd = context_.root + "/toolchains/" + name;
  spec.env = env;
  spec.deadline = Deadline::in(context_.clock, std::chrono::minutes(1));
  spec.output_cap = kTextBytes;
  auto ended = run_command(spec, context_.clock);
  if (!ended) return Error{ErrorKind::kUsage, "toolchain " + name + ": " + ended.error().message};
  if (!ended->ok()) return Error{ErrorKind::kUsage, "toolchain " + name + ": " + sanitize(trim(ended->errors), 1000)};
  return parse_environment(ended->output, "toolchain " + name);
}

Result<Toolchain> Toolchains::make(const std::string& name, const ToolchainDecl& declared, const BuildTarget& target,
                                   const std::vector<Toolchain>& below) {
  const std::string folder = context_.root + "/toolchains/" + name;
  std::vector<std::string> env = environment_of(context_, below, target);
  Toolchain made{name, declared.help, {}, "", false};
  made.pending = std::any_of(below.begin(), below.end(), [](const Toolchain& one) { return one.pending; });
  if (made.pending) return made;
  if (!declared.probe.empty()) {
    BENCHCTL_TRY(made.env, probe(name, declared, env));
  }
  BENCHCTL_TRY(auto names, list_dir(folder));
  BENCHCTL_TRY(std::string files, hash_files(folder, names));
  std::string identity = "toolchain 2\n" + name + "\n" + files + "\n" + join(made.env, "\n") + "\n";
  for (const std::string& source : declared.sources) {
    BENCHCTL_TRY(std::string hash, sha256_file(folder + "/" + source));
    identity += source + " " + hash + "\n";
  }
  for (const Toolchain& one : below) identity += one.name + " " + one.key + "\n";
  if (!declared.any_target) identity += target.text() + "\n";
  made.key = sha256_hex(identity);
  if (!declared.build.empty()) BENCHCTL_CHECK(build(name, declared, target, env, made));
  return made;
}

// Into the cache, unless it is there; `made` gets its folder and what it says of itself.
Status Toolchains::build(const std::string& name, const ToolchainDecl& declared, const BuildTarget& target,
                         const std::vector<std::string>& env, Toolchain& made) {
  const std::string out = context_.cache_dir + "/toolchains/" + name + "-" + made.key.substr(0, 16);
  if (!exists(out)) {
    if (look_) {
      made.pending = true;
      return last_failure(out);
    }
    context_.say("toolchain " + name + ": building (" + declared.help + ")");
    BENCHCTL_CHECK(make_dirs(context_.cache_dir + "/toolchains"));
    std::vector<std::string> own = env;  // and what its own probe found
    own.insert(own.end(), made.env.begin(), made.env.end());
    std::string label = "toolchain/" + name + (declared.any_target ? "" : "/" + target.isa);
    BENCHCTL_CHECK(run_recipe({label, context_.root + "/toolchains/" + name, {declared.build}, own}, out, context_));
  }
  made.env.push_back(result_variable(name) + "=" + out);
  if (exists(out + "/environment")) {
    BENCHCTL_TRY(std::string text, read_file(out + "/environment", kTextBytes));
    BENCHCTL_TRY(auto lines, parse_environment(text, out + "/environment"));
    made.env.insert(made.env.end(), lines.begin(), lines.end());
  }
  return {};
}

Status Toolchains::add(const std::string& name, const BuildTarget& target, int depth, std::vector<Toolchain>& found) {
  auto same = [&](const Toolchain& one) { return one.name == name; };
  if (std::any_of(found.begin(), found.end(), same)) return {};
  if (depth > kDepth) return Error{ErrorKind::kUsage, "toolchain " + name + " needs itself, through its needs"};
  BENCHCTL_TRY(ToolchainDecl declared, read(name));
  std::vector<Toolchain> below;
  for (const std::string& need : declared.needs) BENCHCTL_CHECK(add(need, target, depth + 1, below));
  const std::string key = name + " " + target.text();
  auto known = known_.find(key);
  // A failure is remembered, too: each toolchain is tried once.
  if (known == known_.end()) known = known_.emplace(key, make(name, declared, target, below)).first;
  if (!known->second) return known->second.error();
  for (const Toolchain& one : below)
    if (std::none_of(found.begin(), found.end(), [&](const Toolchain& other) { return other.name == one.name; }))
      found.push_back(one);
  found.push_back(*known->second);
  return {};
}

Result<std::vector<Toolchain>> Toolchains::resolve(const std::vector<std::string>& names, const BuildTarget& target) {
  std::vector<Toolchain> found;
  for (const std::string& name : names) BENCHCTL_CHECK(add(name, target, 0, found));
  return found;
}

}  // namespace benchctl

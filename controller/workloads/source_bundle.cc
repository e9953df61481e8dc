#include "controller/workloads/source_bundle.h"

#include <algorithm>
#include <filesystem>

#include "controller/workloads/bundle_parts.h"
#include "controller/workloads/sources.h"
#include "lib/files.h"
#include "lib/sha256.h"
#include "lib/text.h"

namespace benchctl {
namespace {

constexpr int kDepth = 8;
constexpr std::string_view kHelpers = "on_machine.sh";

// A tool that the machine must have, or sources that were made here.
struct Part {
  std::string name;
  ToolchainDecl declared;
  bool made_here() const { return !declared.portable.empty(); }
};

Status add_part(const std::string& name, const Toolchains& toolchains, int depth, std::vector<Part>& parts) {
  if (std::any_of(parts.begin(), parts.end(), [&](const Part& part) { return part.name == name; })) return {};
  if (depth > kDepth) return Error{ErrorKind::kUsage, "toolchain " + name + " needs itself, through its needs"};
  BENCHCTL_TRY(ToolchainDecl declared, toolchains.read(name));
  Part part{name, std::move(declared)};
  if (!part.made_here() && !part.declared.build.empty())
    return Error{ErrorKind::kUsage, "toolchain " + name + " is built for one target: it cannot be taken to a machine"};
  // What made sources is not asked for again there.
  if (!part.made_here())
    for (const std::string& need : part.declared.needs) BENCHCTL_CHECK(add_part(need, toolchains, depth + 1, parts));
  parts.push_back(std::move(part));
  return {};
}

Result<std::vector<Part>> parts_of(const Workload& workload, const BuildDecl& build, const std::string& arch,
                                   const Toolchains& toolchains) {
  if (build.isas_on_machine(arch).empty())
    return Error{ErrorKind::kUsage, workload.name + "/" + build.name + " is not for building on a machine of " +
                                        sanitize(arch, 40) + " (on_machine in its [build])"};
  std::vector<Part> parts;
  for (const std::string& need : build.needs) BENCHCTL_CHECK(add_part(need, toolchains, 0, parts));
  return parts;
}

std::vector<std::string> made_here(const std::vector<Part>& parts) {
  std::vector<std::string> names;
  for (const Part& part : parts)
    if (part.made_here()) names.push_back(part.name);
  return names;
}

std::string script_of(const Workload& workload, const BuildDecl& build, const std::vector<Part>& parts) {
  std::string script = "#!/bin/sh\n# The recipe " + workload.name + "/" + build.name +
                       ", for the machine that it is run on (benchagent build).\n";
  script += "here=$(cd \"$(dirname \"$0\")\" && pwd)\n. \"$here/" + std::string(kHelpers) + "\"\n";
  for (const Part& part : parts) {
    if (part.made_here())
      script += "made " + part.name + " " + result_variable(part.name) + "\n";
    else
      script += "probe " + part.name + " " + shell_quote(part.declared.probe) + "\n";
  }
  script += "all_there\ncd \"$here/" + workload.name + "\"\n";
  for (const auto& words : build.steps) script += "step " + shell_quote(words) + "\n";
  return script;
}

Status copy_files(const std::string& from, const std::vector<std::string>& paths, const std::string& to) {
  namespace fs = std::filesystem;
  for (const std::string& path : paths) {
    std::error_code ec;
    fs::create_directories(fs::path(to + "/" + path).parent_path(), ec);
    if (!ec) fs::copy_file(from + "/" + path, to + "/" + path, ec);
    if (ec) return Error{ErrorKind::kInternal, "copy " + from + "/" + path + " to " + to + ": " + ec.message()};
  }
  return {};
}

// `folder` of a made part: from its variable, which Toolchains sets.
std::string folder_of(const std::vector<Toolchain>& found, const std::string& name) {
  const std::string begin = result_variable(name) + "=";
  for (const Toolchain& one : found)
    for (const std::string& line : one.env)
      if (one.name == name && line.starts_with(begin)) return line.substr(begin.size());
  return "";
}

Status fill(const std::string& tree, const Workload& workload, const BuildDecl& build, const std::vector<Part>& parts,
            const std::vector<Toolchain>& found, const BuildContext& context) {
  BENCHCTL_CHECK(remove_tree(tree));
  BENCHCTL_CHECK(make_dirs(tree, 0755));
  BENCHCTL_TRY(auto sources, find_sources(workload.folder, build.sources));
  BENCHCTL_CHECK(copy_files(workload.folder, sources, tree + "/" + workload.name));
  for (const Part& part : parts) {
    if (part.made_here()) {
      std::vector<std::string> files = part.declared.portable;
      const std::string made = folder_of(found, part.name), to = tree + "/made/" + part.name;
      if (exists(made + "/environment")) files.push_back("environment");
      BENCHCTL_CHECK(copy_files(made, files, to));
      if (!exists(to + "/environment")) BENCHCTL_CHECK(write_atomic(to + "/environment", "", 0644));
    } else {
      const std::string folder = context.root + "/toolchains/" + part.name;
      BENCHCTL_TRY(auto names, list_dir(folder));
      BENCHCTL_CHECK(copy_files(folder, names, tree + "/toolchains/" + part.name));
    }
  }
  BENCHCTL_CHECK(copy_files(context.root + "/toolchains", {std::string(kHelpers)}, tree));
  return write_atomic(tree + "/build.sh", script_of(workload, build, parts), 0644);
}

}  // namespace

Result<Bundle> bundle_sources(const Workload& workload, const BuildDecl& build, const std::string& arch,
                              Toolchains& toolchains, BuildContext& context) {
  BENCHCTL_CHECK(make_dirs(context.cache_dir + "/builds", 0755));
  BENCHCTL_TRY(FileLock turn, take_cache(context));
  BENCHCTL_TRY(auto parts, parts_of(workload, build, arch, toolchains));
  BENCHCTL_TRY(auto found, toolchains.resolve(made_here(parts), *build.target(arch)));
  const std::string tree = context.cache_dir + "/builds/" + workload.name + "-" + build.name + "-sources";
  BENCHCTL_CHECK(fill(tree, workload, build, parts, found, context));
  // The hash of all that decides the result but for the machine: its own tools are told by the machine.
  BENCHCTL_TRY(std::string key, hash_files(tree, {}));
  Bundle bundle{workload.name, build.name, "", "", describe_bundle(workload, build, context), false};
  bundle.manifest.set("arch", arch);
  bundle.manifest.set("on_machine", build.isas_on_machine(arch));
  bundle.manifest.set("min_glibc", "none");
  bundle.manifest.set("key", key);
  BENCHCTL_TRY(bundle.sha256, place_bundle(tree, bundle.manifest, context));
  bundle.folder = context.cache_dir + "/bundles/" + bundle.sha256;
  return bundle;
}

Outlook look_at_sources(const Workload& workload, const BuildDecl& build, const std::string& arch,
                        Toolchains& toolchains) {
  auto found = [&]() -> Status {
    BENCHCTL_TRY(auto parts, parts_of(workload, build, arch, toolchains));
    BENCHCTL_TRY(auto sources, find_sources(workload.folder, build.sources));
    auto made = toolchains.resolve(made_here(parts), *build.target(arch));
    return made ? Status() : Status(made.error());
  }();
  if (found) return {Readiness::kNotBuiltYet, "", ErrorKind::kUsage};
  return {Readiness::kCannot, found.error().message, found.error().kind};
}

IsaChoice choose_isa(const Json& manifest, const std::string& wanted, const std::vector<std::string>& cpu_flags) {
  std::vector<std::string> isas = manifest["on_machine"].as_strings();
  auto lacks = [&](const std::string& isa) {
    return cpu_flags.empty() ? std::vector<std::string>{} : missing_flags(flags_of_isa(isa), cpu_flags);
  };
  if (std::find(isas.begin(), isas.end(), wanted) != isas.end()) isas = {wanted};
  for (auto isa = isas.rbegin(); isa != isas.rend(); ++isa)
    if (lacks(*isa).empty()) return {*isa, ""};
  if (isas.empty()) return {"", "its sources name no instruction set"};
  return {"", isas.front() + " needs " + join(lacks(isas.front()), ", ") + ", which it lacks"};
}

}  // namespace benchctl

// Toolchains: what build recipes need of this computer (workloads/toolchains/README.md).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "controller/workloads/build_context.h"
#include "controller/workloads/target.h"
#include "lib/result.h"

namespace benchctl {

struct Toolchain {
  std::string name;
  std::string help;
  std::vector<std::string> env;  // KEY=VALUE, of this one alone
  std::string key;               // sha256 over all that decides what it makes
  bool pending = false;          // only when looking: it, or one that it needs, is not built yet
};

// toolchain.toml.
struct ToolchainDecl {
  std::string help;
  std::vector<std::string> needs, probe, build, sources;
  // Files of its result that are sources, good on every machine; empty: its result is for its target alone.
  std::vector<std::string> portable;
  bool any_target = false;  // a tool that runs here, the same whatever is built with it
};

// Finds, and builds where needed, each toolchain at most once.
class Toolchains {
 public:
  // `look`: nothing is built; what would have to be is `pending`, and what needs that is not probed.
  explicit Toolchains(BuildContext& context, bool look = false) : context_(context), look_(look) {}

  // Those named and the ones that they need, in the order of their needs. Errors (kUsage) name what is missing on this
  // computer and how to get it; kWorkload: its build failed.
  Result<std::vector<Toolchain>> resolve(const std::vector<std::string>& names, const BuildTarget& target);

  // What stands in its folder; kUsage when there is none.
  Result<ToolchainDecl> read(const std::string& name) const;

 private:
  Status add(const std::string& name, const BuildTarget& target, int depth, std::vector<Toolchain>& found);
  Result<Toolchain> make(const std::string& name, const ToolchainDecl& declared, const BuildTarget& target,
                         const std::vector<Toolchain>& below);
  Status build(const std::string& name, const ToolchainDecl& declared, const BuildTarget& target,
               const std::vector<std::string>& env, Toolchain& made);
  Result<std::vector<std::string>> probe(const std::string& name, const ToolchainDecl& declared,
                                         const std::vector<std::string>& env) const;

  BuildContext& context_;
  const bool look_;
  std::map<std::string, Result<Toolchain>> known_;  // by name and target
};

// The variable that a toolchain's result is found by: sqlite_tree -> SQLITE_TREE_DIR.
std::string result_variable(const std::string& toolchain);

// The context's environment, what every toolchain has added, and the target as BENCHCTL_ARCH and BENCHCTL_ISA.
std::vector<std::string> environment_of(const BuildContext& context, const std::vector<Toolchain>& toolchains,
                                        const BuildTarget& target);

}  // namespace benchctl

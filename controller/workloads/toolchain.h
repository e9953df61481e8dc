// Toolchains: what build recipes need of this computer (workloads/toolchains/README.md).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "controller/workloads/build_context.h"
#include "lib/result.h"

namespace benchctl {

struct Toolchain {
  std::string name;
  std::string help;
  std::vector<std::string> env;  // KEY=VALUE, of this one alone
  std::string key;               // sha256 over all that decides what it makes
};

// Finds, and builds where needed, each toolchain at most once.
class Toolchains {
 public:
  explicit Toolchains(BuildContext& context) : context_(context) {}

  // Those named and the ones that they need, in the order of their needs. `isa` is what built ones are built for.
  // Errors (kUsage) name what is missing on this computer and how to get it.
  Result<std::vector<Toolchain>> resolve(const std::vector<std::string>& names, const std::string& isa);

 private:
  struct Declared {
    std::string help;
    std::vector<std::string> needs, probe, build, sources;
  };
  Result<Declared> read(const std::string& name) const;
  Status add(const std::string& name, const std::string& isa, int depth, std::vector<Toolchain>& found);
  Result<Toolchain> make(const std::string& name, const Declared& declared, const std::string& isa,
                         const std::vector<Toolchain>& below);
  Result<std::vector<std::string>> probe(const std::string& name, const Declared& declared,
                                         const std::vector<std::string>& env) const;

  BuildContext& context_;
  std::map<std::string, Toolchain> known_;  // by "name isa"
};

// `base` and what every toolchain has added.
std::vector<std::string> environment_of(const BuildContext& context, const std::vector<Toolchain>& toolchains,
                                        const std::string& isa);

}  // namespace benchctl

// One value of a declared parameter, as plans and claims write it.
#pragma once

#include <string>

#include "controller/toml/toml.h"
#include "controller/workloads/workload.h"

namespace benchctl {

struct ParamValue {
  std::string value;  // canonical: "1s", "200ms"
  std::string wrong;  // why it cannot be used; empty when it can
  std::string doubt;
};

ParamValue param_value(const ParamDecl& decl, const toml::Node& node);

}  // namespace benchctl

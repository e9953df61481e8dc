// A pipe whose ends close themselves and are not inherited.
#pragma once

#include "lib/files.h"
#include "lib/result.h"

namespace benchctl {

struct Pipe {
  UniqueFd read, write;
};

Result<Pipe> make_pipe();

}  // namespace benchctl

// Named places where a test, the simulation or BENCHCTL_FAILPOINT can make the process fail: one after each intent and
// one after each done.
#pragma once

#include <string>

#include "lib/result.h"

namespace benchctl {

class Failpoints {
 public:
  virtual ~Failpoints() = default;
  // Called at `where` ("after_intent:round:3"). An error is returned as if the step had failed there; a real kill does
  // not return.
  virtual Status reach(const std::string& where) = 0;
};

class NoFailpoints final : public Failpoints {
 public:
  Status reach(const std::string&) override { return {}; }
};

// The real binary's: kills the process with SIGKILL at the named place, at its n-th visit ("name" or "name#n").
class KillAt final : public Failpoints {
 public:
  explicit KillAt(const std::string& spec);
  Status reach(const std::string& where) override;

 private:
  std::string name_;
  int visits_left_ = 1;
};

}  // namespace benchctl

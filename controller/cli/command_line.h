// The command line as data: a verb declares its options into variables and is called when they have been read. CLI11
// stays in command_line.cc.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lib/result.h"

namespace benchctl {

// One verb's options. Names are written "--long" or "--long,-s"; the variable keeps its value when the option is
// absent.
class Options {
 public:
  virtual ~Options() = default;
  virtual void flag(const std::string& name, bool& variable, const std::string& help) = 0;
  virtual void text(const std::string& name, std::string& variable, const std::string& help) = 0;
  virtual void integer(const std::string& name, int64_t& variable, int64_t min, int64_t max,
                       const std::string& help) = 0;
  virtual void texts(const std::string& name, std::vector<std::string>& variable,
                     const std::string& help) = 0;  // repeatable
  virtual void positional(const std::string& name, std::string& variable, bool required, const std::string& help) = 0;
  virtual void positionals(const std::string& name, std::vector<std::string>& variable, bool required,
                           const std::string& help) = 0;
};

struct Verb {
  std::string name;     // "run", or "plan check" for a verb of a group
  std::string help;     // one line
  std::string example;  // a whole command
  std::function<void(Options&)> declare;
  std::function<Result<int>()> run;  // the exit code, or an error that becomes one
};

struct Group {
  std::string name;
  std::string help;
};

// Reads argv and calls the verb. Help and version go to standard output (0); mistakes to standard error (2), with the
// nearest word that exists. Errors of a verb are printed as "benchctl: …", one line a message.
int run_command_line(const std::vector<Group>& groups, const std::vector<Verb>& verbs, int argc,
                     const char* const* argv);

}  // namespace benchctl

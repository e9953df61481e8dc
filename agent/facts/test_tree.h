// A machine made of files: what tests of the collectors read instead of the running system, and its tools.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "agent/facts/world.h"
#include "lib/files.h"
#include "lib/test_folder.h"
#include "lib/text.h"

namespace benchctl {

inline std::string testdata(const std::string& name) {
  auto content = read_file(std::string(BENCHCTL_SOURCE_DIR) + "/agent/facts/testdata/" + name);
  EXPECT_TRUE(content.ok()) << name;
  return content ? *content : "";
}

// Answers by the whole command line; everything else is not installed.
class FakeTools final : public Tools {
 public:
  std::map<std::string, std::string> answers;
  Result<std::string> run(const std::vector<std::string>& argv) override {
    auto found = answers.find(join(argv, " "));
    if (found == answers.end()) return Error{ErrorKind::kInternal, "not installed"};
    return found->second;
  }
};

class TestTree {
 public:
  void write(const std::string& path, const std::string& content) {
    ASSERT_TRUE(make_dirs(folder_.path() + path.substr(0, path.rfind('/'))).ok());
    // Not write_atomic: its fsync of hundreds of small files would take seconds.
    FILE* file = std::fopen((folder_.path() + path).c_str(), "w");
    ASSERT_NE(file, nullptr);
    std::fwrite(content.data(), 1, content.size(), file);
    std::fclose(file);
  }
  void cpu(int number, const std::string& file, const std::string& content) {
    write("/sys/devices/system/cpu/cpu" + std::to_string(number) + "/" + file, content + "\n");
  }
  World world() { return World{folder_.path(), tools, clock}; }
  const std::string& root() const { return folder_.path(); }

  FakeTools tools;
  FakeClock clock;

 private:
  TestFolder folder_;
};

}  // namespace benchctl

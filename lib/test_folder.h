// A fresh folder for one test, removed with the object.
#pragma once

#include <cstdlib>
#include <string>

#include "lib/files.h"

namespace benchctl {

class TestFolder {
 public:
  TestFolder() {
    std::string pattern = "/tmp/benchctl-test-XXXXXX";
    path_ = mkdtemp(pattern.data()) != nullptr ? pattern : "";
  }
  ~TestFolder() { (void)remove_tree(path_).ok(); }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace benchctl

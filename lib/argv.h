// Words as exec and posix_spawn want them.
#pragma once

#include <string>
#include <vector>

namespace benchctl {

// Ends with a null pointer; points into `words`, which must stay as they are for as long. (exec does not write to them,
// whatever its signature says.)
inline std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> list;
  list.reserve(words.size() + 1);
  for (const std::string& word : words) list.push_back(const_cast<char*>(word.c_str()));
  list.push_back(nullptr);
  return list;
}

}  // namespace benchctl

// For tests: a machine in a folder, and a systemctl, swapon and swapoff that know it. All state lies in the folder, so
// that it outlives a process that dies in mid-apply.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "agent/quiet/world.h"
#include "lib/files.h"
#include "lib/sha256.h"
#include "lib/test_folder.h"
#include "lib/text.h"

namespace benchctl {

class FakeSystemd final : public Commands {
 public:
  explicit FakeSystemd(std::string root) : root_(std::move(root)) {
    put("/known-masks", "");
    for (const char* folder : {"/units", "/run/systemd/system", "/etc/systemd/system", "/proc/sys/vm"})
      std::filesystem::create_directories(root_ + folder);
  }

  // `file_state` as the unit's own file says it; a mask link overrides it, as in life.
  void unit(const std::string& name, const std::string& active, const std::string& file_state = "enabled",
            const std::string& type = "simple") {
    put("/units/" + name, active + " " + file_state + " " + type + "\n");
  }
  std::string active(const std::string& name) const { return words(name).at(0); }
  void put(const std::string& path, const std::string& content) const {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << content;
  }
  std::string get(const std::string& path) const {
    std::stringstream text;
    text << std::ifstream(root_ + path).rdbuf();
    return text.str();
  }
  // Everything of the machine but journals: paths, link targets, contents.
  std::string dump() const {
    std::vector<std::string> lines;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root_)) {
      std::string path = entry.path().string().substr(root_.size());
      if (path.find("journal") != std::string::npos) continue;
      if (entry.is_symlink()) {
        lines.push_back(path + " -> " + std::filesystem::read_symlink(entry.path()).string());
      } else if (entry.is_regular_file()) {
        lines.push_back(path + " = " + get(path));
      } else {
        lines.push_back(path + "/");
      }
    }
    std::sort(lines.begin(), lines.end());
    return join(lines, "\n");
  }

  Result<ToolEnd> run(const std::vector<std::string>& argv, Nanos, bool) override {
    calls.push_back(join(argv, " "));
    if (die_at > 0 && static_cast<int>(calls.size()) == die_at) _exit(9);
    if (argv[0] == "swapoff" || argv[0] == "swapon") return swap(argv);
    std::string verb;
    std::vector<std::string> names;
    for (size_t i = 1, plain = 0; i < argv.size(); ++i) {
      if (argv[i].starts_with("--")) continue;
      if (plain++ == 0) {
        verb = argv[i];
      } else {
        names.push_back(argv[i]);
      }
    }
    if (verb == "show" && names == std::vector<std::string>{"*.timer"}) return show_timers();
    if (verb == "show") return show(names);
    if (verb == "list-timers") return ToolEnd{0, list_answer.empty() ? list_timers() : list_answer};
    if (verb == "daemon-reload") return reload();
    if (refuse_to_stop == names.at(0)) return ToolEnd{1, "Job failed. See the journal.\n"};
    auto now = words(names.at(0));
    if (verb == "start" && masked(names[0])) return ToolEnd{1, "Unit is masked.\n"};
    unit(names[0], verb == "stop" ? "inactive" : "active", now[1], now[2]);
    return ToolEnd{0, ""};
  }

  std::vector<std::string> calls;
  int die_at = 0;              // the process ends at this call
  std::string list_answer;     // instead of the timers as JSON
  std::string show_answer;     // instead of the states
  std::string refuse_to_stop;  // this unit

 private:
  std::vector<std::string> words(const std::string& name) const {
    std::stringstream text(get("/units/" + name));
    std::vector<std::string> found(3);
    text >> found[0] >> found[1] >> found[2];
    return found;
  }
  // As of the last reload: systemd remembers.
  bool masked(const std::string& name) const {
    return get("/known-masks").find("\n" + name + "\n") != std::string::npos;
  }
  ToolEnd reload() const {
    std::string masks;
    auto names = list_dir(root_ + "/units").value();
    for (const std::string& name : names)
      if (mask_link(name)) masks += "\n" + name + "\n";
    put("/known-masks", masks);
    return {0, ""};
  }
  bool mask_link(const std::string& name) const {
    for (const char* folder : {"/etc/systemd/system.control/", "/etc/systemd/system/"})
      if (std::error_code none; std::filesystem::read_symlink(root_ + folder + name, none) == "/dev/null") return true;
    return false;
  }
  ToolEnd show(const std::vector<std::string>& names) const {
    if (!show_answer.empty()) return {0, show_answer};
    std::string text;
    for (const std::string& name : names) {
      if (!text.empty()) text += "\n";
      auto now = words(name);
      bool there = !now[0].empty();
      text += "Type=" + now[2] + "\nId=" + name + "\nLoadState=" +
              (masked(name) ? "masked"
               : there      ? "loaded"
                            : "not-found") +
              "\nActiveState=" + (there ? now[0] : "inactive") + "\nSubState=x\nUnitFileState=" +
              (masked(name)    ? "masked"
               : now[1] == "-" ? ""
                               : now[1]) +
              "\n";
    }
    return {0, text};
  }
  std::vector<std::string> timers() const {
    auto names = list_dir(root_ + "/units").value();
    std::erase_if(names, [](const std::string& name) { return !name.ends_with(".timer"); });
    return names;
  }
  ToolEnd show_timers() const {
    std::string text;
    for (const std::string& name : timers())
      text += (text.empty() ? "" : "\n") + std::string("Id=") + name + "\nActiveState=" + active(name) +
              "\nSubState=" + (active(name) == "active" ? "waiting" : "dead") +
              "\nNextElapseUSecRealtime=Tue 2026-12-01 06:00:00 UTC\n";
    return {0, text};
  }
  std::string list_timers() const {
    std::string text;
    for (const std::string& name : timers())
      text += (text.empty() ? "[" : ",") + std::string("{\"next\":") +
              (active(name) == "active" ? "1796083200000000" : "null") + ",\"left\":null,\"unit\":\"" + name +
              "\",\"activates\":\"a.service\"}";
    return text.empty() ? "[]" : text + "]";
  }
  ToolEnd swap(const std::vector<std::string>& argv) const {
    const std::string line = argv.back() + " partition 1024 0 " + (argv.size() > 3 ? argv[2] : "-2") + "\n";
    std::string table = get("/proc/swaps");
    if (argv[0] == "swapon") {
      put("/proc/swaps", table + line);
    } else {
      std::string rest;
      for (std::string_view one : split(table, '\n'))
        if (!one.empty() && !one.starts_with(argv.back() + " ")) rest += std::string(one) + "\n";
      put("/proc/swaps", rest);
    }
    return {0, ""};
  }

  std::string root_;
};

}  // namespace benchctl

// Swap off, and on again with the priorities that were found.
#include "agent/quiet/knob.h"
#include "lib/text.h"

namespace benchctl {
namespace {

// Taking a full swap back into memory is slow.
constexpr Nanos kSwapTime = std::chrono::minutes(5);

// "\040" -> " ", as the kernel writes such names.
std::string unescape(std::string_view name) {
  std::string plain;
  for (size_t i = 0; i < name.size(); ++i) {
    auto digit = [&](size_t at) { return at < name.size() && name[at] >= '0' && name[at] <= '7'; };
    if (name[i] == '\\' && digit(i + 1) && digit(i + 2) && digit(i + 3)) {
      plain += static_cast<char>((name[i + 1] - '0') * 64 + (name[i + 2] - '0') * 8 + (name[i + 3] - '0'));
      i += 3;
    } else {
      plain += name[i];
    }
  }
  return plain;
}

class SwapKnob final : public Knob {
 public:
  SwapKnob(HardenKnob asked, QuietWorld& world) : Knob(std::move(asked)), world_(world) {}

  Seen look() override {
    Seen seen;
    Json areas = Json::array();
    std::vector<std::string> names;
    auto table = world_.text("/proc/swaps");
    std::vector<std::string_view> lines = table ? split(*table, '\n') : std::vector<std::string_view>();
    for (size_t i = 1; i < lines.size(); ++i) {
      std::vector<std::string> words;
      std::string word;
      for (char c : std::string(lines[i]) + " ") {
        bool space = c == ' ' || c == '\t';
        if (!space) word += c;
        if (space && !word.empty()) words.push_back(std::exchange(word, ""));
      }
      if (words.size() < 5) continue;
      Json area = Json::object();
      area.set("path", unescape(words[0]));
      area.set("priority", parse_int(words[4]).value_or(-1));
      areas.push(std::move(area));
      names.push_back(sanitize(words[0], 200));
    }
    seen.text = names.empty() ? "off" : join(names, ", ");
    seen.found.set("areas", std::move(areas));
    seen.reason = table ? host_knobs_obstacle(world_) : "this kernel has no swap";
    if (!seen.reason.empty()) seen.state = Seen::State::kNotExposed;
    return seen;
  }

  bool satisfied(const Seen& seen) const override { return seen.text == "off"; }

  Status change(const Seen& seen, Pass pass) override {
    if (pass != Pass::kFiles) return {};
    for (const Json& area : seen.found["areas"].as_array())
      BENCHCTL_CHECK(run({"swapoff", "--", area["path"].as_string()}));
    return {};
  }

  Status put_back(const Json& found, Pass pass) override {
    if (pass != Pass::kFiles) return {};
    const Seen now = look();
    for (const Json& area : found["areas"].as_array()) {
      bool on = false;
      for (const Json& one : now.found["areas"].as_array())
        on = on || one["path"].as_string() == area["path"].as_string();
      if (on) continue;
      std::vector<std::string> argv = {"swapon"};
      // Negative priorities are the kernel's own, given in the order of activation.
      if (int64_t priority = area["priority"].as_int(-1); priority >= 0)
        argv.insert(argv.end(), {"--priority", std::to_string(priority)});
      argv.insert(argv.end(), {"--", area["path"].as_string()});
      BENCHCTL_CHECK(run(argv));
    }
    return {};
  }

 private:
  Status run(const std::vector<std::string>& argv) {
    auto end = world_.commands.run(argv, kSwapTime, true);
    if (!end) return end.error().in(argv[0]);
    if (end->exit_code == 0) return {};
    return Error{ErrorKind::kInternal, join(argv, " ") + ": " + sanitize(trim(end->output), 300)};
  }

  QuietWorld& world_;
};

}  // namespace

std::unique_ptr<Knob> make_swap_knob(HardenKnob asked, QuietWorld& world) {
  return std::make_unique<SwapKnob>(std::move(asked), world);
}

}  // namespace benchctl

// One value in one file of the kernel.
#include "agent/quiet/knob.h"
#include "lib/files.h"
#include "lib/text.h"

namespace benchctl {
namespace {

// "always [madvise] never" -> "madvise"; tabs between numbers -> single spaces.
std::string value_in(std::string_view text) {
  size_t open = text.find('['), close = text.find(']');
  if (open != std::string_view::npos && close != std::string_view::npos && open < close)
    return std::string(text.substr(open + 1, close - open - 1));
  std::string value;
  for (char c : text) {
    bool space = c == ' ' || c == '\t' || c == '\n';
    if (!space) value += c;
    if (space && !value.empty() && value.back() != ' ') value += ' ';
  }
  return std::string(trim(value));
}

class ValueKnob final : public Knob {
 public:
  ValueKnob(HardenKnob asked, std::string path, QuietWorld& world)
      : Knob(std::move(asked)), path_(std::move(path)), world_(world) {}

  Seen look() override {
    Seen seen;
    auto text = world_.text(path_);
    if (text) seen.text = sanitize(value_in(*text), 200);
    seen.found.set("value", seen.text);
    if (std::string obstacle = host_knobs_obstacle(world_); !obstacle.empty()) {
      seen.state = Seen::State::kNotExposed;
      seen.reason = obstacle;
    } else if (!text) {
      seen.state = Seen::State::kNotExposed;
      seen.reason = "this kernel has no " + path_;
    } else if (asked().knob == "smt" && seen.text.starts_with("not")) {
      seen.state = Seen::State::kNotExposed;
      seen.reason = "the CPU has no siblings to switch off (" + seen.text + ")";
    }
    return seen;
  }
  bool satisfied(const Seen& seen) const override { return seen.text == value_in(asked().requested); }
  Status change(const Seen&, Pass pass) override {
    return pass == Pass::kFiles ? world_.write(path_, asked().requested) : Status();
  }
  Status put_back(const Json& found, Pass pass) override {
    if (pass != Pass::kFiles || look().text == found["value"].as_string()) return {};
    return world_.write(path_, found["value"].as_string());
  }

 private:
  std::string path_;
  QuietWorld& world_;
};

}  // namespace

std::unique_ptr<Knob> make_value_knob(HardenKnob asked, std::string path, QuietWorld& world) {
  return std::make_unique<ValueKnob>(std::move(asked), std::move(path), world);
}

}  // namespace benchctl

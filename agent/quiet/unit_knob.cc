// Services and timers: stopped, and masked so that nothing else starts them.
//
// Masks are links that we make ourselves, as systemd.unit(5) describes them, never `systemctl disable`: that also
// removes links of other units (Also=) and rewrites /etc/rc?.d through the packages' scripts, which could not be put
// back exactly. A masked unit needs no disabling.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>

#include "agent/quiet/knob.h"
#include "lib/files.h"
#include "lib/text.h"

namespace benchctl {
namespace {

constexpr const char* kUnitsDir = "/etc/systemd/system";
// Comes before /etc/systemd/system: masks units whose own file lies there.
constexpr const char* kControlDir = "/etc/systemd/system.control";

std::string link_target(const std::string& path) {
  char target[PATH_MAX];
  ssize_t length = readlink(path.c_str(), target, sizeof target);
  return length < 0 ? "" : std::string(target, static_cast<size_t>(length));
}

bool there(const std::string& path) {
  struct stat st {};
  return lstat(path.c_str(), &st) == 0;
}

class UnitKnob final : public Knob {
 public:
  UnitKnob(HardenKnob asked, QuietWorld& world, Units& units) : Knob(std::move(asked)), world_(world), units_(units) {}

  std::string unit() const override { return asked().target; }

  Seen look() override {
    if (!units_.obstacle().empty()) return {Seen::State::kNotExposed, "", units_.obstacle(), {}};
    const UnitState& state = units_.of(asked().target);
    if (!state.error.empty()) return {Seen::State::kUnknown, "", state.error, {}};
    if (!state.there()) return {Seen::State::kAbsent, "", "no such unit", {}};
    Seen seen;
    const std::string& file = state.file_state.empty() ? state.load : state.file_state;
    seen.text = file + ", " + state.active;
    seen.found.set("id", state.id);
    seen.found.set("file_state", file);
    seen.found.set("running", state.running());
    // A oneshot that was found at work has done its work since; a daemon on its way up belongs up.
    seen.found.set("start", state.running() && !(state.active != "active" && state.type == "oneshot"));
    seen.found.set("up", state.active == "active");
    seen.found.set("mask", asked().requested == "masked" && file != "masked" ? mask_path(state.id) : "");
    seen.found.set("control_there", there(world_.path(kControlDir)));
    seen.found.set("links", asked().requested == "disabled" ? links_to(state.id) : Json::array());
    return seen;
  }

  bool satisfied(const Seen& seen) const override {
    if (seen.found["running"].as_bool()) return false;
    if (asked().requested == "masked") return seen.found["file_state"].as_string() == "masked";
    return seen.found["links"].as_array().empty();
  }

  Status change(const Seen& seen, Pass pass) override {
    if (pass == Pass::kRunning)
      return seen.found["running"].as_bool() ? units_.stop(seen.found["id"].as_string()) : Status();
    if (const std::string& mask = seen.found["mask"].as_string(); !mask.empty()) {
      // A control folder that we make must not outlive the mask: see put_back.
      if (mask.starts_with(kControlDir)) BENCHCTL_CHECK(make_dirs(world_.path(kControlDir), 0755));
      if (link_target(world_.path(mask)) != "/dev/null" && symlink("/dev/null", world_.path(mask).c_str()) != 0)
        return errno_error("mask " + mask);
    }
    for (const Json& link : seen.found["links"].as_array())
      if (const std::string& path = link["path"].as_string(); unlink(world_.path(path).c_str()) != 0)
        return errno_error("remove " + path);
    return {};
  }

  Status put_back(const Json& found, Pass pass) override {
    const std::string& id = found["id"].as_string();
    if (pass == Pass::kRunning) {
      const UnitState& now = units_.of(asked().target);
      if (found["start"].as_bool() && !now.running()) return units_.start(id, found["up"].as_bool());
      if (!found["running"].as_bool() && now.running()) return units_.stop(id);
      return {};
    }
    if (const std::string& mask = found["mask"].as_string(); !mask.empty()) {
      const std::string path = world_.path(mask);
      if (link_target(path) == "/dev/null" && unlink(path.c_str()) != 0) return errno_error("unmask " + mask);
      if (mask.starts_with(kControlDir) && !found["control_there"].as_bool()) rmdir(world_.path(kControlDir).c_str());
    }
    for (const Json& link : found["links"].as_array()) {
      const std::string path = world_.path(link["path"].as_string());
      if (!there(path) && symlink(link["to"].as_string().c_str(), path.c_str()) != 0)
        return errno_error("put back " + link["path"].as_string());
    }
    return {};
  }

  bool restored(const Seen& now, const JournalEntry& entry) const override {
    return now.found["file_state"].as_string() == entry.found["file_state"].as_string() &&
           now.found["running"].as_bool() == entry.found["start"].as_bool();
  }

 private:
  std::string mask_path(const std::string& id) const {
    std::string path = std::string(kUnitsDir) + "/" + id;
    bool taken = there(world_.path(path)) && link_target(world_.path(path)) != "/dev/null";
    return taken ? std::string(kControlDir) + "/" + id : path;
  }

  // What enabling the unit has made: links in the .wants and .requires folders of others.
  Json links_to(const std::string& id) const {
    Json links = Json::array();
    for (const std::string& folder : world_.list(kUnitsDir)) {
      if (!folder.ends_with(".wants") && !folder.ends_with(".requires")) continue;
      const std::string path = std::string(kUnitsDir) + "/" + folder + "/" + id;
      std::string to = link_target(world_.path(path));
      if (to.empty()) continue;
      Json link = Json::object();
      link.set("path", path);
      link.set("to", to);
      links.push(std::move(link));
    }
    return links;
  }

  QuietWorld& world_;
  Units& units_;
};

}  // namespace

std::unique_ptr<Knob> make_unit_knob(HardenKnob asked, QuietWorld& world, Units& units) {
  return std::make_unique<UnitKnob>(std::move(asked), world, units);
}

}  // namespace benchctl

#include "controller/harden/profile.h"

#include <algorithm>

#include "controller/toml/table_reader.h"
#include "lib/files.h"
#include "lib/text.h"

namespace benchctl {
namespace {

using Kind = toml::Node::Kind;

constexpr size_t kMostUnits = 200;
constexpr int64_t kHour = 3'600'000;

class ProfileReader {
 public:
  ProfileReader(const toml::Node& document, std::string name, Findings& findings)
      : top_(document, "", findings), name_(std::move(name)), findings_(findings) {}

  HardenProfile read() {
    int schema = 0;
    top_.integer("schema", schema, 1, 1);
    if (!top_.has("schema")) top_.missing("schema", "schema = 1");
    top_.text("name", profile_.name);
    if (profile_.name != name_) top_.wrong("name", "must be " + quoted(name_) + ", the name of its file");
    top_.texts("allow_timers", profile_.allow_timers, kMostUnits);
    for (const std::string& timer : profile_.allow_timers)
      if (!check_knob({"timer", timer, "masked"})) top_.wrong("allow_timers", "names " + quoted(timer) + ", no timer");
    read_waits();
    read_units("services", "service", {"masked", "stopped", "disabled"});
    read_units("timers", "timer", {"masked"});
    for (const HardenKnob& knob : profile_.knobs)
      if (std::count(profile_.allow_timers.begin(), profile_.allow_timers.end(), knob.target) > 0)
        top_.wrong("allow_timers", "names " + quoted(knob.target) + ", which [timers] masks");
    read_values("sysctl", "sysctl");
    read_swap();
    read_values("files", "file");
    read_cpu();
    top_.refuse_unknown();
    return std::move(profile_);
  }

 private:
  void read_waits() {
    const toml::Node* node = top_.table("wait");
    if (node == nullptr) return;
    TableReader table(*node, "[wait]", findings_);
    table.duration("cloud_init", profile_.cloud_init_wait_ms, 0, kHour);
    table.text("cloud_init_marker", profile_.cloud_init_marker);
    table.duration("dpkg", profile_.dpkg_wait_ms, 0, kHour);
    table.refuse_unknown();
    if (const std::string& marker = profile_.cloud_init_marker; !marker.empty() && !marker.starts_with('/'))
      table.wrong("cloud_init_marker", "must be an absolute path");
  }

  void add(HardenKnob knob, toml::Place place) {
    if (auto good = check_knob(knob); !good) return findings_.error(place, good.error().message);
    bool twice = std::any_of(profile_.knobs.begin(), profile_.knobs.end(),
                             [&](const HardenKnob& one) { return one.knob == knob.knob && one.target == knob.target; });
    if (twice) return findings_.error(place, quoted(knob.target) + " is listed twice");
    profile_.knobs.push_back(std::move(knob));
  }

  void read_units(const char* key, const char* knob, const std::vector<std::string>& requests) {
    const toml::Node* node = top_.table(key);
    if (node == nullptr) return;
    TableReader table(*node, "[" + std::string(key) + "]", findings_);
    for (const std::string& request : requests) {
      std::vector<std::string> units;
      table.texts(request, units, kMostUnits);
      const toml::Node* list = table.get(request);
      for (size_t i = 0; i < units.size(); ++i) {
        bool has_place = list->kind == Kind::kArray && i < list->items.size();
        add({knob, units[i], request}, has_place ? list->items[i].place : list->place);
      }
    }
    table.refuse_unknown();
  }

  // Any names; the values are texts, as the kernel takes them.
  void read_values(const char* key, const char* knob) {
    const toml::Node* node = top_.table(key);
    if (node == nullptr) return;
    for (const auto& [name, value] : node->members) {
      if (value.kind == Kind::kString) {
        add({knob, name, value.text}, value.place);
      } else {
        findings_.error(value.place, quoted(name) + " in [" + key + "] must be a text, such as \"0\"");
      }
    }
  }

  void read_swap() {
    const toml::Node* node = top_.table("swap");
    if (node == nullptr) return;
    TableReader table(*node, "[swap]", findings_);
    bool off = false;
    table.boolean("off", off);
    table.refuse_unknown();
    if (off) add({"swap", "all", "off"}, table.place("off"));
  }

  void read_cpu() {
    const toml::Node* node = top_.table("cpu");
    if (node == nullptr) return;
    TableReader table(*node, "[cpu]", findings_);
    for (const char* knob : {"governor", "turbo", "smt"}) {
      std::string value;
      table.text(knob, value);
      if (!value.empty()) add({knob, "all", value}, table.place(knob));
    }
    table.refuse_unknown();
  }

  TableReader top_;
  std::string name_;
  Findings& findings_;
  HardenProfile profile_;
};

std::string folder_of(const std::string& source_root) {
  return source_root + "/provisioning/harden";
}

}  // namespace

Result<HardenProfile> read_harden_profile(std::string_view text, const std::string& file, const std::string& name) {
  BENCHCTL_TRY(toml::Node document, toml::parse(text, file));
  Findings findings(file, {});
  HardenProfile profile = ProfileReader(document, name, findings).read();
  if (!findings.ok()) return findings.as_error();
  return profile;
}

std::vector<std::string> harden_profiles(const std::string& source_root) {
  std::vector<std::string> names;
  auto files = list_dir(folder_of(source_root));
  for (const std::string& file : files ? *files : std::vector<std::string>())
    if (file.ends_with(".toml")) names.push_back(file.substr(0, file.size() - 5));
  return names;
}

Result<HardenProfile> load_harden_profile(const std::string& source_root, const std::string& name) {
  // A plain name: a plan cannot reach for a file of its own.
  const std::vector<std::string> known = harden_profiles(source_root);
  if (!valid_id(name) || std::count(known.begin(), known.end(), name) == 0)
    return Error{ErrorKind::kUsage,
                 "there is no hardening profile " + quoted(name) + meant(name, known) + "; known: " + listed(known)};
  const std::string file = folder_of(source_root) + "/" + name + ".toml";
  BENCHCTL_TRY(std::string text, read_file(file, 256 << 10));
  return read_harden_profile(text, file, name);
}

}  // namespace benchctl

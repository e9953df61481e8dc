#include "agent/facts/system_text.h"
#include "agent/facts/world.h"
#include "lib/text.h"

namespace benchctl {
namespace {

// Packages whose version can change a result; asked in one go, absent ones are left out.
std::optional<Json> packages(const World& world, std::string& why) {
  std::string kernel = world.line("/proc/sys/kernel/osrelease").value_or("");
  auto printed = world.tools.run({"dpkg-query", "-W", "-f", "${db:Status-Abbrev}|${Package}|${Version}\n", "libc6",
                                  "libsqlite3-0", "libstdc++6", "linux-image-" + kernel});
  if (!printed)
    printed = world.tools.run({"rpm", "-q", "--qf", "ii |%{NAME}|%{VERSION}-%{RELEASE}\n", "glibc", "sqlite-libs",
                               "libstdc++", "kernel-core"});
  if (!printed) {
    why = "neither dpkg-query nor rpm answers";
    return std::nullopt;
  }
  Json found = Json::object();
  for (std::string_view line : split(*printed, '\n')) {
    auto parts = split(line, '|');
    if (parts.size() == 3 && parts[0].starts_with("ii") && found.as_object().size() < 64)
      found.set(sanitize(parts[1], 128), sanitize(parts[2], 128));
  }
  return found;
}

}  // namespace

Json os_facts(const World& world) {
  FactGroup group;
  auto text = world.read("/etc/os-release");
  if (!text) text = world.read("/usr/lib/os-release");
  auto release = text ? parse_os_release(*text) : std::map<std::string, std::string>{};
  for (const auto& [key, name] :
       {std::pair{"id", "ID"}, {"version_id", "VERSION_ID"}, {"pretty_name", "PRETTY_NAME"}}) {
    auto found = release.find(name);
    group.set(key, found != release.end() ? std::optional(found->second) : std::nullopt,
              std::string("os-release has no ") + name);
  }
  auto libc = world.tools.run({"getconf", "GNU_LIBC_VERSION"});
  std::string version = libc ? sanitize(trim(*libc), 100) : "";
  group.set("libc", version.empty() ? std::nullopt : std::optional(version),
            "getconf: " + (libc ? std::string("no version") : libc.error().message));
  std::string why;
  auto found = packages(world, why);
  group.set("packages", found, why);
  group.set("hostname", world.line("/proc/sys/kernel/hostname"), "no /proc/sys/kernel/hostname");
  return std::move(group).take();
}

}  // namespace benchctl

#include <sys/timex.h>
#include <unistd.h>

#include "agent/facts/world.h"
#include "lib/files.h"

namespace benchctl {

Json time_facts(const World& world) {
  FactGroup group;
  // The kernel's own view: needs no daemon's tool, and any of chrony, timesyncd and ntpd feeds it.
  timex state{};
  int answer = world.live() ? adjtimex(&state) : -1;
  if (answer < 0) {
    std::string reason = world.live() ? errno_error("adjtimex").message : "a captured tree has no clock";
    for (const char* key : {"ntp_synchronized", "max_error_us", "slew_pending_us"}) group.none(key, reason);
  } else {
    group.set("ntp_synchronized", answer != TIME_ERROR && (state.status & STA_UNSYNC) == 0);
    group.set("max_error_us", int64_t{state.maxerror});
    group.set("slew_pending_us", int64_t{state.offset} / ((state.status & STA_NANO) != 0 ? 1000 : 1));
  }
  char target[256];
  ssize_t length = readlink((world.root + "/etc/localtime").c_str(), target, sizeof target);
  std::string_view zone(target, length > 0 ? static_cast<size_t>(length) : 0);
  size_t folder = zone.find("zoneinfo/");
  group.set("timezone",
            folder != std::string_view::npos ? std::optional(std::string(zone.substr(folder + 9))) : std::nullopt,
            "/etc/localtime is not a link into zoneinfo");
  return std::move(group).take();
}

}  // namespace benchctl

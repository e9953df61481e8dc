#include "agent/quiet/commands.h"

#include <unistd.h>

#include <cerrno>

#include "agent/quiet/harden.h"
#include "lib/files.h"
#include "lib/text.h"

namespace benchctl {
namespace {

constexpr size_t kMaxStdin = 1 << 20;

Error usage(const std::string& what) {
  return Error{ErrorKind::kUsage, what};
}

Result<HardenProfile> profile_from_stdin() {
  std::string text;
  char buffer[65536];
  while (true) {
    ssize_t count = read(0, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno_error("read stdin");
    if (count == 0) break;
    text.append(buffer, static_cast<size_t>(count));
    if (text.size() > kMaxStdin) return usage("harden: the profile is longer than 1 MiB");
  }
  auto json = Json::parse(text, {.bytes = kMaxStdin, .depth = 8, .values = 20'000});
  if (!json) return usage("harden: the profile on standard input: " + json.error().message);
  auto profile = harden_profile_from_json(*json);
  if (!profile) return usage(profile.error().message);
  return profile;
}

Result<HardenReport> report_of(const std::string& verb, Hardening& hardening) {
  if (verb == "undo") return hardening.undo();
  if (verb != "show" && verb != "apply" && verb != "verify")
    return usage("harden knows show, apply, verify and undo, not \"" + sanitize(verb, 60) + "\"");
  BENCHCTL_TRY(HardenProfile profile, profile_from_stdin());
  if (verb == "show") return hardening.show(profile);
  return verb == "apply" ? hardening.apply(profile) : hardening.verify(profile);
}

}  // namespace

Status harden_command(const std::string& verb, const std::string& journal) {
  SystemClock clock;
  SystemCommands commands(clock);
  QuietWorld world{"", commands, clock};
  Hardening hardening(world, journal);
  BENCHCTL_TRY(HardenReport report, report_of(verb, hardening));
  return write_all(1, to_json(report).dump() + "\n");
}

}  // namespace benchctl

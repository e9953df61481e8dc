#include "agent/exec/commands.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <optional>

#include "agent/exec/event_log.h"
#include "agent/exec/put_in_place.h"
#include "agent/exec/round_queue.h"
#include "agent/exec/run_folder.h"
#include "agent/exec/seal.h"
#include "agent/facts/collect.h"
#include "lib/pack.h"
#include "lib/sha256.h"
#include "lib/text.h"
#include "lib/wire/facts.h"
#include "lib/wire/trial.h"

namespace benchctl {
namespace {

constexpr int64_t kMaxStdin = 64 << 20;

// Calls `each` for every block of stdin.
Status read_stdin(const ByteSink& each) {
  char buffer[65536];
  while (true) {
    ssize_t count = read(0, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno_error("read stdin");
    if (count == 0) return {};
    BENCHCTL_CHECK(each({buffer, static_cast<size_t>(count)}));
  }
}

Result<std::string> stdin_text() {
  std::string text;
  BENCHCTL_CHECK(read_stdin([&](std::string_view bytes) {
    text += bytes;
    if (static_cast<int64_t>(text.size()) > kMaxStdin)
      return Status(Error{ErrorKind::kUsage, "stdin: more than " + format_bytes(kMaxStdin)});
    return Status();
  }));
  return text;
}

Status print(const Json& json) {
  return write_all(1, json.dump() + "\n");
}

// The pid of the runner that holds D now.
std::optional<pid_t> running_pid(const RunFolder& folder) {
  UniqueFd fd(open(folder.file("run.lock").c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd || flock(fd.get(), LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK) return std::nullopt;
  char words[64];
  ssize_t count = pread(fd.get(), words, sizeof words, 0);
  std::string_view text(words, count > 0 ? static_cast<size_t>(count) : 0);
  if (!text.starts_with("pid ")) return std::nullopt;
  auto pid = parse_int(trim(text.substr(4)));
  if (!pid || *pid <= 1) return std::nullopt;
  return static_cast<pid_t>(*pid);
}

Status receive_pack(const std::string& sha256, const std::string& temporary) {
  PackReader reader(temporary, PackCaps{});
  BENCHCTL_CHECK(read_stdin([&](std::string_view bytes) { return reader.feed(bytes); }));
  BENCHCTL_CHECK(reader.done());
  std::string found = sha256_hex(format_manifest(reader.entries()));
  if (found != sha256)
    return Error{ErrorKind::kInternal, "pack: its manifest has sha256 " + found + ", asked for was " + sha256};
  return {};
}

}  // namespace

Status unpack(const std::string& sha256, const std::string& dest) {
  if (!valid_sha256(sha256)) return Error{ErrorKind::kUsage, "--sha256 wants 64 lower-case hexadecimal digits"};
  if (exists(dest)) return read_stdin([](std::string_view) { return Status(); });
  umask(022);
  size_t slash = dest.rfind('/');
  std::string parent = slash == std::string::npos ? "." : slash == 0 ? "/" : dest.substr(0, slash);
  BENCHCTL_CHECK(make_dirs(parent, 0755));
  std::string temporary = dest + ".tmp-" + random_hex(4);
  if (mkdir(temporary.c_str(), 0700) != 0) return errno_error("mkdir " + temporary);
  Status status = receive_pack(sha256, temporary);
  if (status) return put_in_place(temporary, dest);
  (void)remove_tree(temporary);
  return status;
}

Status accept_job(const std::string& dir) {
  BENCHCTL_TRY(std::string text, stdin_text());
  auto usage = [](const Error& error) { return Error{ErrorKind::kUsage, error.message}; };
  auto json = Json::parse(text, {.bytes = kMaxStdin, .depth = 16, .values = 5'000'000});
  if (!json) return usage(json.error().in("job"));
  auto job = job_from_json(*json);
  if (!job) return usage(job.error());
  for (const RoundSpec& round : job->rounds)
    if (auto checked = check_round(round); !checked) return usage(checked.error().in("job"));
  BENCHCTL_TRY(RunFolder folder, RunFolder::create(dir));
  if (exists(folder.file("job.json"))) {
    BENCHCTL_TRY(std::string present, read_file(folder.file("job.json"), kMaxStdin));
    if (present == text) return {};
    return Error{ErrorKind::kUsage, folder.path() + ": holds another job already; use a new run folder"};
  }
  return write_atomic(folder.file("job.json"), text);
}

Status accept_round(const std::string& dir) {
  BENCHCTL_TRY(std::string text, stdin_text());
  BENCHCTL_TRY(RunFolder folder, RunFolder::open(dir));
  return append_round(folder, text);
}

Status pull(const std::string& dir, const std::string& unit) {
  BENCHCTL_TRY(RunFolder folder, RunFolder::open(dir));
  BENCHCTL_CHECK(write_unit(folder, unit, [](std::string_view bytes) { return write_all(1, bytes); }));
  BENCHCTL_CHECK(make_dirs(folder.file("acks")));
  UniqueFd ack(open(folder.file("acks/" + unit).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!ack) return errno_error("create " + folder.file("acks/" + unit));
  return {};
}

Status stop(const std::string& dir) {
  BENCHCTL_TRY(RunFolder folder, RunFolder::open(dir));
  if (exists(folder.file("run.done"))) return {};
  BENCHCTL_CHECK(write_atomic(folder.file("stop"), ""));
  auto pid = running_pid(folder);
  if (!pid) return {};
  UniqueFd process(static_cast<int>(syscall(SYS_pidfd_open, *pid, 0)));
  // The lock still names it: the descriptor is that of the runner and not of a later process with its number.
  if (!process || running_pid(folder) != pid) return {};
  if (syscall(SYS_pidfd_send_signal, process.get(), SIGTERM, nullptr, 0) != 0 && errno != ESRCH)
    return errno_error("signal the runner, process " + std::to_string(*pid));
  return {};
}

Status print_state(const std::string& dir) {
  BENCHCTL_TRY(RunFolder folder, RunFolder::open(dir));
  auto pid = running_pid(folder);
  BENCHCTL_TRY(RunHistory history, read_history(folder));
  Json json = Json::object();
  json.set("running", pid.has_value());
  json.set("pid", pid ? Json(static_cast<int64_t>(*pid)) : Json());
  json.set("last_event", history.last_event);
  json.set("done", exists(folder.file("run.done")));
  return print(json);
}

Status print_version() {
  Json json = Json::object();
  json.set("version", BENCHCTL_VERSION);
  json.set("job", kJobVersion);
  json.set("event", kEventVersion);
  json.set("facts", kFactsVersion);
  json.set("trial", kTrialVersion);
  return print(json);
}

Status print_facts(const std::string& workdir) {
  SystemClock clock;
  FactsOptions options;
  options.workdir = workdir;
  return print(collect_facts(options, clock));
}

}  // namespace benchctl

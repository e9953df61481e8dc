#include "agent/exec/run_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "lib/sha256.h"
#include "lib/text.h"

namespace benchctl {
namespace {

constexpr int64_t kMaxJobBytes = 64 << 20;

// mkdirat that accepts an existing folder but no link, and opens it.
Result<UniqueFd> sub_folder(int parent, const std::string& name) {
  if (mkdirat(parent, name.c_str(), 0700) != 0 && errno != EEXIST) return errno_error("mkdir " + name);
  UniqueFd fd(openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) return errno_error("open " + name);
  return fd;
}

}  // namespace

std::string trial_path(int64_t trial, int attempt) {
  char text[64];
  std::snprintf(text, sizeof text, "trials/%06lld/a%d", static_cast<long long>(trial), attempt);
  return text;
}

std::string unit_name(int round) {
  char text[32];
  if (round > 0) {
    std::snprintf(text, sizeof text, "round-%04d", round);
  } else {
    std::snprintf(text, sizeof text, "round-w%03d", -round);
  }
  return text;
}

bool is_no_space(const Error& error) {
  return error.message.find(std::strerror(ENOSPC)) != std::string::npos ||
         error.message.find(std::strerror(EDQUOT)) != std::string::npos;
}

Result<RunFolder> RunFolder::open(const std::string& path) {
  char resolved[PATH_MAX];
  if (realpath(path.c_str(), resolved) == nullptr) return errno_error("--dir " + path, ErrorKind::kUsage);
  RunFolder folder;
  folder.path_ = resolved;
  size_t runs = folder.path_.rfind('/');
  size_t work = runs == 0 || runs == std::string::npos ? 0 : folder.path_.rfind('/', runs - 1);
  folder.work_ = work == 0 ? "/" : folder.path_.substr(0, work);
  BENCHCTL_TRY(folder.fd_, open_dir(folder.path_));
  struct stat st {};
  if (fstat(folder.fd_.get(), &st) != 0) return errno_error("stat " + folder.path_);
  if (st.st_uid != geteuid())
    return Error{ErrorKind::kUsage, folder.path_ + ": belongs to uid " + std::to_string(st.st_uid) + ", not to us"};
  if ((st.st_mode & 07777) != 0700 && fchmod(folder.fd_.get(), 0700) != 0)
    return errno_error("chmod 0700 " + folder.path_);
  return folder;
}

Result<RunFolder> RunFolder::create(const std::string& path) {
  size_t slash = path.rfind('/');
  if (slash != std::string::npos && slash > 0) BENCHCTL_CHECK(make_dirs(path.substr(0, slash), 0711));
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return errno_error("mkdir " + path);
  return open(path);
}

std::string RunFolder::scratch_name(int64_t trial, int attempt) const {
  return id() + ".t" + std::to_string(trial) + ".a" + std::to_string(attempt);
}

bool RunFolder::has_trial(int64_t trial, int attempt) const {
  return faccessat(fd(), trial_path(trial, attempt).c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

Result<UniqueFd> RunFolder::make_trial_folder(int64_t trial, int attempt) const {
  std::string path = trial_path(trial, attempt);
  auto parts = split(path, '/');
  std::string number(parts[1]), last(parts[2]);
  BENCHCTL_TRY(UniqueFd trials, sub_folder(fd(), "trials"));
  BENCHCTL_TRY(UniqueFd of_trial, sub_folder(trials.get(), number));
  if (mkdirat(of_trial.get(), last.c_str(), 0700) != 0) return errno_error("mkdir " + path);
  return sub_folder(of_trial.get(), last);
}

Result<UniqueFd> create_file_at(int folder, const std::string& name) {
  UniqueFd fd(openat(folder, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd) return errno_error("create " + name);
  return fd;
}

Result<Job> read_job(const RunFolder& folder) {
  BENCHCTL_TRY(std::string text, read_file(folder.file("job.json"), kMaxJobBytes));
  auto json = Json::parse(text, {.bytes = kMaxJobBytes, .depth = 16, .values = 5'000'000});
  if (!json) return json.error().in(folder.file("job.json"));
  return job_from_json(*json);
}

Status check_round(const RoundSpec& round) {
  auto bad = [](const TrialSpec& trial, const std::string& what) {
    return Error{ErrorKind::kUsage, "trial " + std::to_string(trial.trial) + ": " + what};
  };
  for (const TrialSpec& trial : round.trials) {
    int runs = 0;
    for (const Phase& phase : trial.phases) {
      if (phase.name == "run") {
        ++runs;
      } else if (phase.name != "setup" && phase.name != "check" && phase.name != "cleanup") {
        return bad(trial, "unknown phase \"" + sanitize(phase.name, 40) + "\"; use setup, run, check or cleanup");
      }
      const std::string& program = phase.argv[0];
      if (!program.starts_with('/') && !safe_relative_path(program))
        return bad(trial, "unsafe program path \"" + sanitize(program, 200) + "\"");
      if (!program.starts_with('/') && !valid_sha256(trial.bundle))
        return bad(trial, "\"" + program + "\" is relative, but the trial names no bundle");
    }
    if (runs != 1) return bad(trial, "needs exactly one phase \"run\"");
    for (const auto& [name, value] : trial.env)
      if (name.empty() || name.find('=') != std::string::npos || name.find('\0') != std::string::npos ||
          value.find('\0') != std::string::npos)
        return bad(trial, "bad environment variable \"" + sanitize(name, 100) + "\"");
  }
  return {};
}

}  // namespace benchctl

#include "agent/exec/build.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "agent/exec/cgroup.h"
#include "agent/exec/phase.h"
#include "agent/exec/put_in_place.h"
#include "agent/exec/trial_runner.h"
#include "agent/exec/verdict.h"
#include "lib/lock_wait.h"
#include "lib/pack.h"
#include "lib/sha256.h"
#include "lib/text.h"

namespace benchctl {
namespace {

constexpr int64_t kOutputCap = 64 << 20;
constexpr int64_t kTailBytes = 48 << 10;  // of the log; escaped it may take more
constexpr size_t kLineBytes = 500;
// A file of the result: what the tools said of themselves.
constexpr const char* kToolsFile = "toolchains.txt";

// Lines made safe to show, the last ones that fit.
std::string clean_lines(std::string_view text, size_t most) {
  std::string clean;
  auto lines = split(text, '\n');
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    std::string shown = sanitize(*line, kLineBytes) + "\n";
    if (clean.size() + shown.size() > most) break;
    if (clean.empty() && trim(*line).empty()) continue;
    clean.insert(0, shown);
  }
  return clean;
}

std::string last_line(const std::string& clean) {
  size_t end = clean.find_last_not_of('\n');
  if (end == std::string::npos) return "";
  const size_t begin = clean.rfind('\n', end) + 1;  // 0 where it is the only one
  return clean.substr(begin, end + 1 - begin);
}

std::string tail_of(const std::string& path) {
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  struct stat st {};
  if (!fd || fstat(fd.get(), &st) != 0) return "";
  std::string tail(static_cast<size_t>(std::min<int64_t>(st.st_size, kTailBytes)), '\0');
  ssize_t count = pread(fd.get(), tail.data(), tail.size(), st.st_size - static_cast<off_t>(tail.size()));
  tail.resize(count > 0 ? static_cast<size_t>(count) : 0);
  return clean_lines(tail, kBuildLogBytes);
}

class BuildHere {
 public:
  BuildHere(const BuildRequest& request, Clock& clock)
      : request_(request),
        clock_(clock),
        bundles_(request.work_dir + "/bundles"),
        folder_(request.work_dir + "/builds/" + request.sources.substr(0, 16) + "-" + request.isa) {}

  Result<MachineBuild> run() {
    const std::string script = bundles_ + "/" + request_.sources + "/build.sh";
    if (!exists(script)) return Error{ErrorKind::kUsage, script + " does not exist: ship the bundle first"};
    umask(022);
    // Open for passing through, as for trials.
    BENCHCTL_CHECK(make_dirs(folder_, 0711));
    for (const std::string& ours : {request_.work_dir, request_.work_dir + "/builds", folder_})
      (void)chmod(ours.c_str(), 0711);
    BENCHCTL_TRY(FileLock lock, take_turn());
    if (auto made = made_before()) return *made;
    BENCHCTL_TRY(PhaseOutcome outcome, run_script(script));
    return conclude(outcome);
  }

 private:
  // Whoever asks while another call runs the recipe wants what that one makes.
  Result<FileLock> take_turn() {
    return wait_for_lock(folder_ + "/lock", "build, process " + std::to_string(getpid()), clock_,
                         Deadline::in(clock_, std::chrono::milliseconds(request_.timeout_ms)));
  }

  std::optional<MachineBuild> made_before() {
    auto text = read_file(folder_ + "/made.json", 4 << 20);
    if (!text) return std::nullopt;
    auto made = parse_machine_build(*text);
    if (!made || !made->ok || !exists(bundles_ + "/" + made->sha256)) return std::nullopt;
    made->again = true;
    return *made;
  }

  Status make_folder(const std::string& path) {
    BENCHCTL_CHECK(remove_tree(path));
    if (mkdir(path.c_str(), 0700) != 0) return errno_error("mkdir " + path);
    uid_t uid = static_cast<uid_t>(uid_);
    if (uid_ >= 0 && lchown(path.c_str(), uid, uid) != 0) return errno_error("chown " + path);
    return {};
  }

  Result<PhaseOutcome> run_script(const std::string& script) {
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);  // user-mode emulators refuse it
    CgroupHost cgroups = CgroupHost::detect();
    const std::string group = "benchctl-build-" + sha256_hex(folder_).substr(0, 8) + "-";
    cgroups.remove_leftovers(group);
    if (geteuid() == 0 && closed_to_users({folder_, bundles_}).empty()) uid_ = free_uid(clock_.unix_ms() / 1000);
    for (const char* name : {"/work", "/out"}) BENCHCTL_CHECK(make_folder(folder_ + name));
    BENCHCTL_TRY(StopSignal stop, StopSignal::install());
    TrialCgroup cgroup(cgroups, group + std::to_string(getpid()), CgroupLimits{});
    Sampler sampler(clock_);
    PhaseRequest phase;
    phase.spawn.argv = {"/bin/sh", script};
    phase.spawn.environment = environment();
    phase.spawn.folder = folder_ + "/work";
    phase.spawn.uid = uid_;
    for (const UniqueFd& fd : cgroup.join_fds()) phase.spawn.join_fds.push_back(fd.get());
    phase.timeout_ms = request_.timeout_ms;
    phase.output_cap = kOutputCap;
    for (auto [name, file] : {std::pair{"/log", &phase.out_file}, {"/errors", &phase.err_file}}) {
      file->reset(open((folder_ + name).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
      if (!*file) return errno_error("create " + folder_ + name);
    }
    return run_phase(std::move(phase), {clock_, stop, cgroup, sampler});
  }

  std::vector<std::string> environment() const {
    return {std::string("PATH=") + kProgramsPath,
            "HOME=" + folder_ + "/work",
            "TMPDIR=" + folder_ + "/work",
            "LANG=C.UTF-8",
            "TZ=UTC",
            "BENCHCTL_WORK=" + folder_ + "/work",
            "BENCHCTL_OUT=" + folder_ + "/out",
            "BENCHCTL_ARCH=" + request_.arch,
            "BENCHCTL_ISA=" + request_.isa,
            "BENCHCTL_ON_MACHINE=1"};
  }

  Result<MachineBuild> conclude(const PhaseOutcome& outcome) {
    MachineBuild build;
    build.log = tail_of(folder_ + "/log");
    Verdict verdict = judge(outcome, {request_.timeout_ms, kOutputCap, 0, 0, false});
    if (verdict.verdict != "ok") {
      const std::string last = last_line(build.log);
      build.tools_missing = verdict.exit_code == kToolsMissing;
      build.why = build.tools_missing ? last : verdict.reason + (last.empty() ? "" : ": " + last);
      if (build.why.empty()) build.why = verdict.verdict;
      return build;
    }
    auto placed = place();
    if (!placed) {
      build.why = "its result cannot be taken: " + sanitize(placed.error().message, 1000);
      return build;
    }
    build.ok = true;
    build.sha256 = *placed;
    auto tools = read_file(bundles_ + "/" + build.sha256 + "/" + kToolsFile, kBuildToolsBytes);
    if (tools) build.toolchains = clean_lines(*tools, kBuildToolsBytes);
    BENCHCTL_CHECK(write_atomic(folder_ + "/made.json", to_json(build).dump()));
    // Objects and profiles take space that the trials may want.
    for (const char* name : {"/work", "/out"}) BENCHCTL_CHECK(remove_tree(folder_ + name));
    return build;
  }

  // The recipe's own folder becomes a bundle of ours, file by file, under the name of its content.
  Result<std::string> place() {
    const std::string fresh = bundles_ + "/built-" + random_hex(4);
    if (mkdir(fresh.c_str(), 0700) != 0) return errno_error("mkdir " + fresh);
    auto copied = copy_to(fresh);
    if (!copied) (void)remove_tree(fresh);
    if (copied) BENCHCTL_CHECK(put_in_place(fresh, bundles_ + "/" + *copied));
    return copied;
  }

  Result<std::string> copy_to(const std::string& fresh) {
    PackReader reader(fresh, PackCaps{});
    BENCHCTL_CHECK(write_pack(folder_ + "/out", {}, [&](std::string_view bytes) { return reader.feed(bytes); }));
    BENCHCTL_CHECK(reader.done());
    if (reader.entries().empty()) return Error{ErrorKind::kWorkload, "the recipe made nothing"};
    return sha256_hex(format_manifest(reader.entries()));
  }

  const BuildRequest& request_;
  Clock& clock_;
  std::string bundles_, folder_;
  int uid_ = -1;
};

}  // namespace

Result<MachineBuild> build_here(const BuildRequest& request, Clock& clock) {
  auto plain = [](const std::string& word) {
    return !word.empty() && word.size() <= 64 && word[0] != '.' && std::all_of(word.begin(), word.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' || c == '+';
    });
  };
  if (!valid_sha256(request.sources)) return Error{ErrorKind::kUsage, "--sources wants the sha256 of a bundle"};
  if (!plain(request.arch) || !plain(request.isa))
    return Error{ErrorKind::kUsage, "--arch and --isa want names such as x86_64 and x86-64-v3"};
  return BuildHere(request, clock).run();
}

}  // namespace benchctl

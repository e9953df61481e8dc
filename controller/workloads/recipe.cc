#include "controller/workloads/recipe.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "lib/files.h"
#include "lib/text.h"
#include "provisioning/command.h"

namespace benchctl {
namespace {

constexpr size_t kTailLines = 20;
constexpr size_t kTailBytes = 16 << 10;
constexpr int64_t kLogBytes = 64 << 20;

// What the commands print goes to a file; its end is kept for the message of a failure.
class Log {
 public:
  explicit Log(std::string path) : path_(std::move(path)), file_(path_, std::ios::trunc | std::ios::binary) {}

  void write(std::string_view bytes) {
    if (written_ < kLogBytes) file_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    written_ += static_cast<int64_t>(bytes.size());
    tail_ += bytes;
    if (tail_.size() > 2 * kTailBytes) tail_.erase(0, tail_.size() - kTailBytes);
    file_.flush();
  }

  const std::string& path() const { return path_; }

  std::vector<std::string> last_lines() const {
    std::vector<std::string> lines;
    for (std::string_view line : split(tail_, '\n'))
      if (!trim(line).empty()) lines.push_back(sanitize(line, 300));
    if (lines.size() > kTailLines) lines.erase(lines.begin(), lines.end() - kTailLines);
    return lines;
  }

 private:
  std::string path_;
  std::ofstream file_;
  int64_t written_ = 0;
  std::string tail_;
};

Status run_step(const Recipe& recipe, const std::vector<std::string>& step, const std::vector<std::string>& env,
                Log& log, BuildContext& context) {
  CommandSpec spec;
  spec.argv = step;
  spec.cwd = recipe.cwd;
  spec.env = env;
  spec.deadline = Deadline::in(context.clock, context.timeout);
  spec.on_output = [&](std::string_view bytes) { log.write(bytes); };
  spec.stop = context.stop;
  spec.whole_group = true;
  log.write("$ " + shell_quote(step) + "\n");
  auto ended = run_command(spec, context.clock);
  if (ended && ended->ok()) return {};
  if (!ended && ended.error().kind == ErrorKind::kInterrupted)
    return Error{ErrorKind::kInterrupted, "stopped while building " + recipe.name};
  std::string why = !ended                  ? ended.error().message
                    : ended->signal.empty() ? "exit code " + std::to_string(ended->exit_code)
                                            : "ended by SIG" + ended->signal;
  auto lines = log.last_lines();
  for (const std::string& line : lines) context.say("  " + line);
  return Error{ErrorKind::kWorkload, "building " + recipe.name + " failed: " + shell_quote(step) + ": " + why +
                                         (ended && lines.size() > 1 ? ": " + lines.back() : "") +
                                         "; the whole log is " + log.path()};
}

std::string failure_file(const std::string& out) {
  return out + ".failed";
}

}  // namespace

Status last_failure(const std::string& out) {
  if (!exists(failure_file(out))) return {};
  BENCHCTL_TRY(std::string message, read_file(failure_file(out), kTailBytes));
  return Error{ErrorKind::kWorkload, message};
}

Status run_recipe(const Recipe& recipe, const std::string& out, BuildContext& context) {
  std::string flat = recipe.name;
  std::replace(flat.begin(), flat.end(), '/', '-');
  const std::string work = context.cache_dir + "/work/" + flat, logs = context.cache_dir + "/logs",
                    fresh = out + ".new";
  BENCHCTL_CHECK(make_dirs(work));
  BENCHCTL_CHECK(make_dirs(logs));
  BENCHCTL_CHECK(remove_tree(fresh));
  BENCHCTL_CHECK(make_dirs(fresh, 0755));
  std::vector<std::string> env = recipe.env;
  env.push_back("BENCHCTL_OUT=" + fresh);
  env.push_back("BENCHCTL_WORK=" + work);
  Log log(logs + "/" + flat + ".log");
  for (size_t i = 0; i < recipe.steps.size(); ++i) {
    context.tell(recipe.name + ": step " + std::to_string(i + 1) + " of " + std::to_string(recipe.steps.size()) + ": " +
                 shell_quote(recipe.steps[i]));
    if (Status done = run_step(recipe, recipe.steps[i], env, log, context); !done.ok()) {
      // Half a result is of no use; why it failed matters more than a failure here.
      (void)remove_tree(fresh);
      if (done.error().kind != ErrorKind::kInterrupted)
        (void)write_atomic(failure_file(out), done.error().message, 0644);
      return done;
    }
  }
  BENCHCTL_CHECK(remove_tree(out));
  if (rename(fresh.c_str(), out.c_str()) != 0) return errno_error("rename " + fresh);
  return remove_tree(failure_file(out));
}

}  // namespace benchctl

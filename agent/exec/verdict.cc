#include "agent/exec/verdict.h"

#include <string.h>
#include <sys/wait.h>

#include "lib/text.h"

namespace benchctl {
namespace {

std::string last_line(std::string_view text) {
  text = trim(text);
  size_t end = text.rfind('\n');
  return sanitize(trim(end == std::string_view::npos ? text : text.substr(end + 1)), 300);
}

std::string with_last_line(const std::string& reason, const PhaseOutcome& outcome) {
  std::string line = last_line(outcome.stderr_tail);
  return line.empty() ? reason : reason + ": " + line;
}

const char* meaning(int signal) {
  switch (signal) {
    case SIGILL:
      return " (an instruction that this CPU does not have, or a trap)";
    case SIGSEGV:
      return " (invalid memory access)";
    case SIGBUS:
      return " (memory that could not be had, or a mapped file cut short)";
    case SIGFPE:
      return " (arithmetic fault)";
    case SIGABRT:
      return " (it aborted itself)";
    case SIGKILL:
      return " (from outside; not by the agent)";
    case SIGXCPU:
    case SIGXFSZ:
      return " (over a limit)";
    default:
      return "";
  }
}

Verdict of_exit(int code, const PhaseOutcome& outcome) {
  Verdict verdict;
  verdict.exit_code = code;
  if (code == 0) return verdict;
  std::string line = last_line(outcome.stderr_tail);
  if (code == 75) {
    verdict.verdict = "unsupported";
    verdict.reason = line.empty() ? "not supported on this machine" : line;
  } else if (code == 2) {
    verdict.verdict = "usage";
    verdict.reason = with_last_line("the workload refused its arguments (exit 2)", outcome);
  } else {
    verdict.verdict = "exit";
    verdict.reason = with_last_line("exit " + std::to_string(code), outcome);
  }
  return verdict;
}

}  // namespace

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return "SIG" + (name != nullptr ? std::string(name) : std::to_string(signal));
}

Verdict judge(const PhaseOutcome& outcome, const VerdictContext& context) {
  Verdict verdict;
  if (!outcome.missing.empty()) {
    verdict.verdict = "missing";
    verdict.reason = "cannot execute " + sanitize(outcome.missing, 600);
    return verdict;
  }
  if (outcome.reaped && WIFSIGNALED(outcome.wait_status)) {
    verdict.signal = signal_name(WTERMSIG(outcome.wait_status));
  } else if (outcome.reaped) {
    verdict = of_exit(WEXITSTATUS(outcome.wait_status), outcome);
  }
  auto say = [&](const char* word, std::string reason) {
    verdict.verdict = word;
    verdict.reason = std::move(reason);
  };
  if (!outcome.survivors.empty()) {
    std::string names;
    for (const std::string& name : outcome.survivors) names += (names.empty() ? "" : ", ") + name;
    say("survivors", "still running after SIGKILL: " + sanitize(names, 600));
    return verdict;
  }
  switch (outcome.cause) {
    case PhaseOutcome::Cause::kTimeout:
      say("timeout", "not finished after " + format_seconds(static_cast<double>(context.timeout_ms) / 1000) +
                         (outcome.ended_descendants > 0
                              ? "; " + std::to_string(outcome.ended_descendants) + " descendants had to be ended too"
                              : ""));
      return verdict;
    case PhaseOutcome::Cause::kOutputLimit:
      say("output_limit", "printed more than " + format_bytes(context.output_cap) + "; ended");
      return verdict;
    case PhaseOutcome::Cause::kStopped:
      say("stopped", "stopped on request");
      return verdict;
    case PhaseOutcome::Cause::kNoSpace:
      say("no_space", "its output could not be written: " + outcome.write_error);
      return verdict;
    case PhaseOutcome::Cause::kItself:
      break;
  }
  if (context.oom_kills > 0) {
    say("oom", context.memory_bytes > 0
                   ? "out of memory: ended by the kernel at the limit of " + format_bytes(context.memory_bytes)
                   : "out of memory: ended by the kernel");
  } else if (!verdict.signal.empty()) {
    say("signal", with_last_line("ended by " + verdict.signal + meaning(WTERMSIG(outcome.wait_status)), outcome));
  } else if (verdict.verdict == "exit" && context.disk_was_full) {
    say("no_space", with_last_line("the work directory was full", outcome));
  } else if (verdict.verdict == "ok" && outcome.measured.throttled > 0) {
    say("throttled", "a CPU quota throttled it " + std::to_string(outcome.measured.throttled) + " times");
  }
  return verdict;
}

}  // namespace benchctl

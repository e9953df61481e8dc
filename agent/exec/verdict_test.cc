#include "agent/exec/verdict.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

namespace benchctl {
namespace {

PhaseOutcome exited(int code) {
  PhaseOutcome outcome;
  outcome.reaped = true;
  outcome.wait_status = W_EXITCODE(code, 0);
  return outcome;
}
PhaseOutcome signalled(int signal) {
  PhaseOutcome outcome;
  outcome.reaped = true;
  outcome.wait_status = W_EXITCODE(0, signal);
  return outcome;
}

TEST(Verdict, ExitNineIsNoSignal) {
  Verdict exit = judge(exited(9), {}), kill = judge(signalled(SIGKILL), {});
  EXPECT_EQ(exit.verdict, "exit");
  EXPECT_EQ(exit.exit_code, 9);
  EXPECT_EQ(exit.signal, "");
  EXPECT_EQ(kill.verdict, "signal");
  EXPECT_FALSE(kill.exit_code);
  EXPECT_EQ(kill.signal, "SIGKILL");
}

TEST(Verdict, OutOfMemoryOutranksTheSignal) {
  VerdictContext context{.oom_kills = 1, .memory_bytes = 64 << 20};
  Verdict verdict = judge(signalled(SIGKILL), context);
  EXPECT_EQ(verdict.verdict, "oom");
  EXPECT_NE(verdict.reason.find("64.0 MiB"), std::string::npos);
}

TEST(Verdict, WhatTheAgentDidIsNotTheTrialsSignal) {
  PhaseOutcome outcome = signalled(SIGTERM);
  outcome.cause = PhaseOutcome::Cause::kTimeout;
  Verdict verdict = judge(outcome, {.timeout_ms = 1500});
  EXPECT_EQ(verdict.verdict, "timeout");
  EXPECT_EQ(verdict.reason, "not finished after 1.50 s");
  outcome.cause = PhaseOutcome::Cause::kStopped;
  EXPECT_EQ(judge(outcome, {}).verdict, "stopped");
  outcome.cause = PhaseOutcome::Cause::kOutputLimit;
  EXPECT_EQ(judge(outcome, {.output_cap = 1 << 20}).verdict, "output_limit");
}

TEST(Verdict, SurvivorsOutrankEverything) {
  PhaseOutcome outcome = exited(0);
  outcome.survivors = {"12 (evil\nname)"};
  Verdict verdict = judge(outcome, {});
  EXPECT_EQ(verdict.verdict, "survivors");
  EXPECT_EQ(verdict.reason.find('\n'), std::string::npos);
}

TEST(Verdict, UnsupportedGivesItsLastLineMadeSafe) {
  PhaseOutcome outcome = exited(75);
  outcome.stderr_tail = "first\nneeds \x1b[31mavx512\n\n";
  EXPECT_EQ(judge(outcome, {}).reason, "needs \\x1b[31mavx512");
  EXPECT_EQ(judge(exited(75), {}).reason, "not supported on this machine");
}

TEST(Verdict, ThrottlingVoidsAGoodTrialOnly) {
  PhaseOutcome good = exited(0), bad = exited(1);
  good.measured.throttled = bad.measured.throttled = 3;
  EXPECT_EQ(judge(good, {}).verdict, "throttled");
  EXPECT_EQ(judge(bad, {}).verdict, "exit");
}

TEST(Verdict, AFullDiskExplainsAFailure) {
  EXPECT_EQ(judge(exited(1), {.disk_was_full = true}).verdict, "no_space");
  EXPECT_EQ(judge(exited(0), {.disk_was_full = true}).verdict, "ok");
}

TEST(Verdict, MissingNamesThePath) {
  PhaseOutcome outcome;
  outcome.missing = "/b/bin/x: No such file or directory";
  Verdict verdict = judge(outcome, {});
  EXPECT_EQ(verdict.verdict, "missing");
  EXPECT_EQ(verdict.reason, "cannot execute /b/bin/x: No such file or directory");
}

}  // namespace
}  // namespace benchctl

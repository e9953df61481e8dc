"""The binary itself: small, static, alone; quiet while a trial runs; the same without root and on aarch64."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import time
import unittest

import harness
from harness import AgentTest, needs_root

AARCH64 = os.environ.get("BENCHAGENT_AARCH64", "")
MAX_BYTES = 4 << 20


class Binary(AgentTest):
    def test_size_and_no_dynamic_section(self):
        self.assertLessEqual(os.path.getsize(harness.AGENT), MAX_BYTES)
        headers = subprocess.run(["readelf", "-lW", harness.AGENT], capture_output=True, text=True, check=True).stdout
        self.assertNotIn("INTERP", headers)
        self.assertNotIn("DYNAMIC", headers)

    @needs_root
    def test_starts_in_an_empty_chroot(self):
        shutil.copy(harness.AGENT, self.base + "/benchagent")
        done = subprocess.run(["chroot", self.base, "/benchagent", "version"], capture_output=True, check=True)
        self.assertEqual(json.loads(done.stdout)["job"], 2)

    def test_mistakes_on_the_command_line(self):
        for words, text in (
            (["rnu"], "did you mean run?"),
            (["run"], "missing --dir"),
            (["run", "--dir"], "--dir needs a value"),
            (["events", "--dir", "/", "--from", "x"], "--from wants a whole number"),
            (["version", "--verbose", "1"], "unknown option --verbose"),
            (["unpack", "--sha256", "0" * 64], "expected 1 plain argument"),
        ):
            done = self.site.call(*words, check=False)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(text, done.stderr.decode())

    def test_a_job_of_another_version_or_without_a_run_phase(self):
        for job, text in (
            ({"version": 1}, "version 1, this agent speaks version 2"),
            (
                {
                    "version": 2,
                    "run": "r",
                    "machine": "m",
                    "rounds": [{"round": 1, "trials": [self.site.trial(1, phases=[harness.phase("setup", "true")])]}],
                },
                'exactly one phase "run"',
            ),
        ):
            done = self.site.call("job", "--dir", self.site.dir, stdin=json.dumps(job).encode(), check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn(text, done.stderr.decode())
            self.assertFalse(self.site.dir.exists())


class Quiet(AgentTest):
    def test_system_calls_and_wakes_while_a_trial_sleeps(self):
        if shutil.which("strace") is None:
            self.skipTest("needs strace")
        self.site.job([[self.site.trial(1, phases=[{"name": "run", "argv": ["/bin/sleep", "3"]}])]])
        trace = pathlib.Path(self.base) / "trace"
        # Without -f: the agent alone, not what it starts.
        runner = self.site.start(prefix=["strace", "-o", str(trace)])
        self.assertEqual(runner.wait(60), 0, self.site.log())
        lines = trace.read_text().splitlines()
        begin = max(i for i, line in enumerate(lines) if line.startswith("pidfd_open("))
        end = min(i for i, line in enumerate(lines) if i > begin and line.startswith("wait4("))
        names = [re.match(r"\w+", line).group() for line in lines[begin + 1 : end] if re.match(r"\w", line)]
        polls = names.count("poll")
        record = self.site.record(1)
        print(
            f"\n  {len(names)} system calls in {record['wall_ns'] / 1e9:.2f} s, {polls} wakes, "
            f"agent run time {record['agent_cpu_ns'] / 1e6:.2f} ms (schedstat, under strace)",
            flush=True,
        )
        # Three ticks of the timer and the end; two pipes closing may add one each.
        self.assertLessEqual(polls, 6)
        self.assertGreaterEqual(polls, 3)
        self.assertEqual(record["agent_wakeups"], polls)
        # A tick: poll, read of the timer, pread, waitid. The rest: setting up, draining and reading of counters.
        self.assertLessEqual(len(names), 6 * polls + 12, "\n".join(lines[begin : end + 1]))
        self.assertEqual(names.count("write"), 0, "nothing is written while a trial runs")
        samples = (self.site.dir / "system.csv").read_text().splitlines()[1:]
        self.assertIn(len(samples), (2, 3))
        self.assertTrue(all(re.fullmatch(r"1,1,\d{13}(,\d+){8}", line) for line in samples), samples)

    def test_own_run_time_is_recorded(self):
        record = self.verdict("sleep 3")
        print(
            f"\n  agent run time {record['agent_cpu_ns'] / 1e6:.2f} ms in {record['wall_ns'] / 1e9:.2f} s, "
            f"{record['agent_wakeups']} wakes",
            flush=True,
        )
        self.assertGreater(record["agent_cpu_ns"], 0)
        self.assertLessEqual(record["agent_wakeups"], 3 + record["wall_ns"] // 1_000_000_000)

    def test_waits_for_quiet_then_starts_and_says_so(self):
        busy = subprocess.Popen(["sh", "-c", "while :; do :; done"])
        try:
            self.site.job([[self.site.trial(1, "true")]], quiet_wait_ms=2500, max_other_busy=0.0)
            self.assertEqual(self.site.run(), 0, self.site.log())
        finally:
            busy.kill()
            busy.wait()
        waits = self.site.events("waiting_quiet")
        self.assertEqual([event["gave_up"] for event in waits], [False, True])
        self.assertGreater(waits[0]["busy"], 0)


@needs_root
class NotRoot(AgentTest):
    def test_a_run_without_root(self):
        os.chown(self.base, 65534, 65534)
        prefix = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        harness.RUNNER[:0] = prefix
        try:
            self.site.job(
                [[self.site.trial(1, "id -u; (setsid sleep 1000 &)"), self.site.trial(2, "sleep 100", timeout_ms=500)]]
            )
            self.assertEqual(self.site.run(), 0, self.site.log())
        finally:
            del harness.RUNNER[: len(prefix)]
        record = self.site.record(1)
        self.assertEqual((record["verdict"], record["ended_descendants"]), ("ok", 1))
        self.assertEqual(self.site.stdout(1), b"65534\n")
        self.assertIn("not root", record["containment"])
        self.assertEqual(record["uid"], 65534)
        self.assertEqual(self.site.record(2)["verdict"], "timeout")

    def test_kill_9_without_root_leaves_nothing_for_the_next_agent(self):
        os.chown(self.base, 65534, 65534)
        prefix = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        harness.RUNNER[:0] = prefix
        try:
            self.site.job([[self.site.trial(1, "setsid sleep 1000 & echo > up; sleep 1000", timeout_ms=2000)]])
            runner = self.site.start()
            while not list(self.site.work.glob("scratch/*/up")):
                time.sleep(0.02)
            runner.kill()
            runner.wait()
            self.assertGreaterEqual(len(harness.trial_processes(self.base)), 1, "what the next agent must end")
            self.assertEqual(self.site.run(), 0, self.site.log())
        finally:
            del harness.RUNNER[: len(prefix)]
        self.assertEqual(self.site.record(1, 2)["verdict"], "timeout")

    def test_a_work_folder_closed_to_others_is_said(self):
        closed = pathlib.Path(self.base) / "closed"
        closed.mkdir(0o700)
        site = harness.Site(closed / "work")
        site.job([[site.trial(1, "id -u")]])
        self.assertEqual(site.run(), 0, site.log())
        self.assertIn("closed to other users", site.record(1)["containment"])
        self.assertEqual(site.stdout(1), b"0\n")


@needs_root
class Cgroups(AgentTest):
    """The hierarchies that other hosts and containers show, made in a mount namespace of our own."""

    SCRIPT = (
        "(setsid sh -c \"trap '' TERM; while :; do sleep 1; done\" &)\n"
        "setsid setsid sh -c '(sleep 1000 &)' &\nsleep 0.3; exit 0"
    )

    def containment(self, setup):
        prefix = ["unshare", "--mount", "sh", "-c", f'{setup}\nexec "$@"', "sh"]
        harness.RUNNER[:0] = prefix
        try:
            self.site.job([[self.site.trial(1, self.SCRIPT), self.site.trial(2, "echo fine")]])
            self.assertEqual(self.site.run(), 0, self.site.log())
        finally:
            del harness.RUNNER[: len(prefix)]
        record = self.site.record(1)
        self.assertEqual(record["verdict"], "ok", record["reason"])
        self.assertGreaterEqual(record["ended_descendants"], 2)
        self.assertEqual(self.site.stdout(2), b"fine\n")
        return record["containment"]

    def test_without_any(self):
        text = self.containment("mount -t tmpfs none /sys/fs/cgroup || exit 99")
        self.assertRegex(text, r"^process tree only \+ uid 6\d{4}$")

    def test_version_2_alone(self):
        text = self.containment("mount -t tmpfs none /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup || exit 99")
        self.assertRegex(text, r"^cgroup v2( \(.*\))? \+ uid 6\d{4}$")

    def test_version_1_read_only_as_in_a_container(self):
        if not os.path.exists("/sys/fs/cgroup/freezer/cgroup.procs"):
            self.skipTest("no cgroup v1 here")
        text = self.containment("for c in /sys/fs/cgroup/*/; do mount -o remount,bind,ro $c; done")
        self.assertRegex(text, r"^process tree only \+ uid")

    def test_version_1_alone(self):
        if not os.path.exists("/sys/fs/cgroup/freezer/cgroup.procs"):
            self.skipTest("no cgroup v1 here")
        hide = "! [ -d /sys/fs/cgroup/unified ] || mount -o remount,bind,ro /sys/fs/cgroup/unified"
        self.assertRegex(self.containment(hide), r"^cgroup v1 \(.*freezer.*\) \+ uid")


@unittest.skipUnless(
    AARCH64 and os.path.exists(AARCH64), "no aarch64 agent: cmake --preset aarch64, BENCHAGENT_AARCH64"
)
@unittest.skipUnless(shutil.which("qemu-aarch64-static"), "needs qemu-aarch64-static (Debian: qemu-user-static)")
class Aarch64(AgentTest):
    def setUp(self):
        super().setUp()
        self.saved = (harness.AGENT, harness.RUNNER)
        harness.AGENT, harness.RUNNER = AARCH64, ["qemu-aarch64-static"]

    def tearDown(self):
        harness.AGENT, harness.RUNNER = self.saved
        super().tearDown()

    def test_version_size_and_a_real_job(self):
        self.assertLessEqual(os.path.getsize(AARCH64), MAX_BYTES)
        self.assertEqual(json.loads(self.site.call("version").stdout)["trial"], 1)
        self.site.ship({"bin/case": (b"#!/bin/sh\necho row\n", True)})
        self.site.job(
            [
                [
                    self.site.trial(1, phases=[{"name": "run", "argv": ["bin/case"]}]),
                    self.site.trial(2, "sleep 100", timeout_ms=500),
                    self.site.trial(3, "exit 75"),
                ]
            ]
        )
        self.assertEqual(self.site.run(), 0, self.site.log())
        self.assertEqual([self.site.record(n)["verdict"] for n in (1, 2, 3)], ["ok", "timeout", "unsupported"])
        self.assertEqual(self.site.stdout(1), b"row\n")
        _, files = self.site.pull("round-0001")
        self.assertEqual(files["trials/000001/a1/stdout"], b"row\n")


if __name__ == "__main__":
    harness.main()

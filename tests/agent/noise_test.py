"""The steal rule, the probe and the limits of a trial on a machine whose counters are replayed: the agent reads files
of the test in the place of /proc/stat and cpu.stat, in a mount namespace of its own."""

import json
import os
import pathlib
import shutil
import signal
import tempfile
import threading
import time

import harness
from harness import AgentTest, needs_root

OVER, UNDER, UNKNOWN = 12.0, 2.0, None
JIFFIES = 1000  # of a CPU during one trial


@needs_root
class Replayed(AgentTest):
    """Each execution of a trial moves the counters on by the next of `steals` (percent; None: no steal column)."""

    def replay(self, steals):
        self.replayed = pathlib.Path(self.base) / "replayed"
        self.replayed.mkdir()
        total, stolen = 0, 0
        for number, percent in enumerate([UNDER, *steals]):
            total += JIFFIES
            stolen += int(JIFFIES * (percent or 0) / 100)
            self.state(number, total, stolen, percent is not UNKNOWN)
        for name, text in (("stat", (self.replayed / "0").read_text()), ("turn", "0\n")):
            (self.replayed / name).write_text(text)
            (self.replayed / name).chmod(0o666)

    def state(self, number, total, stolen, column):
        line = f"{total // 2} 0 0 {total // 2 - stolen} 0 0 0" + (f" {stolen} 0 0" if column else "")
        rows = [f"cpu{cpu} {line}" for cpu in sorted(os.sched_getaffinity(0))]
        (self.replayed / str(number)).write_text("\n".join([f"cpu  {line}", *rows]) + "\n")

    def move_on(self, then="true"):
        turn = self.replayed / "turn"
        return f"n=$(cat {turn}); echo $((n+1)) > {turn}; cat {self.replayed}/$((n+1)) > /proc/stat; {then}"

    def namespace(self, *mounts):
        pairs = [(self.replayed / "stat", "/proc/stat"), *mounts]
        script = " && ".join(f"mount --bind {source} {target}" for source, target in pairs)
        return ["unshare", "-m", "sh", "-c", script + ' && exec "$@"', "sh"]

    def point(self, first, point, round=1, script=None):
        arms = [("a", False), ("b", False), ("a", True)]
        return [
            self.site.trial(
                first + n, script or self.move_on(), point=point, arm=arm, aa_copy=copy, position=n, round=round
            )
            for n, (arm, copy) in enumerate(arms)
        ]

    def go(self):
        return self.site.start(self.namespace()).wait(120)

    def ran(self):
        return [(event["trial"], event["attempt"]) for event in self.site.events("trial_started")]

    def test_a_point_over_the_limit_runs_again_with_all_its_arms(self):
        self.replay([OVER] * 3 + [UNDER, OVER, UNDER, UNDER, UNDER, UNDER] + [UNDER] * 3)
        self.site.job(
            [self.point(1, "w=1", round=0), self.point(11, "w=1") + self.point(21, "w=2")],
            repeat_steal_percent=5.0,
            max_repeats=3,
        )
        self.assertEqual(self.go(), 0, self.site.log())
        first, again, other = [11, 12, 13], [11, 12, 13], [21, 22, 23]
        self.assertEqual(
            self.ran(),
            [(n, 1) for n in (1, 2, 3)] + [(n, 1) for n in first] + [(n, 2) for n in again] + [(n, 1) for n in other],
        )
        (repeated,) = self.site.events("point_repeated")
        wanted = {
            "round": 1,
            "suite": "s",
            "point": "w=1",
            "attempt": 2,
            "trial": 12,
            "arm": "b",
            "steal_percent": OVER,
        }
        self.assertEqual(repeated | wanted, repeated)
        self.assertEqual(self.site.events("repeats_used_up"), [])
        self.assertEqual(self.site.record(12)["steal_percent"], OVER)
        self.assertEqual(self.site.record(12, 2)["steal_percent"], UNDER)
        self.assertEqual(self.site.record(1)["steal_percent"], OVER)  # a warm-up stands whatever it lost
        # Every attempt is kept, sealed and in the tables.
        _, files = self.site.pull("round-0001")
        for trial, attempt in [(11, 1), (12, 1), (13, 1), (11, 2), (12, 2), (13, 2)]:
            self.assertIn(f"trials/{trial:06d}/a{attempt}/trial.json", files)
        rows = (self.site.dir / "steal.csv").read_text().splitlines()[1:]
        self.assertEqual([row.split(",")[9] for row in rows if row.startswith("12,")], ["12.000", "2.000"])

    def test_when_the_repeats_are_used_up_rounds_stand_as_they_are(self):
        self.replay([OVER] * 30)
        rounds = [self.point(10 * number, "w=1", number) for number in (1, 2, 3)]
        self.site.job(rounds, repeat_steal_percent=5.0, max_repeats=2)
        self.assertEqual(self.go(), 0, self.site.log())
        self.assertEqual([attempt for trial, attempt in self.ran() if trial in (10, 20, 30)], [1, 2, 3, 1, 1])
        self.assertEqual([event["attempt"] for event in self.site.events("point_repeated")], [2, 3])
        self.assertEqual([event["limit"] for event in self.site.events("repeats_used_up")], [2])
        self.assertEqual([event["complete"] for event in self.site.events("round_sealed")], [True] * 3)

    def test_a_failed_trial_counts_like_any_other_and_unknown_steal_never(self):
        self.replay([OVER, UNDER, UNDER] + [UNDER] * 3 + [UNKNOWN] * 3)
        self.site.job(
            [self.point(1, "w=1", script=self.move_on("exit 9")), self.point(11, "w=2", round=2)],
            repeat_steal_percent=5.0,
            max_repeats=9,
        )
        self.assertEqual(self.go(), 0, self.site.log())
        self.assertEqual([attempt for trial, attempt in self.ran() if trial == 1], [1, 2])
        self.assertEqual(self.site.record(1, 2)["verdict"], "exit")
        self.assertEqual([attempt for trial, attempt in self.ran() if trial == 11], [1])
        record = self.site.record(12)
        self.assertEqual((record["steal_percent"], record["steal_note"]), (None, "no steal column in /proc/stat"))

    def test_repeats_made_are_remembered_over_a_crash_and_attempts_stay_unique(self):
        self.replay([OVER] * 30)
        hold = self.replayed / "hold"
        self.site.job(
            [self.point(1, "w=1", script=self.move_on(f"[ $n -ne 3 ] || [ -e {hold} ] || sleep 1000"))],
            repeat_steal_percent=5.0,
            max_repeats=2,
        )
        runner = self.site.start(self.namespace())
        self.site.wait_event("trial_started", 4)
        while (self.replayed / "turn").read_text() != "4\n":
            time.sleep(0.02)
        runner.send_signal(signal.SIGKILL)
        runner.wait()
        hold.touch()
        self.assertEqual(self.go(), 0, self.site.log())
        # One repeat was made before the crash; the round began anew above its attempts, and one more was left.
        self.assertEqual(
            self.ran(), [(1, 1), (2, 1), (3, 1), (1, 2)] + [(n, attempt) for attempt in (3, 4) for n in (1, 2, 3)]
        )
        self.assertEqual([event["attempt"] for event in self.site.events("point_repeated")], [2, 4])
        self.assertEqual(len(self.site.events("repeats_used_up")), 1)
        _, files = self.site.pull("round-0001")
        self.assertIn("trials/000001/a1/trial.json", files)
        self.assertIn("trials/000003/a4/trial.json", files)

    def test_a_stop_ends_a_repeat_and_asks_for_no_other(self):
        self.replay([OVER] * 30)
        self.site.job(
            [self.point(1, "w=1", script=self.move_on("[ $n -ne 5 ] || sleep 1000")), self.point(11, "w=1", round=2)],
            repeat_steal_percent=5.0,
            max_repeats=9,
        )
        runner = self.site.start(self.namespace())
        self.site.wait_event("trial_started", 6)
        while (self.replayed / "turn").read_text() != "6\n":
            time.sleep(0.02)
        self.site.call("stop", "--dir", self.site.dir)
        self.assertEqual(runner.wait(60), 7)
        # The stopped trial was the last arm of its point, over the limit: no other repeat is begun or announced.
        self.assertEqual(self.ran(), [(n, attempt) for attempt in (1, 2) for n in (1, 2, 3)])
        self.assertEqual(self.site.record(3, 2)["verdict"], "stopped")
        self.assertEqual(len(self.site.events("point_repeated")), 1)
        self.assertEqual([event["complete"] for event in self.site.events("round_sealed")], [False])

    def test_a_quota_that_throttles_voids_the_trial(self):
        self.replay([UNDER] * 3)
        cpu = next(
            (
                path
                for path in (
                    "/sys/fs/cgroup/cpu/cpu.stat",
                    "/sys/fs/cgroup/cpu,cpuacct/cpu.stat",
                    "/sys/fs/cgroup/cpu.stat",
                )
                if os.path.exists(path)
            ),
            None,
        )
        if cpu is None:
            self.skipTest("no cgroup with a cpu.stat here")
        stat = self.replayed / "cpu.stat"
        stat.write_text("nr_periods 10\nnr_throttled 4\nthrottled_time 99\n")
        stat.chmod(0o666)
        more = f"printf 'nr_periods 20\\nnr_throttled 7\\nthrottled_time 200\\n' > {stat}"
        self.site.job([[self.site.trial(1, self.move_on(more)), self.site.trial(2, self.move_on())]])
        code = self.site.start(self.namespace((stat, cpu))).wait(120)
        self.assertEqual(code, 0, self.site.log())
        record = self.site.record(1)
        self.assertEqual((record["verdict"], record["throttled"]), ("throttled", 3))
        self.assertEqual(self.site.record(2)["verdict"], "ok")

    def test_a_machine_that_stays_busy_is_waited_for_and_then_said(self):
        self.replay([UNDER])
        cpus = sorted(os.sched_getaffinity(0))
        ended = threading.Event()

        def keep_busy():
            # Half of each CPU, in a text of constant length that is written over itself: never empty for a reader.
            file = os.open(self.replayed / "stat", os.O_WRONLY)
            for jiffies in range(5000, 1_000_000, 10):
                line = f"{jiffies:010d} 0 0 {jiffies:010d} 0 0 0 0 0 0\n"
                os.pwrite(file, "".join(f"cpu{cpu} {line}" for cpu in cpus).encode(), 0)
                if ended.wait(0.05):
                    break
            os.close(file)

        writer = threading.Thread(target=keep_busy)
        writer.start()
        try:
            self.site.job([[self.site.trial(1, "true")]], probe_ms=5, quiet_wait_ms=2500, max_other_busy=0.3)
            self.assertEqual(self.go(), 0, self.site.log())
        finally:
            ended.set()
            writer.join()
        waits = self.site.events("waiting_quiet")
        self.assertEqual([event["gave_up"] for event in waits], [False, True])
        half = len(cpus) / 2
        for event in [*waits, *self.site.events("round_probe")]:
            self.assertAlmostEqual(event["busy"], half, delta=half * 0.2)
        self.assertEqual(self.site.events("round_probe")[0]["busy"], waits[-1]["busy"])

    def test_a_probe_before_each_round_that_measures(self):
        self.replay([UNDER] * 3 + [UNKNOWN] * 3)
        info = self.site.trial(31, self.move_on(), round=3, format="info")
        self.site.job([self.point(1, "", round=0), self.point(11, ""), [info]], probe_ms=20)
        self.assertEqual(self.go(), 0, self.site.log())
        self.assertEqual([event["round"] for event in self.site.events("round_probe")], [0, 1])
        kinds = [event["kind"] for event in self.site.events() if event["kind"].startswith("round_")]
        self.assertEqual(kinds[:2], ["round_probe", "round_started"])
        probe = self.site.events("round_probe")[0]
        self.assertEqual(probe["busy"], None)  # no quiet second was looked at
        self.assertEqual(probe["steal_jiffies"], 0)
        self.assertTrue(0 < probe["spin_p50_ns"] <= probe["spin_p99_ns"] <= probe["spin_max_ns"], json.dumps(probe))


@needs_root
class Quota(AgentTest):
    """A real quota of version 1 on the group that the agent was started in."""

    HIERARCHIES = ("/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct")

    def test_a_real_quota_voids_what_it_throttles(self):
        top = next((path for path in self.HIERARCHIES if os.path.exists(path + "/cpu.cfs_quota_us")), None)
        if top is None:
            self.skipTest("no cpu controller of version 1 here")
        group = pathlib.Path(top) / f"benchctl-test-quota-{os.getpid()}"
        group.mkdir()
        try:
            (group / "cpu.cfs_quota_us").write_text("20000")  # of 100 ms: a fifth of a CPU
            spin = "end=$(($(date +%s) + 2)); while [ $(date +%s) -lt $end ]; do :; done"
            self.site.job([[self.site.trial(1, spin)]])
            prefix = ["sh", "-c", f'echo 0 > {group}/cgroup.procs; exec "$@"', "sh"]
            self.assertEqual(self.site.start(prefix).wait(120), 0, self.site.log())
        finally:
            group.rmdir()
        record = self.site.record(1)
        self.assertEqual(record["verdict"], "throttled", record["reason"])
        self.assertGreater(record["throttled"], 0)
        self.assertIn(f"throttled it {record['throttled']} times", record["reason"])


@needs_root
class Memory(AgentTest):
    """All the memory that agent and trials have together is used up: the nearest thing to a full machine."""

    def test_the_agent_survives_and_the_trial_is_out_of_memory(self):
        lines = pathlib.Path("/proc/self/cgroup").read_text().splitlines()
        own = next((line.split(":", 2)[2] for line in lines if line.split(":")[1] == "memory"), None)
        if own is None or not os.path.exists(f"/sys/fs/cgroup/memory{own}"):
            self.skipTest("no memory controller of version 1 here")
        group = pathlib.Path(f"/sys/fs/cgroup/memory{own}/benchctl-test-memory-{os.getpid()}")
        group.mkdir()
        try:
            for name in ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes"):
                if (group / name).exists():
                    (group / name).write_text(str(96 << 20))
            self.site.job([[self.site.trial(1, "exec tail /dev/zero"), self.site.trial(2, "echo fine")]])
            runner = self.site.start(["sh", "-c", f'echo 0 > {group}/cgroup.procs; exec "$@"', "sh"])
            self.assertEqual(runner.wait(120), 0, self.site.log())
        finally:
            group.rmdir()
        record = self.site.record(1)
        self.assertEqual((record["verdict"], record["signal"]), ("oom", "SIGKILL"), record["reason"])
        self.assertEqual(self.site.record(2)["verdict"], "ok")
        self.assertEqual(len(self.site.events("agent_started")), 1)


@needs_root
class Temporary(AgentTest):
    def test_nothing_of_a_run_lies_where_temporary_files_are_cleaned(self):
        base = tempfile.mkdtemp(prefix="benchagent-test-", dir="/srv")
        os.chmod(base, 0o755)
        try:
            site = harness.Site(base)
            self.site.started = site.started
            site.ship({"bin/x": (b"#!/bin/sh\necho row\n", True)})
            site.job([[site.trial(1, phases=[{"name": "run", "argv": ["bin/x"]}])]], probe_ms=5)
            mounts = " && ".join(f"mount -t tmpfs -o ro none {path}" for path in ("/tmp", "/var/tmp"))
            agent = os.path.abspath(harness.AGENT)
            self.assertFalse(agent.startswith("/tmp/"))
            code = site.start(["unshare", "-m", "sh", "-c", mounts + ' && exec "$@"', "sh"]).wait(120)
            self.assertEqual(code, 0, site.log())
            self.assertEqual(site.record(1)["verdict"], "ok")
            self.assertEqual(site.log(), "")
        finally:
            shutil.rmtree(base)


class Probe(AgentTest):
    def test_the_probe_tells_the_busy_share_of_the_quiet_second(self):
        self.site.job([[self.site.trial(1, "true")]], probe_ms=10, quiet_wait_ms=5000, max_other_busy=1000.0)
        self.assertEqual(self.site.run(), 0, self.site.log())
        (probe,) = self.site.events("round_probe")
        self.assertGreaterEqual(probe["busy"], 0)
        self.assertEqual(self.site.record(1)["verdict"], "ok")


if __name__ == "__main__":
    harness.main()

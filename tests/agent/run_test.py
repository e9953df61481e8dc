"""From job to sealed results: the straight way, appended rounds, stops, crashes."""

import json
import os
import signal
import subprocess
import time
import unittest

import harness
from harness import HEADER, STEAL_HEADER, AgentTest, phase, sha256

ROW = "c,latency,us,1.5,lower,ab\n"


class StraightWay(AgentTest):
    def test_job_to_pulled_results(self):
        self.site.ship({"bin/case": (f"#!/bin/sh\nprintf '%s' '{HEADER}{ROW}'\n".encode(), True), "doc": (b"x", False)})
        run = [{"name": "run", "argv": ["bin/case", "a b"]}]
        rounds = [
            [self.site.trial(1, phases=run, round=0)],
            [self.site.trial(2, phases=run), self.site.trial(3, "env | sort; pwd", env={"EXTRA": "e"})],
        ]
        self.site.job(rounds)
        self.assertEqual(self.site.run(), 0, self.site.log())
        self.assertEqual(self.site.log(), "")
        kinds = [event["kind"] for event in self.site.events()]
        self.assertEqual(
            kinds,
            ["agent_started", "facts_taken"]
            + ["round_started", "trial_started", "trial_finished", "round_sealed"]
            + ["round_started"]
            + ["trial_started", "trial_finished"] * 2
            + ["round_sealed"]
            + ["facts_taken", "run_done"],
        )
        sealed = {event["unit"]: event for event in self.site.events("round_sealed")}
        self.assertEqual(sorted(sealed), ["round-0001", "round-w000"])
        for unit in sealed:
            digest, files = self.site.pull(unit)
            self.assertEqual(digest, sealed[unit]["manifest_sha256"])
            self.assertEqual(len(files), sealed[unit]["files"])
            self.assertTrue((self.site.dir / "acks" / unit).exists())
        _, files = self.site.pull("round-0001")
        self.assertEqual(files["trials/000002/a1/stdout"].decode(), HEADER + ROW)
        record = json.loads(files["trials/000002/a1/trial.json"])
        self.assertEqual((record["verdict"], record["reason"], record["exit_code"]), ("ok", "", 0))
        self.assertGreater(record["wall_ns"], 0)
        self.assertEqual(record["steal_percent"], None)
        self.assertEqual(record["steal_note"], "too short to say")

        lines = self.site.stdout(3).decode().splitlines()
        environment = dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("PWD"))
        scratch = environment["BENCHCTL_SCRATCH"]
        self.assertEqual(
            set(environment) - {"_", "SHLVL", "OLDPWD"},
            {"PATH", "HOME", "LANG", "LC_ALL", "TZ", "EXTRA"}
            | {"BENCHCTL_SEED", "BENCHCTL_SCRATCH", "BENCHCTL_OUT", "BENCHCTL_CPUS"},
        )
        self.assertEqual(environment["BENCHCTL_SEED"], str(42 ^ 3))
        self.assertEqual((lines[-1], environment["HOME"], environment["LC_ALL"]), (scratch, scratch, "C"))

        done = self.site.events("run_done")[0]
        digest, files = self.site.pull("final")
        self.assertEqual((digest, done["exit"], done["unit"]), (done["manifest_sha256"], 0, "final"))
        for name in ("job.json", "facts.before.json", "facts.after.json", "steal.csv", "system.csv", "events.jsonl"):
            self.assertIn(name, files)
        self.assertNotIn(b"run_done", files["events.jsonl"])
        self.assertFalse([name for name in files if name.startswith("trials/")])
        rows = files["steal.csv"].decode().splitlines()
        self.assertEqual(rows[0], STEAL_HEADER)
        self.assertEqual(
            [row.split(",")[:5] for row in rows[1:]],
            [["1", "1", "s", "arm1", "0"], ["2", "1", "s", "arm2", "1"], ["3", "1", "s", "arm3", "1"]],
        )
        self.assertTrue(
            files["system.csv"].startswith(b"trial,attempt,unix_ms,user,nice,system,idle,iowait,irq,softirq,steal\n")
        )
        listed = {}
        for line in files["MANIFEST.sha256"].decode().splitlines()[1:]:
            digest, size, _mode, path = line.split(" ", 3)
            listed[path] = digest
            data = (self.site.dir / path).read_bytes()[: int(size)]
            self.assertEqual((sha256(data), len(data)), (digest, int(size)), path)
        on_disk = {str(path.relative_to(self.site.dir)) for path in self.site.dir.glob("trials/**/*") if path.is_file()}
        self.assertLessEqual(on_disk, set(listed))
        self.assertEqual((self.site.dir / "run.done").read_text(), "0\n")
        for path in [self.site.dir, *self.site.dir.rglob("*")]:
            self.assertTrue(harness.private(path) or path.name == "agent.log", path)
        state = json.loads(self.site.call("state", "--dir", self.site.dir).stdout)
        self.assertEqual(state, {"running": False, "pid": None, "last_event": len(kinds), "done": True})
        # Started again: nothing runs again.
        self.assertEqual(self.site.run(), 0)
        self.assertEqual(len(self.site.events()), len(kinds))

    def test_events_from_and_follow(self):
        self.site.job([[self.site.trial(1, "sleep 1")]])
        runner = self.site.start()
        followed = self.site.call("events", "--dir", self.site.dir, "--from", 3, "--follow", 60).stdout
        self.assertEqual(runner.wait(30), 0)
        events = [json.loads(line) for line in followed.splitlines()]
        self.assertEqual([event["n"] for event in events], list(range(3, 3 + len(events))))
        self.assertEqual(events[-1]["kind"], "run_done")

    @unittest.skipIf(harness.RUNNER, "an emulator gives no descriptor of a process")
    def test_who_follows_hears_at_once_that_the_runner_was_killed(self):
        self.site.job([[self.site.trial(1, "sleep 60")]])
        runner = self.site.start()
        self.site.wait_event("trial_started")
        follower = subprocess.Popen(
            [harness.AGENT, "events", "--dir", self.site.dir, "--from", "1", "--follow", "600"], stdout=subprocess.PIPE
        )
        self.assertIn(b"agent_started", follower.stdout.readline())
        runner.kill()
        runner.wait(10)
        out, _ = follower.communicate(timeout=60)
        self.assertEqual(follower.returncode, 0)
        self.assertNotIn(b"run_done", out)
        self.site.call("stop", "--dir", self.site.dir)
        self.assertEqual(self.site.run(), 7)  # which also ends what the trial left

    def test_pull_of_an_unsealed_unit(self):
        self.site.job([[self.site.trial(1, "true")]])
        done = self.site.call("pull", "--dir", self.site.dir, "--unit", "round-0001", check=False)
        self.assertEqual((done.returncode, done.stdout), (3, b""))
        self.assertIn(b"not sealed yet", done.stderr)

    def test_another_job_is_refused(self):
        self.site.job([[self.site.trial(1, "true")]])
        self.site.job([[self.site.trial(1, "true")]])  # the same again
        with self.assertRaisesRegex(AssertionError, "exit 2.*another job"):
            self.site.job([[self.site.trial(1, "false")]])

    def test_unpack_twice_and_of_a_wrong_pack(self):
        self.site.ship({"a/b": (b"data", False), "run": (b"#!/bin/sh\n", True)})
        dest = self.site.work / "bundles" / self.site.bundle
        self.assertEqual((dest / "a/b").stat().st_mode & 0o777, 0o644)
        self.assertEqual((dest / "run").stat().st_mode & 0o777, 0o755)
        self.assertEqual((dest.stat().st_mode & 0o777, (dest / "a").stat().st_mode & 0o777), (0o755, 0o755))
        self.site.call("unpack", "--sha256", self.site.bundle, dest, stdin=self.site.pack)
        other = self.site.work / "bundles" / ("1" * 64)
        wrong = self.site.call("unpack", "--sha256", "1" * 64, other, stdin=self.site.pack, check=False)
        self.assertNotEqual(wrong.returncode, 0)
        cut = self.site.call("unpack", "--sha256", self.site.bundle, other, stdin=self.site.pack[:-3], check=False)
        self.assertNotEqual(cut.returncode, 0)
        self.assertEqual(sorted(os.listdir(dest.parent)), [self.site.bundle])

    def test_append_ack_and_stop_in_linger(self):
        self.site.job([[self.site.trial(1, "true")]], linger_ms=60_000, ack_wait_ms=60_000)
        follower = subprocess.Popen(
            [*harness.RUNNER, harness.AGENT, "events", "--dir", self.site.dir, "--from", "1", "--follow", "100"],
            stdout=subprocess.PIPE,
        )
        time.sleep(0.3)
        runner = self.site.start()
        self.site.wait_event("round_sealed")
        more = {"round": 2, "trials": [self.site.trial(2, "true", round=2)]}
        self.site.call("append", "--dir", self.site.dir, stdin=json.dumps(more).encode())
        time.sleep(0.5)
        # The follower has not pulled yet: the next round must wait for it.
        self.assertEqual(len(self.site.events("round_started")), 1)
        self.site.pull("round-0001")
        self.site.wait_event("round_sealed", 2)
        self.site.pull("round-0002")
        self.site.call("append", "--dir", self.site.dir, stdin=json.dumps(more).encode())  # the same: no new round
        repeat = {"round": 2, "trials": [self.site.trial(2, "true", round=2, attempt=2)]}
        self.site.call("append", "--dir", self.site.dir, stdin=json.dumps(repeat).encode())
        self.site.wait_event("round_sealed", 3)
        self.site.pull("round-0002-r2")
        self.site.call("stop", "--dir", self.site.dir)
        self.assertEqual(runner.wait(30), 0, self.site.log())
        follower.communicate(timeout=10)
        self.assertEqual(
            [event["unit"] for event in self.site.events("round_sealed")], ["round-0001", "round-0002", "round-0002-r2"]
        )
        self.assertEqual(
            [event["file"] for event in self.site.events("round_appended")], ["rounds/0001.json", "rounds/0002.json"]
        )
        late = self.site.call(
            "append", "--dir", self.site.dir, stdin=json.dumps(more | {"round": 2}).encode() + b" ", check=False
        )
        self.assertEqual(late.returncode, 2)
        self.assertIn(b"takes no more rounds", late.stderr)

    def test_stop_ends_the_running_trial(self):
        self.site.job([[self.site.trial(1, "true"), self.site.trial(2, "sleep 100"), self.site.trial(3, "true")]])
        runner = self.site.start()
        self.site.wait_event("trial_started", 2)
        state = json.loads(self.site.call("state", "--dir", self.site.dir).stdout)
        self.assertEqual((state["running"], state["pid"], state["done"]), (True, runner.pid, False))
        second = self.site.call("run", "--dir", self.site.dir, check=False)
        self.assertEqual(second.returncode, 7)
        self.assertIn(f"held by pid {runner.pid}".encode(), second.stderr)
        self.site.call("stop", "--dir", self.site.dir)
        self.assertEqual(runner.wait(30), 7)
        self.assertEqual([self.site.record(n)["verdict"] for n in (1, 2)], ["ok", "stopped"])
        self.assertFalse(self.site.folder(3).exists())
        self.assertEqual(self.site.events("round_sealed")[0]["complete"], False)
        self.assertEqual(self.site.events("run_done")[0]["exit"], 7)
        self.assertEqual(len(self.site.events("stop_requested")), 1)
        self.site.pull("round-0001")

    def test_kill_9_of_the_agent_and_again(self):
        marker = self.site.work / "marker"
        marker.touch()
        marker.chmod(0o666)
        script = f"setsid sleep 1000 & echo x >> {marker}; sleep 1; [ $(wc -l < {marker}) -gt 1 ] || sleep 1000"
        self.site.job(
            [
                [self.site.trial(1, "echo one")],
                [self.site.trial(2, "echo two", round=2), self.site.trial(3, script, round=2)],
            ]
        )
        runner = self.site.start()
        self.site.wait_event("trial_started", 3)
        while not marker.read_text():
            time.sleep(0.02)
        runner.send_signal(signal.SIGKILL)
        runner.wait()
        with open(self.site.dir / "events.jsonl", "a") as events:
            events.write('{"v":1,"n":99,"ki')  # as a crash would cut it
        self.assertEqual(self.site.run(), 0, self.site.log())
        self.assertEqual(len(self.site.events("agent_started")), 2)
        self.assertEqual(len({event["boot_id"] for event in self.site.events("agent_started")}), 1)
        self.assertEqual(os.listdir(self.site.dir / "trials" / "000001"), ["a1"])
        self.assertEqual(sorted(os.listdir(self.site.dir / "trials" / "000002")), ["a1", "a2"])
        self.assertEqual(self.site.record(3, 2)["verdict"], "ok")
        _, files = self.site.pull("round-0002")
        self.assertIn("trials/000002/a1/stdout", files)
        self.assertIn("trials/000003/a2/trial.json", files)
        self.assertEqual([event["unit"] for event in self.site.events("round_sealed")], ["round-0001", "round-0002"])

    def test_phases_in_order_and_only_run_is_timed(self):
        phases = [
            phase("setup", "sleep 0.6; echo data > f"),
            phase("run", "cat f"),
            phase("check", "grep -q data f || exit 1"),
            phase("cleanup", "rm f; echo gone >&2"),
        ]
        record = self.verdict(phases=phases)
        self.assertEqual(record["verdict"], "ok")
        self.assertEqual(self.site.stdout(1), b"data\n")
        self.assertLess(record["wall_ns"], 600_000_000 + record["wall_ns"] // 2)
        self.assertEqual(sorted(os.listdir(self.site.folder(1))), ["cleanup.stderr", "stderr", "stdout", "trial.json"])

    def test_a_failed_setup_skips_run_but_cleans_up(self):
        phases = [phase("setup", "exit 4"), phase("run", "echo never"), phase("cleanup", "echo cleaned")]
        record = self.verdict(phases=phases)
        self.assertEqual((record["verdict"], record["phase"], record["exit_code"]), ("exit", "setup", 4))
        self.assertFalse((self.site.folder(1) / "stdout").exists())
        self.assertEqual((self.site.folder(1) / "cleanup.stdout").read_text(), "cleaned\n")


if __name__ == "__main__":
    harness.main()

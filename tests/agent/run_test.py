"""From job to sealed results: the straight way, appended rounds, stops, crashes."""

import json
import os
import signal
import subprocess
import time

import harness
import pytest
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
        assert self.site.run() == 0, self.site.log()
        assert self.site.log() == ""
        kinds = [event["kind"] for event in self.site.events()]
        assert kinds == ["agent_started", "facts_taken"] + [
            "round_started",
            "trial_started",
            "trial_finished",
            "round_sealed",
        ] + ["round_started"] + ["trial_started", "trial_finished"] * 2 + ["round_sealed"] + ["facts_taken", "run_done"]
        sealed = {event["unit"]: event for event in self.site.events("round_sealed")}
        assert sorted(sealed) == ["round-0001", "round-w000"]
        for unit in sealed:
            digest, files = self.site.pull(unit)
            assert digest == sealed[unit]["manifest_sha256"]
            assert len(files) == sealed[unit]["files"]
            assert (self.site.dir / "acks" / unit).exists()
        _, files = self.site.pull("round-0001")
        assert files["trials/000002/a1/stdout"].decode() == HEADER + ROW
        record = json.loads(files["trials/000002/a1/trial.json"])
        assert (record["verdict"], record["reason"], record["exit_code"]) == ("ok", "", 0)
        assert record["wall_ns"] > 0
        assert record["steal_percent"] is None
        assert record["steal_note"] == "too short to say"

        lines = self.site.stdout(3).decode().splitlines()
        environment = dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("PWD"))
        scratch = environment["BENCHCTL_SCRATCH"]
        assert set(environment) - {"_", "SHLVL", "OLDPWD"} == {"PATH", "HOME", "LANG", "LC_ALL", "TZ", "EXTRA"} | {
            "BENCHCTL_SEED",
            "BENCHCTL_SCRATCH",
            "BENCHCTL_OUT",
            "BENCHCTL_CPUS",
        }
        assert environment["BENCHCTL_SEED"] == str(42 ^ 3)
        assert (lines[-1], environment["HOME"], environment["LC_ALL"]) == (scratch, scratch, "C")

        done = self.site.events("run_done")[0]
        digest, files = self.site.pull("final")
        assert (digest, done["exit"], done["unit"]) == (done["manifest_sha256"], 0, "final")
        for name in ("job.json", "facts.before.json", "facts.after.json", "steal.csv", "system.csv", "events.jsonl"):
            assert name in files
        assert b"run_done" not in files["events.jsonl"]
        assert not [name for name in files if name.startswith("trials/")]
        rows = files["steal.csv"].decode().splitlines()
        assert rows[0] == STEAL_HEADER
        assert [row.split(",")[:5] for row in rows[1:]] == [
            ["1", "1", "s", "arm1", "0"],
            ["2", "1", "s", "arm2", "1"],
            ["3", "1", "s", "arm3", "1"],
        ]
        assert files["system.csv"].startswith(b"trial,attempt,unix_ms,user,nice,system,idle,iowait,irq,softirq,steal\n")
        listed = {}
        for line in files["MANIFEST.sha256"].decode().splitlines()[1:]:
            digest, size, _mode, path = line.split(" ", 3)
            listed[path] = digest
            data = (self.site.dir / path).read_bytes()[: int(size)]
            assert (sha256(data), len(data)) == (digest, int(size)), path
        on_disk = {str(path.relative_to(self.site.dir)) for path in self.site.dir.glob("trials/**/*") if path.is_file()}
        assert on_disk <= set(listed)
        assert (self.site.dir / "run.done").read_text() == "0\n"
        for path in [self.site.dir, *self.site.dir.rglob("*")]:
            assert harness.private(path) or path.name == "agent.log", path
        state = json.loads(self.site.call("state", "--dir", self.site.dir).stdout)
        assert state == {"running": False, "pid": None, "last_event": len(kinds), "done": True}
        # Started again: nothing runs again.
        assert self.site.run() == 0
        assert len(self.site.events()) == len(kinds)

    def test_events_from_and_follow(self):
        self.site.job([[self.site.trial(1, "sleep 1")]])
        runner = self.site.start()
        followed = self.site.call("events", "--dir", self.site.dir, "--from", 3, "--follow", 60).stdout
        assert runner.wait(30) == 0
        events = [json.loads(line) for line in followed.splitlines()]
        assert [event["n"] for event in events] == list(range(3, 3 + len(events)))
        assert events[-1]["kind"] == "run_done"

    def test_pull_of_an_unsealed_unit(self):
        self.site.job([[self.site.trial(1, "true")]])
        done = self.site.call("pull", "--dir", self.site.dir, "--unit", "round-0001", check=False)
        assert (done.returncode, done.stdout) == (3, b"")
        assert b"not sealed yet" in done.stderr

    def test_another_job_is_refused(self):
        self.site.job([[self.site.trial(1, "true")]])
        self.site.job([[self.site.trial(1, "true")]])  # the same again
        with pytest.raises(AssertionError, match="exit 2.*another job"):
            self.site.job([[self.site.trial(1, "false")]])

    def test_unpack_twice_and_of_a_wrong_pack(self):
        self.site.ship({"a/b": (b"data", False), "run": (b"#!/bin/sh\n", True)})
        dest = self.site.work / "bundles" / self.site.bundle
        assert (dest / "a/b").stat().st_mode & 511 == 420
        assert (dest / "run").stat().st_mode & 511 == 493
        assert (dest.stat().st_mode & 511, (dest / "a").stat().st_mode & 511) == (493, 493)
        self.site.call("unpack", "--sha256", self.site.bundle, dest, stdin=self.site.pack)
        other = self.site.work / "bundles" / ("1" * 64)
        wrong = self.site.call("unpack", "--sha256", "1" * 64, other, stdin=self.site.pack, check=False)
        assert wrong.returncode != 0
        cut = self.site.call("unpack", "--sha256", self.site.bundle, other, stdin=self.site.pack[:-3], check=False)
        assert cut.returncode != 0
        assert sorted(os.listdir(dest.parent)) == [self.site.bundle]

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
        assert len(self.site.events("round_started")) == 1
        self.site.pull("round-0001")
        self.site.wait_event("round_sealed", 2)
        self.site.pull("round-0002")
        self.site.call("append", "--dir", self.site.dir, stdin=json.dumps(more).encode())  # the same: no new round
        repeat = {"round": 2, "trials": [self.site.trial(2, "true", round=2, attempt=2)]}
        self.site.call("append", "--dir", self.site.dir, stdin=json.dumps(repeat).encode())
        self.site.wait_event("round_sealed", 3)
        self.site.pull("round-0002-r2")
        self.site.call("stop", "--dir", self.site.dir)
        assert runner.wait(30) == 0, self.site.log()
        follower.communicate(timeout=10)
        assert [event["unit"] for event in self.site.events("round_sealed")] == [
            "round-0001",
            "round-0002",
            "round-0002-r2",
        ]
        assert [event["file"] for event in self.site.events("round_appended")] == [
            "rounds/0001.json",
            "rounds/0002.json",
        ]
        late = self.site.call(
            "append", "--dir", self.site.dir, stdin=json.dumps(more | {"round": 2}).encode() + b" ", check=False
        )
        assert late.returncode == 2
        assert b"takes no more rounds" in late.stderr

    def test_stop_ends_the_running_trial(self):
        self.site.job([[self.site.trial(1, "true"), self.site.trial(2, "sleep 100"), self.site.trial(3, "true")]])
        runner = self.site.start()
        self.site.wait_event("trial_started", 2)
        state = json.loads(self.site.call("state", "--dir", self.site.dir).stdout)
        assert (state["running"], state["pid"], state["done"]) == (True, runner.pid, False)
        second = self.site.call("run", "--dir", self.site.dir, check=False)
        assert second.returncode == 7
        assert f"held by pid {runner.pid}".encode() in second.stderr
        self.site.call("stop", "--dir", self.site.dir)
        assert runner.wait(30) == 7
        assert [self.site.record(n)["verdict"] for n in (1, 2)] == ["ok", "stopped"]
        assert not self.site.folder(3).exists()
        assert not self.site.events("round_sealed")[0]["complete"]
        assert self.site.events("run_done")[0]["exit"] == 7
        assert len(self.site.events("stop_requested")) == 1
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
        assert self.site.run() == 0, self.site.log()
        assert len(self.site.events("agent_started")) == 2
        assert len({event["boot_id"] for event in self.site.events("agent_started")}) == 1
        assert os.listdir(self.site.dir / "trials" / "000001") == ["a1"]
        assert sorted(os.listdir(self.site.dir / "trials" / "000002")) == ["a1", "a2"]
        assert self.site.record(3, 2)["verdict"] == "ok"
        _, files = self.site.pull("round-0002")
        assert "trials/000002/a1/stdout" in files
        assert "trials/000003/a2/trial.json" in files
        assert [event["unit"] for event in self.site.events("round_sealed")] == ["round-0001", "round-0002"]

    def test_phases_in_order_and_only_run_is_timed(self):
        phases = [
            phase("setup", "sleep 0.6; echo data > f"),
            phase("run", "cat f"),
            phase("check", "grep -q data f || exit 1"),
            phase("cleanup", "rm f; echo gone >&2"),
        ]
        record = self.verdict(phases=phases)
        assert record["verdict"] == "ok"
        assert self.site.stdout(1) == b"data\n"
        assert record["wall_ns"] < 600000000 + record["wall_ns"] // 2
        assert sorted(os.listdir(self.site.folder(1))) == ["cleanup.stderr", "stderr", "stdout", "trial.json"]

    def test_a_failed_setup_skips_run_but_cleans_up(self):
        phases = [phase("setup", "exit 4"), phase("run", "echo never"), phase("cleanup", "echo cleaned")]
        record = self.verdict(phases=phases)
        assert (record["verdict"], record["phase"], record["exit_code"]) == ("exit", "setup", 4)
        assert not (self.site.folder(1) / "stdout").exists()
        assert (self.site.folder(1) / "cleanup.stdout").read_text() == "cleaned\n"


if __name__ == "__main__":
    harness.main()

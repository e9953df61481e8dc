"""benchctl is killed after each intent and after each done of a real run; what comes after finishes the work."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import pytest
from conftest import ONE_ROW, Bench, needs_root

pytestmark = needs_root

PLAN = """
schema = 1
name = "kills"
[fleet.m]
provider = "nspawn"
[harden]
profile = "quiet"
[limits]
ttl = "{ttl}"
[schedule]
runs = 3
warmup_rounds = 1
[[suite]]
name = "one"
command = ["./one_row"]
format = "generic"
"""


def put(bench: Bench, ttl: str = "30m") -> Path:
    bench.program("one_row")
    plan = bench.home / "plan.toml"
    plan.write_text(PLAN.format(ttl=ttl))
    return plan


def killed_at(bench: Bench, plan: Path, run: str, failpoint: str) -> None:
    bench.environment["BENCHCTL_FAILPOINT"] = failpoint
    done = bench("run", "--plan", str(plan), "--id", run)
    del bench.environment["BENCHCTL_FAILPOINT"]
    assert done.code == -9, f"{failpoint}: exit {done.code}\n{done.err}"


def trials(bench: Bench, run: str) -> list[tuple]:
    return bench.query("SELECT number, attempt, round, verdict FROM v_trials WHERE run = ? ORDER BY number", run)


def test_after_each_intent_and_each_done(bench: Bench, nothing_left: None) -> None:
    plan = put(bench)
    done = bench("run", "--plan", str(plan), "--id", "whole")
    assert done.code == 0, done.err
    whole = trials(bench, "whole")
    assert [round for _, _, round, _ in whole] == [0, 1, 2, 3]
    steps = [
        name
        for (name,) in bench.query(
            "SELECT s.name FROM step s JOIN machine m ON m.id = s.machine WHERE m.run = 'whole' ORDER BY s.seq"
        )
    ]
    failpoints = [f"{when}:{name}" for name in steps for when in ("after_intent", "after_done")]
    assert len(failpoints) >= 24, failpoints
    for number, failpoint in enumerate(failpoints):
        run = f"k{number}"
        killed_at(bench, plan, run, failpoint)
        before = bench.query("SELECT machine, state FROM v_machines WHERE run = ?", run)
        assert len(before) == 1, failpoint
        resumed = bench("resume", run)
        assert resumed.code == 0, f"{failpoint}: exit {resumed.code}\n{resumed.err}"
        assert trials(bench, run) == whole, failpoint
        after = bench.query("SELECT machine, state FROM v_machines WHERE run = ?", run)
        assert {state for _, state in after} == {"gone"}, failpoint
        if failpoint == "after_intent:create":
            # Its keys died with the controller: what may have been made is removed, another machine does the work.
            assert len(after) == 2
        else:
            assert [machine for machine, _ in after] == [machine for machine, _ in before], failpoint
        again = bench("resume", run)
        assert (again.code, "is complete" in again.out) == (0, True), again.err


def test_killed_in_every_life_and_reaped(bench: Bench, nothing_left: None) -> None:
    plan = put(bench)
    killed_at(bench, plan, "r", "after_done:round-0001")
    bench.environment["BENCHCTL_FAILPOINT"] = "after_done:equip"
    assert bench("resume", "r").code == -9
    bench.environment["BENCHCTL_FAILPOINT"] = "import:trial"
    assert bench("resume", "r").code == -9
    del bench.environment["BENCHCTL_FAILPOINT"]
    held = bench("cancel", "r")
    assert held.code == 7, held.err
    assert "benchctl resume r" in held.err
    reaped = bench("reap", "--run", "r")
    assert reaped.code == 0, reaped.err
    assert "removed" in reaped.out
    assert bench.query("SELECT outcome FROM v_runs WHERE run = 'r'") == [("interrupted",)]
    # What had come home stands, the missing rounds run on another machine as a block of their own.
    done = bench("resume", "r")
    assert done.code == 0, done.err
    assert [(round, verdict) for _, _, round, verdict in trials(bench, "r") if round > 0] == [
        (1, "ok"),
        (2, "ok"),
        (3, "ok"),
    ]
    machines = bench.query("SELECT machine, state FROM v_machines WHERE run = 'r' ORDER BY machine_id")
    assert [state for _, state in machines] == ["gone", "gone"]


def test_a_stopped_run_goes_on(bench: Bench, nothing_left: None) -> None:
    plan = put(bench)
    bench.program("one_row", "#!/bin/sh\nsleep 2\n" + ONE_ROW)
    process = bench.start("run", "--plan", str(plan), "--id", "s")
    assert process.stderr is not None
    for line in process.stderr:
        if "round 1 of 3 is home" in line:
            process.terminate()
            break
    _, err = process.communicate(timeout=200)
    assert process.returncode == 7, err
    assert "benchctl resume s" in err
    assert bench.query("SELECT state FROM v_machines WHERE run = 's'") == [("gone",)]
    done = bench("resume", "s")
    assert done.code == 0, done.err
    scored = bench.query("SELECT round, verdict FROM v_trials WHERE run = 's' AND round > 0 ORDER BY round, attempt")
    assert [(round, verdict) for round, verdict in scored if verdict == "ok"] == [(1, "ok"), (2, "ok"), (3, "ok")]


def test_the_watchdog_removes_what_expired(bench: Bench, nothing_left: None) -> None:
    """Nobody resumes, nobody reaps: the machine goes when its time to live is over, and not before."""
    plan = put(bench, ttl="1m")
    begin = time.time()
    killed_at(bench, plan, "w", "after_done:connect")
    expires = bench.query("SELECT l.expires_ms / 1000 FROM lease l WHERE l.run = 'w'")[0][0]
    assert begin + 55 < expires < begin + 90
    gone = 0.0
    while time.time() < expires + 60 and not gone:
        ((state,),) = bench.query("SELECT state FROM v_machines WHERE run = 'w'")
        if state == "gone":
            gone = time.time()
        time.sleep(0.5)
    assert gone > expires, "removed before its time was over" if gone else "never removed"


def test_a_run_leaves_no_watchdog(bench: Bench, nothing_left: None) -> None:
    plan = put(bench)
    done = bench("run", "--plan", str(plan), "--id", "n")
    assert done.code == 0, done.err
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            assert not re.search(rb"watchdog\0.*n\0", words), (entry.name, os.getpid())


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-v"]))

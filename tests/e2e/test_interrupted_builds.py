"""Whoever stops a build stops the compilers too: the next one writes where they would go on to write."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest
from conftest import Bench

PLAN = """
schema = 1
name = "endless"
[fleet.here]
provider = "local"
[[suite]]
workload = "mismatch"
mode = "all"
arms = ["one"]
"""


@pytest.fixture
def endless(bench: Bench, tmp_path: Path) -> Bench:
    """A root of its own, whose only recipe starts a compiler that never ends and says its number."""
    declared = bench.root_with("mismatch") / "workloads/mismatch/workload.toml"
    text = declared.read_text()
    steps = next(line for line in text.splitlines() if line.startswith("steps"))
    script = f"sleep 1000 & echo $! >{tmp_path}/new; mv {tmp_path}/new {tmp_path}/compiler; wait"
    declared.write_text(text.replace(steps, f'steps = [["sh", "-c", "{script}"]]'))
    bench.environment["BENCHCTL_CACHE"] = str(tmp_path / "cache")
    return bench


def stop_build(bench: Bench, how: signal.Signals, *words: str) -> tuple[int, str]:
    """Sends the signal while the compiler runs; it must be gone soon after."""
    said = bench.home / "compiler"
    process = bench.start(*words)
    for _ in range(600):
        if said.exists() or process.poll() is not None:
            break
        time.sleep(0.1)
    assert said.exists(), process.communicate()
    compiler = Path("/proc") / said.read_text().strip()
    process.send_signal(how)
    _, err = process.communicate(timeout=120)

    def gone() -> bool:
        try:
            return ") Z " in (compiler / "stat").read_text()
        except OSError:
            return True

    for _ in range(300):
        if gone():
            break
        time.sleep(0.1)
    assert gone(), f"{compiler} still runs"
    return process.returncode, err


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_compiler_outlives_its_build(endless: Bench, how: signal.Signals) -> None:
    code, _ = stop_build(endless, how, "workloads", "build", "mismatch")
    assert code != 0
    # What was stopped has not failed: the next look offers to build it.
    listed = endless.json("workloads", "list")
    assert {arm["state"] for arm in listed[0]["arms"]} == {"not built yet"}


def test_a_run_is_stopped_while_it_builds(endless: Bench) -> None:
    plan = endless.home / "plan.toml"
    plan.write_text(PLAN)
    code, err = stop_build(endless, signal.SIGINT, "run", "--plan", str(plan))
    assert code == 7, err
    assert "stopped while building mismatch/all" in err
    assert endless.json("status") == []

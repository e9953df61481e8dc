"""A disk that is full: on the machine, and on this computer. It is said, and finished trials stand."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Bench, needs_root

PLAN = """
schema = 1
name = "full"
[fleet.m]
provider = "{provider}"
{fleet}
[schedule]
runs = 4
warmup_rounds = 0
order = "fixed"
[[suite]]
name = "{program}"
command = ["./{program}"]
format = "generic"
"""


@needs_root
def test_on_the_machine(bench: Bench, nothing_left: None) -> None:
    bench.program("hoard")
    done, run, _ = bench.run_plan(PLAN.format(provider="nspawn", fleet='disk = "256MiB"', program="hoard"))
    assert done.code == 6, done.err
    assert "no_space" in done.err
    assert "full" in done.err
    verdicts = [
        verdict for (verdict,) in bench.query("SELECT verdict FROM v_trials WHERE run = ? ORDER BY number", run)
    ]
    # Each trial had the whole disk again, met its end and says so.
    assert verdicts == ["no_space"] * 4
    assert bench.query("SELECT state FROM v_machines WHERE run = ?", run) == [("gone",)]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "small"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m,mode=700", "tmpfs", str(place)], check=True)
    yield place
    for _ in range(100):  # a watchdog looks every five seconds
        if subprocess.run(["umount", str(place)], capture_output=True, check=False).returncode == 0:
            return
        time.sleep(0.2)
    pytest.fail(f"{place} is still in use")


def until_full(process: subprocess.Popen[str]) -> str:
    """What was said up to the words that this computer's disk is full."""
    assert process.stderr is not None
    said = ""
    for line in process.stderr:
        said += line
        if "this computer's disk is full" in line:
            return said
    pytest.fail(f"it never said that the disk is full, exit {process.wait()}\n{said}")


def own_plan(bench: Bench, program: str) -> tuple[Path, str]:
    bench.program(program)
    plan = bench.home / "plan.toml"
    plan.write_text(PLAN.format(provider="local", fleet="", program=program))
    return plan, bench.sha256_of(plan)


@needs_root
def test_on_this_computer(bench: Bench, small_disk: Path) -> None:
    """What is sealed waits on the machine; once there is space again, all of it comes home."""
    plan, sha256 = own_plan(bench, "wordy")
    bench.environment["BENCHCTL_MIN_FREE"] = "0"  # it shall begin, and meet its end on the way
    words = ("run", "--plan", str(plan), "--id", "full", "--trust-plan", sha256, "--out", str(small_disk))
    process = bench.start(*words)
    said = until_full(process)
    assert "No space left on device" in said
    before = bench.query("SELECT count(*) FROM v_trials")[0][0]
    assert before < 4
    subprocess.run(["mount", "-o", "remount,size=64m", str(small_disk)], check=True)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert bench.query("SELECT number, verdict FROM v_trials ORDER BY number") == [(n, "ok") for n in range(1, 5)]
    assert bench.query("SELECT count(*) FROM v_samples") == [(4,)]


@needs_root
def test_of_the_store_itself(bench: Bench, small_disk: Path) -> None:
    """The store cannot even note that the machine goes: it goes all the same."""
    plan, sha256 = own_plan(bench, "one_row")
    bench.environment |= {"BENCHCTL_HOME": str(small_disk), "BENCHCTL_MIN_FREE": "0"}
    (small_disk / "ballast").write_bytes(bytes((3072 - 700) << 10))
    process = bench.start("run", "--plan", str(plan), "--id", "full-store", "--trust-plan", sha256)
    said = until_full(process)
    process.terminate()
    _, err = process.communicate(timeout=120)
    assert process.returncode == 7, err
    assert "machine given back" in said + err
    assert not list(Path("/var/lib/benchctl/local").glob("*.full-store"))
    # It could not be noted as gone. With room again it can, and then nobody watches over it any more.
    (small_disk / "ballast").unlink()
    reaped = bench("reap", "--run", "full-store")
    assert reaped.code == 0, reaped.err
    assert bench("status", "full-store").code == 0


@needs_root
def test_a_run_does_not_begin_without_room(bench: Bench, small_disk: Path) -> None:
    plan, sha256 = own_plan(bench, "one_row")
    done = bench("run", "--plan", str(plan), "--trust-plan", sha256, "--out", str(small_disk))
    assert done.code == 2
    assert "free below" in done.err
    assert "64.0 MiB or more" in done.err
    assert not list(small_disk.iterdir())
    assert bench.json("status") == []

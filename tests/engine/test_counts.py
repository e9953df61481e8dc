"""What a build may cost in system calls and instructions: both are the same in every run, so a rise is a change.

The bounds stand in bounds.toml. Counts of system calls are exact; instructions differ between compilers and C libraries, so they
have room. `python test_counts.py` prints the file for the builds of this computer."""

from __future__ import annotations

import re
import sys
import tempfile
import tomllib
from pathlib import Path

import builds
import pytest
from builds import BENCHMARKS, ISA

VARIANTS = ("baseline", "tuned", "best")
CALLS = ("fsync", "fdatasync", "unlink", "pread", "pwrite")
ROOM = 1.15
BOUNDS = Path(__file__).parent / "bounds.toml"


def calls(variant: str, benchmark: str, scratch: Path) -> dict[str, int]:
    ran = builds.engine(builds.bundle(variant), scratch, "--counts", "--benchmark", benchmark, "--size", "quick")
    if ran.code == 75:
        pytest.skip(ran.err)
    assert ran.code == 0, ran.err
    rows = ran.rows()
    return {call: rows[f"{benchmark}/total", call][0] for call in CALLS}


def instructions(variant: str, benchmark: str, scratch: Path) -> int:
    """Of the run phase of tatp and ssb, at the quick size."""
    program = builds.bundle(variant) / "programs" / ISA / benchmark
    database = scratch / f"{variant}-{benchmark}.db"
    sized = {"tatp": ("1000", ["1000", "1000", "1"]), "ssb": ("5", ["1"])}
    amount, run = sized[benchmark]
    builds.must([program, "populate", database, amount, "1"], scratch)
    argv = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, "run", database, *run]
    ran = builds.run(argv, scratch)
    assert ran.code == 0, ran.err
    found = re.search(r"Collected : (\d+)", ran.err)
    assert found, ran.err
    return int(found[1])


@pytest.mark.parametrize("benchmark", BENCHMARKS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_system_calls(variant: str, benchmark: str, tmp_path: Path) -> None:
    bounds = tomllib.loads(BOUNDS.read_text())[variant][benchmark]
    found = calls(variant, benchmark, tmp_path)
    risen = {call: (count, bounds[call]) for call, count in found.items() if count > bounds[call]}
    assert not risen, f"{variant} {benchmark}: (found, bound) {risen}"


@pytest.mark.parametrize("benchmark", ["tatp", "ssb"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_instructions(variant: str, benchmark: str, tmp_path: Path) -> None:
    bound = tomllib.loads(BOUNDS.read_text())[variant][benchmark]["instructions"]
    found = instructions(variant, benchmark, tmp_path)
    assert found < bound * ROOM, f"{variant} {benchmark}: {found} instructions, bound {bound}"


def test_counts_are_the_same_in_every_run(tmp_path: Path) -> None:
    for benchmark in ("tatp", "ssb"):
        assert calls("best", benchmark, tmp_path) == calls("best", benchmark, tmp_path)


def test_the_bounds_see_an_engine_that_syncs_more(tmp_path: Path) -> None:
    """The plain build under the bounds of the best one must not pass."""
    bounds = tomllib.loads(BOUNDS.read_text())["best"]["tatp"]
    found = calls("baseline", "tatp", tmp_path)
    assert found["fsync"] + found["fdatasync"] > bounds["fsync"] + bounds["fdatasync"]
    assert found["unlink"] > bounds["unlink"]


def print_bounds() -> None:
    for variant in VARIANTS:
        for benchmark in BENCHMARKS:
            with tempfile.TemporaryDirectory() as folder:
                scratch = Path(folder)
                table = calls(variant, benchmark, scratch)
                if benchmark in ("tatp", "ssb"):
                    table["instructions"] = instructions(variant, benchmark, scratch)
            print(f"[{variant}.{benchmark}]")
            print("".join(f"{key} = {value}\n" for key, value in table.items()))


if __name__ == "__main__":
    sys.exit(print_bounds())

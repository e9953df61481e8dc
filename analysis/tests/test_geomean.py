"""The geometric mean over benchmarks: of known ratios, against the baseline and against another arm."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from store_maker import StoreMaker

from benchctl_analysis import geomean

# How many times less than the baseline each arm takes, and the geometric mean of it.
RATIOS = {"baseline": (1.0, 1.0), "tuned": (2.0, 4.5), "best": (4.0, 9.0)}
BENCHMARKS = ("tatp", "ssb")


def store(tmp_path: Path, rounds: int = 8, missing: tuple[str, str, int] | None = None) -> str:
    rng = random.Random(3)
    made = StoreMaker(tmp_path / "store.db", rounds=rounds)
    made.bundle()
    for metric in ("wall", "cpu"):
        made.metric(metric, "us", "lower")
    machine = made.machine("m-1")
    for index, benchmark in enumerate(BENCHMARKS):
        point = made.point("engine", benchmark, {"benchmark": benchmark, "durability": "neutral"}, "run", "baseline")
        for number in range(rounds + 1):  # the first is the warm-up
            drift = rng.lognormvariate(0, 0.5)  # of the machine, from round to round; the same for every arm
            for arm, ratios in RATIOS.items():
                verdict = "void" if missing == (benchmark, arm, number) else "ok"
                trial = made.trial(machine, point, arm, number, verdict=verdict)
                value = 1e6 * drift / ratios[index] * rng.lognormvariate(0, 0.01) * (1 if number else 50)
                for metric in ("wall", "cpu"):
                    sample = (trial, made.name(f"{benchmark}/run"), made.metrics[metric], value)
                    made.db.execute("INSERT INTO sample VALUES (?, ?, ?, 0, ?, NULL)", sample)
    made.db.execute("UPDATE point SET workload = 'engine'")
    return str(made.close())


def test_means_of_known_ratios(tmp_path: Path) -> None:
    found = {(row.arm, row.metric): row for row in geomean.means(store(tmp_path), "r1")}
    assert set(found) == {(arm, metric) for arm in ("tuned", "best") for metric in ("wall", "cpu")}
    for (arm, _), row in found.items():
        expected = (RATIOS[arm][0] * RATIOS[arm][1]) ** 0.5
        assert row.rounds == 8
        assert row.low is not None
        assert row.high is not None
        assert row.low < row.estimate < row.high
        assert row.estimate == pytest.approx(expected, rel=0.02)
        assert row.high / row.low < 1.05  # the drift of the machine cancels
        assert row.parts["ssb"] == pytest.approx(RATIOS[arm][1], rel=0.02)


def test_another_arm_as_the_base(tmp_path: Path) -> None:
    found = {row.arm: row for row in geomean.means(store(tmp_path), "r1", "run", "tuned") if row.metric == "cpu"}
    assert found["best"].estimate == pytest.approx(2.0, rel=0.02)
    assert found["baseline"].estimate == pytest.approx(1 / 3, rel=0.02)


def test_a_round_without_one_benchmark_is_left_out(tmp_path: Path) -> None:
    path = store(tmp_path, missing=("ssb", "best", 3))
    rounds = {row.arm: row.rounds for row in geomean.means(path, "r1")}
    assert rounds == {"tuned": 8, "best": 7}


def test_below_six_rounds_there_is_no_interval(tmp_path: Path) -> None:
    rows = geomean.means(store(tmp_path, rounds=5), "r1")
    assert all(row.low is None and row.high is None for row in rows)
    assert "too few rounds" in geomean.table(rows)


def test_the_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = store(tmp_path)
    assert geomean.main([path, "r1", "run", "tuned"]) == 0
    assert "engine neutral cpu  best" in capsys.readouterr().out
    for arguments in ([path, "other"], [path, "r1", "population"], [path, "r1", "run", "nobody"], [path]):
        assert geomean.main(arguments) == 2
        assert "geomean: " in capsys.readouterr().err

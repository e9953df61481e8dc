"""A program may print any number of cases and any finite number: the report stays small and says what it left out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from store_maker import StoreMaker
from test_report import page, rows_of

from benchctl_analysis import stats
from benchctl_analysis.numbers import digits
from benchctl_analysis.text import width

Report = Callable[..., dict[str, Any]]


def of_cases(path: Path, values: dict[str, float], metric: str = "time", rounds: int = 2, factor: float = 1.0) -> Path:
    maker = StoreMaker(path, rounds=rounds)
    maker.metric("time", "ms", "lower")
    machine = maker.machine("m-1", isolated=True)
    point = maker.point("mine", mode="all", baseline="a")
    for round_ in range(1, rounds + 1):
        for arm, scale in (("a", 1.0), ("b", factor)):
            maker.trial(machine, point, arm, round_, {case: {metric: v * scale} for case, v in values.items()})
    return maker.close()


def test_many_cases_are_cut_with_a_pointer(tmp_path: Path, report: Report) -> None:
    store = of_cases(tmp_path / "store.db", {f"case{i}": 1.0 + i / 5000 for i in range(2000)})
    terminal = report(store)["terminal"]
    lines = terminal.splitlines()
    assert len(lines) < 60
    assert any(line.startswith("and ") and "more lines, in summary.csv" in line for line in lines)
    html, md = page(store), page(store, kind="md")
    for text in (html, md, (tmp_path / "summary.md").read_text()):
        assert "1,700 of 2,000 cases are left out; summary.csv has all." in text
        assert "case299" in text
        assert "case300" not in text
    assert len(html) < 600_000
    assert html.count("<svg") == 40 + 1
    assert "1960 plots are left out" in html
    assert len(rows_of(store)) == 2 * 2000


def test_many_concurrent_cases_are_cut(tmp_path: Path, report: Report) -> None:
    store = of_cases(tmp_path / "store.db", {f"case{i}": 100.0 for i in range(90)}, "requests_per_second")
    report(store)
    html = page(store)
    assert "60 of 90 cases are left out; summary.csv has all." in html
    assert html.count(": throughput") == 2 * 30  # caption and label


def test_the_largest_doubles_have_medians_and_no_ratio_breaks(tmp_path: Path, report: Report) -> None:
    store = of_cases(tmp_path / "store.db", {"huge": 1.7e308, "tiny": 5e-324}, rounds=8)
    terminal = report(store)["terminal"]
    assert {float(r["median"]) for r in rows_of(store)} == {1.7e308, 5e-324}
    for text in (terminal, page(store)):
        assert " inf" not in text
        assert ">inf" not in text


@pytest.mark.parametrize("factor", [1e-300, 1e300])
def test_any_ratio_can_be_printed(tmp_path: Path, report: Report, factor: float) -> None:
    store = of_cases(tmp_path / "store.db", {"x": 1e300 if factor < 1 else 1e-300}, rounds=8, factor=factor)
    report(store)
    (row,) = [r for r in rows_of(store) if r["arm"] == "b"]
    assert row["verdict"] == ("faster" if factor < 1 else "slower")
    assert float(row["ratio"]) == pytest.approx(factor, rel=1e-6)


def test_middle_of_values_whose_sum_overflows() -> None:
    assert stats.middle([1e308, 1.5e308]) == 1.25e308
    assert stats.middle([1.7e308] * 4) == 1.7e308
    assert stats.middle([3.0, 1.0, 2.0]) == 2.0
    assert stats.middle([4.0, 1.0, 2.0, 3.0]) == 2.5
    assert digits(1.797e308) == "1.80e+308"
    assert stats.paired_ratio([1e308] * 7, [1e-308] * 7, 0.01).verdict == "higher"
    assert stats.paired_ratio([1e-308] * 7, [1e308] * 7, 0.01).estimate > 0


def test_width_of_plain_text_is_its_length() -> None:
    assert width("abc") == 3
    assert width("e\u0301日") == 3

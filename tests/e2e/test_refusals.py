"""Arms that do not do the same are not compared, and both are named."""

from __future__ import annotations

import pytest
from conftest import Bench

PLAN = """
schema = 1
name = "mismatch"
[fleet.here]
provider = "local"
[schedule]
runs = 6
warmup_rounds = 0
[[suite]]
workload = "mismatch"
mode = "all"
arms = ["one", "{other}"]
baseline = "one"
[suite.params]
case = "{case}"
"""


@pytest.fixture
def other_root(bench: Bench) -> Bench:
    bench.root_with("mismatch")
    return bench


@pytest.mark.parametrize(
    ("other", "case", "words"),
    [("other_check", "check", "check"), ("other_trace", "same", "trace")],
)
def test_refused_and_named(other_root: Bench, other: str, case: str, words: str) -> None:
    done, _, folder = other_root.run_plan(PLAN.format(other=other, case=case))
    assert done.code == 6, done.err
    report = next((folder / "reports").glob("*.md")).read_text()
    for text in (done.out, report):
        refusal = next(line for line in text.splitlines() if "refused" in line.lower() or "disagree" in line.lower())
        assert words in refusal.lower()
        assert ("one" in text and other.replace("_", "\\_") in text) or other in text
    # No ratio of the two is printed anywhere.
    assert "slower (" not in report
    assert "faster (" not in report
    rows = (folder / "summary.csv").read_text().splitlines()
    header = rows[0].split(",")
    mine = [dict(zip(header, row.split(","), strict=True)) for row in rows[1:] if f",{other}," in row]
    assert mine
    assert all(row["ratio"] == "" for row in mine)


def test_agreeing_arms_are_compared(other_root: Bench) -> None:
    done, _, folder = other_root.run_plan(PLAN.format(other="other_check", case="same"))
    assert done.code == 0, done.err
    rows = (folder / "summary.csv").read_text().splitlines()
    header = rows[0].split(",")
    mine = [dict(zip(header, row.split(","), strict=True)) for row in rows[1:] if ",other_check," in row]
    assert mine
    assert all(row["ratio"] != "" for row in mine)

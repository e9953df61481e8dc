"""Claims from the plan to the exit code: the programs always say 42.5, so that every verdict is known beforehand."""

from __future__ import annotations

import json

import pytest
from conftest import Bench

PLAN = """
schema = 1
name = "claims"
[fleet.here]
provider = "local"
[schedule]
runs = 6
warmup_rounds = 0
[[suite]]
workload = "mismatch"
mode = "all"
arms = ["one", "other_check"]
baseline = "one"
[report]
claims = ["claims.toml"]
"""

HEAD = """
schema = 1
[source.doc]
title = "A paper"
environment = "a laptop"
"""

CLAIM = """
[[claim]]
id = "{id}"
source = "doc"
statement = "the other takes as long"
published = "{published}x"
value = {published}
kind = "ratio"
regime = {{ words = "anywhere" }}
holds_if = {{ min = {low}, max = {high} }}
select = {{ workload = "mismatch", case = "same", metric = "time" }}
of = {{ arm = "{arm}" }}
to = {{ arm = "one" }}
"""


def claim(name: str, low: float, high: float, arm: str = "other_check") -> str:
    return CLAIM.format(id=name, published=low, low=low, high=high, arm=arm)


HOLDS, FAILS = claim("holds", 0.9, 1.1), claim("fails", 1.9, 2.1)
OTHER = '[[claim]]\nid = "pg"\nsource = "doc"\nstatement = "s"\npublished = "4.85x"\nregime = { words = "w" }\nnot_tested = "there is none"\n'


@pytest.fixture
def root(bench: Bench) -> Bench:
    bench.root_with("mismatch")
    return bench


def verdicts(bench: Bench, *words: str) -> dict[str, str]:
    done = bench("claims", *words, "--json")
    assert done.code == 0, done.err
    return {one["id"]: one["verdict"] for one in json.loads(done.out)["claims"]}


def test_verdicts_report_and_exit_code(root: Bench) -> None:
    (root.home / "claims.toml").write_text(HEAD + HOLDS + FAILS + OTHER)
    done, run, folder = root.run_plan(PLAN, "--require-claims")
    assert done.code == 3, done.err
    assert "claims are not reproduced: fails on " in done.err
    assert "holds on" not in done.err
    assert root.query("SELECT exit_code FROM run") == [(3,)]
    expected = {"holds": "reproduced", "fails": "not reproduced", "pg": "not tested"}
    assert verdicts(root, run) == expected
    assert "1 reproduced, 1 not reproduced, 1 not tested" in done.out
    for report in (folder / "reports").iterdir():
        assert "a laptop" in report.read_text()
    # Whoever goes on with the run asks what it was begun with.
    again = root("resume", run)
    assert again.code == 3, again.err
    assert "claims are not reproduced: fails on " in again.err
    printed = root("claims", run)
    assert printed.code == 0
    assert "pg: not tested: there is none" in printed.out
    assert "functional" in printed.out

    # What the plan's file says later changes nothing about this run; another file may be named.
    (root.home / "claims.toml").write_text(HEAD + FAILS)
    assert verdicts(root, run) == expected
    assert root("report", run).code == 0
    other = root.home / "other.toml"
    other.write_text(HEAD + HOLDS)
    assert verdicts(root, run, "--claims", str(other)) == {"holds": "reproduced"}
    assert root("claims", run, "--require-claims", "--claims", str(other)).code == 0
    assert root("claims", run, "--require-claims").code == 3
    # A gate that looked at nothing is not open.
    other.write_text(HEAD + OTHER)
    nothing = root("claims", run, "--require-claims", "--claims", str(other))
    assert nothing.code == 3
    assert "no claim could be tested" in nothing.err


def test_a_failed_claim_fails_nobody_who_did_not_ask(root: Bench) -> None:
    (root.home / "claims.toml").write_text(HEAD + FAILS)
    done, _, _ = root.run_plan(PLAN)
    assert done.code == 0, done.err


def test_inconclusive_is_no_failure_and_says_what_is_missing(root: Bench) -> None:
    (root.home / "claims.toml").write_text(HEAD + FAILS)
    done, run, _ = root.run_plan(PLAN, "--runs", "3", "--require-claims")
    assert done.code == 0, done.err
    assert "at least 3 more rounds would tell" in root("claims", run).out


def test_mistakes_are_found_before_anything_runs(root: Bench) -> None:
    plan = root.home / "plan.toml"
    plan.write_text(PLAN)
    (root.home / "claims.toml").write_text(
        HEAD + claim("a", 1, 2, arm="other_chekc") + HOLDS.replace("metric", "metrik")
    )
    for words in (("plan", "check", str(plan)), ("run", "--plan", str(plan))):
        done = root(*words)
        assert done.code == 2
        assert 'claims.toml:17:14: workload "mismatch" has no arm "other_chekc"' in done.err
        assert 'did you mean "other_check"?' in done.err
        assert ' unknown key "metrik" in [claim.select]; did you mean "metric"?' in done.err
    (root.home / "claims.toml").write_text(HEAD + HOLDS + claim("elsewhere", 1, 2, arm="other_trace"))
    done = root("plan", "check", str(plan))
    assert done.code == 0
    assert "1 of 2 claims will not be tested by this plan: elsewhere (arm other_trace of mismatch.all" in done.out
    (root.home / "claims.toml").unlink()
    assert root("plan", "check", str(plan)).code == 2
    assert root.query("SELECT count(*) FROM run") == [(0,)] if (root.home / "state/store.sqlite3").exists() else True
    plan.write_text(PLAN.split("[report]")[0])
    done = root("run", "--plan", str(plan), "--require-claims")
    assert done.code == 2
    assert "needs claims in [report]" in done.err

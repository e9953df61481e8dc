"""What cannot be built here, or cannot run there, is never silently missing: it is said wherever somebody looks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Bench

MISSING = "the compiler of absent is missing: get it from its makers"
PLAN = """
schema = 1
name = "unbuilt"
[fleet.here]
provider = "local"
[schedule]
runs = 2
warmup_rounds = 0
[[suite]]
workload = "unbuilt"
name = "s"
arms = {arms}
"""
NAMED = PLAN.format(arms='["one", "absent"]')


@pytest.fixture
def unbuilt(bench: Bench) -> Bench:
    tool = bench.root_with("unbuilt") / "workloads/toolchains/absent"
    tool.mkdir(parents=True)
    (tool / "toolchain.toml").write_text('help = "absent"\nprobe = ["sh", "probe.sh"]\n')
    (tool / "probe.sh").write_text(f"echo '{MISSING}' >&2\nexit 1\n")
    bench.environment["BENCHCTL_CACHE"] = str(bench.home / "cache")
    return bench


def plan_of(bench: Bench, text: str) -> str:
    (bench.home / "p.toml").write_text(text)
    return str(bench.home / "p.toml")


def test_list_and_build_say_what_is_missing_and_build_the_rest(unbuilt: Bench) -> None:
    listed = {arm["name"]: arm for arm in unbuilt.json("workloads", "list")[0]["arms"]}
    assert listed["absent"]["state"] == "not built"
    assert MISSING in listed["absent"]["why"]
    assert listed["one"]["state"] == "not built yet"
    built = unbuilt("workloads", "build")
    assert built.code == 6, "one of them is broken"
    assert f"unbuilt/absent  not built: toolchain absent: {MISSING}\n" in built.out
    assert "unbuilt/broken  not built: building unbuilt/broken failed" in built.out
    assert "unbuilt/good  " in built.out
    text = unbuilt("workloads", "list").out
    assert "arm  one (baseline)  builds [built]" in text
    assert f"not built: toolchain absent: {MISSING}" in text
    assert "not built: building unbuilt/broken failed: sh -c" in text, "its last build is remembered"
    # A recipe that is missing only its toolchain is no failure, unless it is asked for.
    assert unbuilt("workloads", "build", "unbuilt", "--arm", "one").code == 0
    assert unbuilt("workloads", "build", "unbuilt", "--arm", "absent").code == 2


def test_a_plan_that_names_it_is_refused_before_anything_is_built(unbuilt: Bench) -> None:
    plan = plan_of(unbuilt, NAMED)
    for words in (("plan", "check", plan), ("run", "--plan", plan)):
        done = unbuilt(*words)
        assert done.code == 2, done.err
        assert f"arm absent (s) is not built: toolchain absent: {MISSING}" in done.err
        assert "--skip-unbuilt" in done.err
    assert not (unbuilt.home / "cache/workloads/builds").exists()
    checked = unbuilt("plan", "check", plan, "--skip-unbuilt")
    assert checked.code == 0
    assert f"warning: arm absent (s) is not built: toolchain absent: {MISSING}" in checked.out
    broken = unbuilt("run", "--plan", plan_of(unbuilt, PLAN.format(arms='["one", "broken"]')))
    assert broken.code == 6
    assert "arm broken (s) is not built: building unbuilt/broken failed" in broken.err


def test_a_baseline_that_is_not_built_is_always_an_error(unbuilt: Bench) -> None:
    plan = plan_of(unbuilt, NAMED + 'baseline = "absent"\n')
    done = unbuilt("run", "--plan", plan, "--skip-unbuilt")
    assert done.code == 2
    assert "it is the baseline" in done.err


def test_a_run_of_all_arms_takes_what_there_is_and_says_the_rest(unbuilt: Bench) -> None:
    plan = plan_of(unbuilt, PLAN.format(arms='"all"'))
    assert MISSING in unbuilt("plan", "check", plan).out
    done = unbuilt("run", "--plan", plan)
    assert done.code == 0, done.err
    assert f"arm absent (s) is not built: toolchain absent: {MISSING}" in done.err
    assert f"absent: not built: unbuilt/absent: toolchain absent: {MISSING}" in " ".join(done.out.split())
    assert "demanding: runs from good, since unbuilt/demanding: it needs telepathy" in " ".join(done.out.split())
    ran = {arm for (arm,) in unbuilt.query("SELECT DISTINCT arm FROM v_trials")}
    assert ran == {"one", "two", "demanding"}
    left = dict(unbuilt.query("SELECT arm, kind FROM v_left_out"))
    assert left == {"absent": "not built", "broken": "not built", "demanding": "another build"}
    # Every arm of the plan either ran or is named.
    declared = {arm["name"] for arm in unbuilt.json("workloads", "list")[0]["arms"]}
    assert ran | set(left) == declared
    folder = Path(unbuilt.json("status")[0]["folder"])
    report = next((folder / "reports").glob("*.md")).read_text()
    assert f"Not in this table: absent, not built: unbuilt/absent: toolchain absent: {MISSING}." in report
    assert "| two | It always answers 42. |" in report
    machine = next(path for path in (folder / "records").glob("*.json") if path.name != "run.json")
    record = json.loads(machine.read_text())
    assert {row["arm"] for row in record["left_out"]} == set(left)

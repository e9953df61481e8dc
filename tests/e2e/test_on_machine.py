"""Arms that the machine compiles for itself: shipped as sources, built once, told apart, and never silently missing."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from conftest import SOURCE, Bench, needs_root

MISSING = "the compiler of absent is missing: apt-get install absent"
PLAN = """
schema = 1
name = "on-machine"
[fleet.here]
provider = "local"
[schedule]
runs = 2
warmup_rounds = 0
[[suite]]
workload = "on_machine"
name = "s"
build = "on-machine"
arms = {arms}
skip_unbuilt = {skip}
"""


@pytest.fixture
def machine(bench: Bench) -> Bench:
    """A compiler of the tree, a tool that is nowhere, and a toolchain that makes sources on this computer."""
    tools = bench.root_with("on_machine") / "workloads/toolchains"
    tools.mkdir(parents=True)
    shutil.copytree(SOURCE / "workloads/toolchains/cc", tools / "cc")
    shutil.copy(SOURCE / "workloads/toolchains/on_machine.sh", tools)
    for name, text in (
        ("absent/toolchain.toml", 'help = "absent"\nprobe = ["sh", "probe.sh"]\n'),
        ("absent/probe.sh", f"echo '{MISSING}' >&2\nexit 1\n"),
        ("sums/toolchain.toml", 'help = "sums"\nbuild = ["sh", "build.sh"]\nportable = ["sum"]\n'),
        (
            "sums/build.sh",
            f"echo x >>{bench.home}/fetched\necho 42 >$BENCHCTL_OUT/sum\n"
            "touch $BENCHCTL_OUT/library\necho SUMS_VERSION=3 >$BENCHCTL_OUT/environment\n",
        ),
    ):
        (tools / name).parent.mkdir(exist_ok=True)
        (tools / name).write_text(text)
    bench.environment["BENCHCTL_CACHE"] = str(bench.home / "cache")
    return bench


def plan_of(arms: list[str], skip: bool = False) -> str:
    return PLAN.format(arms=json.dumps(arms), skip=str(skip).lower())


def builds_of(folder: Path) -> dict:
    (file,) = (folder / "builds").glob("*.json")
    return json.loads(file.read_text())


def test_the_machine_builds_from_sources_and_the_report_tells(machine: Bench, nothing_left: None) -> None:
    done, run, folder = machine.run_plan(plan_of(["one"]))
    assert done.code == 0, done.err
    assert machine.query("SELECT value FROM v_samples") == [(42.0,), (42.0,)]
    (bundle,) = {bundle for (bundle,) in machine.query("SELECT bundle FROM v_trials WHERE run = ?", run)}
    built = json.loads(machine.query("SELECT manifest FROM v_bundles WHERE bundle = ?", bundle)[0][0])
    sources = machine.home / "cache/workloads/bundles" / built["built_from"]
    assert (sources / "on_machine/program.c").exists()
    assert (sources / "made/sums/sum").read_text() == "42\n"
    assert not (sources / "made/sums/library").exists(), "what is not portable stays"
    assert not (sources / "bin").exists(), "nothing was compiled on the controller"
    assert "on_machine" in json.loads((sources / "bundle.json").read_text())
    assert built["toolchains"]["cc"]["CC_VERSION"], "the machine's own compiler"
    assert built["toolchains"]["sums"] == {"SUMS_VERSION": "3"}
    steps = [name for (name,) in machine.query("SELECT name FROM step ORDER BY seq")]
    assert steps.index("facts") < steps.index("build") < steps.index("equip")
    (log,) = (folder / "builds").glob("*/on_machine-good-*.log")
    assert "$ sh build.sh" in log.read_text()
    (report,) = (folder / "reports").glob("*.html")
    assert "on the machine" in report.read_text()
    assert bundle[:12] in report.read_text()


def test_what_cannot_be_built_there_is_said_and_the_others_run(machine: Bench) -> None:
    arms = ["one", "absent", "broken", "demanding"]
    done, run, folder = machine.run_plan(plan_of(arms, skip=True))
    assert done.code == 0, done.err
    assert {arm for (arm,) in machine.query("SELECT DISTINCT arm FROM v_trials WHERE run = ?", run)} == {"one"}
    left = {arm: (kind, reason) for arm, kind, reason in machine.query("SELECT arm, kind, reason FROM v_left_out")}
    assert left["absent"][0] == "not built"
    assert f"the machine cannot build it: {MISSING}; install it on this computer" in left["absent"][1]
    assert left["broken"][0] == "not built"
    assert "building it on the machine failed: " in left["broken"][1]
    assert "no-such-flag" in left["broken"][1], "the last line of its log"
    assert left["demanding"][0] == "not for this machine"
    assert "not built for this CPU: it needs telepathy" in left["demanding"][1]
    log = next((folder / "builds").glob("*/on_machine-broken-*.log")).read_text()
    assert "first" in log
    assert "\x1b" not in log, "what a machine prints is not let through"
    assert "bad\\x1b[31m line" in log


@pytest.mark.parametrize(("arms", "code"), [(["one", "broken"], 6), (["one", "absent"], 5), (["absent", "one"], 5)])
def test_what_may_not_be_left_out_ends_the_run(machine: Bench, arms: list[str], code: int, nothing_left: None) -> None:
    text = plan_of(arms) + (f'baseline = "{arms[0]}"\n')
    done, run, _ = machine.run_plan(text)
    assert done.code == code, done.err
    assert "(s) is not built: " in done.err
    assert machine.query("SELECT count(*) FROM v_trials WHERE run = ?", run) == [(0,)]


def test_a_recipe_that_is_not_for_machines_is_a_mistake_of_the_plan(machine: Bench) -> None:
    plan = machine.home / "p.toml"
    plan.write_text(plan_of(["one", "here"]))
    done = machine("plan", "check", str(plan))
    assert done.code == 2
    assert 'build in [[suite]] is "on-machine", and of workload "on_machine" here cannot be built there' in done.err


@pytest.mark.parametrize("failpoint", ["after_intent:build", "after_done:build", "after_intent:equip"])
def test_a_controller_that_is_killed_there_is_followed_by_one_that_ends_the_work(
    machine: Bench, failpoint: str, nothing_left: None
) -> None:
    plan = machine.home / "p.toml"
    plan.write_text(plan_of(["one"]))
    machine.environment["BENCHCTL_FAILPOINT"] = failpoint
    assert machine("run", "--plan", str(plan), "--id", "r").code == -9
    del machine.environment["BENCHCTL_FAILPOINT"]
    done = machine("resume", "r")
    assert done.code == 0, done.err
    assert machine.query("SELECT count(*) FROM v_trials WHERE run = 'r' AND verdict = 'ok'") == [(2,)]
    assert (machine.home / "fetched").read_text() == "x\n", "the sources are made once"


@needs_root
def test_a_machine_of_our_own_gets_the_compiler_by_packages(machine: Bench, nothing_left: None) -> None:
    del machine.environment["BENCHCTL_CACHE"]  # images are shared, since making one takes a minute
    build = machine.home / "root/workloads/on_machine/build.sh"
    build.write_text(build.read_text() + "echo I am $(id -u)\n")
    text = plan_of(["one"]).replace('"local"', '"nspawn"')
    done, run, folder = machine.run_plan(text)
    assert done.code == 5, done.err
    assert "apt-get install gcc binutils libc6-dev; put the packages into packages = [...] of its [fleet]" in done.err
    text = text.replace('"nspawn"', '"nspawn"\npackages = ["gcc", "binutils", "libc6-dev"]')
    done, run, folder = machine.run_plan(text)
    assert done.code == 0, done.err
    assert machine.query("SELECT count(*) FROM v_trials WHERE run = ? AND verdict = 'ok'", run) == [(2,)]
    log = next((folder / "builds").glob("*/on_machine-good-*.log")).read_text()
    assert 60706 <= int(log.split("I am ")[1].split()[0]) <= 61183, "under a user of its own, as trials are"
    assert builds_of(folder)["unbuilt"] == {}

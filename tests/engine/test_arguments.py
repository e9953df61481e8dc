"""What the runner says when it is asked for something that is not there."""

from __future__ import annotations

import shutil
from pathlib import Path

import builds
import pytest
from builds import ENGINE, ISA


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--bogus"],
        ["--benchmark"],
        ["--benchmark", "tpcc"],
        ["--benchmark", "tatp", "--size", "huge"],
        ["--benchmark", "tatp", "--seed", "0"],
        ["--benchmark", "tatp", "--seed", "-1"],
        ["--benchmark", "tatp", "--seed", "1e3"],
        ["--benchmark", "tatp", "--durability", "none"],
        ["--benchmark", "tatp", "--info"],
        ["--counts"],
    ],
)
def test_mistakes_are_one_line_and_exit_code_two(words: list[str], tmp_path: Path) -> None:
    ran = builds.engine(builds.bundle("baseline"), tmp_path, *words)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_database_that_is_there_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "engine.db").write_text("mine")
    ran = builds.engine(builds.bundle("baseline"), tmp_path, "--benchmark", "tatp", "--size", "quick")
    assert ran.code == 2
    assert (tmp_path / "engine.db").read_text() == "mine"


def test_a_build_for_another_cpu_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "bundle"
    shutil.copytree(builds.bundle("baseline"), folder)
    (folder / "programs" / ISA).rename(folder / "programs/armv8-a")
    ran = builds.engine(folder, tmp_path / "scratch", "--benchmark", "tatp", "--size", "quick")
    assert (ran.code, ran.out) == (75, "")
    assert "not built for this CPU: it lacks armv8-a" in ran.err


def test_a_program_that_dies_gives_no_rows(tmp_path: Path) -> None:
    folder = tmp_path / "bundle"
    shutil.copytree(builds.bundle("baseline"), folder)
    (folder / "programs" / ISA / "tatp").write_text("#!/bin/sh\nkill -9 $$\n")
    ran = builds.engine(folder, tmp_path / "scratch", "--benchmark", "tatp", "--size", "quick")
    assert (ran.code, ran.out) == (1, "")
    assert "was ended by signal 9" in ran.err


def test_a_variant_with_a_mistake_is_told(tmp_path: Path) -> None:
    workload = tmp_path / "engine"
    shutil.copytree(ENGINE, workload)
    env = {**builds.environment(), "BENCHCTL_OUT": str(tmp_path), "BENCHCTL_WORK": str(tmp_path)}
    for text, said in (
        ("base = 'baseline'\ncflag = ['-O2']\n", "unknown key 'cflag'"),
        ("base = 'baseline'\ncflags = '-O2'\n", "cflags has a value of the wrong kind"),
        ("base = 'nothing'\n", "there is no variant nothing"),
        ("base = 'new'\n", "is no other variant"),
        ("help = 'x'\n", "sqlite, compiler, isa, cflags, deployment is missing"),
        ("base = 'baseline'\nsqlite = '3.1.0'\n", "there is no SQLite 3.1.0 among the toolchains"),
        ("base = \n", "new.toml"),
    ):
        (workload / "variants/new.toml").write_text(text)
        ran = builds.run(["python3", "-B", workload / "build.py", "new"], tmp_path, env)
        assert ran.code == 1, ran.err
        assert said in ran.err
        assert ran.err.count("\n") == 1

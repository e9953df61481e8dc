"""The real programs of the C workloads, built by benchctl itself, and copies of them with a mistake put in."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

SOURCE = Path(os.environ.get("BENCHCTL_TEST_SOURCE", Path(__file__).parents[2]))
BINARY = Path(os.environ.get("BENCHCTL_TEST_BINARY", SOURCE / "build/bin/benchctl"))
# No test gates on seconds; this only ends what hangs.
LIMIT = 300


@dataclass
class Done:
    code: int
    out: str
    err: str

    def rows(self) -> list[dict[str, str]]:
        """Of a run that must be good: its rows by column."""
        assert self.code == 0, self.err
        header, *lines = self.out.removesuffix("\n").split("\n")
        assert self.out.endswith("\n")
        assert header == "case,metric,unit,value,better,check"
        rows = [dict(zip(header.split(","), line.split(","), strict=True)) for line in lines]
        for row in rows:
            assert float(row["value"]) >= 0, row
            assert row["better"] in ("lower", "higher", "none"), row
        return rows

    def values(self) -> dict[tuple[str, str], float]:
        return {(row["case"], row["metric"]): float(row["value"]) for row in self.rows()}

    def checks(self) -> dict[str, str]:
        return {row["case"]: row["check"] for row in self.rows()}


@dataclass
class Program:
    path: Path
    scratch: Path

    def __call__(self, *words: str | int, prefix: tuple[str, ...] = (), leaves: bool = False) -> Done:
        """Runs in a fresh folder, where a good run must leave nothing unless `leaves`."""
        folder = self.scratch / str(len(list(self.scratch.iterdir())))
        folder.mkdir()
        argv = [*prefix, str(self.path), *map(str, words)]
        ended = subprocess.run(
            argv,
            cwd=folder,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C"},
            capture_output=True,
            text=True,
            timeout=LIMIT,
        )
        if ended.returncode == 0 and not leaves:
            assert not list(folder.iterdir()), "left files behind"
        return Done(ended.returncode, ended.stdout, ended.stderr)


def workloads(root: Path, *words: str, limit: float = 900) -> Done:
    """`benchctl workloads` on the workloads of that root."""
    environment = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "BENCHCTL_ROOT": str(root)}
    # One cache for all tests that build workloads: SQLite is compiled once.
    environment["BENCHCTL_CACHE"] = os.environ.get("BENCHCTL_CACHE", str(SOURCE / "build/tests-cache"))
    command = [str(BINARY), "workloads", *words]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=limit)
    return Done(ended.returncode, ended.stdout, ended.stderr)


def build(workload: str, root: Path, scratch: Path) -> Program:
    built = workloads(root, "build", workload, "--json")
    assert built.code == 0, built.err
    (bundle,) = json.loads(built.out)
    return Program(Path(bundle["folder"], "bin", workload), scratch)


@pytest.fixture(scope="module")
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Program:
    """The program that the module names in WORKLOAD."""
    return build(request.module.WORKLOAD, SOURCE, tmp_path_factory.mktemp("runs"))


# File below workloads/ -> what stands there once, and what shall instead.
Edits = dict[str, tuple[str, str]]


def copy_with(edits: Edits, root: Path, *parts: str) -> Path:
    """A root with those workloads, and with mistakes."""
    for part in dict.fromkeys(("toolchains", "request_shape", *parts)):
        shutil.copytree(SOURCE / "workloads" / part, root / "workloads" / part)
    shutil.copy(SOURCE / "workloads/CONTRACT.md", root / "workloads")  # by which benchctl knows the folder
    for name, (old, new) in edits.items():
        path = root / "workloads" / name
        text = path.read_text()
        assert text.count(old) == 1, f"{name} has {text.count(old)} times: {old}"
        path.write_text(text.replace(old, new))
    return root


@pytest.fixture(scope="module")
def mutant(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Callable[[Edits], Program]:
    """Builds the same program with mistakes."""
    workload = request.module.WORKLOAD

    def make(edits: Edits) -> Program:
        root = copy_with(edits, tmp_path_factory.mktemp("mutant"), workload)
        return build(workload, root, tmp_path_factory.mktemp("runs"))

    return make

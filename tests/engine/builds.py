"""Builds of variants for the tests, kept until a source or a tool changes."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).parents[2]
ENGINE = SOURCE / "workloads/engine"
TOOLCHAINS = SOURCE / "workloads/toolchains"
FOLDER = Path(os.environ.get("BENCHCTL_TEST_BUILD", SOURCE / "build")) / "engine-tests"
ISA = "x86-64-v2"
BENCHMARKS = ("speedtest1", "kvtest", "tatp", "ssb")


@dataclass
class Ran:
    code: int
    out: str
    err: str

    def rows(self) -> dict[tuple[str, str], tuple[int, str]]:
        """(case, metric) to value and check."""
        lines = self.out.splitlines()
        assert lines[0] == "case,metric,unit,value,better,check"
        cells = [line.split(",") for line in lines[1:]]
        assert all(len(row) == 6 and row[4] == "lower" for row in cells)
        return {(row[0], row[1]): (int(row[3]), row[5]) for row in cells}


def run(argv: list[str | Path], cwd: Path, env: dict[str, str] | None = None, timeout: float = 900) -> Ran:
    done = subprocess.run(
        [str(word) for word in argv], cwd=cwd, env=env, capture_output=True, text=True, timeout=timeout, check=False
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def must(argv: list[str | Path], cwd: Path, env: dict[str, str] | None = None) -> str:
    ran = run(argv, cwd, env)
    assert ran.code == 0, f"{' '.join(map(str, argv))}: {ran.code}\n{ran.out[-2000:]}{ran.err[-2000:]}"
    return ran.out


def first_line(*argv: str) -> str:
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.splitlines()[0]


def tree() -> Path:
    """SQLite's pinned source tree, as the toolchain makes it."""
    pin = hashlib.sha256((TOOLCHAINS / "sqlite_tree/pin").read_bytes()).hexdigest()[:16]
    out = FOLDER / f"tree-{pin}"
    if not (out / "environment").exists():
        work = FOLDER / "tree-work"
        shutil.rmtree(out, ignore_errors=True)
        for folder in (out, work):
            folder.mkdir(parents=True, exist_ok=True)
        env = {**os.environ, "BENCHCTL_OUT": str(out), "BENCHCTL_WORK": str(work)}
        must(["sh", TOOLCHAINS / "sqlite_tree/build.sh"], FOLDER, env)
    return out


def environment() -> dict[str, str]:
    """What the toolchains would print."""
    lines = (tree() / "environment").read_text().splitlines()
    told = dict(line.split("=", 1) for line in lines)
    tools = {"CC": "gcc", "CC_VERSION": first_line("gcc", "--version"), "STRIP": "strip", "CLANG": "clang"}
    if shutil.which("clang"):
        tools["CLANG_VERSION"] = first_line("clang", "--version")
    return {**os.environ, **told, **tools, "SQLITE_TREE_DIR": str(tree())}


def stamp(env: dict[str, str]) -> str:
    # What the tests or people read, but no build.
    files = sorted(p for p in ENGINE.rglob("*") if p.is_file() and p.suffix not in (".pyc", ".md"))
    told = [env["CC_VERSION"], env["SQLITE_TREE_SOURCE_ID"], env.get("CLANG_VERSION", "")]
    all_of_it = hashlib.sha256("\n".join(told).encode())
    for path in files:
        if path.name != "workload.toml":
            all_of_it.update(f"{path.relative_to(ENGINE)}\0".encode() + path.read_bytes())
    return all_of_it.hexdigest()


def bundle(variant: str) -> Path:
    """The variant's bundle for the lowest instruction set."""
    env = environment()
    out, work = FOLDER / variant / "bundle", FOLDER / variant / "work"
    mark, wanted = FOLDER / variant / "stamp", stamp(env)
    if not (mark.exists() and mark.read_text() == wanted):
        mark.unlink(missing_ok=True)
        shutil.rmtree(out, ignore_errors=True)
        for folder in (out, work):
            folder.mkdir(parents=True, exist_ok=True)
        env = {**env, "BENCHCTL_OUT": str(out), "BENCHCTL_WORK": str(work)}
        must(["python3", "-B", ENGINE / "build.py", variant, ISA], FOLDER, env)
        mark.write_text(wanted)
    return out


def engine(folder: Path, scratch: Path, *words: str) -> Ran:
    scratch.mkdir(parents=True, exist_ok=True)
    return run([folder / "bin/engine", *words], scratch)

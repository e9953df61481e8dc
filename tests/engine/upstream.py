"""SQLite's own test program over a build of SQLite, and what its test files say of it."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import builds
from builds import ENGINE, FOLDER

MAKEFILE = Path(__file__).parent / "upstream.mk"
SHIM = ENGINE / "shim"
# A crash test starts processes of its own: ended with all of them.
SECONDS = 600


def tcl() -> Path | None:
    """The folder of tclConfig.sh, where the distribution puts it."""
    places = [
        *Path("/usr/lib").glob("*/tcl8.6"),
        *Path("/usr/lib").glob("tcl8.6"),
        *Path("/usr/lib").glob("*-linux-gnu"),
    ]
    return next((place for place in places if (place / "tclConfig.sh").exists()), None)


def tree() -> Path:
    """The pinned source tree, configured with Tcl, and SQLite with computed goto in it."""
    made, goto = builds.tree(), ENGINE / "goto/computed_goto.py"
    parts = [MAKEFILE.read_bytes(), goto.read_bytes(), builds.first_line("gcc", "--version").encode()]
    key = hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]
    out = FOLDER / f"upstream-{made.name.removeprefix('tree-')}-{key}"
    if not (out / "ready").exists():
        version = (made / "environment").read_text().split("SQLITE_TREE_VERSION=")[1].split()[0]
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(FOLDER / "tree-work" / f"sqlite3-{version}", out, symlinks=True)
        builds.must(["./configure", f"--with-tcl={tcl()}", "--disable-readline"], out)
        builds.must(["python3", "-B", goto, out / "sqlite3.c", out / "sqlite3-goto.c"], out)
        (out / "ready").touch()
    return out


def fixture(name: str, shim: Path = SHIM, *, birth: bool = False) -> Path:
    """`testfixture`: `plain`, or under another name that of our build with the VFS in `shim`."""
    told = [f"SHIM={shim}", f"SHIM_FLAGS=-DSHIM_WAL_BIRTH={int(birth)}"]
    builds.must(["make", "-j2", "-f", MAKEFILE, f"fixture-{name}", *told], tree())
    return tree() / f"fixture-{name}"


@dataclass
class Outcome:
    tests: int = 0
    failures: list[str] = field(default_factory=list)
    ending: str = ""  # why there is no result


def one(program: Path, script: Path, folder: Path) -> Outcome:
    folder.mkdir(parents=True)
    with (folder / "said").open("wb") as said:
        process = subprocess.Popen([program, script], cwd=folder, stdout=said, stderr=said, start_new_session=True)
        try:
            code = process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.wait()
            return Outcome(ending=f"nothing after {SECONDS} s")
    text = (folder / "said").read_text(errors="replace")
    count = re.search(r"^(\d+) errors out of (\d+) tests", text, re.MULTILINE)
    if not count:
        return Outcome(ending=f"ended with {code}: {text[-300:]}")
    failed = re.search(r"^!Failures on these tests:(.*)$", text, re.MULTILINE)
    return Outcome(int(count[2]), sorted(set(failed[1].split())) if failed else [])


def run(program: Path, scripts: list[Path], folder: Path) -> dict[str, Outcome]:
    with ThreadPoolExecutor(2) as pool:
        outcomes = pool.map(lambda script: one(program, script, folder / script.stem), scripts)
        return {script.stem: outcome for script, outcome in zip(scripts, outcomes, strict=True)}

"""tatp and ssb give the same answers on another architecture, under an emulator."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import builds
import pytest
from builds import ENGINE

CC = "aarch64-linux-gnu-gcc"
QEMU = "qemu-aarch64-static"


def sqlite_object(folder: Path) -> Path:
    """SQLite as the baseline has it, kept until its source or the compiler changes."""
    source = builds.tree() / "sqlite3.c"
    key = hashlib.sha256(source.read_bytes() + builds.first_line(CC, "--version").encode()).hexdigest()[:16]
    target = folder / f"sqlite3-{key}.o"
    if not target.exists():
        fresh = target.with_suffix(".new")
        builds.must([CC, "-O2", "-DSQLITE_OMIT_LOAD_EXTENSION", "-c", source, "-o", fresh], folder)
        fresh.rename(target)
    return target


@pytest.mark.skipif(not shutil.which(CC) or not shutil.which(QEMU), reason="no cross compiler or emulator for aarch64")
def test_aarch64(tmp_path: Path) -> None:
    folder = builds.FOLDER / "aarch64"
    folder.mkdir(parents=True, exist_ok=True)
    sqlite = sqlite_object(folder)
    for name in ("tatp", "ssb"):
        sources = [*sorted((ENGINE / name).glob("*.c")), ENGINE / "common/database.c"]
        includes = [f"-I{builds.tree()}", f"-I{ENGINE}/common"]
        argv = [CC, "-std=c11", "-O2", "-static", *includes, *sources, sqlite, "-lm", "-o", tmp_path / name]
        builds.must(argv, tmp_path)
    program = [QEMU, tmp_path / "tatp"]
    builds.must([*program, "populate", "tatp.db", "1000", "1"], tmp_path)
    done = builds.must([*program, "run", "tatp.db", "1000", "1000", "1"], tmp_path)
    left = builds.must([*program, "state", "tatp.db"], tmp_path)
    assert done + left == (ENGINE / "golden/tatp-quick-1.txt").read_text()
    program = [QEMU, tmp_path / "ssb"]
    builds.must([*program, "populate", "ssb.db", "5", "1"], tmp_path)
    assert builds.must([*program, "run", "ssb.db", "1"], tmp_path) == (ENGINE / "golden/ssb-quick-1.txt").read_text()

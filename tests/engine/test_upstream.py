"""SQLite's own tests of its queries, its log, its files and its crashes: they must say of our build (the VFS that gathers log
writes as the default, computed goto) what they say of a plain one."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import upstream
from upstream import SHIM, Outcome

pytestmark = pytest.mark.skipif(
    not upstream.tcl(),
    reason="Tcl's development files are missing: apt-get install tcl-dev, as setup/install --slow does",
)

FAMILIES = ("select*", "wal*", "e_wal*", "*vfs*", "crash*", "savepoint*", "mmap*")
# As SQLite's own quick selection leaves out: a failure injected at every allocation and every call takes an hour.
LEFT_OUT = ("ioerr", "malloc", "fault", "slow", "thread", "big", "_err")


def scripts(*families: str) -> list[Path]:
    folder = upstream.tree() / "test"
    found = {path for family in families for path in folder.glob(f"{family}.test")}
    return sorted(path for path in found if not any(word in path.stem for word in LEFT_OUT))


def differences(plain: dict[str, Outcome], ours: dict[str, Outcome]) -> list[str]:
    return [f"{name}: plain {plain[name]}, ours {ours[name]}" for name in plain if plain[name] != ours[name]]


def test_our_build_passes_what_the_plain_one_passes(tmp_path: Path) -> None:
    plain = upstream.run(upstream.fixture("plain"), scripts(*FAMILIES), tmp_path / "plain")
    ours = upstream.run(upstream.fixture("ours"), scripts(*FAMILIES), tmp_path / "ours")
    for name, found in (("plain", plain), ("ours", ours)):
        tests, failures = sum(one.tests for one in found.values()), sum(len(one.failures) for one in found.values())
        print(f"{name}: {len(found)} files, {tests} tests, {failures} failures")
    assert differences(plain, ours) == []
    assert not [name for name, found in plain.items() if found.ending]


def test_a_vfs_that_keeps_its_writes_to_itself_is_caught(tmp_path: Path) -> None:
    broken = tmp_path / "shim"
    shutil.copytree(SHIM, broken)
    for name, text, instead in (
        (
            "shim.c",
            "return wal ? wal_buffer_flush(&wal->buffer, wal->real) : SQLITE_OK;",
            "return wal ? SQLITE_OK : SQLITE_OK;",
        ),
        (
            "wal_buffer.c",
            "return commit_complete ? write_out(buffer, file) : SQLITE_OK;",
            "return SQLITE_OK + 0 * commit_complete;",
        ),
    ):
        code = (broken / name).read_text()
        assert code.count(text) == 1, name
        (broken / name).write_text(code.replace(text, instead))
    chosen = scripts("wal", "wal2", "walmode", "e_walckpt")
    plain = upstream.run(upstream.fixture("plain"), chosen, tmp_path / "plain")
    found = upstream.run(upstream.fixture("broken", broken), chosen, tmp_path / "broken")
    assert differences(plain, found) != []

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
# savepoint6 and walcrash3 take minutes each. walcrash2 kills a process in mid-transaction and wants its 16 uncommitted pages in the log's file, 1,023 times.
LEFT_OUT = ("ioerr", "malloc", "fault", "slow", "thread", "big", "_err", "savepoint6", "walcrash2", "walcrash3")

# These ask the file system in mid-transaction how large the log has grown; what is not committed yet waits in the buffer. That the
# transaction's outcome is right is what the tests after each of them say.
IN_MEMORY = {
    "wal": {"wal-4.4.4", "wal-4.5.4", "wal-11.4", "wal-11.10"},
    "walbak": {"walbak-2.5", "walbak-2.9"},
    "walro": {"walro-1.4.4.1"},
}
# Its seeds are random, and with them how many tests it makes.
RANDOM = ("crash",)


def scripts(*families: str) -> list[Path]:
    folder = upstream.tree() / "test"
    found = {path for family in families for path in folder.glob(f"{family}.test")}
    return sorted(path for path in found if not any(word in path.stem for word in LEFT_OUT))


def differences(plain: dict[str, Outcome], ours: dict[str, Outcome]) -> list[str]:
    found = []
    for name, theirs in plain.items():
        mine = ours[name]
        same_count = name in RANDOM or theirs.tests == mine.tests
        expected = set(theirs.failures) | IN_MEMORY.get(name, set())
        if not same_count or set(mine.failures) != expected or theirs.ending != mine.ending:
            found.append(f"{name}: plain {theirs}, ours {mine}")
    return found


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

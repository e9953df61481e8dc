"""bulk_load: every setting loads the same rows, the clock includes the last checkpoint, and the counts are true."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import SOURCE, Done, Edits, Program

WORKLOAD = "bulk_load"
DECLARED = tomllib.loads((SOURCE / "workloads/bulk_load/workload.toml").read_text())
ARMS = {name: arm["argv"][1:] for name, arm in DECLARED["arm"].items()}
SMALL = ["--items", 6000, "--batch", 100, "--probe-ms", 0]


def load(program: Program, arm: str, *more: str | int, mode: str = "load") -> Done:
    return program(*ARMS[arm], "--mode", mode, *SMALL, *more)


def counts(program: Program, arm: str, *more: str | int) -> dict[str, float]:
    done = load(program, arm, "--measure", "counts", *more)
    again = load(program, arm, "--measure", "counts", *more)
    assert done.out == again.out
    return {metric: value for (_, metric), value in done.values().items()}


def test_arms_agree_in_every_mode(program: Program) -> None:
    assert len(ARMS) == 11
    checks = set()
    for arm in ARMS:
        for mode in DECLARED["mode"]:
            done = load(program, arm, "--curve-step", 2500, mode=mode)
            checks.add(done.checks()["load"])
            found = set(done.values())
            metrics = ("time", "cpu", "insert_time", "close_time", "checkpoint_time", "checkpoints", "wal_peak")
            assert {("load", metric) for metric in metrics} <= found
            assert {case for case, _ in found if case.startswith("curve")} == {f"curve/{n}" for n in (2500, 5000, 6000)}
            assert (("reader", "p99") in found) == (mode == "load_with_reader")
            assert (("read/in_wal", "time") in found) == (mode == "load_then_read")
    assert len(checks) == 1
    assert load(program, "unset", "--synchronous", "full").checks()["load"] in checks


def test_the_clock_includes_the_last_checkpoint(program: Program) -> None:
    values = load(program, "at_end").values()
    close = values["load", "close_time"]
    assert values["load", "checkpoints"] == 1
    assert 0 < values["load", "checkpoint_time"] <= close + 0.01
    # They are parts of one sum, on one clock; what lies between them are two readings of it.
    assert values["load", "time"] == pytest.approx(values["load", "insert_time"] + close, rel=0.05)
    curve = values["curve/6000", "time"] * 6000 / 1e3
    assert curve == pytest.approx(values["load", "insert_time"], rel=0.05)


def test_a_close_outside_of_the_clock_shows(mutant: Callable[[Edits], Program]) -> None:
    late = ("  start_work(&load->work);\n  start_work(&load->close);", "  start_work(&load->close);")
    early = ("  stop_work(&load->close);\n  stop_work(&load->work);", "  stop_work(&load->close);")
    source = (SOURCE / "workloads/bulk_load/load.c").read_text()
    broken = mutant({"bulk_load/load.c": (source, source.replace(*late).replace(*early))})
    values = load(broken, "at_end").values()
    assert values["load", "time"] == values["load", "insert_time"]
    assert values["load", "checkpoint_time"] > 0


def test_a_setting_that_sqlite_would_not_take_is_caught(mutant: Callable[[Edits], Program]) -> None:
    """Behind the check of the argument: SQLite takes 0 for what it cannot read, and is asked what it took."""
    broken = mutant({"bulk_load/main.c": (".max = 2147483647", ".max = 99999999999")})
    done = broken("--mode", "load", *SMALL, "--autocheckpoint", 2147483648)
    assert done.code == 1
    assert "PRAGMA wal_autocheckpoint=2147483648: wrong values" in done.err


def test_the_pragma_is_issued_only_where_it_is_asked_for(program: Program) -> None:
    for arm in ARMS:
        lines = load(program, arm, "--log", "sql").err.splitlines()
        pragmas = [line for line in lines if "autocheckpoint" in line]
        expected = ARMS[arm][1] if "--autocheckpoint" in ARMS[arm] else None
        assert pragmas == ([] if expected is None else [f"PRAGMA wal_autocheckpoint={expected}"])
        assert [line for line in lines if line.startswith("COMMIT")] == ["COMMIT"] * 60


def test_counts_do_not_change_and_say_what_a_setting_does(program: Program) -> None:
    of = {arm: counts(program, arm) for arm in ("unset", "ac_1000", "ac_5000", "at_end", "truncate_1")}
    assert of["unset"] == of["ac_1000"]
    assert of["unset"]["checkpoints"] > of["ac_5000"]["checkpoints"] >= of["at_end"]["checkpoints"] == 1
    assert of["truncate_1"]["checkpoints"] == 60
    assert of["at_end"]["wal_peak"] > 2 * of["unset"]["wal_peak"]
    assert of["truncate_1"]["wal_peak"] < of["unset"]["wal_peak"]
    assert of["at_end"]["pwrite"] < of["unset"]["pwrite"] < of["truncate_1"]["pwrite"]
    # The WAL before and the database after; nothing else syncs with NORMAL, everything with FULL.
    assert of["at_end"]["fsync"] == 2
    assert counts(program, "at_end", "--synchronous", "full")["fsync"] > 60


def test_a_held_snapshot_lets_the_wal_grow(program: Program) -> None:
    alone = load(program, "unset").values()["load", "wal_peak"]
    with_reader = load(program, "unset", "--hold-ms", 600000, mode="load_with_reader").values()
    assert with_reader["load", "wal_peak"] > 2 * alone
    assert with_reader["reader", "reads"] >= 0


def test_the_disk_is_probed(program: Program) -> None:
    values = program("--mode", "load", "--items", 100, "--probe-ms", 1).values()
    assert all(values["disk", metric] > 0 for metric in ("iops", "sync_p50", "sequential"))
    assert ("disk", "iops") not in load(program, "unset").values()


MISTAKES: dict[str, tuple[Edits, str]] = {
    "a lost row": (
        {
            "bulk_load/load.c": (
                "      insert_comment(insert, &comment);",
                "      if (row != 77) insert_comment(insert, &comment);",
            )
        },
        "rows loaded: wrong values",
    ),
    "a wrong value": (
        {
            "bulk_load/comments.c": (
                "sqlite3_bind_int64(insert, 4, comment->created);",
                "sqlite3_bind_int64(insert, 4, comment->created + (comment->created % 500 == 0));",
            )
        },
        "load: wrong values",
    ),
    "an index without some rows": (
        {
            "bulk_load/comments.c": (
                "CREATE INDEX comment_created ON comment(created)",
                "CREATE INDEX comment_created ON comment(created) WHERE created < 1650000000",
            )
        },
        "no query solution",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_each_gate_catches_a_mistake(mutant: Callable[[Edits], Program], name: str) -> None:
    edits, reason = MISTAKES[name]
    broken = mutant(edits)
    done = broken("--mode", "load", "--items", 6000, "--probe-ms", 0)
    assert done.code == 1
    assert reason in done.err


def test_a_reader_that_reads_the_wrong_row_is_caught(mutant: Callable[[Edits], Program]) -> None:
    wrong = (
        "sqlite3_bind_text(select, 1, comment.id,",
        "comment = comment_of(row > 1 ? row - 1 : 2);\n  sqlite3_bind_text(select, 1, comment.id,",
    )
    right = (
        "  if (sqlite3_column_int64(select, 0) != comment.creator",
        "  comment = comment_of(row);\n  if (sqlite3_column_int64(select, 0) != comment.creator",
    )
    source = (SOURCE / "workloads/bulk_load/connections.c").read_text()
    changed = source.replace(*wrong).replace(*right)
    broken = mutant({"bulk_load/connections.c": (source, changed)})
    done = broken("--mode", "load_then_read", "--items", 1000, "--probe-ms", 0)
    assert done.code == 1
    assert "was read with wrong values" in done.err
    done = broken("--mode", "load_with_reader", "--items", 40000, "--hold-ms", 5, "--probe-ms", 0)
    assert done.code == 1
    assert "was read with wrong values" in done.err
    assert "the reader has failed" in done.err


def children(process: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def runs(process: int) -> bool:
    """A zombie that nobody fetches, as in a container whose first process does not, runs no longer."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_killed_load_leaves_no_reader(program: Program, tmp_path: Path) -> None:
    words = ["--mode", "load_with_reader", "--items", "100000000", "--probe-ms", "0"]
    running = subprocess.Popen([program.path, *words], cwd=tmp_path, stdout=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 60
        while not (readers := children(running.pid)) and time.monotonic() < until:
            time.sleep(0.01)
        assert len(readers) == 1
    finally:
        running.send_signal(signal.SIGKILL)
        running.wait()
    until = time.monotonic() + 60
    while runs(readers[0]) and time.monotonic() < until:
        time.sleep(0.01)
    assert not runs(readers[0])


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ([], "--mode is missing"),
        (["--mode", "loads"], "--mode: 'loads' is none of load, load_with_reader, load_then_read"),
        *(
            (
                ["--mode", "load", "--autocheckpoint", value],
                f"--autocheckpoint: '{value}' is not a whole number from 0 to 2147483647",
            )
            for value in ("2147483648", "-1", "many", "1e3", "0x10", "10 ", "1.5", "99999999999999999999")
        ),
        (["--mode", "load", "--autocheckpoint", ""], "--autocheckpoint needs a value"),
        (["--mode", "load", "--batch", "0"], "--batch: '0' is not a whole number from 1 to"),
        (["--mode", "load", "--truncate-every", "0"], "--truncate-every: '0' is not"),
        (["--mode", "load", "--hold-ms", "5"], "--hold-ms is for --mode load_with_reader"),
        (["--mode", "load", "--reads", "5"], "--reads is for --mode load_then_read"),
        (["--mode", "load", "--synchronous", "off"], "--synchronous: 'off' is none of normal, full"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_two(program: Program, given: list[str], reason: str) -> None:
    done = program(*given)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("bulk_load: ")
    assert done.err.count("\n") == 1
    assert reason in done.err


def test_a_full_disk_is_said(program: Program) -> None:
    inside = 'mount -t tmpfs -o size=2m tmpfs . && cd "$PWD" && exec "$0" "$@"'
    namespace = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", inside)
    done = program("--mode", "load", "--items", 100000, "--probe-ms", 0, prefix=namespace)
    if "unshare" in done.err:
        pytest.skip(f"no user namespaces here: {done.err}")
    assert done.code == 1
    assert re.search("database or disk is full|disk I/O error", done.err), done.err


def test_info(program: Program) -> None:
    info = json.loads(program("--autocheckpoint", 0, "--info").out)
    assert info["runner"] == "bulk_load"
    assert "DEFAULT_WAL_AUTOCHECKPOINT=1000" in info["compile_options"]

"""json_encode: both loops give the same bytes, the bytes are right, and the counted instructions say which loop is shorter."""

from __future__ import annotations

import base64
import json
import math
import re
import shutil
from collections.abc import Callable

import pytest
from conftest import Done, Edits, Program

WORKLOAD = "json_encode"
ARMS = ("column", "value")
LANES = ["int_6", "int_64", "real_integral", "real_fractional", "wide", "text_short", "text_long", "blob", "one_row"]
SMALL = ["--items", 200, "--repeats", 3]


def run(program: Program, arm: str, *more: str | int) -> Done:
    return program("--arm", arm, *SMALL, *more)


def test_arms_agree_in_every_lane(program: Program) -> None:
    checks = []
    for mutex in ("nomutex", "fullmutex"):
        for arm in ARMS:
            done = run(program, arm, "--mutex", mutex)
            checks.append(done.checks())
            assert list(checks[-1]) == [f"encode/{lane}" for lane in [*LANES, "edges"]]
            rows = [(row["case"], row["metric"]) for row in done.rows()]
            for lane in LANES:
                assert [rows.count((f"encode/{lane}", metric)) for metric in ("time", "cpu", "size")] == [3, 3, 1]
            assert rows.count(("encode/edges", "time")) == 0
    assert all(found == checks[0] for found in checks)
    assert len(set(checks[0].values())) == len(LANES) + 1


def test_the_json_is_what_was_stored(program: Program) -> None:
    texts = {program("--arm", arm, "--trace").out for arm in ARMS}
    assert len(texts) == 1
    rows = [row[0] for row in json.loads(texts.pop())]
    whole = [-(2**63), 2**63 - 1, 0, -1, None]
    assert rows[:5] == whole
    assert all(isinstance(number, int) for number in rows[:4])
    reals = [math.inf, -math.inf, -0.0, 0.0, 1e15, 999999999999999.0, -1e15, 0.1, 1.7976931348623157e308, 5e-324, -2.5]
    assert [repr(float(number)) for number in rows[5:16]] == [repr(number) for number in reals]
    strings = ["", "a\0b", "\0", '"quoted" \\ ', "\x01\t\n\r\x1f\x7f", "\u00e4\u20ac\U0001f600"]
    assert rows[16:22] == strings
    blobs = [b"", b"\0", b"\0\1", b"\0\1\2", b"\xff\xfe\xfd\xfc"]
    assert [base64.b64decode(text, validate=True) for text in rows[22:27]] == blobs
    assert rows[27:] == ["1e999"]


def test_a_loop_that_loses_a_byte_is_caught(mutant: Callable[[Edits], Program]) -> None:
    broken = mutant(
        {
            "json_encode/loops.c": (
                "put_text(json, text, (size_t)sqlite3_value_bytes(value));",
                "put_text(json, text, __builtin_strlen((const char *)text));",
            )
        }
    )
    for arm in ARMS:  # whichever is measured, the other is its witness
        done = run(broken, arm)
        assert done.code == 1
        assert re.search(r"encode/edges: the loops differ at byte \d+ of \d+ and \d+", done.err), done.err
    assert len({broken("--arm", arm, "--trace").out for arm in ARMS}) == 2


def instructions(program: Program, arm: str, lane: str, mutex: str) -> int:
    """Of two encodings, callgrind's count: what 3 repeats take beyond 1."""

    def collected(repeats: int) -> int:
        tool = ("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null")
        done = program("--arm", arm, "--only", lane, "--mutex", mutex, "--items", 60, "--repeats", repeats, prefix=tool)
        assert done.code == 0, done.err
        found = re.search(r"Collected : (\d+)", done.err)
        assert found, done.err
        return int(found[1])

    return collected(3) - collected(1)


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")
@pytest.mark.parametrize(
    ("lane", "mutex"),
    [("int_6", "nomutex"), *((lane, ("fullmutex", "nomutex")[place % 2]) for place, lane in enumerate(LANES))],
)
def test_instructions_say_the_same_in_both_orders(program: Program, lane: str, mutex: str) -> None:
    there = {arm: instructions(program, arm, lane, mutex) for arm in ARMS}
    back = {arm: instructions(program, arm, lane, mutex) for arm in reversed(ARMS)}
    for pair in (there, back):
        assert 0 < pair["value"] < pair["column"]
        if lane == "real_fractional":  # the guard: hardly anything of it is the loop's
            assert pair["value"] > 0.97 * pair["column"]
    for arm in ARMS:  # a count, not a time; printing times of other lengths moves it a little
        assert there[arm] == pytest.approx(back[arm], rel=0.02)


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")
def test_a_loop_that_asks_twice_shows_in_the_instructions(mutant: Callable[[Edits], Program]) -> None:
    twice = (
        "put_integer(json, sqlite3_value_int64(value));",
        "put_integer(json, sqlite3_value_int64(sqlite3_column_value(statement, i)));",
    )
    broken = mutant({"json_encode/loops.c": twice})
    counted = {arm: instructions(broken, arm, "int_6", "nomutex") for arm in ARMS}
    assert counted["value"] > counted["column"]


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ([], "--arm is missing"),
        (["--arm", "values"], "--arm: 'values' is none of column, value"),
        (["--arm", "value", "--mutex", "none"], "--mutex: 'none' is none of nomutex, fullmutex"),
        (["--arm", "value", "--items", "0"], "--items: '0' is not a whole number from 1 to 1000000"),
        (["--arm", "value", "--columns", "101"], "--columns: '101' is not a whole number from 1 to 100"),
        (["--arm", "value", "--repeats", "many"], "--repeats: 'many' is not"),
        (["--arm", "value", "--only", "text"], "--only: 'text' is none of int_6, "),
        (["--trace"], "--arm is missing"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_two(program: Program, given: list[str], reason: str) -> None:
    done = program(*given)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("json_encode: ")
    assert done.err.count("\n") == 1
    assert reason in done.err


def test_info_and_full_disks(program: Program) -> None:
    info = json.loads(program("--arm", "value", "--info").out)
    assert info["sqlite_version"] == "3.51.3"
    assert "ENABLE_CARRAY" not in info["compile_options"]
    done = program("--arm", "value", *SMALL, "--only", "int_6", prefix=("sh", "-c", 'exec "$0" "$@" >/dev/full'))
    assert done.code == 1
    assert "standard output: it could not be written in full" in done.err

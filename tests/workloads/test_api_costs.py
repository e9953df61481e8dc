"""api_costs: arms agree, wrong values end it, and its counts of system calls are true and do not change."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable

import pytest
from conftest import SOURCE, Edits, Program

WORKLOAD = "api_costs"
REGIMES = ("delete_full", "wal_normal", "memory")

DECLARED = tomllib.loads((SOURCE / "workloads/api_costs/workload.toml").read_text())
ARMS = {mode: [a for a, arm in DECLARED["arm"].items() if arm["only_modes"] == [mode]] for mode in DECLARED["mode"]}
# Small enough for a second in all; every size that changes what is done stays in.
SMALL = {
    "batch_insert": ["--items", 60, "--autocommit-items", 20],
    "random_read": ["--items", 300, "--megabytes", 1],
    "in_list": ["--items", 1000, "--rows", 1500],
    "prepare_cost": ["--items", 300],
    "aggregate": ["--items", 1003],
    "reads": ["--items", 200, "--bytes", 100],
    "temp_store": ["--items", 12000],
}
CASES = {
    "batch_insert": {"insert"},
    "random_read": {"cold", "warm"},
    "in_list": {"n_1", "n_10", "n_50", "n_200", "n_1000", "text_50"},
    "prepare_cost": {"point", "fetch_50"},
    "aggregate": {"sum_min_max", "sum"},
    "reads": {"int", "float", "text", "blob"},
    "temp_store": {"order_by", "group_by", "temp_table"},
}
HELD = ("random_read", "in_list", "prepare_cost")


def words(mode: str, arm: str, regime: str, *more: str) -> list[str | int]:
    return ["--mode", mode, "--arm", arm, "--regime", regime, *SMALL[mode], *more]


def test_every_declared_arm_is_known() -> None:
    assert {mode: len(arms) for mode, arms in ARMS.items()} == {
        "batch_insert": 3,
        "random_read": 4,
        "in_list": 5,
        "prepare_cost": 2,
        "aggregate": 3,
        "reads": 3,
        "temp_store": 2,
    }


def test_what_a_setting_risks_stands_beside_its_results() -> None:
    """The limits are in the bundle's manifest, from which each report prints them."""
    said = {arm: " ".join(declared.get("limits", [])) for arm, declared in DECLARED["arm"].items()}
    assert {arm for arm, text in said.items() if "SIGBUS" in text} == {"mmap", "mmap_cache"}
    assert {arm for arm, text in said.items() if "corrupt" in text} == {"autocommit_sync_off"}
    assert "may lose the last commits" in " ".join(DECLARED["mode"]["batch_insert"]["limits"])


@pytest.mark.parametrize("mode", ARMS)
def test_arms_agree_in_every_regime(program: Program, mode: str) -> None:
    checks = []
    for regime in REGIMES:
        for arm in ARMS[mode]:
            for transaction in (["--transaction", "none"], ["--transaction", "held"]) if mode in HELD else ([],):
                done = program(*words(mode, arm, regime, *transaction))
                found = {case.removeprefix(mode + "/"): check for case, check in done.checks().items()}
                found.pop("prepare_alone", None)
                assert set(found) == CASES[mode]
                metrics = {(case.split("/")[1], metric) for case, metric in done.values()}
                assert {(case, metric) for case in CASES[mode] for metric in ("time", "cpu")} <= metrics
                checks.append(found)
    assert all(found == checks[0] for found in checks)


def test_checks_depend_on_the_work(program: Program) -> None:
    """One that does not would be equal in all arms too."""
    small = program("--mode", "aggregate", "--arm", "sql", "--items", 10).checks()
    large = program("--mode", "aggregate", "--arm", "sql", "--items", 11).checks()
    assert all(small[case] != large[case] for case in small)


def test_a_list_longer_than_the_limit_of_variables(program: Program) -> None:
    longest = ["--mode", "in_list", "--rows", 33000, "--largest", 32767, "--items", 1000, "--regime", "memory"]
    done = program(*longest, "--arm", "rebuilt_in")
    assert "in_list/n_32767" not in done.checks()
    assert "in_list/n_32767: not available: SQLite binds at most 32766 variables" in done.err
    assert program(*longest, "--arm", "json_each").checks()["in_list/n_32767"]


def test_a_smaller_batch_bounds_the_rows_of_autocommit(program: Program) -> None:
    batch = ["--mode", "batch_insert", "--regime", "memory", "--items", 7]
    assert program(*batch, "--arm", "autocommit").checks() == program(*batch, "--arm", "one_transaction").checks()


def test_shares_are_printed(program: Program) -> None:
    values = program(*words("aggregate", "fetch_vector", "memory")).values()
    assert 0 < values["aggregate/sum", "reduce_share"] < 100
    values = program(*words("prepare_cost", "prepare_each", "memory")).values()
    assert 0 < values["prepare_cost/fetch_50", "prepare_share"] < 100


MISTAKES: Edits = {
    "api_costs/batch_insert.c": (
        "sqlite3_bind_text(insert, 2, payload, sizeof payload - 1,",
        "sqlite3_bind_text(insert, 2, payload, sizeof payload - 2,",
    ),
    "api_costs/random_read.c": (
        "sqlite3_bind_int64(select, 1, ids[i]);",
        "sqlite3_bind_int64(select, 1, ids[i] % 100 + 1);",
    ),
    "api_costs/id_lists.c": (
        "for (int64_t i = 0; i < list->count; i++) {",
        "for (int64_t i = 1; i < list->count; i++) {",
    ),
    "api_costs/prepare_cost.c": ("LIMIT 50", "LIMIT 49"),
    "api_costs/aggregate.c": (
        "  int64_t count = 0;\n  while (next_row",
        "  int64_t count = 0;\n  next_row(column->fetch);\n  while (next_row",
    ),
    "api_costs/reads.c": (
        "memcpy(reader->buffer, value, (size_t)size);",
        "memcpy(reader->buffer, value, (size_t)size - 1);",
    ),
    "api_costs/temp_store.c": ("SELECT grp, count(*), sum(id), max(k)", "SELECT grp, count(*), sum(id), min(k)"),
}
CAUGHT = {
    "batch_insert": ("autocommit", "batch_insert/insert: wrong values"),
    "random_read": ("mmap", "random_read/cold: wrong values"),
    "in_list": ("json_each_reused", "in_list/n_1: wrong values"),
    "prepare_cost": ("reset_reused", "prepare_cost/fetch_50: wrong values"),
    "aggregate": ("fetch_scalar", "aggregate/sum_min_max: wrong values"),
    "reads": ("reused_buffer", "reads/text: wrong values"),
    "temp_store": ("temp_memory", "temp_store/group_by: wrong values"),
}


def test_each_gate_catches_a_mistake(mutant: Callable[[Edits], Program]) -> None:
    """One mistake in each experiment; they do not meet, since a process runs one experiment."""
    broken = mutant(MISTAKES)
    for mode, (arm, reason) in CAUGHT.items():
        done = broken(*words(mode, arm, "memory"))
        assert done.code == 1, mode
        assert re.search(reason, done.err), done.err


def test_a_lost_row_and_a_wrong_vector_are_caught(mutant: Callable[[Edits], Program]) -> None:
    lost = (
        "for (int64_t i = 0; i < rows; i++) {\n    sqlite3_bind_text",
        "for (int64_t i = 0; i < rows - 1; i++) {\n    sqlite3_bind_text",
    )
    done = mutant({"api_costs/batch_insert.c": lost})(*words("batch_insert", "one_transaction", "memory"))
    assert done.code == 1
    assert "rows inserted: wrong values" in done.err

    done = mutant({"api_costs/reduce.c": ("more = four > maxs", "more = four < maxs")})(
        "--mode", "aggregate", "--arm", "sql"
    )
    assert done.code == 1
    assert "the vector reduction differs from the scalar one at length 4" in done.err
    assert done.out == ""


def counts(program: Program, mode: str, arm: str, regime: str, *more: str | int) -> dict[str, dict[str, float]]:
    done = program("--mode", mode, "--arm", arm, "--regime", regime, "--measure", "counts", *more)
    again = program("--mode", mode, "--arm", arm, "--regime", regime, "--measure", "counts", *more)
    assert done.out == again.out
    found: dict[str, dict[str, float]] = {}
    for (case, metric), value in done.values().items():
        found.setdefault(case.split("/")[1], {})[metric] = value
    assert all(set(of) == {"fsync", "fdatasync", "pread", "pwrite", "unlink", "fcntl"} for of in found.values())
    return found


def test_syncs_of_a_commit(program: Program) -> None:
    """With a rollback journal and FULL: the journal twice, its folder, the database. In WAL with NORMAL: none."""
    rows = ["--items", 30, "--autocommit-items", 30]
    each = counts(program, "batch_insert", "autocommit", "delete_full", *rows)["insert"]
    assert each["fsync"] == 4 * 30
    assert each["unlink"] == 30
    assert each["fdatasync"] == 0
    one = counts(program, "batch_insert", "one_transaction", "delete_full", *rows)["insert"]
    assert one["fsync"] == 4
    assert one["unlink"] == 1
    assert counts(program, "batch_insert", "autocommit_sync_off", "delete_full", *rows)["insert"]["fsync"] == 0
    assert counts(program, "batch_insert", "autocommit", "wal_normal", *rows)["insert"]["fsync"] == 0
    assert sum(counts(program, "batch_insert", "autocommit", "memory", *rows)["insert"].values()) == 0


def test_locks_and_reads_that_arms_save(program: Program) -> None:
    size = ["--items", 1000, "--rows", 1500]
    alone = counts(program, "in_list", "loop", "delete_full", *size, "--transaction", "none")
    held = counts(program, "in_list", "loop", "delete_full", *size, "--transaction", "held")
    listed = counts(program, "in_list", "json_each_reused", "delete_full", *size, "--transaction", "none")
    assert alone["n_1000"]["fcntl"] > 1000 * 3
    assert listed["n_1000"]["fcntl"] < 60
    assert held["n_1000"]["fcntl"] < 20
    reads = {
        arm: counts(program, "random_read", arm, "delete_full", "--items", 2000, "--transaction", "held")
        for arm in ("defaults", "mmap", "cache")
    }
    assert reads["mmap"]["cold"]["pread"] < 10
    assert reads["cache"]["warm"]["pread"] < 10
    assert reads["defaults"]["warm"]["pread"] > 1000
    temporary = {arm: counts(program, "temp_store", arm, "delete_full", "--items", 30000) for arm in ARMS["temp_store"]}
    assert temporary["temp_file"]["order_by"]["pwrite"] > 100
    assert temporary["temp_memory"]["order_by"]["pwrite"] == 0


def test_counts_are_those_of_strace(program: Program) -> None:
    """What is outside of the measured part is the same for both sizes."""

    def both(rows: int) -> tuple[dict[str, float], dict[str, int]]:
        traced = ("strace", "-f", "-c", "-U", "name,calls", "-e", "trace=fsync,pwrite64,unlink")
        more = ["--items", rows, "--autocommit-items", rows]
        done = program("--mode", "batch_insert", "--arm", "autocommit", "--measure", "counts", *more, prefix=traced)
        seen = {m[1]: int(m[2]) for m in re.finditer(r"^(\w+) +(\d+)$", done.err, re.MULTILINE)}
        return {metric: value for (_, metric), value in done.values().items()}, seen

    own20, seen20 = both(20)
    own50, seen50 = both(50)
    for metric, call in (("fsync", "fsync"), ("pwrite", "pwrite64"), ("unlink", "unlink")):
        assert own50[metric] - own20[metric] == seen50[call] - seen20[call] > 0, metric


def test_info(program: Program) -> None:
    for before in ([], ["--arm", "loop"]):
        info = json.loads(program(*before, "--info").out)
        assert info["runner"] == "api_costs"
        assert info["sqlite_version"] == "3.51.3"
        assert info["carray"] is True
        assert info["json_each"] is True
        assert "-DSQLITE_ENABLE_CARRAY" in info["sqlite_flags"]
        assert "ENABLE_CARRAY" in info["compile_options"]


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ([], "--mode is missing"),
        (["--mode", "aggregate"], "--arm is missing"),
        (["--mode", "sums", "--arm", "sql"], "--mode: 'sums' is none of batch_insert, "),
        (["--mode", "in_list", "--arm", "sql"], "--arm sql is not of --mode in_list"),
        (["--mode", "aggregate", "--arm", "sql", "--items", "0"], "--items: '0' is not a whole number from 1 to"),
        (["--mode", "aggregate", "--arm", "sql", "--items", "-5"], "--items: '-5' is not a whole number"),
        (["--mode", "aggregate", "--arm", "sql", "--items", "1e3"], "--items: '1e3' is not a whole number"),
        (["--mode", "aggregate", "--arm", "sql", "--items"], "--items needs a value"),
        (["--mode", "aggregate", "--arm", "sql", "--rows", "5000"], "--rows is not for --mode aggregate"),
        (["--mode", "aggregate", "--mode", "aggregate"], "--mode is given twice"),
        (
            ["--mode", "in_list", "--arm", "loop", "--largest", "2000", "--rows", "1000"],
            "--largest 2000 is above --rows 1000",
        ),
        (["--regime", "wal"], "--regime: 'wal' is none of delete_full, wal_normal, memory"),
        (["--bogus"], "unknown argument '--bogus'"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_two(program: Program, given: list[str], reason: str) -> None:
    done = program(*given)
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith("api_costs: ")
    assert done.err.count("\n") == 1
    assert reason in done.err


def test_output_that_does_not_arrive_is_a_failure(program: Program) -> None:
    shell = ("sh", "-c", 'exec "$0" "$@" >/dev/full')
    done = program(*words("aggregate", "sql", "memory"), prefix=shell)
    assert done.code == 1
    assert "standard output: it could not be written in full" in done.err

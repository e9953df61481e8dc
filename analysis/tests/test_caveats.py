"""What is not in a table, and what to know of what is."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from store_maker import StoreMaker, concurrent_samples

Small = Callable[..., StoreMaker]
Report = Callable[..., dict[str, Any]]
WHY = "toolchain gleam: the compiler is missing: get it from its makers"


def page(store: Path, kind: str = "md") -> str:
    return (store.parent / "reports" / f"m-1.{kind}").read_text()


def only_suite(maker: StoreMaker) -> str:
    return str(maker.db.execute("SELECT suite FROM point").fetchone()[0])


def test_an_arm_that_is_not_built_is_named_everywhere(small: Small, report: Report) -> None:
    maker = small()
    suite = only_suite(maker)
    maker.leave_out(1, suite, "gleam_sqlite", WHY)
    store = maker.close()
    terminal = report(store, width=160)["terminal"]
    said = f"gleam_sqlite: not built: {WHY}"
    assert said in terminal
    beside = f"Not in this table: gleam_sqlite, not built: {WHY}."
    assert beside in page(store)
    assert beside in (store.parent / "summary.md").read_text()
    assert said in (store.parent / "summary.md").read_text()
    html = page(store, "html")
    results = html[html.index('id="results-1"') :]
    assert results.index("Not in this table: gleam_sqlite") < results.index("</figure>"), "beside its table"


def test_where_nothing_is_missing_nothing_is_said(small: Small, report: Report) -> None:
    store = small().close()
    assert "not built" not in report(store)["terminal"]
    assert "Not in this table" not in page(store)


def test_another_build_is_said_and_is_not_called_missing(small: Small, report: Report) -> None:
    maker = small()
    why = "runs from bun_baseline, since w/bun: it needs avx2, which the CPU lacks"
    maker.leave_out(1, only_suite(maker), "rust_rusqlite", why, "another build")
    store = maker.close()
    assert f"rust_rusqlite: {why}" in report(store, width=160)["terminal"]
    assert "Not in this table" not in page(store)
    assert "runs from bun_baseline" in page(store)


def test_paths_of_this_computer_are_not_published(small: Small, report: Report) -> None:
    maker = small()
    maker.leave_out(1, only_suite(maker), "zig_sqlite", "the whole log is /home/alice/.cache/benchctl/logs/zig.log")
    store = maker.close()
    answer = report(store, redact=True, width=160)
    assert "alice" not in answer["terminal"] + page(store) + (store.parent / "summary.md").read_text()
    assert "zig_sqlite: not built" in answer["terminal"]


def test_limits_stand_with_the_runners_that_ran(small: Small, report: Report) -> None:
    maker = small()
    maker.db.execute("DELETE FROM bundle")
    maker.bundle(
        modes={"sequential": {"limits": ["One at a time."]}, "concurrent": {"limits": ["One writer."]}},
        arms={"rust_rusqlite": {"limits": ["It panics politely."]}, "bun_sqlite": {"limits": ["It freezes."]}},
    )
    store = maker.close()
    report(store)
    text = page(store)
    assert "what to know when reading" in text
    assert "| every runner | One at a time. |" in text
    assert "| rust_rusqlite | It panics politely. |" in text
    assert "It freezes" not in text, "of an arm that did not run"
    assert "One writer" not in text, "of another mode"


def two_ways(path: Path) -> Path:
    """read at 1 and 4 workers; write and single_writer, which the workload wants side by side."""
    maker = StoreMaker(path, rounds=7)
    maker.bundle(modes={"concurrent": {"limits": [], "side_by_side": ["write", "single_writer"]}})
    machine = maker.machine("m-1")
    rng = random.Random(3)
    for kind in ("write", "single_writer"):
        for workers in (1, 4):
            label = f"workers={workers},workload={kind}"
            point = maker.point("concurrent", label, {"workers": workers, "workload": kind}, "concurrent")
            for round_ in range(8):
                for position, arm in enumerate(("c_sqlite", "rust_rusqlite")):
                    some = concurrent_samples(rng, 1.0, workers, noise=1e-6)["app_request/write"]
                    maker.trial(
                        machine, point, arm, round_, {f"app_request/{kind}": {**some, "errors": 2.0 if kind == "write" else 0.0}}, position=position,
                    )  # fmt: skip
    return maker.close()


def test_scaling_is_relative_to_the_runners_own_single_worker(tmp_path: Path, report: Report) -> None:
    store = two_ways(tmp_path / "store.db")
    report(store)
    header = next(line for line in page(store).splitlines() if "To 1 worker" in line)
    column = [cell.strip() for cell in header.split("|")].index("To 1 worker")
    assert column > 0
    lines = [line.split("|") for line in page(store).splitlines() if line.startswith("| workers=4 | c_sqlite")]
    assert lines[0][column].strip() == "1.18x", "4 ** 0.12"
    assert "To 1 worker" in page(store)


def test_two_ways_to_write_stand_side_by_side(tmp_path: Path, report: Report) -> None:
    store = two_ways(tmp_path / "store.db")
    report(store)
    text = page(store)
    table = text.split("concurrent: write beside single_writer")[1]
    rows = [line for line in table.splitlines() if line.startswith("|")]
    assert "write: median" in rows[0]
    assert "single_writer: median" in rows[0]
    first = [cell.strip() for cell in rows[2].split("|")]
    assert first[1:3] == ["workers=1", "c_sqlite"]
    assert first[6] == "14", "errors of the seven scored rounds"
    assert first[10] == "0"
    assert len(rows) == 2 + 4


def test_compile_options_that_differ_are_listed(small: Small, report: Report) -> None:
    maker = small()
    suite = only_suite(maker)
    maker.db.execute("DELETE FROM trace")
    maker.trace(suite, "c_sqlite")
    maker.trace(suite, "rust_rusqlite", compile_options=["THREADSAFE=1", "ENABLE_FTS5"])
    store = maker.close()
    report(store)
    text = page(store)
    assert "SQLite compile options that differ" in text
    rows = re.findall(r"^\| (ENABLE_FTS5|OMIT_LOAD_EXTENSION|THREADSAFE=1) \| (\S+) \|$", text, re.MULTILINE)
    assert rows == [("ENABLE_FTS5", "rust_rusqlite"), ("OMIT_LOAD_EXTENSION", "c_sqlite")]


def test_a_window_without_a_request_is_called_a_stall(tmp_path: Path, report: Report) -> None:
    maker = StoreMaker(tmp_path / "store.db", rounds=7)
    machine = maker.machine("m-1")
    maker.bundle()
    point = maker.point("concurrent", "workers=16", {"workers": 16}, "concurrent")
    rng = random.Random(3)
    for round_ in range(8):
        for position, arm in enumerate(("c_sqlite", "rust_rusqlite")):
            some = concurrent_samples(rng, 1.0, 16)["app_request/write"]
            if arm == "rust_rusqlite" and round_ in (3, 4):
                some = dict.fromkeys(some, 0.0)
            maker.trial(machine, point, arm, round_, {"app_request/write": some}, position=position)
    store = maker.close()
    said = "rust_rusqlite workers=16: 2 trials in which no request began inside the window"
    assert said in report(store, width=200)["terminal"]
    assert said in (tmp_path / "summary.md").read_text()
    assert "c_sqlite workers=16: " not in (tmp_path / "summary.md").read_text()

"""Whole reports from small stores made of the real schema."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from store_maker import CHECKS, StoreMaker, example, facts

Small = Callable[..., StoreMaker]
Report = Callable[..., dict[str, Any]]
EDIT = "app_request/admin_item_edit"


def rows_of(store: Path) -> list[dict[str, str]]:
    with (store.parent / "summary.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def row_of(store: Path, arm: str, case: str = EDIT, metric: str = "per_item") -> dict[str, str]:
    found = [r for r in rows_of(store) if (r["arm"], r["case"], r["metric"]) == (arm, case, metric)]
    assert len(found) == 1
    return found[0]


def page(store: Path, machine: str = "m-1", kind: str = "html") -> str:
    return (store.parent / "reports" / f"{machine}.{kind}").read_text()


def test_a_usual_run(tmp_path: Path, report: Report) -> None:
    store = example(tmp_path / "store.db").close()
    for width in (60, 120):
        answer = report(store, width=width)
        lines = answer["terminal"].splitlines()
        assert len(lines) < 60
        assert max(map(len, lines)) <= width
        assert not any(line.lstrip().startswith("workers…") for line in lines), "points that cannot be told apart"
        for workers in (1, 2, 4):
            assert any(line.lstrip().startswith(f"workers={workers} ") for line in lines)
    assert answer["files"] == [
        *(f"reports/small-{i}.{kind}" for i in (1, 2) for kind in ("html", "md")), "summary.csv", "summary.md",
    ]  # fmt: skip
    assert answer["checks_disagree"] is False
    assert answer["refusals"] == []
    assert "small-1" in answer["terminal"]
    assert "slower (" in answer["terminal"]
    # Two machines, 3 arms; 3 sequential cases of 2 metrics, 2 concurrent cases of 7 metrics at 3 points.
    assert len(rows_of(store)) == 2 * 3 * (3 * 2 + 2 * 7 * 3)


def test_every_table_of_a_shared_host_says_functional(tmp_path: Path, report: Report) -> None:
    store = example(tmp_path / "store.db", machines=("small-1",)).close()
    terminal = report(store)["terminal"]
    html, md = page(store, "small-1"), page(store, "small-1", "md")
    captions = re.findall(r"<figcaption>.*?</figcaption>", html, re.DOTALL)
    assert len(captions) > 15
    assert all("functional" in caption for caption in captions)
    headed = re.findall(r"^\*\*.*\n\n\|", md, re.MULTILINE)
    assert len(headed) > 6
    assert all("(functional)" in caption for caption in headed)
    assert {row["functional"] for row in rows_of(store)} == {"1"}
    assert all("functional" in line for line in terminal.splitlines() if " on small-1" in line)


def test_a_dedicated_machine_is_not_called_functional(small: Small, report: Report) -> None:
    store = small().close()
    terminal = report(store)["terminal"]
    assert "functional" not in terminal.lower()
    assert "functional" not in page(store).lower()
    assert {row["functional"] for row in rows_of(store)} == {"0"}


def test_numbers_are_those_of_the_samples(small: Small, report: Report) -> None:
    maker = small()
    query = (
        "SELECT value FROM v_samples x JOIN v_trials t USING (trial_id) WHERE round > 0 AND aa_copy = 0 AND arm = ?"
        " AND metric = 'per_item' AND case_name = ? ORDER BY value"
    )
    values = {a: [v for (v,) in maker.db.execute(query, (a, f"{a}/{EDIT}"))] for a in ("c_sqlite", "rust_rusqlite")}
    store = maker.close()
    report(store)
    for arm, ordered in values.items():
        row = row_of(store, arm)
        assert (int(row["n"]), float(row["median"])) == (7, ordered[3])
        assert (float(row["low"]), float(row["high"]), float(row["coverage"])) == (ordered[0], ordered[6], 0.984375)
    row = row_of(store, "rust_rusqlite")
    assert row["verdict"] == "slower"
    assert float(row["ratio_low"]) < 1.2 < float(row["ratio_high"])
    assert row_of(store, "c_sqlite")["verdict"] == "baseline"
    assert row_of(store, "c_sqlite (A/A copy)")["verdict"] in ("same", "inconclusive")


def test_five_rounds_give_the_real_coverage_and_no_verdict(small: Small, report: Report) -> None:
    store = small(rounds=5).close()
    terminal = report(store)["terminal"]
    row = row_of(store, "rust_rusqlite")
    assert (row["n"], row["coverage"], row["verdict"]) == ("5", "0.9375", "none")
    assert row["ratio"] != ""
    assert (row["ratio_low"], row["ratio_high"]) == ("", "")
    for text in (page(store), page(store, kind="md")):
        assert "93.8 % interval" in text
        assert not re.search(r"95 % interval", text)
        assert "No verdict: 5 scored rounds, 6 needed" in text
    assert "no verdict" in terminal
    assert "slower (" not in terminal


def test_one_round_gives_a_value_without_interval(small: Small, report: Report) -> None:
    store = small(rounds=1).close()
    report(store)
    row = row_of(store, "rust_rusqlite")
    assert (row["n"], row["low"], row["high"], row["coverage"]) == ("1", "", "", "")
    assert "no interval (n = 1)" in page(store)


def test_differing_traces_refuse_the_suite_and_name_both(small: Small, report: Report) -> None:
    maker = small()
    maker.db.execute("UPDATE trace SET sha256 = 'other' WHERE arm = ?", (maker.name("rust_rusqlite"),))
    store = maker.close()
    answer = report(store)
    assert answer["checks_disagree"] is True
    assert [(r["kind"], r["arm"], r["baseline"]) for r in answer["refusals"]] == [
        ("trace", "rust_rusqlite", "c_sqlite")
    ]
    html = page(store)
    for text in (answer["terminal"], html, page(store, kind="md"), (store.parent / "summary.md").read_text()):
        first = next(line for line in text.splitlines() if "refused" in line.lower())
        assert "trace" in first
        assert "rust_rusqlite" in text
        assert "c_sqlite" in text
        assert "slower (" not in text
        assert "faster (" not in text
    assert 'class="alarm"' in html
    row = row_of(store, "rust_rusqlite")
    assert (row["ratio"], row["verdict"]) == ("", "refused")
    assert row["median"] != ""


def test_differing_checks_refuse_only_the_arm_that_differs(small: Small, report: Report) -> None:
    maker = small()
    machine = 1
    point = maker.point("sequential")
    for round_ in range(1, 8):
        samples = {EDIT: {"per_item": 61.0 + round_ / 100}}
        maker.trial(machine, point, "zig_sqlite", round_, samples, checks={EDIT: "999"}, position=3)
    store = maker.close()
    answer = report(store)
    assert [(r["kind"], r["arm"]) for r in answer["refusals"]] == [("check", "zig_sqlite")]
    assert "999" in answer["refusals"][0]["text"]
    assert row_of(store, "zig_sqlite")["ratio"] == ""
    assert row_of(store, "rust_rusqlite")["verdict"] == "slower"


def test_a_baseline_that_disagrees_with_itself_refuses_everything(small: Small, report: Report) -> None:
    maker = small()
    maker.db.execute("UPDATE sample SET check_text = '5' WHERE trial = 4 AND check_text IS NOT NULL")
    store = maker.close()
    answer = report(store)
    assert answer["checks_disagree"] is True
    assert any("disagrees with itself" in r["text"] for r in answer["refusals"])
    assert row_of(store, "rust_rusqlite")["ratio"] == ""


def test_the_newest_attempt_of_a_repeated_round_counts(small: Small, report: Report) -> None:
    maker = small()
    point = maker.point("sequential")
    for position, (arm, aa) in enumerate([("c_sqlite", False), ("c_sqlite", True), ("rust_rusqlite", False)]):
        samples = {case: {"per_item": 50.0 if arm == "c_sqlite" else 60.0} for case in CHECKS}
        maker.trial(1, point, arm, 3, samples, aa=aa, position=position, attempt=2, checks=CHECKS)
    store = maker.close()
    report(store)
    row = row_of(store, "rust_rusqlite")
    assert (row["n"], row["left_out"]) == ("7", "1")
    assert "round repeated" in page(store)
    assert float(row_of(store, "c_sqlite")["low"]) == 50.0


def test_an_arm_missing_in_the_repeat_has_no_pair_in_that_round(small: Small, report: Report) -> None:
    maker = small()
    samples = {case: {"per_item": 50.0} for case in CHECKS}
    maker.trial(1, maker.point("sequential"), "c_sqlite", 3, samples, attempt=2, checks=CHECKS)
    store = maker.close()
    report(store)
    assert row_of(store, "rust_rusqlite")["n"] == "6"
    assert row_of(store, "c_sqlite")["n"] == "7"


def test_failed_trials_are_named_and_not_scored(small: Small, report: Report) -> None:
    maker = small()
    maker.trial(
        1, maker.point("sequential"), "zig_sqlite", 1, verdict="timeout", reason="no end after 20 s in /home/joe/x"
    )
    store = maker.close()
    terminal = report(store)["terminal"]
    assert "zig_sqlite: trial 25 timeout: no end after 20 s in <path>" in terminal
    assert re.search(r"timeout", page(store))
    assert "/home/joe" not in page(store) + page(store, kind="md") + terminal
    assert "/home/joe/x" in report(store, redact=False)["terminal"]


def test_steal_is_listed_and_flagged(small: Small, report: Report) -> None:
    maker = small()
    maker.db.execute("UPDATE trial_machine SET steal_percent = 0.4 WHERE trial = 5")
    maker.db.execute("UPDATE trial_machine SET steal_percent = 2.5 WHERE trial = 6")
    maker.db.execute("UPDATE trial_machine SET steal_percent = NULL, steal_note = 'too short to say' WHERE trial = 7")
    store = maker.close()
    terminal = report(store)["terminal"]
    assert "steal in 2 trials, at most 2.50 %; 1 above 1.00 % flagged" in terminal
    assert "too short to say" in page(store)
    assert "1 flagged" in page(store)
    assert page(store).count(">flagged<") == 1
    assert page(store).count(">listed<") == 1


def test_zero_value_refuses_the_ratio_and_names_the_round(small: Small, report: Report) -> None:
    maker = small()
    maker.db.execute(
        "UPDATE sample SET value = 0 WHERE trial = 6 AND case_id = ? AND metric_id = ?",
        (maker.name(f"rust_rusqlite/{EDIT}"), maker.metrics["per_item"]),
    )
    store = maker.close()
    terminal = report(store)["terminal"]
    assert "no ratio" in terminal
    assert "not above zero" not in terminal
    assert row_of(store, "rust_rusqlite")["ratio"] == ""
    assert "no ratio: rust_rusqlite, round 1 is 0, not above zero" in page(store)


def test_infinite_value_is_refused_with_its_row(small: Small, report: Report) -> None:
    maker = small()
    maker.db.execute(
        "UPDATE sample SET value = 9e999 WHERE trial = 6 AND case_id = ? AND metric_id = ?",
        (maker.name(f"rust_rusqlite/{EDIT}"), maker.metrics["per_item"]),
    )
    store = maker.close()
    terminal = report(store)["terminal"]
    assert "trial 6 attempt 1, case rust_rusqlite/app_request/admin_item_edit, per_item: inf is no" in " ".join(
        terminal.split()
    )
    assert row_of(store, "rust_rusqlite")["n"] == "6"


def test_mixed_units_are_refused(small: Small, report: Report) -> None:
    maker = small()
    maker.metric("time", "ms", "lower")
    point = maker.point("mine", mode="all")
    maker.trial(1, point, "c_sqlite", 1, {"x": {"time": 1.0}})
    maker.metric("time", "s", "lower")
    maker.trial(1, point, "rust_rusqlite", 1, {"x": {"time": 1.0}})
    store = maker.close()
    terminal = report(store)["terminal"]
    assert "mixed units ms, s; refused" in terminal
    assert not [r for r in rows_of(store) if r["metric"] == "time"]


def test_a_failed_aa_check_takes_every_verdict(small: Small, report: Report) -> None:
    maker = small()
    maker.db.execute("UPDATE sample SET value = value * 1.3 WHERE trial IN (SELECT id FROM trial WHERE aa_copy = 1)")
    store = maker.close()
    terminal = report(store)["terminal"]
    row = row_of(store, "rust_rusqlite")
    assert row["verdict"] == "inconclusive"
    assert row["ratio"] != ""
    assert "the A/A check failed" in terminal
    assert "No verdict of this machine stands" in page(store)


def test_too_few_pairs_say_unknown(small: Small, report: Report) -> None:
    store = small().close()
    assert "unknown (7 A/A pairs)" in report(store)["terminal"]
    assert "at least 59 are needed" in page(store)


def test_enough_pairs_give_the_smallest_difference(small: Small, report: Report) -> None:
    store = small(rounds=60).close()
    assert "unknown" not in report(store)["terminal"]
    assert re.search(r"can tell apart in this run is 0\.\d+ %", page(store))


def test_what_changed_and_what_is_unknown_of_a_machine(small: Small, report: Report) -> None:
    after = facts()
    after["kernel"] = {**after["kernel"], "boot_id": "b2"}
    after["memory"] = {**after["memory"], "thp": "always"}
    store = small(after=after).close()
    report(store)
    html = page(store)
    assert "not known: no cpufreq in this virtual machine" in html
    assert "the machine restarted" in html
    assert "memory.thp" in html
    for secret in ("secret-host", "UUID=secret", ">b2<"):
        assert secret not in html


@pytest.mark.parametrize("broken", ["", "[]", "{", '{"cpu": 7, "virt": []}', '{"cpu": {"flags": "x", "caches": [1]}}'])
def test_odd_facts_still_give_a_report(small: Small, report: Report, broken: str) -> None:
    store = small(before=broken, after=broken).close()
    report(store)
    assert "What this machine is" in page(store)


HOSTILE = [
    '<script>alert(1)</script><img src=x onerror="x">',
    "=cmd|' /C calc'!A0",
    "\x1b[31mred\x1b]0;title\x07",
    "a\u202eevil\u2066\u200b\ufeff",
    "| pipe ` tick [link](https://evil.example) **b** <b> www.evil.example @team",
    "line\nbreak\r\x00\u2028end",
    "$\\frac{1}{0}$ {{ 7*7 }} {% raw %}",
]


@pytest.mark.parametrize("evil", HOSTILE)
def test_hostile_text_stays_text_everywhere(small: Small, report: Report, evil: str) -> None:
    maker = small(before={"cpu": {"model_name": evil, "flags": [evil], "why": {"governor": evil}}, "os": {"pretty_name": evil}},
                  reason=evil)  # fmt: skip
    point = maker.point(evil, evil, {"workers": evil}, baseline=evil)
    for round_ in range(1, 8):
        for arm, factor in ((evil, 1.0), (evil + "2", 1.1)):
            case = "=" + evil
            maker.trial(1, point, arm, round_, {case: {"per_item": factor + round_ / 1000}}, checks={case: evil})
    maker.trial(1, point, evil, 8, verdict="exit", reason=evil)
    maker.trace(evil, evil, "aa", sqlite_version=evil, compile_options=evil)
    maker.trace(evil, evil + "2", "bb")
    maker.db.execute("UPDATE machine SET name = ?", (evil,))
    maker.db.execute(
        "UPDATE bundle SET workload = ?, manifest = ?", (evil, json.dumps({"toolchains": {evil: evil}, "arch": evil}))
    )
    store = maker.close()
    answer = report(store)
    names = sorted(path.name for path in (store.parent / "reports").iterdir())
    assert names == ["machine-1.html", "machine-1.md"]
    html, md = page(store, "machine-1"), page(store, "machine-1", "md")
    terminal, summary = answer["terminal"], (store.parent / "summary.md").read_text()
    for text in (html, md, terminal, summary, json.dumps(answer, ensure_ascii=False)):
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u200b\u202a-\u202e\u2066-\u2069\u2028\ufeff]", text)
    assert_inert(html)
    for text in (md, summary):
        assert "<script" not in text
        assert "<b>" not in text
        assert "://evil" not in text
        assert not re.search(r"(?<!\\)\]\(https", text)
        for line in text.splitlines():
            if line.startswith("|"):
                unescaped = len(re.findall(r"(?<!\\)\|", line))
                assert unescaped >= 3
    for row in rows_of(store):
        assert not any(value[:1] in ("=", "+", "@") for value in row.values())
    tables = re.findall(r"(?:^\|.*\n)+", md, re.MULTILINE)
    assert len(tables) > 5
    for table in tables:
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1


class _Inspector(HTMLParser):
    """Collects what a browser would act upon."""

    VOID = frozenset({"meta", "br", "img", "link", "input", "hr"})

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str, str]] = []
        self.open: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        self.ids += [value or "" for name, value in attrs if name == "id"]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def assert_inert(html: str) -> None:
    seen = _Inspector()
    seen.feed(html)
    seen.close()
    assert seen.open == []
    assert not seen.tags & {
        "script",
        "img",
        "iframe",
        "object",
        "embed",
        "link",
        "form",
        "base",
        "foreignobject",
        "image",
    }
    for tag, name, value in seen.attributes:
        assert not name.startswith("on"), (tag, name)
        if name in ("href", "src", "xlink:href", "action"):
            assert value.startswith("#"), (tag, name, value)
    assert not re.search(r"url\((?!#)|@import", html)
    assert len(seen.ids) == len(set(seen.ids))
    targets = {value[1:] for _, name, value in seen.attributes if name == "href"}
    assert targets <= set(seen.ids)


def test_html_is_self_contained(tmp_path: Path, report: Report) -> None:
    store = example(tmp_path / "store.db", machines=("small-1",)).close()
    report(store)
    html = page(store, "small-1")
    assert_inert(html)
    assert not re.search(r"https?:|//[a-z]", html)
    assert "default-src 'none'" in html
    assert html.count("<svg") == 3 + 1 + 2 * (2 + 3)
    assert html.count('role="img"') == html.count("<svg")
    assert not re.search(r"#0[ab]01", html)
    assert "prefers-color-scheme: dark" in html
    assert "@media print" in html
    assert len(html) < 600_000


def test_structure_of_a_machine_report(tmp_path: Path, report: Report) -> None:
    store = example(tmp_path / "store.db", machines=("small-1",)).close()
    report(store)
    headings = re.findall(r"^(#+ .*)$", page(store, "small-1", "md"), re.MULTILINE)
    assert headings == [
        "# small-1 (functional)",
        "## What this machine is",
        "## How quiet it was",
        "## Hardening",
        "## What ran",
        "## Results: sequential",
        "## Results: concurrent",
        "## Checks",
    ]
    captions = re.findall(r"^\*\*(.*?)\*\*(?: \(functional\))?$", page(store, "small-1", "md"), re.MULTILINE)
    assert captions == [
        "Facts",
        "Quietness by part",
        "What the noise rule saw, by arm",
        "Steal",
        "Bundles",
        "Runners and the SQLite each really used",
        "Order really used",
        "sequential: time per request",
        "concurrent, app_request/read: throughput",
        "concurrent, app_request/read: latency",
        "concurrent, app_request/write: throughput",
        "concurrent, app_request/write: latency",
    ]


def test_the_same_store_gives_the_same_bytes(tmp_path: Path, report: Report) -> None:
    store = example(tmp_path / "store.db", machines=("small-1",), rounds=6).close()
    names = report(store)["files"]
    first = {name: (tmp_path / name).read_bytes() for name in names}
    report(store)
    assert {name: (tmp_path / name).read_bytes() for name in names} == first


def test_the_store_is_not_written(small: Small, report: Report) -> None:
    store = small().close()
    store.chmod(0o400)
    before = store.read_bytes()
    report(store)
    assert store.read_bytes() == before


def test_a_store_with_no_good_trial(tmp_path: Path, report: Report) -> None:
    maker = StoreMaker(tmp_path / "store.db")
    machine = maker.machine("m-1", isolated=True)
    maker.trial(
        machine, maker.point("sequential"), "c_sqlite", 1, verdict="signal", reason="ended by SIGSEGV", steal=None
    )
    store = maker.close()
    terminal = report(store)["terminal"]
    assert "ended by SIGSEGV" in terminal
    assert "No scored trial has a result" in page(store)


def test_a_run_without_any_trial(tmp_path: Path, report: Report) -> None:
    maker = StoreMaker(tmp_path / "store.db")
    maker.machine("m-1", before="", after="", reason="boot timed out")
    store = maker.close()
    assert "boot timed out" in report(store)["terminal"]

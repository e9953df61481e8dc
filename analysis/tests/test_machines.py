"""Hardening in the report, machines that gave no numbers, and slots that went on elsewhere."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from store_maker import CHECKS, START_MS, StoreMaker, facts, sequential_samples
from test_report import HOSTILE, assert_inert, page, row_of, rows_of

from benchctl_analysis.blocks import ranges

Small = Callable[..., StoreMaker]
Report = Callable[..., dict[str, Any]]
ARMS = [("c_sqlite", False, 1.0), ("c_sqlite", True, 1.0), ("rust_rusqlite", False, 1.2)]
TIMERS = ("apt-daily.timer", "logrotate.timer", "man-db.timer")


def knob(name: str, target: str, status: str, reason: str = "", read_back: str = "as asked") -> dict[str, str]:
    return {"knob": name, "target": target, "requested": "asked", "found": "found it so", "read_back": read_back,
            "status": status, "reason": reason}  # fmt: skip


def document(*problems: str) -> dict[str, Any]:
    rows = [
        knob("timer", "apt-daily.timer", "applied"),
        knob("sysctl", "vm.swappiness", "already"),
        knob("governor", "all", "not_exposed", "no cpufreq here"),
        knob("service", "snapd.service", "absent", "no such unit"),
        knob("swap", "all", "failed", "cannot allocate memory", "still on"),
    ]
    proofs = [
        {"when": "start", "ok": True, "problems": [], "unix_ms": START_MS},
        {"when": "end", "ok": not problems, "problems": list(problems), "unix_ms": START_MS + 60_000},
    ]
    applied = {"version": 1, "verb": "apply", "rows": rows, "proof": {"ok": True, "problems": []}}
    return {"profile": "quiet", "applied": applied, "proofs": proofs}


def with_timers(*scheduled: str, listed: tuple[str, ...] = TIMERS) -> dict[str, Any]:
    made = facts()
    made["state"] = {"timers": [{"unit": u, "activates": "x", "next": u in scheduled} for u in listed]}
    return made


def hardened(small: Small, *problems: str, after: Any = None) -> StoreMaker:
    return small(
        before=with_timers(*TIMERS), hardened=with_timers(), after=with_timers() if after is None else after,
        hardening=document(*problems),
    )  # fmt: skip


def test_every_knob_and_the_proof_are_told(small: Small, report: Report) -> None:
    store = hardened(small).close()
    report(store)
    for text in (page(store), page(store, kind="md").replace("\\_", "_")):
        assert "Before: 3 timers scheduled (apt-daily.timer, logrotate.timer, man-db.timer)." in text
        assert "After hardening: no timer has a next run." in text
        assert "After the last trial: no timer has a next run." in text
        assert "Proof when the agent started (2026-09-21 14:13:20 UTC): passed." in text
        assert "Profile quiet: 1 applied, 1 already so, 1 not exposed, 1 absent, 1 failed." in text
        for words in ("no cpufreq here", "cannot allocate memory", "still on", "found it so", "vm.swappiness"):
            assert words in text
    html = page(store)
    assert '<td class="l bad">failed</td>' in html
    assert '<td class="l good">applied</td>' in html
    assert '<td class="l soft">not exposed</td>' in html
    table = html[html.index("Knobs") :]
    assert table.index(">failed<") < table.index(">not exposed<") < table.index(">absent<") < table.index(">applied<")
    assert row_of(store, "rust_rusqlite")["verdict"] == "slower"


def test_a_failed_second_proof_is_red_and_takes_the_verdicts(small: Small, report: Report) -> None:
    after = with_timers("evil.timer", listed=("evil.timer",))
    store = hardened(small, "timer evil.timer has a next run", "new crontab /etc/cron.d/x", after=after).close()
    terminal = " ".join(report(store)["terminal"].split())
    html = page(store)
    assert '<p class="bad">Problem: timer evil.timer has a next run</p>' in html
    assert '<p class="bad">Problem: new crontab /etc/cron.d/x</p>' in html
    assert '<p class="bad">After the last trial: 1 timer with a next run (evil.timer).</p>' in html
    assert "The machine was not proved quiet: after the last trial: timer evil.timer" in html
    assert "m-1: not proved quiet" in terminal
    assert row_of(store, "rust_rusqlite")["verdict"] == "inconclusive"
    assert "not proved quiet, although that was asked for" in html


@pytest.mark.parametrize("nothing", ["", "{}", {"profile": "none"}, "[]", "{"])
def test_hardening_that_was_not_asked_for(small: Small, report: Report, nothing: Any) -> None:
    store = small(before=with_timers(*TIMERS), hardening=nothing).close()
    report(store)
    assert "Hardening was not asked for: the machine was measured as it came." in page(store)
    assert "3 timers could fire meanwhile" in page(store)
    assert "Knobs" not in page(store)
    assert row_of(store, "rust_rusqlite")["verdict"] == "slower"


def test_a_timer_that_the_profile_allows_is_no_alarm(small: Small, report: Report) -> None:
    store = hardened(small, after=with_timers("mine.timer", listed=("mine.timer",))).close()
    report(store)
    allowed = "After the last trial: 1 timer with a next run, which the profile allows (mine.timer)."
    assert f"<p>{allowed}</p>" in page(store)


def test_many_absent_units_are_one_line(small: Small, report: Report) -> None:
    made = document()
    made["applied"]["rows"] += [knob("service", f"s{i}.service", "absent") for i in range(40)]
    store = small(hardening=made).close()
    report(store)
    assert "41 absent: snapd.service, s0.service" in page(store)
    assert "and 11 more." in page(store)
    assert ">absent</td>" not in page(store)


def test_no_proof_on_record_is_said(small: Small, report: Report) -> None:
    store = small(hardening={"profile": "quiet", "applied": {"rows": []}, "proofs": []}).close()
    report(store)
    assert "There is no proof on record that timers stood still." in page(store)
    assert "but no knob is on record" in page(store)


def test_facts_of_three_moments(small: Small, report: Report) -> None:
    quiet = facts()
    quiet["memory"] = {**quiet["memory"], "thp": "never"}
    later = {**quiet, "kernel": {**quiet["kernel"], "boot_id": "b2"}}
    store = small(hardened=quiet, after=later, hardening=document()).close()
    report(store)
    lines = page(store, kind="md").splitlines()
    assert "| Fact | Before | Hardened | After the last trial |" in lines
    assert "| memory.thp | madvise | never | never |" in lines
    assert any(re.match(r"\| kernel.boot.*\| first boot \| first boot \| the machine restarted \|", x) for x in lines)


def test_hostile_hardening_stays_text(small: Small, report: Report) -> None:
    evil = " ".join(HOSTILE)
    bad = document(evil, evil * 1000)
    bad["profile"] = evil
    bad["applied"]["rows"] = [
        knob(evil, evil, evil, evil, evil),
        "x",
        None,
        {"knob": [evil], "status": {evil: evil}},
    ] * 300
    bad["proofs"] += [evil, None, {"when": evil, "ok": evil, "problems": evil, "unix_ms": evil}, {"when": [1]}] * 100
    bad["undone"] = {"rows": bad["applied"]["rows"]}
    before = with_timers(evil)
    before["state"]["timers"] += [7, None, {"unit": [evil], "next": True}]
    store = small(before=before, hardened={"state": {"timers": {"a": 1}}}, hardening=bad).close()
    answer = report(store)
    html = page(store)
    assert_inert(html)
    assert len(html) < 700_000
    terminal, md, summary = answer["terminal"], page(store, kind="md"), (store.parent / "summary.md").read_text()
    for text in (html, md, summary, terminal):
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u200b\u202a-\u202e\u2066-\u2069\u2028\ufeff]", text)
    for text in (md, summary):
        assert "<script" not in text
        assert "<b>" not in text
        assert not re.search(r"(?<!\\)\]\(https", text)


def test_a_rejected_machine_is_told_with_its_hardware(small: Small, report: Report) -> None:
    maker = small()
    reason = "requirement cpu.model_name ~ Xeon is not met: AMD EPYC 7B12"
    maker.machine("m-2", isolated=True, before=facts(model_name="AMD EPYC 7B12"), after="", reason=reason, state="gone")
    maker.machine("m-3", isolated=True, before="", after="", reason="", state="gone")
    store = maker.close()
    answer = report(store)
    terminal = " ".join(answer["terminal"].split())
    assert f"m-2: rejected, gave no numbers: {reason} (AMD EPYC 7B12, 2cpu-4GiB" in terminal
    assert "m-3: not used, gave no numbers: no reason is on record (not known: no facts came home" not in terminal
    assert "m-3: not used, gave no numbers" in terminal
    assert "1 machine rejected. Taking others in their place selects hardware" in terminal
    assert not any(line.startswith("m-2 ") for line in answer["terminal"].splitlines())
    summary = (store.parent / "summary.md").read_text()
    assert "| m-2 | rejected |" in summary
    assert "selects hardware" in summary
    assert "This machine was rejected and gave no numbers: requirement" in page(store, "m-2")
    assert "selects hardware" in page(store, "m-2")
    assert "AMD EPYC 7B12" in page(store, "m-2", "md")
    assert "No scored trial" not in page(store, "m-2")
    assert {row["machine"] for row in rows_of(store)} == {"m-1"}


def test_only_rejected_machines(tmp_path: Path, report: Report) -> None:
    maker = StoreMaker(tmp_path / "store.db")
    maker.machine("m-1", reason="no AVX-512", state="rejected")
    store = maker.close()
    terminal = report(store)["terminal"]
    assert "m-1: rejected, gave no numbers: no AVX-512" in terminal
    assert "summary.md" in terminal


def resumed(path: Path, split: int = 7, rounds: int = 14, elsewhere: float = 3.0) -> StoreMaker:
    """Rounds up to `split` on bc-a, the others on bc-b, which is slower by far."""
    rng = random.Random(11)
    maker = StoreMaker(path, rounds=rounds)
    a = maker.machine("bc-a", isolated=True)
    b = maker.machine("bc-b", isolated=True, slot=maker.slots[a])
    point = maker.point("sequential")
    for round_ in range(1, rounds + 1):
        machine, scale = (a, 1.0) if round_ <= split else (b, elsewhere)
        for position, (arm, aa, factor) in enumerate(ARMS):
            samples = sequential_samples(rng, factor * scale, 0.002)
            maker.trial(machine, point, arm, round_, samples, aa=aa, position=position, checks=CHECKS)
    return maker


def test_a_slot_over_two_machines_is_two_blocks(tmp_path: Path, report: Report) -> None:
    store = resumed(tmp_path / "store.db").close()
    answer = report(store)
    told = "One slot, several machines: rounds 1-7 on bc-a, rounds 8-14 on bc-b."
    for text in (answer["terminal"], (tmp_path / "summary.md").read_text(), page(store, "bc-a"), page(store, "bc-b")):
        assert told in " ".join(text.split())
    rows = [r for r in rows_of(store) if r["arm"] == "rust_rusqlite" and r["metric"] == "per_item"]
    assert {(r["machine"], r["n"]) for r in rows} == {("bc-a", "7"), ("bc-b", "7")}
    assert all(abs(float(r["ratio"]) - 1.2) < 0.01 and r["verdict"] == "slower" for r in rows)
    medians = {r["machine"]: float(r["median"]) for r in rows if r["case"].endswith("edit")}
    assert medians["bc-b"] / medians["bc-a"] == pytest.approx(3.0, rel=0.01)


def test_a_round_begun_anew_on_another_machine_counts_there_alone(tmp_path: Path, report: Report) -> None:
    maker = resumed(tmp_path / "store.db")
    a, _ = maker.slots
    point = maker.point("sequential")
    rng = random.Random(3)
    # Round 8 had run its baseline on bc-a as attempt 1 when the machine went; bc-b made all of it as attempt 2.
    maker.db.execute("UPDATE trial SET attempt = 2 WHERE round = 8")
    maker.trial(a, point, "c_sqlite", 8, sequential_samples(rng, 1.0, 0.002), checks=CHECKS)
    store = maker.close()
    report(store)
    rows = {
        (r["machine"], r["arm"]): r for r in rows_of(store) if r["case"].endswith("edit") and r["metric"] == "per_item"
    }
    assert rows["bc-a", "c_sqlite"]["n"] == "7"
    assert rows["bc-a", "c_sqlite"]["left_out"] == "1"
    assert rows["bc-b", "rust_rusqlite"]["n"] == "7"
    assert "rounds 1-7 on bc-a, rounds 8-14 on bc-b" in page(store, "bc-a")


def test_arms_of_one_round_on_two_machines_are_no_pair(tmp_path: Path, report: Report) -> None:
    """The baseline's rounds on one machine, the candidate's on another: nothing can be said."""
    maker = StoreMaker(tmp_path / "store.db")
    a = maker.machine("bc-a", isolated=True)
    b = maker.machine("bc-b", isolated=True, slot=maker.slots[a])
    point = maker.point("sequential")
    rng = random.Random(1)
    for round_ in range(1, 9):
        maker.trial(a, point, "c_sqlite", round_, sequential_samples(rng, 1.0), checks=CHECKS)
        maker.trial(b, point, "rust_rusqlite", round_, sequential_samples(rng, 1.5), checks=CHECKS)
    store = maker.close()
    report(store)
    row = row_of(store, "rust_rusqlite")
    assert (row["ratio"], row["verdict"]) == ("", "none")


def test_up_to_four_reports_are_named(tmp_path: Path, report: Report) -> None:
    maker = StoreMaker(tmp_path / "store.db")
    point = maker.point("sequential")
    for number in range(6):
        machine = maker.machine(f"m-{number}", isolated=True)
        maker.trial(machine, point, "c_sqlite", 1, sequential_samples(random.Random(1), 1.0), checks=CHECKS)
    store = maker.close()
    lines = report(store, width=200)["terminal"].splitlines()
    assert lines[-5:-1] == [f"report: {tmp_path}/reports/m-{n}.html" for n in range(4)]
    assert lines[-1] == "and 2 more beside them"


def test_ranges() -> None:
    assert ranges([3, 1, 2, 7, 9, 10]) == "1-3, 7, 9-10"
    assert ranges([]) == ""


def test_across_machines_only_sessions_that_count(tmp_path: Path, report: Report) -> None:
    rng = random.Random(4)
    maker = StoreMaker(tmp_path / "store.db", rounds=7)
    point = maker.point("sequential")
    for number in range(4):
        bad = number == 3
        machine = maker.machine(f"m-{number}", isolated=True, hardening=document("a new crontab") if bad else "")
        for round_ in range(1, 8):
            for position, (arm, aa, factor) in enumerate(ARMS):
                samples = sequential_samples(rng, factor * (1.5 if bad and arm == "rust_rusqlite" else 1.0), 0.002)
                maker.trial(machine, point, arm, round_, samples, aa=aa, position=position, checks=CHECKS)
    store = maker.close()
    report(store)
    summary = (tmp_path / "summary.md").read_text()
    told = re.findall(r"\| rust_rusqlite \| per_item \| (\d\.\d+)x \(", summary.replace("\\", ""))
    assert told == ["1.20"] * 3
    assert "Left out: 1 machine whose session decides nothing." in summary

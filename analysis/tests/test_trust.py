"""What a report says about the session itself: the noise rule, quarantine, order, probes, grade."""

from __future__ import annotations

import itertools
import random
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from scipy import stats as sps
from store_maker import CHECKS, StoreMaker, sequential_samples
from test_report import EDIT, page, row_of

from benchctl_analysis import quiet
from benchctl_analysis.load import Schedule, mark_over, mark_scored
from benchctl_analysis.noise import MachineNoise, gate_text, of_machine

Small = Callable[..., StoreMaker]
Report = Callable[..., dict[str, Any]]
ARMS = [("c_sqlite", False), ("c_sqlite", True), ("rust_rusqlite", False)]
FAIR = dict.fromkeys(ARMS, 0.4)
BIASED = {**dict.fromkeys(ARMS, 0.24), ARMS[2]: 0.72}  # three times as often, at the same overall rate


def gated(sees: dict[tuple[str, bool], float], seed: int, rounds: int = 60, points: int = 4) -> list[dict[str, Any]]:
    """Trials in order, of which one in eight is hit, whatever its arm, and 7 % slower; the gate sees a hit by its arm's
    chance and has the whole round of that point repeated."""
    rng = random.Random(seed)
    made = []
    for round_, point in itertools.product(range(1, rounds + 1), range(points)):
        first = rng.randrange(3)
        for attempt in (1, 2):
            noisy = False
            for position in range(3):
                arm, aa = ARMS[(first + position) % 3]
                hit = rng.random() < 1 / 8
                seen = attempt == 1 and hit and rng.random() < sees[arm, aa]
                noisy = noisy or seen
                made.append(
                    {"point": point, "arm": arm, "aa": aa, "round_": round_, "position": position, "attempt": attempt,
                     "steal": 9.0 if seen else 0.0, "value": 60.0 * rng.lognormvariate(0, 0.003) * (1.07 if hit else 1.0)}
                )  # fmt: skip
            if not noisy:
                break
    return made


def gated_store(path: Path, sees: dict[tuple[str, bool], float], seed: int) -> Path:
    maker = StoreMaker(path, rounds=60)
    machine = maker.machine("m-1", isolated=True)
    points = [maker.point("sequential", f"n={n}", {"n": n}) for n in range(4)]
    for trial in gated(sees, seed):
        samples = {EDIT: {"per_item": trial.pop("value")}}
        maker.trial(machine, points[trial.pop("point")], trial.pop("arm"), trial.pop("round_"), samples, **trial)
    return maker.close()


def gated_noise(sees: dict[tuple[str, bool], float], seed: int) -> MachineNoise:
    """The same session without the way through a store."""
    frame = pd.DataFrame(gated(sees, seed)).rename(
        columns={"point": "point_hash", "aa": "aa_copy", "round_": "round", "steal": "steal_percent"}
    )
    frame = frame.assign(fleet="f", slot=0, verdict="ok", record="{}", trial_id=range(len(frame)))
    return of_machine(mark_over(mark_scored(frame), Schedule()), Schedule(), True, 42)


def everywhere(store: Path, answer: dict[str, Any]) -> list[str]:
    """Terminal, summary and both reports, with line breaks as blanks."""
    texts = [answer["terminal"], (store.parent / "summary.md").read_text(), page(store), page(store, kind="md")]
    return [" ".join(text.split()) for text in texts]


def test_a_gate_biased_against_one_arm_is_exposed_in_words(tmp_path: Path, report: Report) -> None:
    store = gated_store(tmp_path / "store.db", BIASED, 1)
    for text in everywhere(store, report(store)):
        assert "the noise gate does not treat the arms alike: rust" in text.replace("The noise", "the noise").replace(
            "\\_", "_"
        )
    assert re.search(r"rust_rusqlite</td><td class=\"r\">\d+", page(store))


def test_a_fair_gate_is_not_accused(tmp_path: Path, report: Report) -> None:
    store = gated_store(tmp_path / "store.db", FAIR, 1)
    for text in everywhere(store, report(store)):
        assert "does not treat the arms alike" not in text
        assert "Quarantined" not in text
    assert "The arms were rejected alike, as far as" in page(store)


def test_over_seeds_biased_gates_are_found_and_fair_ones_left_alone() -> None:
    seeds = range(40)
    fair, biased = ([gated_noise(sees, seed) for seed in seeds] for sees in (FAIR, BIASED))
    for noise in fair + biased:
        assert 15 < noise.gate.rejected < 60
        assert noise.standing == 0
    assert sum(bool(gate_text(noise)) for noise in fair) <= int(sps.binom.ppf(0.999, len(seeds), 0.05))
    assert sum(bool(gate_text(noise)) for noise in biased) >= int(sps.binom.ppf(0.001, len(seeds), 0.75))
    assert sum(bool(noise.quarantine) for noise in fair + biased) <= 2


def repeat(maker: StoreMaker, round_: int, scale: float = 1.0, noisy: int = 2, attempt: int = 2) -> None:
    """The round once more, because trial `noisy` of the attempt before lost much to steal."""
    rng = random.Random(round_)
    maker.db.execute(
        "UPDATE trial_machine SET steal_percent = 9 WHERE trial IN (SELECT id FROM trial WHERE round = ? AND attempt = ?"
        " AND position = ?)",
        (round_, attempt - 1, noisy),
    )
    for position, (arm, aa) in enumerate(ARMS):
        samples = sequential_samples(rng, scale * (1.2 if arm == "rust_rusqlite" else 1.0), 0.002)
        maker.trial(
            1, maker.point("sequential"), arm, round_, samples, aa=aa, position=position, attempt=attempt, checks=CHECKS
        )


def test_repeats_within_the_plan_are_told_and_harmless(small: Small, report: Report) -> None:
    maker = small(rounds=10)
    repeat(maker, 3)
    repeat(maker, 5, noisy=0)
    store = maker.close()
    terminal = " ".join(report(store)["terminal"].split())
    assert "6 trials of repeated rounds are kept but not scored (2 repeats because of steal)" in terminal
    assert "2 of 10 points of scored rounds were repeated" in page(store)
    assert "QUARANTINED" not in terminal
    row = row_of(store, "rust_rusqlite")
    assert (row["n"], row["left_out"], row["verdict"]) == ("10", "2", "slower")
    assert float(row["median_with_left_out"]) > 0
    assert float(row["ratio_with_left_out"]) == pytest.approx(1.2, abs=0.01)
    for text in (page(store), page(store, kind="md")):
        assert "With left out" in text
        assert re.search(r"µs, 1\.20x", text)


def test_too_many_repeats_quarantine_the_session(small: Small, report: Report) -> None:
    maker = small(rounds=10)
    for round_ in (1, 4, 9):
        repeat(maker, round_)
    store = maker.close()
    answer = report(store)
    assert answer["terminal"].splitlines()[4].startswith("QUARANTINED  m-1: 3 repeats of rounds because of steal")
    assert row_of(store, "rust_rusqlite")["verdict"] == "inconclusive"
    assert row_of(store, "rust_rusqlite")["ratio"] != ""
    for text in everywhere(store, answer):
        first = text.lower().index("quarantined")
        assert first < 700 or first < text.index("</style>") + 700
        assert "slower (" not in text
    assert "<dt>Quietness</dt><dd>F</dd>" in page(store)


def test_a_used_up_budget_with_noisy_trials_that_stand_quarantines(small: Small, report: Report) -> None:
    maker = small(rounds=10)
    for round_ in (1, 4):
        repeat(maker, round_)
    maker.db.execute(
        "UPDATE trial_machine SET steal_percent = 6 WHERE trial = (SELECT id FROM trial WHERE round = 8 AND position = 1)"
    )
    store = maker.close()
    text = " ".join(report(store)["terminal"].split())
    assert (
        "2 repeats of rounds because of steal, where the plan allows 20.0 % of them, and 1 scored trial still" in text
    )
    assert "above the bound, stands" in page(store)


def test_a_few_stolen_ticks_are_not_over_as_the_agent_has_it(small: Small, report: Report) -> None:
    """Nine ticks of a short trial are 6 %, and may be the grain of the counter: the agent repeated nothing for them."""
    maker = small(rounds=10)
    for ticks, round_ in ((9, 1), (9, 4), (10, 7)):
        maker.db.execute(
            "UPDATE trial_machine SET steal_percent = 6, record = ? WHERE trial = (SELECT id FROM trial WHERE round = ?"
            " AND position = 1)",
            (f'{{"steal_jiffies": {ticks}}}', round_),
        )
    store = maker.close()
    report(store)
    assert page(store).count(">above the bound, stands<") == 1
    assert "Scored although above the bound: 1 trial." in page(store)


def test_a_shared_host_is_only_flagged(small: Small, report: Report) -> None:
    maker = small(rounds=10, isolated=False)
    for round_ in (1, 4, 9):
        repeat(maker, round_)
    store = maker.close()
    terminal = report(store)["terminal"]
    assert "QUARANTINED" not in terminal
    assert row_of(store, "rust_rusqlite")["verdict"] == "slower"
    assert "Rules about steal only flag on a shared host" in page(store)
    assert "<dt>Quietness</dt><dd>n/a (shared host)</dd>" in page(store)


def test_a_round_begun_anew_for_another_reason_is_no_repeat(small: Small, report: Report) -> None:
    maker = small(rounds=10)
    for round_ in (1, 4, 9):
        repeat(maker, round_)
    maker.db.execute("UPDATE trial_machine SET steal_percent = 0")
    store = maker.close()
    assert "QUARANTINED" not in report(store)["terminal"]
    assert "3 attempts more began anew after a restart or resume" in page(store)


def test_where_exclusions_matter_the_verdict_is_inconclusive(small: Small, report: Report) -> None:
    """The rejected attempts of the candidate were all much slower: leaving them out makes the number."""
    maker = small(rounds=30, factor=1.02)
    maker.db.execute("UPDATE run SET plan_text = replace(plan_text, '20%', '60%')")
    maker.db.execute(
        "UPDATE sample SET value = value * 1.4 WHERE trial IN (SELECT t.id FROM trial t JOIN name n ON n.id = t.arm"
        " WHERE n.text = 'rust_rusqlite' AND round <= 16)"
    )
    for round_ in range(1, 17):
        rng = random.Random(round_)
        maker.db.execute(
            "UPDATE trial_machine SET steal_percent = 9 WHERE trial IN (SELECT id FROM trial WHERE round = ? AND position = ?)",
            (round_, round_ % 3),
        )
        for position, (arm, aa) in enumerate(ARMS):
            samples = sequential_samples(rng, 1.02 if arm == "rust_rusqlite" else 1.0, 0.002)
            maker.trial(
                1, maker.point("sequential"), arm, round_, samples, aa=aa, position=position, attempt=2, checks=CHECKS
            )
    store = maker.close()
    report(store)
    assert row_of(store, "rust_rusqlite")["verdict"] == "inconclusive"
    assert "with the left-out attempts lies outside" in page(store)
    # The same rounds with attempts that say the same: the verdict stands.
    with closing(sqlite3.connect(store)) as db, db:
        db.execute(
            "UPDATE sample SET value = value / 1.4 WHERE trial IN (SELECT t.id FROM trial t JOIN name n ON n.id = t.arm"
            " WHERE n.text = 'rust_rusqlite' AND round BETWEEN 1 AND 16 AND attempt = 1)"
        )
    report(store)
    assert row_of(store, "rust_rusqlite")["verdict"] == "slower"


def test_pairs_are_of_one_attempt(small: Small, report: Report) -> None:
    """The whole repeated round ran twice as slow: with its pairs kept apart by attempt the ratio does not see it."""
    maker = small(rounds=10)
    repeat(maker, 3, scale=2.0)
    store = maker.close()
    report(store)
    row = row_of(store, "rust_rusqlite")
    assert float(row["ratio"]) == pytest.approx(1.2, abs=0.005)
    assert float(row["ratio_with_left_out"]) == pytest.approx(1.2, abs=0.005)


def test_the_place_in_the_order_is_tested(tmp_path: Path, report: Report) -> None:
    rng = random.Random(3)
    for name, penalty in (("none", 1.0), ("last", 1.03)):
        folder = tmp_path / name
        folder.mkdir()
        maker = StoreMaker(folder / "store.db", rounds=12)
        machine = maker.machine("m-1", isolated=True)
        point = maker.point("sequential")
        for round_ in range(1, 13):
            for position in range(3):
                arm, aa = ARMS[(round_ + position) % 3]
                value = 60 * rng.lognormvariate(0, 0.005) * (penalty if position == 2 else 1.0)
                maker.trial(machine, point, arm, round_, {EDIT: {"per_item": value}}, aa=aa, position=position)
        store = maker.close()
        terminal = report(store)["terminal"]
        shows = name == "last"
        assert ("An effect of the place in the order shows" in page(store)) == shows
        assert ("No effect of the place in the order shows" in page(store)) != shows
        assert ("the place in the order changes results" in terminal) == shows
    assert re.search(r"1: -\d\.\d+ %, 2: -\d\.\d+ %, 3: (2|3)\.\d+ %", page(store))


def hardening(ok: bool = True) -> dict[str, Any]:
    proof = {"ok": ok, "problems": [] if ok else ["logrotate.timer has a next run"]}
    return {"profile": "quiet", "applied": {"rows": [], "proof": proof}, "proofs": []}


def quiet_machine(small: Small, jitter: float = 0.005, **more: Any) -> StoreMaker:
    maker = small(rounds=8, hardening=hardening(), **more)
    for round_ in range(9):
        maker.probe(1, round_, spin_p99_ns=round(1000 * (1 + jitter)))
    return maker


def letter(store: Path) -> str:
    found = re.search(r"<dt>Quietness</dt><dd>(.*?)</dd>", page(store))
    assert found
    return found[1]


def test_a_quiet_machine_is_an_a(small: Small, report: Report) -> None:
    store = quiet_machine(small).close()
    terminal = report(store)["terminal"]
    assert letter(store) == "A"
    assert re.search(r"^m-1 +.* A +24 ", terminal, re.MULTILINE)
    html = page(store)
    assert "Probes before the rounds" in html
    assert "Probes over time" in html
    assert html.count('<td class="r">1.50 µs</td>') == 9


def test_the_worst_part_is_the_grade(small: Small, report: Report) -> None:
    store = quiet_machine(small, jitter=0.08).close()
    report(store)
    assert letter(store) == "C"
    assert "p99 of the spin 8.00 % above its median" in page(store)


def test_what_is_not_known_is_no_a(small: Small, report: Report) -> None:
    store = small(rounds=8, hardening=hardening()).close()
    report(store)
    assert letter(store) == "B"
    assert "as these are not known: Probe jitter, Probe speed, Other processes" in page(store)


def test_steal_that_was_hardly_ever_measured_has_no_grade(small: Small, report: Report) -> None:
    maker = quiet_machine(small)
    maker.db.execute("UPDATE trial_machine SET steal_percent = NULL, steal_note = 'too short to say' WHERE trial > 8")
    store = maker.close()
    report(store)
    assert letter(store) == "B"
    assert "measured in 5 of 24 trials only" in page(store)


def test_a_failed_proof_is_an_f_and_an_alarm(small: Small, report: Report) -> None:
    store = small(hardening=hardening(ok=False)).close()
    terminal = report(store)["terminal"]
    assert letter(store) == "F"
    assert "not proved quiet: after hardening: logrotate.timer has a next run" in terminal
    assert "Problem: logrotate.timer has a next run" in page(store)


@pytest.mark.parametrize(
    ("name", "value", "grade"),
    [("Steal", 0.0, "A"), ("Steal", 0.0001, "B"), ("Steal", 0.2, "D"), ("Steal", 0.21, "E"), ("Probe jitter", 0.01, "A"),
     ("Probe jitter", 0.31, "E"), ("Other processes", 0.2, "D"), ("A/A spread", 0.0101, "C")],
)  # fmt: skip
def test_bounds_of_the_grade(name: str, value: float, grade: str) -> None:
    assert quiet.letter(name, value) == grade


def test_odd_probes_still_give_a_report(small: Small, report: Report) -> None:
    maker = small()
    maker.probe(
        1, 1, busy=None, spin_p50_ns=None, spin_p99_ns=None, spin_max_ns=None, steal_jiffies=None, psi_cpu_some=None
    )
    maker.probe(
        1, 2, busy=1e300, spin_p50_ns=1, spin_p99_ns=2**62, spin_max_ns=0, steal_jiffies=2**62, psi_cpu_some=-1.0
    )
    maker.probe(1, 3, spin_p50_ns=-5)
    store = maker.close()
    report(store)
    assert "not measured" in page(store)

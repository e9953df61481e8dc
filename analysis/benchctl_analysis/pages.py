"""One machine's report as values for the templates: its sections in order, and their plots."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from benchctl_analysis import (
    blocks,
    claims_section,
    hardening,
    machine_facts,
    numbers,
    quiet,
    quiet_section,
    results,
    what_ran,
)
from benchctl_analysis.claims import Judged
from benchctl_analysis.compare import Comparison
from benchctl_analysis.latency import Histograms
from benchctl_analysis.load import EVIDENCE_ROUNDS, RunData, parse_json
from benchctl_analysis.noise import gate_text
from benchctl_analysis.parts import Cell, Page, Section, Table, cells
from benchctl_analysis.quiet import Grade
from benchctl_analysis.text import sanitize, scrub


def counts(trials: pd.DataFrame, max_steal: float) -> tuple[int, int, int, int]:
    """Clean, flagged (steal above the plan's bound), failed, warm-up: of all attempts, each in one of them; traces and infos in none."""
    failed = trials["verdict"] != "ok"
    warm = (trials["round"] <= 0) & ~failed
    shown = warm & ~trials["round"].isin(EVIDENCE_ROUNDS)
    flagged = (trials["steal_percent"].fillna(0) > max_steal) & ~failed & ~warm
    return int((~failed & ~warm & ~flagged).sum()), int(flagged.sum()), int(failed.sum()), int(shown.sum())


_MOMENTS = ("Before", "Hardened", "After the last trial")


def _changes(documents: list[dict[str, Any]], functional: bool) -> Table | Cell | None:
    """Watched facts that differ between before, hardened and after; a moment without a document has no column."""
    before, _, after = documents
    present = [i for i, document in enumerate(documents) if document]
    rows = machine_facts.differing(documents)
    if rows:
        columns = [("Fact", "l"), *((_MOMENTS[i], "l") for i in present)]
        body = [cells(name, *(values[i] for i in present)) for name, values in rows]
        return Table("Facts that changed during the run", columns, body, functional)
    if before and after:
        return Cell("No watched fact changed between before and after the run.")
    return Cell("There are no facts from after the run, so a change could not be seen.") if before else None


def _machine_section(machine: Any, documents: list[dict[str, Any]], functional: bool) -> Section:
    section = Section("What this machine is", "machine")
    before = documents[0]
    if not before:
        section.paragraphs.append(Cell("No facts of this machine are in the store.", "bad"))
    note = machine_facts.generic_cpu_note(before)
    if note:
        section.paragraphs.append(Cell(note))
    spec = parse_json(machine.spec)
    rows = [("Provider", sanitize(machine.provider, 40))]
    rows += machine_facts.facts_table(before, spec, sanitize(machine.hardware, 80), sanitize(machine.fingerprint, 80))
    section.tables.append(
        Table(
            "Facts",
            [("Fact", "l"), ("Value", "l")],
            [[Cell(a), Cell(b, "soft" if b.startswith("not known") else "")] for a, b in rows],
            functional,
            kind="pairs",
        )
    )
    changes = _changes(documents, functional)
    if isinstance(changes, Table):
        section.tables.append(changes)
    elif changes is not None:
        section.paragraphs.append(changes)
    return section


def _ran_section(data: RunData, trials: pd.DataFrame, functional: bool) -> Section:
    section = Section("What ran", "ran")
    info = data.info
    plan = f"Plan {sanitize(info.get('plan_name', 'unknown'), 80)}, sha256 {sanitize(info.get('plan_sha256', 'unknown'), 64)}"
    section.paragraphs.append(Cell(f"{plan}."))
    seed = info.get("seed", data.schedule.seed)
    order = data.schedule.order or "not given in the plan"
    section.paragraphs.append(Cell(f"Order asked for: {sanitize(order, 20)}, seed {sanitize(seed, 24)}."))
    for table in (
        what_ran.bundle_table(data, functional),
        what_ran.runner_table(data, functional),
        what_ran.options_table(data, functional),
        what_ran.order_table(trials, functional),
    ):
        if table is not None:
            section.tables.append(table)
    return section


def _checks_section(data: RunData, comparison: Comparison) -> Section:
    section = Section("Checks", "checks")
    for refusal in comparison.refusals:
        section.paragraphs.append(Cell(f"Refused: {refusal.text}.", "bad"))
    if comparison.refusals:
        section.paragraphs.append(
            Cell("These comparisons are removed from every table: the arms did not do the same work.")
        )
    traced = data.traces.groupby("suite")["arm"].nunique()
    suites_refused = {(refusal.kind, refusal.suite) for refusal in comparison.refusals}
    checked = data.samples[data.samples["check_text"].fillna("").astype(str) != ""]
    for suite in data.trials["suite"].unique():
        if ("trace", suite) not in suites_refused:
            arms = int(traced.get(suite, 0))
            section.paragraphs.append(
                Cell(
                    f"{suite}: the traces of its {arms} runners agree."
                    if arms > 1
                    else f"{suite}: no two traces to compare."
                )
            )
        own = checked[checked["suite"] == suite]
        if ("check", suite) not in suites_refused:
            section.paragraphs.append(
                Cell(
                    f"{suite}: all {own['trial_id'].nunique()} good trials agree on every check."
                    if not own.empty
                    else f"{suite}: its results carry no checks."
                )
            )
    section.paragraphs += [Cell(note + ".") for note in comparison.notes[:30]]
    return section


def _alarms(data: RunData, comparison: Comparison, machine: Any, clean: Callable[[object], str]) -> list[str]:
    """What a reader must know before any number, the worst first."""
    machine_id = int(machine.machine_id)
    noise, aa = comparison.noise.get(machine_id), comparison.aa.get(machine_id)
    alarms = []
    if noise is not None and noise.quarantine:
        alarms.append(f"Quarantined: {noise.quarantine}. No verdict of this session stands.")
    alarms += [f"Refused: {refusal.text}." for refusal in comparison.refusals]
    if aa is not None and aa.check.failed:
        alarms.append("The A/A check of this machine failed: no verdict stands.")
    biased = "" if noise is None else gate_text(noise)
    if biased:
        alarms.append(f"{biased[0].upper()}{biased[1:]}.")
    proofs = hardening.read(machine.hardening, clean).summary
    if proofs.problems:
        alarms.append(f"The machine was not proved quiet: {'; '.join(proofs.problems[:3])}.")
    if machine.reason:
        alarms.append(f"Machine: {clean(machine.reason)}")
    return alarms


def grade_of(data: RunData, comparison: Comparison, machine: Any) -> Grade:
    machine_id = int(machine.machine_id)
    return quiet.grade(
        data.trials[data.trials["machine_id"] == machine_id],
        comparison.noise.get(machine_id),
        data.probes[data.probes["machine_id"] == machine_id],
        comparison.aa.get(machine_id),
        hardening.read(machine.hardening).summary,
    )


def _documents(machine: Any) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    return parse_json(machine.facts_before), parse_json(machine.facts_hardened), parse_json(machine.facts_after)


def build_idle(data: RunData, machine: Any, idle: blocks.Idle, redact: bool) -> Page:
    """Of a machine without trials: what it was and why it gave nothing."""
    functional, clean = not machine.isolated, scrub if redact else sanitize
    before, hardened, after = _documents(machine)
    hard = hardening.read(machine.hardening, clean)
    word = "rejected" if idle.rejected else "never used"
    sections = [_machine_section(machine, [before, hardened, after], functional)]
    if hard.asked:
        sections.append(hardening.section(hard, before, hardened, after, functional))
    note = blocks.selection_note([idle])
    if note:
        sections[0].paragraphs.append(Cell(note))
    return Page(
        machine=idle.name,
        functional=functional,
        run=sanitize(data.run, 80),
        plan=sanitize(data.info.get("plan_name", ""), 80),
        when=numbers.utc(data.info.get("created_ms")),
        summary=[("CPU", machine_facts.cpu_name(before)), ("Outcome", word)],
        alarms=[f"This machine was {word} and gave no numbers: {idle.why}."],
        sections=sections,
    )


def build(
    data: RunData, comparison: Comparison, machine: Any, folder: Path, redact: bool, judged: Sequence[Judged] = ()
) -> Page:
    functional = not machine.isolated
    clean = scrub if redact else sanitize
    machine_id = int(machine.machine_id)
    trials = data.trials[data.trials["machine_id"] == machine_id]
    rows = [row for row in comparison.rows if row.machine_id == machine_id]
    before, hardened, after = _documents(machine)
    good, flagged, failed, warm = counts(trials, data.schedule.max_steal_percent)
    scored = trials.loc[trials["scored"], "round"].nunique()
    planned = f" of {data.schedule.rounds}" if data.schedule.rounds else ""
    found = Histograms(data, folder, comparison.notes)
    of_suites = results.sections(data, rows, found, functional, clean)
    of_suites[0].paragraphs[:0] = [
        Cell(blocks.slots_note(told)) for machines, told in blocks.shared_slots(data) if machine_id in machines
    ]
    over_time = results.time_plot(data, trials, rows)
    of_claims = claims_section.section(judged, functional)
    grade = grade_of(data, comparison, machine)
    quietness = quiet_section.section(data, comparison, trials, machine_id, grade, functional, clean)
    if over_time is not None:
        quietness.plots.append(over_time)
    return Page(
        machine=sanitize(machine.machine, 80),
        functional=functional,
        run=sanitize(data.run, 80),
        plan=sanitize(data.info.get("plan_name", ""), 80),
        when=numbers.utc(data.info.get("created_ms")),
        summary=[
            ("CPU", machine_facts.cpu_name(before)),
            ("Quietness", grade.letter),
            ("Scored rounds", f"{scored}{planned}"),
            ("Trials", f"{good} clean, {flagged} flagged, {failed} failed, {warm} warm-up"),
            ("Smallest difference it can tell apart", quiet_section.smallest_difference(comparison, machine_id)),
            ("Checks", "disagree" if comparison.refusals else "agree"),
            *([("Claims", claims_section.totals(judged))] if judged else []),
        ],
        alarms=_alarms(data, comparison, machine, clean),
        sections=[
            _machine_section(machine, [before, hardened, after], functional),
            quietness,
            hardening.section(hardening.read(machine.hardening, clean), before, hardened, after, functional),
            _ran_section(data, trials, functional),
            *of_suites,
            _checks_section(data, comparison),
            *([of_claims] if of_claims is not None else []),
        ],
    )

"""One machine's report as values for the templates: its sections in order, and their plots."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from benchctl_analysis import blocks, hardening, machine_facts, numbers, plots, quiet, quiet_section, tables
from benchctl_analysis.compare import CONTEXT_METRICS, Comparison, Row, natural
from benchctl_analysis.load import EVIDENCE_ROUNDS, RunData, parse_json, records
from benchctl_analysis.noise import gate_text
from benchctl_analysis.parts import Cell, Page, Plot, Section, Table, cells
from benchctl_analysis.quiet import Grade
from benchctl_analysis.tables import CONCURRENT_METRIC, SEQUENTIAL_METRIC
from benchctl_analysis.text import sanitize, scrub

MAX_PLOTS = 40


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


def _colours(rows: list[Row]) -> Callable[[Row], int]:
    """A runner keeps its colour over the whole page; the A/A copy has its own."""
    labels: list[str] = []
    for row in sorted(rows, key=lambda r: (not r.is_baseline, r.aa_copy, natural(r.arm))):
        if row.label not in labels:
            labels.append(row.label)
    return lambda row: labels.index(row.label)


def _dots(group: list[Row], colour: Callable[[Row], int], salt: str) -> Plot:
    like = group[0].median.value
    divisor, unit = numbers.scale_for(like, group[0].unit)
    strips = []
    for row in group:
        i = row.median.interval
        strips.append(
            plots.Strip(
                row.label,
                colour(row),
                [v / divisor for v in row.values],
                row.median.value / divisor,
                None if i is None else i.low / divisor,
                None if i is None else i.high / divisor,
            )
        )
    name = f"{group[0].suite} {tables.row_name(group[0])}"
    return Plot(name, plots.dot_plot(strips, unit, f"{sanitize(name, 120)}: every sample, median and interval", salt))


def _workers(data: RunData) -> dict[str, float]:
    """Point -> its number of workers, from the parameters."""
    found: dict[str, float] = {}
    for trial in records(data.trials.drop_duplicates("point_hash")):
        value = parse_json(trial.params).get("workers")
        with contextlib.suppress(ValueError):
            found[trial.point_hash] = float(str(value))
    return {point: workers for point, workers in found.items() if math.isfinite(workers) and workers > 0}


def _scaling(data: RunData, rows: list[Row], case: str, colour: Callable[[Row], int], salt: str) -> list[Plot]:
    workers = _workers(data)
    made = []
    for metric, y_name, log_y in ((CONCURRENT_METRIC, "requests/s", False), ("p99", "p99", True)):
        some = [row for row in rows if row.metric == metric and row.point_hash in workers and row.median.value > 0]
        if len({row.point_hash for row in some}) < 2:
            continue
        divisor, unit = numbers.scale_for(max(row.median.value for row in some), some[0].unit)
        lines: dict[str, plots.Line] = {}
        for row in sorted(some, key=lambda r: (r.aa_copy, r.arm != r.baseline, natural(r.arm), workers[r.point_hash])):
            if row.aa_copy:
                continue
            i = row.median.interval
            line = lines.setdefault(row.label, plots.Line(row.label, colour(row), []))
            line.points.append(
                (
                    workers[row.point_hash],
                    row.median.value / divisor,
                    None if i is None else i.low / divisor,
                    None if i is None else i.high / divisor,
                    [v / divisor for v in row.values if v > 0],
                )
            )
        label = y_name if metric == CONCURRENT_METRIC else f"{y_name}, {unit}"
        title = f"{some[0].suite} {case}: {'throughput' if metric == CONCURRENT_METRIC else 'p99'} by workers"
        svg = plots.scaling_plot(list(lines.values()), "workers", label, sanitize(title, 120), salt + metric, log_y)
        made.append(Plot(title, svg))
    return made


_HOW = (
    "Median over scored runs, each run one process; the interval of the median comes from order statistics and its exact "
    "coverage stands with it. Ratios are paired round by round with the baseline on this machine; their interval inverts "
    "the signed-rank test, and a verdict stands only where the sign test agrees."
)


def _suite_section(
    data: RunData, suite: str, own: list[Row], colour: Callable[[Row], int], merged: tables.Merged, functional: bool
) -> Section:
    section = Section(f"Results: {suite}", "")
    gone = 0

    def draw(groups: list[list[Row]], salt: str) -> None:
        """Only what is shown is drawn: a program may print any number of cases."""
        nonlocal gone
        room = max(0, MAX_PLOTS - len(section.plots))
        gone += max(0, len(groups) - room)
        for index, group in enumerate(groups[:room]):
            section.plots.append(_dots(group, colour, f"{salt} {index}"))

    sequential = [row for row in own if row.metric == SEQUENTIAL_METRIC]
    if sequential:
        section.tables.append(tables.sequential_table(suite, sequential, functional))
        draw(tables.split_cases(sequential), f"{suite} dots")
    cases, hidden = tables.concurrent_cases(own)
    for case in cases:
        some = [row for row in own if row.case == case and tables.is_known(row.metric)]
        errors = tables.error_totals(data, some[0].machine_id, suite, case)
        section.tables.append(tables.throughput_table(suite, case, some, errors, functional))
        section.tables.append(tables.latency_table(suite, case, some, merged, functional))
        if len(section.plots) < MAX_PLOTS:
            section.plots += _scaling(data, some, case, colour, f"{suite} {case} ")
        draw(tables.split_cases([row for row in some if row.metric == CONCURRENT_METRIC]), f"{suite} {case} dots")
    other = [row for row in own if not tables.is_known(row.metric)]
    if other:
        section.tables.append(tables.generic_table(suite, other, functional))
        draw(tables.split_cases(other), f"{suite} other")
    section.paragraphs += [Cell(text) for text in hidden]
    if gone:
        section.paragraphs.append(Cell(f"{gone} plots are left out; summary.csv has the numbers."))
    return section


def suite_order(rows: list[Row]) -> list[str]:
    """One request at a time first, then many at once, then what is neither."""
    kinds = {row.suite: 2 for row in rows}
    for row in rows:
        kind = {SEQUENTIAL_METRIC: 0, CONCURRENT_METRIC: 1}.get(row.metric, 2)
        kinds[row.suite] = min(kinds[row.suite], kind)
    return sorted(kinds, key=lambda suite: (kinds[suite], natural(suite)))


def _results_sections(data: RunData, rows: list[Row], merged: tables.Merged, functional: bool) -> list[Section]:
    if not rows:
        return [Section("Results", "results", [Cell("No scored trial has a result.", "bad")])]
    colour = _colours(rows)
    sections = [
        _suite_section(data, suite, [row for row in rows if row.suite == suite], colour, merged, functional)
        for suite in suite_order(rows)
    ]
    for index, section in enumerate(sections):
        section.anchor = f"results-{index + 1}"
    sections[0].paragraphs.insert(0, Cell(_HOW))
    return sections


def _time_plot(data: RunData, trials: pd.DataFrame, rows: list[Row]) -> Plot | None:
    if trials.empty:
        return None
    colour = _colours(rows) if rows else None
    by_label = {row.label: colour(row) for row in rows} if colour else {}
    s = data.samples
    usable = s[
        s["trial_id"].isin(trials["trial_id"])
        & s["better"].isin(["lower", "higher"])
        & ~s["metric"].isin(CONTEXT_METRICS | set(tables.LATENCIES))
        & (s["value"] > 0)
    ]
    keys = ["point_hash", "case", "metric", "arm", "aa_copy"]
    middle = usable[usable["scored"]].groupby(keys)["value"].median().rename("middle").reset_index()
    joined = usable.merge(middle, on=keys)
    off = (100 * (joined["value"] / joined["middle"] - 1)).groupby(joined["trial_id"]).median().to_dict()
    start = int(trials["started_ms"].min())
    shots = []
    for trial in records(trials):
        label = f"{trial.arm} (A/A copy)" if trial.aa_copy else trial.arm
        steal = trial.steal_percent
        failed = trial.verdict != "ok"
        if not failed and trial.trial_id not in off:
            continue
        shots.append(
            plots.Shot(
                (trial.started_ms - start) / 1000,
                None if failed else float(off[trial.trial_id]),
                None if steal is None or math.isnan(steal) else float(steal),
                trial.round <= 0,
                label,
                by_label.get(label, 7),
            )
        )
    if not shots:
        return None
    return Plot(
        "Trial order against time, with steal underneath",
        plots.time_plot(shots, data.schedule.max_steal_percent, "time"),
        "Each dot is a trial: its result against the median of its own runner and case.",
    )


def _ran_section(data: RunData, trials: pd.DataFrame, functional: bool) -> Section:
    section = Section("What ran", "ran")
    info = data.info
    plan = f"Plan {sanitize(info.get('plan_name', 'unknown'), 80)}, sha256 {sanitize(info.get('plan_sha256', 'unknown'), 64)}"
    section.paragraphs.append(Cell(f"{plan}."))
    seed = info.get("seed", data.schedule.seed)
    order = data.schedule.order or "not given in the plan"
    section.paragraphs.append(Cell(f"Order asked for: {sanitize(order, 20)}, seed {sanitize(seed, 24)}."))
    for table in (
        tables.bundle_table(data, functional),
        tables.runner_table(data, functional),
        tables.order_table(trials, functional),
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


def build(data: RunData, comparison: Comparison, machine: Any, folder: Path, redact: bool) -> Page:
    functional = not machine.isolated
    clean = scrub if redact else sanitize
    machine_id = int(machine.machine_id)
    trials = data.trials[data.trials["machine_id"] == machine_id]
    rows = [row for row in comparison.rows if row.machine_id == machine_id]
    before, hardened, after = _documents(machine)
    good, flagged, failed, warm = counts(trials, data.schedule.max_steal_percent)
    scored = trials.loc[trials["scored"], "round"].nunique()
    planned = f" of {data.schedule.rounds}" if data.schedule.rounds else ""
    merged = tables.merged_histograms(data, folder, comparison.notes)
    results = _results_sections(data, rows, merged, functional)
    results[0].paragraphs[:0] = [
        Cell(blocks.slots_note(told)) for machines, told in blocks.shared_slots(data) if machine_id in machines
    ]
    over_time = _time_plot(data, trials, rows)
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
        ],
        alarms=_alarms(data, comparison, machine, clean),
        sections=[
            _machine_section(machine, [before, hardened, after], functional),
            quietness,
            hardening.section(hardening.read(machine.hardening, clean), before, hardened, after, functional),
            _ran_section(data, trials, functional),
            *results,
            _checks_section(data, comparison),
        ],
    )

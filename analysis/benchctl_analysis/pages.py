"""One machine's report as values for the templates: sections 1 to 4 and 6 of the per-machine report, and its plots."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup

from benchctl_analysis import machine_facts, numbers, plots, stats, tables
from benchctl_analysis.compare import CONTEXT_METRICS, Comparison, Row, natural
from benchctl_analysis.load import EVIDENCE_ROUNDS, RunData, parse_json, records
from benchctl_analysis.tables import CONCURRENT_METRIC, SEQUENTIAL_METRIC, Cell, Table
from benchctl_analysis.text import sanitize, scrub

MAX_PLOTS = 40


@dataclass
class Plot:
    title: str
    svg: Markup
    note: str = ""


@dataclass
class Section:
    heading: str
    anchor: str
    paragraphs: list[Cell] = field(default_factory=list)  # kind "bad" prints red
    tables: list[Table] = field(default_factory=list)
    plots: list[Plot] = field(default_factory=list)


@dataclass
class Page:
    machine: str
    functional: bool
    run: str
    plan: str
    when: str
    summary: list[tuple[str, str]]
    alarms: list[str]
    sections: list[Section]


def counts(trials: pd.DataFrame, max_steal: float) -> tuple[int, int, int, int]:
    """Clean, flagged (steal above the plan's bound), failed, warm-up: of all attempts, each in one of them; traces and infos in none."""
    failed = trials["verdict"] != "ok"
    warm = (trials["round"] <= 0) & ~failed
    shown = warm & ~trials["round"].isin(EVIDENCE_ROUNDS)
    flagged = (trials["steal_percent"].fillna(0) > max_steal) & ~failed & ~warm
    return int((~failed & ~warm & ~flagged).sum()), int(flagged.sum()), int(failed.sum()), int(shown.sum())


def smallest_difference(comparison: Comparison, machine_id: int) -> str:
    aa = comparison.aa.get(machine_id)
    if aa is None or aa.largest_pairs == 0:
        return "unknown (no A/A pairs)"
    if aa.floor is None:
        return f"unknown ({aa.largest_pairs} A/A pairs)"
    return numbers.percent(aa.floor)


def _aa_paragraphs(comparison: Comparison, machine_id: int) -> list[Cell]:
    aa = comparison.aa.get(machine_id)
    if aa is None or aa.largest_pairs == 0:
        return [Cell("This run has no duplicate of the baseline, so nothing says what this machine can tell apart.")]
    out = []
    if aa.floor is None:
        seen = "" if aa.largest_difference is None else numbers.percent(aa.largest_difference)
        out.append(
            Cell(
                f"The smallest difference that this machine can tell apart is unknown: {aa.largest_pairs} pairs of baseline "
                f"and duplicate in a series, at least {stats.MIN_FLOOR_PAIRS} are needed. The largest difference seen between "
                f"two runs of identical code was {seen}; that is no bound."
            )
        )
    else:
        out.append(
            Cell(
                f"The smallest difference that this machine can tell apart in this run is {numbers.percent(aa.floor)} (95th "
                "percentile of the difference between identical runs)."
            )
        )
    if aa.check.p is None:
        out.append(Cell(f"The A/A check needs {stats.MIN_ROUNDS} rounds; this run has {aa.check.pairs}."))
    elif aa.check.failed:
        out.append(
            Cell(
                f"The A/A check failed (p = {aa.check.p:.2g}): the baseline and its duplicate differ, although they are the "
                "same program. No verdict of this machine stands; run it again.",
                "bad",
            )
        )
    else:
        out.append(Cell(f"The A/A check passed: one test over {aa.check.series} series, p = {aa.check.p:.2g}."))
    bounds = stats.rate_bounds(aa.called_different, aa.called)
    if bounds is not None:
        out.append(
            Cell(
                f"{aa.called_different} of {aa.called} A/A comparisons were called different: a false-alarm rate between "
                f"{numbers.percent(bounds.low)} and {numbers.percent(bounds.high)} (95 % bounds, as if they were independent)."
            )
        )
    effect = comparison.position.get(machine_id)
    if effect is not None:
        word = "An effect of position shows" if effect.p <= stats.ALPHA else "No effect of position shows"
        out.append(
            Cell(
                f"{word}: the first of a group differs from the others by {numbers.percent(effect.difference, 2)} (p = "
                f"{effect.p:.2g} over {effect.rounds} rounds).",
                "bad" if effect.p <= stats.ALPHA else "",
            )
        )
    return out


def _machine_section(machine: Any, before: dict[str, Any], after: dict[str, Any], functional: bool) -> Section:
    section = Section("What this machine is", "machine")
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
    changed = machine_facts.changed(before, after)
    if changed:
        section.tables.append(
            Table(
                "Facts that changed during the run",
                [("Fact", "l"), ("Before", "l"), ("After", "l")],
                [tables.cells(*row) for row in changed],
                functional,
            )
        )
    elif before and after:
        section.paragraphs.append(Cell("No watched fact changed between before and after the run."))
    elif before:
        section.paragraphs.append(Cell("There are no facts from after the run, so a change could not be seen."))
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
    for case in dict.fromkeys(row.case for row in own if row.metric == CONCURRENT_METRIC):
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


def _quiet_section(
    data: RunData,
    comparison: Comparison,
    trials: pd.DataFrame,
    machine_id: int,
    functional: bool,
    reason_text: Callable[[object], str],
) -> Section:
    section = Section("How quiet it was", "quiet")
    if functional:
        section.paragraphs.append(Cell("Functional: this machine shared its host, so its grade is n/a (shared host)."))
    section.paragraphs += _aa_paragraphs(comparison, machine_id)
    limit = data.schedule.max_steal_percent
    steal = tables.steal_table(trials, limit, functional)
    measured = int(trials["steal_percent"].notna().sum())
    if steal is not None:
        section.tables.append(steal)
    elif measured:
        section.paragraphs.append(Cell(f"No steal in any of the {measured} trials where it could be measured."))
    unmeasured = trials[trials["steal_percent"].isna()]
    if not unmeasured.empty:
        notes = [reason_text(n) for n in unmeasured["steal_note"].unique()[:4] if n]
        section.paragraphs.append(
            Cell(
                f"Steal was not measured in {len(unmeasured)} of {len(trials)} trials"
                + (f": {'; '.join(notes)}." if notes else ".")
            )
        )
    left = tables.left_out_table(trials, reason_text, functional)
    if left is not None:
        section.tables.append(left)
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


def build(data: RunData, comparison: Comparison, machine: Any, folder: Path, redact: bool) -> Page:
    functional = not machine.isolated
    reason_text = scrub if redact else sanitize
    machine_id = int(machine.machine_id)
    trials = data.trials[data.trials["machine_id"] == machine_id]
    rows = [row for row in comparison.rows if row.machine_id == machine_id]
    before, after = parse_json(machine.facts_before), parse_json(machine.facts_after)
    clean, flagged, failed, warm = counts(trials, data.schedule.max_steal_percent)
    rounds = trials.loc[trials["scored"], "round"].nunique()
    planned = f" of {data.schedule.rounds}" if data.schedule.rounds else ""
    alarms = [f"Refused: {refusal.text}." for refusal in comparison.refusals]
    aa = comparison.aa.get(machine_id)
    if aa is not None and aa.check.failed:
        alarms.append("The A/A check of this machine failed: no verdict stands.")
    if machine.reason:
        alarms.append(f"Machine: {reason_text(machine.reason)}")
    merged = tables.merged_histograms(data, folder, comparison.notes)
    results = _results_sections(data, rows, merged, functional)
    over_time = _time_plot(data, trials, rows)
    quiet = _quiet_section(data, comparison, trials, machine_id, functional, reason_text)
    if over_time is not None:
        quiet.plots.append(over_time)
    return Page(
        machine=sanitize(machine.machine, 80),
        functional=functional,
        run=sanitize(data.run, 80),
        plan=sanitize(data.info.get("plan_name", ""), 80),
        when=numbers.utc(data.info.get("created_ms")),
        summary=[
            ("CPU", machine_facts.cpu_name(before)),
            ("Scored rounds", f"{rounds}{planned}"),
            ("Trials", f"{clean} clean, {flagged} flagged, {failed} failed, {warm} warm-up"),
            ("Smallest difference it can tell apart", smallest_difference(comparison, machine_id)),
            ("Checks", "disagree" if comparison.refusals else "agree"),
        ],
        alarms=alarms,
        sections=[
            _machine_section(machine, before, after, functional),
            quiet,
            _ran_section(data, trials, functional),
            *results,
            _checks_section(data, comparison),
        ],
    )

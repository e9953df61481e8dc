"""Sections "Results: SUITE" of a machine's report, and the plot of its trials over time."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable

import pandas as pd

from benchctl_analysis import caveats, numbers, plots, side_by_side, tables
from benchctl_analysis.caveats import Clean
from benchctl_analysis.compare import CONTEXT_METRICS, Row, natural
from benchctl_analysis.latency import Histograms, tail
from benchctl_analysis.load import RunData, parse_json, records
from benchctl_analysis.parts import Cell, Plot, Section
from benchctl_analysis.tables import CONCURRENT_METRIC, SEQUENTIAL_METRIC
from benchctl_analysis.text import sanitize

MAX_PLOTS = 40
MAX_TAILS = 6  # points of a case whose latencies are drawn


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


def _tails(rows: list[Row], case: str, found: Histograms, colour: Callable[[Row], int], salt: str) -> list[Plot]:
    """A plot a point, of the runners that left histograms there."""
    points: dict[str, list[Row]] = {}
    for row in rows:
        if row.metric == CONCURRENT_METRIC and not row.aa_copy:
            points.setdefault(row.point, []).append(row)
    made = []
    for place, (point, group) in enumerate(list(points.items())[:MAX_TAILS]):
        drawn = [(row, tail(found.of(row))) for row in group]
        lines = [plots.Tail(row.label, colour(row), curve) for row, curve in drawn if curve]
        if lines:
            where = " ".join(filter(None, (tables.short_point(point, case), case)))
            title = f"{group[0].suite} {where}: share of requests that took longer"
            svg = plots.tail_plot(lines, sanitize(title, 120), f"{salt} {place}")
            made.append(Plot(title, svg, "All requests of all scored runs. Read p99 where a line crosses 1 %."))
    return made


_HOW = (
    "Median over scored runs, each run one process; the interval of the median comes from order statistics and its exact "
    "coverage stands with it. Ratios are paired round by round with the baseline on this machine; their interval inverts "
    "the signed-rank test, and a verdict stands only where the sign test agrees."
)


def _suite_section(
    data: RunData,
    suite: str,
    own: list[Row],
    colour: Callable[[Row], int],
    found: Histograms,
    functional: bool,
    clean: Clean,
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
        section.tables.append(tables.latency_table(suite, case, some, found, functional))
        if len(section.plots) < MAX_PLOTS:
            section.plots += _scaling(data, some, case, colour, f"{suite} {case} ")
            section.plots += _tails(some, case, found, colour, f"{suite} {case} tail")
        draw(tables.split_cases([row for row in some if row.metric == CONCURRENT_METRIC]), f"{suite} {case} dots")
    other = [row for row in own if not tables.is_known(row.metric)]
    if other:
        section.tables.append(tables.generic_table(suite, other, functional))
        draw(tables.split_cases(other), f"{suite} other")
    beside = side_by_side.table(data, suite, own, functional)
    if beside is not None:
        section.tables.append(beside)
    limits = caveats.limits_table(data, suite, functional)
    if limits is not None:
        section.tables.append(limits)
    if section.tables:
        section.tables[0].notes += caveats.left_out_notes(data, suite, clean, own[0].machine_id)
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


def sections(data: RunData, rows: list[Row], found: Histograms, functional: bool, clean: Clean) -> list[Section]:
    if not rows:
        return [Section("Results", "results", [Cell("No scored trial has a result.", "bad")])]
    colour = _colours(rows)
    made = [
        _suite_section(data, suite, [row for row in rows if row.suite == suite], colour, found, functional, clean)
        for suite in suite_order(rows)
    ]
    for index, section in enumerate(made):
        section.anchor = f"results-{index + 1}"
    made[0].paragraphs.insert(0, Cell(_HOW))
    return made


def time_plot(data: RunData, trials: pd.DataFrame, rows: list[Row]) -> Plot | None:
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

"""Tables as values, printed alike by the Markdown and the HTML templates; texts are still raw and escaped there."""

from __future__ import annotations

from collections.abc import Sequence

from benchctl_analysis import numbers
from benchctl_analysis.compare import Row
from benchctl_analysis.latency import NO_HISTOGRAM, Histograms
from benchctl_analysis.load import RunData
from benchctl_analysis.parts import Cell, Table

MAX_TABLE_ROWS = 600  # of one table
MAX_CASES = 30  # of a suite with tables of their own
LATENCIES = ("p50", "p95", "p99", "max")
SEQUENTIAL_METRIC, CONCURRENT_METRIC = "per_item", "requests_per_second"
_KNOWN = frozenset({SEQUENTIAL_METRIC, CONCURRENT_METRIC, *LATENCIES, "total", "requests", "errors"})


def ratio_cell(row: Row) -> Cell:
    if row.is_baseline:
        return Cell("baseline", "soft")
    if row.ratio is None:
        return Cell(row.no_ratio or "", "bad" if row.no_ratio.startswith("refused") else "soft")
    text = numbers.ratio_text(row.ratio, row.better, row.unit, row.margin)
    word = numbers.direction(row.ratio.verdict, row.better, row.unit)
    kind = {"faster": "good", "better": "good", "slower": "bad", "worse": "bad"}.get(word, "soft")
    return Cell(text, "soft" if row.aa_copy else kind)


def short_point(point: str, case: str) -> str:
    """The point without what its case says again: "workers=2,workload=mixed" of app_request/mixed is "workers=2"."""
    last = case.rsplit("/", 1)[-1]
    return ",".join(part for part in point.split(",") if part.partition("=")[2] != last)


def row_name(row: Row) -> str:
    return " ".join(filter(None, (short_point(row.point, row.case), row.case)))


def n_cell(row: Row) -> Cell:
    return Cell(f"{row.median.n}" + (f" ({row.left_out} left out)" if row.left_out else ""))


def median_cell(row: Row, like: float | None = None) -> Cell:
    return Cell(numbers.quantity(row.median.value, row.unit, like), "strong")


def interval_heading(rows: Sequence[Row]) -> str:
    """The coverage stands in the heading where all rows have the same, else in each row."""
    covers = {numbers.coverage_text(row.median) for row in rows}
    return f"{covers.pop()} interval" if len(covers) == 1 and "none" not in covers else "Interval (coverage)"


def interval_cell(row: Row, heading: str, like: float | None = None) -> Cell:
    interval = row.median.interval
    text = numbers.interval_text(interval, row.unit, row.median.value if like is None else like)
    each = interval is not None and heading.startswith("Interval")
    return Cell(f"{text} ({numbers.coverage_text(row.median)})" if each else text)


def range_cell(row: Row, like: float | None = None) -> Cell:
    divisor, unit = numbers.scale_for(row.median.value if like is None else like, row.unit)
    low, high = numbers.digits(row.median.minimum / divisor), numbers.digits(row.median.maximum / divisor)
    return Cell(f"{low} to {high} {unit}".rstrip())


def _named(places: Sequence[str]) -> str:
    """The first three of them, and how many more."""
    unique = list(dict.fromkeys(places))
    return "; ".join(unique[:3]) + (f" and {len(unique) - 3} more" if len(unique) > 3 else "")


def reasons(rows: Sequence[Row]) -> list[str]:
    """Why a ratio has no verdict or an inconclusive one, each reason once."""
    found: dict[str, list[str]] = {}
    for row in rows:
        if row.ratio is not None and row.ratio.reason and not row.aa_copy:
            where = f"{row_name(row)} {row.arm}"
            found.setdefault(row.ratio.reason, []).append(where)
    lines = []
    for reason, places in found.items():
        verdict = "No verdict" if "needed" in reason else "Inconclusive"
        lines.append(f"{verdict}: {reason} ({_named(places)}).")
    return lines


def coverage_note(rows: Sequence[Row]) -> list[str]:
    if any(0 < row.median.n < 6 for row in rows):
        return ["Fewer than 6 runs: the interval is minimum to maximum, with the coverage that it really has."]
    return []


LEFT_OUT = "With left out"


def _with_left_out(table: Table, rows: Sequence[Row], likes: Sequence[float]) -> None:
    """A last column with the medians and ratios as they would be had nothing been left out; none where nothing was."""
    if all(row.median_with_left_out is None for row in rows):
        return
    table.columns.append((LEFT_OUT, "l"))
    table.notes.append(
        "With left out: the same median and ratio over all good attempts, those of repeated rounds too. Red where one lies "
        "outside its interval: the exclusions matter, and a verdict becomes inconclusive."
    )
    for row, line, like in zip(rows, table.rows, likes, strict=True):
        line.append(left_out_cell(row, like))


def left_out_cell(row: Row, like: float | None = None) -> Cell:
    if row.median_with_left_out is None:
        return Cell("the same", "soft wrap")
    text = numbers.quantity(row.median_with_left_out, row.unit, like)
    kept, interval = row.ratio_with_left_out, row.median.interval
    outside = interval is not None and not interval.low <= row.median_with_left_out <= interval.high
    if kept is not None and row.ratio is not None:
        turned = row.ratio.verdict in ("higher", "lower") and row.ratio.estimate < 1  # as ratio_text prints it
        text += f", {numbers.factor(1 / kept.estimate if turned else kept.estimate)}"
        bounds = row.ratio.interval
        outside = outside or (bounds is not None and not bounds.low <= kept.estimate <= bounds.high)
    return Cell(text, "bad wrap" if outside else "wrap")


def split_cases(rows: Sequence[Row]) -> list[list[Row]]:
    """Rows of one point and case together, in order."""
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.point, row.case, row.metric), []).append(row)
    return list(groups.values())


def capped(groups: list[list[Row]]) -> tuple[list[list[Row]], list[str]]:
    """What a page can hold: a program may print any number of cases."""
    room = MAX_TABLE_ROWS
    for count, group in enumerate(groups):
        room -= len(group)
        if room < 0 and count:
            return groups[:count], [
                f"{len(groups) - count:,} of {len(groups):,} cases are left out; summary.csv has all."
            ]
    return groups, []


def concurrent_cases(rows: Sequence[Row]) -> tuple[list[str], list[str]]:
    """The cases that get tables of their own, and what to say of the others."""
    cases = list(dict.fromkeys(row.case for row in rows if row.metric == CONCURRENT_METRIC))
    more = len(cases) - MAX_CASES
    return cases[:MAX_CASES], [
        f"{more:,} of {len(cases):,} cases are left out; summary.csv has all."
    ] if more > 0 else []


def sequential_table(suite: str, rows: Sequence[Row], functional: bool) -> Table:
    heading = interval_heading(rows)
    columns = [("Case", "l"), ("Runner", "l"), ("Median", "r"), (heading, "r"), ("Min to max", "r"), ("n", "r")]
    columns += [("Ratio to baseline", "l"), ("Requests/s", "r")]
    table = Table(f"{suite}: time per request", columns, [], functional, coverage_note(rows) + reasons(rows))
    groups, hidden = capped(split_cases(rows))
    for group in groups:
        like = group[0].median.value
        for place, row in enumerate(group):
            name = row_name(row)
            rate = numbers.digits(1e6 / row.median.value) if row.median.value > 1e-300 else "none"
            table.rows.append(
                [
                    Cell(name if place == 0 else ""),
                    Cell(row.label, "soft" if row.aa_copy else ""),
                    median_cell(row, like),
                    interval_cell(row, heading, like),
                    range_cell(row, like),
                    n_cell(row),
                    ratio_cell(row),
                    Cell(rate),
                ]
            )
    shown = [row for group in groups for row in group]
    _with_left_out(table, shown, [group[0].median.value for group in groups for _ in group])
    table.notes += hidden
    return table


def generic_table(suite: str, rows: Sequence[Row], functional: bool) -> Table:
    heading = interval_heading(rows)
    columns = [("Case", "l"), ("Metric", "l"), ("Runner", "l"), ("Median", "r"), (heading, "r"), ("Min to max", "r")]
    columns += [("n", "r"), ("Ratio to baseline", "l")]
    table = Table(f"{suite}: measured values", columns, [], functional, coverage_note(rows) + reasons(rows))
    groups, hidden = capped(split_cases(rows))
    for group in groups:
        like = group[0].median.value
        for place, row in enumerate(group):
            name = row_name(row)
            table.rows.append(
                [
                    Cell(name if place == 0 else ""),
                    Cell(row.metric if place == 0 else ""),
                    Cell(row.label, "soft" if row.aa_copy else ""),
                    median_cell(row, like),
                    interval_cell(row, heading, like),
                    range_cell(row, like),
                    n_cell(row),
                    ratio_cell(row),
                ]
            )
    shown = [row for group in groups for row in group]
    _with_left_out(table, shown, [group[0].median.value for group in groups for _ in group])
    table.notes += hidden
    return table


def by_point(rows: Sequence[Row]) -> dict[tuple[str, str, bool], dict[str, Row]]:
    found: dict[tuple[str, str, bool], dict[str, Row]] = {}
    for row in rows:
        found.setdefault((row.point, row.arm, row.aa_copy), {})[row.metric] = row
    return {key: metrics for key, metrics in found.items() if CONCURRENT_METRIC in metrics}


def workers_of(point: str) -> tuple[int | None, str]:
    """ "workers=4,workload=read" -> (4, "workload=read")."""
    parts = point.split(",")
    for place, part in enumerate(parts):
        name, _, value = part.partition("=")
        if name == "workers" and value.isascii() and value.isdigit() and len(value) < 9:
            return int(value), ",".join(parts[:place] + parts[place + 1 :])
    return None, point


def scaling(points: dict[tuple[str, str, bool], dict[str, Row]]) -> dict[tuple[str, str, bool], str]:
    """Throughput relative to the runner's own with one worker, where there are points of both."""
    alone = {}
    for (point, arm, copy), metrics in points.items():
        workers, rest = workers_of(point)
        if workers == 1 and metrics[CONCURRENT_METRIC].median.value > 0:
            alone[rest, arm, copy] = metrics[CONCURRENT_METRIC].median.value
    found = {}
    for (point, arm, copy), metrics in points.items():
        workers, rest = workers_of(point)
        if workers is not None and workers > 1 and (rest, arm, copy) in alone:
            found[point, arm, copy] = numbers.factor(metrics[CONCURRENT_METRIC].median.value / alone[rest, arm, copy])
    return found


def throughput_table(
    suite: str, case: str, rows: Sequence[Row], errors: dict[tuple[str, str, bool], str], functional: bool
) -> Table:
    """Requests a second of one case; `errors` by (point, arm, copy)."""
    rates = [row for row in rows if row.metric == CONCURRENT_METRIC]
    heading = interval_heading(rates)
    columns = [("Point", "l"), ("Runner", "l"), ("Median", "r"), (heading, "r"), ("Min to max", "r"), ("n", "r")]
    columns += [("Ratio to baseline", "l"), ("Errors", "r")]
    table = Table(f"{suite}, {case}: throughput", columns, [], functional, coverage_note(rates) + reasons(rates))
    points = by_point(rows)
    scaled = scaling(points)
    if scaled:
        columns.insert(7, ("To 1 worker", "r"))
        table.notes.append(
            "To 1 worker: the runner's own median here over its median with one worker; 2.00x at 2 workers is perfect scaling."
        )
    last = ""
    for key, metrics in points.items():
        rate = metrics[CONCURRENT_METRIC]
        table.rows.append(
            [
                Cell(short_point(key[0], case) if key[0] != last else ""),
                Cell(rate.label, "soft" if rate.aa_copy else ""),
                median_cell(rate),
                interval_cell(rate, heading),
                range_cell(rate),
                n_cell(rate),
                ratio_cell(rate),
                *([Cell(scaled.get(key, ""), "soft" if rate.aa_copy else "")] if scaled else []),
                Cell(errors.get(key, "not measured")),
            ]
        )
        last = key[0]
    shown = [metrics[CONCURRENT_METRIC] for metrics in points.values()]
    _with_left_out(table, shown, [row.median.value for row in shown])
    return table


_CLOSED_LOOP = (
    "Closed loop: a worker sends its next request when the last one is answered, so stalls are seen less often than users "
    "would see them."
)
_OPEN_LOOP = (
    "Open loop: requests come due at a fixed rate, and each is timed from when it was due, so that a stall is seen by every "
    "request that came due in it."
)
_PERCENTILES = "Each percentile is the median over the runs, then the spread from the lowest to the highest run."


def is_open_loop(case: str) -> bool:
    """By the name, as workloads/CONTRACT.md has it."""
    return case.rsplit("/", 1)[-1].startswith("open_")


def latency_table(suite: str, case: str, rows: Sequence[Row], found: Histograms, functional: bool) -> Table:
    columns = [("Point", "l"), ("Runner", "l"), *((name, "r") for name in LATENCIES), ("p99 to baseline", "l")]
    tails = [row for row in rows if row.metric == "p99"]
    points = by_point(rows)
    of_merged = {key: found.quantile(metrics[CONCURRENT_METRIC], 0.99) for key, metrics in points.items()}
    with_merged = any(text != NO_HISTOGRAM for text in of_merged.values())
    notes = [f"{_OPEN_LOOP if is_open_loop(case) else _CLOSED_LOOP} {_PERCENTILES}"]
    if with_merged:
        columns.insert(6, ("p99, merged", "r"))
        refusals: dict[str, list[str]] = {}
        for (point, arm, copy), text in of_merged.items():
            if text.startswith("refused"):  # too long for a cell
                of_merged[point, arm, copy] = "refused"
                place = " ".join(filter(None, (short_point(point, case), arm, "(A/A copy)" if copy else "")))
                refusals.setdefault(text, []).append(place)
        notes += [f"p99, merged, {text} ({_named(places)})." for text, places in refusals.items()]
    else:
        notes.append(
            "The runs left no histograms, so no percentile over all of them is given: percentiles are not averaged."
        )
    table = Table(f"{suite}, {case}: latency", columns, [], functional, [*notes, *reasons(tails)])
    last = ""
    for key, metrics in points.items():
        rate = metrics[CONCURRENT_METRIC]
        table.rows.append(
            [
                Cell(short_point(key[0], case) if key[0] != last else ""),
                Cell(rate.label, "soft" if rate.aa_copy else ""),
                *(Cell(spread(metrics[n])) if n in metrics else Cell("not measured", "soft") for n in LATENCIES),
                *([Cell(of_merged[key])] if with_merged else []),
                ratio_cell(metrics["p99"]) if "p99" in metrics else Cell(""),
            ]
        )
        last = key[0]
    shown = [metrics.get("p99", metrics[CONCURRENT_METRIC]) for metrics in points.values()]
    if all(row.metric == "p99" for row in shown):
        _with_left_out(table, shown, [row.median.value for row in shown])
    return table


def spread(row: Row) -> str:
    m = row.median
    divisor, unit = numbers.scale_for(m.value, row.unit)
    return (
        f"{numbers.digits(m.value / divisor)} {unit} "
        f"({numbers.digits(m.minimum / divisor)} to {numbers.digits(m.maximum / divisor)})"
    )


def error_totals(data: RunData, machine_id: int, suite: str, case: str) -> dict[tuple[str, str, bool], str]:
    some = data.samples
    some = some[
        (some["machine_id"] == machine_id)
        & (some["suite"] == suite)
        & (some["case"] == case)
        & (some["metric"] == "errors")
        & some["scored"]
    ]
    totals = {}
    for (point, arm, copy), group in some.groupby(["point", "arm", "aa_copy"]):
        missing = int(group["value"].isna().sum())
        text = f"{group['value'].sum():,.0f}" if missing < len(group) else "not measured"
        totals[(str(point), str(arm), bool(copy))] = text
    return totals


def is_known(metric: str) -> bool:
    return metric in _KNOWN

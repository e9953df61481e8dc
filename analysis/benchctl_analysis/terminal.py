"""The summary for the person who waits at the terminal: under 60 lines for a usual run, and it fits the width."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchctl_analysis import numbers
from benchctl_analysis.compare import Comparison, Row
from benchctl_analysis.parts import plural
from benchctl_analysis.results import suite_order
from benchctl_analysis.tables import (
    CONCURRENT_METRIC,
    SEQUENTIAL_METRIC,
    interval_heading,
    is_known,
    ratio_cell,
    short_point,
)
from benchctl_analysis.text import fit, sanitize, width

MAX_LINES = 58
MAX_ROWS = 200  # of a suite that are laid out at all
_RED, _BOLD, _PLAIN = "\x1b[31m", "\x1b[1m", "\x1b[0m"


@dataclass(frozen=True)
class MachineLine:
    machine_id: int
    name: str
    cpu: str
    functional: bool
    quiet: str  # grade, n/a or quarantined
    clean: int
    flagged: int
    failed: int
    warm_up: int
    smallest: str
    report: str  # path of the HTML report, relative to the run's folder


def _widths(rows: Sequence[Sequence[str]]) -> list[int]:
    return [max(width(row[i]) for row in rows) for i in range(len(rows[0]))]


def _total(widths: Sequence[int]) -> int:
    """Of a line, with two cells between its columns."""
    return sum(widths) + 2 * (len(widths) - 1)


def grid(rows: Sequence[Sequence[str]], columns: int, right: Sequence[int] = (), grow: int = 0) -> list[str]:
    """Aligned lines of at most `columns` cells; column `grow` gives way first, and may then be cut with an ellipsis."""
    if not rows:
        return []
    widths = _widths(rows)
    over = _total(widths) - columns
    for place in (grow, *sorted(range(len(widths)), key=lambda i: -widths[i])):
        if over <= 0:
            break
        cut = min(over, max(widths[place] - 8, 0))
        widths[place] -= cut
        over -= cut
    return [
        fit("  ".join(fit(cell, widths[i], i in right) for i, cell in enumerate(row)), columns).rstrip() for row in rows
    ]


def primary_rows(rows: Sequence[Row]) -> list[Row]:
    """What a terminal shows: time per request, throughput, or a generic metric that has a better side."""
    return [
        row
        for row in rows
        if not row.aa_copy
        and (
            row.metric in (SEQUENTIAL_METRIC, CONCURRENT_METRIC) or (not is_known(row.metric) and row.better != "none")
        )
    ]


def _name(row: Row) -> str:
    generic = "" if is_known(row.metric) else row.metric
    return " ".join(
        sanitize(part, 60)
        for part in (short_point(row.point, row.case), row.case.removeprefix("app_request/"), generic)
        if part
    )


def _ratio(row: Row) -> str:
    """Why there is none stands in the report: here it would take the room of the cases' names."""
    text = ratio_cell(row).text
    return "no ratio" if text.startswith("no ratio") else text


def _interval(row: Row) -> str:
    """In the unit of the median, which stands beside it."""
    if row.median.interval is None:
        return "none (n = 1)"
    divisor, _ = numbers.scale_for(row.median.value, row.unit)
    low, high = row.median.interval.low / divisor, row.median.interval.high / divisor
    return f"{numbers.digits(low)} to {numbers.digits(high)}"


def _interval_heading(rows: Sequence[Row]) -> str:
    heading = interval_heading(rows)
    return "interval" if heading.startswith("Interval") else heading


def _full(rows: list[Row], columns: int) -> list[str]:
    out = [["case", "runner", "median", _interval_heading(rows), "ratio to baseline", "n"]]
    last = ""
    for row in rows:
        name = _name(row)
        interval = _interval(row)
        shown = "" if name == last else name
        value = numbers.quantity(row.median.value, row.unit)
        out.append([shown, sanitize(row.label, 40), value, interval, _ratio(row), str(row.median.n)])
        last = name
    if _total(_widths(out)) > columns:
        return _stacked(rows, columns)
    return grid(out, columns, right=(2, 5))


def _stacked(rows: list[Row], columns: int) -> list[str]:
    """Where the columns are too few: the case on a line of its own, its runners below. Of a ratio the end gives way, its
    interval: names that are cut may not be told apart."""
    lines: list[str] = []
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(_name(row), []).append(row)
    body = [
        [
            f"  {sanitize(row.label, 40)}",
            numbers.quantity(row.median.value, row.unit),
            _interval(row),
            _ratio(row),
            str(row.median.n),
        ]
        for group in groups.values()
        for row in group
    ]
    aligned = iter(
        grid(
            [["  runner", "median", _interval_heading(rows), "ratio to baseline", "n"], *body],
            columns,
            right=(1, 4),
            grow=3,
        )
    )
    lines.append(next(aligned))
    for name, group in groups.items():
        lines.append(fit(name, columns).rstrip())
        lines.extend(next(aligned) for _ in group)
    return lines


def _dense(rows: list[Row], columns: int) -> list[str]:
    """One line a candidate, its baseline's median beside it; the medians' intervals are in the report."""
    candidates = {row.arm for row in rows if not row.is_baseline}
    if not candidates:
        return _full(rows, columns)
    heading = ["case", "runner", "median", "baseline", "ratio to baseline", "n"]
    base = {(row.point_hash, row.case, row.metric): row for row in rows if row.is_baseline}
    out = [heading]
    for row in rows:
        if row.is_baseline:
            continue
        own = base.get((row.point_hash, row.case, row.metric))
        value = numbers.quantity(row.median.value, row.unit)
        theirs = "" if own is None else numbers.quantity(own.median.value, own.unit)
        out.append([_name(row), sanitize(row.label, 40), value, theirs, _ratio(row), str(row.median.n)])
    if len(candidates) == 1:  # its name stands above the table then
        return grid([[line[0], *line[2:]] for line in out], columns, right=(1, 2, 4), grow=3)
    return grid(out, columns, right=(2, 3, 5), grow=4)


def _heading(machine: MachineLine, suite: str, rows: list[Row], style: str) -> str:
    word = ", functional" if machine.functional else ""
    text = f"{sanitize(suite, 60)} on {sanitize(machine.name, 60)}{word}"
    candidates = {row.arm for row in rows if not row.is_baseline}
    if style == "dense" and len(candidates) == 1:
        text += f": {sanitize(candidates.pop(), 40)} against {sanitize(rows[0].baseline, 40)}"
    return text


def _results(machines: Sequence[MachineLine], rows: Sequence[Row], columns: int, style: str) -> tuple[list[str], int]:
    """The lines, and how many rows were not even laid out: a program may print any number of cases."""
    lines: list[str] = []
    hidden = 0
    for machine in machines:
        own = primary_rows([row for row in rows if row.machine_id == machine.machine_id])
        for suite in suite_order(own):
            every = [row for row in own if row.suite == suite]
            some = every[:MAX_ROWS]
            hidden += len(every) - len(some)
            lines += ["", fit(_heading(machine, suite, some, style), columns).rstrip()]
            lines += {"full": _full, "stacked": _stacked, "dense": _dense}[style](some, columns)
    return lines, hidden


def render(
    title: str,
    machines: Sequence[MachineLine],
    comparison: Comparison,
    quarantines: Sequence[str],
    troubles: Sequence[str],
    reports: Sequence[str],
    columns: int,
    colour: bool,
    claims: Sequence[str] = (),
) -> str:
    columns = min(max(columns, 40), 200)
    head = [fit(title, columns).rstrip()]
    table = [["machine", "CPU", "quiet", "clean", "flagged", "failed", "tells apart"]]
    for m in machines:
        name = sanitize(m.name, 40) + (" (functional)" if m.functional else "")
        quiet = m.quiet.partition(" ")[0]  # "n/a" of "n/a (shared host)": functional says why
        table.append([name, sanitize(m.cpu, 60), quiet, str(m.clean), str(m.flagged), str(m.failed), m.smallest])
    if machines:
        head += grid(table, columns, right=(3, 4, 5), grow=1)
    bad = [line for text in quarantines[:4] for line in wrap(f"QUARANTINED  {sanitize(text)}", columns)]
    if len(quarantines) > 4:
        bad.append(f"and {len(quarantines) - 4} more quarantined machines, in the reports")
    refused = [f"REFUSED  {sanitize(refusal.text)}" for refusal in comparison.refusals]
    bad += [line for text in refused[:6] for line in wrap(text, columns)]
    if len(refused) > 6:
        bad.append(f"and {len(refused) - 6} more refusals, in the report")
    tail = list(claims) + ([""] if claims and troubles else [])
    tail += [line for text in troubles[:8] for line in wrap(sanitize(text), columns)]
    if len(troubles) > 8:
        tail.append(f"and {len(troubles) - 8} more, in the report")
    tail += ["", *(line for report in reports[:4] for line in wrap(f"report: {sanitize(report)}", columns))]
    if len(reports) > 4:
        tail.append(f"and {len(reports) - 4} more beside them")
    fixed = len(head) + len(bad) + len(tail) + 2
    wide = columns >= 100
    results: list[str] = []
    hidden = 0
    for style in ("full" if wide else "stacked", "dense"):
        results, hidden = _results(machines, comparison.rows, columns, style)
        if fixed + len(results) + hidden <= MAX_LINES:
            break
    room = max(MAX_LINES - fixed, 8)
    if len(results) + hidden > room:
        kept = results[: room - 1]
        rest = plural(len(results) + hidden - len(kept), "more line")
        results = [*kept, f"and {rest}, in summary.{'csv' if hidden else 'md'}"]
    if colour:
        head[0] = f"{_BOLD}{head[0]}{_PLAIN}"
        bad = [f"{_RED}{line}{_PLAIN}" for line in bad]
    gap = [""] if bad else []
    return "\n".join([*head, *gap, *bad, *results, *([""] if troubles and not claims else []), *tail]) + "\n"


def wrap(text: str, columns: int) -> list[str]:
    """Words on lines of at most `columns` cells; later lines are indented, longer words are cut."""
    lines: list[str] = []
    line = ""
    for word in text.split(" "):
        while width(word) > columns - 2:
            if line.strip():
                lines.append(line.rstrip())
            lines.append("  " + word[: columns - 2])
            word, line = word[columns - 2 :], "  "
        if line.strip() and width(line) + width(word) > columns:
            lines.append(line.rstrip())
            line = "  "
        line += word + " "
    return [*lines, line.rstrip()] if line.strip() else lines

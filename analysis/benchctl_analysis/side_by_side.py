"""Cases that are two ways to do one thing, in one table: all writers at once beside one owning connection."""

from __future__ import annotations

from collections.abc import Sequence

from benchctl_analysis import caveats, numbers, tables
from benchctl_analysis.compare import Row
from benchctl_analysis.load import RunData
from benchctl_analysis.parts import Cell, Table
from benchctl_analysis.tables import CONCURRENT_METRIC

Key = tuple[str, str, bool]
SHOWN = (("p99", "p99"), ("max", "max"))


def _named(rows: Sequence[Row], name: str) -> dict[Key, dict[str, Row]]:
    """The rows of the case whose last part is `name`, by the point without that name, arm and copy."""
    own = [row for row in rows if row.case.rsplit("/", 1)[-1] == name]
    points = tables.by_point(own)
    return {(tables.short_point(point, name), arm, copy): metrics for (point, arm, copy), metrics in points.items()}


def _cells(metrics: dict[str, Row] | None, errors: str) -> list[Cell]:
    if metrics is None:
        return [Cell("not run", "soft") for _ in range(2 + len(SHOWN))]
    rate = metrics[CONCURRENT_METRIC]
    made = [tables.median_cell(rate)]
    for metric, _ in SHOWN:
        row = metrics.get(metric)
        made.append(Cell("not measured", "soft") if row is None else Cell(numbers.quantity(row.median.value, row.unit)))
    return [*made, Cell(errors)]


def table(data: RunData, suite: str, rows: Sequence[Row], functional: bool) -> Table | None:
    """None where the workload's mode names no such cases, or fewer than two of them were run."""
    known, mode = caveats.of_suite(data, suite)
    names = [name for name in known.beside.get(mode, []) if _named(rows, name)]
    if len(names) < 2:
        return None
    by_name = {name: _named(rows, name) for name in names}
    columns = [("Point", "l"), ("Runner", "l")]
    for name in names:
        columns += [(f"{name}: median", "r"), *((f"{label}", "r") for _, label in SHOWN), ("errors", "r")]
    errors: dict[tuple[str, Key], str] = {}
    for name in names:
        case = next(row.case for row in rows if row.case.rsplit("/", 1)[-1] == name)
        for (point, arm, copy), text in tables.error_totals(data, rows[0].machine_id, suite, case).items():
            errors[name, (tables.short_point(point, name), arm, copy)] = text
    made = Table(f"{suite}: {' beside '.join(names)}", columns, [], functional)
    last = ""
    for key in dict.fromkeys(key for name in names for key in by_name[name]):
        point, arm, copy = key
        if copy:
            continue
        line = [Cell(point if point != last else ""), Cell(arm)]
        for name in names:
            line += _cells(by_name[name].get(key), errors.get((name, key), "not measured"))
        made.rows.append(line)
        last = point
    return made

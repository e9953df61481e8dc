"""What a reader must know beside a suite's numbers: arms that are not in it and why, and the known limits of the others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from benchctl_analysis.load import RunData, parse_json, records
from benchctl_analysis.parts import Cell, Table, cells
from benchctl_analysis.text import sanitize

Clean = Callable[[object], str]
MAX_LIMITS = 200  # of a suite
ANOTHER_BUILD = "another build"  # of an arm that ran, but not from its first recipe


@dataclass
class Known:
    """What a workload says of itself, from the manifests of the bundles that ran."""

    modes: dict[str, list[str]] = field(default_factory=dict)  # mode -> limits
    beside: dict[str, list[str]] = field(default_factory=dict)  # mode -> cases that are read side by side
    arms: dict[str, list[str]] = field(default_factory=dict)


def _texts(value: object) -> list[str]:
    return [sanitize(one, 400) for one in value[:32]] if isinstance(value, list) else []


def known_of(data: RunData, workload: str) -> Known:
    known = Known()
    for bundle in records(data.bundles[data.bundles["workload"] == workload]):
        manifest = parse_json(bundle.manifest)
        modes, arms = manifest.get("modes"), manifest.get("arms")
        for name, said in modes.items() if isinstance(modes, dict) else ():
            if isinstance(said, dict):
                known.modes[str(name)] = _texts(said.get("limits"))
                known.beside[str(name)] = _texts(said.get("side_by_side"))
        for name, said in arms.items() if isinstance(arms, dict) else ():
            if isinstance(said, dict):
                known.arms[str(name)] = _texts(said.get("limits"))
    return known


def of_suite(data: RunData, suite: str) -> tuple[Known, str]:
    """The suite's workload in its own words, and the suite's mode."""
    trials = data.trials[data.trials["suite"] == suite]
    if trials.empty:
        return Known(), ""
    first = trials.iloc[0]
    return known_of(data, str(first["workload"])), str(first["mode"])


def limits_table(data: RunData, suite: str, functional: bool) -> Table | None:
    known, mode = of_suite(data, suite)
    ran = list(dict.fromkeys(data.trials.loc[data.trials["suite"] == suite, "arm"]))
    rows = [cells("every runner", limit) for limit in known.modes.get(mode, [])]
    for arm in ran:
        limits = known.arms.get(str(arm), [])
        rows += [cells(str(arm) if place == 0 else "", limit) for place, limit in enumerate(limits)]
    if not rows:
        return None
    rows = [[row[0], Cell(row[1].text, "wrap")] for row in rows[:MAX_LIMITS]]
    return Table(f"{suite}: what to know when reading", [("Runner", "l"), ("Known limit", "l")], rows, functional)


def left_out_notes(data: RunData, suite: str, clean: Clean, machine_id: int | None = None) -> list[str]:
    """One line an arm and reason; of all machines together when none is named."""
    some = data.left_out[data.left_out["suite"] == suite]
    if machine_id is not None:
        some = some[some["machine_id"] == machine_id]
    notes = []
    for row in records(some.drop_duplicates(["arm", "kind", "reason"])):
        arm, why = sanitize(row.arm, 60), clean(row.reason)
        if row.kind == ANOTHER_BUILD:
            notes.append(f"{arm} {why}.")
        else:
            notes.append(f"Not in this table: {arm}, {sanitize(row.kind, 40)}: {why}.")
    return notes


def left_out_lines(data: RunData, clean: Clean) -> list[str]:
    """For the terminal and the end of summary.md: an arm once, however many suites and machines lack it."""
    lines: list[str] = []
    for (arm, kind, reason), group in data.left_out.groupby(["arm", "kind", "reason"], sort=False):
        machines = list(dict.fromkeys(sanitize(m, 40) for m in group["machine"]))
        everywhere = len(machines) == data.machines["machine"].nunique()
        where = "" if everywhere else f" on {', '.join(machines[:3])}" + (" and others" if len(machines) > 3 else "")
        word = "" if kind == ANOTHER_BUILD else f" {sanitize(kind, 40)}:"
        lines.append(f"{sanitize(arm, 60)}{where}:{word} {clean(reason)}")
    return lines

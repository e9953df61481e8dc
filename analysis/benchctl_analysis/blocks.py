"""Which machine gave what: rounds of a slot that went on elsewhere, and machines that gave no numbers at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from benchctl_analysis import machine_facts
from benchctl_analysis.load import RunData, parse_json, records
from benchctl_analysis.parts import Table, cells, plural
from benchctl_analysis.text import sanitize


@dataclass(frozen=True)
class Idle:
    """A machine without a single trial."""

    machine_id: int
    name: str
    rejected: bool
    why: str
    hardware: str  # what is known of it, in words


def ranges(numbers: Iterable[int]) -> str:
    """1, 2, 3, 7 -> "1-3, 7"."""
    parts: list[list[int]] = []
    for number in sorted(set(numbers)):
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)


def shared_slots(data: RunData) -> list[tuple[list[int], str]]:
    """(machines, in words) for each slot whose scored rounds lie on more than one machine."""
    found = []
    scored = data.trials[data.trials["scored"]]
    names = {int(m.machine_id): sanitize(m.machine, 60) for m in records(data.machines)}
    for _, group in scored.groupby(["fleet", "slot"], sort=True):
        of_machine = {int(str(m)): trials["round"].astype(int) for m, trials in group.groupby("machine_id", sort=False)}
        if len(of_machine) < 2:
            continue
        told = [
            f"{'round' if rounds.nunique() == 1 else 'rounds'} {ranges(rounds)} on {names[machine]}"
            for machine, rounds in sorted(of_machine.items(), key=lambda item: int(item[1].min()))
        ]
        found.append((list(of_machine), ", ".join(told)))
    return found


def slots_note(told: str) -> str:
    return (
        f"One slot, several machines: {told}. They are blocks of their own: each has its own medians, and a ratio pairs "
        "only rounds of one machine."
    )


def idle_machines(data: RunData, clean: Callable[[object], str]) -> list[Idle]:
    busy = set(data.trials["machine_id"].astype(int))
    found = []
    for machine in records(data.machines):
        if int(machine.machine_id) in busy:
            continue
        facts = parse_json(machine.facts_before) or parse_json(machine.facts_hardened)
        spec = parse_json(machine.spec)
        known = [machine_facts.cpu_name(facts)] if facts else []
        known += [sanitize(spec[key], 60) for key in ("size", "region") if spec.get(key)]
        if machine.hardware:
            known.append(f"hardware {sanitize(machine.hardware, 80)[:16]}")
        rejected = machine.state == "rejected" or bool(machine.reason)
        found.append(
            Idle(
                machine_id=int(machine.machine_id),
                name=sanitize(machine.machine, 60),
                rejected=rejected,
                why=clean(machine.reason) if machine.reason else "no reason is on record",
                hardware=", ".join(known) or "not known: no facts came home",
            )
        )
    return found


def selection_note(idle: list[Idle]) -> str:
    count = sum(machine.rejected for machine in idle)
    if not count:
        return ""
    return (
        f"{plural(count, 'machine')} rejected. Taking others in their place selects hardware: the results hold for machines "
        "like those that were taken, not for whatever the provider gives."
    )


def idle_table(idle: list[Idle], functional: bool) -> Table | None:
    if not idle:
        return None
    rows = [cells(m.name, "rejected" if m.rejected else "no trial", m.why, m.hardware) for m in idle[:100]]
    columns = [("Machine", "l"), ("Outcome", "l"), ("Why", "l"), ("Hardware", "l")]
    notes = [note for note in (selection_note(idle),) if note]
    if len(idle) > 100:
        notes.append(f"{len(idle) - 100} more are in the store.")
    return Table("Machines that gave no numbers", columns, rows, functional, notes)

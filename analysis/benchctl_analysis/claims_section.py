"""Claims as printed: the table of a report, the lines of a terminal, and the verb `claims`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchctl_analysis.claims import Claim, Judged, as_json, judge, read_claims
from benchctl_analysis.compare import compare
from benchctl_analysis.load import load, records
from benchctl_analysis.parts import Cell, Section, Table, plural
from benchctl_analysis.terminal import grid, wrap
from benchctl_analysis.text import sanitize
from benchctl_analysis.verdicts import INCONCLUSIVE, NOT_REPRODUCED, NOT_TESTED, REPRODUCED, WORDS

SUMMARY_LINES = 16  # of claims in the summary of a run; `claims RUN` shows all
_KINDS = {REPRODUCED: "good", NOT_REPRODUCED: "bad", INCONCLUSIVE: "", NOT_TESTED: "soft"}
_HOW = (
    "What documents say, and what this machine says of it. Reproduced: the whole interval lies inside the bound that the "
    "claim gives. Not reproduced: it lies outside. Inconclusive: it reaches over the bound, or the signed-rank and the sign "
    "test's intervals do not agree. A figure that does not hold is a result about this machine and regime, not an error."
)


def why(judged: Judged) -> str:
    """The reason, and what would settle an inconclusive one."""
    verdict = judged.verdict
    if verdict.word != INCONCLUSIVE:
        return verdict.reason
    if verdict.more_rounds is not None:
        more = "at least" if judged.interval is None else "about"
        return f"{verdict.reason}; {more} {plural(verdict.more_rounds, 'more round')} would tell"
    return verdict.reason + ("" if judged.claim.kind == "count" else "; more rounds will not tell")


def totals(judged: Sequence[Judged]) -> str:
    """ "3 reproduced, 1 not reproduced"."""
    counted = Counter(one.verdict.word for one in judged)
    order = (REPRODUCED, NOT_REPRODUCED, INCONCLUSIVE, NOT_TESTED)
    return ", ".join(f"{counted[word]} {word}" for word in order if counted[word]) or "none"


def _bound(claim: Claim) -> str:
    if not claim.kind or claim.kind == "equality":
        return "" if not claim.kind else "equal"
    low, high = (f"{edge:.6g}" for edge in (claim.bound.low, claim.bound.high))
    if high == "inf":
        return f"{low} or more"
    return f"{high} or less" if low == "-inf" else f"{low} to {high}"


def _measured(judged: Judged) -> str:
    if not judged.measured:
        return ""
    return judged.measured + (f", n = {judged.rounds}" if judged.rounds else "")


def claims_table(judged: Sequence[Judged], functional: bool) -> Table:
    columns = [("Claim", "l"), ("What is said, and where", "l"), ("Published", "l"), ("Holds if", "l")]
    columns += [("Measured", "l"), ("Verdict", "l"), ("Why", "l")]
    rows = [
        [
            Cell(one.claim.id),
            Cell(f"{one.claim.statement} ({one.claim.regime.words})", "wrap"),
            Cell(one.claim.published),
            Cell(_bound(one.claim)),
            Cell(_measured(one)),
            Cell(one.verdict.word, _KINDS[one.verdict.word]),
            Cell(why(one), "wrap"),
        ]
        for one in judged
    ]
    return Table("Claims", columns, rows, functional)


def sources_table(judged: Sequence[Judged], functional: bool) -> Table:
    counted: dict[tuple[str, str], int] = {}
    for one in judged:
        key = (one.claim.source.title, one.claim.source.environment)
        counted[key] = counted.get(key, 0) + 1
    rows = [[Cell(title, "wrap"), Cell(where, "wrap"), Cell(str(count))] for (title, where), count in counted.items()]
    return Table(
        "Where the claims come from", [("Source", "l"), ("Its environment", "l"), ("Claims", "r")], rows, functional
    )


def section(judged: Sequence[Judged], functional: bool) -> Section | None:
    """Of one machine's report; None for a run without claims."""
    if not judged:
        return None
    made = Section("Claims", "claims", [Cell(_HOW), Cell(f"{totals(judged)}.", "strong")])
    made.tables = [claims_table(judged, functional), sources_table(judged, functional)]
    return made


def _lines(judged: Sequence[Judged], columns: int) -> list[str]:
    table = [["claim", "published", "measured", "verdict"]]
    table += [[sanitize(j.claim.id, 80), sanitize(j.claim.published, 60), _measured(j), j.verdict.word] for j in judged]
    return grid(table, columns)


@dataclass(frozen=True)
class MachineClaims:
    name: str
    functional: bool
    judged: list[Judged]

    def heading(self) -> str:
        word = ", functional" if self.functional else ""
        return f"claims on {sanitize(self.name, 60)}{word}: {totals(self.judged)}"


def summary(machines: Sequence[MachineClaims], columns: int) -> list[str]:
    """For the end of a run: the counts, and of the tested claims as many as have room, the failed ones first."""
    lines: list[str] = []
    for machine in machines:
        tested = [one for one in machine.judged if one.verdict.word != NOT_TESTED]
        tested.sort(key=lambda one: WORDS.index(one.verdict.word))  # stable: in file order within a verdict
        room = max(SUMMARY_LINES // len(machines), 3)
        lines += ["", *wrap(machine.heading(), columns)]
        if tested:
            lines += _lines(tested[:room], columns)
        if len(tested) > room:
            lines.append(f"and {len(tested) - room} more; all with their reasons: benchctl claims")
    return lines


def full(machines: Sequence[MachineClaims], columns: int) -> list[str]:
    """All of them; below the table a line for each that has a reason, and what the sources ran on."""
    lines: list[str] = []
    for machine in machines:
        lines += [*wrap(machine.heading(), columns), *_lines(machine.judged, columns), ""]
        reasons: dict[str, list[str]] = {}
        for one in machine.judged:
            if why(one):
                reasons.setdefault(f"{one.verdict.word}: {sanitize(why(one), 300)}", []).append(one.claim.id)
        for reason, ids in sorted(reasons.items(), key=lambda item: WORDS.index(item[0].partition(":")[0])):
            lines += wrap(f"{', '.join(sanitize(i, 80) for i in ids)}: {reason}", columns)
        lines.append("")
    sources = {(o.claim.source.title, o.claim.source.environment) for m in machines for o in m.judged}
    for title, environment in sorted(sources):
        lines += wrap(f"{sanitize(title, 120)}: {sanitize(environment, 300)}", columns)
    return lines


@dataclass(frozen=True)
class ClaimsRequest:
    store: Path
    run: str
    claims: list[dict[str, Any]]
    width: int = 80


def claims(request: ClaimsRequest) -> dict[str, Any]:
    data = load(request.store, request.run)
    judged = judge(data, compare(data, 0.0), read_claims(request.claims))
    machines = by_machine(data.machines, judged)
    columns = min(max(request.width, 40), 200)
    return {"terminal": "\n".join(full(machines, columns)), "claims": answers(machines)}


def by_machine(machines: Any, judged: Sequence[Judged]) -> list[MachineClaims]:
    """Those that have verdicts."""
    made = []
    for machine in records(machines):
        own = [one for one in judged if one.machine_id == int(machine.machine_id)]
        if own:
            made.append(MachineClaims(sanitize(machine.machine, 80), not machine.isolated, own))
    return made


def answers(machines: Sequence[MachineClaims]) -> list[dict[str, Any]]:
    return [as_json(one, machine.name) for machine in machines for one in machine.judged]

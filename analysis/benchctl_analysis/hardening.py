"""How a machine was made quiet: what was asked, found, applied and read back, and the proof that timers stand still.

All of it comes from a machine: nothing is believed to have a type, and everything is capped and cleaned.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from benchctl_analysis import numbers
from benchctl_analysis.load import parse_json
from benchctl_analysis.machine_facts import Facts
from benchctl_analysis.parts import Cell, Section, Table, cells, plural
from benchctl_analysis.text import sanitize

MAX_KNOBS = 500
MAX_SHOWN = 150
MAX_ABSENT_ROWS = 5
# Worst first; what is not on this list is shown as it stands, and red.
STATUSES = ("failed", "differs", "not_exposed", "absent", "applied", "already")
_WORDS = {
    "failed": "failed",
    "differs": "not as asked",
    "not_exposed": "not exposed",
    "absent": "absent",
    "applied": "applied",
    "already": "already so",
}
_KINDS = {"applied": "good", "already": "good", "not_exposed": "soft", "absent": "soft"}
_WHEN = {"start": "when the agent started", "boot": "after a restart", "end": "after the last trial"}


@dataclass(frozen=True)
class Knob:
    knob: str
    target: str
    requested: str
    found: str
    read_back: str
    status: str
    reason: str


@dataclass(frozen=True)
class Proof:
    when: str
    ok: bool
    problems: list[str]
    unix_ms: float | None


@dataclass(frozen=True)
class Proofs:
    passed: int = 0
    problems: list[str] = field(default_factory=list)  # of all of them, each with its moment


@dataclass(frozen=True)
class Hardening:
    asked: bool
    profile: str
    knobs: list[Knob]
    proofs: list[Proof]
    undone: list[Knob] | None  # None: not undone, the machine was removed

    @property
    def summary(self) -> Proofs:
        problems = [f"{proof.when}: {text}" for proof in self.proofs for text in proof.problems]
        problems += [f"{proof.when}: failed" for proof in self.proofs if not proof.ok and not proof.problems]
        return Proofs(sum(proof.ok and not proof.problems for proof in self.proofs), problems)


def _text(value: object, limit: int = 120) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return sanitize(value, limit)


Clean = Callable[[object], str]  # how free text is printed: redacted or not


def _knobs(report: object, clean: Clean) -> list[Knob]:
    rows = report.get("rows") if isinstance(report, dict) else None
    if not isinstance(rows, list):
        return []
    keys = ("knob", "target", "requested", "found", "read_back", "status")
    made = []
    for row in rows[:MAX_KNOBS]:
        if isinstance(row, dict):
            knob, target, requested, found, read_back, status = (_text(row.get(key)) for key in keys)
            made.append(Knob(knob, target, requested, found, read_back, status, clean(_text(row.get("reason"), 200))))
    return made


def _proof(when: str, document: object, clean: Clean, unix_ms: object = None) -> Proof | None:
    if not isinstance(document, dict):
        return None
    problems = document.get("problems")
    texts = [clean(_text(p, 200)) for p in problems[:100]] if isinstance(problems, list) else []
    moment = float(unix_ms) if isinstance(unix_ms, int | float) and not isinstance(unix_ms, bool) else None
    return Proof(when, document.get("ok") is True, texts, moment)


def read(text: object, clean: Clean = sanitize) -> Hardening:
    document = parse_json(text)
    applied = document.get("applied")
    proofs = [_proof("after hardening", applied.get("proof") if isinstance(applied, dict) else None, clean)]
    said = document.get("proofs")
    for entry in said[:100] if isinstance(said, list) else []:
        if isinstance(entry, dict):
            when = _text(entry.get("when"), 40)
            proofs.append(_proof(_WHEN.get(when, when), entry, clean, entry.get("unix_ms")))
    profile = _text(document.get("profile"), 60)
    return Hardening(
        asked=bool(document) and profile not in ("", "none"),
        profile=profile,
        knobs=_knobs(applied, clean),
        proofs=[proof for proof in proofs if proof is not None],
        undone=_knobs(document["undone"], clean) if isinstance(document.get("undone"), dict) else None,
    )


def timers(facts: Facts) -> list[dict[str, Any]] | None:
    """The units of state.timers, None where it is not known."""
    state = facts.get("state")
    listed = state.get("timers") if isinstance(state, dict) else None
    if not isinstance(listed, list):
        return None
    return [timer for timer in listed[:1000] if isinstance(timer, dict)]


def scheduled(facts: Facts) -> list[str] | None:
    """Timers with a next run."""
    listed = timers(facts)
    if listed is None:
        return None
    return sorted(sanitize(timer.get("unit"), 80) for timer in listed if timer.get("next") is True)


def _names(names: list[str]) -> str:
    return ", ".join(names[:30]) + (f" and {len(names) - 30} more" if len(names) > 30 else "")


def _knob_table(caption: str, knobs: list[Knob], functional: bool) -> Table:
    """Grouped by status, the worst first; a knob's name stands once above its targets. Many absent ones are one line."""
    rank = {status: i for i, status in enumerate(STATUSES)}
    ordered = sorted(knobs, key=lambda k: rank.get(k.status, -1))
    notes: list[str] = []
    absent = [knob.target for knob in ordered if knob.status == "absent"]
    if len(absent) > MAX_ABSENT_ROWS:
        ordered = [knob for knob in ordered if knob.status != "absent"]
        notes.append(f"{len(absent)} absent: {_names(absent)}.")
    rows: list[list[Cell]] = []
    last = ("", "")
    for knob in ordered[:MAX_SHOWN]:
        same = (knob.status, knob.knob) == last
        last = (knob.status, knob.knob)
        word = Cell(_WORDS.get(knob.status, knob.status or "not said"), _KINDS.get(knob.status, "bad"))
        rows.append(
            [
                Cell("" if same else knob.knob),
                *cells(knob.target, knob.requested, knob.found, knob.read_back),
                word,
                Cell(knob.reason),
            ]
        )
    if len(ordered) > MAX_SHOWN:
        notes.append(f"{len(ordered) - MAX_SHOWN} more are in the store.")
    columns = [(name, "l") for name in ("Knob", "Target", "Requested", "Found", "Read back", "Status", "Reason")]
    return Table(caption, columns, rows, functional, notes)


def _counts(knobs: list[Knob]) -> str:
    found: dict[str, int] = {}
    for knob in knobs:
        word = _WORDS.get(knob.status, knob.status or "not said")
        found[word] = found.get(word, 0) + 1
    return ", ".join(f"{count} {word}" for word, count in found.items())


def _timer_paragraphs(before: Facts, hardened: Facts, after: Facts, proofs: Proofs) -> list[Cell]:
    """What was scheduled, and what still is. What a passed proof let stand is on the profile's allow list."""
    allowed = proofs.passed > 0 and not proofs.problems
    first = scheduled(before)
    made = [
        Cell("Which timers were scheduled before is not known.", "soft")
        if first is None
        else Cell(f"Before: {plural(len(first), 'timer')} scheduled" + (f" ({_names(first)})." if first else "."))
    ]
    for what, facts in (("After hardening", hardened), ("After the last trial", after)):
        left = scheduled(facts)
        if left is None:
            made.append(Cell(f"{what}: the list of timers was not read.", "soft"))
        elif left:
            text = f"{what}: {plural(len(left), 'timer')} with a next run"
            made.append(
                Cell(f"{text}, which the profile allows ({_names(left)}).")
                if allowed
                else Cell(f"{text} ({_names(left)}).", "bad")
            )
        else:
            made.append(Cell(f"{what}: no timer has a next run.", "good"))
    return made


def _proof_paragraphs(hardening: Hardening) -> list[Cell]:
    if not hardening.proofs:
        return [Cell("There is no proof on record that timers stood still.", "bad")]
    made: list[Cell] = []
    for proof in hardening.proofs:
        when = proof.when + (f" ({numbers.utc(proof.unix_ms)})" if proof.unix_ms is not None else "")
        if proof.ok and not proof.problems:
            made.append(Cell(f"Proof {when}: passed.", "good"))
            continue
        made.append(Cell(f"Proof {when}: failed.", "bad"))
        made += [Cell(f"Problem: {text}", "bad") for text in proof.problems[:30]]
        if len(proof.problems) > 30:
            made.append(Cell(f"{len(proof.problems) - 30} more problems.", "bad"))
    return made


def section(hardening: Hardening, before: Facts, hardened: Facts, after: Facts, functional: bool) -> Section:
    made = Section("Hardening", "hardening")
    if not hardening.asked:
        made.paragraphs.append(Cell("Hardening was not asked for: the machine was measured as it came."))
        names = scheduled(before)
        if names:
            made.paragraphs.append(
                Cell(f"{plural(len(names), 'timer')} could fire meanwhile: {_names(names)}.", "soft")
            )
        return made
    said = f": {_counts(hardening.knobs)}" if hardening.knobs else ", but no knob is on record"
    made.paragraphs.append(Cell(f"Profile {hardening.profile}{said}."))
    made.paragraphs += _timer_paragraphs(before, hardened, after, hardening.summary)
    made.paragraphs += _proof_paragraphs(hardening)
    if hardening.knobs:
        made.tables.append(_knob_table("Knobs", hardening.knobs, functional))
    if hardening.undone is not None:
        made.paragraphs.append(Cell(f"Undone at the end: {_counts(hardening.undone) or 'nothing was on record'}."))
        if any(knob.status not in ("applied", "already", "absent") for knob in hardening.undone):
            made.tables.append(_knob_table("Undone", hardening.undone, functional))
    return made

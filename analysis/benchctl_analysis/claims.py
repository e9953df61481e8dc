"""Claims of documents, held against the scored samples of a run: which rows each means, and what they say."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from benchctl_analysis import numbers, stats
from benchctl_analysis.compare import Comparison, Row, outside
from benchctl_analysis.load import RunData, parse_json, records
from benchctl_analysis.refusals import refused
from benchctl_analysis.stats import Interval
from benchctl_analysis.text import sanitize
from benchctl_analysis.verdicts import (
    INCONCLUSIVE,
    NOT_TESTED,
    Bound,
    Verdict,
    judge_count,
    judge_equality,
    judge_median,
    judge_orders,
    judge_ratio,
)

CHECK = "check"  # of an equality: what the program says of its work, instead of a metric


@dataclass(frozen=True)
class Side:
    """One row of a run."""

    workload: str
    mode: str
    arm: str
    case: str
    metric: str
    params: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Source:
    title: str
    environment: str


@dataclass(frozen=True)
class Regime:
    """Where the claim should hold: in words, and what of it can be asked of a machine."""

    words: str
    filesystems: tuple[str, ...]
    arch: str
    min_cpus: int


@dataclass(frozen=True)
class Claim:
    """As controller/claims/ has read and checked it. `of` and `to` hold a side each, or several of which each round's
    geometric mean counts; `to` is empty for a count or a value of one side."""

    id: str
    file: str
    source: Source
    statement: str
    published: str
    kind: str  # ratio | value | count | equality; "" where it cannot be tested
    not_tested: str
    bound: Bound
    regime: Regime
    of: tuple[Side, ...]
    to: tuple[Side, ...]


@dataclass(frozen=True)
class Judged:
    claim: Claim
    machine_id: int
    verdict: Verdict
    rounds: int = 0
    estimate: float | None = None
    interval: Interval | None = None
    unit: str = ""  # "x" of a ratio
    measured: str = ""  # in words


class AbsentError(Exception):
    """Why the rows of a claim are not there."""


def _side(value: dict[str, Any]) -> Side:
    params = tuple(sorted((str(k), str(v)) for k, v in value["params"].items()))
    names = {key: str(value[key]) for key in ("workload", "mode", "arm", "case", "metric")}
    return Side(**names, params=params)


def read_claims(values: Sequence[dict[str, Any]]) -> list[Claim]:
    """From the request; KeyError and the like where the two programs do not speak the same."""
    return [
        Claim(
            id=str(value["id"]),
            file=str(value["file"]),
            source=Source(str(value["source"]["title"]), str(value["source"]["environment"])),
            statement=str(value["statement"]),
            published=str(value["published"]),
            kind=str(value["kind"]),
            not_tested=str(value["not_tested"]),
            bound=Bound(
                -math.inf if value["min"] is None else float(value["min"]),
                math.inf if value["max"] is None else float(value["max"]),
            ),
            regime=Regime(
                str(value["regime"]["words"]),
                tuple(map(str, value["regime"]["filesystem"])),
                str(value["regime"]["arch"]),
                int(value["regime"]["cpus"]),
            ),
            of=tuple(map(_side, value["of"])),
            to=tuple(map(_side, value["to"])),
        )
        for value in values
    ]


def _nearest(word: str, known: Iterable[str]) -> str:
    there = sorted(set(known))
    close = difflib.get_close_matches(word, there, 1)
    shown = ", ".join(there[:6]) + (f" and {len(there) - 6} more" if len(there) > 6 else "")
    return f'; did you mean "{close[0]}"?' if close else f"; there is {shown}" if shown else ""


class _Rows:
    """The rows of one machine, and how a side finds its own."""

    def __init__(self, data: RunData, comparison: Comparison, machine_id: int) -> None:
        self.rows = [r for r in comparison.rows if r.machine_id == machine_id and not r.aa_copy]
        trials = data.trials[data.trials["machine_id"] == machine_id]
        self.trials = trials
        self.round_of = {int(t.trial_id): int(t.round) for t in records(trials)}
        self.place = {int(t.trial_id): int(t.position) for t in records(trials)}
        points = records(data.trials.drop_duplicates("point_hash"))
        self.workload = {str(t.point_hash): str(t.workload) for t in points}
        self.params = {str(t.point_hash): {k: str(v) for k, v in parse_json(t.params).items()} for t in points}
        samples = data.samples[data.samples["machine_id"] == machine_id]
        self.checks = {(int(s.trial_id), str(s.case)): str(s.check_text or "") for s in records(samples)}

    def find(self, side: Side) -> Row:
        rows = [r for r in self.rows if self.workload[r.point_hash] == side.workload]
        if not rows:
            raise AbsentError(f"this run has no results of {side.workload}")
        where = f"{side.workload}.{side.mode}"
        rows = [r for r in rows if r.mode == side.mode]
        if not rows:
            raise AbsentError(f"this run has no results of {where}")
        kept = [r for r in rows if r.arm == side.arm]
        if not kept:
            raise AbsentError(f"this run has no results of {side.arm} in {where}{self._failed(side)}")
        rows = [r for r in kept if self._fits(r, side)]
        if not rows:
            raise AbsentError(f"{where} did not run with {self._wanted(kept, side)}")
        kept = [r for r in rows if r.case == side.case]
        if not kept:
            raise AbsentError(
                f'{where} has no case "{side.case}" of {side.arm}{_nearest(side.case, (r.case for r in rows))}'
            )
        rows = kept if side.metric == CHECK else [r for r in kept if r.metric == side.metric]
        if not rows:
            known = (r.metric for r in kept)
            raise AbsentError(
                f'case "{side.case}" of {where} has no metric "{side.metric}"{_nearest(side.metric, known)}'
            )
        points = {r.point_hash for r in rows}
        if len(points) > 1:
            raise AbsentError(f"{len(points)} points of {where} fit: the claim must name more of their parameters")
        return rows[0]

    def _fits(self, row: Row, side: Side) -> bool:
        return all(self.params[row.point_hash].get(key) == value for key, value in side.params)

    def _wanted(self, rows: list[Row], side: Side) -> str:
        told = []
        for key, value in side.params:
            there = sorted({self.params[r.point_hash].get(key, "") for r in rows})
            if value not in there:
                told.append(f"{key} = {value} (but {', '.join(there[:4])})")
        return ", ".join(told) or ", ".join(f"{key} = {value}" for key, value in side.params)

    def _failed(self, side: Side) -> str:
        own = self.trials[
            (self.trials["workload"] == side.workload)
            & (self.trials["arm"] == side.arm)
            & (self.trials["verdict"] != "ok")
        ]
        if own.empty:
            return ""
        first = own.iloc[0]
        return f": {first['verdict']}" + (f", {sanitize(first['reason'], 120)}" if first["reason"] else "")

    def by_round(self, row: Row) -> dict[int, float]:
        return {self.round_of[t]: value for t, value in zip(row.trials, row.values, strict=True)}

    def places(self, rows: list[Row]) -> dict[int, int]:
        """Of each round: the sum of the places at which these rows' trials ran."""
        sums: dict[int, int] = {}
        for row in rows:
            for trial in row.trials:
                number = self.round_of[trial]
                sums[number] = sums.get(number, 0) + self.place[trial]
        return sums

    def checks_by_round(self, row: Row) -> dict[int, str]:
        return {self.round_of[t]: self.checks.get((t, row.case), "") for t in row.trials}


def _mismatch(regime: Regime, facts: dict[str, Any]) -> str:
    """What of the regime this machine is not; "" where it fits."""
    cpu, disk = facts.get("cpu") or {}, facts.get("disk") or {}
    filesystem, arch, cpus = disk.get("filesystem"), cpu.get("architecture"), cpu.get("cpus_usable")
    if regime.filesystems and filesystem not in regime.filesystems:
        return f"its regime is a work directory on {' or '.join(regime.filesystems)}, here it is on {sanitize(filesystem, 40)}"
    if regime.arch and arch != regime.arch:
        return f"its regime is {regime.arch}, this machine is {sanitize(arch, 40)}"
    if regime.min_cpus and not (isinstance(cpus, int) and cpus >= regime.min_cpus):
        return f"its regime is {regime.min_cpus} CPUs or more, this machine has {sanitize(cpus, 20)}"
    return ""


def _mean_by_round(rows: list[Row], table: _Rows) -> dict[int, float]:
    """The geometric mean of several rows, in the rounds that have all of them."""
    every = [table.by_round(row) for row in rows]
    rounds = set.intersection(*(set(values) for values in every))
    for row, values in zip(rows, every, strict=True):
        for number in sorted(rounds):
            if values[number] <= 0:
                raise AbsentError(f"{row.arm}, {row.case}, round {number} is {values[number]:g}, not above zero")
    return {r: math.exp(math.fsum(math.log(values[r]) for values in every) / len(every)) for r in rounds}


def _ratio(claim: Claim, machine_id: int, of: list[Row], to: list[Row], table: _Rows) -> Judged:
    numerator, denominator = _mean_by_round(of, table), _mean_by_round(to, table)
    rounds = sorted(numerator.keys() & denominator.keys())
    if not rounds:
        raise AbsentError("no round has both sides")
    ratio = stats.paired_ratio([numerator[r] for r in rounds], [denominator[r] for r in rounds], 0.0)
    text = numbers.factor(ratio.estimate)
    if ratio.interval is not None:
        text += f" ({numbers.digits(ratio.interval.low)} to {numbers.digits(ratio.interval.high)})"
    mine, others = table.places(of), table.places(to)
    ran_first = [numerator[r] / denominator[r] for r in rounds if mine[r] < others[r]]
    ran_second = [numerator[r] / denominator[r] for r in rounds if mine[r] > others[r]]
    verdict = judge_orders(judge_ratio(ratio, claim.bound), ran_first, ran_second, claim.bound)
    return Judged(claim, machine_id, verdict, ratio.n, ratio.estimate, ratio.interval, "x", text)


def _value(claim: Claim, machine_id: int, row: Row, table: _Rows) -> Judged:
    median = row.median
    text = numbers.quantity(median.value, row.unit)
    if median.interval is not None:
        text += f" ({numbers.interval_text(median.interval, row.unit, median.value)})"
    verdict = judge_median(median, claim.bound)
    return Judged(claim, machine_id, verdict, median.n, median.value, median.interval, row.unit, text)


def _count(claim: Claim, machine_id: int, row: Row, table: _Rows) -> Judged:
    low, high = row.median.minimum, row.median.maximum
    text = f"{low:,.12g}" if low == high else f"{low:,.12g} to {high:,.12g}"
    verdict = judge_count(row.values, claim.bound)
    return Judged(claim, machine_id, verdict, row.median.n, row.median.value, Interval(low, high, 1.0), row.unit, text)


def _equality(claim: Claim, machine_id: int, of: Row, to: Row, table: _Rows) -> Judged:
    pairs: list[tuple[object, object]]
    if claim.of[0].metric == CHECK:
        one, other = table.checks_by_round(of), table.checks_by_round(to)
        pairs = [(one[r], other[r]) for r in sorted(one.keys() & other.keys()) if one[r] or other[r]]
    else:
        left, right = table.by_round(of), table.by_round(to)
        pairs = [(left[r], right[r]) for r in sorted(left.keys() & right.keys())]
    if not pairs:
        raise AbsentError("no round has both sides")
    verdict = judge_equality(pairs)
    return Judged(claim, machine_id, verdict, len(pairs), None, None, "", verdict.reason or "equal in every round")


def _judge(claim: Claim, machine_id: int, table: _Rows, comparison: Comparison, facts: dict[str, Any]) -> Judged:
    fault = comparison.faults.get(machine_id)
    if claim.not_tested or fault:
        return Judged(claim, machine_id, Verdict(NOT_TESTED, claim.not_tested or f"void: {fault}"))
    rows = [table.find(side) for side in claim.of + claim.to]
    of, to = rows[: len(claim.of)], rows[len(claim.of) :]
    for row in rows:
        refusal = refused(comparison.refusals, row.suite, row.point, row.arm, row.baseline)
        if refusal is not None and (claim.kind != "equality" or refusal.kind == "trace"):
            raise AbsentError(f"void: {refusal.text}")
    if claim.kind == "ratio":
        judged = _ratio(claim, machine_id, of, to, table)
    elif claim.kind == "equality":
        judged = _equality(claim, machine_id, of[0], to[0], table)
    else:
        judged = {"value": _value, "count": _count}[claim.kind](claim, machine_id, of[0], table)
    mismatch = _mismatch(claim.regime, facts)
    if mismatch:
        return _with(judged, Verdict(NOT_TESTED, mismatch))
    shaky = next((r for r in rows if outside(r.median_with_left_out, r.median.interval)), None)
    if shaky is not None and claim.kind in ("ratio", "value") and judged.verdict.word != INCONCLUSIVE:
        reason = f"the median of {shaky.label} with the left-out attempts lies outside its interval"
        return _with(judged, Verdict(INCONCLUSIVE, reason))
    return judged


def _with(judged: Judged, verdict: Verdict) -> Judged:
    return Judged(**{**judged.__dict__, "verdict": verdict})


def judge(data: RunData, comparison: Comparison, claims: Sequence[Claim]) -> list[Judged]:
    """A verdict for each claim on each machine that has trials, in the order of machines and claims."""
    made = []
    used = set(data.trials["machine_id"])
    for machine in records(data.machines):
        machine_id = int(machine.machine_id)
        if machine_id not in used:
            continue
        table, facts = _Rows(data, comparison, machine_id), parse_json(machine.facts_before)
        for claim in claims:
            try:
                made.append(_judge(claim, machine_id, table, comparison, facts))
            except AbsentError as absent:
                made.append(Judged(claim, machine_id, Verdict(NOT_TESTED, str(absent))))
    return made


def as_json(judged: Judged, machine: str) -> dict[str, Any]:
    claim, interval = judged.claim, judged.interval
    return {
        "machine": machine,
        "id": claim.id,
        "file": claim.file,
        "statement": claim.statement,
        "published": claim.published,
        "source": asdict(claim.source),
        "regime": claim.regime.words,
        "verdict": judged.verdict.word,
        "reason": judged.verdict.reason,
        "more_rounds": judged.verdict.more_rounds,
        "rounds": judged.rounds,
        "measured": judged.estimate,
        "low": None if interval is None else interval.low,
        "high": None if interval is None else interval.high,
        "coverage": None if interval is None else interval.coverage,
        "unit": judged.unit,
    }

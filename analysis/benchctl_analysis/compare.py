"""From scored samples to medians, paired ratios, the A/A check and refusals. Values only; report.py prints them."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from benchctl_analysis import hardening, stats
from benchctl_analysis.hardening import Proofs
from benchctl_analysis.load import RunData, records
from benchctl_analysis.noise import MachineNoise, noise_by_machine
from benchctl_analysis.refusals import Refusal, check_refusals, refused, trace_refusals, values_text
from benchctl_analysis.stats import Median, Ratio, SessionCheck

# What a metric row describes rather than measures: a median is shown, a ratio is not taken.
CONTEXT_METRICS = frozenset({"total", "requests", "errors"})
# Not for the A/A check: the maximum is one extreme a run and would only add noise.
_UNTESTED_METRICS = frozenset({"max"})


@dataclass(frozen=True)
class Row:
    machine_id: int
    suite: str
    mode: str
    point_hash: str
    point: str
    case: str
    arm: str
    aa_copy: bool
    baseline: str
    metric: str
    unit: str
    better: str
    left_out: int
    values: tuple[float, ...]  # by round
    trials: tuple[int, ...]  # their trial_ids
    median: Median
    median_with_left_out: float | None  # over all good attempts of scored rounds; None where it is the same set
    ratio: Ratio | None
    ratio_with_left_out: Ratio | None  # the same over all good attempts, paired within an attempt; for comparison only
    no_ratio: str  # why ratio is None, for an arm that could have had one
    margin: float  # the smallest reportable effect that the verdict used

    @property
    def is_baseline(self) -> bool:
        return self.arm == self.baseline and not self.aa_copy

    @property
    def label(self) -> str:
        return f"{self.arm} (A/A copy)" if self.aa_copy else self.arm


@dataclass(frozen=True)
class AaResult:
    """What this machine's identical pairs say about what it can tell apart."""

    check: SessionCheck
    largest_pairs: int  # of the series with the most pairs
    largest_difference: float | None  # the largest |ratio - 1| seen between identical runs
    typical_difference: float | None  # their median
    floor: float | None  # the largest of the series' noise floors; None: too few pairs
    called_different: int
    called: int


@dataclass(frozen=True)
class PositionEffect:
    """Does the place in the order change a result? One test over all places."""

    rounds: int
    differences: list[float]  # by place: it against the others, as a ratio minus one
    p: float


@dataclass
class Comparison:
    rows: list[Row]
    refusals: list[Refusal]
    aa: dict[int, AaResult]
    position: dict[int, PositionEffect]
    noise: dict[int, MachineNoise]
    faults: dict[int, str]  # machines whose session decides nothing, and why
    notes: list[str]


def natural(text: str) -> list[tuple[int, float, str]]:
    """Sort key: numbers inside a text by value, so that workers=16 follows workers=4."""
    parts = re.split(r"(\d+)", text)
    return [(1, float(part[:300]), "") if part.isascii() and part.isdigit() else (0, 0.0, part) for part in parts]


_Turn = tuple[int, int]  # a round and its attempt: arms of different attempts share no block


@dataclass
class _Series:
    """One metric of one arm: its values by turn."""

    first: Any  # a row of the samples, for what all rows of the series share
    by_turn: dict[_Turn, float]
    trials: dict[_Turn, int]  # turn -> trial_id

    def paired(self, other: _Series) -> tuple[list[int], list[float], list[float]]:
        turns = sorted(self.by_turn.keys() & other.by_turn.keys())
        return [r for r, _ in turns], [self.by_turn[t] for t in turns], [other.by_turn[t] for t in turns]


_Group = dict[tuple[str, bool], _Series]  # (arm, A/A copy) -> its series


def _groups(samples: pd.DataFrame) -> dict[tuple[str, str, str], _Group]:
    """By point, case and metric, in order of appearance; one trial a turn."""
    groups: dict[tuple[str, str, str], _Group] = {}
    for sample in records(samples):
        group = groups.setdefault((sample.point_hash, sample.case, sample.metric), {})
        series = group.setdefault((sample.arm, bool(sample.aa_copy)), _Series(sample, {}, {}))
        turn = (int(sample.round), int(sample.attempt))
        series.by_turn.setdefault(turn, float(sample.value))
        series.trials.setdefault(turn, int(sample.trial_id))
    return groups


def _ratio(row: Row, own: _Series, base: _Series | None, refusal: Refusal | None) -> tuple[Ratio | None, str]:
    if row.is_baseline or row.better not in ("lower", "higher") or row.metric in CONTEXT_METRICS:
        return None, ""
    if refusal is not None:
        return None, f"refused: {refusal.kind}s differ"
    if base is None:
        alone = row.baseline in ("", row.arm)  # a suite of one arm compares nothing
        return None, "" if alone else "no ratio: the baseline has no good run of this case"
    rounds, candidate, baseline = own.paired(base)
    if not rounds:
        return None, "no ratio: no round has both arms"
    for name, values in ((row.label, candidate), (row.baseline, baseline)):
        for number, value in zip(rounds, values, strict=True):
            if value <= 0:
                return None, f"no ratio: {name}, round {number} is {value:g}, not above zero"
    return stats.paired_ratio(candidate, baseline, row.margin), ""


def _aa(groups: dict[tuple[str, str, str], _Group], seed: int) -> tuple[AaResult, dict[tuple[str, str, str], float]]:
    """The check over all series of a machine, and the noise floor of each series that has enough pairs."""
    logs: dict[tuple[str, str, str], dict[int, float]] = {}
    judged: list[Ratio] = []
    for key, group in groups.items():
        first = next(iter(group.values())).first
        copy, original = group.get((first.baseline, True)), group.get((first.baseline, False))
        tested = first.metric not in CONTEXT_METRICS | _UNTESTED_METRICS and first.better in ("lower", "higher")
        if not tested or copy is None or original is None or copy.first.unit != original.first.unit:
            continue
        rounds, a, b = copy.paired(original)
        if not rounds or min(a) <= 0 or min(b) <= 0:
            continue
        logs[key] = {r: math.log(x) - math.log(y) for r, x, y in zip(rounds, a, b, strict=True)}
        ratio = stats.paired_ratio(a, b, 0.0)
        if ratio.verdict != "none":
            judged.append(ratio)
    if not logs:
        return AaResult(SessionCheck(0, 0, None, False), 0, None, None, None, 0, 0), {}
    found = {key: stats.noise_floor(list(values.values())) for key, values in logs.items()}
    floors = {key: floor for key, floor in found.items() if floor is not None}
    every_round = sorted({r for values in logs.values() for r in values})
    table = np.array([[values.get(r, math.nan) for values in logs.values()] for r in every_round])
    apart = [abs(v) for values in logs.values() for v in values.values()]
    result = AaResult(
        check=stats.session_check(table, seed=seed),
        largest_pairs=max(len(values) for values in logs.values()),
        largest_difference=stats.expm1(max(apart)),
        typical_difference=stats.expm1(float(np.median(apart))),
        floor=max(floors.values()) if floors else None,
        called_different=sum(ratio.verdict in ("higher", "lower") for ratio in judged),
        called=len(judged),
    )
    return result, floors


def _position(groups: dict[tuple[str, str, str], _Group], positions: dict[int, int]) -> PositionEffect | None:
    """Each value against its own series' median, averaged by place within a round; then every place against the others.

    Signs of whole rounds are flipped, as in the A/A check: one test however many places there are.
    """
    off: dict[int, dict[int, list[float]]] = {}  # round -> place -> logs
    for group in groups.values():
        for series in group.values():
            first = series.first
            if first.metric in CONTEXT_METRICS | _UNTESTED_METRICS or first.better not in ("lower", "higher"):
                continue
            values = series.by_turn
            if min(values.values()) <= 0:
                continue
            logs = {turn: math.log(value) for turn, value in values.items()}
            middle = float(np.median(list(logs.values())))
            for turn, value in logs.items():
                place = positions.get(series.trials[turn])
                if place is not None:
                    off.setdefault(turn[0], {}).setdefault(place, []).append(value - middle)
    places = sorted({place for of_round in off.values() for place in of_round})
    if len(places) < 2:
        return None
    table = np.full((len(off), len(places)), math.nan)
    for i, number in enumerate(sorted(off)):
        means = {place: float(np.mean(values)) for place, values in off[number].items()}
        for j, place in enumerate(places):
            others = [mean for other, mean in means.items() if other != place]
            if place in means and others:
                table[i, j] = means[place] - float(np.mean(others))
    columns = [column[~np.isnan(column)] for column in table.T]
    check = stats.session_check(table)
    if check.p is None or any(column.size == 0 for column in columns):
        return None
    return PositionEffect(check.pairs, [stats.expm1(float(np.median(column))) for column in columns], check.p)


def outside(value: float | None, interval: stats.Interval | None) -> bool:
    return value is not None and interval is not None and not interval.low <= value <= interval.high


def _exclusions_matter(row: Row, base: Row | None, gate_biased: bool) -> str:
    """Why the result depends on the attempts that were left out, or "" where it does not."""
    for one in (row, base):
        if one is not None and outside(one.median_with_left_out, one.median.interval):
            return f"the median of {one.label} with the left-out attempts lies outside its interval"
    kept = row.ratio_with_left_out
    if row.ratio is None or kept is None:
        return ""
    if outside(kept.estimate, row.ratio.interval):
        return "the ratio with the left-out attempts lies outside the interval"
    if gate_biased and kept.verdict != row.ratio.verdict:
        return (
            f"the noise gate does not treat the arms alike, and with the left-out attempts it would be {kept.verdict}"
        )
    return ""


def _fault(aa: AaResult, noise: MachineNoise | None, proofs: Proofs) -> str:
    """Why no verdict of a machine's session stands; "" where the session is usable."""
    if noise is not None and noise.quarantine:
        return f"this session is quarantined ({noise.quarantine})"
    if proofs.problems:
        return "this machine was not proved quiet, although that was asked for"
    if aa.check.failed:
        return f"the A/A check of this machine failed (p = {aa.check.p:.2g})"
    return ""


def _judge(row: Row, base: Row | None, fault: str, gate_biased: bool) -> Row:
    """A verdict stands only where the session is usable and the left-out trials change nothing."""
    if row.ratio is None or row.ratio.verdict in ("none", "inconclusive"):
        return row
    reason = fault or _exclusions_matter(row, base, gate_biased)
    return replace(row, ratio=replace(row.ratio, verdict="inconclusive", reason=reason)) if reason else row


def _with_left_out(row: Row, kept: _Group | None) -> Row:
    """What the row would be, had nothing been left out; nothing where the set is the same."""
    own = kept.get((row.arm, row.aa_copy)) if kept else None
    if own is None or kept is None or len(own.by_turn) <= row.median.n:
        return row
    row = replace(row, median_with_left_out=stats.middle(list(own.by_turn.values())))
    base = kept.get((row.baseline, False))
    if row.ratio is None or base is None:
        return row
    _, candidate, baseline = own.paired(base)
    if not candidate or min(candidate) <= 0 or min(baseline) <= 0:
        return row
    return replace(row, ratio_with_left_out=stats.paired_ratio(candidate, baseline, row.margin))


def _rows_of(
    group: _Group, kept: _Group | None, blank: Row, left_out: dict[tuple[str, str, bool], int], refusals: list[Refusal]
) -> list[Row]:
    """One point, case and metric: a row an arm, not yet judged."""
    made = []
    for (arm, copy), series in group.items():
        turns = sorted(series.by_turn)
        values = tuple(series.by_turn[t] for t in turns)
        row = replace(
            blank,
            arm=arm,
            aa_copy=copy,
            left_out=left_out.get((blank.point_hash, arm, copy), 0),
            values=values,
            trials=tuple(series.trials[t] for t in turns),
            median=stats.median(values),
        )
        refusal = refused(refusals, row.suite, row.point, row.arm, row.baseline)
        ratio, why = _ratio(row, series, group.get((row.baseline, False)), refusal)
        made.append(_with_left_out(replace(row, ratio=ratio, no_ratio=why), kept))
    return made


def _blank(machine: int, first: Any, margin: float) -> Row:
    return Row(
        machine_id=machine,
        suite=first.suite,
        mode=first.mode,
        point_hash=first.point_hash,
        point=first.point,
        case=first.case,
        arm="",
        aa_copy=False,
        baseline=first.baseline,
        metric=first.metric,
        unit=first.unit,
        better=first.better,
        left_out=0,
        values=(),
        trials=(),
        median=Median(0, math.nan, None, math.nan, math.nan),
        median_with_left_out=None,
        ratio=None,
        ratio_with_left_out=None,
        no_ratio="",
        margin=margin,
    )


def compare(data: RunData, margin: float) -> Comparison:
    """`margin`: the user's smallest effect that matters, as a ratio minus one."""
    refusals, notes = trace_refusals(data)
    refusals += check_refusals(data)
    rows: list[Row] = []
    aa: dict[int, AaResult] = {}
    position: dict[int, PositionEffect] = {}
    noise = noise_by_machine(data)
    faults: dict[int, str] = {}
    proofs = {int(m.machine_id): hardening.read(m.hardening).summary for m in records(data.machines)}
    measured = data.samples[data.samples["value"].notna()]
    scored = measured[measured["scored"]]
    good = measured[(measured["verdict"] == "ok") & (measured["round"] > 0)]
    in_rounds = data.trials[data.trials["round"] > 0]
    left_out = Counter(
        (int(t.machine_id), str(t.point_hash), str(t.arm), bool(t.aa_copy))
        for t in records(in_rounds[~in_rounds["scored"]])
    )
    positions = {int(t.trial_id): int(t.position) for t in records(data.trials)}
    for machine_id, of_machine in scored.groupby("machine_id", sort=False):
        machine = int(str(machine_id))
        groups = _groups(of_machine)
        aa[machine], floors = _aa(groups, data.schedule.seed or 0)
        of_noise = noise.get(machine)
        fault = _fault(aa[machine], of_noise, proofs[machine])
        if fault:
            faults[machine] = fault
        effect = _position(groups, positions)
        if effect is not None:
            position[machine] = effect
        own = good[good["machine_id"] == machine_id]
        repeated = own.loc[~own["scored"], "point_hash"].unique()
        kept = _groups(own[own["point_hash"].isin(repeated)])  # both sets are the same elsewhere
        left = {key[1:]: count for key, count in left_out.items() if key[0] == machine}
        for key, group in groups.items():
            units = {series.first.unit for series in group.values()}
            if len(units) > 1:
                notes.append(f"case {key[1]}, {key[2]}: mixed units {values_text(units)}; refused")
                continue
            blank = _blank(machine, next(iter(group.values())).first, max(margin, floors.get(key, 0.0)))
            of_case = _rows_of(group, kept.get(key), blank, left, refusals)
            base = next((row for row in of_case if row.is_baseline), None)
            biased = of_noise is not None and of_noise.gate.biased
            rows += [_judge(row, base, fault, biased) for row in of_case]
    order = {int(m): i for i, m in enumerate(data.machines["machine_id"])}
    rows.sort(
        key=lambda r: (
            order.get(r.machine_id, 0),
            natural(r.suite),
            natural(r.point),
            natural(r.case),
            not r.is_baseline,
            not r.aa_copy,
            natural(r.arm),
            r.metric,
        )
    )
    return Comparison(rows, refusals, aa, position, noise, faults, notes + data.bad_rows)


def across_machines(rows: list[Row], usable: dict[int, bool]) -> list[tuple[Row, float, stats.Interval]]:
    """One claim a case over three or more machines; those that share a host or whose session decides nothing make none."""
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        if row.ratio is not None and row.ratio.verdict != "none" and not row.aa_copy and usable.get(row.machine_id):
            groups.setdefault((row.suite, row.point, row.case, row.arm, row.metric), []).append(row)
    found = []
    for members in groups.values():
        logs = [math.log(row.ratio.estimate) for row in members if row.ratio is not None]
        if (result := stats.across_machines(logs)) is not None:
            found.append((members[0], *result))
    return found

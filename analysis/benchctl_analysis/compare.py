"""From scored samples to medians, paired ratios, the A/A check and refusals. Values only; report.py prints them."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from benchctl_analysis import stats
from benchctl_analysis.load import RunData, records
from benchctl_analysis.stats import Median, Ratio, SessionCheck

# What a metric row describes rather than measures: a median is shown, a ratio is not taken.
CONTEXT_METRICS = frozenset({"total", "requests", "errors"})
# Not for the A/A check: the maximum is one extreme a run and would only add noise.
_UNTESTED_METRICS = frozenset({"max"})
_SERIES_KEYS = ["point_hash", "case", "metric", "arm", "aa_copy"]


@dataclass(frozen=True)
class Refusal:
    """Two arms that are not compared, because they did not do the same work."""

    kind: str  # trace | check
    suite: str
    point: str  # "" for every point of the suite
    arm: str
    baseline: str
    text: str


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
    floor: float | None  # the largest of the series' noise floors; None: too few pairs
    called_different: int
    called: int


@dataclass(frozen=True)
class PositionEffect:
    rounds: int
    difference: float  # the first of a group against the others, as a ratio minus one
    p: float


@dataclass
class Comparison:
    rows: list[Row]
    refusals: list[Refusal]
    aa: dict[int, AaResult]
    position: dict[int, PositionEffect]
    notes: list[str]


def natural(text: str) -> list[tuple[int, float, str]]:
    """Sort key: numbers inside a text by value, so that workers=16 follows workers=4."""
    parts = re.split(r"(\d+)", text)
    return [(1, float(part[:300]), "") if part.isascii() and part.isdigit() else (0, 0.0, part) for part in parts]


def _short(digest: str) -> str:
    return digest[:12] if digest else "none"


def trace_refusals(data: RunData) -> tuple[list[Refusal], list[str]]:
    refusals: list[Refusal] = []
    notes: list[str] = []
    baselines = {str(suite): str(group["baseline"].iloc[0]) for suite, group in data.trials.groupby("suite")}
    for suite, group in data.traces.groupby("suite"):
        baseline = baselines.get(str(suite))
        hashes = {str(row.arm): str(row.sha256) for row in records(group)}
        if baseline is None or baseline not in hashes:
            notes.append(f"suite {suite}: no trace of the baseline, so that traces could not be compared")
            continue
        arms = data.trials.loc[data.trials["suite"] == suite, "arm"].unique()
        notes.extend(f"suite {suite}: no trace of {arm}" for arm in arms if arm not in hashes)
        for arm, digest in hashes.items():
            if digest != hashes[baseline]:
                hashes_text = f"{_short(digest)} and {_short(hashes[baseline])}"
                text = f"traces differ: {arm} and {baseline} of suite {suite} are not compared ({hashes_text})"
                refusals.append(Refusal("trace", str(suite), "", arm, baseline, text))
    return refusals, notes


def _values_text(values: set[str]) -> str:
    shown = sorted(values)[:3]
    return ", ".join(shown) + (f" and {len(values) - 3} more" if len(values) > 3 else "")


def check_refusals(data: RunData) -> list[Refusal]:
    """All good trials count here, warm-ups and repeated rounds too: wrong work is wrong in any round."""
    refusals: dict[tuple[str, str, str], Refusal] = {}
    good = data.samples[(data.samples["verdict"] == "ok") & data.samples["check_text"].notna()]
    good = good[good["check_text"].astype(str) != ""]
    for (suite, point, case), group in good.groupby(["suite", "point", "case"], sort=False):
        checks = {str(arm): set(rows["check_text"].astype(str)) for arm, rows in group.groupby("arm")}
        baseline = str(group["baseline"].iloc[0])
        where = f"suite {suite}, " + (f"{point}, " if point else "") + f"case {case}"
        for arm, values in checks.items():
            expected = checks.get(baseline, values)
            if len(values) == 1 and values == expected:
                continue
            if arm == baseline:  # it disagrees with itself
                text = f"checks differ: {arm} disagrees with itself from run to run ({where}: {_values_text(values)})"
            else:
                shown = f"{_values_text(values)} and {_values_text(expected)}"
                text = f"checks differ: {arm} and {baseline} are not compared ({where}: {shown})"
            refusals.setdefault(
                (str(suite), str(point), arm), Refusal("check", str(suite), str(point), arm, baseline, text)
            )
    return list(refusals.values())


def _refused(refusals: list[Refusal], suite: str, point: str, arm: str, baseline: str) -> Refusal | None:
    for refusal in refusals:
        if refusal.suite == suite and refusal.point in ("", point) and refusal.arm in (arm, baseline):
            return refusal
    return None


@dataclass
class _Series:
    """One metric of one arm: its scored values by round."""

    first: Any  # a row of the samples, for what all rows of the series share
    by_round: dict[int, float]
    trials: dict[int, int]  # round -> trial_id

    def paired(self, other: _Series) -> tuple[list[int], list[float], list[float]]:
        rounds = sorted(self.by_round.keys() & other.by_round.keys())
        return rounds, [self.by_round[r] for r in rounds], [other.by_round[r] for r in rounds]


_Group = dict[tuple[str, bool], _Series]  # (arm, A/A copy) -> its series


def _groups(samples: pd.DataFrame) -> dict[tuple[str, str, str], _Group]:
    """By point, case and metric, in order of appearance; one trial a round is scored."""
    groups: dict[tuple[str, str, str], _Group] = {}
    for sample in records(samples):
        group = groups.setdefault((sample.point_hash, sample.case, sample.metric), {})
        series = group.setdefault((sample.arm, bool(sample.aa_copy)), _Series(sample, {}, {}))
        series.by_round.setdefault(int(sample.round), float(sample.value))
        series.trials.setdefault(int(sample.round), int(sample.trial_id))
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
        return AaResult(SessionCheck(0, 0, None, False), 0, None, None, 0, 0), {}
    found = {key: stats.noise_floor(list(values.values())) for key, values in logs.items()}
    floors = {key: floor for key, floor in found.items() if floor is not None}
    every_round = sorted({r for values in logs.values() for r in values})
    table = np.array([[values.get(r, math.nan) for values in logs.values()] for r in every_round])
    result = AaResult(
        check=stats.session_check(table, seed=seed),
        largest_pairs=max(len(values) for values in logs.values()),
        largest_difference=math.expm1(max(abs(v) for values in logs.values() for v in values.values())),
        floor=max(floors.values()) if floors else None,
        called_different=sum(ratio.verdict in ("higher", "lower") for ratio in judged),
        called=len(judged),
    )
    return result, floors


def _position(groups: dict[tuple[str, str, str], _Group], positions: dict[int, int]) -> PositionEffect | None:
    """Does the first of a group run differently? Each value against its own series' median, averaged within a round."""
    off: dict[int, tuple[list[float], list[float]]] = {}
    for group in groups.values():
        for series in group.values():
            first = series.first
            if first.metric in CONTEXT_METRICS | _UNTESTED_METRICS or first.better not in ("lower", "higher"):
                continue
            values = series.by_round
            if min(values.values()) <= 0:
                continue
            middle = float(np.median([math.log(v) for v in values.values()]))
            for number, value in values.items():
                place = positions.get(series.trials[number])
                if place is not None:
                    off.setdefault(number, ([], []))[0 if place == 0 else 1].append(math.log(value) - middle)
    differences = [float(np.mean(a) - np.mean(b)) for a, b in off.values() if a and b]
    check = stats.session_check(np.array(differences, ndmin=2).T) if differences else None
    if check is None or check.p is None:
        return None
    return PositionEffect(len(differences), math.expm1(float(np.median(differences))), check.p)


def _left_out_changes(row: Row) -> bool:
    interval = row.median.interval
    other = row.median_with_left_out
    return interval is not None and other is not None and not interval.low <= other <= interval.high


def _judge(row: Row, aa: AaResult) -> Row:
    """A verdict stands only where the machine passed its A/A check and the left-out trials would not change it."""
    if row.ratio is None or row.ratio.verdict in ("none", "inconclusive"):
        return row
    if aa.check.failed:
        reason = f"the A/A check of this machine failed (p = {aa.check.p:.2g})"
        return replace(row, ratio=replace(row.ratio, verdict="inconclusive", reason=reason))
    if _left_out_changes(row):
        reason = "the median with the left-out attempts lies outside the interval"
        return replace(row, ratio=replace(row.ratio, verdict="inconclusive", reason=reason))
    return row


def compare(data: RunData, margin: float) -> Comparison:
    """`margin`: the user's smallest effect that matters, as a ratio minus one."""
    refusals, notes = trace_refusals(data)
    refusals += check_refusals(data)
    rows: list[Row] = []
    aa: dict[int, AaResult] = {}
    position: dict[int, PositionEffect] = {}
    measured = data.samples[data.samples["value"].notna()]
    scored = measured[measured["scored"]]
    good = measured[(measured["verdict"] == "ok") & (measured["round"] > 0)]
    in_rounds = data.trials[data.trials["round"] > 0]
    left_out = in_rounds[~in_rounds["scored"]].groupby(["machine_id", "point_hash", "arm", "aa_copy"]).size()
    positions = {int(t.trial_id): int(t.position) for t in records(data.trials)}
    for machine_id, of_machine in scored.groupby("machine_id", sort=False):
        machine = int(str(machine_id))
        groups = _groups(of_machine)
        aa[machine], floors = _aa(groups, data.schedule.seed or 0)
        effect = _position(groups, positions)
        if effect is not None:
            position[machine] = effect
        with_left_out = {
            key: (float(values.median()), len(values))
            for key, values in good[good["machine_id"] == machine_id].groupby(_SERIES_KEYS)["value"]
        }
        for key, group in groups.items():
            units = {series.first.unit for series in group.values()}
            if len(units) > 1:
                notes.append(f"case {key[1]}, {key[2]}: mixed units {_values_text(units)}; refused")
                continue
            for (arm, copy), series in group.items():
                first = series.first
                all_median, all_count = with_left_out[(*key, arm, copy)]
                values = [series.by_round[r] for r in sorted(series.by_round)]
                row = Row(
                    machine_id=machine,
                    suite=first.suite,
                    mode=first.mode,
                    point_hash=first.point_hash,
                    point=first.point,
                    case=first.case,
                    arm=arm,
                    aa_copy=copy,
                    baseline=first.baseline,
                    metric=first.metric,
                    unit=first.unit,
                    better=first.better,
                    left_out=int(left_out.get((machine_id, first.point_hash, arm, copy), 0)),
                    values=tuple(values),
                    trials=tuple(series.trials[r] for r in sorted(series.trials)),
                    median=stats.median(values),
                    median_with_left_out=all_median if all_count > len(values) else None,
                    ratio=None,
                    no_ratio="",
                    margin=max(margin, floors.get(key, 0.0)),
                )
                refusal = _refused(refusals, row.suite, row.point, row.arm, row.baseline)
                ratio, why = _ratio(row, series, group.get((row.baseline, False)), refusal)
                rows.append(_judge(replace(row, ratio=ratio, no_ratio=why), aa[machine]))
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
    return Comparison(rows, refusals, aa, position, notes + data.bad_rows)


def across_machines(rows: list[Row], isolated: dict[int, bool]) -> list[tuple[Row, float, stats.Interval]]:
    """One claim a case over three or more machines; machines that share a host count once and so make no claim."""
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        if row.ratio is not None and row.ratio.verdict != "none" and not row.aa_copy and isolated.get(row.machine_id):
            groups.setdefault((row.suite, row.point, row.case, row.arm, row.metric), []).append(row)
    found = []
    for members in groups.values():
        logs = [math.log(row.ratio.estimate) for row in members if row.ratio is not None]
        if (result := stats.across_machines(logs)) is not None:
            found.append((members[0], *result))
    return found

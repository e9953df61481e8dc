"""From scored samples to medians, paired ratios, the A/A check and refusals. Values only; report.py prints them."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy import stats as sps

from benchctl_analysis import stats
from benchctl_analysis.load import RunData, records
from benchctl_analysis.stats import Median, Ratio, SessionCheck

# What a metric row describes rather than measures: a median is shown, a ratio is not taken.
CONTEXT_METRICS = frozenset({"total", "requests", "errors"})
# Not for the A/A check: the maximum is one extreme a run and would only add noise.
_UNTESTED_METRICS = frozenset({"max"})


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


def _series(frame: pd.DataFrame) -> pd.Series:
    """Value by round; one trial a round is scored."""
    return frame.drop_duplicates("round").set_index("round")["value"].sort_index()


def _bad_ratio_value(name: str, values: pd.Series) -> str:
    bad = values[values <= 0]
    return "" if bad.empty else f"no ratio: {name}, round {bad.index[0]} is {bad.iloc[0]:g}, not above zero"


def _ratio(
    row: Row, candidate: pd.Series, baseline: pd.Series | None, refusal: Refusal | None
) -> tuple[Ratio | None, str]:
    if row.is_baseline or row.better not in ("lower", "higher") or row.metric in CONTEXT_METRICS:
        return None, ""
    if refusal is not None:
        return None, f"refused: {refusal.kind}s differ"
    if baseline is None or baseline.empty:
        return None, "no ratio: the baseline has no good run of this case"
    both = candidate.index.intersection(baseline.index)
    if both.empty:
        return None, "no ratio: no round has both arms"
    a, b = candidate.loc[both], baseline.loc[both]
    bad = _bad_ratio_value(row.label, a) or _bad_ratio_value(row.baseline, b)
    if bad:
        return None, bad
    return stats.paired_ratio(a.to_numpy(dtype=float), b.to_numpy(dtype=float), row.margin), ""


def _aa_table(samples: pd.DataFrame) -> tuple[pd.DataFrame, list[Ratio]]:
    """ln(copy / original): a row a round, a column a series; and each series' own ratio."""
    columns: dict[str, pd.Series] = {}
    ratios: list[Ratio] = []
    own = samples[samples["arm"] == samples["baseline"]]
    for key, group in own.groupby(["point_hash", "case", "metric"], sort=True):
        metric, better = str(group["metric"].iloc[0]), str(group["better"].iloc[0])
        if metric in CONTEXT_METRICS or metric in _UNTESTED_METRICS or better not in ("lower", "higher"):
            continue
        copy, original = _series(group[group["aa_copy"]]), _series(group[~group["aa_copy"]])
        both = copy.index.intersection(original.index)
        a, b = copy.loc[both], original.loc[both]
        if both.empty or bool((a <= 0).any()) or bool((b <= 0).any()):
            continue
        columns["\0".join(map(str, key))] = np.log(a) - np.log(b)
        ratios.append(stats.paired_ratio(a.to_numpy(dtype=float), b.to_numpy(dtype=float), 0.0))
    return pd.DataFrame(columns), ratios


def _aa(samples: pd.DataFrame, seed: int) -> tuple[AaResult, dict[str, float]]:
    table, ratios = _aa_table(samples)
    if table.empty:
        return AaResult(SessionCheck(0, 0, None, False), 0, None, None, 0, 0), {}
    floors = {
        str(name): floor
        for name, column in table.items()
        if (floor := stats.noise_floor(column.dropna().to_numpy())) is not None
    }
    judged = [ratio for ratio in ratios if ratio.verdict != "none"]
    result = AaResult(
        check=stats.session_check(table.to_numpy(dtype=float), seed=seed),
        largest_pairs=int(table.count().max()),
        largest_difference=float(np.expm1(np.nanmax(np.abs(table.to_numpy(dtype=float))))),
        floor=max(floors.values()) if floors else None,
        called_different=sum(ratio.verdict in ("higher", "lower") for ratio in judged),
        called=len(judged),
    )
    return result, floors


def _position(samples: pd.DataFrame, trials: pd.DataFrame) -> PositionEffect | None:
    """Does the first of a group run differently? Each value against its own series' median, averaged within a round."""
    usable = samples[
        samples["better"].isin(["lower", "higher"])
        & ~samples["metric"].isin(CONTEXT_METRICS | _UNTESTED_METRICS)
        & (samples["value"] > 0)
    ].merge(trials[["trial_id", "position"]], on="trial_id")
    if usable.empty or usable["position"].nunique() < 2:
        return None
    usable = usable.assign(log=np.log(usable["value"].astype(float)), first=usable["position"] == 0)
    series = usable.groupby(["point_hash", "case", "metric", "arm", "aa_copy"])["log"]
    usable["off"] = usable["log"] - series.transform("median")
    by_round = usable.groupby(["round", "first"])["off"].mean().unstack()
    if True not in by_round.columns or False not in by_round.columns:
        return None
    difference = (by_round[True] - by_round[False]).dropna()
    if len(difference) < stats.MIN_ROUNDS:
        return None
    p = 1.0 if bool((difference == 0).all()) else float(sps.wilcoxon(difference.to_numpy()).pvalue)
    return PositionEffect(len(difference), float(np.expm1(difference.median())), p)


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
    for machine_id, of_machine in scored.groupby("machine_id", sort=False):
        machine = int(str(machine_id))
        aa[machine], floors = _aa(of_machine, data.schedule.seed or 0)
        effect = _position(of_machine, data.trials)
        if effect is not None:
            position[machine] = effect
        every = good[good["machine_id"] == machine_id]
        with_left_out = {
            key: (float(values.median()), len(values))
            for key, values in every.groupby(["point_hash", "case", "metric", "arm", "aa_copy"])["value"]
        }
        for (point_hash, case, metric), group in of_machine.groupby(["point_hash", "case", "metric"], sort=False):
            units = set(group["unit"])
            if len(units) > 1:
                notes.append(f"case {case}, {metric}: mixed units {_values_text(units)}; refused")
                continue
            baseline_arm = str(group["baseline"].iloc[0])
            base = group[(group["arm"] == baseline_arm) & ~group["aa_copy"]]
            base_series = None if base.empty else _series(base)
            for (arm, copy), own in group.groupby(["arm", "aa_copy"], sort=False):
                series = _series(own)
                all_median, all_count = with_left_out[(point_hash, case, metric, arm, copy)]
                row = Row(
                    machine_id=machine,
                    suite=str(own["suite"].iloc[0]),
                    mode=str(own["mode"].iloc[0]),
                    point_hash=str(point_hash),
                    point=str(own["point"].iloc[0]),
                    case=str(case),
                    arm=str(arm),
                    aa_copy=bool(copy),
                    baseline=baseline_arm,
                    metric=str(metric),
                    unit=str(own["unit"].iloc[0]),
                    better=str(own["better"].iloc[0]),
                    left_out=int(left_out.get((machine_id, point_hash, arm, copy), 0)),
                    median=stats.median(series.to_numpy(dtype=float)),
                    median_with_left_out=all_median if all_count > len(series) else None,
                    ratio=None,
                    no_ratio="",
                    margin=max(margin, floors.get("\0".join(map(str, (point_hash, case, metric))), 0.0)),
                )
                refusal = _refused(refusals, row.suite, row.point, row.arm, baseline_arm)
                ratio, why = _ratio(row, series, base_series, refusal)
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

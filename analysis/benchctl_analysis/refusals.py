"""Arms that did not do the same work are not compared: what their traces and checks say."""

from __future__ import annotations

from dataclasses import dataclass

from benchctl_analysis.load import RunData, records


@dataclass(frozen=True)
class Refusal:
    """Two arms that are not compared, because they did not do the same work."""

    kind: str  # trace | check
    suite: str
    point: str  # "" for every point of the suite
    arm: str
    baseline: str
    text: str


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


def values_text(values: set[str]) -> str:
    shown = sorted(values)[:3]
    return ", ".join(shown) + (f" and {len(values) - 3} more" if len(values) > 3 else "")


def check_refusals(data: RunData) -> list[Refusal]:
    """All good trials count here, warm-ups and repeated rounds too: wrong work is wrong in any round."""
    refusals: dict[tuple[str, str, str], Refusal] = {}
    seen: dict[tuple[str, str, str], dict[str, set[str]]] = {}
    baselines: dict[tuple[str, str, str], str] = {}
    good = data.samples[(data.samples["verdict"] == "ok") & data.samples["check_text"].notna()]
    good = good[good["check_text"].astype(str) != ""]
    for row in records(good.drop_duplicates(["suite", "point", "case", "arm", "check_text"])):
        key = (str(row.suite), str(row.point), str(row.case))
        seen.setdefault(key, {}).setdefault(str(row.arm), set()).add(str(row.check_text))
        baselines.setdefault(key, str(row.baseline))
    for (suite, point, case), by_arm in seen.items():
        checks = dict(sorted(by_arm.items()))
        baseline = baselines[suite, point, case]
        where = f"suite {suite}, " + (f"{point}, " if point else "") + f"case {case}"
        for arm, values in checks.items():
            expected = checks.get(baseline, values)
            if len(values) == 1 and values == expected:
                continue
            if arm == baseline:  # it disagrees with itself
                text = f"checks differ: {arm} disagrees with itself from run to run ({where}: {values_text(values)})"
            else:
                shown = f"{values_text(values)} and {values_text(expected)}"
                text = f"checks differ: {arm} and {baseline} are not compared ({where}: {shown})"
            refusals.setdefault((suite, point, arm), Refusal("check", suite, point, arm, baseline, text))
    return list(refusals.values())


def refused(refusals: list[Refusal], suite: str, point: str, arm: str, baseline: str) -> Refusal | None:
    for refusal in refusals:
        if refusal.suite == suite and refusal.point in ("", point) and refusal.arm in (arm, baseline):
            return refusal
    return None

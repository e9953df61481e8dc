"""The quietness grade of a machine, A to F. docs/reading-a-report.md has the same table for readers.

Every part is graded by itself, and the worst one is the machine's: a machine is as quiet as its loudest part. Bounds
were set so that A is what a dedicated machine with nothing running gives, and E what nobody should measure on. F is
no matter of degree: a check failed and no verdict stands.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from benchctl_analysis.compare import AaResult
from benchctl_analysis.hardening import Proofs
from benchctl_analysis.noise import MachineNoise
from benchctl_analysis.numbers import digits, percent
from benchctl_analysis.parts import plural

SHARED = "n/a (shared host)"
_LETTERS = "ABCDE"
# Up to the first bound A, up to the second B, and so on; above the last E.
BOUNDS: dict[str, tuple[float, float, float, float]] = {
    "Steal": (0.0, 0.01, 0.05, 0.20),  # share of trials above the plan's max_steal
    "Repeated rounds": (0.0, 0.02, 0.05, 0.20),  # share of point-rounds
    "Throttled": (0.0, 0.01, 0.05, 0.20),  # share of trials
    "Probe jitter": (0.01, 0.03, 0.10, 0.30),  # p99 / p50 - 1 of the spin, median over the probes
    "Probe speed": (0.01, 0.02, 0.05, 0.15),  # slowest / fastest p50 - 1 over the probes
    "Other processes": (0.02, 0.05, 0.10, 0.50),  # CPUs that they used before a round, median
    "A/A spread": (0.005, 0.01, 0.02, 0.05),  # |ratio - 1| between identical runs, median
}


@dataclass(frozen=True)
class Part:
    name: str
    seen: str
    grade: str  # A to F; "" where it is not known


@dataclass(frozen=True)
class Grade:
    letter: str  # or SHARED
    parts: list[Part]
    note: str


def letter(name: str, value: float) -> str:
    return next((g for g, bound in zip(_LETTERS, BOUNDS[name], strict=False) if value <= bound + 1e-12), "E")


def _part(name: str, value: float | None, text: Callable[[float], str], why: str) -> Part:
    return Part(name, why, "") if value is None else Part(name, text(value), letter(name, value))


def _share(hits: int, of: int) -> float | None:
    return hits / of if of else None


def _median(values: Any) -> float | None:
    some = values.dropna()
    return None if some.empty else float(some.median())


def _probe_parts(probes: pd.DataFrame) -> list[Part]:
    spun = probes[(probes["spin_p50_ns"].fillna(0) > 0) & probes["spin_p99_ns"].notna()]
    jitter = _median(spun["spin_p99_ns"] / spun["spin_p50_ns"] - 1)
    middle = spun["spin_p50_ns"].astype(float)
    speed = float(middle.max() / middle.min() - 1) if len(middle) > 1 else None
    return [
        _part("Probe jitter", jitter, lambda v: f"p99 of the spin {percent(v)} above its median", "no probe"),
        _part(
            "Probe speed", speed, lambda v: f"slowest probe {percent(v)} behind the fastest", "fewer than two probes"
        ),
        _part(
            "Other processes", _median(probes["busy"].astype(float)), lambda v: f"{digits(v)} CPUs busy", "not measured"
        ),
    ]


def _aa_part(aa: AaResult | None) -> Part:
    if aa is not None and aa.check.failed:
        return Part("A/A spread", "the A/A check failed", "F")
    typical = None if aa is None else aa.typical_difference
    return _part("A/A spread", typical, lambda v: f"identical runs differ by {percent(v)}", "no A/A pairs")


def _proof_part(proofs: Proofs) -> Part:
    if proofs.problems:
        return Part("Timers proof", f"failed: {plural(len(proofs.problems), 'problem')}", "F")
    if proofs.passed:
        return Part("Timers proof", f"passed {plural(proofs.passed, 'time')}", "A")
    return Part("Timers proof", "not asked for: nothing proves that timers stood still", "B")


def grade(
    trials: pd.DataFrame, noise: MachineNoise | None, probes: pd.DataFrame, aa: AaResult | None, proofs: Proofs
) -> Grade:
    measured = sum(arm.measured for arm in noise.arms) if noise else 0
    ran = sum(arm.trials for arm in noise.arms) if noise else 0
    flagged = sum(arm.flagged for arm in noise.arms) if noise else 0
    in_rounds = trials[trials["round"] > 0]
    throttled = int((in_rounds["verdict"] == "throttled").sum())
    parts = [
        _part(
            "Steal",
            _share(flagged, measured) if 2 * measured >= ran else None,
            lambda _: f"{flagged} of {measured} trials flagged",
            f"measured in {measured} of {ran} trials only",
        ),
        _part(
            "Repeated rounds",
            None if noise is None or not noise.point_rounds else noise.repeated_share,
            lambda _: f"{noise.repeats if noise else 0} of {noise.point_rounds if noise else 0} points of rounds",
            "no scored round",
        ),
        _part("Throttled", _share(throttled, len(in_rounds)), lambda _: plural(throttled, "trial"), "no trials"),
        *_probe_parts(probes),
        _aa_part(aa),
        _proof_part(proofs),
    ]
    if noise is not None and noise.quarantine:
        parts[1] = Part("Repeated rounds", "the session is quarantined", "F")
    if noise is None or not noise.isolated:
        return Grade(SHARED, parts, "No grade: the machine shares its host, and what others do there is not seen.")
    worst = max((part.grade for part in parts if part.grade), default="")
    unknown = [part.name for part in parts if not part.grade]
    note = f"The grade is that of the worst part{'' if not unknown else '; not better than B, as these are not known: ' + ', '.join(unknown)}."
    return Grade(max(worst, "B") if unknown else worst, parts, note)

"""The plan's noise rule looked at from its result: who was rejected, was it fair, and is the session still usable."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

import pandas as pd

from benchctl_analysis.gates import Block, GateCheck, equal_rates
from benchctl_analysis.load import RunData, Schedule, records
from benchctl_analysis.numbers import digits
from benchctl_analysis.parts import plural


@dataclass(frozen=True)
class ArmNoise:
    """Scored rounds, all attempts, trials with verdict ok."""

    label: str
    trials: int
    unmeasured: int
    listed: int  # steal above 0
    flagged: int  # above max_steal
    rejected: int  # above repeat_steal

    @property
    def measured(self) -> int:
        return self.trials - self.unmeasured


@dataclass(frozen=True)
class MachineNoise:
    isolated: bool
    arms: list[ArmNoise]
    point_rounds: int  # points of scored rounds that ran here
    repeats: int  # attempts that a later one replaced because of steal
    redone: int  # attempts that a later one replaced for another reason: a restart, a resume
    standing: int  # scored trials above repeat_steal: nothing replaced them
    allowed: float  # repeats that the plan has room for
    gate: GateCheck
    quarantine: str  # why no verdict of this session stands; "" where it does

    @property
    def repeated_share(self) -> float:
        return self.repeats / self.point_rounds if self.point_rounds else 0.0


def label_of(arm: str, aa_copy: bool) -> str:
    return f"{arm} (A/A copy)" if aa_copy else arm


def _quarantine(repeats: int, standing: int, allowed: float, schedule: Schedule) -> str:
    """Beyond the plan's share, or its budget used up while noisy trials stand. Rounding is in favour of the session."""
    used_up = standing > 0 and repeats + standing > math.floor(allowed)
    if repeats <= math.ceil(allowed) and not used_up:
        return ""
    share, bound = digits(100 * schedule.max_repeats_share), digits(schedule.repeat_steal_percent)
    text = f"{plural(repeats, 'repeat')} of rounds because of steal, where the plan allows {share} % of them"
    return text + (f", and {plural(standing, 'scored trial')} still above {bound} % steal" if standing else "")


@dataclass
class _Counts:
    trials: int = 0
    unmeasured: int = 0
    listed: int = 0
    flagged: int = 0
    rejected: int = 0


@dataclass
class _Attempt:
    noisy: set[str]
    replaced: bool = False


def of_machine(trials: pd.DataFrame, schedule: Schedule, isolated: bool, seed: int) -> MachineNoise:
    """`trials` of one machine, marked by load.mark_scored and mark_over."""
    counted: dict[str, _Counts] = {}
    arms_of: dict[str, set[str]] = {}
    attempts: dict[tuple[str, int, int], _Attempt] = {}
    standing = 0
    for trial in records(trials[(trials["round"] > 0) & (trials["verdict"] == "ok")]):
        label, point = label_of(str(trial.arm), bool(trial.aa_copy)), str(trial.point_hash)
        steal = math.nan if trial.steal_percent is None else float(trial.steal_percent)
        over = bool(trial.over)
        count = counted.setdefault(label, _Counts())
        count.trials += 1
        count.unmeasured += math.isnan(steal)
        count.listed += steal > 0
        count.flagged += steal > schedule.max_steal_percent
        count.rejected += over
        arms_of.setdefault(point, set()).add(label)
        attempt = attempts.setdefault((point, int(trial.round), int(trial.attempt)), _Attempt(set()))
        if over:
            attempt.noisy.add(label)
        attempt.replaced = attempt.replaced or trial.left_out == "round repeated"
        standing += over and bool(trial.scored)
    names = {point: tuple(sorted(labels)) for point, labels in arms_of.items()}
    blocks = [Block(names[point], frozenset(attempt.noisy)) for (point, _, _), attempt in attempts.items()]
    repeats = sum(bool(attempt.noisy) for attempt in attempts.values() if attempt.replaced)
    point_rounds = len({(point, number) for point, number, _ in attempts})
    allowed = schedule.max_repeats_share * point_rounds
    return MachineNoise(
        isolated=isolated,
        arms=[ArmNoise(label, **asdict(count)) for label, count in sorted(counted.items())],
        point_rounds=point_rounds,
        repeats=repeats,
        redone=sum(attempt.replaced for attempt in attempts.values()) - repeats,
        standing=standing,
        allowed=allowed,
        gate=equal_rates(blocks, seed),
        quarantine=_quarantine(repeats, standing, allowed, schedule) if isolated else "",
    )


def noise_by_machine(data: RunData) -> dict[int, MachineNoise]:
    isolated = {int(m.machine_id): bool(m.isolated) for m in records(data.machines)}
    return {
        int(str(machine)): of_machine(
            trials, data.schedule, isolated.get(int(str(machine)), False), data.schedule.seed or 0
        )
        for machine, trials in data.trials.groupby("machine_id", sort=False)
    }


def gate_text(noise: MachineNoise) -> str:
    """The alarm in words; "" for a gate that looks fair."""
    gate = noise.gate
    if not gate.biased or gate.p is None:
        return ""
    return (
        f"the noise gate does not treat the arms alike: {gate.arm} was rejected {digits(gate.factor, 2)} times as often as "
        f"chance would have it (p = {gate.p:.2g} over {gate.rejected} rejected trials), so that its disturbed runs go "
        "missing and its numbers look better or worse than they are"
    )

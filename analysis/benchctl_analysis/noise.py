"""The plan's noise rule looked at from its result: who was rejected, was it fair, and is the session still usable."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pandas as pd

from benchctl_analysis.gates import Block, GateCheck, equal_rates
from benchctl_analysis.load import RunData, Schedule, records
from benchctl_analysis.numbers import digits


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
    text = f"{repeats} repeats of rounds because of steal, where the plan allows {share} % of them"
    return text + (f", and {standing} scored trials still above {bound} % steal" if standing else "")


def _of_machine(trials: pd.DataFrame, schedule: Schedule, isolated: bool, seed: int) -> MachineNoise:
    in_rounds = trials[(trials["round"] > 0) & (trials["verdict"] == "ok")]
    steal = in_rounds["steal_percent"].astype(float)
    over = steal > schedule.repeat_steal_percent  # NaN, not measured, is never over
    labels = [label_of(a, c) for a, c in zip(in_rounds["arm"], in_rounds["aa_copy"], strict=True)]
    marked = in_rounds.assign(label=labels, over=over, above=steal > schedule.max_steal_percent, listed=steal > 0)
    arms = [
        ArmNoise(
            label=str(label),
            trials=len(group),
            unmeasured=int(group["steal_percent"].isna().sum()),
            listed=int(group["listed"].sum()),
            flagged=int(group["above"].sum()),
            rejected=int(group["over"].sum()),
        )
        for label, group in marked.groupby("label", sort=False)
    ]
    of_point = {str(point): tuple(sorted(set(group["label"]))) for point, group in marked.groupby("point_hash")}
    blocks: list[Block] = []
    repeats = redone = 0
    for _, group in marked.groupby(["point_hash", "round", "attempt"], sort=False):
        noisy = frozenset(str(t.label) for t in records(group[group["over"]]))
        blocks.append(Block(of_point[str(group["point_hash"].iloc[0])], noisy))
        if bool((group["left_out"] == "round repeated").any()):
            repeats += bool(noisy)
            redone += not noisy
    standing = int((marked["over"] & marked["scored"]).sum())
    point_rounds = marked.groupby(["point_hash", "round"]).ngroups
    allowed = schedule.max_repeats_share * point_rounds
    return MachineNoise(
        isolated=isolated,
        arms=arms,
        point_rounds=point_rounds,
        repeats=repeats,
        redone=redone,
        standing=standing,
        allowed=allowed,
        gate=equal_rates(blocks, seed),
        quarantine=_quarantine(repeats, standing, allowed, schedule) if isolated else "",
    )


def noise_by_machine(data: RunData) -> dict[int, MachineNoise]:
    isolated = {int(m.machine_id): bool(m.isolated) for m in records(data.machines)}
    return {
        int(str(machine)): _of_machine(
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

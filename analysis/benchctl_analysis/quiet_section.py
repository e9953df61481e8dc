"""Section "How quiet it was" of a machine's report: grade, A/A check, order, noise rule, probes, what was left out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd

from benchctl_analysis import numbers, plots, stats
from benchctl_analysis.compare import AaResult, Comparison, PositionEffect
from benchctl_analysis.load import RunData, Schedule, records
from benchctl_analysis.noise import MachineNoise, gate_text
from benchctl_analysis.parts import Cell, Plot, Section, Table, cells, plural
from benchctl_analysis.quiet import Grade

MAX_LISTED = 100


def smallest_difference(comparison: Comparison, machine_id: int) -> str:
    aa = comparison.aa.get(machine_id)
    if aa is None or aa.largest_pairs == 0:
        return "unknown (no A/A pairs)"
    if aa.floor is None:
        return f"unknown ({aa.largest_pairs} A/A pairs)"
    return numbers.percent(aa.floor)


def _aa_paragraphs(aa: AaResult | None) -> list[Cell]:
    if aa is None or aa.largest_pairs == 0:
        return [Cell("This run has no duplicate of the baseline, so nothing says what this machine can tell apart.")]
    out = []
    if aa.floor is None:
        seen = "" if aa.largest_difference is None else numbers.percent(aa.largest_difference)
        out.append(
            Cell(
                f"The smallest difference that this machine can tell apart is unknown: {aa.largest_pairs} pairs of baseline "
                f"and duplicate in a series, at least {stats.MIN_FLOOR_PAIRS} are needed. The largest difference seen between "
                f"two runs of identical code was {seen}; that is no bound."
            )
        )
    else:
        out.append(
            Cell(
                f"The smallest difference that this machine can tell apart in this run is {numbers.percent(aa.floor)} (95th "
                "percentile of the difference between identical runs)."
            )
        )
    if aa.check.p is None:
        out.append(Cell(f"The A/A check needs {stats.MIN_ROUNDS} rounds; this run has {aa.check.pairs}."))
    elif aa.check.failed:
        out.append(
            Cell(
                f"The A/A check failed (p = {aa.check.p:.2g}): the baseline and its duplicate differ, although they are the "
                "same program. No verdict of this machine stands; run it again.",
                "bad",
            )
        )
    else:
        out.append(Cell(f"The A/A check passed: one test over {aa.check.series} series, p = {aa.check.p:.2g}."))
    bounds = stats.rate_bounds(aa.called_different, aa.called)
    if bounds is not None:
        out.append(
            Cell(
                f"{aa.called_different} of {aa.called} A/A comparisons were called different: a false-alarm rate between "
                f"{numbers.percent(bounds.low)} and {numbers.percent(bounds.high)} (95 % bounds, as if they were independent)."
            )
        )
    return out


def _position_paragraph(effect: PositionEffect | None) -> Cell:
    if effect is None:
        return Cell(f"The effect of the place in the order cannot be tested below {stats.MIN_ROUNDS} scored rounds.")
    shows = effect.p <= stats.ALPHA
    word = "An effect of the place in the order shows" if shows else "No effect of the place in the order shows"
    each = ", ".join(f"{i + 1}: {numbers.percent(d, 2)}" for i, d in enumerate(effect.differences[:12]))
    return Cell(
        f"{word} (p = {effect.p:.2g} over {effect.rounds} rounds). Each place against the others of its group: {each}.",
        "bad" if shows else "",
    )


def _gate_paragraph(noise: MachineNoise) -> Cell:
    gate = noise.gate
    if gate.p is None:
        what = "no trial was rejected" if gate.rejected == 0 else "every arm was rejected alike"
        return Cell(f"Rejections by arm: {what}, so there is nothing to compare.")
    alarm = gate_text(noise)
    if alarm:
        return Cell(
            alarm[0].upper()
            + alarm[1:]
            + ". A verdict stands only where it is the same with the rejected rounds kept.",
            "bad",
        )
    text = (
        f"The arms were rejected alike, as far as {plural(gate.rejected, 'rejected trial')} can tell (p = {gate.p:.2g})"
    )
    if gate.power is not None and gate.power < 0.8:
        text += (
            f"; a gate that rejects one arm three times as often would be seen in {numbers.percent(gate.power, 2)} "
            "of such runs only"
        )
    return Cell(text + ".")


def _repeat_paragraph(noise: MachineNoise, schedule: Schedule) -> Cell:
    bound, share = numbers.digits(schedule.repeat_steal_percent), numbers.digits(100 * schedule.max_repeats_share)
    if not noise.isolated:
        over = sum(arm.rejected for arm in noise.arms)
        return Cell(
            f"Rules about steal only flag on a shared host: {plural(over, 'trial')} above {bound} %, nothing is quarantined."
        )
    text = (
        f"{noise.repeats} of {plural(noise.point_rounds, 'point')} of scored rounds were repeated because a trial lost more "
        f"than {bound} % to steal; the plan allows {share} %."
    )
    if noise.redone:
        text += f" {plural(noise.redone, 'attempt')} more began anew after a restart or resume."
    if noise.standing:
        text += f" Scored although above the bound: {plural(noise.standing, 'trial')}."
    if noise.quarantine:
        return Cell(f"Quarantined: {noise.quarantine}. No verdict of this session stands.", "bad")
    return Cell(text)


def _noise_table(noise: MachineNoise, schedule: Schedule, functional: bool) -> Table:
    flag, reject = numbers.digits(schedule.max_steal_percent), numbers.digits(schedule.repeat_steal_percent)
    rows = []
    for arm in noise.arms:
        rate = stats.rate_bounds(arm.rejected, arm.measured)
        shown = "not measured"
        if rate is not None:
            share = numbers.percent(arm.rejected / arm.measured, 2)
            shown = f"{share} ({numbers.percent(rate.low, 2)} to {numbers.percent(rate.high, 2)})"
        counts = (arm.trials, arm.unmeasured, arm.listed, arm.flagged, arm.rejected)
        rows.append([*cells(arm.label, *map(str, counts), shown)])
    headings = ("Trials", "Not measured", "Steal above 0", f"Flagged, above {flag} %", f"Rejected, above {reject} %")
    columns = [("Runner", "l"), *((name, "r") for name in headings), ("Rate of rejection, 95 % bounds", "r")]
    notes = [
        "All attempts of scored rounds count here. A rejection repeats the whole round of that point, for every arm."
    ]
    return Table("What the noise rule saw, by arm", columns, rows, functional, notes)


def _grade_table(grade: Grade, functional: bool) -> Table:
    kinds = {"A": "good", "B": "good", "F": "bad", "E": "bad", "": "soft"}
    rows = [[Cell(p.name), Cell(p.seen), Cell(p.grade or "not known", kinds.get(p.grade, ""))] for p in grade.parts]
    columns = [("Part", "l"), ("Seen", "l"), ("Grade", "l")]
    return Table("Quietness by part", columns, rows, functional, [grade.note])


def _number(value: Any, unit: str = "") -> str:
    return "not measured" if pd.isna(value) else f"{numbers.digits(float(value))} {unit}".rstrip()


def _duration(ns: Any) -> str:
    return "not measured" if pd.isna(ns) else numbers.quantity(float(ns), "ns")


def _probe_table(probes: pd.DataFrame, functional: bool) -> Table:
    rows = [
        cells(
            f"{probe.round}{' (warm-up)' if probe.round <= 0 else ''}",
            _number(probe.busy),
            *(_duration(ns) for ns in (probe.spin_p50_ns, probe.spin_p99_ns, probe.spin_max_ns)),
            "not measured" if pd.isna(probe.steal_jiffies) else f"{probe.steal_jiffies:,.0f}",
            _number(probe.psi_cpu_some, "%"),
        )
        for probe in records(probes.head(MAX_LISTED))
    ]
    headings = (
        "CPUs busy with others",
        "Spin, median",
        "99th percentile",
        "Longest",
        "Steal, ticks",
        "Waiting for CPU",
    )
    columns = [("Round", "r"), *((name, "r") for name in headings)]
    notes = ["Before each round the agent runs the same short calculation again and again: what differs is noise."]
    if len(probes) > MAX_LISTED:
        notes.append(f"{len(probes) - MAX_LISTED} more probes are in the store.")
    return Table("Probes before the rounds", columns, rows, functional, notes)


def _probe_plot(probes: pd.DataFrame) -> Plot | None:
    spun = probes[probes["spin_p50_ns"].fillna(0) > 0]
    if len(spun) < 2:
        return None
    start = int(spun["taken_ms"].min())
    looks = [
        plots.Look(
            (probe.taken_ms - start) / 1000,
            tuple(_micros(ns) for ns in (probe.spin_p50_ns, probe.spin_p99_ns, probe.spin_max_ns)),
            None if pd.isna(probe.busy) else float(probe.busy),
            None if pd.isna(probe.steal_jiffies) else float(probe.steal_jiffies),
        )
        for probe in records(spun)
    ]
    return Plot(
        "Probes over time",
        plots.probe_plot(looks, "probes"),
        "Lines that lie flat and close together are a quiet machine.",
    )


def _micros(ns: Any) -> float | None:
    return None if pd.isna(ns) or ns <= 0 else float(ns) / 1000


def trial_name(trial: Any) -> str:
    return f"{trial.number} a{trial.attempt}"


def _own_steal(trial: Any) -> str:
    """Of a repeated round: what this trial itself lost; the whole round goes with its worst."""
    return f"steal {numbers.digits(trial.steal_percent)} %" if (trial.steal_percent or 0) > 0 else ""


def left_out_table(trials: pd.DataFrame, reason_text: Callable[[object], str], functional: bool) -> Table | None:
    some = trials[(trials["left_out"] != "") & ((trials["left_out"] != "warm-up") | (trials["verdict"] != "ok"))]
    if some.empty:
        return None
    rows = []
    for t in records(some.head(MAX_LISTED)):
        bad = t.verdict != "ok"
        why = str(t.verdict) if bad else str(t.left_out)
        rows.append(
            [
                Cell(trial_name(t)),
                Cell(" ".join(filter(None, (t.suite, t.point)))),
                Cell(t.arm + (" (A/A copy)" if t.aa_copy else "")),
                Cell(str(t.round)),
                Cell(why, "bad" if bad else "soft"),
                Cell(reason_text(t.reason) if t.reason else _own_steal(t)),
            ]
        )
    notes = [f"{len(some) - MAX_LISTED} more are in the store."] if len(some) > MAX_LISTED else []
    columns = [("Trial", "r"), ("Point", "l"), ("Runner", "l"), ("Round", "r"), ("Why", "l"), ("Reason", "l")]
    return Table("Trials that failed or were left out", columns, rows, functional, notes)


def _steal_word(trial: Any, schedule: Schedule) -> Cell:
    if trial.over and trial.round > 0:
        stands = bool(trial.scored)
        return Cell("above the bound, stands" if stands else "rejected", "bad" if stands else "")
    return Cell("flagged" if trial.steal_percent > schedule.max_steal_percent else "listed")


def steal_table(trials: pd.DataFrame, schedule: Schedule, functional: bool) -> Table | None:
    some = trials[trials["steal_percent"].fillna(0) > 0].sort_values("steal_percent", ascending=False)
    if some.empty:
        return None
    rows = [
        [
            Cell(trial_name(t)),
            Cell(" ".join(filter(None, (t.suite, t.point)))),
            Cell(t.arm + (" (A/A copy)" if t.aa_copy else "")),
            Cell(str(t.round)),
            Cell(f"{numbers.digits(t.steal_percent)} %", "bad" if t.steal_percent > schedule.max_steal_percent else ""),
            _steal_word(t, schedule),
        ]
        for t in records(some.head(MAX_LISTED))
    ]
    notes = [f"Any steal above 0 is listed; above {numbers.digits(schedule.max_steal_percent)} % it is flagged."]
    if len(some) > MAX_LISTED:
        notes.append(f"The {len(some) - MAX_LISTED} smaller ones are in steal.csv.")
    columns = [("Trial", "r"), ("Point", "l"), ("Runner", "l"), ("Round", "r"), ("Steal", "r"), ("", "l")]
    return Table("Steal", columns, rows, functional, notes)


def _unmeasured_paragraph(trials: pd.DataFrame, reason_text: Callable[[object], str]) -> list[Cell]:
    unmeasured = trials[trials["steal_percent"].isna()]
    if unmeasured.empty:
        return []
    notes = [reason_text(n) for n in unmeasured["steal_note"].unique()[:4] if n]
    said = f": {'; '.join(notes)}." if notes else "."
    return [Cell(f"Steal was not measured in {len(unmeasured)} of {len(trials)} trials{said}")]


def section(
    data: RunData,
    comparison: Comparison,
    trials: pd.DataFrame,
    machine_id: int,
    grade: Grade,
    functional: bool,
    reason_text: Callable[[object], str],
) -> Section:
    made = Section("How quiet it was", "quiet")
    noise = comparison.noise.get(machine_id)
    if functional:
        made.paragraphs.append(Cell("Functional: this machine shared its host, so its grade is n/a (shared host)."))
    else:
        made.paragraphs.append(Cell(f"Quietness grade {grade.letter}.", "bad" if grade.letter in "EF" else "strong"))
    made.paragraphs += _aa_paragraphs(comparison.aa.get(machine_id))
    if trials["position"].nunique() > 1:
        made.paragraphs.append(_position_paragraph(comparison.position.get(machine_id)))
    if noise is not None:
        made.paragraphs += [_repeat_paragraph(noise, data.schedule), _gate_paragraph(noise)]
    steal = steal_table(trials, data.schedule, functional)
    measured = int(trials["steal_percent"].notna().sum())
    if steal is None and measured:
        made.paragraphs.append(Cell(f"No steal in any of the {measured} trials where it could be measured."))
    made.paragraphs += _unmeasured_paragraph(trials, reason_text)
    made.tables.append(_grade_table(grade, functional))
    if noise is not None and noise.arms:
        made.tables.append(_noise_table(noise, data.schedule, functional))
    made.tables += [t for t in (steal, left_out_table(trials, reason_text, functional)) if t is not None]
    probes = data.probes[data.probes["machine_id"] == machine_id]
    if not probes.empty:
        made.tables.append(_probe_table(probes, functional))
        plot = _probe_plot(probes)
        if plot is not None:
            made.plots.append(plot)
    return made

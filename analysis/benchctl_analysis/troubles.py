"""What was noisy, refused or failed, and why: the lines below the terminal's tables and at the end of summary.md."""

from __future__ import annotations

from collections.abc import Callable

from benchctl_analysis import blocks, caveats, hardening, numbers
from benchctl_analysis.compare import Comparison
from benchctl_analysis.load import RunData, records
from benchctl_analysis.noise import gate_text
from benchctl_analysis.parts import plural
from benchctl_analysis.stats import ALPHA
from benchctl_analysis.text import sanitize

Clean = Callable[[object], str]


def quarantines(data: RunData, comparison: Comparison) -> list[str]:
    """For the top of everything."""
    return [
        f"{sanitize(machine.machine, 40)}: {noise.quarantine}; no verdict of this session stands"
        for machine in records(data.machines)
        if (noise := comparison.noise.get(int(machine.machine_id))) is not None and noise.quarantine
    ]


def _of_machines(data: RunData, comparison: Comparison, clean: Clean) -> list[str]:
    lines: list[str] = []
    idle = {machine.machine_id: machine for machine in blocks.idle_machines(data, clean)}
    for machine in records(data.machines):
        key, name = int(machine.machine_id), sanitize(machine.machine, 40)
        if key in idle:
            word = "rejected" if idle[key].rejected else "not used"
            lines.append(f"{name}: {word}, gave no numbers: {idle[key].why} ({idle[key].hardware})")
            continue
        if machine.reason:
            lines.append(f"{name}: {clean(machine.reason)}")
        proofs = hardening.read(machine.hardening, clean).summary
        if proofs.problems:
            lines.append(f"{name}: not proved quiet: {'; '.join(proofs.problems[:3])}")
        aa = comparison.aa.get(key)
        if aa is not None and aa.check.failed:
            lines.append(f"{name}: the A/A check failed (p = {aa.check.p:.2g}), no verdict stands")
        noise = comparison.noise.get(key)
        if noise is not None and gate_text(noise):
            lines.append(f"{name}: {gate_text(noise)}")
        effect = comparison.position.get(key)
        if effect is not None and effect.p <= ALPHA:
            lines.append(f"{name}: the place in the order changes results (p = {effect.p:.2g})")
    note = blocks.selection_note(list(idle.values()))
    return lines + ([note] if note else []) + [blocks.slots_note(told) for _, told in blocks.shared_slots(data)]


def _of_trials(data: RunData, comparison: Comparison, clean: Clean) -> list[str]:
    lines: list[str] = []
    failed = data.trials[data.trials["verdict"] != "ok"]
    for (name, suite, arm, verdict), group in failed.groupby(["machine", "suite", "arm", "verdict"], sort=False):
        reason = next((clean(r) for r in group["reason"] if r), "")
        first = group.iloc[0]
        where = f"{sanitize(name, 40)}: {sanitize(suite, 40)} {sanitize(arm, 40)}"
        times = f"{len(group)} trials" if len(group) > 1 else f"trial {first['number']}"
        lines.append(f"{where}: {times} {verdict}" + (f": {reason}" if reason else ""))
    repeated = data.trials[data.trials["left_out"] == "round repeated"]
    for (key, name), group in repeated.groupby(["machine_id", "machine"], sort=False):
        noise = comparison.noise.get(int(str(key)))
        why = f" ({plural(noise.repeats, 'repeat')} because of steal)" if noise is not None and noise.repeats else ""
        lines.append(f"{sanitize(name, 40)}: {len(group)} trials of repeated rounds are kept but not scored{why}")
    limit = data.schedule.max_steal_percent
    for name, group in data.trials[data.trials["steal_percent"].fillna(0) > 0].groupby("machine", sort=False):
        above = int((group["steal_percent"] > limit).sum())
        lines.append(
            f"{sanitize(name, 40)}: steal in {len(group)} trials, at most {numbers.digits(group['steal_percent'].max())} %"
            + (f"; {above} above {numbers.digits(limit)} % flagged" if above else f" (bound {numbers.digits(limit)} %)")
        )
    return lines


def _of_stalls(data: RunData) -> list[str]:
    """A window in which no request began says nothing about speed, and its failures are those of earlier requests."""
    empty = data.samples[(data.samples["metric"] == "requests") & (data.samples["value"] == 0)]
    empty = empty.merge(data.trials[["trial_id", "machine"]], on="trial_id", suffixes=("", "_of"))
    return [
        f"{sanitize(name, 40)}: {sanitize(suite, 40)} {sanitize(arm, 40)} {sanitize(point, 60)}: "
        f"{plural(len(group), 'trial')} in which no request began inside the window: stalled since the warm-up; "
        "the zeros are no results"
        for (name, suite, arm, point), group in empty.groupby(["machine", "suite", "arm", "point"], sort=False)
    ]


def troubles(data: RunData, comparison: Comparison, clean: Clean) -> list[str]:
    """The worst first; one line each."""
    lines = caveats.left_out_lines(data, clean)
    lines += _of_machines(data, comparison, clean) + _of_trials(data, comparison, clean) + _of_stalls(data)
    rounds = {row.ratio.n for row in comparison.rows if row.ratio is not None and row.ratio.verdict == "none"}
    if rounds:
        lines.append(f"no verdicts where fewer than 6 rounds are scored (here {min(rounds)})")
    return lines + comparison.notes

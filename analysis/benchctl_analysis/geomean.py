"""The geometric mean over several benchmarks, with its interval: python -m benchctl_analysis.geomean STORE RUN [PHASE [BASE]].

A case of the engine workload is BENCHMARK/PHASE; the phase is `run` unless another is named (`population`, `total`). For each
arm, metric and durability: how many times less it takes than the baseline, or than the arm BASE, 1.5 meaning two thirds. A round gives one
value, the mean over the benchmarks of ln(baseline / arm) in that round; the estimate and the interval are those of every
other ratio (stats.py), over the rounds. Rounds in which a benchmark is missing are left out.
"""

from __future__ import annotations

import json
import math
import sqlite3
import sys
from collections import defaultdict
from contextlib import closing
from dataclasses import dataclass

from benchctl_analysis import stats

_SAMPLES = """
SELECT t.suite, t.baseline, t.params, t.machine, t.arm, t.round, x.case_name, x.metric, x.value
FROM v_trials t JOIN v_samples x USING (trial_id)
WHERE t.run = ? AND t.workload = 'engine' AND t.round > 0 AND t.verdict = 'ok' AND t.aa_copy = 0 AND x.iteration = 0
  AND x.case_name LIKE '%/' || ? AND x.metric IN ('cpu', 'wall')
ORDER BY t.attempt
"""


@dataclass
class Mean:
    suite: str
    durability: str
    arm: str
    metric: str
    rounds: int
    estimate: float
    low: float | None  # no interval below six rounds
    high: float | None
    parts: dict[str, float]  # of each benchmark alone


Samples = dict[tuple[str, str, str], dict[str, dict[tuple[str, int], dict[str, float]]]]


def _read(store: str, run: str, phase: str) -> tuple[Samples, dict[str, str]]:
    """(suite, durability, metric) to arm to (machine, round) to benchmark to value; and the baseline of each suite."""
    samples: Samples = defaultdict(lambda: defaultdict(lambda: defaultdict(dict)))
    baselines: dict[str, str] = {}
    with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as db:
        for suite, baseline, params, machine, arm, number, case, metric, value in db.execute(_SAMPLES, (run, phase)):
            baselines[suite] = baseline
            key = (suite, str(json.loads(params).get("durability", "")), metric)
            samples[key][arm][machine, number][case.split("/")[0]] = value
    return samples, baselines


def means(store: str, run: str, phase: str = "run", against: str = "") -> list[Mean]:
    samples, baselines = _read(store, run, phase)
    found = []
    for (suite, durability, metric), arms in sorted(samples.items()):
        base_arm = against or baselines[suite]
        base = arms.get(base_arm, {})
        benchmarks = sorted({name for values in base.values() for name in values})
        for arm, rounds in arms.items():
            if arm == base_arm:
                continue
            whole = [
                key
                for key, values in rounds.items()
                if all(one in values and one in base.get(key, {}) for one in benchmarks)
            ]
            if not benchmarks or not whole:
                continue
            logs = {one: [math.log(base[key][one] / rounds[key][one]) for key in whole] for one in benchmarks}
            each = [sum(logs[one][i] for one in benchmarks) / len(benchmarks) for i in range(len(whole))]
            interval = stats.signed_rank_interval(each)
            found.append(
                Mean(
                    suite,
                    durability,
                    arm,
                    metric,
                    len(whole),
                    math.exp(stats.hodges_lehmann(each)),
                    math.exp(interval.low) if interval else None,
                    math.exp(interval.high) if interval else None,
                    {one: math.exp(stats.hodges_lehmann(logs[one])) for one in benchmarks},
                )
            )
    return found


def table(rows: list[Mean]) -> str:
    lines = []
    for row in rows:
        interval = (
            f"{row.low:.3f} to {row.high:.3f}" if row.low is not None and row.high is not None else "too few rounds"
        )
        parts = ", ".join(f"{name} {value:.2f}" for name, value in row.parts.items())
        lines.append(
            f"{row.suite} {row.durability} {row.metric:4} {row.arm:16} {row.estimate:.3f} ({interval}; {row.rounds} rounds): {parts}"
        )
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    if len(arguments) not in (2, 3, 4):
        print("geomean: usage: python -m benchctl_analysis.geomean STORE RUN [PHASE [BASE]]", file=sys.stderr)
        return 2
    rows = means(*arguments)
    if not rows:
        wanted = " ".join(arguments[1:])
        print(f"geomean: {arguments[0]} has no samples of the engine workload to compare in: {wanted}", file=sys.stderr)
        return 2
    print(table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

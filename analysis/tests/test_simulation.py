"""Seeded simulation: false alarms between identical code and coverage of the intervals, against binomial bounds."""

from __future__ import annotations

import math

import numpy as np
from scipy import stats as sps

from benchctl_analysis import stats

SEED = 20_261_130


def bounds(trials: int, p: float) -> tuple[int, int]:
    """Counts outside happen once in 1,000 runs of another seed."""
    return int(sps.binom.ppf(0.0005, trials, p)), int(sps.binom.ppf(0.9995, trials, p))


def drifting_pair(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Identical code under drift (AR 0.9, sd 2 %) and 1 % noise, paired within a round."""
    drift = np.zeros(n)
    for i in range(1, n):
        drift[i] = 0.9 * drift[i - 1] + rng.normal(0, 0.02 * math.sqrt(1 - 0.81))
    return np.exp(drift + rng.normal(0, 0.01, n)), np.exp(drift + rng.normal(0, 0.01, n))


def test_false_alarms_of_the_signed_rank_interval_are_exact() -> None:
    rng, series, n = np.random.default_rng(SEED), 1500, 10
    rejected = 0
    level = 0.0
    for _ in range(series):
        a, b = drifting_pair(rng, n)
        interval = stats.signed_rank_interval(np.log(a) - np.log(b))
        assert interval is not None
        rejected += interval.excludes(0.0)
        level = 1 - interval.coverage
    low, high = bounds(series, level)
    assert 0.04 < level < 0.05
    assert low <= rejected <= high


def test_verdicts_between_identical_code_are_rarer_than_the_level() -> None:
    rng, series = np.random.default_rng(SEED + 1), 1000
    called = sum(stats.paired_ratio(*drifting_pair(rng, 10), 0.0).verdict in ("higher", "lower") for _ in range(series))
    assert called <= bounds(series, 0.05)[1]


def test_median_interval_covers_as_it_says() -> None:
    rng, series = np.random.default_rng(SEED + 2), 2000
    for n in (5, 10):
        inside = 0
        for _ in range(series):
            values = rng.lognormal(0, 0.5, n)
            if rng.random() < 0.2:
                values[0] = (4 * values[0]) ** rng.choice((-1, 1))  # a spike up or down: the median stays 1
            interval = stats.median_interval(values)
            assert interval is not None
            inside += interval.low <= 1.0 <= interval.high
        low, high = bounds(series, stats.median_rank(n)[1])
        assert low <= inside <= high


def test_session_check_keeps_its_level_over_many_dependent_cases() -> None:
    rng, sessions = np.random.default_rng(SEED + 3), 400
    failed = 0
    for _ in range(sessions):
        shared = rng.normal(0, 0.01, (8, 1))
        failed += stats.session_check(shared + rng.normal(0, 0.005, (8, 20))).failed
    level = 12 / 256  # the largest p of 2**8 sign vectors, in pairs, not above .05
    low, high = bounds(sessions, level)
    assert low <= failed <= high


def test_power_for_two_percent() -> None:
    rng, series = np.random.default_rng(SEED + 4), 400
    found = 0
    for _ in range(series):
        a, b = drifting_pair(rng, 10)
        interval = stats.signed_rank_interval(np.log(1.02 * a) - np.log(b))
        found += interval is not None and interval.low > 0
    assert found >= bounds(series, 0.88)[0]

"""Each formula against published numbers, scipy, or a brute force."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats as sps

from benchctl_analysis import stats


@pytest.mark.parametrize(
    ("n", "rank", "percent"),
    [
        (2, 1, 50.0),
        (3, 1, 75.0),
        (4, 1, 87.5),
        (5, 1, 93.75),
        (6, 1, 96.9),
        (10, 2, 97.9),
        (20, 6, 95.9),
        (50, 18, 96.7),
    ],
)
def test_median_rank_has_the_published_coverage(n: int, rank: int, percent: float) -> None:
    found, coverage = stats.median_rank(n)
    assert found == rank
    assert 100 * coverage == pytest.approx(percent, abs=0.05)


@pytest.mark.parametrize("n", range(6, 60))
def test_median_rank_is_the_narrowest_that_covers(n: int) -> None:
    rank, coverage = stats.median_rank(n)
    assert coverage >= 0.95
    assert coverage == pytest.approx(1 - 2 * sps.binom.cdf(rank - 1, n, 0.5))
    assert 1 - 2 * sps.binom.cdf(rank, n, 0.5) < 0.95


def test_median_of_one_has_no_interval() -> None:
    one = stats.median([4.0])
    assert one.value == 4.0
    assert one.interval is None


def test_median_coverage_by_enumeration() -> None:
    """Every pattern of n values above or below the true median is equally likely."""
    for n in (3, 5, 8):
        rank, coverage = stats.median_rank(n)
        inside = 0
        for pattern in itertools.product((-1, 1), repeat=n):
            ordered = sorted(pattern)
            inside += ordered[rank - 1] < 0 < ordered[n - rank]
        assert inside / 2**n == pytest.approx(coverage)


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_signed_rank_distribution_by_enumeration(n: int) -> None:
    sums = [
        sum(r for r, up in zip(range(1, n + 1), signs, strict=True) if up)
        for signs in itertools.product((0, 1), repeat=n)
    ]
    for k, p in enumerate(stats.signed_rank_cdf(n)):
        assert p == pytest.approx(sum(s <= k for s in sums) / 2**n)


@pytest.mark.parametrize("n", [6, 7, 10, 15])
def test_signed_rank_interval_holds_what_scipy_does_not_reject(n: int) -> None:
    d = np.random.default_rng(n).normal(0.3, 1.0, n)
    interval = stats.signed_rank_interval(d)
    assert interval is not None
    for theta in np.linspace(d.min() - 0.5, d.max() + 0.5, 60):
        p = sps.wilcoxon(d - theta, method="exact").pvalue
        assert (interval.low < theta < interval.high) == (p > 0.05)
    edge = sps.wilcoxon(d - (interval.low - 1e-9), method="exact").pvalue
    assert 1 - interval.coverage == pytest.approx(edge)


def test_signed_rank_interval_of_six_is_the_whole_range() -> None:
    d = [0.1, 0.5, -0.2, 0.9, 0.3, 0.7]
    interval = stats.signed_rank_interval(d)
    assert interval == stats.Interval(-0.2, 0.9, pytest.approx(0.96875))
    assert stats.signed_rank_interval(d[:5]) is None


def test_hodges_lehmann_by_hand() -> None:
    assert stats.hodges_lehmann([1.0, 2.0, 9.0]) == 3.5  # of 1, 1.5, 2, 5, 5.5, 9


def test_slower_and_faster_are_both_called() -> None:
    base = [10.0, 10.1, 9.9, 10.2, 9.8, 10.05, 9.95]
    slow = stats.paired_ratio([1.2 * b for b in base], base, 0.01)
    assert slow.verdict == "higher"
    assert slow.estimate == pytest.approx(1.2)
    assert slow.interval is not None
    assert slow.interval.low == pytest.approx(1.2)
    fast = stats.paired_ratio([0.8 * b for b in base], base, 0.01)
    assert fast.verdict == "lower"


def test_all_equal_is_the_same() -> None:
    ratio = stats.paired_ratio([5.0] * 8, [5.0] * 8, 0.01)
    assert ratio.verdict == "same"
    assert ratio.interval == stats.Interval(1.0, 1.0, ratio.interval.coverage if ratio.interval else 0)
    assert stats.paired_ratio([5.0] * 8, [5.0] * 8, 0.0).verdict == "same"


def test_a_real_difference_inside_the_margin_is_the_same() -> None:
    base = np.linspace(10, 11, 10)
    assert stats.paired_ratio(base * 1.004, base, 0.01).verdict == "same"
    assert stats.paired_ratio(base * 1.004, base, 0.001).verdict == "higher"


def test_an_interval_across_zero_is_never_a_difference() -> None:
    base = np.full(10, 10.0)
    candidate = base * np.exp(np.array([0.05, -0.05, 0.04, -0.03, 0.06, -0.06, 0.02, -0.04, 0.05, -0.05]))
    ratio = stats.paired_ratio(candidate, base, 0.01)
    assert ratio.verdict == "inconclusive"
    assert ratio.reason


def test_one_spike_is_no_difference() -> None:
    rng = np.random.default_rng(3)
    base = rng.lognormal(0, 0.002, 12)
    candidate = rng.lognormal(0, 0.002, 12)
    candidate[-1] *= 3
    assert stats.paired_ratio(candidate, base, 0.01).verdict in ("same", "inconclusive")


def test_disagreeing_tests_are_inconclusive() -> None:
    """Seven rounds: the sign test needs all on one side, the signed-rank test forgives one small one."""
    d = np.array([0.3, 0.4, 0.5, 0.35, 0.45, 0.55, -0.01])
    ratio = stats.paired_ratio(np.exp(d), np.ones(7), 0.01)
    assert ratio.interval is not None
    assert ratio.interval.low > 1
    assert ratio.verdict == "inconclusive"
    assert "sign test says inconclusive" in ratio.reason


@pytest.mark.parametrize("n", [1, 2, 5])
def test_fewer_than_six_rounds_give_no_verdict(n: int) -> None:
    ratio = stats.paired_ratio([2.0] * n, [1.0] * n, 0.01)
    assert ratio.verdict == "none"
    assert ratio.interval is None
    assert ratio.estimate == pytest.approx(2.0)
    assert "6 needed" in ratio.reason


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_bad_values_are_refused_with_their_place(bad: float) -> None:
    with pytest.raises(stats.BadValueError, match="candidate 3"):
        stats.paired_ratio([1.0, 1.0, bad, 1.0, 1.0, 1.0], [1.0] * 6, 0.01)
    with pytest.raises(stats.BadValueError, match="baseline 3"):
        stats.paired_ratio([1.0] * 6, [1.0, 1.0, bad, 1.0, 1.0, 1.0], 0.01)


def test_session_check_by_enumeration() -> None:
    """p counts the sign vectors of whole rounds whose largest standardised sum is no smaller."""
    table = np.array([[0.02, 0.01], [0.03, -0.02], [0.01, 0.02], [0.04, 0.01], [0.02, -0.01], [0.03, 0.02]])
    scale = np.sqrt((table**2).sum(axis=0))
    seen = []
    for signs in itertools.product((1, -1), repeat=6):
        seen.append(max(abs(sum(s * row[c] for s, row in zip(signs, table, strict=True)) / scale[c]) for c in (0, 1)))
    expected = sum(s >= seen[0] - 1e-12 for s in seen) / 64
    check = stats.session_check(table)
    assert check.p == pytest.approx(expected)
    assert check.failed == (expected <= 0.05)


def test_session_check_needs_six_rounds_and_takes_gaps() -> None:
    assert stats.session_check(np.full((5, 3), 0.5)).p is None
    table = np.full((7, 2), 0.1)
    table[0, 0] = np.nan
    assert stats.session_check(table).failed
    assert stats.session_check(np.zeros((7, 2))).p == 1.0


def test_noise_floor_needs_enough_pairs() -> None:
    assert stats.noise_floor([0.01] * 58) is None
    assert 0.95**58 > 0.05 > 0.95**59
    floor = stats.noise_floor([0.01] * 54 + [-0.05] * 6)
    assert floor == pytest.approx(math.expm1(0.05))


@pytest.mark.parametrize(("hits", "of"), [(0, 10), (3, 20), (10, 10)])
def test_rate_bounds_are_scipys(hits: int, of: int) -> None:
    bounds = stats.rate_bounds(hits, of)
    expected = sps.binomtest(hits, of).proportion_ci(0.95, method="exact")
    assert bounds is not None
    assert (bounds.low, bounds.high) == (pytest.approx(expected.low), pytest.approx(expected.high))


def test_across_machines_is_scipys_t_interval_and_needs_three() -> None:
    logs = [0.01, 0.03, 0.02, 0.05]
    assert stats.across_machines(logs[:2]) is None
    found = stats.across_machines(logs)
    assert found is not None
    low, high = sps.t.interval(0.95, 3, loc=np.mean(logs), scale=sps.sem(logs))
    assert (found[1].low, found[1].high) == (pytest.approx(math.exp(low)), pytest.approx(math.exp(high)))

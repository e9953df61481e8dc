"""Verdicts of claims: the rule itself, its error rates on synthetic data of known truth, and mutants that must be caught."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats as sps

from benchctl_analysis import stats, verdicts
from benchctl_analysis.stats import Interval, Ratio
from benchctl_analysis.verdicts import (
    INCONCLUSIVE,
    NOT_REPRODUCED,
    REPRODUCED,
    Bound,
    judge_count,
    judge_equality,
    judge_median,
    judge_orders,
    judge_ratio,
    rounds_for,
    shrink_needed,
)

SEED = 20_261_201
BOUND = Bound(1.5, 2.5)
Judge = Callable[[Ratio, Bound], verdicts.Verdict]


def ratio(low: float, high: float, sign: tuple[float, float] | None = None, n: int = 10) -> Ratio:
    other = (low, high) if sign is None else sign
    return Ratio(n, math.sqrt(low * high), Interval(low, high, 0.95), Interval(*other, 0.95), "higher", "")


RULE = [
    ((1.6, 2.4), BOUND, REPRODUCED),
    ((1.5, 2.5), BOUND, REPRODUCED),  # the ends belong to the bound
    ((1.0, 1.4), BOUND, NOT_REPRODUCED),
    ((2.6, 3.0), BOUND, NOT_REPRODUCED),
    ((1.4, 1.6), BOUND, INCONCLUSIVE),
    ((2.4, 2.6), BOUND, INCONCLUSIVE),
    ((1.0, 3.0), BOUND, INCONCLUSIVE),  # around the whole of it
    ((1.6, 40.0), Bound(low=1.5), REPRODUCED),
    ((1.2, 40.0), Bound(low=1.5), INCONCLUSIVE),
    ((0.1, 0.9), Bound(high=1.0), REPRODUCED),
    ((1.1, 1.2), Bound(high=1.0), NOT_REPRODUCED),
]


def rule_holds(judge: Judge) -> bool:
    return all(judge(ratio(*interval), bound).word == word for interval, bound, word in RULE)


def test_the_rule() -> None:
    assert rule_holds(judge_ratio)


def test_both_intervals_must_agree() -> None:
    verdict = judge_ratio(ratio(1.6, 2.4, sign=(1.4, 2.4)), BOUND)
    assert verdict.word == INCONCLUSIVE
    assert verdict.reason == "the signed-rank interval says reproduced, the sign test's inconclusive"
    assert judge_ratio(ratio(1.4, 2.4, sign=(1.6, 2.4)), BOUND).word == INCONCLUSIVE


def test_too_few_rounds_say_how_many_are_missing() -> None:
    few = judge_ratio(stats.paired_ratio([2.0] * 4, [1.0] * 4, 0.0), BOUND)
    assert (few.word, few.more_rounds) == (INCONCLUSIVE, 2)
    few = judge_median(stats.median([2.0]), BOUND)
    assert (few.word, few.more_rounds) == (INCONCLUSIVE, 5)


@pytest.mark.parametrize(
    ("first", "second", "bound", "word"),
    [
        ([0.95, 0.97], [0.96, 0.98], Bound(0.94, 0.99), REPRODUCED),
        ([0.95, 0.97], [1.001, 1.002], Bound(0.94, 0.99), INCONCLUSIVE),
        ([1.001, 1.002], [0.95, 0.97], Bound(0.94, 0.99), INCONCLUSIVE),
        ([0.95, 0.97], [1.001, 1.002], Bound(0.99, 1.01), REPRODUCED),  # says nothing of a direction
        ([0.99], [1.2], Bound(1.0), INCONCLUSIVE),
        ([1.0], [1.2], Bound(1.0), REPRODUCED),
        ([0.95], [], Bound(0.94, 0.99), REPRODUCED),  # one order only: nothing to compare
    ],
)
def test_a_direction_must_be_seen_in_both_orders(
    first: list[float], second: list[float], bound: Bound, word: str
) -> None:
    judged = judge_orders(verdicts.Verdict(REPRODUCED), first, second, bound)
    assert judged.word == word
    assert (word == INCONCLUSIVE) == ("the direction differs between the orders" in judged.reason)
    other = verdicts.Verdict(NOT_REPRODUCED)
    assert judge_orders(other, first, second, bound) == other


def test_counts_are_exact_and_need_one_round() -> None:
    assert judge_count([4910.0], Bound(4910, 4910)).word == REPRODUCED
    assert judge_count([4911.0, 4911.0], Bound(4910, 4910)).word == NOT_REPRODUCED
    verdict = judge_count([4910.0, 4911.0], Bound(4910, 4910))
    assert (verdict.word, verdict.more_rounds) == (INCONCLUSIVE, None)


def test_equality_is_of_every_round() -> None:
    assert judge_equality([("a", "a")] * 3).word == REPRODUCED
    verdict = judge_equality([("a", "a"), ("a", "b"), ("a", "a")])
    assert (verdict.word, verdict.reason) == (NOT_REPRODUCED, "differs in 1 of 3 rounds")


# Rounds needed


def test_spans_are_those_of_the_exact_ranks() -> None:
    for n in (6, 7, 10, 20, 50, 333):
        rank, _ = stats.median_rank(n)
        assert verdicts._spans()[n] == pytest.approx((n + 1 - 2 * rank) / (n + 1))


def test_rounds_for_known_shrinkages() -> None:
    assert rounds_for(10, 1.0) == 10  # it is narrow enough
    assert rounds_for(10, 0.9) == 12  # (3,10) of 12: 7/13 = 0.538 of the values against 7/11 = 0.636
    half = rounds_for(50, 0.5)
    assert half is not None
    assert 4 * 50 * 0.85 < half < 4 * 50 * 1.15  # the square-root law
    assert rounds_for(10, 0.0) is None
    assert rounds_for(10, 1e-4) is None  # more rounds than a plan can ask for
    assert rounds_for(5, 0.5) is None


def test_only_the_edge_that_matters_counts() -> None:
    over_one = Interval(1.4, 2.2, 0.95)  # inside at 1.8: the low arm must shrink from 0.4 to 0.3
    assert shrink_needed(1.8, over_one, BOUND) == pytest.approx(0.75)
    below = Interval(1.0, 1.6, 0.95)  # below at 1.3: its high arm must shrink from 0.3 to 0.2
    assert shrink_needed(1.3, below, BOUND) == pytest.approx(2 / 3)
    around = Interval(1.0, 2.7, 0.95)  # below at 1.2, past both edges: only the nearer one matters
    assert shrink_needed(1.2, around, BOUND) == pytest.approx(0.3 / 1.5)
    assert shrink_needed(1.5, Interval(1.4, 1.6, 0.95), BOUND) == 0.0


# Error rates


def judged(rng: np.random.Generator, truth: float, n: int, judge: Judge = judge_ratio, drifting: float = 0.02) -> str:
    """One session: drift shared by both sides of a round, noise of their own, one spike in ten on either side."""
    drift = np.cumsum(rng.normal(0, drifting, n))
    one, other = (drift + rng.normal(0, 0.02, n) for _ in range(2))
    one[rng.random(n) < 0.1] += 0.2
    other[rng.random(n) < 0.1] += 0.2
    return judge(stats.paired_ratio(truth * np.exp(one), np.exp(other), 0.0), BOUND).word


def rates(
    truth: float, n: int, series: int, seed: int, judge: Judge = judge_ratio, drifting: float = 0.02
) -> Counter[str]:
    rng = np.random.default_rng(seed)
    return Counter(judged(rng, truth, n, judge, drifting) for _ in range(series))


def most(series: int, rate: float) -> int:
    """Above it once in 1,000 runs of another seed."""
    return int(sps.binom.ppf(0.999, series, rate))


SERIES = 1500


@pytest.mark.parametrize("edge", [1.5, 2.5])
def test_at_the_very_edge_each_wrong_verdict_is_rare(edge: float) -> None:
    """The truth lies on the bound: a claim that just holds is called not reproduced, and one that just fails is called
    reproduced, in half of the level each."""
    found = rates(edge, 10, SERIES, SEED)
    for word in (REPRODUCED, NOT_REPRODUCED):
        assert found[word] <= most(SERIES, 0.025), found


@pytest.mark.parametrize(
    ("truth", "right", "wrong"),
    [(2.0, REPRODUCED, NOT_REPRODUCED), (1.2, NOT_REPRODUCED, REPRODUCED), (3.2, NOT_REPRODUCED, REPRODUCED)],
)
def test_a_clear_truth_is_found(truth: float, right: str, wrong: str) -> None:
    found = rates(truth, 10, 400, SEED + 1)
    assert found[wrong] == 0
    assert found[right] >= 380, found


def test_more_rounds_turn_inconclusive_into_the_truth() -> None:
    few, many = rates(1.55, 7, 400, SEED + 2), rates(1.55, 60, 400, SEED + 2)
    assert few[INCONCLUSIVE] > 2 * many[INCONCLUSIVE]
    assert many[REPRODUCED] > few[REPRODUCED]
    assert few[NOT_REPRODUCED] <= most(400, 0.025)
    assert many[NOT_REPRODUCED] <= most(400, 0.025)


def test_rounds_needed_come_true() -> None:
    """A session that is inconclusive is begun anew with as many rounds as it said: most are decided then, and the answer
    is not absurdly careful either. The estimate moves too, so no more than most can be asked for."""
    rng = np.random.default_rng(SEED + 3)
    asked, decided, early = 0, 0, 0
    for _ in range(400):
        truth = float(rng.uniform(1.54, 1.7))
        one, other = truth * np.exp(rng.normal(0, 0.07, 10)), np.exp(rng.normal(0, 0.07, 10))
        verdict = judge_ratio(stats.paired_ratio(one, other, 0.0), BOUND)
        if verdict.word != INCONCLUSIVE or verdict.more_rounds is None or verdict.more_rounds > 300:
            continue
        asked += 1
        for more, counter in ((verdict.more_rounds, "full"), (verdict.more_rounds // 3, "third")):
            n = 10 + more
            again = stats.paired_ratio(truth * np.exp(rng.normal(0, 0.07, n)), np.exp(rng.normal(0, 0.07, n)), 0.0)
            word = judge_ratio(again, BOUND).word
            decided += counter == "full" and word != INCONCLUSIVE
            early += counter == "third" and word != INCONCLUSIVE
    assert asked >= 100
    assert decided >= 0.55 * asked, (asked, decided, early)
    assert early <= decided - 0.1 * asked, (asked, decided, early)


# Mutants: each must fail the rule or the rates above


def by_estimate(ratio: Ratio, bound: Bound) -> verdicts.Verdict:
    return verdicts.Verdict(bound.place(ratio.estimate, ratio.estimate))


def overlap_is_enough(ratio: Ratio, bound: Bound) -> verdicts.Verdict:
    assert ratio.interval is not None
    word = bound.place(ratio.interval.low, ratio.interval.high)
    return verdicts.Verdict(REPRODUCED if word == INCONCLUSIVE else word)


def straddling_fails(ratio: Ratio, bound: Bound) -> verdicts.Verdict:
    assert ratio.interval is not None
    word = bound.place(ratio.interval.low, ratio.interval.high)
    return verdicts.Verdict(NOT_REPRODUCED if word == INCONCLUSIVE else word)


def without_upper_edge(ratio: Ratio, bound: Bound) -> verdicts.Verdict:
    return judge_ratio(ratio, Bound(low=bound.low))


def without_lower_edge(ratio: Ratio, bound: Bound) -> verdicts.Verdict:
    return judge_ratio(ratio, Bound(high=bound.high))


def open_ends(ratio: Ratio, bound: Bound) -> verdicts.Verdict:
    return judge_ratio(ratio, Bound(bound.low + 1e-9, bound.high - 1e-9))


def turned_over(ratio: Ratio, bound: Bound) -> verdicts.Verdict:
    assert ratio.interval is not None
    i = Interval(1 / ratio.interval.high, 1 / ratio.interval.low, ratio.interval.coverage)
    return judge_ratio(Ratio(ratio.n, 1 / ratio.estimate, i, i, "", ""), bound)


@pytest.mark.parametrize(
    "mutant",
    [by_estimate, overlap_is_enough, straddling_fails, without_upper_edge, without_lower_edge, open_ends, turned_over],
)
def test_mutants_of_the_rule_are_caught(mutant: Judge) -> None:
    assert not rule_holds(mutant)


@pytest.mark.parametrize(
    ("mutant", "word"), [(by_estimate, REPRODUCED), (overlap_is_enough, REPRODUCED), (straddling_fails, NOT_REPRODUCED)]
)
def test_mutants_of_the_rule_show_in_the_rates(mutant: Judge, word: str) -> None:
    assert rates(1.5, 10, 300, SEED, judge=mutant)[word] > most(300, 0.025)


def narrow_intervals(one: np.ndarray, other: np.ndarray, margin: float) -> Ratio:
    """Intervals that promise too much."""
    d = np.log(one) - np.log(other)
    wilcoxon, sign = stats.signed_rank_interval(d, 0.4), stats.median_interval(d, 0.5)
    assert wilcoxon is not None
    assert sign is not None
    both = [Interval(math.exp(i.low), math.exp(i.high), i.coverage) for i in (wilcoxon, sign)]
    return Ratio(len(one), math.exp(float(np.median(d))), both[0], both[1], "", "")


def test_narrow_intervals_show_in_the_rates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stats, "paired_ratio", narrow_intervals)
    found = rates(1.5, 10, 400, SEED)
    assert max(found[REPRODUCED], found[NOT_REPRODUCED]) > most(400, 0.025), found


def test_sides_of_different_rounds_show_in_the_rates(monkeypatch: pytest.MonkeyPatch) -> None:
    paired, original = rates(1.7, 10, 300, SEED + 1, drifting=0.2), stats.paired_ratio
    monkeypatch.setattr(stats, "paired_ratio", lambda one, other, margin: original(one, np.roll(other, 5), margin))
    assert rates(1.7, 10, 300, SEED + 1, drifting=0.2)[REPRODUCED] < paired[REPRODUCED] - 100

"""Does a published figure hold here? An interval against the bound that the claim gives. Numbers in, words out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import stats as sps

from benchctl_analysis.stats import ALPHA, MIN_ROUNDS, Floats, Interval, Median, Ratio

REPRODUCED = "reproduced"
NOT_REPRODUCED = "not reproduced"
INCONCLUSIVE = "inconclusive"
NOT_TESTED = "not tested"
WORDS = (NOT_REPRODUCED, INCONCLUSIVE, REPRODUCED, NOT_TESTED)  # what a reader must see first comes first

MAX_ROUNDS = 10_000  # a plan cannot ask for more


@dataclass(frozen=True)
class Bound:
    """Where the claim holds; both ends belong to it."""

    low: float = -math.inf
    high: float = math.inf

    def log(self) -> Bound:
        return Bound(math.log(self.low) if self.low > 0 else -math.inf, math.log(self.high))

    def place(self, low: float, high: float) -> str:
        if self.low <= low and high <= self.high:
            return REPRODUCED
        return NOT_REPRODUCED if high < self.low or low > self.high else INCONCLUSIVE


@dataclass(frozen=True)
class Verdict:
    word: str
    reason: str = ""
    more_rounds: int | None = None  # of an inconclusive one: about as many again; None where no number would do


@lru_cache(maxsize=1)
def _spans() -> Floats:
    """Share of the ordered values between the ends of the median's interval, by n; NaN below MIN_ROUNDS."""
    n = np.arange(MAX_ROUNDS + 1)
    least = sps.binom.ppf(ALPHA / 2, n[MIN_ROUNDS:], 0.5)  # least k with F(k) >= alpha/2
    exact = sps.binom.cdf(least, n[MIN_ROUNDS:], 0.5) <= ALPHA / 2
    rank = least + exact  # l = max{k : 2 F(k - 1) <= alpha}, as in stats.median_rank
    spans = np.full(MAX_ROUNDS + 1, math.nan)
    spans[MIN_ROUNDS:] = (n[MIN_ROUNDS:] + 1 - 2 * rank) / (n[MIN_ROUNDS:] + 1)
    return spans


def rounds_for(n: int, shrink: float) -> int | None:
    """Rounds at which an interval of n rounds would be `shrink` (below 1) times as wide; None beyond MAX_ROUNDS.

    The ends are order statistics x(l) and x(n+1-l); between them lies the share s(n) = (n + 1 - 2 l) / (n + 1) of the
    distribution, so that near a median of density f the interval is about s(n) / f wide: the least m with
    s(m) <= shrink * s(n). For large n, s(n) is about z / sqrt(n), the same law as the signed-rank interval's.
    Source: David and Nagaraja, Order Statistics (2003), sections 2.5 and 7.1.
    """
    if not MIN_ROUNDS <= n <= MAX_ROUNDS or not shrink > 0:
        return None
    spans = _spans()
    enough = np.flatnonzero(spans[n:] <= shrink * spans[n])
    return n + int(enough[0]) if enough.size else None


def shrink_needed(estimate: float, interval: Interval, bound: Bound) -> float:
    """How much narrower the interval must be about the same estimate to lie on one side; 0 where it never will."""
    inside = bound.low <= estimate <= bound.high
    parts = []
    for edge in (bound.low, bound.high):
        if not interval.low <= edge <= interval.high:
            continue
        if not inside and edge != (bound.low if estimate < bound.low else bound.high):
            continue  # past the nearer edge the verdict stands, wherever the other one is
        arm = interval.high - estimate if edge >= estimate else estimate - interval.low
        parts.append(abs(edge - estimate) / arm if arm > 0 else 0.0)
    return min(parts, default=1.0)


def _straddles(n: int, estimate: float, intervals: Sequence[Interval], bound: Bound) -> int | None:
    """Further rounds until each interval that straddles would lie on one side."""
    needed = [
        rounds_for(n, shrink_needed(estimate, interval, bound))
        for interval in intervals
        if bound.place(interval.low, interval.high) == INCONCLUSIVE
    ]
    known = [rounds for rounds in needed if rounds is not None]
    return max(max(known) - n, 1) if known and len(known) == len(needed) else None


def _too_few(n: int) -> Verdict:
    return Verdict(INCONCLUSIVE, f"{n} of at least {MIN_ROUNDS} rounds", MIN_ROUNDS - n)


_PLACES = ("first", "second")
_ACROSS = "the interval reaches over the bound"


def judge_ratio(ratio: Ratio, bound: Bound) -> Verdict:
    """Both intervals of the paired ratio must say the same, as everywhere in a report."""
    if ratio.interval is None or ratio.sign_interval is None:
        return _too_few(ratio.n)
    both = (ratio.interval, ratio.sign_interval)
    words = [bound.place(interval.low, interval.high) for interval in both]
    if words[0] == words[1] != INCONCLUSIVE:
        return Verdict(words[0])
    reason = (
        _ACROSS if words[0] == words[1] else f"the signed-rank interval says {words[0]}, the sign test's {words[1]}"
    )
    logs = [Interval(math.log(i.low), math.log(i.high), i.coverage) for i in both]
    return Verdict(INCONCLUSIVE, reason, _straddles(ratio.n, math.log(ratio.estimate), logs, bound.log()))


def judge_orders(verdict: Verdict, first: Sequence[float], second: Sequence[float], bound: Bound) -> Verdict:
    """A claim of a direction (its bound lies on one side of 1) must point there in both orders: in the rounds in which
    the first side ran first, and in those in which it ran second. Else the place in the order may be all that is seen.
    """
    if verdict.word != REPRODUCED or not first or not second or bound.low < 1 < bound.high:
        return verdict
    medians = (float(np.median(first)), float(np.median(second)))
    if all(median >= 1 for median in medians) if bound.low >= 1 else all(median <= 1 for median in medians):
        return verdict
    told = " and ".join(f"{median:.4g} where it ran {place}" for median, place in zip(medians, _PLACES, strict=True))
    return Verdict(INCONCLUSIVE, f"the direction differs between the orders: the first side is {told}")


def judge_median(median: Median, bound: Bound) -> Verdict:
    """One side alone: the interval of its median."""
    if median.n < MIN_ROUNDS or median.interval is None:
        return _too_few(median.n)
    word = bound.place(median.interval.low, median.interval.high)
    if word != INCONCLUSIVE:
        return Verdict(word)
    return Verdict(INCONCLUSIVE, _ACROSS, _straddles(median.n, median.value, [median.interval], bound))


def judge_count(values: Sequence[float], bound: Bound) -> Verdict:
    """A count is no sample: it should be the same in every round, and more rounds tell nothing new."""
    word = bound.place(min(values), max(values))
    return Verdict(word, "it is not the same in every round" if word == INCONCLUSIVE else "")


def judge_equality(pairs: Sequence[tuple[object, object]]) -> Verdict:
    differing = sum(one != other for one, other in pairs)
    return (
        Verdict(NOT_REPRODUCED, f"differs in {differing} of {len(pairs)} rounds") if differing else Verdict(REPRODUCED)
    )

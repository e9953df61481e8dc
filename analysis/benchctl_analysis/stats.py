"""Every formula of a report, with its source. Samples are runs (processes), never iterations inside one.

Nothing here knows tables or files: numbers in, numbers out, so that each function can be checked against a brute force.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy import special

Floats = npt.NDArray[np.float64]

ALPHA = 0.05
MIN_ROUNDS = 6  # below it no 95 % interval of a ratio exists: 2 * 2**-5 > 0.05
MIN_FLOOR_PAIRS = 59  # the largest of 59 pairs bounds the 95th percentile with 95 % confidence: 0.95**59 < 0.05
_EXACT_SIGN_FLIPS = 12  # 2**12 sign vectors are enumerated; above it they are drawn with a seed
_DRAWN_SIGN_FLIPS = 9999


class BadValueError(ValueError):
    """A value that no statistic may swallow: NaN, infinite, or not positive where a logarithm is taken."""


@dataclass(frozen=True)
class Interval:
    low: float
    high: float
    coverage: float  # exact, of this very interval; never a nominal level

    def excludes(self, value: float) -> bool:
        return self.low > value or self.high < value

    def inside(self, margin: float) -> bool:
        return self.low >= -margin and self.high <= margin


@dataclass(frozen=True)
class Median:
    n: int
    value: float
    interval: Interval | None  # None for n = 1: a value without an interval
    minimum: float
    maximum: float


@dataclass(frozen=True)
class Ratio:
    """Candidate / baseline from paired rounds. `verdict` is one of higher, lower, same, inconclusive, none."""

    n: int
    estimate: float
    interval: Interval | None  # Wilcoxon; None below MIN_ROUNDS
    sign_interval: Interval | None  # the sign test's, beside it
    verdict: str
    reason: str  # why there is no verdict, or why it is inconclusive; else empty


@dataclass(frozen=True)
class SessionCheck:
    """The A/A check: one test a session, so that many cases do not quarantine a clean one."""

    pairs: int  # rounds
    series: int
    p: float | None  # None with fewer than MIN_ROUNDS rounds
    failed: bool


_LARGEST_LOG = 708.0  # its exp and one over it are doubles: 1e308 against 1e-308 must not end a report


def exp(log: float) -> float:
    return math.exp(max(min(log, _LARGEST_LOG), -_LARGEST_LOG))


def expm1(log: float) -> float:
    return math.expm1(min(log, _LARGEST_LOG))


def _checked(values: Sequence[float] | Floats, what: str = "value") -> Floats:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or array.size == 0:
        raise BadValueError(f"no {what}s")
    bad = np.flatnonzero(~np.isfinite(array))
    if bad.size:
        raise BadValueError(f"{what} {bad[0] + 1} is {array[bad[0]]}, not a finite number")
    return array


def median_rank(n: int, alpha: float = ALPHA) -> tuple[int, float]:
    """l and the exact coverage of [x(l), x(n+1-l)] for the median: l = max{k : 2 F_Bin(k-1; n, 1/2) <= alpha}.

    Below n = 6 no such k exists; l is 1 then (minimum to maximum) with its honest, lower coverage.
    Source: David and Nagaraja, Order Statistics (2003), section 7.1.
    """
    if n < 2:
        raise BadValueError("an interval needs at least two runs")
    rank = 1
    while rank + 1 <= (n + 1) // 2 and 2 * special.bdtr(rank, n, 0.5) <= alpha:
        rank += 1
    return rank, float(1 - 2 * special.bdtr(rank - 1, n, 0.5))


def median_interval(values: Sequence[float] | Floats, alpha: float = ALPHA) -> Interval | None:
    ordered = np.sort(_checked(values))
    n = int(ordered.size)
    if n < 2:
        return None
    rank, coverage = median_rank(n, alpha)
    return Interval(float(ordered[rank - 1]), float(ordered[n - rank]), coverage)


def middle(values: Sequence[float] | Floats) -> float:
    """The median as a value, also where the sum of its two middle values is beyond a double."""
    ordered = sorted(float(value) for value in values)
    low, high = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
    if low == high:
        return low
    half = (low + high) / 2
    return half if math.isfinite(half) else low / 2 + high / 2


def median(values: Sequence[float] | Floats) -> Median:
    array = _checked(values)
    return Median(int(array.size), middle(array), median_interval(array), float(array.min()), float(array.max()))


@lru_cache(maxsize=64)
def signed_rank_cdf(n: int) -> tuple[float, ...]:
    """P(T+ <= k), k = 0 .. n(n+1)/2, of Wilcoxon's signed-rank statistic under symmetry, without ties.

    Exact by the generating function prod (1 + z^i) / 2. Source: Hollander, Wolfe and Chicken, Nonparametric
    Statistical Methods (2014), section 3.1.
    """
    mass = np.zeros(n * (n + 1) // 2 + 1)
    mass[0] = 1.0
    for rank in range(1, n + 1):
        shifted = np.zeros_like(mass)
        shifted[rank:] = mass[:-rank]
        mass = (mass + shifted) / 2
    return tuple(float(x) for x in np.cumsum(mass))


def walsh_averages(values: Floats) -> Floats:
    """All (d_i + d_j) / 2 with i <= j, sorted."""
    rows, columns = np.triu_indices(values.size)
    return np.sort((values[rows] + values[columns]) / 2)


def hodges_lehmann(values: Sequence[float] | Floats) -> float:
    """The median of the Walsh averages. Source: Hodges and Lehmann, Ann. Math. Stat. 34 (1963)."""
    return float(np.median(walsh_averages(_checked(values))))


def signed_rank_interval(values: Sequence[float] | Floats, alpha: float = ALPHA) -> Interval | None:
    """The centre of symmetry: all theta that the two-sided signed-rank test does not reject at alpha.

    [W(c), W(M+1-c)] of the M sorted Walsh averages, c = max{k : 2 P(T+ <= k-1) <= alpha}; None where no such c exists
    (n < 6). With ties it is conservative. Source: Hollander, Wolfe and Chicken (2014), section 3.3.
    """
    averages = walsh_averages(_checked(values))
    cdf = signed_rank_cdf(len(values))
    rank = 0
    while 2 * cdf[rank] <= alpha:
        rank += 1
    if rank == 0:
        return None
    return Interval(float(averages[rank - 1]), float(averages[averages.size - rank]), 1 - 2 * cdf[rank - 1])


def _call(interval: Interval, estimate: float, margin: float) -> str:
    """What one interval of ln ratios says. Equivalence first: a real difference inside the margin is "same"."""
    if interval.inside(margin):
        return "same"
    if interval.excludes(0.0) and abs(estimate) >= margin:
        return "higher" if estimate > 0 else "lower"
    return "inconclusive"


def paired_ratio(candidate: Sequence[float] | Floats, baseline: Sequence[float] | Floats, margin: float) -> Ratio:
    """candidate[i] and baseline[i] are of one round. `margin` is a ratio minus one: 0.01 for one percent.

    d = ln candidate - ln baseline a round; exp of its Hodges-Lehmann estimate; the interval inverts the signed-rank
    test; the sign test's interval stands beside it, and where their verdicts differ the verdict is inconclusive.
    """
    for what, values in (("candidate", candidate), ("baseline", baseline)):
        for index, value in enumerate(_checked(values, what)):
            if value <= 0:
                raise BadValueError(f"{what} {index + 1} is {value:g}; a ratio needs values above zero")
    if len(candidate) != len(baseline):
        raise BadValueError(f"{len(candidate)} candidate and {len(baseline)} baseline values are no pairs")
    if margin < 0 or not math.isfinite(margin):
        raise BadValueError(f"margin {margin}")
    d = np.log(np.asarray(candidate, dtype=np.float64)) - np.log(np.asarray(baseline, dtype=np.float64))
    n = int(d.size)
    estimate = hodges_lehmann(d)
    if n < MIN_ROUNDS:
        reason = f"{n} scored round{'' if n == 1 else 's'}, {MIN_ROUNDS} needed"
        return Ratio(n, exp(estimate), None, None, "none", reason)
    wilcoxon, sign = signed_rank_interval(d), median_interval(d)
    assert wilcoxon is not None
    assert sign is not None
    log_margin = math.log1p(margin)
    call, sign_call = _call(wilcoxon, estimate, log_margin), _call(sign, float(np.median(d)), log_margin)
    reason = ""
    if call != sign_call:
        reason = f"signed-rank test says {call}, sign test says {sign_call}"
        call = "inconclusive"
    elif call == "inconclusive":
        reason = "the interval reaches outside the margin and does not prove a difference"
    return Ratio(n, exp(estimate), _exp(wilcoxon), _exp(sign), call, reason)


def _exp(interval: Interval) -> Interval:
    return Interval(exp(interval.low), exp(interval.high), interval.coverage)


def session_check(log_ratios: Floats, seed: int = 0, alpha: float = ALPHA) -> SessionCheck:
    """Do baseline and its duplicate differ anywhere in this session? Rows are rounds, columns series; NaN where absent.

    Signs of whole rounds are flipped together, so that the dependence between cases is kept; the statistic is the
    largest standardised sum. One exact test however many columns there are. Source: Westfall and Young,
    Resampling-Based Multiple Testing (1993); Nichols and Holmes, Hum. Brain Mapp. 15 (2002).
    """
    table = np.asarray(log_ratios, dtype=np.float64)
    if table.ndim != 2:
        raise BadValueError("the A/A table needs rounds and series")
    table = table[~np.isnan(table).all(axis=1)]
    rounds, series = table.shape
    if rounds < MIN_ROUNDS or series == 0:
        return SessionCheck(rounds, series, None, False)
    filled = np.nan_to_num(table, nan=0.0)
    scale = np.sqrt((filled**2).sum(axis=0))
    filled = filled[:, scale > 0] / scale[scale > 0]
    if filled.shape[1] == 0:
        return SessionCheck(rounds, series, 1.0, False)
    if rounds <= _EXACT_SIGN_FLIPS:
        signs = np.array(list(itertools.product((1.0, -1.0), repeat=rounds)))
    else:
        drawn = np.random.default_rng(seed).choice((1.0, -1.0), size=(_DRAWN_SIGN_FLIPS, rounds))
        signs = np.vstack([np.ones(rounds), drawn])
    statistic = np.abs(signs @ filled).max(axis=1)
    p = float(np.mean(statistic >= statistic[0] * (1 - 1e-12)))
    return SessionCheck(rounds, series, p, p <= alpha)


def noise_floor(log_ratios: Sequence[float] | Floats) -> float | None:
    """The 95th percentile of |ln ratio| between identical code, as a ratio minus one; None below MIN_FLOOR_PAIRS."""
    if len(log_ratios) < MIN_FLOOR_PAIRS:
        return None
    return expm1(float(np.quantile(np.abs(_checked(log_ratios)), 0.95, method="higher")))


def rate_bounds(hits: int, of: int) -> Interval | None:
    """Exact bounds of a rate. Source: Clopper and Pearson, Biometrika 26 (1934)."""
    if of <= 0:
        return None
    low = 0.0 if hits == 0 else float(special.betaincinv(hits, of - hits + 1, 0.025))
    high = 1.0 if hits == of else float(special.betaincinv(hits + 1, of - hits, 0.975))
    return Interval(low, high, 0.95)


def across_machines(log_medians: Sequence[float] | Floats) -> tuple[float, Interval] | None:
    """exp(mean +- t(M-1) s / sqrt(M)) of the machines' median ln ratios; None below three machines: no claim then."""
    array = _checked(log_medians)
    count = int(array.size)
    if count < 3:
        return None
    mean = float(array.mean())
    half = float(special.stdtrit(count - 1, 0.975)) * float(array.std(ddof=1)) / math.sqrt(count)
    return exp(mean), Interval(exp(mean - half), exp(mean + half), 0.95)

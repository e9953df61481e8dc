"""Does the noise gate treat the arms alike? Numbers in, numbers out; noise.py says what they mean.

A gate that sees the disturbances of one arm more often leaves that arm's quiet trials over and so moves its median,
although nothing is wrong with any single trial. The rates at which arms are rejected show it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from benchctl_analysis.stats import ALPHA

_DRAWS = 9999
_POWER_DRAWS = 1999
_THREEFOLD = 3.0
MAX_BLOCKS_DRAWN = 2000  # of more than one rejection each; the rest is drawn as counts


@dataclass(frozen=True)
class Block:
    """One attempt at one point of one round: all of its arms, and those whose trial was over the bound."""

    arms: tuple[str, ...]
    rejected: frozenset[str]


@dataclass(frozen=True)
class GateCheck:
    rejected: int  # trials over the bound
    p: float | None  # None: nothing to compare
    arm: str  # the arm that stands out most, "" where p is None
    factor: float  # how many times as often as expected it was rejected
    power: float | None  # how often a gate with a threefold rate for one arm would be called, with this many rejections

    @property
    def biased(self) -> bool:
        return self.p is not None and self.p <= ALPHA


_Counts = npt.NDArray[np.float64]  # draws x arms


def _draw(
    kinds: Counter[tuple[tuple[int, ...], int]], weights: _Counts, draws: int, rng: np.random.Generator
) -> _Counts:
    """Rejections by arm: in each block that many arms are picked, by weight and without replacement (Gumbel's trick)."""
    total = np.zeros((draws, len(weights)))
    for (arms, rejected), blocks in kinds.items():
        index = np.array(arms)
        share = weights[index] / weights[index].sum()
        if rejected == 1:
            total[:, index] += rng.multinomial(blocks, share, size=draws)
        else:
            for _ in range(min(blocks, MAX_BLOCKS_DRAWN)):
                keys = np.log(share) + rng.gumbel(size=(draws, len(arms)))
                picked = np.argpartition(-keys, rejected - 1, axis=1)[:, :rejected]
                total[np.arange(draws)[:, None], index[picked]] += 1.0  # no arm twice in a block
    return total


def equal_rates(blocks: Sequence[Block], seed: int = 0) -> GateCheck:
    """Are all arms rejected equally often? A permutation test within blocks, so that a bad hour is nobody's fault.

    Under a fair gate, which arms of a block were rejected is chance: orders are random, so that holds even where a
    block ended with its first rejection. Given how many were rejected in each block, the arms' labels are drawn anew;
    the statistic is sum (observed - expected)^2 / expected over the arms. p counts the observed draw in, so that it is
    valid at any number of draws. This is Cochran's Q, Biometrika 37 (1950), by its permutation distribution instead
    of the chi-squared one, which is wrong for the few rejections of a quiet machine; p by draws: Phipson and Smyth,
    Stat. Appl. Genet. Mol. Biol. 9 (2010).
    """
    names = sorted({arm for block in blocks for arm in block.arms})
    place = {arm: i for i, arm in enumerate(names)}
    kinds: Counter[tuple[tuple[int, ...], int]] = Counter()
    observed = np.zeros(len(names))
    expected = np.zeros(len(names))
    rejected = sum(len(block.rejected) for block in blocks)
    for block in blocks:
        if not 0 < len(block.rejected) < len(block.arms):
            continue  # nobody, or everybody alike: says nothing about fairness
        kinds[tuple(place[arm] for arm in block.arms), len(block.rejected)] += 1
        for arm in block.arms:
            expected[place[arm]] += len(block.rejected) / len(block.arms)
        for arm in block.rejected:
            observed[place[arm]] += 1
    if not kinds:
        return GateCheck(rejected, None, "", math.nan, None)
    used = expected > 0

    def statistic(counts: _Counts) -> _Counts:
        found: _Counts = ((counts[..., used] - expected[used]) ** 2 / expected[used]).sum(axis=-1)
        return found

    rng = np.random.default_rng(seed)
    drawn = np.sort(statistic(_draw(kinds, np.ones(len(names)), _DRAWS, rng)))
    own = float(statistic(observed))
    p = (1 + int((drawn >= own - 1e-9).sum())) / (1 + _DRAWS)
    # The least statistic that is called, then how often each arm with a threefold rate reaches it.
    called = max(math.floor(ALPHA * (1 + _DRAWS)) - 1, 0)
    bound = float(drawn[_DRAWS - called]) if called else math.inf
    if int((drawn >= bound - 1e-9).sum()) > called:  # ties at the bound belong to the next value
        above = drawn[drawn > bound + 1e-9]
        bound = float(above[0]) if above.size else math.inf
    powers = []
    for one in np.flatnonzero(used):
        weights = np.where(np.arange(len(names)) == one, _THREEFOLD, 1.0)
        powers.append(float((statistic(_draw(kinds, weights, _POWER_DRAWS, rng)) >= bound - 1e-9).mean()))
    worst = int(np.argmax(np.where(used, observed - expected, -math.inf)))
    return GateCheck(rejected, p, names[worst], float(observed[worst] / expected[worst]), min(powers))

"""The gate's test against brute force, its false alarms and its power, all from fixed seeds."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats as sps

from benchctl_analysis.gates import Block, GateCheck, equal_rates

ARMS = ("a", "a copy", "b")
SEED = 20_261_201


def blocks_of(rejected: list[set[str]], arms: tuple[str, ...] = ARMS) -> list[Block]:
    return [Block(arms, frozenset(names)) for names in rejected]


def session(rng: np.random.Generator, weights: tuple[float, ...], rate: float = 0.12, blocks: int = 80) -> GateCheck:
    """Disturbances hit all arms alike; the gate sees each with a chance proportional to its arm's weight."""
    mean = sum(weights) / len(weights)
    chance = np.array(weights) / mean * rate
    made = [{arm for arm, hit in zip(ARMS, rng.random(3) < chance, strict=True) if hit} for _ in range(blocks)]
    return equal_rates(blocks_of(made), seed=7)


def brute_force(rejected: list[set[str]], arms: tuple[str, ...]) -> float:
    """The exact p over every way in which each block's rejections could have fallen."""
    some = [names for names in rejected if 0 < len(names) < len(arms)]
    expected = sum(len(names) for names in some) / len(arms)

    def statistic(chosen: tuple[tuple[str, ...], ...]) -> float:
        return sum((sum(arm in names for names in chosen) - expected) ** 2 / expected for arm in arms)

    ways = list(itertools.product(*(list(itertools.combinations(arms, len(names))) for names in some)))
    own = statistic(tuple(tuple(names) for names in some))
    return sum(statistic(way) >= own - 1e-9 for way in ways) / len(ways)


@pytest.mark.parametrize(
    "rejected",
    [
        [{"b"}] * 4 + [{"a"}],
        [{"b"}, {"b"}, {"a", "b"}, {"a copy"}, {"b"}],
        [{"b"}] * 6,
        [{"a"}, {"a copy"}, {"b"}],
        [{"a", "b"}] * 4 + [set(), {"a", "a copy", "b"}],
    ],
)
def test_p_is_that_of_every_permutation(rejected: list[set[str]]) -> None:
    found = equal_rates(blocks_of(rejected))
    assert found.p is not None
    assert found.p == pytest.approx(brute_force(rejected, ARMS), abs=0.02)
    assert found.rejected == sum(map(len, rejected))


def test_nothing_to_compare() -> None:
    assert equal_rates([]).p is None
    assert equal_rates(blocks_of([set()] * 50)).p is None
    everyone = equal_rates(blocks_of([set(ARMS)] * 50))
    assert (everyone.p, everyone.rejected, everyone.biased) == (None, 150, False)
    assert equal_rates(blocks_of([{"a"}] * 50, ("a",))).p is None


def test_the_arm_is_named_with_its_factor() -> None:
    found = equal_rates(blocks_of([{"b"}] * 8 + [{"a"}]))
    assert found.biased
    assert found.arm == "b"
    assert found.factor == pytest.approx(8 / 3)


def test_few_rejections_cannot_see_a_threefold_rate_and_say_so() -> None:
    few, many = equal_rates(blocks_of([{"a"}, {"b"}])), equal_rates(blocks_of([{a} for a in ARMS * 20]))
    assert few.power is not None
    assert many.power is not None
    assert few.power < 0.3
    assert many.power > 0.9


def test_a_bad_hour_is_nobodys_fault() -> None:
    """All rejections in ten rounds of eighty, spread over the arms: dependence within rounds is no bias."""
    found = equal_rates(blocks_of([set()] * 70 + [{"a", "b"}, {"a", "a copy"}, {"b", "a copy"}] * 3 + [{"a"}]))
    assert found.p is not None
    assert found.p > 0.5


def test_false_alarms_of_a_fair_gate_keep_the_level() -> None:
    rng, sessions = np.random.default_rng(SEED), 150
    called = sum(session(rng, (1, 1, 1)).biased for _ in range(sessions))
    assert called <= int(sps.binom.ppf(0.9995, sessions, 0.05))


def test_a_threefold_gate_is_found() -> None:
    """One arm's disturbances are seen three times as often, at the same overall rate as the fair gate above."""
    rng, sessions = np.random.default_rng(SEED + 1), 60
    found = [session(rng, (1, 1, 3)) for _ in range(sessions)]
    called = sum(check.biased for check in found)
    assert called >= int(sps.binom.ppf(0.0005, sessions, 0.9))
    assert sum(check.arm == "b" for check in found if check.biased) >= called - 1


def test_an_interrupted_block_does_not_accuse_who_ran_last() -> None:
    """A round that ends with its first rejection leaves arms out; with random orders nobody gains by it."""
    rng, sessions, called = np.random.default_rng(SEED + 2), 60, 0
    for _ in range(sessions):
        made = []
        for _ in range(80):
            order = rng.permutation(3)
            hits = [ARMS[i] for i in order if rng.random() < 0.12]
            made.append(set(hits[:1]))
        called += equal_rates(blocks_of(made), seed=7).biased
    assert called <= int(sps.binom.ppf(0.9995, sessions, 0.05))


def test_the_same_seed_gives_the_same_answer() -> None:
    some = blocks_of([{"b"}] * 4 + [{"a", "b"}] * 3 + [{"a"}] * 2)
    assert equal_rates(some, 3) == equal_rates(some, 3)

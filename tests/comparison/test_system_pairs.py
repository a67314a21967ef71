"""Pairs of systems on demand: blocks say what the table of all pairs says, and the largest |t| is that of all pairs."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import strat
from strat.base.limits import changed
from strat.comparison import many, system_pairs
from strat.comparison.many_systems import ManySystems
from strat.designs import Design


def _systems(number: int, rows: int = 200, *, equal: bool = False) -> ManySystems:
    rng = np.random.default_rng(number)
    right = (rng.random((rows, number)) < np.linspace(0.4, 0.8, number)).astype(float)
    if equal:
        right[:, 1] = right[:, 0]  # a pair that never varies
    return many(right, on=Design.clustered(np.arange(rows) // 2), higher_is_better=True)


@pytest.mark.parametrize("equal", [False, True])
def test_blocks_say_what_all_pairs_say(*, equal: bool) -> None:
    whole = _systems(9, equal=equal)
    better = whole.t > whole.critical()
    blocks = _systems(9, equal=equal)
    with changed(pairs_at_once=1):
        first, last = blocks.ranks()
        same = blocks.same()
    assert first.tolist() == (1 + better.sum(axis=0)).tolist()
    assert last.tolist() == (9 - better.sum(axis=1)).tolist()
    assert (same == (np.abs(whole.t) <= whole.critical())).all()
    assert blocks.critical() == whole.critical()


def test_a_block_is_cut_from_the_table_of_all_pairs() -> None:
    systems = _systems(7, equal=True)
    low, high = systems.intervals()
    part = systems.between([5, 1], [0, 1, 6])
    cut = np.ix_([5, 1], [0, 1, 6])
    for ours, theirs in (
        (part.differences, systems.differences),
        (part.errors, systems.errors),
        (part.t, systems.t),
        (part.limits(systems.critical())[0], low),
        (part.limits(systems.critical())[1], high),
        (systems.adjusted(part), systems.pvalues()),
    ):
        assert np.allclose(ours, theirs[cut], rtol=0, atol=1e-12)


@pytest.mark.parametrize("number", [5, 60])
@pytest.mark.parametrize("scale", [0.0, 1.0], ids=["like errors", "unlike errors"])
def test_the_largest_of_pairs_is_that_of_every_pair(number: int, scale: float) -> None:
    rng = np.random.default_rng(0)
    root = np.exp(scale * rng.normal(size=(number, 1))) * rng.normal(size=(number, 3 * number))
    root[1] = root[0] + 0.01 * root[1]  # a pair that hardly differs
    covariance = root @ root.T
    drawn = rng.normal(size=(40, 3 * number)) @ root.T
    pairs = list(itertools.combinations(range(number), 2))
    errors = [np.sqrt(covariance[i, i] + covariance[j, j] - 2 * covariance[i, j]) for i, j in pairs]
    every = [np.abs(drawn[:, i] - drawn[:, j]) / e for (i, j), e in zip(pairs, errors, strict=True)]
    for cached in (1, 1 << 18):
        with changed(cached_draws=cached):
            assert np.allclose(system_pairs.largest_of_pairs(drawn, covariance, 1e-12), np.max(every, axis=0))


def test_the_winner_of_very_many_systems_reaches_at_least_as_far() -> None:
    drawn = _systems(30).winner()
    with changed(drawn_systems=10):
        few = _systems(30).winner()
    assert few.value == drawn.value
    assert few.low <= drawn.low + 1e-9
    assert few.corrected == pytest.approx(drawn.corrected, abs=0.02)


def test_tied_systems_are_named_without_a_corrected_value() -> None:
    """Given a tie, the median-unbiased value lies below every system: neither was chosen for being higher."""
    first, second = [1, 1, 0, 1, 0, 1, 1, 0] * 5, [1, 0, 1, 1, 1, 1, 0, 0] * 5
    board = strat.compare({"A": first, "B": second, "C": [0, 0, 1, 0] * 10}, score=["A", "B", "C"])
    assert board.winner().tied == ("B",)
    assert str(board.winner()).startswith("A came first with 0.6250, tied with B; 95 % ")
    assert strat.compare({"A": first, "C": [0, 0, 1, 0] * 10}, score=["A", "C"]).winner().tied == ()


def test_a_winner_by_a_hair_has_a_corrected_value_within_its_limits() -> None:
    """Equal systems often win by a hair: the value that is corrected for it is lower, whatever the hair."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        right = (rng.random((150, 4)) < 0.7).astype(float)
        best = many(right, on=Design.simple_random(n=150), higher_is_better=True).winner()
        assert best.low < best.corrected < best.value < best.high
        assert best.tied or f"; corrected for having been chosen {best.corrected:.4f}" in str(best)


def test_the_winner_is_the_same_in_any_order_of_rows_and_systems() -> None:
    rng = np.random.default_rng(8)
    right = (rng.random((240, 5)) < [0.7, 0.71, 0.72, 0.73, 0.8]).astype(float)
    unit = np.repeat(np.arange(24), 10)

    def winner(rows: np.ndarray, columns: list[int]) -> Any:
        names = tuple("ABCDE"[k] for k in columns)
        on = Design.clustered(units=unit[rows])
        return many(right[rows][:, columns], on=on, names=names, higher_is_better=True).winner()

    first, other = winner(np.arange(240), [0, 1, 2, 3, 4]), winner(rng.permutation(240), [3, 1, 4, 0, 2])
    assert first.system == other.system
    assert (other.low, other.corrected, other.high) == pytest.approx((first.low, first.corrected, first.high), abs=1e-9)


def test_the_winner_has_the_limits_of_its_own_measure() -> None:
    """At the tails of the draws: those of a share stay within 0 and 1, and are exact where nothing varied."""
    rng = np.random.default_rng(9)
    seconds = rng.lognormal(sigma=0.8, size=(60, 3))
    slowest = many(seconds, on=Design.simple_random(n=60), higher_is_better=False)
    assert slowest.winner().low < slowest.winner().value < slowest.winner().high
    perfect = np.ones((30, 3))
    perfect[0, 1:] = 0.0
    best = many(perfect, on=Design.simple_random(n=30), higher_is_better=True).winner()
    assert 0.8 < best.low < best.corrected <= best.value == best.high == 1.0


def test_a_corrected_value_for_measures_that_are_better_when_lower() -> None:
    rng = np.random.default_rng(5)
    wrong = (rng.random((400, 3)) < [0.2, 0.4, 0.5]).astype(float)
    best = many(wrong, on=Design.simple_random(n=400), higher_is_better=False).winner()
    assert best.value <= best.corrected < best.high

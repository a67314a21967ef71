"""All pairs with few units: flips of whole units give the critical value, and the family-wise error holds."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import strat
from strat.comparison import many, sign_flips
from strat.comparison.sign_flips import few_units, largest_of_systems


def _by_hand(deviations: np.ndarray, stratum: np.ndarray) -> np.ndarray:
    """Largest |t| of all pairs for every choice of signs, pair by pair and stratum by stratum."""
    units, systems = deviations.shape
    largest = []
    for signs in product([1.0, -1.0], repeat=units):
        flipped, best = np.asarray(signs)[:, None] * deviations, 0.0
        for a, b in product(range(systems), repeat=2):
            d = flipped[:, a] - flipped[:, b]
            parts = [d[stratum == h] for h in np.unique(stratum)]
            variance = sum(len(p) * p.var(ddof=1) for p in parts)
            best = max(best, abs(d.sum()) / np.sqrt(variance) if variance > 1e-12 else 0.0)
        largest.append(best)
    return np.sort(largest)


@pytest.mark.parametrize("strata", [[0] * 8, [0, 0, 0, 1, 1, 1, 1, 1]])
def test_every_flip_is_the_t_of_the_flipped_units(strata: list[int]) -> None:
    """Enumeration, against t statistics computed one by one."""
    stratum = np.array(strata)
    x = np.random.default_rng(1).standard_normal((8, 3))
    for h in np.unique(stratum):
        x[stratum == h] -= x[stratum == h].mean(axis=0)
    ours = np.sort(np.repeat(largest_of_systems(x, stratum).max(axis=1), 2))
    np.testing.assert_allclose(ours, _by_hand(x, stratum), rtol=1e-9, atol=1e-12)


def test_few_units_use_flips_and_many_do_not() -> None:
    """Shares: below thirty units, or three for each system; other values: below fifty, or five."""
    assert few_units(29, 3, scored=True)
    assert not few_units(30, 3, scored=True)
    assert few_units(80, 40, scored=True)
    assert not few_units(20, 2, scored=True)
    assert few_units(49, 3, scored=False)
    assert not few_units(50, 3, scored=False)
    assert few_units(99, 20, scored=False)
    assert not few_units(150, 50, scored=False)
    x = (np.random.default_rng(3).random((12, 3)) < 0.7).astype(float)
    found = many(x, on=strat.Design.simple_random(n=12), higher_is_better=True)
    assert found.stratum is not None
    without = many(x, on=strat.jackknife(strat.Design.simple_random(n=12)), higher_is_better=True)
    assert without.stratum is None


def test_critical_value_and_p_values_agree() -> None:
    """A pair whose |t| is beyond the critical value has p at most 0.05, and the others more."""
    rng = np.random.default_rng(5)
    x = rng.standard_normal((15, 6)) + np.array([0, 0, 0.5, 1.0, 1.5, 2.0])
    found = many(x, on=strat.Design.simple_random(n=15), higher_is_better=True)
    beyond = np.abs(found.t) > found.critical()
    off = ~np.eye(6, dtype=bool)
    assert beyond[off].any()
    assert not beyond[off].all()
    np.testing.assert_array_equal(beyond[off], (found.pvalues() <= 0.05)[off])


def test_no_wider_than_bonferroni() -> None:
    """Three units have too few flips, and Bonferroni's value is taken."""
    x = np.random.default_rng(2).standard_normal((3, 3))
    found = many(x, on=strat.Design.simple_random(n=3), higher_is_better=True)
    assert found.critical() == pytest.approx(float(strat.measures.student.critical(1 - 0.05 / 3, 2)))


@pytest.mark.parametrize(("shares", "units", "flips"), [(True, 29, True), (True, 40, False), (False, 40, True),
                                                         (False, 60, False)])  # fmt: skip
def test_shares_are_scored_where_numbers_are_flipped(shares: bool, units: int, flips: bool) -> None:
    """The score of discordant rows serves shares from thirty units on; numbers keep flips up to fifty."""
    x = np.random.default_rng(6).standard_normal((units, 4))
    board = many((x < 1) * 1.0 if shares else x, on=strat.Design.simple_random(n=units), higher_is_better=True)
    assert ("flips" in board.max_t) == flips


@pytest.mark.slow
@pytest.mark.parametrize(("systems", "units"), [(10, 40), (20, 60)])
def test_family_wise_error_of_numbers(systems: int, units: int) -> None:
    """At most 6 %, two Monte-Carlo errors allowed (6.8 and 7.1 % by draws with one common degree of freedom)."""
    rng, wrong, samples = np.random.default_rng(units), 0, 600
    for _ in range(samples):
        x = rng.standard_normal((units, systems)) + rng.standard_normal((units, 1))
        wrong += many(x, on=strat.Design.simple_random(n=units), higher_is_better=True).pvalues().min() <= 0.05
    assert wrong / samples <= 0.06 + 2 * np.sqrt(0.06 * 0.94 / samples)


@pytest.mark.slow
@pytest.mark.parametrize(("systems", "units"), [(10, 10), (10, 20), (20, 15)])
def test_family_wise_error_with_few_units(systems: int, units: int) -> None:
    """At most 6 % of samples without any difference find one, two Monte-Carlo errors allowed (11 to 21 % before)."""
    rng, wrong, samples = np.random.default_rng(systems + units), 0, 400
    unit = np.repeat(np.arange(units), 20)
    design = strat.Design.clustered(units=unit)
    for _ in range(samples):
        z = rng.standard_normal((len(unit), 1)) + rng.standard_normal((len(unit), systems))
        x = (z + 0.5 * rng.standard_normal((units, systems))[unit] < 1.2).astype(float)
        wrong += many(x, on=design, higher_is_better=True).pvalues().min() <= 0.05
    assert wrong / samples <= 0.06 + 2 * np.sqrt(0.06 * 0.94 / samples)


@pytest.mark.parametrize(("units", "systems"), [(8, 2), (9, 4), (40, 12)])
def test_the_short_way_of_one_stratum_is_the_general_one(units: int, systems: int) -> None:
    """Equal systems and flips without variance included."""
    deviations = np.random.default_rng(units).integers(-2, 3, (units, systems)).astype(float)
    deviations[:, 1] = deviations[:, 0] if systems > 2 else deviations[:, 1]
    deviations -= deviations.mean(axis=0)
    scaled = deviations * np.sqrt(units / (units - 1))
    whole = sign_flips._squares(scaled.T @ scaled)
    indicator = np.full((units, 1), np.sqrt(1 / (units - 1)))
    general = sign_flips._largest(sign_flips._signs(units, systems), deviations, indicator, whole)
    np.testing.assert_allclose(
        sign_flips.largest_of_systems(deviations, np.zeros(units, int)), general, rtol=1e-12, atol=1e-12
    )

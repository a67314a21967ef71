"""Type-I error of the remaining tests: 5 % under their own null, or less where the null is discrete."""

from __future__ import annotations

import numpy as np
import pytest

import strat
from strat.comparison import (
    chance,
    cochran_q,
    five_by_two_f,
    five_by_two_t,
    mcnemar_exact,
    paired,
    stratified_shuffling,
    unpaired,
)

pytestmark = pytest.mark.slow


def nearest_mean_error(x: np.ndarray, y: np.ndarray, train: np.ndarray, keep: list[int]) -> float:
    """Error on the other half of the nearest-mean classifier of some features."""
    positive, negative = (x[train & (y == s)][:, keep].mean(axis=0) for s in (1, -1))
    middle = 0.5 * (positive + negative)
    said = np.sign((x[~train][:, keep] - middle) @ (positive - negative))
    return float((said != y[~train]).mean())


def test_five_by_two() -> None:
    """Two models with one informative feature each, equally good."""
    rng = np.random.default_rng(0)
    sims, t, f = 1000, 0, 0
    for _ in range(sims):
        y = np.repeat([-1, 1], 150)
        x = rng.normal(size=(300, 2)) + 0.7 * y[:, None]
        errors = np.empty((2, 5, 2))
        for repeat in range(5):
            half = rng.permutation(np.repeat([True, False], 150))
            for side, train in enumerate((half, ~half)):
                for model, keep in enumerate(([0], [1])):
                    errors[model, repeat, side] = nearest_mean_error(x, y, train, keep)
        if ((errors[0] - errors[1]).std(axis=1) == 0).all():
            continue
        t += five_by_two_t(errors[0], errors[1]).pvalue <= 0.05
        f += five_by_two_f(errors[0], errors[1]).pvalue <= 0.05
    assert t / sims <= 0.07
    assert f / sims <= 0.06


def test_cochran_and_exact_mcnemar() -> None:
    rng = np.random.default_rng(1)
    sims, q, exact = 2000, 0, 0
    for _ in range(sims):
        p = rng.beta(2, 1, 200)[:, None]
        x = (rng.random((200, 4)) < p).astype(int)
        q += cochran_q(x).pvalue <= 0.05
        exact += mcnemar_exact(np.ones(200, int), x[:, 0], x[:, 1]).pvalue <= 0.05
    assert 0.04 <= q / sims <= 0.06
    assert exact / sims <= 0.055


def test_chance_of_random_classification() -> None:
    rng = np.random.default_rng(2)
    sims, hits = 2000, 0
    for _ in range(sims):
        truth, said = rng.integers(0, 4, 100), rng.integers(0, 4, 100)
        table = np.zeros((4, 4), int)
        np.add.at(table, (truth, said), 1)
        hits += chance(table).pvalue <= 0.05
    assert 0.02 <= hits / sims <= 0.06


def test_unpaired_sensors_and_shuffling() -> None:
    rng = np.random.default_rng(3)
    sims, t, naive, shuffled = 1000, 0, 0, 0
    strata = np.repeat(np.arange(20), 12)
    unit = np.arange(240) // 4
    on = strat.Design.stratified(strata=strata, units=unit)
    for k in range(sims):
        hard = rng.normal(size=20)[strata]
        y = [hard + rng.normal(size=60)[unit] + rng.normal(size=240) for _ in range(2)]
        found = unpaired(strat.mean(y[0]), strat.mean(y[1]), on_a=on, on_b=on, higher_is_better=True)
        t += found.pvalue <= 0.05
        assert found.independent is not None
        naive += found.independent.test(0).pvalue <= 0.05
        if k < 300:
            both = np.concatenate(y)
            system, where = np.repeat(["A", "B"], 240), np.tile(strata, 2)
            units = np.concatenate([unit, unit + 1000])
            found_p = stratified_shuffling(both, system, strata=where, units=units, permutations=199, rng=k).pvalue
            shuffled += found_p <= 0.05
    assert 0.04 <= t / sims <= 0.06
    assert shuffled / 300 <= 0.085
    assert abs(naive / sims - 0.05) > 0.01  # rows as independent: wrong here, strata and clusters pull both ways


def test_equivalence_and_noninferiority_at_the_margin() -> None:
    """The truth lies at the margin: 5 % are wrongly called equivalent, or not inferior."""
    rng = np.random.default_rng(4)
    sims, same, not_worse = 1500, 0, 0
    unit = np.repeat(np.arange(40), 5)
    on = strat.Design.clustered(units=unit)
    for _ in range(sims):
        a = rng.normal(size=40)[unit] + rng.normal(size=200)
        b = a + 1.0 + 0.5 * rng.normal(size=40)[unit] + 0.5 * rng.normal(size=200)
        found = paired(strat.mean(a), strat.mean(b), on=on, higher_is_better=True)
        same += found.equivalence(1.0).pvalue <= 0.05
        not_worse += found.noninferiority(1.0, candidate="A").pvalue <= 0.05
    assert 0.04 <= same / sims <= 0.06
    assert 0.04 <= not_worse / sims <= 0.06

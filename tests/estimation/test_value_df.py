"""Degrees of freedom of each value from what each unit can do to it, and limits of sums of shares."""

from __future__ import annotations

import numpy as np
import pytest

import strat
from strat import Design


def test_equal_units_have_units_less_strata() -> None:
    design = Design.stratified(strata=np.repeat(range(4), 10), units=np.repeat(range(20), 2))
    y = np.random.default_rng(0).random(40)
    assert strat.estimate(strat.mean(y), on=design).df == 16
    assert strat.estimate(strat.proportion(y > 0.5), on=design).df == 16


def test_weights_of_rows_by_hand() -> None:
    """With v = w², no more than (Σv)²/Σv² − 1, and at least 1."""
    w = np.array([1.0, 1, 1, 1, 1, 4])
    v = w**2
    by_hand = max(v.sum() ** 2 / (v**2).sum() - 1, 1.0)
    got = strat.estimate(strat.mean(np.arange(6.0)), on=Design.simple_random(weights=w))
    assert got.df == pytest.approx(by_hand)
    assert strat.estimate(strat.mean(np.arange(6.0)), on=Design.simple_random(weights=w), df="design").df == 5


def test_each_value_counts_the_units_that_hold_its_class() -> None:
    """`recall(average=None)` had 39 for a class that 5 of 40 units hold; AUC, F1 and macro measures too."""
    unit = np.repeat(np.arange(40), 10)
    truth = (unit < 5).astype(int)
    rng = np.random.default_rng(3)
    guess = np.where(rng.random(400) < 0.2, 1 - truth, truth)
    design = Design.clustered(units=unit)
    of_classes = strat.estimate(strat.recall(truth, guess, average=None), on=design).df
    assert of_classes.tolist() == pytest.approx([34, 4], abs=0.01)
    assert strat.estimate(strat.recall(truth, guess), on=design).df == pytest.approx(4, abs=0.01)
    assert strat.estimate(strat.auc(truth, guess + rng.random(400)), on=design).df < 10
    assert strat.estimate(strat.balanced_accuracy(truth, guess), on=design).df < 10


def test_one_heavy_unit_of_a_domain_counts_as_one() -> None:
    unit = np.r_[np.arange(7), np.full(60, 7), np.repeat(np.arange(8, 40), 5)]
    y = np.random.default_rng(4).random(len(unit))
    inside = strat.domain(strat.mean(y), unit < 8)
    assert strat.estimate(inside, on=Design.clustered(units=unit)).df < 2


def test_neighbours_have_fewer_degrees_of_freedom() -> None:
    found = strat.estimate(strat.mean(np.arange(10.0) ** 2), on=Design.systematic(order=range(10)))
    assert found.df == pytest.approx(2 * 81 / 26)  # 2(n − 1)²/(3n − 4)
    assert strat.estimate(strat.mean(np.arange(10.0)), on=Design.systematic(order=range(10)), df=9).df == 9


def test_a_perfect_part_still_adds_to_a_sum_of_shares() -> None:
    unit = np.repeat(np.arange(30), 20)
    truth = (np.arange(600) % 50 == 0).astype(int)  # twelve positives, all of them right
    guess = np.where(truth == 1, 1, (np.arange(600) % 9 == 0).astype(int))
    found = strat.estimate(strat.balanced_accuracy(truth, guess), on=Design.clustered(units=unit))
    low, high = found.interval()
    assert found.value - low > 2 * (found.value - found.interval(method="logit")[0])
    assert high <= 1
    macro = strat.estimate(strat.recall(truth, guess, average="macro"), on=Design.clustered(units=unit))
    assert macro.interval() == pytest.approx((low, high))
    groups = strat.post_stratified(strat.accuracy(truth, guess), by=truth, sizes={0: 1, 1: 1})
    assert strat.estimate(groups, on=Design.clustered(units=unit)).interval() == pytest.approx((low, high), abs=1e-4)
    with pytest.raises(strat.StratError, match="`method` must not be 'mover' for accuracy"):
        strat.estimate(strat.accuracy(truth, guess), on=Design.clustered(units=unit)).interval(method="mover")


@pytest.mark.slow
def test_balanced_accuracy_of_a_rare_class_holds() -> None:
    """66 % of the intervals held: thirty units of twenty rows, one in fifty positive."""
    rng, hold = np.random.default_rng(5), 0
    unit = np.repeat(np.arange(30), 20)
    for _ in range(200):
        truth = rng.random(600) < 0.02
        truth[:2] = True
        right = rng.random(600) < rng.beta(3.6, 0.4, 30)[unit]
        found = strat.estimate(
            strat.balanced_accuracy(truth.astype(int), np.where(right, truth, ~truth).astype(int)),
            on=Design.clustered(units=unit),
        )
        low, high = found.interval()
        hold += low <= 0.9 <= high
    assert hold / 200 > 0.93 - 0.036


def test_few_negatives_beyond_a_rate_are_told() -> None:
    rng = np.random.default_rng(6)
    truth, score = np.repeat([0, 1], 100), rng.normal(size=200)
    few = strat.estimate(strat.rate_at(truth, score, fpr=0.01), on=Design.simple_random(n=200))
    assert "few-beyond" in [note.code for note in few.notes]
    enough = strat.estimate(strat.rate_at(truth, score, fpr=0.2), on=Design.simple_random(n=200))
    assert "few-beyond" not in [note.code for note in enough.notes]


def test_satterthwaites_number_is_cochrans_for_a_stratified_mean() -> None:
    """Cochran (5.16), which STRAT 6.1 speaks of: strata of 5, 12 and 40 rows from populations of 50, 300 and 80."""
    rng = np.random.default_rng(2)
    sizes, population, spread = np.array([5, 12, 40]), np.array([50, 300, 80]), [1.0, 3.0, 0.5]
    label = np.repeat(["a", "b", "c"], sizes)
    y = rng.normal(size=57) * np.repeat(spread, sizes)
    design = strat.Design.stratified(strata=label, population=dict(zip("abc", population.tolist(), strict=True)))
    variances = np.array([y[label == h].var(ddof=1) for h in "abc"])
    terms = population * (population - sizes) / sizes * variances
    expected = terms.sum() ** 2 / (terms**2 / (sizes - 1)).sum()
    assert strat.estimate(strat.mean(y), on=design, df="satterthwaite").df == pytest.approx(expected)

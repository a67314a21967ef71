"""Limits of two phases: laws, Jeffreys' limits of labels alone, the formula by hand, and samples that they hold in."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.special import betaincinv, stdtrit
from scipy.stats import norm

import strat
from strat.comparison.paired import of_estimate
from strat.estimation.two_phase import two_phase

Z = float(norm.ppf(0.975))


def sample(
    rows: int, labels: int, rate: float, right: float, seed: int = 1
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Truth, the judge's yes or no, and which rows are labelled."""
    rng = np.random.default_rng(seed)
    y = (rng.random(rows) < rate).astype(float)
    judge = np.where(rng.random(rows) < right, y, 1 - y)
    labelled = np.zeros(rows, bool)
    labelled[rng.choice(rows, labels, replace=False)] = True
    return y, judge, labelled


def estimated(y: Any, judge: Any, labelled: Any, on: Any = None, **options: Any) -> strat.Estimate:
    statistic = two_phase(strat.proportion(y), proxy=strat.proportion(judge), labelled=labelled, **options)
    return strat.estimate(statistic, on=strat.Design.simple_random(n=len(y)) if on is None else on)


def beta_limits(k: float, n: float, added: float) -> tuple[float, float]:
    low = float(betaincinv(k + added, n - k + added, 0.025)) if k > 0 else 0.0
    high = float(betaincinv(k + added, n - k + added, 0.975)) if k < n else 1.0
    return low, high


@pytest.mark.parametrize("wrong", [0, 1, 7])
def test_labels_alone_have_jeffreys_limits(wrong: int) -> None:
    y = np.ones(60)
    y[:wrong] = 0
    labelled = np.arange(60) < 40
    low, high = estimated(y, y, labelled, estimator="labels").interval()
    shrink = (Z / stdtrit(39, 0.975)) ** 2
    assert (low, high) == pytest.approx(beta_limits((40 - wrong) * shrink, 40 * shrink, 0.5), abs=1e-9)


def test_the_limits_are_those_of_the_formula() -> None:
    """Rows by the judge's word; in each the labels' limits, with a third of a hit and of a miss added."""
    y, judge, labelled = sample(500, 40, 0.8, 0.9)
    one = estimated(y, judge, labelled)
    shrink = (Z / stdtrit(39, 0.975)) ** 2
    below = above = between = 0.0
    for word in (0, 1):
        here = judge == word
        labels = y[here & labelled]
        share, size = labels.mean(), here.mean()
        low, high = beta_limits(labels.sum() * shrink, len(labels) * shrink, 1 / 3)
        below += (size * (share - low)) ** 2
        above += (size * (high - share)) ** 2
        between += size * (share - one.value) ** 2
    drawn = stdtrit(39, 0.975) ** 2 * between / 499
    assert one.interval() == pytest.approx((one.value - np.sqrt(below + drawn), one.value + np.sqrt(above + drawn)))


def test_a_difference_is_newcombe_s_with_these_limits() -> None:
    """A judge without an opinion: shares of rows that one system alone has right, correlated as in a multinomial."""
    rng = np.random.default_rng(2)
    a, b = (rng.random(300) < 0.8).astype(float), (rng.random(300) < 0.7).astype(float)
    labelled = np.arange(300) < 90
    nothing = np.ones(300)
    both = two_phase(
        strat.stack("system", a=strat.proportion(a), b=strat.proportion(b)),
        proxy=strat.stack("system", a=strat.proportion(nothing), b=strat.proportion(nothing)),
        labelled=labelled,
    )
    joint = strat.estimate(both, on=strat.Design.simple_random(n=300))
    difference = of_estimate(joint, higher_is_better=True)
    shrink = (Z / stdtrit(89, 0.975)) ** 2
    gains, losses = ((a - b)[labelled] == 1).sum(), ((a - b)[labelled] == -1).sum()
    p, m = gains / 90, losses / 90
    (p_low, p_high), (m_low, m_high) = (beta_limits(k * shrink, 90 * shrink, 0.25) for k in (gains, losses))
    phi = np.sqrt(p * m / ((1 - p) * (1 - m)))
    below = np.hypot(p - p_low, m_high - m) ** 2 + 2 * phi * (p - p_low) * (m_high - m)
    above = np.hypot(p_high - p, m - m_low) ** 2 + 2 * phi * (p_high - p) * (m - m_low)
    assert difference.interval() == pytest.approx((p - m - np.sqrt(below), p - m + np.sqrt(above)), abs=1e-9)


def systems(seed: int = 3, **options: Any) -> strat.Estimate:
    rng = np.random.default_rng(seed)
    y, judge, labelled = sample(600, 60, 0.85, 0.93, seed)
    other = np.where(rng.random(600) < 0.9, y, 1 - y)
    judged = np.where(rng.random(600) < 0.93, other, 1 - other)
    both = two_phase(
        strat.stack("system", a=strat.proportion(y), b=strat.proportion(other)),
        proxy=strat.stack("system", a=strat.proportion(judge), b=strat.proportion(judged)),
        labelled=labelled,
        **options,
    )
    return strat.estimate(both, on=strat.Design.simple_random(n=600))


def test_systems_that_change_places_change_the_sign_alone() -> None:
    joint = systems()
    first = of_estimate(joint, higher_is_better=True)
    other = of_estimate(joint, higher_is_better=True, baseline="a")
    assert other.names == ("b", "a")
    assert other.interval() == pytest.approx(tuple(-limit for limit in first.interval()[::-1]))
    assert other.pvalue == pytest.approx(first.pvalue)
    assert first.interval() == pytest.approx(joint.map(strat.estimation.functions.Difference(0, 1)).interval())
    part = joint.at("b").interval()
    assert part == pytest.approx(tuple(float(side[1]) for side in joint.interval()))


def test_p_values_are_those_of_the_limits() -> None:
    y, judge, labelled = sample(800, 50, 0.9, 0.95)
    one = estimated(y, judge, labelled)
    low, high = one.interval()
    assert one.test(low).pvalue == pytest.approx(0.05, abs=1e-6)
    assert one.test(high, alternative="less").pvalue == pytest.approx(0.025, abs=1e-6)
    both = of_estimate(systems(), higher_is_better=True)
    margin = max(-both.interval(0.9)[0], 1e-3)
    assert both.noninferiority(margin, candidate="a").pvalue == pytest.approx(0.05, abs=1e-6)


@pytest.mark.parametrize("make", [lambda: estimated(*sample(300, 30, 0.9, 0.95)), systems], ids=["one", "systems"])
def test_limits_travel_between_processes(make: Callable[[], strat.Estimate]) -> None:
    one = make()
    other = pickle.loads(pickle.dumps(one))
    assert np.array_equal(other.interval(), one.interval())
    if one.point.ndim:
        difference = strat.estimation.functions.Difference(0, 1)
        assert other.map(difference).interval() == one.map(difference).interval()
        assert pickle.loads(pickle.dumps(one.at("a"))).interval() == one.at("a").interval()


def test_neither_the_order_of_rows_nor_the_size_of_weights_nor_names_of_units_matter() -> None:
    y, judge, labelled = sample(400, 60, 0.8, 0.9)
    unit = np.repeat(np.arange(40), 10)
    rng = np.random.default_rng(4)
    weights = rng.integers(1, 4, 400).astype(float)

    def limits(rows: Any, scale: float = 1.0, names: Any = unit) -> Any:
        w = scale * weights[rows]
        on = strat.Design.clustered(units=names[rows], weights=w)
        return estimated(y[rows], judge[rows], labelled[rows], on, units=names[rows], weights=w).interval()

    first = limits(np.arange(400))
    assert limits(rng.permutation(400)) == pytest.approx(first)
    assert limits(np.arange(400), scale=7.0) == pytest.approx(first)
    assert limits(np.arange(400), names=np.array([f"u{97 - k:03d}" for k in unit])) == pytest.approx(first)


def test_units_that_nobody_named_leave_the_limits_of_the_design() -> None:
    """Without the units or the weights of the design the parts can't be counted; the design's variance still is."""
    y, judge, labelled = sample(400, 60, 0.8, 0.9)
    unit = np.repeat(np.arange(40), 10)
    on = strat.Design.clustered(units=unit)
    unnamed, named = estimated(y, judge, labelled, on), estimated(y, judge, labelled, on, units=unit)
    assert unnamed.interval() == pytest.approx(unnamed.changed(variance=unnamed.variance + (1 / 60) ** 2).interval())
    assert unnamed.interval() != pytest.approx(named.interval())
    heavy = strat.Design.simple_random(n=400, weights=1.0 + judge)
    unweighted = estimated(y, judge, labelled, heavy)
    assert unweighted.interval() == pytest.approx(
        unweighted.changed(variance=unweighted.variance + (1 / 60) ** 2).interval()
    )


@pytest.mark.parametrize("measure", ["accuracy", "f1", "precision", "recall"])
def test_a_judge_who_agrees_with_every_label_leaves_room_in_the_measures_of_a_system(measure: str) -> None:
    rng = np.random.default_rng(6)
    truth = rng.random(900) < 0.4
    guess = np.where(rng.random(900) < 0.85, truth, ~truth)
    labelled = rng.random(900) < 0.06
    words = np.array(["no", "yes"])
    table = {"truth": np.where(labelled, words[truth * 1], None), "guess": words[guess * 1], "judge": words[truth * 1]}
    options = {} if measure == "accuracy" else {"positive": "yes"}
    one = strat.evaluate(table, truth="truth", predicted="guess", proxy="judge", metrics=measure, **options)[measure]
    alone = {name: column[labelled] for name, column in table.items()}
    other = strat.evaluate(alone, truth="truth", predicted="guess", metrics=measure, **options)[measure]
    width, widest = (float(np.diff(side.interval())[0]) for side in (one, other))
    assert 1 - 0.05 ** (1 / labelled.sum()) < width < widest


def test_equal_systems_differ_by_what_a_label_more_would_say() -> None:
    """Two systems with the same answers: nothing is left open where the truth has two classes."""
    rng = np.random.default_rng(7)
    truth = np.where(rng.random(500) < 0.5, "yes", "no")
    guess = np.where(rng.random(500) < 0.8, truth, "no")
    table = {"truth": np.where(np.arange(500) < 50, truth, None), "a": guess, "b": guess, "judge": truth}
    board = strat.compare(table, truth="truth", predicted=["a", "b"], proxy="judge", metrics="accuracy", baseline="a")
    assert board.interval() == pytest.approx((0.0, 0.0), abs=1e-9)


def test_ratings_allow_for_one_more_label_that_differs_by_a_step() -> None:
    rng = np.random.default_rng(8)
    rating = rng.integers(1, 6, 400).astype(float)
    table = {"human": np.where(np.arange(400) < 50, rating, np.nan), "judge": rating}
    one = strat.evaluate(table, score="human", proxy="judge", metrics="mean")["mean"]
    low, high = one.interval()
    assert (high - low) / 2 == pytest.approx(stdtrit(one.df, 0.975) * np.sqrt(float(one.variance) + (1 / 50) ** 2))


def test_without_a_label_in_an_answer_of_the_judge_nothing_is_known_of_it() -> None:
    """A tenth of the rows is judged "no", none of which is labelled; a judge's word of others says nothing of these."""
    judge = np.array([1.0] * 90 + [0.0] * 10)
    y = np.array([1.0, 0.0, 1.0, 1.0] * 25)
    one = two_phase(
        strat.proportion(y), proxy=strat.proportion(judge), labelled=np.arange(100) < 40, coefficients=[0.5]
    )
    low, high = strat.estimate(one, on=strat.Design.simple_random(n=100)).interval()
    assert high - low > 0.1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "labels", "rate", "right"), [(1100, 42, 0.91, 0.975), (700, 25, 0.7, 0.85), (900, 35, 0.94, 0.5)]
)
def test_the_limits_hold(rows: int, labels: int, rate: float, right: float) -> None:
    found = []
    for seed in range(600):
        low, high = estimated(*sample(rows, labels, rate, right, seed)).interval()
        found.append(low <= rate <= high)
    assert np.mean(found) > 0.93

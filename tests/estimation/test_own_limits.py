"""Limits that measures bring along: averages over rare classes, areas near 1, pass@k, tasks that are all or nothing."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import betaincinv, expit, logit, ndtr

import strat
from strat.base.errors import StratError
from strat.base.notes import codes_of
from strat.estimation.area_intervals import Placements
from strat.estimation.macro_intervals import ClassCounts
from strat.estimation.pass_intervals import effective_items

SMALL = st.integers(0, 2**31 - 1)


def classes(rng: np.random.Generator, number: int, rows: int) -> tuple[Any, Any]:
    share = 1.0 / np.arange(1, number + 1)
    truth = rng.choice(number, rows, p=share / share.sum())
    return truth, np.where(rng.random(rows) < 0.75, truth, rng.integers(0, number, rows))


def scores(rng: np.random.Generator, rows: int, shift: float = 3.0) -> tuple[Any, Any]:
    y = (np.arange(rows) % 5 == 0).astype(int)
    return y, shift * y + rng.standard_normal(rows)


# ---- all of them


def each(rng: np.random.Generator, on: str) -> list[Any]:
    """One estimate of each kind, of rows or of units."""
    truth, said = classes(rng, 15, 200)
    y, score = scores(rng, 200)
    units = np.arange(200) // 10
    design = strat.Design.clustered(units=units) if on == "units" else strat.Design.simple_random(n=200)
    tries = strat.Design.clustered(units=units)
    right = (rng.random(200) < np.where(np.arange(20) < 4, 0.4, 0.0)[units]).astype(int)
    return [
        strat.estimate(strat.f1(truth, said, average="macro"), on=design),
        strat.estimate(strat.recall(truth, said, average="macro"), on=design),
        strat.estimate(strat.balanced_accuracy(truth, said), on=design),
        strat.estimate(strat.auc(y, score, positive=1), on=design),
        strat.estimate(strat.pass_at_k(right, k=3, items=units), on=tries),
        strat.estimate(strat.proportion((np.arange(20) % 7 > 0)[units].astype(float)), on=tries),
    ]


@pytest.mark.parametrize("on", ["rows", "units"])
@given(seed=SMALL)
def test_limits_are_in_order_nested_and_inverted_by_the_test(on: str, seed: int) -> None:
    for one in each(np.random.default_rng(seed), on):
        low, high = one.interval(0.95)
        wide, narrow = one.interval(0.99), one.interval(0.8)
        assert 0.0 <= wide[0] <= low <= narrow[0] <= narrow[1] <= high <= wide[1] <= 1.0
        assert one.limit(0.975, side="lower") == pytest.approx(low, abs=1e-9)
        if 0.0 < low < one.value:
            assert one.test(low).pvalue == pytest.approx(0.05, abs=1e-4)
            assert one.test(low, alternative="greater").pvalue == pytest.approx(0.025, abs=1e-4)


def test_limits_are_the_same_after_a_journey_between_processes() -> None:
    for on in ("rows", "units"):
        for one in each(np.random.default_rng(4), on):
            assert pickle.loads(pickle.dumps(one)).interval() == one.interval()


def test_limits_are_refused_for_measures_that_bring_none() -> None:
    share = strat.estimate(strat.proportion([1, 0, 1]), on=strat.Design.simple_random(n=3))
    wanted = {
        "classes": "averages over classes such as macro F1",
        "placements": "the area under the ROC curve",
        "items": "means over items such as pass@k",
    }
    for method, text in wanted.items():
        with pytest.raises(StratError, match=text):
            share.interval(method=method)


# ---- averages over classes


@given(seed=SMALL)
def test_classes_of_many_rows_have_the_limits_of_the_delta_method(seed: int) -> None:
    """The prior vanishes, and so does the bias."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(3_000, 20_000, 6).astype(float)
    hits = np.round(rows * rng.uniform(0.3, 0.95, 6))
    for harmonic in (True, False):
        counts = ClassCounts(hits, rows, harmonic)
        low, middle, high = counts.limits(1.96, 1.0)
        assert middle == pytest.approx(counts.plain, abs=2e-3)
        assert high - low == pytest.approx(2 * 1.96 * np.sqrt(counts.alone), rel=0.08)


@given(seed=SMALL)
def test_a_class_is_counted_the_same_below_and_above_the_rows_that_are_added_up(seed: int) -> None:
    """80 rows are added up, 81 have a closed form: the limits hardly move."""
    rng = np.random.default_rng(seed)
    hits = np.round(80 * rng.uniform(0.2, 0.95, 8))
    few, more = (ClassCounts(hits + 0.5 * k, np.full(8, 80.0 + k), True).limits(1.96, 1.0) for k in (0, 1))
    assert np.allclose(few, more, atol=4e-3)


def test_the_order_and_names_of_classes_change_nothing_and_weights_only_by_their_ratios() -> None:
    truth, said = classes(np.random.default_rng(8), 20, 300)
    names = np.random.default_rng(1).permutation(20)
    design = strat.Design.simple_random(n=300)
    one = strat.estimate(strat.f1(truth, said, average="macro"), on=design)
    other = strat.estimate(strat.f1(names[truth], names[said], average="macro"), on=design)
    scaled = strat.estimate(
        strat.f1(truth, said, average="macro"), on=strat.Design.simple_random(n=300, weights=np.full(300, 7.0))
    )
    assert np.allclose(one.interval(), other.interval(), atol=1e-9)
    assert np.allclose(one.interval(), scaled.interval(), atol=1e-6)


def test_rare_classes_are_named_with_the_corrected_value() -> None:
    """The corrected value lies on the other side of the plain one as the bias does, and the interval is around it."""
    truth = np.repeat(np.arange(33), [60, 30, 15] + [1, 2] * 15)
    said = np.where(np.arange(150) % 3 == 0, (7 * np.arange(150) + truth) % 33, truth)
    one = strat.estimate(strat.f1(truth, said, average="macro"), on=strat.Design.simple_random(n=150))
    (note,) = [note for note in one.notes if note.code == "rare-classes"]
    low, high = one.interval()
    assert low < note.facts["corrected"] < high
    assert note.facts["corrected"] > one.value
    many = strat.estimate(
        strat.f1(np.arange(500) % 4, (np.arange(500) + np.arange(500) // 7 % 2) % 4, average="macro"),
        on=strat.Design.simple_random(n=500),
    )
    assert "rare-classes" not in codes_of(many.notes)


def test_perfect_averages_keep_their_exact_limits() -> None:
    truth = np.arange(60) % 5
    one = strat.estimate(strat.f1(truth, truth, average="macro"), on=strat.Design.simple_random(n=60))
    low, high = one.interval()
    assert high == 1.0
    assert low == pytest.approx(0.025 ** (1 / float(one.effective_units)), abs=1e-9)


def test_averages_over_two_or_three_classes_are_sums_of_shares_as_before() -> None:
    truth = np.arange(90) % 3
    said = np.where(np.arange(90) % 7 == 0, (truth + 1) % 3, truth)
    one = strat.estimate(strat.recall(truth, said, average="macro"), on=strat.Design.simple_random(n=90))
    assert one.interval() == one.interval(method="mover")


@pytest.mark.slow
def test_macro_f1_of_rare_classes_covers() -> None:
    """25 Zipf classes in 250 rows: 93 % at least, where the logit scale has 75 to 80 %."""
    share = 1.0 / np.arange(1, 26)
    share /= share.sum()
    right = expit(logit(0.75) + 0.5 * np.random.default_rng(5).standard_normal(25))
    table = share[:, None] * ((1 - right)[:, None] * (1 - np.eye(25)) / 24 + np.diag(right))
    target = float((2 * np.diag(table) / (table.sum(axis=0) + table.sum(axis=1))).mean())
    rng, design, held = np.random.default_rng(6), strat.Design.simple_random(n=250), 0
    for _ in range(300):
        truth, said = np.divmod(rng.choice(625, 250, p=table.ravel()), 25)
        low, high = strat.estimate(strat.f1(truth, said, average="macro"), on=design).interval()
        held += low <= target <= high
    assert held / 300 >= 0.93 - 2 * np.sqrt(0.93 * 0.07 / 300)


# ---- areas


@given(seed=SMALL)
def test_placements_have_the_variance_of_delong(seed: int) -> None:
    rng = np.random.default_rng(seed)
    y, score = scores(rng, 60, 1.5)
    support, place = np.unique(np.round(score, 1), return_inverse=True)
    negative, positive = (np.bincount(place[y == k], minlength=len(support)).astype(float) for k in (0, 1))
    x, z = support[place[y == 1]], support[place[y == 0]]
    right = (x[:, None] > z) + 0.5 * (x[:, None] == z)
    placed = Placements.of_histograms(negative, positive, 60.0)
    assert float(placed.beyond[0]) == pytest.approx(min(right.mean(), 1 - right.mean()))
    delong = right.mean(axis=1).var(ddof=1) / len(x) + right.mean(axis=0).var(ddof=1) / len(z)
    assert float(placed.variance[0]) == pytest.approx(delong)


def test_the_formula_is_newcombes() -> None:
    """Method 5 of Newcombe (2006): A(1 − A)(1 + N*(1 − A)/(2 − A) + N* A/(1 + A))/(mn), N* = (m + n)/2 − 1."""
    placed = Placements(*(np.array(v) for v in (20.0, 30.0, 0.1, 0.01, 0.0)))
    assert float(placed.by_formula(np.array(0.9))) == pytest.approx(0.09 * (1 + 24 * 0.1 / 1.1 + 24 * 0.9 / 1.9) / 600)


@given(seed=SMALL)
def test_a_reversed_score_has_the_mirrored_limits(seed: int) -> None:
    y, score = scores(np.random.default_rng(seed), 150)
    design = strat.Design.simple_random(n=150)
    low, high = strat.estimate(strat.auc(y, score, positive=1), on=design).interval()
    a, b = strat.estimate(strat.auc(y, -score, positive=1), on=design).interval()
    assert (1 - b, 1 - a) == pytest.approx((low, high), abs=1e-9)


def test_areas_up_to_nine_tenths_keep_the_logit_scale() -> None:
    rng = np.random.default_rng(2)
    y, score = scores(rng, 200, 1.2)
    one = strat.estimate(strat.auc(y, score, positive=1), on=strat.Design.simple_random(n=200))
    assert 0.1 < one.value < 0.9
    assert one.interval() == one.interval(method="logit")


def test_areas_near_one_hold_in_units_with_the_jackknife_too() -> None:
    y, score = scores(np.random.default_rng(7), 240)
    one = strat.estimate(strat.auc(y, score, positive=1), on=strat.Design.clustered(units=np.arange(240) // 8))
    low, high = one.interval()
    straight = one.interval(method="logit")
    assert one.method.kind.name == "JACKKNIFE" or one.replicated
    assert low < straight[0]
    assert high < 1.0


@pytest.mark.slow
def test_areas_near_one_cover() -> None:
    """Area .99, 600 rows, a tenth of them positive: 93 % at least, where the logit scale has 86 to 92 %."""
    target, rng, held = float(ndtr(3.3 / np.sqrt(2))), np.random.default_rng(9), 0
    design = strat.Design.simple_random(n=600)
    for _ in range(400):
        y = (rng.random(600) < 0.1).astype(int)
        one = strat.estimate(strat.auc(y, 3.3 * y + rng.standard_normal(600), positive=1), on=design)
        low, high = one.interval()
        held += low <= target <= high
    assert held / 400 >= 0.93 - 2 * np.sqrt(0.93 * 0.07 / 400)


# ---- items


def test_pass_at_all_tries_is_wilsons_share_of_tasks() -> None:
    """With k = n a task is solved or not: Wilson's limits of 4 in 20, with Student's t."""
    items = np.repeat(np.arange(20), 5)
    right = ((items < 4) & (np.arange(100) % 5 == items % 5)).astype(int)
    one = strat.estimate(strat.pass_at_k(right, k=5, items=items), on=strat.Design.clustered(units=items))
    n, p, t = 19.0, 0.2, 2.0930240544  # n = m(1 − m)/(s²/20)
    centre = (p + t * t / 2 / n) / (1 + t * t / n)
    half = t / (1 + t * t / n) * np.sqrt(p * (1 - p) / n + t * t / 4 / n / n)
    assert one.interval() == pytest.approx((centre - half, centre + half), abs=1e-8)


def test_no_task_solved_has_wilsons_limit_of_none() -> None:
    items = np.repeat(np.arange(30), 4)
    one = strat.estimate(strat.pass_at_k(np.zeros(120), k=2, items=items), on=strat.Design.clustered(units=items))
    t = 2.0452296421
    assert one.interval() == pytest.approx((0.0, t * t / (30 + t * t)), abs=1e-8)


def test_few_tasks_alike_count_no_more_than_there_are() -> None:
    """Three tasks of thirty solved in exactly one try of ten: the variance alone would say far too much."""
    mean, variance = np.array(0.01), np.array(0.1**2 * 3 * 27 / 30 / 29 / 30)
    capped = float(effective_items(mean, variance, 30.0, np.array(0.1), np.array(1.0)))
    assert capped < 0.6 * float(mean * (1 - mean) / variance)


@given(seed=SMALL)
def test_swapping_right_and_wrong_mirrors_pass_hat_and_pass_at(seed: int) -> None:
    """pass^k of successes is 1 − pass@k of failures, and so are its limits."""
    rng = np.random.default_rng(seed)
    items = np.repeat(np.arange(15), 6)
    right = (rng.random(90) < rng.random(15)[items]).astype(int)
    design = strat.Design.clustered(units=items)
    low, high = strat.estimate(strat.measures.pass_hat_k(right, k=2, items=items), on=design).interval()
    a, b = strat.estimate(strat.pass_at_k(1 - right, k=2, items=items), on=design).interval()
    assert (1 - b, 1 - a) == pytest.approx((low, high), abs=1e-9)


# ---- tasks that are all or nothing


def test_tasks_whose_tries_agree_wholly_have_jeffreys_limits() -> None:
    """27 tasks of thirty right in all forty tries: Jeffreys' limits of the effective tasks, less for Student's t."""
    items = np.repeat(np.arange(30), 40)
    one = strat.estimate(strat.proportion((items < 27).astype(float)), on=strat.Design.clustered(units=items))
    n = 29.0 * (1.959963985 / 2.0452296421) ** 2
    wanted = (betaincinv(0.9 * n + 0.5, 0.1 * n + 0.5, 0.025), betaincinv(0.9 * n + 0.5, 0.1 * n + 0.5, 0.975))
    assert one.interval() == pytest.approx(wanted, abs=1e-7)


def test_tasks_that_differ_little_keep_their_limits() -> None:
    """Up to a correlation of one half nothing is added."""
    from strat.estimation.share_intervals import Fit

    rng = np.random.default_rng(3)
    hits = rng.binomial(8, rng.beta(7, 3, (25, 4))).astype(float)
    rows = np.full((25, 4), 8.0)
    fit = Fit(hits, rows, rows, strat.Design.clustered(units=np.repeat(np.arange(25), 8)).as_lines)
    assert (fit.all_or_nothing == 0).all()

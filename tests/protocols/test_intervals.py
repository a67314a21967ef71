"""Limits of what is trained again and again: how models differ, macro F1 and AUC by hand, units, classes, errors."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import strat
from strat import protocols
from strat.base.notes import codes_of
from strat.datasets import gaussian_classes
from strat.protocols import intervals

DATA = gaussian_classes([90, 30], means=[[-0.7, 0, 0], [0.7, 0, 0]], rng=3)
THREE = gaussian_classes([50, 40, 30], means=[[0, 0], [1.5, 0], [0, 1.5]], rng=4)
UNITS = np.arange(120) // 4


@given(st.data())
def test_what_moves_is_half_the_mean_square_over_pairs_of_which_one_has_not_seen_the_row(data: st.DataObject) -> None:
    models, rows = data.draw(st.integers(2, 5)), data.draw(st.integers(1, 7))
    size = models * rows
    values = np.reshape(data.draw(st.lists(st.integers(0, 2), min_size=size, max_size=size)), (models, rows)) * 1.0
    seen = np.reshape(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)), (models, rows))
    squares = [
        (values[a, i] - values[b, i]) ** 2 / 2
        for i in range(rows) for a in range(models) for b in range(a) if not (seen[a, i] and seen[b, i])
    ]  # fmt: skip
    assert intervals.Trainings(seen, 0.3).moved(values) == pytest.approx(np.mean(squares) if squares else 0.0)


@pytest.mark.parametrize("folds", [2, 5, 10])
def test_folds_share_all_but_one_part_in_the_others(folds: int) -> None:
    fold = np.arange(60) % folds
    splits = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(folds)]
    trainings = intervals.Trainings.of(splits, np.arange(60), 60)
    assert trainings.swapped == pytest.approx(1 / (folds - 1))
    assert (trainings.seen.sum(axis=0) == folds - 1).all()
    assert intervals.Trainings.of(splits[:1], np.arange(60), 60).swapped == 0.0


def test_models_that_learn_nothing_leave_the_variance_of_the_rows() -> None:
    r = protocols.cross_validation(DummyClassifier(), DATA.X, DATA.y, cv=5)
    assert r.se == pytest.approx(np.sqrt(0.25 * 0.75 / 119))
    note = next(n for n in strat.cross_validate(DummyClassifier(), DATA.X, DATA.y).notes if n.code == "new-models")
    assert note.facts["factor"] == 1.0


def test_variance_is_that_of_the_formula() -> None:
    """1 + U / (2 √s p (1 − p)), with U from models trained here once more, on rows that one has not trained on."""
    r = protocols.cross_validation(KNeighborsClassifier(9), DATA.X, DATA.y, cv=5)
    fold = r.predictions["fold"]
    answers = []
    for k in range(5):
        train = r.predictions["row"][fold != k]
        answers.append(KNeighborsClassifier(9).fit(DATA.X[train], DATA.y[train]).predict(DATA.X))
    own = dict(zip(r.predictions["row"], fold, strict=True))
    pairs = [answers[k][row] != answers[other][row] for row, k in own.items() for other in range(5) if other != k]
    differ = np.mean(pairs)
    p = r.error
    f2 = 1 + differ / (2 * np.sqrt(1 / 4)) / (p * (1 - p))
    assert 1.05 < f2 < 2
    assert r.se == pytest.approx(np.sqrt(f2 * p * (1 - p) / 119))


def test_repeats_of_folds_leave_the_standard_error_where_it_is() -> None:
    once, often = (
        protocols.cross_validation(DecisionTreeClassifier(), DATA.X, DATA.y, cv=5, repeats=m).se for m in (1, 6)
    )
    assert often == pytest.approx(once, rel=0.15)
    one, six = (strat.cross_validate(GaussianNB(), DATA.X, DATA.y, repeats=m)["accuracy"].se for m in (1, 6))
    assert six == pytest.approx(one, rel=0.15)


def test_models_without_an_error_keep_the_exact_limit() -> None:
    X = np.repeat([[0.0], [9.0]], 30, axis=0)
    r = protocols.cross_validation(GaussianNB(), X + np.random.default_rng(0).normal(size=X.shape), X[:, 0] > 5, cv=5)
    low, high = r.interval()
    assert (r.error, low) == (0.0, 0.0)
    assert 0.03 < high < 0.1
    found = strat.cross_validate(GaussianNB(), X + np.random.default_rng(0).normal(size=X.shape), X[:, 0] > 5)
    for name in found.estimates:
        low, high = found.interval(name)
        assert low < 1.0
        assert high == pytest.approx(1.0)


def test_limits_of_a_level_are_those_of_a_wider_level_without_the_factor() -> None:
    result = strat.cross_validate(KNeighborsClassifier(3), DATA.X, DATA.y, scoring="balanced_accuracy")
    p = result.predictions
    given_models = strat.estimate(strat.balanced_accuracy(p["truth"], p["predicted"]), on=result.design())
    factor = result["balanced_accuracy"].se / given_models.se
    assert factor > 1.05
    level = 2 * norm.cdf(factor * norm.ppf(0.95)) - 1
    assert result["balanced_accuracy"].interval(0.9) == pytest.approx(given_models.interval(level))


def test_macro_f1_joins_the_limits_of_the_shares_of_classes() -> None:
    """By hand for models that learn nothing: one class's J is 90 of 120, the other's 0 of 30."""
    result = strat.cross_validate(DummyClassifier(), DATA.X, DATA.y, scoring="f1_macro")
    low, high = result.interval("f1_macro")
    value = float(result["f1_macro"].value)
    assert value == pytest.approx(0.5 * 2 * 0.75 / 1.75)

    def wilson(p: float, n: float, t: float) -> tuple[float, float]:
        centre, half = p + t * t / (2 * n), t * np.sqrt(p * (1 - p) / n + t * t / (4 * n * n))
        return (centre - half) / (1 + t * t / n), (centre + half) / (1 + t * t / n)

    t = 1.98
    below = 0.75 * 2 / 1.75 - 2 * wilson(0.75, 120, t)[0] / (1 + wilson(0.75, 120, t)[0])
    assert value - low == pytest.approx(0.5 * below, rel=0.02)
    rare = wilson(0.0, 30, t)[1]
    assert high - value > 0.5 * 2 * rare / (1 + rare) * 0.9


def test_auc_is_the_mean_of_the_folds_with_their_placements() -> None:
    result = strat.cross_validate(LogisticRegression(), DATA.X, DATA.y, cv=4, scoring="roc_auc")
    p, y = result.predictions, result.predictions["truth"] == 1
    assert result["roc_auc"].value == pytest.approx(result.folds["roc_auc"].mean())
    each = np.zeros(len(y))
    for k in range(4):
        for own, others in ((y, ~y), (~y, y)):
            a, b = p["score"][own & (p["fold"] == k)], p["score"][others & (p["fold"] == k)]
            over = (a[:, None] > b).mean(1) + (a[:, None] == b).mean(1) / 2
            each[own & (p["fold"] == k)] = over if own is y else 1 - over
    plain = np.sqrt(each[y].var(ddof=1) / y.sum() + each[~y].var(ddof=1) / (~y).sum())
    assert 1.0 < result["roc_auc"].se / plain < np.sqrt(2.1)


def test_several_classes_units_weights_and_strata_have_limits() -> None:
    for how in ({}, {"units": UNITS}, {"weights": np.linspace(1, 3, 120)}, {"strata": np.arange(120) % 2}):
        result = strat.cross_validate(GaussianNB(), THREE.X, THREE.y, cv=4, **how)
        two = strat.cross_validate(GaussianNB(), DATA.X, DATA.y, cv=4, **how)
        for one in (result, two):
            for name, estimate in one.estimates.items():
                low, high = one.interval(name)
                assert 0 <= low < float(estimate.value) < high <= 1
                assert pickle.loads(pickle.dumps(estimate)).interval() == (low, high)


def test_rows_of_units_that_are_alike_count_once() -> None:
    rows = np.repeat(np.arange(60), 3)
    X, y = DATA.X[::2][rows], DATA.y[::2][rows]
    alone = strat.cross_validate(GaussianNB(), DATA.X[::2], DATA.y[::2], scoring=["accuracy", "f1_macro"])
    copies = strat.cross_validate(GaussianNB(), X, y, units=rows, scoring=["accuracy", "f1_macro"])
    for name in ("accuracy", "f1_macro"):
        a, b = (np.ptp(one.interval(name)) for one in (alone, copies))
        assert b == pytest.approx(a, rel=0.25)


def test_the_output_says_for_which_models_an_interval_is() -> None:
    result = strat.cross_validate(GaussianNB(), DATA.X, DATA.y)
    notes = [note for note in result.notes if note.code == "new-models"]
    assert len(notes) == 2
    assert str(notes[0]).startswith("The interval is for the model that is trained on all rows, and for models trained")
    assert str(notes[1]).startswith("f1_macro: The interval is for the model that is trained on all these rows.")
    one = strat.cross_validate(GaussianNB(), DATA.X, DATA.y, cv=[(np.arange(80), np.arange(80, 120))])
    assert "new-models" not in codes_of(one.notes)


def test_folds_without_a_class_leave_the_auc_to_the_others_and_one_unit_is_refused() -> None:
    order = np.argsort(DATA.y, kind="stable")
    tests = [order[:20], *np.array_split(np.random.default_rng(1).permutation(order[20:]), 2)]
    splits = [(np.setdiff1d(order, test), test) for test in tests]
    result = strat.cross_validate(GaussianNB(), DATA.X, DATA.y, cv=splits)
    known = result.folds["roc_auc"][np.isfinite(result.folds["roc_auc"])]
    assert len(known) == 2
    assert result["roc_auc"].value == pytest.approx(known.mean())
    with pytest.raises(strat.StratError, match="`cv` must lie between 2 and the number of units"):
        strat.cross_validate(GaussianNB(), DATA.X, DATA.y, units=np.zeros(120, int))

"""Protocols: what they split, what they estimate, how sure they are, and what they refuse."""

from __future__ import annotations

import joblib
import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GroupKFold,
    LeaveOneGroupOut,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_predict,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import strat
from strat import protocols
from strat.base.errors import StratError
from strat.datasets import gaussian_classes

DATA = gaussian_classes([60, 40], means=[[-1, 0], [1, 0]], rng=4)
UNITS = np.arange(100) // 4
CALLS = {
    "resubstitution": protocols.resubstitution,
    "holdout": protocols.holdout,
    "repeated_holdout": protocols.repeated_holdout,
    "cross_validation": protocols.cross_validation,
    "leave_one_out": protocols.leave_one_out,
    "bootstrap": lambda *a, **k: protocols.bootstrap(*a, replicates=20, **k),
    "three_way": lambda *a, **k: protocols.three_way(*a, grid={"var_smoothing": [1e-9, 0.1]}, **k),
}


@pytest.mark.parametrize("units", [None, UNITS], ids=["rows", "units"])
@pytest.mark.parametrize("name", CALLS)
def test_every_protocol_returns_the_same_kind_of_answer(name: str, units) -> None:
    r = CALLS[name](GaussianNB(), DATA.X, DATA.y, units=units)
    p = r.predictions
    wanted = {"row", "fold", "repeat", "truth", "predicted", "score"} | ({"unit"} if units is not None else set())
    assert set(p) == wanted
    assert {len(c) for c in p.values()} == {len(p["row"])}
    assert np.array_equal(p["truth"], DATA.y[p["row"]])
    assert 0 <= r.error <= 1
    low, high = r.interval()
    assert 0 <= low < r.error < high <= 1
    assert r.interval(0.5)[0] > low
    assert r.bias in ("optimistic", "pessimistic", "nearly unbiased")
    assert (r.times.fit > 0).all()
    assert r.memory.model > 0
    assert r.memory.peak > 0
    assert r.protocol in str(r)
    assert len(r.design()) == len(p["row"])
    assert r.to_frame()["error"][0] == r.error


@pytest.mark.parametrize("name", [n for n in CALLS if n != "bootstrap"])
def test_error_is_that_of_the_predictions(name: str) -> None:
    r = CALLS[name](GaussianNB(), DATA.X, DATA.y)
    sizes = np.bincount(
        np.unique(np.column_stack([r.predictions["repeat"], r.predictions["fold"]]), axis=0, return_inverse=True)[1]
    )
    assert (sizes == sizes[0]).all()
    assert r.error == pytest.approx(np.mean(r.predictions["truth"] != r.predictions["predicted"]))


@pytest.mark.parametrize(
    "name", ["holdout", "repeated_holdout", "cross_validation", "leave_one_out", "bootstrap", "three_way"]
)
def test_no_unit_is_on_both_sides(name: str) -> None:
    class Watch(GaussianNB):
        """Remembers the first feature of what it was trained on: here, the unit."""

        def fit(self, X, y):
            self.seen_ = set(X[:, 0].tolist())
            return super().fit(X, y)

        def predict_proba(self, X):
            inside = np.isin(X[:, 0], list(self.seen_)).astype(float)
            return np.column_stack([1 - inside, inside])

    X = np.column_stack([UNITS, DATA.X])
    r = CALLS[name](Watch(), X, DATA.y, units=UNITS)
    assert (r.predictions["score"] == 0).all()


def test_rows_of_a_unit_raise_the_standard_error() -> None:
    wrong = np.repeat(DATA.X[:, :1], 5, axis=0)
    y, units = np.repeat(DATA.y, 5), np.repeat(np.arange(100), 5)
    alone = protocols.holdout(DummyClassifier(), wrong, y, units=None)
    together = protocols.holdout(DummyClassifier(), wrong, y, units=units)
    assert together.se > 1.8 * alone.se
    assert together.variance == "test units as independent draws"
    assert together.trials == len(np.unique(together.predictions["unit"]))


@pytest.mark.parametrize("units", [None, UNITS], ids=["rows", "units"])
def test_every_statistic_applies_to_the_predictions(units) -> None:
    r = protocols.holdout(GaussianNB(), DATA.X, DATA.y, units=units)
    again = strat.estimate(strat.error_rate(r.predictions["truth"], r.predictions["predicted"]), on=r.design())
    assert (again.value, again.se, again.df) == pytest.approx((r.error, r.se, r.df))
    repeated = protocols.cross_validation(GaussianNB(), DATA.X, DATA.y, repeats=3, units=units)
    p = repeated.predictions
    more = strat.estimate(strat.accuracy(p["truth"], p["predicted"]), on=repeated.design())
    assert more.df == (99 if units is None else 24)


def test_grouped_hold_out_takes_any_share_and_refuses_the_impossible() -> None:
    for test in (0.05, 0.3, 0.37, 0.9):
        p = protocols.holdout(GaussianNB(), DATA.X, DATA.y, test=test, units=UNITS, stratify=False).predictions
        assert len(p["row"]) / 100 == pytest.approx(test, abs=0.08)
    two = np.repeat([0, 1], [60, 40])
    with pytest.raises(StratError, match="`units` must leave every class some training units"):
        protocols.holdout(GaussianNB(), DATA.X, DATA.y, units=two)


def test_a_design_gives_its_units() -> None:
    labels = protocols.cross_validation(GaussianNB(), DATA.X, DATA.y, units=UNITS, cv=5)
    design = protocols.cross_validation(GaussianNB(), DATA.X, DATA.y, units=strat.Design.clustered(units=UNITS), cv=5)
    assert np.array_equal(labels.predictions["unit"], design.predictions["unit"])
    alone = protocols.holdout(GaussianNB(), DATA.X, DATA.y, units=strat.Design.simple_random(n=100))
    assert "unit" not in alone.predictions


def test_hold_out_keeps_classes_and_size() -> None:
    p = protocols.holdout(GaussianNB(), DATA.X, DATA.y, test=0.3).predictions
    assert np.bincount(p["truth"]).tolist() == [18, 12]


def test_cross_validation_equals_scikit_learn_on_the_same_splits() -> None:
    splitter = StratifiedKFold(5, shuffle=True, random_state=1)
    r = protocols.cross_validation(GaussianNB(), DATA.X, DATA.y, cv=splitter)
    expected = cross_val_predict(GaussianNB(), DATA.X, DATA.y, cv=splitter)
    assert np.array_equal(r.predictions["predicted"][np.argsort(r.predictions["row"])], expected)
    assert r.protocol == "cross-validation (StratifiedKFold)"


@pytest.mark.parametrize(
    ("splitter", "folds", "repeats"),
    [
        (RepeatedStratifiedKFold(n_splits=5, n_repeats=3, random_state=0), 5, 3),
        (GroupKFold(4), 4, 1),
        (LeaveOneGroupOut(), 25, 1),
    ],
)
def test_any_splitter_serves(splitter, folds: int, repeats: int) -> None:
    units = None if repeats > 1 else UNITS
    r = protocols.cross_validation(GaussianNB(), DATA.X, DATA.y, cv=splitter, units=units)
    assert len(r.fold_errors) == folds * repeats
    assert r.predictions["repeat"].max() == repeats - 1
    assert r.predictions["fold"].max() == folds - 1


def test_a_splitter_that_puts_a_unit_on_both_sides_gets_a_note() -> None:
    r = protocols.cross_validation(GaussianNB(), DATA.X, DATA.y, cv=StratifiedKFold(5, shuffle=True), units=UNITS)
    assert r.notes[0].code == "units-split"
    assert f"note: {r.notes[0]}" in str(r)
    assert not protocols.cross_validation(GaussianNB(), DATA.X, DATA.y, cv=5, units=UNITS).notes


def test_a_splitter_of_one_split_is_a_hold_out() -> None:
    r = protocols.cross_validation(GaussianNB(), DATA.X, DATA.y, cv=ShuffleSplit(1, test_size=0.5, random_state=0))
    assert r.variance == "test rows as independent draws"


def test_splits_make_no_more_rows() -> None:
    """The standard error is that of the rows, times a factor from 1 to √2 for how far the trained models differ."""
    n = len(DATA.y)
    for repeats in (1, 4):
        r = protocols.cross_validation(GaussianNB(), DATA.X, DATA.y, cv=5, repeats=repeats)
        assert len(r.fold_errors) == 5 * repeats
        assert 1.0 <= r.se / np.sqrt(r.error * (1 - r.error) / (n - 1)) <= np.sqrt(2)
        assert (r.trials, r.df) == (n, n - 1)
    assert r.protocol == "4 × 5-fold cross-validation"
    shuffle = protocols.repeated_holdout(GaussianNB(), DATA.X, DATA.y, repeats=8, test=0.1)
    rows, p = len(np.unique(shuffle.predictions["row"])), shuffle.of_rows
    assert shuffle.trials == rows < n
    assert 1.0 <= shuffle.se / np.sqrt(p * (1 - p) / (rows - 1)) <= np.sqrt(2)
    assert shuffle.interval()[0] <= shuffle.error <= shuffle.interval()[1]


def test_same_seed_same_answer() -> None:
    for name in ("holdout", "repeated_holdout", "cross_validation", "bootstrap", "three_way"):
        a, b, c = (CALLS[name](GaussianNB(), DATA.X, DATA.y, rng=seed) for seed in (1, 1, 2))
        assert a.error == b.error
        assert not all(np.array_equal(a.predictions[k], c.predictions[k]) for k in ("row", "predicted"))


def test_no_error_still_has_an_interval() -> None:
    X = np.array([[0.0]] * 20 + [[9.0]] * 20)
    y = np.repeat([0, 1], 20)
    for name in ("resubstitution", "holdout", "repeated_holdout", "cross_validation", "leave_one_out", "bootstrap"):
        r = CALLS[name](KNeighborsClassifier(1), X, y)
        low, high = r.interval()
        assert r.error == 0 == low
        assert 0.02 < high < 0.3


def test_leave_one_out_refits_any_classifier() -> None:
    r = protocols.leave_one_out(KNeighborsClassifier(1), [[0.0], [1.0], [2.0], [9.0]], [0, 0, 1, 1])
    assert r.predictions["predicted"].tolist() == [0, 0, 0, 1]
    assert len(r.times.fit) == 4


def test_three_way_chooses_on_validation_rows_only() -> None:
    r = protocols.three_way(KNeighborsClassifier(), DATA.X, DATA.y, grid={"n_neighbors": [1, 9, 15]})
    best = r.details["validation_errors"].argmin()
    assert r.details["chosen"] == r.details["candidates"][best]
    assert len(r.predictions["row"]) == 25


def test_compare_protocols_is_a_table_and_a_picture() -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    found = protocols.compare_protocols(LinearDiscriminantAnalysis(), DATA.X, DATA.y, reference=DATA.bayes_error)
    assert list(found.results) == list(protocols.comparing.USUAL)
    frame = found.to_frame()
    assert len(frame["error"]) == 6
    assert frame["protocol"][1] == "hold-out"
    assert str(found).count("\n") == 6
    assert found.plot().get_xlabel() == "error, 95 % interval"
    assert found["leave-one-out"].plot().get_ylabel() == "error"
    plt.close("all")
    mine = {"mine": lambda e, X, y, **k: protocols.resubstitution(e, X, y)}
    assert protocols.compare_protocols(GaussianNB(), DATA.X, DATA.y, protocols=mine)["mine"].bias == "optimistic"


def test_every_named_protocol_runs() -> None:
    small = gaussian_classes([20, 20], means=[[-1, 0], [1, 0]], rng=4)
    found = protocols.compare_protocols(
        LinearDiscriminantAnalysis(), small.X, small.y, protocols=list(protocols.PROTOCOLS)
    )
    errors = found.to_frame()["error"]
    assert errors[0] == errors.min()


def test_parallel_gives_the_same_answer() -> None:
    one = protocols.cross_validation(GaussianNB(), DATA.X, DATA.y, n_jobs=1)
    with joblib.parallel_config(backend="threading"):
        two = protocols.cross_validation(GaussianNB(), DATA.X, DATA.y, n_jobs=2)
    assert np.array_equal(one.predictions["predicted"], two.predictions["predicted"])


def test_scores_of_three_classes_and_of_silent_classifiers() -> None:
    data = gaussian_classes(90, means=[[0, 0], [3, 0], [0, 3]], rng=1)
    r = protocols.cross_validation(GaussianNB(), data.X, data.y, cv=3)
    assert r.predictions["score"].min() > 1 / 3

    class Silent(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            self.classes_ = np.unique(y)
            return self

        def predict(self, X):
            return np.full(len(X), self.classes_[0])

    assert np.isnan(protocols.holdout(Silent(), data.X, data.y).predictions["score"]).all()


class NotCloneable(GaussianNB):
    def __init__(self, width=1):
        super().__init__()
        self.width = width + 1


class NoParameters:
    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.zeros(len(X))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda X, y: protocols.holdout(NotCloneable(), X, y),
            "`estimator` must be an estimator that scikit-learn can clone, got NotCloneable",
        ),
        (lambda X, y: protocols.holdout(NoParameters(), X, y), "scikit-learn can clone, got NoParameters"),
        (lambda X, y: protocols.holdout("tree", X, y), "`estimator` must have `fit` and `predict`, got str"),
        (lambda X, y: protocols.holdout(GaussianNB(), X[:5], y), r"`X` must have as many rows as `y` \(100\), got 5"),
        (lambda X, y: protocols.holdout(GaussianNB(), X[:, 0], y), "`X` must be rows × features"),
        (lambda X, y: protocols.holdout(GaussianNB(), X, 0 * y), "`y` must have at least two classes, got only 0"),
        (
            lambda X, y: protocols.holdout(GaussianNB(), X, y, test=1.5),
            "`test` must be a share of the rows between 0 and 1, got 1.5",
        ),
        (
            lambda X, y: protocols.holdout(GaussianNB(), X, y, test=0.01),
            "`test` must leave a row of each of the 2 classes on both sides",
        ),
        (lambda X, y: protocols.holdout(GaussianNB(), X, y, units=[1] * 100), "`units` must name at least two units"),
        (
            lambda X, y: protocols.holdout(GaussianNB(), X, np.arange(100) // 99),
            "`y` must have at least two rows of every class to be split by class, got one of 1",
        ),
        (
            lambda X, y: protocols.leave_one_out(GaussianNB(), X, np.arange(100) // 99),
            "`y` must have at least two rows of every class for leave-one-out, got one of 1",
        ),
        (
            lambda X, y: protocols.leave_one_out(GaussianNB(), X, y, units=y),
            "at least two units of every class for leave-one-out",
        ),
        (
            lambda X, y: protocols.leave_one_out(GaussianNB(), X, y, method="fast"),
            "`method` must be one of 'auto', 'closed', 'refit', got 'fast'",
        ),
        (
            lambda X, y: protocols.cross_validation(GaussianNB(), X, y, cv=50),
            r"`cv` must be at most the size of the smallest class \(1, 40 rows\), got 50",
        ),
        (
            lambda X, y: protocols.cross_validation(GaussianNB(), X, y, cv=12, units=UNITS),
            r"smallest class \(1, 10 units\), got 12",
        ),
        (
            lambda X, y: protocols.cross_validation(GaussianNB(), X, y, cv=1),
            r"`cv` must lie between 2 and the number of rows \(100\), got 1",
        ),
        (
            lambda X, y: protocols.cross_validation(GaussianNB(), X, y, cv=26, units=UNITS),
            r"number of units \(25\), got 26",
        ),
        (
            lambda X, y: protocols.cross_validation(GaussianNB(), X, y, cv="ten"),
            "`cv` must be a number of folds, a scikit-learn splitter or a list",
        ),
        (
            lambda X, y: protocols.cross_validation(GaussianNB(), X, y, cv=StratifiedKFold(3), repeats=2),
            "`repeats` must be 1 with given splits, got 2",
        ),
        (
            lambda X, y: protocols.repeated_holdout(GaussianNB(), X, y, repeats=1),
            "`repeats` must be at least 2, got 1; use holdout",
        ),
        (lambda X, y: protocols.bootstrap(GaussianNB(), X, y, variant="633"), "`variant` must be one of 'optimism'"),
        (lambda X, y: protocols.bootstrap(GaussianNB(), X, y, replicates=1), "`replicates` must be at least 2, got 1"),
        (
            lambda X, y: protocols.bootstrap(GaussianNB(), X, y, units=[0] * 100),
            "`units` must name at least two units to draw from",
        ),
        (
            lambda X, y: protocols.three_way(GaussianNB(), X, y, grid={}, validation=0.8),
            r"`validation` must lie between 0 and 1 − `test` \(0.75\), got 0.8",
        ),
        (
            lambda X, y: protocols.compare_protocols(GaussianNB(), X, y, protocols=["holdout"]),
            "`protocols` must be names that exist, got 'holdout'; did you mean 'hold-out'",
        ),
        (
            lambda X, y: protocols.compare_protocols(GaussianNB(), X, y, protocols=[]),
            "`protocols` must name at least one",
        ),
        (
            lambda X, y: protocols.compare_protocols(GaussianNB(), X, y, protocols=["hold-out"])["loo"],
            "`name` must be one of the protocols that were run",
        ),
        (lambda X, y: protocols.corrected_se(np.array([0.1]), 0.1), "`errors` must be at least two test errors, got 1"),
    ],
)
def test_bad_input_is_one_sentence(call, message: str) -> None:
    with pytest.raises(StratError, match=message):
        call(DATA.X, DATA.y)


def test_more_folds_than_the_smallest_class_are_possible_when_asked_for() -> None:
    r = protocols.cross_validation(GaussianNB(), DATA.X, DATA.y, cv=50, stratify=False)
    assert len(r.fold_errors) == 50


def test_singular_covariance_in_a_fold_is_one_sentence() -> None:
    from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

    X = np.random.default_rng(0).standard_normal((100, 50))
    with pytest.raises(StratError, match="more training rows in every class than features for Quadratic"):
        protocols.cross_validation(QuadraticDiscriminantAnalysis(), X, DATA.y, cv=5)
    with pytest.raises(StratError, match=r"not \(nearly\) linear functions of each other for Quadratic"):
        protocols.holdout(QuadraticDiscriminantAnalysis(), np.repeat(DATA.X, 2, axis=1), DATA.y)


def test_each_random_split_is_a_repeat_that_tests_a_row_at_most_once():
    data = gaussian_classes(60, means=[[-1, 0], [1, 0]], rng=1)
    found = protocols.repeated_holdout(GaussianNB(), data.X, data.y, repeats=6, test=0.3).predictions
    assert sorted(set(found["repeat"].tolist())) == list(range(6))
    pairs = set(zip(found["repeat"].tolist(), found["row"].tolist(), strict=True))
    assert len(pairs) == len(found["row"])


def test_a_splitter_that_repeats_itself_tests_a_row_once_in_each_repeat():
    from sklearn.model_selection import ShuffleSplit

    data = gaussian_classes(40, means=[[-1, 0], [1, 0]], rng=1)
    splitter = ShuffleSplit(12, test_size=0.1, random_state=0)
    found = protocols.cross_validation(GaussianNB(), data.X, data.y, cv=splitter).predictions
    pairs = set(zip(found["repeat"].tolist(), found["row"].tolist(), strict=True))
    assert len(pairs) == len(found["row"])


def test_what_is_no_classifier_no_split_and_no_argument():
    from sklearn.linear_model import Ridge
    from sklearn.model_selection import GroupKFold

    data = gaussian_classes(40, means=[[-1, 0], [1, 0]], rng=1)
    with pytest.raises(StratError, match=r"`estimator` must be a classifier, got the regressor Ridge"):
        protocols.holdout(Ridge(), data.X, data.y)
    with pytest.raises(StratError, match=r"`cv` must be able to split .* GroupKFold .*; pass `units`"):
        protocols.cross_validation(GaussianNB(), data.X, data.y, cv=GroupKFold(3))
    with pytest.raises(StratError, match=r"`grid` must name arguments of the estimator, got 'k'"):
        protocols.three_way(GaussianNB(), data.X, data.y, grid={"k": [1]})


def test_nominal_features_are_coded_within_a_fold():
    """Kuncheva 1.1.2: a country becomes one binary feature each; a country that no training row has is no error."""
    rng = np.random.default_rng(0)
    label = rng.integers(0, 2, 120)
    country = np.where(rng.random(120) < 0.9, np.where(label == 1, "NL", "BE"), "LU").astype(object)
    country[0] = "AD"  # in one fold only
    pipeline = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression())
    found = protocols.cross_validation(pipeline, country[:, None], label, cv=5)
    assert found.error < 0.12
    assert len(found.fold_errors) == 5

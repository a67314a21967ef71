"""Searches for features against brute force, and bounds of the Bayes error against the known one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.feature_selection import RFE, SelectorMixin
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from strat import StratError, gaussian, protocols
from strat.datasets import gaussian_classes
from strat.protocols.selection import mahalanobis_distance

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(60, 6)) + np.outer(np.tile([0, 1], 30), [1.0, 0.2, 0.6, 0.0, 0.9, 0.1]), np.tile([0, 1], 30)


def spread(table, codes):
    """The distance of the class means, less for features that go together."""
    gap = table[codes == 1].mean(axis=0) - table[codes == 0].mean(axis=0)
    return float(gap @ np.linalg.pinv(np.cov(table.T).reshape(len(gap), -1)) @ gap)


def test_exhaustive_search_is_the_best_of_all():
    best = max(itertools.combinations(range(6), 3), key=lambda s: spread(X[:, s], Y))
    assert protocols.exhaustive_search(X, Y, features=3, criterion=spread).tolist() == list(best)


def test_backward_selection_takes_the_least_useful_out():
    kept = list(range(6))
    while len(kept) > 2:
        kept.remove(max(kept, key=lambda f: spread(X[:, [g for g in kept if g != f]], Y)))
    assert protocols.backward_selection(X, Y, features=2, criterion=spread).tolist() == kept


SEARCHES = {
    "forward": protocols.forward_selection,
    "backward": protocols.backward_selection,
    "floating": protocols.floating_search,
    "exhaustive": protocols.exhaustive_search,
    "single": lambda X, y, features, criterion: protocols.single_features(X, y, criterion=criterion)[:features],
}


@pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES)
def test_a_search_does_not_depend_on_where_the_criterion_is_zero(search):
    """A criterion below zero, such as minus an error, finds the sets that it finds above."""
    found = [search(X, Y, features=3, criterion=lambda a, b, c=c: spread(a, b) - c).tolist() for c in (0, 100)]
    assert found[0] == found[1]


@pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES)
def test_a_criterion_gets_the_labels_that_were_given(search):
    names = np.array(["no", "yes"])[Y]
    by_name = search(X, names, features=3, criterion=lambda a, b: spread(a, (b == "yes").astype(int)))
    assert by_name.tolist() == search(X, Y, features=3, criterion=spread).tolist()
    ours = search(X, names, features=3, criterion=mahalanobis_distance)
    assert ours.tolist() == search(X, Y, features=3, criterion="mahalanobis").tolist()


@pytest.mark.parametrize("value", [np.nan, -np.inf, np.inf, "high", None])
@pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES)
def test_what_is_no_number_is_no_criterion(search, value):
    with pytest.raises(StratError, match="`criterion` must be"):
        search(X, Y, features=3, criterion=lambda a, b: value)


def test_single_features_are_ranked_alone():
    expected = sorted(range(6), key=lambda f: -spread(X[:, [f]], Y))
    assert protocols.single_features(X, Y, criterion=spread).tolist() == expected


def test_the_wrapper_goes_both_ways():
    selector = protocols.wrapper(GaussianNB(), features=2, direction="backward").fit(X, Y)
    assert selector.get_support().sum() == 2
    with pytest.raises(StratError, match="`direction` must be one of"):
        protocols.wrapper(GaussianNB(), features=2, direction="sideways")


def test_too_many_sets_are_refused():
    with pytest.raises(StratError, match="`features` must leave at most 200,000 sets"):
        protocols.exhaustive_search(RNG.normal(size=(10, 40)), np.tile([0, 1], 5), features=20)


def test_bounds_come_from_the_leave_one_out_error_of_the_nearest_neighbour():
    bounds = protocols.bayes_error_bounds(X, Y)
    predicted = cross_val_predict(KNeighborsClassifier(1), X, Y, cv=LeaveOneOut())
    assert bounds.error == pytest.approx(np.mean(predicted != Y))
    assert bounds.lower == pytest.approx(0.5 * (1 - np.sqrt(1 - 2 * bounds.error)))


@pytest.mark.parametrize("distance", [0.6, 1.0, 1.5])
def test_the_known_bayes_error_lies_between(distance):
    data = gaussian_classes(4000, means=[[-distance, 0], [distance, 0]], rng=1)
    bounds = protocols.bayes_error_bounds(data.X, data.y)
    assert bounds.lower - 3 * bounds.se < data.bayes_error < bounds.upper + 3 * bounds.se


def test_neighbours_of_the_same_unit_do_not_count():
    table, labels = np.repeat(RNG.normal(size=(40, 2)), 2, axis=0), np.repeat(np.tile([0, 1], 20), 2)
    assert protocols.bayes_error_bounds(table, labels).error == 0.0
    apart = protocols.bayes_error_bounds(table, labels, units=np.repeat(np.arange(40), 2))
    predicted = cross_val_predict(KNeighborsClassifier(1), table[::2], labels[::2], cv=LeaveOneOut())
    assert apart.error == pytest.approx(np.mean(predicted != labels[::2]))


def test_soft_labels_by_hand_and_errors():
    p = np.array([[0.9, 0.1], [0.3, 0.7], [0.5, 0.5], [1.0, 0.0]])
    found = protocols.soft_label_error(p)
    assert float(found.se) == pytest.approx(np.std([0.1, 0.3, 0.5, 0.0], ddof=1) / 2)
    with pytest.raises(StratError, match="`probabilities` must be at least 0 and sum to 1"):
        protocols.soft_label_error(2 * p)
    with pytest.raises(StratError, match="`probabilities` must be rows × classes"):
        protocols.soft_label_error([0.5, 0.5])
    with pytest.raises(StratError, match="`units` must name at least two units"):
        protocols.bayes_error_bounds(X, Y, units=np.zeros(60))


# ---- the peak effect of any classifier


def test_the_peak_effect_of_the_nearest_neighbour_is_that_of_any_estimator():
    """The book's classifier by its own fast way and as an estimator: the same halves, orders and accuracies."""
    fast = protocols.peak_effect(X, Y, runs=4, rng=3)
    slow = protocols.peak_effect(X, Y, runs=4, rng=3, estimator=KNeighborsClassifier(1))
    assert fast.selected == pytest.approx(slow.selected, abs=1e-12)
    assert fast.random == pytest.approx(slow.random, abs=1e-12)


def test_the_peak_effect_takes_a_criterion_and_labels_of_any_kind():
    named = np.where(Y == 1, "yes", "no")
    last = protocols.peak_effect(
        X, named, runs=3, estimator=GaussianNB(), criterion=lambda a, b: -abs(a[b == "yes"].mean(0)).sum()
    )
    first = protocols.peak_effect(X, named, runs=3, estimator=GaussianNB(), criterion="mahalanobis")
    assert first.selected[:, 0].mean() > last.selected[:, 0].mean()  # the weakest feature first
    assert np.array_equal(first.selected[:, -1], last.selected[:, -1])  # all features are all features
    with pytest.raises(StratError, match="`estimator` must have `fit` and `predict`"):
        protocols.peak_effect(X, Y, runs=2, estimator=3)


class Relief(SelectorMixin, BaseEstimator):
    """RELIEF (Kira and Rendell 1992): features that differ from the nearest miss more than from the nearest hit."""

    def __init__(self, features=2):
        self.features = features

    def fit(self, X, y):
        gaps = (X[:, None] - X) ** 2
        far, same = gaps.sum(axis=2), y[:, None] == y
        far[np.diag_indices(len(X))] = np.inf
        hit, miss = (np.where(which, far, np.inf).argmin(axis=1) for which in (same, ~same))
        rows = np.arange(len(X))
        self.weights_ = (gaps[rows, miss] - gaps[rows, hit]).sum(axis=0)
        return self

    def _get_support_mask(self):
        return self.weights_ >= np.sort(self.weights_)[-self.features]


@pytest.mark.parametrize("selector", [Relief(), RFE(LinearSVC(), n_features_to_select=2)], ids=["RELIEF", "SVM-RFE"])
def test_any_selector_of_scikit_learn_can_be_tried(selector):
    """Kuncheva 1.6.2 names them: what they choose with all rows, and within each fold."""
    data = gaussian_classes(80, means=[[0] * 6, [2, 0, 0, 2, 0, 0]], rng=3)
    found = protocols.peeking(GaussianNB(), data.X, data.y, selector=selector, cv=4)
    assert found.chosen_peeking.tolist() == [0, 3]
    assert float(protocols.selection_stability(found.chosen_honestly, features=6).value) > 0.5


# ---- the stability of selections


def nogueira(chosen):
    """Value and variance by the formulas of the paper."""
    runs, d = chosen.shape
    share, size = chosen.mean(axis=0), chosen.sum(axis=1)
    k = size.mean()
    room = k / d * (1 - k / d)
    value = 1 - (runs / (runs - 1) * share * (1 - share)).mean() / room
    each = ((chosen @ share) / d - size * k / d**2 + value / 2 * (2 * size * k / d**2 - size / d - k / d + 1)) / room
    return value, 4 / runs**2 * ((each - each.mean()) ** 2).sum()


@pytest.mark.parametrize("seed", range(4))
def test_stability_is_that_of_its_authors(seed):
    rng = np.random.default_rng(seed)
    chosen = rng.random((60, 12)) < np.repeat([0.9, 0.5, 0.1], 4)
    found = protocols.selection_stability([np.flatnonzero(one) for one in chosen], features=12)
    value, variance = nogueira(chosen.astype(float))
    assert float(found.value) == pytest.approx(value, rel=1e-12)
    assert float(found.se) == pytest.approx(np.sqrt(variance), rel=0.03)  # theirs divides by M, ours by M − 1


def test_random_selections_have_no_stability_on_average():
    rng = np.random.default_rng(1)
    drawn = [
        float(protocols.selection_stability([rng.choice(20, 5, replace=False) for _ in range(6)], features=20).value)
        for _ in range(200)
    ]
    assert abs(np.mean(drawn)) < 4 * np.std(drawn) / np.sqrt(200)


def test_the_choices_of_peeking_have_a_stability():
    selector = protocols.filter_selector(features=2)
    chosen = protocols.peeking(GaussianNB(), X, Y, selector=selector, cv=5).chosen_honestly
    assert 0 < float(protocols.selection_stability(chosen, features=6).value) <= 1


@pytest.mark.parametrize(
    ("sets", "features", "message"),
    [
        ([[0]], 3, "`selected` must hold the features of two runs or more, got 1"),
        ([[], []], 3, "`selected` must choose some of the features 0 to . and not all"),
        ([[0, 1], [0, 1]], 2, "`selected` must choose some of the features 0 to . and not all"),
        ([[0], [1]], 1, "`features` must be a whole number of at least 2, got 1"),
    ],
)
def test_wrong_selections_are_one_sentence(sets, features, message):
    with pytest.raises(StratError, match=message):
        protocols.selection_stability(sets, features=features)


# ---- where an error comes from


def test_parts_of_an_error_are_those_of_the_closed_form():
    """A linear rule between two Gaussians of unlike covariances: the parts by integration, and of the fitted model."""
    data = gaussian_classes(60, means=[[0, 0], [2, 0]], covariances=[np.eye(2), np.diag([1, 4.0])], rng=2)
    parts = protocols.error_parts(LinearDiscriminantAnalysis(), data.X, data.y, problem=data.problem)
    fitted = LinearDiscriminantAnalysis().fit(data.X, data.y)
    rule = gaussian.QuadraticRule(np.zeros((2, 2)), fitted.coef_[0], float(fitted.intercept_[0]))
    exact = gaussian.decompose_error(rule, data.problem, model="linear")
    assert parts.bayes == pytest.approx(exact.bayes, abs=1e-12)
    assert parts.total == pytest.approx(exact.total, abs=1e-3)
    assert parts.model == pytest.approx(exact.model, abs=3e-3)  # LDA of many rows is not quite the best line
    assert parts.total == pytest.approx(parts.approximation + parts.model + parts.bayes)


def test_a_model_that_has_bayes_rule_has_no_model_error():
    data = gaussian_classes(40, means=[[-1, 0], [1, 0]], rng=1)
    labels = np.where(data.y == 1, "yes", "no")
    parts = protocols.error_parts(LinearDiscriminantAnalysis(), data.X, labels, problem=data.problem)
    assert 0 <= parts.model < 1e-4
    assert parts.approximation > 0
    constant = protocols.error_parts(DummyClassifier(), data.X, labels, problem=data.problem)
    assert constant.total == pytest.approx(0.5, abs=4e-3)


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        (gaussian.DiscreteProblem([[0.5, 0.5], [1, 0]]), "`problem` must be a Problem, got a DiscreteProblem"),
        (gaussian_classes(3, means=[[0], [1], [2]]).problem, "`y` must have the 3 classes of the problem, got 2"),
    ],
)
def test_wrong_problems_are_one_sentence(problem, message):
    with pytest.raises((StratError, TypeError), match=message):
        protocols.error_parts(GaussianNB(), X[:, :1], Y, problem=problem)

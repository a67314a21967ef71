"""Searches for features against brute force, and bounds of the Bayes error against the known one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from strat import StratError, protocols
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

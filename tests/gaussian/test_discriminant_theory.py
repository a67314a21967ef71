"""The canonical classifier, decision regions, separability, overlap."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strat.base.errors import StratError
from strat.gaussian import (
    CanonicalClassifier,
    GaussianClass,
    Problem,
    decision_regions,
    inseparable_points,
    linear_separability,
    nearest_neighbour,
    overlap,
    separable_pairs,
)


def test_a_monotone_transformation_labels_alike():
    functions = [lambda x: np.exp(-(x[:, 0] ** 2)), lambda x: np.exp(-((x[:, 0] - 2) ** 2))]
    logs = [lambda x: -(x[:, 0] ** 2), lambda x: -((x[:, 0] - 2) ** 2)]
    points = np.random.default_rng(0).normal(1, 2, (200, 1))
    one, two = CanonicalClassifier(functions), CanonicalClassifier(logs)
    assert (one.decide(points) == two.decide(points)).all()
    assert one.scores(points).shape == (200, 2)


@given(st.integers(0, 2000), st.integers(1, 5))
def test_separable_by_construction_is_found_with_a_plane_that_splits(seed, n):
    rng = np.random.default_rng(seed)
    normal = rng.normal(size=n)
    points = rng.normal(size=(30, n)) * rng.uniform(0.01, 100, n)
    side = points @ normal
    side -= np.median(side) + 1e-3 * np.abs(side).max()
    if (side > 0).all() or (side < 0).all() or np.abs(side).min() < 1e-4 * np.abs(side).max():
        return
    found = linear_separability(points, side > 0)
    assert found.separable
    assert ((found.side(points) > 0) == (side > 0)).all()
    assert found.margin > 0


@given(st.integers(0, 2000))
def test_a_point_inside_the_other_class_is_not_separable(seed):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(12, 3))
    inner = rng.dirichlet(np.ones(12)) @ points
    assert not linear_separability(np.vstack([points, inner]), np.arange(13) == 12).separable


def test_pairs_of_classes():
    points = [[0.0, 0.0], [1.0, 0.0], [5.0, 5.0], [6.0, 5.0], [0.5, 0.0]]
    assert separable_pairs(points, ["a", "a", "b", "b", "c"]) == {
        ("a", "b"): True,
        ("a", "c"): False,
        ("b", "c"): True,
    }


def test_nearest_neighbour_regions_do_not_overlap_and_optimal_ones_do():
    problem = Problem([GaussianClass([0, 0]), GaussianClass([1.5, 0])])
    points, codes = problem.sample(120, 2)
    assert overlap(codes, nearest_neighbour(points, codes)(points)).share == 0
    optimal = overlap(codes, problem.decide(points))
    assert optimal.pairs == ((0, 1),)
    assert 0.1 < optimal.share < 0.4
    assert len(inseparable_points(points, codes)) == 0


def test_regions_are_a_picture_of_the_rule():
    problem = Problem([GaussianClass([0, 0]), GaussianClass([3, 0]), GaussianClass([0, 3])])
    points, codes = problem.sample(90, 4)
    labels = np.array(["x", "y", "z"])[codes]
    regions = decision_regions(lambda p: np.array(["x", "y", "z"])[problem.decide(p)], points, labels, resolution=60)
    assert regions.labels == ("x", "y", "z")
    assert regions.shares.sum() == pytest.approx(1)
    grid = np.array([[regions.horizontal[7], regions.vertical[51]]])
    assert regions.codes[51, 7] == problem.decide(grid)[0]
    assert regions.plot(title="three").get_title() == "three"


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: CanonicalClassifier([len]), r"`functions` must be at least two, got 1"),
        (lambda: CanonicalClassifier([len, len], labels=["a"]), r"`labels` must name each of the 2 functions, got 1"),
        (lambda: decision_regions(len, np.zeros((3, 3)), [0, 1, 0]), r"`points` must have two features"),
        (lambda: linear_separability([[0.0], [1.0], [2.0]], [0, 1, 2]), r"`labels` must name two classes, got 3"),
        (lambda: linear_separability(np.zeros((2, 2, 2)), [0, 1]), r"`points` must be a table"),
        (lambda: overlap([0, 1], [0]), r"`assigned` must have as many rows as `truth`"),
    ],
)
def test_bad_input_to_discriminants_is_one_sentence(call, match):
    with pytest.raises(StratError, match=match):
        call()

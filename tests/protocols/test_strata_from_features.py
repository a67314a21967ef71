"""Strata by clustering: Example 1.14's two data sets, and what becomes of small clusters."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering
from sklearn.metrics import adjusted_rand_score

from strat import Design
from strat.base.errors import StratError
from strat.datasets import gaussian_classes, strings
from strat.protocols import strata_from_features


def test_example_1_14_there_is_no_best_algorithm() -> None:
    clouds = gaussian_classes([50, 50], means=[[0, 0], [3, 3]], rng=1)
    lines = strings(200, rng=1)
    found = {
        (name, method): adjusted_rand_score(data.y, strata_from_features(data.X, k=2, method=method))
        for name, data in (("clouds", clouds), ("strings", lines))
        for method in ("kmeans", "single")
    }
    assert found["clouds", "kmeans"] > 0.85
    assert found["clouds", "single"] < 0.1  # an outlier becomes a cluster of its own
    assert found["strings", "single"] == 1
    assert found["strings", "kmeans"] < 0.1


def test_the_choice_of_a_distance_decides_which_rows_are_alike() -> None:
    """Long and short rows along two axes: the Euclidean distance parts by length, the cosine by direction."""
    rows = np.array([[1, 0.1], [9, 0.8], [0.1, 1], [0.9, 9.1], [1.1, 0], [0, 1.2]])
    by = lambda metric: strata_from_features(rows, k=2, method="single", metric=metric).tolist()  # noqa: E731
    assert by("cosine") == [0, 0, 1, 1, 0, 1]
    assert by("euclidean") != by("cosine")
    dot = lambda a, b: 1 - a @ b / np.sqrt((a @ a) * (b @ b))  # noqa: E731
    assert by(dot) == by("cosine")
    scattered = np.random.default_rng(0).normal(size=(40, 3))
    single = AgglomerativeClustering(3, linkage="single", metric="manhattan").fit_predict(scattered)
    ours = strata_from_features(scattered, k=3, method="single", metric="cityblock")
    assert adjusted_rand_score(single, ours) == 1


def test_order_of_rows_changes_no_strata_and_labels_follow_first_appearance() -> None:
    rng = np.random.default_rng(0)
    X = np.repeat([[0.0, 0.0], [5.0, 5.0], [9.0, 0.0]], 10, axis=0) + 0.1 * rng.standard_normal((30, 2))
    order = rng.permutation(30)
    for method in ("kmeans", "single"):
        a, b = strata_from_features(X, k=3, method=method), strata_from_features(X[order], k=3, method=method)
        assert a.tolist() == np.repeat([0, 1, 2], 10).tolist()
        assert adjusted_rand_score(a[order], b) == 1
        assert b[0] == 0


def test_small_clusters_join_the_nearest_so_that_a_design_can_be_made() -> None:
    X = np.array([0.0, 0.1, 0.2, 5.0, 5.1, 6.0, 30.0])
    alone = strata_from_features(X, k=3, method="single")
    assert np.bincount(alone).tolist() == [3, 3, 1]
    joined = strata_from_features(X, k=3, method="single", least=2)
    assert np.bincount(joined).tolist() == [3, 4]
    assert Design.stratified(strata=joined).n_strata == 2


def test_scaling_lets_every_feature_speak() -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([1000 * rng.standard_normal(40), np.repeat([0.0, 1.0], 20)])
    assert adjusted_rand_score(np.repeat([0, 1], 20), strata_from_features(X, k=2, scale=True, rng=1)) > 0.5
    assert adjusted_rand_score(np.repeat([0, 1], 20), strata_from_features(X, k=2, rng=1)) < 0.3


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: strata_from_features([[1.0], [1.0]], k=2),
            r"`k` must be at most the number of distinct rows \(1\), got 2",
        ),
        (
            lambda: strata_from_features([[0.0], [1.0]], k=2, method="single", metric="far"),
            "`metric` must be one of 'euclidean', 'cityblock'",
        ),
        (
            lambda: strata_from_features([[0.0], [1.0]], k=2, metric="cosine"),
            "`metric` must be 'euclidean' for `method` 'kmeans', got 'cosine'",
        ),
        (
            lambda: strata_from_features([[0.0], [1.0]], k=2, method="single", metric="cosine"),
            "`metric` must give each pair of rows a number, got 'cosine'",
        ),
        (
            lambda: strata_from_features([[1.0], [2.0]], k=1, method="ward"),
            "`method` must be one of 'kmeans', 'single'",
        ),
        (
            lambda: strata_from_features([[1.0], [2.0]], k=1, least=3),
            r"`least` must be at most the number of rows \(2\), got 3",
        ),
        (
            lambda: strata_from_features(np.arange(20_001.0), k=2, method="single"),
            "at most 20000 rows for single linkage",
        ),
    ],
)
def test_bad_input_is_one_sentence(call, message: str) -> None:
    with pytest.raises(StratError, match=message):
        call()

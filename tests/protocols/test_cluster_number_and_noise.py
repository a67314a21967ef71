"""The number of clusters, early stopping, uncertain labels and annotators, against known truths and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.ensemble import AdaBoostClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import calinski_harabasz_score, davies_bouldin_score, silhouette_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from strat import StratError, protocols
from strat.datasets import gaussian_classes

RNG = np.random.default_rng(0)


def three_groups():
    return gaussian_classes([30, 30, 30], means=[[0, 0], [7, 0], [0, 7]], rng=1)


def test_indices_are_those_of_scikit_learn():
    data = three_groups()
    result = protocols.cluster_number(data.X, most=3, references=3)
    codes = KMeans(3, n_init=10, random_state=0).fit_predict(data.X)
    assert result.silhouette[2] == pytest.approx(silhouette_score(data.X, codes))
    assert result.calinski_harabasz[2] == pytest.approx(calinski_harabasz_score(data.X, codes))
    assert result.davies_bouldin[2] == pytest.approx(davies_bouldin_score(data.X, codes))
    assert np.isnan([result.silhouette[0], result.stability[0]]).all()


@pytest.mark.parametrize("method", ["kmeans", "single"])
def test_three_groups_are_three_and_none_are_one(method):
    result = protocols.cluster_number(three_groups().X, most=5, references=5, method=method)
    assert result.by_silhouette == 3
    assert result.stability[2] == pytest.approx(1.0)
    if method == "kmeans":
        assert result.by_gap == 3
        nothing = protocols.cluster_number(RNG.uniform(size=(90, 2)), most=5, references=10)
        assert nothing.by_gap == 1


def test_cluster_number_has_a_table_and_a_picture():
    result = protocols.cluster_number(three_groups().X, most=4, references=2)
    assert result.to_frame("pandas").shape == (4, 7)
    assert "by the gap 3, by the silhouette 3" in str(result)
    assert len(result.plot().lines) >= 2


def test_cluster_number_scales_features():
    data = three_groups()
    stretched = data.X * np.array([1.0, 1e4])
    scaled = protocols.cluster_number(stretched, most=4, references=2, scale=True)
    assert scaled.silhouette == pytest.approx(
        protocols.cluster_number(data.X, most=4, references=2, scale=True).silhouette, nan_ok=True
    )


@pytest.mark.parametrize("model", [SGDClassifier(), AdaBoostClassifier(n_estimators=15)])
def test_stopping_at_the_least_test_error_is_optimistic(model):
    noise, labels = RNG.standard_normal((120, 10)), np.tile([0, 1], 60)
    result = protocols.early_stopping(model, noise, labels, steps=15, cv=4)
    assert (result.peeked <= result.honest).all()
    assert result.optimism > 0.03
    assert result.honest.mean() == pytest.approx(0.5, abs=0.12)
    assert all(1 <= step <= 15 for step in (*result.chosen_peeking, *result.chosen_honestly))


def test_early_stopping_keeps_units_apart():
    unit = np.repeat(np.arange(30), 4)
    noise = np.repeat(RNG.standard_normal((30, 20)), 4, axis=0)
    labels = np.repeat(np.tile([0, 1], 15), 4)
    result = protocols.early_stopping(SGDClassifier(), noise, labels, steps=5, cv=3, units=unit)
    assert result.honest.mean() > 0.25  # copies on both sides would be remembered
    assert not result.notes


def test_uncertain_labels_give_the_true_error_back():
    rows, classes, error, noise = 60_000, 4, 0.12, 0.2
    truth = RNG.integers(classes, size=rows)
    predicted = np.where(RNG.random(rows) < error, (truth + RNG.integers(1, classes, size=rows)) % classes, truth)
    labels = np.where(RNG.random(rows) < noise, (truth + RNG.integers(1, classes, size=rows)) % classes, truth)
    result = protocols.uncertain_labels(labels, predicted, noise=noise)
    assert float(result.observed.value) > 0.25
    assert float(result.corrected.value) == pytest.approx(error, abs=4 * float(result.corrected.se))
    assert result.lower < error < result.upper


def test_uncertain_labels_without_noise_change_nothing():
    truth, predicted = RNG.integers(2, size=50), RNG.integers(2, size=50)
    result = protocols.uncertain_labels(truth, predicted, noise=0.0)
    assert float(result.corrected.value) == float(result.observed.value) == result.lower == result.upper


def test_an_error_below_the_noise_is_remarked():
    truth = np.tile([0, 1], 20)
    assert "the observed error is below the noise" in str(protocols.uncertain_labels(truth, truth, noise=0.1))


def test_annotators_disagree_as_the_nearest_neighbour_errs():
    p = RNG.beta(0.7, 0.7, size=4000)
    votes = (RNG.random((4000, 3)) < p[:, None]).astype(int)
    bounds = protocols.annotator_error_bounds(votes)
    assert bounds.error == pytest.approx(float((2 * p * (1 - p)).mean()), abs=4 * bounds.se)
    assert bounds.lower < float(np.minimum(p, 1 - p).mean()) < bounds.upper
    assert "annotators' disagreement" in str(bounds)
    pairs = np.mean([votes[:, i] != votes[:, j] for i, j in ((0, 1), (0, 2), (1, 2))])
    assert bounds.error == pytest.approx(pairs)


def test_errors():
    X, y = RNG.normal(size=(20, 2)), np.tile([0, 1], 10)
    with pytest.raises(StratError, match="`estimator` must have `staged_predict` or `partial_fit`, got KNeighbors"):
        protocols.early_stopping(KNeighborsClassifier(), X, y)
    with pytest.raises(StratError, match="`validation` must"):
        protocols.early_stopping(SGDClassifier(), X, y, validation=1.0)
    with pytest.raises(StratError, match=r"`most` must be below the number of distinct rows \(20\), got 20"):
        protocols.cluster_number(X, most=20)
    for shape in ((20,), (20, 0)):
        with pytest.raises(StratError, match="`X` must be rows × features, got an array of shape"):
            protocols.cluster_number(np.zeros(shape))
    with pytest.raises(StratError, match="`method` must be one of"):
        protocols.cluster_number(X, method="ward")
    with pytest.raises(StratError, match=r"`noise` must be below 0\.5 with 2 classes"):
        protocols.uncertain_labels(y, y, noise=0.5)
    with pytest.raises(StratError, match="`votes` must be rows × annotators"):
        protocols.annotator_error_bounds([0, 1])
    with pytest.raises(StratError, match="`votes` must name at least two classes"):
        protocols.annotator_error_bounds([[0, 0], [0, 0]])
    with pytest.raises(StratError, match="`X` must be rows × features"):
        protocols.bayes_error_bounds(np.ones((20, 0)), y)
    with pytest.raises(StratError, match="must be able to learn from these rows"):
        protocols.cross_validation(GaussianNB(), [object()] * 20, y, cv=2)

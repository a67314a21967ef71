"""Intervals for cross-validation: pooled rows or units, and the nested interval of Bates, Hastie and Tibshirani."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier

from strat import Design, StratError, estimate, protocols
from strat.datasets import gaussian_classes
from strat.measures import mean

DATA = gaussian_classes(90, means=[[-0.5] * 4, [0.5] * 4], rng=5)
UNITS = np.arange(90) // 3
LDA = LinearDiscriminantAnalysis()


def test_pooled_is_the_estimate_of_all_rows_together():
    result = protocols.pooled_cross_validation(LDA, DATA.X, DATA.y, cv=6, units=UNITS)
    wrong = (result.predictions["truth"] != result.predictions["predicted"]).astype(float)
    whole = estimate(mean(wrong), on=Design.clustered(units=result.predictions["unit"]))
    assert (result.error, result.se) == pytest.approx((float(whole.value), float(whole.se)))
    assert result.df == 29


def test_nested_by_hand():
    """The definition, with every model trained anew, for one division into three folds."""
    result = protocols.nested_cross_validation(LDA, DATA.X, DATA.y, cv=3, repeats=1, rng=0)
    parts = [np.sort(result.predictions["row"][result.predictions["fold"] == k]) for k in range(3)]

    def loss(train, test):
        return (LDA.fit(DATA.X[train], DATA.y[train]).predict(DATA.X[test]) != DATA.y[test]).astype(float)

    a, b, inner, outer = [], [], [], []
    for k in range(3):
        i, j = (m for m in range(3) if m != k)
        within = np.concatenate([loss(parts[j], parts[i]), loss(parts[i], parts[j])])
        out = loss(np.concatenate([parts[i], parts[j]]), parts[k])
        inner.append(within.mean())
        outer.append(out.mean())
        a.append((within.mean() - out.mean()) ** 2)
        b.append(out.var(ddof=1) / len(out))
    error = np.mean(inner) - (1 + 1 / 3) * (np.mean(inner) - np.mean(outer))
    assert result.error == pytest.approx(error)
    naive = np.sqrt(np.mean(outer) * (1 - np.mean(outer)) / 89)
    expected = np.clip(np.sqrt(max(np.mean(a) - np.mean(b), 0) * 2 / 3), naive, np.sqrt(3) * naive)
    assert result.se == pytest.approx(expected)


def test_nested_is_never_shorter_than_pooled_nor_longer_than_the_root_of_the_folds():
    for seed in range(5):
        data = gaussian_classes(60, means=[[-0.4] * 6, [0.4] * 6], rng=seed)
        nested = protocols.nested_cross_validation(LDA, data.X, data.y, repeats=1, rng=seed)
        naive = np.sqrt(nested.details["cross-validation error"] * (1 - nested.details["cross-validation error"]) / 59)
        assert naive * (1 - 1e-9) <= nested.se <= naive * np.sqrt(5) * (1 + 1e-9)


def test_units_stay_together_and_count():
    result = protocols.nested_cross_validation(LDA, DATA.X, DATA.y, cv=3, repeats=1, groups=UNITS)
    for fold in range(3):
        own = result.predictions["unit"][result.predictions["fold"] == fold]
        others = result.predictions["unit"][result.predictions["fold"] != fold]
        assert not np.isin(own, others).any()
    assert result.trials == 30


def test_repeats_are_numbered():
    result = protocols.nested_cross_validation(DummyClassifier(), DATA.X, DATA.y, cv=3, repeats=2)
    assert np.bincount(result.predictions["repeat"]).tolist() == [90, 90]
    assert result.df == 89  # the rows less one, however often they are divided


@pytest.mark.slow
def test_coverage_of_the_nested_interval():
    inside = []
    far = gaussian_classes(8000, means=[[-0.35] * 8, [0.35] * 8], rng=10**6)
    for k in range(60):
        data = gaussian_classes(100, means=[[-0.35] * 8, [0.35] * 8], rng=k)
        truth = 1 - LinearDiscriminantAnalysis().fit(data.X, data.y).score(far.X, far.y)
        low, high = protocols.nested_cross_validation(LDA, data.X, data.y, repeats=3, rng=k).interval()
        inside.append(low <= truth <= high)
    assert 0.85 <= np.mean(inside) <= 1.0


def test_errors_say_what_is_wrong():
    with pytest.raises(StratError, match="`cv` must be three folds or more, got 2"):
        protocols.nested_cross_validation(LDA, DATA.X, DATA.y, cv=2)
    rows = np.arange(90)
    with pytest.raises(StratError, match="`cv` must test every row once"):
        protocols.pooled_cross_validation(LDA, DATA.X, DATA.y, cv=[(rows[:60], rows[60:])])

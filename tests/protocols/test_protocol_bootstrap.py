"""The bootstrap: the share 1/e, Efron's variants, and a standard error that is about right."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from strat.base.errors import StratError
from strat.datasets import gaussian_classes
from strat.protocols import bootstrap, resubstitution

MEANS = [[-1, 0], [1, 0]]


def test_out_of_bag_share_is_one_over_e() -> None:
    data = gaussian_classes(400, means=MEANS, rng=1)
    r = bootstrap(GaussianNB(), data.X, data.y, replicates=100)
    expected = (1 - 1 / 400) ** 400
    assert expected == pytest.approx(1 / np.e, abs=1e-3)
    assert r.details["out_of_bag_share"] == pytest.approx(expected, abs=0.006)
    assert len(r.predictions["row"]) == round(r.details["out_of_bag_share"] * 400 * 100)


def test_variants_by_hand() -> None:
    data = gaussian_classes(60, means=MEANS, rng=2)
    r = bootstrap(GaussianNB(), data.X, data.y, replicates=30)
    v, apparent = r.details["variants"], resubstitution(GaussianNB(), data.X, data.y).error
    p = r.predictions
    wrong = (p["truth"] != p["predicted"]).astype(float)
    each = np.bincount(p["row"], wrong) / np.bincount(p["row"])
    assert v["out-of-bag"] == pytest.approx(each.mean())
    assert v[".632"] == pytest.approx(0.368 * apparent + 0.632 * each.mean())
    gamma = r.details["no_information"]
    rate = (each.mean() - apparent) / (gamma - apparent)
    w = 0.632 / (1 - 0.368 * rate)
    assert v[".632+"] == pytest.approx((1 - w) * apparent + w * each.mean())
    assert r.error == v[".632+"]


def test_random_labels_show_why_the_plus_is_there() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((80, 2)), np.repeat([0, 1], 40)
    v = bootstrap(KNeighborsClassifier(1), X, y, replicates=60).details["variants"]
    assert v[".632"] < 0.4  # resubstitution of the nearest neighbour is 0
    assert v[".632+"] > 0.46


def test_out_of_bag_by_replica_is_the_book_s_mean_of_replicas() -> None:
    """Kuncheva 1.3.4 averages over replicas, Efron over rows; they differ, because replicas leave out unlike shares."""
    data = gaussian_classes(60, means=MEANS, rng=2)
    r = bootstrap(GaussianNB(), data.X, data.y, replicates=30, variant="out-of-bag by replica")
    p = r.predictions
    wrong = p["truth"] != p["predicted"]
    each = [np.mean(wrong[p["repeat"] == b]) for b in np.unique(p["repeat"])]
    assert r.error == pytest.approx(np.mean(each)) == pytest.approx(r.fold_errors.mean())
    assert r.error != r.details["variants"]["out-of-bag"]
    assert r.interval()[0] < r.error < r.interval()[1]


@pytest.mark.parametrize("variant", ["optimism", "out-of-bag", "out-of-bag by replica", ".632", ".632+"])
def test_all_variants_come_from_the_same_trainings(variant: str) -> None:
    data = gaussian_classes(60, means=MEANS, rng=2)
    r = bootstrap(GaussianNB(), data.X, data.y, replicates=20, variant=variant)
    assert r.error == r.details["variants"][variant]
    assert r.protocol == f"bootstrap ({variant})"
    assert len(r.times.fit) == 21


def test_a_class_that_replicas_keep_missing_is_named() -> None:
    X = np.arange(400.0)[:, None]
    y = np.zeros(400, int)
    y[0] = 1
    units = np.arange(400)
    r = bootstrap(KNeighborsClassifier(1), X, y, replicates=5)
    assert 0 not in r.predictions["row"]  # the only row of class 1 is in every replica
    many = np.arange(400)
    with pytest.raises(StratError, match="enough cases of every class for a bootstrap, got a class of 1"):
        bootstrap(KNeighborsClassifier(1), X, many, replicates=3, units=units)


@pytest.mark.slow
def test_standard_error_is_the_spread_over_data_sets() -> None:
    found = []
    for seed in range(80):
        data = gaussian_classes([30, 30], means=MEANS, rng=seed)
        r = bootstrap(GaussianNB(), data.X, data.y, replicates=60, variant="out-of-bag", rng=seed)
        found.append((r.error, r.se))
    errors, ses = np.array(found).T
    assert np.sqrt(np.mean(ses**2)) == pytest.approx(errors.std(ddof=1), rel=0.25)


def test_both_rules_of_the_632_plus():
    """Noise: out-of-bag above the no-information rate. (32) adds a capped correction to the uncapped .632."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(40, 3)), np.tile([0, 1], 20)
    above = 0
    for seed in range(6):
        details = bootstrap(KNeighborsClassifier(5), X, y, replicates=30, rng=seed).details
        v, r, gamma, overfit = (details[k] for k in ("variants", "resubstitution", "no_information", "overfitting"))
        out, capped = v["out-of-bag"], min(v["out-of-bag"], gamma)
        published = v[".632"] + (capped - r) * 0.368 * 0.632 * overfit / (1 - 0.368 * overfit)
        assert v[".632+ uncapped"] == pytest.approx(published)
        above += out > gamma
        assert (v[".632+ uncapped"] > v[".632+"] + 1e-9) == (out > gamma + 1e-9)
    assert above

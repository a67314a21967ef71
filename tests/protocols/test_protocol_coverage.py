"""Over many data sets: which way each protocol leans, and how often its 95 % interval holds the true error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold
from sklearn.naive_bayes import GaussianNB

import strat
from strat import protocols
from strat.datasets import gaussian_classes

MEANS = [[-1, 0, 0, 0], [1, 0, 0, 0]]
RUNS = {
    "resubstitution": protocols.resubstitution,
    "hold-out": protocols.holdout,
    "repeated hold-out": protocols.repeated_holdout,
    "10-fold": protocols.cross_validation,
    "leave-one-out": protocols.leave_one_out,
    "out-of-bag": lambda *a, **k: protocols.bootstrap(*a, replicates=50, variant="out-of-bag", **k),
    ".632+": lambda *a, **k: protocols.bootstrap(*a, replicates=50, **k),
}


def true_error(model: LinearDiscriminantAnalysis) -> float:
    """The error of a trained line on two normal classes with the means above and unit covariance."""
    w, b = model.coef_[0], model.intercept_[0]
    length = np.linalg.norm(w)
    return float(0.5 * (norm.cdf((b - w[0]) / length) + norm.cdf(-(b + w[0]) / length)))


@pytest.fixture(scope="module")
def found() -> dict[str, np.ndarray]:
    """For each protocol, runs × (estimate less true error, se, covered)."""
    lines: dict[str, list[tuple[float, float, bool]]] = {name: [] for name in RUNS}
    for seed in range(200):
        data = gaussian_classes([30, 30], means=MEANS, rng=seed)
        truth = true_error(LinearDiscriminantAnalysis().fit(data.X, data.y))
        for name, protocol in RUNS.items():
            seeded = {} if name in ("resubstitution", "leave-one-out") else {"rng": seed}
            r = protocol(LinearDiscriminantAnalysis(), data.X, data.y, **seeded)
            low, high = r.interval()
            lines[name].append((r.error - truth, r.se, low <= truth <= high))
    table = {name: np.array(values, float) for name, values in lines.items()}
    for name, t in table.items():
        print(
            f"{name:20} bias {t[:, 0].mean():+.4f} sd {t[:, 0].std():.4f} se {t[:, 1].mean():.4f} {t[:, 2].mean():.3f}"
        )
    return table


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in RUNS if n != "resubstitution"])
def test_intervals_cover(found: dict[str, np.ndarray], name: str) -> None:
    assert found[name][:, 2].mean() > 0.91


@pytest.mark.slow
def test_protocols_lean_as_they_say(found: dict[str, np.ndarray]) -> None:
    bias = {name: t[:, 0].mean() for name, t in found.items()}
    noise = {name: 2 * t[:, 0].std() / np.sqrt(len(t)) for name, t in found.items()}
    assert bias["resubstitution"] < -noise["resubstitution"]
    assert bias["hold-out"] > noise["hold-out"]
    assert bias["out-of-bag"] > noise["out-of-bag"]
    assert abs(bias["leave-one-out"]) < 1.5 * noise["leave-one-out"]
    assert abs(bias[".632+"]) < 1.5 * noise[".632+"]
    assert bias["10-fold"] > -noise["10-fold"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hold-out", "repeated hold-out", "leave-one-out", "out-of-bag"])
def test_standard_errors_are_about_the_spread(found: dict[str, np.ndarray], name: str) -> None:
    spread, se = found[name][:, 0].std(), found[name][:, 1].mean()
    assert 0.75 < se / spread < 1.35


@pytest.mark.slow
def test_cross_validated_accuracy_of_units_is_covered() -> None:
    """The interval holds the accuracy of its own models on the population, for which it is a little wide."""
    rng = np.random.default_rng(0)

    def draw(units: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        unit = np.repeat(np.arange(units), 4)
        y = (rng.random(units) < 0.5)[unit].astype(int)
        X = rng.normal(size=(units, 3))[unit] + rng.normal(size=(4 * units, 3))
        X[:, 0] += 1.5 * (2 * y - 1)
        return X, y, unit

    everybody, labels, _ = draw(20_000)
    held = []
    for _ in range(300):
        X, y, unit = draw(60)
        splits = list(GroupKFold(5).split(X, y, unit))
        result = strat.cross_validate(LogisticRegression(), X, y, cv=splits, groups=unit, scoring="accuracy")
        each = [LogisticRegression().fit(X[a], y[a]).score(everybody, labels) for a, _ in splits]
        true = np.average(each, weights=[len(b) for _, b in splits])
        limits = result.interval("accuracy"), result.evaluation.naive("accuracy")
        held.append([low <= true <= high for low, high in limits])
    by_units, by_rows = np.mean(held, axis=0)
    print(f"cross_validate: by units {by_units:.3f}, rows as independent {by_rows:.3f}")
    assert by_units >= 0.92
    assert by_rows < by_units - 0.04


def two_classes(number: int, share: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two normal classes in the plane, so close that a classifier finds few of the rare one."""
    y = (rng.random(number) < share).astype(int)
    return rng.normal(size=(number, 2)) + 0.6 * y[:, None], y


STRATIFIED: dict[str, Callable[..., Any]] = {
    "10-fold": protocols.cross_validation,
    "30 shuffles": protocols.repeated_holdout,
}


@pytest.mark.slow  # a thousand trainings
@pytest.mark.parametrize("protocol", STRATIFIED)
def test_intervals_cover_with_unbalanced_classes(protocol: str) -> None:
    how = {"repeats": 30} if protocol == "30 shuffles" else {}
    rng, held = np.random.default_rng(1), []
    for _ in range(60):
        X, y = two_classes(200, 0.1, rng)
        if np.bincount(y, minlength=2).min() < 10:
            continue
        low, high = STRATIFIED[protocol](GaussianNB(), X, y, **how).interval()
        others, labels = two_classes(20_000, 0.1, rng)
        held.append(low <= np.mean(GaussianNB().fit(X, y).predict(others) != labels) <= high)
    assert np.mean(held) > 0.91

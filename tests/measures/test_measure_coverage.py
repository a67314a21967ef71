"""Nominal 95 % intervals of every measure cover 93-97 % under the clustered design: 100 groups of 20 rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import multivariate_normal, norm

import strat
from strat import measures as c
from strat.base.errors import StratWarning
from strat.measures import accuracy, error_rate, risk_curves
from strat.measures import loss as lo
from strat.measures import probabilities as p
from strat.measures import score_rates as rates
from strat.measures import scores as s
from strat.measures.base import Statistic

GROUPS, SIZE = 100, 20
LOSS = lo.LossMatrix([[0, 4], [1, 0]], [0, 1])


@dataclass(frozen=True)
class Rows:
    truth: np.ndarray
    score: np.ndarray
    third: np.ndarray
    guess: np.ndarray

    @property
    def predicted(self) -> np.ndarray:
        return (self.score > 0).astype(int)

    @property
    def probability(self) -> np.ndarray:
        return 1 / (1 + np.exp(-3 * self.score))


MEASURES: dict[str, Callable[[Rows], Statistic]] = {
    "accuracy": lambda d: accuracy(d.truth, d.predicted),
    "error": lambda d: error_rate(d.truth, d.predicted),
    "precision": lambda d: c.precision(d.truth, d.predicted),
    "recall": lambda d: c.recall(d.truth, d.predicted),
    "specificity": lambda d: c.specificity(d.truth, d.predicted),
    "f1": lambda d: c.f1(d.truth, d.predicted),
    "f2": lambda d: c.fbeta(d.truth, d.predicted, beta=2.0),
    "jaccard": lambda d: c.jaccard(d.truth, d.predicted),
    "macro f1": lambda d: c.f1(d.third, d.guess, average="macro"),
    "micro f1": lambda d: c.f1(d.third, d.guess, average="micro"),
    "weighted f1": lambda d: c.f1(d.third, d.guess, average="weighted"),
    "balanced accuracy": lambda d: c.balanced_accuracy(d.third, d.guess),
    "kappa": lambda d: c.kappa(d.third, d.guess),
    "quadratic kappa": lambda d: c.kappa(d.third, d.guess, weights="quadratic"),
    "mcc": lambda d: c.mcc(d.third, d.guess),
    "log loss": lambda d: p.log_loss(d.truth, d.probability),
    "brier": lambda d: p.brier(d.truth, d.probability),
    "calibration error": lambda d: p.calibration_error(d.truth, d.probability, bins=5),
    "auc": lambda d: s.auc(d.truth, d.score),
    "average precision": lambda d: s.average_precision(d.truth, d.score),
    "tpr at fpr 0.1": lambda d: rates.rate_at(d.truth, d.score, fpr=0.1),
    "tpr within fpr 0.1": lambda d: rates.rate_within(d.truth, d.score, fpr=0.1),
    "threshold at fpr 0.1": lambda d: rates.threshold_at(d.truth, d.score, at=0.1),
    "equal error rate": lambda d: rates.equal_error_rate(d.truth, d.score),
    "expected loss": lambda d: lo.expected_loss(d.truth, d.predicted, LOSS),
    "risk at coverage 0.7": lambda d: risk_curves.risk_coverage(d.truth, d.predicted, np.abs(d.score), at=0.7),
    "area under risk-coverage": lambda d: risk_curves.area_under_risk_coverage(d.truth, d.predicted, np.abs(d.score)),
}


def spread_of(icc: float, right: float = 0.8) -> float:
    """The standard deviation of group effects that gives correctness this intraclass correlation."""
    if icc == 0:
        return 0.0
    z = norm.ppf(right)

    def off(rho: float) -> float:
        both = multivariate_normal([0, 0], [[1, rho], [rho, 1]]).cdf([z, z])
        return float((both - right**2) / (right * (1 - right)) - icc)

    rho = brentq(off, 1e-6, 0.99)
    return float(np.sqrt(rho / (1 - rho)))


def draw(rng: np.random.Generator, icc: float, groups: int = GROUPS) -> Rows:
    """Rows of `groups` groups, 80 % right, with the group's ease shared by its rows."""
    sigma = spread_of(icc)
    ease = norm.ppf(0.8) * np.sqrt(1 + sigma**2) + sigma * rng.normal(size=(groups, 1))
    signal = (ease + rng.normal(size=(groups, SIZE))).ravel()
    truth = np.tile(np.arange(SIZE) % 2, groups)
    third = rng.integers(0, 3, groups * SIZE)
    wrong = (third + 1 + (rng.random(groups * SIZE) < 0.3)) % 3
    return Rows(truth, (2 * truth - 1) * signal, third, np.where(signal > 0, third, wrong))


def coverage(
    icc: float, simulations: int, names: list[str] | None = None, seed: int = 1
) -> dict[str, tuple[float, float]]:
    """How often each interval held the truth: by the clustered design, and as if rows were independent."""
    rng = np.random.default_rng(seed)
    chosen = {name: MEASURES[name] for name in names or MEASURES}
    population = draw(rng, icc, groups=150_000)
    true = {name: float(np.ravel(make(population).value())[0]) for name, make in chosen.items()}
    clustered = strat.Design.clustered(units=np.repeat(np.arange(GROUPS), SIZE))
    independent = strat.Design.simple_random(n=GROUPS * SIZE)
    held = {name: np.zeros(2) for name in chosen}
    for _ in range(simulations):
        data = draw(rng, icc)
        for name, make in chosen.items():
            statistic = make(data)
            for i, design in enumerate((clustered, independent)):
                low, high = strat.estimate(statistic, on=design).interval()
                held[name][i] += np.ravel(low)[0] <= true[name] <= np.ravel(high)[0]
    return {name: (both[0] / simulations, both[1] / simulations) for name, both in held.items()}


@pytest.mark.slow
@pytest.mark.parametrize("icc", [0.0, 0.05, 0.3])
def test_every_measure_covers_under_the_clustered_design(icc: float) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", StratWarning)
        found = coverage(icc, 1000)
    clustered = {name: both[0] for name, both in found.items()}
    outside = {name: share for name, share in clustered.items() if not 0.93 <= share <= 0.97}
    assert not outside, f"at intraclass correlation {icc}: {outside}"
    if icc == 0.3:
        naive = {name: both[1] for name, both in found.items() if name not in ("threshold at fpr 0.1",)}
        assert max(naive.values()) < 0.9

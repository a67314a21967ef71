"""Measures under designs: every variance method agrees, nothing collapses at the ends, curves have bands."""

from __future__ import annotations

import numpy as np
import pytest

import strat
import strat.measures as m
from strat import measures as c
from strat.estimation import proportions
from strat.measures import loss as lo
from strat.measures import multilabel as ml
from strat.measures import probabilities as p
from strat.measures import risk_curves
from strat.measures import score_rates as rates
from strat.measures import scores as s
from strat.measures.base import Statistic

N = 1200
RNG = np.random.default_rng(12)
UNITS = np.repeat(np.arange(120), 10)
EASE = np.repeat(RNG.normal(size=120), 10) * 0.5
T = RNG.integers(0, 3, N)
SIGNAL = RNG.normal(size=N) + EASE + 0.8
Q = np.where(SIGNAL > 0, T, (T + RNG.integers(1, 3, N)) % 3)
B = (T > 0).astype(int)
SCORE = (2 * B - 1) * (SIGNAL + 0.3)
PROBABILITY = 1 / (1 + np.exp(-2 * SCORE))
MATRIX = np.full((N, 3), 0.2)
MATRIX[np.arange(N), Q] = 0.6
CLUSTERED = strat.Design.clustered(units=UNITS)
PAIRED = strat.Design.clustered(units=UNITS, strata=UNITS // 2)

SMOOTH: dict[str, Statistic] = {
    "precision": c.precision(B, (SCORE > 0).astype(int)),
    "macro f1": c.f1(T, Q, average="macro"),
    "weighted jaccard": c.jaccard(T, Q, average="weighted"),
    "balanced accuracy": c.balanced_accuracy(T, Q),
    "kappa": c.kappa(T, Q, weights="linear"),
    "mcc": c.mcc(T, Q),
    "confusion": m.confusion(T, Q, normalize="true"),
    "auc": s.auc(B, SCORE),
    "ovr": s.auc(T, MATRIX),
    "partial auc": s.partial_auc(B, SCORE, specificity=0.8),
    "partial auc of sensitivities": s.partial_auc(B, SCORE, sensitivity=(0.7, 0.95), standardized=True),
    "selection rate": c.selection_rate(B),
    "win rate": m.win_rate(T, (T + 1 + B) % 3, np.array(["left", "tie", "right"])[Q]),
    "decision curve": m.decision_curve(B, PROBABILITY, thresholds=[0.2, 0.5]),
    "average precision": s.average_precision(B, SCORE),
    "roc": s.roc(B, SCORE, thresholds=[1.0, 0.0, -1.0]),
    "log loss": p.log_loss(B, PROBABILITY),
    "brier": p.brier(T, MATRIX),
    "hamming": ml.hamming_loss(np.eye(3)[T], np.eye(3)[Q]),
    "loss": lo.expected_loss(T, Q, lo.zero_one_loss([0, 1, 2])),
    "area of risk": risk_curves.area_under_risk_coverage(T, Q, np.abs(SIGNAL)),
}
ROUGH: dict[str, Statistic] = {
    "rate at": rates.rate_at(B, SCORE, fpr=0.2),
    "rate within": rates.rate_within(B, SCORE, fpr=0.2),
    "threshold at": rates.threshold_at(B, SCORE, at=0.2),
    "equal error": rates.equal_error_rate(B, SCORE),
    "risk": risk_curves.risk_coverage(T, Q, np.abs(SIGNAL), at=[0.5, 0.8]),
}


@pytest.mark.parametrize("statistic", SMOOTH.values(), ids=list(SMOOTH))
def test_the_closed_form_and_replicates_agree(statistic: Statistic) -> None:
    closed = np.asarray(strat.estimate(statistic, on=CLUSTERED).se)
    np.testing.assert_allclose(strat.estimate(statistic, on=strat.jackknife(CLUSTERED)).se, closed, rtol=0.03)
    boot = strat.estimate(statistic, on=strat.bootstrap(CLUSTERED, replicates=600, rng=1)).se
    np.testing.assert_allclose(boot, closed, rtol=0.17)
    paired = np.asarray(strat.estimate(statistic, on=PAIRED).se)
    np.testing.assert_allclose(strat.estimate(statistic, on=strat.brr(PAIRED)).se, paired, rtol=0.12)


@pytest.mark.parametrize("statistic", ROUGH.values(), ids=list(ROUGH))
def test_smoothed_closed_forms_are_near_the_bootstrap(statistic: Statistic) -> None:
    closed = np.asarray(strat.estimate(statistic, on=CLUSTERED).se)
    boot = strat.estimate(statistic, on=strat.bootstrap(CLUSTERED, replicates=600, rng=1)).se
    np.testing.assert_allclose(boot, closed, rtol=0.17)


def test_ties_of_a_coarse_score_are_right_under_clusters() -> None:
    """Rounding the scores keeps the area's standard error near that of the exact ones."""
    coarse = strat.estimate(s.auc(B, np.round(SCORE)), on=CLUSTERED)
    fine = strat.estimate(s.auc(B, SCORE), on=CLUSTERED)
    assert coarse.se == pytest.approx(fine.se, rel=0.15)
    naive = strat.estimate(s.auc(B, SCORE), on=strat.Design.simple_random(n=N))
    assert fine.se > 1.15 * naive.se


def test_the_area_without_design_is_delongs() -> None:
    """DeLong's variance of the area: v10/m + v01/n with the placements' sample variances."""
    positive, negative = SCORE[B == 1], SCORE[B == 0]
    wins = (positive[:, None] > negative).astype(float) + 0.5 * (positive[:, None] == negative)
    delong = wins.mean(axis=1).var(ddof=1) / len(positive) + wins.mean(axis=0).var(ddof=1) / len(negative)
    estimate = strat.estimate(s.auc(B, SCORE), on=strat.Design.stratified(strata=B))
    assert estimate.se == pytest.approx(np.sqrt(delong), rel=1e-9)


@pytest.mark.parametrize(
    "statistic",
    [
        c.recall([0, 1, 1, 1, 0, 1], [0, 1, 1, 1, 0, 1]),
        c.f1([0, 1, 1, 1, 0, 1], [0, 1, 1, 1, 0, 1]),
        c.mcc([0, 1, 1, 1, 0, 1], [0, 1, 1, 1, 0, 1]),
        s.auc([0, 1, 1, 1, 0, 1], [0.1, 0.9, 0.8, 0.7, 0.2, 0.6]),
        s.average_precision([0, 1, 1, 1, 0, 1], [0.1, 0.9, 0.8, 0.7, 0.2, 0.6]),
        rates.rate_at([0, 1, 1, 1, 0, 1], [0.1, 0.9, 0.8, 0.7, 0.2, 0.6], fpr=0.0),
    ],
)
def test_a_perfect_score_is_not_certain(statistic: Statistic) -> None:
    estimate = strat.estimate(statistic, on=strat.Design.simple_random(n=6))
    low, high = estimate.interval()
    assert estimate.value == high == 1
    assert low < 0.8


def test_a_perfect_recall_counts_on_its_class_only() -> None:
    truth = np.repeat([0, 1], [80, 20])
    estimate = strat.estimate(c.recall(truth, truth), on=strat.Design.simple_random(n=100))
    assert estimate.interval()[0] == pytest.approx(proportions.clopper_pearson(20, 20)[0], abs=0.01)
    each = strat.estimate(c.recall(truth, truth, average=None), on=strat.Design.simple_random(n=100))
    low, _ = each.interval()
    assert low[1] == pytest.approx(proportions.clopper_pearson(20, 20)[0], abs=0.01)
    assert low[0] > low[1]


def test_no_risk_is_not_certain_either() -> None:
    statistic = risk_curves.risk_coverage(np.ones(40, int), np.ones(40, int), np.arange(40), at=[0.5, 1.0])
    low, high = strat.estimate(statistic, on=strat.Design.simple_random(n=40)).interval()
    assert low.tolist() == [0, 0]
    assert high[0] > high[1] > 0.05


def test_a_users_metric_has_an_interval() -> None:
    from sklearn.metrics import f1_score

    design = strat.Design.clustered(units=UNITS[:200])
    truth, predicted = T[:200], Q[:200]
    theirs = c.metric(f1_score, truth, predicted, average="macro", link="logit", bounds=(0.0, 1.0))
    ours = strat.estimate(c.f1(truth, predicted, average="macro"), on=design)
    assert strat.estimate(theirs, on=design).interval() == pytest.approx(ours.interval(), rel=1e-4)
    jackknife = strat.estimate(theirs, on=strat.jackknife(design))
    assert jackknife.se == pytest.approx(ours.se, rel=0.15)


def test_two_systems_keep_their_covariance() -> None:
    other = np.where(RNG.random(N) < 0.1, T, Q)
    both = strat.stack("system", A=c.f1(T, Q, average="macro"), B=c.f1(T, other, average="macro"))
    gap = strat.estimate(both, on=CLUSTERED).map(lambda v: v[..., 1] - v[..., 0])
    apart = np.hypot(*np.asarray(strat.estimate(both, on=CLUSTERED).se))
    assert gap.value > 0
    assert gap.se < 0.7 * apart

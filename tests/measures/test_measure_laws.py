"""Laws that hold for every measure: row order, weights, scaling, names of labels; gradients are derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import trapezoid

import strat.measures as m
from strat import measures as c
from strat.base.errors import StratError
from strat.measures import loss as lo
from strat.measures import multilabel as ml
from strat.measures import probabilities as p
from strat.measures import risk_curves
from strat.measures import score_rates as rates
from strat.measures import scores as s
from strat.measures.base import Statistic, block_totals

LABELS = [0, 1, 2]
LOSS = lo.LossMatrix([[0, 1, 4], [2, 0, 1], [3, 1, 0], [0.5, 0.5, 0.5]], LABELS, refuse=9)
CUTS = [np.inf, 0.9, 0.6, 0.3, 0.0]


class Data:
    """Rows with two and three classes in which every class occurs and is predicted."""

    def __init__(self, seed: int, n: int = 60) -> None:
        rng = np.random.default_rng(seed)
        self.t = np.concatenate([np.arange(3), np.arange(3), rng.integers(0, 3, n - 6)])
        self.q = np.concatenate(
            [np.arange(3), [1, 2, 0], np.where(rng.random(n - 6) < 0.6, self.t[6:], rng.integers(0, 3, n - 6))]
        )
        self.b, self.bq = (self.t > 0).astype(int), (self.q > 0).astype(int)
        self.score = np.round(np.clip(rng.normal(0.35 + 0.3 * self.b, 0.2), 0, 1), 2)
        matrix = np.exp(rng.normal(np.eye(3)[self.t], 1.0).round(1))
        self.matrix = matrix / matrix.sum(axis=1, keepdims=True)
        self.indicator = rng.integers(0, 2, (n, 4))
        self.guess = np.where(rng.random((n, 4)) < 0.7, self.indicator, 1 - self.indicator)
        self.indicator_score = rng.random((n, 4)).round(1)
        self.w = rng.gamma(2.0, size=n)

    def rows(self, index: Any) -> Data:
        made = object.__new__(Data)
        made.__dict__ = {name: value[index] for name, value in self.__dict__.items()}
        return made


MEASURES: dict[str, Callable[[Data], Statistic]] = {
    "precision": lambda d: c.precision(d.b, d.bq),
    "recall": lambda d: c.recall(d.b, d.bq),
    "specificity": lambda d: c.specificity(d.b, d.bq),
    "f1": lambda d: c.f1(d.b, d.bq),
    "macro f1": lambda d: c.f1(d.t, d.q, average="macro", labels=LABELS, zero_division=0),
    "micro fbeta": lambda d: c.fbeta(d.t, d.q, beta=0.5, average="micro", labels=[0, 2], zero_division=0),
    "weighted precision": lambda d: c.precision(d.t, d.q, average="weighted", labels=LABELS, zero_division=0),
    "each jaccard": lambda d: c.jaccard(d.t, d.q, average=None, labels=LABELS, zero_division=0),
    "labels f1": lambda d: c.f1(d.indicator, d.guess, average="macro", zero_division=0),
    "samples recall": lambda d: c.recall(d.indicator, d.guess, average="samples", zero_division=0),
    "balanced accuracy": lambda d: c.balanced_accuracy(d.t, d.q),
    "adjusted": lambda d: c.balanced_accuracy(d.t, d.q, adjusted=True),
    "kappa": lambda d: c.kappa(d.t, d.q),
    "linear kappa": lambda d: c.kappa(d.t, d.q, labels=LABELS, weights="linear"),
    "quadratic kappa": lambda d: c.kappa(d.t, d.q, labels=LABELS, weights="quadratic"),
    "mcc": lambda d: c.mcc(d.t, d.q),
    "confusion shares": lambda d: m.confusion(d.t, d.q, labels=LABELS, normalize="true"),
    "confusion columns": lambda d: m.confusion(d.t, d.q, labels=[2, 0], normalize="pred"),
    "confusion all": lambda d: m.confusion(d.t, d.q, labels=LABELS, normalize="all"),
    "hamming": lambda d: ml.hamming_loss(d.indicator, d.guess),
    "subset": lambda d: ml.subset_accuracy(d.indicator, d.guess),
    "ranking precision": lambda d: ml.label_ranking_average_precision(d.indicator, d.indicator_score),
    "ranking loss": lambda d: ml.label_ranking_loss(d.indicator, d.indicator_score),
    "coverage error": lambda d: ml.coverage_error(d.indicator, d.indicator_score),
    "log loss": lambda d: p.log_loss(d.t, d.matrix, labels=LABELS),
    "brier": lambda d: p.brier(d.b, d.score),
    "top 2": lambda d: p.top_k_accuracy(d.t, d.matrix, labels=LABELS),
    "calibration error": lambda d: p.calibration_error(d.b, d.score),
    "l2 calibration error": lambda d: p.calibration_error(d.b, d.score, norm="l2"),
    "auc": lambda d: s.auc(d.b, d.score),
    "ovr auc": lambda d: s.auc(d.t, d.matrix, labels=LABELS),
    "weighted ovr auc": lambda d: s.auc(d.t, d.matrix, average="weighted", labels=LABELS),
    "each auc": lambda d: s.auc(d.t, d.matrix, average=None, labels=LABELS),
    "ovo auc": lambda d: s.auc(d.t, d.matrix, multi_class="ovo", labels=LABELS),
    "weighted ovo auc": lambda d: s.auc(d.t, d.matrix, multi_class="ovo", average="weighted", labels=LABELS),
    "micro auc": lambda d: s.auc(d.t, d.matrix, average="micro", labels=LABELS),
    "labels auc": lambda d: s.auc(d.indicator, d.indicator_score, average="weighted"),
    "partial auc": lambda d: s.partial_auc(d.b, d.score, specificity=(0.55, 0.93)),
    "partial auc of sensitivities": lambda d: s.partial_auc(d.b, d.score, sensitivity=0.81, standardized=True),
    "average precision": lambda d: s.average_precision(d.b, d.score),
    "weighted average precision": lambda d: s.average_precision(d.t, d.matrix, average="weighted", labels=LABELS),
    "selection rate": lambda d: c.selection_rate(d.q, positive=1),
    "win rate": lambda d: m.win_rate(d.t, (d.t + 1 + d.bq) % 3, np.array(["left", "tie", "right"])[d.q]),
    "decision curve": lambda d: m.decision_curve(d.b, d.score, thresholds=[0.1, 0.4, 0.7]),
    "roc": lambda d: s.roc(d.b, d.score, thresholds=CUTS),
    "det": lambda d: s.det(d.b, d.score, thresholds=CUTS),
    "precision recall": lambda d: s.precision_recall(d.b, d.score, thresholds=CUTS),
    "rate at": lambda d: rates.rate_at(d.b, d.score, fpr=[0.1, 0.33]),
    "rate within": lambda d: rates.rate_within(d.b, d.score, fpr=[0.1, 0.33]),
    "threshold at": lambda d: rates.threshold_at(d.b, d.score, at=[0.1, 0.33]),
    "threshold at fnr": lambda d: rates.threshold_at(d.b, d.score, at=0.21, rate="fnr"),
    "equal error": lambda d: rates.equal_error_rate(d.b, d.score),
    "expected loss": lambda d: lo.expected_loss(d.t, d.q, LOSS),
    "risk coverage": lambda d: risk_curves.risk_coverage(d.t, d.q, d.score, at=[0.2, 0.57, 1.0]),
    "risk of losses": lambda d: risk_curves.risk_coverage(d.t, d.q, d.score, at=[0.2, 0.57, 1.0], loss=LOSS),
    "area of risk": lambda d: risk_curves.area_under_risk_coverage(d.t, d.q, d.score),
    "expected cost": lambda d: lo.expected_cost(d.b, d.score, false_negative=3, thresholds=CUTS),
    "coverage": lambda d: lo.coverage(d.q, refuse=2),
    "selective risk": lambda d: lo.selective_risk(d.t, d.q, refuse=2),
}
SMOOTHED = {
    "rate at",
    "rate within",
    "threshold at",
    "threshold at fnr",
    "equal error",
    "risk coverage",
    "risk of losses",
}
each_measure = pytest.mark.parametrize("make", MEASURES.values(), ids=list(MEASURES))
seeds = st.integers(0, 10_000)


@each_measure
def test_rows_and_weights(make: Callable[[Data], Statistic]) -> None:
    for seed in range(5):
        data = Data(seed)
        n = len(data.t)
        order = np.random.default_rng(seed).permutation(n)
        statistic = make(data)
        value = statistic.value(data.w)
        assert statistic.value(np.ones(n)).shape == statistic.shape
        # the order of rows, and the scale of weights
        np.testing.assert_allclose(make(data.rows(order)).value(data.w[order]), value, atol=1e-11)
        np.testing.assert_allclose(statistic.value(7.3 * data.w), value, atol=1e-11)
        # weight 2 is the row twice; weight 0 is the row absent
        times = 1 + np.arange(n) % 3
        np.testing.assert_allclose(
            make(data.rows(np.repeat(np.arange(n), times))).value(), statistic.value(times), atol=1e-11
        )
        kept = np.arange(n) % 5 != 4
        kept[:6] = True
        np.testing.assert_allclose(make(data.rows(kept)).value(), statistic.value(kept.astype(float)), atol=1e-11)
        # the bounds hold, and leading axes are replicates
        assert np.all((value >= statistic.bounds[0] - 1e-12) & (value <= statistic.bounds[1] + 1e-12))
        totals = np.concatenate([block_totals(block, data.w) for block in statistic.rows])
        many = statistic.function(np.stack([totals, 2 * totals]).reshape(1, 2, -1))
        assert many.shape == (1, 2, *statistic.shape)
        np.testing.assert_allclose(many[0, 1], value, atol=1e-11)


@each_measure
def test_the_gradient_is_the_derivative(make: Callable[[Data], Statistic], request: pytest.FixtureRequest) -> None:
    name = request.node.callspec.id
    statistic = make(Data(3))
    if statistic.gradient is None or name in SMOOTHED:
        return
    totals = np.concatenate([block_totals(block, Data(3).w) for block in statistic.rows])
    gradient = statistic.gradient(totals)
    assert gradient.shape == (statistic.components, *statistic.shape)
    live = np.flatnonzero(totals > 0)
    step = 1e-5
    up, down = (np.repeat(totals[None], len(live), axis=0) for _ in range(2))
    up[np.arange(len(live)), live] += step
    down[np.arange(len(live)), live] -= step
    numeric = (statistic.function(up) - statistic.function(down)) / (2 * step)
    np.testing.assert_allclose(gradient[live], numeric, atol=2e-7)


@each_measure
def test_scaling_all_weights_has_no_slope(make: Callable[[Data], Statistic]) -> None:
    """Euler: these are functions of degree 0, smoothed or not, so the gradient stands square on the totals."""
    data = Data(11)
    statistic = make(data)
    if statistic.gradient is None:
        return
    totals = np.concatenate([block_totals(block, data.w) for block in statistic.rows])
    slope = np.tensordot(totals, statistic.gradient(totals), 1)
    np.testing.assert_allclose(slope, 0.0, atol=1e-9)


@given(seeds)
def test_names_of_labels_do_not_matter(seed: int) -> None:
    data = Data(seed)
    names = np.array(["zebra", "ape", "mole"])
    t, q = names[data.t], names[data.q]
    for ours in (c.balanced_accuracy, c.mcc, c.kappa):
        assert ours(t, q).value(data.w) == pytest.approx(float(ours(data.t, data.q).value(data.w)), abs=1e-12)
    for average in ("macro", "micro", "weighted"):
        assert c.f1(t, q, average=average).value(data.w) == pytest.approx(
            float(c.f1(data.t, data.q, average=average).value(data.w)), abs=1e-12
        )
    renamed = m.confusion(t, q, labels=names).value(data.w)
    np.testing.assert_allclose(renamed, m.confusion(data.t, data.q, labels=LABELS).value(data.w))


@given(seeds)
def test_areas_know_only_the_order_of_scores(seed: int) -> None:
    data = Data(seed)
    area = float(s.auc(data.b, data.score).value(data.w))
    assert s.auc(data.b, np.exp(3 * data.score)).value(data.w) == pytest.approx(area, abs=1e-12)
    assert s.auc(data.b, -data.score).value(data.w) == pytest.approx(1 - area, abs=1e-12)
    assert s.auc(1 - data.b, data.score).value(data.w) == pytest.approx(1 - area, abs=1e-12)
    fpr, tpr = s.roc(data.b, data.score).value(data.w)
    assert trapezoid(tpr, fpr) == pytest.approx(area, abs=1e-12)
    assert (np.diff(fpr) >= 0).all()
    assert (np.diff(tpr) >= 0).all()
    assert (fpr[-1], tpr[-1]) == pytest.approx((1, 1))


@given(seeds)
def test_a_point_of_the_curve_is_on_it(seed: int) -> None:
    data = Data(seed)
    fpr, tpr = s.roc(data.b, data.score).value(data.w)
    top = np.flatnonzero(np.diff(fpr, append=2.0) > 0)  # the upper end of each vertical piece
    found = rates.rate_at(data.b, data.score, fpr=fpr[top]).value(data.w)
    np.testing.assert_allclose(found, tpr[top], atol=1e-12)
    np.testing.assert_allclose(rates.rate_at(data.b, data.score, fpr=fpr[top], rate="fnr").value(data.w), 1 - tpr[top])
    rate = float(rates.equal_error_rate(data.b, data.score).value(data.w))
    assert rates.rate_at(data.b, data.score, fpr=rate).value(data.w) >= 1 - rate - 1e-9


@given(seeds, st.floats(0.0, 1.0))
def test_a_threshold_keeps_its_rate(seed: int, wanted: float) -> None:
    data = Data(seed)
    scores, support = data.score, np.unique(data.score)
    for rate, of in (("fpr", 0), ("fnr", 1)):
        inside = data.b == of

        def miss(at: float, inside: Any = inside, rate: str = rate) -> float:
            wrong = scores >= at if rate == "fpr" else scores < at
            return float(data.w[inside & wrong].sum() / data.w[inside].sum())

        highest = miss(float(scores[data.w > 0].max()))
        if rate == "fpr" and highest > wanted + 1e-9:
            with pytest.raises(StratError, match=r"`at` must be at least .* ask for that rate"):
                rates.threshold_at(data.b, scores, at=wanted, rate=rate).value(data.w)
            continue
        at = float(rates.threshold_at(data.b, scores, at=wanted, rate=rate).value(data.w))
        assert miss(at) <= wanted + 1e-9
        beyond = support[support < at][-1:] if rate == "fpr" else support[support > at][:1]
        assert all(miss(value) > wanted - 1e-9 for value in beyond)


def test_complements_of_a_rate() -> None:
    data = Data(4)
    for rate, other in (("fpr", "tnr"), ("fnr", "tpr")):
        one = rates.threshold_at(data.b, data.score, at=0.237, rate=rate).value(data.w)
        assert rates.threshold_at(data.b, data.score, at=1 - 0.237, rate=other).value(data.w) == one


@given(seeds)
def test_risk_at_full_coverage_is_the_error(seed: int) -> None:
    data = Data(seed)
    error = np.average(data.t != data.q, weights=data.w)
    assert risk_curves.risk_coverage(data.t, data.q, data.score, at=1.0).value(data.w)[0] == pytest.approx(error)
    constant = risk_curves.risk_coverage(data.t, data.q, np.ones(len(data.t)), at=[0.1, 0.5]).value(data.w)
    np.testing.assert_allclose(constant, error)


def test_zero_weights_leave_a_users_metric_alone() -> None:
    from sklearn.metrics import f1_score

    data = Data(5)
    statistic = c.metric(f1_score, data.t, data.q, average="macro")
    weights = np.where(np.arange(60) % 4 == 0, 0.0, data.w)
    kept = weights > 0
    expected = f1_score(data.t[kept], data.q[kept], average="macro", sample_weight=weights[kept])
    assert statistic.value(weights) == pytest.approx(expected)
    assert statistic.function(np.stack([weights, data.w])).shape == (2,)
    assert statistic.of_weights

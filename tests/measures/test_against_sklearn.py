"""Every measure equals scikit-learn's, unweighted and weighted, to 1e-12."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn import metrics as sk
from sklearn.calibration import calibration_curve as sk_calibration_curve

import strat.measures as m
from strat import measures as c
from strat.base.errors import StratWarning
from strat.measures import loss as lo
from strat.measures import multilabel as ml
from strat.measures import probabilities as p
from strat.measures import scores as s
from strat.measures.base import Statistic

N = 300
RNG = np.random.default_rng(7)
W = RNG.gamma(2.0, size=N)
BINARY = RNG.integers(0, 2, N)
BINARY_PREDICTED = np.where(RNG.random(N) < 0.7, BINARY, 1 - BINARY)
SCORE = np.round(RNG.normal(BINARY, 1.0), 1)  # rounded: real ties
PROBABILITY = np.round(1 / (1 + np.exp(-SCORE)), 3)
MULTI = RNG.integers(0, 5, N)
MULTI_PREDICTED = np.where(RNG.random(N) < 0.6, MULTI, RNG.integers(0, 5, N))
NAMES = np.array(["ant", "bee", "cat", "dog", "elk"])
MATRIX = np.exp(np.round(RNG.normal(np.eye(5)[MULTI], 1.0), 1))
MATRIX /= MATRIX.sum(axis=1, keepdims=True)
INDICATOR = RNG.integers(0, 2, (N, 4))
INDICATOR_PREDICTED = np.where(RNG.random((N, 4)) < 0.7, INDICATOR, 1 - INDICATOR)
INDICATOR_SCORE = np.round(RNG.normal(INDICATOR, 1.0), 1)
MANY = RNG.integers(0, 30, N)
MANY_PREDICTED = np.where(RNG.random(N) < 0.6, MANY, RNG.integers(0, 30, N))
LOTS = RNG.integers(0, 150, N)
LOTS_PREDICTED = np.where(RNG.random(N) < 0.6, LOTS, RNG.integers(0, 150, N))

Case = tuple[str, Statistic, Callable[[Any], Any]]


def _averages(name: str, ours: Any, theirs: Any, **extra: Any) -> list[Case]:
    cases: list[Case] = []
    for average in ("micro", "macro", "weighted", None):
        for data, t, q in (("multi", NAMES[MULTI], NAMES[MULTI_PREDICTED]), ("many", MANY, MANY_PREDICTED)):
            cases.append(_case(f"{name}-{data}-{average}", ours, theirs, t, q, average=average, **_zero(extra)))
    cases.append(_case(f"{name}-lots", ours, theirs, LOTS, LOTS_PREDICTED, average="macro", **_zero(extra)))
    cases.append(_case(f"{name}-nan", ours, theirs, LOTS, LOTS_PREDICTED, average="macro", **_zero(extra, np.nan)))
    cases.append(_case(f"{name}-lots-weighted", ours, theirs, LOTS, LOTS_PREDICTED, average="weighted", **_zero(extra)))
    cases.append(_case(f"{name}-binary", ours, theirs, BINARY, BINARY_PREDICTED, **extra))
    cases.append(
        _case(f"{name}-pos-0", ours, theirs, BINARY, BINARY_PREDICTED, {"pos_label": 0, **extra}, positive=0, **extra)
    )
    labels = ["dog", "ant"]
    for average in ("micro", "macro", "weighted", None):
        args = {"labels": labels, "average": average, **extra}
        cases.append(_case(f"{name}-subset-{average}", ours, theirs, NAMES[MULTI], NAMES[MULTI_PREDICTED], **args))
    for average in ("micro", "macro", "weighted", "samples", None):
        args = {"average": average, **_zero(extra)}
        cases.append(_case(f"{name}-labels-{average}", ours, theirs, INDICATOR, INDICATOR_PREDICTED, **args))
    return [case for case in cases if not (name == "jaccard" and "nan" in case[0])]


def _zero(extra: dict[str, Any], value: float = 0) -> dict[str, Any]:
    return {**extra, "zero_division": value}


def _case(
    name: str, ours: Any, theirs: Any, t: Any, q: Any, theirs_args: dict[str, Any] | None = None, **args: Any
) -> Case:
    def reference(w: Any) -> Any:
        return theirs(t, q, sample_weight=w, **(args if theirs_args is None else theirs_args))

    return name, ours(t, q, **args), reference


def _curves() -> list[Case]:
    def roc(w: Any) -> Any:
        return np.stack(sk.roc_curve(BINARY, SCORE, sample_weight=w, drop_intermediate=False)[:2])

    def precision_recall(w: Any) -> Any:
        return np.stack(sk.precision_recall_curve(BINARY, SCORE, sample_weight=w)[:2])[:, -2::-1]

    thresholds = sk.det_curve(BINARY, SCORE)[2]

    def det(w: Any) -> Any:
        fpr, fnr, at = sk.det_curve(BINARY, SCORE, sample_weight=w)
        assert np.array_equal(at, thresholds)
        return np.stack([fpr, fnr])[:, ::-1]

    return [
        ("roc", s.roc(BINARY, SCORE), roc),
        ("precision_recall", s.precision_recall(BINARY, SCORE), precision_recall),
        ("det", s.det(BINARY, SCORE, thresholds=thresholds[::-1]), det),
    ]


def _cases() -> list[Case]:
    cases = [
        *_averages("precision", c.precision, sk.precision_score),
        *_averages("recall", c.recall, sk.recall_score),
        *_averages("f1", c.f1, sk.f1_score),
        *_averages("f2", c.fbeta, sk.fbeta_score, beta=2.0),
        *_averages("f0", c.fbeta, sk.fbeta_score, beta=0.0),
        *_averages("jaccard", c.jaccard, sk.jaccard_score),
        *_curves(),
    ]
    for data, t, q in (
        ("binary", BINARY, BINARY_PREDICTED),
        ("multi", NAMES[MULTI], NAMES[MULTI_PREDICTED]),
        ("many", MANY, MANY_PREDICTED),
        ("lots", LOTS, LOTS_PREDICTED),
    ):
        cases.append(_case(f"mcc-{data}", c.mcc, sk.matthews_corrcoef, t, q))
        for weights in (None, "linear", "quadratic"):
            cases.append(_case(f"kappa-{data}-{weights}", c.kappa, sk.cohen_kappa_score, t, q, weights=weights))
        for normalize in (None, "true", "pred", "all"):
            cases.append(
                _case(f"confusion-{data}-{normalize}", m.confusion, sk.confusion_matrix, t, q, normalize=normalize)
            )
    for adjusted in (False, True):
        args = {"adjusted": adjusted}
        cases.append(
            _case(
                f"balanced-{adjusted}", c.balanced_accuracy, sk.balanced_accuracy_score, MULTI, MULTI_PREDICTED, **args
            )
        )
        cases.append(
            _case(
                f"balanced-many-{adjusted}",
                c.balanced_accuracy,
                sk.balanced_accuracy_score,
                MANY,
                MANY_PREDICTED,
                **args,
            )
        )
    labels = ["elk", "ant", "bee"]
    cases += [
        _case(
            "kappa-subset",
            c.kappa,
            sk.cohen_kappa_score,
            NAMES[MULTI],
            NAMES[MULTI_PREDICTED],
            labels=labels,
            weights="linear",
        ),
        _case(
            "confusion-subset",
            m.confusion,
            sk.confusion_matrix,
            NAMES[MULTI],
            NAMES[MULTI_PREDICTED],
            labels=labels,
            normalize="true",
        ),
        _case("auc", s.auc, sk.roc_auc_score, BINARY, SCORE),
        _case("auc-ovr-macro", s.auc, sk.roc_auc_score, MULTI, MATRIX, multi_class="ovr"),
        _case("auc-ovr-weighted", s.auc, sk.roc_auc_score, MULTI, MATRIX, multi_class="ovr", average="weighted"),
        _case("auc-ovr-none", s.auc, sk.roc_auc_score, MULTI, MATRIX, multi_class="ovr", average=None),
        _case("auc-ovr-micro", s.auc, sk.roc_auc_score, MULTI, MATRIX, multi_class="ovr", average="micro"),
        *(
            _case(f"{name}-labels-{average}", ours, theirs, INDICATOR, INDICATOR_SCORE, average=average)
            for average in ("macro", "weighted", "micro", None)
            for name, ours, theirs in (
                ("auc", s.auc, sk.roc_auc_score),
                ("average-precision", s.average_precision, sk.average_precision_score),
            )
        ),
        _case("average-precision", s.average_precision, sk.average_precision_score, BINARY, SCORE),
        _case("average-precision-macro", s.average_precision, sk.average_precision_score, MULTI, MATRIX),
        _case("average-precision-none", s.average_precision, sk.average_precision_score, MULTI, MATRIX, average=None),
        _case(
            "average-precision-weighted",
            s.average_precision,
            sk.average_precision_score,
            MULTI,
            MATRIX,
            average="weighted",
        ),
        _case("log-loss", p.log_loss, sk.log_loss, BINARY, PROBABILITY),
        _case("log-loss-multi", p.log_loss, sk.log_loss, NAMES[MULTI], MATRIX),
        _case("brier", p.brier, sk.brier_score_loss, BINARY, PROBABILITY),
        _case("brier-multi", p.brier, sk.brier_score_loss, NAMES[MULTI], MATRIX),
        _case("brier-half", p.brier, sk.brier_score_loss, NAMES[MULTI], MATRIX, scale_by_half=True),
        *(
            _case(f"top-{k}", p.top_k_accuracy, sk.top_k_accuracy_score, MULTI, np.round(MATRIX, 1), k=k)
            for k in (1, 2, 3)
        ),
        _case("top-1-binary", p.top_k_accuracy, sk.top_k_accuracy_score, BINARY, PROBABILITY, k=1),
        _case("hamming", ml.hamming_loss, sk.hamming_loss, INDICATOR, INDICATOR_PREDICTED),
        _case("subset", ml.subset_accuracy, sk.accuracy_score, INDICATOR, INDICATOR_PREDICTED),
        _case(
            "ranking-precision",
            ml.label_ranking_average_precision,
            sk.label_ranking_average_precision_score,
            INDICATOR,
            INDICATOR_SCORE,
        ),
        _case("ranking-loss", ml.label_ranking_loss, sk.label_ranking_loss, INDICATOR, INDICATOR_SCORE),
        _case("coverage-error", ml.coverage_error, sk.coverage_error, INDICATOR, INDICATOR_SCORE),
        _case("zero-one", _zero_one, sk.zero_one_loss, NAMES[MULTI], NAMES[MULTI_PREDICTED]),
        _case("metric", _any_metric, sk.d2_log_loss_score, BINARY, PROBABILITY),
    ]
    return cases


def _zero_one(truth: Any, predicted: Any) -> Statistic:
    return lo.expected_loss(truth, predicted, lo.zero_one_loss(NAMES.tolist()))


def _any_metric(truth: Any, predicted: Any) -> Statistic:
    return c.metric(sk.d2_log_loss_score, truth, predicted)


with warnings.catch_warnings():
    warnings.simplefilter("ignore", StratWarning)
    CASES = _cases()


@pytest.mark.parametrize(("name", "statistic", "reference"), CASES, ids=[case[0] for case in CASES])
@pytest.mark.parametrize(
    "weights", [None, W, np.where(np.arange(N) % 3 == 0, 0.0, W)], ids=["plain", "weighted", "zeros"]
)
@pytest.mark.filterwarnings("ignore")
def test_equal_to_sklearn(name: str, statistic: Statistic, reference: Callable[[Any], Any], weights: Any) -> None:
    if name in ("roc", "det", "precision_recall") and weights is not None and not weights.all():
        return  # scikit-learn drops the thresholds of weightless rows: see the test below
    np.testing.assert_allclose(statistic.value(weights), reference(weights), rtol=0, atol=1e-12)


def test_weightless_rows_do_not_move_a_curve() -> None:
    weights = np.where(np.arange(N) % 3 == 0, 0.0, W)
    fpr, tpr, thresholds = sk.roc_curve(BINARY, SCORE, sample_weight=weights, drop_intermediate=False)
    ours = s.roc(BINARY, SCORE, thresholds=thresholds).value(weights)
    np.testing.assert_allclose(ours, [fpr, tpr], rtol=0, atol=1e-12)


@pytest.mark.parametrize("average", ["macro", "weighted"])
def test_one_against_one_equals_sklearn(average: str) -> None:
    ours = s.auc(MULTI, MATRIX, multi_class="ovo", average=average)
    assert ours.value() == pytest.approx(sk.roc_auc_score(MULTI, MATRIX, multi_class="ovo", average=average), abs=1e-12)
    twice = np.repeat(np.arange(N), np.arange(N) % 3 + 1)
    weighted = ours.value(np.arange(N) % 3 + 1.0)
    expected = sk.roc_auc_score(MULTI[twice], MATRIX[twice], multi_class="ovo", average=average)
    assert weighted == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_calibration_curve_equals_sklearn(strategy: str) -> None:
    ours = p.calibration_curve(BINARY, PROBABILITY, bins=7, strategy=strategy)
    theirs = sk_calibration_curve(BINARY, PROBABILITY, n_bins=7, strategy=strategy)
    np.testing.assert_allclose(ours.value(), np.stack(theirs), atol=1e-12)


def test_specificity_is_the_other_classes_recall() -> None:
    ours = c.specificity(BINARY, BINARY_PREDICTED)
    assert ours.value(W) == pytest.approx(sk.recall_score(BINARY, BINARY_PREDICTED, pos_label=0, sample_weight=W))


def test_calibration_error_is_the_sum_over_bins() -> None:
    place = np.minimum((PROBABILITY * 10).astype(int), 9)
    place = np.searchsorted(np.linspace(0, 1, 11)[1:-1], PROBABILITY)
    total = 0.0
    largest = 0.0
    for b in range(10):
        inside = place == b
        if inside.any():
            gap = abs(
                np.average(BINARY[inside], weights=W[inside]) - np.average(PROBABILITY[inside], weights=W[inside])
            )
            total += W[inside].sum() / W.sum() * gap
            largest = max(largest, gap)
    assert p.calibration_error(BINARY, PROBABILITY).value(W) == pytest.approx(total, abs=1e-12)
    assert p.calibration_error(BINARY, PROBABILITY, norm="max").value(W) == pytest.approx(largest, abs=1e-12)


def _sklearn_warns(function: Any, *args: Any, **kwargs: Any) -> float:
    with pytest.warns(UserWarning, match="."):
        return float(function(*args, **kwargs))


@pytest.mark.parametrize(
    ("ours", "theirs", "truth", "predicted", "args", "code", "facts"),
    [
        (
            c.precision,
            sk.precision_score,
            [0, 1, 2],
            [0, 1, 1],
            {"average": "macro"},
            "undefined-share",
            {"case": "precision", "labels": (2,)},
        ),
        (
            c.recall,
            sk.recall_score,
            [0, 1, 1],
            [0, 1, 2],
            {"average": "macro"},
            "undefined-share",
            {"case": "recall", "labels": (2,)},
        ),
        (c.precision, sk.precision_score, [0, 0, 1], [0, 0, 0], {}, "undefined-share", {"case": "precision"}),
        (c.recall, sk.recall_score, [0, 0, 0], [0, 1, 0], {}, "undefined-share", {"case": "recall"}),
        (c.f1, sk.f1_score, [0, 0, 0], [0, 0, 0], {}, "undefined-share", {"case": "", "measure": "F1"}),
        (c.jaccard, sk.jaccard_score, [0, 0, 0], [0, 0, 0], {}, "undefined-share", {"case": "", "measure": "Jaccard"}),
        (c.balanced_accuracy, sk.balanced_accuracy_score, [0, 1, 1], [0, 1, 2], {}, "class-left-out", {"labels": (2,)}),
        (
            c.f1,
            sk.f1_score,
            [[0, 0], [1, 1]],
            [[0, 0], [1, 0]],
            {"average": "samples"},
            "undefined-rows",
            {"n": 1, "first": 0},
        ),
    ],
)
def test_notes_where_sklearn_warns_with_its_value(
    ours: Any, theirs: Any, truth: Any, predicted: Any, args: dict[str, Any], code: str, facts: dict[str, Any]
) -> None:
    statistic = ours(truth, predicted, **args)
    (note,) = statistic.notes
    assert note.code == code
    assert facts.items() <= note.facts.items()
    assert statistic.value() == pytest.approx(_sklearn_warns(theirs, np.array(truth), np.array(predicted), **args))


@pytest.mark.parametrize("zero", [0, 1, np.nan])
@pytest.mark.parametrize("average", ["macro", "weighted", "micro", None])
def test_zero_division_is_sklearns(zero: float, average: str | None) -> None:
    t, q = [0, 1, 1, 3, 3], [0, 1, 2, 0, 0]
    for ours, theirs in ((c.precision, sk.precision_score), (c.recall, sk.recall_score), (c.f1, sk.f1_score)):
        expected = theirs(t, q, average=average, zero_division=zero)
        np.testing.assert_allclose(ours(t, q, average=average, zero_division=zero).value(), expected, atol=1e-12)


def test_undefined_kappa_is_nan_with_a_note() -> None:
    statistic = c.kappa([1, 1], [1, 1])
    assert np.isnan(statistic.value())
    assert statistic.notes[0].code == "undefined-kappa"


def test_one_class_has_no_area() -> None:
    assert np.isnan(s.auc([1, 1], [0.2, 0.3]).value())

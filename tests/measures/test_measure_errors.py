"""One clear sentence for each thing that measures refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import strat
from strat import measures as c
from strat.base.errors import StratError
from strat.measures import loss as lo
from strat.measures import multilabel as ml
from strat.measures import probabilities as p
from strat.measures import risk_curves
from strat.measures import score_rates as rates
from strat.measures import scores as s

T2, P2 = [[1, 0], [0, 1]], [[1, 0], [1, 1]]
LOSS = lo.zero_one_loss(["a", "b"])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: c.f1([0, 1, 2], [0, 1, 2]), "`average` must be 'micro', 'macro', 'weighted' or None for 3 classes"),
        (
            lambda: c.f1(["n", "y"], ["n", "y"]),
            "`positive` must name the positive class of 'n' and 'y'; for example positive='n'",
        ),
        (lambda: c.f1(["n", "y"], ["n", "y"], positive=1), "`positive` must be one of the labels, got 1; there are"),
        (
            lambda: c.f1([0, 1], [0, 1], average="macro", positive=1),
            "`positive` must be left out with average='macro', which looks at all classes, got 1",
        ),
        (lambda: c.f1([0, 1], [0, 1], average="mean"), "`average` must be one of 'binary', 'micro'"),
        (lambda: c.f1([0, 1], [0, 1], average="samples"), "for one label per row, got 'samples'"),
        (lambda: c.f1(T2, P2), "`average` must be .* for multilabel data, got 'binary'"),
        (lambda: c.f1([0, 1], [0, 1], zero_division=2), "`zero_division` must be 'warn', 0, 1 or nan, got 2"),
        (lambda: c.f1([0, 1], [0, 1], zero_division="zero"), "`zero_division` must be"),
        (lambda: c.fbeta([0, 1], [0, 1], beta=-1), "`beta` must be zero or more, got -1"),
        (lambda: c.f1([0, 1], [0, 1, 1]), "`predicted` must have as many rows as `truth`"),
        (lambda: c.f1([0, "a"], [0, 1]), "`truth` must have labels of one type"),
        (lambda: c.f1([0, 1], ["0", "1"]), "`predicted` must have labels of the same type"),
        (lambda: c.f1([], []), "`truth` must have at least one row, got none"),
        (lambda: c.kappa([0, 1], [0, 1], weights="cubic"), "`weights` must be one of 'linear', 'quadratic'"),
        (lambda: c.kappa([0, 1], [0, 1], labels=[5, 6]), "`labels` must name classes that occur, got 5, 6"),
        (lambda: c.metric("f1", [0], [1]), "`function` must be a function, got 'f1'"),
        (lambda: ml.hamming_loss([[0, 2]], [[0, 1]]), "`truth` must be a matrix of 0 and 1"),
        (lambda: ml.hamming_loss(T2, [[1, 0]]), "`predicted` must have as many rows as `truth`"),
        (lambda: ml.hamming_loss(T2, [[1], [0]]), "`predicted` must have the shape of `truth`"),
        (lambda: s.auc([0, 1], [0.5, np.nan]), r"`score` must be finite, got nan in row 1"),
        (lambda: s.auc([0, 1, 2], [0.1, 0.2, 0.3]), "`truth` must have two classes, got 3"),
        (lambda: s.auc([0, 1], [0.1]), "`score` must have as many rows as `truth`"),
        (
            lambda: s.auc([0, 1], [0.1, 0.2], positive=3),
            "`positive` must be one of the labels, got 3; there are 0, 1",
        ),
        (lambda: s.auc([0, 1], np.ones((2, 2, 2))), r"`score` must have one number per row"),
        (lambda: s.auc([0, 1], np.ones((2, 3))), "`score` must have one column for each of the 2 classes, got 3"),
        (
            lambda: s.auc([0, 3], np.ones((2, 3)), labels=[0, 1, 2]),
            "`labels` must hold every class of `truth`, got none for 3",
        ),
        (lambda: s.auc([0, 1, 2], np.eye(3), multi_class="all"), "`multi_class` must be one of"),
        (
            lambda: s.auc([0, 1, 2], np.eye(3), average="samples"),
            "`average` must be one of 'macro', 'weighted', 'micro'",
        ),
        (lambda: s.auc(np.eye(3), np.eye(3), multi_class="ovo"), "`multi_class` must be 'ovr' for several labels"),
        (lambda: s.auc(2 * np.eye(3), np.eye(3)), "`truth` must be a matrix of 0 and 1 with the shape of `score`"),
        (lambda: c.f1(T2, P2, average="macro", labels=[0, 2]), "`labels` must be columns from 0 to 1, got 0, 2"),
        (
            lambda: s.auc([0, 1, 2], np.eye(3), multi_class="ovo", average=None),
            "`average` must be 'macro' or 'weighted'",
        ),
        (lambda: s.roc([0, 1], [0.1, 0.2], thresholds=[[0.1, 0.2]]), "`thresholds` must be a list of numbers"),
        (lambda: s.roc([0, 1], [0.1, 0.2], thresholds=[0.1, np.nan]), "`thresholds` must be a list of numbers"),
        (lambda: s.auc([0, 1, 2], np.eye(3), positive=1), "`positive` must be left out for a score of each class"),
        (lambda: rates.rate_at([0, 1], [0.1, 0.2], fpr=2), "`fpr` must be rates between 0 and 1, got 2.0"),
        (lambda: rates.threshold_at([0, 1], [0.1, 0.2], at=0.1, rate="far"), "`rate` must be one of 'fpr'"),
        (
            lambda: rates.threshold_at([0, 0, 0, 1], [1, 2, 9, 3], at=[0.5, 0.1]).value(),
            "`at` must be at least 0.333334 for 'fpr', got 0.1: at the highest score the share 0.333334 of negatives "
            "is called positive, .* ask for that rate, or give more negatives",
        ),
        (
            lambda: rates.threshold_at([0, 0, 0, 0, 1], [1, 2, 3, 9, 3], at=0.9, rate="tnr").value(),
            "`at` must be at most 0.75 for 'tnr', got 0.9",
        ),
        (
            lambda: strat.estimate(
                rates.threshold_at([0, 0, 0, 1, 1, 1], [1, 2, 5, 3, 4, 9], at=0.1),
                on=strat.jackknife(strat.Design.simple_random(n=6)),
            ),
            "`at` must be at least 0.333334 for 'fpr', got 0.1: at the highest score of a replicate .* ask for that "
            r"rate, or use the closed form \(on=design\)",
        ),
        (
            lambda: p.log_loss([0, 1], [[0.5, 0.6], [0.5, 0.5]]),
            "`probability` must sum to one in every row, got 1.1 in row 0",
        ),
        (lambda: p.log_loss([0, 1], [0.5, 1.5]), "`probability` must lie between 0 and 1, got 1.5"),
        (lambda: p.log_loss([0, 1], [[0.2, 0.3, 0.5]] * 2), "one column for each of the 2 classes .* got 3"),
        (lambda: p.log_loss([0, 4], [[0.2, 0.3, 0.5]] * 2, labels=[0, 1, 2]), "got none for 4"),
        (lambda: p.brier([0, 1], [0.5, np.nan]), "`probability` must be finite"),
        (lambda: p.top_k_accuracy([0, 1], [[0, 1], [1, 0]], k=0), "`k` must be a whole number of at least 1, got 0"),
        (lambda: p.calibration_curve([0, 1, 2], [0.1, 0.2, 0.3]), "`truth` must have two classes, got 3"),
        (lambda: p.calibration_curve([0, 1], [0.1, 0.2], bins=0), "`bins` must be a whole number of at least 1, got 0"),
        (lambda: p.calibration_curve([0, 1], [0.1, 0.2], strategy="even"), "`strategy` must be one of"),
        (lambda: p.calibration_curve([0, 1], [0.1, 0.2], positive=7), "`positive` must be one of the labels, got 7"),
        (lambda: p.log_loss(["a", "b"], [0.1, 0.2]), "`positive` must name the positive class of 'a' and 'b'"),
        (lambda: p.brier([1, 2], [0.1, 0.2]), "`positive` must name the positive class of 1 and 2"),
        (
            lambda: p.brier([0, 1], [[0.5, 0.5]] * 2, positive=1),
            "`positive` must be left out for a probability of each class",
        ),
        (lambda: p.calibration_curve([0, 1], [[0.1, 0.2]] * 2), "`probability` must have one number per row"),
        (lambda: p.calibration_error([0, 1], [0.1, 0.2], norm="l3"), "`norm` must be one of"),
        (lambda: lo.LossMatrix([[0, 1, 2]]), r"`values` must be c × c, or \(c \+ 1\) × c .* got shape \(1, 3\)"),
        (lambda: lo.LossMatrix([[0, 1], [1, 0]], ["a"]), "`labels` must be 2 distinct labels"),
        (lambda: lo.LossMatrix([[0, 1], [1, 0]], refuse="?"), "`values` must have 3 rows to hold the loss of refusing"),
        (
            lambda: lo.LossMatrix([[0, 1], [1, 0], [0, 0]], ["a", "b"], refuse="a"),
            "`refuse` must differ from the classes",
        ),
        (lambda: LOSS.decide([[0.2, 0.3, 0.5]]), "`probability` must have 2 columns"),
        (
            lambda: lo.expected_loss(["a", "c"], ["a", "b"], LOSS),
            "`truth` must hold labels of the loss matrix, got 'c'",
        ),
        (lambda: lo.expected_loss(["a"], ["a"], [[0, 1], [1, 0]]), "`loss` must be a LossMatrix, got "),
        (lambda: lo.expected_loss(["a"], ["a", "b"], LOSS), "`predicted` must have as many rows"),
        (lambda: lo.expected_loss([], [], LOSS), "`truth` must have one label per row"),
        (lambda: lo.zero_one_loss(["a"], refuse="?"), "`cost` must be given"),
        (lambda: lo.chow([[0.5, 0.5]], cost=2, labels=[0, 1]), "`cost` must lie between 0 and 1"),
        (lambda: lo.chow([[0.5, 0.5]], cost=0.1, labels=[0]), "`probability` must have 1 columns"),
        (lambda: lo.selective_risk(["a"], ["refuse"]), "`predicted` must hold at least one decision"),
        (lambda: lo.coverage([]), "`predicted` must have at least one row"),
        (
            lambda: risk_curves.risk_coverage([0, 1], [0, 1], [0.1, 0.2], at=0),
            "`at` must be shares above 0 and up to 1, got 0.0",
        ),
        (
            lambda: risk_curves.risk_coverage([0, 1], [0, 1], [[0.1], [0.2]]),
            "`confidence` must have one number per row",
        ),
        (
            lambda: lo.expected_cost([0, 1], [0.1, 0.2], false_positive=-1),
            "`false_positive` must be zero or more, got -1",
        ),
        (lambda: lo.optimal_threshold([0, 1], [0, 1], false_positive=0, false_negative=0), "must not both be 0"),
    ],
)
def test_errors(call: Any, message: str) -> None:
    with pytest.raises(StratError, match=message):
        call()


def test_as_many_guesses_as_classes_are_noted() -> None:
    statistic = p.top_k_accuracy([0, 1], [[0, 1], [1, 0]], k=2)
    assert statistic.value() == 1
    assert "the share is 1, whatever the scores are" in statistic.notes[0]

"""Columns of every kind: pandas, Polars, categories, truth values, dates; and hard but honest cases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import strat.measures as m
from strat import measures as c
from strat.measures import loss as lo
from strat.measures import probabilities as p
from strat.measures import score_rates as rates
from strat.measures import scores as s

TRUTH = ["no", "yes", "yes", "no", "yes"]
GUESS = ["no", "no", "yes", "yes", "yes"]
SCORE = [0.1, 0.4, 0.9, 0.6, 0.8]


def objects(values: list[str]) -> Any:
    return np.array(values, object)


def indexed(values: list[str]) -> Any:
    return pd.Series(values, index=range(9, 4, -1))


KINDS = [list, tuple, np.array, pd.Series, pl.Series, pd.Categorical, objects, indexed]


@pytest.mark.parametrize("column", KINDS, ids=lambda kind: kind.__name__)
def test_any_column_of_labels(column: Any) -> None:
    truth, guess = column(TRUTH), column(GUESS)
    assert c.f1(truth, guess, positive="yes").value() == pytest.approx(2 / 3)
    assert s.auc(truth, SCORE, positive="yes").value() == pytest.approx(5 / 6)
    assert p.brier(truth, SCORE, positive="yes").value() == pytest.approx(np.mean([0.01, 0.36, 0.01, 0.36, 0.04]))
    assert m.ConfusionMatrix.from_labels(truth, guess).counts.tolist() == [[1, 1], [1, 2]]
    assert lo.expected_loss(truth, guess, lo.zero_one_loss(["no", "yes"])).value() == pytest.approx(0.4)
    assert lo.selective_risk(truth, guess, refuse="no").value() == pytest.approx(1 / 3)


@pytest.mark.parametrize("kind", [bool, int, float, np.uint8])
def test_truth_values_and_numbers(kind: Any) -> None:
    truth, guess = (np.array([v == "yes" for v in column]).astype(kind) for column in (TRUTH, GUESS))
    assert c.recall(truth, guess).value() == pytest.approx(2 / 3)
    assert c.precision(truth, guess.astype(int)).value() == pytest.approx(2 / 3)
    assert s.auc(truth, SCORE).value() == pytest.approx(5 / 6)


def test_scores_that_are_all_equal_tell_nothing() -> None:
    assert s.auc([0, 1, 1], [2, 2, 2]).value() == 0.5
    assert s.average_precision([0, 1, 1], [2, 2, 2]).value() == pytest.approx(2 / 3)
    assert rates.equal_error_rate([0, 1, 1], [2, 2, 2]).value() == pytest.approx(0.5)


def test_infinite_precision_of_scores_is_kept() -> None:
    """Scores that differ in the last bit are not ties."""
    one = 1.0
    assert s.auc([0, 1], [one, np.nextafter(one, 2)]).value() == 1
    assert s.auc([0, 1], [1e300, 1.0000001e300]).value() == 1


def test_many_thresholds_are_thinned_evenly() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 3000)
    score = rng.normal(truth)
    curve = s.roc(truth, score)
    assert curve.shape == (2, 513)
    at = np.array(curve.axes[1].labels)
    assert at[0] == np.inf
    assert (at[1], at[-1]) == (score.max(), score.min())
    fpr, tpr = curve.value()
    every = [(score[truth == k][:, None] >= at).mean(axis=0) for k in (0, 1)]
    np.testing.assert_allclose([fpr, tpr], every)


def test_rows_that_match_no_class_of_interest() -> None:
    """Labels outside `labels` still count as wrong predictions, as scikit-learn has it."""
    statistic = c.precision(["a", "x", "b"], ["a", "a", "b"], labels=["a"], average="macro")
    assert statistic.value() == pytest.approx(0.5)
    assert statistic.proportion
    assert statistic.domain is not None
    assert statistic.domain.tolist() == [True, True, False]

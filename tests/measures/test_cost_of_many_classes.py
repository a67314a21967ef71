"""Measures of classes cost what occurs, not the square of the number of classes."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import strat
from strat.base.limits import changed
from strat.designs import Design
from strat.measures.base import Statistic

SMALL, TIMES = 4_000, 8
MEASURES: dict[str, Callable[[Any, Any], Statistic]] = {
    "macro F1": lambda t, p: strat.f1(t, p, average="macro", zero_division=0),
    "F1 of each class": lambda t, p: strat.f1(t, p, average=None, zero_division=0),
    "recall of each class": lambda t, p: strat.recall(t, p, average=None, zero_division=0),
    "balanced accuracy": strat.balanced_accuracy,
    "mcc": strat.mcc,
    "kappa": strat.kappa,
    "linear kappa": lambda t, p: strat.kappa(t, p, weights="linear"),
    "quadratic kappa": lambda t, p: strat.kappa(t, p, weights="quadratic"),
}


def _labels(classes: int, rows_of_each: int = 2) -> tuple[Any, Any]:
    rng = np.random.default_rng(classes)
    truth = np.repeat(np.arange(classes), rows_of_each)
    return truth, np.where(rng.random(len(truth)) < 0.7, truth, rng.permutation(truth))


def _estimated(measure: str, classes: int) -> Any:
    truth, predicted = _labels(classes)
    return strat.estimate(MEASURES[measure](truth, predicted), on=Design.simple_random(len(truth)))


def _peak(measure: str, classes: int) -> int:
    tracemalloc.start()
    try:
        _estimated(measure, classes)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def _seconds(measure: str, classes: int) -> float:
    taken = []
    for _ in range(3):
        start = time.process_time()
        _estimated(measure, classes)
        taken.append(time.process_time() - start)
    return min(taken)


@pytest.mark.parametrize("measure", MEASURES)
def test_memory_grows_with_the_rows_and_not_with_the_square_of_the_classes(measure: str) -> None:
    assert _peak(measure, SMALL * TIMES) < 1.5 * TIMES * _peak(measure, SMALL)


@pytest.mark.parametrize("measure", MEASURES)
def test_time_grows_with_the_rows_and_not_with_the_square_of_the_classes(measure: str) -> None:
    assert _seconds(measure, SMALL * TIMES) < TIMES**1.6 * _seconds(measure, SMALL)


@pytest.mark.parametrize("average", [None, "macro"])
@pytest.mark.parametrize(
    "design",
    [
        lambda n: Design.simple_random(n),
        lambda n: Design.stratified(strata=np.arange(n) % 7),
        lambda n: Design.stratified(strata=np.arange(n) % 7, population=dict.fromkeys(range(7), n)),
        lambda n: Design.clustered(units=np.arange(n) // 3, weights=1.0 + np.arange(n) % 5),
        lambda n: Design.stratified(
            strata=np.minimum(np.arange(n) // 40, n // 40), units=np.arange(n) // 3, lone="average", nested=True
        ),
    ],
)
def test_sparse_and_dense_closed_forms_agree(design: Callable[[int], Design], average: str | None) -> None:
    truth, predicted = _labels(101, 6)
    for measure in (strat.recall, strat.precision, strat.f1, strat.jaccard):
        statistic = measure(truth, predicted, average=average, zero_division=0)
        on = design(len(truth))
        dense = strat.estimate(statistic, on=on)
        with changed(kept_spread=0):
            sparse = strat.estimate(statistic, on=on)
        np.testing.assert_allclose(sparse.value, dense.value, rtol=1e-12)
        np.testing.assert_allclose(sparse.se, dense.se, rtol=1e-10, atol=1e-14)
        np.testing.assert_allclose(sparse.deff, dense.deff, rtol=1e-9)
        # so many values are not asked which units hold their class: df and limits are those of all units
        assert np.all(np.asarray(sparse.df) >= np.asarray(dense.df) - 1e-9)
        assert (sparse.inference.spread is None) == (average is None)
        assert sparse.notes == dense.notes


def test_specificity_of_each_class_is_worked_on_in_pieces() -> None:
    truth, predicted = _labels(60, 400)
    each = strat.estimate(strat.specificity(truth, predicted, average=None), on=Design.simple_random(len(truth)))
    for label in (0, 17, 59):
        one = strat.estimate(
            strat.specificity(truth == label, predicted == label, positive=True), on=Design.simple_random(len(truth))
        )
        assert each.at(label).value == pytest.approx(one.value, rel=1e-12)
        assert each.at(label).se == pytest.approx(one.se, rel=1e-10)


def test_a_truth_of_ids_is_named() -> None:
    truth, predicted = _labels(300, 1)
    design = Design.simple_random(300)
    note = "The truth has 300 classes for 300 rows, like a column of ids."
    assert note in strat.estimate(strat.f1(truth, predicted, average="macro", zero_division=0), on=design).notes
    assert note in strat.estimate(strat.kappa(truth, predicted), on=design).notes
    table = {"t": truth, "p": predicted}
    assert note in str(strat.evaluate(table, truth="t", predicted="p", metrics=["macro_f1"]).notes)


def test_many_classes_of_several_rows_are_no_ids() -> None:
    """In a table, a perfect system has one distinct row for each class, which stands for several."""
    truth, _ = _labels(300, 3)
    found = strat.evaluate({"t": truth, "p": truth}, truth="t", predicted="p", metrics=["macro_f1"])
    assert "like a column of ids" not in str(found.notes)

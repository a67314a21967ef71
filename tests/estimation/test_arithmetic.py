"""Arithmetic on estimates is refused with the way that keeps their covariance; labels of a stack may be anything."""

from __future__ import annotations

import operator

import numpy as np
import pytest

import strat
from strat import comparison
from strat.base.errors import StratError

ON = strat.Design.simple_random(n=6)
A = strat.accuracy([1, 1, 0, 0, 1, 0], [1, 1, 0, 1, 1, 0])
B = strat.accuracy([1, 1, 0, 0, 1, 0], [1, 0, 0, 1, 0, 0])
FOUR = (operator.add, operator.sub, operator.mul, operator.truediv)


@pytest.mark.parametrize("operation", FOUR)
def test_two_estimates_are_not_numbers(operation) -> None:
    """`a - b` was Python's TypeError, without a word on how to pair."""
    with pytest.raises(StratError, match=r"covariance is not known; estimate strat.stack\(.* strat.comparison.paired"):
        operation(strat.estimate(A, on=ON), strat.estimate(B, on=ON))


@pytest.mark.parametrize("operation", FOUR)
@pytest.mark.parametrize("number", [0.5, 1, np.float64(2.0)])
def test_nor_is_one_of_them(operation, number) -> None:
    for left, right in ((strat.estimate(A, on=ON), number), (number, strat.estimate(A, on=ON))):
        with pytest.raises(StratError, match=r"can't be subtracted, .* like a number; take .map"):
            operation(left, right)


def test_the_ways_out_that_are_named_work() -> None:
    both = strat.estimate(strat.stack("system", A=A, B=B), on=ON)
    gap = both.map(lambda v: v[..., 0] - v[..., 1])
    pair = comparison.paired(A, B, on=ON)
    assert (gap.value, gap.se) == pytest.approx((pair.value, pair.se))
    assert strat.estimate(A, on=ON).map(lambda v: 1 - v).value == pytest.approx(1 / 6)


@pytest.mark.parametrize("labels", [(1, 2), ("north side", "south"), (True, None), ((1, "a"), 2.5)])
def test_labels_of_a_stack_are_of_any_kind(labels) -> None:
    """Integer labels failed: keywords must be strings."""
    both = strat.estimate(strat.stack("site", dict(zip(labels, (A, B), strict=True))), on=ON)
    assert both.axes[0].labels == labels
    assert both.at(labels[1]).value == pytest.approx(float(B.value()))
    assert both.to_dict()["site"] == list(labels)


def test_a_stack_of_both_ways() -> None:
    assert strat.stack("site", {1: A}, two=B).axes[0].labels == (1, "two")
    for arguments, named, message in (
        (([A, B],), {}, "`labelled` must be a dictionary, got "),
        (({1: A, 2: 3},), {}, "`statistics` must be statistics such as .*, got 3 for 2"),
        (({"x": A},), {"x": B}, "`statistics` must have each label once, got 'x' twice"),
        (({},), {}, "`statistics` must hold at least one statistic"),
    ):
        with pytest.raises(StratError, match=message):
            strat.stack("site", *arguments, **named)


@pytest.mark.parametrize(
    ("make", "higher"),
    [
        (strat.accuracy, True),
        (strat.error_rate, False),
        (strat.f1, True),
        (strat.recall, True),
        (strat.kappa, True),
        (strat.mcc, True),
        (strat.balanced_accuracy, True),
        (strat.auc, True),
        (strat.average_precision, True),
        (strat.equal_error_rate, False),
        (strat.brier, False),
        (strat.log_loss, False),
        (strat.calibration_error, False),
    ],
)
def test_measures_know_which_way_is_better(make, higher: bool) -> None:
    """`paired(f1, f1, …)` asked for `higher_is_better`, although every measure knows it."""
    truth = [1, 1, 0, 0, 1, 0, 1, 0]
    good, poor = [1, 1, 0, 0, 1, 0, 0, 0], [1, 0, 0, 1, 0, 1, 0, 0]
    a, b = make(truth, good), make(truth, poor)
    assert a.higher_is_better is higher
    assert strat.stack("system", a=a, b=b).higher_is_better is higher
    on = strat.Design.simple_random(n=8)
    assert str(comparison.paired(a, b, on=on)) == str(comparison.paired(a, b, on=on, higher_is_better=higher))
    assert str(comparison.paired(a, b, on=on)).startswith("A is")


def test_a_mean_asks_which_way_is_better() -> None:
    a, b = strat.mean([1.0, 2, 3]), strat.mean([2.0, 2, 5])
    with pytest.raises(StratError, match="`higher_is_better` must be True or False for mean"):
        comparison.paired(a, b, on=strat.Design.simple_random(n=3))


@pytest.mark.parametrize("function", [lambda v: v[1] - v[0], lambda v: v.sum()])
def test_a_map_works_along_the_last_axes(function: object) -> None:
    both = strat.estimate(strat.stack("system", A=A, B=B), on=ON)
    with pytest.raises(strat.StratError, match=r"`function` must work along the last axes .* write v\[\.\.\., 1\]"):
        both.map(function)  # type: ignore[arg-type]

"""A statistic without a design shows its value, and is a number where it has one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import strat
from strat.base.errors import StratError

TRUTH, GUESS = [0, 1, 1, 0], [0, 1, 0, 0]


@pytest.mark.parametrize(
    ("statistic", "shown"),
    [
        (strat.accuracy(TRUTH, GUESS), "accuracy 0.7500 (4 rows, no design: see strat.estimate)"),
        (strat.f1(TRUTH, GUESS), "F1 0.6667 (4 rows, no design: see strat.estimate; positive class: 1)"),
        (
            strat.statistic(lambda w: w.sum(), name="size"),
            "size (its rows are those of a design: see strat.estimate)",
        ),
        (strat.statistic(lambda w: w.sum(), n=3, name="size"), "size 3.0000 (3 rows, no design: see strat.estimate)"),
        (
            strat.recall(TRUTH, GUESS, average=None),
            "recall, 2 values (4 rows, no design: see strat.estimate)\nclass   value\n    0  1.0000\n    1  0.5000",
        ),
        (
            strat.statistic(lambda w: np.cumsum(w), n=2, name="sums"),
            "sums, 2 values (2 rows, no design: see strat.estimate)\naxis 0   value\n     0  1.0000\n     1  2.0000",
        ),
        (
            strat.domain(strat.mean([1.0, 2.0]), [True, False]),
            "mean 1.0000 (2 rows, no design: see strat.estimate)",
        ),
    ],
    ids=["share", "of a class", "of any design", "of weights", "of each class", "without axes", "in a domain"],
)
def test_a_statistic_shows_its_value(statistic: Any, shown: str) -> None:
    assert str(statistic) == repr(statistic) == shown
    html = statistic._repr_html_()
    assert html.startswith("<pre>")
    assert shown.splitlines()[-1] in html


def test_many_values_are_shown_in_part() -> None:
    lines = str(strat.roc(TRUTH, [0.1, 0.8, 0.4, 0.3], thresholds=np.linspace(0, 1, 40))).splitlines()
    assert lines[0] == "ROC, 80 values (4 rows, no design: see strat.estimate; positive class: 1)"
    assert lines[-1] == "… 70 more"
    assert len(lines) == 13


def test_a_value_that_does_not_exist_is_explained_and_does_not_break_a_session() -> None:
    nowhere = strat.threshold_at([0, 0, 0, 1], [1, 2, 9, 3], at=0.1)
    assert str(nowhere).startswith("threshold at fpr 0.1 has no value (4 rows")
    assert "`at` must be at least" in str(nowhere)


def test_one_value_is_a_number_and_several_are_refused() -> None:
    assert float(strat.accuracy(TRUTH, GUESS)) == 0.75
    with pytest.raises(StratError, match=r"^`recall` must have one value to be a number, got 2; take .value\(\)\.$"):
        float(strat.recall(TRUTH, GUESS, average=None))

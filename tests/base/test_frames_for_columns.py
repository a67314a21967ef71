"""What takes a dictionary of columns takes a frame of pandas, Polars or PyArrow as well, with the same answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import strat
from strat import comparison
from strat.base.errors import StratError
from strat.comparison.advice import run_test

Y = [1.0, 3.0, 4.0, 8.0, 2.0, 7.0]
COLUMNS: dict[str, Any] = {"a": [0, 1, 2, 3, 0, 2], "b": [1.0, 0.5, 0.0, 2.0, 1.5, 1.0]}
HALVES = [0, 1, 0, 1, 1, 0]
LEFT, RIGHT, WINNER = ["x"] * 6, ["y"] * 6, ["left", "right", "left", "right", "tie", "left"]
TAKERS: dict[str, Callable[[Any], Any]] = {
    "linear": lambda x: strat.linear_regression(Y, x).value(),
    "logistic": lambda x: strat.logistic_regression(HALVES, x).value(),
    "ordinal": lambda x: strat.ordinal_logit(HALVES, x).value(),
    "votes": lambda x: strat.bradley_terry(LEFT, RIGHT, WINNER, covariates=x).value(),
    "stages": lambda x: strat.Design.staged(x).unit,
    "crossed": lambda x: strat.estimate(strat.mean(Y), on=strat.Design.crossed(x)).se,
    "systems": lambda x: comparison.many(x, on=strat.Design.simple_random(n=6), higher_is_better=True).values,
    "test": lambda x: run_test("sign", x).pvalue,
}


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "Polars", "PyArrow"])
@pytest.mark.parametrize("taker", TAKERS.values(), ids=list(TAKERS))
def test_a_frame_is_the_dictionary_of_its_columns(library: Any, taker: Callable[[Any], Any]) -> None:
    np.testing.assert_array_equal(taker(library(COLUMNS)), taker(COLUMNS))


def test_coefficients_are_named_after_the_columns() -> None:
    line = strat.linear_regression(Y, pd.DataFrame(COLUMNS))
    assert line.axes[0].labels == ("intercept", "a", "b")


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (np.zeros((6, 2)), r"`x` must be a dictionary of columns or a data frame, got an array of shape \(6, 2\)\."),
        (pl.LazyFrame(COLUMNS), r"`x` must be a dictionary of columns or a data frame, got .*; \.collect\(\) it\."),
        (pd.DataFrame([[1, 2]] * 6, columns=["a", "a"]), "`x` must name each column once, got a frame with repeated"),
        (pd.DataFrame({"stype": list("EHMEHM")}), r"`x\['stype'\]` must be numbers, got 'E'"),
        (pd.DataFrame(COLUMNS).iloc[:5], r"`x\['a'\]` must have as many rows as `y`"),
        (pd.DataFrame({"a": [1.0, None, 2.0, 3.0, 4.0, 5.0]}), r"`x\['a'\]` must be finite, got nan in row 1"),
    ],
    ids=["array", "lazy", "repeated", "text", "rows", "missing"],
)
def test_what_is_no_table_of_numbers_is_refused_with_the_column_named(x: Any, message: str) -> None:
    with pytest.raises(StratError, match=message):
        strat.linear_regression(Y, x)

"""Labels of mixed types are refused, in every form that a column may have: 1 and True must not become one label."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from strat import Design
from strat.base.errors import StratError
from strat.base.validate.columns import distinct_rows, encode

MIXED: dict[str, Any] = {
    "a list": [1, True],
    "a list, the other way round": [False, 0, 2],
    "a tuple": (0, False),
    "a list with a fraction": [0.5, True],
    "a list of NumPy's scalars": [np.True_, np.int64(1)],
    "an array of objects": np.array([1, True], object),
    "a column of objects": pd.Series([1, True], dtype=object),
}
TRUTHS: dict[str, Any] = {
    "a list": [True, False, True],
    "an array": np.array([True, False, True]),
    "a list of NumPy's": [np.True_, False, np.True_],
    "an array of objects": np.array([True, False, True], object),
    "a column": pd.Series([True, False, True]),
    "a column of objects": pd.Series([True, False, True], dtype=object),
    "a column that may lack some": pd.array([True, False, True], dtype="boolean"),
}


@pytest.mark.parametrize("labels", MIXED.values(), ids=MIXED)
def test_numbers_and_truth_values_do_not_become_one_label(labels: Any) -> None:
    with pytest.raises(StratError, match=r"`truth` must have labels of one type, got .*; make them all numbers, or"):
        encode("truth", labels)


@pytest.mark.parametrize("labels", TRUTHS.values(), ids=TRUTHS)
def test_truth_values_are_labels_in_every_form(labels: Any) -> None:
    codes, distinct = encode("truth", labels)
    assert codes.tolist() == [1, 0, 1]
    assert distinct.tolist() == [False, True]


def test_numbers_of_several_types_are_one_type() -> None:
    codes, distinct = encode("truth", [1, 2.0, np.int8(1)])
    assert codes.tolist() == [0, 1, 0]
    assert distinct.tolist() == [1.0, 2.0]


def test_the_way_out_of_text_among_numbers_is_text() -> None:
    with pytest.raises(StratError, match=r"`strata` must have labels of one type, got .*; make them all text\."):
        Design.stratified(strata=["a", 1, "b", True])


def test_distinct_rows_are_numpys() -> None:
    rng = np.random.default_rng(1)
    for table in (rng.integers(-2, 3, (60, 3)), rng.normal(size=(20, 2)).round(0), np.array([[5.0]])):
        lines, codes = distinct_rows(table)
        expected, inverse = np.unique(table, axis=0, return_inverse=True)
        np.testing.assert_array_equal(lines, expected)
        np.testing.assert_array_equal(codes, inverse.reshape(-1))

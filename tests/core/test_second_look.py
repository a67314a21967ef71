"""Cases found by a second pair of eyes: each failed once."""

from __future__ import annotations

import numpy as np
import pytest

import strat
from strat.columns import encode


def test_given_factors_stay_with_their_rows() -> None:
    """Factors from elsewhere belong to rows as they stand, also where units have no names."""
    y = np.array([0.3, 0.8, 0.1, -1.2, 0.9, 0.4])
    factors = np.array([[2, 0, 2, 0, 2, 0], [0, 2, 0, 2, 2, 0], [1.5, 0.5, 1, 1, 0, 2]])
    for order in (np.arange(6), np.array([5, 2, 0, 1, 4, 3])):
        design = strat.Design.stratified(strata=np.array([1, 1, 2, 2, 3, 3])[order])
        made = strat.estimate(strat.total(y[order]), on=strat.given(design, factors[:, order], scale=1 / 3))
        assert made.se == pytest.approx(np.sqrt(((factors @ y - y.sum()) ** 2).sum() / 3), rel=1e-12)


def test_small_integer_labels_do_not_wrap_around() -> None:
    """Labels of one byte that lie far apart stay apart, and large unsigned ones are allowed."""
    codes, labels = encode("units", np.array([-100, -56, 100, 127], np.int8))
    assert codes.tolist() == [0, 1, 2, 3]
    assert labels.tolist() == [-100, -56, 100, 127]
    assert encode("units", np.array([2**63 + 7, 2**63 + 5], np.uint64))[1].tolist() == [2**63 + 5, 2**63 + 7]


@pytest.mark.parametrize("dtype", ["string", "boolean", "Int64", "category"])
def test_missing_labels_of_pandas_are_said(dtype: str) -> None:
    """pandas' NA has no truth value, and is a missing label all the same."""
    pandas = pytest.importorskip("pandas")
    values = {"string": ["a", None], "category": ["a", None]}.get(dtype, [1, None])
    with pytest.raises(strat.StratError, match="missing label in row 1"):
        strat.Design.clustered(units=pandas.Series(values, dtype=dtype))

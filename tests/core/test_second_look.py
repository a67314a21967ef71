"""Cases found by a second pair of eyes: each failed once."""

from __future__ import annotations

import numpy as np
import pytest

import strat


def test_given_factors_stay_with_their_rows() -> None:
    """Factors from elsewhere belong to rows as they stand, also where units have no names."""
    y = np.array([0.3, 0.8, 0.1, -1.2, 0.9, 0.4])
    factors = np.array([[2, 0, 2, 0, 2, 0], [0, 2, 0, 2, 2, 0], [1.5, 0.5, 1, 1, 0, 2]])
    for order in (np.arange(6), np.array([5, 2, 0, 1, 4, 3])):
        design = strat.Design.stratified(strata=np.array([1, 1, 2, 2, 3, 3])[order])
        made = strat.estimate(strat.total(y[order]), on=strat.given(design, factors[:, order], scale=1 / 3))
        assert made.se == pytest.approx(np.sqrt(((factors @ y - y.sum()) ** 2).sum() / 3), rel=1e-12)

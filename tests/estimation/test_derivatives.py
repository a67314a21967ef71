"""Derivatives that are found numerically: exact for polynomials to degree four, along any direction, in batches too."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strat.base.limits import changed
from strat.estimation import linear


@given(st.lists(st.floats(-3, 3), min_size=5, max_size=5), st.floats(-2, 2), st.floats(0.01, 1))
def test_the_rule_of_five_points_is_exact_to_degree_four(factors: list[float], at: float, step: float) -> None:
    polynomial = np.polynomial.Polynomial(factors)
    slope = linear.derivatives(lambda x: polynomial(x[:, 0]), np.array([at]), np.ones((1, 1)), np.array([step]))
    assert slope == pytest.approx(np.array([[polynomial.deriv()(at)]]), abs=1e-9)


def test_each_direction_has_a_step_and_each_output_a_column() -> None:
    """f(x, y) = (x³, x y²) at (2, 3): its derivatives by x are 12 and 9, by y 0 and 12."""
    at, directions, steps = (
        np.array([2.0, 3.0]),
        np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 1.0]]),
        np.array([0.1, 1, 0.5]),
    )

    def function(x: np.ndarray) -> np.ndarray:
        return np.stack([x[..., 0] ** 3, x[..., 0] * x[..., 1] ** 2], axis=-1)

    expected = [[12, 9], [0, 12], [24, 30]]
    np.testing.assert_allclose(linear.derivatives(function, at, directions, steps), expected, atol=1e-10)
    with changed(differentiated_numbers=1):  # one direction at a time
        np.testing.assert_allclose(linear.derivatives(function, at, directions, steps), expected, atol=1e-10)

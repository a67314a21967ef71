"""Difference schemes: differences of columns are uniform, arrays have strength 2, and runs are as few as promised."""

from __future__ import annotations

import numpy as np
import pytest

from strat.algebra import field, is_orthogonal, multi_array, orthogonal_array
from strat.algebra.difference_schemes import Size, difference_scheme, least_size
from strat.algebra.multiarrays import is_orthogonal_multi_array
from strat.algebra.orthogonal import exponent
from strat.base.errors import StratError

SCHEMES = [(3, 0, 1), (3, 1, 1), (3, 2, 2), (5, 1, 1), (7, 1, 1), (9, 1, 2), (9, 0, 3), (4, 0, 3), (25, 1, 2)]


@pytest.mark.parametrize(("q", "doublings", "power"), SCHEMES)
def test_differences_of_two_columns_take_every_value_equally_often(q, doublings, power):
    p = {3: 3, 5: 5, 7: 7, 9: 3, 4: 2, 25: 5}[q]
    order = Size(p, doublings, power)
    scheme = difference_scheme(order, q)
    assert scheme.shape == (order.number, order.number)
    f = field(q)
    for a in range(0, order.number, 3):
        for b in range(a):
            counts = np.bincount(f.subtract(scheme[:, a], scheme[:, b]), minlength=q)
            assert (counts == order.number // q).all()


@pytest.mark.parametrize(
    ("q", "columns", "runs"),
    [
        (3, 7, 18),
        (3, 25, 54),
        (3, 43, 108),
        (3, 79, 162),
        (3, 256, 648),
        (4, 9, 32),
        (5, 11, 50),
        (7, 15, 98),
        (9, 19, 162),
    ],
)
def test_arrays_have_strength_two_and_the_promised_runs(q, columns, runs):
    array = orthogonal_array(q, columns)
    assert (array.runs, array.columns) == (runs, columns)
    assert is_orthogonal(array)
    assert "difference scheme" in array.construction


@pytest.mark.parametrize("q", [3, 4, 5, 7, 8, 9])
def test_never_more_runs_than_a_rotation_and_never_fewer_than_raos_bound(q):
    for columns in range(1, 60):
        runs = least_size(q, columns).number
        assert 1 + columns * (q - 1) <= runs <= q ** exponent(q, columns)


def test_a_construction_can_be_asked_for():
    assert orthogonal_array(3, 7, construction="rotation").runs == 27
    with pytest.raises(
        StratError, match="`levels` must be more than 2 for the construction 'difference scheme', got 2"
    ):
        orthogonal_array(2, 7, construction="difference scheme")


def test_multi_arrays_use_them():
    array = multi_array([2] + [3] * 7)
    assert array.runs == 36
    assert is_orthogonal_multi_array(array)

"""T-sequences and Williamson matrices: their laws, and the Hadamard orders below 1000 that they and others complete."""

from __future__ import annotations

import numpy as np
import pytest

from strat.algebra import hadamard
from strat.algebra.hadamard import construction
from strat.algebra.t_matrices import T_LENGTHS, TURYN_TYPE, circulant, t_sequences, turyn_type, williamson
from strat.base.errors import StratError

COMPLETED = (412, 428, 604, 732, 756, 764, 852, 856, 876, 940, 956, 980, 996)


def lagged(x, lag):
    x = x.astype(int)
    return int(x[lag:] @ x[: len(x) - lag]) if lag < len(x) else 0


@pytest.mark.parametrize("n", TURYN_TYPE)
def test_turyn_type_sequences_cancel(n):
    x, y, z, w = turyn_type(n)
    assert all(lagged(x, s) + lagged(y, s) + 2 * lagged(z, s) + 2 * lagged(w, s) == 0 for s in range(1, n))


@pytest.mark.parametrize("t", T_LENGTHS)
def test_t_sequences_are_disjoint_and_cancel(t):
    four = np.array(t_sequences(t), dtype=int)
    assert (np.abs(four).sum(axis=0) == 1).all()
    assert all(sum(lagged(x, s) for x in four) == 0 for s in range(1, t))


@pytest.mark.parametrize("w", [1, 3, 5, 7, 9, 13, 41, 49, 61, 63])
def test_williamson_matrices_are_symmetric_and_their_squares_add_up(w):
    four = [circulant(x).astype(int) for x in williamson(w)]
    assert all((m == m.T).all() and set(np.unique(m)) <= {-1, 1} for m in four)
    assert (sum(m @ m for m in four) == 4 * w * np.eye(w, dtype=int)).all()


@pytest.mark.parametrize("n", COMPLETED)
def test_every_known_order_below_1000_is_built(n):
    h = hadamard(n).astype(float)
    assert set(np.unique(h)) == {-1.0, 1.0}
    assert (h @ h.T == n * np.eye(n)).all()


def test_the_construction_says_what_it_used():
    assert construction(428) == "T-matrices of order 107 with Williamson matrices of order 1"
    assert construction(876) == "Goethals-Seidel array of four circulants of order 219"


@pytest.mark.parametrize("n", [668, 716, 892])
def test_orders_that_nobody_knows_are_refused(n):
    with pytest.raises(StratError, match=f"got {n}; the nearest are {n - 4} and {n + 4}"):
        hadamard(n)

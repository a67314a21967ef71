"""The fast sums equal the dense products that they replace."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given
from hypothesis import strategies as st

from strat.algebra import circular_level_sums, hadamard, m_sequence, sylvester_rows, walsh_hadamard
from strat.base.errors import StratError


@given(st.integers(0, 11), st.sampled_from([(), (1,), (3,), (2, 3), (300,)]), st.integers(0, 2**32 - 1))
def test_the_fast_transform_is_the_dense_product(bits, trailing, seed):
    x = np.random.default_rng(seed).normal(size=(2**bits, *trailing))
    before = x.copy()
    dense = np.tensordot(scipy.linalg.hadamard(2**bits), x, axes=1)
    np.testing.assert_allclose(walsh_hadamard(x), dense, atol=1e-11)
    assert (x == before).all()


def test_it_is_exact_on_whole_numbers_and_its_own_inverse():
    x = np.random.default_rng(0).integers(-1000, 1000, (2**15, 2))
    assert (walsh_hadamard(walsh_hadamard(x)) == x * 2**15).all()


def test_strided_and_empty_input():
    x = np.arange(64.0).reshape(8, 8)
    np.testing.assert_array_equal(walsh_hadamard(x.T), scipy.linalg.hadamard(8) @ x.T)
    assert walsh_hadamard(np.empty((4, 0))).shape == (4, 0)


def test_rows_of_sylvesters_matrix():
    assert (sylvester_rows(3, 100, np.arange(300)) == scipy.linalg.hadamard(512)[3:100, :300]).all()
    assert (sylvester_rows(0, 64, np.arange(64)) == hadamard(64)).all()
    rows, columns = range(2**19, 2**19 + 3), range(2**20 - 5, 2**20)
    expected = [[(-1) ** (a & j).bit_count() for j in columns] for a in rows]
    assert sylvester_rows(rows.start, rows.stop, list(columns)).tolist() == expected


def direct(sequence, values):
    n = len(sequence)
    rows = [sum(values[h, sequence[(a + h) % n]] for h in range(len(values))) for a in range(n)]
    return np.array([*rows, values[:, 0].sum(axis=0)])


@pytest.mark.parametrize(
    ("q", "b", "rows"),
    [(2, 1, 1), (2, 5, 31), (2, 5, 7), (3, 1, 2), (3, 3, 13), (3, 3, 26), (4, 3, 21), (5, 2, 6), (7, 2, 8), (9, 2, 10)],
)
def test_circular_sums_of_an_m_sequence(q, b, rows):
    values = np.random.default_rng(q).normal(size=(rows, q, 2))
    sequence = m_sequence(q, b)
    np.testing.assert_allclose(circular_level_sums(sequence, values), direct(sequence, values), atol=1e-12)


@given(st.integers(2, 5), st.integers(1, 40), st.data())
def test_circular_sums_of_any_sequence(levels, length, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    rows = data.draw(st.integers(1, length))
    sequence, values = rng.integers(0, levels, length), rng.normal(size=(rows, levels, 1))
    np.testing.assert_allclose(circular_level_sums(sequence, values), direct(sequence, values), atol=1e-12)


def test_circular_sums_of_a_long_sequence():
    sequence = m_sequence(3, 10)
    values = np.random.default_rng(1).normal(size=(20_000, 3, 1))
    out = circular_level_sums(sequence, values)
    for a in (0, 1, 40_000, len(sequence) - 1):
        picked = sequence[(a + np.arange(20_000)) % len(sequence)]
        assert out[a, 0] == pytest.approx(values[np.arange(20_000), picked, 0].sum(), abs=1e-9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: walsh_hadamard(np.ones(6)), r"`x` must have a power of two as its number of rows, got 6; .* 8\."),
        (lambda: walsh_hadamard(np.ones(0)), r"`x` must have a power of two as its number of rows, got 0"),
        (lambda: sylvester_rows(-1, 2, [0]), r"`start` must not be negative"),
        (lambda: circular_level_sums([0.5], np.ones((1, 2, 1))), r"`sequence` must be a vector of whole numbers"),
        (lambda: circular_level_sums([0, 1], np.ones((1, 2))), r"`values` must have the shape"),
        (lambda: circular_level_sums([0, 1], np.ones((3, 2, 1))), r"`values` must have at most as many rows"),
        (lambda: circular_level_sums([0, 2], np.ones((1, 2, 1))), r"`sequence` must hold symbols 0 to 1, got 2\."),
    ],
)
def test_errors(call, message):
    with pytest.raises(StratError, match=message):
        call()

"""Orthogonal multi-arrays: the three balances, and the textbook variance for unequal strata."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from strat.algebra import is_orthogonal_multi_array, m_sequence, multi_array
from strat.algebra.multiarrays import residue_blocks
from strat.errors import StratError


@given(st.lists(st.sampled_from([2, 3, 4, 5, 6, 7, 9, 10, 11, 12]), min_size=1, max_size=6))
def test_the_three_balances_hold(sizes):
    try:
        array = multi_array(sizes, most=20_000)
    except StratError:
        assume(False)
    assert is_orthogonal_multi_array(array)
    taken = array.choose(0, array.runs)
    starts = np.cumsum([0, *sizes[:-1]])
    assert (np.add.reduceat(taken.astype(int), starts, axis=1) == array.selected).all()


@pytest.mark.parametrize(
    "sizes", [[2, 3], [3, 3, 5, 2, 2], [6, 6, 2], [7, 7, 3], [11, 2, 3], [12, 4, 3], [27, 2], [2] * 9]
)
def test_a_linear_statistic_has_the_textbook_variance(sizes):
    array = multi_array(sizes)
    rng = np.random.default_rng(sum(sizes))
    y, n = rng.normal(size=sum(sizes)), np.repeat(sizes, sizes)
    m = np.repeat(array.selected, sizes)
    factors = 1 + np.sqrt(m / (n - m)) * (array.choose(0, array.runs) * n / m - 1)
    replicates = factors @ y
    brr = ((replicates - y.sum()) ** 2).mean()
    strata = np.split(y, np.cumsum(sizes)[:-1])
    assert brr == pytest.approx(sum(len(s) * s.var(ddof=1) for s in strata), rel=1e-12)
    assert replicates.mean() == pytest.approx(y.sum(), rel=1e-10)


@pytest.mark.parametrize("n", [7, 11, 19, 23, 27, 31])
def test_residues_make_a_symmetric_design(n):
    blocks = residue_blocks(n).astype(int)
    assert (blocks.sum(axis=0) == (n - 1) // 2).all()
    together = blocks.T @ blocks
    assert (together[~np.eye(n, dtype=bool)] == (n - 3) // 4).all()


def test_blocks_of_runs_are_parts_of_the_whole():
    array = multi_array([2, 6, 7, 9])
    whole = array.choose(0, array.runs)
    assert (np.vstack([array.choose(0, 10), array.choose(10, array.runs)]) == whole).all()


def test_many_strata_of_two_use_a_sequence_instead_of_a_matrix():
    array = multi_array([2] * 5000)
    assert array.runs == 8192
    assert array.choose(8190, 8192).sum() == 2 * 5000


def test_powers_of_one_prime_share_an_array_where_that_is_shorter():
    apart, joint = multi_array([2, 4]), multi_array([2, 2, 2, 4, 4, 8])
    assert apart.runs == 8
    assert joint.runs == 8**2
    assert is_orthogonal_multi_array(joint)
    many = multi_array([2] * 10 + [4] * 10 + [3, 9, 12])
    assert many.runs == 4**3 * 3**2 * 9  # 21 columns of four levels joined, 3 and 9 apart
    assert is_orthogonal_multi_array(many)


def test_a_large_prime_takes_single_units():
    array = multi_array([10_007])
    assert array.selected == (1,)
    assert array.choose(0, 3).nonzero()[1].tolist() == m_sequence(10_007, 1)[:3].tolist()


def test_broken_balances_are_noticed():
    taken = multi_array([2, 3, 3]).choose(0, 18).astype(int)
    sizes = [2, 3, 3]
    assert is_orthogonal_multi_array(taken, sizes)
    assert not is_orthogonal_multi_array(taken[1:], sizes)
    assert not is_orthogonal_multi_array(np.zeros_like(taken), sizes)
    # all pairs but one within a stratum of three
    pairs = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 0, 0], [0, 0, 1, 1]])
    assert not is_orthogonal_multi_array(pairs, [4])
    assert is_orthogonal_multi_array(np.eye(4), [4])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: multi_array([]), r"`sizes` must have at least one stratum, got none\."),
        (lambda: multi_array([2, 1]), r"`sizes` must be a whole number of at least 2, got 1\."),
        (
            lambda: multi_array([211, 223, 227]),
            r"`sizes` must not need more than 2,000,000 runs, got 10,681,031 \(3 strata of",
        ),
        (lambda: multi_array([2, 3]).choose(0, 7), r"`stop` must be at most the number of runs 6, got 0 to 7\."),
        (lambda: is_orthogonal_multi_array(np.eye(3), [2]), r"`sizes` must add up to the number of units"),
        (lambda: is_orthogonal_multi_array(2 * np.eye(3), [3]), r"`chosen` must hold 0 and 1 only"),
    ],
)
def test_errors(call, message):
    with pytest.raises(StratError, match=message):
        call()

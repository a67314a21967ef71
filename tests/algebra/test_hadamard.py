"""Hadamard matrices: H'H = nI for every order that is said to be reached, and the least order is the least."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from strat.algebra import hadamard, hadamard_columns, hadamard_order, is_fully_balanced, is_orthogonal
from strat.algebra.hadamard import (
    ORBIT_UNIONS,
    construction,
    goethals_seidel,
    is_reachable,
    miyamoto,
    orbit_signs,
)
from strat.base.errors import StratError

REACHED = [n for n in range(1, 261) if is_reachable(n)]


@pytest.mark.parametrize("n", REACHED)
def test_columns_are_orthogonal_and_the_first_is_constant(n):
    h = hadamard(n).astype(int)
    assert set(np.unique(h)) <= {-1, 1}
    assert (h.T @ h == n * np.eye(n, dtype=int)).all()
    assert (h[:, 0] == 1).all()


@pytest.mark.parametrize(
    ("n", "how"),
    [
        (64, "Sylvester"),
        (28, r"Paley I over GF\(27\)"),
        (52, r"Paley II over GF\(25\)"),
        (40, "Kronecker product"),
        (92, "Goethals-Seidel array of four circulants of order 23"),
        (116, r"Miyamoto over GF\(29\)"),
    ],
)
def test_each_construction_is_used(n, how):
    assert re.match(how, construction(n) or "")


@pytest.mark.parametrize("q", [5, 9, 13, 81, 149])
def test_miyamotos_matrices(q):
    h = miyamoto(q).astype(float)
    assert (h @ h.T == 4 * q * np.eye(4 * q)).all()


@pytest.mark.parametrize("v", sorted(ORBIT_UNIONS))
def test_the_four_sequences_of_each_order_cancel(v):
    spectra = sum(np.abs(np.fft.fft(x.astype(float))) ** 2 for x in orbit_signs(v))
    np.testing.assert_allclose(spectra, 4 * v, rtol=1e-12)
    h = goethals_seidel(*orbit_signs(v)).astype(float)
    assert (h @ h.T == 4 * v * np.eye(4 * v)).all()


def test_the_orders_below_1000_that_are_not_reached_are_those_in_the_docs():
    page = Path(__file__).parents[2] / "docs" / "howto" / "arrays.md"
    named = re.search(r"below 1000 are not reached: ([\d,\s]+(?:and \d+)?)", page.read_text(encoding="utf-8"))
    assert named
    listed = [int(n) for n in re.findall(r"\d+", named.group(1))]
    assert listed == [n for n in range(4, 1000, 4) if not is_reachable(n)]


def test_no_order_beyond_two_that_is_not_a_multiple_of_four():
    assert all(n in (1, 2) or n % 4 == 0 for n in REACHED)


@pytest.mark.parametrize("columns", [*range(1, 130), 483, 1023, 1024])
def test_the_order_is_the_least_that_is_reached(columns):
    k = hadamard_order(columns)
    assert k > columns
    assert is_reachable(k)
    assert not any(is_reachable(n) for n in range(columns + 1, k))


def test_paper_case_of_483_strata_needs_484_replicates_not_512():
    """STRAT 7.2 takes 512 replicates for 483 strata; Paley's construction gives 484."""
    assert hadamard_order(483) == 484


@pytest.mark.parametrize("columns", [1, 3, 7, 11, 36, 100])
def test_the_columns_are_in_full_balance(columns):
    signs = hadamard_columns(columns)
    assert signs.shape == (hadamard_order(columns), columns)
    assert signs.dtype == np.int8
    assert is_fully_balanced(signs)


def test_eight_replicates_for_seven_strata():
    """What STRAT (12) shows; our copy of the array is damaged (ERRATA 5, tests/reproduce/test_sources.py)."""
    signs = hadamard_columns(7)
    assert signs.shape == (8, 7)
    assert is_orthogonal(signs)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: hadamard(6), r"`order` must be 1, 2 or a multiple of 4 .*, got 6; the nearest are 4 and 8\."),
        (lambda: hadamard(0), r"`order` must be a whole number of at least 1, got 0\."),
        (lambda: hadamard(2.5), r"`order` must be a whole number, got 2\.5\."),
        (lambda: hadamard(2**20), r"`order` must be at most 32768 for a dense matrix, got 1048576\."),
        (lambda: hadamard_order(0), r"`columns` must be a whole number of at least 1, got 0\."),
    ],
)
def test_errors(call, message):
    with pytest.raises(StratError, match=message):
        call()

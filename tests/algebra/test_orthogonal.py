"""Orthogonal arrays: strength 2 at the right column limit, the bias beyond it, files that are whole."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from strat.algebra import (
    hadamard,
    is_balanced,
    is_fully_balanced,
    is_orthogonal,
    m_sequence,
    orthogonal_array,
    rao_hamming,
    rotation,
)
from strat.base.errors import StratError

CASES = [(2, 4), (2, 5), (3, 2), (3, 3), (3, 4), (4, 2), (4, 3), (5, 2), (5, 3), (7, 2), (8, 2), (9, 2), (25, 2)]


def pair_counts(symbols, levels):
    """Counts of every ordered pair of symbols for all pairs of columns, straight from the definition."""
    return np.array(
        [
            np.bincount(symbols[:, i].astype(int) * levels + symbols[:, j], minlength=levels**2)
            for i, j in itertools.combinations(range(symbols.shape[1]), 2)
        ]
    )


@pytest.mark.parametrize("make", [rotation, rao_hamming])
@pytest.mark.parametrize(("q", "b"), CASES)
def test_strength_two_up_to_the_column_limit(make, q, b):
    limit = (q**b - 1) // (q - 1)
    array = make(q, limit)
    assert array.symbols.shape == (q**b, limit)
    assert (pair_counts(array.symbols, q) == q ** (b - 2)).all()
    assert is_orthogonal(array)
    assert is_balanced(array)
    assert is_fully_balanced(array)


@pytest.mark.parametrize("make", [rotation, rao_hamming])
@pytest.mark.parametrize(("q", "b"), [(2, 4), (3, 3), (4, 2), (5, 2), (7, 2), (9, 2)])
def test_one_column_more_needs_the_next_power(make, q, b):
    assert make(q, (q**b - 1) // (q - 1) + 1).runs == q ** (b + 1)


@pytest.mark.parametrize("make", [rotation, rao_hamming])
def test_one_column_is_one_run_per_symbol(make):
    array = make(5, 1)
    assert sorted(array.symbols.ravel().tolist()) == [0, 1, 2, 3, 4]
    assert is_orthogonal(array)


@pytest.mark.parametrize("columns", [1, 7, 11, 19, 27, 35, 50])
def test_two_levels_come_from_a_hadamard_matrix(columns):
    array = orthogonal_array(2, columns)
    assert array.runs <= rotation(2, columns).runs
    assert "Hadamard" in array.construction
    assert is_orthogonal(array)


def test_rotations_follow_strat_25():
    array, s = rotation(4, 5), m_sequence(4, 2)
    for j in range(5):
        assert (array.symbols[:-1, j] == np.roll(s, -j)).all()
    assert not array.symbols[-1].any()


def brr_and_textbook(symbols, y):
    """STRAT (10) with one unit per stratum and run, and the textbook variance of the stratified mean."""
    runs, strata = symbols.shape
    n = y.shape[1]
    replicates = y[np.arange(strata), symbols].mean(axis=1)
    brr = ((replicates - y.mean()) ** 2).sum() / (runs * (n - 1))
    return brr, (y.var(axis=1, ddof=1) / n).sum() / strata**2


def test_the_seeds_rule_for_the_number_of_strata_is_biased():
    """ERRATA 1: STRAT 7.3 lets GF(3³) carry 26 strata of three units; it carries 13."""
    s = m_sequence(3, 3)
    columns = np.stack([np.roll(s, -j) for j in range(26)], axis=1)
    array = np.vstack([columns, np.zeros((1, 26), dtype=int)])
    unbalanced = [counts for counts in pair_counts(array, 3) if (counts != 3).any()]
    assert len(unbalanced) == 13
    assert all((counts > 0).sum() == 3 for counts in unbalanced)

    rng = np.random.default_rng(7)
    gaps = []
    for _ in range(20):
        y = rng.normal(size=(26, 3))
        brr, textbook = brr_and_textbook(array, y)
        gaps.append(abs(brr / textbook - 1))
        brr, textbook = brr_and_textbook(array[:, :13], y[:13])
        assert brr == pytest.approx(textbook, rel=1e-12)
    assert min(gaps) > 1e-4
    assert max(gaps) > 0.05
    assert not is_orthogonal(array)
    assert is_orthogonal(array[:, :13])


@pytest.mark.parametrize(("q", "strata"), [(2, 19), (3, 40), (4, 21), (5, 31), (7, 8), (8, 9), (9, 10)])
def test_brr_over_an_orthogonal_array_is_the_textbook_variance(q, strata):
    y = np.random.default_rng(q).normal(size=(strata, q)) ** 3
    brr, textbook = brr_and_textbook(orthogonal_array(q, strata).symbols, y)
    assert brr == pytest.approx(textbook, rel=1e-12)


def test_a_definition_of_zero_or_the_same_number_is_too_weak():
    """ERRATA 2: each pair zero times or three times is no orthogonal array."""
    column = np.repeat([0, 1, 2], 3)
    assert not is_orthogonal(np.stack([column, column], axis=1))
    assert not is_balanced(np.stack([column, column], axis=1))


def test_a_constant_column_is_balanced_but_not_fully():
    h = hadamard(8)
    assert is_balanced(h)
    assert not is_fully_balanced(h)
    assert not is_orthogonal(h)
    assert is_orthogonal(h[:, 1:])


def test_every_flip_of_one_symbol_is_noticed():
    symbols = rotation(3, 4).symbols.copy()
    for i, j in np.ndindex(symbols.shape):
        broken = symbols.copy()
        broken[i, j] = (broken[i, j] + 1) % 3
        assert not is_orthogonal(broken)


def test_checks_take_whole_floats_and_a_constant_array():
    assert is_orthogonal(hadamard(4)[:, 1:].astype(float))
    assert not is_orthogonal(np.ones((4, 2), dtype=int))


def test_files_round_trip_and_leave_nothing_behind(tmp_path):
    array = orthogonal_array(3, 5)
    array.to_csv(tmp_path / "a.csv")
    array.save(tmp_path / "a.npy")
    assert (np.loadtxt(tmp_path / "a.csv", delimiter=",", dtype=int) == array.symbols).all()
    assert (np.load(tmp_path / "a.npy") == array.symbols).all()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.csv", "a.npy"]


def test_a_failed_write_keeps_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "a.npy"
    path.write_text("old")

    def fail(*_):
        raise OSError("full")

    monkeypatch.setattr(np, "save", fail)
    with pytest.raises(StratError, match=r"a\.npy` can't be written: full"):
        orthogonal_array(3, 5).save(path)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.npy"]


def test_it_is_read_only_and_says_what_it_is():
    array = orthogonal_array(2, 7)
    assert str(array) == "orthogonal array of strength 2: 8 runs × 7 columns, 2 levels (Hadamard matrix, Sylvester)"
    with pytest.raises(ValueError, match="read-only"):
        array.symbols[0, 0] = 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: orthogonal_array(6, 3), r"`levels` must be a prime power, got 6; the next one is 7\."),
        (lambda: orthogonal_array(3, 0), r"`columns` must be a whole number of at least 1, got 0\."),
        (lambda: orthogonal_array(3, 2.0), r"`columns` must be a whole number, got 2\.0\."),
        (lambda: orthogonal_array(3, 100_000), r"`columns` must keep the array below .* got 100,000 columns"),
        (lambda: orthogonal_array(3, 4, construction="hadamard"), r"`levels` must be 2 for the construction"),
        (lambda: orthogonal_array(3, 4, construction="magic"), r"`construction` must be one of 'rotation'"),
        (lambda: orthogonal_array(3, 4).save("/no/such/folder/a.npy"), r"can't be written: there is no folder"),
        (lambda: is_orthogonal([1, 2, 3]), r"`array` must have runs and columns, got shape \(3,\)\."),
        (lambda: is_orthogonal([[0.5, 1.0]]), r"`array` must hold whole numbers"),
    ],
)
def test_errors(call, message):
    with pytest.raises(StratError, match=message):
        call()

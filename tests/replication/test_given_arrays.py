"""BRR over an array from elsewhere: the textbook variance where it is balanced, and what it loses where it is not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import hadamard

import strat
from strat.algebra import m_sequence, orthogonal_array


def paired(strata, units):
    return strat.Design.stratified(strata=np.repeat(np.arange(strata), units))


@pytest.mark.parametrize(("units", "strata"), [(2, 7), (3, 13), (4, 5), (5, 6), (9, 10)])
def test_an_array_of_strength_two_gives_the_textbook_variance(units, strata):
    design, y = paired(strata, units), strat.mean(np.random.default_rng(units).normal(size=units * strata))
    textbook = strat.estimate(y, on=design).se
    built = orthogonal_array(units, strata, construction="rao-hamming")
    for array in (built, built.symbols, (3 + 2 * built.symbols).tolist()):  # symbols of any name
        replicates = strat.brr(design, array=array)
        assert (replicates.number, replicates.df) == (built.runs, design.df)
        assert strat.estimate(y, on=replicates).se == pytest.approx(textbook, rel=1e-12)
        assert strat.estimate(y, on=strat.fay(design, rho=0.3, array=array)).se == pytest.approx(textbook, rel=1e-12)
    wide = strat.brr(paired(strata - 2, units), array=built)  # fewer strata use the first columns
    np.testing.assert_array_equal(wide.factors(), strat.brr(design, array=built).factors()[:, : units * (strata - 2)])


def test_plus_takes_the_first_unit_as_strat_12_says():
    signs = hadamard(8)[:, 1:]
    factors = strat.brr(paired(7, 2), array=signs).factors()
    np.testing.assert_array_equal(factors[:, ::2], 1 + signs)
    np.testing.assert_array_equal(factors[:, 1::2], 1 - signs)
    symbols = orthogonal_array(3, 4).symbols
    chosen = strat.brr(paired(4, 3), array=symbols).factors().reshape(9, 4, 3).argmax(axis=2)
    np.testing.assert_array_equal(chosen, symbols)


@pytest.mark.parametrize("units", [2, 3, 5])
def test_rows_are_taken_as_they_stand(units):
    """STRAT (10) by hand, over an array that no order of the units leaves alone, for rows without names."""
    rng = np.random.default_rng(units)
    codes = rng.integers(0, units, (40, 6))
    y = rng.normal(size=6 * units)
    chosen = y.reshape(6, units)[np.arange(6), codes].mean(axis=1)
    by_hand = ((chosen - y.mean()) ** 2).sum() / (40 * (units - 1))
    one = strat.estimate(strat.mean(y), on=strat.brr(paired(6, units), array=-codes if units == 2 else codes))
    np.testing.assert_allclose(one.replicates, chosen, rtol=1e-12)
    assert one.se**2 == pytest.approx(by_hand, rel=1e-12)


def test_a_constant_column_leaves_the_variance_of_two_units_and_is_named():
    design, y = paired(8, 2), strat.mean(np.arange(16.0) ** 2)
    replicates = strat.brr(design, array=hadamard(8))
    assert strat.estimate(y, on=replicates).se == pytest.approx(strat.estimate(y, on=design).se, rel=1e-12)
    assert "does not take every unit equally often, 8 degrees of freedom" in str(replicates)


def unbalanced():
    """The 26 columns of STRAT B.3 for strata of three: multiples of 13."""
    sequence = m_sequence(3, 3)
    return np.stack([np.append(np.roll(sequence, -j), 0) for j in range(26)], axis=1)


@pytest.mark.parametrize(
    ("units", "array", "df"), [(3, unbalanced(), 26.0), (2, np.repeat(hadamard(8)[:, 1:], 3, axis=1), 7.0)]
)
def test_what_an_unbalanced_array_loses_is_what_its_variance_varies_more(units, array, df):
    """Satterthwaite: twice the squared mean over the variance of the variance, over 20,000 normal samples."""
    strata = array.shape[1]
    replicates = strat.brr(paired(strata, units), array=array)
    assert replicates.df == pytest.approx(df)
    assert f"is not balanced ({df:g} degrees of freedom instead of {strata * (units - 1)})" in str(replicates)
    y = np.random.default_rng(4).normal(size=(20_000, strata * units))
    moved = y @ replicates.factors().T - y.sum(axis=1, keepdims=True)
    variance = replicates.scales * (moved**2).sum(axis=1)
    textbook = units * y.reshape(-1, strata, units).var(axis=2, ddof=1).sum(axis=1)
    assert variance.mean() == pytest.approx(textbook.mean(), rel=0.02)  # unbiased over the order of the units
    assert 2 * variance.mean() ** 2 / variance.var() == pytest.approx(df, rel=0.06)


@pytest.mark.parametrize(
    ("array", "got"),
    [
        (np.ones((4, 7)), "4 runs, 7 columns and 1 symbol"),
        (hadamard(8)[:, :5], "8 runs, 5 columns and 2 symbols"),
        (orthogonal_array(3, 13), "27 runs, 13 columns and 3 symbols"),
        ([[1, -1, 1, -1, 1, -1, 1]], "1 run, 7 columns and 2 symbols"),
    ],
)
def test_an_array_that_does_not_fit_is_refused_with_its_shape(array, got):
    with pytest.raises(strat.StratError, match=f"`array` must have .* the 7 strata and 2 symbols .* got {got}"):
        strat.brr(paired(7, 2), array=array)


def test_symbols_must_be_whole_numbers():
    with pytest.raises(strat.StratError, match="must hold whole numbers"):
        strat.brr(paired(2, 2), array=[[0.5, 1], [1, 0.5]])

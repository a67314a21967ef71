"""The road to an estimate: threads, stacked values, measures of ones, weights that round."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import strat


def test_threads_keep_their_notes_to_themselves() -> None:
    """In threads, 104 of 200 results lost their warning, and 65 of 200 clean ones carried another data set's."""
    clean = {"t": [0, 1, 2] * 20, "p": [0, 1, 2, 1, 2, 0] * 10}
    noted = {"t": [0, 1, 2] * 20, "p": [0, 1, 1] * 20}

    def notes(data: dict[str, list[int]]) -> bool:
        found = strat.evaluate(data, truth="t", predicted="p", metrics="macro_precision")
        return any("is never predicted" in note for note in found.notes)

    with ThreadPoolExecutor(8) as pool:
        heard = list(pool.map(notes, [clean, noted] * 60))
    assert heard == [False, True] * 60


def test_stacked_values_keep_their_own_degrees_of_freedom() -> None:
    """Stacked domains all got the fewest degrees of freedom: 59 and 5 became 5 and 5."""
    group = np.repeat(["big", "small"], [60, 6])
    y = (np.random.default_rng(0).random(66) < 0.7).astype(float)
    design = strat.Design.stratified(strata=group)
    parts = {label: strat.domain(strat.mean(y), group == label) for label in ("big", "small")}
    both = strat.estimate(strat.stack("g", **parts), on=design)
    assert both.df.tolist() == [59, 5]
    alone = strat.estimate(parts["big"], on=design)
    np.testing.assert_allclose((both.at("big").df, *both.at("big").interval()), (alone.df, *alone.interval()))
    gap = both.map(lambda v: v[..., 0] - v[..., 1])
    assert gap.df == 5
    assert both.map(lambda v: v[..., ::-1]).df.tolist() == [5, 59]


def test_a_measure_of_ones_is_no_certainty() -> None:
    """The mean of twenty ones was "1.0000 to 1.0000" without a word."""
    found = strat.estimate(strat.mean([1.0] * 20), on=strat.Design.simple_random(n=20))
    assert [note.code for note in found.notes] == ["no-variation"]
    whole = strat.estimate(strat.mean([1.0] * 20), on=strat.Design.simple_random(n=20, population=20))
    assert not whole.notes


def test_a_measure_that_counts_rows_gets_the_rows() -> None:
    """A variance in `evaluate` divided by the number of distinct rows less one, not by the number of rows less one."""
    rng = np.random.default_rng(1)
    data = {"t": rng.integers(0, 3, 200), "p": rng.integers(0, 3, 200)}
    found = strat.evaluate(data, truth="t", predicted="p", metrics=[lambda t, p: strat.variance(t - p)])
    (made,) = found.estimates.values()
    assert np.isclose(made.value, np.var(data["t"] - data["p"], ddof=1))


def test_weights_that_round_do_not_narrow_a_perfect_share():
    """What sums of weights leave of a variance of nothing counted as one, and the limit of 17 units was 0.9992."""
    weights = np.array([2, 1, 2, 4, 4, 4, 3, 4, 1, 1, 1, 2, 3, 1, 3, 3, 3, 1], float)
    units = np.array([0, 1, 2, 3, 4, 5, 6, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16])
    perfect = strat.accuracy(np.ones(18), np.ones(18))
    for scale in (1.0, 0.1, 1 / 3, 1 / 7, 1 / 49):
        design = strat.Design.clustered(units=units, weights=weights * scale)
        low = strat.estimate(perfect, on=design).interval()[0]
        assert low == pytest.approx(0.77, abs=0.1)


def test_a_domain_with_as_many_rows_as_lines_adds_up_its_rows():
    """Two rows in one unit and one line of empty units are two lines: the second row took the place of the first."""
    y, units = np.array([1.0, 6.0, 2.0, 4.0, 3.0, 7.0]), np.array([0, 0, 1, 1, 2, 3])
    design = strat.Design.clustered(units=units)
    inside = np.array([0, 1, 4])
    domain = strat.ratio(np.where(np.isin(range(6), inside), y, 0.0), np.isin(range(6), inside).astype(float))
    alone = strat.estimate(strat.mean(y[inside]), on=design.restricted(inside))
    assert alone.se == pytest.approx(strat.estimate(domain, on=design).se, rel=1e-12)

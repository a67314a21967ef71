"""Differences of paired shares: Tango's score interval, its tests, and their agreement."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import strat
from strat.comparison import many, mcnemar, paired
from strat.comparison.paired_shares import FewUnitsScore, PairedScore, discordance
from strat.measures import stack


def _rows(only_a: int, only_b: int, both: int, neither: int) -> tuple[np.ndarray, np.ndarray]:
    counts = (only_a, only_b, both, neither)
    return np.repeat([1.0, 0.0, 1.0, 0.0], counts), np.repeat([0.0, 1.0, 1.0, 0.0], counts)


@pytest.mark.parametrize("counts", [(12, 2, 43, 43), (1, 0, 3, 46), (0, 0, 27, 23), (0, 5, 20, 25)])
def test_limits_solve_the_score_equation(counts: tuple[int, int, int, int]) -> None:
    """Each limit is the difference at which the constrained likelihood's score is ∓ 1.96, found on a fine grid."""
    n = sum(counts)
    found = PairedScore(*(np.asarray(v, float) for v in (counts[0] / n, counts[1] / n, n)), math.inf)
    for limit, side in zip(found.limits(1.959964), (1, -1), strict=True):
        assert _score_by_likelihood(*counts[:2], n, float(limit)) == pytest.approx(side * 1.959964, abs=2e-3)


def _score_by_likelihood(only_a: int, only_b: int, n: int, null: float) -> float:
    """The score with the nuisance share found by maximizing the multinomial likelihood on a grid."""
    q = np.linspace(max(0.0, -null), (1 - null) / 2, 400_001)[1:-1]  # share on which only B is right
    rest = n - only_a - only_b
    with np.errstate(divide="ignore", invalid="ignore"):
        cells = ((only_a, q + null), (only_b, q), (rest, 1 - 2 * q - null))
        terms = [np.where(k > 0, k * np.log(p), 0.0) for k, p in cells]
    best = float(q[np.nanargmax(np.where(q + null >= 0, sum(terms), -np.inf))])
    return (only_a - only_b - n * null) / math.sqrt(n * (2 * best + null - null**2))


def test_no_difference_is_mcnemars_test() -> None:
    """On independent rows the squared statistic is McNemar's."""
    a, b = _rows(12, 2, 43, 43)
    found = paired(
        strat.proportion(a), strat.proportion(b), on=strat.Design.simple_random(n=100), higher_is_better=True
    )
    score = found.discordance.of_first_two(float(found.difference.variance), found.df)
    assert score.statistic(0.0) ** 2 == pytest.approx(100 / 14)
    corrected = mcnemar(np.ones(100), a, b)
    assert corrected.statistic == pytest.approx((12 - 2 - 1) ** 2 / 14)
    assert found.pvalue < corrected.pvalue


@pytest.mark.parametrize("level", [0.8, 0.95, 0.999])
def test_interval_and_tests_agree(level: float) -> None:
    """P at a limit is 1 − level, two-sided; and half of it against the side that the limit excludes."""
    rng = np.random.default_rng(4)
    unit = np.repeat(np.arange(25), 8)
    a, b = (rng.random((2, 200)) < [[0.95], [0.9]]).astype(float)
    found = paired(
        strat.proportion(a), strat.proportion(b), on=strat.Design.clustered(units=unit), higher_is_better=True
    )
    low, high = found.interval(level)
    score = found.discordance.of_first_two(float(found.difference.variance), found.df)
    for limit, side in ((low, "greater"), (high, "less")):
        assert score.pvalue(limit) == pytest.approx(1 - level, rel=1e-6)
        assert score.pvalue(limit, side) == pytest.approx((1 - level) / 2, rel=1e-6)
    assert (found.pvalue < 1 - level) == (not low <= 0 <= high)


def test_turning_the_systems_round_turns_the_answer() -> None:
    """The swapped interval has the other sign, and the tests answer for the other candidate."""
    a, b = _rows(6, 1, 80, 13)
    design = strat.Design.simple_random(n=100)
    one = paired(strat.proportion(a), strat.proportion(b), on=design, higher_is_better=True)
    two = paired(strat.proportion(b), strat.proportion(a), on=design, higher_is_better=True, names=("B", "A"))
    assert two.interval() == pytest.approx(tuple(-v for v in one.interval()[::-1]))
    assert two.pvalue == pytest.approx(one.pvalue)
    for name in ("A", "B"):
        ours, theirs = (one_way.noninferiority(0.03, baseline=name) for one_way in (one, two))
        assert ours.pvalue == pytest.approx(theirs.pvalue)


def test_errors_are_judged_as_right_answers_are() -> None:
    """The same rows as error rates, where lower is better: the same non-inferiority."""
    a, b = _rows(6, 1, 80, 13)
    design = strat.Design.simple_random(n=100)
    right = paired(strat.proportion(a), strat.proportion(b), on=design, higher_is_better=True)
    wrong = paired(strat.proportion(1 - a), strat.proportion(1 - b), on=design, higher_is_better=False)
    assert wrong.noninferiority(0.05, baseline="B").pvalue == pytest.approx(
        right.noninferiority(0.05, baseline="B").pvalue
    )


def test_recall_counts_the_rows_of_its_class() -> None:
    """The discordant share is of the positive rows."""
    truth = np.array([1] * 10 + [0] * 30)
    a, b = truth.copy(), truth.copy()
    b[:3] = 0
    a[9] = 0
    both = stack("system", a=strat.recall(truth, a, positive=1), b=strat.recall(truth, b, positive=1))
    found = discordance(both, strat.Design.simple_random(n=40))
    np.testing.assert_allclose(found.alone, [[0, 0.3], [0.1, 0]])


@pytest.mark.parametrize("measure", [strat.precision, strat.f1])
def test_measures_that_are_no_share_of_the_same_rows_keep_t(measure: object) -> None:
    """Precision divides by other rows in each system; F1 is no share."""
    rng = np.random.default_rng(1)
    truth, a, b = (rng.random((3, 80)) < 0.5).astype(int)
    found = paired(measure(truth, a, positive=1), measure(truth, b, positive=1), on=strat.Design.simple_random(n=80))
    assert found.discordance is None
    assert found.interval() == pytest.approx(found.difference.interval())


def test_weights_and_copies_count_as_rows() -> None:
    """A weight of two on every row changes nothing, and the cap is that of the rows."""
    rng = np.random.default_rng(2)
    unit = np.repeat(np.arange(12), 10)
    a, b = (rng.random((2, 120)) < 0.8).astype(float)
    plain = strat.Design.clustered(units=unit)
    twice = strat.Design.clustered(units=unit, weights=np.full(120, 2.0))
    one, two = (paired(strat.proportion(a), strat.proportion(b), on=d, higher_is_better=True) for d in (plain, twice))
    assert one.interval() == pytest.approx(two.interval())
    assert one.discordance.most == pytest.approx(120)


@pytest.mark.slow
@pytest.mark.parametrize(("units", "size"), [(250, 1), (20, 20)])
def test_noninferiority_at_the_margin(units: int, size: int) -> None:
    """A candidate that is worse by just the margin passes in at most 6 % (11.5 % with t), two errors allowed."""
    rng, passed, samples = np.random.default_rng(units), 0, 600
    unit = np.repeat(np.arange(units), size)
    design = strat.Design.clustered(units=unit) if size > 1 else strat.Design.simple_random(n=units)
    for _ in range(samples):
        loses = (rng.random(units) < 0.1)[unit] & (rng.random(len(unit)) < 0.2)
        b = rng.random(len(unit)) < 0.9
        a = b & ~loses
        found = paired(strat.proportion(a * 1.0), strat.proportion(b * 1.0), on=design, higher_is_better=True)
        passed += found.noninferiority(0.018, baseline="B").pvalue <= 0.05
    assert passed / samples <= 0.06 + 2 * math.sqrt(0.06 * 0.94 / samples)


def test_two_of_many_systems_are_a_pair() -> None:
    """The board of two systems has the limits and the p-value of the pair, and any pair of three the same statistic."""
    rng = np.random.default_rng(6)
    unit = np.repeat(np.arange(40), 5)
    right = (rng.random((200, 3)) < [0.95, 0.9, 0.85]).astype(float)
    design = strat.Design.clustered(units=unit)
    pair = paired(*(strat.proportion(side) for side in right.T[:2]), on=design, higher_is_better=True)
    board = many(right[:, :2], on=design, higher_is_better=True)
    assert board.pvalues()[0, 1] == pytest.approx(pair.pvalue)
    assert [float(side[0, 1]) for side in board.intervals()] == pytest.approx(pair.interval())
    three = many(right, on=design, higher_is_better=True)
    assert three.t[0, 1] == pytest.approx(board.t[0, 1])
    np.testing.assert_allclose(three.t, -three.t.T)
    low, high = three.intervals()
    off = ~np.eye(3, dtype=bool)
    np.testing.assert_allclose(low[off], -high.T[off], atol=1e-9)
    np.testing.assert_array_equal(((low > 0) | (high < 0))[off], (three.pvalues() <= 0.05)[off])


# ---- few units


def _units(seed: int, units: int, kept: float = 0.1) -> FewUnitsScore:
    rng = np.random.default_rng(seed)
    rows = rng.integers(5, 40, units)
    plus, minus = rng.binomial(rows, kept), rng.binomial(rows, kept / 2)
    return FewUnitsScore(plus.astype(float), minus.astype(float), rows.astype(float), units - 1.0)


@given(seed=st.integers(0, 2**31 - 1), units=st.integers(4, 28))
def test_limits_in_few_units_are_inverted_by_the_test_and_mirrored(seed: int, units: int) -> None:
    """P at a limit is 1 − level, whichever system is called the first."""
    score = _units(seed, units)
    low, high = (float(v) for v in score.limits(2.0))
    assert -1.0 <= low <= score.value <= high <= 1.0
    for limit in (low, high):
        if abs(limit) < 1.0:
            assert abs(score.statistic(limit)) == pytest.approx(2.0, abs=1e-4)
    mirrored = FewUnitsScore(score.minus, score.plus, score.rows, score.df)
    assert [-float(v) for v in mirrored.limits(2.0)][::-1] == pytest.approx([low, high], abs=1e-9)


def test_units_of_one_row_each_have_tangos_limits() -> None:
    """Where every unit holds one row there is no correlation, and the deviates are those of the score."""
    plus = np.repeat([1.0, 0.0, 0.0], [6, 2, 17])
    minus = np.repeat([0.0, 1.0, 0.0], [6, 2, 17])
    found = FewUnitsScore(plus, minus, np.ones(25), math.inf).limits(1.959964)
    tango = PairedScore(np.asarray(6 / 25), np.asarray(2 / 25), np.asarray(25.0), math.inf).limits(1.959964)
    assert [float(v) for v in found] == pytest.approx([float(v) for v in tango], abs=1e-6)


def _in_units(units: int, size: int, lost: int) -> tuple[np.ndarray, np.ndarray, strat.Design]:
    """Both systems right everywhere, but for `lost` rows of A in the first unit."""
    b = np.ones(units * size)
    a = b.copy()
    a[:lost] = 0.0
    return a, b, strat.Design.clustered(units=np.repeat(np.arange(units), size))


def test_units_that_all_show_the_same_have_the_limits_with_one_more_that_does_not() -> None:
    """Ten units without a difference: at least half a unit in eleven, and no more than a tenth."""
    a, b, design = _in_units(10, 20, 0)
    low, high = paired(strat.proportion(a), strat.proportion(b), on=design, higher_is_better=True).interval()
    assert low == pytest.approx(-high)
    assert 0.5 / 11 < high < 0.1


def test_few_units_that_hardly_differ_are_named_with_the_second_interval() -> None:
    """Below 29 units, and not where one of them is unlike the others, or where there are 29."""

    def noted(units: int, lost: int) -> list[str]:
        a, b, design = _in_units(units, 20, lost)
        truth = np.ones(len(a))
        found = paired(strat.accuracy(truth, a), strat.accuracy(truth, b), on=design, names=("new", "old"))
        return [str(note) for note in found.notes if note.code == "few-units"]

    (text,) = noted(12, 1)
    assert "There are 12 clusters that hardly differ in which system is right" in text
    assert "the 95 % interval of new − old would be -0.0" in text
    assert noted(12, 15) == []
    assert noted(29, 1) == []


def test_strata_weights_and_finite_populations_keep_the_effective_size() -> None:
    a, b, _ = _in_units(12, 10, 4)
    unit = np.repeat(np.arange(12), 10)
    both = stack("system", a=strat.proportion(a), b=strat.proportion(b))
    for design in (
        strat.Design.clustered(units=unit, weights=1.0 + unit % 3),
        strat.Design.clustered(units=unit, population=40),
        strat.Design.stratified(strata=unit % 2, units=unit),
    ):
        assert discordance(both, design).units is None
    assert discordance(both, strat.Design.clustered(units=unit)).units is not None

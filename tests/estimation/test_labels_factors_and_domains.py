"""Labels, factors and domains: rows stay with theirs, small types do not wrap, and what is undefined is said."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import strat
from strat.base.validate.columns import encode


def test_given_factors_stay_with_their_rows() -> None:
    """Factors from elsewhere belong to rows as they stand, also where units have no names."""
    y = np.array([0.3, 0.8, 0.1, -1.2, 0.9, 0.4])
    factors = np.array([[2, 0, 2, 0, 2, 0], [0, 2, 0, 2, 2, 0], [1.5, 0.5, 1, 1, 0, 2]])
    for order in (np.arange(6), np.array([5, 2, 0, 1, 4, 3])):
        design = strat.Design.stratified(strata=np.array([1, 1, 2, 2, 3, 3])[order])
        made = strat.estimate(strat.total(y[order]), on=strat.given(design, factors[:, order], scale=1 / 3))
        assert made.se == pytest.approx(np.sqrt(((factors @ y - y.sum()) ** 2).sum() / 3), rel=1e-12)


def test_small_integer_labels_do_not_wrap_around() -> None:
    """Labels of one byte that lie far apart stay apart, and large unsigned ones are allowed."""
    codes, labels = encode("units", np.array([-100, -56, 100, 127], np.int8))
    assert codes.tolist() == [0, 1, 2, 3]
    assert labels.tolist() == [-100, -56, 100, 127]
    assert encode("units", np.array([2**63 + 7, 2**63 + 5], np.uint64))[1].tolist() == [2**63 + 5, 2**63 + 7]


@pytest.mark.parametrize("dtype", ["string", "boolean", "Int64", "category"])
def test_missing_labels_of_pandas_are_said(dtype: str) -> None:
    """pandas' NA has no truth value, and is a missing label all the same."""
    pandas = pytest.importorskip("pandas")
    values = {"string": ["a", None], "category": ["a", None]}.get(dtype, [1, None])
    with pytest.raises(strat.StratError, match="missing label in row 1"):
        strat.Design.clustered(units=pandas.Series(values, dtype=dtype))


def test_effective_size_of_a_domain_counts_its_rows() -> None:
    """Twenty rows of a hundred independent ones are worth about twenty."""
    y = np.tile([0.0, 1.0], 50)
    made = strat.estimate(strat.domain(strat.mean(y), np.arange(100) < 20), on=strat.Design.simple_random(n=100))
    assert made.rows == 20
    assert made.effective_size == pytest.approx(20, rel=0.06)


def test_scales_of_given_replicates_are_checked() -> None:
    """One scale for each replicate, and none below zero."""
    design, factors = strat.Design.stratified(strata=[1, 1, 2, 2]), [[2, 0, 2, 0], [0, 2, 0, 2]]
    with pytest.raises(strat.StratError, match=r"`scales` must be one for each replicate \(2\), got .*\(3,\)"):
        strat.given(design, factors, scales=[1, 1, 1])
    with pytest.raises(strat.StratError, match="`scale` must not be negative, got -1"):
        strat.given(design, factors, scale=-1)
    with pytest.raises(strat.StratError, match="`scale` must be finite"):
        strat.given(design, factors, scale=np.nan)


def test_a_multi_array_says_which_strata_are_alone() -> None:
    """A lone unit that was sure to be drawn has no place in a multi-array."""
    design = strat.Design.stratified(strata=["a", "a", "b", "b", "c"], lone="certainty")
    with pytest.raises(strat.StratError, match=r"got one in 'c'; use generalized\(design\)"):
        strat.multi_array(design)


def test_a_perfect_score_is_tested_exactly() -> None:
    """Five of five right is no proof against 0.9: twice 0.9^5, as the exact interval says."""
    made = strat.estimate(strat.proportion([1] * 5), on=strat.Design.simple_random(n=5))
    assert made.test(0.9).pvalue == 1.0
    assert made.test(0.3).pvalue == pytest.approx(2 * 0.3**5)
    low, _ = made.interval()
    assert made.test(low).pvalue == pytest.approx(0.05)
    none = strat.estimate(strat.proportion([0] * 8), on=strat.Design.simple_random(n=8))
    assert none.test(0.4).pvalue == pytest.approx(2 * 0.6**8)
    assert none.test(0.4).statistic < -2
    assert none.test(0.0).pvalue == 1.0


@pytest.mark.parametrize("name", ["variance", "correlation"])
def test_derivatives_are_those_of_the_function(name: str) -> None:
    """The gradient written out is the one that differences find."""
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=30) + 7, rng.normal(size=30)
    made = strat.variance(x) if name == "variance" else strat.correlation(x, x + y)
    weights = rng.uniform(0.5, 2.0, 30)
    totals = np.concatenate([weights @ block.values for block in made.rows if block.values is not None])
    assert made.gradient is not None
    step = 1e-5 * np.eye(len(totals))
    found = (made.function(totals + step) - made.function(totals - step)) / 2e-5
    np.testing.assert_allclose(made.gradient(totals), found, rtol=1e-6, atol=1e-9)


def test_a_correlation_of_hardly_weighted_rows_has_a_standard_error() -> None:
    """One row outweighs the others a million million times, which steps of differentiation did not survive."""
    design = strat.Design.stratified(strata=[0, 0, 1, 1], weights=[1e6, 1e-6, 0, 1e-6])
    made = strat.estimate(strat.correlation([1.3, 1.3, 2.7, 0.1], [1, 2, 4, 3]), on=design)
    assert np.isfinite([made.se, *made.interval()]).all()


def test_an_undefined_value_is_said_without_a_warning_before_it() -> None:
    """Warnings are errors here: the sentence must come first."""
    design = strat.Design.stratified(strata=[0, 0, 1, 1], weights=[1, 0, 0, 0])
    with pytest.raises(strat.StratError, match="must be defined on these rows"):
        strat.estimate(strat.correlation([1.3, 1.3, 2.7, 0.1], [1, 2, 4, 3]), on=design)


def test_a_function_without_a_derivative_is_refused() -> None:
    """A closed form next to the end of a function's range has nothing to say, and says so."""
    own = strat.function_of_totals(np.ones((4, 1)), lambda t: np.sqrt(4.0 - t[..., 0]))
    with pytest.raises(strat.StratError, match="must be defined near these weights"):
        strat.estimate(own, on=strat.Design.simple_random(n=4))


def test_a_stack_of_domains_knows_no_more_than_each() -> None:
    """Six rows all right, beside 194 others: the exact limit counts six, stacked or not."""
    y, few = (np.arange(200) < 100).astype(float), np.arange(200) < 6
    design = strat.Design.simple_random(n=200)
    a, b = strat.domain(strat.proportion(y), few), strat.domain(strat.proportion(y), ~few)
    alone, both = strat.estimate(a, on=design), strat.estimate(strat.stack("group", a=a, b=b), on=design)
    assert both.df.tolist() == [alone.df, 193] == [5, 193]
    assert both.interval()[0][0] == pytest.approx(alone.interval()[0])
    assert both.deff[1] == pytest.approx(strat.estimate(b, on=design).deff)
    nested = strat.estimate(
        strat.stack("y", yes=strat.stack("group", a=a, b=b), all=strat.stack("group", a=b, b=b)), on=design
    )
    assert nested.interval()[0][0, 0] == pytest.approx(alone.interval()[0])
    part = strat.estimate(strat.domain(strat.stack("group", a=a, b=b), np.arange(200) % 2 == 0), on=design)
    assert part.df.tolist() == [2, 96]
    with pytest.raises(strat.StratError, match="at least one row that `proportion` looks at"):
        strat.domain(strat.stack("group", a=a, b=b), few)


def test_a_map_of_per_class_shares_to_fewer_has_an_interval() -> None:
    """Shares of several classes at an end of their range, mapped to another number of values."""
    truth, predicted = [0, 0, 0, 1, 1, 1, 2, 2, 2] * 3, [0, 0, 0, 1, 1, 1, 2, 1, 0] * 3
    made = strat.estimate(strat.recall(truth, predicted, average=None), on=strat.Design.simple_random(n=27))
    assert made.map(lambda v: v[..., :2], bounds=(0, 1)).interval()[0] == pytest.approx(made.interval()[0][:2])
    assert made.map(lambda v: v[..., 0], bounds=(0, 1)).interval()[0] == pytest.approx(made.interval()[0][0])


@pytest.mark.parametrize("stratified", [False, True])
def test_a_jackknife_without_the_only_unit_of_a_class_is_refused(stratified: bool) -> None:
    """What rounding leaves of the weight of the unit left out is no class of its own."""
    rng = np.random.default_rng(0)
    units = np.repeat(np.arange(12), 3)
    for _ in range(30):
        y, weights, first = rng.random(36), rng.random(36), units == 0
        strata = units // 4 if stratified else None
        replicates = strat.jackknife(strat.Design.clustered(units=units, strata=strata, weights=weights))
        for one in (strat.auc(first.astype(int), y), strat.domain(strat.mean(y), first)):
            with pytest.raises(strat.StratError, match="must be defined in every replicate, got 1 of 12"):
                strat.estimate(one, on=replicates)


def test_factors_that_are_zero_are_exactly_zero() -> None:
    """A metric of the rows that are left must not see the others."""
    factors = strat.generalized(strat.Design.stratified(strata=[0, 0, 0, 1, 1, 2, 2, 2, 2])).factors()
    assert not ((factors != 0) & (np.abs(factors) < 1e-9)).any()


PAIRS = strat.Design.stratified(strata=["a", "a", "b", "b"])
REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "population of nan": (
        lambda: strat.Design.stratified(strata=["a", "a"], population={"a": np.nan}),
        "`population` must be positive, got nan",
    ),
    "population of text": (
        lambda: strat.Design.stratified(strata=["a", "a"], population={"a": "x"}),  # type: ignore[dict-item]
        "`population` must be a number, got 'x'",
    ),
    "rows of text": (lambda: strat.Design.simple_random(n="a"), "`n` must be a number"),  # type: ignore[arg-type]
    "rows of nan": (lambda: strat.Design.simple_random(n=np.nan), "`n` must be a whole"),  # type: ignore[arg-type]
    "no seed": (lambda: strat.bootstrap(PAIRS, rng=None), "`rng` must be a seed"),  # type: ignore[arg-type]
    "replicates of text": (
        lambda: strat.bootstrap(PAIRS, replicates="x"),  # type: ignore[arg-type]
        "`replicates` must be a number",
    ),
    "rho of text": (lambda: strat.fay(PAIRS, rho="x"), "`rho` must be a number"),  # type: ignore[arg-type]
    "level of text": (
        lambda: strat.estimate(strat.mean([1, 2, 3, 5]), on=PAIRS).interval("x"),  # type: ignore[arg-type]
        "`level` must be a number",
    ),
    "one stratum for all": (
        lambda: strat.Design.stratified(strata="abc"),
        "must be a column, one value per row, got 'abc'",
    ),
    "one unit for all": (lambda: strat.Design.clustered(units=3), "got the single value 3"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_arguments_that_are_no_numbers_are_refused_in_a_sentence(case: str) -> None:
    """Nothing of Python's own errors comes through."""
    call, said = REFUSED[case]
    with pytest.raises(strat.StratError, match=said):
        call()


def test_a_stratum_seen_whole_adds_no_degrees_of_freedom() -> None:
    """Fifty units that are all there are say nothing about how two others of a million vary."""
    strata = [0] * 50 + [1] * 2
    assert strat.Design.stratified(strata=strata, population={0: 50, 1: 1e6}).df == 1
    assert strat.Design.stratified(strata=strata, population={0: 50, 1: 2}).df == 50
    assert strat.Design.stratified(strata=strata).df == 50


def test_rows_at_one_place_of_a_systematic_sample_are_refused() -> None:
    """Their order would be that of the rows, and the answer with it."""
    with pytest.raises(strat.StratError, match="`order` must distinguish all rows, got 2 at the place of another"):
        strat.Design.systematic(order=[1, 1, 2, 2, 3])
    assert strat.Design.systematic(order=[1, 1, 2, 2, 3], units=["a", "b", "c", "d", "e"]).n_units == 5

"""Laws that hold for every design, method and statistic."""

from __future__ import annotations

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st

import strat
from strat.base.limits import changed
from strat.estimation import intervals
from strat.estimation.intervals import simultaneous_level


def textbook(y: np.ndarray, strata: np.ndarray) -> float:
    """The variance of a total of unit values, written out."""
    parts = []
    for h in np.unique(strata):
        values = y[strata == h]
        n = len(values)
        parts.append(n / (n - 1) * ((values - values.mean()) ** 2).sum())
    return float(np.sqrt(sum(parts)))


def data(sizes: list[int], seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    strata = np.repeat(np.arange(len(sizes)), sizes)
    return strata, rng.normal(size=len(strata)) + 3


@pytest.mark.parametrize("p", [2, 3, 5, 7, 4, 8, 9])
@pytest.mark.parametrize("count", [1, 2, 13, 40])
def test_general_brr_is_the_textbook_variance(p: int, count: int) -> None:
    strata, y = data([p] * count, p * 100 + count)
    design = strat.Design.stratified(strata=strata)
    wanted = textbook(y, strata)
    for replicates in (
        strat.brr(design),
        strat.fay(design, rho=0.4),
        strat.generalized(design),
        strat.jackknife(design),
    ):
        assert strat.estimate(strat.total(y), on=replicates).se == pytest.approx(wanted, rel=1e-12), replicates


@given(sizes=st.lists(st.integers(2, 7), min_size=1, max_size=30), seed=st.integers(0, 2**32 - 1))
def test_generalized_and_jackknife_are_exact_for_any_sizes(sizes: list[int], seed: int) -> None:
    strata, y = data(sizes, seed)
    design = strat.Design.stratified(strata=strata)
    wanted = textbook(y, strata)
    for on in (design, strat.generalized(design), strat.generalized(design, rho=0.0), strat.jackknife(design)):
        assert strat.estimate(strat.total(y), on=on).se == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("sizes", [[3, 5, 3], [2, 3, 4], [6, 2, 3], [7, 3], [5] * 6, [3] * 5 + [5] * 5, [11, 2]])
def test_multi_arrays_are_exact_for_unequal_sizes(sizes: list[int]) -> None:
    strata, y = data(sizes, 7)
    design = strat.Design.stratified(strata=strata)
    replicates = strat.multi_array(design)
    assert strat.estimate(strat.total(y), on=replicates).se == pytest.approx(textbook(y, strata), rel=1e-12)


def methods(design: strat.Design) -> list[strat.Replicates]:
    made = [strat.generalized(design), strat.jackknife(design), strat.bootstrap(design, replicates=130, rng=3)]
    sizes = set(design.sizes.tolist())
    if len(sizes) == 1:
        made += [strat.brr(design), strat.fay(design, rho=0.3)]
    if sizes == {2}:
        made += [strat.all_half_samples(design), strat.half_samples(design, replicates=50, rng=1)]
    return [*made, strat.multi_array(design)]


@pytest.mark.parametrize("sizes", [[2] * 7, [3] * 6, [4] * 3, [2, 5, 3, 7]])
@pytest.mark.parametrize("population", [None, 20])
def test_the_fast_transform_is_the_dense_product(sizes: list[int], population: float | None) -> None:
    strata, y = data(sizes, 5)
    design = strat.Design.stratified(strata=strata, population=population)
    t = np.column_stack([y, y**2])
    for replicates in methods(design):
        assert replicates.totals(t) == pytest.approx(replicates.factors() @ t, rel=1e-11), replicates
        middle = replicates.factors(2, replicates.number - 1)
        assert middle == pytest.approx(replicates.factors()[2:-1]), replicates


@pytest.mark.parametrize("sizes", [[2] * 7, [3] * 6, [2, 5, 3, 7]])
def test_the_mean_factor_is_one(sizes: list[int]) -> None:
    strata, _ = data(sizes, 5)
    design = strat.Design.stratified(strata=strata)
    for replicates in methods(design):
        if replicates.seed is None:
            assert replicates.factors().mean(axis=0) == pytest.approx(np.ones(design.n_units)), replicates


@pytest.mark.parametrize("sizes", [[3] * 6, [2, 5, 3, 7], [4] * 9, [40, 3]])
def test_generalized_factors_are_never_negative(sizes: list[int]) -> None:
    strata, _ = data(sizes, 5)
    assert strat.generalized(strat.Design.stratified(strata=strata)).factors().min() >= -1e-12


def test_large_arrays_agree_with_small_ones() -> None:
    strata, y = data([2] * 700, 3)  # beyond the dense Hadamard matrices: Sylvester and the fast transform
    design = strat.Design.stratified(strata=strata)
    replicates = strat.brr(design)
    assert "Sylvester" in str(replicates)
    assert strat.estimate(strat.total(y), on=replicates).se == pytest.approx(textbook(y, strata), rel=1e-12)
    assert replicates.totals(y[:, None])[5:9] == pytest.approx(replicates.factors(5, 9) @ y[:, None])


STATISTICS = {
    "mean": lambda t: strat.mean(t["y"]),
    "ratio": lambda t: strat.ratio(t["y"], t["x"]),
    "variance": lambda t: strat.variance(t["y"]),
    "correlation": lambda t: strat.correlation(t["x"], t["y"]),
    "median": lambda t: strat.quantile(t["y"], 0.5),
    "accuracy": lambda t: strat.accuracy(t["truth"], t["predicted"]),
    "stack": lambda t: strat.stack("s", a=strat.mean(t["x"]), b=strat.mean(t["y"])),
    "domain": lambda t: strat.domain(strat.mean(t["y"]), t["truth"] == 1),
    "function": lambda t: strat.statistic(lambda w: np.average(t["y"], weights=w)),
}


@pytest.fixture
def table() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(11)
    strata = np.repeat(np.arange(6), 8)
    unit = np.repeat(np.arange(12), 4)
    y = rng.normal(size=48) + unit / 10
    truth = rng.integers(0, 2, 48)
    return {
        "stratum": strata,
        "unit": unit,
        "weight": rng.integers(1, 4, 48).astype(float),
        "y": y,
        "x": y + rng.normal(size=48) + 5,
        "truth": truth,
        "predicted": np.where(rng.random(48) < 0.8, truth, 1 - truth),
    }


def made(t: dict[str, np.ndarray], weight: np.ndarray | None = None) -> strat.Design:
    return strat.Design.stratified(
        strata=t["stratum"], units=t["unit"], weights=t["weight"] if weight is None else weight
    )


@pytest.mark.parametrize("name", STATISTICS)
@pytest.mark.parametrize("method", ["closed", "brr", "jackknife"])
def test_order_names_and_scale_do_not_matter(table: dict[str, np.ndarray], name: str, method: str) -> None:
    def run(t: dict[str, np.ndarray], scale: float = 1.0) -> strat.Estimate:
        design = made(t, t["weight"] * scale)
        on = {"closed": lambda d: d, "brr": strat.brr, "jackknife": strat.jackknife}[method](design)
        return strat.estimate(STATISTICS[name](t), on=on)

    plain = run(table)
    order = np.random.default_rng(2).permutation(48)
    shuffled = run({k: v[order] for k, v in table.items()})
    renamed = run({**table, "stratum": np.array([f"stratum {h}" for h in table["stratum"]])})
    for other in (shuffled, renamed, run(table, scale=7.5)):
        assert other.value == pytest.approx(plain.value, rel=1e-10)
        assert other.se == pytest.approx(plain.se, rel=1e-9)


@pytest.mark.parametrize("name", [n for n in STATISTICS if n not in ("function", "variance")])
def test_weight_two_is_a_row_twice_and_weight_zero_none(table: dict[str, np.ndarray], name: str) -> None:
    whole = np.asarray(strat.estimate(STATISTICS[name](table), on=made(table)).value)
    again = np.repeat(np.arange(48), table["weight"].astype(int))
    repeated = {k: v[again] for k, v in table.items()}
    flat = made(repeated, np.ones(len(again)))
    assert strat.estimate(STATISTICS[name](repeated), on=flat).value == pytest.approx(whole)
    dropped = table["weight"] * (np.arange(48) % 4 > 0)
    kept = {k: v[np.arange(48) % 4 > 0] for k, v in table.items()}
    without = strat.estimate(STATISTICS[name](kept), on=made(kept)).value
    assert strat.estimate(STATISTICS[name](table), on=made(table, dropped)).value == pytest.approx(without)


@pytest.mark.parametrize("method", ["closed", "brr"])
def test_map_identity_and_pairing(table: dict[str, np.ndarray], method: str) -> None:
    on = made(table) if method == "closed" else strat.brr(made(table))
    both = strat.estimate(STATISTICS["stack"](table), on=on)
    same = both.map(lambda v: v)
    assert same.value == pytest.approx(both.value)
    assert same.se == pytest.approx(both.se, rel=1e-9)
    gap = both.map(lambda v: v[..., 0] - v[..., 1])
    direct = strat.estimate(strat.mean(table["x"] - table["y"]), on=on)
    assert (gap.value, gap.se) == pytest.approx((direct.value, direct.se), rel=1e-9)
    back = both.map(lambda v: v[..., 1] - v[..., 0])
    assert back.value == pytest.approx(-gap.value)
    assert back.test().pvalue == pytest.approx(gap.test().pvalue)
    assert both.contrast([1, -1]).se == pytest.approx(gap.se)
    assert both.covariance == pytest.approx(np.asarray(both.deviations.T @ both.deviations))


def test_own_function_of_weights_is_the_same_statistic(table: dict[str, np.ndarray]) -> None:
    for on in (made(table), strat.brr(made(table)), strat.jackknife(made(table))):
        own = strat.estimate(STATISTICS["function"](table), on=on)
        known = strat.estimate(strat.mean(table["y"]), on=on)
        assert (own.value, own.se) == pytest.approx((known.value, known.se), rel=1e-8)


def test_numerical_and_written_derivatives_agree(table: dict[str, np.ndarray]) -> None:
    from dataclasses import replace

    for name in ("mean", "ratio", "accuracy", "stack"):
        statistic = STATISTICS[name](table)
        blind = replace(statistic, gradient=None)
        known, found = (strat.estimate(s, on=made(table)).se for s in (statistic, blind))
        assert found == pytest.approx(known, rel=1e-10)


def test_summed_up_cells_are_the_same_as_rows(table: dict[str, np.ndarray]) -> None:
    keys = np.column_stack([table["stratum"], table["unit"], table["truth"], table["predicted"]])
    cells, where, count = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    weight = np.bincount(where.ravel(), table["weight"])
    design = strat.Design.stratified(strata=cells[:, 0], units=cells[:, 1], weights=weight, counts=count)
    small = strat.estimate(strat.accuracy(cells[:, 2], cells[:, 3]), on=design)
    whole = strat.estimate(strat.accuracy(table["truth"], table["predicted"]), on=made(table))
    assert (small.value, small.se, small.deff) == pytest.approx((whole.value, whole.se, whole.deff), rel=1e-12)


def test_random_half_samples_vary_and_all_of_them_do_not(table: dict[str, np.ndarray]) -> None:
    strata, y = data([2] * 8, 1)
    design = strat.Design.stratified(strata=strata)
    wanted = textbook(y, strata)
    assert strat.estimate(strat.total(y), on=strat.all_half_samples(design)).se == pytest.approx(wanted, rel=1e-12)
    few = [strat.estimate(strat.total(y), on=strat.half_samples(design, replicates=8, rng=i)).se for i in range(20)]
    assert np.std(few) > 0.1 * wanted


def test_bootstrap_of_kinds_has_the_spread_of_rows() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 4000)
    predicted = np.where(rng.random(4000) < 0.9, truth, 1 - truth)
    design = strat.Design.simple_random(n=4000)
    quick = strat.estimate(strat.accuracy(truth, predicted), on=strat.bootstrap(design, replicates=4000, rng=1))
    exact = strat.estimate(strat.accuracy(truth, predicted), on=design)
    assert quick.se == pytest.approx(exact.se, rel=0.05)
    assert quick.interval(method="percentile")[0] == pytest.approx(exact.interval()[0], abs=0.1 * exact.se)


@settings(max_examples=25)
@given(level=st.floats(0.5, 0.999), wrong=st.integers(0, 60))
def test_intervals_stay_in_range_and_grow(level: float, wrong: int) -> None:
    truth = np.zeros(60, int)
    predicted = (np.arange(60) < wrong).astype(int)
    got = strat.estimate(strat.accuracy(truth, predicted), on=strat.Design.simple_random(n=60))
    for method in (None, "logit", "wilson", "exact", "t", "arcsine"):
        low, high = got.interval(level, method=method)
        assert 0 <= low <= got.value <= high <= 1
        assert high > low
        wider = got.interval((1 + level) / 2, method=method)
        assert wider[0] <= low + 1e-12
        assert wider[1] >= high - 1e-12


def test_zero_errors_do_not_collapse() -> None:
    truth = np.zeros(100, int)
    got = strat.estimate(strat.accuracy(truth, truth), on=strat.Design.simple_random(n=100))
    assert got.value == 1.0
    assert got.interval() == pytest.approx((0.025 ** (1 / 100), 1.0), rel=1e-9)
    clustered = strat.estimate(strat.accuracy(truth, truth), on=strat.Design.clustered(units=np.arange(100) // 5))
    assert clustered.interval()[0] < got.interval()[0]  # 20 units know less than 100 independent rows


def test_bands_are_wider_than_intervals_and_narrower_than_bonferroni() -> None:
    from scipy.special import stdtrit

    rng = np.random.default_rng(0)
    common = rng.normal(size=(400, 1))
    y = common + 0.3 * rng.normal(size=(400, 12))
    got = strat.estimate(strat.mean(y), on=strat.Design.simple_random(n=400))
    assert stdtrit(399, 0.975) < got.simultaneous() < stdtrit(399, 1 - 0.025 / 12)
    low, high = got.band()
    assert (low < got.interval()[0]).all()
    assert (high > got.interval()[1]).all()


@pytest.mark.parametrize("df", [[2.0, 3.0, 40.0], [12.0, 12.5, 13.0], [300.0, 333.0, 400.0]])
def test_bands_of_unequal_degrees_of_freedom_are_quantiles_of_all_draws(df: list[float]) -> None:
    """Splines of chi squares and looking at large t alone leave the level as it is with every draw looked at."""
    rng = np.random.default_rng(5)
    t, at = np.abs(rng.standard_normal((4_000, 3))), rng.random(4_000)
    roots = intervals._chi_roots(np.array(df))(at)
    exact = np.sqrt(scipy.special.chdtri(np.array(df), at[:, None]) / df)
    np.testing.assert_allclose(roots, exact, rtol=1e-8)
    smallest = (2.0 * scipy.special.stdtr(df, -t / exact)).min(axis=1)
    for share in (0.001, 0.05, 0.5):
        found = intervals._quantile_of_smallest_p(t / exact, np.array(df), share)
        assert found == pytest.approx(np.quantile(smallest, share), rel=1e-12)


def test_a_very_large_map_keeps_its_standard_errors() -> None:
    rng = np.random.default_rng(0)
    y = rng.normal(size=(40, 300))
    design = strat.Design.stratified(strata=np.arange(40) // 2, weights=rng.random(40) + 1)
    whole = strat.estimate(strat.mean(y), on=strat.brr(design))
    with changed(kept_spread=100, totals_at_once=1):
        pieces = strat.estimate(strat.mean(y), on=strat.brr(design))
    assert pieces.se == pytest.approx(whole.se, rel=1e-12)
    assert pieces.deff == pytest.approx(whole.deff, rel=1e-10)
    with pytest.raises(strat.StratError, match="too many to keep"):
        pieces.band()


@pytest.mark.parametrize("sizes", [[2] * 9, [3] * 5, [2, 3, 5]])
def test_rows_without_names_may_stand_in_any_order(sizes: list[int]) -> None:
    strata, y = data(sizes, 8)
    x = y**2 + 1
    order = np.random.default_rng(1).permutation(len(y))

    def se(rows: np.ndarray) -> float:
        design = strat.Design.stratified(strata=strata[rows])
        return float(strat.estimate(strat.ratio(y[rows], x[rows]), on=strat.generalized(design)).se)

    assert se(order) == pytest.approx(se(np.arange(len(y))), rel=1e-12)


def test_a_statistic_that_does_not_vary_can_be_mapped() -> None:
    same = strat.accuracy([1, 1, 0], [1, 1, 0])
    both = strat.estimate(strat.stack("system", A=same, B=same), on=strat.Design.simple_random(n=3))
    gap = both.map(lambda v: v[..., 0] - v[..., 1])
    assert (gap.value, gap.se) == (0.0, 0.0)
    low, high = gap.interval()
    assert low == -high < 0.0  # three rows show little


def test_a_single_share_can_be_mapped() -> None:
    for y in ([1, 1, 1, 1], [1, 0, 1, 1]):
        got = strat.estimate(strat.proportion(y), on=strat.Design.simple_random(n=4))
        other = got.map(lambda v: 1 - v, name="misses", link="logit", bounds=(0.0, 1.0))
        assert other.value == pytest.approx(1 - got.value)
        assert other.se == pytest.approx(got.se)
        assert other.interval() == pytest.approx(tuple(1 - side for side in got.interval()[::-1]))


def test_a_single_number_has_a_table_and_a_picture() -> None:
    import matplotlib

    matplotlib.use("agg")
    got = strat.estimate(strat.mean([1.0, 2.0, 4.0]), on=strat.Design.simple_random(n=3))
    assert got.to_dict()["estimate"] == [pytest.approx(7 / 3)]
    assert "<table>" in got._repr_html_()
    assert got.to_frame("pandas").shape[0] == 1
    assert got.plot() is not None
    matplotlib.pyplot.close("all")


def test_labels_in_notebooks_are_escaped() -> None:
    both = strat.stack("<b>axis</b>", **{"<script>": strat.mean([1.0, 2.0]), "b": strat.mean([1.0, 3.0])})
    shown = strat.estimate(both, on=strat.Design.simple_random(n=2))._repr_html_()
    assert "<script>" not in shown
    assert "<b>" not in shown


def test_degrees_of_freedom_follow_the_weights_only_where_these_are_very_unequal() -> None:
    rng = np.random.default_rng(0)
    y = rng.random(100)

    def df(weights: np.ndarray, **options: str) -> float:
        return strat.estimate(strat.mean(y), on=strat.Design.simple_random(weights=weights), **options).df

    assert df(np.ones(100)) == df(rng.uniform(1, 3, 100)) == 99
    assert df(np.ones(100), df="effective") == 99
    heavy = rng.lognormal(0, 1.5, 100)
    # values that vary alike: Kish's number of the squared weights, less one
    squares = heavy**2
    assert df(heavy) == pytest.approx(squares.sum() ** 2 / (squares @ squares) - 1)
    # Bell and McCaffrey by the matrix of the quadratic form: (tr A)² / tr A²
    share = heavy / heavy.sum()
    off = np.eye(100) - share
    form = off.T @ np.diag(squares / (1 - share)) @ off
    assert df(heavy, df="effective") == pytest.approx(np.trace(form) ** 2 / np.trace(form @ form))
    two = np.array([1.0] * 98 + [1e6, 1e6])  # two rows hold everything: one degree of freedom
    assert df(two) == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize("method", [None, "t", "logit", "wilson", "exact", "arcsine"])
def test_a_perfect_share_with_uneven_weights_keeps_its_interval(method: str | None) -> None:
    rng = np.random.default_rng(5)
    for _ in range(40):
        design = strat.Design.simple_random(weights=rng.lognormal(size=30))
        low, high = strat.estimate(strat.proportion(np.ones(30)), on=design).interval(method=method)
        assert 0 < low < high <= 1


@given(sizes=st.lists(st.integers(2, 5), min_size=1, max_size=8), seed=st.integers(0, 2**32 - 1), sigma=st.floats(0, 2))
def test_factors_of_every_method_can_be_given_as_factors_and_as_weights(
    sizes: list[int], seed: int, sigma: float
) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.integers(1, 4, sum(sizes))
    unit = np.repeat(np.arange(sum(sizes)), rows)
    weights = rng.lognormal(rng.normal(0, 3), sigma, len(unit))
    strata = np.repeat(np.arange(len(sizes)), sizes)[unit]
    design = strat.Design.stratified(strata=strata, units=unit, weights=weights)
    y = rng.normal(size=len(unit))
    for replicates in methods(design):
        factors = replicates.row_factors()
        scales = np.broadcast_to(replicates.scales, len(factors))
        wanted = strat.estimate(strat.total(y), on=replicates).se
        for form in ({"factors": factors}, {"weights": factors * weights}):
            again = strat.given(design, **form, scales=scales)
            assert strat.estimate(strat.total(y), on=again).se == pytest.approx(wanted, rel=1e-9, abs=1e-12)
            assert again.df <= min(design.df, max(1, len(factors) - 1))


def test_a_band_of_values_with_and_without_a_known_variance_has_a_level() -> None:
    """Infinite degrees of freedom beside finite ones."""
    mixed = simultaneous_level(np.eye(3), np.array([10.0, np.inf, np.inf]), 0.95)
    assert simultaneous_level(np.eye(3), np.full(3, 10.0), 0.95) < mixed < 0.985

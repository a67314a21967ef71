"""Replicates and arrays: the order of unnamed rows, weights taken for factors, degrees of freedom."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import strat
from strat.algebra import field
from strat.cli.app import main
from strat.estimation.content_order import ordered_by_content

ORACLES = Path(__file__).parents[1] / "oracles"


def correlated(rng: np.random.Generator, n: int) -> strat.Statistic:
    x = rng.normal(size=n)
    return strat.correlation(x, 0.6 * x + 0.8 * rng.normal(size=n))


def classified(rng: np.random.Generator, n: int) -> strat.Statistic:
    truth = rng.integers(0, 3, n)
    return strat.balanced_accuracy(truth, np.where(rng.random(n) < 0.7, truth, rng.integers(0, 3, n)))


def pairs(strata: int, *, named: bool, units: int = 2) -> strat.Design:
    labels = np.tile(np.arange(units), strata) if named else None
    return strat.Design.stratified(strata=np.repeat(np.arange(strata), units), units=labels, nested=named)


def test_unnamed_rows_were_sorted_by_size() -> None:
    """Unnamed rows were sorted by size, so that one replicate of 1,024 had 39 % of the variance: 0.0177 for 0.0147."""
    statistic = correlated(np.random.default_rng(0), 2000)
    rows, named = (strat.estimate(statistic, on=strat.brr(pairs(1000, named=k))) for k in (False, True))
    assert rows.se == pytest.approx(named.se, rel=0.02)
    assert rows.se == pytest.approx(strat.estimate(statistic, on=pairs(1000, named=True)).se, rel=0.02)
    squares = (rows.replicates - rows.value) ** 2
    assert squares.max() < 0.03 * squares.sum()


def test_equal_contents_come_first_in_some_strata_and_last_in_others() -> None:
    """With few kinds of rows an order by content alone puts the same kind first in every stratum."""
    y = np.tile([0.0, 1.0], 400)
    design = pairs(400, named=False)
    first = y[np.argsort(ordered_by_content(strat.mean(y), design).unit)][::2]
    assert 0.4 < first.mean() < 0.6
    same = strat.Design.simple_random(n=800)
    sorted_values = y[np.argsort(ordered_by_content(strat.mean(y), same).unit)]
    assert 300 < np.count_nonzero(np.diff(sorted_values)) < 500  # equal rows don't stand together


def own_function(rng: np.random.Generator, n: int) -> tuple[np.ndarray, Callable[[np.ndarray], strat.Statistic]]:
    y = rng.exponential(size=n)
    return y, lambda v: strat.statistic(lambda w: np.log(np.einsum("...i,i->...", w, v**2)))


@pytest.mark.parametrize("method", [strat.brr, strat.fay, strat.generalized, strat.multi_array])
@pytest.mark.parametrize("kind", ["ratio", "function"])
def test_row_order_and_scale_of_weights_change_nothing(
    method: Callable[[strat.Design], strat.Replicates], kind: str
) -> None:
    """The order by hash is still the same for rows in any order and weights on any scale."""
    rng = np.random.default_rng(5)
    n, strata, weights = 36, np.repeat(np.arange(12), 3), rng.integers(1, 4, 36) / 7
    y, of = own_function(rng, n)
    x = rng.integers(1, 3, n).astype(float)
    y[:6] = y[6:12]  # equal rows, too

    def run(order: np.ndarray, scale: float) -> strat.Estimate:
        statistic = strat.ratio(y[order], x[order]) if kind == "ratio" else of(y[order])
        design = strat.Design.stratified(strata=strata[order], weights=scale * weights[order])
        return strat.estimate(statistic, on=method(design))

    plain = run(np.arange(n), 1.0)
    for scale in (1.0, 0.1, 3.7):
        assert run(rng.permutation(n), scale).se == pytest.approx(plain.se, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("strata", "units"), [(30, 2), (100, 2), (500, 2), (100, 3)])
@pytest.mark.parametrize("make", [correlated, classified])
def test_unnamed_rows_have_the_true_variance(
    make: Callable[[np.random.Generator, int], strat.Statistic], strata: int, units: int
) -> None:
    """Variances of unnamed rows were 1.1 to 1.6 times too large, whatever the number of strata."""
    ratios = {}
    for named in (False, True):
        rng, replicates = np.random.default_rng(1), strat.brr(pairs(strata, named=named, units=units))
        found = [strat.estimate(make(rng, strata * units), on=replicates) for _ in range(500)]
        ratios[named] = np.mean([e.variance for e in found]) / np.var([e.value for e in found], ddof=1)
    assert ratios[False] == pytest.approx(ratios[True], rel=0.04)
    assert 0.8 < ratios[False] < (1.3 if strata == 30 else 1.2)  # 500 trials know a variance to some 6 %


def sorted_pairs(strata: int) -> tuple[strat.Statistic, strat.Design]:
    """Correlated values, and units whose names tell which of a pair is the smaller one."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=(strata, 2))
    y = 0.6 * x + 0.8 * rng.normal(size=x.shape)
    return strat.correlation(x.ravel(), y.ravel()), strat.Design.stratified(
        strata=np.repeat(np.arange(strata), 2),
        units=np.argsort(np.argsort(x + y, axis=1), axis=1).ravel(),
        nested=True,
    )


def test_a_replicate_that_carries_the_variance_is_noted() -> None:
    """Names that tell the size of units make BRR as wrong as sorting did, and nothing was said about it."""
    statistic, design = sorted_pairs(500)
    assert any("replicates carries" in note for note in strat.estimate(statistic, on=strat.brr(design)).notes)
    assert not strat.estimate(statistic, on=strat.brr(pairs(500, named=False))).notes
    y = np.sort(np.random.default_rng(0).normal(size=(500, 2)), axis=1).ravel()
    assert not strat.estimate(strat.mean(y), on=strat.brr(pairs(500, named=True))).notes  # a sum: exact all the same


def test_a_statistic_far_from_linear_is_noted() -> None:
    """The square of a mean that is about 0 is all curvature: its replicates lie above it, and nothing was said."""
    y = np.random.default_rng(1).normal(size=60)
    y -= y.mean()
    square = strat.function_of_totals(np.column_stack([y, np.ones(60)]), lambda t: (t[..., 0] / t[..., 1] + 0.05) ** 2)
    for replicates in (strat.brr(pairs(30, named=False)), strat.jackknife(pairs(30, named=False))):
        assert any("Replicates lie above" in str(note) for note in strat.estimate(square, on=replicates).notes)
    assert not strat.estimate(strat.mean(y), on=strat.brr(pairs(30, named=False))).notes


CLUSTERS = strat.Design.clustered(units=[1, 1, 2, 2, 3, 3], weights=[10.0] * 6)
JK1 = np.array([[0, 0, 1.5, 1.5, 1.5, 1.5], [1.5, 1.5, 0, 0, 1.5, 1.5], [1.5, 1.5, 1.5, 1.5, 0, 0]])


def test_replicate_weights_were_taken_for_factors() -> None:
    """Replicate weights, as survey files hold them, were taken for factors: a standard error of 2761 for 69."""
    y = np.arange(1.0, 7)
    right = strat.estimate(strat.total(y), on=strat.given(CLUSTERS, JK1, scale=2 / 3)).se
    assert right == pytest.approx(69.28203230275508)
    weights = strat.given(CLUSTERS, weights=10 * JK1, scale=2 / 3)
    assert strat.estimate(strat.total(y), on=weights).se == pytest.approx(right)
    with pytest.raises(strat.StratError, match=r"`factors` must be about 1 on average.* got 10 .*weights=…\.$"):
        strat.given(CLUSTERS, 10 * JK1, scale=2 / 3)


def test_normalized_replicate_weights_are_recognized() -> None:
    """Weights of mean 1 have a mean factor near 1; unit by unit they are the weights all the same."""
    w = np.random.default_rng(0).lognormal(0, 0.7, 40)
    w /= w.mean()
    design = strat.Design.simple_random(weights=w)
    factors = strat.jackknife(design).row_factors()
    with pytest.raises(strat.StratError, match="if they are replicate weights"):
        strat.given(design, factors * w, scale=39 / 40)
    given = strat.given(design, weights=factors * w, scale=39 / 40)
    assert given.factors() == pytest.approx(strat.given(design, factors, scale=39 / 40).factors())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "`factors` .* or `weights` .* must be given, and not both"),
        ({"factors": JK1, "weights": JK1}, "must be given, and not both"),
        ({"weights": JK1}, "`weights` must add up to about what the design's weights do .60., got 6 on average"),
        ({"weights": 10 * JK1.T}, r"got shape \(6, 3\); these are rows × replicates: transpose them"),
        ({"weights": 10 * JK1 + np.arange(6)}, "equal for the rows of a unit up to the weights, .*simple_random"),
    ],
)
def test_given_weights_are_checked(arguments: dict[str, np.ndarray], message: str) -> None:
    """Each mistake with replicate weights has one sentence with the way out."""
    with pytest.raises(strat.StratError, match=message):
        strat.given(CLUSTERS, **arguments, scale=2 / 3)


def test_weights_where_the_design_has_none() -> None:
    """A row of weight 0 can't be scaled up to a replicate weight."""
    design = strat.Design.simple_random(weights=[0.0, 1, 1])
    assert strat.given(design, weights=[[0, 2, 0], [0, 0, 2]], scale=0.5).factors()[:, 0].tolist() == [1, 1]
    with pytest.raises(strat.StratError, match=r"`weights` must be 0 where the design's weight is, got 1\.0 in row 0"):
        strat.given(design, weights=[[1, 1, 0], [1, 0, 1]], scale=0.5)


def test_given_replicates_had_more_degrees_of_freedom_than_replicates() -> None:
    """Three replicates of six rows had 5 degrees of freedom; public files name no units."""
    rows = strat.Design.simple_random(n=6, weights=[10.0] * 6)
    assert strat.given(rows, JK1, scale=2 / 3).df == 2
    assert strat.given(rows, JK1, scale=2 / 3, df=7).df == 7
    assert strat.given(rows, weights=10 * JK1[[0, 1, 2, 0, 1, 2]], scale=1 / 3).df == 2  # each of them twice


def test_weights_of_a_public_file_have_r_s_standard_errors_and_degrees() -> None:
    """Replicate weights without units and strata give R's standard error and R's degrees of freedom (12 of 16)."""
    read = [np.genfromtxt(ORACLES / f"a_12x2{n}.csv", delimiter=",", names=True, dtype=None, encoding="utf8")
            for n in ("", "_repfactors_BRR")]  # fmt: skip
    table, factors = read
    replicate_weights = table["weight"] * np.array([factors[f"r{i + 1}"] for i in range(16)])
    public = strat.given(strat.Design.simple_random(weights=table["weight"]), weights=replicate_weights, scale=1 / 16)
    full = strat.Design.stratified(strata=table["stratum"], units=table["psu"], weights=table["weight"])
    named = strat.given(full, weights=replicate_weights, scale=1 / 16)
    assert public.df == named.df == 12
    one, other = (strat.estimate(strat.mean(table["x"]), on=on) for on in (public, named))
    assert one.se == pytest.approx(other.se, rel=1e-10)


def test_half_samples_of_levy_and_lemeshow() -> None:
    """R survey 4.1, example of `svrepdesign` (data scd): svyratio with mse=TRUE, BRR and Fay with rho 0.3."""
    alive, arrests = [25, 24, 30, 49, 80, 70], [120, 78, 185, 228, 670, 530]
    half = 2.0 * np.array([[1, 0, 1, 0, 1, 0], [1, 0, 0, 1, 0, 1], [0, 1, 1, 0, 0, 1], [0, 1, 0, 1, 1, 0]])
    design = strat.Design.stratified(strata=[1, 1, 2, 2, 3, 3])
    for factors, scale, se in ((half, 1 / 4, 0.009426636), (1 + 0.7 * (half - 1), 1 / 4 / 0.49, 0.009529189)):
        found = strat.estimate(strat.ratio(alive, arrests), on=strat.given(design, factors, scale=scale))
        assert found.se == pytest.approx(se, rel=1e-6)
        assert found.df == 3


@pytest.mark.parametrize("units", [50, 200])
def test_generalized_replicates_of_a_quantile(units: int) -> None:
    """`generalized` with many units a stratum moves so little that the variance of a median was 1.5 to 2.7 times the
    true one; Woodruff's interval takes its place, as with the jackknife."""  # fmt: skip
    strata = np.repeat(np.arange(4), units)
    replicates = strat.generalized(strat.Design.stratified(strata=strata))
    assert not replicates.consistent_for_quantiles
    rng = np.random.default_rng(1)
    found = [strat.estimate(strat.quantile(rng.normal(size=4 * units), 0.5), on=replicates) for _ in range(100)]
    assert any("Woodruff's interval is used" in note for note in found[0].notes)
    assert 0.6 < np.mean([e.variance for e in found]) / np.var([e.value for e in found]) < 1.4


def test_given_jackknife_weights_of_a_quantile() -> None:
    """Factors of a jackknife that were given from outside were believed to show a quantile's variance."""
    design = strat.Design.simple_random(n=30)
    given = strat.given(design, strat.jackknife(design).factors(), scale=29 / 30)
    found = strat.estimate(strat.quantile(np.random.default_rng(0).normal(size=30), 0.5), on=given)
    assert any("Woodruff's interval is used" in note for note in found.notes)
    assert found.method.by_shares


@pytest.mark.parametrize(("rho", "shows"), [(0.0, True), (0.3, True), (0.5, True), (0.6, False), (0.9, False)])
def test_fay_shows_a_quantile_up_to_a_half(rho: float, shows: bool) -> None:
    """Fay's rho of 0.9 made the variance of a median two to six times the true one."""
    assert strat.fay(pairs(20, named=True), rho=rho).consistent_for_quantiles is shows


def test_a_reducible_modulus_is_refused_at_once() -> None:
    """x¹⁶ + x + 1 over GF(2) was refused after 36 s: every element had been tried as a generator."""
    start = time.perf_counter()
    with pytest.raises(strat.StratError, match="`modulus` must be irreducible, got the product"):
        field(2**16, modulus=(1, 1, *[0] * 14, 1))
    assert time.perf_counter() - start < 2


def test_brr_beyond_the_sequences_names_the_design() -> None:
    """7,000 strata of 81 units: the message was about `degree`, an argument that nobody gave."""
    design = strat.Design.stratified(strata=np.repeat(np.arange(7000), 81))
    with pytest.raises(strat.StratError, match=r"^`design` .* got 7,000 strata of 81 units.*use generalized"):
        strat.brr(design)


def test_a_multi_array_beyond_all_runs_names_the_design() -> None:
    """Strata of 3 to 22 units: the message was about `sizes`, an argument that nobody gave."""
    design = strat.Design.stratified(strata=np.repeat(np.arange(20), np.arange(3, 23)))
    with pytest.raises(strat.StratError, match=r"^`design` .* strata of 3, 4, 5, 6, 7 and 15 more units"):
        strat.multi_array(design)


def test_checking_an_array_that_is_not_orthogonal_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`strat array w.csv` had exit code 0 for an array that is not orthogonal, so that no script could use it."""
    path = tmp_path / "w.csv"
    path.write_text("1,1\n1,1\n1,-1\n")
    with pytest.raises(SystemExit) as end:
        main(["array", str(path)])
    assert end.value.code == 1
    captured = capsys.readouterr()
    assert "orthogonal      no" in captured.out
    assert captured.err.startswith("strat: `file` must hold an orthogonal array of strength 2, got 'w.csv'")
    assert captured.err.count("\n") == 1

"""Two phases: laws, the public formulas of PPI and PPI++ written out here, then Rogan-Gladen, CUPED, and errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import strat
from strat.base.errors import StratError
from strat.estimation.two_phase import phases_of

N, LABELS = 2000, 200
RNG = np.random.default_rng(11)
Y = RNG.normal(1.0, 1.0, N)
F = 0.5 + 0.8 * Y + 0.5 * RNG.normal(size=N)
LABELLED = np.zeros(N, bool)
LABELLED[RNG.choice(N, LABELS, replace=False)] = True
HUMAN = np.where(LABELLED, Y, 99.0)  # what stands where no label is must not matter
ALONE = strat.Design.simple_random(n=N)


def ppi(lam: float) -> tuple[float, float]:
    """Angelopoulos and others (2023), Angelopoulos, Duchi and Zrnic (2023): value and standard error of a mean."""
    y, f, rest = Y[LABELLED], F[LABELLED], F[~LABELLED]
    value = lam * rest.mean() + (y - lam * f).mean()
    return value, np.sqrt(lam**2 * rest.var() / len(rest) + (y - lam * f).var() / len(y))


def two_phase(**options: Any) -> Any:
    return strat.estimate(
        strat.two_phase(strat.mean(HUMAN), proxy=strat.mean(F), labelled=LABELLED, **options), on=ALONE
    )


@pytest.mark.parametrize("lam", [1.0, 0.6, 0.0])
def test_a_mean_is_that_of_prediction_powered_inference(lam: float) -> None:
    """Ours takes the proxy's mean over all rows, theirs over the unlabelled ones: λ differs by the share of these."""
    ours = two_phase(coefficients=[lam * N / (N - LABELS)])
    value, se = ppi(lam)
    assert ours.value == pytest.approx(value, rel=1e-12)
    # theirs divides by n, ours by n − 1
    assert ours.se == pytest.approx(se * np.sqrt(LABELS / (LABELS - 1)), rel=2e-3)


def test_the_best_coefficient_is_that_of_ppi_plus_plus() -> None:
    """λ = Cov(y, f) / ((1 + n / N) Var f); ours takes the variance of the labelled rows, theirs that of all."""
    y, f = Y[LABELLED], F[LABELLED]
    ours = phases_of(strat.mean(HUMAN), strat.mean(F), labelled=LABELLED).coefficients([None], None)[0, 0]
    assert ours == pytest.approx(np.cov(y, f)[0, 1] / f.var(ddof=1), rel=1e-9)
    theirs = np.cov(y, f)[0, 1] / ((1 + LABELS / (N - LABELS)) * F.var(ddof=1))
    assert ours * (N - LABELS) / N == pytest.approx(theirs, rel=0.1)
    assert two_phase().se == pytest.approx(ppi(theirs)[1], rel=0.02)


def test_the_coefficient_has_the_least_variance() -> None:
    best = float(two_phase().se)
    lam = phases_of(strat.mean(HUMAN), strat.mean(F), labelled=LABELLED).coefficients([None], None)[0, 0]
    for other in (0.5 * lam, 1.5 * lam):
        assert float(two_phase(coefficients=[other]).se) > best


def test_labels_alone_are_the_mean_of_the_labelled_rows() -> None:
    ours = two_phase(estimator="labels")
    assert ours.value == pytest.approx(Y[LABELLED].mean())
    assert ours.se == pytest.approx(Y[LABELLED].std(ddof=1) / np.sqrt(LABELS), rel=2e-3)
    assert ours.df == LABELS - 1


def test_a_perfect_proxy_gives_the_mean_of_all_rows() -> None:
    exact = strat.two_phase(strat.mean(HUMAN), proxy=strat.mean(2 * Y + 1), labelled=LABELLED)
    ours = strat.estimate(exact, on=ALONE)
    assert ours.value == pytest.approx(Y.mean(), rel=1e-10)
    assert ours.se == pytest.approx(Y.std(ddof=1) / np.sqrt(N), rel=1e-6)


def test_strata_of_labels_are_the_post_stratified_mean() -> None:
    group = (np.median(F) < F).astype(int) + (np.quantile(F, 0.9) < F)
    chosen = LABELLED | (group == 2)
    filled = np.where(chosen, Y, 0.0)
    ours = strat.two_phase(strat.mean(filled), labelled=chosen, strata=group)
    shares = [np.mean(group == k) for k in range(3)]
    means = [Y[chosen & (group == k)].mean() for k in range(3)]
    assert float(ours.value()) == pytest.approx(float(np.dot(shares, means)), rel=1e-10)


def test_a_coefficient_in_each_stratum_is_the_separate_regression_estimator() -> None:
    rng = np.random.default_rng(21)
    stratum, judge = np.repeat([0, 1, 2], [300, 200, 100]), rng.random(600)
    truth = np.array([2.0, -1.0, 0.2])[stratum] * judge + 0.2 * rng.normal(size=600)
    labelled = rng.random(600) < np.array([0.2, 0.4, 0.5])[stratum]
    parts = {"proxy": strat.mean(judge), "labelled": labelled, "strata": stratum}
    own = strat.two_phase(strat.mean(truth), estimator="stratified", **parts)
    expected = 0.0
    for h in range(3):
        inside, known = stratum == h, labelled & (stratum == h)
        slope = np.polyfit(judge[known], truth[known], 1)[0]
        expected += inside.mean() * (truth[known].mean() + slope * (judge[inside].mean() - judge[known].mean()))
    assert float(own.value()) == pytest.approx(expected)
    design = strat.Design.simple_random(n=600)
    pooled = strat.estimate(strat.two_phase(strat.mean(truth), **parts), on=design)
    assert strat.estimate(own, on=design).se < 0.9 * pooled.se
    with pytest.raises(StratError, match="`strata` must be given with estimator='stratified'"):
        strat.two_phase(strat.mean(truth), proxy=strat.mean(judge), labelled=labelled, estimator="stratified")


def test_unequal_probabilities_are_weights_of_the_labelled_rows() -> None:
    p = np.clip(0.05 + 0.1 * np.abs(F), 0.05, 0.9)
    ours = strat.two_phase(strat.mean(HUMAN), labelled=LABELLED, probability=p)
    assert float(ours.value()) == pytest.approx(np.average(Y[LABELLED], weights=1 / p[LABELLED]))


def test_weights_and_row_order_behave_as_everywhere() -> None:
    weights = RNG.uniform(1, 3, N)
    order = RNG.permutation(N)

    def made(k: Any, scale: float) -> Any:
        one = strat.two_phase(
            strat.mean(HUMAN[k]), proxy=strat.mean(F[k]), labelled=LABELLED[k], weights=scale * weights[k]
        )
        return strat.estimate(one, on=strat.Design.simple_random(weights=scale * weights[k]))

    one, other = made(np.arange(N), 1.0), made(order, 7.0)
    assert other.value == pytest.approx(one.value)
    assert other.se == pytest.approx(one.se)


TRUTH = (Y > 1).astype(int)
GUESS = np.where(RNG.random(N) < 0.8, TRUTH, 1 - TRUTH)
JUDGE = np.where(RNG.random(N) < 0.9, TRUTH, 1 - TRUTH)
SCORE = TRUTH + RNG.normal(size=N)


@pytest.mark.parametrize("measure", [strat.accuracy, strat.f1, strat.kappa, strat.auc])
def test_any_measure_gains_and_agrees_with_the_truth_of_all_rows(measure: Any) -> None:
    said = SCORE if measure is strat.auc else GUESS
    filled = np.where(LABELLED, TRUTH, 0)
    ours = [
        strat.estimate(
            strat.two_phase(measure(filled, said), proxy=measure(JUDGE, said), labelled=LABELLED, estimator=how),
            on=ALONE,
        )
        for how in ("regression", "labels")
    ]
    assert ours[0].se < 0.9 * ours[1].se
    whole = float(measure(TRUTH, said).value())
    assert abs(ours[0].value - whole) < 3 * ours[0].se
    assert ours[1].value == pytest.approx(float(measure(TRUTH[LABELLED], said[LABELLED]).value()))


def test_a_difference_of_two_systems_keeps_the_covariance() -> None:
    other = np.where(RNG.random(N) < 0.7, TRUTH, 1 - TRUTH)
    filled = np.where(LABELLED, TRUTH, 0)
    both = strat.stack("system", A=strat.accuracy(filled, GUESS), B=strat.accuracy(filled, other))
    judged = strat.stack("system", A=strat.accuracy(JUDGE, GUESS), B=strat.accuracy(JUDGE, other))
    pair = strat.estimate(strat.two_phase(both, proxy=judged, labelled=LABELLED), on=ALONE)
    gap = pair.map(lambda v: v[..., 0] - v[..., 1])
    whole = float(np.mean(GUESS == TRUTH) - np.mean(other == TRUTH))
    assert abs(gap.value - whole) < 3 * gap.se
    assert gap.se < np.hypot(*pair.se)


def test_two_proxies_are_no_worse_than_one() -> None:
    second = Y + RNG.normal(size=N)
    one = two_phase()
    both = strat.two_phase(strat.mean(HUMAN), proxy=[strat.mean(F), strat.mean(second)], labelled=LABELLED)
    assert strat.estimate(both, on=ALONE).se < one.se


def test_the_jackknife_agrees_with_the_closed_form() -> None:
    units = np.arange(N) // 20
    statistic = strat.two_phase(strat.mean(HUMAN), proxy=strat.mean(F), labelled=LABELLED, units=units)
    design = strat.Design.clustered(units)
    closed, replicated = (strat.estimate(statistic, on=on) for on in (design, strat.jackknife(design)))
    assert replicated.value == closed.value
    assert replicated.se == pytest.approx(closed.se, rel=0.05)


def test_rogan_gladen_is_the_difference_estimator_of_a_perfect_judge() -> None:
    ours = strat.estimate(strat.rogan_gladen(TRUTH, TRUTH, labelled=LABELLED), on=ALONE)
    assert ours.value == pytest.approx(TRUTH.mean())
    assert ours.se == pytest.approx(TRUTH.std(ddof=1) / np.sqrt(N), rel=1e-3)


def test_rogan_gladen_has_the_delta_method_of_its_three_shares() -> None:
    ours = strat.estimate(strat.rogan_gladen(JUDGE, np.where(LABELLED, TRUTH, 0), labelled=LABELLED), on=ALONE)
    y, f = TRUTH[LABELLED], JUDGE[LABELLED]
    se, sp, p = f[y == 1].mean(), 1 - f[y == 0].mean(), JUDGE.mean()
    value = (p + sp - 1) / (se + sp - 1)
    slopes = np.array([1, -value, 1 - value]) / (se + sp - 1)
    variances = [p * (1 - p) / N, se * (1 - se) / (y == 1).sum(), sp * (1 - sp) / (y == 0).sum()]
    common = 2 * slopes[0] * (slopes[1] * se * (1 - se) - slopes[2] * sp * (1 - sp)) / N  # p has the labelled rows too
    assert ours.value == pytest.approx(value)
    assert ours.se == pytest.approx(np.sqrt((slopes**2) @ variances + common), rel=2e-3)


def test_cuped_takes_out_what_the_covariate_explains() -> None:
    group = np.where(RNG.random(N) < 0.5, "a", "b")
    before = RNG.normal(size=N)
    after = before + 0.3 * (group == "b") + 0.5 * RNG.normal(size=N)
    ours = strat.estimate(strat.cuped(after, group, covariate=before), on=ALONE)
    plain = after[group == "b"].mean() - after[group == "a"].mean()
    assert abs(ours.value - 0.3) < 3 * ours.se
    assert ours.se < 0.6 * np.sqrt(after.var() * (1 / (group == "a").sum() + 1 / (group == "b").sum()))
    assert strat.cuped(after, group, covariate=np.ones(N)).value() == pytest.approx(plain)
    assert strat.cuped(after, group, covariate=before, baseline="b").value() == pytest.approx(-ours.value)


@pytest.mark.parametrize("method", ["isotonic", "logistic"])
def test_a_row_never_sees_its_own_unit(method: str) -> None:
    units = np.arange(N) // 4
    target = np.where(LABELLED, TRUTH, 0).astype(float)
    before = strat.cross_fitted(F, target, labelled=LABELLED, units=units, method=method)
    row = int(np.flatnonzero(LABELLED)[0])
    changed = target.copy()
    changed[row] = 1 - changed[row]
    after = strat.cross_fitted(F, changed, labelled=LABELLED, units=units, method=method)
    same = units == units[row]
    assert (before[same] == after[same]).all()
    assert (before != after).any()


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: strat.two_phase(strat.mean(Y), labelled=[False] * N), "`labelled` must be true or false"),
        (
            lambda: strat.two_phase(strat.mean(Y), labelled=LABELLED, probability=np.zeros(N)),
            "`probability` must be above 0",
        ),
        (
            lambda: strat.two_phase(strat.mean(Y), proxy=strat.mean(F), labelled=np.arange(N) < 2),
            "`labelled` must choose at least 3 rows",
        ),
        (
            lambda: strat.two_phase(strat.mean(Y), labelled=np.arange(N) < 9, strata=np.arange(N) < 9),
            "`strata` must hold labelled rows each",
        ),
        (
            lambda: strat.two_phase(
                strat.mean(Y), proxy=[strat.mean(F)] * 2, labelled=LABELLED, estimator="difference"
            ),
            "`estimator` must be 'regression' for several proxies",
        ),
        (
            lambda: strat.two_phase(strat.mean(Y), proxy=strat.mean(F), labelled=LABELLED, coefficients=[1, 2]),
            "`coefficients` must have one number for each of 1",
        ),
        (
            lambda: strat.two_phase(strat.mean(Y), proxy=strat.quantile(F, 0.5), labelled=LABELLED),
            "`proxy` must be a function of totals",
        ),
        (lambda: strat.rogan_gladen(1 - TRUTH, TRUTH, labelled=LABELLED), "`judged` must be better than chance"),
        (lambda: strat.rogan_gladen(JUDGE, np.ones(N), labelled=LABELLED), "`truth` must hold labelled rows of both"),
        (
            lambda: strat.rogan_gladen(JUDGE, TRUTH, labelled=np.array([*LABELLED[1:], None], dtype=object)),
            "`labelled` must be true or false for each of",
        ),
        (lambda: strat.cuped(Y, ["a"] * N, covariate=F), "`group` must hold two groups"),
        (lambda: strat.cross_fitted(F, Y, labelled=LABELLED, folds=1), "`folds` must be from 2"),
        (lambda: strat.cross_fitted(F, Y, labelled=LABELLED, method="x"), "`method` must be"),
    ],
)
def test_errors(call: Any, match: str) -> None:
    with pytest.raises(StratError, match=match):
        call()


@pytest.mark.slow
def test_intervals_of_few_labels_in_clusters_hold() -> None:
    from validation.two_phase import SCENARIOS, trial

    for scenario in SCENARIOS[3:8]:
        coverage, _, theirs = trial(scenario, 600)
        assert 0.93 <= coverage <= 0.975
        assert theirs is not None
        assert theirs < coverage

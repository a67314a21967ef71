"""Statistics that solve an equation: laws of every statistic, then statsmodels, then errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy

import strat
from strat.base.errors import StratError

N = 240
RNG = np.random.default_rng(7)
UNIT = RNG.integers(0, 24, N)
X = RNG.normal(size=N)
SHIFT = RNG.normal(size=24)[UNIT]
Y = (RNG.random(N) < scipy.special.expit(0.3 + X + 0.7 * SHIFT)).astype(float)
WEIGHTS = RNG.uniform(0.5, 2.0, N)
LEFT = RNG.choice(list("abcd"), N)
RIGHT = np.array([RNG.choice([s for s in "abcd" if s != one]) for one in LEFT])
WINNER = RNG.choice(["left", "right", "tie"], N, p=[0.45, 0.35, 0.2])
LENGTH = np.exp2(RNG.uniform(0, 8, N))


def scores(theta: Any) -> Any:
    return (Y - scipy.special.expit(theta[0] + theta[1] * X))[:, None] * np.column_stack([np.ones(N), X])


MADE = {
    "equation": lambda k: strat.equation(lambda t: scores(t)[k], start=[0.0, 0.0]),
    "linear": lambda k: strat.linear_regression(Y[k] + X[k], {"x": X[k]}),
    "logistic": lambda k: strat.logistic_regression(Y[k], {"x": X[k]}),
    "calibration": lambda k: strat.calibration_slope(Y[k], scipy.special.expit(X[k])),
    "in the large": lambda k: strat.calibration_intercept(Y[k], scipy.special.expit(X[k])),
    "success": lambda k: strat.success_curve(Y[k], LENGTH[k]),
    "ability": lambda k: strat.ability(Y[k], difficulty=X[k], by=LEFT[k]),
    "ordinal": lambda k: strat.ordinal_logit(UNIT[k] % 3, {"x": X[k]}),
    "votes": lambda k: strat.bradley_terry(LEFT[k], RIGHT[k], WINNER[k], home=True),
    "davidson": lambda k: strat.bradley_terry(LEFT[k], RIGHT[k], WINNER[k], ties="davidson", covariates={"x": X[k]}),
}
ALL = np.arange(N)


@pytest.mark.parametrize("name", MADE)
def test_weight_two_is_a_row_twice_and_weight_zero_a_row_absent(name: str) -> None:
    make = MADE[name]
    twice = np.concatenate([ALL, ALL[:100]])
    weights = np.where(ALL < 100, 2.0, 1.0)
    assert make(twice).value() == pytest.approx(make(ALL).value(weights), abs=1e-8)
    kept = ALL[40:]
    assert make(kept).value() == pytest.approx(make(ALL).value((ALL >= 40).astype(float)), abs=1e-8)


@pytest.mark.parametrize("name", MADE)
def test_neither_row_order_nor_scale_of_weights_matters(name: str) -> None:
    order = np.random.default_rng(1).permutation(N)
    one = strat.estimate(MADE[name](ALL), on=strat.Design.clustered(UNIT, weights=WEIGHTS))
    other = strat.estimate(MADE[name](order), on=strat.Design.clustered(UNIT[order], weights=5 * WEIGHTS[order]))
    assert other.value == pytest.approx(one.value, abs=1e-8)
    assert other.se == pytest.approx(one.se, rel=1e-6)


@pytest.mark.parametrize("name", MADE)
def test_the_influence_is_the_derivative(name: str) -> None:
    statistic = MADE[name](ALL)
    base = np.random.default_rng(2).uniform(0.5, 1.5, N)
    design = strat.Design.clustered(UNIT, weights=base)
    linear = strat.estimate(statistic, on=design)
    direction = base * (UNIT == 3)
    step = 1e-4
    slope = (statistic.value(base + step * direction) - statistic.value(base - step * direction)) / (2 * step)
    from strat.estimation.inference import RowSums
    from strat.estimation.totals import totals

    sums = RowSums(statistic, design, totals(statistic, design.weights))
    assert sums.influence[3] == pytest.approx(np.ravel(slope), rel=1e-4, abs=1e-7)
    deviations = sums.influence - sums.influence.mean(axis=0)
    assert np.ravel(linear.se) == pytest.approx(np.sqrt(24 / 23 * (deviations**2).sum(axis=0)))


@pytest.mark.parametrize("name", MADE)
def test_the_jackknife_agrees_with_the_closed_form(name: str) -> None:
    design = strat.Design.clustered(UNIT)
    closed = strat.estimate(MADE[name](ALL), on=design)
    replicated = strat.estimate(MADE[name](ALL), on=strat.jackknife(design))
    left_out = np.array([np.ravel(MADE[name](ALL).value((u != UNIT).astype(float))) for u in range(24)])
    by_hand = np.sqrt(23 / 24 * ((left_out - np.ravel(closed.value)) ** 2).sum(axis=0))
    assert np.ravel(replicated.se) == pytest.approx(by_hand, rel=1e-6)
    assert np.ravel(replicated.se) == pytest.approx(np.ravel(closed.se), rel=0.08)


@pytest.mark.parametrize("name", MADE)
def test_a_domain_is_the_statistic_of_its_rows(name: str) -> None:
    where = UNIT < 16
    assert strat.domain(MADE[name](ALL), where).value() == pytest.approx(MADE[name](ALL[where]).value(), abs=1e-8)


@pytest.mark.parametrize("logistic", [True, False])
def test_clustered_covariance_is_that_of_statsmodels(logistic: bool) -> None:
    sm = pytest.importorskip("statsmodels.api")
    design = strat.Design.clustered(UNIT)
    make = strat.logistic_regression if logistic else strat.linear_regression
    ours = strat.estimate(make(Y, {"x": X}), on=design)
    family = sm.families.Binomial() if logistic else sm.families.Gaussian()
    model = sm.GLM(Y, sm.add_constant(X), family=family)
    theirs = model.fit(cov_type="cluster", cov_kwds={"groups": UNIT, "use_correction": True})
    assert ours.value == pytest.approx(theirs.params, rel=1e-8)
    # theirs multiplies by (n − 1) / (n − k), which a design has no use for
    assert ours.se == pytest.approx(theirs.bse / np.sqrt((N - 1) / (N - 2)), rel=1e-8)


def test_ordinal_logit_is_that_of_statsmodels() -> None:
    ordered = pytest.importorskip("statsmodels.miscmodels.ordinal_model")
    y = UNIT % 3
    model = ordered.OrderedModel(y, X[:, None], distr="logit").fit(method="newton", disp=False)
    cuts = model.model.transform_threshold_params(model.params)[1:-1]
    assert strat.ordinal_logit(y, {"x": X}).value() == pytest.approx([model.params[0], *cuts], abs=1e-6)


def test_ordinal_of_two_outcomes_is_the_logistic_regression() -> None:
    intercept, slope = strat.logistic_regression(Y, {"x": X}).value()
    assert strat.ordinal_logit(Y, {"x": X}).value() == pytest.approx([slope, -intercept], abs=1e-7)


def test_bradley_terry_of_two_systems_is_the_log_odds() -> None:
    value = strat.bradley_terry(["a"] * 5, ["b"] * 5, ["a", "a", "a", "b", "tie"]).value()
    assert value == pytest.approx([np.log(3.5 / 1.5) / 2, -np.log(3.5 / 1.5) / 2])


def test_strengths_are_those_of_the_logistic_regression_without_an_intercept() -> None:
    columns = {s: (s == LEFT).astype(float) - (s == RIGHT) for s in "abc"}
    y = np.select([WINNER == "left", WINNER == "right"], [1.0, 0.0], 0.5)
    other = strat.estimate(strat.logistic_regression(y, columns, intercept=False), on=strat.Design.clustered(UNIT))
    ours = strat.estimate(strat.bradley_terry(LEFT, RIGHT, WINNER), on=strat.Design.clustered(UNIT))
    difference = ours.map(lambda v: v[..., :3] - v[..., 3:])
    assert difference.value == pytest.approx(other.value, abs=1e-9)
    assert difference.se == pytest.approx(other.se, rel=1e-7)


def test_swapping_sides_swaps_the_side_effect_only() -> None:
    swap = {"left": "right", "right": "left", "tie": "tie"}
    one = strat.bradley_terry(LEFT, RIGHT, WINNER, home=True).value()
    other = strat.bradley_terry(RIGHT, LEFT, [swap[w] for w in WINNER], home=True).value()
    assert other[:-1] == pytest.approx(one[:-1], abs=1e-9)
    assert other[-1] == pytest.approx(-one[-1], abs=1e-9)


def test_davidson_without_ties_is_bradley_terry() -> None:
    keep = WINNER != "tie"
    one = strat.bradley_terry(LEFT[keep], RIGHT[keep], WINNER[keep])
    assert strat.bradley_terry(LEFT[keep], RIGHT[keep], WINNER[keep], ties="davidson").value() == pytest.approx(
        one.value()
    )


def test_davidson_gives_the_share_of_ties() -> None:
    value = strat.bradley_terry(LEFT, RIGHT, WINNER, ties="davidson").value()
    strength = dict(zip("abcd", value[:4], strict=True))
    d = np.array([strength[one] - strength[other] for one, other in zip(LEFT, RIGHT, strict=True)])
    tie = np.exp(value[4]) / (np.exp(value[4]) + np.exp(d / 2) + np.exp(-d / 2))
    assert tie.mean() == pytest.approx((WINNER == "tie").mean(), abs=1e-8)


@pytest.mark.shared
def test_strengths_are_those_of_the_golden_ranking(shared: Any) -> None:
    votes = strat.read(str(shared / "data/fields/llmfao/crowd-comparisons.csv"))
    golden = strat.read(str(shared / "data/fields/llmfao/evalica-golden.csv"))
    chosen = golden.column("algorithm") == "bradley_terry"
    known = dict(zip(golden.column("item")[chosen], np.log(golden.numbers("score")[chosen]), strict=True))
    ours = strat.bradley_terry(*(votes.column(name) for name in ("left", "right", "winner")))
    theirs = np.array([known[name] for name in ours.axes[0].labels])
    assert ours.value() == pytest.approx(theirs - theirs.mean(), abs=1e-10)


def test_platt_scaling_calibrates_in_the_mean() -> None:
    intercept, slope = strat.logistic_regression(Y, {"score": X}).value()
    assert scipy.special.expit(intercept + slope * X).mean() == pytest.approx(Y.mean())


def test_ability_of_one_system_solves_its_equation() -> None:
    theta = float(strat.ability(Y, difficulty=X, discrimination=WEIGHTS).value())
    p = scipy.special.expit(WEIGHTS * (theta - X))
    assert float((WEIGHTS * (Y - p)).sum()) == pytest.approx(0.0, abs=1e-8)


def test_an_analytic_jacobian_gives_the_same_as_differences() -> None:
    columns = np.column_stack([np.ones(N), X])

    def jacobian(theta: Any) -> Any:
        p = scipy.special.expit(columns @ theta)
        return -(p * (1 - p))[:, None, None] * columns[:, :, None] * columns[:, None, :]

    design = strat.Design.clustered(UNIT)
    one = strat.estimate(strat.equation(scores, start=[0.0, 0.0], jacobian=jacobian), on=design)
    other = strat.estimate(strat.equation(scores, start=[0.0, 0.0]), on=design)
    known = strat.estimate(strat.logistic_regression(Y, {"x": X}), on=design)
    assert one.se == pytest.approx(known.se, rel=1e-9)
    assert other.se == pytest.approx(known.se, rel=1e-5)


def test_separated_rows_are_refused() -> None:
    x = np.linspace(-1, 1, 20)
    with pytest.raises(StratError, match="separated"):
        strat.logistic_regression(x > 0, {"x": x}).value()


def test_dependent_columns_are_refused() -> None:
    with pytest.raises(StratError, match="must be determined by the rows, got a singular Jacobian"):
        strat.linear_regression(Y, {"x": X, "again": 2 * X}).value()


def test_a_replicate_without_a_solution_is_told() -> None:
    x = np.array([0.0, 0.0, 1.0, 1.0, 1.0, 1.0])
    statistic = strat.logistic_regression([1, 0, 1, 1, 1, 0], {"x": x})
    with pytest.raises(StratError, match="must be defined in every replicate"):
        strat.estimate(statistic, on=strat.jackknife(strat.Design.simple_random(n=6)))


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: strat.equation(lambda t: X, start=[0.0, 1.0]), "`psi` must give rows × parameters"),
        (lambda: strat.equation(lambda t: X / 0.0 * t, start=[0.0]), "`psi` must be finite at `start`"),
        (lambda: strat.equation(lambda t: X - t, start=[0.0], labels=["a", "b"]), "`labels` must name each of the 1"),
        (
            lambda: strat.equation(lambda t: X - t, start=[0.0], jacobian=lambda t: X).value(),
            "`jacobian` must give rows × parameters × parameters",
        ),
        (lambda: strat.logistic_regression([0, 2], {"x": [1, 2]}), "`y` must be true or false, or from 0 to 1"),
        (lambda: strat.linear_regression([1.0, 2.0], {}, intercept=False), "`x` must hold at least one column"),
        (lambda: strat.calibration_slope([0, 1], [0.0, 0.5]), "`probability` must lie between 0 and 1"),
        (lambda: strat.success_curve([0, 1], [0.0, 1.0]), "`length` must be positive"),
        (
            lambda: strat.ability([0, 1], difficulty=[0.0, 1.0], discrimination=[1.0, -1.0]),
            "`discrimination` must be positive",
        ),
        (lambda: strat.ordinal_logit([1, 2, 3], {"x": [1, 2, 3]}, order=[1, 2]), "`order` must list at least two"),
        (lambda: strat.ordinal_logit([1, 2, 1], {"x": [1, 2, 3]}, order=[1, 2, 9]), "`order` must list outcomes that"),
        (lambda: strat.bradley_terry(["a"], ["a"], ["left"]), "`right` must differ from `left`"),
        (lambda: strat.bradley_terry(["a"], ["b"], ["who"]), "`winner` must be 'left', 'right' or 'tie'"),
        (lambda: strat.bradley_terry(["a", "a"], ["b", "b"], ["left", "left"]), "`winner` must connect all systems"),
        (lambda: strat.bradley_terry(["a"], ["b"], ["left"], ties="no"), "`ties` must be"),
        (lambda: strat.bradley_terry(["tie"], ["b"], ["left"], ties="davidson"), "which is a term of the model"),
        (lambda: strat.bradley_terry(["a"], [1], ["left"]), "`right` must have names of the type of `left`"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
def test_errors(call: Any, match: str) -> None:
    with pytest.raises(StratError, match=match):
        call()

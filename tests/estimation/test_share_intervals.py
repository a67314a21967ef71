"""Shares of rows in units: limits hold where their prior was chosen, and on other layouts."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

import strat
from strat import Design
from strat.base.notes import codes_of
from strat.estimation.unit_shares import UnitShares

Layout = tuple[str, list[int], float, float, str]


def sizes(least: int, most: int, number: int) -> list[int]:
    """Sizes of units that grow by a constant factor."""
    return np.rint(np.geomspace(least, most, number)).astype(int).tolist()


# The prior and the trust in the textbook variance were chosen on these ...
CHOSEN_ON: list[Layout] = [
    ("200 units of 10, rare errors", [10] * 200, 0.995, 0.2, "beta"),
    ("60 units of 1 to 200", sizes(1, 200, 60), 0.98, 0.2, "beta"),
    ("10 units of 30", [30] * 10, 0.95, 0.3, "beta"),
    ("15 units, one bad in ten", [20] * 15, 0.95, 0.3, "bad"),
    ("6 units, one bad in ten", [30] * 6, 0.9, 0.3, "bad"),
    ("one unit of 60 rows and seven of 1", [1] * 7 + [60], 0.8, 0.2, "beta"),
    ("50 units, independent rows", [20] * 50, 0.8, 0.0, "beta"),
]
# ... and not on these.
SECOND: list[Layout] = [
    ("25 units of 8, rate 0.97", [8] * 25, 0.97, 0.25, "beta"),
    ("12 units of 40, rate 0.85, logit-normal", [40] * 12, 0.85, 0.15, "logit-normal"),
    ("80 units of 3 to 30, rate 0.93", sizes(3, 30, 80), 0.93, 0.1, "beta"),
    ("14 units of 15, one bad in ten", [15] * 14, 0.94, 0.25, "bad"),
    ("40 units of 6, rate 0.6", [6] * 40, 0.6, 0.4, "beta"),
    ("9 units, one five times as large", [12] * 8 + [60], 0.88, 0.15, "beta"),
    ("120 units of 5, rate 0.99", [5] * 120, 0.99, 0.1, "logit-normal"),
    ("30 units of 2 to 90, rate 0.9", sizes(2, 90, 30), 0.9, 0.3, "beta"),
]
SPREAD = {(0.85, 0.15): (2.093, 1.105), (0.99, 0.1): (5.48, 1.35)}  # centre and spread of the logit-normal rates


def rates(rng: np.random.Generator, shape: tuple[int, int], rate: float, icc: float, kind: str) -> np.ndarray:
    """The rates of units that differ in one of three ways with the same mean and correlation."""
    if icc == 0:
        return np.full(shape, rate)
    if kind == "beta":
        return rng.beta(rate * (1 / icc - 1), (1 - rate) * (1 / icc - 1), shape)
    if kind == "logit-normal":
        centre, spread = SPREAD[rate, icc]
        return expit(centre + spread * rng.standard_normal(shape))
    gap = np.sqrt(icc * rate * (1 - rate) / 0.09)
    good, bad = rate + 0.1 * gap, rate - 0.9 * gap
    if good > 1:
        good, bad = 1.0, 1 - (1 - rate) / 0.1
    return np.where(rng.random(shape) < 0.1, max(bad, 0.0), good)


def coverage(layout: Layout, number: int) -> tuple[float, float]:
    """Coverage in percent, and mean width."""
    _, rows, rate, icc, kind = layout
    rng = np.random.default_rng(7)
    each = np.repeat(np.array(rows, float)[:, None], number, axis=1)
    p = rates(rng, each.shape, rate, icc, kind)
    truth = rate if kind != "logit-normal" else float(rates(rng, (1, 400_000), rate, icc, kind).mean())
    design = Design.clustered(units=np.repeat(np.arange(len(rows)), rows))
    low, high = UnitShares(rng.binomial(each.astype(int), p).astype(float), each, each, design).limits(0.95)
    return 100 * float(((low <= truth) & (truth <= high)).mean()), float((high - low).mean())


@pytest.mark.parametrize("layout", SECOND[:3], ids=lambda layout: layout[0])
def test_the_limits_hold_on_layouts_they_were_not_chosen_on(layout: Layout) -> None:
    assert coverage(layout, 300)[0] > 93 - 2.6  # two Monte-Carlo errors


@pytest.mark.slow
@pytest.mark.parametrize("layout", [*CHOSEN_ON, *SECOND], ids=lambda layout: layout[0])
def test_the_limits_hold(layout: Layout) -> None:
    assert coverage(layout, 2000)[0] > 93 - 1.2


def test_many_units_have_the_limits_of_the_logit() -> None:
    rng = np.random.default_rng(1)
    unit = np.repeat(np.arange(3000), 4)
    right = rng.random(12000) < rng.beta(4, 1, 3000)[unit]
    found = strat.estimate(strat.proportion(right), on=Design.clustered(units=unit))
    assert found.interval() == pytest.approx(found.interval(method="logit"), abs=2e-4)
    assert found.interval() == found.interval(method="beta-binomial")


def test_independent_rows_keep_the_logit() -> None:
    found = strat.estimate(strat.proportion([1] * 45 + [0] * 5), on=Design.simple_random(n=50))
    assert found.interval() == found.interval(method="logit")
    with pytest.raises(strat.StratError, match="`method` must not be 'beta-binomial' for proportion"):
        found.interval(method="beta-binomial")


def test_names_weights_and_order_of_units_do_not_matter() -> None:
    rng = np.random.default_rng(2)
    unit, right = np.repeat(np.arange(12), 5), rng.random(60) < 0.85
    usual = strat.estimate(strat.proportion(right), on=Design.clustered(units=unit)).interval()
    order = rng.permutation(60)
    other = Design.clustered(units=(100 - unit)[order], weights=np.full(60, 3.0))
    assert strat.estimate(strat.proportion(right[order]), on=other).interval() == pytest.approx(usual, abs=1e-5)
    wrong = strat.estimate(strat.proportion(~right), on=Design.clustered(units=unit)).interval()
    assert wrong == pytest.approx((1 - usual[1], 1 - usual[0]), abs=1e-4)


def test_a_limit_is_the_same_whichever_others_are_looked_for() -> None:
    hits, rows = np.array([[5.0, 0.0], [5.0, 2.0], [3.0, 1.0], [4.0, 5.0]]), np.full((4, 2), 5.0)
    strata, units = np.repeat([0, 0, 1, 1], 5), np.repeat(range(4), 5)
    for design in (Design.clustered(units=units), Design.stratified(strata=strata, units=units)):
        tails = np.array([0.025, 0.05, 0.975])
        together = UnitShares(hits, rows, rows, design)._fit.by_design(tails)
        for tail, limits in zip(tails, together, strict=True):
            assert UnitShares(hits, rows, rows, design)._fit.by_design(np.array([tail]))[0].tolist() == limits.tolist()
            first = UnitShares(hits[:, :1], rows[:, :1], rows[:, :1], design)
            assert first._fit.by_design(np.array([tail]))[0] == pytest.approx(limits[:1], abs=1e-9)


def test_a_known_part_of_the_population_narrows_the_limits() -> None:
    unit, right = np.repeat(np.arange(10), 6), np.arange(60) % 7 > 0
    width = [
        np.diff(strat.estimate(strat.proportion(right), on=Design.clustered(units=unit, population=n)).interval())[0]
        for n in (None, 20, 11)
    ]
    assert width[0] > width[1] > width[2] > 0
    whole = strat.estimate(strat.proportion(right), on=Design.clustered(units=unit, population=10))
    assert np.ptp(whole.interval()) == 0  # nothing was left unseen


@pytest.mark.parametrize(
    ("right", "design"),
    [
        ([1, 1, 1, 1, 0] * 2, Design.clustered(units=[0] * 5 + [1] * 5)),
        ([0, 0] + [1] * 18, Design.stratified(strata=np.repeat(range(10), 2))),
        ([1] * 10 + [0] * 10, Design.stratified(strata=np.repeat([0, 1], 10))),
    ],
    ids=["two units of four in five", "a stratum all wrong", "one stratum right, one wrong"],
)
def test_units_that_agree_are_no_point(right: list[int], design: Design) -> None:
    """They printed 0.8000 to 0.8000 and the like."""
    found = strat.estimate(strat.proportion(right), on=design)
    low, high = found.interval()
    assert found.se == 0
    assert low < found.value - 0.05 < found.value + 0.05 < high
    assert [note.code for note in found.notes] == ["no-variation"]


def test_items_tried_once_vary_too() -> None:
    """A try of one had no variance: 0.6800 to 0.6800."""
    right = (np.arange(50) % 3 > 0).astype(float)
    once = strat.estimate(strat.proportion(right), on=Design.simple_random(items=range(50), population=50))
    rows = strat.estimate(strat.proportion(right), on=Design.simple_random(n=50))
    assert once.se == pytest.approx(rows.se)
    assert once.notes[-1].code == "single-tries"
    perfect = strat.estimate(strat.proportion(np.ones(50)), on=Design.simple_random(items=range(50), population=50))
    assert perfect.interval()[0] < 0.95


def test_a_constant_score_is_no_certainty() -> None:
    found = strat.estimate(strat.auc(np.arange(40) % 2, np.zeros(40)), on=Design.simple_random(n=40))
    low, high = found.interval()
    assert low < 0.45 < 0.55 < high
    assert "no-variation" in [note.code for note in found.notes]


def test_measures_of_one_perfect_class_agree() -> None:
    """They said 0.29, 0.0855, 0.912 and 0.0855."""
    unit = np.repeat(np.arange(40), 10)
    truth = ((unit < 3) & (np.arange(400) % 2 == 0)).astype(int)
    design = Design.clustered(units=unit)
    makers = [strat.recall, strat.precision, strat.f1]
    low = [strat.estimate(make(truth, truth), on=design).interval()[0] for make in makers]
    low.append(strat.estimate(strat.recall(truth, truth, average=None), on=design).interval()[0][1])
    low.append(strat.estimate(strat.auc(truth, truth + 0.0), on=design).interval()[0])
    assert low == pytest.approx([low[0]] * 5, abs=1e-4)
    assert 0.29 < low[0] < 0.025 ** (1 / 15)  # more than three units know, less than fifteen rows
    for make in (strat.mcc, strat.kappa):  # on a scale from −1 to 1
        assert strat.estimate(make(truth, truth), on=design).interval()[0] == pytest.approx(2 * low[0] - 1, abs=1e-4)


def precisions(negatives: int, positives: int, sensitivity: float, specificity: float, number: int) -> np.ndarray:
    """Whether the limits of the precision hold the truth, in samples drawn by class."""
    truth = np.repeat([0, 1], [negatives, positives])
    rate = np.where(truth, sensitivity, 1 - specificity)
    true = rate[truth == 1].sum() / rate.sum()
    rng, design = np.random.default_rng(3), Design.stratified(strata=truth)
    held = []
    for _ in range(number):
        found = strat.precision(truth, (rng.random(len(truth)) < rate).astype(int), positive=1)
        low, high = strat.estimate(found, on=design).interval()
        held.append(low <= true <= high)
    return np.array(held)


@pytest.mark.parametrize("layout", [(50, 50, 0.85, 0.85), (200, 20, 0.8, 0.95)], ids=str)
def test_the_precision_of_samples_drawn_by_class_holds(layout: tuple[int, int, float, float]) -> None:
    """How many of each class are called positive is not fixed: it covered 36 and 40 %, three in five a point."""
    assert precisions(*layout, number=150).mean() > 0.93 - 0.036


@pytest.mark.slow
@pytest.mark.parametrize("layout", [(40, 40, 0.95, 0.95), (15, 60, 0.9, 0.7), (120, 60, 0.7, 0.9)], ids=str)
def test_the_precision_of_samples_drawn_by_class_holds_in_other_layouts(
    layout: tuple[int, int, float, float],
) -> None:
    assert precisions(*layout, number=1000).mean() > 0.93 - 0.014


def test_domains_of_strata_that_differ_are_as_uncertain_as_their_sizes() -> None:
    """In a stratum all wrong and one all right, the share of a domain moves with how many rows of each fall into it."""
    right = np.repeat([0.0, 1.0], 40)
    inside = np.tile(np.arange(40) % 4 == 0, 2)
    found = strat.estimate(strat.domain(strat.proportion(right), inside), on=Design.stratified(strata=right))
    low, high = found.interval()
    straight = found.interval(method="logit")
    assert high - low == pytest.approx(straight[1] - straight[0], rel=0.25)


def test_limits_by_replicates_are_said_to_be_of_another_kind() -> None:
    """One standard error, two intervals: whoever is told that BRR equals the closed form asks why."""
    right = np.tile([1, 0, 1, 1], 20)
    design = Design.stratified(strata=np.repeat(range(20), 4))
    share = strat.proportion(right)
    closed, balanced = strat.estimate(share, on=design), strat.estimate(share, on=strat.brr(design))
    assert balanced.se == pytest.approx(closed.se)
    assert balanced.interval() != pytest.approx(closed.interval(), abs=1e-4)
    assert "limits-by-method" in codes_of(balanced.notes)
    assert "limits-by-method" not in codes_of(closed.notes)
    assert "limits-by-method" not in codes_of(strat.estimate(strat.mean(right * 2.0), on=strat.brr(design)).notes)

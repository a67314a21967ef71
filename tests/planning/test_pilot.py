"""A result plans the study that follows it: more units like its own, until a width or a power is reached."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import strat
from strat import comparison, planning
from strat.base.errors import StratError


def patients(number: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Images of patients, of whom one in ten is ill; patients differ in how hard their images are."""
    who = np.repeat(np.arange(number), rng.integers(1, 6, number))
    ill = (rng.random(number) < 0.1)[who].astype(int)
    hard = rng.normal(size=number)[who]
    hit = rng.random(len(who)) < 1 / (1 + np.exp(-1.2 - hard))
    return {"who": who, "ill": ill, "said": np.where(hit, ill, 1 - ill)}


def recall_of(table: dict[str, np.ndarray]) -> strat.Estimate:
    return strat.evaluate(table, truth="ill", predicted="said", units="who", metrics="recall")["recall"]


def width(estimate: strat.Estimate, level: float = 0.95) -> float:
    low, high = estimate.interval(level)
    return float(high - low)


def test_the_pilots_own_width_needs_the_pilots_own_units() -> None:
    pilot = recall_of(patients(700, np.random.default_rng(1)))
    plan = strat.units_for(pilot, width=width(pilot), assurance=0.5)
    assert plan.units == pytest.approx(
        700, rel=0.06
    )  # plans take the logit scale; the limits of a share are close to it
    assert plan.rows == pytest.approx(plan.units * len(patients(700, np.random.default_rng(1))["who"]) / 700, abs=1)
    safer = strat.units_for(pilot, width=width(pilot))
    assert (safer.assurance, safer.units > plan.units) == (0.8, True)


def test_the_planned_study_has_the_planned_width() -> None:
    """A planner of shares said 635 patients where 6,700 were needed: it knew no prevalence."""
    pilot = recall_of(patients(1500, np.random.default_rng(2)))
    plan = strat.units_for(pilot, width=0.06)
    study = recall_of(patients(plan.units, np.random.default_rng(3)))
    assert width(study) == pytest.approx(0.06, rel=0.15)
    assert plan.rows == pytest.approx(3 * plan.units, rel=0.1)


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 40), st.floats(0.5, 0.99))
def test_copies_of_the_pilot_are_what_it_plans(copies: int, level: float) -> None:
    right = np.array([1, 1, 1, 0, 1, 1, 0, 0, 1, 1] * 4)
    unit = np.arange(40) // 2
    pilot = strat.estimate(strat.proportion(right), on=strat.Design.clustered(units=unit))
    units = np.concatenate([unit + 20 * i for i in range(copies)])
    many = strat.estimate(strat.proportion(np.tile(right, copies)), on=strat.Design.clustered(units=units))
    plan = strat.units_for(pilot, width=width(many, level), level=level, assurance=0.5)
    assert plan.units == pytest.approx(20 * copies, rel=0.15)  # (n - 1) / n of the variance, its df, the logit scale


def test_every_scale_of_an_interval() -> None:
    y = np.random.default_rng(4).normal(3, 1, 200)
    on = strat.Design.simple_random(n=200)
    for statistic in (strat.mean(y), strat.correlation(y, y**2), strat.variance(y), strat.quantile(y, 0.5)):
        pilot = strat.estimate(statistic, on=on)
        plan = strat.units_for(pilot, width=width(pilot) / 2)
        assert plan.units == pytest.approx(800, rel=0.25)
        assert plan.rows == plan.units


def test_a_comparison_plans_its_power() -> None:
    rng = np.random.default_rng(5)
    truth, unit = np.ones(600, int), np.arange(600) // 2
    a, b = (rng.random(600) < 0.8).astype(int), (rng.random(600) < 0.75).astype(int)
    on = strat.Design.clustered(units=unit)
    result = comparison.paired(strat.accuracy(truth, a), strat.accuracy(truth, b), on=on)
    plan = result.units_for(power=0.8, difference=0.03)
    same = planning.pilot_units_for_power(se=result.se, units=300, difference=0.03)
    assert plan.units == same.number
    assert plan.rows == 2 * plan.units
    assert result.units_for(power=0.8).units == result.units_for(power=0.8, difference=result.value).units
    assert str(plan.units) in repr(plan).replace(",", "")
    assert plan.to_dict()["rows"] == plan.rows


def test_the_power_is_had() -> None:
    rng = np.random.default_rng(6)

    def compared(n: int) -> comparison.Comparison:
        truth, a, b = np.ones(n, int), (rng.random(n) < 0.8).astype(int), (rng.random(n) < 0.7).astype(int)
        return comparison.paired(strat.accuracy(truth, a), strat.accuracy(truth, b), on=strat.Design.simple_random(n=n))

    plan = compared(2000).units_for(power=0.8, difference=0.1)
    found = [compared(plan.units).pvalue < 0.05 for _ in range(200)]
    assert np.mean(found) == pytest.approx(0.8, abs=0.09)


def test_subjects_of_a_verification_are_its_units() -> None:
    rng = np.random.default_rng(7)
    who = np.repeat(np.arange(30), 3)
    score = rng.normal(size=(90, 90)) + 2.5 * (who[:, None] == who)
    from strat.recognition import verification

    eer = verification(similarity=score, probes=who, gallery=who).eer()
    plan = strat.units_for(eer, width=width(eer) / 2)
    assert plan.units == pytest.approx(120, rel=0.15)
    assert plan.rows is None


PILOT = recall_of(patients(200, np.random.default_rng(8)))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: strat.units_for(PILOT), "`width` .* or `power` .* must be given, and not both"),
        (lambda: strat.units_for(PILOT, width=0.1, power=0.8), "must be given, and not both"),
        (lambda: strat.units_for(PILOT, width=0), "`width` must be positive"),
        (lambda: strat.units_for(PILOT, width=1.5), r"`width` must be less than the whole range of recall \(1\)"),
        (lambda: strat.units_for(PILOT, width=1e-9), "`width` must be reachable"),
        (lambda: strat.units_for(PILOT, width=0.1, difference=0.1), "`difference` must be left out for a width"),
        (lambda: strat.units_for(PILOT, power=0.8), "`difference` must say how large"),
        (lambda: strat.units_for(PILOT, power=1.2, difference=0.1), "`power` must lie strictly between 0 and 1"),
        (lambda: strat.units_for(0.03, width=0.1), "`pilot` must be a Comparison or an Estimate, got 0.03"),
        (
            lambda: strat.units_for(
                strat.estimate(strat.proportion([1] * 9), on=strat.Design.simple_random(n=9)), width=0.1
            ),
            "`pilot` must have a standard error, got 0",
        ),
        (
            lambda: strat.units_for(
                strat.estimate(strat.mean(np.eye(9)), on=strat.Design.simple_random(n=9)), width=0.1
            ),
            "`pilot` must be a single number",
        ),
    ],
)
def test_plans_that_can_not_be(call, message: str) -> None:
    with pytest.raises(StratError, match=message):
        call()


def test_a_comparison_of_a_table_plans_its_own_study() -> None:
    """`strat.compare(…).units_for(power=0.8)` was an AttributeError: the table's comparison could not plan."""
    table = patients(300, np.random.default_rng(4))
    table["other"] = np.where(np.random.default_rng(5).random(len(table["ill"])) < 0.9, table["ill"], 1 - table["ill"])
    result = strat.compare(table, truth="ill", predicted=["said", "other"], units="who")
    assert result.units_for(power=0.8).units == result.comparison.units_for(power=0.8).units
    assert result.units_for(power=0.9).units > result.units_for(power=0.8).units

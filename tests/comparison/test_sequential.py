"""Confidence sequences: the error over all looks, agreement with the gate, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from strat.base.errors import StratError
from strat.comparison import anytime_error, confidence_sequence
from strat.verbs import gate

SERIES = st.lists(st.floats(-1, 1), min_size=2, max_size=40)


@given(values=SERIES)
def test_limits_lie_about_the_mean_and_turn_with_the_sign(values: list[float]) -> None:
    for how in ({"bounds": (-1.0, 1.0)}, {"planned": 20}):
        up, down = confidence_sequence(values, **how), confidence_sequence([-v for v in values], **how)
        assert (up.low <= up.high + 1e-12).all()
        assert up.low == pytest.approx(-down.high, abs=1e-9)
    asymptotic = confidence_sequence(values, planned=20)
    assert (asymptotic.low <= asymptotic.mean + 1e-12).all()


@given(values=SERIES, shift=st.floats(-3, 3), scale=st.floats(0.1, 9))
def test_bounded_limits_move_with_the_scale(values: list[float], shift: float, scale: float) -> None:
    plain = confidence_sequence(values, bounds=(-1.0, 1.0))
    moved = confidence_sequence(
        np.clip(shift + scale * np.array(values), shift - scale, shift + scale), bounds=(shift - scale, shift + scale)
    )
    assert moved.low == pytest.approx(shift + scale * plain.low, abs=1e-8)


@pytest.mark.parametrize(("units", "planned", "alpha"), [(500, 500, 0.05), (40, 200, 0.025), (3000, 200, 0.005)])
def test_limits_are_those_of_the_paper(units: int, planned: int, alpha: float) -> None:
    """Waudby-Smith et al. (2024): the one-sided asymptotic sequence, with ρ for the planned time at error 2α."""
    twice = 2 * alpha
    rho = np.sqrt((-2 * np.log(twice) + np.log(-2 * np.log(twice) + 1)) / planned)
    boundary = np.sqrt(
        2 * (units * rho**2 + 1) / (units**2 * rho**2) * np.log(1 + np.sqrt(units * rho**2 + 1) / (2 * alpha))
    )
    assert anytime_error(alpha, units=units, planned=planned) == pytest.approx(norm.sf(boundary * units**0.5), rel=1e-9)
    values = np.random.default_rng(1).standard_normal(units)
    sequence = confidence_sequence(values, planned=planned, level=1 - twice)
    assert sequence.low[-1] == pytest.approx(values.mean() - values.std(ddof=1) * boundary, rel=1e-9)


@pytest.mark.parametrize("alpha", [0.05, 0.025, 0.005])
def test_looking_costs_least_near_the_planned_number(alpha: float) -> None:
    """The paper's ρ is an approximation: the price is least at 1.02 to 1.11 times the planned number."""
    units = np.arange(20, 2001)
    errors = np.array([anytime_error(alpha, units=n, planned=200) for n in units])
    assert 200 <= units[errors.argmax()] <= 222
    assert errors.max() < alpha


def test_the_gate_at_a_look_is_the_sequence_with_student_in_place_of_normal() -> None:
    rng = np.random.default_rng(0)
    old, new = (rng.random(2000) < 0.7).astype(float), (rng.random(2000) < 0.72).astype(float)
    sequence = confidence_sequence(new - old, planned=1000, level=0.9)  # the gate's 95 % are of one side
    check = gate({"old": old, "new": new}, score=["old", "new"], baseline="old", margin=0.05, anytime=1000).checks[0]
    assert check.low == pytest.approx(sequence.low[-1], abs=2e-4)
    assert check.low < gate({"old": old, "new": new}, score=["old", "new"], baseline="old", margin=0.05).checks[0].low


def test_when_it_was_settled() -> None:
    gains = np.tile([0.0, 0.5, 1.0, -0.5], 100)
    sequence = confidence_sequence(gains, planned=100)
    first = sequence.above(0.0)
    assert first is not None
    assert sequence.low[first - 1] > 0 >= sequence.low[: first - 1].max()
    assert sequence.below(0.0) is None


def misses(draw: Any, trials: int, units: int, first: int, **how: Any) -> float:
    """The share of series in which a limit ever lies beyond the mean, 0."""
    series = (confidence_sequence(draw(units), **how) for _ in range(trials))
    ever = [(one.low[first - 1 :] > 0).any() or (one.high[first - 1 :] < 0).any() for one in series]
    return float(np.mean(ever))


@pytest.mark.slow
def test_the_error_over_all_looks() -> None:
    """At most 5 % (+ 3 standard errors) of series are ever wrong; the nightly fixed-n limit is wrong in far more."""
    rng = np.random.default_rng(2)
    most = 0.05 + 3 * np.sqrt(0.05 * 0.95 / 400)

    def clusters(n: int) -> Any:
        return (rng.binomial(5, 0.35, n) - rng.binomial(5, 0.35, n)) / 5

    def sparse(n: int) -> Any:
        return rng.choice([-1.0, 0.0, 1.0], n, p=[0.03, 0.94, 0.03])

    for draw in (clusters, sparse):
        assert misses(draw, 400, 1500, 20, planned=300) <= most
        assert misses(draw, 400, 1500, 1, bounds=(-1.0, 1.0)) <= most
    wrong = 0
    for _ in range(400):
        x = clusters(1500)
        n = np.arange(1, 1501)
        mean = np.cumsum(x) / n
        se = np.sqrt(np.maximum(np.cumsum(x**2) / n - mean**2, 0) / n)
        wrong += bool((np.abs(mean) > 1.96 * se)[19:].any())
    assert wrong / 400 > 3 * 0.05


@pytest.mark.parametrize(
    ("values", "how", "message"),
    [
        ([1.0], {}, "`values` must have one value for each of two units or more"),
        ([0.0, 2.0], {"bounds": (0.0, 1.0)}, r"`values` must lie within `bounds` \(0 to 1\), got 0 to 2"),
        ([0.0, 1.0], {"bounds": (1.0, 0.0)}, "`bounds` must be two numbers, the smaller one first"),
        ([0.0, 1.0], {"bounds": (0.0, 1.0), "planned": 3}, "`planned` must be left out beside `bounds`"),
        ([0.0, 1.0], {"level": 1.0}, "`level` must lie strictly between 0 and 1"),
    ],
)
def test_what_is_refused(values: list[float], how: dict[str, Any], message: str) -> None:
    with pytest.raises(StratError, match=message):
        confidence_sequence(values, **how)

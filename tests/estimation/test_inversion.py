"""Tests agree with the interval that is printed: p is one less the level at which a limit meets the null value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import strat
from strat.base.errors import StratError

RNG = np.random.default_rng(8)
UNIT = np.repeat(np.arange(20), 6)
Y = (RNG.random(120) < 0.8).astype(int)
P = np.where(RNG.random(120) < 0.85, Y, 1 - Y)
X = RNG.standard_normal((2, 120)) + RNG.standard_normal(120)


def _cases() -> dict[str, Any]:
    clustered, rows = strat.Design.clustered(units=UNIT), strat.Design.simple_random(n=120)
    return {
        "share of rows": strat.estimate(strat.proportion(Y), on=rows),
        "share in units": strat.estimate(strat.proportion(Y), on=clustered),
        "perfect share": strat.estimate(strat.proportion(np.ones(120)), on=clustered),
        "no right row": strat.estimate(strat.proportion(np.zeros(120)), on=rows),
        "mean": strat.estimate(strat.mean(X[0]), on=clustered),
        "correlation": strat.estimate(strat.correlation(*X), on=clustered),
        "median": strat.estimate(strat.quantile(X[0], 0.5), on=clustered),
        "F1": strat.estimate(strat.f1(Y, P, positive=1), on=clustered),
        "AUC": strat.estimate(strat.auc(Y, X[0] + Y, positive=1), on=clustered),
        "recall of classes": strat.estimate(strat.recall(Y, P, average=None), on=clustered),
        "jackknife": strat.estimate(strat.f1(Y, P, positive=1), on=strat.jackknife(clustered)),
        "ratio": strat.estimate(
            strat.stack("s", a=strat.mean(X[0] + 9), b=strat.mean(X[1] + 9)), on=clustered
        ).map(lambda v: v[..., 0] / v[..., 1], link="log", bounds=(0.0, np.inf)),
    }  # fmt: skip


CASES = _cases()


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
def test_p_at_a_limit_is_one_less_the_level(name: str, level: float) -> None:
    """On both sides, and half of it on one; a step further out it is less, a step inside more."""
    one = CASES[name]
    low, high = (np.ravel(side) for side in one.interval(level))
    bottom, top = one.bounds
    for i in range(one.point.size):
        for limit, end, out, side in ((low[i], bottom, -1, "greater"), (high[i], top, 1, "less")):
            if abs(limit - end) < 1e-9 or name == "median":  # the end of the range, or a step of whole rows
                continue
            assert np.ravel(one.test(limit).pvalue)[i] == pytest.approx(1 - level, rel=1e-3)
            assert np.ravel(one.test(limit, alternative=side).pvalue)[i] == pytest.approx((1 - level) / 2, rel=1e-3)
            step = 0.02 * (high[i] - low[i]) * out
            assert np.ravel(one.test(limit + step).pvalue)[i] < 1 - level < np.ravel(one.test(limit - step).pvalue)[i]


@given(st.integers(20, 80), st.data())
def test_a_null_is_rejected_exactly_if_it_lies_outside(n: int, data: st.DataObject) -> None:
    """The contradictions of before: 48 of 50 has 0.847 to 0.990, and 0.87 had p = 0.0023."""
    right, null = data.draw(st.integers(0, n)), data.draw(st.floats(0.02, 0.98))
    one = strat.estimate(strat.proportion(np.arange(n) < right), on=strat.Design.simple_random(n=n))
    low, high = one.interval()
    p = one.test(null).pvalue
    assert (p < 0.05) == (not low <= null <= high) or p == pytest.approx(0.05, rel=1e-3)


def test_a_value_beyond_the_range_is_impossible() -> None:
    """A share is not 1.2, and a share with errors is not 1."""
    one = CASES["share of rows"]
    assert one.test(1.2).pvalue == 0
    assert one.test(1.0).pvalue == 0
    assert one.test(float(one.value)).pvalue == pytest.approx(1)


def test_one_sided_p_values_add_up_to_one() -> None:
    """Less and greater, of each value of an array."""
    one = CASES["recall of classes"]
    both = [np.asarray(one.test(0.8, alternative=side).pvalue) for side in ("less", "greater")]
    np.testing.assert_allclose(both[0] + both[1], 1.0, rtol=1e-6)


@pytest.mark.parametrize("name", CASES)
def test_one_sided_limits_are_those_of_the_wider_interval(name: str) -> None:
    """At 95 % on one side: the 90 % interval."""
    one = CASES[name]
    low, high = one.interval(0.9)
    np.testing.assert_allclose(one.limit(0.95, side="lower"), low)
    np.testing.assert_allclose(one.limit(0.95, side="upper"), high)


def test_wrong_arguments_are_refused() -> None:
    """By name."""
    one = CASES["mean"]
    with pytest.raises(StratError, match="`side` must be"):
        one.limit(0.95, side="left")
    with pytest.raises(StratError, match=r"`level` must be above 0\.5 for a one-sided limit, got 0\.4"):
        one.limit(0.4, side="lower")
    with pytest.raises(StratError, match="`alternative` must be"):
        one.test(0.0, alternative="more")


@pytest.mark.slow
@pytest.mark.parametrize(("n", "rate"), [(100, 0.97), (50, 0.9)])
def test_type_one_error_of_a_share(n: int, rate: float) -> None:
    """At most 6 %, exactly, over the counts (15 and 12 % with value ± t · se)."""
    from scipy.stats import binom

    design = strat.Design.simple_random(n=n)
    counts = np.arange(n + 1)
    p = np.array([strat.estimate(strat.proportion(np.arange(n) < k), on=design).test(rate).pvalue for k in counts])
    assert binom.pmf(counts, n, rate)[p <= 0.05].sum() <= 0.06

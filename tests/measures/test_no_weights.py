"""A person's metric that takes no weights."""

from __future__ import annotations

import numpy as np
import pytest

import strat


def test_a_metric_without_weights_is_refused_in_a_sentence() -> None:
    """Every replicate is a set of weights: a metric that takes none can't be replicated."""
    one = strat.metric(lambda truth, predicted: 1.0, [0, 1, 1], [0, 1, 0])
    with pytest.raises(strat.StratError, match=r"`function` must be a metric that takes .*sample_weight"):
        strat.estimate(one, on=strat.Design.simple_random(n=3))


def test_a_function_of_weights_is_one_of_totals_whose_components_are_the_rows() -> None:
    """`Statistic.function` has one meaning: where each row is a component, the totals are the weights."""
    y, weights = np.array([1.0, 4.0, 2.0]), np.array([1.0, 0.5, 2.0])
    own = strat.statistic(lambda w: float((w * y).sum() / w.sum()), name="own mean", n=3)
    usual = strat.mean(y)
    assert (own.of_weights, own.components, usual.of_weights) == (True, 3, False)
    assert float(own.value(weights)) == float(own.function(weights)) == pytest.approx(float(usual.value(weights)))


def test_views_are_one_for_all_values_or_one_for_each_run() -> None:
    y, there = np.array([1.0, 0.0, 1.0, 1.0]), np.array([True, True, False, False])
    whole, inside = strat.mean(y), strat.domain(strat.mean(y), there)
    assert (whole.views, whole.domain, whole.domains) == ((None,), None, None)
    assert inside.domain is not None
    assert inside.domain.tolist() == there.tolist()
    both = strat.stack("part", all=whole, first=inside)
    assert both.domain is None
    assert both.domains is not None
    assert len(both.domains) == 2

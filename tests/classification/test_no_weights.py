"""A person's metric that takes no weights."""

from __future__ import annotations

import pytest

import strat


def test_a_metric_without_weights_is_refused_in_a_sentence() -> None:
    """Every replicate is a set of weights: a metric that takes none can't be replicated."""
    one = strat.metric(lambda truth, predicted: 1.0, [0, 1, 1], [0, 1, 0])
    with pytest.raises(strat.StratError, match=r"`function` must be a metric that takes .*sample_weight"):
        strat.estimate(one, on=strat.Design.simple_random(n=3))

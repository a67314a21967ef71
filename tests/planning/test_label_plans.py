"""Labels for a width: the formula, what is saved, and errors."""

from __future__ import annotations

import numpy as np
import pytest

from strat.errors import StratError
from strat.planning import labels_for_width
from strat.statistics.student import critical


def test_the_width_is_that_of_the_regression_estimator() -> None:
    plan = labels_for_width(width=0.05, rows=20_000, correlation=0.6, deviation=0.4)
    n = plan.number
    width = 2 * critical(0.95, n - 1) * 0.4 * np.sqrt((1 - 0.36) / n + 0.36 / 20_000)
    assert plan.plan.reached == pytest.approx(float(width))
    assert width <= 0.05 < 2 * critical(0.95, n - 2) * 0.4 * np.sqrt((1 - 0.36) / (n - 1) + 0.36 / 20_000)


def test_a_proxy_without_correlation_saves_nothing() -> None:
    assert labels_for_width(width=0.1, rows=5000, correlation=0.0, proportion=0.5).saved == 0


def test_a_better_proxy_saves_more() -> None:
    saved = [labels_for_width(width=0.1, rows=5000, correlation=r, proportion=0.5).saved for r in (0.3, 0.6, 0.9)]
    assert saved == sorted(saved)


def test_the_sign_of_the_correlation_does_not_matter() -> None:
    one, other = (labels_for_width(width=0.1, rows=5000, correlation=r, proportion=0.5).number for r in (0.7, -0.7))
    assert one == other


def test_errors() -> None:
    with pytest.raises(StratError, match=r"`proportion` .* or `deviation` .* must be given"):
        labels_for_width(width=0.1, rows=100, correlation=0.5)
    with pytest.raises(StratError, match="`rows` must be from 3"):
        labels_for_width(width=0.1, rows=0, correlation=0.5, proportion=0.5)
    with pytest.raises(StratError, match="`correlation` must lie from -1 to 1"):
        labels_for_width(width=0.1, rows=100, correlation=2.0, proportion=0.5)
    with pytest.raises(StratError, match="`width` must be one that 100 rows can give"):
        labels_for_width(width=0.01, rows=100, correlation=0.5, proportion=0.5)

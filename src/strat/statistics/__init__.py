"""What is measured: what to add up in each unit, and what to make of the sums."""

from __future__ import annotations

from strat.statistics.base import Axis, Rows, Statistic
from strat.statistics.means import (
    accuracy,
    correlation,
    domain,
    error_rate,
    function_of_totals,
    mean,
    proportion,
    ratio,
    stack,
    statistic,
    total,
    variance,
)
from strat.statistics.post_stratification import post_stratified
from strat.statistics.proportions import score_interval
from strat.statistics.quantiles import quantile

__all__ = [
    "Axis",
    "Rows",
    "Statistic",
    "accuracy",
    "correlation",
    "domain",
    "error_rate",
    "function_of_totals",
    "mean",
    "post_stratified",
    "proportion",
    "quantile",
    "ratio",
    "score_interval",
    "stack",
    "statistic",
    "total",
    "variance",
]

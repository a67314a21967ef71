"""Estimates: a statistic under a design, with standard errors, intervals, bands and tests."""

from __future__ import annotations

from strat.estimation.effects import (
    Overdispersion,
    actual_error,
    correlation_from_effect,
    design_effect,
    intraclass_correlation,
    overdispersion,
)
from strat.estimation.estimate import estimate
from strat.estimation.result import Estimate, Test

__all__ = [
    "Estimate",
    "Overdispersion",
    "Test",
    "actual_error",
    "correlation_from_effect",
    "design_effect",
    "estimate",
    "intraclass_correlation",
    "overdispersion",
]

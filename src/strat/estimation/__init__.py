"""Estimates: a statistic under a design, with standard errors, intervals, bands and tests."""

from __future__ import annotations

from strat.estimation.calibrated import cross_fitted
from strat.estimation.components import VarianceComponents, variance_components
from strat.estimation.cuped_difference import cuped
from strat.estimation.effects import (
    IntraclassCorrelation,
    Overdispersion,
    actual_error,
    correlation_from_effect,
    intraclass,
    intraclass_correlation,
    overdispersion,
)
from strat.estimation.estimate import estimate
from strat.estimation.result import Estimate
from strat.estimation.rogan_gladen_share import rogan_gladen
from strat.estimation.two_phase import two_phase
from strat.estimation.value_tests import Test
from strat.measures.clustering import design_effect

__all__ = [
    "Estimate",
    "IntraclassCorrelation",
    "Overdispersion",
    "Test",
    "VarianceComponents",
    "actual_error",
    "correlation_from_effect",
    "cross_fitted",
    "cuped",
    "design_effect",
    "estimate",
    "intraclass",
    "intraclass_correlation",
    "overdispersion",
    "rogan_gladen",
    "two_phase",
    "variance_components",
]

"""Honest evaluation of classifiers, recognition systems and AI models.

Say how the rows were drawn (`Design`), what is measured (a statistic such as `accuracy`), and get an estimate
whose interval holds (`estimate`). See the README for three examples.
"""

from __future__ import annotations

import importlib
from typing import Any

from strat.designs import Design, Plan
from strat.errors import StratError, StratWarning
from strat.estimation import Estimate, estimate, intraclass_correlation
from strat.replication import (
    Replicates,
    all_half_samples,
    bootstrap,
    brr,
    fay,
    generalized,
    given,
    half_samples,
    jackknife,
    multi_array,
)
from strat.statistics import (
    Statistic,
    accuracy,
    correlation,
    domain,
    error_rate,
    function_of_totals,
    mean,
    post_stratified,
    proportion,
    quantile,
    ratio,
    score_interval,
    stack,
    statistic,
    total,
    variance,
)

__version__ = "0.1.0"

__all__ = [
    "Design",
    "Estimate",
    "Plan",
    "Replicates",
    "Statistic",
    "StratError",
    "StratWarning",
    "accuracy",
    "all_half_samples",
    "bootstrap",
    "brr",
    "correlation",
    "domain",
    "error_rate",
    "estimate",
    "fay",
    "function_of_totals",
    "generalized",
    "given",
    "half_samples",
    "intraclass_correlation",
    "jackknife",
    "mean",
    "multi_array",
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

# Parts that load when they are first used, so that `import strat` needs NumPy and a little of SciPy alone.
_PARTS = ("algebra", "comparison", "datasets", "protocols", "recognition", "report", "tables", "theory")
_FROM_TABLES = ("compare", "evaluate")


def __getattr__(name: str) -> Any:
    """The part or the call of that name, loaded now."""
    if name in _PARTS:
        return importlib.import_module(f"strat.{name}")
    if name in _FROM_TABLES:
        return getattr(importlib.import_module("strat.tables"), name)
    raise AttributeError(f"module 'strat' has no attribute {name!r}")


def __dir__() -> list[str]:
    """All public names, loaded or not."""
    return sorted({*globals(), *__all__, *_PARTS, *_FROM_TABLES})

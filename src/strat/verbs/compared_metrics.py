"""Measures that are evaluated of one system, and by which several can't be compared: what to do instead."""

from __future__ import annotations

from typing import Any

from strat.base.errors import StratError
from strat.verbs.field_metrics import TWO_MODELS, is_quantile
from strat.verbs.metric_words import ALIASES
from strat.verbs.metrics import METRICS, named, one_by_one


def check_compared(metrics: Any) -> None:
    """Fail for measures that have no value, or no influences, of one column of each system.

    >>> check_compared("macro_f1")
    >>> check_compared("nri")
    Traceback (most recent call last):
    ...
    strat.base.errors.StratError: `metrics` must be measures of one system, got 'nri', which compares two itself; \
evaluate it with the old model's risk as `predicted` and the new one's as `score`.
    """
    for name in (part.strip() for one in one_by_one(metrics) if isinstance(one, str) for part in one.split(",")):
        metric = named(name)
        base = ALIASES.get(metric.name, metric.name)
        if base in TWO_MODELS:
            raise StratError.about(
                "metrics",
                f"must be measures of one system, got {name!r}, which compares two itself; "
                "evaluate it with the old model's risk as `predicted` and the new one's as `score`.",
            )
        if {"predicted", "score"} <= set(metric.needs):
            raise StratError.about(
                "metrics",
                f"must be measures of one column of each system, got {name!r}, which takes `predicted` and `score`; "
                "evaluate each system by it, or pair them with strat.stack and strat.estimate.",
            )
        if is_quantile(base) or METRICS.get(base) is METRICS["median"]:
            raise StratError.about(
                "metrics",
                f"must be functions of totals to compare systems, got {name!r}, a quantile; evaluate each system by "
                "it, or compare their means.",
            )

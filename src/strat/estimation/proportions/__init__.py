"""Intervals for one proportion: functions of (successes, trials, level), vectorised, that return (low, high).

Successes and trials need not be whole: with an effective number of trials (the trials over a design effect)
every method here serves clustered and weighted data too.
"""

from strat.estimation.proportions.apparent_error import ApparentError, apparent_error
from strat.estimation.proportions.hypergeometric import hypergeometric_interval, stratified_hypergeometric_interval
from strat.estimation.proportions.intervals import (
    agresti_coull,
    clopper_pearson,
    interval_coverage,
    interval_misses,
    jeffreys,
    korn_graubard,
    logit_interval,
    lower_bound,
    rule_of_three,
    score_interval,
    upper_bound,
    wald,
    wilson,
)

__all__ = [
    "ApparentError",
    "agresti_coull",
    "apparent_error",
    "clopper_pearson",
    "hypergeometric_interval",
    "interval_coverage",
    "interval_misses",
    "jeffreys",
    "korn_graubard",
    "logit_interval",
    "lower_bound",
    "rule_of_three",
    "score_interval",
    "stratified_hypergeometric_interval",
    "upper_bound",
    "wald",
    "wilson",
]

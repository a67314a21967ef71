"""Arguments of `evaluate` that can't come together, refused before a row is read."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from strat.base.errors import StratError, one_of
from strat.designs.from_columns import TARGETS
from strat.designs.sampling import Sampling
from strat.verbs.sources import Question
from strat.verbs.two_phase import Proxy

METHODS = ("taylor", "brr", "fay", "generalized", "multi_array", "partially_balanced", "jackknife", "bootstrap")
COUNTED = {"partially_balanced": 64, "bootstrap": 1000}  # methods that make as many replicates as one likes


def check_arguments(
    question: Question,
    sampling: Sampling,
    roles: Mapping[str, str | None],
    *,
    proxy: Proxy | None,
    threshold: float | None,
) -> None:
    """Fail where one argument of `evaluate` has no meaning, or none beside the others."""
    one_of("method", question.method, METHODS)
    if question.target is not None:
        one_of("target", question.target, TARGETS)
    _check_method(sampling, question.method, question.replicates)
    _check_replicates(sampling, by=question.by, proxy=proxy)
    _check_df(question.df, by=question.by or None, proxy=proxy)
    _check_threshold(threshold, **roles)
    if proxy is not None and (threshold is not None or sampling.by_stratum):
        raise StratError.about(
            "proxy", "must not come with `threshold`, nor with a column as `population` or `collapse_by`."
        )


def _check_method(sampling: Sampling, method: str, replicates: int | None) -> None:
    """Designs with a layout have a closed form alone, and few methods a number of replicates."""
    if replicates is not None and method not in COUNTED:
        raise StratError.about(
            "replicates", f"must go with method='partially_balanced' or 'bootstrap', got {replicates} with {method!r}."
        )
    fixed = "replicate_weights" if sampling.replicate_weights is not None else sampling.layout
    if fixed is not None and method != "taylor":
        raise StratError.about("method", f"must be 'taylor', the closed form, beside `{fixed}`, got {method!r}.")


def _check_replicates(sampling: Sampling, **beside: object) -> None:
    """Fail where replicate weights of a file would be ignored."""
    other = next((name for name, value in beside.items() if value), None)
    if sampling.replicate_weights is not None and other is not None:
        raise StratError.about(other, "must be left out beside `replicate_weights`: these are the design.")


def _check_df(df: str | float | None, **beside: object) -> None:
    """Fail unless degrees of freedom, if they are given, would be those of every number."""
    other = next((name for name, value in beside.items() if value is not None), None)
    if df is not None and other is not None:
        raise StratError.about("df", f"must be left out beside `{other}`, whose estimates have their own, got {df!r}.")
    if isinstance(df, str):
        one_of("df", df, ("design", "effective", "satterthwaite"))


def _check_threshold(threshold: float | None, *, truth: str | None, predicted: str | None, score: str | None) -> None:
    """Fail unless the threshold, if there is one, has scores to decide."""
    if threshold is None:
        return
    if not np.isfinite(threshold):
        raise StratError.about("threshold", f"must be finite, got {threshold!r}.")
    if predicted is not None:
        raise StratError.about(
            "threshold", f"must be left out beside `predicted`, got {threshold!r}: predictions are decided."
        )
    if score is None or truth is None:
        raise StratError.about(
            "threshold", "must go with `truth` and `score`: it decides which scores are called positive."
        )

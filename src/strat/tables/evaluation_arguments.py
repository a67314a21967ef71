"""Arguments of `evaluate` that can't come together, refused before a row is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from strat.errors import StratError, one_of
from strat.tables.design import (
    argument_of,
)
from strat.tables.table import Names

METHODS = ("taylor", "brr", "fay", "generalized", "multi_array", "partially_balanced", "jackknife", "bootstrap")
COUNTED = {"partially_balanced": 64, "bootstrap": 1000}  # methods that make as many replicates as one likes


def refuse_without_proxy(**columns: str | None) -> None:
    """Refuse what would be ignored without a proxy."""
    for argument, value in columns.items():
        if value is not None:
            raise StratError.about(
                argument, f"must go with `proxy`, got {value!r}: it is of an estimate of two phases."
            )


@dataclass(frozen=True)
class Published:
    """Replicate weights in the columns of a table: how their names start, their scale, and R's `mse`."""

    prefix: str
    scale: float
    mse: bool


def published_weights(
    prefix: str | None, scale: float | None, mse: bool, *, beside: Mapping[str, bool], weights: str | None
) -> Published | None:
    """The replicate weights that a table holds, if it does; `beside` says which arguments they exclude were given."""
    if prefix is None:
        if scale is not None or not mse:
            raise StratError.about(
                "scale", "and `mse` must be left out without `replicate_weights`, whose deviations they scale."
            )
        return None
    other = next((name for name, given in beside.items() if given), None)
    if other is not None:
        raise StratError.about(other, "must be left out beside `replicate_weights`: these are the design.")
    if weights is None:
        raise StratError.about(
            "weights", "must name the column of full-sample weights beside `replicate_weights`, got None."
        )
    if scale is None:
        raise StratError.about(
            "scale",
            "must be given beside `replicate_weights`, got None; of R replicates it is 1/R for BRR and the "
            "bootstrap, 1/(R (1 - rho)²) for Fay's method and (R - 1)/R for the jackknife (JK1).",
        )
    return Published(prefix, float(scale), mse)


def population_sizes(
    population: str | float | Mapping[Any, float] | Names | None, stages: str | Names | None
) -> str | float | Mapping[Any, float] | None:
    """Population sizes of units in strata; those of stages are columns by role."""
    if stages is not None:
        return None
    if isinstance(population, list | tuple) and all(isinstance(name, str) for name in population):
        raise StratError.about("population", f"must be one column without `stages`, got {len(population)}.")
    return population  # type: ignore[return-value]


def check_method(drawn: Mapping[str, str], method: str, replicates: int | None) -> None:
    """Designs with a layout have a closed form alone, and few methods a number of replicates."""
    if replicates is not None and method not in COUNTED:
        raise StratError.about(
            "replicates", f"must go with method='partially_balanced' or 'bootstrap', got {replicates} with {method!r}."
        )
    if drawn and method != "taylor":
        arguments = sorted({argument_of(role) for role in drawn})
        raise StratError.about("method", f"must be 'taylor', the closed form, beside `{arguments[0]}`, got {method!r}.")


def check_collapse(by: str | None, lone: str, *, strata: str | None, **beside: object) -> None:
    """Fail unless a column to join strata by, if there is one, has strata to join."""
    if by is None:
        return
    if strata is None or lone != "collapse":
        raise StratError.about("collapse_by", f"must go with `strata` and lone='collapse', got {by!r} without.")
    other = next((name for name, value in beside.items() if value is not None), None)
    if other is not None:
        raise StratError.about("collapse_by", f"must be left out beside `{other}`, got {by!r}.")


def check_df(df: str | float | None, **beside: object) -> None:
    """Fail unless degrees of freedom, if they are given, would be those of every number."""
    other = next((name for name, value in beside.items() if value is not None), None)
    if df is not None and other is not None:
        raise StratError.about("df", f"must be left out beside `{other}`, whose estimates have their own, got {df!r}.")
    if isinstance(df, str):
        one_of("df", df, ("design", "effective", "satterthwaite"))


def check_threshold(threshold: float | None, predicted: str | None, score: str | None, truth: str | None) -> None:
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

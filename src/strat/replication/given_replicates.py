"""Replicates that were made elsewhere: factors, or the replicate weights of a file."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from strat.base import validate
from strat.base.errors import StratError, some
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, numbers
from strat.designs import Design
from strat.replication.methods import Method, MethodKind
from strat.replication.operators import (
    Given,
)
from strat.replication.replicate_weights import given_df, given_factors, weight_columns
from strat.replication.replicates import Replicates


@checked
def given(
    design: Design,
    factors: ArrayLike | None = None,
    *,
    weights: Any = None,
    prefix: str | None = None,
    scale: float | None = None,
    scales: ArrayLike | None = None,
    rscales: ArrayLike | None = None,
    mse: bool = True,
    df: float | None = None,
    method: str = "given replicates",
) -> Replicates:
    """Replicates that were made elsewhere, as factors or as replicate weights.

    Parameters
    ----------
    design
        The design, with the full-sample weights. Without units in a public file: ``Design.simple_random(weights=w)``.
    factors
        What each replicate multiplies the weights by: replicates × units, or replicates × rows (equal within a unit).
        Their mean is about 1.
    weights
        Instead of factors, the weights of the rows in each replicate: replicates × rows. Most survey files hold these
        (R: ``combined.weights=TRUE``), one column for each replicate: transpose them, or give the table and `prefix`.
    prefix
        `weights` is a data frame, or a mapping of columns: take the columns whose names start with this.
    scale, scales, rscales
        What squared deviations from the full-sample value are multiplied by: one number for all replicates, or one for
        each; `rscales` go with `scale`, as in R (``scale * rscales``).
    mse
        Deviations from the full-sample value; False: from the mean of the replicates (R's default).
    df
        Degrees of freedom; by default the design's, or the number of dimensions in which the replicates vary, at most
        replicates - 1, if that is less.

    Examples
    --------
    >>> from strat.designs import Design
    >>> design = Design.stratified(strata=[1, 1, 2, 2], weights=[10, 10, 30, 30])
    >>> print(given(design, [[2, 0, 2, 0], [0, 2, 0, 2], [2, 0, 0, 2], [0, 2, 2, 0]], scale=1 / 4))
    given replicates: 4 replicates, 2 degrees of freedom
    >>> given(design, weights=[[20, 0, 60, 0], [0, 20, 0, 60]], scale=1 / 2).factors().tolist()
    [[2.0, 0.0, 2.0, 0.0], [0.0, 2.0, 0.0, 2.0]]
    """
    if prefix is not None:
        weights = weight_columns(weights, prefix)
    dense = given_factors(design, factors, weights)
    if (scale is None) == (scales is None):
        raise StratError.about("scale", "(one number) or `scales` (one per replicate) must be given, and not both.")
    if rscales is not None:
        if scale is None:
            raise StratError.about(
                "rscales", "must go with `scale`, which multiplies them; `scales` are their product."
            )
        scales, scale = validate.number("scale", scale) * numbers("rscales", rscales), None
    used = _scales(scale, scales, len(dense))
    own = given_df(design, dense) if df is None else df
    return Replicates(design, Method(MethodKind.GIVEN, method), Given(dense), used, own, mse=mse)


def _scales(scale: float | None, scales: ArrayLike | None, number: int) -> float | Array:
    used = numbers("scale", [scale]) if scales is None else numbers("scales", scales)  # type: ignore[arg-type]
    name = "scale" if scales is None else "scales"
    if scales is not None and used.shape != (number,):
        raise StratError.about(
            "scales", f"must be one for each replicate ({number}), got an array of shape {used.shape}."
        )
    if (used < 0).any():
        raise StratError.about(name, f"must not be negative, got {some(used[used < 0])}: a variance would be.")
    return float(used[0]) if scales is None else used

"""Factors and replicate weights that somebody else made: checked, and brought to one form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from strat.base.errors import StratError, plain, some
from strat.base.validate.arguments import shown
from strat.base.validate.columns import Array, numbers
from strat.designs import Design

SAME_FACTOR = 1e-6  # relative difference between rows of a unit that the digits of a file may leave
FARTHEST = 1.5  # a mean factor beyond this, or below its inverse, is no mean of factors
NEARER = 4.0  # mean factors so much nearer to the weights than to 1 (in squares) are weights
MANY_UNITS = 8  # so few mean factors may lie near the weights by chance
NOT_ONE = 1e-4  # mean square of mean factors less 1 that is more than rounding
FLAT = 1e-10  # of the largest eigenvalue: replicates don't vary in a direction with less


def given_factors(design: Design, factors: ArrayLike | None, weights: ArrayLike | None) -> Array:
    """Factors of the units, replicates × units, from factors or from replicate weights."""
    if (factors is None) == (weights is None):
        raise StratError.about(
            "factors",
            "(about 1 on average) or `weights` (replicate weights, replicates × rows) must be given, and not both.",
        )
    if weights is not None:
        return _by_unit("weights", _from_weights(design, weights), design)
    dense = _table("factors", factors, (design.n_units, len(design)), design)
    if dense.shape[1] == len(design):
        dense = _by_unit("factors", dense, design)
    _refuse_weights(design, dense)
    return dense


def weight_columns(table: Any, prefix: str) -> Array:
    """The columns of a data frame or a mapping whose names start with the prefix: replicates × rows.

    They stand in the order of the numbers behind the prefix, if all are numbers, and else as they come.

    >>> weight_columns({"w": [1, 1], "rep_10": [0, 2], "rep_9": [2, 0]}, "rep_").tolist()
    [[2.0, 0.0], [0.0, 2.0]]
    """
    if not (isinstance(table, Mapping) or hasattr(table, "columns")):
        raise StratError.about("prefix", f"must come with a table of columns as `weights`, got {shown(table)}.")
    if not isinstance(prefix, str):
        raise StratError.about("prefix", f"must be text that starts the names of some columns, got {shown(prefix)}.")
    names = [str(name) for name in getattr(table, "columns", table)]
    chosen = [name for name in names if name.startswith(prefix)]
    if not prefix or not chosen:
        raise StratError.about(
            "prefix", f"must start the names of some columns, got {prefix!r}; there are {some(names)}."
        )
    ends = [name[len(prefix) :] for name in chosen]
    if all(end.isdecimal() for end in ends):
        chosen = [name for _, name in sorted(zip(map(int, ends), chosen, strict=True))]
    return np.stack([numbers(name, np.asarray(table[name])) for name in chosen])


def given_df(design: Design, dense: Array) -> float:
    """Degrees of freedom of given factors: the design's, or the dimensions in which they vary if these are fewer."""
    deviations = dense - 1.0
    wide = deviations.shape[0] <= deviations.shape[1]
    sizes = np.linalg.eigvalsh(deviations @ deviations.T if wide else deviations.T @ deviations)
    dimensions = int((sizes > FLAT * sizes.max()).sum())
    return float(max(1, min(design.df, len(dense) - 1, dimensions)))


def _table(name: str, values: ArrayLike | None, widths: tuple[int, ...], design: Design) -> Array:
    dense = numbers(name, values)  # type: ignore[arg-type]
    if dense.ndim == 2 and dense.shape[1] in widths:
        return dense
    units = f"replicates × units ({design.n_units}) or " if name == "factors" else ""
    turned = dense.ndim == 2 and dense.shape[0] in widths
    way_out = "; these are rows × replicates: transpose them" if turned else ""
    raise StratError.about(name, f"must be {units}replicates × rows ({len(design)}), got shape {dense.shape}{way_out}.")


def _by_unit(name: str, dense: Array, design: Design) -> Array:
    """Factors of units from those of rows."""
    by_unit = np.empty((len(dense), design.n_units))
    by_unit[:, design.unit] = dense
    if design.rows_are_units:
        return by_unit
    differs = ~np.isclose(by_unit[:, design.unit], dense, rtol=SAME_FACTOR, atol=SAME_FACTOR)
    if differs.any():
        label = design.unit_labels[design.unit[np.flatnonzero(differs.any(axis=0))[0]]]
        raise StratError.about(
            name,
            f"must be equal for the rows of a unit{' up to the weights' if name == 'weights' else ''}, got "
            f"several values in one ({plain(label)!r}); where rows were weighted one by one, leave the units out: "
            "Design.simple_random(weights=…).",
        )
    return by_unit


def _from_weights(design: Design, weights: ArrayLike) -> Array:
    dense = _table("weights", weights, (len(design),), design)
    own = design.weights
    lost = np.flatnonzero((own == 0) & (dense != 0).any(axis=0))
    if len(lost):
        raise StratError.about(
            "weights",
            f"must be 0 where the design's weight is, got {plain(dense[:, lost[0]].max())!r} in row "
            f"{lost[0]} ({len(lost)} such rows); give the design the full-sample weights.",
        )
    share = float(dense.sum(axis=1).mean() / own.sum())
    if not 1 / FARTHEST <= share <= FARTHEST:
        raise StratError.about(
            "weights",
            f"must add up to about what the design's weights do ({own.sum():g}), got {share * own.sum():g} "
            "on average; give the design the full-sample weights, or pass what is about 1 on average as `factors`.",
        )
    return np.divide(dense, own, out=np.ones_like(dense), where=own != 0)


def _refuse_weights(design: Design, dense: Array) -> None:
    """Replicate weights in the place of factors make standard errors hundreds of times too large."""
    own = np.bincount(design.unit, design.weights, minlength=design.n_units)
    rows = np.bincount(design.unit, minlength=design.n_units)
    each = dense.mean(axis=0)
    level = float(each @ own / own.sum())
    from_one, from_weights = (float(((each - other) ** 2).mean()) for other in (1.0, own / rows))
    nearer = len(each) >= MANY_UNITS and from_one > NOT_ONE and NEARER * from_weights < from_one
    if nearer or not 1 / FARTHEST <= level <= FARTHEST:
        raise StratError.about(
            "factors",
            f"must be about 1 on average, for every unit, got {level:.4g} and units from {each.min():.4g} to "
            f"{each.max():.4g}; if they are replicate weights, which hold the design's, pass them as weights=….",
        )

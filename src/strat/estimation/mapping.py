"""Functions of the values of an estimate, with their covariance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from strat.base.errors import StratError, one_of
from strat.base.limits import LIMITS
from strat.base.notes import Note
from strat.base.validate.columns import Array
from strat.estimation.facts import Inference, MeasureFacts, Unseen
from strat.estimation.phase_limits import phases_mapped
from strat.estimation.spread import slopes
from strat.measures.base import LINKS, unnamed_axes

if TYPE_CHECKING:
    from strat.estimation.result import Estimate

HAIR = 1e-14  # of a value: what rounding leaves of a standard error of nothing


def mapped(
    one: Estimate,
    function: Callable[[Array], Array],
    *,
    name: str | None,
    link: str,
    bounds: tuple[float, float],
) -> Estimate:
    """A function of the values: evaluated on every replicate, or linearized."""
    one_of("link", link, LINKS)
    if one.inference.spread is None:
        one.deviations  # noqa: B018  (says why not)
    assert one.inference.spread is not None
    point = _values(one.point, function)
    spread = one.inference.spread.mapped(function, one.point, point)
    if not np.isfinite(point).all() or not np.isfinite(spread.values).all():
        raise StratError.about("function", "must give finite values at the estimate and at every replicate.")
    same = point.shape == one.point.shape
    units = one.effective_units if same else float(np.min(one.effective_units))
    known = np.isfinite(one.bounds).all() and one.point.size <= LIMITS.map_corners
    unseen = Unseen(function, one.point, one.bounds) if known else None
    way = one.inference.sum_of
    phases = None if way is None else phases_mapped(way, function)
    image = replace(
        one,
        name=name or f"function of {one.name}",
        point=point,
        variance=spread.variance,
        df=_df(one, function, point),
        axes=one.axes if same else unnamed_axes(point.shape),
        measure=MeasureFacts(link=link, bounds=bounds, positive=one.positive, own_name=name is not None),
        inference=Inference(spread, one.rows, units, sum_of=phases, unseen=unseen),
    )
    return replace(image, notes=(*one.notes, *_no_variation(image), *_known_parts(one, function, image)))


def _no_variation(image: Estimate) -> list[Note]:
    """A note on values that do not vary, though units were left unseen."""
    still = np.sqrt(image.variance) <= HAIR * np.maximum(np.abs(image.point), HAIR)
    if np.isinf(image.effective_units).all() or not still.any():
        return []
    limited = image.inference.unseen is not None or bool(np.isfinite(image.bounds).all())
    return [Note("no-variation", {"still": int(still.sum()), "of": image.point.size, "limited": limited})]


def _known_parts(one: Estimate, function: Callable[[Array], Array], image: Estimate) -> list[Note]:
    """A note on values that move by others alone, while some that they are made of were not seen to vary."""
    still = np.ravel(np.sqrt(one.variance) <= HAIR * np.maximum(np.abs(one.point), HAIR))
    if still.all() or not still.any() or np.isinf(one.effective_units).all():
        return []
    if one.point.size * image.point.size > LIMITS.map_dependencies:
        return []
    moving = np.ravel(image.variance > 0)
    return [Note("known-part")] if (_depends(one, function)[still] & moving).any() else []


def _values(point: Array, function: Callable[[Array], Array]) -> Array:
    """The function of the values, if it takes several sets of values at once: the last axes are theirs."""
    value = np.asarray(function(point), float)
    sets = next(k for k in range(2, point.ndim + 3) if k not in point.shape)  # so that no axis passes for the first
    shape = np.shape(function(np.stack([point] * sets)))
    if shape != (sets, *value.shape):
        raise StratError.about(
            "function",
            f"must work along the last axes of its argument, got the shape {shape} from {sets} sets of "
            "values; write v[..., 1] - v[..., 0], not v[1] - v[0].",
        )
    return value


def _df(one: Estimate, function: Callable[[Array], Array], point: Array) -> Array | float:
    """Degrees of freedom of a function's values: the fewest of the values that each of them depends on."""
    df, size = np.ravel(one.df), one.point.size
    if (df == df[0]).all() or size * point.size > LIMITS.map_dependencies:
        return one.least_df
    depends = _depends(one, function)
    return np.where(depends, df[:, None], np.inf).min(axis=0, initial=df.max()).reshape(point.shape)


def _depends(one: Estimate, function: Callable[[Array], Array]) -> NDArray[np.bool_]:
    """Which value of the estimate each value of the function depends on: values × values of the function."""
    se, value = np.sqrt(one.variance).ravel(), np.abs(one.point).ravel()
    steps = np.maximum(se, 1e-3 * max(value.max(), float(se.max()), np.finfo(float).tiny))
    moves = np.abs(slopes(function, one.point, np.eye(one.point.size), steps))
    return np.asarray(moves > 1e-9 * moves.max(initial=0.0))

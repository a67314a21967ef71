"""Totals, means, ratios and what is made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strat.base.errors import StratError, plain, some
from strat.base.validate.arguments import checked
from strat.base.validate.columns import LARGEST, Array, numbers, same_length
from strat.measures.base import Axis, Rows, Statistic, block_totals, unnamed_axes
from strat.measures.quotients import ratio_of_totals, share_slopes
from strat.measures.register import UNBOUNDED, Columns, Groups, Measure, measure

CURVED_BELOW = 200  # units below which a correlation is jackknifed: its closed form is short (see the validation page)


def _columns(argument: str, y: ArrayLike) -> tuple[Array, tuple[Axis, ...]]:
    array = numbers(argument, y, most=LARGEST)
    if array.ndim == 1:
        return array[:, None], ()
    if array.ndim != 2:
        raise StratError.about(
            argument, f"must have one row per row of the data (1 or 2 axes), got shape {array.shape}."
        )
    return array, _columns_axis(array.shape[1])


def _columns_axis(number: int) -> tuple[Axis, ...]:
    """The axis of columns without names."""
    return (Axis("column", tuple(range(number))),)


def _ones(n: int) -> Rows:
    """A block whose one component is the weight itself."""
    return Rows(np.zeros(n, np.int64), None, 1)


def _shaped(values: Array, axes: tuple[Axis, ...]) -> Array:
    return values if axes else values[..., 0]


@measure("total", "sum", needs=("score",), reads="numbers", unit="unit of the score", bounds=UNBOUNDED)
@checked
def total(y: ArrayLike) -> Statistic:
    """The weighted total of y.

    Examples
    --------
    >>> float(total([1, 2, 3]).value(weights=[1, 1, 2]))
    9.0
    """
    array, axes = _columns("y", y)
    p = array.shape[1]
    return Statistic(
        name="total",
        rows=(Rows(None, array, p),),
        function=lambda t: _shaped(t, axes),
        gradient=lambda t: np.eye(p) if axes else np.ones(1),
        axes=axes,
    )


def _means_by_kind(_: Measure | None, columns: Columns) -> Groups:
    """For each score whether it is 0 or 1, lies between, or beyond; and the mean of scores up to each kind."""
    score = np.asarray(columns["score"], float)
    anything = mean(score).renamed("mean score")
    inside = replace(anything, link="logit", bounds=(0.0, 1.0))
    kinds = np.where((score < 0) | (score > 1), 2, np.where(np.isin(score, (0.0, 1.0)), 0, 1))
    return kinds, (replace(inside, proportion=True), inside, anything)


def _mean_score(columns: Columns) -> Statistic:
    """The mean of scores, as a share where all are 0 or 1."""
    kinds, means = _means_by_kind(None, columns)
    assert kinds is not None
    return means[int(kinds.max(initial=0))]


@measure(
    "mean",
    "average",
    "mean_score",
    needs=("score",),
    unit="unit of the score",
    bounds=UNBOUNDED,
    make=_mean_score,
    together=_means_by_kind,
)
@checked
def mean(y: ArrayLike) -> Statistic:
    """The weighted mean of y, or of each column of y.

    Examples
    --------
    >>> float(mean([1, 2, 3]).value(weights=[1, 1, 2]))
    2.25
    """
    return _mean(*_columns("y", y))


def _mean(array: Array, axes: tuple[Axis, ...]) -> Statistic:
    """The means of columns that have been checked."""
    p = array.shape[1]

    def function(t: Array) -> Array:
        return _shaped(t[..., :p] / t[..., p:], axes)

    def gradient(t: Array) -> Array:
        return np.vstack([np.eye(p), -t[:p] / t[p]]) / t[p]

    def split(width: int) -> Iterator[Statistic]:
        for a in range(0, p, width):
            part = array[:, a : a + width]
            yield _mean(part, _columns_axis(part.shape[1]))

    rows = (Rows(None, array, p), _ones(len(array)))
    return Statistic("mean", rows, function, gradient if axes else share_slopes, axes, split=split if axes else None)


@checked
def proportion(y: ArrayLike) -> Statistic:
    """The weighted share of rows where y is true, with an interval that stays in [0, 1].

    Examples
    --------
    >>> float(proportion([True, False, True, True]).value())
    0.75
    """
    array = numbers("y", y, most=LARGEST)
    other = ~np.isin(array, (0.0, 1.0))
    if other.any():
        raise StratError.about(
            "y", f"must be true or false (0 or 1) in every row, got {some(array[other], 3)}; use mean(y)."
        )
    return replace(mean(array), name="proportion", link="logit", bounds=(0.0, 1.0), proportion=True)


@measure(
    "ratio", needs=("score", "truth"), reads="numbers", unit="score per truth", higher_is_better=None, bounds=UNBOUNDED
)
@checked
def ratio(y: ArrayLike, x: ArrayLike) -> Statistic:
    """The ratio of the totals of y and x.

    Examples
    --------
    >>> float(ratio([1, 2], [2, 4]).value())
    0.5
    """
    top, bottom = numbers("y", y, most=LARGEST), numbers("x", x, most=LARGEST)
    same_length(y=top, x=bottom)
    if top.ndim != 1 or bottom.ndim != 1:
        raise StratError.about("y", f"and `x` must have one value per row, got shapes {top.shape} and {bottom.shape}.")
    if not bottom.any():
        raise StratError.about("x", "must not be zero in every row, got only zeros: the ratio would divide by nothing.")
    return ratio_of_totals("ratio", top, bottom, bounds=UNBOUNDED, better=None)


@checked
def variance(y: ArrayLike) -> Statistic:
    """The weighted variance of y, with the factor n / (n - 1).

    Examples
    --------
    >>> float(variance([1.0, 2.0, 3.0]).value())
    1.0
    """
    array = numbers("y", y, most=LARGEST)
    n = len(array)
    if array.ndim != 1 or n < 2:
        raise StratError.about("y", f"must have one value in each of at least two rows, got shape {array.shape}.")
    centred = array - array.mean()  # the variance does not change, and its sums lose no digits

    def function(t: Array) -> Array:
        w, s, q = t[..., 2], t[..., 0], t[..., 1]
        return np.asarray((q / w - (s / w) ** 2) * (n / (n - 1)))

    def gradient(t: Array) -> Array:
        s, q, w = t
        return np.array([-2.0 * s / w, 1.0, 2.0 * (s / w) ** 2 - q / w]) / w * (n / (n - 1))

    rows = (Rows(None, np.column_stack([centred, centred**2, np.ones(n)]), 3),)
    return Statistic("variance", rows, function, gradient, link="log", bounds=(0.0, np.inf))


@measure("correlation", "pearson", "pearsonr", reads="numbers", unit="correlation", bounds=(-1.0, 1.0))
@checked
def correlation(x: ArrayLike, y: ArrayLike) -> Statistic:
    """The weighted correlation of x and y.

    Examples
    --------
    >>> round(float(correlation([1, 2, 3], [1, 2, 4]).value()), 6)
    0.981981
    """
    a, b = numbers("x", x, most=LARGEST, axes=1), numbers("y", y, most=LARGEST, axes=1)
    n = same_length(x=a, y=b)
    for name, array in (("x", a), ("y", b)):
        if (array == array[0]).all():
            raise StratError.about(name, f"must vary over the rows, got {plain(array.ravel()[0])!r} in every one.")
    a, b = a - a.mean(), b - b.mean()

    def function(t: Array) -> Array:
        w, sx, sy, xx, yy, xy = np.moveaxis(t, -1, 0)
        covariance = xy / w - sx * sy / w**2
        spread = (xx / w - (sx / w) ** 2) * (yy / w - (sy / w) ** 2)
        return np.asarray(covariance / np.sqrt(spread))

    def gradient(t: Array) -> Array:
        w, mx, my = t[0], t[1] / t[0], t[2] / t[0]
        vx, vy = t[3] / w - mx**2, t[4] / w - my**2
        root, r = np.sqrt(vx * vy), float(function(t))
        by_mx, by_my = r * mx / vx - my / root, r * my / vy - mx / root
        by_xx, by_yy, by_xy = -r / (2.0 * vx), -r / (2.0 * vy), 1.0 / root
        by_w = -(by_mx * mx + by_my * my + by_xx * t[3] / w + by_yy * t[4] / w + by_xy * t[5] / w)
        return np.array([by_w, by_mx, by_my, by_xx, by_yy, by_xy]) / w

    rows = (Rows(None, np.column_stack([np.ones(n), a, b, a * a, b * b, a * b]), 6),)
    return Statistic(
        "correlation", rows, function, gradient, link="correlation", bounds=(-1.0, 1.0), curved_below=CURVED_BELOW
    )


@checked
def domain(statistic: Statistic, where: ArrayLike) -> Statistic:
    """The statistic of some rows only; the design keeps all rows, and the domain's size is random.

    Degrees of freedom count the units and strata that the domain reaches.

    Examples
    --------
    >>> float(domain(mean([1, 2, 30]), where=[True, True, False]).value())
    1.5
    """
    mask = np.asarray(where)
    same_length(statistic=range(len(statistic)), where=mask)
    if mask.dtype != bool:
        raise StratError.about("where", f"must be true or false for every row, got values of type {mask.dtype}.")
    if not mask.any():
        raise StratError.about("where", "must choose at least one row, got none.")
    if statistic.of_weights or statistic.quantile is not None:
        raise StratError(f"`{statistic.name}` can't be limited to a domain; give it the weights 0 outside instead.")
    views = tuple(mask if view is None else mask & view for view in statistic.views)
    if not all(view.any() for view in views):
        raise StratError.about("where", f"must choose at least one row that `{statistic.name}` looks at, got none.")
    rows = tuple(block.masked(mask) for block in statistic.rows)
    parts = _parts_inside(statistic.sum_of, mask) if isinstance(statistic.sum_of, tuple) else None
    return replace(statistic, rows=rows, views=views, split=None, sum_of=parts)


def _parts_inside(parts: tuple[Statistic, Array], mask: NDArray[np.bool_]) -> tuple[Statistic, Array] | None:
    """The parts that a sum is of, within a domain; None where a share among them has no rows there."""
    inside = domain(parts[0], mask)
    if inside.base is None:  # distances, of which nothing is divided by
        return inside, parts[1]
    held = np.asarray(inside.base(np.concatenate([block_totals(b, np.ones(len(inside))) for b in inside.rows])))
    return (inside, parts[1]) if (held > 0).all() else None


@checked
def function_of_totals(
    values: ArrayLike,
    function: Callable[[Array], Array],
    *,
    name: str = "statistic",
    link: str = "identity",
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> Statistic:
    """A user-defined function of totals: `values` (rows × components) are summed, and `function` is applied.

    `function` must work on an array whose last axis is the components and whose leading axes are replicates.

    Examples
    --------
    >>> odds = function_of_totals([[1, 0], [0, 1], [1, 0]], lambda t: t[..., 0] / t[..., 1])
    >>> float(odds.value())
    2.0
    """
    array, _ = _columns("values", values)
    try:
        one, two = np.asarray(function(array.sum(axis=0))), np.asarray(function(np.stack([array.sum(axis=0)] * 2)))
    except Exception as error:
        raise StratError.about(
            "function", f"must take totals of shape (…, {array.shape[1]}), got an error: {error}."
        ) from error
    if two.shape != (2, *one.shape):
        raise StratError.about(
            "function",
            f"must be vectorised over leading axes: totals of shape (2, {array.shape[1]}) gave {two.shape} "
            f"where (2, {', '.join(map(str, one.shape))}) was expected; index components as t[..., j].",
        )
    axes = unnamed_axes(one.shape)
    return Statistic(name, (Rows(None, array, array.shape[1]),), function, None, axes, link, bounds)


@checked
def statistic(
    function: Callable[[Array], Any],
    *,
    n: int | None = None,
    name: str = "statistic",
    link: str = "identity",
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> Statistic:
    """A user-defined function of row weights: anything, at the cost of one call for each replicate.

    `function` takes the weights of all rows and returns a number or an array. `n` is the number of rows; by default
    that of the design.

    With replicates other than the jackknife's, name the units of the design. Otherwise they are recognized by what
    their weights do to the value, whatever the order of the rows, which takes one more call for each unit; with more
    than four units per replicate they are recognized by their position.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([1.0, 2.0, 6.0])
    >>> float(statistic(lambda w: np.average(y, weights=w), n=3).value())
    3.0
    """
    if not callable(function):
        raise StratError.about("function", f"must take the weights of the rows, got {function!r}.")

    def looped(t: Array) -> Array:
        if t.ndim == 1:
            return np.asarray(function(t), float)
        flat = [np.asarray(function(w), float) for w in t.reshape(-1, t.shape[-1])]
        return np.stack(flat).reshape(*t.shape[:-1], *flat[0].shape)

    if n is not None and n < 1:
        raise StratError.about("n", f"must be the number of rows, got {n}.")
    rows = (Rows(None, None, 0 if n is None else n),)
    return Statistic(name, rows, looped, None, (), link, bounds)

"""Quantiles: a histogram of values, and the inverse of its cumulative sum."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from strat.base.errors import StratError, one_of, some
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, encode, numbers, values
from strat.measures.base import Axis, Quantile, Rows, Statistic
from strat.measures.register import UNBOUNDED, measure

RULES = ("math", "school", "hf7")


@measure(
    "quantile", needs=("score",), reads="numbers", at="q", unit="unit of the score", bounds=UNBOUNDED, of_totals=False
)
@measure(
    "latency",
    needs=("score",),
    reads="numbers",
    at="q",
    unit="unit of the score",
    bounds=UNBOUNDED,
    of_totals=False,
    higher_is_better=False,
)
@measure(
    "median",
    needs=("score",),
    reads="numbers",
    given={"q": 0.5},
    unit="unit of the score",
    bounds=UNBOUNDED,
    of_totals=False,
)
@checked
def quantile(y: ArrayLike, q: ArrayLike, *, rule: str = "math") -> Statistic:
    """The weighted quantile of y at q (one order or several).

    Parameters
    ----------
    y
        One value per row.
    q
        Order or orders strictly between 0 and 1.
    rule
        "math": the least value with at least the share q at or below it; "school": the mean of the two neighbours
        where the share is hit exactly; "hf7": Hyndman and Fan's type 7, with weights.

    Examples
    --------
    >>> float(quantile([1, 2, 3, 10], 0.5).value()), float(quantile([1, 2, 3, 10], 0.5, rule="school").value())
    (2.0, 2.5)
    """
    one_of("rule", rule, RULES)
    column = numbers("y", y, axes=1)
    orders = values("q", q, finite=False)
    if not ((orders > 0) & (orders < 1)).all():
        raise StratError.about("q", f"must lie strictly between 0 and 1, got {some(np.ravel(orders)[:3])}.")
    codes, support = encode("y", column)
    many = orders.ndim == 1

    invert = partial(_inverse, support, rule=rule)

    def function(t: Array) -> Array:
        values = invert(t, np.atleast_1d(orders))
        return values if many else values[..., 0]

    return Statistic(
        name="quantile" if many else "median" if orders == 0.5 else f"quantile {orders:g}",
        rows=(Rows(codes, None, len(support)),),
        function=function,
        axes=(Axis("q", tuple(orders.tolist())),) if many else (),
        bounds=(float(support[0]), float(support[-1])),
        quantile=Quantile(support, orders, invert),
    )


def _inverse(support: Array, t: Array, at: Array, rule: str) -> Array:
    """Values at the shares `at` of the distribution with weights t at the support: (…, len(at))."""
    flat = t.reshape(-1, t.shape[-1])
    values = np.stack([_inverse_one(support, row, at, rule) for row in flat])
    return values.reshape(*t.shape[:-1], len(at))


def _inverse_one(support: Array, w: Array, at: Array, rule: str) -> Array:
    present = w > 0
    x, mass = support[present], w[present]
    cumulative = np.cumsum(mass)
    wanted = np.clip(at, 0.0, 1.0) * cumulative[-1]
    tolerance = 4 * np.finfo(float).eps * cumulative[-1]
    if rule == "hf7":
        places = np.concatenate([[0.0], cumulative[:-1]])
        return np.interp(np.clip(at, 0.0, 1.0) * places[-1], places, x)
    first = np.minimum(np.searchsorted(cumulative, wanted - tolerance, side="left"), len(x) - 1)
    if rule == "math":
        return x[first]
    hit = np.abs(cumulative[first] - wanted) <= tolerance
    after = np.minimum(first + 1, len(x) - 1)
    return np.where(hit, (x[first] + x[after]) / 2, x[first])

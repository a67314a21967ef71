"""Quotients with a value for 0 / 0, the ratio of two totals with its derivative, and the statistics that are one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.base.validate.columns import Array
from strat.measures.base import Rows, Statistic


def quotient(top: Any, bottom: Any, zero: float = np.nan) -> Array:
    """A quotient with `zero` for 0 / 0.

    >>> quotient([1.0, 0.0], [2.0, 0.0], 0.0).tolist()
    [0.5, 0.0]
    """
    top, bottom = np.asarray(top, float), np.asarray(bottom, float)
    out = np.full(np.broadcast(top, bottom).shape, zero)
    return np.divide(top, bottom, out=out, where=bottom != 0)


def share_value(totals: Array) -> Array:
    """The first total over the second, nan where that is 0."""
    return quotient(totals[..., 0], totals[..., 1])


def share_slopes(totals: Array) -> Array:
    """Its derivatives by both totals: (…, 2) -> (…, 2)."""
    top, bottom = totals[..., 0], totals[..., 1]
    return np.stack([quotient(1.0, bottom, 0.0), -quotient(top, bottom**2, 0.0)], axis=-1)


def row_mean(
    name: str,
    values: NDArray[np.floating] | NDArray[np.integer],
    *,
    link: str = "identity",
    bounds: tuple[float, float] = (-np.inf, np.inf),
    keep: NDArray[np.bool_] | None = None,
) -> Statistic:
    """The weighted mean of one value per row; few distinct values are kept as a table and a code."""
    y = np.asarray(values, float)
    there = np.ones(len(y), bool) if keep is None else keep
    table = np.stack([np.where(there, y, 0.0), there], axis=1).astype(float)
    distinct, codes = np.unique(np.where(there, y, np.nan), return_inverse=True)
    if 2 * len(distinct) <= len(y):
        known = ~np.isnan(distinct)
        lines = np.stack([np.where(known, distinct, 0.0), known], axis=1).astype(float)
        rows = Rows(codes.reshape(-1), lines, 2)
    else:
        rows = Rows(None, table, 2)
    return Statistic(name, (rows,), share_value, share_slopes, link=link, bounds=bounds)


def share_of(name: str, hits: NDArray[Any], **facts: Any) -> Statistic:
    """The weighted share of rows with a hit; `facts` are other attributes of the statistic."""
    rows = Rows(np.asarray(hits, np.int64), np.array([[0.0, 1.0], [1.0, 1.0]]), 2)
    return Statistic(
        name, (rows,), share_value, share_slopes, link="logit", bounds=(0.0, 1.0), proportion=True, **facts
    )


def ratio_of_totals(
    name: str, top: Array, bottom: Array, *, bounds: tuple[float, float] = (0.0, np.inf), better: bool | None = False
) -> Statistic:
    """The first total over the second, under a name of its own; a rate that can't pass 1 stays in [0, 1]."""
    link = "logit" if bounds == (0.0, 1.0) else "log" if bounds == (0.0, np.inf) else "identity"
    rows = (Rows(None, np.column_stack([top, bottom]).astype(float), 2),)
    return Statistic(name, rows, share_value, share_slopes, link=link, bounds=bounds, higher_is_better=better)

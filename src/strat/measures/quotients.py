"""Quotients with a value for 0 / 0, and the ratio of two totals with its derivative: one place each."""

from __future__ import annotations

from typing import Any

import numpy as np

from strat.base.validate.columns import Array


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

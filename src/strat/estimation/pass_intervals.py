"""Limits of means over items of a value between 0 and 1, such as pass@k: Wilson's with a capped number of items.

With values v_i of K items, their mean m and its variance V, n = m(1 − m)/V independent items with the values 0 and 1
would say as much. Where hardly any item is solved V is the luck of a few, so n is at most what K items would give of
which each is 0 or the mean μ of those above 0, K(1 − m)/(μ − m), and the same from the other end. As few items above 0
say little of μ, a quarter of an item with the value 1 is added to them.
"""

from __future__ import annotations

import numpy as np

from strat.base.validate.columns import Array

ADDED = 0.25  # of an item with the value 1 (or 0) among those that are not 0 (or 1)
HAIR = 1e-12  # distance of a value from 0 or 1 below which it is there


def effective_items(mean: Array, variance: Array, items: Array | float, above: Array, below: Array) -> Array:
    """The number of independent items with values 0 and 1 that would say as much of the mean.

    Parameters
    ----------
    mean, variance
        The mean of the values, and its variance.
    items
        The number of items of equal weight that would say as much.
    above, below
        The shares of the items, by weight, whose values are above 0, and below 1.

    Examples
    --------
    Twenty items of which three are solved in half of the tries. By the variance these are worth 41 items that are
    solved or not; as 20 items of which each is 0 or about 0.54 they are worth 40.

    >>> v = np.repeat([0.5, 0.0], [3, 17])
    >>> mean, variance = v.mean(), v.var(ddof=1) / 20
    >>> round(float(effective_items(mean, variance, 20, np.mean(v > 0), np.mean(v < 1))), 1)
    39.9
    >>> round(float(mean * (1 - mean) / variance), 1)
    41.4
    """
    bounded = np.minimum(_most(mean, items, above), _most(1.0 - mean, items, below))
    seen = (variance > HAIR**2) & (mean > HAIR) & (mean < 1.0 - HAIR)
    by_variance = np.divide(mean * (1.0 - mean), variance, out=np.full(np.shape(mean), np.inf), where=seen)
    return np.where(seen, np.minimum(by_variance, bounded), items)


def _most(mean: Array, items: Array | float, above: Array) -> Array:
    """K(1 − m)/(μ − m), with μ drawn a little to 1."""
    gap = (items * mean + ADDED) / (items * above + ADDED) - mean
    return np.divide(items * (1.0 - mean), gap, out=np.full(np.shape(mean), np.inf), where=gap > HAIR)

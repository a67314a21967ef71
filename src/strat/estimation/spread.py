"""How far the values may be off, unit by unit or replicate by replicate: what variances and covariances are made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from strat.base.validate.columns import Array
from strat.estimation import linear

Function = Callable[[Array], Array]
CANCELLED = 1e-10  # of the sum of their sizes: what terms may leave that cancel, by the error of a derivative


@dataclass(frozen=True, eq=False)
class Influences:
    """What each unit adds to each value, to first order: the variance is the sum of the squares.

    Attributes
    ----------
    values
        Lines × shape of the value.
    """

    values: Array

    @property
    def scaled(self) -> Array:
        """Lines × outputs: their sums of products are the covariance."""
        return self.values.reshape(len(self.values), -1)

    @property
    def variance(self) -> Array:
        """The variance of each value."""
        return np.asarray(np.einsum("i...,i...->...", self.values, self.values))

    def mapped(self, function: Function, point: Array, image: Array) -> Influences:
        """The influences on a function of the values, which is `image` at `point`: linearized."""
        m, size = len(self.values), point.size
        flat = self.scaled
        length = np.maximum(np.abs(flat).max(axis=0), np.finfo(float).tiny)
        if size <= m:
            moving = np.flatnonzero(flat.any(axis=0))
            jacobian = slopes(function, point, np.eye(size)[moving], length[moving])
            moved, terms = flat[:, moving] @ jacobian, np.abs(flat[:, moving]) @ np.abs(jacobian)
            moved[np.abs(moved) <= CANCELLED * terms] = 0.0  # identical systems differ by nothing, not by rounding
            return Influences(moved.reshape(m, *image.shape))
        return Influences(slopes(function, point, flat, np.ones(m)).reshape(m, *image.shape))

    def at(self, cut: Any) -> Influences:
        """The part of some of the values."""
        return Influences(self.values[(slice(None), *cut)])

    def with_values(self, values: Array) -> Influences:
        """Other values of the same units."""
        return Influences(values)


@dataclass(frozen=True, eq=False)
class ReplicateDeviations:
    """Replicate values minus the value: the variance is the sum of the squares times their scales.

    Attributes
    ----------
    values
        Replicates × shape of the value.
    scales
        One scale for all replicates, or one for each.
    """

    values: Array
    scales: float | Array

    @property
    def scaled(self) -> Array:
        """Replicates × outputs: their sums of products are the covariance."""
        scale = np.broadcast_to(np.sqrt(np.asarray(self.scales, float)), (len(self.values),))
        return np.asarray(self.values.reshape(len(self.values), -1) * scale[:, None])

    @property
    def variance(self) -> Array:
        """The variance of each value."""
        if np.ndim(self.scales) == 0:
            return np.asarray(self.scales * np.einsum("i...,i...->...", self.values, self.values))
        return np.asarray(np.einsum("i,i...,i...->...", self.scales, self.values, self.values))

    @property
    def relative_error(self) -> Array:
        """The standard error of the root of the variance, over that root, where each replicate was drawn at random."""
        k = len(self.values)
        squares = (self.scaled**2).reshape(self.values.shape)
        spread, total = squares.std(axis=0, ddof=1), squares.sum(axis=0)
        return np.divide(np.sqrt(k) * spread, 2.0 * total, out=np.zeros(total.shape), where=total > 0)

    def mapped(self, function: Function, point: Array, image: Array) -> ReplicateDeviations:
        """The deviations of a function of the values, which is `image` at `point`: evaluated on every replicate."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.with_values(np.asarray(function(point + self.values), float) - image)

    def at(self, cut: Any) -> ReplicateDeviations:
        """The part of some of the values."""
        return self.with_values(self.values[(slice(None), *cut)])

    def with_values(self, values: Array) -> ReplicateDeviations:
        """Other values of the same replicates."""
        return replace(self, values=values)


Spread = Influences | ReplicateDeviations


def slopes(function: Function, point: Array, directions: Array, lengths: Array) -> Array:
    """Derivatives of a function of the values along these directions: directions × outputs."""

    def of_flat(v: Array) -> Array:
        return np.asarray(function(v.reshape(v.shape[:-1] + point.shape)), float)

    return linear.derivatives(of_flat, point.ravel(), directions, linear.STEP * lengths)

"""Quadratic polynomials of a feature vector, and their expectations over normal vectors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strat.base.validate.columns import Array
from strat.gaussian.problems import GaussianClass
from strat.gaussian.quadratic_form import Complex


@dataclass(frozen=True, eq=False)
class Polynomial:
    """X'·square·X + slope'X + level, with a symmetric `square`."""

    square: Array
    slope: Array
    level: float

    @staticmethod
    def about(centre: Array, square: Array, slope: Array, level: float) -> Polynomial:
        """The polynomial of X whose coefficients are given for X - centre."""
        at_centre = square @ centre
        return Polynomial(square, slope - 2 * at_centre, float(level + at_centre @ centre - slope @ centre))

    def __add__(self, other: Polynomial) -> Polynomial:
        """The sum of two."""
        return Polynomial(self.square + other.square, self.slope + other.slope, self.level + other.level)

    def __rmul__(self, factor: float) -> Polynomial:
        """A multiple."""
        return Polynomial(factor * self.square, factor * self.slope, factor * self.level)

    def at(self, points: Array) -> Array:
        """Its values at the points."""
        return np.asarray(((points @ self.square) * points).sum(axis=1) + points @ self.slope + self.level)

    def in_class(self, kind: GaussianClass, axes: Array) -> Polynomial:
        """The same as a polynomial of the class's standard normal z, where X = mean + factor·axes·z."""
        root, at_mean = kind.factor @ axes, self.square @ kind.mean
        level = float(at_mean @ kind.mean + self.slope @ kind.mean + self.level)
        return Polynomial(root.T @ self.square @ root, root.T @ (2 * at_mean + self.slope), level)

    def mean(self, mean: Complex, variance: Complex) -> Complex:
        """Its expectation for independent normals, with features on the last axis."""
        quadratic = ((mean @ self.square) * mean).sum(axis=-1) + variance @ np.diag(self.square)
        return np.asarray(quadratic + mean @ self.slope + self.level)

    def second_moment(self, mean: Complex, variance: Complex) -> Complex:
        """The expectation of its square."""
        slope = 2 * mean @ self.square + self.slope
        spread = 2 * ((variance @ self.square**2) * variance).sum(axis=-1) + (slope**2 * variance).sum(axis=-1)
        return np.asarray(self.mean(mean, variance) ** 2 + spread)

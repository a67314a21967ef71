"""Functions of the values of an estimate that results keep: frozen, so that they travel between processes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from strat.base.validate.columns import Array


@dataclass(frozen=True, eq=False)
class Difference:
    """The values at one place of the last axes minus those at another: a label's number, or an index of several axes.

    >>> import numpy as np
    >>> Difference(0, 2)(np.array([[5.0, 3.0, 1.0], [2.0, 2.0, 2.0]])).tolist()
    [4.0, 0.0]
    """

    first: Any
    second: Any

    def __call__(self, values: Array) -> Array:
        """The difference, of each set of values."""
        first, second = self.parts(values)
        return np.asarray(first - second)

    def parts(self, values: Any) -> tuple[Any, Any]:
        """Both values, of each set of values."""
        return _at(values, self.first), _at(values, self.second)


@dataclass(frozen=True, eq=False)
class Ratio:
    """The values at one place of the last axis over those at another."""

    first: Any
    second: Any

    def __call__(self, values: Array) -> Array:
        """The ratio, of each set of values."""
        return _at(values, self.first) / _at(values, self.second)


@dataclass(frozen=True, eq=False)
class Contrast:
    """A sum of the values times these coefficients."""

    coefficients: Array

    def __call__(self, values: Array) -> Array:
        """The sum, of each set of values."""
        return values @ self.coefficients


@dataclass(frozen=True, eq=False)
class PartOf:
    """A part of the values of another function, of each set of values."""

    function: Callable[[Array], Array]
    cut: tuple[Any, ...]

    def __call__(self, values: Array) -> Array:
        """The part at the cut."""
        return self.function(values)[(slice(None), *self.cut)]


def complement(values: Array) -> Array:
    """What shares leave of 1."""
    return 1 - values


def _at(values: Any, place: Any) -> Any:
    return values[(..., *(place if isinstance(place, tuple) else (place,)))]

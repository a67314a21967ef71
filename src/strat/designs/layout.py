"""What a design of another kind than units in strata must answer: its layout.

Each kind lives in a module of its own (crossed, blocks, ordered, stages); :mod:`strat.designs.variance` asks it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from strat.base.notes import Note
from strat.base.validate.columns import Array, Codes
from strat.designs.facts import LayoutFacts


class Layout(Protocol):
    """How the lines of a design are correlated, and what this makes of the variance of a sum over them.

    Influences are lines × outputs, weights are those of the lines.
    """

    @property
    def groupings(self) -> Mapping[str, Codes]:
        """What was drawn, by name: for each line, which one it belongs to."""

    @property
    def nominal_df(self) -> float:
        """Degrees of freedom that the numbers of what was drawn give."""

    def deviations(self, influence: Array, weights: Array) -> Array:
        """Lines whose sum of squares is the variance of the sum of influences: m × outputs."""

    def degrees_of_freedom(self, influence: Array, weights: Array) -> Array:
        """Degrees of freedom of that variance, for each output."""

    def notes(self, influence: Array, weights: Array) -> tuple[Note, ...]:
        """What a reader should know of the variance of the first output."""

    @property
    def facts(self) -> LayoutFacts:
        """What was drawn, and what the estimate is about."""


def sums(codes: Codes, values: Array, number: int) -> Array:
    """Sums of lines × outputs in groups: groups × outputs."""
    return np.stack([np.bincount(codes, column, minlength=number) for column in values.T], axis=1)


def centred(values: Array, weights: Array, stratum: Codes) -> Array:
    """Values (lines × outputs) less their strata's share by weight: they add up to nothing in each stratum."""
    number = int(stratum.max()) + 1
    whole = np.bincount(stratum, weights, minlength=number)
    share = np.divide(weights, whole[stratum], out=np.zeros(len(weights)), where=weights > 0)
    return np.asarray(values - share[:, None] * sums(stratum, values, number)[stratum])


def bessel(number: NDArray[Any] | float) -> Array:
    """n/(n − 1), by which squared deviations of n units from their mean make a variance; 0 for fewer than two.

    >>> bessel(np.array([1, 2, 5])).tolist()
    [0.0, 2.0, 1.25]
    """
    return np.divide(number, np.subtract(number, 1.0), out=np.zeros(np.shape(number)), where=np.greater(number, 1))


def spread_of_squares(first: Array, second: Array, number: Array) -> Array:
    """Half the variance of n/(n − 1) Σ (u_i − ū)², u_i independent and normal, from n and the sums of v_i and of v_i².

    Where all v_i are equal it is v² n²/(n − 1):

    >>> float(spread_of_squares(np.array(5.0), np.array(5.0), np.array(5.0)))
    6.25
    """
    return np.asarray(bessel(number) ** 2 * ((1.0 - 2.0 / number) * second + (first / number) ** 2))


def satterthwaite(total: Array | float, pooled: Array | float, nominal: Array | float) -> Array:
    """Degrees of freedom of a variance, total² / pooled, from the sum Σ v of its terms and from Σ v² / df.

    They are the `nominal` ones where nothing varies (Satterthwaite 1946; STRAT 6.1, after Cochran 1977, 5.4).

    >>> v, df = np.array([1.0, 3.0]), np.array([4.0, 9.0])
    >>> round(float(satterthwaite(v.sum(), (v**2 / df).sum(), 13.0)), 2)
    12.8
    """
    out = np.full(np.shape(pooled), nominal, float)
    return np.divide(np.square(total), pooled, out=out, where=np.greater(pooled, 0))


def with_long_tails(nominal: float, values: Array) -> Array:
    """Degrees of freedom of the mean square of values (groups × outputs) whose tails may be long.

    The variance of a mean square is σ⁴ (2 / df + excess kurtosis / n); where a few groups hold all that varies, it has
    far fewer degrees of freedom than there are groups.
    """
    squares = values**2
    second, fourth = squares.sum(axis=0), (squares**2).sum(axis=0)
    n = len(values)
    ratio = np.divide(fourth, second**2, out=np.full(len(second), 1.0 / n), where=second > 0)
    excess = np.maximum(ratio - 3.0 / n, 0.0)  # kurtosis / n less what the normal distribution has
    return np.asarray(np.maximum(2.0 / (2.0 / nominal + excess), 1.0))

"""Sums over pairs of rows without looking at each pair: the weight below each row in two columns at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.validate.columns import Array, Codes

FEW = 16  # cells whose pairs are compared one by one

Places = NDArray[np.int32]


class Lower:
    """For each row i, Σ wⱼ h(yᵢ − yⱼ) over the rows j with xⱼ < xᵢ, for any weights w of the rows.

    h is 1 above 0, ½ at 0 and 0 below. Rows of the same x and y are one cell; cells stand in the order of x, and those
    of one x in decreasing order of y, so that none counts for another. Places are halved again and again, and each
    right half adds what its left half holds below it: n log n steps, whatever the weights.

    Parameters
    ----------
    x, y
        Codes of the rows from 0, in the order of the values that they stand for.

    Examples
    --------
    >>> Lower(np.array([0, 1, 1, 2]), np.array([0, 0, 1, 0]))(np.ones(4)).tolist()
    [0.0, 0.5, 1.0, 1.0]
    """

    def __init__(self, x: Codes, y: Codes) -> None:
        high = int(y.max()) + 1
        cells, self.cell_of_row = np.unique(x * high + (high - 1 - y), return_inverse=True)
        self.columns, heights = cells // high, (high - 1 - cells % high).astype(np.int32)
        self.size = FEW << max(-(-len(cells) // FEW) - 1, 0).bit_length()
        self.heights = np.full(self.size, high, np.int32)
        self.heights[: len(cells)] = heights
        self.orders = [np.argsort(self.heights, kind="stable").astype(np.int32)]
        if len(cells) > high:
            backwards = self.size - 1 - np.argsort(self.heights[::-1], kind="stable")
            self.orders.append(backwards.astype(np.int32))

    def __call__(self, weights: Array) -> Array:
        """The sum of each row."""
        given = np.zeros(self.size)
        given[: len(self.columns)] = self._totals(weights)
        ways = [_from_left_halves(given, order) for order in self.orders]  # a tie counts in one of two orders
        return np.asarray((np.mean(ways, axis=0) + self._among_few(given))[self.cell_of_row])

    def of_equal_x(self, weights: Array) -> Array:
        """For each row, the weight of the rows of its x with a lower y, and half of those with the same one."""
        totals = self._totals(weights)
        above = np.cumsum(totals) - totals / 2.0  # cells of one x stand in decreasing order of y
        ends = np.append(np.flatnonzero(np.diff(self.columns)), len(totals) - 1)
        of_x = np.cumsum(totals)[ends][self.columns]
        return np.asarray((of_x - above)[self.cell_of_row])

    def _totals(self, weights: Array) -> Array:
        return np.bincount(self.cell_of_row, weights, len(self.columns)).astype(float)

    def _among_few(self, given: Array) -> Array:
        """What the earlier ones of the same few places add."""
        y, w = self.heights.reshape(-1, FEW), given.reshape(-1, FEW)
        sums = np.zeros(w.shape)
        for lag in range(1, FEW):
            off = y[:, lag:] - y[:, :-lag]
            sums[:, lag:] += w[:, :-lag] * ((off > 0) + 0.5 * (off == 0))
        return sums.ravel()


def _from_left_halves(given: Array, order: Places) -> Array:
    """For each place, what the places of left halves were given that come before it in the order, too."""
    places, given, sums = order, given[order], np.zeros(len(order))
    half = len(order) // 2
    while half >= FEW:
        left = places & np.int32(half) == 0
        below = np.cumsum(np.where(left, given, 0.0))
        sides = np.flatnonzero(left), np.flatnonzero(~left)
        places = _side_by_side(places, sides, half)
        given, sums = (_side_by_side(column, sides, half) for column in (given, sums))
        right = below[sides[1]].reshape(-1, half)
        right[1:] -= below[2 * half - 1 : -1 : 2 * half, None]  # what earlier blocks hold
        sums.reshape(-1, 2, half)[:, 1] += right
        half //= 2
    in_place = np.empty(len(order))
    in_place[places] = sums
    return in_place


def _side_by_side(column: NDArray[Any], sides: tuple[Codes, Codes], half: int) -> NDArray[Any]:
    """The left half of each block, then its right half, each in the order that it had."""
    return np.stack([column[side].reshape(-1, half) for side in sides], axis=1).ravel()

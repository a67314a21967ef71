"""Sums over pairs of rows without looking at each pair: the weight below each row in two columns at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from strat.base.limits import LIMITS
from strat.base.validate.columns import Array, Codes

Places = NDArray[np.int32]


class Lower:
    """For each row i, Σ wⱼ h(yᵢ − yⱼ) over the rows j with xⱼ < xᵢ, for any weights w of the rows.

    h is 1 above 0, ½ at 0 and 0 below. Rows of the same x and y are one cell; cells stand in the order of x, and those
    of one x in decreasing order of y, so that none counts for another. Places are halved again and again, and each
    right half adds what its left half holds below it: n log n steps, whatever the weights. Cells of the same y are
    added up apart.

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
        halvings = max(-(-len(cells) // LIMITS.pairs_one_by_one) - 1, 0).bit_length()
        self.width = -(-len(cells) // (1 << halvings))
        self.size = self.width << halvings
        self.heights = np.full(self.size, high, np.int32)
        self.heights[: len(cells)] = heights
        self.order = np.argsort(self.heights, kind="stable").astype(np.int32)

    def __call__(self, weights: Array) -> Array:
        """The sum of each row."""
        given = np.zeros(self.size)
        given[: len(self.columns)] = self._totals(weights)
        # of cells with the same y, all earlier ones come before in the order: half of what they hold is too much
        before = _from_left_halves(given, self.order, self.width) + self._among_few(given)
        return np.asarray((before - self._of_equal_y(given) / 2.0)[self.cell_of_row])

    def of_equal_x(self, weights: Array) -> Array:
        """For each row, the weight of the rows of its x with a lower y, and half of those with the same one."""
        totals = self._totals(weights)
        above = np.cumsum(totals) - totals / 2.0  # cells of one x stand in decreasing order of y
        ends = np.append(np.flatnonzero(np.diff(self.columns)), len(totals) - 1)
        of_x = np.cumsum(totals)[ends][self.columns]
        return np.asarray((of_x - above)[self.cell_of_row])

    def _totals(self, weights: Array) -> Array:
        return np.bincount(self.cell_of_row, weights, len(self.columns)).astype(float)

    def _of_equal_y(self, given: Array) -> Array:
        """What the earlier cells of the same y hold."""
        heights, held = self.heights[self.order], np.cumsum(given[self.order]) - given[self.order]
        first = np.flatnonzero(np.diff(heights, prepend=-1))
        sums = np.empty(self.size)
        sums[self.order] = held - np.repeat(held[first], np.diff(first, append=self.size))
        return sums

    def _among_few(self, given: Array) -> Array:
        """What the earlier ones of the same few places add."""
        y = np.ascontiguousarray(self.heights.reshape(-1, self.width).T)
        w = np.ascontiguousarray(given.reshape(-1, self.width).T)
        sums = np.zeros(w.shape)
        for lag in range(1, self.width):
            sums[lag:] += w[:-lag] * (y[:-lag] <= y[lag:])
        return sums.T.ravel()


def _from_left_halves(given: Array, order: Places, width: int) -> Array:
    """For each place, what the places of left halves were given that come before it in the order, too.

    Halves of `width` places are not halved again.
    """
    places, sums = order, np.zeros(len(order))
    half = len(order) // 2
    while half >= width:
        right = (places // np.int32(half) & 1).astype(bool)
        of_left, of_right = np.flatnonzero(~right), np.flatnonzero(right)
        below = np.cumsum(np.where(right, 0.0, given[places]))
        held = below[of_right].reshape(-1, half)
        held[1:] -= below[2 * half - 1 : -1 : 2 * half, None]  # what earlier blocks hold
        moved = places[of_right]
        sums[moved] += held.ravel()
        places = np.stack([places[of_left].reshape(-1, half), moved.reshape(-1, half)], axis=1).ravel()
        half //= 2
    return sums

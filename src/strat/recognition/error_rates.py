"""Shares of mated and non-mated scores on either side of a threshold, without errors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, values
from strat.recognition.thresholds import least_threshold, wanted_rates


@dataclass(frozen=True, eq=False, repr=False)
class ErrorRates:
    """Sorted scores of mated and non-mated comparisons, and the rates that they have at thresholds.

    Attributes
    ----------
    mated, nonmated
        The scores, sorted; greater is better (distances are negated).
    mated_below, nonmated_below
        Share of the weight below each score, and 1; None where all comparisons count the same.
    """

    mated: Array
    nonmated: Array
    mated_below: Array | None = None
    nonmated_below: Array | None = None

    @property
    def n_mated(self) -> int:
        """Number of mated comparisons."""
        return len(self.mated)

    @property
    def n_nonmated(self) -> int:
        """Number of non-mated comparisons."""
        return len(self.nonmated)

    @checked
    def fmr_at(self, threshold: ArrayLike) -> Array:
        """The share of non-mated comparisons with a score at or above each threshold."""
        return self._fmr(values("threshold", threshold, finite=False))

    def _fmr(self, t: Array) -> Array:
        n, i = len(self.nonmated), np.searchsorted(self.nonmated, t, side="left")
        return np.asarray((n - i) / n if self.nonmated_below is None else 1.0 - self.nonmated_below[i])

    @checked
    def fnmr_below(self, threshold: ArrayLike) -> Array:
        """The share of mated comparisons with a score below each threshold."""
        return self._fnmr(values("threshold", threshold, finite=False))

    def _fnmr(self, t: Array) -> Array:
        i = np.searchsorted(self.mated, t, side="left")
        return np.asarray(i / len(self.mated) if self.mated_below is None else self.mated_below[i])

    @checked
    def threshold(self, fmr: ArrayLike) -> Array:
        """The least threshold whose FMR is at most `fmr`."""
        return least_threshold(self.nonmated, wanted_rates("fmr", fmr), self.nonmated_below)

    @property
    def eer_threshold(self) -> float:
        """The threshold at or just under which FMR and FNMR are equal."""
        return self.equal[1]

    @cached_property
    def equal(self) -> tuple[float, float]:
        """The equal error rate, on the straight line between two neighbouring thresholds, and the lower of these."""
        t = max(self._last(self.nonmated), self._last(self.mated))
        x0, y0 = float(self.fmr_at(t)), float(self.fnmr_below(t))
        above = [
            float(a[i]) for a in (self.nonmated, self.mated) if (i := np.searchsorted(a, t, side="right")) < len(a)
        ]
        after = min(above, default=np.inf)
        x1, y1 = float(self.fmr_at(after)), float(self.fnmr_below(after))
        gap0, gap1 = x0 - y0, x1 - y1
        part = gap0 / (gap0 - gap1) if gap0 > gap1 else 0.0
        return x0 + part * (x1 - x0), t

    def _last(self, scores: Array) -> float:
        """The last of these scores, as a threshold, at which FMR is still at least FNMR."""
        low, high = 0, len(scores)
        while low < high:
            middle = (low + high) // 2
            if self._fmr(scores[middle]) >= self._fnmr(scores[middle]):
                low = middle + 1
            else:
                high = middle
        return float(scores[low - 1]) if low else -np.inf

    def det_slope(self, fmr: float) -> float:
        """−dFNMR/dFMR of the DET curve, over a window around this FMR that holds some mated scores too."""
        n, m = self.n_nonmated, self.n_mated
        fmr = min(max(fmr, 1.0 / n), 1.0 - 1.0 / n)
        factor = 1.5
        while True:
            wanted = np.array([min(fmr * factor, 0.5 + fmr / 2), fmr / factor])
            t = least_threshold(self.nonmated, wanted, self.nonmated_below)
            x, y = self._fmr(t), self._fnmr(t)
            if (abs(x[0] - x[1]) * n > 9.5 and abs(y[1] - y[0]) * m > 4.5) or factor > 20:
                return float(abs(y[1] - y[0]) / max(abs(x[0] - x[1]), 1.0 / n))
            factor *= 1.5

    def mated_mean(self, costs: Array) -> float:
        """The mean of values of the sorted mated scores, by their weights."""
        return float(costs.mean() if self.mated_below is None else costs @ np.diff(self.mated_below))

    def nonmated_mean(self, costs: Array) -> float:
        """The mean of values of the sorted non-mated scores, by their weights."""
        return float(costs.mean() if self.nonmated_below is None else costs @ np.diff(self.nonmated_below))

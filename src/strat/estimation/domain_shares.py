"""Limits of shares in many domains, each with lines of its own; domains that hold the same are worked on once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from strat.base.limits import LIMITS
from strat.base.validate.columns import Array, Codes
from strat.designs.lines import DomainLines
from strat.estimation.share_intervals import SHORTEST, Fit, Limits

_FINE = float(1 << 43)  # parts of a hit rate that are distinguished: rounding moves it by less
_MIX, _SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)


@dataclass(frozen=True, eq=False)
class DomainShares:
    """What each line of many domains adds to the share of its domain: weighted hits, weights and rows.

    Examples
    --------
    Two domains of two units each, of which the first units have equal shares:

    >>> lines = DomainLines(np.array([0, 0, 1, 1]), np.array([0, 1]), np.ones(4), np.full(2, 2.0), np.ones(2))
    >>> rows = np.array([5.0, 5.0, 5.0, 5.0])
    >>> low, high = DomainShares(np.array([5.0, 4.0, 5.0, 3.0]), rows, rows, lines).limits(0.95)
    >>> low.round(2).tolist()
    [0.45, 0.35]
    """

    hits: Array
    weights: Array
    rows: Array
    lines: DomainLines

    @property
    def clustered(self) -> NDArray[np.bool_]:
        """Whether a unit of the domain holds more than one row, or it has strata."""
        return (self.lines.strata > 1) | (self.lines.largest(self.rows / self.lines.copies) > 1.0 + SHORTEST)

    def cut(self, domains: NDArray[np.bool_]) -> DomainShares:
        """Those of some domains."""
        lines, kept = self.lines.cut(domains)
        return DomainShares(self.hits[kept], self.weights[kept], self.rows[kept], lines)

    def limits(self, level: float) -> Limits:
        """Lower and upper limit of each domain's share."""
        _, first, same = np.unique(self._contents(), axis=0, return_index=True, return_inverse=True)
        largest = self.lines.largest(self.rows / self.lines.copies)[first]
        single = self.lines.strata[first] == 1
        low, high = np.empty(len(first)), np.empty(len(first))
        for kind in (single, ~single):  # domains of large units stand together
            order = np.flatnonzero(kind)[np.argsort(largest[kind], kind="stable")]
            for start in range(0, len(order), LIMITS.domains_at_once):
                some = order[start : start + LIMITS.domains_at_once]
                low[some], high[some] = self._limits(first[some], level)
        return low[same.ravel()], high[same.ravel()]

    def _limits(self, domains: Codes, level: float) -> Limits:
        """Limits of a few domains, in the order in which they are named."""
        mask = np.zeros(len(self.lines.strata), bool)
        mask[domains] = True
        few = self.cut(mask)
        place = np.argsort(np.argsort(domains))
        low, high = Fit(few.hits, few.weights, few.rows, few.lines).limits(level)
        return low[place], high[place]

    def _contents(self) -> NDArray[np.uint64]:
        """Two numbers of 64 bits for each domain, equal where its lines hold the same in whatever order."""
        lines = self.lines
        rate = np.divide(self.hits, self.weights, out=np.zeros_like(self.hits), where=self.weights > 0)
        each = (np.rint(rate * _FINE), self.weights, self.rows, lines.copies)
        two = []
        for seed in (_MIX, _SECOND):
            of_strata = np.add.reduceat(_mixed(each, seed), np.flatnonzero(np.diff(lines.stratum, prepend=-1)))
            of_strata = _mixed((of_strata, lines.sizes, lines.unseen), seed)
            two.append(np.add.reduceat(of_strata, np.flatnonzero(np.diff(lines.domain, prepend=-1))))
        return np.stack(two, axis=1)


def _mixed(columns: tuple[NDArray[np.generic], ...], seed: np.uint64) -> NDArray[np.uint64]:
    """One number of 64 bits for each line of several columns."""
    mixed = np.full(len(columns[0]), seed)
    for column in columns:
        bits = np.ascontiguousarray(column if column.dtype == np.uint64 else column.astype(float) + 0.0).view(np.uint64)
        mixed = (mixed ^ bits) * _MIX
        mixed ^= mixed >> np.uint64(29)
        mixed = mixed * seed
        mixed ^= mixed >> np.uint64(32)
    return mixed

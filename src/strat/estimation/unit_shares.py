"""Shares of rows in units: what each unit of a design adds to them, and their limits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from strat.base.limits import LIMITS
from strat.base.validate.columns import Array
from strat.designs import Design
from strat.estimation.share_intervals import SHORTEST, Fit, Limits


@dataclass(frozen=True, eq=False)
class UnitShares:
    """What each unit adds to each of several shares.

    Attributes
    ----------
    hits, weights
        Weighted hits, and what they are a share of: lines × shares.
    rows
        Rows that the weights are of: lines × shares.
    design
        The strata of the lines, how many equal units each stands for, and the sampled part of the population.
    shape
        The shape of the shares, if they have one.

    Examples
    --------
    Four units of five rows each, all but one row of them right:

    >>> hits, rows = np.array([[5.0], [5.0], [5.0], [4.0]]), np.full((4, 1), 5.0)
    >>> shares = UnitShares(hits, rows, rows, Design.clustered(units=np.repeat(range(4), 5)))
    >>> low, high = shares.limits(0.95)
    >>> print(f"{low[0]:.2f} {high[0]:.2f}")
    0.67 0.99
    """

    hits: Array
    weights: Array
    rows: Array
    design: Design
    shape: tuple[int, ...] | None = None

    @property
    def point(self) -> Array:
        """The shares."""
        return np.asarray(self.hits.sum(axis=0) / self.weights.sum(axis=0))

    @property
    def clustered(self) -> bool:
        """Whether a unit holds more than one row, or there are strata: independent rows need no such interval."""
        most = float((self.rows / self.design.copies[:, None]).max(initial=0.0))
        return self.design.n_strata > 1 or most > 1.0 + SHORTEST

    def at(self, cut: Any) -> UnitShares:
        """A part of the shares."""
        shape = self.hits.shape[1:] if self.shape is None else self.shape
        place = np.arange(self.hits.shape[1]).reshape(shape)[cut]
        flat = np.ravel(place)
        return UnitShares(self.hits[:, flat], self.weights[:, flat], self.rows[:, flat], self.design, place.shape)

    def limits(self, level: float) -> Limits:
        """Lower and upper limit of each share."""
        some = self.weights.sum(axis=0) > 0
        if some.all() and len(some) <= LIMITS.shares_at_once:
            low, high = self._limits(level)
        else:
            flat, held = replace(self, shape=None), np.flatnonzero(some)
            low, high = np.zeros(len(some)), np.ones(len(some))  # what nobody holds may be anything
            for start in range(0, len(held), LIMITS.shares_at_once):
                cut = held[start : start + LIMITS.shares_at_once]
                low[cut], high[cut] = flat.at(cut)._limits(level)
        return (low, high) if self.shape is None else (low.reshape(self.shape), high.reshape(self.shape))

    @cached_property
    def _fit(self) -> Fit:
        """What all limits of these shares are made of."""
        return Fit(self.hits, self.weights, self.rows, self.design.as_lines)

    def _limits(self, level: float) -> Limits:
        return self._fit.limits(level)

"""The largest |t| of pairs of systems where no two differ: by draws, or by flips of the signs of whole units."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from strat.base import validate
from strat.base.limits import LIMITS
from strat.base.validate.columns import Array
from strat.comparison.sign_flips import SEED
from strat.comparison.system_pairs import largest_of_pairs, pair_errors
from strat.estimation.intervals import symmetric_root
from strat.measures.student import critical

DRAWS = 20_000  # of the largest |t|, whose critical value at 95 % is then known to about 0.5 %
FEWEST_DRAWS = 2_000  # however many pairs there are


@dataclass(frozen=True, eq=False)
class LargestT:
    """The distribution of the largest |t| of all pairs, or of the pairs with one system, where no two differ.

    Attributes
    ----------
    covariance
        Of the values of the systems.
    df
        Degrees of freedom of a pair.
    floor
        A standard error below this is rounding.
    flipped
        Largest |t| of the pairs with each system when units' signs are flipped, a line for each flip (None: units
        are not few, and draws with the covariance tell).
    """

    covariance: Array
    df: float
    floor: float
    flipped: Array | None

    @property
    def words(self) -> str:
        """How the distribution was found."""
        if self.flipped is None:
            return f"{self.draws:,} draws, seed {SEED}"
        if len(self.flipped) == 1:
            return "Bonferroni's correction, for there are few units"
        return f"{len(self.flipped):,} flips of the signs of whole units, seed {SEED}"

    @property
    def draws(self) -> int:
        """Number of draws."""
        return int(min(max(LIMITS.drawn_gaps // max(self._pairs(None), 1), FEWEST_DRAWS), DRAWS))

    def critical(self, level: float, system: int | None = None, *, still: int) -> float:
        """The value that is exceeded with probability 1 − level.

        It is at least Bonferroni's for the `still` pairs that never vary, of which draws say nothing, and with flips
        at most Bonferroni's for all pairs.
        """
        validate.level(level)
        pairs = self._pairs(system)
        if pairs == 1:
            return self._bonferroni(level, 1)
        drawn = float(np.quantile(self._largest(system), level, method="higher"))
        value = max(self._bonferroni(level, max(1, still)), drawn)
        return value if self.flipped is None else min(value, self._bonferroni(level, pairs))

    def adjusted(self, t: Array, alone: Array, system: int | None = None) -> Array:
        """P-values of pairs with these |t|: at least as alone, and with flips at most Bonferroni's."""
        pairs = self._pairs(system)
        if pairs == 1:
            return alone
        largest = self._largest(system)
        above = len(largest) - np.searchsorted(np.sort(largest), t, side="left")
        p = np.where(np.isinf(t), 1.0, 1.0 + above) / (1.0 + len(largest))
        if self.flipped is not None:
            p = np.minimum(p, pairs * alone)
        return np.asarray(np.where(t == 0, 1.0, np.maximum(p, alone)))

    def _pairs(self, system: int | None) -> int:
        m = len(self.covariance)
        return math.comb(m, 2) if system is None else m - 1

    def _bonferroni(self, level: float, number: int) -> float:
        """Student's critical value for each of so many differences."""
        return float(critical(1.0 - (1.0 - level) / number, self.df))

    def _largest(self, system: int | None) -> Array:
        return self._of_all if system is None else self._with(system)

    @cached_property
    def _drawn(self) -> tuple[Array, Array]:
        """Draws of the systems' errors with their covariance, and what makes them Student's."""
        rng = np.random.default_rng(SEED)
        root = symmetric_root(self.covariance)
        normal = rng.standard_normal((self.draws, len(root))) @ root
        if not math.isfinite(self.df):
            return normal, np.ones(self.draws)
        return normal, np.sqrt(rng.chisquare(self.df, self.draws) / self.df)

    @cached_property
    def _of_all(self) -> Array:
        """Largest |t| of all pairs, in each draw or flip."""
        if self.flipped is not None:
            largest: Array = self.flipped.max(axis=1)
            return largest
        normal, chi = self._drawn
        return largest_of_pairs(normal, self.covariance, self.floor) / chi

    def _with(self, system: int) -> Array:
        """Largest |t| of the pairs with one system, in each draw or flip."""
        if self.flipped is not None:
            return self.flipped[:, system]
        normal, chi = self._drawn
        se = pair_errors(self.covariance, np.array([system]), np.arange(len(self.covariance)))[0]
        moving = se > self.floor
        if not moving.any():
            return np.zeros(len(normal))
        gap = np.abs(normal[:, moving] - normal[:, system : system + 1]) / se[moving]
        largest: Array = gap.max(axis=1) / chi
        return largest

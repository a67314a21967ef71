"""What rows that come in clusters have in common, and what that does to a variance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, Codes


@checked
def design_effect(correlation: float, size: float) -> float:
    """Kish's design effect of units of `size` rows with an intraclass correlation: 1 + rho (n - 1).

    Examples
    --------
    >>> design_effect(0.45, 6)
    3.25
    """
    return 1.0 + correlation * (size - 1.0)


@dataclass(frozen=True)
class Anova:
    """Mean squares between and within units, and the intraclass correlation that follows from them.

    Attributes
    ----------
    between, within
        The mean squares.
    size
        Rows of a typical unit, n₀ of the analysis of variance.
    """

    between: float
    within: float
    size: float

    @property
    def correlation(self) -> float:
        """The intraclass correlation (0: nothing varies)."""
        spread = self.between + (self.size - 1) * self.within
        return (self.between - self.within) / spread if spread > 0 else 0.0


def anova(residuals: Array, units: Codes, *, groups: int = 1) -> Anova:
    """The analysis of variance of residuals by units, which may be unequal.

    `residuals` are the values minus the mean of their group (of all rows, where `groups` is 1), and each group of
    units takes a degree of freedom. The correlation is zero where nothing varies.
    """
    sizes = np.bincount(units).astype(float)
    n, k = len(residuals), len(sizes)
    means = np.bincount(units, residuals) / sizes
    between = float((sizes * means**2).sum()) / (k - groups)
    within = float(((residuals - means[units]) ** 2).sum()) / (n - k)
    return Anova(between, within, size=(n - float((sizes**2).sum()) / n) / (k - 1))


def mean_product(residuals: Array, units: Codes) -> float:
    """Mean product of the residuals of two rows of one unit: the covariance of such rows (0: all units are rows).

    Examples
    --------
    >>> mean_product(np.array([1.0, 2.0, -3.0]), np.array([0, 0, 1]))
    2.0
    """
    total, count = np.bincount(units, residuals), np.bincount(units).astype(float)
    pairs = float((count * (count - 1)).sum())
    return float((total**2).sum() - (residuals**2).sum()) / pairs if pairs > 0 else 0.0

"""What clustering does: design effects, intraclass correlation, the error rate that an interval really has."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from strat.columns import encode, numbers, same_length
from strat.doors import checked
from strat.errors import StratError
from strat.estimation.intervals import confidence


@checked
def intraclass_correlation(y: ArrayLike, units: ArrayLike) -> float:
    """The correlation of two rows of the same unit, by analysis of variance (unequal units allowed).

    Examples
    --------
    >>> intraclass_correlation([1, 1, 0, 0], ["a", "a", "b", "b"])
    1.0
    """
    values = numbers("y", y)
    codes, labels = encode("units", units)
    n, k = same_length(y=values, units=codes), len(labels)
    if values.ndim != 1:
        raise StratError(f"`y` must have one value per row, got an array of shape {values.shape}.")
    if k < 2 or k == n:
        raise StratError(f"`units` must hold at least two units, some with several rows, got {k} units of {n} rows.")
    sizes = np.bincount(codes)
    means = np.bincount(codes, values) / sizes
    between = float((sizes * (means - values.mean()) ** 2).sum()) / (k - 1)
    within = float(((values - means[codes]) ** 2).sum()) / (n - k)
    typical = (n - (sizes**2).sum() / n) / (k - 1)
    spread = between + (typical - 1) * within
    return float((between - within) / spread) if spread > 0 else 0.0


@checked
def design_effect(correlation: float, size: float) -> float:
    """Kish's design effect of units of `size` rows with an intraclass correlation: 1 + rho (n - 1).

    Examples
    --------
    >>> design_effect(0.45, 6)
    3.25
    """
    return 1.0 + correlation * (size - 1.0)


@checked
def correlation_from_effect(effect: float, size: float) -> float:
    """The intraclass correlation that a design effect implies for units of `size` rows.

    Cochran's 61 patients × 6 sites (STRAT 5.1): standard errors of 4.65 % and 2.58 %.

    Examples
    --------
    >>> round(correlation_from_effect((4.65 / 2.58) ** 2, 6), 2)
    0.45
    """
    if size <= 1:
        raise StratError(f"`size` must be above 1 row a unit, got {size!r}.")
    return (effect - 1.0) / (size - 1.0)


@checked
def actual_error(effect: float, level: float = 0.95) -> float:
    """How often a nominal interval that ignores a design effect is really wrong (Kish; STRAT 5.1).

    Examples
    --------
    >>> round(actual_error(1.2), 4)
    0.0736
    """
    if effect <= 0:
        raise StratError(f"`effect` must be positive, got {effect!r}.")
    return float(2.0 * scipy.special.ndtr(-scipy.special.ndtri(0.5 + confidence(level) / 2) / np.sqrt(effect)))


@dataclass(frozen=True)
class Overdispersion:
    """Variance of a count of successes when p varies, beside the binomial one (STRAT 5.1)."""

    binomial: float
    within: float
    between: float

    def __str__(self) -> str:
        """The three variances as a sentence."""
        return (
            f"variance of the mean: {self.binomial:.6f} if p is fixed, {self.within:.6f} if it varies within trials, "
            f"{self.between:.6f} if it varies between trials"
        )


@checked
def overdispersion(
    p: float, spread: float, subtrials: int, *, draws: int = 20_000, rng: int | np.random.Generator = 0
) -> Overdispersion:
    """A demonstration: p that varies within a trial lowers the variance, p that varies between trials raises it.

    `p` is the mean probability and `spread` the standard deviation of a two-point p.

    Examples
    --------
    >>> shown = overdispersion(0.5, 0.3, 10)
    >>> shown.within < shown.binomial < shown.between
    True
    """
    if not (spread >= 0 and p - spread > 0 and p + spread < 1):
        raise StratError(
            f"`spread` must be 0 or more and keep p - spread and p + spread inside (0, 1), got {spread} with p = {p}."
        )
    if subtrials < 2 or subtrials % 2:
        raise StratError(f"`subtrials` must be even, so that half of them have each p, got {subtrials}.")
    if draws < 2:
        raise StratError(f"`draws` must be at least 2, got {draws}.")
    rng = np.random.default_rng(rng)
    half = subtrials // 2
    fixed = rng.binomial(subtrials, p, draws)
    within = rng.binomial(half, p - spread, draws) + rng.binomial(half, p + spread, draws)
    between = rng.binomial(subtrials, np.where(rng.random(draws) < 0.5, p - spread, p + spread))
    return Overdispersion(*(float((hits / subtrials).var()) for hits in (fixed, within, between)))

"""What clustering does: design effects, intraclass correlation, the error rate that an interval really has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from strat.base import validate
from strat.base.errors import StratError
from strat.base.result import Result
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, Codes, encode, numbers, same_length
from strat.measures.clustering import anova, design_effect
from strat.measures.student import critical


@checked
def intraclass_correlation(y: ArrayLike, units: ArrayLike) -> float:
    """The correlation of two rows of the same unit, by analysis of variance (unequal units allowed).

    Examples
    --------
    >>> intraclass_correlation([1, 1, 0, 0], ["a", "a", "b", "b"])
    1.0
    """
    values, codes = _values_in_units(y, units)
    return anova(values - values.mean(), codes).correlation


def _values_in_units(y: ArrayLike, units: ArrayLike) -> tuple[Array, Codes]:
    values = numbers("y", y)
    codes, labels = encode("units", units)
    n, k = same_length(y=values, units=codes), len(labels)
    if values.ndim != 1:
        raise StratError.about("y", f"must have one value per row, got an array of shape {values.shape}.")
    if k < 2 or k == n:
        raise StratError.about(
            "units", f"must hold at least two units, some with several rows, got {k} units of {n} rows."
        )
    return values, codes


@dataclass(frozen=True, repr=False)
class IntraclassCorrelation(Result):
    """The correlation of two rows of the same unit, with what is needed to show or refute that it is zero.

    Attributes
    ----------
    value
        By analysis of variance.
    ratio
        The mean square between units over that within.
    units, rows
        How many there are.
    size
        Rows of a typical unit, n₀ of the analysis of variance.
    pvalue
        Of the test that rows are independent of their units, by permutation: the share of random assignments of rows
        to units whose ratio is at least as large (one-sided, for a positive correlation).
    permutations
        How many assignments were drawn.
    """

    value: float
    ratio: float
    units: int
    rows: int
    size: float
    pvalue: float
    permutations: int

    @checked
    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The interval from the distribution of the ratio: exact for normal values in units of one size (Searle 1971).

        For unequal units, and for values such as 0 and 1, it is an approximation.
        """
        tail = (1 - validate.level(level)) / 2
        between, within = self.units - 1, self.rows - self.units
        low, high = (self.ratio / float(scipy.special.fdtri(between, within, share)) for share in (1 - tail, tail))
        return _from_ratio(low, self.size), _from_ratio(high, self.size)

    @property
    def effect(self) -> float:
        """The design effect that it implies for the mean, 1 + rho (n₀ - 1)."""
        return design_effect(self.value, self.size)

    def to_dict(self) -> dict[str, Any]:
        """The numbers for JSON."""
        low, high = self.interval()
        return {
            "schema": "strat/intraclass/1",
            "value": self.value,
            "low": low,
            "high": high,
            "level": 0.95,
            "pvalue": self.pvalue,
            "permutations": self.permutations,
            "units": self.units,
            "rows": self.rows,
            "design_effect": self.effect,
        }

    def __str__(self) -> str:
        """The correlation with its interval, its test and what it does to a variance."""
        low, high = self.interval()
        return (
            f"intraclass correlation {self.value:.4g} (95 % {low:.4g} to {high:.4g}) of {self.rows:,} rows in "
            f"{self.units:,} units; test that rows are independent of their units, against a positive correlation: "
            f"p = {self.pvalue:.4g}; design effect {self.effect:.3g}"
        )


def _from_ratio(ratio: float, size: float) -> float:
    """The correlation (F - 1) / (F + n - 1), between -1 / (n - 1) and 1."""
    return 1.0 if np.isinf(ratio) else float((ratio - 1) / (ratio + size - 1))


@checked
def intraclass(
    y: ArrayLike, units: ArrayLike, *, permutations: int = 999, rng: int | np.random.Generator = 0
) -> IntraclassCorrelation:
    """The intraclass correlation with an interval and a test, to show or refute that rows are independent.

    The test permutes rows over units, which is exact whatever the values are; the interval is that of the analysis of
    variance.

    Examples
    --------
    >>> found = intraclass([1, 1, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0], [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4])
    >>> round(found.value, 4), [round(limit, 3) for limit in found.interval()]
    (0.7273, [0.181, 0.977])
    """
    values, codes = _values_in_units(y, units)
    count = validate.count("permutations", permutations, least=1)
    random = np.random.default_rng(validate.seed(rng))
    sizes = np.bincount(codes).astype(float)
    centred = values - values.mean()
    parts = anova(centred, codes)
    sums = float((np.bincount(codes, centred) ** 2 / sizes).sum())
    larger = 0
    for _ in range(count):
        shuffled = np.bincount(codes, random.permutation(centred))
        larger += float((shuffled**2 / sizes).sum()) >= sums * (1 - 1e-12)
    n, k = len(values), len(sizes)
    ratio = parts.between / parts.within if parts.within > 0 else np.inf if parts.between > 0 else 1.0
    return IntraclassCorrelation(parts.correlation, float(ratio), k, n, parts.size, (larger + 1) / (count + 1), count)


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
        raise StratError.about("size", f"must be above 1 row a unit, got {size!r}.")
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
        raise StratError.about("effect", f"must be positive, got {effect!r}.")
    return float(2.0 * scipy.special.ndtr(-critical(level) / np.sqrt(effect)))


@dataclass(frozen=True, repr=False)
class Overdispersion(Result):
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
        raise StratError.about(
            "spread", f"must be 0 or more and keep p - spread and p + spread inside (0, 1), got {spread} with p = {p}."
        )
    if subtrials < 2 or subtrials % 2:
        raise StratError.about("subtrials", f"must be even, so that half of them have each p, got {subtrials}.")
    if draws < 2:
        raise StratError.about("draws", f"must be at least 2, got {draws}.")
    rng = np.random.default_rng(rng)
    half = subtrials // 2
    fixed = rng.binomial(subtrials, p, draws)
    within = rng.binomial(half, p - spread, draws) + rng.binomial(half, p + spread, draws)
    between = rng.binomial(subtrials, np.where(rng.random(draws) < 0.5, p - spread, p + spread))
    return Overdispersion(*(float((hits / subtrials).var()) for hits in (fixed, within, between)))

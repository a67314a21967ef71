"""How a confusion matrix compares with chance: the p-value, its error, and the distribution behind it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import betaincinv

from strat.base.errors import StratError
from strat.base.result import Result
from strat.base.validate.columns import Array
from strat.comparison import chance_distribution
from strat.comparison.chance_margins import Margins
from strat.comparison.hypergeometric import TooLargeError
from strat.designs import Design
from strat.estimation.estimate import estimate
from strat.estimation.proportions import score_interval
from strat.measures.classification import accuracy

# Confidence with which the error of a simulated p-value is bounded.
CONFIDENCE = 0.999
BOUNDED = 1e-4  # a p-value below it that is not exact is known by its bound alone
NULL = "every way of giving the predicted labels to the patterns is equally likely"


@dataclass(frozen=True, repr=False)
class Chance(Result):
    """How a confusion matrix compares with random classification that keeps its margins.

    Attributes
    ----------
    agreements
        Patterns on the diagonal.
    n
        All patterns.
    efficiency
        agreements / n.
    expected
        Expected efficiency of random classification with the same margins (Nyssen's epsilon_0).
    pvalue
        P(as many agreements or more) under random classification, Nyssen (2.2); 0.0 where it is below the smallest
        float, some 1e-308.
    log10_pvalue
        Its decimal logarithm, which never underflows.
    error
        Bound on the error of `pvalue`.
    method
        "exact", or how it was approximated and what bounds the error.
    null
        The hypothesis tested, in words.
    by_class
        For a confusion matrix, the patterns of each class that agree, and all patterns of that class.
    """

    agreements: int
    n: int
    efficiency: float
    expected: float
    pvalue: float
    log10_pvalue: float
    error: float
    method: str
    null: str = NULL
    _parts: tuple[Margins, ...] = field(default=(), repr=False)
    by_class: tuple[tuple[int, int], ...] = field(default=(), repr=False)

    @cached_property
    def distribution(self) -> Array:
        """P(T = t) for t = 0 … n agreements under random classification."""
        if not self._parts:
            raise StratError.about(
                "distribution", f"is not known for a p-value found by {self.method}; only an exact test has one."
            )
        try:
            return _convolved(self._parts, self.n)
        except TooLargeError:
            raise StratError.about(
                "distribution",
                f"of {self.n} patterns with these margins is too large to compute exactly; the p-value is valid.",
            ) from None

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Nyssen's score interval of the efficiency, patterns taken for independent.

        >>> from strat.comparison import chance
        >>> low, high = chance([[50, 0], [1, 49]]).interval()  # 99 of 100, printed 0.946 to 0.998
        >>> round(low, 3), round(high, 3)
        (0.946, 0.998)
        """
        low, high = score_interval(self.agreements, self.n, level)
        return float(low), float(high)

    def interval_given_sizes(self, level: float = 0.95) -> tuple[float, float]:
        """The interval of the efficiency expected of patterns in these very class sizes, which is Nyssen's ε.

        The classes are strata: the interval is that of ``strat.evaluate(…, strata=truth)``. The score interval takes
        the class sizes for random, too, and is too wide where classes are recognized unequally well.

        >>> from strat.comparison import chance
        >>> result = chance([[99, 1], [50, 50]])  # se sqrt((0.99 · 0.01 + 0.5 · 0.5) / 99) / 2 = 0.0256
        >>> [round(limit, 3) for limit in (*result.interval_given_sizes(), *result.interval())]
        [0.69, 0.795, 0.68, 0.8]
        """
        if not self.by_class:
            raise StratError(
                "The class sizes are not known: this test was not made of a confusion matrix; "
                "use `strat.evaluate` with `strata` and `units`."
            )
        sizes = np.array([size for _, size in self.by_class])
        if (sizes == 1).any():
            raise StratError(
                "A class of one pattern does not show how its patterns vary; use `interval()`, "
                "or add patterns to that class."
            )
        right = np.array([agree for agree, _ in self.by_class])
        counts, classes = np.concatenate([right, sizes - right]), np.tile(np.arange(len(sizes)), 2)
        seen, agree = counts > 0, np.repeat([1, 0], len(sizes))
        design = Design.stratified(strata=classes[seen], multiplicity=counts[seen])
        low, high = estimate(accuracy(np.ones_like(agree[seen]), agree[seen]), on=design).interval(level)
        return float(low), float(high)

    def __str__(self) -> str:
        """The answer as a sentence."""
        return (
            f"{100 * self.efficiency:.1f} % of {self.n} patterns agree where chance gives "
            f"{100 * self.expected:.1f} % ({self.p_text}, {self.method})"
        )

    @property
    def p_text(self) -> str:
        """The p-value as text, however small: "p = 3.20e-412", or "p <= …" for a bound."""
        return f"p {'=' if self.exact or self.pvalue >= BOUNDED else '<='} {self.p_digits}"

    @property
    def p_digits(self) -> str:
        """The digits of the p-value, or of its bound, however small."""
        if self.pvalue >= BOUNDED:
            return f"{self.pvalue:.3g}"
        exponent = math.floor(self.log10_pvalue)
        mantissa = 10.0 ** (self.log10_pvalue - exponent)
        if mantissa >= 9.995:
            mantissa, exponent = 1.0, exponent + 1
        return f"{mantissa:.2f}e{exponent:d}"

    @property
    def exact(self) -> bool:
        """Whether the p-value is exact, and not simulated or bounded."""
        return bool(self._parts)

    def to_dict(self) -> dict[str, Any]:
        """The numbers for JSON."""
        keys = ("agreements", "n", "efficiency", "expected", "pvalue", "log10_pvalue", "error")
        values: dict[str, Any] = {k: getattr(self, k) for k in keys}
        return values | {"method": self.method, "null": self.null}


def clopper_pearson(hits: int, draws: int) -> tuple[float, float]:
    """Limits of a share with a confidence of 99.9 %."""
    half = 0.5 * (1.0 - CONFIDENCE)
    low = float(betaincinv(hits, draws - hits + 1, half)) if hits else 0.0
    high = float(betaincinv(hits + 1, draws - hits, 1.0 - half)) if hits < draws else 1.0
    return low, high


def _convolved(parts: tuple[Margins, ...], n: int) -> Array:
    """Distribution of the sum over parts; equal margins are computed once."""
    known: dict[Margins, Array] = {}
    total = np.ones(1)
    for part in parts:
        if part not in known:
            known[part] = chance_distribution.distribution(part)
        total = np.convolve(total, known[part])
    return np.pad(total, (0, n + 1 - len(total)))

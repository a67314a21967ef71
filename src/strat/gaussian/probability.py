"""A computed probability with how sure it is."""

from __future__ import annotations

from dataclasses import dataclass

from strat.base.result import Result


@dataclass(frozen=True, repr=False)
class Probability(Result):
    """A probability, the method that computed it, and its two kinds of uncertainty.

    Parameters
    ----------
    value
        The probability.
    method
        "exact", "quadratic form", "cubature" or "Monte Carlo".
    bound
        Absolute numerical error: the change at the last refinement, rounding and truncation included.
    se
        Standard error of simulation; 0 for a deterministic method.
    by_class
        The probability within each class, where it was computed so.
    """

    value: float
    method: str
    bound: float = 0.0
    se: float = 0.0
    by_class: tuple[float, ...] = ()

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        doubt = f"standard error {self.se:.2g}" if self.se else f"numerical error below {self.bound:.1g}"
        return f"{self.value:.10g} ({self.method}, {doubt})"

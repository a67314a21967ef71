"""The margins of a confusion matrix, and the logarithms of their rook polynomials."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from strat.base.validate.columns import Array


@dataclass(frozen=True)
class Margins:
    """Row and column totals of the classes that can agree at all, and the number of patterns."""

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    n: int

    @property
    def most(self) -> int:
        """The largest possible number of agreements."""
        return sum(map(min, self.rows, self.columns))

    @property
    def mean(self) -> float:
        """Expected number of agreements."""
        return float(Fraction(sum(r * c for r, c in zip(self.rows, self.columns, strict=True)), self.n))

    def logs(self) -> list[Array]:
        """For each class, the logarithms of its coefficients C(r, j) C(c, j) j!."""
        return [log_rooks(r, c) for r, c in zip(self.rows, self.columns, strict=True)]


def log_sum(logs: list[Array], log_x: float) -> float:
    """Log q(x), the product of the classes' polynomials."""
    return sum(logsumexp(a + np.arange(len(a)) * log_x) for a in logs)


def logsumexp(values: Array) -> float:
    """Log of the sum of exponentials."""
    top = values.max()
    return float(top + np.log(np.exp(values - top).sum()))


def tilted_mean(logs: list[Array], log_x: float) -> float:
    """The mean power of x in q(x), each weighed by its term."""
    mean = 0.0
    for a in logs:
        j = np.arange(len(a))
        w = a + j * log_x
        w = np.exp(w - w.max())
        mean += float(w @ j / w.sum())
    return mean


@lru_cache(maxsize=64)
def log_rooks(r: int, c: int) -> Array:
    """Log C(r, j) C(c, j) j! for all j, kept."""
    result = log_coefficients(r, c, np.arange(min(r, c) + 1))
    result.flags.writeable = False
    return result


def log_coefficients(r: int, c: int, j: NDArray[np.int64]) -> Array:
    """Log C(r, j) C(c, j) j! for these j."""
    result: Array = log_binomial(r, j) + log_binomial(c, j) + gammaln(j + 1)
    return result


def log_binomial(n: int | NDArray[np.int64], k: int | NDArray[np.int64]) -> Array:
    """Log of the binomial coefficients."""
    a, b = np.asarray(n), np.asarray(k)
    result: Array = gammaln(a + 1) - gammaln(b + 1) - gammaln(a - b + 1)
    return result

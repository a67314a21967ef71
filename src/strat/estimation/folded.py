"""Limits of a sum of distances, which is never less than its own noise.

The calibration error S = Σ |D_b| adds up distances of D_b = d_b + ε_b from 0, where ε has the covariance C of the
design. It is too large where d_b is small: perfectly calibrated probabilities show Σ E|ε_b| = Σ σ_b √(2/π). Since
|D_b| − |d_b| is at most |ε_b|, and s_b ε_b where the sign s_b of d_b is plain, the lower limit lies below S by a high
quantile of

    N = Σ_plain s_b ε_b + Σ_other |ε_b|,

from its first three moments (Cornish and Fisher). With the true signs Σ s_b D_b is at most S, so the upper limit is
S + t · se as for any sum.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from strat.base.validate.columns import Array

PLAIN = 2.5  # standard errors from 0 at which the sign of a distance is taken for that of the truth
MEAN = float(np.sqrt(2.0 / np.pi))  # of |ε|, for a normal ε with variance 1
THIRD = MEAN * (4.0 / np.pi - 1.0)  # its third cumulant


def expected_noise(covariance: Array) -> float:
    """What distances with this covariance add up to where all true ones are 0.

    >>> round(expected_noise(np.eye(4) / 100), 4)
    0.3192
    """
    return MEAN * float(np.sqrt(np.diag(covariance)).sum())


def distance_limits(distances: Array, covariance: Array, critical: float) -> tuple[float, float]:
    """How far the limits of a sum of distances lie below and above it, for a critical value of Student's t.

    Examples
    --------
    A single distance of 0.3 with the standard error 0.1 is plainly not 0; one of 0.1 may be noise alone, whose 97.5 %
    quantile is 2.24 standard errors:

    >>> print("%.3f %.3f" % distance_limits(np.array([0.3]), np.eye(1) / 100, 1.96))
    0.196 0.196
    >>> print("%.3f %.3f" % distance_limits(np.array([0.1]), np.eye(1) / 100, 1.96))
    0.226 0.196
    """
    error = np.sqrt(np.diag(covariance))
    moving = error > 0
    gap, error, c = distances[moving], error[moving], covariance[np.ix_(moving, moving)]
    sign, plain = np.where(gap < 0, -1.0, 1.0), np.abs(gap) > PLAIN * error
    above = critical * np.sqrt(max(float(sign @ c @ sign), 0.0))
    mean = MEAN * float(error[~plain].sum())
    spread = np.sqrt(max(_variance_of_noise(sign, error, c, plain), 0.0))
    skew = THIRD * float((error[~plain] ** 3).sum()) / spread**3 if spread > 0 else 0.0
    return mean + float(spread) * (critical + (critical**2 - 1.0) / 6.0 * skew), float(above)


def _variance_of_noise(sign: Array, error: Array, covariance: Array, plain: NDArray[np.bool_]) -> float:
    """The variance of N; folded deviates of correlation r have the covariance (2/π)(√(1 − r²) + r asin r − 1)."""
    size = np.outer(error, error)
    r = np.clip(covariance / size, -1.0, 1.0)
    folded = (np.sqrt(1.0 - r**2) + r * np.arcsin(r) - 1.0) * (2.0 / np.pi) * size
    straight = np.outer(sign, sign) * covariance
    return float(straight[np.ix_(plain, plain)].sum() + folded[np.ix_(~plain, ~plain)].sum())

"""The width that is reached in a wanted share of studies, for the interval's width varies with what is found."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtri, ndtri

from strat.base import validate
from strat.base.validate.columns import Array
from strat.estimation.proportions import clopper_pearson, logit_interval
from strat.measures.student import critical

ASSURANCE = 0.8  # chance that an interval is no wider than planned, unless another one is asked for
POINTS = 15  # equally likely values of the share found, of the variance found and of the rows that count
FINE = 60  # the same where only the share found varies
NOT_PERCENT = "use a share, not percent"


def check_assurance(assurance: float) -> float:
    """The share of studies, if it is one."""
    return validate.share("assurance", assurance, open_ends=True, hint=NOT_PERCENT)


def student(level: float, df: Array) -> Array:
    """Student's critical value, infinite without degrees of freedom."""
    return np.where(df > 0, critical(level, np.maximum(df, 1e-9)), np.inf)


def error_factor(df: Array, assurance: float | Array) -> Array:
    """What a standard error with these degrees of freedom is at most, over the true one, in such a share of studies.

    >>> error_factor(np.array([20.0, np.inf]), 0.8).round(4)
    array([1.1189, 1.    ])
    """
    known = np.isfinite(df) & (df > 0)
    finite = np.where(known, df, 1.0)
    return np.asarray(np.where(known, np.sqrt(chdtri(finite, 1.0 - np.asarray(assurance)) / finite), 1.0))


def mean_width(deviation: Array, df: Array, level: float, assurance: float) -> Array:
    """The width of a mean's interval that is not exceeded in such a share of studies."""
    return np.asarray(2.0 * student(level, df) * deviation * error_factor(df, assurance))


def share_width(proportion: float | Array, trials: Array, df: Array, level: float) -> Array:
    """Width of a share's interval with an effective number of trials: by logits, or exact where that is narrower."""
    z = critical(level)
    # Student's quantile for the normal one is the same as fewer trials
    p, n = np.broadcast_arrays(proportion, np.maximum(trials * (z / student(level, df)) ** 2, 1e-12))
    width = np.array(_width(logit_interval(p * n, n, level)))
    few = n * p * (1.0 - p) < 1.0 + z**6 / 10.0  # with more, exact limits are never the narrower ones
    if few.any():
        width[few] = np.minimum(width[few], _width(clopper_pearson((p * n)[few], n[few], level)))
    return width


def _width(limits: tuple[ArrayLike, ArrayLike]) -> Array:
    return np.subtract(limits[1], limits[0])


def likely_counts(rows: Array, share: float) -> Array:
    """Equally likely numbers, on a last axis, of the rows that a measure looks at: a share of all, drawn by chance.

    >>> likely_counts(np.array([100.0]), 0.5).round()[0, [0, 7, 14]]
    array([41., 50., 59.])
    """
    size = np.asarray(rows, float)[..., None] * share
    if share == 1.0:
        return size
    return np.maximum(size + ndtri(_middle(POINTS)) * np.sqrt(size * (1.0 - share)), 1.0)


def assured_share_width(
    proportion: float,
    trials: Array,
    df: Array,
    level: float,
    assurance: float,
    *,
    estimated: bool,
    between: float = 0.0,
) -> Array:
    """The width of a share's interval that is not exceeded in such a share of studies.

    The last axis of `trials` holds equally likely numbers of them. The share found varies about the expected one, and
    so does the design effect where it is `estimated` from the units: the more so, the more their rates are skewed.
    `between` is the variance of a unit's rate over p (1 − p).
    """
    size, free = (np.asarray(v, float)[..., None, None] for v in np.broadcast_arrays(trials, df))
    z = ndtri(_middle(POINTS if estimated or np.shape(trials)[-1] > 1 else FINE))[:, None]
    seen = _share_found(proportion, size, z, rows=not estimated)
    factor = np.ones((1, 1))
    if estimated:
        skew, kurtosis = _unit_shape(proportion, between)
        squared = error_factor(free / (1.0 + kurtosis / 2.0), _middle(POINTS)) ** 2
        factor = np.sqrt(squared * np.maximum(1.0 + skew * z / np.sqrt(np.maximum(free + 1.0, 1.0)), 0.1))
    widths = share_width(seen, np.maximum(size - 1.0, 1e-9) / factor**2, free, level)
    return np.asarray(np.quantile(widths, assurance, axis=(-3, -2, -1)), dtype=float)


def _middle(points: int) -> Array:
    return (np.arange(points) + 0.5) / points


def _share_found(p: float, size: Array, z: Array, *, rows: bool) -> Array:
    """Quantiles of the share found: normal, or of a number of `rows` (Cornish and Fisher), half a row towards 1/2.

    A count moves in steps: with the half row the width is reached in at least the wanted share of studies, and falls
    as rows are added.
    """
    n = np.maximum(size, 1.0)
    moved = z * np.sqrt(p * (1.0 - p) / n)
    if rows:
        moved = moved + ((1.0 - 2.0 * p) * (z**2 - 1.0) / 6.0 + 0.5 * np.sign(0.5 - p)) / n
    return np.clip(p + moved, 0.0, 1.0)


def _unit_shape(p: float, between: float) -> tuple[float, float]:
    """Skewness of units' rates beyond what the share itself says of their variance, and kurtosis beyond skewness.

    The rates are taken as Beta distributed; the variance found moves with the share found by its skewness.
    """
    if not 0.0 < between < 1.0 or not 0.0 < p < 1.0:
        return 0.0, 0.0
    total = 1.0 / between - 1.0
    a, b = p * total, (1.0 - p) * total
    skew = 2.0 * (b - a) * np.sqrt(total + 1.0) / ((total + 2.0) * np.sqrt(a * b))
    kurtosis = 6.0 * ((a - b) ** 2 * (total + 1.0) - a * b * (total + 2.0)) / (a * b * (total + 2.0) * (total + 3.0))
    told = (1.0 - 2.0 * p) * np.sqrt(between / (p * (1.0 - p)))
    return float(skew - told), float(max(kurtosis - skew**2, 0.0))

"""Confidence levels, and Student's critical value at one."""

from __future__ import annotations

import numpy as np
import scipy  # its parts load when they are first used: `import strat` stays light

from strat.base import validate
from strat.base.validate.columns import Array


def critical(level: float, df: Array | float = np.inf) -> Array:
    """Student's two-sided critical value; the normal one for infinite degrees of freedom.

    Examples
    --------
    >>> critical(0.95, np.array([4, np.inf])).round(4)
    array([2.7764, 1.96  ])
    """
    upper = 0.5 + validate.level(level) / 2
    endless = np.isinf(df)
    return np.where(endless, scipy.special.ndtri(upper), scipy.special.stdtrit(np.where(endless, 1.0, df), upper))

"""Whether units fall into two kinds, where limits of shares suppose that they differ by degrees.

Where one unit in ten is of a bad kind, samples of few units hold none of it, or far too many, more often than
beta-binomial limits allow for. Samples that hold some show it: two rates fit the units better than a beta-binomial
does.
"""

from __future__ import annotations

import numpy as np
import scipy

from strat.base.validate.columns import Array

_RHO = np.geomspace(0.003, 0.8, 12)
_THETA = (1.0 / _RHO - 1.0)[:, None]
STEPS = 8  # of the search for the two rates
LEAST, MOST = 0.005, 0.995  # rates that are tried


def of_two_kinds(hits: Array, rows: Array) -> tuple[float, float]:
    """How much better two rates fit the units than a beta-binomial does, and how many units are of the rarer kind.

    Parameters
    ----------
    hits, rows
        Of each unit.

    Returns
    -------
    difference, number
        Difference of the largest logarithms of the likelihood, and the expected number of units.

    Examples
    --------
    Two units out of ten have half of their rows right, the others nearly all:

    >>> difference, number = of_two_kinds(np.array([10.0, 11.0, *[19.0, 20.0] * 4]), np.full(10, 20.0))
    >>> print(f"{difference:.1f} {number:.1f}")
    4.0 2.0
    """
    order = np.argsort(hits / rows, kind="stable")
    both = np.stack([hits[order], rows[order]])
    first = _split(both[0] / both[1])
    for _ in range(STEPS):
        likelihoods = _log_likelihoods(first, both)
        first = scipy.special.expit(likelihoods[0] - likelihoods[1])
    fits = np.logaddexp(*likelihoods).sum(axis=0)
    best = int(np.argmax(fits))
    number = float(first[:, best].sum())
    return float(fits[best]) - _beta_binomial(*both), min(number, len(hits) - number)


def _split(rates: Array) -> Array:
    """Units below the largest gap between rates, in the lower half and in the upper half: units × 2."""
    gaps, half = np.diff(rates), len(rates) // 2
    ends = [int(np.argmax(gaps[:half])) + 1, half + int(np.argmax(gaps[half:])) + 1] if half < len(gaps) else [half]
    return (np.arange(len(rates))[:, None] < ends).astype(float)


def _log_likelihoods(first: Array, both: Array) -> tuple[Array, Array]:
    """Of each unit with each kind, whose rates are those of the units that are of it with these probabilities."""
    sums, whole, units = both @ first, both.sum(axis=1)[:, None], both.shape[1]
    edge = 0.5 / units
    share = np.clip(first.sum(axis=0) / units, edge, 1.0 - edge)
    of_kinds = []
    for (hits, rows), part in ((sums, share), (whole - sums, 1.0 - share)):
        rate = np.clip(hits / np.maximum(rows, 1e-9), LEAST, MOST)
        wrong = np.log1p(-rate)
        of_kinds.append(both.T @ np.stack([np.log(rate) - wrong, wrong]) + np.log(part))
    return of_kinds[0], of_kinds[1]


def _beta_binomial(hits: Array, rows: Array) -> float:
    """The largest logarithm of the beta-binomial likelihood over correlations, at the share of all rows."""
    p, log_gamma = float(np.clip(hits.sum() / rows.sum(), LEAST, MOST)), scipy.special.gammaln
    a, b = p * _THETA, (1.0 - p) * _THETA
    constant = log_gamma(_THETA) - log_gamma(a) - log_gamma(b)
    each = log_gamma(hits + a) + log_gamma(rows - hits + b) - log_gamma(rows + _THETA) + constant
    return float(each.sum(axis=1).max())

"""Limits of a sum of shares from the limits of its parts (method of variance estimates recovery).

See Zou and Donner (2008). Balanced accuracy, macro recall and post-stratified shares are sums Σ w_c r_c. Each share has
limits l_c, u_c of its own, from the units that hold it, exact where it is 0 or 1; with k_cd the correlation of the
shares c and d,

    low = Σ w_c r_c − √(Σ_cd w_c w_d k_cd (r_c − l_c)(r_d − l_d)),

and high in the same way. A share that does not vary in the sample so still adds what is not known of it.
"""

from __future__ import annotations

import numpy as np

from strat.base.validate.columns import Array


def sum_limits(
    coefficients: Array, shares: Array, limits: tuple[Array, Array], covariance: Array
) -> tuple[float, float]:
    """How far the limits of a sum of shares lie below and above it.

    Examples
    --------
    Two independent shares with limits 0.1 below and 0.05 above each, and their mean:

    >>> below, above = sum_limits(
    ...     np.array([0.5, 0.5]), np.array([0.9, 0.8]), (np.array([0.8, 0.7]), np.array([0.95, 0.85])), np.eye(2) / 400
    ... )
    >>> print(f"{below:.4f} {above:.4f}")
    0.0707 0.0354
    """
    deviation = np.sqrt(np.diag(covariance))
    both = np.outer(deviation, deviation)
    correlation = np.divide(covariance, both, out=np.zeros_like(covariance), where=both > 0)
    np.fill_diagonal(correlation, 1.0)
    below, above = coefficients * (shares - limits[0]), coefficients * (limits[1] - shares)
    return tuple(float(np.sqrt(max(float(side @ correlation @ side), 0.0))) for side in (below, above))  # type: ignore[return-value]

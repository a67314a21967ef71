"""The scale factor of every method of replication: one table, one place.

The variance is ``sum_a scale_a (theta_a - theta)^2`` over the replicates a, centred on the full-sample value.

| method               | scale of a replicate                  | source                    |
| -------------------- | ------------------------------------- | ------------------------- |
| BRR, p units         | 1 / (k (p - 1))                       | STRAT (10)                |
| Fay, p units         | 1 / (k (p - 1) (1 - rho)^2)           | Judkins 1990              |
| generalized          | 1 / (k (1 - rho)^2)                   | contrasts, any n_h        |
| multi-array          | 1 / k                                 | Sitter 1993               |
| half-samples         | 1 / k                                 | STRAT (5), (10)           |
| jackknife (JK1, JKn) | (1 - f_h) (n_h - 1) / n_h             | Wolter 1985               |
| bootstrap            | 1 / k (R: 1 / (k - 1))                | Rao and Wu 1988           |
"""

from __future__ import annotations

from strat.base.validate.columns import Array, Codes


def balanced(number: int, *, units: int = 2, rho: float = 0.0) -> float:
    """Scale of k replicates that each take one of p units a stratum, with Fay's rho.

    >>> balanced(8), balanced(27, units=3), balanced(8, rho=0.5)
    (0.125, 0.018518518518518517, 0.5)
    """
    return 1.0 / (number * (units - 1) * (1.0 - rho) ** 2)


def jackknife(sizes: Codes, fraction: Array) -> Array:
    """Scale of the replicates without one unit, for each stratum (the finite population correction included)."""
    return (1.0 - fraction) * (sizes - 1) / sizes

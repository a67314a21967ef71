"""Friedman's test without an approximation: every order of the systems within a data set is equally likely."""

from __future__ import annotations

import math
from collections import Counter
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from strat.base.limits import LIMITS
from strat.base.validate.columns import Array

Whole = NDArray[np.int64]
DRAWS = 39_999  # random orders: a p of 0.05 is off by 0.001
HARDLY_ANY = 20_000  # sums of points that are no ranks, which seldom coincide: counted for very small tables only
# Chi-squared and F are for more data sets and systems than these (Kuncheva 1.4.4), or for very many data sets.
FEW_DATA_SETS, FEW_SYSTEMS, MANY_DATA_SETS = 10, 5, 30


def orders_pvalue(points: Array, most: int = HARDLY_ANY) -> tuple[float, str]:
    """The p-value over all orders of the points within each data set, and how it was found.

    It is counted where at most so many sums are formed on the way, and simulated for tables that are not large;
    beyond that approximations are good enough, and it is NaN.

    >>> orders_pvalue(np.array([[1.0, 2.0], [1.0, 2.0]]))
    (0.5, 'exact')
    """
    exact = friedman_pvalue(points, most)
    if exact is not None:
        return exact, "exact"
    n, systems = points.shape
    large = n > MANY_DATA_SETS or (n > FEW_DATA_SETS and systems > FEW_SYSTEMS)
    return (math.nan, "") if large else (simulated_pvalue(points), "by random orders")


def friedman_pvalue(points: Array, most: int | None = None) -> float | None:
    """P(sums of the systems as far apart or farther) over all orders within each data set; None: too many to count.

    Friedman's statistic, with or without the correction for ties, and Iman and Davenport's F all grow with the sum of
    the squares of the systems' rank sums, so that they have this p-value in common; so do the test on aligned ranks
    and Quade's with the sums of their points, which are multiples of a quarter. The sums are followed from data set
    to data set; which system has which sum does not matter, so that each set of sums is kept once.

    Examples
    --------
    Two data sets that agree on three systems: one of the 3! orders of the second one.

    >>> friedman_pvalue(np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]]))
    0.16666666666666666
    """
    systems = points.shape[1]
    whole = np.rint(4.0 * points).astype(np.int64)
    whole = whole - whole.min(axis=1, keepdims=True)
    whole //= max(int(np.gcd.reduce(whole, axis=None)), 1)
    base = int(whole.max(axis=1).sum()) + 1
    if systems > LIMITS.ranked_systems or base**systems >= 1 << 62:
        return None
    most = LIMITS.rank_sums if most is None else most
    rows = sorted(tuple(sorted(row)) for row in whole.tolist())
    sums, shares, formed = np.array(rows[:1]), np.ones(1), 0
    for row in rows[1:]:
        orders = np.array(sorted(set(permutations(row))))
        formed += len(sums) * len(orders)
        if formed > most:
            return None
        sums, shares = _added(sums, shares, orders, base)
    observed = int((whole.sum(axis=0) ** 2).sum())
    return min(1.0, math.fsum(shares[(sums**2).sum(axis=1) >= observed]))


def simulated_pvalue(points: Array) -> float:
    """P(sums of the systems as far apart or farther), by random orders of the points within each data set.

    It is the same whatever the order of data sets and of systems. Friedman's statistic grows with the squares of the
    systems' sums of ranks, and so do that of aligned ranks and Quade's with the squares of their sums of points.

    >>> round(simulated_pvalue(np.array([[1.0, 2.0], [1.0, 2.0]])), 1)
    0.5
    """
    n, systems = points.shape
    rows = np.array(sorted(np.sort(points - points.mean(axis=1, keepdims=True), axis=1).tolist()))
    observed = float(((points - points.mean(axis=1, keepdims=True)).sum(axis=0) ** 2).sum()) * (1.0 - 1e-9)
    rng = np.random.default_rng(20_010_612)  # fixed: the same table has the same answer
    hits, step = 0, max(1, LIMITS.rank_sums // (n * systems))
    for start in range(0, DRAWS, step):
        orders = rng.permuted(np.broadcast_to(rows, (min(step, DRAWS - start), n, systems)), axis=2)
        hits += int(((orders.sum(axis=1) ** 2).sum(axis=1) >= observed).sum())
    return (hits + 1.0) / (DRAWS + 1.0)


def agreement_pvalue(ranks: Array) -> float:
    """P(every data set ranks the systems as the first one does)."""
    ways = 0.0
    for row in ranks[1:].tolist():
        ways += math.lgamma(len(row) + 1.0) - sum(math.lgamma(size + 1.0) for size in Counter(row).values())
    return math.exp(-ways)


def _added(sums: Whole, shares: Array, orders: Whole, base: int) -> tuple[Whole, Array]:
    """All sums after one more data set, smallest first within each, with the share of the orders that lead there."""
    reached = np.sort((sums[:, None, :] + orders).reshape(-1, sums.shape[1]), axis=1)
    keys = reached @ (base ** np.arange(sums.shape[1], dtype=np.int64))
    _, first, back = np.unique(keys, return_index=True, return_inverse=True)
    return reached[first], np.bincount(back.reshape(-1), np.repeat(shares, len(orders))) / len(orders)

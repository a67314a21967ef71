"""P-values of many hypotheses, adjusted so that each can be held against one level."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from strat.base.errors import StratError
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, values


@checked
def bonferroni(pvalues: ArrayLike) -> Array:
    """Each p-value times their number: the family-wise error holds for any dependence.

    >>> bonferroni([0.01, 0.02, 0.6]).tolist()
    [0.03, 0.06, 1.0]
    """
    p = checked_pvalues(pvalues)
    return np.minimum(p * len(p), 1.0)


@checked
def holm(pvalues: ArrayLike) -> Array:
    """Holm's step-down adjustment: never less powerful than Bonferroni's, for any dependence.

    >>> holm([0.01, 0.02, 0.6]).tolist()
    [0.03, 0.04, 0.6]
    """
    return step_down(checked_pvalues(pvalues), lambda m: np.arange(m, 0.0, -1.0))


@checked
def hochberg(pvalues: ArrayLike) -> Array:
    """Hochberg's step-up adjustment: for independent or positively dependent tests.

    >>> hochberg([0.01, 0.02, 0.03]).tolist()
    [0.03, 0.03, 0.03]
    """
    p = checked_pvalues(pvalues)
    return step_up(p, np.arange(len(p), 0.0, -1.0))


@checked
def shaffer(pvalues: ArrayLike, *, systems: int) -> Array:
    """Shaffer's static step-down adjustment for all pairs of `systems`, which cannot be true in every combination.

    Examples
    --------
    Of the three pairs of three systems, two cannot both be ties unless all are: factors 3, 1, 1.

    >>> shaffer([0.01, 0.02, 0.03], systems=3).tolist()
    [0.03, 0.03, 0.03]
    """
    p = checked_pvalues(pvalues)
    if len(p) != systems * (systems - 1) // 2:
        raise StratError.about(
            "pvalues",
            f"must be those of all {systems * (systems - 1) // 2} pairs of {systems} `systems`, got {len(p)}.",
        )
    return step_down(p, lambda m: _true_hypotheses(systems, m))


@checked
def benjamini_hochberg(pvalues: ArrayLike) -> Array:
    """Benjamini and Hochberg's adjustment: the false discovery rate, for independent or positively dependent tests.

    >>> [round(v, 4) for v in benjamini_hochberg([0.01, 0.02, 0.6]).tolist()]
    [0.03, 0.03, 0.6]
    """
    p = checked_pvalues(pvalues)
    return step_up(p, len(p) / np.arange(1, len(p) + 1))


def checked_pvalues(pvalues: ArrayLike) -> Array:
    """The p-values as numbers from 0 to 1."""
    if np.ndim(pvalues) != 1 or np.size(pvalues) == 0:
        raise StratError.about("pvalues", f"must be a list of p-values, got an array of shape {np.shape(pvalues)}.")
    p = values("pvalues", pvalues, finite=False)
    if not ((p >= 0.0) & (p <= 1.0)).all():
        raise StratError.about("pvalues", f"must lie between 0 and 1, got {p[~((p >= 0) & (p <= 1))][0]}.")
    return p


def step_down(p: Array, factors: Callable[[int], Array]) -> Array:
    """From the smallest on, p-values times factors, none below one before it."""
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * factors(len(p))), 1.0)
    return adjusted


def step_up(p: Array, factors: Array) -> Array:
    """From the largest on, p-values times factors, none above one before it."""
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(np.minimum.accumulate((p[order] * factors)[::-1])[::-1], 1.0)
    return adjusted


def _true_hypotheses(systems: int, pairs: int) -> Array:
    """For the i-th smallest p-value, the largest number of pairs that can still all be ties."""
    possible: list[set[int]] = [{0}, {0}]
    for k in range(2, systems + 1):
        possible.append({j * (j - 1) // 2 + x for j in range(1, k + 1) for x in possible[k - j]})
    counts = np.array(sorted(possible[systems]), float)
    left = np.arange(pairs, 0, -1)
    return counts[np.searchsorted(counts, left, side="right") - 1]

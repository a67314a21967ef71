"""Further adjustments of the p-values of many hypotheses, and all of them by name."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from strat.base.errors import StratError, one_of
from strat.base.limits import LIMITS
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array
from strat.comparison.multiplicity import (
    benjamini_hochberg,
    bonferroni,
    checked_pvalues,
    hochberg,
    holm,
    shaffer,
    step_up,
)


@checked
def hommel(pvalues: ArrayLike) -> Array:
    """Hommel's adjustment: never less powerful than Hochberg's, for independent or positively dependent tests.

    The closed test with Simes' test of every intersection.

    >>> hommel([0.01, 0.02, 0.03]).tolist()
    [0.03, 0.03, 0.03]
    """
    p = checked_pvalues(pvalues)
    order, m = np.argsort(p, kind="stable"), len(p)
    sorted_p = p[order]
    adjusted = sorted_p.copy()
    for size in range(m, 1, -1):  # intersections of `size` hypotheses
        top = m - size + 1
        simes = float((size * sorted_p[top - 1 :] / np.arange(1, size + 1)).min())
        low = np.minimum(simes, size * sorted_p[: top - 1])
        adjusted[top - 1 :] = np.maximum(adjusted[top - 1 :], simes)
        adjusted[: top - 1] = np.maximum(adjusted[: top - 1], low)
    result = np.empty(m)
    result[order] = np.minimum(adjusted, 1.0)
    return result


@checked
def holland(pvalues: ArrayLike) -> Array:
    """Holland and Copenhaver's step-down adjustment, Holm's with Šidák's bound: for non-negatively dependent tests.

    >>> [round(v, 6) for v in holland([0.01, 0.02]).tolist()]  # 1 − 0.99², 0.02
    [0.0199, 0.02]
    """
    p = checked_pvalues(pvalues)
    return _powers(p, np.arange(len(p), 0.0, -1.0))


@checked
def finner(pvalues: ArrayLike) -> Array:
    """Finner's step-down adjustment, 1 − (1 − p)^(m/i) of the i-th smallest: for independent tests.

    >>> [round(v, 6) for v in finner([0.01, 0.02]).tolist()]  # 1 − 0.99², 0.02
    [0.0199, 0.02]
    """
    p = checked_pvalues(pvalues)
    return _powers(p, len(p) / np.arange(1.0, len(p) + 1))


@checked
def li(pvalues: ArrayLike) -> Array:
    """Li's adjustment p / (p + 1 − the largest p): powerful where the largest is far below 1.

    >>> [round(v, 4) for v in li([0.01, 0.5]).tolist()]  # 0.01/0.51, 0.5/1
    [0.0196, 0.5]
    """
    p = checked_pvalues(pvalues)
    room = p + 1.0 - p.max()
    return np.minimum(np.divide(p, room, out=np.ones_like(p), where=room > 0), 1.0)


@checked
def rom(pvalues: ArrayLike) -> Array:
    """Rom's step-up adjustment, Hochberg's with the exact bounds for independent tests.

    Examples
    --------
    The largest of three counts as it is, the second twice, the third by α/3 + α²/12.

    >>> [round(v, 4) for v in rom([0.016875, 0.2, 0.5]).tolist()]
    [0.05, 0.4, 0.5]
    """
    p = checked_pvalues(pvalues)
    if len(p) > LIMITS.rom_pvalues:
        raise StratError.about(
            "pvalues", f"must be at most {LIMITS.rom_pvalues} for Rom's adjustment, got {len(p)}; use Hochberg's."
        )
    order = np.argsort(-p, kind="stable")
    adjusted, least = np.empty(len(p)), 1.0
    for place, k in enumerate(order):  # from the largest on
        least = min(least, _rom_level(float(p[k]), place))
        adjusted[k] = least
    return adjusted


@checked
def benjamini_yekutieli(pvalues: ArrayLike) -> Array:
    """Benjamini and Yekutieli's adjustment: the false discovery rate for any dependence.

    >>> [round(v, 4) for v in benjamini_yekutieli([0.01, 0.02]).tolist()]  # times 1 + 1/2
    [0.03, 0.03]
    """
    p = checked_pvalues(pvalues)
    rank = np.arange(1, len(p) + 1)
    return step_up(p, len(p) * (1.0 / rank).sum() / rank)


@checked
def bergmann_hommel(pvalues: ArrayLike, *, systems: int) -> Array:
    """Bergmann and Hommel's adjustment for all pairs of `systems`: the most powerful one that uses their logic.

    Ties among systems divide them into classes; a pair is rejected if every division that ties it is (Garcia and
    Herrera 2008). All divisions are looked at, which takes a second for ten systems.

    Parameters
    ----------
    pvalues
        Of the pairs (1, 2), (1, 3), …, (2, 3), …
    systems
        Their number, at most eleven.

    Examples
    --------
    Three systems: a pair alone can be a tie, or all three.

    >>> bergmann_hommel([0.01, 0.02, 0.04], systems=3).tolist()
    [0.03, 0.03, 0.04]
    """
    p = checked_pvalues(pvalues)
    pairs = systems * (systems - 1) // 2
    if len(p) != pairs:
        raise StratError.about("pvalues", f"must be those of all {pairs} pairs of {systems} `systems`, got {len(p)}.")
    if systems > LIMITS.bergmann_systems:
        raise StratError.about(
            "systems", f"must be at most {LIMITS.bergmann_systems} for Bergmann-Hommel, got {systems}; use 'shaffer'."
        )
    tied = _tied_pairs(systems)
    bound = tied.sum(axis=1) * np.where(tied, p, np.inf).min(axis=1, initial=np.inf)
    adjusted = np.where(tied, bound[:, None], 0.0).max(axis=0)
    return np.minimum(adjusted, 1.0)


@cache
def _tied_pairs(systems: int) -> NDArray[np.bool_]:
    """For every division of the systems into classes but the finest one, which pairs are in one class."""
    classes = np.zeros((1, 1), np.int8)
    for _ in range(1, systems):
        options = classes.max(axis=1) + 2
        label = np.concatenate([np.arange(k) for k in options]).astype(np.int8)
        classes = np.column_stack([np.repeat(classes, options, axis=0), label])
    i, j = np.triu_indices(systems, 1)
    tied: NDArray[np.bool_] = classes[:, i] == classes[:, j]
    return tied[tied.any(axis=1)]


def _powers(p: Array, exponents: Array) -> Array:
    """From the smallest on, 1 − (1 − p)^exponent, none below one before it."""
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(len(p))
    with np.errstate(divide="ignore"):
        bound = -np.expm1(exponents * np.log1p(-p[order]))
    adjusted[order] = np.maximum.accumulate(bound)
    return adjusted


def _rom_level(p: float, place: int) -> float:
    """The level at which Rom's bound for the p-value of this place, the largest 0, is `p`."""
    if p <= 0.0 or place == 0:
        return p
    if p >= _rom_bounds(1.0, place)[place]:
        return 1.0
    return float(scipy.optimize.brentq(lambda level: _rom_bounds(level, place)[place] - p, 0.0, 1.0, xtol=1e-14))


def _rom_bounds(level: float, up_to: int) -> list[float]:
    """Bounds of the largest p-value, the second largest, …: {Σ α^j − Σ C(i, j) c_{j+1}^(i−j)} / i (Rom 1990)."""
    bounds = [level]
    for i in range(2, up_to + 2):
        powers = sum(level**j for j in range(1, i))
        others = sum(math.comb(i, j) * bounds[j] ** (i - j) for j in range(1, i - 1))
        bounds.append(min(max((powers - others) / i, level / i), bounds[-1]))  # never below Hochberg's
    return bounds


ADJUSTMENTS: dict[str, Callable[[ArrayLike], Array]] = {
    "bonferroni": bonferroni,
    "holm": holm,
    "hochberg": hochberg,
    "hommel": hommel,
    "holland": holland,
    "rom": rom,
    "finner": finner,
    "li": li,
    "benjamini-hochberg": benjamini_hochberg,
    "benjamini-yekutieli": benjamini_yekutieli,
}
OF_PAIRS = {"shaffer": shaffer, "bergmann-hommel": bergmann_hommel}  # these use that pairs are pairs


@checked
def adjust(pvalues: ArrayLike, method: str, *, systems: int | None = None) -> Array:
    """P-values adjusted by the named method ("none" leaves them; those of pairs need the number of systems).

    >>> adjust([0.01, 0.02], "bonferroni").tolist()
    [0.02, 0.04]
    """
    one_of("adjust", method, ["none", *ADJUSTMENTS, *(OF_PAIRS if systems else [])])
    if method == "none":
        return checked_pvalues(pvalues)
    if method in OF_PAIRS and systems:
        return OF_PAIRS[method](pvalues, systems=systems)
    return ADJUSTMENTS[method](pvalues)

"""All pairs of systems with few units: the largest |t| when the signs of whole units are flipped.

With few units each pair's standard error is uncertain in its own way, and draws with one common degree of freedom give
too small a critical value. Flipping the signs of whole units' deviations, with every pair studentized anew, keeps
both the correlation of the pairs and the uncertainty of each standard error (Romano and Wolf 2005).
"""

from __future__ import annotations

import numpy as np

from strat.base.limits import LIMITS
from strat.base.validate.columns import Array, Codes
from strat.designs import Design
from strat.designs.layout import bessel
from strat.estimation import Estimate
from strat.estimation.spread import Influences

FEW_UNITS, PER_SYSTEM = 50, 5  # units below which there are few for all pairs: at all, and for each system
FEW_OF_SHARES, PER_SHARE = 30, 3  # the same where scores of discordant rows give the standard errors of each null
MOST_UNITS = 150  # from here on each pair's standard error is known well enough
LEAST_UNITS = 8  # below: there are too few flips to know a tail of 5 % by, and Bonferroni's correction is left
FLIPS = 8192  # sign flips that a null distribution is made of
LEAST_FLIPS = 1000  # however many systems there are
TINY = 1e-12  # of a variance: rounding
SEED = 20_010_612  # fixed: the same question has the same answer


def strata_of_lines(estimate: Estimate, design: Design) -> Codes | None:
    """The stratum of each line of an estimate's deviations; None where these are not one line for each unit."""
    spread = estimate.inference.spread
    if not isinstance(spread, Influences) or design.kind == "systematic" or design.multiplicity is not None:
        return None
    return design.stratum if len(spread.values) == len(design.stratum) else None


def few_units(units: int, systems: int, *, scored: bool) -> bool:
    """Whether all pairs of so many systems need flips; `scored` shares have a score test that needs them less.

    >>> few_units(40, 5, scored=False), few_units(40, 5, scored=True), few_units(60, 30, scored=True)
    (True, False, True)
    """
    least, each = (FEW_OF_SHARES, PER_SHARE) if scored else (FEW_UNITS, PER_SYSTEM)
    return systems > 2 and units < max(least, min(each * systems, MOST_UNITS))


def largest_of_systems(deviations: Array, stratum: Codes) -> Array:
    """The largest |t| of the pairs with each system, in each flip: flips × systems; infinite for fewer than 8 units.

    Parameters
    ----------
    deviations
        Units × systems: deviations from the mean of the stratum, whose sums of products are the covariance.
    stratum
        The stratum of each unit, from 0.

    Examples
    --------
    Eight units of which a system is better in four and worse in four: of the 128 flips, one leaves no variance.

    >>> deviations = np.array([[1.0, 0.0], [-1.0, 0.0]] * 4)
    >>> largest = largest_of_systems(deviations, np.zeros(8, int))
    >>> largest.shape, int(np.isinf(largest[:, 0]).sum())
    ((128, 2), 1)
    """
    if len(deviations) < LEAST_UNITS:
        return np.full((1, deviations.shape[1]), np.inf)
    sizes = np.bincount(stratum).astype(float)
    scaled = deviations * np.sqrt(np.where(sizes > 1, bessel(sizes), 1.0)[stratum])[:, None]
    whole = _squares(scaled.T @ scaled)  # of each pair
    taken = bessel(sizes) / sizes
    indicator = (stratum[:, None] == np.arange(len(sizes))) * np.sqrt(taken)
    signs = _signs(*deviations.shape)
    if len(sizes) == 1:
        return _largest_in_one(signs @ deviations, whole, float(taken[0]))
    step = max(1, LIMITS.flipped_numbers // (deviations.size * len(sizes) + deviations.shape[1] ** 2))
    parts = [_largest(signs[a : a + step], deviations, indicator, whole) for a in range(0, len(signs), step)]
    return np.concatenate(parts)


def _largest_in_one(sums: Array, whole: Array, taken: float) -> Array:
    """The largest |t| with each system in one stratum, where t² = g² / (w − g²/(n − 1)) rises with g²/w."""
    known = whole > TINY * whole.max()
    inverse = np.divide(1.0, whole, out=np.zeros_like(whole), where=known)
    by_system, largest = np.ascontiguousarray(sums.T), np.empty(sums.shape)
    for k, own in enumerate(by_system):
        gap = by_system - own
        gap *= gap
        gap *= inverse[k][:, None]
        largest[:, k] = gap.max(axis=0)
    left = 1.0 - taken * largest
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(left > TINY, np.sqrt(largest / left), np.inf)


def _largest(signs: Array, deviations: Array, indicator: Array, whole: Array) -> Array:
    """The largest |t| with each system for a few flips."""
    sums = signs @ deviations  # flips × systems
    by_stratum = np.einsum("fu,uh,us->fhs", signs, indicator, deviations, optimize=True)
    centred = _squares(np.einsum("fhs,fhr->fsr", by_stratum, by_stratum, optimize=True))
    variance = whole - centred
    gap = np.abs(sums[:, :, None] - sums[:, None, :])
    tiny = TINY * whole
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(variance > tiny, gap / np.sqrt(variance), np.where(gap**2 > tiny, np.inf, 0.0))
    return np.asarray(np.where(whole > tiny.max(), t, 0.0).max(axis=2))


def _squares(products: Array) -> Array:
    """Squared lengths of all differences from products of vectors (on the last two axes)."""
    own = np.diagonal(products, axis1=-2, axis2=-1)
    return np.maximum(own[..., :, None] + own[..., None, :] - 2.0 * products, 0.0)


def _signs(units: int, systems: int) -> Array:
    """Every choice of signs, the first unit's fixed (a flip of all changes no |t|); a seeded draw of many."""
    number = int(np.clip(LIMITS.flip_work // systems**2, LEAST_FLIPS, FLIPS))
    if 2 ** (units - 1) <= number:
        bits = (np.arange(2 ** (units - 1))[:, None] >> np.arange(units)) & 1
        return np.asarray(1.0 - 2.0 * bits)
    return np.random.default_rng(SEED).choice([-1.0, 1.0], (number, units))

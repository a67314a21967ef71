"""Signs in the replicates themselves that their variance can't be relied on."""

from __future__ import annotations

import numpy as np
import scipy

from strat.base.limits import LIMITS
from strat.base.notes import Note
from strat.base.validate.columns import Array
from strat.estimation.totals import totals
from strat.measures.base import Statistic
from strat.replication import Given, LeaveOneOut, Replicates, Resamples
from strat.replication.operators import Rotations, Runs

CHANCE = 1e-6  # a largest share that normal deviations reach less often than this is no accident
LARGE_SHARE = 0.05  # of the variance, below which no single replicate matters
LARGER = 1.5  # than the share that one unit with all the variance has when a replicate takes one unit of many
CURVED = 0.5  # standard errors of bias that cost a 95 % interval some three points of coverage
STEP = 1e-4  # of the way to a replicate, on which the statistic is as good as linear
ENOUGH_DRAWN = 200  # replicates at random from which on a standard error is off by 5 % at most
NOISE = 3.0  # standard deviations that the mean of replicates drawn at random may lie off


def replicate_notes(statistic: Statistic, replicates: Replicates, spread: Array) -> tuple[Note, ...]:
    """Notes on a single replicate that carries the variance, and on a statistic that is far from linear."""
    # a quantile goes by steps
    if statistic.quantile is not None or spread.size > LIMITS.diagnosed_spread or len(spread) < 2:
        return ()
    scales = np.broadcast_to(np.asarray(replicates.scales, float), len(spread))
    notes = (
        _few_drawn(replicates, len(spread)),
        _dominated(statistic, replicates, spread, scales),
        _curved(replicates, spread, scales),
    )
    return tuple(note for note in notes if note)


def _few_drawn(replicates: Replicates, number: int) -> Note | None:
    """That replicates drawn at random are so few that the standard error itself varies from draw to draw."""
    if not replicates.method.at_random or number >= ENOUGH_DRAWN:
        return None
    enough = 5 * ENOUGH_DRAWN
    return Note("few-replicates", {"drawn": number, "off": _off(number), "enough": enough, "then": _off(enough)})


def _off(drawn: int) -> float:
    """How far a standard error of so many replicates at random is off from one draw to another, as a part of it."""
    return float(1 / np.sqrt(2 * drawn))


def shares(spread: Array, scales: Array) -> Array:
    """Each replicate's share of the variance: replicates × values."""
    parts = scales[:, None] * spread.reshape(len(spread), -1) ** 2
    variance = parts.sum(axis=0)
    return np.divide(parts, variance, out=np.zeros_like(parts), where=variance > 0)


def share_by_chance(share: Array, replicates: int) -> Array:
    """How likely the largest of so many squared normal deviations has at least this share of their sum (at most)."""
    return replicates * np.asarray(scipy.special.betainc((replicates - 1) / 2, 0.5, 1.0 - share))


def curvature(spread: Array, scales: Array) -> float:
    """The bias that curvature makes, in standard errors.

    With replicate deviations g'd + d'Hd/2 the scaled sum is tr(HV)/2, the second-order bias, whatever the method.
    """
    variance = float(scales @ spread**2)
    return float(scales @ spread) / np.sqrt(variance) if variance > 0 else 0.0


def _dominated(statistic: Statistic, replicates: Replicates, spread: Array, scales: Array) -> Note | None:
    operator, k = replicates.operator, len(spread)
    one_unit_each = isinstance(operator, LeaveOneOut | Given) and not replicates.consistent_for_quantiles
    if one_unit_each or isinstance(operator, Resamples):  # there a large share is that of a large unit
        return None
    every = shares(spread, scales)
    largest, value = np.unravel_index(int(every.argmax()), every.shape)
    share = float(every[largest, value])
    of_a_unit = (
        (operator.levels - 1) / k if isinstance(operator, Rotations | Runs) else 0.0
    )  # that carries all the variance
    if share < max(LARGE_SHARE, LARGER * of_a_unit):
        return None
    if float(share_by_chance(np.asarray(share), k)) * every.shape[1] > CHANCE:
        return None
    linear = _linear_deviation(statistic, replicates, int(largest))[value]
    if abs(share - share * (linear / spread.reshape(k, -1)[largest, value]) ** 2) < LARGE_SHARE:
        return None  # a sum of units that differ by their names: its variance is exact
    usual = scipy.special.chdtri(1, 1 / k) / k
    return Note("dominant-replicate", {"replicates": k, "share": share, "usual": float(usual)})


def _linear_deviation(statistic: Statistic, replicates: Replicates, index: int) -> Array:
    """How far one replicate would lie from the value if the statistic were linear."""
    design = replicates.design
    moved = design.weights * replicates.factors(index, index + 1)[0][design.unit]
    full, there = (w if statistic.of_weights else totals(statistic, w) for w in (design.weights, moved))
    with np.errstate(divide="ignore", invalid="ignore"):
        near, value = (np.asarray(statistic.function(t), float) for t in (full + STEP * (there - full), full))
    return np.ravel(near - value) / STEP


def _curved(replicates: Replicates, spread: Array, scales: Array) -> Note | None:
    if spread.ndim != 1:
        return None
    at_random = replicates.seed is not None or isinstance(replicates.operator, Given)
    bias = curvature(spread, scales)
    if abs(bias) <= CURVED + (NOISE * float(np.sqrt(scales.max())) if at_random else 0.0):
        return None
    return Note("curved-statistic", {"above": bool(bias > 0), "bias": abs(bias)})

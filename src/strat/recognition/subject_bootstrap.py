"""Subjects drawn anew: the variance of rates that turn on a threshold which few subjects decide.

The equal error rate, and FNMR at a wanted FMR, move with the threshold, and linearization of the latter is short
where few subjects lie near it. Here subjects are drawn with replacement, on both sides at once; a comparison counts
as often as both its subjects were drawn, and pairs of copies of one subject are no comparison. The deviation is taken
on the logit scale with half an error added on each side, and brought back. Drawing both sides overstates what single
comparisons add (Owen 2007, the pigeonhole bootstrap), so that the variance is the geometric mean of the two where this
one is the larger.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from strat.estimation import Estimate
from strat.estimation.spread import Influences
from strat.notes import Note
from strat.recognition.comparisons import Block, Comparisons
from strat.validate.columns import Array

DRAWS = 200
MOST_SUBJECTS = 100  # beyond so many, linearization is good enough
MOST_CELLS = 1 << 16  # comparisons up to which subjects are drawn anew
FEW_SUBJECTS = 20
SEED = 20_010_612  # fixed: the same question has the same answer

Part = tuple[Any, Any, Any, Array]  # place of each score, both subjects, and weight


def with_subjects_drawn(rate: Estimate, c: Comparisons, fmr: Array | None = None) -> Estimate:
    """The estimate of an equal error rate, or of FNMR at these rates, with the variance of subjects drawn anew."""
    inside = (rate.point > 0) & (rate.point < 1)
    if not c.known or not 3 <= (k := c.number) <= MOST_SUBJECTS or not inside.any():
        return rate
    blocks = _few_blocks(c)
    if blocks is None:
        return rate
    drawn = _drawn(c, blocks, fmr).reshape(DRAWS, *rate.point.shape)
    shrunk = (k * rate.point + 0.5) / (k + 1.0)
    scale = shrunk * (1.0 - shrunk) * (k + 1.0) / k  # from the logit of the shrunk rate back to the rate
    deviation = scipy.special.logit((k * drawn + 0.5) / (k + 1.0)).std(axis=0, ddof=1) * scale
    variance = np.where(inside, np.sqrt(rate.variance) * np.maximum(np.sqrt(rate.variance), deviation), rate.variance)
    ratio = np.sqrt(np.divide(variance, rate.variance, out=np.ones_like(variance), where=rate.variance > 0))
    spread = rate.inference.spread
    assert spread is not None
    few = () if k >= FEW_SUBJECTS else (_few(k),)
    return rate.changed(
        variance=variance,
        spread=Influences(spread.values * ratio),
        notes=(*rate.notes, *few),
    )


def _few(subjects: int) -> Note:
    text = f"{subjects} subjects are few for a rate at a threshold that they decide: the interval may be too short"
    return Note("few-subjects", text)


def _drawn(c: Comparisons, blocks: list[Block], fmr: Array | None) -> Array:
    """The rates in each draw: draws × rates."""
    counts = np.random.default_rng(SEED).multinomial(c.number, np.full(c.number, 1.0 / c.number), DRAWS)
    places, nonmated, mated = _histograms(c, blocks)
    counts = counts[:, _order(c.number, nonmated, mated)]
    below_mated, below_others = (_below(part, counts.astype(float), places) for part in (mated, nonmated))
    misses, matches = below_mated, 1.0 - below_others
    return _equal(matches, misses)[:, None] if fmr is None else _at(matches, misses, fmr)


def _order(subjects: int, nonmated: Part, mated: Part) -> Any:
    """The place of each subject by what its scores are, so that neither names nor the order of rows decide a draw."""
    place, first, second, _ = nonmated
    others = np.bincount(first, place, subjects) + np.bincount(second, place, subjects)
    own = np.bincount(mated[1], mated[0], subjects)
    return np.argsort(np.lexsort((others, own)))


def _few_blocks(c: Comparisons) -> list[Block] | None:
    """The non-mated comparisons, unless they are too many to be drawn anew."""
    blocks: list[Block] = []
    left = MOST_CELLS
    for own in c.mated_blocks():
        left -= len(own.score)
        if left < 0:
            return None
    for block in c.nonmated():
        left -= len(block.score)
        if left < 0:
            return None
        blocks.append(block)
    return blocks


def _histograms(c: Comparisons, blocks: list[Block]) -> tuple[int, Part, Part]:
    """Number of distinct scores; place, both subjects and weight of the non-mated, and of the mated comparisons."""
    own = c.mated
    support, place = np.unique(np.concatenate([*(b.score for b in blocks), own.score]), return_inverse=True)
    n = len(place) - len(own.score)
    second = [b.second for b in blocks if b.second is not None]  # all of them: the subjects are known
    weight = [np.ones(len(b.score)) if b.weight is None else b.weight for b in blocks]
    others = (place[:n], np.concatenate([b.first for b in blocks]), np.concatenate(second), np.concatenate(weight))
    return len(support), others, (place[n:], own.subject, np.full(len(own.score), -1), own.weight)


def _below(part: Part, counts: Array, places: int) -> Array:
    """Share of the weight below each distinct score, and below infinity, in each draw: draws × (places + 1)."""
    place, first, second, weight = part
    below = np.zeros((len(counts), places + 1))
    for line, times in zip(below, counts, strict=True):
        drawn = weight * times[first] * np.where(second < 0, 1.0, times[second])
        np.cumsum(np.bincount(place, drawn, minlength=places), out=line[1:])
        line /= max(line[-1], 1e-300)
    return below


def _equal(matches: Array, misses: Array) -> Array:
    """The rate at which both are equal, on the straight line between neighbouring thresholds, in each draw."""
    gap = matches - misses
    after = np.maximum((gap <= 0).argmax(axis=1), 1)
    draw = np.arange(len(gap))
    high, low = gap[draw, after - 1], gap[draw, after]
    part = np.divide(high, high - low, out=np.zeros_like(high), where=high > low)
    return np.asarray(matches[draw, after - 1] + part * (matches[draw, after] - matches[draw, after - 1]))


def _at(matches: Array, misses: Array, fmr: Array) -> Array:
    """FNMR at the least threshold whose FMR is at most each of these, in each draw."""
    draw = np.arange(len(matches))
    return np.stack([misses[draw, (matches <= rate + 1e-12).argmax(axis=1)] for rate in fmr], axis=1)

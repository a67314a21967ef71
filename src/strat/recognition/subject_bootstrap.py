"""Subjects drawn anew: the variance of rates that turn on a threshold which few subjects decide.

The equal error rate, and FNMR at a wanted FMR, move with the threshold, and linearization of the latter is short
where few subjects lie near it. Here subjects are drawn with replacement, on both sides at once; a comparison counts
as often as both its subjects were drawn, and pairs of copies of one subject are no comparison. The deviation is taken
on the logit scale with half an error added on each side, and brought back. Drawing both sides overstates what single
comparisons add (Owen 2007, the pigeonhole bootstrap), so that the variance is the geometric mean of the two where this
one is the larger.

A rate at a threshold turns on the comparisons about and above it alone. Comparisons are sorted once, and those of all
draws are added up together, from the best score down, until every draw has come to its threshold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import scipy

from strat.base.limits import LIMITS
from strat.base.notes import Note
from strat.base.validate.columns import Array, Codes
from strat.estimation import Estimate
from strat.estimation.spread import Influences
from strat.recognition.comparisons import Block, Comparisons

DRAWS = 200  # bootstrap samples of subjects
MOST_SUBJECTS = 100  # beyond so many, linearization is good enough
FEW_SUBJECTS = 20  # below which a note says that even these limits are uncertain
SEED = 20_010_612  # fixed: the same question has the same answer
SLACK = 1e-12  # by which a rate may exceed the wanted one


class Part(NamedTuple):
    """Comparisons, best score first: place of the score among all, both subjects (mated: one, and 0), weight."""

    place: Codes
    first: Codes
    second: Codes
    weight: Array


class Passed(NamedTuple):
    """Where the share from the best score down exceeds a bound, in each draw: the place, the share before and there."""

    place: Codes
    before: Array
    there: Array


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
    few = () if k >= FEW_SUBJECTS else (Note("few-subjects", {"n": k}),)
    return rate.changed(
        variance=variance,
        spread=Influences(spread.values * ratio),
        notes=(*rate.notes, *few),
    )


def _drawn(c: Comparisons, blocks: list[Block], fmr: Array | None) -> Array:
    """The rates in each draw: draws × rates."""
    counts = np.random.default_rng(SEED).multinomial(c.number, np.full(c.number, 1.0 / c.number), DRAWS)
    nonmated, mated = _parts(c, blocks)
    times = np.ascontiguousarray(counts[:, _order(c.number, nonmated, mated)].T, float)
    return _equal(nonmated, mated, times)[:, None] if fmr is None else _at(nonmated, mated, times, fmr)


def _order(subjects: int, nonmated: Part, mated: Part) -> Codes:
    """The place of each subject by what its scores are, so that neither names nor the order of rows decide a draw."""
    place, first, second, _ = nonmated
    others = np.bincount(first, place, subjects) + np.bincount(second, place, subjects)
    own = np.bincount(mated.first, mated.place, subjects)
    return np.argsort(np.lexsort((others, own)))


def _few_blocks(c: Comparisons) -> list[Block] | None:
    """The non-mated comparisons, unless they are too many to be drawn anew."""
    blocks: list[Block] = []
    left = LIMITS.redrawn_comparisons
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


def _parts(c: Comparisons, blocks: list[Block]) -> tuple[Part, Part]:
    """The non-mated and the mated comparisons; equal scores have one place, whichever they are of."""
    own = c.mated
    _, place = np.unique(np.concatenate([*(b.score for b in blocks), own.score]), return_inverse=True)
    n = len(place) - len(own.score)
    second = [b.second for b in blocks if b.second is not None]  # all of them: the subjects are known
    weight = [np.ones(len(b.score)) if b.weight is None else b.weight for b in blocks]
    others = Part(place[:n], np.concatenate([b.first for b in blocks]), np.concatenate(second), np.concatenate(weight))
    return _best_first(others), _best_first(Part(place[n:], own.subject, np.zeros_like(own.subject), own.weight))


def _best_first(*parts: Part) -> Part:
    """The comparisons of all parts, sorted."""
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    order = np.argsort(-columns[0], kind="stable")
    return Part(*(column[order] for column in columns))


def _equal(nonmated: Part, mated: Part, times: Array) -> Array:
    """The rate at which both are equal, on the straight line between neighbouring thresholds, in each draw.

    FMR is at most FNMR as long as the shares of non-mated and of mated comparisons at or above a threshold sum up to
    at most 1. Where no comparison of one kind was drawn, no threshold makes an error of it.
    """
    subjects, once = len(times), np.ones((1, times.shape[1]))
    others, own = _weight_drawn(nonmated, times, times), _weight_drawn(mated, times, once)
    single = mated._replace(first=mated.first + subjects, second=mated.second + subjects)
    shares = np.concatenate([_share(times, others), _share(times, own)])
    (passed,) = _passed(_best_first(nonmated, single), shares, np.concatenate([times, once]), np.ones(1))
    accepted = _accepted(mated, times)
    low, high = passed.before - accepted(passed.place), passed.there - accepted(passed.place - 1)
    part = _share(passed.there - 1.0, passed.there - passed.before)
    return np.where(others == 0, 1.0, np.where(own == 0, 0.0, high + part * (low - high)))


def _at(nonmated: Part, mated: Part, times: Array, fmr: Array) -> Array:
    """FNMR at the least threshold whose FMR is at most each of these, in each draw."""
    shares = _share(times, _weight_drawn(nonmated, times, times))
    accepted = _accepted(mated, times)
    return np.stack([1.0 - accepted(one.place) for one in _passed(nonmated, shares, times, fmr + SLACK)], axis=1)


def _share(amount: Array, whole: Array) -> Array:
    """The amount over the whole; 0 where there is nothing."""
    return np.divide(amount, whole, out=np.zeros_like(amount), where=whole > 0)


def _weight_drawn(part: Part, first: Array, second: Array) -> Array:
    """The weight of all comparisons in each draw, by how often both subjects are drawn."""
    keys = part.first * len(second) + part.second
    weight = np.bincount(keys, part.weight, len(first) * len(second)).reshape(len(first), len(second))
    return np.asarray(((weight @ second) * first).sum(axis=0))


def _accepted(mated: Part, times: Array) -> Callable[[Codes], Array]:
    """A function from a place in each draw to the share of mated comparisons above it (all, if none was drawn)."""
    above = np.zeros((len(mated.place) + 1, times.shape[1]))
    np.cumsum(times[mated.first] * mated.weight[:, None], axis=0, out=above[1:])
    shares = np.where(above[-1] > 0, _share(above, np.broadcast_to(above[-1], above.shape)), 1.0)
    return lambda place: shares[np.searchsorted(-mated.place, -place), np.arange(len(place))]


def _passed(part: Part, first: Array, second: Array, bounds: Array) -> list[Passed]:
    """Where the cumulated share of each draw exceeds each bound (place −1: nowhere)."""
    draws = first.shape[1]
    results = [Passed(np.full(draws, -1), np.zeros(draws), np.zeros(draws)) for _ in bounds]
    waiting = list(zip(bounds, results, strict=True))
    for place, shares in _cumulated(part, first, second, bounds.min()):
        for bound, result in waiting:
            if shares[-1].max() > bound:
                _note_passage(result, place, shares, bound)
        waiting = [(bound, result) for bound, result in waiting if (result.place < 0).any()]
        if not waiting:
            break
    return results


def _note_passage(result: Passed, place: Codes, shares: Array, bound: float) -> None:
    """Fill in the draws that exceed the bound at one of these places."""
    within = (shares[1:] <= bound).sum(axis=0)
    draw = np.flatnonzero((within < len(place)) & (result.place < 0))
    row = within[draw]
    result.place[draw], result.before[draw], result.there[draw] = place[row], shares[row, draw], shares[row + 1, draw]


def _cumulated(part: Part, first: Array, second: Array, least: float) -> Iterator[tuple[Codes, Array]]:
    """Some places from the best down, and the share at the one before and at or above each of them, in each draw.

    Places up to which no draw exceeds `least` are left out.
    """
    last = np.append(np.diff(part.place) != 0, True)  # whether it is the last comparison of its place
    before = carried = np.zeros(first.shape[1])
    for start in range(0, len(part.place), LIMITS.summed_comparisons):
        cut = slice(start, start + LIMITS.summed_comparisons)
        each = _shares(part, cut, first, second)
        each[0] += carried
        carried, ends = each.sum(axis=0), np.flatnonzero(last[cut])
        if last[cut][-1] and carried.max() <= least:
            before = carried
        elif len(ends):
            shares = np.concatenate([before[None], np.cumsum(each, axis=0)[ends]])
            before = shares[-1]
            yield part.place[cut][ends], shares


def _shares(part: Part, cut: slice, first: Array, second: Array) -> Array:
    """What some comparisons add to the share, in each draw."""
    each = np.take(first, part.first[cut], axis=0)
    each *= np.take(second, part.second[cut], axis=0)
    weight = part.weight[cut]
    return each if (weight == 1.0).all() else each * weight[:, None]

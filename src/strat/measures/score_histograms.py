"""What two histograms over rising scores make: areas, points of curves, thresholds, and what moves them.

`negative` and `positive` hold the weight of each class at each distinct score, along the last axis.
"""

from __future__ import annotations

import numpy as np

from strat.base.validate.columns import Array, Codes
from strat.measures.quotients import quotient


def rarer(totals: Array, m: int) -> Array:
    """The weight of the smaller class: what a perfect score of both can be counted on."""
    return np.minimum(totals[..., :m].sum(axis=-1), totals[..., m:].sum(axis=-1))


def roc_area(negative: Array, positive: Array) -> Array:
    """The share of (negative, positive) pairs in the right order, ties half; scores rise along the last axis."""
    below = np.cumsum(negative, axis=-1) - negative / 2
    right = (below * positive).sum(axis=-1)
    return _snapped(quotient(right, negative.sum(axis=-1) * positive.sum(axis=-1)))


def _snapped(area: Array) -> Array:
    """Exactly 1 where only rounding keeps it from 1: a perfect score is told apart by that."""
    return np.where(np.abs(area - 1) < 1e-13, 1.0, area)


def roc_area_slopes(negative: Array, positive: Array) -> tuple[Array, Array]:
    """Derivatives of the area by both histograms."""
    n, p = negative.sum(), positive.sum()
    if n == 0 or p == 0:
        return np.full_like(negative, np.nan), np.full_like(positive, np.nan)
    below = np.cumsum(negative) - negative / 2
    above = p - np.cumsum(positive) + positive / 2
    area = float(_snapped(below @ positive / (n * p)))
    if area in (0.0, 1.0):
        return np.zeros_like(negative), np.zeros_like(positive)
    return (above / p - area) / n, (below / n - area) / p


def roc_area_in_groups(hits: Codes, score: Codes, weights: Array, group: Codes) -> tuple[Array, Array]:
    """The area in each group of rows, and what a small weight on each row does to that of its group.

    From ranks within the groups: as histograms, each distinct score of each group would be two numbers. `score` is the
    place of each row's score among all.
    """
    order = np.lexsort((score, group))
    place = np.flatnonzero(np.diff(score[order], prepend=-1) | np.diff(group[order], prepend=-1))  # of equal scores
    owner = group[order][place]
    first = np.flatnonzero(np.diff(owner, prepend=-1))
    negative, positive = (np.add.reduceat((weights * (hits == side))[order], place) for side in (0, 1))
    n, p = np.add.reduceat(negative, first)[owner], np.add.reduceat(positive, first)[owner]
    below, within = (_below_in_groups(side, first, owner) for side in (negative, positive))
    right = np.add.reduceat(below * positive, first)
    area = _snapped(quotient(right, (n * p)[first]))
    value = area[owner]
    with np.errstate(divide="ignore", invalid="ignore"):
        slopes = np.stack([((p - within) / p - value) / n, (below / n - value) / p])
    slopes = np.where((value == 0.0) | (value == 1.0), 0.0, slopes)
    of_row = np.empty(len(order), np.int64)
    of_row[order] = np.repeat(np.arange(len(place)), np.diff(place, append=len(order)))
    return area, slopes[hits, of_row]


def _below_in_groups(weights: Array, first: Codes, owner: Codes) -> Array:
    """What stands below each distinct score of its group, and half of what stands at it."""
    running = np.cumsum(weights)
    return running - weights / 2 - (running - weights)[first][owner]


def partial_roc_area(negative: Array, positive: Array, low: float, high: float) -> Array:
    """The area under the ROC curve between two false positive rates, on its straight lines."""
    return _area_up_to(negative, positive, high)[0] - _area_up_to(negative, positive, low)[0]


def partial_roc_area_slopes(negative: Array, positive: Array, low: float, high: float) -> tuple[Array, Array]:
    """Derivatives of the partial area by both histograms."""
    n, p = negative.sum(), positive.sum()
    if n == 0 or p == 0:
        return np.full_like(negative, np.nan), np.full_like(positive, np.nan)
    sides = []
    for share, total, one in ((negative / n, n, 0), (positive / p, p, 1)):
        by_share = _slopes_up_to(negative, positive, high)[one] - _slopes_up_to(negative, positive, low)[one]
        sides.append((by_share - share @ by_share) / total)
    return sides[0], sides[1]


def _area_up_to(negative: Array, positive: Array, rate: float) -> tuple[Array, Array, Array]:
    """The area left of a false positive rate; how much of each bin lies there, and the hits above and half in that.

    A bin of tied scores is a straight piece of the curve, `width` wide and cut at `rate`: over it the true positive
    rate is, on the average, that above the bin and half of what the bin adds up to the cut.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        f = negative / negative.sum(axis=-1, keepdims=True)
        t = positive / positive.sum(axis=-1, keepdims=True)
    wrong = _from_top(f) - f
    width = np.clip(rate - wrong, 0.0, f)
    mean = _from_top(t) - t + quotient(width, f, 0.0) * t / 2
    return (width * mean).sum(axis=-1), width, mean


def _slopes_up_to(negative: Array, positive: Array, rate: float) -> tuple[Array, Array]:
    """Derivatives of the area left of a false positive rate by the share of each bin among either class."""
    f, t = negative / negative.sum(), positive / positive.sum()
    _, width, mean = _area_up_to(negative, positive, rate)
    part = quotient(width, f, 0.0)
    height = float((np.where(f > 0, part, _from_top(f) < rate) * t).sum())  # of the curve at the rate
    whole, cut = (f > 0) & (part == 1), (f > 0) & (part > 0) & (part < 1)
    by_negative = np.where(whole, mean - height, 0.0) - np.where(cut, part**2 * t / 2, 0.0)
    return by_negative, np.cumsum(width) - width + width * part / 2


def _from_top(values: Array) -> Array:
    """Sums over scores at least as high."""
    return np.flip(np.cumsum(np.flip(values, -1), axis=-1), -1)


def precision_area(negative: Array, positive: Array) -> Array:
    """The sum of (R_n − R_{n−1}) P_n over falling thresholds."""
    hit, wrong = _from_top(positive), _from_top(negative)
    called = hit + wrong
    precision = np.divide(hit, called, out=np.zeros_like(hit), where=called > 0)
    total = positive.sum(axis=-1)
    # Without a positive row recall is one everywhere and the area 0, as scikit-learn has it.
    mean = np.divide((positive * precision).sum(axis=-1), total, out=np.zeros(np.shape(total)), where=total > 0)
    return _snapped(mean)


def precision_area_slopes(negative: Array, positive: Array) -> tuple[Array, Array]:
    """Derivatives of the average precision by both histograms."""
    hit, wrong = _from_top(positive), _from_top(negative)
    called, total = hit + wrong, positive.sum()
    if total == 0 or float(precision_area(negative, positive)) == 1.0:
        return np.zeros_like(negative), np.zeros_like(positive)
    safe = np.where(called > 0, called, 1.0)
    precision = hit / safe
    # A row adds to every step at or below its own score.
    by_hit = np.cumsum(positive * wrong / safe**2)
    by_wrong = np.cumsum(-positive * hit / safe**2)
    value = float(positive @ precision) / total
    return by_wrong / total, (precision + by_hit - value) / total


def _path(negative: Array, positive: Array) -> tuple[Array, Array]:
    """The corners of the ROC curve, from (0, 0) to (1, 1)."""
    x = np.concatenate([[0.0], np.cumsum(negative[::-1])])
    y = np.concatenate([[0.0], np.cumsum(positive[::-1])])
    with np.errstate(invalid="ignore", divide="ignore"):
        return x / x[-1], y / y[-1]


def roc_height(negative: Array, positive: Array, wanted: Array) -> Array:
    """The ROC curve at these false positive rates; the upper end where it rises straight up."""
    x, y = _path(negative, positive)
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        return np.full(len(wanted), np.nan)
    before = np.searchsorted(x, wanted, side="right") - 1  # the top of a vertical piece
    after = np.minimum(before + 1, len(x) - 1)
    part = quotient(wanted - x[before], x[after] - x[before])
    return np.asarray(y[before] + np.nan_to_num(part) * (y[after] - y[before]))


def roc_slope(negative: Array, positive: Array, wanted: Array) -> Array:
    """The slope of the ROC curve, smoothed over a window that shrinks as the sample grows."""
    size = max(float(np.count_nonzero(negative)), 2.0)
    half = np.maximum(size ** (-1 / 3) * np.sqrt(wanted * (1 - wanted)), 2.0 / size)
    low, high = np.maximum(wanted - half, 0.0), np.minimum(wanted + half, 1.0)
    rise: Array = roc_height(negative, positive, high) - roc_height(negative, positive, low)
    return rise / np.maximum(high - low, 1e-12)


def roc_height_slopes(negative: Array, positive: Array, wanted: Array) -> Array:
    """Influence of each bin on the ROC's height: of the positives at the threshold, and of the negatives on it."""
    n, p = negative.sum(), positive.sum()
    m = len(negative)
    if n == 0 or p == 0:
        return np.full((2 * m, len(wanted)), np.nan)
    height, slope = roc_height(negative, positive, wanted), roc_slope(negative, positive, wanted)
    # At the ends nothing varied: the interval is then the exact one, not a smoothed guess.
    slope = np.where((height > 0) & (height < 1), slope, 0.0)
    # The share of each bin that lies above the threshold: 1, 0, or a part of the bin that is cut.
    top = np.flip(np.cumsum(np.flip(negative))) - negative
    part = np.clip(
        np.divide(
            wanted * n - top[:, None],
            negative[:, None],
            out=np.where(wanted * n >= top[:, None], 1.0, 0.0),
            where=negative[:, None] > 0,
        ),
        0.0,
        1.0,
    )
    return np.concatenate([-slope * (part - wanted) / n, (part - height) / p])


def _attained(negative: Array, wanted: Array) -> Array:
    """The greatest false positive rates at or under these that a threshold has, and a hair more against rounding."""
    x, _ = _path(negative, negative)
    hair = 1e-12
    return np.asarray(x[np.searchsorted(x, wanted * (1 + hair), side="right") - 1] * (1 + hair))


def roc_step(negative: Array, positive: Array, wanted: Array) -> Array:
    """The true positive rate at the least threshold whose false positive rate is at most `wanted`."""
    x, y = _path(negative, positive)
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        return np.full(len(wanted), np.nan)
    return np.asarray(y[np.searchsorted(x, _attained(negative, wanted), side="right") - 1])


def roc_step_slopes(negative: Array, positive: Array, wanted: Array) -> Array:
    """Influence of each bin on `roc_step`: that on the ROC's height at the rate that the threshold has."""
    if negative.sum() == 0:
        return np.full((2 * len(negative), len(wanted)), np.nan)
    return roc_height_slopes(negative, positive, _attained(negative, wanted))


def threshold_for(negative: Array, positive: Array, support: Array, wanted: Array, negatives: bool) -> Array:
    """The threshold that keeps the share of one class on its wrong side at or under `wanted`."""
    there = negative + positive > 0
    mass, support = (negative if negatives else positive)[there], support[there]
    total = mass.sum()
    if total == 0:
        return np.full(len(wanted), np.nan)
    slack = 4 * np.finfo(float).eps
    if negatives:
        above = np.flip(np.cumsum(np.flip(mass))) / total  # the share at or above each score, falling
        first = np.searchsorted(-above, -(wanted + slack), side="left")
        return np.append(support, np.inf)[first]
    below = (np.cumsum(mass) - mass) / total  # the share below each score, rising
    return support[np.searchsorted(below, wanted + slack, side="right") - 1]


def threshold_slopes(mass: Array, support: Array, thresholds: Array, wanted: Array, negatives: bool) -> Array:
    """Influence on a quantile: the wrong side less its share, over the density there, smoothed."""
    thresholds = np.atleast_1d(thresholds)
    total = mass.sum()
    cumulated = np.cumsum(mass) / total
    size = max(float(np.count_nonzero(mass)), 2.0)
    half = np.maximum(size ** (-1 / 3) * np.sqrt(wanted * (1 - wanted)), 2.0 / size)
    centre = 1 - wanted if negatives else wanted
    low, high = np.clip(centre - half, 0, 1), np.clip(centre + half, 0, 1)
    spread = np.interp(high, cumulated, support) - np.interp(low, cumulated, support)
    inverse_density = spread / (high - low)
    wrong = support[:, None] >= thresholds if negatives else support[:, None] < thresholds
    sign = 1.0 if negatives else -1.0
    result: Array = sign * (wrong - mass @ wrong / total) * inverse_density / total
    return result


def equal_error(negative: Array, positive: Array) -> float:
    """Where the ROC curve crosses the line of equal false positive and false negative rates."""
    x, y = _path(negative, positive)
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        return float("nan")
    gap = x - (1 - y)  # rises from −1 to 1 along the curve
    after = int(np.argmax(gap >= 0))
    if after == 0 or gap[after] == 0:
        return float(x[after])
    part = -gap[after - 1] / (gap[after] - gap[after - 1])
    return float(x[after - 1] + part * (x[after] - x[after - 1]))

"""What ranks add up to: the cumulative match score, the rate within a rank, the mean reciprocal rank."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from strat.base.errors import StratError, plain, some
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, Codes, numbers, same_length
from strat.measures.base import Axis, Rows, Statistic
from strat.measures.quotients import ratio_of_totals


@checked
def cms(
    ranks: Any, *, up_to: int | None = None, at: ArrayLike | None = None, tied: ArrayLike | None = None
) -> Statistic:
    """The cumulative match score: for each rank r, the share of probes with a rank of r or lower (CVPR 5).

    Parameters
    ----------
    ranks
        The rank of each probe, from 1; infinity is a miss at every rank. Or a result of
        `strat.recognition.ranks`: its pessimistic ranks.
    up_to
        The last rank of the curve; None: the largest finite one.
    at
        Only these ranks, increasing, instead of all up to `up_to`.
    tied
        Non-mates tied with the mate: `ranks` are then the best ranks possible, and each probe counts at rank r with
        the chance of being there when ties are broken at random.

    Examples
    --------
    CVPR's example: of 256 ranks, 235 are three or lower.

    >>> curve = cms([1] * 200 + [3] * 35 + [9] * 21, up_to=4)
    >>> curve.value().round(3).tolist()
    [0.781, 0.781, 0.918, 0.918]
    """
    first, last, counts = _spans(ranks, tied)
    places = _places(first, up_to, at)
    codes, table = _table(first, last, places)
    k = len(places)

    def function(t: Array) -> Array:
        return np.cumsum(t[..., :k], axis=-1) / t.sum(axis=-1, keepdims=True)

    def gradient(t: Array) -> Array:
        under = np.arange(k + 1)[:, None] <= np.arange(k)
        return np.asarray((under - function(t)) / t.sum())

    rows = Rows(codes, table, k + 1)
    assert len(rows) == counts
    axis = Axis("rank", tuple(places.tolist()))
    return Statistic("CMS", (rows,), function, gradient, (axis,), "logit", (0.0, 1.0), proportion=tied is None)


@checked
def within_rank(ranks: Any, k: int = 1, *, tied: ArrayLike | None = None) -> Statistic:
    """The share of probes with a rank of k or lower, as a single number.

    Parameters
    ----------
    ranks, tied
        As for `cms`.
    k
        The rank.

    Examples
    --------
    >>> float(within_rank([1, 1, 2, 5], 2).value())
    0.75
    """
    first, last, _ = _spans(ranks, tied)
    share = _share_within(first, last, np.array([_rank("k", k)]))[:, 0]
    rate = ratio_of_totals(f"rank-{k} rate", share, np.ones(len(share)), bounds=(0.0, 1.0), better=True)
    return replace(rate, proportion=tied is None)


@checked
def mean_reciprocal_rank(ranks: Any, *, tied: ArrayLike | None = None) -> Statistic:
    """The mean of 1 / rank; a miss at every rank counts 0.

    Parameters
    ----------
    ranks, tied
        As for `cms`.

    Examples
    --------
    >>> float(mean_reciprocal_rank([1, 2, 4, float("inf")]).value())
    0.4375
    """
    first, last, _ = _spans(ranks, tied)
    finite = np.isfinite(first)
    low, high = first[finite], last[finite]
    harmonic = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, int(high.max(initial=0)) + 1))])
    y = np.zeros(len(first))
    between = (harmonic[high.astype(int)] - harmonic[low.astype(int) - 1]) / (high - low + 1)
    y[finite] = np.where(low == high, 1.0 / low, between)
    return ratio_of_totals("mean reciprocal rank", y, np.ones(len(y)), bounds=(0.0, 1.0), better=True)


def _spans(ranks: Any, tied: ArrayLike | None) -> tuple[Array, Array, int]:
    """The best and the worst rank that each probe may have."""
    given = ranks.rank() if hasattr(ranks, "gallery_size") else ranks  # pandas' and polars' columns have a rank() too
    first = _first_ranks(given)
    if tied is None:
        return first, first, len(first)
    extra = numbers("tied", tied, most=2.0**53)
    same_length(ranks=first, tied=extra)
    wrong = (extra < 0) | (extra != np.rint(extra))
    if extra.ndim != 1 or wrong.any():
        raise StratError.about("tied", f"must be counts from 0, got {some(extra[wrong], 3)}.")
    return first, first + extra, len(first)


def _first_ranks(given: Any) -> Array:
    """One rank per probe, a whole number from 1; infinity is a miss."""
    first = numbers("ranks", given, finite=False)
    if (np.isfinite(first) & (first > 2.0**53)).any():
        raise StratError.about(
            "ranks", f"must be at most 2^53, got {first[np.isfinite(first)].max():g}; infinity is a miss."
        )
    if first.ndim != 1:
        raise StratError.about("ranks", f"must have one rank per probe, got shape {first.shape}.")
    missing = np.isnan(first)
    if missing.any():
        raise StratError.about(
            "ranks",
            f"must not be missing, got nan in row {np.flatnonzero(missing)[0]} ({int(missing.sum())} such "
            "rows): probes without a mate have no rank; leave them out, or ask for open-set rates.",
        )
    finite = first[np.isfinite(first)]
    wrong = (finite < 1) | (finite != np.rint(finite))
    if wrong.any() or np.isneginf(first).any():
        raise StratError.about(
            "ranks", f"must be whole numbers from 1, got {some(finite[wrong], 3)}; ranks start at 1."
        )
    return first


def _places(first: Array, up_to: int | None, at: ArrayLike | None) -> Codes:
    if at is not None:
        if up_to is not None:
            raise StratError.about("at", f"and `up_to` must not come together, got up_to={up_to!r}; leave one out.")
        places = np.asarray(at)
        if places.ndim != 1 or places.dtype.kind not in "iu" or not len(places) or places[0] < 1:
            raise StratError.about("at", f"must be rising ranks from 1, got {some(np.ravel(places))}.")
        if (np.diff(places) <= 0).any():
            raise StratError.about("at", f"must be rising ranks from 1, got {some(places)}.")
        return places.astype(np.int64)
    if up_to is None:
        finite = first[np.isfinite(first)]
        up_to = int(finite.max(initial=1))
    return np.arange(1, _rank("up_to", up_to) + 1)


def _rank(argument: str, k: object) -> int:
    if isinstance(k, bool | np.bool_) or not isinstance(k, int | np.integer) or k < 1:
        raise StratError.about(argument, f"must be a rank, a whole number from 1, got {plain(k)!r}.")
    return int(k)


def _table(first: Array, last: Array, places: Codes) -> tuple[Codes, Array | None]:
    """What each probe adds to the bins between the places: one whole bin, or shares of several where it ties."""
    if (first == last)[np.isfinite(first)].all():
        return np.searchsorted(places, first).astype(np.int64), None
    bins = len(places) + 1
    spans, codes = np.unique(np.column_stack([first, last]), axis=0, return_inverse=True)
    reached = _share_within(spans[:, 0], spans[:, 1], places)
    table = np.diff(np.column_stack([np.zeros(len(spans)), reached, np.ones(len(spans))]), axis=1)
    assert table.shape[1] == bins
    return codes.reshape(-1).astype(np.int64), table


def _share_within(first: Array, last: Array, places: Codes) -> Array:
    """The chance that a probe's rank is at or under each place, when it is any of first … last."""
    finite = np.isfinite(first)
    width = np.where(finite, last, 0.0) - np.where(finite, first, 0.0) + 1.0
    inside = np.where(finite[:, None], places + 1 - first[:, None], 0.0)
    return np.clip(inside / width[:, None], 0.0, 1.0)

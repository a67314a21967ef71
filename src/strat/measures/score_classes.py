"""Scores of more than two classes, or of several labels: each against the rest, or each pair."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strat.base.errors import StratError, one_of, plain, some
from strat.base.validate.columns import Array, Codes, encode, labels_of, numbers, same_length
from strat.measures.base import Axis, Rows, Statistic
from strat.measures.score_histograms import precision_area, precision_area_slopes, roc_area, roc_area_slopes


@dataclass(frozen=True)
class Measure:
    """A measure of two histograms, with its derivatives by both."""

    name: str
    value: Callable[[Array, Array], Array]
    slopes: Callable[[Array, Array], tuple[Array, Array]]


AREA = Measure("AUC", roc_area, roc_area_slopes)
PRECISION_AREA = Measure("average precision", precision_area, precision_area_slopes)


def against_rest(
    measure: Measure, truth: ArrayLike, score: ArrayLike, average: str | None, labels: ArrayLike | None
) -> Statistic:
    """One binary measure for each class (or label) against the rest, averaged."""
    if average is not None:
        one_of("average", average, ("macro", "weighted", "micro"))
    positives, names, scores = _targets(truth, score, labels)
    if average == "micro":
        return _all_together(measure, positives, scores)
    coded = [encode("score", column) for column in scores.T]
    sizes = [len(support) for _, support in coded]
    blocks = tuple(
        Rows(positives[:, j] * m + places, None, 2 * m)
        for j, ((places, _), m) in enumerate(zip(coded, sizes, strict=True))
    )
    rest = _Rest(measure, sizes, average)
    axes = () if average else (Axis("class", tuple(plain(name) for name in names)),)
    title = measure.name if average is None else f"{average} {measure.name}"
    drawn = None if np.ndim(truth) == 2 else positives.argmax(axis=1)
    return Statistic(
        title, blocks, rest.function, rest.gradient, axes, "logit", (0.0, 1.0), higher_is_better=True, truth=drawn
    )


def _all_together(measure: Measure, positives: Codes, scores: Array) -> Statistic:
    """Every (row, class) as one case: the blocks of the classes share their scores and are added."""
    k = scores.shape[1]
    places, support = encode("score", np.ravel(scores))
    m = len(support)
    codes = places.reshape(scores.shape) + positives * m

    def function(totals: Array) -> Array:
        both = totals.reshape(*totals.shape[:-1], k, 2 * m).sum(axis=-2)
        return measure.value(both[..., :m], both[..., m:])

    def gradient(totals: Array) -> Array:
        both = totals.reshape(k, 2 * m).sum(axis=0)
        return np.tile(np.concatenate(measure.slopes(both[:m], both[m:])), k)

    blocks = tuple(Rows(column, None, 2 * m) for column in codes.T)
    return Statistic(
        f"micro {measure.name}", blocks, function, gradient, link="logit", bounds=(0.0, 1.0), higher_is_better=True
    )


@dataclass(frozen=True)
class _Rest:
    """Each class against the rest, from blocks of 2 × sizes[j] components."""

    measure: Measure
    sizes: list[int]
    average: str | None

    def parts(self, totals: Array) -> list[tuple[Array, Array]]:
        """(negative, positive) histograms of each class."""
        cuts = np.concatenate([[0], np.cumsum(2 * np.array(self.sizes))])
        pieces = [totals[..., a:b] for a, b in pairwise(cuts)]
        return [(piece[..., :m], piece[..., m:]) for piece, m in zip(pieces, self.sizes, strict=True)]

    def function(self, totals: Array) -> Array:
        """The measure of each class, or its average."""
        parts = self.parts(totals)
        per = np.stack([self.measure.value(negative, positive) for negative, positive in parts], axis=-1)
        if self.average is None:
            return per
        if self.average == "macro":
            return np.asarray(per.mean(axis=-1))
        size = np.stack([positive.sum(axis=-1) for _, positive in parts], axis=-1)
        return np.asarray((size * np.where(size == 0, 0.0, per)).sum(axis=-1) / size.sum(axis=-1))

    def gradient(self, totals: Array) -> Array:
        """Derivatives by the components of all blocks."""
        parts = self.parts(totals)
        each = [np.concatenate(self.measure.slopes(negative, positive)) for negative, positive in parts]
        if self.average is None:
            return _side_by_side(each)
        if self.average == "macro":
            return np.concatenate(each) / len(each)
        size = np.array([positive.sum() for _, positive in parts])
        per = np.nan_to_num([float(self.measure.value(negative, positive)) for negative, positive in parts])
        share = size / size.sum()
        by_size = (per - share @ per) / size.sum()
        positives = [np.repeat([0.0, by_size[j]], m) for j, m in enumerate(self.sizes)]
        return np.concatenate([np.nan_to_num(e) * share[j] + positives[j] for j, e in enumerate(each)])


def _side_by_side(columns: list[Array]) -> Array:
    """A block-diagonal matrix with one column for each piece."""
    table = np.zeros((sum(map(len, columns)), len(columns)))
    start = 0
    for j, column in enumerate(columns):
        table[start : start + len(column), j] = column
        start += len(column)
    return table


def one_against_one(truth: ArrayLike, score: ArrayLike, average: str | None, labels: ArrayLike | None) -> Statistic:
    """Hand and Till's measure: each pair of classes by both their scores."""
    if average not in ("macro", "weighted"):
        raise StratError.about("average", f"must be 'macro' or 'weighted' with multi_class='ovo', got {average!r}.")
    if np.ndim(truth) == 2:
        raise StratError.about("multi_class", "must be 'ovr' for several labels per row, got 'ovo'.")
    codes, names, scores = _classes(truth, score, labels)
    coded = [encode("score", column) for column in scores.T]
    sizes = [len(support) for _, support in coded]
    k = len(names)
    blocks = tuple(Rows(codes * m + place, None, k * m) for (place, _), m in zip(coded, sizes, strict=True))
    pairs = _Pairs(sizes, average == "weighted")
    title = f"{average} AUC (one against one)"
    return Statistic(
        title,
        blocks,
        pairs.function,
        pairs.gradient,
        link="logit",
        bounds=(0.0, 1.0),
        higher_is_better=True,
        truth=codes,
    )


@dataclass(frozen=True)
class _Pairs:
    """All pairs of classes, from one block for each class's score with the histogram of every true class."""

    sizes: list[int]
    weighted: bool

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """All pairs."""
        return list(combinations(range(len(self.sizes)), 2))

    def parts(self, totals: Array) -> list[Array]:
        """For each class's score, true classes × distinct scores."""
        k = len(self.sizes)
        cuts = np.concatenate([[0], np.cumsum(k * np.array(self.sizes))])
        return [
            totals[..., a:b].reshape(*totals.shape[:-1], k, m)
            for (a, b), m in zip(pairwise(cuts), self.sizes, strict=True)
        ]

    def areas(self, by: list[Array]) -> Array:
        """The mean of both areas of each pair."""
        both = [
            roc_area(by[a][..., b, :], by[a][..., a, :]) + roc_area(by[b][..., a, :], by[b][..., b, :])
            for a, b in self.pairs
        ]
        return np.stack(both, axis=-1) / 2

    def shares(self, by: list[Array]) -> Array:
        """What each pair counts: equally, or by the size of its classes."""
        size = by[0].sum(axis=-1)
        both = np.stack([size[..., a] + size[..., b] for a, b in self.pairs], axis=-1)
        both = both if self.weighted else np.ones_like(both)
        return np.asarray(both / both.sum(axis=-1, keepdims=True))

    def function(self, totals: Array) -> Array:
        """The average over pairs."""
        by = self.parts(totals)
        return np.asarray((self.shares(by) * self.areas(by)).sum(axis=-1))

    def gradient(self, totals: Array) -> Array:
        """Derivatives by the components of all blocks."""
        by = self.parts(totals)
        slopes = [np.zeros_like(piece) for piece in by]
        shares = self.shares(by)
        for share, (a, b) in zip(shares, self.pairs, strict=True):
            for own, other in ((a, b), (b, a)):
                negative, positive = roc_area_slopes(by[own][other], by[own][own])
                slopes[own][other] += share / 2 * negative
                slopes[own][own] += share / 2 * positive
        if self.weighted:
            self._add_sizes(slopes[0], by, shares)
        return np.concatenate([piece.ravel() for piece in slopes])

    def _add_sizes(self, first: Array, by: list[Array], shares: Array) -> None:
        """What the sizes of classes, read off the first block, do to the shares of pairs."""
        areas = self.areas(by)
        off = (areas - shares @ areas) / ((len(self.sizes) - 1) * by[0].sum())
        for change, (a, b) in zip(off, self.pairs, strict=True):
            first[a] += change
            first[b] += change


def _targets(truth: ArrayLike, score: ArrayLike, labels: ArrayLike | None) -> tuple[Codes, NDArray[Any], Array]:
    """Rows × classes of 0 and 1, the classes, and the scores."""
    if np.ndim(truth) == 1:
        codes, names, scores = _classes(truth, score, labels)
        return (codes[:, None] == np.arange(len(names))).astype(np.int64), names, scores
    indicator, scores = numbers("truth", truth), numbers("score", score)
    same_length(truth=indicator, score=scores)
    if indicator.shape != scores.shape or not np.isin(indicator, (0.0, 1.0)).all():
        raise StratError.about(
            "truth",
            f"must be a matrix of 0 and 1 with the shape of `score` {scores.shape} for several labels per "
            f"row, got shape {indicator.shape}.",
        )
    return indicator.astype(np.int64), np.arange(indicator.shape[1]), scores


def _classes(truth: ArrayLike, score: ArrayLike, labels: ArrayLike | None) -> tuple[Codes, NDArray[Any], Array]:
    """Codes of the true classes, the classes, and the scores rows × classes."""
    codes, present = encode("truth", truth)
    values = numbers("score", score)
    same_length(truth=codes, score=values)
    names = present if labels is None else labels_of("labels", labels)
    if labels is not None:
        codes = _positions(present, names)[codes]
    if values.ndim != 2 or values.shape[1] != len(names):
        width = values.shape[1] if values.ndim == 2 else 1
        raise StratError.about(
            "score",
            f"must have one column for each of the {len(names)} classes, got {width}; "
            "name the classes of the columns in `labels`.",
        )
    return codes, names, values


def _positions(present: NDArray[Any], names: NDArray[Any]) -> Codes:
    """The column of each class that was found."""
    where = {plain(name): j for j, name in enumerate(names)}
    unknown = [name for name in present.tolist() if name not in where]
    if unknown:
        raise StratError.about("labels", f"must hold every class of `truth`, got none for {some(unknown)}.")
    return np.array([where[name] for name in present.tolist()])

"""Shares of a confusion matrix for each class (precision, recall, F1 and their kin), and their averages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strat.base.errors import StratError, one_of, plain, some
from strat.base.notes import Note
from strat.base.validate.columns import Array, Codes
from strat.measures.base import FEW_UNITS, FEWEST_CLASSES, MOST_PARTS, Axis, ClassAverage, Statistic, block_totals
from strat.measures.confusion_counts import Counts, Pair, chosen, counts_of, pair
from strat.measures.multilabel import multilabel_counts, row_measure
from strat.measures.positive import positive_of, refused
from strat.measures.quotients import quotient

AVERAGES = ("binary", "micro", "macro", "weighted", "samples")
Coefficients = tuple[float, float, float, float]
"""What (true positives, predicted, actual, all rows) count for."""
_F1 = ((2, 0, 0, 0), (0, 1, 1, 0))  # top and bottom of F1
_HITS_OF_UNION = ((1, 0, 0, 0), (-1, 1, 1, 0))  # the same of the share J of which F1 is 2J/(1 + J)


class Settings:
    """How per-class shares are averaged, checked."""

    def __init__(
        self, average: str | None, positive: object, labels: ArrayLike | None, zero_division: str | float
    ) -> None:
        if average is not None:
            one_of("average", average, AVERAGES)
        if zero_division != "warn" and (
            isinstance(zero_division, str) or not (zero_division in (0, 1) or zero_division != zero_division)
        ):
            raise StratError.about("zero_division", f"must be 'warn', 0, 1 or nan, got {plain(zero_division)!r}.")
        if average != "binary":
            refused(positive, f"with average={average!r}, which looks at all classes")
        self.average, self.positive, self.labels = average, positive, labels
        self.noted = zero_division == "warn"
        self.zero = 0.0 if self.noted else float(zero_division)


def class_share(
    name: str,
    truth: ArrayLike,
    predicted: ArrayLike,
    top: Coefficients,
    bottom: Coefficients,
    settings: Settings,
) -> Statistic:
    """A share top / bottom of each class, averaged: precision, recall, F, Jaccard, specificity."""
    if np.ndim(truth) == 2:
        return _multilabel_share(name, truth, predicted, top, bottom, settings)
    if settings.average == "samples":
        raise StratError.about(
            "average",
            "must be 'binary', 'micro', 'macro', 'weighted' or None for one label per row, "
            "got 'samples'; it needs 0/1 matrices.",
        )
    columns = pair(truth, predicted, None if settings.average == "binary" else settings.labels)
    if settings.average == "binary":
        shown, positive = _positive(columns, settings)
    else:
        shown, positive = chosen(columns, settings.labels), None
    averaged = _Averaged(name, counts_of(columns), shown, top, bottom, settings).statistic()
    statistic = replace(averaged, positive=positive, notes=(*columns.notes, *averaged.notes))
    if settings.average is None or not statistic.proportion:
        return statistic
    return replace(statistic, views=(_domain(columns, shown, bottom),))


def _positive(columns: Pair, settings: Settings) -> tuple[Codes, Any]:
    """The code of the positive class for average="binary" (−1: it never occurs), and its label."""
    if settings.positive is None and columns.classes > 2:
        raise StratError.about(
            "average",
            f"must be 'micro', 'macro', 'weighted' or None for {columns.classes} classes, got 'binary'; "
            "to look at one class, name it in `positive`.",
        )
    names = columns.labels.tolist()
    positive = positive_of(names, settings.positive)
    return np.array([names.index(positive) if positive in names else -1]), positive


def _domain(columns: Pair, shown: Codes, bottom: Coefficients) -> NDArray[np.bool_]:
    """The rows of which a single class's share is a plain share: those that add to what is divided by."""
    actual, given = columns.truth == shown[0], columns.predicted == shown[0]
    parts = (actual & given, given, actual, np.ones(len(actual), bool))
    return np.asarray(sum(b * part for b, part in zip(bottom, parts, strict=True)) > 0)


def _multilabel_share(
    name: str,
    truth: ArrayLike,
    predicted: ArrayLike,
    top: Coefficients,
    bottom: Coefficients,
    settings: Settings,
) -> Statistic:
    if settings.average == "binary":
        raise StratError.about(
            "average", "must be 'micro', 'macro', 'weighted', 'samples' or None for multilabel data, got 'binary'."
        )
    if settings.average == "samples":
        return row_measure(name, truth, predicted, top, bottom, zero=settings.zero, noted=settings.noted)
    counts = multilabel_counts(truth, predicted)
    every = np.arange(len(counts.labels))
    shown = every if settings.labels is None else np.asarray(settings.labels, np.int64)
    if not np.isin(shown, every).all():
        raise StratError.about("labels", f"must be columns from 0 to {every[-1]}, got {some(shown.tolist())}.")
    return _Averaged(name, counts, shown, top, bottom, settings).statistic()


@dataclass(frozen=True, eq=False)
class _Averaged:
    """Shares top / bottom of the classes shown, averaged: what a statistic needs to know of them."""

    name: str
    counts: Counts
    shown: Codes
    top: Coefficients
    bottom: Coefficients
    settings: Settings

    @property
    def average(self) -> str | None:
        return self.settings.average

    @property
    def missing(self) -> bool:
        """Whether no row has the one class that is shown."""
        return len(self.shown) == 1 and self.shown[0] < 0

    @property
    def nothing(self) -> bool:
        """Whether there is nothing to divide by; specificity and its kin have the rows outside a missing class."""
        return self.missing and not self.bottom[3]

    def read(self, totals: Array) -> Array:
        """(True positives, predicted, actual, all) of the classes shown, or of all together: (…, c) -> (…, 4, K)."""
        classes = self.counts.read(totals)
        if self.missing:
            return np.asarray(classes[..., :1] * np.array([0.0, 0.0, 0.0, 1.0])[:, None])
        classes = classes[..., self.shown]
        return classes.sum(axis=-1, keepdims=True) if self.average == "micro" else classes

    def shares(self, classes: Array) -> tuple[Array, Array]:
        """The share of each class, and what it is divided by."""
        below = _mix(self.bottom, classes)
        return quotient(_mix(self.top, classes), below, self.settings.zero), below

    def function(self, totals: Array) -> Array:
        classes = self.read(totals)
        per, _ = self.shares(classes)
        if self.average == "weighted":
            return _mean(per, classes[..., 2, :])
        return per if self.average is None else _mean(per, np.ones_like(per))

    def derivatives(self, classes: Array) -> tuple[Array, Array]:
        """The share of each class, and its derivatives by (tp, predicted, actual, all)."""
        per, below = self.shares(classes)
        up, down = np.array(self.top, float), np.array(self.bottom, float)
        mixed = up[:, None] - down[:, None] * np.nan_to_num(per)[..., None, :]
        return per, quotient(mixed, below[..., None, :], 0.0)

    def gradient(self, totals: Array) -> Array:
        classes = self.read(totals)
        per, slopes = self.derivatives(classes)
        return _slopes(self.counts, self.shown, self.average, per, slopes, classes[..., 2, :])

    def sparse_gradient(self, totals: Array) -> Any:
        assert self.counts.sparse_back is not None
        return self.counts.sparse_back(self.derivatives(self.read(totals))[1][:3], self.shown)

    def base(self, totals: Array) -> Array:
        below = _mix(self.bottom, self.read(totals)) / max(self.top)  # rows, also where hits count several times
        return np.asarray(below[..., 0]) if self.average else below

    def split(self, notes: tuple[Note, ...]) -> Callable[[int], Iterator[Statistic]]:
        """From a number of classes to the statistics of so many each, with these notes."""

        def parts(width: int) -> Iterator[Statistic]:
            for start in range(0, len(self.shown), width):
                part = replace(self, shown=self.shown[start : start + width]).statistic()
                yield replace(part, notes=notes, split=None)

        return parts

    def classes(self) -> ClassAverage | None:
        """That the value is an average over classes of shares J, or of 2J/(1 + J); None where it is of neither."""
        harmonic = (self.top, self.bottom) == _F1
        if self.bottom[3] or (max(self.top) != 1 and not harmonic) or len(self.shown) < FEWEST_CLASSES:
            return None
        top, bottom = _HITS_OF_UNION if harmonic else (self.top, self.bottom)

        def read(totals: Array) -> Array:
            classes = self.read(totals)
            return np.stack([_mix(top, classes), _mix(bottom, classes)], axis=-2)

        return ClassAverage(read, len(self.shown), harmonic, self.settings.zero == 0.0)

    def parts(self, shown: Codes) -> tuple[Statistic, Array] | None:
        """The shares of these classes, of which the mean over all is a sum, with their coefficients."""
        if not 1 < len(shown) <= MOST_PARTS or max(self.top) != 1 or self.counts.truth is None:
            return None
        each = copy(self.settings)
        each.average, each.noted = None, False
        over = len(self.shown) if each.zero == each.zero else len(shown)
        return replace(self, shown=shown, settings=each).statistic(), np.full(len(shown), 1.0 / over)

    def statistic(self) -> Statistic:
        """The average as a statistic."""
        counts, average, top = self.counts, self.average, self.top
        many = average is None and counts.sparse_back is not None
        of_own_rows = many and top[3] == self.bottom[3] == 0  # the rows of other classes add nothing
        below = _mix(self.bottom, self.read(_plain_totals(counts)))
        notes = _undefined(self.name, counts, below, self.shown, average) if self.settings.noted else ()
        axes = () if average else (Axis("class", tuple(plain(label) for label in counts.labels[self.shown])),)
        # Of one class, all but F are shares of rows: 1 for a hit, out of those that are divided by.
        defined = not self.nothing and self.settings.zero == self.settings.zero
        of_one_class = (average is None or len(self.shown) == 1) and defined
        plain_share = of_one_class and max(top) == 1
        curved = average == "binary" and not plain_share and not self.nothing
        return Statistic(
            self.name if average in (None, "binary") else f"{average} {self.name}",
            counts.rows,
            self.function,
            None if self.nothing else self.gradient,
            axes,
            "logit",
            (0.0, 1.0),
            proportion=plain_share,
            base=self.base if of_one_class else None,
            truth=counts.truth,
            curved_below=FEW_UNITS if curved else 0,
            sum_of=self.classes() or self.parts(self.shown[np.ravel(below) > 0]) if average == "macro" else None,
            notes=notes,
            higher_is_better=top[0] > 0,  # whether hits count for it
            sparse_gradient=self.sparse_gradient if of_own_rows else None,
            split=self.split(notes) if many and not of_own_rows else None,
            classes=counts.classes if average != "binary" else 0,
        )


def recalls_of_classes(counts: Counts, scale: float = 1.0) -> tuple[Statistic, Array] | ClassAverage | None:
    """The recalls of the classes that occur, whose mean is the balanced accuracy."""
    occurs = np.flatnonzero(counts.read(_plain_totals(counts))[2] > 0)
    recall = _Averaged("recall", counts, occurs, (1, 0, 0, 0), (0, 0, 1, 0), Settings("macro", None, None, 0.0))
    average = recall.classes() if scale == 1.0 else None
    if average is not None:
        return replace(average, declared=False)
    parts = recall.parts(occurs)
    return None if parts is None else (parts[0], parts[1] * scale)


def _slopes(counts: Counts, shown: Codes, average: str | None, per: Array, slopes: Array, actual: Array) -> Array:
    """Derivatives by the components, from those of each class by (tp, predicted, actual, all)."""
    if average is None:
        return counts.back(_each(slopes, shown, len(counts.labels)))
    if (shown < 0).any():  # a class that no row has: only all rows count
        slopes = slopes * np.array([0.0, 0.0, 0.0, 1.0])[:, None]
    full = _spread(slopes, per, actual, average, np.maximum(shown, 0), len(counts.labels))
    return np.moveaxis(counts.back(np.moveaxis(full, (-2, -1), (0, 1))), 0, -1)


def _each(slopes: Array, shown: Codes, classes: int) -> Array:
    """Derivatives of each share by (tp, predicted, actual, all) of each class: 4 × classes × shares."""
    full = np.zeros((4, classes, len(shown)))
    full[:, shown, np.arange(len(shown))] = slopes
    return full


def _spread(slopes: Array, per: Array, actual: Array, average: str, shown: Codes, classes: int) -> Array:
    """Derivatives of the average by (tp, predicted, actual, all) of each class: (…, 4, classes)."""
    full = np.zeros((*slopes.shape[:-1], classes))
    if average == "micro":
        full[..., shown] = slopes
        return full
    there = ~np.isnan(per)
    weights = _weights(there, actual if average == "weighted" else np.ones_like(per))
    full[..., shown] = slopes * weights[..., None, :]
    if average == "weighted":
        value = (weights * np.nan_to_num(per)).sum(axis=-1, keepdims=True)
        rows = (actual * there).sum(axis=-1, keepdims=True)
        full[..., 2, shown] += quotient(np.where(there, np.nan_to_num(per) - value, 0.0), rows, 0.0)
    return full


def _weights(there: NDArray[np.bool_], weights: Array) -> Array:
    """What each class counts for in an average, all together 1: equally where all weights are 0."""
    w = np.where(there, weights, 0.0)
    w = np.where(w.sum(axis=-1, keepdims=True) == 0, there.astype(float), w)
    return quotient(w, w.sum(axis=-1, keepdims=True), 0.0)


def _mix(coefficients: Coefficients, classes: Array) -> Array:
    """The combination of (tp, predicted, actual, all) with these coefficients: (…, 4, K) -> (…, K)."""
    mixed: Array = np.tensordot(classes, np.array(coefficients, float), axes=([-2], [0]))
    return mixed


def _mean(per: Array, weights: Array) -> Array:
    """The weighted mean over the last axis without nan; the plain mean where all weights are 0."""
    there = ~np.isnan(per)
    w = np.where(there, weights, 0.0)
    empty = w.sum(axis=-1, keepdims=True) == 0
    w = np.where(empty, there.astype(float), w)
    return quotient((w * np.nan_to_num(per)).sum(axis=-1), w.sum(axis=-1), np.nan)


def _plain_totals(counts: Counts) -> Array:
    """Totals with weight 1 for every row."""
    ones = np.ones(len(counts.rows[0]))
    return np.concatenate([block_totals(block, ones) for block in counts.rows])


def _undefined(name: str, counts: Counts, below: Array, shown: Codes, average: str | None) -> tuple[Note, ...]:
    """A note on classes whose share has nothing to divide by."""
    if not (below == 0).any():
        return ()
    unknown = average == "micro" or bool((shown < 0).any())
    labels = None if unknown else tuple(counts.labels[shown][below == 0].tolist())
    case, n = name if name in ("precision", "recall") else "", 1 if labels is None else len(labels)
    return (Note("undefined-share", {"case": case, "measure": name, "n": n, "labels": labels}),)


def left_out_note(counts: Counts) -> tuple[Note, ...]:
    """A note on classes that are predicted and never occur."""
    actual = counts.read(_plain_totals(counts))[2]
    if not (actual == 0).any():
        return ()
    return (Note("class-left-out", {"labels": tuple(counts.labels[actual == 0].tolist())}),)

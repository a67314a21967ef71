"""Shares of a confusion matrix for each class (precision, recall, F1 and their kin), and their averages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strat.base.errors import StratError, one_of, plain, some
from strat.base.notes import Note
from strat.base.validate.columns import Array, Codes
from strat.measures.base import FEW_UNITS, Axis, Statistic, block_totals
from strat.measures.confusion import Counts, Pair, chosen, counts_of, pair
from strat.measures.multilabel import multilabel_counts, row_measure
from strat.measures.positive import positive_of, refused
from strat.measures.quotients import quotient

MOST_PARTS = 64  # classes up to which the limits of a mean of shares are made of those of each
AVERAGES = ("binary", "micro", "macro", "weighted", "samples")
Coefficients = tuple[float, float, float, float]
"""What (true positives, predicted, actual, all rows) count for."""


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
    averaged = _averaged(name, counts_of(columns), shown, top, bottom, settings)
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
    return _averaged(name, counts, shown, top, bottom, settings)


def _averaged(
    name: str, counts: Counts, shown: Codes, top: Coefficients, bottom: Coefficients, settings: Settings
) -> Statistic:
    average, zero = settings.average, settings.zero
    missing = len(shown) == 1 and shown[0] < 0
    up, down = np.array(top, float), np.array(bottom, float)
    nothing = missing and not down[3]  # to divide by; specificity and its kin have the rows outside the class

    def read(totals: Array) -> Array:
        classes = counts.read(totals)
        if missing:
            return np.asarray(classes[..., :1] * np.array([0.0, 0.0, 0.0, 1.0])[:, None])
        classes = classes[..., shown]
        return classes.sum(axis=-1, keepdims=True) if average == "micro" else classes

    def function(totals: Array) -> Array:
        classes = read(totals)
        per = quotient(_mix(up, classes), _mix(down, classes), zero)
        if average == "weighted":
            return _mean(per, classes[..., 2, :])
        return per if average is None else _mean(per, np.ones_like(per))

    def derivatives(classes: Array) -> tuple[Array, Array]:
        below = _mix(down, classes)
        per = quotient(_mix(up, classes), below, zero)
        mixed = up[:, None] - down[:, None] * np.nan_to_num(per)[..., None, :]
        return per, quotient(mixed, below[..., None, :], 0.0)

    def gradient(totals: Array) -> Array:
        classes = read(totals)
        per, slopes = derivatives(classes)
        return _slopes(counts, shown, average, per, slopes, classes[..., 2, :])

    def sparse_gradient(totals: Array) -> Any:
        assert counts.sparse_back is not None
        return counts.sparse_back(derivatives(read(totals))[1][:3], shown)

    def split(width: int) -> Iterator[Statistic]:
        for start in range(0, len(shown), width):
            part = _averaged(name, counts, shown[start : start + width], top, bottom, settings)
            yield replace(part, notes=notes, split=None)

    many = average is None and counts.sparse_back is not None
    of_own_rows = many and top[3] == bottom[3] == 0  # the rows of other classes add nothing
    below_all = _mix(down, read(_plain_totals(counts)))
    notes = _undefined(name, counts, below_all, shown, average) if settings.noted else ()

    def base(totals: Array) -> Array:
        below = _mix(down, read(totals)) / max(top)  # rows, also where hits count several times
        return np.asarray(below[..., 0]) if average else below

    axes = () if average else (Axis("class", tuple(plain(label) for label in counts.labels[shown])),)
    title = name if average in (None, "binary") else f"{average} {name}"
    # Of one class, all but F are shares of rows: 1 for a hit, out of those that are divided by.
    of_one_class = (average is None or len(shown) == 1) and not nothing and zero == zero
    plain_share = of_one_class and max(top) == 1
    return Statistic(
        title,
        counts.rows,
        function,
        None if nothing else gradient,
        axes,
        "logit",
        (0.0, 1.0),
        proportion=plain_share,
        base=base if of_one_class else None,
        truth=counts.truth,
        curved_below=FEW_UNITS if average == "binary" and not plain_share and not nothing else 0,
        sum_of=_parts(name, counts, shown[np.ravel(below_all) > 0], top, bottom, settings, len(shown))
        if average == "macro"
        else None,
        notes=notes,
        higher_is_better=top[0] > 0,  # whether hits count for it
        sparse_gradient=sparse_gradient if of_own_rows else None,
        split=split if many and not of_own_rows else None,
        classes=counts.classes if average != "binary" else 0,
    )


def _parts(
    name: str,
    counts: Counts,
    shown: Codes,
    top: Coefficients,
    bottom: Coefficients,
    settings: Settings,
    number: int,
) -> tuple[Statistic, Array] | None:
    """The shares of these classes, of which their mean over so many classes is a sum, with their coefficients."""
    if not 1 < len(shown) <= MOST_PARTS or max(top) != 1 or counts.truth is None:
        return None
    each = copy(settings)
    each.average, each.noted = None, False
    over = number if settings.zero == settings.zero else len(shown)
    return _averaged(name, counts, shown, top, bottom, each), np.full(len(shown), 1.0 / over)


def recalls_of_classes(counts: Counts, scale: float = 1.0) -> tuple[Statistic, Array] | None:
    """The recalls of the classes that occur, whose mean is the balanced accuracy."""
    occurs = np.flatnonzero(counts.read(_plain_totals(counts))[2] > 0)
    settings = Settings("macro", None, None, 0.0)
    parts = _parts("recall", counts, occurs, (1, 0, 0, 0), (0, 0, 1, 0), settings, len(occurs))
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


def _mix(coefficients: Array, classes: Array) -> Array:
    """The combination of (tp, predicted, actual, all) with these coefficients: (…, 4, K) -> (…, K)."""
    mixed: Array = np.tensordot(classes, coefficients, axes=([-2], [0]))
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
    why = {"precision": "is never predicted", "recall": "never occurs"}.get(name, "has nothing to divide by")
    if average == "micro" or (shown < 0).any():
        which = f"these rows, of which the class {why}"
    else:
        labels: Sequence[object] = counts.labels[shown][below == 0].tolist()
        which = f"the class {some(labels)}, which {why}"
    text = f"{name} is undefined for {which}: its value is 0; set `zero_division` to choose the value."
    return (Note("undefined-share", text),)


def left_out_note(counts: Counts) -> tuple[Note, ...]:
    """A note on classes that are predicted and never occur."""
    actual = counts.read(_plain_totals(counts))[2]
    if not (actual == 0).any():
        return ()
    which = counts.labels[actual == 0].tolist()
    text = f"`predicted` has the class {some(which)}, which never occurs in `truth`; it is left out."
    return (Note("class-left-out", text),)

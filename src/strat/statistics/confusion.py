"""Confusion matrices: what the rows of a classifier add up to, and the matrix as an object."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strat.columns import Array, Codes, encode, numbers, same_length
from strat.doors import checked
from strat.errors import StratError, one_of, plain, short, some
from strat.files import atomic
from strat.statistics.base import Axis, Rows, Statistic

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Confused", "ConfusionMatrix", "confusion", "confusion_by"]

MOST_CELLS = 16
"""Up to this many classes the K × K cells are added up; beyond, 3 K margins are fewer."""
MOST_NUMBERS = 1 << 24
"""Up to this many numbers (128 MB) a table of the distinct (truth, predicted) pairs is kept."""


@dataclass(frozen=True, eq=False)
class Pair:
    """True and predicted classes as codes of one list of labels."""

    truth: Codes
    predicted: Codes
    labels: NDArray[Any]

    @property
    def classes(self) -> int:
        """Number of classes."""
        return len(self.labels)

    @property
    def cells(self) -> Codes:
        """The cell of the K × K matrix that each row falls into."""
        return self.truth * self.classes + self.predicted

    def where(self, label: object, argument: str = "pos_label") -> int:
        """The code of a label."""
        found = np.flatnonzero(self.labels == label)
        if len(found) == 0:
            raise StratError(
                f"`{argument}` must be one of the labels, got {plain(label)!r}; there are {some(self.labels.tolist())}."
            )
        return int(found[0])


def pair(truth: ArrayLike, predicted: ArrayLike, labels: ArrayLike | None = None) -> Pair:
    """Both columns coded by the sorted union of their labels and of `labels`."""
    t, truth_labels = encode("truth", truth)
    p, predicted_labels = encode("predicted", predicted)
    same_length(truth=t, predicted=p)
    parts = [truth_labels, predicted_labels]
    if labels is not None:
        parts.append(_given_labels(labels))
    for name, part in zip(("predicted", "labels"), parts[1:], strict=False):
        if _family(part) != _family(truth_labels):
            raise StratError(
                f"`{name}` must have labels of the same type as `truth`, got {plain(part[0])!r} beside "
                f"{plain(truth_labels[0])!r}; make them all text."
            )
    union = np.unique(np.concatenate(parts))
    return Pair(np.searchsorted(union, truth_labels)[t], np.searchsorted(union, predicted_labels)[p], union)


def _given_labels(labels: ArrayLike) -> NDArray[Any]:
    codes, distinct = encode("labels", labels)
    if len(distinct) != len(codes):
        raise StratError(f"`labels` must be distinct, got {some(np.asarray(labels).tolist())}.")
    return distinct


def _family(labels: NDArray[Any]) -> str:
    kind = labels.dtype.kind
    return "number" if kind in "biuf" else "text" if kind in "US" else kind


@dataclass(frozen=True, eq=False)
class Counts:
    """What the rows add up to for measures of each class, and how to read it.

    Attributes
    ----------
    rows
        The blocks of a statistic.
    labels
        The classes.
    read
        From totals to (true positives, predicted, actual, all) of each class: ``(…, c) -> (…, 4, K)``.
    back
        From derivatives by those to derivatives by the components: ``(4, K, …) -> (c, …)``.
    """

    rows: tuple[Rows, ...]
    labels: NDArray[Any]
    read: Callable[[Array], Array]
    back: Callable[[Array], Array]


def counts_of(columns: Pair) -> Counts:
    """The smallest components from which every class's counts follow."""
    k = columns.classes
    if k <= MOST_CELLS:
        return Counts((Rows(columns.cells, None, k * k),), columns.labels, _read_cells, _back_to_cells)
    codes, seen = encode("truth", columns.cells)
    if len(seen) * 3 * k <= MOST_NUMBERS:
        truth, predicted = np.divmod(seen, k)
        one = np.eye(k)
        table = np.hstack([one[truth], one[predicted], one[truth] * (truth == predicted)[:, None]])
        rows: tuple[Rows, ...] = (Rows(codes, table, 3 * k),)
    else:
        hit = np.where(columns.truth == columns.predicted, columns.truth, k)
        rows = (
            Rows(columns.truth, None, k),
            Rows(columns.predicted, None, k),
            Rows(hit, np.eye(k + 1, k), k),
        )
    return Counts(rows, columns.labels, _read_margins, _back_to_margins)


def _read_cells(totals: Array) -> Array:
    k = round(totals.shape[-1] ** 0.5)
    cells = totals.reshape(*totals.shape[:-1], k, k)
    actual = cells.sum(axis=-1)
    every = np.broadcast_to(actual.sum(axis=-1, keepdims=True), actual.shape)
    return np.stack([np.diagonal(cells, axis1=-2, axis2=-1), cells.sum(axis=-2), actual, every], axis=-2)


def _back_to_cells(slopes: Array) -> Array:
    hit, predicted, actual, every = slopes
    k = len(hit)
    cells: Array = actual[:, None] + predicted[None, :] + every.sum(axis=0)
    cells[np.arange(k), np.arange(k)] += hit
    return cells.reshape(k * k, *slopes.shape[2:])


def _read_margins(totals: Array) -> Array:
    actual, predicted, hit = np.split(totals, 3, axis=-1)
    every = np.broadcast_to(actual.sum(axis=-1, keepdims=True), actual.shape)
    return np.stack([hit, predicted, actual, every], axis=-2)


def _back_to_margins(slopes: Array) -> Array:
    hit, predicted, actual, every = slopes
    return np.concatenate([actual + every.sum(axis=0), predicted, hit])


@checked
def confusion(
    truth: ArrayLike, predicted: ArrayLike, *, labels: ArrayLike | None = None, normalize: str | None = None
) -> Statistic:
    """The confusion matrix as a statistic: weighted counts or shares, truth in rows, predictions in columns.

    Parameters
    ----------
    truth, predicted
        Labels.
    labels
        The classes to show and their order (rows outside are left out, as scikit-learn does); None: all, sorted.
    normalize
        None for totals, "true" for shares of each true class, "pred" of each predicted class, "all" of all rows.

    Examples
    --------
    >>> print(confusion([0, 0, 1, 1], [0, 1, 1, 1]).value())
    [[1. 1.]
     [0. 2.]]
    >>> print(confusion([0, 0, 1, 1], [0, 1, 1, 1], normalize="true").value())
    [[0.5 0.5]
     [0.  1. ]]
    """
    if normalize is not None:
        one_of("normalize", normalize, ("true", "pred", "all"))
    columns = pair(truth, predicted, labels)
    shown = chosen(columns, labels)
    k = columns.classes
    over = {"true": (-1,), "pred": (-2,), "all": (-2, -1)}.get(normalize or "")

    def function(totals: Array) -> Array:
        cells = totals.reshape(*totals.shape[:-1], k, k)[..., shown[:, None], shown]
        return cells if over is None else shares(cells, over)

    def gradient(totals: Array) -> Array:
        m = len(shown)
        inside = (shown[:, None] * k + shown).ravel()
        slopes = np.zeros((k * k, m * m))
        slopes[inside] = np.eye(m * m)
        if over is not None:
            cells = totals.reshape(k, k)[shown[:, None], shown]
            sums = np.broadcast_to(cells.sum(axis=over, keepdims=True), (m, m)).ravel()
            group = np.broadcast_to(np.arange(m * m).reshape(m, m).min(axis=over, keepdims=True), (m, m)).ravel()
            slopes[inside] -= shares(cells, over).ravel() * (group[:, None] == group)
            slopes = np.divide(slopes, sums, out=np.zeros_like(slopes), where=sums != 0)
        return slopes.reshape(k * k, m, m)

    names = tuple(plain(label) for label in columns.labels[shown])
    return Statistic(
        "confusion matrix",
        (Rows(columns.cells, None, k * k),),
        function,
        gradient,
        axes=(Axis("truth", names), Axis("predicted", names)),
        link="identity" if over is None else "logit",
        bounds=(0.0, np.inf if over is None else 1.0),
        proportion=over is not None,
        base=None if over is None else lambda totals: _bases(totals, k, shown, over),
    )


def _bases(totals: Array, k: int, shown: Codes, over: tuple[int, ...]) -> Array:
    cells = totals.reshape(*totals.shape[:-1], k, k)[..., shown[:, None], shown]
    return np.broadcast_to(cells.sum(axis=over, keepdims=True), cells.shape)


def shares(cells: Array, over: tuple[int, ...]) -> Array:
    """Cells over their sums along `over`, 0 where the sum is 0."""
    sums = cells.sum(axis=over, keepdims=True)
    result: Array = np.divide(cells, sums, out=np.zeros_like(cells), where=sums != 0)
    return result


def chosen(columns: Pair, labels: ArrayLike | None) -> Codes:
    """Positions of the wanted labels among all, in the wanted order."""
    if labels is None:
        return np.arange(columns.classes)
    return np.searchsorted(columns.labels, np.asarray(labels)).astype(np.int64)


@dataclass(frozen=True)
class Confused:
    """One kind of mistake.

    Attributes
    ----------
    truth, predicted
        The true label and the one that was given.
    count
        How often (or with what weight).
    share
        The share of the true class that went there.
    """

    truth: Any
    predicted: Any
    count: float
    share: float


@dataclass(frozen=True, eq=False)
class ConfusionMatrix:
    r"""Counts of (true class, predicted class), with the true classes in rows.

    Attributes
    ----------
    counts
        The matrix, K × K; whole counts or sums of weights.
    labels
        The K classes.

    Examples
    --------
    >>> matrix = ConfusionMatrix.from_labels(["cat", "cat", "dog", "dog"], ["cat", "dog", "dog", "dog"])
    >>> print(matrix)
    truth \ predicted  cat  dog
                  cat    1    1
                  dog    0    2
    >>> matrix.accuracy
    0.75
    >>> matrix.worst(1)
    [Confused(truth='cat', predicted='dog', count=1.0, share=0.5)]
    """

    counts: Array
    labels: tuple[Any, ...]

    @checked
    def __init__(self, counts: ArrayLike, labels: Sequence[Any] | None = None) -> None:
        matrix = np.array(numbers("counts", counts))
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise StratError(f"`counts` must be a square matrix, got shape {matrix.shape}.")
        if (matrix < 0).any():
            row, column = np.argwhere(matrix < 0)[0].tolist()
            value = plain(matrix[row, column])
            raise StratError(f"`counts` must not be negative, got {value!r} in row {row}, column {column}.")
        names = tuple(range(len(matrix))) if labels is None else tuple(plain(label) for label in labels)
        if not all(isinstance(name, Hashable) for name in names):
            raise StratError(f"`labels` must be text or numbers, got {some(names)}.")
        if len(names) != len(matrix) or len(set(names)) != len(names):
            raise StratError(f"`labels` must be {len(matrix)} distinct labels, got {some(names)}.")
        matrix.flags.writeable = False
        object.__setattr__(self, "counts", matrix)
        object.__setattr__(self, "labels", names)

    @classmethod
    @checked
    def from_labels(
        cls,
        truth: ArrayLike,
        predicted: ArrayLike,
        *,
        labels: ArrayLike | None = None,
        weights: ArrayLike | None = None,
    ) -> ConfusionMatrix:
        """The matrix of two columns of labels."""
        statistic = confusion(truth, predicted, labels=labels)
        return cls(statistic.value(_weights(weights, len(statistic))), statistic.axes[0].labels)

    @property
    def total(self) -> float:
        """Sum of all counts."""
        return float(self.counts.sum())

    @property
    def accuracy(self) -> float:
        """The trace over the sum."""
        return float(np.trace(self.counts) / self.total) if self.total else float("nan")

    @property
    def error(self) -> float:
        """1 less the accuracy."""
        return 1 - self.accuracy

    @checked
    def normalized(self, by: str = "true") -> Array:
        """Shares of each true class ("true"), of each predicted class ("pred") or of all ("all"); 0 for 0 / 0."""
        over = {"true": (1,), "pred": (0,), "all": (0, 1)}[one_of("by", by, ("true", "pred", "all"))]
        return shares(self.counts, over)

    @checked
    def row(self, label: object) -> dict[Any, float]:
        """What the true class `label` was taken for, with counts."""
        return dict(zip(self.labels, self.counts[self._where(label)].tolist(), strict=True))

    @checked
    def worst(self, number: int = 10) -> list[Confused]:
        """The most frequent mistakes, most frequent first (ties in the order of the labels)."""
        wrong = self.counts - np.diag(np.diag(self.counts))
        shares = self.normalized("true")
        order = np.argsort(-wrong.ravel(), kind="stable")[:number]
        cells = [divmod(int(cell), len(self.labels)) for cell in order if wrong.flat[cell] > 0]
        return [Confused(self.labels[i], self.labels[j], float(wrong[i, j]), float(shares[i, j])) for i, j in cells]

    @checked
    def worst_pairs(self, number: int = 10) -> list[Confused]:
        """The pairs of classes most often taken for each other, both directions together."""
        both = self.counts + self.counts.T
        i, j = np.triu_indices(len(self.labels), 1)
        size = (self.counts.sum(axis=1)[i] + self.counts.sum(axis=1)[j]).clip(min=1e-300)
        order = [c for c in np.argsort(-both[i, j], kind="stable")[:number] if both[i[c], j[c]] > 0]
        return [
            Confused(self.labels[i[c]], self.labels[j[c]], float(both[i[c], j[c]]), float(both[i[c], j[c]] / size[c]))
            for c in order
        ]

    def columns(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """(truth, predicted) with one row per object, so that counts alone serve every measure."""
        whole = np.rint(self.counts).astype(np.int64)
        if not np.array_equal(whole, self.counts):
            raise StratError("`counts` must be whole to be written out as rows, got fractions.")
        names = np.asarray(self.labels)
        truth, predicted = np.divmod(np.repeat(np.arange(whole.size), whole.ravel()), len(names))
        return names[truth], names[predicted]

    @checked
    def merged(self, groups: Mapping[Any, Any]) -> ConfusionMatrix:
        """The matrix with classes renamed by `groups`; classes of one name are added up."""
        names = [groups.get(label, label) for label in self.labels]
        distinct = list(dict.fromkeys(names))
        to = np.zeros((len(names), len(distinct)))
        to[np.arange(len(names)), [distinct.index(name) for name in names]] = 1
        return ConfusionMatrix(to.T @ self.counts @ to, distinct)

    def __add__(self, other: ConfusionMatrix) -> ConfusionMatrix:
        """The sum of two matrices of the same classes."""
        if self.labels != other.labels:
            raise StratError(
                f"confusion matrices that are added must have the same labels, got {some(self.labels)} and "
                f"{some(other.labels)}."
            )
        return ConfusionMatrix(self.counts + other.counts, self.labels)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """The counts."""
        return np.array(self.counts, dtype=dtype)

    def __len__(self) -> int:
        """Number of classes."""
        return len(self.labels)

    def write(self, path: str | Path) -> None:
        """Write to a `.csv` or `.json` file: labels in the first row and column, or as a list."""
        path = Path(path)
        if _format(path) == ".json":
            content = {"labels": list(self.labels), "counts": self.counts.tolist()}
            with atomic(path) as target:
                target.write(json.dumps({"schema": "strat/confusion/1", **content}).encode())
            return
        with atomic(path) as target, io.TextIOWrapper(target, "utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["truth", *self.labels])
            writer.writerows([label, *map(_number, line)] for label, line in zip(self.labels, self.counts, strict=True))

    @classmethod
    @checked
    def read(cls, path: str | Path) -> ConfusionMatrix:
        """Read what `write` wrote; labels of a `.csv` come back as text, or as whole numbers if all are."""
        if not isinstance(path, str | Path) or len(str(path)) > 4096 or not Path(path).is_file():
            raise StratError(f"`path` must name a file that is there, got {short(repr(path))}.")
        path = Path(path)
        if _format(path) == ".json":
            try:
                content = json.loads(path.read_text(encoding="utf-8"))
            except (ValueError, RecursionError):
                raise StratError(f"`path` must be a JSON file, got {path.name!r}; it may have been cut off.") from None
            if not isinstance(content, dict) or not all(isinstance(content.get(k), list) for k in ("counts", "labels")):
                raise StratError(f"`path` must hold 'labels' and 'counts', got {path.name!r} without them.")
            return cls(content["counts"], content["labels"])
        try:
            with path.open(newline="", encoding="utf-8") as file:
                header, *lines = [line for line in csv.reader(file) if line] or [[]]
        except (UnicodeDecodeError, csv.Error):
            raise StratError(f"`path` must be a CSV file in UTF-8, got {path.name!r}, which is not.") from None
        names: list[Any] = header[1:]
        if not names or [line[0] for line in lines] != names:
            raise StratError(f"`path` must name the same classes in its first row and column, got {path.name!r}.")
        if all(name.lstrip("-").isdigit() for name in names):
            names = [int(name) for name in names]
        return cls([line[1:] for line in lines], names)

    def plot(self, ax: Axes | None = None, *, by: str | None = "true") -> Axes:
        """A heat map: shares by `by` (None: counts) as shades, darker for more; numbers in it up to 12 classes."""
        from matplotlib import pyplot as plt

        ax = plt.subplots(layout="constrained")[1] if ax is None else ax
        values = self.counts if by is None else self.normalized(by)
        image = ax.imshow(values, cmap="Blues", vmin=0)
        ax.figure.colorbar(image, ax=ax, label=_colour_label(by))
        ticks = range(len(self))
        size = 10 if len(self) <= 12 else 7
        ax.set_xticks(ticks, [str(label) for label in self.labels], fontsize=size)
        ax.set_yticks(ticks, [str(label) for label in self.labels], fontsize=size)
        ax.set(xlabel="predicted", ylabel="truth", title=f"accuracy {self.accuracy:.3g}, n = {self.total:g}")
        if len(self) <= 12:
            self._annotate(ax, values, by)
        return ax

    def _annotate(self, ax: Axes, values: Array, by: str | None) -> None:
        middle = values.max() / 2
        for (i, j), value in np.ndenumerate(values):
            text = _number(value) if by is None else f"{value:.2f}"
            ax.text(j, i, text, ha="center", va="center", color="white" if value > middle else "black")

    def _where(self, label: object) -> int:
        if label not in self.labels:
            raise StratError(f"`label` must be one of the classes, got {label!r}; there are {some(self.labels)}.")
        return self.labels.index(label)

    def __str__(self) -> str:
        """A table of the counts."""
        head = ["truth \\ predicted", *map(str, self.labels)]
        body = [[str(label), *map(_number, line)] for label, line in zip(self.labels, self.counts, strict=True)]
        widths = [max(map(len, column)) for column in zip(head, *body, strict=True)]
        return "\n".join(
            "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in [head, *body]
        )

    def __repr__(self) -> str:
        """The classes and the counts."""
        return f"ConfusionMatrix({self.counts.tolist()}, labels={list(self.labels)})"


@checked
def confusion_by(
    strata: ArrayLike,
    truth: ArrayLike,
    predicted: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    weights: ArrayLike | None = None,
) -> dict[Any, ConfusionMatrix]:
    """One confusion matrix for each stratum, all with the same classes; their sum is that of all rows.

    Examples
    --------
    >>> for site, matrix in confusion_by(["x", "x", "y"], [0, 1, 1], [0, 0, 1]).items():
    ...     print(site, matrix.accuracy)
    x 0.5
    y 1.0
    """
    columns = pair(truth, predicted, labels)
    groups, names = encode("strata", strata)
    same_length(truth=columns.truth, strata=groups)
    k = columns.classes
    w = _weights(weights, len(groups))
    cells = np.bincount(groups * k * k + columns.cells, w, minlength=len(names) * k * k).reshape(-1, k, k)
    shown = chosen(columns, labels)
    return {
        plain(name): ConfusionMatrix(cell[shown[:, None], shown], columns.labels[shown].tolist())
        for name, cell in zip(names, cells, strict=True)
    }


def _weights(weights: ArrayLike | None, rows: int) -> Array:
    if weights is None:
        return np.ones(rows)
    w = numbers("weights", weights)
    same_length(truth=np.empty(rows), weights=w)
    if (w < 0).any():
        raise StratError(f"`weights` must not be negative, got {float(w.min())!r}.")
    return w


def _number(value: float) -> str:
    return f"{value:.0f}" if value == round(value) else f"{value:.6g}"


def _colour_label(by: str | None) -> str:
    names = {"true": "share of the true class", "pred": "share of the predicted class", "all": "share of all rows"}
    return names[by] if by else "count"


def _format(path: Path) -> str:
    if path.suffix.lower() not in (".csv", ".json"):
        raise StratError(f"`path` must end in .csv or .json, got {path.name!r}.")
    return path.suffix.lower()

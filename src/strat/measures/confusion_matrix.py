"""The confusion matrix as a result: tables, files, pictures and its worst cells."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strat.base.errors import StratError, drawable, one_of, plain, some, visible
from strat.base.escaping import disarmed
from strat.base.files import atomic
from strat.base.result import Result
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, encode, numbers, same_length
from strat.measures.matrix_files import read_matrix
from strat.show.figures import new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
from strat.measures.confusion_counts import chosen, confusion, pair, shares


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


@dataclass(frozen=True, eq=False, repr=False)
class ConfusionMatrix(Result):
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
            raise StratError.about("counts", f"must be a square matrix, got shape {matrix.shape}.")
        if (matrix < 0).any():
            row, column = np.argwhere(matrix < 0)[0].tolist()
            value = plain(matrix[row, column])
            raise StratError.about("counts", f"must not be negative, got {value!r} in row {row}, column {column}.")
        names = tuple(range(len(matrix))) if labels is None else tuple(plain(label) for label in labels)
        if not all(isinstance(name, Hashable) for name in names):
            raise StratError.about("labels", f"must be text or numbers, got {some(names)}.")
        if len(names) != len(matrix) or len(set(names)) != len(names):
            raise StratError.about("labels", f"must be {len(matrix)} distinct labels, got {some(names)}.")
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
        """1 minus the accuracy."""
        return 1 - self.accuracy

    def _columns(self) -> dict[str, list[Any]]:
        """A line for each pair of a true and a predicted class."""
        pairs = [(truth, predicted) for truth in self.labels for predicted in self.labels]
        return {
            "truth": [truth for truth, _ in pairs],
            "predicted": [predicted for _, predicted in pairs],
            "count": self.counts.ravel().tolist(),
        }

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
        """(truth, predicted) with one row per object, so that any measure can be computed from counts alone."""
        whole = np.rint(self.counts).astype(np.int64)
        if not np.array_equal(whole, self.counts):
            raise StratError.about("counts", "must be whole to be written out as rows, got fractions.")
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
        """Write to a `.csv` or `.json` file: labels in the first row and column, or as a list.

        In a `.csv` file a label that a spreadsheet would run as a formula gets an apostrophe, which `read` takes away;
        control characters are spelled out.
        """
        path = Path(path)
        if _format(path) == ".json":
            content = {"labels": list(self.labels), "counts": self.counts.tolist()}
            with atomic(path) as target:
                target.write(json.dumps({"schema": "strat/confusion/1", **content}).encode())
            return
        with atomic(path) as target, io.TextIOWrapper(target, "utf-8", newline="") as file:
            writer = csv.writer(file)
            names = [visible(disarmed(str(label))) for label in self.labels]
            writer.writerow(["truth", *names])
            writer.writerows([name, *map(_number, line)] for name, line in zip(names, self.counts, strict=True))

    @classmethod
    @checked
    def read(cls, path: str | Path) -> ConfusionMatrix:
        """Read a matrix from a file: what `write` wrote, or counts with or without class names around them, or `.npy`.

        Labels of text files come back as text, or as whole numbers if all are.
        """
        counts, labels = read_matrix(path)
        return cls(counts, labels)

    def plot(self, ax: Axes | None = None, *, by: str | None = "true") -> Axes:
        """A heat map: shares by `by` (None: counts) as shades, darker for more; numbers in it up to 12 classes."""
        ax = new_axes(ax)
        values = self.counts if by is None else self.normalized(by)
        image = ax.imshow(values, cmap="Blues", vmin=0)
        ax.figure.colorbar(image, ax=ax, label=_colour_label(by))
        ticks = range(len(self))
        size = 10 if len(self) <= 12 else 7
        ax.set_xticks(ticks, [drawable(label) for label in self.labels], fontsize=size)
        ax.set_yticks(ticks, [drawable(label) for label in self.labels], fontsize=size)
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
            raise StratError.about(
                "label", f"must be one of the classes, got {label!r}; there are {some(self.labels)}."
            )
        return self.labels.index(label)

    def __str__(self) -> str:
        """A table of the counts."""
        head = ["truth \\ predicted", *map(str, self.labels)]
        body = [[str(label), *map(_number, line)] for label, line in zip(self.labels, self.counts, strict=True)]
        widths = [max(map(len, column)) for column in zip(head, *body, strict=True)]
        return "\n".join(
            "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in [head, *body]
        )


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
    w = numbers("weights", weights, axes=1)
    same_length(truth=np.empty(rows), weights=w)
    if (w < 0).any():
        raise StratError.about("weights", f"must not be negative, got {float(w.min())!r}.")
    return w


def _number(value: float) -> str:
    return f"{value:.0f}" if value == round(value) else f"{value:.6g}"


def _colour_label(by: str | None) -> str:
    names = {"true": "share of the true class", "pred": "share of the predicted class", "all": "share of all rows"}
    return names[by] if by else "count"


def _format(path: Path) -> str:
    if path.suffix.lower() not in (".csv", ".json"):
        raise StratError.about("path", f"must end in .csv or .json, got {path.name!r}.")
    return path.suffix.lower()

"""`score_table`: data sets × systems from a wide or a long table, for the tests over many data sets."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.base.errors import StratError, one_of
from strat.base.notes import Note
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, Codes, encode, numbers
from strat.base.validate.names import Names
from strat.comparison.score_table import Scores, named_scores
from strat.data.table import MISSING, Table, read


@checked
def score_table(
    source: Any,
    *,
    higher_is_better: bool,
    dataset: str | None = None,
    system: str | None = None,
    score: str | None = None,
    missing: str = "error",
    na: Names | None = None,
) -> Scores:
    """One number for each data set and system, for :func:`strat.comparison.friedman` and its kin.

    Parameters
    ----------
    source
        A table with a column for each system, or a long one: whatever :func:`read` takes.
    higher_is_better
        True for accuracies, False for errors.
    dataset
        The column of data sets: in a wide table the first one if that is text; in a long one it must be named.
    system, score
        Columns of a long table; several scores of a system on a data set are averaged.
    missing
        Data sets that lack a system: "error", or "drop" to leave them out.
    na
        Strings that mark a missing value.

    Examples
    --------
    >>> long = {"data": ["d", "d", "e", "e"], "model": ["A", "B", "A", "B"], "acc": [0.9, 0.7, 0.8, 0.6]}
    >>> table = score_table(long, dataset="data", system="model", score="acc", higher_is_better=True)
    >>> table.systems, table.values.tolist()
    (('A', 'B'), [[0.9, 0.7], [0.8, 0.6]])
    """
    one_of("missing", missing, MISSING)
    table = read(source, na=na)
    if system is None and score is None:
        names, grid, notes = _wide(table, dataset)
    else:
        names, grid, notes = _long(table, dataset, system, score)
    labels, kept, dropped = _complete(names, grid, missing)
    checked_scores = named_scores(
        labels.tolist(), list(kept), list(kept.values()), higher_is_better=higher_is_better, same_unit=False
    )
    return replace(checked_scores, notes=(*dropped, *notes, *checked_scores.notes))


Grid = tuple[NDArray[Any], Mapping[str, Array], list[Note]]


def _wide(table: Table, dataset: str | None) -> Grid:
    """The names of the data sets, and the column of each system."""
    table.require(dataset=dataset)
    first = dataset or table.names[0]
    columns = {c.name: c for c in table.backend.fetch(list(table.names))}
    text = dataset is not None or np.asarray(columns[first].labels).dtype.kind in "OUS"
    values = {name: columns[name].numbers() for name in table.names if not (text and name == first)}
    names = columns[first].values if text else np.arange(1, len(columns[first]) + 1)
    grid = {n: np.where(v.missing, np.nan, v.labels) if v.missing is not None else v.labels for n, v in values.items()}
    return names, grid, []


def _long(table: Table, dataset: str | None, system: str | None, score: str | None) -> Grid:
    """The same from one row for each data set, system and run."""
    if system is None or score is None or dataset is None:
        raise StratError.about("dataset", ", `system` and `score` together must describe a long table.")
    table.require(dataset=dataset, system=system, score=score)
    columns = table.columns([dataset, system, score])
    row, names = encode(dataset, columns[dataset])
    column, systems = encode(system, columns[system])
    y = numbers(score, columns[score])
    cell = row * len(systems) + column
    count = np.bincount(cell, minlength=len(names) * len(systems)).reshape(len(names), -1)
    means = _means(cell, y, count.ravel()).reshape(count.shape)
    least, most = int(count[count > 0].min()), int(count.max())
    facts = {"case": "runs", "least": least, "most": most if most > least else None}
    notes: list[Note] = [Note("repeats-averaged", facts)] if most > 1 else []
    return names.astype(str), {str(s): means[:, k] for k, s in enumerate(systems)}, notes


def _means(cell: Codes, y: Array, count: Codes) -> Array:
    """The mean of each cell, NaN where it is empty; sums are exact, so that the order of rows does not matter."""
    parts = np.split(y[np.argsort(cell, kind="stable")], np.cumsum(count)[:-1])
    return np.array([_mean(part) if len(part) else np.nan for part in parts])


def _mean(part: Array) -> float:
    try:
        return math.fsum(part) / len(part)
    except OverflowError:  # the sum is beyond the largest float, the mean is not
        return math.fsum(part / len(part))


def _complete(names: NDArray[Any], grid: Mapping[str, Array], missing: str) -> Grid:
    """The names of the data sets to keep, their columns, and what was dropped."""
    labels = np.asarray([str(name) for name in names])
    lost = np.zeros(len(labels), bool)
    for values in grid.values():
        lost |= np.isnan(values)
    if not lost.any() or missing == "error":
        return labels, grid, []
    kept = {name: values[~lost] for name, values in grid.items()}
    facts = {"lost": int(lost.sum()), "of": len(lost), "names": tuple(labels[lost].tolist())}
    return labels[~lost], kept, [Note("data-sets-dropped", facts)]

"""`sample`: draw test items by a design, seeded, and keep what the analysis needs: weights and population sizes."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from strat.base.errors import StratError, one_of, some
from strat.base.text import counted
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, Codes, encode
from strat.base.validate.names import Names
from strat.data.table import Table, read
from strat.planning import stratum_boundaries
from strat.planning.allocation import neyman_counts, proportional_counts
from strat.verbs.label_sampling import at_least, doubt, inclusion_probabilities, mean_doubt, quantile_groups
from strat.verbs.sample_result import Sample

METHODS = ("proportional", "equal", "neyman", "systematic", "simple", "unequal")
CUTS = ("quantiles", "dalenius-hodges")


@checked
def sample(
    source: Any,
    *,
    size: int,
    items: str | None = None,
    strata: str | None = None,
    units: str | None = None,
    method: str = "proportional",
    spread: str | Mapping[Any, float] | None = None,
    order: str | None = None,
    judge: str | None = None,
    bins: int = 5,
    cut: str = "quantiles",
    least: int = 2,
    seed: int = 0,
    na: Names | None = None,
) -> Sample:
    """Draw a sample of items, or of whole units of items, within strata.

    Parameters
    ----------
    source
        The list of all items: whatever :func:`read` takes.
    size
        How many units to draw in all (items, if no `units` are given).
    items
        Column of item names; None: the row numbers.
    strata
        Column of fixed groups; each gets its own sample.
    units
        Column of what is drawn together (passages, repositories); all rows of a drawn unit are taken.
    method
        "proportional" to the strata's sizes, "equal", "neyman" (sizes × spread), "systematic" (every k-th along
        `order` within proportional sizes), "simple" (strata are ignored) or "unequal" (probabilities that follow the
        doubt of `judge`).
    spread
        For "neyman": the standard deviation in each stratum, as a mapping, or a column of earlier scores.
    order
        For "systematic": a column to sort by.
    judge, bins
        To draw rows that people then label: a column with a cheap judgement of every row. Its `bins` quantile groups
        are the strata; with "neyman" and no `spread`, the doubt sqrt(p (1 − p)) of a judge from 0 to 1 is the spread.
    cut
        With `judge`: "quantiles", or "dalenius-hodges" for the cuts of `strat.planning.stratum_boundaries`.
    least
        The fewest units to draw in a stratum (two make a variance); a smaller stratum is taken whole.
    seed
        Draws the same sample again.
    na
        Texts that mark a missing value, in place of "", "NA", "N/A", "NaN", "null", "None", "." and their like.

    Returns
    -------
    Sample
        The drawn rows, with the columns of the table beside the weights; `.analysis()` is the evaluation that fits.

    Examples
    --------
    >>> drawn = sample({"id": range(100), "task": ["a"] * 80 + ["b"] * 20}, size=10, items="id", strata="task")
    >>> {t: int((drawn.stratum == t).sum()) for t in "ab"}
    {'a': 8, 'b': 2}
    >>> drawn.weight.tolist()[0], float(drawn.weight.sum())
    (10.0, 100.0)
    """
    one_of("method", method, METHODS)
    one_of("cut", cut, CUTS)
    if judge is None and cut != CUTS[0]:
        raise StratError.about("cut", f"must be left out without `judge`, got {cut!r}: its scores are what is cut.")
    table = read(source, na=na)
    table.require(items=items, strata=strata, units=units, order=order)
    if size < 1:
        raise StratError.about("size", f"must be a whole number of units, at least 1, got {size!r}.")
    for argument, value in (("least", least), ("seed", seed)):
        if value < 0:
            raise StratError.about(argument, f"must be a whole number, at least 0, got {value!r}.")
    table.require(judge=judge)
    scores = None if judge is None else table.numbers(judge)
    _for_labels(method, scores, strata=strata, units=units)
    if method == "unequal" and scores is not None:
        return _unequal(table, items, scores, size, seed)
    layer = None if strata is None or method == "simple" else table.column(strata)
    if scores is not None and method != "simple":
        layer = quantile_groups(scores, bins) if cut == "quantiles" else _cut_groups(scores, bins)
    frame = _frame(table, units, layer)
    deviations = _deviations(table, method, spread, scores, frame)
    taken = allocate(frame.totals, size, method=method, spread=deviations, least=least)
    place = None if method != "systematic" else _order(table, order, frame.unit, len(table))
    chosen = _draw(frame.home, taken, np.random.default_rng(seed), place)
    rows = np.flatnonzero(np.isin(frame.unit, chosen))
    of_row = frame.stratum[rows]
    return Sample(
        item=_names(table, items)[rows],
        stratum=None if layer is None else layer[rows],
        unit=None if units is None else table.column(units)[rows],
        weight=(frame.totals / np.maximum(taken, 1))[of_row],
        population=frame.totals[of_row].astype(float),
        row=rows.astype(np.int64),
        seed=seed,
        method=method,
        of=len(table),
        probability=None if scores is None else (taken / frame.totals)[of_row],
        order=None if place is None else np.argsort(np.argsort(place, kind="stable"))[frame.unit[rows]],
        about=_about(table, rows, item=items, stratum=strata, unit=units),
    )


def _about(table: Table, rows: Codes, **sources: str | None) -> dict[str, NDArray[Any]]:
    """What the table says of these rows; a column that is added under its own name is not held twice."""
    about = {}
    for name in table.names:
        if sources.get(name) != name:
            with suppress(StratError):  # lists and records are no column of a file
                about[name] = _values(table, name, rows)
    return about


def _values(table: Table, name: str, rows: Codes) -> NDArray[Any]:
    """The values of a column in these rows, None where one is missing."""
    column = table.backend.fetch([name])[0]
    values = column.values[rows]
    if column.missing is not None and column.missing[rows].any():
        values = values.astype(object)
        values[column.missing[rows]] = None
    return values


class _Frame(NamedTuple):
    """The list that is drawn from: the stratum and the unit of each row, the stratum of each unit, and their totals."""

    stratum: Codes
    unit: Codes
    home: Codes
    labels: NDArray[Any]
    totals: NDArray[np.int64]


def _frame(table: Table, units: str | None, layer: NDArray[Any] | None) -> _Frame:
    n = len(table)
    stratum, labels = (np.zeros(n, np.int64), np.array(["all"])) if layer is None else encode("strata", layer)
    unit, home = _units(table, units, stratum, n)
    return _Frame(stratum, unit, home, labels, np.bincount(home, minlength=len(labels)))


def _deviations(table: Table, method: str, spread: Any, scores: Array | None, frame: _Frame) -> Array:
    """The standard deviation in each stratum that Neyman's allocation needs; ones for the others."""
    if method != "neyman":
        return np.ones(len(frame.labels))
    if scores is not None and spread is None:
        return mean_doubt(doubt(scores), frame.stratum)
    return _spread(table, spread, frame.stratum, frame.labels)


def _names(table: Table, items: str | None) -> NDArray[Any]:
    """The name of each row, each of which must be its own."""
    names = np.arange(len(table)) if items is None else table.column(items)
    _once(items, names)
    return names


def _cut_groups(scores: Array, bins: int) -> Codes:
    if bins < 2:
        raise StratError.about("bins", f"must be at least 2, got {bins}.")
    return stratum_boundaries(scores, strata=min(bins, len(np.unique(scores)))).strata(scores)


def _for_labels(method: str, scores: Array | None, **others: str | None) -> None:
    """Refuse what does not go with a judge, and what needs one."""
    if scores is None:
        if method == "unequal":
            raise StratError.about(
                "judge", "must name a column for method='unequal', whose doubt gives the probabilities."
            )
        return
    for argument, value in others.items():
        if value is not None:
            raise StratError.about(
                argument, f"must be left out beside `judge`, got {value!r}: rows are drawn by its score."
            )


def _unequal(table: Table, items: str | None, scores: Array, size: int, seed: int) -> Sample:
    """Rows drawn with probabilities proportional to the judge's doubt, systematically in a random order."""
    n = len(scores)
    if size > n:
        raise StratError.about("size", f"must be at most the number of units there are ({n:,}), got {size:,}.")
    p = inclusion_probabilities(at_least(doubt(scores)), size)
    rng = np.random.default_rng(seed)
    order = rng.permutation(n)
    ends = np.cumsum(p[order])
    marks = rng.random() + np.arange(size)
    rows = np.sort(order[np.minimum(np.searchsorted(ends, marks, side="left"), n - 1)])
    return Sample(
        item=_names(table, items)[rows], stratum=None, unit=None, weight=1.0 / p[rows],
        population=np.full(len(rows), float(n)),
        row=rows.astype(np.int64), seed=seed, method="unequal", of=n, probability=p[rows],
        about=_about(table, rows, item=items),
    )  # fmt: skip


def _once(items: str | None, names: NDArray[Any]) -> None:
    distinct, counts = np.unique(names, return_counts=True)
    if items is not None and (counts > 1).any():
        twice = distinct[counts > 1]
        raise StratError.about(
            "items", f"must name each row once, got {some(twice.tolist(), 3)} again; drop the copies."
        )


def _units(table: Table, units: str | None, stratum: Codes, n: int) -> tuple[Codes, Codes]:
    """The unit of each row, and the stratum of each unit; labels are nested in strata."""
    if units is None:
        return np.arange(n), stratum
    codes, labels = encode("units", table.column(units))
    pairs, unit = np.unique(stratum * len(labels) + codes, return_inverse=True)
    return unit.reshape(-1), pairs // len(labels)


def _spread(table: Table, spread: Any, stratum: Codes, labels: NDArray[Any]) -> Array:
    if spread is None:
        raise StratError.about(
            "spread", "must be given for Neyman allocation: a mapping from stratum, or a column of scores."
        )
    if isinstance(spread, str):
        table.require(spread=spread)
        score = table.numbers(spread)
        with np.errstate(over="ignore", invalid="ignore"):
            sizes = np.bincount(stratum, minlength=len(labels))
            means = np.bincount(stratum, score, minlength=len(labels)) / sizes
            squares = np.bincount(stratum, (score - means[stratum]) ** 2, minlength=len(labels))
            deviations = np.sqrt(squares / sizes)
        if not np.isfinite(deviations).all():
            raise StratError.about(
                "spread", f"must be scores whose squares are finite, got column {spread!r} without them."
            )
        return deviations
    absent = [label for label in labels.tolist() if label not in spread]
    if absent:
        raise StratError.about("spread", f"must name every stratum, {some(absent)} missing.")
    deviations = np.array([float(spread[label]) for label in labels.tolist()])
    if not np.isfinite(deviations).all() or (deviations < 0).any():
        raise StratError.about("spread", f"must be finite and not negative, got {some(deviations)}.")
    return deviations


def allocate(
    totals: NDArray[Any], size: int, *, method: str = "proportional", spread: Array | None = None, least: int = 2
) -> Codes:
    """How many units to draw in each stratum; whole numbers that add up to `size`.

    Neyman's (n_h ∝ N_h S_h) is that of `planning.neyman_allocation`, with the least variance in whole numbers.

    Examples
    --------
    >>> allocate(np.array([80, 20]), 10).tolist()
    [8, 2]
    >>> allocate(np.array([50, 50]), 10, method="neyman", spread=np.array([4.0, 1.0])).tolist()
    [8, 2]
    """
    totals = np.asarray(totals, np.int64)
    floor = np.minimum(least, totals)
    if size > totals.sum():
        raise StratError.about(
            "size", f"must be at most the number of units there are ({totals.sum():,}), got {size:,}."
        )
    if size < floor.sum():
        raise StratError.about(
            "size",
            f"must be at least {floor.sum():,}, which gives each of {counted(len(totals), 'stratum')} {least}, "
            f"got {size:,}.",
        )
    if method == "neyman" and spread is not None:
        return neyman_counts(totals, spread, size, least=least)
    return proportional_counts(np.ones(len(totals)) if method == "equal" else totals, floor, totals, size)


def _order(table: Table, order: str | None, unit: Codes, n: int) -> Array:
    """The place of each unit along the order: that of its first row."""
    column = np.arange(n) if order is None else encode("order", table.column(order))[0]
    first = np.full(int(unit.max()) + 1, np.iinfo(np.int64).max)
    np.minimum.at(first, unit, column)
    return first.astype(float)


def _draw(home: Codes, taken: Codes, rng: np.random.Generator, place: Array | None) -> Codes:
    """The drawn units of every stratum: at random, or every k-th along `place`."""
    order = np.argsort(home, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(home, minlength=len(taken)))])
    chosen = []
    for h, n in enumerate(taken.tolist()):
        members = order[starts[h] : starts[h + 1]]
        if place is None:
            chosen.append(rng.choice(members, size=n, replace=False))
        elif n:
            line = members[np.argsort(place[members], kind="stable")]
            start = rng.random() * len(line) / n
            chosen.append(line[np.floor(start + np.arange(n) * len(line) / n).astype(np.int64)])
    return np.concatenate(chosen)

"""Estimates as lines of numbers: of one estimate, of each group, and of very many groups at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from strat.base.errors import StratError
from strat.base.limits import LIMITS
from strat.base.notes import Note
from strat.base.validate.columns import Array, Codes
from strat.estimation import Estimate
from strat.estimation.facts import Known
from strat.estimation.table import TableValues


def lines_of(estimate: Estimate, level: float) -> dict[str, list[Any]]:
    """The columns of one estimate: a line for each of its values; no limits where there is one unit alone."""
    known = estimate.least_df > 0
    lines = (estimate if known else replace(estimate, df=1.0)).to_dict(level)
    lines.pop("statistic", None)
    if not known:
        lines |= {"low": [None] * estimate.point.size, "high": [None] * estimate.point.size}
    return lines | {"df": np.ravel(estimate.df).tolist()}


def naive_interval(estimate: Estimate, level: float) -> tuple[Any, Any]:
    """The limits that an estimate would have if its rows had been drawn independently of each other.

    The variance is that of a simple random sample of as many rows: the reference of the design effect. Not a number
    where the measure has none.

    Examples
    --------
    >>> import strat
    >>> design = strat.Design.clustered(units=[1, 1, 1, 2, 2, 2, 3, 3, 3])
    >>> correct = strat.estimate(strat.proportion([1, 1, 1, 0, 0, 0, 1, 1, 1]), on=design)
    >>> [round(limit, 3) for limit in naive_interval(correct, 0.95)]
    [0.262, 0.919]
    """
    if estimate.inference.srs is None or not np.isfinite(estimate.srs_variance).all():
        return float("nan"), float("nan")
    units = estimate.rows if estimate.proportion else estimate.effective_units
    rows_alone = estimate.changed(variance=estimate.srs_variance, df=max(estimate.rows - 1, 1), effective_units=units)
    return rows_alone.interval(level)


def lines_with_class(estimate: Estimate, level: float) -> dict[str, list[Any]]:
    """The columns of one estimate, with the positive class."""
    lines, n = lines_of(estimate, level), estimate.point.size
    lines.setdefault("deff", [None] * n)
    return lines | {"positive": [estimate.positive] * n}


def lines_of_estimate(estimate: Estimate, level: float) -> dict[str, list[Any]]:
    """The same, with what independent rows would have given."""
    lines, n = lines_with_class(estimate, level), estimate.point.size
    low, high = naive_interval(estimate, level) if estimate.least_df > 0 else (np.nan, np.nan)
    naive = {"naive_low": low, "naive_high": high}
    return lines | {name: np.broadcast_to(np.ravel(side), n).tolist() for name, side in naive.items()}


@dataclass(frozen=True, eq=False)
class ManyEstimates(Mapping[Any, Estimate]):
    """Estimates of very many groups: their numbers at hand, each estimate made when somebody asks for it.

    Attributes
    ----------
    labels
        The groups with a value.
    parts
        Places in `labels`, and the values there.
    make
        From a group's label to its estimate.
    """

    labels: tuple[Any, ...]
    parts: tuple[tuple[Codes, TableValues], ...]
    make: Callable[[Any], Estimate]
    known: dict[float, dict[str, list[Any]]] = field(default_factory=dict, repr=False)

    def __getitem__(self, label: Any) -> Estimate:
        """The estimate of a group."""
        return self.make(label)

    def __getstate__(self) -> dict[str, Any]:
        """With the estimates themselves, for another process, or without those of very many groups."""
        few = len(self) <= LIMITS.compared_groups
        return {**vars(self), "make": dict(self).__getitem__ if few else _not_kept}

    def __iter__(self) -> Iterator[Any]:
        """The groups."""
        return iter(self.labels)

    def __len__(self) -> int:
        """Number of groups."""
        return len(self.labels)

    def numbers(self, name: str) -> Array:
        """A column of the values: "point", "variance", "df", "units" or "srs"."""
        numbers = np.empty(len(self.labels))
        for place, values in self.parts:
            numbers[place] = getattr(values, name)
        return numbers

    def cautions(self) -> Iterator[tuple[Note, tuple[Any, ...]]]:
        """Each kind of note with the groups that it is on, the figures those of the first of them."""
        on: dict[str, list[Codes]] = {}
        for place, values in self.parts:
            for code, mask in values.cautions.items():
                on.setdefault(code, []).append(place[mask])
        first = {code: np.sort(np.concatenate(places)) for code, places in on.items() if sum(map(len, places))}
        for k in dict.fromkeys(sorted(int(places[0]) for places in first.values())):
            for note in self[self.labels[k]].notes:
                if note.code in first and first[note.code][0] == k:
                    yield note, tuple(self.labels[place] for place in first.pop(note.code))

    def columns(self, level: float) -> dict[str, list[Any]]:
        """The numbers of all groups: those of `lines_of_estimate`, a line for each group."""
        if level not in self.known:
            self.known[level] = self._columns(level)
        return self.known[level]

    def _columns(self, level: float) -> dict[str, list[Any]]:
        names = ("estimate", "se", "low", "high", "df", "deff", "naive_low", "naive_high")
        table = {name: np.empty(len(self.labels)) for name in names}
        for place, v in self.parts:
            numbers = (v.point, v.se, *v.limits(level), v.df, v.deff, *v.naive(level))
            for name, column in zip(names, numbers, strict=True):
                table[name][place] = column
        columns: dict[str, list[Any]] = {name: column.tolist() for name, column in table.items()}
        alone = np.flatnonzero(table["df"] <= 0)
        for name in ("low", "high"):
            for k in alone:
                columns[name][k] = None
        return columns | {"positive": [self.parts[0][1].measure.positive] * len(self.labels)}


def _not_kept(label: Any) -> Estimate:
    raise StratError(f"the group {label!r} has no estimate of its own here: those of very many groups do not travel.")


@dataclass(frozen=True, eq=False)
class LaterEstimates(Mapping[Any, Estimate]):
    """Estimates of groups that are made when they are first used.

    Attributes
    ----------
    make
        Makes them.
    """

    make: Callable[[], Mapping[Any, Estimate]]

    @cached_property
    def estimates(self) -> Mapping[Any, Estimate]:
        """The estimates."""
        return self.make()

    def __getitem__(self, label: Any) -> Estimate:
        """The estimate of a group."""
        return self.estimates[label]

    def __iter__(self) -> Iterator[Any]:
        """The groups."""
        return iter(self.estimates)

    def __len__(self) -> int:
        """Number of groups."""
        return len(self.estimates)

    def __getstate__(self) -> dict[str, Any]:
        """With the estimates themselves, for another process."""
        return {"make": Known(self.estimates)}


def records_of(
    each: Mapping[Any, Estimate],
    level: float,
    lines: Callable[[Estimate, float], dict[str, list[Any]]] = lines_of_estimate,
) -> Iterator[tuple[Any, dict[str, Any]]]:
    """A label and its line of numbers, for each value of each group; `lines` are the columns of one estimate."""
    if isinstance(each, LaterEstimates):
        each = each.estimates
    if isinstance(each, ManyEstimates):
        some = next(iter(each.values()), None)
        names = [] if some is None else lines(some, level)
        columns = {name: each.columns(level)[name] for name in names}
        for label, row in zip(each.labels, zip(*columns.values(), strict=True), strict=True):
            yield label, dict(zip(columns, row, strict=True))
        return
    for label, estimate in each.items():
        columns = lines(estimate, level)
        for row in zip(*columns.values(), strict=True):
            yield label, dict(zip(columns, row, strict=True))

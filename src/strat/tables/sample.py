"""`sample`: draw test items by a design, seeded, and keep what the analysis needs: weights and population sizes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.columns import Array, Codes, encode
from strat.doors import checked
from strat.errors import StratError, one_of, some
from strat.notebook import in_words
from strat.tables import out
from strat.tables.out import Sheet
from strat.tables.table import Table, read
from strat.words import counted

METHODS = ("proportional", "equal", "neyman", "systematic", "simple")


@in_words
@dataclass(frozen=True, eq=False)
class Sample:
    """Items that were drawn, with what their analysis needs.

    Attributes
    ----------
    item, stratum, unit
        Labels of the drawn rows; `stratum` and `unit` are None when there are none.
    weight
        How many rows of the whole each drawn row stands for, N_h / n_h.
    population
        For each row, the number of units in its stratum of the whole.
    row
        The place of each drawn row in the table, from 0.
    seed
        The seed that draws the same sample again.
    method
        How units were allocated to strata.
    """

    item: NDArray[Any]
    stratum: NDArray[Any] | None
    unit: NDArray[Any] | None
    weight: Array
    population: Array
    row: Codes
    seed: int
    method: str
    of: int

    def __len__(self) -> int:
        """Number of rows drawn."""
        return len(self.item)

    def columns(self) -> dict[str, NDArray[Any]]:
        """The drawn rows with their weights, by name."""
        named = {
            "item": self.item,
            "stratum": self.stratum,
            "unit": self.unit,
            "weight": self.weight,
            "population": self.population,
            "row": self.row,
        }
        return {name: values for name, values in named.items() if values is not None}

    def to_frame(self, library: str | None = None) -> Any:
        """The drawn rows as a frame of `library` (pandas, polars or pyarrow)."""
        return out.frame_of(self.columns(), library)

    def sheet(self) -> Sheet:
        """The drawn rows as a table."""
        columns = {name: values.tolist() for name, values in self.columns().items()}
        rows = list(zip(*columns.values(), strict=True))
        return Sheet(
            "strat/sample/1",
            list(columns),
            rows,
            title=str(self),
            notes=self.notes,
            data={**columns, "seed": self.seed},
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """How to analyse what was drawn."""
        roles = [f"{o}={n!r}" for o, n in (("strata", "stratum"), ("units", "unit")) if n in self.columns()]
        roles += ["weights='weight'", "population='population'"]
        return (
            f"analyse with {', '.join(roles)}: the estimate and its interval then answer for the whole benchmark",
            f"seed {self.seed} draws the same items again",
        )

    def to_csv(self) -> str:
        """Comma-separated values."""
        return out.csv_text(self.sheet())

    def to_lm_eval(self) -> str:
        """JSON for `lm_eval --samples`: from the task (the stratum) to the documents' numbers."""
        tasks = np.full(len(self), "task") if self.stratum is None else self.stratum
        chosen: dict[str, list[int]] = {}
        for task, item, row in zip(tasks.tolist(), self.item.tolist(), self.row.tolist(), strict=True):
            chosen.setdefault(str(task), []).append(_document(item, row))
        return json.dumps({task: sorted(ids) for task, ids in sorted(chosen.items())})

    def to_inspect(self) -> str:
        """The list for `inspect eval --sample-id`."""
        bad = [item for item in map(str, self.item.tolist()) if "," in item]
        if bad:
            raise StratError(f"`item` must hold no comma for --sample-id, got {some(bad, 2)}; rename these items.")
        return ",".join(str(item) for item in self.item.tolist())

    def __str__(self) -> str:
        """What was drawn, in one line."""
        where = "" if self.stratum is None else f" in {counted(len(np.unique(self.stratum)), 'stratum')}"
        units = "" if self.unit is None else f", {counted(len(np.unique(self.unit)), 'unit')}"
        return f"{len(self):,} of {counted(self.of, 'item')}{units}{where}, {self.method} allocation, seed {self.seed}"


def _document(item: Any, row: int) -> int:
    """lm-evaluation-harness counts documents of a task from 0: `task/7` and `7` are document 7."""
    tail = str(item).rsplit("/", 1)[-1]
    if not tail.isdecimal():
        raise StratError(f"`items` must be document numbers for --samples, got {str(item)!r}; use the doc_id column.")
    return int(tail)


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
    least: int = 2,
    seed: int = 0,
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
        `order` within proportional sizes) or "simple" (strata are ignored).
    spread
        For "neyman": the standard deviation in each stratum, as a mapping, or a column of earlier scores.
    order
        For "systematic": a column to sort by.
    least
        The fewest units to draw in a stratum (two make a variance); a smaller stratum is taken whole.
    seed
        Draws the same sample again.

    Examples
    --------
    >>> drawn = sample({"id": range(100), "task": ["a"] * 80 + ["b"] * 20}, size=10, items="id", strata="task")
    >>> {t: int((drawn.stratum == t).sum()) for t in "ab"}
    {'a': 8, 'b': 2}
    >>> drawn.weight.tolist()[0], float(drawn.weight.sum())
    (10.0, 100.0)
    """
    one_of("method", method, METHODS)
    table = read(source)
    table.require(items=items, strata=strata, units=units, order=order)
    if size < 1:
        raise StratError(f"`size` must be a whole number of units, at least 1, got {size!r}.")
    for argument, value in (("least", least), ("seed", seed)):
        if value < 0:
            raise StratError(f"`{argument}` must be a whole number, at least 0, got {value!r}.")
    n = len(table)
    layer = None if strata is None or method == "simple" else table.column(strata)
    stratum, labels = (np.zeros(n, np.int64), np.array(["all"])) if layer is None else encode("strata", layer)
    unit, home = _units(table, units, stratum, n)
    totals = np.bincount(home, minlength=len(labels))
    share = _spread(table, spread, stratum, labels) if method == "neyman" else np.ones(len(labels))
    taken = allocate(totals, size, method=method, spread=share, least=least)
    rng = np.random.default_rng(seed)
    place = None if method != "systematic" else _order(table, order, unit, n)
    chosen = _draw(home, taken, rng, place)
    rows = np.flatnonzero(np.isin(unit, chosen))
    of_row = stratum[rows]
    names = np.arange(n) if items is None else table.column(items)
    _once(items, names)
    return Sample(
        item=names[rows],
        stratum=None if layer is None else layer[rows],
        unit=None if units is None else table.column(units)[rows],
        weight=(totals / np.maximum(taken, 1))[of_row],
        population=totals[of_row].astype(float),
        row=rows.astype(np.int64),
        seed=seed,
        method=method,
        of=n,
    )


def _once(items: str | None, names: NDArray[Any]) -> None:
    distinct, counts = np.unique(names, return_counts=True)
    if items is not None and (counts > 1).any():
        twice = distinct[counts > 1]
        raise StratError(f"`items` must name each row once, got {some(twice.tolist(), 3)} again; drop the copies.")


def _units(table: Table, units: str | None, stratum: Codes, n: int) -> tuple[Codes, Codes]:
    """The unit of each row, and the stratum of each unit; labels are nested in strata."""
    if units is None:
        return np.arange(n), stratum
    codes, labels = encode("units", table.column(units))
    pairs, unit = np.unique(stratum * len(labels) + codes, return_inverse=True)
    return unit.reshape(-1), pairs // len(labels)


def _spread(table: Table, spread: Any, stratum: Codes, labels: NDArray[Any]) -> Array:
    if spread is None:
        raise StratError("`spread` must be given for Neyman allocation: a mapping from stratum, or a column of scores.")
    if isinstance(spread, str):
        table.require(spread=spread)
        score = table.numbers(spread)
        with np.errstate(over="ignore", invalid="ignore"):
            made = np.array([float(np.std(score[stratum == h])) for h in range(len(labels))])
        if not np.isfinite(made).all():
            raise StratError(f"`spread` must be scores whose squares are finite, got column {spread!r} without them.")
        return made
    absent = [label for label in labels.tolist() if label not in spread]
    if absent:
        raise StratError(f"`spread` must name every stratum, {some(absent)} missing.")
    made = np.array([float(spread[label]) for label in labels.tolist()])
    if not np.isfinite(made).all() or (made < 0).any():
        raise StratError(f"`spread` must be finite and not negative, got {some(made)}.")
    return made


def allocate(
    totals: NDArray[Any], size: int, *, method: str = "proportional", spread: Array | None = None, least: int = 2
) -> Codes:
    """How many units to draw in each stratum; whole numbers that add up to `size`.

    Neyman: n_h ∝ N_h S_h (Cochran 5.5), never more than N_h, what is left over goes to the other strata.

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
        raise StratError(f"`size` must be at most the number of units there are ({totals.sum():,}), got {size:,}.")
    if size < floor.sum():
        raise StratError(
            f"`size` must be at least {floor.sum():,}, which gives each of {counted(len(totals), 'stratum')} {least}, "
            f"got {size:,}."
        )
    if method == "equal":
        wish = np.ones(len(totals))
    elif method == "neyman" and spread is not None and (totals * spread).sum() > 0:
        wish = totals * spread
    else:
        wish = totals.astype(float)
    return _whole(_capped(wish, floor.astype(float), totals.astype(float), float(size)), floor, totals, size)


def _capped(wish: Array, floor: Array, top: Array, size: float) -> Array:
    """Shares in proportion to `wish` within [floor, top], found by bisection on the factor."""
    wish = np.maximum(wish, 1e-12 * max(float(wish.max()), 1.0))
    low, high = 0.0, float((top / wish).max()) + 1.0
    for _ in range(200):
        middle = (low + high) / 2
        if np.clip(middle * wish, floor, top).sum() < size:
            low = middle
        else:
            high = middle
    return np.asarray(np.clip(high * wish, floor, top))


def _whole(ideal: Array, floor: NDArray[Any], top: NDArray[Any], size: int) -> Codes:
    """The nearest whole numbers with the right sum: largest remainders first, ties in order."""
    made = np.clip(np.floor(ideal + 1e-9).astype(np.int64), floor, top)
    while made.sum() != size:
        step = 1 if made.sum() < size else -1
        room = made < top if step > 0 else made > floor
        gain = np.where(room, step * (ideal - made), -np.inf)
        made[int(np.argmax(gain))] += step
    return made


def _order(table: Table, order: str | None, unit: Codes, n: int) -> Array:
    """The place of each unit along the order: that of its first row."""
    column = np.arange(n) if order is None else encode("order", table.column(order))[0]
    first = np.full(int(unit.max()) + 1, np.iinfo(np.int64).max)
    np.minimum.at(first, unit, column)
    return first.astype(float)


def _draw(home: Codes, taken: Codes, rng: np.random.Generator, place: Array | None) -> Codes:
    chosen = []
    for h, n in enumerate(taken):
        members = np.flatnonzero(home == h)
        if place is None:
            chosen.append(rng.choice(members, size=int(n), replace=False))
        elif n:
            line = members[np.argsort(place[members], kind="stable")]
            start = rng.random() * len(line) / n
            chosen.append(line[np.floor(start + np.arange(n) * len(line) / n).astype(np.int64)])
    return np.concatenate(chosen)

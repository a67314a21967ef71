"""`Board`: one row per item with the label or score of every system, from a wide table or from a table of items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.base.errors import StratError, near, one_of, some
from strat.base.notes import Note
from strat.base.text import counted
from strat.base.validate.columns import Array, Codes, encode
from strat.data.column import Column, alike, all_marks, all_notes, dropped_note
from strat.data.logs import ItemTable
from strat.data.table import Table, missing_message
from strat.designs.from_columns import argument_of, is_drawn
from strat.designs.sampling import BY_STRATUM
from strat.measures import Axis, Statistic, accuracy, mean, stack
from strat.measures.register import Measure, labels_of
from strat.verbs.decisions import two_classes
from strat.verbs.metrics import single

AMOUNT = "amount"  # the measure of what is spent: a mean without an upper end


@dataclass(frozen=True, eq=False)
class Board:
    """Rows × systems, with what a measure and the design of the rows need.

    Attributes
    ----------
    systems
        Names, sorted.
    values
        What each system predicted or scored, row by row.
    role
        Whether the values are "predicted" labels or numbers, "score".
    decided
        The labels that a threshold makes of the scores; None without one.
    columns
        From a role (truth, strata, units, items, weights, population, by_0, …) to its column.
    about
        Further columns, which are looked through for clusters.
    names
        From a role to the name of its column.
    notes
        What did not match, what was averaged or dropped.
    library
        The data frame library that the rows came in.
    counts
        How many equal rows each row stands for; None: one each.
    """

    systems: tuple[str, ...]
    values: tuple[NDArray[Any], ...]
    role: str
    columns: Mapping[str, NDArray[Any]]
    about: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    names: Mapping[str, str | None] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    library: str | None = None
    decided: tuple[NDArray[Any], ...] | None = None
    counts: Array | None = None

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.values[0])

    @property
    def drawn(self) -> dict[str, NDArray[Any]]:
        """The columns that a design is made of."""
        return {role: column for role, column in self.columns.items() if is_drawn(role) or role in BY_STRATUM}

    @property
    def mass(self) -> Array | None:
        """What each row weighs: its weight, or how many rows it stands for."""
        return self.columns.get("weights", self.counts)

    @property
    def predicted(self) -> tuple[NDArray[Any], ...] | None:
        """The labels of each system, as predicted or as decided by a threshold; None for scores alone."""
        return self.values if self.role == "predicted" else self.decided

    @property
    def labels(self) -> tuple[Any, ...] | None:
        """All labels of the truth and of every system: they decide whether a measure looks at one class."""
        return None if self.predicted is None else labels_of(self.columns["truth"], *self.predicted)

    def take(self, rows: Codes) -> Board:
        """The board of these rows."""
        return replace(
            self,
            values=tuple(one[rows] for one in self.values),
            decided=None if self.decided is None else tuple(one[rows] for one in self.decided),
            columns={role: column[rows] for role, column in self.columns.items()},
            counts=None if self.counts is None else self.counts[rows],
        )

    def ordered(self, order: Sequence[int]) -> Board:
        """The same board with its systems in another order."""
        return replace(
            self,
            systems=tuple(self.systems[k] for k in order),
            values=tuple(self.values[k] for k in order),
            decided=None if self.decided is None else tuple(self.decided[k] for k in order),
        )

    def with_threshold(self, threshold: float, positive: object) -> Board:
        """The board with labels, too: positive where a score is at least the threshold."""
        classes = two_classes(self.columns["truth"], positive)
        return replace(self, decided=tuple(classes[(one >= threshold).astype(np.int64)] for one in self.values))

    def inputs(self, k: int) -> dict[str, NDArray[Any]]:
        """What a measure of system k is made from, beside the truth."""
        inputs = {self.role: self.values[k]}
        return inputs if self.decided is None else inputs | {"predicted": self.decided[k]}


def joint(board: Board, metric: Measure, *, labels: tuple[Any, ...] | None, positive: object) -> Statistic:
    """The measure of every system as one statistic, so that the covariance between them is kept."""
    kind = metric.name
    if kind == "accuracy" and board.predicted is not None:
        each = [accuracy(board.columns["truth"], one) for one in board.predicted]
        right = np.stack([one.rows[0].codes for one in each], axis=1, dtype=np.float64)  # type: ignore[misc]
        notes = tuple(dict.fromkeys(note for one in each for note in one.notes))
        return replace(_means(right, "accuracy", board.systems), notes=notes)
    if kind == "mean":
        return _means(np.stack(board.values, axis=1, dtype=float, casting="unsafe"), "mean score", board.systems)
    if kind == AMOUNT:
        amounts = mean(np.stack(board.values, axis=1, dtype=float))
        positive_only = bool((amounts.value(board.mass) > 0).all())
        spent = replace(amounts, axes=(Axis("system", board.systems),), split=None)
        return replace(spent, link="log", bounds=(0.0, np.inf)) if positive_only else spent
    shared: dict[str, Any] = {"truth": board.columns.get("truth"), "items": board.columns.get("items")}
    shared |= {"positive": positive, "labels": labels}
    parts = [single(metric, metric.build({**shared, **board.inputs(k)})) for k in range(len(board.systems))]
    return stack("system", **dict(zip(board.systems, parts, strict=True)))


def _means(scores: Array, name: str, systems: tuple[str, ...]) -> Statistic:
    statistic = replace(mean(scores), name=name, axes=(Axis("system", systems),), split=None)
    if not ((scores >= 0).all() and (scores <= 1).all()):
        return statistic
    share = bool(((scores == 0.0) | (scores == 1.0)).all())
    return replace(statistic, link="logit", bounds=(0.0, 1.0), proportion=share)


# ---- from a wide table


def of_columns(table: Table, systems: Sequence[str], role: str, roles: Mapping[str, str | None], missing: str) -> Board:
    """The board of a table with a column for each system; `roles` names the other columns."""
    twice = [name for k, name in enumerate(systems) if name in systems[:k]]
    if len(systems) < 2:
        raise StratError.about(role, f"must name at least two systems' columns, got {some(systems)}.")
    if twice:
        raise StratError.about(role, f"must name each system once, got {twice[0]!r} twice.")
    for name in systems:
        table.require(**{role: name})
    used = {key: name for key, name in roles.items() if name is not None}
    for key, name in used.items():
        table.require(**{argument_of(key): name})
    columns = {c.name: c for c in table.backend.fetch(list(dict.fromkeys([*systems, *used.values()])))}
    for name in [*(systems if role == "score" else ()), *([used["weights"]] if "weights" in used else [])]:
        columns[name] = columns[name].numbers()
    if role == "predicted":
        columns |= {c.name: c for c in alike([columns[name] for name in [used["truth"], *systems]])}
    keep, notes = _complete(columns, missing, table.source)
    order = sorted(systems)
    return Board(
        systems=tuple(order),
        values=tuple(columns[name].values[keep] for name in order),
        role=role,
        columns={key: columns[name].values[keep] for key, name in used.items()},
        names=roles,
        notes=(*notes, *all_notes(columns.values())),
        library=table.library,
    )


def _complete(columns: Mapping[str, Column], missing: str, source: str) -> tuple[NDArray[np.bool_], tuple[str, ...]]:
    """Which rows have all values, and the note on the others."""
    one_of("missing", missing, ("error", "drop"))
    lost = {c.name: c.lost for c in columns.values() if c.lost}
    n = len(next(iter(columns.values())))
    if not lost:
        return np.ones(n, bool), ()
    if missing == "error":
        raise StratError(missing_message(lost, source, all_marks(columns.values())))
    keep = ~np.any([c.missing for c in columns.values() if c.missing is not None], axis=0)
    return keep, (dropped_note(int((~keep).sum()), all_marks(columns.values())),)


# ---- from scores of systems on items


def of_items(table: ItemTable, unmatched: str, roles: Mapping[str, str], metric: Measure | None = None) -> Board:
    """The board of the items that every system has; `roles` names further columns of the items.

    Repeats are averaged, or become the value of a measure of repeats for each item, such as "pass@3".
    """
    system, systems = encode("system", table.system)
    item, labels = encode("items", table.items)
    cell = item * len(systems) + system
    size = len(labels) * len(systems)
    tries = np.bincount(cell, minlength=size).reshape(len(labels), len(systems))
    sums = np.bincount(cell, table.score, minlength=size).reshape(tries.shape)
    whole = np.asarray((tries > 0).all(axis=1))
    notes = [*table.notes, *_unmatched(tries, labels, [str(s) for s in systems], unmatched)]
    notes += _repeats(tries) if metric is None else []
    first = np.empty(len(labels), np.int64)
    first[item[::-1]] = np.arange(len(item))[::-1]
    columns = _of_items(table, roles)
    check_constant(table, columns, item, first)
    if metric is None:
        scores = sums[whole] / tries[whole]
    else:
        scores = _of_repeats(metric, table.score, cell, tries)[whole]
    return Board(
        systems=tuple(str(s) for s in systems),
        values=tuple(scores.T),
        role="score",
        columns={role: values[first][whole] for role, values in columns.items()},
        about={name: values[first][whole] for name, values in table.about.items() if name != "task"},
        names={role: role for role in columns},
        notes=tuple(notes),
    )


def _of_repeats(metric: Measure, score: Array, cell: Codes, tries: NDArray[Any]) -> Array:
    """The measure of each item and system by itself: that of the rows which are its repeats."""
    kept = tries.reshape(-1)[cell] > 0
    statistic = metric.build({"score": score[kept], "items": cell[kept]})
    # of a mean over items: each row has its part of the item's value, and of the item
    top, bottom = np.asarray(statistic.rows[0].values).T
    values = np.bincount(cell[kept], top, minlength=tries.size)
    parts = np.bincount(cell[kept], bottom, minlength=tries.size)
    with np.errstate(invalid="ignore"):
        return np.asarray((values / parts).reshape(tries.shape))


def _of_items(table: ItemTable, roles: Mapping[str, str]) -> dict[str, NDArray[Any]]:
    """The columns of the items by role."""
    known = {**table.columns(), **table.about}
    columns = {role: known[role] for role in ("strata", "units", "weights") if getattr(table, role) is not None}
    for role, name in roles.items():
        if name not in known:
            raise StratError(
                f"`{argument_of(role)}` must be a field of the items, got {name!r}; {near(name, list(known))}"
            )
        columns[role] = known[name]
    return columns


def _repeats(tries: NDArray[Any]) -> list[str]:
    least, most = int(tries[tries > 0].min()), int(tries.max())
    if most == 1:
        return []
    text = f"{most if least == most else f'{least} to {most}'} tries of each item averaged per system: limits of one "
    text += "system are those of its items' means, and may differ a little from those of `evaluate`, which counts tries"
    return [Note("repeats-averaged", text)]


def _unmatched(tries: NDArray[Any], items: NDArray[Any], systems: Sequence[str], unmatched: str) -> list[str]:
    lost = np.asarray((tries == 0).any(axis=1))
    left, common = int(lost.sum()), int((~lost).sum())
    if not left:
        return []
    lacking = {s: int((tries[:, k] == 0).sum()) for k, s in enumerate(systems) if (tries[:, k] == 0).any()}
    counts = ", ".join(f"{s} lacks {n:,}" for s, n in sorted(lacking.items(), key=lambda kv: -kv[1])[:4])
    if unmatched == "common" and common:
        text = f"compared on the {counted(common, 'item')} that all systems have; {left:,} left out ({counts})"
        return [Note("items-left-out", text)]
    way_out = (
        f"choose unmatched='common' (command line: --unmatched common) to compare on the other {common:,}"
        if common
        else "no item is common to all: see whether items have the same names everywhere, or leave systems out"
    )
    raise StratError(
        f"every system must be scored on the same items, but {left:,} of {counted(len(lost), 'item')} lack some system "
        f"({counts}; such items are {some(items[lost].tolist(), 3)}); {way_out}."
    )


def check_constant(table: ItemTable, columns: Mapping[str, NDArray[Any]], item: Codes, first: Codes) -> None:
    """What belongs to an item must be the same wherever it occurs."""
    for role, values in columns.items():
        other = values[first][item]
        if (values != other).any():
            i = int(np.flatnonzero(values != other)[0])
            raise StratError(
                f"`{argument_of(role)}` must be the same for an item in every row, got {values[i]!s} and {other[i]!s} "
                f"for item {table.items[i]!s}."
            )

"""Tables of one system each, joined on the item; and a long table of labels as such parts."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from strat.base.errors import StratError, one_of, some
from strat.base.notes import Note
from strat.base.text import counted
from strat.base.validate.names import Names
from strat.data.backends import Arrays
from strat.data.column import dropped_note
from strat.data.files import once
from strat.data.table import Table, read

UNMATCHED = ("error", "common")


@dataclass(frozen=True, eq=False)
class Joined:
    """One row per item, one column per system.

    Attributes
    ----------
    table
        The columns by name: the items, the shared ones, and one for each system.
    systems
        Names of the systems' columns.
    notes
        Which rows were dropped, which items do not match.
    """

    table: dict[str, Any]
    systems: tuple[str, ...]
    notes: tuple[Note, ...]


def tables_of(source: Any, names: Sequence[str] | None) -> dict[str, Any] | None:
    """From system to its table, where `source` holds one for each; None where it is a single table.

    A list of files is taken as one for each system; a list of frames needs names.
    """
    if isinstance(source, Mapping) and source and all(_is_table(part) for part in source.values()):
        if names is not None:
            raise StratError.about("name", "must be left out where `source` is a mapping, whose keys are the names.")
        return {str(name): part for name, part in source.items()}
    if not isinstance(source, list | tuple) or len(source) < 2 or not all(_is_table(part) for part in source):
        return None
    files = [isinstance(part, str | os.PathLike) for part in source]
    if names is None and not all(files):
        raise StratError.about(
            "source", 'must name the systems of several frames: give a mapping such as {"old": a, "new": b}, or `name`.'
        )
    return dict(zip(_names(source) if names is None else _given(names, source), source, strict=True))


def _is_table(part: Any) -> bool:
    return isinstance(part, str | os.PathLike | Mapping | Table) or hasattr(part, "columns")


def _given(names: Sequence[str], source: Sequence[Any]) -> Sequence[str]:
    if len(names) != len(source) or len(set(names)) < len(names):
        raise StratError.about(
            "name", f"must have one name for each of the {len(source)} tables, all different, got {some(names)}."
        )
    return names


def _names(files: Sequence[Any]) -> list[str]:
    stems = [Path(file).name.split(".")[0] for file in files]
    return stems if len(set(stems)) == len(stems) else [str(file) for file in files]


def join(
    parts: Mapping[str, Any],
    *,
    items: str,
    value: str,
    shared: Sequence[str] = (),
    unmatched: str = "error",
    missing: str = "error",
    na: Names | None = None,
) -> Joined:
    """One wide table of one table per system, joined on the item.

    Parameters
    ----------
    parts
        From system to its table: whatever :func:`read` takes.
    items, value
        The columns of items and of what each system predicted or scored.
    shared
        Columns that belong to the item, which must be the same in every table.
    unmatched
        Items that some table lacks: "error", or "common" to keep the others.

    Examples
    --------
    >>> old = {"id": [1, 2, 3], "guess": ["a", "b", "b"]}
    >>> new = {"id": [3, 1, 2], "guess": ["a", "a", "b"]}
    >>> joined = join({"old": old, "new": new}, items="id", value="guess")
    >>> joined.table["new"].tolist()
    ['a', 'b', 'a']
    """
    one_of("unmatched", unmatched, UNMATCHED)
    once([Path(part) for part in parts.values() if isinstance(part, str | os.PathLike) and Path(part).is_file()])
    columns: dict[str, dict[str, Any]] = {}
    notes: list[Note] = []
    for name, part in parts.items():
        table = read(part, na=na)
        table.require(items=items)
        columns[name] = table.columns([items, value, *shared], missing=missing)
        notes += _dropped(name, len(table) - len(columns[name][items])) if missing == "drop" else []
        _once(columns[name][items], name)
    common = set.intersection(*(set(part[items].tolist()) for part in columns.values()))
    extra = {name: sorted(set(part[items].tolist()) - common) for name, part in columns.items()}
    notes += _unmatched(extra, len(common), unmatched)
    keys = np.array(sorted(common), dtype=next(iter(columns.values()))[items].dtype)
    table_of: dict[str, Any] = {items: keys}
    taken = {items, *shared}
    systems = {name: f"{name} (system)" if name in taken else name for name in columns}
    for name, part in columns.items():
        order = np.argsort(part[items], kind="stable")
        rows = order[np.searchsorted(part[items][order], keys)]
        table_of[systems[name]] = part[value][rows]
        for column in shared:
            if column != items:
                _agree(table_of, column, part[column][rows], keys, name)
    return Joined(table_of, tuple(systems.values()), tuple(notes))


def by_system(table: Table, system: str, columns: Sequence[str], *, missing: str) -> tuple[dict[str, Any], list[Note]]:
    """The rows of each system of a long table as a table of its own, and what was dropped."""
    table.require(system=system)
    values = table.columns([system, *columns], missing=missing)
    dropped = len(table) - len(values[system])
    notes: list[Note] = [dropped_note(dropped, {})] if missing == "drop" and dropped else []
    parts = {}
    for name in np.unique(values[system]).tolist():
        rows = values[system] == name
        data = {column: values[column][rows] for column in columns}
        parts[str(name)] = Table(tuple(data), f"the rows of {name}", Arrays(data))
    return parts, notes


def _dropped(name: str, rows: int) -> list[Note]:
    return [dropped_note(rows, {}).of(file=name)] if rows else []


def _agree(table: dict[str, Any], column: str, values: Any, keys: Any, name: str) -> None:
    if column in table and (table[column] != values).any():
        k = int(np.flatnonzero(table[column] != values)[0])
        raise StratError(
            f"`{column}` must be the same for an item in every table, got {table[column][k]!s} and {values[k]!s} "
            f"for item {keys[k]!s} in {name}."
        )
    table.setdefault(column, values)


def _once(keys: Any, name: str) -> None:
    distinct, count = np.unique(keys, return_counts=True)
    if (count > 1).any():
        raise StratError.about(
            "items",
            f"must name each row of {name} once, got repeats of {some(distinct[count > 1], 3)} "
            f"({counted(int((count > 1).sum()), 'item')}); for repeats, score each row, put all systems into one long "
            "table and give `epoch`.",
        )


def _unmatched(extra: Mapping[str, list[Any]], common: int, unmatched: str) -> list[Note]:
    if not any(extra.values()):
        return []
    if unmatched == "common" and common:
        numbers = tuple((name, len(keys)) for name, keys in extra.items() if keys)
        return [Note("items-left-out", {"case": "extra", "common": common, "extra": numbers})]
    counts = ", ".join(f"{n} has {len(k):,} that not every system has" for n, k in extra.items() if k)
    way_out = (
        f"{common:,} are common: choose unmatched='common' (command line: --unmatched common) to compare on these."
        if common
        else "none is common: see whether items have the same names everywhere."
    )
    names = some([item for items in extra.values() for item in items], 3)
    raise StratError(f"every system must have the same items, but {counts} (such items are {names}); {way_out}")

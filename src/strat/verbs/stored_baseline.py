"""Stored baselines: what a system answered to each item, in a JSON file that knows which items these were."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.base.errors import StratError, near, one_of, some
from strat.base.files import atomic
from strat.base.text import counted
from strat.base.validate.arguments import checked, shown
from strat.base.validate.names import Names, listed
from strat.data.logs import ItemTable, read_logs, read_long
from strat.data.logs.reading import is_logs
from strat.data.table import read
from strat.data.untrusted import json_object, possible, read_bytes

SCHEMA = "strat/baseline/2"
OF_ITEMS = ("items", "strata", "units", "weights")  # columns that say the same of an item in the rows of every system


@dataclass(frozen=True, eq=False)
class StoredBaseline:
    """What one system answered to each item.

    Attributes
    ----------
    system
        Its name.
    role
        Whether `values` are "predicted" labels or numbers, "score".
    items, values
        Item by item (and epoch by epoch).
    truth
        The true labels, where there are any.
    epoch
        Which try of its item a value is, where items were repeated.
    """

    system: str
    role: str
    items: list[Any]
    values: list[Any]
    truth: list[Any] | None = None
    epoch: list[int] | None = None

    @property
    def fingerprint(self) -> str:
        """The hash of all that the file holds, in any order of rows."""
        optional = ([None] * len(self.items) if column is None else column for column in (self.truth, self.epoch))
        rows = sorted(map(json.dumps, zip(map(str, self.items), self.values, *optional, strict=True)))
        return "sha256:" + hashlib.sha256(json.dumps([self.system, self.role, rows]).encode()).hexdigest()

    def to_dict(self) -> dict[str, Any]:
        """The content of the file."""
        return {"schema": SCHEMA, "fingerprint": self.fingerprint, **vars(self)}


@checked
def save_baseline(
    source: Any,
    path: str | os.PathLike[str],
    *,
    items: str | None = None,
    truth: str | None = None,
    predicted: str | None = None,
    score: str | None = None,
    system: str | None = None,
    epoch: str | None = None,
    name: str | None = None,
    metrics: str | None = None,
    missing: str = "error",
    na: Names | None = None,
) -> Path:
    """Store what one system answered, to gate candidates against it later without its rows.

    The file is JSON with the schema "strat/baseline/2" and a fingerprint of all that it holds: :func:`gate` refuses it
    where any of that changed. Whoever may write the file can write a fingerprint too, so keep it as you keep your code.

    Parameters
    ----------
    source
        One system's table, a long table with `system`, or logs.
    path
        The file to write.
    items, truth, predicted, score, epoch
        Columns, as for :func:`compare`.
    system
        The column of systems in a long table, of which `name` chooses one.
    name
        What to call the system, or which one to store of several.
    metrics
        The logs' own name of the measure.
    missing, na
        As for :func:`compare`.

    Returns
    -------
    Path
        The file.
    """
    if name is not None and not isinstance(name, str):
        raise StratError.about("name", f"must be a text, got {shown(name)}.")
    if is_logs(source) or system is not None:
        stored = _of_items(_items(source, system, items, score, epoch, metrics, missing, na), name)
    else:
        stored = _of_table(source, items, truth, predicted, score, name, missing, na)
    target = Path(path)
    with atomic(target) as file:
        file.write(json.dumps(stored.to_dict(), ensure_ascii=False).encode(errors="backslashreplace"))
    return target


def _of_table(
    source: Any,
    items: str | None,
    truth: str | None,
    predicted: str | None,
    score: str | None,
    name: str | None,
    missing: str,
    na: Names | None,
) -> StoredBaseline:
    if items is None:
        raise StratError.about("items", "must name the column of items, by which a candidate is paired, got None.")
    if (predicted is None) == (score is None):
        raise StratError.about("predicted", "or `score` must name the column to store, and not both.")
    role, value = ("predicted", str(predicted)) if predicted is not None else ("score", str(score))
    columns = read(source, na=na).columns([items, value, *([] if truth is None else [truth])], missing=missing)
    stored = StoredBaseline(
        name or value,
        role,
        columns[items].tolist(),
        columns[value].tolist(),
        None if truth is None else columns[truth].tolist(),
    )
    _once(stored.items)
    return stored


def _items(
    source: Any, system: Any, items: Any, score: Any, epoch: Any, metrics: Any, missing: str, na: Any
) -> ItemTable:
    if is_logs(source):
        return read_logs(source, metrics=metrics, na=na)
    return read_long(source, system=system, items=items, score=score, epoch=epoch, missing=missing, na=na)


def _of_items(table: ItemTable, name: str | None) -> StoredBaseline:
    system, rows = _one_system(table, name, "name", "say which system to store")
    epoch = None if table.epoch is None else table.epoch[rows].tolist()
    return StoredBaseline(system, "score", table.items[rows].tolist(), table.score[rows].tolist(), None, epoch)


def _one_system(table: ItemTable, name: str | None, argument: str, to: str) -> tuple[str, NDArray[np.intp]]:
    """The system of this name, or the only one, and its rows; the argument that names it must do this if it can't."""
    if name is None and len(table.systems) > 1:
        raise StratError.about(argument, f"must {to}, got None for {some(table.systems)}.")
    system = name or table.systems[0]
    rows = np.flatnonzero(table.system.astype(str) == system)
    if not len(rows):
        raise StratError.about(argument, f"must be one of the systems, got {system!r}; {near(system, table.systems)}")
    return system, rows


def is_baseline(baseline: str | os.PathLike[str]) -> bool:
    """Whether it names a file and not a system."""
    return Path(baseline).suffix == ".json" and possible(baseline).is_file()


@checked
def read_baseline(path: str | os.PathLike[str]) -> StoredBaseline:
    """The baseline that a file holds, if it is whole: its fingerprint must be that of its content."""
    content = json_object(read_bytes(possible(path)), str(path))
    if not isinstance(content, dict) or content.get("schema") != SCHEMA:
        schema = content.get("schema") if isinstance(content, dict) else None
        raise StratError(f"`{path}` must be a stored baseline with the schema {SCHEMA!r}, got {shown(schema)}.")
    lists: dict[str, Any] = {name: content.get(name) for name in ("items", "values", "truth", "epoch")}
    for name, values in lists.items():
        optional = values is None and name in ("truth", "epoch")
        if not optional and not (isinstance(values, list) and len(values) == len(lists["items"] or ())):
            raise StratError(f"`{path}` must have a list {name!r} with one entry for each item; store it again.")
        if not optional and not _of_one_kind(values, name):
            raise StratError(f"`{path}` must have a list {name!r} of texts, or of numbers; store it again.")
    system, role = content.get("system"), content.get("role")
    if not isinstance(system, str) or role not in ("predicted", "score"):
        raise StratError(f"`{path}` must name its system and the role of its values; store it again.")
    if role == "score" and any(isinstance(value, str) for value in lists["values"]):
        raise StratError(f"`{path}` must have numbers as the values of scores; store it again.")
    stored = StoredBaseline(system, role, **lists)
    if stored.fingerprint != content.get("fingerprint"):
        raise StratError(f"`{path}` must hold what its fingerprint names; it was changed, store it again.")
    return stored


def _of_one_kind(values: list[Any], name: str) -> bool:
    """Whether a list of a file holds texts alone or numbers alone, as a column does; whole ones for the epoch."""
    kinds = {int if isinstance(value, bool) else type(value) for value in values}
    return kinds <= {int} or (name != "epoch" and (kinds <= {int, float} or kinds <= {str}))


def beside_candidate(
    stored: StoredBaseline, source: Any, candidate: str | None, asked: dict[str, Any], by: Any
) -> tuple[Any, str, str, dict[str, Any]]:
    """A source of candidate and stored baseline for :func:`compare`: it, the two names, and the other arguments."""
    asked = dict(asked)
    if isinstance(source, ItemTable) or is_logs(source) or asked["system"] is not None:
        return _both_items(stored, source, candidate, asked, by)
    return _both_columns(stored, source, candidate, asked, by)


def _both_columns(
    stored: StoredBaseline, source: Any, candidate: str | None, asked: dict[str, Any], by: Any
) -> tuple[Any, str, str, dict[str, Any]]:
    """The candidate's table with a column of what the baseline answered to the same items."""
    column = _column_beside(stored, asked)
    further = [
        asked["truth"],
        asked["items"],
        *asked["design"].columns.values(),
        *listed("by", () if by is None else by),
    ]
    names = dict.fromkeys([column, *(name for name in further if name is not None)])
    table = read(source, na=asked["na"]).columns(list(names), missing=asked["missing"])
    items = table[asked["items"]]
    _once(items.tolist())
    _once(stored.items)
    ours, theirs = _matched(items.tolist(), stored.items, asked["unmatched"])
    if stored.truth is not None:
        _same_truth(table[asked["truth"]][ours], [stored.truth[k] for k in theirs], items[ours])
    wide = {other: values[ours] for other, values in table.items() if other != column}
    name = _apart(_beside(stored, candidate or column), wide, "candidate")
    baseline = _apart(stored.system, wide, "baseline")
    wide |= {name: table[column][ours], baseline: np.asarray(stored.values)[theirs]}
    asked |= {stored.role: (name, baseline), "unmatched": "error", "missing": "error", "na": None}
    return wide, baseline, name, asked


def _column_beside(stored: StoredBaseline, asked: Mapping[str, Any]) -> str:
    """The candidate's column, if it holds what the baseline's values are."""
    columns = listed(stored.role, asked[stored.role])
    if len(columns) != 1 or asked["items"] is None:
        raise StratError(
            f"`{stored.role}` must name the candidate's column, and `items` its items, beside a stored baseline of "
            f"{stored.role} values, got {some(columns) or 'none'} and {asked['items']!r}."
        )
    if (stored.truth is None) != (asked["truth"] is None):
        has = "has no true labels" if stored.truth is None else "has true labels"
        raise StratError.about("truth", f"must fit the stored baseline, which {has}, got {asked['truth']!r}.")
    return columns[0]


def _beside(stored: StoredBaseline, name: str) -> str:
    """What to call a candidate that may have the baseline's name."""
    return f"{name} (candidate)" if name == stored.system else name


def _apart(system: str, columns: Iterable[str], role: str) -> str:
    """What to call a system whose column stands beside others, one of which may have its name."""
    while system in columns:
        system = f"{system} ({role})"
    return system


def _both_items(
    stored: StoredBaseline, source: Any, candidate: str | None, asked: dict[str, Any], by: Any
) -> tuple[Any, str, str, dict[str, Any]]:
    """A table of the items of both: what belongs to an item comes from the candidate's rows."""
    from strat.verbs.compare_sources import items_of

    table = items_of(source, asked, () if by is None else tuple(listed("by", by)))
    name, rows = _one_system(table, candidate, "candidate", "name one of the systems in `source`")
    label = _beside(stored, name)
    ours, theirs = _matched(table.items[rows].tolist(), stored.items, asked["unmatched"])
    place = {str(item): k for k, item in zip(rows[ours], table.items[rows][ours].tolist(), strict=True)}
    like = np.array([place[str(stored.items[k])] for k in theirs])
    every = np.concatenate([rows[ours], like])
    epoch = None if stored.epoch is None else np.asarray(stored.epoch)[theirs]
    own = None if table.epoch is None else table.epoch[rows][ours]
    of_items = {name: column[every] for name, column in table.columns().items() if name in OF_ITEMS}
    both = ItemTable(
        system=np.array([label] * len(ours) + [stored.system] * len(theirs)),
        score=np.concatenate([table.score[rows][ours], np.asarray(stored.values, float)[theirs]]),
        epoch=_epochs(own, epoch, len(ours), len(theirs)),
        **of_items,
        about={key: values[every] for key, values in table.about.items()},
        notes=table.notes,
    )
    kept = {key: asked[key] for key in ("higher_is_better", "positive", "threshold", "average")}
    design = replace(asked["design"], strata=None, units=None, weights=None)  # those are in the table of items
    return both, stored.system, label, {**kept, "design": design}


def _epochs(own: Any, theirs: Any, n: int, m: int) -> NDArray[np.int64] | None:
    if own is None and theirs is None:
        return None
    first = np.ones(n, np.int64) if own is None else own
    return np.concatenate([first, np.ones(m, np.int64) if theirs is None else theirs]).astype(np.int64)


def _matched(items: Sequence[Any], stored: Sequence[Any], unmatched: str) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The rows of the candidate, and of the baseline, whose items both have; the baseline's in the same order."""
    ours, theirs = [str(i) for i in items], [str(i) for i in stored]
    common = set(ours) & set(theirs)
    extra = [name for name in dict.fromkeys([*ours, *theirs]) if name not in common]
    if extra and not (one_of("unmatched", unmatched, ("error", "common")) == "common" and common):
        way_out = "choose unmatched='common' to compare on the others" if common else "none is common"
        raise StratError.about(
            "items",
            f"must be those of the stored baseline, but {counted(len(extra), 'item')} are in one of the two "
            f"only (such as {some(extra, 3)}); {way_out}, or store the baseline again.",
        )
    order: dict[str, list[int]] = {}
    for k, name in enumerate(theirs):
        order.setdefault(name, []).append(k)
    rows = np.array([k for k, name in enumerate(ours) if name in common], np.intp)
    seen = dict.fromkeys(ours[k] for k in rows)
    return rows, np.array([k for name in seen for k in order[name]], np.intp)


def _same_truth(truth: NDArray[Any], stored: list[Any], items: NDArray[Any]) -> None:
    changed = [k for k, (one, other) in enumerate(zip(truth.tolist(), stored, strict=True)) if str(one) != str(other)]
    if changed:
        k = changed[0]
        raise StratError.about(
            "truth",
            f"must be the same as when the baseline was stored, but {counted(len(changed), 'item')} changed "
            f"(item {items[k]!s}: {stored[k]!s}, now {truth[k]!s}); store the baseline again.",
        )


def _once(items: Iterable[Any]) -> None:
    names = list(map(str, items))
    if len(set(names)) < len(names):
        raise StratError.about(
            "items",
            "must name each row once for a stored baseline, got some more than once; for repeats, give "
            "`system` and `epoch` of a long table.",
        )

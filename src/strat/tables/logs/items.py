"""`ItemTable`: one row per system, item and repeat, whatever harness wrote it; and `Run`, what a reader hands over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.columns import Array, Codes
from strat.errors import StratError
from strat.notebook import in_words
from strat.tables.frames import column_of
from strat.tables.table import Arrays, Table
from strat.words import counted

FAILED = ("error", "drop", "zero")
INCOMPLETE = ("error", "keep", "skip")
RUNS = ("error", "separate", "repeat", "latest")


@dataclass
class Run:
    """One log as read: parallel lists, one entry for each sample (× epoch), before anything is decided.

    Attributes
    ----------
    scores
        From the name of a measure to its values; NaN where the sample has none.
    about
        From the name of a metadata field to its values; None where the sample has none.
    failed
        Why a sample has no score, by its position.
    unreadable
        From the name of a measure to the first value of it that is no number.
    """

    path: str
    system: str
    task: str
    status: str = "success"
    created: str = ""
    items: list[str] = field(default_factory=list)
    epochs: list[int] = field(default_factory=list)
    scores: dict[str, list[float]] = field(default_factory=dict)
    about: dict[str, list[Any]] = field(default_factory=dict)
    failed: dict[int, str] = field(default_factory=dict)
    unreadable: dict[str, str] = field(default_factory=dict)
    hashes: list[str] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        """Number of samples."""
        return len(self.items)


@in_words
@dataclass(frozen=True, eq=False)
class ItemTable:
    """Scores of systems on items.

    Attributes
    ----------
    system, item, stratum, cluster
        Labels, row by row; `stratum` and `cluster` are None when nobody said.
    score
        What the row scored.
    epoch
        Which repeat of the item it is, from 1.
    weight
        How much the item counts; None: all alike.
    about
        Other columns that came with the rows.
    notes
        What a person should know: what was chosen, what was left out.
    """

    system: NDArray[Any]
    item: NDArray[Any]
    score: Array
    stratum: NDArray[Any] | None = None
    cluster: NDArray[Any] | None = None
    epoch: Codes | None = None
    weight: Array | None = None
    about: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse the same item twice: repeats must say which repeat they are."""
        if len(self.score) == 0:
            raise StratError("`source` must hold at least one scored item, got none.")
        epochs = np.ones(len(self.score), np.int64) if self.epoch is None else self.epoch
        twice = _repeated(self.system, self.item, epochs)
        if len(twice):
            i = int(twice[0])
            raise StratError(
                f"each item must be scored once per system and epoch, got {self.item[i]!s} of "
                f"{self.system[i]!s} again in row {i} ({len(twice)} such rows); give an epoch column if they are "
                "repeats, or drop the copies."
            )

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.score)

    def __str__(self) -> str:
        """How many rows, items and systems, and the notes."""
        items, systems = len(np.unique(self.item)), len(self.systems)
        said = f"{counted(len(self), 'row')}: {counted(items, 'item')}, {counted(systems, 'system')}"
        return "\n".join([said, *self.notes])

    @property
    def systems(self) -> list[str]:
        """Names of the systems, sorted."""
        return [str(s) for s in np.unique(self.system)]

    def columns(self) -> dict[str, NDArray[Any]]:
        """All columns that exist, by name."""
        named = {
            "system": self.system,
            "item": self.item,
            "score": self.score,
            "stratum": self.stratum,
            "cluster": self.cluster,
            "epoch": self.epoch,
            "weight": self.weight,
        }
        return {name: values for name, values in named.items() if values is not None}

    def to_table(self) -> Table:
        """The same rows as a `Table`."""
        data = {**self.columns(), **{k: v for k, v in self.about.items() if k not in self.columns()}}
        return Table(tuple(data), "the logs", Arrays(data))

    def to_frame(self, library: str | None = None) -> Any:
        """The same rows as a frame of `library` (pandas, polars or pyarrow)."""
        from strat.tables.out import frame_of

        return frame_of(self.columns(), library)


def _repeated(*keys: NDArray[Any]) -> NDArray[np.intp]:
    """Rows whose keys were all seen in an earlier row."""
    from strat.tables.reduce import combine

    encoded = [column_of("key", key).encoded() for key in keys]
    code, number = combine([c for c, _ in encoded], [len(labels) for _, labels in encoded])
    if number == len(code):
        return np.zeros(0, np.intp)
    first = np.full(number, -1, np.int64)
    first[code[::-1]] = np.arange(len(code))[::-1]
    return np.flatnonzero(first[code] != np.arange(len(code)))

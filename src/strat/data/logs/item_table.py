"""`ItemTable`: one row per system, item and repeat, whatever harness wrote it; and `Run`, what a reader hands over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.base.errors import StratError
from strat.base.notes import Note
from strat.base.result import Result
from strat.base.text import counted
from strat.base.validate.columns import Array, Codes
from strat.data.backends import Arrays
from strat.data.frames import column_of
from strat.data.table import Table
from strat.data.untrusted import DEFAULT

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
    part
        Whether it is one file of a run that has several, such as one for each task.
    open_ended
        Whether it lists items by outcome only, so that an item that other runs have may be missing from it.
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
    notes: list[Note] = field(default_factory=list)
    part: bool = False
    open_ended: bool = False

    def __len__(self) -> int:
        """Number of samples."""
        return len(self.items)


def fields_of(parts: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """The fields that came with the samples, by name, of those that at least half of the samples have.

    A field serves only where every sample has it, and columns for names that hardly any sample has would cost samples ×
    names.
    """
    held = Counter(name for part in parts for name in part)
    return {name: [part.get(name) for part in parts] for name, count in held.items() if 2 * count >= len(parts)}


def few_cells(path: str, names: int, samples: int, most: int = DEFAULT.cells) -> None:
    """Refuse a log whose samples are scored under names of their own."""
    if names * samples > most:
        raise StratError(
            f"`{path}` must have at most {most:,} cells of samples × measures, got {samples:,} × {names:,}; "
            "use the same names of measures in all samples, or split the log."
        )


@dataclass(frozen=True, eq=False, repr=False)
class ItemTable(Result):
    """Scores of systems on items.

    Attributes
    ----------
    system, items
        Labels, row by row.
    score
        What the row scored.
    strata, units
        Fixed groups, and what was drawn, row by row; None where none were named.
    epoch
        Which try of its item a row is, from 1: an epoch of inspect-ai, a training trial of HELM.
    weights
        How much the item counts; None: all the same.
    about
        Other columns that came with the rows.
    notes
        What was chosen, what was left out.
    """

    system: NDArray[Any]
    items: NDArray[Any]
    score: Array
    strata: NDArray[Any] | None = None
    units: NDArray[Any] | None = None
    epoch: Codes | None = None
    weights: Array | None = None
    about: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        """Refuse the same item twice: repeats must say which repeat they are."""
        if len(self.score) == 0:
            raise StratError.about("source", "must hold at least one scored item, got none.")
        epochs = np.ones(len(self.score), np.int64) if self.epoch is None else self.epoch
        twice = _repeated(self.system, self.items, epochs)
        if len(twice):
            i = int(twice[0])
            raise StratError(
                f"each item must be scored once per system and epoch, got {self.items[i]!s} of "
                f"{self.system[i]!s} again in row {i} ({len(twice)} such rows); give an `epoch` column if they are "
                "repeats, or drop the copies."
            )

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.score)

    def __str__(self) -> str:
        """How many rows, items and systems, and the notes."""
        items, systems = len(np.unique(self.items)), len(self.systems)
        size = f"{counted(len(self), 'row')}: {counted(items, 'item')}, {counted(systems, 'system')}"
        return "\n".join([size, *self.notes])

    def to_dict(self) -> dict[str, list[Any]]:
        """The columns that exist, by name."""
        return {name: values.tolist() for name, values in self.columns().items()}

    @property
    def systems(self) -> list[str]:
        """Names of the systems, sorted."""
        return [str(s) for s in np.unique(self.system)]

    def columns(self) -> dict[str, NDArray[Any]]:
        """All columns that exist, by name."""
        named = {
            "system": self.system,
            "items": self.items,
            "score": self.score,
            "strata": self.strata,
            "units": self.units,
            "epoch": self.epoch,
            "weights": self.weights,
        }
        return {name: values for name, values in named.items() if values is not None}

    def to_table(self) -> Table:
        """The same rows as a `Table`."""
        data = {**self.columns(), **{k: v for k, v in self.about.items() if k not in self.columns()}}
        return Table(tuple(data), "the logs", Arrays(data))

    def to_frame(self, library: str | None = None) -> Any:
        """The same rows as a frame of `library` (pandas, polars or pyarrow)."""
        from strat.show.render import frame_of

        return frame_of(self.columns(), library)


def _repeated(*keys: NDArray[Any]) -> NDArray[np.intp]:
    """Rows whose keys were all seen in an earlier row."""
    from strat.data.cells import combine

    encoded = [column_of("key", key).encoded() for key in keys]
    code, number = combine([c for c, _ in encoded], [len(labels) for _, labels in encoded])
    if number == len(code):
        return np.zeros(0, np.intp)
    first = np.full(number, -1, np.int64)
    first[code[::-1]] = np.arange(len(code))[::-1]
    return np.flatnonzero(first[code] != np.arange(len(code)))

"""Files of one format as one table, opened in an engine of their own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from strat.base.errors import StratError, some
from strat.data import excel
from strat.data.files.csv_reader import CsvFiles
from strat.data.files.engine import MEMORY, Counts, Progress, connect, counting_progress, engine_errors, run
from strat.data.files.excel_reader import ExcelFiles
from strat.data.files.json_reader import JsonFiles
from strat.data.files.names import find, kind_of
from strat.data.files.typed_readers import ArrowFiles, ParquetFiles
from strat.data.frames import MARKS
from strat.data.integrity import inspect
from strat.data.untrusted import Stamps, unchanged


class Reader(Protocol):
    """How files of one format are opened, and what is known of their columns."""

    def open(self, engine: Any) -> Any:
        """The relation over all files, in this engine."""

    def as_text(self, engine: Any, names: Sequence[str]) -> Any:
        """The relation with these columns as text, where types come from a part of the rows; None: they are sure."""

    def settle(self, engine: Any, names: Sequence[str]) -> bool:
        """Look at all values of these columns where a part of them may mislead; whether a type changed."""

    def marks(self, engine: Any, names: Sequence[str]) -> Counts:
        """How many values of each column are which mark of a missing one, where the relation has none left."""


@dataclass(frozen=True, eq=False)
class FileSource:
    """Files of one format, opened in an engine of their own.

    Attributes
    ----------
    paths
        The files, in order.
    reader
        How they are opened.
    root
        The DuckDB connection that was opened for them; each thread works with a cursor of it.
    opened
        How the files looked then: one that changes afterwards is refused.
    """

    paths: tuple[Path, ...]
    reader: Reader
    root: Any
    opened: Stamps
    progress: Progress | None = field(default=None, repr=False)
    _own: Any = field(default_factory=threading.local, repr=False)
    _settled: dict[str, int] = field(default_factory=dict, repr=False)
    _lock: Any = field(default_factory=threading.RLock, repr=False)

    @property
    def label(self) -> str:
        """What messages call these files."""
        first = str(self.paths[0])
        return first if len(self.paths) == 1 else f"{first} and {len(self.paths) - 1} more files"

    @property
    def engine(self) -> Any:
        """The connection of this thread."""
        if not hasattr(self._own, "engine"):
            with self._lock:
                self._own.engine = counting_progress(self.root.cursor())
        return self._own.engine

    @property
    def relation(self) -> Any:
        """The relation of this thread over all files; nothing is read before it is asked."""
        version = sum(self._settled.values())
        if getattr(self._own, "version", None) != version:
            with self._lock, engine_errors(self.paths):
                self._own.relation, self._own.version = self.reader.open(self.engine), version
        return self._own.relation

    def as_text(self, names: Sequence[str]) -> Any:
        """The relation with these columns as text, where types come from a part of the rows; None: they are sure."""
        with self._lock, engine_errors(self.paths):
            return self.reader.as_text(self.engine, names)

    def settle(self, names: Sequence[str]) -> None:
        """Make sure that the types of these columns fit all rows, whatever their order."""
        with self._lock:
            fresh = [name for name in dict.fromkeys(names) if name not in self._settled]
            if fresh:
                with unchanged(self.opened), engine_errors(self.paths):
                    changed = self.reader.settle(self.engine, fresh)
                self._settled.update(dict.fromkeys(fresh, 0))
                self._settled[fresh[0]] = int(changed)

    def marks(self, names: Sequence[str]) -> Counts:
        """How many values of each column are which mark of a missing one, where the relation has none left."""
        with self._lock, engine_errors(self.paths):
            return self.reader.marks(self.engine, list(dict.fromkeys(names)))

    def fetch(self, relation: Any) -> dict[str, Any]:
        """The relation's columns as NumPy arrays, computed now under the memory limit."""
        with unchanged(self.opened), engine_errors(self.paths):
            return run(relation, self.engine, self.progress)


def open_files(
    source: str | Path | Sequence[str | Path],
    *,
    text: Sequence[str] = (),
    na: Sequence[str] = MARKS,
    sheet: str | None = None,
    memory: str = MEMORY,
    progress: Progress | None = None,
) -> FileSource:
    """The files that a path, a glob or a list of them names, as one table that is not read yet.

    Parameters
    ----------
    source
        One or more paths or globs; all of one format, each file once. The sheet of an Excel workbook may follow a `#`:
        ``"results.xlsx#Sheet2"``.
    text
        Columns of CSV files to read as text whatever they look like (labels such as `007`).
    na
        Texts that mark a missing value in CSV, Excel and JSON-lines files.
    sheet
        The sheet of Excel workbooks that name none themselves; None: the only one that holds anything.
    memory
        What the engine may hold in memory, such as ``"2GB"``; beyond it, it spills to a temporary folder.
    progress
        Called with the share done, between 0 and 1, while long work runs.
    """
    given = [source] if isinstance(source, str | Path) else list(source)
    parted = [excel.split_sheet(name) for name in given]
    sheets = {str(name): own for name, own in parted if own is not None}
    paths = find([name for name, _ in parted])
    kinds = {path: kind_of(path) for path in paths}
    if len(set(kinds.values())) > 1:
        raise StratError.about(
            "source", f"must name files of one format, got {some([str(p) for p in paths])}; read each format by itself."
        )
    if sheet is not None and kinds[paths[0]] != "excel":
        raise StratError.about(
            "sheet", f"must be left out for `{paths[0]}`: only Excel workbooks have sheets, got {sheet!r}."
        )
    engine = connect(memory, alone=kinds[paths[0]] == "excel")
    stamps = inspect(paths, kinds[paths[0]], engine)
    reader = _READERS[kinds[paths[0]]](tuple(paths), tuple(text), tuple(na))
    if isinstance(reader, ExcelFiles):
        reader.sheets = tuple(sheets.get(str(path), sheet) for path in paths)
    opened = FileSource(tuple(paths), reader, engine, stamps, progress)
    _ = opened.relation  # a file that can't be read is refused now
    return opened


_READERS: dict[str, Callable[[tuple[Path, ...], tuple[str, ...], tuple[str, ...]], Reader]] = {
    "csv": CsvFiles,
    "parquet": ParquetFiles,
    "json": JsonFiles,
    "arrow": ArrowFiles,
    "excel": ExcelFiles,
}

"""`read`: a file, a data frame, or columns, as one kind of table that names its columns and counts what is missing."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.base.errors import StratError, near, one_of, some
from strat.base.validate.arguments import checked, shown
from strat.base.validate.names import Names, listed
from strat.data.backends import Arrays, Backend, Eager, Lazy
from strat.data.column import Column, alike, all_marks, listed_marks
from strat.data.files import MEMORY, FileSource, Progress, open_files
from strat.data.files.csv_text import refuse_repeated, require_unique_names
from strat.data.frames import MARKS

MISSING = ("error", "drop")


@dataclass(frozen=True, eq=False)
class Table:
    """Columns by name, wherever they live.

    Attributes
    ----------
    names
        The column names.
    source
        What messages call the table.
    backend
        Where the rows are.
    """

    names: tuple[str, ...]
    source: str
    backend: Backend

    def require(self, **wanted: str | None) -> None:
        """Fail unless the named columns are there: `require(truth="label", units=None)`."""
        for argument, name in wanted.items():
            if name is not None and not _among(name, self.names):
                hint = near(str(name), [str(known) for known in self.names])
                raise StratError.about(argument, f"must name a column of {self.source}, got {shown(name)}; {hint}")

    def column(self, name: str, *, missing: str = "error") -> NDArray[Any]:
        """One column as a NumPy array; a missing value is an error unless `missing="drop"`.

        >>> read({"truth": ["cat", "dog", "cat"]}).column("truth").tolist()
        ['cat', 'dog', 'cat']
        """
        return self.columns([name], missing=missing)[name]

    def columns(self, names: Iterable[str], *, missing: str = "error") -> dict[str, NDArray[Any]]:
        """Several columns at once; with `missing="drop"` only rows where all of them have a value.

        >>> read({"x": [1.0, None, 3.0], "y": ["a", "b", "c"]}).columns(["x", "y"], missing="drop")["y"].tolist()
        ['a', 'c']
        """
        wanted = list(dict.fromkeys(listed("names", names)))
        one_of("missing", missing, MISSING)
        for name in wanted:
            self.require(column=name)
        columns = self.backend.fetch(wanted)
        if any(column.spelled for column in columns):
            columns = alike(columns)
        lost = {c.name: c.lost for c in columns if c.lost}
        if lost and missing == "error":
            raise StratError(missing_message(lost, self.source, all_marks(columns)))
        keep = ~np.any([c.missing for c in columns if c.missing is not None], axis=0) if lost else slice(None)
        return {c.name: _values(c, keep) for c in columns}

    def numbers(self, name: str, *, missing: str = "error") -> NDArray[np.float64]:
        """One column as floats, or an error that shows the first value that is none."""
        one_of("missing", missing, MISSING)
        self.require(column=listed("name", [name])[0])
        column = self.backend.fetch([name])[0].numbers()
        if column.lost and missing == "error":
            raise StratError(missing_message({name: column.lost}, self.source, column.marks))
        return column.labels if column.missing is None else column.labels[~column.missing]

    @property
    def library(self) -> str | None:
        """The data frame library that the rows came in; None for files and mappings."""
        frame = getattr(self.backend, "frame", None)
        implementation = getattr(frame, "implementation", None)
        return None if implementation is None else str(implementation.value)

    @property
    def file(self) -> str:
        """What messages call the files that the rows are read from; empty for frames and mappings."""
        files = getattr(self.backend, "files", None)
        return "" if files is None else str(files.label)

    def __len__(self) -> int:
        """Number of rows (counted now if the rows live elsewhere)."""
        lazy = self.backend.lazy
        if lazy is None:
            return len(self.backend.fetch(self.names[:1])[0])
        import narwhals as nw

        return int(self.backend.collect(lazy.select(nw.len().alias("rows")))["rows"][0])


def _among(name: object, names: Sequence[str]) -> bool:
    try:
        return name in set(names)
    except TypeError:  # a column instead of its name
        return False


def _values(column: Column, keep: Any) -> NDArray[Any]:
    rows = np.arange(len(column))[keep]
    if column.codes is None:
        return np.asarray(column.labels[rows])
    return np.asarray(column.labels[column.codes[rows]]) if len(column.labels) else column.labels


def missing_message(lost: Mapping[str, int], source: str, marks: Mapping[str, int] | None = None) -> str:
    """The sentence that refuses missing values, with names, counts and the marks that stand for them."""
    counts = ", ".join(f"`{name}` has {count:,}" for name, count in lost.items())
    text = {mark: count for mark, count in (marks or {}).items() if mark}
    shown = f" ({listed_marks(marks)})" if marks else ""
    label = f"; if {next(iter(text))!r} is a label, leave it out of `na` (command line: --na)" if text else ""
    return (
        f"every row of {source} must have a value, but {counts} missing{shown}; "
        f'drop these rows with missing="drop" (command line: --missing drop), or fill them{label}.'
    )


@checked
def read(
    source: Any,
    *,
    text: Names = (),
    na: Names | None = None,
    sheet: str | None = None,
    memory: str = MEMORY,
    progress: Progress | None = None,
) -> Table:
    """A table from a file, several files, a data frame of any library, or a mapping of columns.

    Parameters
    ----------
    source
        A path, a glob or a list of them (CSV, TSV, Parquet, JSON lines, Arrow; .gz and .zst too; Excel's .xlsx, with
        the sheet after a `#`: ``"results.xlsx#Sheet2"``), a frame of pandas, Polars, PyArrow, DuckDB, Dask or PySpark,
        a mapping from names to columns, or a `Table`.
    text
        Columns of CSV files to read as text whatever they look like.
    na
        Texts that mark a missing value, in labels and numbers of every source; by default an empty cell, "NA", "N/A",
        "NaN", "null", "None", "." and their like. A list replaces them all; ``[]``: no text is a mark.
    sheet
        The sheet of an Excel workbook; None: the one that the path names, or the only one that holds anything.
    memory
        What the engine for files may hold in memory.
    progress
        Called with the share done while a file is read.

    Returns
    -------
    Table
        With `.names`, `.column(name)`, `.columns(names)` and `.numbers(name)`.

    Examples
    --------
    >>> table = read({"truth": [1, 0, 1], "predicted": [1, 1, 1]})
    >>> table.names
    ('truth', 'predicted')
    >>> table.column("predicted").tolist()
    [1, 1, 1]
    """
    if isinstance(source, Table):
        return _marked(source, na)
    marks = MARKS if na is None else tuple(mark.strip() for mark in listed("na", na))
    if isinstance(source, str | os.PathLike) or _paths(source):
        opened = open_files(_as_paths(source), text=text, na=marks, sheet=sheet, memory=memory, progress=progress)
        return _of_files(opened, marks)
    if sheet is not None:
        raise StratError.about(
            "sheet", f"must be left out for a frame or columns: it is for Excel workbooks, got {sheet!r}."
        )
    if isinstance(source, Mapping):
        backend = Arrays(source, marks)
        return _checked(Table(backend.names, "the columns", backend))
    return _checked(_of_frame(source, marks))


def _marked(table: Table, na: Names | None) -> Table:
    """The table with other marks, unless its files were opened with theirs."""
    marks = table.backend.na if na is None else tuple(mark.strip() for mark in listed("na", na))
    if marks == table.backend.na:
        return table
    if getattr(table.backend, "files", None) is not None:
        raise StratError.about(
            "na", f"must be given where {table.source} is read, got it for a table that is read already."
        )
    return replace(table, backend=replace(table.backend, na=marks))  # type: ignore[type-var]


def _paths(source: Any) -> bool:
    return isinstance(source, list | tuple) and bool(source) and all(isinstance(s, str | os.PathLike) for s in source)


def _as_paths(source: Any) -> list[str | Path]:
    one = isinstance(source, str | os.PathLike)
    return [s if isinstance(s, str) else Path(s) for s in ([source] if one else source)]


def _of_files(opened: FileSource, na: tuple[str, ...]) -> Table:
    backend = Lazy(None, opened, na)
    return _checked(Table(tuple(opened.relation.columns), f"`{opened.label}`", backend))


def _of_frame(source: Any, na: tuple[str, ...]) -> Table:
    import narwhals as nw

    try:
        frame = nw.from_native(source)
    except nw.exceptions.DuplicateError:
        refuse_repeated([str(name) for name in getattr(source, "column_names", source.columns)], "the frame")
        raise
    except TypeError:
        raise StratError.about(
            "source",
            "must be a path, a data frame (pandas, Polars, PyArrow, DuckDB, Dask, PySpark) or a mapping "
            f"from names to columns, got {type(source).__name__}.",
        ) from None
    frame = _with_names(frame)
    backend: Backend = Lazy(frame, None, na) if isinstance(frame, nw.LazyFrame) else Eager(frame, na)
    return Table(backend.names, "the frame", backend)


def _with_names(frame: Any) -> Any:
    """The frame with texts for names, which pandas has of any type, and each once, which engines don't ask."""
    if frame.implementation.is_polars() or frame.implementation.is_pyarrow():
        return frame
    given = list(frame.to_native().columns)
    names = [str(name) for name in given]
    (require_unique_names if frame.implementation.is_duckdb() else refuse_repeated)(names, "the frame")
    return frame if names == given else frame.rename(dict(zip(given, names, strict=True)))


def _checked(table: Table) -> Table:
    if not table.names:
        raise StratError(f"{table.source} must have at least one column, got none.")
    cut = [name for name in table.names if "\0" in name] if table.backend.lazy is not None else []
    if cut:  # the engine ends a name there
        raise StratError(f"{table.source} must name columns without NUL characters, got {some(cut)}; rename them.")
    refuse_repeated(table.names, table.source)
    return table

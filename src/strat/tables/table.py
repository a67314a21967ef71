"""`read`: a file, a data frame, or columns, as one kind of table that names its columns and counts what is missing."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from strat.doors import checked, shown
from strat.errors import StratError, near, one_of, some
from strat.tables.files import MEMORY, FileSource, Progress, open_files
from strat.tables.frames import Column, column_of

MISSING = ("error", "drop")
Names = Sequence[str]  # of columns


class Backend(Protocol):
    """Where the columns live."""

    @property
    def names(self) -> tuple[str, ...]:
        """All column names."""

    @property
    def lazy(self) -> Any:
        """A narwhals lazy frame if the rows stay where they are, else None."""

    def fetch(self, names: Sequence[str]) -> list[Column]:
        """These columns in memory."""

    def collect(self, lazy: Any) -> dict[str, Any]:
        """The columns of a small lazy frame made from `lazy`, as NumPy arrays."""


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
                raise StratError(f"`{argument}` must name a column of {self.source}, got {shown(name)}; {hint}")

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
        lost = {c.name: c.lost for c in columns if c.lost}
        if lost and missing == "error":
            raise StratError(missing_message(lost, self.source))
        keep = ~np.any([c.missing for c in columns if c.missing is not None], axis=0) if lost else slice(None)
        return {c.name: _values(c, keep) for c in columns}

    def numbers(self, name: str, *, missing: str = "error") -> NDArray[np.float64]:
        """One column as floats, or an error that shows the first value that is none."""
        one_of("missing", missing, MISSING)
        self.require(column=listed("name", [name])[0])
        column = self.backend.fetch([name])[0].numbers()
        if column.lost and missing == "error":
            raise StratError(missing_message({name: column.lost}, self.source))
        return column.labels if column.missing is None else column.labels[~column.missing]

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


def listed(argument: str, names: Any) -> list[str]:
    """Names of columns as a list, one name as one, or an error that names the argument.

    >>> listed("scores", "A"), listed("scores", ("A", "B"))
    (['A'], ['A', 'B'])
    """
    if isinstance(names, str):
        return [names]
    found = list(names) if _several(names) else [None]
    if all(isinstance(name, str) for name in found):
        return [str(name) for name in found]
    raise StratError(f"`{argument}` must be a list of names of columns, got {shown(names)}.")


def _several(names: object) -> bool:
    return isinstance(names, Iterable) and not isinstance(names, Mapping | bytes) and getattr(names, "ndim", 1) == 1


def _values(column: Column, keep: Any) -> NDArray[Any]:
    rows = np.arange(len(column))[keep]
    if column.codes is None:
        return np.asarray(column.labels[rows])
    return np.asarray(column.labels[column.codes[rows]]) if len(column.labels) else column.labels


def missing_message(lost: Mapping[str, int], source: str) -> str:
    """The sentence that refuses missing values, with names and counts."""
    counts = ", ".join(f"`{name}` has {count:,}" for name, count in lost.items())
    return (
        f"every row of {source} must have a value, but {counts} missing; "
        'drop these rows with missing="drop" (command line: --missing drop), or fill them.'
    )


@dataclass(frozen=True, eq=False)
class Arrays:
    """Columns that a person passed as a mapping."""

    data: Mapping[str, Any]

    @property
    def names(self) -> tuple[str, ...]:
        """All column names."""
        return tuple(str(name) for name in self.data)

    @property
    def lazy(self) -> None:
        """The rows are here."""
        return

    def fetch(self, names: Sequence[str]) -> list[Column]:
        """These columns, checked to be equally long."""
        columns = [column_of(name, self.data[name]) for name in names]
        lengths = {c.name: len(c) for c in columns}
        if len(set(lengths.values())) > 1:
            (a, n), (b, m) = _two_that_differ(lengths)
            raise StratError(f"column `{b}` must have as many rows as `{a}` ({n}), got {m}.")
        return columns

    def collect(self, lazy: Any) -> dict[str, Any]:
        """Never asked."""
        raise NotImplementedError


def _two_that_differ(lengths: Mapping[str, int]) -> list[tuple[str, int]]:
    (first, n), *rest = lengths.items()
    return [(first, n), next(item for item in rest if item[1] != n)]


@dataclass(frozen=True, eq=False)
class Eager:
    """A data frame in memory, through narwhals."""

    frame: Any

    @property
    def names(self) -> tuple[str, ...]:
        """All column names."""
        return tuple(self.frame.columns)

    @property
    def lazy(self) -> None:
        """The rows are here."""
        return

    def fetch(self, names: Sequence[str]) -> list[Column]:
        """These columns in memory."""
        return [column_of(name, self.frame[name]) for name in names]

    def collect(self, lazy: Any) -> dict[str, Any]:
        """Never asked."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Lazy:
    """Rows that stay in their engine: DuckDB (files, too), Polars lazy, Dask, Spark, through narwhals."""

    lazy: Any
    files: FileSource | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """All column names."""
        return tuple(self.lazy.collect_schema().names())

    def fetch(self, names: Sequence[str]) -> list[Column]:
        """These columns brought here."""
        chosen = exact(self.lazy, names).select(*names)
        return [column_of(name, values) for name, values in self.collect(chosen).items()]

    def collect(self, lazy: Any) -> dict[str, Any]:
        """The columns of a lazy frame, as NumPy arrays or narwhals series."""
        native = lazy.to_native()
        if self.files is not None:
            return self.files.fetch(native)
        if hasattr(native, "fetchnumpy"):
            return dict(native.fetchnumpy())
        if hasattr(native, "toPandas"):
            return _spark_columns(native)
        frame = lazy.collect()
        return {name: frame[name] for name in frame.columns}


def exact(lazy: Any, names: Sequence[str]) -> Any:
    """The lazy frame with whole numbers beyond 64 bits as text, because NumPy would round them, and labels with them.

    All whole numbers among `names` become text then, so that two columns can still be compared.
    """
    import narwhals as nw

    if not lazy.implementation.is_duckdb():
        return lazy
    schema = lazy.collect_schema()
    wide = [name for name in names if schema[name] in (nw.Int128, nw.UInt128, nw.Unknown)]
    if not wide:
        return lazy
    text = dict.fromkeys([*wide, *(name for name in names if schema[name].is_integer())])
    return lazy.with_columns(*(nw.col(name).cast(nw.String) for name in text))


def _spark_columns(native: Any) -> dict[str, Any]:
    """The few rows of an aggregated Spark frame: as Arrow where this Spark has it, else as plain rows."""
    if hasattr(native, "toArrow"):
        import narwhals as nw

        frame = nw.from_native(native.toArrow(), eager_only=True)
        return {name: frame[name] for name in frame.columns}
    rows = native.collect()
    return {name: [row[i] for row in rows] for i, name in enumerate(native.columns)}


@checked
def read(
    source: Any,
    *,
    text: Names = (),
    memory: str = MEMORY,
    progress: Progress | None = None,
) -> Table:
    """A table from a file, several files, a data frame of any library, or a mapping of columns.

    Parameters
    ----------
    source
        A path, a glob or a list of them (CSV, TSV, Parquet, JSON lines, Arrow; .gz and .zst too), a frame of
        pandas, Polars, PyArrow, DuckDB, Dask or PySpark, a mapping from names to columns, or a `Table`.
    text
        Columns of CSV files to read as text whatever they look like.
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
        return source
    if isinstance(source, str | os.PathLike) or _paths(source):
        opened = open_files(_as_paths(source), text=text, memory=memory, progress=progress)
        return _of_files(opened)
    if isinstance(source, Mapping):
        return _checked(Table(Arrays(source).names, "the columns", Arrays(source)))
    return _checked(_of_frame(source))


def _paths(source: Any) -> bool:
    return isinstance(source, list | tuple) and bool(source) and all(isinstance(s, str | os.PathLike) for s in source)


def _as_paths(source: Any) -> list[str | Path]:
    one = isinstance(source, str | os.PathLike)
    return [s if isinstance(s, str) else Path(s) for s in ([source] if one else source)]


def _of_files(opened: FileSource) -> Table:
    import narwhals as nw

    backend = Lazy(nw.from_native(opened.relation), opened)
    return _checked(Table(tuple(opened.relation.columns), f"`{opened.label}`", backend))


def _of_frame(source: Any) -> Table:
    import narwhals as nw

    try:
        frame = nw.from_native(source)
    except nw.exceptions.DuplicateError:
        twice = sorted(str(name) for name, times in Counter(source.columns).items() if times > 1)
        raise StratError(f"the frame must name each column once, got {some(twice)} twice; rename one.") from None
    except TypeError:
        raise StratError(
            "`source` must be a path, a data frame (pandas, Polars, PyArrow, DuckDB, Dask, PySpark) or a mapping "
            f"from names to columns, got {type(source).__name__}."
        ) from None
    backend: Backend = Lazy(frame) if isinstance(frame, nw.LazyFrame) else Eager(frame)
    return Table(backend.names, "the frame", backend)


def _checked(table: Table) -> Table:
    if not table.names:
        raise StratError(f"{table.source} must have at least one column, got none.")
    cut = [name for name in table.names if "\0" in name] if table.backend.lazy is not None else []
    if cut:  # the engine ends a name there
        raise StratError(f"{table.source} must name columns without NUL signs, got {some(cut)}; rename them.")
    twice = sorted(name for name, times in Counter(table.names).items() if times > 1)
    if twice:
        raise StratError(f"{table.source} must name each column once, got {some(twice)} twice; rename one.")
    return table

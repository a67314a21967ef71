"""Where the columns of a table live: arrays, a data frame in memory, or an engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

from strat.base.errors import StratError
from strat.base.validate.arguments import same_order
from strat.data.column import Column
from strat.data.engines import acting, exact, nested, renamed
from strat.data.files import FileSource
from strat.data.frames import MARKS, column_of, exact_column


class Backend(Protocol):
    """Where the columns live."""

    @property
    def na(self) -> tuple[str, ...]:
        """Texts that mark a missing value."""

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
class Arrays:
    """Columns that were passed as a mapping."""

    data: Mapping[str, Any]
    na: tuple[str, ...] = MARKS

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
        given = {str(name): values for name, values in self.data.items()}
        same_order({name: given[name] for name in names})
        columns = [column_of(name, given[name], self.na) for name in names]
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
    na: tuple[str, ...] = MARKS

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
        return [column_of(name, self.frame.get_column(name), self.na) for name in names]

    def collect(self, lazy: Any) -> dict[str, Any]:
        """Never asked."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Lazy:
    """Rows that stay in their engine: DuckDB (files, too), Polars lazy, Dask, Spark, through narwhals."""

    frame: Any
    files: FileSource | None = None
    na: tuple[str, ...] = MARKS

    def __getstate__(self) -> dict[str, Any]:
        """What a copy of the table is made of; connections of an engine can't be copied."""
        if self.files is not None or self.frame.implementation.is_duckdb():
            what = "a relation of DuckDB" if self.files is None else f"`{self.files.label}`"
            raise StratError(f"a table of {what} can't be pickled or copied; read it again there.")
        return vars(self)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """All column names."""
        return tuple(self._frame.collect_schema().names())

    @cached_property
    def inside(self) -> Mapping[str, str]:
        """From a name that the engine would act on to the one it has in `lazy`."""
        return acting(self.names, self._frame)

    @property
    def lazy(self) -> Any:
        """The rows, in this thread's connection where they are in files."""
        return renamed(self._frame, self.inside)

    @property
    def _frame(self) -> Any:
        import narwhals as nw

        return self.frame if self.files is None else nw.from_native(self.files.relation)

    def as_text(self, names: Sequence[str]) -> Any:
        """The rows with these columns as text, where their types are sure only once all rows are seen; else None."""
        import narwhals as nw

        rows = None if self.files is None else self.files.as_text(names)
        return None if rows is None else renamed(nw.from_native(rows), self.inside)

    def settle(self, names: Iterable[str]) -> None:
        """Make sure that the types of these columns fit all rows of the files."""
        if self.files is not None:
            self.files.settle(list(names))

    def fetch(self, names: Sequence[str]) -> list[Column]:
        """These columns brought here."""
        self.settle(names)
        return self.with_marks([*map(self.brought(names), names)])

    def nested(self, names: Sequence[str]) -> list[str]:
        """Those columns of the engine that hold lists or records."""
        inner = {self.inside.get(name, name): name for name in names}
        return [inner[name] for name in nested(self.lazy, list(inner))]

    def brought(self, names: Sequence[str], most: int | None = None) -> Callable[[str], Column]:
        """What makes the column of a name, after these columns, or their first rows, were brought here."""
        inner = {name: self.inside.get(name, name) for name in names}
        chosen, wide = exact(self.lazy, list(inner.values()))
        chosen = chosen.select(*inner.values())
        collected = self.collect(chosen if most is None else chosen.head(most))

        def column(name: str) -> Column:
            values = collected[inner[name]]
            return exact_column(name, values) if inner[name] in wide else column_of(name, values, self.na)

        return column

    def with_marks(self, columns: Sequence[Column]) -> list[Column]:
        """The columns with the counts of marks that a file's reader took for missing values already."""
        lost = [column.name for column in columns if column.lost]
        if self.files is None or not lost:
            return list(columns)
        counts = self.files.marks(lost)
        return [replace(c, marks=counts[c.name]) if c.name in counts else c for c in columns]

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


def _spark_columns(native: Any) -> dict[str, Any]:
    """The few rows of an aggregated Spark frame: as Arrow where this Spark has it, else as plain rows."""
    if hasattr(native, "toArrow"):
        import narwhals as nw

        frame = nw.from_native(native.toArrow(), eager_only=True)
        return {name: frame[name] for name in frame.columns}
    rows = native.collect()
    return {name: [row[i] for row in rows] for i, name in enumerate(native.columns)}

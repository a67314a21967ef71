"""CSV files and their like in the engine, with types that hold for all rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from strat.base.errors import StratError, some
from strat.base.limits import LIMITS
from strat.data.files.csv_text import (
    head_of,
    header_names,
    refuse_data_for_names,
    require_unique_names,
    unquoted,
)
from strat.data.files.engine import Counts, ask, count_marks, quoted
from strat.data.numerals import KINDS, looks
from strat.data.untrusted import literal

_NEVER = "\x01strat\x01"  # a mark that no file holds


@dataclass(eq=False)
class CsvFiles:
    """Comma-separated text, and its like with other signs; columns are put together by name."""

    paths: tuple[Path, ...]
    text: tuple[str, ...]
    na: tuple[str, ...]
    types: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        head = head_of(self.paths[0])
        if head.line.startswith("PK\x03\x04"):
            raise StratError(
                f"`{self.paths[0]}` is not text but a compressed file, perhaps an Excel workbook; give it the ending "
                ".xlsx, or save the sheet as CSV."
            )
        self.delimiter, self.skipped = head.delimiter, head.skipped
        names = header_names(head.line, self.delimiter, self.paths[0])
        require_unique_names(names, f"`{self.paths[0]}`")
        refuse_data_for_names(names, head, self.paths[0])
        others = [self._same_columns(names, path) for path in self.paths[1:]]
        self.by_name = any(other != names for other in others)
        bare = unquoted(head.line)
        self.spaced = bare.count(self.delimiter) == bare.count(self.delimiter + " ") > 0
        self.whole = len(self.paths) == 1 and self.paths[0].stat().st_size < LIMITS.csv_bytes_looked_at

    def _same_columns(self, names: list[str], path: Path) -> list[str]:
        """The columns of a further file, which must be those of the first."""
        head = head_of(path)
        if head.skipped != self.skipped:
            raise StratError(f"`{path}` must start as `{self.paths[0]}` does: with a line `sep=`, or without one.")
        header = header_names(head.line, self.delimiter, path)
        lacks, extra = [n for n in names if n not in header], [n for n in header if n not in names]
        if lacks or extra or len(header) != len(names):
            what = [f"it lacks {some(lacks)}"] * bool(lacks) + [f"it has {some(extra)}"] * bool(extra)
            what = what or ["it names one twice"]
            raise StratError(
                f"`{path}` must have the columns of `{self.paths[0]}`, but {' and '.join(what)}; "
                "give it the same line of column names, or read it by itself."
            )
        return header

    def open(self, engine: Any) -> Any:
        """The relation over all files, its types as they look in a part of the rows, or as they were settled."""
        relation = self._read(engine, self.types | dict.fromkeys(self.text, "VARCHAR"), self.na)
        fresh, self.types = not self.types, dict(zip(relation.columns, map(str, relation.types), strict=True))
        if fresh and (texts := self._texts(engine)):
            self.types |= dict.fromkeys(texts, "VARCHAR")
            relation = self._read(engine, self.types, self.na)
        return self._trimmed(relation)

    def _texts(self, engine: Any) -> list[str]:
        """Columns that the engine takes for truth values or numbers, and that are text by the rule of `numerals`."""
        typed = [name for name, kind in self.types.items() if kind in KINDS and name not in self.text]
        if not typed:
            return []
        rows = self._as_text(engine, self.na)
        if not self.whole:  # all rows are looked at when a type is settled
            rows = rows.limit(LIMITS.rows_looked_at)
        held = ask(engine, rows, [self._looks(name)[KINDS.index(self.types[name])] for name in typed])
        return [name for name in typed if not next(held)]

    def _looks(self, name: str) -> list[str]:
        return looks(f"trim({quoted(name)})" if self.spaced else quoted(name))

    def _trimmed(self, rows: Any) -> Any:
        """The relation without blanks around text, where the header has one after each separator."""
        if not self.spaced:
            return rows
        columns = zip(rows.columns, map(str, rows.types), strict=True)
        values = [(f"trim({quoted(n)})" if kind == "VARCHAR" else quoted(n), quoted(n)) for n, kind in columns]
        return rows.project(", ".join(f"{value} as {name}" for value, name in values))

    def _read(self, engine: Any, types: dict[str, str], na: Sequence[str]) -> Any:
        sample = 1 if self.types else -1 if self.whole else LIMITS.rows_looked_at
        # types of all columns spare the engine to find and to check them once more
        known = "columns" if self.types and not self.by_name else "dtype"
        return engine.read_csv(
            [literal(path) for path in self.paths],
            delimiter=self.delimiter,
            quotechar='"',
            escapechar='"',
            header=True,
            skiprows=self.skipped,
            strict_mode=True,
            hive_partitioning=False,
            union_by_name=self.by_name,
            na_values=list(na) or [_NEVER],
            auto_type_candidates=[*KINDS, "VARCHAR"],
            sample_size=sample,
            **{known: types or None},
        )

    def _as_text(self, engine: Any, na: Sequence[str]) -> Any:
        return self._read(engine, dict.fromkeys(self.types, "VARCHAR"), na)

    def as_text(self, engine: Any, names: Sequence[str]) -> Any:
        """The relation with these columns as text, where types come from a part of the rows; None: they are sure."""
        if self.whole:
            return None
        return self._trimmed(self._read(engine, self.types | dict.fromkeys(names, "VARCHAR"), self.na))

    def settle(self, engine: Any, names: Sequence[str]) -> bool:
        """Types from all rows, where only the first rows, or the first file, were looked at."""
        unsure = [] if self.whole else [name for name in names if name not in self.text]
        rows = self._as_text(engine, self.na) if unsure else None
        before = dict(self.types)
        # one test is enough where what the first rows look like holds for all
        held = ask(
            engine, rows, [self._looks(name)[KINDS.index(before[name])] for name in unsure if before[name] in KINDS]
        )
        unsure = [name for name in unsure if before[name] not in KINDS or not next(held)]
        answers = ask(engine, rows, [look for name in unsure for look in self._looks(name)])
        for name in unsure:
            fits = [next(answers) for _ in KINDS]
            self.types[name] = next((kind for kind, good in zip(KINDS, fits, strict=True) if good), "VARCHAR")
        return before != self.types

    def marks(self, engine: Any, names: Sequence[str]) -> Counts:
        """How many values are which mark."""
        return count_marks(engine, self._as_text(engine, ()), names, self.na)

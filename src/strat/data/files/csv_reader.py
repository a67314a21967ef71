"""CSV files and their like in the engine, with types that hold for all rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from strat.base.errors import StratError, some
from strat.data.files.csv_text import first_line, header_names, require_unique_names, separator, unquoted
from strat.data.files.engine import Counts, ask, count_marks, quoted
from strat.data.untrusted import literal

_WHOLE_SNIFF = 64 << 20  # bytes of a CSV file whose rows are all looked at when it is opened
SAMPLE = 200_000  # rows that are looked at when a larger file is opened
_NEVER = "\x01strat\x01"  # a mark that no file holds


@dataclass(eq=False)
class CsvFiles:
    """Comma-separated text, and its like with other signs; columns are put together by name."""

    paths: tuple[Path, ...]
    text: tuple[str, ...]
    na: tuple[str, ...]
    types: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        head = first_line(self.paths[0])
        if head.startswith("PK\x03\x04"):
            raise StratError(
                f"`{self.paths[0]}` is not text but a compressed file, perhaps an Excel workbook; give it the ending "
                ".xlsx, or save the sheet as CSV."
            )
        self.delimiter = separator(head, self.paths[0])
        names = header_names(head, self.delimiter, self.paths[0])
        require_unique_names(names, self.paths[0])
        others = [self._same_columns(names, path) for path in self.paths[1:]]
        self.by_name = any(other != names for other in others)
        bare = unquoted(head)
        self.spaced = bare.count(self.delimiter) == bare.count(self.delimiter + " ") > 0
        self.whole = len(self.paths) == 1 and self.paths[0].stat().st_size < _WHOLE_SNIFF

    def _same_columns(self, names: list[str], path: Path) -> list[str]:
        """The columns of a further file, which must be those of the first."""
        header = header_names(first_line(path), self.delimiter, path)
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
        if fresh and (words := self._words(engine)):
            self.types |= dict.fromkeys(words, "VARCHAR")
            relation = self._read(engine, self.types, self.na)
        return self._trimmed(relation)

    def _words(self, engine: Any) -> list[str]:
        """Columns of labels such as yes and no, which the engine takes for truth values."""
        truths = [name for name, kind in self.types.items() if kind == "BOOLEAN"]
        rows = self._as_text(engine, self.na) if truths else None
        plain = ask(rows, [_looks(f"trim({quoted(name)})")[0] for name in truths])
        return [name for name in truths if not next(plain)]

    def _trimmed(self, rows: Any) -> Any:
        """The relation without blanks around text, where the header has one after each separator."""
        if not self.spaced:
            return rows
        columns = zip(rows.columns, map(str, rows.types), strict=True)
        values = [(f"trim({quoted(n)})" if kind == "VARCHAR" else quoted(n), quoted(n)) for n, kind in columns]
        return rows.project(", ".join(f"{value} as {name}" for value, name in values))

    def _read(self, engine: Any, types: dict[str, str], na: Sequence[str]) -> Any:
        sample = 1 if self.types else -1 if self.whole else SAMPLE
        return engine.read_csv(
            [literal(path) for path in self.paths],
            delimiter=self.delimiter,
            quotechar='"',
            escapechar='"',
            header=True,
            strict_mode=True,
            hive_partitioning=False,
            union_by_name=self.by_name,
            na_values=list(na) or [_NEVER],
            auto_type_candidates=[*_KINDS, "VARCHAR"],
            dtype=types or None,
            sample_size=sample,
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
            rows, [_looks(quoted(name))[_KINDS.index(before[name])] for name in unsure if before[name] in _KINDS]
        )
        unsure = [name for name in unsure if before[name] not in _KINDS or not next(held)]
        answers = ask(rows, [look for name in unsure for look in _looks(f"trim({quoted(name)})")])
        for name in unsure:
            fits = [next(answers) for _ in _KINDS]
            self.types[name] = next((kind for kind, good in zip(_KINDS, fits, strict=True) if good), "VARCHAR")
        return before != self.types

    def marks(self, engine: Any, names: Sequence[str]) -> Counts:
        """How many values are which mark."""
        return count_marks(self._as_text(engine, ()), names, self.na)


_KINDS = ("BOOLEAN", "BIGINT", "HUGEINT", "BIGNUM", "DOUBLE")


def _looks(value: str) -> list[str]:
    """SQL that is true where all values that are there spell truth values, whole numbers, wide ones, or numbers."""
    each = [
        f"lower({value}) in ('true', 'false')",
        f"coalesce(try_cast({value} as bigint)::varchar = {value}, false)",
        f"coalesce(try_cast({value} as hugeint)::varchar = {value}, false)",
        f"coalesce(try_cast({value} as bignum)::varchar = {value}, false)",
        f"try_cast({value} as double) is not null and not regexp_matches({value}, '^[-+]?0[0-9]')",
    ]
    return [f"coalesce(bool_and({test}) filter (where {value} is not null), false)" for test in each]

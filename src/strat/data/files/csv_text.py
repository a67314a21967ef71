"""CSV files as text: unpacking, the first lines, their separator and the names of the columns."""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strat.base import extras
from strat.base.errors import StratError, some

_LINE = re.compile(r'(?:"(?:[^"]|"")*"?|[^"\r\n]+)*')  # up to a line end of any system that no quotes enclose
_END = re.compile(r"\r\n|\r|\n")
_SEPARATOR = re.compile(r'"?sep=(.)"?', re.IGNORECASE)  # Excel's first line, which names the separator of the others
_FRACTION = re.compile(r"[-+]?[0-9]*\.[0-9]+([eE][-+]?[0-9]+)?")
_NUMBER = re.compile(rf"{_FRACTION.pattern}|[-+]?[0-9]+")
_LOOKED_AT = 100  # lines that tell whether the first one holds names


@dataclass(frozen=True)
class Head:
    """How a file of separated text starts.

    Attributes
    ----------
    line
        The line of column names.
    delimiter
        What separates its fields.
    skipped
        How many lines stand before it: one where Excel's `sep=;` does.
    rows
        Some lines after it.
    """

    line: str
    delimiter: str
    skipped: int
    rows: tuple[str, ...]


def head_of(path: Path) -> Head:
    """The first lines of a file, packed or not."""
    lines = _first_lines(path)
    named = _SEPARATOR.fullmatch(lines[0].strip(" "))
    line = (lines[1] if len(lines) > 1 else "") if named else lines[0]
    return Head(
        line, named[1] if named else separator(line, path), 1 if named else 0, tuple(lines[2 if named else 1 :])
    )


def _first_lines(path: Path) -> list[str]:
    """At least one line, which may be empty; the last one only if it is whole."""
    size = 1 << 20
    start = start_of(path, size)
    text = start.decode("utf-8-sig", "replace")
    lines: list[str] = []
    place: int | None = 0
    while place is not None and len(lines) < _LOOKED_AT:
        line = _LINE.match(text, place)
        end = _END.match(text, line.end())  # type: ignore[union-attr]
        if end or len(start) < size or not lines:
            lines.append(line[0])  # type: ignore[index]
        place = end.end() if end else None
    return lines


def start_of(path: Path, size: int) -> bytes:
    """The first bytes of a file, packed or not."""
    try:
        with unpacked(path) as file:
            start: bytes = file.read(size)
            return start
    except read_errors(path) as error:
        raise StratError(f"`{path}` can't be read: {error}.") from None


def refuse_data_for_names(names: Sequence[str], head: Head, path: Path) -> None:
    """Fail where the first line seems to hold data, which would be lost.

    It does if two of its texts or numbers stand again in their own columns, or all of them fit there; numbers that just
    count the columns are names.
    """
    if len(names) == 1 and _separated_by_blanks(head):
        raise StratError(
            f"`{path}` must have a comma, a tab, a semicolon or a bar between its columns, and seems to have blanks; "
            "write it again with one of these signs (one column of text: put its name into quotes)."
        )
    rows = [row for line in head.rows if line.strip() and len(row := _fields(line, head.delimiter, path)) == len(names)]
    columns = [{row[k].strip() for row in rows} for k in range(len(names))]
    again = [name in column or bool(_FRACTION.fullmatch(name)) for name, column in zip(names, columns, strict=True)]
    numbers = [all(map(_NUMBER.fullmatch, {name, *column})) for name, column in zip(names, columns, strict=True)]
    texts = any(name in column and not _NUMBER.fullmatch(name) for name, column in zip(names, columns, strict=True))
    counted = [str(k) for k in range(len(names) + 1)]
    fit = any(again) and all(map(max, again, numbers)) and list(names) not in (counted[:-1], counted[1:])
    if fit or (texts and sum(again) > 1):
        raise StratError(
            f"`{path}` must start with a line of column names, and seems to start with data ({some(names, 3)}); write "
            "a line of names above it."
        )


def _separated_by_blanks(head: Head) -> bool:
    fields = {len(unquoted(line).split()) for line in (head.line, *head.rows) if line.strip()}
    return len(head.rows) > 1 and len(fields) == 1 and fields.pop() > 1


def header_names(head: str, delimiter: str, path: Path) -> list[str]:
    """The column names of the first line."""
    if not head.strip():
        raise StratError(f"`{path}` must start with a line of column names, got an empty line.")
    return [name.strip() for name in _fields(head, delimiter, path)]


def separator(head: str, path: Path) -> str:
    """What separates the names of the first line, whatever stands between quotes."""
    tabs = any(suffix.lower() in (".tsv", ".tab") for suffix in path.suffixes)
    return max("\t,;|" if tabs else ",\t;|", key=unquoted(head).count)


def unquoted(head: str) -> str:
    """The line without what stands between quotes."""
    return re.sub(r'"(?:[^"]|"")*"', "", head)


def _fields(head: str, delimiter: str, path: Path) -> list[str]:
    try:
        return next(csv.reader([head], delimiter=delimiter, skipinitialspace=True))
    except csv.Error as error:
        raise StratError(f"`{path}` must start with a line of column names, and does not: {error}.") from None


def require_unique_names(names: Sequence[str], where: str) -> None:
    """Fail unless each column has a name of its own, capitals aside."""
    refuse_repeated(names, where)
    # the engine takes capitals for small letters, A to Z, and would call the second one by a name of its own
    alike = Counter(_small(name) for name in names)
    if max(alike.values(), default=0) > 1:
        both = [name for name in names if alike[_small(name)] > 1]
        raise StratError(f"{where} must name columns that differ by more than capitals, got {some(both)}; rename one.")


def refuse_repeated(names: Sequence[str], where: str) -> None:
    """Fail where two columns have one name."""
    twice = sorted(name for name, times in Counter(names).items() if times > 1)
    if twice:
        raise StratError(f"{where} must name each column once, got {some(twice)} twice; rename one.")


def _small(name: str) -> bytes:
    return name.encode("utf-8", "replace").lower()


def read_errors(path: Path) -> tuple[type[Exception], ...]:
    """What reading a damaged or empty file raises."""
    plain = (OSError, EOFError, StopIteration, zlib.error)
    if path.suffix.lower() != ".zst":
        return plain
    return (*plain, _zstandard(path).ZstdError)


def _zstandard(path: Path) -> Any:
    what = f"`{path}` is packed with Zstandard, which"
    return extras.load("zstandard", what=what, otherwise=", or pack the file with gzip")


def unpacked(path: Path) -> Any:
    """The bytes of a file, packed or not, as an open file."""
    if path.suffix.lower() == ".gz":
        return gzip.open(path, "rb")
    if path.suffix.lower() == ".zst":
        return io.BufferedReader(_zstandard(path).ZstdDecompressor().stream_reader(path.open("rb"), closefd=True))
    return path.open("rb")

"""CSV files as text: unpacking, the first line, its separator and its names."""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from strat.base import extras
from strat.base.errors import StratError, some

_LINE = re.compile(r'(?:"(?:[^"]|"")*"?|[^"\r\n]+)*')  # up to a line end of any system that no quotes enclose


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


def require_unique_names(names: Sequence[str], path: Path) -> None:
    """Fail unless each column has a name of its own, capitals aside."""
    twice = sorted(name for name, times in Counter(names).items() if times > 1)
    if twice:
        raise StratError(f"`{path}` must name each column once, got {some(twice)} twice; rename one.")
    # the engine takes capitals for small letters, A to Z, and would call the second one by a name of its own
    alike = Counter(_small(name) for name in names)
    if max(alike.values(), default=0) > 1:
        both = [name for name in names if alike[_small(name)] > 1]
        raise StratError(f"`{path}` must name columns that differ by more than capitals, got {some(both)}; rename one.")


def _small(name: str) -> bytes:
    return name.encode("utf-8", "replace").lower()


def first_line(path: Path) -> str:
    """The first line of a file, packed or not."""
    try:
        with unpacked(path) as file:
            line: bytes = file.readline(1 << 20)
            return _LINE.match(line.decode("utf-8-sig", "replace"))[0]  # type: ignore[index]
    except read_errors(path) as error:
        raise StratError(f"`{path}` can't be read: {error}.") from None


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

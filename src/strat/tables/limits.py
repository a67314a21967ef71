"""What keeps a file from another person from hurting: sizes, depths, names, and files that change while read."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strat.errors import StratError, short

MEGABYTE = 1 << 20


@dataclass(frozen=True)
class Limits:
    """How much a log may ask for before it is refused.

    Attributes
    ----------
    member
        Bytes that one member of an archive, or one JSON file, may unpack to.
    archive
        Bytes that all members read from one archive may unpack to.
    ratio
        How many times larger than its packed size a member may become (beyond the first megabyte).
    members
        How many members an archive may have.
    line
        Bytes of one line of a JSON-lines file.
    """

    member: int = 2048 * MEGABYTE
    archive: int = 4096 * MEGABYTE
    ratio: int = 1000
    members: int = 2_000_000
    line: int = 64 * MEGABYTE


DEFAULT = Limits()


@contextmanager
def unchanged(paths: Iterable[Path]) -> Iterator[None]:
    """Run the body, then fail if one of the files changed meanwhile."""
    before = {path: _stamp(path) for path in paths}
    yield
    for path, stamp in before.items():
        if _stamp(path) != stamp:
            raise StratError(f"`{path}` changed while it was read; wait until nothing writes to it, or read a copy.")


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns


def json_object(text: bytes | str, where: str) -> Any:
    """The parsed JSON, or an error that says where it broke."""
    try:
        return json.loads(text)
    except RecursionError:
        raise StratError(f"`{where}` must not nest deeper than Python can follow; it is no log.") from None
    except UnicodeDecodeError as error:
        raise StratError(f"`{where}` must be UTF-8 text, got byte {error.start} that is not.") from None
    except json.JSONDecodeError as error:
        raise StratError(
            f"`{where}` must be JSON, but line {error.lineno}, column {error.colno} reads: {error.msg}; "
            "the file may have been cut off."
        ) from None
    except ValueError as error:  # an integer of thousands of digits
        raise StratError(f"`{where}` must be JSON with ordinary numbers: {error}.") from None


def read_bytes(path: Path, most: int = DEFAULT.member) -> bytes:
    """The whole file, refused beyond `most` bytes."""
    try:
        size = path.stat().st_size
        if size > most:
            raise StratError(f"`{path}` must be at most {most:,} bytes, got {size:,}; split it.")
        return path.read_bytes()
    except OSError as error:
        raise StratError(f"`{path}` can't be read: {error.strerror or error}.") from None


def json_lines(path: Path, most: int = DEFAULT.line) -> Iterator[tuple[int, Any]]:
    """Line number and object of each line; a line that is too long or broken is an error with its number."""
    try:
        with path.open("rb") as file:
            number = 0
            while line := file.readline(most + 1):
                number += 1
                if len(line) > most:
                    raise StratError(f"`{path}`, line {number}, must be at most {most:,} bytes; it is no log.")
                if line.strip():
                    yield number, _line_object(line, path, number)
    except OSError as error:
        raise StratError(f"`{path}` can't be read: {error.strerror or error}.") from None


def _line_object(line: bytes, path: Path, number: int) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        reason = getattr(error, "msg", None) or "bytes that are not UTF-8, or nested too deep"
        raise StratError(
            f"`{path}`, line {number}, must be one JSON object: {reason}; the file may have been cut off."
        ) from None


def safe_member(name: str, where: str) -> str:
    """The member's name, unless it climbs out of its archive."""
    parts = name.replace("\\", "/").split("/")
    if name.startswith(("/", "\\")) or ".." in parts or (len(name) > 1 and name[1] == ":"):
        raise StratError(f"`{where}` must not hold paths that lead out of it, got {name!r}; it is no log.")
    return name


def number(value: Any) -> float:
    """`value` as a float, or NaN."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def whole(value: Any) -> int:
    """`value` as a whole number of at most 32 bits, such as the number of a repeat; a ValueError otherwise.

    >>> whole("3")
    3
    """
    made = float(value)
    if not made.is_integer() or abs(made) >= 1 << 31:
        raise ValueError(value)
    return int(made)


def possible(name: str | os.PathLike[str]) -> Path:
    """The path, if the system can look there: not too long, and in no closed folder."""
    path = Path(name)
    try:
        path.is_dir()
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise StratError(f"`source` must name files that exist, got {short(repr(str(name)))}: {reason}.") from None
    return path


def readable(path: Path) -> Path:
    """The path itself, if it can be opened."""
    if not os.access(path, os.R_OK):
        raise StratError(f"`{path}` can't be read: permission denied.")
    return path

"""Safety limits for untrusted files: sizes, depths, names, and files that change while read."""

from __future__ import annotations

import io
import json
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from strat.base.errors import StratError, short

MEGABYTE = 1 << 20  # bytes


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
    objects
        Objects and lists of one JSON file, or of all members read from one archive: small ones take a hundred times
        their bytes in memory.
    values
        The same for the values in them.
    cells
        Samples × names of measures of one log.
    """

    member: int = 2048 * MEGABYTE
    archive: int = 4096 * MEGABYTE
    ratio: int = 1000
    members: int = 2_000_000
    line: int = 64 * MEGABYTE
    objects: int = 20_000_000
    values: int = 100_000_000
    cells: int = 32_000_000


DEFAULT = Limits()


Stamps = dict[Path, tuple[int, ...] | None]
"""How files looked when they were opened."""


def stamps_of(paths: Iterable[Path]) -> Stamps:
    """How the files look now: which they are, how long, and when they were written."""
    return {path: _stamp(path) for path in paths}


@contextmanager
def unchanged(opened: Stamps) -> Iterator[None]:
    """Run the body, then fail if one of the files is not what it was when it was opened.

    All passes over a file compare it with the same stamp, so that no two of them read different rows.
    """
    yield
    for path, stamp in opened.items():
        if _stamp(path) != stamp:
            raise StratError(f"`{path}` changed while it was read; wait until nothing writes to it, or read a copy.")


def _stamp(path: Path) -> tuple[int, ...] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def literal(path: Path) -> str:
    """The path as DuckDB reads it: absolute, so that no sign of it acts, and its glob signs stand for themselves."""
    return re.sub(r"([\[*?])", r"[\1]", os.path.abspath(path))  # noqa: PTH100  (keeps links and `..` as they are)


@dataclass
class Parts:
    """How many objects and values were met in JSON texts, at most (signs inside strings count too)."""

    limits: Limits = DEFAULT
    objects: int = 0
    values: int = 0

    def add(self, text: bytes, where: str) -> None:
        """Count those of one more text before it is parsed."""
        self.objects += text.count(b"{") + text.count(b"[")
        self.values += text.count(b",")
        for name, most in (("objects", self.limits.objects), ("values", self.limits.values)):
            if getattr(self, name) > most:
                raise StratError(
                    f"`{where}` must hold at most {most:,} {name}, got up to {getattr(self, name):,}; split the log."
                )


@cache
def _fast() -> Any:
    """A faster decoder of JSON, if one is installed."""
    try:
        import msgspec
        import msgspec.json
    except ImportError:
        return None
    return msgspec


def anything() -> Any:
    """The type of any JSON."""
    return Any


def parsed(text: bytes, kind: Callable[[], Any] = anything) -> Any:
    """What a JSON text holds, by the faster decoder where it can; what that refuses (NaN, say) is for the standard one.

    `kind` gives the type to decode into, which skips what that type does not name; where the text does not fit it, or
    no faster decoder is installed, the answer is plain lists and dicts.

    >>> parsed(b'{"score": NaN}')
    {'score': nan}
    """
    fast = _fast()
    if fast is not None:
        try:
            return fast.json.decode(text, type=kind())
        except (ValueError, fast.MsgspecError):  # which is no ValueError in older releases
            pass  # the standard library says where a text broke, and reads what else Python writes
    return json.loads(text)


def json_object(text: bytes, where: str, kind: Callable[[], Any] = anything, parts: Parts | None = None) -> Any:
    """The parsed JSON, or an error that says where it broke; `kind` as in :func:`parsed`, `parts` of what it is in."""
    (parts or Parts()).add(text, where)
    try:
        return parsed(text, kind)
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
    except ValueError:  # a name with a NUL, or with half of a surrogate pair
        raise StratError(f"`{short(repr(str(path)))}` can't be read: no file has such a name.") from None


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
    Parts().add(line, f"{path}, line {number}")
    try:
        return parsed(line)
    except (ValueError, RecursionError) as error:
        reason = getattr(error, "msg", None) or "bytes that are not UTF-8, or nested too deep"
        raise StratError(
            f"`{path}`, line {number}, must be one JSON object: {reason}; the file may have been cut off."
        ) from None


def text_lines(file: Any, most: int = DEFAULT.line) -> Iterator[str]:
    """The lines of a file of bytes as text; a ValueError for one that never ends."""
    with io.TextIOWrapper(file, "utf-8", newline="") as text:
        while line := text.readline(most):
            if len(line) == most:
                raise ValueError(f"a line has more than {most:,} characters")
            yield line


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
    try:
        number = float(value)
    except OverflowError:
        raise ValueError(value) from None
    if not number.is_integer() or abs(number) >= 1 << 31:
        raise ValueError(value)
    return int(number)


def possible(name: str | os.PathLike[str]) -> Path:
    """The path, if the system can look there: not too long, and in no closed folder."""
    path = Path(name)
    try:
        path.is_dir()
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise StratError.about(
            "source", f"must name files that exist, got {short(repr(str(name)))}: {reason}."
        ) from None
    return path


def readable(path: Path) -> Path:
    """The path itself, if it can be opened."""
    if not os.access(path, os.R_OK):
        raise StratError(f"`{path}` can't be read: permission denied.")
    return path

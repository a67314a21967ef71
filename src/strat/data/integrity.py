"""Is a file as it was written? What it carries to tell is checked before the engine sees it.

The engine trusts the offsets of an Arrow file and reads past them, and it looks neither at the checksum of a gzip file
nor at those of Parquet pages.
"""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

from strat.base.errors import StratError
from strat.base.limits import LIMITS
from strat.data.untrusted import DEFAULT, Stamps, literal, stamps_of


def inspect(paths: Sequence[Path], kind: str, engine: Any) -> Stamps:
    """Check the files of one kind once, before they are read, and say how they look."""
    stamps = stamps_of(paths)
    for path in paths:
        if kind == "arrow":
            _inspect_arrow(path)
        elif kind == "parquet":
            _inspect_parquet(path, engine)
        elif path.suffix.lower() == ".gz":
            _inspect_gzip(path)
    return stamps


def _inspect_arrow(path: Path) -> None:
    """Every batch, with its offsets, dictionaries and text: a wrong one would be read outside its memory."""
    try:
        import pyarrow
        import pyarrow.ipc
    except ImportError:
        return  # the reader says what is needed
    try:
        with pyarrow.OSFile(os.path.abspath(path)) as file, pyarrow.ipc.open_file(file) as batches:  # noqa: PTH100
            for number in range(batches.num_record_batches):
                batches.get_batch(number).validate(full=True)
    except UnicodeError:
        raise StratError(f"`{path}` must hold UTF-8 text, and a name in it is not UTF-8; write it again.") from None
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        reason = str(error).strip().split("\n")[0].rstrip(".")
        raise StratError(f"`{path}` can't be read as an Arrow file: {reason}.") from None


def _inspect_gzip(path: Path) -> None:
    """The whole stream once: its checksum, its length, and no line that never ends."""
    run = 0
    try:
        with gzip.open(path, "rb") as file:
            while chunk := file.read(LIMITS.file_chunk):
                end = max(chunk.rfind(b"\n"), chunk.rfind(b"\r"))
                run = run + len(chunk) if end < 0 else len(chunk) - end - 1
                if run > DEFAULT.line:
                    raise StratError(f"`{path}` must have lines of at most {DEFAULT.line:,} bytes; is it text?")
    except (OSError, EOFError, zlib.error) as error:
        raise StratError(f"`{path}` can't be read: {error or 'it is cut off'}; the file is damaged.") from None


# ---- Parquet


def _inspect_parquet(path: Path, engine: Any) -> None:
    """The checksum of every page, where the file has them."""
    import duckdb

    try:
        chunks = engine.execute(
            "select least(coalesce(nullif(dictionary_page_offset, 0), data_page_offset), data_page_offset), "
            "total_compressed_size from parquet_metadata(?)",
            [literal(path)],
        ).fetchall()
    except duckdb.Error:
        return  # the reader says what is wrong
    with path.open("rb") as file:
        for place, (start, size) in enumerate(chunks):
            if not _pages_are_whole(file, start, size, path) and place == 0:
                return  # a file without checksums


def _pages_are_whole(file: BinaryIO, start: int, size: int, path: Path) -> bool:
    """Whether the first page of a column chunk has a checksum; pages that do not fit theirs are refused."""
    at, end, seen = start, start + size, False
    while at < end:
        file.seek(at)
        head = file.read(min(LIMITS.file_chunk, end - at))
        page = _page(head)
        if page is None:
            return seen  # the engine says what is wrong with it
        length, packed, checksum = page
        if checksum is None:
            return seen
        seen = True
        file.seek(at + length)
        if zlib.crc32(file.read(packed)) != checksum & 0xFFFFFFFF:
            raise StratError(f"`{path}` can't be read: a page does not fit its checksum; the file is damaged.")
        at += length + packed
    return seen


def _page(head: bytes) -> tuple[int, int, int | None] | None:
    """Length of a page's header, of the page, and its checksum: a structure of Thrift's compact protocol."""
    numbers: dict[int, int] = {}
    reader = _Thrift(head)
    try:
        length = reader.structure(numbers)
    except (IndexError, ValueError):
        return None
    return (length, numbers[3], numbers.get(4)) if numbers.get(3, -1) >= 0 else None


class _Thrift:
    """Just enough of Thrift's compact protocol to walk over the headers of pages."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def varint(self) -> int:
        number = shift = 0
        while True:
            byte = self.byte()
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number
            if shift > 63:
                raise ValueError

    def structure(self, numbers: dict[int, int] | None = None, depth: int = 0) -> int:
        """Walk over a structure, keeping its whole numbers by field; where it ends."""
        if depth > 16:
            raise ValueError
        field = 0
        while head := self.byte():
            field = field + (head >> 4) if head >> 4 else self._zigzag()
            value = self._value(head & 15, depth)
            if numbers is not None and value is not None:
                numbers[field] = value
        return self.at

    def _zigzag(self) -> int:
        number = self.varint()
        return (number >> 1) ^ -(number & 1)

    def _value(self, kind: int, depth: int) -> int | None:
        if kind in (4, 5, 6):  # whole numbers
            return self._zigzag()
        if kind == 3:
            self.byte()
        elif kind == 7:
            self.at += 8
        elif kind == 8:
            length = self.varint()
            self.at += length
        elif kind in (9, 10):
            self._list(depth)
        elif kind == 12:
            self.structure(depth=depth + 1)
        elif kind not in (1, 2):  # truth values have no bytes
            raise ValueError
        return None

    def _list(self, depth: int) -> None:
        head = self.byte()
        number = head >> 4 if head >> 4 < 15 else self.varint()
        if number > len(self.data):
            raise ValueError
        for _ in range(number):
            self._value(head & 15, depth + 1)

"""Zip archives whose members may be packed with Zstandard, read in memory under limits; nothing is unpacked to disk."""

from __future__ import annotations

import io
import os
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from strat.base import extras
from strat.base.errors import StratError
from strat.data.untrusted import DEFAULT, MEGABYTE, Limits, Parts, anything, json_object, safe_member

STORED, DEFLATED, ZSTANDARD = 0, 8, 93  # how a member of a zip archive is packed, by the numbers of the format
_END = struct.Struct("<4sHHHHLLH")  # the record at the end of an archive: APPNOTE 4.3.16
_ENTRY = struct.Struct("<8xHH4xLLL14xL")  # the fixed part of an entry of its directory: APPNOTE 4.3.12
_LENGTHS = struct.Struct("<HHH")  # of its name, extra field and comment, at byte 28 of the entry
_FAR = b"\xff\xff\xff\xff"  # "see the extra field": a size or place beyond 32 bits


class Member(NamedTuple):
    """What the directory of an archive says of one member."""

    flags: int
    method: int
    checksum: int
    packed: int
    size: int
    offset: int


class Archive:
    """The members of one zip file, by name.

    Attributes
    ----------
    path
        The file.
    names
        Its members, in the order of its directory.
    """

    def __init__(self, path: Path, limits: Limits = DEFAULT) -> None:
        self.path, self.limits, self._spent, self._parts = path, limits, 0, Parts(limits)
        try:
            self._file: BinaryIO = path.open("rb")
        except OSError as error:
            raise StratError(f"`{path}` can't be read: {error.strerror or error}.") from None
        try:
            self._members: Mapping[str, Member] = _PlainDirectory.of(self._file) or _directory(self._file)
        except (zipfile.BadZipFile, OSError, ValueError, UnicodeDecodeError, struct.error) as error:
            self._file.close()
            raise StratError(f"`{path}` must be a whole zip archive, got: {error}; it may have been cut off.") from None
        except NotImplementedError as error:
            self._file.close()
            raise StratError(f"`{path}` must be a plain zip archive, got: {error}.") from None
        if len(self._members) > limits.members:
            self.close()
            raise StratError(f"`{path}` must have at most {limits.members:,} members, got {len(self._members):,}.")

    @property
    def names(self) -> list[str]:
        """Names of the members."""
        return list(self._members)

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def read(self, name: str) -> bytes:
        """One member, unpacked in memory."""
        info = self._members[safe_member(name, str(self.path))]
        where = f"{self.path}:{name}"
        self._check_sizes(info, where)
        packed = self._packed(info, where)
        content = _unpack(packed, info, where)
        if len(content) != info.size or zlib.crc32(content) != info.checksum:
            raise StratError(f"`{where}` must match its checksum, and does not; the file is damaged.")
        return content

    def json(self, name: str, kind: Callable[[], Any] = anything) -> Any:
        """What a member of JSON holds; `kind` as in :func:`strat.data.untrusted.parsed`."""
        return json_object(self.read(name), f"{self.path}:{name}", kind, self._parts)

    def _check_sizes(self, info: Member, where: str) -> None:
        self._spent += info.size
        if info.flags & 0x1:
            raise StratError(f"`{where}` must not be encrypted; unpack it first.")
        if info.size > self.limits.member:
            raise StratError(f"`{where}` must unpack to at most {self.limits.member:,} bytes, got {info.size:,}.")
        if info.size > MEGABYTE and info.size > self.limits.ratio * max(info.packed, 1):
            raise StratError(
                f"`{where}` must not unpack to more than {self.limits.ratio} times its size, "
                f"got {info.size:,} bytes from {info.packed:,}; it is no log."
            )
        if self._spent > self.limits.archive:
            raise StratError(f"`{self.path}` must unpack to at most {self.limits.archive:,} bytes in all.")

    def _packed(self, info: Member, where: str) -> bytes:
        if not 0 <= info.offset < 1 << 62:
            raise StratError(f"`{where}` must start inside the file, and does not; the file is damaged.")
        self._file.seek(info.offset)
        header = self._file.read(30)
        if len(header) != 30 or header[:4] != b"PK\x03\x04":
            raise StratError(f"`{where}` must start with a zip header, and does not; the file is damaged.")
        name_length, extra_length = struct.unpack("<HH", header[26:30])
        self._file.seek(name_length + extra_length, io.SEEK_CUR)
        packed: bytes = self._file.read(info.packed)
        if len(packed) != info.packed:
            raise StratError(f"`{where}` must have {info.packed:,} bytes; the file was cut off.")
        return packed


def _directory(file: BinaryIO) -> dict[str, Member]:
    """Every member by name, as the standard library reads any archive."""
    with zipfile.ZipFile(file) as listing:
        return {
            i.filename: Member(i.flag_bits, i.compress_type, i.CRC, i.compress_size, i.file_size, i.header_offset)
            for i in listing.infolist()
        }


class _PlainDirectory(Mapping[str, Member]):
    """The same of an archive without a comment or old encodings, several times as fast: entries are read on demand.

    A log has a member for each sample, of which two or three are read.
    """

    def __init__(self, content: bytes, entries: dict[str, int]) -> None:
        self._content, self._entries = content, entries

    @classmethod
    def of(cls, file: BinaryIO) -> _PlainDirectory | None:
        """The directory, or None where it is not plain."""
        length = file.seek(0, os.SEEK_END)
        file.seek(max(length - _END.size, 0))
        end = file.read(_END.size)
        if len(end) != _END.size:
            return None
        signature, *disks, here, entries, size, start, comment = _END.unpack(end)
        if signature != b"PK\x05\x06" or any(disks) or here != entries or comment:
            return None
        if start + size + _END.size != length:
            return None
        file.seek(start)
        content = file.read(size)
        places = _places(content, entries)
        return None if places is None else cls(content, places)

    def __getitem__(self, name: str) -> Member:
        return Member(*_ENTRY.unpack_from(self._content, self._entries[name]))

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


def _places(content: bytes, count: int) -> dict[str, int] | None:
    """Where the entry of each member starts, by name; None where an entry is not plain."""
    places: dict[str, int] = {}
    at, size, last = 0, _ENTRY.size, len(content) - _ENTRY.size
    for _ in range(count):
        if at > last or content[at : at + 4] != b"PK\x01\x02" or _FAR in content[at + 20 : at + 46]:
            return None
        name, extra, comment = _LENGTHS.unpack_from(content, at + 28)
        text = content[at + size : at + size + name]
        if not text.isascii() or b"\0" in text:
            return None
        places[text.decode("ascii")] = at
        at += size + name + extra + comment
    return places if at == len(content) else None


def _unpack(packed: bytes, info: Member, where: str) -> bytes:
    unpack = _METHODS.get(info.method)
    if unpack is None:
        raise StratError(f"`{where}` must be stored, deflated or packed with Zstandard, got method {info.method}.")
    return unpack(packed, info.size + 1, where)


def _inflate(packed: bytes, most: int, where: str) -> bytes:
    try:
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, most)
    except zlib.error as error:
        raise StratError(f"`{where}` can't be unpacked: {error}; the file is damaged.") from None


def _unzstd(packed: bytes, most: int, where: str) -> bytes:
    zstandard = extras.load("zstandard", what=f"`{where}` is packed with Zstandard, which")
    try:
        reader = zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(packed)
        content: bytes = reader.read(most)
    except (zstandard.ZstdError, MemoryError) as error:
        raise StratError(f"`{where}` can't be unpacked: {error}; the file is damaged.") from None
    return content


_METHODS: dict[int, Callable[[bytes, int, str], bytes]] = {
    STORED: lambda packed, most, where: packed[:most],
    DEFLATED: _inflate,
    ZSTANDARD: _unzstd,
}

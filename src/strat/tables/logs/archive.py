"""Zip archives whose members may be packed with Zstandard, read in memory under limits; nothing is unpacked to disk."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from strat.errors import StratError
from strat.tables.limits import DEFAULT, MEGABYTE, Limits, safe_member

STORED, DEFLATED, ZSTANDARD = 0, 8, 93


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
        self.path, self.limits, self._spent = path, limits, 0
        try:
            self._file: Any = path.open("rb")
        except OSError as error:
            raise StratError(f"`{path}` can't be read: {error.strerror or error}.") from None
        try:
            with zipfile.ZipFile(self._file) as listing:
                self._members = {info.filename: info for info in listing.infolist()}
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
        if len(content) != info.file_size or zlib.crc32(content) != info.CRC:
            raise StratError(f"`{where}` must match its checksum, and does not; the file is damaged.")
        return content

    def _check_sizes(self, info: zipfile.ZipInfo, where: str) -> None:
        self._spent += info.file_size
        if info.flag_bits & 0x1:
            raise StratError(f"`{where}` must not be encrypted; unpack it first.")
        if info.file_size > self.limits.member:
            raise StratError(f"`{where}` must unpack to at most {self.limits.member:,} bytes, got {info.file_size:,}.")
        if info.file_size > MEGABYTE and info.file_size > self.limits.ratio * max(info.compress_size, 1):
            raise StratError(
                f"`{where}` must not unpack to more than {self.limits.ratio} times its size, "
                f"got {info.file_size:,} bytes from {info.compress_size:,}; it is no log."
            )
        if self._spent > self.limits.archive:
            raise StratError(f"`{self.path}` must unpack to at most {self.limits.archive:,} bytes in all.")

    def _packed(self, info: zipfile.ZipInfo, where: str) -> bytes:
        if not 0 <= info.header_offset < 1 << 62:
            raise StratError(f"`{where}` must start inside the file, and does not; the file is damaged.")
        self._file.seek(info.header_offset)
        header = self._file.read(30)
        if len(header) != 30 or header[:4] != b"PK\x03\x04":
            raise StratError(f"`{where}` must start with a zip header, and does not; the file is damaged.")
        name_length, extra_length = struct.unpack("<HH", header[26:30])
        self._file.seek(name_length + extra_length, io.SEEK_CUR)
        packed: bytes = self._file.read(info.compress_size)
        if len(packed) != info.compress_size:
            raise StratError(f"`{where}` must have {info.compress_size:,} bytes; the file was cut off.")
        return packed


def _unpack(packed: bytes, info: zipfile.ZipInfo, where: str) -> bytes:
    unpack = _METHODS.get(info.compress_type)
    if unpack is None:
        raise StratError(
            f"`{where}` must be stored, deflated or packed with Zstandard, got method {info.compress_type}."
        )
    return unpack(packed, info.file_size + 1, where)


def _inflate(packed: bytes, most: int, where: str) -> bytes:
    try:
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, most)
    except zlib.error as error:
        raise StratError(f"`{where}` can't be unpacked: {error}; the file is damaged.") from None


def _unzstd(packed: bytes, most: int, where: str) -> bytes:
    import zstandard

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

"""Logs as a harness writes them, by hand: what the tests of log readers share."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import zstandard

Write = Callable[..., Path]


def write_zip(path: Path, members: Mapping[str, bytes], *, lie: int | None = None, method: int = 93) -> Path:
    """A zip archive with Zstandard members, by hand; `lie` replaces the unpacked size that is declared."""
    body, directory = b"", b""
    for name, content in members.items():
        packed = zstandard.ZstdCompressor().compress(content) if method == 93 else content
        size = len(content) if lie is None else lie
        fields = struct.pack("<HHHHHIII", 20, 0, method, 0, 33, zlib.crc32(content), len(packed), size)
        encoded = name.encode()
        local = b"PK\x03\x04" + fields + struct.pack("<HH", len(encoded), 0) + encoded
        central = (
            b"PK\x01\x02"
            + struct.pack("<H", 20)
            + fields
            + struct.pack("<HHHHHII", len(encoded), 0, 0, 0, 0, 0, len(body))
        )
        directory += central + encoded
        body += local + packed
    end = struct.pack("<HHHHIIH", 0, 0, len(members), len(members), len(directory), len(body), 0)
    path.write_bytes(body + directory + b"PK\x05\x06" + end)
    return path


def sample(item: Any, value: Any, epoch: int = 1, **more: Any) -> dict[str, Any]:
    """One sample as inspect-ai writes it."""
    return {"id": item, "epoch": epoch, "scores": {"match": {"value": value}}, "metadata": {}, **more}

"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from strat.base.errors import StratError


@contextmanager
def atomic(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file that takes its name only when it has been written to the end; what was there stays until then.

    A file that is replaced keeps its rights.
    """
    asked = Path(path)
    if not asked.parent.is_dir():
        raise StratError(f"`{asked}` can't be written: there is no folder {str(asked.parent)!r}.")
    target = Path(os.path.realpath(asked))  # a link stays, what it points to is replaced
    if target.exists() and not target.is_file():
        raise StratError(f"`{asked}` can't be written: it is a folder or a device; name a plain file.")
    part = target.with_name(f".{target.name[:50]}.{secrets.token_hex(4)}.part")
    try:
        file = _opened(part, target)
    except OSError as error:
        raise StratError(f"`{asked}` can't be written: {_reason(error)}.") from None
    try:
        with file:
            yield file
            if not file.closed:
                file.flush()
                os.fsync(file.fileno())
        part.replace(target)
    except BaseException as error:
        part.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise StratError(f"`{asked}` can't be written: {_reason(error)}.") from None
        raise


def _opened(part: Path, target: Path) -> IO[bytes]:
    """A new file with the rights of the one that it will replace; the umask, which all threads share, is left alone."""
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    rights = 0o666  # of a new file, of which the system takes away what the umask says
    file = os.fdopen(os.open(part, flags, rights if mode is None else mode & rights), "wb")
    if mode is not None:
        part.chmod(mode)
    return file


def _reason(error: OSError) -> str:
    return error.strerror or str(error) or type(error).__name__


def write_integers_csv(path: str | os.PathLike[str], table: NDArray[Any]) -> None:
    """Write one line per row, whole numbers comma-separated."""
    with atomic(path) as file:
        np.savetxt(file, table, fmt="%d", delimiter=",")


def write_npy(path: str | os.PathLike[str], table: NDArray[Any]) -> None:
    """Write an array in NumPy's `.npy` format."""
    with atomic(path) as file:
        np.save(file, table)

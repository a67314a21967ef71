"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from strat.errors import StratError


@contextmanager
def atomic(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file that takes its name only when it has been written to the end; what was there stays until then."""
    asked = Path(path)
    if not asked.parent.is_dir():
        raise StratError(f"`{asked}` can't be written: there is no folder {str(asked.parent)!r}.")
    target = Path(os.path.realpath(asked))  # a link stays, what it points to is replaced
    if target.exists() and not target.is_file():
        raise StratError(f"`{asked}` can't be written: it is a folder or a device; name a plain file.")
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
    except OSError as error:
        raise StratError(f"`{asked}` can't be written: {_reason(error)}.") from None
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        Path(name).chmod(0o666 & ~_umask())
        Path(name).replace(target)
    except BaseException as error:
        Path(name).unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise StratError(f"`{asked}` can't be written: {_reason(error)}.") from None
        raise


def _reason(error: OSError) -> str:
    return error.strerror or str(error) or type(error).__name__


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask

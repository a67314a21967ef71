"""Where the engine puts what does not fit into memory: a private folder that goes when the engine goes."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Folder:
    """A folder for one engine that no other user can read; no path where there is no place for one."""

    def __init__(self) -> None:
        try:
            self.path = tempfile.mkdtemp(prefix="strat-")  # 0700: the rows are somebody's data
        except OSError:
            self.path = ""  # the engine then says that memory is too small
        self.clean = weakref.finalize(self, _remove, self.path, os.getpid())

    def kept_with(self, engine: Any) -> Any:
        """The engine, with which the folder goes, at the latest when the program ends."""
        self.clean.detach()
        weakref.finalize(engine, _remove, self.path, os.getpid())
        return engine


def _remove(path: str, owner: int) -> None:
    if path and os.getpid() == owner:  # a copy of the process must not take it away from the first
        shutil.rmtree(path, ignore_errors=True)


@contextmanager
def spilling() -> Iterator[Folder]:
    """A new folder, which is gone again if no engine keeps it."""
    folder = Folder()
    try:
        yield folder
    finally:
        folder.clean()

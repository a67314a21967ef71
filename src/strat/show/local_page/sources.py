"""The files that a page works with: named by a path, uploaded into the page's own folder, or the bundled example."""

from __future__ import annotations

import io
import secrets
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strat.base.errors import StratError, short
from strat.base.files import atomic
from strat.base.limits import LIMITS
from strat.data.logs.reading import is_logs
from strat.datasets.example import example_path


@dataclass(frozen=True)
class Source:
    """A file or a folder, by the name that commands get, and the folder in which it has that name."""

    folder: str
    name: str


def of_path(text: str) -> Source:
    """The file or folder of this machine that a person named; `FILE.xlsx#SHEET` names a sheet."""
    file = text.partition("#")[0] if ".xls" in text.lower() else text
    try:
        known = bool(text) and (Path(file).is_file() or Path(file).is_dir())
    except (OSError, ValueError):  # too long, or with a zero byte
        known = False
    if not known:
        raise StratError.about("path", f"must name a file or a folder of this machine, got {short(text)!r}.")
    return Source(str(Path.cwd()), text)


def safe_name(name: str) -> str:
    r"""The last part of an uploaded file's name, which can't leave its folder.

    >>> safe_name("../../etc/passwd.csv"), safe_name("C:\\data\\a.csv")
    ('passwd.csv', 'a.csv')
    """
    last = name.replace("\\", "/").rpartition("/")[2]
    last = "".join(sign for sign in last if sign.isprintable()).strip()
    if not last or last.startswith(".") or len(last.encode()) > LIMITS.upload_name:
        raise StratError.about(
            "name", f"must be the name of a file of at most {LIMITS.upload_name} bytes, got {short(name)!r}."
        )
    return last


class Uploads:
    """Files that were dropped on the page: each batch in a folder of its own, all gone with the page."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.batches: dict[str, Path] = {}

    def begin(self) -> str:
        """A new batch of files."""
        name = secrets.token_hex(8)
        self.batches[name] = self.folder / f"upload-{name}" / "logs"
        self.batches[name].mkdir(mode=0o700, parents=True)
        return name

    def example(self) -> Source:
        """A copy of the bundled example, under the name that the documentation gives it."""
        data = example_path().read_bytes()
        batch = self.begin()
        self.add(batch, "predictions.csv", len(data), io.BytesIO(data))
        return self.source(batch)

    def add(self, batch: str, name: str, length: int, body: Any, *, folder: str = "") -> None:
        """Write `length` bytes of a body to a file of the batch, in the folder that it had within the one chosen."""
        parts = [safe_name(part) for part in folder.split("/") if part]
        if len(parts) > LIMITS.upload_depth:
            raise StratError.about("folder", f"must be at most {LIMITS.upload_depth} folders deep, got {len(parts)}.")
        target = self._of(batch).joinpath(*parts, safe_name(name))
        try:
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise StratError.about("folder", f"must be no file of its batch, got {short(folder)!r}.") from None
        if length > shutil.disk_usage(self.folder).free // 2:
            raise StratError("There is not enough room on the disk for a copy; name the file by its path instead.")
        try:
            target.touch(mode=0o600, exist_ok=False)  # the name is taken at once, also for one who sends it meanwhile
        except FileExistsError:
            raise StratError.about("name", f"must be new in its batch, got {target.name!r} twice.") from None
        try:
            _fill(target, length, body)
        except BaseException:
            target.unlink()
            raise

    def source(self, batch: str) -> Source:
        """What was uploaded: a file, or a folder of logs."""
        folder = self._of(batch)
        files = sorted(file for file in folder.rglob("*") if file.is_file())
        if not files:
            raise StratError.about("batch", "must hold at least one file, got none.")
        if files == [folder / files[0].name]:
            return Source(str(folder), files[0].name)
        odd = next((file.name for file in files if file.parent == folder and _is_no_log(file)), None)
        if odd is not None:
            raise StratError(f"Several files at once must be logs of benchmarks, got {odd!r}; choose one table.")
        return Source(str(folder.parent), folder.name)

    def _of(self, batch: str) -> Path:
        if batch not in self.batches:
            raise StratError.about("batch", "must be one that this page began.")
        return self.batches[batch]


def _is_no_log(file: Path) -> bool:
    return not is_logs(file) and file.suffix != ".jsonl"


def _fill(target: Path, length: int, body: Any) -> None:
    with atomic(target) as file:
        for piece in pieces(body, length):
            file.write(piece)
        if file.tell() != length:
            raise StratError("The upload ended before the file was whole.")


def pieces(body: Any, length: int) -> Iterator[bytes]:
    """The bytes of a body, piece by piece, up to its length or its end."""
    while length > 0 and (piece := body.read(min(LIMITS.upload_piece, length))):
        length -= len(piece)
        yield piece

"""Which files a path, a glob or a list of them names, and of which format each is."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from pathlib import Path

from strat.base.errors import StratError, near, some
from strat.data import excel
from strat.data.untrusted import possible, readable

FORMATS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".tab": "csv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".jsonl": "json",
    ".ndjson": "json",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".xlsx": "excel",
    ".xlsm": "excel",
}
PACKED = (".gz", ".zst")
PICKLES = (".pkl", ".pickle", ".joblib", ".pt", ".pth")


def find(source: str | Path | Sequence[str | Path]) -> list[Path]:
    """The existing files that the paths and globs name, in sorted order within each."""
    given = [source] if isinstance(source, str | Path) else list(source)
    paths: list[Path] = []
    if "" in given:
        raise StratError.about("source", "must name files that exist, got an empty name.")
    for name in given:
        path = possible(name)
        if path.is_dir():
            raise StratError.about(
                "source", f"must name files, got the folder {str(path)!r}; add a pattern: {path}/*.csv."
            )
        # a pattern may be absolute, which Path.glob refuses
        globbed = sorted(glob.glob(str(name), recursive=True))  # noqa: PTH207
        hits = [path] if path.exists() else [Path(hit) for hit in globbed]
        if not hits:
            raise StratError.about("source", f"must name files that exist, got {str(name)!r}; {_beside(path)}")
        paths.extend(hits)
    if not paths:
        raise StratError.about("source", "must name at least one file, got none.")
    return once([readable(path) for path in paths if path.is_file()] or _no_file(given))


def once(paths: list[Path]) -> list[Path]:
    """The paths, unless two of them are one file: its rows would count twice."""
    seen: dict[tuple[int, int], Path] = {}
    for path in paths:
        status = path.stat()
        first = seen.setdefault((status.st_dev, status.st_ino), path)
        if first is not path:
            what = f"`{path}` twice" if str(first) == str(path) else f"`{first}` and `{path}`, which are one file"
            raise StratError.about(
                "source", f"must name each file once, got {what}; name it once, or the rows count twice."
            )
    return paths


def _no_file(given: Sequence[str | Path]) -> list[Path]:
    raise StratError.about("source", f"must name files, got {some([str(g) for g in given])}, where there is none.")


def _beside(path: Path) -> str:
    folder = path.parent
    if not folder.is_dir():
        return f"there is no folder {str(folder)!r}."
    return near(path.name, sorted(p.name for p in folder.iterdir() if p.is_file())[:200])


def kind_of(path: Path) -> str:
    """The format that the name tells, or an error that lists the known ones."""
    suffixes = [s.lower() for s in path.suffixes]
    while suffixes and suffixes[-1] in PACKED:
        suffixes.pop()
    last = suffixes[-1] if suffixes else ""
    if last in PICKLES:
        raise StratError(
            f"`{path}` is a pickle, which can run code when it is loaded, so strat never loads one; "
            "write the table as Parquet or CSV."
        )
    excel.refuse_other_spreadsheets(path, last)
    if last not in FORMATS:
        raise StratError(
            f"`{path}` must end in one of {', '.join(FORMATS)} (with .gz or .zst if packed), got {last!r}; "
            "write the table as CSV or Parquet, or pass a data frame."
        )
    if FORMATS[last] == "excel" and path.suffix.lower() in PACKED:
        raise StratError(f"`{path}` must be unpacked first: an Excel workbook is packed in itself.")
    return FORMATS[last]

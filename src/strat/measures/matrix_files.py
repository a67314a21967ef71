"""Confusion matrices in files: bare numbers, numbers with class names around them, `.npy`, or our own JSON."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

from strat.base.errors import StratError, short
from strat.base.escaping import armed
from strat.base.validate.columns import load

SUFFIXES = (".csv", ".tsv", ".txt", ".json", ".npy")


def read_matrix(path: str | Path) -> tuple[Any, list[Any] | None]:
    """The counts of a file and the names of the classes, if it has any."""
    if not isinstance(path, str | Path) or len(str(path)) > 4096 or not Path(path).is_file():
        raise StratError.about("path", f"must be a file that exists, got {short(repr(str(path)))}.")
    path = Path(path)
    if path.suffix.lower() not in SUFFIXES:
        raise StratError.about("path", f"must end in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}, got {path.name!r}.")
    if path.suffix.lower() == ".npy":
        return next(iter(load("path", path).values())), None
    return _of_json(path) if path.suffix.lower() == ".json" else _of_text(path)


def _of_json(path: Path) -> tuple[Any, list[Any]]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        raise StratError.about("path", f"must be a JSON file, got {path.name!r}; it may have been cut off.") from None
    if not isinstance(content, dict) or not all(isinstance(content.get(k), list) for k in ("counts", "labels")):
        raise StratError.about("path", f"must hold 'labels' and 'counts', got {path.name!r} without them.")
    return content["counts"], content["labels"]


def _of_text(path: Path) -> tuple[list[list[str]], list[Any] | None]:
    """Cells of text, with class names in the first row, the first column, both or neither."""
    header, *lines = grid = [[armed(cell) for cell in line] for line in _cells(path)]
    # Class names above the columns, unless the first line is counts of a square matrix.
    above = not _all_numbers(header) or len(grid) == len(header) + 1
    body = lines if above else grid
    beside = bool(body) and len(body[0]) == len(body) + 1 and (above or not _all_numbers([line[0] for line in body]))
    names = [line[0] for line in body] if beside else None
    counts = [line[1:] for line in body] if beside else body
    if any(len(line) != len(counts) for line in counts) or not counts or not all(map(_all_numbers, counts)):
        raise StratError.about(
            "path",
            f"must hold a square matrix of counts, got {path.name!r} with other things in it; a table of "
            "predictions needs its columns named in `truth` and `predicted`.",
        )
    if above and names is not None and header[-len(names) :] != names:
        raise StratError.about("path", f"must name the same classes in its first row and column, got {path.name!r}.")
    labels = header if above and names is None else names
    return counts, None if labels is None else _whole(labels)


def _cells(path: Path) -> list[list[str]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            text = file.read().strip()
    except UnicodeDecodeError:
        raise StratError.about("path", f"must be UTF-8 text, got {path.name!r}, which is not.") from None
    first = text.splitlines()[0] if text else ""
    delimiter = max(",\t;", key=first.count) if any(sign in first for sign in ",\t;") else " "
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=delimiter == " ")
        grid = [line for line in reader if line]
    except csv.Error as error:
        raise StratError.about(
            "path", f"must hold a confusion matrix, got {path.name!r}, which is no CSV: {error}."
        ) from None
    if not grid:
        raise StratError.about("path", f"must hold a confusion matrix, got the empty file {path.name!r}.")
    return grid


def _whole(labels: list[str]) -> list[Any]:
    """Labels as whole numbers if all of them are."""
    return (
        [int(label) for label in labels]
        if all(re.fullmatch(r"-?[0-9]{1,18}", label) for label in labels)
        else list(labels)
    )


def _all_numbers(cells: list[str]) -> bool:
    try:
        [float(cell) for cell in cells]
    except ValueError:
        return False
    return True

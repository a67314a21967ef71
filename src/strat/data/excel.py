"""Sheets of Excel workbooks as comma-separated text, row by row, so that one reader decides on types for both."""

from __future__ import annotations

import csv
import datetime as dt
import re
import warnings
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from strat.base import extras
from strat.base.errors import StratError, near, some
from strat.base.limits import LIMITS
from strat.data.column import spelling
from strat.data.files.csv_text import require_unique_names

OTHERS = (".xls", ".xlsb", ".xlt", ".ods", ".fods", ".numbers")
_SHEET = re.compile(r"(.+\.xls[xm])#(.+)", re.IGNORECASE | re.DOTALL)

_FORMULA = re.compile(rb"<(\w+:)?f[ />]")

_BROKEN = (
    *(zipfile.BadZipFile, zlib.error, EOFError, SyntaxError),  # SyntaxError: of the XML
    *(KeyError, ValueError, TypeError, IndexError, AttributeError, OverflowError, NotImplementedError, RuntimeError),
)

Row = Sequence[Any]


def split_sheet(name: str | Path) -> tuple[str | Path, str | None]:
    """A file's name and the sheet after its `#`, if it names one.

    >>> split_sheet("results.xlsx#Sheet 2"), split_sheet("results.csv")
    (('results.xlsx', 'Sheet 2'), ('results.csv', None))
    """
    parts = _SHEET.fullmatch(str(name))
    return (parts[1], parts[2]) if parts and not Path(name).exists() else (name, None)


def refuse_other_spreadsheets(path: Path, suffix: str) -> None:
    """Advice for spreadsheets of other kinds."""
    if suffix in OTHERS:
        raise StratError(
            f"`{path}` is a spreadsheet of a kind that strat does not read ({suffix}); open it in a spreadsheet "
            "program and save it as .xlsx or as CSV."
        )


def filled_sheets(path: Path) -> list[str]:
    """The names of the sheets that hold anything."""
    with _quiet(), _workbook(path) as book:
        return _filled(path, book)


def write_csv(path: Path, sheet: str | None, to: Path) -> None:
    """Write a sheet of a workbook as comma-separated text; without a name, the only sheet that holds anything."""
    with _quiet(), _workbook(path) as book, to.open("w", encoding="utf-8", newline="") as file:
        chosen = _chosen(path, book, sheet)
        if _has_formulas(path):
            _refuse_without_result(path, chosen.title)
        rows = _rows(path, chosen)
        names = _header(path, next(rows, ()))
        csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n").writerow(names)
        writer = csv.writer(file, lineterminator="\n")
        for row in rows:
            if len(row) > len(names):
                _unnamed(path, len(names))
            writer.writerow([*map(_text, row), *[""] * (len(names) - len(row))])


@contextmanager
def _quiet() -> Iterator[None]:
    """No warnings of the library, which are about styles and rules that no number depends on."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextmanager
def _workbook(path: Path, *, results: bool = True) -> Iterator[Any]:
    """The open workbook, its formulas as the results that Excel computed last, or as they are written."""
    openpyxl = _library(path)
    _bounded(path)
    with path.open("rb") as file:  # which the library would leave open where it fails
        with _damaged(path):
            book = openpyxl.load_workbook(file, read_only=True, data_only=results, keep_links=False)
        yield book


@contextmanager
def _damaged(path: Path) -> Iterator[None]:
    """A sentence for whatever the library raises where a workbook is not as it should be."""
    try:
        yield
    except StratError:
        raise
    except _BROKEN as error:
        raise StratError(
            f"`{path}` can't be read as an Excel workbook ({type(error).__name__}); open it in Excel and save it "
            "again, as .xlsx or as CSV."
        ) from None


def _library(path: Path) -> Any:
    what = f"`{path}` is an Excel workbook, which"
    return extras.load("openpyxl", what=what, otherwise=", or save the sheet as CSV")


def _bounded(path: Path) -> None:
    """Refuse what is no workbook, or unpacks to more than one holds; zipfile reads no more than a part declares."""
    if not zipfile.is_zipfile(path):
        raise StratError(
            f"`{path}` is no .xlsx workbook, or has a password; open it in Excel and save it as .xlsx without one, or "
            "as CSV."
        )
    with _damaged(path), zipfile.ZipFile(path) as archive:
        parts = archive.infolist()
    total = sum(part.file_size for part in parts)
    strings = sum(part.file_size for part in parts if part.filename.lower().endswith("sharedstrings.xml"))
    if total > LIMITS.excel_unpacked_bytes or strings > LIMITS.excel_text_bytes:
        raise StratError(
            f"`{path}` must unpack to at most {LIMITS.excel_unpacked_bytes:,} bytes, got {total:,}; "
            "save the sheet as CSV."
        )


def _chosen(path: Path, book: Any, name: str | None) -> Any:
    """The sheet of this name, or the only one that holds anything."""
    sheets = {sheet.title: sheet for sheet in book.worksheets}
    if name is not None:
        if name not in sheets:
            raise StratError(f"`{path}` must have the sheet that is named, got {name!r}; {near(name, list(sheets))}")
        return sheets[name]
    filled = _filled(path, book)
    if len(filled) > 1:
        raise StratError(
            f"`{path}` has {len(filled)} sheets ({some(filled)}); name one of them after a #, such as "
            f"'{path}#{filled[0]}'."
        )
    if not filled:
        raise StratError(f"`{path}` must hold a table, got empty sheets only.")
    return sheets[filled[0]]


def _has_formulas(path: Path) -> bool:
    """Whether any sheet has one; most have none, and need no second look at each cell."""
    with _damaged(path), zipfile.ZipFile(path) as archive:
        for part in archive.infolist():
            if "worksheets/" in part.filename:
                with archive.open(part) as file:
                    end = b""
                    while chunk := file.read(1 << 20):
                        if _FORMULA.search(end + chunk):
                            return True
                        end = chunk[-64:]
    return False


def _refuse_without_result(path: Path, title: str) -> None:
    """Programs other than Excel may write a formula without what it comes to, which reads as an empty cell."""
    with _workbook(path) as results, _workbook(path, results=False) as formulas, _damaged(path):
        sheets = results[title], formulas[title]
        for sheet in sheets:
            sheet.reset_dimensions()
        for row, written in zip(*(sheet.iter_rows() for sheet in sheets), strict=True):
            for cell, formula in zip(row, written, strict=True):
                # a result that is empty text says that it is text
                if formula.data_type == "f" and cell.value is None and cell.data_type != "str":
                    raise StratError(
                        f"`{path}` must hold the result of each formula, but cell {formula.coordinate} has none; open "
                        "it in Excel, which computes it, and save it."
                    )


def _filled(path: Path, book: Any) -> list[str]:
    return [sheet.title for sheet in book.worksheets if any(_rows(path, sheet))]


def _rows(path: Path, sheet: Any) -> Iterator[Row]:
    """The rows that hold anything, each up to its last cell that does."""
    sheet.reset_dimensions()  # what a file says of its size may be wrong
    cells = 0
    with _damaged(path):
        for number, row in enumerate(sheet.iter_rows(values_only=True)):
            cells += len(row)
            if number >= LIMITS.excel_rows or cells > LIMITS.excel_cells:
                raise StratError(
                    f"`{path}` must have at most {LIMITS.excel_rows:,} rows and {LIMITS.excel_cells:,} cells in a "
                    "sheet; save it as CSV or Parquet."
                )
            last = next((k for k in range(len(row), 0, -1) if row[k - 1] not in (None, "")), 0)
            if last:
                yield row[:last]


def _header(path: Path, row: Row) -> list[str]:
    names = [_text(value).strip() for value in row]
    if not names:
        raise StratError(f"`{path}` must start with a row of column names, got an empty sheet.")
    if "" in names:
        _unnamed(path, names.index(""))
    require_unique_names(names, f"`{path}`")
    return names


def _unnamed(path: Path, place: int) -> None:
    letters = ""
    while place >= 0:
        place, letter = place // 26 - 1, place % 26
        letters = chr(65 + letter) + letters
    raise StratError(
        f"`{path}` must name each column in its first row, but column {letters} has no name there; name it, or delete "
        "what stands above and beside the table."
    )


def _text(value: Any) -> str:
    """A cell as the CSV file of the same data has it; dates as 2024-01-31."""
    if isinstance(value, str) or value is None:
        return value or ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dt.datetime):
        with suppress(ValueError):
            return (value.date() if value.time() == dt.time() else value).isoformat()
    return spelling(value) if isinstance(value, float) else str(value)

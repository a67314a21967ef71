"""Excel workbooks: the same numbers, types and gaps as the CSV of the same data; sheets by name; limits; advice."""

from __future__ import annotations

import datetime as dt
import re
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import strat
from strat.base.errors import StratError
from strat.base.limits import changed
from strat.cli import main
from strat.data import excel, read
from strat.verbs import look

openpyxl = pytest.importorskip("openpyxl", reason="the extra `excel` is not installed")

ROWS: list[list[Any]] = [
    ["patient", "label", "pred", "prob", "ok", "code", "when", "text"],
    ["p1", "ill", "ill", 0.75, True, "007", dt.datetime(2024, 1, 31), 'a "quoted", long\nline'],
    ["p1", "well", "ill", 0.5, False, "008", dt.datetime(2024, 2, 1), None],
    ["p2", None, "well", 1, True, "NA", dt.datetime(2024, 2, 1, 12, 30), " b "],
    ["p2", "well", "well", None, True, "010", None, "#N/A"],
    ["p3", "ill", "well", 0.25, False, "011", dt.datetime(2024, 2, 3), "NA"],
    ["p3", "ill", "ill", 1e-7, True, "012", dt.datetime(2024, 2, 3), "c"],
]
CSV = """patient,label,pred,prob,ok,code,when,text
p1,ill,ill,0.75,true,007,2024-01-31,"a ""quoted"", long
line"
p1,well,ill,0.5,false,008,2024-02-01,
p2,,well,1,true,NA,2024-02-01T12:30:00, b\x20
p2,well,well,,true,010,,#N/A
p3,ill,well,0.25,false,011,2024-02-03,NA
p3,ill,ill,0.0000001,true,012,2024-02-03,c
"""


def book(path: Path, **sheets: list[list[Any]]) -> Path:
    made = openpyxl.Workbook()
    made.remove(made.active)
    for name, rows in sheets.items():
        sheet = made.create_sheet(name)
        for row in rows:
            sheet.append(row)
    made.save(path)
    return path


def columns(source: Any) -> dict[str, Any]:
    table = read(source)
    return {
        c.name: (c.labels.dtype.kind, np.asarray(c.values).tolist(), c.missing if c.missing is None else
                 c.missing.tolist(), c.marks)
        for c in table.backend.fetch(table.names)
    }  # fmt: skip


def test_a_workbook_is_read_as_its_csv(tmp_path: Path) -> None:
    path = book(tmp_path / "a.xlsx", Results=ROWS)
    (tmp_path / "a.csv").write_text(CSV, encoding="utf-8")
    ours, theirs = columns(path), columns(tmp_path / "a.csv")
    assert list(ours) == list(theirs)
    for name, (kind, values, missing, marks) in theirs.items():
        assert ours[name][0] == kind, name
        gone = missing or [False] * len(values)
        assert [v for v, g in zip(ours[name][1], gone, strict=True) if not g] == [
            v for v, g in zip(values, gone, strict=True) if not g
        ]
        assert (ours[name][2], ours[name][3]) == (missing, marks), name


def test_the_same_numbers_as_from_csv(tmp_path: Path) -> None:
    path = book(tmp_path / "a.xlsx", Results=ROWS)
    (tmp_path / "a.csv").write_text(CSV, encoding="utf-8")
    asked = {"truth": "label", "predicted": "pred", "score": "prob", "units": "patient", "positive": "ill"}
    ours, theirs = (strat.evaluate(source, missing="drop", **asked) for source in (path, tmp_path / "a.csv"))
    assert ours.to_dict() == theirs.to_dict()
    assert (ours.dropped, ours.marks) == (theirs.dropped, theirs.marks)
    with pytest.raises(StratError, match="`label` has 1, `prob` has 1 missing"):
        strat.evaluate(path, **asked)


def test_sheets_by_name(tmp_path: Path) -> None:
    path = book(tmp_path / "b.xlsx", **{"Run 1": ROWS, "Run 2": [*ROWS, ROWS[1]], "Empty": []})
    assert len(read(f"{path}#Run 2")) == 7
    assert len(read(path, sheet="Run 1")) == 6
    with pytest.raises(StratError, match=r"has 2 sheets \('Run 1', 'Run 2'\); name one of them after a #"):
        read(path)
    with pytest.raises(StratError, match=r"got 'Run 3'; did you mean"):
        read(f"{path}#Run 3")
    with pytest.raises(StratError, match="`sheet` must be left out"):
        read({"a": [1]}, sheet="x")
    assert look(path, sheet="Run 2").command == f"strat evaluate '{path}#Run 2' --truth label --predicted pred " \
        "--units patient --missing drop"  # fmt: skip


def test_the_only_sheet_that_holds_anything(tmp_path: Path) -> None:
    assert len(read(book(tmp_path / "c.xlsx", Notes=[], Data=ROWS))) == 6


def test_several_workbooks_are_one_table(tmp_path: Path) -> None:
    book(tmp_path / "p1.xlsx", A=ROWS)
    book(tmp_path / "p2.xlsx", A=[[*ROWS[0][::-1]], *(row[::-1] for row in ROWS[1:])])
    assert len(read(str(tmp_path / "p*.xlsx"))) == 12
    assert strat.evaluate(tmp_path / "p*.xlsx", truth="label", predicted="pred", missing="drop").rows == 10
    book(tmp_path / "p3.xlsx", A=[["other"], [1]])
    with pytest.raises(StratError, match=r"`[^`]*p3.xlsx` must have the columns of `[^`]*p1.xlsx`"):
        read(str(tmp_path / "p*.xlsx"))


def test_empty_rows_and_columns_beside_the_table(tmp_path: Path) -> None:
    rows = [[], *([*row, None, ""] for row in ROWS), [None] * 9, []]
    assert columns(book(tmp_path / "a.xlsx", A=rows)) == columns(book(tmp_path / "b.xlsx", A=ROWS))


def test_columns_without_a_name(tmp_path: Path) -> None:
    with pytest.raises(StratError, match=r"name each column in its first row, but column B has no name"):
        read(book(tmp_path / "a.xlsx", A=[["x", None, "z"], [1, 2, 3]]))
    with pytest.raises(StratError, match=r"but column AB has no name"):
        read(book(tmp_path / "b.xlsx", A=[[f"c{k}" for k in range(27)], [*range(28)]]))
    with pytest.raises(StratError, match=r"`[^`]*c.xlsx` must name each column once, got 'x' twice"):
        read(book(tmp_path / "c.xlsx", A=[["x", "x"], [1, 2]]))


@pytest.mark.parametrize("suffix", [".xls", ".ods", ".xlsb", ".XLS"])
def test_other_spreadsheets_get_the_right_advice(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"r{suffix}"
    path.write_bytes(b"\xd0\xcf\x11\xe0")
    with pytest.raises(StratError, match=r"save it as \.xlsx or as CSV") as error:
        read(path)
    assert "rename" not in str(error.value)


def test_a_workbook_under_another_name(tmp_path: Path) -> None:
    path = book(tmp_path / "a.xlsx", A=ROWS)
    with pytest.raises(StratError, match=r"perhaps an Excel workbook; give it the ending .xlsx"):
        read(path.rename(tmp_path / "a.csv"))
    path = tmp_path / "b.xlsx"
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(StratError, match=r"is no \.xlsx workbook, or has a password"):
        read(path)


def test_damaged_workbooks_end_in_one_sentence(tmp_path: Path) -> None:
    whole = book(tmp_path / "a.xlsx", A=ROWS).read_bytes()
    unharmed = repr(columns(tmp_path / "a.xlsx"))
    rng = np.random.default_rng(0)
    for k in range(60):
        data = bytearray(whole)
        for at in rng.integers(0, len(data), 1 + k % 5):
            data[at] = rng.integers(256)
        path = tmp_path / "b.xlsx"
        path.write_bytes(bytes(data[: len(data) - (k % 3) * 200]))
        with suppress(StratError):  # anything else is a bug
            assert repr(columns(path)) == unharmed  # where the damage lies in what is not read


def _sheet(path: Path, xml: bytes, like: Path) -> Path:
    """The workbook with another first sheet."""
    with zipfile.ZipFile(like) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for part in old.infolist():
            new.writestr(part.filename, xml if part.filename.endswith("sheet1.xml") else old.read(part))
    return path


HEAD = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'


@pytest.mark.parametrize(
    "xml",
    [
        HEAD + b'<sheetData><row r="1"><c r="A1"><v>1</v></c></row><row r="900000000"><c r="A900000000"><v>2</v></c>'
        b"</row></sheetData></worksheet>",
        HEAD + b'<sheetData><row><c r="A1"><v>1</v></c></row>' + b'<row><c r="XFD2"/></row>' * 2000
        + b"</sheetData></worksheet>",
        b'<!DOCTYPE a [<!ENTITY a0 "ha">' + b"".join(b'<!ENTITY a%d "%s">' % (k, b"&a%d;" % (k - 1) * 10)
                                                   for k in range(1, 12))
        + b"]>" + HEAD + b'<sheetData><row><c t="inlineStr"><is><t>&a11;</t></is></c></row></sheetData></worksheet>',
    ],
    ids=["rows", "cells", "entities"],
)  # fmt: skip
@changed(excel_rows=1 << 14, excel_cells=1 << 20)
def test_sheets_that_claim_too_much(tmp_path: Path, xml: bytes) -> None:
    like = book(tmp_path / "a.xlsx", A=ROWS)
    with pytest.raises(StratError, match=r"must have at most|can't be read as an Excel workbook"):
        read(_sheet(tmp_path / "b.xlsx", xml, like))


def test_bombs_are_refused_before_they_unpack(tmp_path: Path) -> None:
    path = tmp_path / "bomb.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made, made.open("xl/sharedStrings.xml", "w") as part:
        for _ in range(260):
            part.write(b" " * (1 << 20))
    with pytest.raises(StratError, match="must unpack to at most"):
        read(path)


def test_no_output_over_a_workbook(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = book(tmp_path / "a.xlsx", A=ROWS)
    before = path.read_bytes()
    with pytest.raises(SystemExit) as end:
        main(["evaluate", f"{path}#A", "--truth", "label", "--predicted", "pred", "-o", str(path)])
    assert end.value.code == 1
    assert "must name another file" in capsys.readouterr().err
    assert path.read_bytes() == before


def test_no_copy_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    assert len(read(book(tmp_path / "a.xlsx", A=ROWS))) == 6
    with pytest.raises(StratError, match="twice"):
        read(book(tmp_path / "b.xlsx", A=[["x", "x"], [1, 2]]))
    assert list((tmp_path / "temporary").iterdir()) == []


def test_formulas_without_results_are_told(tmp_path: Path) -> None:
    """They were told as missing values; another program than Excel may write them so."""
    path = book(tmp_path / "t.xlsx", a=[["t", "p"], [1, "=A2"], [0, 0]])
    with pytest.raises(StratError, match="must hold the result of each formula, but cell B2 has none"):
        read(path)


def _with_cell(path: Path, cell: bytes) -> Path:
    """The workbook with its cell B2 written so."""
    with zipfile.ZipFile(path) as old:
        parts = {name: old.read(name) for name in old.namelist()}
    with zipfile.ZipFile(path, "w") as new:
        for name, content in parts.items():
            new.writestr(name, re.sub(rb'<c r="B2".*?</c>', cell, content))
    return path


def test_formulas_with_results_are_their_results(tmp_path: Path) -> None:
    path = book(tmp_path / "t.xlsx", a=[["t", "p"], [1, "=A2"], [0, 0], [1, None]])
    path = _with_cell(path, b'<c r="B2"><f>A2</f><v>1</v></c>')
    assert read(path).columns(["t", "p"], missing="drop")["p"].tolist() == [1, 0]
    path = _with_cell(path, b'<c r="B2" t="str"><f>""</f><v></v></c>')
    assert read(path).column("p", missing="drop").tolist() == [0]  # an empty text is a result


def test_a_bad_header_is_refused_before_the_rows_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A workbook of 240,000 × 20 equal cells was read for two minutes, and then refused for its first row."""
    seen = []

    def text(value: Any) -> str:
        seen.append(value)
        return str(value)

    path = book(tmp_path / "t.xlsx", a=[["x"] * 5] * 1000)
    monkeypatch.setattr(excel, "_text", text)
    with pytest.raises(StratError, match="must name each column once, got 'x' twice"):
        read(path)
    assert len(seen) == 5

"""Cells of text files are numbers where each number is spelled in one way: in SQL and in Python alike."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strat.data import read
from strat.data.files import connect
from strat.data.numerals import KINDS, kind_of, looks

ENGINE = connect()
CELLS = st.sampled_from(
    [
        "0",
        "1",
        "-1",
        "10",
        "01",
        "+1",
        " 1",
        "1 ",
        "-0",
        "-0.0",
        "0.0",
        "1.0",
        "1.00",
        "0.5",
        ".5",
        "5.",
        "0.50",
        "1e3",
        "1000",
        "1E3",
        "0x1F",
        "31",
        "0b11",
        "1_000",
        "inf",
        "nan",
        "1e400",
        "true",
        "True",
        "false",
        "yes",
        "0.0000001",
        "1e-07",
        "9007199254740993",
        "9007199254740993.0",
        "9007199254740992",
        "9223372036854775808",
        "170141183460469231731687303715884105728",
        "0.1234567890123456789",
        "0.12345678901234568",
        "1,5",
        "１",
        "cat",
        "",
        "123456789012345678.5",
        "0.10000000000000001",
        "1.10",
        "1.1",
    ]
)


def _in_engine(cells: list[str]) -> str | None:
    rows = ENGINE.sql(f"select unnest([{', '.join(repr(cell) for cell in cells)}]) as v")
    fits = rows.aggregate(", ".join(looks("v"))).fetchall()[0]
    return next((kind for kind, good in zip(KINDS, fits, strict=True) if good), None)


@settings(max_examples=60, deadline=None)
@given(st.lists(CELLS, min_size=1, max_size=4, unique=True))
def test_one_rule_in_the_engine_and_here(cells: list[str]) -> None:
    there = _in_engine(cells)
    assert ("BIGNUM" if there in KINDS[1:4] else there) == kind_of(cells), cells


@settings(max_examples=200)
@given(
    st.lists(
        CELLS | st.from_regex(r"-?[0-9]{1,18}(\.[0-9]{0,18})?", fullmatch=True), min_size=1, max_size=4, unique=True
    )
)
def test_two_spellings_are_never_one_number(cells: list[str]) -> None:
    kind = kind_of(cells)
    if kind in ("BIGNUM", "DOUBLE"):
        assert len({Decimal(cell) if kind == "BIGNUM" else float(cell) for cell in cells}) == len(cells)


@pytest.mark.parametrize("cells", [["0", "1"], ["0.5", "1"], ["0.25", "1.0"], ["0.50", "0.25"], ["0.0000001", "0.5"]])
def test_what_programs_write_is_numbers(cells: list[str]) -> None:
    assert kind_of(cells) in ("BIGNUM", "DOUBLE")
    assert _in_engine(cells) in KINDS[1:]


ROOT = Path(__file__).parents[2]
WORDS = {"whole numbers": "iu", "numbers": "f", "truth values": "b", "text": "U"}


def _documented() -> list[tuple[list[str], str]]:
    """The rows of the table in the page on limits: cells, and what they are."""
    page = (ROOT / "docs" / "limits.md").read_text()
    rows = re.findall(r"^\| (`.*`) \| (.*) \|$", page.split("<!-- cells -->")[1].split("<!-- end")[0], re.MULTILINE)
    return [(re.findall(r"`([^`]*)`", cells), kind) for cells, kind in rows]


@pytest.mark.parametrize(("cells", "kind"), _documented())
def test_cells_are_read_as_the_page_on_limits_says(cells: list[str], kind: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("name\n" + "".join(f'"{cell}"\n' for cell in cells))
    values = read(tmp_path / "t.csv").column("name", missing="drop")
    if kind == "missing":
        assert not len(values)
    elif kind == "whole numbers":  # beyond 64 bits they are kept apart as text
        assert values.tolist() in ([int(cell) for cell in cells], cells)
    else:
        assert values.dtype.kind in WORDS[kind]
        assert len(set(values.tolist())) == len(cells)


def test_the_page_on_limits_has_cells_of_every_kind() -> None:
    assert {kind for _, kind in _documented()} == {*WORDS, "missing"}

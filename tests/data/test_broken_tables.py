"""Broken, huge and strange table files, through `strat evaluate` and its sisters."""

from __future__ import annotations

import gzip
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

from command_cases import Case, Catalogue, Program, check, of_rows, put, table
from systems import POSIX

case = Catalogue()
ASK = ("--truth", "truth", "--predicted", "guess", "--metric", "accuracy")


def file(name: str, content: str | bytes, *more: object) -> Any:
    """`strat evaluate` of one file."""
    return lambda folder: ["evaluate", put(folder, name, content), *(more or ASK)]


def parquet(text: str, change: Callable[[bytes], bytes]) -> Callable[[Path], list[object]]:
    """A Parquet file of a CSV text, changed afterwards."""

    def make(folder: Path) -> list[object]:
        import polars as pl

        path = folder / "t.parquet"
        pl.read_csv(text.encode()).write_parquet(path)
        path.write_bytes(change(path.read_bytes()))
        return ["evaluate", path, *ASK]

    return make


def arrow(text: str, change: Callable[[bytes], bytes]) -> Callable[[Path], list[object]]:
    """An Arrow file of a CSV text, changed afterwards."""

    def make(folder: Path) -> list[object]:
        import polars as pl

        path = folder / "t.arrow"
        pl.read_csv(text.encode()).write_ipc(path)
        path.write_bytes(change(path.read_bytes()))
        return ["evaluate", path, *ASK]

    return make


GOOD = table()
TWICE = of_rows("truth,TRUTH,TRUTH_1,guess", "1,0,0,1", times=9)

case("an empty CSV file", file("a.csv", ""), says="a.csv")
case("a CSV file of one newline", file("a.csv", "\n"), says="empty line")
case("only the header", file("a.csv", "truth,guess\n"), says="at least one row")
case("a header without its newline", file("a.csv", "truth,guess"), says="row|column")
case("nothing but NUL bytes", file("a.csv", b"\0" * 5000), says="a.csv")
case("random bytes as CSV", file("a.csv", bytes(range(256)) * 64), says="a.csv")
case("a PNG called CSV", file("a.csv", b"\x89PNG\r\n\x1a\n" + bytes(range(200))), says="a.csv")
case("UTF-16 text", file("a.csv", GOOD.encode("utf-16")), says="a.csv")
case("Latin-1 text", file("a.csv", of_rows("truth,guess", "é,é", "b,b", times=20).encode("latin-1")), says="UTF-8")
case("a byte-order mark", file("a.csv", b"\xef\xbb\xbf" + GOOD.encode()), code=0, out="accuracy")
case("Windows line ends", file("a.csv", GOOD.replace("\n", "\r\n")), code=0, out="accuracy")
case("a stray quote", file("a.csv", of_rows("truth,guess", "1,1", '1,"0', "0,0")), says="a.csv")
case("a stray quote after a thousand rows", file("a.csv", table(1000) + '1,"1,1,s,p,1\n'), says="a.csv")
case("a row too short", file("a.csv", GOOD + "1,1\n"), says=r"a\.csv.*line 42")
case("a row too long", file("a.csv", GOOD + "1,1,1,s1,p1,1,9,9\n"), says=r"a\.csv.*line 42")
case("the same column twice", file("a.csv", of_rows("truth,truth,guess", "1,1,1", times=9)), says="twice")
case("columns that differ in case", file("a.csv", of_rows("truth,TRUTH,guess", "1,0,1", times=9)), says="by more than")
case(
    "columns that differ by an accent", file("a.csv", of_rows("truth,guess,é,É", "1,1,1,1", times=9)), code=0, out="1.0"
)
case("Macintosh line ends", file("a.csv", GOOD.replace("\n", "\r")), code=0, out="accuracy +0.8000")
case("Macintosh line ends, a row too short", file("a.csv", (GOOD + "1,1\n").replace("\n", "\r")), says="line 42")
case("a line end in a name", file("a.csv", of_rows('"a\rb",truth,guess', "1,1,1", times=9)), says="a.csv")
case("a NUL in a column's name", file("a.csv", "\0" + GOOD), says="without NUL characters, got '.x00truth'")
case("a column that differs in case", file("a.csv", GOOD, "--truth", "TRUTH", "--predicted", "guess"), says="'truth'")
case("an empty column name", file("a.csv", of_rows("truth,guess,", "1,1,1", times=9)), code=0, out="accuracy")
case("a semicolon file", file("a.csv", GOOD.replace(",", ";")), code=0, out="accuracy")
case("a file of one wrong column", file("a.csv", of_rows("x", "1", "2")), says="`--truth` must name a column")
case("a missing column", file("a.csv", GOOD, "--truth", "truht", "--predicted", "guess"), says="did you mean 'truth'")
case("an empty column name asked for", file("a.csv", GOOD, "--truth", "", "--predicted", "guess"), says="truth")
case("missing values", file("a.csv", GOOD + ",1,1,s1,p1,1\n"), says="`truth` has 1 missing")
case(
    "half numbers, half words",
    file("a.csv", of_rows("score", "1", "0", "oops", times=9), "--score", "score"),
    says="column `score` must be numbers, got 'oops'",
)
case(
    "a score of dates",
    file("a.csv", of_rows("score", "2020-01-01", "2020-01-02", times=9), "--score", "score"),
    says="column `score` must be numbers, got '2020-01-01'",
)
case(
    "weights of words",
    file("a.csv", of_rows("truth,guess,w", "1,1,heavy", times=9), *ASK, "--weights", "w"),
    says="column `w` must be numbers, got 'heavy'",
)
case(
    "a header of twenty thousand columns",
    file("a.csv", ",".join(f"c{i}" for i in range(20_000)) + "\n1\n"),
    says="a.csv",
)
case("a field of ten megabytes", file("a.csv", of_rows("truth,guess", "1," + "x" * (10 << 20), "1,1")), says="a.csv")
case("a first line of two megabytes", file("a.csv", "x" * (2 << 20) + "\n1\n"), says=".")
case("a pickle", file("a.pkl", b"cos\nsystem\n(S'touch owned'\ntR."), says="never loads one")
case("a pickle called CSV", file("a.csv", b"cos\nsystem\n(S'touch owned'\ntR."), says="a.csv|column")
case("a packed pickle", file("a.pickle.gz", b"\x80\x04."), says="never loads one")
case("an unknown ending", file("a.dat", b"PK"), says=r"must end in one of \.csv")
case("a workbook that is none", file("a.xlsx", b"PK"), says=r"is no \.xlsx workbook|needs the package openpyxl")
case("an old spreadsheet", file("a.xls", b"\xd0\xcf\x11\xe0"), says=r"save it as \.xlsx or as CSV")
case("no ending", file("table", GOOD), says="must end in one of")
case("a JSON file that is no log", file("a.json", "{}"), says="must hold logs|must end in one of")

case("a cut Parquet file", parquet(GOOD, lambda b: b[: len(b) // 2]), says=r"t\.parquet")
case("a Parquet file without its tail", parquet(GOOD, lambda b: b[:-4]), says=r"t\.parquet")
case("an empty Parquet file", parquet(GOOD, lambda b: b""), says=r"t\.parquet")
case("Parquet with a lying footer", parquet(GOOD, lambda b: b[:-8] + b"\xff\xff\xff\x7fPAR1"), says=r"t\.parquet")
case("Parquet with a broken page", parquet(table(5000), lambda b: b[:60] + b"\xff" * 400 + b[460:]), says="t.parquet")
case("Parquet with a name of bytes", parquet(GOOD, lambda b: b.replace(b"score", b"\xff" * 5)), says="UTF-8")
case("Arrow with a name of bytes", arrow(GOOD, lambda b: b.replace(b"score", b"\xff" * 5)), says="UTF-8")
case("Parquet names that differ in case", parquet(TWICE, lambda b: b), says="got 'truth', 'TRUTH'")
case("Arrow names that differ in case", arrow(TWICE, lambda b: b), says="got 'truth', 'TRUTH'")
case(
    "JSON names that differ in case", file("a.jsonl", '{"truth": 1, "TRUTH": 0, "guess": 1}\n' * 9), says="by more than"
)
case("CSV called Parquet", file("a.parquet", GOOD), says=r"a\.parquet")
case("Arrow that is none", file("a.arrow", b"ARROW1\0\0" + b"\xff" * 100), says=r"a\.arrow")
case("an empty Arrow file", file("a.feather", b""), says=r"a\.feather")

case("a cut gzip file", file("a.csv.gz", gzip.compress(table(9000).encode())[:-200]), says=r"a\.csv\.gz")
case("gzip that is none", file("a.csv.gz", GOOD), says=r"a\.csv\.gz")
case("an empty gzip file", file("a.csv.gz", b""), says=r"a\.csv\.gz")
case("a gzip bomb of newlines", file("a.csv.gz", gzip.compress(b"\n" * (64 << 20))), says=r"a\.csv\.gz")
case("zstandard that is none", file("a.csv.zst", GOOD), says=r"a\.csv\.zst")
case("a cut zstandard file", file("a.csv.zst", zstandard.compress(table(9000).encode())[:-300]), says=r"csv\.zst")
case("gzip twice", file("a.csv.gz", gzip.compress(gzip.compress(GOOD.encode()))), says=r"a\.csv\.gz")

case("JSON lines cut off", file("a.jsonl", '{"truth": 1, "guess": 1}\n{"truth": 1, "gu'), says=r"a\.jsonl")
case("JSON lines of numbers", file("a.jsonl", "1\n2\n3\n"), says=r"a\.jsonl")
case("JSON lines of lists", file("a.jsonl", "[1]\n[2]\n"), says=r"a\.jsonl")
case("JSON lines with a nested column", file("a.jsonl", '{"truth": [1], "guess": {"a": 1}}\n' * 9), says="truth|guess")
case("JSON lines with other keys", file("a.jsonl", '{"truth": 1, "guess": 1}\n{"x": 2}\n' * 9), says="missing")
case("an empty JSON-lines file", file("a.jsonl", ""), says=r"a\.jsonl")
case(
    "a JSON line of 40 megabytes",
    file("a.jsonl", '{"truth": 1, "guess": "' + "x" * (40 << 20) + '"}\n'),
    says=r"a\.jsonl",
)
case("JSON nested a hundred thousand deep", file("a.jsonl", "[" * 100_000 + "]" * 100_000 + "\n"), says=r"a\.jsonl")
case("JSON with the same key twice", file("a.jsonl", '{"truth": 1, "truth": 0, "guess": 1}\n' * 9), says="a.jsonl")

case("no such file", lambda f: ["evaluate", f / "no.csv", *ASK], says="must name files that exist")
case("no such folder", lambda f: ["evaluate", f / "no" / "no.csv", *ASK], says="there is no folder")
case("a near name", lambda f: [put(f, "data.csv", GOOD), "evaluate", f / "dta.csv", *ASK][1:], says="did you mean")
case("a glob that meets nothing", lambda f: ["evaluate", f / "*.csv", *ASK], says="must name files that exist")
case(
    "a glob of two formats",
    lambda f: [put(f, "a.csv", GOOD), put(f, "b.jsonl", "{}"), "evaluate", f / "?.*", *ASK][2:],
    says="one format",
)
case(
    "files with other columns",
    lambda f: ["evaluate", put(f, "a.csv", GOOD), put(f, "b.csv", "x,y\n1,2\n"), *ASK],
    says="csv",
)
case("an empty folder", lambda f: [(f / "e").mkdir(), "evaluate", f / "e", *ASK][1:], says="without any")
case("a folder called like a table", lambda f: [(f / "e.csv").mkdir(), "evaluate", f / "e.csv", *ASK][1:], says="any")
case("a broken link", lambda f: [(f / "l.csv").symlink_to(f / "gone"), "evaluate", f / "l.csv", *ASK][1:], says="none")
case("glob signs in a name", lambda f: ["evaluate", put(f, "a[1]*?.csv", GOOD), *ASK], code=0, out="accuracy")
case("a quote in a name", lambda f: ["evaluate", put(f, "a'b\"; drop.csv", GOOD), *ASK], code=0, out="accuracy")
case(
    "a name that looks like SQL",
    lambda f: ["evaluate", put(f, "'); select 1; --.csv", GOOD), *ASK],
    code=0,
    out="accuracy",
)
case("a name with newlines", lambda f: ["evaluate", f / "a\nb\x1b[31m.csv", *ASK], says="exist")
case("a very long name", lambda f: ["evaluate", f / ("x" * 5000 + ".csv"), *ASK], says=".")
case("a path of 100,000 signs", lambda f: ["evaluate", "x" * 100_000, *ASK], says="[Ff]ile name too long")
case(
    "trials without end",
    lambda f: ["check", put(f, "a.csv", GOOD), *ASK, "--trials", 10**20],
    says="`--trials` must be at most",
)
case(
    "trials for a year",
    lambda f: ["check", put(f, "a.csv", GOOD), *ASK, "--trials", 10**8],
    says="`--trials` must be at most 1,000,000,",
)
case("a NUL in a name", lambda f: ["evaluate", "a\0b.csv", *ASK], says=".")
case("a file over the network", lambda f: ["evaluate", "https://example.invalid/a.csv", *ASK], says="exist")
case("a bucket", lambda f: ["evaluate", "s3://bucket/a.parquet", *ASK], says="exist")
case(
    "columns called like SQL",
    file(
        "a.csv",
        of_rows('"x""; drop table t; --",guess', "1,1", "0,0", times=9),
        "--truth",
        'x"; drop table t; --',
        "--predicted",
        "guess",
        "--metric",
        "accuracy",
    ),
    code=0,
    out="1.0000",
)
case(
    "columns called like ours",
    file(
        "a.csv",
        of_rows("strat_rows,strat_weight,w", "1,1,1", "0,0,2", times=9),
        "--truth",
        "strat_rows",
        "--predicted",
        "strat_weight",
        "--weights",
        "w",
    ),
    code=0,
    out="1.0000",
)
case(
    "columns with dots and blanks",
    file(
        "a.csv",
        of_rows("my.truth,a b.c,x.y.z", "1,1,1", "0,0,2", times=9),
        "--truth",
        "my.truth",
        "--predicted",
        "a b.c",
        "--weights",
        "x.y.z",
    ),
    code=0,
    out="1.0000",
)
case(
    "one column in every role",
    file("a.csv", GOOD, "--truth", "truth", "--predicted", "truth", "--strata", "truth", "--metric", "accuracy"),
    code=0,
    out="1.0000",
)
case("a memory limit of nothing", file("a.csv", GOOD, *ASK, "--memory", "0GB"), says="memory")
case("a memory limit of words", file("a.csv", GOOD, *ASK, "--memory", "plenty"), says="`--memory` must be a size")
case("a memory limit that is SQL", file("a.csv", GOOD, *ASK, "--memory", "1GB'; select 1"), says="`--memory` must be")
case(
    "a memory limit too small",
    file("a.csv", table(200_000), *ASK, "--units", "passage", "--memory", "1MB"),
    says="memory",
)
case("text columns that are not there", file("a.csv", GOOD, *ASK, "--text", "nope"), says="nope")


@POSIX
@pytest.mark.parametrize("entry", case.cases, ids=str)
def test_a_hostile_table(entry: Case, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check(entry, tmp_path, Program(capsys))


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root, and Windows, may read everything")
def test_a_file_without_permission(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = put(tmp_path, "a.csv", GOOD)
    path.chmod(0)
    assert "permission denied" in Program(capsys)("evaluate", path, *ASK).err


@POSIX
def test_a_named_pipe_is_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(tmp_path / "p.csv")
    ended = Program(capsys)("evaluate", tmp_path / "p.csv", *ASK)
    assert ended.code == 1
    assert "where there is none" in ended.err


def test_a_zip_of_a_table_is_refused_by_its_ending(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with zipfile.ZipFile(tmp_path / "a.csv.zip", "w") as archive:
        archive.writestr("a.csv", GOOD)
    assert Program(capsys)("evaluate", tmp_path / "a.csv.zip", *ASK).code == 1

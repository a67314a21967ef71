"""Marks of missing values, parts and paths of files: what was once read as something else."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from strat import data, verbs
from strat.base.errors import StratError
from strat.base.limits import changed
from strat.cli.app import app
from strat.data import read
from strat.verbs import evaluate
from systems import POSIX
from table_sources import ROADS, csv_file, every_road

NA_TABLE = {
    "y": ["a", "b", "NA", "a", "b", "a"],
    "p": ["a", "b", "a", "b", "", "a"],
    "g": [1, 1, 2, 2, 3, 3],
    "s": [0.5, "NA", 1.0, 0.25, 0.75, "."],
    "w": [1, 2, 1, "null", 1, 1],
}


@every_road
def test_a_mark_is_missing(road: str, tmp_path: Path) -> None:
    """`NA` in a CSV was a class of its own: accuracy 0.5 where pandas gave 0.75."""
    table = ROADS[road](NA_TABLE, tmp_path)
    found = evaluate(table, truth="y", predicted="p", units="g", missing="drop", metrics="accuracy")
    assert found["accuracy"].value == 0.75
    assert (found.dropped, found.marks) == (2, {"NA": 1, "": 1})
    assert "2 rows with missing values are left out: NA (1), empty (1)." in str(found)
    with pytest.raises(StratError, match=r"`y` has 1, `p` has 1 missing \('NA' 1, empty 1\); drop.*if 'NA' is a label"):
        evaluate(table, truth="y", predicted="p", units="g")


@every_road
def test_marks_among_numbers(road: str, tmp_path: Path) -> None:
    """A number column with `NA` was refused as text, even with missing="drop"."""
    table = ROADS[road](NA_TABLE, tmp_path)
    found = evaluate(table, score="s", units="g", missing="drop")
    assert found["mean"].value == pytest.approx(2.5 / 4, abs=1e-15)
    assert (found.dropped, found.marks) == (2, {"NA": 1, ".": 1})
    with pytest.raises(StratError, match="`s` has 2 missing"):
        evaluate(table, score="s", units="g")


@every_road
def test_marks_among_weights(road: str, tmp_path: Path) -> None:
    """A weight of `null` must leave its row out on every road."""
    table = ROADS[road](NA_TABLE, tmp_path)
    found = evaluate(table, truth="y", predicted="p", weights="w", units="g", missing="drop", metrics="accuracy")
    assert (found["accuracy"].value, found.dropped) == (1.0, 3)
    with pytest.raises(StratError, match="missing"):
        evaluate(table, truth="y", predicted="p", weights="w", units="g")


@every_road
def test_marks_are_the_users(road: str, tmp_path: Path) -> None:
    """`na=` replaces the marks: a class called None can be one, and -9 can be missing."""
    columns = {"y": ["None", "a", "-9", "a"], "p": ["None", "a", "a", "None"]}
    table = ROADS[road](columns, tmp_path)
    assert evaluate(table, truth="y", predicted="p", na=[], metrics="accuracy").rows == 4
    found = evaluate(table, truth="y", predicted="p", na=["-9"], missing="drop", metrics="accuracy")
    assert (found.rows, found.marks, found["accuracy"].value) == (3, {"-9": 1}, pytest.approx(2 / 3))


def test_marks_in_compare_check_sample_and_read(tmp_path: Path) -> None:
    """Every function that reads a table takes `na`, and says what it left out."""
    path = csv_file(
        {"y": ["a", "b", "x", "a", "b"], "A": list("abaab"), "B": list("bbaaa"), "g": [1, 2, 3, 4, 5]},
        tmp_path / "t.csv",
    )
    wide = {"truth": "y", "predicted": ["A", "B"], "na": ["x"], "missing": "drop"}
    board = verbs.compare(path, **wide)  # type: ignore[arg-type]
    assert "1 row with missing values is left out: x (1)." in board.notes
    with pytest.raises(StratError, match=r"`y` has 1 missing \('x' 1\)"):
        verbs.compare(path, **wide | {"missing": "error"})  # type: ignore[arg-type]
    with pytest.raises(StratError, match=r"\('x' 1\)"):
        verbs.check(path, truth="y", predicted="A", na=["x"])
    with pytest.raises(StratError, match=r"\('x' 1\)"):
        verbs.sample(path, size=2, strata="y", na=["x"])
    assert len(read(path, na=["x"]).column("y", missing="drop")) == 4
    with pytest.raises(StratError, match="`na` must be given where"):
        evaluate(read(path), truth="y", predicted="A", na=["x"])


@pytest.mark.parametrize("command", ["evaluate", "compare", "check", "sample", "rank", "chance"])
def test_marks_on_the_command_line(command: str, tmp_path: Path) -> None:
    """--na, repeated, replaces the marks in every command that reads a table."""
    path = csv_file({"y": ["a", "x", "b"], "A": list("abb"), "B": list("bbz"), "g": [1, 2, 3]}, tmp_path / "t.csv")
    label = ["--truth", "y", "--predicted", "A"]
    options = {
        "compare": [*label, "--predicted", "B"],
        "sample": ["--size", "2", "--strata", "y"],
        "rank": ["--dataset", "y", "--system", "A", "--score", "g", "--higher-is-better"],
    }
    found = CliRunner().invoke(app, [command, str(path), *options.get(command, label), "--na", "x", "--na", "z"])
    assert isinstance(found.exception, StratError) or found.exit_code == 1
    assert "'x' 1" in str(found.exception) + found.output


@changed(csv_bytes_looked_at=0, rows_looked_at=1000)
def test_a_large_csv_reads_marks_among_numbers(tmp_path: Path) -> None:
    """A number column whose first `NA` comes after the rows that are looked at could not be read."""
    path = csv_file({"s": [*range(50_000), "NA", "1.5"]}, tmp_path / "t.csv")
    assert read(path).numbers("s", missing="drop").sum() == sum(range(50_000)) + 1.5


def test_parts_by_name(tmp_path: Path) -> None:
    """Two CSV parts with their columns in another order were put together by position: mean 1.25 for 0.5."""
    a = csv_file({"score": [0.5, 0.5], "weight": [2, 2]}, tmp_path / "c.csv")
    b = csv_file({"weight": [2, 2], "score": [0.5, 0.5]}, tmp_path / "d.csv")
    for paths in ([a, b], [b, a]):
        assert evaluate(paths, score="score")["mean"].value == 0.5


@pytest.mark.parametrize(
    "content", ["id,label\n0.5,2\n", "0.5,2\n0.5,2\n", "score\n0.5\n", "score,weight,x\n1,2,3\n", ""]
)
def test_parts_with_other_columns(content: str, tmp_path: Path) -> None:
    """A CSV part with other names, or without a header, was taken all the same, and lost its first row."""
    a = csv_file({"score": [0.5, 0.5], "weight": [2, 2]}, tmp_path / "c.csv")
    (tmp_path / "d.csv").write_text(content)
    with pytest.raises(StratError, match=r"d\.csv` must (have the columns of .*c\.csv`, but it|start with a line)"):
        evaluate([a, tmp_path / "d.csv"], score="score")


@pytest.mark.parametrize("road", ["csv", "json lines", "parquet", "arrow file"])
def test_a_folder_is_no_column(road: str, tmp_path: Path) -> None:
    """A folder called guess=z replaced the column `guess`: accuracy 0 for 1."""
    folder = tmp_path / "guess=z"
    folder.mkdir()
    path = ROADS[road]({"truth": ["a", "b"], "guess": ["a", "b"]}, folder)
    assert evaluate(path, truth="truth", predicted="guess", metrics="accuracy")["accuracy"].value == 1.0


@pytest.mark.parametrize("folder", ["~", "file:", "a*", "[x]", "{a,b}", "s3:", "http:"])
@pytest.mark.parametrize("road", ["csv", "json lines", "parquet", "arrow file"])
def test_paths_mean_themselves(road: str, folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder called `~` was read from the home folder, one called `file:` from the root."""
    home = tmp_path / "home"
    home.mkdir()
    ROADS[road]({"s": [0, 0]}, home)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(tmp_path)
    (tmp_path / folder).mkdir()
    path = ROADS[road]({"s": [1, 1]}, tmp_path / folder).relative_to(tmp_path)
    (tmp_path / "ax").mkdir()
    ROADS[road]({"s": [0, 0]}, tmp_path / "ax")
    assert read(str(path)).numbers("s").tolist() == [1, 1]


@POSIX
@pytest.mark.parametrize("second", ["a.csv", "./a.csv", "link.csv", "hard.csv", "a*.csv", "l*.csv"])
def test_a_file_counts_once(second: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same file twice, or by a link or a glob that overlaps, counted double without a word."""
    monkeypatch.chdir(tmp_path)
    csv_file({"s": [1, 0]}, Path("a.csv"))
    Path("link.csv").symlink_to("a.csv")
    os.link("a.csv", "hard.csv")
    with pytest.raises(StratError, match="`source` must name each file once, got"):
        evaluate(["a.csv", second], score="s")


def test_a_log_counts_once(tmp_path: Path) -> None:
    """A folder of logs and a file in it gave the file's samples twice with runs="repeat"."""
    path = tmp_path / "samples_task_2024-01-01T00-00-00.jsonl"
    rows = [{"doc_id": i, "doc": {}, "metrics": ["acc"], "acc": 1.0} for i in range(3)]
    path.write_text("\n".join(map(json.dumps, rows)))
    assert len(data.read_logs(tmp_path)) == 3
    with pytest.raises(StratError, match="must name each file once"):
        data.read_logs([tmp_path, path], runs="repeat")


def test_a_mark_in_a_log_is_no_stratum(tmp_path: Path) -> None:
    """Samples whose subject is "N/A" made a stratum of their own."""
    path = tmp_path / "samples_task_2024-01-01T00-00-00.jsonl"
    rows = [{"doc_id": i, "doc": {"subject": s}, "metrics": ["acc"], "acc": 1.0} for i, s in enumerate(["x", "N/A"])]
    path.write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(StratError, match="1 lack 'subject'"):
        data.read_logs(path, strata="subject")
    assert len(data.read_logs(path, strata="subject", na=[])) == 2

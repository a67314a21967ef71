"""One function for each place that a label is written to."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from command_cases import Program
from strat.base.errors import visible
from strat.base.escaping import armed, disarmed, escape_csv, escape_json, escape_latex, escape_markdown
from strat.measures import ConfusionMatrix
from strat.show.render import Sheet, csv_text, json_text, latex_text, markdown_text, plain_text
from strat.verbs import evaluate

ACTING = "\x1b]0;t\x07\x1b[31m \x7f \x9b31m \u202e \u200b \u2066 \ud800"
FORMULAS = ["=1", "\n=1", " =1", "\ufeff=1", "＝1", "＋1+1", "@x", "＠x", "\t=1", "'=1", "-x", "−x"]


@pytest.mark.parametrize("form", [json_text, markdown_text, latex_text, plain_text, csv_text])
def test_nothing_that_a_terminal_acts_on_is_written(form: object) -> None:
    """Raw ESC and OSC came out of --latex and CSV, C1, DEL and bidi signs out of --markdown and --json, too."""
    sheet = Sheet("strat/x/1", ["a", ACTING], [[ACTING, 1.0]], title=ACTING, notes=[ACTING])
    text = form(sheet)  # type: ignore[operator]
    assert text.replace("\n", "").isprintable()


def test_json_keeps_its_values() -> None:
    told = json.loads(json_text(Sheet("strat/x/1", ["a"], [[ACTING + "\U000e0001"]])))
    assert told["rows"] == [{"a": ACTING + "\U000e0001"}]
    assert escape_json('{"a": "naïve 中"}') == '{"a": "naïve 中"}'


@pytest.mark.parametrize("label", ["[1cm]", "*", "[x", "*[2cm]"])
def test_no_cell_is_an_argument_of_the_line_before(label: str) -> None:
    r"""A first cell `[1cm]` or `*` was an argument of `\\`, and the rows moved."""
    lines = latex_text(Sheet("strat/x/1", ["a"], [["x"], [label]])).split("\n")
    assert all(not line.startswith(("[", "*")) for line in lines)
    assert escape_latex(label).startswith("{" + label[0] + "}")


@pytest.mark.parametrize("text", ["~~x~~", "http://x.org", "www.x.org", "a@b.org", "- x", "1. x", "2) x", "---", "+ x"])
def test_markdown_acts_on_no_label(text: str) -> None:
    markdown = pytest.importorskip("markdown_it")
    page = markdown.MarkdownIt("commonmark").enable("strikethrough").render(escape_markdown(text))
    assert page == f"<p>{text}</p>\n"
    assert "://" not in escape_markdown(text)


@pytest.mark.parametrize("text", FORMULAS)
def test_no_spreadsheet_runs_a_label(text: str) -> None:
    """Cells such as a line end before `=1`, or a full-width `＝`, were not disarmed."""
    (cell,) = next(csv.reader(io.StringIO(escape_csv(text), newline="")))
    assert cell == visible("'" + text)
    assert armed(disarmed(text)) == text
    assert csv_text(Sheet("strat/x/1", [text], [])).lstrip('"').startswith("'")


@pytest.mark.parametrize("text", ["a=1", "-1.5", "+3e5", "'a", "x-y", "", "−"])
def test_other_cells_stay_as_they_are(text: str) -> None:
    expected = "'−" if text == "−" else text
    assert escape_csv(text) == expected
    assert armed(disarmed(text)) == text


def test_a_confusion_matrix_of_formulas_comes_back(tmp_path: Path) -> None:
    """`ConfusionMatrix.write` wrote formulas raw."""
    labels = ["=cmd|' /C calc'!A0", "@x", "'=x", "plain"]
    matrix = ConfusionMatrix([[1, 2, 0, 0], [0, 3, 1, 0], [0, 0, 4, 1], [5, 0, 0, 6]], labels)
    matrix.write(tmp_path / "c.csv")
    cells = [cell for line in csv.reader((tmp_path / "c.csv").read_text().splitlines()) for cell in line]
    assert not [cell for cell in cells if cell[:1] in ("=", "@", "+", "-")]
    assert ConfusionMatrix.read(tmp_path / "c.csv").labels == tuple(labels)


def test_a_confusion_matrix_spells_control_characters_out(tmp_path: Path) -> None:
    ConfusionMatrix([[1, 2], [3, 4]], ["a", ACTING]).write(tmp_path / "c.csv")
    assert (tmp_path / "c.csv").read_bytes().replace(b"\r\n", b"").decode().isprintable()


@pytest.mark.parametrize("label", ["²", "--5", "9" * 5_000])
def test_a_confusion_matrix_of_odd_numbers_is_read_as_text(tmp_path: Path, label: str) -> None:
    """Labels `²`, `--5` or of 5,000 digits raised a plain ValueError."""
    ConfusionMatrix([[1, 2], [3, 4]], [label, "1"]).write(tmp_path / "c.csv")
    assert ConfusionMatrix.read(tmp_path / "c.csv").labels == (label, "1")


@pytest.mark.parametrize("form", ["--latex", "--markdown", "--json"])
def test_a_column_name_sends_nothing_to_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    name = "p\x1b]0;owned\x07\x9b\u202e"
    path = tmp_path / "a.csv"
    path.write_text(f"t,{name},q\n" + "a,a,b\nb,a,b\n" * 20)
    done = Program(capsys)("compare", path, "--truth", "t", "--predicted", name, "--predicted", "q", form)
    assert done.code == 0, done.err
    assert done.out.replace("\n", "").isprintable()


NAME = "m\x1b]0;owned\x07\x9b\u202e"


@pytest.mark.parametrize("form", ["--quiet", "--latex", "--markdown", "--json"])
def test_names_in_votes_send_nothing_to_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("left,right,winner\n" + f"{NAME},$\\x$,left\n$\\x$,{NAME},left\n" * 20)
    done = Program(capsys)("votes", path, *([] if form == "--quiet" else [form]))
    assert done.code == 0, done.err
    assert done.out.replace("\n", "").isprintable()


def test_the_name_of_a_stored_baseline_sends_nothing_to_terminal_or_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, stored, page = (tmp_path / name for name in ("a.csv", "base.json", "gate.html"))
    path.write_text(f"item,t,{NAME},q\n" + "".join(f"{k},{k % 2},{k % 2},{k % 3 % 2}\n" for k in range(30)))
    how, program = ("gate", path, "--truth", "t", "--items", "item"), Program(capsys)
    assert program(*how, "--predicted", NAME, "--save", stored).code == 0
    done = program(*how, "--predicted", "q", "--baseline", stored, "--margin", "0.1", "--html", page)
    assert done.code in (3, 4), done.err
    assert (done.out + done.err).replace("\n", "").isprintable()
    assert not {"\x1b", "\x07", "\u202e"} & set(page.read_text(encoding="utf-8"))


def test_labels_of_very_many_groups_send_nothing(tmp_path: Path) -> None:
    rows = {"g": [f"{NAME}{k}" for k in range(501)] * 3, "y": [0, 1, 1] * 501, "p": [0, 1, 0] * 501}
    result = evaluate(rows, truth="y", predicted="p", by="g", metrics="accuracy")
    for text in (result.to_markdown(), result.to_latex(), result.to_json(), str(result)):
        assert text.replace("\n", "").isprintable()
    page = result.report(tmp_path / "r.html").read_text(encoding="utf-8")
    assert not {"\x1b", "\x07", "\u202e"} & set(page)

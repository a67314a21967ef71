"""What a file says is data, never code or markup: labels, names and paths in every form of output."""

from __future__ import annotations

import csv
import html.parser
import io
import json
import os
import re
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import strat
from command_cases import Case, Catalogue, Program, check, in_a_process, put
from strat.base.errors import StratError, visible
from strat.show import report
from strat.verbs import Evaluation, evaluate
from systems import POSIX

LABELS = {
    "a script": "<script>alert(1)</script>",
    "an image that fails": '<img src=x onerror="alert(1)">',
    "the end of a script": "</script><script>alert(2)</script>",
    "a comment that opens": "<!--<script>",
    "an entity": "&lt;b&gt; &amp;amp;",
    "a template": "{{ 7 * 7 }} {% raw %} ${7*7} #{7*7}",
    "a formula": "=cmd|' /C calc'!A0",
    "a formula with a plus": "+1+cmd|x",
    "a formula with an at": "@SUM(1+9)*cmd",
    "a formula with a minus": "-2+3+cmd|x",
    "a formula after a tab": "\t=1+1",
    "a link in Markdown": "[click](javascript:alert(1))",
    "a picture in Markdown": "![x](http://example.invalid/track.png)",
    "a cell border": "a|b|c",
    "a heading": "# heading *bold* _it_ `code`",
    "TeX that reads a file": r"\input{/etc/passwd}",
    "TeX that runs": r"\immediate\write18{ls} % $x$ & # _ {} ~ ^",
    "a newline": "two\nlines",
    "a carriage return": "two\r\nlines",
    "terminal colours": "\x1b[31mred\x1b[0m\x07",
    "a terminal title": "\x1b]0;owned\x07",
    "a NUL": "a\x00b",
    "right to left": "abc\u202egnp.exe",
    "a zero-width space": "a\u200bb",
    "emoji and astral signs": "😀𝔘𝔫𝔦𝔠𝔬𝔡𝔢",
    "combining signs": "Z" + "\u0310\u0301\u0335" * 30,
    "a byte-order mark": "\ufeffx",
    "line separators": "a\u2028b\u2029c",
    "a thousand signs": "x" * 1000,
    "quotes": "\"'`´“”",
    "only blanks": "   ",
    "a word for nothing": "null",
    "rich markup": "[bold red]x[/bold red] [link=file:///etc/passwd]y[/link]",
    "a percent sign": "%s %n %(x)s {0} {x!r}",
    "a climbing path": "../../etc/passwd",
}
FORMS: dict[str, Callable[[Evaluation], str]] = {
    "plain": str,
    "markdown": lambda found: found.to_markdown(),
    "latex": lambda found: found.to_latex(),
    "json": lambda found: found.to_json(),
    "csv": lambda found: found.to_csv(),
    "html": lambda found: report.render(found),
}


def data(label: str) -> bytes:
    """A table whose class, stratum and column carry the label."""
    file = io.StringIO()
    writer = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow(["truth", "guess", f"s{label}"])
    for i in range(24):
        writer.writerow([label if i % 2 else "b", label if i % 3 else "b", label if i % 4 > 1 else "z"])
    return file.getvalue().encode()


def ask(folder: Path, label: str, *more: object) -> list[object]:
    path = folder / "t.csv"
    path.write_bytes(data(label))
    return ["evaluate", path, "--truth", "truth", "--predicted", "guess", "--strata", f"s{label}", *more]


@cache
def evaluated(label: str) -> Evaluation | str:
    """The evaluation of the file, or the sentence that refuses it."""
    with tempfile.TemporaryDirectory() as folder:
        path = put(Path(folder), "t.csv", data(label))
        try:
            return evaluate(str(path), truth="truth", predicted="guess", strata=f"s{label}")
        except StratError as error:
            return str(error)


@pytest.mark.parametrize("label", LABELS.values(), ids=LABELS.keys())
@pytest.mark.parametrize("form", FORMS)
def test_a_label_stays_a_label(label: str, form: str) -> None:
    found = evaluated(label)
    if isinstance(found, str):  # the engine reads a few labels as nothing, or can't read them: said, not guessed
        assert "\n" not in visible(found)
        return
    HARMLESS[form](FORMS[form](found))


@pytest.mark.parametrize("label", ["a script", "a formula", "terminal colours", "a NUL", "right to left"])
@cache
def results_of_verbs() -> dict[str, Any]:
    """What each verb makes of a table whose columns, systems, groups and labels all hold what a terminal acts on."""
    odd = "\x1b[31mred\x07\x9b\u202e\u200b"
    n = 24
    truth = [odd if k % 2 else "b" for k in range(n)]
    table: dict[str, Any] = {
        f"y{odd}": truth,
        f"a{odd}": [odd if k % 3 else "b" for k in range(n)],
        f"b{odd}": [odd if k % 4 else "b" for k in range(n)],
        f"g{odd}": [odd if k % 8 < 4 else "z" for k in range(n)],
        f"u{odd}": [f"{odd}{k // 2}" for k in range(n)],
        f"i{odd}": [f"{odd}{k}" for k in range(n)],
    }
    truth_of, first, second, group, unit, item = table
    pair: dict[str, Any] = {"truth": truth_of, "predicted": [first, second], "units": unit}
    return {
        "evaluate": strat.evaluate(table, truth=truth_of, predicted=first, by=group, units=unit),
        "compare": strat.compare(table, **pair, by=group),
        "gate": strat.gate(table, **pair, baseline=first, margin=0.2),
        "look": strat.look(table),
        "sample": strat.sample(table, size=6, items=item, strata=group),
        "check": strat.check(table, truth=truth_of, predicted=first, units=unit, metrics="accuracy", trials=50),
    }


@pytest.mark.parametrize("verb", ["evaluate", "compare", "gate", "look", "sample", "check"])
@pytest.mark.parametrize("form", ["__str__", "to_markdown", "to_latex", "to_csv", "to_json"])
def test_no_verb_writes_what_a_terminal_acts_on_in_any_form(verb: str, form: str) -> None:
    result = results_of_verbs()[verb]
    if hasattr(result, form):
        assert getattr(result, form)().replace("\n", "").isprintable()


@pytest.mark.parametrize("label", ["a script", "a formula", "terminal colours", "a NUL", "right to left"])
def test_a_label_on_the_command_line(label: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ended = Program(capsys)(*ask(tmp_path, LABELS[label]))
    assert ended.code in (0, 1), ended
    assert "Traceback" not in ended.err
    plain(ended.out)
    plain(ended.err)


def plain(text: str) -> None:
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202e]", text)


def markdown(text: str) -> None:
    plain(text)
    lines = text.splitlines()
    rows = [line for line in lines if line.startswith("|")]
    assert len({len(re.findall(r"(?<!\\)\|", row)) for row in rows}) == 1
    assert "<script" not in text
    assert "<img" not in text
    assert "](" not in text.replace("\\]", "")


def latex(text: str) -> None:
    plain(text)
    body = [line for line in text.splitlines() if not line.startswith("%")]
    assert not re.search(r"\\(input|immediate|write)", "\n".join(body))
    assert all(re.match(r"\\(begin|toprule|midrule|bottomrule|end)|.* \\\\$", line) for line in body)


def as_json(text: str) -> None:
    assert json.loads(text)["schema"] == "strat/evaluate/4"


def as_csv(text: str) -> None:
    rows = list(csv.reader(io.StringIO(text)))
    assert len({len(row) for row in rows}) == 1
    for row in rows:
        for cell in row:
            assert not cell.startswith(("=", "@", "\t", "\r", "+")), cell


class Elements(html.parser.HTMLParser):
    """Counts what a browser would run or fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.scripts = self.images = 0
        self.handlers: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.scripts += tag == "script"
        self.images += tag in ("img", "iframe", "object", "embed", "link")
        self.handlers += [name for name, _ in attrs if name.startswith("on")]
        self.links += [value or "" for name, value in attrs if name in ("href", "src", "action")]


def as_html(text: str) -> None:
    found = Elements()
    found.feed(text)
    assert found.scripts == len(re.findall(r"<script", text)) <= 4
    assert found.images == 1  # the empty icon
    assert not found.handlers
    assert all(link.startswith(("#", "https://doi.org/", "data:")) or link == "" for link in found.links), found.links
    assert "alert(1)</script>" not in text


HARMLESS = {"plain": plain, "markdown": markdown, "latex": latex, "json": as_json, "csv": as_csv, "html": as_html}

case = Catalogue()


def to(path: str) -> object:
    return lambda f: [*ask(f, "x"), "-o", f / path]


case("output into no folder", to("no/such/out.csv"), says="no folder")
case("output onto a folder", lambda f: [(f / "d.csv").mkdir(), *ask(f, "x"), "-o", f / "d.csv"][1:], says="written")
case("output that climbs is where it says", to("sub/../out.txt"), says="no folder")
case("a report that is not HTML", lambda f: [*ask(f, "x"), "--html", f / "r.exe"], says="html")
case("a report into no folder", lambda f: [*ask(f, "x"), "--html", f / "no" / "r.html"], says="no folder")
case(
    "a report onto a folder",
    lambda f: [(f / "r.html").mkdir(), *ask(f, "x"), "--html", f / "r.html"][1:],
    says="written",
)
case("output with a name too long", to("x" * 300 + ".csv"), says="written|long")
case("output over its own input", lambda f: [*ask(f, "x"), "-o", f / "t.csv"], says="another file than those")
case("output to a pipe", lambda f: [os.mkfifo(f / "p"), *ask(f, "x"), "-o", f / "p"][1:], says="device")
case(
    "output through a link",
    lambda f: [(f / "l.csv").symlink_to(f / "real.csv"), *ask(f, "x"), "-o", f / "l.csv"][1:],
    code=0,
    writes=("l.csv", "real.csv"),
)


@POSIX
@pytest.mark.parametrize("entry", case.cases, ids=str)
def test_a_hostile_place(entry: Case, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check(entry, tmp_path, Program(capsys))


def test_a_terminal_that_speaks_ascii(tmp_path: Path) -> None:
    """What the terminal can't show is spelled out, not a crash."""
    path = put(tmp_path, "t.csv", data("é–∞😀"))
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C", "PYTHONUTF8": "0"}
    ended = in_a_process("evaluate", path, "--truth", "truth", "--predicted", "guess", "--json", env=environment)
    assert (ended.code, ended.err) == (0, "")
    failed = in_a_process("evaluate", path, "--truth", "é😀", "--predicted", "guess", env=environment)
    assert failed.code == 1
    assert failed.err.count("\n") == 1

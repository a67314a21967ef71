"""Every example of the README and of the documentation runs, and the output below it is the one that it gives."""

from __future__ import annotations

import re
import shlex
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.core import TyperGroup

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs"))

import outputs  # noqa: E402

from strat.cli.app import app  # noqa: E402

PAGES = outputs.pages()
# the commands of three newcomers' walks: clinical CSV to report, folder of logs to gate, list of scores to DET figure
WALKS = {
    "clinical": ("strat look", "strat evaluate", "report.html"),
    "benchmarks": ("strat compare", "strat gate", "summary.md"),
    "biometrics": ("strat recognize", "strat recognize", "det.pdf"),
}


def test_there_is_something_to_run() -> None:
    assert ROOT / "README.md" in PAGES
    assert len(PAGES) > 50


def by_other_versions(text: str) -> bool:
    """Whether a page prints what another package computes, in another version than that of constraints.txt."""
    locked = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    for module, package in (("sklearn", "scikit-learn"), ("sacrebleu", "sacrebleu")):
        used = f"from {module}" in text or f"import {module}" in text
        if used and f"{package}=={version(package)}\n" not in locked:
            return True
    return False


@pytest.mark.costly("a page is run from its first example to its last, as a reader would")
@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_the_page_shows_what_its_examples_print(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    run_only = by_other_versions(text)
    with outputs.empty_folder():
        for outcome in outputs.run(page, text):
            e = outcome.example
            if not (run_only or e.varies):
                missing = [words for words in promised(e.code) if not shows(outcome.text, words)]
                assert not missing, f"{page.name}, line {e.line}: its comment promises {missing}, got\n{outcome.text}"
            if run_only or e.varies or (e.shown is None and page.parent == ROOT):
                continue
            way_out = f"{page.name}, line {e.line}: renew it by `python docs/outputs.py {page.relative_to(ROOT)}`"
            assert outputs.same(e.shown or "", outcome.text), f"{way_out}\n{outcome.text}"
        if page.stem in WALKS:
            walked(text, *WALKS[page.stem])


PROMISE = re.compile(
    r"^ *print\(.*\)  # (?:\"([^\"]*\d[^\"]*)\"|([-−+]?\d+(?:\.\d+)?)(?![\w.%×:]| %| ×)|.*\b(p [<=] \d\.\d+))",
    re.MULTILINE,
)


def promised(code: str) -> list[str]:
    """What the comment beside a `print` says that it prints: a text in quotes, a number at its beginning, or a p-value.

    >>> promised('print(a)  # "0.78 (0.71)" for each\\nprint(b)  # 4 of 7\\nprint(c)  # the 3 best: p < 0.01')
    ['0.78 (0.71)', '4', 'p < 0.01']
    """
    return ["".join(parts) for parts in PROMISE.findall(code)]


def shows(text: str, promise: str) -> bool:
    """Whether a text shows what was promised: the words, or a number that rounds to the promised one.

    >>> shows("0.02799690089398126", "0.0280"), shows("1.00 (0.99, 1.00)", "0.78 (0.71, 0.83)")
    (True, False)
    """
    if promise in text:
        return True
    number = promise.replace("−", "-")
    if re.fullmatch(r"[-+]?\d+(\.\d+)?", number) is None:
        return False
    half = 0.5001 * 10.0 ** -len(number.partition(".")[2])
    return any(abs(float(n) - float(number)) <= half for n in re.findall(r"-?\d+\.?\d*", text.replace("−", "-")))


def walked(text: str, first: str, then: str, file: str) -> None:
    commands = [e.code for e in outputs.examples(text) if e.kind == "sh"]
    assert commands[0].startswith(first)
    assert any(command.startswith(then) for command in commands)
    assert Path(file).stat().st_size > 100


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "users").glob("[!i]*.md")), ids=lambda p: p.stem)
def test_the_sentence_for_the_paper_has_the_numbers_of_the_page(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    printed = [n for e in outputs.examples(text) for n in re.findall(r"\d+\.\d+", e.shown or "")]
    (sentence,) = re.findall(r'\*The sentence[^"]*"([^"]+)"', text)
    quoted = re.findall(r"\d+\.\d+", sentence)
    assert len(quoted) >= 3
    for number in quoted:
        half = 0.5001 * 10.0 ** -len(number.partition(".")[2])
        assert any(abs(float(n) * scale - float(number)) <= half for n in printed for scale in (1, 100)), number


def test_every_page_for_users_has_a_sentence_a_figure_and_outputs() -> None:
    for page in (ROOT / "docs" / "users").glob("*.md"):
        text = page.read_text(encoding="utf-8")
        if page.stem != "index":
            assert ".plot(" in text, page.stem
            assert "sentence" in text, page.stem
            assert sum(e.shown is not None for e in outputs.examples(text)) >= 2, page.stem


INDENTED = [
    pytest.param(line.strip(), id=f"{page.stem}: {line.split()[1]}")
    for page in PAGES
    for line in page.read_text(encoding="utf-8").splitlines()
    if line.startswith("    strat ")
]


@pytest.mark.parametrize("line", INDENTED)
def test_a_command_that_is_shown_without_its_file_has_only_options_that_exist(line: str) -> None:
    parsed(shlex.split(line, comments=True)[1:])


def test_an_option_that_does_not_exist_is_seen() -> None:
    with pytest.raises(Exception, match="there is no option --truht"):
        parsed(["evaluate", "a.csv", "--truht", "label"])


def parsed(words: list[str]) -> None:
    """Parse the words of a command without running it."""
    command: Any = typer.main.get_command(app)
    while isinstance(command, TyperGroup):
        _, command, words = command.resolve_command(command.context_class(command), words)
    command.make_context("strat", words)


@pytest.mark.parametrize(
    ("shown", "given", "equal"),
    [
        ("se 0.0198, p < 0.001", "se 0.0198, p < 0.001", True),
        ("se 0.0198", "se 0.0199", True),
        ("0.7561 to 0.8340", "0.7573 to 0.8359", False),
        ("se 0.0198", "se 0.0218", False),
        ("12 units", "13 units", False),
        ("A wins", "B wins", False),
        ("a   0.50\n----  ----", "a  0.50\n-----  -----", True),
    ],
)
def test_outputs_are_the_same_up_to_the_last_digit(shown: str, given: str, equal: bool) -> None:
    assert outputs.same(shown, given) is equal


def test_a_command_that_fails_is_an_error() -> None:
    text = "```sh\nstrat look nowhere.csv\n```\n"
    with outputs.empty_folder(), pytest.raises(ValueError, match="ended with 1"):
        list(outputs.run(ROOT / "docs" / "start.md", text))


def test_a_fence_of_commands_holds_strat_only() -> None:
    with outputs.empty_folder(), pytest.raises(ValueError, match="holds strat commands"):
        list(outputs.run(ROOT / "docs" / "start.md", "```sh\nrm -r x\n```\n"))


def test_rewriting_replaces_an_old_output() -> None:
    old = "```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n\nMore.\n"
    new = outputs.current(old, ROOT / "docs" / "start.md")
    assert new == old.replace("3\n", "2\n")
    assert outputs.current(new, ROOT / "docs" / "start.md") == new


def test_figures_and_reports_are_put_beneath_the_code_that_makes_them(tmp_path: Path) -> None:
    text = (
        "```python\nimport matplotlib.pyplot as plt\nfigure, ax = plt.subplots()\n"
        "ax.set_title('a < b')  # .plot\n```\n\n"
        "```python\nopen('report.html', 'w').write('<p>')\n```\n\nThe end.\n"
    )
    shown = outputs.illustrated(ROOT / "docs" / "users" / "vision.md", text, tmp_path, "../")
    assert '<img class="drawn" loading="lazy" alt="Figure that this code draws: a &lt; b" src="../_drawn/' in shown
    assert shown.index("<img") < shown.index("report.html', 'w'") < shown.index("<iframe") < shown.index("The end.")
    assert {path.suffix for path in tmp_path.iterdir()} == {".png", ".html"}

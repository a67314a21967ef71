"""The table of the sources' items: all are there, each call, test, entry and erratum exists, the test uses the call."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer

import strat
from reproduce import ENTRIES, SOURCES
from strat.base.notes.kinds import register

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/sources.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| ([A-Z]+[a-z]?\d+) \| (.+?) \| (.+?) \| (.+?) \| (.+?) \| (.*?)\|$", re.MULTILINE)
ITEMS = {number: tuple(part.strip() for part in parts) for number, *parts in ROW.findall(PAGE)}
WANTED = {"S": 67, "C": 29, "N": 13, "Ny": 23, "F": 46, "K": 77}  # N: what both papers say in passing
STATUS = re.compile(r"(works|errs|works, errs|partial)(, other data)?")
PARTS = (
    *("algebra", "comparison", "data", "datasets", "designs", "estimation", "gaussian", "measures", "planning"),
    *(
        "estimation.proportions",
        "protocols",
        "recognition",
        "replication",
        "show.report",
        "verbs",
        "verbs.model_verdicts",
    ),
)


def test_every_item_of_the_five_sources_is_there_once() -> None:
    found: dict[str, list[int]] = {}
    for number in (match[0] for match in ROW.findall(PAGE)):
        letters = number.rstrip("0123456789")
        found.setdefault(letters, []).append(int(number[len(letters) :]))
    assert sum(WANTED.values()) - WANTED["N"] == 242
    assert found == {letters: list(range(1, n + 1)) for letters, n in WANTED.items()}


@pytest.mark.parametrize("number", ITEMS)
def test_an_item_has_a_status_and_what_is_partial_a_reason(number: str) -> None:
    said, status, call, test, reason = ITEMS[number]
    assert STATUS.fullmatch(status)
    assert said
    assert call
    assert test
    assert status != "partial" or len(reason) > 30


@pytest.mark.parametrize("number", ITEMS)
def test_an_item_that_errs_names_its_erratum(number: str) -> None:
    said, status, _, _, reason = ITEMS[number]
    told = re.findall(r"errat(?:um|a) ((?:\d+(?:, | and | to )?)+)", said + reason)
    named = {int(n) for numbers in told for n in re.findall(r"\d+", numbers)}
    listed = re.findall(r"^### (\d+)\.", (ROOT / "docs/errata.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert named <= {int(n) for n in listed}
    assert bool(named) or "errs" not in status


NAMED_TESTS = re.compile(r"`([\w/]+\.py)(?:::(\w+))?`")
NAMED_ENTRIES = re.compile(r"((?:strat|cvpr|nyssen|fh|kuncheva)/[\w.-]*\w)")


@cache
def definitions(path: Path) -> dict[str, str]:
    """The text of each name that a file defines or imports."""
    text = path.read_text(encoding="utf-8")
    found: dict[str, str] = {}
    for node in ast.parse(text).body:
        lines = text.splitlines()[min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))]) - 1 :]
        source = "\n".join(lines[: (node.end_lineno or 0) - (len(text.splitlines()) - len(lines))])
        targets = [node.target] if isinstance(node, ast.AnnAssign) else getattr(node, "targets", [])
        names = [t.id for one in targets for t in ast.walk(one) if isinstance(t, ast.Name)]
        found |= dict.fromkeys([*names, *([node.name] if hasattr(node, "name") else [])], source)
        if isinstance(node, ast.Import | ast.ImportFrom):
            found |= {a.asname or a.name: f"{getattr(node, 'module', '')} {a.name}" for a in node.names}
    return found


@cache
def used_by(path: Path, name: str) -> str:
    """The text of a definition, of all that it uses in its file and in the folder `reproduce`, and of entries named."""
    known, text, todo, seen = definitions(path), "", [name], set()
    while todo:
        one = todo.pop()
        seen.add(one)
        origin, _, of = known[one].partition(" ")
        module = ROOT / "reproduce" / f"{of if origin == 'reproduce' else origin.removeprefix('reproduce.')}.py"
        if origin.startswith("reproduce") and module.is_file():
            text += used_by(module, of) if of in definitions(module) else module.read_text(encoding="utf-8")
        else:
            text += "\n" + known[one]
            todo += [k for k in known if k not in seen and k not in todo and re.search(rf"\b{k}\b", known[one])]
    return text


def used_by_test(number: str) -> str:
    """What the tests of an item use, in their own files and in the entries of `strat reproduce` that are named."""
    _, _, call, test, _ = ITEMS[number]
    text = ""
    for path, function in NAMED_TESTS.findall(test):
        file = ROOT / "tests" / path
        text += used_by(file, function) if function else file.read_text(encoding="utf-8")
    if "reproduce/" in test:
        text += call
        by_id = {entry.id: getattr(entry.make, "func", entry.make) for entry in ENTRIES}
        for make in (by_id[name] for name in NAMED_ENTRIES.findall(call + test + text) if name in by_id):
            text += used_by(Path(inspect.getfile(make)), make.__name__)
    return text + "".join((ROOT / "docs" / page).read_text(encoding="utf-8") for page in PAGES.findall(test))


PAGES = re.compile(r"`(howto/\w+\.md)`")


def names_in(call: str) -> set[str]:
    """The functions, methods, commands, notes and programs that a call names; its entries are run by a test anyway."""
    found: set[str] = set()
    for span in re.findall(r"`([^`]+)`", call):
        words, code = span.split(), re.sub(r'"[^"]*"', "", span)
        if words[0] == "strat" and len(words) > 1:
            found.add(words[1])
        elif words[:2] == ["python", "-m"] or span in register():
            found.add(words[-1])
        elif not re.match(r"\w+=", code) and not NAMED_ENTRIES.fullmatch(words[-1]):
            called = re.findall(r"([\w.]+)\(", code) + re.findall(r"\)\.(\w+)", code) or re.findall(r"^[\w.]+", code)
            found |= {name.strip(".").rpartition(".")[2] for name in called}
    return found


@pytest.mark.parametrize("number", ITEMS)
def test_the_test_of_an_item_uses_its_call(number: str) -> None:
    wanted, text = names_in(ITEMS[number][2]), used_by_test(number)
    missing = {name for name in wanted if not re.search(rf"\b{re.escape(name)}\b", text)}
    assert not missing, (missing, ITEMS[number][2:4])


@cache
def functions_of(path: str) -> set[str]:
    return set(re.findall(r"^def (test_\w+)", (ROOT / "tests" / path).read_text(encoding="utf-8"), re.MULTILINE))


@pytest.mark.parametrize("number", ITEMS)
def test_the_test_of_an_item_exists(number: str) -> None:
    _, _, _, test, _ = ITEMS[number]
    named = NAMED_TESTS.findall(test)
    assert named, test
    for path, function in named:
        assert (ROOT / "tests" / path).is_file(), path
        assert not function or function in functions_of(path), (path, function)
    ids = {entry.id for entry in ENTRIES}
    entries = re.findall(r"`((?:strat|cvpr|nyssen|fh|kuncheva)/[\w.-]+)`", " ".join(ITEMS[number]))
    assert set(entries) <= ids, set(entries) - ids
    for page in PAGES.findall(test):
        assert (ROOT / "docs" / page).is_file()


@cache
def names() -> tuple[frozenset[str], frozenset[str]]:
    """All public names with those of their methods and fields, and the names of all their arguments."""
    known, arguments = {part.rpartition(".")[2] for part in PARTS} | set(strat.__all__), set()
    modules = [strat, *(importlib.import_module(f"strat.{part}") for part in PARTS)]
    everything = [
        (name, getattr(module, name)) for module in modules for name in getattr(module, "__all__", dir(module))
    ]
    for name, thing in everything:
        known.add(name)
        members = dict(inspect.getmembers(thing)) if inspect.isclass(thing) else {}
        known |= {k for k in members if not k.startswith("_")} | set(getattr(thing, "__annotations__", {}))
        for one in (thing, *members.values()):
            arguments |= _arguments(one)
    return frozenset(known), frozenset(arguments)


def _arguments(thing: Any) -> set[str]:
    try:
        return set(inspect.signature(thing).parameters) if callable(thing) else set()
    except (TypeError, ValueError):
        return set()


@cache
def options(command: str) -> frozenset[str]:
    made = typer.main.get_command(importlib.import_module(f"strat.cli.{command}").command)
    every = [made, *getattr(made, "commands", {}).values()]
    return frozenset(option for one in every for p in one.params for option in (*p.opts, *p.secondary_opts))


@pytest.mark.parametrize("number", ITEMS)
def test_the_call_of_an_item_exists(number: str) -> None:
    """A function, method, field or argument, a command with its options, an entry, a note, or a program beside src."""
    _, _, call, _, _ = ITEMS[number]
    for span in re.findall(r"`([^`]+)`", call):
        words = span.split()
        if words[0] == "strat" and len(words) > 1:
            assert set(re.findall(r"--[a-z-]+", span)) <= options(words[1]), span
        elif words[:2] == ["python", "-m"]:
            assert (ROOT / f"{words[2].replace('.', '/')}.py").is_file(), span
        elif "/" in words[-1] and words[-1].split("/")[0] in SOURCES:
            assert words[-1] in {entry.id for entry in ENTRIES}, span
        elif span not in register() and not span.startswith('"'):  # a note, or a value of an argument
            _is_a_call(span)


def _is_a_call(span: str) -> None:
    known, arguments = names()
    code = re.sub(r'"[^"]*"', "", span)
    called = re.findall(r"[\w.]+(?=\()", code) or re.findall(r"^[\w.]+(?!=)\b(?!=)", code)
    assert called or re.match(r"\w+=", code), span
    assert {name.strip(".").rpartition(".")[2] for name in called} <= known, (span, called)
    assert set(re.findall(r"(\w+)=", code)) <= arguments, span


@pytest.mark.parametrize(
    "span", ["comparison.friedmann(table)", "friedman(table, lower_is_better=)", "data.portrait()"]
)
def test_what_does_not_exist_is_no_call(span: str) -> None:
    with pytest.raises(AssertionError):
        _is_a_call(span)

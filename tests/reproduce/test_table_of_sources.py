"""The table of the sources' items: all are there, and each call, test, entry and erratum that it names exists."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable
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


def refused(check: Callable[[str], None]) -> list[str]:
    """The items that a check refuses, with what it says of each."""
    found = []
    for number in ITEMS:
        try:
            check(number)
        except AssertionError as error:
            found.append(f"{number}: {error}")
    return found


def test_an_item_has_a_status_and_what_is_partial_a_reason() -> None:
    assert refused(_has_a_status) == []


def _has_a_status(number: str) -> None:
    said, status, call, test, reason = ITEMS[number]
    assert STATUS.fullmatch(status)
    assert said
    assert call
    assert test
    assert status != "partial" or len(reason) > 30


@cache
def functions_of(path: str) -> set[str]:
    return set(re.findall(r"^def (test_\w+)", (ROOT / "tests" / path).read_text(encoding="utf-8"), re.MULTILINE))


def test_the_test_of_an_item_exists() -> None:
    assert refused(_has_a_test) == []


def _has_a_test(number: str) -> None:
    _, _, _, test, _ = ITEMS[number]
    named = re.findall(r"`([\w/]+\.py)(?:::(\w+))?`", test)
    assert named, test
    for path, function in named:
        assert (ROOT / "tests" / path).is_file(), path
        assert not function or function in functions_of(path), (path, function)
    ids = {entry.id for entry in ENTRIES}
    entries = re.findall(r"`((?:strat|cvpr|nyssen|fh|kuncheva)/[\w.-]+)`", " ".join(ITEMS[number]))
    assert set(entries) <= ids, set(entries) - ids
    for page in re.findall(r"`(howto/\w+\.md)`", test):
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


def test_the_call_of_an_item_exists() -> None:
    assert refused(_has_a_call) == []


def _has_a_call(number: str) -> None:
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

"""Each kind of note has an example that raises it and one that does not, and what it tells to type can be typed."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import typer

import strat
from strat.base.notes.kinds import register
from strat.cli.app import COMMANDS, app
from strat.verbs import Leaderboard

DOCS = Path(__file__).parents[2] / "docs"
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
IN_PYTHON = re.compile(r"\b[Ii]n Python\b")
STANDS = {  # names of objects
    "board": Leaderboard,
    "design": strat.Design,
    "estimate": strat.Estimate,
    "statistic": strat.Statistic,
}
OF_OTHERS = ("random_state",)  # arguments of scikit-learn's models
PYTHON_ONLY = re.compile(r"strat\.(cross_validate|compare_models|protocols)\b|\.difference\(")
VERBS = {"recognition": "recognize", "votes": "votes", "comparison.chance": "chance", "comparison.friedman": "rank"}


def _page() -> ModuleType:
    spec = importlib.util.spec_from_file_location("notes_of_docs", DOCS / "notes.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


page = _page()


def test_each_kind_has_its_example_and_each_example_its_kind() -> None:
    assert page.codes() == sorted(register())


@pytest.mark.parametrize("code", page.codes())
def test_one_result_has_the_note_and_the_other_has_not(code: str) -> None:
    outcome = page.outcome(code)
    assert code in {note.code for note in outcome.raised}
    assert code not in {note.code for note in outcome.silent}


def test_what_a_note_tells_to_type_in_python_parses_and_has_names_that_exist() -> None:
    assert {code: wrong for code in page.codes() if (wrong := _wrong_in_python(code))} == {}


def _wrong_in_python(code: str) -> list[str]:
    """Options of the command line, and names that the library does not have."""
    here, there = page.paragraphs(page.raised(code))
    pieces = re.findall(r"`([^`]+)`", here)
    if IN_PYTHON.search(there):
        pieces += re.findall(r"`([^`]+)`", there)
    # a command is typed in the shell
    typed = [piece for piece in pieces if not (piece.startswith("strat ") and piece in there)]
    return OPTION.findall(here) + [name for piece in typed for name in unknown_names(piece)]


def test_what_a_note_tells_to_type_on_the_command_line_are_options_of_a_command_that_shows_it() -> None:
    assert {code: wrong for code in page.codes() if (wrong := _wrong_on_the_command_line(code))} == {}


def _wrong_on_the_command_line(code: str) -> list[str]:
    """Pieces that can't be typed there, and options that no command which shows the note has."""
    if PYTHON_ONLY.search(page.program(code)):
        return []
    _, there = page.paragraphs(page.raised(code))
    pieces = re.findall(r"`([^`]+)`", there)
    python = [piece for piece in pieces if not piece.startswith(("strat ", "-"))]
    wrong = [] if IN_PYTHON.search(there) else python
    wanted = set(OPTION.findall(there))
    for piece in (one for one in pieces if one.startswith("strat ")):
        own = set(OPTION.findall(piece))
        wrong += [] if own <= options(piece.split()[1]) else [piece]
        wanted -= own
    shown = any(wanted <= options(command) for command in shown_by(page.program(code)))
    return wrong if shown else [*wrong, *sorted(wanted)]


def test_the_page_is_that_of_the_register() -> None:
    text = page.PAGE.read_text(encoding="utf-8")
    assert page.replaced(text) == text, "run python docs/notes.py"


@pytest.mark.parametrize(
    ("piece", "unknown"),
    [
        ("strat.Sampling(units=…, kinds=…)", []),
        ("estimate.interval(method='exact')", []),
        ("truth", []),
        ("df=3.4", []),
        ("strat.no_such_thing(1)", ["strat.no_such_thing"]),
        ("strat.evaluate(table, clusterz='patient')", ["clusterz"]),
        ("estimate.limits()", ["estimate.limits"]),
        ("colour=3", ["colour"]),
    ],
)
def test_names_that_do_not_exist_are_seen(piece: str, unknown: list[str]) -> None:
    assert list(unknown_names(piece)) == unknown


def unknown_names(piece: str) -> Iterator[str]:
    """The names of a piece of Python that the library does not have."""
    text = piece.replace("…", "...")
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError:
        tree = ast.parse(f"_({text})", mode="eval")  # an argument with its keyword
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            name = ast.unparse(node)
            if re.fullmatch(r"[\w.]+", name) and _resolved(name) is None:
                yield name
        elif isinstance(node, ast.Call):
            known = _parameters(_resolved(ast.unparse(node.func)))
            yield from (one.arg for one in node.keywords if one.arg is not None and one.arg not in known)
        elif isinstance(node, ast.Name) and id(node) not in called:
            inside = node.id in ("strat", *STANDS)
            if not inside and node.id not in _parameters(None) and node.id not in OF_OTHERS:
                yield node.id


def _resolved(name: str) -> Any:
    """What a dotted name stands for; None where it does not exist."""
    first, *others = name.split(".")
    value: Any = strat if first == "strat" else STANDS.get(first)
    for other in others:
        value = getattr(value, other, getattr(value, "__dataclass_fields__", {}).get(other))
    return value


@cache
def _parameters(of: Any) -> frozenset[str]:
    """The parameters of a callable; of None, those of everything public."""
    if of is not None:
        return frozenset(inspect.signature(of).parameters) | _parameters_of_kwargs(of)
    every = [getattr(strat, name) for name in strat.__all__]
    every += [getattr(part, name) for part in every if inspect.ismodule(part) for name in getattr(part, "__all__", ())]
    every += [one for kind in every if inspect.isclass(kind) for _, one in inspect.getmembers(kind, callable)]
    return frozenset(name for one in every if callable(one) for name in _signature(one))


def _signature(one: Callable[..., Any]) -> list[str]:
    try:
        return list(inspect.signature(one).parameters)
    except (TypeError, ValueError):
        return []


def _parameters_of_kwargs(of: Any) -> frozenset[str]:
    """All names, where a callable takes any keyword and hands it on."""
    kinds = {one.kind for one in inspect.signature(of).parameters.values()}
    return _parameters(None) if inspect.Parameter.VAR_KEYWORD in kinds else frozenset()


@cache
def options(command: str) -> frozenset[str]:
    """The options of a command of `strat`, and of those below it."""
    assert command in COMMANDS, f"there is no command {command!r}"
    group: Any = typer.main.get_command(app)
    return frozenset(_options(group.get_command(None, command)))


def _options(command: Any) -> Iterator[str]:
    for one in command.params:
        yield from (*one.opts, *one.secondary_opts)
    for inner in getattr(command, "commands", {}).values():
        yield from _options(inner)


def shown_by(program: str) -> list[str]:
    """The commands that do what a program does: those that it runs, or whose verbs it calls, or `evaluate`."""
    names = {match for match in re.findall(r"(?:strat |strat\.)([a-z_]+)", program) if match in COMMANDS}
    names |= {command for part, command in VERBS.items() if f"strat.{part}" in program}
    if not names - {"look"}:  # which proposes to evaluate
        names.add("evaluate")
    return sorted(names)

"""Names and sentences are plain English: a variable says what it holds, a message uses the words of the trade."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pytest

from source_trees import assert_none, modules

EMPTY_NAMES = {"made", "found", "said", "heard"}


def empty_names(nodes: Iterable[ast.AST]) -> Iterator[tuple[int, str]]:
    """Variables and arguments that are named after nothing that they hold, with their lines."""
    for node in nodes:
        name = node.id if isinstance(node, ast.Name) else node.arg if isinstance(node, ast.arg) else None
        if name in EMPTY_NAMES:
            yield node.lineno, str(name)


def test_variables_say_what_they_hold() -> None:
    assert_none(f"{module.name}:{line} {name}" for module in modules() for line, name in empty_names(module.nodes))


@pytest.mark.parametrize(
    "code", ["made = 1", "def f(found): ...", "[said for said in x]", "lambda heard: 1", "made += 1"]
)
def test_an_empty_name_is_seen(code: str) -> None:
    assert list(empty_names(ast.walk(ast.parse(code))))


# ---- sentences

DIALECT = re.compile(
    r"\b(worth|bends?|told apart|can't be told|mend(?:s|ed)?|alike|a person|a careful person|parted by commas|the house"
    r"|at the door|rooks|lone (?:unit|stratum|strata)|answers? for|nobody|hang together|would never end"
    r"|must hold something|must fall|less (?:lower|right|strata|that|the (?!whole|margin|number))"
    r"|how right each row is|equal ones|can be had|write it anew|save it anew|tell all rows apart|as a rule (?!by)"
    r"|NUL signs|says? nothing of|worse than nothing|knows nothing|before you look|numbers with commas)\b",
    re.IGNORECASE,
)


def _docstrings(nodes: Iterable[ast.AST]) -> set[int]:
    bodies = (n.body for n in nodes if isinstance(n, ast.Module | ast.ClassDef | ast.FunctionDef))
    return {id(body[0].value) for body in bodies if body and isinstance(body[0], ast.Expr)}


def sentences(nodes: Sequence[ast.AST]) -> Iterator[tuple[int, str]]:
    """Every text of a module with its line: messages, notes, helps, labels; parts that are filled in are `…`."""
    unspoken = _docstrings(nodes) | {
        id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values
    }
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            parts = (str(p.value) if isinstance(p, ast.Constant) else "…" for p in node.values)
            yield node.lineno, "".join(parts)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in unspoken:
            yield node.lineno, node.value


def catalogue() -> list[str]:
    """Every sentence that the library can say, with its place; this file prints them with `PYTHONPATH=tests python`."""
    return [
        f"{module.name}:{line}: {text}"
        for module in modules()
        for line, text in sentences(module.nodes)
        if " " in text.strip() and not text.lstrip().startswith(("SELECT", "SET "))
    ]


def test_messages_use_the_words_of_the_trade() -> None:
    messages = catalogue()
    assert len(messages) > 2000
    assert_none(message for message in messages if DIALECT.search(message.partition(": ")[2]))


@pytest.mark.parametrize("folder", [".", "howto"])
def test_documentation_uses_the_words_of_the_trade(folder: str) -> None:
    pages = sorted((Path(__file__).parents[2] / "docs" / folder).glob("*.md"))
    assert len(pages) > 5
    lines = [
        f"{page.name}:{number}: {line}"
        for page in pages
        if page.name != "errata.md"
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1)
        if not line.startswith("|")
    ]
    assert_none(line for line in lines if DIALECT.search(re.sub("`[^`]*`", "", line)))  # codes are no prose


@pytest.mark.parametrize(
    ("text", "caught"),
    [
        ("CMS, a less that of b", True),
        ("got 3; mend its values.", True),
        ("a lone unit", True),
        ("`width` must be less than the range, got 3.", False),
        ("accuracy is lower, by less than the margin", False),
        ("`lone` must be one of 'error', 'collapse'", False),
    ],
)
def test_the_search_for_dialect(text: str, caught: bool) -> None:
    assert bool(DIALECT.search(text)) == caught


if __name__ == "__main__":
    print("\n".join(catalogue()))

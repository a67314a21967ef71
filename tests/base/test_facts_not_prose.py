"""No code of ours reads a sentence, a method's name or a class name's text to decide what to do."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cache

import pytest

from source_trees import assert_none, modules

WORDED = {"method", "design", "target", "summary", "design_text", "sentence", "null", "assumption"}  # texts for people
ASKED = {
    "startswith", "endswith", "partition", "rpartition", "split", "find", "index", "removeprefix", "removesuffix",
    "replace",
}  # fmt: skip


def _is_text(node: ast.AST) -> bool:
    """Whether it is a text for people: `str(result)`, `x.method`, `type(x).__name__`, or one of them in lower case."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("str", "repr"):
        return True
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("lower", "strip"):
        return _is_text(node.func.value)
    return isinstance(node, ast.Attribute) and (node.attr in WORDED or _is_class_name(node))


def _is_class_name(node: ast.AST) -> bool:
    """Whether it is ``type(x).__name__``, or the module of a class."""
    named = isinstance(node, ast.Attribute) and node.attr in ("__name__", "__qualname__", "__module__")
    return named and isinstance(node.value, ast.Call) and getattr(node.value.func, "id", "") == "type"


def readings(nodes: Iterable[ast.AST]) -> Iterator[tuple[int, str]]:
    """The lines on which a text is read to decide, and what is done there."""
    for node in nodes:
        if isinstance(node, ast.Compare) and (_within_text(node) or _of_class_name(node)):
            yield node.lineno, ast.unparse(node)
        if isinstance(node, ast.Call) and _asked(node):
            yield node.lineno, ast.unparse(node)


def _asked(node: ast.Call) -> bool:
    """Whether a text is asked how it begins or ends, or is cut into pieces."""
    function = node.func
    return (
        isinstance(function, ast.Attribute) and function.attr in ASKED and bool(node.args) and _is_text(function.value)
    )


def _within_text(node: ast.Compare) -> bool:
    """Whether something is looked for in a text."""
    return any(isinstance(one, ast.In | ast.NotIn) for one in node.ops) and any(map(_is_text, node.comparators))


def _of_class_name(node: ast.Compare) -> bool:
    return any(map(_is_class_name, [node.left, *node.comparators]))


ALLOWED = {
    # the first line of what another library says is quoted
    ("protocols/running.py", "str(reason).strip().partition('\\n')"),
    ("recognition/score_files.py", "str(error).split('\\n')"),
    ("recognition/streaming.py", "str(error).split('.')"),
    ("data/integrity.py", "str(error).strip().split('\\n')"),
    ("base/validate/arguments.py", "str(error).partition('. Did you mean')"),
    # a method or a measure that the caller asks for by name
    ("recognition/experiment.py", "str(method).removesuffix(NO_STRATA)"),
    # names of columns, which a list of them on the command line separates by commas
    ("verbs/steps.py", "',' in str(name)"),
    # the ending of a file's name
    ("recognition/score_files.py", "str(path).lower().endswith('.parquet')"),
    # libraries that may not be loaded, and an engine that has no class for it
    ("verbs/cross_validation.py", "type(X).__module__.partition('.')"),
    ("base/validate/argument_kinds.py", "type(value).__name__ == 'NAType'"),
    ("data/files/engine.py", "'conversion' in str(error)"),
}


@pytest.mark.parametrize(
    ("code", "caught"),
    [
        ('if "bootstrap" in made.method: pass', True),
        ('if made.design.startswith("stratified"): pass', True),
        ('if "jk" in estimate.method.lower(): pass', True),
        ('a, _, b = str(found).partition("; ")', True),
        ('if type(x).__name__ == "Chance": pass', True),
        ('if "groups" in str(error): pass', True),
        ('raise StratError(str(error).replace("`a`", "`b`"))', True),
        ('if made.method.kind is MethodKind.BOOTSTRAP: pass', False),
        ('if "a" in made.names: pass', False),
        ('print(f"got {type(x).__name__}")', False),
    ],
)  # fmt: skip
def test_the_search_finds_what_it_is_for(code: str, caught: bool) -> None:
    assert bool(list(readings(ast.walk(ast.parse(code))))) == caught


@cache
def in_the_library() -> tuple[tuple[str, int, str], ...]:
    return tuple((module.name, line, text) for module in modules() for line, text in readings(module.nodes))


def test_no_code_reads_prose() -> None:
    assert_none(f"{name}:{line}: {text}" for name, line, text in in_the_library() if (name, text) not in ALLOWED)


def test_what_is_allowed_is_still_there() -> None:
    assert_none(ALLOWED - {(name, text) for name, _, text in in_the_library()})

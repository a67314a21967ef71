"""The parsed modules of the library, read once per process: what every rule about the source walks over."""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple, TypeVar

import strat

SOURCE = Path(strat.__file__).parent
Kind = TypeVar("Kind", bound=ast.AST)


class Module(NamedTuple):
    """A module by its path below the package, with its tree and all nodes of the tree."""

    name: str
    tree: ast.Module
    nodes: tuple[ast.AST, ...]


@cache
def modules() -> tuple[Module, ...]:
    """Every module of the library."""
    trees = [(path, ast.parse(path.read_text(encoding="utf-8"))) for path in sorted(SOURCE.rglob("*.py"))]
    parsed = tuple(Module(path.relative_to(SOURCE).as_posix(), tree, tuple(ast.walk(tree))) for path, tree in trees)
    gc.freeze()  # a million objects that stay: statsmodels, for one, looks for garbage among all others at every call
    return parsed


def nodes(*kinds: type[Kind]) -> Iterator[tuple[str, Kind]]:
    """Every node of these kinds with the name of its module."""
    return ((name, node) for name, _, inner in modules() for node in inner if isinstance(node, kinds))


def calls(name: str) -> Iterator[tuple[str, ast.Call]]:
    """Every call of a function by this plain name, with the name of its module."""
    return (
        (module, node) for module, node in nodes(ast.Call) if isinstance(node.func, ast.Name) and node.func.id == name
    )


def assert_none(offenders: Iterable[object]) -> None:
    """Fail with a list of all that break a rule."""
    lines = [str(one) for one in offenders]
    assert not lines, f"{len(lines)} break the rule:\n" + "\n".join(lines)

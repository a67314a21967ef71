"""Lengths of modules and functions; `python tests/project/measures.py --write` renews the list of exceptions."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
EXCEPTIONS = Path(__file__).with_name("long_code.txt")
LINES, BODY = 700, 40  # the limits of a module and of a function's body without its docstring
HEAD = """# Modules over 700 lines (`path: reason`), functions over 40 without their docstrings (`path name: reason`).
# It holds kernels alone: tests/project/test_lengths_of_code.py fails for what is not in it, and for what need not be.
# `python tests/project/measures.py --write` renews it and keeps the reasons.
"""
KERNELS = "strat/recognition/gpu/"  # where code may be longer, as a kernel is one piece


@dataclass(frozen=True)
class Function:
    """A function, with the length of its body."""

    module: str
    name: str
    lines: int

    @property
    def key(self) -> str:
        """How the list of exceptions calls it."""
        return f"{self.module} {self.name}"


@cache
def modules() -> dict[str, str]:
    """From the path of each module to its text."""
    return {
        path.relative_to(SOURCE).as_posix(): path.read_text(encoding="utf-8") for path in sorted(SOURCE.rglob("*.py"))
    }


@cache
def functions() -> list[Function]:
    """Every function and method, those within others, too."""
    return [function for module, text in modules().items() for function in _within(module, ast.parse(text), "")]


def _within(module: str, node: ast.AST, prefix: str) -> Iterator[Function]:
    for one in ast.iter_child_nodes(node):
        if isinstance(one, ast.FunctionDef):
            yield Function(module, prefix + one.name, _length(one))
        named = f"{prefix}{one.name}." if isinstance(one, ast.FunctionDef | ast.ClassDef) else prefix
        yield from _within(module, one, named)


def _length(function: ast.FunctionDef) -> int:
    body = function.body[1:] if ast.get_docstring(function, clean=False) is not None else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def long_code() -> dict[str, int]:
    """From what is over a limit, as the list of exceptions calls it, to its number of lines."""
    lengths = {module: len(text.splitlines()) for module, text in modules().items()}
    over = {module: n for module, n in lengths.items() if n > LINES}
    return over | {one.key: one.lines for one in functions() if one.lines > BODY}


def exceptions() -> dict[str, str]:
    """The listed exceptions, with their reasons."""
    lines = (line for line in EXCEPTIONS.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#"))
    return {key: reason for key, _, reason in (line.partition(": ") for line in lines)}


def write() -> None:
    """Renew the list of exceptions; reasons that are there stay."""
    old = exceptions() if EXCEPTIONS.is_file() else {}
    lines = (f"{key}: {old.get(key, 'a kernel, which is one piece')}\n" for key in sorted(long_code()))
    EXCEPTIONS.write_text(HEAD + "".join(lines))


if __name__ == "__main__":
    if "--write" in sys.argv:
        write()
    print("\n".join(f"{key}: {lines} lines" for key, lines in sorted(long_code().items(), key=lambda one: -one[1])))

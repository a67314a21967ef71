"""Write the tables of docs/constants.md: the numbers in the code that enter a result, with what they mean.

python docs/constants.py              rewrite the tables
python docs/constants.py --check      change nothing; exit with 1 where the page is not that of the code
"""

from __future__ import annotations

import argparse
import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "constants.md"
SOURCE = ROOT / "src" / "strat"
ELSEWHERE = ("base/limits.py", "cli/", "show/")  # what bounds memory and time, and what is drawn or printed
NAME = re.compile(r"_?[A-Z][A-Z0-9_]*")
START, END = "<!-- constants -->\n", "<!-- end of constants -->"


@dataclass(frozen=True)
class Constant:
    """Numbers that stand in one line of a module under names in capitals, and the comment beside them."""

    module: str
    names: str
    value: str
    meaning: str


def constants() -> list[Constant]:
    """Every number, or tuple of numbers, that a module outside `ELSEWHERE` writes out under a name in capitals."""
    modules = ((path.relative_to(SOURCE).as_posix(), path) for path in sorted(SOURCE.rglob("*.py")))
    return [one for name, path in modules if not name.startswith(ELSEWHERE) for one in _of_module(name, path)]


def _of_module(module: str, path: Path) -> Iterator[Constant]:
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    for node in ast.parse(text).body:
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None or not _numeric(node.value):
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = [name for target in targets for name in ast.unparse(target).strip("()").split(", ")]
        if all(NAME.fullmatch(name) for name in names):
            parts = node.value.elts if len(names) > 1 and isinstance(node.value, ast.Tuple) else [node.value]
            value = ", ".join(map(_shown, parts))
            yield Constant(module, ", ".join(names), value, _comment(lines, node.lineno, node.end_lineno or 0))


def _numeric(value: ast.expr) -> bool:
    if isinstance(value, ast.Constant):
        return isinstance(value.value, int | float) and not isinstance(value.value, bool)
    if isinstance(value, ast.Tuple):
        return bool(value.elts) and all(map(_numeric, value.elts))
    if isinstance(value, ast.BinOp):
        return _numeric(value.left) and _numeric(value.right)
    return isinstance(value, ast.UnaryOp) and _numeric(value.operand)


def _shown(value: ast.expr) -> str:
    """The number as people write it: 100000 as 100,000, and 2**20 as such."""
    if isinstance(value, ast.Tuple):
        return f"({', '.join(map(_shown, value.elts))})"
    if isinstance(value, ast.Constant):
        number = value.value
        return f"{number:,}" if isinstance(number, int) and number >= 10_000 else ast.unparse(value)
    return ast.unparse(value)


def _comment(lines: list[str], first: int, last: int) -> str:
    """The comment on the last line, or else the lines of comment above."""
    if "#" in lines[last - 1]:
        return lines[last - 1].partition("#")[2].strip()
    above: list[str] = []
    while first > 1 and lines[first - 2].startswith("#"):
        first -= 1
        above.insert(0, lines[first - 1].lstrip("# "))
    return " ".join(above)


def tables() -> str:
    """The tables, one for each package."""
    text, package = "", ""
    for one in constants():
        if one.module.partition("/")[0] != package:
            package = one.module.partition("/")[0]
            text += f"\n## {package}\n\n| constant | value | meaning and source |\n| --- | --- | --- |\n"
        where = one.module.partition("/")[2]
        text += f"| `{one.names}` in `{where}` | {one.value} | {one.meaning.replace('|', chr(92) + '|')} |\n"
    return text


def replaced(page: str) -> str:
    """The page with today's tables."""
    before, _, rest = page.partition(START)
    return f"{before}{START}{tables()}\n{END}{rest.partition(END)[2]}"


def main() -> int:
    """Write the tables, or check them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing, and say whether the page is up to date")
    page = PAGE.read_text(encoding="utf-8")
    current = replaced(page)
    if parser.parse_args().check:
        return int(current != page)
    PAGE.write_text(current, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

"""How much there is to read and to learn: `python tests/project/gauges.py` prints each figure and its budget."""

from __future__ import annotations

import ast
import gc
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src"
BUDGETS = Path(__file__).with_name("budgets.txt")
KEYWORDS = 10  # parameters that `**options` counts as
MANY = 12  # parameters that a reader can keep in mind
KERNELS = "strat.recognition.gpu."  # kernels take pointers, sizes and strides one by one
NOT_READ = {"annotation", "returns", "type_params"}  # fields of nodes that nobody should save on
CODE_IN_TEXT = 12  # nodes from which a text that Python can parse is code, not a name or a list of names
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
PARTS = (ast.ExceptHandler, ast.match_case)  # what holds statements and is none
LISTING = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr)
IMPORTS = (ast.Import, ast.ImportFrom, ast.Call)
CAPITALS = re.compile(r"_?[A-Z][A-Z0-9_]*")
CLASS_MAKERS = {"namedtuple", "NamedTuple", "make_dataclass", "TypedDict", "new_class"}
RUNS_TEXT = {"exec", "eval", "compile"}


@dataclass(frozen=True)
class Module:
    """A module, parsed once; `name` as it is imported."""

    name: str
    is_package: bool
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        """Its syntax tree."""
        return ast.parse(self.text)

    @cached_property
    def _parts(self) -> tuple[list[ast.AST], list[tuple[ast.AST, bool]]]:
        return _parts(self.tree)

    @property
    def nodes(self) -> list[ast.AST]:
        """The nodes that say what the code does: without docstrings, imports, annotations and raises."""
        return self._parts[0]

    @property
    def importing(self) -> list[tuple[ast.AST, bool]]:
        """The nodes that can import, and whether each stands within a function."""
        return self._parts[1]

    @cached_property
    def calls(self) -> list[ast.Call]:
        """Every call."""
        return [node for node in self.nodes if isinstance(node, ast.Call)]

    def top(self) -> Iterator[ast.stmt]:
        """The statements that run at import, those within conditions too, but for what is for type checkers alone."""
        todo = list(self.tree.body)
        while todo:
            node = todo.pop(0)
            yield node
            if not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)):
                inner = [] if isinstance(node, FUNCTIONS) else list(ast.iter_child_nodes(node))
                inner += [n for part in inner if isinstance(part, PARTS) for n in part.body]
                todo += [n for n in inner if isinstance(n, ast.stmt)]


def _last_name(node: ast.AST) -> str:
    return str(getattr(node, "attr", getattr(node, "id", "")))


def read(root: Path) -> list[Module]:
    """Every module under a folder of sources: of every package, and those that stand beside the packages."""
    found = []
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        found.append(Module(".".join(parts[: len(parts) - is_package]), is_package, path.read_text(encoding="utf-8")))
    return found


def _parts(tree: ast.AST) -> tuple[list[ast.AST], list[tuple[ast.AST, bool]]]:
    """The nodes that count, and those that can import, with whether they stand within a function."""
    counted: list[ast.AST] = []
    importing: list[tuple[ast.AST, bool]] = []
    todo: list[tuple[ast.AST, bool]] = [(tree, False)]
    while todo:
        node, inner = todo.pop()
        if isinstance(node, IMPORTS):
            importing.append((node, inner))
        if isinstance(node, ast.Import | ast.ImportFrom | ast.Raise):
            continue
        counted.append(node)
        inner = inner or isinstance(node, FUNCTIONS)
        if isinstance(node, ast.Constant):
            todo += [(code, inner) for code in _code_in(node.value)]
            continue
        for field in node._fields:
            value = getattr(node, field, None)
            if isinstance(value, list):
                skipped = field == "body" and bool(value) and _is_docstring(value[0], node)
                todo += [(v, inner) for v in value[skipped:] if isinstance(v, ast.AST)]
            elif isinstance(value, ast.AST) and field not in NOT_READ:
                todo.append((value, inner))
    return counted, importing


def _is_docstring(first: ast.AST, owner: ast.AST) -> bool:
    text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    return text and isinstance(owner, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)


def _code_in(text: object) -> list[ast.AST]:
    """The tree of a text that is Python, as for `exec`; nothing for words and names."""
    if not (isinstance(text, str) and ("(" in text or "=" in text)):
        return []
    try:
        tree = ast.parse(text.strip())
    except (SyntaxError, ValueError):
        return []
    return [tree] if sum(1 for _ in ast.walk(tree)) >= CODE_IN_TEXT else []


# ---- imports


def imports(module: Module, nodes: Iterable[ast.AST], known: set[str]) -> Iterator[str]:
    """The modules of ours that some nodes import: absolute, relative, and by `import_module`."""
    here = module.name.split(".") if module.is_package else module.name.split(".")[:-1]
    for node in nodes:
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = here[: len(here) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            names = [f"{base}.{a.name}" if f"{base}.{a.name}" in known else base for a in node.names]
        elif isinstance(node, ast.Call) and _last_name(node.func) in ("import_module", "__import__"):
            texts = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
            names = [".".join([*here, t.lstrip(".")]) if t.startswith(".") else t for t in texts[:1]]
        yield from (name for name in names if name in known)


def _importers(modules: list[Module], known: set[str]) -> dict[str, set[str]]:
    by: dict[str, set[str]] = defaultdict(set)
    for module in modules:
        for target in imports(module, (node for node, _ in module.importing), known):
            by[target] |= {module.name} - {target}
    return by


def _longest_chain(modules: list[Module], known: set[str]) -> int:
    """How many modules stand one on another, by what runs at import."""
    below: dict[str, set[str]] = {}
    for module in modules:
        simple = (node for node in module.top() if not isinstance(node, ast.If | ast.Try | ast.With | ast.ClassDef))
        at_import = (n for s in simple if not isinstance(s, ast.FunctionDef) for n in ast.walk(s))
        below[module.name] = set(imports(module, at_import, known)) - {module.name}
    length: dict[str, int] = {}

    def height(name: str, path: tuple[str, ...]) -> int:
        if name not in length:
            under = (height(one, (*path, name)) for one in sorted(below[name]) if one not in path)
            length[name] = 1 + max(under, default=0)
        return length[name]

    return max((height(name, ()) for name in sorted(below)), default=0)


def _inner_imports(modules: list[Module], known: set[str]) -> int:
    """Statements that import what is ours within a function: a chain that is cut, not shorter."""
    return sum(any(imports(m, [node], known)) for m in modules for node, inner in m.importing if inner)


# ---- classes, functions, constants


def _classes(modules: list[Module]) -> dict[str, tuple[list[str], set[str]]]:
    """From each class to the last names of its bases, and to what its body defines."""
    found: dict[str, tuple[list[str], set[str]]] = {}
    for module in modules:
        for node in module.nodes:
            if isinstance(node, ast.ClassDef):
                bases = [b.value if isinstance(b, ast.Subscript) else b for b in node.bases]
                own = {n.name for n in node.body if isinstance(n, ast.FunctionDef)} | set(_bound(node.body))
                found[f"{module.name}.{node.name}"] = [_last_name(b) for b in bases], own
    return found


def _makes_a_class(call: ast.Call) -> bool:
    name = _last_name(call.func)
    return name in CLASS_MAKERS or (name == "type" and len(call.args) == 3)


def _results(classes: dict[str, tuple[list[str], set[str]]]) -> int:
    """Classes that a caller gets to know: those with `to_dict`, and the heirs of one that has it."""
    by_name: dict[str, tuple[list[str], set[str]]] = {name.rpartition(".")[2]: of for name, of in classes.items()}
    have = {name for name, (_, own) in by_name.items() if "to_dict" in own}
    while more := {name for name, (bases, _) in by_name.items() if name not in have and have & set(bases)}:
        have |= more
    return sum(name.rpartition(".")[2] in have for name in classes)


def _bound(statements: Iterable[ast.stmt]) -> Iterator[str]:
    for node in statements:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        yield from (n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name))


def parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """How many arguments a caller can give; `**options` counts as many."""
    own = function.args
    names = [a.arg for a in (*own.posonlyargs, *own.args, *own.kwonlyargs)]
    return sum(n not in ("self", "cls") for n in names) + bool(own.vararg) + KEYWORDS * bool(own.kwarg)


def _constants(module: Module) -> int:
    """Names in capitals bound at import, other names for a number, and each number of a dictionary of numbers."""
    number = 0
    for node in module.top():
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
        if value is None:
            continue
        entries = [v for v in value.values if _is_number(v)] if isinstance(value, ast.Dict) else []
        number += len(entries) or sum(bool(CAPITALS.fullmatch(n)) or _is_number(value) for n in _bound([node]))
    return number


def _is_number(node: ast.AST) -> bool:
    if isinstance(node, ast.UnaryOp | ast.BinOp):
        return all(_is_number(n) for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr))
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool)


def _names_at_the_top(modules: list[Module]) -> int:
    """The names that `strat.__all__` lists by hand."""
    number = 0
    for node in (s for m in modules if m.name == "strat" for s in m.top() if isinstance(s, LISTING)):
        words = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} - {"list", "str"}
        if "__all__" in words:
            assert words == {"__all__"}, "`__all__` lists its names one by one"
            number += sum(isinstance(n, ast.Constant) and isinstance(n.value, str) for n in ast.walk(node))
    return number


def weigh(root: Path = SOURCE) -> dict[str, int]:
    """Every figure of the source."""
    gc.disable()  # trees hold no garbage, and looking for it takes half of the time
    try:
        return _weighed(root, read(root))
    finally:
        gc.enable()


def _weighed(root: Path, modules: list[Module]) -> dict[str, int]:
    known = {module.name for module in modules}
    importers, classes = _importers(modules, known), _classes(modules)
    functions = [
        (f"{m.name}.{n.name}", parameters(n))
        for m in modules
        for n in m.nodes
        if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    by_people = [count for name, count in functions if not name.startswith(KERNELS)]
    calls = [call for module in modules for call in module.calls]
    texts = [f for f in root.rglob("*") if f.is_file() and f.suffix not in (".py", ".pyc")]
    return {
        "syntax nodes": sum(len(module.nodes) for module in modules),
        "lines": sum(len(module.text.splitlines()) for module in modules),
        "kilobytes of other files": sum(f.stat().st_size for f in texts) // 1024,
        "calls that run text as code": sum(getattr(call.func, "id", "") in RUNS_TEXT for call in calls),
        "modules": len(modules),
        "modules that serve one other": sum(len(importers[name]) == 1 for name in known),
        "modules in the longest chain of imports": _longest_chain(modules, known),
        "imports of ours within functions": _inner_imports(modules, known),
        "classes": len(classes) + sum(_makes_a_class(call) for call in calls),
        "classes of results": _results(classes),
        "functions": len(functions) + sum(isinstance(n, ast.Lambda) for m in modules for n in m.nodes),
        f"functions of more than {MANY} parameters": sum(count > MANY for count in by_people),
        "most parameters of a function": max(by_people, default=0),
        "constants": sum(_constants(module) for module in modules),
        "names at the top": _names_at_the_top(modules),
    }


def budgets() -> dict[str, int]:
    """The budget of each figure."""
    lines = (line for line in BUDGETS.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#"))
    return {name: int(most.replace(",", "")) for name, _, most in (line.rpartition(": ") for line in lines)}


def over(figures: dict[str, int], most: dict[str, int]) -> list[str]:
    """What exceeds its budget, each as a sentence that says what to do."""
    return [
        f"{name}: {figure:,}, and the budget is {most[name]:,}. Merge, share or delete; where the growth is worth it, "
        f"raise the line in tests/project/{BUDGETS.name} and give the reason in docs/decisions.md."
        for name, figure in figures.items()
        if figure > most[name]
    ]


if __name__ == "__main__":
    import walks

    for name, figure in (weigh() | walks.figures()).items():
        print(f"{name:60}{figure:10,}{budgets().get(name, 0):10,}")

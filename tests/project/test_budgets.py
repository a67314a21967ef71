"""The source stays within its budgets, and code that is moved out of a gauge's sight is counted all the same."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import gauges
import pytest
import walks

Files = dict[str, str]
TWELVE = ", ".join(f"a{i}" for i in range(12))
BODY = "def area(a, b):\n    c = (a + b) * (a - b)\n    return c / 2\n"
USED = {"strat/__init__.py": "", "strat/a.py": "x = f()"}


def test_the_source_is_within_its_budgets() -> None:
    assert gauges.over(gauges.weigh(), gauges.budgets()) == []


def test_the_way_of_an_everyday_call_is_within_its_budgets() -> None:
    assert gauges.over(walks.figures(), gauges.budgets()) == []


def test_every_figure_has_a_budget_and_every_budget_a_figure(tmp_path: Path) -> None:
    assert set(gauges.budgets()) == {*gauges.weigh(tmp_path), *walks.figures_of({name: set() for name in walks.CALLS})}


def test_what_exceeds_its_budget_is_told_with_the_way_out() -> None:
    assert gauges.over({"modules": 100, "classes": 20}, {"modules": 100, "classes": 19}) == [
        "classes: 20, and the budget is 19. Merge, share or delete; where the growth is worth it, raise the line in "
        "tests/project/budgets.txt and give the reason in docs/decisions.md."
    ]


def test_everything_that_is_installed_is_weighed() -> None:
    """The wheel holds what lies under src, and nothing from elsewhere."""
    project = tomllib.loads((gauges.SOURCE.parent / "pyproject.toml").read_text(encoding="utf-8"))
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    kept = {*wheel.get("packages", ()), *wheel.get("include", ()), *wheel.get("force-include", ())}
    assert kept
    assert {Path(name).parts[0] for name in kept} == {"src"}
    assert set(wheel) <= {"packages", "include", "force-include", "sources"}


# ---- each gauge, and code that is moved out of its sight: the figure must not fall

CHEATS: dict[str, tuple[str, Files, Files]] = {
    "code in a text": ("syntax nodes", {"strat/a.py": BODY}, {"strat/a.py": f"exec({BODY!r})"}),
    "code in a constant": ("syntax nodes", {"strat/a.py": BODY}, {"strat/a.py": f"CODE = {BODY!r}"}),
    "another package": ("syntax nodes", {"strat/a.py": BODY}, {"other/__init__.py": "", "other/a.py": BODY}),
    "a module beside": ("syntax nodes", {"strat/a.py": BODY}, {"strat_pytest.py": BODY}),
    "a folder without __init__": ("lines", {"strat/__init__.py": "", "strat/a.py": BODY}, {"other/a.py": BODY}),
    "code in a file": (
        "kilobytes of other files",
        {"strat/page.html": 3000 * "<p>"},
        {"strat/page.of-its-own-kind": 3000 * "<p>"},
    ),
    "a text that runs": (
        "calls that run text as code",
        {"strat/a.py": "exec(open('b').read())"},
        {"strat/a.py": "c = compile(open('b').read(), 'b', 'exec')"},
    ),
    "modules beside the package": (
        "modules",
        {"strat/__init__.py": "", "strat/a.py": BODY},
        {"strat_a.py": "", "other/a.py": BODY},
    ),
    "relative imports": (
        "modules that serve one other",
        {**USED, "strat/b.py": "from strat.a import x"},
        {**USED, "strat/b.py": "from .a import x"},
    ),
    "relative imports of a module": (
        "modules that serve one other",
        {**USED, "strat/b.py": "from strat import a"},
        {**USED, "strat/b.py": "from . import a"},
    ),
    "imports by name": (
        "modules that serve one other",
        {**USED, "strat/b.py": "import strat.a"},
        {**USED, "strat/b.py": "from importlib import import_module\na = import_module('.a', __package__)"},
    ),
    "a chain behind conditions": (
        "modules in the longest chain of imports",
        {**USED, "strat/b.py": "import strat.a", "strat/c.py": "import strat.b"},
        {
            **USED,
            "strat/b.py": "if True:\n    from .a import x",
            "strat/c.py": "try:\n    from d import e\nexcept ImportError:\n    from . import b",
        },
    ),
    "imports within functions by name": (
        "imports of ours within functions",
        {**USED, "strat/b.py": "def f():\n    import strat.a"},
        {**USED, "strat/b.py": "f = lambda: __import__('strat.a')"},
    ),
    "classes by a call": (
        "classes",
        {"strat/a.py": "class A: pass\nclass B: pass\nclass C: pass"},
        {"strat/a.py": "A = namedtuple('A', 'x')\nB = dataclasses.make_dataclass('B', ['x'])\nC = type('C', (), {})"},
    ),
    "results by inheritance": (
        "classes of results",
        {"strat/a.py": "class A:\n    def to_dict(self): ...\nclass B:\n    def to_dict(self): ..."},
        {"strat/a.py": "class A:\n    to_dict = shared", "strat/b.py": "from . import a\nclass B(a.A): pass"},
    ),
    "functions without a name": (
        "functions",
        {"strat/a.py": "def f(x):\n    return x + 1\ndef g(x):\n    return x"},
        {"strat/a.py": "f = lambda x: x + 1\nTABLE = {'g': lambda x: x}"},
    ),
    "options": (
        "functions of more than 12 parameters",
        {"strat/a.py": f"def f({TWELVE}, b): ..."},
        {"strat/a.py": "def f(a, b, c, **options): ..."},
    ),
    "options of a few": (
        "most parameters of a function",
        {"strat/a.py": f"def f({TWELVE}): ..."},
        {"strat/a.py": "async def f(a, *others, **options): ..."},
    ),
    "constants in a dictionary": (
        "constants",
        {"strat/a.py": "MOST = 4_000\nLEAST: int = 7\nSHARE = -0.5"},
        {"strat/a.py": "limits = {'most': 4_000, 'least': 7}\nclass Limits:\n    share = -0.5"},
    ),
    "names in several lists": (
        "names at the top",
        {"strat/__init__.py": "__all__ = ['a', 'b', 'c']"},
        {"strat/__init__.py": "__all__: list[str] = ['a']\nif True:\n    __all__ += ['b']\n__all__.extend(['c'])"},
    ),
}


def weighed(folder: Path, files: Files) -> dict[str, int]:
    """The figures of a made-up source."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return gauges.weigh(folder)


@pytest.mark.parametrize("cheat", CHEATS)
def test_code_out_of_sight_is_counted(cheat: str, tmp_path: Path) -> None:
    gauge, honest, hidden = CHEATS[cheat]
    assert 0 < weighed(tmp_path / "honest", honest)[gauge] <= weighed(tmp_path / "hidden", hidden)[gauge]


def test_every_gauge_of_the_source_has_somebody_who_tries_to_cheat_it(tmp_path: Path) -> None:
    assert {gauge for gauge, _, _ in CHEATS.values()} == set(gauges.weigh(tmp_path))


def test_names_at_the_top_that_a_program_makes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="one by one"):
        weighed(tmp_path, {"strat/__init__.py": "__all__ = sorted(PARTS)"})


def test_what_nobody_should_save_on_weighs_nothing(tmp_path: Path) -> None:
    bare = "def f(x):\n    if x: ...\n    return g(x)\n"
    kind = """def f(x: dict[str, float]) -> list[int]:
    '''Says what it does, with f(x) == g(x) as its example.'''
    from strat.a import g
    if x:
        raise ValueError(f'`x` must be empty, got {x!r}')
    return g(x)
"""
    plain, said = weighed(tmp_path / "bare", {"strat/a.py": bare}), weighed(tmp_path / "kind", {"strat/a.py": kind})
    assert said["syntax nodes"] <= plain["syntax nodes"]


# ---- the way of a call

HONEST = """
def answer(data):
    return first(data) + second(data)
def first(data):
    return sum(data)
def second(data):
    return len(data)
"""
HIDING = {
    "kept by data": "from functools import cache\nkept = cache(lambda data: first(data) + second(data))\n"
    + HONEST.replace("return first(data) + second(data)", "return kept(data)"),
    "without names": "def answer(data):\n    return (lambda d: sum(d))(data) + (lambda d: (lambda e: len(e))(d))(data)",
    "from a text": f"exec({HONEST!r})",
    "from a text without a module": f"own = {{}}\nexec({HONEST!r}, own)\nanswer = own['answer']",
}


def walked(folder: Path, name: str, text: str) -> int:
    (folder / f"{name}.py").write_text(text, encoding="utf-8")
    module = import_module(name)
    calls: list[Callable[[], object]] = [lambda n=n: module.answer(tuple(range(n))) for n in (5, 6)]  # type: ignore[misc]
    return len(walks.walk(calls[0], calls[1], {name}))


@pytest.mark.parametrize("way", HIDING)
def test_functions_that_a_call_runs_are_counted_however_they_are_made(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    honest, hidden = walked(tmp_path, "honest_way", HONEST), walked(tmp_path, "hidden_way", HIDING[way])
    for name in ("honest_way", "hidden_way"):
        del sys.modules[name]
    assert 3 == honest <= hidden


def test_data_of_the_counted_call_have_nothing_in_common_with_those_of_the_first() -> None:
    """Neither what was kept by content, nor by length, label or name of a column helps."""
    (one, names), (other, others) = walks.table(1), walks.table(2)
    assert len(one) != len(other)
    assert not set(names.values()) & set(others.values())
    assert not set(one.to_numpy().ravel()) & set(other.to_numpy().ravel())

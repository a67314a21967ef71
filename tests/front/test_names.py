"""The names of the front: public only, in one list, light to import, and parts that load when they are first used."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import strat
from source_trees import assert_none

# what the core does without until a call wants it: engines, frames, pictures, and the parts of SciPy
HEAVY = ("pandas", "polars", "sklearn", "matplotlib", "duckdb", "narwhals", "jinja2", "scipy.special", "scipy.stats")
# CPU of `import strat`, and of the names that every program uses after it, as a multiple of that of `import numpy`
LIMITS = {"import strat": 0.1, "strat.Design, strat.estimate, strat.accuracy": 3.0}
PARTS = [
    f"strat.{part}"
    for part in ("algebra", "comparison", "datasets", "designs", "gaussian", "measures", "planning", "protocols",
                 "recognition")
]  # fmt: skip


def test_dir_shows_public_names_only() -> None:
    """`dir(strat)` showed Any, annotations, importlib, words, doors, files and columns."""
    assert dir(strat) == sorted([*strat.__all__, "__version__"])
    assert not [name for name in strat.__all__ if name.startswith("_")]
    assert strat.__all__ == sorted(strat.__all__)


@pytest.mark.parametrize("part", ["strat.plot", *PARTS])
def test_dir_of_a_part_shows_its_public_names_only(part: str) -> None:
    """`dir(strat.recognition)` showed annotations, blocks and rounding among the calls."""
    module = import_module(part)
    assert dir(module) == sorted(module.__all__)
    assert all(hasattr(module, name) for name in dir(module))


def test_every_listed_name_is_there() -> None:
    assert_none(name for name in strat.__all__ if getattr(strat, name, None) is None)


def test_type_checkers_see_what_loads_late() -> None:
    """Each name stands under TYPE_CHECKING, with the place that it comes from: else editors see nothing."""
    tree = ast.parse(Path(strat.__file__).read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    seen = {alias.name: line.module for line in block.body if isinstance(line, ast.ImportFrom) for alias in line.names}
    assert seen.keys() == set(strat.__all__) >= strat._HOMES.keys()
    for name, module in seen.items():
        home = import_module(str(module))
        there = import_module(f"strat.{name}") if home is strat else getattr(home, name)
        assert getattr(strat, name) is there, name


def test_a_misspelt_name_is_an_attribute_error_that_python_can_mend() -> None:
    with pytest.raises(AttributeError, match="module 'strat' has no attribute 'evalute'") as caught:
        strat.evalute  # type: ignore[attr-defined]  # noqa: B018
    assert caught.value.name == "evalute"
    assert "evaluate" in dir(caught.value.obj)


def test_import_is_light(monkeypatch: pytest.MonkeyPatch) -> None:
    """CPU beside `import numpy` in the same process, the least of some: other work on the machine does not count."""
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)  # the first run compiles, as an installation does
    code = (
        "import json, time\ntimes = [time.process_time()]\n"
        f"for step in {['import numpy', *LIMITS]}:\n    exec(step)\n    times.append(time.process_time())\n"
        "print(json.dumps([b - a for a, b in zip(times, times[1:])]))"
    )
    runs = (subprocess.run([sys.executable, "-c", code], capture_output=True, check=True) for _ in range(3))
    numpy, *rest = map(min, zip(*(json.loads(run.stdout) for run in runs), strict=True))
    for (step, limit), seconds in zip(LIMITS.items(), rest, strict=True):
        assert seconds < limit * numpy, (step, seconds / numpy)


def test_the_core_loads_nothing_heavy() -> None:
    code = f"import sys, strat; {list(LIMITS)[1]}; print([m for m in {HEAVY} if m in sys.modules])"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("estimation.proportions", "wald"),
        ("estimation.proportions", "upper_bound"),
        ("measures", "chow"),
        ("measures", "LossMatrix"),
    ],
)
def test_rare_names_live_in_their_module_only(module: str, name: str) -> None:
    assert hasattr(import_module(f"strat.{module}"), name)
    assert not hasattr(strat, name)


def test_score_interval_stays_at_the_top() -> None:
    assert strat.score_interval is strat.estimation.proportions.score_interval


def test_the_level_is_95_percent_wherever_nobody_says_otherwise() -> None:
    """One default in the signature of every function and class that has one."""
    default = re.compile(r"\blevel: [\w .|]+ = ([\d.]+)")
    files = Path(strat.__file__).parent.rglob("*.py")
    found = [(file.name, level) for file in files for level in default.findall(file.read_text(encoding="utf-8"))]
    assert len(found) > 100
    assert [(file, level) for file, level in found if level != "0.95"] == []

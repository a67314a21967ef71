"""The whole run: every scenario, statistic and test, in parallel, stored one by one so that it can be resumed."""

from __future__ import annotations

import ast
import hashlib
import json
import math
import os
import platform
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .trials import Scenario

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).with_name("results.json")
SECOND = Path(__file__).with_name("second.json")  # of the grid that no default was chosen on
THIRD = Path(__file__).with_name("third.json")  # of situations chosen to hurt
CLOSE = Path(__file__).with_name("close_calls.json")  # some of its situations with more samples of another seed
SCHEMA = "strat/validation/1"
SEED = 20_010_612
TRIALS = 5000
PARTS = ("grid", "tests", "nonlinear", "lattice")
GRIDS = {"first": RESULTS, "second": SECOND, "third": THIRD}
GRID_PARTS = ("grid", "second", "third")
CORE = (
    "src/strat/designs/*.py", "src/strat/estimation/*.py", "src/strat/replication/*.py", "src/strat/measures/*.py",
    "src/strat/comparison/*.py", "src/strat/recognition/verification.py", "src/strat/recognition/two_way.py",
    "src/strat/recognition/*comparisons.py", "src/strat/recognition/error_rates.py", "validation/trials.py",
    "validation/scenarios.py", "validation/methods.py", "validation/counting.py", "validation/nonlinear.py",
    "validation/tests_of_tests.py", "validation/lattice.py", "validation/held_out/*.py",
)  # fmt: skip


@cache
def fingerprint(*more: str) -> str:
    """A short hash of the sources that the results depend on, and of `more`; their layout and comments don't count."""
    made = hashlib.sha256()
    for pattern in (*CORE, *more):
        for path in sorted(ROOT.glob(pattern)):
            made.update(path.name.encode() + ast.dump(ast.parse(path.read_bytes())).encode())
    return made.hexdigest()[:16]


def parts_of(grid: str) -> tuple[str, ...]:
    """The parts of a grid."""
    return PARTS if grid == "first" else (grid,)


def scenarios_of(part: str) -> list[Scenario]:
    """The situations of a part that has such."""
    module = {"grid": "scenarios", "second": "held_out", "third": "third"}[part]
    found: list[Scenario] = import_module(f".{module}", __package__).SCENARIOS
    return found


def mark(part: str, name: str) -> str:
    """The state of the sources of one situation; in the third grid, of the verbs and of its own module too."""
    if part != "third":
        return fingerprint()
    from .third import module_of

    return fingerprint("src/strat/verbs/*.py", "src/strat/protocols/*.py", f"validation/third/{module_of(name)}.py")


def names(part: str) -> list[str]:
    """What there is to run in a part."""
    if part in GRID_PARTS:
        return [scenario.name for scenario in scenarios_of(part)]
    if part == "nonlinear":
        from . import nonlinear

        return nonlinear.cases()
    if part == "lattice":
        from .lattice import CASES as EXACT

        return list(EXACT)
    from .tests_of_tests import CASES

    return [case.name for case in CASES]


def work(part: str, name: str, trials: int, seed: int) -> dict[str, Any]:
    """One scenario, from its name, in whatever process."""
    started = time.process_time()
    if part in GRID_PARTS:
        from .counting import run

        scenario = next(s for s in scenarios_of(part) if s.name == name)
        made = run(scenario, scenario.times * trials, seed)
    elif part == "nonlinear":
        from . import nonlinear

        made = nonlinear.run(name, max(trials // 4, 2), seed)
    elif part == "lattice":
        from . import lattice

        made = lattice.run(name)
    else:
        from . import tests_of_tests

        made = tests_of_tests.run(next(c for c in tests_of_tests.CASES if c.name == name), trials, seed)
    return {**made, "asked": trials, "seconds": round(time.process_time() - started, 1)}


def load(path: Path) -> dict[str, Any]:
    """Stored results; an empty frame where there are none."""
    if not path.exists():
        return {}
    return json.loads(path.read_text(encoding="utf-8"))


def store(path: Path, results: dict[str, Any]) -> None:
    """Write the file whole or not at all."""
    part = path.with_suffix(".part")
    part.write_text(json.dumps(_plain(results), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    part.replace(path)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_plain(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def versions() -> dict[str, str]:
    """What the figures were made with."""
    import numpy
    import scipy

    import strat

    found = {"strat": strat.__version__, "python": platform.python_version()}
    return found | {"numpy": numpy.__version__, "scipy": scipy.__version__}


def run_all(
    *,
    trials: int = TRIALS,
    seed: int = SEED,
    jobs: int = 2,
    parts: tuple[str, ...] = PARTS,
    only: str = "",
    fresh: bool = False,
    path: Path = RESULTS,
) -> dict[str, Any]:
    """Run what is not stored yet (for its sources, this seed and at least as many trials), and store it.

    A result names the state of the sources that it was drawn with, where that is not the state of the whole file.
    """
    results = {} if fresh else load(path)
    if results.get("seed") != seed:
        results = {"schema": SCHEMA, "seed": seed, "fingerprint": fingerprint()}
    whole = results["fingerprint"]
    results |= {"trials": trials, "versions": versions()}

    def stored(part: str, name: str) -> bool:
        one = results.get(part, {}).get(name, {})
        return bool(one.get("asked", 0) >= trials and one.get("fingerprint", whole) == mark(part, name))

    wanted = [(part, name) for part in parts for name in names(part) if only in name and not stored(part, name)]
    with _progress(len(wanted)) as step, _pool(jobs) as submit:
        waiting = {submit(part, name, trials, seed): (part, name) for part, name in wanted}
        for done in as_completed(waiting):
            part, name = waiting[done]
            state = mark(part, name)
            own = {} if state == whole else {"fingerprint": state}
            results.setdefault(part, {})[name] = {**done.result(), **own}
            store(path, results)
            step(name)
    for part in parts:  # the order of the sources, whatever finished first
        found = results.get(part, {})
        results[part] = {name: found[name] for name in names(part) if name in found}
    store(path, results)
    return results


@contextmanager
def _pool(jobs: int) -> Iterator[Callable[..., Any]]:
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    with ProcessPoolExecutor(jobs) as pool:
        try:
            yield lambda *arguments: pool.submit(work, *arguments)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


@contextmanager
def _progress(number: int) -> Iterator[Callable[[str], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True)) as bars:
        task = bars.add_task("", total=number)
        yield lambda name: bars.update(task, advance=1, description=name)

"""How much the tests notice: changes one place of the source at a time, in a copy, and runs the tests that pass there.

`make mutate` repeats the places of mutations.txt and fails if a change that was noticed there no longer is.
`python tests/project/mutate.py --new 40 --seed 3` draws new places instead; `--write` stores the verdicts of a run.
In the copy each place has a switch between the text before and after. The tests are run once, to see which pass where
and how long they take. Then a process for each change runs those that pass it, quick ones first. Each is a fork of this
process, which never reads a test: engines that start while tests are read have threads, and no fork survives those. So
it needs Linux or macOS. PYTEST_ADDOPTS can leave tests out. A verdict is one of:

noticed      a test fails, nothing can be imported, or the tests do not end
unnoticed    every test that passes the place goes on to pass
unreached    no test passes the place
same         a person has judged that the changed line means the same; it is not run (the reason stands beside it)
"""

from __future__ import annotations

import argparse
import ast
import builtins
import contextlib
import copy
import importlib
import itertools
import json
import os
import random
import select
import shutil
import signal
import sys
import tempfile
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from time import process_time
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
STORED = Path(__file__).with_name("mutations.txt")
HEAD = "# verdict, file, function, which of the expressions that read like this, before, after, noticed by (mutate.py)"
TESTS = ("tests", "src/strat")
LEFT_OUT = (
    "tests/docs",
    "tests/project",
    "tests/recognition/gpu",
    "tests/show/test_page_browser.py",
    "tests/show/test_report_browser.py",
)
FIRST, LIMIT = 30, 120.0  # tests that a change meets first; CPU seconds of the tests that it meets after them
PATIENCE = 10.0  # seconds on a busy machine for each of CPU, until tests are taken to wait for ever
PRELOADED = ("numpy", "scipy.stats", "pandas")  # imported once for all processes

LOG = ".tests.log"
ELSEWHERE = """import builtins, os  # in the programs that tests start
builtins._switch = lambda number: number == int(os.environ.get("CHANGED", "-1"))
"""

OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.And: ast.Or, ast.Or: ast.And,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
CALLS = {a: b for pair in ("min max", "minimum maximum", "any all", "argmin argmax", "floor ceil")
         for a, b in (pair.split(), pair.split()[::-1])}  # fmt: skip
QUIET_FIELDS = {"annotation", "returns", "decorator_list", "patterns", "pattern"}
QUIET_FUNCTIONS = {"__str__", "__repr__", "__format__", "_repr_html_"}


@dataclass(frozen=True)
class Place:
    """One change: in which function the expression stands, its text before and after, and what the tests said."""

    file: str
    function: str
    nth: int  # of the expressions in this function that read like this one
    before: str
    after: str
    verdict: str = ""
    by: str = ""  # the test that noticed it, or why it means the same

    @property
    def key(self) -> tuple[str, int, str, str]:
        """What stays when a file gets another name."""
        return self.function, self.nth, self.before, self.after

    @property
    def room(self) -> str:
        """The folder of the package."""
        return self.file.removeprefix("src/strat/").partition("/")[0]

    def __str__(self) -> str:
        return f"{self.verdict}: {self.file} {self.function}: {self.before}  ->  {self.after}"

    @property
    def line(self) -> str:
        """The place as a line of the stored list."""
        return "\t".join((self.verdict, self.file, self.function, str(self.nth), self.before, self.after, self.by))


@dataclass(frozen=True)
class Spot:
    """An expression of a syntax tree, and where its parent keeps it."""

    function: str
    parent: ast.AST
    field: str
    index: int
    node: ast.expr

    def put(self, other: ast.expr) -> None:
        """Set another expression into its place."""
        kept = getattr(self.parent, self.field)
        if isinstance(kept, list):
            kept[self.index] = other
        else:
            setattr(self.parent, self.field, other)


def spots(tree: ast.AST, function: str = "") -> Iterator[Spot]:
    """Every expression that does something: no annotations, messages, or text for people."""
    if isinstance(tree, ast.FunctionDef | ast.ClassDef):
        function = f"{function}.{tree.name}".lstrip(".")
    quiet = isinstance(tree, ast.Raise | ast.Assert | ast.JoinedStr | ast.arg | ast.pattern)
    if quiet or function.rpartition(".")[2] in QUIET_FUNCTIONS:
        return
    for field, value in ast.iter_fields(tree):
        for index, child in enumerate(value if isinstance(value, list) else [value]):
            if isinstance(child, ast.AST) and field not in QUIET_FIELDS:
                if isinstance(child, ast.expr):
                    yield Spot(function, tree, field, index, child)
                yield from spots(child, function)


def changes(spot: Spot) -> Iterator[tuple[str, str]]:
    """The kind and the text of each change of an expression."""
    new = copy.deepcopy(spot.node)
    parts = [n for n in ast.iter_child_nodes(new) if isinstance(n, ast.JoinedStr | ast.List | ast.Constant)]
    texts = any(not isinstance(getattr(part, "value", ""), int | float) for part in parts)
    match new:
        case ast.BinOp(left=left, op=ast.Sub(), right=ast.Constant(value=1)):
            yield "n-1", ast.unparse(left)
        case ast.BinOp(op=op) if type(op) in OPERATORS and not texts:
            new.op = OPERATORS[type(op)]()  # type: ignore[assignment]
            yield "arithmetic", ast.unparse(new)
        case ast.BoolOp(op=op):
            new.op = OPERATORS[type(op)]()  # type: ignore[assignment]
            yield "and/or", ast.unparse(new)
        case ast.Compare(ops=[op, *_]) if type(op) in OPERATORS:
            new.ops[0] = OPERATORS[type(op)]()  # type: ignore[call-overload]
            yield "comparison", ast.unparse(new)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield "not", ast.unparse(operand)
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            yield "constant", repr(1 - value if value in (0, 1) else value + 1 if value + 1 != value else 2 * value)
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name) as called) if name in CALLS:
            setattr(called, "id" if isinstance(called, ast.Name) else "attr", CALLS[name])
            yield "call", ast.unparse(new)
    if isinstance(spot.parent, ast.If | ast.IfExp) and spot.field == "test":
        yield "condition", "False"


def drawn(root: Path, number: int, seed: int) -> list[Place]:
    """New places: folders of the package in turn, in each a kind of change, then any place of this kind."""
    rng = random.Random(seed)
    pools: dict[str, dict[str, list[Place]]] = defaultdict(lambda: defaultdict(list))
    for file in sorted((root / "src/strat").glob("*/**/*.py")):
        name = file.relative_to(root).as_posix()
        for kind, place in _places(name, file.read_text(encoding="utf-8")) if "/gpu/" not in name else ():
            pools[place.room][kind].append(place)
    chosen: list[Place] = []
    for room in itertools.islice(itertools.cycle(sorted(pools)), number):
        places = pools[room][rng.choice(sorted(pools[room]))]
        chosen.append(rng.choice(places))
    return list(dict.fromkeys(chosen))


def _places(file: str, text: str) -> Iterator[tuple[str, Place]]:
    """Every change of a module, with its kind."""
    counted: Counter[tuple[str, str]] = Counter()
    for spot in spots(ast.parse(text)):
        before = ast.unparse(spot.node)
        counted[spot.function, before] += 1
        for kind, after in changes(spot) if before != "TYPE_CHECKING" else ():
            yield kind, Place(file, spot.function, counted[spot.function, before], before, after)


def found(tree: ast.AST, place: Place) -> Spot | None:
    """Where a place stands in the tree of its file."""
    alike = (s for s in spots(tree) if s.function == place.function and ast.unparse(s.node) == place.before)
    return next(itertools.islice(alike, place.nth - 1, None), None)


def located(root: Path, places: Iterable[Place]) -> list[Place]:
    """The places that are still there; those of a file that got another name, by the one other that has the like."""
    texts = {file: file.read_text(encoding="utf-8") for file in sorted((root / "src").rglob("*.py"))}
    tree = cache(lambda file: ast.parse(texts[file]))
    here: list[Place] = []
    for place in places:
        name = place.function.rpartition(".")[2]
        files = [root / place.file] if root / place.file in texts else [f for f, text in texts.items() if name in text]
        having = [file for file in files if found(tree(file), place)]
        here += [replace(place, file=having[0].relative_to(root).as_posix())] if len(having) == 1 else []
    return here


def instrumented(text: str, places: dict[int, Place]) -> str:
    """The module with a switch at each of its places: the expression E becomes `AFTER if switch(number) else E`."""
    tree = ast.parse(text)
    for number, (place, spot) in [(n, (place, found(tree, place))) for n, place in places.items()]:
        assert spot is not None, f"{place} is gone"
        kept = getattr(spot.parent, spot.field)
        now = kept[spot.index] if isinstance(kept, list) else kept  # with the switch of a place at the same expression
        switch, after = (ast.parse(one, mode="eval").body for one in (f"_switch({number})", place.after))
        spot.put(ast.IfExp(switch, after, now))
    return ast.unparse(ast.fix_missing_locations(tree))


# ---- running the tests


class Tests:
    """A plugin of pytest, and the switch of all places: which tests pass a place, how long they take, what failed."""

    def __init__(self, active: int, wanted: Collection[str] | None, judge: Callable[[Tests], None]) -> None:
        self.active, self.wanted, self.judge, self.at = active, wanted, judge, ""
        self.hits: dict[int, set[str]] = defaultdict(set)
        self.work: dict[str, float] = {}
        self.failed: list[str] = []
        self.items: dict[str, pytest.Item] = {}

    def switch(self, number: int) -> bool:
        """Note that a place is passed; true if it is to be changed."""
        self.hits[number].add(self.at)
        return number == self.active

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """In place of running all that was collected."""
        self.items = {item.nodeid: item for item in session.items if self.wanted is None or item.nodeid in self.wanted}
        self.judge(self)
        return True

    def run(self, names: Collection[str], *, to_the_end: bool = False) -> None:
        """Run some tests until one fails."""
        items = [item for name, item in self.items.items() if name in names]
        for item, after in zip(items, [*items[1:], None], strict=True):
            self.at, before = item.nodeid, _cpu()
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
            self.work[item.nodeid] = _cpu() - before
            if self.failed and not to_the_end:
                return

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A part of a test is over."""
        self.failed += [report.nodeid] * report.failed

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file was read."""
        self.failed += [f"reading {report.nodeid}"] * report.failed


def _cpu() -> float:
    """CPU seconds of this process and of those that it had started, and that have ended."""
    children = os.times()
    return process_time() + children.children_user + children.children_system


Tell = Callable[[object], None]
Run = Callable[[set[str], float], list[str]]


def forked(work: Callable[[Tell], None], limit: float | None = None) -> Iterator[Any]:
    """What a copy of this process tells, one value after another, until it ends or keeps silent for too long."""
    reading, writing = os.pipe()
    if not (process := os.fork()):
        os.setpgrp()
        os.close(reading)
        with os.fdopen(writing, "w") as out:
            try:
                work(lambda value: print(json.dumps(value), file=out, flush=True))
            except BaseException:  # else the way out below would hide it
                traceback.print_exc()
            finally:
                os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answers:
        try:
            while (limit is None or select.select([answers], [], [], limit)[0]) and (line := answers.readline()):
                yield json.loads(line)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process, signal.SIGKILL)  # with what its tests have left
            os.waitpid(process, 0)


def session(copy: Path, arguments: list[str], tests: Tests) -> None:
    """Run pytest on the copy, in this process, which must not have loaded what is changed."""
    os.chdir(copy)
    log = os.open(LOG, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(log, 1)
    os.dup2(log, 2)
    sys.path[:0] = paths = [str(copy / "src"), str(copy)]
    os.environ |= {"PYTHONPATH": os.pathsep.join(paths), "CHANGED": str(tests.active)}
    setattr(builtins, "_switch", tests.switch)  # noqa: B010
    own = [
        "-q",
        "-m",
        "not slow",
        "-p",
        "no:cacheprovider",
        "--hypothesis-seed=0",
        "--continue-on-collection-errors",
        "--capture=sys",
        "--basetemp=.tmp",
    ]
    pytest.main([*own, *arguments], plugins=[tests])
    at = getattr(sys.modules.get("strat"), "__file__", None)
    assert at is None or Path(at).is_relative_to(copy), f"the tests met another copy: {at}"


def steps(place: Place, reached: Collection[str], work: dict[str, float]) -> list[list[str]]:
    """The tests that a change meets: those that pass it with the least work, own ones first; then the whole files.

    Work is CPU time, so that a busy machine chooses the tests that a quiet one does.
    """
    own = (f"tests/{place.room}/", f"src/strat/{place.room}/")
    passing = {t for t in work if t in reached or ("" in reached and t.startswith(own))}  # "": at import
    order = sorted(passing, key=lambda t: (not t.startswith(own), work[t]))
    if not order:
        return []
    cost: dict[str, float] = defaultdict(float)
    for test, spent in work.items():
        cost[_file(test)] += spent
    files = sorted({_file(t) for t in order}, key=lambda f: cost[f])
    totals = itertools.accumulate(cost[f] for f in files)
    within = {f for f, total in zip(files, totals, strict=True) if f == files[0] or total < LIMIT}
    return [order[:FIRST], [t for t in work if _file(t) in within and t not in order[:FIRST]]]


def _file(test: str) -> str:
    return test.partition("::")[0]


def verdict(ways: list[list[str]], work: dict[str, float], run: Run) -> tuple[str, str]:
    """What the tests say of one change, and the test that failed."""
    for wanted in filter(None, ways):
        failed = run(set(wanted), 60 + 5 * sum(work[test] for test in wanted))
        if failed:
            return "noticed", failed[0]
    return ("unnoticed" if ways else "unreached"), ""


def _changed(copy: Path, number: int) -> Run:
    """Run tests of one change: in a process that has loaded nothing of the project yet, and so much CPU time."""

    def work(wanted: set[str], tell: Tell, seconds: float) -> None:
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 1))
        tests = Tests(number, wanted, lambda tests: tests.run(wanted))
        session(copy, sorted({_file(test) for test in wanted}), tests)
        tell(tests.failed[:1] if tests.failed or tests.work else ["the start of the tests"])

    def run(wanted: set[str], seconds: float) -> list[str]:
        return next(forked(lambda tell: work(wanted, tell, seconds), PATIENCE * seconds), ["the clock"])

    return run


def judged(root: Path, places: list[Place], copy: Path, tests: Iterable[str] = TESTS) -> Iterator[Place]:
    """Each place with its verdict, as soon as it has one."""
    shutil.copytree(root, copy, ignore=shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "_build"))
    by_file: dict[str, dict[int, Place]] = defaultdict(dict)
    for number, place in enumerate(places):
        by_file[place.file][number] = place
    for file, inside in by_file.items():
        text = (copy / file).read_text(encoding="utf-8")
        (copy / file).write_text(instrumented(text, inside), encoding="utf-8")
    (copy / "sitecustomize.py").write_text(ELSEWHERE, encoding="utf-8")

    def all_of_them(tell: Tell) -> None:
        run = Tests(-1, None, lambda run: run.run(run.items, to_the_end=True))
        session(copy, [*tests, *(f"--ignore={folder}" for folder in LEFT_OUT)], run)
        hits = {number: sorted(run.hits[number]) for number in run.hits}
        passed = {test: work for test, work in run.work.items() if test not in run.failed}
        tell([hits, passed, run.failed])

    first = next(forked(all_of_them), None)
    assert first, f"the tests did not end:\n{(copy / LOG).read_text(encoding='utf-8')[-20_000:]}"
    hits, work, failed = first
    print(f"{len(work)} tests, {sum(work.values()):.0f} s of CPU; fail without a change: {failed}", flush=True)
    for number, place in enumerate(places):
        said, by = verdict(steps(place, hits.get(str(number), []), work), work, _changed(copy, number))
        yield replace(place, verdict=said, by=by)


def stored() -> list[Place]:
    """The stored places with their verdicts."""
    rows = (line.split("\t") for line in STORED.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    return [Place(f, name, int(nth), before, after, verdict, by) for verdict, f, name, nth, before, after, by in rows]


def store(places: Iterable[Place]) -> None:
    """Write the list anew."""
    STORED.write_text("\n".join([HEAD, *sorted(place.line for place in places)]) + "\n", encoding="utf-8")


def lost(before: Iterable[Place], after: Iterable[Place]) -> list[Place]:
    """The places that were noticed before and are not now."""
    then = {place.key for place in before if place.verdict == "noticed"}
    return [place for place in after if place.key in then and place.verdict in ("unnoticed", "unreached")]


def summary(places: list[Place]) -> str:
    """How many of the changes that mean something were noticed, in all and by folder."""
    real = [place for place in places if place.verdict != "same"]
    noticed = Counter(place.room for place in real if place.verdict == "noticed")
    rooms = Counter(place.room for place in real)
    share = 100 * noticed.total() / max(1, len(real))
    same = len(places) - len(real)
    head = f"noticed {noticed.total()} of {len(real)} changes ({share:.1f} %), without {same} that mean the same"
    return "\n".join([head, *(f"  {room:14}{noticed[room]:4} of {number}" for room, number in sorted(rooms.items()))])


def main() -> int:
    """Run what the command line asks for: 1 where a change that was noticed no longer is."""
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--new", type=int, default=0, metavar="NUMBER", help="draw so many new places")
    ask.add_argument("--seed", type=int, default=1, help="of the draw")
    ask.add_argument(
        "--rooms", nargs="+", metavar="FOLDER", help="only these, with their tests and those that noticed before"
    )
    ask.add_argument("--write", action="store_true", help="store the verdicts; new places are added to the list")
    given = ask.parse_args()
    before = stored()
    known = {place.key for place in before}
    chosen = (
        [p for p in drawn(ROOT, given.new, given.seed) if p.key not in known] if given.new else located(ROOT, before)
    )
    print(f"{len(chosen)} places, {0 if given.new else len(before) - len(chosen)} gone", flush=True)
    tests: Iterable[str] = TESTS
    if given.rooms:
        chosen = [place for place in chosen if place.room in given.rooms]
        own = [f"{folder}/{room}" for folder in TESTS for room in given.rooms]
        others = {_file(place.by) for place in chosen if not place.by.startswith(tuple(f"{folder}/" for folder in own))}
        tests = [*own, *sorted(file for file in others if file.startswith("tests/") and (ROOT / file).is_file())]
    after = [place for place in chosen if place.verdict == "same"]
    for name in PRELOADED:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder).resolve() / "copy"
        for place in judged(ROOT, [place for place in chosen if place.verdict != "same"], copy, tests):
            after.append(place)
            if place.verdict != "noticed":
                print(place, flush=True)
            if given.write:  # at once: what is interrupted is kept
                store({p.key: p for p in (*before, *after)}.values())
    print(summary(after))
    for place in (now_lost := lost(before, after)):
        print("was noticed, and is not now:", place)
    return 1 if now_lost else 0


if __name__ == "__main__":
    sys.exit(main())

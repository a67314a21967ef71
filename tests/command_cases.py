"""What a person types, how it must end, and what must hold however it ends: the form of the catalogue of bad input."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import warm
from strat.cli import main
from warm import Outcome

MEMORY_KB = 1_500_000  # how much the peak of this process may grow in one case
SECONDS = 20.0

Make = Callable[[Path], list[object]]


@dataclass(frozen=True)
class Case:
    """One entry: the files and arguments, the exit code, and what must be said (a regular expression)."""

    name: str
    make: Make
    code: int
    says: str
    out: str
    writes: tuple[str, ...]

    def __str__(self) -> str:
        return self.name


class Catalogue:
    """Cases of one kind, in the order they were written down."""

    def __init__(self) -> None:
        self.cases: list[Case] = []

    def __call__(
        self, name: str, make: Make, *, code: int = 1, says: str = "", out: str = "", writes: tuple[str, ...] = ()
    ) -> None:
        """Write a case down."""
        self.cases.append(Case(name, make, code, says, out, writes))

    def __iter__(self) -> Iterator[Case]:
        return iter(self.cases)


class Program:
    """`strat` in this process, its output caught."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys

    def __call__(self, *arguments: object) -> Outcome:
        """Run it with these arguments."""
        code = 0
        try:
            main([str(a) for a in arguments])
        except SystemExit as ended:
            code = int(ended.code or 0)
        finally:
            if "matplotlib.pyplot" in sys.modules:
                sys.modules["matplotlib.pyplot"].close("all")
        said = self.capsys.readouterr()
        return Outcome(code, said.out, said.err)


MAIN = "from strat.cli import main; main()"


def in_a_process(*arguments: object, **options: Any) -> Outcome:
    """The same in a process of its own, from its very start."""
    made = subprocess.run(
        [sys.executable, "-c", MAIN, *map(str, arguments)],
        capture_output=True, text=True, timeout=SECONDS, check=False, **options,
    )  # fmt: skip
    return Outcome(made.returncode, made.stdout, made.stderr)


def in_a_copy(*arguments: object, before: str = "", **options: Any) -> Outcome:
    """The same in a process that has imported strat already; `before` is run first."""
    return warm.run(before + MAIN, *arguments, **options)


def _too_long(*_: object) -> None:
    raise AssertionError(f"took more than {SECONDS} s")


@contextmanager
def bounded() -> Iterator[None]:
    """Fail if the body takes long or much memory."""
    import resource  # POSIX alone has it

    unit = 1024 if sys.platform == "darwin" else 1  # macOS counts bytes, Linux kilobytes
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
    signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(int(SECONDS))
    try:
        yield
    finally:
        signal.alarm(0)
    assert time.monotonic() - start < SECONDS
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < MEMORY_KB * unit


def check(case: Case, folder: Path, run: Callable[..., Outcome]) -> Outcome:
    """Run the case and hold what every case must hold."""
    arguments = case.make(folder)
    before = listing(folder)
    with bounded():
        ended = run(*arguments)
    said = f"{case.name}: {ended}"
    assert ended.code == case.code, said
    assert "Traceback" not in ended.out + ended.err, said
    assert re.search(case.says, ended.err), said
    assert re.search(case.out, ended.out), said
    if case.code == 1:
        assert one_sentence(ended.err), said
        assert ended.out == "", said
    assert set(listing(folder)) - set(before) == set(case.writes), said
    assert {n: s for n, s in listing(folder).items() if n in before and n not in case.writes} == before, said
    return ended


def one_sentence(text: str) -> bool:
    """Whether the program said one line that ends as a sentence does."""
    lines = text.strip("\n").split("\n")
    return len(lines) == 1 and lines[0].startswith("strat: ") and lines[0].endswith((".", "?")) and len(text) < 2000


def listing(folder: Path) -> dict[str, int]:
    """The files below the folder with their sizes."""
    return {str(p.relative_to(folder)): p.stat().st_size for p in sorted(folder.rglob("*")) if p.is_file()}


def put(folder: Path, name: str, content: str | bytes) -> Path:
    """A file with this content."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def table(rows: int = 40) -> str:
    """A small honest table: truth, guess, score, subject (4), passage (10 in each 4 rows), weight."""
    lines = ["truth,guess,score,subject,passage,weight"]
    for i in range(rows):
        truth, guess = i % 2, (i + (i % 5 == 0)) % 2
        lines.append(f"{truth},{guess},{(i * 7 % 11) / 11:.4f},s{i % 4},p{i // 4},{1 + i % 3}")
    return "\n".join(lines) + "\n"


def of_rows(header: str, *rows: str, times: int = 1) -> str:
    """A CSV text."""
    return "\n".join([header, *(list(rows) * times)]) + "\n"

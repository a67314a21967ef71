"""What the benchmarks share: timing, memory in a fresh process, rivals that install themselves, and a table."""

from __future__ import annotations

import importlib
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib.metadata import distributions
from typing import Any

from rich.console import Console
from rich.table import Table


def best(job: Callable[[], Any], repeats: int = 3) -> float:
    """Shortest of a few runs in CPU seconds of this process: the machine is shared, so wall time misleads."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        job()
        times.append(time.process_time() - start)
    return min(times)


PEAK = """
def peak_mb():
    try:  # this program's own: what getrusage says may be that of the process that started it
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024
    except (OSError, StopIteration):
        import resource
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
"""


def fresh(code: str, *, timeout: float = 600, python: str = sys.executable) -> dict[str, float] | None:
    """Run code in a fresh interpreter that prints JSON on its last line; adds its peak memory in MB.

    The code may ask `peak_mb()` on the way. Another interpreter may hold rivals that need other versions of NumPy.
    """
    whole = f"{PEAK}{code}\nimport json as _j\nprint(_j.dumps({{**result, 'peak_mb': peak_mb()}}))"
    try:
        done = subprocess.run([python, "-c", whole], capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        return None
    if done.returncode:
        print(done.stderr.strip().splitlines()[-1:], file=sys.stderr)
        return None
    return dict(json.loads(done.stdout.strip().splitlines()[-1]))


def rival(package: str, module: str | None = None) -> Any | None:
    """A rival's module, installed by name if it is missing; None, with a word, if that fails."""
    try:
        return importlib.import_module(module or package)
    except ImportError:
        pass
    print(f"(installing {package} to compare with)", flush=True)
    if not _installed(package):
        print(f"({package} could not be installed: its rows are missing)")
        return None
    try:
        return importlib.import_module(module or package)
    except ImportError as error:
        print(f"({package} does not import: {error}; its rows are missing)")
        return None


def _installed(package: str) -> bool:
    """Whether pip could add a package without changing one that is here; else without what it asks for."""
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as kept:
        present = {one.name: one.version for one in distributions()}
        kept.write("".join(f"{name}=={version}\n" for name, version in present.items()))
        kept.flush()
        for option in (["--constraint", kept.name], ["--no-deps"]):
            if not subprocess.run([*pip, "install", *option, package], capture_output=True).returncode:
                importlib.invalidate_caches()
                return True
    return False


def r_survey(script: str, *, timeout: float = 900) -> dict[str, float] | None:
    """Run R code that prints `name value` lines; None, with a word, if R or its survey package is missing."""
    if shutil.which("Rscript") is None:
        print("(R is missing: install Debian's r-cran-survey to compare with it; its rows are missing)")
        return None
    done = subprocess.run(["Rscript", "-e", script], capture_output=True, text=True, timeout=timeout)
    if done.returncode:
        print(f"(R's survey did not run: {done.stderr.strip().splitlines()[-1:]}; its rows are missing)")
        return None
    return {line.split()[0]: float(line.split()[1]) for line in done.stdout.splitlines() if len(line.split()) == 2}


def show(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table."""
    table = Table(title=title, title_justify="left")
    for i, name in enumerate(head):
        table.add_column(name, justify="left" if i == 0 else "right")
    for row in rows:
        table.add_row(*row)
    Console(width=130).print(table)


def ratio(theirs: float | None, ours: float) -> str:
    """How many times faster we are; a dash where there is nothing to compare with."""
    return "-" if theirs is None else f"{theirs / ours:,.1f} ×"

"""Programs that start as a copy of a process which has imported strat and no extra: clean, and without a second's wait.

What proves the start itself (what `import strat` loads, signals, closed streams, encodings) starts an interpreter.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FORKS = "forkserver" in multiprocessing.get_all_start_methods()
CONTEXT: Any = multiprocessing.get_context("forkserver" if FORKS else "spawn")
if FORKS:
    CONTEXT.set_forkserver_preload(["strat.show.local_page.work", "strat.cli.app", "duckdb", "narwhals"])
SECONDS = 60.0  # after which a program is ended
spent = 0.0  # CPU seconds of all programs so far, for the limit of each test


@dataclass(frozen=True)
class Outcome:
    """How a program ended."""

    code: int
    out: str
    err: str


class Program:
    """A program that runs; its standard output goes to a file, or to the pipe that is named."""

    def __init__(
        self,
        code: str,
        *arguments: object,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        out: Path | None = None,
    ) -> None:
        self.streams = tempfile.TemporaryDirectory()
        folder, environment = str(cwd or Path.cwd()), dict(env or os.environ)
        given = (code, [str(word) for word in arguments], folder, environment, self.streams.name, str(out or ""))
        self.process = CONTEXT.Process(target=_program, args=given)
        self.process.start()

    def send(self, sign: signal.Signals) -> None:
        """Send it a signal."""
        os.kill(self.process.pid, sign)

    def wait_for(self, done: Callable[[], bool]) -> None:
        """Wait until it has done something."""
        while not done():
            assert self.process.is_alive(), self.end()
            time.sleep(0.01)

    def end(self) -> Outcome:
        """How it ended, once it has."""
        global spent
        self.process.join(SECONDS)
        if self.process.is_alive():
            self.process.kill()
            raise AssertionError(f"the program ran for more than {SECONDS:g} s")
        kept = (Path(self.streams.name, name) for name in ("out", "err", "cpu"))
        out, err, cpu = (path.read_text(encoding="utf-8", errors="replace") if path.exists() else "" for path in kept)
        self.streams.cleanup()
        spent += float(cpu or 0)
        return Outcome(self.process.exitcode, out, err)


def run(code: str, *arguments: object, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> Outcome:
    """How a program ends that is run as `python -c` would run it."""
    if FORKS:
        return Program(code, *arguments, cwd=cwd, env=env).end()
    command = [sys.executable, "-c", code, *map(str, arguments)]
    made = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=SECONDS, check=False)
    return Outcome(made.returncode, made.stdout, made.stderr)


def _program(code: str, arguments: list[str], folder: str, environment: dict[str, str], streams: str, out: str) -> None:
    """The program, in the copy: its streams, folder, environment and arguments are those that it was given."""
    sys.stdout.flush()
    sys.stderr.flush()
    for descriptor, path in ((1, out or Path(streams, "out")), (2, Path(streams, "err"))):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), descriptor)
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 as long as the process
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False, buffering=1)  # noqa: SIM115
    os.environ.clear()
    os.environ.update(environment)
    sys.dont_write_bytecode = bool(environment.get("PYTHONDONTWRITEBYTECODE"))
    os.chdir(folder)
    sys.argv = ["-c", *arguments]
    try:
        exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})
    finally:
        atexit._run_exitfuncs()
        used = os.times()
        Path(streams, "cpu").write_text(str(sum(used[:4])))

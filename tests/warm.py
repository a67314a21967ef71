"""Programs that start as a copy of a process which has imported strat and no extra: clean, and without a second's wait.

What proves the start itself (what `import strat` loads, signals, closed streams, encodings) starts an interpreter.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
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


def run(code: str, *arguments: object, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> Outcome:
    """Run a program as `python -c` would."""
    global spent
    words, folder, environment = [str(word) for word in arguments], str(cwd or Path.cwd()), dict(env or os.environ)
    if not FORKS:
        command = [sys.executable, "-c", code, *words]
        made = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
        )
        return Outcome(made.returncode, made.stdout, made.stderr)
    with tempfile.TemporaryDirectory() as streams:
        process = CONTEXT.Process(target=_program, args=(code, words, folder, environment, streams))
        process.start()
        process.join(SECONDS)
        if process.is_alive():
            process.kill()
            raise AssertionError(f"the program ran for more than {SECONDS:g} s")
        out, err, cpu = (
            path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
            for path in (Path(streams, name) for name in ("out", "err", "cpu"))
        )
        spent += float(cpu or 0)
        assert process.exitcode is not None
        return Outcome(process.exitcode, out, err)


def _program(code: str, arguments: list[str], folder: str, environment: dict[str, str], streams: str) -> None:
    """The program, in the copy: its streams, folder, environment and arguments are those that it was given."""
    sys.stdout.flush()
    sys.stderr.flush()
    for descriptor, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(Path(streams, name), os.O_WRONLY | os.O_CREAT), descriptor)
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

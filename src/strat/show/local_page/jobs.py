"""The work of the page: each task in a process of its own, with a folder of its own, that can be ended."""

from __future__ import annotations

import json
import multiprocessing
import secrets
import time
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

from strat.base.errors import StratError
from strat.base.limits import LIMITS
from strat.show.local_page.work import REPORT, RESULT, SHARE, TASK, work
from strat.show.render import write

PROCESSES = multiprocessing.get_context("spawn")  # the page has threads, which a fork would lose


@dataclass
class Job:
    """One task that runs, or ran."""

    folder: Path
    process: Any
    started: float = field(default_factory=time.monotonic)
    stopped: bool = False
    ended: float | None = None

    def state(self) -> dict[str, Any]:
        """How far it is: running, done, failed or stopped, with the result or the error."""
        running = self.process.is_alive()
        if not running and self.ended is None:
            self.ended = time.monotonic()
        known = {"seconds": round((self.ended or time.monotonic()) - self.started, 1), "share": self._share()}
        if self.stopped:
            return known | {"state": "stopped"}
        if running:
            return known | {"state": "running"}
        if not (self.folder / RESULT).is_file():
            message = f"The work ended before it was done (exit code {self.process.exitcode}); the terminal says why."
            return known | {"state": "failed", "error": {"field": None, "message": message}}
        result = json.loads((self.folder / RESULT).read_text(encoding="utf-8"))
        if "error" in result:
            return known | {"state": "failed", "error": result["error"]}
        return known | {"state": "done", "result": result, "report": self.report.is_file()}

    @property
    def report(self) -> Path:
        """Where its report is, once it is done."""
        return self.folder / REPORT

    def stop(self) -> None:
        """End it now, if it runs."""
        if self.process.is_alive():
            self.stopped = True
            self.process.terminate()
            self.process.join(LIMITS.page_grace)
            if self.process.is_alive():
                self.process.kill()
                self.process.join()

    def _share(self) -> float | None:
        try:
            return float((self.folder / SHARE).read_text(encoding="utf-8"))
        except (OSError, ValueError):  # not begun, or being written
            return None


class Jobs:
    """All tasks of one page."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.jobs: dict[str, Job] = {}
        self.lock = Lock()

    def start(self, task: dict[str, Any]) -> str:
        """Start a task; returns its name."""
        with self.lock:  # whoever counts those that run is the next to start one
            if sum(job.process.is_alive() for job in self.jobs.values()) >= LIMITS.page_jobs:
                raise StratError(f"At most {LIMITS.page_jobs} jobs can run at once; stop one, or wait for it.")
            return self._start(task)

    def _start(self, task: dict[str, Any]) -> str:
        name = secrets.token_hex(8)
        folder = self.folder / f"job-{name}"
        folder.mkdir(mode=0o700)
        write(folder / TASK, json.dumps(task))
        process = PROCESSES.Process(target=work, args=(str(folder),), daemon=True)
        process.start()
        self.jobs[name] = Job(folder, process)
        return name

    def __getitem__(self, name: str) -> Job:
        if name not in self.jobs:
            raise StratError.about("job", "must be one that this page started.")
        return self.jobs[name]

    def stop(self) -> None:
        """End all that run."""
        for job in self.jobs.values():
            job.stop()

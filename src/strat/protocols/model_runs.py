"""Several models on the same splits, in parallel, with progress, and kept in a folder so that a run can go on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from strat.base import extras
from strat.base.errors import StratError
from strat.base.files import atomic
from strat.protocols.running import Rows, Session, Split, Task, seeded, session

Progress = Callable[[int, int, str], object]


def run_models(
    tasks: Mapping[str, Task],
    splits: Sequence[Split],
    *,
    n_jobs: int | None = None,
    folder: Path | None = None,
    progress: Progress | None = None,
    watch: Rows | None = None,
) -> dict[str, list[Session]]:
    """Sessions of each model on every split.

    With a folder, each session is kept there under a name made of the model, its seed, the data and the split; what is
    there already is read instead of trained again.
    """
    joblib = extras.load("joblib")
    fingerprint = joblib.hash
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    names, jobs = [], []
    for name, task in tasks.items():
        data = fingerprint((task.X, task.codes, task.unit)) if folder is not None else ""
        for model, (train, test) in zip(seeded(task, len(splits)), splits, strict=True):
            path = None if folder is None else folder / f"{fingerprint((data, model, train, test, watch))}.npz"
            names.append(name)
            jobs.append(joblib.delayed(_kept)(path, model, task, train, test, watch))
    sessions: dict[str, list[Session]] = {name: [] for name in tasks}
    for done, (name, one) in enumerate(
        zip(names, joblib.Parallel(n_jobs=n_jobs, return_as="generator")(jobs), strict=True), start=1
    ):
        sessions[name].append(one)
        if progress is not None:
            progress(done, len(jobs), name)
    return sessions


def _kept(path: Path | None, model: Any, task: Task, train: Rows, test: Rows, watch: Rows | None) -> Session:
    """The session, read from its file if that is there."""
    if path is None:
        return session(model, task, train, test, watch)
    if path.exists():
        return _read(path, task)
    one = session(model, task, train, test, watch)
    if np.isin(one.predicted, task.classes).all():
        columns: dict[str, Any] = {
            "predicted": np.searchsorted(task.classes, one.predicted),
            "score": one.score,
            "test": one.test,
        }
        columns |= {} if one.scores is None else {"scores": one.scores}
        if one.watched is not None and one.watched_scores is not None:
            watched = np.searchsorted(task.classes, one.watched)
            columns |= {"watched": watched, "watched_scores": one.watched_scores}
        with atomic(path) as file:
            np.savez(file, **columns, seconds=[one.fit, one.predict], by=np.array(one.scored_by))
    return one


def _read(path: Path, task: Task) -> Session:
    """A session from its file, which holds numbers only."""
    try:
        with np.load(path, allow_pickle=False) as data:
            scores = data.get("scores")
            fit, predict = data["seconds"].tolist()
            predicted, watched = task.classes[data["predicted"]], data.get("watched")
            answers = None if watched is None else task.classes[watched]
            marks = data.get("watched_scores")
            return Session(
                data["test"], predicted, data["score"], fit, predict, scores, str(data["by"]), answers, marks
            )
    except (OSError, ValueError, KeyError, IndexError, EOFError):
        raise StratError.about(
            "folder", f"must hold what an earlier run wrote, got a damaged file {path.name!r}; delete it."
        ) from None

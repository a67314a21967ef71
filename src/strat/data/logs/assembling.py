"""Runs that were read, one below the other as a table of items: which are kept, which measure, which samples."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.base.errors import StratError, near, some
from strat.base.limits import LIMITS
from strat.base.notes import Note
from strat.base.text import counted
from strat.data.logs import helm
from strat.data.logs.item_table import ItemTable, Run


def assemble(
    logs: list[Run],
    metric: str | None,
    strata: str | None,
    units: str | None,
    failed: str,
    incomplete: str,
    runs: str,
    na: Sequence[str],
) -> ItemTable:
    """One table of the runs, with notes on what was chosen or left out."""
    notes = [note for run in logs for note in run.notes]
    complete = _complete(logs, incomplete, notes)
    _same_documents(complete)
    kept = _distinct_runs(complete, runs, notes)
    tasks = sorted({run.task for run in kept})
    columns = _columns(kept, metric, notes, many_tasks=len(tasks) > 1, wanted=(strata, units))
    keep, score = _failures(columns, failed, notes)
    about = {key: _labels(columns["about"][key], keep) for key in columns["about"]}
    layer = _layer("strata", strata, columns, keep, na, default="task" if len(tasks) > 1 else None)
    if strata is None and layer is not None:
        notes.append(Note("role-chosen", {"case": "tasks", "role": "strata", "tasks": len(tasks)}))
    if len(tasks) > 1:
        about.setdefault("task", np.asarray(columns["task"])[keep])
    return ItemTable(
        system=np.asarray(columns["system"])[keep],
        items=np.asarray(columns["item"])[keep],
        score=score[keep],
        strata=layer,
        units=_layer("units", units, columns, keep, na, default=None),
        epoch=np.asarray(columns["epoch"], np.int64)[keep],
        about={key: values for key, values in about.items() if values is not None},
        notes=tuple(notes),
    )


def _complete(logs: list[Run], incomplete: str, notes: list[Note]) -> list[Run]:
    bad = [run for run in logs if run.status != "success" or not len(run)]
    if not bad:
        return logs
    if incomplete == "error":
        summary = some([f"{Path(run.path).name} ({run.status}, {counted(len(run), 'sample')})" for run in bad], 4)
        raise StratError(
            f"every run must have ended with success, got {summary}; choose incomplete='keep' or 'skip' "
            "(command line: --incomplete)."
        )
    ended = tuple((Path(run.path).name, run.status, len(run)) for run in bad)
    notes.append(Note("runs-incomplete", {"n": len(bad), "kept": incomplete == "keep", "runs": ended}))
    kept = [run for run in logs if run not in bad or (incomplete == "keep" and len(run))]
    if not kept:
        raise StratError.about("source", "must hold at least one run with samples, got none that is left.")
    return kept


def _same_documents(logs: list[Run]) -> None:
    """Two systems' item must be the same document, which its hash shows."""
    seen: dict[str, tuple[str, str]] = {}
    tasks = Counter(run.task for run in logs)
    for run in logs:
        if tasks[run.task] == 1:  # nobody else has its documents
            continue
        for item, digest in zip(run.items, run.hashes, strict=False):
            known, path = seen.setdefault(item, (digest, run.path))
            if digest and known and known != digest:
                raise StratError(
                    f"item {item!r} must be the same document in every log, but {path} and {run.path} differ in its "
                    "hash; the data set changed between the runs."
                )


def _distinct_runs(logs: list[Run], runs: str, notes: list[Note]) -> list[Run]:
    many = {key for key, count in Counter((r.system, r.task) for r in logs).items() if count > 1}
    if not many:
        return logs
    if runs == "error":
        summary = some([f"{system}: {task}" if task else system for system, task in sorted(many)], 3)
        files = [Path(r.path).name for r in logs if (r.system, r.task) in many]
        raise StratError(
            f"each system must have one log per task, got several for {summary} ({some(files, 4)}); choose "
            "runs='separate' (as two systems), 'repeat' (as further epochs) or 'latest' (command line: --runs), or "
            "give the systems names with `name` (command line: --name)."
        )
    before = [run.system for run in logs]
    kept = _RUNS[runs](logs, many)
    twice = tuple((system, task) if task else system for system, task in sorted(many))
    notes.append(Note("several-runs", {"case": runs, "systems": twice}))
    if runs == "separate":
        notes.append(Note("which-run", {"runs": _which(logs, before)}))
    return kept


def _which(logs: list[Run], before: list[str]) -> tuple[tuple[str, ...], ...]:
    """Which file is which, for systems that have got a number to distinguish them."""
    files: dict[str, list[str]] = {}
    for run, system in zip(logs, before, strict=True):
        if run.system != system:
            files.setdefault(run.system, []).append(Path(run.path).name)
    return tuple((system, *names) for system, names in sorted(files.items()))


def _separate(logs: list[Run], many: set[tuple[str, str]]) -> list[Run]:
    number: Counter[tuple[str, str]] = Counter()
    for run in sorted(logs, key=lambda r: (r.created, r.path)):
        key = (run.system, run.task)
        if key in many:
            number[key] += 1
            run.system = f"{run.system} #{number[key]}"
    return logs


def _repeat(logs: list[Run], many: set[tuple[str, str]]) -> list[Run]:
    last: dict[tuple[str, str], int] = {}
    for run in sorted(logs, key=lambda r: (r.created, r.path)):
        key = (run.system, run.task)
        shift = last.get(key, 0)
        run.epochs = [epoch + shift for epoch in run.epochs]
        last[key] = max(run.epochs, default=shift)
    return logs


def _latest(logs: list[Run], many: set[tuple[str, str]]) -> list[Run]:
    newest = {(r.system, r.task): r for r in sorted(logs, key=lambda r: (r.created, r.path))}
    return [run for run in logs if newest[(run.system, run.task)] is run]


_RUNS: dict[str, Callable[[list[Run], set[tuple[str, str]]], list[Run]]] = {
    "separate": _separate,
    "repeat": _repeat,
    "latest": _latest,
}


def _shared_fields(logs: list[Run], wanted: tuple[str | None, ...]) -> list[str]:
    """The fields that every run has, and those that somebody asked for: columns for all others would have gaps."""
    held = Counter(key for run in logs for key in run.about)
    return [key for key, runs in held.items() if runs == len(logs) or key in wanted]


def _columns(
    logs: list[Run], metric: str | None, notes: list[Note], *, many_tasks: bool, wanted: tuple[str | None, ...]
) -> dict[str, Any]:
    """All runs one below the other, with the measure of each chosen."""
    columns: dict[str, Any] = {"system": [], "item": [], "task": [], "epoch": [], "score": [], "why": [], "about": {}}
    chosen: dict[str, list[str]] = {}
    keys = _shared_fields(logs, wanted)
    for run in logs:
        name = _metric(run, metric)
        chosen.setdefault(name, []).append(run.task)
        n, before = len(run), len(columns["item"])
        prefix = f"{run.task}/" if many_tasks else ""
        columns["system"] += [run.system] * n
        columns["item"] += [i if i.startswith(prefix) else prefix + i for i in run.items] if prefix else run.items
        columns["task"] += [run.task] * n
        columns["epoch"] += run.epochs
        score = run.scores.get(name, [])
        columns["score"] += score + [math.nan] * (n - len(score))
        columns["why"] += [(before + i, reason) for i, reason in run.failed.items()]
        for key in keys:
            values = run.about.get(key, [])
            columns["about"].setdefault(key, []).extend(values + [None] * (n - len(values)))
    if metric is None and (len(chosen) > 1 or any(len(run.scores) > 1 for run in logs)):
        of = {name: sorted({task for task in tasks if task}) for name, tasks in chosen.items()}
        measures = tuple((name, *tasks) if tasks else name for name, tasks in of.items())
        notes.append(Note("measure-chosen", {"measures": measures}))
    return columns


def _metric(run: Run, metric: str | None) -> str:
    names = list(run.scores)
    if metric is None:
        preferred = [name for name in helm.PREFERRED if name in names] if run.path.endswith(helm.NAME) else []
        name = (preferred or names or [""])[0]
    elif metric in names:
        name = metric
    else:
        raise StratError.about("metrics", f"must be one that `{run.path}` has, got {metric!r}; {near(metric, names)}")
    if name in run.unreadable:
        raise StratError(
            f"`{run.path}`: the values of {name!r} must be numbers or C, I, P, N, but {run.unreadable[name]}; "
            "choose another one in `metrics`."
        )
    return name


def _failures(columns: dict[str, Any], failed: str, notes: list[Note]) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    score = np.asarray(columns["score"], float)
    reasons = dict(columns["why"])
    bad = np.isnan(score)
    if np.isinf(score).any():
        raise StratError(f"scores must be finite, got {int(np.isinf(score).sum())} that are not.")
    for position, reason in reasons.items():
        bad[position] |= reason == "error" and failed != "zero"
    if not bad.any():
        return ~bad, score
    counts = Counter(reasons.get(int(i), "unscored") for i in np.flatnonzero(bad))
    if failed == "error":
        summary = ", ".join(f"{count} {reason}" for reason, count in sorted(counts.items()))
        raise StratError(
            f"every sample must have a score, but {int(bad.sum())} of {len(bad)} have none ({summary}); choose "
            "failed='zero' (they count as wrong) or 'drop' (command line: --failed)."
        )
    facts = {"n": int(bad.sum()), "zero": failed == "zero", "reasons": tuple(sorted(counts.items()))}
    notes.append(Note("samples-unscored", facts))
    if failed == "zero":
        return np.ones(len(bad), bool), np.where(bad, 0.0, score)
    return ~bad, score


def _layer(
    argument: str,
    wanted: str | None,
    columns: dict[str, Any],
    keep: NDArray[np.bool_],
    na: Sequence[str],
    default: str | None,
) -> NDArray[Any] | None:
    name = wanted or default
    if name is None:
        return None
    if name == "task":
        return np.asarray(columns["task"])[keep]
    if name not in columns["about"]:
        options = ["task", *columns["about"]]
        raise StratError.about(argument, f"must be a field of the samples, got {name!r}; {near(name, options)}")
    values = columns["about"][name]
    lost = [i for i in np.flatnonzero(keep) if values[i] is None or str(values[i]).strip() in na]
    if lost:
        raise StratError.about(
            argument,
            f"must be known for every sample, but {len(lost)} lack {name!r}, "
            f"the first is item {columns['item'][lost[0]]!r}.",
        )
    return np.asarray([str(values[i]) for i in np.flatnonzero(keep)])


def _labels(values: list[Any], keep: NDArray[np.bool_]) -> NDArray[Any] | None:
    """A metadata field as labels, if every sample has a plain one."""
    kinds = set(map(type, values))
    if not kinds <= {str, int, float, bool}:
        return None
    texts = values if kinds == {str} else [str(v) for v in values]
    # an array of fixed width would hold every text at the longest one's
    long = max(map(len, texts), default=0) > LIMITS.short_text
    return np.asarray(texts, object if long else None)[keep]

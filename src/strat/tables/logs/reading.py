"""`read_logs`: a folder of logs, or some files, to one table of items; what is chosen or left out is said."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.doors import checked, shown
from strat.errors import StratError, near, one_of, some
from strat.tables.files import FORMATS
from strat.tables.limits import DEFAULT, Limits, possible, unchanged
from strat.tables.logs import helm, inspect_ai, lm_eval
from strat.tables.logs.items import FAILED, INCOMPLETE, RUNS, ItemTable, Run
from strat.tables.logs.long import read_long
from strat.words import counted


@checked
def read_logs(
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    metric: str | None = None,
    tasks: Sequence[str] | None = None,
    stratum: str | None = None,
    cluster: str | None = None,
    failed: str = "error",
    incomplete: str = "error",
    runs: str = "error",
    limits: Limits = DEFAULT,
    progress: Callable[[float], None] | None = None,
) -> ItemTable:
    """Scores of systems on items from logs of inspect-ai, lm-evaluation-harness or HELM, or from long tables.

    Scores are recomputed from the samples; stored aggregates are not trusted.

    Parameters
    ----------
    source
        A folder (searched through), a file, or several of them.
    metric
        Which measure: a scorer (inspect-ai), a metric or "metric,filter" (lm-evaluation-harness), a statistic (HELM).
        Without it, each log's first one, and a note says which.
    tasks
        Only these tasks, or the tasks of these groups (lm-evaluation-harness).
    stratum
        A metadata field whose values are fixed groups; without it the task, if there are several.
    cluster
        A metadata field whose values were drawn together (a passage, a repository).
    failed
        Samples without a score: "error" refuses them by count, "drop" leaves them out, "zero" scores them 0.
    incomplete
        Runs that ended early: "error" refuses them, "keep" takes what is there, "skip" leaves the run out.
    runs
        When one system ran a task in several logs: "error", "separate" (two systems), "repeat" (further
        epochs), or "latest".

    Returns
    -------
    ItemTable
        With `.system`, `.item`, `.score`, `.stratum`, `.cluster`, `.epoch`, `.weight` and `.notes`.
    """
    for argument, value, options in (
        ("failed", failed, FAILED),
        ("incomplete", incomplete, INCOMPLETE),
        ("runs", runs, RUNS),
    ):
        one_of(argument, value, options)
    paths = _find(source)
    logs, tables = _sort(paths)
    if not logs and tables:
        return read_long([str(p) for p in tables], stratum=stratum, cluster=cluster)
    if not logs:
        raise StratError(
            f"`source` must hold logs (.eval, inspect-ai .json, samples_*.jsonl, per_instance_stats.json) or tables, "
            f"got {_what(source)} without any."
        )
    with unchanged(logs):
        read = _read_all(logs, limits, progress)
    if tasks is not None:
        read = _of_tasks(read, [tasks] if isinstance(tasks, str) else list(tasks))
    return _assemble(read, metric, stratum, cluster, failed, incomplete, runs)


def _what(source: Any) -> str:
    return repr(os.fspath(source)) if isinstance(source, str | os.PathLike) else some([str(s) for s in source])


def _find(source: Any) -> list[Path]:
    one = isinstance(source, str | os.PathLike) or not isinstance(source, Iterable)
    given = [source] if one else list(source)
    if not all(isinstance(name, str | os.PathLike) for name in given):
        raise StratError(f"`source` must be a file, a folder, or a list of them, got {shown(source)}.")
    found: list[Path] = []
    if "" in given:
        raise StratError("`source` must be a file or a folder that exists, got an empty name.")
    for name in map(possible, given):
        if name.is_dir():
            found += sorted(
                p for p in name.rglob("*") if p.is_file() and not any(x.startswith(".") for x in p.parts[-1:])
            )
        elif name.is_file():
            found.append(name)
        else:
            raise StratError(f"`source` must be a file or a folder that exists, got {str(name)!r}.")
    return found


def _sort(paths: Iterable[Path]) -> tuple[list[Path], list[Path]]:
    """Which files are logs, and which are plain tables."""
    logs, tables = [], []
    for path in paths:
        if _reader(path) is not None:
            logs.append(path)
        elif _is_table(path):
            tables.append(path)
    return logs, tables


def _is_table(path: Path) -> bool:
    suffixes = [s for s in path.suffixes if s not in (".gz", ".zst")]
    return bool(suffixes) and suffixes[-1].lower() in FORMATS


def _reader(path: Path) -> str | None:
    if path.suffix == ".eval":
        return "eval"
    if lm_eval.SAMPLES.search(path.name):
        return "samples"
    if path.name == helm.NAME:
        return "helm"
    if path.suffix == ".json" and not lm_eval.RESULTS.search(path.name) and inspect_ai.is_log(path):
        return "json"
    return None


def _read_all(paths: Sequence[Path], limits: Limits, progress: Callable[[float], None] | None) -> list[Run]:
    folders = {p.parent for p in paths if _reader(p) == "samples"}
    results = lm_eval.read_results(sorted(r for f in folders for r in f.glob("results_*.json")))
    found = []
    for done, path in enumerate(paths):
        found.append(_read_one(path, results, limits))
        if progress is not None:
            progress((done + 1) / len(paths))
    return found


def _of_tasks(found: list[Run], tasks: list[str]) -> list[Run]:
    known = list(dict.fromkeys(name for run in found for name in (run.task, *run.groups)))
    for name in tasks:
        if name not in known:
            raise StratError(f"`tasks` must be tasks or groups of the logs, got {name!r}; {near(name, known)}")
    return [run for run in found if run.task in tasks or any(group in tasks for group in run.groups)]


def _read_one(path: Path, results: dict[tuple[str, str], dict[str, Any]], limits: Limits) -> Run:
    kind = _reader(path)
    if kind == "eval":
        return inspect_ai.read_eval(path, limits)
    if kind == "json":
        return inspect_ai.read_json(path, limits)
    if kind == "helm":
        return helm.read_instances(path, limits)
    return lm_eval.read_samples(path, results.get((str(path.parent), lm_eval.time_of(path)), {}), limits)


def _assemble(
    found: list[Run],
    metric: str | None,
    stratum: str | None,
    cluster: str | None,
    failed: str,
    incomplete: str,
    runs: str,
) -> ItemTable:
    notes = [note for run in found for note in run.notes]
    complete = _complete(found, incomplete, notes)
    _same_documents(complete)
    kept = _distinct_runs(complete, runs, notes)
    tasks = sorted({run.task for run in kept})
    columns = _columns(kept, metric, notes, many_tasks=len(tasks) > 1)
    keep, score = _failures(columns, failed, notes)
    about = {key: _labels(columns["about"][key], keep) for key in columns["about"]}
    layer = _layer("stratum", stratum, columns, keep, default="task" if len(tasks) > 1 else None)
    if stratum is None and layer is not None:
        notes.append(f"strata: the {len(tasks)} tasks")
    return ItemTable(
        system=np.asarray(columns["system"])[keep],
        item=np.asarray(columns["item"])[keep],
        score=score[keep],
        stratum=layer,
        cluster=_layer("cluster", cluster, columns, keep, default=None),
        epoch=np.asarray(columns["epoch"], np.int64)[keep],
        about={key: values for key, values in about.items() if values is not None},
        notes=tuple(notes),
    )


def _complete(found: list[Run], incomplete: str, notes: list[str]) -> list[Run]:
    bad = [run for run in found if run.status != "success" or not len(run)]
    if not bad:
        return found
    said = some([f"{Path(run.path).name} ({run.status}, {counted(len(run), 'sample')})" for run in bad], 4)
    if incomplete == "error":
        raise StratError(
            f"every run must have ended with success, got {said}; choose incomplete='keep' or 'skip' "
            "(command line: --incomplete)."
        )
    notes.append(f"runs that ended early, {'kept' if incomplete == 'keep' else 'left out'}: {said}")
    kept = [run for run in found if run not in bad or (incomplete == "keep" and len(run))]
    if not kept:
        raise StratError("`source` must hold at least one run with samples, got none that is left.")
    return kept


def _same_documents(found: list[Run]) -> None:
    """Two systems' item must be the same document, told by its hash."""
    seen: dict[str, tuple[str, str]] = {}
    for run in found:
        for item, digest in zip(run.items, run.hashes, strict=False):
            known, path = seen.setdefault(item, (digest, run.path))
            if digest and known and known != digest:
                raise StratError(
                    f"item {item!r} must be the same document in every log, but {path} and {run.path} differ in its "
                    "hash; the data set changed between the runs."
                )


def _distinct_runs(found: list[Run], runs: str, notes: list[str]) -> list[Run]:
    many = {key for key, count in Counter((r.system, r.task) for r in found).items() if count > 1}
    if not many:
        return found
    said = some([f"{system}: {task}" if task else system for system, task in sorted(many)], 3)
    if runs == "error":
        files = [Path(r.path).name for r in found if (r.system, r.task) in many]
        raise StratError(
            f"each system must have one log per task, got several for {said} ({some(files, 4)}); choose "
            "runs='separate' (as two systems), 'repeat' (as further epochs) or 'latest' (command line: --runs)."
        )
    notes.append(f"several runs of {said}: {runs}")
    return _RUNS[runs](found, many)


def _separate(found: list[Run], many: set[tuple[str, str]]) -> list[Run]:
    number: Counter[tuple[str, str]] = Counter()
    for run in sorted(found, key=lambda r: (r.created, r.path)):
        key = (run.system, run.task)
        if key in many:
            number[key] += 1
            run.system = f"{run.system} #{number[key]}"
    return found


def _repeat(found: list[Run], many: set[tuple[str, str]]) -> list[Run]:
    last: dict[tuple[str, str], int] = {}
    for run in sorted(found, key=lambda r: (r.created, r.path)):
        key = (run.system, run.task)
        shift = last.get(key, 0)
        run.epochs = [epoch + shift for epoch in run.epochs]
        last[key] = max(run.epochs, default=shift)
    return found


def _latest(found: list[Run], many: set[tuple[str, str]]) -> list[Run]:
    newest = {(r.system, r.task): r for r in sorted(found, key=lambda r: (r.created, r.path))}
    return [run for run in found if newest[(run.system, run.task)] is run]


_RUNS: dict[str, Callable[[list[Run], set[tuple[str, str]]], list[Run]]] = {
    "separate": _separate,
    "repeat": _repeat,
    "latest": _latest,
}


def _columns(found: list[Run], metric: str | None, notes: list[str], *, many_tasks: bool) -> dict[str, Any]:
    """All runs one below the other, with the measure of each chosen."""
    columns: dict[str, Any] = {"system": [], "item": [], "task": [], "epoch": [], "score": [], "why": [], "about": {}}
    chosen: dict[str, list[str]] = {}
    keys = list(dict.fromkeys(key for run in found for key in run.about))
    for run in found:
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
    if metric is None and any(len(run.scores) > 1 for run in found):
        notes.append("measure: " + "; ".join(f"{name} ({some(sorted(set(t)), 3)})" for name, t in chosen.items()))
    return columns


def _metric(run: Run, metric: str | None) -> str:
    names = list(run.scores)
    if metric is None:
        preferred = [name for name in helm.PREFERRED if name in names] if run.path.endswith(helm.NAME) else []
        name = (preferred or names or [""])[0]
    elif metric in names:
        name = metric
    else:
        raise StratError(f"`metric` must be one that `{run.path}` has, got {metric!r}; {near(metric, names)}")
    if name in run.unreadable:
        raise StratError(
            f"`{run.path}`: the values of {name!r} must be numbers or C, I, P, N, but {run.unreadable[name]}; "
            "choose another `metric`."
        )
    return name


def _failures(columns: dict[str, Any], failed: str, notes: list[str]) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
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
    said = ", ".join(f"{count} {reason}" for reason, count in sorted(counts.items()))
    if failed == "error":
        raise StratError(
            f"every sample must have a score, but {int(bad.sum())} of {len(bad)} have none ({said}); choose "
            "failed='zero' (they count as wrong) or 'drop' (command line: --failed)."
        )
    notes.append(f"samples without a score, {'counted as 0' if failed == 'zero' else 'left out'}: {said}")
    if failed == "zero":
        return np.ones(len(bad), bool), np.where(bad, 0.0, score)
    return ~bad, score


def _layer(
    argument: str, wanted: str | None, columns: dict[str, Any], keep: NDArray[np.bool_], default: str | None
) -> NDArray[Any] | None:
    name = wanted or default
    if name is None:
        return None
    if name == "task":
        return np.asarray(columns["task"])[keep]
    if name not in columns["about"]:
        options = ["task", *columns["about"]]
        raise StratError(f"`{argument}` must be a field of the samples, got {name!r}; {near(name, options)}")
    values = columns["about"][name]
    lost = [i for i in np.flatnonzero(keep) if values[i] is None]
    if lost:
        raise StratError(
            f"`{argument}` must be known for every sample, but {len(lost)} lack {name!r}, "
            f"the first is item {columns['item'][lost[0]]!r}."
        )
    return np.asarray([str(values[i]) for i in np.flatnonzero(keep)])


def _labels(values: list[Any], keep: NDArray[np.bool_]) -> NDArray[Any] | None:
    """A metadata field as labels, if every sample has a plain one."""
    kinds = set(map(type, values))
    if not kinds <= {str, int, float, bool}:
        return None
    return np.asarray(values if kinds == {str} else [str(v) for v in values])[keep]

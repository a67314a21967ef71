"""Output folders of lm-evaluation-harness: `samples_<task>_<time>.jsonl` beside `results_<time>.json`."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from strat.base.errors import StratError, short
from strat.base.notes import Note
from strat.data.logs.item_table import Run, few_cells, fields_of
from strat.data.untrusted import DEFAULT, Limits, json_lines, json_object, number, read_bytes

SAMPLES = re.compile(r"samples_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d[.\d]*)\.jsonl$")
RESULTS = re.compile(r"results_(?P<time>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d[.\d]*)\.json$")


def read_samples(path: Path, results: dict[str, Any], limits: Limits = DEFAULT) -> Run:
    """One task of one run: a row for each document, a measure for each metric and filter."""
    named = SAMPLES.search(path.name)
    if named is None:
        raise StratError(f"`{path}` must be called samples_<task>_<time>.jsonl.")
    task = named["task"]
    run = Run(path=str(path), system=_system(path, results), task=task, created=named["time"])
    groups = _mapping(results, "group_subtasks", path)
    run.groups = [str(g) for g, members in groups.items() if isinstance(members, list) and task in members]
    rows: dict[Any, int] = {}
    documents: list[dict[str, Any]] = []
    for line, sample in json_lines(path, limits.line):
        if _add(run, rows, sample, line):
            documents.append(_described(sample.get("doc")))
    run.about = fields_of(documents)
    wanted = _mapping(_mapping(results, "n-samples", path), task, path).get("effective")
    if isinstance(wanted, int) and wanted != len(run):
        run.status = "error"
        facts = {"there": len(run), "of": wanted, "what": "document"}
        run.notes.append(Note("log-incomplete", facts).of(file=path.name))
    return run


def _mapping(results: dict[str, Any], key: str, path: Path) -> dict[str, Any]:
    content = results.get(key) or {}
    if not isinstance(content, dict):
        raise StratError(
            f"`{path.parent}/results_*.json` must have an object under {short(repr(key))}, got "
            f"{type(content).__name__}."
        )
    return content


def read_results(paths: Iterable[Path]) -> dict[tuple[str, str], dict[str, Any]]:
    """What `results_<time>.json` says, by folder and time."""
    results = {}
    for path in paths:
        named = RESULTS.search(path.name)
        if named is not None:
            content = json_object(read_bytes(path, DEFAULT.member), str(path))
            results[(str(path.parent), named["time"])] = content if isinstance(content, dict) else {}
    return results


def time_of(path: Path) -> str:
    """The time in the file's name."""
    named = SAMPLES.search(path.name)
    return named["time"] if named else ""


def _system(path: Path, results: dict[str, Any]) -> str:
    """The model: from the results beside the samples, else from the folder, which the harness names after it."""
    return str(results.get("model_name") or results.get("model_source") or path.parent.name)


def _add(run: Run, rows: dict[Any, int], sample: Any, line: int) -> bool:
    """Add one line of the log; whether its document is new."""
    if not isinstance(sample, dict) or "doc_id" not in sample:
        raise StratError(f"`{run.path}`, line {line}, must have a 'doc_id'; it is no sample of lm-evaluation-harness.")
    document = sample["doc_id"]
    if not isinstance(document, str | int):
        raise StratError(f"`{run.path}`, line {line}, must have a number or text as 'doc_id'.")
    position = rows.setdefault(document, len(rows))
    new = position == len(run.items)
    if new:
        run.items.append(f"{run.task}/{document}")
        run.epochs.append(1)
        run.hashes.append(str(sample.get("doc_hash", "")))
    chosen = str(sample.get("filter", "none"))
    for metric in _metrics(sample):
        name = metric if chosen == "none" else f"{metric},{chosen}"
        column = run.scores.setdefault(name, [])
        if len(column) > position:
            raise StratError(
                f"`{run.path}`, line {line}: document {document!r} comes twice with the filter {chosen!r}; "
                "drop the copies."
            )
        column.extend([math.nan] * (position - len(column)))
        column.append(_value(sample.get(metric)))
    few_cells(run.path, len(run.scores), position)
    return new


def _metrics(sample: dict[str, Any]) -> list[str]:
    named = sample.get("metrics")
    if isinstance(named, list):
        return [str(name) for name in named]
    return [key for key in ("acc", "exact_match", "acc_norm", "f1") if key in sample]


def _value(value: Any) -> float:
    return number(value) if isinstance(value, bool | int | float) else math.nan


def _described(document: Any) -> dict[str, Any]:
    """The short fields of a document."""
    if not isinstance(document, dict):
        return {}
    return {k: v for k, v in document.items() if isinstance(v, str | int | bool) and len(str(v)) <= 200}

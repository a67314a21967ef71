"""HELM's `per_instance_stats.json`, one folder per run, with `run_spec.json` beside it when there is one."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

from strat.base.errors import StratError, short
from strat.base.notes import Note
from strat.data.logs.item_table import Run, few_cells
from strat.data.untrusted import DEFAULT, Limits, json_object, number, read_bytes, whole

NAME, SPEC = "per_instance_stats.json", "run_spec.json"
PREFERRED = ("exact_match", "quasi_exact_match", "prefix_exact_match", "final_number_exact_match")


def read_instances(path: Path, limits: Limits = DEFAULT) -> Run:
    """One run: a row for each instance and training trial, without the perturbed copies."""
    spec = _spec(path, limits)
    name = str(spec.get("name") or path.parent.name)
    adapter = spec.get("adapter_spec")
    named = re.search(r"(?:^|[:,])model=([^,]+)", name)
    system = (adapter or {}).get("model") if isinstance(adapter, dict) else None
    run = Run(
        path=str(path),
        system=str(system or (named.group(1) if named else path.parent.name)),
        task=_task(name),
    )
    rows = json_object(read_bytes(path, limits.member), str(path))
    if not isinstance(rows, list):
        raise StratError(f"`{path}` must be a list of instances, got {type(rows).__name__}.")
    perturbed = sum(_add(run, row) for row in rows)
    if perturbed:
        run.notes.append(Note("copies-left-out", {"copies": perturbed}).of(file=path.parent.name))
    return run


def _task(name: str) -> str:
    """The run's name without its model: what two systems share."""
    head, _, arguments = name.partition(":")
    kept = [part for part in arguments.split(",") if part and not part.startswith("model=")]
    return head + (":" + ",".join(kept) if kept else "")


def _spec(path: Path, limits: Limits) -> dict[str, Any]:
    beside = path.with_name(SPEC)
    if not beside.is_file():
        return {}
    spec = json_object(read_bytes(beside, limits.member), str(beside))
    return spec if isinstance(spec, dict) else {}


def _add(run: Run, row: Any) -> bool:
    if not isinstance(row, dict) or "instance_id" not in row:
        raise StratError(f"`{run.path}` must give each instance an 'instance_id'; entry {len(run)} has none.")
    if row.get("perturbation"):
        return True
    position = len(run.items)
    run.items.append(f"{run.task}/{row['instance_id']}")
    run.epochs.append(_trial(run, row))
    stats = row.get("stats") or []
    if not isinstance(stats, list):
        raise StratError(f"`{run.path}` must give each instance a list of 'stats'; entry {position} has none.")
    for stat in stats:
        name = stat.get("name") if isinstance(stat, dict) else None
        if not isinstance(name, dict) or name.get("perturbation") or not stat.get("count"):
            continue
        column = run.scores.setdefault(str(name.get("name")), [])
        column.extend([math.nan] * (position - len(column)))
        if len(column) == position:
            column.append(number(stat.get("sum")) / (number(stat["count"]) or math.nan))
    few_cells(run.path, len(run.scores), position)
    return False


def _trial(run: Run, row: dict[str, Any]) -> int:
    try:
        return whole(row.get("train_trial_index") or 0) + 1
    except (TypeError, ValueError):
        raise StratError(
            f"`{run.path}` must count training trials by whole numbers, got {short(repr(row['train_trial_index']))} "
            f"in entry {len(run.epochs)}."
        ) from None

"""Samples of a log one by one: items that come again are repeats, measures that a sample lacks are missing."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from strat.base.errors import StratError
from strat.base.limits import LIMITS
from strat.data.logs.item_table import Run, few_cells, fields_of
from strat.data.untrusted import number


class Samples:
    """A run that is filled sample by sample.

    Attributes
    ----------
    run
        The run, whole after :meth:`done`.
    """

    def __init__(self, path: Path, system: str, task: str, *, created: str = "", part: bool = False) -> None:
        self.run = Run(path=str(path), system=system, task=task, created=created, part=part)
        self._seen: Counter[str] = Counter()
        self._fields: list[dict[str, Any]] = []

    def add(
        self,
        item: object,
        scores: Mapping[str, Any],
        *,
        fields: Mapping[str, Any] | None = None,
        epoch: int | None = None,
        failed: str = "",
    ) -> None:
        """One sample: its item, its scores by measure, short fields that came with it, and why it has no score."""
        run, name = self.run, str(item)
        position = len(run.items)
        self._seen[name] += 1
        run.items.append(name)
        run.epochs.append(self._seen[name] if epoch is None else epoch)
        for measure, value in scores.items():
            column = run.scores.setdefault(measure, [])
            column.extend([math.nan] * (position - len(column)))
            column.append(_score(value))
        if failed:
            run.failed[position] = failed
        few_cells(run.path, len(run.scores), position)
        self._fields.append({k: v for k, v in (fields or {}).items() if _short(v)})

    def done(self) -> Run:
        """The run with the fields that most samples have."""
        self.run.about = fields_of(self._fields)
        return self.run


def _score(value: Any) -> float:
    return number(value) if isinstance(value, bool | int | float) else math.nan


def _short(value: Any) -> bool:
    return isinstance(value, str | int | bool) and len(str(value)) <= LIMITS.kept_text


def mapping(value: Any, path: Path | str, what: str) -> dict[str, Any]:
    """`value` if it is an object of JSON, else an error that says what should be."""
    if not isinstance(value, dict):
        raise StratError(f"`{path}` must have an object as {what}, got {type(value).__name__}.")
    return value


def inner(value: dict[str, Any], key: str) -> dict[str, Any]:
    """The object under a key, or an empty one where there is none."""
    held = value.get(key)
    return held if isinstance(held, dict) else {}


def entries(value: Any, path: Path | str, what: str) -> list[Any]:
    """`value` if it is a list of JSON, else an error that says what should be."""
    if not isinstance(value, list):
        raise StratError(f"`{path}` must have a list as {what}, got {type(value).__name__}.")
    return value


def key_of(value: Any) -> str:
    """A name for whatever identifies a sample: a text as it is, else JSON with sorted keys."""
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)

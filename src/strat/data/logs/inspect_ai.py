"""Logs of inspect-ai, `.eval` archives and `.json` files, without importing that package."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from strat.base.errors import StratError, short
from strat.base.notes import Note
from strat.data.logs.archive import Archive
from strat.data.logs.item_table import Run, few_cells, fields_of
from strat.data.untrusted import DEFAULT, Limits, json_object, read_bytes, whole

# what a scorer's value counts as; the names are the harness's own constants
VALUES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}


class Sample(NamedTuple):
    """What is read of a sample."""

    id: Any
    epoch: Any = None
    metadata: Any = None
    scores: Any = None
    error: Any = None
    limit: Any = None

    @classmethod
    def of(cls, sample: Any) -> Any:
        """From an object of JSON; a sample that is read already stays as it is."""
        return cls(sample["id"], *map(sample.get, cls._fields[1:])) if isinstance(sample, dict) else sample


@cache
def _samples() -> Any:
    """The type of a list of samples for a decoder that skips whatever the type does not name."""
    import msgspec

    score = msgspec.defstruct("Score", [("value", Any, None)])
    kinds = {"metadata": dict[str, Any] | None, "scores": dict[str, score] | None}  # type: ignore[valid-type]
    fields = [(name, kinds.get(name, Any), None) for name in Sample._fields[1:]]
    return list[msgspec.defstruct("Sample", [("id", Any), *fields])]  # type: ignore[misc]


def read_eval(path: Path, limits: Limits = DEFAULT) -> Run:
    """One run from a `.eval` archive: its header and its summaries, or its journal if it was cut off."""
    with Archive(path, limits) as archive:
        names = set(archive.names)
        if "header.json" in names:
            header = archive.json("header.json")
        elif "_journal/start.json" in names:
            header = archive.json("_journal/start.json")
        else:
            raise StratError(f"`{path}` must hold header.json or _journal/start.json; it is no inspect-ai log.")
        return _run(path, header, _summaries(archive, names))


def read_json(path: Path, limits: Limits = DEFAULT) -> Run:
    """One run from a `.json` log."""
    log = json_object(read_bytes(path, limits.member), str(path))
    return _run(path, log, log.get("samples") if isinstance(log, dict) else None)


def is_head(head: bytes) -> bool:
    """Whether the beginning of a `.json` file looks like that of a log of inspect-ai."""
    return b'"version"' in head and b'"eval"' in head and b'"status"' in head


def _summaries(archive: Archive, names: set[str]) -> list[Any]:
    if "summaries.json" in names:
        return _list(archive.json("summaries.json", _samples), archive.path)
    parts = [n for n in names if n.startswith("_journal/summaries/") and n.endswith(".json")]
    samples: list[Any] = []
    for name in sorted(parts, key=_part_number):
        samples += _list(archive.json(name), archive.path)
    if samples or not (single := [n for n in names if n.startswith("samples/")]):
        return samples
    return [archive.json(name) for name in sorted(single)]


def _part_number(name: str) -> tuple[int, str]:
    stem = name.rsplit("/", 1)[-1].removesuffix(".json")
    return (int(stem) if stem.isdecimal() else -1, stem)


def _list(value: Any, path: Path) -> list[Any]:
    if not isinstance(value, list):
        raise StratError(f"`{path}` must have a list of samples, got {type(value).__name__}.")
    return value


def _run(path: Path, header: Any, samples: Any) -> Run:
    if not isinstance(header, dict) or not isinstance(header.get("eval"), dict):
        raise StratError(f"`{path}` must have the key 'eval'; it is no inspect-ai log.")
    about = header["eval"]
    run = Run(
        path=str(path),
        system=str(about.get("model") or path.stem),
        task=str(about.get("task") or ""),
        status=str(header.get("status") or "started"),
        created=str(about.get("created") or ""),
    )
    _add(run, _list(samples or [], path))
    expected = _expected(about)
    if expected is not None and len(run) < expected and run.status == "success":
        facts = {"there": len(run), "of": expected, "what": "answer"}
        run.notes.append(Note("log-incomplete", facts).of(file=path.name))
    return run


def _expected(about: dict[str, Any]) -> int | None:
    data, config = about.get("dataset"), about.get("config") or {}
    samples = data.get("sample_ids") if isinstance(data, dict) else None
    if not isinstance(samples, list) or not isinstance(config, dict):
        return None
    if config.get("limit") is not None or config.get("sample_id") is not None:
        return None
    epochs = config.get("epochs")
    return len(samples) * epochs if isinstance(epochs, int) else len(samples)


def _add(run: Run, samples: list[Any]) -> None:
    """All samples of the run, column by column, which is several times as fast as sample by sample."""
    try:
        samples = [Sample.of(sample) for sample in samples]
        run.items = [str(sample.id) for sample in samples]
        run.epochs = [1 if sample.epoch in (None, 1) else whole(sample.epoch or 1) for sample in samples]
    except (KeyError, TypeError, ValueError, AttributeError):
        raise StratError(f"`{run.path}` must give each sample an 'id' and a whole 'epoch'; one has none.") from None
    about = [sample.metadata or {} for sample in samples]
    scores = [sample.scores or {} for sample in samples]
    if not all(isinstance(part, dict) for parts in (about, scores) for part in parts):
        raise StratError(f"`{run.path}` must have scores and metadata by name; it is no inspect-ai log.")
    run.about = fields_of(about)
    scorers = dict.fromkeys(key for part in scores for key in part)
    few_cells(run.path, len(scorers), len(samples))
    for scorer in scorers:
        _add_scorer(run, scorer, [part.get(scorer) for part in scores])
    for position, sample in enumerate(samples):
        if sample.error:
            run.failed[position] = "error"
        elif not sample.scores:
            run.failed[position] = "limit" if sample.limit else "unscored"


def _add_scorer(run: Run, scorer: str, scores: list[Any]) -> None:
    values: list[Any] = [
        score.get("value") if isinstance(score, dict) else getattr(score, "value", score) for score in scores
    ]
    try:
        plain = [VALUES[value] for value in values]
    except (KeyError, TypeError):  # not only C, I, P and N
        for position, value in enumerate(values):
            if value is not None:
                _add_nested(run, scorer, value, position)
                few_cells(run.path, len(run.scores), position)
    else:
        for position, number in enumerate(plain) if scorer in run.scores else ():
            _put(run.scores, scorer, position, number, math.nan)
        run.scores.setdefault(scorer, plain)


def _add_nested(run: Run, scorer: str, value: Any, position: int) -> None:
    try:
        _add_value(run, scorer, value, position)
    except RecursionError:
        raise StratError(f"`{run.path}` must not nest values deeper than Python can follow; it is no log.") from None


def _put(columns: dict[str, list[Any]], name: str, position: int, value: Any, gap: Any) -> None:
    column = columns.get(name)
    if column is None:
        column = columns[name] = []
    if len(column) > position:
        raise StratError(f"two scorers must not share the name {short(repr(name))}; rename one of them in the log.")
    column.extend([gap] * (position - len(column)))
    column.append(value)


def _add_value(run: Run, name: str, value: Any, position: int) -> None:
    if isinstance(value, dict):
        for key, part in value.items():
            _add_value(run, f"{name}/{key}", part, position)
    elif isinstance(value, list):
        for key, part in enumerate(value):
            _add_value(run, f"{name}/{key}", part, position)
    else:
        _put(run.scores, name, position, _value(run, name, value, position), math.nan)


def _value(run: Run, name: str, value: Any, position: int) -> float:
    if value is None:
        return math.nan
    if isinstance(value, str) and value in VALUES:
        return VALUES[value]
    try:
        return float(value)
    except (ValueError, OverflowError):
        run.unreadable.setdefault(name, f"sample {run.items[position]!r} has {str(value)[:60]!r}")
        return math.nan

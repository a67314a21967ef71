"""Logs of one object per line: OpenAI evals, samples of every_eval_ever; and lighteval's details in Parquet."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from strat.base.errors import StratError
from strat.data.logs.item_table import Run
from strat.data.logs.samples import Samples, inner, mapping
from strat.data.untrusted import DEFAULT, Limits, json_lines

DETAILS = re.compile(r"details_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d[.\d]*)\.parquet$")


def kind_of(head: bytes) -> str | None:
    """Which harness wrote a `.jsonl` file, by its first line."""
    first = head.partition(b"\n")[0]
    if b'"spec"' in first and b'"completion_fns"' in first:
        return "openai_evals"
    return "eee_samples" if b'"evaluation_id"' in first and b'"sample_id"' in first else None


# ---- OpenAI evals


def openai_evals(path: Path, limits: Limits = DEFAULT) -> list[Run]:
    """One run: a row for each sample, measured by its "match" event or by the numbers of its "metrics" event."""
    system, task, created = path.stem, "", ""
    scores: dict[str, dict[str, Any]] = {}
    failed: set[str] = set()
    for number, line in json_lines(path, limits.line):
        event = mapping(line, path, f"line {number}")
        if "spec" in event:
            spec = mapping(event["spec"], path, "'spec'")
            system = ", ".join(map(str, spec.get("completion_fns") or [])) or system
            task, created = str(spec.get("eval_name") or spec.get("base_eval") or ""), str(spec.get("created_at") or "")
        elif "sample_id" in event:
            _event(event, scores, failed)
    run = Samples(path, system, task, created=created)
    for sample, values in scores.items():
        run.add(sample, values, failed="error" if sample in failed else "")
    return [run.done()]


def _event(event: Mapping[str, Any], scores: dict[str, dict[str, Any]], failed: set[str]) -> None:
    sample, data = str(event["sample_id"]), event.get("data")
    held = scores.setdefault(sample, {})
    if event.get("type") == "match" and isinstance(data, dict):
        held["correct"] = data.get("correct")
    elif event.get("type") == "metrics" and isinstance(data, dict):
        held |= {str(k): v for k, v in data.items() if isinstance(v, bool | int | float)}
    elif event.get("type") == "error":
        failed.add(sample)


# ---- every_eval_ever


def eee_samples(path: Path, limits: Limits = DEFAULT) -> list[Run]:
    """The samples of one record: a run for each model and evaluation."""
    runs: dict[tuple[str, str], Samples] = {}
    for number, line in json_lines(path, limits.line):
        one = mapping(line, path, f"line {number}")
        if "sample_id" not in one:
            raise StratError(f"`{path}`, line {number}, must have a 'sample_id'; it is no sample of every_eval_ever.")
        key = (str(one.get("model_id")), str(one.get("evaluation_name") or ""))
        if key not in runs:
            runs[key] = Samples(path, *key)
        judged = mapping(one.get("evaluation"), path, f"'evaluation' of line {number}")
        usage = inner(one, "token_usage")
        tokens = {"tokens": usage["total_tokens"]} if usage.get("total_tokens") is not None else {}
        run = runs[key]
        run.add(
            one["sample_id"],
            {"score": judged.get("score"), "is_correct": judged.get("is_correct"), **tokens},
            fields=inner(one, "metadata"),
            failed="error" if one.get("error") else "",
        )
        run.run.hashes.append(str(one.get("sample_hash") or ""))
    return [run.done() for run in runs.values()]


# ---- lighteval


def lighteval(path: Path, limits: Limits = DEFAULT) -> list[Run]:
    """`details_<task>_<time>.parquet`: a row for each document, a measure for each metric."""
    named = DETAILS.search(path.name)
    if named is None:
        raise StratError(f"`{path}` must be called details_<task>_<time>.parquet.")
    folder = path.parent.parent  # details/<model>/<time>/, where a model's name may hold a slash
    above = list(folder.parts)
    system = "/".join(above[above.index("details") + 1 :]) if "details" in above else folder.name
    run = Samples(path, system or folder.name, named["task"], created=named["time"])
    for place, row in enumerate(_parquet(path)):
        metrics = row.get("metric") or row.get("metrics")
        document = inner(row, "doc")
        fields = {k: v for k, v in document.items() if k in ("task_name", "id")} | inner(document, "specific")
        item = document.get("id")
        run.add(
            f"{named['task']}/{place if item in (None, '') else item}", _numbers(metrics, path, place), fields=fields
        )
    return [run.done()]


def _numbers(metrics: Any, path: Path, place: int) -> dict[str, Any]:
    held = mapping(metrics, path, f"'metric' of row {place}")
    return {str(k): v for k, v in held.items() if isinstance(v, bool | int | float)}


def _parquet(path: Path) -> list[dict[str, Any]]:
    """The rows of the columns that matter, whatever else the file holds."""
    import duckdb

    from strat.data.untrusted import literal

    try:
        with duckdb.connect() as engine:
            relation = engine.read_parquet(literal(path))
            wanted = [name for name in ("doc", "metric", "metrics") if name in relation.columns]
            if not {"metric", "metrics"} & set(wanted):
                raise StratError(
                    f"`{path}` must have a column 'metric' or 'metrics', got {', '.join(relation.columns)}."
                )
            rows = relation.select(", ".join(f'"{name}"' for name in wanted)).fetchall()
    except duckdb.Error as error:
        raise StratError(f"`{path}` can't be read as Parquet: {str(error).splitlines()[0]}") from None
    return [dict(zip(wanted, row, strict=True)) for row in rows]

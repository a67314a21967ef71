"""JSON files of harnesses that write one file for a run: promptfoo, DeepEval, τ-bench, SWE-bench, MTEB, MLflow.

Each reader takes the parsed content, so that a file is opened once; none needs the package that wrote it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from strat.base.errors import StratError
from strat.data.logs.item_table import Run
from strat.data.logs.samples import Samples, entries, inner, key_of, mapping
from strat.data.untrusted import DEFAULT, Limits, json_object, read_bytes, whole


def kind_of(head: bytes, name: str) -> str | None:
    """Which harness wrote a `.json` file, by its beginning."""
    for kind, marks in MARKS.items():
        if all(mark in head for mark in marks):
            return kind
    if name == "eval_results_table.json" and b'"columns"' in head:
        return "mlflow"
    return "taubench" if head.lstrip().startswith(b"[") and b'"task_id"' in head and b'"reward"' in head else None


def read_runs(path: Path, kind: str, limits: Limits = DEFAULT) -> list[Run]:
    """The runs of one file, one for each system in it."""
    return READERS[kind](path, json_object(read_bytes(path, limits.member), str(path)))


# ---- promptfoo


def _promptfoo(path: Path, content: Any) -> list[Run]:
    """`promptfoo eval --output FILE.json`: a system for each provider (and prompt, where there are several)."""
    results = mapping(mapping(content, path, "its content").get("results"), path, "'results'")
    samples = entries(results.get("results"), path, "'results.results'")
    prompts = {_prompt(one) for one in samples if isinstance(one, dict)}
    runs: dict[str, Samples] = {}
    for place, one in enumerate(samples):
        sample = mapping(one, path, f"sample {place}")
        system = _provider(sample) + (f" [{_prompt(sample)}]" if len(prompts) > 1 else "")
        if system not in runs:
            runs[system] = Samples(path, system, "", created=str(results.get("timestamp") or ""))
        case = inner(sample, "testCase")
        given = sample.get("vars") or case.get("vars") or {}
        item = case.get("description") or sample.get("description") or key_of(given)
        # failureReason 2 is an error of the provider or of a grader, 1 an assertion that did not hold
        failed = (
            "error" if sample.get("failureReason") == 2 or (sample.get("error") and not sample.get("response")) else ""
        )
        runs[system].add(item, _promptfoo_scores(sample), fields=_flat(case.get("metadata"), given), failed=failed)
    return [one.done() for one in runs.values()]


def _promptfoo_scores(sample: dict[str, Any]) -> dict[str, Any]:
    scores = {"success": sample.get("success"), "score": sample.get("score")}
    scores |= inner(sample, "namedScores")
    usage = inner(inner(sample, "response"), "tokenUsage") or inner(sample, "tokenUsage")
    tokens = usage.get("total")
    further = {"cost": sample.get("cost"), "tokens": tokens, "latency": sample.get("latencyMs")}
    return scores | {name: value for name, value in further.items() if value is not None}


def _provider(sample: dict[str, Any]) -> str:
    provider = sample.get("provider")
    if isinstance(provider, dict):
        return str(provider.get("label") or provider.get("id") or "provider")
    return str(provider or "provider")


def _prompt(sample: dict[str, Any]) -> str:
    prompt = sample.get("prompt")
    label = (prompt.get("label") or prompt.get("raw")) if isinstance(prompt, dict) else prompt
    text = str(label or sample.get("promptIdx") or "")
    return text if len(text) <= 40 else f"prompt {sample.get('promptIdx', text[:40])}"


def _flat(*parts: Any) -> dict[str, Any]:
    return {str(k): v for part in parts if isinstance(part, dict) for k, v in part.items()}


# ---- DeepEval


def _deepeval(path: Path, content: Any) -> list[Run]:
    """DeepEval's test run: a row for each test case, a measure for each metric."""
    content = mapping(content, path, "its content")
    content = content["testRunData"] if isinstance(content.get("testRunData"), dict) else content
    settings = inner(content, "hyperparameters")
    run = Samples(path, str(settings.get("model") or content.get("identifier") or path.stem), "")
    for kind in ("testCases", "conversationalTestCases"):
        for place, one in enumerate(entries(content.get(kind) or [], path, f"{kind!r}")):
            case = mapping(one, path, f"test case {place}")
            scores: dict[str, Any] = {"success": case.get("success")}
            for metric in entries(case.get("metricsData") or [], path, f"'metricsData' of test case {place}"):
                named = mapping(metric, path, f"a metric of test case {place}")
                scores[str(named.get("name"))] = named.get("score")
            cost = {"cost": case["tokenCost"]} if case.get("tokenCost") is not None else {}
            item = case.get("input") or case.get("scenario") or case.get("name") or place
            run.add(item, scores | cost, fields=_flat(case.get("metadata")))
    return [run.done()]


# ---- τ-bench


def _taubench(path: Path, content: Any) -> list[Run]:
    """τ-bench's trajectories, and the simulations of τ²-bench: a row for each task and trial."""
    system, rows = path.stem, content
    if isinstance(content, dict):
        agent = inner(inner(content, "info"), "agent_info")
        system, rows = str(agent.get("llm") or path.stem), content.get("simulations")
    run = Samples(path, system, "")
    for place, one in enumerate(entries(rows, path, "its trajectories")):
        row = mapping(one, path, f"trajectory {place}")
        if "task_id" not in row:
            raise StratError(f"`{path}` must give each trajectory a 'task_id'; entry {place} has none.")
        reward = row.get("reward")
        if reward is None:
            reward = inner(row, "reward_info").get("reward")
        cost = {"cost": row["agent_cost"]} if row.get("agent_cost") is not None else {}
        run.add(row["task_id"], {"reward": reward, **cost}, epoch=_trial(row, path, place))
    return [run.done()]


def _trial(row: dict[str, Any], path: Path, place: int) -> int | None:
    if row.get("trial") is None:
        return None
    try:
        return whole(row["trial"]) + 1
    except (TypeError, ValueError):
        raise StratError(
            f"`{path}` must count trials by whole numbers, got {row['trial']!r} in entry {place}."
        ) from None


# ---- SWE-bench


def _swebench(path: Path, content: Any) -> list[Run]:
    """A report of the harness: an instance is resolved or not; one that was not submitted has no score."""
    report = mapping(content, path, "its content")
    lists = {
        name: {str(one) for one in entries(report.get(name) or [], path, repr(name))}
        for name in ("completed_ids", "submitted_ids", "empty_patch_ids", "error_ids", "resolved_ids", "unresolved_ids")
    }
    run = Samples(path, path.name.removesuffix(".json"), "")
    absent = {str(one) for one in entries(report.get("incomplete_ids") or [], path, "'incomplete_ids'")}
    for item in sorted(set().union(*lists.values()) - (absent - lists["submitted_ids"])):
        run.add(item, {"resolved": item in lists["resolved_ids"]}, fields=_repository(item))
    for item in sorted(absent - lists["submitted_ids"]):
        run.add(item, {}, fields=_repository(item), failed="not submitted")
    return [run.done()]


def _swebench_results(path: Path, content: Any) -> list[Run]:
    """The `results.json` of a submission: lists of instances; those that no list names are not known."""
    listed = {
        str(name): {str(one) for one in ids} for name, ids in mapping(content, path, "its content").items()
        if isinstance(ids, list)
    }  # fmt: skip
    folder = path.parent.parent if path.parent.name == "results" else path.parent
    run = Samples(path, folder.name, "")
    for item in sorted(set().union(*listed.values())):
        run.add(item, {"resolved": item in listed.get("resolved", ())}, fields=_repository(item))
    if "generated" not in listed:
        run.run.open_ended = True
    return [run.done()]


def _swebench_instance(path: Path, content: Any) -> list[Run]:
    """One instance's `report.json`: the model is the folder above the instance's."""
    run = Samples(path, path.parent.parent.name, "", part=True)
    for item, report in mapping(content, path, "its content").items():
        run.add(item, {"resolved": mapping(report, path, item).get("resolved")}, fields=_repository(item))
    return [run.done()]


def _repository(instance: str) -> dict[str, str]:
    """The repository of an instance, whose name is owner__name-number."""
    return {"repository": instance.rsplit("-", 1)[0].replace("__", "/")} if "__" in instance else {}


# ---- MTEB, MLflow


def _mteb(path: Path, content: Any) -> list[Run]:
    """A task's results: an item for each task, split and subset; the model from `model_meta.json` or the folder."""
    content = mapping(content, path, "its content")
    meta = path.with_name("model_meta.json")
    model = json_object(read_bytes(meta), str(meta)).get("name") if meta.is_file() else None
    task = str(content.get("task_name") or path.stem)
    run = Samples(path, str(model or path.parent.parent.name), "", part=True)
    for split, scores in mapping(content.get("scores"), path, "'scores'").items():
        for one in entries(scores, path, f"the scores of {split!r}"):
            row = mapping(one, path, f"a score of {split!r}")
            values = {k: v for k, v in row.items() if isinstance(v, int | float) and not isinstance(v, bool)}
            main = {"main_score": values.pop("main_score", None)}
            item = f"{task}/{split}/{row.get('hf_subset', 'default')}"
            run.add(item, main | values, fields={"task": task})
    return [run.done()]


def _mlflow(path: Path, content: Any) -> list[Run]:
    """The table that `mlflow.evaluate` logs: columns that end in "score" are measures."""
    content = mapping(content, path, "its content")
    columns = [str(name) for name in entries(content.get("columns"), path, "'columns'")]
    measures = [name for name in columns if name == "score" or name.endswith(("/score", "/value"))]
    if not measures:
        raise StratError(f"`{path}` must have a column that ends in '/score', got {', '.join(columns[:8])}.")
    named = next((name for name in ("request_id", "id", "inputs", "question", "request") if name in columns), None)
    run = Samples(path, path.parent.name if path.name == "eval_results_table.json" else path.stem, "")
    for place, line in enumerate(entries(content.get("data"), path, "'data'")):
        row = dict(zip(columns, entries(line, path, f"row {place}"), strict=False))
        rest = {k: v for k, v in row.items() if k not in (*measures, named)}
        run.add(place if named is None else key_of(row[named]), {name: row.get(name) for name in measures}, fields=rest)
    return [run.done()]


# ---- every_eval_ever, aggregates


def _eee(path: Path, content: Any) -> list[Run]:
    """An aggregate record: an item for each evaluation, scored by its own figure."""
    content = mapping(content, path, "its content")
    model = mapping(content.get("model_info"), path, "'model_info'")
    run = Samples(path, str(model.get("id") or model.get("name")), "", part=True)
    for place, one in enumerate(entries(content.get("evaluation_results"), path, "'evaluation_results'")):
        result = mapping(one, path, f"result {place}")
        details = mapping(result.get("score_details"), path, f"'score_details' of result {place}")
        run.add(str(result.get("evaluation_name")), {"score": details.get("score")})
    return [run.done()]


MARKS: dict[str, tuple[bytes, ...]] = {
    "promptfoo": (b'"evalId"', b'"results"'),
    "every_eval_ever": (b'"schema_version"', b'"evaluation_id"'),
    "deepeval": (b'"testCases"',),
    "swebench": (b'"total_instances"', b'"resolved_instances"'),
    "swebench_results": (b'"no_generation"',),
    "swebench_instance": (b'"patch_is_None"',),
    "taubench": (b'"agent_info"', b'"environment_info"'),
    "mteb": (b'"mteb_version"', b'"task_name"'),
}
READERS: dict[str, Callable[[Path, Any], list[Run]]] = {
    "promptfoo": _promptfoo,
    "every_eval_ever": _eee,
    "deepeval": _deepeval,
    "swebench": _swebench,
    "swebench_results": _swebench_results,
    "swebench_instance": _swebench_instance,
    "taubench": _taubench,
    "mteb": _mteb,
    "mlflow": _mlflow,
}

"""`read_logs`: a folder of logs, or some files, to one table of items; notes tell what was chosen or left out."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strat.base.errors import StratError, near, one_of, some
from strat.base.limits import LIMITS
from strat.base.notes import Note
from strat.base.text import counted
from strat.base.validate.arguments import checked, shown
from strat.base.validate.names import listed
from strat.data.files import FORMATS, once
from strat.data.frames import MARKS
from strat.data.logs import harnesses, helm, inspect_ai, junit, line_files, lm_eval, trec
from strat.data.logs.assembling import assemble
from strat.data.logs.item_table import FAILED, INCOMPLETE, RUNS, ItemTable, Run
from strat.data.logs.long import read_long
from strat.data.untrusted import DEFAULT, Limits, possible, stamps_of, unchanged


@checked
def read_logs(
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    metrics: str | Sequence[str] | None = None,
    tasks: Sequence[str] | None = None,
    strata: str | None = None,
    units: str | None = None,
    name: str | Sequence[str] | None = None,
    failed: str = "error",
    incomplete: str = "error",
    runs: str = "error",
    na: Sequence[str] | None = None,
    limits: Limits = DEFAULT,
    progress: Callable[[float], None] | None = None,
) -> ItemTable:
    """Scores of systems on items from logs of benchmark harnesses, or from long tables.

    Logs of inspect-ai, lm-evaluation-harness, HELM, promptfoo, DeepEval, lighteval, OpenAI evals, SWE-bench, τ-bench,
    MTEB, MLflow and every_eval_ever, TREC runs with qrels, and pytest's JUnit XML. Scores are recomputed from the
    samples; stored aggregates are not trusted.

    Parameters
    ----------
    source
        A folder (searched through), a file, or several of them.
    metrics
        Which measure, by the log's own name for it: a scorer (inspect-ai), a metric or "metric,filter"
        (lm-evaluation-harness), a statistic (HELM). Without it, each log's first one, and a note says which.
    tasks
        Only these tasks, or the tasks of these groups (lm-evaluation-harness).
    strata
        A metadata field whose values are fixed groups; without it the task, if there are several.
    units
        A metadata field whose values were drawn together (a passage, a repository).
    name
        What to call the systems: one name for each of the files and folders in `source`, or, for one folder, one for
        each log in it, in the order of their paths. Without it, what the logs say.
    failed
        Samples without a score: "error" refuses them by count, "drop" leaves them out, "zero" scores them 0.
    incomplete
        Runs that ended early: "error" refuses them, "keep" takes what is there, "skip" leaves the run out.
    runs
        When one system ran a task in several logs: "error", "separate" (two systems), "repeat" (further
        epochs), or "latest".
    na
        Texts that mark a missing value of `strata` or `units`, or of a table, in place of "", "NA" and their like.

    Returns
    -------
    ItemTable
        With `.system`, `.items`, `.score`, `.strata`, `.units`, `.epoch`, `.weights` and `.notes`.
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
        return read_long([str(p) for p in tables], strata=strata, units=units, na=na)
    if not logs:
        raise StratError.about(
            "source",
            f"must hold logs (.eval, inspect-ai .json, samples_*.jsonl, per_instance_stats.json, or another "
            f"harness's files) or tables, got {_what(source)} without any.",
        )
    with unchanged(stamps_of(logs)):
        read = _read_all(logs, limits, progress)
    if tasks is not None:
        read = _of_tasks(read, [tasks] if isinstance(tasks, str) else list(tasks))
    if name is not None:
        _rename(read, source, listed("name", name))
    marks = MARKS if na is None else listed("na", na)
    return assemble(read, one_measure(metrics), strata, units, failed, incomplete, runs, marks)


def is_logs(source: Any) -> bool:
    """Whether files or folders are named, and one of them is a log or a folder, not a plain table."""
    given = [source] if isinstance(source, str | os.PathLike) else source
    if not isinstance(given, list | tuple) or not all(isinstance(s, str | os.PathLike) for s in given):
        return False
    return any(possible(s).is_dir() or Path(s).suffix == ".json" or _reader(Path(s)) is not None for s in given)


def one_measure(metrics: str | Sequence[str] | None) -> str | None:
    """The one measure of logs that is asked for, if any."""
    names = [] if metrics is None else listed("metrics", metrics)
    if len(names) > 1:
        raise StratError.about(
            "metrics", f"must name one measure of the logs, got {some(names)}; read them one by one."
        )
    return names[0] if names else None


def _rename(logs: list[Run], source: Any, names: list[str]) -> None:
    """Call the systems as asked: by the file or folder that a log was found in, or log by log."""
    sources = [source] if isinstance(source, str | os.PathLike) else list(source)
    if len(sources) == 1 and len(names) == len(logs):
        for run, name in zip(logs, names, strict=True):
            run.system = name
        return
    if len(names) != len(sources):
        order = some([Path(run.path).name for run in logs], 8)
        wanted = f"{len(sources)} files and folders" if len(sources) > 1 else f"{counted(len(logs), 'log')} ({order})"
        raise StratError.about(
            "name", f"must have one name for each of the {wanted}, got {counted(len(names), 'name')}."
        )
    for run in logs:
        within = [Path(run.path), *Path(run.path).parents]
        run.system = next(name for path, name in zip(sources, names, strict=True) if Path(path) in within)


def _what(source: Any) -> str:
    return repr(os.fspath(source)) if isinstance(source, str | os.PathLike) else some([str(s) for s in source])


def _find(source: Any) -> list[Path]:
    one = isinstance(source, str | os.PathLike) or not isinstance(source, Iterable)
    given = [source] if one else list(source)
    if not all(isinstance(name, str | os.PathLike) for name in given):
        raise StratError.about("source", f"must be a file, a folder, or a list of them, got {shown(source)}.")
    paths: list[Path] = []
    if "" in given:
        raise StratError.about("source", "must be a file or a folder that exists, got an empty name.")
    for name in map(possible, given):
        if name.is_dir():
            paths += sorted(
                p for p in name.rglob("*") if p.is_file() and not any(x.startswith(".") for x in p.parts[-1:])
            )
        elif name.is_file():
            paths.append(name)
        else:
            raise StratError.about("source", f"must be a file or a folder that exists, got {str(name)!r}.")
    return once(paths)


def _sort(paths: Iterable[Path]) -> tuple[list[Path], list[Path]]:
    """Which files are logs, and which are plain tables."""
    logs, tables = [], []
    for path in paths:
        if _reader(path) is not None:
            logs.append(path)
        elif _is_table(path):
            tables.append(path)
    return logs, tables


def files_read(source: str | os.PathLike[str]) -> list[Path]:
    """The files that `read_logs` opens for a file or a folder, with those that it looks into beside them."""
    logs, tables = _sort(_find(source))
    beside = [path for folder in {log.parent for log in logs} for path in folder.iterdir()]
    looked_into = [
        path for path in beside if lm_eval.RESULTS.search(path.name) or path.name == helm.SPEC or trec.is_qrels(path)
    ]
    return [*logs, *looked_into] if logs else tables


def _is_table(path: Path) -> bool:
    suffixes = [s for s in path.suffixes if s not in (".gz", ".zst")]
    return bool(suffixes) and suffixes[-1].lower() in FORMATS


def _reader(path: Path) -> str | None:
    """Which kind of log a file is, by its name and its beginning; None: no log."""
    suffix = path.suffix.lower()
    if path.suffix == ".eval":
        return "eval"
    if lm_eval.SAMPLES.search(path.name):
        return "samples"
    if path.name == helm.NAME:
        return "helm"
    if line_files.DETAILS.search(path.name):
        return "lighteval"
    if trec.is_run(path):
        return "trec"
    if suffix not in (".json", ".jsonl", ".xml") or lm_eval.RESULTS.search(path.name):
        return None
    head = _head(path)
    if suffix == ".xml":
        return "junit" if junit.is_junit(head) else None
    if suffix == ".jsonl":
        return line_files.kind_of(head)
    return "json" if inspect_ai.is_head(head) else harnesses.kind_of(head, path.name)


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(LIMITS.log_head)
    except OSError:
        return b""


def _read_all(paths: Sequence[Path], limits: Limits, progress: Callable[[float], None] | None) -> list[Run]:
    beside = _Beside.of(paths, limits)
    logs = []
    for done, path in enumerate(paths):
        logs += _read_one(path, beside, limits)
        if progress is not None:
            progress((done + 1) / len(paths))
    return _closed(_gathered(logs))


@dataclass(frozen=True)
class _Beside:
    """What logs need from other files: results beside samples, judgements beside runs."""

    results: dict[tuple[str, str], dict[str, Any]]
    judged: trec.Judgements

    @classmethod
    def of(cls, paths: Sequence[Path], limits: Limits) -> _Beside:
        folders = {p.parent for p in paths if _reader(p) == "samples"}
        results = lm_eval.read_results(sorted(r for f in folders for r in f.glob("results_*.json")))
        runs = [p for p in paths if _reader(p) == "trec"]
        return cls(results, _judgements(runs, limits) if runs else {})


def _judgements(runs: Sequence[Path], limits: Limits) -> trec.Judgements:
    """The one file of judgements beside the runs, or in the folder above them."""
    folders = dict.fromkeys(folder for run in runs for folder in (run.parent, run.parent.parent))
    qrels = once([path for folder in folders for path in sorted(folder.iterdir()) if trec.is_qrels(path)])
    if len(qrels) != 1:
        names = some([path.name for path in qrels]) or "none"
        raise StratError(
            f"TREC runs must have one file of judgements with 'qrels' in its name beside them, got {names}; put it "
            "into their folder."
        )
    return trec.read_qrels(qrels[0], limits)


def _gathered(logs: list[Run]) -> list[Run]:
    """One run of the files that each hold a part of it: an instance of SWE-bench, a task of MTEB."""
    gathered: dict[str, Run] = {}
    for run in logs:
        whole = gathered.setdefault(run.system, run) if run.part else run
        if whole is not run:
            for name, values in run.scores.items():
                column = whole.scores.setdefault(name, [])
                column.extend([math.nan] * (len(whole) - len(column)) + values)
            for key in whole.about:
                whole.about[key] += run.about.get(key, [None] * len(run))
            whole.items += run.items
            whole.epochs += run.epochs
    return [run for run in logs if not run.part or gathered[run.system] is run]


def _closed(logs: list[Run]) -> list[Run]:
    """Runs that list outcomes only, with the items that others name as failures."""
    open_ended = [run for run in logs if run.open_ended]
    if not open_ended:
        return logs
    every = sorted({item for run in logs for item in run.items})
    for run in open_ended:
        absent = sorted(set(every) - set(run.items))
        run.items += absent
        run.epochs += [1] * len(absent)
        run.scores.setdefault("resolved", []).extend([0.0] * len(absent))
        run.about = {}
    open_ended[0].notes.append(Note("outcomes-only", {"instances": len(every)}))
    return logs


def _of_tasks(logs: list[Run], tasks: list[str]) -> list[Run]:
    known = list(dict.fromkeys(name for run in logs for name in (run.task, *run.groups)))
    for name in tasks:
        if name not in known:
            raise StratError.about("tasks", f"must be tasks or groups of the logs, got {name!r}; {near(name, known)}")
    return [run for run in logs if run.task in tasks or any(group in tasks for group in run.groups)]


def _read_one(path: Path, beside: _Beside, limits: Limits) -> list[Run]:
    kind = _reader(path) or ""
    if kind == "eval":
        return [inspect_ai.read_eval(path, limits)]
    if kind == "json":
        return [inspect_ai.read_json(path, limits)]
    if kind == "helm":
        return [helm.read_instances(path, limits)]
    if kind == "samples":
        return [lm_eval.read_samples(path, beside.results.get((str(path.parent), lm_eval.time_of(path)), {}), limits)]
    if kind == "trec":
        return trec.read_run(path, beside.judged, limits)
    if kind in LINES:
        return LINES[kind](path, limits)
    return harnesses.read_runs(path, kind, limits)


LINES: dict[str, Callable[[Path, Limits], list[Run]]] = {
    "openai_evals": line_files.openai_evals,
    "eee_samples": line_files.eee_samples,
    "lighteval": line_files.lighteval,
    "junit": junit.read_tests,
}

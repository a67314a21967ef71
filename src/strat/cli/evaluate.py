"""`strat evaluate`: measures with intervals from a table of predictions."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from strat.cli import options, output
from strat.errors import StratError, StratWarning, some

if TYPE_CHECKING:
    from strat.tables import ItemTable

command = typer.Typer(add_completion=False, rich_markup_mode=None)
OF_TABLES = ("truth", "predicted", "positive", "missing", "bins", "text", "memory")


@command.command()
def evaluate(
    ctx: typer.Context,
    files: options.FilesOrLogs,
    truth: options.Truth = None,
    predicted: options.Predicted = None,
    score: options.Score = None,
    strata: options.Strata = None,
    units: options.Units = None,
    items: options.Items = None,
    weights: options.Weights = None,
    population: Annotated[str | None, typer.Option(help="Units in the population: a number or a column.")] = None,
    metric: options.Metrics = None,
    method: Annotated[
        str, typer.Option(help="taylor, brr, fay, generalized, multi_array, jackknife, bootstrap.")
    ] = "taylor",
    target: Annotated[str | None, typer.Option(help="population (default) or benchmark: these very units.")] = None,
    level: options.Level = 0.95,
    positive: options.Positive = None,
    missing: options.Missing = "error",
    lone: options.Lone = "error",
    failed: options.Failed = "error",
    incomplete: options.Incomplete = "error",
    runs: options.Runs = "error",
    bins: Annotated[
        int | None, typer.Option(help="Bins for scores of very large files (default: exact or 256).")
    ] = None,
    text: Annotated[
        list[str] | None, typer.Option(help="Column of a CSV file to read as text (repeat for more).")
    ] = None,
    memory: Annotated[str, typer.Option(help="Memory that the engine for files may use.")] = "2GB",
    html: output.Html = None,
    as_json: output.Json = False,
    markdown: output.Markdown = False,
    latex: output.Latex = False,
    quiet: output.Quiet = False,
    to: output.Output = None,
) -> None:
    """Measure a classifier or a benchmark, with intervals that fit how the rows were drawn.

    For example:

      strat evaluate predictions.csv --truth label --predicted guess

      strat evaluate answers.parquet --truth label --predicted guess --strata subject --units passage --metric macro_f1

      strat evaluate scores.csv --score correct --strata task --json

      strat evaluate logs/old.json --failed zero

    Logs of AI benchmarks are scored already: there --metric names the one measure to take, and the columns of --strata,
    --units, --items and --weights are fields of the samples.
    """
    from strat import tables
    from strat.tables.logs.clusters import item_hints

    logs = None
    if any(_is_log(Path(name), truth is not None or score is not None) for name in files if name):
        logs = _logs(files, metric, failed, incomplete, runs)
        options.leave_out(ctx, *OF_TABLES, why="for logs, which are scored already and read without an engine")
    else:
        options.not_logs(ctx)
    roles = {"score": score, "strata": strata, "items": items}
    source: object = files
    if logs is not None:
        own = {"score": "score", "strata": None if logs.stratum is None else "stratum", "items": "item"}
        source, roles = logs.to_table(), {role: name or own[role] for role, name in roles.items()}
    options.applied(ctx, truth=truth, score=roles["score"], strata=roles["strata"])
    with output.progress("reading", quiet=quiet) as progress, warnings.catch_warnings():
        warnings.simplefilter("ignore", StratWarning)  # the result repeats them as notes
        found = tables.evaluate(
            source,
            truth=truth,
            predicted=predicted,
            units=units,
            weights=weights,
            population=_number_or_name(population),
            metrics=metric or None if logs is None else None,
            method=method,
            target=target,
            level=level,
            positive=positive,
            missing=missing,
            lone=lone,
            bins=bins,
            text=text or (),
            memory=memory,
            progress=progress,
            **roles,
        )
    if logs is not None:
        hints = [] if units else item_hints(logs, strata=roles["strata"], used=(roles["items"], weights))
        found = replace(found, warnings=(*logs.notes, *found.warnings, *hints))
    output.report(found, html)
    output.emit(found.sheet(), as_json=as_json, markdown=markdown, latex=latex, quiet=quiet, output=to)


def _number_or_name(population: str | None) -> float | str | None:
    try:
        return None if population is None else float(population)
    except ValueError:
        return population


def _logs(files: list[str], metric: list[str] | None, failed: str, incomplete: str, runs: str) -> ItemTable:
    """The one system of benchmark logs."""
    from strat import tables

    if metric is not None and len(metric) > 1:
        raise StratError(f"`--metric` must name one measure of the logs, got {some(metric)}; call it for each of them.")
    one = metric[0] if metric else None
    logs = tables.read_logs(files, metric=one, failed=failed, incomplete=incomplete, runs=runs)
    if len(logs.systems) > 1:
        raise StratError(
            f"`FILE` must hold logs of one system, got {len(logs.systems)}; use `strat compare` for several."
        )
    return logs


def _is_log(path: Path, labelled: bool) -> bool:
    if path.is_dir() or path.suffix in (".eval", ".json"):
        return True
    return not labelled and path.name.startswith("samples_") and path.suffix == ".jsonl"

"""`strat evaluate`: measures with intervals from a table of predictions."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from strat.cli import output
from strat.errors import StratError, StratWarning, some

if TYPE_CHECKING:
    from strat.tables import ItemTable

command = typer.Typer(add_completion=False, rich_markup_mode=None)


@command.command()
def evaluate(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="CSV, TSV, Parquet, JSON lines or Arrow (.gz, .zst too), globs, or a folder of logs.",
        ),
    ],
    truth: Annotated[str | None, typer.Option(help="Column of true labels.")] = None,
    predicted: Annotated[str | None, typer.Option(help="Column of predicted labels.")] = None,
    score: Annotated[
        str | None, typer.Option(help="Column of scores: for AUC, or alone: how right each row is.")
    ] = None,
    strata: Annotated[str | None, typer.Option(help="Column of fixed groups (subjects, tasks).")] = None,
    units: Annotated[str | None, typer.Option(help="Column of what was drawn (passages, patients).")] = None,
    items: Annotated[str | None, typer.Option(help="Column of items; rows of one item are repeats.")] = None,
    weights: Annotated[str | None, typer.Option(help="Column of row weights.")] = None,
    population: Annotated[str | None, typer.Option(help="Units in the population: a number or a column.")] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(help="Measure (repeat for more): accuracy, macro_f1, auc, kappa, mcc, …; for logs: which one."),
    ] = None,
    method: Annotated[
        str, typer.Option(help="taylor, brr, fay, generalized, multi_array, jackknife, bootstrap.")
    ] = "taylor",
    target: Annotated[str | None, typer.Option(help="population (default) or benchmark: these very units.")] = None,
    level: Annotated[float, typer.Option(help="Confidence level.")] = 0.95,
    positive: Annotated[str | None, typer.Option(help="The positive one of two classes.")] = None,
    missing: Annotated[str, typer.Option(help="Missing values: error or drop.")] = "error",
    lone: Annotated[
        str, typer.Option(help="Strata of one unit: error, collapse, certainty, centre, average.")
    ] = "error",
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
    """
    from strat import tables

    logs = _logs(files, metric, labelled=truth is not None or score is not None)
    roles = {"score": score, "strata": strata, "items": items}
    source: object = files
    if logs is not None:
        own = {"score": "score", "strata": None if logs.stratum is None else "stratum", "items": "item"}
        source, roles = logs.to_table(), {role: name or own[role] for role, name in roles.items()}
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
        found = replace(found, warnings=(*logs.notes, *found.warnings))
    output.report(found, html)
    output.emit(found.sheet(), as_json=as_json, markdown=markdown, latex=latex, quiet=quiet, output=to)


def _number_or_name(population: str | None) -> float | str | None:
    try:
        return None if population is None else float(population)
    except ValueError:
        return population


def _logs(files: list[str], metric: list[str] | None, *, labelled: bool) -> ItemTable | None:
    """The one system of benchmark logs; None where the files are tables."""
    if not any(_is_log(Path(name), labelled) for name in files if name):
        return None
    from strat import tables

    if metric is not None and len(metric) > 1:
        raise StratError(f"`--metric` must name one measure of the logs, got {some(metric)}; call it for each of them.")
    logs = tables.read_logs(files, metric=metric[0] if metric else None)
    if len(logs.systems) > 1:
        raise StratError(
            f"`FILE` must hold logs of one system, got {len(logs.systems)}; use `strat compare` for several."
        )
    return logs


def _is_log(path: Path, labelled: bool) -> bool:
    if path.is_dir() or path.suffix in (".eval", ".json"):
        return True
    return not labelled and path.name.startswith("samples_") and path.suffix == ".jsonl"

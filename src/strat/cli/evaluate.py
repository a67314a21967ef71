"""`strat evaluate`: measures with intervals from a table of predictions."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated

import typer

from strat.cli import output
from strat.errors import StratError, StratWarning

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
        list[str] | None, typer.Option(help="Measure (repeat for more): accuracy, macro_f1, auc, kappa, mcc, …")
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

    source, roles = _source(files, score, strata, items)
    with output.progress("reading", quiet=quiet) as progress, warnings.catch_warnings():
        warnings.simplefilter("ignore", StratWarning)  # the result repeats them as notes
        found = tables.evaluate(
            source,
            truth=truth,
            predicted=predicted,
            units=units,
            weights=weights,
            population=_number_or_name(population),
            metrics=metric or None,
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
    output.report(found, html)
    output.emit(found.sheet(), as_json=as_json, markdown=markdown, latex=latex, quiet=quiet, output=to)


def _number_or_name(population: str | None) -> float | str | None:
    try:
        return None if population is None else float(population)
    except ValueError:
        return population


def _source(
    files: list[str], score: str | None, strata: str | None, items: str | None
) -> tuple[object, dict[str, str | None]]:
    """The files themselves, or the one system of a folder of logs."""
    roles = {"score": score, "strata": strata, "items": items}
    if not any((name and Path(name).is_dir()) or name.endswith(".eval") for name in files):
        return files, roles
    from strat import tables

    logs = tables.read_logs(files)
    if len(logs.systems) > 1:
        raise StratError(
            f"`FILE` must hold logs of one system, got {len(logs.systems)}; use `strat compare` for several."
        )
    has_strata = logs.stratum is not None
    roles = {
        "score": score or "score",
        "strata": strata or ("stratum" if has_strata else None),
        "items": items or "item",
    }
    return logs.to_table(), roles

"""`strat evaluate`: measures with intervals from a table of predictions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import strat
from strat.base.errors import StratError, some
from strat.cli import look, options, output

if TYPE_CHECKING:
    from strat.data import ItemTable, Table

command = typer.Typer(add_completion=False, rich_markup_mode=None)
OF_TABLES = ("truth", "predicted", "positive", "threshold", "average", "missing", "bins", "text", "memory")
SAME = (  # arguments of the library that are options under the same name
    *("truth", "predicted", "score", "threshold", "method", "replicates", "target", "level", "df", "positive"),
    *("missing", "bins"),
)


@command.command(epilog=options.all_measures())
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
    population: options.PopulationSizes = None,
    crossed: options.Crossed = None,
    kinds: options.Kinds = None,
    order: options.Order = None,
    differences: options.Differences = 1,
    start: options.Start = None,
    stages: options.Stages = None,
    replicate_weights: Annotated[
        str | None, typer.Option(metavar="PREFIX", help="Columns of replicate weights: how their names start.")
    ] = None,
    scale: Annotated[
        float | None, typer.Option(help="With --replicate-weights: what squared deviations are multiplied by.")
    ] = None,
    about_mean: Annotated[
        bool, typer.Option("--about-mean", help="With --replicate-weights: deviations from their mean (R's mse=FALSE).")
    ] = False,
    metric: options.Metrics = None,
    by: options.By = None,
    average: options.Average = "auto",
    threshold: options.Threshold = None,
    positive: options.Positive = None,
    method: Annotated[
        str,
        typer.Option(help="taylor, brr, fay, generalized, multi_array, partially_balanced, jackknife, bootstrap."),
    ] = "taylor",
    replicates: Annotated[
        int | None,
        typer.Option(help="How many, with --method partially_balanced (default 64) or bootstrap (default 1000)."),
    ] = None,
    target: Annotated[str | None, typer.Option(help="population (default) or benchmark: these very units.")] = None,
    level: options.Level = 0.95,
    df: Annotated[
        str | None, typer.Option(help="Degrees of freedom: design (units minus strata), effective, satterthwaite.")
    ] = None,
    missing: options.Missing = "error",
    na: options.Na = None,
    lone: options.Lone = "error",
    collapse_by: Annotated[
        str | None, typer.Option(help="With --lone collapse: column of numbers by which strata are joined.")
    ] = None,
    nested: options.Nested = False,
    failed: options.Failed = "error",
    incomplete: options.Incomplete = "error",
    runs: options.Runs = "error",
    bins: Annotated[
        int | None, typer.Option(help="Bins for scores of files of over 10,000,000 rows (default: 256).")
    ] = None,
    proxy: Annotated[
        list[str] | None,
        typer.Option(help="Column of a cheap judgement of every row, where the true one is missing by design in some."),
    ] = None,
    probability: options.Probability = None,
    label_strata: options.LabelStrata = None,
    estimator: options.Estimator = "regression",
    calibrate: Annotated[
        str | None, typer.Option(help="With --proxy: isotonic or logistic, fitted to labels of other units.")
    ] = None,
    text: Annotated[
        list[str] | None, typer.Option(help="Column of a CSV file to read as text (repeat for more).")
    ] = None,
    memory: Annotated[str, typer.Option(help="Memory that the engine for files may use.")] = "2GB",
    plot: options.Picture = None,
    plot_kind: Annotated[
        str, typer.Option(help="With --plot: forest, or of scores roc, calibration, det or pr (precision-recall).")
    ] = "forest",
    html: output.Html = None,
    as_json: output.Json = False,
    markdown: output.Markdown = False,
    latex: output.Latex = False,
    paper: Annotated[
        bool,
        typer.Option("--paper", help='Print a table for a paper: "0.78 (0.71, 0.83)"; with --latex or --markdown.'),
    ] = False,
    digits: Annotated[int, typer.Option(help="Decimals of --paper.")] = 2,
    quiet: output.Quiet = False,
    to: output.Output = None,
) -> None:
    """Measure a classifier or a benchmark, with intervals that fit how the rows were drawn.

    For example:

      strat evaluate predictions.csv --truth label --predicted guess

      strat evaluate answers.parquet --truth label --predicted guess --strata subject --units passage --metric macro_f1

      strat evaluate scores.csv --score correct --strata task --json

      strat evaluate scans.csv --truth label --score risk --threshold 0.2 --positive ill --units patient --by sex

      strat evaluate scans.csv --truth label --score risk --positive ill --units patient --plot roc.png --plot-kind roc

      strat evaluate judged.csv --score human --proxy judge --units conversation

      strat evaluate ratings.csv --score good --crossed worker,prompt

      strat evaluate logs/old.json --failed zero

    Logs of AI benchmarks are scored already: there --metric names the one measure to take, and the columns of --strata,
    --units, --items and --weights are fields of the samples.
    """
    from strat import data, verbs

    options.picture(plot)
    if plot is None:
        options.leave_out(ctx, "plot_kind", why="without --plot")

    logs = _logs_among(ctx, files)
    with output.progress("reading", quiet=quiet) as progress, options.naming(**options.spelling(ctx), source="FILE"):
        table: ItemTable | Table | None = logs
        if table is None:
            table = data.read(files, text=text or (), na=na or None, memory=memory, progress=progress)
        evaluation = verbs.evaluate(table, **_asked(ctx, logs))
    html, to = output.page_or_text(html, to)
    output.report(evaluation, html)
    with options.naming(kind="--plot-kind"):
        output.draw(plot, lambda: evaluation.plot(plot_kind))
    form = output.form_of(to, json=as_json, markdown=markdown, latex=latex)
    if paper:
        output.text_out(evaluation.paper(form, digits=digits), to)
        return
    make = evaluation.sheet if form == "json" else evaluation.table
    sheet = make(naive=form not in ("markdown", "latex"))
    output.emit(sheet, as_json=as_json, markdown=markdown, latex=latex, quiet=quiet, output=to)


def _logs_among(ctx: typer.Context, files: list[str]) -> ItemTable | None:
    """The logs that are among the files, if they are; options that can't apply to either are refused."""
    asked = ctx.params
    labelled = asked["truth"] is not None or asked["score"] is not None
    logs = None
    if any(_is_log(Path(name), labelled) for name in files if name):
        logs = _logs(files, asked["metric"], asked["failed"], asked["incomplete"], asked["runs"])
        options.leave_out(ctx, *OF_TABLES, why="for logs, which are scored already and read without an engine")
    else:
        options.not_logs(ctx)
        look.unless_columns(ctx, files)
    scored = "score" if logs is not None else None
    layers = "strata" if logs is not None and logs.strata is not None else None
    options.applied(ctx, truth=asked["truth"], score=asked["score"] or scored, strata=asked["strata"] or layers)
    return logs


def _asked(ctx: typer.Context, logs: ItemTable | None) -> dict[str, Any]:
    """The arguments of the library."""
    asked = ctx.params
    metric, average = asked["metric"], asked["average"]
    return {name: asked[name] for name in SAME} | {
        "design": options.sampling(ctx),
        "proxy": options.proxy(ctx),
        "metrics": _repeated(metric) if logs is not None else list(metric or ()) or None,
        "by": list(asked["by"] or ()) or None,
        "average": None if average == "none" else average,
    }


def _logs(files: list[str], metric: list[str] | None, failed: str, incomplete: str, runs: str) -> ItemTable:
    """The one system of benchmark logs."""
    if _repeated(metric):
        metric = None  # a measure of repeats is made of the logs' own first measure
    if metric is not None and len(metric) > 1:
        raise StratError(f"`--metric` must name one measure of the logs, got {some(metric)}; call it for each of them.")
    one = metric[0] if metric else None
    return strat.data.read_logs(files, metrics=one, failed=failed, incomplete=incomplete, runs=runs)


def _repeated(metric: list[str] | None) -> list[str] | None:
    """The measures, if they are of repeats, such as pass@3."""
    from strat.verbs.metrics import repeated

    return metric if any(repeated(metric)) else None


def _is_log(path: Path, labelled: bool) -> bool:
    from strat.data.logs.reading import is_logs

    if path.is_dir() or path.suffix in (".eval", ".json"):
        return True
    return not labelled and is_logs(str(path))

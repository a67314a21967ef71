"""Options that several commands share, spelled out once, and what to say of one that can't apply."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from strat.errors import StratError

Files = Annotated[
    list[str],
    typer.Argument(metavar="FILE...", help="CSV, TSV, Parquet, JSON lines or Arrow (.gz, .zst too), or globs."),
]
FilesOrLogs = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE...",
        help="CSV, TSV, Parquet, JSON lines or Arrow (.gz, .zst too), globs, or a folder of logs.",
    ),
]
Truth = Annotated[str | None, typer.Option(help="Column of true labels.")]
Predicted = Annotated[str | None, typer.Option(help="Column of predicted labels.")]
Score = Annotated[str | None, typer.Option(help="Column of scores: for AUC, or alone: how right each row is.")]
Strata = Annotated[str | None, typer.Option(help="Column of fixed groups (subjects, tasks).")]
Units = Annotated[str | None, typer.Option(help="Column of what was drawn (passages, patients).")]
Items = Annotated[str | None, typer.Option(help="Column of items; rows of one item are repeats.")]
Weights = Annotated[str | None, typer.Option(help="Column of row weights.")]
Metrics = Annotated[
    list[str] | None, typer.Option("--metric", help="Measure (repeat for more): accuracy, macro_f1, auc, kappa, mcc, …")
]
Level = Annotated[float, typer.Option(help="Confidence level.")]
Seed = Annotated[int, typer.Option(help="Seed of whatever is drawn.")]
Positive = Annotated[str | None, typer.Option(help="The positive one of two classes.")]
Missing = Annotated[str, typer.Option(help="Missing values: error or drop.")]
Lone = Annotated[str, typer.Option(help="Strata of one unit: error, collapse, certainty, centre, average.")]
Failed = Annotated[str, typer.Option(help="Logs: samples that failed: error, drop, zero.")]
Incomplete = Annotated[str, typer.Option(help="Logs: runs cut short: error, keep, skip.")]
Runs = Annotated[str, typer.Option(help="Logs: several runs of one system: error, separate, repeat, latest.")]
Picture = Annotated[Path | None, typer.Option("--plot", help="Draw to this .png, .svg or .pdf file.")]

PICTURES = (".png", ".svg", ".pdf")


def given(ctx: typer.Context, name: str) -> bool:
    """Whether a person typed this option."""
    source: Any = ctx.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def leave_out(ctx: typer.Context, *names: str, why: str) -> None:
    """Refuse options that were typed where they can't apply, in one sentence that ends in `why`."""
    for name in names:
        if given(ctx, name):
            raise StratError(f"`{spelled(ctx, name)}` must be left out {why}.")


def applied(ctx: typer.Context, *, truth: str | None, score: str | None, strata: str | None) -> None:
    """Refuse options of evaluations that have nothing to act on."""
    if truth is None:
        leave_out(ctx, "predicted", "positive", why="without --truth: there are no classes")
    elif not any(uses_classes(name) for name in ctx.params["metric"] or _default(score)):
        leave_out(ctx, "positive", why="for measures that treat all classes alike; name one with --metric, such as f1")
    if score is None:
        leave_out(ctx, "bins", why="without --score: there is nothing to bin")
    lone_needs_strata(ctx, strata)


def lone_needs_strata(ctx: typer.Context, strata: str | None) -> None:
    """Refuse to be told about lone units where there are no strata."""
    if strata is None:
        leave_out(ctx, "lone", why="without --strata: it says what to do with strata of one unit")


def not_logs(ctx: typer.Context) -> None:
    """Refuse options of logs where tables are read."""
    leave_out(ctx, "failed", "incomplete", "runs", why="for tables: it is for logs of benchmarks")


def uses_classes(metric: str) -> bool:
    """Whether a measure asks which one of two classes is the positive one."""
    from strat.tables.metrics import _AVERAGED, METRICS

    key = metric.strip().lower().replace("-", "_").replace(" ", "_")
    return key in _AVERAGED or METRICS.get(key, ((),))[0] == ("truth", "score")


def _default(score: str | None) -> list[str]:
    return [] if score is None else ["auc"]


def spelled(ctx: typer.Context, name: str) -> str:
    """The option of this parameter, as a person types it."""
    parameter: Any = next(p for p in ctx.command.params if p.name == name)
    return str(max(parameter.opts, key=len))


@contextmanager
def naming(**options: str) -> Iterator[None]:
    """Errors about these arguments name what a person typed instead.

    >>> with naming(path="--similarity"):
    ...     raise StratError("`path` must name a file, got 'x'.")
    Traceback (most recent call last):
    strat.errors.StratError: `--similarity` must name a file, got 'x'.
    """
    try:
        yield
    except StratError as error:
        said = str(error)
        for argument, option in options.items():
            said = said.replace(f"`{argument}`", f"`{option}`")
        raise StratError(said) from None


def picture(plot: Path | None) -> None:
    """Refuse a picture that could not be written."""
    if plot is None:
        return
    if plot.suffix.lower() not in PICTURES:
        raise StratError(f"`--plot` must end in .png, .svg or .pdf, got {str(plot)!r}.")
    if not plot.parent.is_dir():
        raise StratError(f"`--plot` must be in a folder that exists, got {str(plot)!r}.")

"""Options that several commands share, spelled out once, and what to say of one that can't apply."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from strat.base.errors import StratError
from strat.measures.index import NAMES

if TYPE_CHECKING:
    from strat.designs.sampling import Sampling
    from strat.verbs import Proxy

Files = Annotated[
    list[str],
    typer.Argument(metavar="FILE...", help="CSV, TSV, Parquet, JSON lines, Arrow (.gz, .zst too), Excel, or globs."),
]
FilesOrLogs = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE...",
        help="CSV, TSV, Parquet, JSON lines, Arrow (.gz, .zst too), Excel, globs, or a folder of logs.",
    ),
]
Truth = Annotated[str | None, typer.Option(help="Column of true labels.")]
Predicted = Annotated[str | None, typer.Option(help="Column of predicted labels.")]
Score = Annotated[
    str | None, typer.Option(help="Column of scores: for AUC, or, without --truth, per-row correctness such as 0/1.")
]
Strata = Annotated[str | None, typer.Option(help="Column of fixed groups (subjects, tasks).")]
Units = Annotated[
    str | None, typer.Option("--units", "--clusters", help="Column of clusters: what was drawn (passages, patients).")
]
Items = Annotated[str | None, typer.Option(help="Column of items; rows of one item are repeats.")]
Crossed = Annotated[
    str | None,
    typer.Option(metavar="A,B", help="Columns of factors that were both drawn (reader,case), instead of --units."),
]
Kinds = Annotated[str | None, typer.Option(help="Column of fixed kinds (pose, prompt) under which --units were seen.")]
Order = Annotated[str | None, typer.Option(help="Column of places along which every k-th row was drawn.")]
Differences = Annotated[
    int, typer.Option(help="With --order: order of the differences between neighbours, 1 to 4 (2 removes a line).")
]
Start = Annotated[
    str | None,
    typer.Option(help="With --order and --population: place of the first row drawn, from 1; a number or a column."),
]
Stages = Annotated[str | None, typer.Option(metavar="A,B", help="Columns of units drawn in stages, first stage first.")]
PopulationSizes = Annotated[
    str | None,
    typer.Option(
        "--population", help="Units in the population: a number or a column; with --stages a column for each (A,B)."
    ),
]
Probability = Annotated[
    str | None, typer.Option(help="With --proxy: column of the probability with which a row was labelled.")
]
LabelStrata = Annotated[str | None, typer.Option(help="With --proxy: column of groups within which labels were drawn.")]
Estimator = Annotated[
    str,
    typer.Option(
        help="With --proxy: regression (PPI++), stratified (in each --label-strata), difference (PPI) or labels."
    ),
]
Weights = Annotated[str | None, typer.Option(help="Column of row weights.")]
Metrics = Annotated[
    list[str] | None,
    typer.Option(
        "--metric",
        "--metrics",
        help="Measure (repeat for more): accuracy, macro_f1, sensitivity, ppv, auc, brier, rmse, …",
    ),
]


def all_measures() -> str:
    """The end of a help text: every measure, by the columns that it needs."""
    options = {"truth": "--truth", "predicted": "--predicted", "score": "--score", "items": "--items"}
    lines = [
        f"{' '.join(options[role] for role in needs.split(', '))}: {', '.join(names.split())}."
        for needs, names in NAMES.items()
    ]
    head = "Measures (also by the words of other trades; macro_, micro_ and weighted_ average over classes):"
    return "\n\n".join([head, *lines])


Level = Annotated[float, typer.Option(help="Confidence level.")]
Seed = Annotated[int, typer.Option("--seed", "--rng", help="Seed of whatever is drawn.")]
By = Annotated[
    list[str] | None, typer.Option("--by", help="Column that makes groups (repeat for combinations of several).")
]
Average = Annotated[
    str,
    typer.Option(help="How f1, precision, recall treat classes: auto, macro, micro, weighted, or none: each class."),
]
Threshold = Annotated[float | None, typer.Option(help="Rows with at least this --score are predicted positive.")]
Positive = Annotated[
    str | None, typer.Option(help="The class that f1, recall, auc, … look at; needed unless the classes are 0 and 1.")
]
Missing = Annotated[str, typer.Option(help="Missing values: error or drop.")]
Na = Annotated[
    list[str] | None,
    typer.Option("--na", help="Text that marks a missing value, in place of NA, null, … (repeat for more)."),
]
Lone = Annotated[str, typer.Option(help="Strata of one unit: error, collapse, certainty, centre, average.")]
Nested = Annotated[
    bool, typer.Option("--nested/--not-nested", help="The same unit label in two strata: two units, or an error.")
]
Failed = Annotated[str, typer.Option(help="Logs: samples that failed: error, drop, zero.")]
Incomplete = Annotated[str, typer.Option(help="Logs: runs cut short: error, keep, skip.")]
Runs = Annotated[str, typer.Option(help="Logs: several runs of one system: error, separate, repeat, latest.")]
ComparedFiles = Annotated[
    list[str],
    typer.Argument(metavar="FILE...", help="One table, one file for each system, or a folder of benchmark logs."),
]
PredictedBySystem = Annotated[
    list[str] | None, typer.Option("--predicted", help="Column of predicted labels; repeat it, one for each system.")
]
System = Annotated[str | None, typer.Option(help="Long tables: column of systems.")]
JoinedItems = Annotated[str | None, typer.Option(help="Column of items, on which systems are joined.")]
Epoch = Annotated[str | None, typer.Option(help="Long tables: column that numbers the tries of an item.")]
ItemWeights = Annotated[str | None, typer.Option(help="Column of weights of items.")]
LowerIsBetter = Annotated[bool, typer.Option("--lower-is-better", help="Scores are errors or costs.")]
SystemNames = Annotated[
    list[str] | None, typer.Option("--name", help="What to call a system; repeat it, one for each file or log.")
]
Unmatched = Annotated[str, typer.Option(help="Items that a system lacks: error, or common (compare on the others).")]
Picture = Annotated[Path | None, typer.Option("--plot", help="Draw to this .png, .svg or .pdf file.")]

PICTURES = (".png", ".svg", ".pdf")


# arguments of `compare` that are options under the same name, and of `gate`
COMPARED = (
    *("truth", "predicted", "score", "system", "items", "epoch", "by", "positive", "threshold", "average"),
    *("baseline", "name", "level", "unmatched", "missing", "na", "failed", "incomplete", "runs"),
)
# fields of a sampling, and of a proxy, that are options under the same name
SAMPLED = (
    *("strata", "units", "items", "weights", "population", "crossed", "kinds", "order", "differences", "start"),
    *("stages", "lone", "collapse_by", "nested", "replicate_weights", "scale"),
)
OF_PROXIES = ("probability", "label_strata", "estimator", "calibrate")


def of_comparison(ctx: typer.Context, *more: str) -> dict[str, Any]:
    """The arguments of a comparison that were typed."""
    asked: dict[str, Any] = {name: ctx.params[name] for name in (*COMPARED, *more)}
    asked |= {name: asked[name] or () for name in ("predicted", "score")}
    asked |= {name: asked[name] or None for name in ("by", "name", "na", "systems") if name in asked}
    return asked | {
        "design": sampling(ctx, items=None),
        "metrics": ctx.params["metric"] or None,
        "higher_is_better": False if ctx.params["lower_is_better"] else None,
    }


def sampling(ctx: typer.Context, **other: Any) -> Sampling:
    """How the rows were drawn, as the options say."""
    from strat.designs.sampling import Sampling

    typed = {name: ctx.params[name] for name in SAMPLED if name in ctx.params}
    typed |= {name: number_or_name(typed[name]) for name in ("population", "start") if name in typed}
    if "about_mean" in ctx.params:
        typed["mse"] = not ctx.params["about_mean"]
    return Sampling(**{**typed, **other})


def proxy(ctx: typer.Context) -> Proxy | None:
    """The proxy that the options name, if they do; what would be ignored without one is refused."""
    from strat.verbs import Proxy

    if not ctx.params["proxy"]:
        leave_out(
            ctx, *(name for name in OF_PROXIES if name in ctx.params), why="without --proxy, whose labels it is about"
        )
        return None
    return Proxy(ctx.params["proxy"], **{name: ctx.params[name] for name in OF_PROXIES if name in ctx.params})


def spelling(ctx: typer.Context) -> dict[str, str]:
    """How the arguments of the library are spelled as options of this command."""
    options = {str(name): spelled(ctx, name) for name in ctx.params if _is_option(ctx, name)}
    other = {"metrics": "metric", "higher_is_better": "lower_is_better", "mse": "about_mean", "rng": "seed"}
    return options | {name: options[option] for name, option in other.items() if option in options}


def number_or_name(text: str | None) -> float | str | None:
    """A number where it is one, else the name of a column."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


def given(ctx: typer.Context, name: str) -> bool:
    """Whether this option was typed."""
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
        leave_out(
            ctx, "positive", why="for measures that look at all classes; name one of a class with --metric, such as f1"
        )
    if score is None:
        leave_out(ctx, "bins", why="without --score: there is nothing to bin")
    lone_needs_strata(ctx, strata)


def lone_needs_strata(ctx: typer.Context, strata: str | None) -> None:
    """Refuse `--lone` where there are no strata."""
    if strata is None:
        leave_out(ctx, "lone", why="without --strata: it says what to do with strata of one unit")
        leave_out(ctx, "nested", why="without --strata: it says what a unit label in two strata means")


def not_logs(ctx: typer.Context) -> None:
    """Refuse options of logs where tables are read."""
    leave_out(ctx, "failed", "incomplete", "runs", why="for tables: it is for logs of benchmarks")


def uses_classes(metric: str) -> bool:
    """Whether a measure asks which one of two classes is the positive one."""
    from strat.verbs.metrics import named, one_by_one

    try:
        return any(named(one).looks_at_one_class for one in one_by_one(metric))
    except StratError:  # refused where it is looked up
        return True


def _default(score: str | None) -> list[str]:
    return [] if score is None else ["auc"]


def _is_option(ctx: typer.Context, name: str) -> bool:
    parameter: Any = next((p for p in ctx.command.params if p.name == name), None)
    return parameter is not None and any(option.startswith("--") for option in parameter.opts)


def spelled(ctx: typer.Context, name: str) -> str:
    """The option of this parameter, as it is typed."""
    parameter: Any = next(p for p in ctx.command.params if p.name == name)
    return str(next(option for option in parameter.opts if option.startswith("--")))


@contextmanager
def naming(**options: str) -> Iterator[None]:
    """Errors about these arguments name what the user typed instead.

    >>> with naming(path="--similarity"):
    ...     raise StratError.about("path", "must name a file, got 'x'.")
    Traceback (most recent call last):
    strat.base.errors.StratError: `--similarity` must name a file, got 'x'.
    """
    try:
        yield
    except StratError as error:
        raise error.spelled(options) from None


def picture(plot: Path | None) -> None:
    """Refuse a picture that could not be written."""
    if plot is None:
        return
    if plot.suffix.lower() not in PICTURES:
        raise StratError(f"`--plot` must end in .png, .svg or .pdf, got {str(plot)!r}.")
    if not plot.parent.is_dir():
        raise StratError(f"`--plot` must be in a folder that exists, got {str(plot)!r}.")


def numbers_of(option: str, text: str) -> list[float]:
    """Comma-separated numbers, or an error that names the option."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise StratError(f"`{option}` must be comma-separated numbers, such as 500,300, got {text!r}.") from None

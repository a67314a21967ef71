"""What the commands of `strat plan` share: options, the rows that a measure looks at, and how a plan is shown."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from strat import planning
from strat.base.errors import StratError, one_of
from strat.cli.options import leave_out, naming, picture
from strat.cli.output import Sheet, draw, emit
from strat.measures.register import every
from strat.measures.register import named as of_word

SCHEMA = "strat/plan/1"


def _of_word(word: str | None) -> str | None:
    """The word that was asked for, if it is one; an AUC, which has a plan of its own, by its one name."""
    if word is None:
        return None
    with naming(metrics="--metric"):
        return "auc" if of_word(word).name == "auc" else word


Deff = Annotated[float, typer.Option("--design-effect", help="Variance relative to independent rows.")]
Measure = Annotated[
    str | None,
    typer.Option(
        "--metric",
        help="accuracy, sensitivity (recall), specificity, precision (ppv), npv; auc for width.",
        callback=_of_word,
    ),
]
Prevalence = Annotated[float | None, typer.Option(help="Share of positive rows, for sensitivity, specificity, auc.")]
Share = Annotated[
    float | None,
    typer.Option(help="Share of rows that the measure looks at; for precision those called positive."),
]
Assurance = Annotated[float, typer.Option(help="Share of studies in which the interval must be that narrow.")]
Power = Annotated[float, typer.Option(help="Wanted power.")]
Linear = Annotated[bool, typer.Option("--linear", help="Fisher's linear classifier instead of the quadratic one.")]
BayesError = Annotated[float, typer.Option("--bayes-error", help="Expected Bayes error of the two classes.")]


def share_looked_at(ctx: typer.Context, measure: str | None, prevalence: float | None, share: float | None) -> float:
    """The share of rows that a measure looks at."""
    if measure is None or of_word(measure).looks_at == "all":
        leave_out(ctx, "prevalence", why="without a --metric that looks at one class, such as sensitivity")
        if measure is not None:
            leave_out(ctx, "share", why=f"with --metric {measure}, which looks at every row")
        return 1.0 if share is None else share
    known = of_word(measure)
    if known.name == "auc":
        raise StratError(
            "`--metric` must not be auc here; `strat plan width` plans one, with --design-effect for rows in units."
        )
    if not known.looks_at:
        one_of("--metric", measure, sorted(one.name for one in every() if one.looks_at))
    if known.looks_at.startswith("called"):
        leave_out(ctx, "prevalence", why=f"with --metric {measure}, which looks at rows by what was predicted")
        if share is None:
            raise StratError(
                f"`--share` must be given with --metric {measure}: the share of rows that are predicted "
                f"{known.looks_at.split()[1]}, for it looks at no others."
            )
        return share
    leave_out(ctx, "share", why=f"with --metric {measure}, whose share follows from --prevalence")
    positive = known_prevalence(measure, prevalence)
    return positive if known.looks_at == "positive" else 1 - positive


def known_prevalence(measure: str, prevalence: float | None) -> float:
    """The share of positive rows, which the measure needs."""
    if prevalence is None:
        rows = (
            "how many rows of each class there are decides"
            if measure == "auc"
            else "it looks at rows of one class only"
        )
        raise StratError(f"`--prevalence` must be given with --metric {measure}, the share of positive rows: {rows}.")
    if not 0 < prevalence < 1:
        raise StratError(f"`--prevalence` must lie strictly between 0 and 1, got {prevalence!r}; use a share.")
    return prevalence


def show_plan(answer: planning.SampleSize, plot: Path | None, as_json: bool) -> None:
    """Print a plan with its curve, and draw it."""
    rows = thinned(answer.sizes, answer.values)
    show(answer, plot, as_json, columns=(answer.counted, answer.measure), rows=rows)


def show(answer: Any, plot: Path | None, as_json: bool, *, columns: Any, rows: Any) -> None:
    """Print an answer with a table, and draw it."""
    save(answer, plot)
    emit(Sheet(SCHEMA, columns, rows, str(answer), (), answer.to_dict()), as_json=as_json)


def thinned(*columns: Any) -> list[tuple[Any, ...]]:
    """About ten lines of long columns, the first of them counts."""
    step = max(1, len(columns[0]) // 10)
    counts = [int(v) for v in columns[0][::step]]
    return list(zip(counts, *(c[::step].tolist() for c in columns[1:]), strict=True))


def save(answer: Any, plot: Path | None) -> None:
    """Draw the answer where a picture was asked for."""
    picture(plot)
    draw(plot, answer.plot)

"""`strat sample`: draw test items by a design, with the weights that the analysis needs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from strat.base.errors import StratError, one_of
from strat.cli import options, output

if TYPE_CHECKING:
    from strat.verbs import Sample

command = typer.Typer(add_completion=False, rich_markup_mode=None)
FORMATS = ("table", "csv", "lm-eval", "inspect")


@command.command()
def sample(
    ctx: typer.Context,
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="The list of all items.")],
    size: Annotated[int, typer.Option("--size", "-n", help="How many units to draw in all.")],
    items: Annotated[str | None, typer.Option(help="Column of item names.")] = None,
    strata: Annotated[str | None, typer.Option(help="Column of fixed groups; each gets its own sample.")] = None,
    units: Annotated[str | None, typer.Option(help="Column of what is drawn together.")] = None,
    method: Annotated[
        str, typer.Option(help="proportional, equal, neyman, systematic, simple or unequal.")
    ] = "proportional",
    spread: Annotated[str | None, typer.Option(help="For neyman: column of earlier scores.")] = None,
    order: Annotated[str | None, typer.Option(help="For systematic: column to sort by.")] = None,
    judge: Annotated[
        str | None,
        typer.Option(help="Draw rows to label: column of a cheap judgement, whose quantile groups are strata."),
    ] = None,
    bins: Annotated[int, typer.Option(help="With --judge: number of quantile groups.")] = 5,
    cut: Annotated[
        str, typer.Option(help="With --judge: where groups end: quantiles or dalenius-hodges.")
    ] = "quantiles",
    least: Annotated[int, typer.Option(help="Fewest units in a stratum, or in all without strata.")] = 2,
    seed: Annotated[int, typer.Option(help="Seed; the same one draws the same sample.")] = 0,
    na: options.Na = None,
    form: Annotated[str, typer.Option("--format", help="table, csv, lm-eval (--samples) or inspect (--sample-id).")] = (
        "table"
    ),
    as_json: output.Json = False,
    markdown: output.Markdown = False,
    latex: output.Latex = False,
    quiet: output.Quiet = False,
    to: output.Output = None,
) -> None:
    """Draw a stratified or clustered sample of test items, with weights and population sizes.

    For example:

      strat sample items.csv --size 500 --items id --strata subject --output drawn.csv

      strat sample items.csv --size 100 --items doc_id --strata task --units passage --format lm-eval

      strat sample judged.csv --size 60 --items id --judge judge --method neyman --output to_label.csv
    """
    from strat import verbs

    one_of("--format", form, FORMATS)
    _left_out(ctx, method)
    if form != "table" and (as_json or markdown or latex):
        raise StratError("`--format` must not come with --json, --markdown or --latex; choose one.")
    drawn = verbs.sample(
        files,
        size=size,
        items=items,
        strata=strata,
        units=units,
        method=method,
        spread=spread,
        order=order,
        judge=judge,
        bins=bins,
        cut=cut,
        least=least,
        seed=seed,
        na=na,
    )
    if form == "table":
        output.emit(drawn.sheet(), as_json=as_json, markdown=markdown, latex=latex, quiet=quiet, output=to)
        _say(drawn, to, quiet=quiet or as_json or markdown or latex)
        return
    text = {"csv": drawn.to_csv, "lm-eval": drawn.to_lm_eval, "inspect": drawn.to_inspect}[form]()
    if to is None:
        typer.echo(text)
    else:
        output.write(Path(to), text + "\n")
        _say(drawn, to, quiet=quiet or form != "csv")


def _say(drawn: Sample, to: Path | None, *, quiet: bool) -> None:
    """Say how to analyse what was written to a CSV file."""
    if quiet or to is None or to.suffix.lower() != ".csv":
        return
    label = "" if drawn.measured else ", with its score in place of COLUMN"
    typer.echo(
        f"{drawn}, written to {to}\n\nTo analyse it as it was drawn{label}:\n  {drawn.analysis(str(to)).command}"
    )


def _left_out(ctx: typer.Context, method: str) -> None:
    """Refuse options of other methods than the one that was chosen."""
    if method != "neyman":
        options.leave_out(ctx, "spread", why=f"with --method {method}: it is for neyman")
    if ctx.params["judge"] is None:
        options.leave_out(ctx, "bins", "cut", why="without --judge: its scores are what is binned")
    if method != "systematic":
        options.leave_out(ctx, "order", why=f"with --method {method}: it is for systematic")
    if method == "simple":
        options.leave_out(ctx, "strata", why="with --method simple, which draws from all units with equal probability")

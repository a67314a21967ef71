"""`strat votes`: a ranking from votes on pairs, with intervals that allow for who voted on what."""

from __future__ import annotations

from typing import Annotated

import typer

from strat.cli import options, output
from strat.cli.output import Form

command = typer.Typer(add_completion=False, rich_markup_mode=None)


@command.command()
@output.with_output
def votes(
    ctx: typer.Context,
    files: options.Files,
    left: Annotated[str, typer.Option(help="Column of the first system of each vote.")] = "left",
    right: Annotated[str, typer.Option(help="Column of the second one.")] = "right",
    winner: Annotated[str, typer.Option(help="Column: left, right or tie, or the winner's name.")] = "winner",
    ties: Annotated[
        str, typer.Option(help="half (half a win for each), or davidson (a parameter of their own).")
    ] = "half",
    home: Annotated[bool, typer.Option("--home", help="Adjust for an advantage of being on the left.")] = False,
    covariate: Annotated[
        list[str] | None, typer.Option(help="Column of numbers, left minus right, to adjust for (repeat for more).")
    ] = None,
    strata: options.Strata = None,
    units: options.Units = None,
    crossed: Annotated[
        list[str] | None,
        typer.Option(help="Columns that were drawn independently, such as prompt and worker (repeat)."),
    ] = None,
    weights: options.Weights = None,
    level: options.Level = 0.95,
    na: options.Na = None,
    plot: options.Picture = None,
    *,
    form: Form,
) -> None:
    """Rank systems by votes on pairs (Bradley-Terry), with intervals that allow for who voted on what.

    For example:

      strat votes votes.csv --units prompt

      strat votes votes.csv --units worker --home --ties davidson --html report.html
    """
    from strat import verbs

    options.picture(plot)
    with options.naming(**options.spelling(ctx), covariates="--covariate"):
        board = verbs.votes(
            files,
            left=left,
            right=right,
            winner=winner,
            ties=ties,
            home=home,
            covariates=covariate or None,
            design=options.sampling(ctx, crossed=crossed or None),
            level=level,
            na=na or None,
        )
    output.draw(plot, board.plot)
    form.give(board.sheet(), board)

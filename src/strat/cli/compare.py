"""`strat compare`: two or more systems on the same items, paired by item, with ranks and ties."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from strat.base.errors import StratError
from strat.cli import look, options, output
from strat.cli.output import Form, Sheet

if TYPE_CHECKING:
    from strat.verbs import Leaderboard

command = typer.Typer(add_completion=False, rich_markup_mode=None)


@command.command()
@output.with_output
def compare(
    ctx: typer.Context,
    files: options.ComparedFiles,
    truth: options.Truth = None,
    predicted: options.PredictedBySystem = None,
    score: Annotated[
        list[str] | None,
        typer.Option(
            help="Column of scores, for AUC with --truth, else how right a row is; repeat it, one for each system."
        ),
    ] = None,
    system: options.System = None,
    items: options.JoinedItems = None,
    strata: options.Strata = None,
    units: options.Units = None,
    weights: options.ItemWeights = None,
    crossed: options.Crossed = None,
    kinds: options.Kinds = None,
    order: options.Order = None,
    differences: options.Differences = 1,
    start: options.Start = None,
    stages: options.Stages = None,
    population: options.PopulationSizes = None,
    epoch: options.Epoch = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            "--metrics",
            help="Measure (repeat for more): accuracy (default), macro_f1, auc, …; for logs: their own name of one.",
        ),
    ] = None,
    by: Annotated[
        list[str] | None, typer.Option(help="Column that makes groups: compare in each of them, too.")
    ] = None,
    positive: options.Positive = None,
    threshold: options.Threshold = None,
    average: options.Average = "auto",
    baseline: Annotated[
        str | None, typer.Option(help="The system to compare the others with: differences are system − baseline.")
    ] = None,
    margin: Annotated[
        float | None,
        typer.Option(help="Two systems, with --baseline: also test equivalence and non-inferiority by this margin."),
    ] = None,
    proxy: Annotated[
        list[str] | None,
        typer.Option(help="Column of a cheap judgement of every row: of --truth, or one for each --score (repeat it)."),
    ] = None,
    probability: options.Probability = None,
    label_strata: options.LabelStrata = None,
    estimator: options.Estimator = "regression",
    systems: Annotated[
        list[str] | None, typer.Option("--systems", help="Only this system (repeat for more); else all of them.")
    ] = None,
    lower_is_better: options.LowerIsBetter = False,
    name: options.SystemNames = None,
    level: options.Level = 0.95,
    lone: options.Lone = "error",
    nested: options.Nested = False,
    unmatched: options.Unmatched = "error",
    missing: options.Missing = "error",
    na: options.Na = None,
    failed: options.Failed = "error",
    incomplete: options.Incomplete = "error",
    runs: options.Runs = "error",
    plot: options.Picture = None,
    board: Annotated[
        Path | None, typer.Option("--board", help="Write the leaderboard as one HTML file to embed elsewhere.")
    ] = None,
    feed: Annotated[Path | None, typer.Option("--feed", help="Write the leaderboard as JSON for other pages.")] = None,
    *,
    form: Form,
) -> None:
    """Compare two or more systems on the same items, paired, with ranks and ties.

    For example:

      strat compare answers.csv --truth label --predicted old --predicted new --units passage

      strat compare old.csv new.csv --items id --truth label --predicted guess --strata subject

      strat compare answers.csv --truth label --predicted old --predicted new --metric macro_f1 --by subject

      strat compare results.csv --system model --items question --score correct --strata subject

      strat compare results.csv --system model --items question --score correct --baseline old --margin 0.01

      strat compare judged_pairs.csv --score human_a --score human_b --proxy judge_a --proxy judge_b --units prompt

      strat compare logs/ --json --html report.html
    """
    from strat import verbs

    look.unless_long(ctx, files)
    options.picture(plot)
    with options.naming(**options.spelling(ctx)):
        asked = options.of_comparison(ctx, "systems") | {"proxy": options.proxy(ctx)}
        leaderboard = verbs.compare(files if len(files) > 1 else files[0], **asked)
    _check_margin(leaderboard.systems, margin, baseline)
    output.draw(plot, leaderboard.plot)
    _publish(leaderboard, board, feed)
    form.give(_sheet(leaderboard, margin), list(leaderboard.boards.values()) if leaderboard.others else leaderboard)


def _publish(result: Leaderboard, page: Path | None, feed: Path | None) -> None:
    """Write the page and the feed that were asked for."""
    if page is not None or feed is not None:
        from strat.show.report import board_feed, board_page

        if page is not None:
            with options.naming(path="--board"):
                board_page(result, page)
        if feed is not None:
            output.write(feed, json.dumps(board_feed(result), indent=1, ensure_ascii=False) + "\n")


def _check_margin(systems: tuple[str, ...], margin: float | None, baseline: str | None) -> None:
    """The baseline of a margin is named, never guessed from the scores."""
    if margin is not None and len(systems) != 2:
        raise StratError(f"`--margin` must be left out for {len(systems)} systems: it compares two.")
    if margin is not None and baseline is None:
        a, b = sorted(systems)
        raise StratError(
            f"`--margin` must come with `--baseline`, got none: choose --baseline {a} to ask whether {b} is not worse "
            f"than {a}, or --baseline {b} to ask it of {a}."
        )


def _sheet(board: Leaderboard, margin: float | None) -> Sheet:
    """The board, and with a margin the tests of equivalence and non-inferiority."""
    sheet = board.sheet()
    if margin is None:
        return sheet
    same = board.comparison.equivalence(margin)
    not_worse = board.comparison.noninferiority(margin, baseline=board.baseline)
    first, *rest = sheet.notes
    tests = [f"equivalence within {margin:g}: p = {same.pvalue:.4g}", f"{not_worse.claim}: p = {not_worse.pvalue:.4g}"]
    data = {**sheet.data, "equivalence": same.to_dict(), "noninferiority": not_worse.to_dict()}
    return replace(sheet, notes=[first, *tests, *rest], data=data)

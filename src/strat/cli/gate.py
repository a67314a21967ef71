"""`strat gate`: may a candidate replace a baseline? Three answers with exit codes, for pipelines."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from strat.base.errors import StratError
from strat.cli import options, output
from strat.cli.output import Form

command = typer.Typer(add_completion=False, rich_markup_mode=None)


@command.command()
@output.with_output
def gate(
    ctx: typer.Context,
    files: options.ComparedFiles,
    baseline: Annotated[
        str | None, typer.Option(help="The system to compare the candidate with: its name, or a stored file (--save).")
    ] = None,
    candidate: Annotated[str | None, typer.Option(help="The system in question; else the only other one.")] = None,
    margin: Annotated[
        list[str] | None,
        typer.Option(help="Largest loss that does not matter: 0.01, or macro_f1=0.02 (repeat for more measures)."),
    ] = None,
    floor: Annotated[
        list[str] | None,
        typer.Option(help="What the candidate must reach by its lower limit: 0.9, or macro_f1=0.8 (repeat for more)."),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option("--metric", "--metrics", help="Measure (repeat for more): accuracy, macro_f1, auc, …"),
    ] = None,
    by: options.By = None,
    level: Annotated[float, typer.Option(help="One-sided confidence level.")] = 0.95,
    unsure: Annotated[str, typer.Option(help="If the data can't tell: fail (exit code 4), warn or pass (0).")] = "fail",
    anytime: Annotated[
        int | None,
        typer.Option(help="Planned number of units, where the gate is run repeatedly: limits that hold at every run."),
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(
            "--save", help="Store the candidate as a baseline, whatever the answer (without --baseline: do only that)."
        ),
    ] = None,
    summary: Annotated[
        Path | None, typer.Option("--summary", help="Append Markdown to this file, such as $GITHUB_STEP_SUMMARY.")
    ] = None,
    truth: options.Truth = None,
    predicted: options.PredictedBySystem = None,
    score: Annotated[list[str] | None, typer.Option(help="Column of scores; repeat it, one for each system.")] = None,
    system: options.System = None,
    items: options.JoinedItems = None,
    epoch: options.Epoch = None,
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
    positive: options.Positive = None,
    threshold: options.Threshold = None,
    average: options.Average = "auto",
    lower_is_better: options.LowerIsBetter = False,
    name: options.SystemNames = None,
    lone: options.Lone = "error",
    nested: options.Nested = False,
    unmatched: options.Unmatched = "error",
    missing: options.Missing = "error",
    na: options.Na = None,
    failed: options.Failed = "error",
    incomplete: options.Incomplete = "error",
    runs: options.Runs = "error",
    *,
    form: Form,
) -> None:
    """Say whether a candidate is not worse than a baseline: exit code 0, 3 (worse) or 4 (can't tell).

    The one-sided limit of the paired difference decides.
    Exit codes: 0 not worse, 3 worse, 4 can't tell (0 with --unsure pass or warn); 1 and 2 are errors.

    For example:

      strat gate answers.csv --truth label --baseline old --candidate new --units passage --margin 0.02

      strat gate old.csv new.csv --items id --truth label --predicted guess --baseline old --margin 0.02 --by subject

      strat gate old.csv --items id --truth label --predicted guess --save baseline.json

      strat gate new.csv --items id --truth label --predicted guess --baseline baseline.json --margin 0.02

      strat gate answers.csv --truth label --predicted new --floor 0.9 --units passage
    """
    from strat import verbs

    naming = options.naming(**options.spelling(ctx))
    source = files if len(files) > 1 else files[0]
    only_save = save is not None and baseline is None and not floor
    with naming:
        asked = options.of_comparison(ctx, "candidate", "unsure", "anytime")
        if not only_save:
            bounds: dict[str, Any] = {"margin": _bounds("--margin", margin), "floor": _bounds("--floor", floor)}
            result = verbs.gate(source, **asked, **bounds)
        if save is not None:
            _save(verbs, source, save, asked, metric)
    if only_save:
        drawn = any(asked["design"].columns.values())
        typer.echo(
            f"stored: {save}" + ("; name strata, clusters and weights again with every candidate" if drawn else "")
        )
        return
    form.give(result.sheet(), list(result.boards.values()))
    _say(result, summary)
    if save is not None and result.exit_code:
        output.warn([f"stored: {save} holds this candidate now, although the answer is {result.answer!r}"])
    raise typer.Exit(result.exit_code)


def _bounds(option: str, given: list[str] | None) -> float | dict[str, float] | None:
    """One number, or a mapping from measure to one."""
    if not given:
        return None
    bounds: dict[str, float] = {}
    for text in given:
        measure, equal, value = text.rpartition("=")
        if measure in bounds:
            raise StratError(f"`{option}` must be given once for each measure, got {text!r} again.")
        try:
            bounds[measure] = float(value)
        except ValueError:
            raise StratError(f"`{option}` must be a number, or measure=number, got {text!r}.") from None
        if not equal and len(given) > 1:
            raise StratError(f"`{option}` must be one number, or measure=number for each measure, got {text!r}.")
    return bounds[""] if list(bounds) == [""] else bounds


def _save(verbs: Any, source: Any, path: Path, asked: dict[str, Any], metric: list[str] | None) -> None:
    """Store the candidate: the named one of several, or the only one."""
    role = {}
    for name in ("predicted", "score"):
        columns = list(asked[name])
        chosen = [asked["candidate"]] if asked["candidate"] in columns else columns
        if len(chosen) > 1:
            raise StratError(f"`--save` must store one system, got {len(columns)} columns; name it with --candidate.")
        role[name] = chosen[0] if chosen else None
    same = {name: asked[name] for name in ("items", "truth", "system", "epoch", "missing", "na")}
    name = asked["candidate"] or (asked["name"] or [None])[0]
    verbs.save_baseline(source, path, **same, **role, name=name, metrics=metric[0] if metric else None)


def _say(result: Any, summary: Path | None) -> None:
    """The Markdown for a job summary, and a warning where an open answer passes with one."""
    if summary is not None:
        before = summary.read_bytes() if summary.is_file() else b""
        output.write(summary, before + f"{result.to_markdown()}\n\n".encode(errors="backslashreplace"))
    if result.answer == "can't tell" and result.unsure == "warn":
        output.warn([result.line])
        if os.environ.get("GITHUB_ACTIONS"):
            typer.echo(f"::warning title=strat gate::{result.line}", err=True)

"""`strat demo`: the main job on bundled data, ending in an HTML report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from strat.base.errors import StratError
from strat.cli import options, output
from strat.cli.output import Sheet

if TYPE_CHECKING:
    from strat.verbs import Evaluation, Leaderboard

command = typer.Typer(add_completion=False, rich_markup_mode=None)
SCHEMA = "strat/demo/1"
TITLE = "strat demo: two systems that judge claims about passages"
NEXT = (
    "Now with a copy of the data:",
    "  strat demo --copy predictions.csv",
    "  strat evaluate predictions.csv --truth label --predicted guess --strata subject --units passage",
)


@command.command()
def demo(
    ctx: typer.Context,
    out: Annotated[Path, typer.Option("--out", help="Where to write the report.")] = Path("strat-demo.html"),
    data: Annotated[bool, typer.Option("--data", help="Print the path of the bundled data and stop.")] = False,
    copy: Annotated[Path | None, typer.Option(help="Copy the bundled data to this new file and stop.")] = None,
    as_json: output.Json = False,
    quiet: output.Quiet = False,
) -> None:
    """Do the main job on bundled data, ending in an HTML report.

    For example:

      strat demo

      strat demo --out report.html --json

      strat demo --copy predictions.csv
    """
    from strat.datasets.example import example_path

    if data:
        options.leave_out(ctx, "out", "copy", "as_json", "quiet", why="with --data, which only prints a path")
        typer.echo(example_path())
    elif copy is not None:
        options.leave_out(ctx, "out", "as_json", "quiet", why="with --copy, which only copies")
        _copy(example_path(), copy)
    else:
        _run(example_path(), out, as_json=as_json, quiet=quiet)


def _copy(source: Path, target: Path) -> None:
    if target.exists():
        raise StratError(f"`--copy` must name a new file, got {str(target)!r}, which is there already.")
    output.write(target, source.read_bytes())


def _run(source: Path, out: Path, *, as_json: bool, quiet: bool) -> None:
    from strat import verbs
    from strat.show import report

    evaluated = verbs.evaluate(
        str(source),
        truth="label",
        predicted="guess",
        score="score",
        positive="supported",
        strata="subject",
        units="passage",
    )
    board = verbs.compare(
        str(source), truth="label", predicted=("guess", "baseline"), strata="subject", units="passage"
    )
    results = {"Comparison": board, "guess": evaluated, "ROC": _curves(source)}
    written = report.write(results, out, title=TITLE)
    if as_json:
        output.emit(_joined(evaluated, board, written), as_json=True)
        return
    for sheet in (evaluated.sheet(), board.sheet()):
        output.emit(sheet, quiet=quiet)
        typer.echo()
    if not quiet:
        typer.echo("\n".join(NEXT) + "\n")
    typer.echo(f"report: {written}")


def _joined(evaluated: Evaluation, board: Leaderboard, written: Path) -> Sheet:
    data = {"report": str(written), "evaluation": evaluated.data(), "comparison": board.data()}
    return Sheet(SCHEMA, (), (), data=data)


def _curves(source: Path) -> Any:
    """The true positive rates of both systems at the same false positive rates, with one band for all."""
    import numpy as np

    from strat import Design, data, estimate, stack
    from strat.measures import rate_at

    names = ("label", "score", "baseline_score", "subject", "passage")
    label, score, baseline, subject, passage = (c.values for c in data.read(str(source)).backend.fetch(names))
    at = np.linspace(0.01, 0.99, 50)
    both = stack(
        "system",
        guess=rate_at(label, score, fpr=at, positive="supported"),
        baseline=rate_at(label, baseline, fpr=at, positive="supported"),
    )
    return estimate(both, on=Design.clustered(units=passage, strata=subject))

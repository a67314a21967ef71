"""`strat chance`: the exact test of a confusion matrix against random classification."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from strat.cli import options, output
from strat.cli.output import Sheet
from strat.columns import load
from strat.errors import StratError, one_of

SCHEMA = "strat/chance/1"

command = typer.Typer(add_completion=False, rich_markup_mode=None)


@command.command()
def chance(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A confusion matrix, or a table of predictions.")],
    truth: Annotated[str | None, typer.Option(help="Column of true labels, if FILE has one row per pattern.")] = None,
    predicted: options.Predicted = None,
    units: Annotated[str | None, typer.Option(help="Column of units whose rows hang together.")] = None,
    exchange: Annotated[
        str, typer.Option(help="With --units: exchange labels within units (exact), or whole units between.")
    ] = "within",
    permutations: Annotated[int, typer.Option(help="Permutations for --exchange between.")] = 9999,
    seed: options.Seed = 0,
    distribution: Annotated[
        bool, typer.Option("--distribution", help="Also give the whole distribution under chance.")
    ] = False,
    html: output.Html = None,
    as_json: output.Json = False,
    markdown: output.Markdown = False,
    latex: output.Latex = False,
    quiet: output.Quiet = False,
    to: output.Output = None,
) -> None:
    """Is this confusion matrix better than random classification?

    For example:

      strat chance matrix.csv --html report.html

      strat chance predictions.csv --truth label --predicted guess

      strat chance predictions.csv --truth label --predicted guess --units subject --exchange between --json
    """
    from strat import comparison
    from strat.statistics.confusion import ConfusionMatrix

    one_of("--exchange", exchange, ("within", "between"))
    if units is None:
        options.leave_out(ctx, "exchange", "permutations", why="without --units")
    if exchange != "between":
        options.leave_out(ctx, "permutations", why="without --exchange between: nothing else draws permutations")
    if (truth is None) != (predicted is None):
        raise StratError("`--truth` and `--predicted` must be given together, got one of them.")
    if truth is None or predicted is None:
        if units is not None:
            raise StratError("`--units` must come with `--truth` and `--predicted`; a matrix does not know units.")
        found = comparison.chance(_matrix(file), rng=seed)
    else:
        columns = _columns(file, [truth, predicted, *([units] if units else [])])
        t, p = columns[truth], columns[predicted]
        if units is None:
            found = comparison.chance(ConfusionMatrix.from_labels(t, p).counts, rng=seed)
        elif exchange == "within":
            options.leave_out(ctx, "seed", why="with --exchange within, which is exact")
            found = comparison.chance_within(t, p, units=columns[units])
        else:
            found = comparison.chance_between(t, p, units=columns[units], permutations=permutations, rng=seed)
    output.report(found, html)
    sheet = _sheet(found, distribution)
    output.emit(sheet, as_json=as_json, markdown=markdown, latex=latex, quiet=quiet, output=to)


def _sheet(found: Any, distribution: bool) -> Sheet:
    data = found.to_dict()
    rows: list[tuple[str, Any]] = [
        ("patterns", found.n),
        ("agreements", found.agreements),
        ("efficiency", found.efficiency),
        ("expected by chance", found.expected),
        ("p-value", found.pvalue),
        ("error of the p-value at most", found.error),
        ("method", found.method),
    ]
    if distribution:
        probabilities = found.distribution
        data["distribution"] = probabilities.tolist()
        shown = np.flatnonzero(probabilities > 1e-12)
        rows += [(f"P({k} agreements)", float(probabilities[k])) for k in shown]
    return Sheet(SCHEMA, ("", "value"), rows, title=str(found), notes=(f"null: {found.null}",), data=data)


def _columns(file: Path, names: list[str]) -> dict[str, Any]:
    from strat import tables

    return tables.read(file).columns(names)


def _matrix(path: Path) -> Any:
    """A confusion matrix: bare numbers, or with class names in the first row and column, or JSON."""
    if not path.is_file():
        raise StratError(f"`FILE` must be a file that exists, got {str(path)!r}.")
    if path.suffix.lower() == ".npy":
        return next(iter(load("FILE", path).values()), np.zeros(0))
    if path.suffix.lower() == ".json":
        from strat.statistics.confusion import ConfusionMatrix

        return ConfusionMatrix.read(path).counts
    return _numbers(path)


def _numbers(path: Path) -> Any:
    import csv

    try:
        text = path.read_text(encoding="utf-8-sig").strip().splitlines()
    except UnicodeDecodeError:
        raise StratError(f"`FILE` must be UTF-8 text, got {path.name!r}, which is not.") from None
    if not text:
        raise StratError(f"`FILE` must hold a confusion matrix, got the empty file {path.name!r}.")
    delimiter = max(",\t; ", key=text[0].count)
    try:
        grid = [[cell.strip() for cell in line] for line in csv.reader(text, delimiter=delimiter) if line]
    except csv.Error as error:
        raise StratError(f"`FILE` must hold a confusion matrix, got {path.name!r}, which is no CSV: {error}.") from None
    # Class names above the columns, unless the first line is counts of a square matrix.
    named = not _all_numbers(grid[0]) or len(grid) == len(grid[0]) + 1
    body = grid[1:] if named else grid
    if body and len(body[0]) == len(body) + 1 and (named or not _all_numbers([line[0] for line in body if line])):
        body = [line[1:] for line in body]
    if len({len(line) for line in body}) != 1 or not all(map(_all_numbers, body)):
        raise StratError(
            f"`FILE` must hold a square matrix of counts, got {path.name!r} with other things in it; for a table of "
            "predictions give --truth and --predicted."
        )
    return np.array([[float(cell) for cell in line] for line in body])


def _all_numbers(cells: list[str]) -> bool:
    try:
        [float(cell) for cell in cells]
    except ValueError:
        return False
    return True

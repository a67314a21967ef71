"""`strat compare`: two or more systems on the same items, paired by item, with ranks and ties."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from strat.cli import options, output
from strat.cli.output import Sheet
from strat.errors import StratError, StratWarning, some
from strat.words import counted

SCHEMA = "strat/compare/1"

command = typer.Typer(add_completion=False, rich_markup_mode=None)


@command.command()
def compare(
    ctx: typer.Context,
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE...", help="One table, one file for each system, or a folder of benchmark logs."),
    ],
    truth: options.Truth = None,
    predicted: Annotated[
        list[str] | None, typer.Option(help="Column of predicted labels; repeat it, one for each system.")
    ] = None,
    score: Annotated[
        list[str] | None,
        typer.Option(
            help="Column that says how right a row is; repeat it, one for each system, or once in a long table."
        ),
    ] = None,
    system: Annotated[str | None, typer.Option(help="Long tables: column of systems.")] = None,
    item: Annotated[str | None, typer.Option(help="Column of items, on which systems are joined.")] = None,
    strata: options.Strata = None,
    units: options.Units = None,
    weights: Annotated[str | None, typer.Option(help="Column of weights of items.")] = None,
    epoch: Annotated[str | None, typer.Option(help="Long tables: column of repeats of an item.")] = None,
    metric: Annotated[
        str | None, typer.Option(help="With --truth: accuracy (default), macro_f1, kappa, mcc, …; for logs: which one.")
    ] = None,
    lower_is_better: Annotated[bool, typer.Option("--lower-is-better", help="Scores are errors or costs.")] = False,
    margin: Annotated[
        float | None, typer.Option(help="Two systems: also test equivalence and non-inferiority by this margin.")
    ] = None,
    level: options.Level = 0.95,
    lone: options.Lone = "error",
    unmatched: Annotated[
        str, typer.Option(help="Items that a system lacks: error, or common (compare on the others).")
    ] = "error",
    missing: options.Missing = "error",
    failed: options.Failed = "error",
    incomplete: options.Incomplete = "error",
    runs: options.Runs = "error",
    plot: options.Picture = None,
    html: output.Html = None,
    as_json: output.Json = False,
    markdown: output.Markdown = False,
    latex: output.Latex = False,
    quiet: output.Quiet = False,
    to: output.Output = None,
) -> None:
    """Compare two or more systems on the same items, paired by item.

    For example:

      strat compare answers.csv --truth label --predicted old --predicted new --units passage

      strat compare old.csv new.csv --item id --truth label --predicted guess --strata subject

      strat compare results.csv --system model --item question --score correct --strata subject

      strat compare logs/ --json --html report.html
    """
    from strat import tables

    roles: dict[str, Any] = {"strata": strata, "units": units, "weights": weights}
    columns = {"predicted": list(predicted or ()), "scores": list(score or ())}
    if columns["predicted"] and columns["scores"]:
        raise StratError("`--predicted` and `--score` must not come together; a score needs no truth.")
    source: Any = files if len(files) > 1 else files[0]
    joined: list[str] = []
    one_column = len(columns["predicted"] + columns["scores"]) == 1
    join = len(files) > 1 and item is not None and one_column and system is None
    options.picture(plot)
    _left_out(ctx, columns, join)
    if join:
        source, columns, joined = _join(files, str(item), truth, columns, roles, unmatched, missing)
    wide = len(columns["predicted"]) > 1 or len(columns["scores"]) > 1
    _check(columns, truth, wide)
    if wide and columns["predicted"] and metric not in (None, "accuracy"):
        found, alone = _measured(source, truth, columns["predicted"], str(metric), roles, lone, missing, level)
    else:
        said: dict[str, Any] = {"level": level, "lone": lone, "missing": missing}
        said |= {"higher_is_better": not lower_is_better, "metric": None if wide else metric}
        said |= {"failed": failed, "incomplete": incomplete, "runs": runs}
        said |= (
            {"truth": truth, **columns}
            if wide
            else {
                "unmatched": unmatched,
                "system": system,
                "item": item,
                "score": score[0] if score else None,
                "epoch": epoch,
            }
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", StratWarning)  # the board repeats them as notes
            found = tables.compare(source, **roles, **said)
            alone = tables.compare(source, **roles | {"strata": None, "units": None}, **said)
    if margin is not None and len(found.systems) != 2:
        raise StratError(f"`--margin` must be left out for {len(found.systems)} systems: it compares two.")
    output.report(found, html)
    if plot is not None:
        _draw(found.many, plot, level)
    name = "accuracy" if wide and columns["predicted"] and metric in (None, "accuracy") else None
    sheet = _sheet(found, alone if strata or units else None, margin, level, joined, name)
    output.emit(sheet, as_json=as_json, markdown=markdown, latex=latex, quiet=quiet, output=to)


def _left_out(ctx: typer.Context, columns: dict[str, list[str]], join: bool) -> None:
    """Refuse options that the given files have no use for."""
    labels, scores = columns["predicted"], columns["scores"]
    if not labels:
        options.leave_out(ctx, "truth", why="without --predicted: scores need no truth")
    else:
        options.leave_out(ctx, "lower_is_better", why="with --predicted: a measure of labels knows what is better")
    if join or len(labels) > 1 or len(scores) > 1:
        options.leave_out(ctx, "system", "epoch", why="where each system has a column or a file: it is for long tables")
        options.not_logs(ctx)
        options.lone_needs_strata(ctx, ctx.params["strata"])
        if not join:
            options.leave_out(
                ctx, "item", "unmatched", why="for one table with a column for each system: a row is an item"
            )
        if not labels:
            options.leave_out(ctx, "metric", why="with --score, which is the measure")


def _sheet(found: Any, alone: Any, margin: float | None, level: float, joined: list[str], name: str | None) -> Sheet:
    """The board; for two systems also the sentence, what independent rows would have said, and the margins."""
    sheet: Sheet = found.sheet()
    data = dict(sheet.data)
    notes: list[str] = [*joined, *sheet.notes]
    if len(found.systems) == 2:
        from strat.comparison import of_estimate

        independent = None
        if alone is not None and alone.systems == found.systems:
            independent = alone.estimate
        joint = replace(found.estimate, name=name) if name else found.estimate
        pair = of_estimate(joint, independent=independent, higher_is_better=found.many.higher_is_better)
        data["comparison"] = pair.to_dict(level)
        notes.insert(0, str(pair))
        if margin is not None:
            same, not_worse = pair.equivalence(margin), pair.noninferiority(margin)
            data["equivalence"], data["noninferiority"] = same.to_dict(), not_worse.to_dict()
            notes[1:1] = [
                f"equivalence within {margin:g}: p = {same.pvalue:.4g}",
                f"{pair.names[0]} not worse by {margin:g}: p = {not_worse.pvalue:.4g}",
            ]
    else:
        best = found.many.winner(level)
        data["winner"] = {"system": best.system, "value": best.value, "corrected": best.corrected,
                          "low": best.low, "high": best.high}  # fmt: skip
        notes.insert(0, str(best))
    return replace(sheet, notes=notes, data=data)


def _draw(board: Any, path: Path, level: float) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    output.draw(board.plot(level=level).figure, path, bbox_inches="tight")


def _measured(
    source: Any,
    truth: str | None,
    predicted: list[str],
    metric: str,
    roles: dict[str, str | None],
    lone: str,
    missing: str,
    level: float,
) -> tuple[Any, Any]:
    """Boards of another measure of labels: under the design, and as if rows were independent."""
    from strat import tables
    from strat.comparison import many
    from strat.designs import Design
    from strat.tables.metrics import chosen

    one = chosen(metric, {"truth": truth, "predicted": predicted[0]})[0]
    table = tables.read(source)
    wanted = [str(truth), *predicted, *(n for n in roles.values() if n is not None)]
    table.require(truth=truth, predicted=predicted[0], **roles)
    c = table.columns(wanted, missing=missing)
    systems = {name: one.build({"truth": c[str(truth)], "predicted": c[name]}) for name in predicted}
    w = None if roles["weights"] is None else np.asarray(c[roles["weights"]], float)
    plain = Design.simple_random(n=len(c[predicted[0]]), weights=w)
    on = plain
    if roles["units"] is not None:
        by = None if roles["strata"] is None else c[roles["strata"]]
        on = Design.clustered(c[roles["units"]], strata=by, weights=w, lone=lone)
    elif roles["strata"] is not None:
        on = Design.stratified(c[roles["strata"]], weights=w, lone=lone)
    higher = one.higher_is_better
    order = sorted(predicted, key=lambda n: ((-1 if higher else 1) * float(systems[n].value(w)), n))
    boards = [many({n: systems[n] for n in order}, on=d, higher_is_better=higher) for d in (on, plain)]
    return tuple(tables.Leaderboard(board, level) for board in boards)  # type: ignore[return-value]


def _join(
    files: list[str],
    item: str,
    truth: str | None,
    columns: dict[str, list[str]],
    roles: dict[str, str | None],
    unmatched: str,
    missing: str,
) -> tuple[dict[str, Any], dict[str, list[str]], list[str]]:
    """One wide table of one file for each system, joined on the item; what does not match is an error or a note."""
    from strat import tables
    from strat.errors import one_of

    one_of("--unmatched", unmatched, ("error", "common"))
    kind = "predicted" if columns["predicted"] else "scores"
    value = (columns["predicted"] + columns["scores"])[0]
    names = _names(files)
    parts = {}
    for name, file in zip(names, files, strict=True):
        shared = [c for c in (truth, *roles.values()) if c is not None]
        table = tables.read(file)
        table.require(item=item, truth=truth, **roles)
        parts[name] = table.columns([item, value, *shared], missing=missing)
        _once(parts[name][item], file)
    common = set.intersection(*(set(p[item].tolist()) for p in parts.values()))
    note = _unmatched({n: sorted(set(p[item].tolist()) - common) for n, p in parts.items()}, len(common), unmatched)
    keys = np.array(sorted(common), dtype=parts[names[0]][item].dtype)
    made: dict[str, Any] = {item: keys}
    for name, part in parts.items():
        order = np.argsort(part[item], kind="stable")
        where = order[np.searchsorted(part[item][order], keys)]
        made[name] = part[value][where]
        for column in part:
            if column not in (item, value):
                _agree(made, column, part[column][where], keys, name)
    return made, {"predicted": [], "scores": []} | {kind: names}, note


def _agree(made: dict[str, Any], column: str, values: Any, keys: Any, name: str) -> None:
    if column in made and (made[column] != values).any():
        k = int(np.flatnonzero(made[column] != values)[0])
        raise StratError(
            f"`{column}` must be the same for an item in every file, got {made[column][k]!s} and {values[k]!s} "
            f"for item {keys[k]!s} in {name}."
        )
    made.setdefault(column, values)


def _once(keys: Any, file: str) -> None:
    distinct, count = np.unique(keys, return_counts=True)
    if (count > 1).any():
        raise StratError(
            f"`--item` must name each row of {file} once, got {some(distinct[count > 1], 3)} more than once "
            f"({counted(int((count > 1).sum()), 'item')}); use a long table with --epoch for repeats."
        )


def _unmatched(extra: dict[str, list[Any]], common: int, unmatched: str) -> list[str]:
    if not any(extra.values()):
        return []
    said = ", ".join(f"{n} has {len(k):,} that not every file has" for n, k in extra.items() if k)
    if unmatched == "common" and common:
        return [f"compared on the {counted(common, 'item')} that all files have ({said})"]
    way_out = (
        f"{common:,} are common: choose --unmatched common to compare on these."
        if common
        else "none is common: see whether items have the same names in every file."
    )
    names = some([item for items in extra.values() for item in items], 3)
    raise StratError(f"every file must have the same items, but {said} (such items are {names}); {way_out}")


def _names(files: list[str]) -> list[str]:
    stems = [Path(f).name.split(".")[0] for f in files]
    return stems if len(set(stems)) == len(stems) else list(files)


def _check(columns: dict[str, list[str]], truth: str | None, wide: bool) -> None:
    if columns["predicted"] and truth is None:
        raise StratError("`--truth` must name the column of true labels beside `--predicted`.")
    if columns["predicted"] and not wide:
        raise StratError(
            "`--predicted` must be given for two systems or more, got one; repeat it, or give one file for each system "
            "and --item."
        )

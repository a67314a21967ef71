"""`strat rank`: systems over many data sets: Friedman, Iman-Davenport, post-hoc tests, the diagram."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from strat.cli import options, output
from strat.cli.output import Sheet
from strat.errors import StratError, one_of, some
from strat.words import counted

SCHEMA = "strat/rank/1"
PAIRS = ("nemenyi", "bonferroni", "holm", "hochberg", "shaffer", "benjamini-hochberg")

command = typer.Typer(add_completion=False, rich_markup_mode=None)


@command.command()
def rank(
    ctx: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="A table of data sets × systems, or a long one.")],
    higher_is_better: Annotated[
        bool | None,
        typer.Option("--higher-is-better/--lower-is-better", help="Accuracies, or errors. Must be said."),
    ] = None,
    control: Annotated[
        str | None, typer.Option(help="Compare this system with the others, instead of all pairs.")
    ] = None,
    test: Annotated[
        str | None,
        typer.Option(
            help="nemenyi (default), bonferroni, holm (default with --control), hochberg, shaffer, benjamini-hochberg."
        ),
    ] = None,
    alternative: Annotated[
        str, typer.Option(help="With --control: two-sided, greater (the control is better), less.")
    ] = "two-sided",
    ties: Annotated[bool, typer.Option("--ties/--no-ties", help="Correct Friedman's statistic for ties.")] = True,
    alpha: Annotated[float, typer.Option(help="Level of significance.")] = 0.05,
    dataset: Annotated[str | None, typer.Option(help="Column of data sets (long tables, or not the first).")] = None,
    system: Annotated[str | None, typer.Option(help="Long tables: column of systems.")] = None,
    score: Annotated[str | None, typer.Option(help="Long tables: column of scores; repeats are averaged.")] = None,
    missing: Annotated[str, typer.Option(help="Data sets that lack a system: error or drop.")] = "error",
    plot: options.Picture = None,
    html: output.Html = None,
    as_json: output.Json = False,
    markdown: output.Markdown = False,
    latex: output.Latex = False,
    quiet: output.Quiet = False,
    to: output.Output = None,
) -> None:
    """Rank systems over many data sets and say which of them differ.

    For example:

      strat rank accuracies.csv --higher-is-better --plot cd.svg --html report.html

      strat rank errors.csv --lower-is-better --control C1 --alternative greater --test bonferroni

      strat rank runs.csv --dataset dataset --system classifier --score percent_correct --higher-is-better --json
    """
    from strat import comparison

    if higher_is_better is None:
        raise StratError(
            "`--higher-is-better` or `--lower-is-better` must be said: the numbers do not tell accuracies from errors."
        )
    if control is None:
        options.leave_out(ctx, "alternative", why="without --control: all pairs are compared on both sides")
    options.picture(plot)
    if not 0.0 < alpha < 1.0:
        raise StratError(f"`--alpha` must lie between 0 and 1, got {alpha!r}.")
    columns, notes = _table(file, dataset, system, score, missing)
    scores = comparison.scores(columns, higher_is_better=higher_is_better)
    whole = comparison.friedman(scores, higher_is_better=higher_is_better, ties=ties)
    f = comparison.iman_davenport(scores, higher_is_better=higher_is_better)
    if control is None:
        one_of("--test", test or "nemenyi", PAIRS)
        post = (
            comparison.nemenyi(scores, higher_is_better=higher_is_better)
            if test in (None, "nemenyi")
            else comparison.all_pairs(scores, higher_is_better=higher_is_better, adjust=str(test))
        )
        sheet = _all_pairs(whole, f, post, alpha, notes)
    else:
        one_of("--test", test or "holm", [t for t in PAIRS if t not in ("nemenyi", "shaffer")])
        post_control = comparison.against_control(
            scores, control=control, higher_is_better=higher_is_better, alternative=alternative, adjust=test or "holm"
        )
        sheet = _with_control(whole, f, post_control, alpha, notes)
    output.report([post if control is None else post_control, whole], html)
    if plot is not None:
        _draw(post if control is None else post_control, plot, alpha)
    output.emit(sheet, as_json=as_json, markdown=markdown, latex=latex, quiet=quiet, output=to)


def _all_pairs(whole: Any, f: Any, post: Any, alpha: float, notes: list[str]) -> Sheet:
    order = np.argsort(whole.ranks, kind="stable")
    groups = post.groups(alpha)
    letters = {s: "".join(_letter(k) for k, g in enumerate(groups) if s in g) for s in whole.systems}
    rows = [(whole.systems[k], float(whole.ranks[k]), letters[whole.systems[k]]) for k in order]
    cd = post.critical_difference(alpha)
    pairs = post.different(alpha)
    said = [
        str(whole), str(f),
        f"{post.name}: {len(pairs)} of {len(rows) * (len(rows) - 1) // 2} pairs differ at {alpha:g}"
        + (f"; critical difference {cd:.4f}" if cd is not None else ""),
        *(f"{a} better than {b}" for a, b in pairs[:12]),
        *([f"and {len(pairs) - 12} more"] if len(pairs) > 12 else []),
        "systems with a letter in common do not differ",
        *notes,
    ]  # fmt: skip
    data = {
        "friedman": whole.to_dict(), "iman_davenport": f.to_dict(), "post_hoc": post.to_dict(), "alpha": alpha,
        "critical_difference": cd, "different": [list(p) for p in pairs], "groups": [list(g) for g in groups],
        "notes": notes,
    }  # fmt: skip
    title = _size(whole)
    return Sheet(SCHEMA, ("system", "average rank", "group"), rows, title=title, notes=said, data=data)


def _with_control(whole: Any, f: Any, post: Any, alpha: float, notes: list[str]) -> Sheet:
    order = np.argsort(whole.ranks, kind="stable")
    p = dict(zip(post.others, post.pvalues.tolist(), strict=True))
    rows = [
        (s, float(whole.ranks[k]), p.get(s), "control" if s == post.control else p[s] < alpha)
        for k, s in ((int(k), whole.systems[k]) for k in order)
    ]
    data = {
        "friedman": whole.to_dict(), "iman_davenport": f.to_dict(), "post_hoc": post.to_dict(), "alpha": alpha,
        "critical_difference": post.critical_difference(alpha), "different": post.different(alpha), "notes": notes,
    }  # fmt: skip
    title = f"{_size(whole)}, {post.control} as control ({post.alternative})"
    said = (str(whole), str(f), f"{post.name}, level {alpha:g}", *notes)
    columns = ("system", "average rank", "adjusted p", "differs")
    return Sheet(SCHEMA, columns, rows, title=title, notes=said, data=data)


def _size(whole: Any) -> str:
    return f"{counted(len(whole.systems), 'system')} on {counted(whole.n, 'data set')}"


def _letter(k: int) -> str:
    return chr(ord("a") + k) if k < 26 else f"({k + 1})"


def _draw(post: Any, path: Path, alpha: float) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    output.draw(post.plot(alpha=alpha).figure, path, bbox_inches="tight")


def _table(
    file: str, dataset: str | None, system: str | None, score: str | None, missing: str
) -> tuple[dict[str, Any], list[str]]:
    """Columns by system, the names of the data sets first."""
    from strat import tables

    one_of("--missing", missing, ("error", "drop"))
    table = tables.read(file)
    if system is not None or score is not None:
        if system is None or score is None or dataset is None:
            raise StratError("a long table must be said by `--dataset`, `--system` and `--score` together.")
        return _pivot(table.columns([dataset, system, score]), dataset, system, score, missing)
    names = list(table.names)
    table.require(dataset=dataset)
    first = dataset or names[0]
    columns = {c.name: c for c in table.backend.fetch(names)}
    text = dataset is not None or np.asarray(columns[first].labels).dtype.kind in "OUS"
    numeric = [n for n in names if not (text and n == first)]
    values = {n: columns[n].numbers() for n in numeric}
    label = columns[first].values if text else np.arange(1, len(columns[first]) + 1)
    grid = {n: np.where(v.missing, np.nan, v.labels) if v.missing is not None else v.labels for n, v in values.items()}
    return _complete(label, grid, missing)


def _pivot(
    columns: dict[str, Any], dataset: str, system: str, score: str, missing: str
) -> tuple[dict[str, Any], list[str]]:
    from strat.columns import encode, numbers

    row, sets = encode(dataset, columns[dataset])
    column, systems = encode(system, columns[system])
    y = numbers(score, columns[score])
    cell = row * len(systems) + column
    count = np.bincount(cell, minlength=len(sets) * len(systems)).reshape(len(sets), -1)
    total = np.bincount(cell, y, minlength=count.size).reshape(count.shape)
    with np.errstate(invalid="ignore"):
        means = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    grid = {str(s): means[:, k] for k, s in enumerate(systems)}
    made, notes = _complete(sets.astype(str), grid, missing)
    if count.max() > 1:
        notes.append(f"{count[count > 0].min()} to {count.max()} runs of a system on a data set averaged")
    return made, notes


def _complete(label: Any, grid: dict[str, Any], missing: str) -> tuple[dict[str, Any], list[str]]:
    names = np.asarray([str(v) for v in label])
    lost = np.isnan(np.column_stack(list(grid.values()))).any(axis=1) if grid else np.zeros(len(names), bool)
    if not lost.any() or missing == "error":
        return {"data set": names, **grid}, []
    kept = {"data set": names[~lost], **{n: v[~lost] for n, v in grid.items()}}
    of = counted(len(lost), "data set")
    return kept, [f"{int(lost.sum())} of {of} dropped for a missing cell: {some(names[lost])}"]

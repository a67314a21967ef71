"""From comparisons of systems to what the report says about them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

from strat.columns import Array
from strat.comparison.critical_difference import cliques
from strat.comparison.many import DRAWS, SEED, ManySystems
from strat.report import charts
from strat.report.parts import Answer, Bar, Block, Figure, Grid, Mark, Picker, Section, Told
from strat.report.references import topics_of
from strat.report.sections import facts_of, methods_of
from strat.report.wording import number, percent, places, stop
from strat.tables.compare import Leaderboard
from strat.tables.out import Sheet, jsonable
from strat.words import counted

if TYPE_CHECKING:
    from strat.comparison.data_sets import Friedman
    from strat.comparison.paired import Comparison
    from strat.comparison.posthoc import AgainstControl, AllPairs

ALL_PAIRS = 66
DATA_PAIRS = 5_000
ALPHA = 0.05
NAMED_PAIRS = 4


def of_many(found: ManySystems) -> Told:
    """Systems with their joint covariance, at the usual level."""
    return of_leaderboard(Leaderboard(_sorted(found), 0.95))


def _sorted(found: ManySystems) -> ManySystems:
    """The same systems, best first."""
    order = found.order
    if order == list(range(len(order))):
        return found
    made = found.estimate
    axes = tuple(replace(a, labels=tuple(a.labels[k] for k in order)) for a in made.axes[:1])
    put = replace(
        made,
        point=made.point[order],
        variance=made.variance[order],
        spread=None if made.spread is None else made.spread[:, order],
        srs=None if made.srs is None else lambda: made.srs_variance[order],
        worth=made.worth if np.ndim(made.worth) == 0 else np.asarray(made.worth)[order],
        axes=axes or made.axes,
    )
    return ManySystems(tuple(found.systems[k] for k in order), put, found.higher_is_better)


def of_leaderboard(board: Leaderboard) -> Told:
    """The leaderboard, all differences at once, and the groups that are not told apart."""
    made = board.estimate
    sections = [_board(board), _differences(board)]
    if len(board.systems) > 2:
        sections.append(_groups(board))
    count = len(board.systems) * (len(board.systems) - 1) // 2
    simultaneous = (
        f"Differences are paired by item. Their intervals and p-values hold for all {count:,} pairs at once: max-t, "
        f"critical value {board.many.critical(board.level):.3f}, {DRAWS:,} draws, seed {SEED}."
    )
    return Told(
        answer=_leads(board),
        sections=tuple(sections),
        facts=(*facts_of(made), ("Systems", f"{len(board.systems):,}, on the same items")),
        methods=(
            *methods_of(made),
            simultaneous
            if count > 1
            else "The difference is paired by item; its interval is Student's t as it stands.",
        ),
        topics=topics_of(made) | ({"max-t", "winner"} if count > 1 else set()),
        warnings=board.notes,
        data={"schema": "strat/compare/1", **_board_data(board, count)},
    )


def _board_data(board: Leaderboard, count: int) -> dict[str, Any]:
    if count <= DATA_PAIRS:
        return board.data()
    columns = board.to_dict()
    return jsonable({
        "level": board.level, "design": board.estimate.design, "target": board.estimate.target,
        "leaderboard": [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)],
        "tied_with_best": board.tied, "notes": board.notes, "pairs_left_out": count,
    })  # fmt: skip


def _leads(board: Leaderboard) -> Answer:
    many, names = board.many, board.systems
    low, high = (float(side[0, 1]) for side in many.intervals(board.level))
    gap, d = float(many.differences[0, 1]), places(float(many.errors[0, 1]))
    share = percent(board.level)
    if len(names) > 2:
        return _leads_many(board)
    sign = 1.0 if many.higher_is_better else -1.0
    gap, (low, high) = sign * gap, sorted((sign * low, sign * high))
    said = f"by {number(gap, d)}, with a {share} interval from {number(low, d)} to {number(high, d)}."
    bar = (Bar(f"{names[0]} less {names[1]}" if sign > 0 else f"{names[1]} less {names[0]}", low, gap, high),)
    first, second = (f"{name} ({number(float(v), d)})" for name, v in zip(names, many.values, strict=True))
    if low > 0:
        return Answer(f"{first} is better than {second} {said}", "", bar, 0.0)
    return Answer(f"{first} is not shown to be better than {second}: they differ {said}", "", bar, 0.0)


def _leads_many(board: Leaderboard) -> Answer:
    many, names = board.many, board.systems
    value, d = float(many.values[0]), places(float(np.ravel(board.estimate.se)[0]))
    first, last = (int(side[0]) for side in many.ranks(board.level))
    rank = f"rank {first}" if first == last else f"rank {first} to {last}"
    tied = [name for name in board.tied if name != names[0]]
    if not tied:
        said = "and is better than every other one"
    elif len(tied) <= 3:
        said = f"and is not told apart from {', '.join(tied)}"
    else:
        said = f"and is not told apart from {len(tied)} of them"
    sentence = f"{names[0]} leads {len(names):,} systems with {number(value, d)} ({rank}) {said}."
    best = many.winner(board.level)
    beside = (
        f"Corrected for having been chosen because it came first: {number(best.corrected, d)}, "
        f"{percent(board.level)} {number(best.low, d)} to {number(best.high, d)}."
    )
    return Answer(sentence, beside)


def _board(board: Leaderboard) -> Section:
    columns = board.to_dict()
    share = percent(board.level)
    order = ("rank", "system", "score", "se", "low", "high")
    rows = list(zip(*(columns[c] for c in order), strict=True))
    marks = tuple(
        Mark(v, low, high, name=name)
        for name, v, low, high in zip(*(columns[c] for c in ("system", "score", "low", "high")), strict=True)
    )
    sheet = Sheet("", ("rank", "system", board.estimate.name, "se", f"{share} low", f"{share} high"), rows)
    note = "Rank intervals hold for all systems together; each score's interval holds for that system alone."
    blocks: list[Block] = [Grid(sheet, f"Systems with {share} intervals", marks, after=2, note=note)]
    return Section("Systems", tuple(blocks), _ties_sentence(board))


def _ties_sentence(board: Leaderboard) -> str:
    first, *tied = board.tied
    if not tied and len(board.systems) == 2:
        return f"{board.systems[1]} is told apart from {first}."
    if not tied:
        return f"Every other system is told apart from {first}."
    more = f" and {len(tied) - 8} more" if len(tied) > 8 else ""
    return f"Not told apart from {first}: {', '.join(tied[:8])}{more}."


def _differences(board: Leaderboard) -> Section:
    count = len(board.systems) * (len(board.systems) - 1) // 2
    every = count <= ALL_PAIRS
    pairs = _pairs(board, every=every)
    share = percent(board.level)
    names = ("better", "worse", "difference", "se", f"{share} low", f"{share} high", "p adjusted")
    rows = list(zip(*(pairs[c] for c in ("better", "worse", "difference", "se", "low", "high", "p")), strict=True))
    marks = tuple(Mark(r[2], r[4], r[5], name=f"{r[0]} − {r[1]}") for r in rows)
    caption = "Differences of all pairs" if every else f"Differences from {board.systems[0]}, the first"
    blocks: list[Block] = [Grid(Sheet("", names, rows), caption, marks, after=3, reference=0.0)]
    if not every:
        blocks.append(_picker(board))
    lead = f"Paired by item; intervals and p-values hold for all {count:,} pairs at once."
    return Section("Differences", tuple(blocks), lead if count > 1 else "Paired by item.")


def _pairs(board: Leaderboard, *, every: bool) -> dict[str, list[Any]]:
    many, names = board.many, board.systems
    i, j = np.triu_indices(len(names), 1)
    if not every:
        i, j = np.zeros(len(names) - 1, int), np.arange(1, len(names))
    low, high = many.intervals(board.level)
    return {
        "better": [names[k] for k in i],
        "worse": [names[k] for k in j],
        "difference": many.differences[i, j].tolist(),
        "se": many.errors[i, j].tolist(),
        "low": low[i, j].tolist(),
        "high": high[i, j].tolist(),
        "p": many.pvalues()[i, j].tolist(),
    }


def _picker(board: Leaderboard) -> Picker:
    i, j = np.triu_indices(len(board.systems), 1)
    return Picker(
        board.systems,
        _short(board.many.values),
        _short(board.many.errors[i, j]),
        _short(board.many.pvalues()[i, j]),
        float(f"{board.many.critical(board.level):.6g}"),
        board.level,
    )


def _short(values: Array) -> tuple[float, ...]:
    return tuple(float(f"{v:.6g}") for v in values.tolist())


def _groups(board: Leaderboard) -> Section:
    many = board.many
    groups = cliques(np.abs(many.t) <= many.critical(board.level))
    unit = f"{board.estimate.name}, best first"
    picture = charts.ladder(board.systems, many.values.tolist(), groups, falling=many.higher_is_better, unit=unit)
    return Section("Who is told apart", (_ladder_figure(picture, board.systems, groups),))


def _ladder_figure(picture: Markup, names: Sequence[str], groups: Sequence[tuple[int, int]]) -> Figure:
    caption = "A bar joins systems of which no two are told apart."
    if not groups:
        return Figure(picture, "Every two systems are told apart.", "Every two systems are told apart.")
    said = "; ".join(", ".join(names[first : last + 1]) for first, last in groups[:20])
    return Figure(picture, caption, f"Groups of systems not told apart: {said}")


# ---- two systems


def of_comparison(found: Comparison, name: str = "") -> Told:
    """Two systems by one measure."""
    low, high = found.interval()
    rows: list[tuple[Any, ...]] = [("as sampled", found.value, found.se, low, high, found.pvalue)]
    bars = [Bar("as sampled", low, found.value, high)]
    if found.independent is not None:
        a, b = (float(side) for side in found.independent.interval())
        alone = found.independent
        rows.append(("rows independent", found.value, float(alone.se), a, b, float(alone.test(0.0).pvalue)))
        bars.append(Bar("rows independent", a, found.value, b, naive=True))
    marks = tuple(Mark(r[1], r[3], r[4], name=str(r[0])) for r in rows)
    sheet = Sheet("", ("variance", f"{found.names[0]} − {found.names[1]}", "se", "95 % low", "95 % high", "p"), rows)
    values = Sheet("", ("system", found.metric), list(zip(found.names, found.values, strict=True)))
    blocks = (Grid(values, "Values"), Grid(sheet, "Difference", marks, reference=0.0))
    sentence, _, beside = str(found).partition("; ")
    made = found.difference
    return Told(
        answer=Answer(stop(sentence), stop(beside), tuple(bars), 0.0),
        sections=(Section(name or f"{found.names[0]} and {found.names[1]}", blocks),),
        facts=(*facts_of(made), ("Pairing", "same items" if found.paired else "different items of the same strata")),
        methods=methods_of(made),
        topics=topics_of(made),
        data=jsonable({"schema": "strat/compare/1", **found.to_dict()}),
    )


# ---- many data sets


def of_all_pairs(found: AllPairs, name: str = "") -> Told:
    """All pairs by average ranks, with the critical-difference diagram."""
    order = np.argsort(found.ranks, kind="stable")
    names = [found.systems[k] for k in order]
    groups = cliques(found.pvalues[np.ix_(order, order)] >= ALPHA)
    cd = found.critical_difference(ALPHA)
    picture = _ranks_picture(names, found.ranks[order], groups, cd)
    ranks, pvalues = found.ranks[order], found.pvalues[np.ix_(order, order)]
    rows = [
        (names[a], names[b], float(ranks[b] - ranks[a]), float(pvalues[a, b]))
        for a, b in zip(*np.triu_indices(len(names), 1), strict=True)
    ]
    grid = Grid(Sheet("", ("better", "worse", "difference of ranks", "p adjusted"), rows), "All pairs")
    section = Section(name or "Ranks over data sets", (_ladder_figure(picture, names, groups), grid))
    return _ranked(_pairs_sentence(found, names), section, found.n, len(names), found.to_dict())


def _pairs_sentence(found: AllPairs, names: list[str]) -> str:
    """The result's own sentence while it is short, and counts when it would list many pairs."""
    count = len(found.different(ALPHA))
    if count <= NAMED_PAIRS:
        return str(found)
    pairs = len(names) * (len(names) - 1) // 2
    best = f"{names[0]} has the best average rank of {len(names):,} systems"
    return f"{best}; {count:,} of {pairs:,} pairs differ at {percent(ALPHA)} ({found.name}, {found.n:,} data sets)."


def of_control(found: AgainstControl, name: str = "") -> Told:
    """One system against all others by average ranks."""
    order = np.argsort(found.ranks, kind="stable")
    names = [found.systems[k] for k in order]
    same = dict(zip(found.others, (found.pvalues >= ALPHA).tolist(), strict=True)) | {found.control: True}
    joined = [k for k, s in enumerate(names) if same[s]]
    groups = [(min(joined), max(joined))] if len(joined) > 1 else []
    picture = _ranks_picture(names, found.ranks[order], groups, found.critical_difference(ALPHA))
    rows = list(zip(found.others, found.z.tolist(), found.pvalues.tolist(), strict=True))
    grid = Grid(Sheet("", ("system", "z", "p adjusted"), rows), f"Against {found.control}")
    caption = f"The bar joins {found.control} with systems that it is not told apart from."
    figure = Figure(picture, caption, stop(str(found)))
    section = Section(name or "Ranks over data sets", (figure, grid))
    return _ranked(str(found), section, found.n, len(names), found.to_dict())


def of_friedman(found: Friedman, name: str = "") -> Told:
    """The test that all systems are equal, by ranks."""
    rows = sorted(zip(found.systems, found.ranks.tolist(), strict=True), key=lambda r: r[1])
    grid = Grid(Sheet("", ("system", "average rank"), rows), "Average ranks, 1 is the best")
    section = Section(name or "Are all systems equal?", (grid,))
    return _ranked(str(found), section, found.n, len(rows), found.to_dict())


def _ranks_picture(names: list[str], ranks: Array, groups: list[tuple[int, int]], cd: float | None) -> Markup:
    difference = None if cd is None or not math.isfinite(cd) else (cd, f"CD = {cd:.2f} (α = {ALPHA:g})")
    return charts.ladder(
        names, ranks.tolist(), groups, difference=difference, unit="average rank", limits=(1.0, float(len(names)))
    )


def _ranked(said: str, section: Section, sets: int, systems: int, data: dict[str, Any]) -> Told:
    compared = f"{counted(systems, 'system')} on {counted(sets, 'data set')}"
    facts = (("Compared", compared), ("Answers for", "data sets of this kind"))
    test = f"Test: {data['test']}."
    plain = jsonable({"schema": "strat/rank/1", **data})
    return Told(Answer(stop(said)), (section,), facts, (test,), frozenset({"ranks"}), data=plain)

"""From comparisons of systems to what the report says about them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

from strat.base.errors import StratError
from strat.base.limits import LIMITS
from strat.base.notes import records
from strat.base.text import counted, of_class
from strat.base.validate.columns import Array
from strat.comparison.critical_difference import cliques
from strat.comparison.many_systems import ManySystems
from strat.comparison.paired_sentence import answers
from strat.show.render import Sheet, jsonable
from strat.show.report.ladders import ladder
from strat.show.report.model import Answer, Bar, Block, Figure, Grid, Mark, Picker, Section, Told
from strat.show.report.of_estimates import facts_of, methods_of
from strat.show.report.references import topics_of
from strat.show.report.wording import named, number, percent, places, stop
from strat.verbs.leaderboard import Leaderboard

if TYPE_CHECKING:
    from strat.comparison.data_sets import Friedman
    from strat.comparison.paired_result import Comparison
    from strat.comparison.posthoc import AgainstControl, AllPairs

ALL_PAIRS = 66
ALPHA = 0.05
NAMED_PAIRS = 4


def of_many(systems: ManySystems) -> Told:
    """Systems with their joint covariance, at the usual level."""
    return of_leaderboard(Leaderboard(systems.best_first(), 0.95))


def of_leaderboard(board: Leaderboard) -> Told:
    """The leaderboard, all differences at once, and the groups that are not distinguishable."""
    estimate = board.estimate
    sections = [_board(board), *_by_group(board), _differences(board)]
    if len(board.systems) > 2:
        sections.append(_groups(board))
    count = len(board.systems) * (len(board.systems) - 1) // 2
    simultaneous = (
        f"Differences are paired by item. Their intervals and p-values hold for all {count:,} pairs at once: max-t, "
        f"critical value {board.many.critical(board.level):.3f}, {board.many.max_t}."
    )
    return Told(
        answer=_leads(board),
        sections=tuple(sections),
        facts=(*facts_of(estimate), ("Systems", f"{len(board.systems):,}, on the same items")),
        methods=(
            *methods_of(estimate),
            simultaneous
            if count > 1
            else "The difference is paired by item; its interval is Student's t, without adjustment.",
        ),
        topics=topics_of(estimate) | ({"max-t", "winner"} if count > 1 else set()),
        notes=board.notes,
        data={"schema": "strat/compare/4", **_board_data(board, count)},
        title=f"{named(estimate)} of {counted(len(board.systems), 'system')}",
    )


def _board_data(board: Leaderboard, count: int) -> dict[str, Any]:
    if count <= LIMITS.data_pairs:
        return board.data()
    columns = board.to_dict()
    return jsonable({
        "level": board.level, "measure": board.estimate.name, "positive": board.positive,
        "design": board.estimate.design_text, "target": board.estimate.target,
        "leaderboard": [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)],
        "tied_with_best": board.tied, "notes": records(board.notes), "pairs_left_out": count,
    })  # fmt: skip


def _leads(board: Leaderboard) -> Answer:
    many, names = board.many, board.systems
    if len(names) > 2:
        return _leads_many(board)
    pair = many.between([0], [1])
    low, high = (float(side[0, 0]) for side in pair.limits(many.critical(board.level)))
    gap, d = float(pair.differences[0, 0]), places(float(pair.errors[0, 0]))
    share = percent(board.level)
    sign = 1.0 if many.higher_is_better else -1.0
    gap, (low, high) = sign * gap, sorted((sign * low, sign * high))
    text = f"by {number(gap, d)}, with a {share} interval from {number(low, d)} to {number(high, d)}."
    bar = (Bar(f"{names[0]} − {names[1]}" if sign > 0 else f"{names[1]} − {names[0]}", low, gap, high),)
    first, second = (f"{name} ({number(float(v), d)})" for name, v in zip(names, many.values, strict=True))
    if low > 0:
        return Answer(f"{first} is better than {second} {text}", "", bar, 0.0)
    return Answer(f"{first} is not shown to be better than {second}: they differ {text}", "", bar, 0.0)


def _leads_many(board: Leaderboard) -> Answer:
    many, names = board.many, board.systems
    value, d = float(many.values[0]), places(float(np.ravel(board.estimate.se)[0]))
    first, last = (int(side[0]) for side in many.ranks(board.level))
    rank = f"rank {first}" if first == last else f"rank {first} to {last}"
    tied = [name for name in board.tied if name != names[0]]
    if not tied:
        text = "and is better than every other one"
    elif len(tied) <= 3:
        text = f"and is not distinguishable from {', '.join(tied)}"
    else:
        text = f"and is not distinguishable from {len(tied)} of them"
    sentence = f"{names[0]} leads {len(names):,} systems with {number(value, d)} ({rank}) {text}."
    best = many.winner(board.level)
    limits = f"{percent(board.level)} {number(best.low, d)} to {number(best.high, d)}"
    beside = f"Corrected for having been chosen because it came first: {number(best.corrected, d)}, {limits}."
    return Answer(sentence, beside)


def _by_group(board: Leaderboard) -> list[Section]:
    """The comparison in each group, as the table of the leaderboard has it."""
    if not board.by:
        return []
    columns = replace(board, others=()).to_dict()
    rows = list(zip(*columns.values(), strict=True))
    grid = Grid(Sheet("", tuple(columns), rows), f"By {', '.join(board.by)}", ())
    lead = "Each interval holds for its group alone."
    if board.differences is not None:
        with suppress(StratError):
            lead = f"Test that the difference is the same in all groups: p = {board.test().pvalue:.3g}. {lead}"
    return [Section(f"By {', '.join(board.by)}", (grid,), lead)]


def _board(board: Leaderboard) -> Section:
    columns = replace(board, by=(), each={}, differences=None, others=()).to_dict()
    share = percent(board.level)
    order = ("rank", "system", "score", "se", "low", "high")
    rows = list(zip(*(columns[c] for c in order), strict=True))
    marks = tuple(
        Mark(v, low, high, name=name)
        for name, v, low, high in zip(*(columns[c] for c in ("system", "score", "low", "high")), strict=True)
    )
    measure = board.estimate.name + of_class(board.positive)
    sheet = Sheet("", ("rank", "system", measure, "se", f"{share} low", f"{share} high"), rows)
    note = "Each score's interval holds for that system alone."
    if len(board.systems) > 2:
        note = f"Intervals of ranks hold for all systems together. {note}"
    blocks: list[Block] = [Grid(sheet, f"Systems with {share} intervals", marks, after=2, note=note)]
    return Section("Systems", tuple(blocks), _ties_sentence(board))


def _ties_sentence(board: Leaderboard) -> str:
    first, *tied = board.tied
    if not tied and len(board.systems) == 2:
        return f"{board.systems[1]} is distinguishable from {first}."
    if not tied:
        return f"Every other system is distinguishable from {first}."
    more = f" and {len(tied) - 8} more" if len(tied) > 8 else ""
    return f"Not distinguishable from {first}: {', '.join(tied[:8])}{more}."


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
    if len(board.systems) > LIMITS.picker_systems:
        lead += f" Pairs of the first {LIMITS.picker_systems} systems can be chosen; others are left out."
    return Section("Differences", tuple(blocks), lead if count > 1 else "Paired by item.")


def _pairs(board: Leaderboard, *, every: bool) -> dict[str, list[Any]]:
    many, names = board.many, board.systems
    i, j = np.triu_indices(len(names), 1)
    if not every:
        i, j = np.zeros(len(names) - 1, int), np.arange(1, len(names))
    pairs = many.between(range(len(names)) if every else [0])
    low, high = pairs.limits(many.critical(board.level))
    return {
        "better": [names[k] for k in i],
        "worse": [names[k] for k in j],
        "difference": pairs.differences[i, j].tolist(),
        "se": pairs.errors[i, j].tolist(),
        "low": low[i, j].tolist(),
        "high": high[i, j].tolist(),
        "p": many.adjusted(pairs)[i, j].tolist(),
    }


def _picker(board: Leaderboard) -> Picker:
    shown = min(len(board.systems), LIMITS.picker_systems)
    i, j = np.triu_indices(shown, 1)
    pairs = board.many.between(range(shown), range(shown))
    return Picker(
        board.systems[:shown],
        _short(board.many.values[:shown]),
        _short(pairs.errors[i, j]),
        _short(board.many.adjusted(pairs)[i, j]),
        float(f"{board.many.critical(board.level):.6g}"),
        board.level,
    )


def _short(values: Array) -> tuple[float, ...]:
    return tuple(float(f"{v:.6g}") for v in values.tolist())


def _groups(board: Leaderboard) -> Section:
    many = board.many
    groups = cliques(many.same(board.level))
    unit = f"{board.estimate.name}, best first"
    picture = ladder(board.systems, many.values.tolist(), groups, falling=many.higher_is_better, unit=unit)
    return Section("Which systems differ", (_ladder_figure(picture, board.systems, groups),))


def _ladder_figure(picture: Markup, names: Sequence[str], groups: Sequence[tuple[int, int]]) -> Figure:
    caption = "A bar joins systems of which no two are distinguishable."
    if not groups:
        return Figure(picture, "Every two systems are distinguishable.", "Every two systems are distinguishable.")
    text = "; ".join(", ".join(names[first : last + 1]) for first, last in groups[:20])
    return Figure(picture, caption, f"Groups of systems that are not distinguishable: {text}")


# ---- two systems


def of_comparison(comparison: Comparison, name: str = "") -> Told:
    """Two systems by one measure."""
    low, high = comparison.interval()
    rows: list[tuple[Any, ...]] = [("as sampled", comparison.value, comparison.se, low, high, comparison.pvalue)]
    bars = [Bar("as sampled", low, comparison.value, high)]
    if comparison.independent is not None:
        a, b = comparison.independent_interval()
        se = float(comparison.independent.se)
        rows.append(("rows independent", comparison.value, se, a, b, comparison.independent_pvalue))
        bars.append(Bar("rows independent", a, comparison.value, b, naive=True))
    marks = tuple(Mark(r[1], r[3], r[4], name=str(r[0])) for r in rows)
    sheet = Sheet(
        "", ("variance", f"{comparison.names[0]} − {comparison.names[1]}", "se", "95 % low", "95 % high", "p"), rows
    )
    values = Sheet("", ("system", comparison.metric), list(zip(comparison.names, comparison.values, strict=True)))
    blocks = (Grid(values, "Values"), Grid(sheet, "Difference", marks, reference=0.0))
    sentence, beside = answers(comparison)
    difference = comparison.difference
    return Told(
        answer=Answer(stop(sentence), stop(beside), tuple(bars), 0.0),
        sections=(Section(name or f"{comparison.names[0]} and {comparison.names[1]}", blocks),),
        facts=(
            *facts_of(difference),
            ("Pairing", "same items" if comparison.paired else "different items of the same strata"),
        ),
        methods=methods_of(difference),
        topics=topics_of(difference),
        notes=difference.notes,
        data=jsonable({"schema": "strat/compare/4", **comparison.to_dict()}),
    )


# ---- many data sets


def of_all_pairs(pairs: AllPairs, name: str = "") -> Told:
    """All pairs by average ranks, with the critical-difference diagram."""
    order = np.argsort(pairs.ranks, kind="stable")
    names = [pairs.systems[k] for k in order]
    groups = cliques(pairs.pvalues[np.ix_(order, order)] >= ALPHA)
    cd = pairs.critical_difference(ALPHA)
    picture = _ranks_picture(names, pairs.ranks[order], groups, cd)
    ranks, pvalues = pairs.ranks[order], pairs.pvalues[np.ix_(order, order)]
    rows = [
        (names[a], names[b], float(ranks[b] - ranks[a]), float(pvalues[a, b]))
        for a, b in zip(*np.triu_indices(len(names), 1), strict=True)
    ]
    grid = Grid(Sheet("", ("better", "worse", "difference of ranks", "p adjusted"), rows), "All pairs")
    section = Section(name or "Ranks over data sets", (_ladder_figure(picture, names, groups), grid))
    return _ranked(pairs, _pairs_sentence(pairs, names), section, len(names))


def _pairs_sentence(result: AllPairs, names: list[str]) -> str:
    """The result's own sentence while it is short, and counts when it would list many pairs."""
    count = len(result.different(ALPHA))
    if count <= NAMED_PAIRS:
        return result.sentence
    pairs = len(names) * (len(names) - 1) // 2
    best = f"{names[0]} has the best average rank of {len(names):,} systems"
    return f"{best}; {count:,} of {pairs:,} pairs differ at {percent(ALPHA)} ({result.name}, {result.n:,} data sets)."


def of_control(control: AgainstControl, name: str = "") -> Told:
    """One system against all others by average ranks."""
    order = np.argsort(control.ranks, kind="stable")
    names = [control.systems[k] for k in order]
    same = dict(zip(control.others, (control.pvalues >= ALPHA).tolist(), strict=True)) | {control.control: True}
    joined = [k for k, s in enumerate(names) if same[s]]
    groups = [(min(joined), max(joined))] if len(joined) > 1 else []
    picture = _ranks_picture(names, control.ranks[order], groups, control.critical_difference(ALPHA))
    rows = list(zip(control.others, control.z.tolist(), control.pvalues.tolist(), strict=True))
    grid = Grid(Sheet("", ("system", "z", "p adjusted"), rows), f"Against {control.control}")
    caption = f"The bar joins {control.control} with systems that it is not distinguishable from."
    figure = Figure(picture, caption, stop(control.sentence))
    section = Section(name or "Ranks over data sets", (figure, grid))
    return _ranked(control, control.sentence, section, len(names))


def of_friedman(test: Friedman, name: str = "") -> Told:
    """The test that all systems are equal, by ranks."""
    rows = sorted(zip(test.systems, test.ranks.tolist(), strict=True), key=lambda r: r[1])
    grid = Grid(Sheet("", ("system", "average rank"), rows), "Average ranks, 1 is the best")
    section = Section(name or "Are all systems equal?", (grid,))
    return _ranked(test, test.sentence, section, len(rows))


def _ranks_picture(names: list[str], ranks: Array, groups: list[tuple[int, int]], cd: float | None) -> Markup:
    difference = None if cd is None or not math.isfinite(cd) else (cd, f"CD = {cd:.2f} (α = {ALPHA:g})")
    return ladder(
        names, ranks.tolist(), groups, difference=difference, unit="average rank", limits=(1.0, float(len(names)))
    )


def _ranked(result: AllPairs | AgainstControl | Friedman, sentence: str, section: Section, systems: int) -> Told:
    data = result.to_dict()
    compared = f"{counted(systems, 'system')} on {counted(result.n, 'data set')}"
    facts = (("Compared", compared), ("Target of inference", "data sets of this kind"))
    test = f"Test: {data['test']}."
    plain = jsonable({"schema": "strat/rank/2", **data})
    return Told(Answer(stop(sentence)), (section,), facts, (test,), frozenset({"ranks"}), result.notes, plain)

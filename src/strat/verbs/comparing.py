"""From a board to a leaderboard: the joint estimate of all systems, in groups of rows too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from strat.base.errors import StratError, near, some
from strat.base.notes import Note
from strat.base.validate.columns import Array
from strat.comparison.many import facts_of_pairs
from strat.comparison.many_systems import ManySystems
from strat.comparison.paired import notes_on_difference, of_estimate
from strat.designs import Design
from strat.designs.from_columns import design_of
from strat.designs.sampling import Sampling
from strat.estimation import Estimate, estimate
from strat.measures import Statistic
from strat.measures.register import Measure
from strat.verbs.board import Board, joint
from strat.verbs.board_folding import folded
from strat.verbs.grouping import Parts, grouped, rows_by_label
from strat.verbs.groups import Groups
from strat.verbs.hints import averages, classes_as_strata, coded_scores, looks_spent, pooled_over_crossed, traps
from strat.verbs.leaderboard import Leaderboard
from strat.verbs.log_hints import looks_clustered
from strat.verbs.metrics import told_by


@dataclass(frozen=True)
class Way:
    """How boards are compared: what all measures and groups share."""

    level: float
    sampling: Sampling
    positive: object
    higher_is_better: bool | None
    baseline: str | None
    by: tuple[str, ...]

    def better(self, metric: Measure) -> bool:
        """Whether a larger value is a better one: the measure's own word, or the caller's where it has none."""
        return metric.upwards if self.higher_is_better is None else self.higher_is_better


def known_baseline(way: Way, systems: Sequence[str]) -> None:
    """Fail unless the baseline is one of the systems."""
    if way.baseline is not None and str(way.baseline) not in systems:
        raise StratError.about(
            "baseline", f"must be one of the systems, got {way.baseline!r}; {near(str(way.baseline), list(systems))}"
        )


@dataclass(frozen=True, eq=False)
class _Task:
    """One measure, to be compared between the systems of a board.

    Attributes
    ----------
    board
        The systems, best first.
    metric, way
        The measure, and how it is compared.
    labels
        All labels of the truth and of every system, in a group as in all rows.
    design
        The design of the rows.
    """

    board: Board
    metric: Measure
    way: Way
    labels: tuple[Any, ...] | None
    design: Design

    def statistic(self, board: Board) -> Statistic:
        """The measure of all systems together, on a board of theirs."""
        return joint(board, self.metric, labels=self.labels, positive=self.way.positive)

    def systems(self, statistic: Statistic, values: Estimate, design: Design) -> ManySystems:
        """The systems, with what is known of each pair of them."""
        pairs = facts_of_pairs(statistic, values, design)
        return ManySystems(self.board.systems, values, self.way.better(self.metric), **pairs)


def compared(board: Board, metric: Measure, way: Way) -> Leaderboard:
    """The leaderboard of one measure, with its groups."""
    if len(board.systems) < 2:
        raise StratError.about("source", f"must hold at least two systems to compare, got {some(board.systems)} alone.")
    known_baseline(way, board.systems)
    hints = _hints(board, metric, way)
    task = _task(board, metric, way)
    board, statistic = task.board, task.statistic(task.board)
    whole = estimate(statistic, on=task.design)
    systems = task.systems(statistic, whole, task.design)
    of_two = notes_on_difference(whole, task.design, systems.discordance) if len(board.systems) == 2 else ()
    leaderboard = Leaderboard(
        systems,
        way.level,
        (*board.notes, *whole.notes, *of_two, *averages([metric], {metric.word: whole}), *hints),
        measure=metric.word,
        baseline=way.baseline,
        independent=_independent(task),
        library=board.library,
    )
    return _in_groups(leaderboard, task) if way.by else leaderboard


def _task(board: Board, metric: Measure, way: Way) -> _Task:
    """The measure on the design of the rows, with the systems best first."""
    board = folded(board, metric)
    design = design_of(
        board.drawn,
        rows=len(board),
        counts=board.counts,
        weights=board.columns.get("weights"),
        sampling=way.sampling,
    )
    task = _Task(board, metric, way, board.labels, design)
    with np.errstate(over="ignore", invalid="ignore"):  # what is too large is refused with the estimate
        statistic = task.statistic(board)
        values = np.asarray(statistic.value(board.mass))
    metric = told_by(metric, statistic)
    order = np.argsort(-values if way.better(metric) else values, kind="stable")
    return replace(task, metric=metric, board=board.ordered([int(k) for k in order]))


def _independent(task: _Task) -> Callable[[], Estimate] | None:
    """What makes the values of two systems as if every row were an independent draw, where the design is another."""
    board, design = task.board, task.design
    if len(board.systems) != 2 or (design.kind == "simple random" and design.rows_are_units):
        return None
    return lambda: _of_independent_rows(task)


def _of_independent_rows(task: _Task) -> Estimate:
    board = task.board
    kept = {role: column for role, column in board.columns.items() if role in ("truth", "weights", "items")}
    alone = board if board.counts is not None else folded(replace(board, columns=kept), task.metric)
    rows = design_of({}, rows=len(alone), counts=alone.counts, weights=alone.columns.get("weights"))
    return estimate(task.statistic(alone), on=rows)


def _hints(board: Board, metric: Measure, way: Way) -> list[Note]:
    """What looks clustered, and strata or units that look wrong."""
    units, strata = board.columns.get("units"), board.columns.get("strata")
    notes = traps(units=units, strata=strata, names=board.names, rows=len(board))
    weighted = "weights" in board.columns or way.sampling.population is not None
    notes += classes_as_strata(board.names, [metric], weighted=weighted)
    notes += pooled_over_crossed([metric], way.sampling)
    if board.role == "score" and "truth" not in board.columns:
        notes += coded_scores(dict(zip(board.systems, board.values, strict=True)))
        if way.higher_is_better is None and metric.upwards:
            notes += looks_spent([board.names.get("score") or "", *board.systems])
    if units is None and board.about:
        weights = board.columns.get("weights")
        notes += looks_clustered(board.about, _scores(board, way.better(metric)), strata=strata, weights=weights)
    return notes


def _scores(board: Board, higher: bool) -> list[tuple[str, Array]]:
    """How right each row of the best two systems is, their difference first; nothing where rows say it together."""
    if board.role == "score" and "truth" in board.columns:
        return []
    truth = board.columns.get("truth")
    rows = [np.asarray(v if truth is None else v == truth, float) for v in board.values]
    best = np.argsort([-float(row.mean()) if higher else float(row.mean()) for row in rows], kind="stable")[:2]
    (a, first), (b, second) = ((board.systems[k], rows[k]) for k in best)
    return [(f"the difference {a} − {b}", first - second), (a, first), (b, second)]


def _in_groups(whole: Leaderboard, task: _Task) -> Leaderboard:
    """The leaderboard with one of each group of rows; of two systems, with their differences and the test of these."""
    two, higher = len(whole.systems) == 2, whole.many.higher_is_better
    second = whole.comparison.names[1] if two else task.way.baseline
    each: dict[Any, Leaderboard] = {}

    def make(label: Any, statistic: Statistic, rows: Any) -> tuple[Estimate, Design]:
        inside = task.design.restricted(rows)
        values = estimate(statistic, on=inside)
        if values.least_df <= 0:
            raise StratError("all its rows belong to one unit, so that it has no standard error.")
        many = task.systems(statistic, values, inside).best_first()
        each[label] = Leaderboard(many, task.way.level, values.notes, task.metric.word, second)
        pair = of_estimate(values, higher_is_better=higher, baseline=second if two else None)
        return pair.difference, inside

    counts = np.ones(len(task.board)) if task.board.counts is None else task.board.counts
    groups: Groups = grouped(task.metric, task.way.by, *_parts(task), task.design, counts, make)
    leaderboard = replace(whole, by=task.way.by, each=each, rows=groups.rows, undefined=groups.undefined)
    if not two:
        return leaderboard
    name = f"difference {' − '.join(whole.comparison.names)}"
    differences = replace(groups, metric=name, higher_is_better=higher)
    return replace(leaderboard, differences=differences)


def _parts(task: _Task) -> tuple[Parts, dict[Any, str]]:
    """For each group its rows and the joint statistic of these; and the reason where it is undefined."""
    board, weights = task.board, task.board.mass
    parts: Parts = {}
    undefined: dict[Any, str] = {}
    for label, rows in rows_by_label(board.columns, [f"by_{k}" for k in range(len(task.way.by))]).items():
        try:
            statistic = task.statistic(board.take(rows))
            if not np.isfinite(statistic.value(None if weights is None else weights[rows])).all():
                raise StratError("it is not defined on these rows.")
        except StratError as error:
            undefined[label] = str(error)
        else:
            parts[label] = (rows, statistic)
    return parts, undefined

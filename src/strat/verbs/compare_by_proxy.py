"""`compare` with a proxy: systems whose true judgements are there in some rows, and a cheap judgement in all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from strat.base.errors import StratError
from strat.base.notes import Note
from strat.comparison.many_systems import ManySystems
from strat.data.table import Table
from strat.designs.from_columns import design_of
from strat.estimation import Estimate, estimate
from strat.estimation.functions import Difference
from strat.estimation.two_phase import Phases, fixed_coefficients, of_phases, phases_of
from strat.measures.register import Measure
from strat.verbs.board import Board, joint
from strat.verbs.comparing import Way
from strat.verbs.leaderboard import Leaderboard
from strat.verbs.two_phase import LabelledRows, Proxy, gain_note, labelled_rows, not_random


def compared_by_proxy(
    table: Table,
    systems: Sequence[str],
    roles: Mapping[str, str | None],
    second: Proxy,
    way: Way,
    metric: Measure,
) -> Leaderboard:
    """The leaderboard of systems in columns of a table, by the truth of some rows and the proxy of all.

    With a truth, each proxy stands in for it; without, there is one proxy for each system's column of scores.
    """
    by_truth = roles.get("truth") is not None
    rows = _of_truth(table, systems, roles, second) if by_truth else _of_scores(table, systems, roles, second)
    heavy = rows.columns.get("weights")
    design = design_of(
        rows.columns,
        rows=len(rows.labelled),
        weights=None if heavy is None else heavy.astype(float),
        sampling=way.sampling,
    )
    board = Board(tuple(systems), tuple(rows.columns[_key(s)] for s in systems), _role(metric), rows.columns)
    phases = _phases(board, rows, metric, way, second, by_truth=by_truth)
    values = {
        name: estimate(of_phases(phases, fixed_coefficients(name, None, phases), design.weights), on=design)
        for name in dict.fromkeys((second.estimator, "labels"))
    }
    whole = values[second.estimator]
    many = ManySystems(board.systems, whole, way.better(metric)).best_first()
    first, other = many.systems[:2]
    notes = (
        *_gain(f"difference {first} − {other}", whole, values["labels"], (first, other), board.systems, rows),
        *not_random(phases, second.names if by_truth else ("proxy",), design),
        *whole.notes,
    )
    return Leaderboard(many, way.level, notes, measure=metric.word, baseline=way.baseline, library=table.library)


def _key(system: str) -> str:
    return f"system:{system}"


def _role(metric: Measure) -> str:
    return "predicted" if "predicted" in metric.needs else "score"


def _of_truth(table: Table, systems: Sequence[str], roles: Mapping[str, str | None], second: Proxy) -> LabelledRows:
    return labelled_rows(table, {**roles, **{_key(system): system for system in systems}}, second)


def _of_scores(table: Table, systems: Sequence[str], roles: Mapping[str, str | None], second: Proxy) -> LabelledRows:
    """Rows in which every system has its true score are the labelled ones."""
    if len(second.names) != len(systems):
        raise StratError.about(
            "proxy",
            f"must name a column for each of the {len(systems)} systems, in the order of `score`, got "
            f"{len(second.names)}.",
        )
    plain = {role: name for role, name in roles.items() if role != "truth"}
    each = [
        labelled_rows(table, {**plain, "score": system}, replace(second, columns=proxy))
        for system, proxy in zip(systems, second.names, strict=True)
    ]
    labelled = np.logical_and.reduce([one.labelled for one in each])
    if not labelled.any():
        raise StratError.about(
            "score", "must have values of all systems in some rows, got none; give rows with labels of all systems."
        )
    columns = {role: values for role, values in each[0].columns.items() if role != "score"}
    columns |= {_key(system): one.columns["score"] for system, one in zip(systems, each, strict=True)}
    proxies = tuple(one.proxies[0] for one in each)
    return LabelledRows(columns, "score", proxies, labelled, each[0].probability, each[0].strata)


def _phases(board: Board, rows: LabelledRows, metric: Measure, way: Way, second: Proxy, *, by_truth: bool) -> Phases:
    """The measure of all systems at once, by the truth and by the proxies."""
    if by_truth:
        others = [replace(board, columns={**rows.columns, "truth": proxy}) for proxy in rows.proxies]
    else:
        others = [replace(board, values=rows.proxies)]
    labels = board.labels

    def measured(one: Board) -> Any:
        return joint(one, metric, labels=labels, positive=way.positive)

    words = [measured(one) for one in others]
    either = None
    if by_truth:
        either = rows.either(
            rows.columns["truth"],
            rows.proxies[0],
            words[0],
            lambda truth: measured(replace(board, columns={**rows.columns, "truth": truth})),
        )
    return phases_of(
        measured(board),
        words,
        either=either,
        labelled=rows.labelled,
        probability=rows.probability,
        strata=rows.strata,
        units=rows.columns.get("units"),
        by_stratum=second.estimator == "stratified",
    )


def _gain(
    what: str, value: Estimate, alone: Estimate, pair: tuple[str, str], systems: tuple[str, ...], rows: LabelledRows
) -> tuple[Note, ...]:
    """What the proxy brings to the difference of the two best systems."""
    a, b = (systems.index(name) for name in pair)
    both = [one.map(Difference(a, b)) for one in (value, alone)]
    return gain_note(what, both[0], both[1], int(rows.labelled.sum()))

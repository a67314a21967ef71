"""What the measures of an evaluation rest on: cells, the design of their rows, and the estimates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from strat import replication
from strat.base.errors import StratError, near
from strat.base.limits import LIMITS
from strat.base.validate.columns import encode, numbers
from strat.data.cells import Cells
from strat.data.reduce import reduce
from strat.designs import Design
from strat.designs.from_columns import GROUP, design_of
from strat.estimation import Estimate, estimate
from strat.measures.register import Measure
from strat.verbs.binning_bounds import require_bounds
from strat.verbs.decisions import with_decisions
from strat.verbs.evaluation_arguments import COUNTED
from strat.verbs.group_lines import LaterEstimates
from strat.verbs.grouping import in_groups
from strat.verbs.groups import Groups
from strat.verbs.metrics import columns_of
from strat.verbs.pictures import ScoredRows
from strat.verbs.sources import Basis, Question, Sources, Split
from strat.verbs.stream import fits, two_passes

_CLASSES = 60  # of a confusion matrix that a result keeps


def basis_of_replicates(
    source: Sources, wanted: Sequence[Measure], prefix: str, df: str | float | None = None
) -> Basis:
    """Estimates by the replicate weights of a file, whose names start with `prefix`, row by row."""
    table, sampling = source.table, source.sampling
    named = {role: name for role, name in source.roles.items() if name is not None}
    chosen = [name for name in table.names if name.startswith(prefix)]
    if not chosen:
        raise StratError.about(
            "replicate_weights", f"must be how the names of columns start, got {prefix!r}; {near(prefix, table.names)}"
        )
    wanted_names = [*named.values(), str(source.weights), *chosen]
    values = table.columns(list(dict.fromkeys(wanted_names)), missing=source.missing)
    columns = {role: values[name] for role, name in named.items()}
    weights = numbers("weights", values[str(source.weights)])
    dropped = len(table) - len(weights)
    cells = Cells(columns, np.ones(len(weights)), weights, dropped=dropped)
    if source.threshold is not None:
        above = numbers("score", columns["score"]) >= source.threshold
        cells = with_decisions(replace(cells, columns={**columns, "above": above}), source.positive)
    design = design_of(cells.columns, rows=len(weights), weights=weights, sampling=sampling)
    replicates = replication.given(design, weights=values, prefix=prefix, scale=sampling.scale, mse=sampling.mse)
    estimates = {m.word: estimate(m.build(columns_of(cells, source.positive)), on=replicates, df=df) for m in wanted}
    return Basis(cells, design, cells.columns, estimates, {})


def scored_rows(basis: Basis, positive: object, level: float) -> ScoredRows | None:
    """The rows that curves are drawn of, unless they stayed in a file."""
    columns = basis.cells.columns
    if "truth" not in columns or "score" not in columns or basis.labels is not columns:
        return None
    return ScoredRows(columns["truth"], columns["score"], basis.design, positive, level)


def split_of(wanted: Sequence[Measure], roles: Mapping[str, str | None], question: Question) -> Split:
    """Every measure by the columns asked for; without any, the first measure by stratum."""
    if question.by:
        if question.method != "taylor":
            raise StratError.about("by", f"must go with method='taylor', the closed form, got {question.method!r}.")
        return Split(tuple(wanted), question.by, tuple(role for role in roles if role.startswith(GROUP)))
    if roles["strata"] is None or question.method != "taylor":
        return Split()
    return Split((wanted[0],), (str(roles["strata"]),), ("strata",))


def basis_of(source: Sources, wanted: Sequence[Measure], question: Question) -> Basis:
    """The estimates by the replicate weights of a file, by two passes over a large one, or from cells."""
    if source.sampling.replicate_weights is not None:
        return basis_of_replicates(source, wanted, source.sampling.replicate_weights, question.df)
    split = split_of(wanted, source.roles, question)
    return basis_of_file(source, wanted, split, question) or basis_of_cells(source, wanted, split, question)


def basis_of_file(source: Sources, wanted: Sequence[Measure], split: Split, question: Question) -> Basis | None:
    """Two passes over a large file, where they pay and say the same."""
    sampling = source.sampling
    unweighted = sampling.population is not None and sampling.weights is None
    if sampling.layout is not None or sampling.by_stratum or question.df is not None:
        return None
    if unweighted or question.target == "benchmark" or not fits(source.table, source.roles, question.method):
        return None
    if source.threshold is not None or (
        any(m.by_rows for m in wanted) and len(source.table) <= LIMITS.rows_made_of_cells
    ):
        return None
    if any(m.of == "item" for m in wanted):
        return None
    return two_passes(source, wanted, split)


def basis_of_cells(source: Sources, wanted: Sequence[Measure], split: Split, question: Question) -> Basis:
    """Distinct rows with their units, and estimates on the design of these."""
    cells = _cells(source, wanted)
    design = design_of(
        cells.columns,
        rows=len(cells),
        counts=cells.counts,
        weights=cells.weights,
        sampling=source.sampling,
        target=question.target,
    )
    estimates = {metric.word: _estimate(metric, cells, design, question, source.positive) for metric in wanted}

    def in_each(metric: Measure) -> Groups:
        return in_groups(metric, cells, split, source.positive, design)

    if split.metrics and not question.by:
        strata = LaterEstimates(lambda: in_each(split.metrics[0]).each)
        return Basis(cells, design, cells.columns, estimates, {}, strata)
    return Basis(cells, design, cells.columns, estimates, {one.word: in_each(one) for one in split.metrics})


def _named(source: Sources) -> dict[str, str | None]:
    """The columns that tell cells apart, by role."""
    named = dict(source.roles)
    for role, name in source.sampling.by_stratum.items():
        source.table.require(**{role: name})
        named[role] = name
    if source.weights is not None and source.roles["units"] is None and source.roles["items"] is None:
        named["weights"] = source.weights  # rows of one cell then share their weight
    return named


def _cells(source: Sources, wanted: Sequence[Measure]) -> Cells:
    """The distinct rows; each row where a measure needs them one by one."""
    cells = reduce(
        source.table,
        _named(source),
        weights=source.weights,
        missing=source.missing,
        bins=source.bins,
        threshold=source.threshold,
    )
    if cells.binning is not None:
        require_bounds(wanted, cells)
    if source.threshold is not None:
        cells = with_decisions(cells, source.positive)
    if any(metric.by_rows for metric in wanted) and cells.rows <= LIMITS.rows_made_of_cells:
        return cells.each_row()
    if any(metric.of == "item" for metric in wanted):
        raise StratError.about(
            "metrics",
            f"of repeats must be of at most {LIMITS.rows_made_of_cells:,} rows here, got {cells.rows:,}; use "
            "strat.compare, or score each item first.",
        )
    return cells


def _estimate(metric: Measure, cells: Cells, design: Design, question: Question, positive: object) -> Estimate:
    statistic = metric.build(columns_of(cells, positive))
    if question.method == "taylor":
        return estimate(statistic, on=design, df=question.df)
    if design.n_units > LIMITS.rows_made_of_cells:
        raise StratError.about(
            "method",
            f"must be 'taylor' for {design.n_units:,} rows without units, or give `units`; replicates of so "
            "many single rows would not fit.",
        )
    expanded, rows = design.expanded()
    return estimate(statistic.repeated(rows), on=replicates_by(expanded, question), df=question.df)


def replicates_by(design: Design, question: Question) -> Any:
    """The replicates of a design by the method that was asked for."""
    method = question.method
    if method == "fay":
        return replication.fay(design, rho=0.5)
    if method in COUNTED:
        number = COUNTED[method] if question.replicates is None else question.replicates
        return getattr(replication, method)(design, replicates=number)
    return getattr(replication, method)(design)


def confusion_of(cells: Cells) -> tuple[Any, Any]:
    """The labels, and how many rows of each class were predicted as which; None where there are too many classes."""
    if "truth" not in cells.columns or "predicted" not in cells.columns:
        return None, None
    (truth, actual), (predicted, predictions) = (encode(role, cells.columns[role]) for role in ("truth", "predicted"))
    labels = np.unique(np.concatenate([actual, predictions]))
    if len(labels) > _CLASSES:
        return None, None
    place = np.searchsorted(labels, actual)[truth] * len(labels) + np.searchsorted(labels, predictions)[predicted]
    flat = np.bincount(place, cells.mass, minlength=len(labels) ** 2)
    return labels, flat.reshape(len(labels), len(labels))

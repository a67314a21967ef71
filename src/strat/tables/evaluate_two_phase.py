"""An evaluation of two phases: a truth that some rows have, helped by proxies that all have."""

from __future__ import annotations

from collections.abc import Sequence

from strat.designs import Design
from strat.errors import StratError
from strat.tables.design import (
    GROUP,
    design_of,
)
from strat.tables.evaluation import Evaluation
from strat.tables.evaluation_basis import replicates_by
from strat.tables.metrics import (
    Metric,
)
from strat.tables.sources import Question, Sources, named_roles
from strat.tables.two_phase import LabelledRows, Proxy, TwoPhase, labelled_rows


def evaluate_two_phase(source: Sources, wanted: Sequence[Metric], second: Proxy, question: Question) -> Evaluation:
    """Measures of a truth that some rows have, helped by proxies that all have."""
    if source.threshold is not None or source.sampling.by_stratum:
        raise StratError.about(
            "proxy",
            "must not come with `threshold`, nor with a column as `population` or `collapse_by`.",
        )
    rows = labelled_rows(source.table, source.roles, second)
    number, design = len(rows.labelled), _design(source, rows, question)
    on = design if question.method == "taylor" else replicates_by(design, question)
    job = TwoPhase(rows, second, design, source.positive, on)
    estimates = {metric.name: job.estimate(metric) for metric in wanted}
    roles = [role for role in source.roles if role.startswith(GROUP)]
    groups = {metric.name: job.groups(metric, question.by, roles) for metric in wanted} if question.by else {}
    notes = [note for one, more in estimates.values() for note in (*more, *one.notes)]
    notes += [note for _, more in groups.values() for note in more]
    labels = int(rows.labelled.sum())
    return Evaluation(
        estimates={name: one for name, (one, _) in estimates.items()},
        level=question.level,
        rows=number,
        dropped=0,
        design=f"two phases, {design.summary}; {labels:,} of {number:,} rows labelled",
        target=design.target,
        method=f"{second.estimator} on {', '.join(second.names)}, {next(iter(estimates.values()))[0].method}",
        warnings=tuple(dict.fromkeys(notes)),
        by=question.by,
        groups={name: one for name, (one, _) in groups.items()},
        library=source.table.library,
        source=source.table.file,
        roles={**named_roles(source.roles, source.weights, question.by), "proxy": ", ".join(second.names)},
    )


def _design(source: Sources, rows: LabelledRows, question: Question) -> Design:
    """The design of all rows, labelled or not."""
    return design_of(
        rows.columns,
        rows=len(rows.labelled),
        weights=None if source.weights is None else source.table.numbers(source.weights),
        sampling=source.sampling,
        target=question.target,
    )

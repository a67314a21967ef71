"""An evaluation of two phases: a truth that some rows have, helped by proxies that all have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from strat.designs import Design
from strat.designs.from_columns import GROUP, design_of
from strat.measures.register import Measure
from strat.verbs.evaluation import Evaluation
from strat.verbs.evaluation_basis import replicates_by
from strat.verbs.sources import Question, Sources, named_roles
from strat.verbs.two_phase import LabelledRows, Proxy, TwoPhase, labelled_rows

Result = TypeVar("Result")


def evaluate_two_phase(source: Sources, wanted: Sequence[Measure], second: Proxy, question: Question) -> Evaluation:
    """Measures of a truth that some rows have, helped by proxies that all have."""
    rows = labelled_rows(source.table, source.roles, second)
    number, labels, design = len(rows.labelled), int(rows.labelled.sum()), _design(source, rows, question)
    on = design if question.method == "taylor" else replicates_by(design, question)
    job = TwoPhase(rows, second, design, source.positive, on)
    estimates, notes = _apart(wanted, job.estimate)
    roles = [role for role in source.roles if role.startswith(GROUP)]
    grouped = wanted if question.by else ()
    groups, more = _apart(grouped, lambda metric: job.groups(metric, question.by, roles))
    return Evaluation.of(
        estimates,
        level=question.level,
        rows=number,
        design=f"two phases, {design.summary}; {labels:,} of {number:,} rows labelled",
        method=f"{second.estimator} on {', '.join(second.names)}, {next(iter(estimates.values())).method}",
        notes=tuple(dict.fromkeys([*notes, *more])),
        by=question.by,
        groups=groups,
        library=source.table.library,
        source=source.table.file,
        roles={**named_roles(source.roles, source.weights, question.by), "proxy": ", ".join(second.names)},
    )


def _apart(
    metrics: Sequence[Measure], make: Callable[[Measure], tuple[Result, Sequence[str]]]
) -> tuple[dict[str, Result], list[str]]:
    """What is made of each measure, by its name, and the notes on all of them."""
    each = {metric.word: make(metric) for metric in metrics}
    return {name: one for name, (one, _) in each.items()}, [note for _, notes in each.values() for note in notes]


def _design(source: Sources, rows: LabelledRows, question: Question) -> Design:
    """The design of all rows, labelled or not."""
    return design_of(
        rows.columns,
        rows=len(rows.labelled),
        weights=None if source.weights is None else source.table.numbers(source.weights),
        sampling=source.sampling,
        target=question.target,
    )

"""`evaluate`: from a table of predictions to measures with intervals that know how the rows were drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from strat.base import validate
from strat.base.notes import Note
from strat.base.validate.arguments import checked
from strat.base.validate.names import Names, listed
from strat.data.table import Table, read
from strat.designs.from_columns import GROUP, argument_of
from strat.designs.sampling import Sampling, sampling_of
from strat.measures.register import AUTO
from strat.verbs.evaluate_two_phase import evaluate_two_phase
from strat.verbs.evaluation import Evaluation
from strat.verbs.evaluation_arguments import check_arguments
from strat.verbs.evaluation_basis import basis_of, confusion_of, scored_rows
from strat.verbs.evaluation_notes import notes_on
from strat.verbs.log_columns import LoggedSystem, logged_system
from strat.verbs.metrics import Metrics, chosen, one_class, repeated
from strat.verbs.sources import Basis, Question, Sources, named_roles
from strat.verbs.two_phase import Proxy, proxy_of


@checked
def evaluate(
    source: Any,
    *,
    truth: str | None = None,
    predicted: str | None = None,
    score: str | None = None,
    strata: str | None = None,
    units: str | None = None,
    clusters: str | None = None,
    items: str | None = None,
    weights: str | None = None,
    lone: str = "error",
    nested: bool = False,
    design: Sampling | None = None,
    metrics: Metrics | None = None,
    by: str | Names | None = None,
    average: str | None = AUTO,
    threshold: float | None = None,
    positive: object = None,
    method: str = "taylor",
    replicates: int | None = None,
    target: str | None = None,
    level: float = 0.95,
    df: str | float | None = None,
    missing: str = "error",
    na: Names | None = None,
    bins: int | None = None,
    proxy: str | Names | Proxy | None = None,
) -> Evaluation:
    """Measures of a classifier or a benchmark with intervals that fit how the rows were drawn.

    The rows are aggregated where they are stored (one group-by); everything after that is small.

    Parameters
    ----------
    source
        A file, a glob, a data frame of any library, or a mapping of columns: whatever :func:`strat.read` takes,
        or the table that it returns (where columns are text, or memory is short); or benchmark logs of one system,
        which are scored already: a folder, files, or what :func:`read_logs` returns.
    truth, predicted
        Columns of labels (of numbers, for rmse and similar measures).
    score
        A column of numbers: for AUC, Brier score and the like beside `truth`, or, without `truth`, a
        per-row score such as 0/1 correctness.
    strata
        Fixed groups that cover the population (subjects, tasks, classes).
    units, clusters
        What was drawn (passages, patients, repositories), by either name; without it each row, or each item.
    items
        What each row is a try of; repeats are a second stage.
    weights
        A column: how many rows of the population each row stands for.
    lone
        What to do with a stratum of one unit: "error", "collapse", "certainty", "centre" or "average".
    nested
        Whether the same unit label in two strata means two units; by default it is an error.
    design
        Instead of the seven above, all that is known of how the rows were drawn: crossed factors, fixed kinds,
        systematic samples, stages, population sizes, replicate weights of a file; see :class:`strat.Sampling`.
    metrics
        Names such as "accuracy", "macro_f1", "auc", "sensitivity", "ppv", "brier", "rmse", or functions of (truth,
        predicted) that make a statistic.
    by
        A column, or several, that make groups (each combination is one): every measure in each group, with an interval
        of its own, the test that all are equal, the gaps and the worst group.
    average
        How f1, precision, recall, specificity and jaccard treat classes: "macro", "micro", "weighted", or None for one
        value of each class. By default: the positive class of two, the macro average of more.
    threshold
        Predict the positive class for rows whose score is at least this, the other class for the rest.
    positive
        The class that measures of one class look at (f1, precision, recall, specificity, auc, …). None: 1 if the labels
        are 0 and 1 or −1 and 1, True if they are False and True; any other two must be named. With more classes, f1 and
        similar measures are macro averages unless a class is named.
    method
        "taylor" (closed form) or replicates: "brr", "fay", "generalized", "multi_array", "partially_balanced",
        "jackknife", "bootstrap".
    replicates
        Number of replicates of "bootstrap" (1,000 by default); the most that "partially_balanced" may take (64 by
        default), at a stated loss of degrees of freedom.
    target
        "population" (rows of this kind, the default) or "benchmark" (exactly these units: only repeats vary).
    level
        Confidence level.
    df
        Degrees of freedom: "design" (units minus strata, as in R), "effective", "satterthwaite" or a number, as
        :func:`strat.estimate` takes them; None: its default.
    missing
        "error" refuses missing values by name and count; "drop" leaves those rows out.
    na
        Strings that mark a missing value, instead of the usual "", "NA", "N/A", "NaN", "null", "None", "." and so on.
    bins
        How finely to bin scores of rows that stay in an engine (None: exact up to 10,000,000 rows, and if few are
        distinct).
    proxy
        A column, or several, with a cheap judgement of every row (a model as judge) where `truth`, or `score` alone, is
        the true one of some rows and missing by design in the others: an estimate of two phases. :class:`strat.Proxy`
        says how rows were chosen for labels, if not at random.

    Returns
    -------
    Evaluation
        With `.estimates`, `.groups`, `.to_frame()`, `.paper()`, `.to_json()`, `.to_markdown()`, `.to_latex()`,
        `.to_csv()`, `.plot()`, `.report(path)`.

    Examples
    --------
    >>> table = {"truth": list("aabbaabb"), "guess": list("aabaaabb"), "who": [1, 1, 1, 1, 2, 2, 3, 3]}
    >>> result = evaluate(table, truth="truth", predicted="guess", units="who", metrics="accuracy")
    >>> result["accuracy"].value
    0.875
    >>> result.design
    'clustered: 8 rows in 3 units; 2 degrees of freedom'
    """
    groups = () if by is None else tuple(listed("by", by))
    question = Question(method, target, validate.level(level), groups, replicates, df)
    sampling = sampling_of(
        design, strata=strata, units=units, clusters=clusters, items=items, weights=weights, lone=lone, nested=nested
    )
    second = proxy_of(proxy)
    roles = {"truth": truth, "predicted": predicted, "score": score}
    check_arguments(question, sampling, roles, proxy=second, threshold=threshold)
    source, metrics, score, sampling, logs = _scored(source, metrics, roles, sampling)
    table = read(source, na=na)
    roles |= {"score": score} | {role: sampling.columns[role] for role in ("strata", "units", "items")}
    wanted = chosen(metrics, roles, average, decided=threshold is not None, table=table)
    one_class(wanted, positive)
    roles |= _required(table, roles, sampling, groups)
    columns = Sources(table, roles, sampling, missing, bins, positive, threshold)
    if second is not None:
        return evaluate_two_phase(columns, wanted, second, question)
    basis = basis_of(columns, wanted, question)
    of_logs = () if logs is None else logs.notes(sampling.units, sampling.weights)
    return _evaluation(columns, basis, question, (*notes_on(columns, basis, wanted), *of_logs))


def _scored(
    source: Any, metrics: Metrics | None, roles: Mapping[str, str | None], sampling: Sampling
) -> tuple[Any, Metrics | None, str | None, Sampling, LoggedSystem | None]:
    """The source, the measures, the column of scores and the sampling; those of logs where the source is one."""
    of_repeats = any(repeated(metrics))
    logs = logged_system(
        source,
        labelled=roles["truth"] is not None or roles["score"] is not None,
        metric=None if of_repeats else metrics,
        score=roles["score"],
        strata=sampling.strata,
        items=sampling.items,
    )
    if logs is None:
        return source, metrics, roles["score"], sampling, None
    sampling = replace(sampling, strata=logs.strata, items=logs.items)
    return logs.samples.to_table(), metrics if of_repeats else None, logs.score, sampling, logs


def _required(table: Table, roles: Mapping[str, str | None], sampling: Sampling, by: Sequence[str]) -> dict[str, str]:
    """The roles of the layout and of groups, once the columns of all roles are known to be there."""
    table.require(**roles, weights=sampling.weights)
    drawn = sampling.drawn
    for role, name in drawn.items():
        table.require(**{argument_of(role): name})
    for name in by:
        table.require(by=name)
    return {**drawn, **{f"{GROUP}{place}": name for place, name in enumerate(by)}}


def _evaluation(columns: Sources, basis: Basis, question: Question, notes: tuple[Note, ...]) -> Evaluation:
    """The result, with what its tables, pictures and reports need."""
    by = question.by
    labels, confusion = confusion_of(basis.cells)
    return Evaluation.of(
        basis.estimates,
        level=question.level,
        rows=basis.cells.rows,
        dropped=basis.cells.dropped,
        marks=basis.cells.marks,
        notes=notes,
        strata=basis.strata,
        by=by,
        groups=basis.groups if by else {},
        labels=labels,
        confusion=confusion,
        library=columns.table.library,
        source=columns.table.file,
        roles=named_roles(columns.roles, columns.weights, by),
        threshold=columns.threshold,
        scored=scored_rows(basis, columns.positive, question.level),
    )

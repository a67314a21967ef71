"""`evaluate`: from a table of predictions to measures with intervals that know how the rows were drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from strat import validate
from strat.designs import LONE
from strat.errors import one_of
from strat.tables.design import (
    GROUP,
    TARGETS,
    along,
    argument_of,
    layout_roles,
)
from strat.tables.evaluate_two_phase import evaluate_two_phase
from strat.tables.evaluation import Evaluation
from strat.tables.evaluation_arguments import (
    METHODS,
    check_collapse,
    check_df,
    check_method,
    check_threshold,
    population_sizes,
    published_weights,
    refuse_without_proxy,
)
from strat.tables.evaluation_basis import basis_of, basis_of_replicates, confusion_of, scored_rows
from strat.tables.evaluation_notes import notes_on
from strat.tables.files import MEMORY, Progress
from strat.tables.logs.one_system import LoggedSystem, logged_system
from strat.tables.metrics import (
    AUTO,
    Metrics,
    chosen,
    of_repeats,
    one_by_one,
    one_class,
)
from strat.tables.sources import Basis, Question, Sources, named_roles
from strat.tables.table import Names, Table, listed, one_name, read
from strat.tables.two_phase import SecondPhase
from strat.validate.arguments import checked


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
    population: str | float | Mapping[Any, float] | Names | None = None,
    crossed: str | Names | None = None,
    kinds: str | None = None,
    order: str | None = None,
    differences: int = 1,
    start: str | float | Mapping[Any, float] | None = None,
    stages: str | Names | None = None,
    replicate_weights: str | None = None,
    scale: float | None = None,
    mse: bool = True,
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
    lone: str = "error",
    collapse_by: str | None = None,
    nested: bool = False,
    bins: int | None = None,
    proxy: str | Names | None = None,
    probability: str | None = None,
    label_strata: str | None = None,
    estimator: str = "regression",
    calibrate: str | None = None,
    text: Names = (),
    memory: str = MEMORY,
    progress: Progress | None = None,
) -> Evaluation:
    """Measures of a classifier or a benchmark with intervals that fit how the rows were drawn.

    The rows are reduced to cells where they live (one group-by); everything after that is small.

    Parameters
    ----------
    source
        A file, a glob, a data frame of any library, or a mapping of columns: whatever :func:`read` takes; or benchmark
        logs of one system, which are scored already: a folder, files, or what :func:`read_logs` returns.
    truth, predicted
        Columns of labels (of numbers, for rmse and its kin).
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
    population
        Units in the population of each stratum: a number, a mapping from stratum, or a column; with `stages` a column
        for each stage.
    crossed
        Columns of two factors or more that were both drawn (readers and cases, judges and items), instead of `units`:
        see :meth:`strat.Design.crossed`.
    kinds
        A column of fixed kinds (pose, prompt template) under which each of these `units` was seen: see
        :meth:`strat.Design.blocks`.
    order
        A column of places along which every k-th row was drawn: see :meth:`strat.Design.systematic`.
    differences, start
        With `order`: of which order neighbours are compared by (1 to 4); and the place of the first unit drawn, counted
        from 1 (a number, a mapping from stratum, or a column), with which a linear drift moves no mean. A start needs
        `population`.
    stages
        Columns of units drawn in stages, first stage first: see :meth:`strat.Design.staged`.
    replicate_weights, scale, mse
        For files that hold the weights of replicates: how the names of these columns start, what squared deviations are
        multiplied by, and whether these are from the full sample's value or (False) from the mean of the replicates:
        see :func:`strat.given`. `weights` are then the full-sample weights.
    metrics
        Names such as "accuracy", "macro_f1", "auc", "sensitivity", "ppv", "brier", "rmse", or functions of (truth,
        predicted) that make a statistic.
    by
        A column, or several, that make groups (each combination is one): every measure in each group, with an interval
        of its own, the test that all are equal, the gaps and the worst group.
    average
        How f1, precision, recall, specificity and jaccard treat classes: "macro", "micro", "weighted", or None for one
        value of each class. By default the positive one of two classes, and macro for more.
    threshold
        Decide by the score: rows whose score is at least this are predicted positive, the others not.
    positive
        The class that measures of one class look at (f1, precision, recall, specificity, auc, …). None: 1 of 0 and 1 or
        of −1 and 1, True of False and True; any other two classes are refused. With more classes, f1 and its kin are
        macro averages unless one is named.
    method
        "taylor" (closed form) or replicates: "brr", "fay", "generalized", "multi_array", "partially_balanced",
        "jackknife", "bootstrap".
    replicates
        How many, for "partially_balanced" (at most so many, 64 by default, at a stated loss of degrees of freedom) and
        "bootstrap" (1,000).
    target
        "population" (rows of this kind, the default) or "benchmark" (these very units: only repeats vary).
    level
        Confidence level.
    df
        Degrees of freedom: "design" (units minus strata, as in R), "effective", "satterthwaite" or a number, as
        :func:`strat.estimate` takes them; None: its default.
    missing
        "error" refuses missing values by name and count; "drop" leaves those rows out.
    na
        Texts that mark a missing value, in place of "", "NA", "N/A", "NaN", "null", "None", "." and their like.
    lone
        What to do with a stratum of one unit: "error", "collapse", "certainty", "centre" or "average".
    collapse_by
        With lone="collapse": a column of numbers, one for each stratum (its size, what was known of it before), by
        which strata are joined with similar ones; by default in the order of their labels.
    nested
        Whether the same unit label in two strata means two units; by default it is an error.
    bins
        How finely to bin scores of rows that stay in an engine (None: exact if few are distinct).
    proxy
        A column, or several, with a cheap judgement of every row (a model as judge) where `truth`, or `score` alone, is
        the true one of some rows and missing by design in the others: an estimate of two phases.
    probability, label_strata
        Columns: with which probability each labelled row was chosen; the groups within which labels were drawn. Without
        either, labels are a simple random sample of the rows.
    estimator
        "regression" (the coefficient with the least variance), "stratified" (one of its own in each of `label_strata`),
        "difference" (coefficient 1) or "labels" (alone).
    calibrate
        "isotonic" or "logistic": the proxy as a forecast of the score, fitted to labelled rows of other units.
    text, memory, progress
        For files: columns to read as text, the engine's memory limit, a function that hears the share done.

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
    one_of("method", method, METHODS)
    one_of("lone", lone, LONE)
    if target is not None:
        one_of("target", target, TARGETS)
    question = Question(
        method, target, validate.level(level), () if by is None else tuple(listed("by", by)), replicates, df
    )
    units = one_name(units=units, clusters=clusters)
    repeated = any(of_repeats(metric) for metric in one_by_one(metrics))
    logs = logged_system(
        source,
        labelled=truth is not None or score is not None,
        metric=None if repeated else metrics,
        score=score,
        strata=strata,
        items=items,
    )
    if logs is not None:
        source, score, strata, items = logs.samples.to_table(), logs.score, logs.strata, logs.items
        metrics = metrics if repeated else None
    check_threshold(threshold, predicted, score, truth)
    table = read(source, text=text, na=na, memory=memory, progress=progress)
    roles = {"truth": truth, "predicted": predicted, "score": score, "strata": strata, "units": units, "items": items}
    wanted = chosen(metrics, roles, average, decided=threshold is not None)
    one_class(wanted, positive)
    table.require(**roles, weights=weights)
    drawn = layout_roles(crossed=crossed, kinds=kinds, order=order, stages=stages, population=population)
    sizes = population_sizes(population, stages)
    check_method(drawn, method, replicates)
    check_collapse(collapse_by, lone, strata=strata, proxy=proxy, replicate_weights=replicate_weights)
    check_df(df, by=question.by or None, proxy=proxy)
    roles |= _required(table, drawn, question.by)
    ordering = along(order, differences, start)
    columns = Sources(
        table, roles, weights, sizes, missing, lone, bins, positive, threshold, nested, ordering, collapse_by
    )
    if proxy is not None:
        second = SecondPhase(tuple(listed("proxy", proxy)), probability, label_strata, estimator, calibrate)
        return evaluate_two_phase(columns, wanted, second, question)
    refuse_without_proxy(probability=probability, label_strata=label_strata, calibrate=calibrate)
    excluded = {"by": bool(question.by)} | {argument_of(role): True for role in drawn} | {"method": method != "taylor"}
    published = published_weights(replicate_weights, scale, mse, beside=excluded, weights=weights)
    if published is None:
        basis = basis_of(columns, wanted, question)
    else:
        basis = basis_of_replicates(columns, wanted, published, df)
    return _evaluation(columns, basis, question, (*notes_on(columns, basis, wanted), *_of_logs(logs, units, weights)))


def _required(table: Table, drawn: Mapping[str, str], by: Sequence[str]) -> dict[str, str]:
    """The roles of the layout and of groups, once their columns are known to be there."""
    for role, name in drawn.items():
        table.require(**{argument_of(role): name})
    for name in by:
        table.require(by=name)
    return {**drawn, **{f"{GROUP}{place}": name for place, name in enumerate(by)}}


def _of_logs(logs: LoggedSystem | None, units: str | None, weights: str | None) -> Sequence[str]:
    return () if logs is None else logs.notes(units, weights)


def _evaluation(columns: Sources, basis: Basis, question: Question, notes: tuple[str, ...]) -> Evaluation:
    """The result, with what its tables, pictures and reports need."""
    by = question.by
    labels, confusion = confusion_of(basis.cells)
    return Evaluation(
        estimates=basis.estimates,
        level=question.level,
        rows=basis.cells.rows,
        dropped=basis.cells.dropped,
        marks=basis.cells.marks,
        design=basis.design.summary,
        target=basis.design.target,
        method=str(next(iter(basis.estimates.values())).method),
        warnings=notes,
        strata=next(iter(basis.groups.values())).each if basis.groups and not by else {},
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

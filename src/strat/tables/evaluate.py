"""`evaluate`: from a table of predictions to measures with intervals that know how the rows were drawn."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from strat import replication
from strat.columns import encode
from strat.designs import LONE, Design
from strat.doors import checked, shown
from strat.errors import StratError, StratWarning, one_of
from strat.estimation import Estimate, estimate
from strat.statistics import domain
from strat.tables.evaluation import Evaluation
from strat.tables.files import MEMORY, Progress
from strat.tables.hints import look, traps
from strat.tables.linearize import RowDesign
from strat.tables.metrics import Metric, Metrics, chosen, columns_of, single
from strat.tables.reduce import Cells, reduce
from strat.tables.stream import Streamed, fits, stream, target_of
from strat.tables.table import Names, Table, read

METHODS = ("taylor", "brr", "fay", "generalized", "multi_array", "jackknife", "bootstrap")
TARGETS = ("population", "benchmark")
_EXPAND = 5_000_000
_STRATA = 200
_CLASSES = 60


@dataclass(frozen=True)
class Options:
    """What a person said about the rows, beside the columns' roles."""

    weights: str | None
    population: str | float | Mapping[Any, float] | None
    missing: str
    lone: str
    bins: int | None
    target: str | None
    positive: object


@dataclass(frozen=True, eq=False)
class Ground:
    """The cells, and the design on them: rows in units, or rows that are units themselves."""

    cells: Cells
    design: Design | None
    rows: RowDesign | None
    streamed: Streamed | None = None

    @property
    def summary(self) -> str:
        """The design in one line."""
        return self.design.summary if self.design is not None else self._rows.summary

    @property
    def target(self) -> str:
        """What estimates on it answer for."""
        if self.streamed is not None:
            return target_of(self.streamed.design)
        return self.design.target if self.design is not None else self._rows.target

    @property
    def _rows(self) -> RowDesign:
        assert self.rows is not None
        return self.rows


@checked
def evaluate(
    source: Any,
    *,
    truth: str | None = None,
    predicted: str | None = None,
    score: str | None = None,
    strata: str | None = None,
    units: str | None = None,
    items: str | None = None,
    weights: str | None = None,
    population: str | float | Mapping[Any, float] | None = None,
    metrics: Metrics | None = None,
    method: str = "taylor",
    target: str | None = None,
    level: float = 0.95,
    positive: object = None,
    missing: str = "error",
    lone: str = "error",
    bins: int | None = None,
    text: Names = (),
    memory: str = MEMORY,
    progress: Progress | None = None,
) -> Evaluation:
    """Measures of a classifier or a benchmark with intervals that fit how the rows were drawn.

    The rows are reduced to cells where they live (one group-by); everything after that is small.

    Parameters
    ----------
    source
        A file, a glob, a data frame of any library, or a mapping of columns: whatever :func:`read` takes.
    truth, predicted
        Columns of labels.
    score
        A column of numbers: for AUC beside `truth`, or alone: how right each row is.
    strata
        Fixed groups that cover the population (subjects, tasks, classes).
    units
        What was drawn (passages, patients, repositories); without it each row, or each item.
    items
        What each row is a try of; repeats are a second stage.
    weights
        A column: how many rows of the population each row stands for.
    population
        Units in the population of each stratum: a number, a mapping from stratum, or a column.
    metrics
        Names such as "accuracy", "macro_f1", "auc", or functions of (truth, predicted) that make a statistic.
    method
        "taylor" (closed form) or replicates: "brr", "fay", "generalized", "multi_array", "jackknife", "bootstrap".
    target
        "population" (rows of this kind, the default) or "benchmark" (these very units: only repeats vary).
    level
        Confidence level.
    positive
        The positive one of two classes.
    missing
        "error" refuses missing values by name and count; "drop" leaves those rows out.
    lone
        What to do with a stratum of one unit: "error", "collapse", "certainty", "centre" or "average".
    bins
        How finely to bin scores of rows that stay in an engine (None: exact if few are distinct).
    text, memory, progress
        For files: columns to read as text, the engine's memory limit, a function that hears the share done.

    Returns
    -------
    Evaluation
        With `.estimates`, `.to_frame()`, `.to_json()`, `.to_markdown()`, `.to_latex()`, `.to_csv()`, `.report(path)`.

    Examples
    --------
    >>> table = {"truth": list("aabbaabb"), "said": list("aabaaabb"), "who": [1, 1, 1, 1, 2, 2, 3, 3]}
    >>> found = evaluate(table, truth="truth", predicted="said", units="who", metrics="accuracy")
    >>> found["accuracy"].value
    0.875
    >>> found.design
    'clustered: 8 rows in 3 units; 2 degrees of freedom'
    """
    one_of("method", method, METHODS)
    one_of("lone", lone, LONE)
    if target is not None:
        one_of("target", target, TARGETS)
    if not 0 < level < 1:
        raise StratError(f"`level` must be between 0 and 1, got {level!r}.")
    table = read(source, text=text, memory=memory, progress=progress)
    roles = {"truth": truth, "predicted": predicted, "score": score, "strata": strata, "units": units, "items": items}
    wanted = chosen(metrics, roles)
    table.require(**roles, weights=weights)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always", StratWarning)
        options = Options(weights, population, missing, lone, bins, target, positive)
        streamed = _streamed(table, roles, wanted, options, method)
        if streamed is not None:
            ground, made, by_stratum = Ground(streamed.cells, streamed.design, None, streamed), streamed.estimates, {}
        else:
            ground = _ground(table, roles, options)
            made = {metric.name: _estimate(metric, ground, method, positive) for metric in wanted}
            by_stratum = _by_stratum(wanted[0], ground, positive) if method == "taylor" else {}
    said = [*_traps(ground, roles), *_heard(heard), *_binned(ground, wanted)]
    said += [note for one in made.values() for note in one.notes]
    if strata is None and units is None and items is None:
        said += _suspects(table, roles, weights)
    labels, confusion = _confusion(ground.cells)
    return Evaluation(
        estimates=made,
        level=level,
        rows=ground.cells.rows,
        dropped=ground.cells.dropped,
        design=ground.summary,
        target=ground.target,
        method=next(iter(made.values())).method,
        warnings=tuple(dict.fromkeys(said)),
        strata=by_stratum,
        labels=labels,
        confusion=confusion,
        library=_library(table),
    )


def _streamed(
    table: Table, roles: Mapping[str, str | None], wanted: Sequence[Metric], options: Options, method: str
) -> Streamed | None:
    """Two passes over a large file, where they pay and say the same."""
    named = isinstance(options.population, str)
    unweighted = options.population is not None and options.weights is None
    if named or unweighted or options.target == "benchmark" or not fits(table, roles, method):
        return None
    return stream(
        table,
        roles,
        wanted,
        weights=options.weights,
        population=options.population,  # type: ignore[arg-type]
        missing=options.missing,
        lone=options.lone,
        bins=options.bins,
        positive=options.positive,
    )


def _ground(table: Table, roles: Mapping[str, str | None], options: Options) -> Ground:
    named = dict(roles)
    if isinstance(options.population, str):
        table.require(population=options.population)
        named["population"] = options.population
    single = roles["units"] is None and roles["items"] is None
    if single and options.weights is not None:
        named["weights"] = options.weights  # rows of one cell then share their weight
    cells = reduce(table, named, weights=options.weights, missing=options.missing, bins=options.bins)
    sizes = _population(cells, options.population)
    if single and (roles["strata"] is None or options.lone in ("error", "certainty")):
        rows = RowDesign(cells, sizes, options.lone)
        if options.target == "benchmark":
            rows.population = rows.sizes.copy()
        return Ground(cells, None, rows)
    if single:
        cells = row_by_row(cells, options.lone)
    design = _design(cells, sizes, options.lone, single)
    if options.target == "benchmark":
        design = replace(design, population=design.sizes.astype(float))
    return Ground(cells, design, None)


def _population(cells: Cells, population: Any) -> float | Mapping[Any, float] | None:
    """Population sizes, one number or a mapping from stratum."""
    if not isinstance(population, str):
        return population if population is None or isinstance(population, Mapping) else _number(population)
    values = np.asarray(cells.columns["population"], float)
    strata = cells.columns.get("strata")
    if strata is None:
        if len(np.unique(values)) > 1:
            raise StratError(f"`population` must be one number without strata, got {len(np.unique(values))} values.")
        return float(values[0])
    sizes: dict[Any, float] = {}
    for label, value in zip(strata.tolist(), values.tolist(), strict=True):
        if sizes.setdefault(label, value) != value:
            raise StratError(f"`population` must be the same for all rows of a stratum, got several for {label!r}.")
    return sizes


def _number(population: Any) -> float:
    try:
        return float(population)
    except (TypeError, ValueError, OverflowError):
        raise StratError(
            f"`population` must be a number, a column's name or a mapping from stratum, got {shown(population)}."
        ) from None


def _design(cells: Cells, population: Any, lone: str, single: bool) -> Design:
    units: Any = cells.columns.get("units", cells.columns.get("items"))
    options: dict[str, Any] = {
        "weights": None if cells.weights is None and population is not None else cells.mass,
        "population": population,
        "items": cells.columns.get("items"),
        "counts": cells.counts,
        "lone": lone,
    }
    if single:  # every row of the cells is a row of the table here
        return Design.stratified(cells.columns["strata"], **options)
    if options["weights"] is None:
        return _by_population(cells, units, options)
    return Design.clustered(units, strata=cells.columns.get("strata"), **options)


def row_by_row(cells: Cells, lone: str) -> Cells:
    """The rows that the cells stand for, one by one."""
    if cells.rows > _EXPAND:
        raise StratError(f"`lone` must be 'error' or 'certainty' for {cells.rows:,} rows without units, got {lone!r}.")
    rows = np.repeat(np.arange(len(cells)), cells.counts.astype(np.int64))
    columns = {role: values[rows] for role, values in cells.columns.items()}
    weights = columns.get("weights")
    return replace(cells, columns=columns, counts=np.ones(len(rows)), weights=weights)


def _by_population(cells: Cells, units: Any, options: dict[str, Any]) -> Design:
    """Without weights, each unit of stratum h gets N_h / n_h (STRAT (1)), times the rows that a cell stands for."""
    made = Design.clustered(units, strata=cells.columns.get("strata"), **options)
    return replace(made, weights=made.weights * cells.counts)


def _estimate(metric: Metric, ground: Ground, method: str, positive: object) -> Estimate:
    columns = columns_of(ground.cells, positive)
    statistic = single(metric, metric.build(columns))
    if ground.rows is not None and method == "taylor" and statistic.quantile is None:
        return _scalar(metric, ground.rows.estimate(statistic))
    if ground.rows is not None:
        design, rows = ground.rows.expanded(_EXPAND)
        spread = {name: v[rows] if isinstance(v, np.ndarray) else v for name, v in columns.items()}
        on = design if method == "taylor" else _replicates(design, method)
        return _scalar(metric, estimate(metric.build(spread), on=on))
    assert ground.design is not None
    on = ground.design if method == "taylor" else _replicates(ground.design, method)
    return _scalar(metric, estimate(statistic, on=on))


def _scalar(metric: Metric, made: Estimate) -> Estimate:
    if made.point.ndim:
        raise StratError(f"`metrics` must be single numbers here, got {metric.name!r} with shape {made.point.shape}.")
    return made


def _replicates(design: Design, method: str) -> Any:
    if method == "fay":
        return replication.fay(design, rho=0.5)
    return getattr(replication, method)(design)


def _by_stratum(metric: Metric, ground: Ground, positive: object) -> dict[Any, Estimate]:
    """The first measure in each stratum, as a domain of the whole design."""
    strata = ground.cells.columns.get("strata")
    if strata is None or metric.needs == ("truth", "score"):
        return {}
    labels = np.unique(strata)
    if not 1 < len(labels) <= _STRATA or len(labels) * len(ground.cells) > 50_000_000:
        return {}
    statistic = metric.build(columns_of(ground.cells, positive))
    if statistic.of_weights or statistic.quantile is not None or metric.name not in ("accuracy", "error_rate", "mean"):
        return {}
    found = {}
    for label in labels:
        part = domain(statistic, strata == label)
        if ground.rows is not None:
            found[label.item()] = ground.rows.estimate(part)
        else:
            assert ground.design is not None
            found[label.item()] = estimate(part, on=ground.design)
    return found


def _traps(ground: Ground, roles: Mapping[str, str | None]) -> list[str]:
    columns: Mapping[str, Any] = ground.cells.columns
    if ground.streamed is not None:
        columns = {"units": ground.streamed.units, "strata": ground.streamed.strata}
    found = traps(units=columns.get("units"), strata=columns.get("strata"), names=roles, rows=ground.cells.rows)
    for message in found:
        warnings.warn(message, StratWarning, stacklevel=5)
    return found


def _heard(heard: Sequence[warnings.WarningMessage]) -> list[str]:
    said = []
    for warning in heard:
        if issubclass(warning.category, StratWarning):
            said.append(str(warning.message))
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    return said


def _binned(ground: Ground, wanted: Sequence[Metric]) -> list[str]:
    binning = ground.cells.binning
    if binning is None:
        return []
    said = f"scores were put into {binning.bins} bins of width {binning.width:.4g}"
    if any(metric.name == "auc" for metric in wanted):
        said += f"; this moves the AUC by at most {auc_bound(ground.cells):.2g}"
    return [said + "; more `bins` make it smaller."]


def auc_bound(cells: Cells) -> float:
    """The most that binning can move the AUC: half the share of pairs of both classes that fall into one bin."""
    truth, labels = encode("truth", cells.columns["truth"])
    positive = truth == len(labels) - 1
    place, _ = encode("score", cells.columns["score"])
    p = np.bincount(place, cells.mass * positive)
    n = np.bincount(place, cells.mass * ~positive)
    return float(0.5 * (p * n).sum() / (p.sum() * n.sum())) if p.sum() and n.sum() else 0.0


def _suspects(table: Table, roles: Mapping[str, str | None], weights: str | None) -> list[str]:
    used = [name for name in (*roles.values(), weights) if name is not None]
    right = roles["truth"] is not None and roles["predicted"] is not None
    score = [str(roles["truth"]), str(roles["predicted"])] if right else [str(roles["score"])]
    if not right and roles["truth"] is not None:
        return []
    return [str(suspect) for suspect in look(table, used, score, right=right)[:3]]


def _confusion(cells: Cells) -> tuple[Any, Any]:
    if "truth" not in cells.columns or "predicted" not in cells.columns:
        return None, None
    (truth, actual), (predicted, said) = (encode(role, cells.columns[role]) for role in ("truth", "predicted"))
    labels = np.unique(np.concatenate([actual, said]))
    if len(labels) > _CLASSES:
        return None, None
    place = np.searchsorted(labels, actual)[truth] * len(labels) + np.searchsorted(labels, said)[predicted]
    flat = np.bincount(place, cells.mass, minlength=len(labels) ** 2)
    return labels, flat.reshape(len(labels), len(labels))


def _library(table: Table) -> str | None:
    frame = getattr(table.backend, "frame", None) or getattr(table.backend, "lazy", None)
    implementation = getattr(frame, "implementation", None)
    return None if implementation is None else str(implementation.value)

"""`evaluate` with a proxy: a cheap judgement in every row, the true one in some, missing by design in the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from strat.base.errors import StratError, one_of, some
from strat.base.notes import Note
from strat.base.validate.arguments import with_hints
from strat.base.validate.columns import Array, Codes
from strat.base.validate.names import Names, listed
from strat.data.column import Column
from strat.data.table import Table, read
from strat.designs import Design
from strat.estimation import Estimate, cross_fitted, estimate
from strat.estimation.calibrated import CALIBRATIONS, isotonic
from strat.estimation.two_phase import (
    ESTIMATORS,
    Phases,
    fixed_coefficients,
    inverse_probabilities,
    of_phases,
    phases_of,
)
from strat.measures import Statistic
from strat.measures.register import Measure
from strat.verbs.grouping import grouped, in_cells, rows_by_label
from strat.verbs.groups import Groups, in_words

NOT_RANDOM = 0.01  # p-value below which the labelled rows do not look like a sample of all
NO_GAIN = 0.97  # variance with the proxy over that without, or the square of widths, from which on it is no gain
UNEQUAL = 0.01  # p-value below which the proxy errs differently in a group


@with_hints
@dataclass(frozen=True)
class Proxy:
    """A cheap judgement of every row, where the true one was made of a sample of the rows: `proxy=` of `evaluate`.

    The name of a column alone is enough if the labels are a simple random sample of the rows.

    Parameters
    ----------
    columns
        The column of the cheap judgement (a model as judge), or several.
    probability, label_strata
        Columns: the probability with which each labelled row was chosen; the groups within which labels were drawn.
        Without either, labels are a simple random sample of the rows.
    estimator
        "regression" (the coefficient with the least variance), "stratified" (one of its own in each of `label_strata`),
        "difference" (coefficient 1) or "labels" (alone).
    calibrate
        "isotonic" or "logistic": the proxy as a forecast of the score, fitted to labelled rows of other units.

    Examples
    --------
    >>> import strat
    >>> human, judge = [1, 0, 1, None, None, None, None, None], [1, 0, 1, 1, 0, 1, 1, 1]
    >>> table = {"human": human, "judge": judge}
    >>> result = strat.evaluate(table, score="human", proxy=Proxy("judge", estimator="difference"))
    >>> round(result["mean"].value, 4)
    0.75
    """

    columns: str | Names
    _: KW_ONLY
    probability: str | None = None
    label_strata: str | None = None
    estimator: str = "regression"
    calibrate: str | None = None

    def __post_init__(self) -> None:
        """Check the words."""
        one_of("estimator", self.estimator, ESTIMATORS)
        if self.calibrate is not None:
            one_of("calibrate", self.calibrate, CALIBRATIONS)
        if not self.names:
            raise StratError.about("proxy", "must name at least one column, got none.")
        if self.estimator == "stratified" and self.label_strata is None:
            raise StratError.about("label_strata", "must name a column with estimator='stratified', got None.")

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, one or several."""
        return tuple(listed("proxy", self.columns))

    def require(self, table: Table) -> None:
        """Fail unless its columns are there."""
        for name in self.names:
            table.require(proxy=name)
        table.require(probability=self.probability, label_strata=self.label_strata)


def proxy_of(given: str | Names | Proxy | None) -> Proxy | None:
    """The proxy that a name, names or a value of its own mean."""
    return given if given is None or isinstance(given, Proxy) else Proxy(given)


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """The columns of a table whose true judgements are there in some rows.

    Attributes
    ----------
    columns
        From the role to the values of each row; the true judgement holds any value where there is none.
    truth
        The role of the true judgement.
    proxies
        The cheap judgements, in the same form.
    labelled
        Which rows have the true one.
    probability, strata
        Of the second phase, if given.
    """

    columns: Mapping[str, NDArray[Any]]
    truth: str
    proxies: tuple[NDArray[Any], ...]
    labelled: NDArray[np.bool_]
    probability: Array | None
    strata: NDArray[Any] | None

    def phases(self, metric: Measure, positive: object, rows: Any = slice(None), *, by_stratum: bool = False) -> Phases:
        """The measure by the truth and by each proxy, of some rows."""
        inside = {role: values[rows] for role, values in self.columns.items()}

        def built(truth: NDArray[Any]) -> Statistic:
            return metric.build({**inside, self.truth: truth, "positive": positive})

        words = [built(proxy[rows]) for proxy in self.proxies]
        return phases_of(
            built(inside[self.truth]),
            words,
            either=self.either(inside[self.truth], self.proxies[0][rows], words[0], built),
            labelled=self.labelled[rows],
            probability=None if self.probability is None else self.probability[rows],
            strata=None if self.strata is None else self.strata[rows],
            units=inside.get("units"),
            by_stratum=by_stratum,
        )

    def either(
        self, truth: NDArray[Any], word: NDArray[Any], right: Statistic, built: Callable[[NDArray[Any]], Statistic]
    ) -> tuple[Statistic, Statistic] | None:
        """The measure if the proxy is right in each row, and if it is wrong; None unless truths have two classes."""
        if self.truth != "truth":
            return None
        classes = np.unique(np.concatenate([truth, word]))
        return (right, built(np.where(word == classes[0], classes[1], classes[0]))) if len(classes) == 2 else None


def labelled_rows(table: Table, roles: Mapping[str, str | None], second: Proxy) -> LabelledRows:
    """The columns of both phases; only the true judgement may be missing."""
    second.require(table)
    truth = "score" if roles.get("truth") is None else "truth"
    named = {role: name for role, name in roles.items() if name is not None and role != truth}
    column = _column(table, str(roles[truth]), numeric=truth == "score")
    labelled = np.ones(len(column), bool) if column.missing is None else ~column.missing
    if not labelled.any() or labelled.all():
        raise StratError(
            f"`{truth}` must have a value in some rows and none in others beside `proxy`, got {int(labelled.sum()):,} "
            f"values in {len(labelled):,} rows; leave `proxy` out where all rows have it."
        )
    columns = {role: _whole(table, name, numeric=role == "score") for role, name in named.items()}
    values = np.where(labelled, column.values, column.values[labelled][0])
    proxies = tuple(_whole(table, name, numeric=truth == "score") for name in second.names)
    if truth == "truth":
        _same_classes(values[labelled], proxies, second.names)
    if second.calibrate is not None:
        proxies = _calibrated(proxies, values, labelled, columns.get("units"), truth, second.calibrate)
    probability = None if second.probability is None else _column(table, second.probability, numeric=True).values
    strata = None if second.label_strata is None else _whole(table, second.label_strata)
    return LabelledRows({**columns, truth: values}, truth, proxies, labelled, probability, strata)


def pilot_of_labels(source: Any, *, score: str, proxy: str, probability: str | None = None) -> tuple[int, float, float]:
    """Rows, correlation of the proxy with the labels, and the labels' standard deviation, of a table labelled in part.

    Where rows were labelled with unequal probabilities, each counts by the inverse of its own, so that both are those
    of all rows.

    >>> pilot_of_labels({"human": [0.0, 1.0, None, 2.0], "judge": [0.0, 2.0, 1.0, 4.0]}, score="human", proxy="judge")
    (4, 1.0, 1.0)
    """
    table = read(source)
    table.require(score=score)
    rows = labelled_rows(table, {"score": score}, Proxy(proxy, probability=probability))
    y, f = rows.columns["score"][rows.labelled], rows.proxies[0][rows.labelled]
    n = len(y)
    if n < 3 or y.std() == 0 or f.std() == 0:
        raise StratError(f"`{score}` and `{proxy}` must vary over at least three labelled rows, got {n} of them.")
    labelled = rows.labelled
    weights = None if rows.probability is None else inverse_probabilities(rows.probability, labelled)[labelled]
    covariance = np.cov(y, f, aweights=weights, bias=True)
    correlation = covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1])
    return len(rows.labelled), float(correlation.round(12)), float(np.sqrt(covariance[0, 0] * n / (n - 1)))


def _column(table: Table, name: str, *, numeric: bool = False) -> Column:
    column = table.backend.fetch([name])[0]
    return column.numbers() if numeric else column


def _whole(table: Table, name: str, *, numeric: bool = False) -> NDArray[Any]:
    return table.numbers(name) if numeric else table.column(name)


def _same_classes(truth: NDArray[Any], proxies: Sequence[NDArray[Any]], names: Sequence[str]) -> None:
    known = set(np.unique(truth).tolist())
    for name, proxy in zip(names, proxies, strict=True):
        other = sorted(set(np.unique(proxy).tolist()) - known, key=str)
        if other:
            raise StratError.about(
                "proxy", f"must hold classes that the labelled rows of `truth` hold, got {some(other, 3)} in {name!r}."
            )


def _calibrated(
    proxies: Sequence[NDArray[Any]],
    truth: NDArray[Any],
    labelled: NDArray[np.bool_],
    units: NDArray[Any] | None,
    role: str,
    method: str,
) -> tuple[NDArray[Any], ...]:
    if role == "truth":
        raise StratError.about(
            "calibrate", "must be left out with `truth`: it is for a `score` that the proxy forecasts."
        )
    return tuple(cross_fitted(one, truth, labelled=labelled, units=units, method=method) for one in proxies)


@dataclass(frozen=True, eq=False)
class TwoPhase:
    """An evaluation of two phases in the making: its rows, the design of all of them, and how to estimate."""

    rows: LabelledRows
    second: Proxy
    design: Design
    positive: object
    on: Any

    def estimate(self, metric: Measure) -> tuple[Estimate, tuple[str, ...]]:
        """The measure, and what a reader should know of it, of the labels and of the proxy."""
        plain = self.rows.phases(metric, self.positive)
        value = estimate(self._statistic(self._phases(metric)), on=self.on)
        alone = estimate(self._statistic(plain, "labels"), on=self.on)
        gain = self._gain(metric, value, alone)
        return value, (*gain, *not_random(plain, self.second.names, self.on), *value.notes)

    def _phases(self, metric: Measure, rows: Any = slice(None)) -> Phases:
        by_stratum = self.second.estimator == "stratified"
        return self.rows.phases(metric, self.positive, rows, by_stratum=by_stratum)

    def _statistic(self, phases: Phases, estimator: str | None = None, weights: Array | None = None) -> Statistic:
        fixed = fixed_coefficients(estimator or self.second.estimator, None, phases)
        return of_phases(phases, fixed, self.design.weights if weights is None else weights)

    def _gain(self, metric: Measure, value: Estimate, alone: Estimate) -> tuple[Note, ...]:
        if self.second.estimator == "labels" or value.point.ndim:
            return ()
        return gain_note(metric.word, value, alone, int(self.rows.labelled.sum()), self.second.estimator)

    def groups(self, metric: Measure, by: Sequence[str], roles: Sequence[str]) -> tuple[Groups, tuple[Note, ...]]:
        """The measure in each group, each with labels of its own, and where the proxy errs as in no other group."""
        rows_of = rows_by_label(self.rows.columns, roles)
        without = [in_words(label) for label, rows in rows_of.items() if not self.rows.labelled[rows].any()]
        if without:
            raise StratError(
                f"`{self.rows.truth}` must have values in every group of `by`, got none in {some(without, 5)}: the "
                "error of the proxy in other groups does not apply to these; label some of their rows."
            )
        parts = {}
        for label, rows in rows_of.items():
            phases = self._phases(metric, rows)
            parts[label] = (rows, self._statistic(phases, weights=self.design.weights[rows]))
        values = grouped(metric, by, parts, {}, self.design, np.ones(len(self.design)), in_cells(self.design))
        return values, self._transport(metric, rows_of)

    def _transport(self, metric: Measure, rows_of: Mapping[Any, Codes]) -> tuple[Note, ...]:
        """Groups in which the proxy errs otherwise than in the largest one.

        A score is forecast from the first proxy by the isotonic fit of that group; classes are taken as they are.
        """
        labelled = self.rows.labelled
        largest = max(rows_of, key=lambda label: int(labelled[rows_of[label]].sum()))
        learnt = rows_of[largest][labelled[rows_of[largest]]]
        rows = self.rows
        if rows.truth == "score":
            forecast = isotonic(rows.proxies[0][learnt], rows.columns["score"][learnt])(rows.proxies[0])
            rows = replace(rows, proxies=(forecast,))
        make = in_cells(self.design)
        errors = {
            label: make(label, _judge_error(rows.phases(metric, self.positive, inside)), inside)[0]
            for label, inside in rows_of.items()
        }
        return _unlike(errors, largest, self.second.names[0])


def gain_note(
    what: str, value: Estimate, alone: Estimate, labels: int, estimator: str = "regression"
) -> tuple[Note, ...]:
    """What the proxy brings to one value, against the labels alone: no more than its limits say."""
    own, other = (float(np.diff(np.array(one.interval(), float))[0]) for one in (value, alone))
    by_variance = float(value.variance / alone.variance) if alone.variance > 0 else 1.0
    ratio = max(by_variance, (own / other) ** 2 if other > 0 else 1.0)
    facts = {"labels": labels, "width": own, "alone": other}
    if ratio > 1.0:
        note = Note("proxy-worse", {**facts, "difference": estimator == "difference"})
    elif ratio > NO_GAIN:
        note = Note("proxy-no-gain", facts)
    else:
        note = Note("proxy-gain", {**facts, "as_good_as": labels / ratio})
    return (note.of(metric=what),)


def not_random(phases: Phases, names: Sequence[str], on: Any) -> tuple[Note, ...]:
    """A test that labels are missing by design: the proxy of labelled rows must look like that of all."""
    notes = []
    values = int(np.prod(phases.measure.shape))
    for k, name in enumerate(names):
        one = np.zeros((len(phases.labelled), values))
        one[k] = 1.0
        gap = estimate(replace(phases.combined(0.0, one, -one, 0), link="identity"), on=on)
        point, se, df = (np.ravel(np.broadcast_to(x, gap.point.shape)) for x in (gap.point, gap.se, gap.df))
        p = np.where(se > 0, 2.0 * stdtr(df, -np.abs(point) / np.where(se > 0, se, 1.0)), 1.0)
        worst = int(p.argmin())
        if p[worst] * values < NOT_RANDOM:
            facts = {"proxy": name, "gap": float(-point[worst]), "p": float(p[worst] * values)}
            notes.append(Note("labels-not-random", facts))
    return tuple(notes)


def _judge_error(phases: Phases) -> Statistic:
    """The measure by the truth minus that by the first proxy, both of the labelled rows."""
    values = int(np.prod(phases.measure.shape))
    none = np.zeros((len(phases.labelled), values))
    first = none.copy()
    first[0] = -1.0
    return replace(
        phases.combined(1.0, none, first, 0), name="error of the proxy", link="identity", bounds=(-np.inf, np.inf)
    )


def _unlike(errors: Mapping[Any, Estimate], largest: Any, proxy: str) -> tuple[Note, ...]:
    """The groups whose error differs from that of the largest one (Student's t, Bonferroni)."""
    first = errors[largest]
    notes = []
    for label, other in errors.items():
        off, variance = float(other.value) - float(first.value), float(other.variance + first.variance)
        if label == largest or variance <= 0:
            continue
        p = 2.0 * float(stdtr(min(first.least_df, other.least_df), -abs(off) / np.sqrt(variance))) * (len(errors) - 1)
        if p < UNEQUAL:
            facts = {"proxy": proxy, "largest": in_words(largest), "gap": off, "p": p}
            notes.append(Note("proxy-differs-by-group", facts).of(group=in_words(label)))
    return tuple(notes)

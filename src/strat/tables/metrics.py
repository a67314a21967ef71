"""Names of measures to statistics of cells."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat import statistics
from strat.columns import encode
from strat.doors import shown
from strat.errors import StratError, near
from strat.statistics import Statistic, classification, scores
from strat.tables.reduce import Cells

Build = Callable[[Mapping[str, Any]], Statistic]
Metrics = Sequence[str | Callable[..., Statistic]] | str  # names, or functions of (truth, predicted)
AVERAGES = ("macro", "micro", "weighted")
_AVERAGED = ("precision", "recall", "f1", "specificity", "jaccard")
_LABELS = ("accuracy", "error_rate", "balanced_accuracy", "kappa", "mcc")
_ERRORS = ("error_rate", "equal_error_rate", "eer")
_SCORES = ("auc", "average_precision", "equal_error_rate")


@dataclass(frozen=True)
class Metric:
    """A measure by name: which columns it needs, and how its statistic is made from them."""

    name: str
    needs: tuple[str, ...]
    build: Build

    @property
    def higher_is_better(self) -> bool:
        """Whether a larger value is a better one."""
        return self.name not in _ERRORS


def _labels(function: str, **options: Any) -> tuple[tuple[str, ...], Build]:
    def build(c: Mapping[str, Any]) -> Statistic:
        made: Statistic = _function(function)(c["truth"], c["predicted"], **_positive(function, options, c))
        return made

    return ("truth", "predicted"), build


def _scores(function: str) -> tuple[tuple[str, ...], Build]:
    def build(c: Mapping[str, Any]) -> Statistic:
        made: Statistic = _function(function)(c["truth"], c["score"], pos_label=c.get("positive"))
        return made

    return ("truth", "score"), build


def _function(name: str) -> Callable[..., Statistic]:
    home: Any = statistics if hasattr(statistics, name) else scores if name in _SCORES else classification
    made: Callable[..., Statistic] = getattr(home, name)
    return made


def _positive(function: str, options: Mapping[str, Any], c: Mapping[str, Any]) -> dict[str, Any]:
    """For the plain f1, precision, recall: of the positive class if there are two, else their macro mean."""
    if function not in _AVERAGED or "average" in options:
        return dict(options)
    labels = np.unique(np.concatenate([encode(role, c[role])[1] for role in ("truth", "predicted")]))
    positive = c.get("positive")
    if positive is not None or len(labels) <= 2:
        return {**options, "average": "binary", "pos_label": labels[-1] if positive is None else positive}
    return {**options, "average": "macro"}


def _mean_score(c: Mapping[str, Any]) -> Statistic:
    score = np.asarray(c["score"], float)
    if np.isin(score, (0.0, 1.0)).all():
        return replace(statistics.proportion(score), name="mean score")
    made = replace(statistics.mean(score), name="mean score")
    inside = bool((score >= 0).all() and (score <= 1).all())
    return replace(made, link="logit", bounds=(0.0, 1.0)) if inside else made


def _all() -> dict[str, tuple[tuple[str, ...], Build]]:
    found = {name: _labels(name) for name in (*_LABELS, *_AVERAGED)}
    for average in AVERAGES:
        found |= {f"{average}_{name}": _labels(name, average=average) for name in _AVERAGED}
    found |= {name: _scores(name) for name in _SCORES}
    found["eer"] = found["equal_error_rate"]
    found["mean"] = (("score",), _mean_score)
    return found


METRICS = _all()


def chosen(
    metrics: Metrics | None,
    roles: Mapping[str, str | None],
) -> list[Metric]:
    """The measures asked for, or those that the columns at hand suggest."""
    given = {role for role, name in roles.items() if name is not None}
    if metrics is None:
        wanted: list[Any] = _default(given)
    else:
        wanted = [metrics] if isinstance(metrics, str) or callable(metrics) else _listed(metrics)
    if not wanted:
        raise StratError("`metrics` must name at least one measure, got none.")
    found = [_one(metric) for metric in wanted]
    for metric in found:
        absent = [role for role in metric.needs if role not in given]
        if absent:
            raise StratError(f"`{absent[0]}` must name a column for the measure {metric.name!r}, got None.")
    return found


def _listed(metrics: Any) -> list[Any]:
    if isinstance(metrics, Iterable) and getattr(metrics, "ndim", 1) == 1:
        return list(metrics)
    raise StratError(f"`metrics` must be a name, a function, or a list of these, got {shown(metrics)}.")


def _default(given: set[str]) -> list[str]:
    if {"truth", "predicted"} <= given:
        return ["accuracy", "macro_f1", *(["auc"] if "score" in given else [])]
    if {"truth", "score"} <= given:
        return ["auc"]
    if "score" in given:
        return ["mean"]
    raise StratError(
        "`truth` and `predicted` (or `score`) must name the columns to evaluate, got neither; for a column that "
        "already says how right a row is, give `score` alone."
    )


def _one(metric: Any) -> Metric:
    if callable(metric):
        name = getattr(metric, "__name__", "statistic")
        return Metric(name, ("truth", "predicted"), lambda c: _made(name, metric(c["truth"], c["predicted"])))
    key = str(metric).strip().lower().replace("-", "_").replace(" ", "_")
    if key not in METRICS:
        raise StratError(f"`metrics` must be names of measures, got {shown(metric)}; {near(key, list(METRICS))}")
    needs, build = METRICS[key]
    return Metric(key, needs, build)


def _made(name: str, made: Any) -> Statistic:
    """What a person's own function made, if it is a statistic."""
    if isinstance(made, Statistic):
        return made
    raise StratError(f"`metrics` must make statistics, such as strat.accuracy does, got {shown(made)} from {name!r}.")


def single(metric: Metric, statistic: Statistic) -> Statistic:
    """The statistic, if it is a single number."""
    if statistic.shape:
        raise StratError(f"`metrics` must be single numbers here, got {metric.name!r} with shape {statistic.shape}.")
    return statistic


def columns_of(cells: Cells, positive: object) -> dict[str, Any]:
    """What a measure's statistic is made from."""
    return {**cells.columns, "positive": positive_of(positive, cells.columns.get("truth"))}


def positive_of(positive: object, truth: NDArray[Any] | None) -> object:
    """The positive class, as a number where the labels are: the command line has only text."""
    if isinstance(positive, str) and truth is not None and truth.dtype.kind in "iufb":
        try:
            return float(positive)
        except ValueError:
            return positive
    return positive

"""Names of measures to statistics of columns: the words of every trade, each for one function."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from strat import measures
from strat.base.errors import StratError, near, one_of, some
from strat.base.validate.arguments import shown
from strat.base.validate.columns import Codes
from strat.data.cells import Cells
from strat.measures import Statistic, classification, probabilities, regression
from strat.measures.fields.answers import KINDS as ROUGE
from strat.measures.positive import refused
from strat.verbs import field_metrics
from strat.verbs import metric_builds as builds
from strat.verbs.metric_builds import AUTO, LABELS, SCORES, Build
from strat.verbs.metric_words import ALIASES, ELSEWHERE

Metrics = Sequence[str | Callable[..., Statistic]] | str | Callable[..., Statistic]  # names, or functions of columns
AVERAGES = ("macro", "micro", "weighted")


@dataclass(frozen=True)
class Metric:
    """A measure: which columns it needs, and how its statistic is made from them.

    Attributes
    ----------
    name, needs, build
        What it is called, the roles of its columns, and the function from columns to a statistic.
    higher_is_better
        Whether a larger value is a better one.
    looks_at_one_class
        Whether it may ask which class is the positive one.
    averaged
        Whether it is a share of each class, which is averaged or had for each.
    average
        How its name says that it is averaged over classes: "macro", "micro" or "weighted" (None: it does not say).
    by_rows
        Whether it counts rows, as somebody's own function may: it gets the rows, not distinct ones with weights.
    of_repeats
        Whether it is made of the repeats of each item, such as "pass@3".
    together
        From the columns of all rows to a statistic whose function, and gradient, take the totals of each of many
        groups; or to several, with the number of the one that a row calls for (a group has the largest of its rows').
        None: a group's statistic is made of its own rows alone.
    """

    name: str
    needs: tuple[str, ...]
    build: Build
    higher_is_better: bool = True
    looks_at_one_class: bool = False
    averaged: bool = False
    average: str | None = None
    by_rows: bool = False
    of_repeats: bool = False
    together: Callable[[Mapping[str, Any]], tuple[Codes | None, tuple[Statistic, ...]]] | None = None


_AVERAGED = ("precision", "recall", "f1", "specificity", "jaccard")
_ONE_CLASS = ("negative_predictive_value", "false_positive_rate", "false_negative_rate")
_SHARES = ("accuracy", "error_rate", *_ONE_CLASS)
_ALL_CLASSES = ("balanced_accuracy", "kappa", "mcc")
_OF_SCORES = ("auc", "average_precision", "equal_error_rate")
_OF_PROBABILITIES = ("brier", "log_loss", "calibration_error")
_OF_NUMBERS = ("rmse", "mae", "mse", "mean_error", "r2")
_OF_TEXTS = ("wer", "cer", "mer", "wil", "bleu", "chrf", "ter", "exact_match", "token_f1")
_OF_FORECASTS = ("mape", "spearman", "kendall")
_LIKELIHOOD_RATIOS = ("positive_likelihood_ratio", "negative_likelihood_ratio")
_LOWER = ("cost_per_success", "mase", "mqm", "wer", "cer", "mer", "wil", "ter", "mape", "negative_likelihood_ratio",
          "error_rate", "equal_error_rate", "brier", "log_loss", "calibration_error", "rmse", "mae", "mse",
          "false_positive_rate", "false_negative_rate")  # fmt: skip

REPEATED: dict[str, Callable[..., Statistic]] = {
    "pass@": measures.pass_at_k, "pass^": measures.pass_hat_k, "best@": measures.best_of_k,
    "majority@": measures.majority_at_k, "mean@": measures.mean_at_k,
}  # fmt: skip
REPEATS = re.compile(r"(pass@|pass\^|best@|majority@|mean@)([1-9][0-9]{0,3})$")


def _of_repeats(function: Callable[..., Statistic], k: int, c: Mapping[str, Any]) -> Statistic:
    return function(np.asarray(c["score"], float), k=k, items=c["items"])


def _of_successes(build: Build, c: Mapping[str, Any]) -> Statistic:
    """A measure of repeats where a try succeeds if its label is the true one."""
    right = measures.accuracy(c["truth"], c["predicted"]).rows[0].codes
    return build({**c, "score": np.asarray(right, float)})


def _consistency(role: str, c: Mapping[str, Any]) -> Statistic:
    return measures.consistency(c[role], items=c["items"])


def _majority_vote(c: Mapping[str, Any]) -> Statistic:
    return measures.majority_vote(c["truth"], c["predicted"], items=c["items"])


def of_repeats(name: Any) -> Metric | None:
    """The measure of the repeats of each item that a name such as "pass@3", "pass^3" or "consistency" means."""
    if name == "consistency":
        return Metric(name, ("score", "items"), partial(_consistency, "score"), by_rows=True, of_repeats=True)
    parts = REPEATS.match(name) if isinstance(name, str) else None  # a function is none
    if parts is None:
        return None
    build = partial(_of_repeats, REPEATED[parts[1]], int(parts[2]))
    return Metric(name, ("score", "items"), build, by_rows=True, of_repeats=True)


def _of_labels_if_any(metric: Metric, given: set[str]) -> Metric:
    """The measure as it is, or of repeated labels, where these are at hand and scores are not."""
    if not metric.of_repeats or "score" in given or "predicted" not in given or "score" not in metric.needs:
        return metric
    if metric.name == "consistency":
        return replace(metric, needs=("predicted", "items"), build=partial(_consistency, "predicted"))
    return replace(metric, needs=(*LABELS, "items"), build=partial(_of_successes, metric.build))


def one_by_one(metrics: Any) -> list[Any]:
    """The names and functions of a list of measures, or the one name; none of other kinds, which are read only once."""
    if isinstance(metrics, str):
        return [metrics]
    return list(metrics) if isinstance(metrics, list | tuple) else []


def _classes(name: str, average: str | None) -> Metric:
    title = name if average == AUTO else f"{average}_{name}"
    auto = average == AUTO
    facts: dict[str, Any] = {"looks_at_one_class": auto, "averaged": auto, "average": None if auto else average}
    return Metric(title, LABELS, **_ways(name, average), **facts)


def _ways(name: str, average: str | None) -> dict[str, Any]:
    """How a share of classes is made, of all rows and of many groups together."""
    function = getattr(classification, name)
    return {
        "build": partial(builds.of_classes, function, average),
        "together": partial(builds.classes_together, function, average),
    }


def _each(
    names: Iterable[str],
    home: Any,
    columns: tuple[str, ...],
    build: Callable[..., Statistic],
    *,
    looks_at_one_class: bool = False,
) -> list[Metric]:
    """The measures that are functions of these names in a module, all made in the same way from the same columns."""
    return [
        Metric(name, columns, partial(build, getattr(home, name)), looks_at_one_class=looks_at_one_class)
        for name in names
    ]


def _of_module() -> list[Metric]:
    """The measures that are functions of labels, scores, numbers or texts."""
    return [
        *_each(("accuracy", "error_rate"), measures, LABELS, builds.of_labels),
        *_each(_ALL_CLASSES, classification, LABELS, builds.of_labels),
        *(_classes(name, average) for name in _AVERAGED for average in (AUTO, *AVERAGES)),
        *_each(_ONE_CLASS, classification, LABELS, builds.of_one_class, looks_at_one_class=True),
        *_each(_OF_SCORES, measures, SCORES, builds.of_scores, looks_at_one_class=True),
        *_each(_OF_PROBABILITIES, probabilities, SCORES, builds.of_scores, looks_at_one_class=True),
        *_each(_OF_NUMBERS, regression, LABELS, builds.of_labels),
        *_each(_OF_FORECASTS, measures, LABELS, builds.of_labels),
        *_each(_OF_TEXTS, measures, LABELS, builds.of_texts),
        *(Metric(kind.lower(), LABELS, partial(builds.of_texts, partial(measures.rouge, kind=kind))) for kind in ROUGE),
        Metric("chrf++", LABELS, partial(builds.of_texts, partial(measures.chrf, word_order=2))),
        *_each(_LIKELIHOOD_RATIOS, measures, LABELS, builds.of_one_class, looks_at_one_class=True),
        *_each(("observed_expected",), measures, SCORES, builds.of_scores, looks_at_one_class=True),
    ]


def _of_fields() -> list[Metric]:
    """The measures of fields that need columns of their own."""
    two_models, others = field_metrics.TWO_MODELS.items(), field_metrics.OTHERS.items()
    return [
        *(Metric(name, LABELS, build, by_rows=True) for name, build in field_metrics.RATERS.items()),
        *(Metric(name, SCORES, build, looks_at_one_class=True) for name, build in field_metrics.RISKS.items()),
        *(Metric(name, needs, build, by_rows="items" in needs) for name, (needs, build) in others),
        *(Metric(name, field_metrics.THREE, build, looks_at_one_class=True) for name, build in two_models),
    ]


def _all() -> dict[str, Metric]:
    every = [
        *_of_module(),
        *_of_fields(),
        Metric("majority_vote", (*LABELS, "items"), _majority_vote, by_rows=True, of_repeats=True),
        Metric("mean", ("score",), builds.mean_score, together=builds.means_by_kind),
        Metric("total", ("score",), builds.total),
        Metric("median", ("score",), builds.median),
    ]
    shares = {m.name: partial(builds.one_for_all, m.build) for m in every if m.name in _SHARES}
    return {
        m.name: replace(m, higher_is_better=m.name not in _LOWER, together=shares.get(m.name, m.together))
        for m in every
    }


METRICS = _all()


def chosen(
    metrics: Metrics | None, roles: Mapping[str, str | None], average: str | None = AUTO, *, decided: bool = False
) -> list[Metric]:
    """The measures asked for, or those that the columns at hand suggest.

    `decided` says that predictions come from a score and a threshold; `average` is how shares of classes are averaged.
    """
    given = {role for role, name in roles.items() if name is not None} | ({"predicted"} if decided else set())
    if metrics is None:
        wanted: list[Any] = _default(given, decided=decided)
    else:
        wanted = [metrics] if isinstance(metrics, str) or callable(metrics) else _listed(metrics)
    if not wanted:
        raise StratError.about("metrics", "must name at least one measure, got none.")
    selected = [_of_labels_if_any(named(metric), given) for metric in _apart(wanted)]
    for metric in selected:
        absent = [role for role in metric.needs if role not in given]
        if absent:
            instead = " (or `score` with `threshold`)" if absent[0] == "predicted" else ""
            raise StratError.about(absent[0], f"must name a column for the measure {metric.name!r}{instead}, got None.")
    return selected if average == AUTO else _with_average(selected, average)


def _apart(wanted: Sequence[Any]) -> list[Any]:
    """Names one by one: a text may hold several, comma-separated."""
    return [one for given in wanted for one in (given.split(",") if isinstance(given, str) else [given])]


def _with_average(metrics: Sequence[Metric], average: str | None) -> list[Metric]:
    if average is not None:
        one_of("average", average, (AUTO, *AVERAGES))
    if not any(metric.averaged for metric in metrics):
        names = some([metric.name for metric in metrics])
        raise StratError.about(
            "average", f"must be left out for {names}, which are not averaged over classes, got {average!r}."
        )
    return [_averaged(metric, average) if metric.averaged else metric for metric in metrics]


def _averaged(metric: Metric, average: str | None) -> Metric:
    """A share of each class as it is averaged, or (None) as one value of each class."""
    ways = _ways(ALIASES.get(metric.name, metric.name), average)
    return replace(metric, **ways, looks_at_one_class=False, averaged=False)


def _listed(metrics: Any) -> list[Any]:
    if isinstance(metrics, Iterable) and getattr(metrics, "ndim", 1) == 1:
        return list(metrics)
    raise StratError.about("metrics", f"must be a name, a function, or a list of these, got {shown(metrics)}.")


def _default(given: set[str], *, decided: bool) -> list[str]:
    if decided:
        return ["accuracy", "sensitivity", "specificity", "ppv", "auc"]
    if {"truth", "predicted"} <= given:
        return ["accuracy", "macro_f1", *(["auc"] if "score" in given else [])]
    if {"truth", "score"} <= given:
        return ["auc"]
    if "score" in given:
        return ["mean"]
    if "truth" in given:
        raise StratError.about("predicted", "or `score` must name a column beside `truth`, got neither.")
    if "predicted" in given:
        raise StratError.about("truth", "must name the column of true labels beside `predicted`, got None.")
    raise StratError.about(
        "truth",
        "and `predicted` (or `score`) must name the columns to evaluate, got none of them; for a column that "
        "already says how right a row is, give `score` alone.",
    )


def named(metric: Any) -> Metric:
    """The measure of this name, or that a user-defined function makes."""
    if callable(metric):
        name = getattr(metric, "__name__", "statistic")
        better = getattr(metric, "higher_is_better", METRICS[name].higher_is_better if name in METRICS else True)
        return Metric(name, LABELS, lambda c: _made(name, metric(c["truth"], c["predicted"])), better, by_rows=True)
    key = _key(str(metric))
    known = METRICS.get(ALIASES.get(key, key)) or of_repeats(key) or _at_a_number(key)
    if known is None:
        home = ELSEWHERE.get(key) or ELSEWHERE.get(key.partition("@")[0])
        hint = f"it is {home}" if home else near(key, [*METRICS, *ALIASES])
        raise StratError.about("metrics", f"must be names of measures, got {shown(metric)}; {hint}")
    return replace(known, name=key)


def _key(name: str) -> str:
    """A name as it is looked up: small letters, and one sign between words."""
    return re.sub(r"(?<=.)[- ](?=.)", "_", name.strip().lower())


def _at_a_number(name: str) -> Metric | None:
    """The measure that a name such as "net_benefit@0.2" means."""
    numbered = field_metrics.at_a_number(name)
    if numbered is None:
        return None
    kind, number = numbered
    build = partial(kind.build, number)
    return Metric(name, kind.needs, build, kind.higher_is_better, looks_at_one_class=kind.looks_at_one_class)


def _made(name: str, statistic: Any) -> Statistic:
    """The result of a user-defined function, if it is a statistic."""
    if isinstance(statistic, Statistic):
        return statistic
    raise StratError.about(
        "metrics",
        f"must make statistics, such as strat.accuracy does, got {shown(statistic)} from {name!r}; wrap a "
        f"function that returns a number: lambda truth, predicted: strat.metric({name}, truth, predicted).",
    )


def single(metric: Metric, statistic: Statistic) -> Statistic:
    """The statistic, if it is a single number."""
    if statistic.shape:
        raise StratError.about(
            "metrics", f"must be single numbers here, got {metric.name!r} with shape {statistic.shape}."
        )
    return statistic


def columns_of(cells: Cells, positive: object) -> dict[str, Any]:
    """What a measure's statistic is made from."""
    return {**cells.columns, "positive": positive}


def one_class(metrics: Sequence[Metric], positive: object) -> None:
    """Refuse a positive class that no measure looks at, so that it is not ignored silently."""
    if not any(metric.looks_at_one_class for metric in metrics):
        names = some([metric.name for metric in metrics])
        refused(positive, f"where no measure looks at one class ({names}; ask for 'f1' or 'recall', say)")

"""Scikit-learn's names of scorers to statistics of predictions and scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.base.errors import StratError, near
from strat.base.validate.arguments import shown
from strat.base.validate.columns import Array
from strat.measures import Statistic, regression
from strat.measures.positive import positive_of
from strat.measures.probabilities import brier, log_loss, top_k_accuracy
from strat.measures.scores import auc, average_precision
from strat.verbs.metric_builds import LABELS, SCORES
from strat.verbs.metric_words import ALIASES
from strat.verbs.metrics import AVERAGES, METRICS, Metric, named, single


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a model said about rows whose labels are known.

    Attributes
    ----------
    truth, predicted
        Labels.
    scores
        Rows × classes; one column, of the second class, for two classes by decision; None: the model gives none.
    probabilities
        Whether the scores are probabilities.
    classes
        The labels that the columns of `scores` stand for.
    positive
        The class that was named.
    model
        What the model is called.
    """

    truth: NDArray[Any]
    predicted: NDArray[Any]
    scores: Array | None
    probabilities: bool
    classes: NDArray[Any]
    positive: object
    model: str

    def at(self, rows: Any) -> Outcome:
        """The same for some of the rows."""
        scores = None if self.scores is None else self.scores[rows]
        return replace(self, truth=self.truth[rows], predicted=self.predicted[rows], scores=scores)

    def every_class(self, name: str) -> Array:
        """Scores of each class."""
        if self.scores is None:
            raise StratError.about(
                "scoring",
                f"must not hold {name!r} for {self.model}, which gives no score for each class in every "
                "fold; it needs predict_proba or decision_function, and every class in every training set.",
            )
        return self.scores

    def of_one(self, name: str, positive: object) -> dict[str, Any]:
        """The truth, the scores of one of two classes, and that class, as score measures take them."""
        place = self.classes.tolist().index(label := positive_of(self.classes, positive))
        scores = self.every_class(name)
        score = scores[:, place] if scores.shape[1] > 1 else scores[:, 0] * (1.0 if place else -1.0)
        return {"truth": self.truth, "score": score, "positive": label}

    @property
    def either(self) -> object:
        """The class to look at where the answer is the same for both: the named one, or the second."""
        return self.classes[1] if self.positive is None else self.positive


Build = Callable[[Outcome], Statistic]


@dataclass(frozen=True)
class Scorer:
    """A measure under the name that was asked for, and how it is made of an outcome.

    The name comes without scikit-learn's ``"neg_"``: a loss is given as itself.
    """

    metric: Metric
    build: Build

    @property
    def name(self) -> str:
        """What was asked for."""
        return self.metric.name

    @property
    def by_score(self) -> bool:
        """Whether it looks at scores."""
        return self.metric.needs == SCORES

    def statistic(self, outcome: Outcome) -> Statistic:
        """The statistic of an outcome, if it is a single number."""
        return single(self.metric, self.build(outcome))


def _area(name: str, multi_class: str = "ovr", average: str = "macro") -> Build:
    def build(o: Outcome) -> Statistic:
        if len(o.classes) == 2 or o.positive is not None:
            return auc(**o.of_one(name, o.either))
        return auc(o.truth, o.every_class(name), multi_class=multi_class, average=average, labels=o.classes)

    return build


def _average_precision(o: Outcome) -> Statistic:
    if len(o.classes) == 2 or o.positive is not None:
        return average_precision(**o.of_one("average_precision", o.positive))
    return average_precision(o.truth, o.every_class("average_precision"), labels=o.classes)


def _of_probabilities(name: str, function: Callable[..., Statistic]) -> Build:
    def build(o: Outcome) -> Statistic:
        if not o.probabilities:
            raise StratError.about(
                "scoring",
                f"must not hold {name!r} for {o.model}, which gives no probabilities; it needs predict_proba.",
            )
        return function(o.truth, o.every_class(name), labels=o.classes)

    return build


def _top(o: Outcome) -> Statistic:
    scores = o.every_class("top_k_accuracy")
    return top_k_accuracy(o.truth, scores, labels=o.classes) if scores.shape[1] > 1 else _two(o, scores)


def _two(o: Outcome, scores: Array) -> Statistic:
    return top_k_accuracy(o.truth, np.column_stack([-scores[:, 0], scores[:, 0]]), labels=o.classes)


BY_SCORE: dict[str, Build] = {
    "auc": _area("roc_auc"),
    "roc_auc_ovr": _area("roc_auc_ovr"),
    "roc_auc_ovr_weighted": _area("roc_auc_ovr_weighted", average="weighted"),
    "roc_auc_ovo": _area("roc_auc_ovo", multi_class="ovo"),
    "roc_auc_ovo_weighted": _area("roc_auc_ovo_weighted", multi_class="ovo", average="weighted"),
    "average_precision": _average_precision,
    "log_loss": _of_probabilities("log_loss", log_loss),
    "brier": _of_probabilities("brier_score", brier),
    "top_k_accuracy": _top,
}


def scorers(scoring: Any, *, scored: bool) -> list[Scorer]:
    """The measures that were asked for; by default accuracy, the macro F1 and, where there are scores, the AUC."""
    if scoring is None:
        wanted: list[tuple[str | None, Any]] = [(None, "accuracy"), (None, "f1_macro")]
        wanted += [(None, "roc_auc")] if scored else []
    elif isinstance(scoring, Mapping):
        wanted = list(scoring.items())
    elif isinstance(scoring, str | bytes) or not isinstance(scoring, Iterable) or getattr(scoring, "ndim", 1) == 0:
        wanted = [(None, scoring)]
    else:
        wanted = [(None, one) for one in scoring]
    if not wanted:
        raise StratError.about("scoring", "must name at least one measure, got none.")
    return [_scorer(name, one) for name, one in wanted]


def _scorer(name: str | None, scoring: Any) -> Scorer:
    if callable(scoring):
        return _own(name, scoring)
    if not isinstance(scoring, str):
        raise StratError.about("scoring", f"must be names such as 'f1_macro', or functions, got {shown(scoring)}.")
    key = scoring.strip().lower().removeprefix("neg_")
    ours = _our_name(key)
    if ours in BY_SCORE:
        return Scorer(replace(METRICS.get(ours, METRICS["auc"]), name=name or key), BY_SCORE[ours])
    metric = METRICS.get(ours)
    if metric is None or metric.needs not in (LABELS, SCORES) or hasattr(regression, ours):
        hint = near(key, [*_names(), *BY_SCORE])
        raise StratError.about("scoring", f"must be names of classification scorers, got {shown(scoring)}; {hint}")
    metric = replace(metric, name=name or key)
    return Scorer(metric, _of_labels(metric) if metric.needs == LABELS else _of_score(metric))


def _our_name(key: str) -> str:
    stem, _, average = key.rpartition("_")
    averaged = average in AVERAGES and key not in BY_SCORE
    return f"{average}_{stem}" if averaged else ALIASES.get(key, key)


def _names() -> list[str]:
    """Scikit-learn's spelling of the measures of labels."""
    of_labels = [m for name, m in METRICS.items() if m.needs == LABELS and not hasattr(regression, name)]
    return [m.name if m.average is None else f"{m.name.removeprefix(f'{m.average}_')}_{m.average}" for m in of_labels]


def _of_score(metric: Metric) -> Build:
    return lambda o: metric.build(o.of_one(metric.name, o.positive))


def _of_labels(metric: Metric) -> Build:
    return lambda o: metric.build(
        {"truth": o.truth, "predicted": o.predicted, "positive": o.positive, "labels": tuple(o.classes.tolist())}
    )


def _own(name: str | None, function: Callable[..., Any]) -> Scorer:
    """A user-defined function of (truth, predicted), which makes a statistic; scikit-learn's scorers make none."""
    if hasattr(function, "_score_func"):
        raise StratError.about(
            "scoring",
            f"must be a name, or a function of (truth, predicted) that makes a statistic (see strat.metric), "
            f"got the scikit-learn scorer {shown(function)}, whose value has no interval.",
        )
    metric = named(function)
    return Scorer(replace(metric, name=name or metric.name), _of_labels(metric))

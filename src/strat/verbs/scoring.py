"""Scikit-learn's names of scorers to statistics of predictions and scores."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.base.errors import StratError, near
from strat.base.validate.arguments import shown
from strat.base.validate.columns import Array
from strat.measures.base import Statistic
from strat.measures.classification import f1
from strat.measures.positive import positive_of
from strat.measures.register import LABELS, SCORES, Measure, known, words
from strat.verbs.metrics import named, single


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


@dataclass(frozen=True)
class Scorer:
    """A measure under the name that was asked for.

    The name comes without scikit-learn's ``"neg_"``: a loss is given as itself.
    """

    metric: Measure

    @property
    def name(self) -> str:
        """What was asked for."""
        return self.metric.word

    @property
    def by_score(self) -> bool:
        """Whether it looks at scores."""
        return self.metric.needs == SCORES

    @property
    def mean_of_f1(self) -> bool:
        """Whether it is the mean of F1 over classes."""
        return self.metric.function is f1 and self.metric.given.get("average") == "macro"

    def statistic(self, outcome: Outcome) -> Statistic:
        """The statistic of an outcome, if it is a single number."""
        return single(self.metric, self._made(outcome))

    def _made(self, o: Outcome) -> Statistic:
        """Of labels; of scores of each class where the function takes these; or of one class."""
        if not self.by_score:
            labels = tuple(o.classes.tolist())
            return self.metric.build(
                {"truth": o.truth, "predicted": o.predicted, "positive": o.positive, "labels": labels}
            )
        arguments, name = self.metric.arguments, self.metric.word
        if "probability" in arguments and "labels" in arguments and not o.probabilities:
            raise StratError.about(
                "scoring",
                f"must not hold {name!r} for {o.model}, which gives no probabilities; it needs predict_proba.",
            )
        ranks_one_class = self.metric.of == "pair" and (len(o.classes) == 2 or o.positive is not None)
        if "labels" in arguments and not ranks_one_class:
            scores = o.every_class(name)
            if self.metric.reads == "matrix" and scores.shape[1] == 1:
                scores = np.column_stack([-scores[:, 0], scores[:, 0]])
            return self.metric.function(o.truth, scores, labels=o.classes, **self.metric.given)
        return self.metric.build(o.of_one(name, o.either if self.metric.symmetric else o.positive))


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
    if hasattr(scoring, "_score_func"):
        raise StratError.about(
            "scoring",
            f"must be a name, or a function of (truth, predicted) that makes a statistic (see strat.metric), "
            f"got the scikit-learn scorer {shown(scoring)}, whose value has no interval.",
        )
    if not callable(scoring) and not isinstance(scoring, str):
        raise StratError.about("scoring", f"must be names such as 'f1_macro', or functions, got {shown(scoring)}.")
    key = re.sub("^neg_", "", scoring.strip(), flags=re.IGNORECASE) if isinstance(scoring, str) else scoring
    metric = _of_classes(key)
    if metric is None:
        options = [word for word in words() if _of_classes(word) is not None]
        raise StratError.about(
            "scoring", f"must be names of classification scorers, got {shown(scoring)}; {near(key, options)}"
        )
    return Scorer(metric.called(name) if name else metric)


def _of_classes(word: Any) -> Measure | None:
    """The measure of this name, if it is of the labels or the scores of a classifier."""
    metric = named(word) if callable(word) else known(word)
    if metric is None:
        return None
    return metric if metric.needs in (LABELS, SCORES) and metric.reads in ("labels", "matrix") else None

"""From the columns of a table to a statistic: how the measures of each kind are made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from strat import measures
from strat.base.validate.columns import Codes, encode
from strat.measures import Statistic, classification
from strat.measures.positive import positive_of

Build = Callable[[Mapping[str, Any]], Statistic]
AUTO = "auto"  # of the positive class where there are two classes, else macro
LABELS, SCORES = ("truth", "predicted"), ("truth", "score")


def of_labels(function: Callable[..., Statistic], c: Mapping[str, Any]) -> Statistic:
    """Of true and predicted labels."""
    return function(c["truth"], c["predicted"])


def of_texts(function: Callable[..., Statistic], c: Mapping[str, Any]) -> Statistic:
    """Of references and hypotheses; what a reader took for numbers is text again."""
    return function(*([str(value) for value in np.asarray(c[role]).tolist()] for role in LABELS))


def of_one_class(function: Callable[..., Statistic], c: Mapping[str, Any]) -> Statistic:
    """Of labels and the class that is looked at."""
    labels = c.get("labels") or labels_of(c["truth"], c["predicted"])
    return function(c["truth"], c["predicted"], positive=positive_of(labels, c.get("positive")))


def of_scores(function: Callable[..., Statistic], c: Mapping[str, Any]) -> Statistic:
    """Of true labels and scores of the class that is looked at."""
    return function(c["truth"], c["score"], positive=c.get("positive"))


def of_classes(function: Callable[..., Statistic], average: str | None, c: Mapping[str, Any]) -> Statistic:
    """A share of the positive class if there are two, else the macro mean; or as `average` says."""
    if average != AUTO:
        return function(c["truth"], c["predicted"], average=average)
    positive, labels = c.get("positive"), c.get("labels") or labels_of(c["truth"], c["predicted"])
    if positive is None and len(labels) > 2:
        return function(c["truth"], c["predicted"], average="macro")
    return function(c["truth"], c["predicted"], average="binary", positive=positive_of(labels, positive))


def labels_of(*columns: Any) -> tuple[Any, ...]:
    """The distinct labels of several columns."""
    return tuple(np.unique(np.concatenate([encode("predicted", column)[1] for column in columns])).tolist())


def mean_score(c: Mapping[str, Any]) -> Statistic:
    """The mean of scores, as a share where all are 0 or 1."""
    kinds, means = means_by_kind(c)
    return means[int(kinds.max(initial=0))]


def means_by_kind(c: Mapping[str, Any]) -> tuple[Codes, tuple[Statistic, ...]]:
    """For each score whether it is 0 or 1, lies between, or beyond; and the mean of scores up to each kind."""
    score = np.asarray(c["score"], float)
    anything = measures.mean(score).renamed("mean score")
    inside = replace(anything, link="logit", bounds=(0.0, 1.0))
    kinds = np.where((score < 0) | (score > 1), 2, np.where(np.isin(score, (0.0, 1.0)), 0, 1))
    return kinds, (replace(inside, proportion=True), inside, anything)


def one_for_all(build: Build, c: Mapping[str, Any]) -> tuple[None, tuple[Statistic, ...]]:
    """The same statistic for all groups."""
    return None, (build(c),)


def classes_together(
    function: Callable[..., Statistic], average: str | None, c: Mapping[str, Any]
) -> tuple[None, tuple[Statistic, ...]]:
    """The share of one class, or the macro mean over the classes that a group holds."""
    statistic = of_classes(function, average, c)
    if statistic.positive is not None:
        return None, (statistic,)
    if average in (AUTO, "macro") and function in (classification.f1, classification.jaccard):
        # what is 0 / 0 in a group is a class that the group does not hold
        return None, (function(c["truth"], c["predicted"], average="macro", zero_division=float("nan")),)
    return None, ()


def total(c: Mapping[str, Any]) -> Statistic:
    """The sum of scores."""
    return measures.total(np.asarray(c["score"], float))


def median(c: Mapping[str, Any]) -> Statistic:
    """The middle score."""
    return measures.quantile(np.asarray(c["score"], float), 0.5).renamed("median")

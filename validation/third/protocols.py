"""Cross-validated models: rare classes, more features than the rows allow, neighbours, units, several classes.

Cheap models, for each draw trains them some fifteen times. The target of "default" is the model that is trained on all
the rows; "models of this size" moves the same interval to their mean.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.tree import DecisionTreeClassifier

import strat
from strat import protocols

from ..trials import Array, Draw, Rng, Scenario, Trial

TESTED, TRAININGS = 6_000, 60  # rows that a true value comes from, and models that the mean over models comes from
MODELS: dict[str, Callable[[], Any]] = {
    "LDA": LinearDiscriminantAnalysis,
    "naive Bayes": GaussianNB,
    "1-NN": lambda: KNeighborsClassifier(1),
    "5-NN": lambda: KNeighborsClassifier(5),
    "nearest mean": NearestCentroid,
    "tree": lambda: DecisionTreeClassifier(max_depth=3, random_state=0),
}
LAYOUTS = {  # model, rows, odds of the classes, features, distance, rows of a unit
    "LDA, 250 rows, one in 12": ("LDA", 250, (11, 1), 3, 1.0, 1),
    "LDA, 80 rows, 16 features": ("LDA", 80, (2, 1), 16, 0.9, 1),
    "naive Bayes, 160 rows, one in 5": ("naive Bayes", 160, (4, 1), 4, 0.7, 1),
    "1-NN, 120 rows, one in 3": ("1-NN", 120, (2, 1), 3, 0.9, 1),
    "5-NN, 200 rows, three classes": ("5-NN", 200, (1, 1, 1), 3, 1.1, 1),
    "nearest mean, 90 rows, 12 features": ("nearest mean", 90, (1, 1), 12, 0.6, 1),
    "tree, 180 rows, one in 4": ("tree", 180, (3, 1), 5, 1.0, 1),
    "LDA, 60 units of 4 rows": ("LDA", 240, (2, 1), 4, 0.9, 4),
}
RUNS: dict[str, Callable[..., Any]] = {
    "5 folds": lambda *a, **how: protocols.cross_validation(*a, cv=5, **how),
    "10 folds": protocols.cross_validation,
    "3 × 5 folds": lambda *a, **how: protocols.cross_validation(*a, cv=5, repeats=3, **how),
    "30 hold-outs": protocols.repeated_holdout,
    "bootstrap": lambda *a, **how: protocols.bootstrap(*a, replicates=40, **how),
}
MEASURES = {"accuracy": "accuracy", "f1_macro": "macro F1", "roc_auc": "AUC"}


def data(
    rng: Rng, rows: int, classes: tuple[int, ...], features: int, distance: float, each: int
) -> tuple[Array, Array, Array]:
    """Normal classes a distance apart, whose rows come in units with effects of their own; no class of under ten."""
    share = np.array(classes) / sum(classes)
    while True:
        unit = np.repeat(np.arange(rows // each), each)
        y = rng.choice(len(classes), rows // each, p=share)[unit]
        if np.bincount(y, minlength=len(classes)).min() >= 10 * each:
            break
    X = rng.normal(size=(rows, features)) + (rng.normal(size=(rows // each, features))[unit] if each > 1 else 0.0)
    for label in range(1, len(classes)):
        X[y == label, label - 1] += 1.5 * distance
    return X, y, unit


def value(measure: str, model: Any, X: Array, y: Array) -> float:
    """The true value of a trained model, on many rows."""
    if measure == "roc_auc":
        return float(roc_auc_score(y, model.predict_proba(X)[:, 1]))
    predicted = model.predict(X)
    return float(np.mean(predicted == y) if measure == "accuracy" else f1_score(y, predicted, average="macro"))


@cache
def mean_of_models(name: str, measure: str) -> float:
    """The mean over models that are trained on as many rows."""
    kind, *layout = LAYOUTS[name]
    rng = np.random.default_rng(1)
    X, y, _ = data(rng, TESTED, *layout[1:])
    trained = (MODELS[kind]().fit(*data(rng, *layout)[:2]) for _ in range(TRAININGS))
    return float(np.mean([value(measure, model, X, y) for model in trained]))


def measured(name: str, measure: str) -> Draw:
    """A measure by five folds of `cross_validate`, and Student's limits of the folds' mean by Nadeau and Bengio."""
    kind, *layout = LAYOUTS[name]
    on_average = mean_of_models(name, measure)

    def draw(rng: Rng) -> Trial:
        X, y, unit = data(rng, *layout)
        everybody, labels, _ = data(rng, TESTED, *layout[1:])
        truth = value(measure, MODELS[kind]().fit(X, y), everybody, labels)
        how = {"units": unit} if layout[-1] > 1 else {}
        result = strat.cross_validate(MODELS[kind](), X, y, scoring=measure, rng=int(rng.integers(2**31)), **how)
        low, high = result.interval(measure)
        folds = result.folds[measure]
        half = 2.776 * protocols.corrected_se(folds, 1 / 4)
        shift = truth - on_average
        found = {
            "default": (low, high),
            "models of this size": (low + shift, high + shift),
            "t of the folds": (folds.mean() - half, folds.mean() + half),
        }
        return Trial(None, None, truth, {}, {"limits": found, "notes": result.notes, "span": 2.0})

    return draw


def run_by(name: str, protocol: str) -> Draw:
    """The error by a protocol."""
    kind, *layout = LAYOUTS[name]
    on_average = 1.0 - mean_of_models(name, "accuracy")

    def draw(rng: Rng) -> Trial:
        X, y, unit = data(rng, *layout)
        everybody, labels, _ = data(rng, TESTED, *layout[1:])
        truth = 1.0 - value("accuracy", MODELS[kind]().fit(X, y), everybody, labels)
        how = {"units": unit} if layout[-1] > 1 else {}
        low, high = RUNS[protocol](MODELS[kind](), X, y, rng=int(rng.integers(2**31)), **how).interval()
        shift = truth - on_average
        found = {"default": (low, high), "models of this size": (low + shift, high + shift)}
        return Trial(None, None, truth, {}, {"limits": found, "notes": (), "span": 2.0})

    return draw


SCENARIOS = [
    Scenario(f"{words} of {name}", f"cross-validated models, {words}", name,
             lambda a=(name, measure): measured(*a), ("limits",))
    for measure, words in MEASURES.items()
    for name, (kind, _, classes, *_) in LAYOUTS.items()
    if measure != "roc_auc" or (len(classes) == 2 and kind != "nearest mean")
] + [
    Scenario(f"error of {name}, {protocol}", "protocols", protocol, lambda a=(name, protocol): run_by(*a), ("limits",))
    for protocol, names in {
        "5 folds": ("LDA, 250 rows, one in 12", "tree, 180 rows, one in 4", "LDA, 60 units of 4 rows"),
        "10 folds": ("naive Bayes, 160 rows, one in 5", "1-NN, 120 rows, one in 3"),
        "3 × 5 folds": ("LDA, 80 rows, 16 features", "nearest mean, 90 rows, 12 features"),
        "30 hold-outs": ("LDA, 250 rows, one in 12", "LDA, 80 rows, 16 features"),
        "bootstrap": ("LDA, 250 rows, one in 12", "5-NN, 200 rows, three classes"),
    }.items()
    for name in names
]  # fmt: skip

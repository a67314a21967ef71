"""How far can one get? Bounds of the Bayes error from data, and the parts of an error where the truth is known."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strat.base import extras
from strat.base.errors import StratError
from strat.base.result import Result
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, Codes, encode, numbers, same_length
from strat.base.validate.scalars import Rng, generator
from strat.designs import Design
from strat.estimation import Estimate, estimate
from strat.gaussian.bayes import bayes_error, classifier_error
from strat.gaussian.error_parts import ErrorParts
from strat.gaussian.problems import Problem
from strat.measures.means import mean
from strat.protocols.protocol_result import case_design
from strat.protocols.running import fit, seeded, task
from strat.protocols.selection import checked_rows

NEIGHBOUR, ANNOTATORS = "nearest neighbour's error", "annotators' disagreement"
ASSUMED = {
    NEIGHBOUR: "for large samples: the error of a finite sample is above its limit",
    ANNOTATORS: "if annotators see what the classifier sees and err independently of each other",
}


@dataclass(frozen=True, repr=False)
class BayesBounds(Result):
    """Between which values the Bayes error lies, by Cover and Hart's inequality.

    Attributes
    ----------
    lower, upper
        The bounds at the observed error.
    error, se
        The error of the nearest neighbour (each row tested against all others) or the disagreement of two annotators,
        and its standard error.
    classes
        Number of classes.
    source
        Where the error comes from.
    """

    lower: float
    upper: float
    error: float
    se: float
    classes: int
    source: str = NEIGHBOUR

    def __str__(self) -> str:
        """The bounds as a sentence."""
        return (
            f"Bayes error between {self.lower:.4f} and {self.upper:.4f} by the {self.source} {self.error:.4f} "
            f"(se {self.se:.4f}), {ASSUMED[self.source]}"
        )


@checked
def bayes_error_bounds(X: ArrayLike, y: ArrayLike, *, units: ArrayLike | None = None) -> BayesBounds:
    """Cover and Hart's bounds of the Bayes error from the leave-one-out error e of the nearest neighbour.

    In the limit of many rows e lies between the Bayes error and twice that (less for many classes), so that the Bayes
    error is at most e and at least (K − 1)/K · (1 − sqrt(1 − K/(K − 1) · e)).

    Parameters
    ----------
    X, y
        Features (their scales matter) and labels.
    units
        Clusters of rows: neighbours are looked for in other clusters only.

    Examples
    --------
    One row of four has its neighbour in the other class: e = 1/4, and (1 − sqrt(1 − 1/2)) / 2 = 0.146.

    >>> bounds = bayes_error_bounds([[0.0], [1.0], [2.1], [9.0]], [0, 0, 1, 1])
    >>> bounds.error, round(bounds.lower, 4), bounds.upper
    (0.25, 0.1464, 0.25)
    """
    table, codes = checked_rows(X, y)
    unit = None if units is None else encode("units", units)[0]
    if unit is not None:
        same_length(y=codes, units=unit)
        if len(np.unique(unit)) < 2:
            raise StratError.about("units", "must name at least two units, got one.")
    wrong = (codes[_neighbours(table, unit)] != codes).astype(float)
    design = case_design(unit, len(codes))
    se = float("nan") if design is None else float(estimate(mean(wrong), on=design).se)
    return _cover_hart(float(wrong.mean()), se, int(codes.max()) + 1, NEIGHBOUR)


def _cover_hart(error: float, se: float, classes: int, source: str) -> BayesBounds:
    most = (classes - 1) / classes
    lower = most * (1.0 - math.sqrt(max(0.0, 1.0 - error / most)))
    return BayesBounds(lower, min(error, most), error, se, classes, source)


@checked
def annotator_error_bounds(votes: ArrayLike, *, units: ArrayLike | None = None) -> BayesBounds:
    """Bounds of the Bayes error from how often two annotators of one row disagree.

    Annotators who label a row with the probabilities of its classes, independently, disagree as often as the nearest
    neighbour errs in the limit of many rows: with probability 1 − Σ p². Cover and Hart's inequality then holds for
    their disagreement, over all pairs of annotators of a row.

    Parameters
    ----------
    votes
        Rows × annotators: the label that each of them gave. Every row needs all of them.
    units
        Clusters of rows.

    Examples
    --------
    Two of three annotators agree on the first row and all on the others: (2/3 + 0 + 0) / 3 = 0.2222.

    >>> bounds = annotator_error_bounds([["a", "a", "b"], ["b", "b", "b"], ["a", "a", "a"]])
    >>> round(bounds.error, 4), round(bounds.lower, 4)
    (0.2222, 0.1273)
    """
    table = np.asarray(votes)
    if table.ndim != 2 or table.shape[1] < 2 or len(table) < 2:
        raise StratError.about("votes", f"must be rows × annotators, two or more of each, got the shape {table.shape}.")
    codes, labels = encode("votes", table.ravel())
    if len(labels) < 2:
        raise StratError.about("votes", f"must name at least two classes, got {len(labels)}.")
    rows, annotators = table.shape
    cells = np.repeat(np.arange(rows), annotators) * len(labels) + codes
    kinds, counts = np.unique(cells, return_counts=True)
    together = np.bincount(kinds // len(labels), counts * (counts - 1.0), minlength=rows)
    apart = mean(1.0 - together / (annotators * (annotators - 1.0)))
    value = estimate(apart, on=_design("votes", rows, units))
    return _cover_hart(float(value.value), float(value.se), len(labels), ANNOTATORS)


def _design(argument: str, rows: int, units: ArrayLike | None) -> Design:
    """How the rows were drawn."""
    unit = None if units is None else encode("units", units)[0]
    if unit is not None:
        same_length(**{argument: np.empty(rows), "units": unit})
    design = case_design(unit, rows)
    if design is None:
        raise StratError.about("units", "must name at least two units, got one.")
    return design


@checked
def soft_label_error(probabilities: ArrayLike, *, units: ArrayLike | None = None) -> Estimate:
    """The Bayes error from soft labels: the mean of 1 − the largest probability of a row, with its interval.

    Rows × classes that sum to 1, or the shares of annotators' votes. Shares of few votes make it too low: the largest
    of few shares is too high on the average.

    Examples
    --------
    >>> float(soft_label_error([[0.9, 0.1], [0.3, 0.7], [0.5, 0.5], [1.0, 0.0]]).value)
    0.225
    """
    p = numbers("probabilities", probabilities)
    if p.ndim != 2 or p.shape[1] < 2 or len(p) < 2:
        raise StratError.about(
            "probabilities", f"must be rows × classes, two or more of each, got the shape {p.shape}."
        )
    if (p < 0).any() or not np.allclose(p.sum(axis=1), 1.0, atol=1e-6):
        raise StratError.about("probabilities", "must be at least 0 and sum to 1 in every row; divide by the sum.")
    return estimate(mean(1.0 - p.max(axis=1)), on=_design("probabilities", len(p), units))


def _neighbours(table: np.ndarray, unit: np.ndarray | None) -> np.ndarray:
    """The nearest other row (of another unit) of each row."""
    neighbours = extras.load("sklearn.neighbors")
    most = 1 if unit is None else int(np.bincount(unit).max())
    nearest = neighbours.NearestNeighbors(n_neighbors=min(most + 1, len(table))).fit(table).kneighbors(table)[1]
    own = nearest == np.arange(len(table))[:, None] if unit is None else unit[nearest] == unit[:, None]
    return np.asarray(nearest[np.arange(len(table)), own.argmin(axis=1)])


@checked
def error_parts(
    estimator: Any, X: ArrayLike, y: ArrayLike, *, problem: Problem, rows: int = 20_000, rng: Rng = 0
) -> ErrorParts:
    """Where the error of any classifier comes from, Kuncheva (1.7), when the problem is known.

    The best solution of the model is taken to be what it learns from `rows` rows of the problem; what the classifier
    that was trained on `X` and `y` errs more is its approximation error, and can be negative by chance. All errors are
    averages of posteriors over the same 200,000 points, to which Bayes' error is known better.

    Parameters
    ----------
    estimator
        Any scikit-learn classifier.
    X, y
        The training rows; labels in the order of the classes of the problem.
    problem
        The classes and priors, such as `problem` of samples from `strat.datasets`.
    rows
        How many rows the best solution learns from.
    rng
        Seed or Generator.

    Examples
    --------
    One nearest neighbour errs 2 E[p (1 − p)] in the limit: 0.225 for unit Gaussians 2 apart, Bayes' rule 0.159.

    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from strat.datasets import gaussian_classes
    >>> data = gaussian_classes(40, means=[[-1.0], [1.0]], rng=1)
    >>> parts = error_parts(KNeighborsClassifier(1), data.X, data.y, problem=data.problem)
    >>> round(parts.bayes, 4), abs(parts.model - 0.066) < 0.004
    (0.1587, True)
    """
    job = task(estimator, X, y, None, rng)
    if len(job.classes) != len(problem.classes):
        raise StratError.about(
            "y", f"must have the {len(problem.classes)} classes of the problem, got {len(job.classes)}."
        )
    source = generator(rng)
    drawn = [kind.sample(math.ceil(rows * p), source) for kind, p in zip(problem.classes, problem.priors, strict=True)]
    own, best = seeded(job, 2)
    fit(own, job.X, job.y)
    fit(best, np.vstack(drawn), np.repeat(job.classes, [len(part) for part in drawn]))
    rules: list[Any] = [partial(_codes, own, job.classes), partial(_codes, best, job.classes), problem.decide]
    ours, limit, least = (classifier_error(problem, rule).value for rule in rules)
    bayes = bayes_error(problem).value
    return ErrorParts(bayes + ours - least, ours - limit, limit - least, bayes)


def _codes(model: Any, classes: NDArray[Any], points: Array) -> Codes:
    return np.searchsorted(classes, model.predict(points))

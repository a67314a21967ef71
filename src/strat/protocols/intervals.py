"""The one place for the limits of what was measured by training again and again on parts of the same rows.

However often rows are split, they are n rows, and no number of splits makes more of them. But a row counts twice: it is
tested, and it trains the models that test the others. With the Hoeffding decomposition of the loss of a row into parts
that c rows decide together (the tested one and c − 1 of its training set), V_c the variance of such a part, the
variance of one row's loss is Σ V_c. Where test and training rows play like parts, the mean over n rows has the variance
Σ c V_c / n, as a U-statistic has (Hoeffding 1948; Efron and Stein 1981). V_1 is what the tested row decides alone, the
others together are the mean T of the variance of a row's loss over training sets; taken as of pairs (c = 2), the
variance is that of n rows times

    f² = 1 + T / (p (1 − p)),        T ≤ p (1 − p) for an error p.

T is seen in the trained models themselves: half the share U of rows on which one of two models is right and the other
wrong, if their training sets shared nothing. They share all but a part s, and U grows about as √s, so that
T = U / (2 √s). For K folds s = 1/(K − 1). Rows count that at least one of the two has not trained on: on the others a
model that learns by heart shows nothing. Nothing is trained for it.

This is the variance about the mean error of models that are trained on as many rows, and about that of the model
trained on all of these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from strat.base.validate.columns import Array
from strat.designs import Design, variance
from strat.estimation import Estimate, estimate
from strat.estimation.facts import Known, OwnLimits
from strat.estimation.spread import Influences
from strat.measures.means import domain, proportion
from strat.measures.stacking import stack
from strat.protocols.protocol_result import row_se
from strat.protocols.running import Rows, Session, Split, Task

MOST = 1.0 - 1e-12  # level
WATCHED = 1_000  # rows on which the answers of all trained models are compared


def watched(rows: int) -> Rows:
    """The rows on which models are compared: all, or as many as are enough."""
    return np.unique(np.linspace(0, rows - 1, min(rows, WATCHED)).astype(np.int64))


@dataclass(frozen=True, eq=False)
class Trainings:
    """Which of the watched rows each model trained on.

    Attributes
    ----------
    seen
        Models × watched rows.
    swapped
        s, the part of a training set that another one lacks, on average (0: there is one model).
    """

    seen: NDArray[np.bool_]
    swapped: float

    @classmethod
    def of(cls, splits: Sequence[Split], watch: Rows, rows: int) -> Trainings:
        """Of these splits of so many rows.

        >>> fold = np.arange(20) % 5
        >>> splits = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(5)]
        >>> Trainings.of(splits, watched(20), 20).swapped
        0.25
        """
        number, often, seen = len(splits), np.zeros(rows), np.zeros((len(splits), len(watch)), bool)
        for one, (train, _) in zip(seen, splits, strict=True):
            trained = np.zeros(rows, bool)
            trained[train] = True
            often += trained
            one[:] = trained[watch]
        shared = float((often * (often - 1.0)).sum()) / max(number * (number - 1), 1)
        return cls(seen, max(1.0 - shared / (float(often.sum()) / number), 0.0) if number > 1 else 0.0)

    def moved(self, values: Array) -> float:
        """Half the mean square of the difference of two models' values of a row (models × watched rows).

        >>> Trainings(np.array([[True, False], [True, True]]), 0.5).moved(np.array([[1.0, 0.0], [0.0, 1.0]]))
        0.5
        """
        seen, squares = self.seen, _squares_of_pairs(values, np.ones(values.shape))
        pairs = len(values) * (len(values) - 1.0) - seen.sum(axis=0) * (seen.sum(axis=0) - 1.0)
        left = squares - _squares_of_pairs(values, seen.astype(float))
        return float(left.sum() / pairs.sum()) if pairs.any() else 0.0

    def inflation(self, values: Array, variance: float, *, smooth: bool = False) -> float:
        """1 + T / variance, from 1 to 2, for values of which T is what training sets decide.

        `smooth` values move with the parts of training sets that are swapped, so that squares grow as s and not as √s.
        """
        if not self.swapped > 0 or not variance > 0:
            return 1.0
        return 1.0 + min(self.moved(values) / (self.swapped if smooth else np.sqrt(self.swapped)) / variance, 1.0)


def _squares_of_pairs(values: Array, which: Array) -> Array:
    """The sum of squared differences of the pairs of some values (models × rows), each pair once."""
    return np.asarray(which.sum(axis=0) * (which * values**2).sum(axis=0) - (which * values).sum(axis=0) ** 2)


def wrong_answers(sessions: Sequence[Session], truth: NDArray[Any]) -> Array | None:
    """Whether models are wrong on the watched rows, whose labels are these (None: they were not watched)."""
    answers = [one.watched for one in sessions if one.watched is not None]
    return (np.stack(answers) != truth).astype(float) if len(answers) == len(sessions) else None


@dataclass(frozen=True)
class ErrorOfRows:
    """The error of tested rows, however often each was tested.

    Attributes
    ----------
    error
        The mean over rows of how often each was tested wrongly.
    se
        Its standard error, for models that are trained anew.
    trials
        Independent cases: rows, or units.
    """

    error: float
    se: float
    trials: int


def error_of_rows(job: Task, sessions: Sequence[Session], splits: Sequence[Split]) -> ErrorOfRows:
    """The error over the distinct rows that sessions tested, and how sure it is."""
    wrong, often = np.zeros(len(job)), np.zeros(len(job))
    for one in sessions:
        wrong[one.test] += one.predicted != job.y[one.test]
        often[one.test] += 1.0
    tested, watch = often > 0, watched(len(job))
    unit = None if job.unit is None else job.unit[tested]
    answers = wrong_answers(sessions, job.y[watch])
    return of_row_errors(wrong[tested] / often[tested], unit, answers, Trainings.of(splits, watch, len(job)))


def of_row_errors(
    each: Array, unit: NDArray[np.generic] | None, answers: Array | None, trainings: Trainings
) -> ErrorOfRows:
    """The error of rows from the mean error of each: one test varies as p (1 − p), the mean of several by less."""
    error, (se, trials) = float(each.mean()), row_se(each, unit)
    inflation = 1.0 if answers is None else trainings.inflation(answers, error * (1.0 - error))
    return ErrorOfRows(error, se * float(np.sqrt(of_one_test(each) * inflation)), trials)


def of_one_test(each: Array) -> float:
    """What the variance of the mean errors of rows is multiplied by to be that of rows that were tested once.

    Averaging over splits takes away what the training sets decide, as if there were as many as splits.

    >>> of_one_test(np.array([0.0, 0.5, 1.0, 0.5]))
    2.0
    """
    error = float(each.mean())
    seen = float(((each - error) ** 2).mean())
    return error * (1.0 - error) / seen if seen > 0 else 1.0


def wider(level: float, factor: float) -> float:
    """The level at which limits reach as far as those of `level` with standard errors that are `factor` times as large.

    >>> round(wider(0.95, 1.0), 12), round(wider(0.9, 1.959964 / 1.644854), 4)
    (0.95, 0.95)
    """
    return float(2.0 * scipy.special.ndtr(factor * scipy.special.ndtri((1.0 + level) / 2.0)) - 1.0)


@dataclass(frozen=True, eq=False)
class _Wider:
    """The limits of an estimate with standard errors `factor` times as large."""

    one: Estimate
    factor: float

    def __call__(self, level: float) -> tuple[Array, Array]:
        """The limits."""
        low, high = self.one.interval(min(wider(level, self.factor), MOST))
        return np.asarray(low), np.asarray(high)


@dataclass(frozen=True, eq=False)
class _MeanF1:
    """The limits of the mean of F1 over classes, each by its own share, joined by their correlations (MOVER).

    F1 = 2J / (1 + J) with J = tp / (tp + fp + fn), a share of the rows that are of a class or are called so.

    Attributes
    ----------
    shares
        J of each class.
    point
        The mean of F1.
    factor
        What standard errors are multiplied by.
    """

    shares: Estimate
    point: Array
    factor: float

    def __call__(self, level: float) -> tuple[Array, Array]:
        """The limits."""
        j, level = self.shares.point, min(wider(level, self.factor), MOST)
        own = self.shares.inference.shares is not None
        low, high = map(np.asarray, self.shares.interval(level, method=None if own else "wilson"))
        f1 = 2.0 * j / (1.0 + j)
        part = float(self.point) / f1.sum() if f1.sum() > 0 else 1.0 / len(f1)  # classes without a row may count as 0
        below, above = f1 - 2.0 * low / (1.0 + low), 2.0 * high / (1.0 + high) - f1
        sd = np.sqrt(np.diag(self.shares.covariance))
        product = np.outer(sd, sd)
        r = np.divide(self.shares.covariance, product, out=np.zeros_like(product), where=product > 0)
        np.fill_diagonal(r, 1.0)
        down, up = (part * np.sqrt(max(float(each @ r @ each), 0.0)) for each in (below, above))
        return np.asarray(self.point - down), np.asarray(self.point + up)


def for_models(one: Estimate, inflation: float, limits: OwnLimits | None = None) -> Estimate:
    """The estimate for models that are trained anew: its variance times `inflation`, its limits as much wider."""
    factor = float(np.sqrt(inflation))
    spread = one.inference.spread
    return one.changed(
        variance=one.variance * inflation,
        spread=None if spread is None else spread.with_values(spread.values * factor),
        effective_units=np.asarray(one.effective_units) / inflation,
        srs=None if one.inference.srs is None else Known(one.srs_variance * inflation),
        sum_of=OwnLimits(_Wider(one, factor)) if limits is None else limits,
    )


def mean_f1(one: Estimate, truth: NDArray[Any], predicted: NDArray[Any], design: Design, inflation: float) -> Estimate:
    """Macro F1, with limits from the share that each class's F1 is made of."""
    shares = {}
    for label in np.union1d(truth, predicted):
        either = (truth == label) | (predicted == label)
        shares[label] = domain(proportion((truth == label) & (predicted == label)), either)
    each = estimate(stack("class", shares), on=design)
    return for_models(one, inflation, OwnLimits(_MeanF1(each, one.point, float(np.sqrt(inflation)))))


def auc_of_folds(
    one: Estimate, score: Array, positive: NDArray[np.bool_], fold: Rows, design: Design
) -> Estimate | None:
    """The mean of the folds' AUCs, for scores of several models are on several scales; None where no fold has one.

    `one` is the AUC of all rows together, whose degrees of freedom and facts stay.
    """
    weights = design.weights
    each, place, areas = np.zeros(len(score)), np.zeros(len(score)), []
    for number in np.unique(fold):
        rows = np.flatnonzero(fold == number)
        a, b = rows[positive[rows]], rows[~positive[rows]]
        if not weights[a].any() or not weights[b].any():
            continue
        each[a], each[b] = _below(score[a], score[b], weights[b]), 1.0 - _below(score[b], score[a], weights[a])
        place[a], place[b] = weights[a] / weights[a].sum(), weights[b] / weights[b].sum()
        areas.append(float(place[a] @ each[a]))
    if not areas:
        return None
    influence = np.zeros(len(score))
    for side in (positive, ~positive):
        part = place * side / len(areas)
        size = float((part > 0).sum())
        influence += part * (each - part @ each) * np.sqrt(size / max(size - 1.0, 1.0))
    lines = variance.deviations(design.by_line(influence)[:, None], design)[:, 0]
    return one.changed(point=np.asarray(np.mean(areas)), variance=np.asarray(lines @ lines), spread=Influences(lines))


def _below(score: Array, others: Array, weights: Array) -> Array:
    """The share of the others' weight that lies below each score, with half of what is equal."""
    order = np.argsort(others, kind="stable")
    reached = np.append(0.0, np.cumsum(weights[order]))
    ends = (reached[np.searchsorted(others[order], score, side)] for side in ("left", "right"))
    return np.asarray(sum(ends) / (2.0 * reached[-1]))


def ranks_of(scores: Sequence[Array | None], positive: NDArray[np.bool_]) -> Array | None:
    """The share of the rows of the other of two classes that each model scores lower, models × rows; None: no scores.

    They are divided by their spread within their class, so that both count alike.
    """
    known = [one for one in scores if one is not None and np.isfinite(one).all()]
    if len(known) < len(scores) or min(positive.sum(), (~positive).sum()) < 2:
        return None
    ranks = np.empty((len(known), len(positive)))
    for side in (positive, ~positive):
        others = np.ones(int((~side).sum()))
        own = np.stack([_below(s[side], s[~side], others) for s in known])
        ranks[:, side] = own / max(float(np.sqrt(own.var(axis=1, ddof=1).mean())), 1e-12)
    return ranks

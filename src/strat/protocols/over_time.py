"""Rows in the order of time: errors that rise from fold to fold, and what a model is good for later (Kuncheva 1.7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from strat.base import validate
from strat.base.notes import Note
from strat.base.result import Result
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array
from strat.base.validate.scalars import Rng
from strat.estimation import estimate
from strat.measures.means import correlation
from strat.protocols.keywords import spelled
from strat.protocols.protocol_result import ProtocolResult
from strat.protocols.running import Split, errors, run, task
from strat.show.colours import OKABE_ITO
from strat.show.figures import new_axes

RISING = 0.025  # one-sided p of the correlation of errors with the number of the fold, below which a note tells


def rising_errors(result: ProtocolResult, splits: Sequence[Split]) -> tuple[Note, ...]:
    """That errors rise from fold to fold, where each fold tests later rows than the one before."""
    if len(splits) < 3 or any(a.max() >= b.min() for (_, a), (_, b) in pairwise(splits)):
        return ()
    columns, rates = result.predictions, result.fold_errors.tolist()
    wrong = (columns["truth"] != columns["predicted"]).astype(float)
    if result.trials < len(splits) or wrong.min() == wrong.max():
        return ()
    line = estimate(correlation(columns["fold"].astype(float), wrong), on=result.design())
    if line.test(0, alternative="greater").pvalue > RISING:
        return ()
    return (Note("rising-errors", {"first": rates[0], "last": rates[-1]}),)


@dataclass(frozen=True, eq=False, repr=False)
class Drift(Result):
    """Errors on each part of rows in the order of time, of classifiers trained until an earlier one.

    Attributes
    ----------
    errors
        Row i, column j: the error on part j of the classifier that was trained until part i; NaN unless i < j.
    """

    errors: Array

    def __str__(self) -> str:
        """The table of errors, a line for each training."""
        return f"errors of classifiers trained until part 0, 1, … (lines) on each part\n{self.errors.round(4)}"

    def plot(self, ax: Any = None) -> Any:
        """A curve for each training: its errors on the parts that came later."""
        axes = new_axes(ax)
        for i, row in enumerate(self.errors[:-1]):
            axes.plot(row, "o-", color=OKABE_ITO[i % len(OKABE_ITO)], label=f"trained until part {i}")
        axes.set(xlabel="tested on part", ylabel="error", xticks=range(1, len(self.errors)))
        axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
        return axes


@spelled
@checked
def drift(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    parts: int = 6,
    window: int | None = None,
    rng: Rng = 0,
    n_jobs: int | None = None,
) -> Drift:
    """The errors of classifiers that were trained until some time, on all that came later.

    Parameters
    ----------
    estimator, rng, n_jobs
        As in `cross_validation`.
    X, y
        Features and labels, oldest rows first.
    parts
        Into how many parts of equal size the rows are cut.
    window
        Train on so many parts only, the latest ones: a classifier that forgets. All by default.

    Examples
    --------
    Labels change from 0 to 1 in the middle of the second of three parts, and the most frequent one is predicted.

    >>> from sklearn.dummy import DummyClassifier
    >>> print(drift(DummyClassifier(), np.zeros((60, 1)), [0] * 30 + [1] * 30, parts=3))
    errors of classifiers trained until part 0, 1, … (lines) on each part
    [[nan 0.5 1. ]
     [nan nan 1. ]
     [nan nan nan]]
    """
    job = task(estimator, X, y, None, rng)
    cut = validate.count("parts", parts, least=2, most=len(job))
    kept = cut if window is None else validate.count("window", window)
    pieces = np.array_split(np.arange(len(job)), cut)
    pairs = list(combinations(range(cut), 2))
    splits = [(np.concatenate(pieces[max(0, i + 1 - kept) : i + 1]), pieces[j]) for i, j in pairs]
    table = np.full((cut, cut), np.nan)
    table[tuple(np.transpose(pairs))] = errors(job, run(job, splits, n_jobs=n_jobs))
    return Drift(table)

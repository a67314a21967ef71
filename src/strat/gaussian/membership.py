"""The maximum membership rule, and the costs that change it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from strat.base.errors import StratError
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, Codes, numbers
from strat.measures.loss import doubtful, risks


@checked
def maximum_membership(scores: ArrayLike, *, rng: int | np.random.Generator = 0) -> Codes:
    """The column of the largest score in each row; ties are broken at random (Kuncheva 1.2).

    Examples
    --------
    >>> maximum_membership([[0.1, 0.9], [0.7, 0.3]])
    array([1, 0])
    >>> tied = maximum_membership(np.zeros((1000, 2)))
    >>> bool(450 < tied.sum() < 550)
    True
    """
    table = _table("scores", scores, finite=False)
    if np.isnan(table).any():
        row = int(np.flatnonzero(np.isnan(table).any(axis=1))[0])
        raise StratError.about("scores", f"must be numbers, got a missing one in row {row}; score every class.")
    tied = table == table.max(axis=1, keepdims=True)
    chosen = tied.argmax(axis=1)
    several = np.flatnonzero(tied.sum(axis=1) > 1)
    if len(several):
        draws = np.random.default_rng(rng).random((len(several), table.shape[1]))
        chosen[several] = np.where(tied[several], draws, -1.0).argmax(axis=1)
    return chosen.astype(np.int64)


@checked
def minimum_risk(posteriors: ArrayLike, loss: ArrayLike, *, rng: int | np.random.Generator = 0) -> Codes:
    """The decision of least expected loss; `loss[i, j]` is the loss of decision i when the class is j.

    A loss matrix with one row more than classes offers refuse-to-decide as its last row (Kuncheva 1.3.3).

    Examples
    --------
    Refusing costs 0.2, an error 1: an object with posteriors 0.7 and 0.3 is refused.

    >>> minimum_risk([[0.7, 0.3], [0.9, 0.1]], [[0, 1], [1, 0], [0.2, 0.2]])
    array([2, 0])
    """
    shares = posterior_table(posteriors)
    costs = _table("loss", loss)
    if costs.shape[1] != shares.shape[1]:
        raise StratError.about(
            "loss",
            f"must have one column per class ({shares.shape[1]}), got {costs.shape[1]}; "
            "its rows are decisions and its columns true classes.",
        )
    return maximum_membership(-risks(shares, costs), rng=rng)


@checked
def chow_rule(posteriors: ArrayLike, *, cost: float, rng: int | np.random.Generator = 0) -> Codes:
    """Chow's optimal reject rule: the most probable class, or -1 where its error is above `cost`.

    `cost` is the loss of a rejection when an error costs 1 and a right answer nothing.

    Examples
    --------
    >>> chow_rule([[0.7, 0.3], [0.9, 0.1]], cost=0.2)
    array([-1,  0])
    """
    shares = posterior_table(posteriors)
    return np.where(doubtful(shares, cost), -1, maximum_membership(shares, rng=rng))


def posterior_table(posteriors: ArrayLike) -> Array:
    """A table of posterior probabilities, each row of which sums to one."""
    table = _table("posteriors", posteriors)
    if (table < -1e-12).any():
        raise StratError.about(
            "posteriors", f"must not be negative, got {table.min():.6g}; use probabilities from 0 to 1."
        )
    sums = table.sum(axis=1)
    worst = int(np.abs(sums - 1).argmax())
    if abs(sums[worst] - 1) > 1e-6:
        raise StratError.about(
            "posteriors",
            f"must sum to one in each row, got {sums[worst]:.6g} in row {worst}; divide each row by its sum.",
        )
    return table


def _table(argument: str, values: ArrayLike, *, finite: bool = True) -> Array:
    array = numbers(argument, values, finite=finite)
    if array.ndim != 2:
        raise StratError.about(
            argument,
            f"must be a table, got an array of shape {array.shape}; give one row per object and one column per class.",
        )
    if not array.shape[1]:
        raise StratError.about(argument, "must have a column for each class, got none.")
    return array

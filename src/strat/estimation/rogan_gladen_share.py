"""A share from a judge of yes and no, put right by its sensitivity and specificity."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from strat.base.errors import StratError, some
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, numbers, same_length
from strat.estimation.two_phase import mask_of
from strat.measures.base import Statistic
from strat.measures.means import function_of_totals


@checked
def rogan_gladen(judged: ArrayLike, truth: ArrayLike, *, labelled: ArrayLike) -> Statistic:
    """The share of true rows from a judge's share and its sensitivity and specificity in the labelled rows.

    θ = (p + Sp − 1) / (Se + Sp − 1) (Rogan and Gladen 1978), with the variance of all three. Unlike the difference
    estimator it needs labelled rows that are like the others within each class only, not in how many are true.

    Examples
    --------
    >>> labelled = [True] * 8 + [False] * 8
    >>> truth = [1, 1, 1, 1, 0, 0, 0, 0] + [0] * 8
    >>> judged = [1, 1, 1, 0, 0, 0, 0, 1] + [1, 1, 1, 1, 1, 0, 0, 0]
    >>> float(rogan_gladen(judged, truth, labelled=labelled).value())
    0.625
    """
    f = _zero_or_one("judged", numbers("judged", judged, axes=1))
    chosen = mask_of("labelled", labelled, len(f))
    known = numbers("truth", truth, axes=1, finite=False)
    same_length(judged=f, truth=known)
    y = _zero_or_one("truth", np.where(chosen, known, 0.0))
    inside = chosen.astype(float)
    values = np.column_stack(
        [f, np.ones(len(f)), inside * y * f, inside * y, inside * (1 - y) * (1 - f), inside * (1 - y)]
    )
    _judge_knows(values)

    def function(t: Array) -> Array:
        p, sensitivity, specificity = (t[..., i] / t[..., i + 1] for i in (0, 2, 4))
        return np.asarray((p + specificity - 1.0) / (sensitivity + specificity - 1.0))

    return replace(function_of_totals(values, function, name="Rogan-Gladen share"), views=(chosen,))


def _zero_or_one(argument: str, values: Array) -> Array:
    other = ~np.isin(values, (0.0, 1.0))
    if other.any():
        raise StratError.about(argument, f"must be true or false (0 or 1), got {some(values[other].tolist(), 3)}.")
    return values


def _judge_knows(values: Array) -> None:
    _, _, hits, positive, passes, negative = values.sum(axis=0)
    if not positive or not negative:
        raise StratError.about(
            "truth", "must hold labelled rows of both kinds, got one kind: the judge's rates are unknown."
        )
    youden = hits / positive + passes / negative - 1.0
    if youden <= 0:
        raise StratError.about(
            "judged",
            f"must be better than chance on the labelled rows, got sensitivity plus specificity of "
            f"{youden + 1:.3g}: such a judge carries no information about the share; use only the labels.",
        )

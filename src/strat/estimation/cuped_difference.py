"""The difference of two groups, with what a covariate explains of it taken out."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from strat.base.errors import StratError, some
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, encode, numbers, same_length
from strat.measures.base import Statistic
from strat.measures.means import function_of_totals


@checked
def cuped(y: ArrayLike, group: ArrayLike, *, covariate: ArrayLike, baseline: object = None) -> Statistic:
    """The difference of two groups' means, with what a covariate explains of it taken out.

    The covariate (a score from before the change) has the same expectation in both groups, so that λ times its
    difference is noise; λ is the one with the least variance (Deng and others 2013). The first group in sorted order is
    the baseline unless one is named.

    Examples
    --------
    >>> group = ["a", "a", "a", "b", "b", "b"]
    >>> before = [1.0, 2.0, 3.0, 2.0, 3.0, 4.0]
    >>> float(cuped([1.0, 2.0, 3.0, 2.5, 3.5, 4.5], group, covariate=before).value().round(6))
    0.5
    """
    values, x = numbers("y", y, axes=1), numbers("covariate", covariate, axes=1)
    codes, labels = encode("group", group)
    same_length(y=values, covariate=x, group=codes)
    names = labels.tolist()
    if len(names) != 2 or (baseline is not None and baseline not in names):
        raise StratError.about("group", f"must hold two groups, one of them `baseline`, got {some(names)}.")
    second = (codes == 1) if baseline is None or baseline == names[0] else (codes == 0)
    inside = np.where(second, 1.0, 0.0)[:, None]
    centred = [column - np.bincount(codes, column)[codes] / np.bincount(codes)[codes] for column in (values, x)]
    varied = float(centred[1] @ centred[1])
    lam = float(centred[0] @ centred[1]) / varied if varied > 0 else 0.0
    rest = np.column_stack([values - lam * x, np.ones(len(x))])

    def difference(t: Array) -> Array:
        return np.asarray(t[..., 0] / t[..., 1] - t[..., 2] / t[..., 3])

    return function_of_totals(np.hstack([rest * inside, rest * (1.0 - inside)]), difference, name="adjusted difference")

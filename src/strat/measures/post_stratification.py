"""Post-stratification: known sizes of groups that the sample was not drawn by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from strat.base.errors import StratError, plain, some
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, Codes, encode
from strat.measures.base import Rows, Statistic
from strat.measures.means import domain
from strat.measures.stacking import stack

MOST_GROUPS = 64  # groups up to which the limits of a share are made of those of each


@checked
def post_stratified(statistic: Statistic, by: ArrayLike, sizes: Mapping[Any, float]) -> Statistic:
    """The statistic with each group's weight brought to its known size (Cochran 5A.9).

    It stays a function of totals, now one set for each group, so that every variance method takes the adjustment
    into account by itself.

    Examples
    --------
    >>> from strat.measures import mean
    >>> float(post_stratified(mean([1.0, 3.0, 5.0]), by=["a", "a", "b"], sizes={"a": 1, "b": 1}).value())
    3.5
    """
    codes, labels = encode("by", by)
    if len(codes) != len(statistic):
        raise StratError.about("by", f"must have one label per row ({len(statistic)}), got {len(codes)}.")
    if statistic.of_weights or statistic.quantile is not None:
        raise StratError(f"`{statistic.name}` must be a function of totals to be post-stratified.")
    wanted = _sizes(sizes, [plain(label) for label in labels])
    groups, inner = len(labels), statistic.components

    def function(t: Array) -> Array:
        grouped = t[..., groups:].reshape(*t.shape[:-1], groups, inner)
        factor = wanted / t[..., :groups]
        return statistic.function((grouped * factor[..., None]).sum(axis=-2))

    weight = Rows(codes, None, groups)
    return replace(
        statistic,
        name=f"post-stratified {statistic.name}",
        rows=(weight, _by_group(statistic, codes, groups)),
        function=function,
        gradient=None,
        base=None,
        split=None,
        sparse_gradient=None,
        factored_gradient=None,
        graded=True,
        truth=codes,
        sum_of=_shares(statistic, codes, wanted),
    )


def _shares(statistic: Statistic, codes: Codes, sizes: Array) -> tuple[Statistic, Array] | None:
    """The share in each group, of which a post-stratified share is a sum, with the groups' parts of the whole."""
    plain_share = statistic.proportion and not statistic.axes and statistic.domain is None and not statistic.graded
    if not plain_share or not 1 < len(sizes) <= MOST_GROUPS:
        return None
    groups = {g: domain(statistic, codes == g) for g in range(len(sizes))}
    return stack("group", groups), sizes / sizes.sum()


def _by_group(statistic: Statistic, codes: Codes, groups: int) -> Rows:
    n, inner = len(statistic), statistic.components
    values = np.hstack([_dense(block) for block in statistic.rows])
    spread = np.zeros((n, groups, inner))
    spread[np.arange(n), codes] = values
    return Rows(None, spread.reshape(n, groups * inner), groups * inner)


def _dense(block: Rows) -> Array:
    table = np.eye(block.lines, block.components) if block.values is None else block.values
    rows = table if block.codes is None else table[block.codes]
    return rows if block.scale is None else rows * block.scale[:, None]


def _sizes(sizes: Mapping[Any, float], labels: list[Any]) -> Array:
    absent = [label for label in labels if label not in sizes]
    extra = [label for label in sizes if label not in labels]
    if absent or extra:
        raise StratError.about(
            "sizes",
            f"must name exactly the groups of `by`, missing {some(absent) or 'none'}, "
            f"without rows {some(extra) or 'none'}.",
        )
    values = np.array([float(sizes[label]) for label in labels])
    if not np.isfinite(values).all() or (values <= 0).any():
        raise StratError.about("sizes", f"must be positive, got {some(values[~(values > 0)])}.")
    return values

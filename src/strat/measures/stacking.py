"""Several statistics of the same rows as one, so that their covariance is kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.base.errors import StratError, some
from strat.base.notes import of_each
from strat.base.validate.arguments import checked, shown
from strat.base.validate.columns import Array, Codes
from strat.measures.base import Axis, Statistic

Function = Callable[[Array], Array]


@checked
def stack(axis: str, labelled: Mapping[Any, Any] | None = None, /, **statistics: Statistic) -> Statistic:
    """Several statistics of the same rows as one, along a new first axis, so that their covariance is kept.

    Each value keeps the degrees of freedom of the units that it looks at.

    Parameters
    ----------
    axis
        The name of the new axis.
    labelled
        From a label of any kind (a number, a text with spaces) to its statistic.
    **statistics
        The same for labels that are names.

    Examples
    --------
    >>> from strat.measures import accuracy, mean
    >>> both = stack("system", A=accuracy([1, 0], [1, 1]), B=accuracy([1, 0], [1, 0]))
    >>> both.value().tolist()
    [0.5, 1.0]
    >>> stack("site", {1: mean([1.0, 2.0]), 2: mean([3.0, 5.0])}).axes[0].labels
    (1, 2)
    """
    named = _labelled(labelled, statistics)
    parts = list(named.values())
    if len({part.axes for part in parts}) > 1:
        shapes = [part.shape for part in parts]
        raise StratError.about("statistics", f"must have the same axes to be stacked, got shapes {some(shapes)}.")
    if any(part.quantile is not None or part.of_weights for part in parts):
        raise StratError.about(
            "statistics",
            "must be functions of totals to be stacked or compared, got a quantile or a function of weights; estimate "
            "each by itself.",
        )
    function, gradient, base = _side_by_side(parts)
    views = _views(parts)
    same = all(_same(view, views[0]) for view in views)
    return Statistic(
        name=_common([part.name for part in parts]),
        rows=tuple(block for part in parts for block in part.rows),
        function=function,
        gradient=gradient,
        axes=(Axis(axis, tuple(named)), *parts[0].axes),
        link=parts[0].link if len({part.link for part in parts}) == 1 else "identity",
        bounds=(min(part.bounds[0] for part in parts), max(part.bounds[1] for part in parts)),
        proportion=all(part.proportion for part in parts),
        views=tuple(views[:1] if same else views),
        base=base,
        curved_below=max(part.curved_below for part in parts),
        notes=of_each(axis, {label: part.notes for label, part in named.items()}, ()),
        positive=_shared([part.positive for part in parts]),
        chance=_shared([part.chance for part in parts]),
        higher_is_better=_shared([part.higher_is_better for part in parts]),
        classes=_shared([part.classes for part in parts]) or 0,
        truth=parts[0].truth if all(_same_codes(part.truth, parts[0].truth) for part in parts) else None,
        graded=any(part.graded for part in parts),
    )


def _side_by_side(parts: list[Statistic]) -> tuple[Function, Function | None, Function | None]:
    """The function, gradient and base of the parts' totals, one after the other; None where a part has none."""
    ends = np.cumsum([part.components for part in parts])
    cuts = [slice(int(e) - part.components, int(e)) for e, part in zip(ends, parts, strict=True)]
    inner = len(parts[0].axes)
    gradients = [part.gradient for part in parts if part.gradient is not None]
    bases = [part.base for part in parts if part.base is not None]

    def joined(functions: list[Function]) -> Function:
        def each(t: Array) -> Array:
            return np.stack([of(t[..., cut]) for of, cut in zip(functions, cuts, strict=True)], axis=-1 - inner)

        return each

    def gradient(t: Array) -> Array:
        slopes = np.zeros((len(t), len(parts), *parts[0].shape))
        for i, (of, cut) in enumerate(zip(gradients, cuts, strict=True)):
            slopes[cut, i] = of(t[cut])
        return slopes

    return (
        joined([part.function for part in parts]),
        gradient if len(gradients) == len(parts) else None,
        joined(bases) if len(bases) == len(parts) else None,
    )


def _labelled(labelled: Mapping[Any, Statistic] | None, statistics: Mapping[str, Statistic]) -> dict[Any, Statistic]:
    """The statistics by label, of both ways to give them."""
    both = {**(labelled or {}), **statistics}
    if not both:
        raise StratError.about("statistics", "must hold at least one statistic, got none.")
    for label, one in both.items():
        if not isinstance(one, Statistic):
            raise StratError.about(
                "statistics", f"must be statistics such as strat.mean(y), got {shown(one)} for {label!r}."
            )
    if len(both) < len(labelled or {}) + len(statistics):
        raise StratError.about(
            "statistics", f"must have each label once, got {some(set(labelled or {}) & set(statistics))} twice."
        )
    return both


def _shared(facts: list[Any]) -> Any:
    """What all parts say, or None where they differ."""
    return facts[0] if all(fact == facts[0] for fact in facts) else None


def _views(parts: list[Statistic]) -> tuple[NDArray[np.bool_] | None, ...]:
    """The rows that the values of all parts look at, one after the other, as many views from each."""
    most = max(len(part.views) for part in parts)
    return tuple(view for part in parts for view in part.views for _ in range(most // len(part.views)))


def _same(one: NDArray[np.bool_] | None, other: NDArray[np.bool_] | None) -> bool:
    return one is other if one is None or other is None else bool((one == other).all())


def _same_codes(one: Codes | None, other: Codes | None) -> bool:
    return one is other if one is None or other is None else bool(np.array_equal(one, other))


def _common(names: list[str]) -> str:
    return names[0] if len(set(names)) == 1 else ", ".join(dict.fromkeys(names))

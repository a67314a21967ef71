"""What the measures of fields take, checked once: texts, tables of totals, and the statistics made of two of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from strat.base.errors import StratError, some
from strat.base.validate.columns import Array, same_length
from strat.measures.base import Rows, Statistic


def texts(argument: str, values: ArrayLike) -> list[str]:
    """One text per row, or an error that names the first value that is none.

    >>> texts("reference", ["a b", "c"])
    ['a b', 'c']
    """
    rows = _listed(argument, values)
    for place, value in enumerate(rows):
        if not isinstance(value, str):
            raise StratError.about(argument, f"must be text in every row, got {some([value])} in row {place}.")
    return [str(value).encode("utf-8", "replace").decode("utf-8") for value in rows]


def _listed(argument: str, values: Any) -> Sequence[Any]:
    shape = getattr(values, "shape", None)
    if isinstance(values, str | bytes) or not hasattr(values, "__len__") or (shape is not None and len(shape) != 1):
        raise StratError.about(argument, f"must have one text per row, got {some([values])}.")
    rows = values.tolist() if hasattr(values, "tolist") else list(values)
    if not rows:
        raise StratError.about(argument, "must have at least one row, got none.")
    return rows


def two_texts(reference: ArrayLike, hypothesis: ArrayLike) -> tuple[list[str], list[str]]:
    """The references and the hypotheses of the same rows."""
    left, right = texts("reference", reference), texts("hypothesis", hypothesis)
    same_length(reference=left, hypothesis=right)
    return left, right


def of_row_weights(
    name: str, rows: int, value: Callable[[Array], float], slopes: Callable[[Array], Array], **facts: Any
) -> Statistic:
    """A statistic whose components are the weights of its rows: its value and its derivatives from these weights."""

    def function(t: Array) -> Array:
        return np.array([value(w) for w in t.reshape(-1, rows)]).reshape(t.shape[:-1])

    return Statistic(name, (Rows(np.arange(rows), None, rows),), function, slopes, higher_is_better=True, **facts)

"""Scikit-learn's words for what the protocols call by other names."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar

import numpy as np

from strat.base.errors import StratError

P = ParamSpec("P")
R = TypeVar("R")

OTHER_NAMES = {
    "clusters": "units",
    "folds": "cv",
    "groups": "units",
    "model": "estimator",
    "n_repeats": "repeats",
    "n_splits": "cv",
    "param_grid": "grid",
    "random_state": "rng",
    "seed": "rng",
    "test_size": "test",
}


def spelled(function: Callable[P, R]) -> Callable[P, R]:
    """`function`, whose complaint about another library's word for an argument names the one that it has.

    >>> @spelled
    ... def half(*, rng: int) -> float:
    ...     return rng / 2
    >>> half(random_state=1)
    Traceback (most recent call last):
    ...
    TypeError: half() got an unexpected keyword argument 'random_state'; did you mean `rng`?
    """
    known = signature(function).parameters

    @wraps(function)
    def call(*args: P.args, **named: P.kwargs) -> R:
        for name in named:
            if name not in known and OTHER_NAMES.get(name) in known:
                raise TypeError(
                    f"{function.__name__}() got an unexpected keyword argument {name!r}; did you mean "
                    f"`{OTHER_NAMES[name]}`?"
                )
        return function(*args, **named)

    return call


def units_of(units: Any, groups: Any) -> Any:
    """The units, by whichever of their two names they were given."""
    if units is None or groups is None:
        return groups if units is None else units
    if units is groups or np.array_equal(np.asarray(units, object), np.asarray(groups, object)):
        return units
    raise StratError.about(
        "groups", "must be left out where `units` are given, got others: they are two names of one thing."
    )

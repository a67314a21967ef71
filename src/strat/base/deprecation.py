"""Names that are to go: both names work for one minor release, the old one with a warning (docs/stability.md)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def deprecated(old: str, new: str, *, gone_in: str, stacklevel: int = 3) -> None:
    """Warn that a name is to go, and say what to write instead.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     deprecated("strat.old", "strat.new", gone_in="0.3")
    >>> print(caught[0].message)
    `strat.old` will be removed in strat 0.3; write `strat.new`.
    """
    warnings.warn(
        f"`{old}` will be removed in strat {gone_in}; write `{new}`.", DeprecationWarning, stacklevel=stacklevel
    )


def renamed_arguments(*, gone_in: str, **new_by_old: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A decorator, outside of `checked`: arguments are understood under their old names, too, with a warning.

    >>> @renamed_arguments(gone_in="0.3", pos_label="positive")
    ... def f1(positive):
    ...     return positive
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     f1(pos_label=1)
    1
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def call(*args: Any, **named: Any) -> R:
            for old, new in new_by_old.items():
                if old in named:
                    if new in named:
                        raise TypeError(f"{function.__name__}() got both {old!r} and {new!r}, which is its new name")
                    deprecated(old, new, gone_in=gone_in)
                    named[new] = named.pop(old)
            return function(*args, **named)

        return call

    return decorate

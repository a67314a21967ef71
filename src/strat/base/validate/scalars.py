"""Single values: numbers, counts, shares, confidence levels, seeds and choices, each checked by its argument's name.

Every function takes the argument's name and the value, and returns the value as the caller goes on with it, or raises
a `StratError` with the argument, the value and the way out.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from strat.base.errors import StratError, one_of, plain, short, some
from strat.base.validate.columns import Array, numbers

Rng = int | np.random.Generator

__all__ = ["Rng", "count", "generator", "level", "number", "one_of", "positive", "probabilities", "seed", "share"]


def number(argument: str, value: object) -> float:
    """`value` as one number (nan and infinities too)."""
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise StratError.about(argument, f"must be a number, got {some([value])}.") from None


def count(argument: str, value: object, *, least: int = 1, most: int | None = None) -> int:
    """`value` as a whole number from `least` to `most`.

    Examples
    --------
    >>> count("replicates", 100.0, least=2)
    100
    >>> count("replicates", 1, least=2)
    Traceback (most recent call last):
    ...
    strat.base.errors.StratError: `replicates` must be a whole number of at least 2, got 1.
    """
    size = math.nan if isinstance(value, bool | np.bool_) else number(argument, value)
    if size.is_integer() and least <= size <= (math.inf if most is None else most):
        return int(value)  # type: ignore[call-overload]  # of the value itself: floats end at 2^53
    limits = f"of at least {least}" if most is None else f"from {least} to {most}"
    raise StratError.about(argument, f"must be a whole number {limits}, got {short(repr(plain(value)))}.")


def positive(argument: str, value: object) -> float:
    """`value` as a number above zero whose square is a number, too.

    >>> positive("width", 9.9e99)
    9.9e+99
    >>> positive("width", 1e100)
    Traceback (most recent call last):
    ...
    strat.base.errors.StratError: `width` must be positive and below 1e100, got 1e+100.
    """
    if not 1e-100 < (size := number(argument, value)) < 1e100:
        raise StratError.about(argument, f"must be positive and below 1e100, got {plain(value)!r}.")
    return size


def share(
    argument: str, value: object, *, low: float = 0.0, high: float = 1.0, open_ends: bool = False, hint: str = ""
) -> float:
    """`value` as a number between `low` and `high`, or strictly between them.

    Examples
    --------
    >>> share("prevalence", 30, hint="use a share, not percent")
    Traceback (most recent call last):
    ...
    strat.base.errors.StratError: `prevalence` must lie between 0 and 1, got 30; use a share, not percent.
    """
    size = number(argument, value)
    if low < size < high if open_ends else low <= size <= high:
        return size
    where = "strictly between" if open_ends else "between"
    way_out = f"; {hint}" if hint else ""
    raise StratError.about(argument, f"must lie {where} {low:g} and {high:g}, got {plain(value)!r}{way_out}.")


def level(value: object, argument: str = "level") -> float:
    """A confidence level.

    Examples
    --------
    >>> level(95)
    Traceback (most recent call last):
    ...
    strat.base.errors.StratError: `level` must lie strictly between 0 and 1, got 95; 0.95 means 95 %.
    """
    return share(argument, value, open_ends=True, hint="0.95 means 95 %")


def seed(rng: Rng) -> int:
    """The seed that is given, or one that the given source draws."""
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(2**63))
    if isinstance(rng, bool) or rng is None or not number("rng", rng).is_integer() or rng < 0:
        raise StratError.about("rng", f"must be a seed (0, 1, 2, …) or a NumPy Generator, got {plain(rng)!r}.")
    return int(rng)


def generator(rng: Rng) -> np.random.Generator:
    """The random source behind a seed, or the source itself."""
    return rng if isinstance(rng, np.random.Generator) else np.random.default_rng(seed(rng))


def probabilities(argument: str, values: ArrayLike | None, classes: int) -> Array:
    """One probability for each class, at least 0 and summing to 1; equal ones where none are given.

    Examples
    --------
    >>> probabilities("priors", None, 4)
    array([0.25, 0.25, 0.25, 0.25])
    >>> probabilities("priors", [1, 2], 2)
    Traceback (most recent call last):
    ...
    strat.base.errors.StratError: `priors` must sum to 1, got a sum of 3; divide by it.
    """
    if values is None:
        return np.full(classes, 1.0 / classes)
    shares = numbers(argument, values, most=1e100)
    if shares.shape != (classes,):
        raise StratError.about(argument, f"must have one probability per class ({classes}), got shape {shares.shape}.")
    if (shares < 0).any():
        raise StratError.about(argument, f"must not be negative, got {shares.min():.6g}; use numbers from 0 to 1.")
    if abs(shares.sum() - 1) > 1e-8:
        raise StratError.about(argument, f"must sum to 1, got a sum of {shares.sum():.6g}; divide by it.")
    return shares

"""Which one of two classes is the positive one: decided here for every measure that looks at one class.

Only classes that say it themselves have a default, as in scikit-learn: 1 of 0 and 1 or of −1 and 1, and True of False
and True; here also where these are text. Of any other classes the user has to name it: the order of two words says
nothing.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strat.base.errors import StratError, plain, short, some
from strat.base.validate.columns import Array, Codes, encode, numbers, same_length

SELF_EXPLAINING: tuple[tuple[Any, Any], ...] = (
    (0, 1),
    (-1, 1),
    ("0", "1"),
    ("-1", "1"),
    ("-1", "+1"),
    ("False", "True"),
    ("false", "true"),
    ("FALSE", "TRUE"),
)
"""Pairs of a negative and a positive class that are never read the other way round; False and True equal 0 and 1."""


def positive_of(labels: NDArray[Any] | Sequence[Any], positive: object = None) -> Any:
    """The positive class among `labels`: the one that was named, or the one that two labels show by themselves.

    Parameters
    ----------
    labels
        The distinct labels that occur.
    positive
        The class that was named (text stands for a number where the labels are numbers: a command line has only
        text); None: none was named.

    Examples
    --------
    >>> positive_of([0, 1]), positive_of(["cancer", "healthy"], "cancer"), positive_of([1, 2], "2")
    (1, 'cancer', 2)
    >>> positive_of(["cancer", "healthy"])
    Traceback (most recent call last):
    strat.base.errors.StratError: `positive` must name the positive class of 'cancer' and 'healthy'; for example \
positive='cancer'.
    """
    names = [plain(label) for label in labels]
    if positive is not None:
        return _named(names, plain(positive))
    for pair in SELF_EXPLAINING:
        if all(name in pair for name in names):
            return next((name for name in names if name == pair[1]), type(names[0])(pair[1]))
    example = f"for example positive={short(repr(names[0]))}"
    if len(names) == 1:
        raise StratError.about(
            "positive",
            f"must name the positive class, because only {short(repr(names[0]))} occurs, which may be "
            f"either; {example}.",
        )
    if len(names) > 2:
        raise StratError.about(
            "positive", f"must name the class to look at, of {len(names):,} classes ({some(names)}); {example}."
        )
    raise StratError.about(
        "positive", f"must name the positive class of {short(repr(names[0]))} and {short(repr(names[1]))}; {example}."
    )


def _named(names: list[Any], positive: Any) -> Any:
    """The label that was named; a class that never occurs is believed where only one other does."""
    places = {name: name for name in names}
    readings = [positive, *_as_numbers(names, positive)] if isinstance(positive, Hashable) else []
    for given in readings:
        if given in places:
            return places[given]
    if len(names) == 1:
        for given in readings:
            if isinstance(given, str if isinstance(names[0], str) else Number) and given == given:
                return given
    raise StratError.about(
        "positive", f"must be one of the labels, got {short(repr(positive))}; there are {some(names)}."
    )


def _as_numbers(names: list[Any], positive: Any) -> list[Any]:
    """What a text may stand for among truth values or numbers."""
    if not isinstance(positive, str) or isinstance(names[0], str):
        return []
    if isinstance(names[0], bool):
        return [truth for truth in (False, True) if str(truth).lower() == positive.lower()]
    readings: list[Any] = []
    for read in (int, float):
        try:
            readings.append(read(positive))
        except ValueError:
            continue
    return readings


def positives(
    truth: ArrayLike, values: ArrayLike, positive: object, *, argument: str = "score", labels: ArrayLike | None = None
) -> tuple[Codes, Array, Any, list[Any]]:
    """Whether each row is positive, its one number, the positive class, and the classes that occur.

    `labels` may name classes that do not occur.
    """
    codes, present = encode("truth", truth)
    numbered = _numbers(argument, values, present)
    same_length(truth=codes, **{argument: numbered})
    classes = present.tolist() if labels is None else _with(present, labels)
    if positive is None and len(classes) > 2:
        hint = _swapped(argument) if len(np.unique(numbered[:100_000])) <= 2 else "."
        raise StratError.about(
            "truth",
            f"must have two classes, got {len(classes):,} ({some(classes)}); give one {argument} for each "
            f"class, or name the positive class in `positive`{hint}",
        )
    name = positive_of(classes, positive)
    own = present.tolist().index(name) if name in present.tolist() else -1
    return (codes == own).astype(np.int64), numbered, name, present.tolist()


def _numbers(argument: str, values: ArrayLike, truth: NDArray[Any]) -> Array:
    """One number per row; where they are none and the truth holds many numbers, the two may have changed places."""
    try:
        numbered = numbers(argument, values)
    except StratError as error:
        if truth.dtype.kind in "iuf" and len(truth) > 2:
            raise error.continued(_swapped(argument)) from None
        raise
    numbered = numbered[:, 0] if numbered.ndim == 2 and numbered.shape[1] == 1 else numbered
    if numbered.ndim != 1:
        raise StratError.about(argument, f"must have one number per row for two classes, got shape {numbered.shape}.")
    return numbered


def _swapped(argument: str) -> str:
    return f"; are `truth` and `{argument}` swapped?"


def _with(present: NDArray[Any], labels: ArrayLike) -> list[Any]:
    named = [plain(label) for label in np.asarray(labels)]
    unknown = [name for name in present.tolist() if name not in named]
    if unknown:
        raise StratError.about("labels", f"must hold every class of `truth`, got none for {some(unknown)}.")
    return named


def refused(positive: object, why: str) -> None:
    """Refuse a positive class where nothing looks at one, so that it is not ignored silently."""
    if positive is not None:
        raise StratError.about("positive", f"must be left out {why}, got {short(repr(plain(positive)))}.")

"""The plain values behind labels, whichever class they come in."""

from __future__ import annotations

from typing import Any

import numpy as np

_PLAIN = frozenset({str, int, float, bool, np.str_, type(None)})


def plain_label(value: Any) -> Any:
    """The text or number behind a label of a class of its own, such as a member of `class Mood(str, Enum)`.

    NumPy and `str` ask such a class how to write itself, which may be the same for all its members.

    >>> class Loud(str):
    ...     def __str__(self):
    ...         return "loud"
    >>> plain_label(Loud("quiet"))
    'quiet'
    """
    if isinstance(value, str):
        return str.__str__(value)
    if type(value) in _PLAIN or isinstance(value, np.generic):
        return value
    if isinstance(value, int):
        return int.__add__(value, 0)
    return float.__add__(value, 0.0) if isinstance(value, float) else value


def plain_labels(values: Any) -> Any:
    """A column whose labels are plain; columns of PyArrow as lists, because NumPy makes objects of them."""
    if hasattr(values, "to_pylist"):
        return values.to_pylist()
    if not isinstance(values, list | tuple) and not (isinstance(values, np.ndarray) and values.dtype == object):
        return values
    if getattr(values, "ndim", 1) != 1 or not any(map(_own, set(map(type, values)))):
        return values
    plain = [plain_label(value) for value in values]
    if isinstance(values, list | tuple):
        return plain
    array = np.empty(len(plain), object)
    array[:] = plain
    return array


def _own(kind: type) -> bool:
    """Whether it is a class of text or numbers that may write itself in its own way."""
    if issubclass(kind, np.generic):
        return issubclass(kind, np.str_) and kind is not np.str_
    return kind not in _PLAIN and issubclass(kind, str | int | float)

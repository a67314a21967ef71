"""The plain values behind labels, whichever class they come in."""

from __future__ import annotations

from typing import Any

import numpy as np

_PLAIN = frozenset({str, int, float, bool, np.str_, type(None)})
_BYTES = (bytes, bytearray, memoryview)


def plain_label(value: Any) -> Any:
    r"""The text or number behind a label of a class of its own, such as a member of `class Mood(str, Enum)`.

    Bytes are the text that they are in UTF-8, else as Python writes them.

    NumPy and `str` ask such a class how to write itself, which may be the same for all its members.

    >>> class Loud(str):
    ...     def __str__(self):
    ...         return "loud"
    >>> plain_label(Loud("quiet"))
    'quiet'
    >>> plain_label(b"cat"), plain_label(b"\xff")
    ('cat', "b'\\xff'")
    """
    if isinstance(value, _BYTES):
        return _text(bytes(value))
    if isinstance(value, str):
        return str.__str__(value)
    if type(value) in _PLAIN or isinstance(value, np.generic):
        return value
    if isinstance(value, int):
        return int.__add__(value, 0)
    return float.__add__(value, 0.0) if isinstance(value, float) else value


def _text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return repr(value)


def plain_labels(values: Any) -> Any:
    """A column whose labels are plain; columns that NumPy can't take, or makes objects of, as lists."""
    if hasattr(values, "to_pylist"):
        return plain_labels(values.to_pylist())
    if hasattr(values, "to_list") and str(getattr(values, "dtype", "")) in ("Int128", "UInt128"):  # of Polars
        return values.to_list()
    if isinstance(values, np.ndarray) and values.dtype.kind == "T":  # NumPy's text of any length
        values = values.astype(object)
    if isinstance(values, np.ndarray) and values.dtype.kind == "S":
        return np.array([_text(value) for value in values.ravel().tolist()], "U").reshape(values.shape)
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
        return issubclass(kind, np.bytes_) or (issubclass(kind, np.str_) and kind is not np.str_)
    return kind not in _PLAIN and issubclass(kind, (str, int, float, *_BYTES))

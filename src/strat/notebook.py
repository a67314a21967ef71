"""How results show themselves: by their sentence or table, in a terminal and in a notebook, and as plain values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from html import escape
from typing import Any, TypeVar

Class = TypeVar("Class", bound=type)


def in_words(cls: Class) -> Class:
    """The class with `repr(value)` as `str(value)`, and what it lacks of `_repr_html_` and `to_dict`.

    >>> @in_words
    ... class Answer:
    ...     def __str__(self) -> str:
    ...         return "1 < 2"
    >>> Answer()
    1 < 2
    >>> Answer()._repr_html_()
    '<pre>1 &lt; 2</pre>'
    """
    cls.__repr__ = _sentence  # type: ignore[assignment]
    if not hasattr(cls, "to_dict"):
        cls.to_dict = _to_dict  # type: ignore[attr-defined]
    return in_notebooks(cls)


def in_notebooks(cls: Class) -> Class:
    """The class with a `_repr_html_` that shows `str(value)`, escaped, with its columns aligned, if it has none."""
    if not hasattr(cls, "_repr_html_"):
        cls._repr_html_ = _html  # type: ignore[attr-defined]
    return cls


def _sentence(self: Any) -> str:
    return str(self)


def _html(self: Any) -> str:
    return f"<pre>{escape(str(self))}</pre>"


def _to_dict(self: Any) -> dict[str, Any]:
    """The fields as plain values for JSON; what is kept for further questions only is left out."""
    return {field.name: plain_value(getattr(self, field.name)) for field in fields(self) if field.repr}


def plain_value(value: Any) -> Any:
    """`value` as JSON has it: lists for arrays, None for what is no finite number, dictionaries for results.

    >>> plain_value({"a": (1, float("nan")), 2: None})
    {'a': [1, None], '2': None}
    """
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if is_dataclass(value):
        return _to_dict(value)
    if hasattr(value, "tolist"):
        return plain_value(value.tolist())
    if isinstance(value, Mapping):
        return {str(key): plain_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain_value(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, str | int) else str(value)

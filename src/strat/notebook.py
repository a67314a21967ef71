"""How a value shows itself in a notebook: by its sentence, not by its arrays."""

from __future__ import annotations

from html import escape
from typing import Any, TypeVar

Class = TypeVar("Class", bound=type)


def in_words(cls: Class) -> Class:
    """The class with a `_repr_html_` that shows `str(value)`, escaped, with its columns aligned.

    >>> @in_words
    ... class Answer:
    ...     def __str__(self) -> str:
    ...         return "1 < 2"
    >>> Answer()._repr_html_()
    '<pre>1 &lt; 2</pre>'
    """

    def _repr_html_(self: Any) -> str:
        return f"<pre>{escape(str(self))}</pre>"

    cls._repr_html_ = _repr_html_  # type: ignore[attr-defined]
    return cls

"""What every result can do: show its sentence or table, and give its numbers as a dictionary, a frame, JSON, a page."""

from __future__ import annotations

import importlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from html import escape
from pathlib import Path
from typing import Any, TypeVar

Class = TypeVar("Class", bound=type)
SHOWN = 4  # values of a list that stand in one cell of a frame


def in_words(cls: Class) -> Class:
    """The class with `repr(value)` as `str(value)`, and with what it lacks of the protocol of results.

    That is a sentence (`__str__`), `to_dict`, `to_frame`, `to_json`, `report` and `_repr_html_`.

    >>> from dataclasses import dataclass
    >>> @in_words
    ... @dataclass(frozen=True)
    ... class ErrorRate:
    ...     errors: int
    ...     rows: int
    ...     def __str__(self) -> str:
    ...         return "1 < 2"
    >>> rate = ErrorRate(1, 2)
    >>> rate
    1 < 2
    >>> rate._repr_html_(), rate.to_dict()
    ('<pre>1 &lt; 2</pre>', {'errors': 1, 'rows': 2})
    >>> rate.to_json()
    '{"schema": "strat/result/error_rate/1", "errors": 1, "rows": 2}'
    """
    if not any("__str__" in vars(kind) for kind in cls.__mro__[:-1]):
        cls.__str__ = _listed  # type: ignore[assignment]
    cls.__repr__ = _sentence  # type: ignore[assignment]
    for name, method in PROTOCOL.items():
        if not hasattr(cls, name):
            setattr(cls, name, method)
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
    """The fields as plain values for JSON, without those kept only for further questions."""
    return {field.name: plain_value(getattr(self, field.name)) for field in fields(self) if field.repr}


def _listed(self: Any) -> str:
    """The single values of a result that has no sentence of its own."""
    values = (f"{name} {_shown(value)}" for name, value in _line(self.to_dict()))
    return f"{_words(type(self))}: {', '.join(values)}"


def _words(cls: type) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", cls.__name__).lower()


def _to_json(self: Any) -> str:
    """JSON, with the name and the number of its schema."""
    record = {"schema": f"strat/result/{_words(type(self)).replace(' ', '_')}/1", **self.to_dict()}
    if hasattr(self, "notes"):
        record["notes"] = list(self.notes)
    return json.dumps(plain_value(record), ensure_ascii=False)


def _to_frame(self: Any, library: str | None = None) -> Any:
    """A frame of `library` (pandas, polars or pyarrow): the lines of a table, or one line of the single values."""
    columns = self._columns() if hasattr(self, "_columns") else frame_columns(self.to_dict())
    # by name, because frames stand above: a result may ask for one
    return importlib.import_module("strat.estimation.frames").frame(columns, library)


def frame_columns(record: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The columns of a frame: those of a table, the one list of records, or one line of the single values.

    >>> frame_columns({"n": 2, "pairs": [{"a": 1, "b": 2}, {"a": 3, "b": 4}]})
    {'a': [1, 3], 'b': [2, 4]}
    >>> frame_columns({"statistic": 2.5, "df": [1.0, 9.0], "ranks": {"x": 1.5}, "notes": []})
    {'statistic': [2.5], 'df': ['1, 9'], 'ranks.x': [1.5]}
    """
    values = {name: value for name, value in record.items() if name != "notes"}
    if all(isinstance(v, list) for v in values.values()) and len({len(v) for v in values.values()}) == 1:
        return values
    lines = [v for v in values.values() if isinstance(v, list) and v and all(isinstance(one, Mapping) for one in v)]
    if len(lines) == 1:
        return {name: [line.get(name) for line in lines[0]] for name in lines[0][0]}
    return {name: [value] for name, value in _line(values)}


def _line(record: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The single values: those of dictionaries under `name.key`, up to four in a list as one text."""
    line: list[tuple[str, Any]] = []
    for name, value in record.items():
        if isinstance(value, Mapping):
            line += [(f"{name}.{key}", v) for key, v in value.items() if not isinstance(v, Mapping | list)]
        elif not isinstance(value, list):
            line.append((name, value))
        elif 0 < len(value) <= SHOWN and not any(isinstance(v, Mapping | list) for v in value):
            line.append((name, value[0] if len(value) == 1 else ", ".join(map(_shown, value))))
    return line


def _shown(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def write_report(result: Any, path: str | Path) -> Path:
    """Write one self-contained HTML file about a result, or about several in a list."""
    # by name, because reports stand above results: a result may ask for one, and never needs it
    written: Path = importlib.import_module("strat.report").write(result, Path(path))
    return written


def _report(self: Any, path: str | Path) -> Path:
    """Write one self-contained HTML file."""
    return write_report(self, path)


PROTOCOL = {"to_dict": _to_dict, "to_frame": _to_frame, "to_json": _to_json, "report": _report}


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

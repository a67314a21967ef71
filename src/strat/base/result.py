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

from strat.base.validate.arguments import checked

Class = TypeVar("Class", bound=type)
SHOWN = 4  # values of a list that stand in one cell of a frame


class Result:
    """What every result can do: a class needs fields, and may have a sentence (`__str__`) or columns of its own.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True, repr=False)
    ... class ErrorRate(Result):
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

    def __repr__(self) -> str:
        """The sentence or table that a reader wants to see."""
        return str(self)

    def __str__(self) -> str:
        """The single values of a result that has no sentence of its own."""
        values = (f"{name} {_shown(value)}" for name, value in _line(self.to_dict()))
        return f"{_words(type(self))}: {', '.join(values)}"

    def _repr_html_(self) -> str:
        return _html(self)

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain values for JSON; what is kept for further questions only is left out."""
        return _fields(self)

    @checked
    def to_frame(self, library: str | None = None) -> Any:
        """A frame of `library` (pandas, polars or pyarrow): the lines of a table, or one line of the single values."""
        columns = self._columns() if hasattr(self, "_columns") else frame_columns(self.to_dict())
        # by name, because frames stand above: a result may ask for one
        return importlib.import_module("strat.estimation.frames").frame(columns, library)

    def to_json(self) -> str:
        """JSON, with the name and the number of its schema."""
        record = {"schema": f"strat/result/{_words(type(self)).replace(' ', '_')}/1", **self.to_dict()}
        if hasattr(self, "notes"):
            record["notes"] = list(self.notes)
        return json.dumps(plain_value(record), ensure_ascii=False)

    @checked
    def report(self, path: str | Path) -> Path:
        """Write one self-contained HTML file."""
        return write_report(self, path)


def in_notebooks(cls: Class) -> Class:
    """The class with a `_repr_html_` that shows `str(value)`, escaped, with its columns aligned, if it has none."""
    if not hasattr(cls, "_repr_html_"):
        cls._repr_html_ = _html  # type: ignore[attr-defined]
    return cls


def _html(self: Any) -> str:
    return f"<pre>{escape(str(self))}</pre>"


def _fields(record: Any) -> dict[str, Any]:
    return {field.name: plain_value(getattr(record, field.name)) for field in fields(record) if field.repr}


def _words(cls: type) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", cls.__name__).lower()


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
    written: Path = importlib.import_module("strat.show.report").write(result, Path(path))
    return written


def plain_value(value: Any) -> Any:
    """`value` as JSON has it: lists for arrays, None for what is no finite number, dictionaries for results.

    >>> plain_value({"a": (1, float("nan")), 2: None})
    {'a': [1, None], '2': None}
    """
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if is_dataclass(value):
        return _fields(value)
    if hasattr(value, "tolist"):
        return plain_value(value.tolist())
    if isinstance(value, Mapping):
        return {str(key): plain_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain_value(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, str | int) else str(value)

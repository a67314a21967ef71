"""JSON lines in the engine, with types that hold for all rows."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from strat.base.errors import StratError
from strat.base.limits import LIMITS
from strat.base.validate.columns import EXACT
from strat.data.files.csv_text import start_of
from strat.data.files.engine import Counts, ask, count_marks, in_marks, quoted
from strat.data.untrusted import literal

_HUGE = (1 << 127) - 1  # the largest whole number of the engine's widest type
_DETECTED = ("DATE", "TIME", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "UUID")


@dataclass(eq=False)
class JsonFiles:
    """JSON lines; a column of numbers may hold marks of missing values, and whole numbers of any size."""

    paths: tuple[Path, ...]
    text: tuple[str, ...]
    na: tuple[str, ...]
    types: dict[str, str] = field(default_factory=dict)
    casts: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for path in self.paths:
            if start_of(path, 3) == BOM_UTF8:
                raise StratError(f"`{path}` must not start with a byte-order mark; save it as UTF-8 without one.")
        self.whole = len(self.paths) == 1 and self.paths[0].stat().st_size < LIMITS.json_bytes_looked_at

    def open(self, engine: Any) -> Any:
        """The relation over all files, its types as they look in the first rows, or as they were settled."""
        if not self.types:
            relation = self._read(engine, {})
            # strings stay text, even where all of them look like dates, times or UUIDs
            kinds = {name: str(kind) for name, kind in zip(relation.columns, relation.types, strict=True)}
            self.types = {name: "VARCHAR" if kind in _DETECTED else kind for name, kind in kinds.items()}
        relation = self._read(engine, self.types | dict.fromkeys(self.casts, "VARCHAR"))
        if not self.casts:
            return relation
        return relation.project(", ".join(f"{self._value(name)} as {quoted(name)}" for name in relation.columns))

    def _value(self, name: str) -> str:
        kind = self.casts.get(name, "VARCHAR")
        value = quoted(name)
        return value if kind == "VARCHAR" else f"case when not {in_marks(value, self.na)} then {value}::{kind} end"

    def _read(self, engine: Any, types: dict[str, str]) -> Any:
        return engine.read_json(
            [literal(path) for path in self.paths],
            format="newline_delimited",
            hive_partitioning=False,
            columns=types or None,
            sample_size=-1 if self.whole else LIMITS.rows_looked_at,
            maximum_object_size=16 << 20,
        )

    def as_text(self, engine: Any, names: Sequence[str]) -> Any:
        """Text can't be distinguished from numbers once both are text."""
        return

    def settle(self, engine: Any, names: Sequence[str]) -> bool:
        """Types from all rows, where numbers may be rounded, mixed with text, or come after the first rows."""
        unsure = [n for n in names if not self.whole or self.types[n] in ("DOUBLE", "JSON")]
        if not unsure:
            return False
        rows = self._read(engine, dict.fromkeys(unsure, "JSON"))
        tests = {name: test for name in unsure if (test := _json_held(quoted(name), self.types[name], self.na))}
        held = dict(zip(tests, ask(engine, rows, list(tests.values())), strict=True))
        unsure = [name for name in unsure if not held.get(name)]
        asked = [look for name in unsure for look in _json_looks(quoted(name), self.na)]
        answers = ask(engine, rows, asked)
        looks = {}
        for name in unsure:
            both, *looks[name] = (next(answers) for _ in range(6))
            if both:
                raise StratError(
                    f"column `{name}` must have labels of one type, got one as text and as a number or truth value; "
                    "make them all text."
                )
        casts = {name: kind for name in unsure if (kind := _json_kind(*looks[name])) not in (None, self.types[name])}
        self.casts |= casts
        return bool(casts)

    def marks(self, engine: Any, names: Sequence[str]) -> Counts:
        """How many values are which mark."""
        return count_marks(engine, self._read(engine, dict.fromkeys(names, "VARCHAR")), names, self.na)


def _json_held(value: str, kind: str, na: Sequence[str]) -> str | None:
    """SQL that is true where what the first rows look like holds for all, so that no closer look is needed."""
    text, kind_of = f"({value}->>'$')", f"json_type({value})"
    tests = {
        "BIGINT": [f"bool_and({kind_of} in ('BIGINT', 'UBIGINT') and try_cast({text} as bigint) is not null)"],
        "BOOLEAN": [f"bool_and({kind_of} = 'BOOLEAN')"],
        "VARCHAR": [f"bool_and({kind_of} = 'VARCHAR')", f"bool_or(not {in_marks(text, na)})"],
    }
    there = f"filter (where {value} is not null and {kind_of} <> 'NULL')"
    return " and ".join(f"coalesce({test} {there}, false)" for test in tests[kind]) if kind in tests else None


def _json_looks(value: str, na: Sequence[str]) -> list[str]:
    """SQL: whether a text is also a number; whether lists, text, truth values, fractions occur; the largest whole."""
    text, kind = f"({value}->>'$')", f"json_type({value})"
    whole = f"regexp_full_match({text}, '-?[0-9]+')"
    number = f"{kind} in ('BIGINT', 'UBIGINT', 'DOUBLE')"
    plain = f"{number} or {kind} = 'BOOLEAN'"
    each = (f"count(distinct {text}) filter ({where})" for where in (f"{kind} = 'VARCHAR'", plain))
    return [
        f"{' + '.join(each)} > count(distinct {text}) filter ({kind} = 'VARCHAR' or {plain})",
        f"coalesce(bool_or({kind} in ('ARRAY', 'OBJECT')), false)",
        f"coalesce(bool_or({kind} = 'VARCHAR' and not {in_marks(text, na)}), false)",
        f"coalesce(bool_or({kind} = 'BOOLEAN'), false)",
        f"coalesce(bool_or({number} and not {whole}), false)",
        # what 128 bits can't hold counts as larger than all
        f"max(case when {number} and {whole} then coalesce(abs(try_cast({text} as hugeint)), {_HUGE}::hugeint) end)",
    ]


def _json_kind(nested: bool, text: bool, truths: bool, fractions: bool, largest: int | None) -> str | None:
    """The type of a column with such values; None: as it is."""
    numbers = fractions or largest is not None
    if nested or not (text or truths or numbers):
        return None
    if text or (truths and numbers):
        return "VARCHAR"
    if truths:
        return "BOOLEAN"
    if fractions:
        return "DOUBLE" if (largest or 0) <= EXACT else "VARCHAR"
    assert largest is not None
    return "BIGINT" if largest < 1 << 63 else "HUGEINT" if largest < _HUGE else "VARCHAR"

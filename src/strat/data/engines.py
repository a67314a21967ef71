"""What rows in an engine are asked, so that names, marks and numbers mean there what they mean in memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from strat.base.errors import StratError
from strat.base.notes import Note
from strat.data.column import not_a_number
from strat.data.decimals import PATTERNS, Spelling, spelling_of
from strat.data.files import quoted


def acting(names: Sequence[str], lazy: Any) -> dict[str, str]:
    """Names that the engine would act on (`*`, and patterns in Polars), with others to use instead.

    >>> class Frame:
    ...     class implementation:
    ...         is_duckdb, is_polars = (lambda: True), (lambda: False)
    >>> acting(["*", "p"], Frame)
    {'*': 'strat_column_0'}
    """
    engine = lazy.implementation
    if not (engine.is_duckdb() or engine.is_polars()):
        return {}
    pattern = [n for n in names if n == "*" or (engine.is_polars() and n.startswith("^") and n.endswith("$"))]
    free = (other for k in range(len(names) + len(pattern)) if (other := f"strat_column_{k}") not in names)
    return dict(zip(pattern, free, strict=False))


def renamed(lazy: Any, inside: Mapping[str, str]) -> Any:
    """The lazy frame with these columns under other names."""
    import narwhals as nw

    if not inside:
        return lazy
    native = lazy.to_native()
    if not lazy.implementation.is_duckdb():
        return nw.from_native(native.rename(dict(inside)))
    columns = [f"{quoted(name)} as {quoted(inside.get(name, name))}" for name in native.columns]
    return nw.from_native(native.project(", ".join(columns)))


def exact(lazy: Any, names: Sequence[str]) -> tuple[Any, set[str]]:
    """The lazy frame with labels as text where NumPy would round or not know them; and which columns are such numbers.

    DuckDB hands decimals and whole numbers of more than 64 bits to NumPy as floats, and some types not at all.
    """
    if not lazy.implementation.is_duckdb():
        return lazy, set()
    kinds = _kinds(lazy)
    for name in _nested(kinds, names):
        raise StratError(
            f"column `{name}` must hold plain labels or numbers, got values of the type {kinds[name][:60]}; choose "
            "a field of it."
        )
    wide = {name for name in names if kinds[name].startswith(_WIDE)}
    return _cast_to("varchar", lazy, wide | {name for name in names if kinds[name] in _SPELLED}), wide


def nested(lazy: Any, names: Sequence[str]) -> list[str]:
    """The columns of DuckDB that hold lists or records."""
    return _nested(_kinds(lazy), names) if lazy.implementation.is_duckdb() else []


def _nested(kinds: Mapping[str, str], names: Sequence[str]) -> list[str]:
    return [name for name in names if kinds[name].startswith(_NESTED) or kinds[name].endswith("]")]


_WIDE = ("HUGEINT", "UHUGEINT", "BIGNUM", "DECIMAL")
_SPELLED = ("UUID", "TIME WITH TIME ZONE", "TIME_NS", "BIT")
_NESTED = ("STRUCT", "MAP", "UNION", "VARIANT", "GEOMETRY")


def _kinds(lazy: Any) -> dict[str, str]:
    """DuckDB's own names of the types of the columns."""
    native = lazy.to_native()
    return dict(zip(native.columns, map(str, native.types), strict=True))


def _cast_to(kind: str, lazy: Any, names: Collection[str]) -> Any:
    """The lazy frame of DuckDB with these columns as another type."""
    import narwhals as nw

    if not names:
        return lazy
    native = lazy.to_native()
    return nw.from_native(
        native.project(
            ", ".join(f"{quoted(n)}::{kind} as {quoted(n)}" if n in names else quoted(n) for n in native.columns)
        )
    )


def unmarked(lazy: Any, names: Sequence[str], na: Collection[str]) -> Any:
    """The lazy frame whose text in these columns is missing where it is a mark."""
    import narwhals as nw

    schema = lazy.collect_schema()
    text = [name for name in names if schema[name] in (nw.String, nw.Categorical) or isinstance(schema[name], nw.Enum)]
    if not text or not na:
        return lazy
    kept = [
        nw.when(~nw.col(name).cast(nw.String).str.strip_chars().is_in(list(na))).then(nw.col(name)).alias(name)
        for name in text
    ]
    return lazy.with_columns(*kept)


def as_numbers(
    lazy: Any, name: str, na: Sequence[str], collect: Callable[[Any], Mapping[str, Any]], shown: str
) -> tuple[Any, dict[str, int], tuple[Note, ...]]:
    """The lazy frame with a text column read as numbers, how many values were which mark of `na`, and notes.

    Text that spells no number is refused; decimal commas, percent signs, yes and no are read where all rows have them.
    """
    import narwhals as nw

    if lazy.implementation.is_duckdb() and _kinds(lazy)[name] in ("UHUGEINT", "BIGNUM"):
        return _cast_to("double", lazy, {name}), {}, ()
    if lazy.collect_schema()[name] != nw.String:
        return lazy, {}, ()
    if not (lazy.implementation.is_duckdb() or lazy.implementation.is_polars()):
        raise StratError(f"column `{shown}` must be numbers, and holds text; make its values numbers first.")
    rows, counts = _cast(lazy, name, collect)
    bad = sorted(text for text in counts if text not in na)
    if not bad:
        return rows, counts, ()
    style = _spelling(lazy, name, na, collect)
    if style is None:
        raise not_a_number(shown, bad[0])
    text = nw.col(name).str.strip_chars()
    plain = text.str.replace_all(",", ".", literal=True).str.replace_all("%", "", literal=True).str.strip_chars()
    if style.words:
        zero = nw.when(text.str.contains(PATTERNS["false"])).then(nw.lit("0"))
        plain = nw.when(text.str.contains(PATTERNS["true"])).then(nw.lit("1")).otherwise(zero)
    unmarked = nw.when(text.is_in(list(na))).then(text).otherwise(plain) if na else plain
    rows, counts = _cast(lazy.with_columns(unmarked.alias(name)), name, collect)
    rows = rows.with_columns(nw.col(name) / 100) if style.percent else rows
    return rows, counts, (style.note(shown, bad[-1]),)


def _cast(lazy: Any, name: str, collect: Callable[[Any], Mapping[str, Any]]) -> tuple[Any, dict[str, int]]:
    """The lazy frame with a text column as numbers, and how many rows hold which text that is none."""
    import narwhals as nw

    to_numbers = _duckdb_numbers if lazy.implementation.is_duckdb() else _polars_numbers
    rows = nw.from_native(to_numbers(lazy.to_native(), name))
    lost = rows.filter(nw.col(name).is_null() & ~nw.col(_TEXT).is_null())
    counts = collect(lost.group_by(_TEXT).agg(nw.len().alias("n")))
    return rows.drop(_TEXT), {str(text): int(n) for text, n in zip(counts[_TEXT], counts["n"], strict=True)}


def _spelling(lazy: Any, name: str, na: Sequence[str], collect: Callable[[Any], Mapping[str, Any]]) -> Spelling | None:
    """How the numbers of a text column are written, from one pass over all rows."""
    import narwhals as nw

    text = nw.col(name).str.strip_chars()
    there = lazy.filter(~text.is_in(list(na)) if na else ~text.is_null())
    fits = [text.str.contains(pattern).cast(nw.Int64).sum().alias(key) for key, pattern in PATTERNS.items()]
    counts = collect(there.select(nw.len().alias("all"), *fits))
    return spelling_of({key: int(counts[key][0]) for key in ("all", *PATTERNS)})


_TEXT = "strat_text"


def _duckdb_numbers(native: Any, name: str) -> Any:
    others = [quoted(column) for column in native.columns if column != name]
    number = f"try_cast({quoted(name)} as double)"
    # a float that is none is a missing value, as everywhere; a number beyond all floats is no number
    there = f"not isnan({number}) and (not isinf({number}) or {quoted(name)} ilike '%inf%')"
    number = f"case when {there} then {number} end as {quoted(name)}"
    return native.project(", ".join([*others, number, f"trim({quoted(name)}) as {_TEXT}"]))


def _polars_numbers(native: Any, name: str) -> Any:
    import polars as pl

    text = pl.col(name).str.strip_chars()
    number = text.cast(pl.Float64, strict=False).fill_nan(None)
    beyond = number.is_infinite() & ~text.str.contains("(?i)inf")
    return native.with_columns(pl.when(~beyond).then(number).alias(name), text.alias(_TEXT))

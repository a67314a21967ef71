"""Columns of any data frame as NumPy: numbers or codes with labels, and which values are missing."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from strat.base.errors import StratError, plain, some
from strat.base.validate.columns import Codes, encode
from strat.base.validate.labels import plain_label, plain_labels
from strat.data.column import DIGITS, Column, spelling
from strat.data.numerals import kind_of

# what pandas and R write or read for a missing value, and SAS's point
MARKS = (
    *("", "NA", "N/A", "n/a", "<NA>", "#N/A", "#N/A N/A", "#NA", "NaN", "nan", "-NaN", "-nan", "NULL", "null"),
    *("None", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN", "."),
    # what spreadsheets write for an error
    *("#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!", "#SPILL!", "#CALC!", "#ERROR!", "#GETTING_DATA"),
)


def typed_column(name: str, values: Any, na: Collection[str], rows: NDArray[Any]) -> Column:
    """A column from the distinct texts of a file: truth values, numbers or text, whatever all of them spell."""
    column = column_of(name, values, na, rows)
    labels = column.labels
    if not len(labels):
        return column
    texts = labels.tolist()
    kind = kind_of(texts)
    if kind is None:
        return column
    if kind == "BOOLEAN":
        return _relabelled(column, np.char.lower(labels) == "true")
    if kind == "DOUBLE":
        return _relabelled(column, labels.astype(float))
    exact, spelled = _labels([Decimal(text) for text in texts])
    return replace(_relabelled(column, np.asarray(exact)), spelled=spelled)


def _relabelled(column: Column, labels: NDArray[Any]) -> Column:
    """The column with each label under another name."""
    order, distinct = encode(column.name, labels)
    codes, _ = column.encoded()
    return replace(column, codes=np.append(order, -1)[codes], labels=distinct)


class _Marks(NamedTuple):
    """Texts that mark a missing value, and how many rows each value stands for (None: one)."""

    na: Collection[str] = ()
    rows: NDArray[Any] | None = None

    def match(self, label: object) -> bool:
        """Whether it is a mark, whatever blanks are around it."""
        return isinstance(label, str) and label.strip() in self.na


def column_of(name: str, values: Any, na: Collection[str] = (), rows: NDArray[Any] | None = None) -> Column:
    """A column from anything that is one: a NumPy array, a list, a masked array or a narwhals series.

    Text among `na`, whatever blanks are around it, is missing, and counted by how many `rows` each value stands for.
    """
    marks = _Marks(na, rows)
    if hasattr(values, "to_native"):
        return _of_series(name, values, marks)
    if isinstance(values, np.ma.MaskedArray):
        mask = np.ma.getmaskarray(values)
        return _of_array(name, np.asarray(values.data), mask if mask.any() else None, marks)
    return _of_array(name, np.asarray(values) if _plain(values) else _objects(name, values), None, marks)


def exact_column(name: str, values: Any) -> Column:
    """A column from text that an engine made of numbers, so that none was rounded."""
    text = np.ma.getdata(values).tolist() if isinstance(values, np.ndarray) else list(values)
    gone = np.ma.getmaskarray(values).tolist() if isinstance(values, np.ma.MaskedArray) else [v is None for v in text]
    items = [None if lost or v is None else Decimal(v) for v, lost in zip(text, gone, strict=True)]
    return _of_objects(name, _object_array(items), None, _Marks())


def _plain(values: Any) -> bool:
    return isinstance(values, np.ndarray)


def _objects(name: str, values: Any) -> NDArray[Any]:
    if isinstance(values, str | bytes | set | frozenset | Mapping):
        what = type(values).__name__
        raise StratError(f"column `{name}` must have one value per row, in order, got a {what}; make it a list.")
    if hasattr(values, "toarray"):
        raise StratError(f"column `{name}` must have all its values, got a sparse array; .toarray() it.")
    try:
        items = list(values.to_pylist() if hasattr(values, "to_pylist") else values)
    except TypeError:
        raise StratError(f"a column must have one value per row, got {some([values], 1)}.") from None
    kinds = {type(v) for v in items}
    if kinds <= {int, float, bool, np.float64, np.int64} and len(kinds) == 1:
        array = np.asarray(items)
        if kinds != {int} or array.dtype.kind in "iu":
            return array
    return _object_array(items)


def _of_array(name: str, array: NDArray[Any], missing: NDArray[np.bool_] | None, na: _Marks) -> Column:
    if array.ndim != 1:
        raise StratError(f"column `{name}` must have one value per row, got an array of shape {array.shape}.")
    if array.dtype.kind in "OT":
        return _of_objects(name, array.astype(object, copy=False), missing, na)
    if array.dtype.kind == "f":
        nan = np.isnan(array)
        missing = nan if missing is None else nan | missing
    elif array.dtype.kind in "mM":
        nat = np.isnat(array)
        missing = nat if missing is None else nat | missing
    if array.dtype.kind in "US":
        array = plain_labels(array)
        codes, labels = encode(name, array) if len(array) else (np.zeros(0, np.int64), array)
        return _coded(name, codes if missing is None else np.where(missing, -1, codes), labels.tolist(), na)
    return Column(name, None, array, missing if missing is not None and missing.any() else None)


def _of_objects(name: str, array: NDArray[Any], missing: NDArray[np.bool_] | None, na: _Marks) -> Column:
    """Python objects, as text or numbers: one dictionary look-up per row, no sort of the rows."""
    values = array.tolist()
    if missing is not None:
        values = [None if gone else v for v, gone in zip(values, missing.tolist(), strict=True)]
    kinds = set(map(type, values))
    seen: dict[Any, int] = {}
    if kinds <= {str, type(None)}:
        codes = np.fromiter((-1 if v is None else seen.setdefault(v, len(seen)) for v in values), np.int64, len(values))
        return _coded(name, codes, list(seen), na)
    codes = np.fromiter(
        (-1 if v is None or _absent(name, v) else seen.setdefault(_hashable(v), len(seen)) for v in values),
        np.int64,
        len(values),
    )
    twins = []
    if not kinds.isdisjoint({bool, np.bool_}):  # a dictionary takes 1 for True
        there = array[codes >= 0].tolist()
        twins = list({isinstance(v, bool | np.bool_): _hashable(v) for v in there}.values())
    return _coded(name, codes, list(seen), na, twins=twins if len(twins) > 1 else ())


def _coded(name: str, codes: Codes, levels: Sequence[Any], na: _Marks, twins: Sequence[Any] = ()) -> Column:
    """The column whose rows hold these of the found labels (-1: none); labels that are marks of `na` become missing.

    `twins` are further labels whose types must agree with the others'.
    """
    marked = {i: label.strip() for i, label in enumerate(levels) if na.match(label)}
    marks: dict[str, int] = {}
    if marked:
        there = codes >= 0
        counts = np.bincount(codes[there], None if na.rows is None else na.rows[there], minlength=len(levels))
        for i, mark in marked.items():
            marks[mark] = marks.get(mark, 0) + int(counts[i])
    kept = [i for i in range(len(levels)) if i not in marked]
    place = np.full(len(levels) + 1, -1, np.int64)
    labels, spelled = _labels([levels[i] for i in kept])
    distinct: NDArray[Any] = np.empty(0, "U1")
    if kept:
        place[kept], distinct = _sorted(name, labels, [twin for twin in twins if not na.match(twin)])
    codes = place[codes]
    gone = codes < 0
    return Column(name, codes, distinct, gone if gone.any() else None, marks, spelled)


def _sorted(name: str, labels: Sequence[Any], twins: Sequence[Any]) -> tuple[Codes, NDArray[Any]]:
    if all(type(label) is str for label in labels) and all(isinstance(t, str) for t in twins):
        return encode(name, np.array(labels, "U"))
    codes, distinct = encode(f"column {name}", [*labels, *twins])
    return codes[: len(labels)], distinct


def _labels(values: list[Any]) -> tuple[list[Any], bool]:
    """Numbers as whole numbers of 64 bits, or floats, where these hold all of them, else as text; and whether so."""
    if not any(isinstance(v, Decimal) or (isinstance(v, int) and not -(1 << 63) <= v < 1 << 63) for v in values):
        return values, False
    if not all(isinstance(v, int | float | Decimal | np.number) for v in values):
        return values, False
    exact = [v if isinstance(v, Decimal) else Decimal(spelling(plain(v))) for v in values]
    if all(v == v.to_integral_value() and v.copy_abs() < 1 << 63 for v in exact):
        return [int(v) for v in exact], False
    if all(abs(v.adjusted()) < DIGITS and Decimal(repr(float(v))) == v for v in exact):
        return [float(v) for v in exact], False
    return [spelling(v) for v in exact], True


def _absent(name: str, value: Any) -> bool:
    """Whether it is no value: NaN, NaT, or pandas' NA, whose comparisons have no truth value."""
    kind: Any = type(value)
    # text of a set depends on the run, that of an object on its place in memory
    if isinstance(value, list | dict | set | frozenset | np.ndarray) or (
        kind.__str__ is object.__str__ and kind.__repr__ is object.__repr__
    ):
        raise StratError(
            f"column `{name}` must hold plain labels or numbers, got {some([value], 1)[:60]}; choose a field of it."
        )
    if isinstance(value, Decimal):  # one kind of which refuses to be compared
        return value.is_nan()
    differs = value != value
    return not isinstance(differs, bool | np.bool_) or bool(differs)


def _hashable(value: Any) -> Any:
    if isinstance(value, str | int | float | bool | bytes | bytearray | memoryview | np.generic):
        return plain_label(value)
    return value if isinstance(value, Decimal) else str(value)


def _of_series(name: str, series: Any, na: _Marks) -> Column:
    """A narwhals series: numbers through NumPy, text through the library's own dictionary."""
    import narwhals as nw

    series = series.alias("strat_column")  # Polars acts on a name that is a pattern
    dtype = series.dtype
    if dtype in (nw.Decimal, nw.Int128, nw.UInt128):
        return _of_objects(name, _object_array(series.to_list()), None, na)
    if dtype.is_numeric() or dtype == nw.Boolean:
        return _numeric_series(name, series)
    if dtype in (nw.String, nw.Categorical) or isinstance(dtype, nw.Enum):
        return _text_series(name, series, na)
    if dtype.is_temporal():
        return _of_array(name, np.asarray(series.to_numpy()), None, na)
    return _of_objects(name, _object_array(series.to_list()), None, na)


def _object_array(items: list[Any]) -> NDArray[Any]:
    array = np.empty(len(items), object)
    array[:] = items
    return array


def _numeric_series(name: str, series: Any) -> Column:
    import narwhals as nw

    missing = series.is_null().to_numpy()
    if missing.any():
        filled = series.fill_null(False if series.dtype == nw.Boolean else 0).to_numpy()
        return _of_array(name, np.asarray(filled, dtype=filled.dtype), np.asarray(missing, bool), _Marks())
    array = np.asarray(series.to_numpy())
    if array.dtype == object:
        array = array.astype(bool if series.dtype == nw.Boolean else float)
    return _of_array(name, array, None, _Marks())


def _text_series(name: str, series: Any, na: _Marks) -> Column:
    """Text, or categories of anything, which count as what they are."""
    import narwhals as nw

    if series.implementation.is_pandas():
        raw, labels = series.to_native().factorize()
    elif series.implementation.is_polars():
        raw, labels = _polars_codes(series.cast(nw.String).to_native())
    elif series.implementation.is_pyarrow():
        native = series.to_native()
        if series.dtype != nw.String:
            return _of_series(name, nw.from_native(native.cast(native.type.value_type), series_only=True), na)
        packed = native.combine_chunks().dictionary_encode()
        raw, labels = packed.indices.fill_null(-1).to_numpy(zero_copy_only=False), packed.dictionary.to_pylist()
    else:
        return _of_objects(name, _object_array(series.to_list()), None, na)
    levels = [None if _absent(name, label) else _hashable(label) for label in labels]
    return _coded(name, np.asarray(raw, np.int64), levels, na)


def _polars_codes(native: Any) -> tuple[Any, list[str]]:
    import polars as pl

    labels = native.drop_nulls().unique().to_list()
    return native.cast(pl.Enum(labels)).to_physical().cast(pl.Int64).fill_null(-1).to_numpy(), labels

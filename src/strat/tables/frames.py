"""Columns of any data frame as NumPy: numbers or codes with labels, and which values are missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.columns import Codes, encode
from strat.errors import StratError, some

_NOTHING = ("", "na", "n/a", "nan", "null", "none")


@dataclass(frozen=True, eq=False)
class Column:
    """One column in memory.

    Attributes
    ----------
    name
        Its name in the table.
    codes
        Which label each row has; -1 where the value is missing. None for a column of plain numbers.
    labels
        The distinct labels in sorted order (columns with codes), or the values themselves.
    missing
        Which rows have no value; None: all have one.
    """

    name: str
    codes: Codes | None
    labels: NDArray[Any]
    missing: NDArray[np.bool_] | None

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.labels if self.codes is None else self.codes)

    @property
    def values(self) -> NDArray[Any]:
        """The values row by row; where one is missing, its place holds any value."""
        return self.labels if self.codes is None else self.labels[self.codes]

    @property
    def lost(self) -> int:
        """How many values are missing."""
        return 0 if self.missing is None else int(self.missing.sum())

    def encoded(self) -> tuple[Codes, NDArray[Any]]:
        """The code of each row (-1: missing) and the labels in sorted order."""
        if self.codes is not None:
            return self.codes, self.labels
        if self.missing is None:
            return encode(self.name, self.labels)
        if self.missing.all():
            return np.full(len(self), -1, np.int64), self.labels[:0]
        codes = np.full(len(self), -1, np.int64)
        codes[~self.missing], labels = encode(self.name, self.labels[~self.missing])
        return codes, labels

    def numbers(self) -> Column:
        """The same column as numbers; text that spells none is an error with the first such row."""
        if self.codes is None and self.labels.dtype.kind in "fiub":
            return Column(self.name, None, self.labels.astype(float, copy=False), self.missing)
        values, nothing = _spelled(self)
        codes, _ = self.encoded()
        gone = codes < 0
        gone |= nothing[codes]
        number = np.where(gone, np.nan, values[codes])
        return Column(self.name, None, number, gone if gone.any() else None)


def _spelled(column: Column) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    codes, labels = column.encoded()
    values = np.full(len(labels) + 1, np.nan)
    nothing = np.zeros(len(labels) + 1, bool)
    for i, label in enumerate(labels):
        try:
            values[i] = float(label)
        except (TypeError, ValueError):
            nothing[i] = str(label).strip().lower() in _NOTHING
            if not nothing[i]:
                raise StratError(
                    f"column `{column.name}` must be numbers, got {label!s:.60} in row "
                    f"{int(np.flatnonzero(codes == i)[0])}; mend it, or choose another column."
                ) from None
        nothing[i] |= bool(np.isnan(values[i]))
    return values, nothing


def column_of(name: str, values: Any) -> Column:
    """A column from anything that is one: a NumPy array, a list, a masked array or a narwhals series."""
    if hasattr(values, "to_native"):
        return _of_series(name, values)
    if isinstance(values, np.ma.MaskedArray):
        mask = np.ma.getmaskarray(values)
        return _of_array(name, np.asarray(values.data), mask if mask.any() else None)
    return _of_array(name, np.asarray(values) if _plain(values) else _objects(values), None)


def _plain(values: Any) -> bool:
    return isinstance(values, np.ndarray)


def _objects(values: Any) -> NDArray[Any]:
    try:
        items = list(values)
    except TypeError:
        raise StratError(f"a column must have one value per row, got {some([values], 1)}.") from None
    kinds = {type(v) for v in items}
    if kinds <= {int, float, bool, np.float64, np.int64} and len(kinds) == 1:
        return np.asarray(items)
    array = np.empty(len(items), object)
    array[:] = items
    return array


def _of_array(name: str, array: NDArray[Any], missing: NDArray[np.bool_] | None) -> Column:
    if array.ndim != 1:
        raise StratError(f"column `{name}` must have one value per row, got an array of shape {array.shape}.")
    if array.dtype == object:
        return _of_objects(name, array, missing)
    if array.dtype.kind == "f":
        nan = np.isnan(array)
        missing = nan if missing is None else nan | missing
    elif array.dtype.kind in "mM":
        nat = np.isnat(array)
        missing = nat if missing is None else nat | missing
    if array.dtype.kind in "US":
        codes, labels = encode(name, array) if len(array) else (np.zeros(0, np.int64), array)
        return Column(name, _hidden(codes, missing), labels, missing)
    return Column(name, None, array, missing if missing is not None and missing.any() else None)


def _hidden(codes: Codes, missing: NDArray[np.bool_] | None) -> Codes:
    return codes if missing is None else np.where(missing, -1, codes)


def _of_objects(name: str, array: NDArray[Any], missing: NDArray[np.bool_] | None) -> Column:
    """Python objects, as text or numbers: one dictionary look-up per row, no sort of the rows."""
    seen: dict[Any, int] = {}
    hide = np.zeros(len(array), bool) if missing is None else missing
    first = np.fromiter(
        (
            -1 if gone or v is None or _absent(name, v) else seen.setdefault(_hashable(v), len(seen))
            for v, gone in zip(array.tolist(), hide.tolist(), strict=True)
        ),
        np.int64,
        len(array),
    )
    gone = first < 0
    if not seen:
        return Column(name, first, np.empty(0, "U1"), gone if gone.any() else None)
    twins = {isinstance(v, bool): _hashable(v) for v in array[~gone].tolist()}  # a dictionary takes 1 and True for one
    order, labels = encode(f"column {name}", [*seen, *twins.values()])
    codes = np.append(order, -1)[first]
    return Column(name, codes, labels, gone if gone.any() else None)


def _absent(name: str, value: Any) -> bool:
    """Whether it is no value: NaN, NaT, or pandas' NA, whose comparisons have no truth value."""
    if isinstance(value, list | dict | set | np.ndarray):
        raise StratError(
            f"column `{name}` must hold plain labels or numbers, got {some([value], 1)[:60]}; choose a field of it."
        )
    differs = value != value
    return not isinstance(differs, bool | np.bool_) or bool(differs)


def _hashable(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool | np.generic) else str(value)


def _of_series(name: str, series: Any) -> Column:
    """A narwhals series: numbers through NumPy, text through the library's own dictionary."""
    import narwhals as nw

    dtype = series.dtype
    if dtype.is_numeric() or dtype == nw.Boolean:
        return _numeric_series(name, series)
    if dtype in (nw.String, nw.Categorical) or isinstance(dtype, nw.Enum):
        return _text_series(name, series.cast(nw.String))
    if dtype.is_temporal():
        return _of_array(name, np.asarray(series.to_numpy()), None)
    return _of_objects(name, _object_array(series.to_list()), None)


def _object_array(items: list[Any]) -> NDArray[Any]:
    array = np.empty(len(items), object)
    array[:] = items
    return array


def _numeric_series(name: str, series: Any) -> Column:
    import narwhals as nw

    missing = series.is_null().to_numpy()
    if missing.any():
        filled = series.fill_null(False if series.dtype == nw.Boolean else 0).to_numpy()
        return _of_array(name, np.asarray(filled, dtype=filled.dtype), np.asarray(missing, bool))
    array = np.asarray(series.to_numpy())
    if array.dtype == object:
        array = array.astype(bool if series.dtype == nw.Boolean else float)
    return _of_array(name, array, None)


def _text_series(name: str, series: Any) -> Column:
    if series.implementation.is_pandas():
        raw, found = series.to_native().factorize()
    elif series.implementation.is_polars():
        raw, found = _polars_codes(series.to_native())
    elif series.implementation.is_pyarrow():
        packed = series.to_native().combine_chunks().dictionary_encode()
        raw, found = packed.indices.fill_null(-1).to_numpy(zero_copy_only=False), packed.dictionary.to_pylist()
    else:
        return _of_objects(name, _object_array(series.to_list()), None)
    raw = np.asarray(raw, np.int64)
    gone = raw < 0
    if len(found) == 0:
        return Column(name, raw, np.empty(0, "U1"), gone if gone.any() else None)
    order, labels = encode(name, np.asarray(list(found), "U"))
    return Column(name, np.append(order, -1)[raw], labels, gone if gone.any() else None)


def _polars_codes(native: Any) -> tuple[Any, list[str]]:
    import polars as pl

    found = native.drop_nulls().unique().to_list()
    return native.cast(pl.Enum(found)).to_physical().cast(pl.Int64).fill_null(-1).to_numpy(), found

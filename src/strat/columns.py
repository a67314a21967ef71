"""A person's columns, checked once at the door: numbers, labels and their lengths."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strat.doors import unmasked
from strat.errors import StratError, some

Array = NDArray[np.float64]
Codes = NDArray[np.int64]


LARGEST = 1e140  # squares of larger numbers, added up, leave the range of floats


def numbers(argument: str, values: ArrayLike, *, finite: bool = True, most: float = np.inf) -> Array:
    """`values` as a float vector, or an error that names the argument and the first bad value."""
    unmasked(argument, values)
    try:
        array = _floats(values)
    except (TypeError, ValueError, OverflowError):
        raise StratError(
            f"`{argument}` must be numbers, got {some(np.ravel(np.asarray(values, object)), 3)}."
        ) from None
    if array.ndim == 0:
        raise StratError(f"`{argument}` must have one value per row, got the single value {array.item()!r}.")
    if len(array) == 0:
        raise StratError(f"`{argument}` must have at least one row, got none.")
    if _surely_within(array, most):
        return array
    if finite and array.size and not np.isfinite([array.min(), array.max()]).all():  # no mask as large as the data
        bad = np.flatnonzero(~np.isfinite(array.reshape(len(array), -1)).all(axis=1))
        raise StratError(
            f"`{argument}` must be finite, got {array[bad[0]].tolist()!r} in row {bad[0]} "
            f"({len(bad)} such rows); "
            "drop these rows or say what they stand for."
        )
    if most < np.inf and array.size and max(-array.min(), array.max()) > most:
        raise StratError(
            f"`{argument}` must not be larger than {most:g}, got {np.abs(array).max():g}; divide all by one number."
        )
    return array


def _surely_within(array: Array, most: float) -> bool:
    """Whether a sum of squares, one quick pass, shows that all are finite and at most `most`; False: look closer."""
    if not array.flags.c_contiguous:
        return False
    flat = array.reshape(-1)
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.dot(flat, flat) <= min(most, LARGEST) ** 2)


def values(argument: str, given: ArrayLike, *, finite: bool = True, most: float = np.inf) -> Array:
    """One number or many as an array of the same shape, or an error that names the argument."""
    array = np.asanyarray(given) if isinstance(given, np.ma.MaskedArray) else given
    return numbers(argument, np.atleast_1d(array), finite=finite, most=most).reshape(np.shape(given))


def _floats(values: ArrayLike) -> Array:
    """`values` as floats; times and complex numbers, which NumPy would make floats of, are none."""
    if getattr(getattr(values, "dtype", None), "kind", "") in ("c", "m", "M", "V"):
        raise TypeError
    if isinstance(values, np.ndarray):
        return np.asarray(values, dtype=float)
    with warnings.catch_warnings():
        warnings.simplefilter("error", np.exceptions.ComplexWarning)
        try:
            return np.asarray(values, dtype=float)
        except np.exceptions.ComplexWarning:
            raise TypeError from None


def number(argument: str, value: object) -> float:
    """`value` as one number (nan and infinities too), or an error that names the argument."""
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise StratError(f"`{argument}` must be a number, got {some([value])}.") from None


def load(argument: str, path: Path, *, mapped: bool = False) -> dict[str, NDArray[Any]]:
    """The arrays of an `.npz` file by name, or that of an `.npy` file under no name; never pickled objects."""
    try:
        if mapped:
            return {"": np.load(path, mmap_mode="r", allow_pickle=False)}
        with path.open("rb") as file, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a damaged head is refused below, or read
            found = np.load(file, allow_pickle=False)
            return {"": found} if isinstance(found, np.ndarray) else {name: found[name] for name in found}
    except Exception:  # NumPy's reading of a damaged head raises a dozen kinds
        raise StratError(
            f"`{argument}` must be a whole file of NumPy arrays, got {str(path)!r}; it is damaged, or holds objects, "
            "which are never loaded."
        ) from None


def same_length(**arrays: Sequence[Any] | NDArray[Any]) -> int:
    """The common length of the named arrays, or an error that names two that differ."""
    for name, array in arrays.items():
        if not hasattr(array, "__len__"):
            raise StratError(f"`{name}` must have one value per row, got {some([array])}.")
    lengths = {name: len(array) for name, array in arrays.items()}
    (first, n), *rest = lengths.items()
    for name, m in rest:
        if m != n:
            raise StratError(f"`{name}` must have as many rows as `{first}` ({n}), got {m}.")
    return n


def encode(argument: str, labels: ArrayLike) -> tuple[Codes, NDArray[Any]]:
    """The code of each label, and the distinct labels in sorted order.

    Row order never matters: codes follow the labels' own order. Missing labels and labels of mixed
    types are refused, because their order is nobody's, and because 1 and True would become one label.
    """
    unmasked(argument, labels)
    try:
        array = np.asarray(labels)
    except ValueError:
        raise StratError(f"`{argument}` must have one label per row, got lists of several lengths.") from None
    if array.ndim != 1:
        raise StratError(f"`{argument}` must have one label per row, got an array of shape {array.shape}.")
    if len(array) == 0:
        raise StratError(f"`{argument}` must have at least one row, got none.")
    if array.dtype == object or (not isinstance(labels, np.ndarray) and _merged(array, labels)):
        array = _homogeneous(argument, labels)
    missing = np.isnan(array) if array.dtype.kind == "f" else np.isnat(array) if array.dtype.kind in "mM" else None
    if missing is not None and missing.any():
        raise StratError(
            f"`{argument}` must name every row, got a missing label in row {np.flatnonzero(missing)[0]} "
            f"({int(missing.sum())} such rows); drop these rows or give them a label."
        )
    if array.dtype.kind in "iu" and len(array):
        return _encode_integers(array)
    try:
        distinct, codes = np.unique(array, return_inverse=True)
    except TypeError:
        raise StratError(
            f"`{argument}` must have labels with an order, got {some(array, 2)}; make them text."
        ) from None
    return codes.astype(np.int64, copy=False).reshape(-1), distinct


def _merged(array: NDArray[Any], labels: ArrayLike) -> bool:
    """Whether NumPy may have made one type of several: text of numbers, or numbers of truth values."""
    if array.dtype.kind in "US":
        return True
    return (
        isinstance(labels, list | tuple)
        and array.dtype.kind in "iufc"
        and not {bool, np.bool_}.isdisjoint(map(type, labels))
    )


def _homogeneous(argument: str, labels: ArrayLike) -> NDArray[Any]:
    items = list(labels)  # type: ignore[arg-type]
    missing = [i for i, v in enumerate(items) if _missing(v)]
    if missing:
        raise StratError(
            f"`{argument}` must name every row, got a missing label in row {missing[0]} "
            f"({len(missing)} such rows); drop these rows or give them a label."
        )
    kinds = {_kind(v) for v in items}
    if len(kinds) > 1:
        examples = [next(v for v in items if _kind(v) == k) for k in sorted(kinds)]
        way_out = "all numbers, or all text" if kinds == {"number", "truth value"} else "all text"
        raise StratError(f"`{argument}` must have labels of one type, got {some(examples)}; make them {way_out}.")
    return np.asarray(items)


def _missing(value: object) -> bool:
    """Whether it is None, not a number, no time, or pandas' NA (which compares to NA, and has no truth value)."""
    differs = value != value
    return value is None or not isinstance(differs, bool | np.bool_) or bool(differs)


def _kind(value: object) -> str:
    if isinstance(value, bool | np.bool_):
        return "truth value"
    return "number" if isinstance(value, int | float | np.number) else type(value).__name__


def _encode_integers(array: NDArray[Any]) -> tuple[Codes, NDArray[Any]]:
    low, high = int(array.min()), int(array.max())
    if high - low > 4 * len(array) + 1024:
        distinct, codes = np.unique(array, return_inverse=True)
        return codes.astype(np.int64, copy=False).reshape(-1), distinct
    wide = array.astype(np.int64, copy=False) if array.dtype.itemsize < 8 else array  # small types would wrap around
    offset = (wide - wide.dtype.type(low)).astype(np.int64)
    present = np.zeros(high - low + 1, bool)
    present[offset] = True
    distinct = np.flatnonzero(present)
    position = np.cumsum(present) - 1
    return position[offset], (distinct.astype(wide.dtype) + wide.dtype.type(low)).astype(array.dtype)

"""Checks of columns, made once on entry: numbers, labels and their lengths."""

from __future__ import annotations

import math
import warnings
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strat.base.errors import StratError, some
from strat.base.limits import LIMITS
from strat.base.validate.arguments import unmasked
from strat.base.validate.labels import plain_labels

Array = NDArray[np.float64]
Codes = NDArray[np.int64]


EXACT = 1 << 53  # up to here a float holds every whole number
LARGEST = 1e140  # squares of larger numbers, added up, leave the range of floats


def numbers(
    argument: str, values: ArrayLike, *, finite: bool = True, most: float = np.inf, axes: int | None = None
) -> Array:
    """`values` as a float array (of so many axes), or an error that names the argument and the first bad value."""
    unmasked(argument, values)
    try:
        array = _floats(values)
    except (TypeError, ValueError, OverflowError):
        raise StratError.about(
            argument, f"must be numbers, got {some(np.ravel(np.asarray(values, object)), 3)}."
        ) from None
    if array.ndim == 0:
        raise StratError.about(argument, f"must have one value per row, got the single value {array.item()!r}.")
    if len(array) == 0:
        raise StratError.about(argument, "must have at least one row, got none.")
    if axes not in (None, array.ndim):
        wanted = "one value per row" if axes == 1 else "rows and columns"
        raise StratError.about(argument, f"must have {wanted}, got an array of shape {array.shape}.")
    if _surely_within(array, most):
        return array
    if finite and array.size and not np.isfinite([array.min(), array.max()]).all():  # no mask as large as the data
        bad = np.flatnonzero(~np.isfinite(array.reshape(len(array), -1)).all(axis=1))
        raise StratError.about(
            argument,
            f"must be finite, got {array[bad[0]].tolist()!r} in row {bad[0]} "
            f"({len(bad)} such rows); "
            "drop these rows or say what they stand for.",
        )
    if most < np.inf and array.size and max(-array.min(), array.max()) > most:
        raise StratError.about(
            argument, f"must not be larger than {most:g}, got {np.abs(array).max():g}; divide all by one number."
        )
    return array


def number_columns(**columns: ArrayLike) -> tuple[Array, ...]:
    """One number per row in each column, all of one length."""
    arrays = {name: numbers(name, column, most=LARGEST, axes=1) for name, column in columns.items()}
    same_length(**arrays)
    return tuple(arrays.values())


def _surely_within(array: Array, most: float) -> bool:
    """Whether a sum of squares, one quick pass, shows that all are finite and at most `most`; False: look closer."""
    if not array.flags.c_contiguous:
        return False
    flat = array.reshape(-1)
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.einsum("i,i->", flat, flat)  # a dot product would wake BLAS's threads, at many times the price
        return bool(squares <= min(most, LARGEST) ** 2)


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


def load(argument: str, path: Path, *, mapped: bool = False) -> Mapping[str, NDArray[Any]]:
    """The arrays of an `.npz` file by name, or that of an `.npy` file under no name; never pickled objects.

    Of an `.npz` file only the heads are read; each array is, when it is asked for.
    """
    with _whole_arrays(argument, path):
        if mapped:
            return {"": np.load(path, mmap_mode="r", allow_pickle=False)}
        if zipfile.is_zipfile(path):
            return ArrayFile(argument, path)
        with path.open("rb") as file:
            return {"": np.load(file, allow_pickle=False)}


@contextmanager
def _whole_arrays(argument: str, path: Path) -> Iterator[None]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a damaged head is refused below, or read
            yield
    except StratError:
        raise
    except Exception:  # NumPy's reading of a damaged head raises a dozen kinds
        raise StratError.about(
            argument,
            f"must be a whole file of NumPy arrays, got {str(path)!r}; it is damaged, or holds objects, "
            "which are never loaded.",
        ) from None


class ArrayFile(Mapping[str, NDArray[Any]]):
    """The arrays of an `.npz` file: shapes and types are known at once, an array is unpacked when it is asked for."""

    def __init__(self, argument: str, path: Path) -> None:
        self.argument, self.path = argument, path
        with zipfile.ZipFile(path) as archive:
            members = [info for info in archive.infolist() if info.filename.endswith(".npy")]
            self.heads = {info.filename.removesuffix(".npy"): self._head(archive, info) for info in members}
            self.packed = {info.filename.removesuffix(".npy"): info.compress_size for info in members}

    @staticmethod
    def _head(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> NDArray[Any]:
        """An array without memory of its own that has the shape and type of the stored one."""
        with archive.open(info) as member:
            version = np.lib.format.read_magic(member)
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, _, dtype = read(member)
        return np.broadcast_to(np.empty((), dtype), shape)

    def __getitem__(self, name: str) -> NDArray[Any]:
        if name not in self.heads:
            raise KeyError(name)
        size, packed = math.prod(self.heads[name].shape) * self.heads[name].itemsize, self.packed[name]
        if size > max(LIMITS.packed_bytes, LIMITS.unpacked_ratio * packed):
            raise StratError(
                f"`{self.argument}` must not unpack to more than {LIMITS.unpacked_ratio} times its size, got {size:,} "
                f"bytes of {name!r} from {packed:,} in {str(self.path)!r}; write it with np.savez."
            )
        with _whole_arrays(self.argument, self.path), np.load(self.path, allow_pickle=False) as archive:
            array: NDArray[Any] = archive[name]
            return array

    def __iter__(self) -> Iterator[str]:
        return iter(self.heads)

    def __len__(self) -> int:
        return len(self.heads)


def same_length(**arrays: Sequence[Any] | NDArray[Any]) -> int:
    """The common length of the named arrays, or an error that names two that differ."""
    for name, array in arrays.items():
        if not hasattr(array, "__len__"):
            raise StratError.about(name, f"must have one value per row, got {some([array])}.")
    lengths = {name: len(array) for name, array in arrays.items()}
    (first, n), *rest = lengths.items()
    for name, m in rest:
        if m != n:
            raise StratError.about(name, f"must have as many rows as `{first}` ({n}), got {m}.")
    return n


def encode(argument: str, labels: ArrayLike) -> tuple[Codes, NDArray[Any]]:
    """The code of each label, and the distinct labels in sorted order.

    Row order never matters: codes follow the labels' own order. Missing labels and labels of mixed
    types are refused, because they have no common order, and because 1 and True would become one label.
    """
    unmasked(argument, labels)
    labels = plain_labels(labels)
    if isinstance(labels, list | tuple) and {*map(type, labels)} == {str}:
        return _encode_texts(labels)
    try:
        array = np.asarray(labels)
    except ValueError:
        raise StratError.about(argument, "must have one label per row, got lists of several lengths.") from None
    if array.ndim != 1:
        raise StratError.about(argument, f"must have one label per row, got an array of shape {array.shape}.")
    if len(array) == 0:
        raise StratError.about(argument, "must have at least one row, got none.")
    if array.dtype == object or (not isinstance(labels, np.ndarray) and _merged(array, labels)):
        array = _homogeneous(argument, labels)
    missing = np.isnan(array) if array.dtype.kind == "f" else np.isnat(array) if array.dtype.kind in "mM" else None
    if missing is not None and missing.any():
        raise StratError.about(
            argument,
            f"must name every row, got a missing label in row {np.flatnonzero(missing)[0]} "
            f"({int(missing.sum())} such rows); drop these rows or give them a label.",
        )
    if array.dtype.kind in "biu" and len(array):
        return _encode_integers(array)
    if array.dtype.kind == "U" and (few := _encode_few_texts(array)):
        return few
    try:
        distinct, codes = np.unique(array, return_inverse=True)
    except TypeError:
        raise StratError.about(
            argument, f"must have labels with an order, got {some(array, 2)}; make them text."
        ) from None
    return codes.astype(np.int64, copy=False).reshape(-1), distinct


def distinct_rows(table: NDArray[Any]) -> tuple[NDArray[Any], Codes]:
    """The distinct rows of a table of numbers in sorted order, and which of them each row is.

    As `np.unique` along the first axis, column by column, which is many times faster.

    >>> distinct_rows(np.array([[2, 1], [1, 3], [2, 1]]))
    (array([[1, 3],
           [2, 1]]), array([1, 0, 1]))
    """
    codes: Codes = np.zeros(len(table), np.int64)
    for column in table.T:
        own, labels = encode("table", column)
        codes, _ = encode("table", codes * len(labels) + own)
    last = np.empty(int(codes.max()) + 1, np.int64)
    last[codes] = np.arange(len(codes))
    return table[last], codes


def _merged(array: NDArray[Any], labels: ArrayLike) -> bool:
    """Whether NumPy may have made one type of several: text of numbers, numbers of truth values, floats of integers."""
    if array.dtype.kind in "US":
        return True
    if not isinstance(labels, list | tuple) or array.dtype.kind not in "iufc":
        return False
    kinds = set(map(type, labels))
    return not {bool, np.bool_}.isdisjoint(kinds) or (array.dtype.kind == "f" and any(map(_whole, kinds)))


def _whole(kind: type) -> bool:
    return issubclass(kind, int | np.integer)


def union(*parts: NDArray[Any]) -> NDArray[Any]:
    """The distinct labels of several columns in sorted order; whole numbers are never rounded to floats.

    >>> union(np.array([2**53 + 1]), np.array([2.0**53])).tolist()
    [9007199254740992.0, 9007199254740993]
    """
    return np.unique(np.concatenate([part.astype(object) for part in parts] if _wide(*parts) else parts))


def equal(a: NDArray[Any], b: NDArray[Any]) -> NDArray[np.bool_]:
    """Where two columns of labels agree; whole numbers are never rounded to floats.

    >>> equal(np.array([2**53 + 1]), np.array([2.0**53])).tolist()
    [False]
    """
    if a.dtype.kind == b.dtype.kind or not {a.dtype.kind, b.dtype.kind} & set("iu"):
        return np.asarray(a == b)
    return np.asarray(a.astype(object) == b.astype(object) if _wide(a, b) else a == b, bool)


def is_number(labels: NDArray[Any]) -> bool:
    """Whether labels are numbers (or truth values), also Python's own."""
    if labels.dtype.kind == "O":
        return all(isinstance(label, int | float) for label in labels)
    return labels.dtype.kind in "biuf"


def _wide(*parts: NDArray[Any]) -> bool:
    """Whether a common type of these numbers would round some."""
    whole = [part for part in parts if part.dtype.kind in "iu" and len(part)]
    return np.result_type(*parts).kind == "f" and any(max(-int(p.min()), int(p.max())) > EXACT for p in whole)


def labels_of(argument: str, given: ArrayLike) -> NDArray[Any]:
    """The labels, checked, in an array of their own type even if they came as objects."""
    codes, distinct = encode(argument, given)
    if isinstance(given, np.ndarray) and given.dtype != object:
        return given
    return distinct[codes]


def _homogeneous(argument: str, labels: ArrayLike) -> NDArray[Any]:
    items = list(labels)  # type: ignore[arg-type]
    missing = [i for i, v in enumerate(items) if is_missing(v)]
    if missing:
        raise StratError.about(
            argument,
            f"must name every row, got a missing label in row {missing[0]} "
            f"({len(missing)} such rows); drop these rows or give them a label.",
        )
    kinds = {_kind(v) for v in items}
    if len(kinds) > 1:
        examples = [next(v for v in items if _kind(v) == k) for k in sorted(kinds)]
        way_out = "all numbers, or all text" if kinds == {"number", "truth value"} else "all text"
        raise StratError.about(argument, f"must have labels of one type, got {some(examples)}; make them {way_out}.")
    if kinds <= {"tuple", "list"}:
        raise StratError.about(argument, f"must have one label per row, got {some(items, 2)}; join them to one text.")
    return _unrounded(items)


def _unrounded(items: list[Any]) -> NDArray[Any]:
    """The labels as an array; whole numbers that NumPy would round to floats stay Python's own."""
    array = np.asarray(items)
    if array.dtype.kind != "f" or not any(isinstance(v, int | np.integer) and abs(int(v)) > EXACT for v in items):
        return array
    exact = np.empty(len(items), object)
    exact[:] = items
    return exact


def is_missing(value: object) -> bool:
    """Whether it is None, not a number, no time, or pandas' NA (which compares to NA, and has no truth value)."""
    differs = value != value
    return value is None or not isinstance(differs, bool | np.bool_) or bool(differs)


def _kind(value: object) -> str:
    if isinstance(value, bool | np.bool_):
        return "truth value"
    return "number" if isinstance(value, int | float | np.number) else type(value).__name__


def _encode_texts(labels: Sequence[str]) -> tuple[Codes, NDArray[Any]]:
    """Plain text in a list: a dictionary is many times faster than sorting all rows."""
    texts = sorted(set(labels))
    distinct, codes = np.unique(np.asarray(texts), return_inverse=True)  # NumPy drops NUL at the end of a text
    place = dict(zip(texts, codes.reshape(-1).tolist(), strict=True))
    return np.fromiter(map(place.__getitem__, labels), np.int64, len(labels)), distinct


def _encode_few_texts(array: NDArray[Any]) -> tuple[Codes, NDArray[Any]] | None:
    """Texts in an array, by a number for each: where few are distinct, looking these up is faster than sorting rows."""
    n, key = len(array), np.zeros(len(array), np.uint64)
    if n < LIMITS.sampled_texts:
        return None
    for letters in np.ascontiguousarray(array).view(np.uint32).reshape(n, -1).T:
        key = (key ^ letters) * np.uint64(0x9E3779B97F4A7C15)
        key ^= key >> np.uint64(29)
    keys = np.unique(key[:: n // LIMITS.sampled_texts])
    place = np.minimum(np.searchsorted(keys, key), len(keys) - 1)
    if (other := keys[place] != key).any():
        keys = np.union1d(keys, key[other])
        place = np.searchsorted(keys, key)
    row = np.empty(len(keys), np.int64)
    row[place] = np.arange(n)
    texts = array[row]
    if len(keys) * 8 > n or (texts[place] != array).any():
        return None  # two texts of one number, or many texts
    distinct, codes = np.unique(texts, return_inverse=True)
    return codes.astype(np.int64, copy=False).reshape(-1)[place], distinct


def _encode_integers(array: NDArray[Any]) -> tuple[Codes, NDArray[Any]]:
    """Whole numbers or truth values: where they lie close together, a table of them is faster than sorting all rows."""
    low, high = int(array.min()), int(array.max())
    if high - low > 4 * len(array) + 1024:
        distinct, codes = np.unique(array, return_inverse=True)
        return codes.astype(np.int64, copy=False).reshape(-1), distinct
    wide = array.astype(np.int64, copy=False) if array.dtype.itemsize < 8 else array  # small types would wrap around
    offset = (wide - wide.dtype.type(low)).astype(np.int64)
    present = np.zeros(high - low + 1, bool)
    present[offset] = True
    distinct = np.flatnonzero(present)
    codes = offset if len(distinct) == len(present) else (np.cumsum(present) - 1)[offset]
    return codes, (distinct.astype(wide.dtype) + wide.dtype.type(low)).astype(array.dtype)

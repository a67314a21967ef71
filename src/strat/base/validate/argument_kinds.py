"""The check that the annotation of an argument asks for: single values, lists, columns, our own classes."""

from __future__ import annotations

import math
import operator
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, MappingView, Sequence
from decimal import Decimal
from fractions import Fraction
from inspect import Parameter, Signature
from types import SimpleNamespace, UnionType
from typing import Any, SupportsIndex, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strat.base.errors import StratError, plain, short
from strat.base.limits import LIMITS
from strat.base.validate.labels import plain_labels

_LIKE = set(get_args(ArrayLike))  # none from NumPy 2.5 on, where unions keep ArrayLike and NDArray whole
Check = Callable[[str, Any], Any]  # (argument, value) -> the value to go on with
Columns = Mapping[str, ArrayLike] | Any  # named columns: a dictionary, or a frame of pandas, Polars or PyArrow
REPEATED = {"permutations", "repeats", "repetitions", "replicates", "runs", "trials", "samples", "number", "draws"}
SIZES = {
    *("n", "features", "dimensions", "up_to", "bins", "data_sets", "subjects", "units", "classes", "items", "systems"),
    *("k", "subtrials", "start", "stop", "images", "per_unit", "sizes", "count", "points", "max_rank", "least", "at"),
    "design_samples",
}  # what memory has to hold
ROWS = {"labels", "truth", "predicted", "assigned", "where", "subjects", "probes", "gallery"}  # never one for all


def checks_of(parameters: Signature, scope: dict[str, Any]) -> dict[str, Check]:
    """The check of every argument whose annotation asks for one."""
    checks = {}
    for name, parameter in parameters.parameters.items():
        if name in ("self", "cls") or parameter.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD):
            continue
        kinds = _kinds(parameter.annotation, scope)
        if check := _check(name, frozenset(kinds) - {type(None)}):
            checks[name] = _or_none(check) if type(None) in kinds else check
    return checks


def _or_none(check: Check) -> Check:
    return lambda name, value: None if value is None else check(name, value)


def _kinds(annotation: Any, scope: dict[str, Any]) -> list[Any]:
    """The alternatives of an annotation, resolved; `ArrayLike` stays one of them."""
    if isinstance(annotation, str):
        return [kind for part in _alternatives(annotation) for kind in _kinds(_resolved(part, scope), scope)]
    if annotation is not ArrayLike and get_origin(annotation) in (Union, UnionType):
        if _LIKE and set(get_args(annotation)) >= _LIKE:
            return [ArrayLike, *(set(get_args(annotation)) - _LIKE)]
        return [kind for part in get_args(annotation) for kind in _kinds(part, scope)]
    return [type(None) if annotation is None else annotation]


def _resolved(annotation: str, scope: dict[str, Any]) -> Any:
    try:
        text = annotation.strip(" '\"")
        return get_type_hints(SimpleNamespace(__annotations__={"argument": text}), scope)["argument"]
    except NameError:  # imported for type checkers only
        return Any


def _alternatives(annotation: str) -> Iterator[str]:
    """The parts between the bars that no bracket encloses."""
    depth, start = 0, 0
    for i, sign in enumerate(annotation):
        depth += (sign in "[(") - (sign in "])")
        if sign == "|" and depth == 0:
            yield annotation[start:i]
            start = i + 1
    yield annotation[start:]


def _check(name: str, kinds: frozenset[Any]) -> Check | None:
    """The check of an argument of this name and these kinds."""
    if any(_origin(kind) is Mapping and get_args(kind)[1:] == (ArrayLike,) for kind in kinds):
        return _columns_or_array if ArrayLike in kinds else _named_columns
    if kinds == {int} and name in REPEATED | SIZES:
        return _repeats if name in REPEATED else _size
    if name == "rng" and int in kinds:
        return _seed
    if kinds in _SINGLE:
        return _SINGLE[kinds]
    if kinds and kinds <= {object, str, int, float, bool}:
        return _one_value("text" if kinds == {str} else "one value")
    if kinds and all(map(_ours, kinds)):
        return _instance(kinds)
    if len(kinds) == 1 and (inner := _elements(*kinds)):
        return _each(inner)
    lists = {kind for kind in kinds if kind in (Sequence[int], Sequence[float])}
    if lists:
        return _list_of(frozenset(get_args(kind)[0] for kind in lists), _check(name, kinds - lists))
    if any(_origin(kind) is Sequence and not _of_rows(kind) for kind in kinds):
        return _names
    return _column(kinds) if any(map(_of_rows, kinds)) else None


def _origin(kind: Any) -> Any:
    return get_origin(kind) or kind


def _elements(kind: Any) -> frozenset[Any]:
    """The classes of our own that a list of this kind holds, if it does."""
    inner = frozenset(_kinds(get_args(kind)[0], {})) if get_origin(kind) is Sequence else frozenset()
    return inner if all(_ours(one) and one is not str for one in inner) else frozenset()


def _of_rows(kind: Any) -> bool:
    """Whether it is how annotations write a column (of anything but names)."""
    return kind is ArrayLike or (
        _origin(kind) in (np.ndarray, NDArray, Sequence, tuple) and not any(_ours(inner) for inner in get_args(kind))
    )


def _ours(kind: Any) -> bool:
    """Whether a value can be seen to be of this kind without a look at its rows."""
    origin = _origin(kind)
    if get_origin(kind) in (Union, UnionType):
        return all(map(_ours, get_args(kind)))
    return origin in (Mapping, Callable, str, os.PathLike) or (
        isinstance(origin, type) and (issubclass(origin, os.PathLike) or origin.__module__.startswith("strat."))
    )


def _one_value(wanted: str) -> Check:
    """The check that a value is neither several nor missing; which text or number it may be the function knows."""

    def check(name: str, value: Any) -> Any:
        several = hasattr(value, "__len__") and not isinstance(value, str | bytes | tuple)
        if (several and getattr(value, "ndim", None) != 0) or type(value).__name__ == "NAType":
            column = wanted == "text" and getattr(value, "ndim", None) == 1
            way_out = f"; put the column into the table, {{{name!r}: values}}, and name it" if column else ""
            raise StratError.about(name, f"must be {wanted}, got {shown(value)}{way_out}.")
        return value

    return check


def _instance(kinds: frozenset[Any]) -> Check:
    """The check that a value is of one of these kinds."""

    def check(name: str, value: Any) -> Any:
        if not any(_fits(kind, value) for kind in kinds):
            way_out = "".join(f"; {kind.way_out(value)}" for kind in kinds if hasattr(kind, "way_out"))
            raise StratError.about(name, f"must be {_words(kinds)}, got {shown(value)}{way_out}.")
        return value

    return check


def _named_columns(name: str, value: Any) -> Any:
    """The columns of a dictionary or of a frame, by name."""
    if isinstance(value, Mapping):
        return value
    import narwhals as nw

    try:
        frame = nw.from_native(value, eager_only=True)
    except nw.exceptions.DuplicateError:
        raise StratError.about(name, "must name each column once, got a frame with repeated names.") from None
    except TypeError:
        way_out = "; .collect() it" if hasattr(value, "collect") else ""
        raise StratError.about(
            name, f"must be a dictionary of columns or a data frame, got {shown(value)}{way_out}."
        ) from None
    return {column: frame[column].to_native() for column in frame.columns}


def _columns_or_array(name: str, value: Any) -> Any:
    """The columns of a dictionary or of a frame, by name; an array or a list as it is."""
    return _named_columns(name, value) if hasattr(value, "columns") else value


def _names(name: str, value: Any) -> Any:
    """One name or several; which there are is known to the function."""
    if getattr(value, "ndim", None) == 0:
        raise StratError.about(name, f"must be a name or a list of names, got {shown(value)}.")
    return value


def _list_of(kinds: frozenset[Any], otherwise: Check | None) -> Check:
    """The check of a list of numbers, or of one number where the annotation allows that."""
    column = _column(frozenset({Sequence[Any]}))

    def check(name: str, value: Any) -> Any:
        element = _size if name in SIZES and int in kinds else _SINGLE[kinds]
        if otherwise and (isinstance(value, Mapping) or not hasattr(plain(value), "__len__")):
            return otherwise(name, value)
        rows = column(name, value)
        fast = isinstance(rows, np.ndarray) and rows.dtype.kind in ("iu" if int in kinds else "iuf")
        return rows if fast else [element(name, row) for row in rows]

    return check


def _each(kinds: frozenset[Any]) -> Check:
    """The check that a list holds values of these kinds."""

    def check(name: str, value: Any) -> Any:
        if isinstance(value, str | Mapping) or not isinstance(value, Iterable) or getattr(value, "ndim", 1) == 0:
            raise StratError.about(name, f"must be a list that holds {_words(kinds)} each, got {shown(value)}.")
        items = list(value)
        if not items and Callable not in map(_origin, kinds):
            raise StratError.about(name, f"must hold at least one {' or '.join(sorted(k.__name__ for k in kinds))}.")
        for item in items:
            if not any(_fits(kind, item) for kind in kinds):
                raise StratError.about(name, f"must hold {_words(kinds)} each, got {shown(item)}.")
        return items

    return check


def _fits(kind: Any, value: Any) -> bool:
    origin = _origin(kind)
    if origin is Callable:
        return callable(value)
    if not isinstance(value, origin):
        return False
    inner = get_args(kind)[1] if origin is Mapping and get_args(kind) else Any
    return not _ours(inner) or all(_fits(inner, item) for item in value.values())


def _words(kinds: Iterable[Any]) -> str:
    """These kinds as a message names them."""
    return " or ".join(sorted({_word(_origin(kind)) for kind in kinds}))


def _word(kind: Any) -> str:
    if kind is Callable or issubclass(kind, str | Mapping | os.PathLike):
        return {Callable: "a function", str: "text", Mapping: "a dictionary"}.get(kind, "a path")
    return f"{'an' if kind.__name__[0] in 'AEIOU' else 'a'} {kind.__name__}"


def shown(value: object) -> str:
    """`value` as a message shows it: short, on one line, and without a look into tables."""
    if isinstance(value, np.ndarray) and value.ndim:
        return f"an array of shape {value.shape}"
    kind = type(value)
    if kind.__module__.startswith("strat.") or (hasattr(kind, "__array__") and not isinstance(value, np.generic)):
        return f"a {kind.__name__}" if getattr(value, "ndim", 1) else repr(plain(value))
    return short(" ".join(repr(plain(value)).split()))


def _number(name: str, value: object) -> float:
    single = plain(value)
    if isinstance(single, Fraction | Decimal):
        single = float(single)
    if not isinstance(single, int | float):
        raise StratError.about(name, f"must be a number, got {shown(value)}.")
    if math.isnan(single) if isinstance(single, float) else abs(single) > 1e300:
        raise StratError.about(name, f"must be finite, got {shown(value)}.")
    return single


def _count(name: str, value: object) -> int:
    single = plain(value)
    if isinstance(single, float):
        if not single.is_integer():
            raise StratError.about(name, f"must be a whole number, got {shown(value)}.")
        return int(single)
    try:
        return operator.index(single)
    except TypeError:
        raise StratError.about(name, f"must be a number, got {shown(value)}.") from None


def _index(name: str, value: object) -> int:
    try:
        return operator.index(plain(value))
    except TypeError:
        raise StratError.about(name, f"must be a whole number, got {shown(value)}.") from None


def _flag(name: str, value: object) -> bool:
    if isinstance(single := plain(value), bool):
        return single
    raise StratError.about(name, f"must be True or False, got {shown(value)}.")


def _repeats(name: str, value: object) -> int:
    return _at_most(name, value, LIMITS.repetitions, "a larger number would not finish in reasonable time")


def _size(name: str, value: object) -> int:
    return _at_most(name, value, LIMITS.held, "no memory holds more")


def _at_most(name: str, value: object, most: int, why: str) -> int:
    if (count := _count(name, value)) < 0:
        raise StratError.about(name, f"must not be negative, got {shown(count)}.")
    if count > most:
        raise StratError.about(name, f"must be at most {most:,}, got {shown(count)}; {why}.")
    return count


def _seed(name: str, value: object) -> Any:
    if isinstance(value, np.random.Generator | np.random.BitGenerator | np.random.SeedSequence):
        return value
    single = plain(value)
    if isinstance(single, int) and single >= 0:
        return single
    raise StratError.about(name, f"must be a seed of 0 or more or a NumPy generator, got {shown(value)}.")


_SINGLE: dict[frozenset[Any], Check] = {
    frozenset({float}): _number,
    frozenset({int}): _count,
    frozenset({SupportsIndex}): _index,
    frozenset({bool}): _flag,
    frozenset({int, np.random.Generator}): _seed,
}


def unmasked(name: str, value: object) -> None:
    """Refuse what hides values: NumPy would read the numbers under the mask."""
    if isinstance(value, np.ma.MaskedArray) and (hidden := int(np.ma.count_masked(value))):  # type: ignore[no-untyped-call]
        raise StratError.about(name, f"must have no masked values, got {hidden}; drop these rows or fill them.")


def same_order(columns: Mapping[str, Any]) -> None:
    """Refuse columns of pandas whose indexes name the same rows in another order: are rows paired by name or place?"""
    pandas = sys.modules.get("pandas")
    if pandas is None:
        return
    indexed = {name: one.index for name, one in columns.items() if isinstance(one, pandas.Series | pandas.DataFrame)}
    if len(indexed) < 2:
        return
    (first, index), *rest = indexed.items()
    for name, other in rest:
        if len(index) == len(other) and not index.equals(other) and index.symmetric_difference(other).empty:
            raise StratError.about(
                name,
                f"must have its rows in the order of `{first}`, got the same index in another order; align it "
                f"({name}.loc[{first}.index]), or give {name}.to_numpy() if rows are to be paired by their place.",
            )


def _column(kinds: frozenset[Any]) -> Check:
    """The check of a column: plain labels, no mask, rows of one length; other kinds of the annotation pass."""
    others = tuple(int | float if kind is float else _origin(kind) for kind in kinds if not _of_rows(kind))
    listed = ArrayLike not in kinds

    def check(name: str, value: Any) -> Any:
        if others and isinstance(plain(value), others):
            return value
        unmasked(name, value)
        if value is None or callable(value) or isinstance(value, str | bytes | set | frozenset | Iterator | Mapping):
            raise StratError.about(name, f"must be a column, one value per row, got {shown(value)}.")
        if isinstance(value, MappingView):
            raise StratError.about(name, f"must be a column, one value per row, got {shown(value)}; make it a list.")
        if hasattr(value, "toarray"):
            raise StratError.about(name, f"must be a column or table of all values, got {shown(value)}; .toarray() it.")
        if (listed or name in ROWS) and _single(value):
            raise StratError.about(name, f"must have one value per row, got the single value {shown(value)}.")
        rows = _rows(name, value)
        if name == "labels" and np.ndim(rows) > 1:
            raise StratError.about("labels", f"must be a list of labels, got {shown(np.asarray(rows))}.")
        return rows

    return check


def _single(value: Any) -> bool:
    return getattr(value, "ndim", int(hasattr(value, "__len__") or hasattr(value, "to_pylist"))) == 0


def _rows(name: str, value: Any) -> Any:
    """`value` with plain labels; NumPy reads neither rows of several lengths nor the half of complex numbers."""
    value = plain_labels(value)
    if isinstance(value, np.ndarray) and value.dtype.kind in "cV":
        raise StratError.about(name, f"must be plain numbers or labels, got {value.dtype} in {shown(value)}.")
    if isinstance(value, list | tuple) and any(
        issubclass(kind, list | tuple | np.ndarray) for kind in {*map(type, value)}
    ):
        try:
            np.asarray(value)
        except ValueError:
            raise StratError.about(name, "must have rows of one length, got lists of several lengths.") from None
    return value

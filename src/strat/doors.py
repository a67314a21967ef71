"""The door of a public function: single values of the right kind on the way in, a sentence for what raised within."""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from decimal import Decimal
from fractions import Fraction
from functools import update_wrapper
from inspect import Parameter, signature
from types import FunctionType
from typing import Any, ParamSpec, TypeVar, cast

import numpy as np

from strat.errors import StratError, plain, short

P = ParamSpec("P")
R = TypeVar("R")

MOST = 10**9  # repetitions of anything
REPEATED = {"permutations", "repeats", "repetitions", "replicates", "runs", "trials", "samples", "number", "draws"}
LARGE = 1 << 31  # a count beyond which a failure is one of size


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """`function` behind a door that reads the kinds of its arguments from its annotations.

    Numbers, whole numbers, flags and seeds are made plain Python values or refused, so that a small NumPy type never
    overflows within. If the function raises anything but a StratError, the argument of a wrong kind is named instead;
    where every argument is of its kind, the error goes on as it is, for it is ours.

    >>> @checked
    ... def half(n: "int") -> "float":
    ...     return n / 2
    >>> half(np.int8(6))
    3.0
    >>> half("six")
    Traceback (most recent call last):
    ...
    strat.errors.StratError: `n` must be a number, got 'six'.
    """
    door = _Door(function)

    def call(*args: Any, **named: Any) -> Any:
        return door(args, named)

    # in the module of the function, where documentation tools and pickle look for it
    made = FunctionType(call.__code__, function.__globals__, function.__name__, None, call.__closure__)
    return cast(Callable[P, R], update_wrapper(made, function))


class _Door:
    """The checks of one function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.signature = signature(function)
        self.kinds = {
            name: frozenset(kind.strip(" '\"") for kind in _alternatives(str(parameter.annotation)))
            for name, parameter in self.signature.parameters.items()
            if name not in ("self", "cls") and parameter.kind not in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
        }
        self.before = {name: check for name, kinds in self.kinds.items() if (check := _entry(name, kinds - {"None"}))}

    def __call__(self, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        bound = self.signature.bind(*args, **named)
        given = bound.arguments
        for name, check in self.before.items():
            if name in given and not (given[name] is None and "None" in self.kinds[name]):
                given[name] = check(name, given[name])
        try:
            return self.function(*bound.args, **bound.kwargs)
        except StratError:
            raise
        except Exception as error:
            said = self._blame(given, error)
            if said is None:
                raise
            raise StratError(said) from error

    def _blame(self, given: Mapping[str, Any], error: BaseException) -> str | None:
        """The sentence about the argument at fault: a wrong kind first, then a wrong size, then a wrong shape."""
        for look in (_wrong_kind, _wrong_size, _wrong_shape):
            for name, kinds in self.kinds.items():
                if name in given and (said := look(kinds, given[name], error)):
                    return f"`{name}` must {said}"
        return _unequal({name: given[name] for name, kinds in self.kinds.items() if name in given and _column(kinds)})


def _alternatives(annotation: str) -> Iterator[str]:
    """The parts between the bars that no bracket encloses."""
    depth, start = 0, 0
    for i, sign in enumerate(annotation):
        depth += (sign in "[(") - (sign in "])")
        if sign == "|" and depth == 0:
            yield annotation[start:i]
            start = i + 1
    yield annotation[start:]


def shown(value: object) -> str:
    """`value` as a message shows it: short, on one line."""
    if isinstance(value, np.ndarray) and value.ndim:
        return f"an array of shape {value.shape}"
    return short(" ".join(repr(plain(value)).split()))


def _number(name: str, value: object) -> float:
    single = plain(value)
    if isinstance(single, Fraction | Decimal):
        single = float(single)
    if not isinstance(single, int | float):
        raise StratError(f"`{name}` must be a number, got {shown(value)}.")
    if math.isnan(single) if isinstance(single, float) else abs(single) > 1e300:
        raise StratError(f"`{name}` must be finite, got {shown(value)}.")
    return single


def _count(name: str, value: object) -> int:
    single = plain(value)
    if isinstance(single, float):
        if not single.is_integer():
            raise StratError(f"`{name}` must be a whole number, got {shown(value)}.")
        return int(single)
    try:
        return operator.index(single)
    except TypeError:
        raise StratError(f"`{name}` must be a number, got {shown(value)}.") from None


def _index(name: str, value: object) -> int:
    try:
        return operator.index(plain(value))
    except TypeError:
        raise StratError(f"`{name}` must be a whole number, got {shown(value)}.") from None


def _flag(name: str, value: object) -> bool:
    if isinstance(single := plain(value), bool):
        return single
    raise StratError(f"`{name}` must be True or False, got {shown(value)}.")


def _repeats(name: str, value: object) -> int:
    if (count := _count(name, value)) > MOST:
        raise StratError(f"`{name}` must be at most {MOST:,}, got {shown(count)}; more would never end.")
    return count


def _seed(name: str, value: object) -> Any:
    if isinstance(value, np.random.Generator | np.random.BitGenerator | np.random.SeedSequence):
        return value
    single = plain(value)
    if isinstance(single, int) and single >= 0:
        return single
    raise StratError(f"`{name}` must be a seed of 0 or more or a NumPy generator, got {shown(value)}.")


_ENTRY: dict[frozenset[str], Callable[[str, Any], Any]] = {
    frozenset({"float"}): _number,
    frozenset({"int"}): _count,
    frozenset({"SupportsIndex"}): _index,
    frozenset({"bool"}): _flag,
    frozenset({"Rng"}): _seed,
    frozenset({"int", "np.random.Generator"}): _seed,
}


def _entry(name: str, kinds: frozenset[str]) -> Callable[[str, Any], Any] | None:
    """The check before the call of an argument of this name and these kinds."""
    if _column(kinds):
        return _plain_rows
    return _repeats if name in REPEATED and kinds == {"int"} else _ENTRY.get(kinds)


def unmasked(name: str, value: object) -> None:
    """Refuse what hides values: NumPy would read the numbers under the mask."""
    if isinstance(value, np.ma.MaskedArray) and (hidden := int(np.ma.count_masked(value))):  # type: ignore[no-untyped-call]
        raise StratError(f"`{name}` must have no masked values, got {hidden}; drop these rows or fill them.")


def _plain_rows(name: str, value: Any) -> Any:
    """`value`, unless NumPy would read what its mask hides, or drop the half of its numbers."""
    unmasked(name, value)
    if isinstance(value, np.ndarray) and value.dtype.kind in "cV":
        raise StratError(f"`{name}` must be plain numbers or labels, got {value.dtype} in {shown(value)}.")
    return value


_NAMES = {"str", "Path", "os.PathLike[str]"}
_CLASSES = {
    *("Design", "Replicates", "Statistic", "Estimate", "LossMatrix", "Plan", "Table"),
    *("Problem", "DiscreteProblem", "GaussianClass", "MixtureClass", "QuadraticRule"),
    *("Ranks", "System", "ImageArray", "Run"),
}


_SINGLE = {"object", "str", "int", "float", "bool"}
_COLUMNS = ("Array", "Sequence", "tuple", "Population")  # how annotations of columns start


def _wrong_kind(kinds: frozenset[str], value: object, error: BaseException) -> str | None:
    if value is None and "None" in kinds:
        return None
    wanted = kinds - {"None"}
    got = f", got {shown(value)}."
    if isinstance(error, OSError) and "Path" in wanted:
        return f"name a file that can be opened, got {shown(value)}: {error.strerror or type(error).__name__}."
    if all(kind in _NAMES or kind in _CLASSES or kind.startswith(("Mapping", "Callable")) for kind in wanted):
        return None if any(_fits(kind, value) for kind in wanted) else f"be {_words(wanted)}{got}"
    inner = {kind.rpartition(" ")[2].rpartition("[")[2].rstrip("], .") for kind in wanted} & _CLASSES
    if inner and isinstance(value, list | tuple) and not all(_fits(kind, v) for v in value for kind in inner):
        return f"hold {_words(inner)} each{got}"
    if _column(wanted):
        return _wrong_column(kinds, value)
    if wanted <= _SINGLE and (type(value).__name__ == "NAType" or _lists(value)):
        return f"be one value{got}"
    return None


def _fits(kind: str, value: object) -> bool:
    """Whether the value is of one kind."""
    if kind.startswith("Mapping"):
        inner = kind.rpartition(" ")[2].rstrip("]")
        return isinstance(value, Mapping) and (inner not in _CLASSES or all(_fits(inner, v) for v in value.values()))
    if kind.startswith("Callable"):
        return callable(value)
    if kind in _NAMES:
        return isinstance(value, str if kind == "str" else os.PathLike)
    return kind in {base.__name__ for base in type(value).__mro__}


def _words(kinds: AbstractSet[str]) -> str:
    """What a person calls these kinds."""
    said = {"M": "a dictionary", "C": "a function", "s": "text", "P": "a path", "o": "a path"}
    return " or ".join(sorted({f"a {kind}" if kind in _CLASSES else said[kind[0]] for kind in kinds}))


def _lists(value: object) -> bool:
    """Whether it holds several values."""
    return hasattr(value, "__len__") and not isinstance(value, str | bytes) and getattr(value, "ndim", 1) != 0


def _column(kinds: frozenset[str]) -> bool:
    return any(kind.startswith(_COLUMNS) for kind in kinds)


def _unequal(columns: Mapping[str, Any]) -> str | None:
    """A sentence about two columns of different lengths."""
    sizes = [(name, np.shape(value)[0]) for name, value in columns.items() if np.ndim(value)]
    for name, size in sizes[1:]:
        if size != sizes[0][1]:
            return f"`{name}` must have as many rows as `{sizes[0][0]}` ({sizes[0][1]}), got {size}."
    return None


def _wrong_column(kinds: frozenset[str], value: object) -> str | None:
    """What is wrong with a column, unless its shape is."""
    if isinstance(value, str | bytes | set | frozenset | Iterator) or value is None or callable(value):
        return f"be a column, one value per row, got {shown(value)}."
    if isinstance(value, Mapping):
        return None if any(kind.startswith("Mapping") for kind in kinds) else f"be a column, got {shown(value)}."
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):
        return f"have rows of one length, got {shown(value)}."
    if array.dtype.kind in "cVmM" or (array.dtype.kind == "O" and array.ndim == 0):
        return f"be plain numbers or labels, got {shown(value)}."
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        return f"be finite, got {shown(array[~np.isfinite(array)].flat[0])}."
    if array.dtype.kind == "O" and not all(isinstance(v, str | int | float) and v == v for v in array.flat):
        return f"be plain numbers or labels without gaps, got {shown(value)}."
    return None


def _wrong_size(kinds: frozenset[str], value: object, error: BaseException) -> str | None:
    if not kinds & {"int", "float", "SupportsIndex"} or isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if abs(value) >= LARGE:
        return f"be smaller, got {shown(value)}; so many need more than the memory there is."
    if value < 1 and not isinstance(error, TypeError) and "int" in kinds:
        return f"be positive, got {shown(value)}."
    return None


def _wrong_shape(kinds: frozenset[str], value: object, _: BaseException) -> str | None:
    if not (_column(kinds) or "Any" in kinds or "Checked" in kinds):
        return None
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):
        return f"have rows of one length, got {shown(value)}."
    if array.ndim and array.size == 0:
        return f"hold something, got an array of shape {array.shape}."
    if not _column(kinds):
        return None
    if array.dtype.kind in "USO" and array.ndim < 2:
        return f"be numbers, got {shown(value)}."
    if array.ndim == 0:
        return f"have one value per row, got the single value {shown(value)}."
    if array.dtype.kind in "iuf" and array.size and not np.abs(array).max() < 2.0**53:
        return f"hold numbers below 2^53, got {shown(array.max())}."
    if array.ndim > 1 or array.size == 0:
        return f"fit the other arguments, got an array of shape {array.shape}."
    return None

"""From what is given for each row (labels, weights, population sizes) to the fields of a design."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strat.base import validate
from strat.base.errors import StratError, one_of, plain, some
from strat.base.validate.columns import Array, Codes, encode, numbers, same_length

LONE = ("error", "collapse", "certainty", "centre", "average")
Population = float | Mapping[Any, float] | Sequence[float] | NDArray[Any]


def row_count(argument: str, labels: ArrayLike) -> int:
    """Number of rows that the labels are of."""
    array = np.asarray(labels)
    if array.ndim == 0:
        raise StratError.about(argument, f"must have one label per row, got the single value {plain(array)!r}.")
    return len(array)


def assemble(
    kind: str,
    n: int,
    *,
    strata: ArrayLike | None = None,
    units: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    population: Population | None = None,
    items: ArrayLike | None = None,
    counts: ArrayLike | None = None,
    multiplicity: ArrayLike | None = None,
    lone: str = "error",
    nested: bool = False,
) -> dict[str, Any]:
    """The fields of a design, from what is given for each row."""
    if n == 0:
        raise StratError.about("units" if strata is None else "strata", "must have at least one row, got none.")
    one_of("lone", lone, LONE)
    of_row, stratum_labels = _strata(strata, n)
    unit, stratum, unit_labels = _units(of_row, len(stratum_labels), units, nested)
    copies = None if multiplicity is None else _counts("multiplicity", multiplicity, n)
    rows = copies if counts is None else _counts("counts", counts, n)
    of_unit = None if copies is None else _by_unit(copies, unit)
    sizes = np.bincount(stratum, of_unit, minlength=len(stratum_labels))
    totals = _population(population, stratum_labels, of_row)
    return {
        "kind": kind,
        "unit": unit,
        "stratum": stratum,
        "weights": _weights(weights, n, of_row, totals, sizes) * _rows_held(weights, copies, rows),
        "unit_labels": unit_labels,
        "stratum_labels": stratum_labels,
        "population": totals,
        "item": _items(items, unit, n),
        "counts": rows,
        "multiplicity": of_unit,
        "lone": lone,
        "labelled": units is not None,
    }


def _strata(strata: ArrayLike | None, n: int) -> tuple[Codes, NDArray[Any]]:
    """Stratum of each row, and the labels of strata; all rows are in one if none are given."""
    return (np.zeros(n, np.int64), np.array(["all"])) if strata is None else encode("strata", strata)


def _rows_held(weights: ArrayLike | None, copies: Array | None, rows: Array | None) -> Array | float:
    """What a row's own weight is multiplied by: weights that are given are those of one copy, but sums of rows."""
    held = copies if weights is not None else rows
    return 1.0 if held is None else held


def _by_unit(values: Array, unit: Codes) -> Array:
    """Values of rows that are units, in the order of the units."""
    ordered = np.empty(len(values))
    ordered[unit] = values
    return ordered


def _units(of_row: Codes, n_strata: int, units: ArrayLike | None, nested: bool) -> tuple[Codes, Codes, NDArray[Any]]:
    """Unit of each row, stratum of each unit, label of each unit; units in the order of stratum and label."""
    if units is None:
        return _by_stratum(of_row)
    codes, labels = encode("units", units)
    same_length(strata=of_row, units=codes)
    home = np.empty(len(labels), np.int64)
    home[codes] = of_row
    if (home[codes] == of_row).all():
        position, ordered, order = _by_stratum(home)
        return position[codes], ordered, labels[order]
    if not nested:
        torn = np.unique(codes[home[codes] != of_row])
        raise StratError.about(
            "units",
            f"must lie in one stratum each, got {some(labels[torn])} in several; leave `strata` out if each of "
            "these is one unit (it was not drawn within strata), or set `nested` if the same label means another unit "
            "in another stratum.",
        )
    key, pairs = encode("units", of_row * len(labels) + codes)
    return key, pairs // len(labels), labels[pairs % len(labels)]


def _by_stratum(stratum: Codes) -> tuple[Codes, Codes, Codes]:
    """Place of each row in the order of strata, the stratum at each place, and the row at each place."""
    n = len(stratum)
    if (np.diff(stratum) >= 0).all():
        return np.arange(n), stratum.copy(), np.arange(n)
    order = np.argsort(stratum, kind="stable")
    place = np.empty(n, np.int64)
    place[order] = np.arange(n)
    return place, stratum[order], order


def _weights(weights: ArrayLike | None, n: int, of_row: Codes, population: Array, sizes: Codes) -> Array:
    if weights is None:
        if np.isfinite(population).all():
            return (population / sizes)[of_row]  # STRAT (1): W_h = N_h / N
        return np.ones(n)
    array = numbers("weights", weights)
    if array.ndim != 1 or len(array) != n:
        raise StratError.about("weights", f"must have one value per row ({n}), got an array of shape {array.shape}.")
    if (array < 0).any():
        row = int(np.flatnonzero(array < 0)[0])
        raise StratError.about(
            "weights", f"must not be negative, got {plain(array[row])!r} in row {row}; drop such rows or correct them."
        )
    if not array.any():
        raise StratError.about("weights", "must not all be zero, got only zeros; leave them out for equal weights.")
    if not 1e-100 <= array.max() <= 1e100:
        raise StratError.about(
            "weights",
            f"must have their largest between 1e-100 and 1e100, got {array.max():g}; divide all by one "
            "number, which changes no share.",
        )
    return array.copy()


def _population(population: Population | None, labels: NDArray[Any], of_row: Codes) -> Array:
    if population is None:
        return np.full(len(labels), np.inf)
    if isinstance(population, Mapping):
        sizes = per_label("population", population, labels)
    elif np.ndim(population) == 0:
        sizes = np.full(len(labels), validate.number("population", population))
    else:
        sizes = _per_row(numbers("population", population, finite=False), len(labels), of_row)
    if np.isnan(sizes).any() or (sizes <= 0).any():
        raise StratError.about("population", f"must be positive, got {some(sizes[~(sizes > 0)])}.")
    if (sizes[np.isfinite(sizes)] > 1e100).any():
        raise StratError.about(
            "population", f"must be at most 1e100, got {some(sizes[sizes > 1e100])}; leave it out instead."
        )
    return sizes


def _per_row(population: Array, strata: int, of_row: Codes) -> Array:
    if population.shape != of_row.shape:
        raise StratError.about(
            "population",
            f"must be one number, a mapping from stratum or one value per row, got {population.size} values.",
        )
    values = np.empty(strata)
    values[of_row] = population
    if ((values[of_row] != population) & ~np.isnan(population)).any():
        raise StratError.about("population", "must be the same for all rows of a stratum, got several values in one.")
    return values


def per_label(argument: str, values: Mapping[Any, float], labels: NDArray[Any]) -> Array:
    """A number for each stratum, from a mapping that must name them all."""
    known = {plain(label) for label in labels}
    given = {plain(key): validate.number(argument, value) for key, value in values.items()}
    unknown = [key for key in given if key not in known]
    if unknown:
        raise StratError.about(argument, f"must name strata that have rows, got {some(unknown)} without any.")
    absent = [label for label in map(plain, labels) if label not in given]
    if absent:
        raise StratError.about(argument, f"must name every stratum, {some(absent)} missing.")
    return np.array([given[plain(label)] for label in labels])


def _items(items: ArrayLike | None, unit: Codes, n: int) -> Codes | None:
    if items is None:
        return None
    codes, labels = encode("items", items)
    if len(codes) != n:
        raise StratError.about("items", f"must have one label per row ({n}), got {len(codes)}.")
    return encode("items", unit * len(labels) + codes)[0]


def _counts(argument: str, counts: ArrayLike, n: int) -> Array:
    array = numbers(argument, counts)
    if array.shape != (n,) or (array <= 0).any():
        raise StratError.about(argument, f"must be one positive number per row ({n} rows).")
    return array.copy()

"""The one way from columns of a table to a design."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat import validate
from strat.designs import Design
from strat.designs.crossed import MOST_FACTORS
from strat.errors import StratError
from strat.tables.table import Names, listed
from strat.validate.arguments import shown
from strat.validate.columns import Array

TARGETS = ("population", "benchmark")
SEVERAL = ("crossed", "stages", "sizes")  # roles that several columns may play, as "crossed:reader"
GROUP = "by_"  # how the roles of columns that make groups start
DRAWN = ("strata", "units", "items", "kinds", "order", "start")  # roles of columns that a design is made of


@dataclass(frozen=True)
class Along:
    """How a systematic sample lies along its order.

    Attributes
    ----------
    differences
        Of which order neighbours are compared by.
    start
        Place of the first unit drawn, counted from 1: a number, a mapping from stratum, or a column (None: unknown).
    """

    differences: int = 1
    start: str | float | Mapping[Any, float] | None = None


UNORDERED = Along()


def along(order: str | None, differences: int, start: str | float | Mapping[Any, float] | None) -> Along:
    """How a sample lies along the column `order`; what would be ignored without one is refused."""
    if not isinstance(start, str | Mapping | None):
        start = validate.number("start", start)
    if order is None and (start is not None or differences != UNORDERED.differences):
        argument = "start" if start is not None else "differences"
        raise StratError.about(argument, "must go with `order`: it is about samples drawn along one.")
    return Along(differences, start)


def argument_of(role: str) -> str:
    """The argument that names the column of a role.

    >>> argument_of("crossed:reader"), argument_of("by_0"), argument_of("strata")
    ('crossed', 'by', 'strata')
    """
    argument = "by" if role.startswith(GROUP) else role.split(":")[0]
    return "population" if argument == "sizes" else argument


def is_drawn(role: str) -> bool:
    """Whether a design is made of the column in this role."""
    return role in DRAWN or role.split(":")[0] in SEVERAL


def layout_roles(
    *, crossed: Names | str | None, kinds: str | None, order: str | None, stages: Names | str | None, population: Any
) -> dict[str, str]:
    """The roles of the columns of a design of another kind than units in strata."""
    given = {"crossed": crossed, "kinds": kinds, "order": order, "stages": stages}
    chosen = [argument for argument, value in given.items() if value is not None]
    if len(chosen) > 1:
        raise StratError.about(chosen[1], f"must be left out beside `{chosen[0]}`: a design is of one kind.")
    roles = {role: name for role, name in (("kinds", kinds), ("order", order)) if name is not None}
    for argument, names in (("crossed", crossed), ("stages", stages)):
        if names is not None:
            roles |= {f"{argument}:{name}": name for name in _separated(argument, names)}
    if crossed is not None and not 2 <= len(roles) <= MOST_FACTORS:
        raise StratError.about("crossed", f"must name two to {MOST_FACTORS} columns, got {len(roles)}.")
    if stages is not None and population is not None:
        named, sizes = _separated("stages", stages), _separated("population", population)
        if len(sizes) != len(named):
            raise StratError.about("population", f"must name a column for each stage ({len(named)}), got {len(sizes)}.")
        roles |= {f"sizes:{stage}": size for stage, size in zip(named, sizes, strict=True)}
    return roles


def _separated(argument: str, names: Names | str) -> list[str]:
    return [name for one in listed(argument, names) for name in one.split(",")]


def design_of(
    columns: Mapping[str, NDArray[Any]],
    *,
    rows: int,
    counts: Array | None = None,
    weights: Array | None = None,
    population: Any = None,
    lone: str = "error",
    nested: bool = False,
    target: str | None = None,
    ordering: Along = UNORDERED,
) -> Design:
    """The design of rows whose columns play the roles `strata`, `units` and `items`.

    Parameters
    ----------
    columns
        From the role to the label of each row; roles that a design has no use for are passed over.
    rows
        Number of rows.
    counts
        How many equal rows of the table each row stands for; without units and items these were drawn one by one.
    weights
        What each row weighs, all that it stands for together; None: one each, or what `population` implies.
    population
        Units in the population: a number, or a mapping from stratum.
    lone
        What to do with a stratum of one unit.
    nested
        Whether the same unit label in two strata means two units (else it is an error); items are always those of
        their stratum.
    target
        "benchmark" for these very units, of which nothing but repeats could vary.
    ordering
        How the rows lie along the column `order`; a column of starts is looked up under the role `start`.
    """
    if any(is_drawn(role) and role not in ("strata", "units", "items") for role in columns):
        return _with_layout(columns, counts, weights, population, target, ordering)
    strata, items = columns.get("strata"), columns.get("items")
    units = columns.get("units", items)
    options: dict[str, Any] = {"weights": weights, "population": population}
    if units is not None:
        own = nested or "units" not in columns
        design = Design.clustered(units, strata=strata, items=items, counts=counts, lone=lone, nested=own, **options)
    else:
        if counts is not None:
            options |= {"multiplicity": counts, "weights": None if weights is None else weights / counts}
        design = (
            Design.simple_random(rows, **options) if strata is None else Design.stratified(strata, lone=lone, **options)
        )
    return replace(design, population=design.sizes.astype(float)) if target == "benchmark" else design


def _with_layout(
    columns: Mapping[str, NDArray[Any]],
    counts: Array | None,
    weights: Array | None,
    population: Any,
    target: str | None,
    ordering: Along,
) -> Design:
    """A crossed, staged, ordered or blocked design."""
    if target == "benchmark":
        raise StratError.about(
            "target", "must be left out for crossed, staged, ordered and blocked designs, got 'benchmark'."
        )
    options: dict[str, Any] = {"weights": weights, "counts": counts}
    strata, units = columns.get("strata"), columns.get("units")
    if "kinds" in columns:
        if units is None or strata is not None:
            raise StratError.about("kinds", "must come with `units`, which were seen under them, and without `strata`.")
        return Design.blocks(units, columns["kinds"], **options)
    if "order" in columns:
        if units is None and counts is not None and (counts > 1).any():
            raise StratError.about(
                "order", "must distinguish all rows, got several equal rows at one place; name their `units`."
            )
        start = per_stratum("start", ordering.start, columns)
        options |= {"population": population, "differences": ordering.differences, "start": start}
        return Design.systematic(columns["order"], strata=strata, units=units, **options)
    if units is not None:
        raise StratError.about("units", "must be left out beside `crossed` and `stages`, which name what was drawn.")
    stages = _playing("stages", columns)
    if stages:
        return Design.staged(stages, strata=strata, population=_playing("sizes", columns), **options)
    return Design.crossed(_playing("crossed", columns), strata=strata, **options)


def _playing(role: str, columns: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The columns of a role that several may play, by name."""
    return {name.split(":", 1)[1]: values for name, values in columns.items() if name.startswith(f"{role}:")}


def population_of(population: Any, columns: Mapping[str, NDArray[Any]]) -> float | Mapping[Any, float] | None:
    """Population sizes as a design takes them; a column's values are looked up under the role `population`."""
    return per_stratum("population", population, columns)


def per_stratum(argument: str, given: Any, columns: Mapping[str, NDArray[Any]]) -> float | Mapping[Any, float] | None:
    """A number for all strata or one for each; a column's values are looked up under the argument's name as a role."""
    if not isinstance(given, str):
        return given if given is None or isinstance(given, Mapping) else _number(argument, given)
    try:
        values = np.asarray(columns[argument], float)
    except ValueError:
        raise StratError.about(argument, f"must name a column of numbers, got text in {given!r}.") from None
    strata = columns.get("strata")
    if strata is None:
        if len(np.unique(values)) > 1:
            raise StratError.about(argument, f"must be one number without strata, got {len(np.unique(values))} values.")
        return float(values[0])
    numbers: dict[Any, float] = {}
    for label, value in zip(strata.tolist(), values.tolist(), strict=True):
        if numbers.setdefault(label, value) != value:
            raise StratError.about(argument, f"must be the same for all rows of a stratum, got several for {label!r}.")
    return numbers


def _number(argument: str, given: Any) -> float:
    try:
        return float(given)
    except (TypeError, ValueError, OverflowError):
        raise StratError.about(
            argument, f"must be a number, a column's name or a mapping from stratum, got {shown(given)}."
        ) from None

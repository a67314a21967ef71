"""The one way from the columns of a table to a design."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from strat.base.errors import StratError, near, some
from strat.base.validate.arguments import shown
from strat.base.validate.columns import Array
from strat.designs.design import Design
from strat.designs.sampling import DEFAULTS, Sampling, sampling_of

TARGETS = ("population", "benchmark")
SEVERAL = ("crossed", "stages", "sizes")  # roles that several columns may play, as "crossed:reader"
PLAIN = Sampling()
GROUP = "by_"  # how the roles of columns that make groups start
DRAWN = ("strata", "units", "items", "kinds", "order", "start")  # roles of columns that a design is made of


def design_in(frame: Any, columns: Mapping[str, Any]) -> Design:
    """The design of a data frame or a mapping, from the names of the columns that play each role of a `Sampling`."""
    roles = ("clusters", *DEFAULTS)
    unknown = [role for role in columns if role not in roles]
    if unknown:
        raise StratError.about("columns", f"must be roles ({some(roles, len(roles))}), got {some(unknown)}.")
    given = {role: name for role, name in columns.items() if name is not None}
    sampling = sampling_of(None, **{"units": None, **given})
    sampling.refuse_replicates()
    named = {role: name for role, name in sampling.columns.items() if name is not None}
    arrays = {role: _column(frame, argument_of(role), name) for role, name in named.items()}
    weights = arrays.pop("weights", None)
    first = next((array for array in (weights, *arrays.values()) if array is not None), None)
    return design_of(arrays, rows=_length(frame) if first is None else len(first), weights=weights, sampling=sampling)


def _column(frame: Any, argument: str, name: str) -> NDArray[Any]:
    """A column of a data frame or a mapping."""
    try:
        return np.asarray(frame[name])
    except (KeyError, IndexError, TypeError, ValueError):
        names = getattr(frame, "columns", frame if isinstance(frame, Mapping) else ())
        hint = near(str(name), [str(one) for one in names])
        raise StratError.about(argument, f"must name a column of `frame`, got {name!r}; {hint}") from None


def _length(frame: Any) -> int:
    """Number of rows of a data frame or a mapping."""
    return len(next(iter(frame.values()), ())) if isinstance(frame, Mapping) else len(frame)


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


def design_of(
    columns: Mapping[str, NDArray[Any]],
    *,
    rows: int,
    counts: Array | None = None,
    weights: Array | None = None,
    sampling: Sampling = PLAIN,
    target: str | None = None,
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
        What each row weighs, all that it stands for together; None: one each, or what the population implies.
    sampling
        Whatever else is known of it; columns with a number for each stratum are looked up under the field's name.
    target
        "benchmark" for these very units, of which nothing but repeats could vary.
    """
    named = {"unit": sampling.units or sampling.items, "stratum": sampling.strata, "item": sampling.items}
    design = _of_columns(columns, rows, counts, weights, sampling, target)
    return design.named({role: name for role, name in named.items() if name is not None})


def _of_columns(
    columns: Mapping[str, NDArray[Any]],
    rows: int,
    counts: Array | None,
    weights: Array | None,
    sampling: Sampling,
    target: str | None,
) -> Design:
    if any(is_drawn(role) and role not in ("strata", "units", "items") for role in columns):
        return _with_layout(columns, counts, weights, sampling, target)
    strata, items = columns.get("strata"), columns.get("items")
    units = columns.get("units", items)
    joined = sampling.collapse_by is not None
    lone = "certainty" if joined else sampling.lone  # strata that are joined by a column are joined last
    options: dict[str, Any] = {"weights": weights, "population": per_stratum("population", sampling.sizes, columns)}
    if units is not None:
        own = sampling.nested or "units" not in columns  # items are always those of their stratum
        design = Design.clustered(units, strata=strata, items=items, counts=counts, lone=lone, nested=own, **options)
    else:
        if counts is not None:
            options |= {"multiplicity": counts, "weights": None if weights is None else weights / counts}
        design = (
            Design.simple_random(rows, **options) if strata is None else Design.stratified(strata, lone=lone, **options)
        )
    if joined:
        design = _collapsed(design, sampling, columns)
    return replace(design, population=design.sizes.astype(float)) if target == "benchmark" else design


def _collapsed(design: Design, sampling: Sampling, columns: Mapping[str, NDArray[Any]]) -> Design:
    """The design with its singleton strata joined to those that are nearest in the column `collapse_by`."""
    if "strata" not in columns:
        raise StratError.about("collapse_by", f"must go with `strata`, got {sampling.collapse_by!r} without.")
    by = per_stratum("collapse_by", sampling.collapse_by, columns)
    return design.collapsed(by=cast(Mapping[Any, float], by))


def _with_layout(
    columns: Mapping[str, NDArray[Any]],
    counts: Array | None,
    weights: Array | None,
    sampling: Sampling,
    target: str | None,
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
        along = {name: per_stratum(name, getattr(sampling, name), columns) for name in ("population", "start")}
        options |= {**along, "differences": sampling.differences}
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

"""From the names of columns to the arguments of a design."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from strat.errors import StratError, near, some
from strat.validate.columns import Array, numbers

ROLES = ("strata", "units", "clusters", "items", "weights", "population", "order", "kinds", "crossed", "stages")
AS_THEY_ARE = ("lone", "differences", "nested", "start")


def column(frame: Any, role: str, name: Any) -> Any:
    """A column of a data frame or a mapping."""
    try:
        return np.asarray(frame[name])
    except (KeyError, IndexError, TypeError, ValueError):
        names = getattr(frame, "columns", frame if isinstance(frame, Mapping) else ())
        hint = near(str(name), [str(one) for one in names])
        raise StratError.about(role, f"must name a column of `frame`, got {name!r}; {hint}") from None


def arguments(frame: Any, columns: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The kind of design that these roles make, and its arguments."""
    unknown = [role for role in columns if role not in (*ROLES, *AS_THEY_ARE)]
    if unknown:
        raise StratError.about("columns", f"must be roles ({some(ROLES, len(ROLES))}), got {some(unknown)}.")
    given = {role: name for role, name in columns.items() if name is not None}
    if "clusters" in given:
        given.setdefault("units", given.pop("clusters"))
    kind = _kind(given)
    options: dict[str, Any] = {role: given.pop(role) for role in AS_THEY_ARE if role in given}
    if kind in ("crossed", "staged"):
        names = _listed(given.pop("crossed" if kind == "crossed" else "stages"))
        options["factors" if kind == "crossed" else "stages"] = {n: column(frame, kind, n) for n in names}
        if kind == "staged" and "population" in given:
            sizes = _listed(given.pop("population"))
            if len(sizes) != len(names):
                raise StratError.about(
                    "population", f"must name a column for each stage ({len(names)}), got {len(sizes)}."
                )
            options["population"] = {n: column(frame, "population", s) for n, s in zip(names, sizes, strict=True)}
    for role, name in given.items():
        options[role] = column(frame, role, name) if isinstance(name, str) else name
    if kind == "simple_random":
        options.setdefault("n", len(column(frame, "weights", given["weights"])) if "weights" in given else len(frame))
    return kind, options


def _kind(given: dict[str, Any]) -> str:
    for role, kind in (("crossed", "crossed"), ("stages", "staged"), ("order", "systematic"), ("kinds", "blocks")):
        if role in given:
            return kind
    if "units" in given:
        return "clustered"
    return "stratified" if "strata" in given else "simple_random"


def _listed(names: str | Sequence[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def sizes(name: str, whole: ArrayLike | float, number: int) -> Array:
    """Population sizes of a stage: one number, or one for each row."""
    array = numbers(f"population[{name!r}]", np.atleast_1d(np.asarray(whole)), finite=False)
    if array.shape not in ((1,), (number,)):
        raise StratError.about(
            "population", f"of {name!r} must be one number or one for each row ({number}), got {array.size} values."
        )
    return array

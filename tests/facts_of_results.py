"""What a result says, as plain numbers: values, errors, limits, degrees of freedom, codes of notes; no sentences."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from strat import Estimate, StratError
from strat.base.notes import Note, codes_of

LONGEST_LABEL = 24  # characters; a longer text is a sentence, whose words may be improved


def facts(result: Any, level: float = 0.95) -> Any:
    """The result as dictionaries, lists, numbers and short labels; NaN and infinities stay what they are."""
    if isinstance(result, Estimate):
        return of_estimate(result, level)
    if isinstance(result, Note):
        return result.code
    if result is None or isinstance(result, bool | int | float | str):
        return result
    if isinstance(result, np.generic | np.ndarray):
        return facts(result.tolist(), level)
    if isinstance(result, Mapping):
        return of_mapping(result, level)
    if isinstance(result, list | tuple | set | frozenset):
        values = sorted(result) if isinstance(result, set | frozenset) else result
        return [facts(value, level) for value in values if not is_sentence(value)]
    if callable(getattr(result, "sheet", None)) and callable(getattr(result, "to_json", None)):
        return of_sheet(result, level)
    if is_dataclass(result):
        known = {field.name: getattr(result, field.name) for field in fields(result) if field.repr}
        return of_mapping(known, level)
    if callable(getattr(result, "to_dict", None)):
        return facts(result.to_dict(), level)
    return type(result).__name__


def of_estimate(one: Estimate, level: float = 0.95) -> dict[str, Any]:
    """Value, standard error, degrees of freedom, limits and codes of notes."""
    try:
        low, high = one.interval(level)
    except StratError:
        low = high = None
    named = {"value": one.value, "se": one.se, "df": one.df, "low": low, "high": high}
    return {**{name: facts(value) for name, value in named.items()}, "notes": sorted(codes_of(one.notes))}


def of_mapping(known: Mapping[Any, Any], level: float) -> Any:
    """What is known under each name; a note is its code, and sentences are left out."""
    if {"code", "text"} <= set(known):
        return known["code"]
    return {str(name): facts(value, level) for name, value in known.items() if not is_sentence(value)}


def of_sheet(result: Any, level: float) -> Any:
    """The JSON of a result of the verbs, with the estimates behind it."""
    named = getattr(result, "named", dict)()
    estimates = {"estimates": facts(named, level)} if all(isinstance(v, Estimate) for v in named.values()) else {}
    return facts(json.loads(result.to_json())) | estimates


def is_sentence(value: Any) -> bool:
    """Whether this is a text for people, and not a label."""
    return isinstance(value, str) and not isinstance(value, Note) and len(value) > LONGEST_LABEL


def leaves(tree: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every number and label with the way to it, such as ("accuracy.low", 0.3)."""
    if isinstance(tree, Mapping):
        for name, value in tree.items():
            yield from leaves(value, f"{path}.{name}" if path else str(name))
    elif isinstance(tree, list):
        yield f"{path}#", len(tree)
        for place, value in enumerate(tree):
            yield from leaves(value, f"{path}[{place}]")
    else:
        yield path, tree


def close(one: Any, other: Any, relative: float, absolute: float) -> bool:
    """Whether two leaves are the same number or label; NaN is equal to NaN, and an infinity to itself alone."""
    numbers = [isinstance(v, int | float) and not isinstance(v, bool) for v in (one, other)]
    if not all(numbers):
        return type(one) is type(other) and one == other
    if one == other or (math.isnan(one) and math.isnan(other)):
        return True
    return math.isfinite(one) and math.isfinite(other) and math.isclose(one, other, rel_tol=relative, abs_tol=absolute)


def differences(one: Any, other: Any, relative: float = 1e-10, absolute: float = 1e-12) -> list[str]:
    """Where two trees of facts say different things, as lines "place: one -> other"."""
    old, new = dict(leaves(one)), dict(leaves(other))
    absent = "(absent)"
    return [
        f"{place}: {old.get(place, absent)!r} -> {new.get(place, absent)!r}"
        for place in {**old, **new}
        if place not in old or place not in new or not close(old[place], new[place], relative, absolute)
    ]

"""What the record keeps of a result: its class, and its numbers as compact JSON."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

import strat
from facts_of_results import facts

DIGITS = 12  # of each number; two records are compared to 10
MEASURED = {"seconds", "peak_bytes"}  # of this computer
LONG = 12  # values; of a longer list stand the ends and a sum
MOST = 60  # lines of a table


def recorded(result: Any) -> dict[str, Any]:
    """The class of a result with its numbers: value, se, limits, df and codes of notes where it has them."""
    return {"is": type(result).__name__, "has": compact(_numbers(result))}


def _numbers(result: Any) -> Any:
    if isinstance(result, strat.Statistic):
        return facts(_estimated(result))
    if isinstance(result, strat.Estimate):
        return facts(result)
    if hasattr(result, "to_json"):
        return facts(json.loads(result.to_json()))
    if isinstance(result, str):
        return {"characters": len(result)} if len(result) > LONG else result
    if isinstance(result, list | tuple):
        return [_numbers(one) for one in result]
    if isinstance(result, Mapping) and {"code", "text"} <= set(result):
        return str(result["code"])  # of a note, whose words may be improved
    if isinstance(result, Mapping):
        return {str(name): _numbers(one) for name, one in result.items()}
    return facts(result)


def _estimated(statistic: strat.Statistic) -> Any:
    """A statistic is recorded by its estimate, from units of three rows in two strata where there are 24 rows."""
    n = len(statistic)
    if n == 24:
        half = np.repeat(["a", "b"], 12)
        return strat.estimate(statistic, on=strat.Design.stratified(half, units=np.arange(24) // 3))
    return strat.estimate(statistic, on=strat.Design.simple_random(n)) if n > 1 else statistic.value()


def compact(tree: Any) -> Any:
    """The same with fewer digits, without what is empty, and long lists by their ends and a sum.

    What is no finite number is a text.
    """
    if isinstance(tree, Mapping):
        empty = {name for name, value in tree.items() if value is None or value in ([], {})}
        return {name: compact(value) for name, value in tree.items() if name not in empty | MEASURED}
    if isinstance(tree, float):
        return float(f"{tree:.{DIGITS}g}") if np.isfinite(tree) else str(tree)
    if not isinstance(tree, list):
        return tree
    values = _flat(tree)
    if len(values) <= LONG or any(isinstance(one, Mapping) for one in values[:MOST]):
        return [compact(one) for one in tree[:MOST]]
    return _ends(values)


def _flat(tree: Any) -> list[Any]:
    return [value for one in tree for value in _flat(one)] if isinstance(tree, list) else [tree]


def _ends(values: list[Any]) -> dict[str, Any]:
    """The number of values, the first and the last ones, and what changes if any of the others does."""
    known = {"n": len(values), "ends": compact([*values[:3], *values[-2:]])}
    numbers = [value for value in values if _is_number(value)]
    if numbers:
        place = 1.0 + np.arange(len(numbers)) / len(numbers)
        known["sum"] = compact(float(place @ np.asarray(numbers, float)))
    if len(numbers) < len(values):
        others = "\n".join(repr(value) for value in values if not _is_number(value))
        known["others"] = hashlib.sha256(others.encode()).hexdigest()[:8]
    return known


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and bool(np.isfinite(value))

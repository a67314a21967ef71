"""The same column as another library has it gives the same answer, or a sentence."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from public_calls import Call, calls, ready

from strat import ConfusionMatrix, Design, Estimate, Replicates, Statistic
from strat.base.errors import StratError, StratWarning

TYPED = ("algebra.", "recognition.candidates")  # want integers as integers, or give labels back as they came
KEPT = {"functions", "labels", "where", "sizes"}  # lists of names, truth values and ranks stay lists


def numbers(found: Any, depth: int = 0) -> Iterator[float]:
    """The numbers of an answer, in order."""
    import pandas as pd
    import polars as pl

    if isinstance(found, bool | int | float | np.number | np.bool_):
        yield float(found)
    elif isinstance(found, np.ndarray):
        yield from found.ravel().astype(float).tolist() if found.dtype.kind in "biuf" else []
    elif isinstance(found, pd.DataFrame | pl.DataFrame):  # data that are kept as they came
        yield from numbers(found.to_numpy(), depth)
    elif isinstance(found, Statistic):
        yield from np.ravel(found.value()).tolist()
    elif isinstance(found, Estimate):
        yield from [*np.ravel(found.value).tolist(), *np.ravel(found.se).tolist()]
    elif isinstance(found, Design):
        yield from [*found.unit.tolist(), *found.stratum.tolist(), *found.weights.tolist()]
    elif isinstance(found, Replicates):
        yield from np.ravel(found.factors()).tolist()
    elif isinstance(found, ConfusionMatrix):
        yield from np.ravel(found.counts).tolist()
    elif depth < 4 and isinstance(found, dict):
        for part in found.values():
            yield from numbers(part, depth + 1)
    elif depth < 4 and isinstance(found, list | tuple):
        for part in found:
            yield from numbers(part, depth + 1)
    elif depth < 4 and dataclasses.is_dataclass(found) and not isinstance(found, type):
        for part in dataclasses.fields(found):
            if part.name not in ("times", "memory"):  # of the machine
                yield from numbers(getattr(found, part.name), depth + 1)


def forms(column: list[Any]) -> dict[str, Callable[[], Any]]:
    """The column in other clothes."""
    import pandas as pd
    import polars as pl

    array = np.array(column)
    made: dict[str, Callable[[], Any]] = {
        "tuple": lambda: tuple(column),
        "array": lambda: array,
        "every other of an array": lambda: np.repeat(array, 2, axis=0)[::2],
        "backwards of an array": lambda: array[::-1].copy()[::-1],
        "unmasked": lambda: np.ma.masked_array(array),
    }
    if array.ndim > 1:
        return {
            **made,
            "columns first": lambda: np.asfortranarray(array),
            "pandas": lambda: pd.DataFrame(array, index=range(len(array), 0, -1)),
            "polars": lambda: pl.DataFrame(array),
        }
    made |= {
        "objects": lambda: np.array(column, dtype=object),
        "pandas": lambda: pd.Series(column, index=range(len(column), 0, -1)),
        "polars": lambda: pl.Series(column),
    }
    if array.dtype.kind == "i" and array.min() >= 0 and array.max() < 128:
        made |= {
            "small": lambda: array.astype(np.int8),
            "small and unsigned": lambda: array.astype(np.uint8),
            "nullable": lambda: pd.array(column, dtype="Int64"),
        }
    if array.dtype.kind == "U":
        made["categories"] = lambda: pd.Categorical(column)
    return made


def columns(call: Call) -> Iterator[str]:
    """The arguments that are columns or tables."""
    for name, value in call.arguments.items():
        if isinstance(value, list) and value and np.ndim(value) < 3 and name not in KEPT:
            yield name


def told(call: Call, arguments: dict[str, Any]) -> list[float]:
    """The numbers of one call."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", StratWarning)
        return list(numbers(call.function(**arguments)))


def differences(call: Call, chosen: Callable[[int], bool]) -> Iterator[str]:
    """Which clothes change the answer, among those that are chosen by their number."""
    names = list(columns(call))
    expected = told(call, ready(call.arguments)) if names else []
    for i, name in enumerate(names):
        for j, (form, make) in enumerate(forms(call.arguments[name]).items()):
            if (form == "objects" and call.name.startswith(TYPED)) or not chosen(i + j):
                continue
            try:
                found = told(call, {**ready(call.arguments), name: make()})
            except StratError as error:
                yield f"{call.name}({name} as {form}): {error}"
                continue
            if (
                not np.allclose(found, expected, rtol=1e-9, atol=1e-12, equal_nan=True)
                if len(found) == len(expected)
                else True
            ):
                yield f"{call.name}({name} as {form}): another answer"


PARTS = ("strat", "algebra", "comparison", "datasets", "recognition", "planning", "gaussian")


def test_some_clothes_do_not_matter() -> None:
    """Each column of each call in every sixth of its clothes, others than its neighbours."""
    named = [call for call in calls() if call.name.startswith(tuple(f"{part}." for part in PARTS))]
    assert len(named) > 50
    found = [said for k, call in enumerate(named) for said in differences(call, range(-k % 6, 99, 6).__contains__)]
    assert not found, "\n".join(found)


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
def test_clothes_do_not_matter(part: str) -> None:
    named = (call for call in calls() if call.name.startswith(part + "."))
    found = [said for call in named for said in differences(call, lambda _: True)]
    assert not found, "\n".join(found)

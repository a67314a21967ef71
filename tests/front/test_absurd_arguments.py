"""Every public function, every argument, every absurd value: an answer, or one sentence.

The quick part takes each call and argument with a few of the values, others for each; the slow part takes them all.
What is known to answer otherwise stands in `KNOWN`, with the reason.
"""

from __future__ import annotations

import datetime
import decimal
import fractions
import math
import signal
import warnings
from collections.abc import Callable
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from public_calls import Call, calls, names, ready

from strat.base.errors import StratError, StratWarning

mpl.use("Agg")
SECONDS = 10

# function -> why a raw error or a warning may pass: code that lies outside the door as yet
KNOWN = {
    "recognition.Verification.fmr": "says it of `thresholds`",
    "recognition.Verification.fnmr": "says it of `thresholds`",
    "algebra.Field": "arithmetic in hot loops, checked by its own elements()",
    "algebra.MultiArray": "inner iteration",
    "strat.Replicates": "inner iteration",
    "strat.Statistic.value": "inner iteration",
    "strat.Plan": "a record of words",
    "gaussian.quadratic_form_tail": "takes arrays, not columns",
    "gaussian.error_of_sets": "takes pairs of clouds",
    "strat.functools.partial": "stack takes statistics by name",
}


def rows(valid: object) -> int:
    """How many rows the honest value has."""
    sized = hasattr(valid, "__len__") and not isinstance(valid, str | dict)
    return (len(valid) if sized else 24) or 3  # type: ignore[arg-type]


def absurd(valid: object) -> dict[str, Callable[[], Any]]:
    """The values by name, made anew for each call."""
    import pandas as pd
    import polars as pl

    n = rows(valid)
    single: dict[str, Any] = {
        "None": None, "no text": "", "a word": "zzz", "nan": math.nan, "infinity": math.inf, "-1": -1, "0": 0,
        "2^63": 2**63, "1e308": 1e308, "5e-324": 5e-324, "2^53+1": 2**53 + 1, "10^400": 10**400, "1j": 1j,
        "bytes": b"ab", "a date": datetime.datetime(2020, 1, 1), "a long word": "x" * 100_000, "NUL": "a\0b",
        "markup": "<script>alert(1)</script>", "a formula": "=cmd|' /C calc'!A0", "LaTeX": "\\input{x}$%&_#",
        "right to left": "\u202eabc\u0301", "half a sign": "\ud800", "an object": object(), "a dictionary": {"zz": 1},
        "a set": {1, 2}, "a type": int, "a fraction": fractions.Fraction(1, 2), "no decimal": decimal.Decimal("NaN"),
        "an array without axes": np.array(3.0), "a small integer": np.int8(3), "a large integer": np.uint64(2**64 - 1),
        "NA": pd.NA,
    }  # fmt: skip
    column: dict[str, Any] = {
        "no rows": [], "one row": [1.0], "two axes": np.ones((n, 2)), "three axes": np.ones((n, 2, 2)),
        "rows of nan": [math.nan] * n, "rows of None": [None] * n, "rows of 1e308": [1e308] * n,
        "rows of 10^400": [10**400] * n, "rows of objects": [object()] * n, "rows of lists": [[]] * n,
        "masked rows": np.ma.masked_array(np.ones(n), mask=[True] + [False] * (n - 1)),
        "nullable rows": pd.array([1] * (n - 1) + [pd.NA], dtype="Int64"), "categories": pd.Categorical(["a"] * n),
        "times": np.array(["NaT"] * n, dtype="datetime64[D]"), "rows of 1j": [1j] * n, "complex rows": np.ones(n) * 1j,
        "ragged rows": [[1, 2], [3]], "mixed rows": [1, "a", None], "records": np.zeros(n, dtype=[("a", int)]),
        "gaps of polars": pl.Series([None] + [1.0] * (n - 1)), "a frame": pd.DataFrame({"a": [1.0] * n}),
        "long words": ["x" * 100_000] * n, "no columns": np.ones((n, 0)),
    }  # fmt: skip
    made: dict[str, Callable[[], Any]] = {k: lambda v=v: v for k, v in {**single, **column}.items()}
    return {**made, "a generator": lambda: (i for i in range(n))}


def _late(*_: object) -> None:
    raise TimeoutError(f"more than {SECONDS} s")


def fault(call: Call, name: str, value: Any) -> str | None:
    """What is wrong with how the call with this one value ended, or None."""
    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, _late)
        signal.alarm(SECONDS)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", StratWarning)
            warnings.filterwarnings("ignore", ".*encountered in.*", RuntimeWarning)  # ends in a number or NaN
            call.function(**{**ready({k: v for k, v in call.arguments.items() if k != name}), name: value})
        return None
    except StratError as error:
        said = str(error)
        whole = "\n" not in said and len(said) <= 1000 and said.endswith((".", "?"))
        return None if whole else f"no sentence: {said[:200]!r}"
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:120]}"
    finally:
        if hasattr(signal, "SIGALRM"):
            signal.alarm(0)
        _close()


def _close() -> None:
    from matplotlib import pyplot as plt

    plt.close("all")


def doors() -> list[Call]:
    """The calls that have no excuse."""
    return [call for call in calls() if not call.name.startswith(tuple(KNOWN))]


def sweep(call: Call, chosen: Callable[[int, int], bool]) -> list[str]:
    """The faults of one call over the chosen (argument, value) pairs."""
    found = []
    for i, name in enumerate(names(call)):
        if name in PATIENT:
            continue
        for j, (label, make) in enumerate(absurd(call.arguments.get(name)).items()):
            if chosen(i, j) and (name, label) not in EXCUSED and (said := fault(call, name, make())):
                found.append(f"{call.name}({name}={label}): {said}")
    return found


EXCUSED = {
    ("grid", "a dictionary"),  # scikit-learn speaks here
    ("metrics", "a type"),  # what a person's own function raises
    ("scoring", "a type"),
    ("criterion", "a type"),
}
PATIENT = {"n_jobs", "resolution", "library"}  # as many processes, cells or libraries as a person asks for


def test_every_call_that_draws_or_gives_a_frame_is_honest() -> None:
    """The record makes every other call of the sweep, and none may be refused there."""
    for call in calls():
        if call.name.endswith((".plot", ".to_frame", ".render")):
            call.function(**ready(call.arguments))
    _close()


@pytest.mark.parametrize("part", range(4))
def test_some_absurd_values(part: int) -> None:
    """Each argument meets one value, another than its neighbours; `make validate` tries them all."""
    found: list[str] = []
    for k, call in enumerate(doors()):
        if k % 4 == part and not call.name.startswith("protocols."):
            found += sweep(call, lambda i, j, k=k: (j - 7 * i - 3 * k) % 56 == 0)  # type: ignore[misc]
    assert not found, "\n".join(found)


@pytest.mark.slow
@pytest.mark.parametrize("call", doors(), ids=str)
def test_all_absurd_values(call: Call) -> None:
    found = sweep(call, lambda i, j: True)
    assert not found, "\n".join(found)

"""How far a reader walks for one answer: the functions and modules that an everyday call runs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import gauges
import numpy as np
import pandas as pd

COMPREHENSIONS = {"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"}  # frames in some versions of Python only
CALLS = ("evaluate", "print evaluate", "evaluate by", "compare", "gate")
PAIRS = (("compare", "evaluate"), ("evaluate", "compare"), ("gate", "compare"), ("evaluate by", "evaluate"))


def table(seed: int) -> tuple[pd.DataFrame, dict[str, str]]:
    """Predictions, and the names of their columns by role: no name, label or length is that of another seed."""
    rng, n = np.random.default_rng(seed), 240 + 12 * seed
    names = {role: f"{role}{seed}" for role in ("truth", "guess", "other", "unit", "stratum")}
    labels = np.array([f"a{seed}", f"b{seed}"])
    truth = rng.choice(labels, n)
    columns = {
        "truth": truth,
        "guess": np.where(rng.random(n) < 0.8, truth, rng.choice(labels, n)),
        "other": np.where(rng.random(n) < 0.7, truth, rng.choice(labels, n)),
        "unit": [f"{seed}-{i // 4}" for i in range(n)],
        "stratum": np.repeat([f"de{seed}", f"en{seed}", f"fr{seed}"], n // 3),
    }
    return pd.DataFrame({names[role]: column for role, column in columns.items()}), names


def everyday(seed: int) -> dict[str, Callable[[], object]]:
    """The calls that a reader follows, on data of their own."""
    import strat

    frame, names = table(seed)
    guess, other, stratum = names["guess"], names["other"], names["stratum"]
    truth: dict[str, Any] = {"truth": names["truth"], "units": names["unit"]}
    drawn = truth | {"strata": stratum}
    return {
        "evaluate": lambda: strat.evaluate(frame, predicted=guess, metrics="accuracy", **drawn),
        "print evaluate": lambda: str(strat.evaluate(frame, predicted=guess, metrics="accuracy", **drawn)),
        "evaluate by": lambda: strat.evaluate(frame, predicted=guess, metrics="accuracy", by=stratum, **truth),
        "compare": lambda: strat.compare(frame, predicted=[guess, other], **drawn),
        "gate": lambda: strat.gate(
            frame, predicted=[guess, other], baseline=guess, candidate=other, margin=0.05, **drawn
        ),
    }


def walk(warm: Callable[[], object], call: Callable[[], object], packages: set[str]) -> set[tuple[str, str]]:
    """The functions of some packages that a call runs, by module and name, after one that has loaded what is needed.

    A function belongs to the module whose names it sees, whatever file it came from: code made from a text, too.
    """
    warm()
    functions: set[tuple[str, str]] = set()

    def seen(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            code, module = frame.f_code, str(frame.f_globals.get("__name__", frame.f_code.co_filename))
            made_by_a_dataclass = code.co_filename == "<string>" and code.co_name.startswith("__")
            if (module.partition(".")[0] in packages or module == "<string>") and not made_by_a_dataclass:
                functions.add((module, code.co_qualname))

    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        call()
    finally:
        sys.setprofile(before)
    return {(m, f) for m, f in functions if f != "<module>" and f.rpartition(".")[2] not in COMPREHENSIONS}


def figures() -> dict[str, int]:
    """What the everyday calls run, and what one verb runs that another does not."""
    packages = {module.name.partition(".")[0] for module in gauges.read(gauges.SOURCE)}
    warm, calls = everyday(1), everyday(2)
    return figures_of({name: walk(warm[name], calls[name], packages) for name in CALLS})


def figures_of(ran: dict[str, set[tuple[str, str]]]) -> dict[str, int]:
    """The figures, from the functions that each call runs."""
    return (
        {f"functions that `{name}` runs": len(functions) for name, functions in ran.items()}
        | {f"modules that `{name}` enters": len({m for m, _ in functions}) for name, functions in ran.items()}
        | {f"functions that `{a}` runs and `{b}` does not": len(ran[a] - ran[b]) for a, b in PAIRS}
    )

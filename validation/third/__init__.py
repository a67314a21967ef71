"""The third grid: situations that were chosen to hurt, a module per family.

A module holds the situations of one family in a list `SCENARIOS`; it is found by its file. Nobody may choose a method,
a prior or a threshold by these situations.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from ..trials import Scenario

MODULES = tuple(sorted(path.stem for path in Path(__file__).parent.glob("[a-z]*.py")))
FAMILIES: dict[str, list[Scenario]] = {name: import_module(f"{__name__}.{name}").SCENARIOS for name in MODULES}
SCENARIOS: list[Scenario] = [scenario for each in FAMILIES.values() for scenario in each]


def module_of(name: str) -> str:
    """The module that holds a situation."""
    return next(module for module, each in FAMILIES.items() if any(one.name == name for one in each))

"""The second grid: situations that no default was chosen on.

Nobody may look at these to choose a method, a prior, a switch or a threshold: that is what the first grid is for. A
module holds the scenarios of one subject; to add some, write a module with a list `SCENARIOS` and name it here.
"""

from __future__ import annotations

from importlib import import_module

from ..trials import Scenario

MODULES = ("shares", "domains", "classes", "scores", "systems", "phases")
SCENARIOS: list[Scenario] = [
    scenario for name in MODULES for scenario in import_module(f"{__name__}.{name}").SCENARIOS
]  # fmt: skip

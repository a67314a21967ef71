"""How the rows were drawn, and the variance of a sum over what was drawn.

`design` holds the value `Design`; `making` turns labels into one, `sampling` and `from_columns` names of columns.
`variance` answers the one question that inference asks of a design: the variance of a sum of unit influences, and its
degrees of freedom. `plan` is about the four levels of an evaluation, `facts` what a result keeps of its design.
"""

from __future__ import annotations

from strat.designs.design import Design
from strat.designs.facts import DesignFacts
from strat.designs.making import LONE, Population
from strat.designs.plan import KINDS, Plan

__all__ = ["KINDS", "LONE", "Design", "DesignFacts", "Plan", "Population"]


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)

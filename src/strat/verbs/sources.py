"""What an evaluation reads, what is asked of it, and what its measures rest on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from strat.data.cells import Cells
from strat.data.table import Table
from strat.designs import Design
from strat.designs.from_columns import GROUP
from strat.designs.sampling import Sampling
from strat.estimation import Estimate
from strat.measures.register import Measure
from strat.verbs.groups import Groups


@dataclass(frozen=True, eq=False)
class Sources:
    """A table and the roles of its columns, with the options that apply to its rows."""

    table: Table
    roles: Mapping[str, str | None]
    sampling: Sampling
    missing: str
    bins: int | None
    positive: object
    threshold: float | None = None

    @property
    def weights(self) -> str | None:
        """The column of weights, if there is one."""
        return self.sampling.weights


@dataclass(frozen=True)
class Split:
    """Which measures are to be had in groups, and the columns and roles that make these."""

    metrics: tuple[Measure, ...] = ()
    by: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()


@dataclass(frozen=True)
class Question:
    """How variance and degrees of freedom are computed, the target of inference, the level, and columns of groups."""

    method: str
    target: str | None
    level: float
    by: tuple[str, ...] = ()
    replicates: int | None = None
    df: str | float | None = None


@dataclass(frozen=True, eq=False)
class Basis:
    """What every measure of an evaluation rests on: cells, the design of their rows, and the estimates.

    Attributes
    ----------
    cells
        Distinct rows.
    design
        The design of the units.
    labels
        The labels of units and strata, for a look at them.
    estimates
        From the name of a measure to its estimate.
    groups
        From the name of a measure to its values in groups, for those that have them.
    strata
        The first measure in each stratum, where no groups were asked for.
    """

    cells: Cells
    design: Design
    labels: Mapping[str, Any]
    estimates: Mapping[str, Estimate]
    groups: Mapping[str, Groups]
    strata: Mapping[Any, Estimate] = field(default_factory=dict)


def named_roles(roles: Mapping[str, str | None], weights: str | None, by: Sequence[str]) -> dict[str, str]:
    """Which column played which role."""
    played: dict[str, str | None] = {}
    for role, name in roles.items():
        if not role.startswith(GROUP):
            before = played.get(role.split(":")[0])
            played[role.split(":")[0]] = name if before is None else f"{before}, {name}"
    every = {**played, "weights": weights, "by": ", ".join(by) or None}
    return {role: name for role, name in every.items() if name is not None}

"""Perturbed copies of a design: what `estimate` needs for a variance by replication."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from strat.base.errors import StratError
from strat.base.result import in_notebooks
from strat.base.text import counted
from strat.base.validate.columns import Array, Codes
from strat.designs import Design, DesignFacts
from strat.designs.facts import GIVEN
from strat.replication.methods import Method, MethodKind
from strat.replication.operators import (
    LeaveOneOut,
    Operator,
    blocks,
)

MOST_BLOWN_UP = 4.0 + 1e-9  # Fay's rho of a half; beyond it a quantile's variance was 1.4 to 6 times the true one


@in_notebooks
@dataclass(frozen=True, eq=False)
class Replicates:
    """Perturbed copies of a design: what `estimate` needs for a variance by replication.

    Attributes
    ----------
    design
        The design that they perturb.
    method
        How they were made: a kind and a name.
    operator
        The rule from unit totals to replicate totals.
    scales
        One scale for all replicates, or one for each.
    df
        Degrees of freedom: the design's (number of strata for half-samples; they agree at two units).
    array
        Which array was used, in words.
    seed
        The random seed, if one was used.
    mse
        Whether deviations are taken from the full-sample value (True), or from the mean of the replicates.
    """

    design: Design
    method: Method
    operator: Operator
    scales: float | Array
    df: float
    array: str = ""
    seed: int | None = None
    mse: bool = True

    @property
    def number(self) -> int:
        """Number of replicates k."""
        return self.operator.number

    @property
    def facts(self) -> DesignFacts:
        """What is known of the design: of given replicates of rows in no units and strata, these are all there is."""
        known = self.design.facts
        if self.method.kind is not MethodKind.GIVEN or known.kind != "simple random":
            return known
        return replace(known, kind=GIVEN, replicates=self.number, df=self.df)

    @property
    def consistent_for_quantiles(self) -> bool:
        """Whether replicate values of a quantile show its variance.

        The scales add up to the factor by which squared deviations are blown up: 1 for half-samples and the bootstrap,
        1 / (1 - rho)^2 with Fay's rho, units - strata for a jackknife. The less the replicates move, the more of a
        quantile's deviation is the step from one observed value to the next, and it is blown up, too.
        """
        blown_up = float(np.sum(np.broadcast_to(self.scales, self.number)))
        return not isinstance(self.operator, LeaveOneOut) and blown_up <= MOST_BLOWN_UP

    def about_mean(self) -> Replicates:
        """The same replicates, with deviations taken from their mean: R's ``mse = FALSE``, which is never larger."""
        return replace(self, mse=False)

    def centre(self, values: Array, point: Array) -> Array:
        """What the values of the replicates (replicates first) deviate from: the full sample's, or their mean."""
        if self.mse:
            return point
        counted_in = np.broadcast_to(self.scales, self.number) > 0
        return np.asarray(values[counted_in].mean(axis=0))

    def totals(self, unit_totals: ArrayLike) -> Array:
        """Replicate totals (replicates × components) of unit totals (units × components)."""
        t = np.asarray(unit_totals, float)
        if t.ndim != 2 or len(t) != self.design.n_units:
            raise StratError.about(
                "unit_totals", f"must have one row per unit ({self.design.n_units}), got shape {t.shape}."
            )
        return self.operator.totals(t)

    def factors(self, start: int = 0, stop: int | None = None) -> Array:
        """Dense factors, replicates × units: multiply a unit's weight by them."""
        return self.operator.factors(start, self.number if stop is None else min(stop, self.number))

    def row_factors(self) -> Array:
        """Dense factors for every row, replicates × rows, for other software."""
        parts = [self.factors(a, b)[:, self.design.unit] for a, b in blocks(self.number, len(self.design))]
        return np.concatenate(parts)

    def __str__(self) -> str:
        """The replicates in one line."""
        text = f"{self.method}: {counted(self.number, 'replicate')}"
        if self.array:
            text += f" from {self.array}"
        if self.seed is not None:
            text += f", seed {self.seed}"
        return f"{text}, {counted(self.df, 'degree of freedom', 'g')}"

    def __repr__(self) -> str:
        """The line in angle brackets."""
        return f"<Replicates {self}>"


def usable_sizes(design: Design) -> Codes:
    """Units of each stratum, or an error where replicates cannot stand for the design."""
    if design.kind == "systematic":
        raise StratError.about(
            "design", "must have strata for replication, got a systematic one; use design.paired() first."
        )
    if design.layout is not None:
        raise StratError.about(
            "design",
            f"must be of units in strata for replication, got a {design.kind} one; its closed form "
            "(on=design) is the way.",
        )
    if design.lone in ("centre", "average"):
        raise StratError.about(
            "lone",
            f"must be 'collapse' or 'certainty' for replication, got {design.lone!r}: a replicate has nothing "
            "to compare the only unit of a stratum with; linearization (on=design) can.",
        )
    if design.item is not None and (design.fraction > 0).any():
        raise StratError.about(
            "items",
            "with population sizes must be estimated in closed form (on=design), got replicates: the variation "
            "between repeats is a second stage that replicates of whole units don't see.",
        )
    return design.sizes

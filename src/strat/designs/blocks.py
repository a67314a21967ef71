"""Blocks: units that were each seen under fixed kinds (pose, lighting, prompt template, sensor).

Kinds are no draws from a pool: what they differ by, and what units differ by, is no error of a value that is about
these units and these kinds. What is left, the unit's own behaviour under a kind, is (two-way analysis of variance, one
cell each; Cochran and Cox 4.2).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy

from strat.base.errors import StratError
from strat.base.notes import Note
from strat.base.text import counted
from strat.base.validate.columns import Array, Codes
from strat.designs.facts import LayoutFacts
from strat.designs.layout import sums

SWEEPS, SETTLED = 500, 1e-12  # of the fit by units and kinds in turn
FEW_STRATA = 5  # below so many they are not compared with their units
SURE = 0.005  # chance of a difference between units and strata as large, from which on it is spoken of


@dataclass(frozen=True, eq=False)
class Blocks:
    """Lines that are cells of units and fixed kinds.

    Attributes
    ----------
    unit, kind
        For each line, which ones it belongs to.
    """

    unit: Codes
    kind: Codes

    @property
    def groupings(self) -> Mapping[str, Codes]:
        """The cells: neither units nor kinds were drawn."""
        return {"cell": np.arange(len(self.unit))}

    @cached_property
    def sizes(self) -> tuple[int, int]:
        """Number of units and of kinds."""
        return int(self.unit.max()) + 1, int(self.kind.max()) + 1

    @property
    def nominal_df(self) -> float:
        """Cells less units and kinds."""
        return float(len(self.unit) - sum(self.sizes) + 1)

    def deviations(self, influence: Array, weights: Array) -> Array:
        """What is left of the influences without the effects of units and kinds, in the cells that weigh something."""
        cells, left = self._left(weights)
        safe = np.where(weights > 0, weights, 1.0)
        y = np.where((weights > 0)[:, None], influence / safe[:, None], 0.0)
        for _ in range(SWEEPS):
            before = y
            for codes, number in zip((self.unit, self.kind), self.sizes, strict=True):
                whole = np.bincount(codes, weights, minlength=number)
                whole[whole == 0] = 1.0
                y = y - (sums(codes, y * weights[:, None], number) / whole[:, None])[codes]
            if np.abs(y - before).max(initial=0.0) <= SETTLED * max(np.abs(y).max(initial=0.0), 1e-300):
                break
        return np.asarray(y * weights[:, None] * np.sqrt(cells / left))

    def degrees_of_freedom(self, influence: Array, weights: Array) -> Array:
        """Cells less units and kinds."""
        return np.full(influence.shape[1], self._left(weights)[1])

    def _left(self, weights: Array) -> tuple[float, float]:
        """The cells that weigh something, and these less their units and kinds."""
        held = weights > 0
        cells = float(held.sum())
        units, kinds = (len(np.unique(codes[held])) for codes in (self.unit, self.kind))
        return cells, max(cells - units - kinds + 1.0, 1.0)

    def notes(self, influence: Array, weights: Array) -> tuple[Note, ...]:
        """Nothing."""
        return ()

    @property
    def facts(self) -> LayoutFacts:
        """What was drawn, and what the estimate is about."""
        units, kinds = self.sizes
        target = f"these {counted(units, 'unit')} and these {counted(kinds, 'kind')}, fixed, and their other occasions"
        words = f"{counted(units, 'unit')} × {counted(kinds, 'kind')}"
        return LayoutFacts((("unit", units), ("kind", kinds)), words, target)


def blocks(unit: Codes, kind: Codes) -> Blocks:
    """The layout of cells, of which some must be left for the variance."""
    layout = Blocks(unit, kind)
    if min(layout.sizes) < 2 or layout.nominal_df < 1:
        units, kinds = layout.sizes
        raise StratError.about(
            "kinds",
            f"must be at least two, each seen in several units, got {counted(len(unit), 'cell')} of "
            f"{counted(units, 'unit')} and {counted(kinds, 'kind')}.",
        )
    return layout


def fixed_kinds(influence: Array, stratum: Codes, copies: Array) -> tuple[Note, ...]:
    """That units of a stratum differ more than strata do, which draws from one pool would not.

    Under independent draws the mean square within strata is no larger than that between them. A line may stand for
    several equal units, `copies`, whose influences it adds up.
    """
    sizes = np.bincount(stratum, copies)
    number, drawn = len(sizes), float(sizes.sum())
    if number < FEW_STRATA or sizes.min() < 2:
        return ()
    z = influence[:, 0] / copies
    means = np.bincount(stratum, influence[:, 0]) / sizes
    within = float((copies * (z - means[stratum]) ** 2).sum()) / (drawn - number)
    between = float((sizes * (means - influence.sum() / drawn) ** 2).sum()) / (number - 1)
    if within <= 0:
        return ()
    ratio = within / between if between > 0 else np.inf
    if scipy.special.fdtrc(drawn - number, number - 1, ratio) > SURE:
        return ()
    return (Note("fixed-kinds", {"ratio": float(ratio)}),)

"""Staged designs: units were drawn, then units within these, and so on, from finite populations at every stage.

The variance is a term for each stage (Cochran 11.4; Särndal, Swensson and Wretman 4.4): what units of the first stage
vary by, minus what was seen of them, and of the part that was seen, what units of the second vary by.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from strat.base.errors import StratError, plain, some
from strat.base.notes import Note
from strat.base.text import counted
from strat.base.validate.columns import Array, Codes, numbers
from strat.designs.facts import LayoutFacts
from strat.designs.layout import bessel, satterthwaite, spread_of_squares, sums


@dataclass(frozen=True, eq=False)
class Stage:
    """Units of one stage.

    Attributes
    ----------
    name
        What they are called.
    unit
        For each line, its unit.
    parent
        For each unit, the unit of the stage before (or the stratum) that it was drawn from.
    fraction
        For each parent, the share of its units that was drawn.
    """

    name: str
    unit: Codes
    parent: Codes
    fraction: Array

    @cached_property
    def sizes(self) -> Codes:
        """Units of each parent."""
        return np.bincount(self.parent, minlength=len(self.fraction))

    @property
    def single(self) -> Codes:
        """Parents with one unit of which more could have been drawn."""
        return np.flatnonzero((self.sizes == 1) & (self.fraction < 1))


@dataclass(frozen=True, eq=False)
class Stages:
    """Lines that are units of the last stage."""

    stages: tuple[Stage, ...]

    @property
    def groupings(self) -> Mapping[str, Codes]:
        """The units of the first stage."""
        return {self.stages[0].name: self.stages[0].unit}

    @property
    def deciding(self) -> Stage:
        """The first stage that was not seen whole, whose units the degrees of freedom count."""
        return next((stage for stage in self.stages if (stage.fraction < 1).any()), self.stages[0])

    @property
    def nominal_df(self) -> float:
        """Units of the deciding stage minus what they were drawn from, as R has it."""
        stage = self.deciding
        drawn = stage.fraction < 1
        return float((stage.sizes[drawn] - 1).sum() if drawn.any() else (stage.sizes - 1).sum())

    def deviations(self, influence: Array, weights: Array) -> Array:
        """A term for each stage."""
        lines, seen = [], np.ones(len(self.stages[0].fraction))
        for stage in self.stages:
            totals = sums(stage.unit, influence, len(stage.parent))
            n, f = stage.sizes, stage.fraction
            means = sums(stage.parent, totals, len(n)) / n[:, None]
            scale = np.sqrt(seen * (1.0 - f) * bessel(n))
            lines.append((totals - means[stage.parent]) * scale[stage.parent][:, None])
            seen = (seen * f)[stage.parent]
        return np.concatenate(lines)

    def degrees_of_freedom(self, influence: Array, weights: Array) -> Array:
        """Those of units that vary by as much as they weigh: the squared mean of their variance over its variance.

        A unit weighs what a row of each of its lines weighs that can move the output; of all lines, where none does.
        Without strata the mean follows the heaviest units: one less than (Σ w²)² / Σ w⁴ at most.
        """
        stage, nominal = self.deciding, max(self.nominal_df, 1.0)
        moving = influence != 0
        each = sums(stage.unit, weights[:, None] * (moving | ~moving.any(axis=0)), len(stage.parent))
        squares = (each / np.maximum(each.max(axis=0), np.finfo(float).tiny)) ** 2
        first, second = (sums(stage.parent, squares**power, len(stage.fraction)) for power in (1, 2))
        n, unseen = stage.sizes[:, None].astype(float), np.where(stage.sizes > 1, 1.0 - stage.fraction, 0.0)[:, None]
        spread = (unseen**2 * spread_of_squares(first, second, n)).sum(axis=0)
        df = satterthwaite((unseen * first).sum(axis=0), spread, nominal)
        if len(stage.fraction) == 1:
            df = np.minimum(df, first[0] ** 2 / second[0] - 1.0)
        return np.minimum(nominal, np.maximum(df, 1.0))

    def notes(self, influence: Array, weights: Array) -> tuple[Note, ...]:
        """Parents with one unit after the first stage, which show no variation."""
        if not (self.stages[0].fraction > 0).any():
            return ()
        return tuple(
            Note("single-stage-unit", {"n": len(stage.single), "parent": parent.name, "unit": stage.name})
            for parent, stage in pairwise(self.stages)
            if len(stage.single)
        )

    @property
    def facts(self) -> LayoutFacts:
        """What was drawn, and what the estimate is about."""
        parts = tuple((stage.name, len(stage.parent)) for stage in self.stages)
        words = " in ".join(f"{counted(number, 'unit')} {name!r}" for name, number in reversed(parts))
        strata = len(self.stages[0].fraction)
        if strata > 1:
            words += f" in {counted(strata, 'stratum')}"
        limited = [stage.name for stage in self.stages if (stage.fraction > 0).any()]
        finite = f", finitely many at {' and '.join(map(repr, limited))}" if limited else ""
        stages = counted(len(self.stages), "stage")
        return LayoutFacts(parts, words, f"the population that these units were drawn from in {stages}{finite}")


def stages(units: Mapping[str, Codes], stratum: Codes, population: Mapping[str, Array]) -> tuple[Codes, Stages, Array]:
    """The line of each row, the layout of the lines, and what each row weighs if populations are known.

    `units` holds the units of the rows at each stage, first stage first; `population` how many units the parent of each
    row has, for the stages where that is finite.
    """
    parent, strata = stratum, int(stratum.max()) + 1
    parts: list[tuple[str, Codes, Codes, Array]] = []
    weights = np.ones(len(stratum))
    number = strata
    for name, codes in units.items():
        key, unit = np.unique(parent * (int(codes.max()) + 1) + codes, return_inverse=True)
        home = key // (int(codes.max()) + 1)
        drawn = np.bincount(home, minlength=number)
        whole = _whole(name, population.get(name), parent, drawn)
        parts.append((name, unit, home, drawn / whole))
        weights = weights * np.where(np.isfinite(whole), whole / drawn, 1.0)[parent]
        parent, number = unit.astype(np.int64), len(key)
    last = parts[-1][1]
    first = np.zeros(number, np.int64)
    first[last] = np.arange(len(last))
    layout = Stages(tuple(Stage(name, unit[first], home, f) for name, unit, home, f in parts))
    _refuse_single(layout.stages[0], strata)
    return parent, layout, weights


def _refuse_single(stage: Stage, strata: int) -> None:
    if len(stage.single):
        where = "" if strata == 1 else " in every stratum"
        raise StratError.about(
            "stages",
            f"must have at least two units of {stage.name!r}{where}, got one: their variation cannot be estimated.",
        )


def _whole(name: str, population: Array | None, parent: Codes, drawn: Codes) -> Array:
    """How many units each parent has in the population."""
    whole = np.full(len(drawn), np.inf)
    if population is None:
        return whole
    whole[parent] = population
    if (whole[parent] != population).any():
        raise StratError.about(
            "population", f"of {name!r} must be the same for all rows drawn from one unit, got several."
        )
    if not (whole >= drawn).all():
        bad = np.flatnonzero(~(whole >= drawn))
        raise StratError.about(
            "population",
            f"of {name!r} must be at least the number of units drawn, got {some(whole[bad])} for "
            f"{plain(drawn[bad[0]])} drawn.",
        )
    return whole


def sizes(name: str, whole: ArrayLike | float, number: int) -> Array:
    """Population sizes of a stage: one number, or one for each row."""
    array = numbers(f"population[{name!r}]", np.atleast_1d(np.asarray(whole)), finite=False)
    if array.shape not in ((1,), (number,)):
        raise StratError.about(
            "population", f"of {name!r} must be one number or one for each row ({number}), got {array.size} values."
        )
    return array

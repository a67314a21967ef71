"""Estimates from cells whose rows are the units: the same numbers as row by row, from a few cells.

Row i of stratum h has the influence z_i = w_i e_i (STRAT 6; Taylor), and rows of one cell share theirs, so that
``sum_h (1 - f_h) n_h / (n_h - 1) sum_i (z_i - mean z_h)^2`` is a sum over cells with their numbers of rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.columns import Array, encode
from strat.designs import Design
from strat.errors import StratError, some
from strat.estimation import Estimate, cautions, estimate, linear
from strat.estimation.totals import totals
from strat.statistics import Statistic
from strat.tables.reduce import Cells
from strat.words import counted

Population = float | Mapping[Any, float] | None


class RowDesign:
    """A simple random or stratified sample of rows, held as cells.

    Attributes
    ----------
    cells
        Distinct rows; every row of a cell has the same weight.
    pseudo
        A design of the cells that gives values and simple-random variances, never a standard error.
    """

    def __init__(self, cells: Cells, population: Population, lone: str) -> None:
        self.cells, self.lone = cells, lone
        strata = cells.columns.get("strata")
        codes, labels = (
            (np.zeros(len(cells), np.int64), np.array(["all"])) if strata is None else encode("strata", strata)
        )
        self.stratum, self.labels = codes, labels
        self.sizes = np.bincount(codes, cells.counts, minlength=len(labels)).astype(float)
        self.population = self._population(population)
        row_weight = self._row_weight(population)
        self.row_weight = row_weight
        self.pseudo = Design.stratified(
            np.zeros(len(cells), np.int64) if strata is None else strata,
            weights=row_weight * cells.counts,
            counts=cells.counts,
            lone="certainty",
        )
        self._check_lone()

    def _population(self, population: Population) -> Array:
        if population is None:
            return np.full(len(self.labels), np.inf)
        if isinstance(population, Mapping):
            known = Design.stratified(self.labels, population=dict(population), lone="certainty").population
            made = np.asarray(known, float)
        else:
            made = np.full(len(self.labels), float(population))
        if (made > 1e100).any():
            raise StratError(f"`population` must be at most 1e100, got {made.max():g}; leave it out instead.")
        if not (made >= self.sizes).all():
            h = int(np.flatnonzero(~(made >= self.sizes))[0])
            raise StratError(
                f"`population` must be at least the number of rows drawn, got {made[h]:g} for stratum "
                f"{self.labels[h]!s} with {self.sizes[h]:g}."
            )
        return made

    def _row_weight(self, population: Population) -> Array:
        weights = self.cells.columns.get("weights")
        if weights is not None:
            return np.asarray(weights, float)
        if population is not None:
            return (self.population / self.sizes)[self.stratum]  # STRAT (1)
        return np.ones(len(self.cells))

    def _check_lone(self) -> None:
        alone = (self.sizes == 1) & (self.population > 1)
        if alone.any() and self.lone not in ("certainty",):
            raise StratError(
                f"`strata` must have at least two rows each, got one in {some(self.labels[alone])}; choose "
                "lone='certainty' (it was sure to be drawn) or 'collapse' (join with the next stratum)."
            )

    @property
    def df(self) -> float:
        """Rows less strata (a stratum seen whole adds none, unless all are)."""
        drawn = self.population > self.sizes
        counted = (self.sizes > 1) & (drawn if drawn.any() else True)
        return float((self.sizes - 1)[counted].sum())

    @property
    def summary(self) -> str:
        """The design in one line."""
        n, h = self.sizes.sum(), len(self.labels)
        rows, df = counted(n, "row", ",.0f"), counted(self.df, "degree of freedom", ",.0f")
        if h == 1:
            return f"simple random: {rows} in {counted(n, 'unit', ',.0f')}; {df}"
        each = f"{self.sizes.min():,.0f} to {self.sizes.max():,.0f}"
        return f"stratified: {rows} in {counted(n, 'unit', ',.0f')} in {counted(h, 'stratum')} of {each}; {df}"

    @property
    def target(self) -> str:
        """What the estimate answers for."""
        whole = self.population == self.sizes
        if whole.all():
            return f"these very {counted(self.sizes.sum(), 'row', ',.0f')}, all of them"
        limited = " (finitely many)" if np.isfinite(self.population).any() else ""
        if len(self.labels) == 1:
            return f"the population of rows that these {self.sizes.sum():,.0f} were drawn from{limited}"
        return f"these {len(self.labels)} strata, fixed, and the rows in them that these were drawn from{limited}"

    def estimate(self, statistic: Statistic) -> Estimate:
        """The statistic with the closed-form standard error of independent rows."""
        df = self._df(statistic)
        made = estimate(statistic, on=self.pseudo, df=max(df, 1e-9))
        sums = totals(statistic, self.pseudo.weights)
        slope = linear.gradient(statistic, sums, self.pseudo.weights)
        influence = linear.row_influence(statistic, slope) * self.row_weight[:, None]
        spread = self._deviations(influence).reshape(len(self.cells), *made.point.shape)
        each = spread / np.sqrt(self.cells.counts).reshape(-1, *[1] * made.point.ndim)
        return replace(
            made,
            spread=spread,
            scales=1.0,
            variance=np.asarray((spread**2).sum(axis=0)),
            df=df,
            notes=cautions.notes_on_rows(statistic, self.df, df, each, self.cells.counts),
            worth=self._worths(statistic, sums),
            design=self.summary,
            target=self.target,
        )

    def _df(self, statistic: Statistic) -> float:
        """As for rows one by one: of values that look at different rows, the least that is known about any."""
        if statistic.domains is not None:
            return max(1.0, min(self._rows_in(view) for view in statistic.domains))
        if statistic.domain is not None:
            return self._rows_in(statistic.domain)
        weight = self.row_weight * np.sqrt(1.0 - self.sizes / self.population)[self.stratum]
        return linear.usual_df(self.df, linear.effective_units(weight, self.stratum, self.cells.counts, self.df))

    def _rows_in(self, domain: NDArray[np.bool_] | None) -> float:
        """Rows less strata that a domain reaches; a stratum seen whole adds none, unless all are."""
        if domain is None:
            return self.df
        inside = np.bincount(self.stratum, self.cells.counts * domain, minlength=len(self.labels))
        drawn = self.population > self.sizes
        inside = inside * drawn if inside[drawn].any() else inside
        return float(inside.sum() - (inside > 0).sum())

    def _deviations(self, influence: Array) -> Array:
        counts, number = self.cells.counts, len(self.labels)
        sums = np.stack([np.bincount(self.stratum, counts * z, minlength=number) for z in influence.T], axis=1)
        means = sums / self.sizes[:, None]
        ratio = np.divide(self.sizes, self.sizes - 1, out=np.zeros(number), where=self.sizes > 1)
        scale = (ratio * (1.0 - self.sizes / self.population))[self.stratum] * counts
        return np.asarray((influence - means[self.stratum]) * np.sqrt(scale)[:, None])

    def _worths(self, statistic: Statistic, sums: Array) -> Array | float:
        """What the exact interval of each value may count on; values that look at the same rows count on the same."""
        return linear.worth_of_values(statistic, [self._worth(view) for view in statistic.views], sums)

    def _worth(self, domain: NDArray[np.bool_] | None) -> tuple[float, float]:
        """The same for all rows of a domain, and what they weigh."""
        counts = self.cells.counts if domain is None else self.cells.counts * domain
        mass = self.row_weight * counts
        share = (self.sizes / self.population)[self.stratum]
        known = 1.0 - float((mass * share).sum() / mass.sum())
        kish = float(mass.sum() ** 2 / (self.row_weight**2 * counts).sum())
        return kish / known if known > 0 else np.inf, float(mass.sum())

    def expanded(self, most: int) -> tuple[Design, NDArray[np.intp]]:
        """The same design row by row, and the cell of each row, for replicate methods."""
        n = int(self.sizes.sum())
        if n > most:
            raise StratError(
                f"`method` must be 'taylor' for {n:,} rows without units, or give `units`; replicates of so many "
                "single rows would not fit."
            )
        rows = np.repeat(np.arange(len(self.cells)), self.cells.counts.astype(np.int64))
        population = dict(zip(self.labels.tolist(), self.population.tolist(), strict=True))
        limited = population if np.isfinite(self.population).all() else None
        if len(self.labels) == 1:
            design = Design.simple_random(
                n, weights=self.row_weight[rows], population=None if limited is None else float(self.population[0])
            )
        else:
            design = Design.stratified(
                self.labels[self.stratum[rows]], weights=self.row_weight[rows], population=limited, lone=self.lone
            )
        return design, rows

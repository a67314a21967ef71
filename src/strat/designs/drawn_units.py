"""The units that were drawn: what is kept of a design, and what others ask of it."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from strat.base.errors import StratError, one_of, plain, some
from strat.base.validate.columns import Array, Codes
from strat.designs.facts import DesignFacts
from strat.designs.layout import Layout
from strat.designs.lines import DesignLines
from strat.designs.making import LONE
from strat.designs.plan import KINDS, Plan


@dataclass(frozen=True, eq=False)
class DrawnUnits:
    """Rows in units, units in strata, with weights and population sizes.

    The fields are described at :class:`Design`.
    """

    kind: str
    unit: Codes
    stratum: Codes
    weights: Array
    unit_labels: NDArray[Any]
    stratum_labels: NDArray[Any]
    population: Array
    item: Codes | None = None
    counts: Array | None = None
    multiplicity: Array | None = None
    lone: str = "error"
    plan: Plan | None = None
    labelled: bool = True
    layout: Layout | None = None
    joined: Codes | None = None
    notes: tuple[str, ...] = field(default=())
    columns: Mapping[str, str] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        """Check what a direct construction or a change could have broken."""
        one_of("kind", self.kind, KINDS)
        one_of("lone", self.lone, LONE)
        sizes = self.sizes
        if (self.population < sizes).any():
            h = int(np.flatnonzero(self.population < sizes)[0])
            raise StratError.about(
                "population",
                f"must be at least the number of units drawn, got {plain(self.population[h])} "
                f"for stratum {plain(self.stratum_labels[h])!r} with {sizes[h]} units.",
            )
        if self.lone == "error" and self.kind != "systematic" and self.layout is None:
            self._refuse_lone(sizes)
        for array in (self.unit, self.stratum, self.weights, self.population):
            array.flags.writeable = False

    def _refuse_lone(self, sizes: Codes) -> None:
        lone = np.flatnonzero((sizes == 1) & (self.population > 1))
        if not len(lone):
            return
        if len(sizes) == 1 and self.single_rows:
            raise StratError(
                "at least two rows must be there, got one: the variation between rows cannot be estimated."
            )
        if len(sizes) == 1:
            raise StratError.about(
                "units",
                "must name at least two units, got one: the variation between units cannot be estimated; "
                "name a smaller unit, or strata within it.",
            )
        raise StratError.about(
            "strata",
            f"must have at least two units each, got one in {some(self.stratum_labels[lone])}; choose "
            "lone='collapse' (join with the next stratum), 'certainty' (drawn with certainty), "
            "'centre' (compare with all units) or 'average' (as variable as the others).",
        )

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.unit)

    @property
    def lines(self) -> int:
        """Number of distinct units that are kept: as many as were drawn, but for equal ones that share a line."""
        return len(self.stratum)

    @property
    def n_units(self) -> int:
        """Number of units drawn."""
        return self.lines if self.multiplicity is None else round(float(self.multiplicity.sum()))

    @cached_property
    def n_held(self) -> int:
        """Number of units drawn that hold rows here: in the design of a domain, those that it reaches."""
        return round(float(self._held.sum()))

    @cached_property
    def _held(self) -> Array:
        """Units of each stratum that hold rows here."""
        if self.rows_in_order:
            return self.sizes.astype(float)
        held = np.bincount(self.unit, minlength=self.lines) > 0
        return self.by_stratum(self.copies * held)

    @cached_property
    def copies(self) -> Array:
        """For each line, how many equal units it stands for."""
        return np.ones(self.lines) if self.multiplicity is None else self.multiplicity

    @property
    def n_strata(self) -> int:
        """Number of strata."""
        return len(self.stratum_labels)

    @cached_property
    def sizes(self) -> Codes:
        """Number of units drawn in each stratum, n_h."""
        if self.multiplicity is None and self.n_strata == 1:
            return np.array([self.lines])
        drawn = np.bincount(self.stratum, self.multiplicity, minlength=self.n_strata)
        return np.rint(drawn).astype(np.int64)

    @cached_property
    def starts(self) -> Codes:
        """Index of the first line of each stratum."""
        lines = self.sizes if self.multiplicity is None else np.bincount(self.stratum, minlength=self.n_strata)
        return np.cumsum(lines) - lines

    @cached_property
    def fraction(self) -> Array:
        """Sampling fraction of each stratum, f_h = n_h / N_h (0 where the population is unlimited)."""
        return self.sizes / self.population

    @cached_property
    def df(self) -> float:
        """Degrees of freedom: units minus strata (a stratum seen whole, or of one unit, adds none)."""
        if self.layout is not None:
            return self.layout.nominal_df
        drawn = self.fraction < 1
        if self.item is not None or not drawn.any():  # all that varies is inside the units
            return int(self.n_units - self.n_strata)
        return int((self.sizes - 1)[drawn].sum())

    @cached_property
    def rows_are_units(self) -> bool:
        """Whether every row is a unit of its own, or the sum of equal ones; a domain may have as many empty lines."""
        return self.lines == len(self.unit) and bool((np.bincount(self.unit, minlength=self.lines) == 1).all())

    @property
    def single_rows(self) -> bool:
        """Whether every unit that was drawn is one original row."""
        return self.n_units == self.size

    @cached_property
    def holds_single_rows(self) -> bool:
        """Whether no unit holds more than one row here: in the design of a domain, of the units that it reaches."""
        return bool((self.line_rows <= self.copies).all())

    @cached_property
    def equal_rows(self) -> bool:
        """Whether the units are independent single rows of equal weight, without strata, which no layout relates."""
        alone = self.n_strata == 1 and self.multiplicity is None and self.counts is None and self.item is None
        return alone and self.layout is None and self.rows_are_units and bool((self.weights == self.weights[0]).all())

    @cached_property
    def in_order(self) -> bool:
        """Whether the rows stand in the order of their units."""
        return bool((self.unit[1:] >= self.unit[:-1]).all())

    @property
    def rows_in_order(self) -> bool:
        """Whether row i is line i."""
        return self.rows_are_units and self.in_order

    def by_line(self, amounts: Array) -> Array:
        """Sums over the rows of each line."""
        if self.rows_in_order:
            return np.asarray(amounts, float)
        return np.bincount(self.unit, amounts, minlength=self.lines).astype(float, copy=False)

    @cached_property
    def line_weights(self) -> Array:
        """What each line weighs."""
        return self.by_line(self.weights)

    @cached_property
    def rows_per_weight(self) -> Array:
        """Rows of each line over their weight (0 where they weigh nothing)."""
        mass = self.line_weights
        return np.divide(self.line_rows, mass, out=np.zeros(self.lines), where=mass > 0)

    @cached_property
    def line_rows(self) -> Array:
        """Rows of each line."""
        return self.by_line(np.ones(len(self.unit)) if self.counts is None else self.counts)

    @cached_property
    def as_lines(self) -> DesignLines:
        """The lines, ready for sums over them."""
        return DesignLines(self)

    def by_stratum(self, amounts: Array) -> Array:
        """Sums over the lines of each stratum."""
        if self.n_strata == 1:
            return np.array([amounts.sum()], float)
        return np.bincount(self.stratum, amounts, minlength=self.n_strata).astype(float, copy=False)

    @property
    def size(self) -> float:
        """Number of original rows."""
        return float(len(self.unit)) if self.counts is None else float(self.counts.sum())

    @cached_property
    def facts(self) -> DesignFacts:
        """What is known of the design, counted."""
        held = np.rint(self._held).astype(np.int64)
        return DesignFacts(
            kind=self.kind,
            rows=self.size,
            units=self.n_held,
            drawn=self.n_units,
            strata=self.n_strata,
            fewest=int(held.min()),
            most=int(held.max()),
            items=self._repeated,
            df=self.df
            if self.n_held == self.n_units or self.layout is not None
            else round(self._held.sum() - (self._held > 0).sum()),
            census=bool((self.fraction == 1).all()),
            finite=bool(np.isfinite(self.population).any()),
            layout=None if self.layout is None else self.layout.facts,
            plan=self.plan,
            remarks=self.notes,
            nouns=self.nouns,
        )

    @property
    def _repeated(self) -> int:
        """Number of items if some of them are repeated."""
        items = 0 if self.item is None else int(self.item.max()) + 1
        return items if self.size > items else 0

    def named(self, columns: Mapping[str, str]) -> Self:
        """The same design, made of these columns: its units, strata and items are called as they are."""
        same = copy(self)
        object.__setattr__(same, "columns", columns)
        return same

    @property
    def nouns(self) -> Mapping[str, str]:
        """What names the units, strata and items in notes: the columns that they come from; rows are rows."""
        return {"unit": "row", **self.columns} if self.single_rows else self.columns

    @property
    def target(self) -> str:
        """The target of inference: what is fixed and what was sampled."""
        return self.facts.target

    @property
    def summary(self) -> str:
        """The design in one line, with what was counted."""
        return str(self.facts)

    def __str__(self) -> str:
        """The summary."""
        return self.summary

    def __repr__(self) -> str:
        """The summary in angle brackets: the arrays are long."""
        return f"<Design {self.summary}>"

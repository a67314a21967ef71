"""Sums over lines: those of one design, on which all values rest, and those of domains, each with lines of its own.

Formulas of variances, degrees of freedom and shares are written once, with these sums.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from strat.base.validate.columns import Array, Codes

if TYPE_CHECKING:
    from strat.designs.drawn_units import DrawnUnits


class DesignLines:
    """The lines of one design: arrays are lines × values and strata × values.

    Attributes
    ----------
    copies
        How many equal units each line stands for (a single 1 where each is a unit).
    sizes, unseen
        Units drawn in each stratum, and the share of its population that was not.
    strata
        Number of strata.
    one_stratum
        Whether there are no strata.
    items
        Whether rows are tries of items, so that a stratum seen whole still varies.
    known_df
        Degrees of freedom that the layout of the design gives (None: units less strata).
    """

    def __init__(self, design: DrawnUnits) -> None:
        self.copies = np.ones((1, 1)) if design.multiplicity is None else design.copies[:, None]
        self.sizes = design.sizes.astype(float)[:, None]
        self.unseen, self.strata = (1.0 - design.fraction)[:, None], np.array(design.n_strata)
        self.one_stratum = design.n_strata == 1
        self.items = design.item is not None
        self.known_df = None if design.layout is None else design.layout.nominal_df
        self._stratum, self._starts = design.stratum, design.starts

    def joined(self, copies: Array) -> DesignLines:
        """The lines of a design without strata, equal ones joined, where each then stands for so many units."""
        same = copy(self)
        same.copies = copies[:, None]
        return same

    def by_stratum(self, of_lines: Array) -> Array:
        """Sums over the lines of each stratum."""
        if self.one_stratum:
            return np.add.reduce(of_lines, axis=0, keepdims=True)
        return np.add.reduceat(of_lines, self._starts, axis=0)

    def on_lines(self, of_strata: NDArray[np.generic]) -> Array:
        """For each line what its stratum has (once, for all lines, where there are no strata)."""
        return np.asarray(of_strata if self.one_stratum else of_strata[self._stratum])

    def total(self, of_strata: NDArray[Any]) -> Array:
        """Sums over the strata, or the lines, of each value."""
        return np.add.reduce(of_strata, axis=0)

    sum = total

    def largest(self, of_lines: Array) -> Array:
        """The largest over the lines of each value."""
        return np.maximum.reduce(of_lines, axis=0)

    def beside_lines(self, of_values: NDArray[Any]) -> NDArray[Any]:
        """Numbers of values, to stand beside those of lines: values are columns."""
        return of_values

    beside_strata = beside_lines

    def ranks(self, of_strata: Array) -> Codes:
        """The place of each stratum among those of its value, by rising numbers."""
        return np.asarray(of_strata.argsort(axis=0).argsort(axis=0))


@dataclass(frozen=True, eq=False)
class DomainLines:
    """The lines of many domains one after the other, by stratum within each: every array is flat, values are domains.

    Attributes
    ----------
    stratum, domain
        For each line its stratum, for each stratum its domain, both counted through.
    copies, sizes, unseen, items
        As those of a design.
    """

    stratum: Codes
    domain: Codes
    copies: Array
    sizes: Array
    unseen: Array
    items: bool = False
    known_df: ClassVar[float | None] = None

    @cached_property
    def of_lines(self) -> Codes:
        """For each line its domain."""
        return np.asarray(self.domain[self.stratum])

    @cached_property
    def _starts(self) -> tuple[Codes, Codes, Codes]:
        """Where strata start among lines, domains among strata, and domains among lines."""
        first, second, third = (_starts(codes) for codes in (self.stratum, self.domain, self.of_lines))
        return first, second, third

    @property
    def strata(self) -> Codes:
        """Number of strata of each domain."""
        return np.bincount(self.domain)

    @property
    def one_stratum(self) -> bool:
        """Whether no domain has strata."""
        return len(self.domain) == len(self._starts[1])

    def by_stratum(self, of_lines: Array) -> Array:
        """Sums over the lines of each stratum."""
        return np.add.reduceat(of_lines, self._starts[0])

    def on_lines(self, of_strata: NDArray[np.generic]) -> Array:
        """For each line what its stratum has."""
        return np.asarray(of_strata[self.stratum])

    def total(self, of_strata: NDArray[Any]) -> Array:
        """Sums over the strata of each domain."""
        return np.add.reduceat(of_strata, self._starts[1])

    def sum(self, of_lines: Array) -> Array:
        """Sums over the lines of each domain."""
        return np.add.reduceat(of_lines, self._starts[2])

    def largest(self, of_lines: Array) -> Array:
        """The largest over the lines of each domain."""
        return np.maximum.reduceat(of_lines, self._starts[2])

    def beside_lines(self, of_values: NDArray[Any]) -> NDArray[Any]:
        """Numbers of domains, to stand beside those of lines."""
        return np.asarray(of_values[..., self.of_lines])

    def beside_strata(self, of_values: NDArray[Any]) -> NDArray[Any]:
        """Numbers of domains, to stand beside those of strata."""
        return np.asarray(of_values[..., self.domain])

    def ranks(self, of_strata: Array) -> Codes:
        """The place of each stratum among those of its domain, by rising numbers."""
        order = np.lexsort((of_strata, self.domain))
        ranks = np.empty(len(order), np.int64)
        ranks[order] = np.arange(len(order)) - self._starts[1][self.domain]
        return ranks

    def cut(self, domains: NDArray[np.bool_]) -> tuple[DomainLines, Codes]:
        """Some of the domains, and which lines are theirs."""
        lines, strata = np.flatnonzero(domains[self.of_lines]), np.flatnonzero(domains[self.domain])
        renumbered = np.cumsum(domains) - 1
        place = np.searchsorted(strata, self.stratum[lines])
        parts = (self.copies[lines], self.sizes[strata], self.unseen[strata])
        return DomainLines(place, renumbered[self.domain[strata]], *parts, self.items), lines


Lines = DesignLines | DomainLines


def _starts(codes: Codes) -> Codes:
    return np.flatnonzero(np.diff(codes, prepend=-1))

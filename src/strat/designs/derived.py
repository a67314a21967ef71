"""Designs made from others: for another population, with strata joined, units grouped or rows left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from strat.base.errors import StratError, plain, some
from strat.base.text import counted
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Codes
from strat.designs.collapsing import joined_strata
from strat.designs.drawn_units import DrawnUnits
from strat.designs.making import per_label
from strat.designs.plan import Plan


@dataclass(frozen=True, eq=False)
class DerivedDesigns(DrawnUnits):
    """Other designs made from a design; each is a new one of the same class."""

    def _finished(self) -> Self:
        if self.lone != "collapse":
            return self
        return self.collapsed() if (self.sizes == 1).any() else replace(self, lone="error")

    @checked
    def with_plan(self, plan: Plan) -> Self:
        """The same design with the plan of the evaluation; estimates on it note when the analysis assumes less."""
        return replace(self, plan=plan)

    @checked
    def reweighted(self, shares: Mapping[Any, float]) -> Self:
        """The same rows for another population: stratum h gets the share W_h of the total weight (STRAT 6.1).

        Examples
        --------
        >>> from strat import Design
        >>> design = Design.stratified(strata=["a", "a", "b", "b"]).reweighted({"a": 3, "b": 1})
        >>> design.weights.tolist()
        [1.5, 1.5, 0.5, 0.5]
        """
        wanted = per_label("shares", shares, self.stratum_labels)
        if not np.isfinite(wanted).all() or (wanted < 0).any() or wanted.sum() == 0:
            raise StratError.about("shares", f"must be non-negative and not all zero, got {some(wanted)}.")
        of_row = self.stratum[self.unit]
        now = np.bincount(of_row, self.weights, minlength=self.n_strata)
        if (now == 0).any():
            empty = self.stratum_labels[now == 0]
            raise StratError.about("weights", f"must not be zero in a whole stratum to reweight it, got {some(empty)}.")
        factor = wanted / wanted.sum() * now.sum() / now
        return replace(self, weights=self.weights * factor[of_row], notes=(*self.notes, "stratum weights changed"))

    @checked
    def collapsed(self, by: Mapping[Any, float] | None = None) -> Self:
        """The design with each stratum of one unit joined to the next one (the last to the one before).

        The variance then holds what the joined strata differ by: it is too large, the more so the less they have in
        common. Strata come in the order of their labels, or of `by`, which gives each label a number such as the
        stratum's size or what was known of it before.

        Examples
        --------
        >>> from strat import Design
        >>> design = Design.stratified(strata=["a", "b", "c", "d"], lone="certainty")
        >>> design.collapsed(by={"a": 1.0, "b": 9.0, "c": 1.1, "d": 9.5}).stratum_labels.tolist()
        ['a + c', 'b + d']
        """
        sizes = self.sizes
        if self.n_strata < 2 or not (sizes == 1).any():
            return self
        order = np.arange(self.n_strata)
        if by is not None:
            order = np.argsort(per_label("by", by, self.stratum_labels), kind="stable")
        group = joined_strata(sizes, order)
        single = int((sizes == 1).sum())
        rank = np.argsort(order)
        return self._merged(group, rank[self.stratum], f"{counted(single, 'stratum')} of one unit collapsed")

    def paired(self) -> Self:
        """Neighbouring units joined two by two into strata (three at the end of an odd number).

        This turns a systematic sample, or strata with many ordered units, into a design for half-samples.
        """
        position = np.arange(self.n_units) - self.starts[self.stratum]
        pair = np.minimum(position // 2, np.maximum(self.sizes[self.stratum] // 2 - 1, 0))
        key = self.stratum * (self.n_units + 1) + pair
        _, stratum = np.unique(key, return_inverse=True)
        number = int(stratum.max()) + 1
        first = np.searchsorted(stratum, np.arange(number))
        ratio = np.bincount(stratum, minlength=number) / self.sizes[self.stratum[first]]
        return replace(
            self,
            kind="stratified" if self.rows_are_units else "stratified clusters",
            stratum=stratum.astype(np.int64),
            stratum_labels=np.arange(number),
            population=self.population[self.stratum[first]] * ratio,
            layout=None,
            joined=None,
            notes=(*self.notes, "neighbours paired"),
        )

    @checked
    def grouped(self, groups: int, *, rng: int | np.random.Generator = 0) -> Self:
        """The units of each stratum put at random into `groups` groups, which become the units."""
        if (self.sizes < groups).any() or groups < 2:
            few = self.stratum_labels[self.sizes < groups]
            raise StratError.about(
                "groups", f"must be from 2 to the number of units in every stratum, got {groups} ({some(few)})."
            )
        generator = np.random.default_rng(rng)
        shuffled = np.lexsort((generator.random(self.n_units), self.stratum))
        position = np.arange(self.n_units) - self.starts[self.stratum]
        group = np.empty(self.n_units, np.int64)
        group[shuffled] = position % groups
        labels = np.tile(np.arange(groups), self.n_strata)
        return replace(
            self,
            kind="clustered" if self.n_strata == 1 else "stratified clusters",
            unit=(self.stratum * groups + group)[self.unit],
            stratum=np.repeat(np.arange(self.n_strata), groups),
            unit_labels=labels,
            population=np.where(np.isfinite(self.population), self.population * groups / self.sizes, np.inf),
            labelled=True,
            layout=None,
            joined=None,
            notes=(*self.notes, f"units put into {groups} random groups a stratum"),
        )

    def expanded(self) -> tuple[Self, Codes]:
        """The design with a line of its own for each unit that was drawn, and the row that each new row repeats."""
        if self.multiplicity is None:
            return self, np.arange(len(self))
        each = np.rint(self.multiplicity).astype(np.int64)
        of_row = each[self.unit]
        rows = np.repeat(np.arange(len(self)), of_row)
        first = np.cumsum(of_row) - of_row
        place = (np.cumsum(each) - each)[self.unit]
        design = replace(
            self,
            unit=np.arange(len(rows)) + (place - first)[rows],
            stratum=np.repeat(self.stratum, each),
            joined=None if self.joined is None else np.repeat(self.joined, each),
            weights=(self.weights / of_row)[rows],
            unit_labels=np.arange(len(rows)),
            counts=None if self.single_rows or self.counts is None else (self.counts / of_row)[rows],
            multiplicity=None,
        )
        return design, rows

    def restricted(self, rows: Codes) -> Self:
        """The design of these rows alone, for a domain: the units without such rows share one empty line a stratum.

        The variance of a sum over a domain counts them too, with nothing added up in them. Units are labelled by their
        lines in this design, empty lines by -1. In a layout every line is kept.
        """
        if self.layout is not None:
            counts = None if self.counts is None else self.counts[rows]
            return replace(self, unit=self.unit[rows], weights=self.weights[rows], counts=counts)
        reached: Codes = np.unique(self.unit[rows])
        kept = self.stratum[reached]
        strata = np.arange(self.n_strata) if self.lone in ("centre", "average") else np.unique(kept)
        rest = self.sizes[strata] - np.bincount(kept, self.copies[reached], minlength=self.n_strata)[strata]
        empty = np.flatnonzero(np.rint(rest) > 0)
        home = np.searchsorted(strata, kept)
        order = np.argsort(np.concatenate([home, empty]), kind="stable")
        place = _places(order)
        copies = np.concatenate([self.copies[reached], rest[empty]])[order]
        return replace(
            self,
            unit=place[np.searchsorted(reached, self.unit[rows])],
            stratum=np.concatenate([home, empty])[order],
            weights=self.weights[rows],
            unit_labels=np.concatenate([reached, np.full(len(empty), -1)])[order],
            stratum_labels=self.stratum_labels[strata],
            population=self.population[strata],
            item=None if self.item is None else np.unique(self.item[rows], return_inverse=True)[1].astype(np.int64),
            counts=None if self.counts is None else self.counts[rows],
            multiplicity=None if (copies == 1).all() else copies,
            joined=None,
        )

    def _merged(self, group: Codes, joined: Codes, note: str) -> Self:
        number = int(group.max()) + 1
        members: list[list[str]] = [[] for _ in range(number)]
        for label, g in zip(self.stratum_labels, group, strict=True):
            members[g].append(str(plain(label)))
        stratum = group[self.stratum]
        order = np.argsort(stratum, kind="stable")  # units stand in the order of their strata
        return replace(
            self,
            unit=_places(order)[self.unit],
            stratum=stratum[order],
            unit_labels=self.unit_labels[order],
            multiplicity=None if self.multiplicity is None else self.multiplicity[order],
            lone="collapse",
            stratum_labels=np.array([" + ".join(m) for m in members]),
            population=np.bincount(group, self.population, minlength=number).astype(float),
            joined=joined[order],
            notes=(*self.notes, note),
        )


def _places(order: Codes) -> Codes:
    """Where each element comes to stand in this order."""
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return place

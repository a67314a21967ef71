"""How the rows were drawn: rows in units, units in strata."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from strat.base import validate
from strat.base.errors import StratError, plain, some
from strat.base.result import in_notebooks
from strat.base.validate.argument_kinds import Columns
from strat.base.validate.arguments import checked
from strat.base.validate.columns import encode, same_length
from strat.designs.blocks import blocks
from strat.designs.crossed import crossing
from strat.designs.derived import DerivedDesigns
from strat.designs.making import Population, assemble, per_label, row_count
from strat.designs.ordered import Ordered, checked_starts, end_factors, ordered, places
from strat.designs.stages import sizes
from strat.designs.stages import stages as staged_layout


@in_notebooks
@dataclass(frozen=True, eq=False)
class Design(DerivedDesigns):
    """How the rows were drawn: rows in units, units in strata, with weights and population sizes.

    Make one with :meth:`simple_random`, :meth:`stratified`, :meth:`clustered` or :meth:`systematic`.
    Units are kept in the order of their strata's and their own labels (a unit without a label has its row
    number), so that row order does not matter.

    Attributes
    ----------
    kind
        Simple random, stratified, clustered, stratified clusters or systematic.
    unit
        For each row, the index of its unit.
    stratum
        For each unit, the index of its stratum; never decreasing.
    weights
        For each row, how many rows of the population it stands for (any scale).
    unit_labels, stratum_labels
        The labels that were given.
    population
        For each stratum, the number of units in the population (infinite where not given).
    item
        For each row, the item it is a try of: rows of one item are repeats, a second stage (None: no repeats).
    counts
        For each row, how many original rows it sums up (None: one).
    multiplicity
        For each unit, how many equal units it stands for (None: one); its rows then hold the sums over all of these.
    lone
        What is done with a stratum of one unit.
    plan
        The plan of the evaluation, if one was made.
    labelled
        Whether the units have names of their own, or are rows that happen to stand in some order.
    layout
        How the units are related in a design of another kind than units in strata (None: they are independent).
    joined
        For each unit, its stratum before strata of one unit were joined with others, in that order (None: none were).
    columns
        The names of the columns of units, strata and items, under "unit", "stratum" and "item", where these are known.
    """

    # ---- how a person makes one

    @classmethod
    @checked
    def simple_random(
        cls,
        n: int | None = None,
        *,
        weights: ArrayLike | None = None,
        population: float | None = None,
        items: ArrayLike | None = None,
        counts: ArrayLike | None = None,
        multiplicity: ArrayLike | None = None,
    ) -> Design:
        """A design of independent rows (or of independent items with repeats).

        With `multiplicity`, each row stands for so many equal rows of the sample, each with the row's weight.

        Examples
        --------
        >>> print(Design.simple_random(n=100))
        simple random: 100 rows in 100 units; 99 degrees of freedom
        """
        if items is not None:
            return cls.clustered(units=items, weights=weights, population=population, items=items, counts=counts)
        if n is None and (weights is not None or multiplicity is not None):
            n = len(np.asarray(weights if weights is not None else multiplicity))
        if n is None or not validate.number("n", n).is_integer() or n < 1:
            raise StratError.about("n", f"must be a whole number of rows, at least 1, got {plain(n)!r}.")
        rows = int(n)
        return cls(
            **assemble(
                "simple random",
                rows,
                weights=weights,
                population=population,
                counts=counts,
                multiplicity=multiplicity,
            )
        )

    @classmethod
    @checked
    def stratified(
        cls,
        strata: ArrayLike,
        *,
        units: ArrayLike | None = None,
        weights: ArrayLike | None = None,
        population: Population | None = None,
        items: ArrayLike | None = None,
        counts: ArrayLike | None = None,
        multiplicity: ArrayLike | None = None,
        lone: str = "error",
        nested: bool = False,
    ) -> Design:
        """A design of rows, or of whole units, drawn within strata.

        Parameters
        ----------
        strata
            The stratum of each row: fixed groups that cover the population.
        units
            The unit of each row (what was drawn); without it each row is a unit, or each item.
        weights
            How many rows of the population each row stands for, on any scale. Without weights but with
            population sizes, every unit of stratum h gets N_h / n_h (STRAT (1)).
        population
            Units in the population of each stratum: one number, a mapping from stratum, or one value per row.
        items
            The item that each row is a try of: repeats are a second stage, never extra rows.
        multiplicity
            Without units: how many equal rows of the sample each row stands for.
        lone
            What to do with a stratum of one unit: "error", "collapse", "certainty", "centre" or "average".
        nested
            Whether the same unit label in two strata means two units. By default it is an error: a patient whose rows
            lie in several strata is one unit, and was not drawn within strata.

        Examples
        --------
        >>> design = Design.stratified(strata=["a", "a", "b", "b"], units=[1, 2, 1, 2], nested=True)
        >>> design.n_units, design.df
        (4, 2)
        """
        kind = "stratified" if units is None and items is None else "stratified clusters"
        by = units if units is not None else items
        if by is not None and multiplicity is not None:
            raise StratError.about(
                "multiplicity", "must be left out beside `units` and `items`: it is for rows that are units."
            )
        fields = assemble(
            kind,
            row_count("strata", strata),
            strata=strata,
            units=by,
            weights=weights,
            population=population,
            items=items,
            counts=counts,
            multiplicity=multiplicity,
            lone=lone,
            nested=nested or units is None,
        )
        return cls(**fields)._finished()

    @classmethod
    @checked
    def clustered(
        cls,
        units: ArrayLike,
        *,
        strata: ArrayLike | None = None,
        weights: ArrayLike | None = None,
        population: Population | None = None,
        items: ArrayLike | None = None,
        counts: ArrayLike | None = None,
        lone: str = "error",
        nested: bool = False,
    ) -> Design:
        """A design of whole units (subjects, passages, repositories), each with one row or more.

        Examples
        --------
        >>> print(Design.clustered(units=["x", "x", "y", "z"]))
        clustered: 4 rows in 3 units; 2 degrees of freedom
        """
        kind = "clustered" if strata is None else "stratified clusters"
        fields = assemble(
            kind,
            row_count("units", units),
            strata=strata,
            units=units,
            weights=weights,
            population=population,
            items=items,
            counts=counts,
            lone=lone,
            nested=nested,
        )
        return cls(**fields)._finished()

    @classmethod
    @checked
    def systematic(
        cls,
        order: ArrayLike,
        *,
        strata: ArrayLike | None = None,
        units: ArrayLike | None = None,
        weights: ArrayLike | None = None,
        population: Population | None = None,
        counts: ArrayLike | None = None,
        differences: int = 1,
        start: float | Mapping[Any, float] | None = None,
    ) -> Design:
        """A design of every k-th unit along an order (time, position): neighbours are compared.

        The variance comes from differences of neighbours (Cochran 8.11), which the order makes smaller than that of
        a simple random sample when neighbours are similar. `order` says where each row lies; rows of one unit
        must share their place. Where the values drift along the order, the variance of an evenly drawn start is added.
        A period equal to the step of the sample can't be seen; one that shows in the sample is noted.

        Parameters
        ----------
        order
            The place of each row.
        strata
            Fixed groups, in each of which a systematic sample was drawn.
        units
            What was drawn, where that is not each row.
        weights, population, counts
            As for :meth:`stratified`.
        differences
            1 compares two neighbours; 2 three (no linear drift counts), up to 4 (Wolter 2007, 8.2).
        start
            The place of the first unit drawn along the order of the population, counted from 1 (for strata a mapping
            from stratum, each counted on its own). The weights of the first and last unit then make up for it, so that
            a linear drift no longer moves the mean (Yates's end correction); `population` must be given.

        Examples
        --------
        >>> print(Design.systematic(order=[3, 1, 2]))
        systematic: 3 rows in 3 units; 1.6 degrees of freedom
        """
        place = places(order, units, strata)
        fields = assemble(
            "systematic",
            len(place),
            strata=strata,
            units=place,
            weights=weights,
            population=population,
            counts=counts,
            nested=True,  # places, which every stratum has its own of
        )
        plain_design = cls(**fields)
        design = replace(plain_design, layout=ordered(plain_design.stratum, plain_design.fraction, differences))
        return design if start is None else _end_corrected(design, start)

    @classmethod
    @checked
    def blocks(
        cls,
        units: ArrayLike,
        kinds: ArrayLike,
        *,
        weights: ArrayLike | None = None,
        counts: ArrayLike | None = None,
    ) -> Design:
        """A design of exactly these units, each seen under fixed kinds (pose, lighting, prompt template, sensor).

        Neither what units differ by nor what kinds differ by is an error of a value about these units and kinds; what a
        unit does under a kind beyond both is. For a value about a population of units, kinds fixed, take
        :meth:`clustered`: the kinds are then part of what each unit is.

        Examples
        --------
        >>> print(Design.blocks(units=[1, 1, 2, 2, 3, 3], kinds=["front", "side"] * 3))
        blocks: 6 rows in 3 units × 2 kinds; 2 degrees of freedom
        """
        (who, _), (what, what_labels) = encode("units", units), encode("kinds", kinds)
        same_length(units=who, kinds=what)
        cells, cell = np.unique(who * len(what_labels) + what, return_inverse=True)
        layout = blocks(cells // len(what_labels), cells % len(what_labels))
        return cls(**assemble("blocks", len(who), units=cell, weights=weights, counts=counts), layout=layout)

    @classmethod
    @checked
    def staged(
        cls,
        stages: Columns,
        *,
        strata: ArrayLike | None = None,
        population: Mapping[str, ArrayLike | float] | None = None,
        weights: ArrayLike | None = None,
        counts: ArrayLike | None = None,
    ) -> Design:
        """A design of units drawn in stages, with finite populations at any of them.

        Parameters
        ----------
        stages
            From the name of each stage, first stage first, to the unit of each row (or a data frame). A label may
            recur in another unit of the stage before.
        strata
            The stratum of each row, at the first stage.
        population
            From the name of a stage to the number of units there are to draw from (in the stratum, or in the unit of
            the stage before): one number, or one for each row. A stage left out has an unlimited population, and
            the stages below it add nothing.
        weights
            What each row weighs; by default what the populations imply.
        counts
            How many original rows each row sums up.

        Examples
        --------
        Two of four districts, and in each two of three schools.

        >>> units = {"district": [1, 1, 2, 2], "school": [1, 2, 1, 2]}
        >>> design = Design.staged(units, population={"district": 4, "school": 3})
        >>> print(design)
        staged: 4 rows in 4 units 'school' in 2 units 'district'; 1 degree of freedom
        >>> design.weights.tolist()
        [3.0, 3.0, 3.0, 3.0]
        """
        if not stages:
            raise StratError.about("stages", "must name at least one stage, got none.")
        codes = {str(name): encode(f"stages[{str(name)!r}]", labels)[0] for name, labels in stages.items()}
        number = same_length(**codes)
        stratum = np.zeros(number, np.int64) if strata is None else encode("strata", strata)[0]
        same_length(stages=np.zeros(number), strata=stratum)
        known = {str(name): whole for name, whole in (population or {}).items()}
        unknown = [name for name in known if name not in codes]
        if unknown:
            raise StratError.about("population", f"must name stages ({some(list(codes))}), got {some(unknown)}.")
        whole_sizes = {name: np.broadcast_to(sizes(name, whole, number), number) for name, whole in known.items()}
        line, layout, implied = staged_layout(codes, stratum, whole_sizes)
        complete = set(whole_sizes) == set(codes)
        used = implied if weights is None and complete else weights
        return cls(**assemble("staged", number, units=line, weights=used, counts=counts), layout=layout)

    @classmethod
    def from_columns(cls, frame: Any, **columns: Any) -> Design:
        """The design of a table whose columns play these roles, named as in :func:`strat.evaluate`.

        Parameters
        ----------
        frame
            Anything that gives a column for a name: a data frame, a mapping.
        columns
            What :class:`strat.Sampling` takes, replicate weights apart: `strata`, `units` (or `clusters`), `weights`, …

        Examples
        --------
        >>> table = {"site": ["a", "a", "b", "b"], "w": [1.0, 1.0, 2.0, 2.0]}
        >>> print(Design.from_columns(table, strata="site", weights="w"))
        stratified: 4 rows in 4 units in 2 sites of 2; 2 degrees of freedom
        """
        from strat.designs.from_columns import design_in

        return design_in(frame, columns)

    @classmethod
    @checked
    def crossed(
        cls,
        factors: Columns,
        *,
        strata: ArrayLike | None = None,
        weights: ArrayLike | None = None,
        counts: ArrayLike | None = None,
    ) -> Design:
        """A design in which two factors or more were drawn, and rows belong to a level of each.

        Readers and cases, judges and items, workers and prompts, speakers and attacks: another study would draw others
        of both. The variance is by rows + by columns - by cells, and never negative. Cells may be empty, and hold
        several rows. Where cases are clusters of rows (lesions of a patient), name the patient; a factor nested in
        another (case within patient) can be a third one. Leave out factors that are fixed.

        Parameters
        ----------
        factors
            From the name of each factor to the level of each row (or a data frame).
        strata
            Fixed groups of rows (the classes of cases, say) within which means are taken.
        weights
            What each row weighs.
        counts
            How many original rows each row sums up.

        Examples
        --------
        >>> design = Design.crossed({"reader": [1, 1, 1, 2, 2, 2], "case": [1, 2, 3, 1, 2, 3]})
        >>> print(design)
        crossed: 6 rows in 2 levels of 'reader' × 3 levels of 'case'; 1 degree of freedom
        """
        encoded = {str(name): encode(f"factors[{str(name)!r}]", labels) for name, labels in factors.items()}
        same_length(**{name: codes for name, (codes, _) in encoded.items()})
        number = row_count("factors", next(iter(encoded.values()))[0]) if encoded else 0
        stratum = np.zeros(number, np.int64) if strata is None else encode("strata", strata)[0]
        same_length(factors=np.zeros(number), strata=stratum)
        cell, layout = crossing({name: (codes, len(labels)) for name, (codes, labels) in encoded.items()}, stratum)
        return cls(**assemble("crossed", number, units=cell, weights=weights, counts=counts), layout=layout)


def _end_corrected(design: Design, start: float | Mapping[Any, float]) -> Design:
    """A systematic sample whose ends weigh so much that a linear drift does not move the mean."""
    labels = design.stratum_labels
    given = (
        per_label("start", start, labels)
        if isinstance(start, Mapping)
        else np.full(len(labels), validate.number("start", start))
    )
    places = checked_starts(given, design.population, design.sizes)
    layout = cast(Ordered, design.layout)
    by_line = np.bincount(design.unit, design.weights, minlength=design.lines).astype(float)
    factors = end_factors(layout, by_line, design.population, places)
    notes = (*design.notes, "ends weighted for where the sample started")
    return replace(
        design, weights=design.weights * factors[design.unit], layout=replace(layout, ends=factors), notes=notes
    )

"""What is known of a design, as facts; its sentences are made here and nowhere else, and nobody reads them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from strat.base.result import Result
from strat.base.text import counted, noun_of
from strat.designs.plan import Plan

BOTH_SIDES = "subjects on both sides"  # of comparisons: a design of verification experiments
GIVEN = "given replicates"  # a design of which only replicate weights are known


@dataclass(frozen=True)
class LayoutFacts:
    """What was drawn in a design of another kind than units in strata.

    Attributes
    ----------
    parts
        What was drawn or fixed, by name, and how many there are: levels of factors, units of stages.
    words
        How rows lie in these.
    target
        What an estimate is about.
    """

    parts: tuple[tuple[str, int], ...]
    words: str
    target: str


@dataclass(frozen=True, repr=False)
class DesignFacts(Result):
    """How the rows were drawn, counted: what a result keeps of its design.

    Attributes
    ----------
    kind
        Simple random, stratified, clustered, stratified clusters, systematic, crossed, blocks, staged, subjects on
        both sides, or given replicates.
    rows
        Original rows (not a number: not known).
    units
        Units drawn that hold rows here.
    drawn
        Units drawn, with rows here or not.
    strata
        Number of strata.
    fewest, most
        Units that hold rows here in the smallest and in the largest stratum.
    items
        Items that rows are repeats of (0: no repeats).
    df
        Degrees of freedom: units minus strata.
    census
        Whether every unit of the population was drawn.
    finite
        Whether the population of some stratum is finite.
    comparisons
        Comparisons that the subjects stand on both sides of (0: not such a design).
    replicates
        Replicates that came with the data and stand for a design that is not known (0: it is known).
    layout
        What was drawn in a crossed, blocked, ordered or staged design (None: units in strata).
    plan
        The plan of the evaluation, if one was made.
    remarks
        What was done to the design.
    nouns
        The columns of units, strata and items, by "unit", "stratum" and "item", where these are known; units that
        are rows are rows.

    Examples
    --------
    >>> facts = DesignFacts("clustered", rows=60, units=20, drawn=20, df=19, nouns={"unit": "patient_id"})
    >>> print(facts)
    clustered: 60 rows in 20 patients; 19 degrees of freedom
    >>> facts.target, facts.clustered, facts.rows_per_unit
    ('the population of patients that these 20 were drawn from', True, 3.0)
    """

    kind: str
    rows: float
    units: int
    drawn: int
    strata: int = 1
    fewest: int = 0
    most: int = 0
    items: int = 0
    df: float = 0
    census: bool = False
    finite: bool = False
    comparisons: int = 0
    replicates: int = 0
    layout: LayoutFacts | None = None
    plan: Plan | None = None
    remarks: tuple[str, ...] = ()
    nouns: Mapping[str, str] = field(default_factory=dict)

    def called(self, role: str, number: float = 2) -> str:
        """What so many units, strata or items are called: as their column, where its name is a noun."""
        noun = noun_of(self.nouns.get(role, ""), role)
        return noun.one if number == 1 else noun.many

    def count(self, role: str, number: float) -> str:
        """So many units, strata or items."""
        return f"{number:,} {self.called(role, number)}"

    @property
    def stratified(self) -> bool:
        """Whether the population was divided into strata."""
        return self.kind in ("stratified", "stratified clusters")

    @property
    def clustered(self) -> bool:
        """Whether groups of rows were drawn together."""
        return self.kind in ("clustered", "stratified clusters")

    @property
    def single_rows(self) -> bool:
        """Whether every unit that was drawn is one row."""
        return self.drawn == self.rows

    @property
    def rows_per_unit(self) -> float:
        """Rows for each unit (not a number: not known)."""
        return self.rows / self.units if self.units else math.nan

    @property
    def target(self) -> str:
        """The target of inference: what is fixed and what was sampled."""
        if self.comparisons:
            return "the population of subjects"
        if self.replicates:
            return "the population that the weights stand for"
        if self.layout is not None:
            return self.layout.target
        if self.census:
            repeats = "; only the repeats vary" if self.items else ""
            return f"these very {self.count('unit', self.drawn)}, all of them{repeats}"
        limited = " (finitely many)" if self.finite else ""
        what = "rows" if self.single_rows else self.called("unit")
        if self.strata == 1:
            return f"the population of {what} that these {self.drawn:,} were drawn from{limited}"
        strata = self.count("stratum", self.strata)
        return f"these {strata}, fixed, and the {what} in them that these were drawn from{limited}"

    def __str__(self) -> str:
        """The design in one line, with what was counted."""
        if self.comparisons:
            text = f"{counted(self.units, 'subject')} on both sides of "
            return ", ".join([text + counted(self.comparisons, "non-mated comparison"), *self.remarks])
        if self.replicates:
            text = f"{self.kind}: {counted(self.rows, 'row', ',.0f')}, {counted(self.replicates, 'replicate')}"
            return "; ".join([f"{text}; {counted(self.df, 'degree of freedom', '.4g')}", *self.remarks])
        if self.layout is not None:
            text = f"{self.kind}: {counted(self.rows, 'row', ',.0f')} in {self.layout.words}"
            return "; ".join([f"{text}; {counted(self.df, 'degree of freedom', '.4g')}", *self.remarks])
        units = counted(self.units, "unit") if self.single_rows else self.count("unit", self.units)
        text = f"{self.kind}: {counted(self.rows, 'row', ',.0f')} in {units}"
        if self.strata > 1:
            each = f"{self.fewest:,}" if self.fewest == self.most else f"{self.fewest:,} to {self.most:,}"
            text += f" in {self.count('stratum', self.strata)} of {each}"
        if self.items:
            same = self.items == self.units and self.called("item") == self.called("unit")
            text += " with repeats" if same else f", {self.count('item', self.items)} with repeats"
        return "; ".join([f"{text}; {counted(self.df, 'degree of freedom')}", *self.remarks])

    def about_df(self, used: Iterable[float]) -> str | None:
        """What to say where values have other degrees of freedom than a design of this layout has nominally.

        >>> layout = LayoutFacts((("reader", 6), ("case", 40)), "6 levels of 'reader' × 40 levels of 'case'", "")
        >>> DesignFacts("crossed", rows=240, units=240, drawn=240, df=5, layout=layout).about_df([4.3])
        "df: each value's own, by Satterthwaite's formula; the design has nominally 5."
        """
        if self.layout is None or all(f"{df:.4g}" == f"{self.df:.4g}" for df in used):
            return None
        return f"df: each value's own, by Satterthwaite's formula; the design has nominally {self.df:.4g}."

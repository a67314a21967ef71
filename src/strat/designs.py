"""How the rows were drawn: designs, and the plan of an evaluation at its four levels."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strat.columns import Array, Codes, encode, number, numbers, same_length
from strat.doors import checked
from strat.errors import StratError, StratWarning, one_of, plain, some
from strat.notebook import in_words
from strat.words import counted

KINDS = ("simple random", "stratified", "clustered", "stratified clusters", "systematic")
LONE = ("error", "collapse", "certainty", "centre", "average")
Population = float | Mapping[Any, float] | Sequence[float] | NDArray[Any]


@in_words
@dataclass(frozen=True)
class Plan:
    """What was planned at the four levels of sampling, and what was controlled (STRAT 2.1, 2.2).

    A plan travels with the design into every result and report, and warns when the analysis assumes
    less structure than the population was sampled with.

    Examples
    --------
    >>> plan = Plan(population="stratified clusters", system="systematic", explicit=("pose", "lighting"))
    >>> plan.missing_from("simple random")
    ('strata', 'clusters')
    """

    population: str = "simple random"
    system: str = "systematic"
    model: str = "simple random"
    analysis: str | None = None
    context: str = ""
    experiment: str = ""
    trials: int | None = None
    explicit: tuple[str, ...] = ()
    implicit: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check the names of the designs."""
        for level in ("population", "system", "model"):
            one_of(level, getattr(self, level), KINDS)
        if self.analysis is not None:
            one_of("analysis", self.analysis, KINDS)

    def missing_from(self, analysis: str) -> tuple[str, ...]:
        """Structure that the population level declares and this kind of analysis ignores."""
        return tuple(s for s in _structure(self.population) if s not in _structure(analysis))

    def __str__(self) -> str:
        """The plan in a few lines."""
        said = f"population: {self.population}; system: {self.system}; model: {self.model}; "
        said += f"analysis: {self.analysis or 'as the design'}"
        for name in ("context", "experiment"):
            if getattr(self, name):
                said += f"; {name}: {getattr(self, name)}"
        if self.trials is not None:
            said += f"; trials: {self.trials}"
        for name, word in (("explicit", "controlled"), ("implicit", "not controlled")):
            if getattr(self, name):
                said += f"; {word}: {', '.join(getattr(self, name))}"
        return said


def _structure(kind: str) -> tuple[str, ...]:
    return {
        "stratified": ("strata",),
        "clustered": ("clusters",),
        "stratified clusters": ("strata", "clusters"),
        "systematic": ("order",),
    }.get(kind, ())


@in_words
@dataclass(frozen=True, eq=False)
class Design:
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
        What the person called them.
    population
        For each stratum, the number of units in the population (infinite where nobody said).
    item
        For each row, the item it is a try of: rows of one item are repeats, a second stage (None: no repeats).
    counts
        For each row, how many original rows it sums up (None: one).
    lone
        What is done with a stratum of one unit.
    plan
        The plan of the evaluation, if one was made.
    labelled
        Whether the units have names of their own, or are rows that happen to stand in some order.
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
    lone: str = "error"
    plan: Plan | None = None
    labelled: bool = True
    notes: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        """Check what a direct construction or a change could have broken."""
        one_of("kind", self.kind, KINDS)
        one_of("lone", self.lone, LONE)
        sizes = self.sizes
        if (self.population < sizes).any():
            h = int(np.flatnonzero(self.population < sizes)[0])
            raise StratError(
                f"`population` must be at least the number of units drawn, got {plain(self.population[h])} "
                f"for stratum {plain(self.stratum_labels[h])!r} with {sizes[h]} units."
            )
        if self.lone == "error" and self.kind != "systematic":
            self._refuse_lone(sizes)
        for array in (self.unit, self.stratum, self.weights, self.population):
            array.flags.writeable = False

    def _refuse_lone(self, sizes: Codes) -> None:
        lone = np.flatnonzero((sizes == 1) & (self.population > 1))
        if not len(lone):
            return
        if len(sizes) == 1:
            raise StratError(
                "`units` must name at least two units, got one: the variation between units can't be seen; "
                "name a smaller unit, or strata within it."
            )
        raise StratError(
            f"`strata` must have at least two units each, got one in {some(self.stratum_labels[lone])}; choose "
            "lone='collapse' (join with the next stratum), 'certainty' (it was sure to be drawn), "
            "'centre' (compare with all units) or 'average' (as variable as the others)."
        )

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
    ) -> Design:
        """A design of independent rows (or of independent items with repeats).

        Examples
        --------
        >>> print(Design.simple_random(n=100))
        simple random: 100 rows in 100 units; 99 degrees of freedom
        """
        if items is not None:
            return cls.clustered(units=items, weights=weights, population=population, items=items, counts=counts)
        if n is None and weights is not None:
            n = len(np.asarray(weights))
        if n is None or not number("n", n).is_integer() or n < 1:
            raise StratError(f"`n` must be a whole number of rows, at least 1, got {plain(n)!r}.")
        rows = int(n)
        return _assemble("simple random", rows, None, None, weights, population, None, counts, "error", True)

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
        lone: str = "error",
        nested: bool = True,
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
        lone
            What to do with a stratum of one unit: "error", "collapse", "certainty", "centre" or "average".
        nested
            Whether the same unit label in two strata means two units.

        Examples
        --------
        >>> design = Design.stratified(strata=["a", "a", "b", "b"], units=[1, 2, 1, 2])
        >>> design.n_units, design.df
        (4, 2)
        """
        kind = "stratified" if units is None and items is None else "stratified clusters"
        n = _rows("strata", strata)
        by = units if units is not None else items
        return _assemble(kind, n, strata, by, weights, population, items, counts, lone, nested)

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
        nested: bool = True,
    ) -> Design:
        """A design of whole units (subjects, passages, repositories), each with one row or more.

        Examples
        --------
        >>> print(Design.clustered(units=["x", "x", "y", "z"]))
        clustered: 4 rows in 3 units; 2 degrees of freedom
        """
        kind = "clustered" if strata is None else "stratified clusters"
        n = _rows("units", units)
        return _assemble(kind, n, strata, units, weights, population, items, counts, lone, nested)

    @classmethod
    @checked
    def systematic(
        cls,
        order: ArrayLike,
        *,
        units: ArrayLike | None = None,
        weights: ArrayLike | None = None,
        population: float | None = None,
        counts: ArrayLike | None = None,
    ) -> Design:
        """A design of every k-th unit along an order (time, position): neighbours are compared.

        The variance comes from successive differences (Cochran 8.11), which the order makes smaller than that of
        a simple random sample when neighbours are alike. `order` says where each row lies; rows of one unit
        must share their place.

        Examples
        --------
        >>> print(Design.systematic(order=[3, 1, 2]))
        systematic: 3 rows in 3 units; 2 degrees of freedom
        """
        place = numbers("order", order)
        if units is not None:
            codes, labels = encode("units", units)
            same_length(order=place, units=codes)
            first = np.full(len(labels), np.inf)
            np.minimum.at(first, codes, place)
            if (first[codes] != place).any():
                raise StratError("`order` must be the same for all rows of a unit, got units at several places.")
            place = np.lexsort((np.arange(len(labels)), first)).argsort()[codes].astype(float)
        else:
            distinct, rank = np.unique(place, return_inverse=True)
            place = rank.astype(float)
            if len(distinct) < len(place):
                raise StratError(
                    f"`order` must tell all rows apart, got {len(place) - len(distinct)} at the place of another one; "
                    "name their `units`, or give a finer order."
                )
        made = _assemble("clustered", len(place), None, place, weights, population, None, counts, "error", True)
        return replace(made, kind="systematic")

    # ---- what others ask of it

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.unit)

    @property
    def n_units(self) -> int:
        """Number of units drawn."""
        return len(self.stratum)

    @property
    def n_strata(self) -> int:
        """Number of strata."""
        return len(self.stratum_labels)

    @cached_property
    def sizes(self) -> Codes:
        """Number of units drawn in each stratum, n_h."""
        return np.bincount(self.stratum, minlength=self.n_strata).astype(np.int64)

    @cached_property
    def starts(self) -> Codes:
        """Index of the first unit of each stratum."""
        return np.concatenate([[0], np.cumsum(self.sizes)[:-1]]).astype(np.int64)

    @cached_property
    def fraction(self) -> Array:
        """Sampling fraction of each stratum, f_h = n_h / N_h (0 where the population is unlimited)."""
        return self.sizes / self.population

    @property
    def df(self) -> int:
        """Degrees of freedom: units less strata (a stratum seen whole, or of one unit, adds none)."""
        drawn = self.fraction < 1
        if self.item is not None or not drawn.any():  # all that varies is inside the units
            return int(self.n_units - self.n_strata)
        return int((self.sizes - 1)[drawn].sum())

    @property
    def rows_are_units(self) -> bool:
        """Whether every row is a unit of its own."""
        return self.n_units == len(self.unit)

    @cached_property
    def in_order(self) -> bool:
        """Whether the rows stand in the order of their units."""
        return bool((np.diff(self.unit) >= 0).all())

    @property
    def size(self) -> float:
        """Number of original rows."""
        return float(len(self.unit)) if self.counts is None else float(self.counts.sum())

    @property
    def target(self) -> str:
        """What the estimate answers for: what is fixed and what was sampled."""
        if self.item is not None and (self.fraction == 1).all():
            return f"these very {counted(self.n_units, 'unit')}, all of them; only the repeats vary"
        if (self.fraction == 1).all():
            return f"these very {counted(self.n_units, 'unit')}, all of them"
        limited = " (finitely many)" if np.isfinite(self.population).any() else ""
        what = "rows" if self.rows_are_units else "units"
        if self.n_strata == 1:
            return f"the population of {what} that these {self.n_units} were drawn from{limited}"
        return f"these {self.n_strata} strata, fixed, and the {what} in them that these were drawn from{limited}"

    @property
    def summary(self) -> str:
        """The design in one line, with what was counted."""
        said = f"{self.kind}: {counted(self.size, 'row', ',.0f')} in {counted(self.n_units, 'unit')}"
        if self.n_strata > 1:
            sizes = self.sizes
            each = f"{sizes.min()}" if sizes.min() == sizes.max() else f"{sizes.min()} to {sizes.max()}"
            said += f" in {counted(self.n_strata, 'stratum')} of {each}"
        if self.item is not None:
            said += f", {counted(int(self.item.max()) + 1, 'item')} with repeats"
        said += f"; {counted(self.df, 'degree of freedom')}"
        return "; ".join([said, *self.notes])

    def __str__(self) -> str:
        """The summary."""
        return self.summary

    def __repr__(self) -> str:
        """The summary in angle brackets: the arrays are long."""
        return f"<Design {self.summary}>"

    # ---- other designs made from it

    @checked
    def with_plan(self, plan: Plan) -> Design:
        """The same design with the plan of the evaluation; warns when the analysis assumes less than the plan."""
        missing = plan.missing_from(self.kind)
        if missing:
            warnings.warn(
                f"the plan samples the population with {' and '.join(missing)}, and the analysis ignores that "
                f"({self.kind}): intervals may be too narrow; give the {' and '.join(missing)} to the design.",
                StratWarning,
                stacklevel=2,
            )
        return replace(self, plan=plan)

    @checked
    def reweighted(self, shares: Mapping[Any, float]) -> Design:
        """The same rows for another population: stratum h gets the share W_h of the total weight (STRAT 6.1).

        Examples
        --------
        >>> design = Design.stratified(strata=["a", "a", "b", "b"]).reweighted({"a": 3, "b": 1})
        >>> design.weights.tolist()
        [1.5, 1.5, 0.5, 0.5]
        """
        wanted = _per_label("shares", shares, self.stratum_labels)
        if not np.isfinite(wanted).all() or (wanted < 0).any() or wanted.sum() == 0:
            raise StratError(f"`shares` must be non-negative and not all zero, got {some(wanted)}.")
        of_row = self.stratum[self.unit]
        now = np.bincount(of_row, self.weights, minlength=self.n_strata)
        if (now == 0).any():
            empty = self.stratum_labels[now == 0]
            raise StratError(f"`weights` must not be zero in a whole stratum to reweight it, got {some(empty)}.")
        factor = wanted / wanted.sum() * now.sum() / now
        return replace(self, weights=self.weights * factor[of_row], notes=(*self.notes, "stratum weights changed"))

    def collapsed(self) -> Design:
        """Each stratum of one unit joined with the next one (the last with the one before), in label order."""
        sizes = self.sizes
        if self.n_strata < 2 or not (sizes == 1).any():
            return self
        group = np.zeros(self.n_strata, np.int64)
        now, filled = -1, 2
        for h, n in enumerate(sizes):
            if filled >= 2:
                now, filled = now + 1, 0
            group[h] = now
            filled += n
        if filled < 2:
            group[group == now] = now - 1
        return self._merged(group, f"{int((sizes == 1).sum())} lone strata collapsed")

    def paired(self) -> Design:
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
            notes=(*self.notes, "neighbours paired"),
        )

    @checked
    def grouped(self, groups: int, *, rng: int | np.random.Generator = 0) -> Design:
        """The units of each stratum put at random into `groups` groups, which become the units."""
        if (self.sizes < groups).any() or groups < 2:
            few = self.stratum_labels[self.sizes < groups]
            raise StratError(
                f"`groups` must be from 2 to the number of units in every stratum, got {groups} ({some(few)})."
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
            notes=(*self.notes, f"units put into {groups} random groups a stratum"),
        )

    def _merged(self, group: Codes, note: str) -> Design:
        number = int(group.max()) + 1
        members: list[list[str]] = [[] for _ in range(number)]
        for label, g in zip(self.stratum_labels, group, strict=True):
            members[g].append(str(plain(label)))
        return replace(
            self,
            stratum=group[self.stratum],
            stratum_labels=np.array([" + ".join(m) for m in members]),
            population=np.bincount(group, self.population, minlength=number).astype(float),
            notes=(*self.notes, note),
        )


def _rows(argument: str, labels: ArrayLike) -> int:
    array = np.asarray(labels)
    if array.ndim == 0:
        raise StratError(f"`{argument}` must have one label per row, got the single value {plain(array)!r}.")
    return len(array)


def _assemble(
    kind: str,
    n: int,
    strata: ArrayLike | None,
    units: ArrayLike | None,
    weights: ArrayLike | None,
    population: Population | None,
    items: ArrayLike | None,
    counts: ArrayLike | None,
    lone: str,
    nested: bool,
) -> Design:
    if n == 0:
        raise StratError(f"`{'strata' if strata is not None else 'units'}` must have at least one row, got none.")
    one_of("lone", lone, LONE)
    of_row, stratum_labels = (
        encode("strata", strata) if strata is not None else (np.zeros(n, np.int64), np.array(["all"]))
    )
    unit, stratum, unit_labels = _units(of_row, len(stratum_labels), units, nested)
    sizes = np.bincount(stratum, minlength=len(stratum_labels))
    totals = _population(population, stratum_labels, of_row)
    made = Design(
        kind=kind,
        unit=unit,
        stratum=stratum,
        weights=_weights(weights, n, of_row, totals, sizes),
        unit_labels=unit_labels,
        stratum_labels=stratum_labels,
        population=totals,
        item=_items(items, unit, n),
        counts=None if counts is None else _counts(counts, n),
        lone=lone,
        labelled=units is not None,
    )
    return made.collapsed() if lone == "collapse" else made


def _units(of_row: Codes, n_strata: int, units: ArrayLike | None, nested: bool) -> tuple[Codes, Codes, NDArray[Any]]:
    """Unit of each row, stratum of each unit, label of each unit; units in the order of stratum and label."""
    n = len(of_row)
    if units is None:
        order = None if (np.diff(of_row) >= 0).all() else np.argsort(of_row, kind="stable")
        if order is None:
            return np.arange(n), of_row.copy(), np.arange(n)
        unit = np.empty(n, np.int64)
        unit[order] = np.arange(n)
        return unit, of_row[order], order
    codes, labels = encode("units", units)
    same_length(strata=of_row, units=codes)
    home = np.empty(len(labels), np.int64)
    home[codes] = of_row
    if (home[codes] == of_row).all():
        order = np.argsort(home, kind="stable")
        position = np.empty(len(labels), np.int64)
        position[order] = np.arange(len(labels))
        return position[codes], home[order], labels[order]
    if not nested:
        torn = np.unique(codes[home[codes] != of_row])
        raise StratError(
            f"`units` must lie in one stratum each under nested=False, got {some(labels[torn])} in several; "
            "leave nested=True if the same label means another unit in another stratum."
        )
    key, pairs = encode("units", of_row * len(labels) + codes)
    return key, pairs // len(labels), labels[pairs % len(labels)]


def _weights(weights: ArrayLike | None, n: int, of_row: Codes, population: Array, sizes: Codes) -> Array:
    if weights is None:
        if np.isfinite(population).all():
            return (population / sizes)[of_row]  # STRAT (1): W_h = N_h / N
        return np.ones(n)
    array = numbers("weights", weights)
    if array.ndim != 1 or len(array) != n:
        raise StratError(f"`weights` must have one value per row ({n}), got an array of shape {array.shape}.")
    if (array < 0).any():
        row = int(np.flatnonzero(array < 0)[0])
        raise StratError(
            f"`weights` must not be negative, got {plain(array[row])!r} in row {row}; drop such rows or mend them."
        )
    if not array.any():
        raise StratError("`weights` must not all be zero, got only zeros; leave them out for equal weights.")
    if not 1e-100 <= array.max() <= 1e100:
        raise StratError(
            f"`weights` must have their largest between 1e-100 and 1e100, got {array.max():g}; divide all by one "
            "number, which changes no share."
        )
    return array.copy()


def _population(population: Population | None, labels: NDArray[Any], of_row: Codes) -> Array:
    if population is None:
        return np.full(len(labels), np.inf)
    if isinstance(population, Mapping):
        made = _per_label("population", population, labels)
    elif np.ndim(population) == 0:
        made = np.full(len(labels), number("population", population))
    else:
        made = _per_row(numbers("population", population, finite=False), len(labels), of_row)
    if np.isnan(made).any() or (made <= 0).any():
        raise StratError(f"`population` must be positive, got {some(made[~(made > 0)])}.")
    if (made[np.isfinite(made)] > 1e100).any():
        raise StratError(f"`population` must be at most 1e100, got {some(made[made > 1e100])}; leave it out instead.")
    return made


def _per_row(population: Array, strata: int, of_row: Codes) -> Array:
    if len(population) != len(of_row):
        raise StratError(
            "`population` must be one number, a mapping from stratum or one value per row, got "
            f"{len(population)} values."
        )
    made = np.empty(strata)
    made[of_row] = population
    if ((made[of_row] != population) & ~np.isnan(population)).any():
        raise StratError("`population` must be the same for all rows of a stratum, got several values in one.")
    return made


def _per_label(argument: str, values: Mapping[Any, float], labels: NDArray[Any]) -> Array:
    known = {plain(label) for label in labels}
    given = {plain(key): number(argument, value) for key, value in values.items()}
    unknown = [key for key in given if key not in known]
    if unknown:
        raise StratError(f"`{argument}` must name strata that have rows, got {some(unknown)} without any.")
    absent = [label for label in map(plain, labels) if label not in given]
    if absent:
        raise StratError(f"`{argument}` must name every stratum, {some(absent)} missing.")
    return np.array([given[plain(label)] for label in labels])


def _items(items: ArrayLike | None, unit: Codes, n: int) -> Codes | None:
    if items is None:
        return None
    codes, labels = encode("items", items)
    if len(codes) != n:
        raise StratError(f"`items` must have one label per row ({n}), got {len(codes)}.")
    return encode("items", unit * len(labels) + codes)[0]


def _counts(counts: ArrayLike, n: int) -> Array:
    array = numbers("counts", counts)
    if len(array) != n or (array <= 0).any():
        raise StratError(f"`counts` must be one positive number per row ({n} rows).")
    return array.copy()

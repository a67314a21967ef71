"""How the rows of a table were drawn, by names of its columns: `design=` of `evaluate`, `compare`, `gate`, `check`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from strat.base import validate
from strat.base.errors import StratError, one_of
from strat.base.validate.arguments import shown, with_hints
from strat.base.validate.names import Names, listed, one_name
from strat.designs.crossed import MOST_FACTORS
from strat.designs.derived import DerivedDesigns
from strat.designs.making import LONE

LAYOUTS = ("crossed", "kinds", "order", "stages")  # fields of designs of another kind than units in strata
BY_STRATUM = ("population", "start", "collapse_by")  # fields that may name a column with one number for each stratum


@with_hints
@dataclass(frozen=True, kw_only=True)
class Sampling:
    """How the rows of a table were drawn, by the names of its columns.

    Strata, units, items and weights can be given to :func:`strat.evaluate` and its kin directly; whatever else a design
    has is said here, all of it in one value that these calls share.

    Parameters
    ----------
    strata
        Fixed groups that cover the population (subjects, tasks, classes).
    units
        What was drawn (passages, patients, repositories); without it each row, or each item.
    items
        What each row is a try of; repeats are a second stage.
    weights
        How many rows of the population each row stands for.
    population
        Units in the population of each stratum: a number, a mapping from stratum, or a column; with `stages` a column
        for each stage.
    crossed
        Columns of two factors or more that were both drawn (readers and cases, judges and items), instead of `units`:
        see :meth:`strat.Design.crossed`.
    kinds
        A column of fixed kinds (pose, prompt template) under which each of these `units` was seen: see
        :meth:`strat.Design.blocks`.
    order
        A column of places along which every k-th row was drawn: see :meth:`strat.Design.systematic`.
    differences, start
        With `order`: the order of the differences between neighbours that make the variance (1 to 4); and the place of
        the first unit drawn, counted from 1 (a number, a mapping from stratum, or a column), with which a linear drift
        moves no mean. A start needs `population`.
    stages
        Columns of units drawn in stages, first stage first: see :meth:`strat.Design.staged`.
    lone
        What to do with a stratum of one unit: "error", "collapse", "certainty", "average" (as variable as the
        others) or "centre" (compared with the mean of all units; R's "adjust" for means and ratios, not for totals).
    collapse_by
        With lone="collapse": a column of numbers, one for each stratum (its size, what was known of it before), by
        which strata are joined with similar ones; by default in the order of their labels.
    nested
        Whether the same unit label in two strata means two units; by default it is an error.
    replicate_weights, scale, mse
        For files that hold the weights of replicates: how the names of these columns start, what squared deviations are
        multiplied by, and whether these are from the full sample's value or (False) from the mean of the replicates:
        see :func:`strat.given`. `weights` are then the full-sample weights.

    Examples
    --------
    >>> import strat
    >>> table = {"good": [1, 1, 0, 1, 0, 0, 1, 1, 0], "judge": [1, 1, 1, 2, 2, 2, 3, 3, 3], "item": [1, 2, 3] * 3}
    >>> strat.evaluate(table, score="good", design=Sampling(crossed=["judge", "item"])).design
    "crossed: 9 rows in 3 levels of 'judge' × 3 levels of 'item'; 2 degrees of freedom"
    """

    strata: str | None = None
    units: str | None = None
    items: str | None = None
    weights: str | None = None
    population: str | float | Mapping[Any, float] | Names | None = None
    crossed: str | Names | None = None
    kinds: str | None = None
    order: str | None = None
    differences: int = 1
    start: str | float | Mapping[Any, float] | None = None
    stages: str | Names | None = None
    lone: str = "error"
    collapse_by: str | None = None
    nested: bool = False
    replicate_weights: str | None = None
    scale: float | None = None
    mse: bool = True

    def __post_init__(self) -> None:
        """Refuse what can't come together."""
        one_of("lone", self.lone, LONE)
        for name in ("strata", "units", "items", "weights", "kinds", "order", "collapse_by", "replicate_weights"):
            value = getattr(self, name)
            if not isinstance(value, str | None):
                raise StratError.about(name, f"must be the name of a column, got {shown(value)}.")
        self._check_layout()
        self._check_order()
        self._check_population()
        self._check_replicates()
        if self.collapse_by is not None and self.lone != "collapse":
            raise StratError.about("collapse_by", f"must go with lone='collapse', got {self.collapse_by!r} without.")

    @classmethod
    def way_out(cls, other: object) -> str:
        """What to write in place of something else that was given as a sampling.

        >>> Sampling.way_out("patient"), Sampling.way_out({"crossed": ["reader", "case"]})
        ("write strat.Sampling(units='patient')", "write strat.Sampling(crossed=['reader', 'case'])")
        """
        if isinstance(other, DerivedDesigns):
            return "a Design of arrays goes to strat.estimate(…, on=design); here columns are named"
        named = other if isinstance(other, Mapping) and other and set(other) <= set(DEFAULTS) else None
        named = {"units": other} if isinstance(other, str) else named
        fields = "units=…" if named is None else ", ".join(f"{name}={shown(value)}" for name, value in named.items())
        return f"write strat.Sampling({fields})"

    @property
    def layout(self) -> str | None:
        """The field that makes it a design of another kind than units in strata, if one does."""
        return next((name for name in LAYOUTS if getattr(self, name) is not None), None)

    @property
    def sizes(self) -> str | float | Mapping[Any, float] | None:
        """Population sizes of units in strata; those of stages are columns with roles of their own."""
        return None if self.stages is not None else self.population  # type: ignore[return-value]

    @property
    def drawn(self) -> dict[str, str]:
        """The columns of the layout by role: "kinds", "order", "crossed:reader", "stages:school", "sizes:school"."""
        roles = {role: name for role, name in (("kinds", self.kinds), ("order", self.order)) if name is not None}
        for argument in ("crossed", "stages"):
            roles |= {f"{argument}:{name}": name for name in self._names(argument)}
        if self.stages is not None:
            columns = zip(self._names("stages"), self._names("population"), strict=False)
            roles |= {f"sizes:{stage}": column for stage, column in columns}
        return roles

    @property
    def by_stratum(self) -> dict[str, str]:
        """The columns that hold one number for each stratum, by field."""
        given = {"population": self.sizes, "start": self.start, "collapse_by": self.collapse_by}
        return {role: name for role, name in given.items() if isinstance(name, str)}

    @property
    def columns(self) -> dict[str, str | None]:
        """Every column that the design is made of, by role."""
        named = {"strata": self.strata, "units": self.units, "items": self.items, "weights": self.weights}
        return {**named, **self.drawn, **self.by_stratum}

    def refuse_replicates(self) -> None:
        """Fail where replicate weights would be ignored."""
        if self.replicate_weights is not None:
            raise StratError.about(
                "replicate_weights", f"must be left out here, got {self.replicate_weights!r}: `evaluate` takes them."
            )

    def _names(self, argument: str) -> list[str]:
        """The names in a field that holds several, in a list or comma-separated."""
        given = getattr(self, argument)
        return [] if given is None else [name for one in listed(argument, given) for name in one.split(",")]

    def _check_layout(self) -> None:
        chosen = [name for name in LAYOUTS if getattr(self, name) is not None]
        if len(chosen) > 1:
            raise StratError.about(chosen[1], f"must be left out beside `{chosen[0]}`: a design is of one kind.")
        if self.crossed is not None and not 2 <= len(self._names("crossed")) <= MOST_FACTORS:
            number = len(self._names("crossed"))
            raise StratError.about("crossed", f"must name two to {MOST_FACTORS} columns, got {number}.")

    def _check_order(self) -> None:
        if not isinstance(self.start, str | Mapping | None):
            validate.number("start", self.start)
        if self.order is None and (self.start is not None or self.differences != 1):
            argument = "differences" if self.start is None else "start"
            raise StratError.about(argument, "must go with `order`: it is about samples drawn along one.")

    def _check_population(self) -> None:
        if self.stages is None:
            several = isinstance(self.population, list | tuple) and all(isinstance(n, str) for n in self.population)
            if several:
                number = len(self._names("population"))
                raise StratError.about("population", f"must be one column without `stages`, got {number}.")
            return
        stages, sizes = len(self._names("stages")), len(self._names("population"))
        if self.population is not None and sizes != stages:
            raise StratError.about("population", f"must name a column for each stage ({stages}), got {sizes}.")

    def _check_replicates(self) -> None:
        if self.replicate_weights is None:
            if self.scale is not None or not self.mse:
                raise StratError.about(
                    "scale", "and `mse` must be left out without `replicate_weights`, whose deviations they scale."
                )
            return
        if self.layout is not None:
            raise StratError.about(self.layout, "must be left out beside `replicate_weights`: these are the design.")
        if self.weights is None:
            raise StratError.about(
                "weights", "must name the column of full-sample weights beside `replicate_weights`, got None."
            )
        if self.scale is None:
            raise StratError.about(
                "scale",
                "must be given beside `replicate_weights`, got None; of R replicates it is 1/R for BRR and the "
                "bootstrap, 1/(R (1 - rho)²) for Fay's method and (R - 1)/R for the jackknife (JK1).",
            )


DEFAULTS = {field.name: field.default for field in fields(Sampling)}


def sampling_of(design: Sampling | None, *, clusters: str | None = None, **given: Any) -> Sampling:
    """The sampling that was given as one value, or argument by argument; not in both ways at once."""
    given["units"] = one_name(units=given["units"], clusters=clusters)
    if design is None:
        return Sampling(**given)
    for name, value in given.items():
        if value != DEFAULTS[name]:
            raise StratError.about(
                name, f"must be left out beside `design`, got {shown(value)}; say it there: strat.Sampling({name}=…)."
            )
    return design

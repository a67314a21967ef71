"""The plan of an evaluation at its four levels of sampling (STRAT 2.1, 2.2)."""

from __future__ import annotations

from dataclasses import dataclass

from strat.base.errors import one_of
from strat.base.notes import Note
from strat.base.result import in_notebooks

KINDS = ("simple random", "stratified", "clustered", "stratified clusters", "systematic", "crossed", "blocks", "staged")


@in_notebooks
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

    def warning(self, design: str) -> Note | None:
        """What is wrong with analysing by this kind of design what the plan sampled, and in which direction; or None.

        >>> print(Plan(population="stratified").warning("simple random"))
        The plan samples the population with strata, which the analysis (simple random) ignores. Intervals will usually
        be too wide. Name the strata in the design.
        """
        if self.analysis is not None and self.analysis != design:
            return Note("plan-ignored", {"case": "analysis", "planned": self.analysis, "kind": design})
        missing = self.missing_from(design)
        if not missing:
            return None
        narrow, wide = any(s in _NARROW for s in missing), any(s not in _NARROW for s in missing)
        direction = "too narrow or too wide" if narrow and wide else "too narrow" if narrow else "too wide"
        facts = {"missing": " and ".join(missing), "sure": not (narrow and wide), "direction": direction}
        return Note("plan-ignored", {"case": "structure", "kind": design, **facts})

    def __str__(self) -> str:
        """The plan in a few lines."""
        text = f"population: {self.population}; system: {self.system}; model: {self.model}; "
        text += f"analysis: {self.analysis or 'as the design'}"
        for name in ("context", "experiment"):
            if getattr(self, name):
                text += f"; {name}: {getattr(self, name)}"
        if self.trials is not None:
            text += f"; trials: {self.trials}"
        for name, word in (("explicit", "controlled"), ("implicit", "not controlled")):
            if getattr(self, name):
                text += f"; {word}: {', '.join(getattr(self, name))}"
        return text


_NARROW = ("clusters", "crossed factors")  # rows that are more like each other than rows drawn apart


def _structure(kind: str) -> tuple[str, ...]:
    return {
        "stratified": ("strata",),
        "clustered": ("clusters",),
        "stratified clusters": ("strata", "clusters"),
        "systematic": ("order",),
        "crossed": ("clusters", "crossed factors"),
        "staged": ("clusters",),
    }.get(kind, ())

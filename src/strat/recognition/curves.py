"""Curves of ranks with their errors: the cumulative match score of one system or of several on the same probes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strat.colours import OKABE_ITO
from strat.columns import Array, Codes
from strat.designs import Design
from strat.doors import checked
from strat.errors import StratError, one_of, some
from strat.estimation import Estimate, estimate
from strat.notebook import in_words
from strat.recognition.ranks import TIES, Ranks
from strat.replication import Replicates, bootstrap, brr, generalized, jackknife
from strat.statistics.base import Statistic
from strat.statistics.means import stack
from strat.statistics.ranks import cms, mean_reciprocal_rank, within_rank
from strat.words import counted

TARGETS = ("population", "these subjects")
METHODS = ("closed form", "brr", "jackknife", "bootstrap")


@checked
def design_of(subject: ArrayLike, target: str = "population") -> Design:
    """The design of probes with these subjects, by what is to be inferred (ERRATA 10).

    ``"population"``: subjects were drawn from a population of subjects and are the units. ``"these subjects"``: the
    subjects are fixed strata and their images were drawn; each needs two probes or more.

    >>> print(design_of(["a", "a", "b", "b"], "these subjects"))
    stratified: 4 rows in 4 units in 2 strata of 2; 2 degrees of freedom
    """
    one_of("target", target, TARGETS)
    return Design.clustered(units=subject) if target == "population" else Design.stratified(strata=subject)


def replicated(design: Design, method: str, replicates: int = 1000, rng: int = 0) -> Design | Replicates:
    """The design itself for the closed form, or its replicates; BRR of any number of units per stratum."""
    one_of("method", method, METHODS)
    if method == "closed form":
        return design
    if method == "jackknife":
        return jackknife(design)
    if method == "bootstrap":
        return bootstrap(design, replicates=replicates, rng=rng)
    try:
        return brr(design)
    except StratError:
        return generalized(design)


def places(gallery_size: int, points: int = 60) -> Codes:
    """Ranks to draw a curve at: all the first ones, then evenly on a logarithmic scale.

    >>> places(1000, points=10).tolist()
    [1, 2, 5, 10, 22, 46, 100, 215, 464, 1000]
    """
    return np.unique(np.rint(np.geomspace(1, gallery_size, points)).astype(np.int64))


@in_words
@dataclass(frozen=True, eq=False)
class MatchCurve:
    """Cumulative match scores of one or more systems on the same probes, with their joint errors.

    Attributes
    ----------
    estimate
        Systems × ranks.
    systems
        Names of the systems.
    gallery_size
        N.
    probes, subjects
        How many there are.
    tied
        How many probes tie with a non-mate, for each system.
    """

    estimate: Estimate
    systems: tuple[str, ...]
    gallery_size: int
    probes: int
    subjects: int
    tied: tuple[int, ...]
    target: str
    ties: str

    @property
    def ranks(self) -> Array:
        """Ranks at which the curve stands."""
        return np.asarray(self.estimate.axes[-1].labels, float)

    @checked
    def of(self, system: str | None = None) -> Estimate:
        """The curve of one system (the only one by default)."""
        if system is None and len(self.systems) > 1:
            raise StratError(f"`system` must be one of {some(self.systems)}, got None.")
        return self.estimate.at(self.systems[0] if system is None else system)

    @checked
    def difference(self, a: str, b: str) -> Estimate:
        """A's curve less b's, paired by probe and by subject: its band says at which ranks they differ."""
        i, j = (self._index(name) for name in (a, b))
        gap = self.estimate.map(lambda v: v[..., i, :] - v[..., j, :], name=f"CMS, {a} less {b}", bounds=(-1.0, 1.0))
        return replace(gap, axes=self.estimate.axes[1:])

    def _index(self, name: str) -> int:
        if name not in self.systems:
            raise StratError(f"`system` must be one of {some(self.systems)}, got {name!r}.")
        return self.systems.index(name)

    def __str__(self) -> str:
        """First and last points in words, with what was counted."""
        lines = [
            f"{counted(self.probes, 'probe')} of {counted(self.subjects, 'subject')}, N = {self.gallery_size}; "
            f"for {_words(self.target)}; ties with non-mates {self.ties}"
        ]
        for name, tied in zip(self.systems, self.tied, strict=True):
            curve = self.of(name)
            low, high = (np.asarray(side) for side in curve.interval())
            deff = np.asarray(curve.deff)[0] if curve.deff is not None else np.nan
            lines.append(
                f"{name}: rank 1 {curve.point[0]:.4f} (se {np.asarray(curve.se)[0]:.4f}, 95 % {low[0]:.4f} to "
                f"{high[0]:.4f}, design effect {deff:.1f}); {tied} tied"
            )
        return "\n".join(lines)

    def plot(self, ax: Any = None, *, axis: str = "log", level: float = 0.95, band: bool = True) -> Any:
        """The curves with intervals (dark) and simultaneous bands (light); axis "log", "linear" or "relative"."""
        one_of("axis", axis, ("log", "linear", "relative"))
        ax = new_axes(ax)
        x = self.ranks / self.gallery_size if axis == "relative" else self.ranks
        for k, name in enumerate(self.systems):
            draw_curve(ax, x, self.of(name), name, OKABE_ITO[k % len(OKABE_ITO)], level, band)
        if axis == "log":
            ax.set_xscale("log")
        ax.set_xlabel("relative rank, r / N" if axis == "relative" else f"rank (N = {self.gallery_size})")
        ax.set_ylabel("cumulative match score")
        ax.legend(frameon=False, loc="lower right")
        return ax


def _words(target: str) -> str:
    return "the population of subjects" if target == "population" else "these very subjects"


def new_axes(ax: Any) -> Any:
    """`ax`, or the axes of a new figure."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(6.4, 4.4), layout="constrained")[1]


def draw_curve(ax: Any, x: Array, curve: Estimate, name: str, color: str, level: float, band: bool) -> None:
    """One curve with its interval, and its band if wanted."""
    ax.plot(x, curve.point, color=color, label=name, lw=1.6)
    low, high = curve.interval(level)
    ax.fill_between(x, low, high, color=color, alpha=0.28, lw=0)
    if band:
        low, high = curve.band(level)
        ax.fill_between(x, low, high, color=color, alpha=0.12, lw=0)


@checked
def match_curve(
    ranks: Ranks | Mapping[str, Ranks],
    *,
    target: str = "population",
    design: Design | None = None,
    method: str = "closed form",
    at: ArrayLike | None = None,
    up_to: int | None = None,
    ties: str = "pessimistic",
) -> MatchCurve:
    """The CMS curve of one system, or of several on the same probes, with errors.

    Parameters
    ----------
    ranks
        Ranks of one system, or a name and ranks for each of several.
    target
        What the figure is about: ``"population"`` (subjects are the sampled units) or ``"these subjects"`` (subjects
        are strata, their images were sampled).
    design
        The design of the mated probes instead of the one that `target` makes.
    method
        ``"closed form"``, ``"brr"``, ``"jackknife"`` or ``"bootstrap"``.
    at, up_to
        Ranks of the curve; None: up to the gallery's size, evenly on a logarithmic scale.
    ties
        ``"pessimistic"`` (ERRATA 9), ``"optimistic"`` or ``"expected"``.

    Examples
    --------
    >>> from strat.recognition import ranks
    >>> s = [[9, 1, 2], [8, 2, 9], [1, 7, 2], [3, 6, 1], [1, 2, 5], [4, 1, 5]]
    >>> r = ranks(similarity=s, probes=list("aabbcc"), gallery=list("abc"))
    >>> match_curve(r, up_to=2).of().value.round(3).tolist()
    [0.833, 1.0]
    """
    systems = ranks if isinstance(ranks, Mapping) else {"system": ranks}
    first = _same_probes(systems)
    mated = first.mated
    if at is None and up_to is None:
        at = places(max(first.gallery_size, 1))
    statistics = {name: cms_of(r, at=at, up_to=up_to, ties=ties) for name, r in systems.items()}
    design = design_of(first.subject[mated], target) if design is None else design
    found = estimate(stack("system", **statistics), on=replicated(design, method))
    return MatchCurve(
        found,
        tuple(systems),
        first.gallery_size,
        int(mated.sum()),
        len(np.unique(first.subject[mated])),
        tuple(r.tied_probes for r in systems.values()),
        target,
        ties,
    )


def _same_probes(systems: Mapping[str, Ranks]) -> Ranks:
    if not systems:
        raise StratError("`ranks` must hold at least one system, got none.")
    (name, first), *others = systems.items()
    for other, r in others:
        if len(r) != len(first) or (r.subject != first.subject).any() or (r.rows != first.rows).any():
            raise StratError(
                f"`ranks` of several systems must be of the same probes in the same order, got others for {other!r} "
                f"than for {name!r}; were failures left out of one of them?"
            )
        if (r.mated != first.mated).any():
            raise StratError(f"`ranks` must have the same mated probes, got others for {other!r} than for {name!r}.")
    if not first.mated.any():
        raise StratError("`ranks` must have mated probes, got none: a closed-set curve has nothing to count.")
    return first


def _for_ties(ranks: Ranks, ties: str) -> tuple[Array, NDArray[np.int64] | None]:
    one_of("ties", ties, TIES)
    mated = ranks.mated
    if ties == "expected":
        return ranks.rank("optimistic")[mated], ranks.tied[mated]
    return ranks.rank(ties)[mated], None


@checked
def cms_of(
    ranks: Ranks, *, at: ArrayLike | None = None, up_to: int | None = None, ties: str = "pessimistic"
) -> Statistic:
    """The CMS statistic of the mated probes, with a rule for ties."""
    values, tied = _for_ties(ranks, ties)
    return cms(values, at=at, up_to=up_to, tied=tied)


@checked
def within_rank_of(ranks: Ranks, k: int = 1, *, ties: str = "pessimistic") -> Statistic:
    """The rank-k rate of the mated probes, with a rule for ties."""
    values, tied = _for_ties(ranks, ties)
    return within_rank(values, k, tied=tied)


@checked
def reciprocal_rank_of(ranks: Ranks, *, ties: str = "pessimistic") -> Statistic:
    """The mean reciprocal rank of the mated probes, with a rule for ties."""
    values, tied = _for_ties(ranks, ties)
    return mean_reciprocal_rank(values, tied=tied)

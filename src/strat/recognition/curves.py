"""Curves of ranks with their errors: the cumulative match score of one system or of several on the same probes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strat.base import extras
from strat.base.errors import StratError, drawable, one_of, some
from strat.base.notes import Note, codes_of
from strat.base.result import Result
from strat.base.text import counted
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, Codes
from strat.designs import Design
from strat.estimation import Estimate, estimate
from strat.estimation.functions import Difference
from strat.measures.base import Statistic
from strat.measures.means import mean
from strat.measures.ranks import cms, mean_reciprocal_rank, within_rank
from strat.measures.stacking import stack
from strat.recognition.ranks import TIES, Ranks
from strat.replication import Replicates, bootstrap, brr, generalized, jackknife
from strat.show.colours import OKABE_ITO
from strat.show.drawing import in_text, limits_last
from strat.show.figures import new_axes

TARGETS = ("population", "these subjects")
AVERAGES = ("probes", "subjects")
METHODS = ("closed form", "brr", "jackknife", "bootstrap")
ALONE = "system"  # what the only system is called where nobody named it


@checked
def design_of(subject: ArrayLike, target: str = "population", average: str = "probes") -> Design:
    """The design of probes with these subjects, by what is to be inferred (ERRATA 10).

    ``"population"``: subjects were drawn from a population of subjects and are the units. ``"these subjects"``: the
    subjects are fixed strata and their images were drawn; each needs two probes or more. With
    ``average="subjects"`` each subject counts the same, however many probes it has.

    >>> print(design_of(["a", "a", "b", "b"], "these subjects"))
    stratified: 4 rows in 4 units in 2 strata of 2; 2 degrees of freedom
    """
    one_of("target", target, TARGETS)
    one_of("average", average, AVERAGES)
    weights = None
    if average == "subjects":
        _, code, count = np.unique(np.asarray(subject), return_inverse=True, return_counts=True)
        weights = 1.0 / count[code.reshape(-1)]
    if target == "population":
        return Design.clustered(units=subject, weights=weights)
    return Design.stratified(strata=subject, weights=weights)


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


@dataclass(frozen=True, eq=False, repr=False)
class MatchCurve(Result):
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
            raise StratError.about("system", f"must be one of {some(self.systems)}, got None.")
        return self.estimate.at(self.systems[0] if system is None else system)

    @checked
    def difference(self, a: str, b: str) -> Estimate:
        """A's curve minus b's, paired by probe and by subject: its band says at which ranks they differ."""
        i, j = (self._index(name) for name in (a, b))
        gap = self.estimate.map(
            Difference((i, slice(None)), (j, slice(None))), name=f"CMS, {a} − {b}", bounds=(-1.0, 1.0)
        )
        return replace(gap, axes=self.estimate.axes[1:])

    def _index(self, name: str) -> int:
        if name not in self.systems:
            raise StratError.about("system", f"must be one of {some(self.systems)}, got {name!r}.")
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
                f"{high[0]:.4f}, df {np.asarray(curve.df)[0]:.4g}, design effect {deff:.1f}); {tied} tied"
            )
        return "\n".join([*lines, *(f"note: {note}" for note in self.estimate.notes)])

    @checked
    def to_dict(self, level: float = 0.95) -> dict[str, list[Any]]:
        """Columns: a line for each point of the curves, with its standard error and limits."""
        return self.estimate.to_dict(level)

    @checked
    def to_frame(self, library: str | None = None, level: float = 0.95) -> Any:
        """The columns as a data frame of pandas, Polars or PyArrow (the first that is loaded or installed)."""
        return self.estimate.to_frame(library, level)

    def plot(self, ax: Any = None, *, axis: str = "log", level: float = 0.95, band: bool = True) -> Any:
        """The curves with limits; axis "log", "linear" or "relative".

        One curve has the band that holds for all ranks at once if `band` says so; several have intervals at each rank.
        """
        one_of("axis", axis, ("log", "linear", "relative"))
        ax = new_axes(ax)
        x = self.ranks / self.gallery_size if axis == "relative" else self.ranks
        banded = band and len(self.systems) == 1
        for k, name in enumerate(self.systems):
            curve = self.of(name)
            figure = f"rank {self.ranks[0]:g} {in_text(curve, level)}"
            title = figure if self.systems == (ALONE,) else f"{drawable(name)}: {figure}"
            draw_curve(ax, x, curve, title, OKABE_ITO[k % len(OKABE_ITO)], level, banded)
        if axis == "log":
            ax.set_xscale("log")
            whole_ranks(ax, self.gallery_size)
        elif axis == "linear":
            ax.set_xlim(1, self.gallery_size)
            ax.set_xticks([1, *(t for t in ax.get_xticks() if 1 < t <= self.gallery_size)])
        ax.set_xlabel("relative rank, r / N" if axis == "relative" else f"rank (of {self.gallery_size:,} enrolled)")
        ax.set_ylabel("identification rate (cumulative match)")
        ax.set_ylim(top=1.01)
        limits_last(ax, loc="lower right", fontsize=8)
        return ax


def whole_ranks(ax: Any, gallery_size: int) -> None:
    """Ticks of a logarithmic axis at the whole ranks 1, 2, 5, 10 and so on."""
    ticker = extras.load("matplotlib.ticker")
    steps = [m * 10**e for e in range(len(str(gallery_size))) for m in (1, 2, 5) if m * 10**e <= gallery_size]
    ax.xaxis.set_major_locator(ticker.FixedLocator(steps))
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.xaxis.set_minor_locator(ticker.NullLocator())
    ax.xaxis.set_minor_formatter(ticker.NullFormatter())


def _words(target: str) -> str:
    return "the population of subjects" if target == "population" else "these very subjects"


def draw_curve(ax: Any, x: Array, curve: Estimate, name: str, color: str, level: float, band: bool) -> None:
    """One curve with its intervals, or with its band if wanted; `name` is a label that is safe to draw."""
    first = not ax.get_lines()
    ax.plot(x, curve.point, color=color, label=name, lw=1.7)
    low, high = curve.band(level) if band else curve.interval(level)
    what = "band of the whole curve" if band else "interval at each place"
    label = f"{100 * level:g} % {what}" if first else None
    ax.fill_between(x, low, high, color=color, alpha=0.25, lw=0, label=label)


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
    average: str = "probes",
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
    average
        What counts the same: ``"probes"`` (how often is a probe like these found) or ``"subjects"`` (how often is a
        subject found, whoever has more images).

    Examples
    --------
    >>> from strat.recognition import ranks
    >>> s = [[9, 1, 2], [8, 2, 9], [1, 7, 2], [3, 6, 1], [1, 2, 5], [4, 1, 5]]
    >>> r = ranks(similarity=s, probes=list("aabbcc"), gallery=list("abc"))
    >>> match_curve(r, up_to=2).of().value.round(3).tolist()
    [0.833, 1.0]
    """
    systems = ranks if isinstance(ranks, Mapping) else {ALONE: ranks}
    first = _same_probes(systems)
    mated = first.mated
    if at is None and up_to is None:
        at = places(max(first.gallery_size, 1))
    statistics = {name: cms_of(r, at=at, up_to=up_to, ties=ties) for name, r in systems.items()}
    chosen = design_of(first.subject[mated], target, average) if design is None else design
    curve = estimate(stack("system", **statistics), on=replicated(chosen, method))
    if design is None and average == "probes" and "heavy-units" in codes_of(curve.notes):
        curve = replace(curve, notes=(*curve.notes, *_each_the_same(systems, statistics, target)))
    return MatchCurve(
        _rising(curve, systems),
        tuple(systems),
        first.gallery_size,
        int(mated.sum()),
        len(np.unique(first.subject[mated])),
        tuple(r.tied_probes for r in systems.values()),
        target,
        ties,
    )


def _each_the_same(systems: Mapping[str, Ranks], curves: Mapping[str, Statistic], target: str) -> Iterator[Note]:
    """The first rate of each system where every subject counts the same, beside one that a few subjects make."""
    first = next(iter(systems.values()))
    design = design_of(first.subject[first.mated], target, "subjects")
    for name, curve in curves.items():
        rank = curve.axes[-1].labels[0]
        rate = estimate(cms_of(systems[name], at=[rank]), on=design).at(rank)
        low, high = rate.interval()
        facts = {"rank": rank, "value": float(rate.value), "low": float(low), "high": float(high), "df": float(rate.df)}
        yield Note("each-subject-the-same", facts, {} if name == ALONE else {"system": (name,)})


def _rising(curve: Estimate, systems: Mapping[str, Ranks]) -> Estimate:
    """The curves with limits that never fall, and that are 1 at rank N, where every mate is, unless probes failed."""
    at = np.asarray(curve.axes[-1].labels, float)
    known = np.stack([(at >= r.gallery_size) & (not (r.failed & r.mated).any()) for r in systems.values()])
    return curve.changed(effective_units=np.where(known, np.inf, curve.effective_units), monotone=1)


def _same_probes(systems: Mapping[str, Ranks]) -> Ranks:
    if not systems:
        raise StratError.about("ranks", "must hold at least one system, got none.")
    (name, first), *others = systems.items()
    for other, r in others:
        if len(r) != len(first) or (r.subject != first.subject).any() or (r.rows != first.rows).any():
            raise StratError.about(
                "ranks",
                f"of several systems must be of the same probes in the same order, got others for {other!r} "
                f"than for {name!r}; were failures left out of one of them?",
            )
        if (r.mated != first.mated).any():
            raise StratError.about(
                "ranks", f"must have the same mated probes, got others for {other!r} than for {name!r}."
            )
    if not first.mated.any():
        raise StratError.about("ranks", "must have mated probes, got none: a closed-set curve has nothing to count.")
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
    return replace(cms(values, at=at, up_to=up_to, tied=tied), notes=ranks.notes)


@checked
def within_rank_of(ranks: Ranks, k: int = 1, *, ties: str = "pessimistic") -> Statistic:
    """The rank-k rate of the mated probes, with a rule for ties."""
    values, tied = _for_ties(ranks, ties)
    return replace(within_rank(values, k, tied=tied), notes=ranks.notes)


@checked
def reciprocal_rank_of(ranks: Ranks, *, ties: str = "pessimistic") -> Statistic:
    """The mean reciprocal rank of the mated probes, with a rule for ties."""
    values, tied = _for_ties(ranks, ties)
    return replace(mean_reciprocal_rank(values, tied=tied), notes=ranks.notes)


@checked
def relative_rank_of(ranks: Ranks, by: str = "N", *, ties: str = "pessimistic") -> Statistic:
    """The mean relative rank of the mated probes, of the N entries or of the m mated probes (STRAT 2.2).

    A failure counts as the last rank.

    Examples
    --------
    >>> from strat.recognition import ranks
    >>> r = ranks(similarity=[[9, 1], [3, 8], [5, 2], [2, 7]], probes=list("abba"), gallery=list("ab"))
    >>> relative_rank_of(r).value().tolist(), relative_rank_of(r, "m").value().tolist()
    (0.75, 0.375)
    """
    last = 1.0 if by == "N" else ranks.gallery_size / int(ranks.mated.sum())
    values = np.minimum(ranks.relative_rank(by, ties)[ranks.mated], last)
    name = f"mean relative rank, r / {by}"
    return replace(mean(values), name=name, link="logit", bounds=(0.0, max(1.0, last)), notes=ranks.notes)

"""Several matchers on the same comparisons, or on the same searches: differences that pair them by subject."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from strat.base.errors import StratError, drawable, one_of, some
from strat.base.notes import Note, of_each
from strat.base.result import Result
from strat.base.text import counted
from strat.base.validate.arguments import checked
from strat.designs import Design
from strat.estimation import Estimate, estimate
from strat.estimation.frames import frame
from strat.estimation.functions import Difference
from strat.measures.base import Axis
from strat.measures.stacking import stack
from strat.recognition import measures
from strat.recognition.measures import Cost
from strat.recognition.open_set import OpenSet
from strat.recognition.thresholds import wanted_rates
from strat.recognition.two_way import Functional, moved, sums_of
from strat.recognition.verification import USUAL_FMR, Verification
from strat.show.colours import GREY, OKABE_ITO
from strat.show.drawing import limits_last
from strat.show.figures import new_axes

At = float | Cost | None


@dataclass(frozen=True, eq=False, repr=False)
class MatcherComparison(Result):
    """Matchers that made the same comparisons, and what can be asked of their differences.

    Attributes
    ----------
    systems
        The name and the comparisons of each matcher.
    """

    systems: Mapping[str, Verification]

    def __str__(self) -> str:
        """The equal error rate of each system, and the differences of neighbours."""
        lines = [f"{name}: {v.eer()}" for name, v in self.systems.items()]
        return "\n".join([*lines, *(str(self.difference(a, b)) for a, b in pairwise(self.systems))])

    @checked
    def measure(self, name: str = "eer", at: float | Cost | None = None) -> dict[str, Estimate]:
        """A measure of each system (see `Verification.measure`)."""
        return {system: v.measure(name, at) for system, v in self.systems.items()}

    @checked
    def difference(
        self, a: str, b: str, measure: str = "eer", at: float | Cost | None = None, *, at_b: float | None = None
    ) -> Estimate:
        """A measure of system `a` minus that of `b`, with an error that pairs the comparisons and knows the subjects.

        Parameters
        ----------
        a, b
            Names of systems.
        measure
            "eer", "auc", "cllr", "min_cllr", "zero_fmr"; "fnmr_at", "tar_at"; "fmr", "fnmr"; "min_dcf", "act_dcf".
        at
            The false match rate, the threshold or the `Cost`, where the measure needs one.
        at_b
            The threshold of `b` where scores of both have scales of their own; None: that of `a`.
        """
        one_of("measure", measure, measures.NAMES)
        if at_b is not None and measure not in measures.OF_THRESHOLD:
            raise StratError.about("at_b", f"must be left out for {measure!r}, got {at_b!r}; it is a threshold of 'b'.")
        first = measures.functional(self._of(a), measure, at)
        second = measures.functional(self._of(b), measure, at if at_b is None else at_b)
        gap = self._gap(a, b, [first], [second], name=first.name)
        return replace(gap.at(0), name=gap.name)

    @checked
    def det_difference(self, a: str, b: str, fmr: ArrayLike | None = None) -> Estimate:
        """FNMR of `a` minus that of `b` at false match rates, each at its own threshold; `.band()` holds for all."""
        v, w = self._of(a), self._of(b)
        wanted = v.grid() if fmr is None else np.unique(wanted_rates("fmr", fmr))
        lists = [[measures.fnmr_at(s, float(rate)) for rate in wanted] for s in (v, w)]
        return replace(self._gap(a, b, *lists, name="FNMR"), axes=(Axis("FMR", tuple(wanted.tolist())),))

    def _of(self, name: str) -> Verification:
        if not isinstance(name, str) or name not in self.systems:
            raise StratError.about("a", f"and `b` must be among {some(list(self.systems))}, got {name!r}.")
        return self.systems[name]

    def _gap(self, a: str, b: str, first: list[Functional], second: list[Functional], *, name: str) -> Estimate:
        """Differences of measures of two systems, which made the same comparisons."""
        v, w = self._of(a), self._of(b)
        terms = [[(0, 1.0, f), (1, -1.0, g)] for f, g in zip(first, second, strict=True)]
        part = moved(v.comparisons, sums_of([v.comparisons, w.comparisons], terms))
        point = np.array([f.value - g.value for f, g in zip(first, second, strict=True)])
        most = first[0].bounds[1]
        gap = v.as_estimate(f"{name}, {a} − {b}", point, part, (Axis("value", tuple(range(len(point)))),))
        still = (part.variance == 0) & (point == 0)
        noted = of_each("system", {a: v.comparisons.noted, b: w.comparisons.noted}, ())
        alike = (Note("no-variation", {"case": "decisions", "unit": "subject"}),) if still.any() else ()
        notes = (*v.heavy_notes(), *noted, *alike)
        return gap.changed(link="identity", bounds=(-most, most), effective_units=np.inf, notes=notes)

    @checked
    def to_dict(self, fmr: ArrayLike = USUAL_FMR, level: float = 0.95) -> dict[str, list[Any]]:
        """Columns: EER and FNMR at these false match rates of each system, then differences from the first system."""
        rates = np.atleast_1d(wanted_rates("fmr", fmr)).tolist()
        asked: list[tuple[str, At]] = [("eer", None), *(("fnmr_at", rate) for rate in rates)]
        rows = [(system, v.measure(name, at)) for system, v in self.systems.items() for name, at in asked]
        first, *others = self.systems
        rows += [(f"{first} − {b}", self.difference(first, b, name, at)) for b in others for name, at in asked]
        parts = [{"system": [system], **e.to_dict(level)} for system, e in rows]
        for part, (_, e) in zip(parts, rows, strict=True):
            part["pvalue"] = [float(e.test().pvalue) if e.bounds[0] < 0 else np.nan]
            part["statistic"] = [part["statistic"][0].split(",")[0]]
        return {name: [part[name][0] for part in parts] for name in parts[0]}

    @checked
    def to_frame(self, library: str | None = None, fmr: ArrayLike = USUAL_FMR, level: float = 0.95) -> Any:
        """The columns as a data frame of pandas, Polars or PyArrow (the first that is loaded or installed)."""
        return frame(self.to_dict(fmr, level), library)

    def plot(self, ax: Any = None, *, axis: str = "probit", level: float = 0.95) -> Any:
        """The DET curves (or ROCs) of all systems in one picture, with intervals."""
        for k, (name, v) in enumerate(self.systems.items()):
            ax = v.det().plot(ax, axis=axis, level=level, name=name, color=OKABE_ITO[k % len(OKABE_ITO)])
        return ax

    def plot_difference(self, a: str, b: str, ax: Any = None, *, level: float = 0.95) -> Any:
        """The difference of two DET curves with the band that holds for all false match rates at once."""
        gap = self.det_difference(a, b)
        ax = new_axes(ax)
        x = np.asarray(gap.axes[-1].labels, float)
        low, high = gap.band(level)
        ax.axhline(0.0, color=GREY, lw=1, ls="--", gid="strat-reference")
        ax.fill_between(
            x, low, high, color=OKABE_ITO[0], alpha=0.25, lw=0, label=f"{100 * level:g} % band of the whole curve"
        )
        ax.plot(x, gap.point, color=OKABE_ITO[0], lw=1.7, label=drawable(f"{a} − {b}"))
        ax.set_xscale("log")
        ax.set_xlabel(f"false match rate\n{counted(self._of(a).subjects, 'subject')}, each system at its own threshold")
        ax.set_ylabel("difference of false non-match rates")
        limits_last(ax, fontsize=8)
        return ax


@checked
def compare_matchers(systems: Mapping[str, Verification]) -> MatcherComparison:
    """Matchers on the same comparisons, for differences with errors that pair them.

    Parameters
    ----------
    systems
        A name and the comparisons of each, all of the same images in the same order.

    Examples
    --------
    >>> from strat.recognition import verification
    >>> who = dict(probes=list("abcd"), gallery=list("abcd"))
    >>> v = verification(similarity=[[9, 2, 4, 1], [3, 8, 1, 1], [2, 6, 5, 3], [2, 1, 1, 7]], **who)
    >>> w = verification(similarity=[[9, 2, 4, 8], [3, 8, 1, 1], [2, 6, 5, 3], [2, 1, 1, 2]], **who)
    >>> gap = compare_matchers({"A": v, "B": w}).difference("A", "B", "auc")
    >>> round(float(gap.value), 4)
    0.1667
    """
    _of_kind(systems, Verification)
    (name, first), *others = systems.items()
    for other, v in others:
        if not first.comparisons.same(v.comparisons):
            raise StratError.about(
                "systems",
                f"must have made the same comparisons in the same order, got others for {other!r} than for "
                f"{name!r}; were failures left out of one of them, or `average` chosen differently?",
            )
    return MatcherComparison(dict(systems))


def _of_kind(systems: Mapping[str, Any], kind: type) -> None:
    if not isinstance(systems, Mapping) or len(systems) < 2 or not all(isinstance(v, kind) for v in systems.values()):
        raise StratError.about(
            "systems",
            f"must name two {kind.__name__} results or more, got {some([systems])}; such as {{'A': a, 'B': b}}.",
        )


@dataclass(frozen=True, eq=False, repr=False)
class OpenSetComparison(Result):
    """Systems that made the same searches of a gallery of one size, and their differences.

    Attributes
    ----------
    systems
        The name and the searches of each system.
    """

    systems: Mapping[str, OpenSet]

    def _columns(self) -> dict[str, list[Any]]:
        """A line for each system: its searches."""
        each = list(self.systems.values())
        return {
            "system": list(self.systems),
            "gallery_size": [one.gallery_size for one in each],
            "max_rank": [one.max_rank for one in each],
            "mated": [int(one.mated.sum()) for one in each],
            "nonmated": [int((~one.mated).sum()) for one in each],
        }

    def __str__(self) -> str:
        """What was searched."""
        return "; ".join(f"{name}: {searches}" for name, searches in self.systems.items())

    @checked
    def fnir_at(self, fpir: ArrayLike) -> Estimate:
        """FNIR of each system at false positive identification rates, jointly: axes system and FPIR."""
        wanted = np.atleast_1d(wanted_rates("fpir", fpir))
        first = next(iter(self.systems.values()))
        joint = stack("system", {name: searches.fnir_statistic(wanted) for name, searches in self.systems.items()})
        rates = estimate(joint, on=first.design)
        return replace(rates, axes=(rates.axes[0], Axis("FPIR", tuple(wanted.tolist()))))

    @checked
    def difference(self, a: str, b: str, fpir: ArrayLike) -> Estimate:
        """FNIR of `a` minus that of `b` at these FPIR, paired by subject; `.band()` holds for all of them."""
        names = list(self.systems)
        for name in (a, b):
            if not isinstance(name, str) or name not in names:
                raise StratError.about("a", f"and `b` must be among {some(names)}, got {name!r}.")
        i, j = names.index(a), names.index(b)
        joint = self.fnir_at(fpir)
        gap = joint.map(Difference((i, slice(None)), (j, slice(None))), name=f"FNIR, {a} − {b}", bounds=(-1.0, 1.0))
        return replace(gap, axes=joint.axes[1:])

    @checked
    def difference_at(self, a: str, b: str, threshold: float, *, threshold_b: float | None = None) -> Estimate:
        """FPIR and FNIR of `a` minus those of `b` at thresholds chosen beforehand, paired by subject.

        Parameters
        ----------
        a, b
            Names of systems.
        threshold
            The threshold of `a`.
        threshold_b
            That of `b` where scores of both have scales of their own; None: that of `a`.
        """
        for name in (a, b):
            if not isinstance(name, str) or name not in self.systems:
                raise StratError.about("a", f"and `b` must be among {some(list(self.systems))}, got {name!r}.")
        chosen = {"a": (a, threshold), "b": (b, threshold if threshold_b is None else threshold_b)}
        parts = {side: self.systems[name].rates_statistic(t) for side, (name, t) in chosen.items()}
        own = Axis("threshold", ("its own",))
        joint = stack("system", {side: replace(part, axes=(part.axes[0], own)) for side, part in parts.items()})
        rates = estimate(joint, on=self.systems[a].design)
        gap = rates.map(
            Difference((0, slice(None), 0), (1, slice(None), 0)), name=f"error rates, {a} − {b}", bounds=(-1.0, 1.0)
        )
        return replace(gap, axes=(Axis("rate", ("FPIR", "FNIR")),))

    def plot(self, ax: Any = None, *, level: float = 0.95) -> Any:
        """FNIR against FPIR of all systems in one picture."""
        for name, searches in self.systems.items():
            ax = searches.plot(ax, level=level, name=name)
        return ax


@checked
def compare_open_sets(systems: Mapping[str, OpenSet]) -> OpenSetComparison:
    """Systems on the same searches, for paired differences of FNIR at FPIR.

    Parameters
    ----------
    systems
        A name and the searches of each, of the same probes in the same order.

    Examples
    --------
    >>> from strat.recognition import open_set, ranks
    >>> who = dict(probes=list("abxy"), gallery=list("ab"), open_set=True)
    >>> a = open_set(ranks(similarity=[[9, 1], [3, 8], [5, 2], [2, 1]], **who))
    >>> b = open_set(ranks(similarity=[[9, 1], [3, 1], [5, 2], [2, 1]], **who))
    >>> compare_open_sets({"A": a, "B": b}).difference("A", "B", [0.5]).value.tolist()
    [-0.5]
    """
    _of_kind(systems, OpenSet)
    (name, first), *others = systems.items()
    for other, o in others:
        same = np.array_equal(first.mated, o.mated) and _same_rows(first.design, o.design)
        if not same or (first.gallery_size, first.max_rank) != (o.gallery_size, o.max_rank):
            raise StratError.about(
                "systems",
                f"must have made the same searches with the same N and R, got others for {other!r} "
                f"({o.label}) than for {name!r} ({first.label}).",
            )
    return OpenSetComparison(dict(systems))


def _same_rows(a: Design, b: Design) -> bool:
    return np.array_equal(a.unit, b.unit) and np.array_equal(a.stratum, b.stratum)

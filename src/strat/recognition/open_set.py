"""Open-set identification in ISO/IEC 19795-1's words: FNIR(N, R, T) against FPIR(N, T), and what N does.

FNIR(N, R, T) is the share of searches by enrolled subjects (mated probes) whose own identifier is not among the R best
candidates with a score of at least T; FPIR(N, T) the share of searches by others (non-mated probes) that return any
candidate. N is the number of enrolled entries, R the length of the candidate list, T the threshold.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from strat.base.errors import StratError, drawable, some
from strat.base.result import Result
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, values
from strat.designs import Design
from strat.estimation import Estimate, estimate
from strat.measures.base import Axis, Statistic
from strat.measures.means import mean
from strat.measures.score_rates import rate_within
from strat.measures.scores import det
from strat.recognition.curves import design_of, draw_curve, places
from strat.recognition.ranks import Ranks
from strat.recognition.thresholds import least_threshold, wanted_rates
from strat.show.colours import OKABE_ITO
from strat.show.drawing import limits_last, plain_log_ticks
from strat.show.figures import new_axes


@dataclass(frozen=True, eq=False, repr=False)
class OpenSet(Result):
    """The two kinds of searches of an open-set experiment, and what can be asked of them.

    Attributes
    ----------
    score
        For a mated probe its mate's score if its rank is at most R, else minus infinity; for a non-mated probe
        the best score.
    mated
        Which probes have a mate.
    design
        How the probes were drawn: whole subjects.
    gallery_size, max_rank
        N and R.
    """

    score: Array
    mated: Any
    design: Design
    gallery_size: int
    max_rank: int

    @property
    def label(self) -> str:
        """N and R in words, for every figure."""
        return f"N = {self.gallery_size}, R = {self.max_rank}"

    def __str__(self) -> str:
        """What was counted."""
        return f"open set, {self.label}: {self.mated.sum()} mated and {(~self.mated).sum()} non-mated probes"

    @checked
    def rates(self, thresholds: ArrayLike) -> Estimate:
        """FNIR(N, R, T) and FPIR(N, T) at each threshold T: axes rate (FPIR, FNIR) and threshold, falling."""
        return estimate(self.rates_statistic(thresholds), on=self.design)

    def rates_statistic(self, thresholds: ArrayLike) -> Statistic:
        """FPIR and FNIR at thresholds as a statistic of the probes, to be estimated or stacked with other systems'."""
        t = np.unique(values("thresholds", thresholds))[::-1]
        statistic = det(self.mated, self._finite(t), thresholds=t)
        axes = (Axis("rate", ("FPIR", "FNIR")), statistic.axes[1])
        return replace(statistic, name=f"open set ({self.label})", axes=axes)

    @checked
    def fnir_at(self, fpir: ArrayLike) -> Estimate:
        """FNIR at the least threshold whose FPIR is at most `fpir`, a rate that a threshold has (see `threshold`).

        The error counts that the threshold was found from the same data.
        """
        wanted = np.atleast_1d(wanted_rates("fpir", fpir))
        statistic = self.fnir_statistic(wanted)
        rates = estimate(statistic, on=self.design)
        if np.ndim(fpir) == 0:
            place = statistic.axes[0].labels[0]
            return replace(rates.at(place), name=f"FNIR({self.label}) at FPIR {float(wanted[0]):g}")
        return rates

    def fnir_statistic(self, fpir: Array) -> Statistic:
        """FNIR at these FPIR as a statistic of the probes, to be estimated or stacked with that of other systems."""
        statistic = rate_within(self.mated, self._finite(), fpr=fpir, rate="fnr")
        return replace(statistic, name=f"FNIR({self.label})", axes=(Axis("FPIR", statistic.axes[0].labels),))

    def _finite(self, thresholds: Array | None = None) -> Array:
        """The scores with a number below all others, and below all thresholds, for minus infinity."""
        known = self.score[np.isfinite(self.score)]
        least = np.concatenate([known, [0.0] if thresholds is None else thresholds]).min()
        return np.where(np.isfinite(self.score), self.score, least - 1.0)

    @checked
    def threshold(self, fpir: float) -> float:
        """The least threshold T with FPIR(N, T) at most `fpir`."""
        return float(least_threshold(np.sort(self.score[~self.mated]), wanted_rates("fpir", fpir)))

    def plot(self, ax: Any = None, *, fpir: ArrayLike | None = None, level: float = 0.95, name: str = "FNIR") -> Any:
        """FNIR against FPIR, both on logarithmic axes, with N and R in the labels."""
        ax = new_axes(ax)
        least = max(5.0 / max(int((~self.mated).sum()), 1), 1e-6)
        wanted = np.geomspace(least, 0.9, 40) if fpir is None else np.asarray(fpir, float)
        curve = self.fnir_at(wanted)
        used = len(ax.get_lines())
        draw_curve(
            ax, wanted, curve, drawable(f"{name} ({self.label})"), OKABE_ITO[used % len(OKABE_ITO)], level, band=False
        )
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_xlabel(f"FPIR(N = {self.gallery_size}, T)")
        ax.set_ylabel(f"FNIR(N = {self.gallery_size}, R = {self.max_rank}, T)")
        plain_log_ticks(ax.xaxis)
        plain_log_ticks(ax.yaxis)
        limits_last(ax, fontsize=8)
        return ax


@checked
def open_set(
    ranks: Ranks, *, max_rank: int | None = None, target: str = "population", average: str = "probes"
) -> OpenSet:
    """The open-set rates of ranks that have mated and non-mated probes.

    Parameters
    ----------
    ranks
        Made with ``open_set=True``.
    max_rank
        R, the length of the candidate list; None: the whole gallery, so that only the threshold decides.
    target, average
        ``"population"`` or ``"these subjects"``, and ``"probes"`` or ``"subjects"``, as for `match_curve`.

    Examples
    --------
    Two mated probes with scores 9 and 4, two non-mated ones whose best scores are 5 and 2.

    >>> from strat.recognition import ranks
    >>> r = ranks(similarity=[[9, 1], [3, 4], [5, 2], [2, 1]], probes=list("abxy"), gallery=list("ab"), open_set=True)
    >>> print(open_set(r).rates([5]).value.ravel().tolist())
    [0.5, 0.5]
    """
    mated = ranks.mated
    if mated.all() or not mated.any():
        raise StratError.about(
            "ranks",
            f"must have mated and non-mated probes for open-set rates, got {int(mated.sum())} mated of "
            f"{len(mated)}; pass open_set=True and probes of subjects outside the gallery.",
        )
    r = ranks.gallery_size if max_rank is None else max_rank
    if not isinstance(r, int | np.integer) or not 1 <= r <= ranks.gallery_size:
        raise StratError.about("max_rank", f"must be a rank from 1 to N = {ranks.gallery_size}, got {max_rank!r}.")
    score = np.where(mated, np.where(ranks.rank() <= r, ranks.mate, -np.inf), ranks.best_nonmate)
    return OpenSet(score, mated, design_of(ranks.subject, target, average), ranks.gallery_size, int(r))


@checked
def within_rank_by_size(ranks: Ranks, sizes: ArrayLike, *, k: int = 1) -> Statistic:
    """The rank-k rate expected in galleries of these sizes, drawn at random from the present one, mate included.

    A probe with a strangers at least as good as its mate, among N − 1, keeps a rank of k or lower in a gallery
    of n entries with the chance that at most k − 1 of them are among n − 1 strangers drawn: hypergeometric,
    so nothing has to be drawn.

    Parameters
    ----------
    ranks
        Ranks in the whole gallery; its mated probes count.
    sizes
        Sizes n of galleries, from 1 to N.
    k
        The rank.

    Examples
    --------
    A probe of rank 2 among 3 entries is first in a gallery of 2 if the better stranger is not drawn: 1/2.

    >>> from strat.recognition import ranks
    >>> r = ranks(similarity=[[1, 2, 0]], probes=["a"], gallery=["a", "b", "c"])
    >>> within_rank_by_size(r, [1, 2, 3]).value().tolist()
    [1.0, 0.5, 0.0]
    """
    y, axis = _kept(ranks, sizes, k)
    return replace(mean(y), name=f"rank-{k} rate", axes=(axis,), link="logit", bounds=(0.0, 1.0))


def _kept(ranks: Ranks, sizes: ArrayLike, k: int) -> tuple[Array, Axis]:
    """The chance of each mated probe to keep a rank of k or lower in galleries of these sizes."""
    from scipy.stats import hypergeom

    wanted = np.atleast_1d(np.asarray(sizes))
    n = ranks.gallery_size
    if wanted.ndim != 1 or wanted.dtype.kind not in "iu" or wanted.min() < 1 or wanted.max() > n:
        raise StratError.about("sizes", f"must be whole numbers from 1 to N = {n}, got {some(np.ravel(wanted))}.")
    mated = ranks.mated
    better, codes = np.unique((ranks.above + ranks.tied)[mated], return_inverse=True)
    chance = np.asarray(hypergeom.cdf(k - 1, n - 1, better[:, None], wanted[None, :] - 1))
    y = np.where(ranks.failed[mated][:, None], 0.0, chance[codes.reshape(-1)])
    return y, Axis("gallery size", tuple(int(v) for v in wanted))


@dataclass(frozen=True, eq=False, repr=False)
class SizeCurve(Result):
    """The miss rate FNIR(N, R, no threshold), 1 − the rank-R rate, against the size N of the gallery."""

    estimate: Estimate
    sizes: Array
    max_rank: int

    def __str__(self) -> str:
        """The miss rate at each size."""
        return str(self.estimate)

    def plot(self, ax: Any = None, *, level: float = 0.95, name: str = "system", color: str = OKABE_ITO[0]) -> Any:
        """Miss rate against N, both on logarithmic axes."""
        ax = new_axes(ax)
        draw_curve(ax, self.sizes, self.estimate, drawable(name), color, level, band=True)
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_xlabel("N, enrolled subjects")
        ax.set_ylabel(f"miss rate, FNIR(N, R = {self.max_rank}) without a threshold")
        plain_log_ticks(ax.xaxis)
        plain_log_ticks(ax.yaxis)
        limits_last(ax, fontsize=8)
        return ax


@checked
def size_curve(
    ranks: Ranks,
    *,
    sizes: ArrayLike | None = None,
    max_rank: int = 1,
    target: str = "population",
    average: str = "probes",
) -> SizeCurve:
    """The miss rate against the size of the gallery, with errors.

    Parameters
    ----------
    ranks
        Ranks in the whole gallery.
    sizes
        Sizes; None: from 2 to N evenly on a logarithmic scale.
    max_rank
        R.
    target, average
        As for `match_curve`.

    Examples
    --------
    >>> from strat.recognition import ranks
    >>> r = ranks(similarity=[[1, 2, 0], [0, 3, 1], [0, 1, 4]], probes=list("abc"), gallery=list("abc"))
    >>> size_curve(r, sizes=[2, 3]).estimate.value.round(4).tolist()
    [0.1667, 0.3333]
    """
    wanted = places(ranks.gallery_size, 25)[1:] if sizes is None else np.atleast_1d(np.asarray(sizes))
    y, axis = _kept(ranks, wanted, max_rank)
    statistic = replace(mean(1 - y), name=f"FNIR(N, R = {max_rank})", axes=(axis,), link="logit", bounds=(0.0, 1.0))
    curve = estimate(statistic, on=design_of(ranks.subject[ranks.mated], target, average))
    if (np.diff(wanted) > 0).all():
        curve = curve.changed(monotone=1)  # a larger gallery never has fewer misses
    return SizeCurve(curve, wanted.astype(float), max_rank)

"""One-to-one comparison: FMR, FNMR, EER and DET, with errors that know that comparisons share subjects.

Words of ISO/IEC 19795-1 and 2382-37: *mated* and *non-mated* comparisons, false match rate (FMR) and false
non-match rate (FNMR), both over completed comparisons. A score at or above the threshold is a match.

The variance. A non-mated comparison has a subject on each side, and two comparisons that share a subject, on
either side, are dependent. With e_ab the sum of (match − FMR) over comparisons of probe subject a with gallery
subject b, and t_a = sum_b (e_ab + e_ba), the two-way (dyadic) variance adds the products of all pairs of
comparisons that share a subject:

    V(FMR) = [ sum_a t_a² − sum_ab e_ab² − sum_ab e_ab e_ba ] / n²

where the last two sums take back what t_a² counts twice (Cameron, Gelbach and Miller 2011; Aronow, Samii and
Assenova 2015). Taking the mean away leaves (k − 2) / (k − 1) of each of k subjects' own part, which the factor
((k − 1) / (k − 2))² gives back: without it intervals of 30 subjects are short (see the validation page). A
row-wise variance sees only one side. FNMR has one subject per comparison: V = sum_a d_a² / m².
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strat.colours import OKABE_ITO
from strat.columns import Array, Codes, encode, numbers, same_length
from strat.doors import checked
from strat.errors import StratError, plain, some
from strat.estimation import Estimate
from strat.notebook import in_words
from strat.recognition.curves import new_axes
from strat.recognition.matching import failure_mask
from strat.recognition.ranks import _table
from strat.recognition.thresholds import least_threshold, wanted_rates
from strat.statistics.base import Axis
from strat.words import counted

CELLS = 1 << 22
PAIR_CELLS = 1 << 26  # 256 MB of counts by pairs of subjects at a time
GRID = (1.0, 2.0, 5.0)


@dataclass(frozen=True, eq=False)
class Comparisons:
    """A table of scores, greater is better, with the code of each row's and each column's subject.

    With `triangle`, rows and columns are the same images: only the cells above the diagonal are comparisons.
    """

    table: NDArray[Any]
    sign: float
    row: Codes
    column: Codes
    subjects: NDArray[Any]
    triangle: bool

    def blocks(self) -> Any:
        """Scores, row positions and the mask of non-mated cells, some rows at a time."""
        n, width = self.table.shape
        step = max(1, CELLS // width)
        for start in range(0, n, step):
            rows = np.arange(start, min(start + step, n))
            scores = self.sign * self.table[rows].astype(float)
            other = self.row[rows][:, None] != self.column
            yield scores, rows, other & self._counted(rows)

    def _counted(self, rows: Codes) -> NDArray[np.bool_]:
        if self.triangle:
            return np.arange(self.table.shape[1]) > rows[:, None]
        return np.ones((len(rows), 1), bool)

    def mated(self) -> tuple[Codes, Codes]:
        """Rows and columns of the mated comparisons."""
        order = np.argsort(self.column, kind="stable")
        first = np.searchsorted(self.column[order], self.row, side="left")
        count = np.searchsorted(self.column[order], self.row, side="right") - first
        row = np.repeat(np.arange(len(self.row)), count)
        within = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
        column = order[first[row] + within]
        keep = column > row if self.triangle else np.ones(len(row), bool)
        return row[keep], column[keep]

    @property
    def one_each(self) -> bool:
        """Whether no two comparisons are of the same pair of subjects in the same order."""
        return all(np.bincount(codes).max() == 1 for codes in (self.row, self.column))


@in_words
@dataclass(frozen=True, eq=False)
class Verification:
    """All comparisons of a verification experiment, and what can be asked of them.

    Attributes
    ----------
    mated, nonmated
        The scores, sorted; greater is better (distances are negated).
    comparisons
        Where they come from.
    """

    mated: Array
    nonmated: Array
    comparisons: Comparisons

    @property
    def subjects(self) -> int:
        """Number of subjects, on either side."""
        return len(self.comparisons.subjects)

    def __str__(self) -> str:
        """How many comparisons, and the equal error rate."""
        return f"{compared(len(self.mated), len(self.nonmated), self.subjects)}; {self.eer()}"

    # ---- rates without errors

    @checked
    def fmr_at(self, threshold: ArrayLike) -> Array:
        """The share of non-mated comparisons with a score at or above each threshold."""
        t = np.asarray(threshold, float)
        n = len(self.nonmated)
        return np.asarray((n - np.searchsorted(self.nonmated, t, side="left")) / n)

    @checked
    def fnmr_below(self, threshold: ArrayLike) -> Array:
        """The share of mated comparisons with a score below each threshold."""
        t = np.asarray(threshold, float)
        return np.asarray(np.searchsorted(self.mated, t, side="left") / len(self.mated))

    @checked
    def threshold(self, fmr: ArrayLike) -> Array:
        """The least threshold whose FMR is at most `fmr`."""
        return least_threshold(self.nonmated, wanted_rates("fmr", fmr))

    # ---- rates with errors

    @checked
    def rates(self, thresholds: ArrayLike) -> Estimate:
        """FMR and FNMR at each threshold: an estimate with axes rate and threshold."""
        t = np.unique(numbers("thresholds", np.atleast_1d(np.asarray(thresholds, float)), finite=False))
        if np.isnan(t).any():
            raise StratError(
                "`thresholds` must be scores, got nan; a threshold is a number, or infinite to match nobody."
            )
        found = self._influences(t)
        k = np.eye(len(t))
        parts = [self._spread(found, k, 0 * k), self._spread(found, 0 * k, k)]
        point = np.stack([found.fmr, found.fnmr])
        axes = (Axis("rate", ("FMR", "FNMR")), Axis("threshold", tuple(t.tolist())))
        return self._estimate("error rates", point, parts, axes, independent=True)

    def fmr(self, threshold: float) -> Estimate:
        """The false match rate at a threshold."""
        return replace(self.rates([threshold]).at("FMR", float(threshold)), rows=float(len(self.nonmated)))

    def fnmr(self, threshold: float) -> Estimate:
        """The false non-match rate at a threshold."""
        made = self.rates([threshold]).at("FNMR", float(threshold))
        return replace(made, rows=float(len(self.mated)), df=float(self.subjects - 1))

    @checked
    def fnmr_at(self, fmr: ArrayLike) -> Estimate:
        """FNMR at the least threshold whose FMR is at most `fmr`, a rate that a threshold has (see `threshold`).

        The error counts that the threshold was found from the same data.
        """
        wanted = np.atleast_1d(wanted_rates("fmr", fmr))
        t = self.threshold(wanted)
        order = np.unique(t)
        found = self._influences(order)
        slope = np.array([self._det_slope(f) for f in wanted])
        point = self.fnmr_below(t)
        seen = (point > 0) & (point < 1)  # without a miss (or a hit) nothing varies: the limits are exact ones
        pick = ((order[:, None] == t) & seen).astype(float)
        spread, variance = self._spread(found, pick * slope, pick)
        if np.ndim(fmr) == 0:
            name = f"FNMR at FMR {float(wanted[0]):g}"
            return self._estimate(name, point[0], [(spread[:, 0], variance[0])], ())
        return self._estimate("FNMR", point, [(spread, variance)], (Axis("FMR", tuple(wanted.tolist())),))

    def eer(self) -> Estimate:
        """The equal error rate, on the straight line between the two neighbouring thresholds."""
        value, t = self._equal
        found = self._influences(np.array([t]))
        slope = self._det_slope(value)
        # FMR and FNMR move to a common value: each counts by how steep the other is
        spread, variance = self._spread(found, np.array([[slope / (1 + slope)]]), np.array([[1 / (1 + slope)]]))
        return self._estimate("EER", np.asarray(value), [(spread[:, 0], variance[0])], ())

    @property
    def eer_threshold(self) -> float:
        """The threshold at or just under which FMR and FNMR are equal."""
        return self._equal[1]

    @checked
    def det(self, fmr: ArrayLike | None = None) -> DetCurve:
        """FNMR against FMR, with errors, at rates 1, 2, 5 of each order of magnitude or at those given."""
        wanted = self._grid() if fmr is None else np.unique(wanted_rates("fmr", fmr))
        return DetCurve(self.fnmr_at(wanted), wanted, len(self.mated), len(self.nonmated), self.subjects)

    # ---- inside

    def _grid(self) -> Array:
        least = min(max(10.0 / len(self.nonmated), 1e-9), 0.5)
        steps = np.array([m * 10.0**e for e in range(-9, 0) for m in GRID] + [1.0])
        return steps[(steps >= least) & (steps < 1.0)]

    @cached_property
    def _equal(self) -> tuple[float, float]:
        t = max(self._last(self.nonmated), self._last(self.mated))
        x0, y0 = float(self.fmr_at(t)), float(self.fnmr_below(t))
        above = [
            float(a[i]) for a in (self.nonmated, self.mated) if (i := np.searchsorted(a, t, side="right")) < len(a)
        ]
        after = min(above, default=np.inf)
        x1, y1 = float(self.fmr_at(after)), float(self.fnmr_below(after))
        gap0, gap1 = x0 - y0, x1 - y1
        part = gap0 / (gap0 - gap1) if gap0 > gap1 else 0.0
        return x0 + part * (x1 - x0), t

    def _last(self, scores: Array) -> float:
        """The last of these scores, as a threshold, at which FMR is still at least FNMR."""
        low, high = 0, len(scores)
        while low < high:
            middle = (low + high) // 2
            if self.fmr_at(scores[middle]) >= self.fnmr_below(scores[middle]):
                low = middle + 1
            else:
                high = middle
        return float(scores[low - 1]) if low else -np.inf

    def _det_slope(self, fmr: float) -> float:
        """−dFNMR/dFMR of the DET curve, over a window around this FMR that holds some mated scores too."""
        n, m = len(self.nonmated), len(self.mated)
        fmr = min(max(fmr, 1.0 / n), 1.0 - 1.0 / n)
        factor = 1.5
        while True:
            t = self.threshold(np.array([min(fmr * factor, 0.5 + fmr / 2), fmr / factor]))
            x, y = self.fmr_at(t), self.fnmr_below(t)
            if (abs(x[0] - x[1]) * n >= 10 and abs(y[1] - y[0]) * m >= 5) or factor > 20:
                return float(abs(y[1] - y[0]) / max(abs(x[0] - x[1]), 1.0 / n))
            factor *= 1.5

    def _influences(self, t: Array) -> Influences:
        return _influences(self, t)

    def _spread(self, found: Influences, of_fmr: Array, of_fnmr: Array) -> tuple[Array, Array]:
        """Deviations by subject (subjects × outputs) and the variance of sums with these coefficients."""
        k = self.subjects
        of_fmr = of_fmr * ((k - 1) / (k - 2) if k > 2 else 1.0)
        by_mated = found.mated_by_subject @ of_fnmr
        spread = found.by_subject @ of_fmr + by_mated
        raw = (spread**2).sum(axis=0)
        back = found.twice @ of_fmr**2
        independent = found.alone @ of_fmr**2 + (by_mated**2).sum(axis=0)  # taking back may not go below this
        variance = np.maximum(raw - back, independent) * k / (k - 1)
        scale = np.sqrt(np.divide(variance, raw, out=np.zeros_like(raw), where=raw > 0))
        return spread * scale, np.where(raw > 0, variance, 0.0)

    def _estimate(
        self,
        name: str,
        point: Array,
        parts: list[tuple[Array, Array]],
        axes: tuple[Axis, ...],
        independent: bool = False,
    ) -> Estimate:
        spread = parts[0][0] if len(parts) == 1 else np.stack([p[0] for p in parts], axis=1)
        variance = parts[0][1] if len(parts) == 1 else np.stack([p[1] for p in parts])
        mated_subjects = len(np.unique(self.comparisons.row[self.comparisons.mated()[0]]))
        worth: Array | float = float(mated_subjects)
        srs = None
        if independent:
            alone = point * (1 - point) / np.array([[len(self.nonmated)], [len(self.mated)]])
            srs = lambda: alone  # noqa: E731
            worth = np.broadcast_to(np.array([[self.subjects / 2], [mated_subjects]]), point.shape).astype(float)
        return Estimate(
            name=name,
            point=np.asarray(point, float),
            spread=spread,
            scales=1.0,
            variance=np.asarray(variance, float),
            replicated=False,
            # a false match is of two subjects: as many degrees of freedom as there are pairs that share nobody
            df=max(1.0, self.subjects / 2) if independent else float(self.subjects - 1),
            method="two-way by subject",
            axes=axes,
            link="logit",
            bounds=(0.0, 1.0),
            srs=srs,
            rows=np.inf if independent else float(len(self.mated)),
            worth=worth,
            design=f"{counted(self.subjects, 'subject')} on both sides of "
            + counted(len(self.nonmated), "non-mated comparison"),
            target="the population of subjects",
        )


@dataclass(frozen=True, eq=False)
class Influences:
    """What each subject does to FMR and FNMR at each threshold (rising).

    `by_subject` and `mated_by_subject` are subjects × thresholds; `twice` is what the sum of squares of the first
    counts twice; `alone` is the variance of independent comparisons.
    """

    fmr: Array
    fnmr: Array
    by_subject: Array
    mated_by_subject: Array
    twice: Array
    alone: Array


def _influences(of: Verification, t: Array) -> Influences:
    c, k, n = of.comparisons, of.subjects, len(of.nonmated)
    step = len(t) if c.one_each else max(1, PAIR_CELLS // k**2)
    if len(t) > step:
        parts = [_influences(of, t[i : i + step]) for i in range(0, len(t), step)]
        names = Influences.__dataclass_fields__
        return Influences(*(np.concatenate([getattr(p, name) for p in parts], axis=-1) for name in names))
    fmr, fnmr = of.fmr_at(t), of.fnmr_below(t)
    hits, count, pairs = _sums(c, t)
    return Influences(
        fmr,
        fnmr,
        (hits - count[:, None] * fmr) / n,
        _mated_influence(c, t, fnmr),
        pairs.squares(fmr, hits.sum(axis=0) / 2, n) / n**2,
        fmr * (1 - fmr) / n,
    )


def _sums(c: Comparisons, t: Array) -> tuple[Array, Array, _Pairs]:
    """Matches of each subject at each threshold, its comparisons, and the table of pairs."""
    k, m = len(c.subjects), len(t)
    hits, count, pairs = np.zeros((k, m)), np.zeros(k), _Pairs(c, t)
    for scores, rows, other in c.blocks():
        i, j = np.nonzero(other)
        bins = np.searchsorted(t, scores[i, j], side="right")
        a, b = c.row[rows[i]], c.column[j]
        for codes in (a, b):
            hits += _at_or_above(codes * (m + 1) + bins, k, m)
            count += np.bincount(codes, minlength=k)
        pairs.add(a, b, bins)
    return hits, count, pairs


def _mated_influence(c: Comparisons, t: Array, fnmr: Array) -> Array:
    row, column = c.mated()
    bins = np.searchsorted(t, c.sign * c.table[row, column].astype(float), side="right")
    accepted = _at_or_above(c.row[row] * (len(t) + 1) + bins, len(c.subjects), len(t))
    each = np.bincount(c.row[row], minlength=len(c.subjects))[:, None]
    return np.asarray(((each - accepted) - each * fnmr) / len(row))


def _next(scores: Array, t: float) -> float:
    """The least of the sorted scores above t."""
    i = int(np.searchsorted(scores, t, side="right"))
    return float(scores[i]) if i < len(scores) else np.inf


def _at_or_above(keys: Codes, k: int, m: int) -> Array:
    """For each subject and threshold, how many of its scores are at or above it; keys are subject × (m + 1) + bin."""
    counts = np.bincount(keys, minlength=k * (m + 1)).reshape(k, m + 1)
    above = np.flip(np.cumsum(np.flip(counts, axis=1), axis=1), axis=1)
    return np.asarray(above[:, 1:], float)


class _Pairs:
    """Sums over pairs of subjects of what the variance by subject counts twice."""

    def __init__(self, c: Comparisons, t: Array) -> None:
        self.c, self.m, k = c, len(t), len(c.subjects)
        self.one_each = c.one_each
        # one comparison per pair: its bin is enough (−1: no comparison)
        shape = (k, k) if self.one_each else (self.m + 1, k, k)
        self.cells = np.full(shape, -1, np.int16) if self.one_each else np.zeros(shape, np.int32)

    def add(self, a: Codes, b: Codes, bins: Codes) -> None:
        if self.one_each:
            self.cells[a, b] = bins
        else:
            np.add.at(self.cells, (bins, a, b), 1)

    def squares(self, fmr: Array, hits: Array, n: int) -> Array:
        """Sum e_ab² + sum e_ab e_ba at each threshold, e_ab = hits less expected ones."""
        if self.one_each:
            own = hits * (1 - 2 * fmr) + fmr**2 * n
            return own if self.c.triangle else own + self._crossed(fmr)
        above = np.flip(np.cumsum(np.flip(self.cells, axis=0), axis=0), axis=0)
        every, out = above[0].astype(float), np.empty(self.m)
        for k in range(self.m):
            e = above[k + 1] - fmr[k] * every
            out[k] = (e**2).sum() + (e * e.T).sum()
        return out

    def _crossed(self, fmr: Array) -> Array:
        there = (self.cells >= 0) & (self.cells.T >= 0)
        both = np.minimum(self.cells, self.cells.T)[there].astype(np.int64)
        one = self.cells[there].astype(np.int64)
        together, single = (_at_or_above(x, 1, self.m)[0] for x in (both, one))
        return together - 2 * fmr * single + fmr**2 * int(there.sum())


@in_words
@dataclass(frozen=True, eq=False)
class DetCurve:
    """FNMR against FMR with errors; `plot` draws a DET (log or normal deviate axes) or a ROC."""

    estimate: Estimate
    fmr: Array
    mated: int
    nonmated: int
    subjects: int

    def __str__(self) -> str:
        """What was compared, and FNMR at each FMR."""
        return f"{compared(self.mated, self.nonmated, self.subjects)}\n{self.estimate}"

    def plot(
        self, ax: Any = None, *, axis: str = "log", level: float = 0.95, name: str = "FNMR", color: str = OKABE_ITO[0]
    ) -> Any:
        """Draw with `axis` "log" (both), "probit" (normal deviates) or "roc" (true match rate, linear)."""
        ax = new_axes(ax)
        low, high = (np.asarray(side) for side in self.estimate.interval(level))
        value = self.estimate.point
        if axis == "roc":
            value, low, high = 1 - value, 1 - high, 1 - low
        least = 0.5 / self.mated
        ax.plot(self.fmr, value if axis == "roc" else np.maximum(value, least), color=color, label=name, lw=1.6)
        ax.fill_between(self.fmr, low if axis == "roc" else np.maximum(low, least), high, color=color, alpha=0.25, lw=0)
        _scale(ax, axis)
        ax.set_xlabel(f"FMR ({counted(self.nonmated, 'non-mated comparison')}, {counted(self.subjects, 'subject')})")
        ax.set_ylabel("true match rate" if axis == "roc" else f"FNMR ({counted(self.mated, 'mated comparison')})")
        ax.legend(frameon=False)
        return ax


def compared(mated: int, nonmated: int, subjects: int) -> str:
    """How many comparisons of each kind, of how many subjects.

    >>> compared(1, 1200, 3)
    '1 mated and 1,200 non-mated comparisons of 3 subjects'
    """
    return f"{mated:,} mated and {counted(nonmated, 'non-mated comparison')} of {counted(subjects, 'subject')}"


def _scale(ax: Any, axis: str) -> None:
    if axis == "roc":
        return
    if axis == "log":
        ax.set_xscale("log")
        ax.set_yscale("log")
        return
    from scipy.special import ndtr, ndtri

    for side in (ax.set_xscale, ax.set_yscale):
        side("function", functions=(lambda p: ndtri(np.clip(p, 1e-9, 1 - 1e-9)), ndtr))


@checked
def verification(
    *,
    similarity: ArrayLike | None = None,
    distance: ArrayLike | None = None,
    probes: ArrayLike,
    gallery: ArrayLike | None = None,
    failed_probes: ArrayLike | None = None,
    failed_gallery: ArrayLike | None = None,
) -> Verification:
    """All mated and non-mated comparisons of a table of scores.

    Parameters
    ----------
    similarity, distance
        Probes × gallery; exactly one of the two.
    probes, gallery
        Subject of each row and column. Without `gallery` the table compares one set of images with itself: it must
        be square and symmetric, and each pair counts once, the diagonal never.
    failed_probes, failed_gallery
        Rows and columns without a template: FMR and FNMR are over completed comparisons.

    Examples
    --------
    >>> v = verification(similarity=[[9, 2, 4], [3, 8, 1], [2, 6, 5]], probes=list("abc"), gallery=list("abc"))
    >>> float(v.fmr(4).value), float(v.fnmr(6).value)
    (0.3333333333333333, 0.3333333333333333)
    """
    table, sign = _table(similarity, distance)
    triangle = gallery is None
    columns = probes if gallery is None else gallery
    same_length(probes=table, labels=np.asarray(probes))
    if table.shape[1] != len(np.asarray(columns)):
        raise StratError(f"`gallery` must name the {table.shape[1]} columns, got {len(np.asarray(columns))} labels.")
    if triangle and failed_gallery is not None:
        raise StratError(
            "`failed_gallery` must be left out where one set is compared with itself; use `failed_probes`."
        )
    if triangle and not _symmetric(table):
        raise StratError("`gallery` must be given for a table that is not symmetric, got None.")
    keep = [
        np.flatnonzero(~failure_mask(name, failed, len(np.asarray(labels))))
        for name, failed, labels in (
            ("failed_probes", failed_probes, probes),
            ("failed_gallery", failed_probes if triangle else failed_gallery, columns),
        )
    ]
    codes, labels = encode("probes", np.concatenate([np.asarray(probes)[keep[0]], np.asarray(columns)[keep[1]]]))
    if any(len(k) < s for k, s in zip(keep, table.shape, strict=True)):
        table = table[np.ix_(*keep)]
    made = Comparisons(table, sign, codes[: len(keep[0])], codes[len(keep[0]) :], labels, triangle)
    return _sorted(made)


def _symmetric(table: NDArray[Any]) -> bool:
    return table.shape[0] == table.shape[1] and bool(np.array_equal(table, table.T, equal_nan=table.dtype.kind == "f"))


def _sorted(c: Comparisons) -> Verification:
    row, column = c.mated()
    mated = np.sort(c.sign * c.table[row, column].astype(float))
    nonmated = np.concatenate([scores[other] for scores, _, other in c.blocks()])
    for name, scores in (("mated", mated), ("non-mated", nonmated)):
        if not len(scores):
            raise StratError(
                f"there must be {name} comparisons, got none; look at the labels of `probes` and `gallery`."
            )
        if not np.isfinite(scores).all():
            raise StratError(
                f"scores must be finite, got {plain(scores[~np.isfinite(scores)][0])} among the {name} ones; name the "
                "failures in `failed_probes` and `failed_gallery`."
            )
    if len(c.subjects) < 3:
        raise StratError(f"`probes` must have at least three subjects for an error, got {some(c.subjects)}.")
    nonmated.sort()
    return Verification(mated, nonmated, c)

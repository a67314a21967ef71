"""One-to-one comparison: FMR, FNMR, EER, AUC, detection costs and DET, with errors that know of shared subjects.

Words of ISO/IEC 19795-1 and 2382-37: *mated* and *non-mated* comparisons, false match rate (FMR) and false
non-match rate (FNMR), both over completed comparisons. A score at or above the threshold is a match. The variance is
that of `strat.recognition.two_way`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from strat.base.errors import StratError, one_of, plain, some
from strat.base.notes import Note, codes_of
from strat.base.result import Result
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, values
from strat.designs import DesignFacts
from strat.designs.facts import BOTH_SIDES
from strat.designs.variance import kish
from strat.estimation import Estimate, cautions, spread
from strat.estimation.facts import Inference, MeasureFacts
from strat.estimation.frames import frame
from strat.estimation.functions import complement
from strat.measures.base import Axis
from strat.measures.score_rates import few_beyond
from strat.recognition import measures
from strat.recognition.comparisons import Comparisons, Influences
from strat.recognition.det_curve import DetCurve, compared
from strat.recognition.error_rates import ErrorRates
from strat.recognition.measures import Cost
from strat.recognition.subject_bootstrap import with_subjects_drawn
from strat.recognition.thresholds import wanted_rates
from strat.recognition.two_way import Functional, Moved, Sums, moved, stacked, sums_of
from strat.replication import Method, MethodKind

AVERAGES = ("comparisons", "subjects")
USUAL_FMR = (0.01, 0.001)  # at which FNMR is reported where nobody asked for others
GRID = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)  # false match rates of each order of magnitude at which a DET curve stands
UNSURE_SUBJECTS = ("no-subjects", "subjects-inferred")  # notes that say more than one on few subjects would


@dataclass(frozen=True, eq=False, repr=False)
class Verification(ErrorRates, Result):
    """All comparisons of a verification experiment, and what can be asked of them.

    Attributes
    ----------
    mated, nonmated
        The scores, sorted; greater is better (distances are negated).
    mated_below, nonmated_below
        Share of the weight below each score, and 1; None where all comparisons count the same.
    comparisons
        Where they come from.
    """

    comparisons: Comparisons = field(kw_only=True)

    @property
    def subjects(self) -> int:
        """Number of subjects, on either side (0: not known)."""
        return self.comparisons.number if self.comparisons.known else 0

    def __str__(self) -> str:
        """How many comparisons, and the equal error rate."""
        return f"{compared(self.n_mated, self.n_nonmated, self.subjects)}; {self.eer()}"

    @checked
    def to_dict(self, fmr: ArrayLike = (0.01, 0.001), level: float = 0.95) -> dict[str, list[Any]]:
        """Columns: a line for the equal error rate, and one for FNMR at each of these false match rates."""
        rates = np.atleast_1d(np.asarray(fmr, float)).tolist()
        parts = [figure.to_dict(level) for figure in (self.eer(), *(self.fnmr_at(rate) for rate in rates))]
        return {name: [part[name][0] for part in parts] for name in parts[0]}

    @checked
    def to_frame(self, library: str | None = None, fmr: ArrayLike = (0.01, 0.001), level: float = 0.95) -> Any:
        """The columns as a data frame of pandas, Polars or PyArrow (the first that is loaded or installed)."""
        return frame(self.to_dict(fmr, level), library)

    # ---- rates at thresholds

    @checked
    def rates(self, thresholds: ArrayLike) -> Estimate:
        """FMR and FNMR at each threshold: an estimate with axes rate and threshold."""
        t = np.unique(values("thresholds", thresholds, finite=False))
        if np.isnan(t).any():
            raise StratError.about(
                "thresholds", "must be scores, got nan; a threshold is a number, or infinite for no matches."
            )
        c, at_t = self.comparisons, self._influences(t)
        k = np.eye(len(t))
        parts = [self._spread(at_t, 0.0, k, 0 * k), self._spread(at_t, 0.0, 0 * k, k)]
        axes = (Axis("rate", ("FMR", "FNMR")), Axis("threshold", tuple(t.tolist())))
        point = np.stack([at_t.fmr, at_t.fnmr])
        alone = point * (1 - point) / np.array([[c.effective_nonmated], [self._effective_mated]])
        rates = self.as_estimate("error rates", point, stacked(parts), axes)
        size = np.broadcast_to([[c.size_of_fmr], [c.size_of_fnmr]], point.shape).astype(float)
        return rates.changed(srs=lambda: alone, rows=np.inf, effective_units=size)

    def fmr(self, threshold: float) -> Estimate:
        """The false match rate at a threshold."""
        rate = self.rates([threshold]).at("FMR", float(threshold))
        notes = self._notes(self._influences(np.array([float(threshold)])), fnmr=False)
        return rate.changed(rows=float(self.n_nonmated), df=self.comparisons.df_of_fmr[1], notes=notes)

    def fnmr(self, threshold: float) -> Estimate:
        """The false non-match rate at a threshold."""
        rate = self.rates([threshold]).at("FNMR", float(threshold))
        notes = self._notes(self._influences(np.array([float(threshold)])), fmr=False)
        return rate.changed(rows=float(self.n_mated), df=self.comparisons.df_of_fnmr[1], notes=notes)

    @checked
    def fnmr_at(self, fmr: ArrayLike) -> Estimate:
        """FNMR at the least threshold whose FMR is at most `fmr`, a rate that a threshold has (see `threshold`).

        FMR100 is FNMR at an FMR of 1 in 100, FMR1000 at 1 in 1000. The error counts that the threshold was found from
        the same data.
        """
        wanted = np.atleast_1d(wanted_rates("fmr", fmr))
        t = self.threshold(wanted)
        order = np.unique(t)
        at_t = self._influences(order)
        slope = np.array([self.det_slope(f) for f in wanted])
        point = self.fnmr_below(t)
        seen = (point > 0) & (point < 1)  # without a miss (or a hit) nothing varies: the limits are exact ones
        pick = ((order[:, None] == t) & seen).astype(float)
        part = self._spread(at_t, 0.0, pick * slope, pick)
        least = float(wanted[wanted > 0].min(initial=1.0))
        notes = (*self._notes(at_t), *few_beyond(least, self.n_nonmated, "FMR", "non-mated comparisons"))
        if np.ndim(fmr) == 0:
            rates = self.as_estimate(f"FNMR at FMR {float(wanted[0]):g}", point[0], part.only(), ())
        else:
            rates = self.as_estimate("FNMR", point, part, (Axis("FMR", tuple(wanted.tolist())),))
        return with_subjects_drawn(replace(rates, notes=notes), self.comparisons, wanted).changed(link="score")

    @checked
    def tar_at(self, far: ArrayLike) -> Estimate:
        """The true accept rate, 1 − FNMR, at false accept (match) rates: TAR at FAR, as IJB reports it."""
        missed = self.fnmr_at(wanted_rates("far", far))
        name = f"TAR at FAR {float(np.asarray(far)):g}" if np.ndim(far) == 0 else "TAR"
        axes = tuple(Axis("FAR", axis.labels) for axis in missed.axes)
        return replace(missed.map(complement, name=name, link="score", bounds=(0.0, 1.0)), axes=axes)

    def eer(self) -> Estimate:
        """The equal error rate, on the straight line between the two neighbouring thresholds."""
        value, t = self.equal
        at_t = self._influences(np.array([t]))
        slope = self.det_slope(value)
        # FMR and FNMR move to a common value: each counts by how steep the other is
        part = np.array([[1 / (1 + slope)]])
        between = self._spread(*self._between(at_t, value), slope * part, part)
        beside = replace(at_t, misses=self.comparisons.misses(np.array([np.nextafter(t, np.inf)])))
        rate = replace(self.as_estimate("EER", np.asarray(value), between.only(), ()), notes=self._notes(beside))
        return _turned(with_subjects_drawn(rate, self.comparisons))

    # ---- other measures

    def auc(self) -> Estimate:
        """The area under the ROC: the chance that a mated score is greater than a non-mated one."""
        return self._measured(measures.auc(self))

    @checked
    def min_dcf(self, cost: Cost | None = None) -> Estimate:
        """The least normalized detection cost of any threshold; by default P_target = 0.01 and unit costs.

        Chosen on these very scores, it is a little lower than a threshold chosen beforehand would have it.
        """
        return self._measured(measures.min_dcf(self, Cost() if cost is None else cost))

    @checked
    def act_dcf(self, cost: Cost | None = None) -> Estimate:
        """The normalized detection cost at Bayes' threshold, for scores that are natural log-likelihood ratios."""
        return self._measured(measures.act_dcf(self, Cost() if cost is None else cost))

    def cllr(self) -> Estimate:
        """The cost of log-likelihood ratios in bits, for scores that are natural log-likelihood ratios."""
        return self._measured(measures.cllr(self))

    def min_cllr(self) -> Estimate:
        """Cllr after the best monotone calibration of these very scores, what discrimination alone costs."""
        return self._measured(measures.min_cllr(self))

    def zero_fmr(self) -> Estimate:
        """FNMR at the least threshold without a false match."""
        rate = self._measured(measures.zero_fmr(self))
        return replace(rate, notes=(*rate.notes, Note("threshold-from-data")))

    @checked
    def measure(self, name: str, at: float | Cost | None = None) -> Estimate:
        """A measure by its name.

        Parameters
        ----------
        name
            "eer", "auc", "cllr", "min_cllr", "zero_fmr"; "fnmr_at", "tar_at"; "fmr", "fnmr"; "min_dcf", "act_dcf".
        at
            The false match rate, the threshold or the `Cost`, where the measure needs one.
        """
        one_of("name", name, measures.NAMES)
        measures.functional(self, name, at)  # says what is wrong with `at`
        method = getattr(self, name)
        estimate: Estimate = method() if name in measures.PLAIN else method(at)
        return estimate

    @checked
    def det(self, fmr: ArrayLike | None = None) -> DetCurve:
        """FNMR against FMR, with errors, at six rates of each order of magnitude or at those given."""
        wanted = self.grid() if fmr is None else np.unique(wanted_rates("fmr", fmr))
        falling = self.fnmr_at(wanted).changed(monotone=-1)
        return DetCurve(falling, wanted, self.n_mated, self.n_nonmated, self.subjects)

    def grid(self) -> Array:
        """Six false match rates of each order of magnitude, as far down as ten non-mated comparisons are."""
        least = min(max(10.0 / self.n_nonmated, 1e-9), 0.5)
        steps = np.array([float(f"{m}e{e}") for e in range(-9, 0) for m in GRID] + [1.0])
        return steps[(steps >= least) & (steps < 1.0)]

    # ---- inside

    def _influences(self, t: Array) -> Influences:
        return self.comparisons.influences(t, self.fmr_at(t), self.fnmr_below(t))

    @property
    def _effective_mated(self) -> float:
        return kish(self.comparisons.mated.weight)

    def _between(self, at_t: Influences, rate: float) -> tuple[Influences, float]:
        """Influences with the mated ones as large as at this rate, a little above FNMR, and its least variance.

        The rate lies between two thresholds, and at the lower one, where influences are taken, there are fewer misses,
        or none.
        """
        there, here = float(at_t.fnmr[0]) * (1 - float(at_t.fnmr[0])), rate * (1 - rate)
        if there == 0:
            return at_t, here / self._effective_mated
        return replace(at_t, mated_by_subject=at_t.mated_by_subject * np.sqrt(here / there)), 0.0

    def _spread(self, at_t: Influences, least: float, of_fmr: Array, of_fnmr: Array) -> Moved:
        """What subjects do to sums of FMR and FNMR with these coefficients; FNMR has this variance at least."""
        sums = Sums(
            at_t.mated_by_subject @ of_fnmr, at_t.by_subject @ of_fmr, at_t.twice @ of_fmr**2, at_t.alone @ of_fmr**2
        )
        return moved(self.comparisons, sums, least * (of_fnmr**2).sum(axis=0))

    def _measured(self, measure: Functional) -> Estimate:
        c = self.comparisons
        sums = sums_of([c], [[(0, 1.0, measure)]])
        estimate = self.as_estimate(measure.name, np.asarray(measure.value), moved(c, sums).only(), ())
        return estimate.changed(link=measure.link, bounds=measure.bounds, notes=(*self.heavy_notes(), *c.noted))

    def heavy_notes(self) -> tuple[Note, ...]:
        """That a few subjects make up most of the comparisons, where they do."""
        c = self.comparisons
        first = _heavy(c.mated_of, "mated", *c.df_of_fnmr)
        note = first or _heavy(c.nonmated_of, "non-mated", *c.df_of_fmr)
        return (note,) if note else ()

    def _notes(self, at_t: Influences, *, fmr: bool = True, fnmr: bool = True) -> tuple[Note, ...]:
        """What to be careful about: heavy subjects, and errors (at one threshold) that few subjects have."""
        c = self.comparisons
        single = at_t.misses.shape[1] == 1 and codes_of(c.noted).isdisjoint(UNSURE_SUBJECTS)
        notes: list[Note | None] = []
        if fnmr:
            notes.append(_heavy(c.mated_of, "mated", *c.df_of_fnmr))
            notes.append(cautions.few_holders(at_t.misses[:, 0], c.mated_of, unit="subject") if single else None)
        if fmr:
            notes.append(None if any(notes[:1]) else _heavy(c.nonmated_of, "non-mated", *c.df_of_fmr))
            notes.append(cautions.few_holders(at_t.matches[:, 0], c.nonmated_of, unit="subject") if single else None)
        return (*(note for note in notes if note), *c.noted)

    @property
    def _facts(self) -> DesignFacts:
        c, rows = self.comparisons, self.n_mated + self.n_nonmated
        if not c.known:
            return DesignFacts("simple random", rows=rows, units=rows, drawn=rows, df=rows - 1)
        remarks = ("each subject counted the same",) if c.equal else ()
        return DesignFacts(
            BOTH_SIDES, rows=math.nan, units=c.number, drawn=c.number, comparisons=self.n_nonmated, remarks=remarks
        )

    def as_estimate(self, name: str, point: Array, part: Moved, axes: tuple[Axis, ...]) -> Estimate:
        """An estimate of rates of these comparisons that vary so."""
        c = self.comparisons
        return Estimate(
            name=name,
            point=np.asarray(point, float),
            variance=np.asarray(part.variance, float),
            df=np.reshape(part.df, np.shape(point)),
            design=self._facts,
            method=Method(MethodKind.TWO_WAY, "two-way by subject"),
            axes=axes,
            measure=MeasureFacts(link="logit", bounds=(0.0, 1.0)),
            inference=Inference(spread.Influences(part.spread), float(self.n_mated), c.size_of_fnmr),
        )


def _turned(rate: Estimate) -> Estimate:
    """The equal error rate, with a note where it is above one half."""
    if float(rate.interval()[0]) <= 0.5:
        return rate
    return replace(rate, notes=(*rate.notes, Note("scores-reversed", {"case": "error"})))


def _heavy(comparisons: Array, kind: str, nominal: float, df: float) -> Note | None:
    largest = float(comparisons.max() / comparisons.sum() * (1 if kind == "mated" else 2))
    return cautions.heavy_units(nominal, df, case="subjects", unit="subject", kind=kind, largest=largest)


def sorted_scores(c: Comparisons) -> Verification:
    """The comparisons with their scores sorted, if there are enough of them."""
    mated, nonmated = c.mated, c.nonmated_scores()
    for name, scores in (("mated", mated.score), ("non-mated", nonmated)):
        if not len(scores):
            raise StratError(
                f"there must be {name} comparisons, got none; look at the labels of `probes` and `gallery`."
            )
        if not np.isfinite(scores).all():
            raise StratError(
                f"scores must be finite, got {plain(scores[~np.isfinite(scores)][0])} among the {name} ones; name the "
                "failures in `failed_probes` and `failed_gallery`, or pass missing='not compared'."
            )
    if c.number < 3:
        raise StratError.about("probes", f"must have at least three subjects for an error, got {some(c.subjects)}.")
    if not c.equal:
        nonmated.sort()
        return Verification(np.sort(mated.score), nonmated, comparisons=c)
    weight = np.concatenate([block.weight for block in c.nonmated() if block.weight is not None])
    orders = np.argsort(mated.score), np.argsort(nonmated)
    below = (_below(w[order]) for w, order in zip((mated.weight, weight), orders, strict=True))
    return Verification(mated.score[orders[0]], nonmated[orders[1]], *below, comparisons=c)


def _below(weight: Array) -> Array:
    """The share of the weight before each place, and 1."""
    cumulated = np.concatenate([[0.0], np.cumsum(weight)])
    return np.asarray(cumulated / cumulated[-1])

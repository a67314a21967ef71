"""The gallery is a sample too: what drawing other subjects to enrol adds to the variance of CMS, FNIR and FPIR.

Subjects are drawn, and each brings its probes and its gallery entry: probes and entries are crossed. The jackknife
leaves out one subject at a time with its probes (the usual variance, for a given gallery), with its entry, or with
both. What one subject's probes owe to another subject's entry is in the first two and twice in the third, so that it is
taken back once, as in the two-way variance of error rates: V = V(both) − the sum over pairs of subjects of the square
of what the one's probes owe to the other's entry. Leaving out an entry changes a probe only if this one stranger keeps
the mate from the list, so that nothing is searched again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from strat.base.errors import StratError, some
from strat.base.limits import LIMITS
from strat.base.result import Result
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, Codes, numbers
from strat.designs import DesignFacts
from strat.estimation import Estimate
from strat.estimation.facts import Inference, MeasureFacts
from strat.estimation.spread import Influences
from strat.measures.base import Axis
from strat.recognition.given_table import score_table
from strat.recognition.matching import both_sides
from strat.replication import Method, MethodKind


@dataclass(frozen=True, eq=False, repr=False)
class GallerySampling(Result):
    """Rates with the variance of drawing probes and gallery, and its parts.

    Attributes
    ----------
    estimate
        The rates, with the whole variance.
    of_probes, of_gallery
        The variance for the given gallery, and what drawing the gallery adds to it (never less than 0).
    gallery_size
        N.
    """

    estimate: Estimate
    of_probes: Array
    of_gallery: Array
    gallery_size: int

    @property
    def share(self) -> Array:
        """The share of the whole variance that a variance for the given gallery misses (negative: it is wider)."""
        whole = self.estimate.variance
        return 1 - np.divide(self.of_probes, whole, out=np.ones_like(whole), where=whole > 0)

    def parts(self) -> list[str]:
        """What of each rate's standard error is the probes' and the gallery's."""
        labels = self.estimate.axes[0].labels
        return [
            f"{label}: se {np.sqrt(v):.4f}, of which probes {np.sqrt(p):.4f} and gallery {np.sqrt(g):.4f}"
            for label, v, p, g in zip(labels, self.estimate.variance, self.of_probes, self.of_gallery, strict=True)
        ]

    def __str__(self) -> str:
        """The rates, and what of their standard errors is the probes' and the gallery's."""
        return "\n".join([str(self.estimate), *self.parts()])


@checked
def gallery_sampling(
    *,
    similarity: ArrayLike | None = None,
    distance: ArrayLike | None = None,
    probes: ArrayLike,
    gallery: ArrayLike,
    at: ArrayLike = (1,),
    threshold: float | None = None,
) -> GallerySampling:
    """CMS at ranks, and FNIR and FPIR at a threshold, with the variance of drawing the gallery counted.

    Parameters
    ----------
    similarity, distance
        Probes × gallery, one entry a subject; exactly one of the two.
    probes, gallery
        Subject of each row and column; probes of subjects outside the gallery are non-mated searches.
    at
        Ranks of the CMS.
    threshold
        T of FNIR(N, R, T), with R the last rank of `at`, and of FPIR(N, T); None: no open-set rates. For distances it
        is a distance.

    Examples
    --------
    >>> s = [[9, 1, 2, 0], [3, 8, 1, 0], [2, 6, 5, 0], [2, 1, 1, 7]]
    >>> g = gallery_sampling(similarity=s, probes=list("abcd"), gallery=list("abcd"))
    >>> g.estimate.value.tolist(), g.of_probes.round(4).tolist(), g.of_gallery.round(4).tolist()
    ([0.75], [0.0625], [0.0])
    """
    table, sign = score_table(similarity, distance)
    who, entry, labels = both_sides("probes", probes, "gallery", gallery)
    if table.shape != (len(who), len(entry)):
        raise StratError(
            f"the table of scores must be probes × gallery, here {len(who)} × {len(entry)}, got "
            f"{' × '.join(map(str, table.shape))}; is it transposed?"
        )
    if len(np.unique(entry)) < len(entry):
        raise StratError.about(
            "gallery",
            f"must name each subject once, got {some(labels[np.bincount(entry, minlength=len(labels)) > 1])} again.",
        )
    ranks = np.unique(numbers("at", at, axes=1).astype(np.int64))
    if ranks.min() < 1 or ranks.max() > len(entry):
        raise StratError.about("at", f"must be ranks from 1 to N = {len(entry)}, got {some(ranks)}.")
    column = np.full(len(labels), -1)
    column[entry] = np.arange(len(entry))
    searches = _Searches(table, sign, who, entry, column[who], ranks, None if threshold is None else sign * threshold)
    return searches.result(len(labels))


@dataclass(frozen=True, eq=False)
class _Searches:
    """A table of scores with the subject of each row and column and the column of each row's mate (−1: none)."""

    table: Any
    sign: float
    who: Codes
    entry: Codes
    mate: Codes
    at: Codes
    threshold: float | None

    def __post_init__(self) -> None:
        if not (self.mate >= 0).any():
            raise StratError.about("probes", "must have mated probes, got none: no subject is in the gallery.")
        if self.threshold is not None and (self.mate >= 0).all():
            raise StratError.about("threshold", "must come with probes of subjects outside the gallery, got none.")

    @property
    def labels(self) -> tuple[str, ...]:
        ranks = tuple(f"CMS at rank {r}" for r in self.at)
        return ranks if self.threshold is None else (*ranks, f"FNIR(R = {self.at[-1]})", "FPIR")

    def events(self) -> Iterator[tuple[Codes, list[tuple[Any, Any, float]], Any]]:
        """Some rows at a time: events, the probes that one entry less would change, and such entries."""
        step = max(1, LIMITS.scores_at_once // len(self.entry))
        for start in range(0, len(self.who), step):
            rows = np.arange(start, min(start + step, len(self.who)))
            scores = self.sign * self.table[rows].astype(float)
            if not np.isfinite(scores).all():
                raise StratError("scores must be finite, got others; leave out probes and entries that failed.")
            yield rows, *self._of(scores, self.mate[rows])

    def _of(self, scores: Array, mate: Codes) -> tuple[list[tuple[Any, Any, float]], Any]:
        mated, place = mate >= 0, np.arange(len(mate))
        own = np.where(mated, scores[place, np.maximum(mate, 0)], np.inf)
        above = scores >= own[:, None]
        above[place[mated], mate[mated]] = False
        number = above.sum(axis=1)
        # an event, the probes for which one entry less would change it, and by how much
        events = [(mated & (number < r), mated & (number == r), 1.0) for r in self.at]
        deciding = [above] * len(events)
        if self.threshold is not None:
            high, r, matches = own >= self.threshold, self.at[-1], scores >= self.threshold
            events.append((mated & ~((number < r) & high), mated & (number == r) & high, -1.0))
            hits = matches.sum(axis=1)
            events.append((~mated & (hits > 0), ~mated & (hits == 1), -1.0))
            deciding += [above, matches]
        return events, deciding

    def result(self, subjects: int) -> GallerySampling:
        rates, mated = len(self.labels), self.mate >= 0
        hits, number, turned = (np.zeros((subjects, rates)) for _ in range(3))
        pairs: list[list[Codes]] = [[] for _ in range(rates)]
        for rows, events, deciding in self.events():
            for k, (event, near, change) in enumerate(events):
                counted_in = ~mated[rows] if self.labels[k] == "FPIR" else mated[rows]
                hits[:, k] += np.bincount(self.who[rows], event.astype(float), minlength=subjects)
                number[:, k] += np.bincount(self.who[rows], counted_in.astype(float), minlength=subjects)
                i, j = np.nonzero(deciding[k] & near[:, None])
                turned[:, k] += change * np.bincount(self.entry[j], minlength=subjects)
                pairs[k].append(self.who[rows][i] * subjects + self.entry[j])
        total, n = hits.sum(axis=0), number.sum(axis=0)
        enrolled = np.isin(np.arange(subjects), self.entry)
        left = np.maximum(n - number, 1.0)
        both, alone, entries = (
            _deviations(values)
            for values in ((total - hits + turned) / left, (total - hits) / left, ((total + turned) / n)[enrolled])
        )
        owed = np.array([_squares(np.concatenate(keys)) for keys in pairs])
        of_probes, of_gallery = (alone**2).sum(axis=0), np.maximum((entries**2).sum(axis=0) - owed / n**2, 0.0)
        raw = (both**2).sum(axis=0)
        whole = np.maximum(raw - owed / n**2, of_probes)
        scale = np.sqrt(np.divide(whole, raw, out=np.zeros_like(raw), where=raw > 0))
        return GallerySampling(self._estimate(total / n, both * scale), of_probes, of_gallery, len(self.entry))

    def _estimate(self, point: Array, deviations: Array) -> Estimate:
        subjects = len(deviations)
        return Estimate(
            name="rates",
            point=point,
            variance=(deviations**2).sum(axis=0),
            df=float(subjects - 1),
            design=DesignFacts("clustered", rows=len(self.who), units=subjects, drawn=subjects, df=subjects - 1),
            method=Method(MethodKind.TWO_WAY, "jackknife of subjects, with their probes and entries"),
            axes=(Axis("rate", self.labels),),
            measure=MeasureFacts(link="logit", bounds=(0.0, 1.0)),
            inference=Inference(Influences(deviations), float(len(self.who)), float(subjects)),
        )


def _squares(keys: Codes) -> float:
    """The sum of squares of how often each key occurs."""
    return float((np.unique(keys, return_counts=True)[1].astype(float) ** 2).sum())


def _deviations(values: Array) -> Array:
    """Values without one subject each, minus their mean, so that squares add up to the jackknife's variance."""
    n = len(values)
    return np.asarray(np.sqrt((n - 1) / n) * (values - values.mean(axis=0)))

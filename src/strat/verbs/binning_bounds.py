"""How far bins of scores can move a measure: its values where each score stands at an end of its bin.

Binning keeps the order of scores in different bins. What it may change is bounded by the two worst cases: a measure
that rises with all scores lies between its values at the lower and at the upper ends; one that is the better the higher
positive rows stand, between its values with the positive rows of each bin below and above the negative ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.base.errors import StratError
from strat.base.limits import LIMITS
from strat.base.notes import Note
from strat.base.validate.columns import Array, encode
from strat.data.cells import Cells, combine
from strat.designs.from_columns import GROUP
from strat.measures.positive import positives
from strat.measures.register import Measure
from strat.verbs.metrics import columns_of

ALIKE = (  # change in one direction where all scores rise
    *("mean", "total", "ratio", "median", "quantile", "latency"),
    *("cost_per_success", "observed_expected", "mase"),
)
BY_CLASS = ("log_loss", "brier", "idi", "nri", "net_benefit")  # are better where positive rows rise and negative fall
BY_ORDER = ("auc", "partial_auc@", "tpr@", "fnmr@", "equal_error_rate", "average_precision")  # of the order alone
OTHERS = ("harrell_c", "calibration_error")
BOUNDED = (*ALIKE, *BY_CLASS, *BY_ORDER, *OTHERS)
HAIR = 1e-11  # of the range of scores: by how much rounding may have moved a score over the end of a bin
EDGES = np.linspace(0.0, 1.0, 11)[1:-1]  # between the bins of `calibration_error`


def require_bounds(metrics: Sequence[Measure], cells: Cells) -> None:
    """Refuse measures of binned scores of which nobody knows how far bins move them."""
    if cells.binning is None:
        return
    for metric in metrics:
        if "score" in metric.needs and (metric.name not in BOUNDED or metric.own):
            raise StratError.about(
                "metrics",
                f"must have a bound for what bins change, got {metric.word!r} of {cells.rows:,} rows whose scores are "
                f"put into bins; evaluate a frame in memory, or leave out `bins` (up to {LIMITS.exact_rows:,} rows).",
            )


def notes_on_bins(metrics: Sequence[Measure], cells: Cells, positive: object) -> list[Note]:
    """For each measure of scores, by how much bins move it at most, in all rows and in groups of `by`."""
    if cells.binning is None:
        return []
    groups = [role for role in cells.columns if role.startswith(GROUP)]
    notes = []
    for metric in metrics:
        if "score" not in metric.needs:
            continue
        bound, *within = _Ends(metric, cells, positive, groups).bounds()
        facts = {"bins": cells.binning.bins, "width": cells.binning.width, "bound": bound}
        facts["within"] = max(within, default=None)
        notes.append(Note("scores-binned", facts).of(metric=metric.word))
    return notes


class _Ends:
    """The distinct rows that a measure looks at, with the ends of the bins that their scores lie in."""

    def __init__(self, metric: Measure, cells: Cells, positive: object, groups: Sequence[str]) -> None:
        assert cells.binning is not None
        few, self.groups = _folded(cells, metric.needs, groups)
        self.metric, self.mass, self.columns = metric, few.mass, columns_of(few, positive)
        self.middle = np.asarray(few.columns["score"], float)
        binning = cells.binning
        self.half, hair = binning.width / 2, HAIR * (binning.high - binning.low)
        self.low = np.maximum(self.middle - self.half - hair, binning.low)
        self.high = np.minimum(self.middle + self.half + hair, binning.high)

    def bounds(self) -> Iterator[float]:
        """The bound of all rows, and of those of each group that has a value."""
        statistics = [self.metric.build({**self.columns, "score": score}) for score in (self.middle, *self._ends())]
        shares = [np.ones(len(self.mass)), *(self.groups == group for group in np.unique(self.groups))]
        for place, share in enumerate(shares):
            mass = self.mass * share
            with np.errstate(divide="ignore", invalid="ignore"):
                value, *others = (np.asarray(statistic.value(mass), float) for statistic in statistics)
                ends = [*others, *self._more(value, mass)]
            if place == 0 or np.isfinite(value).all():
                yield float(max(np.max(np.abs(end - value)) for end in ends))

    def _ends(self) -> Iterator[Array]:
        """Scores between which the measure lies."""
        name = self.metric.name
        if name in ALIKE:
            yield from (self.low, self.high)
        elif name in BY_CLASS:
            up = self._positive
            yield from (np.where(up, self.high, self.low), np.where(up, self.low, self.high))
        elif name in BY_ORDER:
            yield from self._ordered(np.where(self._positive, 1.0, -1.0))
        elif name == "harrell_c":  # the earlier of two should have the higher score; of equal times an event is first
            time, event = (np.asarray(self.columns[role], float) for role in ("truth", "predicted"))
            order, _ = encode("time", 2.0 * encode("time", time)[0] + (1.0 - event))
            yield from self._ordered(1.0 - 2.0 * order / max(order.max(), 1))

    def _ordered(self, key: Array) -> Iterator[Array]:
        """The scores of each bin in the order of a key from −1 to 1, and in the opposite order."""
        yield from (self.middle + self.half / 2 * key, self.middle - self.half / 2 * key)

    @property
    def _positive(self) -> NDArray[np.bool_]:
        positive = self.metric.given.get("positive", self.columns["positive"])
        return np.asarray(positives(self.columns["truth"], self.middle, positive)[0] == 1)

    def _more(self, value: Array, mass: Array) -> Iterator[Array]:
        """Ends of measures that no order of scores shows."""
        if self.metric.name == "average_precision":
            yield np.asarray(self._least_precision(mass))
        elif self.metric.name == "calibration_error":
            yield value + self._miscalibration(mass)

    def _least_precision(self, mass: Array) -> float:
        """The average precision where in each bin all negative rows come first, and no two positive rows are tied.

        A positive row behind x positive and F negative ones has a precision of x / (x + F), and the integral of that
        is not larger than the sum over rows, whatever these weigh.
        """
        code, support = encode("score", -self.middle)
        hit, wrong = (
            np.bincount(code, mass * side, minlength=len(support)) for side in (self._positive, ~self._positive)
        )
        before, false = np.cumsum(hit) - hit, np.cumsum(wrong)
        ratio = np.divide(hit, before + false, out=np.zeros_like(hit), where=before + false > 0)
        return float((hit - false * np.log1p(ratio)).sum() / hit.sum())

    def _miscalibration(self, mass: Array) -> float:
        """How far the calibration error moves: by half a bin, and twice by what may lie in the next bin of its own."""
        cut = np.searchsorted(EDGES, self.low) < np.searchsorted(EDGES, self.high)
        off = np.where(self._positive, 1.0 - self.low, self.high)
        return float(self.half + 2.0 * (mass * cut * off).sum() / mass.sum())


def _folded(cells: Cells, needs: Sequence[str], groups: Sequence[str]) -> tuple[Cells, NDArray[Any]]:
    """The distinct rows of some roles, and the group of each."""
    encoded = {role: encode(role, cells.columns[role]) for role in (*groups, *needs)}
    code, number = combine([codes for codes, _ in encoded.values()], [len(labels) for _, labels in encoded.values()])
    first = np.empty(number, np.int64)
    first[code[::-1]] = np.arange(len(code))[::-1]
    columns = {role: cells.columns[role][first] for role in needs}
    group, _ = (
        combine([encoded[role][0][first] for role in groups], [len(encoded[role][1]) for role in groups])
        if (groups)
        else (np.zeros(0, np.int64), 0)
    )
    mass = np.bincount(code, cells.mass, minlength=number).astype(float)
    return Cells(columns, mass, None, binning=cells.binning), group

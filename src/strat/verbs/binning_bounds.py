"""How far bins of scores can move a measure: its values where each score stands at an end of its bin.

Binning keeps the order of scores in different bins. What it may change is bounded by the two worst cases: a measure
that rises with all scores lies between its values at the lower and at the upper ends; one that is the better the higher
positive rows stand, between its values with the positive rows of each bin below and above the negative ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.base.errors import StratError
from strat.base.limits import LIMITS
from strat.base.notes import Note
from strat.base.validate.columns import Array, encode
from strat.data.binning import Binning
from strat.data.cells import Cells, combine
from strat.designs.from_columns import GROUP
from strat.measures.positive import positives
from strat.measures.register import Measure

BOUNDED = {  # the measures that have a bound, by what makes them rise or fall throughout
    **dict.fromkeys(("mean", "total", "ratio", "median", "quantile", "latency"), "all scores"),
    **dict.fromkeys(("cost_per_success", "observed_expected", "mase"), "all scores"),
    **dict.fromkeys(("log_loss", "brier", "idi", "nri", "net_benefit"), "scores of a class"),
    **dict.fromkeys(("auc", "partial_auc@", "tpr@", "fnmr@", "equal_error_rate", "average_precision"), "their order"),
    "harrell_c": "their order",
    "calibration_error": "nothing",
}
HAIR = 1e-11  # of the range of scores: by how much rounding may have moved a score over the end of a bin


def require_bounds(metrics: Sequence[Measure], cells: Cells) -> None:
    """Refuse measures of binned scores of which nobody knows how far bins move them."""
    for metric in metrics:
        if "score" in metric.needs and (metric.name not in BOUNDED or metric.own):
            raise StratError.about(
                "metrics",
                f"must have a bound for what bins change, got {metric.word!r} of {cells.rows:,} rows whose scores are "
                f"put into bins; evaluate a frame in memory, or leave out `bins` (up to {LIMITS.exact_rows:,} rows).",
            )


def notes_on_bins(metrics: Sequence[Measure], cells: Cells, positive: object) -> list[Note]:
    """For each measure of scores, by how much bins move it at most, in all rows and in groups of `by`."""
    assert cells.binning is not None
    notes = []
    for metric in metrics:
        if "score" in metric.needs:
            bound, *within = _bounds(metric, cells, positive)
            facts = {"bins": cells.binning.bins, "width": cells.binning.width, "bound": bound}
            notes.append(Note("scores-binned", {**facts, "within": max(within, default=None)}).of(metric=metric.word))
    return notes


def _bounds(metric: Measure, cells: Cells, positive: object) -> Iterator[float]:
    """The bound of all rows, and of those of each group that has a value."""
    assert cells.binning is not None
    by = [role for role in cells.columns if role.startswith(GROUP)]
    roles = {role: encode(role, cells.columns[role]) for role in (*by, *metric.needs)}
    code, number = combine([codes for codes, _ in roles.values()], [len(labels) for _, labels in roles.values()])
    mass = np.bincount(code, cells.mass, minlength=number).astype(float)
    first = np.empty(number, np.int64)
    first[code] = np.arange(len(code))
    columns = {role: cells.columns[role][first] for role in metric.needs}
    if metric.looks_at_one_class:
        positive = positives(columns["truth"], columns["score"], metric.given.get("positive", positive))[2]
    yield _Ends(metric, columns, mass, cells.binning, positive).bound()
    group = np.stack([roles[role][0][first] for role in by], axis=1) if by else np.zeros((0, 0))
    # distinct rows are in the order of their groups
    starts = np.flatnonzero((np.diff(group, axis=0) != 0).any(axis=1)) + 1
    for rows in np.split(np.arange(number), starts) if by else []:
        try:
            inside = {role: column[rows] for role, column in columns.items()}
            bound = _Ends(metric, inside, mass[rows], cells.binning, positive).bound()
        except StratError:  # a measure without a value there, which another note says
            continue
        if np.isfinite(bound):
            yield bound


@dataclass(frozen=True, eq=False)
class _Ends:
    """The values of a measure where scores stand at the ends of their bins.

    Attributes
    ----------
    metric, positive
        The measure and the positive class.
    columns, mass
        Distinct rows that the measure looks at, with scores in the middle of their bins, and what they weigh.
    binning
        The bins.
    """

    metric: Measure
    columns: Mapping[str, NDArray[Any]]
    mass: Array
    binning: Binning
    positive: Any

    def bound(self) -> float:
        """The most that the value can be off."""
        if self.metric.name == "calibration_error":
            return self._miscalibration()
        ends = [self._value(self._moved(way)) for way in (self._rising, -self._rising)]
        if self.metric.name == "average_precision":
            ends.append(np.asarray(self._least_precision()))
        value = self._value(self.middle)
        return float(max(np.max(np.abs(end - value)) for end in ends))

    def _value(self, score: Array) -> Array:
        statistic = self.metric.build({**self.columns, "score": score, "positive": self.positive})
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(statistic.value(self.mass), float)

    @property
    def middle(self) -> Array:
        """The middle of each row's bin."""
        return np.asarray(self.columns["score"], float)

    @property
    def _rising(self) -> Array:
        """Where each row's score should move for the measure to change in one direction, from −1 to 1."""
        if BOUNDED[self.metric.name] == "all scores":
            return np.ones(len(self.mass))
        if self.metric.name != "harrell_c":
            return np.where(self._is_positive, 1.0, -1.0)
        # the earlier of two should have the higher score; of equal times an event is first
        order, _ = encode("time", 2.0 * encode("time", self.columns["truth"])[0] + 1.0 - self.columns["predicted"])
        return np.asarray(1.0 - 2.0 * order / max(order.max(), 1))

    @property
    def _is_positive(self) -> NDArray[np.bool_]:
        return np.asarray(positives(self.columns["truth"], self.middle, self.positive)[0] == 1)

    def _moved(self, way: Array) -> Array:
        """The scores in this order within each bin, or at the ends of their bins."""
        if BOUNDED[self.metric.name] == "their order":
            return self.middle + self.binning.width / 4 * way
        return np.clip(self.middle + self._reach * way, self.binning.low, self.binning.high)

    @property
    def _reach(self) -> float:
        """The distance of a score from the middle of its bin, at most."""
        return self.binning.width / 2 + HAIR * (self.binning.high - self.binning.low)

    def _least_precision(self) -> float:
        """The average precision where in each bin all negative rows come first, and no two positive rows are tied.

        A positive row behind x positive and F negative ones has a precision of at least x / (x + F), and the integral
        of that is not larger than the sum over rows, whatever these weigh.
        """
        code, support = encode("score", -self.middle)
        up = self._is_positive
        hit, wrong = (np.bincount(code, self.mass * side, minlength=len(support)) for side in (up, ~up))
        before, false = np.cumsum(hit) - hit, np.cumsum(wrong)
        ratio = np.divide(hit, before + false, out=np.zeros_like(hit), where=before + false > 0)
        return float((hit - false * np.log1p(ratio)).sum() / (hit.sum() or 1.0))

    def _miscalibration(self) -> float:
        """How far the calibration error moves: by half a bin, and twice by what may lie in another bin of its own."""
        low, high = self._moved(np.full(len(self.mass), -1.0)), self._moved(np.ones(len(self.mass)))
        edges = np.linspace(0.0, 1.0, 11)[1:-1]
        cut = np.searchsorted(edges, low) < np.searchsorted(edges, high)
        off = np.where(self._is_positive, 1.0 - low, high)
        return float(self._reach + 2.0 * (self.mass * cut * off).sum() / self.mass.sum())

"""What a protocol answers: an error, how sure it is, which way it leans, and every prediction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.base.result import Result
from strat.base.validate.columns import Array
from strat.designs import Design
from strat.estimation import estimate
from strat.estimation.frames import frame
from strat.estimation.proportions import wilson
from strat.measures.means import mean
from strat.show.colours import BLUE, ORANGE
from strat.show.figures import new_axes

Table = dict[str, NDArray[Any]]

OPTIMISTIC, PESSIMISTIC, NEARLY_UNBIASED = "optimistic", "pessimistic", "nearly unbiased"


@dataclass(frozen=True, eq=False)
class Times:
    """Seconds that each training and each run took (guideline 5 of Kuncheva 1.4)."""

    fit: Array
    predict: Array

    @property
    def total(self) -> float:
        """All of them together."""
        return float(self.fit.sum() + self.predict.sum())


@dataclass(frozen=True)
class Memory:
    """Bytes of the first split's trained classifier (pickled), and the most that its training held at once.

    The second comes from one more training under `tracemalloc`; it is NaN when a training takes longer than
    a second, because tracing would double the work.
    """

    model: float
    peak: float


@dataclass(frozen=True, eq=False, repr=False)
class ProtocolResult(Result):
    """An estimate of a classifier model's error, made by one training and testing protocol.

    Attributes
    ----------
    protocol
        The name of the protocol.
    error
        The estimated error.
    se, df
        Its standard error, and the degrees of freedom of the interval.
    variance
        Where the standard error comes from, in words.
    bias
        Which way the estimate leans against the error of the classifier that is trained on all the rows:
        "optimistic" (too low), "pessimistic" (too high), "nearly unbiased".
    fold_errors
        Error of each training and testing session.
    predictions
        Columns row, fold, repeat, truth, predicted, score (two classes: of the greater label; more: of the
        predicted one; NaN where the classifier gives none), and unit where units were given.
    times, memory
        What it cost.
    trials
        Independent test cases (rows or units): what the interval rests on when no error was made.
    of_rows
        The mean over rows of how often each was tested wrongly, around which the interval lies (None: `error`). It
        differs from the mean over splits where these are small and of rounded class shares.
    details
        What only this protocol knows.
    notes
        What to be careful about.
    """

    protocol: str
    error: float
    se: float
    df: float
    variance: str
    bias: str
    fold_errors: Array
    predictions: Table
    times: Times
    memory: Memory
    trials: int
    details: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    of_rows: float | None = None

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Lower and upper limit of the error.

        It is the score interval with the effective number of test cases error·(1 − error)/se² and Student's
        quantile: it stays within [0, 1] and does not collapse when there are no errors.
        """
        p = min(max(self.error if self.of_rows is None else self.of_rows, 0.0), 1.0)
        spread = p * (1 - p)
        trials = spread / self.se**2 if self.se > 0 and spread > 0 else float(self.trials)
        low, high = wilson(p * trials, trials, level, df=self.df)
        return min(float(low), self.error), max(float(high), self.error)

    def design(self) -> Design:
        """The design of `predictions`, so that every statistic can be estimated from them.

        Rows that were tested more than once are one unit; so are the rows of one of the units that were given.
        """
        key = "unit" if "unit" in self.predictions else "row"
        labels = self.predictions[key]
        if key == "row" and len(np.unique(labels)) == len(labels):
            return Design.simple_random(n=len(labels))
        return Design.clustered(units=labels)

    def to_dict(self) -> dict[str, list[Any]]:
        """One line of columns: protocol, error, se, low, high, bias, variance, trainings, seconds, bytes."""
        low, high = self.interval()
        line = {
            "protocol": self.protocol,
            "error": self.error,
            "se": self.se,
            "low": low,
            "high": high,
            "bias": self.bias,
            "variance": self.variance,
            "trainings": len(self.times.fit),
            "seconds": self.times.total,
            "model_bytes": self.memory.model,
            "peak_bytes": self.memory.peak,
        }
        return {name: [value] for name, value in line.items()}

    def to_frame(self, library: str | None = None) -> Any:
        """The columns of `to_dict` as a data frame of pandas, Polars or PyArrow (the first that is loaded)."""
        return frame(self.to_dict(), library)

    def __str__(self) -> str:
        """One sentence, and what to be careful about."""
        low, high = self.interval()
        text = (
            f"{self.protocol}: error {self.error:.4f} (se {self.se:.4f}, 95 % {low:.4f} to {high:.4f}; "
            f"{self.variance}), {self.bias}; {len(self.times.fit)} trainings, {self.times.total:.3g} s"
        )
        return "\n".join([text, *(f"note: {note}" for note in self.notes)])

    def plot(self, ax: Any = None) -> Any:
        """Errors of the sessions as dots, the estimate as a line, its interval as a band."""
        axes = new_axes(ax)
        low, high = self.interval()
        axes.axhspan(low, high, color=BLUE, alpha=0.15, lw=0, label="95 % interval")
        axes.axhline(self.error, color=BLUE, lw=2, label=f"error {self.error:.3f}")
        axes.plot(np.arange(1, len(self.fold_errors) + 1), self.fold_errors, "o", color=ORANGE, ms=4)
        axes.set(xlabel="training and testing session", ylabel="error", title=self.protocol)
        axes.set_ylim(bottom=0)
        axes.legend(frameon=False)
        return axes


def row_se(wrong: Array, unit: NDArray[Any] | None) -> tuple[float, int]:
    """Standard error of the share of wrong rows, and the independent cases: rows, or units of rows."""
    design = case_design(unit, len(wrong))
    if design is None:
        return float("nan"), 1
    return float(estimate(mean(wrong), on=design).se), design.n_units


def case_design(unit: NDArray[Any] | None, n: int) -> Design | None:
    """How test rows were drawn: alone or in units; None when there is only one of them."""
    if n < 2 or (unit is not None and (unit == unit[0]).all()):
        return None
    return Design.simple_random(n=n) if unit is None else Design.clustered(units=unit)

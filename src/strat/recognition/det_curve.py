"""FNMR against FMR with errors: the DET curve, and its pictures as DET and as ROC."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from strat.base.errors import drawable, one_of
from strat.base.result import Result
from strat.base.text import counted
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array
from strat.estimation import Estimate
from strat.show.colours import GREY, OKABE_ITO
from strat.show.drawing import limits_last, probit_axes, probit_ticks
from strat.show.figures import new_axes

AXES = ("log", "probit", "roc", "roc-log")


@dataclass(frozen=True, eq=False, repr=False)
class DetCurve(Result):
    """FNMR against FMR with errors; `plot` draws a DET (log or normal deviate axes) or a ROC."""

    estimate: Estimate
    fmr: Array
    mated: int
    nonmated: int
    subjects: int

    def __str__(self) -> str:
        """What was compared, and FNMR at each FMR."""
        return f"{compared(self.mated, self.nonmated, self.subjects)}\n{self.estimate}"

    @checked
    def to_dict(self, level: float = 0.95) -> dict[str, list[Any]]:
        """Columns: a line for each point of the curve, with its standard error and limits."""
        return self.estimate.to_dict(level)

    @checked
    def to_frame(self, library: str | None = None, level: float = 0.95) -> Any:
        """The columns as a data frame of pandas, Polars or PyArrow (the first that is loaded or installed)."""
        return self.estimate.to_frame(library, level)

    def plot(
        self,
        ax: Any = None,
        *,
        axis: str = "log",
        level: float = 0.95,
        name: str | None = None,
        color: str | None = None,
        band: bool = False,
    ) -> Any:
        """Draw one more curve with its interval at each false match rate, or with the band of the whole curve.

        Parameters
        ----------
        axis
            "log" (both), "probit" (normal deviates), "roc" (true match rate, linear) or "roc-log" (true match rate,
            false match rates on a logarithmic axis up to 1).
        level
            Confidence level.
        name, color
            Of this curve in the legend.
        band
            Whether the limits hold for the whole curve at once.
        """
        one_of("axis", axis, AXES)
        ax = new_axes(ax)
        drawn = len([line for line in ax.get_lines() if line.get_gid() != "strat-diagonal"])
        color = OKABE_ITO[drawn % len(OKABE_ITO)] if color is None else color
        limits = self.estimate.band(level) if band else self.estimate.interval(level)
        low, high = (np.asarray(side) for side in limits)
        x, value, least = self.fmr, self.estimate.point, 0.5 / self.mated
        roc = axis.startswith("roc")
        if roc:  # at FMR 1 everything matches
            x = np.append(x, 1.0)
            value, low, high = (np.append(1 - side, 1.0) for side in (value, high, low))
        else:
            value, low, high = (np.maximum(side, least) for side in (value, low, high))
        up = "true match rate" if roc else "false non-match rate"
        ax.plot(x, value, color=color, label=up if name is None else drawable(name), lw=1.7)
        where = "band of the whole curve" if band else "interval at each false match rate"
        ax.fill_between(
            x, low, high, color=color, alpha=0.25, lw=0, label=None if drawn else f"{100 * level:g} % {where}"
        )
        _scale(ax, axis, first=not drawn)
        percent = " (%)" if axis == "probit" else ""
        ax.set_xlabel(
            f"false match rate{percent}\n{counted(self.nonmated, 'non-mated comparison')}, "
            f"{counted(self.mated, 'mated comparison')}{_of(self.subjects)}"
        )
        ax.set_ylabel(up + percent)
        limits_last(ax, fontsize=8, loc="lower right" if roc else "upper right")
        return ax


def compared(mated: int, nonmated: int, subjects: int) -> str:
    """How many comparisons of each kind, of how many subjects.

    >>> compared(1, 1200, 3)
    '1 mated and 1,200 non-mated comparisons of 3 subjects'
    """
    return f"{mated:,} mated and {counted(nonmated, 'non-mated comparison')}{_of(subjects)}"


def _of(subjects: int) -> str:
    """Of how many subjects, where that is known."""
    return f" of {counted(subjects, 'subject')}" if subjects else ""


def _scale(ax: Any, axis: str, *, first: bool) -> None:
    if axis == "roc":
        if first:
            ax.plot([0, 1], [0, 1], color=GREY, lw=1, ls="--", gid="strat-diagonal")
        ax.set(xlim=(0, 1), ylim=(0, 1.02))
    elif axis == "roc-log":
        ax.set_xscale("log")
        ax.set_xlim(right=1.0)
        ax.set_ylim(top=1.005)
    elif axis == "log":
        ax.set(xscale="log", yscale="log")
    else:
        probit_axes(ax)
        probit_ticks(ax)

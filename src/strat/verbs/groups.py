"""Measures in groups of rows: each group with its own interval, the test that all are equal, gaps, the worst group."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
import scipy

from strat.base.errors import StratError, one_of
from strat.base.limits import LIMITS
from strat.base.result import Result
from strat.base.validate.columns import Array
from strat.comparison.equal_groups import by_covariance
from strat.comparison.posthoc import studentized_range_quantile
from strat.estimation import Estimate
from strat.estimation.frames import frame
from strat.estimation.hypothesis_tests import TestResult
from strat.measures.register import spelled
from strat.show.render import Sheet
from strat.show.sheet_result import ByName, SheetResult
from strat.verbs.group_lines import lines_of, records_of
from strat.verbs.group_tests import METHODS, GroupLines
from strat.verbs.pictures import of_groups

TINY = 1e-300  # in place of 0 in a denominator

Label = tuple[Any, ...]


def in_words(label: Any) -> str:
    """A group's label as text: the levels of several columns with commas between them."""
    return ", ".join(map(str, label)) if isinstance(label, tuple) else str(label)


@dataclass(frozen=True, repr=False)
class Extreme(Result):
    """A value chosen among groups, such as the worst or the largest gap, with limits that allow for the choice."""

    groups: tuple[Any, ...]
    value: float
    low: float
    high: float
    level: float

    def __str__(self) -> str:
        """The value with its simultaneous limits."""
        names = " and ".join(in_words(group) for group in self.groups)
        if np.isnan(self.value):
            return f"{names}: not defined, every value is 0"
        limits = f"{100 * self.level:g} % {self.low:.4f} to {self.high:.4f}"
        return f"{names}: {self.value:.4f} ({limits}, simultaneous over all groups)"


@dataclass(frozen=True, eq=False, repr=False)
class Groups(ByName[Any, Estimate], SheetResult):
    """One measure in each group of rows.

    Attributes
    ----------
    metric
        The measure's name.
    by
        The columns that make the groups.
    each
        From a group's label (a tuple for several columns) to its estimate.
    rows
        From a group's label to its number of rows.
    undefined
        Groups in which the measure is not defined, with the reason.
    higher_is_better
        Whether a larger value is a better one; None: the best value lies between, so that no group is the worst.
    joint
        All groups as one estimate with their covariance; None where there is none to be had.
    lines
        What the test that all groups are equal needs beyond that; None where it has to do with the covariance.
    """

    metric: str
    by: tuple[str, ...]
    each: Mapping[Any, Estimate]
    rows: Mapping[Any, int]
    undefined: Mapping[Any, str] = field(default_factory=dict)
    higher_is_better: bool | None = True
    joint: Estimate | None = None
    lines: GroupLines | None = field(default=None, repr=False)

    def named(self) -> Mapping[Any, Estimate]:
        """From a group's label to its estimate."""
        return self.each

    def __getitem__(self, label: Any) -> Estimate:
        """The estimate in a group."""
        if label not in self.each:
            raise StratError.about(
                "label", f"must be a group with an estimate, got {label!r}; there are {list(self.each)[:8]}."
            )
        return self.each[label]

    def test(self, method: str = "permutation") -> TestResult:
        """The test that all groups have the same value.

        Parameters
        ----------
        method
            "permutation": what the values would be if rows, or whole units, had been given to the groups at random
            (exact for shares of independent rows), so that no group counts as known, however small it is.
            "rao-scott": the F of R's `svychisq`, for a share.
        """
        joint = self._joint()
        if self.lines is not None:
            test = self.lines.test(method)
        elif joint.inference.spread is None:
            raise StratError(f"`{self.metric}` must have a closed form to be tested for being equal in all groups.")
        else:
            one_of("method", method, METHODS[:1])
            test = by_covariance(np.ravel(joint.point), joint.covariance, float(np.min(joint.df)))
        return replace(test, null=f"{self.metric} is the same in all groups")

    def gap(self, level: float = 0.95) -> Extreme:
        """The largest difference between two groups, with limits that allow for its having been chosen."""
        joint, (low, high) = self._joint(), self._together(level)
        value, (i, j) = np.ravel(joint.point), np.triu_indices(joint.point.size, 1)
        ends = self._apart(value, low, high)
        off = value[i] - value[j]
        gap = self._largest(off, *ends, level)
        return replace(gap, high=min(joint.bounds[1] - joint.bounds[0], gap.high))

    def ratio(self, level: float = 0.95) -> Extreme:
        """The smallest ratio of one group to another, with limits that allow for its having been chosen."""
        joint, (low, high) = self._joint(), self._together(level)
        value, (i, j) = np.ravel(joint.point), np.triu_indices(joint.point.size, 1)
        if (value < 0).any():
            raise StratError(f"`{self.metric}` must not be below 0 for a ratio, got {value.min():.4g}; use gap().")
        if not value.any():
            return Extreme(joint.axes[0].labels, np.nan, 0.0, 1.0, level)
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = [np.log(np.maximum(v, 0.0)) for v in (value, low, high)]
            ends = self._apart(*logs)
            quotients = (logs[1][i] - logs[2][j], logs[2][i] - logs[1][j])  # where a value or a limit is 0
            low, high = (np.where(np.isfinite(a), a, b) for a, b in zip(ends, quotients, strict=True))
            worst = self._largest(logs[0][i] - logs[0][j], low, high, level)
        smallest, least, most = (float(np.exp(-size)) for size in (worst.value, worst.high, worst.low))
        return replace(worst, groups=worst.groups[::-1], value=smallest, low=least, high=most)

    def _together(self, level: float) -> tuple[Array, Array]:
        """Limits of each group, at the level at which all differences of independent groups hold together (Tukey's)."""
        joint = self._joint()
        critical = studentized_range_quantile(1.0 - level, joint.point.size) / math.sqrt(2.0)
        return self._limits(1.0 - 2.0 * float(scipy.special.ndtr(-critical)))

    def _limits(self, level: float) -> tuple[Array, Array]:
        """The limits that each group that is compared has of its own."""
        lines = {label: (line["low"], line["high"]) for label, line in records_of(self.each, level, lines_of)}
        low, high = np.array([lines[label] for label in self._joint().axes[0].labels], float).T
        return low, high

    def _apart(self, value: Array, low: Array, high: Array) -> tuple[Array, Array]:
        """Limits of the difference of each pair, from those of its two groups (MOVER)."""
        joint, (i, j) = self._joint(), np.triu_indices(len(value), 1)
        covariance = np.diag(joint.variance) if joint.inference.spread is None else joint.covariance
        deviation = np.sqrt(np.diag(covariance))
        both = deviation[i] * deviation[j]
        shared = np.divide(covariance[i, j], both, out=np.zeros(len(i)), where=both > TINY)
        off = value[i] - value[j]
        down, up = value - low, high - value
        below = np.sqrt(np.maximum(down[i] ** 2 + up[j] ** 2 - 2.0 * shared * down[i] * up[j], 0.0))
        above = np.sqrt(np.maximum(up[i] ** 2 + down[j] ** 2 - 2.0 * shared * up[i] * down[j], 0.0))
        return off - below, off + above

    def _largest(self, off: Array, low: Array, high: Array, level: float) -> Extreme:
        """The largest of pairs' differences, whichever sign it has, with the limits of the largest of all."""
        labels = self._joint().axes[0].labels
        i, j = np.triu_indices(len(labels), 1)
        flip = off < 0
        low, high = np.where(flip, -high, low), np.where(flip, -low, high)
        k = int(np.nanargmax(np.abs(off)))
        pair = (labels[j[k]], labels[i[k]]) if flip[k] else (labels[i[k]], labels[j[k]])
        most = max(float(np.nanmax(high)), -float(np.nanmin(low)))  # the other of a pair may be the better one by more
        return Extreme(pair, float(np.abs(off[k])), max(0.0, float(np.nanmax(low))), most, level)

    def worst(self, level: float = 0.95) -> Extreme:
        """The worst group, with limits that allow for its having been chosen."""
        if self.higher_is_better is None:
            raise StratError(f"`{self.metric}` must have a better direction for a worst group; take gap() instead.")
        joint = self._joint()
        low, high = self._limits(level ** (1.0 / joint.point.size))
        pick, choose = (np.argmin, np.min) if self.higher_is_better else (np.argmax, np.max)
        k = int(pick(np.ravel(joint.point)))
        return Extreme(
            (joint.axes[0].labels[k],), float(joint.point[k]), float(choose(low)), float(choose(high)), level
        )

    def sentences(self, level: float = 0.95) -> list[str]:
        """What is said of all groups at once, for one number in each of two or more."""
        if len(self.each) > LIMITS.compared_groups:
            return [f"{self.metric}: {len(self.each):,} groups are too many to compare with each other"]
        if self.joint is None or self.joint.point.ndim != 1:
            return []
        worst = [] if self.higher_is_better is None else [f"{self.metric}, worst group: {self.worst(level)}"]
        lines = [*worst, f"{self.metric}, largest gap: {self.gap(level)}"]
        with suppress(StratError):
            test = self.test()
            lines.insert(0, f"{self.metric}, equal in all groups? p = {test.pvalue:.3g} ({test.name})")
        return lines

    def data(self, level: float = 0.95) -> dict[str, Any]:
        """The same as plain values, for JSON."""
        undefined = {str(label): why for label, why in self.undefined.items()}
        values: dict[str, Any] = {"measure": spelled(self.metric), "undefined": undefined}
        if self.joint is not None and self.joint.point.ndim == 1:
            values |= {"gap": asdict(self.gap(level))}
            if self.higher_is_better is not None:
                values["worst"] = asdict(self.worst(level))
            if self.joint.bounds[0] >= 0:
                values["ratio"] = asdict(self.ratio(level))
            with suppress(StratError):
                values["test"] = self.test().to_dict()
        return values

    def to_frame(self, library: str | None = None, level: float = 0.95) -> Any:
        """One line for each group, as a frame."""
        return frame(self.to_dict(level), library)

    def sheet(self) -> Sheet:
        """The groups as a table, with all numbers for JSON."""
        return replace(self.table(), data={**self.data(), "groups": self.to_dict()})

    def table(self, max_rows: int | None = None) -> Sheet:
        """The groups as a table to look at, with what can be said of their differences below it."""
        columns = self.to_dict()
        shown = [name for name in columns if name not in ("deff", "positive")]
        lines = list(zip(*(columns[name] for name in shown), strict=True))
        rows = lines[:max_rows]
        title = f"{self.metric} by {', '.join(self.by)}"
        return Sheet("strat/groups/1", shown, rows, title, self.sentences(), left_out=len(lines) - len(rows))

    def to_dict(self, level: float = 0.95) -> dict[str, list[Any]]:
        """Columns: one line for each group (and class, where the measure has one value for each)."""
        columns: dict[str, list[Any]] = {}
        for label, line in records_of(self.each, level, lines_of):
            names = label if len(self.by) > 1 else (label,)
            head = dict(zip(self.by, names, strict=True)) | {"measure": self.metric, "rows": self.rows[label]}
            for name, value in (head | line).items():
                columns.setdefault(name, []).append(value)
        return columns

    def plot(self, *, reference: float | None = None, level: float = 0.95, ax: Any = None) -> Any:
        """The measure in each group with its interval; a dashed line at `reference`, such as the value of the whole."""
        return of_groups(self, reference=reference, level=level, ax=ax)

    def _joint(self) -> Estimate:
        if self.joint is None or self.joint.point.ndim != 1:
            raise StratError(
                f"`{self.metric}` must be one number in each of two or more groups, in closed form, to be compared "
                "between them."
            )
        return self.joint

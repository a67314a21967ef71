"""Measures in groups of rows: each group with its own interval, the test that all are equal, gaps, the worst group."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
import scipy

from strat.base.errors import StratError
from strat.base.limits import LIMITS
from strat.base.notes import Note, merged
from strat.base.result import Result
from strat.base.validate.columns import Array, Codes
from strat.estimation import Estimate
from strat.estimation.frames import frame
from strat.estimation.functions import Difference
from strat.estimation.hypothesis_tests import TestResult
from strat.measures.student import critical
from strat.show.render import Sheet
from strat.show.sheet_result import ByName, SheetResult
from strat.verbs.group_lines import lines_of, records_of
from strat.verbs.pictures import of_groups

ROUNDING = 1e-12  # of a value, which its standard error may be without anything having varied

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
    """

    metric: str
    by: tuple[str, ...]
    each: Mapping[Any, Estimate]
    rows: Mapping[Any, int]
    undefined: Mapping[Any, str] = field(default_factory=dict)
    higher_is_better: bool | None = True
    joint: Estimate | None = None

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

    def test(self) -> TestResult:
        """The test that all groups have the same value (Wald's, with the F distribution of Korn and Graubard).

        There is none where nothing varied in a group: its standard error of 0 would pass for a value known exactly.
        """
        joint = self._joint()
        if note := self._untestable(joint):
            raise StratError(note.of(metric=self.metric))
        value, k = np.ravel(joint.point), joint.point.size - 1
        contrasts = np.eye(k + 1)[1:] - 1.0 / (k + 1)
        covariance = contrasts @ joint.covariance @ contrasts.T
        df = float(np.max(joint.df)) - k + 1
        off = contrasts @ value
        wald = float(off @ np.linalg.pinv(covariance) @ off)
        f = wald * df / (k * (df + k - 1))
        p = float(scipy.special.fdtrc(k, df, f))
        null = f"{self.metric} is the same in all groups"
        return TestResult("equality of groups, Wald F", f, p, (float(k), df), "two-sided", null)

    def _untestable(self, joint: Estimate) -> Note | None:
        """Why there is no test that all groups have the same value."""
        still = [label for label, moves in zip(joint.axes[0].labels, _varies(joint), strict=True) if not moves]
        groups, df = joint.point.size, float(np.max(joint.df))
        few = groups < 2 or df - groups + 2 < 1
        if not still and not few:
            return None
        facts = {"few": None} if still else {"few": groups, "df": df}
        return Note(
            "groups-not-tested", {"case": "still" if still else "few", "still": tuple(map(in_words, still)), **facts}
        )

    def gap(self, level: float = 0.95) -> Extreme:
        """The largest difference between two groups, with limits that allow for its having been chosen."""
        joint, (i, j) = self._joint(), self._pairs()
        difference = joint.point[i] - joint.point[j]
        low, high = self._limits_of_pairs(difference, i, j, level)
        still = ~_varies(joint)
        if still.any():  # a group without a single error has exact limits of its own, and so have differences from it
            below, above = (np.ravel(np.asarray(side)) for side in joint.band(level))
            down, up = joint.point - below, above - joint.point
            exact = still[i] | still[j]
            low = np.where(exact, difference - np.hypot(down[i], up[j]), low)
            high = np.where(exact, difference + np.hypot(up[i], down[j]), high)
        gap = self._largest(difference, low, high, level)
        return replace(gap, high=min(joint.bounds[1] - joint.bounds[0], gap.high))

    def ratio(self, level: float = 0.95) -> Extreme:
        """The smallest ratio of one group to another, with limits that allow for its having been chosen.

        Limits are those of differences of logarithms; where a value is 0 or did not vary, those of a quotient of the
        groups' own simultaneous limits.
        """
        joint, (i, j) = self._joint(), self._pairs()
        value = np.ravel(joint.point)
        if (value < 0).any():
            raise StratError(f"`{self.metric}` must not be below 0 for a ratio, got {value.min():.4g}; use gap().")
        if not value.any():
            return Extreme(joint.axes[0].labels, np.nan, 0.0, 1.0, level)
        moving = _varies(joint) & (value > 0)
        inner = np.flatnonzero(moving[i] & moving[j] & (len(i) <= LIMITS.pairs_of_groups))
        low, high = self._quotients(level) if len(inner) < len(i) else np.empty((2, len(i)))
        if len(inner):
            left, right = i[inner], j[inner]
            pairs = joint.map(lambda v: np.log(v[..., left] / v[..., right]))
            low[inner], high[inner] = (np.asarray(side) for side in pairs.band(level))
        with np.errstate(divide="ignore", invalid="ignore"):
            off = np.log(value[i]) - np.log(value[j])
        worst = self._largest(off, low, high, level)
        smallest, least, most = (float(np.exp(-size)) for size in (worst.value, worst.high, worst.low))
        return replace(worst, groups=worst.groups[::-1], value=smallest, low=least, high=most)

    def _quotients(self, level: float) -> tuple[Array, Array]:
        """Limits of the logarithm of each pair's ratio, from the simultaneous limits of its two groups."""
        i, j = self._pairs()
        with np.errstate(divide="ignore"):
            bottom, top = (np.log(np.maximum(np.ravel(side), 0.0)) for side in self._joint().band(level))
        return bottom[i] - top[j], top[i] - bottom[j]

    def _largest(self, off: Array, low: Array, high: Array, level: float) -> Extreme:
        """The largest of pairs' differences, whichever sign it has, with the limits of the largest of all."""
        i, j = self._pairs()
        flip = off < 0
        low, high = np.where(flip, -high, low), np.where(flip, -low, high)
        k = int(np.nanargmax(np.abs(off)))
        labels = self._joint().axes[0].labels
        pair = (labels[j[k]], labels[i[k]]) if flip[k] else (labels[i[k]], labels[j[k]])
        most = max(float(np.max(high)), -float(np.min(low)))  # the other of a pair may be the better one by more
        return Extreme(pair, float(np.abs(off[k])), max(0.0, float(np.max(low))), most, level)

    def worst(self, level: float = 0.95) -> Extreme:
        """The worst group, with limits that allow for its having been chosen."""
        if self.higher_is_better is None:
            raise StratError(f"`{self.metric}` must have a better direction for a worst group; take gap() instead.")
        joint = self._joint()
        low, high = (np.ravel(np.asarray(side)) for side in joint.band(level))
        pick = np.argmin if self.higher_is_better else np.argmax
        choose = np.min if self.higher_is_better else np.max
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
        with suppress(StratError):  # the reason is a note
            test = self.test()
            k, df = test.df
            lines.insert(
                0, f"{self.metric}, equal in all groups? F({k:g}, {df:g}) = {test.statistic:.3g}, p = {test.pvalue:.3g}"
            )
        return lines

    def data(self, level: float = 0.95) -> dict[str, Any]:
        """The same as plain values, for JSON."""
        values: dict[str, Any] = {"measure": self.metric, "undefined": {str(k): v for k, v in self.undefined.items()}}
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

    def _pairs(self) -> tuple[Codes, Codes]:
        return np.triu_indices(self._joint().point.size, 1)

    def _limits_of_pairs(self, difference: Array, i: Codes, j: Codes, level: float) -> tuple[Array, Array]:
        """Simultaneous limits of all differences between two groups."""
        joint = self._joint()
        if len(i) <= LIMITS.pairs_of_groups:
            pairs = joint.map(Difference(i, j), name="difference")
            low, high = pairs.band(level)
            return np.asarray(low), np.asarray(high)
        covariance, df = joint.covariance, np.broadcast_to(joint.df, joint.point.shape)
        se = np.sqrt(np.maximum(joint.variance[i] + joint.variance[j] - 2.0 * covariance[i, j], 0.0))
        half = critical(1.0 - (1.0 - level) / len(i), np.minimum(df[i], df[j])) * se
        return difference - half, difference + half


def _varies(joint: Estimate) -> Any:
    """Which values vary by more than rounding."""
    return np.sqrt(joint.variance) > ROUNDING * np.maximum(np.abs(joint.point), 1.0)


def untested(measures: Iterable[Groups]) -> list[Note]:
    """Why there is no test that all groups are equal, of the measures that have none though there are groups."""
    notes = [
        note.of(metric=one.metric)
        for one in measures
        if one.joint is not None and one.joint.point.ndim == 1 and len(one.each) <= LIMITS.compared_groups
        if (note := one._untestable(one.joint))
    ]
    return list(merged(notes))

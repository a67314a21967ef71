"""Two systems compared by any measure, with the covariance that the design gives them."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from strat.columns import Array
from strat.comparison.results import TestResult, p_text, t_pvalue
from strat.designs import Design
from strat.doors import checked
from strat.errors import StratError, StratWarning
from strat.estimation import Estimate, estimate
from strat.replication import Replicates
from strat.statistics import Statistic, stack


@dataclass(frozen=True)
class Comparison:
    """Which of two systems is better, by how much, and how sure that is.

    Attributes
    ----------
    names
        The two systems.
    metric
        What was measured.
    values
        The measure of each system.
    difference
        The estimate of first − second, with the standard error that the design gives.
    independent
        The same if every row were an independent draw (None where the design says just that).
    higher_is_better
        Whether a larger value is a better one.
    paired
        Whether both systems saw the same items.
    share
        Whether the measure is a share of rows, so that differences are said in points.
    units
        Number of units drawn.
    """

    names: tuple[str, str]
    metric: str
    values: tuple[float, float]
    difference: Estimate = field(repr=False)
    independent: Estimate | None = field(repr=False)
    higher_is_better: bool
    paired: bool
    share: bool
    units: int
    both: Estimate | None = field(default=None, repr=False)

    @property
    def value(self) -> float:
        """First − second."""
        return float(self.difference.value)

    @property
    def se(self) -> float:
        """Standard error of the difference."""
        return float(self.difference.se)

    @property
    def df(self) -> float:
        """Degrees of freedom."""
        return float(self.difference.df)

    @property
    def pvalue(self) -> float:
        """Two-sided p-value of no difference; where nothing varied, exact for the number of units."""
        if self._still:
            return min(1.0, 2.0 * self._missed(abs(self.value)))
        return float(self.difference.test(0.0).pvalue)

    @property
    def ratio(self) -> Estimate:
        """The estimate of first / second (of error rates, say), with its interval on the log scale."""
        if self.both is None:
            raise StratError("`ratio` is known for paired systems only; these were compared on different items.")
        if self.values[1] == 0.0:
            raise StratError(
                f"`ratio` must not divide by zero, got {self.metric} 0 for {self.names[1]}; use the difference."
            )
        return self.both.map(
            lambda v: v[..., 0] / v[..., 1], name=f"ratio of {self.metric}", link="log", bounds=(0.0, math.inf)
        )

    @checked
    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Confidence interval of the difference; where nothing varied, exact for the number of units."""
        low, high = _interval(self.difference, level)
        if not self._still:
            return low, high
        half = 1.0 - (0.5 * (1.0 - level)) ** (1.0 / self.units)
        return max(-1.0, self.value - 2.0 * half), min(1.0, self.value + 2.0 * half)

    @checked
    def equivalence(self, margin: float) -> TestResult:
        """Two one-sided tests that the systems differ by less than `margin`: a small p-value shows equivalence."""
        low, high = self._against(-_positive(margin)), self._against(margin)
        if self._still:
            p = self._missed(margin - abs(self.value))
        else:
            p = max(t_pvalue(low, self.df, "greater"), t_pvalue(high, self.df, "less"))
        null = f"the systems differ by {margin:g} or more"
        t = low if abs(low) < abs(high) else high
        return TestResult("equivalence, two one-sided t", t, p, (self.df,), "two-sided", null)

    @checked
    def noninferiority(self, margin: float) -> TestResult:
        """The one-sided test that the first system is not worse than the second by `margin` or more."""
        t = self._against(-_positive(margin) if self.higher_is_better else margin)
        p = t_pvalue(t, self.df, "greater" if self.higher_is_better else "less")
        if self._still:
            p = self._missed(margin + (self.value if self.higher_is_better else -self.value))
        null = f"{self.names[0]} is worse than {self.names[1]} by {margin:g} or more"
        return TestResult("non-inferiority, t", t, p, (self.df,), "greater" if self.higher_is_better else "less", null)

    @property
    def _still(self) -> bool:
        """Whether a difference of shares was the same in every unit, and there are units that nobody saw."""
        return self.share and self.se == 0.0 and bool(np.isfinite(np.min(self.difference.worth)))

    def _missed(self, gap: float) -> float:
        """How likely it is at most to see no other difference where the true one lies `gap` away.

        A unit shifts a share by at most 2, so at least gap / 2 of the units would, and n units miss them all.
        """
        return float((1.0 - min(max(gap, 0.0) / 2.0, 1.0)) ** self.units)

    def _against(self, null: float) -> float:
        if self.se == 0.0:
            gap = self.value - null
            return math.copysign(math.inf, gap) if gap else 0.0
        return (self.value - null) / self.se

    def __str__(self) -> str:
        """The answer as a sentence."""
        return sentence(self)

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """The numbers for JSON."""
        low, high = self.interval(level)
        found: dict[str, Any] = {
            "a": self.names[0], "b": self.names[1], "metric": self.metric, "paired": self.paired,
            "value_a": self.values[0], "value_b": self.values[1], "difference": self.value, "se": self.se,
            "df": self.df, "low": low, "high": high, "level": level, "pvalue": self.pvalue,
            "higher_is_better": self.higher_is_better, "method": self.difference.method, "sentence": str(self),
        }  # fmt: skip
        if self.independent is not None:
            low, high = _interval(self.independent, level)
            found["if_rows_were_independent"] = {
                "se": float(self.independent.se), "low": low, "high": high,
                "pvalue": float(self.independent.test(0.0).pvalue),
            }  # fmt: skip
        return found


@checked
def paired(
    a: Statistic,
    b: Statistic,
    *,
    on: Design | Replicates,
    higher_is_better: bool,
    names: tuple[str, str] = ("A", "B"),
) -> Comparison:
    """The difference of one measure between two systems on the same items.

    The covariance of the two comes from the design: closed form for a `Design`, replicates otherwise. Any measure goes
    (accuracy, F1, AUC, CMS at a rank); both must be the same one.

    Examples
    --------
    Ten items, A right on 8 and B on 5, three of them lost: d̄ = 0.3, se = sqrt(0.21 / 9).

    >>> from strat.designs import Design
    >>> from strat.statistics import accuracy
    >>> truth, a, b = [1] * 10, [1] * 8 + [0] * 2, [1] * 5 + [0] * 5
    >>> result = paired(
    ...     accuracy(truth, a), accuracy(truth, b), on=Design.simple_random(n=10), higher_is_better=True
    ... )
    >>> round(result.value, 4), round(result.se, 4)
    (0.3, 0.1528)
    >>> print(result)
    A is not shown to be better than B: accuracy differs by 30.0 points, 95 % -4.6 to 64.6, p = 0.081.
    """
    for name, one in (("a", a), ("b", b)):
        if not isinstance(one, Statistic):
            raise StratError(
                f"`{name}` must be a Statistic such as strat.accuracy(truth, a), got {type(one).__name__}."
            )
        if one.shape:
            raise StratError(
                f"`{name}` must be a single number, got a statistic of shape {one.shape}; choose one of its values."
            )
    if len(a) != len(b):
        raise StratError(
            f"`b` must have the items of `a` ({len(a)}), got {len(b)}; join them on the item, "
            "or use `unpaired` for different items."
        )
    both = stack("system", a=a, b=b)
    design = on.design if isinstance(on, Replicates) else on
    joint = estimate(both, on=on)
    name = f"difference of {a.name}"
    difference = _minus(joint, name)
    alone = None
    if not _rows_independent(design):
        simple = Design.simple_random(n=len(design), weights=design.weights)
        alone = _minus(estimate(both, on=simple), name)
    values = (float(joint.value[0]), float(joint.value[1]))
    better = _said(higher_is_better)
    return Comparison(names, a.name, values, difference, alone, better, True, _share(joint), design.n_units, joint)


@checked
def of_estimate(joint: Estimate, *, independent: Estimate | None = None, higher_is_better: bool) -> Comparison:
    """The comparison of the first two systems of an estimate over systems.

    Parameters
    ----------
    joint
        An estimate with the systems on its last axis, such as `ManySystems.estimate`.
    independent
        The same on a simple random design, for what independent rows would have said.

    Examples
    --------
    >>> from strat.designs import Design
    >>> from strat.statistics import accuracy, stack
    >>> both = stack("system", new=accuracy([1, 1, 0], [1, 1, 0]), old=accuracy([1, 1, 0], [0, 1, 0]))
    >>> of_estimate(estimate(both, on=Design.simple_random(n=3)), higher_is_better=True).names
    ('new', 'old')
    """
    if len(joint.axes) != 1 or len(joint.axes[0].labels) < 2:
        raise StratError("`joint` must be an estimate over two systems or more.")
    name = f"difference of {joint.name}"
    alone = None if independent is None else _minus(independent, name)
    values = (float(joint.point[0]), float(joint.point[1]))
    names = (str(joint.axes[0].labels[0]), str(joint.axes[0].labels[1]))
    units = int(min(float(np.min(joint.worth)), 1e9))
    return Comparison(
        names,
        joint.name,
        values,
        _minus(joint, name),
        alone,
        _said(higher_is_better),
        True,
        _share(joint),
        max(units, 1),
        joint,
    )


@checked
def unpaired(
    a: Statistic,
    b: Statistic,
    *,
    on_a: Design | Replicates,
    on_b: Design | Replicates,
    higher_is_better: bool,
    names: tuple[str, str] = ("A", "B"),
) -> Comparison:
    """The difference of one measure between two systems, or sensors, on *different* items of the same strata.

    A scene cannot be imaged twice alike (CVPR 6), so nothing pairs; what makes the two comparable is that both were
    drawn from the same strata. The variances add up, with Welch's degrees of freedom.

    Examples
    --------
    >>> from strat.designs import Design
    >>> from strat.statistics import mean
    >>> on = Design.stratified(strata=["x", "x", "y", "y"])
    >>> result = unpaired(mean([1.0, 3, 5, 9]), mean([0.0, 2, 4, 8]), on_a=on, on_b=on, higher_is_better=True)
    >>> result.value, round(result.se, 4), round(result.df, 6)  # sqrt(2) · 1.1180, twice 2 degrees of freedom
    (1.0, 1.5811, 4.0)
    """
    first, second = (o.design if isinstance(o, Replicates) else o for o in (on_a, on_b))
    _same_strata(first, second)
    x, y = estimate(a, on=on_a), estimate(b, on=on_b)
    difference = _apart(x, y, f"difference of {a.name}")
    alone = None
    if not (_rows_independent(first) and _rows_independent(second)):
        simple = [
            estimate(s, on=Design.simple_random(n=len(d), weights=d.weights)) for s, d in ((a, first), (b, second))
        ]
        alone = _apart(simple[0], simple[1], difference.name)
    values = (float(x.value), float(y.value))
    units = min(first.n_units, second.n_units)
    return Comparison(names, a.name, values, difference, alone, _said(higher_is_better), False, _share(x), units)


def sentence(result: Comparison, level: float = 0.95) -> str:
    """The answer in words, with what independent rows would have said."""
    scale, unit = (100.0, " points") if result.share else (1.0, "")
    sign = 1.0 if result.higher_is_better else -1.0
    first, second = result.names if sign * result.value >= 0 else result.names[::-1]
    turn = scale * (1.0 if result.names[0] == first else -1.0) * sign
    low, high = sorted(turn * v for v in result.interval(level))
    digits = _digits(high - low)
    said = f"{digits(turn * result.value)}{unit}, {100 * level:g} % {digits(low)} to {digits(high)}"
    p = result.pvalue
    if p < 1.0 - level:
        text = f"{first} is better by {said}, {p_text(p)}"
    else:
        text = f"{first} is not shown to be better than {second}: {result.metric} differs by {said}, {p_text(p)}"
    if result.independent is not None:
        a, b = sorted(turn * v for v in _interval(result.independent, level))
        q = float(result.independent.test(0.0).pvalue)
        text += f"; treating rows as independent would have said {digits(a)} to {digits(b)}, {p_text(q)}"
    return text + "."


def _minus(both: Estimate, name: str) -> Estimate:
    """First − second: linear, so that the spread of the difference is the difference of the spreads."""
    if both.spread is None:  # pragma: no cover - two values are never too many
        raise StratError(f"`{name}` has no covariance to work with.")
    spread = both.spread[:, 0] - both.spread[:, 1]
    variance = np.asarray((np.asarray(both.scales) * spread**2).sum())
    # What rounding leaves of a difference that is the same in every unit is no variance.
    if float(variance) <= 1e-24 * float(np.asarray(both.variance).max()):
        spread, variance = np.zeros_like(spread), np.zeros(())
    return _scalar(both, name, np.asarray(both.point[0] - both.point[1]), spread, variance)


def _scalar(like: Estimate, name: str, point: Array, spread: Array, variance: Array) -> Estimate:
    return replace(
        like, name=name, point=point, spread=spread, variance=variance, axes=(), link="identity",
        bounds=(-math.inf, math.inf), proportion=False, srs=None, woodruff=None,
    )  # fmt: skip


def _apart(x: Estimate, y: Estimate, name: str) -> Estimate:
    """The difference of two independent estimates, Welch-Satterthwaite degrees of freedom."""
    vx, vy = float(x.variance), float(y.variance)
    df = (vx + vy) ** 2 / (vx**2 / x.df + vy**2 / y.df) if vx + vy > 0 else min(x.df, y.df)
    spread = np.array([math.sqrt(vx), -math.sqrt(vy)])
    like = replace(x, scales=1.0, replicated=False, df=df)
    return _scalar(like, name, np.asarray(x.point - y.point), spread, np.asarray(vx + vy))


def _same_strata(first: Design, second: Design) -> None:
    a, b = set(map(str, first.stratum_labels)), set(map(str, second.stratum_labels))
    if a != b:
        raise StratError(
            f"`on_b` must have the strata of `on_a`, got {len(b - a)} that `on_a` lacks and {len(a - b)} that it "
            "alone has; systems on different items compare only within the same strata."
        )
    shares = []
    for design in (first, second):
        weight = np.bincount(design.stratum[design.unit], design.weights, minlength=design.n_strata)
        shares.append(weight / weight.sum())
    if np.abs(shares[0] - shares[1]).max() > 0.01:
        warnings.warn(
            "the strata have other shares in `on_a` than in `on_b`, so part of the difference is their mix; "
            "give both the same stratum weights.",
            StratWarning,
            stacklevel=3,
        )


def _share(one: Estimate) -> bool:
    return one.proportion or one.bounds == (0.0, 1.0)


def _rows_independent(design: Design) -> bool:
    return design.kind == "simple random" and design.rows_are_units


def _interval(one: Estimate, level: float) -> tuple[float, float]:
    low, high = one.interval(level)
    return float(low), float(high)


def _digits(width: float) -> Any:
    places = 1 if width >= 1.0 else min(6, 2 - math.floor(math.log10(width))) if width > 0 else 4
    return lambda v: f"{v + 0.0:.{places}f}"


def _positive(margin: float) -> float:
    if not (margin > 0 and math.isfinite(margin)):
        raise StratError(
            f"`margin` must be positive, got {margin!r}; it is the largest difference that does not matter."
        )
    return float(margin)


def _said(higher_is_better: bool) -> bool:
    if not isinstance(higher_is_better, bool | np.bool_):
        raise StratError(f"`higher_is_better` must be True or False, got {higher_is_better!r}.")
    return bool(higher_is_better)

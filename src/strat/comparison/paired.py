"""Two systems compared by any measure, with the covariance that the design gives them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from strat.base.errors import StratError, some
from strat.base.notes import Note, of_each
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array
from strat.comparison.paired_result import Comparison, is_share, rows_independent
from strat.comparison.paired_shares import Discordance, discordance
from strat.designs import Design
from strat.designs.layout import satterthwaite
from strat.estimation import Estimate, estimate
from strat.estimation.cautions import skewed_units
from strat.estimation.functions import Difference
from strat.estimation.phase_limits import phases_mapped
from strat.estimation.spread import Influences, Spread
from strat.measures import Statistic, stack
from strat.measures.student import critical
from strat.replication import Replicates


@checked
def paired(
    a: Statistic,
    b: Statistic,
    *,
    on: Design | Replicates,
    higher_is_better: bool | None = None,
    names: tuple[str, str] = ("A", "B"),
) -> Comparison:
    """The difference A − B of one measure between two systems on the same items.

    Give the candidate as `a` and the baseline as `b`, and the difference is candidate − baseline. The covariance of the
    two comes from the design: closed form for a `Design`, replicates otherwise. Any measure goes
    (accuracy, F1, AUC, CMS at a rank); both must be the same one. `higher_is_better` is asked for only where the
    measure does not know it, as a mean.

    Examples
    --------
    Ten items, A right on 8 and B on 5, three of them lost: d̄ = 0.3, se = sqrt(0.21 / 9); the p-value is that of
    3 / sqrt(3) = 1.73, as McNemar's without its correction.

    >>> from strat.designs import Design
    >>> from strat.measures import accuracy
    >>> truth, a, b = [1] * 10, [1] * 8 + [0] * 2, [1] * 5 + [0] * 5
    >>> result = paired(
    ...     accuracy(truth, a), accuracy(truth, b), on=Design.simple_random(n=10)
    ... )
    >>> round(result.value, 4), round(result.se, 4)
    (0.3, 0.1528)
    >>> print(result)
    A is not shown to be better than B: accuracy differs by 30.0 points, 95 % -6.1 to 60.3, p = 0.083.
    """
    _refuse_unlike(a, b)
    both = stack("system", _by_name(names, a, b))
    design = on.design if isinstance(on, Replicates) else on
    joint = estimate(both, on=on)
    name = f"difference of {a.name}"
    difference = _minus(joint, name)
    rows = discordance(both, design)
    difference = replace(difference, notes=(*difference.notes, *notes_on_difference(joint, design, rows)))
    alone = None
    if not rows_independent(design):
        simple = Design.simple_random(n=len(design), weights=design.weights)
        alone = _minus(estimate(both, on=simple), name)
    values = (float(joint.point[0]), float(joint.point[1]))
    better = _direction(a, higher_is_better)
    share, units = is_share(joint), design.n_units
    return Comparison(names, a.name, values, difference, alone, better, True, share, units, joint, rows)


def _by_name(names: tuple[str, str], a: Any, b: Any) -> dict[str, Any]:
    """Both by their names, which must differ."""
    if len(names) != 2 or not all(isinstance(name, str) for name in names):
        raise StratError.about("names", f"must be two names, got {some(names)}.")
    if names[0] == names[1]:
        raise StratError.about("names", f"must be two different names, got {names[0]!r} twice.")
    return {names[0]: a, names[1]: b}


def _refuse_unlike(a: Statistic, b: Statistic) -> None:
    """Refuse what are not two single measures of the same items and the same class."""
    for name, one in (("a", a), ("b", b)):
        if not isinstance(one, Statistic):
            raise StratError.about(
                name, f"must be a Statistic such as strat.accuracy(truth, a), got {type(one).__name__}."
            )
        if one.shape:
            raise StratError.about(
                name, f"must be a single number, got a statistic of shape {one.shape}; choose one of its values."
            )
    same_class(a=a, b=b)
    if len(a) != len(b):
        raise StratError.about(
            "b",
            f"must have the items of `a` ({len(a)}), got {len(b)}; join them on the item, "
            "or use `unpaired` for different items.",
        )


@checked
def of_estimate(
    joint: Estimate,
    *,
    independent: Estimate | None = None,
    higher_is_better: bool,
    baseline: str | None = None,
    discordance: Discordance | None = None,
) -> Comparison:
    """The comparison of the first two systems of an estimate over systems.

    Parameters
    ----------
    joint
        An estimate with the systems on its last axis, such as `ManySystems.estimate`.
    independent
        The same on a simple random design, for what independent rows would have said.
    baseline
        Which of the two is B of the difference A − B. Without it they keep their order, which in a leaderboard is the
        order of their scores.
    discordance
        On how many rows only one of the two is right, where they are shares of the same rows.

    Examples
    --------
    >>> from strat.designs import Design
    >>> from strat.measures import accuracy, stack
    >>> both = stack("system", new=accuracy([1, 1, 0], [1, 1, 0]), old=accuracy([1, 1, 0], [0, 1, 0]))
    >>> joint = estimate(both, on=Design.simple_random(n=3))
    >>> of_estimate(joint, higher_is_better=True).names
    ('new', 'old')
    >>> turned = of_estimate(joint, higher_is_better=True, baseline="new")
    >>> turned.names, round(turned.value, 4)
    (('old', 'new'), -0.3333)
    """
    if len(joint.axes) != 1 or len(joint.axes[0].labels) < 2:
        raise StratError.about("joint", "must be an estimate over two systems or more.")
    labels = tuple(str(label) for label in joint.axes[0].labels[:2])
    if baseline is not None and baseline not in labels:
        raise StratError.about(
            "baseline", f"must be one of the two systems, {labels[0]!r} or {labels[1]!r}, got {baseline!r}."
        )
    if baseline == labels[0]:
        joint, independent = _turned(joint), None if independent is None else _turned(independent)
        discordance = None if discordance is None else discordance.ordered([1, 0])
    name = f"difference of {joint.name}"
    alone = None if independent is None else _minus(independent, name)
    values = (float(joint.point[0]), float(joint.point[1]))
    names = (str(joint.axes[0].labels[0]), str(joint.axes[0].labels[1]))
    units = int(min(float(np.min(joint.effective_units)), 1e9))
    return Comparison(
        names,
        joint.name,
        values,
        _minus(joint, name),
        alone,
        _said(higher_is_better),
        True,
        is_share(joint),
        max(units, 1),
        joint,
        discordance,
    )


@checked
def unpaired(
    a: Statistic,
    b: Statistic,
    *,
    on_a: Design | Replicates,
    on_b: Design | Replicates,
    higher_is_better: bool | None = None,
    names: tuple[str, str] = ("A", "B"),
) -> Comparison:
    """The difference A − B of one measure between two systems, or sensors, on *different* items of the same strata.

    A scene cannot be imaged twice in the same way (CVPR 6), so nothing pairs; what makes the two comparable is that
    both were drawn from the same strata. The variances add up, with Welch's degrees of freedom.

    Examples
    --------
    >>> from strat.designs import Design
    >>> from strat.measures import mean
    >>> on = Design.stratified(strata=["x", "x", "y", "y"])
    >>> result = unpaired(mean([1.0, 3, 5, 9]), mean([0.0, 2, 4, 8]), on_a=on, on_b=on, higher_is_better=True)
    >>> result.value, round(result.se, 4), round(result.df, 6)  # sqrt(2) · 1.1180, twice 2 degrees of freedom
    (1.0, 1.5811, 4.0)
    """
    first, second = (o.design if isinstance(o, Replicates) else o for o in (on_a, on_b))
    notes = _same_strata(first, second)
    same_class(a=a, b=b)
    x, y = estimate(a, on=on_a), estimate(b, on=on_b)
    difference = _apart(x, y, f"difference of {a.name}")
    difference = replace(difference, notes=(*notes, *of_each("system", _by_name(names, x.notes, y.notes), ())))
    alone = None
    if not (rows_independent(first) and rows_independent(second)):
        simple = [
            estimate(s, on=Design.simple_random(n=len(d), weights=d.weights)) for s, d in ((a, first), (b, second))
        ]
        alone = _apart(simple[0], simple[1], difference.name)
    values = (float(x.value), float(y.value))
    units = min(first.n_units, second.n_units)
    better = _direction(a, higher_is_better)
    return Comparison(names, a.name, values, difference, alone, better, False, is_share(x), units)


def _turned(joint: Estimate) -> Estimate:
    """The first two systems in the other order."""
    axis, way = joint.axes[0], joint.inference.sum_of
    spread = joint.inference.spread
    return joint.changed(
        sum_of=None if way is None else way.at(([1, 0],)),
        point=joint.point[[1, 0]],
        spread=None if spread is None else spread.at(([1, 0],)),
        variance=np.asarray(joint.variance)[[1, 0]],
        effective_units=float(np.min(joint.effective_units)),
        axes=(replace(axis, labels=(axis.labels[1], axis.labels[0])),),
        srs=None,
        woodruff=None,
    )


def _minus(both: Estimate, name: str) -> Estimate:
    """The difference A − B of the first two systems: linear, so that its spread is the difference of theirs."""
    each = both.inference.spread
    if each is None:  # pragma: no cover - two values are never too many
        raise StratError.about(name, "has no covariance to work with.")
    spread = each.with_values(each.values[:, 0] - each.values[:, 1])
    variance = spread.variance
    # What rounding leaves of a difference that is the same in every unit is no variance.
    if float(variance) <= 1e-24 * float(np.asarray(both.variance).max()):
        spread, variance = spread.with_values(np.zeros_like(spread.values)), np.zeros(())
    difference = _scalar(both, name, np.asarray(both.point[0] - both.point[1]), spread, variance)
    way = both.inference.sum_of
    return difference if way is None else difference.changed(sum_of=phases_mapped(way, Difference(0, 1)))


def notes_on_difference(both: Estimate, design: Design, rows: Discordance | None) -> tuple[Note, ...]:
    """What a reader of the difference of two systems should know beside what holds for each of them.

    Of shares whose errors are rare and come in clusters, one-sided limits were wrong in up to 9 % of samples instead
    of 5 (`python validation/gate_power.py wrong`); Tango's score knows of the skewness of rows, not of clusters. The
    samples that mislead are those without the bad clusters, whose differences are not skewed; how uneven the errors
    of both systems are can still be seen in them.
    """
    spread = both.inference.spread
    if not isinstance(spread, Influences) or len(spread.values) != design.lines:
        return ()
    if is_share(both) and design.single_rows:
        return ()
    first, second = spread.values[:, 0], spread.values[:, 1]
    note = skewed_units(first - second, design.copies, design, "differences")
    if note is None and is_share(both):
        note = skewed_units(first + second, design.copies, design, "errors")
    return tuple(each for each in (note, _unseen_kind(both, rows)) if each is not None)


def _unseen_kind(both: Estimate, rows: Discordance | None) -> Note | None:
    """Few units that hardly differ in what one system alone has right, and the limits with one that does differ.

    A sample without a unit of a bad kind looks like one of two systems that are nearly the same everywhere.
    """
    if rows is None or rows.units is None:
        return None
    score = rows.units.of_first_two(both.least_df)
    if not score.calm:
        return None
    limits = score.limits(float(critical(0.95, both.least_df)))
    low, high = (float(v) for v in (limits if score.still else score.with_one_more(*limits)))
    units, (first, second) = len(score.rows), both.axes[0].labels[:2]
    facts = {"n": units, "missed": 0.9**units, "first": first, "second": second, "low": low, "high": high}
    return Note("few-units", {"case": "pair", **facts})


def _scalar(like: Estimate, name: str, point: Array, spread: Spread, variance: Array) -> Estimate:
    return like.changed(
        name=name, point=point, spread=spread, variance=variance, df=like.least_df, axes=(),
        effective_units=float(np.min(like.effective_units)), link="identity",
        bounds=(-math.inf, math.inf), proportion=False, population=math.inf, srs=None, woodruff=None,
    )  # fmt: skip


def _apart(x: Estimate, y: Estimate, name: str) -> Estimate:
    """The difference of two independent estimates, Welch-Satterthwaite degrees of freedom."""
    vx, vy = float(x.variance), float(y.variance)
    df = satterthwaite(vx + vy, vx**2 / x.df + vy**2 / y.df, min(x.df, y.df))
    spread = Influences(np.array([math.sqrt(vx), -math.sqrt(vy)]))
    return _scalar(replace(x, df=df), name, np.asarray(x.point - y.point), spread, np.asarray(vx + vy))


def same_class(**measures: Statistic) -> None:
    """Refuse to compare what one system does for one class with what another does for another."""
    (first, one), *others = measures.items()
    for name, other in others:
        if isinstance(one, Statistic) and isinstance(other, Statistic) and other.positive != one.positive:
            raise StratError.about(
                name,
                f"must look at the same class as `{first}` ({one.positive!r}), got {other.positive!r}; give "
                "both the same `positive`.",
            )


def _same_strata(first: Design, second: Design) -> tuple[Note, ...]:
    """A note where the strata, which must be the same, have other shares."""
    a, b = set(map(str, first.stratum_labels)), set(map(str, second.stratum_labels))
    if a != b:
        raise StratError.about(
            "on_b",
            f"must have the strata of `on_a`, got {len(b - a)} that `on_a` lacks and {len(a - b)} that it "
            "alone has; systems on different items compare only within the same strata.",
        )
    shares = []
    for design in (first, second):
        weight = np.bincount(design.stratum[design.unit], design.weights, minlength=design.n_strata)
        shares.append(weight / weight.sum())
    if np.abs(shares[0] - shares[1]).max() <= 0.01:
        return ()
    return (Note("other-stratum-shares", nouns=first.nouns),)


def _direction(measure: Statistic, higher_is_better: bool | None) -> bool:
    """Whether a larger value is a better one: as the measure knows, or as was given."""
    if higher_is_better is not None:
        return _said(higher_is_better)
    if measure.higher_is_better is None:
        raise StratError.about(
            "higher_is_better", f"must be True or False for {measure.name}, which may be of anything, got None."
        )
    return measure.higher_is_better


def _said(higher_is_better: bool) -> bool:
    if not isinstance(higher_is_better, bool | np.bool_):
        raise StratError.about("higher_is_better", f"must be True or False, got {higher_is_better!r}.")
    return bool(higher_is_better)

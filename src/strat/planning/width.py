"""How many rows, units, strata and repeats an interval of a wanted width needs: a number and its curve."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri, owens_t

from strat.base import validate
from strat.base.errors import StratError
from strat.base.validate.arguments import checked
from strat.base.validate.columns import LARGEST, Array
from strat.measures.clustering import design_effect as kish
from strat.planning.assurance import (
    ASSURANCE,
    NOT_PERCENT,
    assured_share_width,
    check_assurance,
    likely_counts,
    mean_width,
)
from strat.planning.sample_size import SampleSize, width_plan

LEAST_DF = 0.1  # where a class has one case: no interval says anything
MOST_STRATA = 10**6  # a thousand million units in each of so many are still whole numbers among floats


@checked
def rows_for_width(
    *,
    width: float,
    proportion: float,
    level: float = 0.95,
    design_effect: float = 1.0,
    share: float = 1.0,
    assurance: float = ASSURANCE,
) -> SampleSize:
    """How many rows a share (an accuracy, a sensitivity) needs for an interval of this width.

    The width is that of the interval which `evaluate` prints: by logits with Student's quantile, or the exact one
    where that is narrower. It varies from study to study, for the share found differs from the one expected.

    Parameters
    ----------
    width
        The whole width, upper minus lower limit: 0.04 for ± 2 points.
    proportion
        The share that is expected: an accuracy, a sensitivity, an error rate.
    level
        Of the interval.
    design_effect
        The variance relative to independent rows, from a pilot or 1 + (rows per unit - 1)·intraclass correlation.
    share
        The share of rows that the measure looks at: 1 for accuracy, the prevalence for sensitivity, one minus the
        prevalence for specificity, the share of rows called positive for precision.
    assurance
        The share of studies in which the width is to be reached.

    Examples
    --------
    A sensitivity where one row in ten is positive needs ten times as many rows, and some more, for how many are
    positive varies.

    >>> print(rows_for_width(width=0.10, proportion=0.5))
    385 rows give interval width 0.09999 or less in 80 % of studies (wanted: 0.1)
    >>> rows_for_width(width=0.10, proportion=0.5, share=0.1).number
    3991
    """
    validate.share("proportion", proportion, hint=NOT_PERCENT)
    check_width(width)
    deff, counted = validate.positive("design_effect", design_effect), check_share(share)

    def measure(rows: Array) -> Array:
        size = likely_counts(rows, counted)
        return assured_share_width(proportion, size / deff, size - 1, level, assurance, estimated=False)

    return width_plan("rows", width, measure, assurance, least=2)


@checked
def rows_for_auc(
    *,
    width: float,
    auc: float,
    prevalence: float,
    level: float = 0.95,
    design_effect: float = 1.0,
    assurance: float = ASSURANCE,
) -> SampleSize:
    """How many rows an AUC needs for an interval of this width, if scores are normal with one spread in both classes.

    Parameters
    ----------
    width
        The whole width.
    auc
        The area that is expected.
    prevalence
        The share of positive rows; the fewer class decides.
    level, design_effect
        Of the interval; the variance relative to independent rows.
    assurance
        The share of studies in which the width is to be reached.

    Examples
    --------
    >>> rows_for_auc(width=0.1, auc=0.8, prevalence=0.5).number
    338
    >>> rows_for_auc(width=0.1, auc=0.8, prevalence=0.05).number
    1864
    """
    validate.share("auc", auc, open_ends=True, hint=NOT_PERCENT)
    validate.share("prevalence", prevalence, open_ends=True, hint=NOT_PERCENT)
    check_width(width)
    deff = validate.positive("design_effect", design_effect)
    # P(one score is on the right side of two of the other class), a bivariate normal with correlation ½, less its mean²
    pairs = auc - 2 * float(owens_t(ndtri(auc), 1 / np.sqrt(3))) - auc**2

    def measure(rows: Array) -> Array:
        positive = likely_counts(rows, prevalence)
        ones, zeros = (np.maximum(part / deff, 1.0) for part in (positive, rows[..., None] - positive))
        variance = (auc * (1 - auc) + (ones + zeros - 2) * pairs) / (ones * zeros)  # Hanley and McNeil (1982)
        size, df = auc * (1 - auc) / variance, np.maximum(np.minimum(ones, zeros) - 1, LEAST_DF)
        return assured_share_width(auc, size, df, level, assurance, estimated=True, between=pairs / (auc * (1 - auc)))

    return width_plan("rows", width, measure, assurance, least=2)


@checked
def rows_for_mean(
    *, width: float, deviation: float, level: float = 0.95, design_effect: float = 1.0, assurance: float = ASSURANCE
) -> SampleSize:
    """How many rows a mean needs for an interval of this width, at an expected standard deviation of rows.

    The width is reached in such a share of studies as `assurance` says: the deviation found differs from the expected.

    Examples
    --------
    >>> rows_for_mean(width=0.5, deviation=1.0).number
    73
    """
    validate.positive("width", width)
    validate.positive("deviation", deviation)
    deff = validate.positive("design_effect", design_effect)

    def measure(rows: Array) -> Array:
        return mean_width(deviation * np.sqrt(deff / rows), rows - 1, level, assurance)

    return width_plan("rows", width, measure, assurance, least=2)


@checked
def units_for_width(
    *,
    width: float,
    proportion: float,
    rows_per_unit: float,
    intraclass: float,
    strata: int = 1,
    level: float = 0.95,
    share: float = 1.0,
    share_intraclass: float = 1.0,
    assurance: float = ASSURANCE,
) -> SampleSize:
    """How many units (subjects, passages), spread evenly over strata, a share needs for this interval width.

    Parameters
    ----------
    width, proportion, level
        As in `rows_for_width`.
    rows_per_unit
        Rows of each unit, on average.
    intraclass
        Intraclass correlation of the outcome, among the rows that count.
    strata
        Fixed groups over which the units are spread.
    share
        The share of rows that the measure looks at: 1 for accuracy, the prevalence for sensitivity, …
    share_intraclass
        How much rows of a unit agree in whether they count: 1 where units are positive as a whole (the cautious
        default), 0 where positive rows are spread at random.
    assurance
        In which share of studies the width is to be reached: the share and the correlation found differ from those
        expected.

    Notes
    -----
    A row that counts has 1 + (b - 1)·(s + (1 - s)·ρ') counting rows in its unit, itself included, on average; the
    design effect is Kish's for so many. The degrees of freedom are those of the units that hold such rows.

    Examples
    --------
    >>> units_for_width(width=0.1, proportion=0.8, rows_per_unit=20, intraclass=0.3).number
    99

    A sensitivity within ± 2 points, where 8.6 % of the images are positive:

    >>> plan = {"width": 0.04, "proportion": 0.776, "rows_per_unit": 3.4, "intraclass": 0.12}
    >>> units_for_width(**plan).number, units_for_width(**plan, share=0.086).number
    (672, 7810)
    """
    validate.share("proportion", proportion, open_ends=True, hint=NOT_PERCENT)
    check_width(width)
    rows = _Counted(rows_per_unit, intraclass, check_share(share), share_intraclass)
    validate.count("strata", strata, least=1, most=MOST_STRATA)

    def measure(each: Array) -> Array:
        return rows.width(proportion, each * strata, strata, level, assurance)

    return _times(width_plan("units", width, measure, assurance, least=2), strata)


@checked
def rows_per_unit_for_width(
    *,
    width: float,
    proportion: float,
    units: int,
    intraclass: float,
    strata: int = 1,
    level: float = 0.95,
    share: float = 1.0,
    share_intraclass: float = 1.0,
    assurance: float = ASSURANCE,
) -> SampleSize:
    """How many rows each of a fixed number of units must give; past a point more rows say nothing new.

    `share`, `share_intraclass` and `assurance` are those of `units_for_width`.

    Examples
    --------
    >>> rows_per_unit_for_width(width=0.06, proportion=0.8, units=100, intraclass=0.1).number
    36
    """
    validate.share("proportion", proportion, open_ends=True, hint=NOT_PERCENT)
    check_width(width)
    validate.count("strata", strata, least=1, most=MOST_STRATA)
    validate.count("units", units, least=strata + 1)
    check_share(share)
    check_assurance(assurance)

    def measure(rows: Array) -> Array:
        given = (_Counted(float(r), intraclass, share, share_intraclass) for r in rows)
        return np.array([float(g.width(proportion, units, strata, level, assurance)) for g in given])

    floor = float(measure(np.array([1e15]))[0])
    if width <= floor:
        raise StratError.about(
            "width",
            f"must be above {floor:.4g} with {units} units at intraclass correlation {intraclass:g}, got "
            f"{width:g}; no number of rows per unit reaches it, so draw more units.",
        )
    return width_plan("rows per unit", width, measure, assurance)


@dataclass(frozen=True)
class _Counted:
    """The rows of a unit, of which a share counts."""

    rows: float
    intraclass: float
    share: float
    share_intraclass: float

    def __post_init__(self) -> None:
        if not 1 <= self.rows <= 1e15:
            raise StratError.about(
                "rows_per_unit", f"must be at least 1 and at most 1e15, got {self.rows!r}; it is an average count."
            )
        for argument in ("intraclass", "share_intraclass"):
            if not 0 <= (value := getattr(self, argument)) <= 1:
                raise StratError.about(argument, f"must be between 0 and 1, got {value!r}; it is a correlation.")

    def width(self, proportion: float, units: Array | float, strata: int, level: float, assurance: float) -> Array:
        """The interval's width with so many units that is not exceeded in such a share of studies."""
        together = kish(self.share + (1 - self.share) * self.share_intraclass, self.rows)
        counted = np.asarray(units * self.rows * self.share, dtype=float)
        effect = kish(self.intraclass, together)
        size, df = (counted / effect)[..., None], (counted / together - strata)[..., None]
        between = float(effect / together)
        return assured_share_width(proportion, size, df, level, assurance, estimated=True, between=between)


@checked
def strata_for_width(
    *,
    width: float,
    deviation: float,
    units_per_stratum: int = 2,
    level: float = 0.95,
    assurance: float = ASSURANCE,
) -> SampleSize:
    """How many strata of a fixed number of units a mean needs for this interval width, in such a share of studies.

    `deviation` is that of unit means within a stratum. Degrees of freedom: units - strata.

    Examples
    --------
    >>> strata_for_width(width=0.1, deviation=0.2).number
    39
    """
    validate.positive("width", width)
    validate.positive("deviation", deviation)
    validate.count("units_per_stratum", units_per_stratum, least=2)

    def measure(strata: Array) -> Array:
        df = strata * (units_per_stratum - 1)
        return mean_width(deviation / np.sqrt(strata * units_per_stratum), df, level, assurance)

    return width_plan("strata", width, measure, assurance)


@checked
def repeats_for_width(
    *,
    width: float,
    items: int,
    between: float,
    within: float,
    level: float = 0.95,
    assurance: float = ASSURANCE,
) -> SampleSize:
    """How many repeated runs of each item a mean over items needs for this interval width.

    Parameters
    ----------
    width
        The whole width.
    items
        Number of items, which are a sample of items of their kind.
    between, within
        Standard deviations of item means and of repeats within an item.
    level
        Of the interval.
    assurance
        The share of studies in which the width is to be reached.

    Examples
    --------
    >>> repeats_for_width(width=0.1, items=400, between=0.4, within=0.4).number
    2
    """
    validate.positive("width", width)
    validate.count("items", items, least=2)
    for name, deviation in (("between", between), ("within", within)):
        if not 0 <= deviation <= LARGEST:
            raise StratError.about(name, f"must be a standard deviation from 0 to {LARGEST:g}, got {deviation!r}.")
    one = float(mean_width(np.ones(1), np.array([items - 1.0]), level, check_assurance(assurance))[0])

    def measure(repeats: Array) -> Array:
        return one * np.sqrt((between**2 + float(within) ** 2 / repeats) / items)

    floor = one * between / np.sqrt(items)
    if width <= floor:
        needed = int(np.ceil((one * between / width) ** 2)) + 1
        raise StratError.about(
            "width",
            f"must be above {floor:.4g} with {items} items, got {width:g}; repeats can't reach it because "
            f"items differ, so use more items (at least {needed}).",
        )
    return width_plan("repeats per item", width, measure, assurance)


def _times(plan: SampleSize, factor: int) -> SampleSize:
    return replace(plan, number=plan.number * factor, sizes=plan.sizes * factor)


def check_share(share: float) -> float:
    """The share of rows that a measure looks at, if it is one."""
    if not 1e-9 <= share <= 1:
        raise StratError.about(
            "share",
            f"must be above 0 and at most 1, got {share!r}; it is the share of rows that the measure looks at, "
            "1 for accuracy and the prevalence for sensitivity.",
        )
    return share


def check_width(width: float) -> None:
    """Refuse a width that no interval of a share has."""
    validate.positive("width", width)
    if width >= 1:
        raise StratError.about(
            "width",
            f"must be below 1 for a share, got {width!r}; 0.1 is an interval of 10 points, upper minus lower limit.",
        )

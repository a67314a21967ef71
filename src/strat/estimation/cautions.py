"""When to be careful: what the validation laboratory found to make intervals too short, where it is so here."""

from __future__ import annotations

import numpy as np

from strat.columns import Array
from strat.designs import Design
from strat.estimation import linear
from strat.estimation.totals import unit_totals
from strat.replication import LeaveOneOut, Replicates
from strat.statistics.base import Statistic

FEW_HOLDERS, OF_UNITS = 10, 4  # an outcome in fewer units, and in fewer than one in so many, makes short intervals
MANY_UNITS = 100_000  # beyond so many units nobody looks: the interval rests on enough of them
COCHRAN = 25.0  # units that a mean needs for each squared unit of skewness (Cochran 1977, 2.15)
ROWS_BEYOND = 4.5  # effective rows beyond a quantile below which no interval of it holds


def notes(
    statistic: Statistic, design: Design, replicates: Replicates | None, spread: Array, df: float | None
) -> tuple[str, ...]:
    """Sentences on this estimate; `df` are the degrees of freedom that nobody asked for, None if somebody did."""
    closed = replicates is None or isinstance(replicates.operator, LeaveOneOut)
    looked = is_share(statistic) and not design.rows_are_units and design.n_units <= MANY_UNITS
    found = (
        _heavy_units(statistic, design.df, df),
        _few_holders(*unit_totals(statistic, design).T) if looked else "",
        _skewed(statistic, spread, np.ones(len(spread))) if closed else "",
        _single_stratum(statistic, replicates),
    )
    return tuple(note for note in found if note)


def notes_on_rows(statistic: Statistic, nominal: float, df: float, spread: Array, counts: Array) -> tuple[str, ...]:
    """The same where single rows are the units, `counts` of them with each deviation."""
    found = (_heavy_units(statistic, nominal, df), _skewed(statistic, spread, counts))
    return tuple(note for note in found if note)


def notes_on_units(
    statistic: Statistic, nominal: float, df: float, spread: Array, hits: Array | None, rows: Array
) -> tuple[str, ...]:
    """The same where the rows are gone, and each unit has what it holds of a share (None: it is none)."""
    found = (
        _heavy_units(statistic, nominal, df),
        "" if hits is None else _few_holders(hits, rows),
        _skewed(statistic, spread, np.ones(len(spread))),
    )
    return tuple(note for note in found if note)


def is_share(statistic: Statistic) -> bool:
    """Whether it is one share, and adds up hits and rows."""
    return statistic.proportion and not statistic.axes and statistic.components == 2


def _heavy_units(statistic: Statistic, nominal: float, df: float | None) -> str:
    limited = statistic.domain is not None or statistic.domains is not None
    if df is None or limited or df >= linear.VERY_UNEQUAL * nominal:
        return ""
    return (
        f"a few units carry most of the weight: {df:.3g} effective degrees of freedom, not {nominal:g}; where these "
        "differ from the others the interval may be too short"
    )


def _few_holders(hits: Array, rows: Array) -> str:
    """Where nearly all units are alike and few hold the errors, nobody can see how alike the errors of a unit are."""
    rarer = hits if 2 * hits.sum() <= rows.sum() else rows - hits
    rarer = np.where(rarer > 1e-9 * rows, rarer, 0.0)
    held, worth = int((rarer > 0).sum()), _worth(rarer)
    if not held or worth >= min(FEW_HOLDERS, _worth(rows) / OF_UNITS):
        return ""
    units = f"{held} of {len(rows)} units hold the rarer outcome"
    return f"only {units}, and count as {worth:.1f} equal ones: the interval may be too short"


def _worth(amounts: Array) -> float:
    """How many equal amounts these are worth (Kish)."""
    largest = float(amounts.max())
    scaled = amounts / largest if largest > 0 else amounts
    return float(scaled.sum() ** 2 / max((scaled**2).sum(), np.finfo(float).tiny))


def _skewed(statistic: Statistic, spread: Array, counts: Array) -> str:
    """Means of heavy-tailed values: beyond Cochran's rule, and by more than chance gives symmetric values."""
    free = statistic.bounds[1] == np.inf and statistic.quantile is None
    if not free or spread.ndim != 1 or len(spread) > MANY_UNITS:
        return ""
    n, size = float(counts.sum()), float(np.abs(spread).max(initial=0.0))
    if n < 3 or size == 0:
        return ""
    scaled = spread / size
    g = abs(float(counts @ scaled**3 / n / (counts @ scaled**2 / n) ** 1.5))
    if n >= COCHRAN * g**2 or g <= 2.0 * np.sqrt(6.0 / n):
        return ""
    return (
        f"the units' values are skewed ({g:.2g}, which takes some {COCHRAN * g**2:.0f} units; these are {n:.0f}): the "
        "interval may be too short; a quantile, or the mean of logarithms, is safer"
    )


def _single_stratum(statistic: Statistic, replicates: Replicates | None) -> str:
    if replicates is None or replicates.method != "multi-array BRR" or replicates.design.n_strata > 1:
        return ""
    if statistic.gradient is None or statistic.curved_below:
        return "multi-array replicates of a single stratum are short for such a statistic; use jackknife(design)"
    return ""


def thin_tail(order: float, rows_beyond: float) -> str:
    """A quantile beyond which hardly any row lies."""
    if rows_beyond >= ROWS_BEYOND:
        return ""
    return f"the rows beyond the {order:g} quantile count as {rows_beyond:.1f}: its interval may be too short"

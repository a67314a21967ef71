"""From what the units add up to, to an estimate: its standard error, degrees of freedom, effective size and notes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from strat.base.notes import Note
from strat.base.validate.columns import Array
from strat.designs import Design
from strat.estimation import cautions
from strat.estimation.facts import Inference, MeasureFacts, Way, way_through
from strat.estimation.inference import Holdings, UnitSums, closed_form, degrees_of_freedom
from strat.estimation.own_limits import bias_note, own_way
from strat.estimation.replicate_values import replicated
from strat.estimation.result import Estimate
from strat.estimation.sparse import SparseSums
from strat.estimation.spread import Influences, ReplicateDeviations, Spread
from strat.measures.base import ClassAverage, ItemMean, Kind, PairArea, Several, Statistic
from strat.replication import CLOSED_FORM, LeaveOneOut, Replicates


@dataclass(frozen=True, eq=False)
class Behind:
    """What the rows behind a value tell of it, each found when somebody asks.

    Attributes
    ----------
    srs
        Its variance in a simple random sample of as many rows (None: not known).
    size
        Number of rows that it looks at.
    squares
        Mean squares of the rows' influences, classes × values (None: not known).
    parts
        The estimate of the shares that it is a sum of (None: it is none).
    totals
        What the rows add up to (None: not known).
    """

    srs: Callable[[], Array] | None
    size: float
    squares: Callable[[], Array] | None = None
    parts: Callable[[Statistic], Estimate] | None = None
    totals: Array | None = None


def inferred(
    statistic: Statistic,
    point: Array,
    units: UnitSums,
    design: Design,
    *,
    behind: Behind,
    replicates: Replicates | None = None,
    df: float | str | None = None,
    noted: bool = True,
) -> Estimate:
    """The one place where a value gets its standard error, degrees of freedom, effective size and notes."""
    held = Holdings(statistic, design, units, point, behind.squares)
    spread, variances = _spread(held, replicates)
    used = degrees_of_freedom(held, replicates, df)
    inference = _inference(held, behind, spread, replicates, df)
    return Estimate(
        name=statistic.name,
        point=point,
        variance=variances,
        df=used,
        design=design.facts if replicates is None else replicates.facts,
        method=CLOSED_FORM if replicates is None else replace(replicates.method, replicates=str(replicates)),
        axes=statistic.axes,
        measure=MeasureFacts.of(statistic, crossed=design.kind == "crossed" and replicates is None),
        notes=_notes(held, behind, inference, variances, replicates, None if df is not None else used) if noted else (),
        inference=inference,
    )


def _spread(held: Holdings, replicates: Replicates | None) -> tuple[Spread | None, Array]:
    """Influences of units or deviations of replicates (None: too many to keep), and the variance of each value."""
    if isinstance(held.sums, SparseSums):
        return None, held.sums.variances
    spread: Spread = (
        Influences(closed_form(held))
        if replicates is None
        else ReplicateDeviations(replicated(held.statistic, replicates, held.point), replicates.scales)
    )
    return spread, spread.variance


def _inference(
    held: Holdings, behind: Behind, spread: Spread | None, replicates: Replicates | None, df: float | str | None
) -> Inference:
    """What limits are made of: those of the units themselves, unless somebody asked for other degrees of freedom."""
    statistic, srs, shape = held.statistic, behind.srs, held.point.shape
    own = df is None and spread is not None and statistic.quantile is None
    shares = held.shares if own and (replicates is None or not held.is_share) else None
    return Inference(
        spread=spread,
        rows=behind.size,
        effective_units=held.units(),
        population=_population(held, behind) if own else np.inf,
        srs=None if srs is None else lambda: srs().reshape(shape),
        shares=shares if held.is_share else None,
        holders=None if held.is_share else shares,
        sum_of=_way(held, behind, spread, replicates) if own else None,
    )


def _way(held: Holdings, behind: Behind, spread: Spread | None, replicates: Replicates | None) -> Way | None:
    """The way to limits that the statistic brings along; with replicates, that of an area alone, by the jackknife."""
    sum_of = held.statistic.sum_of
    if sum_of is None:
        return None
    if not isinstance(sum_of, ClassAverage | PairArea | ItemMean | Several):
        known = replicates is None and not held.statistic.domains and behind.parts is not None
        return way_through(sum_of, behind.parts) if known and behind.parts is not None else None
    jackknifed = replicates is not None and isinstance(replicates.operator, LeaveOneOut)
    if spread is None or not (replicates is None or (jackknifed and _of_areas(sum_of))):
        return None
    return own_way(held, behind, spread)


def _of_areas(kind: Kind | Several) -> bool:
    return isinstance(kind.each[0] if isinstance(kind, Several) else kind, PairArea)


def _other_limits(held: Holdings, replicates: Replicates | None, used: Array | None) -> tuple[Note, ...]:
    """That limits of shares from replicates are of another kind than those in closed form, whatever the se."""
    if replicates is None or used is None or not held.is_share or not held.in_units:
        return ()
    scale = "Wilson's limits" if held.statistic.link == "score" else "limits on the logit scale"
    return (Note("limits-by-method", {"scale": scale}),)


def _population(held: Holdings, behind: Behind) -> float:
    """Rows of the population of which a share of single rows, all drawn alike, has hypergeometric counts."""
    design = held.design
    if design.kind != "simple random" or not design.single_rows:
        return np.inf
    each = design.rows_per_weight
    alike = np.ptp(each) <= 1e-9 * each.max(initial=0.0)
    if not alike or not held.is_share or behind.size != design.facts.rows:
        return np.inf
    return float(design.population[0])


def _notes(
    held: Holdings,
    behind: Behind,
    inference: Inference,
    variances: Array,
    replicates: Replicates | None,
    used: Array | None,
) -> tuple[Note, ...]:
    """What a reader of the value should know; `used` are the degrees of freedom unless somebody asked for them."""
    design, spread = held.design, inference.spread
    seen = np.sqrt(variances)[None] if spread is None else spread.values
    opposed = cautions.opposed_rows(design, variances, behind.srs, behind.size) if replicates is None else None
    notes = (
        *cautions.notes(held, replicates, seen, behind.size, used),
        *cautions.noise_floor(held.point, inference.sum_of),
        *bias_note(held.statistic.name, held.point, variances, inference.sum_of),
        *_other_limits(held, replicates, used),
        *filter(None, [opposed]),
    )
    return tuple(note.named(design.nouns) for note in notes)

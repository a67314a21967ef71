"""From what the units add up to, to an estimate: its standard error, degrees of freedom, effective size and notes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from strat.base.notes import Note
from strat.base.validate.columns import Array
from strat.designs import Design
from strat.estimation import cautions
from strat.estimation.facts import Inference, MeasureFacts, way_through
from strat.estimation.inference import Holdings, UnitSums, closed_form, degrees_of_freedom
from strat.estimation.replicate_values import replicated
from strat.estimation.result import Estimate
from strat.estimation.sparse import SparseSums
from strat.estimation.spread import Influences, ReplicateDeviations, Spread
from strat.estimation.value_df import rows_per_weight
from strat.measures.base import Statistic
from strat.replication import CLOSED_FORM, Replicates


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
    """

    srs: Callable[[], Array] | None
    size: float
    squares: Callable[[], Array] | None = None
    parts: Callable[[Statistic], Estimate] | None = None


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
    used = degrees_of_freedom(statistic, units, design, replicates, df, held)
    one = Estimate(
        name=statistic.name,
        point=point,
        variance=variances,
        df=used,
        design=design.facts if replicates is None else replicates.facts,
        method=CLOSED_FORM if replicates is None else replace(replicates.method, replicates=str(replicates)),
        axes=statistic.axes,
        measure=MeasureFacts.of(statistic, crossed=design.kind == "crossed" and replicates is None),
        inference=_inference(held, behind, spread, replicates, df),
    )
    return replace(one, notes=_notes(one, held, behind, replicates, df)) if noted else one


def _spread(held: Holdings, replicates: Replicates | None) -> tuple[Spread | None, Array]:
    """Influences of units or deviations of replicates (None: too many to keep), and the variance of each value."""
    if isinstance(held.sums, SparseSums):
        return None, held.sums.variances
    spread: Spread = (
        Influences(closed_form(held.sums, held.design, held.point.shape))
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
    sum_of = statistic.sum_of if own and replicates is None and not statistic.domains else None
    return Inference(
        spread=spread,
        rows=behind.size,
        effective_units=held.units(),
        population=_population(held, behind) if own else np.inf,
        srs=None if srs is None else lambda: srs().reshape(shape),
        shares=shares if held.is_share else None,
        holders=None if held.is_share else shares,
        sum_of=None if sum_of is None or behind.parts is None else way_through(sum_of, behind.parts),
    )


def _other_limits(
    one: Estimate, held: Holdings, replicates: Replicates | None, df: float | str | None
) -> tuple[Note, ...]:
    """That limits of shares from replicates are of another kind than those in closed form, whatever the se."""
    if replicates is None or df is not None or not held.is_share or not held.in_units:
        return ()
    scale = "Wilson's limits" if one.link == "score" else "limits on the logit scale"
    return (Note("limits-by-method", {"scale": scale}),)


def _population(held: Holdings, behind: Behind) -> float:
    """Rows of the population of which a share of single rows, all drawn alike, has hypergeometric counts."""
    design = held.design
    if design.kind != "simple random" or not design.single_rows:
        return np.inf
    each = rows_per_weight(design)
    alike = np.ptp(each) <= 1e-9 * each.max(initial=0.0)
    if not alike or not held.is_share or behind.size != design.facts.rows:
        return np.inf
    return float(design.population[0])


def _notes(
    one: Estimate, held: Holdings, behind: Behind, replicates: Replicates | None, df: float | str | None
) -> tuple[Note, ...]:
    """What a reader of the value should know."""
    point, design, spread = held.point, held.design, one.inference.spread
    seen = np.sqrt(one.variance)[None] if spread is None else spread.values
    used = np.asarray(one.df) if df is None else None
    opposed = cautions.opposed_rows(design, one.variance, behind.srs, behind.size) if replicates is None else None
    notes = (
        *cautions.notes(held.statistic, design, replicates, held.sums, point, seen, behind.size, used),
        *cautions.noise_floor(point, one.inference.sum_of),
        *_other_limits(one, held, replicates, df),
        *filter(None, [opposed]),
    )
    return tuple(note.named(design.nouns) for note in notes)

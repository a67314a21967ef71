"""When to be careful: what the validation laboratory found to make intervals too short, where it is so here."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy
from numpy.typing import NDArray

from strat.base.limits import LIMITS
from strat.base.notes import Note
from strat.base.validate.columns import Array, Codes
from strat.designs import Design, collapsing, variance
from strat.designs.stages import Stages
from strat.estimation.facts import SumOfDistances
from strat.estimation.inference import Holdings, UnitSums, influence_of
from strat.estimation.replicate_diagnostics import replicate_notes
from strat.estimation.sparse import SparseSums
from strat.estimation.unit_kinds import of_two_kinds
from strat.estimation.value_df import class_sizes
from strat.measures.base import Statistic
from strat.replication import LeaveOneOut, MethodKind, Replicates

ALL_BUT = 1e-9  # of a unit's rows: hits of fewer are rounding
FEW_HOLDERS, OF_UNITS = 10, 4  # an outcome in fewer units, and in fewer than one in so many, makes short intervals
COCHRAN = 25.0  # units that a mean needs for each squared unit of skewness (Cochran 1977, 2.15)
ENOUGH_DF = 20.0  # degrees of freedom from which on Student's critical value is within 7 % of the normal one
MANY_ROWS, OWN_CLASS = 100, 0.9  # so many rows, and so many classes for each of them, are no classes
OF_NOISE = 0.25  # what noise alone must show of a sum of distances for a note
SHOWS_A_TENTH = 29  # units from which on a kind of one in ten is missing from fewer than 5 % of samples: 0.9^29
CALM = 1.5  # variance between units over that of independent rows, up to which units hardly differ
KINDS_COUNT = 50  # units from which on the share of a kind of one in ten is known well enough
TWO_KINDS = 2.0  # log likelihood of two rates over that of a beta-binomial, beyond which units are of two kinds
FEW_OF_A_CLASS = 30  # rows of a class below which intervals of an area were short
ROUNDING = 1e-14  # of a value: what sums of equal numbers leave of a standard error of nothing
MOVES = 1e-6  # what a class that becomes more frequent must do to a value, to first order
FEW_UNITS = 5  # below so many their rows are not compared with each other
WELL_BELOW_ONE = 0.8  # design effects below which rows of a unit are opposed
SURE = 0.005  # chance of a design effect as small among independent rows, from which on it is spoken of
ROWS_BEYOND = 4.5  # effective rows beyond a quantile below which no interval of it holds


def notes(
    held: Holdings, replicates: Replicates | None, spread: Array, size: float, df: Array | None
) -> tuple[Note, ...]:
    """Notes on this estimate of `size` rows; `df` are the degrees of freedom unless somebody asked for them."""
    statistic, design, sums, point = held.statistic, held.design, held.sums, held.point
    closed = replicates is None or isinstance(replicates.operator, LeaveOneOut)
    grouped = design.layout is not None or not design.holds_single_rows
    plain = replicates is None and not isinstance(sums, SparseSums)
    looked = is_share(statistic) and grouped and design.lines <= LIMITS.cautious_units
    still = _no_variation(statistic, design, point, spread)
    hits = _hits(held) if looked else np.empty(0)
    holders = _holders(design, hits, held.inside[:, 0]) if looked else []
    each = (
        None if statistic.domain is not None else classes_like_ids(statistic.classes, size),
        _heavy_units(held, replicates, df),
        *holders,
        _no_errors(design, point, held.inside[:, 0]) if looked else None,
        _how_units_differ(design, hits, held.inside[:, 0], few=any(holders)) if looked and still is None else None,
        _few_of_a_class(held),
        _skewed(statistic, spread, design) if closed else None,
        _single_stratum(statistic, replicates),
        still,
        *(variance.layout_notes(influence_of(sums, design), design, held.inside.T) if plain else ()),
        collapsing.note(None) if design.lone == "collapse" and not plain else None,
        _strata_are_classes(design, sums) if plain else None,
        _single_tries(design),
        None if design.plan is None else design.plan.warning(design.kind),
        *(() if replicates is None else replicate_notes(statistic, replicates, spread)),
    )
    return (*statistic.notes, *(note for note in each if note), *below_chance(statistic, point))


def classes_like_ids(classes: int, rows: float) -> Note | None:
    """A truth in which nearly every row is a class of its own.

    >>> print(classes_like_ids(29_998, 30_000))
    The truth has 29,998 classes for 30,000 rows, like a column of ids.
    """
    if rows < MANY_ROWS or classes < OWN_CLASS * rows:
        return None
    return Note("classes-like-ids", {"classes": classes, "rows": rows})


def _strata_are_classes(design: Design, sums: UnitSums) -> Note | None:
    """Rows drawn by class without weights, where the value would move if a class were more frequent."""
    if design.n_strata < 2 or design.layout is not None or np.isfinite(design.population).any():
        return None
    if len(sums.by_class) < 2:
        return None
    lines = design.as_lines
    mass = lines.by_stratum(sums.by_class[..., 0].T)
    one_to_one = ((mass > 0).sum(axis=1) == 1).all() and ((mass > 0).sum(axis=0) <= 1).all()
    per_weight = design.rows_per_weight
    weighted = np.ptp(per_weight) > 1e-9 * per_weight.max(initial=0.0)
    moves = np.abs(lines.by_stratum(sums.influence)).max(initial=0.0)
    return Note("strata-are-classes") if one_to_one and not weighted and moves > MOVES else None


def is_share(statistic: Statistic) -> bool:
    """Whether it is one share, and adds up hits and rows."""
    return statistic.proportion and not statistic.axes and statistic.components == 2


def _heavy_units(held: Holdings, replicates: Replicates | None, df: Array | None) -> Note | None:
    given = replicates is not None and replicates.method.kind is MethodKind.GIVEN  # whose number is their own
    layout = held.design.layout
    if df is None or given or not (layout is None or (isinstance(layout, Stages) and replicates is None)):
        return None
    if isinstance(layout, Stages):
        return heavy_units(layout.nominal_df, float(np.min(df)), unit=layout.deciding.name)
    nominal = held.nominal_df
    if df.size > len(nominal):  # values of one view that rest on other units, such as those of each class
        df = held.usual_df
    effective = np.ravel(df)
    worst = int(np.argmin(effective / np.maximum(nominal, 1.0)))
    return heavy_units(float(nominal[worst]), float(effective[worst]))


def heavy_units(nominal: float, df: float, **facts: str | float) -> Note | None:
    """That the degrees of freedom were lowered to the effective ones, if they were."""
    return Note("heavy-units", {"df": df, "nominal": nominal, **facts}) if few_for_weight(df, nominal) else None


def few_for_weight(df: Array | float, nominal: Array | float) -> NDArray[np.bool_]:
    """Where few units carry most of the weight, so that the degrees of freedom were lowered."""
    return np.less(df, np.minimum(variance.VERY_UNEQUAL * np.asarray(nominal), ENOUGH_DF))


def _hits(held: Holdings) -> Array:
    """The hits of each line: the influence of a share is (hits - share of rows) / all rows."""
    rows = held.inside[:, 0]
    return held.sums.influence[:, 0] * rows.sum() + float(held.point) * rows


def few_holders(hits: Array, rows: Array, **facts: str) -> Note | None:
    """With errors in only a few units, the correlation of errors within units can't be estimated."""
    rarer = hits if 2 * hits.sum() <= rows.sum() else rows - hits
    rarer = np.where(rarer > ALL_BUT * rows, rarer, 0.0)
    held, effective = int((rarer > 0).sum()), variance.kish(rarer)
    if not held or not too_few(effective, variance.kish(rows)):
        return None
    return Note("few-holders", {"held": held, "of": int((rows > 0).sum()), "effective": effective, **facts})


def too_few(holders: Array | float, units: Array | float) -> NDArray[np.bool_]:
    """Whether an outcome in so many of these units makes short intervals."""
    return np.less(holders, np.minimum(FEW_HOLDERS, np.asarray(units) / OF_UNITS))


def _holders(design: Design, hits: Array, rows: Array) -> list[Note | None]:
    """The same for whatever was drawn: units, or the levels of each factor."""
    if design.layout is None:
        return [few_holders(hits, rows)]
    return [
        few_holders(_added(group, hits), _added(group, rows), unit=name)
        for name, group in design.layout.groupings.items()
    ]


def _no_errors(design: Design, point: Array, rows: Array) -> Note | None:
    """One outcome alone in units of several rows, which does not show how rows of a unit go together."""
    single = float((rows / design.copies).max(initial=0.0)) <= 1.0
    if single or float(point) not in (0.0, 1.0) or design.layout is not None or (design.fraction == 1).all():
        return None
    units = variance.kish(rows / design.copies, design.copies)
    part = 0.025 ** (1.0 / units)
    seen = int(design.copies[rows > 0].sum())
    return Note("one-outcome", {"n": seen, "effective": units, "limit": part if point else 1.0 - part})


def _how_units_differ(design: Design, hits: Array, rows: Array, *, few: bool) -> Note | None:
    """Few units that hardly differ, as those of a lucky sample do, or (unless a `few` are named) of two kinds."""
    units = float(design.copies[rows > 0].sum())
    if design.layout is not None or design.n_strata > 1 or not 1 < units < KINDS_COUNT or design.n_units < units:
        return None
    per_weight = design.rows_per_weight
    each, own = rows * per_weight, hits * per_weight
    p = float(own.sum() / each.sum())
    if (each / design.copies <= 1.0 + 1e-9).all() or not 0.0 < p < 1.0:
        return None
    square = float(((own - p * each) ** 2 / design.copies).sum()) * units / (units - 1.0)
    if square > CALM * float(each.sum()) * p * (1.0 - p):
        return None if few else of_kinds(own, each, design.copies)
    return _calm(units) if units < SHOWS_A_TENTH else None


def _calm(units: float) -> Note:
    """A lucky sample, without a unit of the bad kind, looks like that."""
    return Note("few-units", {"n": round(units), "missed": 0.9**units})


def of_kinds(hits: Array, rows: Array, copies: Array) -> Note | None:
    """Few units of which some are unlike the others: another sample may hold none of these, or many more."""
    held = rows > 0
    times = np.rint(copies[held]).astype(int)
    y, m = (np.repeat(amounts[held] / copies[held], times) for amounts in (hits, rows))
    better, rarer = of_two_kinds(np.clip(y, 0.0, m), m)
    if better <= TWO_KINDS:
        return None
    number = min(max(round(rarer), 1), len(y) - 1)
    return Note("two-kinds", {"unlike": number, "of": len(y)})


def _few_of_a_class(held: Holdings) -> Note | None:
    """An area that rests on few independent rows of one class: high values then go with small standard errors."""
    statistic, design = held.statistic, held.design
    if statistic.chance is None or design.layout is not None or not design.holds_single_rows or len(held.by_class) < 2:
        return None
    fewest = float(class_sizes(held.by_class / held.lines.copies, held.lines).min())
    if fewest >= FEW_OF_A_CLASS:
        return None
    return Note("few-of-class", {"measure": statistic.name, "rows": fewest})


def opposed_rows(design: Design, variances: Array, srs: Callable[[], Array] | None, size: float) -> Note | None:
    """Units whose rows differ more than rows of different units do: a design effect well under 1, by the F test.

    With the design effect D of u units of N rows, the mean square between units over that of all rows, the mean square
    within is ((N - 1) - (u - 1) D) / (N - u) of it.
    """
    units = design.n_held
    alone = design.kind == "clustered" and design.layout is None and not (design.fraction > 0).any()
    if srs is None or not alone or variances.size > 1 or not FEW_UNITS <= units < min(size, LIMITS.cautious_units):
        return None
    reference = float(np.ravel(srs())[0])
    effect = float(np.ravel(variances)[0]) / reference if reference > 0 else 1.0
    within = ((size - 1.0) - (units - 1.0) * effect) / (size - units)
    if effect > WELL_BELOW_ONE or within <= 0 or scipy.special.fdtr(units - 1.0, size - units, effect / within) > SURE:
        return None
    return Note("negative-correlation", {"effect": effect})


def _added(group: Codes, amounts: Array) -> Array:
    return np.bincount(group, amounts).astype(float)


def _skewed(statistic: Statistic, spread: Array, design: Design) -> Note | None:
    """Means of heavy-tailed values."""
    free = statistic.bounds[1] == np.inf and statistic.quantile is None
    if not free or spread.ndim != 1:
        return None
    copies = design.copies if len(spread) == design.lines else np.ones(len(spread))
    return skewed_units(spread, copies, design)


def skewed_units(spread: Array, copies: Array, design: Design, of: str = "values") -> Note | None:
    """Units beyond Cochran's rule (1977, 2.15), and more skewed than chance makes symmetric values."""
    # the deviations of a layout are differences, trends and parts
    if design.layout is not None or len(spread) > LIMITS.cautious_units:
        return None
    n, size = float(copies.sum()), float(np.abs(spread).max(initial=0.0))
    if n < 3 or size == 0:
        return None
    scaled = spread / np.sqrt(copies) / size
    squares = copies * scaled**2
    g = abs(float((squares * scaled).sum() / n / (squares.sum() / n) ** 1.5))
    if n >= COCHRAN * g**2 or g <= 2.0 * np.sqrt(6.0 / n):
        return None
    return Note("skewed-units", {"case": of, "skewness": g, "needed": COCHRAN * g**2, "n": n})


def _no_variation(statistic: Statistic, design: Design, point: Array, spread: Array) -> Note | None:
    """A standard error of zero where something was not seen, away from the ends of the range."""
    if (design.fraction == 1).all() or statistic.quantile is not None:
        return None
    values, flat, (low, high) = np.ravel(point), spread.reshape(len(spread), -1), statistic.bounds
    moved = np.maximum(flat.max(axis=0, initial=0.0), -flat.min(axis=0, initial=0.0))
    still = moved <= ROUNDING * np.abs(values)
    if not still.any():
        return None
    bounded = -np.inf < low and high < np.inf
    number = int((still & ~(((values == low) | (values == high)) & bounded)).sum())
    return Note("no-variation", {"still": number, "of": point.size, "limited": bounded}) if number else None


def _single_tries(design: Design) -> Note | None:
    """Items of a fixed set that were tried once: their own variation can't be seen."""
    if design.item is None or not (design.fraction > 0).any():
        return None
    tries = np.bincount(design.item, design.counts)
    once = int((tries == 1).sum())
    if not once:
        return None
    return Note("single-tries", {"once": once, "of": len(tries)})


def _single_stratum(statistic: Statistic, replicates: Replicates | None) -> Note | None:
    if replicates is None or replicates.method.kind is not MethodKind.MULTI_ARRAY or replicates.design.n_strata > 1:
        return None
    if statistic.gradient is None or statistic.curved_below:
        return Note("single-stratum-multi-array")
    return None


def below_chance(statistic: Statistic, point: Array) -> tuple[Note, ...]:
    """A score that does worse than one that knows nothing, to three digits: somebody may have it the wrong way round.

    >>> from strat.measures import auc
    >>> print(*below_chance(auc([0, 1, 1], [3.0, 1.0, 2.0]), np.array(0.0)))
    AUC 0 is below 0.5: is the positive class (1) or the direction of the score reversed?
    """
    if statistic.chance is None:
        return ()
    values = [float(f"{value:.3g}") for value in np.ravel(point)]
    below = tuple(value for value in values if value < statistic.chance)
    if not below:
        return ()
    facts = {"measure": statistic.name, "values": below, "n": len(below), "chance": statistic.chance}
    return (Note("below-chance", {**facts, "positive": statistic.positive}),)


def noise_floor(point: Array, way: object) -> tuple[Note, ...]:
    """A sum of distances that is not far above what noise alone adds up to."""
    if not isinstance(way, SumOfDistances) or way.noise < OF_NOISE * float(point):
        return ()
    return (Note("noise-floor", {"noise": way.noise}),)


def thin_tail(order: float, rows_beyond: float) -> Note | None:
    """A quantile beyond which hardly any row lies."""
    if rows_beyond >= ROWS_BEYOND:
        return None
    return Note("thin-tail", {"order": order, "rows": rows_beyond})

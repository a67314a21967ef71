"""The variance of a sum of unit influences, and its degrees of freedom: all that inference asks of a design.

The textbook variances of stratified, clustered and systematic samples (STRAT 6; Cochran 5, 8, 9A) and Taylor
linearization are one thing: the influence of each unit is a variable whose total has the textbook variance.

An influence or a weight of a line is that of all the equal units which it stands for, added up.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np
from numpy.typing import NDArray

from strat.base.limits import LIMITS
from strat.base.notes import Note
from strat.base.validate.columns import Array
from strat.designs import collapsing
from strat.designs.blocks import fixed_kinds
from strat.designs.crossed import Crossing
from strat.designs.design import Design
from strat.designs.factored import Factored, Influence, dense
from strat.designs.group_sums import stratified_root
from strat.designs.layout import bessel, satterthwaite, spread_of_squares, sums
from strat.designs.lines import Lines
from strat.designs.stages import Stages

ALIKE = 1.001  # largest over smallest weight of units that are taken for equal
VERY_UNEQUAL = 0.5  # effective over nominal degrees of freedom below which the effective ones are used


def deviations(influence: Influence, design: Design, inside: Array | None = None) -> Array:
    """Lines whose sum of squares is the variance of the sum of the units' influences (m × outputs).

    `inside` is what each line weighs in what the values look at, for each of equally long runs of them (runs × lines;
    None: all rows): a layout compares lines by that.
    """
    if design.layout is not None:
        return np.concatenate(_of_runs(design.layout.deviations, influence, design, inside), axis=1)
    if isinstance(influence, Factored):
        return stratified_root(influence, design.stratum, bessel(design.sizes) * (1.0 - design.fraction))
    return _singletons(textbook_deviations(influence, design.as_lines), influence, design)


def textbook_deviations(influence: Array, lines: Lines) -> Array:
    """Those of units in strata, which share the influence of their line."""
    scale = lines.on_lines(np.sqrt(bessel(lines.sizes) * lines.unseen))
    from_mean = centred(influence, lines)
    from_mean *= scale * np.sqrt(lines.copies)
    return from_mean


def _singletons(from_mean: Array, influence: Array, design: Design) -> Array:
    """Strata of one unit: compared with all units ("centre"), or as variable as the others ("average")."""
    alone = (design.sizes == 1) & (design.fraction < 1)
    if not alone.any() or design.lone not in ("centre", "average"):
        return from_mean
    if design.lone == "average":
        return from_mean * np.sqrt(design.n_strata / (design.n_strata - alone.sum()))
    single = alone[design.stratum]
    centre = influence.sum(axis=0) / design.n_units
    kept = np.sqrt(1.0 - design.fraction)[design.stratum[single]]
    from_mean[single] = (influence[single] - centre) * kept[:, None]
    return from_mean


def repeat_deviations(influence: Array, design: Design) -> Array | None:
    """The second stage, from the rows' influences: how the repeats of an item vary in a known share of the population.

    Rows that stand for several equal tries of an item count as so many.
    """
    if design.item is None or not (design.fraction > 0).any():
        return None
    item, number = design.item, int(design.item.max()) + 1
    rows = np.ones(len(item)) if design.counts is None else design.counts
    tries = np.bincount(item, rows, minlength=number)
    means = sums(item, influence, number) / tries[:, None]
    share = design.fraction[design.stratum[design.unit]]
    m = tries[item]
    scale = np.sqrt(share * rows * np.divide(m, m - 1, out=np.ones(len(m)), where=m > 1))
    each = influence / rows[:, None]
    return np.where((m > 1)[:, None], each - means[item], _single_tries(each, m == 1)) * scale[:, None]


def _single_tries(influence: Array, once: NDArray[np.bool_]) -> Array:
    """Deviations of items tried once, whose own variance can't be seen, from each other: an upper bound of it."""
    number = int(once.sum())
    if number < 2:
        return influence
    return (influence - influence[once].mean(axis=0)) * np.sqrt(number / (number - 1))


def nominal_dfs(held: NDArray[np.bool_], lines: Lines) -> Array:
    """Units less strata, of those that hold what each value rests on; a stratum seen whole adds none, unless all are.

    `held` says which lines these are.
    """
    if lines.known_df is not None:
        return np.full(held.shape[1], lines.known_df)
    reached = lines.by_stratum(lines.copies * held)
    if not lines.items:
        drawn = reached * (lines.unseen > 0)
        reached = np.where(lines.beside_strata(lines.total(drawn)) > 0, drawn, reached)
    return lines.total(reached) - lines.total((reached > 0).astype(float))


def effective_dfs(weights: Array, lines: Lines, nominal: Array) -> Array:
    """Degrees of freedom of each value from what each line weighs in it: fewer where a few carry most of the weight."""
    each = weights / lines.copies * lines.on_lines(np.sqrt(lines.unseen))
    return bell_mccaffrey(each, weights > 0, lines, nominal)


def centred(influence: Array, lines: Lines) -> Array:
    """What one unit of each line adds, less the mean of its stratum."""
    means = lines.on_lines(lines.by_stratum(influence) / lines.sizes)
    each = influence if (lines.copies == 1.0).all() else influence / lines.copies
    return np.asarray(each - means)


def working_df(expected: Array, nominal: Array, lines: Lines) -> Array:
    """Degrees of freedom of the textbook variance of unit influences with these expected squares (lines × values).

    The variance of stratum h is n_h/(n_h − 1) Σ (u_i − ū)²; for independent normal u_i with variances v_i its mean is
    Σ v_i and its variance 2 (n_h/(n_h − 1))² ((1 − 2/n_h) Σ v_i² + (Σ v_i)²/n_h²); the strata are added up. Where
    nothing can be expected, or a stratum has a single unit, there are the `nominal` ones.
    """
    largest = lines.beside_lines(lines.largest(expected))
    v = np.divide(expected, largest, out=np.zeros_like(expected), where=largest > 0)
    n = lines.sizes
    first, second = lines.by_stratum(lines.copies * v), lines.by_stratum(lines.copies * v**2)
    unseen = lines.unseen * (n > 1)
    spread = lines.total(unseen**2 * spread_of_squares(first, second, n))
    total = lines.total(unseen * first)
    df = satterthwaite(total, spread, nominal)
    # without strata the mean follows the heaviest units
    df = np.where(lines.strata == 1, np.minimum(df, kish_of_values(v, lines) - 1.0), df)
    df = np.minimum(nominal, np.maximum(df, np.minimum(nominal, 1.0)))
    return used_df(nominal, df)


def part_of_df(design: Design) -> float:
    """What is left of units less one where neighbours are compared; 1 for all but systematic samples.

    The mean square of n − 1 successive differences of n independent normal values has 2(n − 1)²/(3n − 4) degrees of
    freedom (von Neumann 1941).
    """
    n = design.n_units
    return 2.0 * (n - 1) / (3.0 * n - 4.0) if design.kind == "systematic" and n > 2 else 1.0


def used_df(nominal: Array | float, effective: Array | float) -> Array:
    """The effective number of degrees of freedom where it is less than half of the nominal one (see validation)."""
    return np.where(np.less(effective, VERY_UNEQUAL * np.asarray(nominal)), effective, nominal)


def bell_mccaffrey(w: Array, held: NDArray[np.bool_], lines: Lines, nominal: Array) -> Array:
    """Degrees of freedom of the variance between units of unequal weight w, where `held`, from these alone.

    The variance of stratum h is a quadratic form in its units' means, sum of w_i² (m_i - m)² / (1 - h_i) with
    h_i = w_i / W_h. If all means vary equally, its expectation is tr B and its variance 2 tr B², and the sum over the
    strata has (sum tr B)² / sum tr B² degrees of freedom, which is units less strata where all is equal (Bell and
    McCaffrey 2002).
    """
    if held.all():
        largest, least = lines.largest(w), -lines.largest(-w)
    else:
        largest, least = lines.largest(np.where(held, w, 0.0)), -lines.largest(np.where(held, -w, -np.inf))
    plain = (nominal < 1) | (largest <= ALIKE * least)
    if plain.all():
        return nominal
    scale = lines.beside_lines(largest)
    # the answer has no scale, and fourth powers of weights would leave the floats
    w = np.divide(w, scale, out=np.zeros_like(w), where=held & (scale > 0))

    def added(values: Array) -> Array:
        return lines.by_stratum(np.where(held, values, 0.0) * lines.copies)

    total = lines.on_lines(added(w))
    h = np.divide(w, total, out=np.zeros_like(w), where=total > 0)
    d = np.divide(w**2, 1 - h, out=np.zeros_like(w), where=h < 1)
    s, (s0, s1, s2) = added(h**2), (added(d * h**k) for k in range(3))
    first = lines.total(added(d * (1 - 2 * h + lines.on_lines(s))))
    second = added(d**2 * (1 + 2 * (lines.on_lines(s) - 2 * h)))
    second = second + s**2 * s0**2 + 2 * s0 * s2 - 4 * s * s0 * s1 + 2 * s1**2
    spread = lines.total(second)  # where one unit outweighs all, what is left of it is rounding
    df = satterthwaite(first, spread, 1.0)
    return np.where(plain, nominal, np.minimum(nominal, np.maximum(1.0, df)))


def satterthwaite_df(spread: Array, design: Design) -> Array:
    """Effective degrees of freedom for unequal strata and unequal units, for each output.

    A stratum counts its effective number of units, ``(sum w^2)^2 / sum w^4``; strata combine as in Satterthwaite's rule
    (STRAT 6.1, after Cochran 1977, 5.4).
    """
    if len(spread) != design.lines:
        return np.full(spread.shape[1], float(design.df))
    lines = design.as_lines
    each = design.line_weights[:, None] / lines.copies
    squares, fourths = (lines.by_stratum(lines.copies * each**power) for power in (2, 4))
    df = np.maximum(satterthwaite(squares, fourths, 1.0) - 1.0, 1e-9)
    v = lines.by_stratum(spread**2)
    return satterthwaite(v.sum(axis=0), (v**2 / df).sum(axis=0), design.df)


def takes_products(design: Design, outputs: int) -> bool:
    """Whether the variance of so many values is found without writing out influences that are products."""
    if design.layout is not None:
        return isinstance(design.layout, Crossing)
    plain = design.multiplicity is None and design.lone not in ("centre", "average")
    return plain and design.lines * outputs > LIMITS.written_influences


def layout_df(influence: Influence, design: Design, inside: Array | None = None) -> Array:
    """Degrees of freedom of each output in a design with a layout."""
    assert design.layout is not None
    if isinstance(design.layout, Stages):  # what a row weighs: a domain may hold some rows of a line
        inside = np.divide(1.0, design.rows_per_weight, out=np.zeros(design.lines), where=design.line_weights > 0)[None]
    return np.concatenate(_of_runs(design.layout.degrees_of_freedom, influence, design, inside))


def _of_runs(
    asked: Callable[[Array, Array], Array], influence: Influence, design: Design, inside: Array | None
) -> list[Array]:
    """What a layout says of each run of values that look at the same lines."""
    weights = design.line_weights[None] if inside is None else inside
    if len(weights) == 1:  # a product comes to crossed designs alone, which take it
        return [asked(cast(Array, influence), weights[0])]
    runs = np.array_split(dense(influence), len(weights), axis=1)
    return [asked(run, own) for run, own in zip(runs, weights, strict=True)]


def layout_notes(influence: Influence, design: Design, inside: Array) -> tuple[Note, ...]:
    """What the layout of a design has to say of the first run of values, or that strata look like fixed kinds."""
    if design.layout is not None:
        return design.layout.notes(cast(Array, influence), inside[0])
    if design.lone == "collapse":
        return (collapsing.note(collapsing.excess(dense(influence), design.line_weights, design)),)
    if design.kind not in ("stratified", "stratified clusters"):
        return ()
    return () if influence.shape[1] > 1 else fixed_kinds(dense(influence), design.stratum, design.copies)


def kish(amounts: Array, copies: Array | float = 1.0) -> float:
    """How many equal amounts these come to, (sum a)² / sum a² (Kish); a line may stand for several of its share."""
    largest = float(amounts.max(initial=0.0))
    if largest == 0:
        return 0.0
    scaled = amounts / largest
    return float(scaled.sum() ** 2 / (scaled**2 / copies).sum())


def kish_of_values(amounts: Array, lines: Lines) -> Array:
    """How many equal amounts each value's lines come to (Kish); a line stands for so many equal ones of its amount."""
    largest = lines.largest(amounts)
    scaled = amounts / lines.beside_lines(np.where(largest > 0, largest, 1.0))
    held = lines.copies * scaled
    total, squares = lines.sum(held), lines.sum(held * scaled)
    return np.divide(total**2, squares, out=np.zeros_like(squares), where=squares > 0)


def of_the_unseen(size: Array, seen: Array) -> Array:
    """Units of a limitless population that so many units count for, where this share of a population was seen."""
    left = 1.0 - np.minimum(seen, 1.0)
    return np.divide(size, left, out=np.full_like(size, np.inf), where=left > 0)


def effective_units(design: Design, weights: Array) -> float:
    """How many units of a limitless population an exact interval may count on: more where much of it was seen."""
    if not weights.any():
        return 0.0
    if design.layout is not None:
        return min(kish(np.bincount(group, weights).astype(float)) for group in design.layout.groupings.values())
    seen = float((weights * design.fraction[design.stratum]).sum() / weights.sum())
    return float(of_the_unseen(np.array(kish(weights, design.copies)), np.array(seen)))

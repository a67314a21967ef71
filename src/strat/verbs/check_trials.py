"""Intervals tried on samples whose true value is known: what `check` draws and counts."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from strat.base.errors import StratError
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array
from strat.designs import Design
from strat.estimation import Estimate, estimate
from strat.estimation.table import LineSums, ValueRows, fits, lines_of_designs, table_values
from strat.estimation.unit_shares import UnitShares
from strat.measures import Statistic
from strat.measures.register import Measure, shared
from strat.replication import Replicates, jackknife
from strat.verbs.group_lines import naive_interval
from strat.verbs.simulate import Simulator

JACKKNIFE = 200  # units up to which the jackknife is tried, too
TOLERANCE = 0.01  # an interval is short (or wide) if its level is missed by more than this
EVIDENCE = 0.03  # it holds if its level is shown to be missed by less than this
BATCH = 60  # samples that are drawn at a time, and measured together
OTHERS = 3  # methods beside the default are tried in every third sample
ROUNDING = 1e-9  # by which a limit may miss a value that it equals
NAIVE = "rows as independent"

Limits = tuple[float, float]
Tried = dict[
    str, Limits | UnitShares
]  # limits by each method; those of shares in units are made for many samples at once
Sample = tuple[Mapping[str, Any], Design]
UNDEFINED = (math.nan, math.nan)


@dataclass(frozen=True)
class Line:
    """How one way to make an interval fares on samples like the user's own.

    Attributes
    ----------
    method
        The interval.
    coverage, error
        Share of the samples whose interval held the truth, and the standard error of that share.
    width
        Mean width.
    useless
        Share of intervals that say nothing: undefined, of no width, or the whole range.
    """

    method: str
    coverage: float
    error: float
    width: float
    useless: float

    @checked
    def verdict(self, level: float = 0.95) -> str:
        """Whether the interval keeps its level, as far as the samples show.

        "too short" or "too wide" where the level, give or take one point, is ruled out at two Monte-Carlo errors;
        "holds" where coverage is shown to be at most three points below the level; "undecided" otherwise.

        >>> [Line("t", coverage, 0.007, 0.1, 0.0).verdict() for coverage in (0.90, 0.93, 0.95, 0.99)]
        ['too short', 'undecided', 'holds', 'too wide']
        """
        low, high = self.coverage - 2 * self.error, self.coverage + 2 * self.error
        if high < level - TOLERANCE:
            return "too short"
        if low > level + TOLERANCE:
            return "too wide"
        return "holds" if low > level - EVIDENCE else "undecided"


def limits_of_samples(
    metric: Measure,
    source: Simulator,
    level: float,
    trials: int,
    rng: np.random.Generator,
    progress: Callable[[float], None] | None,
    *,
    others: bool = False,
) -> dict[str, list[Limits]]:
    """The limits by the default in the samples that leave the measure defined, by `others` in every third of these."""
    ways, seen = _Ways(level), dict[str, list[Limits | UnitShares]]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for start in range(0, trials, BATCH):
            batch = [source.draw(rng) for _ in range(min(BATCH, trials - start))]
            together = None if others else _in_one_table(metric, batch, level)
            for i, (columns, design) in enumerate(batch, start):
                if others and i % OTHERS:
                    continue
                limits = ways.of(metric, columns, design, others=others) if together is None else together[i - start]
                for name, pair in limits.items():
                    seen.setdefault(name, []).append(pair)
            if progress is not None:
                progress((start + len(batch)) / trials)
    if not seen and not others:
        raise StratError.about(
            "metrics", f"must be defined in samples like these, got none of {trials} for {metric.word!r}."
        )
    return {name: _filled(pairs, level) for name, pairs in seen.items()}


def _in_one_table(metric: Measure, batch: Sequence[Sample], level: float) -> list[Tried] | None:
    """The limits by the default in samples, each a value of one table; None where that can't be."""
    designs = [design for _, design in batch]
    distinct = {id(design): design for design in designs}.values()
    columns = {
        name: np.concatenate([sample[name] for sample, _ in batch]) if isinstance(column, np.ndarray) else column
        for name, column in batch[0][0].items()
    }
    _, statistics = shared(metric, columns)
    if len(statistics) != 1 or any((d.fraction == 1).all() or not fits(statistics[0], d) for d in distinct):
        return None
    value = np.repeat(np.arange(len(batch)), [len(design) for design in designs])
    counts = [np.ones(len(design)) if design.counts is None else design.counts for design in designs]
    rows = ValueRows(statistics[0], np.concatenate([d.weights for d in designs]), np.concatenate(counts), value)
    lines, place = lines_of_designs(designs)
    sums = LineSums.of_rows(rows, place, len(lines.stratum))
    values = table_values(rows, sums, lines, np.full(len(lines.stratum), -1))
    low, high = values.limits(level)
    known = rows.defined & (values.df > 0)
    pairs = zip(low.tolist(), high.tolist(), strict=True)
    return [{"default": pair} if there else {} for there, pair in zip(known, pairs, strict=True)]


def _filled(pairs: Sequence[Limits | UnitShares], level: float) -> list[Limits]:
    """Limits of all samples, with those of shares made at once where samples have one design."""
    filled: list[Limits] = [UNDEFINED if isinstance(pair, UnitShares) else pair for pair in pairs]
    places: dict[int, list[int]] = {}
    for i, pair in enumerate(pairs):
        if isinstance(pair, UnitShares):
            places.setdefault(id(pair.design), []).append(i)
    for some in places.values():
        shares = [pair for pair in (pairs[i] for i in some) if isinstance(pair, UnitShares)]
        hits, weights, rows = (
            np.concatenate([getattr(one, name) for one in shares], axis=1) for name in ("hits", "weights", "rows")
        )
        low, high = UnitShares(hits, weights, rows, shares[0].design).limits(level)
        for i, pair in zip(some, zip(low.tolist(), high.tolist(), strict=True), strict=True):
            filled[i] = pair
    return filled


def lines_of(metric: Measure, source: Simulator, limits: Mapping[str, list[Limits]], span: float) -> tuple[Line, ...]:
    """How each method fares, by the true value of the population that was drawn from."""
    columns, mass = source.expected()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        truth = float(metric.build(columns).value(mass))
    return tuple(_line(name, np.asarray(pairs), truth, span) for name, pairs in limits.items())


class _Ways:
    """Every interval that suits a measure."""

    def __init__(self, level: float) -> None:
        self.level = level
        self.known: tuple[Design, Replicates | None] | None = None

    def of(self, metric: Measure, columns: Mapping[str, Any], design: Design, *, others: bool) -> Tried:
        """The limits by the default, and by `others`; none where the measure is undefined in the sample."""
        try:
            statistic = metric.build(columns)
        except StratError:  # a sample without one of the classes
            return {}
        one = _tried(statistic, design)
        if one is None or not one.df > 0:
            return {}
        shares = one.inference.shares
        seen_whole = bool((design.fraction == 1).all())
        default = _numbers(one.interval(self.level)) if shares is None or seen_whole else shares
        return {"default": default} | (self._others(statistic, design, one) if others else {})

    def _others(self, statistic: Statistic, design: Design, one: Estimate) -> dict[str, Limits]:
        """The limits by other methods than the default."""
        names = ("t", "wilson", "exact") if one.proportion else ("t",)
        limits = {name: self._asked(one, name) for name in names}
        if design.layout is None:
            limits["satterthwaite df"] = self._limits(_tried(statistic, design, df="satterthwaite"))
        copies = self._copies(design)
        if copies is not None and statistic.quantile is None:
            limits["jackknife"] = self._limits(_tried(statistic, copies))
        if one.inference.srs is not None:
            limits[NAIVE] = naive_interval(one, self.level)
        return limits

    def _copies(self, design: Design) -> Replicates | None:
        if self.known is None or self.known[0] is not design:
            few = design.n_units <= JACKKNIFE and design.lone not in ("centre", "average") and design.layout is None
            self.known = (design, jackknife(design) if few else None)
        return self.known[1]

    def _limits(self, one: Estimate | None) -> Limits:
        return UNDEFINED if one is None or not one.df > 0 else _numbers(one.interval(self.level))

    def _asked(self, one: Estimate, method: str) -> Limits:
        try:
            return _numbers(one.interval(self.level, method=method))
        except StratError:  # a method may refuse what another takes
            return UNDEFINED


def _numbers(limits: tuple[Any, Any]) -> Limits:
    return float(limits[0]), float(limits[1])


def _tried(statistic: Statistic, on: Any, df: str | None = None) -> Estimate | None:
    try:
        return estimate(statistic, on=on, df=df)
    except StratError:  # undefined in this sample, or in one of its replicates
        return None


def _line(name: str, limits: Array, truth: float, span: float) -> Line:
    low, high = limits[:, 0], limits[:, 1]
    n = len(limits)
    inside = (low <= truth + ROUNDING) & (high >= truth - ROUNDING)
    width = high - low
    useless = np.isnan(width) | (width <= 0) | (width >= span * (1 - ROUNDING))
    p = (inside.sum() + 2) / (n + 4)  # keeps the error of a share of 0 or 1 above zero
    mean = float(np.nanmean(width)) if np.isfinite(width).any() else math.nan
    return Line(name, float(inside.mean()), math.sqrt(p * (1 - p) / (n + 4)), mean, float(useless.mean()))

"""`check`: would this interval hold for data like yours? A thousand samples of your design say so."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.columns import Array
from strat.designs import LONE, Design
from strat.doors import checked
from strat.errors import StratError, one_of
from strat.estimation import Estimate, estimate
from strat.replication import jackknife
from strat.statistics import Statistic, wilson
from strat.tables.files import MEMORY, Progress
from strat.tables.metrics import Metric, Metrics, chosen, positive_of
from strat.tables.out import Sheet
from strat.tables.table import Names, Table, read
from strat.tables.worlds import World, world
from strat.words import counted

TRIALS = 1000
WORK = 20_000_000  # rows over all trials; more rows get fewer trials
LEAST = 200
MOST = 1_000_000  # trials; a share is then known to 0.05 %
JACKKNIFE = 200
TOLERANCE = 0.01
HAIR = 1e-9

Limits = tuple[float, float]


@dataclass(frozen=True)
class Line:
    """How one way to make an interval fares on samples like one's own.

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
        """Whether the level, give or take a point, is ruled out: "too short", "too wide" or "holds"."""
        if self.coverage + 2 * self.error < level - TOLERANCE:
            return "too short"
        return "too wide" if self.coverage - 2 * self.error > level + TOLERANCE else "holds"


@dataclass(frozen=True, eq=False)
class Check:
    """What became of a measure's intervals on samples like one's own.

    Attributes
    ----------
    metric, estimate
        The measure, and its estimate on the data themselves.
    lines
        One for each interval, the default first.
    trials, seed
        How many samples were drawn, and from which seed.
    design, world
        What was kept, and what was assumed, in words.
    notes
        What to look at.
    """

    metric: str
    estimate: Estimate = field(repr=False)
    lines: tuple[Line, ...]
    trials: int
    seed: int
    level: float
    design: str
    world: str
    notes: tuple[str, ...] = ()

    def __getitem__(self, method: str) -> Line:
        """The line of a method."""
        one_of("method", method, [line.method for line in self.lines])
        return next(line for line in self.lines if line.method == method)

    @property
    def holds(self) -> bool:
        """Whether the default interval is not shown to miss its level."""
        return self.lines[0].verdict(self.level) == "holds"

    def __str__(self) -> str:
        """The answer as a sentence."""
        first = self.lines[0]
        said = {"holds": "it holds", "too short": "it is too short", "too wide": "it is wider than it need be"}
        text = (
            f"{self.metric}: the {self.level:.0%} interval covers the truth in {first.coverage:.1%} of {self.trials:,} "
        )
        text += f"samples like yours (± {2 * first.error:.1%}): {said[first.verdict(self.level)]}"
        better = [x for x in self.lines[1:] if x.verdict(self.level) == "holds" and not x.method.startswith("rows")]
        if first.verdict(self.level) == "too short":
            best = min(better, key=lambda x: x.width, default=None)
            text += f"; {best.method!r} would hold" if best else "; no method here holds: more units are needed"
        return text + "."


@checked
def check(
    source: Any,
    *,
    truth: str | None = None,
    predicted: str | None = None,
    score: str | None = None,
    strata: str | None = None,
    units: str | None = None,
    items: str | None = None,
    weights: str | None = None,
    metrics: Metrics | None = None,
    trials: int | None = None,
    level: float = 0.95,
    rng: int = 0,
    positive: object = None,
    missing: str = "error",
    lone: str = "error",
    text: Names = (),
    memory: str = MEMORY,
    progress: Progress | None = None,
) -> tuple[Check, ...]:
    """Would the interval hold for data like yours? One answer for each measure.

    Samples with the strata, units, sizes and weights of the data are drawn from a world whose truth is known and
    which is as right, as confused and as clustered as the data look; every interval is tried on each.

    Parameters
    ----------
    source, truth, predicted, score, strata, units, weights, metrics, positive, missing, lone, text, memory, progress
        As :func:`strat.evaluate` takes them.
    items
        What each row is a try of; without `units` the items are the units.
    trials
        How many samples; by default 1,000, fewer for more than 20,000 rows.
    level
        Confidence level.
    rng
        Seed.

    Examples
    --------
    Six rows, all right: with so few, an interval must be wide to hold.

    >>> table = {"y": list("aabbab"), "said": list("aabbab")}
    >>> found = check(table, truth="y", predicted="said", metrics="accuracy", trials=200)[0]
    >>> found.lines[0].method, found["rows as independent"].coverage > 0.5
    ('default', True)
    """
    one_of("lone", lone, LONE)
    if not 0 < level < 1:
        raise StratError(f"`level` must be between 0 and 1, got {level!r}.")
    if rng < 0:
        raise StratError(f"`rng` must be a seed of 0 or more, got {rng!r}.")
    table = read(source, text=text, memory=memory, progress=None)
    roles = {"truth": truth, "predicted": predicted, "score": score, "strata": strata, "units": units, "items": items}
    wanted = chosen(metrics, roles)
    columns = _columns(table, {**roles, "weights": weights}, missing)
    design = _design(columns, lone)
    number = _number(trials, len(design))
    found = []
    for i, metric in enumerate(wanted):
        share = None if progress is None else _part(progress, i, len(wanted))
        found.append(_check(metric, columns, design, number, level, rng, positive, share))
    return tuple(found)


def sheet(found: Sequence[Check]) -> Sheet:
    """The checks as a table for the screen, with the answers below it."""
    columns = ("measure", "interval", "coverage", "±", "mean width", "useless", "verdict")
    rows = [
        (one.metric, line.method, line.coverage, 2 * line.error, line.width, line.useless, line.verdict(one.level))
        for one in found
        for line in one.lines
    ]
    notes = [str(one) for one in found] + [note for one in found for note in one.notes]
    notes.append(f"{found[0].trials:,} samples, seed {found[0].seed}, of the design: {found[0].design}")
    notes += list(dict.fromkeys(f"{one.metric}: {one.world}" for one in found))
    title = f"Would a {found[0].level:.0%} interval hold for data like yours?"
    return Sheet("strat/check/1", columns, rows, title, tuple(dict.fromkeys(notes)), _data(found, notes))


def _data(found: Sequence[Check], notes: Sequence[str]) -> dict[str, Any]:
    measures = [
        {
            "metric": one.metric,
            "estimate": float(one.estimate.value),
            "holds": one.holds,
            "sentence": str(one),
            "world": one.world,
            "intervals": [
                {
                    "method": line.method,
                    "coverage": line.coverage,
                    "error": line.error,
                    "width": line.width,
                    "useless": line.useless,
                    "verdict": line.verdict(one.level),
                }
                for line in one.lines
            ],
        }
        for one in found
    ]
    first = found[0]
    return {
        "level": first.level,
        "trials": first.trials,
        "seed": first.seed,
        "design": first.design,
        "measures": measures,
        "notes": list(notes),
    }


# ---- the data


def _columns(table: Table, roles: Mapping[str, str | None], missing: str) -> dict[str, NDArray[Any]]:
    named = {role: name for role, name in roles.items() if name is not None}
    table.require(**named)
    got = table.columns(named.values(), missing=missing)
    made = {role: np.asarray(got[name]) for role, name in named.items()}
    for role in ("score", "weights"):
        if role in made:
            try:
                made[role] = made[role].astype(float)
            except ValueError:
                raise StratError(f"`{role}` must name a column of numbers, got text in {roles[role]!r}.") from None
    return made


def _design(columns: Mapping[str, NDArray[Any]], lone: str) -> Design:
    units: Any = columns.get("units", columns.get("items"))
    weights, strata = columns.get("weights"), columns.get("strata")
    if units is not None:
        return Design.clustered(units, strata=strata, weights=weights, lone=lone)
    if strata is not None:
        return Design.stratified(strata, weights=weights, lone=lone)
    return Design.simple_random(n=len(next(iter(columns.values()))), weights=weights)


def _number(trials: int | None, rows: int) -> int:
    if trials is None:
        return int(np.clip(WORK // rows, LEAST, TRIALS))
    if trials < 50:
        raise StratError(f"`trials` must be a whole number of at least 50, got {trials!r}; 1000 is usual.")
    if trials > MOST:
        raise StratError(f"`trials` must be at most {MOST:,}, got {trials:,}; 1000 is usual.")
    return trials


def _part(progress: Progress, i: int, n: int) -> Callable[[float], None]:
    return lambda share: progress((i + share) / n)


# ---- the trials


def _check(
    metric: Metric,
    columns: dict[str, NDArray[Any]],
    design: Design,
    trials: int,
    level: float,
    seed: int,
    positive: object,
    progress: Callable[[float], None] | None,
) -> Check:
    data: dict[str, Any] = {**columns, "positive": positive_of(positive, columns.get("truth"))}
    own = estimate(metric.build(data), on=design)
    made = world({role: data[role] for role in (*metric.needs, "positive")}, design)
    rng = np.random.default_rng(seed)
    ways, points = _Ways(design, level), []
    seen: dict[str, list[Limits]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i in range(trials):
            value, limits = ways.of(metric.build(made.draw(rng)))
            points.append(value)
            for name, pair in limits.items():
                seen.setdefault(name, []).append(pair)
            if progress is not None and i % 20 == 19:
                progress((i + 1) / trials)
    aim = _truth(metric, made, points)
    span = float(own.bounds[1] - own.bounds[0])
    lines = tuple(_line(name, np.asarray(pairs), aim, span) for name, pairs in seen.items())
    notes = _notes(design, data)
    return Check(metric.name, own, lines, trials, seed, level, design.summary, made.words, notes)


def _truth(metric: Metric, made: World, points: Sequence[float]) -> float:
    if made.expected is None:
        return float(np.nanmean(points))
    columns, mass = made.expected
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(metric.build(columns).value(mass))


class _Ways:
    """Every interval that suits a measure, on one design."""

    def __init__(self, design: Design, level: float) -> None:
        self.design, self.level = design, level
        self.rows = Design.simple_random(n=len(design), weights=design.weights)
        self.simple = design.rows_are_units and design.n_strata == 1
        few = design.n_units <= JACKKNIFE and design.lone not in ("centre", "average")
        self.copies = jackknife(design) if few else None

    def of(self, statistic: Statistic) -> tuple[float, dict[str, Limits]]:
        """The value, and the limits by each method; undefined ones are not numbers."""
        one = _tried(statistic, self.design)
        if one is None:
            return math.nan, {"default": (math.nan, math.nan)}
        found = {"default": one.interval(self.level), "t": one.interval(self.level, method="t")}
        if one.proportion:
            found |= {name: self._asked(one, name) for name in ("wilson", "exact")}
        effective = _tried(statistic, self.design, df="satterthwaite")
        found["satterthwaite df"] = (math.nan, math.nan) if effective is None else effective.interval(self.level)
        if self.copies is not None and statistic.quantile is None:
            again = _tried(statistic, self.copies)
            found["jackknife"] = (math.nan, math.nan) if again is None else again.interval(self.level)
        found["rows as independent"] = self._independent(statistic, one)
        return float(one.value), found

    def _asked(self, one: Estimate, method: str) -> Limits:
        try:
            low, high = one.interval(self.level, method=method)
        except StratError:  # a method may refuse what another takes
            return math.nan, math.nan
        return float(low), float(high)

    def _independent(self, statistic: Statistic, one: Estimate) -> Limits:
        if one.proportion:
            low, high = wilson(float(one.value), float(len(self.design)), self.level)
            return float(low), float(high)
        alone = _tried(statistic, self.rows)
        return (math.nan, math.nan) if alone is None else alone.interval(self.level)


def _tried(statistic: Statistic, on: Any, df: str | None = None) -> Estimate | None:
    try:
        return estimate(statistic, on=on, df=df)
    except StratError:  # undefined in this sample, or in one of its replicates
        return None


def _line(name: str, limits: Array, truth: float, span: float) -> Line:
    low, high = limits[:, 0], limits[:, 1]
    n = len(limits)
    inside = (low <= truth + HAIR) & (high >= truth - HAIR)
    width = high - low
    useless = np.isnan(width) | (width <= 0) | (width >= span * (1 - HAIR))
    p = (inside.sum() + 2) / (n + 4)  # keeps the error of a share of 0 or 1 above zero
    mean = float(np.nanmean(width)) if np.isfinite(width).any() else math.nan
    return Line(name, float(inside.mean()), math.sqrt(p * (1 - p) / (n + 4)), mean, float(useless.mean()))


def _notes(design: Design, columns: Mapping[str, Any]) -> tuple[str, ...]:
    notes = []
    if design.df < 10:
        few = counted(design.df, "degree of freedom")
        notes.append(f"few units: with {few} every interval is wide and its level uncertain.")
    wrong = _wrong_rows(columns)
    if wrong is not None:
        units = len(np.unique(design.unit[wrong]))
        if units < 10:
            what = "rows" if design.rows_are_units else "units"
            notes.append(f"few errors: only {units} {what} hold any, and the interval rests on them.")
    weight = np.bincount(design.unit, design.weights, minlength=design.n_units)
    worth = float(weight.sum() ** 2 / (weight**2).sum())
    if worth < design.n_units / 2:
        notes.append(f"unequal units: {design.n_units} of them are worth {worth:.0f} equal ones.")
    return tuple(notes)


def _wrong_rows(columns: Mapping[str, Any]) -> NDArray[np.bool_] | None:
    if "truth" in columns and "predicted" in columns:
        return np.asarray(columns["truth"] != columns["predicted"])
    score = columns.get("score")
    if score is not None and "truth" not in columns and np.isin(score, (0.0, 1.0)).all():
        return np.asarray(score == 0.0)
    return None

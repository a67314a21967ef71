"""`check`: would this interval hold for data like yours? Samples of your design, whose true value is known, tell."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, SupportsIndex, overload

import numpy as np
from numpy.typing import NDArray

from strat import validate
from strat.designs import LONE, Design
from strat.designs.blocks import Blocks
from strat.designs.ordered import Ordered
from strat.designs.stages import Stages
from strat.errors import StratError, one_of
from strat.estimation import Estimate, estimate
from strat.estimation.cautions import SHOWS_A_TENTH
from strat.notebook import in_words
from strat.notes import FEW_DF, Note, codes_of, records
from strat.tables import render
from strat.tables.check_trials import NAIVE, Line, limits_of_samples, lines_of
from strat.tables.design import Along, along, argument_of, design_of, layout_roles, population_of
from strat.tables.evaluation_arguments import population_sizes
from strat.tables.files import MEMORY, Progress
from strat.tables.metrics import Metric, Metrics, chosen, labels_of, one_class
from strat.tables.render import Sheet
from strat.tables.sheet_result import SheetResult
from strat.tables.simulate import Simulator, shapes, simulator
from strat.tables.simulate_crossed import CROSSED_SHAPES, crossed_simulator
from strat.tables.simulate_layouts import BLOCK_SHAPES, ORDERED_SHAPES, blocks_simulator, ordered_simulator
from strat.tables.simulate_stages import staged_simulator
from strat.tables.table import Names, Table, one_name, read
from strat.text import class_named, counted
from strat.validate.arguments import checked

TRIALS = 1000
WORK = 20_000_000  # rows over all samples of one kind; more rows get fewer samples
LEAST = 200
MOST = 1_000_000  # samples; a share is then known to 0.05 %
ANSWERS = {
    "holds": "it holds",
    "too short": "it is too short",
    "too wide": "it is wider than it need be",
    "undecided": "too few samples to tell whether it holds; draw more",
}
CALM = "it holds only if other units differ no more than these few"
DOUBTED = "it holds for samples like these, which may show too little: see the notes"
FEW_UNITS = {"few-units", "no-variation"}  # codes of notes that say so
DOUBTS = FEW_UNITS | {"few-holders", "thin-tail"}  # codes of notes on what the sample does not show


@in_words
@dataclass(frozen=True, eq=False)
class Check:
    """What became of a measure's intervals on samples like the user's own.

    Attributes
    ----------
    metric, estimate
        The measure, and its estimate on the data themselves.
    lines
        One for each interval, the default first, under the shape of unit differences that is hardest for the default.
    shapes
        Coverage of the default interval under each shape of unit differences.
    trials, seed
        How many samples were drawn for each shape, and from which seed.
    design, assumption
        What was kept, and what was assumed, in words.
    notes
        What to look at.
    """

    metric: str
    estimate: Estimate = field(repr=False)
    lines: tuple[Line, ...]
    shapes: Mapping[str, float]
    trials: int
    seed: int
    level: float
    design: str
    assumption: str
    notes: tuple[str, ...] = ()

    def __getitem__(self, method: str) -> Line:
        """The line of a method."""
        one_of("method", method, [line.method for line in self.lines])
        return next(line for line in self.lines if line.method == method)

    @property
    def holds(self) -> bool:
        """Whether the default interval is shown to keep its level, under every shape that was tried.

        Few units show nothing: a sample without a unit of the bad kind looks calm. Nor does a sample with errors in
        few units, or with few rows of a class, beyond a threshold or a quantile.
        """
        return self.lines[0].verdict(self.level) == "holds" and DOUBTS.isdisjoint(codes_of(self.notes))

    @property
    def few_units(self) -> bool:
        """Whether the units are too few, or too much the same, to show how units differ."""
        return not FEW_UNITS.isdisjoint(codes_of(self.notes))

    @property
    def shape(self) -> str:
        """The shape of unit differences with the lowest coverage."""
        return min(self.shapes, key=lambda shape: self.shapes[shape])

    def __str__(self) -> str:
        """The answer as a sentence."""
        first = self.lines[0]
        verdict = first.verdict(self.level)
        doubt = CALM if self.few_units else DOUBTED
        answer = doubt if verdict == "holds" and not self.holds else ANSWERS[verdict]
        share = f"{first.coverage:.1%} of {self.trials:,} samples like yours (± {2 * first.error:.1%})"
        text = f"{self.metric}: the {self.level:.0%} interval covers the truth in {share}: {answer}"
        if verdict == "too short":
            better = [x for x in self.lines[1:] if x.verdict(self.level) == "holds" and x.method != NAIVE]
            best = min(better, key=lambda x: x.width, default=None)
            text += f"; {best.method!r} would hold" if best else "; no method here holds: more units are needed"
        return text + "."


@in_words
class Checks(tuple[Check, ...], SheetResult):
    """The checks of several measures, in order; `checks["accuracy"]` is that of one."""

    __slots__ = ()

    @overload
    def __getitem__(self, which: SupportsIndex | str) -> Check: ...
    @overload
    def __getitem__(self, which: slice) -> Checks: ...
    def __getitem__(self, which: SupportsIndex | slice | str) -> Check | tuple[Check, ...]:
        """The check of a measure, by name or by place."""
        if not isinstance(which, str):
            return tuple.__getitem__(self, which)
        one_of("which", which, [one.metric for one in self])
        return next(one for one in self if one.metric == which)

    def sheet(self) -> Sheet:
        """How often each interval covered the truth, with the answers below."""
        return sheet(self)

    def to_dict(self) -> dict[str, list[Any]]:
        """The columns of the table: a line for each interval of each measure."""
        table = self.sheet()
        return {name: [row[k] for row in table.rows] for k, name in enumerate(table.columns)}

    def report(self, path: str | Path) -> Path:
        """Write one self-contained HTML file."""
        return render.report(self, path)


@checked
def check(
    source: Any,
    *,
    truth: str | None = None,
    predicted: str | None = None,
    score: str | None = None,
    strata: str | None = None,
    units: str | None = None,
    clusters: str | None = None,
    items: str | None = None,
    crossed: str | Names | None = None,
    kinds: str | None = None,
    order: str | None = None,
    differences: int = 1,
    start: str | float | Mapping[Any, float] | None = None,
    stages: str | Names | None = None,
    population: str | float | Mapping[Any, float] | Names | None = None,
    weights: str | None = None,
    metrics: Metrics | None = None,
    trials: int | None = None,
    level: float = 0.95,
    rng: int = 0,
    positive: object = None,
    missing: str = "error",
    lone: str = "error",
    nested: bool = False,
    text: Names = (),
    na: Names | None = None,
    memory: str = MEMORY,
    progress: Progress | None = None,
) -> Checks:
    """Would the interval hold for data like yours? One answer for each measure.

    Samples are drawn as the design draws them, whole units with their rows and true labels within each stratum, from
    a population whose true value is known and which is as right, as confused and as clustered as the data suggest;
    every interval is tried on each. The intraclass correlation is drawn from its posterior, and the units differ in
    three ways; the answer is for the hardest.

    Parameters
    ----------
    source, truth, predicted, score, strata, units, clusters, weights, metrics, positive, missing, lone, nested, text
        As :func:`strat.evaluate` takes them.
    items
        What each row is a try of; without `units` the items are the units.
    crossed
        Several columns that were drawn independently of each other: readers and cases, judges and items. Which levels
        met stays as it is, and what levels do is drawn anew, with the variance components as estimated and larger.
    kinds
        Fixed kinds under which `units` were seen: units and kinds stay, and other occasions of both are drawn.
    order, differences, start
        Of a systematic sample: another start is drawn along a smooth curve, a straight line and no drift at all.
    stages, population
        Columns of units drawn in stages, and a column for each with the number there is: a population of that size,
        like the sample, is made once and drawn from in the same stages. Without stages, `population` goes with `start`.
    trials
        How many samples for each way in which units may differ; by default 1,000, fewer for more than 20,000 rows.
    level
        Confidence level.
    rng
        Seed.
    progress
        Called with the share done while samples are drawn.

    Examples
    --------
    Six rows, all right: with so few, an interval must be wide to hold.

    >>> table = {"y": list("aabbab"), "guess": list("aabbab")}
    >>> result = check(table, truth="y", predicted="guess", metrics="accuracy", trials=200)[0]
    >>> result.lines[0].method, result["rows as independent"].coverage > 0.5
    ('default', True)
    """
    one_of("lone", lone, LONE)
    validate.level(level)
    if rng < 0:
        raise StratError(f"`rng` must be a seed of 0 or more, got {rng!r}.")
    units = one_name(units=units, clusters=clusters)
    table = read(source, text=text, na=na, memory=memory, progress=None)
    roles = {"truth": truth, "predicted": predicted, "score": score, "strata": strata, "units": units, "items": items}
    drawn = layout_roles(crossed=crossed, kinds=kinds, order=order, stages=stages, population=population)
    ordering, sizes = along(order, differences, start), population_sizes(population, stages)
    wanted = chosen(metrics, roles)
    one_class(wanted, positive)
    named = {role: name for role, name in (("population", sizes), ("start", start)) if isinstance(name, str)}
    columns = columns_by_role(table, {**roles, **drawn, **named, "weights": weights}, missing)
    design, plain = _designs(columns, sizes, ordering, lone=lone, nested=nested)
    number = _number(trials, len(design))
    checks = []
    for i, metric in enumerate(wanted):
        share = None if progress is None else _part(progress, i, len(wanted))
        checks.append(_check(metric, columns, design, plain, number, level, rng, positive, share))
    return Checks(checks)


def sheet(checks: Sequence[Check]) -> Sheet:
    """The checks as a table for the screen, with the answers below it."""
    columns = ("measure", "interval", "coverage", "±", "mean width", "useless", "verdict")
    rows = [
        (one.metric, line.method, line.coverage, 2 * line.error, line.width, line.useless, line.verdict(one.level))
        for one in checks
        for line in one.lines
    ]
    notes = [str(one) for one in checks] + [f"note: {note}" for one in checks for note in one.notes]
    notes += list(dict.fromkeys(class_named(p) for one in checks if (p := one.estimate.positive) is not None))
    notes.append(f"{checks[0].trials:,} samples a shape, seed {checks[0].seed}, of the design: {checks[0].design}")
    notes += [f"{one.metric}: {one.assumption}; {_by_shape(one)}" for one in checks]
    title = f"Would a {checks[0].level:.0%} interval hold for data like yours?"
    return Sheet("strat/check/2", columns, rows, title, tuple(dict.fromkeys(notes)), _data(checks))


def _by_shape(one: Check) -> str:
    if len(one.shapes) == 1:
        return next(iter(one.shapes))
    words = {CROSSED_SHAPES[0]: "coverage by variance components", ORDERED_SHAPES[0]: "coverage by drift"}
    what = words.get(next(iter(one.shapes)), "coverage where units differ")
    return f"{what}: " + ", ".join(f"{shape} ({share:.1%})" for shape, share in one.shapes.items())


def _data(checks: Sequence[Check]) -> dict[str, Any]:
    measures = [
        {
            "metric": one.metric,
            "positive": one.estimate.positive,
            "estimate": float(one.estimate.value),
            "holds": one.holds,
            "sentence": str(one),
            "assumption": one.assumption,
            "shapes": dict(one.shapes),
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
        for one in checks
    ]
    first = checks[0]
    return {
        "level": first.level,
        "trials": first.trials,
        "seed": first.seed,
        "design": first.design,
        "measures": measures,
        "notes": records(note for one in checks for note in one.notes),
    }


# ---- the data


def columns_by_role(table: Table, roles: Mapping[str, str | None], missing: str) -> dict[str, NDArray[Any]]:
    """The columns that play roles; those of scores and weights as numbers."""
    named = {role: name for role, name in roles.items() if name is not None}
    for role, name in named.items():
        table.require(**{argument_of(role): name})
    got = table.columns(named.values(), missing=missing)
    columns = {role: np.asarray(got[name]) for role, name in named.items()}
    for role in ("score", "weights"):
        if role in columns:
            try:
                columns[role] = columns[role].astype(float)
            except ValueError:
                raise StratError(f"`{role}` must name a column of numbers, got text in {roles[role]!r}.") from None
    return columns


def _designs(columns: dict[str, NDArray[Any]], sizes: Any, ordering: Along, **options: Any) -> tuple[Design, Design]:
    """The design, and the one that it would be if nothing were known of the start of a systematic sample."""
    if sizes is not None and "order" not in columns:
        raise StratError("`population` must go with `stages` or `order`: other units are drawn as if without end.")
    options |= {"rows": len(next(iter(columns.values()))), "weights": columns.get("weights")}
    options["population"] = population_of(sizes, columns)
    design = design_of(columns, **options, ordering=ordering)
    if ordering.start is None:
        return design, design
    return design, design_of(columns, **options, ordering=replace(ordering, start=None))


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
    plain: Design,
    trials: int,
    level: float,
    seed: int,
    positive: object,
    progress: Callable[[float], None] | None,
) -> Check:
    data: dict[str, Any] = {**columns, "positive": positive}
    if metric.needs == ("truth", "predicted"):  # every sample is measured as the data are, whatever labels it holds
        data["labels"] = labels_of(columns["truth"], columns["predicted"])
    own = estimate(metric.build(data), on=design)
    used = {role: data[role] for role in (*metric.needs, "positive", "labels") if role in data}
    used["positive"] = positive if own.positive is None else own.positive
    kinds, make = _ways_to_differ(used, design)
    tried: dict[str, tuple[Line, ...]] = {}
    undefined = 0
    for i, shape in enumerate(kinds):
        source = make(used, plain, shape)
        share = None if progress is None else _part(progress, i, len(kinds))
        points, limits = limits_of_samples(metric, source, level, trials, np.random.default_rng(seed), share)
        tried[shape] = lines_of(metric, source, limits, float(own.bounds[1] - own.bounds[0]))
        undefined += points
    hardest = min(tried, key=lambda shape: tried[shape][0].coverage)
    by_shape = {shape: lines[0].coverage for shape, lines in tried.items()}
    notes = (*own.notes, *_notes(design, own, undefined / (trials * len(kinds))))
    return Check(
        metric.name, own, tried[hardest], by_shape, trials, seed, level, design.summary, source.assumption, notes
    )


def _ways_to_differ(used: Mapping[str, Any], design: Design) -> tuple[tuple[str, ...], Callable[..., Simulator]]:
    """The shapes that are tried, and what makes samples of each."""
    layout = design.layout
    if isinstance(layout, Blocks):
        return BLOCK_SHAPES, blocks_simulator
    if isinstance(layout, Ordered):
        return ORDERED_SHAPES, partial(ordered_simulator, corrected=layout.corrected)
    if isinstance(layout, Stages):
        return CROSSED_SHAPES, staged_simulator
    return (shapes(used, design), simulator) if layout is None else (CROSSED_SHAPES, crossed_simulator)


def _notes(design: Design, own: Estimate, undefined: float) -> tuple[Note, ...]:
    notes = []
    clustered = design.layout is None and not design.rows_are_units
    if clustered and design.n_units < SHOWS_A_TENTH and "few-units" not in codes_of(own.notes):
        text = f"{design.n_units} units are few: {0.9**design.n_units:.0%} of such samples hold no unit of a kind that "
        notes.append(
            Note("few-units", text + "makes up a tenth of all units, so that none of them shows how units differ")
        )
    if design.df < FEW_DF:
        few = counted(design.df, "degree of freedom")
        notes.append(Note("few-df", f"few units: with {few} every interval is wide and its level uncertain"))
    if undefined > 0:
        text = f"undefined in {undefined:.1%} of the samples, which were left out: too few rows of a class"
        notes.append(Note("undefined-samples", text))
    return tuple(notes)

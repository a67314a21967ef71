"""`check`: would this interval hold for data like yours? Samples of your design, whose true value is known, tell."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.base import validate
from strat.base.errors import StratError
from strat.base.limits import LIMITS
from strat.base.notes import FEW_DF, Note, codes_of
from strat.base.validate.arguments import checked
from strat.base.validate.columns import encode
from strat.base.validate.names import Names
from strat.data.column import dropped_note
from strat.data.files import Progress
from strat.data.table import Table, read
from strat.designs import Design
from strat.designs.blocks import Blocks
from strat.designs.from_columns import argument_of, design_of
from strat.designs.ordered import Ordered
from strat.designs.sampling import Sampling, sampling_of
from strat.designs.stages import Stages
from strat.estimation import Estimate, estimate
from strat.estimation.cautions import SHOWS_A_TENTH
from strat.measures.register import LABELS, SCORES, Measure, labels_of
from strat.verbs.check_result import Check, Checks
from strat.verbs.check_trials import Line, limits_of_samples, lines_of
from strat.verbs.metrics import Metrics, chosen, one_class
from strat.verbs.simulate import Simulator, shapes, simulator
from strat.verbs.simulate_crossed import CROSSED_SHAPES, crossed_simulator
from strat.verbs.simulate_layouts import BLOCK_SHAPES, ORDERED_SHAPES, blocks_simulator, ordered_simulator
from strat.verbs.simulate_stages import staged_simulator

TRIALS = 1000  # samples of each kind: the share of intervals that hold is then known to 0.7 % at 95 %
LEAST = 200  # samples however many the rows
DRAWN = {
    frozenset(LABELS),
    frozenset(SCORES),
    frozenset({"score"}),
}  # roles of the measures that samples can be drawn for


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
    weights: str | None = None,
    lone: str = "error",
    nested: bool = False,
    design: Sampling | None = None,
    metrics: Metrics | None = None,
    trials: int | None = None,
    level: float = 0.95,
    rng: int = 0,
    positive: object = None,
    missing: str = "error",
    na: Names | None = None,
    progress: Progress | None = None,
) -> Checks:
    """Would the interval hold for data like yours? One answer for each measure.

    Samples are drawn as the design draws them, whole units with their rows and true labels within each stratum, from
    a population whose true value is known and whose accuracy, confusions and clustering are as the data suggest;
    every interval is tried on each. The intraclass correlation is drawn from its posterior, and the units differ in
    three ways; the answer is for the hardest.

    Parameters
    ----------
    source, truth, predicted, score, strata, units, clusters, weights, lone, nested, metrics, positive, missing, na
        As :func:`strat.evaluate` takes them.
    items
        What each row is a try of; without `units` the items are the units.
    design
        As :func:`strat.evaluate` takes it. Crossed factors: which levels met stays as it is, and what levels do is
        drawn anew, with the variance components as estimated and larger. Kinds: units and kinds stay, and other
        occasions of both are drawn. Systematic samples: another start is drawn along a smooth curve, a straight line
        and no drift at all. Stages: a population of the given sizes, like the sample, is made once and drawn from in
        the same stages.
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
    validate.level(level)
    if rng < 0:
        raise StratError.about("rng", f"must be a seed of 0 or more, got {rng!r}.")
    sampling = sampling_of(
        design, strata=strata, units=units, clusters=clusters, items=items, weights=weights, lone=lone, nested=nested
    )
    sampling.refuse_replicates()
    table = read(source, na=na)
    roles = {"truth": truth, "predicted": predicted, "score": score, **sampling.columns}
    wanted = chosen(metrics, roles)
    one_class(wanted, positive)
    _can_be_drawn(wanted)
    columns = _by_content(columns_by_role(table, roles, missing))
    lost = len(table) - len(next(iter(columns.values()))) if missing == "drop" else 0
    dropped = (dropped_note(lost, {}),) if lost else ()
    drawn, plain = _designs(columns, sampling)
    number = _number(trials, len(drawn))
    checks = []
    for i, metric in enumerate(wanted):
        share = None if progress is None else _part(progress, i, len(wanted))
        trial = _check(metric, columns, drawn, plain, number, level, rng, positive, share)
        checks.append(replace(trial, notes=(*dropped, *trial.notes)))
    return Checks(checks)


# ---- the data


def _can_be_drawn(wanted: Sequence[Measure]) -> None:
    """Fail for measures of columns that no sample is drawn with: what an item's repeats or two systems say together."""
    other = next((metric for metric in wanted if frozenset(metric.needs) not in DRAWN), None)
    if other is not None:
        needs = " and ".join(f"`{role}`" for role in other.needs)
        raise StratError.about(
            "metrics",
            f"must be measures of rows here, got {other.word!r}, which takes {needs} together: no samples of these "
            "are drawn; check the mean of a per-row score, or the accuracy, instead.",
        )


def _by_content(columns: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The rows in the order of what they hold, so that the samples do not depend on how a file was sorted."""
    codes = [encode(role, column)[0] for role, column in columns.items()]
    order = np.lexsort(codes)
    return {role: column[order] for role, column in columns.items()}


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
                raise StratError.about(role, f"must name a column of numbers, got text in {roles[role]!r}.") from None
    return columns


def _designs(columns: dict[str, NDArray[Any]], sampling: Sampling) -> tuple[Design, Design]:
    """The design, and the one that it would be if nothing were known of the start of a systematic sample."""
    if sampling.sizes is not None and sampling.order is None:
        raise StratError.about(
            "population", "must go with `stages` or `order`: other designs are simulated from an infinite population."
        )
    options: dict[str, Any] = {"rows": len(next(iter(columns.values()))), "weights": columns.get("weights")}
    design = design_of(columns, **options, sampling=sampling)
    if sampling.start is None:
        return design, design
    return design, design_of(columns, **options, sampling=replace(sampling, start=None))


def _number(trials: int | None, rows: int) -> int:
    if trials is None:
        return int(np.clip(LIMITS.checked_rows // rows, LEAST, TRIALS))
    if trials < 50:
        raise StratError.about("trials", f"must be a whole number of at least 50, got {trials!r}; 1000 is usual.")
    if trials > LIMITS.checked_samples:
        raise StratError.about("trials", f"must be at most {LIMITS.checked_samples:,}, got {trials:,}; 1000 is usual.")
    return trials


def _part(progress: Progress, i: int, n: int) -> Callable[[float], None]:
    return lambda share: progress((i + share) / n)


# ---- the trials


def _check(
    metric: Measure,
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
    span, sources, first, defined = float(own.bounds[1] - own.bounds[0]), dict[str, Simulator](), dict[str, Line](), 0
    for i, shape in enumerate(kinds):
        source = sources[shape] = make(used, plain, shape)
        share = None if progress is None else _part(progress, i, len(kinds))
        limits = limits_of_samples(metric, source, level, trials, np.random.default_rng(seed), share)
        first[shape] = lines_of(metric, source, limits, span)[0]
        defined += len(limits["default"])
    hardest = min(first, key=lambda shape: first[shape].coverage)
    rng = np.random.default_rng(seed)  # the same samples again
    further = limits_of_samples(metric, sources[hardest], level, trials, rng, None, others=True)
    further.pop("default", None)
    lines = (first[hardest], *lines_of(metric, sources[hardest], further, span))
    by_shape = {shape: line.coverage for shape, line in first.items()}
    notes = (*own.notes, *_notes(design, own, 1.0 - defined / (trials * len(kinds))))
    return Check(metric.word, own, lines, by_shape, trials, seed, level, design.summary, source.assumption, notes)


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
        notes.append(Note("few-units", {"case": "any", "n": design.n_units, "missed": 0.9**design.n_units}))
    if design.df < FEW_DF:
        notes.append(Note("few-df", {"df": design.df}))
    if undefined > 0:
        notes.append(Note("undefined-samples", {"share": undefined}))
    return tuple(note.named(design.nouns) for note in notes)

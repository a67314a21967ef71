"""From a result to what the report says about it: evaluations, single estimates and curves."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from strat.base.errors import StratError
from strat.estimation import Estimate
from strat.estimation.limits import default_method
from strat.show.render import Sheet, jsonable
from strat.show.report.explain import degrees, explain
from strat.show.report.model import Answer, Bar, Block, Grid, Mark, Section, Text, Told
from strat.show.report.references import topics_of
from strat.show.report.wording import named, number, percent, places, stop

if TYPE_CHECKING:
    pass
from strat.show.report.curve_figures import LEVEL, curve_sentence, figure_of_curve, is_curve

LONGEST = 500
BEHIND = "The numbers behind the curve"


def of_estimate(estimate: Estimate, name: str = "") -> Told:
    """A single number, a row of them, or a curve."""
    title = name or named(estimate)
    if estimate.point.ndim and is_curve(estimate):
        blocks: tuple[Block, ...] = (figure_of_curve(estimate), values_grid(estimate, BEHIND))
    else:
        blocks = (values_grid(estimate),)
    words = Text(
        tuple(explain(estimate).split("\n\n")), summary="What this means, what was assumed, what would change it"
    )
    return Told(
        answer=_answered(estimate, title),
        sections=(Section(title, (*blocks, words)),),
        facts=facts_of(estimate),
        methods=methods_of(estimate),
        topics=topics_of(estimate) | ({"max-t"} if estimate.point.ndim else set()),
        notes=estimate.notes,
        data=jsonable({"schema": "strat/estimate/1", "name": estimate.name, "positive": estimate.positive,
                       "method": str(estimate.method), "design": estimate.design_text, "target": estimate.target,
                       "values": records(estimate)}),
    )  # fmt: skip


def _answered(estimate: Estimate, title: str) -> Answer:
    if estimate.point.ndim and is_curve(estimate):
        return Answer(curve_sentence(estimate))
    if estimate.point.ndim:
        labels = " and ".join(axis.name for axis in estimate.axes)
        return Answer(f"{title}: {estimate.point.size:,} values by {labels}, each with its interval.")
    low, high = limits(estimate, LEVEL)
    d = places(float(estimate.se))
    if low is None or high is None:
        return Answer(f"{title} is {number(float(estimate.point), d)}; there is no interval.")
    text = f"{title} is {number(float(estimate.point), d)}, {interval_text(low, high, d, LEVEL)}."
    return Answer(text, "", (Bar("as sampled", low, float(estimate.point), high),))


def facts_of(estimate: Estimate) -> tuple[tuple[str, str], ...]:
    """The design, the target and the plan of an estimate."""
    facts = [("Design", estimate.design_text)]
    if estimate.positive is not None:
        facts.append(("Positive class", str(estimate.positive)))
    if estimate.target:
        facts.append(("Target of inference", estimate.target))
    if estimate.plan is not None:
        facts.append(("Plan", str(estimate.plan)))
    return tuple((name, text) for name, text in facts if text)


_SCALES = {
    "t": "on the scale of the value",
    "logit": "on the logit scale",
    "wilson": "by the score (Wilson)",
    "log": "on the log scale",
    "fisher": "on Fisher's scale",
}
_OTHER_LIMITS = {
    "beta-binomial": "beta-binomial limits, over all correlations within {units} that the data allow",
    "hypergeometric": "exact hypergeometric limits (Blaker), which know the size of the population",
    "mover": "from the limits of each of its parts",
    "folded": "of a sum of distances, which is never less than its noise",
    "woodruff": "of the share below, read backwards (Woodruff)",
}


def methods_of(estimate: Estimate) -> tuple[str, ...]:
    """How the variance and the interval were found."""
    units = estimate.design.called("unit")
    if estimate.replicated:
        how = f"Variances are the spread of replicates: {estimate.method.replicates}"
    else:
        how = f"Variances: {estimate.method}, by linearization of the totals of {units}"
    method = default_method(estimate)
    if method in _SCALES:
        return stop(how), f"Intervals: Student's t with {degrees(estimate)}, {_SCALES[method]}."
    return stop(how), f"Intervals: {_OTHER_LIMITS[method].format(units=units)}."


def records(estimate: Estimate) -> list[dict[str, Any]]:
    """The values of an estimate with their limits, one record each."""
    if not estimate.point.ndim:
        low, high = limits(estimate, LEVEL)
        deff = None if estimate.deff is None else float(estimate.deff)
        return [{"statistic": estimate.name, "estimate": float(estimate.point), "se": float(estimate.se), "low": low,
                 "high": high, "df": estimate.df, "deff": deff}]  # fmt: skip
    columns = estimate.to_dict()
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def values_grid(estimate: Estimate, folded: str = "") -> Grid:
    """The values as a table with a forest; `folded` puts it behind that line."""
    lines = records(estimate)
    columns = tuple(lines[0])
    rows = [tuple(record.values()) for record in lines[:LONGEST]]
    marks = tuple(
        Mark(finite(r["estimate"]), finite(r.get("low")), finite(r.get("high")), name=str(next(iter(r.values()))))
        for r in lines[:LONGEST]
    )
    note = "" if len(lines) <= LONGEST else f"The first {LONGEST} of {len(lines):,} values; all are in the data."
    after = max(len(estimate.axes), 1)
    sheet = Sheet("", columns, rows)
    caption = f"{named(estimate)} with 95 % intervals"
    return Grid(sheet, caption, () if folded else marks, after=after, note=note, folded=folded)


def limits(estimate: Estimate, level: float) -> tuple[float | None, float | None]:
    """The interval of a single number, or nothing where it has none (one unit in a stratum)."""
    try:
        low, high = estimate.interval(level)
    except StratError:
        return None, None
    return finite(low), finite(high)


def interval_text(low: float, high: float, d: int, level: float) -> str:
    """An interval in words."""
    return f"with a {percent(level)} interval from {number(low, d)} to {number(high, d)}"


def finite(value: Any) -> float | None:
    """The number, or None where it is none."""
    return None if value is None or not math.isfinite(float(value)) else float(value)

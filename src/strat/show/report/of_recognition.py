"""From recognition experiments to what the report says about them: identification and verification."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from strat.base.notes import of_each
from strat.base.notes import records as coded
from strat.base.text import counted
from strat.estimation import Estimate
from strat.show.render import Sheet, jsonable
from strat.show.report.curve_figures import LEVEL, curve_figure
from strat.show.report.model import Answer, Bar, Grid, Mark, Section, Told
from strat.show.report.of_estimates import BEHIND, facts_of, methods_of, records, values_grid
from strat.show.report.references import topics_of
from strat.show.report.wording import number, places

if TYPE_CHECKING:
    from strat.recognition.curves import MatchCurve
    from strat.recognition.det_curve import DetCurve
    from strat.recognition.verification import Verification

SCHEMA = "strat/recognize/2"
NAMED = 3
COLUMNS = ("se", "95 % low", "95 % high")


def of_match_curve(curve: MatchCurve, name: str = "") -> Told:
    """Cumulative match scores of one or more systems."""
    estimate = curve.estimate
    figure = curve_figure(
        estimate, curve.ranks, list(curve.systems), x_label=f"rank (of {curve.gallery_size:,})",
        y_label="identification rate", x_log=True, caption="Cumulative match curve: identification rate by rank.",
    )  # fmt: skip
    rows = _first_ranks(curve)
    marks = tuple(Mark(r[1], r[3], r[4], name=r[0]) for r in rows)
    sheet = Sheet("", ("system", "rank 1", *COLUMNS, "tied probes"), rows)
    section = Section("Cumulative match curve", (figure, Grid(sheet, "Rank-1 rates", marks)))
    probes = f"{curve.probes:,} of {counted(curve.subjects, 'subject')}, gallery of {curve.gallery_size:,}"
    data = {"schema": SCHEMA, "systems": curve.systems, "values": records(estimate), "notes": coded(estimate.notes)}
    return Told(
        answer=Answer(_identified(curve, rows)),
        sections=(section,),
        facts=(("Probes", probes), *facts_of(estimate)),
        methods=methods_of(estimate),
        topics=topics_of(estimate) | {"max-t"},
        notes=estimate.notes,
        data=jsonable(data),
        title=name or "Identification",
    )


Rate = tuple[str, float, float, float, float, Any]  # system, rate, standard error, limits, tied probes


def _first_ranks(curve: MatchCurve) -> list[Rate]:
    """Each system with its rate at the first rank."""
    low, high, se = (np.asarray(side)[:, 0] for side in (*curve.estimate.interval(LEVEL), curve.estimate.se))
    return [
        (system, float(curve.estimate.point[k, 0]), float(se[k]), float(low[k]), float(high[k]), tied)
        for k, (system, tied) in enumerate(zip(curve.systems, curve.tied, strict=True))
    ]


def _identified(curve: MatchCurve, rows: list[Rate]) -> str:
    """What share of probes each system identifies at the first rank."""
    from strat.recognition.curves import ALONE

    named = [("the system" if curve.systems == (ALONE,) else s, v, a, b) for s, v, _, a, b, _ in rows[:NAMED]]
    more = f"; {len(rows) - NAMED} more systems below" if len(rows) > NAMED else ""
    parts = [f"{s} identifies {_percent(v, a, b)} of probes (95 % interval {_range(a, b)})" for s, v, a, b in named]
    return f"At rank {curve.ranks[0]:g} {'; '.join(parts)}{more}."


def _percent(value: float, low: float, high: float) -> str:
    return f"{number(100 * value, places(100 * (high - low) / 2))} %"


def _range(low: float, high: float) -> str:
    d = places(100 * (high - low) / 2)
    return f"{number(100 * low, d)} to {number(100 * high, d)} %"


def of_det_curve(curve: DetCurve, name: str = "") -> Told:
    """FNMR against FMR."""
    from strat.recognition.det_curve import compared

    estimate = curve.estimate
    pairs = compared(curve.mated, curve.nonmated, curve.subjects)
    data = {"schema": SCHEMA, "fmr": curve.fmr, "values": records(estimate), "notes": coded(estimate.notes)}
    facts = (("Comparisons", pairs), *facts_of(estimate))
    return Told(
        answer=Answer(f"The detection error trade-off of {pairs}."),
        sections=(_det_section(curve),),
        facts=facts,
        methods=methods_of(estimate),
        topics=topics_of(estimate) | {"max-t"},
        notes=estimate.notes,
        data=jsonable(data),
        title=name or "Verification",
    )


def _det_section(curve: DetCurve) -> Section:
    estimate = curve.estimate
    figure = curve_figure(
        estimate, np.asarray(curve.fmr, float), ["FNMR"], x_label="false match rate",
        y_label="false non-match rate", x_log=True, least=0.5 / curve.mated, caption="Detection error trade-off.",
    )  # fmt: skip
    return Section("Detection error trade-off", (figure, values_grid(estimate, BEHIND)))


def of_verification(verification: Verification, name: str = "") -> Told:
    """Equal error rate, FNMR at usual false match rates, and the trade-off between both."""
    from strat.recognition.verification import USUAL_FMR

    curve = verification.det()
    told = of_det_curve(curve, name)
    equal = verification.eer()
    rates = {"Equal error rate": equal} | {
        f"FNMR at FMR {fmr:g}": verification.fnmr_at(fmr) for fmr in USUAL_FMR if fmr * verification.n_nonmated >= 1
    }
    rows = [_line(title, estimate) for title, estimate in rates.items()]
    marks = tuple(Mark(r[1], r[3], r[4], name=r[0]) for r in rows)
    grid = Grid(Sheet("", ("rate", "estimate", *COLUMNS), rows), "Error rates with 95 % intervals", marks)
    (_, value, _, low, high) = rows[0]
    sentence = f"The equal error rate is {_percent(value, low, high)} (95 % interval {_range(low, high)})."
    figures = {**rates, "trade-off": curve.estimate}
    notes = of_each("metric", {title: figure.notes for title, figure in figures.items()}, ())
    return Told(
        answer=Answer(sentence, "", (Bar("equal error rate", low, value, high),)),
        sections=(Section("Error rates", (grid,)), *told.sections),
        facts=told.facts,
        methods=told.methods,
        topics=told.topics,
        notes=notes,
        data={
            **told.data,
            "rates": [dict(zip(("rate", "estimate", "se", "low", "high"), row, strict=True)) for row in rows],
            "notes": coded(notes),
        },
        title=name or "Verification",
    )


def _line(title: str, estimate: Estimate) -> tuple[Any, ...]:
    low, high = estimate.interval(LEVEL)
    return title, float(estimate.value), float(estimate.se), float(low), float(high)

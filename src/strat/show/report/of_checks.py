"""What a check of an interval says on a page."""

from __future__ import annotations

from strat.show.report.model import Answer, Grid, Section, Told
from strat.show.report.wording import stop
from strat.verbs.check_result import Check, sheet


def of_check(result: Check, name: str = "") -> Told:
    """How often each interval covered the truth, with the design of the samples and what was assumed."""
    table = sheet([result])
    shapes = ", ".join(f"{shape} {share:.1%}" for shape, share in result.shapes.items())
    facts = (
        ("Design", result.design),
        ("Samples", f"{result.trials:,} for each way in which clusters may differ, seed {result.seed}"),
        ("Assumed", result.assumption),
        ("Coverage of the default by how clusters differ", shapes),
    )
    grid = Grid(table, f"Coverage of {result.level:.0%} intervals of {result.metric}")
    section = Section(name or f"Intervals of {result.metric}", (grid,), stop(str(result)))
    return Told(Answer(stop(str(result))), (section,), facts, notes=result.notes, data=dict(table.data or {}))

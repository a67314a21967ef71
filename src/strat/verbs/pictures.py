"""Evaluations and groups as pictures; the curves of their scores, made when somebody asks for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from strat.base.errors import StratError, one_of
from strat.base.text import of_class
from strat.base.validate.columns import Array
from strat.designs import Design
from strat.show import drawing
from strat.show.drawing import marks_of
from strat.verbs.group_lines import records_of

if TYPE_CHECKING:
    from strat.estimation.curves import Curve
    from strat.verbs.evaluation import Evaluation
    from strat.verbs.groups import Groups

PICTURES = {"forest": "forest", "roc": "roc", "calibration": "calibration", "det": "det", "pr": "precision_recall"}


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """Rows with a truth and a score under their design, kept so that curves can be asked for."""

    truth: Any
    score: Array
    design: Design
    positive: Any
    level: float

    def curve(self, kind: str) -> Curve:
        """A curve of the scores: "roc", "calibration", "det" or "precision_recall"."""
        from strat.estimation.curves import of_rows

        return of_rows(kind, self.truth, self.score, on=self.design, positive=self.positive, level=self.level)


def of_evaluation(evaluation: Evaluation, kind: str | None = None, *, ax: Any = None) -> Any:
    """Measures with their intervals, or a curve of the scores.

    Parameters
    ----------
    evaluation
        What `strat.evaluate` returned.
    kind
        "forest" (default): a row for each measure, or, where groups were asked for, the first measure in each group
        with the whole as a dashed line; "roc", "calibration", "det" or "pr": the curve of the scores.
    ax
        Axes of matplotlib to draw into (None: those of a new figure).
    """
    wanted = PICTURES[one_of("kind", "forest" if kind is None else kind, tuple(PICTURES))]
    if wanted != "forest":
        if evaluation.scored is None:
            raise StratError.about(
                "kind",
                f"must be 'forest' here, got {kind!r}: curves need the columns `truth` and `score`, and rows "
                "that fit into memory.",
            )
        return drawing.draw_curve(evaluation.scored.curve(wanted), ax)
    if evaluation.groups:
        name, groups = next(iter(evaluation.groups.items()))
        whole = float(evaluation[name].value)
        return of_groups(groups, reference=whole, level=evaluation.level, ax=ax)
    marks = [
        mark
        for name, one in evaluation.estimates.items()
        for mark in marks_of(one, evaluation.level, name.replace("_", " ") + of_class(one.positive))
    ]
    return drawing.forest(marks, ax, x_label=f"value, {100 * evaluation.level:g} % interval")


def of_groups(groups: Groups, *, reference: float | None = None, level: float = 0.95, ax: Any = None) -> Any:
    """A measure in each group, one row each; groups without a value are counted below."""
    first = next(iter(groups.each.values()), None)
    if first is None or first.axes:
        marks = [mark for label, one in groups.each.items() for mark in marks_of(one, level, _group(label))]
    else:
        lines = records_of(groups.each, level)
        marks = [drawing.Mark(_group(label), line["estimate"], line["low"], line["high"]) for label, line in lines]
    positive = None if first is None else first.positive
    label = f"{groups.metric.replace('_', ' ')}{of_class(positive)}, {100 * level:g} % interval"
    notes = [] if reference is None else ["dashed: all groups together"]
    if groups.undefined:
        notes.append(f"not defined in {len(groups.undefined):,} of {len(groups.each) + len(groups.undefined):,} groups")
    return drawing.forest(marks, ax, x_label=label, reference=reference, note="; ".join(notes))


def _group(label: Any) -> str:
    return " · ".join(map(str, label)) if isinstance(label, tuple) else str(label)

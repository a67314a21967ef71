"""Evaluations and confusion matrices as content of a page."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from strat.base.errors import StratError, some
from strat.base.text import counted, of_class
from strat.base.validate.columns import Array
from strat.data.column import listed_marks
from strat.estimation import Estimate
from strat.estimation.effects import actual_error
from strat.show.render import Sheet, jsonable
from strat.show.report.explain import explain
from strat.show.report.model import Answer, Bar, Grid, Mark, Matrix, Section, Text, Told
from strat.show.report.references import topics_of
from strat.show.report.scores import of_scores
from strat.show.report.wording import capital, named, number, percent, places
from strat.verbs.evaluation import Evaluation
from strat.verbs.group_lines import records_of
from strat.verbs.groups import Groups

if TYPE_CHECKING:
    from strat.measures import ConfusionMatrix
from strat.show.report.of_estimates import finite, interval_text, methods_of

NEARLY = 0.05


def of_evaluation(evaluation: Evaluation) -> Told:
    """Measures, groups or strata, curves of the scores and confusion matrix of one system."""
    whole = replace(evaluation, estimates=_one_by_one(evaluation.estimates), by=(), groups={})
    name, first = next(iter(whole.estimates.items()))
    sections = [_measures(whole), *of_groups(evaluation), *_strata(evaluation, first), *of_scores(evaluation)]
    if evaluation.confusion is not None and evaluation.labels is not None:
        sections.append(_confusion([str(v) for v in evaluation.labels.tolist()], np.asarray(evaluation.confusion)))
    source = evaluation.source
    measures = ", ".join(_spoken(name) for name in list(evaluation.estimates)[:3])
    return Told(
        answer=_evaluated(whole, name),
        sections=(*sections, Section("In words", (Text(tuple(explain(first).split("\n\n"))),))),
        facts=_evaluation_facts(evaluation, first, source),
        methods=methods_of(first),
        topics=frozenset().union(*(topics_of(e) for e in evaluation.estimates.values())),
        notes=evaluation.notes,
        data={"schema": "strat/evaluate/4", **evaluation.data()},
        title=source or f"{measures} of {counted(evaluation.rows, 'row')}",
    )


def _one_by_one(estimates: Mapping[str, Estimate]) -> dict[str, Estimate]:
    """Each value of a measure that has one for each class as a measure of its own."""
    single: dict[str, Estimate] = {}
    for name, estimate in estimates.items():
        if estimate.point.ndim == 1:
            single |= {f"{name}, {label}": estimate.at(label) for label in estimate.axes[0].labels}
        else:
            single[name] = estimate
    return single


def _evaluation_facts(evaluation: Evaluation, first: Estimate, source: str) -> tuple[tuple[str, str], ...]:
    """Where the numbers come from: data, columns, design, target, class, threshold, what was left out."""
    facts = [("Data", source)] if source else []
    if named := [f"{role}: {name}" for role, name in evaluation.roles.items()]:
        facts.append(("Columns", ", ".join(named)))
    facts += [
        ("Design", evaluation.design),
        ("Target of inference", evaluation.target),
        ("Rows", f"{evaluation.rows:,}"),
    ]
    facts += [("Positive class", text) for text in _positive_classes(evaluation)]
    if evaluation.threshold is not None:
        facts.append(("Threshold", f"a score of {evaluation.threshold:g} or more is called positive"))
    if evaluation.dropped:
        marks = f" ({listed_marks(evaluation.marks)})" if evaluation.marks else ""
        facts.append(("Left out", f"{counted(evaluation.dropped, 'row')} with missing values{marks}"))
    if first.plan is not None:
        facts.append(("Plan", str(first.plan)))
    return tuple(facts)


def _positive_classes(evaluation: Evaluation) -> list[str]:
    """The class that measures of one class look at, if there are any."""
    return list(dict.fromkeys(str(e.positive) for e in evaluation.estimates.values() if e.positive is not None))


def _evaluated(evaluation: Evaluation, name: str) -> Answer:
    estimate = evaluation[name]
    low, high = evaluation.interval(name)
    bottom, top = evaluation.naive(name)
    value, d = float(estimate.point), places(float(estimate.se))
    interval = interval_text(low, high, d, evaluation.level)
    sentence = f"{_spoken(name)}{of_class(estimate.positive)} is {number(value, d)}, {interval}."
    bars = [Bar("as sampled", low, value, high)]
    if not math.isfinite(bottom) or (_same(bottom, low) and _same(top, high)):
        return Answer(sentence, "", tuple(bars))
    bars.append(Bar("rows independent", bottom, value, top, naive=True))
    return Answer(sentence, _naive_sentence(estimate, (bottom, top), (low, high), d, evaluation.level), tuple(bars))


def _naive_sentence(
    estimate: Estimate, naive: tuple[float, float], honest: tuple[float, float], d: int, level: float
) -> str:
    ratio = (honest[1] - honest[0]) / (naive[1] - naive[0]) if naive[1] > naive[0] else math.inf
    if abs(ratio - 1) < NEARLY:
        return "Rows taken as independent would have given much the same interval."
    text = f"Had the rows been taken as independent, it would have read {number(naive[0], d)} to {number(naive[1], d)}"
    if ratio < 1:
        return f"{text}, which is {1 / ratio:.1f} times too wide."
    text += f", which is {ratio:.1f} times too narrow"
    deff = estimate.deff
    if deff is not None and math.isfinite(deff) and deff > 1:
        wrong = actual_error(float(deff), level)
        text += (
            f": such an interval misses the truth about {100 * wrong:.0f} % of the time, not {100 * (1 - level):g} %"
        )
    return f"{text}."


def _measures(evaluation: Evaluation) -> Section:
    columns = evaluation.to_dict()
    sheet = _without_one_class(evaluation)
    marks = tuple(
        Mark(v, low, high, finite(a), finite(b), str(m))
        for m, v, low, high, a, b in zip(
            *(columns[c] for c in ("measure", "estimate", "low", "high", "naive_low", "naive_high")), strict=True
        )
    )
    note = "Blue: the interval that fits how the rows were drawn. Orange: what independent rows would have given."
    caption = f"Measures with {percent(evaluation.level)} intervals"
    lead = "deff is the design effect: how many times larger the variance is than that of independent rows."
    return Section("Measures", (Grid(sheet, caption, marks, note=note),), lead)


def of_groups(evaluation: Evaluation) -> list[Section]:
    """Each measure in each group, with the whole as a dashed line and the test that all are equal."""
    single = {name: groups for name, groups in evaluation.groups.items() if evaluation[name].point.ndim == 0}
    return [_in_groups(evaluation, name, groups) for name, groups in single.items() if groups.each]


def _in_groups(evaluation: Evaluation, name: str, groups: Groups) -> Section:
    lines, marks = [], []
    for label, line in records_of(groups.each, evaluation.level):
        value, se, low, high = (line[name] for name in ("estimate", "se", "low", "high"))
        shown = " · ".join(map(str, label)) if isinstance(label, tuple) else str(label)
        lines.append((shown, groups.rows[label], value, se, finite(low), finite(high)))
        marks.append(Mark(value, finite(low), finite(high), name=shown))
    share, whole = percent(evaluation.level), float(evaluation[name].value)
    title = f"{_spoken(name)} by {', '.join(groups.by)}"
    head = (", ".join(groups.by), "rows", _spoken(name), "se", f"{share} low", f"{share} high")
    grid = Grid(Sheet("", head, lines), title, tuple(marks), after=2, reference=whole, note=_undefined(groups))
    return Section(title, (grid,), f"{_equality(groups)} The dashed line is the value of all rows together.")


def _equality(groups: Groups) -> str:
    """The test that all groups have the same value, as a sentence."""
    try:
        test = groups.test()
    except StratError as error:
        return f"{error} Each interval holds for its group alone."
    p = "< 0.001" if test.pvalue < 0.001 else f"= {test.pvalue:.3f}"
    differ = "The groups differ" if test.pvalue < 0.05 else "The groups are not distinguishable"
    return f"{differ} ({test.name}: p {p}). Each interval holds for its group alone."


def _undefined(groups: Groups) -> str:
    if not groups.undefined:
        return ""
    return f"Not defined in {counted(len(groups.undefined), 'group')}: {some([str(v) for v in groups.undefined])}."


def _without_one_class(evaluation: Evaluation) -> Sheet:
    """The table of measures; a positive class that all of them share stands among the facts and not in each row."""
    sheet = evaluation.table()
    if len(_positive_classes(evaluation)) != 1:
        return sheet
    kept = [k for k, column in enumerate(sheet.columns) if column != "positive class"]
    return replace(sheet, columns=[sheet.columns[k] for k in kept], rows=[[row[k] for k in kept] for row in sheet.rows])


def _strata(evaluation: Evaluation, first: Estimate) -> list[Section]:
    if len(evaluation.strata) < 2 or first.point.ndim:
        return []
    lines, marks = [], []
    for label, line in records_of(evaluation.strata, evaluation.level):
        value, se, low, high = (line[name] for name in ("estimate", "se", "low", "high"))
        lines.append((str(label), value, se, finite(low), finite(high)))
        marks.append(Mark(value, finite(low), finite(high), name=str(label)))
    share = percent(evaluation.level)
    one, every = (first.design.called("stratum", number_of) for number_of in (1, 2))
    sheet = Sheet("", (one, first.name, "se", f"{share} low", f"{share} high"), lines)
    grid = Grid(sheet, f"{named(first)} in each {one}", tuple(marks), reference=float(first.point))
    worst, best = min(marks, key=lambda m: m.value or 0), max(marks, key=lambda m: m.value or 0)
    d = places(float(np.median([line[2] for line in lines])))
    lead = (
        f"From {number(worst.value or 0, d)} ({worst.name}) to {number(best.value or 0, d)} ({best.name}); the dashed "
        f"line is the value over all {every}. Each interval holds for its {one} alone."
    )
    return [Section(f"By {one}", (grid,), lead)]


def _confusion(labels: list[str], counts: Array) -> Section:
    totals = counts.sum(axis=1, keepdims=True)
    shares = np.divide(counts, totals, out=np.zeros_like(counts, dtype=float), where=totals > 0)
    rows = [(label, *(_count(v) for v in line)) for label, line in zip(labels, counts.tolist(), strict=True)]
    sheet = Sheet("", ("truth \\ predicted", *labels), rows)
    block = Matrix(
        tuple(labels),
        tuple(tuple(map(_count, line)) for line in counts.tolist()),
        tuple(tuple(round(v, 4) for v in line) for line in shares.tolist()),
        "Confusion matrix: rows are the truth, columns the predictions",
        sheet,
    )
    return Section("Confusion matrix", (block,), _worst(labels, counts, shares))


def _worst(labels: list[str], counts: Array, shares: Array) -> str:
    off = counts.astype(float).copy()
    np.fill_diagonal(off, 0.0)
    if not off.any():
        return "Every row was predicted correctly."
    i, j = np.unravel_index(int(np.argmax(off)), off.shape)
    many = counted(_count(float(counts[i, j])), "row")
    return (
        f"Rows are the truth, columns the predictions. The most frequent mistake: {labels[i]} predicted as "
        f"{labels[j]}, {many} or {100 * shares[i, j]:.1f} % of {labels[i]}."
    )


def of_confusion(matrix: ConfusionMatrix) -> Told:
    """A confusion matrix alone: no design, so no interval."""
    sentence = f"{number(100 * matrix.accuracy, 1)} % of {matrix.total:,.0f} rows are classified correctly."
    section = _confusion([str(v) for v in matrix.labels], np.asarray(matrix.counts))
    data = {"labels": matrix.labels, "truth_by_predicted": matrix.counts}
    return Told(Answer(sentence), (section,), data=jsonable({"schema": "strat/confusion/1", **data}))


def _same(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)


def _count(value: float) -> float:
    return int(value) if float(value).is_integer() else float(f"{value:.6g}")


def _spoken(name: str) -> str:
    known = {"auc": "AUC", "mcc": "MCC", "eer": "Equal error rate", "macro_f1": "Macro F1", "f1": "F1"}
    return known.get(name, capital(name.replace("_", " ")))

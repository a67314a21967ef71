"""From a result to what the report says about it: evaluations, single estimates and curves."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from strat.columns import Array
from strat.errors import StratError
from strat.estimation import Estimate
from strat.estimation.effects import actual_error
from strat.report import charts
from strat.report.explain import explain
from strat.report.parts import Answer, Bar, Block, Figure, Grid, Mark, Matrix, Section, Text, Told
from strat.report.references import topics_of
from strat.report.wording import capital, number, percent, places, stop
from strat.tables.evaluation import Evaluation
from strat.tables.out import Sheet, jsonable
from strat.words import counted

if TYPE_CHECKING:
    from strat.recognition.curves import MatchCurve
    from strat.recognition.verification import DetCurve
    from strat.statistics import ConfusionMatrix

LEVEL = 0.95
LONGEST = 500
NEARLY = 0.05
BANDED = 2_000
RATES = (("fpr", "tpr"), ("fpr", "fnr"), ("precision", "recall"))
WORDS = {
    "fpr": "false positive rate",
    "tpr": "true positive rate",
    "fnr": "false negative rate",
    "tpr at fpr": "true positive rate",
    "fnr at fpr": "false negative rate",
}
BEHIND = "The numbers behind the curve"


# ---- evaluations


def of_evaluation(found: Evaluation) -> Told:
    """Measures, strata and confusion matrix of one system."""
    name, first = next(iter(found.estimates.items()))
    sections = [_measures(found), *_strata(found, first)]
    if found.confusion is not None and found.labels is not None:
        sections.append(_confusion([str(v) for v in found.labels.tolist()], np.asarray(found.confusion)))
    facts = [("Design", found.design), ("Answers for", found.target), ("Rows", f"{found.rows:,}")]
    if found.dropped:
        facts.append(("Left out", f"{counted(found.dropped, 'row')} with missing values"))
    if first.plan is not None:
        facts.append(("Plan", str(first.plan)))
    return Told(
        answer=_evaluated(found, name),
        sections=(*sections, Section("In words", (Text(tuple(explain(first).split("\n\n"))),))),
        facts=tuple(facts),
        methods=methods_of(first),
        topics=frozenset().union(*(topics_of(e) for e in found.estimates.values())),
        warnings=found.warnings,
        data={"schema": "strat/evaluate/1", **found.data()},
    )


def _evaluated(found: Evaluation, name: str) -> Answer:
    made = found[name]
    low, high = found.interval(name)
    bottom, top = found.naive(name)
    value, d = float(made.point), places(float(made.se))
    sentence = f"{_spoken(name)} is {number(value, d)}, {_interval_text(low, high, d, found.level)}."
    bars = [Bar("as sampled", low, value, high)]
    if not math.isfinite(bottom) or (_same(bottom, low) and _same(top, high)):
        return Answer(sentence, "", tuple(bars))
    bars.append(Bar("rows independent", bottom, value, top, naive=True))
    return Answer(sentence, _naive_sentence(made, (bottom, top), (low, high), d, found.level), tuple(bars))


def _naive_sentence(
    made: Estimate, naive: tuple[float, float], honest: tuple[float, float], d: int, level: float
) -> str:
    ratio = (honest[1] - honest[0]) / (naive[1] - naive[0]) if naive[1] > naive[0] else math.inf
    if abs(ratio - 1) < NEARLY:
        return "Rows taken as independent would have given much the same interval."
    said = f"Had the rows been taken as independent, it would have read {number(naive[0], d)} to {number(naive[1], d)}"
    if ratio < 1:
        return f"{said}, which is {1 / ratio:.1f} times too wide."
    said += f", which is {ratio:.1f} times too narrow"
    deff = made.deff
    if deff is not None and math.isfinite(deff) and deff > 1:
        wrong = actual_error(float(deff), level)
        said += (
            f": such an interval misses the truth about {100 * wrong:.0f} % of the time, not {100 * (1 - level):g} %"
        )
    return f"{said}."


def _measures(found: Evaluation) -> Section:
    columns = found.to_dict()
    sheet = found.sheet()
    marks = tuple(
        Mark(v, low, high, _finite(a), _finite(b), str(m))
        for m, v, low, high, a, b in zip(
            *(columns[c] for c in ("measure", "estimate", "low", "high", "naive low", "naive high")), strict=True
        )
    )
    note = "Blue: the interval that fits how the rows were drawn. Orange: what independent rows would have given."
    caption = f"Measures with {percent(found.level)} intervals"
    lead = "deff is the design effect: how many times larger the variance is than that of independent rows."
    return Section("Measures", (Grid(sheet, caption, marks, note=note),), lead)


def _strata(found: Evaluation, first: Estimate) -> list[Section]:
    if len(found.strata) < 2:
        return []
    lines, marks = [], []
    for label, made in found.strata.items():
        low, high = limits(made, found.level)
        lines.append((str(label), float(made.value), float(made.se), low, high))
        marks.append(Mark(float(made.value), low, high, name=str(label)))
    share = percent(found.level)
    sheet = Sheet("", ("stratum", first.name, "se", f"{share} low", f"{share} high"), lines)
    grid = Grid(sheet, f"{capital(first.name)} in each stratum", tuple(marks), reference=float(first.point))
    worst, best = min(marks, key=lambda m: m.value or 0), max(marks, key=lambda m: m.value or 0)
    d = places(float(np.median([float(e.se) for e in found.strata.values()])))
    lead = (
        f"From {number(worst.value or 0, d)} ({worst.name}) to {number(best.value or 0, d)} ({best.name}); the dashed "
        "line is the value over all strata. Each interval holds for its stratum alone."
    )
    return [Section("By stratum", (grid,), lead)]


def _confusion(labels: list[str], counts: Array) -> Section:
    totals = counts.sum(axis=1, keepdims=True)
    shares = np.divide(counts, totals, out=np.zeros_like(counts, dtype=float), where=totals > 0)
    rows = [(label, *(_count(v) for v in line)) for label, line in zip(labels, counts.tolist(), strict=True)]
    sheet = Sheet("", ("truth \\ predicted", *labels), rows)
    block = Matrix(
        tuple(labels),
        tuple(tuple(map(_count, line)) for line in counts.tolist()),
        tuple(tuple(round(v, 4) for v in line) for line in shares.tolist()),
        "Rows are the truth, columns what was predicted",
        sheet,
    )
    return Section("Confusion matrix", (block,), _worst(labels, counts, shares))


def _worst(labels: list[str], counts: Array, shares: Array) -> str:
    off = counts.astype(float).copy()
    np.fill_diagonal(off, 0.0)
    if not off.any():
        return "No row was taken for another class."
    i, j = np.unravel_index(int(np.argmax(off)), off.shape)
    many = counted(_count(float(counts[i, j])), "row")
    return (
        f"The most frequent mistake: {labels[i]} taken for {labels[j]}, {many} or "
        f"{100 * shares[i, j]:.1f} % of {labels[i]}."
    )


def of_confusion(found: ConfusionMatrix) -> Told:
    """A confusion matrix alone: no design, so no interval."""
    sentence = f"{number(100 * found.accuracy, 1)} % of {found.total:,.0f} rows are classified right."
    section = _confusion([str(v) for v in found.labels], np.asarray(found.counts))
    data = {"labels": found.labels, "truth_by_predicted": found.counts}
    return Told(Answer(sentence), (section,), data=jsonable({"schema": "strat/confusion/1", **data}))


# ---- estimates


def of_estimate(made: Estimate, name: str = "") -> Told:
    """A single number, a row of them, or a curve."""
    title = name or made.name
    if made.point.ndim and _is_curve(made):
        blocks: tuple[Block, ...] = (_curve_figure(made), _values(made, BEHIND))
    else:
        blocks = (_values(made),)
    words = Text(tuple(explain(made).split("\n\n")), summary="What this means, what was assumed, what would change it")
    return Told(
        answer=_answered(made, title),
        sections=(Section(capital(title), (*blocks, words)),),
        facts=facts_of(made),
        methods=methods_of(made),
        topics=topics_of(made) | ({"max-t"} if made.point.ndim else set()),
        warnings=made.notes,
        data=jsonable({"schema": "strat/estimate/1", "name": made.name, "method": made.method,
                       "design": made.design, "target": made.target, "values": _records(made)}),
    )  # fmt: skip


def _answered(made: Estimate, title: str) -> Answer:
    if made.point.ndim and _is_curve(made):
        return Answer(_curve_sentence(made))
    if made.point.ndim:
        labels = " and ".join(axis.name for axis in made.axes)
        return Answer(f"{capital(title)}: {made.point.size:,} values by {labels}, each with its interval.")
    low, high = limits(made, LEVEL)
    d = places(float(made.se))
    if low is None or high is None:
        return Answer(f"{capital(title)} is {number(float(made.point), d)}; no interval can be had.")
    said = f"{capital(title)} is {number(float(made.point), d)}, {_interval_text(low, high, d, LEVEL)}."
    return Answer(said, "", (Bar("as sampled", low, float(made.point), high),))


def facts_of(made: Estimate) -> tuple[tuple[str, str], ...]:
    """The design, the target and the plan of an estimate."""
    facts = [("Design", made.design)]
    if made.target:
        facts.append(("Answers for", made.target))
    if made.plan is not None:
        facts.append(("Plan", str(made.plan)))
    return tuple((name, said) for name, said in facts if said)


def methods_of(made: Estimate) -> tuple[str, ...]:
    """How the variance and the interval were found."""
    if made.replicated:
        how = f"Variances are the spread of replicates: {made.design.split('; ')[-1]}"
    else:
        how = f"Variances: {made.method}, by linearization of the totals of units"
    scale = {"logit": "on the logit scale", "log": "on the log scale", "correlation": "on Fisher's scale"}
    link = scale.get(made.link, "on the scale of the value")
    return stop(how), f"Intervals: Student's t with {counted(made.df, 'degree of freedom', ',.4g')}, {link}."


def _records(made: Estimate) -> list[dict[str, Any]]:
    if not made.point.ndim:
        low, high = limits(made, LEVEL)
        deff = None if made.deff is None else float(made.deff)
        return [{"statistic": made.name, "estimate": float(made.point), "se": float(made.se), "low": low,
                 "high": high, "df": made.df, "deff": deff}]  # fmt: skip
    columns = made.to_dict()
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _values(made: Estimate, folded: str = "") -> Grid:
    records = _records(made)
    columns = tuple(records[0])
    rows = [tuple(record.values()) for record in records[:LONGEST]]
    marks = tuple(
        Mark(_finite(r["estimate"]), _finite(r.get("low")), _finite(r.get("high")), name=str(next(iter(r.values()))))
        for r in records[:LONGEST]
    )
    note = "" if len(records) <= LONGEST else f"The first {LONGEST} of {len(records):,} values; all are in the data."
    after = max(len(made.axes), 1)
    sheet = Sheet("", columns, rows)
    caption = f"{capital(made.name)} with 95 % intervals"
    return Grid(sheet, caption, () if folded else marks, after=after, note=note, folded=folded)


# ---- curves


def _is_curve(made: Estimate) -> bool:
    labels = made.axes[-1].labels
    return (
        len(labels) > 2
        and made.point.ndim <= 2
        and all(isinstance(v, int | float) and not isinstance(v, bool) for v in labels)
    )


def _is_rates(made: Estimate) -> bool:
    return made.point.ndim == 2 and tuple(made.axes[0].labels) in RATES


def _curve_sentence(made: Estimate) -> str:
    """What the curve says at one place that people ask for: a false positive rate of 0.1, or the middle."""
    if _is_rates(made):
        first, second = (WORDS.get(str(v), str(v)) for v in made.axes[0].labels)
        return f"{made.name} curve: {first} and {second} at {made.point.shape[1]:,} thresholds, with a region for all."
    x = np.asarray(made.axes[-1].labels, float)
    across, up = (WORDS.get(name, name) for name in (made.axes[-1].name, made.name))
    k = int(np.argmin(np.abs(x - 0.1))) if made.axes[-1].name == "fpr" else len(x) // 2
    low, high = (np.atleast_2d(side) for side in made.interval(LEVEL))
    names = [""] if made.point.ndim == 1 else [f" for {v}" for v in made.axes[0].labels]
    said = []
    for i, name in enumerate(names[:3]):
        d = places(float(np.atleast_2d(made.se)[i, k]))
        v, a, b = (number(float(np.atleast_2d(t)[i, k]), d) for t in (made.point, low, high))
        said.append(f"{v} (95 % interval {a} to {b}){name}")
    return f"At {across} {x[k]:.3g} the {up} is {' and '.join(said)}."


def _curve_figure(made: Estimate) -> Figure:
    if _is_rates(made):
        return _rates_figure(made)
    x = np.asarray(made.axes[-1].labels, float)
    names = [made.name] if made.point.ndim == 1 else [str(v) for v in made.axes[0].labels]
    across, up = made.axes[-1].name, made.name
    return curve_figure(made, x, names, x_label=WORDS.get(across, across), y_label=WORDS.get(up, up))


def curve_figure(
    made: Estimate,
    x: Array,
    names: list[str],
    *,
    x_label: str,
    y_label: str,
    x_log: bool = False,
    least: float | None = None,
    caption: str = "",
) -> Figure:
    """Curves over the last axis with pointwise limits (dark) and a simultaneous band (light).

    With `least` the upright axis is logarithmic, and what lies lower is drawn there.
    """
    values = np.atleast_2d(made.point)
    low, high = (_drawn(side, values) for side in made.interval(LEVEL))
    banded = made.spread is not None and made.point.size <= BANDED
    outer = made.band(LEVEL) if banded else (low, high)
    lower, upper = (_drawn(side, values) for side in outer)
    series = [
        charts.Series(name, x, values[k], low[k], high[k], lower[k], upper[k]) for k, name in enumerate(names)
    ]  # fmt: skip
    seen = np.concatenate([lower, upper, values])
    up = _range(seen if least is None else np.maximum(seen, least), least is not None)
    frame = charts.Frame(
        x_label, y_label, _range(x, x_log), up, x_log, least is not None,
        diagonal=(x_label, y_label) == (WORDS["fpr"], WORDS["tpr"]),
    )  # fmt: skip
    said = caption or f"{capital(y_label)} by {x_label}."
    said += f" Dark: {percent(LEVEL)} interval at each point."
    said += " Light: band that holds for all points at once." if banded else ""
    return Figure(charts.curves(series, frame), said, _spoken_curve(series, x_label), zooms=True)


def _drawn(side: Any, values: Array) -> Array:
    """Limits as lines of a picture; where there are none, the curve itself."""
    given = np.atleast_2d(side)
    return np.where(np.isfinite(given), given, values)


def _rates_figure(made: Estimate) -> Figure:
    """ROC, DET or precision and recall: at each threshold a box of both rates, joined to a region."""
    first, second = (str(v) for v in made.axes[0].labels)
    low, high = (_drawn(side, made.point) for side in made.band(LEVEL))
    x, y = made.point
    if first == "precision":
        first, second = second, first
        low, high, x, y = low[::-1], high[::-1], y, x
    rising = second == "tpr"
    region = _region(low, high, second)
    series = [charts.Series(made.name, x, y, region=region)]
    frame = charts.Frame(
        WORDS.get(first, first), WORDS.get(second, second), (0.0, 1.0), (0.0, 1.0), diagonal=rising
    )  # fmt: skip
    said = f"{made.name} curve. The shaded region holds for all thresholds at once ({percent(LEVEL)})."
    return Figure(charts.curves(series, frame), said, _spoken_curve(series, frame.x_label), zooms=True)


def _region(low: Array, high: Array, second: str) -> tuple[Array, Array]:
    """The upper and the lower edge of the boxes of all thresholds, drawn in where the curve can only rise or fall."""
    if second == "tpr":  # at fpr f: at most the tpr of thresholds further right, at least that of those further left
        return _edge(low[0], high[1], np.minimum, last=True), _edge(high[0], low[1], np.maximum, last=False)
    if second == "fnr":
        return _edge(high[0], high[1], np.minimum, last=False), _edge(low[0], low[1], np.maximum, last=True)
    return np.stack([high[0], high[1]]), np.stack([low[0], low[1]])


def _edge(x: Array, y: Array, best: Any, *, last: bool) -> Array:
    order = np.argsort(x, kind="stable")
    sorted_y = y[order]
    bound = best.accumulate(sorted_y[::-1])[::-1] if last else best.accumulate(sorted_y)
    return np.stack([x[order], bound])


def _range(values: Array, log: bool) -> tuple[float, float]:
    finite = values[np.isfinite(values)]
    if log:
        finite = np.log10(finite[finite > 0])
    if not finite.size:
        return 0.0, 1.0
    low, high = float(finite.min()), float(finite.max())
    if not log and low >= 0 and high <= 1:
        return (0.0 if low < 0.5 else math.floor(low * 10) / 10), 1.0
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _spoken_curve(series: list[charts.Series], x_label: str) -> str:
    said = []
    for s in series[:6]:
        said.append(
            f"{s.name}: {s.y[0]:.3g} at {x_label} {s.x[0]:.3g}, {s.y[len(s.y) // 2]:.3g} at "
            f"{s.x[len(s.x) // 2]:.3g}, {s.y[-1]:.3g} at {s.x[-1]:.3g}"
        )
    return "; ".join(said)


def of_match_curve(found: MatchCurve, name: str = "") -> Told:
    """Cumulative match scores of one or more systems."""
    made = found.estimate
    figure = curve_figure(
        made, found.ranks, list(found.systems), x_label=f"rank (of {found.gallery_size:,})",
        y_label="cumulative match score", x_log=True, caption="Cumulative match score by rank.",
    )  # fmt: skip
    low, high = (np.asarray(side) for side in made.interval(LEVEL))
    rows = [
        (s, float(made.point[k, 0]), float(np.asarray(made.se)[k, 0]), float(low[k, 0]), float(high[k, 0]), tied)
        for k, (s, tied) in enumerate(zip(found.systems, found.tied, strict=True))
    ]
    marks = tuple(Mark(r[1], r[3], r[4], name=r[0]) for r in rows)
    sheet = Sheet("", ("system", "rank 1", "se", "95 % low", "95 % high", "tied probes"), rows)
    section = Section("Cumulative match scores", (figure, Grid(sheet, "Rank-1 rates", marks)))
    probes = f"{found.probes:,} of {counted(found.subjects, 'subject')}, gallery of {found.gallery_size:,}"
    facts = (("Probes", probes),)
    data = {"schema": "strat/recognize/1", "systems": found.systems, "values": _records(made)}
    said = []
    for system, value, se, bottom, top, _ in rows[:3]:
        v, a, b = (number(x, places(se)) for x in (value, bottom, top))
        said.append(f"{system} names {v} right (95 % interval {a} to {b})")
    more = f" and {len(rows) - 3} more systems below" if len(rows) > 3 else ""
    answer = Answer(f"At rank 1 {'; '.join(said)}{more}.")
    topics = topics_of(made) | {"max-t"}
    return Told(answer, (section,), (*facts, *facts_of(made)), methods_of(made), topics, made.notes, jsonable(data))


def of_det_curve(found: DetCurve, name: str = "") -> Told:
    """FNMR against FMR."""
    from strat.recognition.verification import compared

    made = found.estimate
    figure = curve_figure(
        made, np.asarray(found.fmr, float), [name or "FNMR"], x_label="false match rate",
        y_label="false non-match rate", x_log=True, least=0.5 / found.mated, caption="Detection error trade-off.",
    )  # fmt: skip
    section = Section("Detection error trade-off", (figure, _values(made, BEHIND)))
    said = compared(found.mated, found.nonmated, found.subjects)
    answer = Answer(f"The detection error trade-off of {said}.")
    data = jsonable({"schema": "strat/recognize/1", "fmr": found.fmr, "values": _records(made)})
    facts = (("Comparisons", said), *facts_of(made))
    return Told(answer, (section,), facts, methods_of(made), topics_of(made) | {"max-t"}, made.notes, data)


# ---- anything else


QUANTITIES = {"pvalue": "p-value", "log10_pvalue": "log10 of the p-value", "null": "null hypothesis"}
CHANCE = {"n": "patterns", "expected": "expected by chance", "error": "error of the p-value at most"}


def of_anything(found: Any, name: str = "") -> Told:
    """A result that has a sentence, and numbers of its own."""
    said = str(found)
    data = _plain_data(found)
    chance = type(found).__name__ == "Chance"
    words = QUANTITIES | (CHANCE if chance else {})
    lines = [(words.get(key, key), value) for key, value in data.items() if not isinstance(value, list | dict)]
    blocks: list[Block] = [Text(tuple(said.split("\n\n")))] if "\n" in said else []
    if lines:
        blocks.append(Grid(Sheet("", ("quantity", "value"), lines), "Numbers"))
    title = name or titled(type(found).__name__)
    answer = Answer(stop(said.splitlines()[0]) if said else title)
    topics = frozenset({"chance"}) if chance else frozenset()
    return Told(answer, (Section(title, tuple(blocks), stop(said.splitlines()[0])),), topics=topics, data=data)


def _plain_data(found: Any) -> dict[str, Any]:
    for name in ("to_dict", "data"):
        make: Callable[[], Mapping[str, Any]] | None = getattr(found, name, None)
        if callable(make):
            plain: dict[str, Any] = jsonable(dict(make()))
            return plain
    return {}


def titled(name: str) -> str:
    """The name of a class as words.

    >>> titled("McNemar"), titled("ProtocolResult")
    ('McNemar', 'Protocol result')
    """
    if name.startswith("Mc"):
        return name
    spaced = "".join(f" {c.lower()}" if c.isupper() else c for c in name).strip()
    return capital(spaced)


# ---- small words


def limits(made: Estimate, level: float) -> tuple[float | None, float | None]:
    """The interval of a single number, or nothing where it has none (one unit in a stratum)."""
    try:
        low, high = made.interval(level)
    except StratError:
        return None, None
    return _finite(low), _finite(high)


def _interval_text(low: float, high: float, d: int, level: float) -> str:
    return f"with a {percent(level)} interval from {number(low, d)} to {number(high, d)}"


def _finite(value: Any) -> float | None:
    return None if value is None or not math.isfinite(float(value)) else float(value)


def _same(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)


def _count(value: float) -> float:
    return int(value) if float(value).is_integer() else float(f"{value:.6g}")


def _spoken(name: str) -> str:
    known = {"auc": "AUC", "mcc": "MCC", "eer": "Equal error rate", "macro_f1": "Macro F1", "f1": "F1"}
    return known.get(name, capital(name.replace("_", " ")))

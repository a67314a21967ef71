"""What a comparison of models says: tests of each pair, the recommended one, tables and a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np

from strat import comparison
from strat.base.errors import StratError, drawable, near
from strat.base.notes import Note, merged, records
from strat.base.result import Result, plain_value
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array
from strat.comparison import Comparison, ManySystems, PairedT, Posterior, TestResult
from strat.designs import Design
from strat.estimation.hypothesis_tests import p_text
from strat.measures import Statistic
from strat.measures.register import spelled
from strat.protocols.intervals import for_models
from strat.protocols.protocol_result import Memory, Times
from strat.protocols.running import (
    Task,
    fit,
    seeded,
)
from strat.show.colours import BLUE, ORANGE
from strat.show.figures import new_axes
from strat.show.render import Sheet
from strat.show.sheet_result import SheetResult
from strat.verbs.cross_validation import Models
from strat.verbs.scoring import Scorer
from strat.verbs.variance_sources import Sources

SCHEMA = "strat/compare_models/2"
ENOUGH_SPLITS = 5  # from so many on, their spread is taken for what it is
CORRECTED, BY_UNITS = "corrected t over splits", "paired estimate"


@dataclass(frozen=True, repr=False)
class ModelPair(Result):
    """Two models by one measure: several answers to whether they differ, and which one to go by.

    Attributes
    ----------
    a, b, metric
        The models and the measure; differences are a − b.
    corrected
        Nadeau and Bengio's test over the splits: other training sets and other test rows; None without splits enough.
    paired
        The difference on all test rows, by units, with limits for models that are trained anew
        (`strat.protocols.intervals`).
    halves
        Alpaydin's 5×2cv F test; None unless it was asked for.
    posterior
        Probabilities of a lower, a practically equal and a higher result; None where `corrected` is.
    recommended, reason
        Which of the first two to report, and why.
    notes
        What to be careful about.
    level
        Confidence level of the limits that are printed.
    """

    a: str
    b: str
    metric: str
    corrected: PairedT | None
    paired: Comparison
    halves: TestResult | None
    posterior: Posterior | None
    recommended: str
    reason: str
    notes: tuple[Note, ...] = ()
    level: float = 0.95

    @property
    def _main(self) -> PairedT | Comparison:
        return self.corrected if self.corrected is not None and self.recommended == CORRECTED else self.paired

    @property
    def difference(self) -> float:
        """A − b, by the recommended method."""
        main = self._main
        return main.mean if isinstance(main, PairedT) else main.value

    @property
    def pvalue(self) -> float:
        """The p-value of the recommended method."""
        return self._main.pvalue

    def interval(self, level: float | None = None) -> tuple[float, float]:
        """Confidence limits of a − b by the recommended method, by default at the level of the comparison."""
        return self._main.interval(self.level if level is None else level)

    def __str__(self) -> str:
        """All answers, the recommended one first."""
        low, high = self.interval()
        limits = f"{100 * self.level:g} % {low:+.4f} to {high:+.4f}"
        lines = [
            f"{self.metric}, {self.a} − {self.b}: {self.difference:+.4f} ({limits}, "
            f"{p_text(self.pvalue)}) by the {self.recommended}: {self.reason}"
        ]
        if self.corrected is not None and self.recommended != CORRECTED:
            lines.append(f"  {CORRECTED}: {self.corrected.mean:+.4f}, {p_text(self.corrected.pvalue)}")
        if self.recommended != BY_UNITS:
            lines.append(f"  {BY_UNITS}: {self.paired.value:+.4f}, {p_text(self.paired.pvalue)}")
        lines += [f"  {self.halves.sentence}"] if self.halves is not None else []
        lines += [f"  {self.posterior.sentence}"] if self.posterior is not None else []
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])


@dataclass(frozen=True, eq=False, repr=False)
class ModelComparison(SheetResult):
    """What :func:`compare_models` found.

    Attributes
    ----------
    models
        Their names.
    metrics
        From each measure to whether a higher value is better.
    scores
        From a measure to its values, splits × models (NaN where a split cannot give it).
    systems
        From a measure to all models on all test rows, with their joint covariance.
    halves
        From a measure to its values in five repeats of two halves, 5 × 2 × models; empty unless asked for.
    sources
        From a measure to the sources of variation of each model, (name,), and of each difference, (a, b); empty unless
        asked for.
    ratio
        Size of a testing set over size of its training set.
    protocol, level, rope
        How the rows were split, the confidence level and the region of practical equivalence.
    times, memory
        What each model cost: seconds of each training and testing, bytes.
    notes
        What to be careful about.
    statistics, sampling, tasks
        The measures of all test predictions, their design, and the models with the data, for further questions.
    measures, trained
        The measures by name, and what the trained models of each name said, for limits.
    """

    models: tuple[str, ...]
    metrics: Mapping[str, bool]
    scores: Mapping[str, Array]
    systems: Mapping[str, ManySystems]
    halves: Mapping[str, Array]
    sources: Mapping[str, Mapping[tuple[str, ...], Sources]]
    ratio: float
    protocol: str
    level: float
    rope: float
    times: Mapping[str, Times]
    memory: Mapping[str, Memory]
    notes: tuple[Note, ...]
    statistics: Mapping[str, Mapping[str, Statistic]] = field(repr=False)
    sampling: Design = field(repr=False)
    tasks: Mapping[str, Task] = field(repr=False)
    measures: Mapping[str, Scorer] = field(repr=False)
    trained: Mapping[str, Models] = field(repr=False)

    def _metric(self, metric: str | None) -> str:
        name = next(iter(self.metrics)) if metric is None else metric
        if name not in self.metrics:
            raise StratError.about(
                "metric", f"must be one that was measured, got {name!r}; {near(str(name), list(self.metrics))}"
            )
        return name

    def _place(self, argument: str, model: str) -> int:
        if model not in self.models:
            raise StratError.about(
                argument, f"must be one of the models, got {model!r}; {near(str(model), self.models)}"
            )
        return self.models.index(model)

    @checked
    def mean(self, model: str, metric: str | None = None) -> float:
        """The measure of a model, averaged over splits."""
        return float(np.nanmean(self.scores[self._metric(metric)][:, self._place("model", model)]))

    @checked
    def pair(self, a: str, b: str, metric: str | None = None) -> ModelPair:
        """Two models by one measure (the first one by default): all tests of a − b, and the recommended one."""
        metric = self._metric(metric)
        i, j = self._place("a", a), self._place("b", b)
        if i == j:
            raise StratError.about("b", f"must be another model than `a`, got {b!r} twice.")
        values = self.scores[metric][:, [i, j]]
        values = values[np.isfinite(values).all(axis=1)]
        corrected, notes = self._corrected(values)
        posterior = None
        if corrected is not None:
            posterior = comparison.bayesian_correlated_t(*values.T, ratio=self.ratio, rope=self.rope)
        recommended, reason = _recommended(corrected, len(values))
        if len(values) < len(self.scores[metric]):
            without = len(self.scores[metric]) - len(values)
            notes.append(Note("undefined-splits", {"splits": without, "measure": metric}))
        paired = self._paired(metric, i, j)
        return ModelPair(a, b, metric, corrected, paired, self._halves(metric, i, j), posterior, recommended, reason,
                         tuple(notes), self.level)  # fmt: skip

    def _corrected(self, values: Array) -> tuple[PairedT | None, list[Note]]:
        if len(values) < 2:
            return None, []
        d = values[:, 0] - values[:, 1]
        if d.std() <= 1e-14 * np.abs(d).max():
            return None, [Note("no-variation", {"case": "splits", "difference": float(d[0])})]
        return comparison.corrected_t(*values.T, ratio=self.ratio), []

    def _paired(self, metric: str, i: int, j: int) -> Comparison:
        one = comparison.paired(
            *(self.statistics[metric][self.models[k]] for k in (i, j)),
            on=self.sampling,
            higher_is_better=self.metrics[metric],
            names=(self.models[i], self.models[j]),
        )
        inflation = self.trained[self.models[i]].inflation_against(self.trained[self.models[j]])
        rows = one.discordance
        if rows is not None:
            size = None if rows.size is None else rows.size / inflation
            rows = replace(rows, most=rows.most / inflation, size=size)
        return replace(one, difference=for_models(one.difference, inflation), discordance=rows)

    def _halves(self, metric: str, i: int, j: int) -> TestResult | None:
        values = self.halves.get(metric)
        if values is None:
            return None
        a, b = values[..., i], values[..., j]
        d = a - b
        still = ((d - d.mean(axis=1, keepdims=True)) ** 2).sum() == 0.0
        return None if still or not np.isfinite(d).all() else comparison.five_by_two_f(a, b)

    @checked
    def best(self, metric: str | None = None) -> str:
        """The model with the best mean over splits."""
        metric = self._metric(metric)
        means = np.nanmean(self.scores[metric], axis=0)
        return self.models[int(np.argmax(means if self.metrics[metric] else -means))]

    @checked
    def refit(self, model: str | None = None) -> Any:
        """A model (the best by the first measure unless named), trained on every row."""
        name = self.best() if model is None else self.models[self._place("model", model)]
        job = self.tasks[name]
        return fit(seeded(job, 1)[0], job.X, job.y, job.unit)

    @checked
    def pvalues(self, metric: str | None = None, *, adjust: str = "holm") -> dict[tuple[str, str], float]:
        """P-value of each pair by its recommended test, adjusted for their number."""
        pairs = list(combinations(self.models, 2))
        raw = [self.pair(a, b, metric).pvalue for a, b in pairs]
        adjusted = comparison.adjust(raw, adjust, systems=len(self.models))
        return dict(zip(pairs, adjusted.tolist(), strict=True))

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns: a line for each measure and pair of models."""
        lines = []
        for metric in self.metrics:
            adjusted = self.pvalues(metric)
            for a, b in combinations(self.models, 2):
                lines.append(self._line(self.pair(a, b, metric), adjusted[a, b]))
        return {name: [line[name] for line in lines] for name in lines[0]}

    def _line(self, pair: ModelPair, adjusted: float) -> dict[str, Any]:
        low, high = pair.interval()
        chances = (None, None, None) if pair.posterior is None else pair.posterior.probabilities
        return {
            "measure": pair.metric, "a": pair.a, "b": pair.b, "value a": self.mean(pair.a, pair.metric),
            "value b": self.mean(pair.b, pair.metric), "a − b": pair.difference, "low": low, "high": high,
            "p": pair.pvalue, "Holm p": adjusted, "by": pair.recommended,
            "p corrected": None if pair.corrected is None else pair.corrected.pvalue, "p by units": pair.paired.pvalue,
            "p 5×2cv": None if pair.halves is None else pair.halves.pvalue,
            "P(lower)": chances[0], "P(equivalent)": chances[1], "P(higher)": chances[2],
        }  # fmt: skip

    def sheet(self) -> Sheet:
        """The table with title and notes."""
        columns = self.to_dict()
        shown = [name for name in columns if any(value is not None for value in columns[name])]
        rows = list(zip(*(columns[name] for name in shown), strict=True))
        return Sheet(SCHEMA, shown, rows, title=self._title, notes=self._lines(), data=self._data(columns))

    @property
    def _title(self) -> str:
        return f"{len(self.models)} models, {self.protocol}; practical equivalence is asked for up to {self.rope:g}"

    def _lines(self) -> list[str]:
        """What to say below the table."""
        first = self.pair(*self.models[:2])
        costs = [
            f"{name}: {one.fit.mean():.3g} s a training, {one.predict.mean():.3g} s a test"
            + (f", {self.memory[name].model:,.0f} bytes" if np.isfinite(self.memory[name].model) else "")
            for name, one in self.times.items()
        ]
        lines = [
            f"{metric}, {' − '.join(group)}: {one.sentence}"
            for metric, every in self.sources.items()
            for group, one in every.items()
        ]
        return [f"recommended: {first.recommended}: {first.reason}", *costs, *lines,
                *(f"note: {note}" for note in self.all_notes())]  # fmt: skip

    def all_notes(self) -> list[str]:
        """Notes on the comparison, and on each of its pairs."""
        pairs = (self.pair(a, b, metric) for metric in self.metrics for a, b in combinations(self.models, 2))
        of_pairs = [note.of(metric=one.metric, pair=f"{one.a} − {one.b}") for one in pairs for note in one.notes]
        return [*self.notes, *merged(of_pairs)]

    def _data(self, columns: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
        rows = [dict(zip(columns, line, strict=True)) for line in zip(*columns.values(), strict=True)]
        rows = [{**row, "measure": spelled(row["measure"]), "asked": row["measure"]} for row in rows]
        sources = {
            m: {" − ".join(g): plain_value(one) for g, one in every.items()} for m, every in self.sources.items()
        }
        return {
            "models": list(self.models), "protocol": self.protocol, "level": self.level, "rope": self.rope,
            "ratio": self.ratio, "pairs": rows, "scores": {m: v.tolist() for m, v in self.scores.items()},
            "seconds": {name: one.total for name, one in self.times.items()},
            "bytes": {name: one.model for name, one in self.memory.items()}, "sources": sources,
            "notes": records(self.all_notes()),
        }  # fmt: skip

    def plot(self, ax: Any = None, *, metric: str | None = None) -> Any:
        """The measure of each model with its interval on all test rows, and its values in the splits as dots."""
        metric, axes = self._metric(metric), new_axes(ax)
        for place, name in enumerate(self.models):
            one = self.trained[name].estimate(self.measures[metric])
            low, high = one.interval(self.level)
            values = self.scores[metric][:, place]
            axes.plot(values, np.full(len(values), place), "o", color=ORANGE, ms=4, alpha=0.6)
            axes.plot([low, high], [place, place], color=BLUE, lw=2)
            axes.plot(float(one.value), place, "o", color=BLUE)
        axes.set_yticks(range(len(self.models)), [drawable(name) for name in self.models])
        axes.invert_yaxis()
        axes.set(xlabel=f"{metric}, {100 * self.level:g} % interval; splits as small dots", title=self.protocol)
        return axes


def _recommended(corrected: PairedT | None, splits: int) -> tuple[str, str]:
    """Which answer to report, and why."""
    if corrected is None or splits < ENOUGH_SPLITS:
        return BY_UNITS, f"{splits} splits are too few to see what other training sets would change"
    return CORRECTED, (
        f"it asks about models trained on other rows, and {splits} splits show how far these move the difference; the "
        f"{BY_UNITS} counts the rows, and is short where models change much with their training rows"
    )

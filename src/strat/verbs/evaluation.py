"""`Evaluation`: the measures of one system with intervals, the target of inference, and notes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from strat.base.errors import StratError, near, one_of
from strat.base.notes import Note, records
from strat.base.validate.arguments import checked, shown
from strat.base.validate.columns import Array
from strat.data.column import dropped_note
from strat.estimation import Estimate
from strat.measures.register import spelled
from strat.show import render
from strat.show.render import Sheet, jsonable
from strat.show.sheet_result import ByName, SheetResult
from strat.verbs.fairness import EqualizedOdds, equalized_odds, has_both_rates
from strat.verbs.group_lines import ManyEstimates, lines_of_estimate, lines_with_class, naive_interval, records_of
from strat.verbs.groups import Groups
from strat.verbs.pictures import ScoredRows, of_evaluation

SCHEMA = "strat/evaluate/4"
NAIVE = "Naive: the limits that independent rows would have given."


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(ByName[str, Estimate], SheetResult):
    """What :func:`evaluate` found.

    Attributes
    ----------
    estimates
        From the measure's name to its estimate.
    level
        Confidence level of the tables.
    rows
        Number of rows that were used.
    dropped
        Number of rows left out because a value was missing.
    marks
        From a text such as "NA" to the number of values that were missing because they are it.
    design
        The design in one line.
    target
        The target of inference: what is fixed and what was sampled.
    method
        How variances were found.
    notes
        Notes on what to keep in mind with the numbers.
    strata
        The first measure in each stratum, if there are strata and no groups were asked for.
    by, groups
        The columns that make groups, and from the measure's name to its values in these.
    labels, confusion
        The classes, and the weighted confusion matrix (truth × predicted), if there are few.
    library
        The data frame library that the rows came in.
    source, roles, threshold
        What was read, which column played which role, and the score from which on rows were called positive.
    scored
        Rows with truth and score, for the curves of `plot`; None where there are none, or where they stayed in a file.
    """

    estimates: Mapping[str, Estimate]
    level: float
    rows: int
    dropped: int
    design: str
    target: str
    method: str
    notes: tuple[Note, ...] = ()
    strata: Mapping[Any, Estimate] = field(default_factory=dict)
    by: tuple[str, ...] = ()
    groups: Mapping[str, Groups] = field(default_factory=dict)
    labels: NDArray[Any] | None = None
    confusion: Array | None = None
    library: str | None = None
    marks: Mapping[str, int] = field(default_factory=dict)
    source: str = ""
    roles: Mapping[str, str] = field(default_factory=dict)
    threshold: float | None = None
    scored: ScoredRows | None = field(default=None, repr=False)

    @classmethod
    def of(
        cls, estimates: Mapping[str, Estimate], *, level: float, rows: int, dropped: int = 0, **facts: Any
    ) -> Evaluation:
        """The evaluation of estimates under one design; `facts` are other fields, or those that differ."""
        first = next(iter(estimates.values()))
        fields = {"design": str(first.design), "target": first.design.target, "method": str(first.method), **facts}
        return cls(estimates, level, rows, dropped, **fields)

    def named(self) -> Mapping[str, Estimate]:
        """From the measure's name to its estimate."""
        return self.estimates

    def __getitem__(self, name: str) -> Estimate:
        """The estimate of a measure."""
        if not isinstance(name, str) or name not in self.estimates:
            hint = near(str(name), list(self.estimates))
            raise StratError.about("name", f"must be a measure that was asked for, got {shown(name)}; {hint}")
        return self.estimates[name]

    @checked
    def interval(self, name: str) -> tuple[Any, Any]:
        """Confidence limits of a measure at this evaluation's level."""
        return self[name].interval(self.level)

    @checked
    def equalized_odds(self, level: float | None = None) -> EqualizedOdds:
        """The larger gap between groups, and the smaller ratio, of recall and of the false positive rate.

        Both must be among the metrics; values are fairlearn's, limits hold over all groups and both rates at once.
        """
        return equalized_odds(self.groups, self.level if level is None else level)

    @checked
    def naive(self, name: str) -> tuple[Any, Any]:
        """The limits that rows taken as independent would have given."""
        return naive_interval(self[name], self.level)

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns: one line for each measure, each class of a measure by class, and each group."""
        return self._columns(lines_of_estimate)

    def _columns(
        self, numbers: Callable[[Estimate, float], dict[str, list[Any]]], most: int | None = None
    ) -> dict[str, list[Any]]:
        """The same, with these numbers of each estimate; `most` lines of them."""
        lines = list(islice(self._lines(numbers), most))
        names = dict.fromkeys(name for line in lines for name in line)
        return {name: [line.get(name) for line in lines] for name in _order(names, self.by)}

    def _lines(self, numbers: Callable[[Estimate, float], dict[str, list[Any]]]) -> Iterator[dict[str, Any]]:
        """The numbers of the measures in all rows, then in each group."""
        everywhere = dict.fromkeys(self.by)
        for name, line in records_of(self.estimates, self.level, numbers):
            yield {**everywhere, "measure": name, **({"rows": self.rows} if self.by else {}), **line}
        for name, groups in self.groups.items():
            for label, line in records_of(groups.each, self.level, numbers):
                labels = label if len(self.by) > 1 else (label,)
                yield {**dict(zip(self.by, labels, strict=True)), "measure": name, "rows": groups.rows[label], **line}

    @checked
    def sheet(self, *, naive: bool = True) -> Sheet:
        """The table of measures with all numbers for JSON; `naive` adds what independent rows would have given."""
        return replace(self.table(naive=naive), data=self.data())

    def table(self, max_rows: int | None = None, *, naive: bool = True) -> Sheet:
        """The table of measures with title and notes, to look at."""
        left_out = () if naive and not self.by else ("naive_low", "naive_high")
        columns = self._columns(lines_with_class if left_out else lines_of_estimate, max_rows)
        percent = f"{100 * self.level:g} %"
        columns["df"] = [int(df) if df.is_integer() else f"{df:.1f}" for df in columns["df"]]
        columns["deff"] = [None if deff is None else f"{deff:.3g}" for deff in columns["deff"]]
        for name in self.by:
            columns[name] = ["all" if label is None else label for label in columns[name]]
        positive = columns.pop("positive")
        if any(label is not None for label in positive):
            columns["positive class"] = [None if label is None else str(label) for label in positive]
        limits = {
            "low": f"{percent} low",
            "high": f"{percent} high",
            "naive_low": "naive low",
            "naive_high": "naive high",
        }
        kept = {limits.get(name, name): values for name, values in columns.items() if name not in left_out}
        rows = list(zip(*kept.values(), strict=True))
        notes = tuple(line for line in self._below() if not left_out or line != NAIVE)
        more = 0 if max_rows is None or len(rows) < max_rows else self._number_of_lines - len(rows)
        return Sheet(SCHEMA, list(kept), rows, title=self.design, notes=notes, left_out=more)

    @property
    def _number_of_lines(self) -> int:
        every = (self.estimates, *(groups.each for groups in self.groups.values()))
        return sum(
            len(each) if isinstance(each, ManyEstimates) else sum(one.point.size for one in each.values())
            for each in every
        )

    def _below(self) -> tuple[str, ...]:
        """The sentences below the table."""
        lines = [f"Inference is for {self.target}.", f"Variance: {self.method}.", NAIVE]
        if self.estimates:
            facts = next(iter(self.estimates.values())).design
            used = (df for one in self.estimates.values() for df in np.ravel(one.df).tolist())
            lines += filter(None, [facts.about_df(used)])
        if self.threshold is not None:
            lines.append(f"Predicted positive: {self.roles.get('score')} of at least {self.threshold:g}.")
        if self.dropped:
            lines.append(dropped_note(self.dropped, self.marks))
        odds = str(self.equalized_odds()).splitlines() if has_both_rates(self.groups) else []
        return (*lines, *(line for groups in self.groups.values() for line in groups.sentences(self.level)), *odds,
                *(f"note: {note}" for note in self.notes))  # fmt: skip

    def data(self) -> dict[str, Any]:
        """Everything as plain values, for JSON."""
        lines = [
            {**line, "measure": spelled(line["measure"]), "asked": line["measure"]} for line in _records(self.to_dict())
        ]
        whole = [line for line in lines if all(line[name] is None for name in self.by)]
        data: dict[str, Any] = {
            "roles": dict(self.roles),
            "threshold": self.threshold,
            "level": self.level,
            "rows": self.rows,
            "dropped": self.dropped,
            "marks": dict(self.marks),
            "design": self.design,
            "target": self.target,
            "method": self.method,
            "measures": [_without(line, self.by) for line in whole],
            "strata": [
                {"stratum": label, **_without(line, ("positive",))}
                for label, line in records_of(self.strata, self.level)
            ],
            "notes": records(self.notes),
            **(self._data_of_groups(lines) if self.by else {}),
        }
        if self.confusion is not None and self.labels is not None:
            data["confusion"] = {"labels": self.labels, "truth_by_predicted": self.confusion}
        plain: dict[str, Any] = jsonable(data)
        return plain

    def _data_of_groups(self, lines: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """The lines that are of groups, and what is known between these."""
        data = {
            "by": list(self.by),
            "groups": [line for line in lines if any(line[name] is not None for name in self.by)],
            "between_groups": [groups.data(self.level) for groups in self.groups.values()],
        }
        return data | {"equalized_odds": self.equalized_odds().to_dict()} if has_both_rates(self.groups) else data

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            """The error for a name that it does not have, such as the earlier one of `notes`."""
            hint = "; type evaluation.notes" if name == "warnings" else ""
            raise AttributeError(f"'Evaluation' object has no attribute {name!r}{hint}", name=name, obj=self)

    @checked
    def paper(
        self,
        form: str = "markdown",
        *,
        digits: int = 2,
        names: Mapping[str, str] | None = None,
        percent: bool = False,
    ) -> str:
        """A table for a paper, "0.78 (0.71, 0.83)": a row per measure, or per group with a column per measure.

        Parameters
        ----------
        form
            "markdown", "latex" or "text".
        digits
            Decimals of the values and limits.
        names
            From the name of a measure or column to what the table calls it.
        percent
            Whether to show values times 100.
        """
        one_of("form", form, tuple(render.FORMS))
        called = dict(names or {})
        columns = self.to_dict()
        scale = 100.0 if percent else 1.0
        cells: dict[tuple[Any, ...], dict[str, str]] = {}
        for line in _records(columns):
            head = tuple("all" if line[name] is None else str(line[name]) for name in self.by)
            measure = called.get(line["measure"], line["measure"])
            if line.get("class") is not None:
                measure = f"{measure}, {line['class']}"
            cells.setdefault(head, {})[measure] = _with_limits(line, digits, scale)
        heading = f"estimate ({100 * self.level:g} % interval)"
        if self.by:
            measures = list(dict.fromkeys(name for row in cells.values() for name in row))
            rows = [[*head, *(row.get(name, "–") for name in measures)] for head, row in cells.items()]
            sheet = Sheet(SCHEMA, [*(called.get(name, name) for name in self.by), *measures], rows)
        else:
            ((_, only),) = cells.items()
            sheet = Sheet(
                SCHEMA, [called.get("measure", "measure"), called.get("estimate", heading)], list(only.items())
            )
        return render.FORMS[form](sheet)

    @checked
    def to_markdown(self, *, naive: bool = False) -> str:
        """A Markdown table."""
        return render.markdown_text(self.table(naive=naive))

    @checked
    def to_latex(self, *, naive: bool = False) -> str:
        """A LaTeX table (booktabs)."""
        return render.latex_text(self.table(naive=naive))

    def log_to_mlflow(self) -> None:
        """Log each measure, its standard error and limits to the active MLflow run."""
        render.log_to_mlflow(self.to_dict(), self.data())

    @checked
    def plot(self, kind: str | None = None, *, ax: Any = None) -> Any:
        """Measures (or groups) with intervals; `kind` "roc", "calibration", "det" or "pr" for a curve of the scores."""
        return of_evaluation(self, kind, ax=ax)


_ORDER = (
    "measure",
    "class",
    "rows",
    "estimate",
    "se",
    "low",
    "high",
    "df",
    "deff",
    "naive_low",
    "naive_high",
    "positive",
)


def _order(columns: Mapping[str, Any], by: tuple[str, ...]) -> list[str]:
    known = [name for name in (*by, *_ORDER) if name in columns]
    return [*known, *(name for name in columns if name not in known)]


def _records(columns: Mapping[str, list[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _without(line: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: value for name, value in line.items() if name not in names}


def _with_limits(line: Mapping[str, Any], digits: int, scale: float) -> str:
    value, low, high = (line[name] for name in ("estimate", "low", "high"))
    if low is None:
        return f"{scale * value:.{digits}f}"
    return f"{scale * value:.{digits}f} ({scale * low:.{digits}f}, {scale * high:.{digits}f})"

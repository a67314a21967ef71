"""`Evaluation`: the measures of one system with intervals, what they answer for, and what a person should know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.columns import Array
from strat.doors import checked, shown
from strat.errors import StratError, near
from strat.estimation import Estimate
from strat.tables import out
from strat.tables.out import Sheet, jsonable
from strat.words import counted

SCHEMA = "strat/evaluate/1"
_COLUMNS = ("measure", "estimate", "se", "low", "high", "df", "deff", "naive low", "naive high")


@dataclass(frozen=True, eq=False)
class Evaluation:
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
    design
        The design in one line.
    target
        What the estimates answer for: what is fixed and what was sampled.
    method
        How variances were found.
    warnings
        What a careful person would want to know.
    strata
        The first measure in each stratum, if there are strata.
    labels, confusion
        The classes, and the weighted confusion matrix (truth × predicted), if there are few.
    library
        The data frame library that the rows came in.
    """

    estimates: Mapping[str, Estimate]
    level: float
    rows: int
    dropped: int
    design: str
    target: str
    method: str
    warnings: tuple[str, ...] = ()
    strata: Mapping[Any, Estimate] = field(default_factory=dict)
    labels: NDArray[Any] | None = None
    confusion: Array | None = None
    library: str | None = None

    def __getitem__(self, name: str) -> Estimate:
        """The estimate of a measure."""
        if not isinstance(name, str) or name not in self.estimates:
            hint = near(str(name), list(self.estimates))
            raise StratError(f"`name` must be a measure that was asked for, got {shown(name)}; {hint}")
        return self.estimates[name]

    @checked
    def interval(self, name: str) -> tuple[float, float]:
        """Confidence limits of a measure at this evaluation's level."""
        low, high = self[name].interval(self.level)
        return float(low), float(high)

    @checked
    def naive(self, name: str) -> tuple[float, float]:
        """The limits that rows taken as independent would have given."""
        made = self[name]
        variance = None if made.srs is None else np.asarray(_srs(made))
        if variance is None or not np.isfinite(variance).all():
            return float("nan"), float("nan")
        low, high = replace(made, variance=variance, df=max(made.rows - 1, 1)).interval(self.level)
        return float(low), float(high)

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns: one line for each measure."""
        columns: dict[str, list[Any]] = {name: [] for name in _COLUMNS}
        for name, made in self.estimates.items():
            low, high = self.interval(name)
            bottom, top = self.naive(name)
            deff = made.deff
            row = (name, float(made.value), float(made.se), low, high, float(made.df))
            for column, value in zip(_COLUMNS, (*row, None if deff is None else float(deff), bottom, top), strict=True):
                columns[column].append(value)
        return columns

    @checked
    def to_frame(self, library: str | None = None) -> Any:
        """The table of measures as a frame of `library`: by default the one that the rows came in."""
        if library is None and self.library in out.LIBRARIES:
            library = self.library
        return out.frame_of(self.to_dict(), library)

    def sheet(self) -> Sheet:
        """The table of measures with title and notes."""
        columns = self.to_dict()
        percent = f"{100 * self.level:g} %"
        names = ["measure", "estimate", "se", f"{percent} low", f"{percent} high", "df", "deff"]
        columns["df"] = [int(df) if df.is_integer() else df for df in columns["df"]]
        columns["deff"] = [None if deff is None else f"{deff:.3g}" for deff in columns["deff"]]
        rows = list(zip(*columns.values(), strict=True))
        return Sheet(
            SCHEMA,
            [*names, "naive low", "naive high"],
            rows,
            title=f"{self.design}",
            notes=self.notes,
            data=self.data(),
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """The sentences below the table."""
        said = [f"answers for {self.target}", f"variance: {self.method}; naive: if rows were independent"]
        if self.dropped:
            said.append(f"{counted(self.dropped, 'row')} with missing values dropped")
        return (*said, *(f"note: {warning}" for warning in self.warnings))

    def data(self) -> dict[str, Any]:
        """Everything as plain values, for JSON."""
        measures = [dict(zip(_names(), row, strict=True)) for row in zip(*self.to_dict().values(), strict=True)]
        strata = [
            {"stratum": label, "estimate": float(e.value), "se": float(e.se), **_limits(e, self.level)}
            for label, e in self.strata.items()
        ]
        made: dict[str, Any] = {
            "level": self.level,
            "rows": self.rows,
            "dropped": self.dropped,
            "design": self.design,
            "target": self.target,
            "method": self.method,
            "measures": measures,
            "strata": strata,
            "warnings": list(self.warnings),
        }
        if self.confusion is not None and self.labels is not None:
            made["confusion"] = {"labels": self.labels, "truth_by_predicted": self.confusion}
        plain: dict[str, Any] = jsonable(made)
        return plain

    def to_json(self) -> str:
        """JSON with the schema "strat/evaluate/1"."""
        return out.json_text(self.sheet())

    def to_markdown(self) -> str:
        """A Markdown table."""
        return out.markdown_text(self.sheet())

    def to_latex(self) -> str:
        """A LaTeX table (booktabs)."""
        return out.latex_text(self.sheet())

    def to_csv(self) -> str:
        """Comma-separated values, every digit."""
        return out.csv_text(self.sheet())

    def __str__(self) -> str:
        """The table as text."""
        return out.plain_text(self.sheet())

    def _repr_html_(self) -> str:
        """A table for notebooks, escaped."""
        return out.html_text(self.sheet())

    def log_to_mlflow(self) -> None:
        """Log each measure, its standard error and limits to the active MLflow run."""
        out.log_to_mlflow(self.to_dict(), self.data())

    @checked
    def report(self, path: str | Path) -> Path:
        """Write one self-contained HTML file."""
        return out.report(self, path)


def _names() -> list[str]:
    return [name.replace(" ", "_") for name in _COLUMNS]


def _limits(made: Estimate, level: float) -> dict[str, float | None]:
    try:
        low, high = made.interval(level)
    except StratError:  # a stratum of one unit has no interval of its own
        return {"low": None, "high": None}
    return {"low": float(low), "high": float(high)}


def _srs(made: Estimate) -> Any:
    srs: Any = made.srs
    return srs() if callable(srs) else srs

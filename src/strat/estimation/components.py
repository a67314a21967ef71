"""How much of a variance comes from each crossed factor, and what more levels of it would bring."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from strat.base import validate
from strat.base.errors import StratError, near, some
from strat.base.result import Result
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array
from strat.designs import Design
from strat.designs.crossed import Crossing
from strat.designs.layout import satterthwaite
from strat.estimation.frames import frame
from strat.estimation.inference import RowSums
from strat.estimation.totals import totals
from strat.measures.base import Statistic
from strat.measures.student import critical


@dataclass(frozen=True, eq=False, repr=False)
class VarianceComponents(Result):
    """What each factor, and each combination of factors, adds to the variance of a value.

    Attributes
    ----------
    name
        What was measured.
    variances
        From the factor or the combination ("reader × case") to the part of the variance that it makes.
    levels
        From the factor to the number of its levels.
    within
        From each of these to the factors whose levels it lies within: more levels of them make it smaller.
    coefficients, mean_squares, df
        How each part follows from mean squares (a row for each part), these, and their degrees of freedom.
    """

    name: str
    variances: dict[str, float]
    levels: dict[str, int]
    within: dict[str, tuple[str, ...]]
    coefficients: Array
    mean_squares: Array
    df: Array

    @property
    def se(self) -> float:
        """Standard error of the value."""
        return float(np.sqrt(sum(self.variances.values())))

    @property
    def shares(self) -> dict[str, float]:
        """Parts of the variance, all together 1."""
        total = sum(self.variances.values())
        return {name: v / total if total > 0 else 0.0 for name, v in self.variances.items()}

    @checked
    def intervals(self, level: float = 0.95) -> dict[str, tuple[float, float]]:
        """From each part to the interval of its variance, never below zero.

        Modified large-sample limits (Graybill and Wang 1980) of the sums and differences of mean squares: exact for
        one mean square of normal values. With few levels the upper limits are far away, and that is the finding.
        """
        tail = (1 - validate.level(level)) / 2
        up = self.df / scipy.special.chdtri(self.df, 1 - tail) - 1  # how far a mean square can lie below the truth
        down = 1 - self.df / scipy.special.chdtri(self.df, tail)
        limits = {}
        for (name, value), row in zip(self.variances.items(), self.coefficients, strict=True):
            terms = row * self.mean_squares
            low = value - np.sqrt((np.where(terms > 0, down, up) ** 2 * terms**2).sum())
            high = value + np.sqrt((np.where(terms > 0, up, down) ** 2 * terms**2).sum())
            limits[name] = (max(float(low), 0.0), float(high))
        return limits

    def se_with(self, **levels: float) -> float:
        """The standard error that other numbers of levels would have, the others staying as they are."""
        numbers = self._numbers(levels)
        return float(np.sqrt(sum(v * self._factor(name, numbers) for name, v in self.variances.items())))

    def df_with(self, **levels: float) -> float:
        """The degrees of freedom (Satterthwaite's) that other numbers of levels would have."""
        numbers = self._numbers(levels)
        smaller = np.array([self._factor(name, numbers) for name in self.variances])
        finer = np.linalg.inv(self.coefficients)  # which parts each mean square holds
        terms = np.linalg.solve(finer.T, np.ones(len(finer))) * (finer @ (smaller * list(self.variances.values())))
        spread = float((terms**2 / (self.df / smaller)).sum())
        return float(satterthwaite(float(terms.sum()), spread, float(min(self.df))))

    def interval_width(self, level: float = 0.95, **levels: float) -> float:
        """The width of value ± t · se that other numbers of levels would have, the others staying as they are."""
        return 2.0 * float(critical(level, self.df_with(**levels))) * self.se_with(**levels)

    def _numbers(self, levels: dict[str, float]) -> dict[str, float]:
        unknown = [name for name in levels if name not in self.levels]
        if unknown:
            raise StratError.about(
                "levels", f"must name factors, got {unknown[0]!r}; {near(unknown[0], list(self.levels))}"
            )
        numbers = {name: validate.number("levels", number) for name, number in levels.items()}
        bad = {name: number for name, number in numbers.items() if not number >= 1}
        if bad:
            raise StratError.about(
                "levels", f"must be at least 1, got {some(list(bad.values()))} for {some(list(bad))}."
            )
        return numbers

    def _factor(self, part: str, levels: dict[str, float]) -> float:
        return float(np.prod([self.levels[f] / levels[f] for f in self.within[part] if f in levels]))

    @property
    def enlarge(self) -> str:
        """The factor of which twice as many levels lower the standard error most."""
        return min(self.levels, key=lambda name: self.se_with(**{name: 2 * self.levels[name]}))

    def to_dict(self) -> dict[str, Any]:
        """The numbers for JSON."""
        return {
            "schema": "strat/variance_components/1",
            "name": self.name,
            "se": self.se,
            "variances": self.variances,
            "shares": self.shares,
            "intervals": {name: list(limits) for name, limits in self.intervals().items()},
            "levels": self.levels,
            "enlarge": self.enlarge,
        }

    def to_frame(self, library: str | None = None) -> Any:
        """A row for each factor and combination."""
        names, limits = list(self.variances), self.intervals()
        return frame(
            {
                "factor": names,
                "variance": [self.variances[name] for name in names],
                "share": [self.shares[name] for name in names],
                "low": [limits[name][0] for name in names],
                "high": [limits[name][1] for name in names],
                "levels": [self.levels.get(name) for name in names],
                "se_if_doubled": [
                    self.se_with(**{name: 2 * self.levels[name]}) if name in self.levels else None for name in names
                ],
            },
            library,
        )

    def __str__(self) -> str:
        """The shares as a sentence, and what to enlarge."""
        shares = ", ".join(f"{name} {share:.0%}" for name, share in self.shares.items())
        best = self.enlarge
        doubled = self.se_with(**{best: 2 * self.levels[best]})
        return (
            f"{self.name}, se {self.se:.4g}: {shares} of the variance; enlarge {best!r}: twice its "
            f"{self.levels[best]:,} levels would bring the se to {doubled:.4g}"
        )


@checked
def variance_components(statistic: Statistic, *, on: Design) -> VarianceComponents:
    """How much of the variance of one value comes from each factor of a crossed design.

    Examples
    --------
    Readers agree here, and cases don't: all that varies is the case.

    >>> from strat.designs import Design
    >>> from strat.measures import mean
    >>> design = Design.crossed({"reader": [1, 1, 1, 2, 2, 2], "case": [1, 2, 3, 1, 2, 3]})
    >>> parts = variance_components(mean([1.0, 2.0, 6.0, 1.0, 2.0, 6.0]), on=design)
    >>> parts.enlarge, {name: round(share, 6) for name, share in parts.shares.items()}
    ('case', {'reader': 0.0, 'case': 1.0, 'reader × case': 0.0})
    >>> round(parts.se_with(case=12) / parts.se, 4)
    0.5
    """
    if not isinstance(on.layout, Crossing):
        raise StratError.about("on", f"must be a crossed design (Design.crossed), got a {on.kind} one.")
    if statistic.of_weights or len(statistic) != len(on) or statistic.shape not in ((), (1,)):
        raise StratError.about(
            "statistic",
            f"must be one value of the {len(on)} rows of the design, got {statistic.name!r} of shape "
            f"{statistic.shape} and {len(statistic)} rows.",
        )
    layout = on.layout
    influence = RowSums(statistic, on, totals(statistic, on.weights)).influence
    fit = layout.fit(influence, on.line_weights)
    labels = [layout.label(part) for part in layout.partitions]
    return VarianceComponents(
        statistic.name,
        dict(zip(labels, fit.variances[:, 0].tolist(), strict=True)),
        dict(zip(layout.names, layout.sizes, strict=True)),
        {
            label: tuple(name for k, name in enumerate(layout.names) if layout.nests(part, k))
            for label, part in zip(labels, layout.partitions, strict=True)
        },
        *layout.mean_squares(fit),
    )

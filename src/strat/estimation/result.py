"""The answer: a value with its replicate values or influences, and every question that can be asked of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from strat.base import validate
from strat.base.errors import StratError, one_of
from strat.base.notes import Note
from strat.base.result import Result
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, values
from strat.designs import DesignFacts, Plan
from strat.estimation import intervals, inversion, words
from strat.estimation.facts import Inference, MeasureFacts
from strat.estimation.functions import Contrast
from strat.estimation.hypothesis_tests import ALTERNATIVES
from strat.estimation.limits import limits
from strat.estimation.mapping import HAIR, mapped
from strat.estimation.spread import ReplicateDeviations
from strat.estimation.value_tests import Test, Value
from strat.measures.base import Axis
from strat.replication import Method


@dataclass(frozen=True, eq=False, repr=False)
class Estimate(Result):
    """A value with its standard error, and how both were computed.

    Attributes
    ----------
    name
        What was estimated.
    point
        The value, as an array.
    variance
        Squared standard error.
    df
        Degrees of freedom of each value (one number may be given for all).
    design
        How the rows were drawn.
    method
        How the variance was found.
    axes
        One named axis for each dimension of the value; none for a single number.
    measure
        How the values behave: their range, their scale, the class that they look at.
    notes
        What to be careful about.
    inference
        What covariances and limits are computed from.
    """

    name: str
    point: Array
    variance: Array
    df: Value
    design: DesignFacts
    method: Method
    axes: tuple[Axis, ...] = ()
    measure: MeasureFacts = field(default_factory=MeasureFacts)
    notes: tuple[Note, ...] = ()
    inference: Inference = field(default_factory=Inference, repr=False)

    def __post_init__(self) -> None:
        """Give each value its degrees of freedom."""
        each = np.broadcast_to(np.asarray(self.df, float), self.point.shape)
        object.__setattr__(self, "df", _plain(each))

    # ---- facts

    @property
    def link(self) -> str:
        """The scale on which the sampling distribution is nearest to normal."""
        return self.measure.link

    @property
    def bounds(self) -> tuple[float, float]:
        """The range that the values can't leave."""
        return self.measure.bounds

    @property
    def proportion(self) -> bool:
        """Whether the values are weighted shares of rows."""
        return self.measure.proportion

    @property
    def positive(self) -> Any:
        """The class that the measure looks at (None: it looks at all of them)."""
        return self.measure.positive

    @property
    def curve(self) -> str | None:
        """The picture that the values are the points of (None: no picture of its own)."""
        return self.measure.curve

    @property
    def rows(self) -> float:
        """Number of rows that the measure looks at."""
        return self.inference.rows

    @property
    def effective_units(self) -> Array | float:
        """Number of equal units that an exact limit counts on, of each value."""
        return self.inference.effective_units

    @property
    def target(self) -> str:
        """The target of inference, in words."""
        return self.design.target

    @property
    def plan(self) -> Plan | None:
        """The plan of the evaluation, if one was made."""
        return self.design.plan

    @property
    def replicated(self) -> bool:
        """Whether the statistic was evaluated on replicates (then `map` is, too)."""
        return self.method.replicated

    @property
    def design_text(self) -> str:
        """The design in one line, and the replicates that were made of it."""
        return "; ".join(part for part in (str(self.design), self.method.replicates) if part)

    def changed(self, **changes: Any) -> Estimate:
        """The same estimate with other fields, its own or those of `measure` and `inference`."""
        own = {f.name for f in fields(Estimate)}
        if {"point", "variance"} & set(changes):  # what stands behind other numbers
            changes = {"shares": None, "holders": None, "sum_of": None, **changes}
        measure = {f.name for f in fields(MeasureFacts)} & set(changes)
        inference = {f.name for f in fields(Inference)} & set(changes)
        parts = {
            "measure": replace(self.measure, **{name: changes[name] for name in measure}),
            "inference": replace(self.inference, **{name: changes[name] for name in inference}),
        }
        rest = {name: value for name, value in changes.items() if name not in measure | inference}
        if unknown := sorted(set(rest) - own):
            raise TypeError(f"an estimate has no field {unknown[0]!r}")
        return replace(self, **{**parts, **rest})

    # ---- numbers

    @property
    def value(self) -> Value:
        """The estimate: a number, or an array with the statistic's axes."""
        return _plain(self.point)

    @property
    def se(self) -> Value:
        """Standard error."""
        return _plain(np.sqrt(self.variance))

    @property
    def deff(self) -> Value | None:
        """Design effect: the variance over that of as many rows drawn with replacement (R: "replace"), or None."""
        if self.inference.srs is None:
            return None
        with np.errstate(divide="ignore", invalid="ignore"):
            return _plain(np.where(self.srs_variance > 0, self.variance / self.srs_variance, 1.0))

    @cached_property
    def srs_variance(self) -> Array:
        """Variance of a simple random sample of as many rows, computed when first asked for."""
        if self.inference.srs is None:
            raise StratError(f"`{self.name}` has no design effect: it is not a statistic of the rows themselves.")
        return self.inference.srs()

    @property
    def effective_size(self) -> Value | None:
        """Number of independent rows that would carry as much information; infinite where nothing varies."""
        deff = self.deff
        with np.errstate(divide="ignore"):
            return None if deff is None else _plain(self.rows / np.asarray(deff))

    @property
    def deviations(self) -> Array:
        """Scaled spread, m × outputs: its sums of products are the covariance."""
        if self.inference.spread is None:
            raise StratError(
                f"`{self.name}` has {self.point.size:,} values, too many to keep what covariances need; "
                "estimate fewer at once."
            )
        return self.inference.spread.scaled

    @property
    def covariance(self) -> Array:
        """Covariance of the values: outputs × outputs."""
        d = self.deviations
        return d.T @ d

    @property
    def replicates(self) -> Array:
        """Values of the statistic in each replicate."""
        spread = self.inference.spread
        if not isinstance(spread, ReplicateDeviations):
            raise StratError(f"`{self.name}` was estimated by {self.method}: there are no replicates.")
        return self.point + spread.values

    @property
    def monte_carlo_error(self) -> Value:
        """Standard error of the standard error, for what replicates drawn at random leave to chance.

        Examples
        --------
        >>> from strat.designs import Design
        >>> from strat.estimation import estimate
        >>> from strat.measures import mean
        >>> from strat.replication import bootstrap
        >>> one = estimate(mean([1.0, 3.0, 5.0, 9.0] * 10), on=bootstrap(Design.simple_random(n=40), replicates=800))
        >>> round(one.monte_carlo_error / one.se, 3)  # 1 / sqrt(2 · 800) for normal deviations
        0.025
        >>> 4700 < one.replicates_within(0.01) < 5300  # 1 / (2 · 0.01²)
        True
        """
        return _plain(np.sqrt(self.variance) * self._drawn.relative_error)

    @checked
    def replicates_within(self, share: float = 0.01) -> Value:
        """How many replicates bring the error of the standard error that is left to chance to this share of it."""
        if not validate.number("share", share) > 0:
            raise StratError.about("share", f"must be above 0, got {share!r}; 0.01 keeps the second digit.")
        spread = self._drawn
        return _plain(np.maximum(2.0, np.ceil(len(spread.values) * (spread.relative_error / share) ** 2)))

    @property
    def _drawn(self) -> ReplicateDeviations:
        spread = self.inference.spread
        if self.method.at_random and spread is None:
            self.deviations  # noqa: B018  (refuses, with the reason)
        if not (self.method.at_random and isinstance(spread, ReplicateDeviations)):
            raise StratError(
                f"`{self.name}` must be estimated by bootstrap(design) or half_samples(design), whose replicates are "
                f"drawn at random, got {self.method}."
            )
        return spread

    @property
    def least_df(self) -> float:
        """The fewest degrees of freedom of any value: what a statement about all of them may count on."""
        return float(np.min(self.df))

    # ---- questions

    @checked
    def interval(self, level: float = 0.95, method: str | None = None) -> tuple[Value, Value]:
        """Lower and upper confidence limit of each value.

        Parameters
        ----------
        level
            Confidence level.
        method
            "t", "logit", "log", "fisher", "arcsine", "wilson" or "exact" (with the effective sample size; rows of a
            finite population: hypergeometric), "woodruff" or "woodruff-exact" (quantiles; the latter for the tails of
            few rows), "percentile" (bootstrap), "hypergeometric" (rows of a finite population, Blaker's limits),
            "beta-binomial" (shares of rows in units or strata, with the correlation within units integrated out),
            "mover" (sums of shares, from the limits of each), "folded" (sums of distances, such as the calibration
            error, which are never less than their noise). By default what suits the statistic: the beta-binomial limits
            for shares in units and strata, the hypergeometric ones for shares of rows of a finite population, Wilson's
            for shares over crossed factors and for FNMR at a FMR, the logit scale for shares of independent rows and
            other values between 0 and 1, the parts' limits for balanced accuracy, macro recall and post-stratified
            shares, Fisher's scale for correlations, Woodruff's way for quantiles (the exact one with fewer than ten
            rows beyond), and exact limits where nothing varied.
        """
        low, high = self._limits(validate.level(level), method)
        return _plain(low), _plain(high)

    def _limits(self, level: float, method: str | None) -> tuple[Array, Array]:
        """The limits, of which tables, texts and pictures ask for the same ones several times."""
        if method is not None:
            return limits(self, level, method)
        known = self._known_limits
        if level not in known:
            known[level] = limits(self, level, None)
        low, high = known[level]
        return np.array(low), np.array(high)

    @cached_property
    def _known_limits(self) -> dict[float, tuple[Array, Array]]:
        return {}

    @checked
    def band(self, level: float = 0.95) -> tuple[Value, Value]:
        """Limits that hold for all values at once: the pointwise form with the max-t critical value."""
        each = self.simultaneous_level(level)
        low, high = self._limits(each, None)
        return _plain(low), _plain(high)

    @checked
    def simultaneous(self, level: float = 0.95) -> float:
        """Critical value of the largest |t| over all values, from their covariance and the fewest of their df."""
        return float(intervals.critical(self.simultaneous_level(level), self.least_df))

    @checked
    def simultaneous_level(self, level: float = 0.95) -> float:
        """The level that each interval must have for all of them to hold at once (max-t, from the covariance)."""
        self.usable_df  # noqa: B018  (refuses where there are none)
        d = self.deviations
        moving = np.sqrt((d**2).sum(axis=0)) > HAIR * np.maximum(np.abs(np.ravel(self.point)), HAIR)
        if moving.sum() < 2:
            return float(validate.level(level))
        df = np.ravel(np.broadcast_to(self.df, self.point.shape))[moving]
        d = d[:, moving] / np.sqrt((d[:, moving] ** 2).sum(axis=0))
        return max(validate.level(level), intervals.simultaneous_level(d, df, level))

    @checked
    def limit(self, level: float = 0.95, *, side: str) -> Value:
        """The one-sided confidence limit: the value is at least ("lower") or at most ("upper") this.

        It is the limit of the two-sided interval at the level 2 · level − 1.

        Examples
        --------
        >>> from strat.designs import Design
        >>> from strat.estimation import estimate
        >>> from strat.measures import proportion
        >>> share = estimate(proportion([1] * 45 + [0] * 5), on=Design.simple_random(n=50))
        >>> round(share.limit(0.95, side="lower"), 4), round(share.interval(0.9)[0], 4)
        (0.802, 0.802)
        """
        one_of("side", side, ("lower", "upper"))
        if not validate.level(level) > 0.5:
            raise StratError.about("level", f"must be above 0.5 for a one-sided limit, got {level!r}; 0.95 is usual.")
        low, high = self.interval(2.0 * level - 1.0)
        return low if side == "lower" else high

    @checked
    def test(self, null: float = 0.0, *, alternative: str = "two-sided") -> Test:
        """The test that the value is `null`, by the interval that is printed.

        At the level α it rejects the null value exactly if this lies outside the interval of the level 1 − α, or beyond
        the one-sided limit where the alternative is "greater" or "less".

        Examples
        --------
        >>> from strat.designs import Design
        >>> from strat.estimation import estimate
        >>> from strat.measures import proportion
        >>> share = estimate(proportion([1] * 48 + [0] * 2), on=Design.simple_random(n=50))
        >>> low, high = share.interval(0.95)
        >>> round(share.test(low).pvalue, 6), round(share.test(low, alternative="greater").pvalue, 6)
        (0.05, 0.025)
        """
        if not np.isfinite(null):
            raise StratError.about("null", f"must be finite, got {null!r}.")
        one_of("alternative", alternative, ALTERNATIVES)
        df, t = self.usable_df, inversion.statistics(self, float(null))
        return Test(_plain(t), _plain(inversion.pvalues(t, df, alternative)), self.df, null, alternative)

    @checked
    def map(
        self,
        function: Callable[[Array], Array],
        *,
        name: str | None = None,
        link: str = "identity",
        bounds: tuple[float, float] = (-np.inf, np.inf),
    ) -> Estimate:
        """A function of the values, with the covariance kept: evaluated on every replicate, or linearized.

        `function` must work on an array whose last axes are the statistic's: ``lambda v: v[..., 0] - v[..., 1]``.
        """
        return mapped(self, function, name=name, link=link, bounds=bounds)

    @checked
    def contrast(self, coefficients: ArrayLike, *, name: str | None = None) -> Estimate:
        """A linear combination of the values along the last axis."""
        c = values("coefficients", coefficients)
        if not self.point.ndim or c.ndim not in (1, 2) or c.shape[0] != self.point.shape[-1]:
            raise StratError.about("coefficients", f"must be one for each value ({self.point.shape}), got {c.shape}.")
        return self.map(Contrast(c), name=name or "contrast")

    def at(self, *labels: Any) -> Estimate:
        """The part of the estimate at these labels of its leading axes."""
        where: list[int] = []
        for axis, label in zip(self.axes, labels, strict=False):
            if label not in axis.labels:
                raise StratError.about(
                    "labels", f"must be among {list(axis.labels)[:8]} for axis {axis.name!r}, got {label!r}."
                )
            where.append(axis.labels.index(label))
        cut: Any = tuple(where)
        return replace(
            self,
            name=f"{self.name} [{', '.join(map(str, labels))}]",
            point=np.asarray(self.point[cut]),
            variance=np.asarray(self.variance[cut]),
            df=np.asarray(self.df)[cut] if np.ndim(self.df) else self.df,
            axes=self.axes[len(where) :],
            measure=replace(self.measure, curve=None if where else self.curve),
            inference=self.inference.at(*labels, cut=cut, srs=lambda: self.srs_variance),
        )

    def _no_arithmetic(self, other: object) -> Estimate:
        """Refuse plain arithmetic, which would lose the covariance, and say what keeps it."""
        if isinstance(other, Estimate):
            raise StratError(
                "two estimates can't be subtracted, added, multiplied or divided, because their covariance is not "
                'known; estimate strat.stack("system", A=…, B=…) and take .map(lambda v: v[..., 0] - v[..., 1]), or '
                "compare the statistics with strat.comparison.paired(a, b, on=design)."
            )
        raise StratError(
            "an estimate can't be subtracted, added, multiplied or divided like a number; take .map(lambda v: 1 - v), "
            "say, which keeps its standard error, or .value for the number alone."
        )

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _no_arithmetic

    # ---- in words, in tables

    def __str__(self) -> str:
        """The estimate as a sentence, or a table of its first values, with what to be careful about."""
        text = words.lines(self, 12) if self.point.ndim else words.sentence(self)
        return "\n".join([text, *(f"note: {note}" for note in self.notes)])

    def _repr_html_(self) -> str:
        """A small table for notebooks; every label is escaped."""
        return words.html_table(self)

    @checked
    def to_dict(self, level: float = 0.95) -> dict[str, list[Any]]:
        """Columns: one line for each value, with its labels, standard error and limits."""
        return words.columns(self, level)

    @checked
    def to_frame(self, library: str | None = None, level: float = 0.95) -> Any:
        """The columns as a data frame of pandas, Polars or PyArrow (the first that is loaded or installed)."""
        from strat.estimation.frames import frame

        return frame(self.to_dict(level), library)

    @checked
    def plot(self, ax: Any = None, level: float = 0.95) -> Any:
        """Values with intervals (and the simultaneous band of a curve), drawn with matplotlib."""
        from strat.show.drawing import draw

        return draw(self, ax, level)

    # ---- inside

    @property
    def usable_df(self) -> Array:
        """Degrees of freedom of each value; an error where there are none, because no limit exists."""
        if self.least_df <= 0:
            raise StratError(
                f"`{self.name}` has {self.least_df:g} degrees of freedom: there is no interval; give more units or "
                "fewer strata, or df= to estimate()."
            )
        return np.asarray(self.df, float)


def _plain(array: Any) -> Any:
    values = np.asarray(array)
    return values.item() if values.ndim == 0 else values

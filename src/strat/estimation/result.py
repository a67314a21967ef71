"""The answer: a value with its replicate values or influences, and every question that can be asked of it."""

from __future__ import annotations

import html
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from strat.columns import Array
from strat.designs import Plan
from strat.doors import checked
from strat.errors import StratError, one_of
from strat.estimation import intervals, linear
from strat.statistics.base import LINKS, Axis, unnamed_axes

METHODS = ("t", "logit", "log", "fisher", "arcsine", "wilson", "exact", "woodruff", "woodruff-exact", "percentile")
BAND_DRAWS = 20_000


@dataclass(frozen=True)
class Test:
    """The test that a statistic equals a null value."""

    __test__ = False

    statistic: Any
    pvalue: Any
    df: float
    null: float

    def __str__(self) -> str:
        """The test in words."""
        if np.ndim(self.pvalue):
            return f"t tests against {self.null:g}: p = {np.array2string(np.asarray(self.pvalue), precision=4)}"
        return f"t = {self.statistic:.3f} against {self.null:g}, p = {self.pvalue:.4g} (df {self.df:.4g})"


@dataclass(frozen=True, eq=False)
class Woodruff:
    """The way to a quantile's limits: through the share of rows at or below it (Woodruff 1952).

    Attributes
    ----------
    make
        Estimates the share, when somebody asks.
    back
        From shares to values.
    thin
        Where few rows lie beyond the quantile, so that the exact interval of the share is taken.
    """

    make: Callable[[], Estimate]
    back: Callable[[Array], Array]
    thin: NDArray[np.bool_]

    @cached_property
    def share(self) -> Estimate:
        """The share of rows at or below the quantile."""
        return self.make()

    def at(self, *labels: Any, cut: Any) -> Woodruff:
        """The same for a part of the quantiles."""
        return Woodruff(lambda: self.share.at(*labels), self.back, np.asarray(self.thin[cut]))

    def limits(self, level: float, exact: NDArray[np.bool_] | bool) -> tuple[Array, Array]:
        """Limits by the straight interval of the share; by the exact one where asked for, or if that leaves 0 to 1."""
        low, high = (np.asarray(side) for side in self.share.interval(level, method="t"))
        beyond = exact | (low <= 0) | (high >= 1)
        if np.any(beyond):
            inside = self.share.interval(level, method="exact")
            low, high = np.where(beyond, inside[0], low), np.where(beyond, inside[1], high)
        return self.back(np.asarray(low)), self.back(np.asarray(high))


@dataclass(frozen=True, eq=False)
class Estimate:
    """A value, how far it may be off, and how that was found.

    Attributes
    ----------
    name
        What was estimated.
    point
        The value, as an array.
    spread
        Replicate values less the value, or influences of units (m × shape); None for a map too large to keep.
    scales
        Scale of each line of the spread: the variance is sum(scales · spread²).
    variance
        Squared standard error.
    replicated
        Whether the spread holds replicate values (then `map` is evaluated anew on each) or influences.
    df
        Degrees of freedom.
    method
        How the variance was found.
    """

    name: str
    point: Array
    spread: Array | None = field(repr=False)
    scales: float | Array = field(repr=False)
    variance: Array
    replicated: bool
    df: float
    method: str
    axes: tuple[Axis, ...] = ()
    link: str = "identity"
    bounds: tuple[float, float] = (-np.inf, np.inf)
    proportion: bool = False
    srs: Callable[[], Array] | None = field(default=None, repr=False)
    rows: float = np.inf
    worth: Array | float = field(default=np.inf, repr=False)
    design: str = ""
    target: str = ""
    plan: Plan | None = None
    notes: tuple[str, ...] = ()
    woodruff: Woodruff | None = field(default=None, repr=False)

    # ---- numbers

    @property
    def value(self) -> Any:
        """The estimate: a number, or an array with the statistic's axes."""
        return _plain(self.point)

    @property
    def se(self) -> Any:
        """Standard error."""
        return _plain(np.sqrt(self.variance))

    @property
    def deff(self) -> Any:
        """Design effect: the variance over that of a simple random sample of as many rows (None if unknown)."""
        if self.srs is None:
            return None
        with np.errstate(divide="ignore", invalid="ignore"):
            return _plain(np.where(self.srs_variance > 0, self.variance / self.srs_variance, 1.0))

    @cached_property
    def srs_variance(self) -> Array:
        """Variance of a simple random sample of as many rows, found when somebody asks."""
        if self.srs is None:
            raise StratError(f"`{self.name}` has no design effect: it is not a statistic of the rows themselves.")
        return self.srs()

    @property
    def effective_size(self) -> Any:
        """Number of independent rows that would know as much."""
        deff = self.deff
        return None if deff is None else _plain(self.rows / np.maximum(np.asarray(deff), np.finfo(float).tiny))

    @property
    def deviations(self) -> Array:
        """Scaled spread, m × outputs: its sums of products are the covariance."""
        if self.spread is None:
            raise StratError(
                f"`{self.name}` has {self.point.size:,} values, too many to keep what covariances need; "
                "estimate fewer at once."
            )
        scale = np.broadcast_to(np.sqrt(np.asarray(self.scales, float)), (len(self.spread),))
        made: Array = self.spread.reshape(len(self.spread), -1) * scale[:, None]
        return made

    @property
    def covariance(self) -> Array:
        """Covariance of the values: outputs × outputs."""
        d = self.deviations
        return d.T @ d

    @property
    def replicates(self) -> Array:
        """Values of the statistic in each replicate."""
        if not self.replicated or self.spread is None:
            raise StratError(f"`{self.name}` was estimated by {self.method}: there are no replicates.")
        return self.point + self.spread

    # ---- questions

    @checked
    def interval(self, level: float = 0.95, method: str | None = None) -> tuple[Any, Any]:
        """Lower and upper confidence limit of each value.

        Parameters
        ----------
        level
            Confidence level.
        method
            "t", "logit", "log", "fisher", "arcsine", "wilson" or "exact" (with the effective sample size), "woodruff"
            or "woodruff-exact" (quantiles; the latter for the tails of few rows), "percentile" (bootstrap).
            By default what suits the statistic: shares on the logit scale, correlations on Fisher's, quantiles by
            Woodruff's (by the exact one with fewer than ten rows beyond), and exact limits where no variation was
            seen at the edge of the range.
        """
        c = intervals.critical(level, self._df())
        low, high = self._limits(level, c, method)
        return _plain(low), _plain(high)

    @checked
    def band(self, level: float = 0.95) -> tuple[Any, Any]:
        """Limits that hold for all values at once: the pointwise form with the max-t critical value."""
        c = self.simultaneous(level)
        each = float(1.0 - 2.0 * scipy.special.stdtr(self._df(), -c))  # what exact limits must hold for one by one
        low, high = self._limits(each, np.asarray(c), None)
        return _plain(low), _plain(high)

    @checked
    def simultaneous(self, level: float = 0.95) -> float:
        """Critical value of the largest |t| over all values, from their covariance."""
        pointwise = float(intervals.critical(level, self._df()))
        d = self.deviations
        moving = d.any(axis=0)
        if moving.sum() < 2:
            return pointwise
        d = d[:, moving] / np.sqrt((d[:, moving] ** 2).sum(axis=0))
        root = d if len(d) <= d.shape[1] else _root(d.T @ d)
        rng = np.random.default_rng(20_010_612)  # fixed: the same question has the same answer
        largest = np.concatenate(
            [np.abs(rng.standard_normal((500, len(root))) @ root).max(axis=1) for _ in range(BAND_DRAWS // 500)]
        )
        if np.isfinite(self._df()):
            largest = largest / np.sqrt(rng.chisquare(self._df(), BAND_DRAWS) / self._df())
        return max(pointwise, float(np.quantile(largest, level)))

    @checked
    def test(self, null: float = 0.0) -> Test:
        """The two-sided t test that the value is `null`; exact where nothing varied at an end of the range."""
        if not np.isfinite(null):
            raise StratError(f"`null` must be finite, got {null!r}.")
        se, off = np.sqrt(self.variance), self.point - null
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.where(se > 0, off / se, np.where(off == 0, 0.0, np.copysign(np.inf, off)))
        p = 2.0 * scipy.special.stdtr(self._df(), -np.abs(t))
        edge = self._edge()
        if edge.any():
            bottom, top = self.bounds
            chance = 1.0 - np.abs(np.round((self.point - bottom) / (top - bottom)) - (null - bottom) / (top - bottom))
            p = np.where(edge, np.minimum(2.0 * np.clip(chance, 0.0, 1.0) ** self._exact_size(0.95), 1.0), p)
        return Test(_plain(t), _plain(p), self.df, null)

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
        one_of("link", link, LINKS)
        if self.spread is None:
            self.deviations  # noqa: B018  (says why not)
        assert self.spread is not None
        point = np.asarray(function(self.point), float)
        if self.replicated:
            with np.errstate(divide="ignore", invalid="ignore"):
                spread = np.asarray(function(self.point + self.spread), float) - point
        else:
            spread = self._linear_map(function, point.shape)
        if not np.isfinite(point).all() or not np.isfinite(spread).all():
            raise StratError("`function` must give finite values at the estimate and at every replicate.")
        axes = self.axes if point.shape == self.point.shape else unnamed_axes(point.shape)
        return replace(
            self,
            name=name or f"function of {self.name}",
            point=point,
            spread=spread,
            variance=_variance(spread, self.scales),
            axes=axes,
            link=link,
            bounds=bounds,
            proportion=False,
            srs=None,
            worth=self.worth if point.shape == self.point.shape else float(np.min(self.worth)),
            woodruff=None,
        )

    @checked
    def contrast(self, coefficients: ArrayLike, *, name: str | None = None) -> Estimate:
        """A linear combination of the values along the last axis."""
        c = np.asarray(coefficients, float)
        if not self.point.ndim or c.shape[0] != self.point.shape[-1]:
            raise StratError(f"`coefficients` must be one for each value ({self.point.shape}), got {c.shape}.")
        return self.map(lambda v: v @ c, name=name or "contrast")

    def at(self, *labels: Any) -> Estimate:
        """The part of the estimate at these labels of its leading axes."""
        where: list[int] = []
        for axis, label in zip(self.axes, labels, strict=False):
            if label not in axis.labels:
                raise StratError(
                    f"`labels` must be among {list(axis.labels)[:8]} for axis {axis.name!r}, got {label!r}."
                )
            where.append(axis.labels.index(label))
        cut: Any = tuple(where)
        return replace(
            self,
            name=f"{self.name} [{', '.join(map(str, labels))}]",
            point=np.asarray(self.point[cut]),
            spread=None if self.spread is None else self.spread[(slice(None), *cut)],
            variance=np.asarray(self.variance[cut]),
            srs=None if self.srs is None else lambda: np.asarray(self.srs_variance[cut]),
            worth=self.worth if np.ndim(self.worth) == 0 else np.asarray(self.worth)[cut],
            axes=self.axes[len(where) :],
            woodruff=None if self.woodruff is None else self.woodruff.at(*labels, cut=cut),
        )

    # ---- in words, in tables

    def __str__(self) -> str:
        """The estimate as a sentence with what to be careful about, or a table of its first values."""
        if self.point.ndim:
            return self._lines(12)
        return "\n".join([self._sentence(), *(f"note: {note}" for note in self.notes)])

    def _sentence(self) -> str:
        low, high = self.interval()
        said = f"{self.name} {_number(self.point)} (se {_number(np.sqrt(self.variance))}, "
        said += f"95 % {_number(low)} to {_number(high)}"
        said += f", df {self.df:.4g}"
        if self.deff is not None and np.isfinite(self.deff):
            said += f", design effect {self.deff:.2g}"
        return said + ")"

    def __repr__(self) -> str:
        """The sentence in angle brackets."""
        return f"<Estimate {self.name} {self.point.shape}>" if self.point.ndim else f"<Estimate {self._sentence()}>"

    def _repr_html_(self) -> str:
        """A small table for notebooks; every label is escaped."""
        columns = self.to_dict()
        head = "".join(f"<th>{html.escape(name)}</th>" for name in columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(_cell(v))}</td>" for v in row) + "</tr>"
            for row in list(zip(*columns.values(), strict=True))[:50]
        )
        caption = html.escape(f"{self.name}: {self.method}; for {self.target}")
        return f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    @checked
    def to_dict(self, level: float = 0.95) -> dict[str, list[Any]]:
        """Columns: one line for each value, with its labels, standard error and limits."""
        low, high = (np.ravel(np.asarray(side, float)) for side in self.interval(level))
        places = np.indices(self.point.shape).reshape(len(self.axes), self.point.size)
        columns: dict[str, list[Any]] = {}
        if not self.axes:
            columns["statistic"] = [self.name]
        for axis, place in zip(self.axes, places, strict=True):
            columns[axis.name] = [axis.labels[i] for i in place]
        columns["estimate"] = np.ravel(self.point).tolist()
        columns["se"] = np.ravel(np.sqrt(self.variance)).tolist()
        columns["low"], columns["high"] = low.tolist(), high.tolist()
        columns["df"] = [self.df] * self.point.size
        if self.srs is not None:
            columns["deff"] = np.ravel(np.asarray(self.deff)).tolist()
        return columns

    @checked
    def to_frame(self, library: str | None = None, level: float = 0.95) -> Any:
        """The columns as a data frame of pandas, Polars or PyArrow (the first that is loaded or installed)."""
        from strat.estimation.frames import frame

        return frame(self.to_dict(level), library)

    @checked
    def plot(self, ax: Any = None, level: float = 0.95) -> Any:
        """Values with intervals (and the simultaneous band of a curve), drawn with matplotlib."""
        from strat.estimation.drawing import draw

        return draw(self, ax, level)

    # ---- inside

    def _df(self) -> float:
        if self.df <= 0:
            raise StratError(
                f"`{self.name}` has {self.df:g} degrees of freedom: no interval can be had; give more units or "
                "fewer strata, or df= to estimate()."
            )
        return self.df

    def _limits(self, level: float, c: Array, method: str | None) -> tuple[Array, Array]:
        chosen = method or self._default()
        one_of("method", chosen, METHODS)
        low, high = self._by(chosen, level, c, asked=method is not None)
        low, high = np.maximum(low, self.bounds[0]), np.minimum(high, self.bounds[1])
        return self._at_the_edge(level, low, high)

    def _default(self) -> str:
        if self.woodruff is not None and self.spread is None:
            return "woodruff"
        return {"identity": "t", "logit": "logit", "log": "log", "correlation": "fisher"}[self.link]

    def _by(self, method: str, level: float, c: Array, *, asked: bool) -> tuple[Array, Array]:
        se = np.sqrt(self.variance)
        if method == "t":
            return intervals.straight(self.point, se, c)
        if method == "log":
            return intervals.by_log(self.point, se, c)
        if method == "fisher":
            return intervals.by_fisher(self.point, se, c)
        if method in ("woodruff", "woodruff-exact"):
            return self._woodruff(level, None if not asked else method == "woodruff-exact")
        if method == "percentile":
            return self._percentile(level)
        return self._share(method, se, level, c)

    def _share(self, method: str, se: Array, level: float, c: Array) -> tuple[Array, Array]:
        """Methods for a share, after bringing the range of the statistic to [0, 1]."""
        bottom, top = self.bounds
        if not np.isfinite([bottom, top]).all():
            raise StratError(f"`method` must be 't' for {self.name}, which has no finite range, got {method!r}.")
        p, s = (self.point - bottom) / (top - bottom), se / (top - bottom)
        if method == "exact":
            made = intervals.by_korn_graubard(p, s, self.rows, level, self._df())
        elif method == "wilson":
            p = np.clip(p, 0.0, 1.0)  # sums of weights leave a perfect share a hair's breadth off
            seen = (s > 0) & (p > 0) & (p < 1)
            size = np.divide(p * (1 - p), s**2, out=np.broadcast_to(self.worth, p.shape).astype(float), where=seen)
            made = intervals.by_wilson(p, size, level, self._df())
        else:
            made = (intervals.by_logit if method == "logit" else intervals.by_arcsine)(p, s, c)
        return bottom + made[0] * (top - bottom), bottom + made[1] * (top - bottom)

    def _at_the_edge(self, level: float, low: Array, high: Array) -> tuple[Array, Array]:
        """Zero observed errors: exact limits where the value lies at an end of its range and nothing varied."""
        edge = self._edge()
        if not edge.any():
            return low, high
        bottom, top = self.bounds
        p = np.round((self.point - bottom) / (top - bottom))
        exact = intervals.exact(p, self._exact_size(level), level)
        return (
            np.where(edge, bottom + exact[0] * (top - bottom), low),
            np.where(edge, bottom + exact[1] * (top - bottom), high),
        )

    def _edge(self) -> NDArray[np.bool_]:
        """Where the value lies at an end of its range and nothing varied."""
        bottom, top = self.bounds
        if not np.isfinite([bottom, top]).all() or self.woodruff is not None:
            return np.zeros(self.point.shape, bool)
        hair = 1e-12 * (top - bottom)  # what sums of weights may leave a perfect share off
        at_an_end = (self.point <= bottom + hair) | (self.point >= top - hair)
        return np.asarray((np.sqrt(self.variance) <= hair) & at_an_end)

    def _exact_size(self, level: float) -> Array:
        """Number of units that an exact limit counts on, less for few degrees of freedom."""
        usual = intervals.critical(level, np.maximum(np.asarray(self.worth) - 1, 1))
        few = np.minimum((usual / intervals.critical(level, self.df)) ** 2, 1.0)
        return np.maximum(np.asarray(self.worth) * few, 1.0)

    def _woodruff(self, level: float, exact: bool | None) -> tuple[Array, Array]:
        if self.woodruff is None:
            raise StratError(f"`method` must not be 'woodruff' for {self.name}: it is for quantiles.")
        return self.woodruff.limits(level, self.woodruff.thin if exact is None else exact)

    def _percentile(self, level: float) -> tuple[Array, Array]:
        if "bootstrap" not in self.method:
            raise StratError(f"`method` 'percentile' must go with bootstrap replicates, got {self.method}.")
        tails = (1 - level) / 2, (1 + level) / 2
        return tuple(np.quantile(self.replicates, tail, axis=0) for tail in tails)  # type: ignore[return-value]

    def _linear_map(self, function: Callable[[Array], Array], shape: tuple[int, ...]) -> Array:
        assert self.spread is not None
        m, size = len(self.spread), self.point.size
        flat = self.spread.reshape(m, size)

        def of_flat(v: Array) -> Array:
            return np.asarray(function(v.reshape(v.shape[:-1] + self.point.shape)), float)

        length = np.maximum(np.abs(flat).max(axis=0), np.finfo(float).tiny)
        if size <= m:
            moving = np.flatnonzero(flat.any(axis=0))
            jacobian = linear.derivatives(
                of_flat, self.point.ravel(), np.eye(size)[moving], linear.STEP * length[moving]
            )
            return (flat[:, moving] @ jacobian).reshape(m, *shape)
        return linear.derivatives(of_flat, self.point.ravel(), flat, np.full(m, linear.STEP)).reshape(m, *shape)

    def _lines(self, most: int) -> str:
        columns = self.to_dict()
        rows = list(zip(*columns.values(), strict=True))
        lines = [[_cell(v) for v in row] for row in rows[:most]]
        widths = [max(len(c), *(len(line[i]) for line in lines)) for i, c in enumerate(columns)]
        head = "  ".join(c.rjust(w) for c, w in zip(columns, widths, strict=True))
        body = ["  ".join(v.rjust(w) for v, w in zip(line, widths, strict=True)) for line in lines]
        more = [f"… {len(rows) - most} more"] if len(rows) > most else []
        return "\n".join([f"{self.name} ({self.method})", head, *body, *more])


def _variance(spread: Array, scales: float | Array) -> Array:
    if np.ndim(scales) == 0:
        return np.asarray(scales * np.einsum("i...,i...->...", spread, spread))
    return np.asarray(np.einsum("i,i...,i...->...", scales, spread, spread))


def _root(covariance: Array) -> Array:
    """A matrix whose rows' products give the covariance back, safe for a singular one."""
    values, vectors = np.linalg.eigh(covariance)
    return (vectors * np.sqrt(np.clip(values, 0, None))).T


def _plain(array: Any) -> Any:
    made = np.asarray(array)
    return made.item() if made.ndim == 0 else made


def _number(value: Any) -> str:
    x = float(value)
    return f"{x:.4f}" if x == 0 or 1e-3 <= abs(x) < 1e4 else f"{x:.4g}"


def _cell(value: Any) -> str:
    return _number(value) if isinstance(value, float) else str(value)

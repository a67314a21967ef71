"""Many systems on the same items: all pairs at once, rank intervals, groups of ties, and the winner's curse."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.special import log_ndtr, stdtr, stdtrit

from strat.colours import BLUE
from strat.columns import Array
from strat.comparison.critical_difference import cliques
from strat.comparison.multiplicity import holm
from strat.designs import Design
from strat.doors import checked
from strat.errors import StratError, near, some
from strat.estimation import Estimate, estimate
from strat.replication import Replicates
from strat.statistics import Axis, Statistic, mean, stack

DRAWS = 20_000
SEED = 20_010_612  # fixed: the same question has the same answer


@dataclass(frozen=True)
class Winner:
    """The best of many systems, with what choosing it did to its value taken off.

    Attributes
    ----------
    system
        Who came first.
    value
        Its value as it stands, too good on average because it was chosen for being high.
    corrected
        Median-unbiased value given that it was chosen.
    low, high
        Interval that holds for the chosen system (hybrid of Andrews, Kitagawa and McCloskey).
    level
        Its confidence level.
    """

    system: str
    value: float
    corrected: float
    low: float
    high: float
    level: float

    def __str__(self) -> str:
        """The winner as a sentence."""
        return (
            f"{self.system} came first with {self.value:.4f}; corrected for having been chosen {self.corrected:.4f}, "
            f"{100 * self.level:g} % {self.low:.4f} to {self.high:.4f}"
        )


@dataclass(frozen=True, eq=False)
class ManySystems:
    """All systems on the same items, with their joint covariance.

    Attributes
    ----------
    systems
        Names.
    estimate
        The measure of each, with covariance from the design.
    higher_is_better
        Whether a larger value is a better one.
    """

    systems: tuple[str, ...]
    estimate: Estimate = field(repr=False)
    higher_is_better: bool

    @property
    def values(self) -> Array:
        """The measure of each system."""
        return np.asarray(self.estimate.point)

    @property
    def order(self) -> list[int]:
        """Indices of the systems, best first."""
        goal = -self.values if self.higher_is_better else self.values
        return [int(k) for k in np.argsort(goal, kind="stable")]

    @property
    def differences(self) -> Array:
        """Row system − column system."""
        return self.values[:, None] - self.values

    @cached_property
    def errors(self) -> Array:
        """Standard error of each difference."""
        c = self.estimate.covariance
        v = np.diag(c)
        return np.sqrt(np.maximum(v[:, None] + v - 2.0 * c, 0.0))

    @cached_property
    def t(self) -> Array:
        """Differences over their standard errors; 0 where neither varies."""
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.where(self.errors > _floor(self), self.differences / self.errors, np.inf * self.differences)
        t = np.nan_to_num(t, nan=0.0, posinf=np.inf, neginf=-np.inf)
        if not self._still.any():
            return t
        tail = np.minimum((1.0 - np.abs(self.differences) / 2.0) ** self._units, 0.5)  # as in `Comparison.pvalue`
        return np.where(self._still, -np.sign(self.differences) * stdtrit(self.estimate.df, tail), t)

    @checked
    def pvalues(self, adjust: str = "max-t") -> Array:
        """P-values of all pairs, adjusted for their number by max-t (or "holm", or "none").

        Max-t asks how often the largest |t| of all pairs is as large when no two systems differ; it uses the covariance
        between pairs, so that it is sharper than Bonferroni's correction.
        """
        m = len(self.systems)
        i, j = np.triu_indices(m, 1)
        t = np.abs(self.t[i, j])
        if adjust == "max-t" and m > 2:
            largest = np.sort(self._largest)
            above = len(largest) - np.searchsorted(largest, t, side="left")
            p = np.where(np.isinf(t), 1.0 / (1 + DRAWS), (1 + above) / (1.0 + DRAWS))
            p = np.where(t == 0, 1.0, np.maximum(p, self._raw[i, j]))
        elif adjust in ("max-t", "holm", "none"):
            p = holm(self._raw[i, j]) if adjust == "holm" else np.asarray(self._raw[i, j])
        else:
            raise StratError(f"`adjust` must be 'max-t', 'holm' or 'none', got {adjust!r}.")
        matrix = np.ones((m, m))
        matrix[i, j] = matrix[j, i] = p
        return matrix

    @property
    def _units(self) -> float:
        """Number of units that pairs without any variation count on."""
        return float(np.min(self.estimate.worth))

    @cached_property
    def _still(self) -> NDArray[np.bool_]:
        """Pairs of shares whose difference was the same in every unit, where there are units that nobody saw."""
        share = self.estimate.proportion or self.estimate.bounds == (0.0, 1.0)
        if not share or math.isinf(self._units):
            return np.zeros(self.errors.shape, bool)
        return (self.errors <= _floor(self)) & ~np.eye(len(self.errors), dtype=bool)

    @property
    def _raw(self) -> Array:
        raw: Array = np.asarray(2.0 * stdtr(self.estimate.df, -np.abs(self.t)), float)
        return raw

    @checked
    def critical(self, level: float = 0.95) -> float:
        """The value that the largest |t| of all pairs exceeds with probability 1 − level."""
        if not 0 < level < 1:
            raise StratError(f"`level` must lie between 0 and 1, got {level!r}; 0.95 means 95 %.")
        still = max(1, int((self._still & (self.differences > 0)).sum()))  # pairs that draws say nothing about
        floor = float(stdtrit(self.estimate.df, 1.0 - 0.5 * (1.0 - level) / still))
        return floor if len(self.systems) == 2 else max(floor, float(np.quantile(self._largest, level)))

    @checked
    def intervals(self, level: float = 0.95) -> tuple[Array, Array]:
        """Intervals of all differences that hold together."""
        critical = self.critical(level)
        half = critical * self.errors
        low, high = self.differences - half, self.differences + half
        if not self._still.any():
            return low, high
        exact = 2.0 * (1.0 - stdtr(self.estimate.df, -critical) ** (1.0 / self._units))
        return (
            np.where(self._still, np.maximum(self.differences - exact, -1.0), low),
            np.where(self._still, np.minimum(self.differences + exact, 1.0), high),
        )

    @checked
    def ranks(self, level: float = 0.95) -> tuple[Array, Array]:
        """Rank intervals of all systems that hold together: 1 is the best.

        A system ranks behind all that are better beyond doubt, and before all that are worse beyond doubt.
        """
        better = self._better(self.critical(level))
        m = len(self.systems)
        return 1 + better.sum(axis=0), m - better.sum(axis=1)

    @checked
    def rank(self, system: str, level: float = 0.95) -> tuple[int, int]:
        """The rank interval of one system alone, at most as wide as in `ranks`."""
        k = self._position(system)
        together = self.critical(level)
        own = float(np.quantile(self._largest_of(k), level))
        better = self._better(min(max(own, float(stdtrit(self.estimate.df, 0.5 + 0.5 * level))), together))
        return 1 + int(better[:, k].sum()), len(self.systems) - int(better[k].sum())

    @checked
    def groups(self, level: float = 0.95) -> list[tuple[str, ...]]:
        """Largest groups of neighbours, best first, of which no two differ."""
        order = self.order
        c = self.critical(level)
        same = np.abs(self.t)[np.ix_(order, order)] <= c
        return [tuple(self.systems[order[k]] for k in range(a, b + 1)) for a, b in cliques(same)]

    @checked
    def winner(self, level: float = 0.95) -> Winner:
        """The best system, corrected for having been chosen because it was the best."""
        k = self.order[0]
        sign = 1.0 if self.higher_is_better else -1.0
        covariance = self.estimate.covariance
        beta = 0.1 * (1.0 - level)
        spread = math.sqrt(covariance[k, k])
        if spread == 0.0:
            low, high = (float(side[k]) for side in self.estimate.interval(level))
            return Winner(self.systems[k], float(self.values[k]), float(self.values[k]), low, high, level)
        limit = self.estimate.simultaneous(1.0 - beta)
        # A share moves in steps of one row: a tie means "within half a step", not "exactly at the edge".
        step = 1.0 / self.estimate.rows if self.estimate.proportion else 0.0
        bound = _truncation(sign * self.values, covariance, k, step)
        alpha = (1.0 - level - beta) / (1.0 - beta)
        x = sign * float(self.values[k])
        found = [_at(x, spread, *bound, limit, p) for p in (1.0 - 0.5 * alpha, 0.5, 0.5 * alpha)]
        low, middle, high = np.clip(sorted(sign * v for v in found), *self.estimate.bounds).tolist()
        return Winner(self.systems[k], float(self.values[k]), middle, low, high, level)

    def plot(self, ax: Any = None, *, level: float = 0.95) -> Any:
        """Every system with its interval, best at the top, and its rank interval at the right."""
        if ax is None:
            import matplotlib.pyplot as plt

            ax = plt.figure(figsize=(7, 1 + 0.26 * len(self.systems)), layout="constrained").add_subplot()
        low, high = (np.asarray(v) for v in self.estimate.interval(level))
        first, last = self.ranks(level)
        for place, k in enumerate(self.order):
            ax.plot([low[k], high[k]], [place, place], color=BLUE, lw=2)
            ax.plot(self.values[k], place, "o", color="#D55E00", ms=5)
            ax.annotate(
                _ranks_text(first[k], last[k]), (1.0, place), (6, 0), xycoords=("axes fraction", "data"),
                textcoords="offset points", va="center", fontsize=8,
            )  # fmt: skip
        ax.set_yticks(range(len(self.systems)), [self.systems[k] for k in self.order], fontsize=8)
        ax.set_ylim(len(self.systems) - 0.4, -0.6)
        ax.set_xlabel(f"{self.estimate.name} ({100 * level:g} %); ranks at the right hold together")
        return ax

    def __str__(self) -> str:
        """Who leads, within which ranks, and whom it is not told apart from."""
        k = self.order[0]
        first, last = self.ranks()
        ties = [self.systems[j] for j in self.order[1:] if abs(self.t[k, j]) <= self.critical()]
        tied = f"; not told apart from {some(ties, 5)}" if ties else "; better than every other one"
        return (
            f"{self.systems[k]} leads {len(self.systems)} systems with {self.values[k]:.4f} "
            f"(rank {_ranks_text(first[k], last[k])}){tied}"
        )

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """The numbers for JSON, best system first."""
        low, high = (np.asarray(v, float) for v in self.estimate.interval(level))
        first, last = self.ranks(level)
        se = np.sqrt(np.asarray(self.estimate.variance))
        lines = [
            {"system": self.systems[k], "value": float(self.values[k]), "se": float(se[k]), "low": float(low[k]),
             "high": float(high[k]), "rank_low": int(first[k]), "rank_high": int(last[k])}
            for k in self.order
        ]  # fmt: skip
        best = self.winner(level)
        return {
            "metric": self.estimate.name,
            "level": level,
            "systems": lines,
            "groups": [list(g) for g in self.groups(level)],
            "critical_t": self.critical(level),
            "winner": {"system": best.system, "value": best.value, "corrected": best.corrected, "low": best.low,
                       "high": best.high},
            "sentence": str(self),
        }  # fmt: skip

    # ---- inside

    def _position(self, system: str) -> int:
        if system not in self.systems:
            raise StratError(f"`system` must be one of the systems, got {system!r}; {near(str(system), self.systems)}")
        return self.systems.index(system)

    def _better(self, critical: float) -> Any:
        """Whether the row system is better than the column system beyond doubt."""
        t = self.t if self.higher_is_better else -self.t
        return t > critical

    @cached_property
    def _draws(self) -> tuple[Array, Array]:
        """Draws of the systems' errors with their covariance, and what makes them Student's."""
        rng = np.random.default_rng(SEED)
        values, vectors = np.linalg.eigh(self.estimate.covariance)
        root = (vectors * np.sqrt(np.clip(values, 0.0, None))).T
        normal = rng.standard_normal((DRAWS, len(root))) @ root
        df = self.estimate.df
        chi = np.sqrt(rng.chisquare(df, DRAWS) / df) if math.isfinite(df) else np.ones(DRAWS)
        return normal, chi

    def _largest_of(self, k: int) -> Array:
        """Largest |t| of the pairs with system k, in each draw."""
        normal, chi = self._draws
        se = self.errors[k]
        moving = se > _floor(self)
        if not moving.any():
            return np.zeros(DRAWS)
        gap = np.abs(normal[:, moving] - normal[:, k : k + 1]) / se[moving]
        largest: Array = gap.max(axis=1) / chi
        return largest

    @cached_property
    def _largest(self) -> Array:
        """Largest |t| of all pairs, in each draw."""
        normal, chi = self._draws
        # One column of pairs after the other: the loop is over systems, never over draws.
        largest = np.zeros(DRAWS)
        floor = _floor(self)
        work = np.ascontiguousarray(normal.T)
        for k in range(len(self.systems) - 1):
            se = self.errors[k, k + 1 :]
            moving = np.flatnonzero(se > floor)
            if len(moving):
                gap = work[k + 1 :][moving] - work[k]
                np.abs(gap, out=gap)
                gap /= se[moving][:, None]
                np.maximum(largest, gap.max(axis=0), out=largest)
        return largest / chi


@checked
def many(
    systems: Mapping[str, Statistic] | Mapping[str, ArrayLike] | ArrayLike,
    *,
    on: Design | Replicates,
    higher_is_better: bool,
    names: tuple[str, ...] | None = None,
) -> ManySystems:
    """All systems on the same items, with their joint covariance under the design.

    Parameters
    ----------
    systems
        A mapping from name to the same measure of each system (accuracy, F1, …), or items × systems of scores
        (0 and 1 for wrong and right, or any number) whose means are compared.
    on
        The design or its replicates.
    names
        Names of the columns, where `systems` is an array.

    Examples
    --------
    >>> import numpy as np
    >>> from strat.designs import Design
    >>> right = np.array([[1, 1, 0], [1, 0, 0], [1, 1, 0], [1, 1, 0], [0, 1, 0], [1, 0, 1]] * 10)
    >>> result = many(right, on=Design.simple_random(n=60), higher_is_better=True, names=("A", "B", "C"))
    >>> print(result)
    A leads 3 systems with 0.8333 (rank 1 to 2); not told apart from 'B'
    >>> result.groups()
    [('A', 'B')]
    """
    if not isinstance(higher_is_better, bool | np.bool_):
        raise StratError(f"`higher_is_better` must be True or False, got {higher_is_better!r}.")
    labels, joint = _joint(systems, names)
    if len(labels) < 2:
        raise StratError(f"`systems` must be two or more, got {len(labels)}.")
    return ManySystems(labels, estimate(joint, on=on), bool(higher_is_better))


def _joint(systems: Any, names: tuple[str, ...] | None) -> tuple[tuple[str, ...], Statistic]:
    from dataclasses import replace

    if isinstance(systems, Mapping) and systems and all(isinstance(s, Statistic) for s in systems.values()):
        for name, one in systems.items():
            if one.shape:
                raise StratError(f"`systems` must be single numbers, got shape {one.shape} for {name!r}.")
        return tuple(map(str, systems)), stack("system", **{str(k): v for k, v in systems.items()})
    if isinstance(systems, Mapping):
        names = tuple(map(str, systems))
        lengths = {len(np.asarray(v)) for v in systems.values()}
        if len(lengths) > 1:
            raise StratError(
                f"`systems` must have the same items each, got {some(sorted(lengths))} rows; join them on the item."
            )
        systems = np.column_stack([np.asarray(v, float) for v in systems.values()]) if systems else np.empty((1, 0))
    values = np.asarray(systems, float)
    if values.ndim != 2:
        raise StratError(f"`systems` must be items × systems, got the shape {values.shape}.")
    labels = names or tuple(f"system {k + 1}" for k in range(values.shape[1]))
    if len(labels) != values.shape[1]:
        raise StratError(f"`names` must be one for each of {values.shape[1]} systems, got {len(labels)}.")
    if values.shape[1] < 2:
        return labels, mean(np.zeros(max(len(values), 1)))
    _one_unit(values, labels)
    share = bool(((values == 0.0) | (values == 1.0)).all())
    joint = replace(
        mean(values),
        name="accuracy" if share else "mean score",
        axes=(Axis("system", labels),),
        link="logit" if share else "identity",
        bounds=(0.0, 1.0) if share else (-np.inf, np.inf),
        proportion=share,
        split=None,
    )
    return labels, joint


def _one_unit(values: Array, labels: tuple[str, ...]) -> None:
    """Refuse percentages beside fractions: a column in 0…1 and another that is about a hundred times larger."""
    top, middle = np.abs(values).max(axis=0), np.abs(values).mean(axis=0)
    small = np.flatnonzero((top <= 1.0) & (middle > 0))
    large = np.flatnonzero((top > 20.0) & (top <= 100.0))
    if not (len(small) and len(large)):
        return
    a, b = int(small[0]), int(large[0])
    if 25.0 < middle[b] / middle[a] < 400.0:
        raise StratError(
            f"`systems` must be in one unit, got {labels[a]} up to {top[a]:g} and {labels[b]} up to {top[b]:g}; "
            "one looks like a fraction and the other like a percentage: divide by 100."
        )


def _floor(found: ManySystems) -> float:
    """A standard error below this is rounding."""
    return 1e-12 * max(float(np.sqrt(np.asarray(found.estimate.variance).max())), 1e-300)


def _ranks_text(first: int, last: int) -> str:
    return f"{first}" if first == last else f"{first} to {last}"


def _truncation(x: Array, covariance: Array, k: int, step: float) -> tuple[float, float]:
    """Between which values x_k would have come first, given what is independent of it."""
    slope = np.delete(covariance[:, k] / covariance[k, k], k)
    rest = np.delete(x, k) - 0.5 * step - slope * x[k]
    steep = 1.0 - slope
    with np.errstate(divide="ignore", invalid="ignore"):
        edge = rest / steep
    low = edge[steep > 1e-12].max(initial=-math.inf)
    high = edge[steep < -1e-12].min(initial=math.inf)
    return float(low), float(high)


def _at(x: float, se: float, low: float, high: float, limit: float, p: float) -> float:
    """The centre at which the truncated normal has the fraction `p` at or below x (within ± limit of it)."""

    def gap(centre: float) -> float:
        a = max((low - centre) / se, -limit)
        b = min((high - centre) / se, limit)
        z = min(max((x - centre) / se, a), b)
        return _share(a, z, b) - p

    a, b = x - limit * se, x + limit * se
    first, last = gap(a + 1e-9 * se), gap(b - 1e-9 * se)
    if first <= 0.0 or last >= 0.0:
        return a if first <= 0.0 else b
    return float(brentq(gap, a + 1e-9 * se, b - 1e-9 * se, xtol=1e-10 * se))


def _share(a: float, z: float, b: float) -> float:
    """(Phi(z) − Phi(a)) / (Phi(b) − Phi(a)), by logarithms from the thinner side."""
    if b <= a:
        return 0.5
    if a > 0:
        return 1.0 - _share(-b, -z, -a)
    top, bottom, base = (float(log_ndtr(v)) for v in (z, b, a))
    if bottom == base:
        return 0.5
    return math.expm1(base - top) * math.exp(top - bottom) / math.expm1(base - bottom) if top > base else 0.0

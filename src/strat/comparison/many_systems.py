"""Several systems on the same items: their ranks, differences and groups."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from strat import validate
from strat.colours import BLUE
from strat.comparison.critical_difference import cliques
from strat.comparison.multiplicity import holm
from strat.comparison.paired_shares import Discordance, PairedScore
from strat.comparison.sign_flips import SEED, few_units, largest_of_systems
from strat.comparison.winner import Winner, winner_limits
from strat.errors import StratError, drawable, near, some
from strat.estimation import Estimate
from strat.estimation.drawing import new_axes
from strat.estimation.frames import frame
from strat.estimation.hypothesis_tests import with_notes, write_report
from strat.estimation.intervals import symmetric_root
from strat.notebook import in_words
from strat.statistics.student import critical
from strat.text import class_named, of_class
from strat.validate.arguments import checked
from strat.validate.columns import Array, Codes

DRAWS = 20_000
FEWEST_DRAWS = 2_000
MOST_GAPS = 1_000_000_000  # pairs × draws: more systems take fewer draws, of a maximum that varies less


@in_words
@dataclass(frozen=True, eq=False, repr=False)
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
    stratum
        The stratum of each line of the estimate's deviations, one for each unit (None: not known); with few units
        all pairs are then judged by flipping the signs of whole units.
    discordance
        For shares of the same rows, on how many of them only one of two systems is right: differences are then judged
        by Tango's score at the effective sample size, unless units are few (None: difference ± t · se).
    """

    systems: tuple[str, ...]
    estimate: Estimate
    higher_is_better: bool
    stratum: Codes | None = None
    discordance: Discordance | None = None

    @property
    def values(self) -> Array:
        """The measure of each system."""
        return np.asarray(self.estimate.point)

    @property
    def order(self) -> list[int]:
        """Indices of the systems, best first."""
        goal = -self.values if self.higher_is_better else self.values
        return [int(k) for k in np.argsort(goal, kind="stable")]

    def best_first(self) -> ManySystems:
        """The same systems, best first."""
        order = self.order
        if order == list(range(len(order))):
            return self
        ordered = selected(self.estimate, order)
        pairs = None if self.discordance is None else self.discordance.ordered(order)
        return replace(self, systems=tuple(self.systems[k] for k in order), estimate=ordered, discordance=pairs)

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
        if self._score is not None:
            t = np.where(self.errors > _floor(self), self._score.statistic(0.0), t)
        if not self._still.any():
            return t
        tail = np.minimum((1.0 - np.abs(self.differences) / 2.0) ** self._units, 0.5)  # as in `Comparison.pvalue`
        return np.where(self._still, -np.sign(self.differences) * stdtrit(self._df, tail), t)

    @checked
    def pvalues(self, adjust: str = "max-t") -> Array:
        """P-values of all pairs, adjusted for their number by max-t (or "holm", or "none").

        Max-t asks how often the largest |t| of all pairs is as large when no two systems differ; it uses the covariance
        between pairs, so that it is sharper than Bonferroni's correction. With few units (fewer than 30, or than three
        for each system) the signs of whole units are flipped to learn that.
        """
        m = len(self.systems)
        i, j = np.triu_indices(m, 1)
        t = np.abs(self.t[i, j])
        if adjust == "max-t" and m > 2:
            p = self._adjusted(t, self._raw[i, j], self._largest, len(t))
        elif adjust in ("max-t", "holm", "none"):
            p = holm(self._raw[i, j]) if adjust == "holm" else np.asarray(self._raw[i, j])
        else:
            raise StratError(f"`adjust` must be 'max-t', 'holm' or 'none', got {adjust!r}.")
        matrix = np.ones((m, m))
        matrix[i, j] = matrix[j, i] = p
        return matrix

    @cached_property
    def _score(self) -> PairedScore | None:
        """Tango's score of all pairs of shares; None with few units, where flips already pay for their uncertainty."""
        if self.discordance is None or self._flipped is not None:
            return None
        return self.discordance.score(self.errors**2, self.estimate.least_df)

    @property
    def _df(self) -> float:
        """Degrees of freedom of a pair: none are lost where the sample size is known."""
        return self.estimate.least_df if self._score is None else self._score.df

    @property
    def _units(self) -> float:
        """Number of units that pairs without any variation count on."""
        return float(np.min(self.estimate.effective_units))

    @cached_property
    def _still(self) -> NDArray[np.bool_]:
        """Pairs of shares with zero estimated variance, in an incompletely sampled population."""
        share = self.estimate.proportion or self.estimate.bounds == (0.0, 1.0)
        if not share or math.isinf(self._units):
            return np.zeros(self.errors.shape, bool)
        return (self.errors <= _floor(self)) & ~np.eye(len(self.errors), dtype=bool)

    @property
    def _raw(self) -> Array:
        raw: Array = np.asarray(2.0 * stdtr(self._df, -np.abs(self.t)), float)
        return raw

    @property
    def max_t(self) -> str:
        """How the distribution of the largest |t| was found, in words."""
        if self._flipped is None:
            return f"{self._number_of_draws:,} draws, seed {SEED}"
        if len(self._flipped) == 1:
            return "Bonferroni's correction, for there are few units"
        return f"{len(self._flipped):,} flips of the signs of whole units, seed {SEED}"

    @checked
    def critical(self, level: float = 0.95) -> float:
        """The value that the largest |t| of all pairs exceeds with probability 1 − level."""
        still = int((self._still & (self.differences > 0)).sum())  # pairs that draws say nothing about
        if len(self.systems) == 2:
            return self._bonferroni(level, 1)
        m = len(self.systems)
        return self._within(level, self._largest, still, m * (m - 1) // 2)

    @checked
    def intervals(self, level: float = 0.95) -> tuple[Array, Array]:
        """Simultaneous intervals of all differences."""
        return self._limits(self.critical(level))

    @checked
    def against(self, baseline: str, level: float = 0.95) -> dict[str, list[Any]]:
        """Every other system − the baseline: simultaneous limits, p-values alone and for all of them at once.

        Fewer differences than all pairs, so that their simultaneous limits are narrower (Dunnett's many-to-one
        comparisons, with the covariance that the design gives).

        Examples
        --------
        >>> from strat.comparison import many
        >>> from strat.designs import Design
        >>> right = np.array([[1, 1, 0], [1, 0, 0], [1, 1, 0], [1, 1, 0], [0, 1, 0], [1, 0, 1]] * 10)
        >>> result = many(right, on=Design.simple_random(n=60), higher_is_better=True, names=("A", "B", "C"))
        >>> columns = result.against("B")
        >>> columns["system"], [round(d, 4) for d in columns["difference"]]
        (['A', 'C'], [0.1667, -0.5])
        """
        k = self._position(baseline)
        others = [i for i in self.order if i != k]
        low, high = self._limits(self._critical_of(k, level))
        alone, t = self._raw[others, k], np.abs(self.t[others, k])
        adjusted = self._adjusted(t, alone, self._largest_of(k), len(others)) if len(others) > 1 else alone
        return {
            "system": [self.systems[i] for i in others],
            "difference": self.differences[others, k].tolist(),
            "se": self.errors[others, k].tolist(),
            "low": low[others, k].tolist(),
            "high": high[others, k].tolist(),
            "pvalue": alone.tolist(),
            "adjusted": adjusted.tolist(),
        }

    def _critical_of(self, k: int, level: float) -> float:
        """The value that the largest |t| of the pairs with system k exceeds with probability 1 − level."""
        if len(self.systems) == 2:
            return self._bonferroni(level, 1)
        return self._within(level, self._largest_of(k), int(self._still[k].sum()), len(self.systems) - 1)

    def _bonferroni(self, level: float, number: int) -> float:
        """Student's critical value for each of so many differences."""
        return float(critical(1.0 - (1.0 - validate.level(level)) / number, self._df))

    def _within(self, level: float, largest: Array, still: int, pairs: int) -> float:
        """The critical value of the largest |t|: at least that of the pairs that never vary, at most Bonferroni's."""
        value = max(self._bonferroni(level, max(1, still)), float(np.quantile(largest, level, method="higher")))
        return value if self._flipped is None else min(value, self._bonferroni(level, pairs))

    def _adjusted(self, t: Array, alone: Array, largest: Array, pairs: int) -> Array:
        """P-values of pairs adjusted by the largest |t|: at least as alone, at most Bonferroni's."""
        above = len(largest) - np.searchsorted(np.sort(largest), t, side="left")
        p = np.where(np.isinf(t), 1.0, 1.0 + above) / (1.0 + len(largest))
        if self._flipped is not None:
            p = np.minimum(p, pairs * alone)
        return np.asarray(np.where(t == 0, 1.0, np.maximum(p, alone)))

    @cached_property
    def _known_limits(self) -> dict[float, tuple[Array, Array]]:
        return {}

    def _limits(self, critical: float) -> tuple[Array, Array]:
        """Limits of all differences for a critical value of |t|, which a board asks for several times."""
        if critical not in self._known_limits:
            self._known_limits.clear()
            self._known_limits[critical] = self._new_limits(critical)
        return self._known_limits[critical]

    def _new_limits(self, critical: float) -> tuple[Array, Array]:
        """Limits of all differences for a critical value of |t|; exact ones for pairs that never varied."""
        half = critical * self.errors
        low, high = self.differences - half, self.differences + half
        if self._score is not None:
            moving = self.errors > _floor(self)
            low, high = (
                np.where(moving, *pair) for pair in zip(self._score.limits(critical), (low, high), strict=True)
            )
        if not self._still.any():
            return low, high
        exact = 2.0 * (1.0 - stdtr(self._df, -critical) ** (1.0 / self._units))
        return (
            np.where(self._still, np.maximum(self.differences - exact, -1.0), low),
            np.where(self._still, np.minimum(self.differences + exact, 1.0), high),
        )

    @checked
    def ranks(self, level: float = 0.95) -> tuple[Array, Array]:
        """Simultaneous rank intervals of all systems: 1 is the best.

        A system ranks behind all that are better beyond doubt, and before all that are worse beyond doubt.
        """
        better = self._better(self.critical(level))
        m = len(self.systems)
        return 1 + better.sum(axis=0), m - better.sum(axis=1)

    @checked
    def rank(self, system: str, level: float = 0.95) -> tuple[int, int]:
        """The rank interval of one system alone, at most as wide as in `ranks`."""
        k = self._position(system)
        better = self._better(min(self._critical_of(k, level), self.critical(level)))
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
        if self.estimate.variance[k] == 0.0:
            low, high = (float(np.asarray(side)[k]) for side in self.estimate.interval(level))
            return Winner(self.systems[k], float(self.values[k]), float(self.values[k]), low, high, level)
        reach = self.estimate.simultaneous(1.0 - 0.1 * (1.0 - level))
        low, middle, high = winner_limits(self.estimate, k, sign, level, reach)
        return Winner(self.systems[k], float(self.values[k]), middle, low, high, level)

    def plot(self, ax: Any = None, *, level: float = 0.95) -> Any:
        """Every system with its interval, best at the top, and its rank interval at the right."""
        ax = new_axes(ax, (7.0, 1.2 + 0.26 * len(self.systems)))
        low, high = (np.asarray(v) for v in self.estimate.interval(level))
        first, last = self.ranks(level)
        for place, k in enumerate(self.order):
            ax.plot([low[k], high[k]], [place, place], color=BLUE, lw=2)
            ax.plot(self.values[k], place, "o", color="#D55E00", ms=5)
            ax.annotate(
                _ranks_text(first[k], last[k]), (1.0, place), (6, 0), xycoords=("axes fraction", "data"),
                textcoords="offset points", va="center", fontsize=8,
            )  # fmt: skip
        ax.set_yticks(range(len(self.systems)), [drawable(self.systems[k]) for k in self.order], fontsize=8)
        ax.set_ylim(len(self.systems) - 0.4, -0.6)
        measure = self.estimate.name + of_class(self.estimate.positive)
        ax.set_xlabel(f"{drawable(measure)} ({100 * level:g} %); at the right: simultaneous rank intervals")
        return ax

    def __str__(self) -> str:
        """The leader as a sentence, and the notes of the estimate."""
        return with_notes(self.sentence, self.estimate.notes)

    def __repr__(self) -> str:
        """The same as `str`."""
        return str(self)

    @checked
    def to_frame(self, library: str | None = None, level: float = 0.95) -> Any:
        """One row per system, best first, as a frame of pandas, Polars or PyArrow."""
        lines = self.to_dict(level)["systems"]
        return frame({name: [line[name] for line in lines] for name in lines[0]}, library)

    @checked
    def report(self, path: str | Path) -> Path:
        """Write one self-contained HTML file."""
        return write_report(self, path)

    @property
    def sentence(self) -> str:
        """Who leads, within which ranks, and whom it is not distinguishable from."""
        k = self.order[0]
        first, last = self.ranks()
        ties = [self.systems[j] for j in self.order[1:] if abs(self.t[k, j]) <= self.critical()]
        tied = f"; not distinguishable from {some(ties, 5)}" if ties else "; better than every other one"
        positive = self.estimate.positive
        looked_at = "" if positive is None else f", {self.estimate.name}, {class_named(positive)}"
        return (
            f"{self.systems[k]} leads {len(self.systems)} systems with {self.values[k]:.4f} "
            f"(rank {_ranks_text(first[k], last[k])}{looked_at}){tied}"
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
            "positive": self.estimate.positive,
            "level": level,
            "systems": lines,
            "groups": [list(g) for g in self.groups(level)],
            "critical_t": self.critical(level),
            "winner": {"system": best.system, "value": best.value, "corrected": best.corrected, "low": best.low,
                       "high": best.high},
            "sentence": self.sentence,
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

    @property
    def _number_of_draws(self) -> int:
        pairs = max(math.comb(len(self.systems), 2), 1)
        return int(min(max(MOST_GAPS // pairs, FEWEST_DRAWS), DRAWS))

    @cached_property
    def _draws(self) -> tuple[Array, Array]:
        """Draws of the systems' errors with their covariance, and what makes them Student's."""
        rng = np.random.default_rng(SEED)
        root = symmetric_root(self.estimate.covariance)
        number, df = self._number_of_draws, self._df
        normal = rng.standard_normal((number, len(root))) @ root
        chi = np.sqrt(rng.chisquare(df, number) / df) if math.isfinite(df) else np.ones(number)
        return normal, chi

    @cached_property
    def _flipped(self) -> Array | None:
        """Largest |t| of the pairs with each system when units' signs are flipped (None: units are not few)."""
        if self.stratum is None or not few_units(len(self.stratum), len(self.systems)):
            return None
        return largest_of_systems(self.estimate.deviations, self.stratum)

    def _largest_of(self, k: int) -> Array:
        """Largest |t| of the pairs with system k, in each draw."""
        if self._flipped is not None:
            return self._flipped[:, k]
        normal, chi = self._draws
        se = self.errors[k]
        moving = se > _floor(self)
        if not moving.any():
            return np.zeros(len(normal))
        gap = np.abs(normal[:, moving] - normal[:, k : k + 1]) / se[moving]
        largest: Array = gap.max(axis=1) / chi
        return largest

    @cached_property
    def _largest(self) -> Array:
        """Largest |t| of all pairs, in each draw."""
        if self._flipped is not None:
            largest: Array = self._flipped.max(axis=1)
            return largest
        normal, chi = self._draws
        # One column of pairs after the other: the loop is over systems, never over draws.
        largest = np.zeros(len(normal))
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


def selected(whole: Estimate, places: list[int]) -> Estimate:
    """The values at these places of the first axis, in this order, with their covariance."""
    axes = tuple(replace(axis, labels=tuple(axis.labels[k] for k in places)) for axis in whole.axes[:1])
    spread, units, shares = whole.inference.spread, whole.effective_units, whole.inference.shares
    holders = whole.inference.holders
    return whole.changed(
        shares=None if shares is None else shares.at((places,)),
        holders=None if holders is None else holders.at((places,)),
        point=whole.point[places],
        variance=whole.variance[places],
        df=np.asarray(whole.df)[places] if np.ndim(whole.df) else whole.df,
        spread=None if spread is None else spread.at((places,)),
        srs=None if whole.inference.srs is None else lambda: whole.srs_variance[places],
        effective_units=units if np.ndim(units) == 0 else np.asarray(units)[places],
        axes=axes or whole.axes,
    )


def _floor(systems: ManySystems) -> float:
    """A standard error below this is rounding."""
    return 1e-12 * max(float(np.sqrt(np.asarray(systems.estimate.variance).max())), 1e-300)


def _ranks_text(first: int, last: int) -> str:
    return f"{first}" if first == last else f"{first} to {last}"

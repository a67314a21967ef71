"""Several systems on the same items: their ranks, differences and groups."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.base.errors import StratError, near
from strat.base.limits import LIMITS
from strat.base.result import Result
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, Codes
from strat.comparison.critical_difference import cliques
from strat.comparison.largest_t import LargestT
from strat.comparison.multiplicity import holm
from strat.comparison.paired_shares import Discordance
from strat.comparison.ranking_view import draw_ranking, leader_sentence
from strat.comparison.sign_flips import few_units, largest_of_systems
from strat.comparison.system_pairs import SystemPairs, pair_errors
from strat.comparison.winner import Winner, tails_of_the_best, winner_limits
from strat.estimation import Estimate
from strat.estimation.frames import frame
from strat.estimation.hypothesis_tests import with_notes
from strat.estimation.phase_limits import phases_at


@dataclass(frozen=True, eq=False, repr=False)
class ManySystems(Result):
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

    def called(self, name: str) -> ManySystems:
        """The same with another name of what was measured."""
        return replace(self, estimate=replace(self.estimate, name=name))

    @property
    def differences(self) -> Array:
        """Row system − column system."""
        return self.values[:, None] - self.values

    @property
    def errors(self) -> Array:
        """Standard error of each difference."""
        return self._all.errors

    @property
    def t(self) -> Array:
        """Differences over their standard errors; 0 where neither varies."""
        return self._all.t

    def between(self, rows: Sequence[int], columns: Sequence[int] | None = None) -> SystemPairs:
        """These systems − those (without `columns`: all), by position: what is known of these pairs alone."""
        i = np.asarray(rows, np.intp)
        j = np.arange(len(self.systems)) if columns is None else np.asarray(columns, np.intp)
        errors = pair_errors(self._covariance, i, j)
        moving = errors > _floor(self)
        score = None
        if self._scored is not None:
            score = self._scored.score(errors**2, self.estimate.least_df, self._scored.between(i, j))
        still = ~moving & (i[:, None] != j) if self._counts_still else np.zeros(errors.shape, bool)
        differences = self.values[i, None] - self.values[j]
        return SystemPairs(differences, errors, moving, still, score, self._df, self._units)

    def _blocks(self) -> Iterator[tuple[slice, SystemPairs]]:
        """All pairs, some systems − all others at a time."""
        m = len(self.systems)
        step = max(1, LIMITS.pairs_at_once // m)
        for a in range(0, m, step):
            yield slice(a, a + step), self.between(range(a, min(a + step, m)))

    @cached_property
    def _all(self) -> SystemPairs:
        return self.between(range(len(self.systems)))

    @cached_property
    def _covariance(self) -> Array:
        return self.estimate.covariance

    @checked
    def pvalues(self, adjust: str = "max-t") -> Array:
        """P-values of all pairs, adjusted by max-t for their number (or "holm", or "none").

        Max-t asks how often the largest |t| of all pairs is as large when no two systems differ; it uses the covariance
        between pairs, so that it is sharper than Bonferroni's correction. With few units (fewer than 50, or than five
        for each system; of shares 30, or three) the signs of whole units are flipped to learn that.
        """
        m = len(self.systems)
        i, j = np.triu_indices(m, 1)
        if adjust == "max-t":
            p = self.adjusted(self._all)[i, j]
        elif adjust in ("holm", "none"):
            p = holm(self._all.pvalues[i, j]) if adjust == "holm" else self._all.pvalues[i, j]
        else:
            raise StratError.about("adjust", f"must be 'max-t', 'holm' or 'none', got {adjust!r}.")
        matrix = np.ones((m, m))
        matrix[i, j] = matrix[j, i] = p
        return matrix

    def adjusted(self, pairs: SystemPairs) -> Array:
        """P-values of some pairs by max-t, adjusted for the number of all pairs."""
        return self._largest_t.adjusted(np.abs(pairs.t), pairs.pvalues)

    @property
    def _scored(self) -> Discordance | None:
        """What Tango's score of pairs is made of; None with few units, whose flips pay for their uncertainty."""
        return None if self._flipped is not None else self.discordance

    @property
    def _df(self) -> float:
        """Degrees of freedom of a pair: none are lost where the sample size is known."""
        known = self._scored is not None and self._scored.size is not None
        return math.inf if known else self.estimate.least_df

    @property
    def _units(self) -> float:
        """Number of units that pairs without any variation count on."""
        return float(np.min(self.estimate.effective_units))

    @property
    def _counts_still(self) -> bool:
        """Whether pairs with zero estimated variance are of shares, in an incompletely sampled population."""
        share = self.estimate.proportion or self.estimate.bounds == (0.0, 1.0)
        return share and not math.isinf(self._units)

    @cached_property
    def _still(self) -> Array:
        """Number of pairs with each system that never varied: all of them, and those that differ."""
        if not self._counts_still:
            return np.zeros((2, len(self.systems)), int)
        parts = [((p.still).sum(axis=1), (p.still & (p.differences > 0)).sum(axis=1)) for _, p in self._blocks()]
        return np.concatenate([np.stack(part) for part in parts], axis=1)

    @property
    def max_t(self) -> str:
        """How the distribution of the largest |t| was found, in words."""
        return self._largest_t.words

    @checked
    def critical(self, level: float = 0.95) -> float:
        """The value that the largest |t| of all pairs exceeds with probability 1 − level."""
        still = int(self._still[1].sum())  # pairs that draws say nothing about
        return self._largest_t.critical(level, still=still)

    @checked
    def intervals(self, level: float = 0.95) -> tuple[Array, Array]:
        """Simultaneous intervals of all differences."""
        return self._all.limits(self.critical(level))

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
        pairs = self.between(others, [k])
        low, high = pairs.limits(self._critical_of(k, level))
        alone = pairs.pvalues
        adjusted = self._largest_t.adjusted(np.abs(pairs.t), alone, k)
        return {
            "system": [self.systems[i] for i in others],
            "difference": pairs.differences[:, 0].tolist(),
            "se": pairs.errors[:, 0].tolist(),
            "low": low[:, 0].tolist(),
            "high": high[:, 0].tolist(),
            "pvalue": alone[:, 0].tolist(),
            "adjusted": adjusted[:, 0].tolist(),
        }

    def _critical_of(self, k: int, level: float) -> float:
        """The value that the largest |t| of the pairs with system k exceeds with probability 1 − level."""
        return self._largest_t.critical(level, k, still=int(self._still[0, k]))

    @checked
    def ranks(self, level: float = 0.95) -> tuple[Array, Array]:
        """Simultaneous rank intervals of all systems: 1 is the best.

        A system ranks behind all that are significantly better, and ahead of all that are significantly worse.
        """
        critical = self.critical(level)
        if critical not in self._known_ranks:
            self._known_ranks[critical] = self._new_ranks(critical)
        first, last = self._known_ranks[critical]
        return first.copy(), last.copy()

    @checked
    def rank(self, system: str, level: float = 0.95) -> tuple[int, int]:
        """The rank interval of one system alone, at most as wide as in `ranks`."""
        k = self._position(system)
        critical, sign = min(self._critical_of(k, level), self.critical(level)), 1.0 if self.higher_is_better else -1.0
        above = self.between(range(len(self.systems)), [k])
        better, worse = sign * above.t > critical, sign * self.between([k]).t > critical
        return 1 + int(better.sum()), len(self.systems) - int(worse.sum())

    @checked
    def same(self, level: float = 0.95) -> NDArray[np.bool_]:
        """Whether two systems are not distinguishable, for all pairs at once."""
        critical = self.critical(level)
        return np.concatenate([np.abs(pairs.t) <= critical for _, pairs in self._blocks()])

    @checked
    def groups(self, level: float = 0.95) -> list[tuple[str, ...]]:
        """Largest groups of neighbours, best first, of which no two differ."""
        order = self.order
        same = self.same(level)[np.ix_(order, order)]
        return [tuple(self.systems[order[k]] for k in range(a, b + 1)) for a, b in cliques(same)]

    @checked
    def winner(self, level: float = 0.95) -> Winner:
        """The best system, corrected for having been chosen because it was the best."""
        order, sign = self.order, 1.0 if self.higher_is_better else -1.0
        drawn = order[: LIMITS.drawn_systems]
        covariance = self._covariance[np.ix_(drawn, drawn)]
        tails = tails_of_the_best(sign * self.values[order], covariance, level)
        own = selected(self.estimate, order[:1])
        low, middle, high = winner_limits(own.at(own.axes[0].labels[0]), tails, sign)
        first = float(self.values[order[0]])
        tied = tuple(self.systems[k] for k in order[1:] if math.isclose(self.values[k], first, rel_tol=1e-12))
        return Winner(self.systems[order[0]], first, middle, low, high, level, tied)

    def plot(self, ax: Any = None, *, level: float = 0.95) -> Any:
        """Every system with its interval, best at the top, and its rank interval at the right."""
        return draw_ranking(self, ax, level)

    def __str__(self) -> str:
        """The leader as a sentence, and the notes of the estimate."""
        return with_notes(self.sentence, self.estimate.notes)

    @checked
    def to_frame(self, library: str | None = None, level: float = 0.95) -> Any:
        """One row per system, best first, as a frame of pandas, Polars or PyArrow."""
        lines = self.to_dict(level)["systems"]
        return frame({name: [line[name] for line in lines] for name in lines[0]}, library)

    @property
    def sentence(self) -> str:
        """Who leads, within which ranks, and whom it is not distinguishable from."""
        return leader_sentence(self)

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
                       "high": best.high, "method": best.method},
            "sentence": self.sentence,
        }  # fmt: skip

    # ---- inside

    def _position(self, system: str) -> int:
        if system not in self.systems:
            raise StratError.about(
                "system", f"must be one of the systems, got {system!r}; {near(str(system), self.systems)}"
            )
        return self.systems.index(system)

    @cached_property
    def _known_ranks(self) -> dict[float, tuple[Array, Array]]:
        return {}

    def _new_ranks(self, critical: float) -> tuple[Array, Array]:
        """First and last ranks, where one system is better than another if t exceeds the critical value."""
        m = len(self.systems)
        first, last = np.ones(m, int), np.full(m, m)
        for rows, pairs in self._blocks():
            better = (pairs.t if self.higher_is_better else -pairs.t) > critical
            first += better.sum(axis=0)
            last[rows] -= better.sum(axis=1)
        return first, last

    @cached_property
    def _flipped(self) -> Array | None:
        """Largest |t| of the pairs with each system when units' signs are flipped (None: units are not few)."""
        scored = self.discordance is not None
        if self.stratum is None or not few_units(len(self.stratum), len(self.systems), scored=scored):
            return None
        return largest_of_systems(self.estimate.deviations, self.stratum)

    @cached_property
    def _largest_t(self) -> LargestT:
        """The largest |t| of all pairs, or of those with one system, where no two systems differ."""
        return LargestT(self._covariance, self._df, _floor(self), self._flipped)


def selected(whole: Estimate, places: list[int]) -> Estimate:
    """The values at these places of the first axis, in this order, with their covariance."""
    axes = tuple(replace(axis, labels=tuple(axis.labels[k] for k in places)) for axis in whole.axes[:1])
    spread, units, shares = whole.inference.spread, whole.effective_units, whole.inference.shares
    holders, way = whole.inference.holders, whole.inference.sum_of
    return whole.changed(
        sum_of=None if way is None else phases_at(way, (places,)),
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

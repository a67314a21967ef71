"""Crossed designs: two or more factors were drawn (readers and cases, judges and items); a row has a level of each.

The variance is by rows + by columns - by cells (Owen 2007; Cameron, Gelbach and Miller 2011), and with more factors
inclusion and exclusion. Here the variance components behind it are solved for, from the sums of squares in every
grouping and what these expect of the components given the weights (Henderson's first method): without bias for small
factors and incomplete tables, equal to the analysis of variance for complete ones, and never negative, because each
component is kept at zero or above.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from strat.base.errors import StratError
from strat.base.notes import Note
from strat.base.text import counted
from strat.base.validate.columns import Array, Codes
from strat.designs.factored import Influence
from strat.designs.facts import LayoutFacts
from strat.designs.group_sums import in_groups, nonnegative, root
from strat.designs.layout import satterthwaite, with_long_tails

MOST_FACTORS = 4  # 15 groupings
MOST_VALUES = 500  # values at once: their covariance is decomposed
FEW_LEVELS = 5  # of a factor below which its share of the variance is hardly known


@dataclass(frozen=True, eq=False)
class Partition:
    """Lines in groups: those that share their levels of some factors.

    Attributes
    ----------
    factors
        The factors, by number.
    group
        For each line, its group.
    number
        How many groups there are.
    """

    factors: frozenset[int]
    group: Codes
    number: int

    def refines(self, other: Partition, joint: Partition) -> bool:
        """Whether each group lies in one of the other's; `joint` has the groups of both."""
        return joint.number == self.number and self.number >= other.number


@dataclass(frozen=True, eq=False)
class Fit:
    """Variance components of outputs: for each grouping, the part of the variance of the sum that it makes.

    Attributes
    ----------
    parts
        Covariance of the outputs that each grouping makes: groupings × outputs × outputs, each with no negative
        variance in any direction.
    group_sums
        For the grouping of each single factor, the sums of the centred influences: groups × outputs.
    weights
        For each grouping, what its groups weigh, all together 1.
    """

    parts: Array
    group_sums: dict[int, Array]
    weights: tuple[Array, ...]

    @property
    def variances(self) -> Array:
        """Groupings × outputs."""
        return np.diagonal(self.parts, axis1=1, axis2=2)


@dataclass(frozen=True, eq=False)
class Crossing:
    """Lines that are cells of crossed factors.

    Attributes
    ----------
    names
        The names of the factors.
    levels
        For each factor, the level of each line.
    stratum
        For each line, the stratum within which means are taken.
    """

    names: tuple[str, ...]
    levels: tuple[Codes, ...]
    stratum: Codes

    @property
    def groupings(self) -> Mapping[str, Codes]:
        """The factors."""
        return dict(zip(self.names, self.levels, strict=True))

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Number of levels of each factor."""
        return tuple(int(levels.max()) + 1 for levels in self.levels)

    @cached_property
    def _joint(self) -> dict[frozenset[int], Partition]:
        """The groups of every combination of factors."""
        parts: dict[frozenset[int], Partition] = {}
        for size in range(1, len(self.names) + 1):
            for chosen in combinations(range(len(self.names)), size):
                members = frozenset(chosen)
                group, number = self.levels[chosen[-1]], self.sizes[chosen[-1]]
                if size == len(self.names) and not self.stratum.any():  # the lines are these very cells
                    group, number = np.arange(len(group)), len(group)
                elif size > 1:
                    before = parts[frozenset(chosen[:-1])]
                    group, number = _pairs(before.group, group, number)
                parts[members] = Partition(members, group, number)
        return parts

    @cached_property
    def partitions(self) -> tuple[Partition, ...]:
        """The combinations of factors whose groups differ: a case read by one reader only names that reader, too."""
        kept: list[Partition] = []
        for part in self._joint.values():
            same = (p for p in kept if p.number == part.number == self.joint(p, part).number)
            if next(same, None) is None:
                kept.append(part)
        return tuple(kept)

    def joint(self, one: Partition, other: Partition) -> Partition:
        """The groups of the factors of both."""
        return self._joint[one.factors | other.factors]

    def label(self, part: Partition) -> str:
        """The names of the factors of a grouping."""
        return " × ".join(self.names[k] for k in sorted(part.factors))

    @cached_property
    def _finer(self) -> Array:
        """Whether grouping G (column) lies within grouping F (row), so that sums in F hold all that G makes."""
        parts = self.partitions
        return np.array([[float(g.refines(f, self.joint(f, g))) for g in parts] for f in parts])

    @cached_property
    def anova_df(self) -> Array:
        """Degrees of freedom of each grouping as in an analysis of variance: groups less what coarser ones take."""
        finer = self._finer - np.eye(len(self.partitions))
        df = np.zeros(len(self.partitions))
        for place in np.argsort([part.number for part in self.partitions], kind="stable"):
            taken = df[finer[:, place] > 0].sum()
            df[place] = max(self.partitions[place].number - 1 - taken, 1.0)
        return df

    @cached_property
    def _known(self) -> list[Array]:
        """The last weights, and how components follow from sums of squares with them: the costly half of a fit."""
        return []

    @cached_property
    def _last_fit(self) -> list[Any]:
        """The influences and weights last asked about, and their fit: variance, df and notes ask for the same one."""
        return []

    @property
    def nominal_df(self) -> float:
        """Levels less 1 of the smallest factor."""
        return float(min(self.sizes) - 1)

    def fit(self, influence: Influence, weights: Array) -> Fit:
        """The part of the variance of the sum of influences that each grouping makes."""
        if influence.shape[1] > MOST_VALUES:
            raise StratError.about(
                "on",
                f"must not be a crossed design for more than {MOST_VALUES} values at once, got "
                f"{influence.shape[1]}; ask for fewer thresholds, ranks or classes.",
            )
        last = self._last_fit
        if last and last[0]() is influence and np.array_equal(last[1], weights):
            return last[2]
        fit = self._fit(influence, weights)
        last[:] = [weakref.ref(influence), weights, fit]
        return fit

    def _fit(self, influence: Influence, weights: Array) -> Fit:
        groups = in_groups(influence, weights, self.stratum)
        size = groups.lengths()
        size[size == 0] = 1.0
        scale = np.outer(size, size)
        squares = np.stack([groups.squares(part.group, part.number) / scale for part in self.partitions])
        single = {k: groups.sums(p.group, p.number) for k, p in enumerate(self.partitions) if len(p.factors) == 1}
        share = weights / weights.sum()
        of_groups = tuple(np.bincount(p.group, share, minlength=p.number).astype(float) for p in self.partitions)
        if not self._known or not np.array_equal(self._known[0], weights):
            self._known[:] = [weights, np.asarray(np.linalg.pinv(self._expected(share)), float)]
        components = np.tensordot(self._known[1], squares, 1)
        factor = np.array([w @ w for w in of_groups])
        parts = np.stack([nonnegative(c) * f for c, f in zip(components, factor, strict=True)])
        return Fit(parts * scale, single, of_groups)

    def _expected(self, share: Array) -> Array:
        """What the sum of squares in each grouping expects of each component: groupings × groupings.

        With y = sum over groupings of an effect for each group, of variance 1 for grouping G and 0 else, and means
        taken out within strata h: sum over f and g of (N_fg - sum_h w_fh w_gh / w_h)², N_fg being the weight that both
        groups share.
        """
        strata = int(self.stratum.max()) + 1
        whole = np.bincount(self.stratum, share, minlength=strata)
        root = np.sqrt(np.divide(1.0, whole, out=np.zeros(strata), where=whole > 0))
        within = [
            np.bincount(p.group * strata + self.stratum, share, minlength=p.number * strata).reshape(-1, strata) * root
            for p in self.partitions
        ]
        expected = np.empty((len(within), len(within)))
        for a, f in enumerate(self.partitions):
            for b, g in enumerate(self.partitions[: a + 1]):
                both = self.joint(f, g)
                shared = np.bincount(both.group, share, minlength=both.number)
                home_f, home_g = (_home(both, part) for part in (f, g))
                mixed = (within[a][home_f] * within[b][home_g]).sum(axis=1)
                last = ((within[a].T @ within[a]) * (within[b].T @ within[b])).sum()
                expected[a, b] = expected[b, a] = shared @ shared - 2.0 * shared @ mixed + last
        return expected

    def deviations(self, influence: Influence, weights: Array) -> Array:
        """Lines whose squares are the variance: a square root of what each grouping makes."""
        return np.concatenate([root(part) for part in self.fit(influence, weights).parts])

    def degrees_of_freedom(self, influence: Influence, weights: Array) -> Array:
        """Satterthwaite's, of the mean squares of the groupings.

        The mean square of a grouping holds its own component and those of all finer groupings; the variance is a sum of
        mean squares with signs (rows + columns - cells). Unequal weights, and levels few of which hold all that
        varies, lower the degrees of freedom of a factor.
        """
        fit = self.fit(influence, weights)
        mean_squares = self._finer @ fit.variances
        signs = np.linalg.solve(self._finer.T, np.ones(len(self._finer)))
        df = np.stack([self._df_of(place, fit) for place in range(len(self.partitions))])
        pooled = ((signs[:, None] * mean_squares) ** 2 / df).sum(axis=0)
        return satterthwaite(fit.variances.sum(axis=0), pooled, self.nominal_df)

    def mean_squares(self, fit: Fit) -> tuple[Array, Array, Array]:
        """Of the first output: how components follow from mean squares (a row each), these, and their df."""
        df = np.array([self._df_of(place, fit)[0] for place in range(len(self.partitions))])
        return np.asarray(np.linalg.inv(self._finer)), self._finer @ fit.variances[:, 0], df

    def _df_of(self, place: int, fit: Fit) -> Array:
        """Degrees of freedom of one grouping's mean square, for each output."""
        nominal = self.anova_df[place]
        if len(self.partitions[place].factors) > 1:
            return np.full(fit.parts.shape[1], nominal)
        shares = fit.weights[place]
        equal = float(1.0 / (shares @ shares))  # the number of levels of equal weight that these come to
        return with_long_tails(min(nominal, max(equal - 1.0, 1.0)), fit.group_sums[place])

    def notes(self, influence: Influence, weights: Array) -> tuple[Note, ...]:
        """Where the variance comes from, and factors of few levels."""
        fit = self.fit(influence, weights)
        total = float(fit.variances[:, 0].sum())
        few = {name: n for name, n in zip(self.names, self.sizes, strict=True) if n < FEW_LEVELS}
        notes = []
        if total > 0:
            each = (fit.variances[:, 0] / total).tolist()
            shares = tuple(zip(map(self.label, self.partitions), each, strict=True))
            best, ratio = self.enlarge(fit.variances[:, 0])
            halved = float(np.sqrt(ratio))
            notes.append(Note("crossed-components", {"shares": shares, "factor": best, "ratio": halved}))
        if few:
            notes.append(Note("few-levels", {"levels": tuple(few.values()), "factors": tuple(few)}))
        return tuple(notes)

    def enlarge(self, variances: Array) -> tuple[str, float]:
        """The factor whose doubling lowers the variance most, and the share of the variance that stays."""
        left = {
            name: sum(
                v / 2 if self.nests(part, k) else v for part, v in zip(self.partitions, variances.tolist(), strict=True)
            )
            for k, name in enumerate(self.names)
        }
        best = min(left, key=lambda name: left[name])
        total = float(variances.sum())
        return best, left[best] / total if total > 0 else 1.0

    def nests(self, part: Partition, factor: int) -> bool:
        """Whether more levels of the factor make more groups: the groups lie within its levels."""
        return factor in part.factors or self._joint[part.factors | {factor}].number == part.number

    @property
    def facts(self) -> LayoutFacts:
        """What was drawn, and what the estimate is about."""
        parts = tuple(zip(self.names, self.sizes, strict=True))
        each = [_levels(name, n) for name, n in parts]
        full = float(np.prod(self.sizes, dtype=float))
        cells = self._joint[frozenset(range(len(self.names)))].number
        filled = "" if cells == full else f" ({cells / full:.2g} of the cells filled)"
        target = f"the populations that {' and '.join(each)} were drawn from"
        return LayoutFacts(parts, f"{' × '.join(each)}{filled}", target)


def _levels(name: str, number: int) -> str:
    return f"{counted(number, 'level')} of {name!r}"


def crossing(factors: Mapping[str, tuple[Codes, int]], stratum: Codes) -> tuple[Codes, Crossing]:
    """The cell of each row, and the crossing of the cells; from the levels of rows of each factor and their number."""
    if not 2 <= len(factors) <= MOST_FACTORS:
        raise StratError.about("factors", f"must be two to {MOST_FACTORS} columns, got {len(factors)}.")
    for name, (_, number) in factors.items():
        if number < 2:
            raise StratError.about(
                "factors", f"must have at least two levels each, got one of {name!r}; leave out what does not vary."
            )
    cell = stratum
    for codes, number in factors.values():
        cell, _ = _pairs(cell, codes, number)
    first = np.zeros(int(cell.max()) + 1, np.int64)
    first[cell] = np.arange(len(cell))
    levels = tuple(codes[first] for codes, _ in factors.values())
    return cell, Crossing(tuple(factors), levels, stratum[first])


def _pairs(one: Codes, other: Codes, number: int) -> tuple[Codes, int]:
    """Codes of the pairs that occur, and their number."""
    key = one * number + other
    span = int(key.max()) + 1
    if span > 4 * len(key) + 1024:
        distinct, codes = np.unique(key, return_inverse=True)
        return codes.astype(np.int64), len(distinct)
    there = np.zeros(span, bool)
    there[key] = True
    return (np.cumsum(there) - 1)[key], int(there.sum())


def _home(fine: Partition, coarse: Partition) -> Codes | slice:
    """For each group of a grouping, the group of a coarser one that it lies in."""
    if fine is coarse:
        return slice(None)
    home = np.zeros(fine.number, np.int64)
    home[fine.group] = coarse.group
    return home

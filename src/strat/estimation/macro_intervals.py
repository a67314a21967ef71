"""Limits of averages over classes (macro F1, recall, precision), with the classes as draws from one population.

The F1 of a class is 2J/(1 + J) with J = h/u, h hits among the u rows that are or are called the class; its recall is J
itself among the rows that are the class. A class of one or two rows has F1 0 too often, and one without a row is not in
the average at all: what misleads is bias, which no variance shows. So the J of the classes are taken as draws from a
Beta distribution of size s whose mean has the logit a + b log u (rare classes may be harder); a, b and s are integrated
over a grid, coarse at first, then fine around the posterior. Two limits are made of it:

* *posterior*: mean and variance of the average of the classes' values given their counts;
* *corrected*: the average itself, less the bias that is expected of it; the prior says how large bias and variance are,
  and moves no class.

The limits lie half-way between the two on the logit scale: they fail in different places. Classes without a row, as
many as Chao's (1984) estimate says, have the prior's mean at half a row. An error may count against two classes, and
rows may have weights: the variance given the classes is multiplied by the design's over that of independent classes.

Where rows come in units, classes come in bunches: one whose own units were not sampled shows false predictions alone.
Then the limits lie half-way between those above and the jackknife's over units, whose bias is taken off too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import scipy  # its parts load when they are first used: `import strat` stays light

from strat.base.validate.columns import Array, Codes

NODES = 40  # at which the share of a class is added up
LOGITS = np.linspace(-4.5, 4.5, 91)  # means of the prior
SIZES = np.array([0.6, 1.2, 2.5, 4.0, 6.5, 10.0, 16.0, 28.0, 60.0])  # sizes of the prior
SLOPES = np.linspace(-0.75, 1.25, 9)  # by how much the logit of the mean rises as rows grow by a factor e
SLOPE, SLOPE_SPREAD = 0.15, 0.4  # its prior mean and standard deviation
INFLATED = 0.2  # by how much the posterior's variance grows where all classes rest on a handful of rows
HANDFUL = 5.0  # rows
EXACT = 80  # rows up to which a class is added up over shares and numbers of hits; beyond, the delta method does
FEWEST = 0.5  # rows that a class without a row is taken to have
INSIDE = 0.005  # distance of a middle from 0 and 1


@dataclass(frozen=True)
class Middle:
    """A middle of two limits, and its variance for independent classes and beside these."""

    centre: float
    inside: float
    beside: float

    def limits(self, z: float, effect: float) -> Array:
        """Lower limit, middle and upper limit on the logit scale."""
        centre = min(max(self.centre, INSIDE), 1.0 - INSIDE)
        away = z * np.sqrt(self.inside * effect + self.beside) / (centre * (1.0 - centre))
        return np.asarray(scipy.special.logit(centre) + away * np.array([-1.0, 0.0, 1.0]))


@dataclass(frozen=True, eq=False)
class LeftOut:
    """The average over classes without each unit in turn.

    Attributes
    ----------
    values
        The average without each unit.
    whole
        The average of all.
    strata
        The stratum of each unit.
    unseen
        The share of the population of each unit's stratum that was not sampled.
    """

    values: Array
    whole: float
    strata: Codes
    unseen: Array

    def limits(self, t: float) -> Array:
        """Lower limit, middle and upper limit on the logit scale, with the bias taken off, t standard errors apart."""
        sizes = np.bincount(self.strata)[self.strata]
        mean = np.bincount(self.strata, self.values)[self.strata] / sizes
        scale = (sizes - 1.0) / sizes
        bias = float(scale @ (self.values - self.whole))
        variance = float((scale * self.unseen) @ (self.values - mean) ** 2)
        return Middle(self.whole - bias, variance, 0.0).limits(t, 1.0)


@dataclass(frozen=True, eq=False)
class ClassCounts:
    """Hits and rows of each class of which an average is made.

    Attributes
    ----------
    hits, rows
        Of each class that has a row.
    harmonic
        Whether the value of a class is 2J/(1 + J), as F1, and not the share J itself.
    unseen
        Classes without a row, as far as they are known.

    Examples
    --------
    Eight classes of 40 rows and twelve of two, all right in about 3 of 4 rows: the F1 of the rare ones is 0 or 1 by
    luck, and 0 more often than their recall deserves.

    >>> hits, rows = np.array([30.0] * 8 + [2, 2, 2, 2, 2, 1, 1, 1, 1, 0, 0, 1]), np.repeat([40.0, 2.0], [8, 12])
    >>> counts = ClassCounts(hits, rows, harmonic=True)
    >>> low, middle, high = counts.limits(1.96, 1.0)
    >>> print(f"{counts.plain:.3f}; {low:.3f} {middle:.3f} {high:.3f}")
    0.760; 0.677 0.798 0.882
    """

    hits: Array
    rows: Array
    harmonic: bool
    unseen: float = 0.0

    @property
    def plain(self) -> float:
        """The average over the classes that have a row."""
        return float(self._value(self.hits / self.rows).mean())

    @property
    def alone(self) -> float:
        """The variance of the average over all classes, by the delta method, if they were independent."""
        share = self.hits / self.rows
        slope = 2.0 / (1.0 + share) ** 2 if self.harmonic else 1.0
        return float((slope**2 * share * (1.0 - share) / self.rows).sum()) / len(self.rows) ** 2

    @property
    def missing(self) -> float:
        """Classes without a row: those that are known, or as many as Chao's estimate says."""
        one, two = (float((np.round(self.rows) == number).sum()) for number in (1, 2))
        return max(one * (one - 1.0) / (2.0 * (two + 1.0)), self.unseen)

    def limits(self, z: float, effect: float, units: LeftOut | None = None) -> tuple[float, float, float]:
        """Lower limit, middle and upper limit, z standard errors apart."""
        first, second = self.middles
        each = (first.limits(z, effect) + second.limits(z, effect)) / 2.0
        if units is not None:
            each = (each + units.limits(z)) / 2.0
        low, middle, high = scipy.special.expit(each)
        return float(low), float(middle), float(high)

    def _value(self, share: Array) -> Array:
        return np.asarray(2.0 * share / (1.0 + share)) if self.harmonic else share

    @cached_property
    def _kinds(self) -> tuple[Array, Array, Array]:
        """Hits and rows of classes that differ in them, and how many of each there are."""
        kinds, number = np.unique(np.stack([self.hits, self.rows]), axis=1, return_counts=True)
        return kinds[0], kinds[1], number.astype(float)

    @cached_property
    def middles(self) -> tuple[Middle, Middle]:
        """The posterior's, and that of the average with its bias taken off."""
        hits, rows, number = self._kinds
        few = rows <= EXACT
        log_marginal, terms = (
            np.empty((len(_grid().density), len(rows))),
            np.empty((5, len(_grid().density), len(rows))),
        )
        log_marginal[:, few], terms[:, :, few] = self._added_up(hits[few], rows[few])
        log_marginal[:, ~few], terms[:, :, ~few] = self._closed(hits[~few], rows[~few])
        table = (np.concatenate([log_marginal[None], terms]) * number).reshape(6, len(LOGITS), len(SIZES), len(rows))
        value = self._value(_grid().p)
        prior = _grid().density @ np.stack([value, value**2], axis=1)
        table = np.ascontiguousarray(table.transpose(1, 3, 0, 2))
        return self._over_the_prior(table, prior.reshape(len(LOGITS), len(SIZES), 2))

    def _added_up(self, hits: Array, rows: Array) -> tuple[Array, Array]:
        """Log marginal likelihood under each prior, and terms (value, its variance, bias, its variance, variance of a
        value), of classes of few rows: added up over the shares of the grid.
        """
        grid, value = _grid(), self._value(_grid().p)
        if not len(rows):
            return np.empty((len(grid.density), 0)), np.empty((5, len(grid.density), 0))
        with np.errstate(divide="ignore", invalid="ignore"):
            most = np.where(hits > 0, hits * np.log(hits / rows), 0.0)
            most += np.where(rows > hits, (rows - hits) * np.log1p(-hits / rows), 0.0)
        likelihood = np.exp(np.outer(grid.log_p, hits) + np.outer(grid.log_q, rows - hits) - most)
        marginal = grid.density @ likelihood
        moments = np.stack([_moments(max(round(size), 1), self.harmonic) for size in rows.tolist()], axis=-1)
        values = np.broadcast_arrays(value[:, None], value[:, None] ** 2, moments[0])
        given = (np.stack([*values, *moments[1:]]) * likelihood).transpose(1, 0, 2).reshape(NODES, -1)
        posterior = (grid.density @ given).reshape(len(grid.density), 5, -1) / marginal[:, None]
        first, second, bias, bias_square, variance = np.moveaxis(posterior, 1, 0)
        terms = [first, second - first**2, bias, bias_square - bias**2, variance]
        return np.log(marginal), np.stack(terms)

    def _closed(self, hits: Array, rows: Array) -> tuple[Array, Array]:
        """The same of classes of many rows, whose likelihood is narrower than the grid: by the delta method."""
        grid = _grid()
        a, b = grid.a + hits, grid.b + rows - hits
        mean = a / (a + b)
        variance = mean * (1.0 - mean) / (a + b + 1.0)
        log_marginal = scipy.special.betaln(a, b) - scipy.special.betaln(grid.a, grid.b)
        if not self.harmonic:
            zero = np.zeros_like(mean)
            return log_marginal, np.stack([mean, variance, zero, zero, mean * (1.0 - mean) / rows])
        slope, curve = 2.0 / (1.0 + mean) ** 2, -4.0 / (1.0 + mean) ** 3
        binomial = mean * (1.0 - mean) / rows
        first = self._value(mean) + 0.5 * curve * variance
        terms = [first, slope**2 * variance, 0.5 * curve * binomial, np.zeros_like(mean), slope**2 * binomial]
        return log_marginal, np.stack(terms)

    def _over_the_prior(self, table: Array, prior: Array) -> tuple[Middle, Middle]:
        """Both middles, from what each prior mean says of each kind of class: means × kinds × terms × sizes."""
        _, rows, number = self._kinds
        x = np.log(rows)
        away, lost = x - x @ number / number.sum(), np.array([np.log(FEWEST) - x @ number / number.sum()])
        weight, means, slopes = _posterior(table[:, :, 0], away)
        sums = np.stack([_gathered(table[:, :, 1:], means, slope, away) for slope in slopes])
        first, spread, bias, bias_spread, variance = np.moveaxis(sums, 2, 0)  # each slopes × means × sizes
        one, two = np.moveaxis(np.stack([prior[_place(means, slope, lost)[:, 0]] for slope in slopes]), -1, 0)
        missing, own = self.missing, float(self._value(self.hits / self.rows).sum())
        of = len(self.rows) + missing
        beside = missing * (two - one**2)
        thin = min(1.0, 3.0 * float(np.mean(HANDFUL / (HANDFUL + self.rows))))
        posterior = _middle(weight, (first + missing * one) / of, spread / of**2, beside / of**2)
        corrected = _middle(weight, (own - bias + missing * one) / of, variance / of**2, (bias_spread + beside) / of**2)
        more = 1.0 + INFLATED * thin
        return Middle(posterior.centre, posterior.inside * more, posterior.beside * more), corrected


def _middle(weight: Array, centre: Array, inside: Array, beside: Array) -> Middle:
    """The mean and the variance of a middle over the posterior of the prior."""
    mean = float((weight * centre).sum())
    return Middle(mean, float((weight * inside).sum()), float((weight * (beside + (centre - mean) ** 2)).sum()))


def _posterior(log_marginal: Array, away: Array) -> tuple[Array, Array, Array]:
    """Probabilities of (slope, mean, size), and the means and slopes that they are of, where the posterior lies.

    Jeffreys' prior for the mean, a normal one for the slope.
    """
    means, slopes = LOGITS[::4], SLOPES
    weight = _weights(log_marginal, means, slopes, away)
    middle, spread = _moments_of(means, weight.sum(axis=(0, 2)), 0.25)
    means = np.clip(middle + spread * np.linspace(-3.0, 3.0, 15), LOGITS[0], LOGITS[-1])
    middle, spread = _moments_of(slopes, weight.sum(axis=(1, 2)), 0.15)
    slopes = middle + spread * np.linspace(-2.5, 2.5, 9)
    return _weights(log_marginal, means, slopes, away), means, slopes


def _weights(log_marginal: Array, means: Array, slopes: Array, away: Array) -> Array:
    flat = -0.5 * (np.logaddexp(0.0, means) + np.logaddexp(0.0, -means))[:, None]
    logs = np.stack([_gathered(log_marginal, means, slope, away) + flat for slope in slopes])
    logs -= 0.5 * ((slopes - SLOPE) / SLOPE_SPREAD)[:, None, None] ** 2
    weight = np.exp(logs - logs.max())
    return np.asarray(weight / weight.sum())


def _moments_of(grid: Array, weight: Array, least: float) -> tuple[float, float]:
    """Mean and standard deviation, at least so large."""
    mean = float(weight @ grid)
    return mean, max(float(np.sqrt(weight @ (grid - mean) ** 2)), least)


def _place(means: Array, slope: float, away: Array) -> Codes:
    """Which of the prior means each kind of class has: means × kinds."""
    step = LOGITS[1] - LOGITS[0]
    wanted = means[:, None] + slope * away
    return np.clip(np.rint((wanted - LOGITS[0]) / step), 0, len(LOGITS) - 1).astype(np.int64)


def _gathered(table: Array, means: Array, slope: float, away: Array) -> Array:
    """Sums over kinds of classes of what the table says at their prior means: means × …"""
    return np.asarray(table[_place(means, slope, away), np.arange(len(away))].sum(axis=1))


@dataclass(frozen=True, eq=False)
class _Grid:
    """Shares at which densities are added up, with their logarithms, and the prior's densities there."""

    p: Array
    log_p: Array
    log_q: Array
    density: Array  # (means × sizes) × shares
    a: Array  # of Beta(a, b), (means × sizes) × 1
    b: Array


@lru_cache(maxsize=1)
def _grid() -> _Grid:
    x, weight = np.polynomial.legendre.leggauss(NODES)  # on the angle scale
    angle = (x + 1.0) * np.pi / 4.0
    p = np.sin(angle) ** 2
    mean = scipy.special.expit(LOGITS)[:, None]
    a, b = (mean * SIZES).reshape(-1, 1), ((1.0 - mean) * SIZES).reshape(-1, 1)
    density = np.exp((a - 1.0) * np.log(p) + (b - 1.0) * np.log1p(-p)) * weight * np.sin(2.0 * angle)
    return _Grid(p, np.log(p), np.log1p(-p), density / density.sum(axis=1, keepdims=True), a, b)


@lru_cache(maxsize=4 * EXACT)
def _moments(rows: int, harmonic: bool) -> Array:
    """Bias, its square and the variance of the value of so few rows, where hits are binomial, at each share."""
    p = _grid().p
    if not harmonic:
        bias, variance = np.zeros(NODES), p * (1.0 - p) / rows
    else:
        hits = np.arange(rows + 1.0)
        ways = scipy.special.gammaln(rows + 1.0) - scipy.special.gammaln(hits + 1.0)
        ways -= scipy.special.gammaln(rows - hits + 1.0)
        chance = np.exp(ways + np.outer(_grid().log_p, hits) + np.outer(_grid().log_q, rows - hits))
        value = 2.0 * hits / (rows + hits)
        mean = chance @ value
        bias, variance = mean - 2.0 * p / (1.0 + p), np.maximum(chance @ value**2 - mean**2, 0.0)
    return np.stack([bias, bias**2, variance])

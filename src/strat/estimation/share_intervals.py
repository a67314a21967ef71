"""Limits of shares of rows in units, with the correlation of rows within units integrated out (beta-binomial).

A sample that by luck holds no bad unit has a high share *and* a small standard error, so that share ± t · se misses
on one side. Here the intraclass correlation ρ is not estimated but averaged over. Unit i has m_i rows, y_i of them
hits. With θ = 1/ρ − 1, a = pθ, b = (1 − p)θ the likelihood of (p, ρ) is the product of the beta-binomial
probabilities of (y_i; m_i, a, b), and ρ has the prior Beta(1, 3) with a point mass at 0. Two intervals are made of
it:

* *by the design*: with W_i the weight of unit i's rows over all, the share p̂ = Σ W_i y_i/m_i counts as
  n(ρ) = p(1 − p)/V(ρ) independent rows, V(ρ) = Σ W_i² p(1 − p) (1 + (m_i − 1)ρ)/m_i, and the limits solve
  E[I_p(n p̂ + ½, n(1 − p̂) + ½) | p] = α/2 and 1 − α/2, where ρ has its posterior *given p*;
* *by the model*: the posterior of p under Jeffreys' prior, which is narrower, but of the mean of the units' own
  rates: it counts only as far as units have equal weights.

Strata have rates of their own (shrunk to the whole as far as they do not differ, and by one row): with r_h the rate of
stratum h, V has r_h(1 − r_h) in the place of p(1 − p), and Σ (r_h − p)² times the variance of what units of stratum h
weigh in the share, which counts where strata differ and units hold more or less of a domain. A known share of a
population lowers V. V(ρ) is brought towards the textbook variance of the design, and the limits towards those by
the design, by h/(h + 10), where h is the number of equal squares that the textbook variance counts as: with many
units the design decides.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import NDArray

from strat.base.limits import LIMITS
from strat.base.validate.columns import Array
from strat.designs.layout import bessel
from strat.designs.lines import Lines
from strat.designs.variance import kish_of_values
from strat.estimation.pass_intervals import effective_items

Limits = tuple[Array, Array]

SPIKE = 0.05  # prior probability of independent rows
PRIOR = 3.0  # ρ ~ Beta(1, 3), chosen on the layouts of tests/estimation/test_share_intervals.py's first grid
TRUST = 10.0  # squares at which the textbook variance counts for half
AGREE = (0.5, 0.8)  # correlations from which on units count as all or nothing, and as no more than that
USUAL = 0.3  # a correlation that is no such agreement
EQUAL = 0.8  # effective over actual number of units from which on the model starts to count
LEVELS = 6  # groups of strata of similar rates in the likelihood
STEPS = 80  # values of p over which the model's posterior is added up
SHORTEST = 1e-9  # distance of a share from 0 or 1 below which it is there
ROUNDING = 1e-12  # of a line's weight, by which sums of weights may leave its hits off
CLOSE = 2e-4  # normal deviates up to which a limit is found
_EDGES = np.array([[SHORTEST], [1e-4]])  # how near to 0 and 1 the variance of a share is expected


def _correlations(number: int = 16, power: float = 2.5) -> Limits:
    """Correlations that stand for the prior, dense near 0, and their probabilities."""
    ends = (np.arange(number + 1) / number) ** power
    middle = ((np.arange(number) + 0.5) / number) ** power
    return middle, (1.0 - SPIKE) * -np.diff((1.0 - ends) ** PRIOR)


_RHO, _PROBABILITY = _correlations()
_THETA = 1.0 / _RHO - 1.0
_LOG_PRIOR = np.log(np.append(SPIKE, _PROBABILITY))
_ALL_RHO = np.append(0.0, _RHO)
_ENDS = np.unique(np.floor(np.append(np.arange(7.0), 7.0 * 1.45 ** np.arange(45))))  # of runs of whole numbers


class Fit:
    """The likelihood of some shares, and what the design says of them.

    Hits, weights and rows are those of lines; what stands for shares has them as its last axis.
    """

    def __init__(self, hits: Array, weights: Array, rows: Array, lines: Lines) -> None:
        self.hits, self.weights, self.rows, self.lines = hits, weights, rows, lines
        whole = lines.sum(weights)
        self.seen = lines.sum(hits) / whole
        self.point = np.minimum(np.maximum(self.seen, 0.0), 1.0)
        self.size = rows / lines.copies
        self.part = weights / lines.beside_lines(whole)
        off = hits - lines.beside_lines(self.point) * weights
        off = np.where(np.abs(off) > ROUNDING * weights, off, 0.0)  # one outcome alone has no variance, not a tiny one
        influence = off / lines.beside_lines(whole)
        self.held = lines.by_stratum(lines.copies * (weights > 0))
        self.drawn = np.maximum(lines.sizes, self.held)
        self.means = np.divide(
            lines.by_stratum(influence), self.held, out=np.zeros(self.held.shape), where=self.held > 0
        )
        self.centre = self.means * self.held / self.drawn  # of all units drawn, of which some may hold nothing
        self.within = lines.by_stratum(lines.copies * self._squares(influence, self.means))
        self.squares = self._squares(influence, self.centre)

    def _squares(self, influence: Array, centres: Array) -> Array:
        """Squared distances of each line's units from the centre of their stratum, without what rounding leaves."""
        away = (influence / self.lines.copies - self.lines.on_lines(centres)) * (self.weights > 0)
        return np.where(np.abs(away) > ROUNDING * self.part / self.lines.copies, away, 0.0) ** 2

    def limits(self, level: float) -> Limits:
        """Lower and upper limit of each share."""
        tail = (1.0 - level) / 2.0
        low, high = self.by_design(np.array([tail, 1.0 - tail]))
        if (self.by_model > 0).any():
            other = (self._of_population(limit) for limit in self.model_limits(tail, low, high))
            low, high = (by + self.by_model * (limit - by) for by, limit in zip((low, high), other, strict=True))
        low, high = self._by_units(scipy.special.expit(low), scipy.special.expit(high), tail)
        return np.where(self.seen <= SHORTEST, 0.0, low), np.where(self.seen >= 1 - SHORTEST, 1.0, high)

    def _by_units(self, low: Array, high: Array, tail: float) -> Limits:
        """The limits, moved to Jeffreys' for units as far as these are all or nothing."""
        apart = self.all_or_nothing
        if not (apart > 0).any():
            return low, high
        betaincinv = scipy.special.betaincinv
        few = scipy.special.ndtri(tail) / scipy.special.stdtrit(np.maximum(self._units - 1.0, 1.0), tail)
        n = self._effective_units * few**2
        hits, misses = n * self.point + 0.5, n * (1.0 - self.point) + 0.5
        limits = betaincinv(hits, misses, tail), betaincinv(hits, misses, 1.0 - tail)
        return low + apart * (limits[0] - low), high + apart * (limits[1] - high)

    @cached_property
    def _units(self) -> Array:
        """The number of units of equal weight that would say as much."""
        return kish_of_values(self.part / self.lines.copies, self.lines)

    @cached_property
    def _effective_units(self) -> Array:
        """The number of independent units, all right or all wrong, that would say as much."""
        rate = self._rate
        above, below = (self.lines.sum(self.part * held) for held in (rate > SHORTEST, rate < 1.0 - SHORTEST))
        items = np.minimum(self._units / np.maximum(self.lines.total(self.lines.unseen), SHORTEST), 1e15)
        return effective_items(self.point, self.textbook, items, above, below)

    @cached_property
    def _rate(self) -> Array:
        """The share of each unit."""
        rate = np.divide(self.hits, self.weights, out=np.zeros_like(self.size), where=self.size > 0)
        return np.minimum(np.maximum(rate, 0.0), 1.0)

    @cached_property
    def all_or_nothing(self) -> Array:
        """How far rows of a unit agree wholly, by their correlation (analysis of variance): 0 up to a half, 1 from 0.8.

        The prior of ρ hardly reaches so far. Few rows beside each other, or rows that came out alike, say nothing of
        it: what counts is the chance that some of them would have disagreed in units of the usual correlation.
        """
        lines = self.lines
        if not lines.one_stratum:
            return np.zeros(len(self.point))
        rate, rows, units = self._rate, lines.sum(self.rows), lines.sum(lines.copies * (self.weights > 0))
        mean = lines.beside_lines(lines.sum(self.rows * rate) / rows)
        within = lines.sum(self.rows * rate * (1.0 - rate)) / np.maximum(rows - units, SHORTEST)
        between = lines.sum(self.rows * (rate - mean) ** 2) / np.maximum(units - 1.0, SHORTEST)
        size = (rows - lines.sum(self.rows * self.size) / rows) / np.maximum(units - 1.0, SHORTEST)
        whole = between + (size - 1.0) * within
        rho = np.divide(between - within, whole, out=np.zeros_like(whole), where=(whole > SHORTEST) & (rows > units))
        expected = (1.0 - USUAL) * (rows - units) * self.point * (1.0 - self.point)
        return np.clip((rho - AGREE[0]) / (AGREE[1] - AGREE[0]), 0.0, 1.0) * (1.0 - np.exp(-expected)) ** 2

    def _of_population(self, limit: Array) -> Array:
        """A limit of the model, on the logit scale, for the population that a part of was seen: √(1 − f) as far off."""
        unseen = np.sqrt(self.lines.total(self.lines.unseen))
        if (unseen == 1.0).all():
            return limit
        away = scipy.special.expit(limit) - self.point
        return np.asarray(scipy.special.logit(np.clip(self.point + unseen * away, 1e-15, 1.0 - 1e-15)))

    @cached_property
    def counted(self) -> Array:
        """The number of equal squares that the textbook variance counts as, by what is in it and by the weights."""
        by_weight = kish_of_values((self.part / self.lines.copies) ** 2, self.lines)
        return np.minimum(self._kish_of_squares, by_weight)

    @property
    def _kish_of_squares(self) -> Array:
        """The same by what is in it: squares of units, and of those that hold nothing of the share."""
        lines, others = self.lines, self.drawn - self.held
        if not others.any():
            return kish_of_values(self.squares, lines)
        scale = np.maximum(lines.largest(self.squares), lines.total(self.centre**2 * (others > 0)))
        scale = np.where(scale > 0, scale, 1.0)
        inside, outside = self.squares / lines.beside_lines(scale), self.centre**2 / lines.beside_strata(scale)
        once, twice = (lines.sum(lines.copies * inside**k) + lines.total(others * outside**k) for k in (1, 2))
        return np.divide(once**2, twice, out=np.zeros_like(twice), where=twice > 0)

    @cached_property
    def trust(self) -> Array:
        """How far the textbook variance decides."""
        return self.counted / (self.counted + TRUST)

    @cached_property
    def by_model(self) -> Array:
        """How far the model's own posterior decides: with units of equal weight, and few of them."""
        if not self.lines.one_stratum:
            return np.zeros(len(self.point))
        held = np.maximum(self.lines.total(self.held), 1.0)
        equal = kish_of_values(self.part / self.lines.copies, self.lines) / held
        return np.minimum(np.maximum((equal - EQUAL) / (1.0 - EQUAL), 0.0), 1.0) * (1.0 - self.trust)

    @cached_property
    def differ(self) -> Array:
        """By how much of what they show the strata differ (0: not more than their units do), after James and Stein."""
        lines, strata = self.lines, self.lines.strata
        held = lines.total(self.held)
        inside = lines.total(self.within) / np.maximum(held - strata, 1.0)
        whole = lines.total(self.held * self.means) / held
        between = lines.total(self.held * (self.means - lines.beside_strata(whole)) ** 2) / np.maximum(strata - 1, 1)
        return np.clip(1.0 - np.divide(inside, between, out=np.ones_like(inside), where=between > 0), 0.0, 1.0)

    @cached_property
    def rates(self) -> Array:
        """The rate of each stratum: strata × shares."""
        lines, point = self.lines, self.lines.beside_strata(self.point)
        weights, rows = lines.by_stratum(self.weights), lines.by_stratum(self.rows)
        point = np.broadcast_to(point, weights.shape)
        if lines.one_stratum:
            return point
        own = np.divide(lines.by_stratum(self.hits), weights, out=point.copy(), where=weights > 0)
        shrunk = point + lines.beside_strata(self.differ) * (np.clip(own, 0.0, 1.0) - point)
        return np.asarray((rows * shrunk + point) / (rows + 1.0))

    @cached_property
    def middle(self) -> Array:
        """The share that the rates of the strata make."""
        return self.lines.total(self.lines.by_stratum(self.part) * self.rates)

    @cached_property
    def uneven(self) -> Array:
        """Variance of the weight that a stratum has in the share, of which units hold more, less or none."""
        lines, whole = self.lines, self.lines.by_stratum(self.part)
        mean = whole / self.drawn
        off = (self.part / lines.copies - lines.on_lines(mean)) ** 2 * (self.weights > 0)
        squares = lines.by_stratum(lines.copies * off) + (self.drawn - self.held) * mean**2
        return np.asarray(squares * bessel(self.drawn) * lines.unseen)

    @cached_property
    def variance_terms(self) -> Limits:
        """What the rate of each stratum is multiplied by in V(ρ): for independent rows, and for ρ."""
        lines = self.lines
        alone = np.divide(1.0, self.size, out=np.zeros_like(self.size), where=self.size > 0)
        each = self.part**2 / lines.copies
        first = lines.by_stratum(each * alone) * lines.unseen
        second = lines.by_stratum(each * np.where(self.size > 0, 1.0 - alone, 0.0)) * lines.unseen
        if lines.one_stratum:
            return first, second
        # rates taken from the units themselves leave (n_h − 1)/n_h of what lies between these
        lost = 1.0 + lines.beside_strata(self.differ) / np.maximum(self.held - 1.0, 1.0)
        return first * np.where(lines.by_stratum(self.rows) > self.held, 1.0, lost), second * lost

    def variances(self, p: Array) -> Array:
        """V(ρ) where the share is p: p's own axes × correlations."""
        if self.lines.one_stratum:
            rates = _inside(p)
            return np.asarray((rates * (1.0 - rates))[..., None] * self._of_one_stratum)
        if p.ndim > 1:
            return np.stack([self.variances(q) for q in p])
        lines, beside = self.lines, self.lines.beside_strata
        rates = moved(self.rates, beside(p), beside(self.middle))
        first, second = (lines.total(rates * (1.0 - rates) * term)[:, None] for term in self.variance_terms)
        first = first + lines.total((rates - beside(p)) ** 2 * self.uneven)[:, None]
        return np.asarray(first + _ALL_RHO * second)

    @cached_property
    def _of_one_stratum(self) -> Array:
        """V(ρ) over p(1 − p) without strata: shares × correlations."""
        first, second = (self.lines.total(term)[:, None] for term in self.variance_terms)
        return np.asarray(first + _ALL_RHO * second)

    @cached_property
    def tails(self) -> list[tuple[Array, Array]]:
        """For each group of strata: how often hits, misses and rows of a unit pass each number, and its rates.

        The logarithm of a beta-binomial probability is a sum over k of log(a + k), log(b + k) and −log(a + b + k), k
        up to the unit's hits, misses and rows; so units enter only by how many of them pass k, added up over runs of
        k: 3 × runs × shares.
        """
        hits = self.size * self._rate
        amounts = np.stack([hits, self.size - hits, self.size], axis=-1)
        if self.lines.one_stratum:
            return [(self._passing(amounts), self.point)]
        rows, total = self.lines.by_stratum(self.rows), self.lines.total
        groups = []
        for mask in self._groups():
            weight = np.where(mask, rows, 0.0)
            mean = total(weight * self.rates) / np.maximum(total(weight), SHORTEST)
            groups.append((self._passing(np.where(self.lines.on_lines(mask)[..., None], amounts, 0.0)), mean))
        return groups

    def _groups(self) -> list[NDArray[np.bool_]]:
        """Strata of similar rates, for each share: masks of strata × shares."""
        strata = self.lines.strata
        number = np.minimum(strata, LEVELS)
        beside = self.lines.beside_strata
        level = self.lines.ranks(self.rates) * beside(number) // beside(strata)
        return [level == group for group in range(int(number.max()))]

    @cached_property
    def ends(self) -> Array:
        """Ends of the runs of whole numbers up to the largest unit, single ones first, then ever longer."""
        return _ENDS[: max(2, int(np.searchsorted(_ENDS, self.size.max())) + 1)]

    def _passing(self, amounts: Array) -> Array:
        """Sums over units of how far each of several amounts goes through each run: amounts × runs × shares."""
        copies, step = self.lines.copies[..., None, None], max(1, LIMITS.totals_at_once // amounts.size)
        upto = (np.minimum(amounts[..., None], self.ends[i : i + step]) for i in range(0, len(self.ends), step))
        reached = np.concatenate([self.lines.sum(copies * each) for each in upto], axis=-1)
        return np.ascontiguousarray((reached[..., 1:] - reached[..., :-1]).transpose(1, 2, 0))

    @cached_property
    def _of_rows(self) -> Array:
        """What the logarithm of the likelihood has whatever the share: shares × correlations."""
        rows = sum(passing[2].T for passing, _ in self.tails)
        logs = np.empty((len(self.point), len(_LOG_PRIOR)))
        logs[:] = _LOG_PRIOR
        logs[:, 1:] -= rows @ np.log(_THETA[:, None] + self._between).T
        return logs

    @cached_property
    def _between(self) -> Array:
        """The middle of each run."""
        return np.asarray((self.ends[:-1] + self.ends[1:] - 1.0) / 2.0)

    def log_likelihood(self, p: Array) -> Array:
        """Of (p, ρ), with the prior of ρ: p's own axes, of which shares are the last, × correlations."""
        shares = p.shape[-1]
        total = np.empty((shares, len(_LOG_PRIOR), p.size // shares))  # p's own axes last: sums are quick along them
        total[:] = self._of_rows[:, :, None]
        both = np.empty((2, shares, p.size // shares))  # rates of hits and misses
        for passing, rate in self.tails:
            at = _inside(p) if self.lines.one_stratum else moved(rate, p, self.middle)
            both[0] = at.reshape(-1, shares).T
            both[1] = 1.0 - both[0]
            scaled = both[:, :, None] * _THETA[:, None]
            logs = np.log(scaled[:, None] + self._between[:, None, None, None])
            logs *= passing[:2, ..., None, None]
            total[:, 1:] += np.add.reduce(logs.reshape(-1, *scaled.shape[1:]), axis=0)
            total[:, 0] += np.add.reduce(np.log(both) * np.add.reduce(passing[:2], axis=1)[..., None], axis=0)
        return np.ascontiguousarray(total.transpose(2, 0, 1)).reshape(*p.shape, -1)

    def posterior(self, p: Array) -> Array:
        """Probabilities of the correlations where the share is p: p's own axes × correlations."""
        logs = self.log_likelihood(p)
        each = np.exp(logs - np.maximum.reduce(logs, axis=-1, keepdims=True))
        return np.asarray(each / np.add.reduce(each, axis=-1, keepdims=True))

    def _log_marginal(self, p: Array) -> Array:
        """Logarithm of the likelihood of p with ρ added up: of the shape of p."""
        logs = self.log_likelihood(p)
        largest = np.maximum.reduce(logs, axis=-1)
        return np.asarray(largest + np.log(np.add.reduce(np.exp(logs - largest[..., None]), axis=-1)))

    @cached_property
    def _expected(self) -> Array:
        """Expected V(ρ) at the share, next to the ends of its range, and no closer to these than 1e-4: 2 × shares."""
        p = np.minimum(np.maximum(self.point, _EDGES), 1.0 - _EDGES)
        return np.asarray((self.posterior(p) * self.variances(p)).sum(axis=-1))

    @cached_property
    def textbook(self) -> Array:
        """The textbook variance of the design."""
        outside = self.held * (1.0 - self.held / self.drawn) * self.means**2  # of units that hold nothing of it
        squares = self.within * bessel(self.held) + outside * bessel(self.drawn)
        return np.asarray(self.lines.total(squares * self.lines.unseen))

    @cached_property
    def correction(self) -> Array:
        """What V(ρ) is multiplied by, towards the textbook variance."""
        expected = self._expected[0]
        known = (self.textbook > 0) & (expected > 0)
        share = np.divide(self.textbook, expected, out=np.ones_like(expected), where=known)
        return np.asarray(share**self.trust)

    def below(self, p: Array) -> Array:
        """E[I_p(n p̂ + ½, n(1 − p̂) + ½) | p] for each share: of the shape of p, of which shares are the last axis."""
        variance = np.maximum(self.variances(p) * self.correction[:, None], 1e-300)
        n = np.minimum((p * (1.0 - p))[..., None] / variance, 1e15)
        point = self.point[:, None]
        each = scipy.special.betainc(n * point + 0.5, n * (1.0 - point) + 0.5, p[..., None])
        return np.add.reduce(self.posterior(p) * each, axis=-1)

    def by_design(self, tails: Array) -> Array:
        """Where `below` comes to each tail, on the logit scale (tails × shares): secants between limits that close in.

        All tails are looked for at once, which takes half the calls.
        """
        p = np.minimum(np.maximum(self.point, _EDGES[1]), 1.0 - _EDGES[1])
        variance = self._expected[1] * self.correction
        n = np.minimum(np.maximum(p * (1.0 - p) / np.maximum(variance, 1e-300), 1.0), 1e15)
        start = (n * self.point + 0.5) / (n + 1.0)
        slope = np.sqrt(n * start * (1.0 - start) + 0.5)
        wanted = scipy.special.ndtri(tails)[:, None]

        def gap(x: Array) -> Array:
            below = self.below(scipy.special.expit(x))
            return np.asarray(scipy.special.ndtri(np.minimum(np.maximum(below, 1e-300), 1.0 - 1e-16)) - wanted)

        return _root(gap, scipy.special.logit(start) + wanted / slope, slope)

    def model_limits(self, tail: float, low: Array, high: Array) -> Limits:
        """Quantiles of the posterior of p, on the logit scale, added up well beyond the limits by the design."""
        centre = scipy.special.logit(np.clip(self.point, 1e-4, 1.0 - 1e-4))
        start, end = centre - 2.2 * np.abs(centre - low) - 0.3, centre + 2.2 * np.abs(high - centre) + 0.3
        x = start + (end - start) * np.linspace(0.0, 1.0, STEPS)[:, None]
        p, step = scipy.special.expit(x), max(2 * LIMITS.shares_at_once // x.shape[1], 1)
        logs = np.concatenate([self._log_marginal(p[i : i + step]) for i in range(0, STEPS, step)])
        logs -= 0.5 * (np.logaddexp(0.0, x) + np.logaddexp(0.0, -x))  # Jeffreys' prior, ½ log p(1 − p), on this scale
        density = np.exp(logs - logs.max(axis=0))
        density /= density.sum(axis=0)
        reached = np.cumsum(density, axis=0) - density / 2.0
        low, high = _quantiles(x, reached, np.array([tail, 1.0 - tail]))
        return low, high


def _inside(rates: Array) -> Array:
    """Rates that are neither 0 nor 1."""
    return np.minimum(np.maximum(rates, SHORTEST), 1.0 - SHORTEST)


def moved(rates: Array, p: Array, middle: Array) -> Array:
    """Rates of strata that make the share p, between those that are seen, which make `middle`, and 0 or 1."""
    down = rates * np.divide(p, middle, out=np.ones_like(p), where=middle > 0)
    up = 1.0 - (1.0 - rates) * np.divide(1.0 - p, 1.0 - middle, out=np.ones_like(p), where=middle < 1)
    return _inside(np.where(p < middle, down, up))


def _quantiles(x: Array, reached: Array, orders: Array) -> Array:
    """Where each column of `reached` comes to each order: tails fall as powers of the odds, on lines of log odds."""
    upper = np.minimum(np.maximum((reached < orders[:, None, None]).sum(axis=1), 1), len(x) - 1)
    column = np.arange(x.shape[1])
    inside = np.minimum(np.maximum(reached, 1e-300), 1.0 - 1e-16)
    before, after = (scipy.special.logit(inside[place, column]) for place in (upper - 1, upper))
    share = (scipy.special.logit(orders)[:, None] - before) / np.maximum(after - before, 1e-300)
    start = x[upper - 1, column]
    return np.asarray(start + np.minimum(np.maximum(share, 0.0), 1.0) * (x[upper, column] - start))


def _root(gap: Callable[[Array], Array], x: Array, slope: Array) -> Array:
    """Where rising functions are 0, from a start and a slope for each: secants, halving where these lead astray.

    A function that has come to its zero stays there, whatever the others need: each has the answer that it has alone.
    """
    x = np.minimum(np.maximum(x, -30.0), 30.0)
    low, high = np.full(x.shape, -35.0), np.full(x.shape, 35.0)
    here = gap(x)
    for _ in range(14):
        if (there_yet := np.abs(here) < CLOSE).all():
            break
        low, high = np.where(here < 0, x, low), np.where(here < 0, high, x)
        next_x = np.where(there_yet, x, x - here / slope)
        astray = ~(((next_x > low) & (next_x < high)) | there_yet)
        if astray.any():
            next_x = np.where(astray, (np.maximum(low, x - 4.0) + np.minimum(high, x + 4.0)) / 2.0, next_x)
        there, step = gap(next_x), next_x - x
        secant = (there - here) / np.where(step == 0.0, 1.0, step)
        slope = np.where((secant > 1e-3) & (secant < np.inf), secant, slope)
        x, here = next_x, there
    return x

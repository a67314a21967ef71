"""Samples like the user's own, from a population whose true value is known.

A sample is drawn as the design draws one: within each stratum as many units as there are, each with its rows, their
weights and their true labels, so that sizes and prevalence vary from sample to sample as they do in reality. What the
system answers is then drawn from a model of what the data show: how often it is right in each stratum and class, which
label it gives when it is wrong, and how much the units differ. How they differ can't be seen in few units, so the
intraclass correlation is drawn from its posterior and the shape of the differences is an argument.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from strat.base.limits import LIMITS
from strat.base.validate.columns import Array, Codes, encode
from strat.designs import Design
from strat.measures.clustering import anova, mean_product

Columns = dict[str, Any]
Drawn = tuple[Columns, Design]
PRIOR = 0.5  # errors, and right answers, added so that neither is impossible
MAX_CORRELATION = 0.9  # intraclass correlation up to which samples are made
QUANTILES = (0.1, 0.3, 0.5, 0.7, 0.9)  # of the intraclass correlation, each equally often
GRID = 200  # steps of the ease of an item
SHAPES = ("beta", "logit-normal", "one bad in ten")
SCORE_SHAPES = ("as observed", "normal", "one bad in ten")
ROWS = ("independent rows",)


@dataclass(frozen=True, eq=False)
class Simulator:
    """Where samples like the user's own come from.

    Attributes
    ----------
    draw
        From a random generator to the columns of a new sample and its design.
    expected
        Columns and row weights whose statistic is the true value.
    assumption
        What was assumed, in words.
    """

    draw: Callable[[np.random.Generator], Drawn]
    expected: Callable[[], tuple[Columns, Array]]
    assumption: str


def shapes(columns: Mapping[str, Any], design: Design) -> tuple[str, ...]:
    """The ways in which units may differ that these columns allow."""
    if design.rows_are_units:
        return ROWS
    return SHAPES if has_labels(columns) else SCORE_SHAPES


def simulator(columns: Mapping[str, Any], design: Design, shape: str) -> Simulator:
    """The simulator of labels where there are predictions or rows right and wrong, of scores otherwise."""
    if "predicted" in columns:
        return _labels(columns["truth"], columns["predicted"], design, dict(columns), shape)
    score = np.asarray(columns["score"], float)
    if has_labels(columns):
        return _labels(np.ones(len(score)), score, design, {}, shape)
    return _scores(columns, score, design, shape)


def has_labels(columns: Mapping[str, Any]) -> bool:
    """Whether rows are right or wrong, and not measured by a score."""
    if "predicted" in columns:
        return True
    return columns.get("truth") is None and bool(np.isin(np.asarray(columns["score"], float), (0.0, 1.0)).all())


# ---- units drawn anew


class _Units:
    """Units of a design drawn again, within strata and with all their rows."""

    def __init__(self, design: Design) -> None:
        self.design = design
        self.order = np.argsort(design.unit, kind="stable")
        self.count = np.bincount(design.unit, minlength=design.n_units)
        self.first = np.cumsum(self.count) - self.count
        self.same = self._made(self.order, self._position(self.count)) if self._exchangeable() else None

    def draw(self, rng: np.random.Generator) -> tuple[Codes, Codes, Design]:
        """The row that each new row copies, the number of its new unit, and the design of the new rows."""
        d = self.design
        unit = d.starts[d.stratum] + (rng.random(d.n_units) * d.sizes[d.stratum]).astype(np.int64)
        count = self.count[unit]
        position = self._position(count)
        within = np.arange(len(position)) - np.repeat(np.cumsum(count) - count, count)
        rows = self.order[self.first[unit][position] + within]
        return rows, position, self.same or self._made(rows, position)

    def _position(self, count: Codes) -> Codes:
        return np.repeat(np.arange(len(count)), count)

    def _made(self, rows: Codes, position: Codes) -> Design:
        return replace(self.design, unit=position, weights=self.design.weights[rows], item=None)

    def _exchangeable(self) -> bool:
        """Whether any unit of a stratum may stand for any other, so that all samples have one design."""
        d = self.design
        weight = d.weights[self.order][self.first]
        even = bool((d.weights == weight[d.unit]).all())
        start = d.starts[d.stratum]
        return even and bool((self.count == self.count[start]).all() and (weight == weight[start]).all())


# ---- labels


def _labels(truth: NDArray[Any], predicted: NDArray[Any], design: Design, columns: Columns, shape: str) -> Simulator:
    """Right with the rate of the stratum and class, moved for a unit's rows of a class at once; wrong as observed."""
    labels = np.unique(np.concatenate([encode("truth", truth)[1], encode("predicted", predicted)[1]]))
    if "predicted" not in columns:
        labels = np.array([0.0, 1.0])
    actual, answer = np.searchsorted(labels, truth), np.searchsorted(labels, predicted)
    right = (actual == answer).astype(float)
    rate = rates(right, actual, design, len(labels))
    wrong = wrong_labels(actual, answer, design.weights, len(labels))
    cells = _Cells(actual, right, rate, design)
    table, code = _rate_table(rate, cells.correlations, shape)
    up_to, units = np.cumsum(wrong, axis=1), _Units(design)

    def draw(rng: np.random.Generator) -> Drawn:
        rows, position, drawn = units.draw(rng)
        place = rng.integers(len(cells.correlations)) * GRID + cells.ease(rng, rows, position)
        ok = rng.random(len(rows)) < table[code[rows], place]
        other = (rng.random(len(rows))[:, None] > up_to[actual[rows]]).sum(axis=1)
        answered = np.where(ok, actual[rows], np.minimum(other, len(labels) - 1))
        return named(columns, labels, actual[rows], answered), drawn

    mean = table.mean(axis=1)[code]
    return Simulator(
        draw, lambda: expected(columns, labels, actual, mean, wrong, design), _words(mean, design, cells.correlations)
    )


def rates(right: Array, actual: Codes, design: Design, classes: int) -> Array:
    """Each row's chance to be right: its stratum's and class's share, drawn a little towards the whole."""
    w, stratum = design.weights, design.stratum[design.unit]
    whole = (w @ right / w.mean() + PRIOR) / (len(right) + 2 * PRIOR)
    cell = stratum * classes + actual
    size = np.bincount(cell, minlength=design.n_strata * classes)
    share = (np.bincount(cell, right, minlength=len(size)) + 4 * whole) / (size + 4)
    each: Array = share[cell]
    # the whole keeps the observed rate, and no rate is 0 or 1
    return np.clip(each + (whole - w @ each / w.sum()), 0.2 / len(right), 1 - 0.2 / len(right))


def wrong_labels(actual: Codes, answer: Codes, weights: Array, classes: int) -> Array:
    """For each true class, how often each other label was given instead."""
    table = np.bincount(actual * classes + answer, weights, minlength=classes**2).reshape(classes, classes)
    table = table + 0.5 * weights.mean()
    np.fill_diagonal(table, 0.0)
    return np.asarray(table / table.sum(axis=1, keepdims=True))


class _Cells:
    """The rows of one class in one unit: they are easy or hard together, and more or less so with the other classes.

    Attributes
    ----------
    correlations
        Equally likely values of the intraclass correlation of being right (0 where rows are units).
    across
        Correlation of the ease of a unit's classes: 1 where a unit is easy or hard as a whole, negative where the
        system leans towards a label in whole units.
    """

    def __init__(self, actual: Codes, right: Array, rate: Array, design: Design) -> None:
        classes = int(actual.max()) + 1
        key, self.cell = np.unique(design.unit * classes + actual, return_inverse=True)
        owner = key // classes
        self.number = np.bincount(owner, minlength=design.n_units)[design.unit]
        self.local = self.cell - np.searchsorted(owner, design.unit)
        if design.rows_are_units:
            self.correlations, self.across, self.flip = np.zeros(1), 0.0, np.zeros(len(actual), bool)
            return
        count, hits, mean = (np.bincount(self.cell, x).astype(float) for x in (np.ones(len(rate)), right, rate))
        self.correlations = _posterior(hits, count, mean / count)
        residual = (right - rate) / np.sqrt(rate * (1 - rate))
        self.across = _across(residual, self.cell, owner, np.unique(actual).size == 2)
        self.flip = (actual == actual.max()) if self.across < 0 else np.zeros(len(actual), bool)

    def ease(self, rng: np.random.Generator, rows: Codes, position: Codes) -> Codes:
        """The place on the grid of rates of each new row: one for each class in each new unit."""
        number = np.zeros(position[-1] + 1, np.int64)
        number[position] = self.number[rows]
        cell = (np.cumsum(number) - number)[position] + self.local[rows]
        own, whole = rng.standard_normal(int(number.sum())), rng.standard_normal(len(number))[position]
        share = abs(self.across)
        z = np.where(self.flip[rows], -1.0, 1.0) * np.sqrt(share) * whole + np.sqrt(1 - share) * own[cell]
        return np.minimum((scipy.special.ndtr(z) * GRID).astype(np.int64), GRID - 1)


def _posterior(hits: Array, count: Array, mean: Array) -> Array:
    """Quantiles of the intraclass correlation: beta-binomial cells, prior Beta(1, 3)."""
    edge = np.concatenate([[0.0], np.geomspace(1e-4, MAX_CORRELATION, 60)])
    middle = (edge[1:] + edge[:-1]) / 2
    some = count > 1  # one row alone says nothing of the correlation of rows
    total = (1.0 / middle - 1.0)[:, None]
    a, b = mean[some] * total, (1 - mean[some]) * total
    likelihood = (scipy.special.betaln(hits[some] + a, (count - hits)[some] + b) - scipy.special.betaln(a, b)).sum(
        axis=1
    )
    mass = np.exp(likelihood - likelihood.max()) * -np.diff((1 - edge) ** 3)
    return np.asarray(np.interp(QUANTILES, np.cumsum(mass) / mass.sum(), middle))


def _across(residual: Array, cell: Codes, owner: Codes, two: bool) -> float:
    """Covariance of residuals of two classes in one unit over that of two rows of one class there, from −1 to 1."""
    count, total, within = np.bincount(cell), np.bincount(cell, residual), mean_product(residual, cell)
    whole, size = np.bincount(owner, total), np.bincount(owner, count)
    pairs = float((size**2).sum() - (count**2).sum())
    if within <= 0 or pairs == 0:
        return 1.0  # nothing to see: a unit is easy or hard as a whole
    between = float((whole**2).sum() - (total**2).sum()) / pairs
    return float(np.clip(between / within, -1.0 if two else 0.0, 1.0))


def _rate_table(rate: Array, correlations: Array, shape: str) -> tuple[Array, Codes]:
    """Rates of hard to easy units for each distinct mean rate, all correlations side by side; and each row's line."""
    distinct, code = np.unique(np.round(rate, 6), return_inverse=True)
    p, u = distinct[:, None], (np.arange(GRID) + 0.5) / GRID
    quantiles = {"beta": _beta, "logit-normal": _logit_normal, "one bad in ten": _one_bad}
    if shape in ROWS:
        return np.broadcast_to(p, (len(p), len(correlations) * GRID)), code
    return np.concatenate([quantiles[shape](p, float(c), u) for c in correlations], axis=1), code


def _beta(p: Array, correlation: float, u: Array) -> Array:
    total = 1.0 / correlation - 1.0
    return np.asarray(scipy.special.betaincinv(p * total, (1 - p) * total, u))


def _logit_normal(p: Array, correlation: float, u: Array) -> Array:
    """Rates whose logits are normal, with mean p and variance correlation · p(1 − p), by halving."""
    z, (low, high) = scipy.special.ndtri(u), (np.zeros_like(p), np.full_like(p, 20.0))
    for _ in range(30):
        sd = (low + high) / 2
        rates = _centred(p, sd, z)
        small = rates.var(axis=1, keepdims=True) < correlation * p * (1 - p)
        low, high = np.where(small, sd, low), np.where(small, high, sd)
    return rates


def _centred(p: Array, sd: Array, z: Array) -> Array:
    low, high = np.full_like(p, -200.0), np.full_like(p, 200.0)
    for _ in range(30):
        centre = (low + high) / 2
        small = scipy.special.expit(centre + sd * z).mean(axis=1, keepdims=True) < p
        low, high = np.where(small, centre, low), np.where(small, high, centre)
    return np.asarray(scipy.special.expit(centre + sd * z))


def _one_bad(p: Array, correlation: float, u: Array) -> Array:
    """One unit in ten is worse than the others by as much as the correlation says, as far as rates allow."""
    gap = np.minimum(np.sqrt(correlation * p * (1 - p) / 0.09), np.minimum(p / 0.9, (1 - p) / 0.1))
    return np.where(u < 0.1, p - 0.9 * gap, p + 0.1 * gap)


def named(columns: Columns, labels: NDArray[Any], actual: Codes, answer: Codes) -> Columns:
    """The columns of a sample, from codes of true and given labels."""
    if "predicted" not in columns:
        return {"score": labels[answer]}
    return {**columns, "truth": labels[actual], "predicted": labels[answer]}


def expected(
    columns: Columns, labels: NDArray[Any], actual: Codes, rate: Array, wrong: Array, design: Design
) -> tuple[Columns, Array]:
    """Every cell of truth and prediction once, with the weight that it has in the long run."""
    k = len(labels)
    w = design.weights
    hit = np.bincount(actual, w * rate, minlength=k)
    miss = np.bincount(actual, w * (1 - rate), minlength=k)
    mass = miss[:, None] * wrong + np.diag(hit)
    a, b = (axis.ravel() for axis in np.indices((k, k)))
    keep = mass.ravel() > 0
    return named(columns, labels, a[keep], b[keep]), mass.ravel()[keep]


def _words(rate: Array, design: Design, correlations: Array) -> str:
    share = float(design.weights @ rate / design.weights.sum())
    return f"right in {share:.2%} of the rows, intraclass correlation {_range(correlations)}"


def _range(correlations: Array) -> str:
    low, high = (f"{value:.2f}" for value in (correlations.min(), correlations.max()))
    return low if low == high else f"{low} to {high}"


# ---- scores


def _scores(columns: Mapping[str, Any], score: Array, design: Design, shape: str) -> Simulator:
    """Scores are the class's mean, the stratum's shift, a unit's effect and a row's residual, the last two drawn."""
    truth = columns.get("truth")
    group, mean = class_means(truth, score)
    shift = by_stratum(score - mean, design)
    rest = score - mean - shift
    effects, noise, correlations = _parts(rest, design)
    ends = (score.min(), score.max()) if truth is None else (-np.inf, np.inf)
    pools, units = [noise[group == g] for g in range(int(group.max()) + 1)], _Units(design)

    def draw(rng: np.random.Generator) -> Drawn:
        rows, position, base = units.draw(rng)
        part = float(rng.choice(correlations))
        drawn = (mean + shift)[rows] + np.sqrt(part) * _effects(rng, effects, shape, design.n_units)[position]
        for g, pool in enumerate(pools):
            own = np.flatnonzero(group[rows] == g)
            drawn[own] += np.sqrt(1 - part) * rng.choice(pool, len(own))
        labels = {} if truth is None else {"truth": np.asarray(truth)[rows]}
        return {"positive": columns.get("positive"), **labels, "score": np.clip(drawn, *ends)}, base

    words = f"scores with an intraclass correlation of {_range(correlations)}"
    return Simulator(draw, lambda: pooled(draw, len(score)), words)


def class_means(truth: Any, score: Array) -> tuple[Codes, Array]:
    """The true class of each row (0 without any), and the mean score of that class."""
    group = np.zeros(len(score), np.int64) if truth is None else encode("truth", truth)[0]
    return group, (np.bincount(group, score) / np.maximum(np.bincount(group), 1))[group]


def _effects(rng: np.random.Generator, effects: Array, shape: str, number: int) -> Array:
    """Effects of new units, with the variance of the pool."""
    if shape == "normal":
        return effects.std() * rng.standard_normal(number)
    if shape == "one bad in ten":
        return effects.std() * np.where(rng.random(number) < 0.1, -3.0, 1 / 3)
    return rng.choice(effects, number)


def pooled(
    draw: Callable[[np.random.Generator], Drawn], rows: int, design: Design | None = None
) -> tuple[Columns, Array]:
    """Many samples as one, weighted as `design` (None: as each): its value is the population's, but for chance."""
    rng = np.random.default_rng(1)
    samples = [draw(rng) for _ in range(max(20, min(1000, LIMITS.pooled_rows // rows)))]
    names = [name for name in samples[0][0] if name != "positive"]
    columns: Columns = {name: np.concatenate([c[name] for c, _ in samples]) for name in names}
    weights = np.concatenate([(drawn if design is None else design).weights for _, drawn in samples])
    return {**columns, "positive": samples[0][0]["positive"]}, weights


def by_stratum(rest: Array, design: Design) -> Array:
    """The mean of each row's stratum."""
    of_row = design.stratum[design.unit]
    means: Array = (np.bincount(of_row, rest, minlength=design.n_strata) / np.bincount(of_row))[of_row]
    return means


def _parts(rest: Array, design: Design) -> tuple[Array, Array, Array]:
    """Effects of units and residuals of rows, both with the variance of the whole, and likely correlations."""
    if design.rows_are_units or design.n_units == design.n_strata:
        return np.zeros(1), rest, np.zeros(1)
    sizes = np.bincount(design.unit, minlength=design.n_units)
    means = np.bincount(design.unit, rest, minlength=design.n_units) / sizes
    sd = float(rest.std())
    scaled = [part * (sd / part.std() if part.std() > 0 else 0.0) for part in (means, rest - means[design.unit])]
    return scaled[0] - scaled[0].mean(), scaled[1], _correlations(rest, design)


def _correlations(rest: Array, design: Design) -> Array:
    """Quantiles of the intraclass correlation by the F distribution of the analysis of variance (Searle 1971)."""
    parts = anova(rest, design.unit, groups=design.n_strata)
    if parts.within <= 0:
        return np.full(1, MAX_CORRELATION if parts.between > 0 else 0.0)
    free = (design.n_units - design.n_strata, len(rest) - design.n_units)
    ratio = parts.between / parts.within / scipy.stats.f.ppf(1 - np.asarray(QUANTILES), *free)
    return np.clip((ratio - 1) / (ratio + parts.size - 1), 0.0, MAX_CORRELATION)

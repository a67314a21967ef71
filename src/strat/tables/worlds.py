"""Samples like a person's own, drawn from a world whose truth is known.

The design stays: the same strata, units, sizes and weights. What the system said is drawn anew, from what the sample
shows of it: how often it is right in each stratum and class, what it says when it is wrong, and how alike the rows
of a unit are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.columns import Array, Codes, encode
from strat.designs import Design

Columns = dict[str, Any]
PRIOR = 0.5  # errors, and right answers, that a world adds so that neither is impossible
MOST_ALIKE = 0.9
GRID = 512


@dataclass(frozen=True, eq=False)
class World:
    """Where samples like one's own come from.

    Attributes
    ----------
    draw
        From a random generator to the columns of a new sample, row by row as in the design.
    expected
        Columns and row weights whose statistic is the truth; None: the mean over the samples stands for it.
    words
        What was assumed.
    """

    draw: Callable[[np.random.Generator], Columns]
    expected: tuple[Columns, Array] | None
    words: str


def world(columns: Mapping[str, NDArray[Any]], design: Design) -> World:
    """The world of labels where there are predictions or rows right and wrong, of scores otherwise."""
    if "predicted" in columns:
        return _labels(columns["truth"], columns["predicted"], design, dict(columns))
    columns = {role: v for role, v in columns.items() if v is not None}
    score = np.asarray(columns["score"], float)
    if "truth" not in columns and np.isin(score, (0.0, 1.0)).all():
        return _labels(np.ones(len(score)), score, design, {})
    return _scores(columns, score, design)


def _labels(truth: NDArray[Any], predicted: NDArray[Any], design: Design, columns: Columns) -> World:
    """Right with the rate of the stratum and class, moved for a whole unit at once; wrong labels as they were."""
    labels = np.unique(np.concatenate([encode("truth", truth)[1], encode("predicted", predicted)[1]]))
    if "predicted" not in columns:
        labels = np.array([0.0, 1.0])
    actual, said = np.searchsorted(labels, truth), np.searchsorted(labels, predicted)
    right = (actual == said).astype(float)
    rate = _rates(right, actual, design, len(labels))
    wrong = _wrong(actual, said, design.weights, len(labels))
    alike = _alike(right - rate, design)
    moved, up_to = _mover(rate, alike), np.cumsum(wrong, axis=1)

    def draw(rng: np.random.Generator) -> Columns:
        ok = rng.random(len(rate)) < moved(rng.random(design.n_units)[design.unit])
        other = (rng.random(len(rate))[:, None] > up_to[actual]).sum(axis=1)
        return _named(columns, labels, np.where(ok, actual, np.minimum(other, len(labels) - 1)))

    return World(draw, _expected(columns, labels, actual, rate, wrong, design), _words(rate, design, alike))


def _rates(right: Array, actual: Codes, design: Design, classes: int) -> Array:
    """Each row's chance to be right: its stratum's and class's share, drawn a little towards the whole."""
    w, stratum = design.weights, design.stratum[design.unit]
    whole = (w @ right / w.mean() + PRIOR) / (len(right) + 2 * PRIOR)
    cell = stratum * classes + actual
    size = np.bincount(cell, minlength=design.n_strata * classes)
    share = (np.bincount(cell, right, minlength=len(size)) + 4 * whole) / (size + 4)
    made: Array = share[cell]
    # the whole keeps the rate that was seen, with a grain of doubt
    return np.clip(made + (whole - w @ made / w.sum()), 0.2 / len(right), 1 - 0.2 / len(right))


def _wrong(actual: Codes, said: Codes, weights: Array, classes: int) -> Array:
    """For each true class, how often each other label was said instead."""
    table = np.bincount(actual * classes + said, weights, minlength=classes**2).reshape(classes, classes)
    table = table + 0.5 * weights.mean()
    np.fill_diagonal(table, 0.0)
    return np.asarray(table / table.sum(axis=1, keepdims=True))


def _alike(residual: Array, design: Design) -> float:
    """The intraclass correlation of what the strata and classes leave, between 0 and 0.9."""
    sizes = np.bincount(design.unit, minlength=design.n_units).astype(float)
    n, free = len(residual), design.n_units - design.n_strata
    if design.rows_are_units or free < 1:
        return 0.0
    means = np.bincount(design.unit, residual, minlength=design.n_units) / sizes
    between = float((sizes * means**2).sum()) / free
    within = float(((residual - means[design.unit]) ** 2).sum()) / (n - design.n_units)
    typical = (n - float((sizes**2).sum()) / n) / max(design.n_units - 1, 1)
    spread = between + (typical - 1) * within
    return float(np.clip((between - within) / spread, 0.0, MOST_ALIKE)) if spread > 0 else 0.0


def _mover(rate: Array, alike: float) -> Callable[[Array], Array]:
    """From a unit's ease (0 to 1) to the rates of its rows: Beta quantiles with their mean and this correlation."""
    if alike < 1e-3:
        return lambda ease: rate
    from scipy.special import betaincinv

    total = 1.0 / alike - 1.0
    grid = (np.arange(GRID) + 0.5) / GRID
    distinct, code = np.unique(np.round(rate, 6), return_inverse=True)
    table = betaincinv(distinct[:, None] * total, (1 - distinct[:, None]) * total, grid)
    return lambda ease: np.asarray(table[code, np.minimum((ease * GRID).astype(np.int64), GRID - 1)])


def _named(columns: Columns, labels: NDArray[Any], said: Codes) -> Columns:
    if "predicted" not in columns:
        return {"score": labels[said]}
    return {**columns, "predicted": labels[said]}


def _expected(
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
    if "predicted" not in columns:
        return {"score": labels[b][keep]}, mass.ravel()[keep]
    made: Columns = {"truth": labels[a][keep], "predicted": labels[b][keep]}
    return {**made, "positive": columns.get("positive")}, mass.ravel()[keep]


def _scores(columns: Mapping[str, NDArray[Any]], score: Array, design: Design) -> World:
    """Scores are the class's mean, the stratum's shift, a unit's effect and a row's residual, the last two redrawn."""
    truth = columns.get("truth")
    group = np.zeros(len(score), np.int64) if truth is None else encode("truth", truth)[0]
    mean = (np.bincount(group, score) / np.maximum(np.bincount(group), 1))[group]
    rest = score - mean
    effect, noise, alike = _parts(rest, design)
    shift = _by_stratum(rest, design)
    classes = [np.flatnonzero(group == g) for g in range(int(group.max()) + 1)]

    def draw(rng: np.random.Generator) -> Columns:
        made = mean + shift + rng.choice(effect, design.n_units)[design.unit]
        for rows in classes:
            made[rows] += rng.choice(noise[rows], len(rows))
        return {**columns, "score": made}

    return World(draw, None, f"scores drawn anew, intraclass correlation {alike:.2f}")


def _by_stratum(rest: Array, design: Design) -> Array:
    of_row = design.stratum[design.unit]
    made: Array = (np.bincount(of_row, rest, minlength=design.n_strata) / np.bincount(of_row))[of_row]
    return made


def _parts(rest: Array, design: Design) -> tuple[Array, Array, float]:
    """Effects of units and residuals of rows, with the variances that an analysis of variance gives them."""
    rest = rest - _by_stratum(rest, design)
    alike = _alike(rest, design)
    if alike == 0.0:
        return np.zeros(1), rest, 0.0
    sizes = np.bincount(design.unit, minlength=design.n_units)
    means = np.bincount(design.unit, rest, minlength=design.n_units) / sizes
    noise = rest - means[design.unit]
    total = float(rest.var())
    scaled = [np.sqrt(share * total / part.var()) * part if part.var() > 0 else part * 0 for share, part in
              ((alike, means - means.mean()), (1 - alike, noise))]  # fmt: skip
    return scaled[0], scaled[1], alike


def _words(rate: Array, design: Design, alike: float) -> str:
    share = float(design.weights @ rate / design.weights.sum())
    return f"right in {share:.2%} of the rows, intraclass correlation {alike:.2f}"

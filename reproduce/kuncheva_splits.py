"""Kuncheva's Example 1.8 and Figure 1.17: average errors of shuffled splits, and of independent sets."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from strat.base.validate.columns import Array


@dataclass(frozen=True)
class SplitSimulation:
    """Kuncheva's Example 1.8: what overlapping training sets do to the spread of a mean error.

    Attributes
    ----------
    mean_shuffled, sd_shuffled
        Mean and spread, over data sets, of the average error of shuffled splits (the book: 0.159, 0.0711).
    mean_independent, sd_independent
        The same for independent training and testing sets (0.159, 0.0347).
    se_uncorrected
        Average of s / sqrt(T), which ought to be `sd_shuffled` and is not (0.0320).
    se_corrected
        Average of s sqrt(1/T + testing/training), (1.12) (0.0667).
    shuffled, independent
        The average error of each data set and of each batch, of which Figure 1.17 draws the histograms.

    Notes
    -----
    The book calls the means "about 15.9 % (the theoretical error)". That is Bayes' error; a linear classifier
    trained on 36 points errs more often (ERRATA 35).
    """

    mean_shuffled: float
    sd_shuffled: float
    mean_independent: float
    sd_independent: float
    se_uncorrected: float
    se_corrected: float
    shuffled: Array = field(repr=False)
    independent: Array = field(repr=False)


def split_simulation(*, data_sets: int = 200, runs: int = 30, rng: int = 0) -> SplitSimulation:
    """Run Example 1.8: two Gaussian classes, 40 points, 90 % / 10 % shuffles, the linear classifier."""
    generator = np.random.default_rng(rng)
    shuffled = np.empty((data_sets, runs))
    independent = np.empty((data_sets, runs))
    for i in range(data_sets):
        x, y = _two_gaussians(generator, 1)
        order = generator.permuted(np.tile(np.arange(40), (runs, 1)), axis=1)
        shuffled[i] = _linear_errors(x[0][order], y[0][order])
        x, y = _two_gaussians(generator, runs)
        order = generator.permuted(np.tile(np.arange(40), (runs, 1)), axis=1)
        rows = np.arange(runs)[:, None]
        independent[i] = _linear_errors(x[rows, order], y[rows, order])
    e, q, s = shuffled.mean(axis=1), independent.mean(axis=1), shuffled.std(axis=1, ddof=1)
    return SplitSimulation(
        float(e.mean()), float(e.std(ddof=1)), float(q.mean()), float(q.std(ddof=1)),
        float(s.mean() / math.sqrt(runs)), float(s.mean() * math.sqrt(1.0 / runs + 4 / 36)), e, q,
    )  # fmt: skip


def _two_gaussians(rng: np.random.Generator, sets: int) -> tuple[Array, Array]:
    y = np.tile(np.repeat([-1.0, 1.0], 20), (sets, 1))
    x = rng.standard_normal((sets, 40, 2))
    x[..., 0] += y
    return x, y


def _linear_errors(x: Array, y: Array) -> Array:
    """Error on the last 4 of 40 points of the linear discriminant classifier trained on the first 36."""
    train, label, test, wanted = x[:, :36], y[:, :36], x[:, 36:], y[:, 36:]
    member = np.stack([label < 0, label > 0], axis=1).astype(float)
    size = member.sum(axis=2)
    means = member @ train / size[..., None]
    centred = train - np.einsum("rkn,rkd->rnd", member, means)
    pooled = np.einsum("rnd,rne->rde", centred, centred) / 34.0
    weight = np.linalg.solve(pooled, (means[:, 1] - means[:, 0])[..., None])[..., 0]
    threshold = np.einsum("rd,rd->r", weight, means.sum(axis=1)) / 2.0 - np.log(size[:, 1] / size[:, 0])
    predicted = np.sign(np.einsum("rnd,rd->rn", test, weight) - threshold[:, None])
    errors: Array = (predicted != wanted).mean(axis=1)
    return errors

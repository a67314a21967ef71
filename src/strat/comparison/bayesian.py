"""How probable is it that one model is better, or that both are practically equivalent? Posteriors of two models."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammainc, gammaln, stdtr, xlogy

from strat.base import validate
from strat.base.errors import StratError
from strat.base.limits import LIMITS
from strat.base.notes import Note
from strat.base.result import Result
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, numbers
from strat.base.validate.scalars import Rng, generator
from strat.comparison.hierarchical import hierarchical_posterior
from strat.comparison.simplex import draw_density, draw_simplex
from strat.comparison.splits import differences
from strat.estimation.hypothesis_tests import with_notes
from strat.measures.splits import corrected_se

NODES = 400  # of the Gauss-Legendre rule for the largest of some gamma variables
_legendre = cache(np.polynomial.legendre.leggauss)


@dataclass(frozen=True, eq=False, repr=False)
class Posterior(Result):
    """Probabilities that a − b is below, within and above a region of practical equivalence.

    Attributes
    ----------
    name
        The model of the data, with its convention.
    below, equivalent, above
        Probability that a − b is less than −rope, between −rope and rope, more than rope (for several data sets: that
        this is the most probable of the three on a further data set).
    rope
        Half the width of the region of practical equivalence.
    error
        Largest standard error of the three from random draws; 0 where they are computed.
    student
        Where there is one data set: mean, scale and degrees of freedom of the posterior, which is Student's.
    points
        Where there are several: posterior draws of the three probabilities on a further data set, draws × 3.
    notes
        What to be careful about.
    """

    name: str
    below: float
    equivalent: float
    above: float
    rope: float
    error: float = 0.0
    student: tuple[float, float, float] | None = None
    points: Array | None = field(default=None, repr=False)
    notes: tuple[str, ...] = ()

    @property
    def probabilities(self) -> tuple[float, float, float]:
        """Below, equivalent, above."""
        return self.below, self.equivalent, self.above

    @property
    def sentence(self) -> str:
        """The probabilities as a sentence."""
        exact = f" (± {self.error:.4f})" if self.error else ""
        if self.rope == 0.0:
            return f"{self.name}: P(a < b) = {self.below:.4f}, P(a > b) = {self.above:.4f}{exact}"
        return (
            f"{self.name}: P(a − b < −{self.rope:g}) = {self.below:.4f}, P(within ±{self.rope:g}) = "
            f"{self.equivalent:.4f}, P(a − b > {self.rope:g}) = {self.above:.4f}{exact}"
        )

    def __str__(self) -> str:
        """The sentence, and the notes."""
        return with_notes(self.sentence, self.notes)

    def plot(self, ax: Any = None, *, names: tuple[str, str] = ("a", "b")) -> Any:
        """The density of the difference (one data set), or the posterior in a triangle (several)."""
        if self.student is not None:
            return draw_density(*self.student, self.rope, self.probabilities, names, ax)
        assert self.points is not None
        return draw_simplex(self.points, self.probabilities, names, ax)


@checked
def bayesian_correlated_t(a: ArrayLike, b: ArrayLike, *, ratio: float, rope: float = 0.0) -> Posterior:
    """The posterior of the mean difference over splits of one data set (Corani and Benavoli 2015), exactly.

    It is Student's t around the mean with the standard error of the corrected t-test, Kuncheva (1.12), so that with no
    region of equivalence twice the smaller probability is that test's p-value.

    Parameters
    ----------
    a, b
        Score (or error) of each model in each split, in the same order of splits.
    ratio
        Size of a testing set over size of its training set: 1/(K − 1) for K folds; see `split_ratio`.
    rope
        Differences up to this size count as practically zero.

    Examples
    --------
    Example 1.9: the corrected t-test gives p = 0.1053.

    >>> a = [7.4, 18.1, 13.7, 17.5, 13.0, 12.5, 8.9, 12.1, 12.4, 7.4]
    >>> b = [9.9, 11.0, 5.7, 12.5, 2.7, 6.6, 10.6, 6.4, 12.5, 7.8]
    >>> round(2 * bayesian_correlated_t(a, b, ratio=1 / 9).below, 4)
    0.1053
    >>> bayesian_correlated_t(a, b, ratio=1 / 9, rope=1.0)
    correlated t: P(a − b < −1) = 0.0242, P(within ±1) = 0.0859, P(a − b > 1) = 0.8899
    """
    d, rope = differences(a, b, "values"), _rope(rope)
    if not (math.isfinite(ratio) and ratio >= 0.0):
        raise StratError.about("ratio", f"must be testing size / training size, 0 or more, got {ratio!r}.")
    mean, scale, df = float(d.mean()), corrected_se(d, ratio), len(d) - 1.0
    if scale <= 1e-14 * float(np.abs(d).max()):
        below, above = float(mean < -rope), float(mean > rope)
        note = Note("no-variation", {"case": "posterior", "difference": mean, "unit": "split"})
        if rope == 0.0 == mean:
            below = above = 0.5
        return Posterior(
            "correlated t", below, 1.0 - below - above, above, rope, notes=(note,), student=(mean, 0.0, df)
        )
    below = float(stdtr(df, (-rope - mean) / scale))
    above = float(stdtr(df, (mean - rope) / scale))
    within = max(0.0, 1.0 - below - above) if rope else 0.0
    return Posterior("correlated t", below, within, above, rope, student=(mean, scale, df))


@checked
def bayesian_sign(
    a: ArrayLike, b: ArrayLike, *, rope: float = 0.0, prior: float = 1.0, draws: int = 5000, rng: Rng = 0
) -> Posterior:
    """The Bayesian sign test over data sets (Benavoli et al. 2014), by quadrature.

    The shares of data sets below, within and above the region of equivalence have a Dirichlet posterior; the
    probabilities are those that a share is the largest.

    Parameters
    ----------
    a, b
        Score of each model on each data set.
    rope
        Differences up to this size count as practically zero.
    prior
        How many data sets' weight the prior puts on the region of equivalence.
    draws, rng
        Posterior draws for the picture, and their seed; the probabilities do not depend on them.

    Examples
    --------
    Three data sets above, one below, no region and no prior: P(Beta(3, 1) > 1/2) = 1 − 1/8.

    >>> round(bayesian_sign([1, 1, 1, 0], [0, 0, 0, 1], prior=0.0).above, 4)
    0.875
    """
    d, rope = differences(a, b, "values"), _rope(rope)
    if not 0.0 <= prior < 1e6:
        raise StratError.about("prior", f"must be a weight of 0 or more and below a million, got {prior!r}.")
    below, above = float((d < -rope).sum()), float((d > rope).sum())
    counts = np.array([below, len(d) - below - above + prior, above])
    points = generator(rng).dirichlet(np.maximum(counts, 1e-4), validate.count("draws", draws, most=10**7))
    return Posterior("sign", *_largest(counts), rope, points=points)


@checked
def bayesian_signed_rank(
    a: ArrayLike, b: ArrayLike, *, rope: float = 0.0, prior: float = 0.5, draws: int = 50_000, rng: Rng = 0
) -> Posterior:
    """The Bayesian signed rank test over data sets (Benavoli et al. 2014): weights of data sets from a Dirichlet draw.

    Parameters
    ----------
    a, b, rope
        As in `bayesian_sign`.
    prior
        Weight of a pseudo data set without a difference.
    draws, rng
        Posterior draws and their seed; `error` says how far the probabilities may be off.

    Examples
    --------
    >>> result = bayesian_signed_rank([3, 4, 5, 6, 7], [1, 1, 1, 1, 1], rope=0.5)
    >>> result.above > 0.99
    True
    """
    d, rope = differences(a, b, "values"), _rope(rope)
    if not 0.0 < prior < 1e6:
        raise StratError.about("prior", f"must be a weight above 0 and below a million, got {prior!r}.")
    z = np.concatenate([[0.0], d])
    sums = z[:, None] + z
    above = (sums > 2 * rope) + 0.5 * (sums == 2 * rope)
    below = (sums < -2 * rope) + 0.5 * (sums == -2 * rope)
    alpha, source = np.concatenate([[prior], np.ones(len(d))]), generator(rng)
    number, parts = validate.count("draws", draws, least=100, most=10**7), []
    for start in range(0, number, LIMITS.dirichlet_draws):
        w = source.dirichlet(alpha, min(LIMITS.dirichlet_draws, number - start))
        high, low = np.einsum("ij,ij->i", w @ above, w), np.einsum("ij,ij->i", w @ below, w)
        parts.append(np.column_stack([low, np.maximum(1.0 - low - high, 0.0), high]))
    points = np.concatenate(parts)
    shares = np.bincount(points.argmax(axis=1), minlength=3) / number
    error = float(np.sqrt(shares * (1 - shares) / number).max())
    low_share, within, high_share = shares.tolist()
    return Posterior("signed rank", low_share, within, high_share, rope, error, points=points)


@checked
def bayesian_hierarchical(
    a: ArrayLike, b: ArrayLike, *, ratio: float, rope: float = 0.0, draws: int = 5000, rng: Rng = 0
) -> Posterior:
    """Cross-validated differences on several data sets in one model (Corani et al. 2017), by quadrature.

    Within a data set, splits are correlated as in `bayesian_correlated_t`; the data sets' mean differences come from a
    Student distribution whose centre, scale and degrees of freedom are unknown. The probabilities are those that a
    region is the most probable one on a further data set.

    Parameters
    ----------
    a, b
        Scores, data sets × splits.
    ratio, rope
        As in `bayesian_correlated_t`.
    draws, rng
        Posterior draws for the picture, and their seed; the probabilities do not depend on them.

    Examples
    --------
    Four data sets on which a is better by about 0.1 ± 0.02:

    >>> d = np.array([[0.09, 0.11, 0.1, 0.12], [0.08, 0.1, 0.12, 0.1], [0.1, 0.13, 0.09, 0.11], [0.1, 0.09, 0.1, 0.08]])
    >>> bayesian_hierarchical(d, np.zeros((4, 4)), ratio=1 / 3, rope=0.01).above > 0.98
    True
    """
    x, y = numbers("a", a, most=1e100), numbers("b", b, most=1e100)
    if x.ndim != 2 or x.shape != y.shape:
        raise StratError.about("a", f"and `b` must be data sets × splits of one shape, got {x.shape} and {y.shape}.")
    if x.shape[0] < 2 or x.shape[1] < 3:
        raise StratError.about(
            "a", f"must have two data sets and three splits or more, got {x.shape[0]} and {x.shape[1]}."
        )
    if not 0.0 <= ratio <= 1000.0:
        raise StratError.about("ratio", f"must be testing size / training size, from 0 to 1000, got {ratio!r}.")
    posterior = hierarchical_posterior(x - y, ratio, _rope(rope))
    points = posterior.draw(validate.count("draws", draws, most=10**7), generator(rng))
    below, within, above = posterior.largest
    return Posterior("hierarchical", below, within, above, rope, points=points, notes=posterior.notes)


def _rope(rope: float) -> float:
    if not (math.isfinite(rope) and rope >= 0.0):
        raise StratError.about("rope", f"must be the largest difference that does not matter, 0 or more, got {rope!r}.")
    return rope


def _largest(counts: Array) -> tuple[float, float, float]:
    """P(share k is the largest) of a Dirichlet posterior: the largest of independent gamma variables."""
    known = counts > 0
    if known.sum() == 1:
        return tuple(known.astype(float).tolist())
    # Where the largest of them lives, on a logarithmic scale: all are below x with a probability of about x^Σα.
    most = float(counts.max())
    low = math.log(most - 9.0 * math.sqrt(most)) if most > 100.0 else -42.0 / max(1.0, float(counts.sum())) - 5.0
    high = math.log(most + 10.0 * math.sqrt(most) + 40.0)
    nodes, weights = _legendre(NODES)
    t = 0.5 * (high + low) + 0.5 * (high - low) * nodes
    x, parts = np.exp(t), np.zeros(3)
    for k in np.flatnonzero(known):
        density = np.exp(xlogy(counts[k], x) - x - gammaln(counts[k]))
        others = np.prod([gammainc(c, x) for j, c in enumerate(counts) if j != k and c > 0], axis=0)
        parts[k] = 0.5 * (high - low) * float(weights @ (density * others))
    parts /= parts.sum()
    return tuple(parts.tolist())  # type: ignore[return-value]

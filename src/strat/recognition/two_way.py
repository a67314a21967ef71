"""The two-way variance of any measure of comparisons that share subjects, of one system or of several paired.

A non-mated comparison has a subject on each side, and two comparisons that share a subject, on either side, are
dependent. With u_c what comparison c adds to the measure, t_a the sum of u over the comparisons of subject a (on either
side) and s_ab that over the comparisons of the pair {a, b}, the two-way (dyadic) variance adds the products of all
pairs of comparisons that share a subject:

    V = sum_a t_a² − sum_{a,b} s_ab²

where the second sum takes back what the first counts twice (Cameron, Gelbach and Miller 2011; Aronow, Samii and
Assenova 2015). Taking the mean away leaves (k − 2) / (k − 1) of each of k subjects' own part, which the factor
((k − 1) / (k − 2))² gives back: without it intervals of 30 subjects are short (see the validation page). A row-wise
variance sees only one side. A mated comparison has one subject: V = sum_a d_a² / (1 − h_a), where h_a is the subject's
share of the mated comparisons: the residual of a subject that makes up most of a rate is small because the rate is
mostly its own (Bell and McCaffrey 2002). With equal subjects it is the usual k / (k − 1).

Degrees of freedom: subjects minus one for FNMR, half the subjects for FMR (a false match is of two), the effective
number where a few subjects make up most of the comparisons, and in between, by the parts of the variance, for a measure
that moves with both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from strat.base.limits import LIMITS
from strat.base.validate.columns import Array, Codes
from strat.recognition.comparisons import Block, Comparisons


@dataclass(frozen=True, eq=False)
class Moved:
    """Deviations by subject (subjects × values), and the variance and degrees of freedom of each value."""

    spread: Array
    variance: Array
    df: Array

    def only(self) -> Moved:
        """The first value alone."""
        return Moved(self.spread[:, 0], self.variance[0], self.df[0])


@dataclass(frozen=True, eq=False)
class Sums:
    """What each subject does to values through its mated and through its non-mated comparisons (subjects × values).

    `twice` is what the squares of the latter count twice, `alone` the variance if comparisons were independent.
    """

    by_mated: Array
    by_others: Array
    twice: Array
    alone: Array


def stacked(parts: Sequence[Moved]) -> Moved:
    """Several rows of values as one."""
    spread, variance, df = ([getattr(p, name) for p in parts] for name in ("spread", "variance", "df"))
    return Moved(np.stack(spread, axis=1), np.stack(variance), np.stack(df))


def moved(c: Comparisons, sums: Sums, least: Array | float = 0.0) -> Moved:
    """The two-way variance of values with these sums; the part of the mated comparisons is `least` or more."""
    scale = c.fmr_scale
    by_mated, by_others = c.mated_scale[:, None] * sums.by_mated, scale * sums.by_others
    back, alone = scale**2 * sums.twice, scale**2 * sums.alone
    first = np.maximum((by_others**2).sum(axis=0) - back, alone)
    second = np.maximum((by_mated**2).sum(axis=0), least)
    spread = by_others + by_mated
    raw = (spread**2).sum(axis=0)
    variance = np.where(raw > 0, np.maximum(raw - back, alone + second), 0.0)
    size = np.sqrt(np.divide(variance, raw, out=np.zeros_like(raw), where=raw > 0))
    return Moved(spread * size, variance, _combined_df(c, first, second))


def _combined_df(c: Comparisons, of_fmr: Array, of_fnmr: Array) -> Array:
    """Degrees of freedom of a variance with these two parts, which share their subjects: between those of both."""
    a, b = c.df_of_fmr[1], c.df_of_fnmr[1]
    parts = of_fmr / a + of_fnmr / b
    return np.divide(of_fmr + of_fnmr, parts, out=np.full_like(parts, b), where=parts > 0)


@dataclass(frozen=True, eq=False)
class Functional:
    """A measure and its linear part: what a mated and a non-mated comparison with these scores adds to it.

    Attributes
    ----------
    name, value
        What it is called, and what it is.
    mated, nonmated
        From scores to contributions, whose weighted means are zero.
    link, bounds
        On which scale intervals are made, and the range of the measure.
    """

    name: str
    value: float
    mated: Callable[[Array], Array]
    nonmated: Callable[[Array], Array]
    link: str = "logit"
    bounds: tuple[float, float] = (0.0, 1.0)


Terms = Sequence[tuple[int, float, Functional]]  # of which system, with which sign


def sums_of(systems: Sequence[Comparisons], outputs: Sequence[Terms]) -> Sums:
    """What subjects do to signed sums of measures of systems that made the same comparisons."""
    c = systems[0]
    step = max(1, LIMITS.pair_totals // max(1, c.pairs))
    parts = [_sums(systems, outputs[i : i + step]) for i in range(0, len(outputs), step)]
    return Sums(*(np.concatenate([getattr(p, name) for p in parts], axis=-1) for name in Sums.__dataclass_fields__))


def _sums(systems: Sequence[Comparisons], outputs: Sequence[Terms]) -> Sums:
    c, m = systems[0], len(outputs)
    by_mated, all_mated = np.zeros((c.number, m)), c.mated_of.sum()
    for parts in zip(*(s.mated_blocks() for s in systems), strict=True):
        share = parts[0].weight / all_mated
        for j, terms in enumerate(outputs):
            u = share * _added([part.score for part in parts], terms, "mated")
            by_mated[:, j] += _total(parts[0].subject, u, c.number)
    by_others, alone, totals = np.zeros((c.number, m)), np.zeros(m), np.zeros((m, c.pairs))
    total = c.weight_of_nonmated
    for blocks in zip(*(s.nonmated() for s in systems), strict=True):
        block, scores = blocks[0], [b.score for b in blocks]
        share = (1.0 if block.weight is None else block.weight) / total
        for j, terms in enumerate(outputs):
            u = share * _added(scores, terms, "nonmated")
            alone[j] += u @ u
            by_others[:, j] += _by_subject(block, u, c.number)
            if block.pair is not None:
                totals[j] += np.bincount(block.pair, u, minlength=c.pairs)
    return Sums(by_mated, by_others, np.array([c.pair_squares(row) for row in totals]), alone)


def _added(scores: Sequence[Array], terms: Terms, kind: str) -> Array:
    parts = [sign * getattr(functional, kind)(scores[k]) for k, sign, functional in terms]
    return np.asarray(sum(parts[1:], parts[0]))


def _by_subject(block: Block, u: Array, k: int) -> Array:
    total = _total(block.first, u, k)
    return total if block.second is None else total + _total(block.second, u, k)


def _total(codes: Codes, u: Array, k: int) -> Array:
    return np.bincount(codes, u, minlength=k).astype(float)

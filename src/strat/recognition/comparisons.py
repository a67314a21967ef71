"""Mated and non-mated comparisons of subjects, and what each subject does to the error rates at thresholds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from strat.base.notes import Note
from strat.base.validate.columns import Array, Codes
from strat.designs.lines import DomainLines
from strat.designs.variance import bell_mccaffrey, kish, used_df


class Block(NamedTuple):
    """Some non-mated comparisons: codes of both subjects, score, weight (None: all the same) and pair of subjects.

    Without subjects each comparison is its own `first`, and there is no `second`.
    """

    first: Codes
    second: Codes | None
    score: Array
    weight: Array | None
    pair: Codes | None


class Mated(NamedTuple):
    """The mated comparisons: the code of the subject, score and weight of each."""

    subject: Codes
    score: Array
    weight: Array


class Comparisons(ABC):
    """Comparisons with a subject on each side, however they are stored; greater scores are better.

    With `equal`, every subject counts the same: a mated comparison weighs one over those of its subject, a non-mated
    one one over those of its two subjects.
    """

    subjects: NDArray[Any]
    equal: bool
    mated_of: Array
    nonmated_of: Array
    pairs: int
    noted: tuple[Note, ...] = ()

    @abstractmethod
    def nonmated(self) -> Iterator[Block]:
        """The non-mated comparisons, some at a time, always in the same order."""

    def nonmated_scores(self) -> Array:
        """All non-mated scores, in an array of their own."""
        return np.concatenate([np.zeros(0), *(block.score for block in self.nonmated())])

    @property
    @abstractmethod
    def mated(self) -> Mated:
        """The mated comparisons, always in the same order."""

    def mated_blocks(self) -> Iterator[Mated]:
        """The mated comparisons, some at a time, always in the same order."""
        yield self.mated

    @abstractmethod
    def counts(self, t: Array) -> tuple[Array, Callable[[Array], Array]]:
        """False matches of each subject at each threshold, and a function from FMR to the squares of pairs of subjects.

        For a pair {a, b} of subjects with the sum s_ab of (match − FMR) over its comparisons, that is sum s_ab².
        """

    @abstractmethod
    def pair_squares(self, totals: Array) -> float:
        """The sum of squares over pairs of subjects, of totals by the codes of `Block.pair`."""

    @abstractmethod
    def same(self, other: Comparisons) -> bool:
        """Whether the other scores are of the same comparisons, in the same order."""

    @property
    def effective_nonmated(self) -> float:
        """Number of equally weighted comparisons that the non-mated ones count as."""
        return self.weight_of_nonmated

    @property
    def weight_of_nonmated(self) -> float:
        """Weight of all non-mated comparisons."""
        return float(self.nonmated_of.sum() / 2)

    @property
    def number(self) -> int:
        """Number of subjects, on either side."""
        return len(self.subjects)

    @property
    def known(self) -> bool:
        """Whether the subjects are known."""
        return True

    # ---- degrees of freedom and sizes

    @cached_property
    def df_of_fnmr(self) -> tuple[float, float]:
        """Subjects with mated comparisons minus one, and the degrees of freedom that are used."""
        mated = self.mated_of[self.mated_of > 0]
        nominal = max(1.0, float(len(mated) - 1))
        return nominal, float(used_df(nominal, _effective(mated, nominal)))

    @cached_property
    def df_of_fmr(self) -> tuple[float, float]:
        """Half the subjects, as many pairs as share no subject, and the degrees of freedom that are used."""
        tried = self.nonmated_of[self.nonmated_of > 0]
        nominal, whole = max(1.0, len(tried) / 2), float(len(tried) - 1)
        return nominal, float(used_df(nominal, max(1.0, nominal * _effective(tried, whole) / whole)))

    @property
    def size_of_fnmr(self) -> float:
        """Equal subjects that the mated comparisons count as, for exact limits where nothing varied."""
        return kish(self.mated_of)

    @property
    def size_of_fmr(self) -> float:
        """Pairs of equal subjects that share no subject, which the non-mated comparisons count as."""
        return kish(self.nonmated_of) / 2

    @property
    def fmr_scale(self) -> float:
        """What the influences on FMR are multiplied with: taking the mean away leaves (k − 2) / (k − 1) of them."""
        k = self.number
        return float(np.sqrt(k * (k - 1)) / (k - 2)) if k > 2 else 1.0

    @cached_property
    def mated_scale(self) -> Array:
        """What the influences on FNMR are multiplied with: 1 / sqrt(1 − h), h the subject's share (Bell, McCaffrey)."""
        share = self.mated_of / self.mated_of.sum()
        return np.divide(1.0, np.sqrt(1 - share), out=np.zeros(len(share)), where=share < 1)

    # ---- thresholds

    def influences(self, t: Array, fmr: Array, fnmr: Array) -> Influences:
        """What each subject does to these rates, those at the thresholds t."""
        step = self._thresholds_at_once(len(t))
        if len(t) > step:
            cuts = [slice(i, i + step) for i in range(0, len(t), step)]
            return _joined([self.influences(t[cut], fmr[cut], fnmr[cut]) for cut in cuts])
        hits, squares = self.counts(t)
        misses, total = self.misses(t), self.weight_of_nonmated
        return Influences(
            fmr,
            fnmr,
            hits,
            misses,
            (hits - self.nonmated_of[:, None] * fmr) / total,
            (misses - self.mated_of[:, None] * fnmr) / self.mated_of.sum(),
            squares(fmr) / total**2,
            fmr * (1 - fmr) / self.effective_nonmated,
        )

    def _thresholds_at_once(self, number: int) -> int:
        return number

    def misses(self, t: Array) -> Array:
        """Weight of the mated comparisons of each subject below each threshold."""
        accepted = np.zeros((self.number, len(t)))
        for subject, score, weight in self.mated_blocks():
            bins = np.searchsorted(t, score, side="right")
            accepted += at_or_above(subject * (len(t) + 1) + bins, self.number, len(t), weight)
        return np.asarray(np.maximum(self.mated_of[:, None] - accepted, 0.0))


@dataclass(frozen=True, eq=False)
class Influences:
    """What each subject does to FMR and FNMR at each threshold (rising).

    `matches` (false ones, of non-mated comparisons) and `misses` are counts by subject, `by_subject` and
    `mated_by_subject` influences (all subjects × thresholds); `twice` is what the sum of squares of the influences on
    FMR counts twice; `alone` is the variance of independent comparisons.
    """

    fmr: Array
    fnmr: Array
    matches: Array
    misses: Array
    by_subject: Array
    mated_by_subject: Array
    twice: Array
    alone: Array


def _joined(parts: list[Influences]) -> Influences:
    names = Influences.__dataclass_fields__
    return Influences(*(np.concatenate([getattr(p, name) for p in parts], axis=-1) for name in names))


def at_or_above(keys: Codes, k: int, m: int, weight: Array | None = None) -> Array:
    """For each subject and threshold, how many of its scores are at or above it; keys are subject × (m + 1) + bin."""
    counts = np.bincount(keys, weight, minlength=k * (m + 1)).reshape(k, m + 1)
    above = np.flip(np.cumsum(np.flip(counts, axis=1), axis=1), axis=1)
    return np.asarray(above[:, 1:], float)


def _effective(comparisons: Array, nominal: float) -> float:
    """Effective degrees of freedom of subjects with so many comparisons each."""
    number = len(comparisons)
    one = DomainLines(
        np.zeros(number, np.int64), np.zeros(1, np.int64), np.ones(number), np.full(1, number), np.ones(1)
    )
    return float(bell_mccaffrey(comparisons, np.ones(number, bool), one, np.array([nominal]))[0])

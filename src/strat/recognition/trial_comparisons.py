"""Comparisons that are the lines of a list: some pairs were compared, others never, and subjects may be unknown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.base.limits import LIMITS
from strat.base.notes import Note
from strat.base.validate.columns import Array, Codes
from strat.designs.variance import kish
from strat.recognition.comparisons import Block, Comparisons, Influences, Mated, at_or_above


@dataclass(frozen=True, eq=False)
class ListComparisons(Comparisons):
    """A list of comparisons with the codes of the two subjects of each; those of one subject are mated."""

    score: Array
    first: Codes
    second: Codes
    subjects: NDArray[Any]
    equal: bool = False
    noted: tuple[Note, ...] = ()

    @cached_property
    def _is_mated(self) -> NDArray[np.bool_]:
        return np.asarray(self.first == self.second)

    @cached_property
    def mated(self) -> Mated:
        """Lines of one subject."""
        lines = np.flatnonzero(self._is_mated)
        subject = self.first[lines]
        number = np.bincount(subject, minlength=len(self.subjects))
        weight = 1.0 / number[subject] if self.equal else np.ones(len(lines))
        return Mated(subject, self.score[lines], weight)

    @cached_property
    def _others(self) -> tuple[Codes, Codes, Array | None]:
        """Lines of different subjects, the code of each one's pair, and their weights."""
        lines = np.flatnonzero(~self._is_mated)
        a, b = self.first[lines], self.second[lines]
        key = np.minimum(a, b) * len(self.subjects) + np.maximum(a, b)
        _, pair, number = np.unique(key, return_inverse=True, return_counts=True)
        pair = pair.reshape(-1)
        return lines, pair, 1.0 / number[pair] if self.equal else None

    def nonmated(self) -> Iterator[Block]:
        """Lines of different subjects, some at a time."""
        lines, pair, weight = self._others
        for start in range(0, len(lines), LIMITS.comparisons_at_once):
            cut = slice(start, start + LIMITS.comparisons_at_once)
            use = lines[cut]
            each = None if weight is None else weight[cut]
            yield Block(self.first[use], self.second[use], self.score[use], each, pair[cut])

    @property
    def pairs(self) -> int:  # type: ignore[override]
        """Number of unordered pairs of different subjects that were compared."""
        pair = self._others[1]
        return int(pair.max()) + 1 if len(pair) else 0

    def pair_squares(self, totals: Array) -> float:
        """Squares of the totals of pairs."""
        return float((totals**2).sum())

    @cached_property
    def mated_of(self) -> Array:  # type: ignore[override]
        """Weight of the mated comparisons of each subject."""
        return np.bincount(self.mated.subject, self.mated.weight, minlength=len(self.subjects)).astype(float)

    @cached_property
    def nonmated_of(self) -> Array:  # type: ignore[override]
        """Weight of the non-mated comparisons that each subject takes part in."""
        total = np.zeros(len(self.subjects))
        for first, second, _, weight, _ in self.nonmated():
            assert second is not None
            total += np.bincount(first, weight, minlength=len(total))
            total += np.bincount(second, weight, minlength=len(total))
        return total

    @property
    def effective_nonmated(self) -> float:
        """Number of equally weighted comparisons that the non-mated ones count as."""
        weight = self._others[2]
        return self.weight_of_nonmated if weight is None else kish(weight)

    def same(self, other: Comparisons) -> bool:
        """Whether the other list has the same subjects line by line."""
        return (
            isinstance(other, ListComparisons)
            and self.equal == other.equal
            and np.array_equal(self.subjects, other.subjects)
            and np.array_equal(self.first, other.first)
            and np.array_equal(self.second, other.second)
        )

    def counts(self, t: Array) -> tuple[Array, Callable[[Array], Array]]:
        """False matches of each subject at each threshold, and the squares of pairs."""
        k, m = len(self.subjects), len(t)
        hits = np.zeros((k, m))
        for first, second, score, weight, _ in self.nonmated():
            assert second is not None
            bins = np.searchsorted(t, score, side="right")
            for codes in (first, second):
                hits += at_or_above(codes * (m + 1) + bins, k, m, weight)
        return hits, lambda fmr: self._squares(t, fmr)

    def _squares(self, t: Array, fmr: Array) -> Array:
        lines, pair, weight = self._others
        every = np.bincount(pair, weight)
        out = np.empty(len(t))
        for k, (threshold, rate) in enumerate(zip(t, fmr, strict=True)):
            match = (self.score[lines] >= threshold).astype(float)
            out[k] = ((np.bincount(pair, match if weight is None else match * weight) - rate * every) ** 2).sum()
        return out


@dataclass(frozen=True, eq=False)
class IndependentComparisons(Comparisons):
    """Scores without known subjects: each comparison stands for itself."""

    score: Array
    is_mated: NDArray[np.bool_]
    equal: bool = False
    noted: tuple[Note, ...] = field(default_factory=lambda: (Note("no-subjects"),))
    pairs: int = 0

    @cached_property
    def genuine(self) -> Array:
        """Scores of mated comparisons."""
        return self.score[self.is_mated]

    @cached_property
    def impostor(self) -> Array:
        """Scores of the others."""
        return self.score[~self.is_mated]

    @property
    def subjects(self) -> NDArray[Any]:  # type: ignore[override]
        """One for each comparison, mated ones first."""
        return np.arange(len(self.score))

    @property
    def known(self) -> bool:
        """No: each comparison stands for itself."""
        return False

    @property
    def mated(self) -> Mated:
        """The mated comparisons."""
        n = len(self.genuine)
        return Mated(np.arange(n), self.genuine, np.ones(n))

    def nonmated(self) -> Iterator[Block]:
        """The others, some at a time."""
        for start in range(0, len(self.impostor), LIMITS.comparisons_at_once):
            score = self.impostor[start : start + LIMITS.comparisons_at_once]
            own = len(self.genuine) + start + np.arange(len(score))
            yield Block(own, None, score, None, None)

    @property
    def mated_of(self) -> Array:  # type: ignore[override]
        """One for each genuine comparison."""
        return (self.subjects < len(self.genuine)).astype(float)

    @property
    def nonmated_of(self) -> Array:  # type: ignore[override]
        """One for each impostor comparison."""
        return (self.subjects >= len(self.genuine)).astype(float)

    @property
    def weight_of_nonmated(self) -> float:
        """Number of impostor comparisons."""
        return float(len(self.impostor))

    @property
    def df_of_fnmr(self) -> tuple[float, float]:
        """Genuine comparisons minus one."""
        return (max(1.0, float(len(self.genuine) - 1)),) * 2

    @property
    def df_of_fmr(self) -> tuple[float, float]:
        """Impostor comparisons minus one."""
        return (max(1.0, float(len(self.impostor) - 1)),) * 2

    @property
    def size_of_fnmr(self) -> float:
        """Number of genuine comparisons."""
        return float(len(self.genuine))

    @property
    def size_of_fmr(self) -> float:
        """Number of impostor comparisons."""
        return float(len(self.impostor))

    @property
    def fmr_scale(self) -> float:
        """From n to n − 1."""
        n = len(self.impostor)
        return float(np.sqrt(n / (n - 1))) if n > 1 else 1.0

    @property
    def mated_scale(self) -> Array:
        """From m to m − 1, for any number of lines."""
        m = len(self.genuine)
        return np.full(1, np.sqrt(m / (m - 1)) if m > 1 else 0.0)

    def pair_squares(self, totals: Array) -> float:
        """Nothing is counted twice."""
        return 0.0

    def same(self, other: Comparisons) -> bool:
        """Whether the same lines of the other list are mated: all that can be known of its order."""
        return isinstance(other, IndependentComparisons) and np.array_equal(self.is_mated, other.is_mated)

    def counts(self, t: Array) -> tuple[Array, Callable[[Array], Array]]:
        """Scores between thresholds are equivalent: `influences` needs no more."""
        raise NotImplementedError

    def influences(self, t: Array, fmr: Array, fnmr: Array) -> Influences:
        """A line for all comparisons between two thresholds, which do the same: its sums of products are theirs."""
        above = np.tri(len(t) + 1, len(t), -1)  # a score in bin j is at or above the thresholds before it
        lines = []
        for scores in (self.genuine, self.impostor):
            held = np.bincount(np.searchsorted(t, scores, side="right"), minlength=len(t) + 1)
            lines.append((np.sqrt(held)[:, None], held.sum()))
        (root_mated, m), (root_others, n) = lines
        nothing = np.zeros_like(above)
        mated = np.vstack([root_mated * ((1 - above) - fnmr) / m, nothing])
        others = np.vstack([nothing, root_others * (above - fmr) / n])
        return Influences(fmr, fnmr, nothing, nothing, others, mated, np.zeros(len(t)), fmr * (1 - fmr) / n)

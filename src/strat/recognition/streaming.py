"""Verification of lists that don't fit into memory: comparisons read again and again from Parquet files, in batches.

Scores are rounded down to a grid as fine as their first bits (23 of them: steps of less than one part in 10,000), so
that their distribution is a histogram. All counts, rates and influences are exactly those of the rounded scores. What
is kept is the histograms, and sums by subject and by pair of subjects, however many comparisons there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.base import extras
from strat.base.errors import StratError, near, some
from strat.base.limits import LIMITS
from strat.base.notes import Note
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, Codes
from strat.recognition.comparisons import Block, Comparisons, Mated, at_or_above
from strat.recognition.score_files import _exists
from strat.recognition.trial_columns import ROLES
from strat.recognition.verification import Verification

BITS = 23  # of a score that are kept: sign, exponent and 14 of the fraction


@dataclass(frozen=True, eq=False, repr=False)
class StreamedVerification(Verification):
    """Comparisons that are read from files whenever they are needed; `mated` and `nonmated` are steps of the grid."""

    mated_count: int = field(default=0, kw_only=True)
    nonmated_count: int = field(default=0, kw_only=True)

    @property
    def n_mated(self) -> int:
        """Number of mated comparisons."""
        return self.mated_count

    @property
    def n_nonmated(self) -> int:
        """Number of non-mated comparisons."""
        return self.nonmated_count

    @property
    def _effective_mated(self) -> float:
        return float(self.mated_count)


@dataclass(frozen=True, eq=False)
class StreamComparisons(Comparisons):
    """Comparisons in the rows of a Parquet file."""

    file: Path
    names: tuple[str, str, str]
    sign: float
    subjects: NDArray[Any]
    mated_of: Array
    nonmated_of: Array
    total: int
    equal: bool = False
    seen: dict[bytes, Array] = field(default_factory=dict)  # misses at the thresholds of the latest pass

    @property
    def noted(self) -> tuple[Note, ...]:  # type: ignore[override]
        """That pairs are not kept, where there are too many."""
        return () if self.pairs else (Note("pairs-not-kept"),)

    @property
    def pairs(self) -> int:  # type: ignore[override]
        """Number of pairs of subjects, or 0 where there are too many."""
        k = len(self.subjects)
        return k * k if k * k <= LIMITS.streamed_pairs else 0

    @property
    def weight_of_nonmated(self) -> float:
        """Number of non-mated comparisons."""
        return float(self.total)

    def mated_blocks(self) -> Iterator[Mated]:
        """The mated comparisons, a batch at a time."""
        for first, second, step in batches(self.file, self.names, self.subjects, self.sign):
            own = first == second
            yield Mated(first[own], value_of(step[own]), np.ones(int(own.sum())))

    @property
    def mated(self) -> Mated:
        """All mated comparisons, for lists that are short."""
        return Mated(*(np.concatenate(part) for part in zip(*self.mated_blocks(), strict=True)))

    def nonmated(self) -> Iterator[Block]:
        """The non-mated comparisons, a batch at a time."""
        for first, second, step in batches(self.file, self.names, self.subjects, self.sign):
            other = first != second
            a, b = first[other], second[other]
            pair = np.minimum(a, b) * len(self.subjects) + np.maximum(a, b) if self.pairs else None
            yield Block(a, b, value_of(step[other]), None, pair)

    def pair_squares(self, totals: Array) -> float:
        """Squares of the totals of pairs."""
        return float((totals**2).sum())

    def same(self, other: Comparisons) -> bool:
        """Whether the other file has the same subjects line by line."""
        return isinstance(other, StreamComparisons) and all(
            np.array_equal(a[0], b[0]) and np.array_equal(a[1], b[1])
            for a, b in zip(
                batches(self.file, self.names, self.subjects, self.sign),
                batches(other.file, other.names, other.subjects, other.sign),
                strict=True,
            )
        )

    def _thresholds_at_once(self, number: int) -> int:
        return max(1, (1 << 26) // self.pairs) if self.pairs else number

    def counts(self, t: Array) -> tuple[Array, Callable[[Array], Array]]:
        """False matches of each subject at each threshold, and the squares of pairs.

        The same pass counts the misses at these thresholds, and just above them.
        """
        k, m = len(self.subjects), len(t)
        hits, by_pair = np.zeros((k, m)), np.zeros((self.pairs, m + 1), np.int32)
        accepted = {limits.tobytes(): (limits, np.zeros((k, m))) for limits in (t, np.nextafter(t, np.inf))}
        for first, second, step in batches(self.file, self.names, self.subjects, self.sign):
            score, own = value_of(step), first == second
            for limits, number in accepted.values():
                number += at_or_above(first[own] * (m + 1) + np.searchsorted(limits, score[own], side="right"), k, m)
            a, b = first[~own], second[~own]
            bins = np.searchsorted(t, score[~own], side="right")
            for codes in (a, b):
                hits += at_or_above(codes * (m + 1) + bins, k, m)
            if self.pairs:
                np.add.at(by_pair.reshape(-1), (np.minimum(a, b) * k + np.maximum(a, b)) * (m + 1) + bins, np.int32(1))
        self.seen.clear()
        self.seen.update({key: self.mated_of[:, None] - number for key, (_, number) in accepted.items()})
        return hits, lambda fmr: _squares(by_pair, fmr)

    def misses(self, t: Array) -> Array:
        """Number of mated comparisons of each subject below each threshold."""
        held = self.seen.get(t.tobytes())
        return super().misses(t) if held is None else held


def _squares(by_pair: NDArray[np.int32], fmr: Array) -> Array:
    """Sum of (matches − FMR × comparisons)² over pairs, from counts of scores between thresholds."""
    every = by_pair.sum(axis=1).astype(float)
    above = np.flip(np.cumsum(np.flip(by_pair, axis=1), axis=1), axis=1)[:, 1:]
    return np.array([((above[:, k] - rate * every) ** 2).sum() for k, rate in enumerate(fmr)])


def step_of(scores: NDArray[Any]) -> Codes:
    """The place of scores on the grid: their first bits, as whole numbers in the order of the scores.

    >>> s = step_of(np.array([-1.0, 0.0, 0.5, 0.50001]))
    >>> bool((np.diff(s) >= 0).all()), int(s[3] - s[2])
    (True, 0)
    """
    bits = (np.ascontiguousarray(scores, np.float32) + np.float32(0)).view(np.int32).astype(np.int64)
    ordered = np.where(bits >= 0, bits, -(bits & 0x7FFFFFFF))
    return ordered >> (32 - BITS)


def value_of(step: Codes) -> Array:
    """The least score of each step."""
    ordered = np.asarray(step, np.int64) << (32 - BITS)
    bits = np.where(ordered >= 0, ordered, (-ordered) | 0x80000000).astype(np.uint32)
    return bits.view(np.float32).astype(float)


def batches(
    file: Path, names: tuple[str, str, str], subjects: NDArray[Any], sign: float
) -> Iterator[tuple[Codes, Codes, Codes]]:
    """Codes of the subjects of both sides and steps of the scores, a batch of rows at a time."""
    with _opened(file) as parquet:
        for batch in parquet.iter_batches(batch_size=LIMITS.streamed_rows, columns=list(names)):
            first, second = (_codes(batch.column(name), subjects) for name in names[:2])
            scores = sign * batch.column(names[2]).to_numpy(zero_copy_only=False)
            if not np.isfinite(scores).all():
                raise StratError.about("path", f"must have finite scores in {names[2]!r}, got others; drop these rows.")
            yield first, second, step_of(scores)


def _opened(file: Path) -> Any:
    """The file, of which no more is read ahead than a batch needs: by default what was read stays until the end."""
    return extras.load("pyarrow.parquet").ParquetFile(file, pre_buffer=False, buffer_size=LIMITS.read_ahead)


def _codes(column: Any, subjects: NDArray[Any]) -> Codes:
    encoded = column.dictionary_encode()
    distinct = np.asarray(encoded.dictionary.to_pylist())
    place = np.searchsorted(subjects, distinct)
    return np.asarray(place[encoded.indices.to_numpy()], np.int64)


@checked
def verification_of_file(
    path: str | Path, *, columns: Mapping[str, str] | None = None, distance: bool = False
) -> StreamedVerification:
    """The comparisons of a Parquet file of any size, in bounded memory.

    Parameters
    ----------
    path
        A ``.parquet`` file with the subjects of both sides and a score in each row.
    columns
        From probe_subject, gallery_subject and score to names of columns; usual names are found.
    distance
        Whether smaller scores are better.
    """
    file = Path(path)
    if not _exists(file) or file.suffix.lower() != ".parquet":
        raise StratError.about("path", f"must name a .parquet file that is there, got {str(path)!r}.")
    names, sign = _names(file, columns or {}), -1.0 if distance else 1.0
    subjects = _subjects(file, names)
    if len(subjects) < 3:
        raise StratError.about("path", f"must have at least three subjects for an error, got {some(subjects)}.")
    k = len(subjects)
    mated_of, nonmated_of = np.zeros(k), np.zeros(k)
    steps, mated = _Tally(), _Tally()
    for first, second, step in batches(file, names, subjects, sign):
        other = first != second
        steps.add(step[other])
        mated.add(step[~other])
        mated_of += np.bincount(first[~other], minlength=k)
        for codes in (first[other], second[other]):
            nonmated_of += np.bincount(codes, minlength=k)
    for kind, tally in (("mated", mated), ("non-mated", steps)):
        if not len(tally.counts()[0]):
            raise StratError(f"there must be {kind} comparisons, got none; look at the columns {some(names[:2])}.")
    total = int(steps.counts()[1].sum())
    return _verification(StreamComparisons(file, names, sign, subjects, mated_of, nonmated_of, total), mated, steps)


def _verification(c: StreamComparisons, mated: _Tally, steps: _Tally) -> StreamedVerification:
    (own, weights), (others, counts) = mated.counts(), steps.counts()
    return StreamedVerification(
        value_of(own),
        value_of(others),
        _below(weights),
        _below(counts),
        comparisons=c,
        mated_count=int(weights.sum()),
        nonmated_count=c.total,
    )


class _Tally:
    """How often each whole number occurs, added up batch by batch."""

    def __init__(self) -> None:
        self.keys, self.numbers = np.zeros(0, np.int64), np.zeros(0)
        self.waiting: list[tuple[Codes, NDArray[Any]]] = []

    def add(self, keys: Codes) -> None:
        """Count these; they are joined with the others when they are as many."""
        self.waiting.append(np.unique(keys, return_counts=True))
        if sum(len(batch) for batch, _ in self.waiting) > max(LIMITS.streamed_rows, len(self.keys)):
            self.counts()

    def counts(self) -> tuple[Codes, Array]:
        """The distinct numbers, sorted, and how often each occurs."""
        keys = np.concatenate([self.keys, *(batch for batch, _ in self.waiting)])
        numbers = np.concatenate([self.numbers, *(number for _, number in self.waiting)])
        self.keys, place = np.unique(keys, return_inverse=True)
        self.numbers, self.waiting = np.bincount(place.reshape(-1), numbers, len(self.keys)).astype(float), []
        return self.keys, self.numbers


def _below(counts: NDArray[Any]) -> Array:
    return np.concatenate([[0.0], np.cumsum(counts) / counts.sum()])


def _names(file: Path, columns: Mapping[str, str]) -> tuple[str, str, str]:
    pa, pq = extras.load("pyarrow"), extras.load("pyarrow.parquet")
    try:
        present = pq.read_schema(file).names
    except pa.ArrowException as error:
        raise StratError.about(
            "path", f"must be a whole Parquet file, got {file.name!r}: {str(error).split('.')[0]}."
        ) from None
    chosen = []
    for role in ("probe_subject", "gallery_subject", "score"):
        usual = next((name for name in present if name.lower() in ROLES[role]), role)
        name = columns.get(role, usual)
        if name not in present:
            raise StratError.about("path", f"must have a column {name!r} as {role}; {near(name, list(present))}")
        chosen.append(name)
    return chosen[0], chosen[1], chosen[2]


def _subjects(file: Path, names: tuple[str, str, str]) -> NDArray[Any]:
    """The distinct subjects of both sides, sorted."""
    known: set[Any] = set()
    with _opened(file) as parquet:
        for batch in parquet.iter_batches(batch_size=LIMITS.streamed_rows, columns=list(dict.fromkeys(names[:2]))):
            for column in batch.columns:
                if column.null_count:
                    raise StratError.about(
                        "path", f"must name a subject on both sides of every row, got rows of {file.name!r} without."
                    )
                known.update(column.unique().to_pylist())
    return np.unique(np.asarray(list(known)))

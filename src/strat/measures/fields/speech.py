"""Speech recognition and diarization: errors over words or characters, and errors over time.

The usual unit is the speaker, the recording or the conversation, not the utterance: name it in the design.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from strat.base.errors import StratError
from strat.base.extras import load
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array
from strat.measures.base import Rows, Statistic
from strat.measures.fields.inputs import two_texts
from strat.measures.quotients import ratio_of_totals
from strat.measures.register import measure


@checked
def word_errors(reference: ArrayLike, hypothesis: ArrayLike, *, characters: bool = False) -> dict[str, Array]:
    """What each row adds up: hits, substitutions, deletions and insertions of a best alignment.

    The usual unit is the speaker, or the recording.

    Parameters
    ----------
    reference, hypothesis
        One text per row; words are what white space separates. Lower case and punctuation are yours to settle first.
    characters
        Whether to align characters in place of words.

    Examples
    --------
    >>> {name: counts.tolist() for name, counts in word_errors(["a b c"], ["a x c d"]).items()}
    {'hits': [2.0], 'substitutions': [1.0], 'deletions': [0.0], 'insertions': [1.0]}
    """
    left, right = two_texts(reference, hypothesis)
    pieces: Callable[[str], Sequence[str]] = str.strip if characters else str.split
    align = load("rapidfuzz.distance").Levenshtein.opcodes
    counts = np.array([_counts(align, pieces(a), pieces(b)) for a, b in zip(left, right, strict=True)], float)
    return dict(zip(("hits", "substitutions", "deletions", "insertions"), counts.T, strict=True))


def _counts(align: Any, reference: Sequence[str], hypothesis: Sequence[str]) -> tuple[int, int, int, int]:
    """Hits, substitutions, deletions and insertions of one row."""
    if reference == hypothesis:
        return len(reference), 0, 0, 0
    substitutions = deletions = insertions = 0
    for operation, start, end, first, last in align(reference, hypothesis).as_list():
        if operation == "replace":
            substitutions += end - start
        elif operation == "delete":
            deletions += end - start
        elif operation == "insert":
            insertions += last - first
    return len(reference) - substitutions - deletions, substitutions, deletions, insertions


@measure(
    "wer",
    "word_error_rate",
    reads="texts",
    unit="errors per word",
    bounds=(0.0, np.inf),
    higher_is_better=False,
    files="texts",
)
@checked
def wer(reference: ArrayLike, hypothesis: ArrayLike) -> Statistic:
    """The word error rate: (substitutions + deletions + insertions) / words of the reference, totals over totals.

    Each row adds (errors, words of the reference); this is not the mean of the rows' rates.
    The usual unit is the speaker, or the recording.

    Parameters
    ----------
    reference, hypothesis
        As for `word_errors`.

    Examples
    --------
    >>> float(wer(["a b c", "d"], ["a x c d", "d"]).value())
    0.5
    """
    return _rate("word error rate", word_errors(reference, hypothesis))


@measure(
    "cer",
    "character_error_rate",
    reads="texts",
    unit="errors per character",
    bounds=(0.0, np.inf),
    higher_is_better=False,
    files="texts",
)
@checked
def cer(reference: ArrayLike, hypothesis: ArrayLike) -> Statistic:
    """The character error rate: `wer` of characters, including spaces.

    Each row adds (errors, characters of the reference). The usual unit is the speaker, or the recording.

    Parameters
    ----------
    reference, hypothesis
        As for `word_errors`.

    Examples
    --------
    >>> float(cer(["abcd"], ["abxd"]).value())
    0.25
    """
    return _rate("character error rate", word_errors(reference, hypothesis, characters=True))


def _rate(name: str, counts: dict[str, Array]) -> Statistic:
    """Errors over the length of the reference."""
    hits, substitutions, deletions, insertions = counts.values()
    length = hits + substitutions + deletions
    if not length.any():
        raise StratError.about("reference", "must not be empty in every row, got no word at all.")
    return ratio_of_totals(name, substitutions + deletions + insertions, length)


@measure(
    "mer",
    reads="texts",
    unit="errors per match or error",
    higher_is_better=False,
    files="texts",
    reference="Morris et al. 2004",
)
@checked
def mer(reference: ArrayLike, hypothesis: ArrayLike) -> Statistic:
    """The match error rate: errors / (hits + errors); each row adds (errors, hits + errors).

    The usual unit is the speaker, or the recording.

    Parameters
    ----------
    reference, hypothesis
        As for `word_errors`.

    Examples
    --------
    >>> float(mer(["a b c"], ["a x c d"]).value())
    0.5
    """
    hits, *errors = word_errors(reference, hypothesis).values()
    wrong = np.sum(errors, axis=0)
    if not (hits + wrong).any():
        raise StratError.about("reference", "must not be empty in every row, got no word at all.")
    return ratio_of_totals("match error rate", wrong, hits + wrong, bounds=(0.0, 1.0))


@measure(
    "wil",
    reads="texts",
    unit="share of information",
    higher_is_better=False,
    files="texts",
    reference="Morris et al. 2004",
)
@checked
def wil(reference: ArrayLike, hypothesis: ArrayLike) -> Statistic:
    """The word information lost: 1 − hits² / (words of the reference × words of the hypothesis), of totals.

    Each row adds (hits, words of the reference, words of the hypothesis).
    The usual unit is the speaker, or the recording.

    Parameters
    ----------
    reference, hypothesis
        As for `word_errors`.

    Examples
    --------
    >>> round(float(wil(["a b c"], ["a x c d"]).value()), 6)
    0.666667
    """
    hits, substitutions, deletions, insertions = word_errors(reference, hypothesis).values()
    lengths = (hits + substitutions + deletions, hits + substitutions + insertions)
    if not lengths[0].any():
        raise StratError.about("reference", "must not be empty in every row, got no word at all.")

    def function(t: Array) -> Array:
        both = t[..., 1] * t[..., 2]
        return 1.0 - np.divide(t[..., 0] ** 2, both, out=np.zeros(both.shape), where=both > 0)

    rows = (Rows(None, np.column_stack([hits, *lengths]), 3),)
    return Statistic("word information lost", rows, function, link="logit", bounds=(0.0, 1.0), higher_is_better=False)

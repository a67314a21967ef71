"""Written answers: exact match, token F1 and ROUGE, each a mean over rows.

The usual unit is the passage, the document or the conversation that several questions share.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from strat.base.errors import one_of
from strat.base.validate.arguments import checked
from strat.measures.base import Statistic
from strat.measures.fields.inputs import two_texts
from strat.measures.quotients import row_mean, share_of
from strat.measures.register import measure

ARTICLES = re.compile(r"\b(a|an|the)\b")
PUNCTUATION = str.maketrans("", "", string.punctuation)
NOT_WORDS = re.compile(r"[^a-z0-9]+")
KINDS = ("rouge1", "rouge2", "rougeL")


def normalized(text: str) -> str:
    """Lower case without punctuation, English articles and needless spaces, as SQuAD's script has it.

    >>> normalized("The  cat, sat.")
    'cat sat'
    """
    return " ".join(ARTICLES.sub(" ", text.lower().translate(PUNCTUATION)).split())


@measure("exact_match", "em", reads="texts", files="texts", reference="Rajpurkar et al. 2016")
@checked
def exact_match(reference: ArrayLike, hypothesis: ArrayLike, *, normalize: bool = True) -> Statistic:
    """The share of rows whose answer is the reference; each row adds (1 if equal, 1).

    The usual unit is the passage, the document or the conversation.

    Parameters
    ----------
    reference, hypothesis
        One text per row.
    normalize
        Whether case, punctuation, English articles and spaces are ignored, as SQuAD's script does.

    Examples
    --------
    >>> float(exact_match(["the cat", "dog"], ["Cat.", "cow"]).value())
    0.5
    """
    left, right = two_texts(reference, hypothesis)
    same = [normalized(a) == normalized(b) if normalize else a == b for a, b in zip(left, right, strict=True)]
    return replace(share_of("exact match", np.array(same)), higher_is_better=True)


@measure("token_f1", "squad_f1", reads="texts", unit="score", files="texts", reference="Rajpurkar et al. 2016")
@checked
def token_f1(reference: ArrayLike, hypothesis: ArrayLike) -> Statistic:
    """The mean over rows of the F1 of shared words, after SQuAD's normalization; each row adds (its F1, 1).

    The usual unit is the passage, the document or the conversation.

    Parameters
    ----------
    reference, hypothesis
        One text per row.

    Examples
    --------
    >>> float(token_f1(["big cat", "dog"], ["cat", "cow"]).value().round(4))
    0.3333
    """
    left, right = two_texts(reference, hypothesis)
    pairs = zip(left, right, strict=True)
    rows = np.array([_shared_f1(normalized(a).split(), normalized(b).split()) for a, b in pairs])
    return replace(row_mean("token F1", rows, link="logit", bounds=(0.0, 1.0)), higher_is_better=True)


def _shared_f1(reference: list[str], hypothesis: list[str]) -> float:
    if not reference or not hypothesis:  # SQuAD 2: no answer is right if and only if none was expected
        return float(reference == hypothesis)
    return _f1(sum((Counter(reference) & Counter(hypothesis)).values()), len(reference), len(hypothesis))


def _f1(shared: int, reference: int, hypothesis: int) -> float:
    """2 × shared / (both lengths), the harmonic mean of precision and recall."""
    return 2.0 * shared / (reference + hypothesis) if shared else 0.0


@measure(
    "rougel",
    "rouge",
    "rouge_l",
    reads="texts",
    given={"kind": "rougeL"},
    variants={"rouge1": {"kind": "rouge1"}, "rouge2": {"kind": "rouge2"}},
    unit="score",
    files="texts",
    reference="Lin 2004",
)
@checked
def rouge(reference: ArrayLike, hypothesis: ArrayLike, *, kind: str = "rougeL") -> Statistic:
    """The mean F1 of ROUGE over rows, without stemming, equal to rouge-score's; each row adds (its F1, 1).

    The usual unit is the passage, the document or the conversation.

    Parameters
    ----------
    reference, hypothesis
        One text per row; words are runs of a–z and 0–9 in lower case.
    kind
        "rouge1" or "rouge2" (shared words, pairs of words) or "rougeL" (the longest common subsequence).

    Examples
    --------
    >>> float(rouge(["the cat sat"], ["the cat ran"], kind="rouge2").value())
    0.5
    """
    one_of("kind", kind, KINDS)
    left, right = two_texts(reference, hypothesis)
    words = [[NOT_WORDS.sub(" ", text.lower()).split() for text in side] for side in (left, right)]
    of_row = _longest if kind == "rougeL" else _of_pairs if kind == "rouge2" else _of_words
    rows = np.array([of_row(a, b) for a, b in zip(*words, strict=True)])
    name = f"ROUGE-{kind.removeprefix('rouge')}"
    return replace(row_mean(name, rows, link="logit", bounds=(0.0, 1.0)), higher_is_better=True)


def _of_words(reference: list[str], hypothesis: list[str]) -> float:
    return _f1(sum((Counter(reference) & Counter(hypothesis)).values()), len(reference), len(hypothesis))


def _of_pairs(reference: list[str], hypothesis: list[str]) -> float:
    ours, theirs = (Counter(pairwise(words)) for words in (reference, hypothesis))
    return _f1(sum((ours & theirs).values()), ours.total(), theirs.total())


def _longest(reference: list[str], hypothesis: list[str]) -> float:
    """F1 of the longest common subsequence, by bits of one whole number (Hyyrö 2004)."""
    places: dict[str, int] = {}
    for place, word in enumerate(reference):
        places[word] = places.get(word, 0) | (1 << place)
    every = (1 << len(reference)) - 1
    left = every
    for word in hypothesis:
        hit = left & places.get(word, 0)
        left = ((left + hit) | (left - hit)) & every
    return _f1(len(reference) - left.bit_count(), len(reference), len(hypothesis))

"""Machine translation: BLEU, chrF and TER of sacrebleu's sufficient statistics, and MQM of error annotations.

The usual unit is the document (or the talk), not the segment: name it in the design.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from strat.base.errors import StratError, one_of, some
from strat.base.extras import load
from strat.base.notes import Note
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, encode, same_length
from strat.designs.from_columns import GROUP
from strat.measures.base import Rows, Statistic
from strat.measures.fields.inputs import texts, two_texts
from strat.measures.quotients import quotient, ratio_of_totals
from strat.measures.register import LABELS, Columns, measure

TOKENIZERS = ("13a", "none", "zh", "intl", "char")
LOWEST = 1e-300  # what a logarithm is taken of where a precision is 0


def _segments(metric: Any, reference: ArrayLike, hypothesis: ArrayLike) -> tuple[Array, Note]:
    """Sacrebleu's statistics of each segment, and its signature as a note."""
    left, right = two_texts(reference, hypothesis)
    scored = metric.corpus_score(right[:1], [left[:1]])  # lets the signature know the number of references
    statistics = metric._extract_corpus_statistics(right, [left])
    assert scored is not None
    return np.array(statistics, float), Note("signature", {"signature": str(metric.get_signature())})


@measure("bleu", reads="texts", unit="points", bounds=(0.0, 100.0), files="texts", reference="Papineni et al. 2002")
@checked
def bleu(reference: ArrayLike, hypothesis: ArrayLike, *, lowercase: bool = False, tokenize: str = "13a") -> Statistic:
    """BLEU on the scale 0 to 100, equal to sacrebleu's corpus score, whose signature is in the notes of every estimate.

    Each row adds (length, length of the reference, matching n-grams, n-grams) for n = 1 to 4.
    The usual unit is the document.

    Parameters
    ----------
    reference, hypothesis
        One text per row (a segment).
    lowercase
        Whether upper case is ignored.
    tokenize
        sacrebleu's tokenizer: "13a", "none", "zh", "intl" or "char".

    Examples
    --------
    >>> round(float(bleu(["the cat sat on the mat"], ["the cat sat on a mat"]).value()), 4)
    53.7285
    """
    one_of("tokenize", tokenize, TOKENIZERS)
    metric = load("sacrebleu").metrics.BLEU(lowercase=lowercase, tokenize=tokenize, force=True)
    statistics, note = _segments(metric, reference, hypothesis)
    rows = (Rows(None, statistics, statistics.shape[1]),)
    return Statistic("BLEU", rows, _bleu, bounds=(0.0, 100.0), higher_is_better=True, notes=(note,))


def _bleu(t: Array) -> Array:
    """Brevity penalty times the geometric mean of precisions; a precision of 0 is halved again and again ("exp")."""
    length, target, (matches, grams) = t[..., 0], t[..., 1], np.split(t[..., 2:], 2, axis=-1)
    none = matches == 0
    smooth = 1.0 / np.power(2.0, np.cumsum(none, axis=-1))
    precision = 100.0 * quotient(np.where(none, smooth, matches), grams, 0.0)
    logarithm = np.log(np.maximum(precision, LOWEST)).mean(axis=-1)
    short = (length < target) & (length > 0)
    penalty = np.where(length > 0, np.exp(np.where(short, 1.0 - quotient(target, length, 1.0), 0.0)), 0.0)
    some_match = (~none).any(axis=-1) & (precision > 0).all(axis=-1)
    return np.where(some_match, penalty * np.exp(logarithm), 0.0)


@measure(
    "chrf",
    reads="texts",
    variants={"chrf++": {"word_order": 2}},
    unit="points",
    bounds=(0.0, 100.0),
    files="texts",
    reference="Popović 2015",
)
@checked
def chrf(reference: ArrayLike, hypothesis: ArrayLike, *, word_order: int = 0, beta: int = 2) -> Statistic:
    """The chrF score on the scale 0 to 100 (chrF++ with ``word_order=2``), equal to sacrebleu's corpus score.

    Each row adds, for every order of n-gram, those of the hypothesis, of the reference, and those in both.
    The usual unit is the document.

    Parameters
    ----------
    reference, hypothesis
        One text per row (a segment).
    word_order
        The longest n-grams of words that count beside those of up to six characters.
    beta
        How many times more recall counts than precision.

    Examples
    --------
    >>> round(float(chrf(["the cat sat"], ["the cat sat"]).value()), 4)
    100.0
    """
    for name, value, most in (("word_order", word_order, 8), ("beta", beta, 100)):
        if not 0 <= value <= most:
            raise StratError.about(name, f"must lie between 0 and {most}, got {value}.")
    statistics, note = _segments(
        load("sacrebleu").metrics.CHRF(word_order=word_order, beta=beta), reference, hypothesis
    )
    rows = (Rows(None, statistics, statistics.shape[1]),)

    def function(t: Array) -> Array:
        ours, theirs, both = t[..., 0::3], t[..., 1::3], t[..., 2::3]
        used = (ours > 0) & (theirs > 0)
        orders = used.sum(axis=-1)
        precision = quotient(np.where(used, quotient(both, ours, 0.0), 0.0).sum(axis=-1), orders, 0.0)
        recall = quotient(np.where(used, quotient(both, theirs, 0.0), 0.0).sum(axis=-1), orders, 0.0)
        return 100.0 * quotient((1 + beta**2) * precision * recall, beta**2 * precision + recall, 0.0)

    return Statistic("chrF", rows, function, bounds=(0.0, 100.0), higher_is_better=True, notes=(note,))


@measure(
    "ter",
    reads="texts",
    unit="edits per 100 words",
    bounds=(0.0, np.inf),
    higher_is_better=False,
    files="texts",
    reference="Snover et al. 2006",
)
@checked
def ter(reference: ArrayLike, hypothesis: ArrayLike, *, case_sensitive: bool = False) -> Statistic:
    """The translation edit rate in percent, equal to sacrebleu's corpus score; each row adds (edits, reference words).

    The usual unit is the document.

    Parameters
    ----------
    reference, hypothesis
        One text per row (a segment).
    case_sensitive
        Whether upper case counts.

    Examples
    --------
    >>> float(ter(["a b c d"], ["a b c"]).value())
    25.0
    """
    metric = load("sacrebleu").metrics.TER(case_sensitive=case_sensitive)
    statistics, note = _segments(metric, reference, hypothesis)

    def function(t: Array) -> Array:  # sacrebleu: 100 where there are edits and no reference, else 0
        return 100.0 * np.where(t[..., 1] > 0, quotient(t[..., 0], t[..., 1], 0.0), t[..., 0] > 0)

    rows = (Rows(None, statistics, 2),)
    return Statistic(
        "translation edit rate", rows, function, link="log", bounds=(0.0, np.inf), higher_is_better=False, notes=(note,)
    )


SEVERITIES = {"major", "minor", "neutral", "no-error", "no error", "none", ""}


@checked
def mqm_weights(severity: ArrayLike, category: ArrayLike) -> Array:
    """The penalty of each annotated error: major 5, minor 1, minor punctuation 0.1, non-translation 25, else 0.

    Freitag et al. (2021), "Experts, errors, and context", table 3. The usual unit is the document.

    Parameters
    ----------
    severity
        "Major", "Minor", "Neutral", "no-error" and the like, in any case.
    category
        Such as "Accuracy/Omission", "Fluency/Punctuation", "Non-translation!".

    Examples
    --------
    >>> mqm_weights(["Major", "minor", "no-error"], ["Style", "Fluency/Punctuation", "No-error"]).tolist()
    [5.0, 0.1, 0.0]
    """
    levels = [text.strip().lower() for text in texts("severity", severity)]
    kinds = [text.strip().lower() for text in texts("category", category)]
    same_length(severity=levels, category=kinds)
    unknown = sorted(set(levels) - SEVERITIES)
    if unknown:
        raise StratError.about(
            "severity", f"must be Major, Minor, Neutral or No-error, got {some(unknown)}; the severity comes first."
        )
    return np.array([_penalty(*both) for both in zip(levels, kinds, strict=True)])


def _penalty(severity: str, category: str) -> float:
    if category.startswith("non-translation") and severity in ("major", "minor"):
        return 25.0
    if severity == "minor":
        return 0.1 if category == "fluency/punctuation" else 1.0
    return 5.0 if severity == "major" else 0.0


def _mqm_of_rows(columns: Columns) -> Statistic:
    """A segment is an item of one system and one rater, where `by` names them; kinds of errors make no segments."""
    kinds = [np.asarray(columns[role]) for role in LABELS]
    groups = [np.asarray(column) for role, column in columns.items() if role.startswith(GROUP)]
    whose = [column for column in groups if not any(np.array_equal(column, kind) for kind in kinds)]
    codes = [encode("items", column)[0] for column in (np.asarray(columns["items"]), *whose)]
    return mqm(kinds[1], kinds[0], segments=np.unique(np.column_stack(codes), axis=0, return_inverse=True)[1].ravel())


@measure(
    "mqm",
    needs=("predicted", "truth", "items"),
    make=_mqm_of_rows,
    unit="penalty per segment",
    bounds=(0.0, np.inf),
    higher_is_better=False,
    reference="Freitag et al. 2021",
)
@checked
def mqm(severity: ArrayLike, category: ArrayLike, *, segments: ArrayLike) -> Statistic:
    """The MQM score: penalty per segment, lower is better; rows are annotations, and a segment counts once for a rater.

    Each row adds (its penalty, its share of a rated segment): a segment that a rater found three errors in has three
    rows, each a third of it, and one without an error needs a row that says so ("No-error"). Units are documents.

    Parameters
    ----------
    severity, category
        As for `mqm_weights`.
    segments
        The label of the rated segment, of one rater, that the row is about.

    Examples
    --------
    >>> float(mqm(["Major", "Minor", "no-error"], ["Style", "Style", "No-error"], segments=[1, 1, 2]).value())
    3.0
    """
    penalties = mqm_weights(severity, category)
    codes, _ = encode("segments", segments)
    same_length(severity=penalties, segments=codes)
    share = 1.0 / np.bincount(codes)[codes]
    return ratio_of_totals("MQM", penalties, share)

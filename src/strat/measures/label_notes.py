"""Notes on predicted labels that the truth does not have: written in another way, or of another set altogether."""

from __future__ import annotations

import unicodedata
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.base.limits import LIMITS
from strat.base.notes import Note


def label_notes(truth: NDArray[Any], predicted: NDArray[Any]) -> tuple[Note, ...]:
    """Notes on the distinct labels of two columns, of which only equal ones count as right.

    >>> for note in label_notes(np.array(["No", "Yes"]), np.array(["no", "yes"])):
    ...     print(note)
    'no', 'yes' count as other labels than 'No', 'Yes'.
    >>> for note in label_notes(np.array([0, 1]), np.array([2, 3])):
    ...     print(note)
    No predicted label (2, 3) occurs in the truth (0, 1), so that no prediction can be correct.
    """
    if len(truth) + len(predicted) > LIMITS.spelled_labels:
        return ()
    same = truth.dtype == predicted.dtype and np.array_equal(truth, predicted)
    new = predicted[:0] if same else np.setdiff1d(predicted, truth)
    alike = _alike(truth, predicted, new) if truth.dtype.kind == predicted.dtype.kind == "U" else []
    if alike:
        these, those = zip(*alike, strict=True)
        return (Note("spelled-labels", {"these": these, "those": those}),)
    if len(new) == len(predicted):
        return (Note("disjoint-labels", {"predicted": tuple(predicted.tolist()), "truth": tuple(truth.tolist())}),)
    return ()


def _alike(truth: NDArray[Any], predicted: NDArray[Any], new: NDArray[Any]) -> list[tuple[str, str]]:
    """Labels that differ by blanks, and predicted ones that the truth has in another spelling only, each with it."""
    every = {str(label): None for part in (truth, predicted) for label in part.tolist()}
    padded = [(text, bare) for text in every if text != (bare := _bare(text)) and bare in every]
    spellings = {_folded(str(label)): str(label) for label in truth.tolist()} if len(new) else {}
    known = {text for text, _ in padded}
    others = [text for text in new.tolist() if text not in known and _folded(text) in spellings]
    return padded + [(text, spellings[_folded(text)]) for text in others]


def _bare(text: str) -> str:
    """The text without blanks around it and without characters that nobody sees, such as a zero-width space."""
    seen = text if text.isascii() else "".join(sign for sign in text if unicodedata.category(sign) != "Cf")
    return seen.strip()


def _folded(text: str) -> str | Decimal:
    """What is left of a label without blanks around it, capitals, and ways to write a letter or a number."""
    plain = _bare(unicodedata.normalize("NFKC", text)).casefold()
    try:
        number = Decimal(plain)
    except InvalidOperation:
        return plain
    return number if number.is_finite() else plain

"""Every worked example, table and figure of the five sources, computed and set beside what they print."""

from __future__ import annotations

from reproduce import cvpr, fh_formulas, fukunaga_hayes, kuncheva, nyssen, strat
from reproduce.entries import Entry, Found, Reproduced, Setting, Value, chosen, reproduce

__all__ = ["ENTRIES", "SOURCES", "Entry", "Found", "Reproduced", "Setting", "Value", "chosen", "reproduce"]

SOURCES = {
    "strat": "STRAT: Micheals and Boult, A Stratified Methodology for Classifier and Recognizer Evaluation",
    "cvpr": "CVPR: Micheals and Boult, Efficient Evaluation of Classification and Recognition Systems",
    "nyssen": "Nyssen: Interpretation of pattern classification results, obtained from a test set",
    "fh": "F&H: Fukunaga and Hayes, Estimation of Classifier Performance",
    "kuncheva": "Kuncheva: Fundamentals of Pattern Recognition (chapter 1)",
}
ENTRIES: tuple[Entry, ...] = (
    *strat.ENTRIES,
    *cvpr.ENTRIES,
    *nyssen.ENTRIES,
    *fukunaga_hayes.ENTRIES,
    *fh_formulas.ENTRIES,
    *kuncheva.ENTRIES,
)

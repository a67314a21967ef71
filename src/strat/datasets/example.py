"""The bundled example: generated verdicts of two systems on claims about passages.

The file ``example.csv`` beside this module is made by it and by nothing else, from the seed below: no real person,
text or system is in it. Write it again with ``python -m strat.datasets.example``.

How it was made. Twelve subjects are fixed; each has ten passages, and each passage six to fourteen claims that it
supports or refutes. A passage is easy or hard for both systems equally (a normal shift on the logit scale), a subject
moves both, and each claim has a difficulty of its own; that is why verdicts on one passage are right or wrong together.
A score is the system's probability of "supported", and its guess is "supported" where the score is above ½.

Columns: item, subject (stratum), passage (unit), label (the truth), guess, score and correct (the new system; 1 where
it is right), baseline and baseline_score (the old one).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

SEED = 20_010_612  # of the bundled table
SUBJECTS = (
    "anatomy", "astronomy", "chemistry", "economics", "geography", "geology",
    "history", "law", "literature", "medicine", "music", "physics",
)  # fmt: skip
PASSAGES = 10  # for each subject
FEWEST, MOST = 6, 14  # questions on a passage
SUBJECT_SPREAD, PASSAGE_SPREAD, ITEM_SPREAD, OWN_SPREAD = 0.4, 1.3, 0.8, 1.0  # logits of ease, by what they belong to
NEW, OLD = 2.0, 1.5  # skill of the two systems, in logits


def example_path() -> Path:
    """The path of the bundled CSV file.

    >>> example_path().name
    'example.csv'
    """
    return Path(__file__).with_name("example.csv")


def example() -> dict[str, NDArray[Any]]:
    """The columns of the example, made anew from the seed.

    Examples
    --------
    >>> columns = example()
    >>> sorted(columns)[:4], len(set(columns["subject"].tolist()))
    (['baseline', 'baseline_score', 'correct', 'guess'], 12)
    """
    rng = np.random.default_rng(SEED)
    sizes = rng.integers(FEWEST, MOST + 1, size=len(SUBJECTS) * PASSAGES)
    passage = np.repeat(np.arange(len(sizes)), sizes)
    subject = passage // PASSAGES
    n = len(passage)
    ease = SUBJECT_SPREAD * rng.standard_normal(len(SUBJECTS))[subject]
    ease += PASSAGE_SPREAD * rng.standard_normal(len(sizes))[passage] + ITEM_SPREAD * rng.standard_normal(n)
    supported = rng.random(n) < 0.55
    columns: dict[str, NDArray[Any]] = {
        "item": np.arange(1, n + 1),
        "subject": np.array(SUBJECTS)[subject],
        "passage": np.array([f"{SUBJECTS[k // PASSAGES]}-{k % PASSAGES + 1:02d}" for k in range(len(sizes))])[passage],
        "label": np.where(supported, "supported", "refuted"),
    }
    for guess, score, skill in (("guess", "score", NEW), ("baseline", "baseline_score", OLD)):
        belief = np.where(supported, 1, -1) * (skill + ease + OWN_SPREAD * rng.standard_normal(n))
        columns[score] = np.clip(np.round(expit(belief), 3), 0.001, 0.999)
        columns[guess] = np.where(columns[score] > 0.5, "supported", "refuted")
    columns["correct"] = (columns["guess"] == columns["label"]).astype(int)
    order = ("item", "subject", "passage", "label", "guess", "score", "correct", "baseline", "baseline_score")
    return {name: columns[name] for name in order}


def example_text() -> str:
    """The bundled file as text, made anew."""
    columns = example()
    lines = [",".join(columns)]
    lines += [",".join(map(str, row)) for row in zip(*(values.tolist() for values in columns.values()), strict=True)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    example_path().write_text(example_text(), encoding="utf-8")

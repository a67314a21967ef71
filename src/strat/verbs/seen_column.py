"""A column as it was looked at: its kind, its levels, and the words of its name that tell a role."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from numpy.typing import NDArray

from strat.base.validate.columns import Codes
from strat.data.column import Column

NUMBERS, WHOLE, TRUTHS, LABELS, TEXT, DATES = "numbers", "whole numbers", "truth values", "labels", "text", "dates"
MOST_CLASSES = 100  # levels of a column that may hold classes or groups
TRUTH = ("truth", "gold", "label", "labels", "target", "y", "true", "actual", "reference", "expected", "diagnosis",
         "outcome", "class", "answer")  # fmt: skip
PREDICTED = ("pred", "preds", "prediction", "predictions", "predicted", "guess", "yhat", "y_hat", "hyp", "hypothesis",
             "output", "response")  # fmt: skip
PROBABILITY = ("prob", "probability", "proba", "score", "confidence", "conf", "p", "risk", "likelihood", "logit")
RIGHT = ("correct", "right", "acc", "accuracy", "em", "passed", "pass", "hit", "success", "score", "reward", "grade",
         "rating", "judge", "points")  # fmt: skip
UNITS = ("patient", "subject", "doc", "document", "user", "session", "question", "passage", "speaker", "repo",
         "repository", "person", "participant", "customer", "author", "video", "family", "household", "student",
         "case", "study", "animal", "cluster", "unit", "article", "conversation")  # fmt: skip
STRATA = ("site", "subject", "language", "lang", "task", "category", "domain", "hospital", "center", "centre",
          "stratum", "strata", "topic", "region", "country", "dataset", "field")  # fmt: skip
REPEAT = ("epoch", "run", "repeat", "sample", "trial", "seed", "attempt", "replicate", "try", "rep")
ITEM = (
    "item",
    "id",
    "question",
    "prompt",
    "case",
    "example",
    "image",
    "document",
    "doc",
    "task",
    "problem",
    "instance",
)
SYSTEM = ("model", "system", "classifier", "algorithm", "matcher", "llm", "agent", "checkpoint", "method")
WEIGHT = ("weight", "weights", "w", "wt")
SAMPLED = ("sample", "sampling", "survey", "design", "row", "case", "population")  # of weights that mean it


@dataclass(frozen=True, eq=False)
class Seen:
    """A column as it was looked at.

    Attributes
    ----------
    column
        Its values.
    kind
        What they are: numbers, whole numbers, truth values, labels, text or dates.
    """

    column: Column
    kind: str

    @property
    def name(self) -> str:
        """Its name."""
        return self.column.name

    @cached_property
    def codes(self) -> Codes:
        """Which level each row has; -1: none."""
        return self.column.encoded()[0]

    @cached_property
    def labels(self) -> NDArray[Any]:
        """The levels in sorted order."""
        return self.column.encoded()[1]

    @property
    def levels(self) -> int:
        """How many levels there are."""
        return len(self.labels)

    @cached_property
    def words(self) -> list[str]:
        """The words of its name: `y_hat`, y and hat."""
        parts = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[^\W\d_]+", self.name)
        return ["_".join(parts).lower(), *(part.lower() for part in parts)]

    @property
    def few(self) -> bool:
        """Whether it may hold classes or groups: few levels, several rows each."""
        kinds = (LABELS, TRUTHS, WHOLE)
        return self.kind in kinds and 2 <= self.levels <= min(MOST_CLASSES, max(2, len(self.column) // 2))

    @property
    def numeric(self) -> bool:
        """Whether its values are numbers, also truth values."""
        return self.kind in (NUMBERS, WHOLE, TRUTHS)

    def called(self, words: Sequence[str]) -> bool:
        """Whether its name has one of these words; a single letter must be the whole name."""
        return any(word in words and (len(word) > 1 or word == self.words[0]) for word in self.words)

"""How a variance was found: a kind for programs and a name for people."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from strat.base.result import Result


class MethodKind(Enum):
    """The kinds of variance methods."""

    CLOSED_FORM = "closed form"
    TWO_WAY = "two-way"
    BRR = "brr"
    FAY = "fay"
    GENERALIZED = "generalized"
    MULTI_ARRAY = "multi-array"
    HALF_SAMPLES = "half-samples"
    JACKKNIFE = "jackknife"
    BOOTSTRAP = "bootstrap"
    GIVEN = "given"


@dataclass(frozen=True, repr=False)
class Method(Result):
    """How a variance was found.

    Attributes
    ----------
    kind
        What decides: its kind.
    name
        What people call it.
    replicates
        The replicates in one line ("": none were made).
    by_shares
        Whether a quantile's variance was found through the share of rows at or below it (Woodruff).
    at_random
        Whether each replicate was drawn at random, so that other draws give another standard error.

    Examples
    --------
    >>> method = Method(MethodKind.JACKKNIFE, "JK1")
    >>> print(method)
    JK1
    >>> method.replicated, CLOSED_FORM.replicated
    (True, False)
    """

    kind: MethodKind
    name: str
    replicates: str = ""
    by_shares: bool = False
    at_random: bool = False

    @property
    def replicated(self) -> bool:
        """Whether the statistic was evaluated on replicates."""
        return self.kind not in (MethodKind.CLOSED_FORM, MethodKind.TWO_WAY) and not self.by_shares

    def __str__(self) -> str:
        """What people call it."""
        return f"Woodruff, {self.name}" if self.by_shares else self.name


CLOSED_FORM = Method(MethodKind.CLOSED_FORM, "closed form")

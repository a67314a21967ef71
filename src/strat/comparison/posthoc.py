"""After Friedman's test: which systems differ? All pairs, or against a control."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike
from scipy.special import log_ndtr, ndtr, ndtri

from strat.base.errors import StratError, one_of
from strat.base.notes import records
from strat.base.result import Result
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, values
from strat.comparison.adjustments import adjust
from strat.comparison.critical_difference import cliques, draw_control, draw_groups
from strat.comparison.score_table import Scores, scores
from strat.estimation.hypothesis_tests import with_notes

# Gauss-Legendre nodes for the studentized range; 256 give 12 digits for up to 1,000 systems.
NODES = 256
_legendre = cache(np.polynomial.legendre.leggauss)


class SingleLimit(Enum):
    """Which single difference of average ranks is significant, for the tests that have one."""

    NONE = "none"
    STUDENTIZED_RANGE = "studentized range"
    BONFERRONI = "bonferroni"


@dataclass(frozen=True, repr=False)
class AllPairs(Result):
    """Every pair of systems compared by average ranks.

    Attributes
    ----------
    name
        The test, with its convention.
    systems, ranks
        Names and average ranks (1 is the best).
    n
        Number of data sets.
    z
        Differences of average ranks over their standard error (1.16), systems × systems.
    pvalues
        Adjusted p-values, two-tailed; 1 on the diagonal.
    notes
        What to be careful about.
    limit
        Which critical difference there is.
    """

    name: str
    systems: tuple[str, ...]
    ranks: Array = field(repr=False)
    n: int
    z: Array = field(repr=False)
    pvalues: Array = field(repr=False)
    notes: tuple[str, ...] = ()
    limit: SingleLimit = SingleLimit.NONE

    @property
    def rank_error(self) -> float:
        """Standard error of a difference of two average ranks, the denominator of (1.16)."""
        return rank_error(len(self.systems), self.n)

    @checked
    def critical_difference(self, alpha: float = 0.05) -> float | None:
        """The difference of average ranks that is significant, for the tests that have a single one."""
        if self.limit is SingleLimit.STUDENTIZED_RANGE:
            return studentized_range_quantile(alpha, len(self.systems)) / math.sqrt(2.0) * self.rank_error
        if self.limit is SingleLimit.BONFERRONI:
            pairs = len(self.systems) * (len(self.systems) - 1) / 2
            return float(-ndtri(0.5 * alpha / pairs)) * self.rank_error
        return None

    @checked
    def different(self, alpha: float = 0.05) -> list[tuple[str, str]]:
        """Pairs (better, worse) that differ at `alpha`."""
        pairs = np.argwhere(np.triu(self.pvalues < alpha, 1))
        ordered = [(i, j) if self.ranks[i] <= self.ranks[j] else (j, i) for i, j in pairs]
        return [(self.systems[i], self.systems[j]) for i, j in ordered]

    @checked
    def groups(self, alpha: float = 0.05) -> list[tuple[str, ...]]:
        """Largest groups of neighbours by rank of which no two differ, the bars of the diagram."""
        order = np.argsort(self.ranks, kind="stable")
        groups = cliques(self.pvalues[np.ix_(order, order)] >= alpha)
        return [tuple(self.systems[order[k]] for k in range(a, b + 1)) for a, b in groups]

    def plot(self, ax: Any = None, *, alpha: float = 0.05) -> Any:
        """Demšar's critical-difference diagram: best at the left, bars join systems that do not differ."""
        return draw_groups(self.systems, self.ranks, self.pvalues >= alpha, self.critical_difference(alpha), alpha, ax)

    def __str__(self) -> str:
        """The significant pairs as a sentence, and the notes."""
        return with_notes(self.sentence, self.notes)

    @property
    def sentence(self) -> str:
        """The significant pairs as a sentence."""
        different = self.different()
        if not different:
            return f"{self.name}: no two of {len(self.systems)} systems differ at 5 %."
        named = "; ".join(f"{a} better than {b}" for a, b in different[:8])
        more = f"; and {len(different) - 8} more" if len(different) > 8 else ""
        return f"{self.name}: {named}{more} (5 %, {self.n} data sets)."

    def to_dict(self) -> dict[str, Any]:
        """The numbers for JSON."""
        i, j = np.triu_indices(len(self.systems), 1)
        return {
            "test": self.name,
            "data_sets": self.n,
            "average_ranks": dict(zip(self.systems, self.ranks.tolist(), strict=True)),
            "pairs": [
                {"a": self.systems[p], "b": self.systems[q], "z": float(self.z[p, q]),
                 "pvalue": float(self.pvalues[p, q])}
                for p, q in zip(i, j, strict=True)
            ],
            "critical_difference": self.critical_difference(),
            "notes": records(self.notes),
        }  # fmt: skip


@dataclass(frozen=True, repr=False)
class AgainstControl(Result):
    """One system compared with every other by average ranks.

    Attributes
    ----------
    name, control, alternative
        The test, the system of interest, and the tail: "greater" means that the control is the better one.
    systems, ranks
        All names and average ranks, the control among them.
    others
        The systems compared with the control, in the order of `z` and `pvalues`.
    z
        (R_control − R_other) over its standard error (1.16); negative where the control is better.
    pvalues
        Adjusted p-values.
    notes
        What to be careful about.
    limit
        Which critical difference there is.
    """

    name: str
    control: str
    alternative: str
    systems: tuple[str, ...]
    ranks: Array = field(repr=False)
    others: tuple[str, ...]
    z: Array = field(repr=False)
    pvalues: Array = field(repr=False)
    n: int
    notes: tuple[str, ...] = ()
    limit: SingleLimit = SingleLimit.NONE

    @checked
    def different(self, alpha: float = 0.05) -> list[str]:
        """Systems that differ from the control at `alpha`."""
        return [s for s, p in zip(self.others, self.pvalues, strict=True) if p < alpha]

    @checked
    def critical_difference(self, alpha: float = 0.05) -> float | None:
        """The difference of average ranks that is significant (Bonferroni-Dunn only)."""
        if self.limit is not SingleLimit.BONFERRONI:
            return None
        tails = 2.0 if self.alternative == "two-sided" else 1.0
        level = alpha / (tails * len(self.others))
        return float(-ndtri(level)) * rank_error(len(self.systems), self.n)

    def plot(self, ax: Any = None, *, alpha: float = 0.05) -> Any:
        """Average ranks on a line; systems that do not differ from the control are joined with it."""
        same = {s: bool(p >= alpha) for s, p in zip(self.others, self.pvalues, strict=True)}
        cd = self.critical_difference(alpha)
        return draw_control(self.systems, self.ranks, self.control, same, cd, alpha, ax)

    def __str__(self) -> str:
        """The verdict as a sentence, and the notes."""
        return with_notes(self.sentence, self.notes)

    @property
    def sentence(self) -> str:
        """The verdict as a sentence."""
        different = self.different()
        verb = "differs from" if self.alternative == "two-sided" else "is better than"
        if self.alternative == "less":
            verb = "is worse than"
        who = ", ".join(different) if different else "none of the others"
        return f"{self.name}: {self.control} {verb} {who} (5 %, {self.n} data sets)."

    def to_dict(self) -> dict[str, Any]:
        """The numbers for JSON."""
        return {
            "test": self.name,
            "control": self.control,
            "alternative": self.alternative,
            "data_sets": self.n,
            "average_ranks": dict(zip(self.systems, self.ranks.tolist(), strict=True)),
            "others": [
                {"system": s, "z": float(z), "pvalue": float(p)}
                for s, z, p in zip(self.others, self.z, self.pvalues, strict=True)
            ],
            "notes": records(self.notes),
        }


NEMENYI = "Nemenyi, studentized range"
BONFERRONI = "Nemenyi as z with Bonferroni (1.16)"
DUNN = "Bonferroni-Dunn"


@checked
def nemenyi(table: Any, *, higher_is_better: bool) -> AllPairs:
    """Demšar's Nemenyi test of all pairs: average ranks against the studentized range.

    Examples
    --------
    Ten data sets rank A before B before C: z(A, C) = 2 / sqrt(3 · 4 / 60) = 4.472.

    >>> result = nemenyi({"A": [1] * 10, "B": [2] * 10, "C": [3] * 10}, higher_is_better=False)
    >>> round(float(abs(result.z[0, 2])), 3), result.different()
    (4.472, [('A', 'C')])
    """
    s, ranks, z = _pairs(table, higher_is_better)
    m = len(s.systems)
    i, j = np.triu_indices(m, 1)
    raw = studentized_range_tail(np.abs(z[i, j]) * math.sqrt(2.0), m)
    return AllPairs(
        NEMENYI, s.systems, ranks, len(s.values), z, pair_matrix(raw, m), s.notes, SingleLimit.STUDENTIZED_RANGE
    )


@checked
def nemenyi_bonferroni(table: Any, *, higher_is_better: bool) -> AllPairs:
    """The test that Kuncheva (1.16) calls Nemenyi: z of every pair with Bonferroni's correction (ERRATA 19).

    >>> result = nemenyi_bonferroni({"A": [1] * 10, "B": [2] * 10, "C": [3] * 10}, higher_is_better=False)
    >>> result.different()
    [('A', 'C')]
    """
    return all_pairs(table, higher_is_better=higher_is_better, adjust="bonferroni")


@checked
def all_pairs(table: Any, *, higher_is_better: bool, adjust: str = "shaffer") -> AllPairs:
    """All pairs of systems by the z of (1.16), with the adjustment that is named.

    Parameters
    ----------
    adjust
        "none", "bonferroni", "holm", "hochberg", "hommel", "holland", "rom", "finner", "li", "shaffer" and
        "bergmann-hommel" (Garcia and Herrera 2008), "benjamini-hochberg" or "benjamini-yekutieli".

    Examples
    --------
    >>> table = {"A": [1] * 10, "B": [2] * 10, "C": [3] * 10}
    >>> all_pairs(table, higher_is_better=False).different()
    [('A', 'B'), ('A', 'C'), ('B', 'C')]
    """
    s, ranks, z = _pairs(table, higher_is_better)
    m = len(s.systems)
    i, j = np.triu_indices(m, 1)
    adjusted = _adjusted(2.0 * ndtr(-np.abs(z[i, j])), adjust, m)
    name = BONFERRONI if adjust == "bonferroni" else f"all pairs as z (1.16), {adjust}"
    limit = SingleLimit.BONFERRONI if adjust == "bonferroni" else SingleLimit.NONE
    return AllPairs(name, s.systems, ranks, len(s.values), z, pair_matrix(adjusted, m), s.notes, limit)


@checked
def bonferroni_dunn(
    table: Any, *, control: str | int, higher_is_better: bool, alternative: str = "two-sided"
) -> AgainstControl:
    """Bonferroni and Dunn's test of a control against every other system.

    Parameters
    ----------
    control
        The system of interest, by name or by its column from 0.
    alternative
        "greater": the control is better (the book's one-tailed test); "less": it is worse; "two-sided".

    Examples
    --------
    Ten data sets rank A before B before C: z = −1/sqrt(0.2) for B, p = 2 · 0.0127 · 2.

    >>> table = {"A": [1] * 10, "B": [2] * 10, "C": [3] * 10}
    >>> result = bonferroni_dunn(table, control="A", higher_is_better=False)
    >>> [round(p, 4) for p in result.pvalues.tolist()]
    [0.0507, 0.0]
    """
    return against_control(
        table, control=control, higher_is_better=higher_is_better, alternative=alternative, adjust="bonferroni"
    )


@checked
def against_control(
    table: Any,
    *,
    control: str | int,
    higher_is_better: bool,
    alternative: str = "two-sided",
    adjust: str = "holm",
) -> AgainstControl:
    """A control against every other system by the z of (1.16), with the adjustment that is named.

    >>> table = {"A": [1] * 10, "B": [2] * 10, "C": [3] * 10}
    >>> against_control(table, control="A", higher_is_better=False).different()
    ['B', 'C']
    """
    one_of("alternative", alternative, ("two-sided", "greater", "less"))
    s, ranks, z = _pairs(table, higher_is_better)
    k = s.position(control)
    rest = np.array([j for j in range(len(s.systems)) if j != k])
    own = z[k, rest]
    # A better control has the smaller rank, so z < 0 (the book's one-tailed p is Phi(z)).
    raw = {"two-sided": 2.0 * ndtr(-np.abs(own)), "greater": ndtr(own), "less": ndtr(-own)}[alternative]
    name = DUNN if adjust == "bonferroni" else f"control as z (1.16), {adjust}"
    others = tuple(s.systems[j] for j in rest)
    adjusted = _adjusted(raw, adjust, None)
    n = len(s.values)
    limit = SingleLimit.BONFERRONI if adjust == "bonferroni" else SingleLimit.NONE
    return AgainstControl(name, s.systems[k], alternative, s.systems, ranks, others, own, adjusted, n, s.notes, limit)


@checked
def studentized_range_tail(q: ArrayLike, systems: int) -> Array:
    """P(Q >= q) of the studentized range of `systems` normals with infinite degrees of freedom.

    ``M ∫ phi(z) Phi(z)^(M-1) {1 − [1 − Phi(z − q)/Phi(z)]^(M-1)} dz``: every part is positive, so small
    tails keep their digits.

    >>> round(float(studentized_range_tail(2.0 ** 0.5 * 1.959964, 2)), 6)
    0.05
    """
    value = np.atleast_1d(values("q", q, most=1e6))
    distinct, back = np.unique(value, return_inverse=True)
    # The integrand lives where z is near the largest of M normals and z − q is not far below.
    low, high = -6.0, 9.0 + distinct
    half = 0.5 * (high - low)
    nodes, weights = _legendre(NODES)
    z = (0.5 * (high + low))[:, None] + half[:, None] * nodes
    log_phi = log_ndtr(z)
    share = np.minimum(ndtr(z - distinct[:, None]) / ndtr(z), 1.0 - 1e-16)
    inner = -np.expm1((systems - 1) * np.log1p(-share))
    density = np.exp(-0.5 * z**2 + (systems - 1) * log_phi) / math.sqrt(2.0 * math.pi)
    tail = systems * half * ((density * inner) @ weights)
    result: Array = np.where(distinct <= 0, 1.0, np.clip(tail, 0.0, 1.0))[back.reshape(-1)]
    return result.reshape(np.shape(q))


@checked
def studentized_range_quantile(alpha: float, systems: int) -> float:
    """The q that a studentized range of `systems` normals exceeds with probability `alpha`.

    Examples
    --------
    Demšar's Table 5: 2.343 for three classifiers is q / sqrt 2.

    >>> round(studentized_range_quantile(0.05, 3) / 2.0 ** 0.5, 3)
    2.344
    """
    if not 0.0 < alpha < 1.0:
        raise StratError.about("alpha", f"must lie between 0 and 1, got {alpha!r}.")
    if systems < 2:
        raise StratError.about("systems", f"must be two or more, got {systems}.")
    return float(
        scipy.optimize.brentq(lambda q: float(studentized_range_tail(q, systems)) - alpha, 1e-9, 60.0, xtol=1e-12)
    )


def _pairs(table: Any, higher_is_better: bool) -> tuple[Scores, Array, Array]:
    s = scores(table, higher_is_better=higher_is_better)
    ranks = s.ranks.mean(axis=0)
    return s, ranks, (ranks[:, None] - ranks) / rank_error(len(s.systems), len(s.values))


def rank_error(m: int, n: int) -> float:
    """Denominator of (1.16)."""
    return math.sqrt(m * (m + 1) / (6.0 * n))


def _adjusted(raw: Array, method: str, systems: int | None) -> Array:
    return adjust(np.minimum(raw, 1.0), method, systems=systems)


def pair_matrix(pvalues: Array, m: int) -> Array:
    """P-values of all pairs of m systems, in the order of the upper triangle, as a matrix with ones in its diagonal."""
    matrix = np.ones((m, m))
    i, j = np.triu_indices(m, 1)
    matrix[i, j] = matrix[j, i] = pvalues
    return matrix

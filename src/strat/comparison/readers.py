"""Reader studies: several readers rate the same cases, with one system, modality or treatment or with several.

Both readers and cases are samples. Obuchowski and Rockette (1995) take the variance of reader-averaged AUCs from a
two-way analysis of variance of the readers' AUCs and from the covariances that the cases give them (DeLong's), with
the degrees of freedom of Hillis (2007). Gallas (2006) takes it without bias from all pairs of cases and readers.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strat.base.errors import StratError, one_of, plain, some
from strat.base.result import Result
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, Codes, encode, same_length
from strat.designs.layout import bessel, satterthwaite, sums
from strat.estimation.frames import frame
from strat.estimation.hypothesis_tests import p_text, t_pvalue
from strat.measures.positive import positives
from strat.measures.student import critical

METHODS = ("obuchowski-rockette", "u-statistic")
COLUMNS = ("value", "se", "df", "low", "high", "pvalue")


@dataclass(frozen=True, repr=False)
class ReaderValue(Result):
    """A reader-averaged AUC, or a difference of two.

    Attributes
    ----------
    name
        The treatment, or "B - A".
    value, se, df
        The value, its standard error for the populations of readers and cases, and Student's degrees of freedom.
    null
        The value that the test asks about.
    """

    name: str
    value: float
    se: float
    df: float
    null: float

    @property
    def pvalue(self) -> float:
        """Two-sided p of the null value."""
        return (
            float(t_pvalue((self.value - self.null) / self.se, self.df, "two-sided")) if self.se > 0 else float("nan")
        )

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Student's interval."""
        half = float(critical(level, self.df)) * self.se
        return self.value - half, self.value + half

    def to_dict(self) -> dict[str, Any]:
        """The numbers by name."""
        low, high = self.interval()
        return {"name": self.name} | dict(
            zip(COLUMNS, (self.value, self.se, self.df, low, high, self.pvalue), strict=True)
        )

    def __str__(self) -> str:
        """The value with its interval, as a sentence."""
        low, high = self.interval()
        return (
            f"{self.name}: {self.value:.4f} (se {self.se:.4f}, 95 % {low:.4f} to {high:.4f}, df {self.df:.4g}, "
            f"{p_text(self.pvalue)} for {self.null:g})"
        )


@dataclass(frozen=True, eq=False, repr=False)
class ReaderStudy(Result):
    """AUCs of readers, averaged, for the populations of readers and cases.

    Attributes
    ----------
    treatments, readers
        Their labels.
    auc
        The AUC of each reader under each treatment: treatments × readers.
    case_covariance
        What the cases give the AUCs in common: pairs of (treatment, reader), in that order.
    values
        The average over readers for each treatment.
    differences
        Later treatment minus earlier one, for each pair.
    method
        How the variance was made.
    cases
        Number of cases, or of clusters of cases.
    """

    treatments: tuple[Any, ...]
    readers: tuple[Any, ...]
    auc: Array
    case_covariance: Array
    values: tuple[ReaderValue, ...]
    differences: tuple[ReaderValue, ...]
    method: str
    cases: int

    def to_dict(self) -> dict[str, Any]:
        """The numbers for JSON."""
        return {
            "schema": "strat/readers/1",
            "method": self.method,
            "cases": self.cases,
            "treatments": list(self.treatments),
            "readers": list(self.readers),
            "auc": self.auc.tolist(),
            "values": [one.to_dict() for one in self.values],
            "differences": [one.to_dict() for one in self.differences],
        }

    def to_frame(self, library: str | None = None) -> Any:
        """Values and differences as a data frame."""
        rows = [one.to_dict() for one in (*self.values, *self.differences)]
        return frame({key: [row[key] for row in rows] for key in ("name", *COLUMNS)}, library)

    def __str__(self) -> str:
        """A line for each value and each difference."""
        head = f"AUC of {len(self.readers)} readers on {self.cases} cases ({self.method})"
        return "\n".join([head, *map(str, self.values), *map(str, self.differences)])


@checked
def readers(
    truth: ArrayLike,
    score: ArrayLike,
    *,
    reader: ArrayLike,
    case: ArrayLike,
    treatment: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    positive: object = None,
    method: str = "obuchowski-rockette",
) -> ReaderStudy:
    """The AUC averaged over readers, and differences between treatments, where readers and cases are both samples.

    Every reader must have read every case once under every treatment; for incomplete tables and for other measures see
    ``Design.crossed``.

    Parameters
    ----------
    truth
        The class of each row's case.
    score
        The reader's rating of the case.
    reader, case, treatment
        Who read what, with which system or modality (None: there is one).
    clusters
        What each row's case belongs to, such as the patient: cases of one cluster are then not taken as independent.
    positive
        The positive class.
    method
        "obuchowski-rockette" (with Hillis's degrees of freedom), or "u-statistic" (Gallas; unbiased, for cases that
        are independent; the degrees of freedom are Hillis's, too).

    Examples
    --------
    Two readers, four cases: the AUCs are 1 and 3/4.

    >>> study = readers([0, 0, 1, 1] * 2, [1, 2, 3, 4, 1, 3, 2, 4], reader=[1] * 4 + [2] * 4, case=[1, 2, 3, 4] * 2)
    >>> study.auc.tolist(), round(study.values[0].value, 4)
    ([[1.0, 0.75]], 0.875)
    """
    one_of("method", method, METHODS)
    table = _complete(truth, score, reader, case, treatment, clusters, positive)
    pairs = [(a, b) for a in range(len(table.treatments)) for b in range(a + 1, len(table.treatments))]
    auc, influence = _influences(table)
    covariance = _case_covariance(influence, table)
    shape = (len(table.treatments), len(table.readers))
    by_pair = covariance.reshape(*shape, *shape)
    unbiased = method == "u-statistic"
    values = []
    for place, label in enumerate(table.treatments):
        se, df = _hillis(auc[place : place + 1], by_pair[place, :, place, :])
        used = _gallas(table, [(place, 1.0)]) if unbiased else se
        values.append(ReaderValue(str(plain(label)), float(auc[place].mean()), used, df, 0.5))
    differences = []
    for a, b in pairs:
        contrast = by_pair[a, :, a, :] + by_pair[b, :, b, :] - by_pair[a, :, b, :] - by_pair[b, :, a, :]
        se, df = _hillis((auc[b] - auc[a])[None], contrast)
        used = _gallas(table, [(b, 1.0), (a, -1.0)]) if unbiased else se
        name = f"{plain(table.treatments[b])} - {plain(table.treatments[a])}"
        differences.append(ReaderValue(name, float((auc[b] - auc[a]).mean()), used, df, 0.0))
    return ReaderStudy(
        tuple(map(plain, table.treatments)),
        tuple(map(plain, table.readers)),
        auc,
        covariance,
        tuple(values),
        tuple(differences),
        method,
        int(table.cluster.max()) + 1,
    )


@dataclass(frozen=True, eq=False)
class _Table:
    """Ratings as treatments × readers × cases, and what is known of the cases."""

    ratings: Array
    positive: NDArray[np.bool_]
    cluster: Codes
    clustered: bool
    treatments: NDArray[Any]
    readers: NDArray[Any]


def _complete(
    truth: ArrayLike,
    score: ArrayLike,
    reader: ArrayLike,
    case: ArrayLike,
    treatment: ArrayLike | None,
    clusters: ArrayLike | None,
    positive: object,
) -> _Table:
    hits, rating, _, _ = positives(truth, score, positive)
    who, who_labels = encode("reader", reader)
    what, what_labels = encode("case", case)
    how, how_labels = encode("treatment", np.zeros(len(hits)) if treatment is None else treatment)
    same_length(score=rating, reader=who, case=what, treatment=how)
    if treatment is None:
        how_labels = np.array(["AUC"])
    shape = (len(how_labels), len(who_labels), len(what_labels))
    if shape[1] < 2:
        raise StratError.about("reader", "must name at least two readers, got one; use strat.auc for a single one.")
    flat = np.ravel_multi_index((how, who, what), shape)
    seen = np.bincount(flat, minlength=int(np.prod(shape)))
    if (seen != 1).any():
        wrong = int(np.flatnonzero(seen != 1)[0])
        _, j, k = np.unravel_index(wrong, shape)
        raise StratError.about(
            "case",
            f"must be read once by every reader under every treatment, got {seen[wrong]} ratings of "
            f"{plain(what_labels[k])!r} by {plain(who_labels[j])!r} ({int((seen != 1).sum())} such); use "
            "Design.crossed for incomplete tables.",
        )
    ratings = np.empty(shape)
    ratings.ravel()[flat] = rating
    cluster = (
        np.arange(len(what_labels)) if clusters is None else _of_case("clusters", encode("clusters", clusters)[0], what)
    )
    ill = _of_case("truth", hits, what).astype(bool)
    if min(ill.sum(), (~ill).sum()) < 2:
        raise StratError.about(
            "truth", f"must have at least two cases of each class, got {int(ill.sum())} positive ones of {len(ill)}."
        )
    return _Table(ratings, ill, cluster, clusters is not None, how_labels, who_labels)


def _of_case(argument: str, codes: Codes, what: Codes) -> Codes:
    of_case = np.empty(int(what.max()) + 1, np.int64)
    same_length(**{argument: codes, "case": what})
    of_case[what] = codes
    torn = np.unique(what[of_case[what] != codes])
    if len(torn):
        raise StratError.about(argument, f"must be the same for all rows of a case, got {some(torn)} with several.")
    return of_case


def _influences(table: _Table) -> tuple[Array, Array]:
    """AUCs (treatments × readers), and what each case does to each of them: cases × (treatments · readers)."""
    treatments, number, cases = table.ratings.shape
    auc, influence = np.empty((treatments, number)), np.zeros((cases, treatments * number))
    ill = table.positive
    for place, (i, j) in enumerate(product(range(treatments), range(number))):
        above, below = _placements(table.ratings[i, j], ill)
        auc[i, j] = above.mean()
        influence[ill, place] = (above - auc[i, j]) / len(above)
        influence[~ill, place] = (below - auc[i, j]) / len(below)
    return auc, influence


def _placements(ratings: Array, ill: NDArray[np.bool_]) -> tuple[Array, Array]:
    """For each positive case the share of negative ones below it, for each negative one that of positive ones above."""
    p, n = np.sort(ratings[ill]), np.sort(ratings[~ill])

    def share(values: Array, others: Array) -> Array:
        left, right = (np.searchsorted(others, values, side) for side in ("left", "right"))
        return (left + right) / (2.0 * len(others))

    return share(ratings[ill], n), 1.0 - share(ratings[~ill], p)


def _case_covariance(influence: Array, table: _Table) -> Array:
    """Covariance of the AUCs that the cases make: DeLong's, or that between clusters (Obuchowski 1997)."""
    if not table.clustered:
        ill = table.positive
        each = ((part.T @ part) * bessel(len(part)) for part in (influence[ill], influence[~ill]))
        return np.sum(list(each), axis=0)  # DeLong, DeLong and Clarke-Pearson (1988)
    number = int(table.cluster.max()) + 1
    of_clusters = sums(table.cluster, influence, number)
    return np.asarray(of_clusters.T @ of_clusters * bessel(number))


def _hillis(auc: Array, covariance: Array) -> tuple[float, float]:
    """Standard error and degrees of freedom of a mean over readers, Hillis (2007).

    `auc` holds one value for each reader (an AUC, or the difference of two), `covariance` what cases give these. The
    variance is (MS + max(J cov, 0)) / J, with the mean square MS of the readers and the mean covariance of two
    readers; its degrees of freedom are (MS + max(J cov, 0))² / (MS² / (J - 1)).
    """
    number = auc.shape[1]
    mean_square = float(auc.var(ddof=1))
    between = (covariance.sum() - np.trace(covariance)) / (number * (number - 1))
    whole = mean_square + max(number * float(between), 0.0)
    return float(np.sqrt(whole / number)), float(satterthwaite(whole, mean_square**2 / (number - 1), np.inf))


def _gallas(table: _Table, contrast: list[tuple[int, float]]) -> float:
    """Standard error from the moments of success of all pairs of cases and readers (Gallas 2006), without bias.

    The product of two pairs' successes is averaged over those that share the reader, the negative case and the positive
    case, or not: eight moments. The variance is the mean over all pairs of pairs less the moment that shares nothing.
    """
    if table.clustered:
        raise StratError.about(
            "clusters", "must go with method='obuchowski-rockette', got 'u-statistic': it takes independent cases."
        )
    success = sum(sign * _successes(table.ratings[i], table.positive) for i, sign in contrast)
    assert isinstance(success, np.ndarray)
    shape = success.shape
    moments = np.empty((2, 2, 2))
    for shared in product((0, 1), repeat=3):
        summed = success.sum(axis=tuple(k for k in range(3) if not shared[k]))
        moments[shared] = (summed**2).sum()
    for axis in range(3):  # from "shared or not" to "not shared": take away what is shared
        either, same = np.take(moments, 0, axis), np.take(moments, 1, axis)
        moments = np.stack([either - same, same], axis=axis)
    pairs = np.prod([n * (n - 1.0) for n in shape])
    variance = (success.mean()) ** 2 - moments[0, 0, 0] / pairs
    return float(np.sqrt(max(variance, 0.0)))


def _successes(ratings: Array, ill: NDArray[np.bool_]) -> Array:
    """Whether the positive case is rated above the negative one (1/2 if equally): readers × negative × positive."""
    p, n = ratings[:, None, ill], ratings[:, ~ill, None]
    return (p > n) + 0.5 * (p == n)

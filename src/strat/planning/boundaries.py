"""Where to cut a score into strata (Dalenius and Hodges 1959)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from strat.base import validate
from strat.base.errors import StratError
from strat.base.result import Result
from strat.base.text import counted
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, Codes, numbers

CLASSES_PER_STRATUM = 20  # equal intervals in which the score is counted; fewer for few rows


@dataclass(frozen=True, eq=False, repr=False)
class StratumBoundaries(Result):
    """Strata of a score: the cuts between them, and what is in each.

    Attributes
    ----------
    cuts
        The score up to which each stratum but the last goes.
    sizes
        Rows of the pilot in each stratum.
    deviations
        Standard deviation of the pilot's score in each stratum, for `neyman_allocation` and `budget_allocation`.
    quantile_ratio
        Sum of size times deviation over that of quantile groups, equally many rows in each: below 1 the cuts give a
        smaller standard error with Neyman's allocation.
    """

    cuts: Array
    sizes: Codes
    deviations: Array
    quantile_ratio: float

    def strata(self, score: ArrayLike) -> Codes:
        """The stratum of each score, from 1.

        >>> stratum_boundaries([1, 1, 2, 8, 9, 9], strata=2).strata([0.0, 20.0]).tolist()
        [1, 2]
        """
        return np.searchsorted(self.cuts, numbers("score", score, axes=1), side="left") + 1

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers for JSON."""
        return {
            "cuts": self.cuts.tolist(),
            "sizes": self.sizes.tolist(),
            "deviations": self.deviations.tolist(),
            "quantile_ratio": self.quantile_ratio,
        }

    def _columns(self) -> dict[str, list[Any]]:
        """A line for each stratum; the last one has no upper cut."""
        return {
            "up_to": [*self.cuts.tolist(), None],
            "size": self.sizes.tolist(),
            "deviation": self.deviations.tolist(),
        }

    def __str__(self) -> str:
        """The cuts with the sizes."""
        cuts, sizes = ", ".join(f"{cut:.4g}" for cut in self.cuts), ", ".join(map(str, self.sizes.tolist()))
        return (
            f"{counted(len(self.sizes), 'stratum')} cut at {cuts} with {sizes} rows; "
            f"sizes × deviations are {self.quantile_ratio:.3g} times those of quantile groups"
        )


@checked
def stratum_boundaries(score: ArrayLike, *, strata: int, classes: int | None = None) -> StratumBoundaries:
    """Cuts of a score that make the standard error of its mean about the least with Neyman's allocation.

    The rule of Dalenius and Hodges (1959; Cochran 5A.7): count the score in equal intervals, and cut the sum of the
    square roots of the counts into equal parts. It is for a score that goes with what will be measured, such as a
    pilot's or a judge's score.

    Parameters
    ----------
    score
        One number per row of the frame or the pilot.
    strata
        How many strata are wanted; fewer come back where the score has too few distinct values.
    classes
        Number of equal intervals; by default 20 per stratum, and at most 2 sqrt(rows).

    Examples
    --------
    A score with a long tail: the few large values get a stratum of their own.

    >>> print(stratum_boundaries([1, 1, 2, 2, 2, 3, 3, 4, 20, 30], strata=2))
    2 strata cut at 5.833 with 8, 2 rows; sizes × deviations are 0.347 times those of quantile groups
    """
    values = numbers("score", score, axes=1)
    number = validate.count("strata", strata, least=2)
    distinct = len(np.unique(values))
    if distinct < number:
        raise StratError.about(
            "strata", f"must be at most the number of distinct scores, got {number} for {distinct}; ask for fewer."
        )
    fine = max(number, min(CLASSES_PER_STRATUM * number, int(2 * np.sqrt(len(values)))))
    bins = fine if classes is None else validate.count("classes", classes, least=number)
    counts, edges = np.histogram(values, bins=bins)
    roots = np.cumsum(np.sqrt(counts))
    goals = roots[-1] * np.arange(1, number) / number
    ends = np.abs(roots[:, None] - goals).argmin(axis=0)
    cuts = np.unique(edges[ends + 1])
    groups = np.unique(np.searchsorted(cuts, values, side="left"), return_inverse=True)
    cuts = cuts[groups[0][:-1]]  # of strata that hold rows
    sizes, deviations = _spread_in(values, groups[1].reshape(-1))
    quantiles = np.unique(np.quantile(values, np.arange(1, number) / number, method="inverted_cdf"))
    even_sizes, even_deviations = _spread_in(values, np.searchsorted(quantiles, values, side="left"))
    even = float(even_sizes @ even_deviations)
    ratio = float(sizes @ deviations) / even if even > 0 else 1.0
    return StratumBoundaries(cuts, sizes, deviations, ratio)


def _spread_in(values: Array, group: Codes) -> tuple[Codes, Array]:
    """Rows and standard deviation of each group, 0 for a group of one row."""
    sizes = np.bincount(group)
    means = np.bincount(group, values) / np.maximum(sizes, 1)
    squares = np.bincount(group, (values - means[group]) ** 2)
    return sizes, np.sqrt(squares / np.maximum(sizes - 1, 1))

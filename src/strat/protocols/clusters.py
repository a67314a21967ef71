"""How many clusters, and how good: the questions that a clustering leaves open (Kuncheva 1.6.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from strat.base import extras, validate
from strat.base.errors import StratError
from strat.base.limits import LIMITS
from strat.base.result import Result
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, Codes, numbers
from strat.base.validate.scalars import Rng, generator
from strat.estimation.frames import frame
from strat.protocols.strata import cluster
from strat.show.colours import BLUE, GREEN
from strat.show.figures import new_axes

KEPT = 0.8  # of the rows, in each of two clusterings that are compared


@dataclass(frozen=True, eq=False, repr=False)
class ClusterNumber(Result):
    """Indices of validity of clusterings into 1, 2, … clusters; NaN where an index needs two.

    Attributes
    ----------
    numbers
        The numbers of clusters.
    silhouette, calinski_harabasz, davies_bouldin
        scikit-learn's indices: the first two are better when higher, the third when lower.
    gap, gap_se
        Tibshirani, Walther and Hastie's gap: how much tighter the clusters are than those of rows without any, drawn
        uniformly from the same box, on a logarithmic scale; and its standard error.
    stability
        The adjusted Rand index of two clusterings of overlapping parts of the rows: 1 when they are the same.
    """

    numbers: Codes
    silhouette: Array
    calinski_harabasz: Array
    davies_bouldin: Array
    gap: Array
    gap_se: Array
    stability: Array

    @property
    def by_gap(self) -> int:
        """The smallest number whose gap is within a standard error of the next one's; 1 says: no clusters."""
        enough = self.gap[:-1] >= self.gap[1:] - self.gap_se[1:]
        return int(self.numbers[int(enough.argmax()) if enough.any() else -1])

    @property
    def by_silhouette(self) -> int:
        """The number with the largest silhouette, two or more."""
        return int(self.numbers[int(np.nanargmax(self.silhouette))])

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns: a line for each number of clusters."""
        columns = ("silhouette", "calinski_harabasz", "davies_bouldin", "gap", "gap_se", "stability")
        return {"clusters": self.numbers.tolist(), **{name: getattr(self, name).tolist() for name in columns}}

    def to_frame(self, library: str | None = None) -> Any:
        """The lines as a data frame of pandas, Polars or PyArrow (the first that is loaded)."""
        return frame(self.to_dict(), library)

    def __str__(self) -> str:
        """A table, and what the two rules say."""
        head = "clusters  silhouette  Calinski-Harabasz  Davies-Bouldin             gap  stability"
        lines = [
            f"{k:8d}  {s:10.3f}  {c:17.4g}  {d:14.3f}  {g:6.3f} ± {e:5.3f}  {r:9.3f}"
            for k, s, c, d, g, e, r in zip(*self.to_dict().values(), strict=True)
        ]
        rules = f"by the gap {self.by_gap}, by the silhouette {self.by_silhouette}"
        return "\n".join([head, *lines, rules]).replace("nan", "  –")

    def plot(self, ax: Any = None) -> Any:
        """Silhouette, stability and gap against the number of clusters."""
        axes = new_axes(ax)
        axes.plot(self.numbers, self.silhouette, "o-", color=BLUE, label="silhouette")
        axes.plot(self.numbers, self.stability, "s--", color=GREEN, label="stability")
        axes.errorbar(self.numbers, self.gap, yerr=self.gap_se, fmt="^:", color="black", capsize=2, label="gap")
        axes.set(xlabel="clusters", ylabel="index", xticks=self.numbers)
        axes.legend(frameon=False)
        return axes


@checked
def cluster_number(
    X: ArrayLike, *, most: int = 8, method: str = "kmeans", scale: bool = False, references: int = 20, rng: Rng = 0
) -> ClusterNumber:
    """How many clusters rows have, by several indices of validity.

    Parameters
    ----------
    X
        Features.
    most
        The largest number that is tried.
    method, scale
        As in `strata_from_features`.
    references
        How many sets of rows without clusters are drawn for the gap, and how many pairs of parts for the stability.
    rng
        Seed or Generator.

    Examples
    --------
    >>> from strat.datasets import gaussian_classes
    >>> data = gaussian_classes([40, 40, 40], means=[[0, 0], [6, 0], [0, 6]], rng=1)
    >>> result = cluster_number(data.X, most=5, references=5)
    >>> result.by_gap, result.by_silhouette
    (3, 3)
    """
    table = numbers("X", X)
    if table.ndim != 2 or table.shape[1] == 0:
        raise StratError.about("X", f"must be rows × features, got an array of shape {table.shape}.")
    if validate.count("most", most, least=2) >= (distinct := len(np.unique(table, axis=0))):
        raise StratError.about("most", f"must be below the number of distinct rows ({distinct}), got {most}.")
    times, source = validate.count("references", references, least=2, most=10_000), generator(rng)
    if scale:
        spread = table.std(axis=0)
        table = table / np.where(spread > 0, spread, 1)
    sizes = np.arange(1, most + 1)
    codes = [cluster(table, int(k), method, source) for k in sizes]
    gap, gap_se = _gaps(table, codes, method, times, source)
    stable = np.array([_stability(table, int(k), method, times, source) for k in sizes])
    return ClusterNumber(sizes, *_indices(table, codes, source), gap, gap_se, stable)


def _indices(X: Array, codes: list[Codes], source: np.random.Generator) -> tuple[Array, Array, Array]:
    """Silhouette, Calinski-Harabasz and Davies-Bouldin of each clustering."""
    metrics = extras.load("sklearn.metrics")
    values = np.full((3, len(codes)), np.nan)
    seen = source.permutation(len(X))[: LIMITS.silhouette_rows]
    for place, own in enumerate(codes):
        if len(np.unique(own[seen])) < 2:
            continue
        values[0, place] = metrics.silhouette_score(X[seen], own[seen])
        values[1, place] = metrics.calinski_harabasz_score(X, own)
        values[2, place] = metrics.davies_bouldin_score(X, own)
    return values[0], values[1], values[2]


def _gaps(
    X: Array, codes: list[Codes], method: str, references: int, source: np.random.Generator
) -> tuple[Array, Array]:
    """E*{log W} - log W of each clustering, and the standard error √(1 + 1/B) times the references' deviation."""
    low, high = X.min(axis=0), X.max(axis=0)
    expected = np.empty((references, len(codes)))
    for b in range(references):
        uniform = source.uniform(low, high, size=X.shape)
        expected[b] = [
            _log_within(uniform, cluster(uniform, k, method, source, starts=1)) for k in range(1, len(codes) + 1)
        ]
    observed = np.array([_log_within(X, own) for own in codes])
    return expected.mean(axis=0) - observed, expected.std(axis=0) * np.sqrt(1 + 1 / references)


def _log_within(X: Array, codes: Codes) -> float:
    """Log of the sum of squared distances from the centres."""
    sizes = np.bincount(codes)
    centres = np.stack([np.bincount(codes, column) / np.maximum(sizes, 1) for column in X.T], axis=1)
    return float(np.log(max(((X - centres[codes]) ** 2).sum(), 1e-300)))


def _stability(X: Array, k: int, method: str, pairs: int, source: np.random.Generator) -> float:
    """The mean adjusted Rand index, on the rows in common, of clusterings of two random parts."""
    if k == 1:
        return float("nan")
    agreement = extras.load("sklearn.metrics").adjusted_rand_score
    size, values = max(int(KEPT * len(X)), k), []
    for _ in range(pairs):
        parts = [np.sort(source.permutation(len(X))[:size]) for _ in range(2)]
        if any(len(np.unique(X[rows], axis=0)) < k for rows in parts):
            continue
        labels = [
            dict(zip(rows.tolist(), cluster(X[rows], k, method, source, starts=1), strict=True)) for rows in parts
        ]
        common = sorted(set(labels[0]) & set(labels[1]))
        values.append(agreement([labels[0][r] for r in common], [labels[1][r] for r in common]))
    return float(np.mean(values)) if values else float("nan")

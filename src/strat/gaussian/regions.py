"""The canonical model of a classifier, its decision regions as a picture, separability and overlap."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strat.base import extras
from strat.base.errors import StratError, some
from strat.base.result import Result
from strat.base.validate.arguments import checked
from strat.base.validate.columns import LARGEST, Array, Codes, encode, labels_of, numbers, same_length
from strat.gaussian.membership import maximum_membership
from strat.show.colours import OKABE_ITO
from strat.show.figures import new_axes

MARKERS = "os^Dv<>p"


@dataclass(frozen=True)
class CanonicalClassifier:
    """Discriminant functions g_i and the maximum membership rule (Kuncheva 1.2, Figure 1.9).

    Parameters
    ----------
    functions
        One function per class, from points (rows) to scores.
    labels
        The classes' names; numbers from 0 when not given.

    Examples
    --------
    >>> nearer = CanonicalClassifier([lambda x: -abs(x[:, 0]), lambda x: -abs(x[:, 0] - 4)], labels=["a", "b"])
    >>> nearer.decide([[1.0], [3.5]]).tolist()
    ['a', 'b']
    """

    functions: Sequence[Callable[[Array], ArrayLike]]
    labels: Sequence[Any] | None = None

    def __post_init__(self) -> None:
        if len(self.functions) < 2:
            raise StratError.about("functions", f"must be at least two, got {len(self.functions)}; give one per class.")
        if self.labels is not None and (getattr(self.labels, "ndim", 1) == 0 or not hasattr(self.labels, "__len__")):
            raise StratError.about("labels", f"must name each of the functions, got {some([self.labels])}.")
        if self.labels is not None and len(self.labels) != len(self.functions):
            raise StratError.about(
                "labels", f"must name each of the {len(self.functions)} functions, got {len(self.labels)} names."
            )

    @checked
    def scores(self, points: ArrayLike) -> Array:
        """g_i(x), Kuncheva (1.5): points × classes."""
        rows = _rows(points)
        return np.stack([np.asarray(g(rows), dtype=float) for g in self.functions], axis=1)

    @checked
    def codes(self, points: ArrayLike, *, rng: int | np.random.Generator = 0) -> Codes:
        """The place of the winning function; ties are broken at random."""
        return maximum_membership(self.scores(points), rng=rng)

    @checked
    def decide(self, points: ArrayLike, *, rng: int | np.random.Generator = 0) -> NDArray[Any]:
        """The label of the winning function."""
        codes = self.codes(points, rng=rng)
        return codes if self.labels is None else np.asarray(self.labels)[codes]


@dataclass(frozen=True, eq=False)
class DecisionRegions:
    """The labels that a classifier gives on a grid of the plane, with the data laid over it."""

    horizontal: Array
    vertical: Array
    codes: Codes
    labels: tuple[Any, ...]
    points: Array
    truth: Codes

    @property
    def shares(self) -> Array:
        """The share of the pictured area that each class gets."""
        return np.bincount(self.codes.ravel(), minlength=len(self.labels)) / self.codes.size

    def plot(self, ax: Any = None, *, title: str = "") -> Any:
        """Regions in pale colours, boundaries as lines, data as markers (Kuncheva, Figures 1.10 and 1.15)."""
        axes = new_axes(ax)
        ListedColormap = extras.load("matplotlib.colors").ListedColormap
        count = len(self.labels)
        colours = [OKABE_ITO[i % len(OKABE_ITO)] for i in range(count)]
        extent = (self.horizontal[0], self.horizontal[-1], self.vertical[0], self.vertical[-1])
        axes.imshow(
            self.codes,
            origin="lower",
            extent=extent,
            aspect="auto",
            cmap=ListedColormap(colours),
            vmin=-0.5,
            vmax=count - 0.5,
            alpha=0.22,
            interpolation="nearest",
        )
        for code in range(count):
            inside = (self.codes == code).astype(float)
            if 0 < inside.mean() < 1:
                axes.contour(self.horizontal, self.vertical, inside, levels=[0.5], colors="black", linewidths=0.8)
            mine = self.truth == code
            axes.scatter(
                *self.points[mine].T,
                s=16,
                color=colours[code],
                marker=MARKERS[code % len(MARKERS)],
                edgecolor="black",
                linewidth=0.3,
                label=str(self.labels[code]),
            )
        if len(self.points):
            axes.legend(frameon=False)
        axes.set_title(title)
        return axes


@checked
def decision_regions(
    decide: Callable[[Array], ArrayLike],
    points: ArrayLike,
    labels: ArrayLike,
    *,
    resolution: int = 200,
    margin: float = 0.08,
) -> DecisionRegions:
    """The decision regions of any classifier of two features around the given data, Kuncheva (1.6).

    Parameters
    ----------
    decide
        From points (rows of two numbers) to labels, such as a scikit-learn estimator's `predict`.
    points, labels
        The data to lay over the regions; it also sets the limits of the picture.
    resolution
        Grid points along each axis.
    margin
        Room around the data, as a share of its extent.

    Examples
    --------
    >>> regions = decision_regions(lambda x: x[:, 0] > 0, [[-1.0, 0.0], [1.0, 1.0]], [False, True])
    >>> regions.shares
    array([0.5, 0.5])
    """
    rows = _rows(points)
    if rows.shape[1] != 2:
        raise StratError.about(
            "points", f"must have two features for a picture, got {rows.shape[1]}; choose or project to two."
        )
    names = labels_of("labels", labels)
    same_length(points=rows, labels=names)
    low, high = rows.min(axis=0), rows.max(axis=0)
    room = np.where(high > low, (high - low) * margin, 1.0)
    axes = [np.linspace(a - r, b + r, resolution) for a, b, r in zip(low, high, room, strict=True)]
    grid = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)
    assigned = np.asarray(decide(grid))
    known = np.unique(np.concatenate([np.unique(assigned), np.unique(names)]))
    codes = np.searchsorted(known, assigned).reshape(resolution, resolution)
    return DecisionRegions(axes[0], axes[1], codes, tuple(known.tolist()), rows, np.searchsorted(known, names))


@checked
def nearest_neighbour(points: ArrayLike, labels: ArrayLike) -> Callable[[Array], NDArray[Any]]:
    """The rule that labels a point as its nearest given point (Kuncheva, Figure 1.10a).

    Examples
    --------
    >>> nearest_neighbour([[0.0], [10.0]], ["a", "b"])(np.array([[4.0]])).tolist()
    ['a']
    """
    from scipy.spatial import cKDTree

    rows, names = _rows(points), np.asarray(labels)
    same_length(points=rows, labels=names)
    tree = cKDTree(rows)

    def decide(where: Array) -> NDArray[Any]:
        return names[tree.query(_rows(where))[1]]

    return decide


@dataclass(frozen=True, eq=False, repr=False)
class Separability(Result):
    """Whether a hyperplane splits two classes, and which one does so with what margin."""

    separable: bool
    normal: Array
    offset: float
    margin: float

    def __str__(self) -> str:
        """Whether the classes are separable, and with which margin."""
        if not self.separable:
            return "the classes are not linearly separable"
        return f"the classes are linearly separable with the margin {self.margin:.4g}"

    def side(self, points: ArrayLike) -> Array:
        """Normal'x + offset: negative for the first class, positive for the second."""
        return np.asarray(_rows(points) @ self.normal + self.offset)


@checked
def linear_separability(points: ArrayLike, labels: ArrayLike) -> Separability:
    """Whether the two classes can be separated completely by a hyperplane (Kuncheva 1.2), by linear programming.

    The program maximises the least signed side of any point, with coefficients between -1 and 1 after
    scaling; classes are separable exactly when that is positive. `margin` is the least distance of a
    point from the plane found, 0 when they are not separable.

    Examples
    --------
    >>> linear_separability([[0.0], [1.0], [3.0]], ["a", "a", "b"]).separable
    True
    >>> linear_separability([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]], [0, 0, 1, 1]).separable     # XOR
    False
    """
    from scipy.optimize import linprog

    rows = _rows(points)
    codes, names = encode("labels", labels)
    same_length(points=rows, labels=codes)
    if len(names) != 2:
        raise StratError.about(
            "labels", f"must name two classes, got {len(names)} ({some(names)}); use `separable_pairs` for more."
        )
    centre, spread = rows.mean(axis=0), rows.std(axis=0)
    scale = np.where(spread > 0, spread, 1.0)
    white = (rows - centre) / scale
    sign = np.where(codes == 1, 1.0, -1.0)
    n = rows.shape[1]
    # maximise t with sign·(w'x + v) >= t
    left = np.hstack([-sign[:, None] * white, -sign[:, None], np.ones((len(rows), 1))])
    bounds = [(-1, 1)] * n + [(None, None), (None, None)]
    optimum = linprog(np.r_[np.zeros(n + 1), -1.0], A_ub=left, b_ub=np.zeros(len(rows)), bounds=bounds)
    solution = np.asarray(optimum.x)
    normal = solution[:n] / scale
    offset = float(solution[n] - normal @ centre)
    length = float(np.sqrt(normal @ normal))
    separable = bool(solution[-1] > 1e-9)
    least = float((sign * (rows @ normal + offset)).min() / length) if separable and length else 0.0
    return Separability(separable, normal, offset, max(least, 0.0))


@checked
def separable_pairs(points: ArrayLike, labels: ArrayLike) -> dict[tuple[Any, Any], bool]:
    """For each pair of classes, whether a hyperplane separates them.

    Examples
    --------
    >>> separable_pairs([[0.0], [1.0], [2.0], [1.0]], ["a", "b", "c", "c"])
    {('a', 'b'): True, ('a', 'c'): True, ('b', 'c'): False}
    """
    rows = _rows(points)
    codes, names = encode("labels", labels)
    same_length(points=rows, labels=codes)
    answer = {}
    for a in range(len(names)):
        for b in range(a + 1, len(names)):
            pair = np.isin(codes, (a, b))
            answer[names[a].item(), names[b].item()] = linear_separability(rows[pair], codes[pair]).separable
    return answer


@dataclass(frozen=True, eq=False, repr=False)
class Overlap(Result):
    """Which classes overlap under a classifier: objects of one class in the region of another (Kuncheva 1.2)."""

    labels: tuple[Any, ...]
    counts: Codes

    def __str__(self) -> str:
        """The share of objects in the region of another class, and which classes overlap."""
        pairs = ", ".join(f"{a} and {b}" for a, b in self.pairs) or "none"
        return f"{100 * self.share:.1f} % of objects lie in the region of another class; overlapping classes: {pairs}"

    def _columns(self) -> dict[str, list[Any]]:
        """A line for each pair of a true and an assigned class."""
        pairs = [(truth, assigned) for truth in self.labels for assigned in self.labels]
        return {
            "truth": [truth for truth, _ in pairs],
            "assigned": [assigned for _, assigned in pairs],
            "count": self.counts.ravel().tolist(),
        }

    @property
    def share(self) -> float:
        """The share of all objects that lie in the region of another class."""
        return float(1 - np.trace(self.counts) / self.counts.sum())

    @property
    def pairs(self) -> tuple[tuple[Any, Any], ...]:
        """The pairs of classes that overlap."""
        both = self.counts + self.counts.T
        upper = np.argwhere(np.triu(both, 1) > 0)
        return tuple((self.labels[i], self.labels[j]) for i, j in upper)


@checked
def overlap(truth: ArrayLike, assigned: ArrayLike) -> Overlap:
    """Which classes overlap in the regions that gave the labels `assigned`.

    Examples
    --------
    >>> result = overlap(["a", "a", "b", "c"], ["a", "b", "b", "c"])
    >>> result.pairs, result.share
    ((('a', 'b'),), 0.25)
    """
    left, right = labels_of("truth", truth), labels_of("assigned", assigned)
    same_length(truth=left, assigned=right)
    codes, names = encode("truth", np.concatenate([left, right]))
    size = len(names)
    table = np.bincount(codes[: len(left)] * size + codes[len(left) :], minlength=size * size)
    return Overlap(tuple(names.tolist()), table.reshape(size, size))


@checked
def inseparable_points(points: ArrayLike, labels: ArrayLike) -> Codes:
    """The rows whose features also occur with another label: no regions can be pure there (Kuncheva 1.2).

    Examples
    --------
    >>> inseparable_points([[0.0], [0.0], [1.0]], ["a", "b", "a"])
    array([0, 1])
    """
    rows = _rows(points)
    codes, names = encode("labels", labels)
    same_length(points=rows, labels=codes)
    _, group = np.unique(rows, axis=0, return_inverse=True)
    group = group.reshape(-1)
    seen = np.zeros((group.max() + 1, len(names)), bool)
    seen[group, codes] = True
    return np.flatnonzero(seen.sum(axis=1)[group] > 1)


def _rows(points: ArrayLike) -> Array:
    rows = numbers("points", points, most=LARGEST)
    rows = rows[:, None] if rows.ndim == 1 else rows
    if rows.ndim != 2 or not rows.size:
        raise StratError.about("points", f"must be a table of objects by features, got an array of shape {rows.shape}.")
    return rows

"""Feature selection (Kuncheva 1.6.2): the book's filter, floating search, and the peak effect."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from strat.base import extras, validate
from strat.base.errors import StratError, one_of
from strat.base.result import Result
from strat.base.text import counted
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, Codes, encode, numbers, same_length
from strat.base.validate.scalars import Rng, generator, number
from strat.designs import Design
from strat.estimation import Estimate, estimate
from strat.measures.means import function_of_totals
from strat.protocols.running import errors, run, task
from strat.show.colours import BLUE, GREY, ORANGE
from strat.show.figures import new_axes

Criterion = Callable[[Array, Codes], float]
OVERSHOOT = 2  # features beyond those wanted up to which a floating search goes on
HAIR = 1e-12  # of a criterion: rounding, by which a set is no better than another


def centroid_distance(X: Array, y: Codes) -> float:
    """The mean Euclidean distance between class centroids: the book's measure of a feature set.

    >>> centroid_distance(np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([0, 1]))
    5.0
    """
    return float(scipy.spatial.distance.pdist(_centroids(X, y)).mean())


def mahalanobis_distance(X: Array, y: Codes) -> float:
    """The mean squared distance between class centroids in units of the pooled covariance."""
    centre = _centroids(X, y)
    own = X - centre[np.unique(y, return_inverse=True)[1]]
    pooled = own.T @ own / max(len(X) - len(centre), 1) + 1e-12 * np.eye(X.shape[1])
    inverse = np.linalg.pinv(pooled)
    gaps = (centre[:, None] - centre[None])[np.triu_indices(len(centre), 1)]
    return float(np.einsum("gi,ij,gj->g", gaps, inverse, gaps).mean())


CRITERIA: dict[str, Criterion] = {"centroids": centroid_distance, "mahalanobis": mahalanobis_distance}


@checked
def forward_selection(
    X: ArrayLike, y: ArrayLike, *, features: int | None = None, criterion: str | Criterion = "centroids"
) -> NDArray[np.int64]:
    """Features in the order in which sequential forward selection takes them (Figure 1.23).

    Parameters
    ----------
    X, y
        Training rows and their labels. Give no test rows: choosing with them is peeking; see `peeking`.
    features
        How many to take; all by default, which gives a ranking.
    criterion
        "centroids" (the book's filter), "mahalanobis", or a function of (X, y), with the labels as given, that
        is larger for better sets and finite for each.

    Examples
    --------
    The centroids lie 1, 3 and 2 apart along the three features.

    >>> forward_selection([[0, 0, 0], [1, 3, 2]], [0, 1]).tolist()
    [1, 2, 0]
    """
    table, codes = checked_rows(X, y)
    wanted = wanted_features(features, table.shape[1])
    if criterion == "centroids":
        return _centroid_order(_centroids(table, codes), wanted)
    measure = criterion_of(criterion, y)
    chosen: list[int] = []
    while len(chosen) < wanted:
        chosen.append(_best_addition(table, codes, chosen, measure)[0])
    return np.array(chosen)


@checked
def floating_search(
    X: ArrayLike, y: ArrayLike, *, features: int, criterion: str | Criterion = "mahalanobis"
) -> NDArray[np.int64]:
    """The best set of `features` features found by sequential floating forward selection.

    After each addition features are taken out again as long as that beats the best smaller set seen so far; the
    search goes on to `OVERSHOOT` features more than wanted, because the best small set may lie below a larger one.
    A criterion that only adds up over features (as "centroids" for two classes) never takes one out.

    Parameters
    ----------
    X, y, criterion
        As in `forward_selection`.
    features
        How many to take.

    Examples
    --------
    Feature 0 is the best alone, but features 1 and 2 are the best pair: forward selection can't reach it, floating
    search does when it has all three and takes 0 out.

    >>> scores = {(0,): 3, (1,): 2, (2,): 2, (0, 1): 4, (0, 2): 4, (1, 2): 6, (0, 1, 2): 7}
    >>> criterion = lambda X, y: scores[tuple(sorted(X[0].astype(int)))]
    >>> X = [[0, 1, 2], [0, 1, 2]]
    >>> floating_search(X, ["a", "b"], features=2, criterion=criterion).tolist()
    [1, 2]
    >>> forward_selection(X, ["a", "b"], features=2, criterion=criterion).tolist()
    [0, 1]
    """
    table, codes = checked_rows(X, y)
    wanted, measure = wanted_features(features, table.shape[1]), criterion_of(criterion, y)
    best: dict[int, tuple[float, list[int]]] = {0: (-np.inf, [])}
    chosen: list[int] = []
    while len(chosen) < min(wanted + OVERSHOOT, table.shape[1]):
        feature, value = _best_addition(table, codes, chosen, measure)
        chosen = [*chosen, feature]
        chosen = _remember(best, chosen, value)
        chosen = _drop_while_better(table, codes, chosen, measure, best)
    return np.array(best[wanted][1])


def _remember(best: dict[int, tuple[float, list[int]]], chosen: list[int], value: float) -> list[int]:
    """The better of this set and the best one of its size so far."""
    known = best.get(len(chosen))
    if known is None or value > known[0]:
        best[len(chosen)] = (value, chosen)
    return best[len(chosen)][1]


def _drop_while_better(
    X: Array, y: Codes, chosen: list[int], measure: Criterion, best: dict[int, tuple[float, list[int]]]
) -> list[int]:
    while len(chosen) > 2:
        fewer = [[f for f in chosen if f != out] for out in chosen]
        values = [measure(X[:, s], y) for s in fewer]
        i = int(np.argmax(values))
        known = best[len(chosen) - 1][0]
        if values[i] <= known + HAIR * abs(known):
            break
        chosen = fewer[i]
        best[len(chosen)] = (values[i], chosen)
    return chosen


def _best_addition(X: Array, y: Codes, chosen: list[int], measure: Criterion) -> tuple[int, float]:
    rest = [f for f in range(X.shape[1]) if f not in chosen]
    values = [measure(X[:, [*chosen, f]], y) for f in rest]
    i = int(np.argmax(values))
    return rest[i], float(values[i])


def _centroid_order(centre: Array, wanted: int) -> NDArray[np.int64]:
    """The same greedy search with the squared distances of all sets kept, so that a step costs one addition."""
    i, j = np.triu_indices(len(centre), 1)
    parts = (centre[i] - centre[j]) ** 2  # pairs × features
    so_far, free, order = np.zeros(len(parts)), np.ones(centre.shape[1], bool), []
    for _ in range(wanted):
        value = np.sqrt(so_far[:, None] + parts).mean(axis=0)
        value[~free] = -np.inf
        feature = int(value.argmax())
        order.append(feature)
        free[feature] = False
        so_far += parts[:, feature]
    return np.array(order)


@checked
def wrapper(
    estimator: Any, *, features: int, direction: str = "forward", cv: int = 5, n_jobs: int | None = None
) -> Any:
    """scikit-learn's sequential selector around an estimator: the wrapper approach, ready for a Pipeline.

    `direction` is "forward" (from no feature on) or "backward" (from all of them down).

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> type(wrapper(GaussianNB(), features=2)).__name__
    'SequentialFeatureSelector'
    """
    one_of("direction", direction, ("forward", "backward"))
    selection = extras.load("sklearn.feature_selection")
    return selection.SequentialFeatureSelector(
        estimator, n_features_to_select=features, direction=direction, cv=cv, n_jobs=n_jobs
    )


@checked
def filter_selector(*, features: int, criterion: str | Criterion = "centroids", floating: bool = False) -> Any:
    """The filter, or floating search, as a scikit-learn transformer, so that a Pipeline chooses inside a fold.

    Examples
    --------
    >>> filter_selector(features=1).fit_transform(np.array([[0.0, 0.0], [1.0, 3.0]]), [0, 1]).tolist()
    [[0.0], [3.0]]
    """
    extras.load("sklearn")
    from strat.protocols.estimators import FilterSelector

    return FilterSelector(features=features, criterion=criterion, floating=floating)


@dataclass(frozen=True, eq=False, repr=False)
class PeakEffect(Result):
    """Test accuracy against the number of features, for selected and for random orders (Figure 1.24).

    Attributes
    ----------
    selected, random
        Runs × features: accuracy with the first 1, 2, … features of the run's order.
    """

    selected: Array
    random: Array

    def __str__(self) -> str:
        """The peak and the end of the mean curve."""
        (features, height), (gain, se) = self.peak, self.gain
        return (
            f"accuracy {height:.4f} with {counted(features, 'feature')}, {self.end:.4f} with all {len(self.curve):,}: "
            f"a difference of {gain:.4f} (se {se:.4f}) over {counted(len(self.selected), 'run')}"
        )

    def _columns(self) -> dict[str, list[Any]]:
        """A line for each number of features: mean accuracies of both orders."""
        numbers = list(range(1, len(self.curve) + 1))
        return {"features": numbers, "selected": self.curve.tolist(), "random": self.random.mean(axis=0).tolist()}

    @property
    def curve(self) -> Array:
        """Mean accuracy of the selected order."""
        return np.asarray(self.selected.mean(axis=0))

    @property
    def peak(self) -> tuple[int, float]:
        """Number of features where the mean curve is highest, and its height there."""
        at = int(self.curve.argmax())
        return at + 1, float(self.curve[at])

    @property
    def end(self) -> float:
        """Mean accuracy with all features."""
        return float(self.curve[-1])

    @property
    def gain(self) -> tuple[float, float]:
        """Accuracy at the peak minus that at the end, and its standard error over the runs.

        The runs share their rows, so this error speaks of the average over splits of these rows. The place of
        the peak was chosen with the test halves: see `peeking` for the size of that bias.
        """
        difference = self.selected[:, self.peak[0] - 1] - self.selected[:, -1]
        return float(difference.mean()), float(difference.std(ddof=1) / np.sqrt(len(difference)))

    def plot(self, ax: Any = None) -> Any:
        """The curves of all runs in grey, their mean, and the mean of random orders."""
        axes = new_axes(ax)
        x = np.arange(1, self.selected.shape[1] + 1)
        axes.plot(x, self.selected.T, color=GREY, alpha=0.15, lw=0.6)
        axes.plot(x, self.curve, color=BLUE, lw=2.5, label="forward selection")
        axes.plot(x, self.random.mean(axis=0), color=ORANGE, lw=2.5, ls="--", label="random order")
        at, height = self.peak
        for place, value in ((at, height), (len(x), self.end)):
            axes.plot(place, value, "o", color=BLUE)
            side = "left" if 2 * place < len(x) else "right"
            axes.annotate(f"{value:.3f}", (place, value), xytext=(0, 10), textcoords="offset points", ha=side)
        axes.set(xlabel="features", ylabel="test accuracy")
        axes.legend(frameon=False, loc="lower right")
        return axes


@checked
def peak_effect(
    X: ArrayLike,
    y: ArrayLike,
    *,
    estimator: Any = None,
    criterion: str | Criterion = "centroids",
    runs: int = 100,
    rng: Rng = 0,
) -> PeakEffect:
    """Accuracy of a classifier against the number of selected features (Example 1.15).

    In each run a random half of the rows selects and trains, the other half tests.

    Parameters
    ----------
    X, y
        Features and labels.
    estimator
        Any scikit-learn classifier; the nearest neighbour by default, as in the book.
    criterion
        By which forward selection chooses, as in `forward_selection`.
    runs
        Random halves.
    rng
        Seed or Generator.

    Examples
    --------
    >>> from strat.datasets import gaussian_classes
    >>> data = gaussian_classes(80, means=[[0] * 6, [2, 0, 0, 0, 0, 0]], rng=1)
    >>> result = peak_effect(data.X, data.y, runs=20)
    >>> result.selected.shape, result.peak[1] >= result.end
    ((20, 6), True)
    """
    table, codes = checked_rows(X, y)
    labels, job = np.asarray(y), None if estimator is None else task(estimator, table, y, None, rng)
    source, half = generator(rng), len(table) // 2
    selected, random = np.empty((2, validate.count("runs", runs, least=2), table.shape[1]))
    for r in range(runs):
        rows = source.permutation(len(table))
        train, test = rows[:half], rows[half:]
        order = forward_selection(table[train], labels[train], criterion=criterion)
        for curves, features in ((selected, order), (random, source.permutation(table.shape[1]))):
            if job is None:
                curves[r] = _neighbour_curve(table, codes, train, test, features)
            else:
                curves[r] = [
                    1 - errors(job, run(replace(job, X=table[:, features[:k]]), [(train, test)], n_jobs=None))[0]
                    for k in range(1, len(features) + 1)
                ]
    return PeakEffect(selected, random)


@checked
def selection_stability(selected: Iterable[ArrayLike], *, features: int) -> Estimate:
    """How much sets of features agree that were selected in several runs (Nogueira, Sechidis and Brown 2018).

    It is 1 where all sets are the same, and 0 on average where each run draws its features at random; sets may differ
    in size. The standard error takes the runs as independent. Those on overlapping rows, such as folds, are not, and
    it then speaks of further runs on the same rows.

    Parameters
    ----------
    selected
        The numbers of the features that each run selected, such as `chosen_honestly` of `peeking`.
    features
        How many there were to choose from.

    Examples
    --------
    Two runs choose one of two features each: shares 1/2 and 1/2, variances 2 · 1/4 each, over 1/2 · 1/2.

    >>> float(selection_stability([[0], [1]], features=2).value)
    -1.0
    >>> float(selection_stability([[0, 3], [3, 0], [0, 3]], features=5).value)
    1.0
    """
    d = validate.count("features", features, least=2)
    chosen = np.array([[feature in set(np.ravel(one).tolist()) for feature in range(d)] for one in selected], float)
    if len(chosen) < 2:
        raise StratError.about("selected", f"must hold the features of two runs or more, got {len(chosen)}.")
    if chosen.min() == chosen.max():
        raise StratError.about(
            "selected", f"must choose some of the features 0 to {d - 1} and not all of them in every run."
        )

    def stability(totals: Array) -> Array:
        runs = totals[..., d:]
        share = totals[..., :d] / runs
        expected, spread = share.mean(axis=-1), (share * (1 - share) * runs / (runs - 1)).mean(axis=-1)
        return np.asarray(1 - spread / (expected * (1 - expected)))

    both = function_of_totals(np.column_stack([chosen, np.ones(len(chosen))]), stability, name="stability")
    return estimate(both, on=Design.simple_random(n=len(chosen)))


def _neighbour_curve(X: Array, y: Codes, train: Codes, test: Codes, order: NDArray[np.int64]) -> Array:
    """Accuracy of the nearest neighbour with 1, 2, … features: distances grow by one feature at a time."""
    distance = np.zeros((len(test), len(train)))
    curve = np.empty(len(order))
    for k, f in enumerate(order):
        distance += (X[test, f][:, None] - X[train, f][None]) ** 2
        curve[k] = np.mean(y[train][distance.argmin(axis=1)] == y[test])
    return curve


def _centroids(X: Array, y: Codes) -> Array:
    present = np.unique(y)
    return np.array([X[y == k].mean(axis=0) for k in present])


def checked_rows(X: ArrayLike, y: ArrayLike) -> tuple[Array, Codes]:
    """Features as numbers and labels as codes, of two classes or more."""
    table = numbers("X", X)
    if table.ndim != 2 or table.shape[1] == 0:
        raise StratError.about("X", f"must be rows × features, got an array of shape {table.shape}.")
    codes, classes = encode("y", y)
    same_length(y=codes, X=table)
    if len(classes) < 2:
        raise StratError.about("y", f"must have at least two classes, got {len(classes)}.")
    return table, codes


def wanted_features(features: int | None, most: int) -> int:
    """How many features to take, at most as many as there are."""
    wanted = most if features is None else validate.count("features", features)
    if wanted > most:
        raise StratError.about("features", f"must be at most the number of columns of `X` ({most}), got {features}.")
    return wanted


def criterion_of(criterion: str | Criterion, y: ArrayLike) -> Criterion:
    """The criterion as a function of columns and codes: one of ours by its name, or a function of the labels `y`."""
    if not callable(criterion):
        return CRITERIA[one_of("criterion", criterion, tuple(CRITERIA))]
    labels = np.asarray(y)

    def measure(X: Array, codes: Codes) -> float:
        value = number("criterion", criterion(X, labels))
        if not np.isfinite(value):
            raise StratError.about(
                "criterion", f"must be a finite number for each set, got {value} for {counted(X.shape[1], 'feature')}."
            )
        return value

    return measure

"""The peeking guard: how much an error gains by choosing with the rows that test (Kuncheva 1.3.5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr

from strat.base import extras, validate
from strat.base.errors import StratError
from strat.base.result import Result
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array
from strat.base.validate.scalars import Rng
from strat.designs import Design
from strat.measures.splits import corrected_se
from strat.measures.student import critical
from strat.protocols.keywords import spelled
from strat.protocols.running import Split, Task, cloned, errors, random_source, run, subset, task
from strat.protocols.splitting import fold_splits, torn_units
from strat.show.colours import BLUE, GREY, ORANGE
from strat.show.figures import new_axes


@dataclass(frozen=True, eq=False, repr=False)
class Peeking(Result):
    """The error when the choice saw the test rows, the error when it did not, and the difference.

    Attributes
    ----------
    peeked, honest
        Error of each outer test set, chosen with and without its rows.
    ratio
        Test rows over training rows of the outer splits.
    chosen_peeking, chosen_honestly
        What was chosen with all rows, and in each outer split without its test rows.
    notes
        What to be careful about.
    """

    peeked: Array
    honest: Array
    ratio: float
    chosen_peeking: Any
    chosen_honestly: tuple[Any, ...]
    notes: tuple[str, ...] = ()

    @property
    def optimism(self) -> float:
        """Honest error minus peeked error: the optimism that peeking adds."""
        return float((self.honest - self.peeked).mean())

    @property
    def se(self) -> float:
        """Its standard error, Nadeau and Bengio's over the outer splits; NaN for one split."""
        difference = self.honest - self.peeked
        return corrected_se(difference, self.ratio) if len(difference) > 1 else float("nan")

    @property
    def pvalue(self) -> float:
        """One-sided: how often so much optimism would be seen where there is none; NaN for one split."""
        if not self.se > 0:
            return float("nan") if len(self.honest) < 2 or self.optimism == 0 else 0.0
        return float(stdtr(len(self.honest) - 1, -self.optimism / self.se))

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Limits of the optimism."""
        if len(self.honest) < 2:
            return float("nan"), float("nan")
        t = float(critical(level, len(self.honest) - 1))
        return self.optimism - t * self.se, self.optimism + t * self.se

    def __str__(self) -> str:
        """One sentence."""
        spread = f" (se {self.se:.4f})" if len(self.honest) > 1 else ""
        text = (
            f"error {self.peeked.mean():.4f} when the test rows helped to choose, {self.honest.mean():.4f} when "
            f"they did not: optimism {self.optimism:.4f}{spread}"
        )
        return "\n".join([text, *(f"note: {note}" for note in self.notes)])

    def plot(self, ax: Any = None) -> Any:
        """Both errors of every outer test set, joined by a line."""
        axes = new_axes(ax)
        axes.plot([0, 1], np.vstack([self.peeked, self.honest]), color=GREY, alpha=0.5, lw=1)
        axes.plot(np.zeros(len(self.peeked)), self.peeked, "o", color=ORANGE, alpha=0.7)
        axes.plot(np.ones(len(self.honest)), self.honest, "o", color=BLUE, alpha=0.7)
        axes.plot([0, 1], [self.peeked.mean(), self.honest.mean()], color="black", lw=2.5)
        axes.set_xticks([0, 1], ["chosen with the test rows", "chosen without them"])
        axes.set(ylabel="test error", title=f"optimism {self.optimism:.3f}", xlim=(-0.4, 1.4))
        return axes


@spelled
@checked
def peeking(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    grid: Mapping[str, Sequence[Any]] | None = None,
    selector: Any = None,
    cv: Any = 10,
    repeats: int = 1,
    inner: int = 5,
    units: ArrayLike | Design | None = None,
    rng: Rng = 0,
    n_jobs: int | None = None,
) -> Peeking:
    """The optimism of choosing parameters or features with the test rows, measured by nesting.

    With `grid`, peeking reports the candidate that tests best; honestly each outer training set chooses its own by
    an inner cross-validation. With `selector`, peeking selects features on all rows and then cross-validates;
    honestly each outer training set selects its own. Both use the same outer splits, so that they are paired.

    Parameters
    ----------
    estimator, X, y, units, rng, n_jobs
        As in `cross_validation`.
    grid
        Values of the estimator's arguments, as for scikit-learn's ParameterGrid.
    selector
        A scikit-learn transformer with `fit(X, y)`, such as `filter_selector(features=10)`.
    cv
        Outer folds, any scikit-learn splitter (one split makes it the hold-out of Example 1.6), or a list of pairs of
        training and test rows.
    repeats
        How often the outer folds are drawn.
    inner
        Inner folds, for `grid`.

    Examples
    --------
    Features and labels have nothing to do with each other: the honest error is a half.

    >>> from sklearn.naive_bayes import GaussianNB
    >>> from strat.protocols import filter_selector
    >>> rng = np.random.default_rng(2)
    >>> X, y = rng.standard_normal((60, 500)), np.repeat([0, 1], 30)
    >>> result = peeking(GaussianNB(), X, y, selector=filter_selector(features=10))
    >>> bool(result.peeked.mean() < 0.25), bool(result.honest.mean() > 0.4)
    (True, True)
    """
    job = task(estimator, X, y, units, rng)
    if (grid is None) == (selector is None):
        raise StratError.about("grid", "or `selector` must be given, and not both: say what is chosen.")
    source = random_source(rng)
    times = validate.count("repeats", repeats)
    splits = [s for _ in range(times) for s in fold_splits(job, cv, stratify=True, source=source)[0]]
    ratio = float(np.mean([len(b) / len(a) for a, b in splits]))
    if grid is not None:
        peeked, honest, with_test, without = _tuned(job, grid, splits, inner, source, n_jobs)
    else:
        peeked, honest, with_test, without = _selected(job, selector, splits, n_jobs)
    return Peeking(peeked, honest, ratio, with_test, without, torn_units(job, splits))


def _tuned(
    job: Task,
    grid: Mapping[str, Sequence[Any]],
    splits: list[Split],
    inner: int,
    source: np.random.Generator,
    n_jobs: int | None,
) -> tuple[Array, Array, Any, tuple[Any, ...]]:
    candidates = list(extras.load("sklearn.model_selection").ParameterGrid(grid))
    if len(candidates) < 2:
        raise StratError.about("grid", f"must hold at least two candidates, got {len(candidates)}.")
    outer = _all_errors(job, candidates, splits, n_jobs)  # candidates × outer splits
    chosen = []
    for train, _ in splits:
        within = subset(job, train)
        pairs = fold_splits(within, inner, stratify=True, source=source)[0]
        chosen.append(int(_all_errors(within, candidates, pairs, n_jobs).mean(axis=1).argmin()))
    best = int(outer.mean(axis=1).argmin())
    honest = outer[chosen, np.arange(len(splits))]
    return outer[best], honest, candidates[best], tuple(candidates[c] for c in chosen)


def _all_errors(job: Task, candidates: list[Any], splits: list[Split], n_jobs: int | None) -> Array:
    jobs = [replace(job, estimator=cloned(job.estimator).set_params(**p)) for p in candidates]
    return np.array([errors(each, run(each, splits, n_jobs=n_jobs)) for each in jobs])


def _selected(
    job: Task, selector: Any, splits: list[Split], n_jobs: int | None
) -> tuple[Array, Array, Any, tuple[Any, ...]]:
    clone = extras.load("sklearn.base").clone
    make_pipeline = extras.load("sklearn.pipeline").make_pipeline
    take = extras.load("sklearn.utils")._safe_indexing

    everything = clone(selector).fit(job.X, job.y)
    naive = replace(job, X=everything.transform(job.X))
    nested = replace(job, estimator=make_pipeline(clone(selector), cloned(job.estimator)))
    without = tuple(_support(clone(selector).fit(take(job.X, a), job.y[a])) for a, _ in splits)
    peeked = errors(job, run(naive, splits, n_jobs=n_jobs))
    honest = errors(job, run(nested, splits, n_jobs=n_jobs))
    return peeked, honest, _support(everything), without


def _support(selector: Any) -> Any:
    return np.flatnonzero(selector.get_support()) if hasattr(selector, "get_support") else None

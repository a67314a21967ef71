"""The gallery effect: does it matter which images were enrolled? (CVPR section 5, figures 2 and 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import fdtrc

from strat.base.errors import StratError
from strat.base.result import Result
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array
from strat.estimation import Estimate
from strat.recognition.curves import places
from strat.recognition.experiment import Run, System, run
from strat.recognition.sets import ImageArray
from strat.show.colours import OKABE_ITO
from strat.show.figures import new_axes


@dataclass(frozen=True, repr=False)
class EffectTest(Result):
    """The test that all galleries have the same rate within a rank.

    Hotelling's T² of the subjects' rates: each subject has one rate for each gallery, subjects are independent, and the
    rates of one subject are as dependent as they are.
    """

    __test__ = False

    rank: int
    rates: tuple[float, ...]
    statistic: float
    df: tuple[int, int]
    pvalue: float

    def __str__(self) -> str:
        """The test in words."""
        rates = ", ".join(f"{r:.4f}" for r in self.rates)
        return (
            f"rank-{self.rank} rates by gallery {rates}: F({self.df[0]}, {self.df[1]}) = {self.statistic:.2f}, "
            f"p = {self.pvalue:.3g}"
        )


@dataclass(frozen=True, eq=False, repr=False)
class GalleryEffect(Result):
    """One run for each column as gallery.

    Attributes
    ----------
    runs
        The runs.
    curves
        Their CMS curves with errors.
    """

    runs: tuple[Run, ...]
    curves: tuple[Estimate, ...]
    hits: Array

    @checked
    def test(self, rank: int = 1) -> EffectTest:
        """Whether the rates within `rank` differ between galleries by more than chance."""
        size = self.runs[0].ranks.gallery_size
        if not isinstance(rank, int | np.integer) or not 1 <= rank < size:
            raise StratError.about("rank", f"must be a rank from 1 to {size - 1}, got {rank!r}.")
        rates = self._by_subject(rank)
        n, g = rates.shape
        gaps = rates[:, 1:] - rates[:, :1]
        mean, covariance = gaps.mean(axis=0), np.atleast_2d(np.cov(gaps, rowvar=False)) / n
        # directions without any variation say nothing: galleries that agree for every subject
        inverse = np.linalg.pinv(covariance, rcond=1e-10, hermitian=True)
        free = int(np.linalg.matrix_rank(covariance, tol=1e-10 * max(np.trace(covariance), 1e-300)))
        overall = tuple(rates.mean(axis=0).tolist())
        if free == 0 or n <= free:
            return EffectTest(rank, overall, 0.0, (g - 1, n - 1), 1.0)
        f = float(mean @ inverse @ mean) * (n - free) / (free * (n - 1))
        return EffectTest(rank, overall, f, (free, n - free), float(fdtrc(free, n - free, f)))

    def _by_subject(self, rank: int) -> Array:
        """Share of each subject's probes with a rank of `rank` or lower, subjects × galleries."""
        return np.asarray((self.hits <= rank).mean(axis=2))

    def _columns(self) -> dict[str, list[Any]]:
        """A line for each gallery and rank."""
        tables = [curve.to_dict() for curve in self.curves]
        galleries = [
            run.gallery + 1 for run, lines in zip(self.runs, tables, strict=True) for _ in next(iter(lines.values()))
        ]
        return {"gallery": galleries, **{name: [v for lines in tables for v in lines[name]] for name in tables[0]}}

    def __str__(self) -> str:
        """The test at rank 1."""
        return str(self.test())

    def plot(self, ax: Any = None, *, width: float = 2.0) -> Any:
        """Each gallery's curve with plus and minus two standard errors, against relative rank."""
        ax = new_axes(ax)
        for k, (gallery_run, curve) in enumerate(zip(self.runs, self.curves, strict=True)):
            x = np.asarray(curve.axes[-1].labels, float) / gallery_run.ranks.gallery_size
            color, se = OKABE_ITO[k % len(OKABE_ITO)], np.asarray(curve.se)
            ax.plot(x, curve.point, color=color, lw=1.6, label=f"gallery {gallery_run.gallery + 1}")
            for sign in (-width, width):
                ax.plot(x, np.clip(curve.point + sign * se, 0, 1), color=color, lw=0.6)
        ax.set_xscale("log")
        ax.set_xlabel("relative rank, r / N")
        ax.set_ylabel(f"cumulative match score ± {width:g} se")
        ax.legend(frameon=False, loc="lower right")
        return ax


@checked
def gallery_effect(
    system: System, array: ImageArray, *, method: str = "brr", at: ArrayLike | None = None
) -> GalleryEffect:
    """One experiment for each column of the array as gallery, with curves, errors and a test.

    Parameters
    ----------
    system
        The recogniser.
    array
        Images, a row per subject; ``array.mixed()`` has the effect removed by systematic mixing.
    method
        How errors are found.
    at
        Ranks of the curves.

    Examples
    --------
    >>> from strat.datasets import recognizer
    >>> from strat.recognition import image_array
    >>> from strat.recognition.experiment import system_of_embeddings
    >>> data = recognizer(subjects=30, images=3, rng=1)
    >>> s = system_of_embeddings("toy", data.embeddings, subjects=data.subject, score="cosine")
    >>> effect = gallery_effect(s, image_array(data.subject, per_subject=3))
    >>> effect.test().df
    (2, 28)
    """
    n = array.shape[1]
    if n < 3:
        raise StratError.about("array", f"must have at least three columns, a gallery and two units, got {n}.")
    at = places(array.shape[0]) if at is None else at
    runs = tuple(run(system, array, gallery=j) for j in range(n))
    hits = np.stack([r.ranks.rank().reshape(array.shape[0], n - 1) for r in runs], axis=1)
    return GalleryEffect(runs, tuple(r.cms(method=method, at=at) for r in runs), hits)

"""The gallery effect: does it matter which images were enrolled? (CVPR section 5, figures 2 and 4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtr, fdtrc

from strat.base.errors import StratError
from strat.base.result import Result
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array
from strat.designs import Design
from strat.estimation import Estimate, VarianceComponents, variance_components
from strat.measures import mean
from strat.recognition.curves import match_curve, places
from strat.recognition.experiment import (
    NO_STRATA,
    Run,
    System,
    compare_methods,
    compare_systems,
    compare_units,
    run,
)
from strat.recognition.sets import ImageArray
from strat.show.colours import OKABE_ITO
from strat.show.figures import new_axes


@dataclass(frozen=True, repr=False)
class EffectTest(Result):
    """The test that all galleries have the same rate within a rank.

    Hotelling's T² of the subjects' rates: each subject has one rate for each gallery, subjects are independent, and the
    rates of one subject are as dependent as they are. T² is not defined where a difference between galleries is the
    same for every subject, or where subjects are too few. Then every two galleries are compared by the exact sign test,
    with Bonferroni's adjustment: the statistic is the number of subjects with the rarer sign, and `df` is empty.
    """

    __test__ = False

    rank: int
    rates: tuple[float, ...]
    method: str
    statistic: float
    df: tuple[int, ...]
    pvalue: float

    def __str__(self) -> str:
        """The test in words."""
        rates = ", ".join(f"{r:.4f}" for r in self.rates)
        test = f"F({self.df[0]}, {self.df[1]}) = {self.statistic:.2f}" if self.df else self.method
        return f"rank-{self.rank} rates by gallery {rates}: {test}, p = {self.pvalue:.3g}"


def _hotelling(rates: Array) -> tuple[float, tuple[int, ...], float] | None:
    """F, degrees of freedom and p; None where T² is not defined."""
    n, _ = rates.shape
    gaps = rates[:, 1:] - rates[:, :1]
    variance, axes = np.linalg.eigh(np.atleast_2d(np.cov(gaps, rowvar=False)) / n)
    varies = variance > max(1e-10 * variance.sum(), 1e-24)  # rates of 1/3 leave a rounding error of 1e-33
    mean, free = gaps.mean(axis=0) @ axes, int(varies.sum())
    # directions in which no subject differs from any other say nothing, unless all of them have the same gap there
    if n <= free or not free or (np.abs(mean[~varies]) > 1e-9).any():
        return None
    f = float((mean[varies] ** 2 / variance[varies]).sum()) * (n - free) / (free * (n - 1))
    return f, (free, n - free), float(fdtrc(free, n - free, f))


def _signs(rates: Array) -> tuple[float, float]:
    """Of the clearest exact sign test of two galleries: how many subjects have the rarer sign, and Bonferroni's p."""
    a, b = np.triu_indices(rates.shape[1], 1)
    more, less = (rates[:, a] > rates[:, b]).sum(axis=0), (rates[:, a] < rates[:, b]).sum(axis=0)
    rarer = np.minimum(more, less)
    pvalues = 2 * bdtr(rarer, more + less, 0.5)
    clearest = int(np.argmin(pvalues))
    return float(rarer[clearest]), min(1.0, len(a) * float(pvalues[clearest]))


@dataclass(frozen=True, eq=False, repr=False)
class GalleryEffect(Result):
    """One run for each column as gallery.

    Attributes
    ----------
    runs
        The runs.
    curves
        Their CMS curves with errors.
    hits
        Rank of each probe, subjects × galleries × probes.
    labels
        What the galleries are called: the names of their images, or the numbers of their columns.
    """

    runs: tuple[Run, ...]
    curves: tuple[Estimate, ...]
    hits: Array
    labels: tuple[Any, ...]

    @checked
    def test(self, rank: int = 1) -> EffectTest:
        """Whether the rates within `rank` differ between galleries by more than chance."""
        size = self.runs[0].ranks.gallery_size
        if not isinstance(rank, int | np.integer) or not 1 <= rank < size:
            raise StratError.about("rank", f"must be a rank from 1 to {size - 1}, got {rank!r}.")
        rates = self._by_subject(rank)
        overall, t2 = tuple(rates.mean(axis=0).tolist()), _hotelling(rates)
        if t2 is not None:
            return EffectTest(rank, overall, "Hotelling's T²", *t2)
        rarer, pvalue = _signs(rates)
        return EffectTest(rank, overall, "exact sign tests of every two galleries, Bonferroni", rarer, (), pvalue)

    def _by_subject(self, rank: int) -> Array:
        """Share of each subject's probes with a rank of `rank` or lower, subjects × galleries."""
        return np.asarray((self.hits <= rank).mean(axis=2))

    @checked
    def components(self, rank: int = 1) -> VarianceComponents:
        """What subjects, galleries and the images of probes each add to the variance of the rate within `rank`.

        The rate is the mean over all galleries, each with the other columns as probes. `se_with(gallery=10)` is the
        standard error that ten galleries would have, the others staying as they are.

        Examples
        --------
        >>> from strat.datasets import recognizer
        >>> from strat.recognition import image_array
        >>> from strat.recognition.experiment import system_of_embeddings
        >>> data = recognizer(subjects=30, images=4, rng=1)
        >>> s = system_of_embeddings("toy", data.embeddings, subjects=data.subject, score="cosine")
        >>> parts = gallery_effect(s, image_array(data.subject, per_subject=4), at=[1]).components()
        >>> parts.levels
        {'subject': 30, 'gallery': 4, 'probe': 4}
        """
        subjects, n, probes = self.hits.shape
        gallery = np.tile(np.repeat(np.arange(n), probes), subjects)
        probe = np.tile(np.concatenate([np.delete(np.arange(n), j) for j in range(n)]), subjects)
        factors = {"subject": np.repeat(np.arange(subjects), n * probes), "gallery": gallery, "probe": probe}
        rate = replace(mean((self.hits <= rank).reshape(-1)), name=f"rank-{rank} rate")
        return variance_components(rate, on=Design.crossed(factors))

    def _columns(self) -> dict[str, list[Any]]:
        """A line for each gallery and rank."""
        tables = [curve.to_dict() for curve in self.curves]
        galleries = [
            label for label, lines in zip(self.labels, tables, strict=True) for _ in next(iter(lines.values()))
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
            ax.plot(x, curve.point, color=color, lw=1.6, label=f"gallery {self.labels[k]}")
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
    return GalleryEffect(runs, tuple(r.cms(method=method, at=at) for r in runs), hits, array.labels)


@checked
def evaluation_figures(systems: Sequence[System], array: ImageArray) -> dict[str, Callable[..., Any]]:
    """The seven figures of CVPR section 5 for every system: from a name to a function that draws on axes or new ones.

    Figure 1 has the curves of one gallery and one set of probes, 2 and 4 the gallery effect before and after mixing, 3
    the errors by method, 5 those by number of units, 6 and 7 the systems with two units and with all columns but the
    gallery's; 5 and 7 need four columns. Errors are by BRR.

    Parameters
    ----------
    systems
        The recognisers, each of the same images.
    array
        Three columns or more, without fixed kinds.

    Examples
    --------
    >>> from strat.datasets import recognizer
    >>> from strat.recognition import image_array
    >>> from strat.recognition.experiment import system_of_embeddings
    >>> data = recognizer(subjects=30, images=4, rng=1)
    >>> s = system_of_embeddings("toy", data.embeddings, subjects=data.subject, score="cosine")
    >>> [*evaluation_figures([s], image_array(data.subject, per_subject=4))]
    ['1', '2 toy', '3 toy', '4 toy', '5 toy', '6', '7']
    """
    n, mixed = array.shape[1], array.mixed()
    if n < 3 or array.kinds is not None:
        kinds = "" if array.kinds is None else " of fixed kinds"
        raise StratError.about("array", f"must have three columns or more, without fixed kinds, got {n}{kinds}.")
    compared = ("brr", "jackknife", "bootstrap", f"jackknife{NO_STRATA}", f"bootstrap{NO_STRATA}")
    first = match_curve({s.name: run(s, array, probes=[1]).ranks for s in systems})
    pictures: dict[str, Callable[..., Any]] = {"1": partial(first.plot, axis="linear")}
    for s in systems:
        pictures[f"2 {s.name}"] = gallery_effect(s, array).plot
        pictures[f"3 {s.name}"] = compare_methods(run(s, array, gallery=1), methods=compared).plot
        pictures[f"4 {s.name}"] = gallery_effect(s, mixed).plot
        if n > 3:
            pictures[f"5 {s.name}"] = partial(compare_units(s, mixed).plot, variance=True)
    pictures["6"] = compare_systems(systems, array.without(*range(3, n)).mixed()).plot
    if n > 3:
        pictures["7"] = compare_systems(systems, mixed).plot
    return {name: pictures[name] for name in sorted(pictures, key=lambda name: name[0])}

"""The evaluation of CVPR section 5: systems run on an array of images, one column as gallery, the others as probes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strat.base.errors import StratError, one_of, some
from strat.base.result import Result
from strat.base.text import counted
from strat.base.validate.arguments import checked, shown
from strat.base.validate.columns import Array, Codes, numbers
from strat.designs import Design
from strat.estimation import Estimate, estimate
from strat.recognition.curves import MatchCurve, cms_of, match_curve, places, replicated
from strat.recognition.given_table import score_table
from strat.recognition.ranks import Ranks, ranks, ranks_of_embeddings
from strat.recognition.sets import ImageArray
from strat.show.colours import OKABE_ITO
from strat.show.figures import new_axes

Transform = Callable[[NDArray[Any]], NDArray[Any]]
TRAINING = ("initial", "update", "both")
NO_STRATA = ", no strata"


@dataclass(frozen=True)
class System:
    """A recogniser that can be asked about any gallery and any probes among its images.

    Attributes
    ----------
    name
        What people call it.
    compare
        From rows of probes and rows of the gallery to ranks.
    """

    name: str
    compare: Callable[[Codes, Codes], Ranks]


@checked
def system_of_scores(
    name: str, *, similarity: ArrayLike | None = None, distance: ArrayLike | None = None, subjects: ArrayLike
) -> System:
    """A system given by its scores of all images with all images.

    Examples
    --------
    >>> s = system_of_scores("toy", similarity=[[0, 9, 1], [9, 0, 2], [1, 2, 0]], subjects=["a", "a", "b"])
    >>> s.compare(np.array([1]), np.array([0, 2])).rank().tolist()
    [1.0]
    """
    table, sign = score_table(similarity, distance)
    labels = np.asarray(subjects)
    if table.shape != (len(labels), len(labels)):
        raise StratError(f"the scores must be images × images ({len(labels)} labels), got shape {table.shape}.")

    def compare(probes: Codes, gallery: Codes) -> Ranks:
        part = table[np.ix_(probes, gallery)]
        given: dict[str, Any] = {"similarity" if sign > 0 else "distance": part}
        return ranks(**given, probes=labels[probes], gallery=labels[gallery], threads=1)

    return System(name, compare)


@checked
def system_of_embeddings(name: str, embeddings: ArrayLike, *, subjects: ArrayLike, score: str) -> System:
    """A system given by a vector for each image."""
    vectors, labels = np.asarray(embeddings), np.asarray(subjects)

    def compare(probes: Codes, gallery: Codes) -> Ranks:
        return ranks_of_embeddings(
            vectors[probes],
            vectors[gallery],
            probe_subjects=labels[probes],
            gallery_subjects=labels[gallery],
            score=score,
        )

    return System(name, compare)


@checked
def system_of_model(
    name: str,
    images: ArrayLike,
    *,
    subjects: ArrayLike,
    fit: Callable[[NDArray[Any], NDArray[Any]], Transform],
    score: str,
    training: str,
    training_rows: ArrayLike | None = None,
) -> System:
    """A system that is trained: once, or again for each gallery (STRAT 2.1.3).

    Parameters
    ----------
    images, subjects
        One row per image, and who is on it.
    fit
        From training images and their subjects to a function from images to vectors.
    score
        How vectors are compared.
    training
        ``"initial"``: once, on `training_rows` (generic bases; new galleries need no retraining). ``"update"``: on
        each gallery anew. ``"both"``: on `training_rows` and the gallery.
    training_rows
        Rows for initial training.

    Examples
    --------
    >>> def centred(x, y):
    ...     middle = x.mean(axis=0)
    ...     return lambda images: images - middle
    >>> x = np.array([[1.0, 0.0], [1.1, 0.1], [0.0, 1.0], [0.1, 1.2]])
    >>> s = system_of_model("toy", x, subjects=[1, 1, 2, 2], fit=centred, score="euclidean", training="update")
    >>> s.compare(np.array([1, 3]), np.array([0, 2])).rank().tolist()
    [1.0, 1.0]
    """
    one_of("training", training, TRAINING)
    x, labels = np.asarray(images), np.asarray(subjects)
    if (training == "update") != (training_rows is None):
        raise StratError.about(
            "training_rows",
            f"must {'not ' if training == 'update' else ''}be given with training={training!r}; "
            "'update' trains on the gallery alone, the others start from `training_rows`.",
        )
    first = np.empty(0, np.int64) if training_rows is None else np.arange(len(x))[np.asarray(training_rows)]
    once = fit(x[first], labels[first]) if training == "initial" else None

    def compare(probes: Codes, gallery: Codes) -> Ranks:
        rows = np.union1d(first, gallery)
        transform = fit(x[rows], labels[rows]) if once is None else once
        return ranks_of_embeddings(
            transform(x[probes]),
            transform(x[gallery]),
            probe_subjects=labels[probes],
            gallery_subjects=labels[gallery],
            score=score,
        )

    return System(name, compare)


@dataclass(frozen=True, eq=False)
class Run:
    """One gallery, all other columns as probes: n − 1 units in each of L strata (CVPR 5).

    Attributes
    ----------
    system
        Name of the system.
    gallery
        Column of the array that was the gallery.
    ranks
        Ranks of the probes, subject by subject.
    design
        Subjects as strata, their probe images as units; with fixed kinds of images, subjects × kinds.
    """

    system: str
    gallery: int
    ranks: Ranks
    design: Design

    def cms(self, *, method: str = "brr", at: ArrayLike | None = None) -> Estimate:
        """The CMS curve with errors by BRR (by default), jackknife, bootstrap or in closed form."""
        at = places(self.ranks.gallery_size) if at is None else at
        return estimate(cms_of(self.ranks, at=at), on=replicated(self.design, method))


@checked
def run(system: System, array: ImageArray, *, gallery: int = 0, probes: Sequence[int] | None = None) -> Run:
    """One experiment E(G, P, s): column `gallery` as gallery, the other columns (or those named) as probes.

    Parameters
    ----------
    system
        The recogniser.
    array
        Images, a row per subject.
    gallery
        The gallery's column.
    probes
        Columns of the probes; None: all others.

    Examples
    --------
    >>> from strat.datasets import recognizer
    >>> from strat.recognition import image_array
    >>> data = recognizer(subjects=20, images=3, rng=1)
    >>> s = system_of_embeddings("toy", data.embeddings, subjects=data.subject, score="cosine")
    >>> one_run = run(s, image_array(data.subject, per_subject=3), gallery=1)
    >>> print(one_run.design)
    stratified: 40 rows in 40 units in 20 strata of 2; 20 degrees of freedom
    """
    n = array.shape[1]
    columns = [j for j in range(n) if j != gallery] if probes is None else list(probes)
    if gallery in columns or not columns:
        raise StratError.about("probes", f"must be columns other than the gallery's ({gallery}), got {some(columns)}.")
    rows = np.stack([array.column(j) for j in columns], axis=1).reshape(-1)
    scores = system.compare(rows, array.column(gallery))
    strata = np.repeat(np.arange(array.shape[0]), len(columns))
    if len(columns) == 1:
        design = Design.clustered(units=array.subjects)
    elif array.kinds is not None:
        design = Design.blocks(units=array.subjects[strata], kinds=array.kinds[:, columns].reshape(-1))
    else:
        design = Design.stratified(strata=array.subjects[strata])
    return Run(system.name, gallery, scores, design)


@checked
def compare_systems(
    systems: Sequence[System],
    array: ImageArray,
    *,
    gallery: int = 0,
    method: str = "brr",
    at: ArrayLike | None = None,
) -> MatchCurve:
    """Several systems with the same gallery and probes in one picture, paired (CVPR figures 1, 6 and 7)."""
    runs = {s.name: run(s, array, gallery=gallery) for s in systems}
    first = next(iter(runs.values()))
    return match_curve(
        {name: r.ranks for name, r in runs.items()}, target="these subjects", design=first.design, method=method, at=at
    )


@dataclass(frozen=True, eq=False, repr=False)
class MethodComparison(Result):
    """Standard errors of one curve by several methods (CVPR figures 3 and 5)."""

    estimates: Mapping[str, Estimate]
    replicates: Mapping[str, int]
    gallery_size: int

    def __str__(self) -> str:
        """The standard error at the first rank by each method."""
        return ", ".join(f"{name}: se {self.se(name).flat[0]:.4f} at the first rank" for name in self.estimates)

    def _columns(self) -> dict[str, list[Any]]:
        """A line for each method and rank."""
        tables = {name: curve.to_dict() for name, curve in self.estimates.items()}
        methods = [name for name, lines in tables.items() for _ in lines["estimate"]]
        columns = next(iter(tables.values()))
        return {"method": methods, **{name: [v for lines in tables.values() for v in lines[name]] for name in columns}}

    def se(self, name: str) -> Array:
        """Standard errors along the curve."""
        return np.asarray(self.estimates[name].se)

    def plot(self, ax: Any = None, *, variance: bool = False) -> Any:
        """Standard error (or variance) against relative rank."""
        ax = new_axes(ax)
        styles = ("-", "--", "-.", ":")
        for k, (name, curve) in enumerate(self.estimates.items()):
            x = np.asarray(curve.axes[-1].labels, float) / self.gallery_size
            y = np.asarray(curve.variance) if variance else np.sqrt(curve.variance)
            count = self.replicates.get(name)
            label = name if not count else f"{name} ({counted(count, 'replicate')})"
            ax.plot(x, y, styles[k % 4], color=OKABE_ITO[k % len(OKABE_ITO)], label=label, lw=1.6)
        ax.set_xscale("log")
        ax.set_xlabel("relative rank, r / N")
        ax.set_ylabel("variance of the CMS" if variance else "standard error of the CMS")
        ax.set_ylim(0, 1.45 * max(float(np.max(line.get_ydata())) for line in ax.get_lines()))
        ax.legend(frameon=False, loc="upper right", fontsize=8)
        return ax


@checked
def compare_methods(
    run: Run,
    *,
    methods: Sequence[str] = ("brr", "jackknife", "bootstrap"),
    replicates: int = 1000,
    rng: int = 0,
    at: ArrayLike | None = None,
) -> MethodComparison:
    """The same curve's errors by BRR, jackknife and bootstrap, with their numbers of replicates (CVPR figure 3).

    For a share of probes, which is linear when strata are equally large, BRR, jackknife and the closed form agree to
    rounding; the bootstrap differs by its own randomness. CVPR compares BRR with methods that don't know the strata:
    those are "jackknife, no strata" and "bootstrap, no strata".
    """
    at = places(run.ranks.gallery_size) if at is None else at
    statistic = cms_of(run.ranks, at=at)
    estimates, counts = {}, {}
    if isinstance(methods, str) or not isinstance(methods, Sequence):
        raise StratError.about("methods", f"must be a list of methods, got {shown(methods)}.")
    flat = Design.simple_random(n=len(run.ranks))
    for method in methods:
        base = str(method).removesuffix(NO_STRATA)
        on = replicated(run.design if base == method else flat, base, replicates, rng)
        estimates[method] = estimate(statistic, on=on)
        counts[method] = 0 if isinstance(on, Design) else on.number
    return MethodComparison(estimates, counts, run.ranks.gallery_size)


@checked
def compare_units(
    system: System, array: ImageArray, *, gallery: int = 0, method: str = "brr", at: ArrayLike | None = None
) -> MethodComparison:
    """All probe columns against all but one of them, with the same strata (CVPR figure 5)."""
    columns = [j for j in range(array.shape[1]) if j != gallery]
    if len(columns) < 3:
        raise StratError.about("array", f"must have at least four columns to leave one out, got {array.shape[1]}.")
    at = places(array.shape[0]) if at is None else at
    estimates = {counted(len(columns), "unit"): run(system, array, gallery=gallery).cms(method=method, at=at)}
    for left in columns:
        kept = [j for j in columns if j != left]
        name = f"{counted(len(kept), 'unit')}, without column {left + 1}"
        estimates[name] = run(system, array, gallery=gallery, probes=kept).cms(method=method, at=at)
    return MethodComparison(estimates, {}, array.shape[0])


@dataclass(frozen=True, eq=False, repr=False)
class PermutationCurve(Result):
    """CMS curves over constrained permutations of gallery and probes (Beveridge; STRAT 5.2)."""

    curves: Array
    at: Codes
    gallery_size: int

    def __str__(self) -> str:
        """The mean of the first rate over the permutations."""
        where = f"of {counted(len(self.curves), 'permutation')}, rank {self.at[0]}"
        return f"mean rate {where}: {self.mean[0]:.4f} (sd {self.se[0]:.4f})"

    def _columns(self) -> dict[str, list[Any]]:
        """A line for each rank."""
        low, high = self.interval()
        columns = {"rank": self.at, "mean": self.mean, "sd": self.se, "low": low, "high": high}
        return {name: values.tolist() for name, values in columns.items()}

    @property
    def mean(self) -> Array:
        """Mean curve."""
        return np.asarray(self.curves.mean(axis=0))

    @property
    def se(self) -> Array:
        """Standard deviation over permutations: of the choice of images, for these subjects."""
        return np.asarray(self.curves.std(axis=0, ddof=1))

    def interval(self, level: float = 0.95) -> tuple[Array, Array]:
        """Percentiles over permutations."""
        low, high = np.quantile(self.curves, [(1 - level) / 2, (1 + level) / 2], axis=0)
        return low, high


@checked
def permutations(
    system: System, array: ImageArray, *, number: int = 1000, rng: int = 0, at: ArrayLike | None = None
) -> PermutationCurve:
    """Beveridge's constrained permutation: in each trial every subject gets a gallery image and a probe at random.

    Parameters
    ----------
    system, array
        As for `run`.
    number
        Trials.
    rng
        Seed.
    at
        Ranks of the curve.
    """
    ranks_at = places(array.shape[0]) if at is None else numbers("at", at, most=2.0**53, axes=1).astype(np.int64)
    source = np.random.default_rng(rng)
    curves = []
    for _ in range(number):
        rows = array.permuted(source).rows
        scores = system.compare(rows[:, 1], rows[:, 0])
        curves.append(cms_of(scores, at=ranks_at).value())
    return PermutationCurve(np.array(curves), ranks_at, array.shape[0])

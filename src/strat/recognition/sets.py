"""Galleries and probe sets: what they represent, and arrays of images with a row per subject."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strat.base.errors import StratError, one_of, plain, some
from strat.base.result import Result
from strat.base.text import counted
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Codes, encode, same_length


@dataclass(frozen=True, eq=False, repr=False)
class Representation(Result):
    """How two sets of images represent the classes (STRAT 2.2).

    Attributes
    ----------
    classes
        Labels of all classes.
    gallery, probes
        Number of images of each class in either set.
    shared
        Images that are in both sets.
    """

    classes: NDArray[Any]
    gallery: Codes
    probes: Codes
    shared: tuple[Any, ...]

    @property
    def equally(self) -> bool:
        """Both sets have the same number of images of each class, and no image in common (ERRATA 6)."""
        return not self.shared and bool((self.gallery == self.probes).all())

    @property
    def fully(self) -> tuple[bool, bool]:
        """Whether each class has at least one image in the gallery, and in the probes."""
        return bool((self.gallery > 0).all()), bool((self.probes > 0).all())

    @property
    def uniquely(self) -> tuple[bool, bool]:
        """Whether each class has at most one image in the gallery, and in the probes."""
        return bool((self.gallery <= 1).all()), bool((self.probes <= 1).all())

    def __str__(self) -> str:
        """What holds, and for which classes it does not."""
        lines = [
            ", ".join(
                [
                    counted(len(self.classes), "class"),
                    counted(int(self.gallery.sum()), "gallery image"),
                    counted(int(self.probes.sum()), "probe"),
                ]
            )
        ]
        differ = self.classes[self.gallery != self.probes]
        lines.append(_line("equally representative", self.equally, "numbers differ for", differ, self.shared))
        for name, counts in (("gallery", self.gallery), ("probes", self.probes)):
            none, several = self.classes[counts == 0], self.classes[counts > 1]
            lines.append(_line(f"{name} fully representative", not len(none), "none of", none))
            lines.append(_line(f"{name} uniquely representative", not len(several), "several of", several))
        return "\n".join(lines)


def _line(what: str, holds: bool, words: str, classes: NDArray[Any], shared: Sequence[Any] = ()) -> str:
    reasons = [f"{words} {some(classes)}"] if len(classes) else []
    if len(shared):
        reasons.append(f"in both sets: {some(shared)}")
    return f"{what}: {'yes' if holds else 'no, ' + '; '.join(reasons)}"


@checked
def representation(
    gallery: ArrayLike,
    probes: ArrayLike,
    *,
    classes: ArrayLike | None = None,
    gallery_images: ArrayLike | None = None,
    probe_images: ArrayLike | None = None,
) -> Representation:
    """How a gallery and a probe set represent the classes.

    Parameters
    ----------
    gallery, probes
        Class of each image.
    classes
        All classes of interest; None: those that occur.
    gallery_images, probe_images
        Names of the images, to see whether one is in both sets.

    Examples
    --------
    >>> print(representation(["a", "b"], ["a", "a"]))
    2 classes, 2 gallery images, 2 probes
    equally representative: no, numbers differ for 'a', 'b'
    gallery fully representative: yes
    gallery uniquely representative: yes
    probes fully representative: no, none of 'b'
    probes uniquely representative: no, several of 'a'
    """
    (g, in_gallery), (p, in_probes) = encode("gallery", gallery), encode("probes", probes)
    subjects = np.union1d(in_gallery, in_probes)
    labels = subjects if classes is None else encode("classes", classes)[1]
    strangers = np.setdiff1d(subjects, labels)
    if len(strangers):
        raise StratError.about(
            "classes", f"must hold every class of the images, got images of {some(strangers)} besides."
        )
    if (gallery_images is None) != (probe_images is None):
        raise StratError.about("gallery_images", "and `probe_images` must come together, got one of them.")
    shared: tuple[Any, ...] = ()
    if gallery_images is not None and probe_images is not None:
        same_length(gallery=g, gallery_images=np.asarray(gallery_images))
        same_length(probes=p, probe_images=np.asarray(probe_images))
        shared = tuple(plain(x) for x in np.intersect1d(np.asarray(gallery_images), np.asarray(probe_images)))
    counts = [
        np.bincount(np.searchsorted(labels, own[codes]), minlength=len(labels))
        for own, codes in ((in_gallery, g), (in_probes, p))
    ]
    return Representation(labels, counts[0], counts[1], shared)


@dataclass(frozen=True, eq=False)
class ImageArray:
    """The array of CVPR section 5: a row of n images for each of L subjects; column j is the set Q_j.

    Attributes
    ----------
    rows
        L × n: which row of the data each image is.
    subjects
        Label of each subject.
    kinds
        L × n: the fixed kind of each image (a pose, a light); None: a subject's images are draws from one pool.
    names
        The names of the columns' images; None: the columns are numbered.
    """

    rows: Codes
    subjects: NDArray[Any]
    kinds: NDArray[Any] | None = None
    names: tuple[Any, ...] | None = None

    @property
    def labels(self) -> tuple[Any, ...]:
        """What the columns are called: the names of their images, or their numbers from 1."""
        return tuple(range(1, self.shape[1] + 1)) if self.names is None else self.names

    @property
    def shape(self) -> tuple[int, int]:
        """Subjects L and images per subject n."""
        return self.rows.shape[0], self.rows.shape[1]

    @checked
    def column(self, j: int) -> Codes:
        """Rows of the set Q_j, one image of every subject, j from 0."""
        if not 0 <= j < self.shape[1]:
            raise StratError.about("j", f"must be a column from 0 to {self.shape[1] - 1}, got {j!r}.")
        return self.rows[:, j]

    def without(self, *columns: int) -> ImageArray:
        """The array without some of its columns."""
        keep = [j for j in range(self.shape[1]) if j not in columns]
        if not keep or any(not 0 <= j < self.shape[1] for j in columns):
            raise StratError.about(
                "columns", f"must be some of 0 to {self.shape[1] - 1} but not all, got {some(columns)}."
            )
        names = None if self.names is None else tuple(self.names[j] for j in keep)
        return self._taken(np.broadcast_to(keep, (len(self.rows), len(keep))), names)

    def _taken(self, order: Codes, names: tuple[Any, ...] | None = None) -> ImageArray:
        """The array with the images of these places in each row."""
        kinds = None if self.kinds is None else np.take_along_axis(self.kinds, order, axis=1)
        return replace(self, rows=np.take_along_axis(self.rows, order, axis=1), kinds=kinds, names=names)

    def mixed(self) -> ImageArray:
        """Columns that hold an equal share of each original one: row h is rotated by h places (CVPR 5).

        Examples
        --------
        >>> ImageArray(np.arange(6).reshape(3, 2), np.array(["a", "b", "c"])).mixed().rows.tolist()
        [[0, 1], [3, 2], [4, 5]]
        """
        L, n = self.shape
        return self._taken((np.arange(n)[None, :] + np.arange(L)[:, None]) % n)

    @checked
    def permuted(self, rng: int | np.random.Generator = 0) -> ImageArray:
        """Every row in an order of its own, at random: Beveridge's constrained permutation (STRAT 5.2)."""
        L, n = self.shape
        return self._taken(np.random.default_rng(rng).permuted(np.tile(np.arange(n), (L, 1)), axis=1))

    @checked
    def probes(self, gallery: int) -> Codes:
        """Rows of all images but those of one column, subject by subject."""
        self.column(gallery)
        return np.delete(self.rows, gallery, axis=1).reshape(-1)


@checked
def image_array(
    subjects: ArrayLike,
    *,
    per_subject: int | None = None,
    images: ArrayLike | None = None,
    only: ArrayLike | None = None,
    kinds: ArrayLike | None = None,
    fewer: str = "error",
) -> ImageArray:
    """The first n images of every subject, or those that are named, as an array with a row per subject.

    Parameters
    ----------
    subjects
        Subject of each row of the data.
    per_subject
        How many images n; subjects with more keep their first ones. None: as many as `only` names.
    images
        Number or name of each row's image, which orders a subject's images; None: the order of rows.
    only
        The names of the images to take, a column for each in this order.
    kinds
        Fixed kind of each row's image (a pose, a light). What kinds differ by is then no error of a run's rates.
    fewer
        What to do with subjects that have fewer images: ``"error"`` or ``"leave out"``.

    Examples
    --------
    >>> a = image_array(["b", "a", "b", "a", "c"], per_subject=2, fewer="leave out")
    >>> a.subjects.tolist(), a.rows.tolist()
    (['a', 'b'], [[1, 3], [0, 2]])
    >>> poses = ["front", "front", "left", "left"]
    >>> image_array(["a", "b", "a", "b"], images=poses, only=["left", "front"]).rows.tolist()
    [[2, 0], [3, 1]]
    """
    one_of("fewer", fewer, ("error", "leave out"))
    codes, labels = encode("subjects", subjects)
    columns = None if only is None else tuple(np.asarray(only).tolist())
    keys, names = (np.arange(len(codes)), np.arange(len(codes))) if images is None else encode("images", images)
    same_length(subjects=codes, images=keys)
    if only is not None:
        per_subject, keys = _chosen(codes, keys, names, only, per_subject)
    if not isinstance(per_subject, int | np.integer) or per_subject < 2:
        raise StratError.about(
            "per_subject", f"must be a whole number from 2, a gallery and a probe, got {per_subject!r}."
        )
    kept = np.flatnonzero(keys >= 0)
    order = kept[np.lexsort((keys[kept], codes[kept]))]
    counts = np.bincount(codes[kept], minlength=len(labels))
    few = counts < per_subject
    if few.any() and (fewer == "error" or few.all()):
        raise StratError.about(
            "subjects",
            f"must have {per_subject} images each, got fewer for {some(labels[few])}; ask for fewer images "
            "with `per_subject`, or pass fewer='leave out'.",
        )
    starts = (np.cumsum(counts) - counts)[~few]
    rows = order[starts[:, None] + np.arange(per_subject)]
    kind = None if kinds is None else encode("kinds", kinds)
    if kind is not None:
        same_length(subjects=codes, kinds=kind[0])
    return ImageArray(rows, labels[~few], None if kind is None else kind[1][kind[0][rows]], columns)


def _chosen(
    codes: Codes, keys: Codes, names: NDArray[Any], only: ArrayLike, per_subject: int | None
) -> tuple[int, Codes]:
    """How many images are named, and the place of each row's image among them, below 0 for others."""
    place_of, labels = encode("only", only)
    wanted, present = labels[place_of].tolist(), names.tolist()
    absent = [name for name in wanted if name not in present]
    if absent or len(set(wanted)) < len(wanted):
        raise StratError.about(
            "only", f"must name images once each, got {some(absent or wanted)}; there are {some(names, 8)}."
        )
    if per_subject not in (None, len(wanted)):
        raise StratError.about("per_subject", f"must be {len(wanted)}, as many as `only` names, got {per_subject}.")
    places = np.full(len(names), -1)
    places[[present.index(name) for name in wanted]] = np.arange(len(wanted))
    place = places[keys]
    pairs, times = np.unique((codes * len(wanted) + place)[place >= 0], return_counts=True)
    if (times > 1).any():
        twice = wanted[int(pairs[times > 1][0]) % len(wanted)]
        raise StratError.about("images", f"must name each image of a subject once, got {plain(twice)!r} twice.")
    return len(wanted), place

"""Tables of scores as they are given: which way is better, and whether rows and columns are the same images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strat.base.errors import StratError
from strat.base.limits import LIMITS
from strat.base.notes import Note

FEWEST_ALIKE = 5  # equal scores of an image that chance does not explain


def score_table(
    similarity: ArrayLike | None,
    distance: ArrayLike | None,
    probes: ArrayLike | None = None,
    gallery: ArrayLike | None = None,
) -> tuple[NDArray[Any], float]:
    """The table that was given, and 1 for similarities or −1 for distances; with both labels, not of own images."""
    if (similarity is None) == (distance is None):
        raise StratError(
            "exactly one of `similarity` (greater is better) and `distance` (smaller is better) must be given, got "
            f"{'both' if similarity is not None else 'neither'}; it is never guessed."
        )
    name, given = ("similarity", similarity) if distance is None else ("distance", distance)
    table = np.asanyarray(given)
    if table.ndim != 2 or table.dtype.kind not in "fiub" or 0 in table.shape:
        raise StratError.about(
            name, f"must be a table of numbers, probes × gallery, got shape {table.shape} of {table.dtype}."
        )
    if probes is not None and gallery is not None:
        refuse_own_images(table, probes, gallery)
    return table, 1.0 if distance is None else -1.0


def symmetric(table: NDArray[Any]) -> bool:
    """Whether a table is its own mirror image, looked at piece by piece.

    >>> symmetric(np.array([[0, 1], [1, 0]])), symmetric(np.array([[0, 1], [2, 0]]))
    (True, False)
    """
    n, same_nan = table.shape[0], table.dtype.kind == "f"
    if n != table.shape[1]:
        return False
    starts = range(0, n, LIMITS.mirrored_tile)
    return all(
        np.array_equal(
            table[i : i + LIMITS.mirrored_tile, j : j + LIMITS.mirrored_tile],
            table[j : j + LIMITS.mirrored_tile, i : i + LIMITS.mirrored_tile].T,
            equal_nan=same_nan,
        )
        for i in starts
        for j in starts
        if j >= i
    )


def own_images(table: NDArray[Any], probes: ArrayLike, gallery: ArrayLike) -> bool:
    """Whether rows and columns are the same images, several of a subject.

    The table is then symmetric, and what stands for an image with itself is one number, or the extreme of its row.

    >>> s = np.array([[0, 1, 2], [1, 0, 3], [2, 3, 0]])
    >>> own_images(s, list("aab"), list("aab")), own_images(s, list("abc"), list("abc"))
    (True, False)
    """
    rows, columns = np.asarray(probes), np.asarray(gallery)
    same = rows.shape == columns.shape and bool((rows == columns).all())
    several = 1 < len(np.unique(rows)) < len(rows)
    return same and several and table.shape == (len(rows),) * 2 and symmetric(table) and _own_diagonal(table)


def _own_diagonal(table: NDArray[Any]) -> bool:
    own = np.diagonal(table).astype(float)
    if np.allclose(own, own[0], rtol=1e-5, atol=1e-8):
        return True
    return bool((own == table.max(axis=1)).all() or (own == table.min(axis=1)).all())


def refuse_own_images(table: NDArray[Any], probes: ArrayLike, gallery: ArrayLike) -> None:
    """Refuse a table of images with themselves: each would be its own mate."""
    if own_images(table, probes, gallery):
        raise StratError.about(
            "gallery",
            "must hold other images than `probes`, got a symmetric table with the same subjects of rows and "
            "columns, where each image would be its own mate; choose rows and columns for ranks, or leave `gallery` "
            "out of `verification`.",
        )


def constant_lines(table: NDArray[Any], *, axis: int, own: bool = False) -> NDArray[Any]:
    """Which rows (axis 0) or columns (axis 1) have one score throughout; with `own`, the diagonal aside.

    >>> constant_lines(np.array([[1, 2, 3, 4, 5], [7, 7, 7, 7, 7]]), axis=0).tolist()
    [1]
    """
    lines = table if axis == 0 else table.T
    if lines.shape[1] < FEWEST_ALIKE + own:
        return np.zeros(0, np.int64)
    first = lines[:, : FEWEST_ALIKE + own]
    alike = (first[:, :, None] == first[:, None, :]).sum(axis=(1, 2)) >= FEWEST_ALIKE**2  # few lines are read whole
    whole = ((at, np.delete(lines[at], at) if own else lines[at]) for at in np.flatnonzero(alike))
    return np.array([at for at, line in whole if (line == line[0]).all()], np.int64)


def failed_notes(
    table: NDArray[Any], probes: ArrayLike, gallery: ArrayLike | None, kept: Sequence[NDArray[Any]] = ()
) -> tuple[Note, ...]:
    """That rows or columns have one score throughout, as failed templates have, where most do not.

    `kept` are the rows and the columns that count, all of them if it is empty.
    """
    labels = {"probe": np.asarray(probes), "gallery image": np.asarray(probes if gallery is None else gallery)}
    notes = []
    for axis, (what, names) in enumerate(labels.items()):
        at = constant_lines(table, axis=axis, own=gallery is None)
        at = np.intersect1d(at, kept[axis]) if kept else at
        if not 0 < len(at) <= table.shape[axis] // 2 or (gallery is None and axis):
            continue
        score = (table if axis == 0 else table.T)[at[0], -1 if at[0] == 0 else 0]
        notes.append(_alike(what, names[at], float(score), listed=False))
    return tuple(notes)


def _alike(image: str, names: NDArray[Any], score: float, *, listed: bool) -> Note:
    which = tuple(names.tolist())
    return Note("templates-alike", {"n": len(which), "image": image, "names": which, "score": score, "listed": listed})


def failed_in_list(scores: NDArray[Any], sides: Mapping[str, ArrayLike]) -> tuple[Note, ...]:
    """The same for a list of comparisons, whose images on each side are named line by line.

    >>> failed_in_list(np.array([3, 3, 3, 3, 3, 1, 2.0]), {"probe": list("aaaaabc")})[0][:44]
    "1 probe ('a') has one score throughout, 3, a"
    """
    notes = []
    for what, names in sides.items():
        images, codes, number = np.unique(np.asarray(names), return_inverse=True, return_counts=True)
        least, most = np.full(len(images), np.inf), np.full(len(images), -np.inf)
        np.minimum.at(least, codes.reshape(-1), scores)
        np.maximum.at(most, codes.reshape(-1), scores)
        at = np.flatnonzero((least == most) & (number >= FEWEST_ALIKE))
        if 0 < len(at) <= len(images) // 2:
            notes.append(_alike(what, images[at], float(least[at[0]]), listed=True))
    return tuple(notes)

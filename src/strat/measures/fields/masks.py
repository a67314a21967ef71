"""Segmentation: Dice, Hausdorff distance, mean IoU and panoptic quality.

The usual unit is the patient (or the image). A mean over cases and a ratio of totals are two numbers: each says which.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strat.base.errors import StratError, one_of, some
from strat.base.limits import LIMITS
from strat.base.validate.arguments import checked, unmasked
from strat.base.validate.columns import Array, numbers, same_length
from strat.measures.base import Rows, Statistic
from strat.measures.means import mean
from strat.measures.quotients import quotient, row_mean
from strat.measures.register import measure

Mask = NDArray[Any]
AVERAGES = ("cases", "totals")


def _cases(truth: Any, predicted: Any) -> tuple[list[Mask], list[Mask]]:
    """The masks of each case, of the same shape in truth and prediction."""
    left, right = _masks("truth", truth), _masks("predicted", predicted)
    same_length(truth=left, predicted=right)
    for place, (a, b) in enumerate(zip(left, right, strict=True)):
        if a.shape != b.shape:
            raise StratError.about(
                "predicted", f"must have the shape of `truth` in every case, got {b.shape} in case {place}."
            )
    return left, right


def _masks(argument: str, cases: Any) -> list[Mask]:
    unmasked(argument, cases)
    cases = cases.to_numpy() if hasattr(cases, "to_numpy") and not isinstance(cases, type) else cases
    listed = isinstance(cases, Sequence) and not isinstance(cases, str | bytes)
    if not (listed or (isinstance(cases, np.ndarray) and cases.ndim)) or not len(cases):
        raise StratError.about(argument, f"must be a list of masks, one for each case, got {some([cases])}.")
    masks = []
    for case in cases:
        try:
            mask = np.asarray(case)
        except ValueError:
            raise StratError.about(
                argument, "must hold an array of labels for each case, got lists of several lengths."
            ) from None
        if mask.ndim < 1 or mask.dtype.kind not in "biu" or (mask.size and int(mask.min()) < 0):
            raise StratError.about(
                argument, f"must hold a mask of whole numbers from 0 for each case, got {some([case])}."
            )
        masks.append(mask)
    return masks


@measure(
    "dice",
    needs=("true masks", "masks"),
    variants={"dice_totals": {"average": "totals"}},
    files="masks",
    reference="Dice 1945",
)
@checked
def dice(truth: Any, predicted: Any, *, average: str = "cases") -> Statistic:
    """Dice, 2 × overlap / (both sizes): the mean over cases ("cases"), or of all pixels together ("totals").

    A case whose two masks are empty has Dice 1. Each case adds (its Dice, 1), or (2 × overlap, both sizes).
    The usual unit is the patient, or the image.

    Parameters
    ----------
    truth, predicted
        One mask per case: an array in which what is not 0 is inside.
    average
        "cases" (macro: every patient counts the same) or "totals" (micro: every pixel does).

    Examples
    --------
    >>> truth, predicted = [[1, 1, 0, 0], [0, 1]], [[1, 0, 0, 0], [0, 1]]
    >>> [round(float(dice(truth, predicted, average=average).value()), 4) for average in ("cases", "totals")]
    [0.8333, 0.8]
    """
    one_of("average", average, AVERAGES)
    left, right = _cases(truth, predicted)
    overlap = np.array([2.0 * np.count_nonzero((a != 0) & (b != 0)) for a, b in zip(left, right, strict=True)])
    sizes = np.array([np.count_nonzero(a) + np.count_nonzero(b) for a, b in zip(left, right, strict=True)], float)
    if average == "cases":
        statistic = row_mean("Dice, mean over cases", quotient(overlap, sizes, 1.0), link="logit", bounds=(0.0, 1.0))
        return replace(statistic, higher_is_better=True)
    rows = (Rows(None, np.column_stack([overlap, sizes]), 2),)
    return Statistic(
        "Dice of totals", rows, lambda t: quotient(t[..., 0], t[..., 1], 1.0), link="logit", bounds=(0.0, 1.0),
        higher_is_better=True,
    )  # fmt: skip


@measure(
    "hausdorff",
    needs=("true masks", "masks"),
    at="percentile",
    variants={"hd95": {"percentile": 95}},
    unit="voxels",
    bounds=(0.0, np.inf),
    higher_is_better=False,
    files="masks",
)
@checked
def hausdorff(truth: Any, predicted: Any, *, percentile: float = 100.0) -> Statistic:
    """The mean over cases of the Hausdorff distance between two masks, in pixels; 95 for HD95.

    Each case adds (its distance, 1); the larger of the two directions, of all points of the masks.
    The usual unit is the patient, or the image.

    Parameters
    ----------
    truth, predicted
        One mask per case, none of them empty.
    percentile
        Of the distances from each point to the nearest of the other mask; 100: the largest.

    Examples
    --------
    >>> float(hausdorff([[1, 0, 0, 0, 0]], [[1, 0, 0, 1, 0]]).value())
    3.0
    """
    if not 0 < percentile <= 100:
        raise StratError.about("percentile", f"must lie above 0 and at most at 100, got {percentile:g}.")
    left, right = _cases(truth, predicted)
    distances = []
    for place, (a, b) in enumerate(zip(left, right, strict=True)):
        if not a.any() or not b.any():
            raise StratError.about(
                "truth", f"and `predicted` must not be empty in any case, got an empty mask in case {place}."
            )
        ways = _to_nearest(a != 0, b != 0)
        distances.append(max(float(way.max() if percentile == 100 else np.percentile(way, percentile)) for way in ways))
    return replace(mean(distances), name="Hausdorff distance", bounds=(0.0, np.inf), higher_is_better=False)


def _to_nearest(one: Mask, other: Mask) -> tuple[Array, Array]:
    """For each point of one mask the distance to the nearest of the other, both ways."""
    ours, theirs = np.argwhere(one), np.argwhere(other)
    low, high = np.minimum(ours.min(axis=0), theirs.min(axis=0)), np.maximum(ours.max(axis=0), theirs.max(axis=0))
    if np.prod(high - low + 1.0) <= LIMITS.mask_pixels * (len(ours) + len(theirs)):
        from scipy.ndimage import distance_transform_edt

        box = tuple(slice(a, b + 1) for a, b in zip(low, high, strict=True))
        one, other = one[box], other[box]
        return distance_transform_edt(~other)[one], distance_transform_edt(~one)[other]
    from scipy.spatial import KDTree

    return np.asarray(KDTree(theirs).query(ours)[0]), np.asarray(KDTree(ours).query(theirs)[0])


@measure("mean_iou", "miou", needs=("true masks", "masks"), files="masks")
@checked
def mean_iou(truth: Any, predicted: Any, *, classes: int | None = None) -> Statistic:
    """mIoU: overlap / union of each class over all cases, then the mean over classes that occur.

    Each case adds, for every class, its overlap and its union: the totals of all pixels, not a mean over images.
    The usual unit is the patient, or the image.

    Parameters
    ----------
    truth, predicted
        One array of class numbers per case.
    classes
        How many classes there are, numbered from 0; None: one more than the largest number that occurs.

    Examples
    --------
    >>> float(mean_iou([[0, 0, 1, 1]], [[0, 1, 1, 1]]).value().round(4))
    0.5833
    """
    left, right = _cases(truth, predicted)
    k = classes or 1 + max(int(mask.max()) for mask in (*left, *right) if mask.size)
    if k > 10_000 or any(mask.size and int(mask.max()) >= k for mask in (*left, *right)):
        raise StratError.about("classes", f"must be larger than every class number and at most 10,000, got {k}.")
    overlap = np.array([np.bincount(a[a == b].ravel(), minlength=k) for a, b in zip(left, right, strict=True)])
    sizes = [np.array([np.bincount(mask.ravel(), minlength=k) for mask in side]) for side in (left, right)]
    columns = np.column_stack([overlap, sizes[0] + sizes[1] - overlap]).astype(float)

    def function(t: Array) -> Array:
        each = quotient(t[..., :k], t[..., k:])
        return np.asarray(np.nansum(each, axis=-1) / (t[..., k:] > 0).sum(axis=-1))

    return Statistic(
        "mIoU", (Rows(None, columns, 2 * k),), function, link="logit", bounds=(0.0, 1.0), higher_is_better=True
    )


@measure(
    "panoptic_quality", "pq", needs=("iou", "matched", "unmatched"), files="masks", reference="Kirillov et al. 2019"
)
@checked
def panoptic_quality(iou: ArrayLike, matched: ArrayLike, unmatched: ArrayLike) -> Statistic:
    """PQ, Σ IoU of matched segments / (matched + unmatched / 2), and over classes the mean (Kirillov et al. 2019).

    Each image adds these three numbers, for every class. The usual unit is the patient, or the image.

    Parameters
    ----------
    iou
        Sum of IoU over matched segments: images, or images × classes.
    matched
        How many segments were matched (IoU above 0.5).
    unmatched
        False positives and false negatives together.

    Examples
    --------
    >>> float(panoptic_quality([1.6, 0.9], [2, 1], [1, 1]).value())
    0.625
    """
    arrays = [numbers(n, v, most=1e100) for n, v in (("iou", iou), ("matched", matched), ("unmatched", unmatched))]
    same_length(iou=arrays[0], matched=arrays[1], unmatched=arrays[2])
    if len({array.shape for array in arrays}) > 1 or arrays[0].ndim > 2 or not arrays[0].size:
        raise StratError.about(
            "iou", f", `matched` and `unmatched` must have one shape, got {some([a.shape for a in arrays])}."
        )
    if any((array < 0).any() for array in arrays) or (arrays[0] > arrays[1]).any():
        raise StratError.about("iou", "must lie between 0 and the number of matched segments, got another in some row.")
    each = [array.reshape(len(array), -1) for array in arrays]
    k = each[0].shape[1]
    columns = np.column_stack([each[0], each[1] + each[2] / 2])

    def function(t: Array) -> Array:
        quality = quotient(t[..., :k], t[..., k:])
        return np.asarray(quotient(np.nansum(quality, axis=-1), (t[..., k:] > 0).sum(axis=-1)))

    return Statistic(
        "PQ", (Rows(None, columns, 2 * k),), function, link="logit", bounds=(0.0, 1.0), higher_is_better=True
    )

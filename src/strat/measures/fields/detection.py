"""Object detection: COCO's average precision and recall, with images as units.

Detections are matched within an image, so the matching does not change when images are weighted anew: what a row (an
image) adds is its matched and unmatched detections and its objects, and the curve is made of weighted sums.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.base.errors import StratError, one_of, some
from strat.base.extras import load
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, Codes
from strat.measures.base import Statistic
from strat.measures.fields.inputs import of_row_weights
from strat.measures.register import measure

KINDS = ("bbox", "segm")
MOST_DETECTIONS = 100  # in an image and a category, as COCO's main number has it
RECALLS = np.linspace(0.0, 1.0, 101)
FEW_IMAGES = 30  # with objects of a category, below which each of them is left out in turn
TINY = float(np.spacing(1))  # what COCO adds to a sum that may be 0


@dataclass(frozen=True, eq=False)
class Category:
    """One category: its detections by decreasing score (of equal ones by image), and its objects.

    Attributes
    ----------
    images
        The image of each detection.
    hits, misses
        IoU thresholds × detections: matched with an object; matched with nothing (what COCO ignores is neither).
    objects
        Objects in each image that count.
    """

    images: Codes
    hits: NDArray[np.bool_]
    misses: NDArray[np.bool_]
    objects: Array


@measure(
    "coco_ap",
    "ap",
    needs=("annotations", "detections"),
    at="iou",
    variants={"ap50": {"iou": 0.5}, "ap75": {"iou": 0.75}},
    files="boxes",
    reference="Lin et al. 2014",
)
@checked
def coco_ap(truth: Any, detections: Any, *, kind: str = "bbox", iou: float | None = None) -> Statistic:
    """COCO's AP, equal to pycocotools': precision over 101 recalls, over IoU 0.5 to 0.95, over categories.

    Rows are the images in the order of ``sorted(image ids)``; each adds its matches, false alarms and objects.
    The usual unit is the image.

    Parameters
    ----------
    truth
        COCO's annotations: a dictionary with "images", "annotations" and "categories", as its JSON file holds.
    detections
        COCO's results: a list of {"image_id", "category_id", "bbox" or "segmentation", "score"}.
    kind
        "bbox" or "segm".
    iou
        One threshold (0.5 for AP50, 0.75 for AP75); None: the mean over 0.5, 0.55, … 0.95.

    Examples
    --------
    >>> truth = {"images": [{"id": 1}, {"id": 2}], "categories": [{"id": 7}], "annotations": [
    ...     {"id": 1, "image_id": 1, "category_id": 7, "bbox": [0, 0, 10, 10], "area": 100, "iscrowd": 0},
    ...     {"id": 2, "image_id": 2, "category_id": 7, "bbox": [0, 0, 10, 10], "area": 100, "iscrowd": 0}]}
    >>> detections = [{"image_id": 1, "category_id": 7, "bbox": [0, 0, 10, 10], "score": 0.9}]
    >>> round(float(coco_ap(truth, detections, iou=0.5).value()), 4)
    0.505
    """
    images, categories = _matched(truth, detections, kind, iou)
    title = "AP" if iou is None else f"AP{100 * iou:g}"
    return _over_categories(title, images, categories, _precision, _precision_slopes)


@measure("coco_ar", "ar", needs=("annotations", "detections"), files="boxes", reference="Lin et al. 2014")
@checked
def coco_ar(truth: Any, detections: Any, *, kind: str = "bbox", iou: float | None = None) -> Statistic:
    """COCO's AR with 100 detections: the share of objects found, over IoU 0.5 to 0.95 and over categories.

    Each image adds its matches and its objects. The usual unit is the image.

    Parameters
    ----------
    truth, detections, kind, iou
        As for `coco_ap`.

    Examples
    --------
    >>> truth = {"images": [{"id": 1}], "categories": [{"id": 7}], "annotations": [
    ...     {"id": 1, "image_id": 1, "category_id": 7, "bbox": [0, 0, 10, 10], "area": 100, "iscrowd": 0}]}
    >>> detections = [{"image_id": 1, "category_id": 7, "bbox": [0, 0, 10, 9], "score": 0.9}]
    >>> float(coco_ar(truth, detections).value())
    0.9
    """
    images, categories = _matched(truth, detections, kind, iou)
    return _over_categories("AR", images, categories, _recall, _recall_slopes)


def _matched(truth: Any, detections: Any, kind: str, iou: float | None) -> tuple[int, list[Category]]:
    """The number of images, and the matches of each category that has objects."""
    one_of("kind", kind, KINDS)
    if iou is not None and not 0 < iou <= 1:
        raise StratError.about("iou", f"must lie above 0 and at most at 1, got {iou:g}.")
    evaluated = _evaluated(truth, detections, kind, iou)
    images = len(evaluated.params.imgIds)
    matches = evaluated.evalImgs
    categories = [
        category
        for place in range(len(evaluated.params.catIds))
        if (category := _category(matches[place * images : (place + 1) * images], images)) is not None
    ]
    if not categories:
        raise StratError.about("truth", "must hold at least one object that counts, got none.")
    return images, categories


def _evaluated(truth: Any, detections: Any, kind: str, iou: float | None) -> Any:
    """Pycocotools' evaluation with the matches of every image; its printed progress is left out."""
    if not isinstance(truth, Mapping) or not all(
        isinstance(truth.get(k), list) for k in ("images", "annotations", "categories")
    ):
        raise StratError.about(
            "truth", f"must hold the lists 'images', 'annotations' and 'categories', got {some([truth])}."
        )
    results = _results(detections)
    COCO, COCOeval = load("pycocotools.coco").COCO, load("pycocotools.cocoeval").COCOeval
    with contextlib.redirect_stdout(io.StringIO()):
        gold = COCO()
        gold.dataset = {**truth, "annotations": [dict(one) for one in truth["annotations"]]}
        try:
            gold.createIndex()
            guess = gold.loadRes(results)
        except (KeyError, TypeError, AssertionError) as error:
            raise StratError.about(
                "detections", f"must fit the images and keys of `truth`, got {str(error)!r}."
            ) from None
        evaluation = COCOeval(gold, guess, kind)
        evaluation.params.areaRng, evaluation.params.areaRngLbl = [[0, 1e10]], ["all"]
        evaluation.params.maxDets = [MOST_DETECTIONS]
        if iou is not None:
            evaluation.params.iouThrs = np.array([iou])
        evaluation.evaluate()
    return evaluation


def _results(detections: Any) -> list[dict[str, Any]]:
    """COCO's results as a list of dictionaries of their own, whichever column they come in."""
    column = isinstance(detections, Iterable) and not isinstance(detections, Mapping | str | bytes)
    results = list(detections) if column and getattr(detections, "ndim", 1) == 1 else []
    if not results or not all(isinstance(one, Mapping) for one in results):
        raise StratError.about("detections", f"must be a list of COCO's results, got {some([detections])}.")
    return [dict(one) for one in results]


def _category(images: list[Any], number: int) -> Category | None:
    """What pycocotools matched in one category; None where no object counts."""
    objects = np.array([0.0 if one is None else np.count_nonzero(np.asarray(one["gtIgnore"]) == 0) for one in images])
    if not objects.any():
        return None
    seen = [(place, one) for place, one in enumerate(images) if one is not None]
    scores = np.concatenate([np.asarray(one["dtScores"], float)[:MOST_DETECTIONS] for _, one in seen])
    order = np.argsort(-scores, kind="mergesort")  # as pycocotools and Matlab have it
    matches = np.concatenate([one["dtMatches"][:, :MOST_DETECTIONS] for _, one in seen], axis=1)[:, order]
    ignored = np.concatenate([one["dtIgnore"][:, :MOST_DETECTIONS] for _, one in seen], axis=1)[:, order].astype(bool)
    places = np.repeat([place for place, _ in seen], [len(one["dtScores"]) for _, one in seen])[order]
    return Category(places.astype(np.int64), (matches > 0) & ~ignored, (matches == 0) & ~ignored, objects)


def _over_categories(name: str, images: int, categories: list[Category], value: Any, slopes: Any) -> Statistic:
    """The mean over categories of a function of the weights of images."""

    def mean(w: Array) -> float:
        return float(np.nanmean([value(category, w) for category in categories]))

    def gradient(t: Array) -> Array:
        live = [category for category in categories if category.objects @ t > 0]
        total = sum(value(category, t) for category in live)
        change, gone = np.zeros(images), np.zeros(images)
        for category in live:
            effects, lost = _effects(category, t, value, slopes)
            change, gone = change + effects, gone + lost
        left = np.maximum(len(live) - gone, 1.0)
        return np.asarray((total / len(live) - (total - change) / left) / np.where(t > 0, t, 1.0))

    return of_row_weights(name, images, mean, gradient, link="logit", bounds=(0.0, 1.0))


def _effects(category: Category, t: Array, value: Any, slopes: Any) -> tuple[Array, Array]:
    """What each image adds to a category's value, and whether the category is gone without it.

    Derivatives are short for a category that rests on a few images: for these each is left out in turn.
    """
    effects, gone = slopes(category, t) * t, np.zeros(len(t))
    holders = np.flatnonzero((category.objects > 0) & (t > 0))
    if len(holders) >= FEW_IMAGES:
        return effects, gone
    whole = value(category, t)
    for image in holders:
        rest = np.where(np.arange(len(t)) == image, 0.0, t)
        without = value(category, rest)
        gone[image] = float(np.isnan(without))
        effects[image] = whole - (0.0 if gone[image] else without)
    return effects, gone


def _sums(category: Category, w: Array) -> tuple[Array, Array, Array]:
    """Weights of detections, and running sums of hits and of misses: thresholds × detections."""
    each = w[category.images]
    return each, np.cumsum(category.hits * each, axis=1), np.cumsum(category.misses * each, axis=1)


def _envelope(category: Category, w: Array) -> tuple[Array, Array]:
    """Running hits, and at each detection the best precision from there on."""
    _, hits, misses = _sums(category, w)
    precision = hits / (hits + misses + TINY)
    return hits, np.maximum.accumulate(precision[:, ::-1], axis=1)[:, ::-1]


def _precision(category: Category, w: Array) -> float:
    """Precision at 101 recalls, 0 where the recall is not reached; nan for a category without objects."""
    objects = float(category.objects @ w)
    if objects <= 0:
        return np.nan
    hits, best = _envelope(category, w)
    padded = np.concatenate([best, np.zeros((len(best), 1))], axis=1)
    at = [np.searchsorted(recall, RECALLS, side="left") for recall in hits / objects]
    return float(np.mean([row[places] for row, places in zip(padded, at, strict=True)]))


def _precision_slopes(category: Category, w: Array) -> Array:
    """Derivatives of the area under the envelope, of which the 101 recalls are a sum: ∫ precision d(recall).

    A hit adds its envelope's height; every detection moves the precision of the corners of the envelope behind it; an
    object lowers all recalls.
    """
    images, n = len(category.objects), category.hits.shape[1]
    objects = float(category.objects @ w)
    if n == 0:
        return np.zeros(images)
    each, hits, misses = _sums(category, w)
    total = hits + misses + TINY
    precision = hits / total
    best = np.maximum.accumulate(precision[:, ::-1], axis=1)[:, ::-1]
    slopes = np.zeros(images)
    for k in range(len(hits)):
        corner = np.maximum.accumulate(np.where(precision[k] >= best[k], np.arange(n), n - 1)[::-1] * -1)[::-1] * -1
        mass = np.bincount(corner, category.hits[k] * each, minlength=n)  # recall that takes its height from there
        by_hit = np.cumsum((mass / total[k])[::-1])[::-1]
        by_any = np.cumsum((mass * precision[k] / total[k])[::-1])[::-1]
        of_hits = category.hits[k] * (best[k] + by_hit - by_any)
        of_misses = category.misses[k] * -by_any
        area = float((category.hits[k] * each) @ best[k])
        slopes += np.bincount(category.images, of_hits + of_misses, minlength=images)
        slopes -= area * category.objects / objects
    return slopes / objects / len(hits)


def _recall(category: Category, w: Array) -> float:
    objects = float(category.objects @ w)
    return float((category.hits @ w[category.images]).mean() / objects) if objects > 0 else np.nan


def _recall_slopes(category: Category, w: Array) -> Array:
    objects, images = float(category.objects @ w), len(category.objects)
    hits = np.bincount(category.images, category.hits.mean(axis=0), minlength=images)
    return np.asarray((hits - _recall(category, w) * category.objects) / objects)

"""What the measures of fields refuse, and the sentence that says why; the gaps between groups that fairlearn has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import strat
from strat import measures as m
from strat.base.errors import StratError

IMAGES = {"images": [{"id": 1}], "annotations": [], "categories": [{"id": 7}]}
BOX = {"image_id": 1, "category_id": 7, "bbox": [0, 0, 9, 9], "score": 0.9}
CASES: dict[str, tuple[Callable[[], Any], str]] = {
    "no text": (lambda: m.wer(["a", 3], ["a", "b"]), r"`reference` must be text in every row, got 3 in row 1"),
    "one text": (lambda: m.wer(["a"], ["a", "b"]), r"`hypothesis` must have as many rows as `reference` \(1\), got 2"),
    "no words": (lambda: m.wer([""], ["b"]), r"`reference` must not be empty in every row"),
    "no words, mer": (lambda: m.mer([""], [""]), r"`reference` must not be empty in every row"),
    "no words, wil": (lambda: m.wil([""], ["a"]), r"`reference` must not be empty in every row"),
    "tokenizer": (lambda: m.bleu(["a"], ["a"], tokenize="x"), r"`tokenize` must be one of '13a'"),
    "order": (lambda: m.chrf(["a"], ["a"], word_order=-1), r"`word_order` must lie between 0 and 8, got -1"),
    "rouge": (lambda: m.rouge(["a"], ["a"], kind="rouge3"), r"`kind` must be one of 'rouge1'"),
    "turns": (lambda: m.der([[(2, 1, "A")]], [[]]), r"`reference` must hold turns that end after they start"),
    "turn": (lambda: m.der([[(2, 1)]], [[]]), r"`reference` must hold turns \(start, end, speaker\)"),
    "recordings": (lambda: m.der(3, [[]]), r"`reference` must be a list of recordings"),
    "silence": (lambda: m.der([[]], [[]]), r"`reference` must hold some speech that is scored, got none"),
    "collar": (lambda: m.der([[(0, 1, "A")]], [[]], collar=-1), r"`collar` must be a number of seconds from 0, got -1"),
    "run": (lambda: m.ndcg({"r": {"a": 1}}, {"q": {"a": 1}}), r"`run` must answer a query of `qrels`"),
    "run first": (lambda: m.mrr({"q": {"a": 0.5}}, {"q": {"a": 1}}), r"`qrels` must hold whole grades, got 0.5"),
    "whole scores first": (
        lambda: m.ndcg({"q": {"a": 9, "b": 7, "c": 5}}, {"q": {"a": 1, "b": 0, "c": 0}}),
        r"`qrels` must hold grades, got a different number for every document, which only `run` may have",
    ),
    "category first": (lambda: m.mqm(["Style"], ["Major"], segments=[1]), r"`severity` must be Major, Minor"),
    "scores": (lambda: m.ndcg({"q": {"a": 1}}, {"q": {"a": "x"}}), r"`run` must map documents to numbers"),
    "nan": (lambda: m.ndcg({"q": {"a": 1}}, {"q": {"a": np.nan}}), r"`run` must hold finite numbers"),
    "k": (lambda: m.ndcg({"q": {"a": 1}}, {"q": {"a": 1}}, k=0), r"`k` must be at least 1, got 0"),
    "documents": (lambda: m.ndcg({"q": {"a": 1}}, {"q": {"a": 1, 2: 1}}), r"`run` must name documents by one type"),
    "thresholds": (lambda: m.net_benefit([0, 1], [0.1, 0.2], thresholds=[1.0]), r"`thresholds` must lie between 0 and"),
    "risk": (lambda: m.net_benefit([0, 1], [0.1, 2], thresholds=[0.1]), r"`probability` must lie between 0 and 1"),
    "no risk": (lambda: m.observed_expected([0, 1], [0, 0]), r"`probability` must be above 0 in some row"),
    "one class": (lambda: m.positive_likelihood_ratio([1, 1], [1, 0]), r"`truth` must hold both classes for LR\+"),
    "models": (lambda: m.nri([1, 1], [0.1, 0.2], [0.1, 0.2]), r"`truth` must hold both classes to compare two models"),
    "event": (lambda: m.concordance([1, 2], [1, 3], [1, 2]), r"`event` must be 0 or 1 in every row, got 3"),
    "no pair": (lambda: m.concordance([1, 2], [0, 0], [1, 2]), r"`event` must leave at least one pair"),
    "zero": (lambda: m.mape([0, 1], [1, 1]), r"`truth` must not be 0 for a percentage error, got 0 in row 0"),
    "scale": (lambda: m.mase([1, 1], [1, 1], [1, 0]), r"`scale` must be above 0 in every row"),
    "q": (lambda: m.pinball_loss([1], [1], q=2), r"`q` must lie between 0 and 1, got 2"),
    "limits": (lambda: m.interval_share([1], [2], [1]), r"`low` must not lie above `high`, got 2 and 1 in row 0"),
    "constant": (lambda: m.spearman([1, 1], [1, 2]), r"`x` must vary over the rows, got 1 in every one"),
    "members": (lambda: m.crps([1.0], np.ones((1, 0))), r"`ensemble` must have at least one member"),
    "one rating": (lambda: m.krippendorff_alpha([[1], [2]]), r"`ratings` must have an item with two ratings"),
    "gaps": (lambda: m.fleiss_kappa([[1, 2], [1, np.nan]]), r"`ratings` must have as many ratings for every item"),
    "words": (lambda: m.gwet_ac([["a", "b"]], weights="linear"), r"`ratings` must be numbers for AC2"),
    "icc": (lambda: m.icc([[1.0, 1.0], [1.0, 1.0]]), r"`ratings` must have two items, two raters and different"),
    "shapes": (lambda: m.dice([[1, 0]], [[1]]), r"`predicted` must have the shape of `truth` in every case"),
    "mask": (lambda: m.dice([[0.5]], [[1]]), r"`truth` must hold a mask of whole numbers from 0"),
    "hidden": (
        lambda: m.dice(np.ma.masked_array([[1]], [[True]]), [[1]]),
        r"`truth` must have no masked values, got 1",
    ),
    "empty": (lambda: m.hausdorff([[0, 0]], [[1, 0]]), r"`truth` and `predicted` must not be empty in any case"),
    "percentile": (lambda: m.hausdorff([[1]], [[1]], percentile=0), r"`percentile` must lie above 0"),
    "classes": (lambda: m.mean_iou([[0, 3]], [[0, 1]], classes=2), r"`classes` must be larger than every class"),
    "quality": (lambda: m.panoptic_quality([2.0], [1], [1]), r"`iou` must lie between 0 and the number of matched"),
    "no success": (lambda: m.cost_per_success([1.0], [0]), r"`success` must be 1 in some row, got none"),
    "negative": (lambda: m.cost_per_success([-1.0], [1]), r"`cost` must not be negative, got -1"),
    "coco": (lambda: m.coco_ap({}, [BOX]), r"`truth` must hold the lists 'images', 'annotations' and 'categories'"),
    "results": (lambda: m.coco_ap(IMAGES, []), r"`detections` must be a list of COCO's results"),
    "one result": (lambda: m.coco_ap(IMAGES, BOX), r"`detections` must be a list of COCO's results"),
    "iou": (lambda: m.coco_ap(IMAGES, [BOX], iou=2), r"`iou` must lie above 0 and at most at 1, got 2"),
    "no objects": (lambda: m.coco_ap(IMAGES, [BOX]), r"`truth` must hold at least one object that counts, got none"),
    "image": (lambda: m.coco_ap(IMAGES, [{**BOX, "image_id": 5}]), r"`detections` must fit the images and keys"),
    "elsewhere": (
        lambda: strat.evaluate({"t": [1, 0], "p": [1, 1]}, truth="t", predicted="p", metrics="ndcg"),
        r"type strat\.measures\.ndcg\(qrels, run\)",
    ),
}


@pytest.mark.parametrize("name", list(CASES))
def test_refused_with_a_reason(name: str) -> None:
    call, message = CASES[name]
    with pytest.raises(StratError, match=message):
        call()


def test_gaps_between_groups_equal_fairlearn() -> None:
    fairness = pytest.importorskip("fairlearn.metrics")
    rng = np.random.default_rng(1)
    truth, group = rng.integers(0, 2, 600), rng.choice(["a", "b", "c"], 600)
    predicted = np.where(rng.random(600) < 0.6 + 0.1 * (group == "b"), truth, 1 - truth)
    table = {"truth": truth, "predicted": predicted, "group": group}
    metrics = ["recall", "false_positive_rate"]
    result = strat.evaluate(table, truth="truth", predicted="predicted", by="group", metrics=metrics)
    odds = fairness.equalized_odds_difference(truth, predicted, sensitive_features=group)
    both = result.equalized_odds()
    assert both.difference.value == pytest.approx(odds, abs=1e-12)
    ratio = fairness.equalized_odds_ratio(truth, predicted, sensitive_features=group)
    assert both.ratio.value == pytest.approx(ratio, abs=1e-12)
    parity = fairness.demographic_parity_difference(truth, predicted, sensitive_features=group)
    chosen = strat.evaluate(table, score="predicted", by="group", metrics="mean").groups["mean"]
    assert chosen.gap().value == pytest.approx(parity, abs=1e-12)
    parity_ratio = fairness.demographic_parity_ratio(truth, predicted, sensitive_features=group)
    assert chosen.ratio().value == pytest.approx(parity_ratio, abs=1e-12)

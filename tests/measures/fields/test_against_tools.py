"""Measures of fields equal their reference tools: jiwer, sacrebleu, rouge-score, trec_eval, pycocotools and others."""

from __future__ import annotations

import contextlib
import importlib
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy
from scipy.integrate import trapezoid

import strat
from strat import measures as m

WORDS = np.array(["the", "cat", "dog", "sat", "on", "mat", "a", "Ran.", "far,", "away", "it's", "42"])


def sentences(seed: int, n: int = 150) -> tuple[list[str], list[str]]:
    rng = np.random.default_rng(seed)
    reference = [" ".join(rng.choice(WORDS, rng.integers(1, 18))) for _ in range(n)]
    hypothesis = [
        " ".join(w if rng.random() < 0.8 else rng.choice(WORDS) for w in text.split() if rng.random() < 0.93)
        for text in reference
    ]
    hypothesis[0] = ""
    hypothesis[1] = reference[1] + " more words at the end"
    return reference, hypothesis


@pytest.mark.parametrize("seed", range(3))
def test_speech_equals_jiwer(seed: int) -> None:
    jiwer = pytest.importorskip("jiwer")
    reference, hypothesis = sentences(seed)
    words = jiwer.process_words(reference, hypothesis)
    for ours, value in ((m.wer, words.wer), (m.mer, words.mer), (m.wil, words.wil)):
        assert float(ours(reference, hypothesis).value()) == pytest.approx(value, abs=1e-12)
    assert float(m.cer(reference, hypothesis).value()) == pytest.approx(jiwer.cer(reference, hypothesis), abs=1e-12)
    counts = m.word_errors(reference, hypothesis)
    for name in ("hits", "substitutions", "deletions", "insertions"):
        assert counts[name].sum() == getattr(words, name)


@pytest.mark.parametrize("seed", range(3))
def test_translation_equals_sacrebleu(seed: int) -> None:
    sacrebleu = pytest.importorskip("sacrebleu")
    reference, hypothesis = sentences(seed, 60)
    assert float(m.bleu(reference, hypothesis).value()) == pytest.approx(
        sacrebleu.corpus_bleu(hypothesis, [reference]).score, abs=1e-9
    )
    for order in (0, 2):
        assert float(m.chrf(reference, hypothesis, word_order=order).value()) == pytest.approx(
            sacrebleu.corpus_chrf(hypothesis, [reference], word_order=order).score, abs=1e-9
        )
    assert float(m.ter(reference, hypothesis).value()) == pytest.approx(
        sacrebleu.corpus_ter(hypothesis, [reference]).score, abs=1e-9
    )


def test_bleu_of_few_words_equals_sacrebleu() -> None:
    sacrebleu = pytest.importorskip("sacrebleu")
    for hypothesis, reference in (
        ("a b c d e", "a x c y e"),
        ("a b", "a b"),
        ("", "a b"),
        ("q r s t u", "a b c d e"),
        ("a b c d", "a b c d e f g h"),
        ("a b c q r s t", "a b c x y z"),
    ):
        expected = sacrebleu.corpus_bleu([hypothesis], [[reference]], force=True).score
        assert float(m.bleu([reference], [hypothesis]).value()) == pytest.approx(expected, abs=1e-9), hypothesis


def test_bleu_carries_the_signature() -> None:
    sacrebleu = pytest.importorskip("sacrebleu")
    reference, hypothesis = sentences(1, 40)
    metric = sacrebleu.metrics.BLEU(lowercase=True)
    metric.corpus_score(hypothesis, [reference])
    estimate = strat.estimate(m.bleu(reference, hypothesis, lowercase=True), on=strat.Design.simple_random(n=40))
    (note,) = (note for note in estimate.notes if note.code == "signature")
    assert str(metric.get_signature()) in note


@pytest.mark.parametrize("kind", ["rouge1", "rouge2", "rougeL"])
def test_rouge_equals_rouge_score(kind: str) -> None:
    rouge_scorer = pytest.importorskip("rouge_score.rouge_scorer")
    reference, hypothesis = sentences(4)
    scorer = rouge_scorer.RougeScorer([kind])
    expected = np.mean([scorer.score(a, b)[kind].fmeasure for a, b in zip(reference, hypothesis, strict=True)])
    assert float(m.rouge(reference, hypothesis, kind=kind).value()) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_retrieval_equals_trec_eval(seed: int) -> None:
    """With ties, grades below 0, documents that nobody judged and scores that single precision makes equal."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    rng = np.random.default_rng(seed)
    run, qrels = {}, {}
    for i in range(40):
        judged, given = (rng.choice(150, n, replace=False) for n in (40, 70))
        qrels[f"q{i}"] = {f"d{j}": int(rng.integers(-1, 4)) for j in judged}
        run[f"q{i}"] = {f"d{j}": float(rng.integers(0, 30)) / 7 + 1e-10 * rng.random() for j in given}
    names = {
        "ndcg": ("ndcg", None),
        "ndcg_cut_10": ("ndcg", 10),
        "map": ("map", None),
        "map_cut_10": ("map", 10),
        "recip_rank": ("mrr", None),
        "P_10": ("p", 10),
        "recall_10": ("recall", 10),
        "bpref": ("bpref", None),
    }
    wanted = {"ndcg", "ndcg_cut.10", "map", "map_cut.10", "recip_rank", "P.10", "recall.10", "bpref"}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, wanted).evaluate(run)
    for name, (measure, k) in names.items():
        table = m.per_query(qrels, run, measure=measure, k=k)
        np.testing.assert_allclose(table[measure], [theirs[q][name] for q in table["query"]], atol=1e-12, err_msg=name)
    mean = np.mean([one["ndcg_cut_10"] for one in theirs.values()])
    assert float(m.ndcg(qrels, run, k=10).value()) == pytest.approx(mean, abs=1e-12)


def coco(seed: int, images: int = 40) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    rng = np.random.default_rng(seed)
    objects, results = [], []
    for image in range(images):
        for _ in range(rng.integers(0, 6)):
            box = [*rng.uniform(0, 80, 2).round(2), *rng.uniform(8, 40, 2).round(2)]
            category = int(rng.integers(1, 4))
            one = {"image_id": image, "category_id": category, "bbox": box}
            crowd = int(rng.random() < 0.1)
            objects.append({**one, "id": len(objects) + 1, "area": box[2] * box[3], "iscrowd": crowd})
            for _ in range(rng.integers(0, 3)):
                shifted = [float(v) for v in np.array(box) + rng.normal(0, 2.0, 4).round(2)]
                results.append({**one, "bbox": shifted, "score": round(rng.random(), 1)})
        results.append({"image_id": image, "category_id": int(rng.integers(1, 4)), "bbox": [0.0, 0.0, 9.0, 9.0],
                        "score": round(rng.random(), 2)})  # fmt: skip
    sheet = {"images": [{"id": i} for i in range(images)], "categories": [{"id": c} for c in (1, 2, 3, 4)]}
    return {**sheet, "annotations": objects}, results


def pycocotools_summary(truth: dict[str, Any], results: list[dict[str, Any]], kind: str = "bbox") -> Any:
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    with contextlib.redirect_stdout(io.StringIO()):
        gold = COCO()
        gold.dataset = json.loads(json.dumps(truth))
        gold.createIndex()
        evaluation = COCOeval(gold, gold.loadRes(json.loads(json.dumps(results))), kind)
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    return evaluation.stats


@pytest.mark.parametrize("seed", range(3))
def test_detection_equals_pycocotools(seed: int) -> None:
    pytest.importorskip("pycocotools")
    truth, results = coco(seed)
    stats = pycocotools_summary(truth, results)
    for place, iou in ((0, None), (1, 0.5), (2, 0.75)):
        assert float(m.coco_ap(truth, results, iou=iou).value()) == pytest.approx(stats[place], abs=1e-12)
    assert float(m.coco_ar(truth, results).value()) == pytest.approx(stats[8], abs=1e-12)


def test_detection_of_weighted_images_is_that_of_copies() -> None:
    """Weight 2 is the image twice, weight 0 the image absent; scores without ties, which copies would break."""
    pytest.importorskip("pycocotools")
    truth, results = coco(5)
    for place, one in enumerate(results):
        one["score"] = (place * 37 % 1009) / 1009
    times = np.arange(40) % 3
    copies: dict[str, Any] = {"images": [], "annotations": [], "categories": truth["categories"]}
    doubled = []
    for image, number in enumerate(times):
        for copy in range(number):
            new = image + 1000 * copy
            copies["images"].append({"id": new})
            for one in truth["annotations"]:
                if one["image_id"] == image:
                    copies["annotations"].append({**one, "image_id": new, "id": len(copies["annotations"]) + 1})
            doubled += [{**one, "image_id": new} for one in results if one["image_id"] == image]
    expected = pycocotools_summary(copies, doubled)[8]
    assert float(m.coco_ar(truth, results).value(times)) == pytest.approx(expected, abs=1e-12)
    ours = float(m.coco_ap(truth, results).value(times))
    assert ours == pytest.approx(float(m.coco_ap(copies, doubled).value()), abs=0.01)  # 101 recalls fall a little apart


def test_detection_se_equals_leaving_images_out() -> None:
    pytest.importorskip("pycocotools")
    design = strat.Design.simple_random(n=40)
    for measure in (m.coco_ap, m.coco_ar):
        statistic = measure(*coco(7))
        closed = strat.estimate(statistic, on=design).se
        assert closed == pytest.approx(strat.estimate(statistic, on=strat.jackknife(design)).se, rel=0.12)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
def test_alpha_equals_krippendorff(level: str) -> None:
    krippendorff = pytest.importorskip("krippendorff")
    rng = np.random.default_rng(2)
    ratings = rng.integers(1, 5, (40, 4)).astype(float)
    ratings[:, 1] = np.where(rng.random(40) < 0.7, ratings[:, 0], ratings[:, 1])
    ratings[rng.random(ratings.shape) < 0.2] = np.nan
    expected = krippendorff.alpha(ratings.T, level_of_measurement=level)
    assert float(m.krippendorff_alpha(ratings, level=level).value()) == pytest.approx(expected, abs=1e-12)


def test_fleiss_equals_statsmodels() -> None:
    inter_rater = pytest.importorskip("statsmodels.stats.inter_rater")
    ratings = np.random.default_rng(1).integers(0, 3, (50, 4))
    expected = inter_rater.fleiss_kappa(inter_rater.aggregate_raters(ratings)[0])
    assert float(m.fleiss_kappa(ratings).value()) == pytest.approx(expected, abs=1e-12)


def test_gwet_by_hand() -> None:
    """AC1 and AC2 from their definitions, item by item, with gaps (Gwet 2008, 2014)."""
    rng = np.random.default_rng(3)
    ratings = rng.integers(1, 5, (30, 3)).astype(float)
    ratings[rng.random(ratings.shape) < 0.15] = np.nan
    for weights, near in (
        ("identity", lambda a, b: float(a == b)),
        ("linear", lambda a, b: 1 - abs(a - b) / 3),
        ("quadratic", lambda a, b: 1 - (a - b) ** 2 / 9),
    ):
        agree, shares = [], []
        for row in ratings:
            given = [v for v in row if not np.isnan(v)]
            pairs = [near(a, b) for i, a in enumerate(given) for j, b in enumerate(given) if i != j]
            agree += [np.mean(pairs)] if pairs else []
            shares += [[given.count(v) / len(given) for v in (1, 2, 3, 4)]] if given else []
        share = np.mean(shares, axis=0)
        scale = sum(near(a, b) for a in range(1, 5) for b in range(1, 5)) / (4 * 3)
        chance = scale * sum(share * (1 - share))
        expected = (np.mean(agree) - chance) / (1 - chance)
        assert float(m.gwet_ac(ratings, weights=weights).value()) == pytest.approx(expected, abs=1e-12)


def test_ranks_equal_scipy() -> None:
    rng = np.random.default_rng(1)
    x = rng.integers(0, 20, 200).astype(float)
    y = (x + rng.normal(0, 6, 200)).round()
    assert float(m.spearman(x, y).value()) == pytest.approx(scipy.stats.spearmanr(x, y)[0], abs=1e-12)
    assert float(m.kendall(x, y).value()) == pytest.approx(scipy.stats.kendalltau(x, y)[0], abs=1e-12)


def test_forecasts_equal_scikit_learn() -> None:
    from sklearn import metrics

    rng = np.random.default_rng(1)
    truth = rng.normal(5, 1, 100)
    predicted = truth + rng.normal(0, 1, 100)
    assert float(m.mape(truth, predicted).value()) == pytest.approx(
        metrics.mean_absolute_percentage_error(truth, predicted), abs=1e-12
    )
    for q in (0.1, 0.5, 0.9):
        assert float(m.pinball_loss(truth, predicted, q=q).value()) == pytest.approx(
            metrics.mean_pinball_loss(truth, predicted, alpha=q), abs=1e-12
        )


def test_crps_is_the_integral_of_squared_distances() -> None:
    rng = np.random.default_rng(3)
    members, truth = rng.normal(size=(5, 7)), rng.normal(size=5)
    grid = np.linspace(-8, 8, 160_001)
    below = (members[:, :, None] <= grid).mean(axis=1)
    expected = trapezoid((below - (grid >= truth[:, None])) ** 2, grid, axis=1).mean()
    assert float(m.crps(truth, members).value()) == pytest.approx(expected, abs=1e-3)


def test_likelihood_ratios_equal_scikit_learn() -> None:
    from sklearn.metrics import class_likelihood_ratios

    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 100)
    predicted = np.where(rng.random(100) < 0.7, truth, 1 - truth)
    plus, minus = class_likelihood_ratios(truth, predicted)
    assert float(m.positive_likelihood_ratio(truth, predicted).value()) == pytest.approx(plus, abs=1e-12)
    assert float(m.negative_likelihood_ratio(truth, predicted).value()) == pytest.approx(minus, abs=1e-12)


def test_concordance_by_pairs_and_as_an_area() -> None:
    rng = np.random.default_rng(1)
    time, event, risk = rng.integers(1, 9, 60), rng.integers(0, 2, 60), rng.integers(0, 6, 60)
    agree = known = 0.0
    for i in range(60):
        for j in range(60):
            if event[i] and (time[i] < time[j] or (time[i] == time[j] and not event[j])):
                known += 1
                agree += (risk[i] > risk[j]) + 0.5 * (risk[i] == risk[j])
    assert float(m.concordance(time, event, risk).value()) == pytest.approx(agree / known, abs=1e-12)
    ill = rng.integers(0, 2, 60)  # events at one time and the others seen beyond it: the area under the ROC curve
    assert float(m.concordance(2 - ill, ill, risk).value()) == pytest.approx(float(m.auc(ill, risk).value()), abs=1e-12)


def test_mean_iou_equals_scikit_learn() -> None:
    from sklearn.metrics import jaccard_score

    rng = np.random.default_rng(1)
    truth, predicted = rng.integers(0, 4, (6, 8, 8)), rng.integers(0, 4, (6, 8, 8))
    expected = jaccard_score(truth.ravel(), predicted.ravel(), average="macro")
    assert float(m.mean_iou(list(truth), list(predicted)).value()) == pytest.approx(expected, abs=1e-12)


def test_hausdorff_equals_scipy() -> None:
    rng = np.random.default_rng(1)
    truth, predicted = rng.integers(0, 2, (4, 9, 9)), rng.integers(0, 2, (4, 9, 9))
    truth[:, 0, 0] = predicted[:, 8, 8] = 1
    directed = scipy.spatial.distance.directed_hausdorff
    expected = np.mean(
        [
            max(directed(*pair)[0], directed(*pair[::-1])[0])
            for pair in ((np.argwhere(a), np.argwhere(b)) for a, b in zip(truth, predicted, strict=True))
        ]
    )
    assert float(m.hausdorff(truth, predicted).value()) == pytest.approx(expected, abs=1e-12)


def _some_turns(rng: np.random.Generator, names: str) -> list[tuple[float, float, str]]:
    starts, lengths = rng.integers(0, 900, 6), rng.integers(20, 300, 6)
    return [(s / 100, (s + n) / 100, name) for s, n, name in zip(starts, lengths, names * 2, strict=True)]


@pytest.mark.parametrize(("collar", "skip_overlap"), [(0.0, False), (0.25, False), (0.1, True)])
def test_der_by_frames(collar: float, skip_overlap: bool) -> None:
    """Hundredths of a second counted one by one, with the best of all one-to-one matchings of speakers."""
    from itertools import permutations

    rng = np.random.default_rng(5)
    for _ in range(5):
        turns = [_some_turns(rng, names) for names in ("ABC", "xyz")]
        frames = np.arange(1300) / 100 + 0.005
        active = [
            np.array(
                [np.any([(s <= frames) & (frames < e) for s, e, w in side if w == name], axis=0) for name in names]
            )
            for side, names in zip(turns, ("ABC", "xyz"), strict=True)
        ]
        scored = np.ones(len(frames), bool)
        for start, end, _ in turns[0]:
            scored &= (np.abs(frames - start) > collar) & (np.abs(frames - end) > collar)
        if skip_overlap:
            scored &= active[0].sum(axis=0) < 2
        active = [side & scored for side in active]
        n, k = (side.sum(axis=0) for side in active)
        agreed = max(sum((active[0][i] & active[1][j]).sum() for i, j in enumerate(p)) for p in permutations(range(3)))
        expected = (np.abs(n - k).sum() + np.minimum(n, k).sum() - agreed) / n.sum()
        ours = m.der([turns[0]], [turns[1]], collar=collar, skip_overlap=skip_overlap)
        assert float(ours.value()) == pytest.approx(expected, abs=1e-9)


def test_ranks_with_ties_by_pairs() -> None:
    """Sums over pairs by halving, against every pair looked at, with weights and ties in both columns."""
    from strat.measures.fields.pairs import Lower

    rng = np.random.default_rng(3)
    for n in (1, 2, 17, 90):
        x, y = rng.integers(0, n // 3 + 1, n), rng.integers(0, n // 4 + 1, n)
        x, y = (np.unique(column, return_inverse=True)[1] for column in (x, y))
        w = rng.random(n)
        half = (np.sign(y[:, None] - y) + 1) / 2
        np.testing.assert_allclose(Lower(x, y)(w), ((x < x[:, None]) * half) @ w, atol=1e-12)
        np.testing.assert_allclose(Lower(x, y).of_equal_x(w), ((x == x[:, None]) * half) @ w, atol=1e-12)


@pytest.mark.filterwarnings("ignore")  # what the tools warn of
@pytest.mark.parametrize("share", [10, pytest.param(1, marks=pytest.mark.slow)], ids=["a tenth", "all"])
def test_the_table_of_equality_holds(share: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every measure of `python -m benchmarks fields` whose tool is installed equals it to 1e-9 on that data."""
    from benchmarks import fields_cases

    def installed(package: str, module: str | None = None) -> Any | None:
        try:
            return importlib.import_module(module or package)
        except ImportError:
            return None

    monkeypatch.setattr(fields_cases, "rival", installed)
    for size in ("SEGMENTS", "QUERIES", "ROWS", "IMAGES"):
        monkeypatch.setattr(fields_cases, size, getattr(fields_cases, size) // share)
    off = {case.name: abs(case.value(case.ours()) - case.theirs()) - case.rounding for case in fields_cases.cases()}
    assert {"wer", "bleu", "nDCG@10", "COCO AP", "Kendall", "α, ordinal", "equalized odds, ratio"} <= set(off)
    assert {name: gap for name, gap in off.items() if not gap <= 1e-9} == {}
    page = (Path(__file__).parents[3] / "docs/howto/fields.md").read_text(encoding="utf-8")
    assert [name for name in off if f"\n| {name} | " not in page] == []


def test_hausdorff_of_points_far_apart_equals_scipy() -> None:
    """Few points in a large image go through a tree, not through every pixel."""
    truth, predicted = np.zeros((2, 300, 300), int)
    truth[[3, 150], [5, 290]] = predicted[[10, 299, 40], [0, 299, 60]] = 1
    pair = np.argwhere(truth), np.argwhere(predicted)
    expected = max(scipy.spatial.distance.directed_hausdorff(*p)[0] for p in (pair, pair[::-1]))
    assert float(m.hausdorff([truth], [predicted]).value()) == pytest.approx(expected, abs=1e-12)

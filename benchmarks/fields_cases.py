"""Measures of fields, each with our statistic and its reference tool's value of the same data."""

from __future__ import annotations

import contextlib
import io
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

import strat
from benchmarks.harness import rival

WORDS = np.array([f"w{i}" for i in range(400)])
SEGMENTS, QUERIES, ROWS, IMAGES = 400, 50, 20_000, 100


@dataclass(frozen=True)
class Case:
    """One measure: the package that has it, our statistic and the tool's value of the same data, each made anew."""

    name: str
    package: str
    ours: Callable[[], Any]
    theirs: Callable[[], float]
    value: Callable[[Any], float] = lambda statistic: float(np.ravel(statistic.value())[0])
    rounding: float = 0.0  # of what the tool prints


def sentences() -> tuple[list[str], list[str]]:
    rng = np.random.default_rng(1)
    reference = [" ".join(rng.choice(WORDS, rng.integers(5, 30))) for _ in range(SEGMENTS)]
    keep = rng.random((SEGMENTS, 30)) < 0.85
    hypothesis = [
        " ".join(w if k else str(rng.choice(WORDS)) for w, k in zip(text.split(), row, strict=False))
        for text, row in zip(reference, keep, strict=True)
    ]
    return reference, hypothesis


def texts() -> Iterator[Case]:
    reference, hypothesis = sentences()
    if jiwer := rival("jiwer"):
        for name in ("wer", "cer", "mer", "wil"):
            yield Case(
                name,
                "jiwer",
                lambda name=name: getattr(strat, name)(reference, hypothesis),
                lambda name=name: getattr(jiwer, name)(reference, hypothesis),
            )
    if sacrebleu := rival("sacrebleu"):
        for name in ("bleu", "chrf", "ter"):
            n = SEGMENTS if name != "ter" else 40
            yield Case(
                name,
                "sacrebleu",
                lambda name=name, n=n: getattr(strat, name)(reference[:n], hypothesis[:n]),
                lambda name=name, n=n: getattr(sacrebleu, f"corpus_{name}")(hypothesis[:n], [reference[:n]]).score,
            )
        yield Case("chrf++", "sacrebleu", lambda: strat.chrf(reference, hypothesis, word_order=2),
                   lambda: sacrebleu.corpus_chrf(hypothesis, [reference], word_order=2).score)  # fmt: skip
    if scorer := rival("rouge-score", "rouge_score.rouge_scorer"):
        for kind in ("rouge1", "rouge2", "rougeL"):

            def mean(kind: str = kind) -> float:
                one = scorer.RougeScorer([kind])
                pairs = zip(reference[:200], hypothesis[:200], strict=True)
                return float(np.mean([one.score(a, b)[kind].fmeasure for a, b in pairs]))

            yield Case(kind, "rouge-score", lambda k=kind: strat.rouge(reference[:200], hypothesis[:200], kind=k), mean)


def speakers() -> Iterator[Case]:
    diarization = rival("pyannote.metrics", "pyannote.metrics.diarization")
    if diarization is None:
        return
    from pyannote.core import Annotation, Segment

    rng = np.random.default_rng(6)

    def turns(names: str) -> list[tuple[float, float, str]]:
        times = np.sort(rng.choice(60_000, (len(names), 40), replace=False), axis=1) / 100
        return [(t[k], t[k + 1], name) for name, t in zip(names, times, strict=True) for k in range(0, 40, 2)]

    def annotated(side: list[tuple[float, float, str]]) -> Any:
        sheet = Annotation()
        for k, (start, end, name) in enumerate(side):
            sheet[Segment(start, end), k] = name
        return sheet

    reference, hypothesis = ([turns(names) for _ in range(20)] for names in ("ABC", "xyz"))
    for collar in (0.0, 0.25):

        def theirs(collar: float = collar) -> float:
            metric = diarization.DiarizationErrorRate(collar=2 * collar)
            for one, other in zip(reference, hypothesis, strict=True):
                metric(annotated(one), annotated(other))
            return float(abs(metric))

        ours = lambda collar=collar: strat.der(reference, hypothesis, collar=collar)  # noqa: E731
        yield Case(f"DER, collar {collar:g} s", "pyannote.metrics", ours, theirs)

    def part_of(name: str) -> float:
        metric = diarization.DiarizationErrorRate()
        for one, other in zip(reference, hypothesis, strict=True):
            metric(annotated(one), annotated(other))
        return float(metric[name] / metric["total"])

    for part, name in (("missed", "missed detection"), ("false_alarm", "false alarm"), ("confusion", "confusion")):
        yield Case(f"DER, {name}", "pyannote.metrics", lambda p=part: strat.der(reference, hypothesis, part=p),
                   lambda name=name: part_of(name))  # fmt: skip


def retrieval() -> Iterator[Case]:
    pytrec_eval = rival("pytrec_eval-terrier", "pytrec_eval")
    if pytrec_eval is None:
        return
    rng = np.random.default_rng(2)
    run, qrels = {}, {}
    for i in range(QUERIES):
        qrels[f"q{i}"] = {f"d{j}": int(rng.integers(0, 4)) for j in rng.choice(2000, 100, replace=False)}
        run[f"q{i}"] = {f"d{j}": float(rng.integers(0, 500)) for j in rng.choice(2000, 1000, replace=False)}
    for name, theirs, ours in (
        ("nDCG@10", "ndcg_cut.10", lambda: strat.ndcg(qrels, run, k=10)),
        ("MAP", "map", lambda: strat.mean_average_precision(qrels, run)),
        ("MRR", "recip_rank", lambda: strat.mrr(qrels, run)),
        ("P@10", "P.10", lambda: strat.precision_at_k(qrels, run, k=10)),
        ("recall@10", "recall.10", lambda: strat.recall_at_k(qrels, run, k=10)),
        ("bpref", "bpref", lambda: strat.bpref(qrels, run)),
    ):

        def mean(measure: str = theirs) -> float:
            table = pytrec_eval.RelevanceEvaluator(qrels, {measure}).evaluate(run)
            return float(np.mean([one[measure.replace(".", "_")] for one in table.values()]))

        yield Case(name, "pytrec_eval-terrier", ours, mean)


def cascade() -> Iterator[Case]:
    """ERR by gdeval, a program in Perl that prints five decimals; its topics are numbers."""
    ir_measures = rival("ir-measures", "ir_measures")
    if ir_measures is None or shutil.which("perl") is None:
        return
    rng = np.random.default_rng(10)
    documents = [f"d{j}" for j in range(60)]
    qrels = {str(i): {name: int(rng.integers(0, 5)) for name in documents[:40]} for i in range(1, 31)}
    run = {query: dict(zip(documents, rng.permutation(60).astype(float).tolist(), strict=True)) for query in qrels}
    measure = ir_measures.ERR @ 20

    def theirs() -> float:
        return float(ir_measures.calc_aggregate([measure], qrels, run)[measure])

    ours = lambda: strat.expected_reciprocal_rank(qrels, run, k=20)  # noqa: E731
    yield Case("ERR@20", "ir-measures", ours, theirs, rounding=5e-6)


def detections() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    rng = np.random.default_rng(3)
    objects: list[dict[str, Any]] = []
    results: list[dict[str, Any]] = []
    for image in range(IMAGES):
        for _ in range(8):
            box = [float(v) for v in (*rng.uniform(0, 400, 2), *rng.uniform(20, 150, 2))]
            one = {"image_id": image, "category_id": int(rng.integers(1, 21)), "bbox": box}
            objects.append({**one, "id": len(objects) + 1, "area": box[2] * box[3], "iscrowd": 0})
            for _ in range(3):
                moved = [float(v) for v in np.array(box) + rng.normal(0, 12, 4)]
                results.append({**one, "bbox": moved, "score": float(rng.random())})
    sheet = {"images": [{"id": i} for i in range(IMAGES)], "categories": [{"id": i} for i in range(1, 21)]}
    return {**sheet, "annotations": objects}, results


def vision() -> Iterator[Case]:
    if rival("pycocotools") is None:
        return
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    truth, results = detections()

    def theirs(place: int = 0) -> float:
        with contextlib.redirect_stdout(io.StringIO()):
            gold = COCO()
            gold.dataset = truth
            gold.createIndex()
            evaluation = COCOeval(gold, gold.loadRes([dict(one) for one in results]), "bbox")
            evaluation.evaluate()
            evaluation.accumulate()
            evaluation.summarize()
        return float(evaluation.stats[place])

    yield Case("COCO AP", "pycocotools", lambda: strat.coco_ap(truth, results), theirs)
    yield Case("COCO AP50", "pycocotools", lambda: strat.coco_ap(truth, results, iou=0.5), lambda: theirs(1))
    yield Case("COCO AR", "pycocotools", lambda: strat.coco_ar(truth, results), lambda: theirs(8))


def masks() -> Iterator[Case]:
    from scipy.spatial.distance import directed_hausdorff
    from sklearn import metrics

    rng = np.random.default_rng(7)
    truth = rng.integers(0, 4, (40, 64, 64))
    predicted = np.where(rng.random(truth.shape) < 0.8, truth, rng.integers(0, 4, truth.shape))
    flat = truth.ravel(), predicted.ravel()
    yield Case("mIoU", "scikit-learn", lambda: strat.mean_iou(list(truth), list(predicted)),
               lambda: metrics.jaccard_score(*flat, average="macro"))  # fmt: skip
    inside = truth == 1, predicted == 1
    both = [[mask.astype(int) for mask in side] for side in inside]
    yield Case("Dice of totals", "scikit-learn", lambda: strat.dice(*both, average="totals"),
               lambda: metrics.f1_score(inside[0].ravel(), inside[1].ravel()))  # fmt: skip

    def farthest() -> float:
        pairs = [(np.argwhere(a), np.argwhere(b)) for a, b in zip(*inside, strict=True)]
        return float(np.mean([max(directed_hausdorff(a, b)[0], directed_hausdorff(b, a)[0]) for a, b in pairs]))

    yield Case("Hausdorff", "scipy", lambda: strat.hausdorff(*both), farthest)


def numbers() -> Iterator[Case]:
    from sklearn import metrics

    rng = np.random.default_rng(4)
    x = rng.normal(10, 2, ROWS).round(2)
    y = x + rng.normal(0, 2, ROWS).round(2)
    ill, risk = rng.integers(0, 2, ROWS), rng.random(ROWS)
    for name, ours, tool in (
        ("RMSE", strat.rmse, metrics.root_mean_squared_error),
        ("MAE", strat.mae, metrics.mean_absolute_error),
        ("R²", strat.r2, metrics.r2_score),
        ("MAPE", strat.mape, metrics.mean_absolute_percentage_error),
    ):
        yield Case(name, "scikit-learn", lambda f=ours: f(x, y), lambda f=tool: float(f(x, y)))
    yield Case(
        "pinball",
        "scikit-learn",
        lambda: strat.pinball_loss(x, y, q=0.9),
        lambda: metrics.mean_pinball_loss(x, y, alpha=0.9),
    )
    yield Case(
        "LR+",
        "scikit-learn",
        lambda: strat.positive_likelihood_ratio(ill, risk > 0.5, positive=1),
        lambda: metrics.class_likelihood_ratios(ill, (risk > 0.5).astype(int))[0],
    )
    yield Case(
        "LR−",
        "scikit-learn",
        lambda: strat.negative_likelihood_ratio(ill, risk > 0.5, positive=1),
        lambda: metrics.class_likelihood_ratios(ill, (risk > 0.5).astype(int))[1],
    )
    yield Case("Spearman", "scipy", lambda: strat.spearman(x, y), lambda: scipy.stats.spearmanr(x, y)[0])
    yield Case("Kendall", "scipy", lambda: strat.kendall(x, y), lambda: scipy.stats.kendalltau(x, y)[0])

    yield Case("quantile 0.95", "numpy", lambda: strat.quantile(x, 0.95),
               lambda: float(np.quantile(x, 0.95, method="inverted_cdf")))  # fmt: skip
    if scoring := rival("scoringrules"):
        members = rng.normal(10, 3, (2_000, 20))
        yield Case("CRPS", "scoringrules", lambda: strat.crps(x[:2_000], members),
                   lambda: float(np.mean(scoring.crps_ensemble(x[:2_000], members))))  # fmt: skip


def clinical() -> Iterator[Case]:
    rng = np.random.default_rng(8)
    n = 2_000
    x = rng.normal(size=n)
    risk = scipy.special.expit(x - 1)
    ill = (rng.random(n) < scipy.special.expit(1.3 * x - 0.8)).astype(int)
    time, event = rng.exponential(np.exp(-x)).round(2) + 0.01, rng.integers(0, 2, n)
    if lifelines := rival("lifelines", "lifelines.utils"):
        yield Case("Harrell's C", "lifelines", lambda: strat.concordance(time, event, x),
                   lambda: float(lifelines.concordance_index(time, -x, event)))  # fmt: skip
    if dcurves := rival("dcurves"):
        import pandas as pd

        frame = pd.DataFrame({"ill": ill, "risk": risk})

        def benefit() -> float:
            table = dcurves.dca(data=frame, outcome="ill", modelnames=["risk"], thresholds=np.array([0.2]))
            return float(table.loc[table["model"] == "risk", "net_benefit"].iloc[0])

        yield Case("net benefit at 20 %", "dcurves", lambda: strat.net_benefit(ill, risk, thresholds=[0.2]), benefit)
    if models := rival("statsmodels", "statsmodels.api"):
        logit = np.log(risk / (1 - risk))
        yield Case("calibration slope", "statsmodels", lambda: strat.calibration_slope(ill, risk),
                   lambda: float(models.Logit(ill, models.add_constant(logit)).fit(disp=0).params[1]),
                   lambda statistic: float(np.ravel(statistic.value())[-1]))  # fmt: skip
        family = models.families.Binomial()
        yield Case("calibration intercept", "statsmodels", lambda: strat.calibration_intercept(ill, risk),
                   lambda: float(models.GLM(ill, np.ones(n), family=family, offset=logit).fit().params[0]))  # fmt: skip


def odds() -> Iterator[Case]:
    fairness = rival("fairlearn", "fairlearn.metrics")
    if fairness is None:
        return
    rng = np.random.default_rng(9)
    truth, group = rng.integers(0, 2, 2_000), rng.choice(["a", "b", "c"], 2_000)
    predicted = np.where(rng.random(2_000) < 0.6 + 0.1 * (group == "b"), truth, 1 - truth)
    table = {"truth": truth, "predicted": predicted, "group": group}
    metrics = ["recall", "false_positive_rate"]

    def ours() -> Any:
        return strat.evaluate(table, truth="truth", predicted="predicted", by="group", metrics=metrics)

    for kind in ("difference", "ratio"):
        tool = getattr(fairness, f"equalized_odds_{kind}")
        yield Case(f"equalized odds, {kind}", "fairlearn", ours,
                   lambda tool=tool: float(tool(truth, predicted, sensitive_features=group)),
                   lambda result, kind=kind: getattr(result.equalized_odds(), kind).value)  # fmt: skip

    def frame() -> Any:
        from sklearn.metrics import recall_score

        given = {"y_true": truth, "y_pred": predicted, "sensitive_features": group}
        return fairness.MetricFrame(metrics=recall_score, **given)

    for kind, name, theirs in (
        ("gap", "difference", lambda: frame().difference()),
        ("ratio", "ratio", lambda: frame().ratio()),
        ("worst", "worst group", lambda: frame().group_min()),
    ):
        yield Case(f"recall, {name}", "fairlearn", ours, lambda tool=theirs: float(tool()),
                   lambda result, kind=kind: getattr(result.groups["recall"], kind)().value)  # fmt: skip


def agreement() -> Iterator[Case]:
    rng = np.random.default_rng(5)
    ratings = rng.integers(1, 6, (ROWS, 4))
    ratings[:, 1] = np.where(rng.random(ROWS) < 0.6, ratings[:, 0], ratings[:, 1])
    if krippendorff := rival("krippendorff"):
        for level in ("nominal", "ordinal", "interval", "ratio"):
            yield Case(
                f"α, {level}",
                "krippendorff",
                lambda level=level: strat.krippendorff_alpha(ratings, level=level),
                lambda level=level: krippendorff.alpha(ratings.T, level_of_measurement=level),
            )
    if inter_rater := rival("statsmodels", "statsmodels.stats.inter_rater"):
        yield Case(
            "Fleiss' κ",
            "statsmodels",
            lambda: strat.fleiss_kappa(ratings),
            lambda: inter_rater.fleiss_kappa(inter_rater.aggregate_raters(ratings)[0]),
        )

    if irr := rival("irrCAC", "irrCAC.raw"):
        import pandas as pd

        few = pd.DataFrame(ratings[:500])
        for weights in ("identity", "linear", "quadratic"):

            def chance_corrected(weights: str = weights) -> float:
                return float(irr.CAC(few, weights=weights, digits=12).gwet()["est"]["coefficient_value"])

            ours = lambda w=weights: strat.gwet_ac(ratings[:500], weights=w)  # noqa: E731
            yield Case(f"Gwet's AC, {weights}", "irrCAC", ours, chance_corrected)
    if pingouin := rival("pingouin"):
        import pandas as pd

        few = pd.DataFrame(ratings[:500]).reset_index().melt("index")
        for kind, name in (("ICC1", "ICC(1,1)"), ("ICC2", "ICC(A,1)"), ("ICC3", "ICC(C,1)")):

            def theirs(name: str = name) -> float:
                sheet = pingouin.intraclass_corr(few, targets="index", raters="variable", ratings="value")
                return float(sheet.set_index("Type").loc[name, "ICC"])

            yield Case(kind, "pingouin", lambda kind=kind: strat.icc(ratings[:500], kind=kind), theirs)
    from sklearn.metrics import cohen_kappa_score

    pair = ratings[:, 0], ratings[:, 1]
    yield Case("Cohen's κ", "scikit-learn", lambda: strat.kappa(*pair), lambda: cohen_kappa_score(*pair))
    for weights in ("linear", "quadratic"):
        yield Case(f"Cohen's κ, {weights}", "scikit-learn", lambda w=weights: strat.kappa(*pair, weights=w),
                   lambda w=weights: cohen_kappa_score(*pair, weights=w))  # fmt: skip


def cases() -> Iterator[Case]:
    for part in (texts, speakers, retrieval, cascade, vision, masks, numbers, clinical, agreement, odds):
        yield from part()

"""One honest call of every public function, by keyword, whose arguments are made absurd one at a time."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

import strat
from strat import (
    Design,
    algebra,
    comparison,
    data,
    datasets,
    estimation,
    gaussian,
    measures,
    planning,
    protocols,
    recognition,
    verbs,
)
from strat.show import report

N = 24
TRUTH = [i % 2 for i in range(N)]
GUESS = [(i + (i % 5 == 0)) % 2 for i in range(N)]
OTHER = [(i + (i % 4 == 0)) % 2 for i in range(N)]
SCORE = [(i * 7 % 11) / 11 for i in range(N)]
SHARE = [0.1 + 0.8 * s for s in SCORE]
THREE = [[0.2, 0.3, 0.5], [0.6, 0.3, 0.1], [0.1, 0.7, 0.2]] * (N // 3)
CLASS = [2, 0, 1] * (N // 3)
MANY = [[1, 0, 1], [0, 1, 0], [1, 1, 0]] * (N // 3)
UNITS = [i // 3 for i in range(N)]
PAIRS = [i // 2 for i in range(N)]
STRATA = ["a", "b"] * (N // 2)
HALVES = ["a"] * (N // 2) + ["b"] * (N // 2)
WEIGHTS = [1.0 + i % 3 for i in range(N)]
RANKS = [1 + i % 4 for i in range(N)]
BOARD = [[0.9, 0.8, 0.7], [0.8, 0.9, 0.6], [0.7, 0.5, 0.6], [0.9, 0.7, 0.8], [0.6, 0.5, 0.4]]
FIVE = [[0.10, 0.12], [0.11, 0.09], [0.12, 0.13], [0.10, 0.14], [0.09, 0.10]]
SIX = [[0.12, 0.13], [0.13, 0.12], [0.11, 0.15], [0.14, 0.13], [0.12, 0.12]]
CLOUD = np.random.default_rng(0).normal(size=(N, 2)).tolist()
TABLE = {"t": TRUTH, "p": GUESS, "q": OTHER, "s": SCORE, "h": STRATA, "u": UNITS, "w": WEIGHTS, "i": list(range(N))}
LONG = {"system": ["a"] * N + ["b"] * N, "item": list(range(N)) * 2, "score": [float(v) for v in TRUTH + GUESS],
        "h": STRATA * 2, "u": UNITS * 2, "w": WEIGHTS * 2, "e": [0] * (2 * N)}  # fmt: skip
TEXTS = ["a b c d e", "the cat", "dog", "it is so"]
IMAGES = {"images": [{"id": 1}], "categories": [{"id": 7}], "annotations": [
    {"id": 1, "image_id": 1, "category_id": 7, "bbox": [0, 0, 9, 9], "area": 81, "iscrowd": 0}]}  # fmt: skip
LABELLED = [i % 3 < 2 for i in range(N)]
VOTES = {"left": ["a", "b", "c"] * (N // 3), "right": ["b", "c", "a"] * (N // 3),
         "winner": ["left", "right", "tie", "left"] * (N // 4), "u": UNITS, "w": SCORE, "v": WEIGHTS}  # fmt: skip
HALF = {"y": [s if known else None for s, known in zip(SHARE, LABELLED, strict=True)], "s": SCORE, "s1": [0.5] * N,
        "h": HALVES, "u": UNITS}  # fmt: skip
SUBJECTS = [i // 3 for i in range(12)]
_HALF = np.random.default_rng(1).random((12, 12)).round(3)
SQUARE = (_HALF + _HALF.T).tolist()
WIDE = np.random.default_rng(2).random((6, 6)).round(3).tolist()


@dataclass(frozen=True)
class Call:
    """A function and arguments with which it answers."""

    name: str
    function: Callable[..., Any]
    arguments: dict[str, Any]
    skip: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.name


class Maker:
    """Collects calls; an argument given as a zero-argument function is made anew for each call."""

    def __init__(self) -> None:
        self.calls: list[Call] = []

    def __call__(self, module: str, function: Any, /, *, skip: tuple[str, ...] = (), **arguments: Any) -> None:
        name = getattr(function, "func", function).__qualname__  # what a partial calls
        self.calls.append(Call(f"{module}.{name}", function, arguments, skip))


def design() -> Design:
    return Design.stratified(HALVES, units=PAIRS)


def pairs() -> Design:
    return Design.clustered(range(N), strata=PAIRS)


@cache
def estimated() -> Any:
    return strat.estimate(strat.accuracy(TRUTH, GUESS), on=design())


@cache
def curve() -> Any:
    return strat.estimate(strat.cms(RANKS, up_to=4), on=design())


@cache
def board() -> Any:
    return verbs.compare(TABLE, truth="t", predicted=["p", "q"], units="u")


@cache
def ranked() -> Any:
    return recognition.ranks(similarity=WIDE, probes=range(6), gallery=range(6))


@cache
def opened() -> Any:
    found = recognition.ranks(similarity=SQUARE, probes=range(12), gallery=range(6, 18), open_set=True)
    return recognition.open_set(found)


@cache
def verified() -> Any:
    return recognition.verification(similarity=SQUARE, probes=SUBJECTS)


def system() -> Any:
    return recognition.system_of_scores("S", similarity=SQUARE, subjects=SUBJECTS)


def images() -> Any:
    return recognition.image_array(SUBJECTS, per_subject=3)


def system4() -> Any:
    return recognition.system_of_scores("S", similarity=SQUARE, subjects=[i // 4 for i in range(12)])


def images4() -> Any:
    return recognition.image_array([i // 4 for i in range(12)], per_subject=4)


@cache
def comparisons() -> str:
    """A Parquet file of scores of subjects against subjects."""
    import polars as pl

    path = Path(tempfile.gettempdir()) / "strat_sweep_comparisons.parquet"
    sides = {"probe_subject": list("aabbccab"), "gallery_subject": list("abbcacac")}
    pl.DataFrame({**sides, "s": SCORE[:8]}).write_parquet(path)
    return str(path)


def run() -> Any:
    return recognition.run(system(), images())


def problem() -> Any:
    return gaussian.Problem([gaussian.GaussianClass(0.0), gaussian.GaussianClass(2.0)])


def plane() -> Any:
    return gaussian.Problem(
        [gaussian.GaussianClass([0.0, 0.0], np.eye(2)), gaussian.GaussianClass([2.0, 1.0], np.eye(2))]
    )


def gauss() -> Any:
    return gaussian.GaussianClass([0.0, 0.0], np.eye(2))


def rule() -> Any:
    return gaussian.linear_rule(gauss(), gaussian.GaussianClass([2.0, 1.0], np.eye(2)))


def line() -> Any:
    return planning.fit_learning_curve([10, 20, 40, 80], [0.3, 0.2, 0.16, 0.13])


def model() -> Any:
    from sklearn.naive_bayes import GaussianNB

    return GaussianNB()


def matrix() -> Any:
    return strat.ConfusionMatrix([[3, 1], [0, 4]], ["a", "b"])


def joint() -> Any:
    both = strat.stack("system", a=strat.accuracy(TRUTH, GUESS), b=strat.accuracy(TRUTH, OTHER))
    return strat.estimate(both, on=design())


def losses() -> Any:
    return measures.LossMatrix([[0, 1], [2, 0]], [0, 1])


def sign_of(points: Any) -> Any:
    return (np.asarray(points)[:, 0] > 1).astype(int)


def averaged(weights: Any) -> Any:
    return np.average(np.arange(float(N)), weights=weights)


def first(totals: Any) -> Any:
    return totals[..., 0] / totals[..., 1]


def share(truth: Any, predicted: Any, sample_weight: Any = None) -> float:
    return float(np.average(np.asarray(truth) == np.asarray(predicted), weights=sample_weight))


class Lazy:
    """An argument that is made when the call is made."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make


def _statistics(call: Maker) -> None:
    s, t = strat, {"truth": TRUTH, "predicted": GUESS}
    for f in (s.total, s.mean, s.variance):
        call("strat", f, y=SCORE)
    call("strat", s.proportion, y=TRUTH)
    for f in (s.pass_at_k, s.pass_hat_k, s.majority_at_k):
        call("strat", f, success=TRUTH, k=2, items=UNITS)
    for f in (s.mean_at_k, s.best_of_k):
        call("strat", f, score=SCORE, k=2, items=UNITS)
    call("strat", s.majority_vote, truth=UNITS, answers=GUESS, items=UNITS)
    call("strat", s.consistency, answers=GUESS, items=UNITS)
    call("strat", s.ratio, y=SCORE, x=WEIGHTS)
    call("strat", s.correlation, x=SCORE, y=WEIGHTS)
    call("strat", s.quantile, y=SCORE, q=[0.25, 0.5])
    call("strat", s.domain, statistic=Lazy(lambda: s.mean(SCORE)), where=[v == 1 for v in TRUTH])
    call("strat", s.post_stratified, statistic=Lazy(lambda: s.mean(SCORE)), by=STRATA, sizes={"a": 3.0, "b": 1.0})
    call("strat", measures.zero_one_loss, labels=["a", "b"])
    for f in (s.accuracy, s.error_rate, s.balanced_accuracy, s.mcc):
        call("strat", f, **t)
    for f in (s.f1, s.precision, s.recall, s.specificity, s.jaccard):
        call("strat", f, **t)
    call("measures", measures.negative_predictive_value, **t)
    call("measures", measures.false_positive_rate, **t)
    call("measures", measures.false_negative_rate, **t)
    call("measures", measures.selection_rate, predicted=GUESS)
    call("measures", measures.win_rate, **{name: VOTES[name] for name in ("left", "right", "winner")})
    call("measures", measures.decision_curve, truth=TRUTH, probability=SHARE, thresholds=[0.2, 0.5])
    call("measures", measures.partial_auc, truth=TRUTH, score=SCORE, specificity=0.5)
    call("strat", s.fbeta, **t, beta=2.0)
    call("strat", s.kappa, **t)
    call("strat", s.confusion, **t)
    call("strat", s.confusion_by, strata=STRATA, **t)
    call("strat", measures.selective_risk, truth=["a", "b"] * 12, predicted=["a", "refuse", "b"] * 8)
    call("strat", measures.coverage, predicted=["a", "refuse", "b"] * 8)
    call("strat", measures.expected_loss, **t, loss=Lazy(losses))
    for f in (s.auc, s.average_precision, s.det, s.roc, s.precision_recall, s.equal_error_rate,
              measures.expected_cost, measures.optimal_threshold):  # fmt: skip
        call("strat", f, truth=TRUTH, score=SCORE)
    call("strat", s.rate_at, truth=TRUTH, score=SCORE, fpr=[0.1, 0.2])
    call("strat", s.threshold_at, truth=TRUTH, score=SCORE, at=[0.1, 0.2])
    for f in (s.brier, s.calibration_curve, s.calibration_error, s.log_loss):
        call("strat", f, truth=TRUTH, probability=SHARE)
    call("strat", s.log_loss, truth=CLASS, probability=THREE)
    call("strat", s.brier, truth=CLASS, probability=THREE)
    call("strat", s.auc, truth=CLASS, score=THREE)
    call("strat", s.top_k_accuracy, truth=CLASS, score=THREE)
    for f in (measures.risk_coverage, measures.area_under_risk_coverage):
        call("strat", f, **t, confidence=SCORE)
    for f in (measures.hamming_loss, measures.subset_accuracy):
        call("strat", f, truth=MANY, predicted=MANY)
    for f in (measures.coverage_error, measures.label_ranking_loss, measures.label_ranking_average_precision):
        call("strat", f, truth=MANY, score=THREE)
    call("strat", measures.chow, probability=THREE, cost=0.2, labels=["a", "b", "c"])
    call("strat", s.cms, ranks=RANKS)
    call("strat", s.cms, ranks=RANKS, up_to=3)
    call("strat", s.mean_reciprocal_rank, ranks=RANKS)
    call("strat", s.within_rank, ranks=RANKS, k=2)
    call("strat", s.statistic, function=averaged, n=N, skip=("function",))
    call("strat", s.function_of_totals, values=[[v, 1.0] for v in SCORE], function=first, skip=("function",))
    call("strat", s.metric, function=share, **t, skip=("function", "arguments"))
    call("strat", partial(s.stack, "axis"), a=Lazy(lambda: s.mean(SCORE)), b=Lazy(lambda: s.mean(SHARE)))
    call("strat", s.equation, psi=lambda theta: np.asarray(SCORE) - theta, start=[0.0], skip=("psi", "jacobian"))
    call("strat", s.linear_regression, y=SCORE, x={"w": WEIGHTS})
    call("strat", s.logistic_regression, y=TRUTH, x={"w": SCORE}, offset=WEIGHTS)
    for f in (s.calibration_slope, s.calibration_intercept):
        call("strat", f, truth=TRUTH, probability=SHARE)
    call("strat", s.success_curve, success=TRUTH, length=WEIGHTS)
    call("strat", s.ability, correct=TRUTH, difficulty=SCORE, discrimination=WEIGHTS, by=HALVES)
    call("strat", s.ordinal_logit, y=CLASS, x={"w": SCORE})
    call("strat", s.bradley_terry, left=VOTES["left"], right=VOTES["right"], winner=VOTES["winner"],
         covariates={"w": SCORE})  # fmt: skip
    call("strat", s.two_phase, statistic=Lazy(lambda: s.mean(SCORE)), proxy=Lazy(lambda: s.mean(SHARE)),
         labelled=LABELLED, probability=[0.5] * N, strata=HALVES, weights=WEIGHTS, units=UNITS)  # fmt: skip
    call("strat", s.rogan_gladen, judged=GUESS, truth=TRUTH, labelled=LABELLED)
    call("strat", s.cuped, y=SCORE, group=STRATA, covariate=WEIGHTS)
    call("strat", s.cross_fitted, proxy=SCORE, truth=SHARE, labelled=LABELLED, units=UNITS, folds=3)
    call("strat", s.estimate, statistic=Lazy(lambda: s.mean(SCORE)), on=Lazy(design))
    call("strat", s.intraclass_correlation, y=SCORE, units=UNITS)
    call("strat", estimation.intraclass, y=SCORE, units=UNITS, permutations=9)
    call("strat", estimation.intraclass(SCORE, UNITS, permutations=9).interval, level=0.9)
    call("strat", measures.LossMatrix, values=[[0, 1], [2, 0]], labels=["a", "b"])
    call("strat", losses().decide, probability=[[0.4, 0.6], [0.9, 0.1]])
    call("strat", losses().of, truth=TRUTH, decided=GUESS)


def _fields(call: Maker) -> None:
    s, texts = strat, {"reference": TEXTS, "hypothesis": TEXTS[::-1]}
    for f in (s.wer, s.cer, s.mer, s.wil, s.bleu, s.chrf, s.ter, s.rouge, s.exact_match, s.token_f1,
              measures.word_errors):  # fmt: skip
        call("strat", f, **texts)
    turns = {"reference": [[(0.0, 1.0, "A")]], "hypothesis": [[(0.0, 2.0, "x")]]}
    for f in (s.der, measures.diarization_errors):
        call("strat", f, **turns)
    errors = {"severity": ["Major", "Minor"], "category": ["Style", "Style"]}
    call("strat", s.mqm, **errors, segments=[1, 2])
    call("strat", measures.mqm_weights, **errors)
    ranked = {"run": {"q": {"a": 2.0, "b": 1.0}}, "qrels": {"q": {"b": 1}}}
    for f in (s.ndcg, s.mean_average_precision, s.mrr, s.precision_at_k, s.recall_at_k, s.expected_reciprocal_rank,
              s.bpref, measures.per_query):  # fmt: skip
        call("strat", f, **ranked)
    call("strat", s.net_benefit, truth=TRUTH, probability=SHARE, thresholds=[0.1, 0.2])
    call("strat", s.observed_expected, truth=TRUTH, probability=SHARE)
    for f in (s.positive_likelihood_ratio, s.negative_likelihood_ratio):
        call("strat", f, truth=TRUTH, predicted=GUESS)
    for f in (s.nri, s.idi):
        call("strat", f, truth=TRUTH, old=SHARE, new=SHARE[::-1])
    call("strat", s.concordance, time=WEIGHTS, event=TRUTH, risk=SCORE)
    for f in (s.mape, s.pinball_loss, s.rmse, s.mae, s.mse, s.r2, measures.mean_error):
        call("strat", f, truth=WEIGHTS, predicted=SCORE)
    call("strat", s.mase, truth=WEIGHTS, predicted=SCORE, scale=WEIGHTS)
    call("strat", s.crps, truth=SCORE, ensemble=THREE)
    call("strat", s.interval_share, truth=SCORE, low=[0.0] * N, high=SHARE)
    for f in (s.spearman, s.kendall):
        call("strat", f, x=WEIGHTS, y=SCORE)
    for f in (s.fleiss_kappa, s.gwet_ac, s.krippendorff_alpha, s.icc):
        call("strat", f, ratings=MANY)
    for f in (s.dice, s.hausdorff, s.mean_iou):
        call("strat", f, truth=MANY, predicted=MANY[::-1])
    call("strat", s.panoptic_quality, iou=SCORE, matched=WEIGHTS, unmatched=WEIGHTS)
    call("strat", s.cost_per_success, cost=WEIGHTS, success=TRUTH)
    for f in (s.coco_ap, s.coco_ar):
        call(
            "strat", f, truth=IMAGES, detections=[{"image_id": 1, "category_id": 7, "bbox": [0, 0, 9, 9], "score": 0.9}]
        )


def _intervals(call: Maker) -> None:
    p = strat.estimation.proportions
    for f in (p.agresti_coull, p.clopper_pearson, p.jeffreys, p.korn_graubard, p.logit_interval, p.lower_bound,
              p.score_interval, p.upper_bound, p.wald, p.wilson):  # fmt: skip
        call("strat", f, successes=[3, 5], trials=[10, 20])
    for f in (p.hypergeometric_interval, p.stratified_hypergeometric_interval):
        call("strat", f, successes=[3, 5], trials=[10, 20], population=[50, 60])
    call("strat", p.rule_of_three, trials=30)
    call("strat", p.apparent_error, errors=3, trials=20)
    for f in (p.interval_coverage, p.interval_misses):
        call("strat", f, method=p.score_interval, trials=20, probability=0.3, skip=("method",))
    call("strat", estimation.actual_error, effect=2.0)
    call("strat", estimation.correlation_from_effect, effect=2.0, size=5)
    call("strat", estimation.design_effect, correlation=0.1, size=5)
    call("strat", estimation.overdispersion, p=0.3, spread=0.1, subtrials=10, draws=200)
    e = estimated()
    call("strat", e.interval, level=0.9)
    call("strat", e.interval, method="logit")
    call("strat", e.test, null=0.5)
    call("strat", e.to_dict, level=0.9)
    call("strat", e.to_frame, library="pandas")
    call("strat", e.map, function=np.sqrt, skip=("function",))
    c = curve()
    call("strat", c.band, level=0.9)
    call("strat", c.simultaneous, level=0.9)
    call("strat", c.contrast, coefficients=[1, -1, 0, 0])
    call("strat", c.plot, skip=("ax",))


def _designs(call: Maker) -> None:
    d = Design
    call("strat", d.simple_random, n=N)
    call("strat", d.simple_random, n=N, weights=WEIGHTS, population=100.0)
    call("strat", d.stratified, strata=STRATA)
    call("strat", d.stratified, strata=HALVES, units=UNITS, weights=WEIGHTS, nested=False)
    call("strat", d.stratified, strata=STRATA, population={"a": 50, "b": 60})
    call("strat", d.clustered, units=UNITS)
    call("strat", d.clustered, units=UNITS, items=list(range(N)))
    call("strat", d.systematic, order=list(range(N)))
    call("strat", d.systematic, order=list(range(N)), strata=HALVES, differences=2)
    call("strat", d.systematic, order=list(range(N)), population=10 * N, start=3)
    call("strat", d.crossed, factors={"a": UNITS, "b": [i % 3 for i in range(N)]}, weights=WEIGHTS)
    call("strat", d.blocks, units=UNITS, kinds=[i % 3 for i in range(N)])
    call("strat", d.staged, stages={"a": UNITS, "b": list(range(N))}, population={"a": 20, "b": 6})
    call("strat", d.from_columns, frame=TABLE, strata="h", weights="w")
    call("strat", d.stratified(list(range(N)), lone="certainty").collapsed, by={i: float(i % 5) for i in range(N)})
    crossed = d.crossed({"a": UNITS, "b": [i % 3 for i in range(N)]})
    call("strat", strat.variance_components, statistic=Lazy(lambda: strat.accuracy(TRUTH, GUESS)), on=crossed)
    call("strat", strat.variance_components(strat.accuracy(TRUTH, GUESS), on=crossed).se_with, a=20)
    call("strat", strat.variance_components(strat.accuracy(TRUTH, GUESS), on=crossed).intervals, level=0.9)
    call("strat", d.stratified(STRATA).reweighted, shares={"a": 0.3, "b": 0.7})
    call("strat", d.simple_random(n=N).grouped, groups=4)
    call("strat", d.simple_random(n=N).with_plan, plan=strat.Plan())
    call("strat", strat.Plan, population="simple random")
    call("strat", strat.Plan().missing_from, analysis="simple random")
    call("strat", strat.Plan().warning, design="simple random")
    for f in (strat.all_half_samples, strat.brr, strat.fay, strat.jackknife, strat.multi_array, strat.generalized):
        call("strat", f, design=Lazy(pairs))
    call("strat", strat.bootstrap, design=Lazy(design), replicates=20)
    call("strat", strat.half_samples, design=Lazy(pairs), replicates=20)
    call("strat", strat.partially_balanced, design=Lazy(pairs), replicates=4)
    call("strat", strat.given, design=Lazy(lambda: d.simple_random(n=4)), factors=np.ones((3, 4)).tolist(), scale=0.5)
    call("strat", strat.jackknife(pairs()).totals, unit_totals=[[v] for v in SCORE])
    call("strat", strat.jackknife(pairs()).factors, start=0, stop=4)
    call("strat", strat.mean(SCORE).value, weights=WEIGHTS)
    call("strat", strat.mean(SCORE).renamed, name="m")


def _matrices(call: Maker) -> None:
    m = matrix()
    call("strat", strat.ConfusionMatrix, counts=[[3, 1], [0, 4]], labels=["a", "b"])
    call("strat", strat.ConfusionMatrix.from_labels, truth=TRUTH, predicted=GUESS)
    call("strat", m.normalized, by="true")
    call("strat", m.row, label="a")
    call("strat", m.worst, number=2)
    call("strat", m.worst_pairs, number=2)
    call("strat", m.merged, groups={"a": "x", "b": "y"})
    call("strat", strat.ConfusionMatrix.read, path="/no/such/file.csv")
    call("strat", m.plot, by="true", skip=("ax",))


def _algebra(call: Maker) -> None:
    a, nine = algebra, algebra.field(9)
    for f in (nine.add, nine.subtract, nine.multiply, nine.divide):
        call("algebra", f, a=[1, 2, 3], b=[4, 5, 6])
    for f in (nine.negative, nine.inverse, nine.log, nine.trace, nine.character, nine.digits):
        call("algebra", f, a=[1, 2, 3])
    call("algebra", nine.power, a=[1, 2, 3], exponent=2)
    call("algebra", nine.exp, exponent=[1, 2])
    call("algebra", nine.order_of, element=2)
    call("algebra", nine.elements, argument="a", values=[1, 2], skip=("argument",))
    call("algebra", a.field, order=9)
    for f in (a.hadamard, a.prime_power):
        call("algebra", f, order=8)
    for f in (a.hadamard_columns, a.hadamard_order):
        call("algebra", f, columns=7)
    for f in (a.is_prime, a.is_prime_power, a.next_prime_power):
        call("algebra", f, n=7)
    for f in (a.rao_hamming, a.rotation, a.orthogonal_array):
        call("algebra", f, levels=2, columns=7)
    for f in (a.m_sequence, a.primitive_polynomial):
        call("algebra", f, levels=2, degree=3)
    for f in (a.is_balanced, a.is_fully_balanced, a.is_orthogonal):
        call("algebra", f, array=[[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]])
    call("algebra", a.is_orthogonal_multi_array, chosen=[[True, False, True, False], [False, True, False, True]],
         sizes=[2, 2])  # fmt: skip
    call("algebra", a.multi_array, sizes=[2, 2, 3])
    call("algebra", a.multi_array([2, 2, 3]).choose, start=0, stop=2)
    call("algebra", a.sylvester_rows, start=0, stop=4, columns=[0, 1, 2])
    call("algebra", a.walsh_hadamard, x=[1.0, 2.0, 3.0, 4.0])
    call("algebra", a.circular_level_sums, sequence=a.m_sequence(2, 3).tolist(), values=np.ones((7, 2, 1)).tolist())


def _comparison(call: Maker) -> None:
    call("comparison", comparison.confidence_sequence, values=SCORE, bounds=(0.0, 1.0))
    call("comparison", comparison.confidence_sequence, values=SCORE, planned=20)
    call("comparison", comparison.anytime_error, error=0.05, units=50.0, planned=100.0)
    c = comparison
    two = {"a": [row[0] for row in BOARD], "b": [row[1] for row in BOARD]}
    for f in (c.signed_rank, c.sign, c.uncorrected_t):
        call("comparison", f, **two)
    call("comparison", c.corrected_t, **two, ratio=0.1)
    call("comparison", c.bayesian_correlated_t, **two, ratio=0.1)
    call("comparison", c.bayesian_sign, **two, draws=100)
    call("comparison", c.bayesian_signed_rank, **two, draws=100)
    who, what = [i // 6 for i in range(N)], [i % 6 for i in range(N)]
    study = {"truth": [k % 2 for k in what], "score": SCORE, "reader": who, "case": what}
    call("comparison", c.readers, **study)
    call("comparison", c.readers(**study).values[0].interval, level=0.9)
    call("comparison", c.win_draw_loss, **two, higher_is_better=True)
    for f in (c.five_by_two_f, c.five_by_two_t):
        call("comparison", f, a=FIVE, b=SIX)
    folds = [[0.1, 0.2, 0.15], [0.2, 0.1, 0.12]]
    call("comparison", c.bayesian_hierarchical, a=folds, b=[[0.1, 0.1, 0.1], [0.1, 0.2, 0.1]], ratio=0.5, draws=100)
    for f in (c.friedman, c.iman_davenport, c.nemenyi, c.nemenyi_bonferroni, c.all_pairs, c.scores):
        call("comparison", f, table=BOARD, higher_is_better=True)
    for f in (c.bonferroni_dunn, c.against_control):
        call("comparison", f, table=BOARD, control=0, higher_is_better=True)
    for f in (c.benjamini_hochberg, c.bonferroni, c.hochberg, c.holm):
        call("comparison", f, pvalues=[0.01, 0.2, 0.03])
    for f in (c.hommel, c.holland, c.finner, c.li, c.rom, c.benjamini_yekutieli):
        call("comparison", f, pvalues=[0.01, 0.2, 0.03])
    call("comparison", c.bergmann_hommel, pvalues=[0.01, 0.2, 0.03], systems=3)
    for f in (c.aligned_friedman, c.quade, c.pairwise, c.family):
        call("comparison", f, table=BOARD, higher_is_better=True)
    call("comparison", c.family(BOARD, higher_is_better=True).separated, alpha=0.1)
    call("comparison", c.advise, rows="splits")
    call("comparison", c.run_test, test="wilcoxon", columns={"a": SCORE, "b": SHARE})
    call("comparison", c.shaffer, pvalues=[0.01, 0.2, 0.03], systems=3)
    call("comparison", c.adjust, pvalues=[0.01, 0.2, 0.03], method="holm")
    call("comparison", c.chance, confusion=[[3, 1], [0, 4]])
    call("comparison", c.chance([[3, 1], [0, 4]]).interval, level=0.9)
    call("comparison", c.chance([[3, 1], [0, 4]]).interval_given_sizes, level=0.9)
    call("comparison", c.random_tables, confusion=[[3, 1], [0, 4]], draws=3)
    for f in (c.table_assignments, c.table_factors, c.table_probability):
        call("comparison", f, confusion=[[3, 1], [0, 4]])
    call("comparison", c.no_information_rate, confusion=[[3, 1], [0, 4]])
    call("comparison", c.chance_of_measure, truth=TRUTH, predicted=GUESS, permutations=99)
    call("comparison", c.chance_of_measure, truth=TRUTH, score=SCORE, measure="auc", permutations=99)
    call("comparison", c.chance_of_labels, truth=TRUTH, predicted=GUESS)
    call("comparison", c.chance_within, truth=TRUTH, predicted=GUESS, units=UNITS)
    call("comparison", c.chance_between, truth=TRUTH, predicted=GUESS, units=UNITS, permutations=50)
    call("comparison", c.cochran_q, correct=[[1, 0, 1], [0, 1, 1], [1, 1, 0], [1, 1, 1]])
    for f in (c.mcnemar, c.mcnemar_exact, c.mcnemar_midp):
        call("comparison", f, truth=TRUTH, a=GUESS, b=OTHER)
    call("comparison", c.mcnemar_clustered, truth=TRUTH, a=GUESS, b=OTHER, units=UNITS)
    call("comparison", c.many, systems={"x": SCORE, "y": SHARE}, on=Lazy(design), higher_is_better=True)
    both = {"a": Lazy(lambda: strat.accuracy(TRUTH, GUESS)), "b": Lazy(lambda: strat.accuracy(TRUTH, OTHER))}
    call("comparison", c.paired, **both, on=Lazy(design), higher_is_better=True)
    call("comparison", c.unpaired, **both, on_a=Lazy(design), on_b=Lazy(design), higher_is_better=True)
    call("comparison", c.randomization, **both, on=Lazy(design), permutations=50)
    call("comparison", c.stratified_shuffling, values=SCORE, system=STRATA, strata=UNITS, permutations=50)
    call(
        "comparison",
        c.units_for,
        pilot=Lazy(lambda: strat.estimate(strat.accuracy(TRUTH, GUESS), on=design())),
        width=0.1,
    )
    call("comparison", c.of_estimate, joint=Lazy(joint), higher_is_better=True)
    call("comparison", c.sign_critical, n=20, alpha=0.05)
    call("comparison", c.signed_rank_critical, n=20, alpha=0.05)
    call("comparison", c.split_ratio, folds=10)
    call("comparison", c.split_ratio, testing=10, training=90)
    call("comparison", c.studentized_range_quantile, alpha=0.05, systems=4)
    call("comparison", c.studentized_range_tail, q=3.0, systems=4)
    b = c.many({"x": SCORE, "y": SHARE, "z": WEIGHTS}, on=design(), higher_is_better=True)
    for f in (b.critical, b.intervals, b.ranks, b.groups, b.winner):
        call("comparison", f, level=0.9)
    call("comparison", b.rank, system="x")
    call("comparison", b.pvalues, adjust="max-t")
    p = c.paired(strat.accuracy(TRUTH, GUESS), strat.accuracy(TRUTH, OTHER), on=design(), higher_is_better=True)
    call("comparison", p.interval, level=0.9)
    call("comparison", p.equivalence, margin=0.1)
    call("comparison", p.noninferiority, margin=0.1, baseline="B")
    for f in (c.nemenyi(BOARD, higher_is_better=True).critical_difference,
              c.nemenyi(BOARD, higher_is_better=True).groups, c.nemenyi(BOARD, higher_is_better=True).different,
              c.bonferroni_dunn(BOARD, control=0, higher_is_better=True).different):  # fmt: skip
        call("comparison", f, alpha=0.1)


def _datasets(call: Maker) -> None:
    d = datasets
    call("datasets", d.benchmark, items=40, clusters=10)
    call("datasets", d.checker_board, n=20)
    call("datasets", d.clustered_predictions, units=10, per_unit=3)
    call("datasets", d.ellipses, n=30)
    call("datasets", d.gaussian_classes, n=20, means=[[0, 0], [1, 1]])
    call("datasets", d.recognizer, subjects=5, images=2, dimensions=3)
    call("datasets", d.shape_colour, n=20)
    call("datasets", d.strings, n=20)


def _protocols(call: Maker) -> None:
    p, data = protocols, {"X": CLOUD, "y": TRUTH}
    e = Lazy(model)
    call("protocols", p.bootstrap, estimator=e, **data, replicates=5, skip=("n_jobs",))
    call("protocols", p.bounds, estimator=e, **data, skip=("n_jobs",))
    call("protocols", p.compare_protocols, estimator=e, **data, protocols=["resubstitution"], skip=("n_jobs",))
    call("protocols", p.cross_validation, estimator=e, **data, cv=3, skip=("n_jobs",))
    call("protocols", p.nested_cross_validation, estimator=e, **data, cv=3, repeats=1, skip=("n_jobs",))
    call("protocols", p.pooled_cross_validation, estimator=e, **data, cv=3, skip=("n_jobs",))
    call("protocols", p.holdout, estimator=e, **data)
    call("protocols", p.leave_one_out, estimator=e, **data, skip=("n_jobs",))
    call("protocols", p.repeated_holdout, estimator=e, **data, repeats=3, skip=("n_jobs",))
    call("protocols", p.resubstitution, estimator=e, **data)
    grid = {"var_smoothing": [1e-9, 1e-3]}
    call("protocols", p.three_way, estimator=e, **data, grid=grid, skip=("n_jobs",))
    call("protocols", p.peeking, estimator=e, **data, grid=grid, cv=3, inner=2, skip=("n_jobs",))
    call("protocols", p.corrected_se, errors=[0.1, 0.2, 0.15], ratio=0.1)
    call("protocols", p.floating_search, **data, features=1)
    call("protocols", p.forward_selection, **data, features=1)
    call("protocols", p.backward_selection, **data, features=1)
    call("protocols", p.exhaustive_search, **data, features=1)
    call("protocols", p.single_features, **data)
    call("protocols", p.bayes_error_bounds, **data)
    call("protocols", p.soft_label_error, probabilities=THREE)
    call("protocols", p.annotator_error_bounds, votes=[["a", "b"], ["b", "b"], ["a", "a"]])
    call("protocols", p.uncertain_labels, truth=TRUTH, predicted=GUESS, noise=0.1)
    call("protocols", p.cluster_number, X=CLOUD, most=3, references=2)
    call("protocols", p.early_stopping, estimator=e, **data, steps=2, cv=3, skip=("n_jobs",))
    call("protocols", p.peak_effect, **data, runs=3)
    call("protocols", p.drift, estimator=e, **data, parts=3, skip=("n_jobs",))
    call("protocols", p.selection_stability, selected=[[0], [1], [0]], features=3)
    problem = gaussian.Problem([gaussian.GaussianClass([0.0, 0.0]), gaussian.GaussianClass([2.0, 0.0])])
    call("protocols", p.error_parts, estimator=e, **data, problem=problem, rows=100)
    call("protocols", p.quadratic_discriminant, r=0.1)
    call("protocols", p.strata_from_features, X=CLOUD, k=2)
    call("protocols", p.filter_selector, features=1)
    call("protocols", p.wrapper, estimator=e, features=1, skip=("n_jobs",))


def _recognition(call: Maker) -> None:
    r = recognition
    call("recognition", r.ranks, similarity=WIDE, probes=list(range(6)), gallery=list(range(6)))
    call("recognition", r.candidates, similarity=WIDE, gallery=list(range(6)), top=2)
    call("recognition", r.ranks_of_embeddings, probes=WIDE, gallery=WIDE, probe_subjects=list(range(6)),
         gallery_subjects=list(range(6)), score="cosine")  # fmt: skip
    call("recognition", r.cmc, probes=WIDE, gallery=WIDE, probe_ids=list(range(6)), gallery_ids=list(range(6)))
    ranks = Lazy(ranked)
    for f in (r.cms_of, r.match_curve, r.reciprocal_rank_of, r.within_rank_of, r.size_curve):
        call("recognition", f, ranks=ranks)
    call("recognition", r.open_set, ranks=Lazy(lambda: r.ranks(
        similarity=SQUARE, probes=range(12), gallery=range(6, 18), open_set=True)))  # fmt: skip
    call("recognition", r.within_rank_by_size, ranks=ranks, sizes=[2, 4])
    call("recognition", r.design_of, subject=SUBJECTS)
    call("recognition", r.image_array, subjects=SUBJECTS, per_subject=3)
    call("recognition", r.representation, gallery=[0, 1, 2], probes=[1, 2, 3])
    call("recognition", r.verification, similarity=SQUARE, probes=SUBJECTS)
    call("recognition", r.system_of_scores, name="S", similarity=SQUARE, subjects=SUBJECTS)
    call("recognition", r.system_of_embeddings, name="S", embeddings=SQUARE, subjects=SUBJECTS, score="cosine")
    call("recognition", r.run, system=Lazy(system), array=Lazy(images))
    call("recognition", r.compare_systems, systems=Lazy(lambda: [system()]), array=Lazy(images))
    call("recognition", r.compare_units, system=Lazy(system4), array=Lazy(images4))
    call("recognition", r.compare_methods, run=Lazy(run), replicates=10)
    call("recognition", r.gallery_effect, system=Lazy(system), array=Lazy(images))
    call("recognition", r.permutations, system=Lazy(system), array=Lazy(images), number=5)
    call("recognition", r.read_matrix, path="/no/such/file.npz")
    call("recognition", r.read_triples, path="/no/such/file.csv")
    call("recognition", images().column, j=0)
    call("recognition", images().probes, gallery=0)
    call("recognition", images().permuted, rng=0)
    v, o = verified(), opened()
    for f in (v.fmr_at, v.fnmr_below, v.fmr, v.fnmr):
        call("recognition", f, threshold=0.5)
    for f in (v.threshold, v.fnmr_at):
        call("recognition", f, fmr=0.1)
    call("recognition", v.det, fmr=[0.1, 0.2])
    call("recognition", v.rates, thresholds=[0.2, 0.5])
    call("recognition", o.rates, thresholds=[0.2, 0.5])
    call("recognition", o.fnir_at, fpir=[0.2])
    call("recognition", o.threshold, fpir=0.2)
    call("recognition", r.eer, genuine=[3.0, 2.5, 2.0, 0.9], impostor=[1.0, 0.5, 2.2, 0.1])
    call("recognition", r.verification_of_trials, similarity=[3.0, 2.5, 1.0, 2.0, 0.5, 2.2], probes=list("abcaab"),
         gallery=list("abcbcc"))  # fmt: skip
    call("recognition", r.verification_of_embeddings, probes=SQUARE, probe_subjects=SUBJECTS)
    call("recognition", r.verification_of_file, path=comparisons(), columns={"score": "s"})
    call("recognition", r.linked_subjects, mated=[1, 0], probes=["a", "b"], gallery=["c", "d"])
    call("recognition", r.read_trials, path="/no/such/file.txt")
    call("recognition", r.read_scores, path="/no/such/file.txt")
    call("recognition", r.read_labels, path="/no/such/file.txt")
    call("recognition", r.read_genuine_impostor, genuine="/no/such/file.txt", impostor="/no/such/file.txt")
    call("recognition", r.reidentification, similarity=SQUARE, probes=SUBJECTS, gallery=SUBJECTS)
    call("recognition", r.gallery_sampling, similarity=WIDE, probes=list(range(6)), gallery=list(range(6)))
    both = r.compare_matchers({"A": v, "B": v})
    call("recognition", r.compare_matchers, systems=Lazy(lambda: {"A": verified(), "B": verified()}))
    call("recognition", r.compare_open_sets, systems=Lazy(lambda: {"A": opened(), "B": opened()}))
    call("recognition", both.difference, a="A", b="B", measure="auc")
    searches = r.compare_open_sets({"A": opened(), "B": opened()})
    call("recognition", searches.difference_at, a="A", b="B", threshold=0.5)
    call("recognition", both.det_difference, a="A", b="B", fmr=[0.1])
    call("recognition", v.tar_at, far=0.1)
    call("recognition", v.measure, name="auc")
    call("recognition", v.min_dcf)
    call("recognition", v.act_dcf)
    call("recognition", ranked().rank, ties="expected")
    call("recognition", ranked().relative_rank, by="N")
    call("recognition", r.match_curve(ranked()).of, system=None)
    call("recognition", r.gallery_effect(system(), images()).test, rank=1)


def _tables(call: Maker) -> None:
    t = verbs
    roles: dict[str, Any] = {"truth": "t", "predicted": "p"}
    call("tables", t.evaluate, source=TABLE, **roles)
    call("tables", t.evaluate, source=TABLE, **roles, strata="h", units="u", weights="w", nested=True)
    call("tables", t.evaluate, source=TABLE, score="s")
    folds = {"estimator": Lazy(model), "X": CLOUD, "y": TRUTH, "cv": 3}
    call("strat", strat.cross_validate, **folds, scoring=["accuracy", "roc_auc"], skip=("n_jobs",))
    call("strat", strat.learning_curve, **folds, sizes=[6, 12], skip=("n_jobs",))
    both = {"models": Lazy(lambda: {"a": model(), "b": model()}), "X": CLOUD, "y": TRUTH, "cv": 3}
    call("strat", strat.compare_models, **both, skip=("n_jobs", "folder", "progress"))
    call("tables", t.check, source=TABLE, **roles, trials=50)
    call("tables", t.compare, source=TABLE, truth="t", predicted=["p", "q"])
    call("tables", t.compare, source=TABLE, score=["t", "p"])
    call("tables", t.compare, source=LONG, system="system", items="item", score="score")
    call(
        "tables",
        t.evaluate,
        source=HALF,
        score="y",
        proxy=strat.Proxy("s", probability="s1", label_strata="h"),
        units="u",
    )
    call("tables", t.votes, source=VOTES, covariates="w", units="u", weights="v")
    call("tables", t.sample, source=TABLE, size=9, judge="s", method="neyman", bins=3)
    call("tables", t.gate, source=TABLE, truth="t", baseline="p", candidate="q", margin=0.1)
    call("tables", t.gate, source=TABLE, truth="t", predicted="p", floor=0.5)
    call("tables", t.evaluation_records, board=Lazy(board), evaluation="quiz", timestamp="1700000000")
    call("report", report.board_feed, board=Lazy(board))
    call("tables", t.pass_rate, passes=8, runs=10)
    stored = str(Path(tempfile.gettempdir()) / "strat_sweep_baseline.json")
    call("tables", t.save_baseline, source=TABLE, path=stored, items="i", truth="t", predicted="p", skip=("path",))
    call("tables", t.read_baseline, path="/no/such/file.json")
    files = [str(Path(tempfile.gettempdir()) / f"strat_sweep_{name}.txt") for name in "abc"]
    for path, text in zip(files, ("a b\nc d\ne f\n", "a b\nc\ne f\n", "a b\nc\ne x\n"), strict=True):
        Path(path).write_text(text)
    call("tables", t.evaluate_files, reference=files[0], hypothesis=files[1], metrics="wer")
    call("tables", t.compare_files, reference=files[0], hypotheses=files[1:], metrics="wer")
    call("tables", data.read, source=TABLE)
    call("tables", data.read_long, source=LONG)
    call("tables", data.read_logs, source="/no/such/folder")
    call("tables", data.reduce, table=Lazy(lambda: data.read(TABLE)), roles={"truth": "t"})
    call("tables", t.sample, source=TABLE, size=6)
    call("tables", t.sample, source=TABLE, size=6, items="i", strata="h", units="u")
    read = data.read(TABLE)
    call("tables", read.column, name="t")
    call("tables", read.columns, names=["t", "p"])
    call("tables", read.numbers, name="s")
    call("tables", read.require, truth="t")
    e = t.evaluate(TABLE, **roles)
    call("tables", e.interval, name="accuracy")
    call("tables", e.naive, name="accuracy")
    call("tables", e.to_frame, library="polars")
    call("tables", e.report, path="/no/such/folder/r.html")
    call("tables", board().difference, a="p", b="q")
    call("tables", board().report, path="/no/such/folder/r.html")
    tried = t.check(TABLE, **roles, metrics="accuracy", trials=50)[0]
    call("tables", tried.__getitem__, method="default")
    call("tables", tried.lines[0].verdict, level=0.9)
    call("report", report.explain, estimate=Lazy(estimated))
    call("report", report.render, results=Lazy(lambda: e))
    call("report", report.write, results=Lazy(lambda: e), path="/no/such/folder/r.html")


def _theory(call: Maker) -> None:
    call("gaussian", gaussian.GaussianClass, mean=[0.0, 1.0], covariance=[[1.0, 0.2], [0.2, 1.0]])
    call("gaussian", gaussian.MixtureClass, components=Lazy(lambda: [gauss(), gauss()]), weights=[0.5, 0.5])
    call(
        "gaussian",
        gaussian.Problem,
        classes=Lazy(lambda: [gauss(), gaussian.GaussianClass([1.0, 1.0], np.eye(2))]),
        priors=[0.4, 0.6],
    )
    call("gaussian", gaussian.DiscreteProblem, masses=[[0.2, 0.8], [0.5, 0.5]], priors=[0.5, 0.5])
    call("gaussian", gaussian.QuadraticRule, matrix=np.eye(2).tolist(), vector=[1.0, 2.0], constant=0.5)
    call("gaussian", gaussian.CanonicalClassifier, functions=[lambda p: p[:, 0], lambda p: p[:, 1]], labels=["a", "b"],
         skip=("functions",))  # fmt: skip
    for f in (gauss().distances, gauss().log_density, plane().log_joint, plane().density, plane().posteriors,
              plane().decide, rule().score, rule().decide):  # fmt: skip
        call("gaussian", f, points=[[0.0, 1.0], [1.0, 1.0]])
    for f in (gauss().sample, plane().sample):
        call("gaussian", f, count=3)
    call("gaussian", gaussian.bayes_error, problem=Lazy(problem), samples=1000)
    for f in (gaussian.best_linear_error, gaussian.boundaries, gaussian.decision_intervals):
        call("gaussian", f, problem=Lazy(problem))
    call("gaussian", gaussian.boundary_beta, problem=Lazy(plane), code=0)
    call("gaussian", gaussian.bootstrap_bias, first=CLOUD[:12], second=CLOUD[12:])
    call("gaussian", gaussian.chow_decide, problem=Lazy(problem), points=[0.0, 1.0], cost=0.2)
    call("gaussian", gaussian.chow_rule, posteriors=THREE, cost=0.2)
    call("gaussian", gaussian.classifier_error, problem=Lazy(plane), decide=sign_of, samples=500, skip=("decide",))
    call(
        "gaussian",
        gaussian.decision_regions,
        decide=sign_of,
        points=CLOUD,
        labels=TRUTH,
        resolution=5,
        skip=("decide",),
    )
    call("gaussian", gaussian.decompose_error, rule=Lazy(rule), problem=Lazy(plane), model="linear")
    call("planning", planning.design_samples_for, degradation=0.01, features=4, distance=2.0)
    call("planning", planning.design_test_split, samples=200, features=4, distance=2.0)
    call("planning", planning.detectable_difference, rows=500, disagreement=0.2)
    call("gaussian", gaussian.distance_for_error, error=0.1)
    sets = (CLOUD[:12], CLOUD[12:])
    call("gaussian", gaussian.error_of_sets, design=sets, test=sets)
    call("gaussian", gaussian.error_on_samples, rule=Lazy(rule), first=CLOUD[:12], second=CLOUD[12:])
    call("gaussian", gaussian.error_variance, errors=[0.1, 0.2], test_samples=[20, 30])
    call("gaussian", gaussian.estimate_class, points=CLOUD, skip=("argument",))
    for f in (planning.fit_learning_curve, planning.fit_power_curve):
        call("planning", f, sizes=[10, 20, 40, 80, 160], errors=[0.3, 0.2, 0.16, 0.13, 0.12])
    call("gaussian", gaussian.holdout_moments, features=4, distance=2.0, design_samples=100, test_samples=100)
    for f in (
        gaussian.inseparable_points,
        gaussian.linear_separability,
        gaussian.separable_pairs,
        gaussian.nearest_neighbour,
    ):
        call("gaussian", f, points=CLOUD, labels=TRUTH)
    for f in (gaussian.leave_one_out_bias, gaussian.linear_degradation, gaussian.quadratic_degradation):
        call("gaussian", f, features=4, design_samples=100, distance=2.0)
    for f in (gaussian.leave_one_out_bias_between, gaussian.leave_one_out_bias_variance, gaussian.design_moments):
        call("gaussian", f, problem=Lazy(plane), design_samples=[50, 50])
    call("gaussian", gaussian.score_moments, points=[[0.0, 1.0]], problem=Lazy(plane), design_samples=[50, 50])
    call("gaussian", gaussian.simulate_bootstrap_bias, first=CLOUD[:12], second=CLOUD[12:], replicates=3)
    call("gaussian", gaussian.line_picture, problem=Lazy(problem), low=-3.0, high=5.0)
    for f in (gaussian.linear_rule, gaussian.quadratic_rule):
        call("gaussian", f, first=Lazy(gauss), second=Lazy(lambda: gaussian.GaussianClass([2.0, 1.0], 2 * np.eye(2))))
    call("gaussian", gaussian.maximum_membership, scores=THREE)
    call("gaussian", gaussian.minimum_risk, posteriors=THREE, loss=[[0, 1, 1], [1, 0, 1], [1, 1, 0]])
    call("planning", planning.neyman_allocation, sizes=[50, 30], deviations=[1.0, 2.0], total=10)
    call("planning", planning.budget_allocation, sizes=[50, 30], deviations=[1.0, 2.0], costs=[1.0, 2.0], budget=30.0)
    call("planning", planning.stratum_boundaries, score=SCORE, strata=3)
    call("planning", planning.stratum_boundaries(SCORE, strata=3).strata, score=SCORE)
    call("gaussian", gaussian.outlier_effect, design=Lazy(plane), outlier=[3.0, 3.0], code=0, samples=20)
    call("gaussian", gaussian.outlier_influence, points=[[0.0, 1.0], [1.0, 1.0]], outlier=[3.0, 3.0], kind=Lazy(gauss))
    call("gaussian", gaussian.overlap, truth=TRUTH, assigned=GUESS)
    call("planning", planning.paired_rows_for_power, difference=0.05, disagreement=0.2)
    call("gaussian", gaussian.quadratic_classifier_error, rule=Lazy(rule), problem=Lazy(plane))
    call(
        "gaussian",
        gaussian.quadratic_form_tail,
        weights=np.array([1.0, 0.5]),
        linear=np.array([0.1, 0.2]),
        constant=0.1,
    )
    call("gaussian", gaussian.reject_curve, problem=Lazy(problem), costs=[0.1, 0.2], samples=500)
    call("planning", planning.repeats_for_width, width=0.2, items=100, between=0.2, within=0.4)
    call("planning", planning.repeat_variance, score=SCORE, items=UNITS)
    call("planning", planning.RepeatVariance(8, 3.0, 0.1, 0.2).best_split, budget=100.0, item_cost=2.0)
    call("planning", planning.rows_for_auc, width=0.1, auc=0.8, prevalence=0.2)
    call("planning", planning.pilot_units_for_power, se=0.02, units=100, difference=0.02)
    call("planning", planning.pilot_units_for_width, se=0.02, units=100, width=0.04)
    call("planning", planning.rows_for_mean, width=0.1, deviation=1.0)
    call("planning", planning.rows_for_power, null=0.5, alternative=0.6)
    call("planning", planning.rows_for_width, width=0.1, proportion=0.5)
    call("planning", planning.labels_for_width, width=0.1, rows=5000, correlation=0.7, proportion=0.5)
    call("planning", planning.rows_per_unit_for_width, width=0.2, proportion=0.5, units=100, intraclass=0.1)
    call("planning", planning.units_for_width, width=0.2, proportion=0.5, rows_per_unit=5, intraclass=0.1)
    call("planning", planning.strata_for_width, width=0.2, deviation=1.0)
    call("gaussian", gaussian.scaled_outlier, kind=Lazy(gauss), distance=2.0)
    added = {"kind": Lazy(gauss), "added": [3.0, 3.0], "samples": 20, "skip": ("function",)}
    call("gaussian", gaussian.sample_influence, function=lambda one: np.log(one.covariance[0, 0]), **added)
    for f in (gaussian.bhattacharyya_distance, gaussian.mahalanobis_distance):
        call("gaussian", f, first=Lazy(gauss), second=Lazy(gauss))
    call("gaussian", gaussian.scaled_problem, features=3)
    call("gaussian", gaussian.shifted_problem, features=3, distance=2.0)
    call("gaussian", gaussian.shifted_boundary_error, problem=Lazy(problem), boundary=0.5)
    for f in (gaussian.simulate_bias, gaussian.simulate_degradation):
        call("planning", f, problem=Lazy(plane), design_samples=20, repetitions=3)
    c = line()
    for f in (c.predict, c.se, c.interval):
        call("planning", f, size=[50, 100])
    call("planning", c.samples_for, error=0.12)


@cache
def calls() -> list[Call]:
    """All of them."""
    made = Maker()
    for part in (_statistics, _fields, _intervals, _designs, _matrices, _algebra, _comparison, _datasets, _protocols,
                 _recognition, _tables, _theory):  # fmt: skip
        part(made)
    return made.calls


def ready(arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments with those made that are made for each call."""
    return {name: value.make() if isinstance(value, Lazy) else value for name, value in arguments.items()}


def names(call: Call) -> Iterator[str]:
    """The arguments to bend: those given and those with a default."""
    import inspect

    kinds = inspect.signature(call.function).parameters
    for name in [*call.arguments, *(n for n in kinds if n not in call.arguments)]:
        if name not in call.skip and name not in ("args", "arguments", "progress", "ax", "threads", "limits"):
            yield name

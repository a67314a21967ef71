"""One honest call of every public function, by keyword: what the sweep bends one argument at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np

import strat
from strat import (
    Design,
    algebra,
    comparison,
    datasets,
    estimation,
    protocols,
    recognition,
    report,
    statistics,
    tables,
    theory,
)

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
        name = getattr(function, "__qualname__", str(function))
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
    return tables.leaderboard(TABLE, truth="t", predicted=["p", "q"], units="u")


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


def run() -> Any:
    return recognition.run(system(), images())


def problem() -> Any:
    return theory.Problem([theory.GaussianClass(0.0), theory.GaussianClass(2.0)])


def plane() -> Any:
    return theory.Problem([theory.GaussianClass([0.0, 0.0], np.eye(2)), theory.GaussianClass([2.0, 1.0], np.eye(2))])


def gauss() -> Any:
    return theory.GaussianClass([0.0, 0.0], np.eye(2))


def rule() -> Any:
    return theory.linear_rule(gauss(), theory.GaussianClass([2.0, 1.0], np.eye(2)))


def line() -> Any:
    return theory.fit_learning_curve([10, 20, 40, 80], [0.3, 0.2, 0.16, 0.13])


def model() -> Any:
    from sklearn.naive_bayes import GaussianNB

    return GaussianNB()


def matrix() -> Any:
    return strat.ConfusionMatrix([[3, 1], [0, 4]], ["a", "b"])


def joint() -> Any:
    both = strat.stack("system", a=strat.accuracy(TRUTH, GUESS), b=strat.accuracy(TRUTH, OTHER))
    return strat.estimate(both, on=design())


def losses() -> Any:
    return strat.LossMatrix([[0, 1], [2, 0]], [0, 1])


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
    call("strat", s.ratio, y=SCORE, x=WEIGHTS)
    call("strat", s.correlation, x=SCORE, y=WEIGHTS)
    call("strat", s.quantile, y=SCORE, q=[0.25, 0.5])
    call("strat", s.domain, statistic=Lazy(lambda: s.mean(SCORE)), where=[v == 1 for v in TRUTH])
    call("strat", s.post_stratified, statistic=Lazy(lambda: s.mean(SCORE)), by=STRATA, sizes={"a": 3.0, "b": 1.0})
    call("strat", s.zero_one_loss, labels=["a", "b"])
    for f in (s.accuracy, s.error_rate, s.balanced_accuracy, s.mcc):
        call("strat", f, **t)
    for f in (s.f1, s.precision, s.recall, s.specificity, s.jaccard):
        call("strat", f, **t)
    call("strat", s.fbeta, **t, beta=2.0)
    call("strat", s.kappa, **t)
    call("strat", s.confusion, **t)
    call("strat", s.confusion_by, strata=STRATA, **t)
    call("strat", s.selective_risk, truth=["a", "b"] * 12, predicted=["a", "refuse", "b"] * 8)
    call("strat", statistics.coverage, predicted=["a", "refuse", "b"] * 8)
    call("strat", s.expected_loss, **t, loss=Lazy(losses))
    for f in (s.auc, s.average_precision, s.det, s.roc, s.precision_recall, s.equal_error_rate, s.expected_cost,
              s.optimal_threshold):  # fmt: skip
        call("strat", f, truth=TRUTH, score=SCORE)
    call("strat", s.rate_at, truth=TRUTH, score=SCORE, fpr=[0.1, 0.2])
    call("strat", s.threshold_at, truth=TRUTH, score=SCORE, at=[0.1, 0.2])
    for f in (s.brier, s.calibration_curve, s.calibration_error, s.log_loss):
        call("strat", f, truth=TRUTH, probability=SHARE)
    call("strat", s.log_loss, truth=CLASS, probability=THREE)
    call("strat", s.brier, truth=CLASS, probability=THREE)
    call("strat", s.auc, truth=CLASS, score=THREE)
    call("strat", s.top_k_accuracy, truth=CLASS, score=THREE)
    for f in (s.risk_coverage, s.area_under_risk_coverage):
        call("strat", f, **t, confidence=SCORE)
    for f in (s.hamming_loss, s.subset_accuracy):
        call("strat", f, truth=MANY, predicted=MANY)
    for f in (s.coverage_error, s.label_ranking_loss, s.label_ranking_average_precision):
        call("strat", f, truth=MANY, score=THREE)
    call("strat", s.chow, probability=THREE, cost=0.2, labels=["a", "b", "c"])
    call("strat", s.cms, ranks=RANKS)
    call("strat", s.cms, ranks=RANKS, up_to=3)
    call("strat", s.mean_reciprocal_rank, ranks=RANKS)
    call("strat", s.within_rank, ranks=RANKS, k=2)
    call("strat", s.statistic, function=averaged, n=N, skip=("function",))
    call("strat", s.function_of_totals, values=[[v, 1.0] for v in SCORE], function=first, skip=("function",))
    call("strat", s.metric, function=share, **t, skip=("function", "arguments"))
    call("strat", partial(s.stack, "axis"), a=Lazy(lambda: s.mean(SCORE)), b=Lazy(lambda: s.mean(SHARE)))
    call("strat", s.estimate, statistic=Lazy(lambda: s.mean(SCORE)), on=Lazy(design))
    call("strat", s.intraclass_correlation, y=SCORE, units=UNITS)
    call("strat", s.LossMatrix, values=[[0, 1], [2, 0]], labels=["a", "b"])
    call("strat", losses().decide, probability=[[0.4, 0.6], [0.9, 0.1]])
    call("strat", losses().of, truth=TRUTH, decided=GUESS)


def _intervals(call: Maker) -> None:
    s = strat
    for f in (s.agresti_coull, s.clopper_pearson, s.jeffreys, s.korn_graubard, s.logit_interval, s.lower_bound,
              s.score_interval, s.upper_bound, s.wald):  # fmt: skip
        call("strat", f, successes=[3, 5], trials=[10, 20])
    call("strat", s.wilson, share=0.4, trials=20)
    call("strat", s.rule_of_three, trials=30)
    call("strat", s.apparent_error, errors=3, trials=20)
    call("strat", s.interval_coverage, method=s.score_interval, trials=20, probability=0.3, skip=("method",))
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
    call("strat", d.stratified(STRATA).reweighted, shares={"a": 0.3, "b": 0.7})
    call("strat", d.simple_random(n=N).grouped, groups=4)
    call("strat", d.simple_random(n=N).with_plan, plan=strat.Plan())
    call("strat", strat.Plan, population="simple random")
    call("strat", strat.Plan().missing_from, analysis="simple random")
    for f in (strat.all_half_samples, strat.brr, strat.fay, strat.jackknife, strat.multi_array, strat.generalized):
        call("strat", f, design=Lazy(pairs))
    call("strat", strat.bootstrap, design=Lazy(design), replicates=20)
    call("strat", strat.half_samples, design=Lazy(pairs), replicates=20)
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
    c = comparison
    two = {"a": [row[0] for row in BOARD], "b": [row[1] for row in BOARD]}
    for f in (c.signed_rank, c.sign, c.uncorrected_t):
        call("comparison", f, **two)
    call("comparison", c.corrected_t, **two, ratio=0.1)
    call("comparison", c.win_draw_loss, **two, higher_is_better=True)
    for f in (c.five_by_two_f, c.five_by_two_t):
        call("comparison", f, a=FIVE, b=SIX)
    for f in (c.friedman, c.iman_davenport, c.nemenyi, c.nemenyi_bonferroni, c.all_pairs, c.scores):
        call("comparison", f, table=BOARD, higher_is_better=True)
    for f in (c.bonferroni_dunn, c.against_control):
        call("comparison", f, table=BOARD, control=0, higher_is_better=True)
    for f in (c.benjamini_hochberg, c.bonferroni, c.hochberg, c.holm):
        call("comparison", f, pvalues=[0.01, 0.2, 0.03])
    call("comparison", c.shaffer, pvalues=[0.01, 0.2, 0.03], systems=3)
    call("comparison", c.adjust, pvalues=[0.01, 0.2, 0.03], method="holm")
    call("comparison", c.chance, confusion=[[3, 1], [0, 4]])
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
    call("comparison", c.of_estimate, joint=Lazy(joint), higher_is_better=True)
    call("comparison", c.sign_critical, n=20, alpha=0.05)
    call("comparison", c.signed_rank_critical, n=20, alpha=0.05)
    call("comparison", c.split_ratio, folds=10)
    call("comparison", c.split_ratio, testing=10, training=90)
    call("comparison", c.split_simulation, data_sets=3, runs=3)
    call("comparison", c.studentized_range_quantile, alpha=0.05, systems=4)
    call("comparison", c.studentized_range_tail, q=3.0, systems=4)
    b = c.many({"x": SCORE, "y": SHARE, "z": WEIGHTS}, on=design(), higher_is_better=True)
    for f in (b.critical, b.intervals, b.ranks, b.groups, b.winner):
        call("comparison", f, level=0.9)
    call("comparison", b.rank, system="x")
    call("comparison", b.pvalues, adjust="max-t")
    p = c.paired(strat.accuracy(TRUTH, GUESS), strat.accuracy(TRUTH, OTHER), on=design(), higher_is_better=True)
    call("comparison", p.interval, level=0.9)
    for f in (p.equivalence, p.noninferiority):
        call("comparison", f, margin=0.1)
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
    call("protocols", p.cross_validation, estimator=e, **data, folds=3, skip=("n_jobs",))
    call("protocols", p.holdout, estimator=e, **data)
    call("protocols", p.leave_one_out, estimator=e, **data, skip=("n_jobs",))
    call("protocols", p.repeated_holdout, estimator=e, **data, repeats=3, skip=("n_jobs",))
    call("protocols", p.resubstitution, estimator=e, **data)
    grid = {"var_smoothing": [1e-9, 1e-3]}
    call("protocols", p.three_way, estimator=e, **data, grid=grid, skip=("n_jobs",))
    call("protocols", p.peeking, estimator=e, **data, grid=grid, folds=3, inner=2, skip=("n_jobs",))
    call("protocols", p.corrected_se, errors=[0.1, 0.2, 0.15], ratio=0.1)
    call("protocols", p.floating_search, **data, features=1)
    call("protocols", p.forward_selection, **data, features=1)
    call("protocols", p.peak_effect, **data, runs=3)
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
    call("recognition", r.compare_methods, made=Lazy(run), replicates=10)
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
    call("recognition", ranked().rank, ties="expected")
    call("recognition", r.match_curve(ranked()).of, system=None)
    call("recognition", r.gallery_effect(system(), images()).test, rank=1)


def _tables(call: Maker) -> None:
    t = tables
    roles: dict[str, Any] = {"truth": "t", "predicted": "p"}
    call("tables", t.evaluate, source=TABLE, **roles)
    call("tables", t.evaluate, source=TABLE, **roles, strata="h", units="u", weights="w")
    call("tables", t.evaluate, source=TABLE, score="s")
    call("tables", t.check, source=TABLE, **roles, trials=50)
    call("tables", t.leaderboard, source=TABLE, truth="t", predicted=["p", "q"])
    call("tables", t.compare, source=TABLE, scores=["t", "p"])
    call("tables", t.compare, source=LONG, system="system", item="item", score="score")
    call("tables", t.read, source=TABLE)
    call("tables", t.read_long, source=LONG)
    call("tables", t.read_logs, source="/no/such/folder")
    call("tables", t.reduce, table=Lazy(lambda: t.read(TABLE)), roles={"truth": "t"})
    call("tables", t.sample, source=TABLE, size=6)
    call("tables", t.sample, source=TABLE, size=6, items="i", strata="h", units="u")
    read = t.read(TABLE)
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
    t = theory
    call("theory", t.GaussianClass, mean=[0.0, 1.0], covariance=[[1.0, 0.2], [0.2, 1.0]])
    call("theory", t.MixtureClass, components=Lazy(lambda: [gauss(), gauss()]), weights=[0.5, 0.5])
    call(
        "theory", t.Problem, classes=Lazy(lambda: [gauss(), t.GaussianClass([1.0, 1.0], np.eye(2))]), priors=[0.4, 0.6]
    )
    call("theory", t.DiscreteProblem, masses=[[0.2, 0.8], [0.5, 0.5]], priors=[0.5, 0.5])
    call("theory", t.QuadraticRule, matrix=np.eye(2).tolist(), vector=[1.0, 2.0], constant=0.5)
    call("theory", t.CanonicalClassifier, functions=[lambda p: p[:, 0], lambda p: p[:, 1]], labels=["a", "b"],
         skip=("functions",))  # fmt: skip
    for f in (gauss().distances, gauss().log_density, plane().log_joint, plane().density, plane().posteriors,
              plane().decide, rule().score, rule().decide):  # fmt: skip
        call("theory", f, points=[[0.0, 1.0], [1.0, 1.0]])
    for f in (gauss().sample, plane().sample):
        call("theory", f, count=3)
    call("theory", t.bayes_error, problem=Lazy(problem), samples=1000)
    for f in (t.best_linear_error, t.boundaries, t.decision_intervals):
        call("theory", f, problem=Lazy(problem))
    call("theory", t.boundary_beta, problem=Lazy(plane), code=0)
    call("theory", t.bootstrap_bias, first=CLOUD[:12], second=CLOUD[12:])
    call("theory", t.chow_decide, problem=Lazy(problem), points=[0.0, 1.0], cost=0.2)
    call("theory", t.chow_rule, posteriors=THREE, cost=0.2)
    call("theory", t.classifier_error, problem=Lazy(plane), decide=sign_of, samples=500, skip=("decide",))
    call("theory", t.decision_regions, decide=sign_of, points=CLOUD, labels=TRUTH, resolution=5, skip=("decide",))
    call("theory", t.decompose_error, rule=Lazy(rule), problem=Lazy(plane), model="linear")
    call("theory", t.design_samples_for, degradation=0.01, features=4, distance=2.0)
    call("theory", t.design_test_split, samples=200, features=4, distance=2.0)
    call("theory", t.detectable_difference, rows=500, disagreement=0.2)
    call("theory", t.distance_for_error, error=0.1)
    sets = (CLOUD[:12], CLOUD[12:])
    call("theory", t.error_of_sets, design=sets, test=sets)
    call("theory", t.error_on_samples, rule=Lazy(rule), first=CLOUD[:12], second=CLOUD[12:])
    call("theory", t.error_variance, errors=[0.1, 0.2], test_samples=[20, 30])
    call("theory", t.estimate_class, points=CLOUD, skip=("argument",))
    for f in (t.fit_learning_curve, t.fit_power_curve):
        call("theory", f, sizes=[10, 20, 40, 80, 160], errors=[0.3, 0.2, 0.16, 0.13, 0.12])
    call("theory", t.holdout_moments, features=4, distance=2.0, design_samples=100, test_samples=100)
    for f in (t.inseparable_points, t.linear_separability, t.separable_pairs, t.nearest_neighbour):
        call("theory", f, points=CLOUD, labels=TRUTH)
    call("theory", t.kish, rows_per_unit=20, intraclass=0.1)
    for f in (t.leave_one_out_bias, t.linear_degradation, t.quadratic_degradation):
        call("theory", f, features=4, design_samples=100, distance=2.0)
    call("theory", t.leave_one_out_bias_between, problem=Lazy(plane), design_samples=[50, 50])
    call("theory", t.line_picture, problem=Lazy(problem), low=-3.0, high=5.0)
    for f in (t.linear_rule, t.quadratic_rule):
        call("theory", f, first=Lazy(gauss), second=Lazy(lambda: t.GaussianClass([2.0, 1.0], 2 * np.eye(2))))
    call("theory", t.maximum_membership, scores=THREE)
    call("theory", t.minimum_risk, posteriors=THREE, loss=[[0, 1, 1], [1, 0, 1], [1, 1, 0]])
    call("theory", t.neyman_allocation, sizes=[50, 30], deviations=[1.0, 2.0], total=10)
    call("theory", t.outlier_effect, design=Lazy(plane), outlier=[3.0, 3.0], code=0, samples=20)
    call("theory", t.outlier_influence, points=[[0.0, 1.0], [1.0, 1.0]], outlier=[3.0, 3.0], kind=Lazy(gauss))
    call("theory", t.overlap, truth=TRUTH, assigned=GUESS)
    call("theory", t.paired_rows_for_power, difference=0.05, disagreement=0.2)
    call("theory", t.quadratic_classifier_error, rule=Lazy(rule), problem=Lazy(plane))
    call("theory", t.quadratic_form_tail, weights=np.array([1.0, 0.5]), linear=np.array([0.1, 0.2]), constant=0.1)
    call("theory", t.reject_curve, problem=Lazy(problem), costs=[0.1, 0.2], samples=500)
    call("theory", t.repeats_for_width, width=0.2, items=100, between=0.2, within=0.4)
    call("theory", t.rows_for_mean, width=0.1, deviation=1.0)
    call("theory", t.rows_for_power, null=0.5, alternative=0.6)
    call("theory", t.rows_for_width, width=0.1, proportion=0.5)
    call("theory", t.rows_per_unit_for_width, width=0.2, proportion=0.5, units=100, intraclass=0.1)
    call("theory", t.units_for_width, width=0.2, proportion=0.5, rows_per_unit=5, intraclass=0.1)
    call("theory", t.strata_for_width, width=0.2, deviation=1.0)
    call("theory", t.scaled_outlier, kind=Lazy(gauss), distance=2.0)
    call("theory", t.scaled_problem, features=3)
    call("theory", t.shifted_problem, features=3, distance=2.0)
    call("theory", t.shifted_boundary_error, problem=Lazy(problem), boundary=0.5)
    for f in (t.simulate_bias, t.simulate_degradation):
        call("theory", f, problem=Lazy(plane), design_samples=20, repetitions=3)
    call("theory", t.table_1, repetitions=2, skip=("progress",))
    c = line()
    for f in (c.predict, c.se, c.interval):
        call("theory", f, size=[50, 100])
    call("theory", c.samples_for, error=0.12)


@cache
def calls() -> list[Call]:
    """All of them."""
    made = Maker()
    for part in (_statistics, _intervals, _designs, _matrices, _algebra, _comparison, _datasets, _protocols,
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

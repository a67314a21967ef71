"""Kuncheva, chapter 1: error estimates and tests: Examples 1.5 to 1.11 and 1.15, their tables, and the appendix."""

from __future__ import annotations

import math
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from scipy.spatial.distance import pdist
from scipy.stats import t as student

from reproduce.entries import Entry, Found, Setting, Value
from reproduce.kuncheva_data import COLOURS
from reproduce.kuncheva_data import ENTRIES as DATA_ENTRIES
from reproduce.kuncheva_printed import (
    RANKS_1_10,
    RANKS_1_11,
    TABLE_1_1,
    TABLE_1_3,
    TABLE_1_4,
    TABLE_1_A_1_A,
    TABLE_1_A_1_B,
)
from reproduce.kuncheva_splits import SplitSimulation, split_simulation
from strat import comparison, gaussian, protocols
from strat.base.validate.columns import Array
from strat.estimation.hypothesis_tests import chi2_pvalue
from strat.estimation.proportions import wald
from strat.measures.confusion_matrix import ConfusionMatrix

LETTERS = tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
NAMES = tuple(f"C{i}" for i in range(1, 12))


def figure_1_15(setting: Setting) -> Found:
    """Linear and quadratic boundaries on half of two Iris species; the book's split is not printed."""
    from sklearn.datasets import load_iris
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis

    data = load_iris(return_X_y=True)
    x, y = np.asarray(data[0])[50:, :2], np.asarray(data[1])[50:]
    order = np.random.default_rng(0).permutation(100)
    train, test = order[:50], order[50:]
    models = (
        LinearDiscriminantAnalysis().fit(x[train], y[train]),
        QuadraticDiscriminantAnalysis().fit(x[train], y[train]),
    )
    found = comparison.mcnemar(y[test], *(m.predict(x[test]) for m in models))
    value = Value("discordant objects of our split", None, found.n10 + found.n01)
    return Found((value,), (), gaussian.decision_regions(models[1].predict, x[test], y[test]).plot)


def interval_1_9(setting: Setting) -> Found:
    """(1.9): the textbook interval, on the 43 errors of Example 1.1."""
    low, high = wald(43, 256)
    p = 43 / 256
    half = 1.96 * math.sqrt(p * (1 - p) / 256)
    values = (
        Value("low", None, low, 1e-5, derived=p - half),
        Value("high", None, high, 1e-5, derived=p + half),
    )
    return Found(values, ("It is here to be compared with: it leaves [0, 1] and collapses at no errors.",))


@cache
def _letters(file: Path) -> tuple[Array, Any]:
    raw = np.genfromtxt(file, delimiter=",", dtype=str)
    return raw[:, 1:].astype(float), raw[:, 0]


def example_1_5(setting: Setting) -> Found:
    """A linear classifier on one random half of the Letter data, tested on the other."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    file = setting.file("letter-recognition.data")
    assert file is not None
    x, y = _letters(file)
    order = np.random.default_rng(0).permutation(len(y))
    train, test = order[:10_000], order[10_000:]
    said = LinearDiscriminantAnalysis().fit(x[train], y[train]).predict(x[test])
    matrix = ConfusionMatrix.from_labels(y[test], said)
    row = matrix.row("H")
    share, sd = row["H"] / sum(row.values()), math.sqrt(2 * 0.45 * 0.55 / 350)
    values = (
        Value("accuracy, %", "over 69", 100 * matrix.accuracy, holds=matrix.accuracy > 0.69, rule="above 69"),
        Value('share of "H" labelled right', None, share, 3 * sd, derived=159 / 350, note="another random half"),
    )
    return Found(values, (), matrix.plot)


def table_1_1(setting: Setting) -> Found:
    """The row of "H", read as a confusion matrix."""
    table = np.zeros((26, 26))
    table[7] = TABLE_1_1
    matrix = ConfusionMatrix(table, LETTERS)
    worst = matrix.worst(1)[0]
    value = Value("most frequent mistake", "O, 33 times", f"{worst.predicted}, {worst.count:.0f} times")
    return Found((value,), ("The row is the book's: this tries `ConfusionMatrix`, not the classifier.",))


def out_of_bag(setting: Setting) -> Found:
    """Section 1.3.4: the share of rows that a bootstrap replica leaves out."""
    from sklearn.dummy import DummyClassifier

    model, labels = DummyClassifier(), np.tile([0, 1], 500)
    made = protocols.bootstrap(model, np.zeros((1000, 1)), labels, replicates=setting.times(200, 2000))
    return Found((Value("share out of the bag", 0.37, float(made.details["out_of_bag_share"]), 5e-3),))


def example_1_6(setting: Setting) -> Found:
    """Tuning a parameter on the test rows: both curves of Figure 1.14, and how far another training set goes."""
    file = setting.file("letter-recognition.data")
    assert file is not None
    x, y = _letters(file)
    steps: Array = np.array([0.4 * 0.8**k for k in range(21)])
    training, testing = _tuning_curves(x, y, steps, 0)
    others = [100 * min(_tuning_curves(x, y, steps[6::3], seed)[1]) for seed in range(1, setting.times(6, 11))]
    best = [100 * min(testing), *others]
    spread = float(np.std(best, ddof=1))
    within = float(student.ppf(0.975, len(best) - 1)) * spread * math.sqrt(1 + 1 / len(best))
    note = f"mean of {len(best)} random training sets, sd {spread:.2f}"
    falls = testing[0] > min(testing) < testing[-1]
    steady = bool((np.diff(training) <= 2e-3).all())
    values = (
        Value("least error on the test rows, %", 21.37, float(np.mean(best)), within, note=note),
        Value("the test error falls and rises again", "yes", "yes" if falls else "no"),
        Value("the training error decreases steadily", "yes", "yes" if steady else "no", rule="no step above 0.2 %"),
    )
    picture = partial(_tuning_picture, steps, training, testing)
    return Found(values, ("protocols.peeking measures how much the choice itself gains.",), picture)


def _tuning_curves(x: Array, y: Any, steps: Array, seed: int) -> tuple[list[float], list[float]]:
    """Errors on 1,000 random training rows and on the other 19,000, for each parameter."""
    order = np.random.default_rng(seed).permutation(len(y))
    parts = (order[:1000], order[1000:])
    models = [protocols.quadratic_discriminant(r=r).fit(x[parts[0]], y[parts[0]]) for r in steps]
    first, second = ([float(np.mean(m.predict(x[rows]) != y[rows])) for m in models] for rows in parts)
    return first, second


def _tuning_picture(steps: Array, training: list[float], testing: list[float]) -> Any:
    import matplotlib.pyplot as plt

    ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")[1]
    for name, errors, colour in (("training rows", training, COLOURS[0]), ("test rows", testing, COLOURS[1])):
        ax.plot(np.arange(len(steps)), 100 * np.array(errors), "o-", color=colour, label=name)
    ax.set(xlabel="step k of r = 0.4 · 0.8^k", ylabel="error, %")
    ax.legend(frameon=False)
    return ax


def example_1_7(setting: Setting) -> Found:
    """McNemar's test of two classifiers on the Iris data, from the printed confusion matrices."""
    truth = ["versicolor"] * 25 + ["virginica"] * 25
    linear = ["versicolor"] * 20 + ["virginica"] * 5 + ["versicolor"] * 8 + ["virginica"] * 17
    quadratic = ["versicolor"] * 20 + ["virginica"] * 5 + ["versicolor"] * 14 + ["virginica"] * 11
    found = comparison.mcnemar(truth, linear, quadratic)
    values = (
        Value("N11", 31, found.n11),
        Value("N10", 0, found.n10, erratum=18, right=6),
        Value("N01", 6, found.n01, erratum=18, right=0),
        Value("N00", 13, found.n00),
        Value("statistic (1.10)", 4.1667, found.statistic, 5e-5),
        Value("level of the tabulated 3.841", 0.05, chi2_pvalue(3.841, 1), 5e-5),
        Value(
            "p of the book's program, which takes the exact branch",
            None,
            comparison.mcnemar_exact(truth, linear, quadratic).pvalue,
            note="point 23 of the errata",
        ),
    )
    return Found(values)


def example_1_8(setting: Setting) -> Found:
    """What overlapping training sets do to the spread of a mean error, and to the mean itself (Figure 1.17)."""
    runs = setting.times(200, 2000)
    drawn = split_simulation(data_sets=runs)
    noise = math.sqrt(1 / 400 + 1 / (2 * runs))  # of the ratio of two standard deviations, of 200 and of `runs` sets
    pairs = (
        ("spread of shuffled splits σ_e", 0.0711, drawn.sd_shuffled),
        ("spread of independent sets σ_q", 0.0347, drawn.sd_independent),
        ("mean of s/√30", 0.0320, drawn.se_uncorrected),
        ("mean of the corrected standard error", 0.0667, drawn.se_corrected),
    )
    se = 100 * drawn.sd_independent * math.sqrt(1 / runs + 1 / 200)
    note = f"se of the difference {se:.2f}; 15.9 is Bayes' error"
    mean = Value(
        "mean error of independent sets, %", 15.9, 100 * drawn.mean_independent, 3 * se, note=note,
        erratum=35, right=17.5, right_within=3 * se,
    )  # fmt: skip
    least = gaussian.Problem([gaussian.GaussianClass([-1.0, 0.0]), gaussian.GaussianClass([1.0, 0.0])], [0.5, 0.5])
    bayes = Value("Bayes' error of the two classes, %", 15.9, 100 * gaussian.bayes_error(least).value, 0.05)
    limits = (3 * noise, 3 * noise, 0.1, 0.1)  # an average over 200 sets is less noisy than a spread of them
    spreads = [
        Value(what, told, ours, limit * told, note=f"{runs} data sets")
        for (what, told, ours), limit in zip(pairs, limits, strict=True)
    ]
    return Found((bayes, mean, *spreads), (), partial(_histograms, drawn))


def _histograms(drawn: SplitSimulation) -> Any:
    import matplotlib.pyplot as plt

    ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")[1]
    edges = np.linspace(0, 0.45, 46).tolist()
    for name, errors, colour in (
        ("shuffled splits of one set", drawn.shuffled, COLOURS[0]),
        ("independent sets", drawn.independent, COLOURS[1]),
    ):
        ax.hist(errors, bins=edges, alpha=0.6, color=colour, label=name)
    ax.set(xlabel="average error of 30 runs", ylabel="data sets")
    ax.legend(frameon=False)
    return ax


A_1_9 = (7.4, 18.1, 13.7, 17.5, 13.0, 12.5, 8.9, 12.1, 12.4, 7.4)
B_1_9 = (9.9, 11.0, 5.7, 12.5, 2.7, 6.6, 10.6, 6.4, 12.5, 7.8)


def example_1_9(setting: Setting) -> Found:
    """The paired t-test with corrected variance."""
    plain = comparison.uncorrected_t(A_1_9, B_1_9)
    fair = comparison.corrected_t(A_1_9, B_1_9, ratio=comparison.split_ratio(folds=10))
    values = (
        Value("mean difference", 3.73, plain.mean, 5e-3),
        Value("standard deviation", 4.5090, plain.se * math.sqrt(10), 5e-5),
        Value("standard error", 1.4259, plain.se, 5e-5),
        Value("p", 0.0280, plain.pvalue, 5e-5),
        Value("amended standard error", 2.0717, fair.se, 5e-5),
        Value("corrected p", 0.1053, fair.pvalue, 5e-5),
    )
    return Found(values)


def table_1_4(setting: Setting) -> Found:
    """Ranks of eleven models on twenty data sets."""
    made = comparison.scores(np.array(TABLE_1_3), higher_is_better=False).ranks
    same = int((made == np.array(TABLE_1_4)).sum())
    return Found((Value("ranks that agree, of 220", 220, same), *_ranks(RANKS_1_10, made.mean(axis=0))))


def _ranks(told: tuple[float, ...], ours: Array) -> list[Value]:
    return [Value(f"average rank of {n}", t, float(r), 6e-3) for n, t, r in zip(NAMES, told, ours, strict=True)]


def example_1_10(setting: Setting) -> Found:
    """Friedman, and Iman and Davenport."""
    table = np.array(TABLE_1_3)
    plain = comparison.friedman(table, higher_is_better=False, ties=False, method="chi-squared")
    corrected = comparison.friedman(table, higher_is_better=False)
    amended = comparison.iman_davenport(table, higher_is_better=False)
    values = (
        Value("Friedman (1.14)", 6.9182, plain.statistic, 5e-5),
        Value("p", 0.7331, plain.pvalue, 5e-5),
        Value("corrected for ties, as SciPy and R print", None, corrected.statistic, note="point 24 of the errata"),
        Value("Iman and Davenport (1.15)", 0.6808, amended.statistic, 5e-5),
        Value("p", 0.7415, amended.pvalue, 5e-5),
    )
    return Found(values)


def example_1_11(setting: Setting) -> Found:
    """Post-hoc tests after C1 was made better."""
    table = np.array(TABLE_1_3)
    table[:, 0] = 0.5 * (table[:, 0] - 0.8)
    named = dict(zip(NAMES, table.T, strict=True))
    plain = comparison.friedman(named, higher_is_better=False, ties=False, method="chi-squared")
    amended = comparison.iman_davenport(named, higher_is_better=False)
    pairs = comparison.nemenyi_bonferroni(named, higher_is_better=False)
    control = comparison.bonferroni_dunn(named, control="C1", higher_is_better=False, alternative="greater")
    beaten = [n for n, p in zip(control.others, control.pvalues, strict=True) if p < 0.05]
    values = [
        *_ranks(RANKS_1_11, plain.ranks),
        Value("Friedman", 21.7273, plain.statistic, 5e-5),
        Value("p", 0.0166, plain.pvalue, 5e-5),
        Value("Iman and Davenport", 2.3157, amended.statistic, 5e-5),
        Value("p", 0.0136, amended.pvalue, 5e-5),
        Value('"Nemenyi" (1.16): pairs', "C1–C5, C1–C10", ", ".join(f"{a}–{b}" for a, b in pairs.different())),
        Value(
            "Bonferroni and Dunn: C1 is not better than",
            "C3, C6",
            ", ".join(n for n in control.others if n not in beaten),
        ),
    ]
    demsar = comparison.nemenyi(named, higher_is_better=False).different()
    note = f"(1.16) is Bonferroni's (point 19); Demšar's Nemenyi finds {', '.join(f'{a}–{b}' for a, b in demsar)}."
    return Found(tuple(values), (note,))


def example_1_15(setting: Setting) -> Found:
    """The peak effect of feature selection on the sonar data (Figure 1.24)."""
    file = setting.file("sonar.all-data")
    assert file is not None
    raw = np.genfromtxt(file, delimiter=",", dtype=str)
    made = protocols.peak_effect(raw[:, :-1].astype(float), raw[:, -1], runs=setting.times(30, 100), rng=1)
    gain, se = made.gain
    values = (
        Value(
            "fewer features do better than all",
            "yes",
            "yes" if gain > 2 * se else "no",
            note=f"+{gain:.3f} (se {se:.3f}) with {made.peak[0]}",
        ),
    )
    return Found(values, (), made.plot)


HEADS = (0.1, 0.05, 0.01)
REAL = (0.05, 0.02, 0.01)


def table_a1_a(setting: Setting) -> Found:
    """Critical values of Wilcoxon's test: under the printed heads, and under the right ones."""
    values = []
    for n, told in TABLE_1_A_1_A.items():
        for head, right, entry in zip(HEADS, REAL, told, strict=True):
            ours = comparison.signed_rank_critical(n, head)
            level = None if entry is None else _level(n, entry)
            note = f"at {right}: {comparison.signed_rank_critical(n, right)}"
            note += "" if level is None else f"; real level of the entry {level:.4f}"
            printed, mine = ("–" if entry is None else entry), ("–" if ours is None else ours)
            real = max((t for t in range(n * n) if _level(n, t) <= head), default="–")
            wrong = None if printed == real else 22 if _explained(n, entry, right) else FURTHER.get((n, head))
            stated: dict[str, Any] = {} if wrong is None else {"erratum": wrong, "right": real}
            values.append(Value(f"N = {n}, printed head {head}", printed, mine, note=note, **stated))
    return Found(
        tuple(values),
        ("The heads should read 0.05, 0.02, 0.01, two-tailed; some entries are rounded to the nearest level.",),
    )


FURTHER = {(16, 0.01): 37, (20, 0.01): 37}  # entries that the corrected heads do not explain either


def _explained(n: int, entry: int | None, level: float) -> bool:
    """Whether an entry is the critical value at a level, or that whose real level is nearest to it."""
    if entry == comparison.signed_rank_critical(n, level):
        return True
    return entry is not None and entry == min(range(n * n), key=lambda t: abs(_level(n, t) - level))


@cache
def _level(n: int, t: int) -> float:
    """The two-sided probability of a signed rank sum of at most `t` among `n` differences."""
    ways = np.zeros(n * (n + 1) // 2 + 1)
    ways[0] = 1.0
    for rank in range(1, n + 1):
        ways[rank:] = ways[rank:] + ways[:-rank].copy()
    return float(2 * ways[: t + 1].sum() / 2.0**n)


def table_a1_b(setting: Setting) -> Found:
    """Critical values of the sign test, and the worked case N = 5."""
    values = [
        Value(f"N = {n}, w at {alpha}", entry, comparison.sign_critical(n, alpha))
        for n, told in TABLE_1_A_1_B.items()
        for alpha, entry in zip((0.10, 0.05), told, strict=True)
    ]
    told = (0.0313, 0.1875, 0.5, 0.8125, 0.9688, 1.0)
    values += [Value(f"F_b({k}, 5, 0.5)", p, _wins(k, "less"), 6e-5) for k, p in enumerate(told)]
    values.append(Value("(1.A.3) 1 − F_b(4, 5, 0.5)", 0.0313, _wins(5, "greater"), 6e-5))
    values.append(Value("(1.A.4) 1 − F_b(3, 5, 0.5)", 0.1875, _wins(4, "greater"), 6e-5))
    return Found(tuple(values))


def _wins(wins: int, alternative: str) -> float:
    """The p-value of the sign test where a model wins on so many of five data sets."""
    a = (np.arange(5) < wins).astype(float)
    return comparison.sign(a, 1 - a, alternative=alternative).pvalue


def sfs_filter(setting: Setting) -> Found:
    """1.A.3: the program of sequential forward selection never clears the criteria of the round before."""
    cosine = partial(_selected, metric="cosine")
    tables = [np.random.default_rng(seed).standard_normal((4, 6)) for seed in range(200)]
    orders = [protocols.forward_selection(table, range(4)).tolist() for table in tables]
    same = sum(_selected(table, "euclidean") == order for table, order in zip(tables, orders, strict=True))
    ended = sum(cosine(table) is not None for table in tables)
    cleared = sum(cosine(table, clear=True) == _by_cosine(table) for table in tables)
    note = "the others index a feature that is there no more"
    values = (
        Value("Euclidean distance: tables of 200 where the program takes the library's order", None, same, derived=200),
        Value(
            "cosine, which the text offers: tables of 200 where the program ends",
            None, ended, derived=200, erratum=44, right=6, right_within=5, note=note,
        ),
        Value("the same with the criteria cleared, and in the library's order", None, cleared, derived=200),
    )  # fmt: skip
    return Found(values, ("Random tables of four classes and six features.",))


def _selected(centroids: Array, metric: Literal["euclidean", "cosine"], *, clear: bool = False) -> list[int] | None:
    """The features in the order of the book's program; None where it ends with an error."""
    left, chosen = list(range(centroids.shape[1])), list[int]()
    criteria: list[float] = []
    while left:
        criteria = [] if clear else criteria
        new = [float(pdist(centroids[:, [*chosen, feature]], metric).mean()) for feature in left]
        criteria[: len(new)] = new  # an older value stays behind them
        best = int(np.argmax(criteria))
        if best >= len(left):
            return None
        chosen.append(left.pop(best))
    return chosen


def _by_cosine(centroids: Array) -> list[int]:
    """The same by the library."""
    return protocols.forward_selection(
        centroids, range(len(centroids)), criterion=lambda x, y: float(pdist(x, "cosine").mean())
    ).tolist()


ENTRIES = (
    *DATA_ENTRIES,
    Entry("kuncheva/eq-1.9", "(1.9)", "The textbook interval", interval_1_9),
    Entry("kuncheva/table-1.1", "Table 1.1", 'How "H" is labelled', table_1_1),
    Entry(
        "kuncheva/1.5",
        "Example 1.5, Figure 1.13",
        "Confusions of the Letter data",
        example_1_5,
        "letter-recognition.data",
    ),
    Entry("kuncheva/1.3.4", "section 1.3.4", "What a bootstrap leaves out", out_of_bag),
    Entry(
        "kuncheva/1.6", "Example 1.6, Figure 1.14", "Tuning on the test rows", example_1_6, "letter-recognition.data"
    ),
    Entry("kuncheva/1.7", "Example 1.7", "McNemar's test on the Iris data", example_1_7),
    Entry("kuncheva/figure-1.15", "Figure 1.15", "Boundaries on the Iris data", figure_1_15),
    Entry("kuncheva/1.8", "Example 1.8, Figure 1.17", "Overlapping training sets", example_1_8),
    Entry("kuncheva/1.9", "Example 1.9", "Paired t-test with corrected variance", example_1_9),
    Entry("kuncheva/table-1.4", "Tables 1.3 and 1.4", "Ranks of eleven models", table_1_4),
    Entry("kuncheva/1.10", "Example 1.10", "Friedman's test", example_1_10),
    Entry("kuncheva/1.11", "Example 1.11", "Post-hoc tests", example_1_11),
    Entry("kuncheva/1.15", "Example 1.15, Figure 1.24", "The peak effect", example_1_15, "sonar.all-data"),
    Entry("kuncheva/1.A.3", "1.A.3", "The program of forward selection", sfs_filter),
    Entry("kuncheva/table-1.A.1a", "Table 1.A.1 (a)", "Critical values, Wilcoxon", table_a1_a),
    Entry("kuncheva/table-1.A.1b", "Table 1.A.1 (b)", "Critical values, sign test", table_a1_b),
)

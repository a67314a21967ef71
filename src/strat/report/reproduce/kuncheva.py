"""Kuncheva, chapter 1: Examples 1.1 to 1.15, their tables and figures, and the appendix."""

from __future__ import annotations

import math
from functools import cache, partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import bdtr, ndtr

from strat import comparison, datasets, protocols, theory
from strat.columns import Array, Codes
from strat.report.reproduce.entries import Entry, Found, Setting, Value
from strat.report.reproduce.kuncheva_printed import (
    RANKS_1_10,
    RANKS_1_11,
    TABLE_1_1,
    TABLE_1_3,
    TABLE_1_4,
    TABLE_1_A_1_A,
    TABLE_1_A_1_B,
)
from strat.statistics.confusion import ConfusionMatrix
from strat.statistics.proportions import wald

LETTERS = tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
NAMES = tuple(f"C{i}" for i in range(1, 12))
COLOURS = ("#0072B2", "#D55E00", "#009E73")


def example_1_1(setting: Setting) -> Found:
    """Shapes and colours: the best decision errs 43 times."""
    data = datasets.shape_colour()
    values = (
        Value("objects", 256, len(data)),
        Value("errors of the best decision", 43, round(data.bayes_error * len(data), 9)),
        Value("error, %", 16.8, 100 * data.bayes_error, 0.05),
    )
    return Found(values)


def example_1_2(setting: Setting) -> Found:
    """The Iris data: three balanced classes; setosa stands apart in every pair of features."""
    from sklearn.datasets import load_iris

    data = load_iris(return_X_y=True)
    x, y = np.asarray(data[0]), np.asarray(data[1])
    apart = all(
        theory.linear_separability(x[:, [i, j]], np.where(y == 0, 0, 1)).separable for i in range(4) for j in range(i)
    )
    values = (
        Value("objects of each class", 50, int(np.bincount(y).min())),
        Value("features", 4, x.shape[1]),
        Value("setosa is separable in all six projections", "yes", "yes" if apart else "no"),
    )
    return Found(values, (), partial(_pairs_picture, x, y))


def _pairs_picture(x: Array, y: Codes) -> Any:
    import matplotlib.pyplot as plt

    names = ("sepal length", "sepal width", "petal length", "petal width")
    figure, places = plt.subplots(2, 3, figsize=(8, 5), layout="constrained")
    for ax, (i, j) in zip(places.flat, combinations(range(4), 2), strict=True):
        _scatter(x[:, [i, j]], y, ax).set(xlabel=names[i], ylabel=names[j], aspect="auto")
    return figure.axes[0]


def _scatter(points: Array, labels: Codes, ax: Any = None, size: float = 6) -> Any:
    import matplotlib.pyplot as plt

    ax = plt.subplots(figsize=(5.2, 4.2), layout="constrained")[1] if ax is None else ax
    for code in np.unique(labels):
        ax.scatter(*points[labels == code].T, s=size, color=COLOURS[int(code) % 3], lw=0)
    ax.set_aspect("equal")
    return ax


def example_1_3(setting: Setting) -> Found:
    """Cloud shapes: independent and dependent features."""
    shapes: dict[str, list[list[float]]] = {
        "round": [[1, 0], [0, 1]],
        "stretched": [[3, 0], [0, 0.5]],
        "rising": [[2, 1.5], [1.5, 2]],
    }
    values = []
    for name, covariance in shapes.items():
        data = datasets.gaussian_classes([4000], means=[[0, 0]], covariances=covariance, rng=1)
        drawn = float(np.cov(data.X.T)[0, 1])
        near = abs(drawn - covariance[0][1]) < 0.2
        values.append(Value(f"covariance of the features, {name} cloud", float(covariance[0][1]), drawn, holds=near))
    return Found(tuple(values), ("Figure 1.5 prints its matrices as a picture; these three are ours.",))


def example_1_4(setting: Setting) -> Found:
    """Three ellipses (Figure 1.7 a)."""
    data = datasets.ellipses(900, rng=1)
    values = (Value("points of each class", 300, int(np.bincount(data.y).min())),)
    return Found(values, (), partial(_scatter, data.X, data.y))


def figure_1_8(setting: Setting) -> Found:
    """The rotated checker board."""
    data = datasets.checker_board(5000, side=0.2, angle=math.pi / 6, rng=1)
    right = bool((data.posterior(data.X).argmax(axis=1) == data.y).all())
    value = Value("the classes are perfectly separable", "yes", "yes" if right and data.bayes_error == 0 else "no")
    return Found((value,), (), partial(_scatter, data.X, data.y, None, 3))


def figure_1_10(setting: Setting) -> Found:
    """Regions of the nearest neighbour, which never overlap on the data, and of Bayes' rule, which do."""
    data = datasets.gaussian_classes([60, 60], means=[[0.0, 0.0], [1.5, 1.5]], rng=3)
    nearest = theory.nearest_neighbour(data.X, data.y)
    best = data.posterior(data.X).argmax(axis=1)
    values = (
        Value(
            "share of points in a wrong region, nearest neighbour", 0.0, theory.overlap(data.y, nearest(data.X)).share
        ),
        Value("the optimal regions overlap", "yes", "yes" if theory.overlap(data.y, best).share > 0 else "no"),
    )
    return Found(values, (), theory.decision_regions(nearest, data.X, data.y).plot)


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
    return Found((value,), (), theory.decision_regions(models[1].predict, x[test], y[test]).plot)


def footnote(setting: Setting) -> Found:
    """Footnote 1: an approximation of the normal distribution function."""
    z = np.linspace(0, 2.2, 2001)
    worst = float(np.abs(0.5 + z * (4.4 - z) / 10 - ndtr(z)).max())
    return Found(
        (
            Value(
                "largest error for 0 ≤ z ≤ 2.2 is at most",
                0.005,
                worst,
                holds=worst < 0.0055,
                note="to the printed digit",
            ),
        )
    )


def interval_1_9(setting: Setting) -> Found:
    """(1.9): the textbook interval, on the 43 errors of Example 1.1."""
    low, high = wald(43, 256)
    p = 43 / 256
    half = 1.96 * math.sqrt(p * (1 - p) / 256)
    values = (Value("low", p - half, low, 1e-5), Value("high", p + half, high, 1e-5))
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
        Value("accuracy, % (printed: over 69)", 69.0, 100 * matrix.accuracy, holds=0.69 < matrix.accuracy < 0.72),
        Value(
            'share of "H" labelled right',
            159 / 350,
            share,
            holds=abs(share - 159 / 350) < 3 * sd,
            note="another random half",
        ),
    )
    return Found(values, (), matrix.plot)


def table_1_1(setting: Setting) -> Found:
    """The row of "H", read as a confusion matrix."""
    table = np.zeros((26, 26))
    table[7] = TABLE_1_1
    matrix = ConfusionMatrix(table, LETTERS)
    worst = matrix.worst(1)[0]
    values = (
        Value('examples of "H"', 350, int(sum(matrix.row("H").values()))),
        Value('"H" labelled right', 159, int(matrix.row("H")["H"])),
        Value("most frequent mistake", "O, 33 times", f"{worst.predicted}, {worst.count:.0f} times"),
    )
    return Found(values)


def out_of_bag(setting: Setting) -> Found:
    """Section 1.3.4: the share of rows that a bootstrap replica leaves out."""
    rng = np.random.default_rng(0)
    left = np.mean([1 - len(np.unique(rng.integers(0, 1000, 1000))) / 1000 for _ in range(200)])
    return Found((Value("share out of the bag", 0.37, float(left), 5e-3),))


def example_1_6(setting: Setting) -> Found:
    """Tuning a parameter on the test rows."""
    from sklearn.model_selection import ShuffleSplit

    file = setting.file("letter-recognition.data")
    assert file is not None
    x, y = _letters(file)
    steps = 0.4 * 0.8 ** np.arange(21)
    split = ShuffleSplit(1, train_size=1000, test_size=19_000, random_state=0)
    made = [
        protocols.cross_validation(protocols.quadratic_discriminant(r=r), x, y, folds=split).error for r in steps[::4]
    ]
    best = 100 * min(made)
    falls = made[0] > min(made) < made[-1]
    values = (
        Value("least error on the test rows, %", 21.37, best, holds=17 < best < 23, note="another random training set"),
        Value("the test error falls and rises again", "yes", "yes" if falls else "no"),
    )
    return Found(values, ("protocols.peeking measures how much the choice itself gains.",))


def example_1_7(setting: Setting) -> Found:
    """McNemar's test of two classifiers on the Iris data, from the printed confusion matrices."""
    truth = ["versicolor"] * 25 + ["virginica"] * 25
    linear = ["versicolor"] * 20 + ["virginica"] * 5 + ["versicolor"] * 8 + ["virginica"] * 17
    quadratic = ["versicolor"] * 20 + ["virginica"] * 5 + ["versicolor"] * 14 + ["virginica"] * 11
    found = comparison.mcnemar(truth, linear, quadratic)
    values = (
        Value("N11", 31, found.n11),
        Value("N10", 0, found.n10, erratum=18),
        Value("N01", 6, found.n01, erratum=18),
        Value("N00", 13, found.n00),
        Value("statistic (1.10)", 4.1667, found.statistic, 5e-5),
        Value(
            "p of the book's program, which takes the exact branch",
            None,
            comparison.mcnemar_exact(truth, linear, quadratic).pvalue,
            note="erratum 23",
        ),
    )
    return Found(values)


def example_1_8(setting: Setting) -> Found:
    """What overlapping training sets do to the spread of a mean error."""
    runs = setting.times(200, 2000)
    made = comparison.split_simulation(data_sets=runs)
    pairs = (
        ("spread of shuffled splits σ_e", 0.0711, made.sd_shuffled),
        ("spread of independent sets σ_q", 0.0347, made.sd_independent),
        ("mean of s/√30", 0.0320, made.se_uncorrected),
        ("mean of the corrected standard error", 0.0667, made.se_corrected),
    )
    values = [Value("mean error, %", 15.9, 100 * made.mean_shuffled, holds=abs(made.mean_shuffled - 0.159) < 0.02)]
    values += [
        Value(what, told, ours, holds=abs(ours / told - 1) < 0.2, note=f"{runs} data sets")
        for what, told, ours in pairs
    ]
    return Found(tuple(values))


A_1_9 = (7.4, 18.1, 13.7, 17.5, 13.0, 12.5, 8.9, 12.1, 12.4, 7.4)
B_1_9 = (9.9, 11.0, 5.7, 12.5, 2.7, 6.6, 10.6, 6.4, 12.5, 7.8)


def example_1_9(setting: Setting) -> Found:
    """The paired t-test with corrected variance."""
    plain = comparison.uncorrected_t(A_1_9, B_1_9)
    fair = comparison.corrected_t(A_1_9, B_1_9, ratio=comparison.split_ratio(folds=10))
    values = (
        Value("mean difference", 3.73, plain.mean, 5e-3),
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
    plain = comparison.friedman(table, higher_is_better=False, ties=False)
    corrected = comparison.friedman(table, higher_is_better=False)
    amended = comparison.iman_davenport(table, higher_is_better=False)
    values = (
        Value("Friedman (1.14)", 6.9182, plain.statistic, 5e-5),
        Value("p", 0.7331, plain.pvalue, 5e-5),
        Value("corrected for ties, as SciPy and R print", None, corrected.statistic, note="erratum 24"),
        Value("Iman and Davenport (1.15)", 0.6808, amended.statistic, 5e-5),
        Value("p", 0.7415, amended.pvalue, 5e-5),
    )
    return Found(values)


def example_1_11(setting: Setting) -> Found:
    """Post-hoc tests after C1 was made better."""
    table = np.array(TABLE_1_3)
    table[:, 0] = 0.5 * (table[:, 0] - 0.8)
    named = dict(zip(NAMES, table.T, strict=True))
    plain = comparison.friedman(named, higher_is_better=False, ties=False)
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
    note = f"(1.16) is Bonferroni's (erratum 19); Demšar's Nemenyi finds {', '.join(f'{a}–{b}' for a, b in demsar)}."
    return Found(tuple(values), (note,))


def example_1_12(setting: Setting) -> Found:
    """Boundaries of three normal classes on the line (Figure 1.18)."""
    problem = theory.example_1_12()
    values = [Value(f"boundary {i}", None, float(b)) for i, b in enumerate(theory.boundaries(problem), 1)]
    values.append(Value("Bayes error", None, theory.bayes_error(problem).value))
    drawn = theory.line_picture(problem, low=0.0, high=10.0)
    return Found(tuple(values), ("Figure 1.18 marks the boundaries without printing them.",), drawn.plot)


def example_1_13(setting: Setting) -> Found:
    """What another boundary than the optimal one adds to Bayes' error (Figure 1.19)."""
    problem = theory.Problem([theory.GaussianClass(4.0), theory.GaussianClass(6.5, [[2.25]])], [0.5, 0.5])
    least = theory.bayes_error(problem).value
    other = theory.shifted_boundary_error(problem, 6.0).value
    values = (
        Value(
            "another boundary errs more than Bayes' rule",
            "yes",
            "yes" if other > least else "no",
            note=f"{other:.4f} and {least:.4f}",
        ),
    )
    drawn = theory.line_picture(problem, low=0.0, high=10.0, other=6.0)
    return Found(values, ("The book prints no parameters; these two classes are ours.",), drawn.plot)


def example_1_14(setting: Setting) -> Found:
    """Single linkage and c-means on two data sets (Figure 1.22)."""
    clouds = datasets.gaussian_classes([50, 50], means=[[0, 0], [3, 3]], rng=1)
    strings = datasets.strings(100, rng=1)
    values = []
    for name, data in (("two clouds", clouds), ("two strings", strings)):
        for method in ("single", "kmeans"):
            found = protocols.strata_from_features(data.X, k=2, method=method)
            right = max(np.mean(found == data.y), np.mean(found != data.y))
            wanted = (name == "two clouds") == (method == "kmeans")
            said = "finds them" if right > 0.9 else "does not"
            values.append(
                Value(
                    f"{name}, {'single linkage' if method == 'single' else 'c-means'}",
                    "finds them" if wanted else "does not",
                    said,
                    note=f"{right:.0%} of points",
                )
            )
    return Found(tuple(values), ("Single linkage joins the clusters with the smallest distance (erratum 21).",))


def example_1_15(setting: Setting) -> Found:
    """The peak effect of feature selection on the sonar data (Figure 1.24)."""
    file = setting.file("sonar.all-data")
    assert file is not None
    raw = np.genfromtxt(file, delimiter=",", dtype=str)
    made = protocols.peak_effect(raw[:, :-1].astype(float), raw[:, -1], runs=setting.times(30, 100), rng=1)
    gain, se = made.gain
    values = (
        Value("features", 60, made.selected.shape[1]),
        Value(
            "fewer features do better than all",
            "yes",
            "yes" if gain > 2 * se else "no",
            note=f"+{gain:.3f} (se {se:.3f}) with {made.peak[0]}",
        ),
    )
    return Found(values, (), made.plot)


def squares(setting: Setting) -> Found:
    """Section 1.7: candidate squares of an image."""
    return Found((Value("50 × 50 squares in 500 × 600 pixels", 248_501, (500 - 49) * (600 - 49)),))


HEADS = (0.1, 0.05, 0.01)
REAL = (0.05, 0.02, 0.01)


def table_a1_a(setting: Setting) -> Found:
    """Critical values of Wilcoxon's test: under the printed heads, and under the right ones."""
    values = []
    for n, told in TABLE_1_A_1_A.items():
        for head, right, entry in zip(HEADS, REAL, told, strict=True):
            ours = comparison.signed_rank_critical(n, head)
            same = ours == entry
            values.append(
                Value(
                    f"N = {n}, printed head {head}",
                    "–" if entry is None else entry,
                    "–" if ours is None else ours,
                    erratum=None if same else 22,
                    note=f"at {right}: {comparison.signed_rank_critical(n, right)}",
                )
            )
    return Found(
        tuple(values),
        ("The heads should read 0.05, 0.02, 0.01, two-tailed; some entries are rounded to the nearest level.",),
    )


def table_a1_b(setting: Setting) -> Found:
    """Critical values of the sign test, and the worked case N = 5."""
    values = [
        Value(f"N = {n}, w at {alpha}", entry, comparison.sign_critical(n, alpha))
        for n, told in TABLE_1_A_1_B.items()
        for alpha, entry in zip((0.10, 0.05), told, strict=True)
    ]
    told = (0.0313, 0.1875, 0.5, 0.8125, 0.9688, 1.0)
    values += [Value(f"F_b({k}, 5, 0.5)", p, float(bdtr(k, 5, 0.5)), 6e-5) for k, p in enumerate(told)]
    five = comparison.sign([1] * 5, [0] * 5, alternative="greater").pvalue
    values.append(Value("(1.A.3) 1 − F_b(4, 5, 0.5)", 0.0313, five, 6e-5))
    return Found(tuple(values))


ENTRIES = (
    Entry("kuncheva/1.1", "Example 1.1, Figure 1.2", "Shapes and colours", example_1_1),
    Entry("kuncheva/1.2", "Example 1.2, Figure 1.4", "The Iris data", example_1_2),
    Entry("kuncheva/1.3", "Example 1.3, Figure 1.5", "Cloud shapes and covariances", example_1_3),
    Entry("kuncheva/footnote-1", "footnote 1", "A quick normal distribution function", footnote),
    Entry("kuncheva/1.4", "Example 1.4, Figure 1.7", "Three ellipses", example_1_4),
    Entry("kuncheva/figure-1.8", "Figure 1.8", "The rotated checker board", figure_1_8),
    Entry("kuncheva/figure-1.10", "Figure 1.10", "Regions that overlap, and that do not", figure_1_10),
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
    Entry("kuncheva/1.12", "Example 1.12, Figure 1.18", "Boundaries of three classes", example_1_12),
    Entry("kuncheva/1.13", "Example 1.13, Figure 1.19", "Bayes error and another boundary", example_1_13),
    Entry("kuncheva/1.14", "Example 1.14, Figure 1.22", "Clustering: no best algorithm", example_1_14),
    Entry("kuncheva/1.15", "Example 1.15, Figure 1.24", "The peak effect", example_1_15, "sonar.all-data"),
    Entry("kuncheva/1.7-squares", "section 1.7", "Candidate squares of an image", squares),
    Entry("kuncheva/table-1.A.1a", "Table 1.A.1 (a)", "Critical values, Wilcoxon", table_a1_a),
    Entry("kuncheva/table-1.A.1b", "Table 1.A.1 (b)", "Critical values, sign test", table_a1_b),
)

"""Kuncheva, chapter 1: data, densities, regions and clusters: Examples 1.1 to 1.4 and 1.12 to 1.14."""

from __future__ import annotations

import math
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import ndtr

from reproduce.entries import Entry, Found, Setting, Value
from strat import datasets, gaussian, protocols
from strat.base.validate.columns import Array, Codes

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9")


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
        gaussian.linear_separability(x[:, [i, j]], np.where(y == 0, 0, 1)).separable for i in range(4) for j in range(i)
    )
    values = (Value("setosa is separable in all six projections", "yes", "yes" if apart else "no"),)
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
        ax.scatter(*points[labels == code].T, s=size, color=COLOURS[int(code) % len(COLOURS)], lw=0)
    ax.set_aspect("equal")
    return ax


CLOUDS: dict[str, list[list[float]]] = {
    "round": [[1, 0], [0, 1]],
    "stretched": [[3, 0], [0, 0.5]],
    "rising": [[2, 1.5], [1.5, 2]],
    "falling": [[2, -1], [-1, 1]],
}


def example_1_3(setting: Setting) -> Found:
    """Cloud shapes: independent and dependent features (Figure 1.5)."""
    drawn = {
        name: datasets.gaussian_classes([4000], means=[[0, 0]], covariances=covariance, rng=1).X
        for name, covariance in CLOUDS.items()
    }
    values = []
    for name, ((a, c), (_, b)) in CLOUDS.items():
        se = math.sqrt((a * b + c * c) / 4000)
        ours, what = float(np.cov(drawn[name].T)[0, 1]), f"covariance of the features, {name} cloud"
        values.append(Value(what, None, ours, 4 * se, derived=float(c)))
    note = "Figure 1.5 prints its matrices as a picture; these four are ours."
    return Found(tuple(values), (note,), partial(_clouds_picture, drawn))


def _clouds_picture(drawn: dict[str, Array]) -> Any:
    import matplotlib.pyplot as plt

    figure, places = plt.subplots(1, 4, figsize=(9, 2.6), layout="constrained", sharex=True, sharey=True)
    for ax, (name, points) in zip(places, drawn.items(), strict=True):
        _scatter(points[:600], np.zeros(600, dtype=np.int64), ax, 3).set_title(name, fontsize=9)
    return figure.axes[0]


def figure_1_6(setting: Setting) -> Found:
    """Five Gaussian classes; the parameters are in a picture of the book, these are ours."""
    means = [[0, 0], [4, 1], [1, 4], [-3, 3], [-2, -3]]
    covariances: list[list[list[float]]] = [
        [[1, 0], [0, 1]],
        [[2, 1], [1, 1]],
        [[0.5, 0], [0, 2]],
        [[1, -0.7], [-0.7, 1]],
        [[3, 0], [0, 0.4]],
    ]
    data = datasets.gaussian_classes([100] * 5, means=means, covariances=covariances, rng=1)
    value = Value("Bayes error of our five classes", None, data.bayes_error)
    return Found((value,), ("The book's parameters stand in a picture.",), partial(_scatter, data.X, data.y))


def footnote(setting: Setting) -> Found:
    """Footnote 1: an approximation of the normal distribution function, a little worse than it says."""
    z = np.linspace(0, 2.2, 22_001)
    gap = np.abs(0.5 + z * (4.4 - z) / 10 - ndtr(z))
    worst = float(gap.max())
    what, note = "largest error for 0 ≤ z ≤ 2.2", f"at z = {z[gap.argmax()]:.3f}"
    return Found(
        (
            Value(
                what,
                0.005,
                worst,
                holds=worst <= 0.005,
                rule="at most 0.005",
                erratum=36,
                right=0.0051,
                right_within=5e-5,
                note=note,
            ),
        )
    )


# centre, semi-axes and angle of the ellipses in the program of Figure 1.7 (a), and the noise that it adds
ELLIPSES = ((-6, 0, 2, 6, -2.0), (-2, -2, 4, 3, -1.0), (2, 4, 4, 1, 0.9))
NOISE_A, NOISE_B = 0.5, 0.2


def example_1_4(setting: Setting) -> Found:
    """Three ellipses (Figure 1.7 a): the points lie on those of the book's program, but for the noise."""
    data, bare = (datasets.ellipses(900, noise=noise, rng=1) for noise in (NOISE_A, 1e-9))
    off = max(float(np.abs(_off_ellipse(bare.X[bare.y == k], *ELLIPSES[k])).max()) for k in range(3))
    sd = float((data.X - bare.X).std())
    values = (
        Value("distance of noise-free points from the program's ellipses, in semi-axes", None, off, 1e-6, derived=0.0),
        Value("standard deviation of the noise", NOISE_A, sd, 3 * NOISE_A / math.sqrt(2 * data.X.size)),
    )
    note = "Drawn with 300 points of each class, as in the text; the program has 500 (point 41 of the errata)."
    return Found(values, (note,), partial(_scatter, data.X, data.y))


def _off_ellipse(points: Array, x: float, y: float, a: float, b: float, angle: float) -> Array:
    """How far points are from an ellipse: the radius in units of the semi-axes, less 1."""
    across, up = points[:, 0] - x, points[:, 1] - y
    along, aside = across * np.cos(angle) + up * np.sin(angle), up * np.cos(angle) - across * np.sin(angle)
    return np.asarray(np.hypot(along / a, aside / b) - 1)


def figure_1_7_b(setting: Setting) -> Found:
    """One ellipse whose noise grows with the parameter t: the deviation in the program, the variance in the caption."""
    grown = partial(datasets.noisy_shapes, noise=NOISE_B * 2 * math.pi, growing=True)  # its t runs from 0 to 1, not 2π
    data, flat = grown(1000, curves=(_ellipse,), rng=1), grown(40_000, curves=(_far_line,), rng=2).X
    t = 2 * math.pi * flat[:, 0] / FAR
    low, high = (float(flat[np.abs(t - at) < 0.3, 1].std()) for at in (3, 6))
    ours = "deviation" if abs(high / low - 2) < 0.1 else "variance"
    note = f"deviation at t = 6 over that at t = 3: {high / low:.2f}; by the caption 1.41, by the program 2"
    values = (
        Value("deviation at t = 6, by the program 0.2 t", None, high, 0.05 * 6 * NOISE_B, derived=6 * NOISE_B),
        Value(
            "what grows with t: caption beside program",
            "variance",
            ours,
            rule="ratio 2 ± 0.1",
            erratum=41,
            right="deviation",
            note=note,
        ),
    )
    return Found(values, (), partial(_scatter, data.X, data.y))


FAR = 1000.0


def _far_line(t: Array) -> Array:
    """A line so long that a point's place tells its t."""
    return np.column_stack([FAR * t, 0 * t])


def _ellipse(t: Array) -> Array:
    """The ellipse of the program, semi-axes 3 and 9, turned by −1, as t goes once round."""
    angle, turn = 2 * np.pi * t, -1.0
    along, across = 3 * np.cos(angle), 9 * np.sin(angle)
    return np.column_stack([along * np.cos(turn) - across * np.sin(turn), along * np.sin(turn) + across * np.cos(turn)])


BOARDS = ((0.2, math.pi / 6), (0.5, -math.pi / 3))  # side and angle of the two calls below Figure 1.8


def figure_1_8(setting: Setting) -> Found:
    """The rotated checker board, with the two calls of the figure."""
    boards = [datasets.checker_board(5000, side=side, angle=angle, rng=1) for side, angle in BOARDS]
    right = all(bool((d.posterior(d.X).argmax(axis=1) == d.y).all()) and d.bayes_error == 0 for d in boards)
    same = [float(np.mean(_book_labels(d.X, *call) == d.y)) for d, call in zip(boards, BOARDS, strict=True)]
    values = (
        Value("the classes are perfectly separable", "yes", "yes" if right else "no"),
        Value("share of labels that are those of the book's program", None, min(same), derived=1.0),
    )
    note = "Drawn with 5,000 points, as in the calls; the caption says 100,000 (point 41 of the errata)."
    return Found(values, (note,), partial(_boards_picture, boards))


def _book_labels(points: Array, side: float, angle: float) -> Codes:
    """Which of two colours the program `samplecb` gives a point; its 2 is our 0."""
    x, y = points[:, 0], points[:, 1]
    across, up = x * np.cos(angle) - y * np.sin(angle), x * np.sin(angle) + y * np.cos(angle)
    return np.asarray((np.ceil(across / side) + np.floor(up / side)) % 2, dtype=np.int64)


def _boards_picture(boards: list[datasets.Samples]) -> Any:
    import matplotlib.pyplot as plt

    figure, places = plt.subplots(1, 2, figsize=(8, 4), layout="constrained", sharey=True)
    for ax, data in zip(places, boards, strict=True):
        _scatter(data.X, data.y, ax, 3)
    return figure.axes[0]


def figure_1_10(setting: Setting) -> Found:
    """Regions of the nearest neighbour, which never overlap on the data, and of Bayes' rule, which do."""
    data = datasets.gaussian_classes([60, 60], means=[[0.0, 0.0], [1.5, 1.5]], rng=3)
    nearest = gaussian.nearest_neighbour(data.X, data.y)
    best = data.posterior(data.X).argmax(axis=1)
    values = (
        Value(
            "share of points in a wrong region, nearest neighbour",
            None,
            gaussian.overlap(data.y, nearest(data.X)).share,
            derived=0.0,
        ),
        Value("the optimal regions overlap", "yes", "yes" if gaussian.overlap(data.y, best).share > 0 else "no"),
    )
    return Found(values, (), gaussian.decision_regions(nearest, data.X, data.y).plot)


def example_1_12(setting: Setting) -> Found:
    """Boundaries of three normal classes on the line (Figure 1.18)."""
    problem = gaussian.example_1_12()
    values = [Value(f"boundary {i}", None, float(b)) for i, b in enumerate(gaussian.boundaries(problem), 1)]
    values.append(Value("Bayes error", None, gaussian.bayes_error(problem).value))
    drawn = gaussian.line_picture(problem, low=0.0, high=10.0)
    return Found(tuple(values), ("Figure 1.18 marks the boundaries without printing them.",), drawn.plot)


def example_1_13(setting: Setting) -> Found:
    """What another boundary than the optimal one adds to Bayes' error (Figure 1.19)."""
    problem = gaussian.Problem([gaussian.GaussianClass(4.0), gaussian.GaussianClass(6.5, [[2.25]])], [0.5, 0.5])
    least = gaussian.bayes_error(problem).value
    other = gaussian.shifted_boundary_error(problem, 6.0).value
    values = (
        Value(
            "another boundary errs more than Bayes' rule",
            "yes",
            "yes" if other > least else "no",
            note=f"{other:.4f} and {least:.4f}",
        ),
    )
    drawn = gaussian.line_picture(problem, low=0.0, high=10.0, other=6.0)
    return Found(values, ("The book prints no parameters; these two classes are ours.",), drawn.plot)


def example_1_14(setting: Setting) -> Found:
    """Single linkage and c-means on two data sets (Figure 1.22)."""
    sets = {
        "two clouds": datasets.gaussian_classes([50, 50], means=[[0, 0], [3, 3]], rng=1),
        "two strings": datasets.strings(100, rng=1),
    }
    values, panels = [], {}
    for name, data in sets.items():
        for method, title in (("single", "single linkage"), ("kmeans", "c-means")):
            clusters = protocols.strata_from_features(data.X, k=2, method=method)
            right = max(np.mean(clusters == data.y), np.mean(clusters != data.y))
            wanted = "finds them" if (name == "two clouds") == (method == "kmeans") else "does not"
            ours, note = "finds them" if right > 0.9 else "does not", f"{right:.0%} of points"
            rule = "finds: more than 90 % of points"
            values.append(Value(f"{name}, {title}", wanted, ours, rule=rule, note=note))
            panels[f"{name}, {title}"] = (data.X, np.asarray(clusters))
    note = "Single linkage joins the clusters with the smallest distance (point 21 of the errata)."
    return Found(tuple(values), (note,), partial(_clusters_picture, panels))


def _clusters_picture(panels: dict[str, tuple[Array, Any]]) -> Any:
    import matplotlib.pyplot as plt

    figure, places = plt.subplots(2, 2, figsize=(7, 5), layout="constrained")
    for ax, (name, (points, clusters)) in zip(places.flat, panels.items(), strict=True):
        _scatter(points, np.unique(clusters, return_inverse=True)[1], ax, 9).set_title(name, fontsize=9)
        ax.set_aspect("auto")
    return figure.axes[0]


ENTRIES = (
    Entry("kuncheva/1.1", "Example 1.1, Figure 1.2", "Shapes and colours", example_1_1),
    Entry("kuncheva/1.2", "Example 1.2, Figure 1.4", "The Iris data", example_1_2),
    Entry("kuncheva/1.3", "Example 1.3, Figure 1.5", "Cloud shapes and covariances", example_1_3),
    Entry("kuncheva/footnote-1", "footnote 1", "A quick normal distribution function", footnote),
    Entry("kuncheva/figure-1.6", "Figure 1.6", "Five Gaussian classes", figure_1_6),
    Entry("kuncheva/1.4", "Example 1.4, Figure 1.7 (a)", "Three ellipses", example_1_4),
    Entry("kuncheva/figure-1.7b", "Figure 1.7 (b)", "Noise that grows along an ellipse", figure_1_7_b),
    Entry("kuncheva/figure-1.8", "Figure 1.8", "The rotated checker board", figure_1_8),
    Entry("kuncheva/figure-1.10", "Figure 1.10", "Regions that overlap, and that do not", figure_1_10),
    Entry("kuncheva/1.12", "Example 1.12, Figure 1.18", "Boundaries of three classes", example_1_12),
    Entry("kuncheva/1.13", "Example 1.13, Figure 1.19", "Bayes error and another boundary", example_1_13),
    Entry("kuncheva/1.14", "Example 1.14, Figure 1.22", "Clustering: no best algorithm", example_1_14),
)

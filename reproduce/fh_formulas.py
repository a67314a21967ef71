"""F&H: formulas and claims beside the tables: (45), (62), (79), (80), (90) to (92), and what Table IV shows."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from reproduce.entries import Entry, Found, Setting, Value
from reproduce.fukunaga_hayes import made_table
from reproduce.printed import CASES, SIZES, TABLE_4, TABLE_4_SECOND
from strat import gaussian
from strat.gaussian import GaussianClass
from strat.gaussian.bootstrap_bias import resampled_moments


def general_expression(setting: Setting) -> Found:
    """(45) for four functions of M and Σ: N times the exact change at N = 10⁶; the quadratic score has (49)."""
    two = GaussianClass([2.0, 1.0, 0.0], [[1.0, 0.3, 0.0], [0.3, 2.0, 0.1], [0.0, 0.1, 0.5]])
    one, y, size = GaussianClass([0.0, 0.5, 0.0]), np.array([1.0, -2.0, 2.0]), 10**6
    functions: dict[str, Callable[[GaussianClass], float]] = {
        "linear score (15) at Y": lambda kind: float(gaussian.linear_rule(kind, two).score(y)[0]),
        "quadratic score (14) at Y": lambda kind: float(gaussian.quadratic_rule(kind, two).score(y)[0]),
        "Mahalanobis' distance": lambda kind: gaussian.mahalanobis_distance(kind, two),
        "Bhattacharyya's distance": lambda kind: gaussian.bhattacharyya_distance(kind, two),
    }
    mean, covariance = gaussian.with_sample(one.mean[None], one.covariance[None], size - 1, y[None])
    joined = GaussianClass(mean[0], covariance[0])
    values = []
    for name, function in functions.items():
        first = float(gaussian.sample_influence(function, one, y, samples=size)) * size
        exact = (function(joined) - function(one)) * size
        values.append(Value(f"N times the change of the {name}, exact at N = 10⁶", None, exact, 1e-3, derived=first))
    own = float(gaussian.sample_influence(functions["quadratic score (14) at Y"], one, y, samples=2)) * 2
    closed = -float(one.distances(y)[0] ** 2 + 3) / 2
    values.append(Value("N times (49), by (45)", None, own, 1e-6, derived=closed))
    return Found(tuple(values), ("F&H work out the quadratic score only; (45) holds for any smooth function.",))


def square_of_features(setting: Setting) -> Found:
    """(56) with (62) goes roughly like n²/N for large n: what it is over n²/N settles."""
    distance = gaussian.distance_for_error(0.10)
    ratios = {
        n: gaussian.leave_one_out_bias(features=n, design_samples=50 * n, distance=distance, method="first order")
        * 50
        / n
        for n in (4, 8, 16, 32, 64, 128)
    }
    value = Value("(62) over n² at n = 128, over that at 64", None, ratios[128] / ratios[64], 0.05, derived=1.0)
    early = Value("the same at n = 8, over that at 4", None, ratios[8] / ratios[4])
    return Found((value, early), ("over n²/N: " + ", ".join(f"n = {n}: {r:.4f}" for n, r in ratios.items()),))


def resampled(setting: Setting) -> Found:
    """(79) and (80): all 256 resamples of four points."""
    points = np.random.default_rng(0).normal(size=(4, 2))
    draws = np.array(list(product(range(4), repeat=4)))
    counts = np.stack([(draws == j).sum(axis=1) for j in range(4)], axis=1).astype(float)
    means, covariances = resampled_moments(points, counts, "original")
    off_mean = np.abs(means.mean(axis=0) - points.mean(axis=0)).max()
    off = np.abs(covariances.mean(axis=0) - 3 / 4 * np.cov(points.T)).max()
    values = (
        Value("(79) largest deviation of E* M̂* from M̂", None, float(off_mean), 1e-12, derived=0.0),
        Value("(80) largest deviation of E* Σ̂* from (N − 1)/N Σ̂", None, float(off), 1e-12, derived=0.0),
    )
    return Found(values)


def impulses(setting: Setting) -> Found:
    """(90) to (92): moments over bootstraps of γ_j = −½ sgn(h*(X_j)) Δθ_j, with h* designed each time."""
    size, runs = 320, setting.times(2000, 8000)
    problem = gaussian.shifted_problem(2, distance=gaussian.distance_for_error(0.10))
    rng = np.random.default_rng(0)
    sets = [kind.sample(size, rng) for kind in problem.classes]
    counts = [rng.multinomial(size, np.full(size, 1 / size), size=runs).astype(float) for _ in sets]
    fits = [resampled_moments(points, drawn, "resampled") for points, drawn in zip(sets, counts, strict=True)]
    halves = []
    for means, covariances in fits:
        white = np.linalg.solve(np.linalg.cholesky(covariances), np.swapaxes(sets[0][None] - means[:, None], 1, 2))
        halves.append(((white**2).sum(axis=1) + np.linalg.slogdet(covariances)[1][:, None]) / 2)
    signs = np.sign(halves[0] - halves[1])
    rule = gaussian.quadratic_rule(*(gaussian.estimate_class(points) for points in sets))
    gamma = -signs * (counts[0] / size - 1 / size) / 2
    covariance, fixed = np.cov(gamma.T), np.sign(rule.score(sets[0]))
    off = ~np.eye(size, dtype=bool)
    together = float((covariance * np.outer(fixed, fixed))[off].mean())
    values = (
        Value(
            "(91) N² times the mean variance of γ_j",
            None,
            float(np.diag(covariance).mean() * size**2),
            0.01,
            derived=(1 - 1 / size) / 4,
        ),
        Value("(92) N³ times the mean covariance, signs taken off", None, together * size**3, 0.03, derived=-0.25),
    )
    return Found(values, (f"{runs} bootstraps of one set of {size} samples a class, two features.",))


def efron(setting: Setting) -> Found:
    """Column 2's second line against column 7's first: Var ε_R and E Var* ε_b*, in the table's unit of 1/100."""
    rows = {row[:3]: row for row in made_table(4, setting).rows}
    values = []
    for c, name in enumerate(CASES[:2]):
        for i in (0, len(SIZES) - 2, len(SIZES) - 1):
            size = SIZES[i]
            ours = float(rows[name, size, "Var*"][3]) / float(rows[name, size, "(93)"][3])
            told = (TABLE_4_SECOND[c][i][0], TABLE_4[c][i][5])
            what, note = (
                f"{name}, N = {size}: E Var* over (93), which is Var ε_R",
                f"printed: {told[0]:g} for Var ε_R, {told[1]:g} for E Var*",
            )
            wrong: dict[str, Any] = {"erratum": 57, "right": FEW[name], "right_within": 0.5} if i == 0 else {}
            values.append(Value(what, None, ours, 0.3, derived=1.0, note=note, **wrong))
    return Found(tuple(values), ("(93) with P_i² is the binomial variance of ε_R.",))


FEW = {"I-I": 2.3, "I-4I": 4.0}  # at 24 samples a class


def smaller_spread(setting: Setting) -> Found:
    """The bootstrap's bias estimate is said to vary slightly less than ε_L − ε_R: columns 4 and 6 of Table IV."""
    rows = {row[:3]: float(row[5]) for row in made_table(4, setting).rows}
    usable = [(c, i) for c in range(2) for i in range(len(SIZES)) if (c, i) != (1, len(SIZES) - 1)]
    told = [TABLE_4_SECOND[c][i][2] / TABLE_4_SECOND[c][i][4] for c, i in usable]
    ours = [rows[CASES[c], SIZES[i], "ε_L-ε_R"] / rows[CASES[c], SIZES[i], "E*"] for c, i in usable]
    what = "standard deviation of ε_L − ε_R over that of E*, median"
    values = (
        Value(
            what, None, float(np.median(ours)), 0.5, derived=float(np.median(told)), note="derived: of the printed ones"
        ),
        Value(
            "by how much the bootstrap's is smaller",
            "slightly",
            "by more than half" if np.median(ours) > 2 else "by less than half",
            erratum=57,
            right="by more than half",
        ),
    )
    return Found(values, (f"printed ratios from {min(told):.1f} to {max(told):.1f}",))


ENTRIES = (
    Entry(
        "fh/45",
        "section III-A, (45), and the conclusions",
        "The general expression, for any function",
        general_expression,
    ),
    Entry("fh/62", "section III-B, (62)", "Proportional to n²/N", square_of_features),
    Entry("fh/79", "section IV, (79) and (80)", "Expectations of bootstrap moments", resampled),
    Entry("fh/90", "section IV-B, (90) to (92)", "Moments of the bootstrap's impulses", impulses),
    Entry("fh/efron", "section IV-B and Table IV, columns 2 and 7", "The variance of the resubstitution error", efron),
    Entry("fh/spread", "section IV-A and Table IV, columns 4 and 6", "The bootstrap varies less", smaller_spread),
)

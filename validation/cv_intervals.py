"""Coverage of the intervals of cross-validation, for the error of the classifier that is trained on all rows.

python -m validation.cv_intervals [data sets]
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier

from strat.datasets import gaussian_classes
from strat.protocols import cross_validation, nested_cross_validation, pooled_cross_validation

METHODS = {
    "10 folds, Nadeau-Bengio": lambda m, X, y, u, k: cross_validation(m, X, y, cv=10, units=u, rng=k),
    "10 folds, pooled": lambda m, X, y, u, k: pooled_cross_validation(m, X, y, cv=10, units=u, rng=k),
    "nested, 5 folds, 5 times": lambda m, X, y, u, k: nested_cross_validation(m, X, y, repeats=5, units=u, rng=k),
}


def clustered(n: int, shift: list[float], rng: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two Gaussian classes whose rows come three in a unit, with half of the variance between units."""
    source = np.random.default_rng(rng)
    unit = np.arange(n) // 3
    y = unit % 2
    between = source.standard_normal((unit[-1] + 1, len(shift)))[unit]
    noise = np.sqrt(0.5) * (between + source.standard_normal((n, len(shift))))
    return noise + np.outer(2 * y - 1, shift), y, unit


def scenario(kind: str, k: int) -> tuple:
    shift = [0.35] * 8
    far = gaussian_classes(20_000, means=[[-s for s in shift], shift], rng=10**6)
    if kind == "units of 3":
        X, y, unit = clustered(120, shift, k)
        return LinearDiscriminantAnalysis(), X, y, unit, far.X, far.y
    data = gaussian_classes(100, means=[[-s for s in shift], shift], rng=k)
    model = LinearDiscriminantAnalysis() if kind == "linear" else KNeighborsClassifier(3)
    return model, data.X, data.y, None, far.X, far.y


def main(data_sets: int) -> None:
    warnings.simplefilter("ignore")
    print(f"{'problem':12} {'interval':26} {'coverage':>8} {'width':>7} {'bias':>8}   ({data_sets} data sets)")
    for kind in ("linear", "neighbours", "units of 3"):
        inside = {name: [] for name in METHODS}
        for k in range(data_sets):
            model, X, y, unit, far_X, far_y = scenario(kind, k)
            truth = 1.0 - model.fit(X, y).score(far_X[:8000], far_y[:8000])
            for name, method in METHODS.items():
                result = method(model, X, y, unit, k)
                low, high = result.interval()
                inside[name].append((low <= truth <= high, high - low, result.error - truth))
        for name, rows in inside.items():
            coverage, width, bias = np.mean(rows, axis=0)
            print(f"{kind:12} {name:26} {coverage:8.3f} {width:7.4f} {bias:+8.4f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)

"""Protocols against scikit-learn's own loops: `python -m benchmarks.protocols`."""

from __future__ import annotations

from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.harness import best, ratio, show
from strat.datasets import gaussian_classes
from strat.protocols import cross_validation, leave_one_out

N, D = 2000, 20


def leave_one_out_row(estimator: Any, name: str) -> list[str]:
    from sklearn.model_selection import LeaveOneOut, cross_val_score

    data = gaussian_classes(
        N, means=np.vstack([np.zeros(D), np.full(D, 0.4)]), covariances=[np.eye(D), 1.5 * np.eye(D)], rng=1
    )
    found = leave_one_out(estimator, data.X, data.y)
    ours = best(lambda: leave_one_out(estimator, data.X, data.y), 9)
    kept: list[Any] = []
    theirs = best(lambda: kept.append(cross_val_score(estimator, data.X, data.y, cv=LeaveOneOut())), 1)
    same = np.array_equal(1 - kept[0], found.fold_errors)
    return [
        f"leave-one-out, {name}, N = {N}, d = {D}",
        f"{ours:.5f}",
        f"{theirs:.2f}",
        ratio(theirs, ours),
        _word(same),
    ]


def folds_row() -> list[str]:
    from sklearn.model_selection import StratifiedKFold, cross_val_score
    from sklearn.naive_bayes import GaussianNB

    data = gaussian_classes(N, means=[[-1, 0], [1, 0]], rng=1)
    cv = StratifiedKFold(10, shuffle=True, random_state=0)
    same = np.allclose(
        1 - cross_val_score(GaussianNB(), data.X, data.y, cv=cv),
        cross_validation(GaussianNB(), data.X, data.y, cv=cv).fold_errors,
    )
    ours = best(lambda: cross_validation(GaussianNB(), data.X, data.y, cv=cv), 7)
    theirs = best(lambda: cross_val_score(GaussianNB(), data.X, data.y, cv=cv), 7)
    name = "10-fold of naive Bayes; ours keeps predictions, scores, times, memory"
    return [name, f"{ours:.5f}", f"{theirs:.5f}", ratio(theirs, ours), _word(bool(same))]


def _word(same: bool) -> str:
    return "same" if same else "DIFFERENT"


def main() -> None:
    import sklearn
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis

    with threadpool_limits(1):
        rows = [
            leave_one_out_row(QuadraticDiscriminantAnalysis(), "quadratic"),
            leave_one_out_row(QuadraticDiscriminantAnalysis(reg_param=0.1), "quadratic, r = 0.1"),
            leave_one_out_row(LinearDiscriminantAnalysis(), "linear"),
            folds_row(),
        ]
    head = ["job", "strat (CPU s)", f"scikit-learn {sklearn.__version__} (CPU s)", "ratio", "predictions"]
    show("Training and testing protocols, one thread", head, rows)


if __name__ == "__main__":
    main()

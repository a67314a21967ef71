"""Leave-one-out in closed form equals N trainings, for every discriminant that has one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.model_selection import LeaveOneOut, cross_val_predict

from strat.base.errors import StratError
from strat.datasets import gaussian_classes
from strat.protocols import bounds, leave_one_out, quadratic_discriminant, resubstitution


def problem(seed: int, classes: int, d: int, n: int):
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((classes, d, d))
    return gaussian_classes(
        rng.integers(d + 3, n, size=classes).tolist(),
        means=1.2 * rng.standard_normal((classes, d)),
        covariances=root @ np.swapaxes(root, 1, 2) + 0.3 * np.eye(d),
        rng=rng,
    )


ESTIMATORS = {
    "lda": LinearDiscriminantAnalysis(),
    "lda lsqr": LinearDiscriminantAnalysis(solver="lsqr"),
    "lda eigen": LinearDiscriminantAnalysis(solver="eigen"),
    "qda": QuadraticDiscriminantAnalysis(),
    "qda r=0.1": QuadraticDiscriminantAnalysis(reg_param=0.1),
    "qda r=1": QuadraticDiscriminantAnalysis(reg_param=1.0),
    "ours": quadratic_discriminant(),
    "ours r=0.1": quadratic_discriminant(r=0.1),
}


@pytest.mark.parametrize("name", ESTIMATORS)
@settings(max_examples=settings.default.max_examples // 4)
@given(seed=st.integers(0, 10_000), classes=st.integers(2, 4), d=st.integers(1, 4))
def test_closed_form_equals_n_trainings(name: str, seed: int, classes: int, d: int) -> None:
    data = problem(seed, classes, d, 14)
    X = data.X[np.random.default_rng(seed).permutation(len(data))]
    estimator = ESTIMATORS[name]
    closed = leave_one_out(estimator, X, data.y, method="closed")
    expected = cross_val_predict(estimator, X, data.y, cv=LeaveOneOut(), method="predict_proba")
    shown = expected[:, 1] if classes == 2 else expected.max(axis=1)
    # scikit-learn's singular values lose digits where classes are small; its eigenvalues don't, and are tested too
    assert closed.predictions["score"] == pytest.approx(shown, abs=1e-4 if name == "lda" else 1e-6)
    clear = np.sort(expected, axis=1)[:, -1] - np.sort(expected, axis=1)[:, -2] > 1e-9
    assert np.array_equal(closed.predictions["predicted"][clear], expected.argmax(axis=1)[clear])


@pytest.mark.parametrize("name", ESTIMATORS)
def test_given_priors_are_kept(name: str) -> None:
    data = problem(5, 3, 3, 20)
    estimator = ESTIMATORS[name].__class__(**{**ESTIMATORS[name].get_params(), "priors": [0.1, 0.2, 0.7]})
    closed, refit = (leave_one_out(estimator, data.X, data.y, method=m) for m in ("auto", "refit"))
    assert (len(closed.times.fit) == 1) == (name not in ("lda lsqr", "lda eigen"))
    assert np.array_equal(closed.predictions["predicted"], refit.predictions["predicted"])
    assert closed.predictions["score"] == pytest.approx(refit.predictions["score"], abs=1e-9)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_bounds_are_resubstitution_and_leave_one_out(name: str) -> None:
    data = problem(7, 2, 4, 40)
    pair = bounds(ESTIMATORS[name], data.X, data.y)
    assert pair.lower.error == resubstitution(ESTIMATORS[name], data.X, data.y).error
    assert pair.upper.error == leave_one_out(ESTIMATORS[name], data.X, data.y, method="refit").error
    assert pair.gap >= 0
    assert pair.interval() == (pair.lower.interval()[0], pair.upper.interval()[1])
    assert "resubstitution" in str(pair)


def test_bounds_hold_the_true_error_on_the_average() -> None:
    pairs = []
    for seed in range(60):
        data = gaussian_classes([40, 40], means=[[0] * 6, [1] * 6], rng=seed)
        pairs.append(bounds(QuadraticDiscriminantAnalysis(), data.X, data.y))
    low, high = (np.mean([getattr(p, side).error for p in pairs]) for side in ("lower", "upper"))
    assert low + 0.02 < data.bayes_error < high - 0.02


def test_leave_one_out_interval_covers_the_error_of_the_classifier() -> None:
    """The classifier trained on these rows: its error follows from its line (two normal classes, ±1 apart)."""
    covered = []
    for seed in range(300):
        data = gaussian_classes([40, 40], means=[[-1, 0], [1, 0]], rng=seed)
        model = LinearDiscriminantAnalysis().fit(data.X, data.y)
        w, b = model.coef_[0], model.intercept_[0]
        error = 0.5 * (norm.cdf((b - w[0]) / np.linalg.norm(w)) + norm.cdf(-(b + w[0]) / np.linalg.norm(w)))
        low, high = leave_one_out(LinearDiscriminantAnalysis(), data.X, data.y).interval()
        covered.append(low <= error <= high)
    assert 0.92 < np.mean(covered) < 0.98


def test_bounds_of_any_classifier_refit() -> None:
    from sklearn.neighbors import KNeighborsClassifier

    data = problem(1, 2, 2, 20)
    pair = bounds(KNeighborsClassifier(1), data.X, data.y)
    assert pair.lower.error == 0 < pair.upper.error


def test_data_frames_and_text_labels_are_welcome() -> None:
    import pandas as pd

    data = problem(3, 2, 3, 30)
    y = np.array(["no", "yes"])[data.y]
    frame = pd.DataFrame(data.X, columns=list("abc"))
    r = leave_one_out(QuadraticDiscriminantAnalysis(), frame, y)
    assert r.details["method"].startswith("closed form")
    assert set(r.predictions["predicted"]) <= {"no", "yes"}
    assert r.error == leave_one_out(QuadraticDiscriminantAnalysis(), data.X, data.y).error


@pytest.mark.parametrize(
    "estimator",
    [
        LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.2),
        LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
    ],
)
def test_shrinkage_falls_back_to_trainings(estimator) -> None:
    data = problem(3, 2, 3, 12)
    r = leave_one_out(estimator, data.X, data.y)
    assert len(r.times.fit) == len(data)
    with pytest.raises(StratError, match="`method` must be 'auto' or 'refit' for LinearDiscriminantAnalysis"):
        leave_one_out(estimator, data.X, data.y, method="closed")


def test_a_subclass_is_not_taken_for_its_parent() -> None:
    class Contrary(LinearDiscriminantAnalysis):
        def predict(self, X):
            return 1 - super().predict(X)

    data = problem(3, 2, 2, 15)
    ours, theirs = (leave_one_out(e, data.X, data.y) for e in (Contrary(), LinearDiscriminantAnalysis()))
    assert ours.error == pytest.approx(1 - theirs.error)


def test_fewer_rows_than_features_is_one_sentence() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((12, 20)), np.repeat([0, 1], 6)
    with pytest.raises(StratError, match=r"features \+ 2 rows in each class \(22\).*got 6 of 0.*`reg_param`"):
        leave_one_out(QuadraticDiscriminantAnalysis(), X, y)
    with pytest.raises(StratError, match=r"features \+ classes \+ 1 rows \(23\).*got 12.*singular.*method='refit'"):
        leave_one_out(LinearDiscriminantAnalysis(), X, y, method="closed")
    with pytest.raises(StratError, match=r"more training rows in every class than features.*20 features and 6 rows"):
        resubstitution(QuadraticDiscriminantAnalysis(), X, y)


def test_regularisation_works_with_fewer_rows_than_features() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((16, 20)) + np.repeat([0, 1], 8)[:, None], np.repeat([0, 1], 8)
    r = 0.3
    found = leave_one_out(QuadraticDiscriminantAnalysis(reg_param=r), X, y, method="closed").predictions
    divisor = _divisor()
    for i in range(16):
        rest = np.arange(16) != i
        logs = []
        for k in (0, 1):
            A = X[rest & (y == k)]
            own = A - A.mean(axis=0)
            sigma = (1 - r) * own.T @ own / (len(A) - divisor) + r * np.eye(20)
            gap = X[i] - A.mean(axis=0)
            square = gap @ np.linalg.solve(sigma, gap)
            logs.append(-0.5 * (square + np.linalg.slogdet(sigma)[1]) + np.log(len(A) / 15))
        assert found["score"][i] == pytest.approx(1 / (1 + np.exp(logs[0] - logs[1])), abs=1e-9)


def _divisor() -> int:
    """What this scikit-learn takes off the rows of a class before it divides: 0 or 1."""
    X, y = np.array([[0.0], [2.0], [5.0], [9.0]]), np.array([0, 0, 1, 1])
    return 0 if QuadraticDiscriminantAnalysis().fit(X, y).scalings_[0][0] == pytest.approx(1) else 1


def test_our_quadratic_discriminant_refits_alike_with_fewer_rows_than_features() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((24, 12)) + 0.5 * (np.arange(24) % 3)[:, None], np.arange(24) % 3
    for r in (0.01, 0.5, 1.0):
        closed, refit = (leave_one_out(quadratic_discriminant(r=r), X, y, method=m) for m in ("closed", "refit"))
        assert closed.predictions["score"] == pytest.approx(refit.predictions["score"], abs=1e-9)
        assert np.array_equal(closed.predictions["predicted"], refit.predictions["predicted"])
    with pytest.raises(StratError, match=r"more rows in each class than features \(12\) when r is 0, got 8 of 0"):
        quadratic_discriminant().fit(X, y)
    with pytest.raises(StratError, match="`r` must lie between 0 and 1, got 2"):
        quadratic_discriminant(r=2).fit(X, y)
    with pytest.raises(StratError, match="a covariance matrix is singular"):
        resubstitution(quadratic_discriminant(), np.repeat(X[:, :1], 2, axis=1), y)


def test_collinear_features_and_a_row_that_holds_the_rank_are_named() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 2)), np.repeat([0, 1], 20)
    doubled = np.column_stack([X, X.sum(axis=1)])
    for estimator, method in ((LinearDiscriminantAnalysis(), "closed"), (QuadraticDiscriminantAnalysis(), "auto")):
        with pytest.raises(StratError, match="not linear functions of each other"):
            leave_one_out(estimator, doubled, y, method=method)
        with pytest.raises(StratError, match="not linear functions of each other"):
            leave_one_out(estimator, np.repeat([[0.0], [1.0]], 20, axis=0), y, method=method)  # nothing varies
    lone = np.column_stack([X, np.zeros(40)])
    lone[[3, 25], 2] = 1.0
    with pytest.raises(StratError, match="full rank when a row is left out, got a singular one without row 3"):
        leave_one_out(QuadraticDiscriminantAnalysis(), lone, y)


def test_missing_features_and_wrong_priors_are_named() -> None:
    data = problem(3, 2, 2, 15)
    X = data.X.copy()
    X[0, 0] = np.nan
    with pytest.raises(StratError, match="`X` must be finite"):
        leave_one_out(LinearDiscriminantAnalysis(), X, data.y)
    with pytest.raises(StratError, match=r"`priors` of the estimator must be one per class \(2\), got 3"):
        leave_one_out(QuadraticDiscriminantAnalysis(priors=[0.2, 0.3, 0.5]), data.X, data.y)

"""Leave-one-out of linear and quadratic discriminants without a training: F&H III-A, made exact.

Taking row Y off its class changes the mean by (36)-(37) and the scatter matrix by one rank,
``W − n/(n−1) (Y − M)(Y − M)'`` as in (38), so that the Sherman-Morrison formula gives every left-out inverse
and determinant from quadratic forms in the full one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from strat.base import extras
from strat.base.errors import StratError, plain, some
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, Codes
from strat.gaussian.dependent import left_out
from strat.protocols.running import Task, cloned

SINGULAR = 1e-10  # smallest over largest variance of a class up to which its covariance cannot be inverted


class SingularError(StratError):
    """A covariance matrix that the closed form must invert has no inverse; a training may still succeed."""


def closed_scores(task: Task) -> tuple[Array, Array] | None:
    """Discriminant scores (rows × classes) left out and resubstituted; None where there is no closed form."""
    theirs = extras.load("sklearn.discriminant_analysis")
    from strat.protocols.estimators import QuadraticDiscriminant

    linear = theirs.LinearDiscriminantAnalysis
    estimator, kind = task.estimator, type(task.estimator)  # a subclass may predict in another way
    if kind not in (linear, theirs.QuadraticDiscriminantAnalysis, QuadraticDiscriminant):
        return None
    if any(getattr(estimator, name, None) is not None for name in ("shrinkage", "covariance_estimator")):
        return None
    X = _dense(task.X)
    if X is None:
        return None
    return _linear(task, X) if kind is linear else _quadratic(task, X)


@checked
def quadratic_discriminant(*, r: float = 0.0, priors: ArrayLike | None = None) -> Any:
    """A quadratic discriminant classifier regularised by Kuncheva's r, for scikit-learn and every protocol here.

    The book leaves the formula to its second chapter; this is (1 − r) Σ + r I, as scikit-learn's `reg_param`.
    Classes with fewer rows than features are fine when r > 0.

    Examples
    --------
    >>> X, y = np.random.default_rng(0).standard_normal((20, 30)), np.repeat([0, 1], 10)
    >>> quadratic_discriminant(r=0.2).fit(X, y).predict(X).tolist() == y.tolist()
    True
    """
    extras.load("sklearn")
    from strat.protocols.estimators import QuadraticDiscriminant

    return QuadraticDiscriminant(r=r, priors=priors)


def _dense(X: Any) -> Array | None:
    try:
        array = np.asarray(X, dtype=float)
    except (TypeError, ValueError):
        return None
    if not np.isfinite(array).all():
        raise StratError.about("X", "must be finite, got missing or infinite features; drop or fill these rows.")
    return array


def _conventions(task: Task) -> tuple[float, int, Any]:
    """Regularisation r, what is taken off a class's rows before dividing, and a fitted model for its priors."""
    from strat.protocols.estimators import QuadraticDiscriminant

    estimator = task.estimator
    if isinstance(estimator, QuadraticDiscriminant):
        model = cloned(estimator)
        model.priors_ = None if model.priors is None else np.asarray(model.priors, float)
        return float(estimator.r), 1, model
    r = float(getattr(estimator, "reg_param", 0.0))
    model, x, _ = _trial(task)
    deviations = x[:4] - x[:4].mean(axis=0)
    divisor = (deviations**2).sum() * (1 - r) / max(np.sum(model.scalings_[0]) - 2 * r, 1e-300)
    return r, 4 - round(float(divisor)) if r < 1 else 0, model


def _trial(task: Task) -> tuple[Any, Array, Codes]:
    """The estimator trained on a few made-up rows: it shows which conventions this scikit-learn follows."""
    classes = len(task.classes)
    y = np.repeat(np.arange(classes), 4)
    X = np.array([[0.0, 0.0], [1.0, 0.2], [0.3, 1.0], [1.2, 1.5]])[np.tile(np.arange(4), classes)]
    X = X + 3.0 * y[:, None] * np.array([1.0, -0.5])
    model = cloned(task.estimator)
    model.set_params(**({"n_components": None} if hasattr(model, "n_components") else {"tol": 0.0}))
    return model.fit(X, y), X, y


def _log_priors(task: Task, model: Any) -> tuple[Array, Array, Array]:
    """Log priors of the classes in training on all rows, on all but one of another class, but one of its own."""
    n, sizes = len(task), task.class_sizes
    if task.estimator.priors is None:
        return np.log(sizes / n), np.log(sizes / (n - 1)), np.log((sizes - 1) / (n - 1))
    given = np.asarray(model.priors_, float)
    if given.shape != sizes.shape:
        raise StratError.about("priors", f"of the estimator must be one per class ({len(sizes)}), got {len(given)}.")
    with np.errstate(divide="ignore"):
        log = np.log(given)
    return log, log, log


def _quadratic(task: Task, X: Array) -> tuple[Array, Array]:
    """Quadratic discriminants with covariance (1 − r) Σ + r I, r being Kuncheva's of Example 1.6."""
    r, ddof, model = _conventions(task)
    _check_rows(task, X.shape[1], r)
    whole, others, less = _log_priors(task, model)
    scores, plainly = np.empty((len(X), len(task.classes))), np.empty((len(X), len(task.classes)))
    for k in range(len(task.classes)):
        own = np.flatnonzero(task.codes == k)
        again, left_out = _one_class(task, X, own, r, ddof)
        plainly[:, k] = again + whole[k]
        scores[:, k] = again + others[k]
        scores[own, k] = left_out + less[k]
    return scores, plainly


def _one_class(task: Task, X: Array, own: Codes, r: float, ddof: int) -> tuple[Array, Array]:
    """Log densities of all rows in a class, and of its own rows each left out, up to one constant."""
    n = len(own)
    deviations = X - X[own].mean(axis=0)
    inside = deviations[own]
    variances, axes = np.linalg.eigh(inside.T @ inside)
    if r == 0 and variances[0] <= SINGULAR * variances[-1]:
        _refuse_singular()
    squares = (deviations @ axes) ** 2
    full = (1 - r) / (n - ddof) * variances + r
    again = -0.5 * (squares @ (1 / full) + np.log(full).sum())
    # the left-out covariance is B − c (Y − M)(Y − M)', with one B for the whole class
    scale = (1 - r) / (n - 1 - ddof)
    base = scale * variances + r
    form, left = left_out(squares[own] @ (1 / base), scale, n)
    _check_left(own, left)
    return again, -0.5 * (form + np.log(base).sum() + np.log(left))


def _linear(task: Task, X: Array) -> tuple[Array, Array] | None:
    """Linear discriminants: the pooled scatter loses one rank when a row is left out."""
    if task.estimator.solver != "svd" and task.estimator.priors is not None:
        return None  # these solvers weigh the classes' covariances by the priors: not one pooled scatter
    (n, d), classes, rows = X.shape, len(task.classes), np.arange(len(X))
    _check_pooled(n, classes, d)
    model, x, y = _trial(task)
    ddof = _pooled_ddof(model, x, y)
    whole, others, less = _log_priors(task, model)
    means = np.array([X[task.codes == k].mean(axis=0) for k in range(classes)])
    own = X - means[task.codes]
    variances, axes = np.linalg.eigh(own.T @ own)
    if variances[0] <= SINGULAR * variances[-1]:
        _refuse_singular()
    gap = (X[:, None, :] - means[None]) @ (axes / np.sqrt(variances))
    u = gap[rows, task.codes]
    square, cross = (gap**2).sum(axis=2), np.einsum("nkd,nd->nk", gap, u)
    plainly = -0.5 * (n - ddof) * square + whole
    size = task.class_sizes[task.codes].astype(float)
    grow = size / (size - 1)
    left = 1 - grow * (u**2).sum(axis=1)
    _check_left(rows, left)
    square[rows, task.codes] *= grow**2  # F&H (37)
    cross[rows, task.codes] *= grow
    distance = square + (grow / left)[:, None] * cross**2  # Sherman-Morrison
    scores = -0.5 * (n - 1 - ddof) * distance + others
    scores[rows, task.codes] += (less - others)[task.codes]
    return scores, plainly


def _pooled_ddof(model: Any, X: Array, y: Codes) -> int:
    """0 if the pooled scatter is divided by the rows, else the classes, which are then taken off."""
    means = np.array([X[y == k].mean(axis=0) for k in range(y.max() + 1)])
    own = X - means[y]
    direction = np.linalg.solve(own.T @ own, means[1] - means[0])
    coef = model.coef_[0] if len(model.coef_) == 1 else model.coef_[1] - model.coef_[0]
    return len(y) - round(float(coef @ direction / (direction @ direction)))


def _refuse_singular() -> None:
    raise SingularError(
        "`X` must have features that are not linear functions of each other within the classes, got some "
        "that are: a covariance matrix is singular; drop features or regularise it (`reg_param`, `shrinkage`)."
    )


def _check_rows(task: Task, features: int, r: float) -> None:
    least = int(task.class_sizes.argmin())
    if r == 0 and task.class_sizes[least] < features + 2:
        raise SingularError(
            f"`X` must have at least features + 2 rows in each class ({features + 2}) for leave-one-out of a "
            f"quadratic discriminant, got {task.class_sizes[least]} of {plain(task.classes[least])!r}: its "
            "covariance is singular; set `reg_param` (or `r`) above 0, select features or get more rows."
        )


def _check_pooled(n: int, classes: int, features: int) -> None:
    if n < features + classes + 1:
        raise SingularError(
            f"`X` must have at least features + classes + 1 rows ({features + classes + 1}) for leave-one-out "
            f"of a linear discriminant, got {n}: the pooled covariance is singular; select features, get more "
            "rows, or use `shrinkage` with solver='lsqr'."
        )


def _check_left(rows: Codes, left: Array) -> None:
    bad = rows[left < SINGULAR]
    if len(bad):
        raise SingularError(
            f"`X` must keep a covariance of full rank when a row is left out, got a singular one without row "
            f"{some(bad)}; regularise it (`reg_param`), or drop the features that only these rows fill."
        )

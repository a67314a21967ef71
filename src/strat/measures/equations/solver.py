"""One solver for every statistic that is the root of an equation, and its influence −A⁻¹ψ.

The components of such a statistic are the weights of the distinct rows, so that it is a function of totals like any
other: closed form, replicates, strata, clusters and domains know nothing of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from strat.base.errors import StratError
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, Codes, labels_of, numbers
from strat.measures.base import Axis, Rows, Statistic, last_remembered

STEPS = 60  # of Newton's method: a solution that runs away moves by about one logit with each
HALVINGS = 30  # of a step that makes the sums larger
BALANCE = 1e-10  # of the sum of |ψ|: what a sum of zero may leave
STILL = 1e-13  # of θ: a step that is rounding
COLLINEAR = 1e13  # condition number beyond which the rows do not determine the solution
DIFFERENCE = 6e-6  # relative step of the numerical Jacobian: the cube root of the rounding error


@dataclass(frozen=True, eq=False)
class Equation:
    """Estimating functions of distinct rows.

    Attributes
    ----------
    name
        What the solution is called.
    scores
        From θ to ψ(line; θ): lines × parameters, dense or sparse.
    slope
        From θ and the weights of the lines to A = Σ w ∂ψ/∂θ: parameters × parameters.
    start
        Where Newton's method begins.
    """

    name: str
    scores: Callable[[Array], Any]
    slope: Callable[[Array, Array], Array]
    start: Array

    def solve(self, weights: Array, start: Array | None = None) -> Array:
        """θ with Σ w ψ(line; θ) = 0; refused where there is none to be had."""
        theta = np.array(self.start if start is None else start, float)
        with np.errstate(all="ignore"):
            psi = self.scores(theta)
            for _ in range(STEPS):
                total = psi.T @ weights
                balanced = np.abs(total) <= BALANCE * (abs(psi).T @ weights)
                step = self._step(theta, weights, total)
                if balanced.all() or np.abs(step).max() <= STILL * (1.0 + np.abs(theta).max()):
                    return theta + step
                theta, psi = self._damped(theta, step, weights, float(np.linalg.norm(total)))
        raise StratError(
            f"`{self.name}` must have a finite solution, got none after {STEPS} Newton steps: some rows are separated "
            "perfectly, or `start` is too far off; drop a term, or choose another `start`."
        )

    def _step(self, theta: Array, weights: Array, total: Array) -> Array:
        """Newton's step −A⁻¹ Σ w ψ."""
        return -_inverse(self.slope(theta, weights), self.name) @ total

    def _damped(self, theta: Array, step: Array, weights: Array, before: float) -> tuple[Array, Any]:
        """The step, halved until the sums are smaller than they were."""
        for _ in range(HALVINGS):
            psi = self.scores(theta + step)
            size = float(np.linalg.norm(psi.T @ weights))
            if np.isfinite(size) and size < before:
                break
            step = step / 2.0
        return theta + step, psi

    def influence(self, theta: Array, weights: Array) -> tuple[Any, Array]:
        """Two matrices whose product, lines × parameters, is what a weight on each line does to θ: ψ and −A⁻ᵀ."""
        return self.scores(theta), -_inverse(self.slope(theta, weights), self.name).T


def _inverse(slope: Array, name: str) -> Array:
    size = np.abs(slope).max(axis=0)
    scale = np.sqrt(np.where(size > 0, size, 1.0))
    scaled = slope / np.outer(scale, scale)
    if not np.isfinite(scaled).all() or (size == 0).any() or np.linalg.cond(scaled) > COLLINEAR:
        raise StratError.about(
            name,
            "must be determined by the rows, got a singular Jacobian: columns that depend on each other, "
            "parameters that no row looks at, or rows that are separated perfectly; leave a term out.",
        )
    return np.linalg.inv(scaled) / np.outer(scale, scale)


def as_statistic(
    one: Equation, codes: Codes | None, lines: int, axes: tuple[Axis, ...], *, sparse: bool = False, **facts: Any
) -> Statistic:
    """The solution as a function of the weights of the lines; `codes` say which line each row is (None: its own)."""
    solved = last_remembered(one.solve)

    def function(t: Array) -> Array:
        if t.ndim == 1:
            return _shaped(solved(t), axes)
        flat = t.reshape(-1, t.shape[-1])
        return _shaped(_each(one, flat).reshape(*t.shape[:-1], len(one.start)), axes)

    def influence(t: Array) -> tuple[Any, Array]:
        return one.influence(solved(t), t)

    def gradient(t: Array) -> Array:
        psi, right = influence(t)
        return _shaped(np.asarray(psi @ right), axes)

    return Statistic(
        name=one.name,
        rows=(Rows(codes, None, lines),),
        function=function,
        gradient=gradient,
        factored_gradient=influence if sparse else None,
        axes=axes,
        **facts,
    )


def _shaped(theta: Array, axes: tuple[Axis, ...]) -> Array:
    return theta if axes else theta[..., 0]


def _each(one: Equation, replicates: Array) -> Array:
    """The solution in each replicate, begun at that of their mean; not a number where there is none."""
    start = one.solve(replicates.mean(axis=0))
    solutions = np.full((len(replicates), len(start)), np.nan)
    for i, weights in enumerate(replicates):
        try:
            solutions[i] = one.solve(weights, start)
        except StratError:
            continue
    return solutions


@checked
def equation(
    psi: Callable[[Array], Any],
    *,
    start: Sequence[float],
    jacobian: Callable[[Array], Any] | None = None,
    labels: Sequence[str] | None = None,
    name: str = "solution",
) -> Statistic:
    """The solution θ of Σ w ψ(row; θ) = 0, found by Newton's method.

    Its influence is −A⁻¹ψ with A = Σ w ∂ψ/∂θ (the sandwich variance), so that every design and every method of
    variance serves it.

    Parameters
    ----------
    psi
        From θ to the rows × parameters that must sum to zero; a column for each parameter.
    start
        Where to begin, a number for each parameter.
    jacobian
        From θ to ∂ψ/∂θ of each row: rows × parameters (of ψ) × parameters (of θ). None: central differences.
    labels
        What the parameters are called.
    name
        What the solution is called.

    Examples
    --------
    The mean and the variance, as one equation:

    >>> y = np.array([1.0, 2.0, 6.0])
    >>> both = equation(lambda θ: np.column_stack([y - θ[0], (y - θ[0]) ** 2 - θ[1]]), start=[0.0, 1.0])
    >>> both.value().round(4).tolist()
    [3.0, 4.6667]
    """
    begin = numbers("start", start, axes=1)
    parameters = len(begin)

    def scores(theta: Array) -> Array:
        return _checked_scores(psi(theta), parameters)

    first = scores(begin)
    if not np.isfinite(first).all():
        raise StratError.about("psi", "must be finite at `start`, got values that are not; choose another `start`.")
    order = np.lexsort(np.hstack([first, scores(begin + 0.1)]).T)  # content tells rows apart, not their place
    line = np.empty(len(order), np.int64)
    line[order] = np.arange(len(order))

    def slope(theta: Array, weights: Array) -> Array:
        if jacobian is None:
            return differences(lambda at: scores(at)[order], theta, weights)
        each = np.asarray(jacobian(theta), float)
        if each.shape != (len(order), parameters, parameters):
            raise StratError.about(
                "jacobian",
                f"must give rows × parameters × parameters, {(len(order), parameters, parameters)}, got {each.shape}.",
            )
        return np.tensordot(weights, each[order], 1)

    names = tuple(range(parameters)) if labels is None else tuple(labels_of("labels", labels).tolist())
    if len(names) != parameters:
        raise StratError.about("labels", f"must name each of the {parameters} parameters, got {len(names)}.")
    axes = () if parameters == 1 else (Axis("parameter", names),)
    return as_statistic(Equation(name, lambda theta: scores(theta)[order], slope, begin), line, len(order), axes)


def differences(scores: Callable[[Array], Any], theta: Array, weights: Array) -> Array:
    """A = Σ w ∂ψ/∂θ by central differences: parameters of ψ × parameters of θ."""
    columns = []
    for j, value in enumerate(theta):
        step = np.zeros(len(theta))
        step[j] = DIFFERENCE * max(1.0, abs(float(value)))
        columns.append((scores(theta + step).T @ weights - scores(theta - step).T @ weights) / (2.0 * step[j]))
    return np.column_stack(columns)


def _checked_scores(values: ArrayLike, parameters: int) -> Array:
    array = np.asarray(values, float)
    if array.ndim == 1 and parameters == 1:
        array = array[:, None]
    if array.ndim != 2 or array.shape[1] != parameters:
        raise StratError.about(
            "psi",
            f"must give rows × parameters, a column for each of the {parameters} numbers of `start`, got shape "
            f"{array.shape}.",
        )
    return array

"""Two phases: a cheap judgement on every row, the true one on a sample of them.

θ = T(labelled) + Σ_k λ_k (S_k(all) − S_k(labelled)) with the measure T of the true judgement and measures S_k of what
is known of every row (Särndal, Swensson and Wretman 1992, 9; with one mean and one proxy: prediction-powered inference,
Angelopoulos and others 2023). All of it is a function of totals of the same rows, so that units which hold labelled and
other rows carry both phases, and any design gives the variance of both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strat.base.errors import StratError, one_of, some
from strat.base.validate.arguments import checked, shown
from strat.base.validate.columns import LARGEST, Array, Codes, encode, numbers, same_length
from strat.estimation import linear
from strat.estimation.phase_limits import ROUNDING, Contributions
from strat.measures.base import Statistic, block_totals
from strat.measures.means import domain, proportion

ESTIMATORS = ("regression", "stratified", "difference", "labels")


@dataclass(frozen=True, eq=False)
class Phases:
    """The measures of both phases, of the same rows.

    Attributes
    ----------
    measure
        T of the labelled rows, each as heavy as the rows that it stands for.
    everywhere, labelled
        S_k of all rows, and of the labelled ones.
    chosen
        Which rows are labelled.
    inverse
        For each row, one over its probability of being labelled.
    number
        How many labelled rows, or units that hold some.
    proxies
        How many of S_k are proxies; the others are sizes of strata.
    unit
        The unit of each row (None: rows are units, or units are not known).
    either
        The measure of all rows if the first proxy is right in each, and if it is wrong in each (None: the truth has
        not two classes).
    """

    measure: Statistic
    everywhere: tuple[Statistic, ...]
    labelled: tuple[Statistic, ...]
    chosen: NDArray[np.bool_]
    inverse: Array
    number: int
    proxies: int
    unit: Codes | None = None
    either: tuple[Statistic, Statistic] | None = None

    @property
    def parts(self) -> tuple[Statistic, ...]:
        """T, then all S of all rows, then all S of the labelled ones."""
        return (self.measure, *self.everywhere, *self.labelled)

    def slopes(self, weights: Array | None, target: Sequence[Statistic]) -> list[Array]:
        """The influence of each labelled row on these measures: rows × values each."""
        w = np.ones(len(self.measure)) if weights is None else weights
        return [linear.row_influence(one, _at_totals(one, w)[1])[self.chosen] for one in target]

    def coefficients(self, fixed: Sequence[float | None], weights: Array | None) -> Array:
        """λ: as fixed, the others by least squares of the influences over the labelled rows: k × values."""
        top, *others = self.slopes(weights, (self.measure, *self.labelled))
        w = self.inverse[self.chosen] if weights is None else (weights * self.inverse)[self.chosen]
        root = np.sqrt(w / w.mean())[:, None]
        values = np.zeros((len(others), top.shape[1]))
        for j in range(top.shape[1]):
            rest = top[:, j].copy()
            for k, known in enumerate(fixed):
                if known is not None:
                    values[k, j] = known
                    rest -= known * others[k][:, j]
            free = [k for k, known in enumerate(fixed) if known is None]
            if free:
                design = np.column_stack([others[k][:, j] for k in free])
                scale = np.abs(design).max(axis=0)
                design = design / np.where(scale > 0, scale, 1.0)
                coefficients = np.linalg.lstsq(design * root, rest * root[:, 0], rcond=1e-10)[0]
                values[free, j] = np.where(scale > 0, coefficients / np.where(scale > 0, scale, 1.0), 0.0)
        return values

    def combined(self, of_measure: float, of_all: Array, of_labelled: Array, fitted: int) -> Statistic:
        """A T + Σ b_k S_k(all) + Σ c_k S_k(labelled); `fitted` coefficients were found in the labelled rows.

        The influences of labelled rows are those of residuals from `fitted` coefficients and a mean: their squares are
        short by 1 − (1 + fitted) / n, which is put right.
        """
        shape = self.measure.shape
        factors = [np.full(shape, of_measure), *(row.reshape(shape) for row in (*of_all, *of_labelled))]
        few = np.sqrt(self.number / max(self.number - 1 - fitted, 1))
        short = [few, *([1.0] * len(self.everywhere)), *([few] * len(self.labelled))]
        total = _WeightedSum(self.parts, tuple(factors), tuple(short))
        return replace(
            self.measure,
            rows=tuple(block for part in self.parts for block in part.rows),
            function=total.value,
            gradient=total.gradient,
            proportion=False,
            base=None,
            split=None,
            sparse_gradient=None,
            factored_gradient=None,
            curved_below=0,
            chance=None,
        )


@dataclass(frozen=True, eq=False)
class LabelledContributions:
    """What rows count as in the values of both phases, when somebody asks.

    Attributes
    ----------
    phases, weights
        The measures of both phases, and the weights of the rows (None: 1 each).
    lam
        The coefficients: k × values.
    held
        Whether those of the proxies are fixed.
    """

    phases: Phases
    weights: Array | None
    lam: Array
    held: bool

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the values."""
        return self.phases.measure.shape

    def __call__(self) -> Contributions:
        """What they count as: the value is the weighted mean of these, to first order."""
        phases, measure = self.phases, self.phases.measure
        w = np.ones(len(measure)) if self.weights is None else self.weights
        mass = float((w * phases.inverse)[phases.chosen].sum())
        value, slope = _at_totals(measure, w)
        either = phases.either
        if either is not None and any(one.components != measure.components for one in either):
            either = None
        counted = (
            linear.row_influence(measure, slope)[phases.chosen] / phases.inverse[phases.chosen, None] * mass + value
        )
        forecast = np.zeros((len(w), len(value)))
        lam = self.lam if self.held or len(self.lam) > 1 else np.sign(self.lam)  # of one proxy, its own word will do
        for one, coefficients in zip(phases.everywhere, lam, strict=True):
            if coefficients.any():
                level, own = _at_totals(one, w)
                forecast += coefficients * (linear.row_influence(one, own) * w.sum() + level)
        both = None
        if either is not None:
            right, wrong = (linear.row_influence(one, slope) * mass + value for one in either)
            both = right, wrong
        return Contributions(
            phases.chosen,
            w,
            phases.inverse,
            phases.unit,
            counted,
            forecast,
            both,
            _zero_or_one(measure, counted),
            self.held,
        )


def _at_totals(statistic: Statistic, w: Array) -> tuple[Array, Array]:
    """The values, and their derivatives by the totals: components × values."""
    totals = np.concatenate([block_totals(block, w) for block in statistic.rows])
    return np.ravel(statistic.function(totals)), linear.gradient(statistic, totals, w)


def _zero_or_one(measure: Statistic, counted: Array) -> bool:
    """Whether rows count as right or wrong, and as nothing between."""
    whole = np.abs(counted - np.round(counted)).max() <= ROUNDING and counted.min() > -0.5 and counted.max() < 1.5
    return bool(whole and (measure.proportion or np.ptp(counted) > 0.5))


@dataclass(frozen=True, eq=False)
class _WeightedSum:
    """A sum of statistics whose totals stand side by side, each times its factor.

    Attributes
    ----------
    parts, factors
        The statistics, and what the values of each are multiplied by.
    corrections
        What the derivative of each is multiplied by beside its factor.
    """

    parts: tuple[Statistic, ...]
    factors: tuple[Array, ...]
    corrections: tuple[float, ...]

    def _cut(self, totals: Array) -> list[Array]:
        """The totals of each part."""
        ends = np.cumsum([part.components for part in self.parts])
        return np.split(totals, ends[:-1], axis=-1)

    def value(self, totals: Array) -> Array:
        """The sum."""
        each = zip(self.parts, self._cut(totals), self.factors, strict=True)
        return np.asarray(sum(factor * part.function(own) for part, own, factor in each))

    def gradient(self, totals: Array) -> Array:
        """Its derivatives by the totals."""
        each = zip(self.parts, self._cut(totals), self.factors, self.corrections, strict=True)
        scaled = [_slope(part, own) * factor.ravel() * correction for part, own, factor, correction in each]
        return np.concatenate(scaled).reshape(len(totals), *self.parts[0].shape)


def _slope(part: Statistic, totals: Array) -> Array:
    """Derivatives by the totals: components × values."""
    if part.gradient is not None:
        return part.gradient(totals).reshape(len(totals), -1)
    live = np.flatnonzero(totals)
    slope = np.zeros((len(totals), int(np.prod(part.shape))))
    steps = linear.STEP * np.abs(totals[live])
    slope[live] = linear.derivatives(part.function, totals, np.eye(len(totals))[live], steps)
    return slope


@checked
def two_phase(
    statistic: Statistic,
    *,
    proxy: Statistic | Sequence[Statistic] = (),
    labelled: ArrayLike,
    probability: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    estimator: str = "regression",
    coefficients: Sequence[float] | None = None,
    weights: ArrayLike | None = None,
    units: ArrayLike | None = None,
) -> Statistic:
    """A measure of true judgements that some rows have, helped by a proxy that all rows have.

    Parameters
    ----------
    statistic
        The measure with the true judgement of the labelled rows; what the other rows hold is ignored.
    proxy
        The same measure with the proxy in place of the truth, of all rows; or several such.
    labelled
        Which rows have the true judgement, true or false.
    probability
        The probability with which each labelled row was chosen; None: the same for all (a simple random sample), or for
        all of a stratum.
    strata
        Groups of rows within which the labelled ones were drawn; the estimate then adjusts for their sizes.
    estimator
        "regression" takes the coefficient λ with the least variance (PPI++), "stratified" one of its own in each of
        `strata`, "difference" takes λ = 1 (prediction-powered inference), "labels" leaves the proxy out.
    coefficients
        Your own λ for each proxy, in place of `estimator`.
    weights, units
        Row weights and units of the design, where it has them: for λ, and to count the units that hold labels.

    Examples
    --------
    Four rows judged, two of them truly: the proxy is 0.25 too high on these, and 0.75 in the mean of all.

    >>> from strat.measures import mean
    >>> human, judge = [1.0, 0.5, 0.0, 0.0], [1.0, 1.0, 0.5, 0.5]
    >>> one = two_phase(mean(human), proxy=mean(judge), labelled=[True, True, False, False], estimator="difference")
    >>> float(one.value())
    0.5
    """
    one_of("estimator", estimator, ESTIMATORS)
    phases = phases_of(
        statistic,
        proxy,
        labelled=labelled,
        probability=probability,
        strata=strata,
        units=units,
        by_stratum=estimator == "stratified",
    )
    fixed = fixed_coefficients(estimator, coefficients, phases)
    row_weights = None if weights is None else numbers("weights", weights, axes=1, most=LARGEST)
    return of_phases(phases, fixed, row_weights)


def of_phases(phases: Phases, fixed: Sequence[float | None], weights: Array | None) -> Statistic:
    """The estimate of both phases, with these coefficients or the best ones (None)."""
    lam = phases.coefficients(fixed, weights)
    fitted = sum(known is None for known in fixed)
    if phases.number < fitted + 2:
        raise StratError.about(
            "labelled",
            f"must choose at least {fitted + 2} rows in different units to fit {fitted} coefficients, got "
            f"{phases.number}; take estimator='difference', or fewer proxies.",
        )
    held = all(known is not None for known in fixed[: phases.proxies])
    return replace(phases.combined(1.0, lam, -lam, fitted), sum_of=LabelledContributions(phases, weights, lam, held))


def fixed_coefficients(estimator: str, coefficients: Sequence[float] | None, phases: Phases) -> list[float | None]:
    """The coefficient of each proxy where it is fixed; those of strata are always fitted."""
    proxies = phases.proxies
    if coefficients is not None:
        if len(coefficients) != proxies:
            raise StratError.about(
                "coefficients", f"must have one number for each of {proxies} proxies, got {coefficients}."
            )
        first: list[float | None] = [float(value) for value in coefficients]
    elif estimator == "difference" and proxies > 1:
        raise StratError.about(
            "estimator",
            f"must be 'regression' for several proxies, got 'difference' with {proxies}; or give `coefficients`.",
        )
    else:
        known = {"difference": 1.0, "labels": 0.0}.get(estimator)
        first = [known] * proxies
    return [*first, *([None] * (len(phases.labelled) - proxies))]


def phases_of(
    statistic: Statistic,
    proxy: Statistic | Sequence[Statistic],
    *,
    labelled: ArrayLike,
    probability: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    units: ArrayLike | None = None,
    by_stratum: bool = False,
    either: tuple[Statistic, Statistic] | None = None,
) -> Phases:
    """The measures of both phases, checked; `by_stratum`: a proxy is one measure in each of `strata`."""
    chosen = mask_of("labelled", labelled, len(statistic))
    proxies = _statistics(proxy, statistic)
    inverse = inverse_probabilities(probability, chosen) if probability is not None else _shares(strata, chosen)
    sizes = _sizes(strata, chosen, statistic)
    if by_stratum:
        proxies = [domain(one, inside) for one in proxies for inside in _strata(strata)]
    helped = len(proxies)
    proxies += sizes

    def weighted(one: Statistic) -> Statistic:
        inside = domain(one, chosen)
        return replace(inside, rows=tuple(block.scaled(inverse) for block in inside.rows))

    labelled_parts = tuple(weighted(one) for one in proxies)
    unit, number = None, int(chosen.sum())
    if units is not None:
        unit, _ = encode("units", units)
        same_length(labelled=chosen, units=unit)
        number = len(np.unique(unit[chosen]))
    return Phases(weighted(statistic), tuple(proxies), labelled_parts, chosen, inverse, number, helped, unit, either)


def mask_of(argument: str, values: ArrayLike, rows: int) -> NDArray[np.bool_]:
    """True or false for each of so many rows, and true for some."""
    mask = np.asarray(values)
    if mask.dtype == object and all(isinstance(value, bool | np.bool_) for value in mask.flat):
        mask = mask.astype(bool)
    if mask.dtype != bool or mask.shape != (rows,) or not mask.any():
        raise StratError.about(argument, f"must be true or false for each of {rows:,} rows, and true for some.")
    return mask


def _statistics(proxy: Any, statistic: Statistic) -> list[Statistic]:
    """One proxy or several, as a list, if they are like the measure itself."""
    proxies = [proxy] if isinstance(proxy, Statistic) else list(proxy) if isinstance(proxy, list | tuple) else [proxy]
    if not all(isinstance(one, Statistic) for one in proxies):
        raise StratError.about(
            "proxy", f"must be a statistic such as strat.mean(judge), or a list of them, got {shown(proxy)}."
        )
    for one in (statistic, *proxies):
        if one.shape != statistic.shape or one.of_weights or one.quantile is not None:
            raise StratError.about(
                "proxy", f"must be a function of totals of the shape of `{statistic.name}`, got {one}."
            )
        same_length(statistic=range(len(statistic)), proxy=range(len(one)))
    return proxies


def inverse_probabilities(probability: ArrayLike, chosen: NDArray[np.bool_]) -> Array:
    """One over the probability of being labelled, of the labelled rows."""
    p = numbers("probability", probability, axes=1, finite=False)
    same_length(labelled=chosen, probability=p)
    wrong = chosen & ~((p > 0) & (p <= 1))
    if wrong.any():
        raise StratError.about(
            "probability", f"must be above 0 and at most 1 in every labelled row, got {some(p[wrong].tolist(), 3)}."
        )
    return np.where(chosen, 1.0 / np.where(chosen, p, 1.0), 1.0)


def _shares(strata: ArrayLike | None, chosen: NDArray[np.bool_]) -> Array:
    """The same where labels are a simple random sample, of all rows or of each stratum."""
    if strata is None:
        return np.ones(len(chosen))
    codes, labels = encode("strata", strata)
    same_length(labelled=chosen, strata=codes)
    drawn = np.bincount(codes[chosen], minlength=len(labels))
    return (np.bincount(codes) / np.maximum(drawn, 1))[codes]


def _sizes(strata: ArrayLike | None, chosen: NDArray[np.bool_], statistic: Statistic) -> list[Statistic]:
    """The shares of the groups within which labels were drawn, all but one: their sizes are known of all rows."""
    if strata is None:
        return []
    codes, labels = encode("strata", strata)
    same_length(labelled=chosen, strata=codes)
    empty = [label for label in range(len(labels)) if not chosen[codes == label].any()]
    if empty:
        raise StratError.about("strata", f"must hold labelled rows each, got none in {some(labels[empty].tolist())}.")
    return [_shaped(proportion(codes == k), statistic) for k in range(1, len(labels))]


def _strata(strata: ArrayLike | None) -> list[NDArray[np.bool_]]:
    """Which rows lie in each stratum."""
    if strata is None:
        raise StratError.about(
            "strata",
            "must be given with estimator='stratified', got None; name the groups that each get a coefficient.",
        )
    codes, labels = encode("strata", strata)
    return [codes == k for k in range(len(labels))]


def _shaped(share: Statistic, statistic: Statistic) -> Statistic:
    """A share of rows, as often as the measure has values."""
    if not statistic.axes:
        return share
    shape, size = statistic.shape, int(np.prod(statistic.shape))
    inner, slope = share.function, share.gradient
    assert slope is not None

    def repeated(t: Array) -> Array:
        value = np.asarray(inner(t))
        return np.broadcast_to(value.reshape(*value.shape, *([1] * len(shape))), (*value.shape, *shape))

    def gradient(t: Array) -> Array:
        return np.repeat(slope(t).reshape(-1, 1), size, axis=1).reshape(-1, *shape)

    return replace(share, function=repeated, gradient=gradient, axes=statistic.axes)

"""Measures of verification as numbers with a linear part: rates, EER, AUC, detection costs, Cllr and its minimum.

A minimum over thresholds (minDCF) or over monotone calibrations (minimum Cllr) has the linear part of the measure at
its optimum: to first order, moving the optimum changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from strat.base.errors import StratError
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array
from strat.recognition.error_rates import ErrorRates
from strat.recognition.two_way import Functional

LN2 = float(np.log(2.0))


@dataclass(frozen=True)
class Cost:
    """What errors cost, and how often a comparison is mated: the parameters of a detection cost.

    Attributes
    ----------
    p_target
        Prior probability of a mated comparison, strictly between 0 and 1.
    c_miss, c_fa
        Cost of a false non-match, and of a false match.

    Examples
    --------
    >>> Cost(0.01).normalizer, round(Cost(0.01).threshold, 4)
    (0.01, 4.5951)
    """

    p_target: float = 0.01
    c_miss: float = 1.0
    c_fa: float = 1.0

    def __post_init__(self) -> None:
        """Refuse what is no probability and no cost."""
        for name, most in (("p_target", 1.0), ("c_miss", np.inf), ("c_fa", np.inf)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0 < value < most:
                wanted = "strictly between 0 and 1" if most == 1 else "a positive number"
                raise StratError.about(name, f"must be {wanted}, got {value!r}.")

    @property
    def miss(self) -> float:
        """Weight of FNMR in the detection cost."""
        return self.c_miss * self.p_target

    @property
    def false_match(self) -> float:
        """Weight of FMR in the detection cost."""
        return self.c_fa * (1 - self.p_target)

    @property
    def normalizer(self) -> float:
        """The cost of the better of accepting everybody and rejecting everybody, by which costs are divided."""
        return min(self.miss, self.false_match)

    @property
    def threshold(self) -> float:
        """Bayes' threshold of calibrated log-likelihood ratios (natural logarithms)."""
        return float(np.log(self.false_match / self.miss))

    def __str__(self) -> str:
        """The parameters in words."""
        costs = "" if self.c_miss == self.c_fa == 1 else f", C_miss {self.c_miss:g}, C_fa {self.c_fa:g}"
        return f"P_target {self.p_target:g}{costs}"


def at_threshold(s: ErrorRates, name: str, t: float, of_fnmr: float, of_fmr: float, value: float) -> Functional:
    """A measure that moves with FNMR and FMR at a threshold by these coefficients."""
    fnmr, fmr = float(s.fnmr_below(t)), float(s.fmr_at(t))

    def missed(x: Array) -> Array:
        return np.asarray(of_fnmr * ((x < t) - fnmr), float)

    def matched(x: Array) -> Array:
        return np.asarray(of_fmr * ((x >= t) - fmr), float)

    return Functional(name, value, missed, matched)


def eer(s: ErrorRates) -> Functional:
    """The equal error rate: FMR and FNMR move to a common value, each by how steep the other is."""
    value, t = s.equal
    slope = s.det_slope(value)
    return at_threshold(s, "EER", t, 1 / (1 + slope), slope / (1 + slope), value)


def fnmr_at(s: ErrorRates, fmr: float) -> Functional:
    """FNMR at the least threshold with that FMR or less; the threshold moves, too."""
    t = float(s.threshold(fmr))
    return at_threshold(s, f"FNMR at FMR {fmr:g}", t, 1.0, s.det_slope(fmr), float(s.fnmr_below(t)))


def tar_at(s: ErrorRates, far: float) -> Functional:
    """The true accept rate, 1 − FNMR, at that FMR."""
    missed = fnmr_at(s, far)
    return Functional(
        f"TAR at FAR {far:g}", 1 - missed.value, lambda x: -missed.mated(x), lambda x: -missed.nonmated(x)
    )


def fmr(s: ErrorRates, threshold: float) -> Functional:
    """FMR at a threshold."""
    return at_threshold(s, "FMR", threshold, 0.0, 1.0, float(s.fmr_at(threshold)))


def fnmr(s: ErrorRates, threshold: float) -> Functional:
    """FNMR at a threshold."""
    return at_threshold(s, "FNMR", threshold, 1.0, 0.0, float(s.fnmr_below(threshold)))


def zero_fmr(s: ErrorRates) -> Functional:
    """FNMR at the least threshold without a false match, taken as given."""
    t = float(np.nextafter(s.nonmated[-1], np.inf))
    return at_threshold(s, "ZeroFMR", t, 1.0, 0.0, float(s.fnmr_below(t)))


def auc(s: ErrorRates) -> Functional:
    """The chance that a mated score is greater than a non-mated one, ties counting one half."""

    def below(rate: Callable[[Array], Array], x: Array) -> Array:
        """The share of the other scores below x, and half of those equal to it."""
        return np.asarray((rate(x) + rate(np.nextafter(x, np.inf))) / 2)

    value = s.mated_mean(1 - below(s.fmr_at, s.mated))
    return Functional(
        "AUC", value, lambda x: 1 - below(s.fmr_at, x) - value, lambda x: 1 - below(s.fnmr_below, x) - value
    )


def min_dcf(s: ErrorRates, cost: Cost) -> Functional:
    """The least normalized detection cost of any threshold (NIST)."""
    t = np.append(np.unique(s.mated), np.inf)  # between two mated scores only FMR falls
    costs = (cost.miss * s.fnmr_below(t) + cost.false_match * s.fmr_at(t)) / cost.normalizer
    best = int(costs.argmin())
    return _dcf(s, f"minDCF ({cost})", cost, float(t[best]))


def act_dcf(s: ErrorRates, cost: Cost) -> Functional:
    """The normalized detection cost at Bayes' threshold of scores that are log-likelihood ratios."""
    functional = _dcf(s, f"actDCF ({cost})", cost, cost.threshold)
    return Functional(functional.name, functional.value, functional.mated, functional.nonmated, "log", (0.0, np.inf))


def _dcf(s: ErrorRates, name: str, cost: Cost, t: float) -> Functional:
    of_fnmr, of_fmr = cost.miss / cost.normalizer, cost.false_match / cost.normalizer
    value = of_fnmr * float(s.fnmr_below(t)) + of_fmr * float(s.fmr_at(t))
    return at_threshold(s, name, t, of_fnmr, of_fmr, value)


def cllr(s: ErrorRates) -> Functional:
    """The cost of log-likelihood ratios (Brümmer and du Preez 2006, (14)), in bits; 1 for scores that say nothing."""
    return _two_means(s, "Cllr", lambda x: np.logaddexp(0, -x) / LN2, lambda x: np.logaddexp(0, x) / LN2, "log", np.inf)


def min_cllr(s: ErrorRates) -> Functional:
    """Cllr after the best monotone calibration of these very scores (pool adjacent violators)."""
    score, posterior = calibrated(s)
    with np.errstate(divide="ignore"):
        of_mated, of_others = -np.log2(posterior), -np.log2(1 - posterior)

    def looked_up(costs: Array) -> Callable[[Array], Array]:
        return lambda x: costs[np.searchsorted(score, x)]

    return _two_means(s, "minimum Cllr", looked_up(of_mated), looked_up(of_others), "logit", 1.0)


def _two_means(
    s: ErrorRates,
    name: str,
    of_mated: Callable[[Array], Array],
    of_others: Callable[[Array], Array],
    link: str,
    most: float,
) -> Functional:
    """Half the mean cost of mated scores and half that of non-mated ones."""
    a, b = s.mated_mean(of_mated(s.mated)), s.nonmated_mean(of_others(s.nonmated))
    return Functional(
        name, (a + b) / 2, lambda x: (of_mated(x) - a) / 2, lambda x: (of_others(x) - b) / 2, link, (0.0, most)
    )


def calibrated(s: ErrorRates) -> tuple[Array, Array]:
    """The distinct scores, and the chance of a mated comparison at each with even odds, rising (isotonic)."""
    from scipy.optimize import isotonic_regression

    score = np.unique(np.concatenate([s.mated, s.nonmated]))
    mated, others = (np.diff(np.append(rate(score), last)) for rate, last in ((s.fnmr_below, 1.0), (s.fmr_at, 0.0)))
    mated, others = np.maximum(mated, 0.0), np.maximum(-others, 0.0)
    weight = mated + others
    seen = weight > 0
    chance = isotonic_regression((mated[seen] / weight[seen]), weights=weight[seen]).x
    return score[seen], np.clip(chance, 0.0, 1.0)


OF_RATE = {"fnmr_at": fnmr_at, "tar_at": tar_at}
OF_THRESHOLD = {"fmr": fmr, "fnmr": fnmr}
OF_COST = {"min_dcf": min_dcf, "act_dcf": act_dcf}
PLAIN = {"eer": eer, "auc": auc, "cllr": cllr, "min_cllr": min_cllr, "zero_fmr": zero_fmr}
NAMES = (*PLAIN, *OF_RATE, *OF_THRESHOLD, *OF_COST)


@checked
def functional(s: ErrorRates, measure: str, at: float | Cost | None = None) -> Functional:
    """The measure of this name: at a rate, at a threshold, with a cost, or as it is."""
    if measure in PLAIN:
        if at is not None:
            raise StratError.about("at", f"must be left out for {measure!r}, got {at!r}.")
        return PLAIN[measure](s)
    if measure in OF_COST:
        if at is not None and not isinstance(at, Cost):
            raise StratError.about("at", f"must be a Cost for {measure!r}, got {at!r}; such as Cost(p_target=0.01).")
        return OF_COST[measure](s, Cost() if at is None else at)
    if at is None or isinstance(at, Cost):
        wanted = "a false match rate" if measure in OF_RATE else "a threshold"
        raise StratError.about("at", f"must be {wanted} for {measure!r}, got {at!r}.")
    return OF_RATE[measure](s, float(at)) if measure in OF_RATE else OF_THRESHOLD[measure](s, float(at))

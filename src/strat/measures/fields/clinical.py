"""Clinical prediction: net benefit, observed over expected, likelihood ratios, reclassification, concordance.

The usual unit is the patient; the hospital where patients of one are alike.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from strat.base.errors import StratError, plain, some
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, Codes, encode, number_columns, numbers, same_length, values
from strat.measures.base import Axis, Rows, Statistic
from strat.measures.classification import recall
from strat.measures.fields.inputs import of_row_weights
from strat.measures.fields.pairs import Lower
from strat.measures.means import mean
from strat.measures.positive import positives
from strat.measures.quotients import quotient, ratio_of_totals, share_slopes, share_value
from strat.measures.register import SCORES, THREE, measure
from strat.measures.stacking import stack


@measure(
    "net_benefit",
    needs=SCORES,
    at="thresholds",
    unit="true positives per row",
    bounds=(-np.inf, 1.0),
    reference="Vickers and Elkin 2006",
)
@checked
def net_benefit(
    truth: ArrayLike, probability: ArrayLike, *, thresholds: ArrayLike, positive: object = None
) -> Statistic:
    """Net benefit at each threshold: true positives − false positives × t / (1 − t), over all rows: a decision curve.

    Vickers and Elkin (2006). Each row adds, at threshold t, 1 if it is a true positive and −t / (1 − t) if a false
    one. `decision_curve` has treating all beside it, and treating none has 0.
    The usual unit is the patient, or the hospital.

    Parameters
    ----------
    truth
        Labels of two classes.
    probability
        Predicted risk of the positive class; a row is treated if it is at least the threshold.
    thresholds
        Risk or risks at which one would treat, between 0 and 1.
    positive
        The class of those with the disease.

    Examples
    --------
    >>> net_benefit([1, 1, 0, 0], [0.9, 0.3, 0.6, 0.1], thresholds=[0.2, 0.5]).value().tolist()
    [0.4375, 0.0]
    """
    codes, risk, label = _risks(truth, probability, positive)
    return _net_benefit(codes, risk, thresholds, label)


@checked
def decision_curve(
    truth: ArrayLike, probability: ArrayLike, *, thresholds: ArrayLike, positive: object = None
) -> Statistic:
    """The net benefit of a model at each threshold beside that of treating all; treating none has 0 by definition.

    Both are of the same rows, so that their difference keeps its covariance; pictures have a line at 0. Each row adds
    what it does to `net_benefit`. The usual unit is the patient, or the hospital.

    Parameters
    ----------
    truth, probability, thresholds, positive
        As for `net_benefit`.

    Examples
    --------
    >>> curve = decision_curve([1, 1, 0, 0], [0.9, 0.3, 0.6, 0.1], thresholds=[0.2, 0.5])
    >>> dict(zip(curve.axes[0].labels, curve.value().tolist()))
    {'model': [0.4375, 0.0], 'treat all': [0.375, 0.0]}
    """
    codes, risk, label = _risks(truth, probability, positive)
    treated = {"model": risk, "treat all": np.ones(len(risk))}
    return stack("strategy", {name: _net_benefit(codes, each, thresholds, label) for name, each in treated.items()})


def _net_benefit(codes: Codes, risk: Array, thresholds: ArrayLike, label: object) -> Statistic:
    """Net benefit of treating the rows whose risk is at least each threshold."""
    wanted = values("thresholds", thresholds)
    at = np.atleast_1d(wanted)
    if at.ndim != 1 or not ((at >= 0) & (at < 1)).all():
        raise StratError.about("thresholds", f"must lie between 0 and 1, 1 left out, got {some(np.ravel(at), 3)}.")
    harm = np.where(codes[:, None] == 1, 1.0, -at / (1.0 - at))
    added = np.where(risk[:, None] >= at, harm, 0.0)
    if wanted.ndim == 0:
        one = mean(added[:, 0])
        return replace(one, name=f"net benefit at {wanted:g}", positive=label, higher_is_better=True)
    axes = (Axis("threshold", tuple(at.tolist())),)
    return replace(mean(added), name="net benefit", axes=axes, split=None, positive=label, higher_is_better=True)


def _risks(
    truth: ArrayLike, probability: ArrayLike, positive: object, argument: str = "probability"
) -> tuple[Codes, Array, object]:
    """Whether each row is positive, its predicted risk, and the positive class."""
    codes, risk, label, _ = positives(truth, probability, positive, argument=argument)
    outside = (risk < 0) | (risk > 1)
    if outside.any():
        raise StratError.about(argument, f"must lie between 0 and 1, got {float(risk[outside][0])!r}.")
    return codes, risk, label


@measure(
    "observed_expected",
    "o_e",
    "o:e",
    "oe",
    needs=SCORES,
    unit="observed per expected",
    higher_is_better=None,
    bounds=(0.0, np.inf),
)
@checked
def observed_expected(truth: ArrayLike, probability: ArrayLike, *, positive: object = None) -> Statistic:
    """O:E, the number of positives over the number that was predicted; each row adds (1 if positive, its risk).

    The usual unit is the patient, or the hospital.

    Parameters
    ----------
    truth, probability, positive
        As for `net_benefit`.

    Examples
    --------
    >>> float(observed_expected([1, 0, 0, 1], [0.5, 0.25, 0.25, 0.6]).value())
    1.25
    """
    codes, risk, label = _risks(truth, probability, positive)
    if not risk.any():
        raise StratError.about("probability", "must be above 0 in some row for O:E, got only zeros.")
    return replace(ratio_of_totals("O:E", codes.astype(float), risk, better=None), positive=label)


@measure("positive_likelihood_ratio", "lr+", unit="odds ratio", bounds=(0.0, np.inf))
@checked
def positive_likelihood_ratio(truth: ArrayLike, predicted: ArrayLike, *, positive: object = None) -> Statistic:
    """LR+, sensitivity / (1 − specificity): how much a positive test raises the odds.

    Each row adds 1 to its cell of the fourfold table. The usual unit is the patient, or the hospital.

    Parameters
    ----------
    truth, predicted
        Labels of two classes.
    positive
        The class of those with the disease.

    Examples
    --------
    >>> float(positive_likelihood_ratio([1, 1, 1, 0, 0, 0, 0, 0], [1, 1, 0, 1, 0, 0, 0, 0]).value().round(4))
    3.3333
    """
    return _likelihood_ratio("LR+", truth, predicted, positive, 1)


@measure("negative_likelihood_ratio", "lr-", "lr−", unit="odds ratio", bounds=(0.0, np.inf), higher_is_better=False)
@checked
def negative_likelihood_ratio(truth: ArrayLike, predicted: ArrayLike, *, positive: object = None) -> Statistic:
    """LR−, (1 − sensitivity) / specificity: how much a negative test lowers the odds.

    Each row adds 1 to its cell of the fourfold table. The usual unit is the patient, or the hospital.

    Parameters
    ----------
    truth, predicted, positive
        As for `positive_likelihood_ratio`.

    Examples
    --------
    >>> float(negative_likelihood_ratio([1, 1, 0, 0], [1, 0, 0, 0]).value())
    0.5
    """
    return _likelihood_ratio("LR−", truth, predicted, positive, 0)


def _likelihood_ratio(name: str, truth: ArrayLike, predicted: ArrayLike, positive: object, side: int) -> Statistic:
    """The share predicted as `side` among the positives over that among the negatives."""
    share = recall(truth, predicted, positive=positive)
    codes, test = (_is(share.positive, column, role) for column, role in ((truth, "truth"), (predicted, "predicted")))
    same_length(truth=codes, predicted=test)
    if len(np.unique(codes)) < 2:
        raise StratError.about("truth", f"must hold both classes for {name}, got one.")

    def function(t: Array) -> Array:  # cells: negatives tested −, +, positives tested −, +
        well, ill = t[..., :2], t[..., 2:]
        return quotient(ill[..., side] * well.sum(axis=-1), well[..., side] * ill.sum(axis=-1))

    statistic = Statistic(name, (Rows(2 * codes + test, None, 4),), function, link="log", bounds=(0.0, np.inf))
    return replace(statistic, positive=share.positive, higher_is_better=side == 1)


def _is(label: object, column: ArrayLike, role: str) -> Codes:
    codes, labels = encode(role, column)
    return np.array([plain(name) == label for name in labels], np.int64)[codes]


@measure(
    "nri",
    "net_reclassification_improvement",
    needs=THREE,
    unit="sum of two shares",
    bounds=(-2.0, 2.0),
    reference="Pencina et al. 2008",
)
@checked
def nri(
    truth: ArrayLike, old: ArrayLike, new: ArrayLike, *, cuts: ArrayLike | None = None, positive: object = None
) -> Statistic:
    """The net reclassification improvement: (up − down) among positives + (down − up) among negatives.

    Pencina et al. (2008). Each row adds 1 and its move (+1, 0, −1) to the totals of its class.
    The usual unit is the patient, or the hospital.

    Parameters
    ----------
    truth
        Labels of two classes.
    old, new
        Risks that the two models predict.
    cuts
        Limits of risk categories; None: every change of risk counts (continuous NRI).
    positive
        The class of those with the disease.

    Examples
    --------
    >>> float(nri([1, 1, 0, 0], [0.2, 0.6, 0.4, 0.1], [0.7, 0.7, 0.1, 0.2], cuts=[0.3]).value())
    1.0
    """
    codes, before, after, label = _two_models(truth, old, new, positive)
    if cuts is not None:
        limits = np.sort(np.atleast_1d(numbers("cuts", np.atleast_1d(cuts), axes=1)))
        before, after = (np.searchsorted(limits, risk, side="right").astype(float) for risk in (before, after))
    statistic = _difference_of_means("NRI", codes, np.sign(after - before))
    return replace(statistic, bounds=(-2.0, 2.0), positive=label)


@measure("idi", needs=THREE, unit="difference of risks", bounds=(-2.0, 2.0), reference="Pencina et al. 2008")
@checked
def idi(truth: ArrayLike, old: ArrayLike, new: ArrayLike, *, positive: object = None) -> Statistic:
    """The integrated discrimination improvement: the mean rise of risk among positives − that among negatives.

    Each row adds 1 and its change of risk to the totals of its class. The usual unit is the patient, or the hospital.

    Parameters
    ----------
    truth, old, new, positive
        As for `nri`.

    Examples
    --------
    >>> float(idi([1, 0], [0.5, 0.5], [0.75, 0.25]).value())
    0.5
    """
    codes, before, after, label = _two_models(truth, old, new, positive)
    return replace(_difference_of_means("IDI", codes, after - before), bounds=(-2.0, 2.0), positive=label)


def _two_models(
    truth: ArrayLike, old: ArrayLike, new: ArrayLike, positive: object
) -> tuple[Codes, Array, Array, object]:
    codes, before, label = _risks(truth, old, positive, "old")
    _, after, _ = _risks(truth, new, positive, "new")
    if len(np.unique(codes)) < 2:
        raise StratError.about("truth", "must hold both classes to compare two models, got one.")
    return codes, before, after, label


def _difference_of_means(name: str, codes: Codes, moves: Array) -> Statistic:
    """The mean of moves among positives − that among negatives; totals: moves and rows of both classes."""
    ill = codes.astype(float)
    columns = np.column_stack([ill * moves, ill, (1 - ill) * moves, 1 - ill])

    def function(t: Array) -> Array:
        return quotient(t[..., 0], t[..., 1]) - quotient(t[..., 2], t[..., 3])

    return Statistic(name, (Rows(None, columns, 4),), function, higher_is_better=True)


@measure(
    "harrell_c",
    "c_index",
    "concordance_index",
    "harrells_c",
    needs=THREE,
    reads="numbers",
    of="pair",
    unit="share of pairs",
    reference="Harrell et al. 1982",
)
@checked
def concordance(time: ArrayLike, event: ArrayLike, risk: ArrayLike) -> Statistic:
    """Harrell's C: of pairs whose order of events is known, the share in which the earlier one had the higher risk.

    A pair is known if the earlier time is an event, and of equal times if one of them is; equal risks count half.
    Every pair of patients adds (1 if concordant, 1 if known). The usual unit is the patient, or the hospital.

    Parameters
    ----------
    time
        When the event happened or the patient was last seen.
    event
        1 if it happened, 0 if the patient was last seen without it.
    risk
        A score that is higher for patients who should have the event earlier.

    Examples
    --------
    >>> float(concordance([1, 2, 3, 4], [1, 1, 0, 1], [0.9, 0.4, 0.5, 0.1]).value())
    0.8
    """
    when, seen, score = number_columns(time=time, event=event, risk=risk)
    if not np.isin(seen, (0.0, 1.0)).all():
        raise StratError.about(
            "event", f"must be 0 or 1 in every row, got {some(seen[~np.isin(seen, (0.0, 1.0))], 3)}."
        )
    order = encode("time", 2.0 * encode("time", when)[0] + (1.0 - seen))[0]  # of equal times the event is first
    if not np.any(seen * (order < order.max())):
        raise StratError.about("event", "must leave at least one pair whose order is known, got none.")
    pairs = _KnownPairs(order, encode("risk", score)[0], seen)
    facts = {"link": "logit", "bounds": (0.0, 1.0), "chance": 0.5}
    return of_row_weights("concordance", len(when), pairs.share, pairs.gradient, **facts)


@dataclass(frozen=True, eq=False)
class _KnownPairs:
    """Pairs of patients whose order of events is known.

    Attributes
    ----------
    order, ranks
        For each patient, the place in the order of times (of equal times an event is first) and the rank of the risk.
    seen
        Whether the event happened.
    """

    order: Codes
    ranks: Codes
    seen: Array

    @cached_property
    def _later(self) -> Lower:
        return Lower(self.order.max() - self.order, self.ranks)

    @cached_property
    def _earlier(self) -> Lower:
        return Lower(self.order, self.ranks.max() - self.ranks)

    def _behind(self, w: Array) -> Array:
        """For each patient, the weight of later ones with a lower risk, and of all later ones."""
        at = np.bincount(self.order, w)
        return np.stack([self._later(w), (at.sum() - np.cumsum(at))[self.order]])

    def share(self, w: Array) -> float:
        """The weight of concordant pairs over that of all known ones."""
        return float(share_value(self._behind(w) @ (w * self.seen)))

    def gradient(self, w: Array) -> Array:
        """Its derivative by the weight of each patient, as the earlier and as the later one of its pairs."""
        known, events = self._behind(w), w * self.seen
        before = np.bincount(self.order, events)
        as_later = np.stack([self._earlier(events), (np.cumsum(before) - before)[self.order]])
        return np.asarray(share_slopes(known @ events) @ (known * self.seen + as_later))

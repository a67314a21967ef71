"""The trap of uncertain labels: an error measured against labels of which some are wrong (Kuncheva 1.7)."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import ArrayLike

from strat.base import validate
from strat.base.errors import StratError
from strat.base.result import Result
from strat.base.validate.arguments import checked
from strat.base.validate.columns import encode, same_length
from strat.estimation import Estimate, estimate
from strat.measures.confusion_counts import pair
from strat.measures.means import mean
from strat.protocols.protocol_result import case_design


@dataclass(frozen=True, repr=False)
class UncertainLabels(Result):
    """An error against labels of which a share is wrong, and what it says about the true one.

    Attributes
    ----------
    observed
        The share of rows whose label and prediction differ.
    corrected
        The true error if wrong labels fall independently of the predictions, on each other class equally often.
    lower, upper
        The limits of the true error whatever the wrong labels fall on, at the observed error.
    noise
        The share of labels that are wrong.
    classes
        Number of classes.
    """

    observed: Estimate
    corrected: Estimate
    lower: float
    upper: float
    noise: float
    classes: int

    def __str__(self) -> str:
        """Both errors, and the note that belongs to them."""
        low, high = self.corrected.interval()
        text = (
            f"error {float(self.observed.value):.4f} against labels of which {100 * self.noise:g} % are wrong: "
            f"{float(self.corrected.value):.4f} (95 % {float(low):.4f} to {float(high):.4f}) if these fall "
            f"independently of the predictions, {self.lower:.4f} to {self.upper:.4f} whatever they fall on"
        )
        if float(self.observed.value) < self.noise:
            text += (
                "\nnote: the observed error is below the noise: fewer labels are wrong than assumed, or the classifier "
                "has learned to err as the labels do."
            )
        return text


@checked
def uncertain_labels(
    truth: ArrayLike, predicted: ArrayLike, *, noise: float, units: ArrayLike | None = None
) -> UncertainLabels:
    """The true error behind one that was measured against labels of which a share is wrong.

    A correct prediction counts as wrong where its label is, and a wrong one as correct where the label happens to err
    the same way: of K classes with noise ν, e' = (1 − e) ν + e (1 − ν / (K − 1)).

    Parameters
    ----------
    truth, predicted
        The labels, some of them wrong, and the predictions.
    noise
        The share of labels that are wrong, from a second look at some of them, say.
    units
        Clusters of rows.

    Examples
    --------
    Two of ten rows differ and a tenth of the labels are wrong: (0.2 − 0.1) / (1 − 2 · 0.1) = 0.125.

    >>> result = uncertain_labels([0] * 5 + [1] * 5, [0] * 4 + [1] * 5 + [0], noise=0.1)
    >>> round(float(result.corrected.value), 4), round(result.lower, 4), round(result.upper, 4)
    (0.125, 0.1, 0.3)
    """
    both = pair(truth, predicted)
    k, rows = both.classes, len(both.truth)
    if k < 2:
        raise StratError.about("truth", f"must have at least two classes, got {k}.")
    share = validate.share("noise", noise)
    if share >= (k - 1) / k:
        raise StratError.about(
            "noise",
            f"must be below {(k - 1) / k:.4g} with {k} classes, got {noise!r}: labels that are wrong more "
            "often carry no information.",
        )
    unit = None if units is None else encode("units", units)[0]
    if unit is not None:
        same_length(truth=both.truth, units=unit)
    design = case_design(unit, rows)
    if design is None:
        raise StratError.about("truth", "must have at least two rows, in two units or more, got one.")
    wrong = (both.truth != both.predicted).astype(float)
    observed = estimate(mean(wrong), on=design)
    corrected = estimate(mean((wrong - share) / (1.0 - share * k / (k - 1))), on=design)
    rate = float(wrong.mean())
    return UncertainLabels(observed, corrected, max(rate - share, 0.0), min(rate + share, 1.0), share, k)

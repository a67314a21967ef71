"""Equalized odds: the true and the false positive rate compared between groups, together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from strat.base.errors import StratError, some
from strat.base.result import Result
from strat.measures.register import spelled
from strat.verbs.groups import Extreme, Groups

SIDES = ("recall", "false_positive_rate")


@dataclass(frozen=True, repr=False)
class EqualizedOdds(Result):
    """The larger of two gaps between groups, and the smaller of two ratios: of recall and of the false positive rate.

    Attributes
    ----------
    difference, ratio
        The value with limits that hold at once over all groups and both rates.
    of_difference, of_ratio
        The rate that has it.
    """

    difference: Extreme
    ratio: Extreme
    of_difference: str
    of_ratio: str

    def __str__(self) -> str:
        """Both in a line each."""
        return (
            f"equalized odds difference ({self.of_difference}), {self.difference}\n"
            f"equalized odds ratio ({self.of_ratio}), {self.ratio}"
        )

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values."""
        return asdict(self)


def has_both_rates(groups: Mapping[str, Groups]) -> bool:
    """Whether both rates were asked for, each with one number in two or more groups."""
    joint = [one.joint for one in _sides(groups).values()]
    return len(joint) == len(SIDES) and all(side is not None and side.point.ndim == 1 for side in joint)


def _sides(groups: Mapping[str, Groups]) -> dict[str, Groups]:
    """The groups of both rates, by the word that was asked for."""
    by_name = {spelled(word): word for word in groups}
    return {by_name[side]: groups[by_name[side]] for side in SIDES if side in by_name}


def equalized_odds(groups: Mapping[str, Groups], level: float) -> EqualizedOdds:
    """Equalized odds of groups; each rate has half of what may fail (Bonferroni)."""
    if not has_both_rates(groups):
        raise StratError.about(
            "metrics",
            "must hold 'recall' and 'false_positive_rate', and `by` must make two groups or more, for "
            f"equalized odds, got {some(groups) if groups else 'no groups'}.",
        )
    each = _sides(groups)
    stricter = 1.0 - (1.0 - level) / len(SIDES)
    gaps = {name: one.gap(stricter) for name, one in each.items()}
    ratios = {name: one.ratio(stricter) for name, one in each.items()}
    known = {name: one for name, one in ratios.items() if one.value == one.value} or ratios
    widest, least = max(gaps, key=lambda name: gaps[name].value), min(known, key=lambda name: known[name].value)
    ends = ("low", "high")
    largest = {end: max(getattr(gap, end) for gap in gaps.values()) for end in ends}
    smallest = {end: min(getattr(ratio, end) for ratio in ratios.values()) for end in ends}
    difference = replace(gaps[widest], level=level, **largest)
    ratio = replace(ratios[least], level=level, **smallest)
    return EqualizedOdds(difference, ratio, widest, least)

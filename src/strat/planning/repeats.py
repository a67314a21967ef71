"""How much of a mean's variance lies between items and how much between repeats, and how to split a budget."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from strat.base import validate
from strat.base.errors import StratError
from strat.base.result import Result
from strat.base.validate.arguments import checked


@dataclass(frozen=True, repr=False)
class RepeatSplit(Result):
    """A budget split between items and repeats.

    Attributes
    ----------
    items, repeats
        How many items, and how many repeats of each.
    se
        The standard error of the mean that they give.
    cost
        What they cost.
    """

    items: int
    repeats: int
    se: float
    cost: float

    def __str__(self) -> str:
        """The split as a sentence."""
        return f"{self.items:,} items × {self.repeats} repeats: standard error {self.se:.4g}, cost {self.cost:g}"


@dataclass(frozen=True, repr=False)
class RepeatVariance(Result):
    """The variance of scores within items (between repeats) and between items.

    Attributes
    ----------
    items, repeats
        Number of items, and the mean number of repeats of one.
    within, between
        Variance of the repeats of an item, and of the items' true means.
    """

    items: int
    repeats: float
    within: float
    between: float

    @property
    def share_within(self) -> float:
        """The part of a single score's variance that another repeat of the same item would change."""
        whole = self.within + self.between
        return self.within / whole if whole else 0.0

    @checked
    def se(self, items: int | None = None, repeats: float | None = None) -> float:
        """The standard error of the mean over so many items with so many repeats; by default as in the data."""
        number = self.items if items is None else validate.count("items", items, least=1)
        each = self.repeats if repeats is None else validate.positive("repeats", repeats)
        return math.sqrt((self.between + self.within / each) / number)

    @checked
    def best_split(self, budget: float, *, item_cost: float = 0.0, run_cost: float = 1.0) -> RepeatSplit:
        """The items and repeats with the smallest standard error that the budget pays for.

        An item costs `item_cost` once (writing, labelling) and `run_cost` for each repeat. The best number of repeats
        is near sqrt(item_cost / run_cost · within / between), and 1 where new items cost nothing but their run.

        Examples
        --------
        >>> parts = RepeatVariance(items=50, repeats=4, within=0.16, between=0.04)
        >>> parts.best_split(1000, item_cost=4)  # sqrt(4 · 4) = 4 repeats, each item costs 4 + 4
        125 items × 4 repeats: standard error 0.0253, cost 1000
        """
        validate.positive("budget", budget)
        validate.positive("run_cost", run_cost)
        if not (0.0 <= item_cost < 1e100):
            raise StratError.about(
                "item_cost", f"must not be negative, got {item_cost!r}; it is the cost of a new item."
            )
        if budget < item_cost + run_cost:
            raise StratError.about(
                "budget", f"must pay for one run of one item ({item_cost + run_cost:g}), got {budget:g}."
            )
        ideal = math.sqrt(item_cost / run_cost * self.within / self.between) if self.between else math.inf
        most = max(1, int((budget - item_cost) // run_cost))
        centre = min(max(ideal, 1.0), float(most))
        near = {min(max(r, 1), most) for r in range(math.floor(centre) - 1, math.ceil(centre) + 2)}
        items = int(budget // (item_cost + centre * run_cost))
        each = (int((budget / n - item_cost) // run_cost) for n in (items - 1, items, items + 1) if n > 0)
        near |= {repeats for repeats in each if 1 <= repeats <= most}  # what is left over for few items
        splits = [self._split(budget, repeats, item_cost, run_cost) for repeats in sorted(near)]
        return min(splits, key=lambda split: (split.se, split.cost))

    def _split(self, budget: float, repeats: int, item_cost: float, run_cost: float) -> RepeatSplit:
        each = item_cost + repeats * run_cost
        items = max(1, int(budget // each))
        return RepeatSplit(items, repeats, self.se(items, repeats), items * each)

    def __str__(self) -> str:
        """Both parts as a sentence."""
        return (
            f"{self.items:,} items with {self.repeats:.3g} repeats: variance {self.between:.4g} between items, "
            f"{self.within:.4g} within ({100 * self.share_within:.0f} % of a single score's)"
        )


@checked
def repeat_variance(score: ArrayLike, *, items: ArrayLike) -> RepeatVariance:
    """The variance of scores within and between items, by the analysis of variance of one factor.

    Parameters
    ----------
    score
        The score of each row.
    items
        Which item each row is a repeat of.

    Examples
    --------
    Means 0.5 and 1: the mean squares are 0.25 within (of 0, 1 and 1, 1: 0.5 / 2) and 0.25 between, so that nothing is
    left for items: (0.25 − 0.25) / 2.

    >>> parts = repeat_variance([0, 1, 1, 1], items=list("aabb"))
    >>> parts.within, parts.between
    (0.25, 0.0)
    """
    values = validate.numbers("score", score, most=1e100)
    code, labels = validate.encode("items", items)
    if values.shape != code.shape:
        raise StratError.about("items", f"must have one label for each of the {len(values)} rows, got {len(code)}.")
    n = np.bincount(code)
    if len(labels) < 2 or (n < 2).all():
        raise StratError.about(
            "items", f"must hold at least two items, of which one has repeats, got {len(labels)} in {len(values)} rows."
        )
    means = np.bincount(code, values) / n
    within = float(((values - means[code]) ** 2).sum() / (len(values) - len(labels)))
    among = float((n * (means - values.mean()) ** 2).sum() / (len(labels) - 1))
    each = float((len(values) - (n.astype(float) ** 2).sum() / len(values)) / (len(labels) - 1))
    return RepeatVariance(len(labels), float(n.mean()), within, max(0.0, (among - within) / each))

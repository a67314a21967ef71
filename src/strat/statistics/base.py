"""What is measured: *what to add up* in each unit, and *what to make of the sums*."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strat.columns import Array, Codes
from strat.errors import StratError, one_of, some
from strat.notebook import in_words

LINKS = ("identity", "logit", "log", "correlation")


@dataclass(frozen=True, eq=False)
class Rows:
    """What each row adds to the components, as a table of distinct rows and a code per row.

    Attributes
    ----------
    codes
        For each row, which line of the table it adds (None: row i adds line i).
    values
        The table, lines × components (None: line j adds 1 to component j alone).
    components
        How many components there are.
    """

    codes: Codes | None
    values: Array | None
    components: int

    def __len__(self) -> int:
        """Number of rows."""
        if self.codes is not None:
            return len(self.codes)
        return len(self.values) if self.values is not None else self.components

    @property
    def lines(self) -> int:
        """Number of distinct lines of the table."""
        return len(self.values) if self.values is not None else self.components

    def spread(self, gradient: Array) -> Array:
        """What a small weight on each line does to the statistic: lines × outputs."""
        return gradient if self.values is None else self.values @ gradient

    def masked(self, mask: NDArray[np.bool_]) -> Rows:
        """The same, with nothing added by the rows outside `mask`."""
        values = np.eye(self.components) if self.values is None else self.values
        codes = np.arange(len(self)) if self.codes is None else self.codes
        table = np.vstack([values, np.zeros((1, self.components))])
        return Rows(np.where(mask, codes, len(values)), table, self.components)


@dataclass(frozen=True)
class Axis:
    """A named axis of a statistic that has many values."""

    name: str
    labels: tuple[Any, ...]


def unnamed_axes(shape: Sequence[int]) -> tuple[Axis, ...]:
    """Axes for values that nobody has named: numbered, with numbered labels."""
    return tuple(Axis(f"axis {i}", tuple(range(n))) for i, n in enumerate(shape))


@in_words
@dataclass(frozen=True, eq=False)
class Statistic:
    """What is measured, with its data bound.

    Attributes
    ----------
    name
        What a person calls it.
    rows
        What each row adds up, in one or more blocks whose components stand side by side.
    function
        From totals to the statistic: ``(…, components) -> (…, *shape)``, vectorised over leading axes.
    gradient
        From totals ``(components,)`` to derivatives ``(components, *shape)``; None: found numerically.
    axes
        One named axis for each dimension of the value; none for a single number.
    link
        The scale on which its sampling distribution is nearest to normal.
    bounds
        The range that the statistic can't leave.
    proportion
        Whether it is a weighted share of rows, so that exact binomial intervals make sense.
    domain
        The rows it looks at (None: all); degrees of freedom count only their units.
    domains
        The rows that each value looks at where the values differ in that: as many domains as runs of values, in
        order (None: all values look at `domain`).
    quantile
        What Woodruff's interval needs, for a quantile.
    of_weights
        Whether the function takes the weights of all rows (slow, always possible) instead of a few totals.
    base
        From totals to the weight that each value is a share of (None: all of it); it sizes the exact interval
        of a share at 0 or 1.
    split
        Pieces of a statistic with very many values, of at most so many values each.
    curved_below
        Number of units below which the jackknife takes the place of the closed form, which is short for a statistic
        that bends so much (0: never).
    """

    name: str
    rows: tuple[Rows, ...]
    function: Callable[[Array], Array]
    gradient: Callable[[Array], Array] | None = None
    axes: tuple[Axis, ...] = ()
    link: str = "identity"
    bounds: tuple[float, float] = (-np.inf, np.inf)
    proportion: bool = False
    domain: NDArray[np.bool_] | None = None
    domains: tuple[NDArray[np.bool_] | None, ...] | None = field(default=None, repr=False)
    quantile: Quantile | None = None
    of_weights: bool = False
    base: Callable[[Array], Array] | None = field(default=None, repr=False)
    split: Callable[[int], Iterator[Statistic]] | None = field(default=None, repr=False)
    curved_below: int = 0

    def __post_init__(self) -> None:
        """Check that the blocks speak of the same rows."""
        one_of("link", self.link, LINKS)
        lengths = {len(block) for block in self.rows}
        if len(lengths) != 1:
            raise StratError(
                f"every part of `{self.name}` must have the same number of rows, got {some(sorted(lengths))}."
            )

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.rows[0])

    @property
    def components(self) -> int:
        """Number of components over all blocks."""
        return sum(block.components for block in self.rows)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the value."""
        return tuple(len(axis.labels) for axis in self.axes)

    @property
    def views(self) -> tuple[NDArray[np.bool_] | None, ...]:
        """The rows that each run of values looks at: one view, or several of equally many values."""
        return (self.domain,) if self.domains is None else self.domains

    def value(self, weights: ArrayLike | None = None) -> Array:
        """The statistic itself for rows with these weights (1 each by default), without any interval."""
        w = np.ones(len(self)) if weights is None else np.asarray(weights, float)
        return self.function(np.concatenate([block_totals(block, w) for block in self.rows]))

    def __str__(self) -> str:
        """What it is, of how many rows."""
        shape = f", {' × '.join(f'{len(a.labels)} {a.name}' for a in self.axes)}" if self.axes else ""
        return f"{self.name} of {len(self):,} rows{shape}"

    def __repr__(self) -> str:
        """The same in angle brackets: the arrays are long."""
        return f"<Statistic {self}>"

    def renamed(self, name: str) -> Statistic:
        """The same statistic under another name."""
        return replace(self, name=name)


@dataclass(frozen=True, eq=False)
class Quantile:
    """What Woodruff's interval needs beyond the totals.

    Attributes
    ----------
    support
        The distinct values, sorted; component j counts the rows at support[j].
    orders
        The shares of rows that are to lie at or below it.
    invert
        From totals and probabilities to values: the inverse of the weighted distribution.
    """

    support: Array
    orders: Array
    invert: Callable[[Array, Array], Array]


def block_totals(block: Rows, weights: Array) -> Array:
    """Weighted totals of one block over all rows: (components,)."""
    if block.codes is not None:
        weights = np.bincount(block.codes, weights, minlength=block.lines).astype(float, copy=False)
    return weights if block.values is None else weights @ block.values

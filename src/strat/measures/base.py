"""What is measured: *what to add up* in each unit, and *what to make of the sums*."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar

import numpy as np
import scipy  # its parts load when they are first used: `import strat` stays light
from numpy.typing import ArrayLike, NDArray

from strat.base.errors import StratError, one_of, some
from strat.base.limits import LIMITS
from strat.base.notes import Note
from strat.base.result import in_notebooks
from strat.base.text import class_named, counted, figure, table_lines
from strat.base.validate.columns import Array, Codes

FEW_UNITS = 50  # units below which values that turn on a rare class are jackknifed: their closed form is short
SHOWN_VALUES = 10  # of a statistic with many, when it is printed
LINKS = ("identity", "logit", "score", "log", "correlation")
Answer = TypeVar("Answer")
CURVES = ("roc", "det", "precision_recall", "calibration", "roc_height", "det_height")


@dataclass(frozen=True, eq=False)
class Rows:
    """What each row adds to the components, as a table of distinct rows and a code per row.

    Attributes
    ----------
    codes
        For each row, which line of the table it adds (None: row i adds line i).
    values
        The table, lines × components (None: line j adds 1 to component j alone, and the line after the last
        component adds nothing).
    components
        How many components there are.
    scale
        For each row, the factor of what it adds (None: 1).
    """

    codes: Codes | None
    values: Array | None
    components: int
    scale: Array | None = None

    def __len__(self) -> int:
        """Number of rows."""
        if self.codes is not None:
            return len(self.codes)
        return len(self.values) if self.values is not None else self.components

    @property
    def lines(self) -> int:
        """Number of distinct lines of the table."""
        return len(self.values) if self.values is not None else self.components + 1

    def spread(self, gradient: Array) -> Array:
        """What a small weight on each line does to the statistic: lines × outputs."""
        if self.values is not None:
            few = gradient.size > LIMITS.dense_slopes and np.count_nonzero(gradient) * 8 < gradient.size
            return np.asarray(self.values @ (scipy.sparse.csc_array(gradient) if few else gradient))
        return gradient if self.codes is None else np.concatenate([gradient, np.zeros((1, gradient.shape[1]))])

    def by_row(self, gradient: Array) -> Array:
        """What a small weight on each row does to the statistic: rows × outputs."""
        every = self.values is None and self.codes is not None and self.codes.max(initial=0) < self.components
        by_line = gradient if every else self.spread(gradient)  # where every row adds something
        each = by_line if self.codes is None else np.take(by_line, self.codes, axis=0)
        return each if self.scale is None else each * self.scale[:, None]

    def repeated(self, rows: Codes) -> Rows:
        """The same for other rows, each a copy of one of these."""
        scale = None if self.scale is None else self.scale[rows]
        return Rows(rows if self.codes is None else self.codes[rows], self.values, self.components, scale)

    def scaled(self, factors: Array) -> Rows:
        """The same, with what each row adds times its factor."""
        return replace(self, scale=self.weighted(factors))

    def weighted(self, weights: Array) -> Array:
        """Weights of the rows, times their factors."""
        return weights if self.scale is None else weights * self.scale

    def masked(self, mask: NDArray[np.bool_]) -> Rows:
        """The same, with nothing added by the rows outside `mask`."""
        codes = np.arange(len(self)) if self.codes is None else self.codes
        if self.values is None:
            return Rows(np.where(mask, codes, self.components), None, self.components, self.scale)
        table = np.vstack([self.values, np.zeros((1, self.components))])
        return Rows(np.where(mask, codes, len(self.values)), table, self.components, self.scale)


@dataclass(frozen=True)
class Axis:
    """A named axis of a statistic that has many values."""

    name: str
    labels: tuple[Any, ...]


def unnamed_axes(shape: Sequence[int]) -> tuple[Axis, ...]:
    """Axes for values without names: numbered, with numbered labels."""
    return tuple(Axis(f"axis {i}", tuple(range(n))) for i, n in enumerate(shape))


class PhaseRows(Protocol):
    """What makes the contributions of rows to values of two phases, when somebody asks."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the values."""
        ...

    def __call__(self) -> Any:
        """What each row counts as in each value."""
        ...


@in_notebooks
@dataclass(frozen=True, eq=False)
class Statistic:
    """What is measured, with its data bound.

    Attributes
    ----------
    name
        Its name in results.
    rows
        What each row adds up, in one or more blocks whose components stand side by side.
    function
        From totals to the statistic: ``(…, components) -> (…, *shape)``, vectorised over leading axes. Where every
        row is a component of its own, the totals are the weights of the rows: slow, and always possible.
    gradient
        From totals ``(components,)`` to derivatives ``(components, *shape)``; None: found numerically.
    sparse_gradient
        The same as a sparse matrix (components × values), where each of very many values looks at a few components.
    factored_gradient
        The same as a sparse matrix (components × few) and a small one (few × values), whose product it is.
    axes
        One named axis for each dimension of the value; none for a single number.
    link
        The scale on which its sampling distribution is nearest to normal.
    bounds
        The range that the statistic can't leave.
    proportion
        Whether it is a weighted share of rows, so that exact binomial intervals make sense.
    views
        The rows that it looks at (None: all): one view for all values, or one for each of several equally long runs of
        values, in order; degrees of freedom count only their units.
    quantile
        What Woodruff's interval needs, for a quantile.
    base
        From totals to the weight that each value is a share of (None: all of it); it sizes the exact interval
        of a share at 0 or 1.
    split
        Pieces of a statistic with very many values, of at most so many values each.
    curved_below
        Number of units below which the jackknife replaces the closed form, whose intervals are too short for a
        statistic so far from linear (0: never).
    notes
        What a reader of the value should know; every estimate of it repeats them.
    positive
        The class that the measure looks at (None: it looks at all of them).
    classes
        How many classes the truth has (0: classes play no part).
    chance
        The value of an uninformative score (None: not known); an estimate below it gets a note.
    higher_is_better
        Whether a larger value is a better one (None: that depends on what it is the mean, or the total, of).
    curve
        The picture that its values are the points of, one of `CURVES` (None: no picture of its own).
    truth
        For each row, the code of the class that it was drawn from (None: classes play no part); a value rests on the
        units that hold the classes on which it turns.
    graded
        Whether a row may count as a fraction of a hit, so that no count of hits stands behind a share.
    in_groups
        From the first block of rows, their weights and the group of each to the value of each group and what a small
        weight on each row does to it, where totals of many groups would be too many (None: from totals).
    sum_of
        The shares that the value is a weighted sum of, or the signed distances whose sizes it adds up, with their
        coefficients; or what the rows of two phases count as (None: it is none of these).
    """

    name: str
    rows: tuple[Rows, ...]
    function: Callable[[Array], Array]
    gradient: Callable[[Array], Array] | None = None
    axes: tuple[Axis, ...] = ()
    link: str = "identity"
    bounds: tuple[float, float] = (-np.inf, np.inf)
    proportion: bool = False
    views: tuple[NDArray[np.bool_] | None, ...] = field(default=(None,), repr=False)
    quantile: Quantile | None = None
    base: Callable[[Array], Array] | None = field(default=None, repr=False)
    split: Callable[[int], Iterator[Statistic]] | None = field(default=None, repr=False)
    sparse_gradient: Callable[[Array], Any] | None = field(default=None, repr=False)
    factored_gradient: Callable[[Array], tuple[Any, Array]] | None = field(default=None, repr=False)
    curved_below: int = 0
    notes: tuple[Note, ...] = ()
    positive: Any = None
    chance: float | None = None
    higher_is_better: bool | None = None
    curve: str | None = None
    classes: int = 0
    truth: Codes | None = field(default=None, repr=False)
    graded: bool = False
    sum_of: tuple[Statistic, Array] | PhaseRows | None = field(default=None, repr=False)
    in_groups: Callable[[Rows, Array, Codes], tuple[Array, Array]] | None = field(default=None, repr=False)

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
    def truth_classes(self) -> int:
        """How many classes the rows were drawn from, by `truth`."""
        return 1 if self.truth is None else int(self.truth.max(initial=0)) + 1

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the value."""
        return tuple(len(axis.labels) for axis in self.axes)

    @property
    def of_weights(self) -> bool:
        """Whether every row is a component of its own, so that the totals are the weights of the rows."""
        return all(block.codes is None and block.values is None for block in self.rows)

    @property
    def domain(self) -> NDArray[np.bool_] | None:
        """The rows that all values look at (None: all rows, or the values differ in that)."""
        return self.views[0] if len(self.views) == 1 else None

    @property
    def domains(self) -> tuple[NDArray[np.bool_] | None, ...] | None:
        """The views of runs of values that differ in them (None: all values look at `domain`)."""
        return None if len(self.views) == 1 else self.views

    def value(self, weights: ArrayLike | None = None) -> Array:
        """The statistic itself for rows with these weights (1 each by default), without any interval.

        >>> from strat.measures import accuracy
        >>> print(accuracy(["a", "b", "a"], ["a", "b", "b"]))
        accuracy 0.6667 (3 rows, no design: see strat.estimate)
        >>> float(accuracy(["a", "b", "a"], ["a", "b", "b"]).value(weights=[1, 0, 1]))
        0.5
        """
        w = np.ones(len(self)) if weights is None else np.asarray(weights, float)
        return self.function(np.concatenate([block_totals(block, w) for block in self.rows]))

    def __float__(self) -> float:
        """The value of a statistic that has one, for rows of weight 1."""
        value = self.value()
        if value.ndim:
            raise StratError(f"`{self.name}` must have one value to be a number, got {value.size:,}; take .value().")
        return float(value)

    def __str__(self) -> str:
        """The value for rows of weight 1, or a table of the first ones; it has no interval without a design."""
        if self.of_weights and not len(self):
            return f"{self.name} (its rows are those of a design: see strat.estimate)"
        about = f"{len(self):,} rows, no design: see strat.estimate"
        about += "" if self.positive is None else f"; {class_named(self.positive)}"
        try:
            with np.errstate(divide="ignore", invalid="ignore"):
                value = self.value()
        except StratError as error:
            return f"{self.name} has no value ({about}): {error}"
        if not value.ndim:
            return f"{self.name} {figure(value)} ({about})"
        axes = self.axes or unnamed_axes(value.shape)
        places = np.indices(value.shape).reshape(value.ndim, -1)
        columns = {axis.name: [axis.labels[i] for i in place] for axis, place in zip(axes, places, strict=True)}
        table = table_lines({**columns, "value": value.ravel().tolist()}, SHOWN_VALUES)
        return "\n".join([f"{self.name}, {counted(value.size, 'value')} ({about})", *table])

    def __repr__(self) -> str:
        """The same: who types a measure wants to see its value."""
        return str(self)

    def repeated(self, rows: Codes) -> Statistic:
        """The statistic of other rows, each a copy of one of these: row i is row ``rows[i]``."""
        if len(rows) == len(self) and (rows == np.arange(len(self))).all():
            return self
        if self.of_weights:
            n = len(self)

            def gathered(weights: Array) -> Array:
                flat = [np.bincount(rows, w, minlength=n).astype(float) for w in weights.reshape(-1, len(rows))]
                return self.function(np.stack(flat).reshape(*weights.shape[:-1], n))

            return replace(self, rows=(Rows(None, None, len(rows)),), function=gathered)
        split = self.split
        return replace(
            self,
            rows=tuple(block.repeated(rows) for block in self.rows),
            views=tuple(None if view is None else view[rows] for view in self.views),
            truth=None if self.truth is None else self.truth[rows],
            sum_of=(self.sum_of[0].repeated(rows), self.sum_of[1]) if isinstance(self.sum_of, tuple) else None,
            split=None if split is None else lambda width: (part.repeated(rows) for part in split(width)),
        )

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
    weights = block.weighted(weights)
    if block.codes is not None:
        weights = np.bincount(block.codes, weights, minlength=block.lines).astype(float, copy=False)
    if block.values is None:
        return weights[: block.components]
    if block.components == 1:  # without BLAS, whose threads cost more than so short a sum
        return np.einsum("i,ij->j", weights, block.values)
    return np.asarray(weights @ block.values)


def last_remembered(function: Callable[[Array], Answer]) -> Callable[[Array], Answer]:
    """The function of weights, which answers at once when it is asked for the same weights again."""
    last: dict[str, tuple[Array, Answer]] = {}

    def answer(weights: Array) -> Answer:
        known = last.get("asked")
        if known is None or not np.array_equal(known[0], weights):
            known = last["asked"] = (weights.copy(), function(weights))
        return known[1]

    return answer

"""Scores put into bins of equal width, where too many are distinct to keep them all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.base.errors import StratError
from strat.base.limits import LIMITS
from strat.base.validate.columns import Array
from strat.data.frames import column_of
from strat.data.table import Table

BINS, FINE = 256, 1 << 16  # of a column of scores: by groups of other columns, and where it is the only column


@dataclass(frozen=True)
class Binning:
    """Scores put into bins of equal width between the least and the greatest."""

    low: float
    high: float
    bins: int
    gaps: bool = False

    @property
    def width(self) -> float:
        """Width of a bin."""
        return (self.high - self.low) / self.bins

    def middle(self, index: NDArray[Any]) -> Array:
        """The middle of each bin, which stands for its scores."""
        return np.asarray(self.low + (np.asarray(index, float) + 0.5) * self.width)


def plain_numbers(values: Any) -> Array:
    """A column that an engine gave back, as floats."""
    return column_of("totals", values).values.astype(float)


def binned(lazy: Any, name: str, binning: Binning) -> Any:
    """The lazy frame with a score replaced by the index of its bin."""
    import narwhals as nw

    return lazy.with_columns(_bin(nw.col(name), binning).alias(name))


def _bin(score: Any, binning: Binning) -> Any:
    """The index of the bin; the greatest score falls into the last one because the scale is a hair too small."""
    import narwhals as nw

    scale = (1.0 - 1e-12) / binning.width
    index = ((score.cast(nw.Float64) - binning.low) * scale).floor()
    if binning.gaps:
        return nw.when(~score.is_nan()).then(index).cast(nw.Int32)
    return index.cast(nw.Int32)


def binning_of(table: Table, lazy: Any, name: str, bins: int | None, *, single: bool) -> Binning | None:
    """None when the rows, or the distinct scores, are few enough to keep all scores."""
    import narwhals as nw

    if bins is not None and (int(bins) != bins or bins < 2):
        raise StratError.about("bins", f"must be a whole number, at least 2, got {bins!r}.")
    if bins is None and len(table) <= LIMITS.exact_rows:
        return None
    score = nw.col(name)
    if bins is None or bins >= LIMITS.distinct_scores:
        head = table.backend.collect(lazy.select(name).head(65536).select(score.n_unique().alias("n")))
        # the head only spares a pass: whatever the order of rows, the number of all distinct scores decides
        if (
            int(plain_numbers(head["n"])[0]) <= LIMITS.distinct_scores
            and _distinct(table, lazy, name) <= LIMITS.distinct_scores
        ):
            return None
    is_float = lazy.collect_schema()[name].is_float()
    gaps = is_float and bool(plain_numbers(table.backend.collect(lazy.select(score.is_nan().sum().alias("n")))["n"])[0])
    rows = lazy.select(name).filter(~score.is_nan()) if gaps else lazy.select(name)
    ends = table.backend.collect(rows.select(score.min().alias("low"), score.max().alias("high")))
    low, high = float(plain_numbers(ends["low"])[0]), float(plain_numbers(ends["high"])[0])
    if not np.isfinite([low, high]).all():
        raise StratError.about("score", f"must be finite to be binned, but column {name!r} reaches {low} to {high}.")
    return None if low == high else Binning(low, high, bins or (FINE if single else BINS), gaps)


def _distinct(table: Table, lazy: Any, name: str) -> int:
    import narwhals as nw

    counted = table.backend.collect(lazy.select(nw.col(name).n_unique().alias("n")))
    return int(plain_numbers(counted["n"])[0])

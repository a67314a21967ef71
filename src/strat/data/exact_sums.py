"""Sums that no order of rows can change, so that threads of an engine give the same bits run after run.

A number is written in a few whole pieces of 24 bits, ``x = sum_i piece_i 2^-(exponent + 24 i)``. Whole numbers whose
sum stays below 2^53 add up exactly as floats, in any order; the pieces' sums are put together at the end,
always in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from strat.base.validate.columns import Array
from strat.data.frames import column_of

WHOLE = 53  # bits of a float, and so of a sum that is exact
LAST = -1074  # the exponent of the last bit that a float can have
_REST = "strat_rest"


@dataclass(frozen=True)
class Grid:
    """Where the pieces of a number begin, how many there are, and how wide; by itself for numbers of 7e-12 to 2e9.

    Attributes
    ----------
    exponent
        The first piece counts multiples of ``2^-exponent``.
    pieces
        How many there are; each further one counts multiples that are ``2^-bits`` of those before.
    bits
        The bits of a piece.
    least
        The least number, beside zero, that is written without rounding.
    """

    exponent: int = -7
    pieces: int = 5
    bits: int = 24
    least: float = 2.0**-37

    @classmethod
    def of(cls, least: float, most: float, *, mantissa: int = WHOLE, last: int = LAST, bits: int = 24) -> Grid:
        """The smallest grid that writes every number from `least` to `most` without rounding.

        `mantissa` is how many bits the numbers have, and ``2^last`` what they are all multiples of. (Of numbers below
        1e-200, last bits may be cut off, always in the same way.)

        >>> Grid.of(1.0, 1000.0).pieces, Grid.of(1.0, 1000.0, last=0).pieces
        (3, 1)
        """
        exponent = bits - int(np.frexp(most)[1])
        lowest = max(int(np.frexp(least)[1]) - mantissa, last)
        return cls(exponent, max(-((exponent + lowest) // bits), 0) + 1, bits, least)

    @property
    def top(self) -> float:
        """What every number is below."""
        return float(np.ldexp(1.0, self.bits - self.exponent))

    def room(self, counts: Array) -> bool:
        """Whether sums of so many pieces are exact."""
        return bool(counts.max(initial=0.0) <= 2.0 ** (WHOLE - self.bits))

    def names(self) -> list[str]:
        """The columns of the pieces."""
        return [f"strat_piece_{i}" for i in range(self.pieces)]

    def parted(self, lazy: Any, number: Any) -> Any:
        """The lazy frame with a column for each piece of a narwhals expression; NaN where a number does not fit."""
        import narwhals as nw

        inside = ((number >= self.least) & (number < self.top)) | (number == 0)
        scaled = nw.when(inside).then(number * 2.0**self.exponent).otherwise(float("nan"))
        lazy = lazy.with_columns(scaled.alias(_REST))
        for name in self.names():
            lazy = lazy.with_columns(nw.col(_REST).floor().alias(name))
            lazy = lazy.with_columns(((nw.col(_REST) - nw.col(name)) * 2.0**self.bits).alias(_REST))
        return lazy

    def joined(self, sums: Mapping[str, Any]) -> Array:
        """The sums of the numbers from the sums of their pieces; NaN where a number did not fit.

        >>> Grid(exponent=0, pieces=2).joined({"strat_piece_0": np.array([3.0]), "strat_piece_1": np.array([2.0**23])})
        array([3.5])
        """
        columns = [column_of(name, sums[name]).values.astype(float) for name in self.names()]
        total = np.zeros(len(columns[0]))
        for i, column in reversed(list(enumerate(columns))):
            total += np.ldexp(column, -(self.exponent + self.bits * i))
        return total

"""Influences of lines as they come: a table, or the product of a sparse table and a small one.

Many values that rest on a few sums of each line (strengths of systems, of which a vote concerns two) have influences
that would fill lines × values, and sums of squares in groups that need none of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from strat.base.validate.columns import Array


@dataclass(frozen=True, eq=False)
class Factored:
    """Influences (lines × outputs) as a product.

    Attributes
    ----------
    left
        Lines × few, sparse.
    right
        Few × outputs.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> one = Factored(csr_array([[1.0, -1.0], [0.0, 2.0]]), np.array([[1.0], [3.0]]))
    >>> one.shape, one.dense().tolist()
    ((2, 1), [[-2.0], [6.0]])
    """

    left: Any
    right: Array

    @property
    def shape(self) -> tuple[int, int]:
        """Lines and outputs."""
        return self.left.shape[0], self.right.shape[1]

    def dense(self) -> Array:
        """The product itself."""
        return np.asarray(self.left.toarray() @ self.right)


Influence = Array | Factored


def dense(influence: Influence) -> Array:
    """Lines × outputs, written out."""
    return influence.dense() if isinstance(influence, Factored) else influence

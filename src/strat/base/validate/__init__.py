"""The arguments of public functions: what they must be, checked by name before anything is computed.

A function that owns an argument checks it: `validate.count("replicates", replicates, least=2)`. Single values are in
`scalars`, columns in `columns`, plain values behind labels in `labels`; `arguments` checks the kinds that a signature
declares and says which keyword was meant.
"""

from __future__ import annotations

from strat.base.validate.arguments import checked
from strat.base.validate.columns import encode, equal, labels_of, numbers, same_length, union, values
from strat.base.validate.scalars import (
    Rng,
    count,
    generator,
    level,
    number,
    one_of,
    positive,
    probabilities,
    seed,
    share,
)

__all__ = [
    "Rng",
    "checked",
    "count",
    "encode",
    "equal",
    "generator",
    "labels_of",
    "level",
    "number",
    "numbers",
    "one_of",
    "positive",
    "probabilities",
    "same_length",
    "seed",
    "share",
    "union",
    "values",
]

"""Finite fields, Hadamard matrices, orthogonal arrays and the fast sums over them."""

from __future__ import annotations

from strat.algebra.fields import (
    Field,
    field,
    is_prime,
    m_sequence,
    next_prime_power,
    prime_power,
    primitive_polynomial,
)
from strat.algebra.hadamard import hadamard, hadamard_columns, hadamard_order
from strat.algebra.transforms import circular_level_sums, sylvester_rows, walsh_hadamard

__all__ = [
    "Field",
    "circular_level_sums",
    "field",
    "hadamard",
    "hadamard_columns",
    "hadamard_order",
    "is_prime",
    "m_sequence",
    "next_prime_power",
    "prime_power",
    "primitive_polynomial",
    "sylvester_rows",
    "walsh_hadamard",
]

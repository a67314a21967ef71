"""Finite fields, Hadamard matrices, orthogonal arrays and the fast sums over them."""

from __future__ import annotations

from strat.algebra.fields import Field, field, primitive_polynomial
from strat.algebra.hadamard import hadamard, hadamard_columns, hadamard_order
from strat.algebra.multiarrays import MultiArray, is_orthogonal_multi_array, multi_array
from strat.algebra.orthogonal import (
    OrthogonalArray,
    is_balanced,
    is_fully_balanced,
    is_orthogonal,
    orthogonal_array,
    rao_hamming,
    rotation,
)
from strat.algebra.primes import is_prime, is_prime_power, next_prime_power, prime_power
from strat.algebra.sequences import m_sequence
from strat.algebra.transforms import circular_level_sums, sylvester_rows, walsh_hadamard

__all__ = [
    "Field",
    "MultiArray",
    "OrthogonalArray",
    "circular_level_sums",
    "field",
    "hadamard",
    "hadamard_columns",
    "hadamard_order",
    "is_balanced",
    "is_fully_balanced",
    "is_orthogonal",
    "is_orthogonal_multi_array",
    "is_prime",
    "is_prime_power",
    "m_sequence",
    "multi_array",
    "next_prime_power",
    "orthogonal_array",
    "prime_power",
    "primitive_polynomial",
    "rao_hamming",
    "rotation",
    "sylvester_rows",
    "walsh_hadamard",
]


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)

"""An order of units without names that depends neither on the order of the rows nor, in any regular way, on the data.

Replicates of a non-linear statistic depend on which unit of a stratum comes first. Sorted by size, the first unit of
every stratum would be the smallest one, and the replicate that takes all of them would lie some sqrt(L) standard errors
away: its variance is wrong however many strata there are. So units are sorted by a hash of what they hold, of their
stratum, and of their number among equal units of the stratum. Equal units may change places without changing anything.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from strat.base.limits import LIMITS
from strat.base.validate.columns import Array, Codes
from strat.designs import Design
from strat.measures.base import Rows, Statistic
from strat.replication import blocks

Hashes = NDArray[np.uint64]

SAME = 1e-10  # of the largest, up to which two weights or effects are equal: what rounding leaves


def ordered_by_content(statistic: Statistic, design: Design) -> Design:
    """The design with its unnamed units (single rows) in the order of the hashes of what they hold."""
    stratum = design.stratum[design.unit]
    for most in (LIMITS.ordering_columns, None):
        content = _of_effects(statistic, design) if statistic.of_weights else _of_rows(statistic, most)
        key = _mixed(_mixed(content, _ranks(design.weights)), stratum)
        order = _sorted_within(design, stratum, key)
        copies = _copy_numbers(key[order], stratum[order])
        if not copies.any() or statistic.of_weights or statistic.components <= LIMITS.ordering_columns:
            break  # no two rows are equal in a few columns, or all columns were looked at
    if copies.any():
        key[order] = _mixed(key[order], copies)
        order = _sorted_within(design, stratum, key)
    unit = np.empty(len(design), np.int64)
    unit[order] = np.arange(len(design))
    return replace(design, unit=unit, labelled=True)


def splitmix64(x: Hashes) -> Hashes:
    """Well-mixed 64-bit numbers (Steele, Lea and Flood 2014): one to one, and the same on every machine.

    >>> hex(splitmix64(np.zeros(1, np.uint64))[0])
    '0xe220a8397b1dcdaf'
    """
    z = x + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(z ^ (z >> np.uint64(31)))


def _mixed(key: Hashes, more: Hashes | Codes) -> Hashes:
    return splitmix64(key ^ (more.astype(np.uint64, copy=False) * np.uint64(0x9E3779B97F4A7C15)))


def _of_rows(statistic: Statistic, most: int | None) -> Hashes:
    """A hash of what each row adds to the components, or to so many of each block at most."""
    key = np.zeros(len(statistic), np.uint64)
    for block in statistic.rows:
        if block.codes is not None and block.lines == 1 and block.scale is None:
            continue  # every row adds the same
        lines = _of_lines(block, most)
        key = _mixed(key, lines if block.codes is None else lines[block.codes])
        if block.scale is not None:
            key = _mixed(key, _ranks(block.scale))
    return key


def _of_lines(block: Rows, most: int | None) -> Hashes:
    if block.values is None:
        return np.arange(block.lines, dtype=np.uint64)
    return _of_table(block.values[:, :most])


def _of_table(values: Array) -> Hashes:
    """A hash of each line: its numbers' bits, mixed and multiplied by a random odd number for each column, added up."""
    bits = (np.ascontiguousarray(values, float) + 0.0).view(np.uint64)  # adding 0 makes -0.0 the same as 0.0
    bits ^= bits >> np.uint64(32)  # small whole numbers have all their ones at the top, where products lose them
    bits *= splitmix64(np.arange(values.shape[1], dtype=np.uint64)) | np.uint64(1)
    bits ^= bits >> np.uint64(29)
    return np.asarray(bits.sum(axis=1, dtype=np.uint64))


def _of_effects(statistic: Statistic, design: Design) -> Hashes:
    """A hash of the rank of what doubling each row's weight does to every value of a function of weights."""
    parts = []
    for a, b in blocks(len(design), len(design)):
        heavier = np.broadcast_to(design.weights, (b - a, len(design))).copy()
        heavier[np.arange(b - a), np.arange(a, b)] *= 2.0
        with np.errstate(divide="ignore", invalid="ignore"):
            parts.append(np.asarray(statistic.function(heavier), float).reshape(b - a, -1))
    key = np.zeros(len(design), np.uint64)
    for effect in np.concatenate(parts).T:
        key = _mixed(key, _ranks(effect))
    return key


def _ranks(values: Array) -> Codes:
    """The rank of each value among the distinct ones: the same on any scale, and for any order of summation."""
    if values.min() == values.max():
        return np.zeros(len(values), np.int64)
    distinct, place = np.unique(values, return_inverse=True)
    size = np.abs(values).max(where=np.isfinite(values), initial=0.0)
    with np.errstate(invalid="ignore"):
        steps = np.diff(distinct) > SAME * size
    return np.concatenate([[0], np.cumsum(steps)])[place.reshape(-1)].astype(np.int64)


def _sorted_within(design: Design, stratum: Codes, key: Hashes) -> Codes:
    """Rows in the order of their strata, and of their keys within one."""
    sizes = design.sizes
    if design.in_order and (sizes == sizes[0]).all():
        return (np.argsort(key.reshape(-1, sizes[0]), axis=1, kind="stable") + design.starts[:, None]).ravel()
    return np.lexsort((key, stratum))


def _copy_numbers(key: Hashes, stratum: Codes) -> Codes:
    """For each row of the sorted ones, how many equal rows of its stratum stand before it."""
    place = np.arange(len(key))
    new = np.ones(len(key), bool)
    new[1:] = (key[1:] != key[:-1]) | (stratum[1:] != stratum[:-1])
    return place - np.maximum.accumulate(np.where(new, place, 0))

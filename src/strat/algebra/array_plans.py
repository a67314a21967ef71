"""Which arrays a multi-array is made of, which of their columns each stratum has, and which choice has fewest runs.

Each stratum has columns of its own, which name a block of a class of a balanced design on its units; the class is
named by columns that all strata share. Units of two strata meet in proportion if the columns of one of the two do not
depend on those of the other and on the classes of both. So the digit of prime p in a class is one of these:

* the column of a stratum without classes, or a further column, of the array of p;
* for p = 2, the number of the run of the array of two levels, which may depend on every column of that array: a stratum
  with such a class has columns of odd levels alone;
* an array of its own, where the stratum's own columns are of p too.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from strat.algebra.array_parts import Joint, Part, Pure, powers_of_a_prime, prime_and_power
from strat.algebra.hadamard import is_reachable
from strat.algebra.unit_selections import Selection, selections
from strat.base.limits import LIMITS

Ways = Mapping[int, Selection]
Digits = tuple["Digit", ...]
Owned = tuple[int, int]  # a prime, and the stratum that has a column of it
Laid = tuple[Part, list[Owned]]  # an array, and whose each of its columns is

RUN = -1  # in place of a column: the number of the run
CLASS, APART, SPARE = -1, -2, -3  # in place of a stratum: a column that names classes, alone in an array, or nothing


@dataclass(frozen=True)
class Digit:
    """A digit of a symbol: a column of a part (or `RUN`), modulo a number of levels."""

    part: int
    column: int
    levels: int


@dataclass(frozen=True)
class Plan:
    """The parts, the digits that name the block of each stratum, and those that name the class for each size."""

    ways: Ways
    parts: tuple[Part, ...]
    blocks: tuple[Digits, ...]
    classes: Mapping[int, Digits]

    @property
    def runs(self) -> int:
        """Number of runs: the product of those of the parts."""
        return math.prod(part.runs for part in self.parts)


def best_plan(sizes: Sequence[int]) -> Plan:
    """A plan for strata of these sizes that no change of one size's way makes shorter.

    >>> best_plan([4, 4, 4]).runs, best_plan([9, 9, 2, 2]).runs  # 16 and 324 by single units
    (12, 36)
    """
    options = {n: selections(n) for n in sorted(set(sizes))}
    starts = ({n: ways[end] for n, ways in options.items()} for end in (0, -1))
    return min((_descended(sizes, start, options) for start in starts), key=lambda one: one.runs)


def _descended(sizes: Sequence[int], ways: Ways, options: Mapping[int, tuple[Selection, ...]]) -> Plan:
    """The plan after one size at a time was given a better way, until none has one."""
    best = plan(sizes, ways)
    while True:
        changes = [{**best.ways, n: way} for n, others in options.items() for way in others if way != best.ways[n]]
        after = min((plan(sizes, one) for one in changes), key=lambda one: one.runs, default=best)
        if after.runs >= best.runs:
            return best
        best = after


def plan(sizes: Sequence[int], ways: Ways) -> Plan:
    """The arrays and columns for strata of these sizes, each size selected in its way."""
    demand = _demand(sizes, ways)
    laid = _laid(demand)
    place = {owned: (i, c) for i, (_, owners) in enumerate(laid) for c, owned in enumerate(owners)}
    blocks = (tuple(Digit(*place[prime_and_power(q)[0], h], q) for q in ways[n].levels) for h, n in enumerate(sizes))

    def class_digit(way: Selection, q: int) -> Digit:
        p, _ = prime_and_power(q)
        if _has_prime(way, p):
            return Digit(*place[p, APART], q)
        if p == 2 and demand.by_run:
            return Digit(place[2, demand.own[2][0][1]][0], RUN, q)
        return Digit(*place[p, demand.named[p]], q)

    classes = {n: tuple(class_digit(way, q) for q in way.classes) for n, way in ways.items()}
    return Plan(ways, tuple(part for part, _ in laid), tuple(blocks), classes)


def _has_prime(way: Selection, p: int) -> bool:
    return any(level % p == 0 for level in way.levels)


@dataclass(frozen=True)
class _Demand:
    """What the arrays must have.

    Attributes
    ----------
    own
        For each prime the columns in its array: exponent and stratum, or `CLASS`.
    named
        For each prime of a class the stratum whose column names it, or `CLASS`.
    by_run
        The exponent of 2 in classes that are named by the number of the run, 0 for none.
    apart
        For each prime of a class that needs an array of its own, its exponent.
    joined
        Odd primes whose columns may stand in one array with those of two levels.
    """

    own: Mapping[int, list[tuple[int, int]]]
    named: Mapping[int, int]
    by_run: int
    apart: Mapping[int, int]
    joined: tuple[int, ...]


def _demand(sizes: Sequence[int], ways: Ways) -> _Demand:
    own: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    for h, n in enumerate(sizes):
        for q in ways[n].levels:
            p, e = prime_and_power(q)
            own[p].append((e, h))
    shared, apart = _class_exponents(ways)
    by_run = shared.pop(2, 0) if 2 in own else 0
    named: dict[int, int] = {}
    for p, e in shared.items():
        without_classes = (h for exponent, h in own[p] if exponent >= e and not ways[sizes[h]].classes)
        named[p] = next(without_classes, CLASS)
        if named[p] == CLASS:
            own[p].append((e, CLASS))
    return _Demand(own, named, by_run, apart, _joined(own, ways, by_run))


def _class_exponents(ways: Ways) -> tuple[dict[int, int], dict[int, int]]:
    """For each prime its largest exponent in classes: of strata with other columns, and with columns of that prime."""
    shared: dict[int, int] = {}
    apart: dict[int, int] = {}
    for way in ways.values():
        for q in way.classes:
            p, e = prime_and_power(q)
            exponents = apart if _has_prime(way, p) else shared
            exponents[p] = max(exponents.get(p, 0), e)
    return shared, apart


def _joined(own: Mapping[int, list[tuple[int, int]]], ways: Ways, by_run: int) -> tuple[int, ...]:
    """Odd primes that can stand in one array with two levels: few columns of p levels each, and in no class.

    In that array three columns of which two have p levels are not independent, only any two are. So neither may a class
    be a column of p, nor a stratum with columns of p have others or a class that is the number of the run.
    """
    if 2 not in own or any(e > 1 for e, _ in own[2]) or by_run > 2:
        return ()
    in_classes = {prime_and_power(q)[0] for way in ways.values() for q in way.classes}
    not_alone = (way for way in ways.values() if len(way.levels) > 1 or any(q % 2 == 0 for q in way.classes))
    beside = {p for way in not_alone for p in own if _has_prime(way, p)}
    fitting = [p for p, c in own.items() if p > 2 and 1 < len(c) <= 2 * p and max(c)[0] == 1]
    joined = sorted(set(fitting) - in_classes - beside)
    while joined and not _has_matrix(4 * math.prod(joined), len(own[2])):
        joined.pop()
    return tuple(joined)


def _has_matrix(order: int, columns: int) -> bool:
    return columns < order <= LIMITS.dense_hadamard_order and is_reachable(order)


def _laid(demand: _Demand) -> list[Laid]:
    """An array for each prime, or one for several where that makes fewer runs."""
    own, joined = demand.own, demand.joined
    by_prime = {p: _of_prime(p, columns, demand.by_run if p == 2 else 0) for p, columns in own.items()}
    laid = list(by_prime.values())
    if joined:
        joint = Joint(len(own[2]), tuple((p, len(own[p])) for p in joined))
        if joint.runs < math.prod(by_prime[p][0].runs for p in (2, *joined)):
            owners = [(p, h) for p in (2, *joined) for _, h in own[p]]
            laid = [(joint, owners), *(one for p, one in by_prime.items() if p not in (2, *joined))]
    return laid + [(Pure(p**e, 1), [(p, APART)]) for p, e in demand.apart.items()]


def _of_prime(p: int, columns: Iterable[tuple[int, int]], by_run: int) -> Laid:
    """The array of these columns, with as many runs as 2^by_run parts evenly."""
    ordered = sorted(columns, key=lambda column: -column[0])
    part = powers_of_a_prime(p, tuple(e for e, _ in ordered))
    while part.runs % 2**by_run:
        ordered.append((1, SPARE))
        part = powers_of_a_prime(p, tuple(e for e, _ in ordered))
    return part, [(p, h) for _, h in ordered]

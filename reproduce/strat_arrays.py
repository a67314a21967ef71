"""STRAT and CVPR: the printed arrays rebuilt, how many runs are needed, and the field of Figure 1 found by search."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

import numpy as np

from reproduce.entries import Entry, Found, Setting, Value
from strat import algebra
from strat.base.errors import StratError
from strat.base.validate.columns import Array, Codes
from strat.cli.array import polynomial
from strat.designs import Design
from strat.replication import brr

PRINTED_12 = ("++-+---", "+-+--++", "++--++-", "+--++++", "--++-+-", "-++++--", "+++++++")
PRINTED_13 = "-+---+-"  # which unit of each stratum the third half-sample takes, as (13) lists them


def in_words(truth: object) -> str:
    """Yes or no."""
    return "yes" if truth else "no"


def signs(rows: tuple[str, ...]) -> Array:
    """A printed array of + and − as numbers."""
    return np.array([[1.0 if c == "+" else -1.0 for c in row] for row in rows])


def rebuilt(first: str = PRINTED_12[0]) -> tuple[str, ...]:
    """The rows that (25) makes of a first row: its left rotations, and a last row of +.

    >>> rebuilt()[2]
    '-+---++'
    """
    return (*(first[i:] + first[:i] for i in range(len(first))), "+" * len(first))


def array_12(setting: Setting) -> Found:
    """The 8 × 7 array, as our copy shows it and rebuilt from its first row."""
    whole = rebuilt()
    wrong = [h for h, (a, b) in enumerate(zip(PRINTED_13, whole[2], strict=True), 1) if a != b]
    values = (
        Value("rows of the 8 × 7 array in our copy", 8, len(PRINTED_12), erratum=5, right=7),
        Value("rebuilt: rotations of the first row, last row +; orthogonal", "yes", _orthogonal(whole)),
        Value("rebuilt: in full balance", None, in_words(algebra.is_fully_balanced(signs(whole))), derived="yes"),
        Value(
            "(13) the half-sample of the third row",
            PRINTED_13,
            whole[2],
            erratum=29,
            right="-+---++",
            note=f"stratum {wrong[0]} only",
        ),
    )
    return Found(values, ("The copy lacks a row and has wrong signs; what the authors printed can be rebuilt.",))


def _orthogonal(rows: tuple[str, ...]) -> str:
    return in_words(algebra.is_orthogonal(signs(rows)))


def balance(setting: Setting) -> Found:
    """(11) balance and (15) full balance; any fewer strata can use the same array."""
    whole, five = algebra.hadamard(8), algebra.hadamard_columns(7)[:, :5]
    values = (
        Value("a Hadamard matrix of order 8: (11) holds", None, in_words(algebra.is_balanced(whole)), derived="yes"),
        Value("with its constant column (15) fails", None, in_words(algebra.is_fully_balanced(whole)), derived="no"),
        Value("five of seven columns are in full balance", "yes", in_words(algebra.is_fully_balanced(five))),
    )
    return Found(values)


def number_483(setting: Setting) -> Found:
    """How many replicates 483 strata of two units need."""
    design = Design.stratified(strata=np.repeat(np.arange(483), 2), units=np.tile([1, 2], 483), nested=True)
    note = "484 would do; beyond 256 strata the fast transform matters more"
    values = (
        Value("replicates", 512, brr(design).number),
        Value("least Hadamard order above 483", None, algebra.hadamard_order(483), note=note),
    )
    return Found(values)


def triples(strata: int) -> Design:
    """Strata of three units."""
    return Design.stratified(strata=np.repeat(np.arange(strata), 3), units=np.tile([1, 2, 3], strata), nested=True)


def number_256(setting: Setting) -> Found:
    """How many replicates 256 strata of three units need, and where STRAT's rule breaks."""
    values = (
        Value("replicates for 256 strata of 3, by STRAT's construction", 729, algebra.rotation(3, 256).runs),
        Value("replicates that `brr` takes for them, by a difference scheme", None, brr(triples(256)).number),
        Value(
            "replicates for 400 strata of 3", None, algebra.rotation(3, 400).runs, derived=729, erratum=1, right=2187
        ),
    )
    return Found(values)


DIFFERENCES = ("000000", "001122", "010212", "012021", "021201", "022110")  # 6 × 6 over Z₃, rows


@cache
def runs_648() -> Codes:
    """An orthogonal array of 648 runs and 256 columns of three symbols, from difference schemes.

    Of (D ⊕ D)[i, a] + OA(18, 7, 3)[j, b] there are 252 columns; OA(9, 4, 3) of i adds four.
    """
    scheme = np.array([[int(c) for c in row] for row in DIFFERENCES])
    square = (scheme[:, None, :, None] + scheme[None, :, None, :]).reshape(36, 36)
    shifted = (scheme[:, None, :] + np.arange(3)[None, :, None]).reshape(18, 6)
    eighteen = np.column_stack([shifted % 3, np.repeat(np.arange(6) % 3, 3)])
    many = (square[:, None, :, None] + eighteen[None, :, None, :]).reshape(648, 252) % 3
    a, b = np.divmod(np.arange(36) % 9, 3)
    four = np.column_stack([a, b, a + b, a + 2 * b]) % 3
    return np.asarray(np.column_stack([many, np.repeat(four, 18, axis=0)]), dtype=np.int64)


def column_limit(setting: Setting) -> Found:
    """The rotations of one sequence of GF(3^3): 26 columns by STRAT's rule, 13 that are orthogonal."""
    sequence = algebra.m_sequence(3, 3)
    columns = np.stack([np.append(np.roll(sequence, -j), 0) for j in range(26)], axis=1)
    unbalanced = sum(not algebra.is_orthogonal(columns[:, [i, j]]) for i in range(26) for j in range(i))
    same = bool((algebra.rotation(3, 13).symbols == columns[:, :13]).all())
    first = in_words(algebra.is_orthogonal(columns[:, :13]))
    y = np.random.default_rng(2).normal(size=(26, 3))
    values = [
        Value("pairs of the 26 columns that are not balanced", None, int(unbalanced), derived=0, erratum=1, right=13),
        Value("the first (3³ − 1)/(3 − 1) = 13 columns are orthogonal", None, first, derived="yes"),
        Value("(25) our rotation array has the same columns", None, in_words(same), derived="yes"),
    ]
    for strata in (13, 26):
        taken = y[:strata]
        picked = taken[np.arange(strata), columns[:, :strata]].sum(axis=1) * 3
        v = float(((picked - taken.sum()) ** 2).sum() / (27 * 2))
        share = v / float((3 * taken.var(axis=1, ddof=1)).sum())
        wrong: dict[str, Any] = {"erratum": 1, "right": 1.195770, "right_within": 1e-6} if strata == 26 else {}
        what = f"BRR variance over the textbook one, {strata} strata"
        values.append(Value(what, None, share, 1e-9, derived=1.0, **wrong))
    return Found(tuple(values))


def definition(setting: Setting) -> Found:
    """(19), (20): what an orthogonal array is, and how often a pair occurs."""
    weak = np.repeat([[0, 0], [1, 1], [2, 2]], 3, axis=0)
    nine, ones = algebra.rotation(3, 4).symbols, np.ones((2, 2))
    often = int(((nine[:, 0] == 0) & (nine[:, 1] == 1)).sum())
    square = bool((ones @ ones.T == 2 * np.eye(2)).all())
    three = "(0,0), (1,1), (2,2), three times each, are one"
    values = (
        Value("H2 of (20) is an orthogonal array", "yes", _orthogonal(("-+", "++")), erratum=2, right="no"),
        Value(f"pairs {three}", None, in_words(algebra.is_orthogonal(weak)), derived="yes", erratum=2, right="no"),
        Value("a pair of 3 symbols in 9 runs: m/2^|S| times", None, often, derived=9 / 2**3, erratum=32, right=1),
        Value("2 × 2, all +: a Hadamard matrix", None, in_words(square), derived="yes", erratum=32, right="no"),
    )
    note = "BRR needs strength 2: every pair of symbols equally often. 'Zero or the same number' admits all of these."
    return Found(values, (note,))


def doubling(setting: Setting) -> Found:
    """(21) makes an order 2n, not n²."""
    h4 = algebra.hadamard(4)
    doubled = np.block([[h4, h4], [-h4, h4]])
    hadamard = in_words((doubled @ doubled.T == 8 * np.eye(8)).all())
    values = (
        Value("order of (21) applied to order 4", None, len(doubled), derived=16, erratum=3, right=8),
        Value("it is a Hadamard matrix", "yes", hadamard),
    )
    return Found(values)


OF_24 = (1, 2, 0, 0, 0, 1)  # x^5 + 2x + 1, the constant first
GENERATOR = 2 + 2 * 27 + 2 * 81  # 2x^4 + 2x^3 + 2
ROWS_1 = {1: "22002", 2: "21002", 3: "12202", 241: "22111", 242: "00001"}  # Figure 1's rows, x^4 first


def _polynomial(element: int, field: algebra.Field) -> str:
    return polynomial(tuple(np.ravel(field.digits(element)).tolist()))


def arithmetic(setting: Setting) -> Found:
    """(22) to (24): sums, products and remainders of polynomials over GF(3)."""
    f = algebra.field(243, modulus=OF_24)
    summed = int(f.add(2 * 27 + 9 + 3, 2 * 27 + 2 * 9 + 1))
    multiplied = int(f.multiply(9 + 2 * 3 + 1, 3 + 1))
    values = (
        Value("(22)", "x^3 + x + 1", _polynomial(summed, f)),
        Value("(23)", "x^3 + x", _polynomial(multiplied, f), erratum=26, right="x^3 + 1"),
        Value("(24)", "x + 2", _polynomial(int(f.power(3, 5)), f)),
    )
    return Found(values)


def row_of(field: algebra.Field, exponent: int) -> str:
    """The coefficients of a power of Figure 1's element, the highest first."""
    return "".join(map(str, field.digits(int(field.power(GENERATOR, exponent))).tolist()[::-1]))


@cache
def fields_of_figure_1() -> tuple[int, tuple[algebra.Field, ...]]:
    """How many monic quintics over GF(3) are irreducible, and the fields in which Figure 1's rows are right."""
    number, fields = 0, []
    for coefficients in product(range(3), repeat=5):
        try:
            f = algebra.field(243, modulus=(*coefficients, 1))
        except StratError:  # a product of two polynomials
            continue
        number += 1
        if all(row_of(f, exponent) == row for exponent, row in ROWS_1.items()):
            fields.append(f)
    return number, tuple(fields)


def is_irreducible(element: int) -> bool:
    """Whether an element of GF(3^5), as a polynomial over GF(3), is of degree 1 or more and no product of two such."""
    digits = [element // 3**k % 3 for k in range(5)]
    degree = max((k for k, c in enumerate(digits) if c), default=0)
    values = np.array(digits)[: degree + 1]
    # a polynomial of degree 4 or less that is a product has a factor of degree 1 or 2
    for low in product(range(3), repeat=2):
        for factor in ([low[0], 1], [*low, 1]):
            rest = values.copy()
            for top in range(degree, len(factor) - 2, -1):
                rest[top - len(factor) + 1 : top + 1] -= rest[top] * np.array(factor)
            if len(factor) <= degree and not (rest % 3).any():
                return False
    return degree > 0


def _of_generators(field: algebra.Field) -> str:
    """How irreducible elements and generators go together."""
    elements = range(1, 243)
    generators = {e for e in elements if field.order_of(e) == 242}
    irreducible = {e for e in elements if is_irreducible(e)}
    return (
        f"{len(generators & irreducible)} of {len(generators)} generators are irreducible; "
        f"{len(irreducible - generators)} irreducible elements generate nothing"
    )


def figure_1(setting: Setting) -> Found:
    """Powers of the generating element of GF(3^5); the modulus, which is not printed, is found by search."""
    number, fields = fields_of_figure_1()
    (f,) = fields
    third = _polynomial(int(f.power(GENERATOR, 3)), f)
    values = (
        Value("irreducible quintics that give the printed rows", None, len(fields), note=f"of {number}"),
        Value("the modulus", None, polynomial(f.modulus), note="not that of (24)"),
        *(Value(f"row of g^{k}", row, row_of(f, k)) for k, row in ROWS_1.items()),
        Value(
            "g^3 in words",
            "x^4 + 2x^3 + 2x + 2",
            third,
            erratum=4,
            right="x^4 + 2x^3 + 2x^2 + 2",
            note="the row beside it is right",
        ),
        Value("order of g, a generating element", None, f.order_of(GENERATOR), derived=242),
        Value(
            "g as a polynomial over GF(3) is irreducible, as B.2 asks of a generator",
            None,
            in_words(is_irreducible(GENERATOR)),
            derived="yes",
            erratum=48,
            right="no",
            note=_of_generators(f),
        ),
        Value("order of x + 1 in this field", None, f.order_of(1 + 3), derived=242, erratum=4, right=121),
        Value("order of x + 1 in the field of (24)", None, algebra.field(243, modulus=OF_24).order_of(4), derived=242),
    )
    return Found(values, ("Every element but 0 has the 242nd power 1; a generator needs the order 242.",))


def figure_2(setting: Setting) -> Found:
    """What the Maple program of Figure 2 writes: all powers of a primitive element."""
    listing = algebra.field(243).listing()
    different = len(np.unique(listing[:, 1:], axis=0))
    columns = algebra.rotation(3, 13).columns
    values = (
        Value("rows that the program writes for GF(3^5)", None, len(listing), derived=242),
        Value("all different", None, in_words(different == 242), derived="yes"),
        Value("largest array from GF(3³): columns", None, columns, derived=26, erratum=1, right=13),
    )
    return Found(values, ("strat array --field 243 --out powers.csv writes the listing.",))


ENTRIES = (
    Entry("strat/12", "section 7.2, (12) and (13)", "The 8 × 7 array", array_12),
    Entry("strat/balance", "section 7.2, (11) and (15)", "Balance and full balance", balance),
    Entry("strat/483", "section 7.2", "Replicates for 483 strata of two units", number_483),
    Entry("strat/256", "section 7.3", "Replicates for strata of three units", number_256),
    Entry("strat/limit", "sections 7.3 and B.3, (25)", "How many strata GF(3³) carries", column_limit),
    Entry("strat/20", "appendix A, (19) and (20)", "Orthogonal arrays", definition),
    Entry("strat/21", "appendix A, (21)", "Doubling a Hadamard matrix", doubling),
    Entry("strat/22", "appendix B, (22) to (24)", "Arithmetic of polynomials", arithmetic),
    Entry("strat/figure-1", "appendix B, Figure 1", "A generator of GF(3^5)", figure_1),
    Entry("strat/figure-2", "appendix B, Figure 2", "Generating a field and its array", figure_2),
)

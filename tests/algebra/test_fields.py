"""GF(p^m): the axioms, primitive elements with the right order, and m-sequences with the window property."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strat.algebra import field, is_prime, m_sequence, next_prime_power, prime_power, primitive_polynomial
from strat.algebra.primes import factorize
from strat.base.errors import StratError

ORDERS = (2, 3, 4, 5, 7, 8, 9, 16, 25, 27, 49, 81)


@st.composite
def three_elements(draw):
    q = draw(st.sampled_from((*ORDERS, 343, 625)))
    element = st.integers(0, q - 1)
    return field(q), draw(element), draw(element), draw(element)


@given(three_elements())
def test_the_axioms_of_a_field(case):
    f, a, b, c = case
    add, times = f.add, f.multiply
    assert add(a, b) == add(b, a)
    assert times(a, b) == times(b, a)
    assert add(add(a, b), c) == add(a, add(b, c))
    assert times(times(a, b), c) == times(a, times(b, c))
    assert times(a, add(b, c)) == add(times(a, b), times(a, c))
    assert add(a, 0) == a
    assert times(a, 1) == a
    assert add(a, f.negative(a)) == 0
    assert f.subtract(add(a, b), b) == a
    if b:
        assert times(b, f.inverse(b)) == 1
        assert times(f.divide(a, b), b) == a


@given(three_elements(), st.integers(-300, 300), st.integers(-300, 300))
def test_powers_and_logarithms(case, m, n):
    f, a, _, _ = case
    if a:
        assert f.multiply(f.power(a, m), f.power(a, n)) == f.power(a, m + n)
        assert f.exp(f.log(a)) == a
    assert f.power(a, 0) == 1
    assert f.power(0, 3) == 0
    assert f.power(a, f.order) == a


@pytest.mark.parametrize("q", ORDERS)
def test_the_generator_generates_and_orders_divide(q):
    f = field(q)
    assert sorted(f.powers.tolist()) == list(range(1, q))
    assert f.order_of(f.primitive) == q - 1
    for element in range(1, q):
        n = f.order_of(element)
        assert (q - 1) % n == 0
        assert f.power(element, n) == 1
        assert all(f.power(element, d) != 1 for d in range(1, n))


@pytest.mark.parametrize("q", ORDERS)
def test_products_are_polynomial_products_modulo_the_modulus(q):
    f = field(q)
    p, m = f.characteristic, f.degree
    rng = np.random.default_rng(q)
    for a, b in rng.integers(0, q, (30, 2)):
        product = np.convolve(f.digits(a), f.digits(b)).tolist()
        if m == 1:
            product = [product[0] % p]
        for degree in range(len(product) - 1, m - 1, -1):  # reduction starts at degree m (ERRATA 4)
            lead = product[degree]
            for i, coefficient in enumerate(f.modulus):
                product[degree - m + i] -= lead * coefficient
        expected = sum((c % p) * p**i for i, c in enumerate(product[:m]))
        assert f.multiply(a, b) == expected


@pytest.mark.parametrize("q", [4, 8, 9, 16, 25, 27, 49, 81])
def test_the_trace_is_linear_onto_the_prime_field_and_balanced(q):
    f = field(q)
    p, every = f.characteristic, np.arange(q)
    trace = f.trace(every)
    assert np.bincount(trace, minlength=q)[:p].tolist() == [q // p] * p
    assert (f.trace(f.add(every[:, None], every)) == (trace[:, None] + trace) % p).all()


@pytest.mark.parametrize("q", [3, 5, 7, 9, 25, 27, 49, 81])
def test_the_character_finds_the_squares(q):
    f = field(q)
    every = np.arange(q)
    squares = set(f.multiply(every[1:], every[1:]).tolist())
    expected = [0, *(1 if a in squares else -1 for a in range(1, q))]
    assert f.character(every).tolist() == expected
    assert len(squares) == (q - 1) // 2


def test_figure_1_of_strat_is_a_generator_of_its_own_field():
    """ERRATA 4: modulo x⁵ + x⁴ + x² + 1 the element of Figure 1 generates; x + 1 does modulo that of (24)."""
    figure_1, x_plus_1 = 2 + 2 * 27 + 2 * 81, 1 + 3
    own, of_24 = field(3**5, modulus=(1, 0, 1, 0, 1, 1)), field(3**5, modulus=(1, 2, 0, 0, 0, 1))
    assert (own.order_of(figure_1), own.order_of(x_plus_1)) == (242, 121)
    assert (of_24.order_of(figure_1), of_24.order_of(x_plus_1)) == (11, 242)
    assert of_24.power(figure_1, 242) == 1  # as every element but 0: the printed condition is not enough
    assert of_24.power(3, 5) == 3 + 2  # STRAT (24): x⁵ = x + 2


@pytest.mark.parametrize("q", [2, 3, 4, 9, 27, 64, 243])
def test_the_listing_has_every_element_but_zero_once(q):
    f = field(q)
    listing = f.listing()
    assert listing[:, 0].tolist() == list(range(1, q))
    weights = f.characteristic ** np.arange(f.degree)
    assert sorted((listing[:, 1:] @ weights).tolist()) == list(range(1, q))
    for exponent, *digits in listing[:5].tolist():
        assert f.digits(int(f.power(f.primitive, exponent))).tolist() == digits


def test_another_modulus_is_another_table_of_the_same_field():
    """x has order 5 modulo x⁴ + x³ + x² + x + 1, which is irreducible but not primitive."""
    f = field(16, modulus=(1, 1, 1, 1, 1))
    assert f.order_of(2) == 5
    assert f.order_of(f.primitive) == 15


@pytest.mark.parametrize(
    ("q", "b"), [(2, 1), (2, 10), (3, 1), (3, 7), (4, 5), (5, 4), (7, 3), (8, 3), (9, 3), (16, 3), (27, 2)]
)
def test_every_window_of_an_m_sequence_occurs_once(q, b):
    s = m_sequence(q, b)
    n = q**b - 1
    assert len(s) == n
    extended = np.concatenate([s, s[:b]])
    windows = sum(extended[i : i + n] * q**i for i in range(b))
    assert sorted(windows) == list(range(1, n + 1))


@pytest.mark.parametrize(("q", "b"), [(2, 8), (3, 5), (4, 3), (9, 2)])
def test_an_m_sequence_obeys_its_polynomial(q, b):
    f, s = field(q), m_sequence(q, b)
    total = np.zeros(len(s), dtype=int)
    for i, coefficient in enumerate(primitive_polynomial(q, b)):
        total = f.add(total, f.multiply(np.roll(s, -i), coefficient))
    assert not total.any()


def test_a_long_m_sequence_is_maximal():
    s = m_sequence(3, 12)
    assert len(s) == 531_440
    assert np.bincount(s).tolist() == [3**11 - 1, 3**11, 3**11]
    half = len(s) // 2
    assert (s[half:] == (2 * s[:half]) % 3).all()  # the scalar multiples of ERRATA 1


def test_primes_and_prime_powers():
    assert [n for n in range(30) if is_prime(n)] == [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]
    assert prime_power(2**20) == (2, 20)
    assert next_prime_power(24) == 25
    assert factorize(2**3 * 3 * 10_007) == {2: 3, 3: 1, 10_007: 1}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: field(6), r"`order` must be a prime power, got 6; the next one is 7\."),
        (lambda: field(1), r"`order` must be a prime power, got 1; the next one is 2\."),
        (lambda: field(2.5), r"`order` must be a whole number, got 2\.5\."),
        (lambda: field(2**25), r"`order` must be at most 16777216, got 33554432"),
        (lambda: field(9, modulus=(1, 1)), r"`modulus` must be 3 coefficients from 0 to 2 that end in 1"),
        (lambda: field(9, modulus=(2, 0, 1)), r"`modulus` must be irreducible, got the product"),
        (lambda: field(9).add(9, 1), r"`a` must be elements 0 to 8 of GF\(9\), got 9\."),
        (lambda: field(9).add(1.5, 1), r"`a` must be whole numbers from 0 to 8, got 1\.5\."),
        (lambda: field(9).inverse(0), r"`a` must not be 0 in GF\(9\)"),
        (lambda: field(9).divide(1, [1, 0]), r"`b` must not be 0 in GF\(9\)"),
        (lambda: field(9).power(0, -1), r"`a` must not be 0 where `exponent` is negative"),
        (lambda: field(8).character(1), r"`character` must have a field of odd order, got GF\(8\)"),
        (lambda: m_sequence(6, 2), r"`order` must be a prime power, got 6"),
        (lambda: m_sequence(2, 40), r"`degree` must keep levels\^degree at or below"),
        (lambda: m_sequence(2, 0), r"`degree` must be a whole number of at least 1, got 0\."),
    ],
)
def test_errors_say_what_and_the_way_out(call, message):
    with pytest.raises(StratError, match=message):
        call()

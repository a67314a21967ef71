"""Fast scores never lie further from float64 ones than `bounds` says; float64 scores depend on two rows alone."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strat.base.errors import StratError
from strat.recognition import rounding


def bfloat16(x):
    """Round float64 to the nearest of 8 significant bits, ties to even."""
    mantissa, exponent = np.frexp(x)
    return np.ldexp(np.rint(mantissa * 256), exponent - 8)


def vectors(seed, d, spread):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(2, 8, d)) * 2.0 ** rng.integers(-spread, spread + 1, (2, 8, d))
    return x, y


cases = st.tuples(st.integers(0, 10**6), st.sampled_from([1, 3, 31, 32, 33, 100, 513]), st.integers(0, 12))


@given(cases)
@settings(max_examples=60, deadline=None)
def test_float32_products_stay_inside_the_bound(case):
    x, y = vectors(*case)
    fast = (x.astype(np.float32)[:, None, :] * y.astype(np.float32)).cumsum(-1, dtype=np.float32)[..., -1]
    exact = rounding.exact_dot(x[:, None, :], y)
    half = rounding.bound(case[1], np.linalg.norm(x, axis=1)[:, None], np.linalg.norm(y, axis=1), "float32")
    assert (np.abs(fast - exact) <= half).all()


@given(cases)
@settings(max_examples=60, deadline=None)
def test_bfloat16_products_stay_inside_the_bound_with_and_without_measured_residuals(case):
    x, y = vectors(*case)
    a, b = bfloat16(x), bfloat16(y)
    fast = (a.astype(np.float32)[:, None, :] * b.astype(np.float32)).cumsum(-1, dtype=np.float32)[..., -1]
    error = np.abs(fast - rounding.exact_dot(x[:, None, :], y))
    n, m = np.linalg.norm(x, axis=1)[:, None], np.linalg.norm(y, axis=1)
    e, f = np.linalg.norm(a - x, axis=1)[:, None], np.linalg.norm(b - y, axis=1)
    wide = rounding.bound(case[1], n, m, "bfloat16")
    tight = rounding.bound(case[1], n, m, "bfloat16", probe_residuals=e, gallery_residuals=f)
    assert (error <= tight).all()
    assert (tight <= wide * (1 + 1e-12)).all()


def digits(x, steps):
    """Rows as whole numbers times a scale of their own, the whole number being one digit or two."""
    scale = np.abs(x).max(axis=1, keepdims=True) / 127
    first = np.rint(x / scale)
    second = np.rint((x / scale - first) * 256).clip(-127, 127)
    return (first + second / 256 if steps == 2 else first), scale


@given(cases, st.sampled_from([1, 2]))
@settings(max_examples=80, deadline=None)
def test_digits_stay_inside_the_bound_of_their_measured_residuals(case, steps):
    x, y = vectors(*case)
    (a, s), (b, t) = digits(x, steps), digits(y, steps)
    error = np.abs((a @ b.T) * (s * t.T) - rounding.exact_dot(x[:, None, :], y))
    n, m = np.linalg.norm(x, axis=1)[:, None], np.linalg.norm(y, axis=1)
    e, f = np.linalg.norm(a * s - x, axis=1)[:, None], np.linalg.norm(b * t - y, axis=1)
    bound = rounding.bound(case[1], n, m, "int8", probe_residuals=e, gallery_residuals=f)
    assert (error <= bound + 1e-13 * n * m).all()
    assert (e <= math.sqrt(case[1]) / (253 if steps == 1 else 64_000) * n).all()


def test_the_bound_of_digits_is_met_by_residuals_along_the_other_row():
    x, e = np.array([[3.0, 4.0]]), 0.01
    rounded = x * (1 + e / 5)
    error = abs(float((rounded @ rounded.T - x @ x.T)[0, 0]))
    assert error == pytest.approx(rounding.bound(2, 5.0, 5.0, "int8", probe_residuals=e, gallery_residuals=e), rel=1e-6)


def test_int32_holds_two_sums_of_the_most_features():
    assert 2 * rounding.MOST_FEATURES * 127**2 < 2**31 <= 2 * (rounding.MOST_FEATURES + 1) * 127**2


def test_digits_have_no_residuals_by_default():
    with pytest.raises(
        StratError, match=r"`probe_residuals` and `gallery_residuals` must be given for 'int8', got None"
    ):
        rounding.bound(8, 1.0, 1.0, "int8", probe_residuals=0.1)


def test_the_bound_is_nearly_met_by_the_worst_vectors():
    x = np.full((1, 64), 1 + 2.0**-8 + 2.0**-12)  # just beyond half way, so rounded up by almost 2^-8
    error = abs((bfloat16(x) ** 2).sum() - (x**2).sum())
    assert 0.85 < error / rounding.bound(64, np.linalg.norm(x), np.linalg.norm(x), "bfloat16") <= 1


@given(cases)
@settings(max_examples=40, deadline=None)
def test_exact_products_err_less_than_their_own_bound(case):
    x, y = vectors(*case)
    truth = sum(Fraction(a) * Fraction(b) for a, b in zip(x[0].tolist(), y[0].tolist(), strict=True))
    size = sum(abs(a * b) for a, b in zip(x[0].tolist(), y[0].tolist(), strict=True))
    found = Fraction(float(rounding.exact_dot(x[:1], y[:1])[0]))
    steps = math.ceil(case[1] / 32) + 6
    assert abs(found - truth) <= Fraction(rounding.gamma(steps, 2.0**-53)) * Fraction(size) * 2


@given(cases, st.sampled_from(rounding.SCORES))
@settings(max_examples=40, deadline=None)
def test_a_score_depends_on_its_two_rows_alone(case, score):
    x, y = vectors(*case)
    together = rounding.exact_scores(x, y, score)
    one_by_one = [rounding.exact_scores(x[i : i + 1], y[i : i + 1], score)[0] for i in range(len(x))]
    assert together.tolist() == one_by_one
    assert rounding.exact_scores(y, x, score).tolist() == together.tolist()


@given(cases, st.sampled_from(rounding.SCORES))
@settings(max_examples=40, deadline=None)
def test_torch_and_numpy_agree_to_the_last_bit(case, score):
    torch = pytest.importorskip("torch", reason="torch is not installed: it is an extra")
    x, y = vectors(*case)
    found = rounding.exact_scores(torch.from_numpy(x), torch.from_numpy(y), score).numpy()
    assert found.tolist() == rounding.exact_scores(x, y, score).tolist()


@given(cases, st.integers(-900, 900))
def test_unit_rows_ignore_powers_of_two(case, power):
    x, _ = vectors(*case)
    assert (rounding.unit(np.ldexp(x, power)) == rounding.unit(x)).all()


def test_gamma_has_no_value_beyond_its_range():
    assert rounding.gamma(2**24, 2.0**-24) == math.inf


def test_unknown_names_are_refused():
    with pytest.raises(StratError, match=r"`precision` must be one of .*'bfloat16'.* got 'int4'"):
        rounding.bound(8, 1.0, 1.0, "int4")
    with pytest.raises(StratError, match=r"`score` must be one of 'cosine', 'inner', 'euclidean', got 'l7'"):
        rounding.exact_scores(np.ones((1, 2)), np.ones((1, 2)), "l7")

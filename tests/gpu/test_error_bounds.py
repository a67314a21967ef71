"""Fast scores never lie further from float64 ones than `bounds` says; float64 scores depend on two rows alone."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strat.errors import StratError
from strat.recognition import bounds


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
    exact = bounds.exact_dot(x[:, None, :], y)
    half = bounds.bound(case[1], np.linalg.norm(x, axis=1)[:, None], np.linalg.norm(y, axis=1), "float32")
    assert (np.abs(fast - exact) <= half).all()


@given(cases)
@settings(max_examples=60, deadline=None)
def test_bfloat16_products_stay_inside_the_bound_with_and_without_measured_residuals(case):
    x, y = vectors(*case)
    a, b = bfloat16(x), bfloat16(y)
    fast = (a.astype(np.float32)[:, None, :] * b.astype(np.float32)).cumsum(-1, dtype=np.float32)[..., -1]
    error = np.abs(fast - bounds.exact_dot(x[:, None, :], y))
    n, m = np.linalg.norm(x, axis=1)[:, None], np.linalg.norm(y, axis=1)
    e, f = np.linalg.norm(a - x, axis=1)[:, None], np.linalg.norm(b - y, axis=1)
    wide = bounds.bound(case[1], n, m, "bfloat16")
    tight = bounds.bound(case[1], n, m, "bfloat16", probe_residuals=e, gallery_residuals=f)
    assert (error <= tight).all()
    assert (tight <= wide * (1 + 1e-12)).all()


def test_the_bound_is_nearly_met_by_the_worst_vectors():
    x = np.full((1, 64), 1 + 2.0**-8 + 2.0**-12)  # just beyond half way, so rounded up by almost 2^-8
    error = abs((bfloat16(x) ** 2).sum() - (x**2).sum())
    assert 0.85 < error / bounds.bound(64, np.linalg.norm(x), np.linalg.norm(x), "bfloat16") <= 1


@given(cases)
@settings(max_examples=40, deadline=None)
def test_exact_products_err_less_than_their_own_bound(case):
    x, y = vectors(*case)
    truth = sum(Fraction(a) * Fraction(b) for a, b in zip(x[0].tolist(), y[0].tolist(), strict=True))
    size = sum(abs(a * b) for a, b in zip(x[0].tolist(), y[0].tolist(), strict=True))
    found = Fraction(float(bounds.exact_dot(x[:1], y[:1])[0]))
    steps = math.ceil(case[1] / 32) + 6
    assert abs(found - truth) <= Fraction(bounds.gamma(steps, 2.0**-53)) * Fraction(size) * 2


@given(cases, st.sampled_from(bounds.SCORES))
@settings(max_examples=40, deadline=None)
def test_a_score_depends_on_its_two_rows_alone(case, score):
    x, y = vectors(*case)
    together = bounds.exact_scores(x, y, score)
    one_by_one = [bounds.exact_scores(x[i : i + 1], y[i : i + 1], score)[0] for i in range(len(x))]
    assert together.tolist() == one_by_one
    assert bounds.exact_scores(y, x, score).tolist() == together.tolist()


@given(cases, st.sampled_from(bounds.SCORES))
@settings(max_examples=40, deadline=None)
def test_torch_and_numpy_agree_to_the_last_bit(case, score):
    torch = pytest.importorskip("torch", reason="torch is not installed (extra strat[gpu])")
    x, y = vectors(*case)
    found = bounds.exact_scores(torch.from_numpy(x), torch.from_numpy(y), score).numpy()
    assert found.tolist() == bounds.exact_scores(x, y, score).tolist()


@given(cases, st.integers(-900, 900))
def test_unit_rows_ignore_powers_of_two(case, power):
    x, _ = vectors(*case)
    assert (bounds.unit(np.ldexp(x, power)) == bounds.unit(x)).all()


def test_gamma_has_no_value_beyond_its_range():
    assert bounds.gamma(2**24, 2.0**-24) == math.inf


def test_unknown_names_are_refused():
    with pytest.raises(StratError, match=r"`precision` must be one of .*'bfloat16'.* got 'int8'"):
        bounds.bound(8, 1.0, 1.0, "int8")
    with pytest.raises(StratError, match=r"`score` must be one of 'cosine', 'inner', 'euclidean', got 'l7'"):
        bounds.exact_scores(np.ones((1, 2)), np.ones((1, 2)), "l7")

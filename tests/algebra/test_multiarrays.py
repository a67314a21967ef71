"""Orthogonal multi-arrays: the three balances, the textbook variance for unequal strata, and how few runs they take."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from validation.multi_arrays import counted, designs, lacks_balance, least_runs

from strat.algebra import is_orthogonal_multi_array, m_sequence, multi_array
from strat.algebra.array_parts import Joint, Mixed, Part, Pure
from strat.algebra.array_plans import RUN, best_plan
from strat.algebra.mixed_arrays import mixed_array
from strat.algebra.unit_selections import blocks, residue_blocks, selections
from strat.base.errors import StratError


@given(st.lists(st.sampled_from([2, 3, 4, 5, 6, 7, 9, 10, 11, 12]), min_size=1, max_size=6))
def test_the_three_balances_hold(sizes):
    try:
        array = multi_array(sizes, most=20_000)
    except StratError:
        assume(False)
    assert is_orthogonal_multi_array(array)
    taken = array.choose(0, array.runs)
    starts = np.cumsum([0, *sizes[:-1]])
    assert (np.add.reduceat(taken.astype(int), starts, axis=1) == array.selected).all()


@pytest.mark.parametrize(
    "sizes", [[2, 3], [3, 3, 5, 2, 2], [6, 6, 2], [7, 7, 3], [11, 2, 3], [12, 4, 3], [27, 2], [2] * 9]
)
def test_a_linear_statistic_has_the_textbook_variance(sizes):
    array = multi_array(sizes)
    rng = np.random.default_rng(sum(sizes))
    y, n = rng.normal(size=sum(sizes)), np.repeat(sizes, sizes)
    m = np.repeat(array.selected, sizes)
    factors = 1 + np.sqrt(m / (n - m)) * (array.choose(0, array.runs) * n / m - 1)
    replicates = factors @ y
    brr = ((replicates - y.sum()) ** 2).mean()
    strata = np.split(y, np.cumsum(sizes)[:-1])
    assert brr == pytest.approx(sum(len(s) * s.var(ddof=1) for s in strata), rel=1e-12)
    assert replicates.mean() == pytest.approx(y.sum(), rel=1e-10)


@pytest.mark.parametrize("n", [7, 11, 19, 23, 27, 31])
def test_residues_make_a_symmetric_design(n):
    blocks = residue_blocks(n).astype(int)
    assert (blocks.sum(axis=0) == (n - 1) // 2).all()
    together = blocks.T @ blocks
    assert (together[~np.eye(n, dtype=bool)] == (n - 3) // 4).all()


def test_blocks_of_runs_are_parts_of_the_whole():
    array = multi_array([2, 6, 7, 9])
    whole = array.choose(0, array.runs)
    assert (np.vstack([array.choose(0, 10), array.choose(10, array.runs)]) == whole).all()


def test_many_strata_of_two_use_a_sequence_instead_of_a_matrix():
    array = multi_array([2] * 5000)
    assert array.runs == 8192
    assert array.choose(8190, 8192).sum() == 2 * 5000


def test_powers_of_one_prime_share_an_array_where_that_is_shorter():
    few, more = multi_array([2, 4]), multi_array([2, 2, 2, 4, 4, 8])
    assert few.runs == 8
    assert more.runs == 32  # 3 + 2·3 + 7 elements of a space of 31
    assert is_orthogonal_multi_array(more)
    many = multi_array([2] * 10 + [4] * 10 + [3, 9, 12])
    assert (
        many.runs == 32 * 3**2
    )  # 20 columns of two levels and one of four; the strata of 4 take halves, that of 9 lines
    assert is_orthogonal_multi_array(many)


def is_array(symbols: np.ndarray, levels: tuple[int, ...]) -> bool:
    """Whether each pair of symbols of each pair of columns occurs equally often."""
    pairs = itertools.combinations(range(len(levels)), 2)
    counts = ((np.bincount(symbols[:, i] * levels[j] + symbols[:, j]), levels[i] * levels[j]) for i, j in pairs)
    return all(len(count) == cells and (count * cells == len(symbols)).all() for count, cells in counts)


@given(st.sampled_from([(2, 4), (3, 2), (5, 2)]), st.data())
def test_columns_of_several_powers_of_a_prime_are_orthogonal(prime, data):
    p, largest = prime
    exponents = tuple(data.draw(st.lists(st.integers(1, largest), min_size=1, max_size=8)))
    array = mixed_array(p, exponents)
    assert array.shape[1] == len(exponents)
    assert is_array(array, tuple(p**e for e in exponents))
    assert (array.max(axis=0) == [p**e - 1 for e in exponents]).all()


def test_mixed_arrays_use_the_whole_space():
    assert len(mixed_array(2, (3,) * 9)) == len(mixed_array(2, (2,) * 21)) == len(mixed_array(2, (1,) * 63)) == 64
    assert len(mixed_array(2, (3,) * 4 + (2,) * 4 + (1,) * 20)) == 64
    assert len(mixed_array(3, (2,) * 5 + (1,) * 20)) == 81
    assert mixed_array(2, (12, 11)) is None  # too large to be stored


@pytest.mark.parametrize(
    "part",
    [Pure(3, 7), Pure(2, 11), Pure(4, 5), Mixed(2, (2, 1, 1)), Joint(11, ((3, 6),)), Joint(20, ((3, 2), (5, 9)))],
)
def test_parts_are_orthogonal_arrays(part: Part):
    symbols = part.symbols(np.arange(part.runs))
    assert symbols.shape == (part.runs, len(part.levels))
    assert is_array(symbols, part.levels)


@pytest.mark.parametrize("n", [*range(2, 40), 49, 64, 81, 100, 125, 128])
def test_classes_part_the_units_and_hold_each_pair_equally_often(n):
    for way in selections(n):
        each = blocks(way).astype(int)
        assert each.shape == (np.prod(way.classes, dtype=int), np.prod(way.levels), n)
        if way.classes:
            assert (each.sum(axis=1) == 1).all()
        flat = each.reshape(-1, n)
        together = flat.T @ flat
        assert len(np.unique(np.diag(together))) == 1
        assert len(np.unique(together[~np.eye(n, dtype=bool)])) == 1
        assert (flat.sum(axis=1) == way.taken).all()


@pytest.mark.parametrize(
    ("sizes", "runs"),
    [
        ([4] * 3, 12),  # halves in three classes: 4 × 3, not 16
        ([9, 9, 2, 2], 36),  # lines in four classes, named by the run of two levels
        ([8] * 6 + [7], 8 * 7),  # the column of the stratum of seven names the class
        ([2] * 9 + [3] * 5, 36),  # two and three levels in one array, not 12 × 18
        ([2] * 15 + [5] * 8 + [7], 100 * 7),
        ([6] * 2 + [5] * 2, 4 * 25 * 2),  # ten classes: the column of a stratum of five, and two runs apart
    ],
)
def test_few_runs(sizes, runs):
    array = multi_array(sizes)
    assert array.runs == runs
    assert is_orthogonal_multi_array(array)


def test_every_way_to_name_a_class_is_met():
    """A run, a stratum's column, a further column, and an array of its own."""
    by_run = multi_array([9, 9, 2, 2]).plan
    assert [digit.column for digit in by_run.classes[9]] == [RUN]
    reused = multi_array([8] * 6 + [7]).plan
    assert reused.classes[8] == reused.blocks[6]
    further = multi_array([4] * 3).plan
    assert further.classes[4][0] not in [digits[0] for digits in further.blocks]
    apart = multi_array([10] * 9 + [9]).plan
    assert is_orthogonal_multi_array(multi_array([10] * 9 + [9]))
    assert len(apart.classes[10]) == 2
    assert apart.parts[apart.classes[10][0].part] == Pure(2, 1)


def test_few_random_designs_are_refused():
    """38 in 100 were, before strata could take halves and lines, and primes share an array."""
    refused = [sizes for sizes in designs(20, 12, 60) if best_plan(sizes).runs > 2_000_000]
    assert len(refused) < 60 * 0.2
    assert all(least_runs(sizes) <= best_plan(sizes).runs for sizes in refused[:3])
    assert least_runs([5, 5, 7, 7, 11, 11], enough=1) == 148_225


def test_a_large_prime_takes_single_units():
    array = multi_array([10_007])
    assert array.selected == (1,)
    assert array.choose(0, 3).nonzero()[1].tolist() == m_sequence(10_007, 1)[:3].tolist()


def test_broken_balances_are_noticed():
    taken = multi_array([2, 3, 3]).choose(0, 18).astype(int)
    sizes = [2, 3, 3]
    assert is_orthogonal_multi_array(taken, sizes)
    assert not is_orthogonal_multi_array(taken[1:], sizes)
    assert not is_orthogonal_multi_array(np.zeros_like(taken), sizes)
    # all pairs but one within a stratum of three
    pairs = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 0, 0], [0, 0, 1, 1]])
    assert not is_orthogonal_multi_array(pairs, [4])
    assert is_orthogonal_multi_array(np.eye(4), [4])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: multi_array([]), r"`sizes` must have at least one stratum, got none\."),
        (lambda: multi_array([2, 1]), r"`sizes` must be a whole number of at least 2, got 1\."),
        (
            lambda: multi_array([211, 223, 227]),
            r"`sizes` must not need more than 2,000,000 runs, got 10,681,031 \(3 strata of",
        ),
        (lambda: multi_array([2, 3]).choose(0, 7), r"`stop` must be at most the number of runs 6, got 0 to 7\."),
        (lambda: is_orthogonal_multi_array(np.eye(3), [2]), r"`sizes` must add up to the number of units"),
        (lambda: is_orthogonal_multi_array(2 * np.eye(3), [3]), r"`chosen` must hold 0 and 1 only"),
    ],
)
def test_errors(call, message):
    with pytest.raises(StratError, match=message):
        call()


def test_counting_every_run_finds_a_unit_that_is_taken_in_place_of_another():
    whole = multi_array([2, 3, 4, 7])
    assert not lacks_balance(whole)
    assert counted(3).endswith("by counting every run, 0 lack a balance.")

    class Damaged:
        """The same array, but for two units of one run that change places."""

        sizes, selected, runs = whole.sizes, whole.selected, whole.runs

        def choose(self, start, stop):
            taken = np.array(whole.choose(start, stop))
            if start == 0:
                taken[0, :2] = taken[0, 1::-1]
            return taken

    assert lacks_balance(Damaged())

"""F&H's Tables I to IV beside ours."""

from __future__ import annotations

import numpy as np
import pytest
from reproduce.fh_tables import table_1, table_2, table_3, table_4

MISPRINTED_THEORY = {(16, 3)}  # 21.15 for 21.52
MISPRINTED_MEANS = {(32, 20), (32, 30)}  # 13.93 and 13.07, where 13.02 and 12.04 is computed ten to eighteen se away


@pytest.fixture(scope="module")
def steps():
    """What the first table tells of its progress."""
    return []


@pytest.fixture(scope="module")
def first_table(steps):
    return table_1(repetitions=2, rng=5, progress=lambda done, total: steps.append((done, total)))


def test_theory_lines_of_table_1_within_a_hundredth(first_table):
    for n, k, theory, printed, *_ in first_table.rows:
        if (n, k) not in MISPRINTED_THEORY:
            assert theory == pytest.approx(printed, abs=0.01)


def test_theory_lines_of_table_2_within_three_hundredths():
    for _, _, theory, printed, *_ in table_2(repetitions=2).rows:
        assert theory == pytest.approx(printed, abs=0.03)


def test_progress_is_reported(first_table, steps):
    assert first_table.rows
    assert steps == [(i, 40) for i in range(1, 41)]


def test_a_table_prints_and_gives_its_columns(first_table):
    assert str(first_table).splitlines()[1].split()[:3] == ["n", "k", "theory"]
    assert first_table.column("n")[:2] == [4, 4]


@pytest.mark.costly("a table that is worked out again has no cheaper half")
def test_same_seed_same_table(first_table):
    assert table_1(repetitions=2, rng=5).rows == first_table.rows


@pytest.mark.slow
def test_experiments_of_table_1_inside_their_sampling_error():
    rows = table_1(repetitions=1000).rows
    z = {row[:2]: row[-1] for row in rows}
    assert all(abs(v) < 3.5 for cell, v in z.items() if cell not in MISPRINTED_MEANS)
    assert all(z[cell] > 5 for cell in MISPRINTED_MEANS)


@pytest.mark.slow
def test_experiments_of_table_2_inside_their_sampling_error():
    z = np.array(table_2(repetitions=400).column("z"), dtype=float)
    assert (np.abs(z) < 3.5).all()
    assert (np.abs(z) < 2).mean() > 0.8


@pytest.mark.slow
def test_experiments_of_table_3_inside_their_sampling_error():
    rows = table_3(repetitions=1000).rows
    biases = np.array([row[-1] for row in rows], dtype=float)
    assert (np.abs(biases) < 4).all()
    # the Standard Data's errors are printed about 0.15 above what its published parameters give
    errors = np.array([row[5] for row in rows if row[0] != "Standard"], dtype=float)
    assert (np.abs(errors) < 3.5).all()


def test_an_outlier_hardly_matters_with_many_samples():
    rows = [row for row in table_3(repetitions=30).rows if row[1] == 400]
    assert all(abs(row[6]) < 0.02 for row in rows)


@pytest.mark.slow
def test_experiments_of_table_4_inside_their_sampling_error():
    rows = [r for r in table_4(repetitions=150).rows if r[0] != "Standard" and not np.isnan(r[-1])]
    z = np.array([r[-1] for r in rows], dtype=float)
    assert (np.abs(z) < 4).all()
    assert (np.abs(z) < 2.5).mean() > 0.9
